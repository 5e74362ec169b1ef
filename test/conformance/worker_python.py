"""The catalogue of the conformance suite on the library for Python."""

import datetime
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "sdk", "python"))
import catalogue  # noqa: E402
from abide import CancelledError, NonRetryableError, Retry, Worker, workflow  # noqa: E402

ENV = os.environ


def thrown(error):
    """An error as the suite describes it."""
    base = NonRetryableError if error.get("final") else Exception
    made = type(error["type"], (base,), {})(error["message"])
    if "details" in error:
        made.details = error["details"]
    if "cause" in error:
        made.__cause__ = thrown(error["cause"])
    return made


def without(options, name):
    return {key: value for key, value in options.items() if key != name}


def python_names(options):
    """parentClose -> parent_close, and so on."""
    found = {"".join("_" + each.lower() if each.isupper() else each for each in name): value
             for name, value in options.items()}
    if "retry" in found:
        found["retry"] = Retry(**python_names(found["retry"]))
    return found


class Tools:
    """The catalogue's verbs."""

    errors = (Exception, CancelledError)
    thrown = staticmethod(thrown)

    def __init__(self, ctx):
        self.ctx, self.run_id = ctx, ctx.info.run_id
        self.emit, self.stream, self.state, self.log = ctx.emit, ctx.stream, ctx.state.set, ctx.log.info
        self.sleep = ctx.sleep
        self.random, self.uuid, self.changed, self.continue_as = ctx.random, ctx.uuid, ctx.changed, ctx.continue_as
        self.race, self.any = lambda members: ctx.race(*members), lambda members: ctx.any(*members)

    @staticmethod
    def described(error):
        found = {"type": getattr(error, "type", None) or type(error).__name__, "message": str(error)}
        if isinstance(error, TimeoutError):
            found["type"] = "TimeoutError"
        if getattr(error, "details", None) is not None:
            found["details"] = error.details
        return found

    def step(self, name, body, options):
        def execute():
            try:
                return body()
            except catalogue.Told as told:
                raise thrown(told.error) from None
        retry = without(options, "timeout")
        return self.ctx.step(name, execute, retry=Retry(**retry) if retry else None, timeout=options.get("timeout"))

    def task(self, name, input, options):
        return self.ctx.task(name, input, **python_names(options))

    def child(self, name, input, options):
        return self.ctx.child(name, input, **python_names(options))

    async def start(self, name, input, options):
        await self.ctx.start(name, input, **python_names(options))

    def sleep_until(self, at_ms):
        return self.ctx.sleep_until(datetime.datetime.fromtimestamp(at_ms / 1000, datetime.timezone.utc))

    def signal(self, name, timeout):
        return self.ctx.signal(name, timeout=timeout)

    def event(self, topic, options):
        return self.ctx.event(topic, **options)

    async def all(self, members):
        return list(await self.ctx.all(*members))

    async def all_settled(self, members):
        return [{"value": each.value} if each.error is None else {"error": self.described(each.error)}
                for each in await self.ctx.all_settled(*members)]

    def now_ms(self):
        return self.ctx.now().timestamp() * 1000

    def is_told_to_end(self):
        return self.ctx.cancelled.is_set()

    def info(self):
        info = self.ctx.info
        return {"run_id": info.run_id, "workflow": info.workflow, "version": info.version,
                "attempt": info.attempt, "tags": list(info.tags), "parent_id": info.parent_id}


def served(function):
    name, version = ENV.get("CONFORMANCE_PREFIX", "") + function.__name__, ENV.get("CONFORMANCE_VERSION", "1")

    @workflow(name, version=version)
    async def served(ctx, input):
        return await function(Tools(ctx), input)
    return served


def main():
    worker = Worker(name=ENV["CONFORMANCE_WORKER"], lease=ENV["CONFORMANCE_LEASE"])
    for each in catalogue.ALL:
        worker.workflow(served(each))
    worker.run()


if __name__ == "__main__":
    main()

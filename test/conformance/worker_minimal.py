"""The catalogue of the conformance suite on the minimal worker, which knows nothing but docs/protocol.md."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "e2e", "support"))
import catalogue  # noqa: E402
from code_worker import (Cancelled, ContinueAs, Every, Failed, First, FirstGood, Settled,  # noqa: E402
                         Worker, error_of, moment, seconds_of)

ENV = os.environ


def in_seconds(options, *names):
    return {name: seconds_of(value) if name in names else value for name, value in options.items()}


class Tools:
    """The catalogue's verbs."""

    def __init__(self, ctx):
        self.ctx, self.run_id = ctx, ctx.run_id
        self.emit, self.stream, self.state, self.log = ctx.emit, ctx.stream, ctx.state, ctx.log
        self.random, self.uuid, self.changed = ctx.random, ctx.uuid, ctx.changed

    errors = (Failed, Cancelled)
    thrown = staticmethod(Failed)

    @staticmethod
    def described(error):
        said = {"type": "CancelledError", "message": ""} if isinstance(error, Cancelled) else error_of(error)
        return {key: said[key] for key in ("type", "message", "details") if key in said}

    def step(self, name, body, options):
        def execute():
            try:
                return body()
            except catalogue.Told as told:
                raise Failed(told.error) from told
        retry = in_seconds(options, "delay", "max_delay", "timeout")
        return self.ctx.step(name, execute, retry=retry, timeout=retry.pop("timeout", None))

    def task(self, name, input, options):
        return self.ctx.task(name, input, **options)

    def child(self, name, input, options):
        return self.ctx.child(name, input, **options)

    async def start(self, name, input, options):
        self.ctx.start(name, input, **options)

    def sleep(self, duration):
        return self.ctx.sleep(seconds_of(duration))

    def sleep_until(self, at_ms):
        return self.ctx.sleep_until(at_ms / 1000)

    def signal(self, name, timeout):
        return self.ctx.signal(name, None if timeout is None else seconds_of(timeout))

    def event(self, topic, options):
        return self.ctx.event(topic, **in_seconds(options, "timeout"))

    all = staticmethod(Every)
    any = staticmethod(FirstGood)

    @staticmethod
    async def race(members):
        return (await First(members))[1]

    async def all_settled(self, members):
        return [{"value": each.value} if each.error is None else {"error": self.described(each.error)}
                for each in await Settled(members)]

    def now_ms(self):
        return moment(self.ctx.now()) * 1000

    def is_told_to_end(self):
        return self.ctx.is_cancelled

    def info(self):
        return {name: self.ctx.turn[name]
                for name in ("run_id", "workflow", "version", "attempt", "tags", "parent_id")}

    def continue_as(self, input):
        raise ContinueAs(input)


def served(function):
    async def workflow(ctx, input):
        return await function(Tools(ctx), input)
    return workflow


def main():
    prefix, version = ENV.get("CONFORMANCE_PREFIX", ""), ENV.get("CONFORMANCE_VERSION", "1")
    workflows = {(prefix + each.__name__, version): served(each) for each in catalogue.ALL}
    worker = Worker(ENV["ABIDE_SERVER"], workflows, ENV["CONFORMANCE_WORKER"], lease=ENV["CONFORMANCE_LEASE"])
    worker.register()
    worker.serve(concurrency=32)


if __name__ == "__main__":
    main()

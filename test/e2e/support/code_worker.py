"""A minimal worker that executes workflows, written from docs/protocol.md alone.

A workflow is `async def f(ctx, input)`. What it awaits are operations of `ctx`: there is no event loop,
a turn goes on as long as what is awaited is there. Steps are executed one after the other.
"""

import datetime
import json
import time
import urllib.error
import urllib.request

COMMANDS = {"task", "child", "emit", "stream", "mark"}


class Failed(Exception):
    """What a step, task, child or wait ended with."""

    def __init__(self, error):
        super().__init__(error.get("message", ""))
        self.error = error


class Cancelled(Exception):
    pass


class Mismatch(Exception):
    pass


class Operation:
    """Something that ends later."""

    def __init__(self, number, wait=None, body=None, retry=None):
        self.number, self.wait, self.body, self.retry = number, wait, body, retry
        self.name = None  # of a step
        self.attempts, self.is_done, self.value, self.error = 0, False, None, None

    def settle(self, value=None, error=None):
        self.is_done, self.value, self.error = True, value, error

    def result(self):
        if self.error is not None:
            raise self.error
        return self.value

    def __await__(self):
        while not self.is_done:
            yield
        return self.result()


class Every:
    def __init__(self, operations):
        self.operations = operations

    def __await__(self):
        while not all(each.is_done for each in self.operations):
            if any(each.error is not None for each in self.operations):
                break
            yield
        for each in self.operations:
            if each.error is not None:
                raise each.error
        return [each.value for each in self.operations]


class First:
    def __init__(self, operations):
        self.operations = operations

    def __await__(self):
        while True:
            for each in self.operations:
                if each.is_done:
                    return self.operations.index(each), each.result()
            yield


class ContinueAs(Exception):
    def __init__(self, input):
        super().__init__("continue as")
        self.input = input


def until(now, seconds):
    at = datetime.datetime.fromisoformat(now.replace("Z", "+00:00")) + datetime.timedelta(seconds=seconds)
    return at.isoformat().replace("+00:00", "Z")


def is_command(entry):
    return entry["kind"] in COMMANDS and entry["outcome"] != "cancelled"


class Context:
    def __init__(self, turn):
        self.run_id, self.turn, self.time = turn["run_id"], turn, turn["now"]
        self.journal, self.place, self.given = turn["journal"], 0, 0
        self.operations, self.entries = [], []

    # commands

    def command(self, kind, name, **members):
        """Given already, or new. Answers what the journal has of it."""
        while self.given < len(self.journal) and not is_command(self.journal[self.given]):
            self.given += 1
        if self.given < len(self.journal):
            entry = self.journal[self.given]
            if (entry["kind"], entry["name"]) != (kind, name):
                raise Mismatch(f"entry {self.given} of the journal is {entry['kind']} "
                               f"\"{entry['name']}\", the code asks for {kind} \"{name}\"")
            self.given += 1
            return entry["data"]
        self.entries.append({"kind": kind, "name": name, **members})
        return members.get("value")

    def begin(self, wait=None, body=None, retry=None):
        operation = Operation(len(self.operations) + 1, wait, body, retry)
        self.operations.append(operation)
        return operation

    def step(self, name, body, retry=None):
        operation = self.begin(body=body, retry=retry)
        operation.name = name
        return operation

    def task(self, name, input=None, **options):
        operation = self.begin({"on": "task"})
        self.command("task", name, op=operation.number, input=input, options=options)
        return operation

    def child(self, name, input=None, **options):
        operation = self.begin({"on": "child"})
        self.command("child", name, op=operation.number, input=input, options=options)
        return operation

    def start(self, name, input=None, **options):
        operation = self.begin()
        self.command("child", name, op=operation.number, input=input, options=options, detached=True)

    def wait(self, on, name, seconds):
        operation = self.begin({"on": on})
        at = self.command("mark", on, op=operation.number,
                          value=None if seconds is None else until(self.time, seconds))
        if name is not None:
            operation.wait["name"] = name
        if at is not None:
            operation.wait["until"] = at
        return operation

    def sleep(self, seconds):
        return self.wait("timer", None, seconds)

    def signal(self, name, timeout=None):
        return self.wait("signal", name, timeout)

    def event(self, topic, timeout=None):
        return self.wait("event", topic, timeout)

    def now(self):
        return self.command("mark", "now", value=self.time)

    def emit(self, topic, payload):
        self.command("emit", topic, payload=payload)

    def stream(self, value, type="message"):
        self.command("stream", type, value=value)

    def state(self, name, value):
        self.entries.append({"kind": "state", "name": name, "value": value})

    # completions

    def complete(self, entry):
        """The next entry of the journal ends something."""
        if entry["outcome"] == "cancelled":
            for each in self.operations:
                if not each.is_done:
                    each.settle(error=Cancelled("the run was cancelled"))
            return
        if entry["kind"] in COMMANDS:
            if self.place <= self.given:
                return  # given by now
            raise Mismatch(f"entry {self.place - 1} of the journal is {entry['kind']} \"{entry['name']}\", "
                           "the code does not ask for it any more")
        if not 0 < entry["op"] <= len(self.operations):
            raise Mismatch(f"the journal ends operation {entry['op']}, which the code did not begin")
        operation = self.operations[entry["op"] - 1]
        if entry["kind"] in ("step", "step_attempt") and entry["name"] != operation.name:
            raise Mismatch(f"the journal has a step \"{entry['name']}\", the code a step \"{operation.name}\"")
        if entry["kind"] == "step_attempt":
            operation.attempts = entry["attempt"]
            operation.wait = {"on": "retry", "until": entry["data"]["next_at"]}
        elif entry["kind"] == "wait" and operation.body is not None:
            operation.wait = None  # the backoff is over: the next attempt
        elif entry["outcome"] == "ok":
            operation.settle(entry["data"])
        elif entry["outcome"] == "timeout":
            operation.settle(error=Failed({"type": "TimeoutError", "message": "timed out"}))
        else:
            operation.settle(error=Failed(entry["data"] or {}))


class Worker:
    def __init__(self, url, workflows, name="worker", token=None, lease="30s"):
        self.url, self.workflows, self.name, self.token, self.lease = url, workflows, name, token, lease
        self.crash_after = None  # commits after which the worker dies, for tests
        self.commits = 0

    def post(self, path, body):
        headers = {"content-type": "application/json"}
        if self.token:
            headers["authorization"] = "Bearer " + self.token
        request = urllib.request.Request(self.url + path, json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def served(self):
        return [{"name": name, "version": version} for name, version in self.workflows]

    def register(self, **more):
        return self.post("/v1/turns/register", {"workflows": [{**each, **more} for each in self.served()]})

    def claim(self, wait="0s", max=10):
        return self.post("/v1/turns/claim", {"worker": self.name, "workflows": self.served(),
                                             "wait": wait, "max": max, "lease": self.lease})["turns"]

    def commit(self, turn, context, outcome, **members):
        if self.crash_after is not None and self.commits >= self.crash_after:
            raise KeyboardInterrupt("the worker dies")
        self.commits += 1
        body = {"turn": turn["turn"], "entries": context.entries, "outcome": outcome, **members}
        verdict = self.post("/v1/turns/commit", {"turns": [body]})["turns"][0]
        context.entries, context.time = [], verdict["now"]
        return verdict

    def attempt(self, context, operation):
        """One attempt of a step; the entry of the journal that it becomes."""
        entry = {"kind": "step", "op": operation.number, "name": operation.name,
                 "attempt": operation.attempts + 1}
        try:
            entry["result"] = operation.body()
        except Exception as error:  # whatever the user's code does
            entry["error"] = {"type": type(error).__name__, "message": str(error)}
            if operation.retry and operation.attempts + 1 < operation.retry["attempts"]:
                entry["kind"] = "attempt"
                entry["error"]["next_at"] = until(context.time, operation.retry["delay"])
        return entry

    def pause(self, turn, context, error):
        context.entries = []
        return self.commit(turn, context, "paused", error={"type": "NondeterminismError", "message": str(error)})

    def execute(self, turn):
        """One turn, and those that follow it while it is this worker's."""
        context = Context(turn)
        coroutine = self.workflows[(turn["workflow"], turn["version"])](context, turn["input"])
        told = any(each["outcome"] == "cancelled" for each in turn["journal"])
        is_cancelled = turn["cancelled"]
        while True:
            try:
                coroutine.send(None)
            except StopIteration as end:
                return self.commit(turn, context, "completed", result=end.value)
            except ContinueAs as end:
                return self.commit(turn, context, "continue_as", input=end.input)
            except Mismatch as error:
                return self.pause(turn, context, error)
            except Cancelled as error:
                return self.commit(turn, context, "cancelled",
                                   error={"type": "CancelledError", "message": str(error)})
            except Failed as error:
                return self.commit(turn, context, "failed", error=error.error)
            except Exception as error:
                return self.commit(turn, context, "failed",
                                   error={"type": type(error).__name__, "message": str(error)})
            if context.place < len(context.journal):
                context.place += 1
                try:
                    context.complete(context.journal[context.place - 1])
                except Mismatch as error:
                    return self.pause(turn, context, error)
                continue
            if is_cancelled and not told:
                told = True
                context.entries.append({"kind": "cancel", "name": "cancel"})
                context.complete({"outcome": "cancelled"})
                continue
            open_ones = [each for each in context.operations if not each.is_done]
            step = next((each for each in open_ones if each.body and each.wait is None), None)
            waits = [{"op": each.number, **each.wait} for each in open_ones if each.wait]
            if step is None:
                return self.commit(turn, context, "suspended", waits=waits, deliver="each")
            entry = self.attempt(context, step)
            context.entries.append(entry)
            verdict = self.commit(turn, context, "running", waits=waits, deliver="each")
            if verdict["status"] != "accepted" or not verdict["is_held"]:
                return verdict
            is_cancelled = is_cancelled or verdict["cancelled"]
            is_failed = "error" in entry
            context.complete({"kind": "step_attempt" if entry["kind"] == "attempt" else "step", "name": step.name,
                              "op": step.number, "attempt": entry["attempt"],
                              "outcome": "error" if is_failed else "ok",
                              "data": entry["error"] if is_failed else entry["result"]})
            context.journal += verdict["journal"]  # what came while the step was executed
            told = told or any(each["outcome"] == "cancelled" for each in verdict["journal"])

    def work(self, until, seconds=60):
        """Executes turns until the condition holds."""
        end = time.monotonic() + seconds
        while not until():
            if time.monotonic() > end:
                raise TimeoutError("the workflow did not get there")
            for turn in self.claim(wait="200ms"):
                self.execute(turn)

"""A minimal worker that executes workflows, written from docs/protocol.md alone.

A workflow is `async def f(ctx, input)`. What it awaits are operations of `ctx`: there is no event loop,
a turn goes on as long as what is awaited is there. Steps are executed in threads of their own.
"""

import concurrent.futures
import datetime
import http.client
import json
import queue
import random
import re
import sys
import threading
import time
import urllib.error
import urllib.request
import uuid

COMMANDS = {"task", "child", "emit", "stream", "mark"}
STEPS = {"step", "step_attempt"}


class Failed(Exception):
    """What a step, task, child or wait ended with; or what a workflow ends with."""

    def __init__(self, error):
        super().__init__(error.get("message", ""))
        self.error = error


class Cancelled(Exception):
    pass


class Leaving(Exception):
    """Ends the turn whatever the function would like to catch."""


class Mismatch(Leaving):
    pass


class ContinueAs(Leaving):
    def __init__(self, input):
        super().__init__("continue as")
        self.input = input


class Operation:
    """Something that ends later."""

    def __init__(self, kind, number, name, wait=None, body=None, retry=None, timeout=None):
        self.kind, self.number, self.name, self.wait = kind, number, name, wait
        self.body, self.retry, self.timeout = body, retry or {}, timeout  # of a step
        self.attempts, self.is_done, self.is_executing, self.value, self.error = 0, False, False, None, None

    def settle(self, value=None, error=None):
        self.is_done, self.value, self.error = True, value, error

    def poll(self):
        pass

    def is_tried_again(self, error):
        return (self.attempts + 1 < self.retry.get("attempts", 1) and not error.get("final")
                and error["type"] not in self.retry.get("non_retryable", ()))

    def backoff(self):
        delay = self.retry.get("delay", 0) * self.retry.get("factor", 1) ** self.attempts
        return min(delay, self.retry.get("max_delay", delay))

    def can_end_with(self, entry):
        """Whether that completion of the journal may be of this operation."""
        if entry["kind"] == "wait":
            return (self.wait is not None
                    and (self.kind not in ("signal", "event") or entry["name"] == self.name))
        return self.kind == "step" and entry["name"] == self.name

    def end(self, entry):
        if entry["kind"] == "step_attempt":
            self.attempts = entry["attempt"]
            self.wait = {"on": "retry", "until": entry["data"]["next_at"]}
        elif entry["kind"] == "wait" and self.kind == "step":
            self.wait = None  # the backoff is over: the next attempt
        elif self.kind == "timer":
            self.settle()
        elif entry["outcome"] == "ok":
            self.settle(entry["data"])
        elif entry["outcome"] == "timeout":
            self.settle(error=Failed({"type": "TimeoutError", "message": "timed out"}))
        else:
            self.settle(error=Failed(entry["data"] or {"type": "Error", "message": entry["outcome"]}))

    def result(self):
        if self.error is not None:
            raise self.error
        return self.value

    def __await__(self):
        while not self.is_done:
            yield
        return self.result()


class Branch(Operation):
    """Anything else that can be awaited, as a member of Every, First, …"""

    def __init__(self, awaitable):
        super().__init__("branch", None, None)
        self.way = awaitable.__await__()

    def poll(self):
        try:
            if not self.is_done:
                next(self.way)
        except StopIteration as end:
            self.settle(end.value)
        except Leaving:
            raise
        except Exception as error:  # the function of the user raised it, and may catch it
            self.settle(error=error)


class Members:
    """Several at a time; `answer()` is called whenever something may have ended, until it answers a list."""

    def __init__(self, awaitables):
        self.members = [each if isinstance(each, Operation) else Branch(each) for each in awaitables]

    def __await__(self):
        while True:
            for each in self.members:
                each.poll()
            found = self.answer()
            if found is not None:
                return found[0]
            yield


class Every(Members):
    def answer(self):
        for each in self.members:
            if each.is_done and each.error is not None:
                raise each.error
        return [[each.value for each in self.members]] if all(each.is_done for each in self.members) else None


class First(Members):
    """(place, value) of the first that ends."""

    def answer(self):
        for place, each in enumerate(self.members):
            if each.is_done:
                return [(place, each.result())]
        return None


class FirstGood(Members):
    def answer(self):
        for each in self.members:
            if each.is_done and each.error is None:
                return [each.value]
        if all(each.is_done for each in self.members):
            raise Failed({"type": "AggregateError", "message": "all of them have failed"})
        return None


class Settled(Members):
    """The members, ended: `error` or `value` of each."""

    def answer(self):
        return [self.members] if all(each.is_done for each in self.members) else None


def instant(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).isoformat().replace("+00:00", "Z")


def seconds_of(duration):
    """Of "250ms", "2s", "24h"."""
    number, unit = re.fullmatch(r"([\d.]+)(ms|s|m|h)", duration).groups()
    return float(number) * {"ms": 0.001, "s": 1, "m": 60, "h": 3600}[unit]


def error_of(error):
    if isinstance(error, Failed):
        return {"type": "Error", "message": "", **error.error}
    return {"type": type(error).__name__, "message": str(error)}


def moment(instant):
    """Seconds since 1970."""
    return datetime.datetime.fromisoformat(instant.replace("Z", "+00:00")).timestamp()


def is_command(entry):
    return entry["kind"] in COMMANDS and entry["outcome"] != "cancelled"


class Context:
    def __init__(self, turn):
        self.run_id, self.turn, self.time = turn["run_id"], turn, turn["now"]
        self.journal, self.place, self.given = turn["journal"], 0, 0
        self.last_step = max((at for at, each in enumerate(self.journal) if each["kind"] in STEPS), default=-1)
        self.operations, self.entries = [], []
        self.is_cancelled = False

    # commands

    def is_replaying(self):
        """Whether the function has been further than here. What is ahead may have come together with what it goes on with."""
        return self.place <= self.last_step or self.next_command() is not None

    def next_command(self):
        """Of the journal, which the function has not given yet; None = there is none."""
        while self.given < len(self.journal) and not is_command(self.journal[self.given]):
            self.given += 1
        return self.journal[self.given] if self.given < len(self.journal) else None

    def command(self, kind, name, **members):
        """Given already, or new. Answers what the journal has of it."""
        entry = self.next_command()
        if entry is None:
            self.entries.append({"kind": kind, "name": name, **members})
            return members.get("value")
        if (entry["kind"], entry["name"]) != (kind, name):
            raise Mismatch(f"entry {self.given + 1} of the journal is {entry['kind']} "
                           f"\"{entry['name']}\", the code asks for {kind} \"{name}\"")
        self.given += 1
        return entry["data"]

    def until(self, seconds):
        return None if seconds is None else instant(moment(self.time) + seconds)

    def begin(self, kind, name, **members):
        operation = Operation(kind, len(self.operations) + 1, name, **members)
        self.operations.append(operation)
        return operation

    def step(self, name, body, retry=None, timeout=None):
        return self.begin("step", name, body=body, retry=retry, timeout=timeout)

    def started(self, kind, name, input, options):
        operation = self.begin(kind, name, wait={"on": kind})
        self.command(kind, name, op=operation.number, input=input, options=options)
        return operation

    def task(self, name, input=None, **options):
        return self.started("task", name, input, options)

    def child(self, name, input=None, **options):
        return self.started("child", name, input, options)

    def start(self, name, input=None, **options):
        operation = self.begin("detached", name)
        return self.command("child", name, op=operation.number, input=input, options=options, detached=True)

    def wait(self, on, name, at, **members):
        operation = self.begin(on, name or on, wait={"on": on, **members})
        at = self.command("mark", f"{on} {name}" if name else on, op=operation.number, value=at)
        if name is not None:
            operation.wait["name"] = name
        if at is not None:
            operation.wait["until"] = at
        return operation

    def sleep(self, seconds):
        return self.wait("timer", None, self.until(seconds))

    def sleep_until(self, seconds):
        return self.wait("timer", None, instant(seconds))

    def signal(self, name, timeout=None):
        return self.wait("signal", name, self.until(timeout))

    def event(self, topic, timeout=None, filter=None):
        more = {} if filter is None else {"filter": filter}
        return self.wait("event", topic, self.until(timeout), **more)

    def mark(self, name, value):
        return self.command("mark", name, value=value)

    def now(self):
        return self.mark("now", self.time)

    def random(self):
        return self.mark("random", random.random())

    def uuid(self):
        return self.mark("uuid", str(uuid.uuid4()))

    def changed(self, name):
        """Whether the run came here after this change of the code."""
        entry, name = self.next_command(), "changed:" + name
        is_recorded = entry is not None and (entry["kind"], entry["name"]) == ("mark", name)
        return self.mark(name, True) if is_recorded or not self.is_replaying() else False

    def emit(self, topic, payload):
        self.command("emit", topic, payload=payload)

    def stream(self, value, type="message"):
        self.command("stream", type, value=value)

    def state(self, name, value):
        if not self.is_replaying():
            self.entries.append({"kind": "state", "name": name, "value": value})

    def log(self, text, level="info"):
        if not self.is_replaying():
            self.entries.append({"kind": "line", "name": level, "text": text})

    # completions

    def complete(self, entry):
        """The next entry of the journal ends something."""
        if entry["outcome"] == "cancelled":
            self.cancel()
            return
        what = f"entry {self.place} of the journal is {entry['kind']} \"{entry['name']}\""
        if is_command(entry):
            if self.place > self.given:
                raise Mismatch(f"{what}, the code does not ask for it")
            return
        if not 0 < entry["op"] <= len(self.operations):
            raise Mismatch(f"{what} of operation {entry['op']}, which the code did not begin")
        operation = self.operations[entry["op"] - 1]
        if not operation.can_end_with(entry):
            raise Mismatch(f"{what}, operation {entry['op']} of the code is {operation.kind} \"{operation.name}\"")
        if not operation.is_done:
            operation.end(entry)

    def cancel(self):
        self.is_cancelled = True
        for each in self.operations:
            if not each.is_done:
                each.settle(error=Cancelled("the run was cancelled"))


class Execution:
    """One turn of a run, and those that follow it while it is this worker's."""

    def __init__(self, worker, turn):
        self.worker, self.turn, self.context = worker, turn, Context(turn)
        self.results = queue.SimpleQueue()
        self.executing = 0
        self.is_cancelled = turn["cancelled"]
        self.coroutine = worker.workflows[(turn["workflow"], turn["version"])](self.context, turn["input"])

    def commit(self, outcome, **members):
        return self.worker.commit(self.turn, self.context, outcome, **members)

    def go_on(self):
        """The function, until nothing in it can go on; (outcome, members) when it has ended."""
        try:
            self.coroutine.send(None)
            return None
        except StopIteration as end:
            answer = "completed", {"result": end.value}
        except ContinueAs as end:
            answer = "continue_as", {"input": end.input}
        except Mismatch:
            raise
        except Cancelled as error:
            answer = "cancelled", {"error": {"type": "CancelledError", "message": str(error)}}
        except Exception as error:
            answer = "failed", {"error": error_of(error)}
        if self.context.is_replaying():
            raise Mismatch("the code ends, and the journal goes on: " + ", ".join(
                f"{each['kind']} \"{each['name']}\"" for each in self.context.journal[self.context.place:]))
        return answer

    def replay(self):
        """Up to the present; (outcome, members) when the function has ended."""
        context = self.context
        while (answer := self.go_on()) is None and context.place < len(context.journal):
            context.place += 1
            context.complete(context.journal[context.place - 1])
        return answer

    def attempt(self, step):
        """One attempt of a step in a thread of its own; what comes of it is an entry of the journal."""
        number = step.attempts + 1

        def report(**members):
            entry = {"kind": "step", "op": step.number, "name": step.name, "attempt": number, **members}
            if "error" in members and step.is_tried_again(entry["error"]):
                entry["kind"] = "attempt"
                entry["error"]["next_at"] = self.context.until(step.backoff())
            self.results.put((step, entry))

        def execute():
            try:
                report(result=step.body())
            except Exception as error:  # whatever the user's code does
                report(error=error_of(error))

        def time_out():
            report(error={"type": "TimeoutError", "message": f"step \"{step.name}\" took too long"})

        step.is_executing = True
        self.executing += 1
        threading.Thread(target=execute, daemon=True).start()
        if step.timeout is not None:
            timer = threading.Timer(step.timeout, time_out)
            timer.daemon = True
            timer.start()

    def tell_cancelled(self):
        self.context.entries.append({"kind": "cancel", "name": "cancel"})
        self.context.cancel()

    def waits(self):
        return [{"op": each.number, **each.wait} for each in self.context.operations if each.wait and not each.is_done]

    def commit_running(self):
        """What is there meanwhile of what it waits for follows in the journal. False: the run is another's now."""
        verdict = self.commit("running", waits=self.waits(), deliver="each")
        if verdict["status"] != "accepted" or not verdict["is_held"]:
            return False
        self.is_cancelled = self.is_cancelled or verdict["cancelled"]
        self.context.journal += verdict["journal"]
        return True

    def patience(self):
        """How long to wait for a step: until a heartbeat is due, or a timer is over."""
        now = moment(self.context.time)
        return max(0, min([self.worker.lease_seconds / 3, *(moment(each["until"]) - now + 0.001
                                                            for each in self.waits() if "until" in each)]))

    def wait(self):
        """For the end of a step, or something else that comes. False: the run is another's now."""
        try:
            step, entry = self.results.get(timeout=self.patience())
        except queue.Empty:
            status = self.worker.heartbeat(self.turn)
            self.is_cancelled = self.is_cancelled or status == "cancelled"
            return status != "fenced" and (not self.waits() or self.commit_running())
        if not step.is_executing or entry["attempt"] != step.attempts + 1:
            return True  # it came after its timeout
        self.executing -= 1
        step.is_executing = False
        if step.is_done:
            return True  # cancelled meanwhile
        error = entry.get("error")
        done = {**entry, "kind": "step_attempt" if entry["kind"] == "attempt" else "step",
                "outcome": "ok" if error is None else "error", "data": entry.get("result") if error is None else error}
        self.context.entries.append(entry)
        self.context.journal.append(done)
        self.context.last_step = len(self.context.journal) - 1
        return self.commit_running()

    def execute(self):
        try:
            answer = self.replay()
            while answer is None:
                if self.is_cancelled and not self.context.is_cancelled:
                    self.tell_cancelled()
                    answer = self.replay()
                    continue
                for each in self.context.operations:
                    if each.body and each.wait is None and not each.is_done and not each.is_executing:
                        self.attempt(each)
                if self.executing == 0:
                    return self.commit("suspended", waits=self.waits(), deliver="each")
                if not self.wait():
                    return None
                answer = self.replay()
            return self.commit(answer[0], **answer[1])
        except Mismatch as error:
            self.context.entries = []
            return self.commit("paused", error={"type": "NondeterminismError", "message": str(error)})


class Worker:
    def __init__(self, url, workflows, name="worker", token=None, lease="30s"):
        self.url, self.workflows, self.name, self.token, self.lease = url, workflows, name, token, lease
        self.lease_seconds = seconds_of(lease)
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

    def heartbeat(self, turn):
        return self.post("/v1/turns/heartbeat", {"turns": [{"turn": turn["turn"]}],
                                                 "lease": self.lease})["turns"][0]["status"]

    def commit(self, turn, context, outcome, **members):
        if self.crash_after is not None and self.commits >= self.crash_after:
            raise KeyboardInterrupt("the worker dies")
        self.commits += 1
        turn["number"] = turn.get("number", 0) + 1  # one that is sent again is not taken again
        body = {"turn": turn["turn"], "number": turn["number"], "entries": context.entries, "outcome": outcome, **members}
        context.entries = []
        try:
            verdict = self.post("/v1/turns/commit", {"turns": [body]})["turns"][0]
        except urllib.error.HTTPError as error:  # the request as a whole
            verdict = {**json.load(error), "status": "refused"}
        context.time = verdict.get("now", context.time)
        if verdict["status"] == "refused":  # what it wanted to say cannot be said: the run fails
            error = {"type": "RefusedError", "message": verdict["detail"], "code": verdict["code"]}
            self.post("/v1/turns/commit", {"turns": [{"turn": turn["turn"], "outcome": "failed", "error": error}]})
        return verdict

    def execute(self, turn):
        return Execution(self, turn).execute()

    def work(self, until, seconds=60):
        """Executes turns until the condition holds."""
        end = time.monotonic() + seconds
        while not until():
            if time.monotonic() > end:
                raise TimeoutError("the workflow did not get there")
            for turn in self.claim(wait="200ms"):
                self.execute(turn)

    def execute_safely(self, turn):
        try:
            self.execute(turn)
        except (OSError, http.client.HTTPException) as error:
            # The server gives the turn to somebody when the lease is over; the journal has what it took.
            print(f"run {turn['run_id']} is dropped: {error}", file=sys.stderr)

    def serve(self, concurrency=16):
        """Executes turns for ever, so many at a time."""
        free = threading.Semaphore(concurrency)
        pool = concurrent.futures.ThreadPoolExecutor(concurrency)
        while True:
            taken = 1
            free.acquire()
            while taken < concurrency and free.acquire(blocking=False):
                taken += 1
            try:
                turns = self.claim("30s", taken)
            except urllib.error.HTTPError as error:
                raise SystemExit(error.read().decode()) from error
            except (OSError, http.client.HTTPException):
                turns = []
                time.sleep(0.05)  # the server is away for a moment
            for turn in turns:
                pool.submit(self.execute_safely, turn).add_done_callback(lambda _: free.release())
            for _ in range(taken - len(turns)):
                free.release()

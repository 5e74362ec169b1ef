"""A program on the Python library for test_sdk.py; probe.mjs is its twin.

    probe.py worker {options}      does the tasks below, tells what happens as JSON lines
    probe.py client NAME {input}   runs a function below, prints its answer as JSON
    probe.py calls                 tells the client's methods, then makes the calls it reads, one per line
"""
import json
import sys
import threading
import time

from abide import (ApiError, Client, NonRetryableError, RunFailed, TaskError, WaitTimeout, Worker)

output = threading.Lock()


def tell(**event):
    with output:
        print(json.dumps(event), flush=True)


class CardDeclined(Exception):
    pass


def echo(value):
    return value


def flop(value, context):
    kind = value["kind"]
    if kind == "plain":
        raise CardDeclined("no money")
    if kind == "final":
        raise NonRetryableError("never", details={"limit": 5})
    if kind == "typed":
        raise TaskError("busy", type="Busy", details=[1, 2])
    if kind == "once" and context.attempt == 1:
        raise RuntimeError("the first time")
    if kind == "unwritable":
        return {1, 2}
    if kind == "huge":
        return "x" * (5 << 20)
    if kind == "wordy":
        raise RuntimeError("x" * (1 << 20))
    return {"attempt": context.attempt}


def slow(value, context):
    """Until the time is over, or its result is not wanted any more."""
    tell(event="begin", id=context.id, attempt=context.attempt)
    if value.get("progress"):
        context.progress(value["progress"])
    if context.cancelled.wait(value["seconds"]):
        tell(event="cancelled", id=context.id, reason=context.reason)
        context.check()
    tell(event="end", id=context.id)
    return "slept"


def stubborn(value, context):
    """Listens to nobody."""
    tell(event="begin", id=context.id, attempt=context.attempt)
    time.sleep(value["seconds"])
    return "slept"


def about(value, context):
    return {"id": context.id, "name": context.name, "queue": context.queue, "step": context.step,
            "attempt": context.attempt, "run": context.run_id, "trace": context.traceparent}


def work(options):
    worker = Worker(**options)
    for function in (echo, flop, slow, stubborn, about):
        worker.add(function.__name__, function)

    @worker.task("soon")
    async def soon(value):
        return value
    tell(event="ready")
    try:
        worker.run()
    except ApiError as error:
        tell(event="refused", code=error.code)
        sys.exit(3)
    tell(event="stopped")


def basics(client, value):
    deployed = client.deploy("basics", "return await Signal.next('go')")
    first = client.start("basics", None, key=value["key"], tags=[value["key"], "t"])
    again = client.start("basics", None, key=value["key"], tags=[value["key"], "t"])
    try:
        client.result(first["id"], timeout="50ms")
        waited = "no"
    except WaitTimeout:
        waited = "timeout"
    client.signal(first["id"], "go", {"n": [1, None]}, id="s1")
    return {"deployed": deployed["workflows"][0]["name"], "same": first["id"] == again["id"], "waited": waited,
            "result": client.result(first["id"]), "status": client.show(first["id"])["status"],
            "cancelled": client.cancel(first["id"], reason="late")}


def errors(client, _value):
    client.deploy("failing", "throw new TypeError('not today')")
    client.deploy("endless", "await Signal.next('never')")
    found = {}
    try:
        client.run("failing")
    except RunFailed as error:
        found["failed"] = [error.status, error.error["message"]]
    run = client.start("endless")
    found["changed"] = client.cancel(run["id"], reason="enough")
    try:
        client.result(run["id"], timeout="20s")
    except RunFailed as error:
        found["cancelled"] = error.status
    for name, call in {"flow": lambda: client.deploy("bad", "const x = ;"),
                       "run": lambda: client.show("nobody"),
                       "workflow": lambda: client.start("nobody"),
                       "signal": lambda: client.signal(run["id"], "x")}.items():
        try:
            call()
        except ApiError as error:
            found[name] = [error.status, error.code]
    return found


def lists(client, value):
    client.deploy("endless", "await Signal.next('never')")
    ids = [client.start("endless", number, tags=[value["tag"]])["id"] for number in range(5)]
    listed = [run["id"] for run in client.list(tag=value["tag"], page_size=2)]
    return {"ids": ids, "listed": listed, "none": list(client.list(tag="nothing has it"))}


def events(client, value):
    client.deploy("listener", "return await Event.wait(Inputs)")
    run = client.start("listener", value["topic"])
    first = client.emit(value["topic"], {"n": 1}, id=value["topic"] + "-1")
    again = client.emit(value["topic"], {"n": 1}, id=value["topic"] + "-1")
    return {"result": client.result(run["id"]), "first": first["duplicate"],
            "again": again["duplicate"]}


def tasks(client, value):
    made = client.tasks.create("echo", {"a": 1}, queue=value["queue"], priority=3)
    listed = [task["id"] for task in client.tasks.list(queue=value["queue"], status="queued")]
    return {"id": made["id"], "status": client.tasks.show(made["id"])["status"], "listed": listed,
            "retried": client.tasks.retry(made["id"])["changed"]}


def traced(client, value):
    client.deploy("traced", "return await Task.run('about')")
    run = client.start("traced", traceparent=value["traceparent"])
    return client.result(run["id"])["trace"]


def stream(client, value):
    seen = []
    for entry in client.stream(value["run"], after=value.get("after", 0)):
        seen.append([entry["seq"], entry["kind"]])
        tell(event="entry", seq=entry["seq"])
    return seen


# ---- any call of the library, asked for on standard input ----

def methods_of(target):
    return [name for name in dir(target) if not name.startswith("_") and callable(getattr(target, name))]


def methods(client):
    groups = [name for name in vars(client) if name != "transport"]
    of_handles = {"handle", "wait"}  # made of others; test_workflows_python.py calls them
    return [name for name in methods_of(client) if name not in of_handles] + [
        group + "." + name for group in groups for name in methods_of(getattr(client, group))]


def perform(client, call, args, options):
    target = client
    for name in call.split("."):
        target = getattr(target, name)
    answer = target(*args, **options)
    if call == "changes":  # has no end
        return [next(answer)]
    return list(answer) if hasattr(answer, "__next__") else answer


def serve_calls(client):
    tell(event="methods", names=methods(client))
    for line in sys.stdin:
        try:
            tell(event="answer", answer=perform(client, **json.loads(line)))
        except Exception as error:
            tell(event="error", kind=error.__class__.__name__, message=str(error),
                 status=getattr(error, "status", None), code=getattr(error, "code", None),
                 detail=getattr(error, "detail", None))


def main():
    if sys.argv[1] == "calls":
        with Client() as client:
            serve_calls(client)
        return
    if sys.argv[1] == "worker":
        work(json.loads(sys.argv[2]))
        return
    with Client() as client:
        answer = globals()[sys.argv[2]](client, json.loads(sys.argv[3]))
    tell(event="answer", answer=answer)


main()

#!/usr/bin/env python3
"""Herds: the load that a big user brings, against a server, with hard checks.

    herd.py [--store sqlite …] [--kind tasks …] [--runs 12000] [--tasks 10] [--seconds 1800] [--worst 1.0]

Without a store each is tried, without a kind each of them.

Each kind is many runs or tasks that become due, or arrive, all at once:

    tasks      runs with the same start_at, each with tasks that the server executes itself
    workers    the same with tasks that workers claim over HTTP, hundreds at a time
    signals    runs that wait, each signalled at the same time as all others
    children   a few runs that start all the others and wait for them
    broadcast  runs that wait for one event of a topic, which is published once
    queued     tasks of a queue: workers that are slow, and others that claim and are never heard again
    overload   starts that come twice as fast as they are worked off, for a bounded time

What is checked: everything ends, and a caller beside it is answered: one that starts a run, reads it
and asks for the state of the store again and again, all the while. The worst of its answers
and the most memory of the server are reported; the former must be below --worst seconds if that is given.
"""
import argparse
import contextlib
import http.client
import json
import os
import socket
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "e2e", "support"))
os.environ.setdefault("ABIDE_BUILD_DIR", os.path.join(os.path.dirname(os.path.dirname(HERE)), "build"))
import server as servers  # noqa: E402
from servers.postgres import Postgres  # noqa: E402
from servers.redis import Redis  # noqa: E402

STORES = ["sqlite", "postgres", "redis"]
KINDS = ["tasks", "workers", "signals", "children", "broadcast", "queued", "overload"]
CALLERS = 8  # connections that bring the herd
WORKERS = 4
CLAIM_MAX = 500
FLOWS = {
    "tasks": 'for (let i = 0; i < Inputs; i++) await Task.run("log", {level: "debug", message: "m"})\nreturn Inputs\n',
    "workers": 'for (let i = 0; i < Inputs; i++) await Task.run("work", i)\nreturn Inputs\n',
    "signals": 'for (let i = 0; i < Inputs; i++) await Task.run("log", {level: "debug", message: "m"})\n'
               'return await Signal.when("go")\n',
    "child": 'for (let i = 0; i < Inputs; i++) await Task.run("log", {level: "debug", message: "m"})\nreturn 1\n',
    "children": 'const all = await Task.all(Array.from({length: Inputs.count}, () =>\n'
                '  Workflow.run("child", Inputs.tasks)))\nreturn all.length\n',
    "broadcast": 'return await Event.wait("news")\n',
    "beside": "return Inputs\n",
}


class Connection:
    """Keep-alive; asks again when the server says that it is busy."""

    def __init__(self, port):
        self.http = http.client.HTTPConnection("127.0.0.1", port, timeout=300)

    def call(self, method, path, body=None):
        self.http.request(method, path, body=None if body is None else json.dumps(body))
        answer = self.http.getresponse()
        data = answer.read()
        return answer.status, json.loads(data) if data else None

    def connect(self):
        self.http.connect()
        self.http.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def must(self, method, path, body=None):
        status, answer = self.call(method, path, body)
        if status not in (200, 201, 202, 204):
            raise AssertionError("%s %s: %d %s" % (method, path, status, answer))
        return answer


class Beside:
    """A caller that wants little and wants it now."""

    def __init__(self, port):
        self.port = port
        self.worst = {}  # what -> seconds
        self.count = 0
        self.failures = []
        self.is_over = False
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def timed(self, connection, what, method, path, body=None):
        began = time.monotonic()
        status, answer = connection.call(method, path, body)
        self.worst[what] = max(self.worst.get(what, 0), time.monotonic() - began)
        if status not in (200, 201):
            self.failures.append("%s: %d %s" % (what, status, answer))
        return answer

    def run(self):
        connection = Connection(self.port)
        while not self.is_over:
            run_id = "beside-%d" % self.count
            self.timed(connection, "start", "POST", "/v1/runs",
                       {"id": run_id, "workflow": "beside", "input": 1})
            self.timed(connection, "read", "GET", "/v1/runs/" + run_id)
            self.timed(connection, "list", "GET", "/v1/runs?limit=10")
            self.timed(connection, "readyz", "GET", "/readyz")
            self.count += 1
            time.sleep(0.02)

    def stop(self):
        self.is_over = True
        self.thread.join()


def spread(port, items, act):
    """`act(connection, item)` for all of them, over CALLERS connections."""
    items = list(items)
    errors = []

    def run(part):
        connection = Connection(port)
        try:
            for item in part:
                act(connection, item)
        except Exception as error:  # told by the caller
            errors.append(error)

    threads = [threading.Thread(target=run, args=(items[i::CALLERS],)) for i in range(CALLERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


class Herd:
    def __init__(self, server, options):
        self.server = server
        self.options = options
        self.connection = Connection(server.port)
        self.workers = []
        self.is_over = False
        self.done = 0  # tasks that workers have completed

    def deploy(self):
        for name, source in FLOWS.items():
            self.server.deploy(name, source)

    # ---- what happens ----

    def start_all(self, workflow, seconds=0):
        """All with the same start_at, once all of them are there."""
        count = self.options.runs
        began = time.time()
        due = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(began + seconds)) if seconds else None

        def start(connection, i):
            body = {"id": "h%d" % i, "workflow": workflow, "input": self.options.tasks}
            if due:
                body["start_at"] = due
            connection.must("POST", "/v1/runs", body)

        spread(self.server.port, range(count), start)
        took = time.time() - began
        if seconds and took > seconds:
            print("# the herd was due before all of it was there (%.0f of %.0f s)" % (seconds, took))
        return began + seconds

    def start_due(self, workflow):
        rate = 600 if self.options.runs > 1000 else 300  # starts per second on a busy machine
        due = self.start_all(workflow, 2 + self.options.runs / rate)
        time.sleep(max(0, due - time.time()))

    def work(self, number, is_slow=False, is_dead=False):
        connection = Connection(self.server.port)
        while not self.is_over:
            tasks = connection.must("POST", "/v1/tasks/claim", {
                "worker": "w%d" % number, "names": ["work"], "max": CLAIM_MAX, "wait": "1s",
                "lease": "5s" if self.options.kind == "queued" else "60s"})["tasks"]
            if is_dead:
                return  # with what it has claimed
            if is_slow:
                time.sleep(0.5)
            if not tasks:
                continue
            answer = connection.must("POST", "/v1/tasks/complete", {
                "results": [{"id": task["id"], "token": task["token"], "result": 1} for task in tasks]})
            self.done += sum(1 for result in answer["results"] if not result.get("error"))

    def hire(self, **how):
        thread = threading.Thread(target=self.work, args=(len(self.workers),), kwargs=how)
        self.workers.append(thread)
        thread.start()

    # ---- kinds ----

    def tasks(self):
        self.start_due("tasks")

    def workers_(self):
        for _ in range(WORKERS):
            self.hire()
        self.start_due("workers")

    def signals(self):
        self.start_due("signals")
        spread(self.server.port, range(self.options.runs), lambda connection, i: connection.must(
            "POST", "/v1/runs/h%d/signals/go" % i, {"payload": i}))

    def children(self):
        each = min(1000, self.options.runs)
        for i in range(max(1, self.options.runs // each)):
            self.connection.must("POST", "/v1/runs", {
                "id": "h%d" % i, "workflow": "children", "input": {"count": each, "tasks": self.options.tasks}})

    def broadcast(self):
        self.connection.must("PUT", "/v1/topics/news", {"consume": "all"})
        self.start_all("broadcast")
        servers.wait_until(lambda: self.stats()["runs"]["suspended"] >= self.options.runs, self.options.seconds)
        self.connection.must("POST", "/v1/events/news", 1)

    def queued(self):
        count = self.options.runs
        spread(self.server.port, range(count), lambda connection, i: connection.must(
            "POST", "/v1/tasks", {"id": "t%d" % i, "name": "work", "attempts": 10}))
        for _ in range(WORKERS):
            self.hire(is_dead=True)
        for _ in range(WORKERS):
            self.hire(is_slow=True)
        self.hire()

    def overload(self):
        until = time.monotonic() + self.options.load_seconds
        number = [0]

        def flood(connection, _):
            while time.monotonic() < until:
                number[0] += 1
                connection.must("POST", "/v1/runs", {"workflow": "tasks", "input": self.options.tasks})

        spread(self.server.port, range(CALLERS), flood)
        print("# %d runs in %d s" % (number[0], self.options.load_seconds))

    # ---- the end ----

    def stats(self):
        return self.connection.must("GET", "/v1/stats")

    def live(self):
        stats = self.stats()
        runs = sum(stats["runs"][state] for state in ("pending", "running", "suspended", "paused"))
        tasks = sum(stats["tasks"].get(state, 0) for state in ("queued", "leased", "running", "backoff", "waiting"))
        return runs + tasks

    def wait_for_end(self):
        servers.wait_until(lambda: self.live() == 0 or time.sleep(0.2), self.options.seconds,
                           lambda: "not ended: %s" % self.stats())
        stats = self.stats()
        failed = stats["runs"]["failed"] + stats["runs"]["cancelled"] + stats["tasks"].get("failed", 0)
        if failed:
            raise AssertionError("%d failed: %s" % (failed, stats))
        return stats

    def close(self):
        self.is_over = True
        for thread in self.workers:
            thread.join()


@contextlib.contextmanager
def store_of(kind):
    if kind == "sqlite":
        with tempfile.TemporaryDirectory(prefix="abide-herd-") as folder:
            yield "sqlite:" + os.path.join(folder, "herd.db")
        return
    server = {"postgres": Postgres, "redis": Redis}[kind]()
    server.start()
    try:
        yield server.url
    finally:
        server.close()


def peak_megabytes(process):
    with open("/proc/%d/status" % process.pid) as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) / 1024


def play(options, *arguments):
    """One herd; answers {what: worst seconds} of the caller beside it."""
    with store_of(options.store) as url:
        server = servers.Server(*arguments, store=url)
        herd = beside = None
        try:
            herd = Herd(server, options)
            herd.deploy()
            beside = Beside(server.port)
            began = time.monotonic()
            getattr(herd, "workers_" if options.kind == "workers" else options.kind)()
            due = time.monotonic()
            herd.wait_for_end()
            ended = time.monotonic()
            memory = peak_megabytes(server.process)
        finally:
            if beside:
                beside.stop()
            if herd:
                herd.close()
            for line in server.lines[-20:]:
                print("# server: " + line)
            server.close()
    worst = max(beside.worst.values())
    print("%s %s: %d runs brought in %.1f s and done %.1f s later with at most %.0f MB; beside it %d calls, the worst "
          "%.3f s (%s)%s" % (
        options.store, options.kind, options.runs, due - began, ended - due, memory, beside.count, worst,
        ", ".join("%s %.3f" % item for item in sorted(beside.worst.items())),
        ", %d failed: %s" % (len(beside.failures), beside.failures[0]) if beside.failures else ""), flush=True)
    assert not beside.failures, beside.failures[:3]
    assert options.worst is None or worst <= options.worst, "a caller waited for %.3f s" % worst
    return beside.worst


def play_all(options):
    """Each store with each kind; answers how many did not hold."""
    failed = 0
    for store in options.store:
        for kind in options.kind:
            one = argparse.Namespace(**{**vars(options), "store": store, "kind": kind})
            try:
                play(one)
            except AssertionError as error:
                failed += 1
                print("%s %s: %s" % (store, kind, error), flush=True)
    return failed


def options_of(arguments=None):
    parser = argparse.ArgumentParser(description="A herd of runs against a server.")
    parser.add_argument("--store", nargs="*", default=STORES, choices=STORES)
    parser.add_argument("--kind", nargs="*", default=KINDS, choices=KINDS)
    parser.add_argument("--runs", type=int, default=12000)
    parser.add_argument("--tasks", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=1800, help="until everything must have ended")
    parser.add_argument("--load-seconds", type=float, default=60, help="how long overload goes on")
    parser.add_argument("--worst", type=float, help="seconds that a caller beside it may wait")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(play_all(options_of()) > 0)

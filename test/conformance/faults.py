"""Faults: the ten workflows of the catalogue while workers die, servers die, and commits are lost, repeated and late.

Whatever happens, each run ends with the result that it has without faults, each step is recorded once,
its effect happens at least once, and never after its result was recorded.
"""

import os
import signal
import threading

from harness import ENDED, Run, Server, WorkerProcess, equal, holds, wait_until
from proxy import Gone, Proxy

IS_FULL = int(os.environ.get("ABIDE_TEST_SCALE", "100")) >= 1000
LEASE = "3s"

RESULTS = {"charge": {"id": 7}, "ship": "label", "page": 3, "tick": 2, "merge": "all", "unsteady": "steady"}

# name -> input, result, the steps that are recorded at its end
TEN = {
    "order": ({"card": 7, "email": "x"}, {"card": 7, "receipt": {"id": 7}, "label": "label"}, ["charge", "ship"]),
    "saga": (["a", "b", "full"], {"undone": ["did undo b", "did undo a"]},
             ["book a", "book b", "book full", "undo b", "undo a"]),
    "loop": (5, 15, ["page"] * 5),
    "countdown": ({"left": 3, "sum": 0}, 6, ["tick"] * 3),
    "fan": (4, ["did part 0", "did part 1", "did part 2", "did part 3", "all"],
            ["merge", "part 0", "part 1", "part 2", "part 3"]),
    "flaky": (None, ["steady", "did after"], ["unsteady", "after"]),
    "family": (None, {"children": [{"of": "x", "got": "did leaf"}, {"of": "y", "got": "did leaf"}], "report": "did report"},
               ["report"]),
    "leaf": ("z", {"of": "z", "got": "did leaf"}, ["leaf"]),
    "race": (None, ["did quick", "did done"], ["quick", "done"]),
    "agent": (3, ["did think"] * 3, ["think"] * 3),
}


class Campaign:
    """Ten runs under a fault."""

    def __init__(self, suite, name, fault, server=None):
        self.name, self.prefix, self.server = name, name + "-", server or suite.server
        self.suite, self.command = suite, suite.command
        self.proxy = Proxy(self.server.port, fault)
        self.effects = type(suite.effects)()
        self.effects.answer = self.answer
        self.workers = []
        self.late = []  # effects after their result was recorded

    def answer(self, call, count):
        key, again = (call.run, call.name), {"page": 5, "tick": 3, "think": 3}
        if self.proxy.recorded.get(key, 0) >= again.get(call.name, 1):
            self.late.append((call.run, call.name))
        if call.name == "book full":
            return {"error": {"type": "Full", "message": "no room"}}
        if call.name == "unsteady" and count < 2:
            return {"error": {"type": "Unsteady", "message": "not yet"}}
        return {"result": RESULTS.get(call.name, f"did {call.name}")}

    def begin_worker(self):
        worker = WorkerProcess(self.command, self.proxy.url, self.effects, prefix=self.prefix, lease=LEASE)
        self.workers.append(worker)
        return worker

    def kill_worker(self):
        self.workers[-1].kill()
        if self.proxy.claims is not None:
            self.proxy.drop()

    def begin(self, wave=1):
        """Starts the ten."""
        self.runs = {}
        for name, (input, _, _) in TEN.items():
            if name == "family":
                input = {"child": self.prefix + "leaf", "names": ["x", "y"]}
            run = f"{self.prefix}{name}-{wave}"
            answer = self.server.post("/v1/runs", {"workflow": self.prefix + name, "input": input, "id": run})
            assert answer.status == 201, answer.body
            self.runs[name] = Run(self.server, run)

    def have_ended(self):
        """Whether all have; what was paused because its workers died goes on."""
        going = 0
        children = self.server.get(f"/v1/runs?parent={self.runs['family'].id}").json["items"]
        for run in [*self.runs.values(), *(Run(self.server, each["id"]) for each in children)]:
            now = run.now()
            if now["status"] == "paused" and now["pause_reason"].get("code") == "RUN_CRASHES":
                run.post("resume")
            holds(now["status"] != "paused" or now["pause_reason"].get("code") == "RUN_CRASHES", now)
            going += now["status"] not in ENDED
        return going == 0

    def check(self, are_effects_late=False):
        """After all have ended. A worker that hung may execute steps that another has recorded meanwhile."""
        for name, run in self.runs.items():
            _, result, steps = TEN[name]
            equal((name, run.result()), (name, result))
            equal((name, sorted(run.steps())), (name, sorted(steps)))
            for step in steps:
                holds(self.effects.of(run=run.id).count(step) >= steps.count(step), (run.id, step))
        holds(are_effects_late or not self.late, self.late)

    def end(self, are_effects_late=False):
        """Until all have ended, and checks them."""
        wait_until(self.have_ended, what=self.standing)
        self.check(are_effects_late)

    def standing(self):
        """Of those that have not ended, for a failed test."""
        found = self.server.get("/v1/runs?status=running,suspended,paused,pending&limit=100").json["items"]
        return "they do not end:\n" + "\n".join(
            f"{each['id']} {each['status']} {each['waits']}\n{Run(self.server, each['id']).history()}"
            for each in found if each["workflow"].startswith(self.prefix))

    def close(self):
        self.effects.close()
        for worker in self.workers:
            worker.kill()
        self.proxy.close()


def campaign(suite, name, fault, server=None):
    """A campaign with its first worker and its runs."""
    made = Campaign(suite, name, fault, server)
    try:
        made.begin_worker().ready(made.server)
        made.begin()
    except BaseException:
        made.close()
        raise
    return made


def worker_killed_at_every_commit(suite):
    """Before the commit, and at the next worker's after it, so that each position of each journal is hit twice."""
    limit = 10000 if IS_FULL else 12
    dying = threading.Event()
    state = {"count": 0}
    lock = threading.Lock()

    def fault(proxy, _, forward):
        with lock:
            if dying.is_set():
                raise Gone
            if state["count"] >= limit:
                return forward()
            state["count"] += 1
            if state["count"] % 2 == 0:
                forward()
            dying.set()
            raise Gone

    made = campaign(suite, "killed", fault)
    try:
        while not made.have_ended():
            wait_until(lambda: dying.is_set() or made.have_ended(), what=made.standing)
            if not dying.is_set():
                break
            made.kill_worker()
            dying.clear()
            made.begin_worker()
        made.end()
    finally:
        made.close()


def answers_lost(suite):
    """The connection is cut when the server has taken the commit."""
    def fault(_, number, forward):
        answer = forward()
        if number % (2 if IS_FULL else 5) == 0:
            raise Gone
        return answer
    under(suite, "lost", fault)


def commits_lost(suite):
    """The connection is cut before the server gets the commit."""
    def fault(_, number, forward):
        if number % (2 if IS_FULL else 5) == 0:
            raise Gone
        return forward()
    under(suite, "unsent", fault)


def commits_repeated(suite):
    """Each commit arrives twice."""
    def fault(_, __, forward):
        answer = forward()
        forward()
        return answer
    under(suite, "twice", fault)


def commits_repeated_late(suite):
    """A copy of each commit arrives when others have come after it."""
    copies = []

    def fault(_, number, forward):
        answer = forward()
        copies.append(forward)
        if number % 3 == 0:
            for copy in copies[:-1]:
                copy()
            del copies[:-1]
        return answer
    under(suite, "late", fault)


def under(suite, name, fault):
    made = campaign(suite, name, fault)
    try:
        made.end()
    finally:
        made.close()


def two_workers_with_the_same_run(suite):
    """A worker hangs with a commit on its way, another takes its runs; then the first goes on."""
    held, let_go = threading.Event(), threading.Event()

    def fault(_, number, forward):
        if number == 3:
            held.set()
            let_go.wait(120)
        return forward()

    made = campaign(suite, "two", fault)
    try:
        wait_until(held.is_set)
        os.kill(made.workers[0].process.pid, signal.SIGSTOP)
        made.begin_worker()
        wait_until(made.have_ended)
        let_go.set()
        os.kill(made.workers[0].process.pid, signal.SIGCONT)
        made.begin(wave=2)  # both go on
        made.end(are_effects_late=True)
    finally:
        let_go.set()
        made.close()


def server_killed(suite):
    """While commits are on their way, before and after it has taken them."""
    server, limit = Server(), 20 if IS_FULL else 3
    state = {"count": 0, "is_armed": False}
    lock = threading.Lock()

    def fault(_, number, forward):
        with lock:
            if state["is_armed"] and number % (3 if IS_FULL else 8) == 0 and state["count"] < limit:
                state["count"] += 1
                if state["count"] % 2 == 0:
                    forward()
                server.kill()
                server.restart_on_its_port()
                raise Gone
        return forward()

    made = None
    try:
        made = campaign(suite, "server", fault, server)
        state["is_armed"] = True
        wait_until(lambda: have_ended_safely(made))
        with lock:
            state["is_armed"] = False
        made.end()
    finally:
        with lock:
            state["is_armed"] = False  # nobody restarts it any more
        if made:
            made.close()
        server.close()


def have_ended_safely(made):
    try:
        return made.have_ended()
    except (OSError, ValueError):
        return False  # the server is away


ALL = (worker_killed_at_every_commit, answers_lost, commits_lost, commits_repeated, commits_repeated_late,
       two_workers_with_the_same_run, server_killed)

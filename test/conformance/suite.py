"""The conformance suite: every behaviour of the plain_*.py and changes.py, for one worker program.

    class Conformance(suite.Suite, unittest.TestCase):
        command = ["python3", "worker.py"]
    suite.fill(Conformance)

Behaviours are functions of a Case. They run at the same time, on one server and a few processes of the
worker. One that is a generator goes on in steps: at each `yield` all of its kind wait for each other, and
the worker is replaced by one with other code (CONFORMANCE_CODE).
"""

import concurrent.futures
import inspect
import os
import sys

import changes
import faults
import leases
import plain_runs
import plain_steps
import plain_waits
from harness import SOURCE, Case, Effects, Server, WorkerProcess

AT_A_TIME = 24
CODES = ("1", "2", "1", "2")  # of the worker before the first yield, after it, …


def behaviours():
    """(name, function) of all."""
    found = {}
    for module in (plain_steps, plain_waits, plain_runs, changes, leases):
        for name, function in vars(module).items():
            is_own = inspect.isfunction(function) and function.__module__ in (module.__name__, "plain_steps")
            if is_own and list(inspect.signature(function).parameters) == ["case"] and name not in found:
                assert function.__module__ == module.__name__, name
                found[name] = function
    return found


# What the server does not do yet.
PENDING = {}


def is_asked(name):
    """The arguments may name tests."""
    return len(sys.argv) == 1 or any(each.endswith(".test_" + name) for each in sys.argv[1:])


class Suite:
    command = None  # of the worker program
    pending = {}  # what it does not do yet: behaviour -> why

    @classmethod
    def setUpClass(cls):
        cls.pool = concurrent.futures.ThreadPoolExecutor(AT_A_TIME)
        cls.effects, cls.workers, cls.outcomes = Effects(), [], {}
        cls.server = Server()
        try:
            cls.begin()
        except BaseException:
            cls.tearDownClass()
            raise

    @classmethod
    def tearDownClass(cls):
        cls.effects.close()
        for worker in cls.workers:
            worker.kill()
        cls.pool.shutdown(cancel_futures=True)
        cls.server.close()

    @classmethod
    def worker(cls, **more):
        worker = WorkerProcess(cls.command, "http://127.0.0.1:%d" % cls.server.port, cls.effects, **more)
        cls.workers.append(worker)
        return worker

    @classmethod
    def begin(cls):
        """Starts all behaviours that are asked for."""
        asked = {name: function for name, function in behaviours().items()
                 if is_asked(name) and name not in cls.pending}
        plain = {name: function for name, function in asked.items()
                 if not inspect.isgeneratorfunction(function) and function.__module__ != "leases"}
        in_steps = {name: function for name, function in asked.items() if inspect.isgeneratorfunction(function)}
        of_leases = {name: function for name, function in asked.items() if function.__module__ == "leases"}
        cls.workers_ready = [cls.worker(), cls.worker(prefix="lease-", lease=leases.LEASE), cls.worker(prefix="step-")]
        for worker in cls.workers_ready:
            worker.ready(cls.server)
        cls.steps = cls.pool.submit(cls.in_steps, in_steps)
        for function in faults.ALL:
            if is_asked(function.__name__) and function.__name__ not in PENDING:
                cls.outcomes[function.__name__] = cls.pool.submit(function, cls)
        for name, function in of_leases.items():
            case = Case(cls.server, cls.effects, name, "lease-")
            case.worker = cls.worker
            cls.outcomes[name] = cls.pool.submit(function, case)
        for name, function in plain.items():
            cls.outcomes[name] = cls.pool.submit(function, Case(cls.server, cls.effects, name))

    @classmethod
    def in_steps(cls, functions):
        """Runs generators, all to their next yield, then all to the one after it."""
        ended = {}
        going = {name: function(Case(cls.server, cls.effects, name, "step-")) for name, function in functions.items()}
        worker = cls.workers_ready[2]
        for place in range(1, len(CODES) + 1):
            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                futures = {name: pool.submit(next, generator, "end") for name, generator in going.items()}
            for name, future in futures.items():
                if future.exception() is not None or future.result() == "end":
                    ended[name] = future.exception()
                    del going[name]
            if not going:
                break
            worker.kill() if place % 2 else worker.stop()
            worker = cls.worker(prefix="step-", code=CODES[place]).ready(cls.server)
        return ended

    def check(self, name):
        if name in self.pending or name in PENDING:
            self.skipTest(self.pending.get(name) or PENDING[name])
        if name in self.outcomes:
            self.outcomes[name].result()
        elif (error := self.steps.result()[name]) is not None:
            raise error


def fill(case):
    """Gives the class a test for each behaviour."""
    for name in [*behaviours(), *(each.__name__ for each in faults.ALL)]:
        setattr(case, "test_" + name, lambda self, name=name: self.check(name))


def program(name):
    """The command of a worker of ours."""
    path = os.path.join(SOURCE, "test", "conformance", name)
    return ["node" if name.endswith(".mjs") else sys.executable, path]

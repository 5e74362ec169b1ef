"""Behaviours about who holds a run: leases, heartbeats, several processes, versions."""

import os
import signal
import time

import faults
from harness import Case, equal, holds
from plain_steps import value


LEASE = "4s"


def leases_pass():
    """Until a lease is over, if nobody renews it."""
    time.sleep(5.5)  # what is tested is that nothing happens meanwhile


def a_step_may_take_longer_than_the_lease(case):
    run = case.start(case.step("long", hold="gate", result=1))
    case.called("long")
    leases_pass()
    case.open("gate")
    equal(run.result(), 1)
    equal(case.calls(), ["long"])


def a_long_step_learns_that_its_run_is_cancelled(case):
    run = case.start(["try", case.step("long", hold="gate"), ["do", case.step("clean"), ["again"]]])
    case.called("long")
    run.cancel()
    run.error("cancelled")
    case.open("gate")
    equal(case.calls(), ["long", "clean"])


def others_are_served_while_a_step_takes_long(case):
    long = case.start(case.step("long", hold="gate", result=1))
    case.called("long")
    equal(case.play(case.step("quick", result=2)), 2)
    case.open("gate")
    equal(long.result(), 1)


def two_processes_share_the_runs(case):
    other = case.worker(prefix="lease-", lease=LEASE).ready(case.server)
    runs = [case.start(["do", case.step("a"), ["sleep", "1ms"], case.step("b", result=number)]) for number in range(20)]
    equal([run.result() for run in runs], list(range(20)))
    other.stop()
    equal([each.steps() for each in runs], [["a", "b"]] * 20)


def a_worker_that_is_stopped_lets_others_go_on(case):
    alone = Case(case.server, case.effects, case.name, "stop-")
    worker = case.worker(prefix="stop-", lease=LEASE).ready(case.server)
    run = alone.start(["do", ["signal", "go"], alone.step("a", result=1)])
    run.until_waiting("signal")
    worker.stop()
    run.signal("go")
    case.worker(prefix="stop-", lease=LEASE)
    equal(run.result(), 1)
    equal(alone.calls(), ["a"])


def a_run_of_a_process_that_hangs_goes_on_elsewhere(case):
    alone = Case(case.server, case.effects, case.name, "hang-")
    worker = case.worker(prefix="hang-", lease=LEASE).ready(case.server)
    run = alone.start(["do", alone.step("a", hold="gate", result=1), alone.step("b", result=2)])
    alone.called("a")
    os.kill(worker.process.pid, signal.SIGSTOP)
    other = case.worker(prefix="hang-", lease=LEASE)
    alone.called("a", 2)
    alone.open("gate")
    equal(run.result(), 2)
    os.kill(worker.process.pid, signal.SIGCONT)  # what it commits now is fenced
    again = alone.start(["do", alone.step("c", result=3)])
    equal(again.result(), 3)
    equal(run.steps(), ["a", "b"])
    other.kill()
    last = alone.start(value(4))  # and it goes on
    equal(last.result(), 4)


def a_run_stays_on_its_version(case):
    alone = Case(case.server, case.effects, case.name, "version-")
    old = case.worker(prefix="version-", lease=LEASE, version="1").ready(case.server)
    run = alone.start(["do", alone.step("a"), ["signal", "go"], ["at", ["info"], "version"]])
    run.until_waiting("signal")
    case.worker(prefix="version-", lease=LEASE, version="2").ready(case.server)
    newer = alone.start(["at", ["info"], "version"])
    equal(newer.result(), "2")
    old.stop()
    run.signal("go")
    if faults.IS_FULL:  # it takes as long as the last claim would have waited, and more
        run.until(lambda now: now["waits_for_code"])
    case.worker(prefix="version-", lease=LEASE, version="1")
    equal(run.result(), "1")
    equal(alone.calls(), ["a"])
    holds(alone.start(["at", ["info"], "version"]).result() == "2", "an older version that starts again changes nothing")


def a_run_that_was_suspended_is_taken_up_by_any_process(case):
    alone = Case(case.server, case.effects, case.name, "any-")
    first = case.worker(prefix="any-", lease=LEASE).ready(case.server)
    run = alone.start(["do", alone.step("a"), ["signal", "go"], alone.step("b"), ["signal", "end"], value(1)])
    run.until_waiting("signal")
    second = case.worker(prefix="any-", lease=LEASE).ready(case.server)
    first.kill()
    run.signal("go")
    run.until(lambda now: any(each["name"] == "end" for each in now["waits"]))
    case.worker(prefix="any-", lease=LEASE).ready(case.server)
    second.stop()
    run.signal("end")
    equal(run.result(), 1)
    equal(alone.calls(), ["a", "b"])

"""Behaviours of marks, streams, state, continue-as, cancelling, and of what people do to runs."""

import re

from harness import equal, holds
from plain_steps import TEXT, value

# What is recorded.


def now_is_the_time_and_goes_forward(case):
    program = ["do", ["set", "a", ["now"]], ["sleep", "10ms"], ["set", "b", ["now"]],
               ["list", ["get", "a"], ["get", "b"]]]
    before, after = case.play(program)
    holds(after - before >= 9, (before, after))
    holds(before > 1700000000000, before)


def random_is_recorded(case):
    run = case.start(["do", ["set", "a", ["random"]], ["sleep", "1ms"], ["list", ["get", "a"], ["random"]]])
    first, second = run.result()
    holds(0 <= first < 1 and 0 <= second < 1 and first != second, (first, second))
    marks = [each.get("data") for each in run.log("mark")]
    holds(first in marks and second in marks, marks)


def uuid_is_recorded(case):
    run = case.start(["do", ["set", "a", ["uuid"]], ["sleep", "1ms"], ["list", ["get", "a"], ["uuid"]]])
    first, second = run.result()
    for each in (first, second):
        holds(re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", each), each)
    holds(first != second, first)
    marks = [each.get("data") for each in run.log("mark")]
    holds(first in marks and second in marks, marks)


def a_run_that_begins_has_every_change(case):
    equal(case.play(["list", ["changed", "a"], case.step("x"), ["changed", "b"]]), [True, "did x", True])


def a_stream_is_written_in_order(case):
    run = case.start(["do", ["stream", value({"n": 1})], ["sleep", "1ms"], ["stream", value(TEXT), "token"],
                      ["stream", value(None)]])
    run.result()
    found = [(each["name"], each.get("data")) for each in run.log("stream")]
    equal([each[1] for each in found], [{"n": 1}, TEXT, None])
    equal(found[1][0], "token")


def a_stream_is_written_before_the_run_ends(case):
    run = case.start(["do", ["stream", value(1)], ["signal", "go"]])
    run.until_waiting("signal")
    equal([each["data"] for each in run.log("stream")], [1])


def state_can_be_read_while_the_run_waits(case):
    run = case.start(["do", ["state", "round", value(1)], ["state", "who", value({"name": TEXT})], ["signal", "go"]])
    equal(run.until_waiting("signal")["state"], {"round": 1, "who": {"name": TEXT}})


def state_is_what_was_set_last(case):
    run = case.start(["do", ["state", "n", value(1)], ["sleep", "1ms"], ["state", "n", value(2)], case.step("a"),
                      ["state", "n", value(3)], ["signal", "go"]])
    equal(run.until_waiting("signal")["state"], {"n": 3})


def state_is_not_set_back_by_replay(case):
    run = case.start(["do", ["state", "n", value(1)], case.step("a"), ["state", "n", value(2)], ["signal", "go"],
                      ["signal", "end"]])
    run.until_waiting("signal")
    run.signal("go")
    found = run.until(lambda now: any(each["name"] == "end" for each in now["waits"]))
    equal(found["state"], {"n": 2})


def lines_of_the_log_are_kept_once(case):
    run = case.start(["do", ["log", "one " + TEXT], case.step("a"), ["log", "two"], ["sleep", "1ms"], case.step("b"),
                      ["log", "three"], case.step("c")])
    run.result()
    equal([each["data"] for each in run.log("line")], ["one " + TEXT, "two", "three"])


def info_says_what_run_it_is(case):
    run = case.start(["info"], tags=["a", "b:c"])
    found = run.result()
    equal({**found, "tags": sorted(found["tags"])},
          {"run_id": run.id, "workflow": case.workflow(), "version": "1", "attempt": 1, "tags": ["a", "b:c"],
           "parent_id": None})


# Continue-as.


def continue_as_begins_again_with_its_input(case):
    program = ["do", case.step("round"),
               ["if", ["less", ["data"], value(4)], ["continue_as", ["add", ["data"], value(1)]], ["data"]]]
    equal(case.play(program, data=1), 4)
    equal(case.calls(), ["round"] * 4)


def continue_as_leaves_nothing_behind(case):
    program = ["if", ["equal", ["data"], value(2)], ["list", ["get", "x"], case.step("a", result=2)],
               ["do", ["set", "x", case.step("a", result=1)], ["state", "s", value(1)], ["continue_as", value(2)]]]
    run = case.start(program, data=1)
    equal(run.result(), [None, 2])
    equal(run.now()["state"], {})


def continue_as_after_a_wait_works(case):
    program = ["do", ["set", "more", ["signal", "more"]],
               ["if", ["get", "more"], ["continue_as", ["add", ["data"], value(1)]], ["data"]]]
    run = case.start(program, data=0)
    for more in (True, True, False):
        run.signal("more", more)
    equal(run.result(), 2)


# Cancelling.


def a_run_that_waits_can_be_cancelled(case):
    run = case.start(["signal", "never"])
    run.until_waiting("signal")
    run.cancel()
    run.error("cancelled")


def a_run_that_sleeps_can_be_cancelled(case):
    run = case.start(["do", ["sleep", "1h"], case.step("never")])
    run.until_waiting("timer")
    run.cancel()
    run.error("cancelled")
    equal(case.calls(), [])


def cleanup_happens_when_a_run_is_cancelled(case):
    run = case.start(["finally", ["signal", "never"], ["do", case.step("clean 1"), ["sleep", "1ms"], case.step("clean 2")]])
    run.until_waiting("signal")
    run.cancel()
    run.error("cancelled")
    equal(case.calls(), ["clean 1", "clean 2"])


def cancelling_is_an_error_that_can_be_seen(case):
    program = ["try", ["signal", "never"],
               ["do", ["state", "seen", ["list", ["at", ["get", "error"], "type"], ["aborted"]]], ["again"]]]
    run = case.start(program)
    run.until_waiting("signal")
    run.cancel()
    run.error("cancelled")
    equal(run.now()["state"], {"seen": ["CancelledError", True]})


def nobody_is_told_to_end_without_cause(case):
    equal(case.play(["do", case.step("a"), ["aborted"]]), False)


def everything_open_ends_when_a_run_is_cancelled(case):
    members = [["signal", "never"], ["sleep", "1h"], ["event", case.name], case.child(["signal", "never"])]
    program = ["do", ["set", "all", ["all_settled", members]], ["state", "all", ["get", "all"]], ["throw", {
        "type": "Ended", "message": "after all"}]]
    run = case.start(program)
    run.until_waiting("child")
    run.cancel()
    holds(run.end()["status"] in ("failed", "cancelled"), run.now())
    equal([each["error"]["type"] for each in run.now()["state"]["all"]], ["CancelledError"] * 4)


def a_backoff_ends_when_a_run_is_cancelled(case):
    run = case.start(case.step("bad", {"attempts": 9, "delay": "1h"}, fail=99))
    run.until_status("suspended")
    run.cancel()
    run.error("cancelled")
    equal(case.calls(), ["bad"])


# What people do to runs.


def a_run_may_start_later(case):
    equal(case.start(value(1), delay="20ms").result(), 1)


def a_run_that_is_started_twice_is_one(case):
    run = case.start(["do", case.step("a"), ["signal", "go"]])
    again = case.server.post("/v1/runs", {"workflow": case.workflow(), "input": case.input(value(2)), "id": run.id})
    equal(again.status, 200)
    run.signal("go", 3)
    equal(run.result(), 3)
    equal(case.calls(), ["a"])


def a_run_out_of_time_ends(case):
    run = case.start(["signal", "never"], timeout="50ms")
    holds(run.end()["status"] in ("failed", "cancelled"), run.now())


def rewind_takes_a_step_again(case):
    run = case.start(["do", case.step("a"), case.step("b"), ["signal", "go"]])
    run.until_waiting("signal")
    run.post("rewind", {"step": "b"})
    case.called("b", 2)
    run.until_waiting("signal")
    run.signal("go", 1)
    equal(run.result(), 1)
    equal(case.calls(), ["a", "b", "b"])


def rewind_goes_back_to_a_round_of_a_loop(case):
    run = case.start(["do", ["repeat", 4, case.step("page")], ["signal", "go"]])
    run.until_waiting("signal")
    run.post("rewind", {"step": "page", "iteration": 2})
    case.called("page", 6)
    run.until_waiting("signal")
    run.signal("go", 1)
    equal(run.result(), 1)
    equal(case.calls(), ["page"] * 6)


def fork_begins_at_a_step(case):
    run = case.start(["do", case.step("a"), case.step("b"), ["at", ["info"], "run_id"]])
    run.result()
    run.post("fork", {"step": "b", "id": case.name + "-fork"})
    equal(case.server.wait_for(case.name + "-fork", "completed")["result"], case.name + "-fork")
    equal(case.calls(), ["a", "b", "b"])


def a_failed_run_may_be_retried(case):
    run = case.start(["do", case.step("a"), case.step("b", fail=1, result="mended")])
    run.error()
    again = run.post("retry", {"id": case.name + "-again"})
    equal(case.server.wait_for(again["id"], "completed")["result"], "mended")
    equal(case.calls(), ["a", "b", "b"])


def a_paused_run_goes_on_when_it_is_resumed(case):
    run = case.start(["do", ["signal", "go"], case.step("a", result=1)])
    run.until_waiting("signal")
    run.post("pause")
    run.signal("go")
    equal(run.now()["status"], "paused")
    run.post("resume")
    equal(run.result(), 1)
    equal(case.calls(), ["a"])


def a_released_run_goes_on(case):
    run = case.start(["do", case.step("a"), ["signal", "go"], case.step("b", result=2)])
    run.until_waiting("signal")
    run.post("release")
    run.signal("go")
    equal(run.result(), 2)
    equal(case.calls(), ["a", "b"])


def forty_runs_at_once_all_end(case):
    runs = [case.start(["do", ["step", "a", {"value": 1}], ["sleep", "1ms"], ["step", "b", {"value": number}]])
            for number in range(40)]
    equal([run.result() for run in runs], list(range(40)))


# What cannot be.


def refused(case, program, pattern):
    """The run fails, and its error says why."""
    error = case.start(program).error()
    holds(re.search(pattern, str(error)), error)


def a_result_that_is_too_large_fails_the_run(case):
    refused(case, ["step", "a", {"text": (4 << 20) + 10}], "TOO_LARGE|at most")


def a_request_that_is_too_large_fails_the_run(case):
    refused(case, ["step", "a", {"text": 20 << 20}], "TOO_LARGE|at most")


def an_option_that_is_unknown_fails_the_run(case):
    refused(case, ["task", case.name, value(1), {"tiemout": "1s"}], "tiemout")


def a_filter_that_cannot_be_read_fails_the_run(case):
    refused(case, ["event", case.name, {"filter": "a == == 1"}], "filter")


def a_state_that_is_too_large_fails_the_run(case):
    refused(case, ["do", ["state", "s", value("x" * 40000)], case.step("a")], "TOO_LARGE|at most")


def a_run_after_one_that_was_refused_is_served(case):
    refused(case, ["task", case.name, value(1), {"tiemout": "1s"}], "tiemout")
    equal(case.play(case.step("a", result=1)), 1)

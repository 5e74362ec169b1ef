"""Behaviours that need another process of the worker: replays, code that has changed, its right version again."""

from harness import equal, holds
from plain_steps import value


def go_on(run, *names):
    run.until_status("suspended")
    for name in names or ("go",):
        run.signal(name)


def replaces(before, after):
    """Behaviour: the journal of `before` is not one of `after`; with the right code the run ends well."""
    def behaviour(case):
        old, new = before(case), after(case)
        run = case.start(["do", old, ["signal", "go"], case.step("end", result="ended")],
                         ["do", new, ["signal", "go"], case.step("end", result="ended")])
        run.until_waiting("signal")
        calls = case.calls()
        yield "code 2"
        run.signal("go")
        reason = run.paused()
        equal(reason["type"], "NondeterminismError")
        holds(reason["message"], reason)
        equal(case.calls(), calls)
        yield "code 1 again"
        run.post("resume")
        equal(run.result(), "ended")
        equal(case.calls(), [*calls, "end"])
    return behaviour


another_step_is_noticed = replaces(lambda case: case.step("a"), lambda case: case.step("b"))
another_order_is_noticed = replaces(
    lambda case: ["do", case.step("a"), case.step("b")], lambda case: ["do", case.step("b"), case.step("a")])
a_step_that_is_missing_is_noticed = replaces(
    lambda case: ["do", case.step("a"), case.step("b")], lambda case: case.step("a"))
a_step_in_front_is_noticed = replaces(
    lambda case: case.step("a"), lambda case: ["do", case.step("new"), case.step("a")])
a_step_in_between_is_noticed = replaces(
    lambda case: ["do", case.step("a"), case.step("b")],
    lambda case: ["do", case.step("a"), case.step("new"), case.step("b")])
a_step_that_became_a_task_is_noticed = replaces(
    lambda case: case.step("a"), lambda case: ["task", "a", value(1)])
a_step_that_became_a_sleep_is_noticed = replaces(
    lambda case: case.step("a"), lambda case: ["sleep", "1ms"])
a_sleep_that_became_a_step_is_noticed = replaces(
    lambda case: ["sleep", "1ms"], lambda case: case.step("a"))
a_child_of_another_name_is_noticed = replaces(
    lambda case: case.child(value(1)), lambda case: ["child", case.workflow("leaf"), value("x")])
another_topic_is_noticed = replaces(
    lambda case: ["emit", case.name, value(1)], lambda case: ["emit", case.name + "-b", value(1)])
an_emit_that_is_missing_is_noticed = replaces(lambda case: ["emit", case.name, value(1)], lambda case: ["do"])
an_emit_in_front_of_a_step_is_noticed = replaces(
    lambda case: ["do", case.step("a"), ["emit", case.name, value(1)]],
    lambda case: ["do", ["emit", case.name + "-b", value(1)], case.step("a"), ["emit", case.name, value(1)]])
a_mark_that_is_missing_is_noticed = replaces(lambda case: ["uuid"], lambda case: ["do"])
another_mark_is_noticed = replaces(lambda case: ["uuid"], lambda case: ["random"])
a_stream_that_is_missing_is_noticed = replaces(lambda case: ["stream", value(1)], lambda case: ["do"])
fewer_rounds_are_noticed = replaces(
    lambda case: ["repeat", 4, case.step("a")], lambda case: ["repeat", 3, case.step("a")])


def an_end_that_comes_too_early_is_noticed(case):
    run = case.start(["do", case.step("a"), case.step("b"), ["signal", "go"], value(1)], ["do", case.step("a"), value(2)])
    run.until_waiting("signal")
    yield "code 2"
    run.signal("go")
    equal(run.paused()["type"], "NondeterminismError")
    yield "code 1 again"
    run.post("resume")
    equal(run.result(), 1)


def an_error_that_comes_too_early_is_noticed(case):
    error = {"type": "Oops", "message": "new"}
    run = case.start(["do", case.step("a"), case.step("b"), ["signal", "go"], value(1)],
                     ["do", case.step("a"), ["throw", error]])
    run.until_waiting("signal")
    yield "code 2"
    run.signal("go")
    equal(run.paused()["type"], "NondeterminismError")
    yield "code 1 again"
    run.post("resume")
    equal(run.result(), 1)


def another_signal_is_noticed(case):
    run = case.start(["do", ["signal", "a"], ["signal", "go"], value(1)], ["do", ["signal", "b"], ["signal", "go"], value(2)])
    run.signal("a")
    run.until(lambda now: any(each["name"] == "go" for each in now["waits"]))
    yield "code 2"
    run.signal("go")
    equal(run.paused()["type"], "NondeterminismError")
    yield "code 1 again"
    run.post("resume")
    equal(run.result(), 1)


def the_reason_names_both_steps(case):
    run = case.start(["do", case.step("charge"), ["signal", "go"]], ["do", case.step("refund"), ["signal", "go"]])
    run.until_waiting("signal")
    yield "code 2"
    run.signal("go")
    message = run.paused()["message"]
    holds("charge" in message and "refund" in message, message)


def code_that_goes_on_longer_is_no_change(case):
    run = case.start(["do", case.step("a"), ["signal", "go"]], ["do", case.step("a"), ["signal", "go"], case.step("b")])
    run.until_waiting("signal")
    yield "code 2"
    run.signal("go")
    equal(run.result(), "did b")
    equal(case.calls(), ["a", "b"])


def a_change_that_is_asked_for_keeps_old_runs(case):
    patched = ["do", case.step("a"), ["if", ["changed", "better"], case.step("new"), case.step("old")], ["signal", "go"],
               ["changed", "better"]]
    run = case.start(["do", case.step("a"), case.step("old"), ["signal", "go"], value(0)], patched)
    run.until_waiting("signal")
    yield "code 2"
    run.signal("go")
    run.result()
    equal(case.calls(), ["a", "old"])


def a_change_that_is_asked_for_is_there_for_new_runs(case):
    patched = ["do", ["if", ["changed", "better"], case.step("new"), case.step("old")], ["signal", "go"]]
    old = case.start(["do", case.step("old"), ["signal", "go"]], patched)
    old.until_waiting("signal")
    yield "code 2"
    new = case.start(["do", case.step("old"), ["signal", "go"]], patched)
    for run in (old, new):
        go_on(run)
        run.result()
    equal(case.calls(old.id), ["old"])
    equal(case.calls(new.id), ["new"])


def a_change_that_was_taken_stays(case):
    patched = ["do", ["if", ["changed", "better"], case.step("new"), case.step("old")], ["signal", "go"], value(5)]
    run = case.start(patched)
    run.until_waiting("signal")
    yield "another process"
    run.signal("go")
    equal(run.result(), 5)
    equal(case.calls(), ["new"])


# Another process, the same code.


def replays(make, *expected_calls, result=None, signals=("go",)):
    """Behaviour: another process takes up the run where it waits, and repeats nothing."""
    def behaviour(case):
        run = case.start(make(case))
        run.until_waiting("signal")
        yield "another process"
        for name in signals:
            run.signal(name)
        equal(run.result(), result)
        equal(sorted(case.calls()), sorted(expected_calls))
    return behaviour


steps_are_not_repeated_by_another_process = replays(
    lambda case: ["do", case.step("a"), case.step("b"), ["signal", "go"], case.step("c")], "a", "b", "c", result="did c")
errors_are_replayed = replays(
    lambda case: ["do", ["try", case.step("a", fail=1), case.step("mend")], ["signal", "go"], ["at", ["get", "error"], "type"]],
    "a", "mend", result="Unlucky")
retries_are_replayed = replays(
    lambda case: ["do", ["set", "x", case.step("a", {"attempts": 3, "delay": "1ms"}, fail=2, result=3)], ["signal", "go"],
                  ["get", "x"]], "a", "a", "a", result=3)
races_are_replayed = replays(
    lambda case: ["do", ["set", "x", ["race", [["do", ["sleep", "1h"], value("b")], ["do", ["sleep", "1ms"], value("a")]]]],
                  ["signal", "go"], ["get", "x"]], result="a")
fan_outs_are_replayed = replays(
    lambda case: ["do", ["set", "x", ["all", [case.step(f"p{place}", result=place) for place in range(6)]]],
                  ["signal", "go"], ["get", "x"]], *[f"p{place}" for place in range(6)], result=list(range(6)))
children_are_replayed = replays(
    lambda case: ["do", ["set", "x", case.child(case.step("kid", result=8))], ["signal", "go"], ["get", "x"]],
    "kid", result=8)
timeouts_are_replayed = replays(
    lambda case: ["do", ["try", ["signal", "never", "1ms"], ["set", "x", ["at", ["get", "error"], "type"]]],
                  ["signal", "go"], ["get", "x"]], result="TimeoutError")
settled_ones_are_replayed = replays(
    lambda case: ["do", ["set", "x", ["all_settled", [case.step("a", result=1), ["sleep", "1ms"]]]], ["signal", "go"],
                  ["get", "x"]], "a", result=[{"value": 1}, {"value": None}])
signals_are_replayed = replays(
    lambda case: ["do", ["begin", "x", ["signal", "later"]], ["signal", "go"], ["await", "x"]], signals=("later", "go"))
long_journals_are_replayed = replays(
    lambda case: ["do", ["repeat", 300, ["step", "s", {"value": 1}]], ["signal", "go"], case.step("end", result=1)],
    "end", result=1)


def what_is_recorded_is_the_same_in_another_process(case):
    program = ["do", ["set", "r", ["random"]], ["set", "u", ["uuid"]], ["set", "n", ["now"]],
               ["state", "seen", ["list", ["get", "r"], ["get", "u"], ["get", "n"]]], ["signal", "go"],
               ["list", ["get", "r"], ["get", "u"], ["get", "n"]]]
    run = case.start(program)
    seen = run.until_waiting("signal")["state"]["seen"]
    yield "another process"
    run.signal("go")
    equal(run.result(), seen)


def emits_and_streams_are_not_repeated_by_another_process(case):
    run = case.start(["do", ["emit", case.name, value(1)], ["stream", value(2)], ["log", "line"], case.step("a"),
                      ["signal", "go"]])
    run.until_waiting("signal")
    yield "another process"
    run.signal("go")
    run.result()
    equal(len(case.server.get(f"/v1/topics/{case.name}/events").json["items"]), 1)
    equal((len(run.log("stream")), len(run.log("line"))), (1, 1))


def timers_go_on_in_another_process(case):
    run = case.start(["do", ["sleep", "400ms"], case.step("woke", result=1)])
    run.until_status("suspended", "completed")
    yield "another process"
    equal(run.result(), 1)
    equal(case.calls(), ["woke"])


def backoffs_go_on_in_another_process(case):
    run = case.start(case.step("a", {"attempts": 2, "delay": "400ms"}, fail=1, result=1))
    run.until_status("suspended", "completed")
    yield "another process"
    equal(run.result(), 1)
    equal(case.calls(), ["a", "a"])


def tasks_that_end_meanwhile_are_there(case):
    run = case.start(["all", [["task", case.name + "-a", value(1)], ["task", case.name + "-b", value(2)]]])
    case.do_task(case.name + "-a", "a")
    run.until_waiting("task")
    yield "another process"
    case.do_task(case.name + "-b", "b")
    equal(run.result(), ["a", "b"])


def cancelling_reaches_another_process(case):
    run = case.start(["finally", ["do", case.step("a"), ["signal", "never"]], case.step("clean")])
    run.until_waiting("signal")
    yield "another process"
    run.cancel()
    run.error("cancelled")
    equal(case.calls(), ["a", "clean"])


def continued_runs_go_on_in_another_process(case):
    program = ["do", case.step("round"), ["if", ["equal", ["data"], value(2)], ["do", ["signal", "go"], value("end")],
                                          ["continue_as", ["add", ["data"], value(1)]]]]
    run = case.start(program, data=0)
    run.until_waiting("signal")
    yield "another process"
    run.signal("go")
    equal(run.result(), "end")
    equal(case.calls(), ["round"] * 3)

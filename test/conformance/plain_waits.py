"""Behaviours of timers, signals, events, tasks, children, and of several things at a time."""

from harness import Run, equal, holds
from plain_steps import DEEP, TEXT, at_ms, value

# Timers.


def slept_ms(run):
    """From the beginning of the run to the end of its first wait."""
    return at_ms(run.log("wait")[0]) - at_ms(run.log("started")[0])


def a_sleep_ends_and_is_not_early(case):
    run = case.start(["do", ["sleep", "40ms"], value("woke")])
    equal(run.result(), "woke")
    holds(slept_ms(run) >= 39, run.history())


def a_sleep_gives_nothing(case):
    equal(case.play(["sleep", "1ms"]), None)


def a_sleep_of_no_time_ends(case):
    equal(case.play(["do", ["sleep", "0ms"], value(1)]), 1)


def sleeps_follow_each_other(case):
    equal(case.play(["repeat", 5, ["do", ["sleep", "1ms"], ["get", "i"]]]), [0, 1, 2, 3, 4])


def a_sleep_until_a_time_that_is_over_ends(case):
    equal(case.play(["do", ["sleep_until", value(1000000000000)], value(1)]), 1)


def a_sleep_until_a_time_is_not_early(case):
    run = case.start(["do", ["set", "at", ["add", ["now"], value(50)]], ["sleep_until", ["get", "at"]],
                      ["less", ["get", "at"], ["add", ["now"], value(2)]]])
    equal(run.result(), True)


def the_shorter_of_two_sleeps_wins(case):
    program = ["race", [["do", ["sleep", "1h"], value("long")], ["do", ["sleep", "1ms"], value("short")]]]
    equal(case.play(program), "short")


def hundred_sleeps_at_a_time_end(case):
    equal(case.play(["all", [["do", ["sleep", "%dms" % (each % 7)], value(each)] for each in range(100)]]),
          list(range(100)))


# Signals.


def a_signal_gives_its_payload(case):
    run = case.start(["signal", "go"])
    run.until_waiting("signal")
    run.signal("go", {"by": "Ada"})
    equal(run.result(), {"by": "Ada"})


def a_signal_may_have_no_payload(case):
    run = case.start(["list", ["signal", "go"]])
    run.until_waiting("signal")
    run.signal("go", None)
    equal(run.result(), [None])


def a_signal_may_have_any_payload(case):
    run = case.start(["signal", "go"])
    run.signal("go", {"t": TEXT, "d": DEEP})
    equal(run.result(), {"t": TEXT, "d": DEEP})


def a_signal_that_comes_early_is_kept(case):
    run = case.start(["do", case.step("slow", hold="gate"), ["signal", "go"]])
    case.called("slow")
    run.signal("go", 5)
    case.open("gate")
    equal(run.result(), 5)


def signals_of_one_name_come_in_order(case):
    run = case.start(["list", *[["signal", "n"]] * 4])
    for number in range(4):
        run.signal("n", number)
    equal(run.result(), [0, 1, 2, 3])


def signals_are_taken_by_name(case):
    run = case.start(["list", ["signal", "first"], ["signal", "second"]])
    run.signal("second", 2)
    run.signal("first", 1)
    equal(run.result(), [1, 2])


def two_waits_for_one_signal_take_one_each(case):
    run = case.start(["all", [["signal", "n"], ["signal", "n"]]])
    run.signal("n", 1)
    run.signal("n", 2)
    equal(run.result(), [1, 2])


def a_signal_that_does_not_come_is_a_timeout(case):
    equal(case.play(["try", ["signal", "never", "5ms"], ["at", ["get", "error"], "type"]]), "TimeoutError")


def a_signal_before_its_timeout_is_taken(case):
    run = case.start(["signal", "go", "1h"])
    run.until_waiting("signal")
    run.signal("go", 1)
    equal(run.result(), 1)


def a_timeout_that_nobody_catches_fails_the_run(case):
    equal(case.start(["signal", "never", "1ms"]).error()["type"], "TimeoutError")


def signals_in_a_loop_end_it(case):
    program = ["do", ["set", "go", value(True)],
               ["while", ["get", "go"], ["do", ["set", "go", ["signal", "more"]], case.step("round")]],
               value("over")]
    run = case.start(program)
    for more in (True, True, False):
        run.signal("more", more)
    equal(run.result(), "over")
    equal(case.calls(), ["round"] * 3)


# Events.


def an_event_gives_its_payload(case):
    run = case.start(["event", case.name])
    run.until_waiting("event")
    case.emit(case.name, {"x": [1]})
    equal(run.result(), {"x": [1]})


def an_event_may_be_chosen_by_members(case):
    run = case.start(["event", case.name, {"filter": {"order": {"id": 7}}}])
    run.until_waiting("event")
    case.emit(case.name, {"order": {"id": 6}})
    case.emit(case.name, {"order": {"id": 7}, "more": 1})
    equal(run.result(), {"order": {"id": 7}, "more": 1})


def an_event_may_be_chosen_by_an_expression(case):
    run = case.start(["event", case.name, {"filter": "eur < 10 && kind == 'a'"}])
    run.until_waiting("event")
    case.emit(case.name, {"eur": 12, "kind": "a"})
    case.emit(case.name, {"eur": 9, "kind": "a"})
    equal(run.result(), {"eur": 9, "kind": "a"})


def an_event_that_does_not_come_is_a_timeout(case):
    equal(case.play(["try", ["event", case.name, {"timeout": "5ms"}], ["at", ["get", "error"], "type"]]),
          "TimeoutError")


def an_event_of_one_run_reaches_another(case):
    waiting = case.start(["event", case.name])
    waiting.until_waiting("event")
    equal(case.play(["emit", case.name, value({"from": TEXT})]), None)
    equal(waiting.result(), {"from": TEXT})


def two_topics_at_a_time_are_told_apart(case):
    run = case.start(["all", [["event", case.name + "-a"], ["event", case.name + "-b"]]])
    run.until_waiting("event", 2)
    case.emit(case.name + "-b", "b")
    case.emit(case.name + "-a", "a")
    equal(run.result(), ["a", "b"])


def events_are_emitted_once_each(case):
    run = case.start(["do", ["repeat", 3, ["do", ["emit", case.name, ["get", "i"]], ["sleep", "1ms"]]]])
    run.result()
    kept = case.server.get(f"/v1/topics/{case.name}/events").json["items"]
    equal(len(kept), 3)
    equal(len({each["id"] for each in kept}), 3)


# Tasks.


def a_task_gives_its_result(case):
    run = case.start(["task", case.name, value({"to": TEXT})])
    equal(case.do_task(case.name, {"sent": True}), {"to": TEXT})
    equal(run.result(), {"sent": True})


def a_task_may_have_no_input_and_no_result(case):
    run = case.start(["list", ["task", case.name, value(None)]])
    equal(case.do_task(case.name, None), None)
    equal(run.result(), [None])


def a_task_that_fails_can_be_caught(case):
    run = case.start(["try", ["task", case.name, value(1), {"retry": {"attempts": 1}}], ["get", "error"]])
    case.do_task(case.name, error={"type": "NoPaper", "message": "empty"})
    found = run.result()
    equal((found["type"], found["message"]), ("NoPaper", "empty"))


def a_task_that_fails_fails_the_run(case):
    run = case.start(["task", case.name, value(1), {"retry": {"attempts": 1}}])
    case.do_task(case.name, error={"type": "NoPaper", "message": "empty"})
    holds("empty" in run.error()["message"], run.now())


def a_task_is_tried_again_as_its_options_say(case):
    run = case.start(["task", case.name, value(1), {"retry": {"attempts": 2, "delay": "1ms"}}])
    case.do_task(case.name, error={"type": "NoPaper", "message": "empty"})
    case.do_task(case.name, "printed")
    equal(run.result(), "printed")


def tasks_may_end_in_any_order(case):
    names = [f"{case.name}-{letter}" for letter in "abc"]
    run = case.start(["all", [["task", name, value(name)] for name in names]])
    for name in reversed(names):
        case.do_task(name, name[-1])
    equal(run.result(), ["a", "b", "c"])


def tasks_of_one_name_are_told_apart(case):
    run = case.start(["all", [["task", case.name, value(number)] for number in range(3)]])
    for _ in range(3):
        task = case.server.claim(names=[case.name], max=1)[0]
        case.server.complete(task, task["input"] * 10)
    equal(run.result(), [0, 10, 20])


# Children.


def a_child_gives_its_result(case):
    equal(case.play(case.child(["data"], data={"t": TEXT})), {"t": TEXT})


def a_child_that_fails_can_be_caught(case):
    error = {"type": "NoStock", "message": "none left", "details": {"sku": 5}}
    equal(case.play(["try", case.child(["throw", error]), ["get", "error"]]), error)


def a_child_that_fails_fails_its_parent(case):
    run = case.start(case.child(["throw", {"type": "NoStock", "message": "none left"}]))
    holds("none left" in run.error()["message"], run.now())


def a_child_may_have_children(case):
    equal(case.play(case.child(["list", case.child(case.child(value(3)))])), [3])


def children_go_on_at_a_time(case):
    program = ["all", [case.child(["do", ["sleep", "2ms"], value(number)]) for number in range(12)]]
    equal(case.play(program), list(range(12)))


def a_child_knows_its_parent(case):
    run = case.start(["at", case.child(["info"]), "parent_id"])
    equal(run.result(), run.id)


def a_child_may_have_an_id(case):
    equal(case.play(["at", case.child(["info"], {"id": case.name + "-kid"}), "run_id"]), case.name + "-kid")


def a_child_that_is_cancelled_is_an_error(case):
    run = case.start(["try", case.child(["signal", "never"], {"id": case.name + "-kid"}), value("caught")])
    run.until_waiting("child")
    case.server.wait_for(case.name + "-kid", "suspended")
    Run(case.server, case.name + "-kid").cancel()
    equal(run.result(), "caught")


def a_child_may_be_a_script(case):
    case.server.deploy(case.name, "return { got: Inputs.x + 1 }")
    equal(case.play(["child", case.name, value({"x": 41})]), {"got": 42})


def a_script_may_have_it_as_a_child(case):
    case.server.deploy(case.name, "return [await Workflow.run(Inputs.name, Inputs.input)]")
    body = {"name": case.workflow(), "input": case.input(["list", ["data"]], data=5)}
    equal(case.server.run(case.name, body)["result"], [[5]])


def a_child_of_an_unknown_workflow_ends_in_an_error(case):
    run = case.start(["child", case.name + "-nobody", value(1)])
    holds(run.error()["message"], run.now())


def a_started_run_goes_on_by_itself(case):
    started = case.input(["do", ["signal", "go"], value("alone")])
    run = case.start(["do", ["start", case.workflow(), value(started), {"id": case.name + "-other"}], value("parent")])
    equal(run.result(), "parent")
    case.server.wait_for(case.name + "-other", "suspended")
    case.server.post(f"/v1/runs/{case.name}-other/signals/go", None)
    equal(case.server.wait_for(case.name + "-other", "completed")["result"], "alone")


def a_child_may_end_with_its_parent(case):
    run = case.start(case.child(["signal", "never"], {"id": case.name + "-kid", "parentClose": "cancel"}))
    case.server.wait_for(case.name + "-kid", "suspended")
    run.cancel()
    run.error("cancelled")
    case.server.wait_for(case.name + "-kid", "cancelled")


# Several at a time.


def all_of_nothing_is_nothing(case):
    equal(case.play(["all", []]), [])


def all_gives_the_results_in_order(case):
    equal(case.play(["all", [case.step(name, result=name) for name in "abc"]]), ["a", "b", "c"])


def all_may_have_everything(case):
    program = ["all", [case.step("a", result=1), ["sleep", "1ms"], ["signal", "s"], ["event", case.name],
                       ["task", case.name, value(1)], case.child(value(6)), ["do", case.step("b"), value(7)]]]
    run = case.start(program)
    run.until_waiting("event")
    case.emit(case.name, 4)
    run.signal("s", 3)
    case.do_task(case.name, 5)
    equal(run.result(), [1, None, 3, 4, 5, 6, 7])


def all_fails_with_the_first_error(case):
    error = {"type": "Oops", "message": "it broke"}
    program = ["try", ["all", [["signal", "never"], case.step("bad", fail=9, error=error)]],
               ["at", ["get", "error"], "message"]]
    equal(case.play(program), "it broke")


def any_gives_the_first_success(case):
    equal(case.play(["any", [case.step("bad", fail=9), ["do", ["sleep", "2ms"], value("good")]]]), "good")


def any_fails_when_all_have_failed(case):
    equal(case.play(["try", ["any", [case.step("a", fail=9), case.step("b", fail=9)]], value("all failed")]),
          "all failed")
    equal(sorted(case.calls()), ["a", "b"])


def race_gives_the_first(case):
    equal(case.play(["race", [["signal", "never"], case.step("a", result="step")]]), "step")


def race_fails_with_the_first_error(case):
    program = ["try", ["race", [["signal", "never"], case.step("bad", fail=9)]], value("failed")]
    equal(case.play(program), "failed")


def race_of_a_signal_and_a_timer_is_won_by_the_timer(case):
    equal(case.play(["race", [["signal", "never"], ["do", ["sleep", "2ms"], value("late")]]]), "late")


def race_of_a_signal_and_a_timer_is_won_by_the_signal(case):
    run = case.start(["race", [["signal", "go"], ["do", ["sleep", "1h"], value("late")]]])
    run.until_waiting("signal")
    run.signal("go", "came")
    equal(run.result(), "came")


def race_of_a_long_step_and_a_timer_is_won_by_the_timer(case):
    program = ["race", [case.step("long", hold="gate"), ["do", ["sleep", "20ms"], value("late")]]]
    equal(case.play(program), "late")
    case.open("gate")


def race_of_a_long_step_and_a_signal_is_won_by_the_signal(case):
    run = case.start(["race", [case.step("long", hold="gate"), ["signal", "stop"]]])
    case.called("long")
    run.signal("stop", "stopped")
    equal(run.result(), "stopped")
    case.open("gate")


def what_lost_a_race_does_not_disturb(case):
    run = case.start(["do", ["race", [["signal", "a"], ["signal", "b"]]], ["signal", "c"]])
    run.until_waiting("signal", 2)
    run.signal("b", 1)
    run.until(lambda now: any(each["name"] == "c" for each in now["waits"]))
    run.signal("a", 2)
    run.signal("c", 3)
    equal(run.result(), 3)


def all_settled_tells_each(case):
    error = {"type": "Oops", "message": "it broke"}
    found = case.play(["all_settled", [case.step("a", result=1), case.step("bad", fail=9, error=error), ["sleep", "1ms"]]])
    equal(found[0], {"value": 1})
    equal((found[1]["error"]["type"], found[1]["error"]["message"]), ("Oops", "it broke"))
    equal(found[2], {"value": None})


def they_may_be_nested(case):
    program = ["all", [["race", [["signal", "never"], case.step("a", result=1)]],
                       ["any", [case.step("bad", fail=9), ["all", [case.step("b", result=2), case.step("c", result=3)]]]]]]
    equal(case.play(program), [1, [2, 3]])


def branches_go_on_beside_each_other(case):
    def branch(name):
        return ["do", case.step(name + "1"), ["sleep", "1ms"], case.step(name + "2"), value(name)]
    equal(case.play(["all", [branch("a"), branch("b"), branch("c")]]), ["a", "b", "c"])
    calls = case.calls()
    equal(sorted(calls), ["a1", "a2", "b1", "b2", "c1", "c2"])
    holds(all(calls.index(name + "1") < calls.index(name + "2") for name in "abc"), calls)


def an_error_in_a_branch_can_be_caught_there(case):
    program = ["all", [["try", case.step("bad", fail=9), value("mended")], case.step("a", result=1)]]
    equal(case.play(program), ["mended", 1])


def an_operation_may_be_begun_and_awaited_later(case):
    program = ["do", ["begin", "x", ["signal", "go"]], case.step("a"), ["await", "x"]]
    run = case.start(program)
    run.until_waiting("signal")
    equal(case.calls(), ["a"])
    run.signal("go", 9)
    equal(run.result(), 9)


def an_operation_may_never_be_awaited(case):
    equal(case.play(["do", ["begin", "x", ["signal", "never"]], case.step("a", result=1)]), 1)


def hundred_steps_at_a_time_end(case):
    run = case.start(["all", [["step", f"s{number}", {"value": number}] for number in range(100)]])
    equal(run.result(), list(range(100)))
    equal(sorted(run.steps()), sorted(f"s{number}" for number in range(100)))


def steps_at_a_time_do_not_wait_for_each_other(case):
    run = case.start(["all", [case.step("slow", hold="gate", result=1), case.step("quick", result=2)]])
    case.called("quick")
    case.open("gate")
    equal(run.result(), [1, 2])

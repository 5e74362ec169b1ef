"""Behaviours of steps, values, errors and loops."""

import time

from harness import equal, holds

DEEP = {"a": 1}
for _ in range(60):
    DEEP = {"down": [DEEP, None]}
TEXT = "Grüße \"quoted\" \\ / \u2028 \u0001 😀 漢字 e\u0301"


def value(x):
    return ["value", x]


def gives(make, expected):
    """A behaviour: the program comes to this."""
    def behaviour(case):
        equal(case.play(make(case)), expected)
    return behaviour


def returns(result):
    """A step that returns this, and a workflow that returns what it got."""
    return gives(lambda case: case.step("a", result=result), result)


a_step_gives_its_result = returns({"id": 7})
a_result_may_be_null = returns(None)
a_result_may_be_false = returns(False)
a_result_may_be_zero = returns(0)
a_result_may_be_an_empty_text = returns("")
a_result_may_be_an_empty_list = returns([])
a_result_may_be_an_empty_object = returns({})
a_result_may_have_any_text = returns(TEXT)
a_result_may_be_deep = returns(DEEP)
a_result_may_be_a_fraction = returns([0.1, -2.5, 1e-7, 1.5e300])
a_result_may_be_a_list_of_everything = returns([None, True, 1, "x", [], {}])
members_keep_their_names = returns({"": 1, "type": 2, "kind": "step", "__proto__x": 3, "ünï": 4})
whole_numbers_up_to_2_to_53_are_exact = returns([2**53 - 1, -(2**53) + 1, 2**53])
a_workflow_without_anything_completes = gives(lambda case: ["do"], None)
a_workflow_gives_its_input = gives(lambda case: value({"x": [1]}), {"x": [1]})
values_of_steps_can_be_used = gives(
    lambda case: ["add", case.step("a", result=2), case.step("b", result=40)], 42)
a_name_may_be_long = gives(lambda case: case.step("n" * 150, result=1), 1)
a_name_may_have_spaces_and_signs = gives(lambda case: case.step("charge the card: äö 😀 / \"x\"", result=1), 1)


def input_reaches_the_workflow(case):
    equal(case.play(["data"], data={"t": TEXT, "d": DEEP}), {"t": TEXT, "d": DEEP})


def a_number_beyond_2_to_53_is_the_nearest_at_worst(case):
    found = case.play(case.step("a", result=2**53 + 1))
    holds(abs(found - 2**53 - 1) <= 1, found)


def steps_follow_each_other(case):
    run = case.start(["do", case.step("a"), case.step("b"), case.step("c")])
    equal(run.result(), "did c")
    equal(case.calls(), ["a", "b", "c"])
    equal(run.steps(), ["a", "b", "c"])


def a_step_is_recorded_with_its_result(case):
    run = case.start(case.step("a", result={"id": 5}))
    run.result()
    equal([(each["name"], each["data"]) for each in run.log("step")], [("a", {"id": 5})])


def steps_of_one_name_are_told_apart(case):
    run = case.start(["list", case.step("a", result=1), case.step("a", result=2)])
    equal(run.result(), [1, 2])
    equal([each.get("iteration", 0) for each in run.log("step")], [0, 1])


def a_loop_is_a_step_per_round(case):
    equal(case.play(["repeat", 12, ["do", case.step("page"), ["get", "i"]]]), list(range(12)))
    equal(case.calls(), ["page"] * 12)


def a_loop_may_end_by_what_a_step_says(case):
    program = ["do", ["set", "n", value(0)],
               ["while", ["less", ["get", "n"], value(3)],
                ["set", "n", ["add", ["get", "n"], case.step("one", result=1)]]],
               ["get", "n"]]
    equal(case.play(program), 3)


def a_large_result_is_kept(case):
    equal(len(case.play(["step", "a", {"text": 300000}])), 300000)


def many_steps_are_one_long_journal(case):
    run = case.start(["do", ["repeat", 120, ["step", "s", {"value": 1}]], ["sleep", "1ms"],
                      ["repeat", 5, ["step", "t", {"value": 2}]]])
    equal(run.result(), [2] * 5)
    equal(len(run.steps()), 125)


# Errors.


def fails(error, **say):
    return {"fail": 1000, "error": error, **say}


def an_error_of_a_step_can_be_caught(case):
    error = {"type": "CardDeclined", "message": "no money", "details": {"code": 51}}
    equal(case.play(["try", case.step("a", **fails(error)), ["get", "error"]]), error)


def an_error_is_not_tried_again_unless_asked(case):
    case.play(["try", case.step("a", **fails({"type": "Oops", "message": "x"})), value(0)])
    equal(case.calls(), ["a"])


def an_error_that_nobody_catches_fails_the_run(case):
    error = case.start(case.step("a", **fails({"type": "Oops", "message": "broken"}))).error()
    holds("broken" in error["message"], error)
    holds(isinstance(error["type"], str) and error["type"], error)


def an_error_of_the_workflow_fails_the_run(case):
    error = case.start(["throw", {"type": "BadOrder", "message": "no items", "details": {"n": 0}}]).error()
    equal((error["type"], error["message"], error["details"]), ("BadOrder", "no items", {"n": 0}))


def the_cause_of_an_error_is_kept(case):
    cause = {"type": "Timeout", "message": "the bank is away"}
    error = case.start(["throw", {"type": "BadOrder", "message": "no", "cause": cause}]).error()
    equal((error["cause"]["type"], error["cause"]["message"]), (cause["type"], cause["message"]))


def an_error_that_is_thrown_again_fails_the_run(case):
    program = ["try", case.step("a", **fails({"type": "Oops", "message": "first"})), ["do", case.step("undo"), ["again"]]]
    error = case.start(program).error()
    holds("first" in error["message"], error)
    equal(case.calls(), ["a", "undo"])


def an_error_may_have_no_message(case):
    equal(case.play(["try", case.step("a", **fails({"type": "Oops", "message": ""})), ["at", ["get", "error"], "type"]]),
          "Oops")


def an_error_may_have_any_text(case):
    equal(case.play(["try", case.step("a", **fails({"type": "Oops", "message": TEXT})),
                     ["at", ["get", "error"], "message"]]), TEXT)


def cleanup_happens_after_an_error(case):
    case.start(["finally", case.step("a", **fails({"type": "Oops", "message": "x"})), case.step("clean")]).error()
    equal(case.calls(), ["a", "clean"])


def cleanup_happens_after_success(case):
    equal(case.play(["finally", case.step("a", result=1), case.step("clean")]), 1)
    equal(case.calls(), ["a", "clean"])


def compensation_goes_backwards(case):
    program = ["do", case.step("book a"), case.step("book b"),
               ["try", case.step("book c", **fails({"type": "Full", "message": "x"})),
                ["do", case.step("undo b"), case.step("undo a")]]]
    case.play(program)
    equal(case.calls(), ["book a", "book b", "book c", "undo b", "undo a"])


# Retries.


def a_step_is_tried_again(case):
    run = case.start(case.step("a", {"attempts": 5, "delay": "5ms"}, fail=2, result="third"))
    equal(run.result(), "third")
    equal(case.calls(), ["a"] * 3)
    equal(len(run.steps()), 1)


def failed_attempts_are_recorded(case):
    run = case.start(case.step("a", {"attempts": 3, "delay": "1ms"}, fail=2))
    run.result()
    attempts = run.log("step_attempt")
    equal([each["attempt"] for each in attempts], [1, 2])
    equal(run.log("step")[0]["attempt"], 3)


def attempts_end(case):
    error = {"type": "Away", "message": "still away"}
    found = case.play(["try", case.step("a", {"attempts": 3, "delay": "1ms"}, **fails(error)), ["get", "error"]])
    equal((found["type"], found["message"]), ("Away", "still away"))
    equal(case.calls(), ["a"] * 3)


def some_errors_are_not_tried_again(case):
    options = {"attempts": 5, "delay": "1ms", "non_retryable": ["Refused"]}
    case.play(["try", case.step("a", options, **fails({"type": "Refused", "message": "x"})), value(0)])
    equal(case.calls(), ["a"])


def an_error_can_say_that_it_is_final(case):
    error = {"type": "Refused", "message": "x", "final": True}
    case.play(["try", case.step("a", {"attempts": 5, "delay": "1ms"}, **fails(error)), value(0)])
    equal(case.calls(), ["a"])


def backoff_is_never_shorter_than_asked(case):
    began = time.monotonic()
    run = case.start(case.step("a", {"attempts": 3, "delay": "20ms", "factor": 2}, fail=2))
    run.result()
    _, second, third = [each.at - began for each in case.effects.calls if each.of == case.name]
    holds(second >= 0.019 and third >= 0.059, (second, third))
    equal(len(run.log("wait")), 2)


def backoff_has_a_ceiling(case):
    options = {"attempts": 4, "delay": "5ms", "factor": 1000, "max_delay": "10ms"}
    equal(case.play(case.step("a", options, fail=3, result=1)), 1)


def other_things_go_on_during_a_backoff(case):
    program = ["all", [case.step("bad", {"attempts": 2, "delay": "30ms"}, fail=1, result=1),
                       ["do", case.step("b"), case.step("c", result=2)]]]
    equal(case.play(program), [1, 2])
    equal(sorted(case.calls()), ["b", "bad", "bad", "c"])


def an_attempt_that_takes_too_long_has_failed(case):
    found = case.play(["try", case.step("a", {"timeout": "50ms"}, hold="never"), ["at", ["get", "error"], "type"]])
    case.open("never")
    equal(found, "TimeoutError")


def an_attempt_that_took_too_long_is_tried_again(case):
    run = case.start(case.step("a", {"timeout": "200ms", "attempts": 100, "delay": "1ms"}, hold="once", result=1))
    case.called("a", 2)
    case.open("once")
    equal(run.result(), 1)
    equal(len(run.steps()), 1)


def at_ms(entry):
    """When it was written, in milliseconds of its day."""
    hours, minutes, seconds = entry["at"].rstrip("Z").split("T")[1].split(":")
    return round(((int(hours) * 60 + int(minutes)) * 60 + float(seconds)) * 1000)

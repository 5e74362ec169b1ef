// Where errors from outside were awaited: the stack of what the host rejects.
//
// Each program waits for awaitable 1 (and more), which is then rejected; what its stack shows is
// compared, straight through and after a snapshot at the await.
#include "base/array.h"
#include "base/containers/buf.h"
#include "unit/flow/vm.h"

static void reject(Run *run, uint32_t id, const char *error_class) {
    Diag diag = {0};
    FlowSettlement settlement = {.id = id,
                                 .is_rejected = true,
                                 .error_class = error_class,
                                 .message = STR("no"),
                                 .cause_json = STR("{\"type\":\"Bad\",\"message\":\"why\"}")};
    assert_ok(flow_vm_settle(run->vm, &settlement, &diag));
}

// The VM goes on as another one that was read from its snapshot.
static void run_through_snapshot(Run *run) {
    Buf bytes;
    Diag diag = {0};
    buf_init(&bytes, 1 << 20);
    assert_ok(flow_snapshot_write(run->vm, &bytes, &diag));
    FlowVmOptions options = {
        .module = run->module, .host = &run->host.base, .limits = FLOW_LIMITS_DEFAULT};
    flow_vm_free(run->vm);
    assert_ok(flow_snapshot_read(buf_str(&bytes), &options, &run->vm, &diag));
    buf_done(&bytes);
}

typedef struct Rejection { // what is done to the program
    const char *source;
    const char *error_class;
    uint32_t id; // of the awaitable
} Rejection;

static void check_stack(const Rejection *rejection, bool with_snapshots, const char *expected) {
    Run run;
    run_begin(&run, rejection->source, NULL);
    assert_int_equal(run_turn(&run), FLOW_PARKED);
    if (with_snapshots) run_through_snapshot(&run);
    reject(&run, rejection->id, rejection->error_class);
    FlowOutcome outcome = run_turn(&run);
    while (outcome == FLOW_PARKED) {
        uint32_t id = run.result.waits[0].id;
        if (with_snapshots) run_through_snapshot(&run);
        run_settle(&run, id, "null");
        outcome = run_turn(&run);
    }
    assert_int_equal(outcome, FLOW_FAILED);
    char text[2048];
    snprintf(text, sizeof text, "%.*s", STR_ARG(run.result.failure.stack));
    assert_string_equal(text, expected);
    run_end(&run);
}

static void assert_rejection(Rejection rejection, const char *expected) {
    check_stack(&rejection, false, expected);
    check_stack(&rejection, true, expected);
}

// Awaitable 1 is rejected with a TaskError.
static void assert_stack(const char *source, const char *expected) {
    assert_rejection((Rejection){source, "TaskError", 1}, expected);
}

static void the_await_is_named_with_line_and_column(void **state) {
    (void)state;
    assert_stack("const a = 1;\nconst b =\n  await Task.run('x');",
                 "TaskError: no\n    at async test.flow:3:3");
    assert_rejection((Rejection){"await Signal.when('x', {timeout: '1s'})", "TimeoutError", 1},
                     "TimeoutError: no\n    at async test.flow:1:1");
    assert_rejection((Rejection){"await Workflow.run('x')", "ChildWorkflowError", 1},
                     "ChildWorkflowError: no\n    at async test.flow:1:1");
}

static void async_functions_show_the_chain_of_those_that_wait(void **state) {
    (void)state;
    assert_stack("async function inner() {\n  await Task.run('x');\n}\n"
                 "const outer = async () => {\n  await inner();\n};\n"
                 "await outer();",
                 "TaskError: no\n    at async inner (test.flow:2:3)\n"
                 "    at async outer (test.flow:5:3)\n    at async test.flow:7:1");
}

static void combinators_lead_to_who_awaits_them(void **state) {
    (void)state;
    static const char *const all[] = {
        "await Promise.all([Timer.delay(1), Task.run('x')]);",
        "await Promise.race([Timer.delay(1), Task.run('x')]);",
        "await Task.all([Timer.delay(1), Task.run('x')]);",
    };
    for (size_t i = 0; i < COUNT_OF(all); i++)
        assert_rejection((Rejection){all[i], "TaskError", 2},
                         "TaskError: no\n    at async test.flow:1:1");
    assert_stack("async function f() { await Promise.all([g()]); }\n"
                 "async function g() { await Task.run('x'); }\nawait f();",
                 "TaskError: no\n    at async g (test.flow:2:22)\n"
                 "    at async f (test.flow:1:22)\n    at async test.flow:3:1");
}

static void errors_that_combinators_hand_over_as_values_have_a_place(void **state) {
    (void)state;
    assert_stack("const [r] = await Promise.allSettled([Task.run('x')]);\n"
                 "throw r.reason;",
                 "TaskError: no\n    at async test.flow:1:13");
    assert_stack("const r = await Task.race([Task.run('x')]);\nthrow r.error;",
                 "TaskError: no\n    at async test.flow:1:11");
    assert_stack("await Promise.any([Task.run('x')]);",
                 "AggregateError: All promises were rejected\n    at async test.flow:1:1");
}

static void an_error_that_was_there_before_the_await_gets_its_place_there(void **state) {
    (void)state;
    assert_stack("const t = Task.run('x');\nawait Timer.delay(1);\nawait t;",
                 "TaskError: no\n    at async test.flow:3:1");
}

static void what_is_caught_and_thrown_again_keeps_its_first_place(void **state) {
    (void)state;
    assert_stack("async function f() {\n  try { await Task.run('x'); }\n"
                 "  catch (e) { await Timer.delay(1); throw e; }\n}\nawait f();",
                 "TaskError: no\n    at async f (test.flow:2:9)\n    at async test.flow:5:1");
}

static void handlers_of_promises_see_the_place(void **state) {
    (void)state;
    assert_stack("await Task.run('x').catch(e => { throw new Error(e.stack); });",
                 "Error: TaskError: no\n    at async test.flow:1:1\n"
                 "    at test.flow:1:40\n    at async test.flow:1:1");
    assert_stack("await Task.run('x').then(x => x).finally(() => 1);",
                 "TaskError: no\n    at async test.flow:1:1");
}

static void async_generators_show_who_iterates(void **state) {
    (void)state;
    assert_stack("async function* g() { yield 1; await Task.run('x'); }\n"
                 "for await (const x of g()) {}",
                 "TaskError: no\n    at async g (test.flow:1:32)\n    at async test.flow:2:23");
}

static void ordinary_errors_show_who_waits_for_the_function(void **state) {
    (void)state;
    assert_stack("async function f() {\n  try { await Task.run('x'); } catch {}\n"
                 "  throw new Error('own');\n}\nawait f();",
                 "Error: own\n    at f (test.flow:3:9)\n    at async test.flow:5:1");
}

static void a_cancelled_run_says_where_it_waited(void **state) {
    (void)state;
    Run run;
    run_begin(&run, "async function f() {\n  await Signal.next('x');\n}\nawait f();", NULL);
    assert_int_equal(run_turn(&run), FLOW_PARKED);
    flow_vm_cancel(run.vm, STR("enough"));
    assert_int_equal(run_turn(&run), FLOW_FAILED);
    assert_str_equal(run.result.failure.stack,
                     "CancelledError: enough\n    at async f (test.flow:2:3)\n"
                     "    at async test.flow:4:1");
    run_end(&run);
}

static void long_chains_are_cut_to_the_innermost_frames(void **state) {
    (void)state;
    Run run;
    run_begin(&run,
              "async function f(n) { if (n) await f(n - 1); else await Task.run('x'); }\n"
              "await f(1000);",
              NULL);
    assert_int_equal(run_turn(&run), FLOW_PARKED);
    reject(&run, 1, "TaskError");
    assert_int_equal(run_turn(&run), FLOW_FAILED);
    size_t lines = 0;
    for (size_t i = 0; i < run.result.failure.stack.len; i++)
        lines += run.result.failure.stack.data[i] == '\n';
    assert_int_equal(lines, 10);
    assert_true(str_starts_with(run.result.failure.stack,
                                STR("TaskError: no\n    at async f (test.flow:1:51)\n")));
    run_end(&run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_await_is_named_with_line_and_column),
        cmocka_unit_test(async_functions_show_the_chain_of_those_that_wait),
        cmocka_unit_test(combinators_lead_to_who_awaits_them),
        cmocka_unit_test(errors_that_combinators_hand_over_as_values_have_a_place),
        cmocka_unit_test(an_error_that_was_there_before_the_await_gets_its_place_there),
        cmocka_unit_test(what_is_caught_and_thrown_again_keeps_its_first_place),
        cmocka_unit_test(handlers_of_promises_see_the_place),
        cmocka_unit_test(async_generators_show_who_iterates),
        cmocka_unit_test(ordinary_errors_show_who_waits_for_the_function),
        cmocka_unit_test(a_cancelled_run_says_where_it_waited),
        cmocka_unit_test(long_chains_are_cut_to_the_innermost_frames),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// Scripts on the engine, through the C library: tasks, combinators, timers, signals, events,
// children, continue-as, cancellation, versions. Compiled once per store.
#include "unit/api/flows.h"
#include "api/api.h"
#include "base/limits.h"
#include "engine/definitions/definition.h"
#include "flow/flow.h"

static void tasks_run_in_a_row(void **state) {
    run_flow(*state,
             "let n = Inputs\n"
             "for (let i = 0; i < 3; i++) n = await Task.run('double', n)\n"
             "return n",
             "1", "8");
    assert_int_equal(atomic_load(&call_count), 3);
}

static void all_gives_every_result_in_order(void **state) {
    run_flow(*state, "return await Task.all([3, 2, 1].map(n => Task.run('double', n)))", NULL,
             "[6,4,2]");
}

static void a_failed_task_rejects_and_can_be_caught(void **state) {
    run_flow(*state,
             "try { await Task.run('broken') }\n"
             "catch (e) { return [e.name, e.task, e.attempts, e.cause.message] }",
             NULL, "[\"TaskError\",\"broken\",1,\"for good\"]");
}

static void attempts_are_made_by_policy(void **state) {
    run_flow(*state, "return await Task.run('flaky', null, {retry: {attempts: 3, delay: '1ms'}})",
             NULL, "3");
}

static void all_fails_with_the_first_failure(void **state) {
    run_flow(*state,
             "return await Task.all([Task.run('double', 1), Task.run('broken')])"
             ".catch(e => e.name)",
             NULL, "\"TaskError\"");
}

static void any_ignores_failures(void **state) {
    run_flow(*state,
             "const first = await Task.any([Task.run('broken'), Task.run('double', 4)])\n"
             "return [typeof first.item_id, first.result]",
             NULL, "[\"string\",8]");
}

static void race_takes_the_first_to_settle_even_a_failure(void **state) {
    run_flow(*state,
             "const r = await Task.race([Task.run('broken'), Timer.delay('1h')])\n"
             "return [r.status, r.error.name]",
             NULL, "[\"failed\",\"TaskError\"]");
}

static void a_lost_race_tells_what_went_wrong(void **state) {
    run_flow(*state,
             "const { status, error } = await Task.race([Task.run('broken'), Timer.delay('1h')])\n"
             "return { status, error }",
             NULL,
             "{\"status\":\"failed\",\"error\":{\"name\":\"TaskError\","
             "\"message\":\"task \\\"broken\\\" failed\",\"task\":\"broken\",\"attempts\":1,"
             "\"cause\":{\"name\":\"Broken\",\"message\":\"for good\",\"type\":\"Broken\"}}}");
}

static void a_lost_race_does_not_swallow_the_next_signal(void **state) {
    Fixture *fixture = *state;
    deploy(fixture, "main",
           "const first = await Promise.race([Signal.next('go'), Timer.delay('20ms')])\n"
           "const second = await Signal.next('go')\n"
           "return [first ?? null, second]");
    start(fixture, "main", "r", NULL);
    wait_parked(fixture, "r", "signal:go");
    assert_int_equal(abide_signal(fixture->engine, "r", "go", "7", NULL, NULL), ABIDE_OK);
    expect_result(fixture, "r", ABIDE_OK, "[null,7]");
}

static void a_signal_before_the_wait_is_kept(void **state) {
    Fixture *fixture = *state;
    deploy(fixture, "main", "await Timer.delay('30ms'); return await Signal.next('go')");
    start(fixture, "main", "r", NULL);
    assert_int_equal(abide_signal(fixture->engine, "r", "go", "[]", NULL, NULL), ABIDE_OK);
    expect_result(fixture, "r", ABIDE_OK, "[]");
}

static void a_filter_chooses_the_event(void **state) {
    Fixture *fixture = *state;
    deploy(fixture, "main",
           "const a = await Event.wait('orders', {filter: {order: {id: 7}}})\n"
           "const b = await Event.wait('orders', {filter: 'total > 100 && !isTest'})\n"
           "return [a.n, b.n]");
    start(fixture, "main", "r", NULL);
    static const char *const events[] = {
        "{\"n\":1,\"order\":{\"id\":6}}",
        "{\"n\":2,\"order\":{\"id\":7,\"x\":1}}",
        "{\"n\":3,\"total\":500,\"isTest\":true}",
        "{\"n\":4,\"total\":101}",
    };
    for (int i = 0; i < 4; i++)
        assert_int_equal(abide_emit(fixture->engine, "orders", events[i], NULL, NULL, NULL), 0);
    expect_result(fixture, "r", ABIDE_OK, "[2,4]");
}

static void a_bad_filter_option_or_duration_throws_where_it_stands(void **state) {
    run_flow(*state,
             "const said = []\n"
             "const attempt = async f => { try { await f() } catch (e) { said.push(e.message) } }\n"
             "await attempt(() => Event.wait('t', {filter: 'a >'}))\n"
             "await attempt(() => Task.run('double', 1, {['retries']: 3}))\n"
             "await attempt(() => Timer.delay('so' + 'on'))\n"
             "return said.length === 3 && said.every(m => m.length > 10)",
             NULL, "true");
}

static void children_give_results_and_typed_errors(void **state) {
    Fixture *fixture = *state;
    deploy(fixture, "kid", "if (Inputs < 0) throw new RangeError('negative'); return Inputs + 1");
    run_flow(fixture,
             "const ok = await Workflow.run('kid', 1)\n"
             "const bad = await Workflow.run('kid', -1).catch(e => [e.name, e.cause.message])\n"
             "const none = await Workflow.run('nobody').catch(e => e.name)\n"
             "return [ok, bad, none]",
             NULL, "[2,[\"ChildWorkflowError\",\"negative\"],\"ChildWorkflowError\"]");
}

static void continue_as_begins_again(void **state) {
    run_flow(*state,
             "if (Inputs > 0) Workflow.continueAs(Inputs - 1)\n"
             "return 'done'",
             "3", "\"done\"");
}

static void cancellation_runs_the_cleanup(void **state) {
    Fixture *fixture = *state;
    deploy(fixture, "main",
           "try { await Signal.next('never') } finally { await Task.run('double', 1) }");
    start(fixture, "main", "r", NULL);
    wait_parked(fixture, "r", "signal:never");
    assert_int_equal(abide_cancel(fixture->engine, "r", NULL, NULL, NULL), ABIDE_OK);
    char *json = NULL;
    assert_int_equal(abide_result(fixture->engine, "r", "120s", &json, NULL), ABIDE_CANCELLED);
    abide_free(json);
    assert_int_equal(atomic_load(&call_count), 1);
}

static void tasks_of_the_cleanup_outlive_the_cancelled_run(void **state) {
    Fixture *fixture = *state;
    deploy(fixture, "main",
           "try { await Signal.next('never') }\n"
           "finally { Task.run('double', 2, { delay: '100ms' }) }");
    start(fixture, "main", "r", NULL);
    wait_parked(fixture, "r", "signal:never");
    assert_int_equal(abide_cancel(fixture->engine, "r", NULL, NULL, NULL), ABIDE_OK);
    char *json = NULL;
    assert_int_equal(abide_result(fixture->engine, "r", "120s", &json, NULL), ABIDE_CANCELLED);
    abide_free(json);
    WAIT_UNTIL(atomic_load(&call_count) > 0);
    assert_int_equal(atomic_load(&call_count), 1);
}

static void an_uncaught_error_fails_the_run_with_its_place(void **state) {
    Fixture *fixture = *state;
    deploy(fixture, "main", "const a = 1\nnull.x");
    start(fixture, "main", "r", NULL);
    char *json = NULL;
    assert_int_equal(abide_result(fixture->engine, "r", "120s", &json, NULL), ABIDE_FAILED);
    assert_non_null(strstr(json, "Cannot read properties of null (reading 'x')"));
    assert_non_null(strstr(json, "main.flow:2"));
    abide_free(json);
}

static void a_script_that_never_waits_fails_alone(void **state) {
    Fixture *fixture = *state;
    deploy(fixture, "spin", "for (;;) {}");
    start(fixture, "spin", "spin", NULL);
    run_flow(fixture, "return await Task.run('double', 2)", NULL, "4");
}

static void runs_finish_on_the_version_they_began_with(void **state) {
    Fixture *fixture = *state;
    deploy(fixture, "main", "await Signal.next('go'); return 'old'");
    start(fixture, "main", "old", NULL);
    wait_parked(fixture, "old", "signal:go");
    deploy(fixture, "main", "return 'new'");
    start(fixture, "main", "new", NULL);
    expect_result(fixture, "new", ABIDE_OK, "\"new\"");
    assert_int_equal(abide_signal(fixture->engine, "old", "go", NULL, NULL, NULL), ABIDE_OK);
    expect_result(fixture, "old", ABIDE_OK, "\"old\"");
}

static void a_script_with_errors_is_not_deployed(void **state) {
    Fixture *fixture = *state;
    abide_error error;
    assert_int_equal(abide_deploy(fixture->engine, "bad.flow", "let = 1 +", NULL, NULL, &error),
                     ABIDE_INVALID);
    assert_non_null(strstr(error.message, "bad.flow:1"));
    assert_int_equal(abide_start(fixture->engine, "bad", NULL, NULL, NULL, &error),
                     ABIDE_NOT_FOUND);
    assert_string_equal(error.name, "WORKFLOW_NOT_FOUND");
}

static void keep_warnings(void *user, const abide_deployment *deployment) {
    snprintf(user, 1000, "%s", deployment->warnings);
}

static void what_cannot_work_is_not_deployed_and_warnings_are_told(void **state) {
    Fixture *fixture = *state;
    abide_error error;
    char warnings[1000] = "";
    assert_int_equal(abide_deploy(fixture->engine, "wrong.flow", "await Tasks.run('x')",
                                  keep_warnings, warnings, &error),
                     ABIDE_INVALID);
    assert_string_equal(error.name, "FLOW_UNDECLARED");
    assert_string_equal(error.message,
                        "wrong.flow:1:7: `Tasks` is declared nowhere; did you mean `Task`?");
    assert_string_equal(warnings, "");
    assert_int_equal(abide_deploy(fixture->engine, "hasty.flow", "Timer.delay(1)\nreturn 1",
                                  keep_warnings, warnings, &error),
                     ABIDE_OK);
    assert_non_null(strstr(warnings, "\"code\":\"FLOW_UNAWAITED\""));
    assert_int_equal(
        abide_deploy(fixture->engine, "calm.flow", "return 1", keep_warnings, warnings, &error),
        ABIDE_OK);
    assert_string_equal(warnings, "[]");
}

static void a_hundred_completions_do_not_make_a_hundred_turns(void **state) {
    Fixture *fixture = *state;
    deploy(fixture, "main",
           "const n = Array.from({length: 100}, (_, i) => i)\n"
           "const all = await Task.all(n.map(i => Task.run('double', i)))\n"
           "return all.reduce((a, b) => a + b)");
    start(fixture, "main", "r", NULL);
    expect_result(fixture, "r", ABIDE_OK, "9900");
    abide_stats stats;
    assert_int_equal(abide_get_stats(fixture->engine, &stats, NULL), ABIDE_OK);
    assert_true(stats.turns < 60);
}

static void a_result_and_the_turn_it_enables_share_a_commit(void **state) {
    enum { TASKS = 50 };
    Fixture *fixture = *state;
    abide_stats before, after;
    deploy(fixture, "main",
           "let sum = 0\n"
           "for (let i = 0; i < 50; i++) sum += await Task.run('double', i)\n"
           "return sum");
    assert_int_equal(abide_get_stats(fixture->engine, &before, NULL), ABIDE_OK);
    start(fixture, "main", "r", NULL);
    expect_result(fixture, "r", ABIDE_OK, "2450");
    assert_int_equal(abide_get_stats(fixture->engine, &after, NULL), ABIDE_OK);
    assert_int_equal(after.turns - before.turns, TASKS + 1);
    bool has_place = LIMIT_BATCH_OPS > 2; // for completion, turn and claim together
    if (has_place) assert_true(after.commits - before.commits < 3 * TASKS / 2);
    assert_int_equal(atomic_load(&call_count), TASKS);
}

static void a_parked_script_survives_a_restart(void **state) { // P1
    Fixture *fixture = *state;
    if (test_backend_is("memory")) return; // nothing to survive in
    deploy(fixture, "main",
           "const kept = {map: new Map([['a', [1, 2]]]), when: new Date(5)}\n"
           "const add = n => { kept.map.get('a').push(n); return kept.map.get('a').length }\n"
           "const signal = await Signal.next('go')\n"
           "return [add(signal), [...kept.map], kept.when.getTime()]");
    start(fixture, "main", "r", NULL);
    wait_parked(fixture, "r", "signal:go");
    abide_close(fixture->engine);
    fixture_open(fixture);
    add_tasks(fixture);
    assert_int_equal(abide_signal(fixture->engine, "r", "go", "3", NULL, NULL), ABIDE_OK);
    expect_result(fixture, "r", ABIDE_OK, "[3,[[\"a\",[1,2,3]]],5]");
}

// As a version of abide deployed it that had no check.
static void define_unchecked(Fixture *fixture, const char *source) {
    FlowModule *module;
    Diag diag;
    Arena arena;
    arena_init(&arena);
    Request request = {.op.kind = OP_DEFINE};
    assert_ok(flow_compile(STR("main.flow"), str_from(source), &module, NULL, &diag));
    assert_ok(definition_fill(module, &arena, &request.op, &diag));
    assert_ok(driver_request(&fixture->engine->driver, &request));
    flow_module_release(module);
    arena_done(&arena);
}

static void what_was_deployed_before_the_check_goes_on(void **state) {
    Fixture *fixture = *state;
    const char *source = "const went = await Signal.next('go')\n"
                         "try { await Timer.sleep(1) } catch (e) { return [went, e.name] }";
    abide_error error;
    assert_int_equal(abide_deploy(fixture->engine, "main.flow", source, NULL, NULL, &error),
                     ABIDE_INVALID);
    define_unchecked(fixture, source);
    start(fixture, "main", "r", NULL);
    wait_parked(fixture, "r", "signal:go");
    if (!test_backend_is("memory")) {
        abide_close(fixture->engine);
        fixture_open(fixture);
        put_to_work(fixture);
    }
    assert_int_equal(abide_signal(fixture->engine, "r", "go", "3", NULL, NULL), ABIDE_OK);
    expect_result(fixture, "r", ABIDE_OK, "[3,\"TypeError\"]");
}

static atomic_int is_gate_open, waiting_count;

static int gated(abide_call *call, const char *input) {
    atomic_fetch_add(&waiting_count, 1);
    while (!atomic_load(&is_gate_open)) usleep(500);
    return abide_return(call, input);
}

static void *shut_down(void *engine) {
    (void)abide_shutdown(engine, "20s", NULL);
    return NULL;
}

// A claim made ahead of the threads must not cost the tasks their only attempt.
static void tasks_not_begun_at_shutdown_keep_their_attempt(void **state) {
    Fixture *fixture = *state;
    if (test_backend_is("memory")) return; // nothing is left to go on with
    abide_close(fixture->engine);
    fixture->options.threads = 1;
    fixture_open(fixture);
    atomic_store(&is_gate_open, 0);
    atomic_store(&waiting_count, 0);
    assert_int_equal(abide_register_task(fixture->engine, "gated", gated, NULL, NULL), 0);
    add_tasks(fixture);
    deploy(fixture, "main",
           "return await Task.all([1, 2, 3].map(n =>"
           " Task.run('gated', n, {retry: {attempts: 1}})))");
    start(fixture, "main", "r", NULL);
    while (atomic_load(&waiting_count) == 0) usleep(500);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, shut_down, fixture->engine), 0);
    while (abide_signal(fixture->engine, "r", "x", NULL, NULL, NULL) == ABIDE_OK) usleep(500);
    usleep(20000); // by now the pool has given back what it had not begun
    atomic_store(&is_gate_open, 1);
    pthread_join(thread, NULL);
    abide_close(fixture->engine);
    fixture_open(fixture);
    assert_int_equal(abide_register_task(fixture->engine, "gated", gated, NULL, NULL), 0);
    add_tasks(fixture);
    expect_result(fixture, "r", ABIDE_OK, "[1,2,3]");
}

static int whose(abide_call *call, const char *input) {
    (void)input;
    const char *run = abide_call_run_id(call), *trace = abide_call_traceparent(call);
    return abide_return(call, abide_call_printf(call, "[\"%s\",\"%s\"]", run != NULL ? run : "none",
                                                trace != NULL ? trace : "none"));
}

static void a_task_knows_its_run(void **state) {
    Fixture *fixture = *state;
    assert_int_equal(abide_register_task(fixture->engine, "whose", whose, NULL, NULL), 0);
    run_flow(fixture, "return await Task.run('whose')", NULL, "[\"r\",\"none\"]");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup_with_tasks, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(tasks_run_in_a_row),
        TEST(a_task_knows_its_run),
        TEST(all_gives_every_result_in_order),
        TEST(a_failed_task_rejects_and_can_be_caught),
        TEST(attempts_are_made_by_policy),
        TEST(all_fails_with_the_first_failure),
        TEST(any_ignores_failures),
        TEST(race_takes_the_first_to_settle_even_a_failure),
        TEST(a_lost_race_tells_what_went_wrong),
        TEST(a_lost_race_does_not_swallow_the_next_signal),
        TEST(a_signal_before_the_wait_is_kept),
        TEST(a_filter_chooses_the_event),
        TEST(a_bad_filter_option_or_duration_throws_where_it_stands),
        TEST(children_give_results_and_typed_errors),
        TEST(continue_as_begins_again),
        TEST(cancellation_runs_the_cleanup),
        TEST(tasks_of_the_cleanup_outlive_the_cancelled_run),
        TEST(an_uncaught_error_fails_the_run_with_its_place),
        TEST(a_script_that_never_waits_fails_alone),
        TEST(runs_finish_on_the_version_they_began_with),
        TEST(a_script_with_errors_is_not_deployed),
        TEST(what_cannot_work_is_not_deployed_and_warnings_are_told),
        TEST(a_hundred_completions_do_not_make_a_hundred_turns),
        TEST(a_result_and_the_turn_it_enables_share_a_commit),
        TEST(a_parked_script_survives_a_restart),
        TEST(what_was_deployed_before_the_check_goes_on),
        TEST(tasks_not_begun_at_shutdown_keep_their_attempt),
    };
    return cmocka_run_group_tests_name("api_flows", tests, NULL, NULL);
}

// `export const config` and retry policies, on an engine with a clock of its own: that each key
// takes effect, and what counts where a start says something else. Compiled once per store.
#include "base/array.h"
#include "unit/api/flows.h"

static const int64_t begin_ms = 1800000000000;
enum { SECOND_MS = 1000, HOUR_MS = 3600000 };

static void open_virtual(Fixture *fixture) {
    fixture->options.virtual_time_ms = begin_ms;
    fixture_open(fixture);
}

static int setup_virtual(void **state) {
    int code = setup(state);
    if (code != 0) return code;
    Fixture *fixture = *state;
    abide_close(fixture->engine);
    open_virtual(fixture);
    add_tasks(fixture);
    atomic_store(&call_count, 0);
    return 0;
}

static abide_run_info look(Fixture *fixture, const char *id) {
    abide_run_info info;
    abide_error error;
    if (abide_status(fixture->engine, id, &info, &error) != ABIDE_OK) fail_msg("%s", error.message);
    return info;
}

static bool has_ended(Fixture *fixture, const char *id) {
    return look(fixture, id).state >= ABIDE_RUN_COMPLETED;
}

// Moves the clock from one thing to the next until the run has ended; answers when that was.
static int64_t run_out(Fixture *fixture, const char *id) {
    int64_t next_ms = 0;
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(abide_settle(fixture->engine, &next_ms, NULL), ABIDE_OK);
        if (has_ended(fixture, id)) return look(fixture, id).finished_at_ms - begin_ms;
        if (next_ms == 0) fail_msg("%s waits for ever", id);
        assert_int_equal(abide_clock_set(fixture->engine, next_ms, NULL), ABIDE_OK);
    }
    fail_msg("%s does not end", id);
    return 0;
}

static void expect_error(Fixture *fixture, const char *id, const char *type) {
    abide_error error;
    char *json = NULL;
    assert_int_equal(abide_result(fixture->engine, id, NULL, &json, &error), ABIDE_FAILED);
    if (strstr(json, type) == NULL) fail_msg("%s is not in %s", type, json);
    abide_free(json);
}

static void start_with(Fixture *fixture, const char *id, const abide_start_options *given) {
    abide_error error;
    abide_start_options options = *given;
    options.id = id;
    int code = abide_start(fixture->engine, "main", NULL, &options, NULL, &error);
    if (code != ABIDE_OK) fail_msg("start: %s: %s", error.name, error.message);
}

// ---- what a run is started with ----

static void time_out_of_the_config_ends_the_run(void **state) {
    Fixture *fixture = *state;
    deploy(fixture, "main",
           "export const config = { timeout: '2s' }\nawait Timer.delay('30s')\nreturn 1");
    start(fixture, "main", "r", NULL);
    start_with(fixture, "sooner", &(abide_start_options){.timeout = "1s"});
    start_with(fixture, "later", &(abide_start_options){.timeout = "1h"});
    assert_int_equal(run_out(fixture, "sooner"), SECOND_MS);
    assert_int_equal(run_out(fixture, "r"), 2 * SECOND_MS);
    expect_error(fixture, "r", "TimeoutError");
    assert_int_equal(run_out(fixture, "later"), 30 * SECOND_MS);
    expect_result(fixture, "later", ABIDE_OK, "1");
}

static void priority_and_tags_of_the_config_count_where_nothing_is_said(void **state) {
    Fixture *fixture = *state;
    deploy(fixture, "main",
           "export const config = { priority: 7, tags: ['a', 'b'] }\nreturn Context.tags");
    start(fixture, "main", "r", NULL);
    const char *const tags[] = {"c"};
    start_with(fixture, "s", &(abide_start_options){.priority = -3, .tags = tags, .tag_count = 1});
    assert_int_equal(look(fixture, "r").priority, 7);
    assert_int_equal(look(fixture, "s").priority, -3);
    expect_result(fixture, "r", ABIDE_OK, "[\"a\",\"b\"]");
    expect_result(fixture, "s", ABIDE_OK, "[\"c\"]");
}

static bool is_there(Fixture *fixture, const char *id) {
    abide_run_info info;
    return abide_status(fixture->engine, id, &info, NULL) == ABIDE_OK;
}

static void ttl_of_the_config_says_how_long_a_run_is_kept(void **state) {
    Fixture *fixture = *state;
    deploy(fixture, "main", "export const config = { ttl: '10s' }\nreturn 1");
    start(fixture, "main", "r", NULL);
    start_with(fixture, "s", &(abide_start_options){.retention = "1h"});
    run_out(fixture, "r");
    run_out(fixture, "s");
    assert_int_equal(abide_clock_set(fixture->engine, begin_ms + 9 * SECOND_MS, NULL), ABIDE_OK);
    assert_int_equal(abide_settle(fixture->engine, NULL, NULL), ABIDE_OK);
    assert_true(is_there(fixture, "r"));
    assert_int_equal(abide_clock_set(fixture->engine, begin_ms + 11 * SECOND_MS, NULL), ABIDE_OK);
    assert_int_equal(abide_settle(fixture->engine, NULL, NULL), ABIDE_OK);
    assert_false(is_there(fixture, "r"));
    assert_true(is_there(fixture, "s"));
}

static int count_queue(void *user, const abide_queue_info *info) {
    if (strcmp(info->name, "slow") == 0) *(int64_t *)user += info->queued_count;
    return 0;
}

static void queue_of_the_config_is_that_of_its_tasks(void **state) {
    Fixture *fixture = *state;
    deploy(fixture, "main",
           "export const config = { queue: 'slow' }\n"
           "Task.run('nobody', 1)\nTask.run('nobody', 1, { queue: 'other' })\n"
           "return await Signal.next('go')");
    start(fixture, "main", "r", NULL);
    assert_int_equal(abide_settle(fixture->engine, NULL, NULL), ABIDE_OK);
    int64_t count = 0;
    assert_int_equal(abide_queue_list(fixture->engine, count_queue, &count, NULL), ABIDE_OK);
    assert_int_equal(count, 1);
}

static void children_and_schedules_have_the_config_too(void **state) {
    Fixture *fixture = *state;
    deploy(fixture, "main",
           "export const config = { timeout: '5s', priority: 9 }\n"
           "await Timer.delay('1h')\nreturn 1");
    deploy(fixture, "parent",
           "try { await Workflow.run('main', null, { id: 'kid', priority: 0 }) }\n"
           "catch (error) { return error.name }");
    start(fixture, "parent", "p", NULL);
    assert_int_equal(run_out(fixture, "p"), 5 * SECOND_MS);
    expect_result(fixture, "p", ABIDE_OK, "\"ChildWorkflowError\"");
    assert_int_equal(look(fixture, "kid").priority, 0); // said is said, also when it is 0
    abide_schedule schedule = {.workflow = "main", .every = "1h", .priority = 2};
    assert_int_equal(abide_schedule_set(fixture->engine, "s", &schedule, NULL), ABIDE_OK);
    char id[ABIDE_RUN_ID_SIZE];
    assert_int_equal(abide_schedule_trigger(fixture->engine, "s", "tick", id, NULL), ABIDE_OK);
    assert_int_equal(look(fixture, id).priority, 2);
    assert_int_equal(run_out(fixture, id), 10 * SECOND_MS);
    expect_error(fixture, id, "TimeoutError");
}

static void version_that_a_run_is_pinned_to_counts(void **state) {
    Fixture *fixture = *state;
    deploy(fixture, "main",
           "export const config = { retry: { attempts: 2, delay: '1m' } }\n"
           "throw new Error('no')");
    start(fixture, "main", "r", NULL);
    assert_int_equal(abide_settle(fixture->engine, NULL, NULL), ABIDE_OK);
    deploy(fixture, "main", "return 1");
    run_out(fixture, "r");
    assert_int_equal(look(fixture, "r").attempt, 2);
    expect_error(fixture, "r", "no");
}

// ---- retry ----

static void failed_run_begins_again_from_its_input(void **state) {
    Fixture *fixture = *state;
    deploy(fixture, "main",
           "export const config = { retry: { attempts: 4, delay: '1s', factor: 3,\n"
           "  maxDelay: '5s' } }\n"
           "State.set('attempt', Context.attempt)\n"
           "const kid = await Workflow.run('kid', Context.attempt)\n"
           "const task = await Task.run('double', Context.attempt)\n"
           "if (Context.attempt < Inputs.good) throw new Error('attempt ' + Context.attempt)\n"
           "return [Inputs.good, Context.attempt, kid, task]");
    deploy(fixture, "kid", "return Inputs * 10");
    start(fixture, "main", "r", "{\"good\":4}");
    assert_int_equal(run_out(fixture, "r"), (1 + 3 + 5) * SECOND_MS);
    expect_result(fixture, "r", ABIDE_OK, "[4,4,40,8]");
    assert_int_equal(look(fixture, "r").attempt, 4);
    assert_int_equal(atomic_load(&call_count), 4);
    start(fixture, "main", "never", "{\"good\":99}");
    run_out(fixture, "never");
    expect_error(fixture, "never", "attempt 4");
}

static void run_between_attempts_is_pending_and_goes_on_after_a_restart(void **state) {
    Fixture *fixture = *state;
    deploy(fixture, "main",
           "export const config = { retry: { attempts: 2, delay: '1h' } }\n"
           "if (Context.attempt < 2) throw new Error('no')\n"
           "return Context.attempt");
    start(fixture, "main", "r", NULL);
    assert_int_equal(abide_settle(fixture->engine, NULL, NULL), ABIDE_OK);
    abide_run_info info = look(fixture, "r");
    assert_int_equal(info.state, ABIDE_RUN_PENDING);
    assert_int_equal(info.attempt, 2);
    assert_int_equal(info.wakes_at_ms, begin_ms + HOUR_MS);
    if (strcmp(API_BACKEND, "memory") != 0) { // which keeps nothing
        abide_close(fixture->engine);
        open_virtual(fixture);
        add_tasks(fixture);
    }
    assert_int_equal(run_out(fixture, "r"), HOUR_MS);
    expect_result(fixture, "r", ABIDE_OK, "2");
}

static void error_that_says_so_is_not_tried_again(void **state) {
    Fixture *fixture = *state;
    deploy(fixture, "main",
           "export const config = { retry: { attempts: 5, delay: '1s' } }\n"
           "throw Object.assign(new Error('no'), { retryable: Context.attempt < 3 })");
    start(fixture, "main", "r", NULL);
    run_out(fixture, "r");
    assert_int_equal(look(fixture, "r").attempt, 3);
    expect_error(fixture, "r", "no");
}

static void cancelled_and_timed_out_runs_are_not_tried_again(void **state) {
    Fixture *fixture = *state;
    deploy(fixture, "main",
           "export const config = { timeout: '10s', retry: { attempts: 5, delay: '1s' } }\n"
           "await Signal.next('go')\nreturn 1");
    start(fixture, "main", "late", NULL);
    start(fixture, "main", "gone", NULL);
    wait_parked(fixture, "gone", "signal:go");
    assert_int_equal(abide_cancel(fixture->engine, "gone", NULL, NULL, NULL), ABIDE_OK);
    run_out(fixture, "gone");
    assert_int_equal(look(fixture, "gone").state, ABIDE_RUN_CANCELLED);
    assert_int_equal(run_out(fixture, "late"), 10 * SECOND_MS);
    assert_int_equal(look(fixture, "late").attempt, 1);
    deploy(fixture, "main",
           "export const config = { timeout: '10s', retry: { attempts: 50, delay: '4s',\n"
           "  factor: 1 } }\n"
           "throw new Error('no')");
    start(fixture, "main", "busy", NULL);
    run_out(fixture, "busy"); // attempts at 0, 4 and 8 s; the next could not begin in time
    assert_int_equal(look(fixture, "busy").attempt, 3);
    expect_error(fixture, "busy", "no");
}

static void parent_sees_how_the_last_attempt_ends(void **state) {
    Fixture *fixture = *state;
    deploy(fixture, "kid",
           "export const config = { retry: { attempts: 3, delay: '1s' } }\n"
           "if (Context.attempt < 3) throw new Error('no')\n"
           "return 'at last'");
    deploy(fixture, "main", "return await Workflow.run('kid')");
    start(fixture, "main", "r", NULL);
    run_out(fixture, "r");
    expect_result(fixture, "r", ABIDE_OK, "\"at last\"");
}

static int fails_twice(abide_ctx *ctx, const char *input) {
    const char *twice;
    ABIDE_TRY(abide_step(ctx, "double", double_it, input, &twice));
    if (strcmp(input, "13") == 0) return ABIDE_INVALID;
    if (abide_run_attempt(ctx) < 3)
        return abide_fail(ctx, abide_run_attempt(ctx) == 1 ? "attempt 1" : "attempt 2");
    return abide_complete(ctx, twice);
}

static void native_runs_are_tried_again_by_their_registration(void **state) {
    Fixture *fixture = *state;
    abide_error error;
    abide_workflow_options options = {
        .fn = fails_twice, .retry = &(abide_retry){.attempts = 3, .delay = "1m", .factor = 1}};
    assert_int_equal(abide_register_workflow_with(fixture->engine, "native", &options, &error),
                     ABIDE_OK);
    start(fixture, "native", "r", "4");
    assert_int_equal(run_out(fixture, "r"), 120 * SECOND_MS);
    expect_result(fixture, "r", ABIDE_OK, "8");
    assert_int_equal(atomic_load(&call_count), 3); // each attempt does its steps
    start(fixture, "native", "invalid", "13");
    run_out(fixture, "invalid");
    assert_int_equal(look(fixture, "invalid").attempt, 1);
    options.retry = &(abide_retry){.attempts = -1};
    assert_int_equal(abide_register_workflow_with(fixture->engine, "bad", &options, &error),
                     ABIDE_INVALID);
    assert_string_equal(error.name, "BAD_OPTION");
}

static void types_that_are_not_retried_end_a_native_run(void **state) {
    Fixture *fixture = *state;
    abide_workflow_options options = {
        .fn = fails_twice,
        .retry =
            &(abide_retry){.attempts = 3,
                           .delay = "1s",
                           .non_retryable = (const char *const[]){"WorkflowError", "Error", NULL}}};
    assert_int_equal(abide_register_workflow_with(fixture->engine, "native", &options, NULL),
                     ABIDE_OK);
    start(fixture, "native", "r", "4");
    run_out(fixture, "r");
    assert_int_equal(look(fixture, "r").attempt, 1);
    expect_error(fixture, "r", "attempt 1");
}

// ---- input ----

static const char picky[] =
    "export const config = { input: { type: 'object', required: ['n'],\n"
    "  properties: { n: { type: 'integer', minimum: 1 } } } }\nreturn Inputs.n";

static void input_that_does_not_fit_starts_nothing(void **state) {
    Fixture *fixture = *state;
    abide_error error;
    deploy(fixture, "main", picky);
    start(fixture, "main", "good", "{\"n\":1}");
    expect_result(fixture, "good", ABIDE_OK, "1");
    static const char *const bad[] = {NULL, "null", "{}", "{\"n\":0}", "{\"n\":1.5}", "[]"};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        int code = abide_start(fixture->engine, "main", bad[i], &(abide_start_options){.id = "bad"},
                               NULL, &error);
        assert_int_equal(code, ABIDE_INVALID);
        assert_string_equal(error.name, "BAD_INPUT");
        assert_false(is_there(fixture, "bad"));
    }
    assert_int_equal(abide_start(fixture->engine, "main", "{\"n\":0}", NULL, NULL, &error),
                     ABIDE_INVALID);
    assert_string_equal(error.message, "the input does not fit config.input of workflow \"main\": "
                                       "$.n is below 1 (rule \"minimum\")");
    deploy(fixture, "main", "return 2"); // the version that the run would be pinned to counts
    start(fixture, "main", "free", NULL);
    expect_result(fixture, "free", ABIDE_OK, "2");
}

static void child_with_bad_input_fails_with_an_input_error(void **state) {
    Fixture *fixture = *state;
    deploy(fixture, "kid", picky);
    run_flow(fixture,
             "const bad = await Workflow.run('kid', { n: 'x' }).catch(e => e)\n"
             "return [bad.name, bad.cause.type ?? bad.cause.name, await Workflow.run('kid', "
             "{ n: 3 })]",
             NULL, "[\"ChildWorkflowError\",\"InputError\",3]");
}

static void schedule_of_bad_input_is_refused(void **state) {
    Fixture *fixture = *state;
    abide_error error;
    deploy(fixture, "main", picky);
    abide_schedule schedule = {.workflow = "main", .every = "1h", .input = "{\"n\":0}"};
    assert_int_equal(abide_schedule_set(fixture->engine, "s", &schedule, &error), ABIDE_INVALID);
    assert_string_equal(error.name, "BAD_INPUT");
    schedule.input = "{\"n\":5}";
    assert_int_equal(abide_schedule_set(fixture->engine, "s", &schedule, &error), ABIDE_OK);
}

// ---- what is refused ----

static void bad_config_is_not_deployed(void **state) {
    Fixture *fixture = *state;
    abide_error error;
    const char *source = "export const config = {\n  timout: '2s' }\nreturn 1";
    assert_int_equal(abide_deploy(fixture->engine, "main.flow", source, NULL, NULL, &error),
                     ABIDE_INVALID);
    assert_string_equal(error.name, "FLOW_CONFIG");
    assert_non_null(strstr(error.message, "main.flow:2:3: `config` has no key \"timout\""));
    assert_int_equal(abide_start(fixture->engine, "main", NULL, NULL, NULL, &error),
                     ABIDE_NOT_FOUND);
}

static void unknown_options_are_refused_where_they_are_used(void **state) {
    run_flow(*state,
             "const { when, next } = Signal\n" // nothing that the check of the file sees
             "const some = (key, value) => ({ [key]: value })\n"
             "const tries = [() => when('x', some('timout', '1s')),\n"
             "  () => next('x', { timeout: '1s' }),\n"
             "  () => Stream.write(1, { type: 'a', ...some('typs', ['b']) }),\n"
             "  () => Task.run('x', 1, { retry: some('attemps', 3) }),\n"
             "  () => Event.wait('t', some('filtr', 'a')),\n"
             "  () => Workflow.run('x', 1, some('timout', 3)),\n"
             "  () => Workflow.start('x', 1, some('priorty', 3))]\n"
             "const names = ['timout', 'no options', 'typs', 'attemps', 'filtr', 'timout',\n"
             "  'priorty']\n"
             "return tries.map((attempt, i) => {\n"
             "  try { attempt() } catch (e) { return e.message.includes(names[i]) }\n"
             "})",
             NULL, "[true,true,true,true,true,true,true]");
}

#define CONFIG_TEST(test) cmocka_unit_test_setup_teardown(test, setup_virtual, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        CONFIG_TEST(time_out_of_the_config_ends_the_run),
        CONFIG_TEST(priority_and_tags_of_the_config_count_where_nothing_is_said),
        CONFIG_TEST(ttl_of_the_config_says_how_long_a_run_is_kept),
        CONFIG_TEST(queue_of_the_config_is_that_of_its_tasks),
        CONFIG_TEST(children_and_schedules_have_the_config_too),
        CONFIG_TEST(version_that_a_run_is_pinned_to_counts),
        CONFIG_TEST(failed_run_begins_again_from_its_input),
        CONFIG_TEST(run_between_attempts_is_pending_and_goes_on_after_a_restart),
        CONFIG_TEST(error_that_says_so_is_not_tried_again),
        CONFIG_TEST(cancelled_and_timed_out_runs_are_not_tried_again),
        CONFIG_TEST(parent_sees_how_the_last_attempt_ends),
        CONFIG_TEST(native_runs_are_tried_again_by_their_registration),
        CONFIG_TEST(types_that_are_not_retried_end_a_native_run),
        CONFIG_TEST(input_that_does_not_fit_starts_nothing),
        CONFIG_TEST(child_with_bad_input_fails_with_an_input_error),
        CONFIG_TEST(schedule_of_bad_input_is_refused),
        CONFIG_TEST(bad_config_is_not_deployed),
        CONFIG_TEST(unknown_options_are_refused_where_they_are_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

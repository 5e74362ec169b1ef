// What the options of an engine do, and what the store knows of workflows in C, through the C
// library.
#include "base/array.h"
#include "unit/api/api.h"

static const int64_t begin_ms = 1800000000000;

static void reopen(Fixture *fixture) {
    abide_close(fixture->engine);
    fixture_open(fixture);
}

// ---- timer_resolution ----

static int64_t settle(Fixture *fixture) {
    int64_t next_ms = -1;
    assert_int_equal(abide_settle(fixture->engine, &next_ms, NULL), ABIDE_OK);
    return next_ms;
}

static void expect_ended(Fixture *fixture, int64_t now_ms, int count) {
    assert_int_equal(abide_clock_set(fixture->engine, now_ms, NULL), ABIDE_OK);
    (void)settle(fixture);
    abide_stats stats;
    assert_int_equal(abide_get_stats(fixture->engine, &stats, NULL), ABIDE_OK);
    assert_int_equal(stats.completed_total, count);
}

static void timers_of_one_span_fire_together_and_none_is_early(void **state) {
    Fixture *fixture = *state;
    fixture->options.virtual_time_ms = begin_ms;
    fixture->options.timer_resolution = "100ms";
    reopen(fixture);
    put_to_work(fixture);
    deploy(fixture, "main", "await Timer.delay(Inputs.ms + 'ms')");
    static const char *const inputs[] = {"{\"ms\":5}", "{\"ms\":50}", "{\"ms\":99}", "{\"ms\":100}",
                                         "{\"ms\":101}"};
    for (int i = 0; i < 5; i++) {
        char id[8];
        snprintf(id, sizeof id, "r%d", i);
        start(fixture, "main", id, inputs[i]);
    }
    assert_int_equal(settle(fixture), begin_ms + 100); // not 5, 50, 99
    expect_ended(fixture, begin_ms + 99, 0);
    expect_ended(fixture, begin_ms + 100, 4);
    assert_int_equal(settle(fixture), begin_ms + 200);
    expect_ended(fixture, begin_ms + 101, 4);
    expect_ended(fixture, begin_ms + 200, 5);
}

static void timers_are_exact_to_the_millisecond_unless_told_otherwise(void **state) {
    Fixture *fixture = *state;
    fixture->options.virtual_time_ms = begin_ms;
    reopen(fixture);
    put_to_work(fixture);
    deploy(fixture, "main", "await Timer.delay('7ms')");
    start(fixture, "main", "r", NULL);
    assert_int_equal(settle(fixture), begin_ms + 7);
    expect_ended(fixture, begin_ms + 6, 0);
    expect_ended(fixture, begin_ms + 7, 1);
}

// ---- default_consume ----

static int await_news(abide_ctx *ctx, const char *input) {
    (void)input;
    const char *payload;
    ABIDE_TRY(abide_await_event(ctx, "news", NULL, &payload));
    return abide_complete(ctx, payload);
}

static int64_t resumed_by_one_event(Fixture *fixture) {
    add_workflow(fixture, "reader", await_news, NULL);
    put_to_work(fixture);
    start(fixture, "reader", "a", NULL);
    start(fixture, "reader", "b", NULL);
    wait_parked(fixture, "a", "event:news");
    wait_parked(fixture, "b", "event:news");
    int64_t resumed = 0;
    assert_int_equal(abide_emit(fixture->engine, "news", "1", NULL, &resumed, NULL), ABIDE_OK);
    return resumed;
}

static void events_of_topics_nobody_set_go_to_one_waiter(void **state) {
    assert_int_equal(resumed_by_one_event(*state), 1);
}

static void events_of_topics_nobody_set_go_to_all_if_told_so(void **state) {
    Fixture *fixture = *state;
    fixture->options.default_consume = ABIDE_CONSUME_ALL;
    reopen(fixture);
    assert_int_equal(resumed_by_one_event(fixture), 2);
}

static void a_policy_counts_for_more_than_the_default(void **state) {
    Fixture *fixture = *state;
    fixture->options.default_consume = ABIDE_CONSUME_ALL;
    reopen(fixture);
    abide_topic_policy one = {.consume = ABIDE_CONSUME_ONE};
    assert_int_equal(abide_set_topic(fixture->engine, "news", &one, NULL), ABIDE_OK);
    assert_int_equal(resumed_by_one_event(fixture), 1);
}

// ---- isolate_child_failures ----

static int broken(abide_ctx *ctx, const char *input) {
    (void)input;
    return abide_fail(ctx, "broken");
}

static const char parents[] =
    "workflow one() { return await Workflow.run('broken') }\n"
    "workflow any() {\n"
    "  const never = Workflow.run('waits')\n"
    "  return await Promise.any([never, Workflow.run('broken')])\n"
    "}\n"
    "workflow all() {\n"
    "  const [a, b] = await Promise.all([Workflow.run('broken'), Workflow.run('quick')])\n"
    "  return [a.error.type, b]\n"
    "}\n"
    "workflow waits() { await Signal.next('never') }\n"
    "workflow quick() { await Timer.delay('10ms'); return 2 }\n";

static void a_childs_failure_is_a_value_for_scripts_if_isolated(void **state) {
    Fixture *fixture = *state;
    fixture->options.isolate_child_failures = 1;
    reopen(fixture);
    add_workflow(fixture, "broken", broken, NULL);
    put_to_work(fixture);
    deploy(fixture, "main", parents);
    static const char value[] = "{\"error\":{\"type\":\"ChildWorkflowError\",\"message\":\"child "
                                "\\\"broken\\\" failed\",\"cause\":{\"type\":\"Error\","
                                "\"message\":\"broken\"}}}";
    start(fixture, "one", "one", NULL);
    expect_result(fixture, "one", ABIDE_OK, value);
    start(fixture, "any", "any", NULL); // it fulfils, so it is the first
    expect_result(fixture, "any", ABIDE_OK, value);
    start(fixture, "all", "all", NULL);
    expect_result(fixture, "all", ABIDE_OK, "[\"ChildWorkflowError\",2]");
}

static void a_childs_failure_is_an_error_otherwise(void **state) {
    Fixture *fixture = *state;
    add_workflow(fixture, "broken", broken, NULL);
    put_to_work(fixture);
    deploy(fixture, "main", parents);
    start(fixture, "one", "one", NULL);
    char *json = NULL;
    assert_int_equal(abide_result(fixture->engine, "one", "120s", &json, NULL), ABIDE_FAILED);
    assert_non_null(strstr(json, "ChildWorkflowError"));
    abide_free(json);
}

// ---- workflows in C, as the store knows them ----

static int answer(abide_ctx *ctx, const char *input) {
    (void)input;
    return abide_complete(ctx, "42");
}

static void a_workflow_in_c_can_be_started_where_it_is_not_registered(void **state) {
    Fixture *fixture = *state;
    abide_error error;
    assert_int_equal(abide_start(fixture->engine, "answer", NULL, NULL, NULL, &error),
                     ABIDE_NOT_FOUND);
    assert_string_equal(error.name, "WORKFLOW_NOT_FOUND");
    if (strcmp(API_BACKEND, "memory") == 0) return; // the rest needs a second process
    add_workflow(fixture, "answer", answer, NULL);
    reopen(fixture);
    put_to_work(fixture);
    start(fixture, "answer", "before", NULL);
    deploy(fixture, "main", "return await Workflow.run('answer', {}, {id: 'child'})");
    start(fixture, "main", "parent", NULL);
    char *result = NULL;
    assert_int_equal(abide_result(fixture->engine, "before", "10ms", &result, NULL), ABIDE_PENDING);
    add_workflow(fixture, "answer", answer, NULL); // also while it is wanted
    expect_result(fixture, "before", ABIDE_OK, "42");
    expect_result(fixture, "parent", ABIDE_OK, "42");
}

static void a_name_belongs_to_scripts_or_to_c(void **state) {
    Fixture *fixture = *state;
    abide_error error;
    add_workflow(fixture, "answer", answer, NULL);
    deploy(fixture, "main", "return 1");
    assert_int_equal(abide_deploy(fixture->engine, "answer.flow", "return 1", NULL, NULL, &error),
                     ABIDE_CONFLICT);
    assert_string_equal(error.name, "WORKFLOW_KIND");
    const char *both = "workflow other() { return 1 }\nworkflow answer() { return 2 }";
    assert_int_equal(abide_deploy(fixture->engine, "both.flow", both, NULL, NULL, &error),
                     ABIDE_CONFLICT);
    assert_int_equal(abide_start(fixture->engine, "other", NULL, NULL, NULL, &error),
                     ABIDE_NOT_FOUND); // nothing of the file was deployed
    assert_int_equal(abide_register_workflow(fixture->engine, "main", answer, NULL, &error),
                     ABIDE_CONFLICT);
    assert_string_equal(error.name, "WORKFLOW_KIND");
    put_to_work(fixture);
    start(fixture, "main", "script", NULL); // both are as they were
    start(fixture, "answer", "native", NULL);
    expect_result(fixture, "script", ABIDE_OK, "1");
    expect_result(fixture, "native", ABIDE_OK, "42");
}

// ---- what cannot be ----

static void impossible_settings_are_refused_by_name(void **state) {
    (void)state;
    abide_options bad[] = {
        {.timer_resolution = "0s"},
        {.timer_resolution = "2m"},
        {.store_retry_delay = "10s", .store_retry_max_delay = "5s"},
        {.default_consume = 2},
        {.default_consume = -1},
        {.max_pending_events_per_topic = -1},
        {.store_retry_attempts = -1},
    };
    static const char *const named[] = {"timer_resolution",      "timer_resolution",
                                        "store_retry_max_delay", "default_consume",
                                        "default_consume",       "max_pending_events_per_topic",
                                        "store_retry_attempts"};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        abide_engine *engine = NULL;
        abide_error error;
        assert_int_equal(abide_open("memory:", &bad[i], &engine, &error), ABIDE_INVALID);
        assert_string_equal(error.name, "BAD_OPTION");
        assert_non_null(strstr(error.message, named[i]));
    }
}

#define FRESH(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        FRESH(timers_of_one_span_fire_together_and_none_is_early),
        FRESH(timers_are_exact_to_the_millisecond_unless_told_otherwise),
        FRESH(events_of_topics_nobody_set_go_to_one_waiter),
        FRESH(events_of_topics_nobody_set_go_to_all_if_told_so),
        FRESH(a_policy_counts_for_more_than_the_default),
        FRESH(a_childs_failure_is_a_value_for_scripts_if_isolated),
        FRESH(a_childs_failure_is_an_error_otherwise),
        FRESH(a_workflow_in_c_can_be_started_where_it_is_not_registered),
        FRESH(a_name_belongs_to_scripts_or_to_c),
        cmocka_unit_test(impossible_settings_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

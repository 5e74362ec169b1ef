// The C library as its users see it: workflows, steps, waits, children, tasks, changes of runs.
// Compiled once per store. Cites the promises of the design (P1 …) where it proves one.
#include "unit/api/api.h"
#include <stdatomic.h>

static atomic_int body_count; // how often step bodies ran

static int count_body(abide_call *call, const char *input) {
    atomic_fetch_add(&body_count, 1);
    return abide_return(call, input);
}

static int reset_and_setup(void **state) {
    atomic_store(&body_count, 0);
    return setup(state);
}

// ---- steps ----

static int three_steps(abide_ctx *ctx, const char *input) {
    const char *a, *b, *c;
    ABIDE_TRY(abide_step(ctx, "work", count_body, "1", &a));
    ABIDE_TRY(abide_step(ctx, "work", count_body, "2", &b));
    ABIDE_TRY(abide_step(ctx, "zebra", count_body, "3", &c));
    return abide_complete(ctx, abide_printf(ctx, "[%s,%s,%s,%s]", input, a, b, c));
}

static void steps_run_once_each_and_keep_their_results(void **state) { // P2
    Fixture *fixture = *state;
    add_workflow(fixture, "three", three_steps, NULL);
    put_to_work(fixture);
    start(fixture, "three", "r", "0");
    expect_result(fixture, "r", ABIDE_OK, "[0,1,2,3]");
    assert_int_equal(atomic_load(&body_count), 3);
    abide_run_info info;
    assert_int_equal(abide_status(fixture->engine, "r", &info, NULL), ABIDE_OK);
    assert_int_equal(info.step_count, 3);
}

static int null_result(abide_call *call, const char *input) {
    (void)input;
    atomic_fetch_add(&body_count, 1);
    return abide_return(call, NULL);
}

static int null_steps(abide_ctx *ctx, const char *input) {
    (void)input;
    const char *absent = "x", *null = NULL;
    ABIDE_TRY(abide_step(ctx, "absent", null_result, NULL, &absent));
    ABIDE_TRY(abide_step(ctx, "null", count_body, "null", &null));
    ABIDE_TRY(abide_sleep(ctx, "1ms"));
    if (absent != NULL || null == NULL || strcmp(null, "null") != 0)
        return abide_fail(ctx, "null and absent were mixed up");
    return abide_complete(ctx, "null");
}

static void a_null_result_is_a_checkpoint_like_any_other(void **state) { // P9
    Fixture *fixture = *state;
    add_workflow(fixture, "nulls", null_steps, NULL);
    put_to_work(fixture);
    start(fixture, "nulls", "r", NULL);
    expect_result(fixture, "r", ABIDE_OK, "null");
    assert_int_equal(atomic_load(&body_count), 2);
}

static int fail_twice(abide_call *call, const char *input) {
    (void)input;
    atomic_fetch_add(&body_count, 1);
    if (abide_call_attempt(call) < 3) return abide_throw(call, "Flaky", "again");
    return abide_return(call, abide_call_printf(call, "%d", abide_call_attempt(call)));
}

static int retried(abide_ctx *ctx, const char *input) {
    (void)input;
    abide_step_options options = {.retry = {.attempts = 3, .delay = "1ms"}};
    const char *result;
    ABIDE_TRY(abide_step_with(ctx, "flaky", fail_twice, NULL, &options, &result));
    return abide_complete(ctx, result);
}

static void a_failed_attempt_is_retried_by_policy(void **state) {
    Fixture *fixture = *state;
    add_workflow(fixture, "retried", retried, NULL);
    put_to_work(fixture);
    start(fixture, "retried", "r", NULL);
    expect_result(fixture, "r", ABIDE_OK, "3");
    assert_int_equal(atomic_load(&body_count), 3);
}

static int fail_always(abide_call *call, const char *input) {
    atomic_fetch_add(&body_count, 1);
    return abide_throw(call, input, "no");
}

static int exhausted(abide_ctx *ctx, const char *input) {
    const char *const final_types[] = {"Fatal", NULL};
    abide_step_options options = {
        .retry = {.attempts = 2, .delay = "1ms", .non_retryable = final_types}};
    return abide_step_with(ctx, "bad", fail_always, input, &options, NULL);
}

static void exhausted_retries_fail_the_run_with_the_error(void **state) {
    Fixture *fixture = *state;
    add_workflow(fixture, "exhausted", exhausted, NULL);
    put_to_work(fixture);
    start(fixture, "exhausted", "r", "7");
    expect_result(fixture, "r", ABIDE_FAILED, "{\"type\":\"7\",\"message\":\"no\"}");
    assert_int_equal(atomic_load(&body_count), 2);
}

static int fatal(abide_ctx *ctx, const char *input) {
    (void)input;
    return exhausted(ctx, "Fatal");
}

static void a_non_retryable_error_ends_it_at_once(void **state) {
    Fixture *fixture = *state;
    add_workflow(fixture, "fatal", fatal, NULL);
    put_to_work(fixture);
    start(fixture, "fatal", "r", NULL);
    expect_result(fixture, "r", ABIDE_FAILED, "{\"type\":\"Fatal\",\"message\":\"no\"}");
    assert_int_equal(atomic_load(&body_count), 1);
}

static int many_rounds(abide_ctx *ctx, const char *input) {
    (void)input;
    const char *result = NULL;
    for (int i = 0; i < 12; i++)
        ABIDE_TRY(abide_step(ctx, "round", count_body, abide_printf(ctx, "%d", i), &result));
    ABIDE_TRY(abide_await_signal(ctx, "go", NULL, NULL));
    return abide_complete(ctx, result);
}

static void rewind_drops_by_position_past_ten_iterations(void **state) {
    Fixture *fixture = *state;
    add_workflow(fixture, "rounds", many_rounds, NULL);
    put_to_work(fixture);
    start(fixture, "rounds", "r", NULL);
    wait_parked(fixture, "r", "signal:go");
    assert_int_equal(atomic_load(&body_count), 12);
    assert_int_equal(abide_rewind(fixture->engine, "r", "round", 9, NULL), ABIDE_OK);
    wait_parked(fixture, "r", "signal:go");
    WAIT_UNTIL(atomic_load(&body_count) >= 15);
    wait_parked(fixture, "r", "signal:go");
    assert_int_equal(atomic_load(&body_count), 15); // rounds 9, 10 and 11 again
    assert_int_equal(abide_rewind(fixture->engine, "r", "round", -2, NULL), ABIDE_INVALID);
    assert_int_equal(abide_rewind(fixture->engine, "r", "round", ABIDE_LAST_ITERATION, NULL),
                     ABIDE_OK);
    WAIT_UNTIL(atomic_load(&body_count) >= 16);
    wait_parked(fixture, "r", "signal:go");
    assert_int_equal(atomic_load(&body_count), 16); // round 11
    assert_int_equal(abide_signal(fixture->engine, "r", "go", NULL, NULL, NULL), ABIDE_OK);
    expect_result(fixture, "r", ABIDE_OK, "11");
}

// ---- waits ----

static int wait_event(abide_ctx *ctx, const char *input) {
    const char *payload;
    int rc = abide_await_event(ctx, "topic", &(abide_wait){.timeout = input}, &payload);
    if (rc == ABIDE_TIMEOUT) return abide_complete(ctx, "\"timeout\"");
    if (rc != ABIDE_OK) return rc;
    return abide_complete(ctx, payload);
}

static int wait_event_forever(abide_ctx *ctx, const char *input) {
    (void)input;
    return wait_event(ctx, NULL);
}

static void an_event_wakes_the_oldest_waiter_only(void **state) { // P6
    Fixture *fixture = *state;
    add_workflow(fixture, "waiter", wait_event_forever, NULL);
    put_to_work(fixture);
    start(fixture, "waiter", "first", NULL);
    wait_parked(fixture, "first", "event:topic");
    start(fixture, "waiter", "second", NULL);
    wait_parked(fixture, "second", "event:topic");
    int64_t resumed;
    assert_int_equal(abide_emit(fixture->engine, "topic", "[]", NULL, &resumed, NULL), ABIDE_OK);
    assert_int_equal(resumed, 1);
    expect_result(fixture, "first", ABIDE_OK, "[]");
    assert_int_equal(state_of(fixture, "second"), ABIDE_RUN_SUSPENDED);
}

static void an_event_before_the_wait_is_not_lost(void **state) { // P6
    Fixture *fixture = *state;
    add_workflow(fixture, "waiter", wait_event_forever, NULL);
    put_to_work(fixture);
    int64_t resumed;
    const char *payload = "{\"n\":12345678901234567,\"s\":\"\xc3\xa9\\u0000\",\"e\":[]}";
    assert_int_equal(abide_emit(fixture->engine, "topic", payload, NULL, &resumed, NULL), ABIDE_OK);
    assert_int_equal(resumed, 0);
    start(fixture, "waiter", "late", NULL);
    expect_result(fixture, "late", ABIDE_OK, payload); // P9: byte for byte
}

static void a_deadline_gives_a_timeout_and_the_run_goes_on(void **state) {
    Fixture *fixture = *state;
    add_workflow(fixture, "waiter", wait_event, NULL);
    put_to_work(fixture);
    start(fixture, "waiter", "r", "0.01");
    expect_result(fixture, "r", ABIDE_OK, "\"timeout\"");
}

static void broadcast_reaches_every_waiter(void **state) {
    Fixture *fixture = *state;
    abide_topic_policy policy = {.consume = ABIDE_CONSUME_ALL};
    assert_int_equal(abide_set_topic(fixture->engine, "topic", &policy, NULL), ABIDE_OK);
    add_workflow(fixture, "waiter", wait_event_forever, NULL);
    put_to_work(fixture);
    char id[16];
    for (int i = 0; i < 5; i++) {
        snprintf(id, sizeof id, "r%d", i);
        start(fixture, "waiter", id, NULL);
        wait_parked(fixture, id, "event:topic");
    }
    int64_t resumed;
    assert_int_equal(abide_emit(fixture->engine, "topic", "1", NULL, &resumed, NULL), ABIDE_OK);
    assert_int_equal(resumed, 5);
    for (int i = 0; i < 5; i++) {
        snprintf(id, sizeof id, "r%d", i);
        expect_result(fixture, id, ABIDE_OK, "1");
    }
}

static void an_event_id_is_taken_once(void **state) {
    Fixture *fixture = *state;
    add_workflow(fixture, "waiter", wait_event_forever, NULL);
    put_to_work(fixture);
    abide_emit_options options = {.id = "e1"};
    assert_int_equal(abide_emit(fixture->engine, "topic", "1", &options, NULL, NULL), ABIDE_OK);
    assert_int_equal(abide_emit(fixture->engine, "topic", "1", &options, NULL, NULL), ABIDE_OK);
    abide_stats stats;
    assert_int_equal(abide_get_stats(fixture->engine, &stats, NULL), ABIDE_OK);
    assert_int_equal(stats.pending_events, 1);
}

static int two_signals(abide_ctx *ctx, const char *input) {
    (void)input;
    const char *a, *b;
    ABIDE_TRY(abide_await_signal(ctx, "go", NULL, &a));
    ABIDE_TRY(abide_await_signal(ctx, "go", NULL, &b));
    return abide_complete(ctx, abide_printf(ctx, "[%s,%s]", a, b));
}

static void signals_are_kept_and_taken_in_order(void **state) { // P6
    Fixture *fixture = *state;
    add_workflow(fixture, "listener", two_signals, NULL);
    start(fixture, "listener", "r", NULL);
    assert_int_equal(abide_signal(fixture->engine, "r", "go", "1", NULL, NULL), ABIDE_OK);
    assert_int_equal(abide_signal(fixture->engine, "r", "go", "2", NULL, NULL), ABIDE_OK);
    put_to_work(fixture); // both came before the run ever executed
    expect_result(fixture, "r", ABIDE_OK, "[1,2]");
}

static int race(abide_ctx *ctx, const char *input) {
    (void)input;
    abide_any items[] = {{.kind = ABIDE_ANY_SIGNAL, .name = "a"},
                         {.kind = ABIDE_ANY_SIGNAL, .name = "b"},
                         {.kind = ABIDE_ANY_TIMER, .delay = "1h"}};
    int index;
    const char *first, *second;
    ABIDE_TRY(abide_await_any(ctx, items, 3, &index, &first));
    ABIDE_TRY(abide_await_signal(ctx, "a", NULL, &second));
    return abide_complete(ctx, abide_printf(ctx, "[%d,%s,%s]", index, first, second));
}

static void a_lost_race_swallows_nothing(void **state) {
    Fixture *fixture = *state;
    add_workflow(fixture, "race", race, NULL);
    put_to_work(fixture);
    start(fixture, "race", "r", NULL);
    wait_parked(fixture, "r", "signal:a, signal:b, timer");
    assert_int_equal(abide_signal(fixture->engine, "r", "b", "\"b\"", NULL, NULL), ABIDE_OK);
    wait_parked(fixture, "r", "signal:a");
    assert_int_equal(abide_signal(fixture->engine, "r", "a", "\"a\"", NULL, NULL), ABIDE_OK);
    expect_result(fixture, "r", ABIDE_OK, "[1,\"b\",\"a\"]");
}

static int sleeps(abide_ctx *ctx, const char *input) {
    (void)input;
    int64_t before, after;
    ABIDE_TRY(abide_now(ctx, &before));
    ABIDE_TRY(abide_sleep(ctx, "30ms"));
    ABIDE_TRY(abide_now(ctx, &after));
    return abide_complete(ctx, after - before >= 30 ? "true" : "false");
}

static void a_timer_never_fires_early(void **state) { // P5
    Fixture *fixture = *state;
    add_workflow(fixture, "sleeps", sleeps, NULL);
    put_to_work(fixture);
    start(fixture, "sleeps", "r", NULL);
    expect_result(fixture, "r", ABIDE_OK, "true");
}

// ---- children and tasks ----

static int child(abide_ctx *ctx, const char *input) {
    if (strcmp(input, "0") == 0) return abide_fail_with(ctx, "Zero", "zero is bad");
    return abide_complete(ctx, input);
}

static int parent(abide_ctx *ctx, const char *input) {
    const char *result;
    int rc = abide_child(ctx, "child", input, &result);
    if (rc == ABIDE_FAILED) return abide_complete(ctx, abide_error_json(ctx));
    if (rc != ABIDE_OK) return rc;
    return abide_complete(ctx, result);
}

static void a_parent_gets_its_childs_result(void **state) {
    Fixture *fixture = *state;
    add_workflow(fixture, "child", child, NULL);
    add_workflow(fixture, "parent", parent, NULL);
    put_to_work(fixture);
    start(fixture, "parent", "r", "5");
    expect_result(fixture, "r", ABIDE_OK, "5");
}

static void a_childs_failure_is_a_typed_error(void **state) {
    Fixture *fixture = *state;
    add_workflow(fixture, "child", child, NULL);
    add_workflow(fixture, "parent", parent, NULL);
    put_to_work(fixture);
    start(fixture, "parent", "r", "0");
    expect_result(fixture, "r", ABIDE_OK,
                  "{\"type\":\"ChildWorkflowError\",\"message\":\"the child run failed\","
                  "\"cause\":{\"type\":\"Zero\",\"message\":\"zero is bad\"}}");
}

static int forget_child(abide_ctx *ctx, const char *input) {
    (void)input;
    abide_handle handle;
    ABIDE_TRY(abide_child_start(ctx, "waiter", NULL,
                                &(abide_start_options){.id = "kid", .close_policy = 1}, &handle));
    return abide_complete(ctx, NULL);
}

static void a_close_policy_cancels_the_child_when_the_parent_ends(void **state) {
    Fixture *fixture = *state;
    add_workflow(fixture, "waiter", wait_event_forever, NULL);
    add_workflow(fixture, "forget", forget_child, NULL);
    put_to_work(fixture);
    start(fixture, "forget", "r", NULL);
    expect_result(fixture, "r", ABIDE_OK, NULL);
    abide_error error;
    char *json;
    assert_int_equal(abide_result(fixture->engine, "kid", "120s", &json, &error), ABIDE_CANCELLED);
    abide_free(json);
}

static int double_it(abide_call *call, const char *input) {
    return abide_return(call, abide_call_printf(call, "%ld", 2 * strtol(input, NULL, 10)));
}

static int use_task(abide_ctx *ctx, const char *input) {
    abide_handle task;
    const char *result;
    ABIDE_TRY(abide_task_start(ctx, "double", input, NULL, &task));
    ABIDE_TRY(abide_task_await(ctx, task, NULL, &result));
    return abide_complete(ctx, result);
}

static void a_task_runs_on_a_worker_and_wakes_its_run(void **state) {
    Fixture *fixture = *state;
    add_workflow(fixture, "use", use_task, NULL);
    assert_int_equal(abide_register_task(fixture->engine, "double", double_it, NULL, NULL),
                     ABIDE_OK);
    put_to_work(fixture);
    start(fixture, "use", "r", "21");
    expect_result(fixture, "r", ABIDE_OK, "42");
}

static int count_down(abide_ctx *ctx, const char *input) {
    long left = strtol(input, NULL, 10);
    ABIDE_TRY(abide_step(ctx, "tick", count_body, "1", NULL));
    if (left > 0) return abide_continue_as(ctx, abide_printf(ctx, "%ld", left - 1));
    return abide_complete(ctx, abide_printf(ctx, "%d", abide_incarnation(ctx)));
}

static void continue_as_begins_again_with_fresh_state(void **state) {
    Fixture *fixture = *state;
    add_workflow(fixture, "down", count_down, NULL);
    put_to_work(fixture);
    start(fixture, "down", "r", "5");
    expect_result(fixture, "r", ABIDE_OK, "5");
    assert_int_equal(atomic_load(&body_count), 6);
}

// ---- changing runs ----

static int cleans_up(abide_ctx *ctx, const char *input) {
    (void)input;
    int rc = abide_await_signal(ctx, "never", NULL, NULL);
    if (rc != ABIDE_CANCELLED) return rc;
    ABIDE_TRY(abide_step(ctx, "cleanup", count_body, "1", NULL));
    return ABIDE_CANCELLED;
}

static void cancel_lets_a_run_clean_up(void **state) { // P8
    Fixture *fixture = *state;
    add_workflow(fixture, "clean", cleans_up, NULL);
    put_to_work(fixture);
    start(fixture, "clean", "r", NULL);
    wait_parked(fixture, "r", "signal:never");
    int changed = 0;
    assert_int_equal(abide_cancel(fixture->engine, "r", "enough", &changed, NULL), ABIDE_OK);
    assert_int_equal(changed, 1);
    expect_result(fixture, "r", ABIDE_CANCELLED,
                  "{\"type\":\"CancelledError\",\"message\":\"the run was cancelled\"}");
    assert_int_equal(atomic_load(&body_count), 1);
    assert_int_equal(abide_cancel(fixture->engine, "r", NULL, &changed, NULL), ABIDE_OK);
    assert_int_equal(changed, 0);
    assert_int_equal(state_of(fixture, "r"), ABIDE_RUN_CANCELLED);
}

static void pause_holds_and_resume_goes_on(void **state) {
    Fixture *fixture = *state;
    add_workflow(fixture, "listener", two_signals, NULL);
    put_to_work(fixture);
    start(fixture, "listener", "r", NULL);
    wait_parked(fixture, "r", "signal:go");
    int changed;
    assert_int_equal(abide_pause(fixture->engine, "r", &changed, NULL), ABIDE_OK);
    assert_int_equal(changed, 1);
    assert_int_equal(abide_signal(fixture->engine, "r", "go", "1", NULL, NULL), ABIDE_OK);
    assert_int_equal(abide_signal(fixture->engine, "r", "go", "2", NULL, NULL), ABIDE_OK);
    assert_int_equal(state_of(fixture, "r"), ABIDE_RUN_PAUSED);
    assert_int_equal(abide_resume(fixture->engine, "r", &changed, NULL), ABIDE_OK);
    expect_result(fixture, "r", ABIDE_OK, "[1,2]");
}

static void fork_copies_the_checkpoints_before_a_step(void **state) {
    Fixture *fixture = *state;
    add_workflow(fixture, "three", three_steps, NULL);
    put_to_work(fixture);
    start(fixture, "three", "old", "0");
    expect_result(fixture, "old", ABIDE_OK, "[0,1,2,3]");
    assert_int_equal(abide_fork(fixture->engine, "old", "zebra", -1, "new", NULL, NULL), ABIDE_OK);
    expect_result(fixture, "new", ABIDE_OK, "[0,1,2,3]");
    assert_int_equal(atomic_load(&body_count), 4); // only the last step ran again
    expect_result(fixture, "old", ABIDE_OK, "[0,1,2,3]");
    abide_error error;
    assert_int_equal(abide_rewind(fixture->engine, "old", "work", 0, &error), ABIDE_TERMINAL);
}

static int changes_its_mind(abide_ctx *ctx, const char *input) {
    (void)input;
    const char *name = atomic_load(&body_count) == 0 ? "one" : "other";
    ABIDE_TRY(abide_step(ctx, name, count_body, "1", NULL));
    return abide_complete(ctx, NULL);
}

static void a_workflow_that_changed_is_paused_and_not_guessed(void **state) {
    Fixture *fixture = *state;
    add_workflow(fixture, "mind", changes_its_mind, NULL);
    put_to_work(fixture);
    start(fixture, "mind", "r", NULL);
    WAIT_UNTIL(state_of(fixture, "r") == ABIDE_RUN_PAUSED);
    assert_int_equal(atomic_load(&body_count), 1);
}

// ---- starting ----

static void the_same_id_or_key_starts_one_run(void **state) {
    Fixture *fixture = *state;
    add_workflow(fixture, "three", three_steps, NULL);
    abide_start_options options = {.id = "same"};
    int is_new;
    assert_int_equal(abide_start_once(fixture->engine, "three", "1", &options, NULL, &is_new, NULL),
                     ABIDE_OK);
    assert_int_equal(is_new, 1);
    assert_int_equal(abide_start_once(fixture->engine, "three", "2", &options, NULL, &is_new, NULL),
                     ABIDE_OK);
    assert_int_equal(is_new, 0);
    options = (abide_start_options){.key = "k"};
    char first[ABIDE_RUN_ID_SIZE], second[ABIDE_RUN_ID_SIZE];
    assert_int_equal(abide_start(fixture->engine, "three", "1", &options, first, NULL), ABIDE_OK);
    assert_int_equal(abide_start(fixture->engine, "three", "1", &options, second, NULL), ABIDE_OK);
    assert_string_equal(first, second);
    abide_error error;
    assert_int_equal(abide_start(fixture->engine, "three", "2", &options, second, &error),
                     ABIDE_CONFLICT);
    assert_string_equal(error.name, "DUPLICATE_KEY");
}

static void a_delayed_start_is_pending_until_it_is_due(void **state) {
    Fixture *fixture = *state;
    add_workflow(fixture, "three", three_steps, NULL);
    put_to_work(fixture);
    abide_start_options options = {.id = "later", .delay = "50ms"};
    assert_int_equal(abide_start(fixture->engine, "three", "0", &options, NULL, NULL), ABIDE_OK);
    assert_int_equal(state_of(fixture, "later"), ABIDE_RUN_PENDING);
    expect_result(fixture, "later", ABIDE_OK, "[0,1,2,3]");
}

static void an_overall_timeout_ends_a_waiting_run(void **state) {
    Fixture *fixture = *state;
    add_workflow(fixture, "waiter", wait_event_forever, NULL);
    put_to_work(fixture);
    abide_start_options options = {.id = "r", .timeout = "20ms"};
    assert_int_equal(abide_start(fixture->engine, "waiter", NULL, &options, NULL, NULL), ABIDE_OK);
    expect_result(fixture, "r", ABIDE_FAILED,
                  "{\"type\":\"TimeoutError\",\"message\":\"the run exceeded its overall "
                  "time-out\"}");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, reset_and_setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(steps_run_once_each_and_keep_their_results),
        TEST(a_null_result_is_a_checkpoint_like_any_other),
        TEST(a_failed_attempt_is_retried_by_policy),
        TEST(exhausted_retries_fail_the_run_with_the_error),
        TEST(a_non_retryable_error_ends_it_at_once),
        TEST(rewind_drops_by_position_past_ten_iterations),
        TEST(an_event_wakes_the_oldest_waiter_only),
        TEST(an_event_before_the_wait_is_not_lost),
        TEST(a_deadline_gives_a_timeout_and_the_run_goes_on),
        TEST(broadcast_reaches_every_waiter),
        TEST(an_event_id_is_taken_once),
        TEST(signals_are_kept_and_taken_in_order),
        TEST(a_lost_race_swallows_nothing),
        TEST(a_timer_never_fires_early),
        TEST(a_parent_gets_its_childs_result),
        TEST(a_childs_failure_is_a_typed_error),
        TEST(a_close_policy_cancels_the_child_when_the_parent_ends),
        TEST(a_task_runs_on_a_worker_and_wakes_its_run),
        TEST(continue_as_begins_again_with_fresh_state),
        TEST(cancel_lets_a_run_clean_up),
        TEST(pause_holds_and_resume_goes_on),
        TEST(fork_copies_the_checkpoints_before_a_step),
        TEST(a_workflow_that_changed_is_paused_and_not_guessed),
        TEST(the_same_id_or_key_starts_one_run),
        TEST(a_delayed_start_is_pending_until_it_is_due),
        TEST(an_overall_timeout_ends_a_waiting_run),
    };
    return cmocka_run_group_tests_name("api_workflows", tests, NULL, NULL);
}

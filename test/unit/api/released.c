// What a program is told about runs that nothing of is in memory: that they go on, and how they
// ended. Every case runs with a C function and with a script; the clock is virtual.
#include "unit/api/api.h"
#include <stdatomic.h>

static const int64_t begin_ms = 1800000000000;
enum { MINUTE_MS = 60000 };

typedef struct Told {
    atomic_int counts[ABIDE_EVENT_IDLE + 1];
    char detail[256]; // of the last end
} Told;

static Told told;

static void hear(void *user, const abide_event *event) {
    Told *to = user;
    bool is_end = event->kind >= ABIDE_EVENT_COMPLETED && event->kind <= ABIDE_EVENT_CANCELLED;
    if (is_end)
        snprintf(to->detail, sizeof to->detail, "%s", event->detail != NULL ? event->detail : "");
    atomic_fetch_add(&to->counts[event->kind], 1);
}

static int count_of(int kind) { return atomic_load(&told.counts[kind]); }

// ---- a workflow that waits for "go", and returns something when it is cancelled ----

static int wait_once(abide_ctx *ctx, const char *input) {
    (void)input;
    const char *payload;
    int code = abide_await_signal(ctx, "go", NULL, &payload);
    if (code == ABIDE_CANCELLED) return abide_complete(ctx, "\"cleaned\"");
    return code == ABIDE_OK ? abide_complete(ctx, payload) : code;
}

static const char wait_once_source[] =
    "try { return await Signal.next('go') }\n"
    "catch (e) { if (e.name !== 'CancelledError') throw e\n  return 'cleaned' }";

static const char *const kinds[] = {"native", "script"};

static int setup_told(void **state) {
    int code = setup(state);
    if (code != 0) return code;
    Fixture *fixture = *state;
    memset(&told, 0, sizeof told);
    fixture->options.virtual_time_ms = begin_ms;
    fixture->options.on_event = hear;
    fixture->options.user = &told;
    abide_close(fixture->engine);
    fixture_open(fixture);
    add_workflow(fixture, "native", wait_once, NULL);
    put_to_work(fixture);
    abide_error error;
    code = abide_deploy(fixture->engine, "script.flow", wait_once_source, NULL, NULL, &error);
    if (code != ABIDE_OK) fail_msg("deploy: %s", error.message);
    return 0;
}

static void settle(Fixture *fixture) {
    assert_int_equal(abide_settle(fixture->engine, NULL, NULL), ABIDE_OK);
}

static abide_run_info look(Fixture *fixture, const char *id) {
    abide_run_info info;
    assert_int_equal(abide_status(fixture->engine, id, &info, NULL), ABIDE_OK);
    return info;
}

static void start_released(Fixture *fixture, const char *workflow, const char *timeout) {
    abide_start_options options = {.id = workflow, .timeout = timeout};
    assert_int_equal(abide_start(fixture->engine, workflow, NULL, &options, NULL, NULL), ABIDE_OK);
    settle(fixture);
    assert_int_equal(abide_release(fixture->engine, workflow, NULL, NULL), ABIDE_OK);
    assert_true(look(fixture, workflow).is_released);
}

static void waking_a_released_run_is_told_as_resuming(void **state) {
    Fixture *fixture = *state;
    for (int k = 0; k < 2; k++) {
        start_released(fixture, kinds[k], NULL);
        assert_int_equal(count_of(ABIDE_EVENT_RESUMED), k);
        assert_int_equal(abide_signal(fixture->engine, kinds[k], "go", "1", NULL, NULL), ABIDE_OK);
        settle(fixture);
        assert_int_equal(count_of(ABIDE_EVENT_RESUMED), k + 1);
        assert_int_equal(count_of(ABIDE_EVENT_RELOADED), k + 1);
        assert_int_equal(count_of(ABIDE_EVENT_COMPLETED), k + 1);
    }
}

static void a_deadline_that_ends_a_released_run_is_told(void **state) {
    Fixture *fixture = *state;
    for (int k = 0; k < 2; k++) start_released(fixture, kinds[k], "10m");
    assert_int_equal(abide_clock_set(fixture->engine, begin_ms + 10 * MINUTE_MS, NULL), ABIDE_OK);
    settle(fixture);
    assert_int_equal(count_of(ABIDE_EVENT_FAILED), 2);
    assert_non_null(strstr(told.detail, "TimeoutError"));
}

// Also when it ends in the middle of its turn, by somebody else's hand.
static void cancelling_runs_is_told_once_each(void **state) {
    Fixture *fixture = *state;
    for (int k = 0; k < 2; k++) {
        start_released(fixture, kinds[k], NULL);
        assert_int_equal(abide_cancel(fixture->engine, kinds[k], NULL, NULL, NULL), ABIDE_OK);
        settle(fixture);
        assert_int_equal(count_of(ABIDE_EVENT_CANCELLED), k + 1);
        assert_non_null(strstr(told.detail, "CancelledError"));
    }
    assert_int_equal(count_of(ABIDE_EVENT_COMPLETED), 0);
}

static void what_a_cleanup_returns_is_not_the_error_of_a_cancelled_run(void **state) {
    Fixture *fixture = *state;
    for (int k = 0; k < 2; k++) {
        start(fixture, kinds[k], kinds[k], NULL);
        settle(fixture);
        assert_int_equal(abide_cancel(fixture->engine, kinds[k], NULL, NULL, NULL), ABIDE_OK);
        settle(fixture);
        expect_result(fixture, kinds[k], ABIDE_CANCELLED,
                      "{\"type\":\"CancelledError\",\"message\":\"the run was cancelled\"}");
    }
}

// ---- why a run is paused, and bringing one back by hand ----

static int visit_paused(void *user, const abide_run_info *run) {
    snprintf(user, sizeof run->pause_reason, "%s", run->pause_reason);
    return 0;
}

static void a_paused_run_says_why(void **state) {
    Fixture *fixture = *state;
    for (int k = 0; k < 2; k++) {
        start(fixture, kinds[k], kinds[k], NULL);
        settle(fixture);
        assert_string_equal(look(fixture, kinds[k]).pause_reason, "");
        assert_int_equal(abide_pause(fixture->engine, kinds[k], NULL, NULL), ABIDE_OK);
        const char *reason = "PauseRequested: somebody asked for it";
        assert_string_equal(look(fixture, kinds[k]).pause_reason, reason);
        char listed[512] = "";
        abide_list_options options = {.workflow = kinds[k]};
        assert_int_equal(abide_list(fixture->engine, &options, visit_paused, listed, NULL, NULL),
                         ABIDE_OK);
        assert_string_equal(listed, reason);
        assert_int_equal(abide_resume(fixture->engine, kinds[k], NULL, NULL), ABIDE_OK);
        assert_string_equal(look(fixture, kinds[k]).pause_reason, "");
    }
}

static int other_step(abide_ctx *ctx, const char *input) {
    (void)input;
    const char *payload;
    ABIDE_TRY(abide_await_signal(ctx, "other", NULL, &payload));
    return abide_complete(ctx, payload);
}

static void a_changed_function_pauses_its_run_with_the_reason(void **state) {
    Fixture *fixture = *state;
    if (strcmp(fixture->url, "memory:") == 0) return; // nothing is left to be changed
    start_released(fixture, "native", NULL);
    abide_close(fixture->engine);
    fixture_open(fixture);
    add_workflow(fixture, "native", other_step, NULL);
    put_to_work(fixture);
    assert_int_equal(abide_signal(fixture->engine, "native", "go", "1", NULL, NULL), ABIDE_OK);
    settle(fixture);
    abide_run_info info = look(fixture, "native");
    assert_int_equal(info.state, ABIDE_RUN_PAUSED);
    assert_ptr_equal(strstr(info.pause_reason, "WorkflowChanged: "), info.pause_reason);
}

static int load(Fixture *fixture, const char *id, int *changed, char name[64]) {
    abide_error error = {0};
    int code = abide_load(fixture->engine, id, changed, &error);
    snprintf(name, 64, "%s", error.name);
    return code;
}

static void loading_brings_a_released_run_back(void **state) {
    Fixture *fixture = *state;
    char name[64];
    int changed = 0;
    for (int k = 0; k < 2; k++) {
        start_released(fixture, kinds[k], NULL);
        assert_int_equal(load(fixture, kinds[k], &changed, name), ABIDE_OK);
        assert_int_equal(changed, 1);
        assert_false(look(fixture, kinds[k]).is_released);
        assert_int_equal(count_of(ABIDE_EVENT_RELOADED), k + 1);
        assert_int_equal(load(fixture, kinds[k], &changed, name), ABIDE_OK);
        assert_int_equal(changed, 0);
        assert_int_equal(abide_pause(fixture->engine, kinds[k], NULL, NULL), ABIDE_OK);
        assert_int_equal(load(fixture, kinds[k], &changed, name), ABIDE_CONFLICT);
        assert_string_equal(name, "RUN_NOT_IDLE");
        assert_int_equal(abide_resume(fixture->engine, kinds[k], NULL, NULL), ABIDE_OK);
        assert_int_equal(abide_signal(fixture->engine, kinds[k], "go", "1", NULL, NULL), ABIDE_OK);
        settle(fixture);
        expect_result(fixture, kinds[k], ABIDE_OK, "1");
        assert_int_equal(load(fixture, kinds[k], &changed, name), ABIDE_TERMINAL);
        assert_string_equal(name, "RUN_TERMINAL");
    }
    assert_int_equal(load(fixture, "nobody", &changed, name), ABIDE_NOT_FOUND);
    assert_string_equal(name, "RUN_NOT_FOUND");
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup_told, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(waking_a_released_run_is_told_as_resuming),
        CASE(a_deadline_that_ends_a_released_run_is_told),
        CASE(cancelling_runs_is_told_once_each),
        CASE(what_a_cleanup_returns_is_not_the_error_of_a_cancelled_run),
        CASE(a_paused_run_says_why),
        CASE(a_changed_function_pauses_its_run_with_the_reason),
        CASE(loading_brings_a_released_run_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

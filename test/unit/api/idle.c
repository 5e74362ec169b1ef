// Idle runs through the C library: when they are idle, when they leave memory, how they come back.
// Every case runs with a C function and with a script; the clock is virtual, so nothing waits.
#include "base/array.h"
#include "unit/api/api.h"

static const int64_t begin_ms = 1800000000000;
enum { SECOND_MS = 1000, MINUTE_MS = 60000 };

// ---- the same workflow twice: takes three signals "go", each within an hour ----

static int take_three(abide_ctx *ctx, const char *input) {
    (void)input;
    char text[128] = "";
    for (int i = 0; i < 3; i++) {
        const char *payload;
        int code = abide_await_signal(ctx, "go", &(abide_wait){.timeout = "1h"}, &payload);
        if (code == ABIDE_TIMEOUT) payload = "null";
        else if (code != ABIDE_OK) return code;
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i > 0 ? "," : "[",
                 payload);
    }
    return abide_complete(ctx, abide_printf(ctx, "%s]", text));
}

static const char take_three_source[] =
    "const seen = []\n"
    "for (let i = 0; i < 3; i++) "
    "  seen.push(await Signal.when('go', { timeout: '1h' }).catch(e => {\n"
    "    if (e.name !== 'TimeoutError') throw e\n    return null\n  }))\n"
    "return seen";

static const char *const kinds[] = {"native", "script"};

static void deploy_as(Fixture *fixture, const char *file, const char *source) {
    abide_error error;
    int code = abide_deploy(fixture->engine, file, source, NULL, NULL, &error);
    if (code != ABIDE_OK) fail_msg("deploy: %s: %s", error.name, error.message);
}

static void open_again(Fixture *fixture) {
    abide_close(fixture->engine);
    fixture_open(fixture);
    add_workflow(fixture, "native", take_three, NULL);
    put_to_work(fixture);
    deploy_as(fixture, "script.flow", take_three_source);
}

static int setup_idle(void **state) {
    int code = setup(state);
    if (code != 0) return code;
    Fixture *fixture = *state;
    fixture->options.virtual_time_ms = begin_ms;
    fixture->options.idle_timeouts = "slow=1h, never=off";
    open_again(fixture);
    return 0;
}

static void settle(Fixture *fixture) {
    assert_int_equal(abide_settle(fixture->engine, NULL, NULL), ABIDE_OK);
}

static void at(Fixture *fixture, int64_t after_ms) {
    assert_int_equal(abide_clock_set(fixture->engine, begin_ms + after_ms, NULL), ABIDE_OK);
    settle(fixture);
}

static void send(Fixture *fixture, const char *id, const char *name, const char *payload) {
    abide_error error;
    int code = abide_signal(fixture->engine, id, name, payload, NULL, &error);
    if (code != ABIDE_OK) fail_msg("signal: %s", error.message);
}

static abide_run_info look(Fixture *fixture, const char *id) {
    abide_run_info info;
    assert_int_equal(abide_status(fixture->engine, id, &info, NULL), ABIDE_OK);
    return info;
}

static abide_stats stats_of(Fixture *fixture) {
    abide_stats stats;
    assert_int_equal(abide_get_stats(fixture->engine, &stats, NULL), ABIDE_OK);
    return stats;
}

typedef struct Counting {
    const char *kind;
    int count;
} Counting;

static int count_entry(void *user, const abide_log_entry *entry) {
    Counting *counting = user;
    if (strcmp(entry->kind, counting->kind) == 0) counting->count++;
    return 0;
}

static int entries(Fixture *fixture, const char *id, const char *kind) {
    Counting counting = {kind, 0};
    assert_int_equal(abide_history(fixture->engine, id, 0, 1000, count_entry, &counting, NULL),
                     ABIDE_OK);
    return counting.count;
}

static void start_settled(Fixture *fixture, const char *workflow, const char *id) {
    start(fixture, workflow, id, NULL);
    settle(fixture);
}

static int release(Fixture *fixture, const char *id, int *changed, char name[64]) {
    abide_error error = {0};
    int code = abide_release(fixture->engine, id, changed, &error);
    if (name != NULL) snprintf(name, 64, "%s", error.name);
    return code;
}

static void release_now(Fixture *fixture, const char *id) {
    int changed = 0;
    assert_int_equal(release(fixture, id, &changed, NULL), ABIDE_OK);
    assert_int_equal(changed, 1);
    assert_true(look(fixture, id).is_released);
}

// ---- what is idle (the first document's edge cases) ----

static void multiple_waiters_are_idle_only_when_all_work_is_complete(void **state) {
    Fixture *fixture = *state;
    deploy_as(fixture, "several.flow",
              "const all = [Signal.next('a'), Event.wait('t'), Timer.delay('1h')]\n"
              "all.push(Task.run('nobody', 1))\nconst first = await Promise.race(all)\n"
              "return [first, await Promise.race(all.slice(0, 2))]");
    start_settled(fixture, "several", "busy");
    assert_int_equal(look(fixture, "busy").idle_since_ms, 0); // its task is queued
    deploy_as(fixture, "waiters.flow",
              "return await Promise.race([Signal.next('a'), Signal.next('b'), Event.wait('t')])");
    start_settled(fixture, "waiters", "idle");
    assert_int_equal(look(fixture, "idle").idle_since_ms, begin_ms);
    assert_int_equal(entries(fixture, "idle", "idle"), 1);
    assert_int_equal(entries(fixture, "busy", "idle"), 0);
}

static void queued_work_is_not_idle_even_with_waiters(void **state) {
    Fixture *fixture = *state;
    deploy_as(fixture, "queued.flow", "Task.run('nobody', 1)\nreturn await Signal.next('go')");
    start_settled(fixture, "queued", "r");
    assert_int_equal(look(fixture, "r").idle_since_ms, 0);
    at(fixture, 10 * MINUTE_MS);
    assert_false(look(fixture, "r").is_released);
    char name[64];
    assert_int_equal(release(fixture, "r", NULL, name), ABIDE_CONFLICT);
    assert_string_equal(name, "RUN_NOT_IDLE");
}

static int fails_once(abide_call *call, const char *input) {
    (void)input;
    if (abide_call_attempt(call) == 1) return abide_throw(call, "Flaky", "again");
    return abide_return(call, "1");
}

static int retrying(abide_ctx *ctx, const char *input) {
    (void)input;
    abide_step_options step = {.retry = {.attempts = 3, .delay = "30m"}};
    ABIDE_TRY(abide_step_with(ctx, "flaky", fails_once, NULL, &step, NULL));
    return abide_complete(ctx, "1");
}

static void retry_backoff_is_not_idle_and_not_released(void **state) {
    Fixture *fixture = *state;
    add_workflow(fixture, "retrying", retrying, NULL);
    start_settled(fixture, "retrying", "r");
    at(fixture, 10 * MINUTE_MS);
    abide_run_info info = look(fixture, "r");
    assert_int_equal(info.idle_since_ms, 0);
    assert_false(info.is_released);
    assert_int_equal(release(fixture, "r", NULL, NULL), ABIDE_CONFLICT);
    at(fixture, 30 * MINUTE_MS);
    expect_result(fixture, "r", ABIDE_OK, "1");
}

static void rapid_transitions_are_each_logged(void **state) {
    Fixture *fixture = *state;
    for (int k = 0; k < 2; k++) {
        start_settled(fixture, kinds[k], kinds[k]);
        assert_int_equal(look(fixture, kinds[k]).idle_since_ms, begin_ms);
        send(fixture, kinds[k], "go", "1");
        settle(fixture);
        assert_int_equal(entries(fixture, kinds[k], "idle"), 2);
        // Two that come together find the run awake: it is idle once more, or not at all.
        send(fixture, kinds[k], "go", "2");
        send(fixture, kinds[k], "go", "3");
        settle(fixture);
        int idle_count = entries(fixture, kinds[k], "idle");
        assert_true(idle_count == 2 || idle_count == 3);
        expect_result(fixture, kinds[k], ABIDE_OK, "[1,2,3]");
    }
}

// ---- leaving memory and coming back (the second document's) ----

static void unhandled_event_leaves_the_run_idle_and_released(void **state) {
    Fixture *fixture = *state;
    for (int k = 0; k < 2; k++) {
        start_settled(fixture, kinds[k], kinds[k]);
        release_now(fixture, kinds[k]);
        int64_t turns = stats_of(fixture).turns;
        send(fixture, kinds[k], "nobody wants this", "1");
        settle(fixture);
        abide_run_info info = look(fixture, kinds[k]);
        assert_true(info.is_released);
        assert_int_equal(info.idle_since_ms, begin_ms);
        assert_int_equal(stats_of(fixture).turns, turns);
        assert_int_equal(entries(fixture, kinds[k], "idle"), 1);
    }
}

static void event_during_unload_is_delivered_once(void **state) {
    Fixture *fixture = *state;
    for (int k = 0; k < 2; k++) {
        start_settled(fixture, kinds[k], kinds[k]);
        for (int i = 0; i < 3; i++) { // the two may share a batch, in either order
            (void)release(fixture, kinds[k], NULL, NULL);
            send(fixture, kinds[k], "go", i == 0 ? "1" : i == 1 ? "2" : "3");
            (void)release(fixture, kinds[k], NULL, NULL);
        }
        expect_result(fixture, kinds[k], ABIDE_OK, "[1,2,3]");
    }
}

static void several_events_for_a_released_run_reload_it_once_and_keep_their_order(void **state) {
    Fixture *fixture = *state;
    for (int k = 0; k < 2; k++) {
        start_settled(fixture, kinds[k], kinds[k]);
        release_now(fixture, kinds[k]);
        int64_t reloads = stats_of(fixture).reloads;
        send(fixture, kinds[k], "go", "1");
        send(fixture, kinds[k], "go", "2");
        send(fixture, kinds[k], "go", "3");
        expect_result(fixture, kinds[k], ABIDE_OK, "[1,2,3]");
        assert_int_equal(stats_of(fixture).reloads, reloads + 1);
        assert_int_equal(entries(fixture, kinds[k], "reloaded"), 1);
    }
}

static void idle_and_immediately_active_again_is_not_released(void **state) {
    Fixture *fixture = *state;
    for (int k = 0; k < 2; k++) start_settled(fixture, kinds[k], kinds[k]);
    at(fixture, 59 * SECOND_MS);
    for (int k = 0; k < 2; k++) send(fixture, kinds[k], "go", "1");
    settle(fixture);
    at(fixture, 61 * SECOND_MS); // past the time of the first wait, not of the second
    for (int k = 0; k < 2; k++) {
        abide_run_info info = look(fixture, kinds[k]);
        assert_false(info.is_released);
        assert_int_equal(info.idle_since_ms, begin_ms + 59 * SECOND_MS);
        assert_int_equal(entries(fixture, kinds[k], "released"), 0);
    }
}

static void idle_runs_are_released_at_their_time(void **state) {
    Fixture *fixture = *state;
    for (int k = 0; k < 2; k++) start_settled(fixture, kinds[k], kinds[k]);
    at(fixture, 60 * SECOND_MS - 1);
    assert_int_equal(stats_of(fixture).releases, 0);
    at(fixture, 60 * SECOND_MS);
    assert_int_equal(stats_of(fixture).releases, 2);
    assert_int_equal(stats_of(fixture).resident_runs, 0);
    assert_int_equal(stats_of(fixture).resident_bytes, 0);
    for (int k = 0; k < 2; k++) {
        abide_run_info info = look(fixture, kinds[k]);
        assert_true(info.is_released);
        assert_int_equal(info.idle_since_ms, begin_ms); // of the wait, not of the release
        assert_int_equal(entries(fixture, kinds[k], "released"), 1);
    }
    at(fixture, 61 * SECOND_MS);
    send(fixture, "native", "go", "1");
    settle(fixture);
    assert_false(look(fixture, "native").is_released);
    assert_int_equal(look(fixture, "native").idle_since_ms, begin_ms + 61 * SECOND_MS);
    at(fixture, 121 * SECOND_MS);
    assert_true(look(fixture, "native").is_released); // and released again
}

// A task nobody waits for fails at once and is done 40 s later: the run is idle from then on.
static void a_timeout_counts_from_when_the_run_became_idle(void **state) {
    Fixture *fixture = *state;
    int code = abide_register_task(fixture->engine, "late", fails_once, NULL, NULL);
    assert_int_equal(code, ABIDE_OK);
    deploy_as(fixture, "beside.flow",
              "Task.run('late', 1, { retry: { attempts: 2, delay: '40s', jitter: 0 } })\n"
              "return await Signal.next('go')");
    start_settled(fixture, "beside", "r");
    at(fixture, 40 * SECOND_MS);
    assert_int_equal(look(fixture, "r").idle_since_ms, begin_ms + 40 * SECOND_MS);
    for (int second = 60; second < 100; second += 13) {
        at(fixture, second * SECOND_MS);
        assert_false(look(fixture, "r").is_released);
    }
    at(fixture, 100 * SECOND_MS - 1);
    assert_false(look(fixture, "r").is_released);
    at(fixture, 100 * SECOND_MS);
    assert_true(look(fixture, "r").is_released);
    assert_int_equal(entries(fixture, "r", "released"), 1);
}

static void without_a_timeout_idle_runs_stay(void **state) {
    Fixture *fixture = *state;
    fixture->options.idle_release_timeout = "off";
    open_again(fixture);
    for (int k = 0; k < 2; k++) start_settled(fixture, kinds[k], kinds[k]);
    at(fixture, 59 * MINUTE_MS);
    assert_int_equal(stats_of(fixture).releases, 0);
    assert_int_equal(stats_of(fixture).resident_runs, 2);
    release_now(fixture, "script"); // by hand it works all the same
}

static void no_last_checkpoint_is_needed(void **state) {
    Fixture *fixture = *state;
    if (test_backend_is("memory")) return; // it ends with its engine
    for (int k = 0; k < 2; k++) {
        start_settled(fixture, kinds[k], kinds[k]);
        send(fixture, kinds[k], "go", "1");
        settle(fixture);
    }
    release_now(fixture, "native"); // the script is not released: the process just ends
    fixture->options.virtual_time_ms = begin_ms + MINUTE_MS;
    open_again(fixture);
    for (int k = 0; k < 2; k++) {
        abide_run_info info = look(fixture, kinds[k]);
        assert_true(info.is_released); // nothing was loaded
        assert_int_equal(info.idle_since_ms, begin_ms);
        send(fixture, kinds[k], "go", "2");
        send(fixture, kinds[k], "go", "3");
        expect_result(fixture, kinds[k], ABIDE_OK, "[1,2,3]");
    }
}

static void timeouts_fire_for_released_runs(void **state) {
    Fixture *fixture = *state;
    for (int k = 0; k < 2; k++) {
        start_settled(fixture, kinds[k], kinds[k]);
        release_now(fixture, kinds[k]);
    }
    for (int hour = 1; hour <= 3; hour++) at(fixture, hour * 60LL * MINUTE_MS);
    for (int k = 0; k < 2; k++) expect_result(fixture, kinds[k], ABIDE_OK, "[null,null,null]");
}

static void released_runs_are_cancelled_paused_and_resumed(void **state) {
    Fixture *fixture = *state;
    for (int k = 0; k < 2; k++) {
        start_settled(fixture, kinds[k], kinds[k]);
        release_now(fixture, kinds[k]);
        int changed = 0;
        assert_int_equal(abide_pause(fixture->engine, kinds[k], &changed, NULL), ABIDE_OK);
        assert_int_equal(changed, 1);
        send(fixture, kinds[k], "go", "1");
        settle(fixture);
        assert_int_equal(look(fixture, kinds[k]).state, ABIDE_RUN_PAUSED);
        assert_int_equal(release(fixture, kinds[k], NULL, NULL), ABIDE_CONFLICT);
        assert_int_equal(abide_resume(fixture->engine, kinds[k], &changed, NULL), ABIDE_OK);
        settle(fixture);
        release_now(fixture, kinds[k]);
        assert_int_equal(abide_cancel(fixture->engine, kinds[k], "enough", &changed, NULL),
                         ABIDE_OK);
        assert_int_equal(changed, 1);
        settle(fixture);
        assert_int_equal(look(fixture, kinds[k]).state, ABIDE_RUN_CANCELLED);
        char name[64];
        assert_int_equal(release(fixture, kinds[k], NULL, name), ABIDE_TERMINAL);
        assert_string_equal(name, "RUN_TERMINAL");
    }
    assert_int_equal(release(fixture, "nobody", NULL, NULL), ABIDE_NOT_FOUND);
}

static void released_runs_are_rewound(void **state) {
    Fixture *fixture = *state;
    for (int k = 0; k < 2; k++) {
        start_settled(fixture, kinds[k], kinds[k]);
        send(fixture, kinds[k], "go", "1");
        settle(fixture);
        release_now(fixture, kinds[k]);
        abide_error error;
        int code = abide_rewind(fixture->engine, kinds[k], "go", 0, &error);
        if (code != ABIDE_OK) fail_msg("rewind: %s", error.message);
        settle(fixture);
        for (int i = 0; i < 3; i++) send(fixture, kinds[k], "go", "7");
        expect_result(fixture, kinds[k], ABIDE_OK, "[7,7,7]");
    }
}

static void released_runs_are_forked(void **state) {
    Fixture *fixture = *state;
    static const char *const forks[] = {"fork of native", "fork of script"};
    for (int k = 0; k < 2; k++) {
        start_settled(fixture, kinds[k], kinds[k]);
        send(fixture, kinds[k], "go", "1");
        settle(fixture);
        release_now(fixture, kinds[k]);
        abide_error error;
        int code = abide_fork(fixture->engine, kinds[k], NULL, 0, forks[k], NULL, &error);
        if (code != ABIDE_OK) fail_msg("fork: %s", error.message);
        settle(fixture);
        assert_true(look(fixture, kinds[k]).is_released); // the old one is left as it was
        for (int i = 0; i < 3; i++) send(fixture, forks[k], "go", "8");
        expect_result(fixture, forks[k], ABIDE_OK, "[8,8,8]");
        for (int i = 0; i < 2; i++) send(fixture, kinds[k], "go", "2");
        expect_result(fixture, kinds[k], ABIDE_OK, "[1,2,2]");
    }
}

static void overall_deadlines_end_released_runs(void **state) {
    Fixture *fixture = *state;
    for (int k = 0; k < 2; k++) {
        abide_start_options options = {.id = kinds[k], .timeout = "10m"};
        assert_int_equal(abide_start(fixture->engine, kinds[k], NULL, &options, NULL, NULL),
                         ABIDE_OK);
        settle(fixture);
        release_now(fixture, kinds[k]);
    }
    at(fixture, 10 * MINUTE_MS - 1);
    for (int k = 0; k < 2; k++) assert_true(look(fixture, kinds[k]).is_released);
    at(fixture, 10 * MINUTE_MS);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(look(fixture, kinds[k]).state, ABIDE_RUN_FAILED);
        assert_false(look(fixture, kinds[k]).is_released);
        assert_int_equal(stats_of(fixture).reloads, 0); // nothing had to be loaded for it
    }
}

static int parent_native(abide_ctx *ctx, const char *input) {
    abide_handle child;
    const char *result;
    abide_start_options options = {.id = "child of native"};
    ABIDE_TRY(abide_child_start(ctx, "script", input, &options, &child));
    ABIDE_TRY(abide_child_await(ctx, child, NULL, &result));
    return abide_complete(ctx, result);
}

static void a_child_completes_into_a_released_parent(void **state) {
    Fixture *fixture = *state;
    static const char *const parents[] = {"parent_native", "parent"};
    static const char *const children[] = {"child of native", "child of script"};
    add_workflow(fixture, "parent_native", parent_native, NULL);
    deploy_as(fixture, "parent.flow",
              "return await Workflow.run('native', 1, { id: 'child of script' })");
    for (int k = 0; k < 2; k++) {
        start_settled(fixture, parents[k], parents[k]);
        // It waits for a run, not for the world.
        assert_int_equal(look(fixture, parents[k]).idle_since_ms, 0);
        assert_int_equal(look(fixture, children[k]).idle_since_ms, begin_ms);
    }
    at(fixture, 61 * SECOND_MS);
    for (int k = 0; k < 2; k++) {
        assert_true(look(fixture, parents[k]).is_released);
        assert_true(look(fixture, children[k]).is_released);
        for (int i = 0; i < 3; i++) send(fixture, children[k], "go", "1");
        expect_result(fixture, parents[k], ABIDE_OK, "[1,1,1]");
        assert_int_equal(entries(fixture, parents[k], "reloaded"), 1);
    }
}

static int listen_and_sleep(abide_ctx *ctx, const char *input) {
    (void)input;
    const char *news;
    ABIDE_TRY(abide_await_event(ctx, "news", NULL, &news));
    ABIDE_TRY(abide_sleep(ctx, "1h"));
    return abide_complete(ctx, news);
}

static void topic_events_and_timers_wake_released_runs(void **state) {
    Fixture *fixture = *state;
    static const char *const listeners[] = {"listener_native", "listener"};
    add_workflow(fixture, "listener_native", listen_and_sleep, NULL);
    deploy_as(fixture, "listener.flow",
              "const news = await Event.wait('news')\n"
              "await Timer.delay('1h')\nreturn news");
    for (int k = 0; k < 2; k++) {
        start_settled(fixture, listeners[k], listeners[k]);
        release_now(fixture, listeners[k]);
        int64_t resumed = 0;
        assert_int_equal(abide_emit(fixture->engine, "news", "5", NULL, &resumed, NULL), ABIDE_OK);
        assert_int_equal(resumed, 1);
        settle(fixture);
        assert_int_equal(look(fixture, listeners[k]).idle_since_ms, 0); // it sleeps
        release_now(fixture, listeners[k]);
    }
    at(fixture, 60 * MINUTE_MS - 1);
    for (int k = 0; k < 2; k++) assert_true(look(fixture, listeners[k]).is_released);
    at(fixture, 60 * MINUTE_MS);
    for (int k = 0; k < 2; k++) {
        expect_result(fixture, listeners[k], ABIDE_OK, "5");
        assert_int_equal(entries(fixture, listeners[k], "reloaded"), 2);
    }
}

static int tidy_up(abide_ctx *ctx, const char *input) {
    (void)input;
    const char *payload;
    int code = abide_await_signal(ctx, "go", NULL, &payload);
    if (code == ABIDE_CANCELLED) ABIDE_TRY(abide_stream_write(ctx, "cleaned", "true"));
    return code;
}

static void cancelling_a_released_run_lets_it_clean_up(void **state) {
    Fixture *fixture = *state;
    static const char *const names[] = {"tidy_native", "tidy"};
    add_workflow(fixture, "tidy_native", tidy_up, NULL);
    deploy_as(fixture, "tidy.flow",
              "try { await Signal.next('go') }\n"
              "finally { Stream.write(true, 'cleaned') }");
    for (int k = 0; k < 2; k++) {
        start_settled(fixture, names[k], names[k]);
        release_now(fixture, names[k]);
        assert_int_equal(abide_cancel(fixture->engine, names[k], NULL, NULL, NULL), ABIDE_OK);
        settle(fixture);
        assert_int_equal(look(fixture, names[k]).state, ABIDE_RUN_CANCELLED);
        assert_int_equal(entries(fixture, names[k], "stream"), 1);
        assert_int_equal(entries(fixture, names[k], "reloaded"), 1);
    }
}

static int count_call(abide_call *call, const char *input) {
    ++*(int *)abide_call_user_data(call);
    return abide_return(call, input);
}

static int step_then_wait(abide_ctx *ctx, const char *input) {
    const char *kept, *payload;
    ABIDE_TRY(abide_step(ctx, "once", count_call, input, &kept));
    for (int i = 0; i < 3; i++) ABIDE_TRY(abide_await_signal(ctx, "go", NULL, &payload));
    return abide_complete(ctx, kept);
}

// What is released of a C function are its checkpoints; its steps are not done again for that.
static void steps_of_a_reloaded_c_function_are_not_repeated(void **state) {
    Fixture *fixture = *state;
    int calls = 0;
    add_workflow(fixture, "steps", step_then_wait, &calls);
    start(fixture, "steps", "r", "\"kept\"");
    settle(fixture);
    for (int i = 0; i < 3; i++) {
        release_now(fixture, "r");
        send(fixture, "r", "go", "1");
        settle(fixture);
    }
    expect_result(fixture, "r", ABIDE_OK, "\"kept\"");
    assert_int_equal(calls, 1);
    assert_int_equal(stats_of(fixture).reloads, 3);
}

// ---- how long, how many, how much ----

static void each_workflow_may_have_its_own_timeout(void **state) {
    Fixture *fixture = *state;
    deploy_as(fixture, "slow.flow", "return await Signal.next('go')"); // 1h by the options
    deploy_as(fixture, "never.flow",
              "export const config = { idleTimeout: '1s' }\nreturn await Signal.next('go')");
    deploy_as(fixture, "quick.flow",
              "export const config = { idleTimeout: '5s' }\nreturn await Signal.next('go')");
    deploy_as(fixture, "stays.flow",
              "export const config = { idleTimeout: 'off' }\nreturn await Signal.next('go')");
    static const char *const names[] = {"slow", "never", "quick", "stays"};
    for (int i = 0; i < 4; i++) start_settled(fixture, names[i], names[i]);
    at(fixture, 5 * SECOND_MS);
    assert_true(look(fixture, "quick").is_released);
    at(fixture, 60 * MINUTE_MS - 1);
    assert_false(look(fixture, "slow").is_released);
    at(fixture, 60 * MINUTE_MS);
    assert_true(look(fixture, "slow").is_released);
    assert_false(look(fixture, "never").is_released); // who operates the engine has the last word
    assert_false(look(fixture, "stays").is_released);
    abide_error error;
    const char *bad = "export const config = { idleTimeout: 'soon' }\nreturn 1";
    assert_int_equal(abide_deploy(fixture->engine, "bad.flow", bad, NULL, NULL, &error),
                     ABIDE_INVALID);
    assert_string_equal(error.name, "FLOW_CONFIG");
}

static void the_least_recently_used_make_room(void **state) {
    Fixture *fixture = *state;
    fixture->options.max_resident_runs = 3;
    fixture->options.idle_release_timeout = "off";
    open_again(fixture);
    char id[8];
    for (int i = 0; i < 6; i++) {
        snprintf(id, sizeof id, "r%d", i);
        start_settled(fixture, kinds[i % 2], id);
        if (i == 2) {
            send(fixture, "r0", "go", "1"); // so r1 is now the one that was used longest ago
            settle(fixture);
        }
    }
    assert_int_equal(stats_of(fixture).resident_runs, 3);
    assert_int_equal(stats_of(fixture).releases, 3);
    static const bool released[] = {true, true, true, false, false, false};
    for (int i = 0; i < 6; i++) {
        snprintf(id, sizeof id, "r%d", i);
        assert_int_equal(look(fixture, id).is_released, released[i]);
    }
    for (int i = 0; i < 6; i++) { // which brings some back, and may make others leave
        snprintf(id, sizeof id, "r%d", i);
        for (int j = i == 0 ? 1 : 0; j < 3; j++) send(fixture, id, "go", "1");
        expect_result(fixture, id, ABIDE_OK, "[1,1,1]");
    }
}

static void runs_with_work_make_room_without_a_word(void **state) {
    Fixture *fixture = *state;
    fixture->options.max_resident_runs = 2;
    open_again(fixture);
    deploy_as(fixture, "busy.flow",
              "const all = []\nfor (let i = 0; i < 3; i++) all.push(await Task.run('outside', i))\n"
              "return all");
    char id[8];
    for (int i = 0; i < 6; i++) { // nobody does their tasks yet
        snprintf(id, sizeof id, "r%d", i);
        start_settled(fixture, "busy", id);
    }
    assert_int_equal(stats_of(fixture).resident_runs, 2);
    int calls = 0;
    assert_int_equal(abide_register_task(fixture->engine, "outside", count_call, &calls, NULL), 0);
    for (int i = 0; i < 6; i++) {
        snprintf(id, sizeof id, "r%d", i);
        expect_result(fixture, id, ABIDE_OK, "[0,1,2]");
    }
    assert_int_equal(calls, 18);
    assert_int_equal(stats_of(fixture).releases, 0);
    assert_int_equal(stats_of(fixture).reloads, 0);
}

static void memory_has_a_ceiling(void **state) {
    Fixture *fixture = *state;
    fixture->options.max_resident_memory = 2000000;
    open_again(fixture);
    deploy_as(fixture, "large.flow",
              "const kept = 'x'.repeat(100) + Inputs\nconst list = []\n"
              "for (let i = 0; i < 10000; i++) list.push(i)\n"
              "await Signal.next('go')\nreturn kept.length + list.length");
    char id[8];
    for (int i = 0; i < 20; i++) {
        snprintf(id, sizeof id, "r%d", i);
        start(fixture, "large", id, "1");
        settle(fixture);
    }
    abide_stats stats = stats_of(fixture);
    assert_true(stats.resident_bytes <= 2000000);
    assert_true(stats.resident_runs > 0 && stats.resident_runs < 20);
    for (int i = 0; i < 20; i++) {
        snprintf(id, sizeof id, "r%d", i);
        send(fixture, id, "go", "1");
        expect_result(fixture, id, ABIDE_OK, "10101");
    }
}

static int see_old(void *user, const abide_run_info *run) {
    assert_string_equal(run->id, "old"); // the other one is idle since later
    assert_true(run->is_released);
    assert_int_equal(run->idle_since_ms, begin_ms);
    *(int *)user += 1;
    return 0;
}

static void listings_show_and_filter_idleness(void **state) {
    Fixture *fixture = *state;
    start_settled(fixture, "native", "old");
    at(fixture, 10 * SECOND_MS);
    start_settled(fixture, "native", "new");
    release_now(fixture, "old");
    abide_list_options options = {.idle_before_ms = begin_ms + 1};
    int64_t next;
    int count = 0;
    assert_int_equal(abide_list(fixture->engine, &options, see_old, &count, &next, NULL), ABIDE_OK);
    assert_int_equal(count, 1);
}

static void releasing_and_reloading_ten_thousand_times_leaks_nothing(void **state) {
    Fixture *fixture = *state;
    deploy_as(fixture, "loop.flow", "let n = 0\nwhile (await Signal.next('go')) n++\nreturn n");
    start_settled(fixture, "loop", "r");
    int64_t bytes = 0;
    int rounds = test_backend_is("memory") ? 10000 : 1000;
    for (int i = 0; i < rounds; i++) {
        send(fixture, "r", "go", "true");
        settle(fixture);
        if (i == 10) bytes = stats_of(fixture).resident_bytes;
        if (i > 10 && i % 1000 == 0) assert_int_equal(stats_of(fixture).resident_bytes, bytes);
        assert_int_equal(release(fixture, "r", NULL, NULL), ABIDE_OK);
    }
    assert_int_equal(stats_of(fixture).resident_bytes, 0);
    assert_int_equal(stats_of(fixture).releases, rounds);
    assert_int_equal(stats_of(fixture).reloads, rounds - 1);
    send(fixture, "r", "go", "false");
    char expected[16];
    snprintf(expected, sizeof expected, "%d", rounds);
    expect_result(fixture, "r", ABIDE_OK, expected);
}

static void bad_options_are_refused(void **state) {
    Fixture *fixture = *state;
    static const abide_options bad[] = {
        {.idle_release_timeout = "soon"}, {.idle_release_timeout = "0s"},
        {.idle_timeouts = "chat"},        {.idle_timeouts = "chat=never"},
        {.idle_timeouts = "a=1s,,b=2s"},  {.max_resident_memory = -2},
    };
    (void)fixture;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        abide_engine *engine;
        abide_error error;
        assert_int_equal(abide_open("memory:", &bad[i], &engine, &error), ABIDE_INVALID);
        assert_string_equal(error.name, "BAD_OPTION");
    }
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup_idle, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(multiple_waiters_are_idle_only_when_all_work_is_complete),
        CASE(queued_work_is_not_idle_even_with_waiters),
        CASE(retry_backoff_is_not_idle_and_not_released),
        CASE(rapid_transitions_are_each_logged),
        CASE(unhandled_event_leaves_the_run_idle_and_released),
        CASE(event_during_unload_is_delivered_once),
        CASE(several_events_for_a_released_run_reload_it_once_and_keep_their_order),
        CASE(idle_and_immediately_active_again_is_not_released),
        CASE(idle_runs_are_released_at_their_time),
        CASE(a_timeout_counts_from_when_the_run_became_idle),
        CASE(without_a_timeout_idle_runs_stay),
        CASE(no_last_checkpoint_is_needed),
        CASE(timeouts_fire_for_released_runs),
        CASE(released_runs_are_cancelled_paused_and_resumed),
        CASE(released_runs_are_rewound),
        CASE(released_runs_are_forked),
        CASE(overall_deadlines_end_released_runs),
        CASE(topic_events_and_timers_wake_released_runs),
        CASE(cancelling_a_released_run_lets_it_clean_up),
        CASE(steps_of_a_reloaded_c_function_are_not_repeated),
        CASE(a_child_completes_into_a_released_parent),
        CASE(each_workflow_may_have_its_own_timeout),
        CASE(the_least_recently_used_make_room),
        CASE(runs_with_work_make_room_without_a_word),
        CASE(memory_has_a_ceiling),
        CASE(listings_show_and_filter_idleness),
        CASE(releasing_and_reloading_ten_thousand_times_leaks_nothing),
        CASE(bad_options_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

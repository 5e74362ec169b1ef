// Queues through the C library: limits that scripts and C workflows feel, and what is read of them.
// Compiled once per store.
#include "unit/api/api.h"
#include <stdatomic.h>

enum { ROOMS = 8 };

// Tasks that watch how many of them execute at a time, in all and per key.
typedef struct Watch {
    atomic_int inside, most;
    atomic_int per_key[ROOMS], most_per_key;
} Watch;
static Watch watch;

static void enter(atomic_int *inside, atomic_int *most) {
    int now = atomic_fetch_add(inside, 1) + 1;
    for (int seen = atomic_load(most); seen < now;) {
        if (atomic_compare_exchange_weak(most, &seen, now)) break;
    }
}

static int busy(abide_call *call, const char *input) {
    int key = (int)strtol(input, NULL, 10) % ROOMS;
    enter(&watch.inside, &watch.most);
    enter(&watch.per_key[key], &watch.most_per_key);
    usleep(2000); // long enough to be seen by others that should not be there
    atomic_fetch_sub(&watch.per_key[key], 1);
    atomic_fetch_sub(&watch.inside, 1);
    return abide_return(call, input);
}

static int setup_busy(void **state) {
    int code = setup(state);
    if (code != 0) return code;
    Fixture *fixture = *state;
    memset(&watch, 0, sizeof watch);
    return abide_register_task(fixture->engine, "busy", busy, NULL, NULL);
}

static void set_queue(Fixture *fixture, const char *name, abide_queue_limits limits) {
    abide_error error;
    int code = abide_queue_set(fixture->engine, name, &limits, &error);
    if (code != ABIDE_OK) fail_msg("set: %s: %s", error.name, error.message);
}

static abide_queue_info get_queue(Fixture *fixture, const char *name) {
    abide_queue_info info;
    assert_int_equal(abide_queue_get(fixture->engine, name, &info, NULL), ABIDE_OK);
    return info;
}

static const char forty[] =
    "let all = []\n"
    "for (let i = 0; i < 40; i++)\n"
    "  all.push(Task.run('busy', i,\n"
    "    Inputs ? {queue: 'q', concurrencyKey: 'k' + i % 8} : {queue: 'q'}))\n"
    "return (await Task.all(all)).length";

static void no_more_than_max_running_execute_at_a_time(void **state) {
    Fixture *fixture = *state;
    set_queue(fixture, "q", (abide_queue_limits){.max_running = 2});
    put_to_work(fixture);
    deploy(fixture, "main", forty);
    start(fixture, "main", "r", "0");
    expect_result(fixture, "r", ABIDE_OK, "40");
    assert_in_range(atomic_load(&watch.most), 1, 2);
}

static void tasks_of_one_key_never_meet(void **state) {
    Fixture *fixture = *state;
    put_to_work(fixture);
    deploy(fixture, "main", forty);
    start(fixture, "main", "r1", "1");
    start(fixture, "main", "r2", "1");
    expect_result(fixture, "r1", ABIDE_OK, "40");
    expect_result(fixture, "r2", ABIDE_OK, "40");
    assert_int_equal(atomic_load(&watch.most_per_key), 1);
}

static void a_rate_that_is_used_up_goes_on_by_itself(void **state) {
    Fixture *fixture = *state;
    set_queue(fixture, "q", (abide_queue_limits){.rate_count = 15, .rate_period = "50ms"});
    put_to_work(fixture);
    deploy(fixture, "main", forty);
    start(fixture, "main", "r", "0");
    expect_result(fixture, "r", ABIDE_OK, "40"); // three windows; nobody asks in between
}

static int two_of_a_key(abide_ctx *ctx, const char *input) {
    (void)input;
    abide_task_options options = {.queue = "c", .concurrency_key = "k"};
    abide_handle first, second;
    const char *result;
    ABIDE_TRY(abide_task_start(ctx, "busy", "1", &options, &first));
    ABIDE_TRY(abide_task_start(ctx, "busy", "1", &options, &second));
    ABIDE_TRY(abide_task_await(ctx, first, NULL, &result));
    ABIDE_TRY(abide_task_await(ctx, second, NULL, &result));
    return abide_complete(ctx, result);
}

static void c_workflows_have_concurrency_keys_too(void **state) {
    Fixture *fixture = *state;
    add_workflow(fixture, "two", two_of_a_key, NULL);
    put_to_work(fixture);
    start(fixture, "two", "r", NULL);
    expect_result(fixture, "r", ABIDE_OK, "1");
    assert_int_equal(atomic_load(&watch.most_per_key), 1);
}

static int count_queues(void *user, const abide_queue_info *info) {
    assert_string_equal(info->name, "q");
    ++*(int *)user;
    return 0;
}

static void a_paused_queue_is_shown_with_what_waits_in_it(void **state) {
    Fixture *fixture = *state;
    int is_changed = 0;
    assert_int_equal(abide_queue_pause(fixture->engine, "q", &is_changed, NULL), ABIDE_OK);
    assert_int_equal(is_changed, 1);
    put_to_work(fixture);
    deploy(fixture, "main", forty);
    start(fixture, "main", "r", "1");
    abide_queue_info info = get_queue(fixture, "q");
    while (info.queued_count < 40) info = get_queue(fixture, "q");
    assert_int_equal(info.is_paused, 1);
    assert_int_equal(info.blocked_count, 32);
    assert_int_equal(info.running_count, 0);
    assert_int_equal(info.max_per_key, 1);
    assert_true(info.oldest_at_ms > 0);
    int count = 0;
    assert_int_equal(abide_queue_list(fixture->engine, count_queues, &count, NULL), ABIDE_OK);
    assert_int_equal(count, 1);
    assert_int_equal(abide_queue_resume(fixture->engine, "q", NULL, NULL), ABIDE_OK);
    expect_result(fixture, "r", ABIDE_OK, "40");
    assert_int_equal(abide_queue_remove(fixture->engine, "q", &is_changed, NULL), ABIDE_OK);
    assert_int_equal(is_changed, 1);
    assert_int_equal(get_queue(fixture, "q").is_set, 0);
}

static void bad_limits_are_refused_and_change_nothing(void **state) {
    Fixture *fixture = *state;
    abide_error error;
    abide_queue_limits limits = {.max_running = -2};
    assert_int_equal(abide_queue_set(fixture->engine, "q", &limits, &error), ABIDE_INVALID);
    assert_string_equal(error.name, "BAD_QUEUE_LIMIT");
    limits = (abide_queue_limits){.rate_count = 1};
    assert_int_equal(abide_queue_set(fixture->engine, "q", &limits, &error), ABIDE_INVALID);
    assert_string_equal(error.name, "BAD_QUEUE_LIMIT");
    limits = (abide_queue_limits){.rate_count = 1, .rate_period = "soon"};
    assert_int_equal(abide_queue_set(fixture->engine, "q", &limits, &error), ABIDE_INVALID);
    assert_string_equal(error.name, "BAD_DURATION");
    limits = (abide_queue_limits){.max_per_key = ABIDE_UNLIMITED};
    assert_int_equal(abide_queue_set(fixture->engine, "", &limits, &error), ABIDE_INVALID);
    assert_int_equal(get_queue(fixture, "q").is_set, 0);
    assert_int_equal(abide_queue_set(fixture->engine, "q", &limits, &error), ABIDE_OK);
    assert_int_equal(get_queue(fixture, "q").max_per_key, ABIDE_UNLIMITED);
}

#define QUEUE_TEST(test) cmocka_unit_test_setup_teardown(test, setup_busy, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        QUEUE_TEST(no_more_than_max_running_execute_at_a_time),
        QUEUE_TEST(tasks_of_one_key_never_meet),
        QUEUE_TEST(a_rate_that_is_used_up_goes_on_by_itself),
        QUEUE_TEST(c_workflows_have_concurrency_keys_too),
        QUEUE_TEST(a_paused_queue_is_shown_with_what_waits_in_it),
        QUEUE_TEST(bad_limits_are_refused_and_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

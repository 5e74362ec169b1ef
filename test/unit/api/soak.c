// What waiting runs cost in memory, counted by the allocator: the figures of bench-idle, as bars.
//
// The heap is what has been handed out and not given back. SQLite's part is left out: its pages are
// a cache with a ceiling of its own, and it grows with the file until it is full.
#define API_BACKEND "sqlite" // the heap must not be a store's
#include "unit/api/api.h"
#include <malloc.h>
#include <sqlite3.h>

// There only under AddressSanitizer, whose allocator mallinfo2 knows nothing of.
extern size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

enum { WARM_ROUNDS = 300, MARGIN = 32 << 10 }; // bytes: what allocators and lists round up

static int64_t heap_bytes(void) {
    int64_t own = sqlite3_memory_used();
    if (__sanitizer_get_current_allocated_bytes != NULL)
        return (int64_t)__sanitizer_get_current_allocated_bytes() - own;
    struct mallinfo2 info = mallinfo2();
    return (int64_t)(info.uordblks + info.hblkhd) - own;
}

// ---- workflows: a C function and a script that go round for ever ----

static int loop_native(abide_ctx *ctx, const char *input) {
    const char *payload;
    for (int i = 0; i < 50; i++) ABIDE_TRY(abide_await_signal(ctx, "go", NULL, &payload));
    return abide_continue_as(ctx, input);
}

static const char loop_source[] = "let n = 0\nfor (;;) { await Signal.next('go'); n++ }";
static const char *const kinds[] = {"native", "script"};

static void open_again(Fixture *fixture) {
    abide_error error;
    abide_close(fixture->engine);
    fixture_open(fixture);
    add_workflow(fixture, "native", loop_native, NULL);
    put_to_work(fixture);
    int code = abide_deploy(fixture->engine, "script.flow", loop_source, NULL, NULL, &error);
    if (code != ABIDE_OK) fail_msg("deploy: %s", error.message);
}

static int setup_soak(void **state) {
    int code = setup(state);
    if (code == 0) open_again(*state);
    return code;
}

static void settle(Fixture *fixture) {
    assert_int_equal(abide_settle(fixture->engine, NULL, NULL), ABIDE_OK);
}

static void send(Fixture *fixture, const char *id) {
    assert_int_equal(abide_signal(fixture->engine, id, "go", "1", NULL, NULL), ABIDE_OK);
}

static abide_stats stats_of(Fixture *fixture) {
    abide_stats stats;
    assert_int_equal(abide_get_stats(fixture->engine, &stats, NULL), ABIDE_OK);
    return stats;
}

// Many callers at once share commits.
typedef struct Starter {
    pthread_t thread;
    Fixture *fixture;
    int from, to, step;
} Starter;

static void *start_some(void *context) {
    const Starter *self = context;
    char id[16];
    for (int i = self->from; i < self->to; i += self->step) {
        snprintf(id, sizeof id, "r%d", i);
        start(self->fixture, kinds[i % 2], id, "1");
    }
    return NULL;
}

static void start_numbered(Fixture *fixture, int from, int to) {
    enum { THREADS = 32 };
    Starter starters[THREADS];
    for (int i = 0; i < THREADS; i++) {
        starters[i] = (Starter){.fixture = fixture, .from = from + i, .to = to, .step = THREADS};
        assert_int_equal(pthread_create(&starters[i].thread, NULL, start_some, &starters[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(starters[i].thread, NULL);
    settle(fixture);
}

// ---- the bars ----

static void go_round(Fixture *fixture, const char *id) {
    int changed = 0;
    send(fixture, id);
    settle(fixture);
    assert_int_equal(abide_release(fixture->engine, id, &changed, NULL), ABIDE_OK);
    assert_int_equal(changed, 1);
}

static void releasing_and_reloading_one_run_leaves_nothing_behind(void **state) {
    Fixture *fixture = *state;
    int rounds = (int)scaled(2000);
    for (int k = 0; k < 2; k++) {
        start(fixture, kinds[k], kinds[k], "1");
        settle(fixture);
        for (int i = 0; i < WARM_ROUNDS; i++) go_round(fixture, kinds[k]);
        int64_t reloads = stats_of(fixture).reloads, before = heap_bytes();
        for (int i = 0; i < rounds; i++) go_round(fixture, kinds[k]);
        int64_t grown = heap_bytes() - before;
        assert_int_equal(stats_of(fixture).reloads - reloads, rounds);
        assert_int_equal(stats_of(fixture).resident_bytes, 0);
        if (grown > MARGIN) fail_msg("%s: %lld bytes more", kinds[k], (long long)grown);
    }
}

// The heap of an engine just opened, on a store in which that many runs wait.
static int64_t heap_with(Fixture *fixture, int count) {
    open_again(fixture);
    send(fixture, "r0"); // one of each kind comes back, so that all that is needed for it is there
    send(fixture, "r1");
    settle(fixture);
    assert_int_equal(stats_of(fixture).runs[ABIDE_RUN_SUSPENDED], count);
    assert_int_equal(stats_of(fixture).resident_runs, 2);
    return heap_bytes();
}

static void a_released_run_costs_no_heap(void **state) {
    Fixture *fixture = *state;
    int few = 100, many = (int)scaled(10000) + few;
    start_numbered(fixture, 0, few);
    int64_t with_few = heap_with(fixture, few);
    start_numbered(fixture, few, many);
    int64_t with_many = heap_with(fixture, many), grown = with_many - with_few;
    if (grown > MARGIN) fail_msg("%lld bytes more with %d more runs", (long long)grown, many - few);
}

// As bench-idle's soak: few of many runs have room, and all are woken again and again.
static void waking_many_through_little_room_leaves_nothing_behind(void **state) {
    enum { ROOM = 20, ROUNDS = 3 };
    Fixture *fixture = *state;
    int count = (int)scaled(1000);
    int64_t heap[ROUNDS];
    fixture->options.max_resident_runs = ROOM;
    open_again(fixture);
    start_numbered(fixture, 0, count);
    for (int round = 0; round < ROUNDS; round++) {
        char id[16];
        for (int i = 0; i < count; i++) {
            snprintf(id, sizeof id, "r%d", i);
            send(fixture, id);
        }
        settle(fixture);
        assert_true(stats_of(fixture).resident_runs <= ROOM);
        heap[round] = heap_bytes();
    }
    abide_stats stats = stats_of(fixture);
    assert_int_equal(stats.runs[ABIDE_RUN_SUSPENDED], count);
    assert_true(stats.reloads >= (int64_t)(ROUNDS - 1) * (count - ROOM));
    // The first round fills the caches with what the others use again.
    int64_t grown = heap[ROUNDS - 1] - heap[0];
    if (grown > MARGIN) fail_msg("%lld bytes more", (long long)grown);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup_soak, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(releasing_and_reloading_one_run_leaves_nothing_behind),
        CASE(a_released_run_costs_no_heap),
        CASE(waking_many_through_little_room_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

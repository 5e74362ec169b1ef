// World: one store, one virtual clock and one node that has joined, for tests of the store.
//
// test_backend() names the store: "memory", "sqlite", or one of test/servers. `begin` starts a
// batch, batch_add puts operations into it, `commit` applies it. After each test the whole store is
// verified against its invariants. Not every test file uses every helper.
#pragma once
#include "base/limits.h"
#include "servers/servers.h"
#include "store/kernel/kernel.h"
#include "store/reads.h"
#include "unit/unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wunused-function"

enum { START_MS = 1000000, MINUTE_MS = 60000 };

typedef struct World {
    Store *store;
    Arena arena;
    Batch batch;
    Diag diag;
    int64_t now_ms;
    int64_t node;
    int64_t batch_number;
    int64_t claim_max;
    char path[64]; // empty for stores without a file
    char url[256];
} World;

// Closed and opened again it has what it had.
static bool is_kept(void) { return !test_backend_is("memory"); }

// A filter matches when the payload contains it.
static bool filter_contains(Str filter, Str payload) {
    return filter.len <= payload.len &&
           memmem(payload.data, payload.len, filter.data, filter.len) != NULL;
}

static void begin(World *world) {
    batch_init(&world->batch, &world->arena, world->now_ms);
    world->batch.node = world->node;
    world->batch.number = ++world->batch_number;
    world->batch.claim_max = world->claim_max;
}

static void commit(World *world) {
    Status status = store_commit(world->store, &world->batch, &world->diag);
    if (status != OK) print_error("%s: %s\n", world->diag.code, world->diag.message);
    assert_int_equal(status, OK);
}

// A batch of one operation whose status is expected.
static Op *start(World *world, OpKind kind) {
    begin(world);
    return batch_add(&world->batch, kind);
}
static void finish(World *world, Op *op, Status expected) {
    commit(world);
    if (op->out.status != expected)
        print_error("%s: %s\n", op->out.diag.code, op->out.diag.message);
    assert_int_equal(op->out.status, expected);
}

static int64_t join(World *world, const char *name, int64_t lease_ms) {
    Op *op = start(world, OP_JOIN);
    op->in.join.name = str_from(name);
    op->in.join.lease_ms = lease_ms;
    finish(world, op, OK);
    return op->out.join.node;
}

static void store_open_again(World *world) {
    StoreConfig config = {.filter_matches = filter_contains};
    Status status = store_open(str_from(world->url), &config, &world->store, &world->diag);
    if (status != OK) print_error("%s: %s\n", world->diag.code, world->diag.message);
    assert_int_equal(status, OK);
}

static int setup(void **state) {
    World *world = calloc(1, sizeof(World));
    world->now_ms = START_MS;
    world->claim_max = 100;
    if (test_backend_is("sqlite")) {
        snprintf(world->path, sizeof(world->path), "/tmp/abide-kernel-XXXXXX");
        int file = mkstemp(world->path);
        assert_true(file >= 0);
        close(file);
        unlink(world->path);
    }
    if (test_server_is(test_backend())) {
        test_server_store(test_backend(), "kernel", world->url, sizeof(world->url));
    } else {
        snprintf(world->url, sizeof(world->url), "%s:%s", test_backend(), world->path);
    }
    arena_init(&world->arena);
    store_open_again(world);
    world->node = join(world, "node-1", MINUTE_MS);
    *state = world;
    return 0;
}

static void unlink_with(const char *path, const char *suffix) {
    char name[96];
    snprintf(name, sizeof(name), "%s%s", path, suffix);
    unlink(name);
}

static int teardown(void **state) {
    World *world = *state;
    int64_t row_count = 0;
    Status status = store_verify(world->store, &row_count, &world->diag);
    if (status != OK) print_error("%s: %s\n", world->diag.code, world->diag.message);
    assert_int_equal(status, OK);
    store_close(world->store);
    if (world->path[0]) {
        unlink_with(world->path, "");
        unlink_with(world->path, "-wal");
        unlink_with(world->path, "-shm");
        unlink_with(world->path, "-lock");
        unlink_with(world->path, ".lock");
    }
    arena_done(&world->arena);
    free(world);
    return 0;
}

// ---- helpers: runs ----

static Op *create_op(World *world, const char *id) {
    Op *op = batch_add(&world->batch, OP_CREATE_RUN);
    op->in.create_run.spec = (RunSpec){.id = str_from(id),
                                       .workflow = STR("order"),
                                       .kind = RUN_NATIVE,
                                       .input = STR("{\"a\":1}"),
                                       .keep_ms = -1};
    return op;
}

typedef struct Claimed {
    int64_t run;
    int64_t epoch;
} Claimed;

static Claimed ready_at(const World *world, size_t place) {
    assert_true(place < world->batch.out.ready_count);
    return (Claimed){world->batch.out.ready[place].run, world->batch.out.ready[place].claim.epoch};
}

static Claimed create(World *world, const char *id) {
    begin(world);
    Op *op = create_op(world, id);
    finish(world, op, OK);
    assert_true(op->out.create_run.is_new);
    return ready_at(world, 0);
}

static Op *turn_op(World *world, Claimed claim, TurnNext next) {
    Op *op = batch_add(&world->batch, OP_COMMIT_TURN);
    op->in.turn.run = claim.run;
    op->in.turn.epoch = claim.epoch;
    op->in.turn.next = next;
    return op;
}

static Op *turn(World *world, Claimed claim, TurnNext next) {
    begin(world);
    return turn_op(world, claim, next);
}

static void set_waits(World *world, Op *op, WaitMode mode, const WaitItem *items, size_t count) {
    op->in.turn.waits = (WaitSet){
        .mode = mode, .items = ARENA_ARRAY(&world->arena, WaitItem, count), .count = count};
    memcpy(op->in.turn.waits.items, items, count * sizeof(WaitItem));
    for (size_t i = 0; i < count; i++) op->in.turn.waits.items[i].slot = (int64_t)i;
}

static Op *park(World *world, Claimed claim, WaitItem item) {
    Op *op = turn(world, claim, NEXT_SUSPEND);
    set_waits(world, op, WAIT_FIRST, &item, 1);
    op->in.turn.is_kept = true;
    finish(world, op, OK);
    return op;
}

static WaitItem on_signal(const char *name) {
    return (WaitItem){.kind = WAIT_SIGNAL, .position = 7, .name = str_from(name)};
}
static WaitItem on_event(const char *topic) {
    return (WaitItem){.kind = WAIT_EVENT, .position = 7, .name = str_from(topic)};
}
static WaitItem on_timer(int64_t at_ms) {
    return (WaitItem){.kind = WAIT_TIMER, .position = 7, .deadline_at_ms = at_ms};
}

static Op *step(World *world, Claimed claim, const char *name, int64_t position) {
    Op *op = turn(world, claim, NEXT_CONTINUE);
    op->in.turn.log = ARENA_NEW(&world->arena, LogRow);
    *op->in.turn.log =
        (LogRow){.kind = LOG_STEP, .position = position, .name = str_from(name), .data = STR("1")};
    op->in.turn.log_count = 1;
    finish(world, op, OK);
    return op;
}

static Op *end(World *world, Claimed claim, TurnNext next, const char *result) {
    Op *op = turn(world, claim, next);
    op->in.turn.result = str_from(result);
    finish(world, op, OK);
    return op;
}

static Op *signal_run(World *world, const char *id, const char *name, const char *payload,
                      Status expected) {
    Op *op = start(world, OP_SIGNAL);
    op->in.signal.run_id = str_from(id);
    op->in.signal.name = str_from(name);
    op->in.signal.id = STR("sig");
    op->in.signal.payload = str_from(payload);
    finish(world, op, expected);
    return op;
}

static Op *publish(World *world, const char *topic, const char *payload) {
    Op *op = start(world, OP_PUBLISH);
    op->in.publish.event =
        (EventSpec){.topic = str_from(topic), .id = STR("evt"), .payload = str_from(payload)};
    finish(world, op, OK);
    return op;
}

static Op *cancel(World *world, const char *id, int64_t grace_ms) {
    Op *op = start(world, OP_CANCEL);
    op->in.cancel.run_id = str_from(id);
    op->in.cancel.grace_ms = grace_ms;
    finish(world, op, OK);
    return op;
}

static Op *hold(World *world, OpKind kind, const char *id) {
    Op *op = start(world, kind);
    op->in.hold.run_id = str_from(id);
    finish(world, op, OK);
    return op;
}

static Op *fire(World *world) {
    Op *op = start(world, OP_FIRE_DUE);
    op->in.fire_due.max = 1000;
    finish(world, op, OK);
    return op;
}

static void set_topic(World *world, const char *name, TopicConsume consume, TopicVisible visible) {
    Op *op = start(world, OP_SET_TOPIC);
    op->in.set_topic.row =
        (TopicRow){.name = str_from(name), .consume = consume, .visible = visible};
    finish(world, op, OK);
}

// ---- helpers: reads ----

static RunRow get_run(World *world, const char *id) {
    RunRow run = {0};
    Status status = store_run_by_id(world->store, &world->arena, str_from(id), &run, &world->diag);
    assert_int_equal(status, OK);
    return run;
}

static LogPage get_log(World *world, const char *id) {
    const LogFilter filter = {.run = run_of_id(str_from(id))};
    LogPage log = {0};
    Status status = store_read_log(world->store, &world->arena, &filter, &log, &world->diag);
    assert_int_equal(status, OK);
    return log;
}

static int64_t get_counter(World *world, int counter) {
    StoreStats stats = {0};
    assert_int_equal(store_stats(world->store, &world->arena, &stats, &world->diag), OK);
    return stats.counters[counter];
}

static void assert_str(Str actual, const char *expected) {
    assert_non_null(actual.data);
    assert_int_equal(actual.len, strlen(expected));
    assert_memory_equal(actual.data, expected, actual.len);
}

#define KERNEL_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

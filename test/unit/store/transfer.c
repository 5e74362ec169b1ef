// Transfers between stores, [transfer-1] to [transfer-5] of transfer.h, as far as they need no
// servers: what a mark does to those who have the store open already, and what an end in the middle
// leaves. test/e2e/cli/test_migrate.py moves a store with everything in it.
#include "store/transfer.h"
#include "base/array.h"
#include "servers/postgres.h"
#include "store/reads.h"
#include "unit/unit.h"
#include <stdio.h>
#include <unistd.h>

enum { NOW_MS = 1000000, RUNS = 300 };

typedef struct World {
    char folder[64], file[96], other[96], server[200];
    Store *store;
    Arena arena;
    Batch batch;
    Diag diag;
    int64_t node, batch_number;
    atomic_bool stop;
    int64_t stop_after; // copied rows; 0 = never
} World;

static int set_up(void **state) {
    World *world = calloc(1, sizeof *world);
    arena_init(&world->arena);
    snprintf(world->folder, sizeof world->folder, "/tmp/abide-transfer-XXXXXX");
    assert_non_null(mkdtemp(world->folder));
    snprintf(world->file, sizeof world->file, "sqlite:%s/a.db", world->folder);
    snprintf(world->other, sizeof world->other, "%s/b.db", world->folder);
    test_postgres_clear("transfer");
    test_postgres_url("transfer", world->server, sizeof world->server);
    *state = world;
    return 0;
}

static int tear_down(void **state) {
    World *world = *state;
    if (world->store != NULL) store_close(world->store);
    unlink(world->file + strlen("sqlite:"));
    unlink(world->other);
    assert_int_equal(rmdir(world->folder), 0); // nothing else was left behind
    arena_done(&world->arena);
    free(world);
    return 0;
}

static void store_begin(World *world, const char *url) {
    assert_ok(store_open(str_from(url), NULL, &world->store, &world->diag));
}

static void store_end(World *world) {
    store_close(world->store);
    world->store = NULL;
}

static Op *begin(World *world, OpKind kind) {
    batch_init(&world->batch, &world->arena, NOW_MS);
    world->batch.node = world->node;
    world->batch.number = ++world->batch_number;
    return batch_add(&world->batch, kind);
}

static Status submit(World *world) {
    diag_clear(&world->diag);
    return store_commit(world->store, &world->batch, &world->diag);
}

static void join(World *world, int64_t lease_ms) {
    Op *op = begin(world, OP_JOIN);
    op->in.join.name = STR("n");
    op->in.join.lease_ms = lease_ms;
    assert_ok(submit(world));
    world->node = op->out.join.node;
}

static Status create(World *world, int number) {
    Op *op = begin(world, OP_CREATE_RUN);
    world->batch.claim_max = 1; // ours, if we are a node
    Str id = arena_printf(&world->arena, "run-%d", number);
    op->in.create_run.spec =
        (RunSpec){.id = id, .workflow = STR("w"), .kind = RUN_NATIVE, .keep_ms = -1};
    return submit(world);
}

static void fill(World *world, const char *url) {
    store_begin(world, url);
    for (int i = 0; i < RUNS; i++) assert_ok(create(world, i));
    store_end(world);
}

static void look(void *context, const TransferProgress *progress) {
    World *world = context;
    bool is_enough = progress->phase == TRANSFER_COPYING && world->stop_after > 0 &&
                     progress->row_count >= world->stop_after;
    if (is_enough) atomic_store(&world->stop, true);
}

static TransferConfig config_of(World *world, const char *from, const char *to) {
    return (TransferConfig){.from = str_from(from),
                            .to = str_from(to),
                            .now_ms = NOW_MS,
                            .progress = look,
                            .context = world,
                            .stop = &world->stop,
                            .batch_rows = 50};
}

static TransferReport move(World *world, const char *from, const char *to) {
    TransferConfig config = config_of(world, from, to);
    TransferReport report;
    Status status = transfer_run(&config, &report, &world->diag);
    if (status != OK) print_error("%s: %s\n", world->diag.code, world->diag.message);
    assert_ok(status);
    return report;
}

static void assert_refused(World *world, Status status, const char *code) {
    assert_int_not_equal(status, OK);
    assert_string_equal(world->diag.code, code);
}

static void assert_unopenable(World *world, const char *url, const char *code) {
    Store *store = NULL;
    diag_clear(&world->diag);
    assert_status(store_open(str_from(url), NULL, &store, &world->diag), ERR_CONFLICT);
    assert_string_equal(world->diag.code, code);
}

static void what_leaves_arrives_on_every_kind_of_store(void **state) {
    World *world = *state;
    fill(world, world->file);
    TransferReport there = move(world, world->file, world->server);
    assert_int_equal(there.row_counts[TABLE_RUNS], RUNS);
    assert_int_equal(there.copied_count, there.row_total);
    TransferReport back = move(world, world->server, world->other);
    assert_string_equal(there.digest, back.digest);
    assert_memory_equal(there.row_counts, back.row_counts, sizeof there.row_counts);
    assert_unopenable(world, world->file, "STORE_MOVED");
    assert_unopenable(world, world->server, "STORE_MOVED");
    store_begin(world, world->other);
    assert_ok(create(world, RUNS)); // keys go on where they were
}

// [transfer-1] Somebody has the store open, but no lease on it that would show.
static void who_had_the_source_open_is_refused_as_well(void **state) {
    World *world = *state;
    fill(world, world->server);
    store_begin(world, world->server);
    assert_ok(create(world, RUNS));
    (void)move(world, world->server, world->other);
    assert_refused(world, create(world, RUNS + 1), "STORE_MOVED");
    assert_refused(world, create(world, RUNS + 2), "STORE_MOVED");
    assert_ok(transfer_reopen(str_from(world->server), &world->diag));
    assert_ok(create(world, RUNS + 3));
}

static void who_has_the_target_open_finds_it_complete_or_not_at_all(void **state) {
    World *world = *state;
    fill(world, world->file);
    store_begin(world, world->server); // empty as yet
    world->stop_after = 100;
    TransferConfig config = config_of(world, world->file, world->server);
    TransferReport report;
    assert_refused(world, transfer_run(&config, &report, &world->diag), "TRANSFER_STOPPED");
    assert_refused(world, create(world, RUNS), "STORE_FILLING");
    atomic_store(&world->stop, false);
    world->stop_after = 0;
    config.is_resume = true;
    assert_ok(transfer_run(&config, &report, &world->diag));
    assert_ok(create(world, RUNS));
    StoreStats found;
    assert_ok(store_stats(world->store, &world->arena, &found, &world->diag));
    assert_int_equal(found.counters[COUNTER_STARTED_TOTAL], RUNS + 1);
}

// [transfer-3] Ended again and again, wherever it is.
static void an_end_in_the_middle_is_resumed_from_there(void **state) {
    World *world = *state;
    const char *const ways[][2] = {{world->file, world->server}, {world->server, world->other}};
    fill(world, world->file);
    for (size_t way = 0; way < 2; way++) {
        TransferConfig config = config_of(world, ways[way][0], ways[way][1]);
        TransferReport report = {0};
        int end_count = 0;
        world->stop_after = 60;
        for (;;) {
            atomic_store(&world->stop, false);
            if (transfer_run(&config, &report, &world->diag) == OK) break;
            assert_string_equal(world->diag.code, "TRANSFER_STOPPED");
            assert_unopenable(world, ways[way][0], "STORE_MOVED");
            assert_unopenable(world, ways[way][1], "STORE_FILLING");
            config.is_resume = false;
            assert_refused(world, transfer_run(&config, &report, &world->diag), "STORE_MOVED");
            config.is_resume = true;
            end_count++;
        }
        assert_true(end_count > 2);
        assert_true(report.copied_count < report.row_total); // the others were there
        world->stop_after = 0;
    }
    store_begin(world, world->other);
    int64_t row_count = 0;
    assert_ok(store_verify(world->store, &row_count, &world->diag));
    assert_true(row_count > RUNS);
}

static void another_source_is_noticed(void **state) {
    World *world = *state;
    fill(world, world->file);
    world->stop_after = 60;
    TransferConfig config = config_of(world, world->file, world->server);
    TransferReport report;
    assert_refused(world, transfer_run(&config, &report, &world->diag), "TRANSFER_STOPPED");
    atomic_store(&world->stop, false);
    world->stop_after = 0;
    assert_ok(transfer_reopen(str_from(world->file), &world->diag));
    store_begin(world, world->file);
    assert_ok(create(world, RUNS)); // it went on meanwhile
    store_end(world);
    config.is_resume = true;
    assert_refused(world, transfer_run(&config, &report, &world->diag), "TRANSFER_DIFFERS");
    assert_unopenable(world, world->server, "STORE_FILLING");
}

// [transfer-5] The owner of a file has a lease of a century; where others work too it must not
//      last.
static void what_a_dead_owner_held_can_be_taken_over(void **state) {
    World *world = *state;
    store_begin(world, world->file);
    join(world, INT64_C(100) * 365 * 24 * 3600 * 1000);
    assert_ok(create(world, 1));
    store_end(world);
    (void)move(world, world->file, world->server);
    store_begin(world, world->server);
    world->node = world->batch_number = 0;
    join(world, 10000);
    Op *op = begin(world, OP_CLAIM);
    op->in.claim.max = 10;
    assert_ok(submit(world));
    assert_ok(op->out.status);
    assert_int_equal(op->out.claim.taken_over, 1);
}

static void a_node_at_work_keeps_the_source_where_it_is(void **state) {
    World *world = *state;
    store_begin(world, world->server);
    join(world, 10000);
    TransferConfig config = config_of(world, world->server, world->other);
    TransferReport report;
    assert_refused(world, transfer_run(&config, &report, &world->diag), "STORE_IN_USE");
    assert_non_null(strstr(world->diag.message, "node n "));
    assert_ok(create(world, 1)); // it was not disturbed
    config.now_ms += 10000;      // its lease is over then
    store_end(world);
    assert_int_equal(access(world->other, F_OK), -1);
    assert_ok(transfer_run(&config, &report, &world->diag));
}

static void looking_changes_nothing(void **state) {
    World *world = *state;
    fill(world, world->file);
    TransferConfig config = config_of(world, world->file, world->other);
    TransferReport tried, done;
    config.is_dry_run = true;
    assert_ok(transfer_run(&config, &tried, &world->diag));
    assert_int_equal(access(world->other, F_OK), -1);
    store_begin(world, world->file); // not marked
    store_end(world);
    config.is_dry_run = false;
    assert_ok(transfer_run(&config, &done, &world->diag));
    assert_string_equal(tried.digest, done.digest);
    assert_int_equal(tried.copied_count, 0);
    config.is_dry_run = true;
    assert_refused(world, transfer_run(&config, &tried, &world->diag), "STORE_MOVED");
}

static void what_cannot_be_moved_is_refused_and_left_alone(void **state) {
    World *world = *state;
    fill(world, world->file);
    const char *path = world->file + strlen("sqlite:");
    char link[96];
    snprintf(link, sizeof link, "%s/link.db", world->folder);
    assert_int_equal(symlink(path, link), 0);
    const struct {
        const char *from, *to, *code;
    } cases[] = {
        {world->file, world->file, "TRANSFER_SAME"},
        {world->file, path, "TRANSFER_SAME"},
        {world->file, link, "TRANSFER_SAME"},
        {world->server, world->file, "STORE_NOT_EMPTY"},
        {"memory:", world->file, "STORE_URL"},
        {world->file, "memory:", "STORE_URL"},
        {world->other, world->file, "STORE_NOT_FOUND"},
    };
    store_begin(world, world->server); // makes it
    store_end(world);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        TransferConfig config = config_of(world, cases[i].from, cases[i].to);
        TransferReport report;
        assert_refused(world, transfer_run(&config, &report, &world->diag), cases[i].code);
        assert_int_equal(access(world->other, F_OK), -1);
        store_begin(world, world->file);
        store_end(world);
        store_begin(world, world->server);
        store_end(world);
    }
    unlink(link);
    store_begin(world, world->file); // an owner at work
    TransferConfig config = config_of(world, world->file, world->server);
    TransferReport report;
    assert_refused(world, transfer_run(&config, &report, &world->diag), "STORE_LOCKED");
    assert_refused(world, transfer_reopen(str_from(world->server), &world->diag),
                   "STORE_NOT_MOVED");
}

#define TRANSFER_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TRANSFER_TEST(what_leaves_arrives_on_every_kind_of_store),
        TRANSFER_TEST(who_had_the_source_open_is_refused_as_well),
        TRANSFER_TEST(who_has_the_target_open_finds_it_complete_or_not_at_all),
        TRANSFER_TEST(an_end_in_the_middle_is_resumed_from_there),
        TRANSFER_TEST(another_source_is_noticed),
        TRANSFER_TEST(what_a_dead_owner_held_can_be_taken_over),
        TRANSFER_TEST(a_node_at_work_keeps_the_source_where_it_is),
        TRANSFER_TEST(looking_changes_nothing),
        TRANSFER_TEST(what_cannot_be_moved_is_refused_and_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

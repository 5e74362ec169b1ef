// What only some stores can do. With a file: [store-12] damage and strangers' files, and a look
// into every table.
#include "base/array.h"
#include "contract/steps.h"
#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

static const char *path_of(const World *world) { return world->url + strlen("sqlite:"); }

// ---- what SQLite can keep a step from doing ----

static void step_can_neither_end_the_transaction_nor_touch_our_tables(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    const char *const attacks[] = {
        "COMMIT",
        "ROLLBACK",
        "DELETE FROM abide_runs",
        "UPDATE ABIDE_RUNS SET state = 5",
        "INSERT INTO abide_tags VALUES('x', 1)",
        "DROP TABLE abide_log",
        "PRAGMA synchronous=OFF",
        "ATTACH ':memory:' AS x",
        "SAVEPOINT s",
        "RELEASE abide_step",
        "DROP INDEX abide_runs_by_id",
        "ALTER TABLE abide_runs RENAME TO stolen",
        "CREATE TRIGGER trap AFTER INSERT ON abide_runs BEGIN DELETE FROM abide_log; END",
        "CREATE INDEX abide_mine ON abide_runs(state)",
    };
    for (size_t i = 0; i < COUNT_OF(attacks); i++) {
        Part part = {.sql = attacks[i]};
        run_part(world, claimed, &part, OK);
        if (part.is_sql_good) fail_msg("allowed: %s", attacks[i]);
    }
    assert_state(world, "r1", RUN_RUNNING);
    int64_t row_count;
    assert_ok(store_verify(world->store, &row_count, &world->diag));
}

// ---- every table ----

static void purged_run_leaves_no_row_in_any_table(void **state) {
    World *world = *state;
    RunSpec spec = spec_of("r1");
    spec.tags = STR("red\nblue");
    spec.leftover_policy = LEFTOVER_DISCARD;
    Claimed claimed = create_from(world, &spec);
    set_topic(world, "news", CONSUME_ALL, VISIBLE_AFTER_CREATE);
    publish(world, "news", "1");
    park(world, claimed, on_event("news"));
    TaskSpec task = task_of("t1");
    Op *op = turn(world, claimed, NEXT_SUSPEND);
    set_task(world, op, &task);
    set_waits(world, op, WAIT_FIRST, (WaitItem[]){on_event("never"), on_task("t1")}, 2);
    op_run(world, op, OK);
    op = op_new(world, OP_SIGNAL);
    op->in.signal.run_id = STR("r1");
    op->in.signal.name = STR("go");
    op->in.signal.id = STR("s1");
    op->in.signal.is_deduplicated = true;
    op_run(world, op, OK);
    assert_int_equal(app_number(world, "SELECT count(*) FROM abide_cursors"), 1);
    assert_int_equal(app_number(world, "SELECT count(*) FROM abide_waiters"), 1);
    assert_int_equal(app_number(world, "SELECT count(*) FROM abide_dedupe"), 1);
    cancel_run(world, "r1", 0);
    op = op_new(world, OP_PURGE_RUN);
    op->in.purge.run_id = STR("r1");
    op_run(world, op, OK);
    const char *const names[] = {"runs",  "log",  "waiters", "cursors",
                                 "tasks", "tags", "dedupe",  "dead_letters"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        Str sql = arena_printf(&world->arena, "SELECT count(*) FROM abide_%s", names[i]);
        if (app_number(world, sql.data) != 0) fail_msg("%s has rows left", names[i]);
    }
    assert_int_equal(app_number(world, "SELECT count(*) FROM abide_events WHERE run > 0"), 0);
}

// ---- [store-12] ----

static void file_of_a_newer_version_is_refused_and_left_alone(void **state) {
    World *world = *state;
    create(world, "r1");
    Str before = world_dump(world);
    char restore[48];
    snprintf(restore, sizeof(restore), "PRAGMA user_version = %d",
             (int)app_number(world, "PRAGMA user_version"));
    store_close(world->store);
    sqlite3 *database = NULL;
    assert_int_equal(sqlite3_open(path_of(world), &database), SQLITE_OK);
    sqlite3_exec(database, "PRAGMA user_version = 9999", NULL, NULL, NULL);
    sqlite3_close(database);
    Status status = store_open(str_from(world->url), &world->config, &world->store, &world->diag);
    assert_status(status, ERR_UNSUPPORTED);
    assert_string_equal(world->diag.code, "STORE_NEWER");
    assert_int_equal(sqlite3_open(path_of(world), &database), SQLITE_OK);
    sqlite3_exec(database, restore, NULL, NULL, NULL);
    sqlite3_close(database);
    assert_ok(store_open(str_from(world->url), &world->config, &world->store, &world->diag));
    assert_unchanged(world, before);
}

static void execute_closed(World *world, const char *sql) {
    sqlite3 *database = NULL;
    store_close(world->store);
    assert_int_equal(sqlite3_open(path_of(world), &database), SQLITE_OK);
    assert_int_equal(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(database);
    assert_ok(store_open(str_from(world->url), &world->config, &world->store, &world->diag));
}

// What versions from 14 on have added.
#define WITHOUT_EMBEDDED "ALTER TABLE abide_runs DROP COLUMN task;"
#define WITHOUT_PLACES                                                                             \
    WITHOUT_EMBEDDED                                                                               \
    "DROP TABLE abide_places; ALTER TABLE abide_runs DROP COLUMN place;"                           \
    "ALTER TABLE abide_snapshots DROP COLUMN place; ALTER TABLE abide_tasks DROP COLUMN secrets;"
#define WITHOUT_RATES WITHOUT_PLACES "DROP TABLE abide_rates;"
#define WITHOUT_PHASES                                                                             \
    "DROP INDEX abide_runs_by_phase; ALTER TABLE abide_runs DROP COLUMN phase;"                    \
    "CREATE INDEX abide_runs_by_state ON abide_runs (state);"                                      \
    "DROP INDEX abide_tasks_by_phase; ALTER TABLE abide_tasks DROP COLUMN phase;"                  \
    "CREATE INDEX abide_tasks_by_state ON abide_tasks (state);"

// A file from before runs knew which of their tasks have ended.
static void file_of_version_8_is_brought_up_with_its_runs(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    TaskSpec task = task_of("t1");
    Op *op = turn(world, claimed, NEXT_SUSPEND);
    set_task(world, op, &task);
    set_waits(world, op, WAIT_FIRST, (WaitItem[]){on_signal("go")}, 1);
    op_run(world, op, OK);
    Str before = world_dump(world);
    execute_closed(world, "ALTER TABLE abide_runs DROP COLUMN tasks_ended_key;"
                          "ALTER TABLE abide_runs DROP COLUMN home;"
                          "ALTER TABLE abide_runs DROP COLUMN retries;"
                          "ALTER TABLE abide_schedules DROP COLUMN given;"
                          "ALTER TABLE abide_nodes DROP COLUMN resident_count;"
                          "ALTER TABLE abide_nodes DROP COLUMN version;"
                          "ALTER TABLE abide_nodes DROP COLUMN workers;"
                          "ALTER TABLE abide_definitions DROP COLUMN file;"
                          "DROP INDEX abide_tasks_by_name;" WITHOUT_RATES WITHOUT_PHASES
                          "PRAGMA user_version = 8");
    assert_unchanged(world, before);
    complete_task(world, "t1", lease_one(world, "default").token, "1");
    assert_true(get_run(world, "r1").tasks_ended_key > 0);
    execute_closed(world, "UPDATE abide_tasks SET state = 1, phase = 1, claim_rank = 1; "
                          "UPDATE abide_counters SET value = value + 1 WHERE number = 18; "
                          "UPDATE abide_counters SET value = value - 1 WHERE number = 20");
    int64_t row_count;
    assert_status(store_verify(world->store, &row_count, &world->diag), ERR_CORRUPT);
    assert_non_null(strstr(world->diag.message, "takes an open task for ended"));
    execute_closed(world, "UPDATE abide_tasks SET state = 3, phase = 0, claim_rank = 0; "
                          "UPDATE abide_counters SET value = value - 1 WHERE number = 18; "
                          "UPDATE abide_counters SET value = value + 1 WHERE number = 20");
}

static void queue_task(World *world, const char *id) {
    TaskSpec spec = task_of(id);
    create_task(world, &spec);
}

// A file from before states were listed by their phases: one run and one task in each.
static void file_of_version_13_is_brought_up_with_its_lists(void **state) {
    World *world = *state;
    Claimed parked = create(world, "parked");
    create(world, "running");
    Claimed ended = create(world, "ended");
    park(world, parked, on_signal("go"));
    finish(world, ended, NEXT_COMPLETE, "1");
    queue_task(world, "completed");
    complete_task(world, "completed", lease_one(world, "default").token, "1");
    queue_task(world, "leased");
    (void)lease_one(world, "default");
    queue_task(world, "queued");
    Str before = world_dump(world);
    execute_closed(world, WITHOUT_RATES WITHOUT_PHASES "PRAGMA user_version = 13");
    assert_unchanged(world, before);
    int64_t row_count;
    assert_ok(store_verify(world->store, &row_count, &world->diag));
    execute_closed(world, "UPDATE abide_runs SET phase = 4 WHERE id = 'parked'");
    assert_status(store_verify(world->store, &row_count, &world->diag), ERR_CORRUPT);
    assert_non_null(strstr(world->diag.message, "listed under another state"));
    execute_closed(world, "UPDATE abide_runs SET phase = 2 WHERE id = 'parked'; "
                          "UPDATE abide_tasks SET phase = 4 WHERE id = 'queued'");
    assert_status(store_verify(world->store, &row_count, &world->diag), ERR_CORRUPT);
    execute_closed(world, "UPDATE abide_tasks SET phase = 1 WHERE id = 'queued'");
}

// A file from before places were counted: what is parked is at an unknown one until it parks again.
static void file_of_version_15_is_brought_up_with_its_counts(void **state) {
    World *world = *state;
    RunSpec spec = spec_of("flow");
    spec.kind = RUN_FLOW;
    spec.definition = 7;
    Claimed claimed = create_from(world, &spec);
    park(world, create(world, "native"), on_signal("go"));
    park(world, claimed, on_signal("go"));
    execute_closed(world, WITHOUT_PLACES "PRAGMA user_version = 15");
    int64_t row_count;
    assert_ok(store_verify(world->store, &row_count, &world->diag));
    PlaceList list;
    assert_ok(store_list_places(world->store, &world->arena, 7, &list, &world->diag));
    assert_int_equal(list.count, 1);
    assert_int_equal(list.rows[0].place, PLACE_UNKNOWN);
    assert_int_equal(list.rows[0].waiting_count, 1);
    execute_closed(world, "UPDATE abide_places SET waiting_count = 2");
    assert_status(store_verify(world->store, &row_count, &world->diag), ERR_CORRUPT);
    assert_non_null(strstr(world->diag.message, "counts other runs"));
    execute_closed(world, "UPDATE abide_places SET waiting_count = 1");
}

static void damage_is_answered_with_corrupt_and_not_guessed_about(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    park(world, claimed, on_event("t"));
    store_close(world->store);
    sqlite3 *database = NULL;
    assert_int_equal(sqlite3_open(path_of(world), &database), SQLITE_OK);
    sqlite3_exec(database,
                 "CREATE TABLE saved AS SELECT waits FROM abide_runs;"
                 "UPDATE abide_runs SET waits = x'0102030405'",
                 NULL, NULL, NULL);
    sqlite3_close(database);
    assert_ok(store_open(str_from(world->url), &world->config, &world->store, &world->diag));
    int64_t row_count;
    assert_status(store_verify(world->store, &row_count, &world->diag), ERR_CORRUPT);
    batch_new(world);
    Op *op = op_add(world, OP_SIGNAL);
    op->in.signal.run_id = STR("r1");
    op->in.signal.name = STR("s");
    op->in.signal.payload = STR("1");
    assert_status(batch_try(world), ERR_CORRUPT);
    assert_string_equal(world->diag.code, "STORE_CORRUPT");
    assert_int_equal(get_signals(world, "r1").count, 0); // nothing of the batch was done
    assert_int_equal(get_run(world, "r1").state, RUN_SUSPENDED);
    store_close(world->store);
    assert_int_equal(sqlite3_open(path_of(world), &database), SQLITE_OK);
    sqlite3_exec(database,
                 "UPDATE abide_runs SET waits = (SELECT waits FROM saved);"
                 "DROP TABLE saved",
                 NULL, NULL, NULL);
    sqlite3_close(database);
    assert_ok(store_open(str_from(world->url), &world->config, &world->store, &world->diag));
    assert_int_equal(publish(world, "t", "1")->out.publish.resumed_count, 1);
}

static void wrong_counter_is_found_by_verify(void **state) {
    World *world = *state;
    create(world, "r1");
    store_close(world->store);
    sqlite3 *database = NULL;
    assert_int_equal(sqlite3_open(path_of(world), &database), SQLITE_OK);
    sqlite3_exec(database, "UPDATE abide_counters SET value = value + 1 WHERE number = 3", NULL,
                 NULL, NULL);
    sqlite3_close(database);
    assert_ok(store_open(str_from(world->url), &world->config, &world->store, &world->diag));
    int64_t row_count;
    assert_status(store_verify(world->store, &row_count, &world->diag), ERR_CORRUPT);
    store_close(world->store);
    assert_int_equal(sqlite3_open(path_of(world), &database), SQLITE_OK);
    sqlite3_exec(database, "UPDATE abide_counters SET value = value - 1 WHERE number = 3", NULL,
                 NULL, NULL);
    sqlite3_close(database);
    assert_ok(store_open(str_from(world->url), &world->config, &world->store, &world->diag));
}

static void second_opener_is_refused_and_a_reader_is_welcome(void **state) {
    World *world = *state;
    create(world, "r1");
    Store *second = NULL;
    Diag diag = {0};
    assert_status(store_open(str_from(world->url), &world->config, &second, &diag), ERR_LOCKED);
    assert_string_equal(diag.code, "STORE_LOCKED");
    StoreConfig config = world->config;
    config.is_read_only = true;
    assert_ok(store_open(str_from(world->url), &config, &second, &diag));
    create(world, "r2");
    RunRow run; // [store-8]
    assert_ok(store_run_by_id(second, &world->arena, STR("r2"), &run, &diag));
    Batch batch;
    batch_init(&batch, &world->arena, START_MS);
    batch_add(&batch, OP_FIRE_DUE);
    assert_status(store_commit(second, &batch, &diag), ERR_UNSUPPORTED);
    assert_string_equal(diag.code, "STORE_READ_ONLY");
    store_close(second);
}

int contract_files(void) {
    const struct CMUnitTest tests[] = {
        CASE(step_can_neither_end_the_transaction_nor_touch_our_tables),
        CASE(purged_run_leaves_no_row_in_any_table),
        CASE(file_of_a_newer_version_is_refused_and_left_alone),
        CASE(file_of_version_8_is_brought_up_with_its_runs),
        CASE(file_of_version_13_is_brought_up_with_its_lists),
        CASE(file_of_version_15_is_brought_up_with_its_counts),
        CASE(damage_is_answered_with_corrupt_and_not_guessed_about),
        CASE(wrong_counter_is_found_by_verify),
        CASE(second_opener_is_refused_and_a_reader_is_welcome),
    };
    return run_group("files", tests);
}

// ---- without a file ----

static void stores_in_memory_are_separate(void **state) {
    World *world = *state;
    create(world, "r1");
    Store *other = NULL;
    assert_ok(store_open(str_from(world->url), &world->config, &other, &world->diag));
    RunRow run;
    assert_status(store_run_by_id(other, &world->arena, STR("r1"), &run, &world->diag),
                  ERR_NOT_FOUND);
    store_close(other);
}

int contract_no_files(void) {
    const struct CMUnitTest tests[] = {
        CASE(stores_in_memory_are_separate),
    };
    return run_group("no files", tests);
}

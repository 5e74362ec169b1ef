// What only the SQLite backend has: plans, participants' limits, caches, migrations.
#include "base/array.h"
#include "store/sqlite/internal.h"
#include "store/store.h"
#include "unit/unit.h"
#include <stdio.h>
#include <unistd.h>

typedef struct Fixture {
    char folder[64];
    char path[96];
    RowStorePair pair;
    RowStore *rows;
    sqlite3 *database;
    Arena arena;
    Diag diag;
} Fixture;

static int set_up(void **state) {
    Fixture *f = calloc(1, sizeof(Fixture));
    arena_init(&f->arena);
    snprintf(f->folder, sizeof(f->folder), "/tmp/abide-sqlite-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->path, sizeof(f->path), "%s/store.db", f->folder);
    StoreConfig config = {0};
    assert_ok(sqlite_rows_open(str_from(f->path), &config, &f->pair, &f->diag));
    f->rows = f->pair.writer;
    f->rows->diag = &f->diag;
    f->database = f->rows->ops->database(f->rows).handle;
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    Fixture *f = *state;
    f->pair.reader->ops->close(f->pair.reader);
    f->pair.writer->ops->close(f->pair.writer);
    unlink(f->path);
    assert_int_equal(rmdir(f->folder), 0);
    arena_done(&f->arena);
    free(f);
    return 0;
}

static int execute(Fixture *f, const char *sql) {
    return sqlite3_exec(f->database, sql, NULL, NULL, NULL) & 0xFF;
}

static int64_t query(Fixture *f, const char *sql) {
    int64_t value = -1;
    assert_ok(sqlite_query_i64(f->database, sql, &value, &f->diag));
    return value;
}

// ---- settings ----

static void commits_are_durable_and_logged_ahead(void **state) {
    Fixture *f = *state;
    assert_int_equal(query(f, "PRAGMA synchronous"), 2);
    assert_int_equal(query(f, "SELECT journal_mode = 'wal' FROM pragma_journal_mode"), 1);
    assert_int_equal(query(f, "PRAGMA secure_delete"), 0);
    assert_int_equal(query(f, "PRAGMA foreign_keys"), 0);
    assert_true(query(f, "PRAGMA busy_timeout") >= 1000);
    assert_true(-query(f, "PRAGMA cache_size") <= 64 << 10); // KiB: memory stays bounded
}

// ---- plans ----

// Fails when SQLite would sort, or read more than the range asked for.
static void check_plan(Fixture *f, const Scan *scan) {
    Buf sql, explain;
    buf_init(&sql, 1 << 16);
    buf_init(&explain, 1 << 16);
    sqlite_sql_scan(&sql, scan);
    buf_printf(&explain, "EXPLAIN QUERY PLAN %s", buf_cstr(&sql));
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(f->database, buf_cstr(&explain), -1, &statement, NULL);
    if (code != SQLITE_OK) fail_msg("%s: %s", buf_cstr(&sql), sqlite3_errmsg(f->database));
    while (sqlite3_step(statement) == SQLITE_ROW) {
        const char *step = (const char *)sqlite3_column_text(statement, 3);
        if (strstr(step, "TEMP B-TREE") != NULL) fail_msg("%s: %s", buf_cstr(&sql), step);
        bool is_bounded = scan->match_count > 0 || scan->has_min || scan->has_max;
        if (is_bounded && strstr(step, "SEARCH") == NULL) fail_msg("%s: %s", buf_cstr(&sql), step);
    }
    sqlite3_finalize(statement);
    buf_done(&sql);
    buf_done(&explain);
}

static void no_scan_ever_sorts_or_reads_too_much(void **state) {
    Fixture *f = *state;
    int64_t row[64] = {0};
    int plan_count = 0;
    for (int number = 0; number < TABLE_COUNT; number++) {
        for (int index = SCAN_PRIMARY; index < tables[number].index_count; index++) {
            RowOrder order = row_order(&tables[number], index);
            for (int match = 0; match < order.count; match++) {
                bool is_i64 = tables[number].columns[order.columns[match]].type == COLUMN_I64;
                for (int bits = 0; bits < 8; bits++) {
                    Scan scan = {.table = (TableNumber)number,
                                 .index = index,
                                 .match = row,
                                 .match_count = match,
                                 .has_min = bits & 1,
                                 .has_max = bits & 2,
                                 .is_descending = bits & 4,
                                 .limit = 1};
                    if ((scan.has_min || scan.has_max) && !is_i64) continue;
                    check_plan(f, &scan);
                    plan_count++;
                    bool has_key = tables[number].key_count == 1 &&
                                   tables[number].columns[0].type == COLUMN_I64;
                    bool has_start = index == SCAN_PRIMARY || match == order.index_count ||
                                     (match + 1 == order.index_count &&
                                      (scan.is_descending ? scan.has_max : scan.has_min));
                    if (!has_key || !has_start || (index == SCAN_PRIMARY && match > 0)) continue;
                    scan.after_key = 5;
                    check_plan(f, &scan);
                    plan_count++;
                }
            }
        }
    }
    assert_true(plan_count > 200);
}

// ---- participants, P4 ----

static void a_participant_writes_with_the_transaction(void **state) {
    Fixture *f = *state;
    assert_int_equal(execute(f, "CREATE TABLE effects (x)"), SQLITE_OK);
    assert_ok(f->rows->ops->begin(f->rows, &f->diag));
    assert_ok(f->rows->ops->savepoint(f->rows, &f->diag));
    assert_int_equal(execute(f, "INSERT INTO effects VALUES (1)"), SQLITE_OK);
    assert_ok(f->rows->ops->rollback_to(f->rows, &f->diag));
    assert_ok(f->rows->ops->savepoint(f->rows, &f->diag));
    assert_int_equal(execute(f, "INSERT INTO effects VALUES (2)"), SQLITE_OK);
    assert_ok(f->rows->ops->release(f->rows, &f->diag));
    CounterRow row = {.number = 1, .value = 1};
    assert_ok(rows_insert(f->rows, TABLE_COUNTERS, &row));
    assert_ok(f->rows->ops->commit(f->rows, &f->diag));
    assert_int_equal(query(f, "SELECT group_concat(x) FROM effects"), 2);

    assert_ok(f->rows->ops->begin(f->rows, &f->diag));
    assert_ok(f->rows->ops->savepoint(f->rows, &f->diag));
    assert_int_equal(execute(f, "DELETE FROM effects"), SQLITE_OK);
    assert_ok(f->rows->ops->release(f->rows, &f->diag));
    f->rows->ops->rollback(f->rows);
    assert_int_equal(query(f, "SELECT count(*) FROM effects"), 1);
}

static void a_participant_cannot_end_the_transaction(void **state) {
    Fixture *f = *state;
    const char *const refused[] = {"COMMIT",
                                   "ROLLBACK",
                                   "BEGIN",
                                   "SAVEPOINT x",
                                   "RELEASE abide_step",
                                   "ROLLBACK TO abide_step",
                                   "PRAGMA synchronous = OFF",
                                   "ATTACH ':memory:' AS other"};
    assert_ok(f->rows->ops->begin(f->rows, &f->diag));
    assert_ok(f->rows->ops->savepoint(f->rows, &f->diag));
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        assert_int_equal(execute(f, refused[i]), SQLITE_AUTH);
    }
    assert_ok(f->rows->ops->rollback_to(f->rows, &f->diag));
    CounterRow row = {.number = 1, .value = 1};
    assert_ok(rows_insert(f->rows, TABLE_COUNTERS, &row));
    assert_ok(f->rows->ops->commit(f->rows, &f->diag));
    assert_int_equal(query(f, "SELECT count(*) FROM abide_counters"), 1);
}

static void a_participant_reads_our_tables_but_cannot_change_them(void **state) {
    Fixture *f = *state;
    assert_ok(f->rows->ops->begin(f->rows, &f->diag));
    assert_ok(f->rows->ops->savepoint(f->rows, &f->diag));
    assert_int_equal(execute(f, "INSERT INTO abide_counters VALUES (9, 9)"), SQLITE_AUTH);
    assert_int_equal(execute(f, "UPDATE abide_counters SET value = 0"), SQLITE_AUTH);
    assert_int_equal(execute(f, "DELETE FROM ABIDE_RUNS"), SQLITE_AUTH);
    assert_int_equal(execute(f, "DROP TABLE abide_runs"), SQLITE_AUTH);
    assert_int_equal(execute(f, "SELECT count(*) FROM abide_runs"), SQLITE_OK);
    assert_int_equal(execute(f, "CREATE TABLE mine (x)"), SQLITE_OK);
    assert_ok(f->rows->ops->release(f->rows, &f->diag));
    assert_ok(f->rows->ops->commit(f->rows, &f->diag));
    assert_int_equal(query(f, "SELECT count(*) FROM mine"), 0);
}

// ---- caches ----

static void any_number_of_change_sets_keeps_the_cache_bounded(void **state) {
    Fixture *f = *state;
    RunRow row = {.key = 1, .id = STR("a"), .workflow = STR("w")};
    assert_ok(f->rows->ops->begin(f->rows, &f->diag));
    assert_ok(rows_insert(f->rows, TABLE_RUNS, &row));
    for (uint64_t bits = 1; bits < 600; bits++) {
        row.epoch = (int64_t)bits;
        uint64_t changes = bits << 3 | UINT64_C(1) << 7; // always the epoch
        assert_ok(rows_update(f->rows, TABLE_RUNS, &row, changes));
    }
    assert_true(sqlite_rows(f->rows)->updates.count <= SQLITE_UPDATE_STATEMENTS_MAX);
    RunRow found;
    assert_ok(rows_get(f->rows, TABLE_RUNS, &row, &f->arena, &found));
    assert_int_equal(found.epoch, 599);
    assert_ok(f->rows->ops->commit(f->rows, &f->diag));
}

// ---- failures ----

static void a_full_store_is_refused_and_works_again_with_room(void **state) {
    Fixture *f = *state;
    int64_t pages = query(f, "PRAGMA page_count");
    char sql[64];
    snprintf(sql, sizeof(sql), "PRAGMA max_page_count = %lld", (long long)pages + 4);
    assert_int_equal(execute(f, sql), SQLITE_OK);
    char *data = calloc(1, 100000);
    memset(data, 'x', 100000);
    LogRow row = {.run = 1, .seq = 1, .data = {data, 100000}};
    assert_ok(f->rows->ops->begin(f->rows, &f->diag));
    assert_status(rows_insert(f->rows, TABLE_LOG, &row), ERR_FULL);
    assert_string_equal(f->diag.code, "STORE_FULL");
    f->rows->ops->rollback(f->rows);
    assert_int_equal(execute(f, "PRAGMA max_page_count = 1000000"), SQLITE_OK);
    assert_ok(f->rows->ops->begin(f->rows, &f->diag));
    assert_ok(rows_insert(f->rows, TABLE_LOG, &row));
    assert_ok(f->rows->ops->commit(f->rows, &f->diag));
    free(data);
}

static void a_stranger_holding_the_file_makes_begin_unavailable(void **state) {
    Fixture *f = *state;
    sqlite3 *stranger;
    assert_int_equal(sqlite3_open(f->path, &stranger), SQLITE_OK);
    assert_int_equal(sqlite3_exec(stranger, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_busy_timeout(f->database, 1);
    assert_status(f->rows->ops->begin(f->rows, &f->diag), ERR_UNAVAILABLE);
    assert_string_equal(f->diag.code, "STORE_IO");
    assert_non_null(strstr(f->diag.message, "locked"));
    sqlite3_close(stranger);
    assert_ok(f->rows->ops->begin(f->rows, &f->diag));
    f->rows->ops->rollback(f->rows);
}

static void damage_inside_the_file_is_found(void **state) {
    Fixture *f = *state;
    assert_ok(f->rows->ops->begin(f->rows, &f->diag));
    for (int64_t i = 1; i <= 2000; i++) {
        LogRow row = {.run = i, .seq = 1, .name = STR("a name of some length, to fill pages")};
        assert_ok(rows_insert(f->rows, TABLE_LOG, &row));
    }
    assert_ok(f->rows->ops->commit(f->rows, &f->diag));
    assert_int_equal(execute(f, "PRAGMA wal_checkpoint(TRUNCATE)"), SQLITE_OK);
    int64_t pages = query(f, "PRAGMA page_count");
    FILE *file = fopen(f->path, "r+b");
    char noise[4096];
    memset(noise, 0x5A, sizeof(noise));
    for (int64_t page = pages - 3; page < pages; page++) {
        fseek(file, (long)(page * 4096), SEEK_SET);
        fwrite(noise, 1, sizeof(noise), file);
    }
    fclose(file);
    RowStore *reader = f->pair.reader; // its cache holds none of these pages
    reader->diag = &f->diag;
    assert_ok(reader->ops->read_begin(reader, &f->diag));
    assert_status(rows_check(reader, &f->diag), ERR_CORRUPT);
    assert_string_equal(f->diag.code, "STORE_CORRUPT");
    LogRow *log;
    size_t count;
    Scan scan = {.table = TABLE_LOG, .index = SCAN_PRIMARY, .limit = 5000};
    assert_status(rows_scan(reader, &scan, &f->arena, &log, &count), ERR_CORRUPT);
    reader->ops->read_end(reader);
}

// ---- a log that others have left ----

static int64_t version_of(sqlite3 *database) {
    int64_t version = -1;
    assert_ok(sqlite_query_i64(database, "PRAGMA user_version", &version, NULL));
    return version;
}

static void insert_one(Fixture *f, int64_t run) {
    LogRow row = {.run = run, .seq = 1, .name = STR("a step")};
    assert_ok(f->rows->ops->begin(f->rows, &f->diag));
    assert_ok(rows_insert(f->rows, TABLE_LOG, &row));
    assert_ok(f->rows->ops->commit(f->rows, &f->diag));
}

// What a crash leaves: the file and its log, copied while the writer has them open.
static void copy_to(Fixture *f, char path[128]) {
    char command[512];
    snprintf(path, 128, "%s/left.db", f->folder);
    snprintf(command, sizeof(command), "cp %s %s && cp %s-wal %s-wal", f->path, path, f->path,
             path);
    assert_int_equal(system(command), 0);
}

static void copy_remove(const char *path) {
    static const char *const names[] = {"", "-wal", "-shm", "-lock"};
    char name[160];
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        snprintf(name, sizeof(name), "%s%s", path, names[i]);
        unlink(name);
    }
}

static void damage_last_frame(const char *path) {
    char log_path[160];
    snprintf(log_path, sizeof(log_path), "%s-wal", path);
    FILE *file = fopen(log_path, "r+b");
    assert_non_null(file);
    fseek(file, -100, SEEK_END);
    fputs("this the disk has forgotten", file);
    fclose(file);
}

static void the_frames_of_a_log_are_counted_as_sqlite_counts_them(void **state) {
    Fixture *f = *state;
    char path[128], log_path[160];
    for (int64_t i = 1; i <= 20; i++) insert_one(f, i);
    copy_to(f, path);
    int64_t before = 0, after = 0;
    int recovered = 0;
    assert_ok(sqlite_log_renew(path, &before, &f->diag));
    sqlite3 *database = NULL;
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_int_equal(version_of(database), SCHEMA_VERSION); // which reads the log
    assert_int_equal(
        sqlite3_wal_checkpoint_v2(database, NULL, SQLITE_CHECKPOINT_PASSIVE, &recovered, NULL),
        SQLITE_OK);
    assert_int_equal(before, recovered);
    sqlite3_close(database);
    copy_remove(path);
    copy_to(f, path);
    damage_last_frame(path);
    assert_ok(sqlite_log_renew(path, &after, &f->diag));
    assert_int_equal(after, before - 1);
    snprintf(log_path, sizeof(log_path), "%s-wal", path);
    assert_int_equal(truncate(log_path, 0), 0);
    assert_ok(sqlite_log_renew(path, &after, &f->diag));
    assert_int_equal(after, 0);
    copy_remove(path);
    assert_ok(sqlite_log_renew(path, &after, &f->diag));
    assert_int_equal(after, SQLITE_NO_LOG);
}

// The reader's index says that the last frame is there, so SQLite would read it unseen.
static void a_log_that_lost_pages_under_a_reader_is_refused(void **state) {
    Fixture *f = *state;
    char path[128];
    for (int64_t i = 1; i <= 5; i++) insert_one(f, i);
    copy_to(f, path);
    StoreConfig reading = {.is_read_only = true}, writing = {0};
    RowStorePair reader, writer;
    assert_ok(sqlite_rows_open(str_from(path), &reading, &reader, &f->diag));
    damage_last_frame(path);
    assert_status(sqlite_rows_open(str_from(path), &writing, &writer, &f->diag), ERR_UNAVAILABLE);
    assert_string_equal(f->diag.code, "STORE_IO");
    assert_non_null(strstr(f->diag.message, "end that process"));
    reader.reader->ops->close(reader.reader);
    assert_ok(sqlite_rows_open(str_from(path), &writing, &writer, &f->diag));
    rows_close(writer);
    copy_remove(path);
}

// ---- migrations ----

static Status first_step(sqlite3 *database, Buf *sql, Diag *diag) {
    (void)sql;
    return sqlite_execute(database, "CREATE TABLE one (x)", diag);
}

static Status second_step(sqlite3 *database, Buf *sql, Diag *diag) {
    (void)sql;
    return sqlite_execute(database, "ALTER TABLE one ADD COLUMN y DEFAULT 7", diag);
}

static Status failing_step(sqlite3 *database, Buf *sql, Diag *diag) {
    (void)sql;
    TRY(sqlite_execute(database, "CREATE TABLE half (x)", diag));
    return sqlite_execute(database, "CREATE TABLE one (again)", diag);
}

static int64_t table_count(sqlite3 *database) {
    int64_t count = -1;
    assert_ok(sqlite_query_i64(database, "SELECT count(*) FROM sqlite_schema", &count, NULL));
    return count;
}

static void a_new_file_is_made_at_the_newest_version(void **state) {
    (void)state;
    sqlite3 *database;
    assert_int_equal(sqlite3_open(":memory:", &database), SQLITE_OK);
    const Migration steps[] = {{1, first_step}, {2, failing_step}};
    assert_ok(migrations_run(database, steps, 2, NULL)); // only the first: it makes all
    assert_int_equal(version_of(database), 2);
    assert_int_equal(table_count(database), 1);
    sqlite3_close(database);
}

static void an_older_file_gets_the_steps_it_lacks(void **state) {
    (void)state;
    sqlite3 *database;
    assert_int_equal(sqlite3_open(":memory:", &database), SQLITE_OK);
    const Migration steps[] = {{1, first_step}, {2, second_step}};
    assert_ok(migrations_run(database, steps, 1, NULL));
    assert_int_equal(version_of(database), 1);
    assert_ok(sqlite_execute(database, "INSERT INTO one VALUES (3)", NULL));
    assert_ok(migrations_run(database, steps, 2, NULL));
    assert_int_equal(version_of(database), 2);
    int64_t value = 0;
    assert_ok(sqlite_query_i64(database, "SELECT x * 10 + y FROM one", &value, NULL));
    assert_int_equal(value, 37);
    assert_ok(migrations_run(database, steps, 2, NULL)); // nothing left to do
    assert_int_equal(version_of(database), 2);
    sqlite3_close(database);
}

static void a_failing_step_leaves_the_version_before_it(void **state) {
    (void)state;
    sqlite3 *database;
    Diag diag = {0};
    assert_int_equal(sqlite3_open(":memory:", &database), SQLITE_OK);
    const Migration steps[] = {{1, first_step}, {2, second_step}, {3, failing_step}};
    assert_ok(migrations_run(database, steps, 1, NULL));
    assert_status(migrations_run(database, steps, 3, &diag), ERR_UNAVAILABLE);
    assert_int_equal(version_of(database), 2); // what worked stays
    assert_int_equal(table_count(database), 1);
    assert_true(sqlite3_get_autocommit(database));
    sqlite3_close(database);
}

static void a_failing_first_step_leaves_nothing(void **state) {
    (void)state;
    sqlite3 *database;
    assert_int_equal(sqlite3_open(":memory:", &database), SQLITE_OK);
    assert_ok(sqlite_execute(database, "CREATE TABLE one (x)", NULL));
    const Migration steps[] = {{1, failing_step}};
    assert_status(migrations_run(database, steps, 1, NULL), ERR_UNAVAILABLE);
    assert_int_equal(version_of(database), 0);
    assert_int_equal(table_count(database), 1);
    sqlite3_close(database);
}

static void the_list_of_migrations_ends_at_the_schema_version(void **state) {
    (void)state;
    assert_int_equal(migrations[migration_count - 1].version, SCHEMA_VERSION);
    for (size_t i = 0; i < migration_count; i++) {
        assert_int_equal(migrations[i].version, i + 1);
    }
}

#define SQLITE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        SQLITE_TEST(commits_are_durable_and_logged_ahead),
        SQLITE_TEST(no_scan_ever_sorts_or_reads_too_much),
        SQLITE_TEST(a_participant_writes_with_the_transaction),
        SQLITE_TEST(a_participant_cannot_end_the_transaction),
        SQLITE_TEST(a_participant_reads_our_tables_but_cannot_change_them),
        SQLITE_TEST(any_number_of_change_sets_keeps_the_cache_bounded),
        SQLITE_TEST(a_full_store_is_refused_and_works_again_with_room),
        SQLITE_TEST(a_stranger_holding_the_file_makes_begin_unavailable),
        SQLITE_TEST(damage_inside_the_file_is_found),
        SQLITE_TEST(the_frames_of_a_log_are_counted_as_sqlite_counts_them),
        SQLITE_TEST(a_log_that_lost_pages_under_a_reader_is_refused),
        cmocka_unit_test(a_new_file_is_made_at_the_newest_version),
        cmocka_unit_test(an_older_file_gets_the_steps_it_lacks),
        cmocka_unit_test(a_failing_step_leaves_the_version_before_it),
        cmocka_unit_test(a_failing_first_step_leaves_nothing),
        cmocka_unit_test(the_list_of_migrations_ends_at_the_schema_version),
    };
    return cmocka_run_group_tests_name("store sqlite", tests, NULL, NULL);
}

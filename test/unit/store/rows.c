// The contract of RowStore, [rowstore-1] to [rowstore-9] of rowstore.h: run once per backend.
#include "base/array.h"
#include "base/env.h"
#include "servers/postgres.h"
#include "servers/redis.h"
#include "servers/servers.h"
#include "store/rowstore.h"
#include "store/store.h"
#include "unit/unit.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

typedef struct Fixture {
    RowStorePair pair;
    RowStore *rows; // the writer
    Arena arena;
    Diag diag;
    char folder[64];
    char path[96];
} Fixture;

static bool is_sqlite(void) { return test_backend_is("sqlite"); }
static bool is_postgres(void) { return test_backend_is("postgres"); }
static bool is_redis(void) { return test_backend_is("redis"); }

static int set_up(void **state) {
    Fixture *f = calloc(1, sizeof(Fixture));
    arena_init(&f->arena);
    if (is_sqlite()) {
        snprintf(f->folder, sizeof(f->folder), "/tmp/abide-rows-XXXXXX");
        assert_non_null(mkdtemp(f->folder));
        snprintf(f->path, sizeof(f->path), "%s/store.db", f->folder);
        StoreConfig config = {0};
        assert_ok(sqlite_rows_open(str_from(f->path), &config, &f->pair, &f->diag));
    } else if (is_postgres()) {
        char url[200];
        test_postgres_clear("rows");
        test_postgres_url("rows", url, sizeof(url));
        StoreConfig config = {0};
        assert_ok(rows_open(str_from(url), &config, &f->pair, &f->diag));
    } else if (is_redis()) {
        char url[200];
        test_redis_clear();
        test_redis_url("rows", url, sizeof(url));
        StoreConfig config = {0};
        assert_ok(rows_open(str_from(url), &config, &f->pair, &f->diag));
    } else {
        assert_ok(memory_rows_open(&f->pair, &f->diag));
    }
    f->rows = f->pair.writer;
    f->rows->diag = &f->diag;
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    Fixture *f = *state;
    if (f->pair.reader != f->pair.writer) f->pair.reader->ops->close(f->pair.reader);
    f->pair.writer->ops->close(f->pair.writer);
    if (is_sqlite()) {
        unlink(f->path);
        assert_int_equal(rmdir(f->folder), 0); // nothing else was left behind
    }
    arena_done(&f->arena);
    free(f);
    return 0;
}

static void begin(Fixture *f) { assert_ok(f->rows->ops->begin(f->rows, &f->diag)); }
static void commit(Fixture *f) { assert_ok(f->rows->ops->commit(f->rows, &f->diag)); }

static RunRow run_row(int64_t key, const char *id) {
    return (RunRow){.key = key,
                    .id = str_from(id),
                    .workflow = STR("order"),
                    .state = RUN_RUNNING,
                    .phase = RUN_RUNNING};
}

static void insert_run(Fixture *f, int64_t key, const char *id) {
    RunRow row = run_row(key, id);
    assert_ok(rows_insert(f->rows, TABLE_RUNS, &row));
}

static bool has_run(Fixture *f, RowStore *rows, int64_t key) {
    RunRow found;
    Status status = rows_get(rows, TABLE_RUNS, &(RunRow){.key = key}, &f->arena, &found);
    assert_true(status == OK || status == ERR_NOT_FOUND);
    return status == OK;
}

static void insert_text(Fixture *f, int64_t key, const char *topic) {
    WaiterRow row = {.key = key, .topic = str_from(topic), .run = 1};
    assert_ok(rows_insert(f->rows, TABLE_WAITERS, &row));
}

// The first column of what a scan answers, joined by spaces.
static const char *scan_keys(Fixture *f, const Scan *scan) {
    char *array = NULL;
    size_t count = 0;
    assert_ok(rows_scan(f->rows, scan, &f->arena, &array, &count));
    Str text = STR("");
    for (size_t i = 0; i < count; i++) {
        const void *row = array + i * tables[scan->table].row_size;
        const Column *column = &tables[scan->table].columns[0];
        text = column->type == COLUMN_I64
                   ? arena_printf(&f->arena, "%.*s%s%lld", STR_ARG(text), i > 0 ? " " : "",
                                  (long long)row_i64(row, column))
                   : arena_printf(&f->arena, "%.*s%s%.*s", STR_ARG(text), i > 0 ? " " : "",
                                  STR_ARG(row_str(row, column)));
    }
    return arena_cstr(&f->arena, text);
}
#define assert_keys(f, expected, ...)                                                              \
    assert_string_equal(scan_keys((f), &(Scan){__VA_ARGS__}), (expected))

// ---- [rowstore-1] ----

static void a_commit_shows_to_the_reader_all_at_once(void **state) {
    Fixture *f = *state;
    RowStore *reader = f->pair.reader;
    begin(f);
    insert_run(f, 1, "a");
    insert_run(f, 2, "b");
    bool is_memory = !is_sqlite() && !is_postgres() && !is_redis();
    if (!is_memory) { // there a reader waits instead
        assert_ok(reader->ops->read_begin(reader, &f->diag));
        assert_false(has_run(f, reader, 1));
        reader->ops->read_end(reader);
    }
    commit(f);
    assert_ok(reader->ops->read_begin(reader, &f->diag));
    assert_true(has_run(f, reader, 1));
    assert_true(has_run(f, reader, 2));
    reader->ops->read_end(reader);
}

// Redis keeps no old versions: the reader is told, and keeps writers out the second time.
static void a_reader_whose_view_is_gone_begins_again(void **state) {
    Fixture *f = *state;
    RowStore *reader = f->pair.reader;
    if (!is_redis()) return;
    assert_ok(reader->ops->read_begin(reader, &f->diag));
    reader->diag = &f->diag;
    assert_false(has_run(f, reader, 1));
    begin(f);
    insert_run(f, 1, "a");
    commit(f);
    RunRow found;
    assert_status(rows_get(reader, TABLE_RUNS, &(RunRow){.key = 1}, &f->arena, &found),
                  ERR_UNAVAILABLE);
    assert_true(reader->wants_restart);
    assert_string_equal(f->diag.code, "STORE_CHANGED");
    reader->ops->read_end(reader);
    assert_ok(reader->ops->read_begin(reader, &f->diag));
    assert_false(reader->wants_restart);
    reader->is_retry = true;
    assert_true(has_run(f, reader, 1));
    assert_true(has_run(f, reader, 1));
    reader->ops->read_end(reader);
    begin(f); // nobody keeps it from that any more
    insert_run(f, 2, "b");
    commit(f);
}

static void a_reader_keeps_its_view_while_the_writer_commits(void **state) {
    Fixture *f = *state;
    RowStore *reader = f->pair.reader;
    if (!is_sqlite() && !is_postgres()) return; // the memory store's reader excludes the writer
    assert_ok(reader->ops->read_begin(reader, &f->diag));
    assert_false(has_run(f, reader, 1));
    begin(f);
    insert_run(f, 1, "a");
    commit(f);
    assert_false(has_run(f, reader, 1));
    reader->ops->read_end(reader);
    assert_ok(reader->ops->read_begin(reader, &f->diag));
    assert_true(has_run(f, reader, 1));
    reader->ops->read_end(reader);
}

static void rollback_undoes_every_kind_of_change(void **state) {
    Fixture *f = *state;
    begin(f);
    insert_run(f, 1, "kept");
    insert_run(f, 2, "removed");
    commit(f);
    begin(f);
    RunRow row = run_row(1, "kept");
    row.due_at_ms = 50;
    row.waits = STR("w");
    RunRow before = run_row(1, "kept");
    uint64_t changes = row_changes(&tables[TABLE_RUNS], &before, &row);
    assert_ok(rows_update(f->rows, TABLE_RUNS, &row, changes));
    row.due_at_ms = 60;
    assert_ok(rows_update(f->rows, TABLE_RUNS, &row, changes));
    assert_ok(rows_remove(f->rows, TABLE_RUNS, &(RunRow){.key = 2}));
    insert_run(f, 3, "removed");
    assert_keys(f, "1", .table = TABLE_RUNS, .index = RUNS_BY_DUE, .limit = 9);
    f->rows->ops->rollback(f->rows);

    begin(f);
    assert_keys(f, "", .table = TABLE_RUNS, .index = RUNS_BY_DUE, .limit = 9);
    assert_keys(f, "1 2", .table = TABLE_RUNS, .index = SCAN_PRIMARY, .limit = 9);
    assert_keys(f, "2", .table = TABLE_RUNS, .index = RUNS_BY_ID, .match_count = 1, .limit = 9,
                .match = &(RunRow){.id = STR("removed")});
    RunRow found;
    assert_ok(rows_get(f->rows, TABLE_RUNS, &row, &f->arena, &found));
    assert_int_equal(found.due_at_ms, 0);
    assert_true(str_is_null(found.waits));
    commit(f);
}

// ---- [rowstore-2], [rowstore-6], [rowstore-8] ----

static void a_transaction_sees_its_own_writes(void **state) {
    Fixture *f = *state;
    begin(f);
    insert_run(f, 7, "a");
    assert_true(has_run(f, f->rows, 7));
    assert_keys(f, "7", .table = TABLE_RUNS, .index = RUNS_BY_PHASE, .match_count = 1, .limit = 9,
                .match = &(RunRow){.phase = RUN_RUNNING});
    assert_ok(rows_remove(f->rows, TABLE_RUNS, &(RunRow){.key = 7}));
    assert_false(has_run(f, f->rows, 7));
    assert_keys(f, "", .table = TABLE_RUNS, .index = RUNS_BY_PHASE, .match_count = 1, .limit = 9,
                .match = &(RunRow){.phase = RUN_RUNNING});
    commit(f);
}

static void update_writes_only_the_named_columns(void **state) {
    Fixture *f = *state;
    begin(f);
    RunRow row = run_row(1, "a");
    row.epoch = 5;
    row.snapshot = STR("old");
    assert_ok(rows_insert(f->rows, TABLE_RUNS, &row));
    RunRow changed = row;
    changed.state = RUN_SUSPENDED;
    changed.phase = RUN_SUSPENDED;
    changed.snapshot = STR("new");
    uint64_t changes = row_changes(&tables[TABLE_RUNS], &row, &changed);
    changed.epoch = 99; // not in `changes`
    assert_ok(rows_update(f->rows, TABLE_RUNS, &changed, changes));
    RunRow found;
    assert_ok(rows_get(f->rows, TABLE_RUNS, &row, &f->arena, &found));
    assert_int_equal(found.state, RUN_SUSPENDED);
    assert_int_equal(found.epoch, 5);
    assert_str_equal(found.snapshot, "new");
    assert_str_equal(found.id, "a");
    assert_keys(f, "1", .table = TABLE_RUNS, .index = RUNS_BY_PHASE, .match_count = 1, .limit = 9,
                .match = &(RunRow){.phase = RUN_SUSPENDED});
    assert_keys(f, "", .table = TABLE_RUNS, .index = RUNS_BY_PHASE, .match_count = 1, .limit = 9,
                .match = &(RunRow){.phase = RUN_RUNNING});
    commit(f);
}

// Reads it back in a transaction of its own.
static Str found_snapshot(Fixture *f, int64_t key) {
    const void *found = NULL;
    begin(f);
    assert_ok(rows_find(f->rows, &(RowKey){TABLE_RUNS, SCAN_PRIMARY, &(RunRow){.key = key}},
                        &f->arena, &found));
    Str snapshot = ((const RunRow *)found)->snapshot;
    if (snapshot.data != TEXT_KEPT.data) snapshot = arena_str(&f->arena, snapshot);
    commit(f);
    return snapshot;
}

// [rowstore-11]
static void what_is_found_of_a_run_is_what_is_stored_or_says_that_it_is_not(void **state) {
    Fixture *f = *state;
    static char large[100000];
    memset(large, 'x', sizeof(large));
    RunRow row = run_row(1, "a");
    row.snapshot = STR("small");
    begin(f);
    assert_ok(rows_insert(f->rows, TABLE_RUNS, &row));
    commit(f);
    assert_str_equal(found_snapshot(f, 1), "small");
    uint64_t changes = column_bit(TABLE_RUNS, offsetof(RunRow, snapshot));
    row.snapshot = (Str){large, sizeof(large)};
    begin(f);
    assert_ok(rows_update(f->rows, TABLE_RUNS, &row, changes));
    commit(f);
    Str found = found_snapshot(f, 1);
    assert_true(found.data == TEXT_KEPT.data || str_equal(found, row.snapshot));
    RunRow whole;
    assert_ok(rows_get(f->rows, TABLE_RUNS, &row, &f->arena, &whole));
    assert_true(str_equal(whole.snapshot, row.snapshot));
    row.snapshot = STR_NULL;
    begin(f);
    assert_ok(rows_update(f->rows, TABLE_RUNS, &row, changes));
    f->rows->ops->rollback(f->rows);
    assert_false(str_is_null(found_snapshot(f, 1)));
}

// What was written while it was in no memory, and read after that, is undone as well.
static void what_was_found_before_a_rollback_is_not_found_after_it(void **state) {
    Fixture *f = *state;
    begin(f);
    insert_run(f, 1, "a");
    insert_run(f, 2, "b");
    CounterRow used = {.number = COUNTER_NEXT_KEY, .value = 2}; // nothing lies beyond it
    assert_ok(rows_insert(f->rows, TABLE_COUNTERS, &used));
    commit(f);
    RowKey key = {TABLE_RUNS, SCAN_PRIMARY, &(RunRow){.key = 1}};
    const void *found = NULL;
    for (int is_savepoint = 0; is_savepoint < 2; is_savepoint++) {
        begin(f);
        if (is_savepoint) assert_ok(f->rows->ops->savepoint(f->rows, &f->diag));
        assert_ok(rows_remove(f->rows, TABLE_RUNS, key.match));
        insert_run(f, 1, "another");
        assert_ok(rows_find(f->rows, &key, &f->arena, &found));
        assert_str_equal(((const RunRow *)found)->id, "another");
        assert_ok(rows_remove(f->rows, TABLE_RUNS, &(RunRow){.key = 2}));
        if (is_savepoint) {
            assert_ok(f->rows->ops->rollback_to(f->rows, &f->diag));
            commit(f);
        } else {
            f->rows->ops->rollback(f->rows);
        }
        begin(f);
        assert_ok(rows_find(f->rows, &key, &f->arena, &found));
        assert_str_equal(((const RunRow *)found)->id, "a");
        RowKey by_id = {TABLE_RUNS, RUNS_BY_ID, &(RunRow){.id = STR("b")}};
        assert_ok(rows_find(f->rows, &by_id, &f->arena, &found));
        assert_int_equal(((const RunRow *)found)->key, 2);
        by_id.match = &(RunRow){.id = STR("another")};
        assert_int_equal(rows_find(f->rows, &by_id, &f->arena, &found), ERR_NOT_FOUND);
        commit(f);
    }
}

static void a_missing_row_is_not_found(void **state) {
    Fixture *f = *state;
    begin(f);
    assert_false(has_run(f, f->rows, 1));
    RunRow row = run_row(1, "a");
    assert_status(rows_update(f->rows, TABLE_RUNS, &row, UINT64_C(1) << 5), ERR_NOT_FOUND);
    assert_status(rows_remove(f->rows, TABLE_RUNS, &row), ERR_NOT_FOUND);
    CounterRow counter = {.number = 3, .value = 4};
    assert_status(rows_update(f->rows, TABLE_COUNTERS, &counter, 2), ERR_NOT_FOUND);
    commit(f);
}

// ---- [rowstore-5] ----

static void a_key_that_exists_is_a_conflict_and_changes_nothing(void **state) {
    Fixture *f = *state;
    begin(f);
    insert_run(f, 1, "a");
    RunRow same_key = run_row(1, "b"), same_id = run_row(2, "a");
    assert_status(rows_insert(f->rows, TABLE_RUNS, &same_key), ERR_CONFLICT);
    assert_status(rows_insert(f->rows, TABLE_RUNS, &same_id), ERR_CONFLICT);
    LogRow entry = {.run = 1, .seq = 1, .name = STR("first")};
    assert_ok(rows_insert(f->rows, TABLE_LOG, &entry));
    entry.name = STR("second");
    assert_status(rows_insert(f->rows, TABLE_LOG, &entry), ERR_CONFLICT);
    insert_run(f, 3, "c");
    RunRow taken = run_row(3, "a");
    assert_status(rows_update(f->rows, TABLE_RUNS, &taken, 2), ERR_CONFLICT);
    commit(f);
    assert_keys(f, "1 3", .table = TABLE_RUNS, .index = SCAN_PRIMARY, .limit = 9);
    RunRow found;
    assert_ok(rows_get(f->rows, TABLE_RUNS, &same_key, &f->arena, &found));
    assert_str_equal(found.id, "a");
    assert_ok(rows_get(f->rows, TABLE_LOG, &entry, &f->arena, &entry));
    assert_str_equal(entry.name, "first");
}

// ---- [rowstore-3] ----

static void the_primary_order_is_by_number(void **state) {
    Fixture *f = *state;
    begin(f);
    int64_t keys[] = {300, -1, 2, INT64_MAX, INT64_MIN, 256, 255, 1};
    char id[24];
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        snprintf(id, sizeof(id), "%zu", i);
        insert_run(f, keys[i], id);
    }
    commit(f);
    assert_keys(f, "-9223372036854775808 -1 1 2 255 256 300 9223372036854775807",
                .table = TABLE_RUNS, .index = SCAN_PRIMARY, .limit = 99);
    assert_keys(f, "9223372036854775807 300 256", .table = TABLE_RUNS, .index = SCAN_PRIMARY,
                .limit = 3, .is_descending = true);
    assert_keys(f, "255 256 300", .table = TABLE_RUNS, .index = SCAN_PRIMARY, .limit = 3,
                .after_key = 2);
    assert_keys(f, "2 1 -1", .table = TABLE_RUNS, .index = SCAN_PRIMARY, .limit = 3,
                .after_key = 255, .is_descending = true);
    assert_keys(f, "", .table = TABLE_RUNS, .index = SCAN_PRIMARY, .limit = 3,
                .after_key = INT64_MAX);
    assert_keys(f, "2 255", .table = TABLE_RUNS, .index = SCAN_PRIMARY, .limit = 9, .has_min = true,
                .min = 2, .has_max = true, .max = 255);
    assert_keys(f, "255", .table = TABLE_RUNS, .index = SCAN_PRIMARY, .limit = 9, .after_key = 2,
                .has_min = true, .min = 1, .has_max = true, .max = 255);
    assert_keys(f, "256 300", .table = TABLE_RUNS, .index = SCAN_PRIMARY, .limit = 2,
                .after_key = 2, .has_min = true, .min = 256);
    assert_keys(f, "", .table = TABLE_RUNS, .index = SCAN_PRIMARY, .limit = 9, .has_min = true,
                .min = 5, .has_max = true, .max = 4);
}

static void text_is_ordered_by_bytes(void **state) {
    Fixture *f = *state;
    const char *names[] = {"b", "a", "", "ab", "B", "\xC3\xA9", "z", "a\x01", "\xF0\x9F\x98\x80"};
    begin(f);
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        TopicRow row = {.name = str_from(names[i])};
        assert_ok(rows_insert(f->rows, TABLE_TOPICS, &row));
    }
    commit(f);
    assert_keys(f, " B a a\x01 ab b z \xC3\xA9 \xF0\x9F\x98\x80", .table = TABLE_TOPICS,
                .index = SCAN_PRIMARY, .limit = 99);
    assert_keys(f, "\xF0\x9F\x98\x80 \xC3\xA9 z", .table = TABLE_TOPICS, .index = SCAN_PRIMARY,
                .limit = 3, .is_descending = true);
}

// All rows of a table in steps of `limit`, each beyond the last row of the one before, must be what
// one long scan answers.
static void assert_walk(Fixture *f, RowStore *rows, TableNumber table, int64_t limit) {
    size_t row_size = tables[table].row_size;
    char *all = NULL, *some = NULL;
    size_t all_count = 0, some_count = 0, seen = 0;
    Scan whole = {.table = table, .index = SCAN_PRIMARY, .limit = 999};
    assert_ok(rows_scan(rows, &whole, &f->arena, &all, &all_count));
    assert_true(all_count > 3);
    Scan step = {.table = table, .index = SCAN_PRIMARY, .limit = limit};
    do {
        assert_ok(rows_scan(rows, &step, &f->arena, &some, &some_count));
        for (size_t i = 0; i < some_count; i++) {
            assert_true(seen < all_count);
            assert_int_equal(
                row_changes(&tables[table], all + seen * row_size, some + i * row_size), 0);
            seen++;
        }
        if (some_count > 0) step.after_row = some + (some_count - 1) * row_size;
    } while (some_count > 0);
    assert_int_equal(seen, all_count);
}

static void a_walk_goes_on_beyond_a_row_whatever_its_key_is(void **state) {
    Fixture *f = *state;
    static const char *const words[] = {"", "a", "a\x01", "ab", "b", "\xC3\xA9"};
    enum { WORDS = COUNT_OF(words) };
    static const TableNumber walked[] = {TABLE_TOPICS, TABLE_DEDUPE, TABLE_LOG,
                                         TABLE_TAGS,   TABLE_STATES, TABLE_RUNS};
    begin(f);
    for (int i = 0; i < WORDS; i++) {
        Str word = str_from(words[i]);
        insert_run(f, i + 1, words[i]);
        assert_ok(rows_insert(f->rows, TABLE_TOPICS, &(TopicRow){.name = word}));
        for (int k = 0; k < WORDS; k++) {
            DedupeRow dedupe = {.scope = word, .id = str_from(words[k])};
            assert_ok(rows_insert(f->rows, TABLE_DEDUPE, &dedupe));
            LogRow entry = {.run = i - 2, .seq = k - 2};
            assert_ok(rows_insert(f->rows, TABLE_LOG, &entry));
            assert_ok(rows_insert(f->rows, TABLE_TAGS, &(TagRow){.tag = word, .run = k - 2}));
            StateRow value = {.run = i - 2, .name = str_from(words[k])};
            assert_ok(rows_insert(f->rows, TABLE_STATES, &value));
        }
    }
    commit(f);
    RowStore *reader = f->pair.reader;
    assert_ok(reader->ops->read_begin(reader, &f->diag));
    reader->diag = &f->diag;
    for (size_t i = 0; i < COUNT_OF(walked); i++) {
        for (int64_t limit = 1; limit < 8; limit += 3) assert_walk(f, reader, walked[i], limit);
    }
    reader->ops->read_end(reader);
    for (size_t i = 0; i < COUNT_OF(walked); i++) {
        assert_walk(f, f->rows, walked[i], 4); // the writer too, past what it remembers
    }
}

// Whoever fills a store knows that nothing is there; if he is wrong nothing is changed.
static void filling_looks_for_nothing_and_overwrites_nothing(void **state) {
    Fixture *f = *state;
    f->rows->is_filling = true;
    begin(f);
    insert_run(f, 1, "a");
    insert_run(f, 2, "b");
    commit(f);
    begin(f);
    RunRow again = run_row(1, "c");
    Status status = rows_insert(f->rows, TABLE_RUNS, &again);
    if (status == OK) {
        status = f->rows->ops->commit(f->rows, &f->diag);
        assert_true(status == ERR_CONFLICT || status == ERR_CORRUPT);
    } else {
        assert_status(status, ERR_CONFLICT);
        f->rows->ops->rollback(f->rows);
    }
    f->rows->is_filling = false;
    RowStore *reader = f->pair.reader;
    RunRow found;
    assert_ok(reader->ops->read_begin(reader, &f->diag));
    assert_ok(rows_get(reader, TABLE_RUNS, &(RunRow){.key = 1}, &f->arena, &found));
    reader->ops->read_end(reader);
    assert_true(str_equal(found.id, STR("a")));
}

static void null_text_comes_before_any_text(void **state) {
    Fixture *f = *state;
    begin(f);
    insert_text(f, 1, "b");
    insert_text(f, 2, "");
    insert_text(f, 3, NULL);
    insert_text(f, 4, NULL);
    commit(f);
    assert_keys(f, "3 4 2 1", .table = TABLE_WAITERS, .index = WAITERS_BY_TOPIC, .limit = 9);
    assert_keys(f, "1 2 4 3", .table = TABLE_WAITERS, .index = WAITERS_BY_TOPIC, .limit = 9,
                .is_descending = true);
    assert_keys(f, "3 4", .table = TABLE_WAITERS, .index = WAITERS_BY_TOPIC, .limit = 9,
                .match_count = 1, .match = &(WaiterRow){0});
    assert_keys(f, "2", .table = TABLE_WAITERS, .index = WAITERS_BY_TOPIC, .limit = 9,
                .match_count = 1, .match = &(WaiterRow){.topic = STR("")});
}

static void a_match_takes_no_longer_text(void **state) {
    Fixture *f = *state;
    begin(f);
    insert_text(f, 1, "a");
    insert_text(f, 2, "ab");
    insert_text(f, 3, "a");
    insert_text(f, 4, "a\x01");
    insert_text(f, 5, "A");
    commit(f);
    WaiterRow match = {.topic = STR("a")};
    assert_keys(f, "1 3", .table = TABLE_WAITERS, .index = WAITERS_BY_TOPIC, .limit = 9,
                .match_count = 1, .match = &match);
    assert_keys(f, "3 1", .table = TABLE_WAITERS, .index = WAITERS_BY_TOPIC, .limit = 9,
                .match_count = 1, .match = &match, .is_descending = true);
    assert_keys(f, "3", .table = TABLE_WAITERS, .index = WAITERS_BY_TOPIC, .limit = 9,
                .match_count = 1, .match = &match, .after_key = 1);
    assert_keys(f, "1", .table = TABLE_WAITERS, .index = WAITERS_BY_TOPIC, .limit = 9,
                .match_count = 1, .match = &match, .after_key = 3, .is_descending = true);
    assert_keys(f, "3", .table = TABLE_WAITERS, .index = WAITERS_BY_TOPIC, .limit = 9,
                .match_count = 1, .match = &match, .has_min = true, .min = 2);
}

static void a_sparse_index_holds_only_its_own_rows(void **state) {
    Fixture *f = *state;
    int64_t due[] = {0, 30, 10, 20, 10, 0};
    begin(f);
    for (int64_t i = 0; i < 6; i++) {
        EventRow row = {.key = i + 1, .due_at_ms = due[i], .id = STR("e")};
        if (i % 2 == 0) row.topic = STR("t");
        else row.run = 5;
        assert_ok(rows_insert(f->rows, TABLE_EVENTS, &row));
    }
    commit(f);
    assert_keys(f, "3 5 4 2", .table = TABLE_EVENTS, .index = EVENTS_BY_DUE, .limit = 9);
    assert_keys(f, "2 4 5 3", .table = TABLE_EVENTS, .index = EVENTS_BY_DUE, .limit = 9,
                .is_descending = true);
    assert_keys(f, "3 5 4", .table = TABLE_EVENTS, .index = EVENTS_BY_DUE, .limit = 9,
                .has_max = true, .max = 20);
    assert_keys(f, "4 2", .table = TABLE_EVENTS, .index = EVENTS_BY_DUE, .limit = 9,
                .has_min = true, .min = 11);
    assert_keys(f, "5 4 2", .table = TABLE_EVENTS, .index = EVENTS_BY_DUE, .limit = 9,
                .has_min = true, .min = 10, .after_key = 3);
    assert_keys(f, "5 4", .table = TABLE_EVENTS, .index = EVENTS_BY_DUE, .limit = 9,
                .has_min = true, .min = 10, .after_key = 3, .has_max = true, .max = 20);
    assert_keys(f, "3", .table = TABLE_EVENTS, .index = EVENTS_BY_DUE, .limit = 9, .has_max = true,
                .max = 10, .after_key = 5, .is_descending = true);
    assert_keys(f, "1 3 5", .table = TABLE_EVENTS, .index = EVENTS_BY_TOPIC, .limit = 9);
    assert_keys(f, "2 4 6", .table = TABLE_EVENTS, .index = EVENTS_BY_RUN, .limit = 9,
                .match_count = 1, .match = &(EventRow){.run = 5});
    assert_keys(f, "", .table = TABLE_EVENTS, .index = EVENTS_BY_RUN, .limit = 9, .match_count = 1,
                .match = &(EventRow){.run = 0});
}

static void an_index_of_two_columns_can_be_matched_in_part(void **state) {
    Fixture *f = *state;
    struct {
        int64_t key, owner, rank;
    } data[] = {{1, 0, 1000}, {2, 0, 5}, {3, 9, 1000}, {4, 0, 1000}, {5, 0, 0}, {6, 9, 1}};
    begin(f);
    for (size_t i = 0; i < 6; i++) {
        char id[8];
        snprintf(id, sizeof(id), "%zu", i);
        RunRow row = run_row(data[i].key, id);
        row.owner = data[i].owner;
        row.claim_rank = data[i].rank;
        assert_ok(rows_insert(f->rows, TABLE_RUNS, &row));
    }
    commit(f);
    RunRow nobody = {0}, nine = {.owner = 9, .claim_rank = 1000};
    assert_keys(f, "2 1 4", .table = TABLE_RUNS, .index = RUNS_BY_OWNER, .limit = 9,
                .match_count = 1, .match = &nobody);
    assert_keys(f, "6 3", .table = TABLE_RUNS, .index = RUNS_BY_OWNER, .limit = 9, .match_count = 1,
                .match = &nine);
    assert_keys(f, "3", .table = TABLE_RUNS, .index = RUNS_BY_OWNER, .limit = 9, .match_count = 2,
                .match = &nine);
    assert_keys(f, "4", .table = TABLE_RUNS, .index = RUNS_BY_OWNER, .limit = 9, .match_count = 1,
                .match = &nobody, .has_min = true, .min = 1000, .after_key = 1);
    assert_keys(f, "1 2", .table = TABLE_RUNS, .index = RUNS_BY_OWNER, .limit = 9, .match_count = 1,
                .match = &nobody, .has_max = true, .max = 1000, .after_key = 4,
                .is_descending = true);
    assert_keys(f, "2 1 4 6 3", .table = TABLE_RUNS, .index = RUNS_BY_OWNER, .limit = 9);
    assert_keys(f, "6 3", .table = TABLE_RUNS, .index = RUNS_BY_OWNER, .limit = 9, .has_min = true,
                .min = 1);
}

static void composite_keys_scan_in_their_order(void **state) {
    Fixture *f = *state;
    begin(f);
    for (int64_t run = 3; run >= 1; run--) {
        for (int64_t seq = 12; seq >= 1; seq--) {
            LogRow row = {.run = run, .seq = seq, .position = -1};
            assert_ok(rows_insert(f->rows, TABLE_LOG, &row));
        }
        TagRow red = {.tag = STR("red"), .run = run}, blue = {.tag = STR("blue"), .run = run};
        assert_ok(rows_insert(f->rows, TABLE_TAGS, &red));
        assert_ok(rows_insert(f->rows, TABLE_TAGS, &blue));
        DedupeRow used = {.scope = STR("start"), .id = STR("k"), .due_at_ms = 10 - run};
        if (run == 2) used.id = STR("j");
        if (run == 3) used.scope = STR("event:x");
        assert_ok(rows_insert(f->rows, TABLE_DEDUPE, &used));
    }
    commit(f);
    LogRow *log;
    size_t count;
    Scan scan = {.table = TABLE_LOG,
                 .index = SCAN_PRIMARY,
                 .match = &(LogRow){.run = 2},
                 .match_count = 1,
                 .has_min = true,
                 .min = 9,
                 .limit = 99};
    assert_ok(rows_scan(f->rows, &scan, &f->arena, &log, &count));
    assert_int_equal(count, 4);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(log[i].run, 2);
        assert_int_equal(log[i].seq, 9 + i);
        assert_int_equal(log[i].position, -1);
    }
    scan = (Scan){.table = TABLE_LOG,
                  .index = SCAN_PRIMARY,
                  .match = &(LogRow){.run = 2},
                  .match_count = 1,
                  .is_descending = true,
                  .limit = 1};
    assert_ok(rows_scan(f->rows, &scan, &f->arena, &log, &count));
    assert_int_equal(count, 1);
    assert_int_equal(log[0].seq, 12);
    assert_keys(f, "blue red", .table = TABLE_TAGS, .index = TAGS_BY_RUN, .limit = 9,
                .match_count = 1, .match = &(TagRow){.run = 2});
    TagRow *tags;
    scan = (Scan){.table = TABLE_TAGS,
                  .index = SCAN_PRIMARY,
                  .match = &(TagRow){.tag = STR("red")},
                  .match_count = 1,
                  .has_max = true,
                  .max = 2,
                  .is_descending = true,
                  .limit = 9};
    assert_ok(rows_scan(f->rows, &scan, &f->arena, &tags, &count));
    assert_int_equal(count, 2);
    assert_int_equal(tags[0].run, 2);
    assert_int_equal(tags[1].run, 1);
    assert_keys(f, "event:x start start", .table = TABLE_DEDUPE, .index = DEDUPE_BY_DUE, .limit = 9,
                .has_max = true, .max = 9);
}

// ---- [rowstore-4], payloads ----

static void payloads_come_back_byte_for_byte(void **state) {
    Fixture *f = *state;
    const char *payloads[] = {"null",
                              "[]",
                              "{}",
                              "\"\"",
                              "",
                              "12345678901234567",
                              "1.0",
                              "\"\xF0\x9F\x98\x80\"",
                              " {\"a\" : [ ] }\n",
                              "0x41",
                              "'"};
    size_t payload_count = COUNT_OF(payloads);
    begin(f);
    for (size_t i = 0; i < payload_count; i++) {
        EventRow row = {.key = (int64_t)i + 1,
                        .id = str_from(payloads[i]),
                        .topic = STR("t"),
                        .payload = str_from(payloads[i])};
        assert_ok(rows_insert(f->rows, TABLE_EVENTS, &row));
    }
    EventRow absent = {.key = 99, .id = STR("x"), .topic = STR("t")};
    assert_ok(rows_insert(f->rows, TABLE_EVENTS, &absent));
    commit(f);
    EventRow *events;
    size_t count;
    Scan scan = {.table = TABLE_EVENTS, .index = SCAN_PRIMARY, .limit = 99};
    assert_ok(rows_scan(f->rows, &scan, &f->arena, &events, &count));
    assert_int_equal(count, payload_count + 1);
    for (size_t i = 0; i < payload_count; i++) {
        assert_str_equal(events[i].payload, payloads[i]);
        assert_str_equal(events[i].id, payloads[i]);
    }
    assert_true(str_is_null(events[payload_count].payload));
}

static void bytes_may_be_anything(void **state) {
    Fixture *f = *state;
    char bytes[256];
    for (int i = 0; i < 256; i++) bytes[i] = (char)i;
    RunRow row = run_row(1, "a");
    row.snapshot = (Str){bytes, sizeof(bytes)};
    row.waits = STR("");
    begin(f);
    assert_ok(rows_insert(f->rows, TABLE_RUNS, &row));
    commit(f);
    memset(bytes, 'x', sizeof(bytes)); // the store has its own copy
    RunRow found;
    assert_ok(rows_get(f->rows, TABLE_RUNS, &row, &f->arena, &found));
    assert_int_equal(found.snapshot.len, 256);
    for (int i = 0; i < 256; i++) assert_int_equal((unsigned char)found.snapshot.data[i], i);
    assert_false(str_is_null(found.waits));
    assert_int_equal(found.waits.len, 0);
}

static void big_values_are_kept_whole(void **state) {
    Fixture *f = *state;
    size_t size = 4 << 20;
    char *bytes = malloc(size);
    for (size_t i = 0; i < size; i++) bytes[i] = (char)('a' + i % 23);
    LogRow row = {.run = 1, .seq = 1, .data = {bytes, size}};
    begin(f);
    assert_ok(rows_insert(f->rows, TABLE_LOG, &row));
    commit(f);
    LogRow found;
    assert_ok(rows_get(f->rows, TABLE_LOG, &row, &f->arena, &found));
    assert_true(str_equal(found.data, row.data));
    free(bytes);
}

// ---- [rowstore-7] ----

static void a_savepoint_can_be_undone_alone(void **state) {
    Fixture *f = *state;
    begin(f);
    insert_run(f, 1, "a");
    assert_ok(f->rows->ops->savepoint(f->rows, &f->diag));
    assert_ok(f->rows->ops->rollback_to(f->rows, &f->diag));
    insert_run(f, 2, "b");
    assert_ok(f->rows->ops->savepoint(f->rows, &f->diag));
    assert_ok(f->rows->ops->release(f->rows, &f->diag));
    insert_run(f, 3, "c");
    commit(f);
    assert_keys(f, "1 2 3", .table = TABLE_RUNS, .index = SCAN_PRIMARY, .limit = 9);
}

static void rollback_inside_a_savepoint_undoes_all(void **state) {
    Fixture *f = *state;
    begin(f);
    insert_run(f, 1, "a");
    assert_ok(f->rows->ops->savepoint(f->rows, &f->diag));
    f->rows->ops->rollback(f->rows);
    begin(f);
    assert_false(has_run(f, f->rows, 1));
    commit(f);
}

// ---- [rowstore-9] ----

typedef struct Watch {
    RowStore *reader;
    atomic_bool *is_over;
    int torn_count, error_count;
} Watch;

static Status read_both(RowStore *reader, Arena *arena, CounterRow *ret_a, CounterRow *ret_b) {
    TRY(rows_get(reader, TABLE_COUNTERS, &(CounterRow){.number = 1}, arena, ret_a));
    return rows_get(reader, TABLE_COUNTERS, &(CounterRow){.number = 2}, arena, ret_b);
}

static void *watch_counters(void *context) {
    Watch *watch = context;
    Arena arena;
    arena_init(&arena);
    bool is_retry = false; // [rowstore-10]: the second time it must be answered
    while (!atomic_load(watch->is_over)) {
        Diag diag;
        CounterRow a, b;
        if (watch->reader->ops->read_begin(watch->reader, &diag) != OK) {
            watch->error_count++;
            continue;
        }
        watch->reader->diag = &diag;
        watch->reader->wants_restart = false;
        watch->reader->is_retry = is_retry;
        Status status = read_both(watch->reader, &arena, &a, &b);
        bool is_gone = status != OK && watch->reader->wants_restart && !is_retry;
        if (status == OK && a.value != b.value) watch->torn_count++;
        if (status != OK && !is_gone) watch->error_count++;
        is_retry = is_gone;
        watch->reader->ops->read_end(watch->reader);
        arena_reset(&arena);
    }
    arena_done(&arena);
    return NULL;
}

static void readers_in_other_threads_see_whole_transactions(void **state) {
    Fixture *f = *state;
    CounterRow a = {.number = 1}, b = {.number = 2};
    begin(f);
    assert_ok(rows_insert(f->rows, TABLE_COUNTERS, &a));
    assert_ok(rows_insert(f->rows, TABLE_COUNTERS, &b));
    commit(f);
    atomic_bool is_over = false;
    pthread_t threads[3];
    Watch watches[3];
    for (int i = 0; i < 3; i++) {
        watches[i] = (Watch){.reader = f->pair.reader, .is_over = &is_over};
        assert_int_equal(pthread_create(&threads[i], NULL, watch_counters, &watches[i]), 0);
    }
    for (size_t i = 0; i < scaled(300); i++) {
        begin(f);
        a.value++;
        b.value++;
        assert_ok(rows_update(f->rows, TABLE_COUNTERS, &a, 2));
        assert_ok(rows_update(f->rows, TABLE_COUNTERS, &b, 2));
        if (i % 5 == 0) {
            f->rows->ops->rollback(f->rows);
            a.value--;
            b.value--;
        } else {
            commit(f);
        }
    }
    atomic_store(&is_over, true);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(watches[i].torn_count, 0);
        assert_int_equal(watches[i].error_count, 0);
    }
}

// ---- everything together ----

typedef struct Model { // what the runs table should hold
    RunRow rows[64];
    char ids[64][16];
    bool has[64];
} Model;

static void check_found(Fixture *f, const Model *model, size_t at) {
    const int indexes[] = {SCAN_PRIMARY, RUNS_BY_ID};
    RunRow wanted = {.key = (int64_t)at + 1, .id = str_from(model->ids[at])};
    for (size_t i = 0; i < COUNT_OF(indexes) && model->ids[at][0] != 0; i++) {
        const void *found = NULL;
        RowKey key = {TABLE_RUNS, indexes[i], &wanted};
        assert_int_equal(rows_find(f->rows, &key, &f->arena, &found),
                         model->has[at] ? OK : ERR_NOT_FOUND);
        if (!model->has[at]) continue;
        assert_int_equal(row_changes(&tables[TABLE_RUNS], found, &model->rows[at]), 0);
    }
}

static void check_model(Fixture *f, const Model *model) {
    RunRow *found;
    size_t count, expected = 0;
    for (size_t i = 0; i < 64; i++) check_found(f, model, i);
    Scan scan = {.table = TABLE_RUNS, .index = SCAN_PRIMARY, .limit = 1000};
    assert_ok(rows_scan(f->rows, &scan, &f->arena, &found, &count));
    for (size_t i = 0; i < 64; i++) {
        if (!model->has[i]) continue;
        assert_true(expected < count);
        assert_int_equal(row_changes(&tables[TABLE_RUNS], &found[expected], &model->rows[i]), 0);
        expected++;
    }
    assert_int_equal(count, expected);
    for (int index = 0; index < tables[TABLE_RUNS].index_count; index++) {
        const IndexSpec *spec = &tables[TABLE_RUNS].indexes[index];
        scan = (Scan){
            .table = TABLE_RUNS, .index = index, .limit = 1000, .is_descending = index % 2 == 1};
        assert_ok(rows_scan(f->rows, &scan, &f->arena, &found, &count));
        expected = 0;
        for (size_t i = 0; i < 64; i++) {
            if (model->has[i] && index_has_row(&tables[TABLE_RUNS], spec, &model->rows[i])) {
                expected++;
            }
        }
        assert_int_equal(count, expected);
    }
}

static void random_changes_and_rollbacks_keep_rows_and_indexes_in_step(void **state) {
    Fixture *f = *state;
    uint64_t random = 42;
    Model *model = calloc(1, sizeof(Model)), *saved = calloc(1, sizeof(Model));
    for (size_t turn = 0; turn < scaled(200); turn++) {
        *saved = *model;
        begin(f);
        for (int i = 0; i < 20; i++) {
            size_t at = random_next(&random) % 64;
            RunRow row = {.key = (int64_t)at + 1, .workflow = STR("w")};
            row.state = (int64_t)(random_next(&random) % 7 + 1);
            row.due_at_ms = (int64_t)(random_next(&random) % 5);
            row.owner = (int64_t)(random_next(&random) % 3);
            row.claim_rank = (int64_t)(random_next(&random) % 3);
            row.parent = (int64_t)(random_next(&random) % 2);
            row.snapshot = random_next(&random) % 2 ? STR("some bytes") : STR_NULL;
            snprintf(model->ids[at], sizeof(model->ids[at]), "id-%zu", at);
            row.id = str_from(model->ids[at]);
            if (!model->has[at]) {
                assert_ok(rows_insert(f->rows, TABLE_RUNS, &row));
                model->has[at] = true;
                model->rows[at] = row;
            } else if (random_next(&random) % 3 == 0) {
                assert_ok(rows_remove(f->rows, TABLE_RUNS, &row));
                model->has[at] = false;
            } else {
                uint64_t changes = row_changes(&tables[TABLE_RUNS], &model->rows[at], &row);
                assert_ok(rows_update(f->rows, TABLE_RUNS, &row, changes));
                model->rows[at] = row;
            }
        }
        check_model(f, model);
        if (random_next(&random) % 3 == 0) {
            f->rows->ops->rollback(f->rows);
            *model = *saved;
            for (size_t i = 0; i < 64; i++) model->rows[i].id = str_from(model->ids[i]);
        } else {
            commit(f);
        }
        begin(f);
        check_model(f, model);
        commit(f);
        arena_reset(&f->arena);
    }
    RowStore *reader = f->pair.reader;
    assert_ok(reader->ops->read_begin(reader, &f->diag));
    assert_ok(rows_check(reader, &f->diag));
    reader->ops->read_end(reader);
    free(model);
    free(saved);
}

static void every_table_takes_and_returns_its_own_rows(void **state) {
    Fixture *f = *state;
    for (int number = 0; number < TABLE_COUNT; number++) {
        const Table *table = &tables[number];
        int64_t space[64] = {0}, back[64] = {0}; // aligned room for any row
        assert_true(table->row_size <= sizeof(space));
        for (uint8_t i = 0; i < table->column_count; i++) {
            const Column *column = &table->columns[i];
            if (column->type == COLUMN_I64) row_set_i64(space, column, i + 1);
            else row_set_str(space, column, str_from(column->name));
        }
        begin(f);
        assert_ok(rows_insert(f->rows, (TableNumber)number, space));
        const Column *last = &table->columns[table->column_count - 1];
        if (table->column_count > table->key_count) {
            if (last->type == COLUMN_I64) row_set_i64(space, last, 77);
            else row_set_str(space, last, STR_NULL);
            assert_ok(rows_update(f->rows, (TableNumber)number, space,
                                  UINT64_C(1) << (table->column_count - 1)));
        }
        commit(f);
        assert_ok(rows_get(f->rows, (TableNumber)number, space, &f->arena, back));
        assert_int_equal(row_changes(table, space, back), 0);
        begin(f);
        assert_ok(rows_remove(f->rows, (TableNumber)number, space));
        commit(f);
        assert_status(rows_get(f->rows, (TableNumber)number, space, &f->arena, back),
                      ERR_NOT_FOUND);
    }
}

#define ROWS_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        ROWS_TEST(a_commit_shows_to_the_reader_all_at_once),
        ROWS_TEST(a_reader_keeps_its_view_while_the_writer_commits),
        ROWS_TEST(a_reader_whose_view_is_gone_begins_again),
        ROWS_TEST(rollback_undoes_every_kind_of_change),
        ROWS_TEST(a_transaction_sees_its_own_writes),
        ROWS_TEST(update_writes_only_the_named_columns),
        ROWS_TEST(what_is_found_of_a_run_is_what_is_stored_or_says_that_it_is_not),
        ROWS_TEST(what_was_found_before_a_rollback_is_not_found_after_it),
        ROWS_TEST(a_missing_row_is_not_found),
        ROWS_TEST(a_key_that_exists_is_a_conflict_and_changes_nothing),
        ROWS_TEST(the_primary_order_is_by_number),
        ROWS_TEST(text_is_ordered_by_bytes),
        ROWS_TEST(a_walk_goes_on_beyond_a_row_whatever_its_key_is),
        ROWS_TEST(filling_looks_for_nothing_and_overwrites_nothing),
        ROWS_TEST(null_text_comes_before_any_text),
        ROWS_TEST(a_match_takes_no_longer_text),
        ROWS_TEST(a_sparse_index_holds_only_its_own_rows),
        ROWS_TEST(an_index_of_two_columns_can_be_matched_in_part),
        ROWS_TEST(composite_keys_scan_in_their_order),
        ROWS_TEST(payloads_come_back_byte_for_byte),
        ROWS_TEST(bytes_may_be_anything),
        ROWS_TEST(big_values_are_kept_whole),
        ROWS_TEST(a_savepoint_can_be_undone_alone),
        ROWS_TEST(rollback_inside_a_savepoint_undoes_all),
        ROWS_TEST(readers_in_other_threads_see_whole_transactions),
        ROWS_TEST(random_changes_and_rollbacks_keep_rows_and_indexes_in_step),
        ROWS_TEST(every_table_takes_and_returns_its_own_rows),
    };
    return cmocka_run_group_tests_name("rows", tests, NULL, NULL);
}

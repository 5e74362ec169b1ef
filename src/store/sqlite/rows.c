// SQLite rows: the RowStore verbs over prepared statements.
//
// Two connections to one file in WAL mode: the writer, and a reader beside it that sees whole
// transactions only. Statements are prepared when first used and kept.
//
//   [sqlite-rows-1] A statement is reset before its function returns, so that none holds a lock or
//        a position, and none keeps pointing at the caller's row (bindings are SQLITE_STATIC).
//   [sqlite-rows-2] Columns are bound and read in the order of the table; the SQL was made in that
//        order.
//   [sqlite-rows-3] Text is read as bytes: what went in comes out, whatever it is.
//   [sqlite-rows-4] While a participant's SQL may run it can neither end the transaction nor touch
//        our own tables: SQLite asks `authorize` whenever a statement is prepared.
//
// Not here: SQL text (sqlite/sql.c), opening and closing files (sqlite/open.c).
#include "base/array.h"
#include "base/assert.h"
#include "base/limits.h"
#include "base/memory.h"
#include "store/sqlite/internal.h"

static const RowStoreOps sqlite_ops;

SqliteRows *sqlite_rows(RowStore *rows) {
    ASSERT(rows->ops == &sqlite_ops);
    return (SqliteRows *)rows;
}

SqliteRows *sqlite_rows_new(const char *path) {
    SqliteRows *self = mem_zalloc(sizeof(SqliteRows));
    self->base.ops = &sqlite_ops;
    self->path = mem_copy(path, strlen(path));
    self->lock.fd = -1;
    buf_init(&self->sql, SQLITE_SQL_SIZE_MAX);
    map_init(&self->updates);
    map_init(&self->scans);
    run_cache_init(&self->runs, LIMIT_RUN_CACHE_SIZE);
    return self;
}

static Status fail(SqliteRows *self, int code, Diag *diag) {
    return sqlite_error(self->database, code, self->path, diag);
}

// ---- statements ----

static Status prepare(SqliteRows *self, const char *sql, sqlite3_stmt **ret_statement, Diag *diag) {
    ASSERT(!self->sql.is_overflown);
    sqlite3_stmt *statement = NULL;
    int code =
        sqlite3_prepare_v3(self->database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL);
    if (code != SQLITE_OK) return fail(self, code, diag);
    *ret_statement = statement;
    return OK;
}

// Runs a statement that answers no rows.
static Status run(SqliteRows *self, sqlite3_stmt *statement, Diag *diag) {
    int code = sqlite3_step(statement);
    Status status = code == SQLITE_DONE ? OK : fail(self, code, diag);
    sqlite3_reset(statement); // [sqlite-rows-1]; its code repeats what step answered
    return status;
}

static Status run_text(SqliteRows *self, sqlite3_stmt **slot, const char *sql, Diag *diag) {
    if (*slot == NULL) TRY(prepare(self, sql, slot, diag));
    return run(self, *slot, diag);
}

static void statements_clear(Map *map) {
    size_t at = 0;
    uint64_t key;
    void *value;
    while (map_next(map, &at, &key, &value)) sqlite3_finalize(value);
    map_done(map);
    map_init(map);
}

static int refuse_if_ours(const char *name) {
    return sqlite3_strnicmp(name, SQLITE_PREFIX, sizeof(SQLITE_PREFIX) - 1) == 0 ? SQLITE_DENY
                                                                                 : SQLITE_OK;
}

// [sqlite-rows-4] Called by SQLite for each thing a statement that is being prepared would do. The
//      name of
// the table comes first, or second after that of an index, a trigger or the database.
static int authorize(void *context, int action, const char *first, const char *second,
                     const char *database, const char *trigger) {
    (void)database, (void)trigger;
    const SqliteRows *self = context;
    if (!self->is_participating) return SQLITE_OK;
    switch (action) {
    case SQLITE_TRANSACTION:
    case SQLITE_SAVEPOINT:
    case SQLITE_ATTACH:
    case SQLITE_DETACH:
    case SQLITE_PRAGMA: return SQLITE_DENY;
    case SQLITE_INSERT:
    case SQLITE_UPDATE:
    case SQLITE_DELETE:
    case SQLITE_DROP_TABLE: return refuse_if_ours(first);
    case SQLITE_ALTER_TABLE:
    case SQLITE_CREATE_INDEX:
    case SQLITE_DROP_INDEX:
    case SQLITE_CREATE_TRIGGER:
    case SQLITE_CREATE_TEMP_TRIGGER:
    case SQLITE_CREATE_TEMP_INDEX: return refuse_if_ours(second);
    default: return SQLITE_OK;
    }
}

void sqlite_rows_protect(SqliteRows *self) {
    sqlite3_set_authorizer(self->database, authorize, self);
}

static Status prepare_get(SqliteRows *self, TableNumber number, Diag *diag) {
    sqlite_sql_get(&self->sql, &tables[number]);
    return prepare(self, buf_cstr(&self->sql), &self->get[number], diag);
}

Status sqlite_rows_check_schema(SqliteRows *self, Diag *diag) {
    for (int number = 0; number < TABLE_COUNT; number++) {
        if (self->get[number] == NULL) TRY(prepare_get(self, (TableNumber)number, diag));
    }
    return OK;
}

// ---- binding and reading, [sqlite-rows-2] ----

static int bind_column(sqlite3_stmt *statement, int place, const Column *column, const void *row) {
    if (column->type == COLUMN_I64) {
        return sqlite3_bind_int64(statement, place, row_i64(row, column));
    }
    Str value = row_str(row, column);
    if (str_is_null(value)) return sqlite3_bind_null(statement, place);
    if (column->type == COLUMN_TEXT) {
        return sqlite3_bind_text64(statement, place, value.data, value.len, SQLITE_STATIC,
                                   SQLITE_UTF8);
    }
    return sqlite3_bind_blob64(statement, place, value.data, value.len, SQLITE_STATIC);
}

static Status bind_keys(SqliteRows *self, sqlite3_stmt *statement, int place, const Table *table,
                        const void *row) {
    for (uint8_t i = 0; i < table->key_count; i++) {
        int code = bind_column(statement, place + i, &table->columns[i], row);
        if (code != SQLITE_OK) return fail(self, code, self->base.diag);
    }
    return OK;
}

static Str read_str(sqlite3_stmt *statement, int place, Arena *arena) {
    if (sqlite3_column_type(statement, place) == SQLITE_NULL) return STR_NULL;
    const void *data =
        sqlite3_column_blob(statement, place); // [sqlite-rows-3]; NULL for an empty one
    int len = sqlite3_column_bytes(statement, place);
    return arena_str(arena, (Str){len > 0 ? data : "", (size_t)len});
}

static void read_row(sqlite3_stmt *statement, const Table *table, Arena *arena, void *ret_row) {
    for (uint8_t i = 0; i < table->column_count; i++) {
        const Column *column = &table->columns[i];
        if (column->type == COLUMN_I64) {
            row_set_i64(ret_row, column, sqlite3_column_int64(statement, i));
        } else {
            row_set_str(ret_row, column, read_str(statement, i, arena));
        }
    }
}

// ---- transactions ----

static Status sqlite_begin(RowStore *rows, Diag *diag) {
    SqliteRows *self = sqlite_rows(rows);
    if (self->is_read_only) {
        return diag_set(diag, ERR_UNAVAILABLE, "STORE_READ_ONLY", "%s was opened read-only",
                        self->path);
    }
    ASSERT(self->is_writer);
    run_cache_begin(&self->runs);
    return run_text(self, &self->begin, "BEGIN IMMEDIATE", diag);
}

static void sqlite_rollback(RowStore *rows);

static Status sqlite_commit(RowStore *rows, Diag *diag) {
    SqliteRows *self = sqlite_rows(rows);
    ASSERT(!self->is_participating);
    Status status = run_text(self, &self->commit, "COMMIT", diag);
    if (status != OK) {
        sqlite_rollback(rows);        // nothing of it stays open
        run_cache_clear(&self->runs); // [run-cache-2]
    }
    return status;
}

static void sqlite_rollback(RowStore *rows) {
    SqliteRows *self = sqlite_rows(rows);
    self->is_participating = false;
    run_cache_undo(&self->runs);
    // After a full disk or an I/O error SQLite has rolled back by itself.
    if (sqlite3_get_autocommit(self->database)) return;
    Status status = run_text(self, &self->rollback, "ROLLBACK", NULL);
    // What remains after a failed ROLLBACK is undone when the connection is closed or the next
    // BEGIN fails; nothing of it can be committed, because commit is not called any more.
    (void)status;
}

static Status sqlite_savepoint(RowStore *rows, Diag *diag) {
    SqliteRows *self = sqlite_rows(rows);
    ASSERT(!self->is_participating);
    // Prepared before the participant runs, because [sqlite-rows-4] would refuse them later.
    if (self->rollback_to == NULL) {
        TRY(prepare(self, "SAVEPOINT abide_step", &self->savepoint, diag));
        TRY(prepare(self, "RELEASE abide_step", &self->release, diag));
        TRY(prepare(self, "ROLLBACK TO abide_step", &self->rollback_to, diag));
    }
    TRY(run(self, self->savepoint, diag));
    self->is_participating = true;
    return OK;
}

// No statement can end the transaction [sqlite-rows-4], but an INSERT OR ROLLBACK that fails, or a
// trigger that raises ROLLBACK, does.
static Status participation_end(SqliteRows *self, Diag *diag) {
    ASSERT(self->is_participating);
    self->is_participating = false;
    if (!sqlite3_get_autocommit(self->database)) return OK;
    return diag_set(diag, ERR_INVALID, "STEP_EXPELLED",
                    "the step has rolled back the transaction it takes part in");
}

static Status sqlite_rollback_to(RowStore *rows, Diag *diag) {
    SqliteRows *self = sqlite_rows(rows);
    TRY(participation_end(self, diag));
    run_cache_undo(&self->runs);
    TRY(run(self, self->rollback_to, diag));
    return run(self, self->release, diag);
}

static Status sqlite_release(RowStore *rows, Diag *diag) {
    SqliteRows *self = sqlite_rows(rows);
    TRY(participation_end(self, diag));
    return run(self, self->release, diag);
}

static Status sqlite_read_begin(RowStore *rows, Diag *diag) {
    SqliteRows *self = sqlite_rows(rows);
    if (self->has_mutex) pthread_mutex_lock(&self->mutex);
    Status status = run_text(self, &self->read_begin, "BEGIN", diag);
    if (status != OK && self->has_mutex) pthread_mutex_unlock(&self->mutex);
    return status;
}

static void sqlite_read_end(RowStore *rows) {
    SqliteRows *self = sqlite_rows(rows);
    sqlite_rollback(rows);
    if (self->has_mutex) pthread_mutex_unlock(&self->mutex);
}

// ---- rows ----

static Status sqlite_get(RowStore *rows, TableNumber number, const void *key_row, Arena *arena,
                         void *ret_row) {
    SqliteRows *self = sqlite_rows(rows);
    const Table *table = &tables[number];
    if (self->get[number] == NULL) TRY(prepare_get(self, number, rows->diag));
    sqlite3_stmt *statement = self->get[number];
    TRY(bind_keys(self, statement, 1, table, key_row));
    int code = sqlite3_step(statement);
    Status status = OK;
    if (code == SQLITE_ROW) read_row(statement, table, arena, ret_row);
    else status = code == SQLITE_DONE ? ERR_NOT_FOUND : fail(self, code, rows->diag);
    sqlite3_reset(statement);
    return status;
}

static Status sqlite_scan(RowStore *rows, const Scan *scan, Arena *arena, void *ret_rows,
                          size_t *ret_count);

static const RunRow *find_in_memory(SqliteRows *self, const RowKey *key) {
    if (key->table != TABLE_RUNS) return NULL;
    const RunRow *wanted = key->match;
    return key->index == SCAN_PRIMARY ? run_cache_find(&self->runs, wanted->key)
                                      : run_cache_find_id(&self->runs, wanted->id);
}

static Status sqlite_find(RowStore *rows, const RowKey *key, Arena *arena, const void **ret_row) {
    SqliteRows *self = sqlite_rows(rows);
    ASSERT(self->is_writer);
    const void *known = find_in_memory(self, key);
    if (known == NULL) {
        Scan scan = row_key_scan(key);
        void *row = NULL;
        size_t count = 0;
        TRY(sqlite_scan(rows, &scan, arena, &row, &count));
        if (count == 0) return ERR_NOT_FOUND;
        known = find_in_memory(self, key);
        if (known == NULL) known = row;
    }
    *ret_row = known;
    return OK;
}

static Status sqlite_insert(RowStore *rows, TableNumber number, const void *row) {
    SqliteRows *self = sqlite_rows(rows);
    const Table *table = &tables[number];
    if (self->insert[number] == NULL) {
        sqlite_sql_insert(&self->sql, table);
        TRY(prepare(self, buf_cstr(&self->sql), &self->insert[number], rows->diag));
    }
    sqlite3_stmt *statement = self->insert[number];
    for (uint8_t i = 0; i < table->column_count; i++) {
        int code = bind_column(statement, i + 1, &table->columns[i], row);
        if (code != SQLITE_OK) return fail(self, code, rows->diag);
    }
    TRY(run(self, statement, rows->diag));
    if (number == TABLE_RUNS) run_cache_insert(&self->runs, row); // [run-cache-1]
    return OK;
}

static Status update_statement(SqliteRows *self, TableNumber number, uint64_t changes,
                               sqlite3_stmt **ret_statement) {
    uint64_t key = changes * TABLE_COUNT + (uint64_t)number; // at most 40 columns: no overflow
    sqlite3_stmt *statement = map_get(&self->updates, key);
    if (statement == NULL) {
        if (self->updates.count >= SQLITE_UPDATE_STATEMENTS_MAX) statements_clear(&self->updates);
        sqlite_sql_update(&self->sql, &tables[number], changes);
        TRY(prepare(self, buf_cstr(&self->sql), &statement, self->base.diag));
        map_put(&self->updates, key, statement);
    }
    *ret_statement = statement;
    return OK;
}

static Status sqlite_update(RowStore *rows, TableNumber number, const void *row, uint64_t changes) {
    SqliteRows *self = sqlite_rows(rows);
    const Table *table = &tables[number];
    ASSERT((changes & ((UINT64_C(1) << table->key_count) - 1)) == 0);
    ASSERT(table->column_count <= 56 && changes >> table->column_count == 0);
    if (changes == 0) return OK;
    sqlite3_stmt *statement = NULL;
    TRY(update_statement(self, number, changes, &statement));
    int place = 1;
    for (uint8_t i = 0; i < table->column_count; i++) {
        if ((changes >> i & 1) == 0) continue;
        int code = bind_column(statement, place++, &table->columns[i], row);
        if (code != SQLITE_OK) return fail(self, code, rows->diag);
    }
    TRY(bind_keys(self, statement, place, table, row));
    TRY(run(self, statement, rows->diag));
    if (number == TABLE_RUNS) run_cache_update(&self->runs, row, changes);
    return sqlite3_changes(self->database) > 0 ? OK : ERR_NOT_FOUND;
}

static Status sqlite_remove(RowStore *rows, TableNumber number, const void *key_row) {
    SqliteRows *self = sqlite_rows(rows);
    const Table *table = &tables[number];
    if (self->remove[number] == NULL) {
        sqlite_sql_remove(&self->sql, table);
        TRY(prepare(self, buf_cstr(&self->sql), &self->remove[number], rows->diag));
    }
    sqlite3_stmt *statement = self->remove[number];
    TRY(bind_keys(self, statement, 1, table, key_row));
    TRY(run(self, statement, rows->diag));
    if (number == TABLE_RUNS) run_cache_remove(&self->runs, ((const RunRow *)key_row)->key);
    return sqlite3_changes(self->database) > 0 ? OK : ERR_NOT_FOUND;
}

// ---- scans ----

// Everything that the SQL of a scan depends on.
static uint64_t scan_shape(const Scan *scan) {
    uint64_t shape = (uint64_t)scan->table;
    shape = shape * (TABLE_INDEXES_MAX + 1) + (uint64_t)(scan->index + 1);
    shape = shape * ORDER_COLUMNS_MAX + (uint64_t)scan->match_count;
    shape = shape << 1 | scan->has_min;
    shape = shape << 1 | scan->has_max;
    shape = shape << 1 | (scan->after_key != 0);
    shape = shape << 1 | (scan->after_row != NULL);
    return shape << 1 | scan->is_descending;
}

static Status scan_bind(SqliteRows *self, sqlite3_stmt *statement, const Scan *scan) {
    const Table *table = &tables[scan->table];
    RowOrder order = row_order(table, scan->index);
    int place = 1, code = SQLITE_OK;
    for (int i = 0; i < scan->match_count && code == SQLITE_OK; i++) {
        code = bind_column(statement, place++, &table->columns[order.columns[i]], scan->match);
    }
    if (code == SQLITE_OK && scan->after_row != NULL) {
        TRY(bind_keys(self, statement, place, table, scan->after_row));
        place += table->key_count;
    }
    int64_t numbers[5];
    int count = 0;
    if (scan->has_min) numbers[count++] = scan->min;
    if (scan->has_max) numbers[count++] = scan->max;
    if (scan->after_key != 0) {
        bool is_pair = scan->index != SCAN_PRIMARY && scan->match_count < order.index_count;
        if (is_pair) numbers[count++] = scan->is_descending ? scan->max : scan->min;
        numbers[count++] = scan->after_key;
    }
    numbers[count++] = scan->limit;
    for (int i = 0; i < count && code == SQLITE_OK; i++) {
        code = sqlite3_bind_int64(statement, place++, numbers[i]);
    }
    return code == SQLITE_OK ? OK : fail(self, code, self->base.diag);
}

static Status sqlite_scan(RowStore *rows, const Scan *scan, Arena *arena, void *ret_rows,
                          size_t *ret_count) {
    SqliteRows *self = sqlite_rows(rows);
    const Table *table = &tables[scan->table];
    scan_check(scan);
    uint64_t shape = scan_shape(scan);
    sqlite3_stmt *statement = map_get(&self->scans, shape);
    if (statement == NULL) {
        sqlite_sql_scan(&self->sql, scan);
        TRY(prepare(self, buf_cstr(&self->sql), &statement, rows->diag));
        map_put(&self->scans, shape, statement);
    }
    TRY(scan_bind(self, statement, scan));
    size_t count = 0, capacity = scan->limit < 8 ? (size_t)scan->limit : 8;
    char *array = arena_alloc(arena, capacity * table->row_size);
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        if (count == capacity) {
            char *larger = arena_alloc(arena, 2 * capacity * table->row_size);
            memcpy(larger, array, count * table->row_size);
            array = larger;
            capacity *= 2;
        }
        void *row = array + count * table->row_size;
        read_row(statement, table, arena, row);
        if (self->is_writer && scan->table == TABLE_RUNS)
            (void)run_cache_add(&self->runs, row); // [run-cache-1]
        count++;
    }
    Status status = code == SQLITE_DONE ? OK : fail(self, code, rows->diag);
    sqlite3_reset(statement);
    if (status != OK) return status;
    memcpy(ret_rows, &array, sizeof(array));
    *ret_count = count;
    return OK;
}

// ---- the rest ----

static StepDatabase sqlite_database(RowStore *rows) {
    return (StepDatabase){DATABASE_SQLITE, sqlite_rows(rows)->database};
}

static Status sqlite_check(RowStore *rows, Diag *diag) {
    SqliteRows *self = sqlite_rows(rows);
    sqlite3_stmt *statement = NULL;
    TRY(prepare(self, "PRAGMA integrity_check(1)", &statement, diag));
    int code = sqlite3_step(statement);
    Status status = OK;
    if (code != SQLITE_ROW) {
        status = fail(self, code, diag);
    } else {
        const char *text = (const char *)sqlite3_column_text(statement, 0);
        if (text == NULL || strcmp(text, "ok") != 0) {
            status = diag_set(diag, ERR_CORRUPT, "STORE_CORRUPT", "%s: %s", self->path,
                              text != NULL ? text : "no answer from the check");
        }
    }
    sqlite3_finalize(statement);
    return status;
}

static void sqlite_close(RowStore *rows) {
    SqliteRows *self = sqlite_rows(rows);
    sqlite3_stmt *const others[] = {self->begin,      self->commit,    self->rollback,
                                    self->read_begin, self->savepoint, self->rollback_to,
                                    self->release};
    for (size_t i = 0; i < COUNT_OF(others); i++) sqlite3_finalize(others[i]);
    for (int number = 0; number < TABLE_COUNT; number++) {
        sqlite3_finalize(self->get[number]);
        sqlite3_finalize(self->insert[number]);
        sqlite3_finalize(self->remove[number]);
    }
    statements_clear(&self->updates);
    statements_clear(&self->scans);
    map_done(&self->updates);
    map_done(&self->scans);
    run_cache_done(&self->runs);
    // A participant may have left a statement of its own open; close_v2 waits for it.
    sqlite3_close_v2(self->database);
    sqlite_lock_release(&self->lock);
    if (self->has_mutex) pthread_mutex_destroy(&self->mutex);
    buf_done(&self->sql);
    mem_free(self->path);
    mem_free(self);
}

static const RowStoreOps sqlite_ops = {
    .name = "sqlite",
    .begin = sqlite_begin,
    .commit = sqlite_commit,
    .rollback = sqlite_rollback,
    .savepoint = sqlite_savepoint,
    .rollback_to = sqlite_rollback_to,
    .release = sqlite_release,
    .read_begin = sqlite_read_begin,
    .read_end = sqlite_read_end,
    .get = sqlite_get,
    .find = sqlite_find,
    .insert = sqlite_insert,
    .update = sqlite_update,
    .remove = sqlite_remove,
    .scan = sqlite_scan,
    .database = sqlite_database,
    .check = sqlite_check,
    .close = sqlite_close,
};

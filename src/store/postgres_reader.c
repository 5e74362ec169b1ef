// The reader's side of PostgreSQL, and opening a store there.
//
// A read is a transaction of its own with one view of everything (REPEATABLE READ, READ ONLY). Its
// BEGIN travels with its first question and its end with nobody waiting for it, so a read that
// asks once costs one round trip.
//
//   [D1] One read at a time, and nobody waits for ever for those before (read_turn.h).
//   [D2] A read whose connection turns out to be lost at its first question asks again on a new
//        one; later its view is gone, and it answers ERR_UNAVAILABLE.
//   [D3] What a lost commit left open is settled before the first question. [E4]
//   [D4] Once the writer has met a schema that it does not know, nothing is read from it either.
#include "base/assert.h"
#include "base/memory.h"
#include "store/postgres_internal.h"
#include "store/read_turn.h"
#include "store/store.h"

typedef struct PgReader {
    RowStore base;
    PgLink link;
    ReadTurn turn; // [D1]
    bool is_open;  // the transaction is
    VEC(Fetch) expected; // answers that were fetched ahead, until the end of the read
    Arena arena;         // theirs
} PgReader;

static const RowStoreOps reader_ops;

static PgReader *pg_reader(RowStore *rows) {
    ASSERT(rows->ops == &reader_ops);
    return (PgReader *)rows;
}

static Status reader_read_begin(RowStore *rows, Diag *diag) {
    PgReader *self = pg_reader(rows);
    TRY(read_turn_take(&self->turn, diag));
    self->is_open = false;
    Status status = pg_link_connect(&self->link, diag);
    PgAddress *address = self->link.address;
    if (status == OK && address->is_newer) { // [D4]
        status = pg_schema_check(&self->link, diag);
        if (status == OK) address->is_newer = false;
    }
    if (status != OK) read_turn_give(&self->turn, true);
    return status;
}

static void reader_read_end(RowStore *rows) {
    PgReader *self = pg_reader(rows);
    if (self->is_open) {
        pg_link_send(&self->link, "ROLLBACK");
        pg_link_run_later(&self->link);
    }
    self->is_open = false;
    vec_clear(&self->expected);
    arena_reset(&self->arena);
    read_turn_give(&self->turn, !pg_link_is_alive(&self->link));
}

static Status ask(PgReader *self, const Scan *scans, size_t count) {
    static const char begin[] = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
    if (!self->is_open) pg_link_send(&self->link, begin);
    for (size_t i = 0; i < count; i++) pg_send_scan(&self->link, &scans[i]);
    Status status = pg_link_run(&self->link, self->base.diag);
    if (status == OK) self->is_open = true;
    else if (pg_link_is_alive(&self->link)) pg_link_drop(&self->link);
    return status;
}

static Status ask_surely(PgReader *self, const Scan *scans, size_t count) {
    bool is_first = !self->is_open;
    if (!pg_link_is_alive(&self->link)) return pg_lost(self->link.connection, self->base.diag);
    Status status = ask(self, scans, count);
    if (status != OK && is_first && !pg_link_is_alive(&self->link)) { // [D2]
        TRY(pg_link_connect(&self->link, self->base.diag));
        status = ask(self, scans, count);
    }
    if (status != OK) self->is_open = false;
    return status;
}

static Status reader_expect(RowStore *rows, const Scan *scans, size_t count) {
    PgReader *self = pg_reader(rows);
    TRY(ask_surely(self, scans, count));
    for (size_t i = 0; i < count; i++) {
        Fetch fetch = {.scan = scans[i]};
        pg_take_rows(self->link.results.data[i], &tables[scans[i].table], &self->arena,
                     &fetch.rows, &fetch.count);
        vec_push(&self->expected, fetch);
    }
    return OK;
}

static bool is_same_scan(const Scan *a, const Scan *b) {
    if (a->after_row != NULL || b->after_row != NULL) return false; // walks are not repeated
    bool is_same = a->table == b->table && a->index == b->index &&
                   a->match_count == b->match_count && a->has_min == b->has_min &&
                   a->has_max == b->has_max && a->after_key == b->after_key &&
                   a->is_descending == b->is_descending && a->limit == b->limit &&
                   (!a->has_min || a->min == b->min) && (!a->has_max || a->max == b->max);
    RowOrder order = row_order(&tables[a->table], a->index);
    for (int i = 0; is_same && i < a->match_count; i++) {
        const Column *column = &tables[a->table].columns[order.columns[i]];
        if (column->type == COLUMN_I64) {
            is_same = row_i64(a->match, column) == row_i64(b->match, column);
        } else {
            is_same = str_same(row_str(a->match, column), row_str(b->match, column));
        }
    }
    return is_same;
}

static const Fetch *expected_find(const PgReader *self, const Scan *scan) {
    for (size_t i = 0; i < self->expected.count; i++) {
        if (is_same_scan(&self->expected.data[i].scan, scan)) return &self->expected.data[i];
    }
    return NULL;
}

static Status reader_scan(RowStore *rows, const Scan *scan, Arena *arena, void *ret_rows,
                          size_t *ret_count) {
    PgReader *self = pg_reader(rows);
    char *array = NULL;
    const Fetch *known = expected_find(self, scan);
    if (known != NULL) {
        size_t row_size = tables[scan->table].row_size;
        array = arena_zalloc_array(arena, known->count > 0 ? known->count : 1, row_size);
        for (size_t i = 0; i < known->count; i++) {
            row_copy(&tables[scan->table], arena, known->rows + i * row_size,
                     array + i * row_size);
        }
        memcpy(ret_rows, &array, sizeof(array));
        *ret_count = known->count;
        return OK;
    }
    TRY(ask_surely(self, scan, 1));
    pg_take_rows(self->link.results.data[0], &tables[scan->table], arena, &array, ret_count);
    memcpy(ret_rows, &array, sizeof(array));
    return OK;
}

static Status reader_get(RowStore *rows, TableNumber table, const void *key_row, Arena *arena,
                         void *ret_row) {
    Scan scan = {.table = table, .index = SCAN_PRIMARY, .match = key_row,
                 .match_count = tables[table].key_count, .limit = 1};
    char *found = NULL;
    size_t count = 0;
    TRY(reader_scan(rows, &scan, arena, &found, &count));
    if (count == 0) return ERR_NOT_FOUND;
    memcpy(ret_row, found, tables[table].row_size);
    return OK;
}

static Status reader_beat(RowStore *rows, Beat *beat, Arena *arena) {
    PgReader *self = pg_reader(rows);
    ASSERT(beat->node == 0);
    int64_t version;
    if (!pg_link_is_alive(&self->link)) return pg_lost(self->link.connection, rows->diag);
    pg_send_beat(&self->link, beat);
    TRY(pg_link_run(&self->link, rows->diag));
    pg_take_beat(self->link.results.data[0], beat, arena, &version);
    return OK;
}

// PostgreSQL checks its own pages when it is told to (checksums, amcheck); here it is enough that
// every index delivers as many rows as it should, which the walk over all tables shows.
static Status reader_check(RowStore *rows, Diag *diag) {
    (void)rows, (void)diag;
    return OK;
}

static Status read_only(Diag *diag) {
    return diag_set(diag, ERR_UNSUPPORTED, "STORE_READ_ONLY",
                    "the store was opened for reading only");
}

static Status reader_begin(RowStore *rows, Diag *diag) {
    (void)rows;
    return read_only(diag);
}

static void reader_rollback(RowStore *rows) { (void)rows; }

static Status reader_write(RowStore *rows, TableNumber table, const void *row) {
    (void)table, (void)row;
    return read_only(rows->diag);
}

static Status reader_update(RowStore *rows, TableNumber table, const void *row,
                            uint64_t changes) {
    (void)changes;
    return reader_write(rows, table, row);
}

static StepDatabase reader_database(RowStore *rows) {
    (void)rows;
    return (StepDatabase){0};
}

static void reader_close(RowStore *rows) {
    PgReader *self = pg_reader(rows);
    PgAddress *address = self->link.address;
    pg_link_done(&self->link);
    vec_free(&self->expected);
    arena_done(&self->arena);
    read_turn_done(&self->turn);
    pg_address_leave(address);
    mem_free(self);
}

static const RowStoreOps reader_ops = {
    .name = "postgres",
    .begin = reader_begin,
    .commit = reader_begin,
    .rollback = reader_rollback,
    .savepoint = reader_begin,
    .rollback_to = reader_begin,
    .release = reader_begin,
    .read_begin = reader_read_begin,
    .read_end = reader_read_end,
    .get = reader_get,
    .insert = reader_write,
    .update = reader_update,
    .remove = reader_write,
    .scan = reader_scan,
    .expect = reader_expect,
    .database = reader_database,
    .beat = reader_beat,
    .check = reader_check,
    .close = reader_close,
};

static Status reader_open(PgAddress *address, bool is_read_only, RowStore **ret_reader,
                          Diag *diag) {
    PgReader *self = mem_zalloc(sizeof(PgReader));
    self->base.ops = &reader_ops;
    read_turn_init(&self->turn);
    arena_init(&self->arena);
    address->user_count++;
    pg_link_init(&self->link, address);
    self->link.answer_ms = READ_ANSWER_MS;
    Status status = pg_link_connect(&self->link, diag);
    if (status == OK && is_read_only) status = pg_schema_open(&self->link, true, diag);
    if (status != OK) {
        reader_close(&self->base);
        return status;
    }
    *ret_reader = &self->base;
    return OK;
}

Status postgres_rows_open(Str url, const struct StoreConfig *config, RowStorePair *ret_pair,
                          Diag *diag) {
    PgAddress *address = NULL;
    TRY(pg_address_new(url, &address, diag));
    address->user_count = 1; // ours, until both have theirs
    Remote *remote = NULL;
    RowStore *reader = NULL;
    Status status = OK;
    if (!config->is_read_only) status = pg_remote_open(address, &remote, diag);
    if (status == OK) status = reader_open(address, config->is_read_only, &reader, diag);
    if (status != OK && remote != NULL) remote->ops->close(remote);
    if (status == OK) {
        *ret_pair = (RowStorePair){remote != NULL ? remote_rows_new(remote) : reader, reader};
    }
    pg_address_leave(address);
    return status;
}

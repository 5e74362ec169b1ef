// The reader's side of a server, as a RowStore that can only be read.
//
//   [remote-reader-1] One read at a time, and nobody waits for ever for those before (read_turn.h).
//   [remote-reader-2] What was expected is fetched together and answered from memory, until the end
//        of the read.
//   [remote-reader-3] A read whose view is gone asks its owner to begin again ([rowstore-10] of
//        rowstore.h).
//   [remote-reader-4] One whose connection turns out to be lost at its first question begins again
//        by itself, once; later it answers ERR_UNAVAILABLE.
#include "base/assert.h"
#include "base/containers/vec.h"
#include "base/memory.h"
#include "store/reads/read_turn.h"
#include "store/remote/remote.h"
#include "store/row_key.h"

typedef struct Reader {
    RowStore base;
    RowStoreOps ops; // reader_ops with the name of the server
    RemoteReader *remote;
    ReadTurn turn;       // [remote-reader-1]
    bool has_asked;      // the read has, and was answered
    bool has_failed;     // its last question has, because the server is away
    VEC(Fetch) expected; // [remote-reader-2]
    Arena arena;         // theirs
} Reader;

static const RowStoreOps reader_ops;

static Reader *reader_of(RowStore *rows) {
    ASSERT(rows->ops->read_begin == reader_ops.read_begin);
    return (Reader *)rows;
}

static Status reader_read_begin(RowStore *rows, Diag *diag) {
    Reader *self = reader_of(rows);
    TRY(read_turn_take(&self->turn, diag));
    self->has_asked = self->has_failed = false;
    rows->is_retry = rows->wants_restart = false;
    Status status = self->remote->ops->begin(self->remote, diag);
    if (status != OK) read_turn_give(&self->turn, true);
    return status;
}

static void reader_read_end(RowStore *rows) {
    Reader *self = reader_of(rows);
    self->remote->ops->end(self->remote);
    vec_clear(&self->expected);
    arena_reset(&self->arena);
    read_turn_give(&self->turn, self->has_failed);
}

static Status changed(RowStore *rows, Status status, Diag *diag) {
    if (status != ERR_CONFLICT) return status;
    rows->wants_restart = true; // [remote-reader-3]
    return diag_set(diag, ERR_UNAVAILABLE, "STORE_CHANGED",
                    "other nodes have changed the store while it was read");
}

static Status ask(Reader *self, Fetch *fetches, size_t count, Arena *arena) {
    RowStore *rows = &self->base;
    const RemoteReaderOps *ops = self->remote->ops;
    FetchList list = {.fetches = fetches, .count = count, .arena = arena};
    Status status = ops->ask(self->remote, &list, rows->is_retry, rows->diag);
    if (status != OK && !self->has_asked && ops->is_lost(self->remote)) { // [remote-reader-4]
        status = ops->begin(self->remote, rows->diag);
        if (status == OK) status = ops->ask(self->remote, &list, rows->is_retry, rows->diag);
    }
    self->has_asked |= status == OK;
    self->has_failed = status_is_away(status);
    return changed(rows, status, rows->diag);
}

static Status reader_expect(RowStore *rows, const Scan *scans, size_t count) {
    Reader *self = reader_of(rows);
    Fetch *fetches = ARENA_ARRAY(&self->arena, Fetch, count);
    for (size_t i = 0; i < count; i++) fetches[i].scan = scans[i];
    TRY(ask(self, fetches, count, &self->arena));
    for (size_t i = 0; i < count; i++) vec_push(&self->expected, fetches[i]);
    return OK;
}

static bool is_same_match(const Scan *a, const Scan *b) {
    if (a->match_count != b->match_count) return false;
    RowOrder order = row_order(&tables[a->table], a->index);
    for (int i = 0; i < a->match_count; i++) {
        const Column *column = &tables[a->table].columns[order.columns[i]];
        bool is_same = column->type == COLUMN_I64
                           ? row_i64(a->match, column) == row_i64(b->match, column)
                           : str_same(row_str(a->match, column), row_str(b->match, column));
        if (!is_same) return false;
    }
    return true;
}

static bool is_same_scan(const Scan *a, const Scan *b) {
    if (a->after_row != NULL || b->after_row != NULL) return false; // walks are not repeated
    return a->table == b->table && a->index == b->index && a->limit == b->limit &&
           a->is_descending == b->is_descending && a->after_key == b->after_key &&
           a->has_min == b->has_min && (!a->has_min || a->min == b->min) &&
           a->has_max == b->has_max && (!a->has_max || a->max == b->max) && is_same_match(a, b);
}

static const Fetch *expected_find(const Reader *self, const Scan *scan) {
    for (size_t i = 0; i < self->expected.count; i++) {
        if (is_same_scan(&self->expected.data[i].scan, scan)) return &self->expected.data[i];
    }
    return NULL;
}

static Status reader_scan(RowStore *rows, const Scan *scan, Arena *arena, void *ret_rows,
                          size_t *ret_count) {
    Reader *self = reader_of(rows);
    const Table *table = &tables[scan->table];
    Fetch fetch = {.scan = *scan};
    const Fetch *known = expected_find(self, scan);
    if (known == NULL) {
        TRY(ask(self, &fetch, 1, arena));
    } else {
        fetch.count = known->count;
        fetch.rows =
            arena_zalloc_array(arena, known->count > 0 ? known->count : 1, table->row_size);
        for (size_t i = 0; i < known->count; i++) {
            row_copy(table, arena, known->rows + i * table->row_size,
                     fetch.rows + i * table->row_size);
        }
    }
    memcpy(ret_rows, &fetch.rows, sizeof(fetch.rows));
    *ret_count = fetch.count;
    return OK;
}

static Status reader_get(RowStore *rows, TableNumber table, const void *key_row, Arena *arena,
                         void *ret_row) {
    Scan scan = scan_of(table, SCAN_PRIMARY, key_row, 1);
    scan.match_count = tables[table].key_count;
    char *found = NULL;
    size_t count = 0;
    TRY(reader_scan(rows, &scan, arena, &found, &count));
    if (count == 0) return ERR_NOT_FOUND;
    memcpy(ret_row, found, tables[table].row_size);
    return OK;
}

static Status reader_heartbeat(RowStore *rows, Heartbeat *heartbeat, Arena *arena) {
    Reader *self = reader_of(rows);
    ASSERT(heartbeat->node == 0);
    Status status = self->remote->ops->heartbeat(self->remote, heartbeat, arena, rows->diag);
    self->has_failed = status_is_away(status);
    return status;
}

static Status reader_check(RowStore *rows, Diag *diag) {
    Reader *self = reader_of(rows);
    if (self->remote->ops->check == NULL) return OK;
    return changed(rows, self->remote->ops->check(self->remote, rows->is_retry, diag), diag);
}

// ---- what a reader cannot ----

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

static Status reader_update(RowStore *rows, TableNumber table, const void *row, uint64_t changes) {
    (void)changes;
    return reader_write(rows, table, row);
}

static StepDatabase reader_database(RowStore *rows) {
    (void)rows;
    return (StepDatabase){0};
}

static void reader_close(RowStore *rows) {
    Reader *self = reader_of(rows);
    self->remote->ops->close(self->remote);
    vec_free(&self->expected);
    arena_done(&self->arena);
    read_turn_done(&self->turn);
    mem_free(self);
}

static const RowStoreOps reader_ops = {
    .name = "remote",
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
    .heartbeat = reader_heartbeat,
    .check = reader_check,
    .close = reader_close,
};

RowStore *remote_reader_new(RemoteReader *remote) {
    Reader *self = mem_zalloc(sizeof(Reader));
    self->ops = reader_ops;
    self->ops.name = remote->ops->name;
    if (remote->ops->heartbeat == NULL) self->ops.heartbeat = NULL;
    self->base.ops = &self->ops;
    self->remote = remote;
    read_turn_init(&self->turn);
    arena_init(&self->arena);
    return &self->base;
}

// RemoteRows: a RowStore on a server that is a round trip away.
//
// The transitions read and write row by row; a round trip for each would be a thousand times too
// slow. So the rows in use are kept here, in a store in memory (the mirror), together with the
// knowledge where the mirror is complete: for each index, ranges of keys in which every row of
// the server is in the mirror. A read inside such a range costs nothing, "there is no such row"
// included; any other is fetched once. Writes change the mirror and are sent together.
//
//   begin (nothing is sent) -> reads and writes in the mirror -> commit: one round trip
//
//   [M1] At version `version`, inside a known range the mirror holds exactly the server's rows,
//        with the writes of the open transaction applied.
//   [M2] The first fetch of a transaction begins one on the server and checks the version; so does
//        the commit when nothing was fetched. If another node has written meanwhile, what was
//        answered is out of date: `wants_restart` is set, everything is forgotten, and the next
//        transaction begins on the server at once, so that it cannot happen twice in a row.
//   [M3] Keys come from one ascending sequence (model/rows.h), so nothing lies beyond the counter:
//        new rows need no look.
//   [M4] A fetched row never replaces one that the transaction has written or removed.
//   [M5] When the mirror grows too large, or a transaction fails, all of it is forgotten.
//
// Not here: a protocol (postgres_*.c).
#include "base/assert.h"
#include "base/memory.h"
#include "base/vec.h"
#include "store/key_ranges.h"
#include "store/remote.h"
#include "store/row_key.h"
#include <stdlib.h>

enum {
    REMOTE_KEY_MAX = 64 << 20,
    MIRROR_SIZE_MAX = 96 << 20,
    ROW_OVERHEAD = 400,    // of a row in the mirror, about: its index entries
    FETCH_ROWS_FIRST = 32, // of a scan with an end, past which we look ahead
    FETCH_ROWS_MAX = 4096,
    REPLAY_MAX = 4096,     // rows that are fetched ahead after a restart
};

typedef struct Write {
    TableNumber table;
    bool existed; // before the transaction
    bool exists;  // now
    uint64_t changes;
    void *key_row; // in `arena`
} Write;

typedef struct WriteUndo { // since the savepoint
    Write *write;
    Write before;
} WriteUndo;

typedef struct RemoteTable {
    RowOrder orders[1 + TABLE_INDEXES_MAX]; // the primary one first
    KeyRanges known[1 + TABLE_INDEXES_MAX]; // [M1]
    Ordered writes;                         // by primary key
} RemoteTable;

typedef struct RemoteRows {
    RowStore base;
    RowStoreOps ops; // remote_ops with the name of the remote
    Remote *remote;
    RowStorePair mirror;
    size_t mirror_size; // about
    RemoteTable tables[TABLE_COUNT];
    int64_t version; // VERSION_ANY = nothing is known
    bool is_active;
    bool is_checked; // the transaction has fetched: its version is the present one
    bool has_savepoint;
    Arena arena;   // of the transaction
    Arena fetched; // rows on their way into the mirror
    VEC(WriteUndo) undo;
    VEC(Scan) replay; // rows the failed attempt wrote; their keys are in replay_arena
    Arena replay_arena;
    Buf key;
    RowRange range;
} RemoteRows;

static const RowStoreOps remote_ops;

static RemoteRows *remote_rows(RowStore *rows) {
    ASSERT(rows->ops->begin == remote_ops.begin);
    return (RemoteRows *)rows;
}

static uint64_t key_bits(const Table *table) { return (UINT64_C(1) << table->key_count) - 1; }

static Str key_set(RemoteRows *self, TableNumber table, int index, const void *row) {
    const RowOrder *order = &self->tables[table].orders[index + 1];
    buf_clear(&self->key);
    row_key_append(&self->key, &tables[table], order, row, order->count);
    return buf_str(&self->key);
}

static RowStore *mirror(const RemoteRows *self) { return self->mirror.writer; }

// ---- forgetting ----

static void known_clear(RemoteRows *self) {
    for (int table = 0; table < TABLE_COUNT; table++) {
        for (int i = 0; i <= tables[table].index_count; i++) {
            key_ranges_clear(&self->tables[table].known[i]);
        }
    }
}

static void mirror_close(RemoteRows *self) {
    self->mirror.reader->ops->close(self->mirror.reader);
    self->mirror.writer->ops->close(self->mirror.writer);
}

// [M5] Outside of a transaction.
static void forget(RemoteRows *self) {
    ASSERT(!self->is_active);
    known_clear(self);
    mirror_close(self);
    Status status = memory_rows_open(&self->mirror, NULL);
    ASSERT(status == OK);
    self->mirror_size = 0;
    self->version = VERSION_ANY;
}

static void writes_clear(RemoteRows *self) {
    for (int table = 0; table < TABLE_COUNT; table++) {
        if (self->tables[table].writes.count == 0) continue;
        ordered_done(&self->tables[table].writes);
        ordered_init(&self->tables[table].writes);
    }
    vec_clear(&self->undo);
    self->has_savepoint = false;
}

// ---- what the transaction has written ----

static Write *write_find(RemoteRows *self, TableNumber table, const void *row) {
    if (self->tables[table].writes.count == 0) return NULL;
    return ordered_get(&self->tables[table].writes, key_set(self, table, SCAN_PRIMARY, row));
}

// The entry for a row that is about to change; new ones begin as they are now.
static Write *write_entry(RemoteRows *self, TableNumber number, const void *row, bool exists) {
    Write *write = write_find(self, number, row);
    if (write == NULL) {
        const Table *table = &tables[number];
        write = ARENA_NEW(&self->arena, Write);
        *write = (Write){.table = number, .existed = exists, .exists = exists};
        write->key_row = arena_zalloc(&self->arena, table->row_size);
        for (uint8_t i = 0; i < table->key_count; i++) {
            const Column *column = &table->columns[i];
            if (column->type == COLUMN_I64) {
                row_set_i64(write->key_row, column, row_i64(row, column));
            } else {
                row_set_str(write->key_row, column, arena_str(&self->arena, row_str(row, column)));
            }
        }
        ordered_insert(&self->tables[number].writes, key_set(self, number, SCAN_PRIMARY, row),
                       write);
    }
    if (self->has_savepoint) vec_push(&self->undo, (WriteUndo){write, *write});
    return write;
}

static size_t text_size(const Table *table, const void *row) {
    size_t size = 0;
    for (uint8_t i = 0; i < table->column_count; i++) {
        const Column *column = &table->columns[i];
        if (column->type != COLUMN_I64) size += row_str(row, column).len;
    }
    return size;
}

static void mirror_grown(RemoteRows *self, TableNumber table, const void *row) {
    self->mirror_size += tables[table].row_size + ROW_OVERHEAD + text_size(&tables[table], row);
}

// ---- fetching ----

static Status out_of_date(RemoteRows *self) { // [M2]
    self->base.wants_restart = true;
    self->version = VERSION_ANY;
    return diag_set(self->base.diag, ERR_UNAVAILABLE, "STORE_CHANGED",
                    "another node has changed the store meanwhile");
}

static void mirror_add(RemoteRows *self, TableNumber table, const void *row) {
    if (write_find(self, table, row) != NULL) return; // [M4]
    Status status = rows_insert(mirror(self), table, row);
    ASSERT(status == OK || status == ERR_CONFLICT); // it may be there already
    if (status == OK) mirror_grown(self, table, row);
}

// [M1] The range of the scan is complete, as far as it was answered.
static void known_add(RemoteRows *self, const Fetch *fetch) {
    const Scan *scan = &fetch->scan;
    KeyRanges *known = &self->tables[scan->table].known[scan->index + 1];
    row_range_set(&self->range, &tables[scan->table], scan);
    Str low = buf_str(&self->range.low), high = buf_str(&self->range.high);
    if ((int64_t)fetch->count < scan->limit) {
        key_ranges_add(known, low, high);
        return;
    }
    const void *last = fetch->rows + (fetch->count - 1) * tables[scan->table].row_size;
    key_set(self, scan->table, scan->index, last);
    if (scan->is_descending) {
        key_ranges_add(known, buf_str(&self->key), high);
    } else {
        buf_append_char(&self->key, '\0'); // the row itself included
        key_ranges_add(known, low, buf_str(&self->key));
    }
}

static Status fetch_all(RemoteRows *self, Fetch *fetches, size_t count) {
    const RemoteOps *ops = self->remote->ops;
    arena_reset(&self->fetched);
    FetchList list = {.fetches = fetches, .count = count, .arena = &self->fetched};
    Status status = ops->fetch(self->remote, &self->version, &list, self->base.diag);
    if (status == ERR_CONFLICT) return out_of_date(self);
    if (status != OK) return status;
    self->is_checked = true;
    Diag *diag = mirror(self)->diag;
    mirror(self)->diag = NULL; // a row that is there already is no news
    for (size_t i = 0; i < count; i++) {
        const Fetch *fetch = &fetches[i];
        for (size_t k = 0; k < fetch->count; k++) {
            mirror_add(self, fetch->scan.table,
                       fetch->rows + k * tables[fetch->scan.table].row_size);
        }
        known_add(self, fetch);
    }
    mirror(self)->diag = diag;
    return OK;
}

static Status fetch_one(RemoteRows *self, const Scan *scan) {
    Fetch fetch = {.scan = *scan};
    return fetch_all(self, &fetch, 1);
}

static Scan key_scan(TableNumber table, const void *key_row) {
    return (Scan){.table = table, .index = SCAN_PRIMARY, .match = key_row,
                  .match_count = tables[table].key_count, .limit = 1};
}

// ---- knowing ----

// The key columns alone tell where in this index a row would be.
static bool is_index_of_key(const Table *table, int index) {
    for (uint8_t i = 0; i < table->indexes[index].column_count; i++) {
        if (table->indexes[index].columns[i] >= table->key_count) return false;
    }
    return table->indexes[index].sparse == COLUMN_NONE;
}

static bool is_key_known(RemoteRows *self, TableNumber number, const void *key_row) {
    RemoteTable *remote = &self->tables[number];
    if (key_ranges_has(&remote->known[0], key_set(self, number, SCAN_PRIMARY, key_row))) {
        return true;
    }
    for (int i = 0; i < tables[number].index_count; i++) {
        if (!is_index_of_key(&tables[number], i)) continue;
        if (key_ranges_has(&remote->known[i + 1], key_set(self, number, i, key_row))) return true;
    }
    return false;
}

// A null is equal to nothing, as in SQL.
static bool is_unique_for(const Table *table, const IndexSpec *index, const void *row) {
    if (!index->is_unique || !index_has_row(table, index, row)) return false;
    for (uint8_t i = 0; i < index->column_count; i++) {
        const Column *column = &table->columns[index->columns[i]];
        if (column->type != COLUMN_I64 && str_is_null(row_str(row, column))) return false;
    }
    return true;
}

static Scan unique_scan(TableNumber table, int index, const void *row) {
    return (Scan){.table = table, .index = index, .match = row,
                  .match_count = tables[table].indexes[index].column_count, .limit = 1};
}

// Whether the mirror can answer who has these values, if anybody.
static bool is_unique_known(RemoteRows *self, const Scan *scan) {
    row_range_set(&self->range, &tables[scan->table], scan);
    Str low = buf_str(&self->range.low), high;
    RemoteTable *remote = &self->tables[scan->table];
    if (key_ranges_end_of(&remote->known[scan->index + 1], low, &high)) return true;
    char *found = NULL;
    size_t count = 0;
    ArenaMark mark = arena_mark(&self->arena);
    Status status = rows_scan(mirror(self), scan, &self->arena, &found, &count);
    arena_rewind(&self->arena, mark);
    return status == OK && count > 0;
}

// Brings what decides whether the row may be inserted: all that is not known, in one go.
static Status conflicts_fetch(RemoteRows *self, TableNumber number, const void *row,
                              uint64_t changes) {
    const Table *table = &tables[number];
    Fetch wanted[1 + TABLE_INDEXES_MAX];
    size_t count = 0;
    bool is_insert = (changes & key_bits(table)) != 0;
    if (is_insert && !is_key_known(self, number, row)) {
        wanted[count++] = (Fetch){.scan = key_scan(number, row)};
    }
    for (int i = 0; i < table->index_count; i++) {
        bool is_touched = is_insert;
        for (uint8_t c = 0; c < table->indexes[i].column_count; c++) {
            is_touched |= (changes >> table->indexes[i].columns[c] & 1) != 0;
        }
        if (!is_touched || !is_unique_for(table, &table->indexes[i], row)) continue;
        Scan scan = unique_scan(number, i, row);
        if (!is_unique_known(self, &scan)) wanted[count++] = (Fetch){.scan = scan};
    }
    return count > 0 ? fetch_all(self, wanted, count) : OK;
}

// ---- transactions ----

static bool is_of_key_sequence(const Table *table, const RowOrder *order) { // [M3]
    const Column *column = &table->columns[order->columns[0]];
    if (table->number == TABLE_COUNTERS || column->type != COLUMN_I64) return false;
    return strcmp(column->name, "key") == 0 || strcmp(column->name, "run") == 0 ||
           strcmp(column->name, "parent") == 0 || strcmp(column->name, "awaited_run") == 0;
}

static void known_add_beyond(RemoteRows *self, int64_t last_key) {
    for (int number = 0; number < TABLE_COUNT; number++) {
        for (int i = -1; i < tables[number].index_count; i++) {
            RemoteTable *remote = &self->tables[number];
            if (!is_of_key_sequence(&tables[number], &remote->orders[i + 1])) continue;
            Scan scan = {.table = (TableNumber)number, .index = i, .has_min = true,
                         .min = last_key + 1, .limit = 1};
            row_range_set(&self->range, &tables[number], &scan);
            key_ranges_add(&remote->known[i + 1], buf_str(&self->range.low),
                           buf_str(&self->range.high));
        }
    }
}

// Begins on the server: the counters, the end of the key sequence, and what a failed attempt
// before this one has written.
static Status start_afresh(RemoteRows *self, Diag *diag) {
    Fetch *fetches = ARENA_ARRAY(&self->arena, Fetch, 1 + self->replay.count);
    fetches[0].scan = (Scan){.table = TABLE_COUNTERS, .index = SCAN_PRIMARY,
                             .limit = COUNTER_COUNT + 1};
    for (size_t i = 0; i < self->replay.count; i++) fetches[i + 1].scan = self->replay.data[i];
    self->base.diag = diag;
    TRY(fetch_all(self, fetches, 1 + self->replay.count));
    CounterRow wanted = {.number = COUNTER_NEXT_KEY}, counter = {0};
    Status status = rows_get(mirror(self), TABLE_COUNTERS, &wanted, &self->arena, &counter);
    ASSERT(status == OK || status == ERR_NOT_FOUND); // a new store has none
    known_add_beyond(self, counter.value);
    return OK;
}

static void transaction_end(RemoteRows *self) {
    self->is_active = false;
    writes_clear(self);
    arena_reset(&self->arena);
}

static void transaction_undo(RemoteRows *self) {
    mirror(self)->ops->rollback(mirror(self));
    transaction_end(self);
    forget(self); // [M5]
}

static Status remote_begin(RowStore *rows, Diag *diag) {
    RemoteRows *self = remote_rows(rows);
    ASSERT(!self->is_active);
    rows->wants_restart = rows->has_news = false;
    bool is_new = false;
    TRY(self->remote->ops->connect(self->remote, &is_new, diag));
    if (is_new || self->mirror_size > MIRROR_SIZE_MAX) forget(self);
    TRY(mirror(self)->ops->begin(mirror(self), diag));
    mirror(self)->diag = NULL;
    self->is_active = true;
    self->is_checked = false;
    rows->is_reloaded = self->version == VERSION_ANY;
    Status status = rows->is_reloaded ? start_afresh(self, diag) : OK;
    vec_clear(&self->replay);
    arena_reset(&self->replay_arena);
    if (status == OK) return OK;
    self->remote->ops->rollback(self->remote);
    transaction_undo(self);
    return status;
}

// The rows this attempt wrote will most likely be needed by the next one.
static void replay_note(RemoteRows *self) {
    for (int number = 0; number < TABLE_COUNT; number++) {
        const OrderedNode *node = ordered_first_from(&self->tables[number].writes, STR(""));
        for (; node != NULL && self->replay.count < REPLAY_MAX; node = ordered_next(node)) {
            const Write *write = ordered_value(node);
            if (!write->existed) continue;
            void *key_row = arena_alloc(&self->replay_arena, tables[number].row_size);
            row_copy(&tables[number], &self->replay_arena, write->key_row, key_row);
            vec_push(&self->replay, key_scan((TableNumber)number, key_row));
        }
    }
}

static void remote_rollback(RowStore *rows) {
    RemoteRows *self = remote_rows(rows);
    ASSERT(self->is_active);
    // [M2] Whoever gives up because of what he read must have read what is there.
    bool is_suspect = !self->is_checked && !rows->wants_restart;
    WriteList none = {0};
    if (is_suspect && self->remote->ops->commit(self->remote, self->version, &none, NULL) != OK) {
        rows->wants_restart = true;
    }
    self->remote->ops->rollback(self->remote);
    if (rows->wants_restart) replay_note(self);
    transaction_undo(self);
}

typedef VEC(RowWrite) RowWrites;

static void writes_collect_kind(RemoteRows *self, TableNumber table, WriteKind kind,
                                RowWrites *writes) {
    const OrderedNode *node = ordered_first_from(&self->tables[table].writes, STR(""));
    for (; node != NULL; node = ordered_next(node)) {
        const Write *write = ordered_value(node);
        WriteKind its = !write->exists ? WRITE_REMOVE : write->existed ? WRITE_UPDATE
                                                                       : WRITE_INSERT;
        bool is_nothing = (!write->existed && !write->exists) ||
                          (its == WRITE_UPDATE && write->changes == 0);
        if (its != kind || is_nothing) continue;
        RowWrite entry = {table, kind, write->changes, write->key_row};
        if (kind != WRITE_REMOVE) {
            void *row = arena_alloc(&self->arena, tables[table].row_size);
            Status status = rows_get(mirror(self), table, write->key_row, &self->arena, row);
            ASSERT(status == OK);
            entry.row = row;
        }
        vec_push(writes, entry);
    }
}

static int order_by_changes(const void *left, const void *right) {
    const RowWrite *a = left, *b = right;
    if (a->changes != b->changes) return a->changes < b->changes ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row; // as they were collected: by key
}

static void writes_collect(RemoteRows *self, RowWrites *writes) {
    for (int number = 0; number < TABLE_COUNT; number++) {
        if (self->tables[number].writes.count == 0) continue;
        for (WriteKind kind = 0; kind < WRITE_KIND_COUNT; kind++) {
            size_t first = writes->count;
            writes_collect_kind(self, (TableNumber)number, kind, writes);
            if (kind != WRITE_UPDATE || writes->count == first) continue;
            qsort(writes->data + first, writes->count - first, sizeof(RowWrite),
                  order_by_changes);
        }
    }
}

static Status remote_commit(RowStore *rows, Diag *diag) {
    RemoteRows *self = remote_rows(rows);
    ASSERT(self->is_active && !self->has_savepoint);
    RowWrites writes = {0};
    writes_collect(self, &writes);
    WriteList list = {.writes = writes.data, .count = writes.count, .has_news = rows->has_news};
    Status status = self->remote->ops->commit(self->remote, self->version, &list, diag);
    bool is_written = writes.count > 0;
    vec_free(&writes);
    if (status == ERR_CONFLICT) {
        self->base.diag = diag;
        status = out_of_date(self);
        replay_note(self);
    }
    if (status != OK) {
        transaction_undo(self);
        return status;
    }
    Status mirrored = mirror(self)->ops->commit(mirror(self), diag);
    ASSERT(mirrored == OK);
    if (is_written) self->version++;
    transaction_end(self);
    return OK;
}

static Status remote_savepoint(RowStore *rows, Diag *diag) {
    RemoteRows *self = remote_rows(rows);
    ASSERT(self->is_active && !self->has_savepoint);
    TRY(mirror(self)->ops->savepoint(mirror(self), diag));
    self->has_savepoint = true;
    vec_clear(&self->undo);
    return OK;
}

static void remote_rollback_to(RowStore *rows) {
    RemoteRows *self = remote_rows(rows);
    ASSERT(self->has_savepoint);
    mirror(self)->ops->rollback_to(mirror(self));
    while (self->undo.count > 0) {
        WriteUndo undo = vec_pop(&self->undo);
        *undo.write = undo.before;
    }
    self->has_savepoint = false;
    known_clear(self); // what was fetched since went with the rest
}

static Status remote_release(RowStore *rows, Diag *diag) {
    RemoteRows *self = remote_rows(rows);
    ASSERT(self->has_savepoint);
    self->has_savepoint = false;
    vec_clear(&self->undo);
    return mirror(self)->ops->release(mirror(self), diag);
}

static Status remote_read_begin(RowStore *rows, Diag *diag) {
    (void)rows, (void)diag;
    UNREACHABLE(); // the pair has another reader
}

static void remote_read_end(RowStore *rows) {
    (void)rows;
    UNREACHABLE();
}

// ---- rows ----

// The writer may also be read between transactions: such a read is one of its own.
static Status brief_begin(RemoteRows *self, bool *ret_is_brief) {
    *ret_is_brief = !self->is_active;
    return *ret_is_brief ? remote_begin(&self->base, self->base.diag) : OK;
}

static Status brief_end(RemoteRows *self, bool is_brief, Status status) {
    if (!is_brief) return status;
    if (status != OK && status != ERR_NOT_FOUND) {
        remote_rollback(&self->base);
        return status;
    }
    Status ended = remote_commit(&self->base, self->base.diag);
    return ended == OK ? status : ended;
}

static Status get_within(RemoteRows *self, TableNumber table, const void *key_row, Arena *arena,
                         void *ret_row) {
    Status status = rows_get(mirror(self), table, key_row, arena, ret_row);
    if (status != ERR_NOT_FOUND) return status;
    if (write_find(self, table, key_row) != NULL) return ERR_NOT_FOUND;
    if (is_key_known(self, table, key_row)) return ERR_NOT_FOUND;
    Scan scan = key_scan(table, key_row);
    TRY(fetch_one(self, &scan));
    return rows_get(mirror(self), table, key_row, arena, ret_row);
}

static Status remote_get(RowStore *rows, TableNumber table, const void *key_row, Arena *arena,
                         void *ret_row) {
    RemoteRows *self = remote_rows(rows);
    bool is_brief;
    TRY(brief_begin(self, &is_brief));
    return brief_end(self, is_brief, get_within(self, table, key_row, arena, ret_row));
}

static Status remote_insert(RowStore *rows, TableNumber table, const void *row) {
    RemoteRows *self = remote_rows(rows);
    ASSERT(self->is_active);
    TRY(conflicts_fetch(self, table, row, key_bits(&tables[table])));
    mirror(self)->diag = rows->diag;
    Status status = rows_insert(mirror(self), table, row);
    mirror(self)->diag = NULL;
    if (status != OK) return status;
    Write *write = write_entry(self, table, row, false);
    write->exists = true;
    // One that was removed before in this transaction is overwritten whole.
    uint64_t all = (UINT64_C(1) << tables[table].column_count) - 1;
    if (write->existed) write->changes = all & ~key_bits(&tables[table]);
    mirror_grown(self, table, row);
    return OK;
}

static Status remote_update(RowStore *rows, TableNumber number, const void *row,
                            uint64_t changes) {
    RemoteRows *self = remote_rows(rows);
    const Table *table = &tables[number];
    ASSERT(self->is_active);
    ASSERT((changes & key_bits(table)) == 0);
    ArenaMark mark = arena_mark(&self->arena);
    void *merged = arena_alloc(&self->arena, table->row_size);
    TRY(get_within(self, number, row, &self->arena, merged));
    size_t size_before = text_size(table, merged);
    for (uint8_t i = 0; i < table->column_count; i++) {
        if ((changes >> i & 1) == 0) continue;
        const Column *column = &table->columns[i];
        if (column->type == COLUMN_I64) row_set_i64(merged, column, row_i64(row, column));
        else row_set_str(merged, column, row_str(row, column));
    }
    TRY(conflicts_fetch(self, number, merged, changes));
    self->mirror_size += text_size(table, merged) - size_before; // wraps when it is less
    arena_rewind(&self->arena, mark);
    mirror(self)->diag = rows->diag;
    Status status = rows_update(mirror(self), number, row, changes);
    mirror(self)->diag = NULL;
    if (status != OK) return status;
    write_entry(self, number, row, true)->changes |= changes;
    return OK;
}

static Status remote_remove(RowStore *rows, TableNumber table, const void *key_row) {
    RemoteRows *self = remote_rows(rows);
    ASSERT(self->is_active);
    Status status = rows_remove(mirror(self), table, key_row);
    if (status == ERR_NOT_FOUND && write_find(self, table, key_row) == NULL &&
        !is_key_known(self, table, key_row)) {
        Scan scan = key_scan(table, key_row);
        TRY(fetch_one(self, &scan));
        status = rows_remove(mirror(self), table, key_row);
    }
    if (status != OK) return status;
    write_entry(self, table, key_row, true)->exists = false;
    return OK;
}

// ---- scans ----

// Everything the scan has to see is in the mirror: its range is known to its end, or as far as
// the rows that were found fill it.
static bool is_covered(RemoteRows *self, const Scan *scan, const char *rows, size_t count) {
    KeyRanges *known = &self->tables[scan->table].known[scan->index + 1];
    row_range_set(&self->range, &tables[scan->table], scan);
    Str low = buf_str(&self->range.low), high = buf_str(&self->range.high);
    if (high.len > 0 && str_compare(low, high) >= 0) return true; // an empty range
    bool is_full = (int64_t)count == scan->limit;
    const void *last = is_full ? rows + (count - 1) * tables[scan->table].row_size : NULL;
    Str end;
    if (scan->is_descending) {
        if (!key_ranges_start_of(known, high, &end)) return false;
        if (str_compare(end, low) <= 0) return true;
        return is_full && str_compare(end, key_set(self, scan->table, scan->index, last)) <= 0;
    }
    if (!key_ranges_end_of(known, low, &end)) return false;
    if (end.len == 0 || (high.len > 0 && str_compare(end, high) >= 0)) return true;
    return is_full && str_compare(key_set(self, scan->table, scan->index, last), end) < 0;
}

// What is fetched for a scan: without its far end, so that a bound that moves with the clock does
// not mean a fetch each time.
static Scan scan_ahead(const Scan *scan, int64_t limit) {
    Scan ahead = *scan;
    ahead.limit = limit;
    if (scan->is_descending) ahead.has_min = false;
    else ahead.has_max = false;
    return ahead;
}

static int64_t first_limit(const Scan *scan) {
    bool is_open = scan->is_descending ? !scan->has_min : !scan->has_max;
    if (is_open || scan->limit < FETCH_ROWS_FIRST) return scan->limit;
    return FETCH_ROWS_FIRST;
}

static Status scan_within(RemoteRows *self, const Scan *scan, Arena *arena, void *ret_rows,
                          size_t *ret_count) {
    scan_check(scan);
    for (int64_t limit = first_limit(scan);;) {
        ArenaMark mark = arena_mark(arena);
        char *array = NULL;
        size_t count = 0;
        TRY(rows_scan(mirror(self), scan, arena, &array, &count));
        if (is_covered(self, scan, array, count)) {
            memcpy(ret_rows, &array, sizeof(array));
            *ret_count = count;
            return OK;
        }
        arena_rewind(arena, mark);
        Scan ahead = scan_ahead(scan, limit);
        TRY(fetch_one(self, &ahead));
        limit = limit < FETCH_ROWS_MAX ? 2 * limit : limit + FETCH_ROWS_MAX;
    }
}

static Status remote_scan(RowStore *rows, const Scan *scan, Arena *arena, void *ret_rows,
                          size_t *ret_count) {
    RemoteRows *self = remote_rows(rows);
    bool is_brief;
    TRY(brief_begin(self, &is_brief));
    return brief_end(self, is_brief, scan_within(self, scan, arena, ret_rows, ret_count));
}

static bool is_scan_known(RemoteRows *self, const Scan *scan) {
    if (scan->index == SCAN_PRIMARY && scan->match_count == tables[scan->table].key_count) {
        if (write_find(self, scan->table, scan->match) != NULL) return true;
        if (is_key_known(self, scan->table, scan->match)) return true;
    }
    return is_unique_known(self, scan);
}

static Status remote_expect(RowStore *rows, const Scan *scans, size_t count) {
    RemoteRows *self = remote_rows(rows);
    ASSERT(self->is_active);
    Fetch *wanted = ARENA_ARRAY(&self->arena, Fetch, count);
    size_t wanted_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_scan_known(self, &scans[i])) wanted[wanted_count++] = (Fetch){.scan = scans[i]};
    }
    return wanted_count > 0 ? fetch_all(self, wanted, wanted_count) : OK;
}

// ---- the rest ----

static void *remote_native_handle(RowStore *rows) {
    (void)rows;
    return NULL;
}

static Status remote_check(RowStore *rows, Diag *diag) {
    (void)rows, (void)diag;
    UNREACHABLE(); // readers check
}

static void remote_listen(RowStore *rows, const struct StoreListener *listener) {
    RemoteRows *self = remote_rows(rows);
    self->remote->ops->listen(self->remote, listener);
}

static void remote_close(RowStore *rows) {
    RemoteRows *self = remote_rows(rows);
    if (self->is_active) remote_rollback(rows);
    self->remote->ops->close(self->remote);
    mirror_close(self);
    for (int table = 0; table < TABLE_COUNT; table++) {
        ordered_done(&self->tables[table].writes);
        for (int i = 0; i <= tables[table].index_count; i++) {
            key_ranges_done(&self->tables[table].known[i]);
        }
    }
    vec_free(&self->undo);
    vec_free(&self->replay);
    arena_done(&self->arena);
    arena_done(&self->fetched);
    arena_done(&self->replay_arena);
    buf_done(&self->key);
    buf_done(&self->range.low);
    buf_done(&self->range.high);
    mem_free(self);
}

static const RowStoreOps remote_ops = {
    .name = "remote",
    .begin = remote_begin,
    .commit = remote_commit,
    .rollback = remote_rollback,
    .savepoint = remote_savepoint,
    .rollback_to = remote_rollback_to,
    .release = remote_release,
    .read_begin = remote_read_begin,
    .read_end = remote_read_end,
    .get = remote_get,
    .insert = remote_insert,
    .update = remote_update,
    .remove = remote_remove,
    .scan = remote_scan,
    .expect = remote_expect,
    .listen = remote_listen,
    .native_handle = remote_native_handle,
    .check = remote_check,
    .close = remote_close,
};

RowStore *remote_rows_new(Remote *remote) {
    RemoteRows *self = mem_zalloc(sizeof(RemoteRows));
    self->ops = remote_ops;
    self->ops.name = remote->ops->name;
    self->base.ops = &self->ops;
    self->base.is_shared = true;
    self->remote = remote;
    self->version = VERSION_ANY;
    for (int table = 0; table < TABLE_COUNT; table++) {
        RemoteTable *its = &self->tables[table];
        ordered_init(&its->writes);
        for (int i = 0; i <= tables[table].index_count; i++) {
            its->orders[i] = row_order(&tables[table], i - 1);
            key_ranges_init(&its->known[i]);
        }
    }
    Status status = memory_rows_open(&self->mirror, NULL);
    ASSERT(status == OK);
    arena_init(&self->arena);
    arena_init(&self->fetched);
    arena_init(&self->replay_arena);
    buf_init(&self->key, REMOTE_KEY_MAX);
    buf_init(&self->range.low, REMOTE_KEY_MAX);
    buf_init(&self->range.high, REMOTE_KEY_MAX);
    return &self->base;
}

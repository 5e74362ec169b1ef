// The feed: what each batch changes, told to the other nodes in the words of this file.
//
// A node that finds the version moved would have to forget its cache and fetch again what it works
// with; several busy nodes would do little else. So a commit hands the server its writes once more
// as one body ([remote-6] of remote.h), and a node that is behind asks for the bodies past its
// version and applies them.
//
//   body = layout, last key of the sequence, then per row: table and kind, all columns (of removed
//          rows just the key)
//
//   [feed-1] Applying all bodies between two versions turns the cache of the one into that of the
//        other ([remote-internal-1]): rows that are in the cache or in one of its known ranges
//        follow, all others stay away.
//   [feed-2] What cannot be read, comes from a program with other tables, or contradicts the cache
//        counts as lost: everything is forgotten, which is always right.
//   [feed-3] The keys that a foreign batch took from the sequence become unknown instead of its
//        rows becoming known, or every node would carry the rows of all. One hole per batch, and
//        none in the ranges of other indexes: what is due, or ready to be claimed, is seen.
//
// Not here: keeping bodies (postgres/remote.c), deciding when to ask (remote/rows.c).
#include "base/containers/bytes.h"
#include "base/containers/hash.h"
#include "store/remote/internal.h"

enum { FEED_FORMAT = 1 };

// The same number in every program that has these tables.
static uint32_t feed_layout(void) {
    uint32_t digest = FEED_FORMAT;
    for (int number = 0; number < TABLE_COUNT; number++) {
        const Table *table = &tables[number];
        digest = crc32c(digest, table->name, strlen(table->name));
        for (uint8_t i = 0; i < table->column_count; i++) {
            const Column *column = &table->columns[i];
            digest = crc32c(digest, column->name, strlen(column->name) + 1);
            digest = crc32c(digest, &column->type, sizeof(column->type));
        }
    }
    return digest;
}

static int64_t last_key(RemoteRows *self, Arena *arena) {
    CounterRow wanted = {.number = COUNTER_NEXT_KEY}, counter = {0};
    Status status = rows_get(cached_rows(self), TABLE_COUNTERS, &wanted, arena, &counter);
    return status == OK ? counter.value : 0;
}

// ---- telling ----

static void put_columns(Buf *body, const Table *table, const void *row, uint8_t count) {
    for (uint8_t i = 0; i < count; i++) {
        const Column *column = &table->columns[i];
        if (column->type == COLUMN_I64) bytes_put_zigzag(body, row_i64(row, column));
        else bytes_put_str(body, row_str(row, column));
    }
}

Str feed_write(RemoteRows *self, const RowWrites *writes) {
    Buf *body = &self->body;
    buf_clear(body);
    bytes_put_u32(body, feed_layout());
    bytes_put_zigzag(body, last_key(self, &self->arena));
    for (size_t i = 0; i < writes->count; i++) {
        const RowWrite *write = &writes->data[i];
        const Table *table = &tables[write->table];
        bytes_put_u8(body, (uint8_t)write->table);
        bytes_put_u8(body, (uint8_t)write->kind);
        bool is_removed = write->kind == WRITE_REMOVE;
        put_columns(body, table, write->row, is_removed ? table->key_count : table->column_count);
    }
    return body->is_overflown ? STR_NULL : buf_str(body);
}

// ---- following ----

static void get_columns(ByteReader *reader, const Table *table, void *row, uint8_t count) {
    memset(row, 0, table->row_size);
    for (uint8_t i = 0; i < count; i++) {
        const Column *column = &table->columns[i];
        if (column->type == COLUMN_I64) row_set_i64(row, column, bytes_get_zigzag(reader));
        else row_set_str(row, column, bytes_get_str(reader));
    }
}

static bool put_row(RemoteRows *self, TableNumber number, const void *row) {
    const Table *table = &tables[number];
    void *before = arena_alloc(&self->arena, table->row_size);
    Status status = rows_get(cached_rows(self), number, row, &self->arena, before);
    if (status == OK) {
        uint64_t changes = row_changes(table, before, row);
        self->cache_size += row_cache_text_size(table, row) - row_cache_text_size(table, before);
        return changes == 0 || rows_update(cached_rows(self), number, row, changes) == OK;
    }
    if (!row_cache_wants_row(self, number, row)) return true; // [feed-1]
    row_cache_grown(self, number, row);
    return rows_insert(cached_rows(self), number, row) == OK;
}

static bool remove_row(RemoteRows *self, TableNumber number, const void *key_row) {
    Status status = rows_remove(cached_rows(self), number, key_row);
    return status == OK || status == ERR_NOT_FOUND;
}

static bool body_apply(RemoteRows *self, Str body) {
    ByteReader reader = bytes_reader(body);
    if (bytes_get_u32(&reader) != feed_layout()) return false; // [feed-2]
    int64_t first = last_key(self, &self->arena) + 1;
    row_cache_cut_keys(self, first, bytes_get_zigzag(&reader)); // [feed-3]
    while (bytes_left(&reader) > 0 && !reader.is_bad) {
        uint8_t number = bytes_get_u8(&reader);
        uint8_t kind = bytes_get_u8(&reader);
        if (number >= TABLE_COUNT || kind >= WRITE_KIND_COUNT) return false;
        const Table *table = &tables[number];
        bool is_removed = kind == WRITE_REMOVE;
        ArenaMark mark = arena_mark(&self->arena);
        void *row = arena_alloc(&self->arena, table->row_size);
        get_columns(&reader, table, row, is_removed ? table->key_count : table->column_count);
        if (reader.is_bad) return false;
        bool is_done = is_removed ? remove_row(self, (TableNumber)number, row)
                                  : put_row(self, (TableNumber)number, row);
        arena_rewind(&self->arena, mark);
        if (!is_done) return false;
    }
    return !reader.is_bad;
}

static bool changes_apply(RemoteRows *self, const Changes *changes) {
    RowStore *rows = cached_rows(self);
    Diag *diag = rows->diag;
    rows->diag = NULL; // what fails is forgotten, and nobody's fault
    bool is_good = rows->ops->begin(rows, NULL) == OK;
    for (size_t i = 0; i < changes->count && is_good; i++) {
        is_good = body_apply(self, changes->bodies[i]);
    }
    is_good = rows->ops->commit(rows, NULL) == OK && is_good;
    rows->diag = diag;
    arena_reset(&self->arena);
    return is_good;
}

Status feed_catch_up(RemoteRows *self, bool *ret_is_changed, bool *ret_is_forgotten, Diag *diag) {
    Changes changes = {0};
    int64_t before = self->version;
    arena_reset(&self->fetched);
    FetchList list = {.arena = &self->fetched, .changes = &changes};
    TRY(self->remote->ops->fetch(self->remote, &self->version, &list, diag));
    *ret_is_changed = self->version != before;
    bool is_good = changes.is_complete && changes_apply(self, &changes);
    *ret_is_forgotten = !is_good;
    if (is_good) return OK;
    int64_t present = self->version;
    row_cache_forget(self); // [feed-2]
    self->version = present;
    return OK;
}

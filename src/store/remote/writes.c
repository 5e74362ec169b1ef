// What a transaction of RemoteRows has written: one entry per row, whatever happened to it.
//
// Entries are kept by primary key until the commit sends them, ordered by table, kind and set of
// columns. A savepoint remembers entries as they were before each change.
//
// Not here: the rows themselves, which are in the cache (remote/row_cache.c).
#include "base/assert.h"
#include "base/limits.h"
#include "store/remote/internal.h"
#include <stdlib.h>

void writes_clear(RemoteRows *self) {
    for (int table = 0; table < TABLE_COUNT; table++) {
        if (self->tables[table].writes.count == 0) continue;
        ordered_done(&self->tables[table].writes);
        ordered_init(&self->tables[table].writes);
    }
    vec_clear(&self->undo);
    self->has_savepoint = false;
}

Write *writes_find(RemoteRows *self, TableNumber table, const void *row) {
    if (self->tables[table].writes.count == 0) return NULL;
    return ordered_get(&self->tables[table].writes, row_cache_key(self, table, SCAN_PRIMARY, row));
}

Write *writes_entry(RemoteRows *self, TableNumber number, const void *row, bool exists) {
    Write *write = writes_find(self, number, row);
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
        ordered_insert(&self->tables[number].writes, row_cache_key(self, number, SCAN_PRIMARY, row),
                       write);
    }
    if (self->has_savepoint) vec_push(&self->undo, (WriteUndo){write, *write});
    return write;
}

const void *writes_before(RemoteRows *self, TableNumber table, const void *row) {
    if (!self->remote->ops->wants_before) return NULL;
    return memcpy(arena_alloc(&self->arena, tables[table].row_size), row, tables[table].row_size);
}

void writes_note_before(Write *write, const void *before) {
    if (write->existed && write->before == NULL) write->before = before;
}

void writes_note_replay(RemoteRows *self) {
    for (int number = 0; number < TABLE_COUNT; number++) {
        const OrderedNode *node = ordered_first_from(&self->tables[number].writes, STR(""));
        for (; node != NULL && self->replay.count < LIMIT_REPLAY_ROWS; node = ordered_next(node)) {
            const Write *write = ordered_value(node);
            if (!write->existed) continue;
            void *key_row = arena_alloc(&self->replay_arena, tables[number].row_size);
            row_copy(&tables[number], &self->replay_arena, write->key_row, key_row);
            vec_push(&self->replay, row_cache_key_scan((TableNumber)number, key_row));
        }
    }
}

static void writes_collect_kind(RemoteRows *self, TableNumber table, WriteKind kind,
                                RowWrites *writes) {
    const OrderedNode *node = ordered_first_from(&self->tables[table].writes, STR(""));
    for (; node != NULL; node = ordered_next(node)) {
        const Write *write = ordered_value(node);
        WriteKind its = !write->exists   ? WRITE_REMOVE
                        : write->existed ? WRITE_UPDATE
                                         : WRITE_INSERT;
        bool is_nothing =
            (!write->existed && !write->exists) || (its == WRITE_UPDATE && write->changes == 0);
        if (its != kind || is_nothing) continue;
        RowWrite entry = {table, kind, write->changes, write->key_row, write->before};
        if (kind != WRITE_REMOVE) {
            void *row = arena_alloc(&self->arena, tables[table].row_size);
            Status status = rows_get(cached_rows(self), table, write->key_row, &self->arena, row);
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

void writes_collect(RemoteRows *self, RowWrites *writes) {
    for (int number = 0; number < TABLE_COUNT; number++) {
        if (self->tables[number].writes.count == 0) continue;
        for (WriteKind kind = 0; kind < WRITE_KIND_COUNT; kind++) {
            size_t first = writes->count;
            writes_collect_kind(self, (TableNumber)number, kind, writes);
            if (kind != WRITE_UPDATE || writes->count == first) continue;
            qsort(writes->data + first, writes->count - first, sizeof(RowWrite), order_by_changes);
        }
    }
}

void writes_rewind(RemoteRows *self) {
    while (self->undo.count > 0) {
        WriteUndo undo = vec_pop(&self->undo);
        *undo.write = undo.before;
    }
    self->has_savepoint = false;
}

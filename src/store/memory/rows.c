// Memory rows: the RowStore that keeps nothing. For tests, the simulator and throw-away use.
//
// Each table is an ordered map from the primary key's bytes to the row, and one more per index.
// A transaction changes these in place and writes down how to undo it.
//
//   [memory-rows-1] A MemoryRow is what all maps of a table point to; an update replaces its block
//        and moves only the index entries whose key changed.
//   [memory-rows-2] Every change leaves one undo entry; rollback applies them from the last to the
//        first and ends with exactly the maps of the beginning.
//   [memory-rows-3] Blocks that an undo entry may need again are freed when the transaction ends.
//   [memory-rows-4] The writer holds `lock` from begin to commit or rollback, a reader from
//        read_begin to read_end: so a reader sees whole transactions only.
#include "base/assert.h"
#include "base/containers/vec.h"
#include "base/memory.h"
#include "store/memory/ordered.h"
#include "store/row_key.h"
#include <pthread.h>

enum { MEMORY_KEY_SIZE_MAX = 64 << 20 };

typedef struct MemoryRow {
    void *block; // the row struct, then the bytes of its Str columns
} MemoryRow;

typedef struct MemoryTable {
    Ordered primary;
    Ordered indexes[TABLE_INDEXES_MAX];
    RowOrder primary_order;
    RowOrder orders[TABLE_INDEXES_MAX];
} MemoryTable;

typedef enum UndoKind { UNDO_INSERT, UNDO_UPDATE, UNDO_REMOVE } UndoKind;

typedef struct Undo {
    UndoKind kind;
    TableNumber table;
    MemoryRow *row;
    void *old_block; // UNDO_UPDATE
} Undo;

typedef struct MemoryData {
    pthread_mutex_t lock; // [memory-rows-4]
    int user_count;       // writer and reader
    MemoryTable tables[TABLE_COUNT];
    VEC(Undo) undo;
} MemoryData;

typedef struct MemoryRows {
    RowStore base;
    MemoryData *data;
    bool is_writer;
    bool is_active; // between begin and commit, or read_begin and read_end
    size_t savepoint;
    bool has_savepoint;
    Buf key;
    RowRange range;
} MemoryRows;

static const RowStoreOps memory_ops;

static MemoryRows *memory_rows(RowStore *rows) {
    ASSERT(rows->ops == &memory_ops);
    return (MemoryRows *)rows;
}

// ---- rows and their index entries ----

static void *block_new(const Table *table, const void *row) {
    size_t size = table->row_size;
    for (uint8_t i = 0; i < table->column_count; i++) {
        if (table->columns[i].type != COLUMN_I64) size += row_str(row, &table->columns[i]).len;
    }
    char *block = mem_alloc(size);
    memcpy(block, row, table->row_size);
    char *bytes = block + table->row_size;
    for (uint8_t i = 0; i < table->column_count; i++) {
        const Column *column = &table->columns[i];
        if (column->type == COLUMN_I64) continue;
        Str value = row_str(row, column);
        if (str_is_null(value)) continue;
        if (value.len > 0) memcpy(bytes, value.data, value.len);
        // An empty text of a table without others would point past the block: any address does.
        row_set_str(block, column, (Str){value.len > 0 ? bytes : "", value.len});
        bytes += value.len;
    }
    return block;
}

static Str key_set(Buf *buf, const Table *table, const RowOrder *order, const void *row) {
    buf_clear(buf);
    row_key_append(buf, table, order, row, order->count);
    return buf_str(buf);
}

static MemoryRow *row_find(MemoryRows *self, TableNumber number, const void *key_row) {
    MemoryTable *memory = &self->data->tables[number];
    Str key = key_set(&self->key, &tables[number], &memory->primary_order, key_row);
    return ordered_get(&memory->primary, key);
}

// The row that has the values of `row` in a unique index; NULL = there is none.
static MemoryRow *index_find(MemoryRows *self, TableNumber number, int place, const void *row) {
    const Table *table = &tables[number];
    const IndexSpec *index = &table->indexes[place];
    MemoryTable *memory = &self->data->tables[number];
    for (uint8_t i = 0; i < index->column_count; i++) {
        const Column *column = &table->columns[index->columns[i]];
        // As in SQL, a null is equal to nothing.
        if (column->type != COLUMN_I64 && str_is_null(row_str(row, column))) return NULL;
    }
    buf_clear(&self->key);
    row_key_append(&self->key, table, &memory->orders[place], row, index->column_count);
    Str prefix = buf_str(&self->key);
    OrderedNode *node = ordered_first_from(&memory->indexes[place], prefix);
    bool is_found = node != NULL && str_starts_with(ordered_key(node), prefix);
    return is_found ? ordered_value(node) : NULL;
}

// True when another row than `self_row` has the same values in a unique index.
static bool index_is_taken(MemoryRows *self, TableNumber number, uint8_t place, const void *row,
                           const MemoryRow *self_row) {
    const IndexSpec *index = &tables[number].indexes[place];
    if (!index->is_unique || !index_has_row(&tables[number], index, row)) return false;
    const MemoryRow *found = index_find(self, number, place, row);
    return found != NULL && found != self_row;
}

static void index_add(MemoryRows *self, TableNumber number, uint8_t place, MemoryRow *row) {
    const Table *table = &tables[number];
    if (!index_has_row(table, &table->indexes[place], row->block)) return;
    MemoryTable *memory = &self->data->tables[number];
    Str key = key_set(&self->key, table, &memory->orders[place], row->block);
    bool is_new = ordered_insert(&memory->indexes[place], key, row);
    ASSERT(is_new);
}

static void index_drop(MemoryRows *self, TableNumber number, uint8_t place, MemoryRow *row) {
    const Table *table = &tables[number];
    if (!index_has_row(table, &table->indexes[place], row->block)) return;
    MemoryTable *memory = &self->data->tables[number];
    Str key = key_set(&self->key, table, &memory->orders[place], row->block);
    void *removed = ordered_remove(&memory->indexes[place], key);
    ASSERT(removed == row);
}

static void row_link(MemoryRows *self, TableNumber number, MemoryRow *row) {
    MemoryTable *memory = &self->data->tables[number];
    Str key = key_set(&self->key, &tables[number], &memory->primary_order, row->block);
    bool is_new = ordered_insert(&memory->primary, key, row);
    ASSERT(is_new);
    for (uint8_t i = 0; i < tables[number].index_count; i++) index_add(self, number, i, row);
}

static void row_unlink(MemoryRows *self, TableNumber number, MemoryRow *row) {
    MemoryTable *memory = &self->data->tables[number];
    Str key = key_set(&self->key, &tables[number], &memory->primary_order, row->block);
    void *removed = ordered_remove(&memory->primary, key);
    ASSERT(removed == row);
    for (uint8_t i = 0; i < tables[number].index_count; i++) index_drop(self, number, i, row);
}

static uint64_t index_columns(const Table *table, const IndexSpec *index) {
    (void)table;
    uint64_t bits = index->sparse == COLUMN_NONE ? 0 : UINT64_C(1) << index->sparse;
    for (uint8_t i = 0; i < index->column_count; i++) bits |= UINT64_C(1) << index->columns[i];
    return bits;
}

// [memory-rows-1] Puts `block` in the place of the row's present one, which the caller keeps or
//      frees.
static void row_swap(MemoryRows *self, TableNumber number, MemoryRow *row, void *block) {
    const Table *table = &tables[number];
    uint64_t changes = row_changes(table, row->block, block);
    void *old = row->block;
    for (uint8_t i = 0; i < table->index_count; i++) {
        if (index_columns(table, &table->indexes[i]) & changes) index_drop(self, number, i, row);
    }
    row->block = block;
    for (uint8_t i = 0; i < table->index_count; i++) {
        if (index_columns(table, &table->indexes[i]) & changes) index_add(self, number, i, row);
    }
    ASSERT(old != block);
}

static void row_free(MemoryRow *row) {
    mem_free(row->block);
    mem_free(row);
}

// ---- transactions ----

static void undo_to(MemoryRows *self, size_t mark) {
    MemoryData *data = self->data;
    while (data->undo.count > mark) { // [memory-rows-2]
        Undo undo = vec_pop(&data->undo);
        switch (undo.kind) {
        case UNDO_INSERT:
            row_unlink(self, undo.table, undo.row);
            row_free(undo.row);
            break;
        case UNDO_UPDATE: {
            void *newer = undo.row->block;
            row_swap(self, undo.table, undo.row, undo.old_block);
            mem_free(newer);
            break;
        }
        case UNDO_REMOVE: row_link(self, undo.table, undo.row); break;
        }
    }
}

static Status memory_begin(RowStore *rows, Diag *diag) {
    (void)diag;
    MemoryRows *self = memory_rows(rows);
    ASSERT(self->is_writer && !self->is_active);
    pthread_mutex_lock(&self->data->lock);
    self->is_active = true;
    ASSERT(self->data->undo.count == 0);
    return OK;
}

static void transaction_end(MemoryRows *self) {
    self->is_active = false;
    self->has_savepoint = false;
    pthread_mutex_unlock(&self->data->lock);
}

static Status memory_commit(RowStore *rows, Diag *diag) {
    (void)diag;
    MemoryRows *self = memory_rows(rows);
    ASSERT(self->is_active && !self->has_savepoint);
    MemoryData *data = self->data;
    for (size_t i = 0; i < data->undo.count; i++) { // [memory-rows-3]
        Undo *undo = &data->undo.data[i];
        if (undo->kind == UNDO_UPDATE) mem_free(undo->old_block);
        if (undo->kind == UNDO_REMOVE) row_free(undo->row);
    }
    vec_clear(&data->undo);
    transaction_end(self);
    return OK;
}

static void memory_rollback(RowStore *rows) {
    MemoryRows *self = memory_rows(rows);
    ASSERT(self->is_active);
    undo_to(self, 0);
    transaction_end(self);
}

static Status memory_savepoint(RowStore *rows, Diag *diag) {
    (void)diag;
    MemoryRows *self = memory_rows(rows);
    ASSERT(self->is_active && !self->has_savepoint);
    self->savepoint = self->data->undo.count;
    self->has_savepoint = true;
    return OK;
}

static Status memory_rollback_to(RowStore *rows, Diag *diag) {
    (void)diag;
    MemoryRows *self = memory_rows(rows);
    ASSERT(self->has_savepoint);
    undo_to(self, self->savepoint);
    self->has_savepoint = false;
    return OK;
}

static Status memory_release(RowStore *rows, Diag *diag) {
    (void)diag;
    MemoryRows *self = memory_rows(rows);
    ASSERT(self->has_savepoint);
    self->has_savepoint = false;
    return OK;
}

static Status memory_read_begin(RowStore *rows, Diag *diag) {
    (void)diag;
    MemoryRows *self = memory_rows(rows);
    pthread_mutex_lock(&self->data->lock); // [memory-rows-4]
    ASSERT(!self->is_active);
    self->is_active = true;
    return OK;
}

static void memory_read_end(RowStore *rows) {
    MemoryRows *self = memory_rows(rows);
    ASSERT(self->is_active);
    self->is_active = false;
    pthread_mutex_unlock(&self->data->lock);
}

// ---- rows ----

static Status memory_get(RowStore *rows, TableNumber table, const void *key_row, Arena *arena,
                         void *ret_row) {
    MemoryRows *self = memory_rows(rows);
    ASSERT(self->is_active || self->is_writer); // nobody changes rows beside the writer
    MemoryRow *row = row_find(self, table, key_row);
    if (row == NULL) return ERR_NOT_FOUND;
    row_copy(&tables[table], arena, row->block, ret_row);
    return OK;
}

static Status memory_find(RowStore *rows, const RowKey *key, Arena *arena, const void **ret_row) {
    (void)arena;
    MemoryRows *self = memory_rows(rows);
    ASSERT(self->is_writer);
    const MemoryRow *row = key->index == SCAN_PRIMARY
                               ? row_find(self, key->table, key->match)
                               : index_find(self, key->table, key->index, key->match);
    if (row == NULL) return ERR_NOT_FOUND;
    *ret_row = row->block;
    return OK;
}

static Status memory_insert(RowStore *rows, TableNumber table, const void *row) {
    MemoryRows *self = memory_rows(rows);
    ASSERT(self->is_writer && self->is_active);
    if (row_find(self, table, row) != NULL) {
        return diag_set(rows->diag, ERR_CONFLICT, "STORE_CONFLICT", "%s: the primary key exists",
                        tables[table].name);
    }
    for (uint8_t i = 0; i < tables[table].index_count; i++) {
        if (!index_is_taken(self, table, i, row, NULL)) continue;
        return diag_set(rows->diag, ERR_CONFLICT, "STORE_CONFLICT", "%s: the key %s exists",
                        tables[table].name, tables[table].indexes[i].name);
    }
    MemoryRow *made = mem_alloc(sizeof(MemoryRow));
    made->block = block_new(&tables[table], row);
    row_link(self, table, made);
    vec_push(&self->data->undo, (Undo){UNDO_INSERT, table, made, NULL});
    return OK;
}

static Status memory_update(RowStore *rows, TableNumber number, const void *row, uint64_t changes) {
    MemoryRows *self = memory_rows(rows);
    const Table *table = &tables[number];
    ASSERT(self->is_writer && self->is_active);
    ASSERT((changes & ((UINT64_C(1) << table->key_count) - 1)) == 0);
    MemoryRow *present = row_find(self, number, row);
    if (present == NULL) return ERR_NOT_FOUND;
    if (changes == 0) return OK;
    // [rowstore-6] Columns that are not in `changes` keep their stored value.
    union {
        RunRow run;
        TaskRow task;
        DefinitionRow definition;
        DeadLetterRow dead_letter;
        LogRow log;
    } merged;
    ASSERT(table->row_size <= sizeof(merged));
    memcpy(&merged, present->block, table->row_size);
    for (uint8_t i = 0; i < table->column_count; i++) {
        if ((changes >> i & 1) == 0) continue;
        const Column *column = &table->columns[i];
        if (column->type == COLUMN_I64) row_set_i64(&merged, column, row_i64(row, column));
        else row_set_str(&merged, column, row_str(row, column));
    }
    for (uint8_t i = 0; i < table->index_count; i++) {
        if (!index_is_taken(self, number, i, &merged, present)) continue;
        return diag_set(rows->diag, ERR_CONFLICT, "STORE_CONFLICT", "%s: the key %s exists",
                        table->name, table->indexes[i].name);
    }
    void *old_block = present->block;
    row_swap(self, number, present, block_new(table, &merged));
    vec_push(&self->data->undo, (Undo){UNDO_UPDATE, number, present, old_block});
    return OK;
}

static Status memory_remove(RowStore *rows, TableNumber table, const void *key_row) {
    MemoryRows *self = memory_rows(rows);
    ASSERT(self->is_writer && self->is_active);
    MemoryRow *row = row_find(self, table, key_row);
    if (row == NULL) return ERR_NOT_FOUND;
    row_unlink(self, table, row);
    vec_push(&self->data->undo, (Undo){UNDO_REMOVE, table, row, NULL});
    return OK;
}

static int key_order(Str a, Str b) { return str_compare(a, b); }

static Status memory_scan(RowStore *rows, const Scan *scan, Arena *arena, void *ret_rows,
                          size_t *ret_count) {
    MemoryRows *self = memory_rows(rows);
    ASSERT(self->is_active || self->is_writer);
    const Table *table = &tables[scan->table];
    MemoryTable *memory = &self->data->tables[scan->table];
    row_range_set(&self->range, table, scan);
    const Ordered *map =
        scan->index == SCAN_PRIMARY ? &memory->primary : &memory->indexes[scan->index];
    Str low = buf_str(&self->range.low), high = buf_str(&self->range.high);
    OrderedNode *node;
    if (!scan->is_descending) node = ordered_first_from(map, low);
    else node = high.len == 0 ? ordered_last(map) : ordered_last_before(map, high);

    VEC(MemoryRow *) found = {0};
    while (node != NULL && (int64_t)found.count < scan->limit) {
        Str key = ordered_key(node);
        if (scan->is_descending ? key_order(key, low) < 0
                                : high.len > 0 && key_order(key, high) >= 0) {
            break;
        }
        vec_push(&found, (MemoryRow *)ordered_value(node));
        node = scan->is_descending ? ordered_prev(node) : ordered_next(node);
    }
    char *array = arena_zalloc_array(arena, found.count > 0 ? found.count : 1, table->row_size);
    for (size_t i = 0; i < found.count; i++) {
        row_copy(table, arena, found.data[i]->block, array + i * table->row_size);
    }
    *ret_count = found.count;
    memcpy(ret_rows, &array, sizeof(array));
    vec_free(&found);
    return OK;
}

static StepDatabase memory_database(RowStore *rows) {
    (void)rows;
    return (StepDatabase){0};
}

// Every row is in each index it belongs to and in no other, under its own key.
static Status memory_check(RowStore *rows, Diag *diag) {
    MemoryRows *self = memory_rows(rows);
    ASSERT(self->is_active);
    for (int number = 0; number < TABLE_COUNT; number++) {
        const Table *table = &tables[number];
        MemoryTable *memory = &self->data->tables[number];
        for (uint8_t i = 0; i < table->index_count; i++) {
            size_t expected = 0;
            OrderedNode *node = ordered_first_from(&memory->primary, STR(""));
            for (; node != NULL; node = ordered_next(node)) {
                MemoryRow *row = ordered_value(node);
                if (!index_has_row(table, &table->indexes[i], row->block)) continue;
                Str key = key_set(&self->key, table, &memory->orders[i], row->block);
                if (ordered_get(&memory->indexes[i], key) != row) {
                    return diag_set(diag, ERR_CORRUPT, "STORE_CORRUPT",
                                    "a row of %s is missing in %s", table->name,
                                    table->indexes[i].name);
                }
                expected++;
            }
            if (expected == memory->indexes[i].count) continue;
            return diag_set(diag, ERR_CORRUPT, "STORE_CORRUPT", "%s of %s has too many rows",
                            table->indexes[i].name, table->name);
        }
    }
    return OK;
}

static void data_free(MemoryData *data) {
    ASSERT(data->undo.count == 0);
    vec_free(&data->undo);
    for (int number = 0; number < TABLE_COUNT; number++) {
        MemoryTable *memory = &data->tables[number];
        OrderedNode *node = ordered_first_from(&memory->primary, STR(""));
        for (; node != NULL; node = ordered_next(node)) row_free(ordered_value(node));
        ordered_done(&memory->primary);
        for (uint8_t i = 0; i < tables[number].index_count; i++) ordered_done(&memory->indexes[i]);
    }
    pthread_mutex_destroy(&data->lock);
    mem_free(data);
}

static void memory_close(RowStore *rows) {
    MemoryRows *self = memory_rows(rows);
    ASSERT(!self->is_active);
    if (--self->data->user_count == 0) data_free(self->data);
    buf_done(&self->key);
    buf_done(&self->range.low);
    buf_done(&self->range.high);
    mem_free(self);
}

static const RowStoreOps memory_ops = {
    .name = "memory",
    .begin = memory_begin,
    .commit = memory_commit,
    .rollback = memory_rollback,
    .savepoint = memory_savepoint,
    .rollback_to = memory_rollback_to,
    .release = memory_release,
    .read_begin = memory_read_begin,
    .read_end = memory_read_end,
    .get = memory_get,
    .find = memory_find,
    .insert = memory_insert,
    .update = memory_update,
    .remove = memory_remove,
    .scan = memory_scan,
    .database = memory_database,
    .check = memory_check,
    .close = memory_close,
};

static RowStore *memory_rows_new(MemoryData *data, bool is_writer) {
    MemoryRows *self = mem_zalloc(sizeof(MemoryRows));
    self->base.ops = &memory_ops;
    self->data = data;
    self->is_writer = is_writer;
    buf_init(&self->key, MEMORY_KEY_SIZE_MAX);
    buf_init(&self->range.low, MEMORY_KEY_SIZE_MAX);
    buf_init(&self->range.high, MEMORY_KEY_SIZE_MAX);
    data->user_count++;
    return &self->base;
}

Status memory_rows_open(RowStorePair *ret_pair, Diag *diag) {
    (void)diag;
    MemoryData *data = mem_zalloc(sizeof(MemoryData));
    pthread_mutex_init(&data->lock, NULL);
    for (int number = 0; number < TABLE_COUNT; number++) {
        MemoryTable *memory = &data->tables[number];
        ordered_init(&memory->primary);
        memory->primary_order = row_order(&tables[number], SCAN_PRIMARY);
        for (uint8_t i = 0; i < tables[number].index_count; i++) {
            ordered_init(&memory->indexes[i]);
            memory->orders[i] = row_order(&tables[number], i);
        }
    }
    ret_pair->writer = memory_rows_new(data, true);
    ret_pair->reader = memory_rows_new(data, false);
    return OK;
}

// Columns: comparing and copying rows by their description.
//
//   [column-1] These functions know no table by name; what they do follows from the Table alone.
//   [column-2] Null and empty are different values (str_same), as they are in every backend.
//   [column-3] A copied row shares nothing with the row it was copied from.
//
// Not here: the descriptions (tables.c), orders and keys (store/row_key.c).
#include "model/column.h"
#include "base/assert.h"

uint64_t row_changes(const Table *table, const void *before, const void *after) {
    uint64_t changes = 0;
    for (uint8_t i = 0; i < table->column_count; i++) {
        const Column *column = &table->columns[i];
        bool is_same = column->type == COLUMN_I64
                           ? row_i64(before, column) == row_i64(after, column)
                           : str_same(row_str(before, column), row_str(after, column));
        if (!is_same) changes |= UINT64_C(1) << i;
    }
    return changes;
}

void row_copy(const Table *table, Arena *arena, const void *from, void *to) {
    ASSERT(from != to);
    memcpy(to, from, table->row_size);
    for (uint8_t i = 0; i < table->column_count; i++) {
        const Column *column = &table->columns[i];
        if (column->type == COLUMN_I64) continue;
        row_set_str(to, column, arena_str(arena, row_str(from, column)));
    }
}

void row_copy_columns(const Table *table, uint64_t columns, const void *from, void *to) {
    for (uint8_t i = 0; i < table->column_count; i++) {
        const Column *column = &table->columns[i];
        if (!(columns & UINT64_C(1) << i)) continue;
        if (column->type == COLUMN_I64) row_set_i64(to, column, row_i64(from, column));
        else row_set_str(to, column, row_str(from, column));
    }
}

bool index_has_row(const Table *table, const IndexSpec *index, const void *row) {
    if (index->sparse == COLUMN_NONE) return true;
    const Column *column = &table->columns[index->sparse];
    if (column->type == COLUMN_I64) return row_i64(row, column) != 0;
    return !str_is_null(row_str(row, column));
}

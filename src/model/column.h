// Columns: every durable row is described once, here, and all backends loop over the description.
//
// A row is a plain C struct. Its columns are either 64-bit integers (never null; 0 is "none") or
// Str values (text or bytes; a null Str is SQL NULL). The first `key_count` columns are the
// primary key. An index lists columns; rows are ordered by those, then by the primary key. A
// sparse index leaves out rows whose `sparse` column is 0 or null, which keeps the indexes that
// drive timers and waits as small as the work that is really due.
//
// Adding a column is one line in tables.c plus a migration (store/sqlite/migrations.c).
#pragma once
#include "base/arena.h"
#include <stdint.h>

typedef enum ColumnType {
    COLUMN_I64,  // int64_t
    COLUMN_TEXT, // Str, valid UTF-8 without NUL
    COLUMN_BYTES // Str, any bytes
} ColumnType;

typedef enum ColumnMeaning {
    COLUMN_IS_VALUE,
    COLUMN_IS_KEY, // a key of the store's sequence, of this row or of the run it belongs to: no row
                   // has it before it was drawn
    COLUMN_IS_DUE, // when the row is to be looked at; 0 = no more
} ColumnMeaning;

typedef struct Column {
    const char *name;
    ColumnType type;
    uint16_t offset; // of the field in the row struct
    ColumnMeaning meaning;
} Column;

enum { INDEX_COLUMNS_MAX = 4, TABLE_INDEXES_MAX = 7, COLUMN_NONE = 255 };

typedef struct IndexSpec {
    const char *name;
    uint8_t column_count;
    uint8_t columns[INDEX_COLUMNS_MAX]; // positions in Table.columns
    uint8_t sparse;                     // position of the deciding column, or COLUMN_NONE
    bool is_unique;
} IndexSpec;

typedef struct Table {
    const char *name;
    uint8_t number; // its place in `tables`
    uint8_t key_count;
    uint8_t column_count; // at most 64
    uint8_t index_count;
    uint16_t row_size;
    const Column *columns;
    const IndexSpec *indexes;
} Table;

static inline int64_t row_i64(const void *row, const Column *column) {
    return *(const int64_t *)(const void *)((const char *)row + column->offset);
}
static inline Str row_str(const void *row, const Column *column) {
    return *(const Str *)(const void *)((const char *)row + column->offset);
}
static inline void row_set_i64(void *row, const Column *column, int64_t value) {
    *(int64_t *)(void *)((char *)row + column->offset) = value;
}
static inline void row_set_str(void *row, const Column *column, Str value) {
    *(Str *)(void *)((char *)row + column->offset) = value;
}

// Bit i is set when column i differs.
uint64_t row_changes(const Table *table, const void *before, const void *after);
// Copies all Str columns into the arena.
void row_copy(const Table *table, Arena *arena, const void *from, void *to);
// Sets those columns of `to` whose bits are set as they are in `from`; they share their texts.
void row_copy_columns(const Table *table, uint64_t columns, const void *from, void *to);
// True when the row belongs into the index.
bool index_has_row(const Table *table, const IndexSpec *index, const void *row);

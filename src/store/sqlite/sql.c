// SQL text for SQLite, written from the tables.
//
//   [sqlite-sql-1] Nothing here names a table or column; adding one needs no change.
//   [sqlite-sql-2] A table with one integer key is keyed by SQLite's rowid, the cheapest key there
//        is. All others are WITHOUT ROWID, so that a row is stored once, in the order it is read.
//   [sqlite-sql-3] A sparse index is a partial one. A scan of it repeats the condition word for
//        word, because that is how SQLite knows that it may use it.
//   [sqlite-sql-4] Every scan names its index (INDEXED BY): a plan that would sort or read the
//        whole table is an error when the statement is prepared, not a slow query later.
#include "base/assert.h"
#include "store/sqlite/internal.h"

static bool has_rowid_key(const Table *table) {
    return table->key_count == 1 && table->columns[0].type == COLUMN_I64;
}

static const char *column_type(const Column *column) {
    switch (column->type) {
    case COLUMN_I64: return "INTEGER";
    case COLUMN_TEXT: return "TEXT";
    case COLUMN_BYTES: return "BLOB";
    }
    UNREACHABLE();
}

static void append_sparse_condition(Buf *sql, const Table *table, const IndexSpec *index) {
    const Column *column = &table->columns[index->sparse];
    buf_printf(sql, column->type == COLUMN_I64 ? "\"%s\" <> 0" : "\"%s\" IS NOT NULL",
               column->name);
}

void sqlite_sql_create_table(Buf *sql, const Table *table) {
    buf_clear(sql);
    buf_printf(sql, "CREATE TABLE " SQLITE_PREFIX "%s (", table->name);
    for (uint8_t i = 0; i < table->column_count; i++) {
        const Column *column = &table->columns[i];
        buf_printf(sql, "%s\"%s\" %s", i > 0 ? ", " : "", column->name, column_type(column));
        if (i == 0 && has_rowid_key(table)) buf_append_cstr(sql, " PRIMARY KEY");
        else if (column->type == COLUMN_I64 || i < table->key_count) {
            buf_append_cstr(sql, " NOT NULL");
        }
    }
    if (has_rowid_key(table)) {
        buf_append_cstr(sql, ") STRICT");
        return;
    }
    buf_append_cstr(sql, ", PRIMARY KEY (");
    for (uint8_t i = 0; i < table->key_count; i++) {
        buf_printf(sql, "%s\"%s\"", i > 0 ? ", " : "", table->columns[i].name);
    }
    buf_append_cstr(sql, ")) STRICT, WITHOUT ROWID");
}

void sqlite_sql_create_index(Buf *sql, const Table *table, uint8_t index) {
    const IndexSpec *spec = &table->indexes[index];
    buf_clear(sql);
    buf_printf(sql, "CREATE %sINDEX " SQLITE_PREFIX "%s_%s ON " SQLITE_PREFIX "%s (",
               spec->is_unique ? "UNIQUE " : "", table->name, spec->name, table->name);
    for (uint8_t i = 0; i < spec->column_count; i++) {
        buf_printf(sql, "%s\"%s\"", i > 0 ? ", " : "", table->columns[spec->columns[i]].name);
    }
    buf_append_char(sql, ')');
    if (spec->sparse == COLUMN_NONE) return;
    buf_append_cstr(sql, " WHERE ");
    append_sparse_condition(sql, table, spec);
}

static void append_key_condition(Buf *sql, const Table *table) {
    for (uint8_t i = 0; i < table->key_count; i++) {
        buf_printf(sql, "%s\"%s\" = ?", i > 0 ? " AND " : " WHERE ", table->columns[i].name);
    }
}

static void append_column_list(Buf *sql, const Table *table) {
    for (uint8_t i = 0; i < table->column_count; i++) {
        buf_printf(sql, "%s\"%s\"", i > 0 ? ", " : "", table->columns[i].name);
    }
}

void sqlite_sql_get(Buf *sql, const Table *table) {
    buf_clear(sql);
    buf_append_cstr(sql, "SELECT ");
    append_column_list(sql, table);
    buf_printf(sql, " FROM " SQLITE_PREFIX "%s", table->name);
    append_key_condition(sql, table);
}

void sqlite_sql_insert(Buf *sql, const Table *table) {
    buf_clear(sql);
    buf_printf(sql, "INSERT INTO " SQLITE_PREFIX "%s (", table->name);
    append_column_list(sql, table);
    buf_append_cstr(sql, ") VALUES (");
    for (uint8_t i = 0; i < table->column_count; i++) buf_append_cstr(sql, i > 0 ? ", ?" : "?");
    buf_append_char(sql, ')');
}

void sqlite_sql_update(Buf *sql, const Table *table, uint64_t changes) {
    ASSERT(changes != 0);
    buf_clear(sql);
    buf_printf(sql, "UPDATE " SQLITE_PREFIX "%s SET ", table->name);
    bool is_first = true;
    for (uint8_t i = 0; i < table->column_count; i++) {
        if ((changes >> i & 1) == 0) continue;
        buf_printf(sql, "%s\"%s\" = ?", is_first ? "" : ", ", table->columns[i].name);
        is_first = false;
    }
    append_key_condition(sql, table);
}

void sqlite_sql_remove(Buf *sql, const Table *table) {
    buf_clear(sql);
    buf_printf(sql, "DELETE FROM " SQLITE_PREFIX "%s", table->name);
    append_key_condition(sql, table);
}

typedef struct Clause { // writes WHERE before the first condition and AND before the others
    Buf *sql;
    bool has_condition;
} Clause;

static void clause_next(Clause *clause) {
    buf_append_cstr(clause->sql, clause->has_condition ? " AND " : " WHERE ");
    clause->has_condition = true;
}

// ("a", "b") > (?, ?): SQLite walks its key with that.
static void append_beyond(Buf *sql, const Table *table) {
    for (uint8_t i = 0; i < table->key_count; i++) {
        buf_printf(sql, "%s\"%s\"", i > 0 ? ", " : "(", table->columns[i].name);
    }
    for (uint8_t i = 0; i < table->key_count; i++) {
        buf_append_cstr(sql, i > 0 ? ", ?" : ") > (?");
    }
    buf_append_char(sql, ')');
}

static void append_bounds(Clause *clause, const Scan *scan, const Table *table,
                          const RowOrder *order) {
    Buf *sql = clause->sql;
    const char *bounded = NULL;
    if (scan->match_count < order->count) {
        bounded = table->columns[order->columns[scan->match_count]].name;
    }
    if (scan->has_min) {
        clause_next(clause);
        buf_printf(sql, "\"%s\" >= ?", bounded);
    }
    if (scan->has_max) {
        clause_next(clause);
        buf_printf(sql, "\"%s\" <= ?", bounded);
    }
    if (scan->after_row != NULL) {
        clause_next(clause);
        append_beyond(sql, table);
    }
    if (scan->after_key == 0) return;
    const char *key = table->columns[0].name;
    const char *sign = scan->is_descending ? "<" : ">";
    clause_next(clause);
    if (scan->index == SCAN_PRIMARY || scan->match_count == order->index_count) {
        buf_printf(sql, "\"%s\" %s ?", key, sign);
    } else {
        buf_printf(sql, "(\"%s\", \"%s\") %s (?, ?)", bounded, key, sign);
    }
}

void sqlite_sql_scan(Buf *sql, const Scan *scan) {
    scan_check(scan);
    const Table *table = &tables[scan->table];
    RowOrder order = row_order(table, scan->index);
    buf_clear(sql);
    buf_append_cstr(sql, "SELECT ");
    append_column_list(sql, table);
    buf_printf(sql, " FROM " SQLITE_PREFIX "%s", table->name);
    if (scan->index != SCAN_PRIMARY) { // [sqlite-sql-4]
        buf_printf(sql, " INDEXED BY " SQLITE_PREFIX "%s_%s", table->name,
                   table->indexes[scan->index].name);
    } else {
        buf_append_cstr(sql, " NOT INDEXED");
    }
    Clause clause = {sql, false};
    for (int i = 0; i < scan->match_count; i++) {
        const Column *column = &table->columns[order.columns[i]];
        clause_next(&clause);
        buf_printf(sql, column->type == COLUMN_I64 ? "\"%s\" = ?" : "\"%s\" IS ?", column->name);
    }
    if (scan->index != SCAN_PRIMARY && table->indexes[scan->index].sparse != COLUMN_NONE) {
        clause_next(&clause);
        append_sparse_condition(sql, table, &table->indexes[scan->index]); // [sqlite-sql-3]
    }
    append_bounds(&clause, scan, table, &order);
    for (int i = scan->match_count; i < order.count; i++) {
        buf_printf(sql, "%s\"%s\"%s", i == scan->match_count ? " ORDER BY " : ", ",
                   table->columns[order.columns[i]].name, scan->is_descending ? " DESC" : "");
    }
    buf_append_cstr(sql, " LIMIT ?");
}

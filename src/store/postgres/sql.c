// SQL text for PostgreSQL, written from the tables.
//
//   [postgres-sql-1] Nothing here names a table or column of the store; adding one needs no change.
//   [postgres-sql-2] Text is kept as bytes (bytea): it compares by bytes and comes back as it went
//        in, whatever it is and whatever the database's encoding. The views show it readable.
//   [postgres-sql-3] An index ends with the primary key, so that it delivers the order of a scan
//        without a sort; a sparse index is a partial one, and a scan of it repeats the condition.
//   [postgres-sql-4] Writes are set-based: one statement per table, verb and set of columns,
//        whatever the number of rows. One that does not find all its rows raises an error.
//   [postgres-sql-5] What a write costs depends on the rows it writes, not on the size of the
//        table, whatever the planner thinks of it.
#include "base/assert.h"
#include "store/postgres/internal.h"

enum { SHAPE_SCAN = 1, SHAPE_REMOVE, SHAPE_UPDATE, SHAPE_INSERT };

static const char *type_of(const Column *column) {
    return column->type == COLUMN_I64 ? "bigint" : "bytea";
}

// Rows that are written again and again have room beside them, so that the new version goes onto
// the same page and no index learns of it.
static int fill_factor(const Table *table) {
    switch (table->number) {
    case TABLE_COUNTERS:
    case TABLE_NODES:
    case TABLE_QUEUES:
    case TABLE_TOPICS:
    case TABLE_TASK_KEYS: return 20;
    case TABLE_RUNS:
    case TABLE_TASKS: return 80;
    default: return 100;
    }
}

void pg_sql_create_table(Buf *sql, const char *schema, const Table *table) {
    buf_clear(sql);
    buf_printf(sql, "CREATE TABLE IF NOT EXISTS %s.%s (", schema, table->name);
    for (uint8_t i = 0; i < table->column_count; i++) {
        const Column *column = &table->columns[i];
        bool is_needed = column->type == COLUMN_I64 || i < table->key_count;
        buf_printf(sql, "\"%s\" %s%s, ", column->name, type_of(column),
                   is_needed ? " NOT NULL" : "");
    }
    buf_append_cstr(sql, "PRIMARY KEY (");
    for (uint8_t i = 0; i < table->key_count; i++) {
        buf_printf(sql, "%s\"%s\"", i > 0 ? ", " : "", table->columns[i].name);
    }
    buf_printf(sql,
               ")) WITH (fillfactor = %d, autovacuum_vacuum_scale_factor = 0.02, "
               "autovacuum_vacuum_threshold = 1000)",
               fill_factor(table));
}

void pg_sql_add_column(Buf *sql, const char *schema, const Table *table, uint8_t place) {
    const Column *column = &table->columns[place];
    buf_clear(sql);
    buf_printf(sql, "ALTER TABLE %s.%s ADD COLUMN IF NOT EXISTS \"%s\" %s%s", schema, table->name,
               column->name, type_of(column),
               column->type == COLUMN_I64 ? " NOT NULL DEFAULT 0" : "");
}

static void append_sparse_condition(Buf *sql, const Table *table, const IndexSpec *index) {
    const Column *column = &table->columns[index->sparse];
    buf_printf(sql, column->type == COLUMN_I64 ? "\"%s\" <> 0" : "\"%s\" IS NOT NULL",
               column->name);
}

// Null comes before any text ([rowstore-3] of rowstore.h); PostgreSQL must be told.
static void append_order(Buf *sql, const Column *column, bool is_descending) {
    buf_printf(sql, "\"%s\"%s", column->name, is_descending ? " DESC" : "");
    if (column->type == COLUMN_I64) return;
    buf_append_cstr(sql, is_descending ? " NULLS LAST" : " NULLS FIRST");
}

void pg_sql_create_index(Buf *sql, const char *schema, const Table *table, uint8_t index) {
    const IndexSpec *spec = &table->indexes[index];
    RowOrder order = row_order(table, index);
    uint8_t count = spec->is_unique ? spec->column_count : order.count; // [postgres-sql-3]
    buf_clear(sql);
    buf_printf(sql, "CREATE %sINDEX IF NOT EXISTS %s_%s ON %s.%s (",
               spec->is_unique ? "UNIQUE " : "", table->name, spec->name, schema, table->name);
    for (uint8_t i = 0; i < count; i++) {
        if (i > 0) buf_append_cstr(sql, ", ");
        append_order(sql, &table->columns[order.columns[i]], false);
    }
    buf_append_char(sql, ')');
    if (spec->sparse == COLUMN_NONE) return;
    buf_append_cstr(sql, " WHERE ");
    append_sparse_condition(sql, table, spec);
}

// ---- scans ----

static bool is_match_null(const Scan *scan, const RowOrder *order, int place) {
    const Column *column = &tables[scan->table].columns[order->columns[place]];
    return column->type != COLUMN_I64 && str_is_null(row_str(scan->match, column));
}

uint64_t pg_shape_scan(const Scan *scan) {
    RowOrder order = row_order(&tables[scan->table], scan->index);
    uint64_t shape = 0;
    for (int i = 0; i < scan->match_count; i++) {
        shape = shape << 1 | is_match_null(scan, &order, i);
    }
    shape = shape << 4 | (uint64_t)scan->match_count;
    shape = shape << 4 | (uint64_t)(scan->index + 1);
    shape = shape << 1 | scan->has_min;
    shape = shape << 1 | scan->has_max;
    shape = shape << 1 | (scan->after_key != 0);
    shape = shape << 1 | (scan->after_row != NULL);
    shape = shape << 1 | scan->is_descending;
    return (shape << 8 | (uint64_t)scan->table) << 3 | SHAPE_SCAN;
}

typedef struct Clause { // writes WHERE before the first condition and AND before the others
    Buf *sql;
    bool has_condition;
    int param_count;
} Clause;

static void clause_next(Clause *clause) {
    buf_append_cstr(clause->sql, clause->has_condition ? " AND " : " WHERE ");
    clause->has_condition = true;
}

// ("a", "b") > ($1, $2): one step into the primary key's index.
static void append_beyond(Clause *clause, const Table *table) {
    Buf *sql = clause->sql;
    clause_next(clause);
    for (uint8_t i = 0; i < table->key_count; i++) {
        buf_printf(sql, "%s\"%s\"", i > 0 ? ", " : "(", table->columns[i].name);
    }
    for (uint8_t i = 0; i < table->key_count; i++) {
        buf_printf(sql, "%s$%d::%s", i > 0 ? ", " : ") > (", ++clause->param_count,
                   type_of(&table->columns[i]));
    }
    buf_append_char(sql, ')');
}

static void append_bounds(Clause *clause, const Scan *scan, const RowOrder *order) {
    const Table *table = &tables[scan->table];
    Buf *sql = clause->sql;
    const char *bounded = NULL;
    if (scan->match_count < order->count) {
        bounded = table->columns[order->columns[scan->match_count]].name;
    }
    if (scan->has_min) {
        clause_next(clause);
        buf_printf(sql, "\"%s\" >= $%d::bigint", bounded, ++clause->param_count);
    }
    if (scan->has_max) {
        clause_next(clause);
        buf_printf(sql, "\"%s\" <= $%d::bigint", bounded, ++clause->param_count);
    }
    if (scan->after_row != NULL) append_beyond(clause, table);
    if (scan->after_key == 0) return;
    const char *key = table->columns[0].name;
    const char *sign = scan->is_descending ? "<" : ">";
    clause_next(clause);
    if (scan->index == SCAN_PRIMARY || scan->match_count == order->index_count) {
        buf_printf(sql, "\"%s\" %s $%d::bigint", key, sign, ++clause->param_count);
        return;
    }
    int first = ++clause->param_count, second = ++clause->param_count;
    buf_printf(sql, "(\"%s\", \"%s\") %s ($%d::bigint, $%d::bigint)", bounded, key, sign, first,
               second);
}

static void append_column_list(Buf *sql, const Table *table) {
    for (uint8_t i = 0; i < table->column_count; i++) {
        buf_printf(sql, "%s\"%s\"", i > 0 ? ", " : "", table->columns[i].name);
    }
}

void pg_sql_scan(Buf *sql, const char *schema, const Scan *scan) {
    const Table *table = &tables[scan->table];
    RowOrder order = row_order(table, scan->index);
    buf_clear(sql);
    buf_append_cstr(sql, "SELECT ");
    append_column_list(sql, table);
    buf_printf(sql, " FROM %s.%s", schema, table->name);
    Clause clause = {sql, false, 0};
    for (int i = 0; i < scan->match_count; i++) {
        const Column *column = &table->columns[order.columns[i]];
        clause_next(&clause);
        if (is_match_null(scan, &order, i)) {
            buf_printf(sql, "\"%s\" IS NULL", column->name);
        } else {
            buf_printf(sql, "\"%s\" = $%d::%s", column->name, ++clause.param_count,
                       type_of(column));
        }
    }
    if (scan->index != SCAN_PRIMARY && table->indexes[scan->index].sparse != COLUMN_NONE) {
        clause_next(&clause);
        append_sparse_condition(sql, table, &table->indexes[scan->index]);
    }
    append_bounds(&clause, scan, &order);
    for (int i = scan->match_count; i < order.count; i++) {
        const Column *column = &table->columns[order.columns[i]];
        buf_append_cstr(sql, i == scan->match_count ? " ORDER BY " : ", ");
        // A primary key has no nulls, and its index is not made for them: asking for an order of
        // them would mean a sort.
        bool is_plain = scan->index == SCAN_PRIMARY;
        if (is_plain) buf_printf(sql, "\"%s\"%s", column->name, scan->is_descending ? " DESC" : "");
        else append_order(sql, column, scan->is_descending);
    }
    buf_printf(sql, " LIMIT $%d::bigint", ++clause.param_count);
}

// ---- writes ----

uint64_t pg_shape_write(const RowWrite *write) {
    uint64_t changes = write->kind == WRITE_UPDATE ? write->changes : 0;
    ASSERT(changes >> 53 == 0);
    uint64_t verb = write->kind == WRITE_REMOVE   ? SHAPE_REMOVE
                    : write->kind == WRITE_UPDATE ? SHAPE_UPDATE
                                                  : SHAPE_INSERT;
    return (changes << 8 | (uint64_t)write->table) << 3 | verb;
}

// unnest($1::bigint[], …) AS v("key", …) of the columns in `wanted`.
static int append_unnest(Buf *sql, const Table *table, uint64_t wanted) {
    int count = 0;
    buf_append_cstr(sql, "unnest(");
    for (uint8_t i = 0; i < table->column_count; i++) {
        if ((wanted >> i & 1) == 0) continue;
        count++;
        buf_printf(sql, "%s$%d::%s[]", count > 1 ? ", " : "", count, type_of(&table->columns[i]));
    }
    buf_append_cstr(sql, ") AS v(");
    bool is_first = true;
    for (uint8_t i = 0; i < table->column_count; i++) {
        if ((wanted >> i & 1) == 0) continue;
        buf_printf(sql, "%s\"%s\"", is_first ? "" : ", ", table->columns[i].name);
        is_first = false;
    }
    buf_append_char(sql, ')');
    return count;
}

// The rows that are meant, as `v` with their place `at` beside the values. The keys come first and
// each finds its row: with a plain join the planner may read the whole table once per key, when the
// table seemed empty at its last analysis, as it does after a purge. [postgres-sql-5]
static int append_found(Buf *sql, const char *schema, const Table *table, uint64_t wanted) {
    buf_append_cstr(sql, "(SELECT v.*, k.at FROM ");
    int count = append_unnest(sql, table, wanted);
    buf_printf(sql, " CROSS JOIN LATERAL (SELECT t.ctid AS at FROM %s.%s AS t", schema,
               table->name);
    for (uint8_t i = 0; i < table->key_count; i++) {
        buf_printf(sql, "%s t.\"%s\" = v.\"%s\"", i > 0 ? " AND" : " WHERE", table->columns[i].name,
                   table->columns[i].name);
    }
    buf_append_cstr(sql, " OFFSET 0) AS k OFFSET 0) AS v WHERE t.ctid = v.at");
    return count;
}

static void append_insert(Buf *sql, const char *schema, const Table *table) {
    buf_printf(sql, "INSERT INTO %s.%s (", schema, table->name);
    append_column_list(sql, table);
    buf_append_cstr(sql, ") SELECT * FROM ");
    append_unnest(sql, table, (UINT64_C(1) << table->column_count) - 1);
}

void pg_sql_write(Buf *sql, const char *schema, const RowWrite *write) {
    const Table *table = &tables[write->table];
    uint64_t keys = (UINT64_C(1) << table->key_count) - 1;
    buf_clear(sql);
    if (write->kind == WRITE_INSERT) {
        append_insert(sql, schema, table);
        return;
    }
    int count;
    if (write->kind == WRITE_REMOVE) {
        buf_printf(sql, "WITH done AS (DELETE FROM %s.%s AS t USING ", schema, table->name);
        count = append_found(sql, schema, table, keys);
    } else {
        buf_printf(sql, "WITH done AS (UPDATE %s.%s AS t SET ", schema, table->name);
        bool is_first = true;
        for (uint8_t i = 0; i < table->column_count; i++) {
            if ((write->changes >> i & 1) == 0) continue;
            buf_printf(sql, "%s\"%s\" = v.\"%s\"", is_first ? "" : ", ", table->columns[i].name,
                       table->columns[i].name);
            is_first = false;
        }
        buf_append_cstr(sql, " FROM ");
        count = append_found(sql, schema, table, keys | write->changes);
    }
    buf_printf(sql, " RETURNING 1) SELECT %s.expect(count(*), $%d::bigint, '%s') FROM done", schema,
               count + 1, table->name); // [postgres-sql-4]
}

// One row per heartbeat, or one with nulls. A program that must not write has no lease to renew
// either.
static void append_look(Buf *sql, const char *schema) {
    buf_printf(sql,
               "SELECT s.version, coalesce((SELECT lease_until_ms FROM %s.nodes WHERE key = "
               "$1::bigint), -1), b.node, b.until_ms, b.resident_count FROM %s.store s "
               "LEFT JOIN %s.beats b ON true WHERE "
               "%s.check_schema(s.schema_version, %d) IS NOT NULL",
               schema, schema, schema, schema, PG_SCHEMA_VERSION);
}

void pg_sql_plain(Buf *sql, const char *schema, uint64_t shape) {
    buf_clear(sql);
    switch (shape) {
    case PG_SHAPE_CHECK:
        buf_printf(sql, "SELECT %s.check_version($1::bigint, %d)", schema, PG_SCHEMA_VERSION);
        return;
    case PG_SHAPE_TAKE:
        buf_printf(sql, "SELECT %s.take_version($1::bigint, %d)", schema, PG_SCHEMA_VERSION);
        return;
    case PG_SHAPE_LOCK:
        buf_printf(sql, "SELECT %s.lock_version(%d)", schema, PG_SCHEMA_VERSION);
        return;
    case PG_SHAPE_RAISE:
        buf_printf(sql, "UPDATE %s.store SET version = version + 1", schema);
        return;
    case PG_SHAPE_KEEP:
        buf_printf(sql,
                   "INSERT INTO %s.changes VALUES ($1::bigint, $2::bytea) "
                   "ON CONFLICT (version) DO UPDATE SET body = excluded.body",
                   schema);
        return;
    case PG_SHAPE_TRIM:
        buf_printf(sql, "DELETE FROM %s.changes WHERE version <= $1::bigint", schema);
        return;
    case PG_SHAPE_CHANGES:
        buf_printf(sql,
                   "SELECT version, body FROM %s.changes WHERE version > $1::bigint AND EXISTS "
                   "(SELECT 1 FROM %s.changes WHERE version = $1::bigint + 1) ORDER BY version",
                   schema, schema);
        return;
    case PG_SHAPE_HEARTBEAT:
        buf_printf(sql,
                   "WITH old AS (DELETE FROM %s.beats WHERE until_ms < $2::bigint - %d), "
                   "mine AS (INSERT INTO %s.beats (node, until_ms, resident_count) VALUES "
                   "($1::bigint, $2::bigint, $3::bigint) ON CONFLICT (node) DO UPDATE SET "
                   "until_ms = excluded.until_ms, resident_count = excluded.resident_count) ",
                   schema, HEARTBEAT_KEEP_MS, schema);
        append_look(sql, schema);
        return;
    case PG_SHAPE_LOOK: append_look(sql, schema); return;
    default: UNREACHABLE();
    }
}

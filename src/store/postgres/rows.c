// Rows to parameters and back, all in PostgreSQL's binary form: numbers big-endian, text and bytes
// as they are, a column of many rows as one array.
//
//   [postgres-rows-1] Parameters are sent in the order in which postgres/sql.c has numbered them.
//   [postgres-rows-2] A null stays null, and empty stays empty.
//
// Not here: the SQL (postgres/sql.c), sending and waiting (postgres/link.c).
#include "base/assert.h"
#include "store/postgres/internal.h"

enum { OID_BYTEA = 17, OID_INT8 = 20 };

static void append_i32(Buf *buf, int64_t value) {
    uint8_t bytes[4];
    for (int i = 0; i < 4; i++) bytes[i] = (uint8_t)((uint64_t)value >> (24 - 8 * i));
    buf_append(buf, bytes, sizeof(bytes));
}

static void append_i64(Buf *buf, int64_t value) {
    append_i32(buf, value >> 32);
    append_i32(buf, value);
}

static void send_column(PgLink *link, const Column *column, const void *row) {
    if (column->type == COLUMN_I64) pg_param_i64(link, row_i64(row, column));
    else pg_param_bytes(link, row_str(row, column));
}

void pg_send_scan(PgLink *link, const Scan *scan) {
    const Table *table = &tables[scan->table];
    scan_check(scan);
    uint64_t shape = pg_shape_scan(scan);
    if (pg_link_is_unprepared(link, shape)) {
        pg_sql_scan(&link->sql, link->address->schema, scan);
    }
    RowOrder order = row_order(table, scan->index);
    for (int i = 0; i < scan->match_count; i++) {
        const Column *column = &table->columns[order.columns[i]];
        bool is_null = column->type != COLUMN_I64 && str_is_null(row_str(scan->match, column));
        if (!is_null) send_column(link, column, scan->match);
    }
    for (int i = 0; scan->after_row != NULL && i < table->key_count; i++) {
        send_column(link, &table->columns[i], scan->after_row);
    }
    if (scan->has_min) pg_param_i64(link, scan->min);
    if (scan->has_max) pg_param_i64(link, scan->max);
    if (scan->after_key != 0) {
        bool is_pair = scan->index != SCAN_PRIMARY && scan->match_count < order.index_count;
        if (is_pair) pg_param_i64(link, scan->is_descending ? scan->max : scan->min);
        pg_param_i64(link, scan->after_key);
    }
    pg_param_i64(link, scan->limit);
    pg_link_execute(link, shape);
}

// One column of all rows as an array.
static void send_array(PgLink *link, const Column *column, const RowWrite *writes, size_t count) {
    Buf *wire = &link->wire;
    size_t offset = wire->len;
    bool is_number = column->type == COLUMN_I64;
    append_i32(wire, 1); // dimensions
    append_i32(wire, !is_number);
    append_i32(wire, is_number ? OID_INT8 : OID_BYTEA);
    append_i32(wire, (int64_t)count);
    append_i32(wire, 1); // the first place
    for (size_t i = 0; i < count; i++) {
        if (is_number) {
            append_i32(wire, 8);
            append_i64(wire, row_i64(writes[i].row, column));
            continue;
        }
        Str value = row_str(writes[i].row, column);
        append_i32(wire, str_is_null(value) ? -1 : (int64_t)value.len);
        buf_append(wire, value.data, value.len);
    }
    vec_push(&link->params, (PgParam){offset, (int)(wire->len - offset)});
}

void pg_send_writes(PgLink *link, const RowWrite *writes, size_t count) {
    const Table *table = &tables[writes->table];
    uint64_t shape = pg_shape_write(writes);
    if (pg_link_is_unprepared(link, shape)) {
        pg_sql_write(&link->sql, link->address->schema, writes);
    }
    uint64_t wanted = (UINT64_C(1) << table->key_count) - 1;
    if (writes->kind == WRITE_UPDATE) wanted |= writes->changes;
    if (writes->kind == WRITE_INSERT) wanted = (UINT64_C(1) << table->column_count) - 1;
    for (uint8_t i = 0; i < table->column_count; i++) {
        if (wanted >> i & 1) send_array(link, &table->columns[i], writes, count);
    }
    if (writes->kind != WRITE_INSERT) pg_param_i64(link, (int64_t)count);
    pg_link_execute(link, shape);
}

static int64_t read_i64(const char *bytes) {
    uint64_t value = 0;
    for (int i = 0; i < 8; i++) value = value << 8 | (uint8_t)bytes[i];
    return (int64_t)value;
}

int64_t pg_text_i64(const PGresult *result, int column) {
    int64_t value = 0;
    const char *text = PQgetvalue(result, 0, column);
    bool is_negative = *text == '-';
    for (const char *at = text + is_negative; *at >= '0' && *at <= '9'; at++) {
        value = (int64_t)((uint64_t)value * 10 + (uint64_t)(*at - '0'));
    }
    return is_negative ? -value : value;
}

int64_t pg_take_i64(const PGresult *result) {
    ASSERT(PQntuples(result) == 1 && PQgetlength(result, 0, 0) == 8);
    return read_i64(PQgetvalue(result, 0, 0));
}

void pg_take_changes(const PGresult *result, int64_t first, int64_t last, Arena *arena,
                     Changes *ret_changes) {
    *ret_changes = (Changes){.is_complete = last < first};
    int64_t count = last - first + 1;
    if (ret_changes->is_complete || PQntuples(result) != count) return;
    Str *bodies = ARENA_ARRAY(arena, Str, (size_t)count);
    for (int i = 0; i < (int)count; i++) {
        if (read_i64(PQgetvalue(result, i, 0)) != first + i) return;
        bodies[i] =
            arena_str(arena, (Str){PQgetvalue(result, i, 1), (size_t)PQgetlength(result, i, 1)});
    }
    *ret_changes = (Changes){bodies, (size_t)count, true};
}

void pg_send_heartbeat(PgLink *link, const Heartbeat *heartbeat) {
    uint64_t shape = heartbeat->node != 0 ? PG_SHAPE_HEARTBEAT : PG_SHAPE_LOOK;
    if (pg_link_is_unprepared(link, shape)) {
        pg_sql_plain(&link->sql, link->address->schema, shape);
    }
    pg_param_i64(link, heartbeat->node);
    if (heartbeat->node != 0) {
        pg_param_i64(link, heartbeat->until_ms);
        pg_param_i64(link, heartbeat->resident_count);
    }
    pg_link_execute(link, shape);
}

void pg_take_heartbeat(const PGresult *result, Heartbeat *heartbeat, Arena *arena,
                       int64_t *ret_version) {
    int count = PQntuples(result);
    ASSERT(count > 0);
    *ret_version = read_i64(PQgetvalue(result, 0, 0));
    heartbeat->is_fenced = read_i64(PQgetvalue(result, 0, 1)) < 0;
    heartbeat->heartbeats = ARENA_ARRAY(arena, NodeHeartbeat, (size_t)count);
    heartbeat->count = 0;
    for (int i = 0; i < count && !PQgetisnull(result, i, 2); i++) {
        heartbeat->heartbeats[heartbeat->count++] =
            (NodeHeartbeat){read_i64(PQgetvalue(result, i, 2)), read_i64(PQgetvalue(result, i, 3)),
                            read_i64(PQgetvalue(result, i, 4))};
    }
}

void pg_take_rows(const PGresult *result, const Table *table, Arena *arena, char **ret_rows,
                  size_t *ret_count) {
    int count = PQntuples(result);
    char *rows = arena_zalloc_array(arena, count > 0 ? (size_t)count : 1, table->row_size);
    for (int i = 0; i < count; i++) {
        char *row = rows + (size_t)i * table->row_size;
        for (int k = 0; k < table->column_count; k++) {
            const Column *column = &table->columns[k];
            const char *value = PQgetvalue(result, i, k);
            if (column->type == COLUMN_I64) {
                row_set_i64(row, column, read_i64(value));
            } else if (!PQgetisnull(result, i, k)) {
                Str text = {value, (size_t)PQgetlength(result, i, k)};
                row_set_str(row, column, arena_str(arena, text));
            }
        }
    }
    *ret_rows = rows;
    *ret_count = (size_t)count;
}

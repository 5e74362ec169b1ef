// Rows as bytes, and what an index knows of them.
//
// A row is its cells, one per stored column, in the order of the layout. A cell is LEB128 of its
// size + 1 and its bytes, or a single 0 for null and for the number 0, so that most numbers of a
// row cost one byte. Numbers are zigzag, least significant byte first, without zeros at the end.
//
//   [redis-rows-1] The server never needs to know which column a cell is, or of what type.
//   [redis-rows-2] A null stays null, and empty stays empty. Cells that are missing at the end are
//        null or 0.
//   [redis-rows-3] What is written for a row's indexes follows from the row before and the row
//        after.
//
// Members of an index are the keys of row_key.h. They hold the primary key, in pieces.
//
// Not here: calls (redis/call.c), what the server does with it (redis/functions.lua).
#include "base/assert.h"
#include "base/containers/bytes.h"
#include "base/containers/vec.h"
#include "store/redis/internal.h"

// ---- cells ----

static void cell_put_i64(Buf *buf, int64_t value) {
    uint64_t bits = (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
    char bytes[8];
    size_t len = 0;
    for (; bits != 0; bits >>= 8) bytes[len++] = (char)(bits & 0xFF);
    if (len == 0) bytes_put_u8(buf, 0);
    else bytes_put_str(buf, (Str){bytes, len});
}

static int64_t cell_get_i64(Str cell, bool *is_bad) {
    uint64_t bits = 0;
    *is_bad |= cell.len > 8;
    for (size_t i = 0; i < cell.len && i < 8; i++) {
        bits |= (uint64_t)(uint8_t)cell.data[i] << (8 * i);
    }
    return (int64_t)(bits >> 1) ^ -(int64_t)(bits & 1);
}

static void row_put(Buf *buf, const RedisTableLayout *layout, const Table *table, const void *row) {
    for (uint8_t i = 0; i < layout->known_count; i++) {
        const Column *column = &table->columns[layout->columns[i]];
        if (column->type == COLUMN_I64) cell_put_i64(buf, row_i64(row, column));
        else bytes_put_str(buf, row_str(row, column));
    }
}

// `row` is all zero. False: the bytes are no row.
static bool row_take(const RedisTableLayout *layout, const Table *table, Str bytes, Arena *arena,
                     void *row) {
    ByteReader reader = bytes_reader(bytes);
    bool is_bad = false;
    for (uint8_t i = 0; i < layout->known_count && bytes_left(&reader) > 0; i++) { // [redis-rows-2]
        const Column *column = &table->columns[layout->columns[i]];
        Str cell = bytes_get_str(&reader);
        if (column->type == COLUMN_I64) row_set_i64(row, column, cell_get_i64(cell, &is_bad));
        else if (!str_is_null(cell)) row_set_str(row, column, arena_str(arena, cell));
    }
    return !is_bad && !reader.is_bad;
}

Status redis_take_rows(const RedisLink *link, const redisReply *reply, Arena *arena, Fetch *fetch,
                       Diag *diag) {
    TableNumber number = fetch->scan.table;
    const Table *table = &tables[number];
    if (reply->type != REDIS_REPLY_ARRAY) return redis_strange("an answer without rows", diag);
    char *rows =
        arena_zalloc_array(arena, reply->elements > 0 ? reply->elements : 1, table->row_size);
    for (size_t i = 0; i < reply->elements; i++) {
        Str bytes = redis_reply_str(reply, i);
        if (str_is_null(bytes)) {
            return redis_strange("an index names a row that is not there", diag);
        }
        if (!row_take(&link->tables[number], table, bytes, arena, rows + i * table->row_size)) {
            return redis_strange("a row is damaged", diag);
        }
    }
    fetch->rows = rows;
    fetch->count = reply->elements;
    return OK;
}

// ---- questions ----

static bool is_all_numbers(const Table *table, const RowOrder *order, int first, int end) {
    for (int i = first; i < end; i++) {
        if (table->columns[order->columns[i]].type != COLUMN_I64) return false;
    }
    return true;
}

// From the front where only numbers, of eight bytes each, stand before it; otherwise from the end.
static void piece_set(const Table *table, const RowOrder *order, int first, int end, int ret[2]) {
    if (is_all_numbers(table, order, 0, first)) {
        ret[0] = 8 * first + 1;
    } else {
        ASSERT(is_all_numbers(table, order, first, order->count));
        ret[0] = -8 * (order->count - first);
    }
    if (is_all_numbers(table, order, end, order->count)) {
        ret[1] = -8 * (order->count - end) - 1;
    } else {
        ASSERT(is_all_numbers(table, order, 0, end));
        ret[1] = 8 * end;
    }
}

static int place_in_order(const RowOrder *order, int column) {
    for (int i = 0; i < order->count; i++) {
        if (order->columns[i] == column) return i;
    }
    UNREACHABLE(); // [row-key-2]
}

RedisPieces redis_pieces(const Table *table, int index) {
    RedisPieces pieces = {0};
    if (index == SCAN_PRIMARY) return pieces;
    RowOrder order = row_order(table, index);
    for (int key = 0; key < table->key_count;) {
        int first = place_in_order(&order, key), end = first + 1;
        for (key++; key < table->key_count && place_in_order(&order, key) == end; key++) end++;
        ASSERT(pieces.count < REDIS_PIECES_MAX);
        piece_set(table, &order, first, end, &pieces.ends[2 * pieces.count]);
        pieces.count++;
    }
    return pieces;
}

static void add_bound(RedisLink *link, char kind, Str bytes) {
    buf_clear(&link->bytes);
    buf_append_char(&link->bytes, kind);
    buf_append_str(&link->bytes, bytes);
    redis_call_add(link, buf_str(&link->bytes));
}

static void add_range(RedisLink *link, const Scan *scan) {
    enum { BOUND_SIZE_MAX = 64 << 20 };
    const Table *table = &tables[scan->table];
    RowRange range;
    buf_init(&range.low, BOUND_SIZE_MAX);
    buf_init(&range.high, BOUND_SIZE_MAX);
    row_range_set(&range, table, scan);
    redis_call_add(link, STR("range"));
    redis_call_add_i64(link, redis_call_place(link, redis_key_order(scan->table, scan->index)));
    redis_call_add_i64(link, redis_call_place(link, redis_key_rows(scan->table)));
    add_bound(link, '[', buf_str(&range.low));
    if (range.high.len > 0) add_bound(link, '(', buf_str(&range.high));
    else redis_call_add(link, STR("+"));
    redis_call_add_i64(link, scan->limit);
    redis_call_add(link, scan->is_descending ? STR("down") : STR("up"));
    RedisPieces pieces = redis_pieces(table, scan->index);
    redis_call_add_i64(link, pieces.count);
    for (int i = 0; i < 2 * pieces.count; i++) redis_call_add_i64(link, pieces.ends[i]);
    buf_done(&range.low);
    buf_done(&range.high);
}

void redis_call_add_scan(RedisLink *link, const Scan *scan) {
    const Table *table = &tables[scan->table];
    scan_check(scan);
    bool is_get = scan->index == SCAN_PRIMARY && scan->match_count == table->key_count;
    if (!is_get) {
        add_range(link, scan);
        return;
    }
    RowOrder order = row_order(table, SCAN_PRIMARY);
    buf_clear(&link->bytes);
    row_key_append(&link->bytes, table, &order, scan->match, order.count);
    redis_call_add(link, STR("get"));
    redis_call_add_i64(link, redis_call_place(link, redis_key_rows(scan->table)));
    redis_call_add(link, buf_str(&link->bytes));
}

// ---- writes ----

// Arguments of one group are collected and added at its end, when their number is known.
typedef struct Group {
    RedisLink *link;
    const char *what;
    int key;
    Buf arguments;
    size_t count;
} Group;

static void group_end(Group *group) {
    if (group->count == 0) return;
    RedisLink *link = group->link;
    redis_call_add(link, str_from(group->what));
    redis_call_add_i64(link, redis_call_place(link, group->key));
    redis_call_add_i64(link, (int64_t)group->count);
    buf_append_str(&link->arguments, buf_str(&group->arguments));
    link->argument_count += group->count;
    buf_clear(&group->arguments);
    group->count = 0;
}

static void group_begin(Group *group, const char *what, int key) {
    bool is_same = group->key == key && group->what != NULL && strcmp(group->what, what) == 0;
    if (is_same && group->count < REDIS_GROUP_ARGUMENTS_MAX) return;
    group_end(group);
    group->what = what;
    group->key = key;
}

static void group_add(Group *group, Str argument) {
    redis_wire_append(&group->arguments, argument);
    group->count++;
}

static Str key_of(RedisLink *link, const Table *table, int index, const void *row) {
    RowOrder order = row_order(table, index);
    buf_clear(&link->bytes);
    row_key_append(&link->bytes, table, &order, row, order.count);
    return buf_str(&link->bytes);
}

static void add_row(Group *group, const RowWrite *write) {
    RedisLink *link = group->link;
    const Table *table = &tables[write->table];
    const RedisTableLayout *layout = &link->tables[write->table];
    bool is_kept = write->kind == WRITE_UPDATE && layout->count > layout->known_count;
    static const char *const names[WRITE_KIND_COUNT] = {"remove", "update", "insert"};
    group_begin(group, is_kept ? "keep" : names[write->kind], redis_key_rows(write->table));
    group_add(group, key_of(link, table, SCAN_PRIMARY, write->row));
    if (write->kind == WRITE_REMOVE) return;
    buf_clear(&link->bytes);
    row_put(&link->bytes, layout, table, write->row);
    group_add(group, buf_str(&link->bytes));
    if (!is_kept) return;
    buf_clear(&link->bytes);
    buf_printf(&link->bytes, "%d", layout->known_count);
    group_add(group, buf_str(&link->bytes));
}

static const void *row_before(const RowWrite *write) {
    return write->kind == WRITE_INSERT ? NULL : write->before;
}

static const void *row_after(const RowWrite *write) {
    return write->kind == WRITE_REMOVE ? NULL : write->row;
}

bool redis_is_listed(const Table *table, int index, const void *row) {
    if (row == NULL) return false;
    return index == SCAN_PRIMARY || index_has_row(table, &table->indexes[index], row);
}

// An update that touches none of the columns leaves the index as it is.
static bool is_touched(const Table *table, int index, const RowWrite *write) {
    if (write->kind != WRITE_UPDATE) return true;
    if (index == SCAN_PRIMARY) return false;
    const IndexSpec *spec = &table->indexes[index];
    bool is_touched = spec->sparse != COLUMN_NONE && (write->changes >> spec->sparse & 1) != 0;
    for (uint8_t i = 0; i < spec->column_count; i++) {
        is_touched |= (write->changes >> spec->columns[i] & 1) != 0;
    }
    return is_touched;
}

// [redis-rows-3] What goes comes before what is added, so that nothing is taken away again.
static void add_members(Group *group, const RowWrite *writes, size_t count, int index) {
    const Table *table = &tables[writes->table];
    int key = redis_key_order(writes->table, index);
    for (size_t i = 0; i < count; i++) {
        const void *before = row_before(&writes[i]);
        if (!is_touched(table, index, &writes[i])) continue;
        if (!redis_is_listed(table, index, before)) continue;
        group_begin(group, "unlist", key);
        group_add(group, key_of(group->link, table, index, before));
    }
    for (size_t i = 0; i < count; i++) {
        const void *after = row_after(&writes[i]);
        if (!is_touched(table, index, &writes[i])) continue;
        if (!redis_is_listed(table, index, after)) continue;
        group_begin(group, "list", key);
        group_add(group, STR("0"));
        group_add(group, key_of(group->link, table, index, after));
    }
}

void redis_call_add_writes(RedisLink *link, const WriteList *list) {
    Group group = {.link = link};
    buf_init(&group.arguments, REDIS_CALL_SIZE_MAX);
    for (size_t i = 0; i < list->count; i++) add_row(&group, &list->writes[i]);
    group_end(&group);
    for (size_t first = 0; first < list->count;) {
        size_t end = first;
        TableNumber table = list->writes[first].table;
        while (end < list->count && list->writes[end].table == table) end++;
        for (int index = SCAN_PRIMARY; index < tables[table].index_count; index++) {
            add_members(&group, list->writes + first, end - first, index);
            group_end(&group);
        }
        first = end;
    }
    link->arguments.is_overflown |= group.arguments.is_overflown;
    buf_done(&group.arguments);
}

void redis_call_add_members(RedisLink *link, const Fetch *fetch) {
    TableNumber number = fetch->scan.table;
    const Table *table = &tables[number];
    redis_call_add_i64(link, redis_call_place(link, redis_key_rows(number)));
    for (int index = SCAN_PRIMARY; index < table->index_count; index++) {
        int64_t count = 0;
        for (size_t i = 0; i < fetch->count; i++) {
            count += redis_is_listed(table, index, fetch->rows + i * table->row_size);
        }
        redis_call_add_i64(link, redis_call_place(link, redis_key_order(number, index)));
        redis_call_add_i64(link, count);
        for (size_t i = 0; i < fetch->count; i++) {
            const void *row = fetch->rows + i * table->row_size;
            if (!redis_is_listed(table, index, row)) continue;
            redis_call_add(link, key_of(link, table, index, row));
        }
    }
}

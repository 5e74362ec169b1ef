// Row keys: numbers big-endian with the sign bit turned, so that bytes sort as numbers do; text
// as a presence byte, then its bytes with NUL written as 00 FF, then 00 00. So null sorts before
// empty, and a text before its extensions, whatever column follows ([row-key-1]).
//
// A scan is turned into a range of such keys, so that a backend needs no other comparison than
// memcmp. Not here: where the keys are kept (ordered.c).
#include "store/row_key.h"
#include "base/assert.h"

enum { TEXT_NULL = 0, TEXT_PRESENT = 1 };

static void key_append_i64(Buf *buf, int64_t value) {
    uint64_t bits = (uint64_t)value ^ (UINT64_C(1) << 63);
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)(bits >> (56 - 8 * i));
    buf_append(buf, bytes, sizeof(bytes));
}

static void key_append_text(Buf *buf, Str text) {
    if (str_is_null(text)) {
        buf_append_char(buf, TEXT_NULL);
        return;
    }
    buf_append_char(buf, TEXT_PRESENT);
    size_t from = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] != '\0') continue;
        buf_append(buf, text.data + from, i + 1 - from);
        buf_append_char(buf, (char)0xFF);
        from = i + 1;
    }
    buf_append(buf, text.data + from, text.len - from);
    buf_append(buf, "\0\0", 2);
}

RowOrder row_order(const Table *table, int index) {
    RowOrder order = {0};
    if (index != SCAN_PRIMARY) {
        const IndexSpec *spec = &table->indexes[index];
        for (uint8_t i = 0; i < spec->column_count; i++) {
            order.columns[order.count++] = spec->columns[i];
        }
        order.index_count = order.count;
    } else {
        order.index_count = table->key_count;
    }
    for (uint8_t key = 0; key < table->key_count; key++) {
        bool is_there = false;
        for (uint8_t i = 0; i < order.count; i++) is_there |= order.columns[i] == key;
        if (!is_there) order.columns[order.count++] = key;
    }
    return order;
}

void row_key_append(Buf *buf, const Table *table, const RowOrder *order, const void *row,
                    uint8_t column_count) {
    ASSERT(column_count <= order->count);
    for (uint8_t i = 0; i < column_count; i++) {
        const Column *column = &table->columns[order->columns[i]];
        if (column->type == COLUMN_I64) key_append_i64(buf, row_i64(row, column));
        else key_append_text(buf, row_str(row, column));
    }
    ASSERT(!buf->is_overflown);
}

Scan row_key_scan(const RowKey *key) {
    const Table *table = &tables[key->table];
    bool is_primary = key->index == SCAN_PRIMARY;
    ASSERT(is_primary || table->indexes[key->index].is_unique);
    return (Scan){.table = key->table,
                  .index = key->index,
                  .match = key->match,
                  .match_count =
                      is_primary ? table->key_count : table->indexes[key->index].column_count,
                  .limit = 1};
}

void scan_check(const Scan *scan) {
    ASSERT((unsigned)scan->table < TABLE_COUNT);
    const Table *table = &tables[scan->table];
    ASSERT(scan->index >= SCAN_PRIMARY && scan->index < table->index_count);
    ASSERT(scan->limit > 0);
    RowOrder order = row_order(table, scan->index);
    ASSERT(scan->match_count >= 0 && scan->match_count <= order.count);
    ASSERT(scan->match_count == 0 || scan->match != NULL);
    if (scan->has_min || scan->has_max) {
        ASSERT(scan->match_count < order.count);
        ASSERT(table->columns[order.columns[scan->match_count]].type == COLUMN_I64);
    }
    if (scan->after_row != NULL) {
        ASSERT(scan->index == SCAN_PRIMARY && scan->match_count == 0 && !scan->is_descending);
        ASSERT(!scan->has_min && !scan->has_max && scan->after_key == 0);
    }
    if (scan->after_key == 0) return;
    ASSERT(table->key_count == 1 && table->columns[0].type == COLUMN_I64);
    if (scan->index == SCAN_PRIMARY) {
        ASSERT(scan->match_count == 0);
        return;
    }
    if (scan->match_count == order.index_count) return;
    ASSERT(scan->match_count + 1 == order.index_count);
    ASSERT(scan->is_descending ? scan->has_max : scan->has_min);
}

// The smallest key above every key that begins with these bytes; empty when there is none.
static void key_make_successor(Buf *buf) {
    while (buf->len > 0 && (uint8_t)buf->data[buf->len - 1] == 0xFF) buf->len--;
    if (buf->len == 0) return;
    uint8_t last = (uint8_t)buf->data[buf->len - 1];
    buf->data[buf->len - 1] = (char)(last + 1);
}

void row_range_set(RowRange *range, const Table *table, const Scan *scan) {
    scan_check(scan);
    RowOrder order = row_order(table, scan->index);
    buf_clear(&range->low);
    buf_clear(&range->high);
    row_key_append(&range->low, table, &order, scan->match, (uint8_t)scan->match_count);
    buf_append_str(&range->high, buf_str(&range->low));
    if (scan->after_row != NULL) {
        row_key_append(&range->low, table, &order, scan->after_row, order.count);
        buf_append_char(&range->low, '\0'); // just beyond a complete key
        return;
    }
    bool has_after = scan->after_key != 0;
    bool is_key_next = scan->index == SCAN_PRIMARY || scan->match_count == order.index_count;
    if (scan->has_min) key_append_i64(&range->low, scan->min);
    if (scan->has_max) key_append_i64(&range->high, scan->max);
    if (!has_after) {
        key_make_successor(&range->high);
        return;
    }
    // A bound on the key itself and a key to start after: the tighter one counts.
    if (!scan->is_descending) {
        if (is_key_next && scan->has_min && scan->min > scan->after_key) {
            key_make_successor(&range->high);
            return;
        }
        if (is_key_next && scan->has_min) range->low.len -= 8;
        key_append_i64(&range->low, scan->after_key);
        buf_append_char(&range->low, '\0'); // the key is complete here, so this is just beyond it
        key_make_successor(&range->high);
        return;
    }
    if (is_key_next && scan->has_max && scan->max < scan->after_key) {
        key_make_successor(&range->high);
        return;
    }
    if (is_key_next && scan->has_max) range->high.len -= 8;
    key_append_i64(&range->high, scan->after_key); // exclusive already
}

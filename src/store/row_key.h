// Row keys: the order of an index as byte strings, for backends that keep ordered bytes.
//
//   [row-key-1] memcmp order of two keys (shorter first) is the order of [rowstore-3] in
//        rowstore.h.
//   [row-key-2] The key of a row in an index is unique, because the primary key is its last part.
//   [row-key-3] A Scan is a half-open range of keys: low <= key < high.
#pragma once
#include "base/containers/buf.h"
#include "store/rowstore.h"

enum { ORDER_COLUMNS_MAX = 2 * INDEX_COLUMNS_MAX };

// The columns an index is ordered by: its own, then the primary key columns not among them.
typedef struct RowOrder {
    uint8_t count;
    uint8_t index_count; // how many of them the index itself lists
    uint8_t columns[ORDER_COLUMNS_MAX];
} RowOrder;

RowOrder row_order(const Table *table, int index);
// Appends the first `column_count` parts of the order to `buf`.
void row_key_append(Buf *buf, const Table *table, const RowOrder *order, const void *row,
                    uint8_t column_count);

typedef struct RowRange {
    Buf low;
    Buf high; // empty = no upper end
} RowRange;

// Fills `range`, whose buffers the caller has initialised and reuses.
void row_range_set(RowRange *range, const Table *table, const Scan *scan);
// The scan that finds that one row.
Scan row_key_scan(const RowKey *key);
// Stops the process when the scan breaks the rules of rowstore.h: that is a bug of its author.
void scan_check(const Scan *scan);

// The cache of RemoteRows: the rows in use, and the knowledge where it is complete.
//
// For each index there are ranges of keys in which every row of the server is in the cache. A read
// inside such a range costs nothing, "there is no such row" included; any other is fetched once.
//
// Invariants: [remote-internal-1], [remote-internal-3], [remote-internal-4], [remote-internal-5] of
// remote/internal.h.
//
// Not here: what the transaction has written (remote/writes.c), what others have (remote/feed.c).
#include "base/assert.h"
#include "store/remote/internal.h"

enum { ROW_OVERHEAD = 400 }; // of a row in the cache, about: its index entries

Str row_cache_key(RemoteRows *self, TableNumber table, int index, const void *row) {
    const RowOrder *order = &self->tables[table].orders[index + 1];
    buf_clear(&self->key);
    row_key_append(&self->key, &tables[table], order, row, order->count);
    return buf_str(&self->key);
}

// ---- forgetting ----

void row_cache_known_clear(RemoteRows *self) {
    for (int table = 0; table < TABLE_COUNT; table++) {
        for (int i = 0; i <= tables[table].index_count; i++) {
            key_ranges_clear(&self->tables[table].known[i]);
        }
    }
}

void row_cache_close(RemoteRows *self) {
    self->cache.reader->ops->close(self->cache.reader);
    self->cache.writer->ops->close(self->cache.writer);
}

void row_cache_forget(RemoteRows *self) {
    ASSERT(!self->is_active);
    row_cache_known_clear(self);
    row_cache_close(self);
    Status status = memory_rows_open(&self->cache, NULL);
    ASSERT(status == OK);
    self->cache_size = 0;
    self->version = VERSION_ANY;
}

size_t row_cache_text_size(const Table *table, const void *row) {
    size_t size = 0;
    for (uint8_t i = 0; i < table->column_count; i++) {
        const Column *column = &table->columns[i];
        if (column->type != COLUMN_I64) size += row_str(row, column).len;
    }
    return size;
}

void row_cache_grown(RemoteRows *self, TableNumber table, const void *row) {
    self->cache_size +=
        tables[table].row_size + ROW_OVERHEAD + row_cache_text_size(&tables[table], row);
}

// ---- fetching ----

Status remote_out_of_date(RemoteRows *self) {
    self->base.wants_restart = true;
    return diag_set(self->base.diag, ERR_UNAVAILABLE, "STORE_CHANGED",
                    "another node has changed the store meanwhile");
}

static void add_row(RemoteRows *self, TableNumber table, const void *row) {
    if (writes_find(self, table, row) != NULL) return; // [remote-internal-4]
    Status status = rows_insert(cached_rows(self), table, row);
    ASSERT(status == OK || status == ERR_CONFLICT); // it may be there already
    if (status == OK) row_cache_grown(self, table, row);
}

// [remote-internal-1] The range of the scan is complete, as far as it was answered.
static void known_add(RemoteRows *self, const Fetch *fetch) {
    const Scan *scan = &fetch->scan;
    KeyRanges *known = &self->tables[scan->table].known[scan->index + 1];
    row_range_set(&self->range, &tables[scan->table], scan);
    Str low = buf_str(&self->range.low), high = buf_str(&self->range.high);
    if ((int64_t)fetch->count < scan->limit) {
        key_ranges_add(known, low, high);
        return;
    }
    const void *last = fetch->rows + (fetch->count - 1) * tables[scan->table].row_size;
    row_cache_key(self, scan->table, scan->index, last);
    if (scan->is_descending) {
        key_ranges_add(known, buf_str(&self->key), high);
    } else {
        buf_append_char(&self->key, '\0'); // the row itself included
        key_ranges_add(known, low, buf_str(&self->key));
    }
}

Status row_cache_fetch_all(RemoteRows *self, Fetch *fetches, size_t count) {
    const RemoteOps *ops = self->remote->ops;
    arena_reset(&self->fetched);
    FetchList list = {.fetches = fetches, .count = count, .arena = &self->fetched};
    Status status = ops->fetch(self->remote, &self->version, &list, self->base.diag);
    if (status == ERR_CONFLICT) return remote_out_of_date(self);
    if (status != OK) return status;
    self->is_checked = self->has_fetched = true;
    Diag *diag = cached_rows(self)->diag;
    cached_rows(self)->diag = NULL; // a row that is there already is no news
    for (size_t i = 0; i < count; i++) {
        const Fetch *fetch = &fetches[i];
        for (size_t k = 0; k < fetch->count; k++) {
            add_row(self, fetch->scan.table, fetch->rows + k * tables[fetch->scan.table].row_size);
        }
        known_add(self, fetch);
    }
    cached_rows(self)->diag = diag;
    return OK;
}

Status row_cache_fetch_one(RemoteRows *self, const Scan *scan) {
    Fetch fetch = {.scan = *scan};
    return row_cache_fetch_all(self, &fetch, 1);
}

Scan row_cache_key_scan(TableNumber table, const void *key_row) {
    return (Scan){.table = table,
                  .index = SCAN_PRIMARY,
                  .match = key_row,
                  .match_count = tables[table].key_count,
                  .limit = 1};
}

// ---- knowing ----

// The key columns alone tell where in this index a row would be.
static bool is_index_of_key(const Table *table, int index) {
    for (uint8_t i = 0; i < table->indexes[index].column_count; i++) {
        if (table->indexes[index].columns[i] >= table->key_count) return false;
    }
    return table->indexes[index].sparse == COLUMN_NONE;
}

bool row_cache_is_key_known(RemoteRows *self, TableNumber number, const void *key_row) {
    RemoteTable *remote = &self->tables[number];
    if (key_ranges_has(&remote->known[0], row_cache_key(self, number, SCAN_PRIMARY, key_row))) {
        return true;
    }
    for (int i = 0; i < tables[number].index_count; i++) {
        if (!is_index_of_key(&tables[number], i)) continue;
        if (key_ranges_has(&remote->known[i + 1], row_cache_key(self, number, i, key_row)))
            return true;
    }
    return false;
}

// A null is equal to nothing, as in SQL.
static bool is_unique_for(const Table *table, const IndexSpec *index, const void *row) {
    if (!index->is_unique || !index_has_row(table, index, row)) return false;
    for (uint8_t i = 0; i < index->column_count; i++) {
        const Column *column = &table->columns[index->columns[i]];
        if (column->type != COLUMN_I64 && str_is_null(row_str(row, column))) return false;
    }
    return true;
}

static Scan unique_scan(TableNumber table, int index, const void *row) {
    return (Scan){.table = table,
                  .index = index,
                  .match = row,
                  .match_count = tables[table].indexes[index].column_count,
                  .limit = 1};
}

// Whether the cache can answer who has these values, if anybody.
static bool is_unique_known(RemoteRows *self, const Scan *scan) {
    row_range_set(&self->range, &tables[scan->table], scan);
    Str low = buf_str(&self->range.low), high;
    RemoteTable *remote = &self->tables[scan->table];
    if (key_ranges_end_of(&remote->known[scan->index + 1], low, &high)) return true;
    const void *found = NULL;
    RowKey key = {scan->table, scan->index, scan->match};
    return rows_find(cached_rows(self), &key, &self->arena, &found) == OK;
}

Status row_cache_fetch_conflicts(RemoteRows *self, TableNumber number, const void *row,
                                 uint64_t changes) {
    const Table *table = &tables[number];
    Fetch wanted[1 + TABLE_INDEXES_MAX];
    size_t count = 0;
    bool is_insert = (changes & table_key_bits(table)) != 0;
    if (is_insert && !row_cache_is_key_known(self, number, row)) {
        wanted[count++] = (Fetch){.scan = row_cache_key_scan(number, row)};
    }
    for (int i = 0; i < table->index_count; i++) {
        bool is_touched = is_insert;
        for (uint8_t c = 0; c < table->indexes[i].column_count; c++) {
            is_touched |= (changes >> table->indexes[i].columns[c] & 1) != 0;
        }
        if (!is_touched || !is_unique_for(table, &table->indexes[i], row)) continue;
        Scan scan = unique_scan(number, i, row);
        if (!is_unique_known(self, &scan)) wanted[count++] = (Fetch){.scan = scan};
    }
    return count > 0 ? row_cache_fetch_all(self, wanted, count) : OK;
}

static bool is_of_key_sequence(const Table *table, const RowOrder *order) { // [remote-internal-3]
    return table->columns[order->columns[0]].meaning == COLUMN_IS_KEY;
}

// Calls for each index whose order begins with a key of the sequence; `range` has its keys from
// `first` to `last`.
static void each_sequence(RemoteRows *self, int64_t first, int64_t last,
                          void (*change)(KeyRanges *known, Str low, Str high)) {
    for (int number = 0; number < TABLE_COUNT; number++) {
        for (int i = -1; i < tables[number].index_count; i++) {
            RemoteTable *remote = &self->tables[number];
            if (!is_of_key_sequence(&tables[number], &remote->orders[i + 1])) continue;
            Scan scan = {.table = (TableNumber)number,
                         .index = i,
                         .has_min = true,
                         .min = first,
                         .has_max = last < INT64_MAX,
                         .max = last,
                         .limit = 1};
            row_range_set(&self->range, &tables[number], &scan);
            change(&remote->known[i + 1], buf_str(&self->range.low), buf_str(&self->range.high));
        }
    }
}

void row_cache_add_beyond(RemoteRows *self, int64_t last_key) {
    each_sequence(self, last_key + 1, INT64_MAX, key_ranges_add);
}

void row_cache_cut_keys(RemoteRows *self, int64_t first, int64_t last) {
    if (first <= last) each_sequence(self, first, last, key_ranges_cut);
}

bool row_cache_wants_row(RemoteRows *self, TableNumber number, const void *row) {
    const Table *table = &tables[number];
    RemoteTable *remote = &self->tables[number];
    for (int i = -1; i < table->index_count; i++) {
        const IndexSpec *index = i >= 0 ? &table->indexes[i] : NULL;
        if (index != NULL && !index_has_row(table, index, row)) continue;
        if (key_ranges_has(&remote->known[i + 1], row_cache_key(self, number, i, row))) return true;
        if (index == NULL || !index->is_unique) continue;
        // Who has asked for these values must go on knowing who has them.
        buf_clear(&self->key);
        row_key_append(&self->key, table, &remote->orders[i + 1], row, index->column_count);
        if (key_ranges_has(&remote->known[i + 1], buf_str(&self->key))) return true;
    }
    return false;
}

// ---- scans ----

bool row_cache_is_covered(RemoteRows *self, const Scan *scan, const char *rows, size_t count) {
    KeyRanges *known = &self->tables[scan->table].known[scan->index + 1];
    row_range_set(&self->range, &tables[scan->table], scan);
    Str low = buf_str(&self->range.low), high = buf_str(&self->range.high);
    if (high.len > 0 && str_compare(low, high) >= 0) return true; // an empty range
    bool is_full = (int64_t)count == scan->limit;
    const void *last = is_full ? rows + (count - 1) * tables[scan->table].row_size : NULL;
    Str end;
    if (scan->is_descending) {
        if (!key_ranges_start_of(known, high, &end)) return false;
        if (str_compare(end, low) <= 0) return true;
        return is_full &&
               str_compare(end, row_cache_key(self, scan->table, scan->index, last)) <= 0;
    }
    if (!key_ranges_end_of(known, low, &end)) return false;
    if (end.len == 0 || (high.len > 0 && str_compare(end, high) >= 0)) return true;
    return is_full && str_compare(row_cache_key(self, scan->table, scan->index, last), end) < 0;
}

// Of one row, by a key: of any other scan it takes looking into its range to know.
static bool is_for_one(const Scan *scan) {
    const Table *table = &tables[scan->table];
    if (scan->index == SCAN_PRIMARY) return scan->match_count == table->key_count;
    const IndexSpec *index = &table->indexes[scan->index];
    return index->is_unique && scan->match_count == index->column_count;
}

bool row_cache_is_one_known(RemoteRows *self, const Scan *scan) {
    if (!is_for_one(scan)) return false;
    if (scan->index == SCAN_PRIMARY) {
        if (writes_find(self, scan->table, scan->match) != NULL) return true;
        if (row_cache_is_key_known(self, scan->table, scan->match)) return true;
    }
    return is_unique_known(self, scan);
}

// RemoteRows: a RowStore on a server that is a round trip away.
//
// The transitions read and write row by row; a round trip for each would be a thousand times too
// slow. So the rows in use are kept here, in a store in memory (the cache), together with the
// knowledge where the cache is complete: for each index, ranges of keys in which every row of
// the server is in the cache. A read inside such a range costs nothing, "there is no such row"
// included; any other is fetched once. Writes change the cache and are sent together.
//
//   begin (nothing is sent) -> reads and writes in the cache -> commit: one round trip
//
// Invariants: remote/internal.h.
//
// Not here: a protocol (postgres_*.c).
#include "base/assert.h"
#include "base/limits.h"
#include "base/memory.h"
#include "store/remote/internal.h"
#include "store/remote/listen.h"

enum {
    REMOTE_KEY_MAX = 64 << 20,
    FETCH_ROWS_FIRST = 32,  // of a scan with an end, past which we look ahead
    CONTENTION_BATCHES = 8, // transactions that begin on the server after others were met
};

static const RowStoreOps remote_ops;

static RemoteRows *remote_rows(RowStore *rows) {
    ASSERT(rows->ops->begin == remote_ops.begin);
    return (RemoteRows *)rows;
}

// ---- transactions ----

// Begins on the server: the counters, the end of the key sequence, and what a failed attempt
// before this one has written.
static Status start_afresh(RemoteRows *self, Diag *diag) {
    Fetch *fetches = ARENA_ARRAY(&self->arena, Fetch, 1 + self->replay.count);
    fetches[0].scan =
        (Scan){.table = TABLE_COUNTERS, .index = SCAN_PRIMARY, .limit = COUNTER_COUNT + 1};
    for (size_t i = 0; i < self->replay.count; i++) fetches[i + 1].scan = self->replay.data[i];
    self->base.diag = diag;
    TRY(row_cache_fetch_all(self, fetches, 1 + self->replay.count));
    CounterRow wanted = {.number = COUNTER_NEXT_KEY}, counter = {0};
    Status status = rows_get(cached_rows(self), TABLE_COUNTERS, &wanted, &self->arena, &counter);
    ASSERT(status == OK || status == ERR_NOT_FOUND); // a new store has none
    row_cache_add_beyond(self, counter.value);
    return OK;
}

static void transaction_end(RemoteRows *self) {
    self->is_active = false;
    writes_clear(self);
    arena_reset(&self->arena);
}

static void transaction_undo(RemoteRows *self, bool is_kept) {
    cached_rows(self)->ops->rollback(cached_rows(self));
    transaction_end(self);
    if (!is_kept) row_cache_forget(self); // [remote-internal-5]
}

// [remote-internal-2] Where others write all the time, what is known is out of date before it is
//      used: better to
// begin on the server than to find that out at the end.
static Status catch_up(RemoteRows *self, bool *ret_is_changed, bool *ret_is_forgotten, Diag *diag) {
    TRY(feed_catch_up(self, ret_is_changed, ret_is_forgotten, diag));
    self->is_checked = true;
    self->contention = *ret_is_changed ? CONTENTION_BATCHES : self->contention - 1;
    return OK;
}

static Status remote_begin(RowStore *rows, Diag *diag) {
    RemoteRows *self = remote_rows(rows);
    ASSERT(!self->is_active);
    rows->wants_restart = rows->has_news = rows->has_members = false;
    bool is_new = false;
    TRY(self->remote->ops->connect(self->remote, &is_new, diag));
    if (is_new || self->cache_size > LIMIT_ROW_CACHE_SIZE) row_cache_forget(self);
    self->is_checked = false;
    bool is_changed = false, is_afresh = self->version == VERSION_ANY;
    if (!is_afresh && self->contention > 0) TRY(catch_up(self, &is_changed, &is_afresh, diag));
    TRY(cached_rows(self)->ops->begin(cached_rows(self), diag));
    cached_rows(self)->diag = NULL;
    self->is_active = true;
    rows->is_reloaded = is_changed || is_afresh;
    Status status = is_afresh ? start_afresh(self, diag) : OK;
    vec_clear(&self->replay);
    arena_reset(&self->replay_arena);
    if (status == OK) return OK;
    self->remote->ops->rollback(self->remote);
    transaction_undo(self, false);
    return status;
}

static void restart_note(RemoteRows *self) {
    writes_note_replay(self);
    self->contention = CONTENTION_BATCHES;
}

static void remote_rollback(RowStore *rows) {
    RemoteRows *self = remote_rows(rows);
    ASSERT(self->is_active);
    // [remote-internal-2] Whoever gives up because of what he read must have read what is there.
    bool is_suspect = !self->is_checked && !rows->wants_restart;
    WriteList none = {0};
    if (is_suspect && self->remote->ops->commit(self->remote, self->version, &none, NULL) != OK) {
        rows->wants_restart = true;
    }
    self->remote->ops->rollback(self->remote);
    if (rows->wants_restart) restart_note(self);
    transaction_undo(self, !self->is_checked);
}

static Status remote_commit(RowStore *rows, Diag *diag) {
    RemoteRows *self = remote_rows(rows);
    ASSERT(self->is_active && !self->has_savepoint);
    RowWrites writes = {0};
    writes_collect(self, &writes);
    WriteList list = {.writes = writes.data, .count = writes.count, .has_news = rows->has_news};
    if (rows->has_members && writes.count > 0) list.body = feed_write(self, &writes);
    Status status = self->remote->ops->commit(self->remote, self->version, &list, diag);
    bool is_written = writes.count > 0;
    vec_free(&writes);
    if (status == ERR_CONFLICT) {
        self->base.diag = diag;
        status = remote_out_of_date(self);
        restart_note(self);
    }
    if (status != OK) {
        transaction_undo(self, rows->wants_restart && !self->is_checked);
        return status;
    }
    Status cached = cached_rows(self)->ops->commit(cached_rows(self), diag);
    ASSERT(cached == OK);
    if (is_written) self->version++;
    transaction_end(self);
    return OK;
}

static Status remote_savepoint(RowStore *rows, Diag *diag) {
    RemoteRows *self = remote_rows(rows);
    ASSERT(self->is_active && !self->has_savepoint);
    self->base.diag = diag;
    if (self->remote->ops->savepoint != NULL) { // [step-database-1] of step_database.h
        if (!self->is_checked) TRY(row_cache_fetch_all(self, NULL, 0));
        TRY(self->remote->ops->savepoint(self->remote, &self->database, diag));
    }
    TRY(cached_rows(self)->ops->savepoint(cached_rows(self), diag));
    self->has_savepoint = true;
    self->has_fetched = false;
    vec_clear(&self->undo);
    return OK;
}

static Status savepoint_end(RemoteRows *self, bool is_kept, Diag *diag) {
    ASSERT(self->has_savepoint);
    const RemoteOps *ops = self->remote->ops;
    Status status = ops->savepoint != NULL ? ops->savepoint_end(self->remote, is_kept, diag) : OK;
    self->database = NULL;
    if (status == OK && is_kept) {
        self->has_savepoint = false;
        vec_clear(&self->undo);
        return cached_rows(self)->ops->release(cached_rows(self), diag);
    }
    TRY(cached_rows(self)->ops->rollback_to(cached_rows(self), diag));
    writes_rewind(self);
    if (self->has_fetched) row_cache_known_clear(self); // what was fetched since went with the rest
    return status;
}

static Status remote_rollback_to(RowStore *rows, Diag *diag) {
    return savepoint_end(remote_rows(rows), false, diag);
}

static Status remote_release(RowStore *rows, Diag *diag) {
    return savepoint_end(remote_rows(rows), true, diag);
}

static Status remote_read_begin(RowStore *rows, Diag *diag) {
    (void)rows, (void)diag;
    UNREACHABLE(); // the pair has another reader
}

static void remote_read_end(RowStore *rows) {
    (void)rows;
    UNREACHABLE();
}

// ---- rows ----

// The writer may also be read between transactions: such a read is one of its own.
static Status brief_begin(RemoteRows *self, bool *ret_is_brief) {
    *ret_is_brief = !self->is_active;
    return *ret_is_brief ? remote_begin(&self->base, self->base.diag) : OK;
}

static Status brief_end(RemoteRows *self, bool is_brief, Status status) {
    if (!is_brief) return status;
    if (status != OK && status != ERR_NOT_FOUND) {
        remote_rollback(&self->base);
        return status;
    }
    Status ended = remote_commit(&self->base, self->base.diag);
    return ended == OK ? status : ended;
}

static Status get_within(RemoteRows *self, TableNumber table, const void *key_row, Arena *arena,
                         void *ret_row) {
    Status status = rows_get(cached_rows(self), table, key_row, arena, ret_row);
    if (status != ERR_NOT_FOUND) return status;
    if (writes_find(self, table, key_row) != NULL) return ERR_NOT_FOUND;
    if (row_cache_is_key_known(self, table, key_row)) return ERR_NOT_FOUND;
    Scan scan = row_cache_key_scan(table, key_row);
    TRY(row_cache_fetch_one(self, &scan));
    return rows_get(cached_rows(self), table, key_row, arena, ret_row);
}

static Status remote_get(RowStore *rows, TableNumber table, const void *key_row, Arena *arena,
                         void *ret_row) {
    RemoteRows *self = remote_rows(rows);
    bool is_brief;
    TRY(brief_begin(self, &is_brief));
    return brief_end(self, is_brief, get_within(self, table, key_row, arena, ret_row));
}

static Status remote_find(RowStore *rows, const RowKey *key, Arena *arena, const void **ret_row) {
    RemoteRows *self = remote_rows(rows);
    ASSERT(self->is_active);
    Status status = rows_find(cached_rows(self), key, arena, ret_row);
    if (status != ERR_NOT_FOUND) return status;
    Scan scan = row_key_scan(key);
    if (row_cache_is_one_known(self, &scan)) return ERR_NOT_FOUND;
    TRY(row_cache_fetch_one(self, &scan));
    return rows_find(cached_rows(self), key, arena, ret_row);
}

static Status remote_insert(RowStore *rows, TableNumber table, const void *row) {
    RemoteRows *self = remote_rows(rows);
    ASSERT(self->is_active);
    if (!rows->is_filling) {
        TRY(row_cache_fetch_conflicts(self, table, row, table_key_bits(&tables[table])));
    }
    cached_rows(self)->diag = rows->diag;
    Status status = rows_insert(cached_rows(self), table, row);
    cached_rows(self)->diag = NULL;
    if (status != OK) return status;
    Write *write = writes_entry(self, table, row, false);
    write->exists = true;
    // One that was removed before in this transaction is overwritten whole.
    uint64_t all = (UINT64_C(1) << tables[table].column_count) - 1;
    if (write->existed) write->changes = all & ~table_key_bits(&tables[table]);
    row_cache_grown(self, table, row);
    return OK;
}

static Status remote_update(RowStore *rows, TableNumber number, const void *row, uint64_t changes) {
    RemoteRows *self = remote_rows(rows);
    const Table *table = &tables[number];
    ASSERT(self->is_active);
    ASSERT((changes & table_key_bits(table)) == 0);
    ArenaMark mark = arena_mark(&self->arena);
    void *merged = arena_alloc(&self->arena, table->row_size);
    TRY(get_within(self, number, row, &self->arena, merged));
    size_t size_before = row_cache_text_size(table, merged);
    const void *before = writes_before(self, number, merged);
    for (uint8_t i = 0; i < table->column_count; i++) {
        if ((changes >> i & 1) == 0) continue;
        const Column *column = &table->columns[i];
        if (column->type == COLUMN_I64) row_set_i64(merged, column, row_i64(row, column));
        else row_set_str(merged, column, row_str(row, column));
    }
    TRY(row_cache_fetch_conflicts(self, number, merged, changes));
    self->cache_size += row_cache_text_size(table, merged) - size_before; // wraps when it is less
    if (before == NULL) arena_rewind(&self->arena, mark);
    cached_rows(self)->diag = rows->diag;
    Status status = rows_update(cached_rows(self), number, row, changes);
    cached_rows(self)->diag = NULL;
    if (status != OK) return status;
    Write *write = writes_entry(self, number, row, true);
    write->changes |= changes;
    writes_note_before(write, before);
    return OK;
}

static Status remote_remove(RowStore *rows, TableNumber table, const void *key_row) {
    RemoteRows *self = remote_rows(rows);
    ASSERT(self->is_active);
    void *row = arena_alloc(&self->arena, tables[table].row_size);
    TRY(get_within(self, table, key_row, &self->arena, row));
    Status status = rows_remove(cached_rows(self), table, key_row);
    if (status != OK) return status;
    Write *write = writes_entry(self, table, key_row, true);
    write->exists = false;
    writes_note_before(write, writes_before(self, table, row));
    return OK;
}

// not mean a fetch each time.
static Scan scan_ahead(const Scan *scan, int64_t limit) {
    Scan ahead = *scan;
    ahead.limit = limit;
    if (scan->is_descending) ahead.has_min = false;
    else ahead.has_max = false;
    return ahead;
}

static int64_t first_limit(const Scan *scan) {
    bool is_open = scan->is_descending ? !scan->has_min : !scan->has_max;
    if (is_open || scan->limit < FETCH_ROWS_FIRST) return scan->limit;
    return FETCH_ROWS_FIRST;
}

static Status scan_within(RemoteRows *self, const Scan *scan, Arena *arena, void *ret_rows,
                          size_t *ret_count) {
    scan_check(scan);
    for (int64_t limit = first_limit(scan);;) {
        ArenaMark mark = arena_mark(arena);
        char *array = NULL;
        size_t count = 0;
        TRY(rows_scan(cached_rows(self), scan, arena, &array, &count));
        if (row_cache_is_covered(self, scan, array, count)) {
            memcpy(ret_rows, &array, sizeof(array));
            *ret_count = count;
            return OK;
        }
        arena_rewind(arena, mark);
        Scan ahead = scan_ahead(scan, limit);
        TRY(row_cache_fetch_one(self, &ahead));
        limit = limit < LIMIT_FETCH_ROWS ? 2 * limit : limit + LIMIT_FETCH_ROWS;
    }
}

static Status remote_scan(RowStore *rows, const Scan *scan, Arena *arena, void *ret_rows,
                          size_t *ret_count) {
    RemoteRows *self = remote_rows(rows);
    bool is_brief;
    TRY(brief_begin(self, &is_brief));
    return brief_end(self, is_brief, scan_within(self, scan, arena, ret_rows, ret_count));
}

// A question for one row is looked up; what a range has to see is found by looking into it.
static Status expect_known(RemoteRows *self, const Scan *scan, bool *ret_is_known) {
    *ret_is_known = row_cache_is_one_known(self, scan);
    if (*ret_is_known) return OK;
    char *array = NULL;
    size_t count = 0;
    ArenaMark mark = arena_mark(&self->arena);
    TRY(rows_scan(cached_rows(self), scan, &self->arena, &array, &count));
    *ret_is_known = row_cache_is_covered(self, scan, array, count);
    arena_rewind(&self->arena, mark);
    return OK;
}

static Status remote_expect(RowStore *rows, const Scan *scans, size_t count) {
    RemoteRows *self = remote_rows(rows);
    ASSERT(self->is_active);
    Fetch *wanted = ARENA_ARRAY(&self->arena, Fetch, count);
    size_t wanted_count = 0;
    for (size_t i = 0; i < count; i++) {
        bool is_known;
        TRY(expect_known(self, &scans[i], &is_known));
        if (!is_known) wanted[wanted_count++] = (Fetch){.scan = scans[i]};
    }
    return wanted_count > 0 ? row_cache_fetch_all(self, wanted, wanted_count) : OK;
}

// ---- the rest ----

static StepDatabase remote_database(RowStore *rows) {
    const RemoteRows *self = remote_rows(rows);
    return (StepDatabase){self->remote->ops->database_kind, self->database};
}

static Status remote_check(RowStore *rows, Diag *diag) {
    (void)rows, (void)diag;
    UNREACHABLE(); // readers check
}

static Status remote_heartbeat(RowStore *rows, Heartbeat *heartbeat, Arena *arena) {
    RemoteRows *self = remote_rows(rows);
    bool is_new = false;
    if (!self->is_active) TRY(self->remote->ops->connect(self->remote, &is_new, rows->diag));
    if (is_new) row_cache_forget(self);
    int64_t version = VERSION_ANY;
    TRY(self->remote->ops->heartbeat(self->remote, heartbeat, arena, &version, rows->diag));
    heartbeat->is_changed = version != self->version;
    return OK;
}

static void remote_listen(RowStore *rows, const struct StoreListener *listener) {
    RemoteRows *self = remote_rows(rows);
    remote_listener_stop(self->listener);
    self->listener = NULL;
    if (listener == NULL) return;
    RemoteListener *its = self->remote->ops->listener_new(self->remote);
    self->listener = remote_listener_start(its, listener);
}

static void remote_close(RowStore *rows) {
    RemoteRows *self = remote_rows(rows);
    if (self->is_active) remote_rollback(rows);
    remote_listener_stop(self->listener);
    self->remote->ops->close(self->remote);
    row_cache_close(self);
    for (int table = 0; table < TABLE_COUNT; table++) {
        ordered_done(&self->tables[table].writes);
        for (int i = 0; i <= tables[table].index_count; i++) {
            key_ranges_done(&self->tables[table].known[i]);
        }
    }
    vec_free(&self->undo);
    vec_free(&self->replay);
    arena_done(&self->arena);
    arena_done(&self->fetched);
    arena_done(&self->replay_arena);
    buf_done(&self->key);
    buf_done(&self->body);
    buf_done(&self->range.low);
    buf_done(&self->range.high);
    mem_free(self);
}

static const RowStoreOps remote_ops = {
    .name = "remote",
    .begin = remote_begin,
    .commit = remote_commit,
    .rollback = remote_rollback,
    .savepoint = remote_savepoint,
    .rollback_to = remote_rollback_to,
    .release = remote_release,
    .read_begin = remote_read_begin,
    .read_end = remote_read_end,
    .get = remote_get,
    .find = remote_find,
    .insert = remote_insert,
    .update = remote_update,
    .remove = remote_remove,
    .scan = remote_scan,
    .expect = remote_expect,
    .heartbeat = remote_heartbeat,
    .listen = remote_listen,
    .database = remote_database,
    .check = remote_check,
    .close = remote_close,
};

RowStore *remote_rows_new(Remote *remote) {
    RemoteRows *self = mem_zalloc(sizeof(RemoteRows));
    self->ops = remote_ops;
    self->ops.name = remote->ops->name;
    if (remote->ops->heartbeat == NULL) self->ops.heartbeat = NULL;
    self->base.ops = &self->ops;
    self->base.is_shared = true;
    self->remote = remote;
    self->version = VERSION_ANY;
    for (int table = 0; table < TABLE_COUNT; table++) {
        RemoteTable *its = &self->tables[table];
        ordered_init(&its->writes);
        for (int i = 0; i <= tables[table].index_count; i++) {
            its->orders[i] = row_order(&tables[table], i - 1);
            key_ranges_init(&its->known[i]);
        }
    }
    Status status = memory_rows_open(&self->cache, NULL);
    ASSERT(status == OK);
    arena_init(&self->arena);
    arena_init(&self->fetched);
    arena_init(&self->replay_arena);
    buf_init(&self->key, REMOTE_KEY_MAX);
    buf_init(&self->body, CHANGES_BODY_MAX);
    buf_init(&self->range.low, REMOTE_KEY_MAX);
    buf_init(&self->range.high, REMOTE_KEY_MAX);
    return &self->base;
}

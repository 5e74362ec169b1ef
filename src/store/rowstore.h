// RowStore: the few verbs a backend must have; the transitions (kernel_*.c) are written once on
// top of them, and so are all reads (reads_*.c).
//
//   [rowstore-1] Between begin and commit nothing is visible to other RowStores of the same data;
//        rollback undoes everything since begin. One thread at a time between begin and
//        commit/rollback.
//   [rowstore-2] get and scan see the transaction's own writes.
//   [rowstore-3] scan answers rows in the order of the index (ascending, or descending if asked),
//        ties by primary key in the same direction; text compares by bytes; null before any text.
//   [rowstore-4] Rows given back live in the arena.
//   [rowstore-5] insert of an existing primary or unique key answers ERR_CONFLICT and changes
//        nothing.
//   [rowstore-6] update writes just the columns in `changes`; primary key columns never change.
//   [rowstore-7] savepoint/rollback_to nest inside a transaction (one level) for P4 participants.
//        Both rollback_to and release end the savepoint. release may answer ERR_CONFLICT: what was
//        done since cannot be kept and is undone, as by rollback_to. Both may answer ERR_INVALID:
//        the participant has broken the transaction ([step-database-3] of step_database.h), all
//        that is left is to roll back.
//   [rowstore-8] update and remove of a row that is not there answer ERR_NOT_FOUND.
//   [rowstore-9] A reader is used by one thread at a time between its read_begin and read_end,
//        which also cover its `diag`.
//   [rowstore-10] A store that others write too answers any verb ERR_UNAVAILABLE with wants_restart
//        when what it answered in this transaction is out of date: roll back (a commit has done so
//        already), forget, do it all again. rollback may find that out as well. begin sets
//        is_reloaded when what the owner remembers of the rows may be out of date. A reader does
//        the same for a read: it is begun again, with is_retry set after its read_begin.
//   [rowstore-11] Rows are remembered here and nowhere above: a store whose rows are far away keeps
//        those of runs it has met in memory, and they answer what the transaction would read. Of
//        such a row `find` may bring TEXT_KEPT for a large snapshot; get brings it whole.
#pragma once
#include "base/diag.h"
#include "model/marks.h"
#include "store/step_database.h"

typedef struct RowStore RowStore;

enum { SCAN_PRIMARY = -1 };

typedef struct Scan {
    TableNumber table;
    int index;         // place in the table's index list, or SCAN_PRIMARY
    const void *match; // a row; its first `match_count` index columns must be equal
    int match_count;
    // Bounds on the next column of the order (an I64 one) after the matched ones. The order is
    // the index columns, then the primary key, so with all index columns matched these bound it.
    bool has_min, has_max; // inclusive
    int64_t min, max;
    // Start strictly beyond this primary key (single I64 key column) among rows that are equal in
    // all index columns. Either every index column is matched, or all but the last: then the last
    // one has its starting value in `min` (`max` when descending), and rows past it follow.
    int64_t after_key; // 0 = from the beginning
    // Start strictly beyond this row's primary key, of whatever columns: for walks over a whole
    // table. Only with SCAN_PRIMARY, ascending, nothing matched, no bounds. NULL = no such thing.
    const void *after_row;
    bool is_descending;
    int64_t limit; // > 0
} Scan;

// At most `limit` rows whose first column of the index is as in the row `match`.
static inline Scan scan_of(TableNumber table, int index, const void *match, int64_t limit) {
    return (Scan){.table = table, .index = index, .match = match, .match_count = 1, .limit = limit};
}

// One row: its primary key, or the columns of a unique index, as they are in the row `match`.
typedef struct RowKey {
    TableNumber table;
    int index; // or SCAN_PRIMARY
    const void *match;
} RowKey;

typedef struct NodeHeartbeat {
    int64_t node; // key
    int64_t until_ms;
    int64_t resident_count; // runs it has in memory
} NodeHeartbeat;

// A sign of life, outside of transactions: it conflicts with nobody and concerns no row.
typedef struct Heartbeat {
    int64_t node; // whose; 0 = nobody's, just look
    int64_t until_ms;
    int64_t resident_count;
    NodeHeartbeat *heartbeats; // answer, in the arena: what every node has said last, about
    size_t count;
    bool is_fenced;  // answer: the node's row is gone, or says so
    bool is_changed; // answer: somebody else has written since the last transaction
} Heartbeat;

struct StoreListener;
typedef struct RowStoreOps {
    const char *name;
    MUST_CHECK Status (*begin)(RowStore *rows, Diag *diag);
    MUST_CHECK Status (*commit)(RowStore *rows, Diag *diag); // durable when OK
    void (*rollback)(RowStore *rows);
    MUST_CHECK Status (*savepoint)(RowStore *rows, Diag *diag);
    MUST_CHECK Status (*rollback_to)(RowStore *rows, Diag *diag);
    MUST_CHECK Status (*release)(RowStore *rows, Diag *diag);
    // A consistent view for reads outside begin/commit: may block the others only briefly.
    MUST_CHECK Status (*read_begin)(RowStore *rows, Diag *diag);
    void (*read_end)(RowStore *rows);
    // `key_row` has its primary key columns set. ERR_NOT_FOUND when there is none.
    MUST_CHECK Status (*get)(RowStore *rows, TableNumber table, const void *key_row, Arena *arena,
                             void *ret_row);
    // Within a transaction: the row where it is in memory, until the next verb, or else in the
    // arena [rowstore-11]. ERR_NOT_FOUND when there is none. NULL for readers.
    MUST_CHECK Status (*find)(RowStore *rows, const RowKey *key, Arena *arena,
                              const void **ret_row);
    MUST_CHECK Status (*insert)(RowStore *rows, TableNumber table, const void *row);
    MUST_CHECK Status (*update)(RowStore *rows, TableNumber table, const void *row,
                                uint64_t changes);
    MUST_CHECK Status (*remove)(RowStore *rows, TableNumber table, const void *key_row);
    // An array of row structs.
    MUST_CHECK Status (*scan)(RowStore *rows, const Scan *scan, Arena *arena, void *ret_rows,
                              size_t *ret_count);
    // The caller is about to ask for these: fetching them together spares round trips. Changes no
    // answer. NULL where a question costs nothing. What the scans match lives until they are asked.
    MUST_CHECK Status (*expect)(RowStore *rows, const Scan *scans, size_t count);
    // NULL where leases are kept in the rows of the nodes alone. What a heartbeat says counts for
    // more than the row, unless the row says that the node was fenced off.
    MUST_CHECK Status (*heartbeat)(RowStore *rows, Heartbeat *heartbeat, Arena *arena);
    // As in store.h; NULL where nobody else writes.
    void (*listen)(RowStore *rows, const struct StoreListener *listener);
    // For participants, between savepoint and its end.
    StepDatabase (*database)(RowStore *rows);
    // The backend's own consistency check of all it keeps, inside read_begin/read_end.
    MUST_CHECK Status (*check)(RowStore *rows, Diag *diag);
    void (*close)(RowStore *rows);
} RowStoreOps;

struct RowStore { // first member of every implementation
    const RowStoreOps *ops;
    Diag *diag;         // where get/insert/update/remove/scan put their text; set by the owner
    bool wants_restart; // [rowstore-10]
    bool is_reloaded;   // [rowstore-10], since the last begin
    bool is_shared;     // others write it too
    bool is_retry;      // [rowstore-10]
    bool has_news;      // set by the owner before commit: those who listen are to be told
    bool has_members;   // set by the owner before commit: other nodes are at work beside us
    // Set by the owner: what it inserts is not there, and need not be looked for first. If it is
    // there after all the commit may be what fails, with ERR_CONFLICT or ERR_CORRUPT.
    bool is_filling;
};

static inline Status rows_get(RowStore *rows, TableNumber table, const void *key_row, Arena *arena,
                              void *ret_row) {
    return rows->ops->get(rows, table, key_row, arena, ret_row);
}
static inline Status rows_find(RowStore *rows, const RowKey *key, Arena *arena,
                               const void **ret_row) {
    return rows->ops->find(rows, key, arena, ret_row);
}
static inline Status rows_insert(RowStore *rows, TableNumber table, const void *row) {
    return rows->ops->insert(rows, table, row);
}
static inline Status rows_update(RowStore *rows, TableNumber table, const void *row,
                                 uint64_t changes) {
    return rows->ops->update(rows, table, row, changes);
}
static inline Status rows_remove(RowStore *rows, TableNumber table, const void *key_row) {
    return rows->ops->remove(rows, table, key_row);
}
static inline Status rows_scan(RowStore *rows, const Scan *scan, Arena *arena, void *ret_rows,
                               size_t *ret_count) {
    return rows->ops->scan(rows, scan, arena, ret_rows, ret_count);
}

static inline Status rows_expect(RowStore *rows, const Scan *scans, size_t count) {
    return rows->ops->expect != NULL ? rows->ops->expect(rows, scans, count) : OK;
}

static inline Status rows_check(RowStore *rows, Diag *diag) { return rows->ops->check(rows, diag); }

// Whichever backend the URL names (store/open.c).
struct StoreConfig;
struct RowStorePair;
MUST_CHECK Status rows_open(Str url, const struct StoreConfig *config,
                            struct RowStorePair *ret_pair, Diag *diag);

// Backends. `reader` is a second view for reads; it may be the same object.
typedef struct RowStorePair {
    RowStore *writer;
    RowStore *reader;
} RowStorePair;
void rows_close(RowStorePair pair);
MUST_CHECK Status memory_rows_open(RowStorePair *ret_pair, Diag *diag);
MUST_CHECK Status sqlite_rows_open(Str path, const struct StoreConfig *config,
                                   RowStorePair *ret_pair, Diag *diag);

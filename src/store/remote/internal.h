// What the files of RemoteRows share.
//
// remote/row_cache.c  the rows in use, and where the cache is complete
// remote/writes.c     what the transaction has written
// remote/feed.c       what each batch changes, told to the other nodes
// remote/rows.c       the verbs of a RowStore on top of them
//
//   [remote-internal-1] At version `version`, inside a known range the cache holds exactly the
//        server's rows, with the writes of the open transaction applied. Rows outside of known
//        ranges may be in it or not; those that are, are the server's too.
//   [remote-internal-2] The first fetch of a transaction begins one on the server and checks the
//        version; so does the commit when nothing was fetched. If another node has written
//        meanwhile, what was answered is out of date: `wants_restart` is set, and the next
//        transaction begins on the server at once, with the changes of the others applied, so that
//        it cannot happen twice in a row.
//   [remote-internal-3] Keys come from one ascending sequence (model/rows.h), so nothing lies
//        beyond the counter: new rows need no look.
//   [remote-internal-4] A fetched row never replaces one that the transaction has written or
//        removed.
//   [remote-internal-5] When the cache grows too large, when the changes of others are not to be
//        had, or when a transaction that has fetched fails, all of it is forgotten.
#pragma once
#include "base/containers/vec.h"
#include "store/remote/key_ranges.h"
#include "store/remote/remote.h"
#include "store/row_key.h"

typedef struct Write {
    TableNumber table;
    bool existed; // before the transaction
    bool exists;  // now
    uint64_t changes;
    void *key_row;      // in `arena`
    const void *before; // likewise: the row as it was, if it existed and the remote wants that
} Write;

typedef struct WriteUndo { // since the savepoint
    Write *write;
    Write before;
} WriteUndo;

typedef struct RemoteTable {
    RowOrder orders[1 + TABLE_INDEXES_MAX]; // the primary one first
    KeyRanges known[1 + TABLE_INDEXES_MAX]; // [remote-internal-1]
    Ordered writes;                         // by primary key
} RemoteTable;

typedef VEC(RowWrite) RowWrites;

typedef struct RemoteRows {
    RowStore base;
    RowStoreOps ops; // remote_ops with the name of the remote
    Remote *remote;
    struct RemoteListener *listener; // NULL = none
    RowStorePair cache;
    size_t cache_size; // about
    RemoteTable tables[TABLE_COUNT];
    int64_t version; // VERSION_ANY = nothing is known
    bool is_active;
    bool is_checked; // the transaction is open on the server: its version is the present one
    bool has_savepoint, has_fetched; // the latter since the former
    void *database;                  // of the step that takes part; NULL = none does
    int contention; // > 0: others write too; so many transactions begin on the server at once
    Arena arena;    // of the transaction
    Arena fetched;  // rows on their way into the cache
    VEC(WriteUndo) undo;
    VEC(Scan) replay; // rows the failed attempt wrote; their keys are in replay_arena
    Arena replay_arena;
    Buf key;
    Buf body; // of the commit
    RowRange range;
} RemoteRows;

static inline uint64_t table_key_bits(const Table *table) {
    return (UINT64_C(1) << table->key_count) - 1;
}
static inline RowStore *cached_rows(const RemoteRows *self) { return self->cache.writer; }

// ---- remote/row_cache.c ----
// The key of a row in an index; valid until the next call.
Str row_cache_key(RemoteRows *self, TableNumber table, int index, const void *row);
void row_cache_known_clear(RemoteRows *self);
void row_cache_forget(RemoteRows *self); // [remote-internal-5], outside of a transaction
void row_cache_close(RemoteRows *self);
size_t row_cache_text_size(const Table *table, const void *row);
void row_cache_grown(RemoteRows *self, TableNumber table, const void *row);
MUST_CHECK Status remote_out_of_date(RemoteRows *self); // [remote-internal-2]
MUST_CHECK Status row_cache_fetch_all(RemoteRows *self, Fetch *fetches, size_t count);
MUST_CHECK Status row_cache_fetch_one(RemoteRows *self, const Scan *scan);
Scan row_cache_key_scan(TableNumber table, const void *key_row);
bool row_cache_is_key_known(RemoteRows *self, TableNumber table, const void *key_row);
// Whether the cache can tell if there is the one row the scan is for, and which.
bool row_cache_is_one_known(RemoteRows *self, const Scan *scan);
// Everything the scan has to see is in the cache: its range is known to its end, or as far as
// the rows that were found fill it.
bool row_cache_is_covered(RemoteRows *self, const Scan *scan, const char *rows, size_t count);
// Whether the row lies in a known range of any index.
bool row_cache_wants_row(RemoteRows *self, TableNumber table, const void *row);
// Brings what decides whether the row may be inserted: all that is not known, in one go.
MUST_CHECK Status row_cache_fetch_conflicts(RemoteRows *self, TableNumber table, const void *row,
                                            uint64_t changes);
void row_cache_add_beyond(RemoteRows *self, int64_t last_key); // [remote-internal-3]
// Somebody else has used the keys from `first` to `last`.
void row_cache_cut_keys(RemoteRows *self, int64_t first, int64_t last);

// ---- remote/writes.c ----
Write *writes_find(RemoteRows *self, TableNumber table, const void *row);
// The entry for a row that is about to change; new ones begin as they are now.
Write *writes_entry(RemoteRows *self, TableNumber table, const void *row, bool exists);
// The row as it is, if the remote wants to know what it was; else NULL. Its text is not copied.
const void *writes_before(RemoteRows *self, TableNumber table, const void *row);
void writes_note_before(Write *write, const void *before);
void writes_clear(RemoteRows *self);
void writes_rewind(RemoteRows *self); // to the savepoint
void writes_collect(RemoteRows *self, RowWrites *writes);
void writes_note_replay(RemoteRows *self); // they will most likely be needed by the next attempt

// ---- remote/feed.c ----
// The body of a commit with these writes, until the next call; null when it would be too large.
Str feed_write(RemoteRows *self, const RowWrites *writes);
// Begins on the server and brings the cache up to its version. *ret_is_changed: others have
// written since. What cannot be brought up is forgotten; `version` is the present one then too.
MUST_CHECK Status feed_catch_up(RemoteRows *self, bool *ret_is_changed, bool *ret_is_forgotten,
                                Diag *diag);

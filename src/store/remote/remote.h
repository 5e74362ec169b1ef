// Remote: what a database server must be able to do to carry a store. RemoteRows (remote/rows.c)
// makes a RowStore of it: it keeps a copy of the rows it needs, and talks to the server twice per
// batch at most when it is the only writer.
//
// All content of a store has one version, a number that each batch with writes raises by one.
//   [remote-1] A transaction on the server excludes all other writers of the store from its
//        beginning to its end, and everything it fetches is the content of one version. Where the
//        server cannot hold them off for ever, whoever comes late is answered as in [remote-3], by
//        any verb.
//   [remote-2] commit applies all writes and the next version, or nothing.
//   [remote-3] A version that was expected and is not there answers ERR_CONFLICT; no transaction is
//        open then.
//   [remote-4] A commit that answers ERR_UNAVAILABLE has happened or not, and that is settled
//        before anything is read again: no write of it appears later.
//   [remote-5] After any other failure no transaction is open.
//   [remote-6] A commit may come with a body: its writes in the words of remote/feed.c. The server
//        keeps it as it is, under the version that the commit makes, and answers it to those who
//        have an older version. It may lose any of them at any time, and keeps the last few only;
//        what it never does is to answer one under another version.
#pragma once
#include "store/rowstore.h"

typedef struct Remote Remote;

enum { VERSION_ANY = -1 };

typedef struct Fetch {
    Scan scan;
    char *rows; // answer, in the arena
    size_t count;
} Fetch;

typedef struct Changes { // what was written since the version one has
    Str *bodies;         // answer, in the arena: one per version, oldest first
    size_t count;        // present version - version that was given
    bool is_complete;    // false: some are gone (then count is 0), the content must be fetched
} Changes;

typedef struct FetchList {
    Fetch *fetches;
    size_t count;
    Arena *arena;     // of the answers
    Changes *changes; // NULL = not wanted
} FetchList;

typedef enum WriteKind { WRITE_REMOVE, WRITE_UPDATE, WRITE_INSERT, WRITE_KIND_COUNT } WriteKind;

typedef struct RowWrite {
    TableNumber table;
    WriteKind kind;
    uint64_t changes;   // WRITE_UPDATE: the columns
    const void *row;    // WRITE_REMOVE: just its key
    const void *before; // the row as it was, if there was one; NULL unless wants_before
} RowWrite;

typedef struct WriteList {
    const RowWrite *writes; // ordered by table, kind and changes
    size_t count;
    bool has_news; // those who listen are to be told
    Str body;      // [remote-6]; null = nobody would ask for it
} WriteList;

enum {
    CHANGES_KEPT = 128, // versions whose bodies a server should keep: nobody lags further behind
                        // who is at work
    CHANGES_BODY_MAX = 4 << 20, // larger ones are not handed over
    HEARTBEAT_KEEP_MS =
        2 * 3600 * 1000, // the heartbeat of a node that is heard no more, past its end
};

struct RemoteListener;
typedef struct RemoteOps {
    const char *name;
    bool wants_before; // fills RowWrite.before
    // Connects when that is needed; *ret_is_new says that what was known before does not hold.
    MUST_CHECK Status (*connect)(Remote *remote, bool *ret_is_new, Diag *diag);
    // Begins a transaction if none is open, and answers the fetches: one round trip for all. At the
    // beginning [remote-3] counts, unless changes are wanted: then *version becomes the present
    // one, and the changes say how it came to be. VERSION_ANY becomes the present one in any case.
    MUST_CHECK Status (*fetch)(Remote *remote, int64_t *version, const FetchList *list, Diag *diag);
    // Ends the transaction; if none is open this is one of its own. No writes = only the version
    // is checked.
    MUST_CHECK Status (*commit)(Remote *remote, int64_t version, const WriteList *list, Diag *diag);
    // As RowStoreOps.heartbeat, is_changed excepted; also answers the present version. Inside of a
    // transaction or outside. NULL = leases are kept in the rows of the nodes.
    MUST_CHECK Status (*heartbeat)(Remote *remote, Heartbeat *heartbeat, Arena *arena,
                                   int64_t *ret_version, Diag *diag);
    void (*rollback)(Remote *remote); // does nothing when no transaction is open
    // For steps that take part in an open transaction (step_database.h); NULL where none can. What
    // savepoint_end answers is [rowstore-7] of rowstore.h; after ERR_INVALID no transaction is
    // open.
    DatabaseKind database_kind;
    MUST_CHECK Status (*savepoint)(Remote *remote, void **ret_database, Diag *diag);
    MUST_CHECK Status (*savepoint_end)(Remote *remote, bool is_kept, Diag *diag);
    // One that is not started yet (remote/listen.h). It is stopped before the remote is closed.
    struct RemoteListener *(*listener_new)(Remote *remote);
    void (*close)(Remote *remote);
} RemoteOps;

struct Remote { // first member of every implementation
    const RemoteOps *ops;
};

// Takes over the remote.
RowStore *remote_rows_new(Remote *remote);

// RemoteReader: what a server must be able to do to be read beside its writer. remote/reader.c
// makes a RowStore of it: one read at a time, with what was expected fetched ahead.
//   [remote-7] Everything that is asked between begin and end is the content of one version, which
//        is no older than begin. Where that cannot be had any more, ask answers ERR_CONFLICT: the
//        read has to begin again. One that does so (is_retry) must not fail for that reason for
//        ever.
//   [remote-8] What a lost commit left open ([remote-4]) is settled by begin.
typedef struct RemoteReader RemoteReader;

typedef struct RemoteReaderOps {
    const char *name;
    MUST_CHECK Status (*begin)(RemoteReader *reader, Diag *diag);
    MUST_CHECK Status (*ask)(RemoteReader *reader, const FetchList *list, bool is_retry,
                             Diag *diag);
    bool (*is_lost)(const RemoteReader *reader); // the connection is, and with it the read's view
    // Nobody's heartbeat, as RemoteOps.heartbeat: the leases are of no version, [remote-7] says
    // nothing of them. NULL = leases are kept in the rows of the nodes.
    MUST_CHECK Status (*heartbeat)(RemoteReader *reader, Heartbeat *heartbeat, Arena *arena,
                                   Diag *diag);
    void (*end)(RemoteReader *reader); // also after a failed ask
    // As in rowstore.h. NULL = what the walk over all rows shows is enough.
    MUST_CHECK Status (*check)(RemoteReader *reader, bool is_retry, Diag *diag);
    void (*close)(RemoteReader *reader);
} RemoteReaderOps;

struct RemoteReader { // first member of every implementation
    const RemoteReaderOps *ops;
};

// Takes over the reader.
RowStore *remote_reader_new(RemoteReader *reader);

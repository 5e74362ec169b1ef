// Store: the only authority on what is durable. One interface, several backends.
//
// Contract (each number has its tests in test/contract/):
//   [store-batch-1]-[store-batch-7] of batch.h for commit, and
//   [store-8] Reads see every batch that was acknowledged before the read began.
//   [store-9] commit is called by one thread at a time; read by any number, also beside a commit.
//   [store-10] Listings are newest first by key (runs also oldest first), in a stable order, at
//        most LIMIT_LIST_PAGE rows, and a cursor stays valid while rows come and go.
//   [store-11] Nothing here reads a clock: `now_ms` comes with the batch.
//   [store-12] Corruption answers ERR_CORRUPT; a file that is not ours or newer than we are is
//        refused at open and left untouched.
#pragma once
#include "base/log.h"
#include "store/batch.h"

typedef struct Store Store;
typedef struct ReadRequest ReadRequest; // read_request.h

// Who is told when another process has written something that concerns all: work to be claimed,
// runs that ended. Called on a thread of the store's own, now and then without need.
typedef struct StoreListener {
    void (*changed)(void *context);
    void *context;
} StoreListener;

typedef struct StoreOps {
    const char *name; // "memory", "sqlite"
    MUST_CHECK Status (*commit)(Store *store, Batch *batch, Diag *diag);
    // What the functions of reads.h ask for.
    MUST_CHECK Status (*read)(Store *store, Arena *arena, ReadRequest *request, Diag *diag);
    // Checks the whole content against the invariants; counts what it saw. For `abide verify`.
    MUST_CHECK Status (*verify)(Store *store, int64_t *ret_row_count, Diag *diag);
    void (*close)(Store *store);
    // NULL where nobody else writes. A NULL listener ends it: nothing is called after that.
    void (*listen)(Store *store, const StoreListener *listener);
} StoreOps;

struct Store { // first member of every implementation
    const StoreOps *ops;
};

typedef struct StoreConfig {
    Logger *logger;             // may be NULL
    int64_t events_per_topic;   // default cap; 0 = LIMIT_EVENTS_PER_TOPIC
    int64_t event_retention_ms; // 0 = 7 days
    int64_t default_consume;    // TopicConsume of topics that nobody has set
    int64_t busy_timeout_ms;    // SQLite; 0 = 5000
    bool is_read_only;          // beside a running engine
    bool ignores_mark;          // for reading what transfer.h has not finished
    // Decides WaitItem.filter against an event's payload; NULL = filters never match.
    bool (*filter_matches)(Str filter, Str payload);
    // What a definition says about a run that is about to be created: fills in what the spec leaves
    // open, and holds its input to what the workflow wants. An answer that is not OK refuses the
    // run, with *ret_error as an error object. Called inside the transaction, so it only looks at
    // what it is given. Texts live in the arena. NULL = definitions say nothing.
    Status (*run_prepare)(const DefinitionRow *definition, RunSpec *spec, Arena *arena,
                          Str *ret_error, Diag *diag);
} StoreConfig;

// "memory:", "sqlite:PATH" (a bare path means the same). Codes: STORE_URL, STORE_LOCKED,
// STORE_NEWER, STORE_NOT_OURS, STORE_PATH, STORE_READ_ONLY, STORE_FULL, STORE_CORRUPT, STORE_IO,
// STORE_MOVED, STORE_FILLING.
// "postgres://HOST/DATABASE?schema=NAME" as libpq takes them; codes besides: STORE_BUSY,
// STORE_CHANGED, STORE_ROW_MISSING, STORE_CONFLICT, STORE_INDEX_CORRUPT.
// "redis://HOST/DATABASE?prefix=NAME"; codes besides those: STORE_DENIED, STORE_SERVER. What a
// Redis promises to keep is logged.
MUST_CHECK Status store_open(Str url, const StoreConfig *config, Store **ret_store, Diag *diag);

// True when other processes may have the store open too: an engine on it needs a lease, and looks
// around for what others have left.
bool store_url_is_shared(Str url);

// The URL for people to read: without its password.
Str store_url_shown(Str url, Arena *arena);

// For a program that is abide and nothing else, before it opens a store: settings of libraries that
// hold for the whole process. The C library leaves them to its host.
void store_own_process(void);

static inline Status store_commit(Store *store, Batch *batch, Diag *diag) {
    return store->ops->commit(store, batch, diag);
}
static inline Status store_verify(Store *store, int64_t *ret_row_count, Diag *diag) {
    return store->ops->verify(store, ret_row_count, diag);
}
static inline void store_listen(Store *store, const StoreListener *listener) {
    if (store->ops->listen != NULL) store->ops->listen(store, listener);
}
static inline void store_close(Store *store) { store->ops->close(store); }

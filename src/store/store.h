// Store: the only authority on what is durable. One interface, several backends.
//
// Contract (each number has its tests in test/contract/):
//   [S1]-[S7] of batch.h for commit, and
//   [S8] Reads see every batch that was acknowledged before the read began.
//   [S9] commit is called by one thread at a time; read by any number, also beside a commit.
//   [S10] Listings are newest first by key (runs also oldest first), in a stable order, at most
//        LIMIT_LIST_PAGE rows, and a cursor stays valid while rows come and go.
//   [S11] Nothing here reads a clock: `now_ms` comes with the batch or query.
//   [S12] Corruption answers ERR_CORRUPT; a file that is not ours or newer than we are is refused
//        at open and left untouched.
#pragma once
#include "base/log.h"
#include "store/batch.h"

typedef struct Store Store;

typedef struct RunFilter {
    Str ids;                    // joined by '\n'; null = any
    Str workflows;              // names joined by '\n'; null = any
    uint32_t states;            // bit (1 << RunState); 0 = any
    Str tag;                    // null = any
    Str parent_id;              // null = any
    Str waiting_on;             // topic, signal, or a task's or child's id or name; null = any
    Str state_key, state_value; // null = any; otherwise runs that have set this key to this JSON
    int64_t idle_before_ms;     // 0 = any; otherwise idle since before that moment
    int64_t created_before_ms, created_after_ms; // 0 = any
    bool is_oldest_first;                        // not with tag or state_key
    int64_t cursor;  // 0 = from the newest (oldest); otherwise the last key seen
    int64_t limit;   // 1 … LIMIT_LIST_PAGE
    size_t size_max; // bytes of rows in one page; 0 = as many as the store allows
} RunFilter;

typedef struct StoreStats {
    int64_t counters[COUNTER_COUNT];
} StoreStats;

typedef enum QueryKind {
    QUERY_RUN = 1,    // by run_id, or by run when run_id is null
    QUERY_RUN_LOAD,   // what a runner needs to go on: the run and, for a flow run with a snapshot,
                      // the LOG_WAIT entries after run.log_seq; otherwise its checkpoints and
                      // the LOG_STEP_ATTEMPT entries before them, in order of position; text:
                      // its input
    QUERY_LOAD_RUNS,  // the same of each run of `keys`, and the ids of their parents: loads
    QUERY_LIST_RUNS,  // without snapshots, as all lists of runs
    QUERY_STEP,       // one checkpoint: run_id, name, iteration (< 0 = the last); of a task or
                      // child that has ended its end
    QUERY_LIST_STEPS, // checkpoints in order of position, from position `after` on; with a name
                      // only those of it, of that iteration (< 0 = all)
    QUERY_LOG,        // entries with seq > after, oldest first
    QUERY_INPUT,      // text: the run's input
    QUERY_RESULT,     // text: the run's result or error; number: its state
    QUERY_PAUSE_REASON, // text: why a paused run is held, an error object; null = it is not paused
    QUERY_WAITERS,      // runs parked on a topic, oldest first
    QUERY_EVENTS,       // pending events of a topic, or pending signals of a run
    QUERY_TOPIC,        // its policy (the default one when none was set)
    QUERY_LIST_TOPICS,  // by name, beyond `name`; next != 0 says that there are more
    QUERY_DEAD_LETTERS,
    QUERY_TASK, // by name = task id
    QUERY_LIST_TASKS,
    QUERY_CLAIMABLE,  // tasks of `queue` that could be claimed now, in the order of claims
    QUERY_DEFINITION, // by name and version (null = current), or by `run` = definition key
    QUERY_LIST_DEFINITIONS,
    QUERY_NODE, // by run = node key
    QUERY_LIST_NODES,
    QUERY_DUE,      // number: the earliest due_at of anything; 0 = nothing
    QUERY_DUE_RUNS, // runs with due_at <= now, earliest first
    QUERY_CHILDREN, // runs whose parent is `run`
    QUERY_STATS,
    QUERY_OWNED,    // RUNNING runs whose owner is node `run`, by key, beyond key `after`
    QUERY_SCHEDULE, // by name
    QUERY_LIST_SCHEDULES,
    QUERY_QUEUE,       // by name: its limits and counts (the default ones when nothing is stored)
    QUERY_LIST_QUEUES, // by name, beyond `name`; next != 0 says that there are more
    QUERY_STATE,       // text: what the run has set under `name`
    QUERY_LIST_STATES, // values: all the run has set, by key
    QUERY_LIST_TOKENS,
    QUERY_KIND_COUNT
} QueryKind;

enum { NODE_RUNS_COUNTED = 1000 };

typedef struct Query {
    QueryKind kind;
    // inputs
    Str run_id;
    int64_t run;
    const int64_t *keys; // QUERY_LOAD_RUNS
    size_t key_count;
    Str name;  // step, topic, task id, workflow …
    Str queue; // QUERY_LIST_TASKS; null = any; QUERY_CLAIMABLE
    Str version;
    int64_t iteration;
    int64_t after; // keyset cursor or sequence number
    int64_t limit;
    size_t size_max; // bytes of rows in one page; 0 = as many as the store allows
    int64_t now_ms;
    uint32_t states; // QUERY_LIST_TASKS: bit (1 << TaskState)
    RunFilter filter;
    // answers, in the caller's arena
    RunRow *runs;
    struct RunLoadReply *loads; // QUERY_LOAD_RUNS: of the first `count` keys
    LogRow *log;
    EventRow *events;
    TaskRow *tasks;
    TopicRow *topics;
    bool *are_full; // of the topics: an event that nobody waits for would be refused
    DeadLetterRow *dead_letters;
    DefinitionRow *definitions;
    NodeRow *nodes;
    int64_t *node_runs; // QUERY_LIST_NODES: how many runs each owns; NODE_RUNS_COUNTED at most
    ScheduleRow *schedules;
    QueueStat *queues;
    StateRow *values;
    TokenRow *tokens;
    size_t count;     // of whichever list was asked for
    size_t log_count; // QUERY_RUN_LOAD
    int64_t next;     // cursor of the next page; 0 = that was the last
    int64_t number;
    Str text;
    StoreStats stats;
} Query;

// Who is told when another process has written something that concerns all: work to be claimed,
// runs that ended. Called on a thread of the store's own, now and then without need.
typedef struct StoreListener {
    void (*changed)(void *context);
    void *context;
} StoreListener;

typedef struct StoreOps {
    const char *name; // "memory", "sqlite"
    MUST_CHECK Status (*commit)(Store *store, Batch *batch, Diag *diag);
    // ERR_NOT_FOUND when a query for one thing finds none; lists may be empty.
    MUST_CHECK Status (*read)(Store *store, Arena *arena, Query *query, Diag *diag);
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
// STORE_CHANGED. "redis://HOST/DATABASE?prefix=NAME"; codes besides those: STORE_DENIED,
// STORE_SERVER. What a Redis promises to keep is logged.
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
static inline Status store_read(Store *store, Arena *arena, Query *query, Diag *diag) {
    return store->ops->read(store, arena, query, diag);
}
static inline Status store_verify(Store *store, int64_t *ret_row_count, Diag *diag) {
    return store->ops->verify(store, ret_row_count, diag);
}
static inline void store_listen(Store *store, const StoreListener *listener) {
    if (store->ops->listen != NULL) store->ops->listen(store, listener);
}
static inline void store_close(Store *store) { store->ops->close(store); }

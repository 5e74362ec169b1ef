// Read types: the questions and answers of reads.h.
//
//   [read-types-3] A page has at most `limit` rows (0 or too many: LIMIT_LIST_PAGE) and
//   about `size_max`
//        bytes of them (0 or too many: what the store allows). It may end
//        sooner, after having looked at many rows: only `next` says whether
//        there are more.
#pragma once
#include "store/store.h"

// A run by its id or, when the id is null, by its key.
typedef struct RunRef {
    Str id;
    int64_t key;
} RunRef;

static inline RunRef run_of_id(Str id) { return (RunRef){.id = id}; }
static inline RunRef run_of_key(int64_t key) { return (RunRef){.key = key}; }

// Which part of a list. `next` of a page is `after` of the one that follows; 0
// = that was the last.
typedef struct PageSpec {
    int64_t after; // 0 = from the beginning
    int64_t limit;
    size_t size_max;
} PageSpec;

// The same of lists that are ordered by name.
typedef struct NamePageSpec {
    Str after; // the last name seen; null = from the beginning
    int64_t limit;
} NamePageSpec;

// ---- runs ----

typedef struct RunPage {
    RunRow *rows; // without snapshots, unless they were asked for
    size_t count;
    int64_t next;
} RunPage;

typedef struct RunLoad {
    RunRow run;
    Str input;
    Str parent_id; // of store_load_runs; null = it has none, or its parent is gone
    LogRow *log;
    size_t log_count;
} RunLoad;

// One of many runs. What is wrong with one says nothing about the others.
typedef struct RunLoadReply {
    int64_t key;
    Status status; // OK, ERR_NOT_FOUND or ERR_CORRUPT
    Diag diag;     // when it is not OK
    RunLoad load;  // when it is
} RunLoadReply;

typedef struct RunLoads {
    RunLoadReply *replies; // in the order of the keys
    size_t count;          // fewer than there were keys when they grew large; at least one
} RunLoads;

enum { LOAD_KEYS_MAX = 128 };

typedef struct RunKeys {
    const int64_t *keys;
    size_t count; // 1 … LOAD_KEYS_MAX
} RunKeys;

typedef struct RunResult {
    Str json;      // its result or error
    int64_t state; // RunState
} RunResult;

typedef struct RunFilter {
    Str ids;                    // joined by '\n'; null = any
    Str workflows;              // names joined by '\n'; null = any
    uint32_t states;            // bit (1 << RunState); 0 = any
    Str tag;                    // null = any
    Str parent_id;              // null = any
    Str waiting_on;             // topic, signal, or a task's or child's id or name; null =
                                // any
    Str state_key, state_value; // null = any; otherwise runs that have set this
                                // key to this JSON
    int64_t idle_before_ms;     // 0 = any; otherwise idle since before that moment
    int64_t created_before_ms, created_after_ms; // 0 = any
    bool is_oldest_first;                        // not with tag or state_key
    int64_t cursor;     // 0 = from the newest (oldest); otherwise the last key seen
    int64_t limit;      // 1 … LIMIT_LIST_PAGE
    size_t size_max;    // bytes of rows in one page; 0 = as many as the store allows
    bool has_snapshots; // the rows of the page with their snapshots
} RunFilter;

typedef struct WaiterFilter {
    Str topic;
    PageSpec page;
} WaiterFilter;

typedef struct OwnedFilter {
    int64_t node;
    PageSpec page;
} OwnedFilter;

// ---- a run's log ----

typedef struct LogPage {
    LogRow *rows;
    size_t count;
    int64_t next;
} LogPage;

typedef struct LogFilter {
    RunRef run;
    PageSpec page; // after: a sequence number
} LogFilter;

typedef struct StepRef {
    RunRef run;
    Str name;
    int64_t iteration; // which of several, from 0
    bool is_last;      // … or whichever is the last
} StepRef;

typedef struct StepFilter {
    RunRef run;
    Str name;           // null = all
    bool has_iteration; // only that one of the name
    int64_t iteration;
    PageSpec page; // after: the lowest position that is wanted
} StepFilter;

// ---- values that runs have set ----

typedef struct StateRef {
    RunRef run;
    Str name;
} StateRef;

typedef struct StateList {
    StateRow *rows;
    size_t count;
} StateList;

// ---- places ----

typedef struct PlaceList {
    PlaceRow *rows; // of one version, by place
    size_t count;
    bool is_cut; // there are more than LIMIT_LIST_PAGE
} PlaceList;

// ---- kept snapshots ----

typedef struct SnapshotFilter {
    RunRef run;
    PageSpec page; // after: a number
} SnapshotFilter;

typedef struct SnapshotPage {
    SnapshotRow *rows;
    size_t count;
    int64_t next; // 0 = that was all
} SnapshotPage;

// ---- events and topics ----

typedef struct EventPage {
    EventRow *rows;
    size_t count;
    int64_t next;
} EventPage;

typedef struct EventFilter {
    Str topic;
    PageSpec page;
} EventFilter;

typedef struct SignalFilter {
    RunRef run;
    PageSpec page;
} SignalFilter;

typedef struct TopicStat {
    TopicRow row; // the default policy when none was set
    bool is_full; // an event that nobody waits for would be refused
} TopicStat;

typedef struct TopicPage {
    TopicStat *rows;
    size_t count;
    bool has_more;
} TopicPage;

typedef struct DeadLetterPage {
    DeadLetterRow *rows;
    size_t count;
    int64_t next;
} DeadLetterPage;

// ---- tasks and queues ----

typedef struct TaskPage {
    TaskRow *rows;
    size_t count;
    int64_t next;
} TaskPage;

typedef struct TaskFilter {
    RunRef run;      // zero = any
    Str name;        // null = any
    Str queue;       // null = any
    uint32_t states; // bit (1 << TaskState); 0 = any
    PageSpec page;
} TaskFilter;

typedef struct ClaimableFilter {
    Str queue;
    int64_t limit;
} ClaimableFilter;

typedef struct QueuePage {
    QueueStat *rows;
    size_t count;
    bool has_more;
} QueuePage;

// ---- definitions ----

typedef struct DefinitionRef {
    Str name;
    Str version; // null = the current one
} DefinitionRef;

typedef struct DefinitionFilter {
    Str name; // null = any
    PageSpec page;
} DefinitionFilter;

typedef struct DefinitionPage {
    DefinitionRow *rows;
    size_t count;
    int64_t next;
} DefinitionPage;

// ---- schedules, nodes, tokens, rates ----

typedef struct SchedulePage {
    ScheduleRow *rows;
    size_t count;
    int64_t next;
} SchedulePage;

enum { NODE_RUNS_COUNTED = 1000 };

typedef struct NodeStat {
    NodeRow row;
    int64_t run_count; // runs that it owns; NODE_RUNS_COUNTED at most
} NodeStat;

typedef struct NodePage {
    NodeStat *rows;
    size_t count;
    int64_t next;
} NodePage;

typedef struct TokenPage {
    TokenRow *rows;
    size_t count;
    int64_t next;
} TokenPage;

enum { RATE_ROWS_MAX = 4096 };

typedef struct RateFilter {
    int64_t step_ms; // RATE_FINE_MS or RATE_COARSE_MS
    int64_t from_ms; // rows that begin then or later
} RateFilter;

typedef struct RateList {
    RateRow *rows; // newest first, RATE_ROWS_MAX at most
    size_t count;
} RateList;

// ---- the store as a whole ----

typedef struct StoreStats {
    int64_t counters[COUNTER_COUNT];
} StoreStats;

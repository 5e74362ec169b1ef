// Rows: the durable records, and the numbers that stand in their columns.
// Numbers are part of the file format: append, never renumber.
// Keys: one ascending sequence serves all tables of a store, so a key never names two things
// and rows made later sort later. Times are milliseconds since 1970 (0 = none).
#pragma once
#include "base/limits.h"
#include "model/column.h"
#include "model/counter.h"
#include "model/queue.h"
#include "model/rate.h"
#include "model/run_kind.h"
#include "model/schedule.h"
#include "model/snapshot.h"
#include "model/tables.h"
#include "model/token.h"

typedef enum RunState {
    RUN_PENDING = 1, // not yet due to start; due_at_ms says when
    RUN_RUNNING,     // claimed by `owner`, or ready to be claimed when nobody owns it
    RUN_SUSPENDED,   // parked on `waits`; nobody owns it
    RUN_PAUSED,      // held for a person; `paused_state` says what it was
    RUN_COMPLETED,
    RUN_FAILED,
    RUN_CANCELLED,
    RUN_STATE_COUNT
} RunState;

static inline bool run_state_is_terminal(int64_t state) { return state >= RUN_COMPLETED; }
const char *run_state_name(int64_t state); // "suspended"

// Positive and smaller for higher priorities: what the claim indexes are ordered by.
static inline int64_t claim_rank(int64_t priority) { return 1 + PRIORITY_MAX - priority; }

// What happens to a child when its parent ends, and to signals nobody took.
typedef enum ClosePolicy { CLOSE_ABANDON = 0, CLOSE_CANCEL } ClosePolicy;
typedef enum LeftoverPolicy {
    LEFTOVER_DISCARD = 0,
    LEFTOVER_TO_TOPIC, // published to leftover_topic
    LEFTOVER_DEAD_LETTER
} LeftoverPolicy;

// The id of the run that takes up a failed one: "order-7~2" for "order-7", "order-7~3" for that.
typedef struct RetryId {
    char text[1024];
} RetryId;
Str run_retry_id(Str id, RetryId *ret_text);

typedef struct RunRow {
    int64_t key;
    Str id;                 // the caller's, or generated; unique
    Str workflow;           // name
    int64_t definition;     // key of the DefinitionRow it is pinned to; 0 for C workflows
    int64_t kind;           // RunKind
    int64_t state;          // RunState
    int64_t owner;          // key of the node that executes it, or what marks.h says; 0 = nobody
    int64_t epoch;          // +1 with each claim and each forced change; fences stale writers
    int64_t generation;     // +1 with each suspension and wake-up; fences stale timers
    int64_t incarnation;    // +1 with each continue-as, rewind and retry
    int64_t priority;       // higher first; PRIORITY_MIN … PRIORITY_MAX
    int64_t claim_rank;     // while RUNNING: claim_rank(priority), > 0; otherwise 0
    int64_t due_at_ms;      // the next thing to happen by itself; the state says what
    int64_t deadline_at_ms; // overall time-out of the run
    int64_t keep_ms;        // how long it is kept once terminal, or KEEP_FOR_EVER (marks.h)
    int64_t created_at_ms;
    int64_t updated_at_ms; // last change of state
    int64_t started_at_ms; // first turn
    int64_t finished_at_ms, idle_since_ms;
    int64_t parent;          // key of the parent run; 0 = none
    int64_t parent_position; // the place in the parent that waits for it, or NOT_AWAITED
    int64_t depth;           // ancestors
    int64_t close_policy;    // ClosePolicy: what happens to *this* run when its parent ends
    int64_t leftover_policy; // LeftoverPolicy for its unread signals
    int64_t paused_state;    // RunState it goes back to; 0 unless paused or to be paused
    int64_t is_pause_wanted; // a running turn becomes PAUSED at its next commit
    int64_t cancel_at_ms;    // when cancellation was asked for, with a mark; 0 = never
    int64_t attempts;        // executions in a row that were lost (run_lost): their node was gone
                             // before it committed; with a mark
    int64_t input_seq;       // log entry that holds the input
    int64_t result_seq;      // log entry that holds the result or error
    int64_t log_seq;         // the last entry as of the last write of this row: a lower bound
    int64_t tasks_ended_key; // its tasks with keys up to this have all ended; a lower bound
    int64_t affinity;        // key of the node that has it in memory while nobody owns it: a hint;
                             // 0 = none. Stored as `home`
    int64_t retries;         // how often it began again from its input after it had failed
    int64_t phase;           // run_phase(state) of phase.h
    int64_t place;           // where its snapshot stands; see place.h
    Str queue;               // of its tasks that name none; null = default
    Str tags;                // tags joined by '\n'; null = none
    Str leftover_topic;      // for LEFTOVER_TO_TOPIC
    Str waits;               // encoded WaitSet (model/waits.h); null = none
    Str snapshot;            // flow runs: the parked VM
    Str task; // SUSPENDED: the task it waits for, packed (tasks/pack.h), if that has no row
} RunRow;

typedef enum LogKind {
    LOG_STARTED = 1,  // data: input
    LOG_STEP,         // checkpoint: a step's result (or its final error)
    LOG_STEP_ATTEMPT, // one failed attempt that will be tried again; data: error
    LOG_WAIT,         // checkpoint: a wait was resolved; outcome and data
    LOG_CHILD,        // checkpoint: child started; data: its id as a JSON string
    LOG_TASK,         // checkpoint: task queued; data: its id as a JSON string
    LOG_EMIT,         // checkpoint: event emitted; name: topic
    LOG_MARK,         // checkpoint: any other recorded value (time, random, …)
    LOG_STREAM,       // written by the workflow for its readers; name: type
    LOG_WAITING,      // a script began to wait; name: signal, topic or "timer"
    LOG_CONTINUED,    // continue-as; data: the new input
    LOG_REWOUND,      // position: from where
    LOG_PAUSED,
    LOG_RESUMED,
    LOG_CANCEL_REQUESTED, // data: reason
    LOG_IDLE,
    LOG_RELEASED,
    LOG_RELOADED,
    LOG_FINISHED,  // outcome; data: result or error
    LOG_LINE,      // console line; name: level
    LOG_UNHANDLED, // a parked run wants no such signal: it is kept; name; data: is the run idle
    LOG_RETRY, // attempt `attempt` failed; data: {"error":…,"next_at":"…"}; LOG_STARTED follows
    LOG_FAILURE, // a script failed: its frames with their variables, and where; data: an object
    LOG_RETRIED, // this run takes up one that failed; data: {"run":its id}
    LOG_MOVED, // to another version; iteration: the definition before; data: {"from":…,"to":…}
    LOG_SET, // variables were set; data: {"by":…,"values":[{"path":…,"old":…,"new":…}…]}
    LOG_KIND_COUNT
} LogKind;

const char *log_kind_name(int64_t kind);   // "step"
const char *outcome_name(int64_t outcome); // "timeout"

typedef enum Outcome {
    OUTCOME_OK = 0,
    OUTCOME_ERROR,     // data: error object
    OUTCOME_TIMEOUT,   // the wait's deadline came first
    OUTCOME_CANCELLED, // the run was asked to end
    OUTCOME_COUNT
} Outcome;

struct LogRow;
// What an entry says about the state of what it names - a step, a task, or for entries without such
// a name the body of the workflow: "preparing" (queued, or to be tried again), "running",
// "not_running"; NULL = nothing. Derived when the log is read, so it costs no entries of its own.
const char *log_step_state(const struct LogRow *entry);

// One entry of a run's history. Checkpoints have a position and are what a native run is replayed
// from; rewinding takes it from what it drops, so history stays readable.
typedef struct LogRow {
    int64_t run;
    int64_t seq; // 1, 2, 3 … within the run
    int64_t at_ms;
    int64_t kind;      // LogKind
    int64_t position;  // place in the run's sequence of durable calls, or NO_POSITION
    int64_t iteration; // how often this name occurred before in this incarnation
    int64_t attempt;   // attempts used
    int64_t outcome;   // Outcome
    int64_t slot;      // LOG_WAIT: which item of the wait set
    Str name;          // LOG_WAIT of a script's task or child: "name\nid"; else the id alone
    Str data;          // JSON text; null = no value at all (JSON null is the text "null")
} LogRow;

Str log_entry_name(const LogRow *entry);   // without the id
Str log_entry_target(const LogRow *entry); // LOG_WAIT: id of a task or child; null = other things

typedef struct WaiterRow { // a parked run that wants an event of a topic
    int64_t key;           // also the order of arrival
    Str topic;
    int64_t run;
    int64_t generation;
    int64_t slot;
} WaiterRow;

typedef struct EventRow { // published, not consumed yet
    int64_t key;          // also the order of arrival
    int64_t run;          // signals: the run; events: 0, < 0 once a run took it (event_taken_mark)
    Str topic;            // topic events; null for signals
    Str name;             // signals; null for topic events
    Str id;               // caller's or generated
    int64_t created_at_ms;
    int64_t due_at_ms; // expiry; 0 = never
    Str payload;
} EventRow;

static inline bool event_is_signal(const EventRow *event) { return event->run > 0; }
static inline bool event_is_taken(const EventRow *event) { return event->run < 0; }
int64_t event_taken_mark(Str topic); // `run` of its taken events: a digest that lists them

typedef enum TopicConsume { CONSUME_ONE = 0, CONSUME_ALL } TopicConsume;
typedef enum TopicVisible {
    VISIBLE_ALL = 0,      // to every wait, whenever it began
    VISIBLE_AFTER_CREATE, // to runs that existed when it was published
    VISIBLE_AFTER_WAIT    // only to waits that were parked when it was published; never kept
} TopicVisible;

typedef struct TopicRow {
    Str name;
    int64_t consume;       // TopicConsume
    int64_t visible;       // TopicVisible
    int64_t expire_ms;     // 0 = the store's event retention
    int64_t cap;           // most events that are kept; 0 = the store's default
    int64_t pending_count; // EventRows of this topic
    int64_t is_explicit;   // set by a person, so it is kept although nothing is pending
} TopicRow;

typedef struct CursorRow { // CONSUME_ALL: the last event of `topic` that `run` has seen
    int64_t run;
    Str topic;
    int64_t last_event;
} CursorRow;

typedef struct DeadLetterRow {
    int64_t key;
    Str id;     // the event's
    Str run_id; // whom it was for; null for topic events
    Str topic;
    Str name;
    Str reason; // "run ended", "expired", "topic full"
    int64_t created_at_ms;
    int64_t due_at_ms;
    Str payload;
} DeadLetterRow;

typedef enum TaskState {
    TASK_QUEUED = 1, // due_at_ms > 0 while delayed or backing off
    TASK_LEASED,
    TASK_COMPLETED,
    TASK_FAILED,
    TASK_CANCELLED,
    TASK_STATE_COUNT
} TaskState;
const char *task_state_name(int64_t state);

typedef struct TaskRow {
    int64_t key;
    Str id;
    int64_t run;      // 0 = stand-alone
    int64_t position; // place in the run
    Str name;
    Str queue;
    int64_t state;
    int64_t priority;
    int64_t claim_rank; // claim_rank(priority) while it can be claimed; otherwise 0
    int64_t key_rank;   // its place among those of its concurrency key (model/queue.h)
    int64_t attempt;    // leases given so far
    int64_t token;      // fencing token of the present lease; below 2^53
    int64_t max_attempts;
    int64_t backoff_ms; // first delay
    int64_t backoff_max_ms;
    int64_t backoff_factor_pct; // 200 = doubles
    int64_t jitter_pct;
    int64_t start_timeout_ms; // schedule-to-start; 0 = none
    int64_t run_timeout_ms;   // start-to-close; 0 = none
    int64_t heartbeat_ms;     // lease length when heartbeats are asked for; 0 = none
    int64_t due_at_ms;        // delayed start, lease end, or time-out, whichever is next
    int64_t close_at_ms;      // LEASED: start-to-close ends here
    int64_t is_cancel_wanted; // told to the worker with its next heartbeat
    int64_t created_at_ms;
    int64_t started_at_ms, finished_at_ms;
    int64_t phase; // task_phase(state) of phase.h
    Str worker;
    Str non_retryable; // error types joined by '\n'
    Str concurrency_key;
    Str input, result;
    Str error;    // last error
    Str progress; // last heartbeat's
    Str secrets;  // where secrets belong in `input`, which has masks there; null = nowhere
} TaskRow;

#define VERSION_NATIVE STR("native") // of workflows in C: whatever is registered under the name

typedef struct DefinitionRow {
    int64_t key;
    Str name;
    Str version;  // SHA-256 of the source, hex; VERSION_NATIVE; what its process calls it
    int64_t kind; // RunKind; a name has one kind
    int64_t is_current;
    int64_t created_at_ms;
    Str config, source;
    Str code; // what it was compiled to (flow/code/image.h); null: deployed before it was kept
    Str file; // the name of its file, without folders, for people to see; null: nobody said
} DefinitionRow;

typedef struct NodeRow {
    int64_t key;
    Str name;
    int64_t lease_until_ms, started_at_ms; // the first with a mark (marks.h)
    int64_t last_batch;                    // number of the last batch applied for this node
    int64_t resident_count;                // runs it had in memory when its row was written last
    Str version;                           // of its program
    Str workers; // who asks it for tasks, as it said last: JSON, for the other nodes; null: nobody
} NodeRow;

typedef struct DedupeRow { // remembers keys that must not be used twice
    Str scope;             // "start", "event:<topic>", "signal:<run key>"
    Str id;
    int64_t run;
    Str digest; // SHA-256 of what came with the key
    int64_t due_at_ms;
} DedupeRow;

typedef struct TagRow {
    Str tag;
    int64_t run;
} TagRow;

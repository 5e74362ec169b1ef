// Turn: what a run, a task or an event is made with, and what one turn of a run commits.
//
// These are the larger requests of the operations (requests.h); their replies are in replies.h.
#pragma once
#include "base/diag.h"
#include "model/marks.h"
#include "model/waits.h"
#include "model/workflow_set.h"
#include "store/step_database.h"

// ---- what a run is started with ----
typedef struct RunSpec {
    Str id; // required; the engine generates one when the caller gave none
    Str workflow;
    int64_t definition;
    int64_t kind;        // RunKind; 0 = flow, pinned to the current definition of that name; a
                         // child whose workflow does not exist fails at once
    Str input;           // null = no input
    Str dedupe_key;      // idempotency key, or null
    int64_t start_at_ms; // 0 or past = now
    int64_t priority;
    int64_t timeout_ms; // overall; 0 = what the definition says, or none
    int64_t keep_ms;    // kept this long once terminal, or KEEP_FOR_EVER
    int64_t given;      // SpecGiven bits: what was said for this run and is no default
    Str queue;
    Str tags; // joined by '\n'
    int64_t leftover_policy;
    Str leftover_topic;
    // children only
    int64_t parent_position; // or NOT_AWAITED
    int64_t close_policy;
} RunSpec;

// ---- a workflow beside others of the same file ----
typedef struct DefinedWorkflow {
    Str name, config;
} DefinedWorkflow;

// ---- what a task is queued with ----
typedef struct TaskSpec {
    Str id; // required
    Str name;
    Str queue; // null = "default"
    Str input;
    int64_t position; // in the run; ignored for stand-alone tasks
    int64_t priority;
    int64_t delay_ms;
    int64_t max_attempts; // 0 = 1
    int64_t backoff_ms, backoff_max_ms, backoff_factor_pct, jitter_pct;
    int64_t start_timeout_ms, run_timeout_ms, heartbeat_ms;
    Str non_retryable;
    Str concurrency_key;
    Str secrets; // as in TaskRow
} TaskSpec;

typedef struct EventSpec {
    Str topic;            // topic events
    Str id;               // required (generated when the caller gave none)
    bool is_deduplicated; // the id was the caller's: remember it
    Str payload;
} EventSpec;

// What the tokens of leases are made of: random bits of whoever submits batches, never stored. Who
// does not know them cannot tell a token from others that were seen.
typedef struct LeaseSecret {
    uint64_t words[4];
} LeaseSecret;

// One pending event or signal, or all that are there, LIMIT_REMOVED_EVENTS at a time.
typedef struct EventRemoval {
    Str topic;         // OP_REMOVE_EVENTS
    Str run_id;        // OP_REMOVE_SIGNALS
    Str name;          // OP_REMOVE_SIGNALS: only those called so; null = all
    int64_t key;       // this one; 0 = all
    int64_t after_key; // those past it; 0 at first, then what next_key answered
    int64_t up_to_key; // no later ones; 0 at first: those that are there now, then newest_key
} EventRemoval;

// A step of a run, as people name it.
typedef struct StepChoice {
    Str name;
    int64_t iteration; // of those of that name, counted from 0
    bool is_last;      // whatever number that has; `iteration` does not count then
} StepChoice;

typedef struct StateSpec { // State.set
    Str name;
    Str value; // JSON; null = it is taken away
} StateSpec;

// ---- schedules ----
typedef struct ScheduleSet {
    ScheduleRow row; // `name` to `catch_up_ms`, which replace what is there; `is_paused` counts
                     // for a new schedule only. A new kind, spec or zone counts from now on
} ScheduleSet;

// Starts a run now, whatever the overlap policy says and also while it is paused.
typedef struct ScheduleTrigger {
    Str name;
    Str id; // of the run; null = made of the name and the time. An existing id starts nothing
} ScheduleTrigger;

// Starts the run of every tick in a range of the past that has none, whatever the overlap policy
// says and also while it is paused.
typedef struct ScheduleBackfill {
    Str name;
    int64_t from_ms, to_ms; // both inclusive; what lies ahead of now is left out
    int64_t limit;          // ticks looked at, 1 … LIMIT_BACKFILL_TICKS
} ScheduleBackfill;

// ---- commit_turn ----
typedef enum TurnNext {
    NEXT_CONTINUE = 1, // a checkpoint in the middle of a turn: stays RUNNING and owned. With
                       // `waits` it takes what of them is satisfied
    NEXT_SUSPEND,      // park on `waits`, unless something there is already satisfied
    NEXT_COMPLETE,     // `result`
    NEXT_FAIL,         // `result` is the error object
    NEXT_CANCELLED,    // the workflow ended because it was cancelled; `result` is the error
    NEXT_PAUSE,        // hold it for a person; `result` is the error that led here
    NEXT_CONTINUE_AS,  // `result` is the new input; checkpoints are dropped, state is fresh
    NEXT_RETRY         // it failed with `result` and begins again from its input at `retry_at_ms`;
                       // one that was asked to end, or whose deadline comes first, ends instead
} TurnNext;

// Called inside the transaction so that a step's own writes commit with its checkpoint (P4).
// Answers OK and *ret_data, or an error status with *ret_data as the error object: then whatever
// it wrote is undone and the operation answers ERR_CONFLICT with `step_error`. When the store had
// to undo it for a reason of its own there is no `step_error`; the operation's diag tells. May be
// called again for the same turn, when all that it did before is known to be undone.
typedef Status (*TurnParticipant)(void *context, StepDatabase database, Arena *arena,
                                  Str *ret_data);

typedef struct TurnCommit {
    int64_t run;
    int64_t epoch;
    TurnNext next;
    LogRow *log; // run, seq and at_ms are the store's: see TurnReply
    size_t log_count;
    RunSpec *children;
    size_t child_count;
    TaskSpec *tasks;
    size_t task_count;
    EventSpec *events;
    size_t event_count;
    StateSpec *states; // values that readers outside may see
    size_t state_count;
    WaitSet waits; // NEXT_SUSPEND, NEXT_CONTINUE. A child or task may be named by its id: target 0
                   // and `name`; the store looks the key up, also for those of this same turn
    Str snapshot;  // flow runs
    int64_t place; // where that stands (model/snapshot.h)
    int64_t keep_snapshots; // flow runs: beginnings of turns that are kept for rewinding; 0 = none
    bool is_kept; // NEXT_SUSPEND: the node keeps the parked run in memory; what wakes it is left
                  // to it for a while (nodes/affinity.c)
    int64_t foreseen_seq; // not 0: it was executed before what woke the run was committed, which is
                          // the completion of a task right before it in the batch. Refused
                          // (ERR_FENCED) unless that has woken the run for this claim, with one
                          // entry of this number and nothing else
    bool is_attempt; // NEXT_CONTINUE: nothing was done yet; the run, which has lost executions, is
                     // about to be executed again. Any other turn says that it got on
    Str result;
    int64_t retry_at_ms;         // NEXT_RETRY
    TurnParticipant participant; // NULL, or says the `data` of log[0]
    void *participant_context;
} TurnCommit;

// ---- a parked run leaves memory or comes back: an entry in its log and nothing else ----
typedef struct MemoryNote {
    Str run_id; // null = `run` is given
    int64_t run;
    int64_t epoch;     // another one answers ERR_FENCED …
    bool is_any_epoch; // … unless this says that any will do
    bool is_forced;    // RELEASED: also while tasks of the run are open or it backs off; otherwise
        // ERR_CONFLICT (RUN_NOT_IDLE). A run that is not parked answers the same, one
        // that has ended ERR_TERMINAL
    bool is_asked;   // RELOADED: for its own sake, not for a reader: one that has ended, is paused
                     // or cannot be read is refused. The engine looks, not the store
    int64_t idle_ms; // RELEASED: one that has been idle for less is ERR_CONFLICT (RUN_NOT_IDLE)
                     // too; 0 = at once
    bool has_entry;  // false: only tells what would be answered
} MemoryNote;

// Turn: what a run, a task or an event is made with, and what one turn of a run commits.
//
// These are the larger inputs of the operations in batch.h, which includes this file.
#pragma once
#include "base/diag.h"
#include "model/rows.h"
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
    int64_t keep_ms;    // kept this long once terminal; < 0 = for ever
    int64_t given;      // SpecGiven bits: what was said for this run and is no default
    Str queue;
    Str tags; // joined by '\n'
    int64_t leftover_policy;
    Str leftover_topic;
    // children only
    int64_t parent_position; // < 0 = not awaited
    int64_t close_policy;
} RunSpec;

// ---- a workflow beside others of the same file ----
typedef struct DefinedWorkflow {
    Str name, config;
    int64_t key; // answer
    bool is_new; // answer: false when this version existed
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
    Str topic;             // OP_REMOVE_EVENTS
    Str run_id;            // OP_REMOVE_SIGNALS
    Str name;              // OP_REMOVE_SIGNALS: only those called so; null = all
    int64_t key;           // this one; 0 = all
    int64_t after_key;     // those past it; 0 at first, then what next_key answered
    int64_t up_to_key;     // no later ones; 0 at first: those that are there now, then newest_key
    int64_t removed_count; // answer
    int64_t next_key;      // answer: there may be more past it; 0 = that was all
    int64_t newest_key;    // answer
} EventRemoval;

typedef struct StateSpec { // State.set
    Str name;
    Str value; // JSON; null = it is taken away
} StateSpec;

// ---- schedules ----
typedef struct ScheduleSet {
    ScheduleRow row;    // `name` to `catch_up_ms`, which replace what is there; `is_paused` counts
                        // for a new schedule only. A new kind, spec or zone counts from now on
    int64_t key;        // answer
    bool is_new;        // answer
    int64_t next_at_ms; // answer: its next tick; 0 = none
} ScheduleSet;

typedef struct ScheduleChange { // remove, pause, resume
    Str name;
    bool is_changed;    // answer: false = it was so already
    int64_t next_at_ms; // answer
} ScheduleChange;

// Starts a run now, whatever the overlap policy says and also while it is paused.
typedef struct ScheduleTrigger {
    Str name;
    Str id;      // of the run; null = made of the name and the time. An existing id starts nothing
    Str run_id;  // answer
    int64_t run; // answer: its key
    bool is_new; // answer
} ScheduleTrigger;

// Starts the run of every tick in a range of the past that has none, whatever the overlap policy
// says and also while it is paused.
typedef struct ScheduleBackfill {
    Str name;
    int64_t from_ms, to_ms; // both inclusive; what lies ahead of now is left out
    int64_t limit;          // ticks looked at, 1 … LIMIT_BACKFILL_TICKS
    int64_t started_count;  // answer
    int64_t existing_count; // answer: ticks that had a run
    int64_t next_ms;        // answer: go on from here; 0 = all of the range was done
} ScheduleBackfill;

// ---- commit_turn ----
typedef enum TurnNext {
    NEXT_CONTINUE = 1, // a checkpoint in the middle of a turn: stays RUNNING and owned
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
    LogRow *log; // run, seq and at_ms are filled in by the store
    size_t log_count;
    RunSpec *children;
    size_t child_count;
    TaskSpec *tasks;
    size_t task_count;
    EventSpec *events;
    size_t event_count;
    StateSpec *states; // values that readers outside may see
    size_t state_count;
    WaitSet waits; // NEXT_SUSPEND. A child or task may be named by its id: target 0 and `name`;
                   // the store looks the key up, also for those started in this same turn
    Str snapshot;  // flow runs
    int64_t keep_snapshots; // flow runs: beginnings of turns that are kept for rewinding; 0 = none
    bool is_kept;    // NEXT_SUSPEND: the node keeps the parked run in memory; what wakes it is left
                     // to it for a while (nodes/homes.c)
    bool is_attempt; // NEXT_CONTINUE: nothing was done yet; the run, which has lost executions, is
                     // about to be executed again. Any other turn says that it got on
    Str result;
    int64_t retry_at_ms;         // NEXT_RETRY
    TurnParticipant participant; // NULL, or fills the `data` of log[0]
    void *participant_context;
    // Kept by the store while the same operation is submitted again; null and 0 at first.
    Str expulsion;      // why the participant is not called any more
    int64_t loss_count; // connections that were lost while it was at work
    // answers
    int64_t state;         // the run's state after this
    LogRow *resolved;      // LOG_WAIT entries made because waits were already satisfied, in the
    size_t resolved_count; // order in which they settled
    int64_t last_seq;      // of the run's log
    int64_t before_seq;    // where the turn before left the run's log, as far as its row knows
    int64_t start_seq;     // its last entry before the turn's own ones
    int64_t turn_seq;      // … and with them
    Str step_error;        // the participant's error object
    bool is_cancel_wanted; // the run has been asked to end
    bool is_idle;          // it is parked and waits for the outside world only
    int64_t *child_keys;   // per child; a child whose id existed already answers the old key
    int64_t *task_keys;
} TurnCommit;

// ---- a parked run leaves memory or comes back: an entry in its log and nothing else ----
typedef struct MemoryNote {
    Str run_id;      // null = `run` is given
    int64_t run;     // also an answer
    int64_t epoch;   // another one answers ERR_FENCED; < 0 = any
    bool is_forced;  // RELEASED: also while tasks of the run are open or it backs off; otherwise
                     // ERR_CONFLICT (RUN_NOT_IDLE). A run that is not parked answers the same, one
                     // that has ended ERR_TERMINAL
    bool is_asked;   // RELOADED: for its own sake, not for a reader: one that has ended, is paused
                     // or cannot be read is refused. The engine looks, not the store
    int64_t idle_ms; // RELEASED: one that has been idle for less is ERR_CONFLICT (RUN_NOT_IDLE)
                     // too; 0 = at once
    bool has_entry;  // false: only tells what would be answered
    int64_t idle_since_ms; // answer: of the run; 0 = it is not idle
    int64_t state;         // answer: RunState; 0 = there is no such run
    int64_t last_seq;      // answer: of the run's log
} MemoryNote;

// A run that this batch made ready and claimed for the batch's node.
typedef struct ReadyRun {
    int64_t run;
    int64_t epoch;
    Str id;
    Str workflow;
    int64_t kind;
    LogRow *resolved; // what woke it: LOG_WAIT entries already in its log
    size_t resolved_count;
    bool is_cancel_wanted;
    int64_t last_seq;
} ReadyRun;

// What a node asks for when it looks for runs.
typedef struct RunClaim {
    int64_t max; // answers are in batch.ready
    int64_t count;
    int64_t taken_over;     // answer: how many came from dead nodes
    int64_t home_count;     // answer: how many had been left to this node
    int64_t reserved_count; // answer: how many were met that the node cannot execute
    bool is_cut;            // answer: those were as many as it may meet; there may be more to claim
} RunClaim;

// ---- what a batch tells those who follow along ----
// A run that this batch created: by a start, a turn of its parent, a tick of a schedule, a fork.
typedef struct StartedRun {
    Str id;
    Str workflow;
} StartedRun;

// A run that is ready and that this node cannot execute: it has no function for the workflow.
typedef struct ReservedRun {
    Str id;
    Str workflow;
} ReservedRun;

// A run whose log grew while it sleeps on, for those who read it.
typedef struct GrownRun {
    int64_t run;
    Str id;
} GrownRun;

// A run that became terminal in this batch, for those who wait for results.
typedef struct EndedRun {
    int64_t run;
    Str id;
    Str workflow;
    Str tags; // joined by '\n'
    int64_t state;
    int64_t created_at_ms;
    Str error; // null when it completed
} EndedRun;

// The attempt of a task that an operation ended, for those who measure.
typedef struct TaskAttempt {
    Str name;       // null when the operation ended none: it was said before
    Str worker;     // who made it
    int64_t run;    // key of its run; 0 = it stands alone
    int64_t number; // 1 = the first
    int64_t started_at_ms;
} TaskAttempt;

// Replies: what each operation answers, and what a batch tells those who follow along.
//
// Lists and texts live in the arena of the batch; op_keep_reply (ops.h) copies them beyond it. A
// field that points to something is copied there.
#pragma once
#include "base/diag.h"
#include "store/claim.h"

// A workflow beside others of the same file.
typedef struct DefinedReply {
    int64_t key;
    bool is_new; // false when this version existed
} DefinedReply;

// What a node found when it looked for runs; they are in batch.out.ready.
typedef struct ClaimReply {
    int64_t count;
    int64_t taken_over;     // how many came from dead nodes
    int64_t affinity_count; // how many had been left to this node
    int64_t reserved_count; // how many were met that the node cannot execute
    bool is_cut;            // those were as many as it may meet; there may be more to claim
} ClaimReply;

typedef struct TurnReply {
    int64_t state;         // the run's state after this
    LogRow *log;           // the entries of the turn as they were written; as many as there were
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
} TurnReply;

typedef struct EventRemovalReply {
    int64_t removed_count;
    int64_t next_key; // there may be more past it; 0 = that was all
    int64_t newest_key;
} EventRemovalReply;

typedef struct ScheduleSetReply {
    int64_t key;
    bool is_new;
    int64_t next_at_ms; // its next tick; 0 = none
} ScheduleSetReply;

typedef struct ScheduleTriggerReply {
    Str run_id;
    int64_t run; // its key
    bool is_new;
} ScheduleTriggerReply;

typedef struct ScheduleBackfillReply {
    int64_t started_count;
    int64_t existing_count; // ticks that had a run
    int64_t next_ms;        // go on from here; 0 = all of the range was done
} ScheduleBackfillReply;

typedef struct MemoryReply {
    int64_t run;
    int64_t idle_since_ms; // of the run; 0 = it is not idle
    int64_t state;         // RunState; 0 = there is no such run
    int64_t last_seq;      // of the run's log
} MemoryReply;

// What whoever does a task may know of its run. Both are null when it has none.
typedef struct TaskRun {
    Str id;
    Str tags;
} TaskRun;

// The attempt of a task that an operation ended, for those who measure.
typedef struct TaskAttempt {
    Str name;       // null when the operation ended none: it was said before
    Str worker;     // who made it
    int64_t run;    // key of its run; 0 = it stands alone
    int64_t number; // 1 = the first
    int64_t started_at_ms;
} TaskAttempt;

typedef struct OpOut {
    Status status;
    Diag diag; // text for people when status is not OK
    union {
        struct {
            int64_t node; // its key
        } join;
        struct {
            bool is_quiet;       // nobody has written or died since: no need to look around
            int64_t next_end_ms; // the next lease of another that ends; 0 = none is known
        } renew;
        struct {
            int64_t released_count;
        } leave;
        struct {
            int64_t key;
            bool is_new;          // false when this version existed
            DefinedReply *others; // as many as there were
        } define;
        struct {
            int64_t key; // also for duplicates
            bool is_new; // false = the id or dedupe key existed; same content. Other content under
                         // the dedupe key answers ERR_CONFLICT
            Str id;      // of the run that exists
            int64_t state;
            // Of a new run, so that it need not be read back; NULL when answers were lost.
            const RunRow *row;
            Str version; // of its definition; null = it has none
        } create_run;
        ClaimReply claim;
        TurnReply turn;
        struct {
            int64_t key;
            bool is_new;
        } create_task;
        struct {
            TaskRow *tasks;
            TaskRun *runs; // one for each task
            size_t task_count;
            size_t task_capacity; // the store's own
            bool is_cut;          // it looked at as many in vain as it may; there may be more
            int64_t open_at_ms;   // when a rate limit that held tasks back lets more pass; 0 = none
                                  // did. FIRE_DUE then says so with has_tasks
        } claim_tasks;
        struct {
            bool is_cancel_wanted;
        } heartbeat;
        struct {
            TaskAttempt attempt;
            int64_t woken_run;   // it woke its run, for this node and with one entry: the run's
            int64_t woken_epoch; // key, its claim, and the number of
            int64_t woken_seq;   // the entry; 0 = it did not
        } complete_task;
        struct {
            bool is_retried;
            int64_t retry_at_ms;
            TaskAttempt attempt;
        } fail_task;
        struct {
            int64_t resumed_count; // runs it woke
            bool is_kept;          // it is pending now
            bool is_duplicate;     // the id was seen before; nothing was done
        } publish;
        struct {
            bool is_delivered; // a wait took it at once
            bool is_duplicate;
        } signal;
        struct {
            int64_t fired_count;   // rows that were due
            int64_t started_count; // pending runs that began
            int64_t woken_count;   // parked runs that were woken
            int64_t ended_count;   // runs ended by their own deadline or cancel grace
            int64_t task_count;    // tasks requeued or failed
            int64_t tick_count;    // ticks of schedules dealt with
            bool has_more;         // the limit cut it short
        } fire_due;
        struct {
            bool is_changed; // false for a terminal run (then status is OK all the same)
        } cancel;
        struct { // OP_PAUSE, OP_RESUME
            bool is_changed;
        } hold;
        struct {
            int64_t position; // what was dropped begins here
            int64_t dropped_count;
        } rewind;
        struct {
            int64_t key;
            bool is_new; // false: it has been retried before, as the run that is answered
            Str id;
        } fork;
        struct { // OP_REPLAY_DEAD_LETTER, OP_REMOVE_DEAD_LETTER
            int64_t resumed_count;
        } dead_letter;
        EventRemovalReply remove_events; // OP_REMOVE_EVENTS, OP_REMOVE_SIGNALS
        struct {
            int64_t purged_runs, expired_events, expired_keys, reclaimed_runs;
            bool has_more;
        } sweep;
        struct {
            bool is_changed; // false: it was claimable already
        } retry_task;
        ScheduleSetReply set_schedule;
        struct {             // OP_REMOVE_SCHEDULE, OP_PAUSE_SCHEDULE, OP_RESUME_SCHEDULE
            bool is_changed; // false = it was so already
            int64_t next_at_ms;
        } schedule;
        ScheduleTriggerReply trigger_schedule;
        ScheduleBackfillReply backfill;
        struct {             // OP_REMOVE_QUEUE, OP_PAUSE_QUEUE, OP_RESUME_QUEUE
            bool is_changed; // false = it was so already
        } queue;
        struct {
            int64_t key, created_at_ms;
        } create_token;
        MemoryReply memory; // OP_NOTE_RELEASED, OP_NOTE_RELOADED
    };
} OpOut;

// ---- what a batch tells those who follow along ----

// A run that this batch made ready and claimed for the batch's node.
typedef struct ReadyRun {
    int64_t run;
    RunClaim claim;
    Str id;
    Str workflow;
    int64_t kind;
    LogRow *resolved; // what woke it: LOG_WAIT entries already in its log
    size_t resolved_count;
    int64_t last_seq;
} ReadyRun;

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

// Batch: the operations a store can be asked to do, each one atomic transition with its answer.
//
// A batch is one transaction: after it answered OK every operation in it has its own `status`,
// and all that answered OK are durable together.
//   [S1] An operation that does not answer OK has changed nothing.
//   [S2] Operations apply in order; each sees what those before it did.
//   [S3] If commit answers ERR_UNAVAILABLE the whole batch happened or none of it did; the batch
//        number in the node's row tells which (QUERY_NODE). If it did happen, has_answers is set
//        and the answers in it are true: they were found before the commit was tried. A batch
//        that changes nothing need not leave its number.
//   [S4] Runs made ready by any operation are claimed for `node` in the same transaction, up to
//        `claim_max`, and listed in `ready`; past that they stay ready and unowned. So do those
//        that another node has in memory: they are left to it for a while (left_until_ms). Runs of
//        a workflow in C that is not in `executes` are never claimed for `node`: they are listed in
//        `reserved`, and a node that has the workflow claims them.
//   [S5] Every write of a turn names the epoch of its claim; a stale epoch answers ERR_FENCED. A
//        batch of a node that was fenced off answers ERR_FENCED as a whole and changes nothing.
//   [S6] Terminal runs never change, except by being purged.
//   [S7] Payloads come back byte for byte; null (absent) and "null" differ.
//
// Answers live in the batch's arena.
#pragma once
#include "store/turn.h"

typedef enum OpKind {
    OP_JOIN = 1,      // a node comes up
    OP_RENEW,         // its lease
    OP_LEAVE,         // orderly end: hands back all its claims
    OP_DESCRIBE_NODE, // who asks the node for tasks, for the others to see
    OP_DEFINE,        // the workflows of a file become current: all of them, or none
    OP_CREATE_RUN,
    OP_CLAIM, // runs that are ready and unowned, or whose node is dead
    OP_COMMIT_TURN,
    OP_RELEASE,     // hand back one claim without having done anything
    OP_CREATE_TASK, // stand-alone
    OP_CLAIM_TASKS,
    OP_HEARTBEAT_TASK,
    OP_COMPLETE_TASK,
    OP_FAIL_TASK,
    OP_PUBLISH,
    OP_SIGNAL,
    OP_FIRE_DUE,
    OP_CANCEL,
    OP_PAUSE,
    OP_RESUME,
    OP_REWIND,
    OP_FORK,
    OP_SET_TOPIC,
    OP_REPLAY_DEAD_LETTER,
    OP_REMOVE_DEAD_LETTER,
    OP_PURGE_RUN,
    OP_SWEEP,
    OP_APPEND_LOG,      // an entry that changes nothing else (idle, released, reloaded)
    OP_RETRY_TASK,      // a delayed task is due now; a failed stand-alone one is queued again
    OP_RELEASE_TASK,    // a lease is handed back unused: the attempt does not count
    OP_SET_SCHEDULE,    // makes or replaces one
    OP_REMOVE_SCHEDULE, // its runs stay
    OP_PAUSE_SCHEDULE,  // ticks pass by until it is resumed
    OP_RESUME_SCHEDULE,
    OP_TRIGGER_SCHEDULE,
    OP_BACKFILL_SCHEDULE,
    OP_SET_QUEUE,    // its limits; also whether it is paused
    OP_REMOVE_QUEUE, // forgets the limits; its tasks stay
    OP_PAUSE_QUEUE,  // nothing is handed out until it is resumed
    OP_RESUME_QUEUE,
    OP_CREATE_TOKEN,
    OP_REMOVE_TOKEN,
    OP_NOTE_RELEASED,  // nothing of a parked run is in memory any more
    OP_NOTE_RELOADED,  // a parked run is in memory again
    OP_REMOVE_EVENTS,  // pending ones of a topic
    OP_REMOVE_SIGNALS, // pending ones of a run
    OP_KIND_COUNT
} OpKind;

typedef struct Op {
    OpKind kind;
    Status status; // the answer
    Diag diag;     // text for people when status is not OK
    union {
        struct {
            Str name, version; // the latter of the program; null = not said
            int64_t lease_ms;
            bool is_exclusive; // no other can live (the file is locked): all their leases end now
            int64_t node;      // answer: its key
        } join;
        struct {
            int64_t lease_ms; // ERR_FENCED when the runs of batch.node were taken over: join anew
            int64_t resident_count; // runs the node has in memory, for people to see
            bool is_quiet;       // answer: nobody has written or died since: no need to look around
            int64_t next_end_ms; // answer: the next lease of another that ends; 0 = none is known
        } renew;
        struct {
            int64_t released_count; // answer
        } leave;
        struct {
            Str workers; // JSON; null = nobody
        } describe_node;
        struct {
            Str name, version, config, source;
            Str code; // what the source was compiled to; null = not kept
            Str file; // the name of its file; null = not known, and one that was known stays
            int64_t kind;
            int64_t key;             // answer
            bool is_new;             // answer: false when this version existed
            DefinedWorkflow *others; // further workflows of the same source, version and kind
            size_t other_count;
        } define;
        struct {
            RunSpec spec;
            bool is_replacing; // a run of that id that has ended makes room: it is purged with it
            int64_t key;       // answer; also for duplicates
            bool is_new;       // answer: false = the id or dedupe key existed; same content. Other
                               // content under the dedupe key answers ERR_CONFLICT
            Str id;            // answer: of the run that exists
            int64_t state;     // answer
        } create_run;
        RunClaim claim;
        TurnCommit turn;
        struct {
            int64_t run, epoch;
        } release;
        struct {
            TaskSpec spec;
            int64_t key;
            bool is_new;
        } create_task;
        struct {
            Str worker;
            Str *queues; // at least one, unless is_any_queue
            size_t queue_count;
            bool is_any_queue;   // all queues that have tasks, whatever their names
            int64_t first_queue; // is_any_queue: a number to begin at, so that all get their turn
            bool is_eager; // the last operation of its batch: what the batch queues may be leased
                           // to it as it is made, in that order, where nothing stands in the way
            Str *names;    // none = any
            size_t name_count;
            int64_t max; // LIMIT_LIST_PAGE at a time, or LIMIT_BATCH_OPS if it is eager
            int64_t lease_ms;
            TaskRow *tasks; // answer
            size_t task_count;
            size_t task_capacity; // the store's own
            bool is_cut;        // answer: it looked at as many in vain as it may; there may be more
            int64_t open_at_ms; // answer: when a rate limit that held tasks back lets more pass;
                                // 0 = none did. FIRE_DUE then says so with has_tasks
        } claim_tasks;
        struct {
            Str id;
            int64_t token, lease_ms;
            Str progress;
            bool is_cancel_wanted; // answer
        } heartbeat;
        struct {
            Str id;
            int64_t token; // a stale one answers ERR_FENCED
            Str result;
            TaskAttempt attempt; // answer
        } complete_task;
        struct {
            Str id;
            int64_t token;
            Str type;            // matched against the task's non_retryable list
            Str error;           // error object
            bool is_final;       // the worker says: do not try again
            bool is_retried;     // answer
            int64_t retry_at_ms; // answer
            TaskAttempt attempt; // answer
        } fail_task;
        struct {
            EventSpec event;
            int64_t resumed_count; // answer: runs it woke
            bool is_kept;          // answer: it is pending now
            bool is_duplicate;     // answer: the id was seen before; nothing was done
        } publish;
        struct {
            Str run_id;
            Str name;
            Str id;
            bool is_deduplicated;
            Str payload;
            bool is_delivered; // answer: a wait took it at once
            bool is_duplicate;
        } signal;
        struct {
            int64_t max;
            int64_t fired_count;   // answer: rows that were due
            int64_t started_count; // answer: pending runs that began
            int64_t woken_count;   // answer: parked runs that were woken
            int64_t ended_count;   // answer: runs ended by their own deadline or cancel grace
            int64_t task_count;    // answer: tasks requeued or failed
            int64_t tick_count;    // answer: ticks of schedules dealt with
            bool has_more;         // answer: the limit cut it short
        } fire_due;
        struct {
            Str run_id;
            Str reason;       // JSON string or null
            int64_t grace_ms; // time for cleanup; 0 = at once
            bool is_changed;  // answer: false for a terminal run (then status is OK all the same)
        } cancel;
        struct { // OP_PAUSE, OP_RESUME
            Str run_id;
            bool is_changed;
        } hold;
        struct {
            Str run_id;
            Str step;
            int64_t iteration; // < 0 = its last
            int64_t position;  // answer: what was dropped begins here
            int64_t dropped_count;
        } rewind;
        struct {
            Str run_id;
            Str step;          // null = from the start
            int64_t iteration; // < 0 = its last
            Str new_id;
            int64_t key;
        } fork;
        TopicRow set_topic;
        struct { // OP_REPLAY_DEAD_LETTER, OP_REMOVE_DEAD_LETTER
            int64_t key;
            int64_t resumed_count;
        } dead_letter;
        EventRemoval remove_events; // OP_REMOVE_EVENTS, OP_REMOVE_SIGNALS
        struct {
            Str run_id;
        } purge;
        struct {
            int64_t max;                                                       // rows to look at
            int64_t purged_runs, expired_events, expired_keys, reclaimed_runs; // answers
            bool has_more;
        } sweep;
        struct {
            int64_t run;
            int64_t epoch; // < 0 = any
            LogRow entry;
            int64_t idle_since_ms; // >= 0 is written to the run's row; < 0 leaves it
        } append_log;
        struct {
            Str id;
            bool is_changed; // answer; false: it was claimable already
        } retry_task;
        struct {
            Str id;
            int64_t token; // a stale one answers ERR_FENCED
        } release_task;
        ScheduleSet set_schedule;
        ScheduleChange schedule; // OP_REMOVE_SCHEDULE, OP_PAUSE_SCHEDULE, OP_RESUME_SCHEDULE
        ScheduleTrigger trigger_schedule;
        ScheduleBackfill backfill;
        QueueRow set_queue; // `name` to `is_paused` count
        struct {            // OP_REMOVE_QUEUE, OP_PAUSE_QUEUE, OP_RESUME_QUEUE
            Str name;
            bool is_changed; // answer: false = it was so already
        } queue;
        TokenRow create_token; // answers: `key`, `created_at_ms`
        struct {
            Str id;
        } remove_token;
        MemoryNote memory; // OP_NOTE_RELEASED, OP_NOTE_RELOADED
    };
} Op;

typedef struct Batch {
    Arena *arena;       // the caller's: operations' data and answers live here
    int64_t now_ms;     // the caller's clock: the only one a store knows
    int64_t node;       // 0 = not a node: nothing is claimed
    int64_t number;     // ascending per node
    LeaseSecret secret; // the caller's: the only randomness a store knows
    int64_t claim_max;
    const WorkflowSet *executes; // the workflows in C that `node` has; NULL = all there are
    Op **ops;
    size_t count;
    size_t capacity;
    bool is_probe; // something is to be written in any case: is there room?
    // answers
    bool has_answers; // after OK; and [S3]
    ReadyRun *ready;
    size_t ready_count, ready_capacity;
    StartedRun *started;
    size_t started_count, started_capacity;
    EndedRun *ended;
    size_t ended_count, ended_capacity;
    GrownRun *grown;
    size_t grown_count, grown_capacity;
    ReservedRun *reserved; // [S4]
    size_t reserved_count, reserved_capacity;
    int64_t unclaimed_count; // runs made ready but left unowned because of claim_max
    int64_t left_until_ms;   // runs were left to nodes that have them in memory; when somebody else
                             // may claim them all; 0 = none were
    int64_t earliest_due_ms; // the earliest due_at written by this batch; 0 = none
    bool has_tasks;          // tasks became claimable
    Str damage;              // what was found damaged and set aside, for people; null = nothing
} Batch;

void batch_init(Batch *batch, Arena *arena, int64_t now_ms);
// A cleared operation of that kind at the end of the batch; lives in the arena.
Op *batch_add(Batch *batch, OpKind kind);
// An operation that lives elsewhere; it must outlive the batch.
void batch_add_op(Batch *batch, Op *op);
const char *op_kind_name(OpKind kind);
// The run that the caller named; null when it is not about one run.
Str op_run_id(const Op *op);
// Room for one more answer of `size` bytes behind `count`: the same array, or a larger copy.
void *batch_reserve(Batch *batch, void *answers, size_t count, size_t *capacity, size_t size);
// Forgets the answers so that the same operations can be submitted again.
void batch_clear_answers(Batch *batch);

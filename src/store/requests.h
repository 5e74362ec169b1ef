// Requests: what each operation is asked with. The store never writes here.
#pragma once
#include "store/turn.h"

// Another version of the script, in which a fork or retry goes on. Who asks found out that it can
// (engine/definitions/fork.c); what it was found out from must still be there.
typedef struct ForkVersion {
    int64_t definition; // 0 = the version that the old run had there
    int64_t from;       // that version, when it was looked at, and
    int64_t digest;     // snapshot_digest of what it had there: another one answers RUN_CHANGED
    Str snapshot;       // the same state as a snapshot of the new version; null = at the start
    int64_t place;      // where that stands
    Str note;           // for the log: {"from":…,"to":…}
} ForkVersion;

typedef struct OpIn {
    union {
        struct {
            Str name, version; // the latter of the program; null = not said
            int64_t lease_ms;
            bool is_exclusive; // no other can live (the file is locked): all their leases end now
        } join;
        struct {
            int64_t lease_ms; // ERR_FENCED when the runs of batch.node were taken over: join anew
            int64_t resident_count; // runs the node has in memory, for people to see
        } renew;
        struct {
            Str workers; // JSON; null = nobody
        } describe_node;
        struct {
            Str name, version, config, source;
            Str code; // what the source was compiled to; null = not kept
            Str file; // the name of its file; null = not known, and one that was known stays
            int64_t kind;
            DefinedWorkflow *others; // further workflows of the same source, version and kind
            size_t other_count;
        } define;
        struct {
            RunSpec spec;
            bool is_replacing; // a run of that id that has ended makes room: it is purged with it
        } create_run;
        struct {
            int64_t max; // replies are in batch.out.ready
        } claim;
        TurnCommit turn;
        struct {
            int64_t run, epoch;
        } release;
        struct {
            TaskSpec spec;
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
        } claim_tasks;
        struct {
            Str id;
            int64_t token, lease_ms;
            Str progress;
        } heartbeat;
        struct {
            Str id;
            int64_t token; // a stale one answers ERR_FENCED
            Str result;
        } complete_task;
        struct {
            Str id;
            int64_t token;
            Str type;      // matched against the task's non_retryable list
            Str error;     // error object
            bool is_final; // the worker says: do not try again
        } fail_task;
        struct {
            EventSpec event;
        } publish;
        struct {
            Str run_id;
            Str name;
            Str id;
            bool is_deduplicated;
            Str payload;
        } signal;
        struct {
            int64_t max;
        } fire_due;
        struct {
            Str run_id;
            Str reason;       // JSON string or null
            int64_t grace_ms; // time for cleanup; 0 = at once
        } cancel;
        struct { // OP_PAUSE, OP_RESUME
            Str run_id;
        } hold;
        struct {
            Str run_id;
            StepChoice step;
        } rewind;
        struct { // OP_MOVE: a parked run gets another snapshot
            Str run_id;
            int64_t epoch;      // of the run when its snapshot was read
            int64_t definition; // the version it goes on in, and
            Str snapshot;       // the same state as a snapshot of that,
            int64_t place;      // which stands there
            Str note;           // for the log: {"from":…,"to":…}, {"by":…,"values":[…]}
            bool is_set;        // the version stays: variables were set
        } move;
        struct {
            Str run_id;
            StepChoice step; // a null name = from the start
            Str new_id;      // null with is_retry: made of the old one, "order-7~2"
            bool is_retry;   // of a run that failed: from the last good place, and what had failed
                             // there is begun anew; `step` does not count
            ForkVersion version;
        } fork;
        struct {
            TopicRow row;  // `name` to `cap` count
            uint64_t kept; // columns that stay as they are, whatever `row` says (column_bit)
        } set_topic;
        struct { // OP_REPLAY_DEAD_LETTER, OP_REMOVE_DEAD_LETTER
            int64_t key;
        } dead_letter;
        EventRemoval remove_events; // OP_REMOVE_EVENTS, OP_REMOVE_SIGNALS
        struct {
            Str run_id;
        } purge;
        struct {
            int64_t max; // rows to look at
        } sweep;
        struct {
            int64_t run;
            int64_t epoch;     // another one answers ERR_FENCED …
            bool is_any_epoch; // … unless this says that any will do
            LogRow entry;
            bool has_idle_since;   // the next is written to the run's row
            int64_t idle_since_ms; // 0 = it is not idle
        } append_log;
        struct {
            Str id;
        } retry_task;
        struct {
            Str id;
            int64_t token; // a stale one answers ERR_FENCED
        } release_task;
        ScheduleSet set_schedule;
        struct { // OP_REMOVE_SCHEDULE, OP_PAUSE_SCHEDULE, OP_RESUME_SCHEDULE
            Str name;
        } schedule;
        ScheduleTrigger trigger_schedule;
        ScheduleBackfill backfill;
        struct {
            QueueRow row;  // `name` to `is_paused` count
            uint64_t kept; // as in set_topic
        } set_queue;
        struct { // OP_REMOVE_QUEUE, OP_PAUSE_QUEUE, OP_RESUME_QUEUE
            Str name;
        } queue;
        TokenRow create_token; // all but `key` and `created_at_ms`
        struct {
            Str id;
        } remove_token;
        MemoryNote memory; // OP_NOTE_RELEASED, OP_NOTE_RELOADED
        struct {
            RateRow rows[RATE_RESOLUTION_COUNT]; // null points: none
        } note_rates;
    };
} OpIn;

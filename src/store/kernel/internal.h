// Kernel internals: what the kernel_*.c files share. Nobody else includes this.
//
//   [K1]-[K3] of kernel.h.
//   [K4] What a row verb answers that is not an answer (NOT_FOUND of a get, CONFLICT of an
//        insert_new) is noted in `failure`; the batch is then rolled back whatever the operation
//        does with the status.
//   [K5] Rows that are read live in `scratch`, which is reset with each operation; what leaves in
//        the batch is copied into the batch's arena.
//   [K6] A Run is the only handle on a run row within an operation: nothing changes a run of which
//        a handle is open further up, except through that handle.
#pragma once
#include "base/containers/vec.h"
#include "base/limits.h"
#include "store/kernel/cache.h"
#include "store/kernel/kernel.h"

#define PAGE_ROWS LIMIT_PAGE_ROWS // rows read at a time by loops without a limit
enum { READ_ATTEMPTS_MAX = 8 };   // of one read, when others write in between; the second is safe

enum {
    SETTLE_GRACE_MS = 10 * 1000,           // time for children that are cancelled with a parent
    NODE_FORGET_MS = 3600 * 1000,          // a dead node without runs is forgotten after this
    DEDUPE_KEEP_MIN_MS = 24 * 3600 * 1000, // how long used keys are remembered at least
    TASK_LEASE_DEFAULT_MS = 60 * 1000,
    ROOM_ROWS_MAX = 32,   // events dropped from a full topic for a new one, whatever their size
    REMOVE_PAGE_ROWS = 32 // events read at a time to be removed, whatever their size
};

// What a failed batch came upon, and can be applied without (kernel/aside.c).
typedef struct Damage {
    TableNumber table;
    void *row;   // its key, and the id of a run; NULL = nothing
    Str message; // both live in the batch's arena
} Damage;

typedef struct Kernel {
    Store base;
    StoreOps ops;
    RowStore *writer;
    RowStore *reader;
    StoreConfig config; // defaults filled in
    Batch *batch;       // the one being applied
    Op *op;             // the operation being applied
    Op *eager;          // a claim of this batch that takes tasks as they are made, or NULL
    Arena scratch;      // [K5]
    Diag rows_diag;     // text of the last failed row verb
    Status failure;     // [K4]
    Damage damage;
    bool is_repetition_wanted; // the batch failed because of a participant that is out now
    int64_t write_count;
    int64_t fresh_after; // rows with higher keys were made by the present operation
    bool is_stale;       // a commit failed: memory is loaded again before the next batch
    int64_t counters[COUNTER_COUNT];
    int64_t saved_counters[COUNTER_COUNT]; // as before the batch
    uint64_t stored_counters;              // bit per counter that has a row
    RunCache runs;
    TaskCache tasks;
    TopicCache topics;
    QueueCache queues;
    ZoneCache zones;
    WaitCache waits;
    VEC(NodeBeat) beats; // what nodes have said when we last asked (nodes/beats.c)
    int64_t beats_at_ms; // when that was
    bool has_looked;     // at the beats, in the present batch
    LeaseDigest lease_digest;
    uint64_t run_snapshot_bit;
    uint64_t log_position_bit;
    uint64_t node_batch_bit;
} Kernel;

static inline int64_t kernel_now(const Kernel *kernel) { return kernel->batch->now_ms; }
static inline int64_t earliest_of(int64_t a, int64_t b) { // 0 = never
    if (a == 0 || b == 0) return a == 0 ? b : a;
    return a < b ? a : b;
}

// ---- kernel/rows.c: the row verbs ----
MUST_CHECK Status kernel_get(Kernel *kernel, TableNumber table, const void *key_row, void *ret_row);
MUST_CHECK Status kernel_insert(Kernel *kernel, TableNumber table, const void *row);
MUST_CHECK Status kernel_insert_new(Kernel *kernel, TableNumber table, const void *row);
MUST_CHECK Status kernel_update(Kernel *kernel, TableNumber table, const void *before,
                                const void *after);
MUST_CHECK Status kernel_update_columns(Kernel *kernel, TableNumber table, const void *row,
                                        uint64_t changes);
MUST_CHECK Status kernel_remove(Kernel *kernel, TableNumber table, const void *key_row);
MUST_CHECK Status kernel_scan(Kernel *kernel, const Scan *scan, void *ret_rows, size_t *ret_count);
// Notes a failure that the rows themselves show (a wait set that cannot be read …).
Status kernel_fail(Kernel *kernel, Status status, const char *code, const char *message);
// Refuses the present operation.
Status kernel_refuse(Kernel *kernel, Status status, const char *code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
int64_t kernel_next_key(Kernel *kernel);
void kernel_count(Kernel *kernel, int64_t counter, int64_t delta);
void kernel_note_due(Kernel *kernel, int64_t due_at_ms);
Str kernel_answer(Kernel *kernel, Str s); // [K5]
uint64_t column_bit(TableNumber table, size_t offset);

MUST_CHECK Status kernel_check_size(Kernel *kernel, const char *what, Str text, size_t max);
MUST_CHECK Status kernel_check_name(Kernel *kernel, const char *what, Str text, size_t max);

// ---- runs/runs.c: a run and its row ----
typedef struct Run {
    RunRow before; // as stored
    RunRow row;    // as it shall be; run_store writes the difference
    RunFacts facts;
    WaitSet waits; // run_waits decodes it once
    bool has_waits;
} Run;

MUST_CHECK Status run_load(Kernel *kernel, int64_t key, Run *ret_run);
MUST_CHECK Status run_load_id(Kernel *kernel, Str id, Run *ret_run);
// As run_load_id, but refuses the operation with RUN_NOT_FOUND.
MUST_CHECK Status run_require(Kernel *kernel, Str id, Run *ret_run);
// For a row that a scan gave back, possibly before this batch changed it again: then the answer is
// the run as it is now (ERR_NOT_FOUND when it is gone).
MUST_CHECK Status run_adopt(Kernel *kernel, const RunRow *row, Run *ret_run);
MUST_CHECK Status run_store(Kernel *kernel, Run *run);
void run_keep_facts(Kernel *kernel, const Run *run);
MUST_CHECK Status run_last_seq(Kernel *kernel, Run *run);
// Fills in run, seq and at_ms.
MUST_CHECK Status run_log(Kernel *kernel, Run *run, LogRow *entry);
MUST_CHECK Status run_note(Kernel *kernel, Run *run, LogKind kind, Str data);
// Up to PAGE_ROWS entries of a run's log past *after, which moves on to the last of them; fewer
// than that are all there are.
MUST_CHECK Status log_page(Kernel *kernel, int64_t run, int64_t *after, LogRow **ret_rows,
                           size_t *ret_count);
void run_set_state(Kernel *kernel, Run *run, RunState state);
MUST_CHECK Status run_waits(Kernel *kernel, Run *run, WaitSet *ret_set);
MUST_CHECK Status run_drop_waiters(Kernel *kernel, Run *run);
// What woke it (may be none) must live in the batch's arena.
typedef struct Resolved {
    LogRow *rows;
    size_t count;
    bool is_quiet; // it need not be woken for these
} Resolved;
MUST_CHECK Status run_set_ready(Kernel *kernel, Run *run);
MUST_CHECK Status run_announce(Kernel *kernel, Run *run, Resolved resolved);
MUST_CHECK Status run_make_ready(Kernel *kernel, Run *run, Resolved resolved);
// Becomes PAUSED; `reason` goes into the log (null = none).
MUST_CHECK Status run_hold(Kernel *kernel, Run *run, RunState paused_state, Str reason);
// Gives up the claim; a run that is wanted paused becomes so.
MUST_CHECK Status run_unclaim(Kernel *kernel, Run *run);
static inline bool run_is_cancel_wanted(const RunRow *row) { return row->cancel_at_ms != 0; }

// ---- runs/create.c ----
typedef struct RunCreated {
    int64_t key;
    bool is_new;
    Str id;
    int64_t state;
} RunCreated;
MUST_CHECK Status run_check_spec(Kernel *kernel, const RunSpec *spec);
// Refuses a spec of kind 0 whose workflow has no definition.
MUST_CHECK Status run_check_workflow(Kernel *kernel, const RunSpec *spec);
// `parent` may be NULL. A taken id is an answer, not an error.
MUST_CHECK Status run_create(Kernel *kernel, const RunSpec *given, Run *parent,
                             RunCreated *ret_created);
MUST_CHECK Status run_input(Kernel *kernel, const RunRow *run, Str *ret_input);
MUST_CHECK Status apply_create_run(Kernel *kernel, Op *op);
MUST_CHECK Status apply_fork(Kernel *kernel, Op *op);

// ---- runs/end.c ----
typedef struct Ending {
    RunState state;
    Outcome outcome;
    Str result;
} Ending;
extern const Str ERROR_RUN_TIMEOUT;
extern const Str ERROR_RUN_CANCELLED;
extern const Str ERROR_CHILD_CANCELLED;
extern const Str ERROR_CHILD_GONE;
MUST_CHECK Status run_end(Kernel *kernel, Run *run, const Ending *ending);
// Ended by force: the executor, if there is one, is fenced.
MUST_CHECK Status run_cancel_now(Kernel *kernel, Run *run);
// Removes a terminal run; stops when *budget rows were removed: then *ret_is_gone is false.
MUST_CHECK Status run_purge(Kernel *kernel, Run *run, int64_t *budget, bool *ret_is_gone);
MUST_CHECK Status apply_purge_run(Kernel *kernel, Op *op);

// Those that are to end with it are asked to.
MUST_CHECK Status children_cancel(Kernel *kernel, Run *run);

// ---- runs/retry.c ----
// A RUNNING run has failed with `error` and begins again from its input at `at_ms`.
MUST_CHECK Status run_retry(Kernel *kernel, Run *run, Str error, int64_t at_ms);

// ---- events/events.c, events/topics.c ----
MUST_CHECK Status topic_load(Kernel *kernel, Str name, TopicRow *ret_topic, bool *ret_is_stored);
MUST_CHECK Status topic_change_pending(Kernel *kernel, Str name, int64_t delta);
MUST_CHECK Status event_remove(Kernel *kernel, const EventRow *event);
// A run has taken it, and it stays for others.
MUST_CHECK Status event_note_taken(Kernel *kernel, const EventRow *event);
MUST_CHECK Status signal_remove(Kernel *kernel, Run *run, const EventRow *event);
MUST_CHECK Status signal_count(Kernel *kernel, Run *run, int64_t *ret_count);
MUST_CHECK Status cursor_set(Kernel *kernel, Run *run, Str topic, int64_t event);
MUST_CHECK Status cursor_get(Kernel *kernel, const Run *run, Str topic, int64_t *ret_event);
bool event_is_visible(const TopicRow *topic, const EventRow *event, const RunRow *run,
                      int64_t now_ms);
bool event_matches(const Kernel *kernel, const WaitItem *item, Str payload);

typedef enum WhenFull { FULL_REFUSES, FULL_DEAD_LETTER } WhenFull;
typedef struct Published {
    int64_t resumed_count;
    bool is_kept;
    bool is_duplicate;
} Published;
MUST_CHECK Status event_publish(Kernel *kernel, const EventSpec *event, WhenFull when_full,
                                Published *ret_published);
MUST_CHECK Status dead_letter_add(Kernel *kernel, DeadLetterRow *letter);
MUST_CHECK Status dedupe_find(Kernel *kernel, Str scope, Str id, DedupeRow *ret_row);
MUST_CHECK Status dedupe_add(Kernel *kernel, const DedupeRow *row);
Str dedupe_signal_scope(Kernel *kernel, int64_t run);
MUST_CHECK Status apply_publish(Kernel *kernel, Op *op);
MUST_CHECK Status apply_signal(Kernel *kernel, Op *op);
MUST_CHECK Status apply_remove_events(Kernel *kernel, Op *op);
MUST_CHECK Status apply_remove_signals(Kernel *kernel, Op *op);
MUST_CHECK Status apply_set_topic(Kernel *kernel, Op *op);
MUST_CHECK Status apply_replay_dead_letter(Kernel *kernel, Op *op);
MUST_CHECK Status apply_remove_dead_letter(Kernel *kernel, Op *op);

// ---- runs/turn.c, kernel/due.c, runs/change.c, kernel/define.c ----
MUST_CHECK Status apply_commit_turn(Kernel *kernel, Op *op);
// Removes what the log holds of earlier beginnings beyond LIMIT_EARLIER_LOG entries.
MUST_CHECK Status earlier_log_trim(Kernel *kernel, const Run *run);
MUST_CHECK Status apply_release(Kernel *kernel, Op *op);
MUST_CHECK Status apply_append_log(Kernel *kernel, Op *op);
MUST_CHECK Status apply_fire_due(Kernel *kernel, Op *op);
MUST_CHECK Status apply_sweep(Kernel *kernel, Op *op);
MUST_CHECK Status run_cancel(Kernel *kernel, Run *run, Str reason, int64_t grace_ms,
                             bool *ret_is_changed);
MUST_CHECK Status apply_cancel(Kernel *kernel, Op *op);
MUST_CHECK Status apply_pause(Kernel *kernel, Op *op);
MUST_CHECK Status apply_resume(Kernel *kernel, Op *op);
MUST_CHECK Status apply_rewind(Kernel *kernel, Op *op);
void run_shift_deadline(const Kernel *kernel, Run *run); // of one that was paused, by that time
MUST_CHECK Status apply_define(Kernel *kernel, Op *op);
// The checkpoint that a person names by step and iteration; < 0 = the last, and is set to it.
MUST_CHECK Status step_find(Kernel *kernel, const RunRow *run, Str step, int64_t *iteration,
                            int64_t *ret_position);
// Takes checkpoints from a position on (and the failed attempts there) out of the run's sequence.
MUST_CHECK Status checkpoints_drop(Kernel *kernel, Run *run, int64_t from_position,
                                   int64_t *ret_count);
bool log_is_checkpoint(const LogRow *entry);
bool log_is_positioned(const LogRow *entry); // checkpoints and the failed attempts before them

// ---- schedules/schedules.c, schedules/ticks.c ----
MUST_CHECK Status schedule_require(Kernel *kernel, Str name, ScheduleRow *ret_row);
MUST_CHECK Status schedule_store(Kernel *kernel, const ScheduleRow *before, ScheduleRow *row);
// Reads kind, spec and zone; the Diag says what is wrong with them.
MUST_CHECK Status schedule_ticker(Kernel *kernel, const ScheduleRow *row, Ticker *ret_ticker,
                                  Diag *diag);
// What a run of the schedule is started with; `id` is the run's.
RunSpec schedule_spec(const ScheduleRow *row, Str id);
MUST_CHECK Status schedule_previous(Kernel *kernel, const ScheduleRow *row, Run *ret_run,
                                    bool *ret_is_live);
MUST_CHECK Status schedule_fire(Kernel *kernel, const ScheduleRow *due, int64_t *ret_tick_count,
                                bool *ret_has_more);
// A run has ended: the tick that waited for it starts.
MUST_CHECK Status schedule_continue(Kernel *kernel, const Run *ended);
MUST_CHECK Status apply_set_schedule(Kernel *kernel, Op *op);
MUST_CHECK Status apply_remove_schedule(Kernel *kernel, Op *op);
MUST_CHECK Status apply_pause_schedule(Kernel *kernel, Op *op);
MUST_CHECK Status apply_resume_schedule(Kernel *kernel, Op *op);
MUST_CHECK Status apply_trigger_schedule(Kernel *kernel, Op *op);
MUST_CHECK Status apply_backfill_schedule(Kernel *kernel, Op *op);

// ---- runs/idle.c ----
// A run that parks on `set` becomes idle, or it does not; its row is stored by the caller.
MUST_CHECK Status idle_enter(Kernel *kernel, Run *run, const WaitSet *set);
// Something that kept a parked run from being idle has ended: it may have been the last.
MUST_CHECK Status idle_look_again(Kernel *kernel, Run *run, const WaitSet *set);
MUST_CHECK Status apply_note_memory(Kernel *kernel, Op *op);

// ---- kernel/tokens.c ----
MUST_CHECK Status apply_create_token(Kernel *kernel, Op *op);
MUST_CHECK Status apply_remove_token(Kernel *kernel, Op *op);

// ---- kernel/aside.c ----
// To be called where the row is found to contradict itself, or what belongs to it.
void run_blame(Kernel *kernel, const Run *run);
void row_blame(Kernel *kernel, TableNumber table, const void *row);
void damage_settle(Kernel *kernel, Status status);
MUST_CHECK Status damage_set_aside(Kernel *kernel, const Damage *damage);
// What was set aside, for people; behind what was `earlier`.
Str damage_text(Arena *arena, const Damage *damage, Str earlier);

// ---- kernel/expect.c ----
MUST_CHECK Status kernel_expect(Kernel *kernel);
// The same for runs that are about to be claimed.
MUST_CHECK Status kernel_expect_claims(Kernel *kernel, const RunRow *runs, size_t count);

// ---- reads_*.c, verify.c ----
MUST_CHECK Status kernel_read(Store *store, Arena *arena, Query *query, Diag *diag);
MUST_CHECK Status kernel_verify(Store *store, int64_t *ret_row_count, Diag *diag);

#include "store/kernel/nodes/nodes.h"
#include "store/kernel/runs/snapshots.h"
#include "store/kernel/tasks/queues.h"
#include "store/kernel/tasks/tasks.h"
#include "store/kernel/waits/waits.h"

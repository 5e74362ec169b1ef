// Runs: what becomes of a run.
//
// The room of its states ([runs-1]-[runs-6] of runs.c), making it, its turns ([turn-1]-[turn-6] of
// turn.c), changes by people, ending and purging it. Its row and its log are there for every room
// (kernel/run.h). Waking it, what it waits for, and when it counts as idle are the room waits; who
// owns it is the room nodes.
#pragma once
#include "store/kernel/check.h"
#include "store/kernel/run.h"

// ---- runs/runs.c: becoming ready, and no longer ----
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

// ---- runs/create.c ----
typedef struct RunCreated {
    int64_t key;
    bool is_new;
    Str id, version; // the latter of the definition of a new one
    int64_t state;
    const RunRow *row; // of a new one, among the answers
} RunCreated;
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

// ---- runs/turn.c, runs/change.c ----
MUST_CHECK Status apply_commit_turn(Kernel *kernel, Op *op);
// Removes what the log holds of earlier beginnings beyond LIMIT_EARLIER_LOG entries.
MUST_CHECK Status earlier_log_trim(Kernel *kernel, const Run *run);
MUST_CHECK Status apply_release(Kernel *kernel, Op *op);
MUST_CHECK Status apply_append_log(Kernel *kernel, Op *op);
MUST_CHECK Status run_cancel(Kernel *kernel, Run *run, Str reason, int64_t grace_ms,
                             bool *ret_is_changed);
MUST_CHECK Status apply_cancel(Kernel *kernel, Op *op);
MUST_CHECK Status apply_pause(Kernel *kernel, Op *op);
MUST_CHECK Status apply_resume(Kernel *kernel, Op *op);
MUST_CHECK Status apply_rewind(Kernel *kernel, Op *op);
MUST_CHECK Status apply_move(Kernel *kernel, Op *op);
void run_shift_deadline(const Kernel *kernel, Run *run); // of one that was paused, by that time
// The checkpoint that a person names; the iteration of the last is filled in.
MUST_CHECK Status step_find(Kernel *kernel, const RunRow *run, StepChoice *step,
                            int64_t *ret_position);
// Takes checkpoints from a position on (and the failed attempts there) out of the run's sequence.
MUST_CHECK Status checkpoints_drop(Kernel *kernel, Run *run, int64_t from_position,
                                   int64_t *ret_count);
bool log_is_checkpoint(const LogRow *entry);
bool log_is_positioned(const LogRow *entry); // checkpoints and the failed attempts before them

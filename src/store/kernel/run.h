// A run in an operation: its row, its log, and what is remembered of it.
//
// To the kernel a run is what a row is to others: every room loads it, changes it, logs in it and
// stores it. So this stands beside the row verbs (rows.c), and using it is no way into the room
// runs, which decides what becomes of a run.
//
//   [run-1] A Run has TEXT_KEPT in the place of a snapshot that is stored: it changed exactly when
//        something else stands there.
//   [run-2] Nothing of it is written before run_store, except the log.
#pragma once
#include "store/kernel/internal.h"

typedef struct Run {
    RunRow before; // as stored
    RunRow row;    // as it shall be; run_store writes the difference
    RunFacts facts;
    WaitSet waits; // run_waits decodes it once
    bool has_waits;
    bool may_embed;         // the only task of the present turn (tasks/embedded.h)
    int64_t task_due_at_ms; // of the task that the present turn has embedded
} Run;

// The run as it is now; a row that a scan gave back may be older.
MUST_CHECK Status run_load(Kernel *kernel, int64_t key, Run *ret_run);
// Also one whose row makes no sense, which the others answer with ERR_CORRUPT.
MUST_CHECK Status run_load_damaged(Kernel *kernel, int64_t key, Run *ret_run);
MUST_CHECK Status run_load_id(Kernel *kernel, Str id, Run *ret_run);
// The row contradicts itself: blames it for that. ERR_CORRUPT.
Status run_damaged(Kernel *kernel, const Run *run, const char *message);
// As run_load_id, but refuses the operation with RUN_NOT_FOUND.
MUST_CHECK Status run_require(Kernel *kernel, Str id, Run *ret_run);
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

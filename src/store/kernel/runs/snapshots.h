// Kernel internals: setting scripts back, and forking them.
//
// Invariants: [snapshot-1], [snapshot-2] in model/snapshot.h, [snapshots-1]-[snapshots-6] in
// runs/snapshots.c.
#pragma once
#include "store/kernel/runs/runs.h"

// ---- runs/snapshots.c ----
typedef struct FlowPoint { // the beginning of a turn
    SnapshotRow row;       // number 0: the first turn, which has no snapshot
    int64_t step_seq;      // the log entry of the step that was asked for; 0 = none was
    bool is_retry;         // what had failed is begun anew by who starts there
} FlowPoint;
// Keeps the beginning of a turn that is being committed, if it began a step.
MUST_CHECK Status snapshot_keep(Kernel *kernel, const TurnCommit *turn, Run *run,
                                int64_t start_seq);
// Forgets those from a number on.
MUST_CHECK Status snapshots_drop(Kernel *kernel, Run *run, int64_t from_number);
// The beginning of the turn that began the step for that time; the iteration of the last is filled
// in. Refuses with STEP_NOT_FOUND, SNAPSHOT_NOT_KEPT.
MUST_CHECK Status flow_point_find(Kernel *kernel, const RunRow *run, StepChoice *step,
                                  FlowPoint *ret_point);
// The last good place of a run that failed or is parked: the beginning of its last turn, or what it
// parked with. Refuses with SNAPSHOT_NOT_KEPT.
MUST_CHECK Status flow_point_last(Kernel *kernel, Run *run, FlowPoint *ret_point);
MUST_CHECK Status flow_rewind(Kernel *kernel, Op *op, Run *run);
// The version whose code executed a run up to the entry `seq`: see runs/move.c.
MUST_CHECK Status definition_at(Kernel *kernel, const RunRow *run, int64_t seq,
                                int64_t *ret_definition);

// ---- runs/states.c ----
MUST_CHECK Status state_set(Kernel *kernel, Run *run, const StateSpec *spec);
MUST_CHECK Status states_clear(Kernel *kernel, Run *run);
// All of them as one text in the scratch arena, and back; null = none.
MUST_CHECK Status states_encode(Kernel *kernel, const Run *run, Str *ret_bytes);
MUST_CHECK Status states_restore(Kernel *kernel, Run *run, Str bytes);
int64_t state_digest(Str value);

// ---- runs/repair.c: a run that failed is taken up again, by a new one ----
MUST_CHECK Status retry_check(Kernel *kernel, const Run *run); // RUN_NOT_FAILED
// The id of the run that takes it up, and whether it is there already, which is answered then.
MUST_CHECK Status retry_id(Kernel *kernel, const Run *run, Str *ret_id);
MUST_CHECK Status retry_find(Kernel *kernel, Str id, Op *op, bool *ret_is_there);
// Where it is taken up: of a script, of a C workflow.
MUST_CHECK Status retry_point(Kernel *kernel, Run *run, FlowPoint *ret_point);
MUST_CHECK Status retry_position(Kernel *kernel, const Run *run, int64_t *ret_position);
MUST_CHECK Status retry_note(Kernel *kernel, Run *run, Str failed_id);

// ---- runs/forks.c ----
// Gives `to`, which was just made, what it needs to begin at that point of `from`.
MUST_CHECK Status flow_fork(Kernel *kernel, Run *from, Run *to, const FlowPoint *point);
// A fork's script still names the tasks and children of the run it came from: the fork has its own
// copies of those that had not ended. Leaves the target when there is none.
MUST_CHECK Status fork_find_task(Kernel *kernel, const Run *run, WaitItem *item);
MUST_CHECK Status fork_find_child(Kernel *kernel, const Run *run, WaitItem *item);

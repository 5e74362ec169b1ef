// Tasks: the in-process ones. Claimed in batches, executed by the world, their leases kept alive.
//
//   [work-tasks-1] Nothing more is claimed while more results wait to be committed than there may
//        be runs and tasks under way together, or than one batch takes: that bounds how much there
//        can be. What was done and waits does not count in the window. A bound of one batch alone
//        would leave new tasks in the queue whenever more runs are under way than a batch takes,
//        and a task that was queued costs twice what one does that is leased as it is made.
//   [work-tasks-2] A task is in the heap of heartbeats while the world has it, and only then.
#pragma once
#include "base/containers/heap.h"
#include "base/containers/map.h"
#include "base/containers/vec.h"
#include "engine/commits/commit.h"
#include "engine/commits/intake.h"
#include "engine/work/task_window.h"

typedef struct Tasks {
    const CoordinatorSetup *setup;
    Executions *executions;
    Intake *intake;
    TaskWindow window;
    StrMap functions; // name -> TaskFunction
    VEC(Str) names;
    Heap heartbeats;     // [work-tasks-2], by when the lease wants to be renewed
    int64_t first_queue; // where the next claim begins: each queue gets its turn
    bool is_traced;      // attempts are told their trace in any case
} Tasks;

// What it works with outlives it.
void tasks_init(Tasks *self, const CoordinatorSetup *setup, Executions *executions, Intake *intake);
void tasks_done(Tasks *self);
// ERR_CONFLICT when the name is taken.
MUST_CHECK Status tasks_add(Tasks *self, Str name, NativeCallFunction function, void *user);
// Also when the name is taken.
void tasks_replace(Tasks *self, Str name, NativeCallFunction function, void *user);

bool tasks_can_claim(const Tasks *self); // there are functions, and room for more
bool tasks_may_ask(const Tasks *self, const Commit *commit); // [work-tasks-1]
// Claims what is there; the last operation of a batch, so that it sees what the others queued.
void tasks_add_claim(Tasks *self, Commit *commit);
void tasks_add_heartbeats(Tasks *self, Commit *commit);
int64_t tasks_next_heartbeat_ms(const Tasks *self); // NEVER_MS = none executes
// The node leaves while tasks are still executing: whoever comes next may have them at once. False
// while there are more than found room.
bool tasks_release(Tasks *self, Commit *commit);

// `made_count`: how many tasks the batch of the claim queued.
void tasks_apply_claimed(Tasks *self, const Op *op, size_t made_count);
// A commit whose answers will not come: what it claimed is left to its leases.
void tasks_forget_claims(Tasks *self, const Commit *commit);
void tasks_apply_heartbeat(Tasks *self, const Op *op);

// The world is done with it; its result is the caller's.
void tasks_came_back(Tasks *self, Execution *execution);
void tasks_fill_result(Execution *execution, Commit *commit);
void tasks_apply_result(Tasks *self, Execution *execution, const Op *op);
// The store will not take its result: it fails with that reason.
void tasks_refused(Tasks *self, Execution *execution, Status status, const Diag *diag);

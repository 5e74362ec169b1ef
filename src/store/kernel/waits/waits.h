// Waits: what a parked run waits for.
//
// Parking a run, finding what is there already, delivering what comes, and groups of items that
// wake nobody alone. A wait is resolved in this room and nowhere else ([waits-wait-1] of wait.c),
// and each way in does the whole of it: a turn that suspends, a task or child that has ended, an
// event or a deadline that was met (wait_deliver), a pause that is over.
#pragma once
#include "store/kernel/runs/runs.h"

// ---- waits/wait.c ----

// A turn parks on the set, unless something of it is satisfied already: that is taken and logged,
// and the run goes on. `affinity` is the node that keeps the parked run in memory, or 0.
MUST_CHECK Status wait_suspend(Kernel *kernel, Run *run, WaitSet *set, int64_t affinity,
                               Resolved *ret_resolved);
// A run that was paused while it waited goes on doing so, or with what has come meanwhile.
MUST_CHECK Status wait_resume(Kernel *kernel, Run *run);

typedef struct Delivery {
    const WaitItem *item;
    Outcome outcome;
    Str data;
    int64_t attempt; // tasks: attempts used
    Str name;        // of the task, or the child's workflow; null = something else
} Delivery;
// Only for SUSPENDED runs: logs and makes the run ready.
MUST_CHECK Status wait_deliver(Kernel *kernel, Run *run, const Delivery *deliveries, size_t count);

typedef enum TaskWaiters {
    TASK_WAITERS_ALL = 1, // its run and its guests
    TASK_WAITERS_GUESTS,  // its run knows, or is going itself: only others that wait for it
} TaskWaiters;
// The task has ended, as its row says: delivers that to those who wait for it.
MUST_CHECK Status wait_task_ended(Kernel *kernel, const TaskRow *task, TaskWaiters waiters);
// Takes what of the set is satisfied already for a run that goes on executing; one entry each.
MUST_CHECK Status wait_take(Kernel *kernel, Run *run, const WaitSet *set, Resolved *ret_resolved);
// Something came that the run might take while it executes: who executes it hears of that.
void wait_tell_running(Kernel *kernel, const Run *run);
// The run has ended with `result`: delivers that to its parent, if it waits for it.
MUST_CHECK Status wait_child_ended(Kernel *kernel, const RunRow *child, Str result);

// Whether the item has settled; what is pending is looked at, not taken.
MUST_CHECK Status wait_is_settled(Kernel *kernel, Run *run, const WaitItem *item, bool *ret_is_it);

// ---- waits/groups.c: deliveries that wake nobody yet ----
bool outcome_is_quiet(const WaitItem *item, Outcome outcome);
// Whether an item of the group of set->items[place] other than that one is open.
MUST_CHECK Status group_has_open(Kernel *kernel, Run *run, const WaitSet *set, size_t place,
                                 bool *ret_is_it);
// What was delivered since the run's row was written by its last turn, in order.
MUST_CHECK Status deliveries_read(Kernel *kernel, Run *run, Arena *arena, Resolved *ret_resolved);
// As that, for a run with a snapshot; none for others.
MUST_CHECK Status deliveries_since(Kernel *kernel, Run *run, Arena *arena, Resolved *ret_resolved);
// Puts what was delivered before it in front of what wakes the run now.
MUST_CHECK Status deliveries_prepend(Kernel *kernel, Run *run, Resolved *resolved);
// Its log grew while it sleeps on.
void grown_push(Kernel *kernel, const Run *run);

// ---- waits/idle.c ----
// A run that parks on `set` becomes idle, or it does not; its row is stored by the caller.
MUST_CHECK Status idle_enter(Kernel *kernel, Run *run, const WaitSet *set);
// Something that kept a parked run from being idle has ended: it may have been the last.
MUST_CHECK Status idle_look_again(Kernel *kernel, Run *run, const WaitSet *set);
MUST_CHECK Status apply_note_memory(Kernel *kernel, Op *op);

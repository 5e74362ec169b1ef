// Waits and groups: parking, delivering, and what is delivered without waking. Included by
// kernel/internal.h.
#pragma once
#include "store/kernel/internal.h"

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
void grown_push(Kernel *kernel, const Run *run);

// ---- waits/wait.c: suspend-and-check, deliver ----
// Looks what of the set is satisfied already and takes it; one LOG_WAIT entry each.
MUST_CHECK Status wait_check(Kernel *kernel, Run *run, const WaitSet *set, Resolved *ret_resolved);
// Parks the run on the set; or holds it there when it is wanted paused.
MUST_CHECK Status wait_park(Kernel *kernel, Run *run, WaitSet *set);
typedef struct Delivery {
    const WaitItem *item;
    Outcome outcome;
    Str data;
    int64_t attempt; // tasks: attempts used
    Str name;        // of the task, or the child's workflow; null = something else
} Delivery;
// Only for SUSPENDED runs: logs and makes the run ready.
MUST_CHECK Status wait_deliver(Kernel *kernel, Run *run, const Delivery *deliveries, size_t count);
// Whether the item has settled; what is pending is looked at, not taken.
MUST_CHECK Status wait_is_settled(Kernel *kernel, Run *run, const WaitItem *item, bool *ret_is_it);
// Delivers to the run `key` if it is parked on an item of that kind and target.
MUST_CHECK Status wait_deliver_target(Kernel *kernel, int64_t key, WaitKind kind, int64_t target,
                                      const Delivery *delivery);
// Wakes the runs that wait for a task of another run, which has ended.
MUST_CHECK Status wait_deliver_guests(Kernel *kernel, const TaskRow *task);
const WaitItem *wait_find(const WaitSet *set, WaitKind kind, int64_t target);
Delivery child_delivery(const RunRow *child, Str result); // of an ended child
void task_delivery(const TaskRow *task, Delivery *ret_delivery);

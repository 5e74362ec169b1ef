// Kernel internals: tasks.
//
// Invariants: [kernel-tasks-tasks-1], [kernel-tasks-tasks-2] in tasks/tasks.c,
// [claims-3]-[claims-5] in tasks/claims.c, [life-1]-[life-6] in tasks/life.c.
#pragma once
#include "store/kernel/runs/runs.h"

// ---- tasks/tasks.c, tasks/claims.c, tasks/life.c ----
extern const Str QUEUE_DEFAULT; // of tasks that name none
// `run` is NULL for stand-alone tasks.
MUST_CHECK Status task_create(Kernel *kernel, const TaskSpec *spec, Run *run, int64_t *ret_key,
                              bool *ret_is_new);
MUST_CHECK Status task_load_id(Kernel *kernel, Str id, TaskRow *ret_task);
MUST_CHECK Status task_store(Kernel *kernel, const TaskRow *before, TaskRow *after);
MUST_CHECK Status task_end(Kernel *kernel, const TaskRow *before, TaskRow *after, TaskState state);
// An attempt failed with an error of `type`; `error` is set. Queued again by its policy, or
// failed for good.
MUST_CHECK Status task_attempt_failed(Kernel *kernel, const TaskRow *before, TaskRow *after,
                                      Str type);
void task_set_claimable(Kernel *kernel, TaskRow *task);
int64_t lease_token(Kernel *kernel, int64_t last_token); // for a new lease; another than the last
void task_set_lease(Kernel *kernel, TaskRow *task, int64_t lease_ms);
// For rows that were read before other tasks changed.
MUST_CHECK Status task_refresh(Kernel *kernel, TaskRow *task);
MUST_CHECK Status task_remove(Kernel *kernel, const TaskRow *task);
MUST_CHECK Status task_fire(Kernel *kernel, const TaskRow *due);
// The worker of that name is gone: its attempts have failed.
MUST_CHECK Status tasks_end_leases(Kernel *kernel, Str worker);
// Cancels the tasks of a run from a position on.
MUST_CHECK Status tasks_cancel(Kernel *kernel, Run *run, int64_t from_position);
// … up to one, which is not among them.
MUST_CHECK Status tasks_cancel_before(Kernel *kernel, Run *run, int64_t position);
// The run begins afresh: what is still to be done goes on and has no place in it any more.
MUST_CHECK Status tasks_let_go(Kernel *kernel, Run *run);
// The task's run is going: one that has ended is removed, any other stands alone from now on.
MUST_CHECK Status task_leave(Kernel *kernel, const TaskRow *task);
// Before the first operation of a batch: finds the claim that takes tasks as they are made.
void tasks_begin_batch(Kernel *kernel);
// Leases a row that is about to be inserted, if that claim may have it; task_hand_out gives it the
// row once it is stored.
MUST_CHECK Status task_lease_new(Kernel *kernel, TaskRow *task, bool *ret_is_leased);
void task_hand_out(Kernel *kernel, Op *claim, const TaskRow *task);
MUST_CHECK Status apply_create_task(Kernel *kernel, Op *op);
MUST_CHECK Status apply_claim_tasks(Kernel *kernel, Op *op);
MUST_CHECK Status apply_heartbeat_task(Kernel *kernel, Op *op);
MUST_CHECK Status apply_complete_task(Kernel *kernel, Op *op);
MUST_CHECK Status apply_fail_task(Kernel *kernel, Op *op);
MUST_CHECK Status apply_retry_task(Kernel *kernel, Op *op);
MUST_CHECK Status apply_release_task(Kernel *kernel, Op *op);

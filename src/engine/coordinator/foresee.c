// Foreseen turns: the turn that a task's result enables is executed before the result is committed,
// and both are committed together.
//
//     the task came back -> PARKED -> EXECUTING -> COMMITTING: completion and turn, side by side
//
// A completion that wakes a run which is in memory and waits for nothing else has one outcome: the
// run goes on with that result. So it goes on at once. That saves a commit per task, and one of two
// writes of the run's row (store/kernel/runs/held.h).
//   [foresee-1] Nothing of the turn leaves before the commit ([coordinator-1] of coordinator.h):
//        like every turn it is an output until then.
//   [foresee-2] The two are neighbours in one batch, in that order, and the store takes the turn
//        only if the completion woke the run as foreseen ([turn-6] of store/kernel/runs/turn.c).
//   [foresee-3] What does not come to pass is dropped: the result is committed by itself, and the
//        run is loaded again, for its machine has gone on. So is a turn that takes more than one
//        slice: the result must not wait for it.
//
// Not here: turns of runs that were woken (dispatch.c), what is done with the answers (turns.c).
#include "base/assert.h"
#include "base/limits.h"
#include "engine/coordinator/internal.h"

static bool is_awaited(const ResidentRun *run, const Execution *task) {
    bool is_parked = run->phase == PHASE_PARKED || run->phase == PHASE_WATCHED;
    return is_parked && run->awaited_task == task->task.position && run->machine != NULL &&
           run->deliveries.count == 0 && !run->is_stale && !run->is_fenced && !run->is_reloaded &&
           !run->is_cancel_wanted && run->attempts == 0;
}

static bool is_good(const Execution *task) {
    const NativeCall *call = &task->call;
    return task->task.run != 0 && !task->is_undone && !call->has_error &&
           call->result.len <= LIMIT_PAYLOAD_SIZE;
}

// The entry that the completion will write.
static void set_delivery(Execution *turn, const Execution *task) {
    LogRow *entry = ARENA_NEW(&turn->arena, LogRow);
    *entry = (LogRow){.run = turn->run,
                      .seq = turn->view.last_seq + 1,
                      .kind = LOG_WAIT,
                      .position = task->task.position,
                      .slot = task->task.position,
                      .outcome = OUTCOME_OK,
                      .attempt = task->task.attempt,
                      .data = arena_str(&turn->arena, task->call.result)};
    turn->view.last_seq = turn->foreseen_seq = entry->seq;
    turn->view.deliveries = entry;
    turn->view.delivery_count = 1;
}

bool foresee_turn(Coordinator *c, Execution *task) {
    if (!coordinator_is_executing(c) || failed_is_pending(c) || !is_good(task)) return false;
    ResidentRun *run = residents_get(&c->residents, task->task.run);
    if (run == NULL || !is_awaited(run, task) || own_work_runs_room(&c->own) == 0) return false;
    FlowModule *module = NULL;
    Diag diag;
    if (modules_get(&c->modules, run->definition, &module, &diag) != OK) return false;
    run->epoch++; // of the claim that comes with the completion
    run->woken_ns = env_monotonic_ns(c->setup.env);
    Execution *turn = dispatch_begin(c, run);
    turn->runner = &c->flow_runner.base;
    turn->view.module = flow_module_retain(module);
    turn->cause = task;
    set_delivery(turn, task);
    residents_move(&c->residents, run, PHASE_EXECUTING);
    executions_hand_out(&c->executions, turn);
    return true;
}

bool foresee_came_back(Coordinator *c, Execution *turn, const ResidentRun *run) {
    bool is_over = run->is_stale || !resident_has_claim(run, turn->epoch) || turn->is_undone ||
                   turn->output.is_preempted || turn->output.is_unreadable;
    if (!is_over) return true;
    Execution *task = foresee_drop(c, turn);
    intake_add_result(&c->intake, task, INTAKE_BACK);
    return false;
}

void foresee_forget(Coordinator *c, ResidentRun *run) {
    bool is_woken = run->is_stale || run->is_fenced; // by something else
    run->is_stale = true;
    residents_move(&c->residents, run, is_woken ? PHASE_READY : PHASE_PARKED);
    if (!is_woken) residents_evict(&c->residents, run);
}

Execution *foresee_drop(Coordinator *c, Execution *turn) { // [foresee-3]
    Execution *task = turn->cause;
    ResidentRun *run = residents_get(&c->residents, turn->run);
    ASSERT(task != NULL && run != NULL);
    foresee_forget(c, run);
    executions_put(&c->executions, turn);
    return task;
}

void foresee_fill(const Coordinator *c, Execution *turn, Commit *commit) { // [foresee-2]
    ASSERT(commit_room(commit) >= 2);
    tasks_fill_result(turn->cause, commit);
    Op *op = commit_add_result(commit, OP_COMMIT_TURN, turn);
    turns_fill(c, turn, &op->in.turn);
    op->in.turn.foreseen_seq = turn->foreseen_seq;
    commit->made_tasks += op->in.turn.task_count;
    commit->foreseen_count++;
}

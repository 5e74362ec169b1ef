// Foreseen turns: the turn that a task's result enables is executed before the result is committed,
// and both are committed together.
//
//     a task came back, or a worker reports it
//         -> PARKED -> EXECUTING -> COMMITTING: completion and turn, side by side
//
// A completion that wakes a run which is in memory and waits for nothing else has one outcome: the
// run goes on with that result. So it goes on at once. That saves a commit per task, and one of two
// writes of the run's row (store/kernel/held.h).
//   [foresee-1] Nothing of the turn leaves before the commit ([coordinator-1] of coordinator.h):
//        like every turn it is an output until then.
//   [foresee-2] The two are neighbours in one batch, in that order, and the store takes the turn
//        only if the completion woke the run as foreseen ([turn-6] of store/kernel/runs/turn.c).
//   [foresee-3] What does not come to pass is dropped: the result is committed by itself, and the
//        run is loaded again, for its machine has gone on. So is a turn that takes more than one
//        slice: the result must not wait for it.
//   [foresee-4] A worker that reports waits for one slice at most. Once its report has a place in a
//        batch it is a request like any other.
//
// Not here: turns of runs that were woken (dispatch.c), what is done with the answers (turns.c).
#include "base/assert.h"
#include "base/limits.h"
#include "engine/coordinator/internal.h"

typedef struct Result { // of a task, that is not committed
    HandedTask task;
    Str data;
} Result;

static bool is_awaited(const ResidentRun *run, const HandedTask *task) {
    bool is_parked = run->phase == PHASE_PARKED || run->phase == PHASE_WATCHED;
    return is_parked && run->awaited_task == task->position && run->machine != NULL &&
           run->deliveries.count == 0 && !run->is_stale && !run->is_fenced && !run->is_reloaded &&
           !run->claim.is_cancel_wanted && run->claim.attempts == 0;
}

// The entry that the completion will write.
static void set_delivery(Execution *turn, const Result *result) {
    ASSERT(turn->view.delivery_count == 0 && turn->foreseen_seq == 0);
    LogRow *entry = ARENA_NEW(&turn->arena, LogRow);
    *entry = (LogRow){.run = turn->run,
                      .seq = turn->view.last_seq + 1,
                      .kind = LOG_WAIT,
                      .position = result->task.position,
                      .slot = result->task.position,
                      .outcome = OUTCOME_OK,
                      .attempt = result->task.attempt,
                      .data = arena_str(&turn->arena, result->data)};
    turn->view.last_seq = turn->foreseen_seq = entry->seq;
    turn->view.deliveries = entry;
    turn->view.delivery_count = 1;
}

// NULL = the run does not go on with that, or not yet.
static Execution *begin(Coordinator *c, const Result *result) {
    if (!coordinator_is_executing(c) || failed_is_pending(c)) return NULL;
    if (result->data.len > LIMIT_PAYLOAD_SIZE) return NULL;
    ResidentRun *run = residents_get(&c->residents, result->task.run);
    bool has_room = own_work_runs_room(&c->own) > 0;
    if (run == NULL || !is_awaited(run, &result->task) || !has_room) return NULL;
    FlowModule *module = NULL;
    Diag diag;
    if (modules_get(&c->modules, run->claim.definition, &module, &diag) != OK) return NULL;
    run->claim.epoch++; // of the claim that comes with the completion
    run->woken_ns = env_monotonic_ns(c->setup.env);
    Execution *turn = dispatch_begin(c, run);
    turn->runner = &c->flow_runner.base;
    turn->view.module = flow_module_retain(module);
    set_delivery(turn, result);
    residents_move(&c->residents, run, PHASE_EXECUTING);
    return turn;
}

bool foresee_turn(Coordinator *c, Execution *task) {
    const NativeCall *call = &task->call;
    const TaskRow *row = &task->task;
    if (row->run == 0 || task->is_undone || call->has_error) return false;
    const Result result = {{row->run, row->position, row->attempt}, call->result};
    Execution *turn = begin(c, &result);
    if (turn == NULL) return false;
    turn->cause = task;
    executions_hand_out(&c->executions, turn);
    return true;
}

bool foresee_report(Coordinator *c, Request *report) {
    const Op *op = &report->op;
    if (op->kind != OP_COMPLETE_TASK) return false;
    Result result = {.data = op->in.complete_task.result};
    if (!handed_take(&c->handed, op->in.complete_task.token, &result.task)) return false;
    Execution *turn = begin(c, &result);
    if (turn == NULL) return false;
    turn->report = report;
    executions_hand_out(&c->executions, turn);
    return true;
}

bool foresee_came_back(Coordinator *c, Execution *turn, const ResidentRun *run) {
    bool is_over = run->is_stale || !resident_has_claim(run, turn->epoch) || turn->is_undone ||
                   turn->output.is_preempted || turn->output.is_unreadable;
    if (is_over) foresee_drop(c, turn, INTAKE_BACK);
    return !is_over;
}

void foresee_forget(Coordinator *c, ResidentRun *run) {
    bool is_woken = run->is_stale || run->is_fenced; // by something else
    run->is_stale = true;
    residents_move(&c->residents, run, is_woken ? PHASE_READY : PHASE_PARKED);
    if (!is_woken) residents_evict(&c->residents, run);
}

void foresee_drop(Coordinator *c, Execution *turn, IntakeEnd end) { // [foresee-3]
    ResidentRun *run = residents_get(&c->residents, turn->run);
    ASSERT(run != NULL && turn->foreseen_seq != 0);
    foresee_forget(c, run);
    if (turn->cause != NULL) intake_add_result(&c->intake, turn->cause, end);
    if (turn->report != NULL) intake_add_request(&c->intake, turn->report, end);
    executions_put(&c->executions, turn);
}

void foresee_refuse_reports(Coordinator *c, Status status, const Diag *diag) {
    for (Execution *turn; (turn = intake_take_foreseen_report(&c->intake)) != NULL;) {
        Request *report = turn->report;
        turn->report = NULL;
        foresee_drop(c, turn, INTAKE_BACK);
        request_answer(report, status, diag);
    }
}

void foresee_fill(const Coordinator *c, Execution *turn, Commit *commit) { // [foresee-2]
    ASSERT(commit_room(commit) >= 2);
    if (turn->report != NULL) commit_add_request(commit, turn->report);
    else tasks_fill_result(turn->cause, commit);
    turn->cause = NULL; // [foresee-4]
    turn->report = NULL;
    Op *op = commit_add_result(commit, OP_COMMIT_TURN, turn);
    turns_fill(c, turn, &op->in.turn);
    op->in.turn.foreseen_seq = turn->foreseen_seq;
    commit->made_tasks += op->in.turn.task_count;
    commit->foreseen_count++;
}

// Apply: what the store answered becomes effects: replies, wake-ups, executions, events.
//
// Everything here happens after the commit answered OK ([coordinator-1] of coordinator.h), in one
// go: first what the batch says of runs, then the answers to those who asked.
//
// Not here: what a run's own turn means (turns.c), commits that failed (failed.c).
#include "engine/coordinator/internal.h"

// Others have written, or died.
static void look_around(Coordinator *c) {
    c->due.is_stale = true;
    coordinator_hear(c);
}

static void apply_fired(Coordinator *c, const Op *op) {
    if (op->out.status != OK) {
        due_clock_fire_failed(&c->due);
        return;
    }
    int64_t fired_count = op->out.fire_due.fired_count, late_ms;
    if (fired_count > 0 && due_clock_late_ms(&c->due, env_now_ms(c->setup.env), &late_ms))
        measure_fired(c->setup.world, fired_count, late_ms);
    due_clock_fired(&c->due, op->out.fire_due.has_more);
}

static void apply_renewed(Coordinator *c, const Op *op) {
    if (c->setup.config.is_exclusive) return;
    if (!op->out.renew.is_quiet) look_around(c); // if no word of what others did has come
    // The next renewal comes when somebody else would be dead: if he is, he is found at once.
    if (op->out.status == OK) due_clock_renew_by(&c->due, op->out.renew.next_end_ms);
}

static void apply_claimed(Coordinator *c, const Op *op) {
    bool is_ok = op->out.status == OK;
    const ClaimReply *reply = &op->out.claim;
    due_clock_claimed(&c->due, !is_ok || reply->count >= op->in.claim.max || reply->is_cut);
    if (is_ok) notices_taken_over(&c->notices, reply->taken_over);
}

static void apply_swept(Coordinator *c, const Op *op) {
    if (op->out.status == OK && op->out.sweep.has_more)
        c->due.sweep_at_ms = env_now_ms(c->setup.env);
    c->due.is_stale = true; // a node that is gone may have been the only one to know
}

static void apply_own(Coordinator *c, const Commit *commit, const Op *op) {
    if (op->out.status != OK) own_work_refused(&c->own, op);
    switch (op->kind) {
    case OP_RENEW: apply_renewed(c, op); break;
    case OP_FIRE_DUE: apply_fired(c, op); break;
    case OP_CLAIM: apply_claimed(c, op); break;
    case OP_CLAIM_TASKS: tasks_apply_claimed(&c->tasks, op, commit->made_tasks); break;
    case OP_HEARTBEAT_TASK: tasks_apply_heartbeat(&c->tasks, op); break;
    case OP_NOTE_RELEASED: idle_apply(&c->idle, op); break;
    case OP_SWEEP: apply_swept(c, op); break;
    default: break;
    }
}

// A worker outside has them now.
static void note_handed_out(Coordinator *c, const Op *op) {
    for (size_t i = 0; i < op->out.claim_tasks.task_count; i++) {
        const TaskRow *task = &op->out.claim_tasks.tasks[i];
        if (residents_get(&c->residents, task->run) != NULL) handed_note(&c->handed, task);
    }
}

static void apply_request(Coordinator *c, Request *request) {
    const Op *op = &request->op;
    if (op->out.status == OK && op->kind == OP_CANCEL)
        world_tell(c->setup.world, ENGINE_LOG_GREW, op->in.cancel.run_id, STR_NULL, STR_NULL);
    else if (op->out.status == OK && (op->kind == OP_PAUSE || op->kind == OP_RESUME))
        world_tell(c->setup.world, ENGINE_LOG_GREW, op->in.hold.run_id, STR_NULL, STR_NULL);
    else if (op->out.status == OK && op->kind == OP_REWIND)
        world_tell(c->setup.world, ENGINE_LOG_GREW, op->in.rewind.run_id, STR_NULL, STR_NULL);
    else if (op->out.status == OK && op->kind == OP_MOVE)
        world_tell(c->setup.world, ENGINE_LOG_GREW, op->in.move.run_id, STR_NULL, STR_NULL);
    else if (idle_is_note(op->kind)) idle_apply(&c->idle, op);
    else if (op->out.status == OK && op->kind == OP_CLAIM_TASKS) note_handed_out(c, op);
    request_finish(request);
}

// [coordinator-1] The batch is durable: everybody learns what became of their part of it.
void apply_commit(Coordinator *c, Commit *commit) {
    c->commit_count++;
    c->operation_count += (int64_t)commit->batch.count;
    if (commit->batch.out.unclaimed_count > 0) c->due.has_unclaimed = true;
    due_clock_left(&c->due, commit->batch.out.left_until_ms);
    if (commit->batch.out.has_tasks) {
        task_window_note_tasks(&c->tasks.window);
        world_tell(c->setup.world, ENGINE_TASKS_READY, STR_NULL, STR_NULL, STR_NULL);
    }
    due_clock_note(&c->due, commit->batch.out.earliest_due_ms);
    for (size_t i = 0; i < commit->batch.out.started_count; i++) {
        const StartedRun *started = &commit->batch.out.started[i];
        world_tell(c->setup.world, ENGINE_RUN_STARTED, started->id, started->workflow, STR_NULL);
    }
    for (size_t i = 0; i < commit->batch.out.reserved_count; i++) {
        const ReservedRun *reserved = &commit->batch.out.reserved[i];
        notices_run(&c->notices, NOTICE_RESERVED, reserved->id, reserved->workflow);
    }
    for (size_t i = 0; i < commit->items.count; i++) {
        const CommitItem *item = &commit->items.data[i];
        measure_task(c->setup.world, item->op, item->execution, commit->batch.now_ms);
    }
    // Runs first: those parked here may have been woken by a later operation of the same batch.
    for (size_t i = 0; i < commit->items.count; i++) {
        CommitItem *item = &commit->items.data[i];
        if (item->execution == NULL) continue;
        if (item->execution->kind == EXECUTE_RUN) turns_apply(c, item->execution, item->op);
        else tasks_apply_result(&c->tasks, item->execution, item->op);
    }
    runs_apply_ready(c, commit);
    runs_apply_ended(c, commit);
    runs_apply_grown(c, commit);
    for (size_t i = 0; i < commit->items.count; i++) {
        CommitItem *item = &commit->items.data[i];
        if (item->request != NULL) apply_request(c, item->request);
        else if (item->execution == NULL) apply_own(c, commit, item->op);
    }
}

void apply_damage(Coordinator *c, const Commit *commit) {
    if (str_is_null(commit->batch.out.damage)) return;
    LOG(c->setup.logger, LOG_ERROR, "%.*s", STR_ARG(commit->batch.out.damage));
    world_tell(c->setup.world, ENGINE_LOG_GREW, STR_NULL, STR_NULL, STR_NULL);
}

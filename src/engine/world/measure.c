// What the world is told, and with which measures: metrics and traces are made from it outside.
//
// Everything here happens after the commit that records it, on the coordinator's thread; nothing is
// kept. A commit whose outcome was unknown and turned out applied is not measured: its answers are
// lost.
//
// Not here: counting (server/observe/metrics.c), spans (server/observe/trace.c).
#include "engine/world/execution.h"

static void tell(World *world, const EngineEvent *event) { world->ops->notify(world, event); }

void world_tell(World *world, EngineEventKind kind, Str run_id, Str workflow, Str detail) {
    EngineEvent event = {.kind = kind, .run_id = run_id, .workflow = workflow, .detail = detail};
    tell(world, &event);
}

bool world_run_has_reader(World *world, Str run_id) {
    return world->ops->has_reader != NULL && world->ops->has_reader(world, run_id);
}

void measure_ended(World *world, const EndedRun *ended, int64_t now_ms) {
    EngineMeasure measure = {
        .began_at_ms = ended->created_at_ms,
        .ended_at_ms = now_ms,
        .state = ended->state,
        .run = ended->run,
        .tags = ended->tags,
    };
    EngineEvent event = {.kind = ENGINE_RUN_ENDED,
                         .run_id = ended->id,
                         .workflow = ended->workflow,
                         .measure = &measure};
    tell(world, &event);
}

void measure_turn(World *world, const Execution *execution, const Op *op) {
    if (execution->began_ns == 0) return; // it failed without having been executed
    bool is_woken = execution->woken_ns != 0 && execution->began_ns >= execution->woken_ns;
    EngineMeasure measure = {
        .began_at_ms = execution->began_at_ms,
        .ended_at_ms = execution->began_at_ms + (int64_t)(execution->took_ns / 1000000),
        .took_ns = (int64_t)execution->took_ns,
        .has_waited = is_woken,
        .waited_ns = is_woken ? (int64_t)(execution->began_ns - execution->woken_ns) : 0,
        .state = op->out.turn.state,
        .number = execution->epoch,
        .before_seq = op->out.turn.before_seq,
        .start_seq = op->out.turn.start_seq,
        .turn_seq = op->out.turn.turn_seq,
        .snapshot_size = (int64_t)op->in.turn.snapshot.len,
        .run = execution->run,
        .tags = execution->view.tags,
    };
    EngineEvent event = {.kind = ENGINE_TURN,
                         .run_id = execution->view.id,
                         .workflow = execution->view.workflow,
                         .measure = &measure};
    tell(world, &event);
}

static void measure_claimed(World *world, const TaskRow *task, int64_t now_ms) {
    int64_t waited_ms = now_ms - task->created_at_ms;
    EngineMeasure measure = {
        .began_at_ms = task->started_at_ms,
        .ended_at_ms = now_ms,
        .has_waited = task->attempt == 1 && waited_ms >= 0,
        .waited_ns = waited_ms * 1000000,
        .state = task->state,
        .number = task->attempt,
        .run = task->run,
        .worker = task->worker,
    };
    EngineEvent event = {
        .kind = ENGINE_TASK_CLAIMED, .name = task->name, .detail = task->id, .measure = &measure};
    tell(world, &event);
}

static void measure_attempt(World *world, const Op *op, const Execution *execution,
                            int64_t now_ms) {
    bool is_failure = op->kind == OP_FAIL_TASK;
    const TaskAttempt *attempt =
        is_failure ? &op->out.fail_task.attempt : &op->out.complete_task.attempt;
    if (str_is_null(attempt->name)) return;
    TaskState failed = is_failure && op->out.fail_task.is_retried ? TASK_QUEUED : TASK_FAILED;
    int64_t took_ms = now_ms - attempt->started_at_ms;
    EngineMeasure measure = {
        .began_at_ms = attempt->started_at_ms,
        .ended_at_ms = now_ms,
        .took_ns = took_ms > 0 ? took_ms * 1000000 : 0,
        .state = is_failure ? failed : TASK_COMPLETED,
        .number = attempt->number,
        .run = attempt->run,
        .worker = attempt->worker,
    };
    if (execution != NULL) measure.took_ns = (int64_t)execution->took_ns; // exact
    EngineEvent event = {.kind = ENGINE_TASK_ENDED,
                         .name = attempt->name,
                         .detail = is_failure ? op->in.fail_task.id : op->in.complete_task.id,
                         .measure = &measure};
    tell(world, &event);
}

void measure_task(World *world, const Op *op, const Execution *execution, int64_t now_ms) {
    if (op->out.status != OK) return;
    if (op->kind == OP_COMPLETE_TASK || op->kind == OP_FAIL_TASK)
        measure_attempt(world, op, execution, now_ms);
    if (op->kind != OP_CLAIM_TASKS) return;
    for (size_t i = 0; i < op->out.claim_tasks.task_count; i++)
        measure_claimed(world, &op->out.claim_tasks.tasks[i], now_ms);
}

void measure_fired(World *world, int64_t fired_count, int64_t late_ms) {
    EngineMeasure measure = {.took_ns = late_ms * 1000000, .number = fired_count};
    EngineEvent event = {.kind = ENGINE_TIMERS_FIRED, .measure = &measure};
    tell(world, &event);
}

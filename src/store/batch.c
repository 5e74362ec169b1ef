// Batches: building one, and forgetting its answers so that it can be submitted again.
//
//   [B1] Operations live in the batch's arena and do not move; a pointer that batch_add answered
//        stays good while the arena does.
//   [B2] batch_clear_answers leaves every input as the caller wrote it. Answers share the structs
//        with the inputs, so each kind lists its own.
#include "store/batch.h"
#include "base/assert.h"

void batch_init(Batch *batch, Arena *arena, int64_t now_ms) {
    *batch = (Batch){.arena = arena, .now_ms = now_ms};
}

void batch_add_op(Batch *batch, Op *op) {
    ASSERT(op->kind > 0 && op->kind < OP_KIND_COUNT);
    if (batch->count == batch->capacity) {
        size_t capacity = batch->capacity > 0 ? 2 * batch->capacity : 16;
        Op **ops = ARENA_ARRAY(batch->arena, Op *, capacity);
        if (batch->count > 0) memcpy(ops, batch->ops, batch->count * sizeof(Op *));
        batch->ops = ops;
        batch->capacity = capacity;
    }
    batch->ops[batch->count++] = op;
}

Op *batch_add(Batch *batch, OpKind kind) {
    Op *op = ARENA_NEW(batch->arena, Op);
    op->kind = kind;
    batch_add_op(batch, op);
    return op;
}

static const char *const op_kind_names[OP_KIND_COUNT] = {
    [OP_JOIN] = "join",
    [OP_RENEW] = "renew",
    [OP_LEAVE] = "leave",
    [OP_DESCRIBE_NODE] = "describe_node",
    [OP_DEFINE] = "define",
    [OP_CREATE_RUN] = "create_run",
    [OP_CLAIM] = "claim",
    [OP_COMMIT_TURN] = "commit_turn",
    [OP_RELEASE] = "release",
    [OP_CREATE_TASK] = "create_task",
    [OP_CLAIM_TASKS] = "claim_tasks",
    [OP_HEARTBEAT_TASK] = "heartbeat_task",
    [OP_COMPLETE_TASK] = "complete_task",
    [OP_FAIL_TASK] = "fail_task",
    [OP_PUBLISH] = "publish",
    [OP_SIGNAL] = "signal",
    [OP_FIRE_DUE] = "fire_due",
    [OP_CANCEL] = "cancel",
    [OP_PAUSE] = "pause",
    [OP_RESUME] = "resume",
    [OP_REWIND] = "rewind",
    [OP_FORK] = "fork",
    [OP_SET_TOPIC] = "set_topic",
    [OP_REPLAY_DEAD_LETTER] = "replay_dead_letter",
    [OP_REMOVE_DEAD_LETTER] = "remove_dead_letter",
    [OP_PURGE_RUN] = "purge_run",
    [OP_SWEEP] = "sweep",
    [OP_APPEND_LOG] = "append_log",
    [OP_RETRY_TASK] = "retry_task",
    [OP_RELEASE_TASK] = "release_task",
    [OP_SET_SCHEDULE] = "set_schedule",
    [OP_REMOVE_SCHEDULE] = "remove_schedule",
    [OP_PAUSE_SCHEDULE] = "pause_schedule",
    [OP_RESUME_SCHEDULE] = "resume_schedule",
    [OP_TRIGGER_SCHEDULE] = "trigger_schedule",
    [OP_BACKFILL_SCHEDULE] = "backfill_schedule",
    [OP_SET_QUEUE] = "set_queue",
    [OP_REMOVE_QUEUE] = "remove_queue",
    [OP_PAUSE_QUEUE] = "pause_queue",
    [OP_RESUME_QUEUE] = "resume_queue",
    [OP_CREATE_TOKEN] = "create_token",
    [OP_REMOVE_TOKEN] = "remove_token",
    [OP_NOTE_RELEASED] = "note_released",
    [OP_NOTE_RELOADED] = "note_reloaded",
    [OP_REMOVE_EVENTS] = "remove_events",
    [OP_REMOVE_SIGNALS] = "remove_signals",
};

const char *op_kind_name(OpKind kind) {
    if (kind <= 0 || kind >= OP_KIND_COUNT) return "unknown";
    return op_kind_names[kind];
}

Str op_run_id(const Op *op) {
    switch (op->kind) {
    case OP_SIGNAL: return op->signal.run_id;
    case OP_CANCEL: return op->cancel.run_id;
    case OP_PAUSE:
    case OP_RESUME: return op->hold.run_id;
    case OP_REWIND: return op->rewind.run_id;
    case OP_FORK: return op->fork.run_id;
    case OP_REMOVE_SIGNALS: return op->remove_events.run_id;
    case OP_PURGE_RUN: return op->purge.run_id;
    case OP_NOTE_RELEASED:
    case OP_NOTE_RELOADED: return op->memory.run_id;
    default: return STR_NULL;
    }
}

static void turn_clear_answers(TurnCommit *turn) {
    turn->state = 0;
    turn->resolved = NULL;
    turn->resolved_count = 0;
    turn->last_seq = 0;
    turn->step_error = STR_NULL;
    turn->is_cancel_wanted = false;
    turn->child_keys = NULL;
    turn->task_keys = NULL;
    if (turn->participant != NULL && turn->log_count > 0) turn->log[0].data = STR_NULL;
}

static void op_clear_more_answers(Op *op);

static void op_clear_answers(Op *op) {
    op->status = OK;
    diag_clear(&op->diag);
    switch (op->kind) {
    case OP_JOIN: op->join.node = 0; break;
    case OP_RENEW:
        op->renew.is_quiet = false;
        op->renew.next_end_ms = 0;
        break;
    case OP_LEAVE: op->leave.released_count = 0; break;
    case OP_DEFINE:
        op->define.key = 0;
        op->define.is_new = false;
        for (size_t i = 0; i < op->define.other_count; i++) {
            op->define.others[i].key = 0;
            op->define.others[i].is_new = false;
        }
        break;
    case OP_CREATE_RUN:
        op->create_run.key = op->create_run.state = 0;
        op->create_run.is_new = false;
        op->create_run.id = STR_NULL;
        break;
    case OP_CLAIM:
        op->claim.count = op->claim.taken_over = op->claim.home_count = 0;
        op->claim.reserved_count = 0;
        op->claim.is_cut = false;
        break;
    case OP_COMMIT_TURN: turn_clear_answers(&op->turn); break;
    case OP_CREATE_TASK:
        op->create_task.key = 0;
        op->create_task.is_new = false;
        break;
    case OP_CLAIM_TASKS:
        op->claim_tasks.tasks = NULL;
        op->claim_tasks.task_count = op->claim_tasks.task_capacity = 0;
        op->claim_tasks.open_at_ms = 0;
        op->claim_tasks.is_cut = false;
        break;
    case OP_HEARTBEAT_TASK: op->heartbeat.is_cancel_wanted = false; break;
    case OP_COMPLETE_TASK: op->complete_task.attempt = (TaskAttempt){0}; break;
    case OP_FAIL_TASK:
        op->fail_task.is_retried = false;
        op->fail_task.retry_at_ms = 0;
        op->fail_task.attempt = (TaskAttempt){0};
        break;
    case OP_PUBLISH:
        op->publish.resumed_count = 0;
        op->publish.is_kept = op->publish.is_duplicate = false;
        break;
    case OP_SIGNAL: op->signal.is_delivered = op->signal.is_duplicate = false; break;
    default: op_clear_more_answers(op); break;
    }
}

static void schedule_clear_answers(Op *op) {
    switch (op->kind) {
    case OP_SET_SCHEDULE:
        op->set_schedule.key = op->set_schedule.next_at_ms = 0;
        op->set_schedule.is_new = false;
        break;
    case OP_TRIGGER_SCHEDULE:
        op->trigger_schedule.run_id = STR_NULL;
        op->trigger_schedule.run = 0;
        op->trigger_schedule.is_new = false;
        break;
    case OP_BACKFILL_SCHEDULE:
        op->backfill.started_count = op->backfill.existing_count = op->backfill.next_ms = 0;
        break;
    default:
        op->schedule.is_changed = false;
        op->schedule.next_at_ms = 0;
        break;
    }
}

static void op_clear_more_answers(Op *op) {
    switch (op->kind) {
    case OP_FIRE_DUE:
        op->fire_due.fired_count = op->fire_due.started_count = op->fire_due.woken_count = 0;
        op->fire_due.ended_count = op->fire_due.task_count = op->fire_due.tick_count = 0;
        op->fire_due.has_more = false;
        break;
    case OP_CANCEL: op->cancel.is_changed = false; break;
    case OP_PAUSE:
    case OP_RESUME: op->hold.is_changed = false; break;
    case OP_REWIND: op->rewind.position = op->rewind.dropped_count = 0; break;
    case OP_FORK: op->fork.key = 0; break;
    case OP_REPLAY_DEAD_LETTER:
    case OP_REMOVE_DEAD_LETTER: op->dead_letter.resumed_count = 0; break;
    case OP_REMOVE_EVENTS:
    case OP_REMOVE_SIGNALS:
        op->remove_events.removed_count = 0;
        op->remove_events.next_key = op->remove_events.newest_key = 0;
        break;
    case OP_SWEEP:
        op->sweep.purged_runs = op->sweep.expired_events = 0;
        op->sweep.expired_keys = op->sweep.reclaimed_runs = 0;
        op->sweep.has_more = false;
        break;
    case OP_SET_SCHEDULE:
    case OP_REMOVE_SCHEDULE:
    case OP_PAUSE_SCHEDULE:
    case OP_RESUME_SCHEDULE:
    case OP_TRIGGER_SCHEDULE:
    case OP_BACKFILL_SCHEDULE: schedule_clear_answers(op); break;
    case OP_REMOVE_QUEUE:
    case OP_PAUSE_QUEUE:
    case OP_RESUME_QUEUE: op->queue.is_changed = false; break;
    case OP_CREATE_TOKEN: op->create_token.key = op->create_token.created_at_ms = 0; break;
    case OP_NOTE_RELEASED:
    case OP_NOTE_RELOADED:
        op->memory.state = op->memory.last_seq = op->memory.idle_since_ms = 0;
        break;
    case OP_RETRY_TASK: op->retry_task.is_changed = false; break;
    case OP_SET_QUEUE:
    case OP_RELEASE:
    case OP_COMPLETE_TASK:
    case OP_SET_TOPIC:
    case OP_PURGE_RUN:
    case OP_APPEND_LOG:
    case OP_RELEASE_TASK:
    case OP_DESCRIBE_NODE:
    case OP_REMOVE_TOKEN: break; // their answer is the status
    default: UNREACHABLE();
    }
}

void *batch_reserve(Batch *batch, void *answers, size_t count, size_t *capacity, size_t size) {
    if (count < *capacity) return answers;
    *capacity = *capacity ? *capacity * 2 : 16;
    void *grown = arena_alloc(batch->arena, *capacity * size);
    if (count > 0) memcpy(grown, answers, count * size);
    return grown;
}

void batch_clear_answers(Batch *batch) {
    for (size_t i = 0; i < batch->count; i++) op_clear_answers(batch->ops[i]);
    batch->has_answers = false;
    batch->ready = NULL;
    batch->started = NULL;
    batch->ended = NULL;
    batch->grown = NULL;
    batch->grown_count = batch->grown_capacity = 0;
    batch->reserved = NULL;
    batch->reserved_count = batch->reserved_capacity = 0;
    batch->ready_count = batch->ready_capacity = 0;
    batch->started_count = batch->started_capacity = 0;
    batch->ended_count = batch->ended_capacity = 0;
    batch->unclaimed_count = 0;
    batch->left_until_ms = 0;
    batch->earliest_due_ms = 0;
    batch->has_tasks = false;
}

// Batches: building one, and forgetting its answers so that it can be submitted again.
//
//   [store-batch-8] Operations live in the batch's arena and do not move; a pointer that batch_add
//        answered stays good while the arena does.
//   [store-batch-9] Forgetting the answers leaves the requests alone: what is submitted again is
//        the same.
//
// Not here: what operations ask and answer (requests.h, replies.h), what they do (kernel/).
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
    [OP_MOVE] = "move",
    [OP_NOTE_RATES] = "note_rates",
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
    case OP_SIGNAL: return op->in.signal.run_id;
    case OP_CANCEL: return op->in.cancel.run_id;
    case OP_PAUSE:
    case OP_RESUME: return op->in.hold.run_id;
    case OP_REWIND: return op->in.rewind.run_id;
    case OP_MOVE: return op->in.move.run_id;
    case OP_FORK: return op->in.fork.run_id;
    case OP_REMOVE_SIGNALS: return op->in.remove_events.run_id;
    case OP_PURGE_RUN: return op->in.purge.run_id;
    case OP_NOTE_RELEASED:
    case OP_NOTE_RELOADED: return op->in.memory.run_id;
    default: return STR_NULL;
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
    for (size_t i = 0; i < batch->count; i++) batch->ops[i]->out = (OpOut){0};
    batch->out = (BatchOut){0};
}

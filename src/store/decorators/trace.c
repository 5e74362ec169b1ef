// Trace: one line per commit and read, one more per operation, in the order of the calls.
//
//   store commit 12 of node 3: 2 operations -> OK, 1 ready, 0 ended, 0 left
//   store   create_run order-17 -> OK
//
//   [T1] Answers pass through unchanged; a trace can be put around any store at any time.
//   [T2] Payloads are never logged: only ids, names, numbers and sizes.
//   [T3] Without debug lines it costs one comparison per call.
#include "store/decorators/trace.h"
#include "base/assert.h"
#include "base/memory.h"

typedef struct TraceStore {
    Store base;
    StoreOps ops; // carries the inner store's name
    Store *inner;
    const Logger *logger;
} TraceStore;

static Status trace_commit(Store *store, Batch *batch, Diag *diag);

static TraceStore *trace_store(Store *store) {
    ASSERT(store->ops->commit == trace_commit);
    return (TraceStore *)store;
}

static const char *const query_kind_names[QUERY_KIND_COUNT] = {
    [QUERY_RUN] = "run",
    [QUERY_RUN_LOAD] = "run_load",
    [QUERY_LOAD_RUNS] = "load_runs",
    [QUERY_LIST_RUNS] = "list_runs",
    [QUERY_STEP] = "step",
    [QUERY_LIST_STEPS] = "list_steps",
    [QUERY_LOG] = "log",
    [QUERY_INPUT] = "input",
    [QUERY_RESULT] = "result",
    [QUERY_PAUSE_REASON] = "pause_reason",
    [QUERY_WAITERS] = "waiters",
    [QUERY_EVENTS] = "events",
    [QUERY_TOPIC] = "topic",
    [QUERY_LIST_TOPICS] = "list_topics",
    [QUERY_DEAD_LETTERS] = "dead_letters",
    [QUERY_TASK] = "task",
    [QUERY_LIST_TASKS] = "list_tasks",
    [QUERY_CLAIMABLE] = "claimable",
    [QUERY_DEFINITION] = "definition",
    [QUERY_LIST_DEFINITIONS] = "list_definitions",
    [QUERY_NODE] = "node",
    [QUERY_LIST_NODES] = "list_nodes",
    [QUERY_DUE] = "due",
    [QUERY_DUE_RUNS] = "due_runs",
    [QUERY_CHILDREN] = "children",
    [QUERY_STATS] = "stats",
    [QUERY_OWNED] = "owned",
    [QUERY_SCHEDULE] = "schedule",
    [QUERY_LIST_SCHEDULES] = "list_schedules",
    [QUERY_QUEUE] = "queue",
    [QUERY_LIST_QUEUES] = "list_queues",
    [QUERY_STATE] = "state",
    [QUERY_LIST_STATES] = "list_states",
    [QUERY_LIST_TOKENS] = "list_tokens",
};

const char *query_kind_name(QueryKind kind) {
    if (kind <= 0 || kind >= QUERY_KIND_COUNT || query_kind_names[kind] == NULL) return "unknown";
    return query_kind_names[kind];
}

// [T2] What the operation is about: an id or a name; empty when a number says it.
static Str op_subject(const Op *op) {
    switch (op->kind) {
    case OP_JOIN: return op->in.join.name;
    case OP_DEFINE: return op->in.define.name;
    case OP_CREATE_RUN: return op->in.create_run.spec.id;
    case OP_CREATE_TASK: return op->in.create_task.spec.id;
    case OP_CLAIM_TASKS: return op->in.claim_tasks.worker;
    case OP_HEARTBEAT_TASK: return op->in.heartbeat.id;
    case OP_COMPLETE_TASK: return op->in.complete_task.id;
    case OP_FAIL_TASK: return op->in.fail_task.id;
    case OP_PUBLISH: return op->in.publish.event.topic;
    case OP_SET_TOPIC: return op->in.set_topic.name;
    case OP_REMOVE_EVENTS: return op->in.remove_events.topic;
    case OP_RETRY_TASK: return op->in.retry_task.id;
    case OP_RELEASE_TASK: return op->in.release_task.id;
    case OP_SET_SCHEDULE: return op->in.set_schedule.row.name;
    case OP_REMOVE_SCHEDULE:
    case OP_PAUSE_SCHEDULE:
    case OP_RESUME_SCHEDULE: return op->in.schedule.name;
    case OP_TRIGGER_SCHEDULE: return op->in.trigger_schedule.name;
    case OP_BACKFILL_SCHEDULE: return op->in.backfill.name;
    case OP_SET_QUEUE: return op->in.set_queue.name;
    case OP_REMOVE_QUEUE:
    case OP_PAUSE_QUEUE:
    case OP_RESUME_QUEUE: return op->in.queue.name;
    case OP_CREATE_TOKEN: return op->in.create_token.id;
    case OP_REMOVE_TOKEN: return op->in.remove_token.id;
    default: return op_run_id(op);
    }
}

static int64_t op_number(const Op *op) {
    switch (op->kind) {
    case OP_COMMIT_TURN: return op->in.turn.run;
    case OP_RELEASE: return op->in.release.run;
    case OP_APPEND_LOG: return op->in.append_log.run;
    case OP_NOTE_RELEASED:
    case OP_NOTE_RELOADED: return op->in.memory.run;
    case OP_CLAIM: return op->out.claim.count;
    case OP_FIRE_DUE: return op->out.fire_due.fired_count;
    case OP_REPLAY_DEAD_LETTER:
    case OP_REMOVE_DEAD_LETTER: return op->in.dead_letter.key;
    default: return 0;
    }
}

static void log_op(const Logger *logger, const Op *op) {
    Str subject = op_subject(op);
    if (!str_is_null(subject)) {
        LOG(logger, LOG_DEBUG, "store   %s %.*s -> %s %s", op_kind_name(op->kind), STR_ARG(subject),
            status_name(op->out.status), op->out.diag.code);
    } else if (op->kind == OP_COMMIT_TURN) {
        LOG(logger, LOG_DEBUG,
            "store   commit_turn %lld epoch %lld next %d, %zu entries -> %s %s, state %s, "
            "%zu resolved",
            (long long)op->in.turn.run, (long long)op->in.turn.epoch, (int)op->in.turn.next,
            op->in.turn.log_count, status_name(op->out.status), op->out.diag.code,
            run_state_name(op->out.turn.state), op->out.turn.resolved_count);
    } else {
        LOG(logger, LOG_DEBUG, "store   %s %lld -> %s %s", op_kind_name(op->kind),
            (long long)op_number(op), status_name(op->out.status), op->out.diag.code);
    }
}

static Status trace_commit(Store *store, Batch *batch, Diag *diag) {
    TraceStore *self = trace_store(store);
    Diag said; // a caller may have given none
    diag_clear(&said);
    Status status = store_commit(self->inner, batch, &said);
    if (status != OK && diag != NULL) *diag = said;
    LOG(self->logger, LOG_DEBUG,
        "store commit %lld of node %lld: %zu operations -> %s %s, %zu ready, %zu ended, %lld left",
        (long long)batch->number, (long long)batch->node, batch->count, status_name(status),
        said.message, batch->out.ready_count, batch->out.ended_count,
        (long long)batch->out.unclaimed_count);
    for (size_t i = 0; i < batch->count && status == OK; i++) log_op(self->logger, batch->ops[i]);
    return status;
}

static Status trace_read(Store *store, Arena *arena, Query *query, Diag *diag) {
    TraceStore *self = trace_store(store);
    Status status = store_read(self->inner, arena, query, diag);
    LOG(self->logger, LOG_DEBUG, "store read %s run \"%.*s\" %lld name \"%.*s\" -> %s, %zu rows",
        query_kind_name(query->kind), STR_ARG(query->run_id), (long long)query->run,
        STR_ARG(query->name), status_name(status), query->count);
    return status;
}

static Status trace_verify(Store *store, int64_t *ret_row_count, Diag *diag) {
    TraceStore *self = trace_store(store);
    Status status = store_verify(self->inner, ret_row_count, diag);
    LOG(self->logger, LOG_DEBUG, "store verify -> %s", status_name(status));
    return status;
}

static void trace_close(Store *store) {
    TraceStore *self = trace_store(store);
    LOG(self->logger, LOG_DEBUG, "store close");
    store_close(self->inner);
    mem_free(self);
}

Store *trace_store_new(Store *inner, const Logger *logger) {
    TraceStore *self = mem_zalloc(sizeof(TraceStore));
    self->ops = (StoreOps){.name = inner->ops->name,
                           .commit = trace_commit,
                           .read = trace_read,
                           .verify = trace_verify,
                           .close = trace_close};
    self->base.ops = &self->ops;
    self->inner = inner;
    self->logger = logger;
    return &self->base;
}

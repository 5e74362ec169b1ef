// Trace: one line per commit and read, one more per operation, in the order of the calls.
//
//   store commit 12 of node 3: 2 operations -> OK, 1 ready, 0 ended, 0 left
//   store   create_run order-17 -> OK
//
//   [decorators-trace-1] Answers pass through unchanged; a trace can be put around any store at any
//        time.
//   [decorators-trace-2] Payloads are never logged: only ids, names, numbers and sizes.
//   [decorators-trace-3] Without debug lines it costs one comparison per call.
#include "store/decorators/trace.h"
#include "base/assert.h"
#include "base/memory.h"
#include "store/read_request.h"

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

#define READ_NAME(KIND, name, verb, Question, Answer) [READ_##KIND] = #name,
static const char *const read_kind_names[READ_KIND_COUNT] = {
    [READ_RUN] = "run", [READ_DUE] = "due", [READ_STATS] = "stats", READ_LIST(READ_NAME)};
#undef READ_NAME

const char *read_kind_name(ReadKind kind) {
    if (kind <= 0 || kind >= READ_KIND_COUNT || read_kind_names[kind] == NULL) return "unknown";
    return read_kind_names[kind];
}

// [decorators-trace-2] What the operation is about: an id or a name; empty when a number says it.
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
    case OP_SET_TOPIC: return op->in.set_topic.row.name;
    case OP_REMOVE_EVENTS: return op->in.remove_events.topic;
    case OP_RETRY_TASK: return op->in.retry_task.id;
    case OP_RELEASE_TASK: return op->in.release_task.id;
    case OP_SET_SCHEDULE: return op->in.set_schedule.row.name;
    case OP_REMOVE_SCHEDULE:
    case OP_PAUSE_SCHEDULE:
    case OP_RESUME_SCHEDULE: return op->in.schedule.name;
    case OP_TRIGGER_SCHEDULE: return op->in.trigger_schedule.name;
    case OP_BACKFILL_SCHEDULE: return op->in.backfill.name;
    case OP_SET_QUEUE: return op->in.set_queue.row.name;
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

// What is asked about: a run, or a name, or a number.
static RunRef read_subject(const ReadRequest *request) {
    const ReadQuestion *in = &request->in;
    switch (request->kind) {
    case READ_RUN: return in->run;
    case READ_RESULT: return in->result;
    case READ_PAUSE_REASON: return in->pause_reason;
    case READ_STATES: return in->states;
    case READ_LOG: return in->log->run;
    case READ_STEP: return in->step->run;
    case READ_STEPS: return in->steps->run;
    case READ_STATE: return in->state->run;
    case READ_SNAPSHOTS: return in->snapshots->run;
    case READ_SIGNALS: return in->signals->run;
    case READ_TASKS: return in->tasks->run;
    case READ_RUN_LOAD: return (RunRef){.key = in->run_load};
    case READ_DEFINITION_BY_KEY: return (RunRef){.key = in->definition_by_key};
    case READ_NODE: return (RunRef){.key = in->node};
    case READ_OWNED: return (RunRef){.key = in->owned->node};
    case READ_TOPIC: return (RunRef){.id = in->topic};
    case READ_TASK: return (RunRef){.id = in->task};
    case READ_QUEUE: return (RunRef){.id = in->queue};
    case READ_SCHEDULE: return (RunRef){.id = in->schedule};
    case READ_WAITERS: return (RunRef){.id = in->waiters->topic};
    case READ_EVENTS: return (RunRef){.id = in->events->topic};
    case READ_CLAIMABLE: return (RunRef){.id = in->claimable->queue};
    case READ_DEFINITION: return (RunRef){.id = in->definition->name};
    case READ_DEFINITIONS: return (RunRef){.id = in->definitions->name};
    default: return (RunRef){0}; // pages of all there are
    }
}

static size_t read_row_count(const ReadRequest *request) {
    const ReadAnswer *out = &request->out;
    switch (request->kind) {
    case READ_RUN_LOAD: return out->run_load.log_count;
    case READ_RUN_LOADS: return out->run_loads.count;
    case READ_RUNS: return out->runs.count;
    case READ_WAITERS: return out->waiters.count;
    case READ_OWNED: return out->owned.count;
    case READ_LOG: return out->log.count;
    case READ_STEPS: return out->steps.count;
    case READ_STATES: return out->states.count;
    case READ_SNAPSHOTS: return out->snapshots.count;
    case READ_EVENTS: return out->events.count;
    case READ_SIGNALS: return out->signals.count;
    case READ_TOPICS: return out->topics.count;
    case READ_DEAD_LETTERS: return out->dead_letters.count;
    case READ_TASKS: return out->tasks.count;
    case READ_CLAIMABLE: return out->claimable.count;
    case READ_QUEUES: return out->queues.count;
    case READ_DEFINITIONS: return out->definitions.count;
    case READ_SCHEDULES: return out->schedules.count;
    case READ_NODES: return out->nodes.count;
    case READ_TOKENS: return out->tokens.count;
    default: return 1; // one thing
    }
}

static Status trace_read(Store *store, Arena *arena, ReadRequest *request, Diag *diag) {
    TraceStore *self = trace_store(store);
    Status status = self->inner->ops->read(self->inner, arena, request, diag);
    RunRef subject = read_subject(request);
    LOG(self->logger, LOG_DEBUG, "store read %s \"%.*s\" %lld -> %s, %zu rows",
        read_kind_name(request->kind), STR_ARG(subject.id), (long long)subject.key,
        status_name(status), status == OK ? read_row_count(request) : 0);
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

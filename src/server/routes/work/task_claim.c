// Task claims: reading them, asking the store, and writing what was leased.
//
// Invariants [task-claim-1], [task-claim-2] are in task_claim.h.
//
// Not here: waiting for tasks (claim.c), secrets of tasks (claim_secrets.c).
#include "server/routes/work/task_claim.h"
#include "base/text/name.h"
#include "model/trace.h"
#include "server/exchange/parts.h"
#include "server/http/connection.h"
#include "server/routes/work/claim_secrets.h"

enum {
    CLAIM_MAX = 1000,      // tasks of one claim
    CLAIM_NAMES_MAX = 256, // queues or names of one claim
    LEASE_DEFAULT_MS = 30000,
    LEASE_MIN_MS = 100,
    LEASE_MAX_MS = 24 * 3600 * 1000
};

// ---- reading ----

static Status read_names(const JsonValue *body, const char *name, Arena *arena,
                         ClaimNames *ret_names, Diag *diag) {
    const JsonValue *list = NULL;
    TRY(json_get_array(body, name, &list, diag));
    if (list == NULL) return OK;
    if (list->count > CLAIM_NAMES_MAX)
        return diag_set(diag, ERR_INVALID, "BAD_FIELD", "%s: at most %d", name, CLAIM_NAMES_MAX);
    ret_names->items = ARENA_ARRAY(arena, Str, list->count);
    JSON_EACH (item, list) {
        if (item->kind != JSON_KIND_STRING)
            return diag_set(diag, ERR_INVALID, "BAD_FIELD", "%s: a list of strings", name);
        TRY(name_check(item->string, name, "BAD_FIELD", LIMIT_NAME_SIZE, diag));
        ret_names->items[ret_names->count++] = item->string;
    }
    return OK;
}

Status task_lease_read(const JsonValue *body, int64_t *ret_ms, Diag *diag) {
    *ret_ms = LEASE_DEFAULT_MS;
    TRY(json_get_duration_ms(body, "lease", ret_ms, diag));
    if (*ret_ms >= LEASE_MIN_MS && *ret_ms <= LEASE_MAX_MS) return OK;
    return diag_set(diag, ERR_INVALID, "BAD_FIELD", "lease: from 100ms to 24h");
}

Status task_claim_read(TaskClaim *claim, Exchange *exchange, const JsonValue *said, int64_t least,
                       Diag *diag) {
    Arena *arena = &exchange->arena;
    claim->exchange = exchange;
    claim->max = 1;
    TRY(json_get_string(said, "worker", &claim->worker, diag));
    TRY(name_check(claim->worker, "worker", "BAD_FIELD", LIMIT_NAME_SIZE, diag));
    TRY(read_names(said, "queues", arena, &claim->queues, diag));
    TRY(read_names(said, "names", arena, &claim->names, diag));
    TRY(json_get_i64(said, "max", &claim->max, diag));
    if (claim->max < least || claim->max > CLAIM_MAX)
        return diag_set(diag, ERR_INVALID, "BAD_FIELD", "max: from %lld to %d", (long long)least,
                        CLAIM_MAX);
    TRY(task_lease_read(said, &claim->lease_ms, diag));
    if (claim->queues.count == 0) {
        claim->queues = (ClaimNames){ARENA_NEW(arena, Str), 1};
        claim->queues.items[0] = STR("default");
    }
    return OK;
}

Str task_claim_kind(const TaskClaim *claim) {
    Arena *arena = &claim->exchange->arena;
    Str kind = STR("");
    for (size_t i = 0; i < claim->queues.count; i++)
        kind = arena_printf(arena, "%.*s\n%.*s", STR_ARG(kind), STR_ARG(claim->queues.items[i]));
    for (size_t i = 0; i < claim->names.count; i++)
        kind = arena_printf(arena, "%.*s\n\n%.*s", STR_ARG(kind), STR_ARG(claim->names.items[i]));
    return kind;
}

static Str join_names(Arena *arena, const ClaimNames *names) {
    Str joined = STR("");
    for (size_t i = 0; i < names->count; i++)
        joined = arena_printf(arena, "%.*s%s%.*s", STR_ARG(joined), i > 0 ? "\n" : "",
                              STR_ARG(names->items[i]));
    return joined;
}

void task_claim_note(const TaskClaim *claim) {
    Exchange *exchange = claim->exchange;
    metrics_saw_worker(&exchange->server->metrics, claim->worker, exchange->began_at_ms);
    WorkerAsk ask = {.queues = join_names(&exchange->arena, &claim->queues),
                     .names = join_names(&exchange->arena, &claim->names)};
    workers_asked(&exchange->server->workers, claim->worker, ask,
                  exchange_header(exchange, "User-Agent"), exchange->began_at_ms);
}

// ---- asking ----

void task_claim_submit(TaskClaim *claim, ExchangeFunction next) {
    Op *op = exchange_op(claim->exchange, OP_CLAIM_TASKS);
    op->in.claim_tasks.worker = claim->worker;
    op->in.claim_tasks.queues = claim->queues.items;
    op->in.claim_tasks.queue_count = claim->queues.count;
    op->in.claim_tasks.names = claim->names.items;
    op->in.claim_tasks.name_count = claim->names.count;
    op->in.claim_tasks.max = claim->max;
    op->in.claim_tasks.lease_ms = claim->lease_ms;
    exchange_submit_any(claim->exchange, next);
}

bool task_claim_fill_secrets(TaskClaim *claim, ExchangeFunction next) { // [task-claim-1]
    Request *failed = NULL;
    size_t count = claim_secrets_fill(claim->exchange, &failed, &claim->is_failed);
    if (count > 0) exchange_submit_all(claim->exchange, failed, count, next);
    return count > 0;
}

bool task_claim_hand_back(TaskClaim *claim, ExchangeFunction next) { // [task-claim-2]
    Exchange *exchange = claim->exchange;
    const Op *op = &exchange->request->op;
    size_t count = op->out.claim_tasks.task_count;
    if (count == 0 || !connection_has_left(exchange)) return false;
    Request *requests = ARENA_ARRAY(&exchange->arena, Request, count);
    for (size_t i = 0; i < count; i++) {
        requests[i].op.kind = OP_RELEASE_TASK;
        requests[i].op.in.release_task.id = op->out.claim_tasks.tasks[i].id;
        requests[i].op.in.release_task.token = op->out.claim_tasks.tasks[i].token;
    }
    exchange_submit_all(exchange, requests, count, next);
    return true;
}

// ---- writing ----

// What the worker's own spans belong to: this attempt.
static void put_trace(Exchange *exchange, JsonWriter *json, const TaskRow *task,
                      const TaskRun *run) {
    bool is_told = !str_is_null(tags_trace(run->tags));
    if (!is_told && exchange->server->tracer == NULL) {
        json_put_null(json, "traceparent");
        json_put_null(json, "tracestate");
        return;
    }
    TraceParent above;
    if (!str_is_null(run->id)) (void)trace_of_run(run->id, run->tags, &above, NULL);
    else above = trace_of_lone_task(task->id);
    TraceParent attempt = trace_of_attempt(&above, task->id, task->attempt);
    json_put_cstr(json, "traceparent", trace_parent_format(&attempt).text);
    json_put_string(json, "tracestate", tags_trace_state(run->tags));
}

static void put_task(Exchange *exchange, JsonWriter *json, const TaskRow *task,
                     const TaskRun *run) {
    json_write_object_begin(json);
    json_put_string(json, "id", task->id);
    json_put_string(json, "name", task->name);
    json_put_string(json, "queue", task->queue);
    json_put_raw(json, "input", task->input);
    json_put_i64(json, "attempt", task->attempt);
    json_put_i64(json, "token", task->token);
    render_instant(json, "lease_until", task->due_at_ms);
    int64_t lease_ms = task->due_at_ms - engine_now_ms(exchange->server->engine);
    json_put_i64(json, "lease_ms", lease_ms > 0 ? lease_ms : 0);
    json_put_string(json, "run_id", run->id);
    if (task->run != 0) json_put_i64(json, "step", task->position);
    else json_put_null(json, "step");
    put_trace(exchange, json, task, run);
    json_write_object_end(json);
}

void task_claim_put(const TaskClaim *claim, JsonWriter *json, const char *name) {
    Exchange *exchange = claim->exchange;
    const Op *op = &exchange->request->op;
    size_t count = op->out.status == OK ? op->out.claim_tasks.task_count : 0;
    json_write_key(json, str_from(name));
    json_write_array_begin(json);
    for (size_t i = 0; i < count; i++)
        if (claim->is_failed == NULL || !claim->is_failed[i])
            put_task(exchange, json, &op->out.claim_tasks.tasks[i], &op->out.claim_tasks.runs[i]);
    json_write_array_end(json);
    if ((int64_t)count == claim->max)
        hub_more_tasks(&exchange->server->hub, task_claim_kind(claim));
}

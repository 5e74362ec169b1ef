// Reports of workers: what became of tasks, and that they are still being done, each for many tasks
// at a time.
//
//   [work-report-1] A worker gets each task with a fencing token; whoever answers with an old one
//        is told so.
//   [work-report-2] Items of one request are answered one by one: a fenced one does not spoil the
//        others.
//   [work-report-3] A claim that comes with reports looks when they are durable, so it also finds
//        what they have led to by then. Whatever becomes of it, the reports are answered.
//
// Not here: claims that wait (claim.c).
#include "base/array.h"
#include "base/text/name.h"
#include "server/exchange/parts.h"
#include "server/routes/work/task_claim.h"

enum {
    RESULTS_MAX = 1000, // items of one request
};

static const Field complete_fields[] = {
    {"results", "objects", true,
     "Each {id, token, result}, {id, token, error: {type, message, retryable?, details?}}, or "
     "{id, token, release: true} to hand it back undone: that attempt does not count."},
    {"claim", "object", false,
     "{worker, queues, names, max, lease}, as in a claim: what is there once the results are "
     "stored comes with the answer, as `tasks`. It does not wait."},
    {0}};
static const Field heartbeat_fields[] = {
    {"tasks", "objects", true, "Each {id, token, progress?}."},
    {"lease", "duration", false, "From now on; 30 s unless given."},
    {0}};

typedef struct Work { // the items of one request
    const JsonValue *list;
    Request *requests;
    size_t count;
    TaskClaim *claim; // NULL = none came with it
} Work;

static Status read_items(const JsonValue *body, const char *name, Arena *arena, Work *work,
                         Diag *diag) {
    TRY(json_get_array(body, name, &work->list, diag));
    if (work->list->count > RESULTS_MAX)
        return diag_set(diag, ERR_INVALID, "BAD_FIELD", "%s: at most %d", name, RESULTS_MAX);
    work->requests = ARENA_ARRAY(arena, Request, work->list->count);
    return OK;
}

static Status read_token(const JsonValue *item, Str *ret_id, int64_t *ret_token, Diag *diag) {
    static const char *const required[] = {"id", "token", NULL};
    TRY(json_require(item, required, diag));
    TRY(json_get_string(item, "id", ret_id, diag));
    TRY(name_check(*ret_id, "id", "BAD_FIELD", LIMIT_NAME_SIZE, diag));
    return json_get_i64(item, "token", ret_token, diag);
}

static Status read_failure(const JsonValue *error, Op *op, Diag *diag) {
    static const char *const allowed[] = {"type", "message", "retryable", "details", NULL};
    bool is_retryable = true;
    op->kind = OP_FAIL_TASK;
    op->in.fail_task.type = STR("Error");
    TRY(json_allow_only(error, allowed, diag));
    TRY(json_get_string(error, "type", &op->in.fail_task.type, diag));
    TRY(json_get_bool(error, "retryable", &is_retryable, diag));
    op->in.fail_task.error = error->raw;
    op->in.fail_task.is_final = !is_retryable;
    if (error->raw.len > LIMIT_ERROR_SIZE)
        return diag_set(diag, ERR_LIMIT, "PAYLOAD_TOO_LARGE",
                        "an error has %zu bytes; at most %d are allowed", error->raw.len,
                        LIMIT_ERROR_SIZE);
    return OK;
}

static Status read_result(const JsonValue *item, Op *op, Diag *diag) {
    static const char *const allowed[] = {"id", "token", "result", "error", "release", NULL};
    Str id;
    int64_t token;
    bool is_release = false;
    TRY(json_allow_only(item, allowed, diag));
    TRY(read_token(item, &id, &token, diag));
    TRY(json_get_bool(item, "release", &is_release, diag));
    if (is_release) {
        op->kind = OP_RELEASE_TASK;
        op->in.release_task.id = id;
        op->in.release_task.token = token;
        return OK;
    }
    const JsonValue *error = NULL;
    TRY(json_get_object(item, "error", &error, diag));
    if (error != NULL) {
        TRY(read_failure(error, op, diag));
        op->in.fail_task.id = id;
        op->in.fail_task.token = token;
        return OK;
    }
    op->kind = OP_COMPLETE_TASK;
    op->in.complete_task.id = id;
    op->in.complete_task.token = token;
    op->in.complete_task.result = parts_raw(item, "result");
    if (op->in.complete_task.result.len > LIMIT_PAYLOAD_SIZE)
        return diag_set(diag, ERR_LIMIT, "PAYLOAD_TOO_LARGE",
                        "a result has %zu bytes; at most %d are allowed",
                        op->in.complete_task.result.len, LIMIT_PAYLOAD_SIZE);
    return OK;
}

static const char *verdict(const Op *op) {
    switch (op->out.status) {
    case OK: return "accepted";
    case ERR_NOT_FOUND: return "not_found";
    case ERR_FENCED:
    case ERR_TERMINAL:
    case ERR_CONFLICT: return "fenced"; // [work-report-1]
    default: return "refused";
    }
}

static void put_why(JsonWriter *json, const Op *op) {
    if (op->out.status == OK) return;
    json_put_cstr(json, "code", op->out.diag.code);
    json_put_cstr(json, "detail", op->out.diag.message);
}

// The store was away for all of them: the worker is to try again.
static bool is_away(Exchange *exchange, const Work *work) {
    for (size_t i = 0; i < work->count; i++) {
        const Op *op = &work->requests[i].op;
        if (!request_is_unanswered(op->out.status)) continue;
        exchange_refuse(exchange, op->out.status, &op->out.diag);
        return true;
    }
    return false;
}

static Str id_of(const Op *op) {
    if (op->kind == OP_FAIL_TASK) return op->in.fail_task.id;
    return op->kind == OP_RELEASE_TASK ? op->in.release_task.id : op->in.complete_task.id;
}

static void put_result(JsonWriter *json, const Op *op) {
    bool is_failure = op->kind == OP_FAIL_TASK;
    json_write_object_begin(json);
    json_put_string(json, "id", id_of(op));
    json_put_cstr(json, "status", verdict(op));
    if (is_failure && op->out.status == OK)
        json_put_bool(json, "retried", op->out.fail_task.is_retried);
    put_why(json, op);
    json_write_object_end(json);
}

static void answer_completed(Exchange *exchange) {
    const Work *work = exchange->state;
    JsonWriter *json = exchange_begin(exchange, 200);
    json_write_object_begin(json);
    json_write_key(json, STR("results"));
    json_write_array_begin(json);
    for (size_t i = 0; i < work->count; i++) put_result(json, &work->requests[i].op);
    json_write_array_end(json);
    if (work->claim != NULL) task_claim_put(work->claim, json, "tasks");
    json_write_object_end(json);
    exchange_send(exchange);
}

static void handed_back(Exchange *exchange) { // to nobody: it has left
    Work *work = exchange->state;
    work->claim = NULL;
    answer_completed(exchange);
}

static void claimed(Exchange *exchange) { // [work-report-3]
    Work *work = exchange->state;
    bool is_ok = exchange->request->op.out.status == OK;
    if (is_ok && task_claim_hand_back(work->claim, handed_back)) return;
    if (is_ok && task_claim_fill_secrets(work->claim, answer_completed)) return;
    answer_completed(exchange);
}

static void completed(Exchange *exchange) {
    const Work *work = exchange->state;
    if (is_away(exchange, work)) return;
    bool is_asking = work->claim != NULL && !server_is_stopping(exchange->server);
    if (is_asking) task_claim_submit(work->claim, claimed);
    else answer_completed(exchange);
}

static Status read_claim(Exchange *exchange, const JsonValue *body, Work *work, Diag *diag) {
    static const char *const allowed[] = {"worker", "queues", "names", "max", "lease", NULL};
    static const char *const required[] = {"worker", NULL};
    const JsonValue *said = NULL;
    TRY(json_get_object(body, "claim", &said, diag));
    if (said == NULL) return OK;
    work->claim = ARENA_NEW(&exchange->arena, TaskClaim);
    TRY(json_allow_only(said, allowed, diag));
    TRY(json_require(said, required, diag));
    TRY(task_claim_read(work->claim, exchange, said, 1, diag));
    task_claim_note(work->claim);
    return OK;
}

static void submit_work(Exchange *exchange, Work *work, ExchangeFunction next) {
    exchange->state = work;
    if (work->count == 0) next(exchange);
    else exchange_submit_all(exchange, work->requests, work->count, next);
}

static void complete_tasks(Exchange *exchange) {
    const JsonValue *body = exchange_object(exchange);
    if (body == NULL) return;
    Work *work = ARENA_NEW(&exchange->arena, Work);
    Diag diag;
    Status status = read_items(body, "results", &exchange->arena, work, &diag);
    if (status == OK)
        JSON_EACH (item, work->list) {
            status = read_result(item, &work->requests[work->count].op, &diag);
            if (status != OK) break;
            work->count++;
        }
    if (status == OK) status = read_claim(exchange, body, work, &diag);
    if (status != OK) exchange_refuse(exchange, status, &diag);
    else submit_work(exchange, work, completed);
}

static void renewed(Exchange *exchange) {
    const Work *work = exchange->state;
    if (is_away(exchange, work)) return;
    JsonWriter *json = exchange_begin(exchange, 200);
    json_write_object_begin(json);
    json_write_key(json, STR("tasks"));
    json_write_array_begin(json);
    for (size_t i = 0; i < work->count; i++) {
        const Op *op = &work->requests[i].op;
        json_write_object_begin(json);
        json_put_string(json, "id", op->in.heartbeat.id);
        bool is_cancelled = op->out.status == OK && op->out.heartbeat.is_cancel_wanted;
        json_put_cstr(json, "status", is_cancelled ? "cancelled" : verdict(op));
        put_why(json, op);
        json_write_object_end(json);
    }
    json_write_array_end(json);
    json_write_object_end(json);
    exchange_send(exchange);
}

static Status read_heartbeat(const JsonValue *item, Op *op, Diag *diag) {
    static const char *const allowed[] = {"id", "token", "progress", NULL};
    op->kind = OP_HEARTBEAT_TASK;
    TRY(json_allow_only(item, allowed, diag));
    TRY(read_token(item, &op->in.heartbeat.id, &op->in.heartbeat.token, diag));
    op->in.heartbeat.progress = parts_raw(item, "progress");
    if (op->in.heartbeat.progress.len > LIMIT_ERROR_SIZE)
        return diag_set(diag, ERR_LIMIT, "PAYLOAD_TOO_LARGE",
                        "a progress has %zu bytes; at most %d are allowed",
                        op->in.heartbeat.progress.len, LIMIT_ERROR_SIZE);
    return OK;
}

static void heartbeat_tasks(Exchange *exchange) {
    const JsonValue *body = exchange_object(exchange);
    if (body == NULL) return;
    Work *work = ARENA_NEW(&exchange->arena, Work);
    int64_t lease_ms;
    Diag diag;
    Status status = task_lease_read(body, &lease_ms, &diag);
    if (status == OK) status = read_items(body, "tasks", &exchange->arena, work, &diag);
    if (status == OK)
        JSON_EACH (item, work->list) {
            Op *op = &work->requests[work->count].op;
            status = read_heartbeat(item, op, &diag);
            if (status != OK) break;
            op->in.heartbeat.lease_ms = lease_ms;
            work->count++;
        }
    if (status != OK) exchange_refuse(exchange, status, &diag);
    else submit_work(exchange, work, renewed);
}

static const RouteAnswer complete_answers[] = {
    {200, "Per item: accepted, fenced, not_found or refused.", "Completed"}, {0}};
static const RouteAnswer heartbeat_answers[] = {
    {200, "Per item: accepted, cancelled, fenced or not_found.", "Renewed"}, {0}};
static const char *const complete_codes[] = {"PAYLOAD_TOO_LARGE", NULL};

static const Route routes[] = {
    {"POST", "/v1/tasks/complete", "completeTasks", "Report what became of tasks", SCOPE_WORKER,
     BODY_OBJECT, complete_fields, NULL, complete_answers, complete_codes, complete_tasks},
    {"POST", "/v1/tasks/heartbeat", "heartbeatTasks", "Keep leases alive", SCOPE_WORKER,
     BODY_OBJECT, heartbeat_fields, NULL, heartbeat_answers, complete_codes, heartbeat_tasks},
};
const RouteTable routes_reports = {routes, COUNT_OF(routes)};

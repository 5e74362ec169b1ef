// The workers' protocol: claim, complete, heartbeat, each for many tasks at a time.
//
// A claim that finds nothing waits: it is registered with the hub before it looks, so no task slips
// through between the two, and looks again when the engine reports that tasks became claimable.
//
//   [work-1] A worker gets each task with a fencing token; whoever answers with an old one is told
//        so.
//   [work-2] Items of one request are answered one by one: a fenced one does not spoil the others.
//   [work-3] Nothing is leased for a worker that is known to be gone: one whose connection is
//        closed, or that has called its waiting claims off. Whoever steps back wakes the next. What
//        was leased while it left is handed back, so that nobody waits for the lease to run out.
//   [work-4] A claim that waits is watched: one whose client has left does not wait on.
//   [work-5] Only the answer of a claim has the texts of secrets.
#include "base/array.h"
#include "base/text/name.h"
#include "model/trace.h"
#include "server/exchange/claim_secrets.h"
#include "server/exchange/parts.h"
#include "server/http/connection.h"
#include "server/http/sleeper.h"

enum {
    CLAIM_MAX = 1000,      // tasks of one claim
    CLAIM_NAMES_MAX = 256, // queues or names of one claim
    RESULTS_MAX = 1000,    // items of one complete or heartbeat
    LEASE_DEFAULT_MS = 30000,
    LEASE_MIN_MS = 100,
    LEASE_MAX_MS = 24 * 3600 * 1000
};

// ---- claim ----

static const Field claim_fields[] = {
    {"worker", "string", true, "Who asks; shown to operators."},
    {"queues", "strings", false, "[\"default\"] unless given."},
    {"names", "strings", false, "Tasks it can do; any unless given."},
    {"max", "integer", false,
     "Most tasks to hand out, 1 to 1000; 1 unless given. 0 hands out none and ends at once the "
     "claims of this worker that still wait: for a worker that is about to stop."},
    {"wait", "duration", false, "Wait this long when there are none."},
    {"lease", "duration", false, "Until it must heartbeat or complete; 30 s unless given."},
    {0}};

typedef struct Names {
    Str *items;
    size_t count;
} Names;

typedef struct Claim {
    HubWaiter waiter;
    Sleeper sleeper;
    Deadline deadline;
    Watch watch;
    Exchange *exchange;
    int64_t until_ms;
    _Atomic bool is_called_off;
    Str worker;
    Names queues, names;
    int64_t max, lease_ms;
    bool is_waiting; // and counted as such
    bool *is_failed; // by task: a secret of it is not set here, so the attempt has failed; or NULL
} Claim;

static void tasks_are_ready(HubWaiter *waiter) {
    sleeper_wake(&container_of(waiter, Claim, waiter)->sleeper);
}

static void claim_is_due(Deadline *deadline) {
    sleeper_wake(&container_of(deadline, Claim, deadline)->sleeper);
}

static void call_claim_off(Claim *claim) {
    atomic_store(&claim->is_called_off, true);
    sleeper_wake(&claim->sleeper);
}

static void worker_left(Watch *watch) {
    call_claim_off(container_of(watch, Claim, watch));
} // [work-4]

static Status read_names(const JsonValue *body, const char *name, Arena *arena, Names *ret_names,
                         Diag *diag) {
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

static Status read_lease(const JsonValue *body, int64_t *ret_ms, Diag *diag) {
    *ret_ms = LEASE_DEFAULT_MS;
    TRY(json_get_duration_ms(body, "lease", ret_ms, diag));
    if (*ret_ms >= LEASE_MIN_MS && *ret_ms <= LEASE_MAX_MS) return OK;
    return diag_set(diag, ERR_INVALID, "BAD_FIELD", "lease: from 100ms to 24h");
}

static Status read_claim(Exchange *exchange, const JsonValue *body, Claim *claim, Diag *diag) {
    Arena *arena = &exchange->arena;
    int64_t wait_ms = 0;
    claim->max = 1;
    TRY(json_get_string(body, "worker", &claim->worker, diag));
    TRY(name_check(claim->worker, "worker", "BAD_FIELD", LIMIT_NAME_SIZE, diag));
    TRY(read_names(body, "queues", arena, &claim->queues, diag));
    TRY(read_names(body, "names", arena, &claim->names, diag));
    TRY(json_get_i64(body, "max", &claim->max, diag));
    if (claim->max < 0 || claim->max > CLAIM_MAX)
        return diag_set(diag, ERR_INVALID, "BAD_FIELD", "max: from 0 to %d", CLAIM_MAX);
    TRY(read_lease(body, &claim->lease_ms, diag));
    TRY(json_get_duration_ms(body, "wait", &wait_ms, diag));
    int64_t longest_ms = exchange->policy->limits.wait_ms;
    if (wait_ms > longest_ms) wait_ms = longest_ms;
    claim->until_ms = server_clock_ms() + wait_ms;
    if (claim->queues.count == 0) {
        claim->queues = (Names){ARENA_NEW(arena, Str), 1};
        claim->queues.items[0] = STR("default");
    }
    return OK;
}

// Workers that ask for the same queues and names are of one kind.
static Str kind_of(Arena *arena, const Claim *claim) {
    Str kind = STR("");
    for (size_t i = 0; i < claim->queues.count; i++)
        kind = arena_printf(arena, "%.*s\n%.*s", STR_ARG(kind), STR_ARG(claim->queues.items[i]));
    for (size_t i = 0; i < claim->names.count; i++)
        kind = arena_printf(arena, "%.*s\n\n%.*s", STR_ARG(kind), STR_ARG(claim->names.items[i]));
    return kind;
}

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

static void render_claimed(Exchange *exchange, JsonWriter *json, const TaskRow *task,
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

static Str join_names(Arena *arena, const Names *names) {
    Str joined = STR("");
    for (size_t i = 0; i < names->count; i++)
        joined = arena_printf(arena, "%.*s%s%.*s", STR_ARG(joined), i > 0 ? "\n" : "",
                              STR_ARG(names->items[i]));
    return joined;
}

static void note_asked(Exchange *exchange, const Claim *claim) {
    WorkerAsk ask = {.queues = join_names(&exchange->arena, &claim->queues),
                     .names = join_names(&exchange->arena, &claim->names)};
    workers_asked(&exchange->server->workers, claim->worker, ask,
                  exchange_header(exchange, "User-Agent"), exchange->began_at_ms);
}

static void set_waiting(Claim *claim, bool is_waiting) {
    Server *server = claim->exchange->server;
    if (claim->is_waiting == is_waiting) return;
    claim->is_waiting = is_waiting;
    workers_waiting(&server->workers, claim->worker, is_waiting ? 1 : -1,
                    engine_now_ms(server->engine));
}

// Nobody wakes it any more.
static void withdraw(Claim *claim) {
    Server *server = claim->exchange->server;
    set_waiting(claim, false);
    hub_remove(&server->hub, &claim->waiter);
    server_clear_deadline(server, &claim->deadline);
    server_unwatch(server, &claim->watch);
}

static void end_claim(Claim *claim) {
    Exchange *exchange = claim->exchange;
    Server *server = exchange->server;
    const Op *op = &exchange->request->op;
    withdraw(claim);
    size_t count = op->out.claim_tasks.task_count;
    if ((int64_t)count == claim->max) hub_more_tasks(&server->hub, claim->waiter.key);
    JsonWriter *json = exchange_begin(exchange, 200);
    json_write_object_begin(json);
    json_write_key(json, STR("tasks"));
    json_write_array_begin(json);
    for (size_t i = 0; i < count; i++)
        if (claim->is_failed == NULL || !claim->is_failed[i])
            render_claimed(exchange, json, &op->out.claim_tasks.tasks[i],
                           &op->out.claim_tasks.runs[i]);
    json_write_array_end(json);
    json_write_object_end(json);
    exchange_send(exchange);
}

static void ask_for_tasks(Exchange *exchange);

static void step_back(Claim *claim) { // [work-3]
    Exchange *exchange = claim->exchange;
    exchange_op(exchange, OP_CLAIM_TASKS);
    Str kind = claim->waiter.key;
    end_claim(claim);
    hub_more_tasks(&exchange->server->hub, kind);
}

// The client went away after a wake-up that it will not follow: another of its kind shall. [work-3]
static void abandon_claim(Exchange *exchange) {
    Claim *claim = exchange->state;
    withdraw(claim);
    hub_more_tasks(&exchange->server->hub, claim->waiter.key);
}

static void handed_back(Exchange *exchange) { step_back(exchange->state); }

static void hand_back(Exchange *exchange) { // [work-3]
    const Op *op = &exchange->request->op;
    size_t count = op->out.claim_tasks.task_count;
    Request *requests = ARENA_ARRAY(&exchange->arena, Request, count);
    for (size_t i = 0; i < count; i++) {
        requests[i].op.kind = OP_RELEASE_TASK;
        requests[i].op.in.release_task.id = op->out.claim_tasks.tasks[i].id;
        requests[i].op.in.release_task.token = op->out.claim_tasks.tasks[i].token;
    }
    exchange_submit_all(exchange, requests, count, handed_back);
}

static void failed_some(Exchange *exchange) { end_claim(exchange->state); }

// [work-5] True: the answer follows when the attempts that lack a secret have been failed.
static bool fill_secrets(Claim *claim) {
    Request *failed = NULL;
    size_t count = claim_secrets_fill(claim->exchange, &failed, &claim->is_failed);
    if (count > 0) exchange_submit_all(claim->exchange, failed, count, failed_some);
    return count > 0;
}

static void claimed(Exchange *exchange) {
    Claim *claim = exchange->state;
    Server *server = exchange->server;
    const Op *op = &exchange->request->op;
    if (op->out.status == ERR_CLOSED) {
        step_back(claim); // there are none for it here any more
        return;
    }
    if (op->out.status != OK) {
        withdraw(claim);
        exchange_refuse(exchange, op->out.status, &op->out.diag);
        return;
    }
    if (op->out.claim_tasks.task_count > 0 && connection_has_left(exchange)) {
        hand_back(exchange);
        return;
    }
    if (fill_secrets(claim)) return;
    bool is_over = server_clock_ms() >= claim->until_ms;
    if (op->out.claim_tasks.task_count > 0 || is_over || server_is_stopping(server)) {
        end_claim(claim);
        return;
    }
    set_waiting(claim, true);
    exchange->next = ask_for_tasks;
    exchange->is_patient = true;
    exchange->stage = EXCHANGE_WAITING;
    server_set_deadline(server, &claim->deadline, claim->until_ms);
    connection_watch(exchange, &claim->watch);
    sleeper_sleep(&claim->sleeper);
}

static void ask_for_tasks(Exchange *exchange) {
    Claim *claim = exchange->state;
    sleeper_begin(&claim->sleeper);
    bool is_unwanted = atomic_load(&claim->is_called_off) || connection_has_left(exchange);
    if (is_unwanted || server_is_stopping(exchange->server)) {
        step_back(claim);
        return;
    }
    Op *op = exchange_op(exchange, OP_CLAIM_TASKS);
    op->in.claim_tasks.worker = claim->worker;
    op->in.claim_tasks.queues = claim->queues.items;
    op->in.claim_tasks.queue_count = claim->queues.count;
    op->in.claim_tasks.names = claim->names.items;
    op->in.claim_tasks.name_count = claim->names.count;
    op->in.claim_tasks.max = claim->max;
    op->in.claim_tasks.lease_ms = claim->lease_ms;
    exchange_submit_any(exchange, claimed);
}

static void call_off(HubWaiter *waiter, const void *context) { // with the hub locked
    Claim *claim = container_of(waiter, Claim, waiter);
    const Str *worker = context;
    if (str_equal(claim->worker, *worker)) call_claim_off(claim);
}

static void call_off_claims(Exchange *exchange, const Claim *claim) {
    hub_each(&exchange->server->hub, HUB_CLAIMERS, call_off, &claim->worker);
    JsonWriter *json = exchange_begin(exchange, 200);
    json_write_object_begin(json);
    json_write_key(json, STR("tasks"));
    json_write_array_begin(json);
    json_write_array_end(json);
    json_write_object_end(json);
    exchange_send(exchange);
}

static void claim_tasks(Exchange *exchange) {
    const JsonValue *body = exchange_object(exchange);
    if (body == NULL) return;
    Claim *claim = ARENA_NEW(&exchange->arena, Claim);
    Diag diag;
    Status status = read_claim(exchange, body, claim, &diag);
    if (status != OK) {
        exchange_refuse(exchange, status, &diag);
        return;
    }
    metrics_saw_worker(&exchange->server->metrics, claim->worker, exchange->began_at_ms);
    if (claim->max == 0) {
        workers_left(&exchange->server->workers, claim->worker);
        call_off_claims(exchange, claim);
        return;
    }
    note_asked(exchange, claim);
    claim->exchange = exchange;
    claim->deadline.due = claim_is_due;
    claim->watch.left = worker_left;
    sleeper_init(&claim->sleeper, exchange->connection);
    claim->waiter = (HubWaiter){
        .kind = HUB_CLAIMERS, .key = kind_of(&exchange->arena, claim), .wake = tasks_are_ready};
    list_init(&claim->waiter.link);
    exchange->state = claim;
    exchange->abandoned = abandon_claim;
    hub_add(&exchange->server->hub, &claim->waiter);
    ask_for_tasks(exchange);
}

// ---- complete and heartbeat ----

static const Field complete_fields[] = {
    {"results", "objects", true,
     "Each {id, token, result}, {id, token, error: {type, message, retryable?, details?}}, or "
     "{id, token, release: true} to hand it back undone: that attempt does not count."},
    {0}};
static const Field heartbeat_fields[] = {
    {"tasks", "objects", true, "Each {id, token, progress?}."},
    {"lease", "duration", false, "From now on; 30 s unless given."},
    {0}};

typedef struct Work { // the items of one request
    const JsonValue *list;
    Request *requests;
    size_t count;
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
    case ERR_CONFLICT: return "fenced"; // [work-1]
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

static void completed(Exchange *exchange) {
    const Work *work = exchange->state;
    if (is_away(exchange, work)) return;
    JsonWriter *json = exchange_begin(exchange, 200);
    json_write_object_begin(json);
    json_write_key(json, STR("results"));
    json_write_array_begin(json);
    for (size_t i = 0; i < work->count; i++) {
        const Op *op = &work->requests[i].op;
        bool is_failure = op->kind == OP_FAIL_TASK;
        json_write_object_begin(json);
        json_put_string(json, "id", id_of(op));
        json_put_cstr(json, "status", verdict(op));
        if (is_failure && op->out.status == OK)
            json_put_bool(json, "retried", op->out.fail_task.is_retried);
        put_why(json, op);
        json_write_object_end(json);
    }
    json_write_array_end(json);
    json_write_object_end(json);
    exchange_send(exchange);
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
    Status status = read_lease(body, &lease_ms, &diag);
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

static const RouteAnswer claim_answers[] = {{200, "Tasks, maybe none.", "Claimed"}, {0}};
static const RouteAnswer complete_answers[] = {
    {200, "Per item: accepted, fenced, not_found or refused.", "Completed"}, {0}};
static const RouteAnswer heartbeat_answers[] = {
    {200, "Per item: accepted, cancelled, fenced or not_found.", "Renewed"}, {0}};
static const char *const complete_codes[] = {"PAYLOAD_TOO_LARGE", NULL};

static const Route routes[] = {
    {"POST", "/v1/tasks/claim", "claimTasks", "Take tasks to be done", SCOPE_WORKER, BODY_OBJECT,
     claim_fields, NULL, claim_answers, NULL, claim_tasks},
    {"POST", "/v1/tasks/complete", "completeTasks", "Report what became of tasks", SCOPE_WORKER,
     BODY_OBJECT, complete_fields, NULL, complete_answers, complete_codes, complete_tasks},
    {"POST", "/v1/tasks/heartbeat", "heartbeatTasks", "Keep leases alive", SCOPE_WORKER,
     BODY_OBJECT, heartbeat_fields, NULL, heartbeat_answers, complete_codes, heartbeat_tasks},
};
const RouteTable routes_work = {routes, COUNT_OF(routes)};

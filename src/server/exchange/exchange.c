// Answering, and talking to the engine.
//
// A handler that submits an operation leaves the connection suspended. The coordinator calls back
// on its own thread once the commit answered; there the few answers that live only as long as the
// batch are copied, and the connection is resumed: a server thread then runs the continuation.
//
// Not here: reading requests (exchange/request.c), waiting for the end of a run (exchange/wait.c),
// answers too long for memory (exchange/spill.c), the bytes on the wire (http.c).
#include "base/array.h"
#include "server/http/problem.h"
#include "server/server.h"
#include <microhttpd.h>
#include <stdio.h>

enum { ANSWER_SIZE_MAX = 64 << 20 };

void exchange_set_header(Exchange *exchange, const char *name, Str value) {
    ASSERT(exchange->header_count < EXCHANGE_HEADERS_MAX);
    exchange->headers[exchange->header_count++] =
        (ExchangeHeader){name, arena_str(&exchange->arena, value)};
}

// ---- answers ----

JsonWriter *exchange_begin(Exchange *exchange, int status) {
    exchange_drop_spill(exchange);
    exchange->status = status;
    exchange->content_type = "application/json";
    buf_done(&exchange->answer);
    buf_init(&exchange->answer, ANSWER_SIZE_MAX);
    json_writer_init(&exchange->json, &exchange->answer, STR_NULL);
    return &exchange->json;
}

void exchange_send(Exchange *exchange) {
    if (exchange->answer.is_overflown) {
        exchange_refuse_with(
            exchange, ERR_LIMIT, "ANSWER_TOO_LARGE",
            "the answer is over %d MiB; ask for fewer items with limit=", ANSWER_SIZE_MAX >> 20);
        return;
    }
    if (exchange->spilled_size > 0 && !exchange_spill_rest(exchange)) return;
    exchange->stage = EXCHANGE_ANSWERED;
}

void exchange_send_text(Exchange *exchange, int status, const char *content_type, Str text) {
    exchange_begin(exchange, status);
    exchange->content_type = content_type;
    buf_append_str(&exchange->answer, text);
    exchange_send(exchange);
}

// The name of the workflow that was not found; null when it is not in the request.
static Str workflow_asked_for(const Exchange *exchange) {
    const Op *op = exchange->request != NULL ? &exchange->request->op : NULL;
    if (op != NULL && op->kind == OP_CREATE_RUN)
        return op->out.status == ERR_NOT_FOUND ? op->in.create_run.spec.workflow : STR_NULL;
    bool is_route =
        exchange->route != NULL && strncmp(exchange->route->pattern, "/v1/workflows/", 14) == 0;
    return is_route ? exchange->parameters[0] : STR_NULL;
}

static void suggest_workflow(Exchange *exchange, Diag *diag) {
    Str name = workflow_asked_for(exchange);
    if (str_is_null(name)) return;
    const char *nearest = engine_nearest_workflow(exchange->server->engine, &exchange->arena, name);
    size_t len = strlen(diag->message);
    if (nearest != NULL)
        snprintf(diag->message + len, sizeof diag->message - len, "; did you mean \"%s\"?",
                 nearest);
}

void exchange_refuse(Exchange *exchange, Status status, const Diag *given) {
    Diag copy = *given;
    const Diag *diag = &copy;
    if (status == ERR_NOT_FOUND) suggest_workflow(exchange, &copy);
    const char *code = problem_code(status, diag);
    int http_status = problem_status(status, code);
    JsonWriter *json = exchange_begin(exchange, http_status);
    if (exchange->route != NULL && route_is_foreign(exchange->route)) {
        problem_write_detail(json, diag->message);
    } else {
        exchange->content_type = "application/problem+json";
        problem_write(json, http_status, code, diag->message);
    }
    if (http_status == 503) exchange_set_header(exchange, "Retry-After", STR("1"));
    exchange->stage = EXCHANGE_ANSWERED;
    atomic_fetch_add(&exchange->server->counters.problems, 1);
}

void exchange_refuse_with(Exchange *exchange, Status status, const char *code, const char *format,
                          ...) {
    Diag diag;
    diag_clear(&diag);
    snprintf(diag.code, sizeof diag.code, "%s", code);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(diag.message, sizeof diag.message, format, arguments);
    va_end(arguments);
    exchange_refuse(exchange, status, &diag);
}

// ---- the engine ----

Store *exchange_store(const Exchange *exchange) { return engine_store(exchange->server->engine); }

int64_t exchange_now_ms(const Exchange *exchange) {
    return engine_now_ms(exchange->server->engine);
}

bool exchange_found(Exchange *exchange, Status status, const Diag *diag) {
    if (status == OK) return true;
    exchange_refuse(exchange, status, diag);
    return false;
}

Op *exchange_op(Exchange *exchange, OpKind kind) {
    if (exchange->request == NULL) exchange->request = ARENA_NEW(&exchange->arena, Request);
    *exchange->request = (Request){.op.kind = kind, .arena = &exchange->arena};
    return &exchange->request->op;
}

void exchange_wake(Exchange *exchange) { MHD_resume_connection(exchange->connection); }

void exchange_suspend(Exchange *exchange, ExchangeFunction next) {
    exchange->next = next;
    exchange->stage = EXCHANGE_WAITING;
    MHD_suspend_connection(exchange->connection);
}

// It is handed over when the handler has returned and nobody else uses the exchange (http.c).
void exchange_offload(Exchange *exchange, ExchangeFunction work) {
    exchange->offloaded = work;
    exchange_suspend(exchange, NULL);
}

static void request_done(Request *request) { // on the coordinator's thread
    Exchange *exchange = request->context;
    exchange_wake(exchange);
}

void exchange_submit_any(Exchange *exchange, ExchangeFunction next) {
    exchange->request->done = request_done;
    exchange->request->context = exchange;
    exchange_suspend(exchange, next);
    engine_submit(exchange->server->engine, exchange->request);
}

static void go_on_if_ok(Exchange *exchange) {
    if (exchange->request->op.out.status == OK) exchange->after_commit(exchange);
    else
        exchange_refuse(exchange, exchange->request->op.out.status,
                        &exchange->request->op.out.diag);
}

void exchange_submit(Exchange *exchange, ExchangeFunction next) {
    exchange->after_commit = next;
    exchange_submit_any(exchange, go_on_if_ok);
}

static void one_done(Request *request) { // on the coordinator's thread
    Exchange *exchange = request->context;
    if (atomic_fetch_sub(&exchange->open_count, 1) == 1) exchange_wake(exchange);
}

void exchange_submit_all(Exchange *exchange, Request *requests, size_t count,
                         ExchangeFunction next) {
    atomic_store(&exchange->open_count, count);
    exchange_suspend(exchange, next);
    for (size_t i = 0; i < count; i++) {
        requests[i].arena = &exchange->arena;
        requests[i].done = one_done;
        requests[i].context = exchange;
    }
    engine_submit_all(exchange->server->engine, requests, count);
}

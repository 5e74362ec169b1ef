// Changing runs: signals, cancel, pause, resume, release, load, rewind, fork, retry, delete.
//
// Every answer says whether anything changed; what has ended does not change (P8). An answer leaves
// after the commit that records the change (P1).
//
// Not here: starting runs and looking at them (routes/runs.c).
#include "base/array.h"
#include "engine/definitions/move.h"
#include "server/exchange/parts.h"

static const char *const change_codes[] = {"RUN_NOT_FOUND", NULL};
static const char *const pause_codes[] = {"RUN_NOT_FOUND", "RUN_TERMINAL", NULL};
static const RouteAnswer changed_answers[] = {{200, "Whether anything changed.", "Changed"}, {0}};

// ---- cancel ----

static const Field cancel_fields[] = {
    {"reason", "string", false, "Kept in the run's history."},
    {"grace", "duration", false, "Time for cleanup; the server's setting unless given."},
    {0}};

static void cancelled(Exchange *exchange) {
    parts_send_changed(exchange, exchange->request->op.out.cancel.is_changed);
}

static void cancel_run(Exchange *exchange) {
    const JsonValue *body = exchange_object(exchange);
    if (body == NULL) return;
    Op *op = exchange_op(exchange, OP_CANCEL);
    op->in.cancel.run_id = exchange->parameters[0];
    op->in.cancel.grace_ms = engine_cancel_grace_ms(exchange->server->engine);
    Str reason = STR_NULL;
    Diag diag;
    Status status = json_get_string(body, "reason", &reason, &diag);
    if (status == OK) status = json_get_duration_ms(body, "grace", &op->in.cancel.grace_ms, &diag);
    if (status != OK) {
        exchange_refuse(exchange, status, &diag);
        return;
    }
    if (!str_is_null(reason)) op->in.cancel.reason = parts_raw(body, "reason");
    exchange_submit(exchange, cancelled);
}

// ---- pause and resume ----

static void held(Exchange *exchange) {
    parts_send_changed(exchange, exchange->request->op.out.hold.is_changed);
}

static void hold_run(Exchange *exchange, OpKind kind) {
    if (exchange_object(exchange) == NULL) return; // {} is all it may be
    exchange_op(exchange, kind)->in.hold.run_id = exchange->parameters[0];
    exchange_submit(exchange, held);
}

static void pause_run(Exchange *exchange) { hold_run(exchange, OP_PAUSE); }
static void resume_run(Exchange *exchange) { hold_run(exchange, OP_RESUME); }

static const char *const release_codes[] = {"RUN_NOT_FOUND", "RUN_TERMINAL", "RUN_NOT_IDLE",
                                            "RUN_HAS_READER", NULL};

static const char *const load_codes[] = {"RUN_NOT_FOUND",    "RUN_TERMINAL",     "RUN_NOT_IDLE",
                                         "SNAPSHOT_CORRUPT", "SNAPSHOT_VERSION", NULL};

static void moved(Exchange *exchange) {
    parts_send_changed(exchange, exchange->request->op.in.memory.has_entry);
}

static void move_run(Exchange *exchange, OpKind kind) {
    if (exchange_object(exchange) == NULL) return;
    Op *op = exchange_op(exchange, kind);
    op->in.memory.run_id = exchange->parameters[0];
    op->in.memory.is_asked = true;
    exchange_submit(exchange, moved);
}

static void release_run(Exchange *exchange) { move_run(exchange, OP_NOTE_RELEASED); }
static void load_run(Exchange *exchange) { move_run(exchange, OP_NOTE_RELOADED); }

// ---- rewind and fork ----

static const Field rewind_fields[] = {
    {"step", "string", true, "Name of the step to go back to."},
    {"iteration", "integer", false,
     "Which of several of that name; 0 is the first. The last unless given."},
    {0}};
#define VERSION_FIELDS                                                                             \
    {"version", "string", false,                                                                   \
     "Version of its workflow in which the new run goes on at that place, at least the first six " \
     "characters of one, or `current`; the version that the run had there unless given."},         \
    {                                                                                              \
        "dry_run", "boolean", false, "Only says whether it can."                                   \
    }
static const Field fork_fields[] = {
    {"step", "string", false, "Name of the step to begin at; from the start unless given."},
    {"iteration", "integer", false,
     "Which of several of that name; 0 is the first. The last unless given."},
    {"id", "string", false, "Id of the new run."},
    VERSION_FIELDS,
    {0}};
static const char *const rewind_codes[] = {"RUN_NOT_FOUND", "STEP_NOT_FOUND", "RUN_TERMINAL",
                                           "SNAPSHOT_NOT_KEPT", NULL};
static const char *const fork_codes[] = {
    "RUN_NOT_FOUND", "STEP_NOT_FOUND", "SNAPSHOT_NOT_KEPT",  "BAD_ID",
    "RUN_EXISTS",    "MOVE_REFUSED",   "WORKFLOW_NOT_FOUND", NULL};

static void rewound(Exchange *exchange) {
    const Op *op = &exchange->request->op;
    JsonWriter *json = exchange_begin(exchange, 200);
    json_write_object_begin(json);
    json_put_bool(json, "changed", true);
    json_put_i64(json, "position", op->out.rewind.position);
    json_put_i64(json, "dropped", op->out.rewind.dropped_count);
    json_write_object_end(json);
    exchange_send(exchange);
}

static void rewind_run(Exchange *exchange) {
    const JsonValue *body = exchange_object(exchange);
    if (body == NULL) return;
    Op *op = exchange_op(exchange, OP_REWIND);
    op->in.rewind.run_id = exchange->parameters[0];
    Diag diag;
    Status status = json_get_string(body, "step", &op->in.rewind.step.name, &diag);
    if (status == OK) status = parts_iteration(body, &op->in.rewind.step, &diag);
    if (status != OK) exchange_refuse(exchange, status, &diag);
    else if (parts_check(exchange, op->in.rewind.step.name, "step", "BAD_FIELD"))
        exchange_submit(exchange, rewound);
}

static void forked(Exchange *exchange) {
    parts_send_run(exchange, 201, exchange->request->op.in.fork.new_id);
}

// ---- forks and retries in another version ----

static void send_dry(Exchange *exchange, const Op *op, const MoveAnswer *answer) {
    RetryId text;
    Str id = op->in.fork.new_id;
    if (str_is_null(id)) id = run_retry_id(op->in.fork.run_id, &text);
    JsonWriter *json = exchange_begin(exchange, 200);
    json_write_object_begin(json);
    json_put_bool(json, "changed", false);
    json_put_string(json, "from", answer->from);
    json_put_string(json, "to", answer->to);
    json_put_string(json, "id", id);
    json_write_object_end(json);
    exchange_send(exchange);
}

// Submits the fork in the version that was asked for, unless it is not possible or not wanted.
static void submit_fork(Exchange *exchange, const JsonValue *body, ExchangeFunction next) {
    Op *op = &exchange->request->op;
    MoveWish wish = {
        .store = exchange_store(exchange), .arena = &exchange->arena, .run_id = op->in.fork.run_id};
    MoveAnswer answer;
    bool is_dry = false;
    Diag diag;
    diag_clear(&diag);
    Status status = json_get_string(body, "version", &wish.version, &diag);
    if (status == OK) status = json_get_bool(body, "dry_run", &is_dry, &diag);
    if (status == OK && is_dry && str_is_null(wish.version))
        status = diag_set(&diag, ERR_INVALID, "BAD_FIELD", "dry_run goes with version");
    if (status == OK && !str_is_null(wish.version))
        status = move_fill_fork(&wish, op, &answer, &diag);
    if (status != OK) exchange_refuse(exchange, status, &diag);
    else if (is_dry) send_dry(exchange, op, &answer);
    else exchange_submit(exchange, next);
}

static void fork_run(Exchange *exchange) {
    const JsonValue *body = exchange_object(exchange);
    if (body == NULL) return;
    Op *op = exchange_op(exchange, OP_FORK);
    op->in.fork.run_id = exchange->parameters[0];
    Diag diag;
    Status status = json_get_string(body, "step", &op->in.fork.step.name, &diag);
    if (status == OK) status = parts_iteration(body, &op->in.fork.step, &diag);
    if (status == OK) status = json_get_string(body, "id", &op->in.fork.new_id, &diag);
    if (status != OK) {
        exchange_refuse(exchange, status, &diag);
        return;
    }
    IdText text;
    if (str_is_null(op->in.fork.new_id))
        op->in.fork.new_id =
            arena_str(&exchange->arena, engine_new_id(exchange->server->engine, "run_", &text));
    else if (!parts_check(exchange, op->in.fork.new_id, "id", "BAD_ID")) return;
    submit_fork(exchange, body, forked);
}

// ---- retry ----

static const Field retry_fields[] = {
    {"id", "string", false, "Id of the new run; made of the old one unless given: `order-7~2`."},
    VERSION_FIELDS,
    {0}};
// One that failed under an earlier version of abide may also answer SNAPSHOT_NOT_KEPT.
static const char *const retry_codes[] = {
    "RUN_NOT_FOUND", "RUN_NOT_FAILED",     "BAD_ID", "RUN_EXISTS",
    "MOVE_REFUSED",  "WORKFLOW_NOT_FOUND", NULL};

static void retried(Exchange *exchange) {
    const Op *op = &exchange->request->op;
    RetryId text;
    Str id = op->in.fork.new_id;
    if (str_is_null(id)) id = run_retry_id(op->in.fork.run_id, &text);
    parts_send_run(exchange, op->out.fork.is_new ? 201 : 200, arena_str(&exchange->arena, id));
}

static void retry_run(Exchange *exchange) {
    const JsonValue *body = exchange_object(exchange);
    if (body == NULL) return;
    Op *op = exchange_op(exchange, OP_FORK);
    op->in.fork.run_id = exchange->parameters[0];
    op->in.fork.is_retry = true;
    Diag diag;
    Status status = json_get_string(body, "id", &op->in.fork.new_id, &diag);
    if (status != OK) exchange_refuse(exchange, status, &diag);
    else if (str_is_null(op->in.fork.new_id) ||
             parts_check(exchange, op->in.fork.new_id, "id", "BAD_ID"))
        submit_fork(exchange, body, retried);
}

// ---- delete ----

static void purged(Exchange *exchange) { exchange_send_text(exchange, 204, NULL, STR("")); }

static void delete_run(Exchange *exchange) {
    exchange_op(exchange, OP_PURGE_RUN)->in.purge.run_id = exchange->parameters[0];
    exchange_submit(exchange, purged);
}

// ---- signals ----

static const Field signal_query[] = {
    {"id", "string", false, "Deduplicates: a second signal with this id does nothing."}, {0}};

static void signalled(Exchange *exchange) {
    const Op *op = &exchange->request->op;
    JsonWriter *json = exchange_begin(exchange, 202);
    json_write_object_begin(json);
    json_put_string(json, "event_id", op->in.signal.id);
    json_put_bool(json, "delivered", op->out.signal.is_delivered);
    json_put_bool(json, "duplicate", op->out.signal.is_duplicate);
    json_write_object_end(json);
    exchange_send(exchange);
}

static void signal_run(Exchange *exchange) {
    Op *op = exchange_op(exchange, OP_SIGNAL);
    op->in.signal.run_id = exchange->parameters[0];
    op->in.signal.name = exchange->parameters[1];
    if (!parts_check(exchange, op->in.signal.name, "the signal's name", "BAD_NAME")) return;
    if (!exchange_payload(exchange, &op->in.signal.payload)) return;
    op->in.signal.id = exchange_query(exchange, "id");
    op->in.signal.is_deduplicated = !str_is_null(op->in.signal.id);
    IdText text;
    if (!op->in.signal.is_deduplicated)
        op->in.signal.id =
            arena_str(&exchange->arena, engine_new_id(exchange->server->engine, "evt_", &text));
    else if (!parts_check(exchange, op->in.signal.id, "id", "BAD_KEY")) return;
    exchange_submit(exchange, signalled);
}

static const RouteAnswer signal_answers[] = {{202, "It is durable.", "Signalled"}, {0}};
static const RouteAnswer fork_answers[] = {
    {201, "The new run.", "Run"}, {200, "What a dry run says.", "Changed"}, {0}};
static const RouteAnswer retry_answers[] = {
    {201, "The new run.", "Run"},
    {200, "The run that took it up before, or what a dry run says.", "Run|Changed"},
    {0}};
static const RouteAnswer rewind_answers[] = {{200, "What was dropped.", "Rewound"}, {0}};
static const RouteAnswer purge_answers[] = {{204, "It is gone.", NULL}, {0}};
static const char *const signal_codes[] = {"RUN_NOT_FOUND", "RUN_TERMINAL",     "BAD_KEY",
                                           "BAD_NAME",      "TOO_MANY_SIGNALS", NULL};
static const char *const purge_codes[] = {"RUN_NOT_FOUND", "RUN_NOT_TERMINAL", NULL};

static const Route routes[] = {
    {"POST", "/v1/runs/{id}/cancel", "cancelRun", "Ask a run to end", SCOPE_CLIENT,
     BODY_OPTIONAL_OBJECT, cancel_fields, NULL, changed_answers, change_codes, cancel_run},
    {"POST", "/v1/runs/{id}/pause", "pauseRun", "Hold a run", SCOPE_CLIENT, BODY_OPTIONAL_OBJECT,
     NULL, NULL, changed_answers, pause_codes, pause_run},
    {"POST", "/v1/runs/{id}/resume", "resumeRun", "Let a held run go on", SCOPE_CLIENT,
     BODY_OPTIONAL_OBJECT, NULL, NULL, changed_answers, change_codes, resume_run},
    {"POST", "/v1/runs/{id}/release", "releaseRun", "Take a waiting run out of memory",
     SCOPE_CLIENT, BODY_OPTIONAL_OBJECT, NULL, NULL, changed_answers, release_codes, release_run},
    {"POST", "/v1/runs/{id}/load", "loadRun", "Bring a released run into memory", SCOPE_CLIENT,
     BODY_OPTIONAL_OBJECT, NULL, NULL, changed_answers, load_codes, load_run},
    {"POST", "/v1/runs/{id}/rewind", "rewindRun", "Go back to a step", SCOPE_CLIENT, BODY_OBJECT,
     rewind_fields, NULL, rewind_answers, rewind_codes, rewind_run},
    {"POST", "/v1/runs/{id}/fork", "forkRun", "A new run from a step of this one", SCOPE_CLIENT,
     BODY_OPTIONAL_OBJECT, fork_fields, NULL, fork_answers, fork_codes, fork_run},
    {"POST", "/v1/runs/{id}/retry", "retryRun",
     "Take up a failed run at its last good place, by a new run", SCOPE_CLIENT,
     BODY_OPTIONAL_OBJECT, retry_fields, NULL, retry_answers, retry_codes, retry_run},
    {"DELETE", "/v1/runs/{id}", "deleteRun", "Remove an ended run and all that belongs to it",
     SCOPE_CLIENT, BODY_NONE, NULL, NULL, purge_answers, purge_codes, delete_run},
    {"POST", "/v1/runs/{id}/signals/{name}", "signalRun", "Send a signal; the body is its payload",
     SCOPE_CLIENT, BODY_PAYLOAD, NULL, signal_query, signal_answers, signal_codes, signal_run},
};
const RouteTable routes_changes = {routes, COUNT_OF(routes)};

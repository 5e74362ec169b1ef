// Moving runs to another version of their script.
//
// It is decided by the thread of the exchange, on what the store says; then one operation writes
// it. With `dry_run` nothing is written, and the answer is the same.
//
// Not here: what can move (flow/move), the operation (engine/definitions/move.c).
#include "engine/definitions/move.h"
#include "base/array.h"
#include "server/exchange/parts.h"

static const Field move_fields[] = {
    {"version", "string", false,
     "Version of its workflow, or at least the first six characters of one; the current one unless "
     "given."},
    {"dry_run", "boolean", false, "Only says whether it can be moved."},
    {0}};
// One that goes on while it is looked at answers RUN_CHANGED.
static const char *const move_codes[] = {
    "RUN_NOT_FOUND",    "RUN_NOT_PARKED",   "MOVE_REFUSED",        "WORKFLOW_NOT_FOUND",
    "SNAPSHOT_CORRUPT", "SNAPSHOT_VERSION", "SNAPSHOT_OTHER_CODE", NULL};

static void send_moved(Exchange *exchange, const MoveAnswer *answer, bool is_changed) {
    JsonWriter *json = exchange_begin(exchange, 200);
    json_write_object_begin(json);
    json_put_bool(json, "changed", is_changed);
    json_put_string(json, "from", answer->from);
    json_put_string(json, "to", answer->to);
    json_write_object_end(json);
    exchange_send(exchange);
}

static void moved(Exchange *exchange) { // the note has both versions
    const Op *op = &exchange->request->op;
    Diag diag;
    JsonValue *note = NULL;
    MoveAnswer answer = {0};
    Status status = json_parse(&exchange->arena, op->in.move.note, &note, &diag);
    if (status == OK) status = json_get_string(note, "from", &answer.from, &diag);
    if (status == OK) status = json_get_string(note, "to", &answer.to, &diag);
    if (status == OK) send_moved(exchange, &answer, true);
    else exchange_refuse(exchange, status, &diag);
}

static void move_run(Exchange *exchange) {
    const JsonValue *body = exchange_object(exchange);
    if (body == NULL) return;
    MoveWish wish = {.store = exchange_store(exchange),
                     .arena = &exchange->arena,
                     .run_id = exchange->parameters[0]};
    MoveAnswer answer;
    Op made = {0};
    bool is_dry = false;
    Diag diag;
    diag_clear(&diag);
    Status status = json_get_string(body, "version", &wish.version, &diag);
    if (status == OK) status = json_get_bool(body, "dry_run", &is_dry, &diag);
    if (status == OK) status = move_fill(&wish, &made, &answer, &diag);
    if (status != OK) {
        exchange_refuse(exchange, status, &diag);
    } else if (answer.is_there || is_dry) {
        send_moved(exchange, &answer, false);
    } else {
        exchange_op(exchange, OP_MOVE)->in.move = made.in.move;
        exchange_submit(exchange, moved);
    }
}

static const RouteAnswer move_answers[] = {{200, "Whether it was moved.", "Changed"}, {0}};

static const Route routes[] = {
    {"POST", "/v1/runs/{id}/move", "moveRun",
     "Put a parked run on another version of its script, at the same place", SCOPE_CLIENT,
     BODY_OPTIONAL_OBJECT, move_fields, NULL, move_answers, move_codes, move_run},
};
const RouteTable routes_move = {routes, COUNT_OF(routes)};

// Setting variables of parked scripts.
//
// As with a move (move.c): worked out by the thread of the exchange, written by one operation. With
// `dry_run` nothing is written, and the answer says what would change.
//
// Not here: what can be set (flow/set.h), the operation (engine/definitions/set.c).
#include "engine/definitions/set.h"
#include "base/array.h"
#include "server/exchange/parts.h"

static const Field set_fields[] = {
    {"values", "objects", true,
     "Each {path, value}: `order.items[3].price`, and any JSON. All are set or none."},
    {"dry_run", "boolean", false, "Only says what would change."},
    {0}};
// One that goes on while it is looked at answers RUN_CHANGED.
static const char *const set_codes[] = {"RUN_NOT_FOUND", "RUN_NOT_PARKED",     "SET_REFUSED",
                                        "BAD_PATH",      "VARIABLE_NOT_FOUND", NULL};

static void send_set(Exchange *exchange, Str changes, bool is_changed) {
    JsonWriter *json = exchange_begin(exchange, 200);
    json_write_object_begin(json);
    json_put_bool(json, "changed", is_changed);
    json_put_raw(json, "values", changes);
    json_write_object_end(json);
    exchange_send(exchange);
}

static void was_set(Exchange *exchange) { // the note has the changes
    Diag diag;
    JsonValue *note = NULL;
    Str changes = STR("[]");
    Status status = json_parse(&exchange->arena, exchange->request->op.in.move.note, &note, &diag);
    if (status == OK) json_get_raw(note, "values", &changes);
    if (status == OK) send_set(exchange, changes, true);
    else exchange_refuse(exchange, status, &diag);
}

static void set_variables(Exchange *exchange) {
    const JsonValue *body = exchange_object(exchange);
    if (body == NULL) return;
    SetWish wish = {.store = exchange_store(exchange),
                    .arena = &exchange->arena,
                    .run_id = exchange->parameters[0],
                    .values = json_member(body, STR("values")),
                    .by = exchange->caller};
    Str changes;
    Op made = {0};
    bool is_dry = false;
    Diag diag;
    diag_clear(&diag);
    Status status = json_get_bool(body, "dry_run", &is_dry, &diag);
    if (status == OK) status = set_fill(&wish, &made, &changes, &diag);
    if (status != OK) {
        exchange_refuse(exchange, status, &diag);
    } else if (is_dry) {
        send_set(exchange, changes, false);
    } else {
        exchange_op(exchange, OP_MOVE)->in.move = made.in.move;
        exchange_submit(exchange, was_set);
    }
}

static const RouteAnswer set_answers[] = {{200, "What was set.", "VariablesSet"}, {0}};

static const Route routes[] = {
    {"POST", "/v1/runs/{id}/set", "setVariables", "Give variables of a parked run other values",
     SCOPE_CLIENT, BODY_OBJECT, set_fields, NULL, set_answers, set_codes, set_variables},
};
const RouteTable routes_set = {routes, COUNT_OF(routes)};

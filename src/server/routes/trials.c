// What a run would do: a copy of it goes on with answers that the caller makes up.
//
// The answer is the report of the sandbox as it is. A request is bounded by what a sandbox may do.
//
// Not here: the sandbox itself (engine/sandbox), where a run stands now (inspect.c).
#include "base/array.h"
#include "engine/sandbox/sandbox.h"
#include "server/exchange/parts.h"

static const Field try_fields[] = {
    {"tasks", "objects", false, "Each {name, result} or {name, error}: whenever it is asked for."},
    {"children", "objects", false,
     "Child workflows, each {name, result} or {name, error}: whenever it is asked for."},
    {"signals", "objects", false, "Each {name, payload?}: once."},
    {"events", "objects", false, "Each {topic, payload?}: once."},
    {"time", "duration", false, "How much time may pass; none unless given."},
    {"turn", "integer", false, "Begin as that kept turn began; as it is now unless given."},
    {"version", "string", false,
     "Put the copy on this version of its workflow first, or on the `current` one."},
    {"source", "string", false, "The same with a version that is not deployed."},
    {0}};

static void try_now(Exchange *exchange) {
    const JsonValue *body = exchange_object(exchange);
    if (body == NULL) return;
    SandboxAnswers answers;
    SandboxRun what = {exchange_store(exchange), exchange->parameters[0], &answers,
                       exchange_now_ms(exchange),
                       engine_isolates_children(exchange->server->engine)};
    Diag diag = {0};
    Str report;
    Status status = sandbox_read_answers(&exchange->arena, body, &answers, &diag);
    if (status == OK) status = sandbox_try(&what, &exchange->arena, &report, &diag);
    if (status == OK) exchange_send_text(exchange, 200, "application/json", report);
    else exchange_refuse(exchange, status, &diag);
}

static void try_run(Exchange *exchange) { exchange_offload(exchange, try_now); }

static const RouteAnswer try_answers[] = {{200, "What it would do.", "Trial"}, {0}};
static const char *const try_codes[] = {"RUN_NOT_FOUND",
                                        "RUN_TERMINAL",
                                        "BAD_NAME",
                                        "RUN_NOT_SCRIPT",
                                        "TURN_NOT_KEPT",
                                        "WORKFLOW_NOT_FOUND",
                                        "MOVE_REFUSED",
                                        "FLOW_SYNTAX",
                                        "FLOW_CHECK",
                                        "SNAPSHOT_CORRUPT",
                                        "SNAPSHOT_VERSION",
                                        "SNAPSHOT_OTHER_CODE",
                                        NULL};

static const Route routes[] = {
    {"POST", "/v1/runs/{id}/try", "tryRun",
     "What a run would do with these answers; nothing is written and nothing leaves", SCOPE_CLIENT,
     BODY_OPTIONAL_OBJECT, try_fields, NULL, try_answers, try_codes, try_run},
};
const RouteTable routes_trials = {routes, COUNT_OF(routes)};

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
    {"signals", "objects", false, "Each {name, payload?}: once."},
    {"events", "objects", false, "Each {topic, payload?}: once."},
    {"time", "duration", false, "How much time may pass; none unless given."},
    {0}};

static void try_run(Exchange *exchange) {
    const JsonValue *body = exchange_object(exchange);
    if (body == NULL) return;
    SandboxAnswers answers;
    SandboxRun what = {exchange_store(exchange), exchange->parameters[0], &answers,
                       exchange_now_ms(exchange)};
    Diag diag = {0};
    Str report;
    Status status = sandbox_read_answers(&exchange->arena, body, &answers, &diag);
    if (status == OK) status = sandbox_try(&what, &exchange->arena, &report, &diag);
    if (status == OK) exchange_send_text(exchange, 200, "application/json", report);
    else exchange_refuse(exchange, status, &diag);
}

static const RouteAnswer try_answers[] = {{200, "What it would do.", "Trial"}, {0}};
static const char *const try_codes[] = {"RUN_NOT_FOUND", "RUN_TERMINAL", "BAD_NAME",
                                        "RUN_NOT_SCRIPT", NULL};

static const Route routes[] = {
    {"POST", "/v1/runs/{id}/try", "tryRun",
     "What a run would do with these answers; nothing is written and nothing leaves", SCOPE_CLIENT,
     BODY_OPTIONAL_OBJECT, try_fields, NULL, try_answers, try_codes, try_run},
};
const RouteTable routes_trials = {routes, COUNT_OF(routes)};

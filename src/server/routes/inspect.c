// Where a run stands: the lines of its script it waits at, what is in its variables, what weighs.
//
// The answers are those of the engine as they are. Opening a snapshot may take long, so it is done
// beside the server's threads (exchange_offload).
//
// Not here: what is answered (engine/inspect).
#include "engine/inspect/inspect.h"
#include "base/array.h"
#include "server/exchange/parts.h"

static void send(Exchange *exchange, Status status, Str json, const Diag *diag) {
    if (status == OK) exchange_send_text(exchange, 200, "application/json", json);
    else exchange_refuse(exchange, status, diag);
}

static StandingWish wish_of(Exchange *exchange) {
    return (StandingWish){.store = exchange_store(exchange),
                          .arena = &exchange->arena,
                          .run_id = exchange->parameters[0]};
}

static void snapshot(Exchange *exchange) {
    InspectWish wish = {.standing = wish_of(exchange), .path = exchange_query(exchange, "path")};
    if (wish.path.len == 0) wish.path = STR_NULL;
    if (!exchange_query_count(exchange, "depth", INSPECT_DEPTH_MAX, &wish.depth)) return;
    if (!exchange_query_count(exchange, "turn", INT64_MAX, &wish.standing.turn)) return;
    Diag diag = {0};
    Str json = STR_NULL;
    Status status = inspect_snapshot(&wish, &json, &diag);
    send(exchange, status, json, &diag);
}

static void get_snapshot(Exchange *exchange) { exchange_offload(exchange, snapshot); }

static void turns(Exchange *exchange) {
    InspectTurns wish = {exchange_store(exchange), &exchange->arena, exchange->parameters[0], {0}};
    if (!parts_page(exchange, &wish.page)) return;
    Diag diag = {0};
    Str json = STR_NULL;
    Status status = inspect_turns(&wish, &json, &diag);
    send(exchange, status, json, &diag);
}

static void list_turns(Exchange *exchange) { exchange_offload(exchange, turns); }

static void diff(Exchange *exchange) {
    StandingWish from = wish_of(exchange);
    int64_t to = 0;
    if (!exchange_query_count(exchange, "from", INT64_MAX, &from.turn)) return;
    if (!exchange_query_count(exchange, "to", INT64_MAX, &to)) return;
    Diag diag = {0};
    Str json = STR_NULL;
    Status status = inspect_diff(&from, to, &json, &diag);
    send(exchange, status, json, &diag);
}

static void diff_turns(Exchange *exchange) { exchange_offload(exchange, diff); }

static bool query_secrets(Exchange *exchange, bool *ret_is_wanted) {
    Str text = exchange_query(exchange, "secrets");
    *ret_is_wanted = str_equal(text, STR("true"));
    if (str_is_null(text) || *ret_is_wanted || str_equal(text, STR("false"))) return true;
    exchange_refuse_with(exchange, ERR_INVALID, "BAD_QUERY", "secrets: true or false");
    return false;
}

// A copy has all data of its run: where some of it is hidden, only an admin gets one, who says so.
static bool may_copy(Exchange *exchange, bool is_wanted) {
    RunRow run;
    if (!parts_find_run(exchange, exchange->parameters[0], &run)) return false;
    if (engine_mask(exchange->server->engine, run.definition) == NULL) return true;
    bool is_admin = (exchange->scopes & SCOPE_ADMIN) != 0;
    if (!is_wanted || !is_admin) {
        exchange_refuse_with(exchange, ERR_INVALID, "DATA_HIDDEN",
                             "config.secret of \"%.*s\" hides data of the run, and a copy has all "
                             "of it: %s",
                             STR_ARG(run.workflow),
                             is_admin ? "ask with secrets=true" : "that needs the scope admin");
        return false;
    }
    LOG(exchange->server->config.logger, LOG_WARN,
        "run %.*s: a copy with its secret data was given%s%.*s", STR_ARG(run.id),
        str_is_null(exchange->caller) ? "" : " to the token ", STR_ARG(exchange->caller));
    return true;
}

static void copy(Exchange *exchange) {
    StandingWish wish = wish_of(exchange);
    bool is_wanted;
    if (!exchange_query_count(exchange, "turn", INT64_MAX, &wish.turn)) return;
    if (!query_secrets(exchange, &is_wanted) || !may_copy(exchange, is_wanted)) return;
    Diag diag = {0};
    Str json = STR_NULL;
    Status status = inspect_copy(&wish, &json, &diag);
    send(exchange, status, json, &diag);
}

static void get_copy(Exchange *exchange) { exchange_offload(exchange, copy); }

static const Field page_query[] = {PAGE_FIELDS, {0}};
static const Field diff_query[] = {
    {"from", "integer", false, "A kept turn; as it is now unless given."},
    {"to", "integer", false, "Another one; as it is now unless given."},
    {0}};
static const RouteAnswer turns_answers[] = {{200, "Its kept turns.", "TurnList"}, {0}};
static const RouteAnswer diff_answers[] = {{200, "What changed.", "Diff"}, {0}};
static const char *const turns_codes[] = {"RUN_NOT_FOUND", NULL};
static const char *const diff_codes[] = {"RUN_NOT_FOUND",       "TURN_NOT_KEPT",
                                         "SNAPSHOT_CORRUPT",    "SNAPSHOT_VERSION",
                                         "SNAPSHOT_OTHER_CODE", NULL};
static const Field snapshot_query[] = {
    {"depth", "integer", false, "Levels of each value that are shown, up to 16; 0 unless given."},
    {"turn", "integer", false, "As that kept turn began; as it is now unless given."},
    {"path", "string", false, "One value besides: `order.items[3].price`, with more of its text."},
    {0}};
static const RouteAnswer snapshot_answers[] = {{200, "Where it stands.", "Snapshot"}, {0}};
static const char *const snapshot_codes[] = {
    "RUN_NOT_FOUND",    "BAD_PATH",         "VARIABLE_NOT_FOUND",  "TURN_NOT_KEPT",
    "SNAPSHOT_CORRUPT", "SNAPSHOT_VERSION", "SNAPSHOT_OTHER_CODE", NULL};
static const Field copy_query[] = {
    {"turn", "integer", false, "As that kept turn began; as it is now unless given."},
    {"secrets", "boolean", false,
     "With the data that config.secret hides; needs the scope admin, and is logged."},
    {0}};
static const RouteAnswer copy_answers[] = {{200, "The copy.", "RunCopy"}, {0}};
static const char *const copy_codes[] = {
    "RUN_NOT_FOUND", "DATA_HIDDEN",      "RUN_TERMINAL",     "RUN_NOT_SCRIPT",
    "TURN_NOT_KEPT", "SNAPSHOT_CORRUPT", "SNAPSHOT_VERSION", NULL};

static const Route routes[] = {
    {"GET", "/v1/runs/{id}/copy", "copyRun",
     "What a debugger needs to go on with a copy of a run: script, snapshot, deliveries",
     SCOPE_CLIENT, BODY_NONE, NULL, copy_query, copy_answers, copy_codes, get_copy},
    {"GET", "/v1/runs/{id}/snapshot", "getSnapshot", "Where a run stands: lines, variables, bytes",
     SCOPE_READ, BODY_NONE, NULL, snapshot_query, snapshot_answers, snapshot_codes, get_snapshot},
    {"GET", "/v1/runs/{id}/turns", "listTurns", "Turns of a run that can be looked at", SCOPE_READ,
     BODY_NONE, NULL, page_query, turns_answers, turns_codes, list_turns},
    {"GET", "/v1/runs/{id}/diff", "diffTurns", "What changed in the variables between two turns",
     SCOPE_READ, BODY_NONE, NULL, diff_query, diff_answers, diff_codes, diff_turns},
};
const RouteTable routes_inspect = {routes, COUNT_OF(routes)};

// The whole at a glance: what needs a person, and what the caller may do.
//
// Access is for anybody to ask: a page has to know whether it needs a token before it has one. It
// tells nothing about tokens other than the one that was sent.
//
// Not here: how it is found out (observe/attention.c, access/auth.c).
#include "base/array.h"
#include "base/text/number.h"
#include "server/access/auth.h"
#include "server/exchange/change_stream.h"
#include "server/exchange/parts.h"

static void send_attention(Exchange *exchange) {
    Diag diag = {0};
    JsonWriter *json = exchange_begin(exchange, 200);
    Status status = attention_write(exchange->server, json, &diag);
    if (exchange_found(exchange, status, &diag)) exchange_send(exchange);
}

// ---- access ----

static void put_scopes(JsonWriter *json, int64_t scopes) {
    json_write_key(json, STR("scopes"));
    json_write_array_begin(json);
    for (int64_t scope = SCOPE_READ; scope <= SCOPE_ADMIN; scope <<= 1)
        if (scopes & scope) json_write_cstr(json, scope_name(scope));
    json_write_array_end(json);
}

static void send_access(Exchange *exchange) {
    const ServerPolicy *policy = exchange->policy;
    bool has_token = !policy->is_open && !str_is_null(exchange_header(exchange, "Authorization"));
    TokenFound found = {.scopes = policy->is_open ? SCOPE_ALL : 0};
    if (has_token && !auth_find_token(exchange, &found)) return;
    const char *reason = has_token                 ? "token"
                         : !policy->is_open        ? "none"
                         : policy->is_host_checked ? "loopback"
                                                   : "insecure";
    JsonWriter *json = exchange_begin(exchange, 200);
    json_write_object_begin(json);
    json_put_bool(json, "open", policy->is_open);
    json_put_cstr(json, "reason", reason);
    put_scopes(json, found.scopes);
    if (has_token) {
        json_write_key(json, STR("token"));
        json_write_object_begin(json);
        json_put_cstr(json, "name", found.name);
        render_instant(json, "expires_at", found.expires_at_ms);
        json_write_object_end(json);
    } else json_put_null(json, "token");
    json_write_object_end(json);
    exchange_send(exchange);
}

// ---- changes ----

static const Field changes_query[] = {
    {"kind", "strings", false,
     "runs, tasks, schedules, topics, queues, workflows; repeat it, or separate them by commas. "
     "All unless given."},
    {"run", "string", false, "Only this run and its tasks."},
    {"after", "integer", false, "The last number seen, when there is no Last-Event-ID."},
    {0}};

static bool read_kinds(Exchange *exchange, unsigned *ret_kinds) {
    Str left = parts_query_list(exchange, "kind", false);
    *ret_kinds = str_is_null(left) ? (1u << CHANGE_KIND_COUNT) - 1 : 0;
    for (Str list; str_split(&left, '\n', &list);) {
        for (Str name; str_split(&list, ',', &name);) {
            int kind = 0;
            while (kind < CHANGE_KIND_COUNT && !str_equal(name, str_from(change_kind_name(kind))))
                kind++;
            if (kind == CHANGE_KIND_COUNT) {
                exchange_refuse_with(exchange, ERR_INVALID, "BAD_QUERY",
                                     "kind: there is no \"%.*s\"; there are runs, tasks, "
                                     "schedules, topics, queues and workflows",
                                     STR_ARG(name));
                return false;
            }
            *ret_kinds |= 1u << kind;
        }
    }
    return true;
}

static void stream_changes(Exchange *exchange) {
    ChangeReader reader = {.run_id = exchange_query(exchange, "run")};
    if (!read_kinds(exchange, &reader.kinds)) return;
    if (!exchange_query_count(exchange, "after", INT64_MAX, &reader.after)) return;
    Str last = exchange_header(exchange, "Last-Event-ID");
    if (last.len > 0 && !number_parse_count(last, INT64_MAX, &reader.after)) {
        exchange_refuse_with(exchange, ERR_INVALID, "BAD_HEADER", "Last-Event-ID is not a number");
        return;
    }
    RunRow run;
    Diag diag;
    if (!str_is_null(reader.run_id) && store_run_by_id(exchange_store(exchange), &exchange->arena,
                                                       reader.run_id, &run, &diag) == OK)
        reader.run = run.key;
    change_stream_begin(exchange, &reader);
}

static const RouteAnswer changes_answers[] = {
    {200, "Events hello, changes and resync.", "text/event-stream"}, {0}};
static const char *const changes_codes[] = {"BAD_HEADER", NULL};
static const RouteAnswer attention_answers[] = {{200, "What needs a person.", "Attention"}, {0}};
static const RouteAnswer access_answers[] = {{200, "What the caller may do.", "Access"}, {0}};

static const Route routes[] = {
    {"GET", "/v1/attention", "attention", "What needs a person", SCOPE_READ, BODY_NONE, NULL, NULL,
     attention_answers, NULL, send_attention},
    {"GET", "/v1/access", "access", "What the caller may do", SCOPE_NONE, BODY_NONE, NULL, NULL,
     access_answers, NULL, send_access},
    {"GET", "/v1/changes", "streamChanges", "What changes, as it happens", SCOPE_READ, BODY_NONE,
     NULL, changes_query, changes_answers, changes_codes, stream_changes},
};
const RouteTable routes_overview = {routes, COUNT_OF(routes)};

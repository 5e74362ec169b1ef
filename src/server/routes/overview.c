// The whole at a glance: what needs a person, and what the caller may do.
//
// Access is for anybody to ask: a page has to know whether it needs a token before it has one. It
// tells nothing about tokens other than the one that was sent.
//
// Not here: how it is found out (observe/attention.c, access/auth.c).
#include "base/array.h"
#include "server/access/auth.h"
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

static const RouteAnswer attention_answers[] = {{200, "What needs a person.", "Attention"}, {0}};
static const RouteAnswer access_answers[] = {{200, "What the caller may do.", "Access"}, {0}};

static const Route routes[] = {
    {"GET", "/v1/attention", "attention", "What needs a person", SCOPE_READ, BODY_NONE, NULL, NULL,
     attention_answers, NULL, send_attention},
    {"GET", "/v1/access", "access", "What the caller may do", SCOPE_NONE, BODY_NONE, NULL, NULL,
     access_answers, NULL, send_access},
};
const RouteTable routes_overview = {routes, COUNT_OF(routes)};

// Who may call what.
//
// A route names the scope it needs. A server that is open asks nobody for a token: it is on
// loopback or was told to be insecure. An answer never says more about a token than that it does
// not reach.
//
//   [auth-1] An open server on loopback serves programs of this machine, not pages of other sites
//        that a browser of this machine shows: a Host that is not this machine (a name that was
//        pointed here) and an Origin that is neither our own nor configured are refused.
//   [auth-2] CORS headers are sent to configured origins only. They never allow credentials: tokens
//        travel in a header that a page has to set itself.
//
// Not here: which route it is (route.c), the tokens (tokens.c).
#include "server/access/auth.h"
#include <strings.h>

// ---- pages of other sites ----

static Str without_port(Str host) {
    if (host.len > 0 && host.data[0] == '[') { // "[::1]:7433"
        const char *end = memchr(host.data, ']', host.len);
        return end == NULL ? host : (Str){host.data + 1, (size_t)(end - host.data - 1)};
    }
    const char *colon = memchr(host.data, ':', host.len);
    return colon == NULL ? host : (Str){host.data, (size_t)(colon - host.data)};
}

// "localhost" and names under it, which RFC 6761 keeps for this machine. No other name without a
// dot: a top-level domain may have an address, and a search list of the resolver or a network's own
// server may point any of them here.
static bool is_localhost(Str name) {
    Str local = STR("localhost");
    if (name.len < local.len ||
        strncasecmp(name.data + name.len - local.len, local.data, local.len) != 0)
        return false;
    return name.len == local.len || name.data[name.len - local.len - 1] == '.';
}

static bool is_this_machine(Str host) {
    Str name = without_port(host);
    if (str_equal(name, STR("::1")) || is_localhost(name)) return true;
    if (!str_starts_with(name, STR("127."))) return false;
    for (size_t i = 0; i < name.len; i++) // digits and dots only: 127.evil.example is a name
        if (name.data[i] != '.' && (name.data[i] < '0' || name.data[i] > '9')) return false;
    return true;
}

// "http://127.0.0.1:7433" and "127.0.0.1:7433".
static bool is_own_origin(Str origin, Str host) {
    const char *slashes = origin.len > 2 ? memmem(origin.data, origin.len, "//", 2) : NULL;
    if (slashes == NULL) return false;
    size_t at = (size_t)(slashes - origin.data) + 2;
    return str_equal((Str){origin.data + at, origin.len - at}, host);
}

static bool is_foreign_page(Exchange *exchange) { // [auth-1]
    Str host = exchange_header(exchange, "Host");
    if (!str_is_null(host) && !is_this_machine(host)) {
        exchange_refuse_with(exchange, ERR_INVALID, "HOST_NOT_ALLOWED",
                             "this server asks for no tokens and therefore serves this machine "
                             "only, not \"%.*s\"; use tokens (require-tokens), or insecure if "
                             "something in front of it checks who calls",
                             STR_ARG(host));
        return true;
    }
    Str origin = exchange_header(exchange, "Origin");
    if (str_is_null(origin) || is_own_origin(origin, host) ||
        policy_has_origin(exchange->policy, origin))
        return false;
    exchange_refuse_with(exchange, ERR_INVALID, "ORIGIN_NOT_ALLOWED",
                         "pages of %.*s may not call this server; list them in cors-origins",
                         STR_ARG(origin));
    return true;
}

bool auth_cross_origin(Exchange *exchange, Str method, Str path) { // [auth-2]
    Str origin = exchange_header(exchange, "Origin");
    if (str_is_null(origin) || !policy_has_origin(exchange->policy, origin)) return false;
    exchange_set_header(exchange, "Access-Control-Allow-Origin", origin);
    exchange_set_header(exchange, "Vary", STR("Origin"));
    Str wanted = exchange_header(exchange, "Access-Control-Request-Method");
    if (!str_equal(method, STR("OPTIONS")) || str_is_null(wanted)) {
        exchange_set_header(exchange, "Access-Control-Expose-Headers",
                            STR("Location, Retry-After, WWW-Authenticate"));
        return false;
    }
    char allowed[128];
    size_t len = route_allowed(path, allowed, sizeof allowed);
    if (len == 0) return false; // there is no such path
    exchange_set_header(exchange, "Access-Control-Allow-Methods", (Str){allowed, len});
    exchange_set_header(exchange, "Access-Control-Allow-Headers",
                        STR("Authorization, Content-Type, Idempotency-Key, Last-Event-ID, "
                            "Traceparent, Tracestate"));
    exchange_set_header(exchange, "Access-Control-Max-Age", STR("600"));
    exchange_send_text(exchange, 204, NULL, STR(""));
    return true;
}

// ---- tokens ----

static bool refuse_token(Exchange *exchange, const char *challenge, const char *why) {
    exchange_refuse_with(exchange, ERR_INVALID, "UNAUTHORIZED", "%s", why);
    exchange_set_header(exchange, "WWW-Authenticate", str_from(challenge));
    return false;
}

static bool refuse_bad_token(Exchange *exchange, const char *why) {
    return refuse_token(exchange, "Bearer realm=\"abide\", error=\"invalid_token\"", why);
}

static bool read_bearer(Exchange *exchange, Str *ret_token) {
    Str header = exchange_header(exchange, "Authorization");
    if (str_is_null(header))
        return refuse_token(exchange, "Bearer realm=\"abide\"",
                            "this server asks for a token; send Authorization: Bearer abide_…");
    size_t len = strlen("Bearer");
    bool is_bearer = header.len >= len && strncasecmp(header.data, "Bearer", len) == 0 &&
                     (header.len == len || header.data[len] == ' ');
    if (!is_bearer)
        return refuse_token(exchange, "Bearer realm=\"abide\"",
                            "this server takes Authorization: Bearer abide_… only");
    *ret_token = str_trim((Str){header.data + len, header.len - len});
    return true;
}

bool auth_find_token(Exchange *exchange, TokenFound *ret_found) {
    Str text;
    if (!read_bearer(exchange, &text)) return false;
    if (!token_is_well_formed(text))
        return refuse_bad_token(exchange, "that is not a whole token: one has 65 characters and a "
                                          "checksum at its end");
    int64_t now_ms = engine_now_ms(exchange->server->engine);
    if (!tokens_find(&exchange->server->tokens, text, now_ms, ret_found))
        return refuse_bad_token(exchange, "the token is not known here; it may have been removed");
    if (ret_found->expires_at_ms != 0 && ret_found->expires_at_ms <= now_ms)
        return refuse_bad_token(exchange, "the token has expired");
    exchange->caller = arena_str(&exchange->arena, str_from(ret_found->name));
    return true;
}

static bool check_token(Exchange *exchange) {
    TokenFound found;
    if (!auth_find_token(exchange, &found)) return false;
    exchange->scopes = found.scopes;
    if (found.scopes & exchange->route->scope) return true;
    const char *needed = scope_name(exchange->route->scope);
    exchange_refuse_with(exchange, ERR_INVALID, "FORBIDDEN",
                         "%s %s needs the scope %s, which the token \"%s\" does not have",
                         exchange->route->method, exchange->route->pattern, needed, found.name);
    Str challenge = arena_printf(&exchange->arena,
                                 "Bearer realm=\"abide\", error=\"insufficient_scope\", "
                                 "scope=\"%s\"",
                                 needed);
    exchange_set_header(exchange, "WWW-Authenticate", challenge);
    return false;
}

bool auth_allows(Exchange *exchange) {
    if (exchange->route->scope == SCOPE_NONE) return true;
    if (!exchange->policy->is_open) return check_token(exchange);
    exchange->scopes = SCOPE_ALL;
    return !exchange->policy->is_host_checked || !is_foreign_page(exchange);
}

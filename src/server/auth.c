// Who may call what.
//
// A route names the scope it needs; a server that is open asks nobody. An answer never says more
// than that a token is missing or does not reach.
//
// Not here: which route it is (route.c).
#include "server/auth.h"

bool auth_allows(Exchange *exchange) {
    if (exchange->route->scope == SCOPE_NONE || exchange->server->config.is_open) return true;
    exchange_refuse_with(exchange, ERR_INVALID, "UNAUTHORIZED", "this server asks for a token");
    exchange_set_header(exchange, "WWW-Authenticate", STR("Bearer"));
    return false;
}

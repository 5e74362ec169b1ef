// Who may call what.
#pragma once
#include "server/server.h"

// The caller's token. False: there is none or it does not count, and the exchange has been
// answered with 401.
bool auth_find_token(Exchange *exchange, TokenFound *ret_found);
// True when the caller's token covers the route's scope, or none is needed; otherwise the exchange
// has been answered with 401 or 403.
bool auth_allows(Exchange *exchange);
// For requests of pages (with an Origin): says who may read the answer, when that was configured.
// True when it was a preflight and has been answered.
bool auth_cross_origin(Exchange *exchange, Str method, Str path);

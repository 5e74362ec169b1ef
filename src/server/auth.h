// Who may call what.
#pragma once
#include "server/server.h"

// True when the caller's token covers the route's scope, or none is needed; otherwise the exchange
// has been answered with 401 or 403.
bool auth_allows(Exchange *exchange);

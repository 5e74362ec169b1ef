// Routes: every method and path the server knows, described once. Requests are matched against the
// table, bodies and queries are checked against it, and /openapi.json is written from it.
#pragma once
#include "base/text/str.h"
#include "model/token.h"
#include <stddef.h>

enum { ROUTE_PARAMETERS_MAX = 2, ROUTE_FIELDS_MAX = 24, ROUTE_CODES_MAX = 32 };

struct Exchange;
typedef void (*ExchangeFunction)(struct Exchange *exchange);

typedef enum BodyKind {
    BODY_NONE = 0,
    BODY_OBJECT,          // a JSON object with `fields`
    BODY_OPTIONAL_OBJECT, // the same; no body means {}
    BODY_PAYLOAD,         // any JSON, kept byte for byte; none is allowed
    BODY_TEXT             // source text
} BodyKind;

typedef struct Field { // of a body, a query or an answer
    const char *name;  // NULL ends a list
    const char *type;  // "string", "integer", "number", "boolean", "duration", "instant", "any",
                       // "object", "strings" (of a query: may be repeated)
    bool is_required;
    const char *about;
} Field;

typedef struct RouteAnswer {
    int status; // 0 ends a list
    const char *about;
    const char *schema; // name of a schema in openapi/schemas.c; or media types ("text/html"),
                        // separated by blanks, of a body that has none; NULL = there is no body
} RouteAnswer;

typedef struct Route {
    const char *method;
    const char *pattern;   // "/v1/runs/{id}/cancel"
    const char *operation; // "cancelRun"
    const char *summary;
    Scope scope;
    BodyKind body;
    const Field *fields;        // of the body; NULL = none
    const Field *query;         // NULL = none
    const RouteAnswer *answers; // when it goes well
    const char *const *codes;   // of the problems it may answer with; ended by NULL. Those that
                                // follow from its body and query need not be named
    ExchangeFunction handle;
} Route;

// The codes of a route of an established protocol, which knows none: it refuses with {"detail":
// text}. Fields and parameters that nobody knows are passed over, unless the route minds.
extern const char *const foreign_codes[];
static inline bool route_is_foreign(const Route *route) { return route->codes == foreign_codes; }

typedef struct RouteTable {
    const Route *routes;
    size_t count;
} RouteTable;

typedef enum RouteMatch { ROUTE_FOUND, ROUTE_NO_PATH, ROUTE_NO_METHOD } RouteMatch;

// Raw path, without the query. The parameters are slices of it, still encoded.
RouteMatch route_find(Str method, Str path, const Route **ret_route,
                      Str ret_parameters[ROUTE_PARAMETERS_MAX]);
const Field *route_parameter(const Route *route, Str name); // of its query; NULL = unknown
// "GET, HEAD, PUT" for a path that has routes; empty otherwise.
size_t route_allowed(Str path, char *ret_text, size_t size);
// Routes by number, 0 … route_count() - 1, in the order of the tables. NULL beyond.
size_t route_count(void);
size_t route_number(const Route *route);
const Route *route_at(size_t number);
// The codes of all problems that come of what is asked for; how many.
size_t route_codes(const Route *route, const char *ret_codes[ROUTE_CODES_MAX]);
// Those that any route may answer with, whatever is asked for.
const char *const *route_common_codes(size_t *ret_count);

extern const RouteTable routes_system, routes_workflows, routes_runs, routes_changes, routes_events,
    routes_tasks, routes_turns, routes_work, routes_reports, routes_schedules, routes_queues,
    routes_inspect, routes_page, routes_tokens, routes_handlers, routes_handler_flows,
    routes_pending, routes_workers, routes_filter, routes_bulk, routes_overview, routes_trials,
    routes_move, routes_rates, routes_time, routes_plan, routes_set;

// Matching a request against the tables of routes.
//
// Patterns are compared segment by segment; "{x}" takes any segment that is not empty. The tables
// are short and most routes differ in their second segment, so a walk is quick enough.
//
// Not here: what the routes do (routes_*.c), decoding of parameters (exchange.c).
#include "server/exchange/route.h"
#include "base/array.h"
#include "base/assert.h"
#include <stdio.h>

static const RouteTable *const tables[] = {
    &routes_work,    &routes_reports,   &routes_runs,      &routes_changes,  &routes_tasks,
    &routes_events,  &routes_workflows, &routes_schedules, &routes_queues,   &routes_inspect,
    &routes_tokens,  &routes_system,    &routes_page,      &routes_handlers, &routes_handler_flows,
    &routes_pending, &routes_workers,   &routes_filter,    &routes_bulk,     &routes_overview,
    &routes_trials,  &routes_move,      &routes_rates,     &routes_turns,    &routes_plan,
    &routes_set,     &routes_time};
enum { TABLE_COUNT = COUNT_OF(tables) };

// The segment that begins after the slash at *at; moves *at to the next slash or the end.
static Str take_segment(Str path, size_t *at) {
    size_t from = *at + 1;
    size_t to = from;
    while (to < path.len && path.data[to] != '/') to++;
    *at = to;
    return (Str){path.data + from, to - from};
}

static bool matches(Str pattern, Str path, Str ret_parameters[ROUTE_PARAMETERS_MAX]) {
    size_t at = 0, pattern_at = 0, count = 0;
    while (at < path.len && pattern_at < pattern.len) {
        Str wanted = take_segment(pattern, &pattern_at);
        Str segment = take_segment(path, &at);
        if (wanted.len > 0 && wanted.data[0] == '{') {
            if (segment.len == 0) return false;
            ret_parameters[count++] = segment;
        } else if (!str_equal(wanted, segment)) {
            return false;
        }
    }
    return at >= path.len && pattern_at >= pattern.len;
}

static bool method_matches(Str method, const Route *route) {
    Str wanted = str_from(route->method);
    if (str_equal(method, wanted)) return true;
    return str_equal(method, STR("HEAD")) && str_equal(wanted, STR("GET"));
}

RouteMatch route_find(Str method, Str path, const Route **ret_route,
                      Str ret_parameters[ROUTE_PARAMETERS_MAX]) {
    RouteMatch answer = ROUTE_NO_PATH;
    if (path.len == 0 || path.data[0] != '/') return answer;
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        for (size_t j = 0; j < tables[i]->count; j++) {
            const Route *route = &tables[i]->routes[j];
            Str parameters[ROUTE_PARAMETERS_MAX] = {STR_NULL, STR_NULL};
            if (!matches(str_from(route->pattern), path, parameters)) continue;
            answer = ROUTE_NO_METHOD;
            if (!method_matches(method, route)) continue;
            *ret_route = route;
            memcpy(ret_parameters, parameters, sizeof parameters);
            return ROUTE_FOUND;
        }
    }
    return answer;
}

const Field *route_parameter(const Route *route, Str name) {
    for (const Field *field = route->query; field != NULL && field->name != NULL; field++)
        if (str_equal(str_from(field->name), name)) return field;
    return NULL;
}

static void add_method(char *text, size_t size, size_t *at, const char *method) {
    int wrote = snprintf(text + *at, size - *at, "%s%s", *at > 0 ? ", " : "", method);
    if (wrote > 0 && *at + (size_t)wrote < size) *at += (size_t)wrote;
}

size_t route_allowed(Str path, char *ret_text, size_t size) {
    size_t at = 0;
    ret_text[0] = 0;
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        for (size_t j = 0; j < tables[i]->count; j++) {
            const Route *route = &tables[i]->routes[j];
            Str parameters[ROUTE_PARAMETERS_MAX];
            if (!matches(str_from(route->pattern), path, parameters)) continue;
            add_method(ret_text, size, &at, route->method);
            if (strcmp(route->method, "GET") == 0) add_method(ret_text, size, &at, "HEAD");
        }
    }
    return at;
}

size_t route_count(void) {
    size_t count = 0;
    for (size_t i = 0; i < TABLE_COUNT; i++) count += tables[i]->count;
    return count;
}

size_t route_number(const Route *route) {
    size_t before = 0;
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        const Route *first = tables[i]->routes;
        if (route >= first && route < first + tables[i]->count)
            return before + (size_t)(route - first);
        before += tables[i]->count;
    }
    UNREACHABLE();
}

const Route *route_at(size_t number) {
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        if (number < tables[i]->count) return &tables[i]->routes[number];
        number -= tables[i]->count;
    }
    return NULL;
}

// ---- codes ----

const char *const foreign_codes[] = {NULL};

typedef struct CodeList {
    const char **codes;
    size_t count;
} CodeList;

static void add_code(CodeList *list, const char *code) {
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->codes[i], code) == 0) return;
    ASSERT(list->count < ROUTE_CODES_MAX);
    list->codes[list->count++] = code;
}

static bool has_type(const Field *fields, const char *type) {
    for (const Field *field = fields; field != NULL && field->name != NULL; field++)
        if (strcmp(field->type, type) == 0) return true;
    return false;
}

static bool has_required(const Field *fields) {
    for (const Field *field = fields; field != NULL && field->name != NULL; field++)
        if (field->is_required) return true;
    return false;
}

static void add_object_codes(CodeList *list, const Route *route) {
    add_code(list, "BAD_JSON");
    add_code(list, "JSON_TOO_DEEP");
    add_code(list, "BAD_REQUEST");
    add_code(list, "UNKNOWN_FIELD");
    if (route->body == BODY_OBJECT) add_code(list, "BODY_REQUIRED");
    if (has_required(route->fields)) add_code(list, "MISSING_FIELD");
    if (route->fields != NULL) add_code(list, "BAD_FIELD");
    if (has_type(route->fields, "duration")) add_code(list, "BAD_DURATION");
    if (has_type(route->fields, "instant")) add_code(list, "BAD_TIME");
}

static void add_body_codes(CodeList *list, const Route *route) {
    switch (route->body) {
    case BODY_NONE: add_code(list, "BODY_UNEXPECTED"); return;
    case BODY_OBJECT:
    case BODY_OPTIONAL_OBJECT: add_object_codes(list, route); break;
    case BODY_PAYLOAD:
        add_code(list, "BAD_JSON");
        add_code(list, "JSON_TOO_DEEP");
        add_code(list, "PAYLOAD_TOO_LARGE");
        break;
    case BODY_TEXT: break;
    }
    add_code(list, "BODY_TOO_LARGE");
}

size_t route_codes(const Route *route, const char *ret_codes[ROUTE_CODES_MAX]) {
    CodeList list = {ret_codes, 0};
    for (size_t i = 0; route->codes != NULL && route->codes[i] != NULL; i++)
        add_code(&list, route->codes[i]);
    add_body_codes(&list, route);
    if (route->query != NULL) add_code(&list, "BAD_QUERY");
    add_code(&list, "BAD_URI");
    add_code(&list, "UNKNOWN_PARAMETER");
    return list.count;
}

const char *const *route_common_codes(size_t *ret_count) {
    static const char *const codes[] = {"UNAUTHORIZED",       "FORBIDDEN",    "HOST_NOT_ALLOWED",
                                        "ORIGIN_NOT_ALLOWED", "NO_SUCH_PATH", "METHOD_NOT_ALLOWED",
                                        "STORE_UNAVAILABLE",  "SERVER_BUSY",  "STORE_FULL",
                                        "BAD_HEADER",         "CLOSED"};
    *ret_count = COUNT_OF(codes);
    return codes;
}

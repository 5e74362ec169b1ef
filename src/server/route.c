// Matching a request against the tables of routes.
//
// Patterns are compared segment by segment; "{x}" takes any segment that is not empty. The tables
// are short and most routes differ in their second segment, so a walk is quick enough.
//
// Not here: what the routes do (routes_*.c), decoding of parameters (exchange.c).
#include "server/route.h"
#include "base/assert.h"
#include <stdio.h>

static const RouteTable *const tables[] = {&routes_work,     &routes_runs,   &routes_changes,
                                           &routes_tasks,    &routes_events, &routes_workflows,
                                           &routes_schedules, &routes_queues, &routes_inspect,
                                           &routes_tokens,    &routes_system, &routes_page};
enum { TABLE_COUNT = sizeof tables / sizeof tables[0] };

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

const RouteTable *const *route_tables(size_t *ret_count) {
    *ret_count = TABLE_COUNT;
    return tables;
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

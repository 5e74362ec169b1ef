// The adaptor to libmicrohttpd: bytes in, bytes out, life and death of connections.
//
// The library calls http_serve() once when the headers are there, once per piece of the body, once
// when the body is complete, and once more each time a suspended connection was resumed. `stage`
// says which of these it is.
//
// Invariants [server-1]-[server-4] are in server.h.
//
// Not here: routes (route.c, routes_*.c), who may call them (auth.c), streams (stream.c).
#include "server/http/http.h"
#include "base/memory.h"
#include "base/text/hex.h"
#include "base/text/suggest.h"
#include "server/access/auth.h"
#include "server/exchange/change_stream.h"
#include "server/exchange/stream.h"
#include "server/http/connection.h"
#include "server/http/framing.h"
#include "server/server.h"
#include <microhttpd.h>
#include <stdio.h>

enum { BODY_DROP_FACTOR = 8 };

// ---- the life of an exchange ----

static Exchange *exchange_new(Server *server, struct MHD_Connection *connection, Str uri) {
    Exchange *exchange = mem_zalloc(sizeof(Exchange));
    exchange->server = server;
    exchange->connection = connection;
    arena_init(&exchange->arena);
    arena_init(&exchange->tree);
    holding_init(&exchange->holding, &server->held);
    exchange->uri = arena_str(&exchange->arena, uri);
    exchange->began_at_ms = engine_now_ms(server->engine);
    exchange->began_ns = engine_monotonic_ns(server->engine);
    exchange->policy = policy_get(&server->policy);
    buf_init(&exchange->body, exchange->policy->limits.body_size);
    buf_init(&exchange->answer, 0);
    list_init(&exchange->link);
    pthread_mutex_lock(&server->lock);
    list_append(&server->exchanges, &exchange->link);
    pthread_mutex_unlock(&server->lock);
    atomic_fetch_add(&server->counters.requests, 1);
    return exchange;
}

static void exchange_free(Exchange *exchange) {
    Server *server = exchange->server;
    pthread_mutex_lock(&server->lock);
    list_remove(&exchange->link);
    if (list_is_empty(&server->exchanges)) pthread_cond_broadcast(&server->idle);
    pthread_mutex_unlock(&server->lock);
    buf_done(&exchange->body);
    buf_done(&exchange->answer);
    exchange_drop_spill(exchange);
    exchange_drop_tree(exchange);
    holding_done(&exchange->holding);
    arena_done(&exchange->arena);
    mem_free(exchange->kept);
    mem_free(exchange);
}

// Called by the library before anything else is known, with the raw request target.
void *http_begin_request(void *context, const char *uri, struct MHD_Connection *connection) {
    Exchange *exchange = exchange_new(context, connection, str_from(uri));
    exchange->target = uri;
    return exchange;
}

static Str path_of(const Exchange *exchange) {
    Str uri = exchange->uri;
    const char *mark = memchr(uri.data, '?', uri.len);
    return mark == NULL ? uri : (Str){uri.data, (size_t)(mark - uri.data)};
}

// One line per request at debug; one that took long by no wish of its client is a warning.
static void log_request(const Exchange *exchange, bool is_complete) {
    const Server *server = exchange->server;
    uint64_t took_ns = engine_monotonic_ns(server->engine) - exchange->began_ns;
    int64_t took_ms = (int64_t)(took_ns / 1000000);
    int64_t slow_ms = exchange->policy->slow_ms;
    bool is_slow = slow_ms > 0 && took_ms >= slow_ms && !exchange->is_patient;
    LogLevel level = is_slow ? LOG_WARN : LOG_DEBUG;
    if (!log_takes(server->config.logger, level)) return;
    LOG(server->config.logger, level, "%s%s %.*s %d in %lld ms%s%s%.*s", is_slow ? "slow: " : "",
        exchange->method[0] != 0 ? exchange->method : "?", STR_ARG(path_of(exchange)),
        exchange->status, (long long)took_ms, is_complete ? "" : ", broken off",
        str_is_null(exchange->caller) ? "" : ", token ", STR_ARG(exchange->caller));
}

void http_end_request(void *context, struct MHD_Connection *connection, void **request,
                      enum MHD_RequestTerminationCode code) {
    (void)context;
    (void)connection;
    Exchange *exchange = *request;
    *request = NULL;
    if (exchange == NULL) return;
    if (exchange->stage == EXCHANGE_WAITING && exchange->abandoned != NULL)
        exchange->abandoned(exchange); // [exchange-4]
    bool is_whole = code == MHD_REQUEST_TERMINATED_COMPLETED_OK;
    connection_ended(exchange, is_whole);
    log_request(exchange, is_whole);
    exchange_free(exchange);
}

// ---- the request's target ----

// False when an escape is malformed or stands for NUL.
static bool decode(Arena *arena, Str text, bool is_query, Str *ret_text) {
    char *out = arena_alloc(arena, text.len + 1);
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        if (c == '+' && is_query) {
            c = ' ';
        } else if (c == '%') {
            int byte = i + 2 < text.len ? hex_byte(text.data + i + 1) : -1;
            if (byte <= 0) return false;
            c = (char)byte;
            i += 2;
        }
        out[len++] = c;
    }
    out[len] = 0;
    *ret_text = (Str){out, len};
    return true;
}

static bool refuse_uri(Exchange *exchange, const char *why) {
    exchange_refuse_with(exchange, ERR_INVALID, "BAD_URI", "%s", why);
    return false;
}

static bool add_parameter(Exchange *exchange, Str pair, size_t capacity) {
    const char *equals = memchr(pair.data, '=', pair.len);
    size_t name_len = equals == NULL ? pair.len : (size_t)(equals - pair.data);
    Str raw_value = equals == NULL ? STR("") : (Str){equals + 1, pair.len - name_len - 1};
    QueryParameter *parameter = &exchange->query[exchange->query_count];
    ASSERT(exchange->query_count < capacity);
    if (!decode(&exchange->arena, (Str){pair.data, name_len}, true, &parameter->name) ||
        !decode(&exchange->arena, raw_value, true, &parameter->value))
        return refuse_uri(exchange, "the query has a malformed %-escape");
    exchange->query_count++;
    return true;
}

static bool read_query(Exchange *exchange) {
    Str path = path_of(exchange);
    if (path.len == exchange->uri.len) return true;
    Str query = {path.data + path.len + 1, exchange->uri.len - path.len - 1};
    size_t capacity = 1;
    for (size_t i = 0; i < query.len; i++) capacity += query.data[i] == '&';
    exchange->query = ARENA_ARRAY(&exchange->arena, QueryParameter, capacity);
    size_t from = 0;
    for (size_t i = 0; i <= query.len; i++) {
        if (i < query.len && query.data[i] != '&') continue;
        Str pair = {query.data + from, i - from};
        from = i + 1;
        if (pair.len > 0 && !add_parameter(exchange, pair, capacity)) return false;
    }
    return true;
}

static bool is_repeated(const Exchange *exchange, size_t index) {
    for (size_t i = 0; i < index; i++)
        if (str_equal(exchange->query[i].name, exchange->query[index].name)) return true;
    return false;
}

static void refuse_parameter(Exchange *exchange, const Route *route, Str name) {
    const char *names[ROUTE_FIELDS_MAX];
    size_t count = 0;
    for (const Field *field = route->query; field != NULL && field->name != NULL; field++)
        if (count < ROUTE_FIELDS_MAX) names[count++] = field->name;
    const char *nearest = suggest_nearest(name, names, count);
    exchange_refuse_with(exchange, ERR_INVALID, "UNKNOWN_PARAMETER",
                         "%s %s has no query parameter \"%.*s\"%s%s%s", route->method,
                         route->pattern, STR_ARG(name), nearest != NULL ? "; did you mean \"" : "",
                         nearest != NULL ? nearest : "", nearest != NULL ? "\"?" : "");
}

// An established protocol has clients of other versions, which may say more than is known here.
static bool check_query(Exchange *exchange) {
    const Route *route = exchange->route;
    if (route_is_foreign(route)) return true;
    for (size_t i = 0; i < exchange->query_count; i++) {
        Str name = exchange->query[i].name;
        const Field *field = route_parameter(route, name);
        if (field == NULL) {
            refuse_parameter(exchange, route, name);
            return false;
        }
        if (strcmp(field->type, "strings") != 0 && is_repeated(exchange, i)) {
            exchange_refuse_with(exchange, ERR_INVALID, "BAD_QUERY", "%s: it is given twice",
                                 field->name);
            return false;
        }
    }
    return true;
}

// ---- the stages of a request ----

// A space or a control character belongs in no target.
static bool is_target(Str uri) {
    for (size_t i = 0; i < uri.len; i++)
        if ((unsigned char)uri.data[i] <= ' ' || uri.data[i] == 0x7F) return false;
    return true;
}

static bool find_route(Exchange *exchange, Str method) {
    if (!is_target(exchange->uri))
        return refuse_uri(exchange, "the request target has a space or a control character in it");
    if (exchange->uri.len > exchange->policy->limits.uri_size)
        return refuse_uri(exchange, "the request target is too long");
    Str path = path_of(exchange);
    Str raw[ROUTE_PARAMETERS_MAX];
    RouteMatch match = route_find(method, path, &exchange->route, raw);
    if (match == ROUTE_NO_PATH) {
        exchange_refuse_with(exchange, ERR_NOT_FOUND, "NO_SUCH_PATH",
                             "there is nothing at %.*s; /openapi.json lists what there is",
                             STR_ARG(path));
        return false;
    }
    if (match == ROUTE_NO_METHOD) {
        char allowed[128];
        size_t len = route_allowed(path, allowed, sizeof allowed);
        exchange_refuse_with(exchange, ERR_INVALID, "METHOD_NOT_ALLOWED", "%.*s takes %s",
                             STR_ARG(path), allowed);
        exchange_set_header(exchange, "Allow", (Str){allowed, len});
        return false;
    }
    for (size_t i = 0; i < ROUTE_PARAMETERS_MAX && !str_is_null(raw[i]); i++)
        if (!decode(&exchange->arena, raw[i], false, &exchange->parameters[i]))
            return refuse_uri(exchange, "the path has a malformed %-escape");
    return read_query(exchange) && check_query(exchange);
}

// A body that is too large is read to its end and dropped, so that the client hears why; one that
// is out of all proportion is not even read.
static bool is_body_readable(const Exchange *exchange) { // chunks are counted as they come
    return exchange->declared_size <= (int64_t)(exchange->body.max_size * BODY_DROP_FACTOR);
}

static void refuse_body(Exchange *exchange) {
    exchange_refuse_with(exchange, ERR_LIMIT, "BODY_TOO_LARGE", "the body is over %zu bytes",
                         exchange->body.max_size);
}

static struct MHD_Response *file_response(Exchange *exchange) {
    uint64_t size = (uint64_t)exchange->spilled_size;
    exchange->spilled_size = 0; // the response owns the file now
    connection_sends(exchange, size);
    atomic_fetch_add(&exchange->server->counters.bytes_out, (int64_t)size);
    return MHD_create_response_from_fd64(size, exchange->spill_file);
}

static struct MHD_Response *buffer_response(Exchange *exchange) {
    if (exchange->spilled_size > 0) return file_response(exchange);
    Buf buf = exchange->answer;
    exchange->answer = (Buf){0}; // the response owns it now
    connection_sends(exchange, buf.len);
    holding_add(&exchange->holding, buf.capacity);
    atomic_fetch_add(&exchange->server->counters.bytes_out, (int64_t)buf.len);
    return MHD_create_response_from_buffer_with_free_callback(buf.len, buf.data, mem_free);
}

static void drop_body(Exchange *exchange) {
    size_t max_size = exchange->body.max_size;
    holding_remove(&exchange->holding, exchange->body.capacity);
    buf_done(&exchange->body);
    buf_init(&exchange->body, max_size);
}

// An answer may be read slowly, and a stream for days: of the request nothing stays but what is
// logged at its end. [exchange-5]
static void slim(Exchange *exchange) {
    Str path = path_of(exchange), caller = exchange->caller;
    char *kept = mem_alloc(path.len + caller.len + 1);
    memcpy(kept, path.data, path.len);
    if (caller.len > 0) memcpy(kept + path.len, caller.data, caller.len);
    exchange->kept = kept;
    exchange->uri = (Str){kept, path.len};
    if (!str_is_null(caller)) exchange->caller = (Str){kept + path.len, caller.len};
    arena_done(&exchange->arena);
    arena_init(&exchange->arena);
    drop_body(exchange);
    exchange->query = NULL;
    exchange->request = NULL;
    exchange->state = NULL;
    exchange->received = NULL;
    exchange->query_count = exchange->header_count = exchange->received_count = 0;
    for (size_t i = 0; i < ROUTE_PARAMETERS_MAX; i++) exchange->parameters[i] = STR_NULL;
}

static void refuse_busy(Exchange *exchange) {
    exchange_refuse_with(exchange, ERR_UNAVAILABLE, "SERVER_BUSY",
                         "requests and answers under way take %d MiB together; try again",
                         (exchange->holding.is_admitted ? HELD_BYTES_MAX : HELD_PUBLIC_MAX) >> 20);
}

// [holding-2], [holding-3]
static bool is_answer_too_much(const Exchange *exchange) {
    size_t size = exchange->answer.capacity;
    return !exchange->holding.is_admitted && size > HELD_SMALL &&
           holding_is_over(&exchange->holding, size);
}

static enum MHD_Result answer(Exchange *exchange) {
    Server *server = exchange->server;
    if (is_answer_too_much(exchange)) refuse_busy(exchange);
    uint64_t now_ns = engine_monotonic_ns(server->engine);
    metrics_answered(&server->metrics, exchange->route, exchange->status,
                     (int64_t)(now_ns - exchange->began_ns));
    change_streams_answered(exchange);
    struct MHD_Response *response = exchange->stream != NULL ? stream_response(exchange->stream)
                                    : exchange->changes != NULL
                                        ? change_stream_response(exchange->changes)
                                        : buffer_response(exchange);
    if (response == NULL) return MHD_NO;
    if (server_is_stopping(exchange->server)) // the next request goes to whoever comes after us
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    if (exchange->content_type != NULL)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, exchange->content_type);
    for (size_t i = 0; i < exchange->header_count; i++)
        MHD_add_response_header(response, exchange->headers[i].name,
                                exchange->headers[i].value.data);
    enum MHD_Result result =
        MHD_queue_response(exchange->connection, (unsigned)exchange->status, response);
    MHD_destroy_response(response); // the library keeps it as long as it needs it
    slim(exchange);
    return result;
}

// After a handler or continuation: what it left behind decides what is told to the library.
static enum MHD_Result conclude(Exchange *exchange) {
    if (exchange->stage == EXCHANGE_WAITING) {
        if (exchange->offloaded != NULL) offload_submit(&exchange->server->offload, exchange);
        return MHD_YES; // it may belong to another thread now
    }
    ASSERT(exchange->stage == EXCHANGE_ANSWERED);
    return answer(exchange);
}

// Everything that can be refused before the body is read. False: it has been answered.
static bool is_head_sound(Exchange *exchange, const char *method, const char *version) {
    if (!framing_read(exchange, method, version)) return false;
    if (auth_cross_origin(exchange, str_from(method), path_of(exchange))) return false;
    if (!find_route(exchange, str_from(method)) || !auth_allows(exchange)) return false;
    if (exchange->route->scope != SCOPE_NONE) holding_admit(&exchange->holding); // [holding-2]
    if (exchange->route->body == BODY_NONE && exchange->has_body)
        exchange_refuse_with(exchange, ERR_INVALID, "BODY_UNEXPECTED", "%s %s takes no body",
                             exchange->route->method, exchange->route->pattern);
    else if (!is_body_readable(exchange)) refuse_body(exchange);
    else if (exchange->holding.is_admitted && holding_is_over(&exchange->holding, 0))
        refuse_busy(exchange);
    else return true;
    return false;
}

static enum MHD_Result serve_head(Exchange *exchange, const char *method, const char *version) {
    exchange->stage = EXCHANGE_BODY;
    snprintf(exchange->method, sizeof exchange->method, "%s", method);
    if (is_head_sound(exchange, method, version)) return MHD_YES;
    if (exchange->has_body) // it is not read, so what comes next on this connection is not known
        exchange_set_header(exchange, "Connection", STR("close"));
    return answer(exchange);
}

// A body that is over its limit, or that there is no room for, is refused at its end: the library
// takes no answer in between.
static enum MHD_Result serve_body(Exchange *exchange, const char *data, size_t *size) {
    size_t capacity = exchange->body.capacity;
    exchange->received_size += *size;
    atomic_fetch_add(&exchange->server->counters.bytes_in, (int64_t)*size);
    if (!exchange->is_body_dropped) buf_append(&exchange->body, data, *size);
    *size = 0;
    holding_add(&exchange->holding, exchange->body.capacity - capacity);
    if (!exchange->is_body_dropped && holding_is_over(&exchange->holding, 0)) { // [server-4]
        drop_body(exchange);
        exchange->is_body_dropped = true;
    }
    return exchange->received_size <= exchange->body.max_size * BODY_DROP_FACTOR ? MHD_YES : MHD_NO;
}

static enum MHD_Result serve_complete(Exchange *exchange) {
    connection_received(exchange);
    if (!framing_is_whole(exchange)) return answer(exchange);
    if (exchange->is_body_dropped) {
        refuse_busy(exchange);
    } else if (exchange->body.is_overflown) {
        refuse_body(exchange);
    } else {
        exchange->route->handle(exchange);
        exchange_drop_tree(exchange); // [exchange-5]
    }
    return conclude(exchange);
}

enum MHD_Result http_serve(void *context, struct MHD_Connection *connection, const char *url,
                           const char *method, const char *version, const char *data,
                           size_t *data_size, void **request) {
    (void)context;
    (void)connection;
    (void)url;
    Exchange *exchange = *request;
    switch (exchange->stage) {
    case EXCHANGE_HEAD: return serve_head(exchange, method, version);
    case EXCHANGE_BODY:
        return *data_size > 0 ? serve_body(exchange, data, data_size) : serve_complete(exchange);
    case EXCHANGE_WAITING: exchange->next(exchange); return conclude(exchange);
    case EXCHANGE_ANSWERED: break;
    }
    *data_size = 0; // the rest of a body whose answer is already on its way
    return MHD_YES;
}

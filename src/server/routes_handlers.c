// The handler API: handlers, their results, and events to and from them.
//
// An event is acknowledged when it is durable and not before; what it does comes through the
// stream. Errors are {"detail": text} with the words that clients know.
//
// Not here: workflows and starting them (routes_handler_flows.c), what envelopes look like
// (handler_stream.c).
#include <strings.h>

#include "base/number.h"
#include "server/handler.h"

enum { CANCEL_WAIT_MS = 10000 };

// ---- GET /handlers ----

static const Field list_query[] = {
    {"status", "string", false, "Repeatable."},
    {"workflow_name", "string", false, "Repeatable."},
    {"idle_before", "instant", false, "Idle since before that time."},
    {"limit", "integer", false, "Most to answer; all unless given."},
    {"cursor", "string", false, "`next` of the page before."},
    {0},
};

static uint32_t states_of(Str status) {
    if (str_equal(status, STR("completed"))) return 1u << RUN_COMPLETED;
    if (str_equal(status, STR("failed"))) return 1u << RUN_FAILED;
    if (str_equal(status, STR("cancelled"))) return 1u << RUN_CANCELLED;
    if (str_equal(status, STR("running")))
        return 1u << RUN_PENDING | 1u << RUN_RUNNING | 1u << RUN_SUSPENDED | 1u << RUN_PAUSED;
    return 0;
}

typedef struct HandlerFilter {
    bool has_status; // one was given, known or not
    uint32_t states;
    bool has_names;
} HandlerFilter;

static HandlerFilter read_filter(const Exchange *exchange) {
    HandlerFilter filter = {0};
    for (size_t i = 0; i < exchange->query_count; i++) {
        const QueryParameter *parameter = &exchange->query[i];
        if (parameter->value.len == 0) continue; // empty ones are ignored
        if (str_equal(parameter->name, STR("status"))) {
            filter.has_status = true;
            filter.states |= states_of(parameter->value);
        }
        if (str_equal(parameter->name, STR("workflow_name"))) filter.has_names = true;
    }
    return filter;
}

static bool is_name_wanted(const Exchange *exchange, Str workflow) {
    for (size_t i = 0; i < exchange->query_count; i++) {
        const QueryParameter *parameter = &exchange->query[i];
        if (str_equal(parameter->name, STR("workflow_name")) &&
            str_equal(parameter->value, workflow))
            return true;
    }
    return false;
}

// One page; false when the exchange has been answered. What was read is forgotten and what was
// written leaves memory on the way: there may be any number of pages.
static bool put_page(Exchange *exchange, JsonWriter *json, const HandlerFilter *filter,
                     Query *query) {
    Diag diag;
    diag_clear(&diag);
    ArenaMark mark = arena_mark(&exchange->arena);
    Status status = store_read(exchange->server->engine->store, &exchange->arena, query, &diag);
    if (status != OK) {
        handler_refuse_diag(exchange, status, &diag);
        return false;
    }
    for (size_t i = 0; i < query->count; i++) {
        const RunRow *run = &query->runs[i];
        if (filter->has_names && !is_name_wanted(exchange, run->workflow)) continue;
        ArenaMark page = arena_mark(&exchange->arena);
        if (!handler_put(exchange, json, run, false) || !exchange_spill(exchange)) return false;
        arena_rewind(&exchange->arena, page);
    }
    arena_rewind(&exchange->arena, mark);
    return true;
}

static void list_handlers(Exchange *exchange) {
    HandlerFilter filter = read_filter(exchange);
    Query query = {.kind = QUERY_LIST_RUNS, .filter.states = filter.states,
                   .size_max = HANDLER_PAGE_SIZE};
    int64_t limit = 0;
    if (!exchange_query_count(exchange, "limit", LIMIT_LIST_PAGE, &limit) ||
        !exchange_query_count(exchange, "cursor", INT64_MAX, &query.filter.cursor) ||
        !exchange_query_instant(exchange, "idle_before", &query.filter.idle_before_ms))
        return;
    query.filter.limit = limit > 0 ? limit : LIMIT_LIST_PAGE;
    bool is_empty = filter.has_status && filter.states == 0;
    JsonWriter *json = exchange_begin(exchange, 200);
    json_write_object_begin(json);
    json_write_key(json, STR("handlers"));
    json_write_array_begin(json);
    while (!is_empty) {
        if (!put_page(exchange, json, &filter, &query)) return;
        if (limit > 0 || query.next == 0) break;
        query.filter.cursor = query.next;
    }
    json_write_array_end(json);
    if (limit > 0) {
        char text[NUMBER_TEXT_MAX];
        size_t len = number_format_i64(query.next, text);
        json_put_string(json, "next", query.next != 0 ? (Str){text, len} : STR_NULL);
    }
    json_write_object_end(json);
    exchange_send(exchange);
}

// ---- GET /handlers/{id}, /results/{id} ----

static void get_handler(Exchange *exchange) {
    RunRow run;
    if (handler_find(exchange, exchange->parameters[0], &run))
        handler_send(exchange, &run, 202, false);
}

static void get_result(Exchange *exchange) {
    RunRow run;
    if (handler_find(exchange, exchange->parameters[0], &run))
        handler_send(exchange, &run, 202, true);
}

// ---- GET /events/{id} ----

static const Field stream_query[] = {
    {"sse", "boolean", false, "Otherwise one envelope per line."},
    {"include_internal", "boolean", false, "Also what the engine does."},
    {"include_qualified_name", "boolean", false, "Otherwise it is null."},
    {"after_sequence", "string", false, "A number (-1: from the start) or `now`, the default."},
    {0},
};

static bool is_word(Str text, Str lower) {
    return text.len == lower.len && strncasecmp(text.data, lower.data, lower.len) == 0;
}

static bool read_flag(const Exchange *exchange, const char *name, bool otherwise) {
    Str text = exchange_query(exchange, name);
    if (text.len == 0) return otherwise;
    return is_word(text, STR("true")) || is_word(text, STR("yes")) || is_word(text, STR("1"));
}

// The number of the last entry there is.
static bool find_last(Exchange *exchange, const RunRow *run, int64_t *ret_seq) {
    Query query = {.kind = QUERY_LOG, .run_id = run->id, .after = run->log_seq, .limit = 1000};
    *ret_seq = run->log_seq;
    do {
        Diag diag;
        diag_clear(&diag);
        Status status =
            store_read(exchange->server->engine->store, &exchange->arena, &query, &diag);
        if (status != OK) {
            handler_refuse_diag(exchange, status, &diag);
            return false;
        }
        if (query.count > 0) *ret_seq = query.after = query.log[query.count - 1].seq;
    } while (query.count > 0);
    return true;
}

static bool read_sequence(Str text, int64_t *ret_after) {
    bool is_negative = text.len > 0 && text.data[0] == '-';
    Str digits = is_negative ? (Str){text.data + 1, text.len - 1} : text;
    if (!number_parse_count(digits, INT64_MAX, ret_after)) return false;
    if (is_negative) *ret_after = 0; // from the beginning
    return true;
}

// Where to begin; Last-Event-ID wins if it is a number of ours. False when it was refused.
static bool read_start(Exchange *exchange, const RunRow *run, int64_t *ret_after) {
    if (read_sequence(exchange_header(exchange, "Last-Event-ID"), ret_after)) return true;
    Str text = exchange_query(exchange, "after_sequence");
    if (text.len == 0 || is_word(text, STR("now"))) return find_last(exchange, run, ret_after);
    if (read_sequence(text, ret_after)) return true;
    handler_refuse(exchange, 400, "after_sequence must be an integer or 'now'");
    return false;
}

typedef struct Reading {
    HandlerStream options;
    RunRow run;
    int64_t after;
} Reading;

static void begin_reading(Exchange *exchange) {
    const Reading *reading = exchange->state;
    handler_stream_begin(exchange, &reading->options, &reading->run, reading->after);
}

// A run that ended or woke meanwhile needs no reload: its log is there all the same.
static void reloaded(Exchange *exchange) {
    const Op *op = &exchange->request->op;
    if (op->status == ERR_UNAVAILABLE || op->status == ERR_CORRUPT)
        handler_refuse_diag(exchange, op->status, &op->diag);
    else begin_reading(exchange);
}

static void get_events(Exchange *exchange) {
    RunRow run;
    int64_t after;
    if (!handler_find(exchange, exchange->parameters[0], &run)) return;
    if (!read_start(exchange, &run, &after)) return;
    bool has_ended = run_state_is_terminal(run.state);
    if (has_ended && after >= run.result_seq) {
        exchange_send_text(exchange, 204, NULL, STR(""));
        return;
    }
    Reading *reading = ARENA_NEW(&exchange->arena, Reading);
    reading->run = run;
    reading->after = after;
    reading->options = (HandlerStream){
        .is_sse = read_flag(exchange, "sse", true),
        .has_internal = read_flag(exchange, "include_internal", false),
        .has_full_names = read_flag(exchange, "include_qualified_name", true),
    };
    exchange->state = reading;
    if (!engine_has_released(exchange->server->engine, &run)) {
        begin_reading(exchange);
        return;
    }
    exchange_op(exchange, OP_NOTE_RELOADED)->memory.run_id = exchange->parameters[0];
    exchange_submit_any(exchange, reloaded);
}

// ---- POST /events/{id} ----

// Whether the engine did what was asked for; otherwise it has been answered why not.
static bool is_done(Exchange *exchange) {
    const Op *op = &exchange->request->op;
    if (op->status == ERR_NOT_FOUND) handler_refuse(exchange, 404, "Handler not found");
    else if (op->status != OK) handler_refuse_diag(exchange, op->status, &op->diag);
    return op->status == OK;
}

static void sent(Exchange *exchange) {
    if (exchange->request->op.status == ERR_TERMINAL)
        handler_refuse(exchange, 409, "Workflow already completed");
    else if (is_done(exchange)) handler_send_word(exchange, 200, "sent");
}

// The events the definition lists; NULL when it lists none.
static const JsonValue *listed_events(Exchange *exchange, const RunRow *run) {
    Query query = {.kind = QUERY_DEFINITION, .run = run->definition};
    Diag diag;
    JsonValue *config;
    if (run->definition == 0 ||
        store_read(exchange->server->engine->store, &exchange->arena, &query, &diag) != OK ||
        str_is_null(query.definitions[0].config) ||
        json_parse(&exchange->arena, query.definitions[0].config, &config, &diag) != OK ||
        config->kind != JSON_KIND_OBJECT)
        return NULL;
    const JsonValue *events = json_member(config, STR("events"));
    return events != NULL && events->kind == JSON_KIND_ARRAY && events->count > 0 ? events : NULL;
}

static bool check_listed(Exchange *exchange, const RunRow *run, Str type) {
    const JsonValue *events = listed_events(exchange, run);
    if (events == NULL) return true;
    Str names = STR_NULL;
    JSON_EACH(event, events) {
        if (event->kind != JSON_KIND_STRING) continue;
        if (str_equal(event->string, type)) return true;
        names = str_is_null(names) ? event->string
                                   : arena_printf(&exchange->arena, "%.*s, %.*s", STR_ARG(names),
                                                  STR_ARG(event->string));
    }
    handler_refuse(exchange, 400, "Invalid event type: %.*s. Expected one of %.*s", STR_ARG(type),
                   STR_ARG(names));
    return false;
}

static bool is_empty(const JsonValue *event) {
    if (event == NULL || event->kind == JSON_KIND_NULL) return true;
    if (event->kind == JSON_KIND_STRING) return event->string.len == 0;
    return event->kind == JSON_KIND_OBJECT && event->count == 0;
}

static bool read_event(Exchange *exchange, HandlerEvent *ret_event) {
    JsonValue *body;
    Diag diag;
    Status status = json_parse(&exchange->arena, buf_str(&exchange->body), &body, &diag);
    if (exchange->body.len == 0) {
        handler_refuse(exchange, 400, "Event data is required");
        return false;
    }
    const JsonValue *event = NULL;
    if (status == OK && body->kind != JSON_KIND_OBJECT)
        status = diag_set(&diag, ERR_INVALID, "BAD_REQUEST", "the body must be a JSON object");
    if (status == OK) event = json_member(body, STR("event"));
    bool is_missing = status == OK && is_empty(event);
    if (is_missing) {
        handler_refuse(exchange, 400, "Event data is required");
        return false;
    }
    if (status == OK) status = handler_event_read(&exchange->arena, event, ret_event, &diag);
    if (status == OK && ret_event->type.len == 0)
        status = diag_set(&diag, ERR_INVALID, "BAD_REQUEST", "the event has no type");
    if (status == OK)
        status = name_check(ret_event->type, "the event's type", "BAD_NAME", LIMIT_NAME_SIZE,
                                &diag);
    if (status == OK && ret_event->value.len > LIMIT_PAYLOAD_SIZE)
        status = diag_set(&diag, ERR_LIMIT, "PAYLOAD_TOO_LARGE", "the event is too large");
    if (status != OK) handler_refuse(exchange, status == ERR_LIMIT ? 413 : 400, "%s", diag.message);
    return status == OK;
}

static void post_event(Exchange *exchange) {
    RunRow run;
    HandlerEvent event;
    if (!handler_find(exchange, exchange->parameters[0], &run)) return;
    if (run_state_is_terminal(run.state)) {
        handler_refuse(exchange, 409, "Workflow already completed");
        return;
    }
    if (!read_event(exchange, &event) || !check_listed(exchange, &run, event.type)) return;
    Op *op = exchange_op(exchange, OP_SIGNAL);
    IdText text;
    op->signal.run_id = exchange->parameters[0];
    op->signal.name = event.type;
    op->signal.payload = event.value;
    op->signal.id =
        arena_str(&exchange->arena, engine_new_id(exchange->server->engine, "evt_", &text));
    exchange_submit_any(exchange, sent);
}

// ---- POST /handlers/{id}/cancel ----

static const Field cancel_query[] = {
    {"purge", "boolean", false, "Also remove it and all that belongs to it."}, {0}};

static void cancel_ended(Exchange *exchange) {
    handler_send_word(exchange, 200, "cancelled");
}

static void cancelled(Exchange *exchange) {
    const Op *op = &exchange->request->op;
    if (!is_done(exchange)) return;
    if (!op->cancel.is_changed) handler_refuse(exchange, 404, "Handler not found");
    else exchange_await(exchange, op->cancel.run_id, CANCEL_WAIT_MS, cancel_ended); // its cleanup
}

static void purged(Exchange *exchange) {
    if (is_done(exchange)) handler_send_word(exchange, 200, "deleted");
}

static void purge(Exchange *exchange) {
    exchange_op(exchange, OP_PURGE_RUN)->purge.run_id = exchange->parameters[0];
    exchange_submit_any(exchange, purged);
}

static void cancelled_at_once(Exchange *exchange) {
    if (is_done(exchange)) purge(exchange);
}

static void cancel_handler(Exchange *exchange) {
    bool is_purged = read_flag(exchange, "purge", false);
    Op *op = exchange_op(exchange, OP_CANCEL);
    op->cancel.run_id = exchange->parameters[0];
    op->cancel.grace_ms = is_purged ? 0 : exchange->server->engine->cancel_grace_ms;
    exchange_submit_any(exchange, is_purged ? cancelled_at_once : cancelled);
}

// ---- POST /handlers/{id}/release ----

static void released(Exchange *exchange) {
    if (is_done(exchange)) handler_send_word(exchange, 200, "released");
}

static void release_handler(Exchange *exchange) {
    exchange_op(exchange, OP_NOTE_RELEASED)->memory.run_id = exchange->parameters[0];
    exchange_submit_any(exchange, released);
}

static const Route routes[] = {
    HANDLER_ROUTE("GET", "/handlers", SCOPE_READ, BODY_NONE, list_query, list_handlers),
    HANDLER_ROUTE("GET", "/handlers/{id}", SCOPE_READ, BODY_NONE, NULL, get_handler),
    HANDLER_ROUTE("GET", "/results/{id}", SCOPE_READ, BODY_NONE, NULL, get_result),
    HANDLER_ROUTE("GET", "/events/{id}", SCOPE_READ, BODY_NONE, stream_query, get_events),
    HANDLER_ROUTE("POST", "/events/{id}", SCOPE_CLIENT, BODY_PAYLOAD, NULL, post_event),
    HANDLER_ROUTE("POST", "/handlers/{id}/cancel", SCOPE_CLIENT, BODY_PAYLOAD, cancel_query,
                  cancel_handler),
    HANDLER_ROUTE("POST", "/handlers/{id}/release", SCOPE_CLIENT, BODY_PAYLOAD, NULL,
                  release_handler),
};
const RouteTable routes_handlers = {routes, sizeof routes / sizeof routes[0]};

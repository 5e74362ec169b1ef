// The handler API: handlers, their results, and events to and from them.
//
// An event is acknowledged when it is durable and not before; what it does comes through the
// stream. Errors are {"detail": text} with the words that clients know.
//
// Not here: workflows and starting them (handlers/flows.c), what envelopes look like
// (handlers/stream.c).
#include <strings.h>

#include "base/array.h"
#include "base/text/name.h"
#include "base/text/number.h"
#include "server/handlers/handler.h"

enum { CANCEL_WAIT_MS = 10000 };

// ---- GET /handlers ----

static const Field list_query[] = {
    {"handler_id", "strings", false, "Repeatable."},
    {"status", "strings", false, "Repeatable; one that nobody knows finds nothing."},
    {"workflow_name", "strings", false, "Repeatable."},
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

// A list of a query; null when it has nothing but empty values, which are ignored.
static Str read_list(Exchange *exchange, const char *name) {
    Str list = parts_query_list(exchange, name, false);
    return list.len > 0 ? list : STR_NULL;
}

// A filter that is passed over would answer too much.
static bool check_known(Exchange *exchange) {
    for (size_t i = 0; i < exchange->query_count; i++) {
        Str name = exchange->query[i].name;
        if (route_parameter(exchange->route, name) != NULL) continue;
        handler_refuse(exchange, 400, "Unknown parameter: %.*s", STR_ARG(name));
        return false;
    }
    return true;
}

// False when nothing can match.
static bool read_filter(Exchange *exchange, RunFilter *filter) {
    Str statuses = read_list(exchange, "status"), status;
    bool is_any = str_is_null(statuses);
    while (str_split(&statuses, '\n', &status)) filter->states |= states_of(status);
    filter->workflows = read_list(exchange, "workflow_name");
    filter->ids = read_list(exchange, "handler_id");
    filter->is_oldest_first = true;
    return is_any || filter->states != 0;
}

// One page from filter->cursor on, which moves to the next one; false when the exchange has been
// answered. What was read is forgotten and what was written leaves memory on the way: there may be
// any number of pages.
static bool put_page(Exchange *exchange, JsonWriter *json, RunFilter *filter) {
    RunPage page;
    Diag diag;
    diag_clear(&diag);
    ArenaMark mark = arena_mark(&exchange->arena);
    Status status =
        store_list_runs(exchange_store(exchange), &exchange->arena, filter, &page, &diag);
    if (status != OK) {
        handler_refuse_diag(exchange, status, &diag);
        return false;
    }
    for (size_t i = 0; i < page.count; i++) {
        ArenaMark row_mark = arena_mark(&exchange->arena);
        if (!handler_put(exchange, json, &page.rows[i], false) || !exchange_spill(exchange))
            return false;
        arena_rewind(&exchange->arena, row_mark);
    }
    filter->cursor = page.next;
    arena_rewind(&exchange->arena, mark);
    return true;
}

static void list_handlers(Exchange *exchange) {
    RunFilter filter = {.size_max = HANDLER_PAGE_SIZE};
    bool is_empty = !read_filter(exchange, &filter);
    int64_t limit = 0;
    if (!check_known(exchange) ||
        !exchange_query_count(exchange, "limit", LIMIT_LIST_PAGE, &limit) ||
        !exchange_query_count(exchange, "cursor", INT64_MAX, &filter.cursor) ||
        !exchange_query_instant(exchange, "idle_before", &filter.idle_before_ms))
        return;
    filter.limit = limit > 0 ? limit : LIMIT_LIST_PAGE;
    if (is_empty) filter.cursor = 0;
    JsonWriter *json = exchange_begin(exchange, 200);
    json_write_object_begin(json);
    json_write_key(json, STR("handlers"));
    json_write_array_begin(json);
    while (!is_empty) {
        if (!put_page(exchange, json, &filter)) return;
        if (limit > 0 || filter.cursor == 0) break;
    }
    json_write_array_end(json);
    if (limit > 0) {
        char text[NUMBER_TEXT_MAX];
        size_t len = number_format_i64(filter.cursor, text);
        json_put_string(json, "next", filter.cursor != 0 ? (Str){text, len} : STR_NULL);
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
    LogFilter filter = {run_of_id(run->id), {.after = run->log_seq, .limit = 1000}};
    LogPage page;
    do {
        Diag diag;
        diag_clear(&diag);
        Status status =
            store_read_log(exchange_store(exchange), &exchange->arena, &filter, &page, &diag);
        if (status != OK) {
            handler_refuse_diag(exchange, status, &diag);
            return false;
        }
        if (page.count > 0) filter.page.after = page.rows[page.count - 1].seq;
    } while (page.count > 0);
    *ret_seq = filter.page.after;
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
    handler_refuse(exchange, 400, "Invalid after_sequence: '%.*s'; it is an integer or now",
                   STR_ARG(text));
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
    if (request_is_unanswered(op->out.status) || op->out.status == ERR_CORRUPT)
        handler_refuse_diag(exchange, op->out.status, &op->out.diag);
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
    exchange_op(exchange, OP_NOTE_RELOADED)->in.memory.run_id = exchange->parameters[0];
    exchange_submit_any(exchange, reloaded);
}

// ---- POST /events/{id} ----

// Whether the engine did what was asked for; otherwise it has been answered why not.
static bool is_done(Exchange *exchange) {
    const Op *op = &exchange->request->op;
    if (op->out.status == ERR_NOT_FOUND) handler_refuse(exchange, 404, "Handler not found");
    else if (op->out.status != OK) handler_refuse_diag(exchange, op->out.status, &op->out.diag);
    return op->out.status == OK;
}

static void sent(Exchange *exchange) {
    if (exchange->request->op.out.status == ERR_TERMINAL)
        handler_refuse(exchange, 409, "Workflow already completed");
    else if (is_done(exchange)) handler_send_word(exchange, 200, "sent");
}

// The events the definition lists; NULL when it lists none.
static const JsonValue *listed_events(Exchange *exchange, const RunRow *run) {
    DefinitionRow row;
    Diag diag;
    JsonValue *config;
    if (run->definition == 0 ||
        store_definition_by_key(exchange_store(exchange), &exchange->arena, run->definition, &row,
                                &diag) != OK ||
        str_is_null(row.config) || json_parse(&exchange->arena, row.config, &config, &diag) != OK ||
        config->kind != JSON_KIND_OBJECT)
        return NULL;
    const JsonValue *events = json_member(config, STR("events"));
    return events != NULL && events->kind == JSON_KIND_ARRAY && events->count > 0 ? events : NULL;
}

static bool check_listed(Exchange *exchange, const RunRow *run, Str type) {
    const JsonValue *events = listed_events(exchange, run);
    if (events == NULL) return true;
    Str names = STR_NULL;
    JSON_EACH (event, events) {
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

// The member "event" of the body; NULL: it was refused.
static const JsonValue *find_event(Exchange *exchange) {
    JsonValue *body;
    Diag diag;
    Status status = exchange_parse(exchange, buf_str(&exchange->body), &body, &diag);
    if (status == OK && body->kind != JSON_KIND_OBJECT)
        status = diag_set(&diag, ERR_INVALID, "BAD_REQUEST", "the body must be a JSON object");
    if (status != OK) {
        handler_refuse(exchange, 400, "Error processing request: %s", diag.message);
        return NULL;
    }
    const JsonValue *event = json_member(body, STR("event"));
    if (!is_empty(event)) return event;
    handler_refuse(exchange, 400, "Event data is required");
    return NULL;
}

static bool read_event(Exchange *exchange, const JsonValue *given, HandlerEvent *ret_event) {
    Diag diag;
    Status status = handler_event_read(exchange, given, ret_event, &diag);
    if (status == OK && ret_event->type.len == 0)
        status =
            diag_set(&diag, ERR_INVALID, "BAD_REQUEST", "it must have a type or a qualified name");
    if (status == OK)
        status =
            name_check(ret_event->type, "the event's type", "BAD_NAME", LIMIT_NAME_SIZE, &diag);
    if (status == OK && ret_event->value.len > LIMIT_PAYLOAD_SIZE)
        status = diag_set(&diag, ERR_LIMIT, "PAYLOAD_TOO_LARGE", "the event is too large");
    if (status != OK)
        handler_refuse(exchange, status == ERR_LIMIT ? 413 : 400, "Failed to deserialize event: %s",
                       diag.message);
    return status == OK;
}

// Where it is known already that nothing could come of an event, it is not taken.
static bool check_kept(Exchange *exchange, const RunRow *run) {
    Diag diag;
    if (engine_check_released(exchange->server->engine, run, &diag) == OK) return true;
    LOG(exchange->server->config.logger, LOG_ERROR,
        "run %.*s (%.*s) cannot be brought back into memory: %s (%s)", STR_ARG(run->id),
        STR_ARG(run->workflow), diag.message, diag.code);
    handler_refuse(exchange, 500, "%s (%s)", diag.message, diag.code);
    return false;
}

static void post_event(Exchange *exchange) {
    RunRow run;
    HandlerEvent event;
    const JsonValue *given = find_event(exchange);
    if (given == NULL || !handler_find(exchange, exchange->parameters[0], &run)) return;
    if (run_state_is_terminal(run.state)) {
        handler_refuse(exchange, 409, "Workflow already completed");
        return;
    }
    if (!read_event(exchange, given, &event) || !check_listed(exchange, &run, event.type)) return;
    if (!check_kept(exchange, &run)) return;
    Op *op = exchange_op(exchange, OP_SIGNAL);
    IdText text;
    op->in.signal.run_id = exchange->parameters[0];
    op->in.signal.name = event.type;
    op->in.signal.payload = event.value;
    op->in.signal.id =
        arena_str(&exchange->arena, engine_new_id(exchange->server->engine, "evt_", &text));
    exchange_submit_any(exchange, sent);
}

// ---- POST /handlers/{id}/cancel ----

static const Field cancel_query[] = {
    {"purge", "boolean", false, "Also remove it and all that belongs to it."}, {0}};

static void cancel_ended(Exchange *exchange) { handler_send_word(exchange, 200, "cancelled"); }

static void cancelled(Exchange *exchange) {
    const Op *op = &exchange->request->op;
    if (!is_done(exchange)) return;
    if (!op->out.cancel.is_changed) handler_refuse(exchange, 404, "Handler not found");
    else
        exchange_await(exchange, op->in.cancel.run_id, CANCEL_WAIT_MS, cancel_ended); // its cleanup
}

static void purged(Exchange *exchange) {
    if (is_done(exchange)) handler_send_word(exchange, 200, "deleted");
}

static void purge(Exchange *exchange) {
    exchange_op(exchange, OP_PURGE_RUN)->in.purge.run_id = exchange->parameters[0];
    exchange_submit_any(exchange, purged);
}

static void cancelled_at_once(Exchange *exchange) {
    if (is_done(exchange)) purge(exchange);
}

static void cancel_handler(Exchange *exchange) {
    bool is_purged = read_flag(exchange, "purge", false);
    Op *op = exchange_op(exchange, OP_CANCEL);
    op->in.cancel.run_id = exchange->parameters[0];
    op->in.cancel.grace_ms = is_purged ? 0 : engine_cancel_grace_ms(exchange->server->engine);
    exchange_submit_any(exchange, is_purged ? cancelled_at_once : cancelled);
}

// ---- POST /handlers/{id}/release ----

static void released(Exchange *exchange) {
    if (is_done(exchange)) handler_send_word(exchange, 200, "released");
}

static void release_handler(Exchange *exchange) {
    exchange_op(exchange, OP_NOTE_RELEASED)->in.memory.run_id = exchange->parameters[0];
    exchange_submit_any(exchange, released);
}

static const Field event_fields[] = {
    {"event", "any", true, "An Envelope, or one as a JSON string; `data` stands for `value`."},
    {"step", "string", false, "Not needed: whoever waits for that type gets it."},
    {0}};
static const RouteAnswer list_answers[] = {
    {200, "All there are, or a page.", "HandlerList"}, HANDLER_MALFORMED, {0}};
static const RouteAnswer handler_answers[] = {{200, "It has completed.", "Handler"},
                                              {202, "It goes on.", "Handler"},
                                              {500, "It failed or was cancelled.", "Handler"},
                                              HANDLER_MALFORMED,
                                              HANDLER_UNKNOWN,
                                              {0}};
static const RouteAnswer result_answers[] = {{200, "It has completed.", "HandlerResult"},
                                             {202, "It goes on.", "HandlerResult"},
                                             {500, "It failed or was cancelled.", "HandlerResult"},
                                             HANDLER_MALFORMED,
                                             HANDLER_UNKNOWN,
                                             {0}};
static const RouteAnswer stream_answers[] = {
    {200, "One Envelope per event; id: its number.", "text/event-stream application/x-ndjson"},
    {204, "The run has ended and nothing is left to be read.", NULL},
    HANDLER_MALFORMED,
    HANDLER_UNKNOWN,
    {0}};
static const RouteAnswer sent_answers[] = {
    {200, "It is durable.", "Word"},
    HANDLER_MALFORMED,
    HANDLER_UNKNOWN,
    {409, "The run has ended.", "Detail"},
    {500, "What is kept of the run cannot be read.", "Detail"},
    {0}};
static const RouteAnswer cancel_answers[] = {
    {200, "It was cancelled, or removed.", "Word"}, HANDLER_MALFORMED, HANDLER_UNKNOWN, {0}};
static const RouteAnswer release_answers[] = {{200, "It is out of memory.", "Word"},
                                              HANDLER_MALFORMED,
                                              HANDLER_UNKNOWN,
                                              {409, "It is not idle, or is being read.", "Detail"},
                                              {0}};

static const Route routes[] = {
    {"GET", "/handlers", "listHandlers", "List handlers, oldest first", SCOPE_READ, BODY_NONE, NULL,
     list_query, list_answers, foreign_codes, list_handlers},
    {"GET", "/handlers/{id}", "getHandler", "Show a handler", SCOPE_READ, BODY_NONE, NULL, NULL,
     handler_answers, foreign_codes, get_handler},
    {"GET", "/results/{id}", "getHandlerResult", "Show a handler with its bare result", SCOPE_READ,
     BODY_NONE, NULL, NULL, result_answers, foreign_codes, get_result},
    {"GET", "/events/{id}", "streamHandlerEvents", "The events of a handler", SCOPE_READ, BODY_NONE,
     NULL, stream_query, stream_answers, foreign_codes, get_events},
    {"POST", "/events/{id}", "sendHandlerEvent", "Send an event to a handler", SCOPE_CLIENT,
     BODY_PAYLOAD, event_fields, NULL, sent_answers, foreign_codes, post_event},
    {"POST", "/handlers/{id}/cancel", "cancelHandler", "Cancel a handler, or remove it",
     SCOPE_CLIENT, BODY_PAYLOAD, NULL, cancel_query, cancel_answers, foreign_codes, cancel_handler},
    {"POST", "/handlers/{id}/release", "releaseHandler", "Take an idle handler out of memory",
     SCOPE_CLIENT, BODY_PAYLOAD, NULL, NULL, release_answers, foreign_codes, release_handler},
};
const RouteTable routes_handlers = {routes, COUNT_OF(routes)};

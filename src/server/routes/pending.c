// What is pending: events that are kept on a topic, signals that a run has not taken.
//
// Both are listed oldest first, the order in which they will be taken, and named by a number of
// their own: ids of events are the caller's, and may occur twice. Removing all of them is done in
// several operations, one after the other; what comes meanwhile is left alone.
//
// Not here: publishing (routes/events.c), signalling (routes/changes.c).
#include "base/array.h"
#include "base/text/number.h"
#include "server/exchange/parts.h"

static const Field page_query[] = {PAGE_FIELDS, {0}};
static const Field signals_query[] = {
    {"name", "string", false, "Only those of this name."},
    {"id", "string", false, "Only this one: the `id` in the list of pending signals."},
    {0}};

// ---- lists ----

static void put_event(Exchange *exchange, JsonWriter *json, const void *row) {
    const EventRow *event = row;
    const RenderMask *mask =
        event_is_signal(event) ? parts_mask_of(exchange, event->run) : parts_common_mask(exchange);
    render_event(json, event, mask);
}

static void list_events(Exchange *exchange) {
    EventFilter filter = {.topic = exchange->parameters[0]};
    EventPage page;
    Diag diag = {0};
    if (!parts_check(exchange, filter.topic, "the topic", "BAD_NAME")) return;
    if (!parts_page(exchange, &filter.page)) return;
    Status status =
        store_list_events(exchange_store(exchange), &exchange->arena, &filter, &page, &diag);
    if (!exchange_found(exchange, status, &diag)) return;
    parts_send_page(exchange, ROW_LIST(page), page.next, put_event);
}

static void list_signals(Exchange *exchange) {
    SignalFilter filter = {.run = run_of_id(exchange->parameters[0])};
    EventPage page;
    Diag diag = {0};
    if (!parts_page(exchange, &filter.page)) return;
    Status status =
        store_list_signals(exchange_store(exchange), &exchange->arena, &filter, &page, &diag);
    if (!exchange_found(exchange, status, &diag)) return;
    parts_send_page(exchange, ROW_LIST(page), page.next, put_event);
}

// ---- removing ----

typedef struct Removing {
    OpKind kind;
    EventRemoval removal; // what is asked for next
    int64_t removed_count;
} Removing;

static void removed(Exchange *exchange);

static void go_on_removing(Exchange *exchange) {
    const Removing *removing = exchange->state;
    exchange_op(exchange, removing->kind)->in.remove_events = removing->removal;
    exchange_submit(exchange, removed);
}

static void removed(Exchange *exchange) {
    const EventRemovalReply *part = &exchange->request->op.out.remove_events;
    Removing *removing = exchange->state;
    removing->removed_count += part->removed_count;
    removing->removal.after_key = part->next_key;
    removing->removal.up_to_key = part->newest_key;
    if (part->next_key != 0) {
        go_on_removing(exchange);
        return;
    }
    JsonWriter *json = exchange_begin(exchange, 200);
    json_write_object_begin(json);
    json_put_i64(json, "removed", removing->removed_count);
    json_write_object_end(json);
    exchange_send(exchange);
}

static void begin_removing(Exchange *exchange, OpKind kind, const EventRemoval *removal) {
    Removing *removing = ARENA_NEW(&exchange->arena, Removing);
    *removing = (Removing){.kind = kind, .removal = *removal};
    exchange->state = removing;
    go_on_removing(exchange);
}

static bool read_key(Exchange *exchange, Str text, const char *code, int64_t *ret_key) {
    if (number_parse_count(text, INT64_MAX, ret_key) && *ret_key > 0) return true;
    exchange_refuse_with(exchange, ERR_NOT_FOUND, code, "nothing pending is called \"%.*s\"",
                         STR_ARG(text));
    return false;
}

static void remove_events(Exchange *exchange) {
    EventRemoval removal = {.topic = exchange->parameters[0]};
    if (parts_check(exchange, removal.topic, "the topic", "BAD_NAME"))
        begin_removing(exchange, OP_REMOVE_EVENTS, &removal);
}

static void remove_event(Exchange *exchange) {
    EventRemoval removal = {.topic = exchange->parameters[0]};
    if (!parts_check(exchange, removal.topic, "the topic", "BAD_NAME")) return;
    if (read_key(exchange, exchange->parameters[1], "EVENT_NOT_FOUND", &removal.key))
        begin_removing(exchange, OP_REMOVE_EVENTS, &removal);
}

static void remove_signals(Exchange *exchange) {
    EventRemoval removal = {.run_id = exchange->parameters[0],
                            .name = exchange_query(exchange, "name")};
    Str id = exchange_query(exchange, "id");
    if (!str_is_null(removal.name) && !parts_check(exchange, removal.name, "name", "BAD_NAME"))
        return;
    if (str_is_null(id) || read_key(exchange, id, "SIGNAL_NOT_FOUND", &removal.key))
        begin_removing(exchange, OP_REMOVE_SIGNALS, &removal);
}

static const RouteAnswer pending_answers[] = {{200, "A page, oldest first.", "PendingList"}, {0}};
static const RouteAnswer removed_answers[] = {{200, "How many are gone.", "Removed"}, {0}};
static const char *const topic_codes[] = {"BAD_NAME", NULL};
static const char *const event_codes[] = {"BAD_NAME", "EVENT_NOT_FOUND", NULL};
static const char *const run_codes[] = {"RUN_NOT_FOUND", NULL};
static const char *const signal_codes[] = {"RUN_NOT_FOUND", "BAD_NAME", "SIGNAL_NOT_FOUND", NULL};

static const Route routes[] = {
    {"GET", "/v1/topics/{topic}/events", "listEvents", "Pending events of a topic", SCOPE_READ,
     BODY_NONE, NULL, page_query, pending_answers, topic_codes, list_events},
    {"DELETE", "/v1/topics/{topic}/events", "removeEvents", "Remove all pending events of a topic",
     SCOPE_CLIENT, BODY_NONE, NULL, NULL, removed_answers, topic_codes, remove_events},
    {"DELETE", "/v1/topics/{topic}/events/{id}", "removeEvent", "Remove a pending event",
     SCOPE_CLIENT, BODY_NONE, NULL, NULL, removed_answers, event_codes, remove_event},
    {"GET", "/v1/runs/{id}/signals", "listSignals", "Signals that a run has not taken yet",
     SCOPE_READ, BODY_NONE, NULL, page_query, pending_answers, run_codes, list_signals},
    {"DELETE", "/v1/runs/{id}/signals", "removeSignals", "Remove pending signals of a run",
     SCOPE_CLIENT, BODY_NONE, NULL, signals_query, removed_answers, signal_codes, remove_signals},
};
const RouteTable routes_pending = {routes, COUNT_OF(routes)};

// Topic events, topics and dead letters.
//
// A topic needs not to be made before it is used; setting its policy is all there is to it. Topics
// are listed by name, everything else newest first.
//
// Not here: signals to one run (routes/changes.c), what is pending (routes/pending.c).
#include "base/array.h"
#include "base/text/number.h"
#include "base/time/duration.h"
#include "server/exchange/parts.h"

// ---- events ----

static const Field emit_query[] = {
    {"id", "string", false, "Deduplicates: a second event with this id does nothing."}, {0}};

static void published(Exchange *exchange) {
    const Op *op = &exchange->request->op;
    JsonWriter *json = exchange_begin(exchange, 202);
    json_write_object_begin(json);
    json_put_string(json, "event_id", op->in.publish.event.id);
    json_put_i64(json, "resumed", op->out.publish.resumed_count);
    json_put_bool(json, "pending", op->out.publish.is_kept);
    json_put_bool(json, "duplicate", op->out.publish.is_duplicate);
    json_write_object_end(json);
    exchange_send(exchange);
}

static void publish_event(Exchange *exchange) {
    EventSpec *event = &exchange_op(exchange, OP_PUBLISH)->in.publish.event;
    event->topic = exchange->parameters[0];
    if (!parts_check(exchange, event->topic, "the topic", "BAD_NAME")) return;
    if (!exchange_payload(exchange, &event->payload)) return;
    event->id = exchange_query(exchange, "id");
    event->is_deduplicated = !str_is_null(event->id);
    IdText text;
    if (!event->is_deduplicated)
        event->id =
            arena_str(&exchange->arena, engine_new_id(exchange->server->engine, "evt_", &text));
    else if (!parts_check(exchange, event->id, "id", "BAD_KEY")) return;
    exchange_submit(exchange, published);
}

static const Field page_query[] = {PAGE_FIELDS, {0}};

// ---- topics ----

static const Field topic_fields[] = {
    {"consume", "string", false, "`one`: the oldest waiter gets an event; `all`: every waiter."},
    {"visible", "string", false, "To whom: `all`, `after-create` or `after-wait`."},
    {"expire", "duration", false, "How long unread events are kept."},
    {"cap", "integer", false, "Most events that are kept; 0 is the server's setting."},
    {0}};

static Status read_choice(const JsonValue *body, const char *name, const char *const *choices,
                          int64_t *ret_index, Diag *diag) {
    Str text = STR_NULL;
    TRY(json_get_string(body, name, &text, diag));
    if (str_is_null(text)) return OK;
    for (int64_t i = 0; choices[i] != NULL; i++) {
        if (!str_equal(text, str_from(choices[i]))) continue;
        *ret_index = i;
        return OK;
    }
    return diag_set(diag, ERR_INVALID, "BAD_FIELD", "%s: \"%.*s\" is none of its values", name,
                    STR_ARG(text));
}

static void send_topic(Exchange *exchange) {
    const WaiterFilter filter = {.topic = exchange->parameters[0],
                                 .page = {.limit = LIMIT_LIST_PAGE, .size_max = PAGE_ROWS_SIZE}};
    TopicStat topic;
    RunPage waiters;
    Diag diag = {0};
    Status status =
        store_find_topic(exchange_store(exchange), &exchange->arena, filter.topic, &topic, &diag);
    if (status == OK)
        status = store_list_waiters(exchange_store(exchange), &exchange->arena, &filter, &waiters,
                                    &diag);
    if (!exchange_found(exchange, status, &diag)) return;
    JsonWriter *json = exchange_begin(exchange, 200);
    json_write_object_begin(json);
    render_topic_members(json, &topic.row, topic.is_full);
    json_write_key(json, STR("waiters"));
    json_write_array_begin(json);
    for (size_t i = 0; i < waiters.count; i++) json_write_string(json, waiters.rows[i].id);
    json_write_array_end(json);
    json_write_object_end(json);
    exchange_send(exchange);
}

static void get_topic(Exchange *exchange) {
    if (parts_check(exchange, exchange->parameters[0], "the topic", "BAD_NAME"))
        send_topic(exchange);
}

static const FieldColumn policy_columns[] = {{"consume", offsetof(TopicRow, consume)},
                                             {"visible", offsetof(TopicRow, visible)},
                                             {"expire", offsetof(TopicRow, expire_ms)},
                                             {"cap", offsetof(TopicRow, cap)},
                                             {0}};

static Status read_policy(const JsonValue *body, TopicRow *row, Diag *diag) {
    static const char *const consumes[] = {"one", "all", NULL};
    static const char *const visibles[] = {"all", "after-create", "after-wait", NULL};
    TRY(read_choice(body, "consume", consumes, &row->consume, diag));
    TRY(read_choice(body, "visible", visibles, &row->visible, diag));
    TRY(json_get_duration_ms(body, "expire", &row->expire_ms, diag));
    TRY(json_get_i64(body, "cap", &row->cap, diag));
    if (row->cap >= 0) return OK;
    return diag_set(diag, ERR_INVALID, "BAD_FIELD", "cap: not below 0");
}

// PUT sets what is missing to what it is unless given; PATCH leaves it as it is.
static void write_topic(Exchange *exchange, bool is_change) {
    const JsonValue *body = exchange_object(exchange);
    if (body == NULL) return;
    OpIn *in = &exchange_op(exchange, OP_SET_TOPIC)->in;
    TopicRow *row = &in->set_topic.row;
    row->name = exchange->parameters[0];
    row->consume = engine_default_consume(exchange->server->engine);
    if (!parts_check(exchange, row->name, "the topic", "BAD_NAME")) return;
    if (is_change) in->set_topic.kept = parts_kept(body, TABLE_TOPICS, policy_columns);
    Diag diag;
    Status status = read_policy(body, row, &diag);
    if (status != OK) exchange_refuse(exchange, status, &diag);
    else exchange_submit(exchange, send_topic);
}

static void set_topic(Exchange *exchange) { write_topic(exchange, false); }
static void change_topic(Exchange *exchange) { write_topic(exchange, true); }

static void put_topic(Exchange *exchange, JsonWriter *json, const void *row) {
    const TopicStat *topic = row;
    (void)exchange;
    json_write_object_begin(json);
    render_topic_members(json, &topic->row, topic->is_full);
    json_write_object_end(json);
}

static void list_topics(Exchange *exchange) {
    NamePageSpec spec;
    TopicPage page;
    Diag diag = {0};
    if (!parts_named_page(exchange, &spec)) return;
    Status status =
        store_list_topics(exchange_store(exchange), &exchange->arena, &spec, &page, &diag);
    if (!exchange_found(exchange, status, &diag)) return;
    bool has_more = page.has_more && page.count > 0;
    Str next = has_more ? page.rows[page.count - 1].row.name : STR_NULL;
    parts_send_list(exchange, ROW_LIST(page), next, put_topic);
}

// ---- dead letters ----

static void put_dead_letter(Exchange *exchange, JsonWriter *json, const void *row) {
    render_dead_letter(json, row, parts_common_mask(exchange));
}

static void list_dead_letters(Exchange *exchange) {
    PageSpec spec;
    DeadLetterPage page;
    Diag diag = {0};
    if (!parts_page(exchange, &spec)) return;
    Status status =
        store_list_dead_letters(exchange_store(exchange), &exchange->arena, &spec, &page, &diag);
    if (!exchange_found(exchange, status, &diag)) return;
    parts_send_page(exchange, ROW_LIST(page), page.next, put_dead_letter);
}

static bool letter_key(Exchange *exchange, int64_t *ret_key) {
    Str text = exchange->parameters[0];
    if (number_parse_count(text, INT64_MAX, ret_key)) return true;
    exchange_refuse_with(exchange, ERR_NOT_FOUND, "DEAD_LETTER_NOT_FOUND",
                         "there is no dead letter \"%.*s\"", STR_ARG(text));
    return false;
}

static void replayed(Exchange *exchange) {
    JsonWriter *json = exchange_begin(exchange, 200);
    json_write_object_begin(json);
    json_put_i64(json, "resumed", exchange->request->op.out.dead_letter.resumed_count);
    json_write_object_end(json);
    exchange_send(exchange);
}

static void replay_dead_letter(Exchange *exchange) {
    int64_t key;
    if (!letter_key(exchange, &key)) return;
    exchange_op(exchange, OP_REPLAY_DEAD_LETTER)->in.dead_letter.key = key;
    exchange_submit(exchange, replayed);
}

static void removed(Exchange *exchange) { exchange_send_text(exchange, 204, NULL, STR("")); }

static void remove_dead_letter(Exchange *exchange) {
    int64_t key;
    if (!letter_key(exchange, &key)) return;
    exchange_op(exchange, OP_REMOVE_DEAD_LETTER)->in.dead_letter.key = key;
    exchange_submit(exchange, removed);
}

static const RouteAnswer emit_answers[] = {{202, "It is durable.", "Published"}, {0}};
static const RouteAnswer topic_answers[] = {{200, "The topic.", "Topic"}, {0}};
static const RouteAnswer topics_answers[] = {{200, "A page, by name.", "TopicList"}, {0}};
static const RouteAnswer letters_answers[] = {{200, "A page, newest first.", "DeadLetterList"},
                                              {0}};
static const RouteAnswer replay_answers[] = {{200, "How many runs it woke.", "Replayed"}, {0}};
static const RouteAnswer gone_answers[] = {{204, "It is gone.", NULL}, {0}};
static const char *const emit_codes[] = {"BAD_NAME", "BAD_KEY", "TOPIC_FULL", NULL};
static const char *const topic_codes[] = {"BAD_NAME", NULL};
static const char *const replay_codes[] = {"DEAD_LETTER_NOT_FOUND", "TOPIC_FULL", NULL};
static const char *const letter_codes[] = {"DEAD_LETTER_NOT_FOUND", NULL};

static const Route routes[] = {
    {"POST", "/v1/events/{topic}", "publishEvent", "Publish an event; the body is its payload",
     SCOPE_CLIENT, BODY_PAYLOAD, NULL, emit_query, emit_answers, emit_codes, publish_event},
    {"GET", "/v1/topics", "listTopics", "List topics", SCOPE_READ, BODY_NONE, NULL, page_query,
     topics_answers, NULL, list_topics},
    {"GET", "/v1/topics/{topic}", "getTopic", "Policy, waiters and pending events of a topic",
     SCOPE_READ, BODY_NONE, NULL, NULL, topic_answers, topic_codes, get_topic},
    {"PUT", "/v1/topics/{topic}", "setTopic", "Set the policy of a topic", SCOPE_CLIENT,
     BODY_OBJECT, topic_fields, NULL, topic_answers, topic_codes, set_topic},
    {"PATCH", "/v1/topics/{topic}", "changeTopic",
     "Change what is given of the policy of a topic; the rest stays", SCOPE_CLIENT, BODY_OBJECT,
     topic_fields, NULL, topic_answers, topic_codes, change_topic},
    {"GET", "/v1/dead-letters", "listDeadLetters", "List dead letters", SCOPE_READ, BODY_NONE, NULL,
     page_query, letters_answers, NULL, list_dead_letters},
    {"POST", "/v1/dead-letters/{id}/replay", "replayDeadLetter", "Deliver a dead letter again",
     SCOPE_CLIENT, BODY_NONE, NULL, NULL, replay_answers, replay_codes, replay_dead_letter},
    {"DELETE", "/v1/dead-letters/{id}", "removeDeadLetter", "Remove a dead letter", SCOPE_CLIENT,
     BODY_NONE, NULL, NULL, gone_answers, letter_codes, remove_dead_letter},
};
const RouteTable routes_events = {routes, COUNT_OF(routes)};

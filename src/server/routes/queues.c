// Queues: what is in them, and their limits.
//
// A queue needs not to be made before it is used; setting its limits is all there is to it. Queues
// are listed by name. The queue of resume tasks is shown while there are any.
//
// Not here: what limits do (store/kernel/tasks/queues.c), the tasks themselves (routes/tasks.c).
#include "base/array.h"
#include "server/exchange/parts.h"

// ---- looking ----

static void put_period(JsonWriter *json, const QueueRow *row) {
    if (row->rate_count > 0) render_duration(json, "rate_period", row->rate_period_ms);
    else json_put_null(json, "rate_period");
}

static void render_queue(JsonWriter *json, const QueueStat *stat, int64_t now_ms) {
    const QueueRow *row = &stat->row;
    bool is_used_up = row->rate_count > 0 && row->rate_used >= row->rate_count;
    int64_t age_ms = stat->oldest_at_ms != 0 ? now_ms - stat->oldest_at_ms : 0;
    json_write_object_begin(json);
    json_put_string(json, "name", row->name);
    json_put_i64(json, "queued", row->queued_count);
    json_put_i64(json, "blocked", row->blocked_count);
    json_put_i64(json, "running", row->running_count);
    render_instant(json, "oldest_at", stat->oldest_at_ms);
    json_put_number(json, "oldest_age_seconds", age_ms > 0 ? (double)age_ms / 1000 : 0);
    json_put_bool(json, "set", row->is_explicit != 0);
    json_put_bool(json, "paused", row->is_paused != 0);
    json_put_i64(json, "max_running", row->max_running);
    json_put_i64(json, "max_per_key", row->max_per_key);
    json_put_i64(json, "rate_count", row->rate_count);
    put_period(json, row);
    render_instant(json, "opens_at", is_used_up ? row->rate_at_ms + row->rate_period_ms : 0);
    json_write_object_end(json);
}

static void put_queue(Exchange *exchange, JsonWriter *json, const void *row) {
    render_queue(json, row, exchange_now_ms(exchange));
}

static void list_queues(Exchange *exchange) {
    NamePageSpec spec;
    QueuePage page;
    Diag diag = {0};
    if (!parts_named_page(exchange, &spec)) return;
    Status status =
        store_list_queues(exchange_store(exchange), &exchange->arena, &spec, &page, &diag);
    if (!exchange_found(exchange, status, &diag)) return;
    bool has_more = page.has_more && page.count > 0;
    Str next = has_more ? page.rows[page.count - 1].row.name : STR_NULL;
    parts_send_list(exchange, ROW_LIST(page), next, put_queue);
}

static void send_queue(Exchange *exchange) {
    QueueStat queue;
    Diag diag = {0};
    Status status = store_find_queue(exchange_store(exchange), &exchange->arena,
                                     exchange->parameters[0], &queue, &diag);
    if (!exchange_found(exchange, status, &diag)) return;
    render_queue(exchange_begin(exchange, 200), &queue, exchange_now_ms(exchange));
    exchange_send(exchange);
}

static bool check_name(Exchange *exchange) {
    return parts_check(exchange, exchange->parameters[0], "the queue's name", "BAD_NAME");
}

static void get_queue(Exchange *exchange) {
    if (check_name(exchange)) send_queue(exchange);
}

// ---- limits ----

static const Field queue_fields[] = {
    {"max_running", "integer", false, "Tasks at a time; 0, unless given, is any number."},
    {"max_per_key", "integer", false,
     "Tasks of one concurrency key at a time; 1 unless given, 0 is any number."},
    {"rate_count", "integer", false, "Tasks handed out per period; 0 unless given: any number."},
    {"rate_period", "duration", false, "The period; goes with rate_count."},
    {"paused", "boolean", false, "Hand out nothing; false unless given."},
    {0}};

static const Field change_fields[] = {
    {"max_running", "integer", false, "Tasks at a time; 0 is any number."},
    {"max_per_key", "integer", false, "Tasks of one concurrency key at a time; 0 is any number."},
    {"rate_count", "integer", false, "Tasks handed out per period; 0 is any number."},
    {"rate_period", "duration", false, "The period of a rate."},
    {"paused", "boolean", false, "Hand out nothing."},
    {0}};

static const FieldColumn limit_columns[] = {{"max_running", offsetof(QueueRow, max_running)},
                                            {"max_per_key", offsetof(QueueRow, max_per_key)},
                                            {"rate_count", offsetof(QueueRow, rate_count)},
                                            {"rate_period", offsetof(QueueRow, rate_period_ms)},
                                            {"paused", offsetof(QueueRow, is_paused)},
                                            {0}};

static Status read_limits(const JsonValue *body, QueueRow *row, Diag *diag) {
    bool is_paused = false;
    TRY(json_get_i64(body, "max_running", &row->max_running, diag));
    TRY(json_get_i64(body, "max_per_key", &row->max_per_key, diag));
    TRY(json_get_i64(body, "rate_count", &row->rate_count, diag));
    TRY(json_get_duration_ms(body, "rate_period", &row->rate_period_ms, diag));
    TRY(json_get_bool(body, "paused", &is_paused, diag));
    row->is_paused = is_paused;
    return OK;
}

// PUT sets what is missing to what it is unless given; PATCH leaves it as it is.
static void write_queue(Exchange *exchange, bool is_change) {
    const JsonValue *body = exchange_object(exchange);
    if (body == NULL || !check_name(exchange)) return;
    OpIn *in = &exchange_op(exchange, OP_SET_QUEUE)->in;
    QueueRow *row = &in->set_queue.row;
    *row = (QueueRow){.name = exchange->parameters[0], .max_per_key = QUEUE_PER_KEY_DEFAULT};
    if (is_change) in->set_queue.kept = parts_kept(body, TABLE_QUEUES, limit_columns);
    Diag diag;
    Status status = read_limits(body, row, &diag);
    if (status != OK) exchange_refuse(exchange, status, &diag);
    else exchange_submit(exchange, send_queue);
}

static void set_queue(Exchange *exchange) { write_queue(exchange, false); }
static void change_queue(Exchange *exchange) { write_queue(exchange, true); }

static void changed(Exchange *exchange) {
    parts_send_changed(exchange, exchange->request->op.out.queue.is_changed);
}

static void act(Exchange *exchange, OpKind kind) {
    if (!check_name(exchange)) return;
    exchange_op(exchange, kind)->in.queue.name = exchange->parameters[0];
    exchange_submit(exchange, changed);
}

static void reset_queue(Exchange *exchange) { act(exchange, OP_REMOVE_QUEUE); }
static void pause_queue(Exchange *exchange) { act(exchange, OP_PAUSE_QUEUE); }
static void resume_queue(Exchange *exchange) { act(exchange, OP_RESUME_QUEUE); }

static const Field page_query[] = {PAGE_FIELDS, {0}};
static const RouteAnswer list_answers[] = {{200, "A page, by name.", "QueueList"}, {0}};
static const RouteAnswer queue_answers[] = {{200, "The queue.", "Queue"}, {0}};
static const RouteAnswer changed_answers[] = {{200, "Whether anything changed.", "Changed"}, {0}};
static const char *const name_codes[] = {"BAD_NAME", NULL};
static const char *const set_codes[] = {"BAD_NAME", "BAD_QUEUE_LIMIT", NULL};

static const Route routes[] = {
    {"GET", "/v1/queues", "listQueues", "List queues: depth, age, limits", SCOPE_READ, BODY_NONE,
     NULL, page_query, list_answers, NULL, list_queues},
    {"GET", "/v1/queues/{name}", "getQueue", "Show a queue", SCOPE_READ, BODY_NONE, NULL, NULL,
     queue_answers, name_codes, get_queue},
    {"PUT", "/v1/queues/{name}", "setQueue", "Set the limits of a queue", SCOPE_CLIENT, BODY_OBJECT,
     queue_fields, NULL, queue_answers, set_codes, set_queue},
    {"PATCH", "/v1/queues/{name}", "changeQueue",
     "Change the limits of a queue that are given; the others stay", SCOPE_CLIENT, BODY_OBJECT,
     change_fields, NULL, queue_answers, set_codes, change_queue},
    {"DELETE", "/v1/queues/{name}", "resetQueue", "Forget the limits of a queue; its tasks stay",
     SCOPE_CLIENT, BODY_NONE, NULL, NULL, changed_answers, name_codes, reset_queue},
    {"POST", "/v1/queues/{name}/pause", "pauseQueue", "Hand out no tasks", SCOPE_CLIENT, BODY_NONE,
     NULL, NULL, changed_answers, name_codes, pause_queue},
    {"POST", "/v1/queues/{name}/resume", "resumeQueue", "Go on handing out tasks", SCOPE_CLIENT,
     BODY_NONE, NULL, NULL, changed_answers, name_codes, resume_queue},
};
const RouteTable routes_queues = {routes, COUNT_OF(routes)};

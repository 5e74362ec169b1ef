// Stand-alone tasks: making, listing, trying again.
//
// A task that belongs to a run is made by the run; here it can be looked at, and hurried while it
// waits for its next attempt. One that has failed is tried again only if no run waits for it.
//
// Not here: what workers ask for (routes/work/).
#include "base/array.h"
#include "engine/spec_json.h"
#include "server/exchange/parts.h"

static const Field task_fields[] = {
    {"name", "string", true, "What is to be done: the name workers register."},
    {"input", "any", false, "Handed to the worker byte for byte."},
    {"id", "string", false, "Your id; one that exists makes nothing."},
    {"queue", "string", false, "`default` unless given."},
    {"priority", "integer", false, "-1000 to 1000, higher first."},
    {"delay", "duration", false, "Not before this long from now."},
    {"attempts", "integer", false, "In all; 1 unless given."},
    {"retry_delay", "duration", false, "Before the second attempt; 1 s unless given."},
    {"retry_factor", "number", false, "Growth of the delay; 2 unless given."},
    {"retry_max_delay", "duration", false, "Longest delay; 1 h unless given."},
    {"timeout", "duration", false, "From start to end of an attempt."},
    {"schedule_timeout", "duration", false, "From being queued to its start."},
    {"heartbeat_timeout", "duration", false, "Longest silence of its worker."},
    {"concurrency_key", "string", false, "Tasks of one key do not run beside each other."},
    {0}};

static Status read_retry(const SpecReader *reader, TaskSpec *spec, Diag *diag) {
    static const SpecRetryNames names = {"retry_delay", "retry_max_delay", "retry_factor"};
    const char *const policy[] = {names.delay, names.max_delay, names.factor};
    spec->max_attempts = 1;
    spec->backoff_ms = 1000;
    spec->backoff_max_ms = 3600 * 1000;
    spec->backoff_factor_pct = 200;
    TRY(spec_read_retry(reader, &names, spec, diag));
    bool is_decided = json_member(reader->object, STR("attempts")) != NULL;
    for (size_t i = 0; i < COUNT_OF(policy) && !is_decided; i++)
        if (json_member(reader->object, str_from(policy[i])) != NULL)
            return diag_set(diag, ERR_INVALID, "BAD_FIELD",
                            "%s: goes with attempts: without that the task is not tried again",
                            policy[i]);
    return OK;
}

static Status read_task(Exchange *exchange, const JsonValue *body, TaskSpec *spec, Diag *diag) {
    const SpecReader reader = {body, &exchange->arena, SPELLED_SNAKE};
    TRY(spec_read_task(&reader, spec, diag));
    spec->input = parts_raw(body, "input");
    TRY(spec_check_input(spec->input, diag));
    return read_retry(&reader, spec, diag);
}

static bool find_task(Exchange *exchange, Str id, TaskRow *ret_task) {
    Diag diag = {0};
    Status status =
        store_find_task(exchange_store(exchange), &exchange->arena, id, ret_task, &diag);
    return exchange_found(exchange, status, &diag);
}

static void send_task(Exchange *exchange, int http_status, Str id) {
    TaskRow task;
    if (!find_task(exchange, id, &task)) return;
    JsonWriter *json = exchange_begin(exchange, http_status);
    Unserved unserved;
    json_write_object_begin(json);
    render_task_members(json, &task, parts_mask_of(exchange, task.run));
    if (workers_is_unserved(exchange->server, &exchange->arena, &task, &unserved)) {
        json_write_key(json, STR("unserved"));
        render_unserved(json, &unserved);
    }
    json_write_object_end(json);
    exchange_send(exchange);
}

static void created(Exchange *exchange) {
    const Op *op = &exchange->request->op;
    send_task(exchange, op->out.create_task.is_new ? 201 : 200, op->in.create_task.spec.id);
}

static void create_task(Exchange *exchange) {
    const JsonValue *body = exchange_object(exchange);
    if (body == NULL) return;
    TaskSpec *spec = &exchange_op(exchange, OP_CREATE_TASK)->in.create_task.spec;
    Diag diag;
    Status status = read_task(exchange, body, spec, &diag);
    if (status != OK) {
        exchange_refuse(exchange, status, &diag);
        return;
    }
    IdText text;
    if (str_is_null(spec->id))
        spec->id =
            arena_str(&exchange->arena, engine_new_id(exchange->server->engine, "task_", &text));
    exchange_submit(exchange, created);
}

static void get_task(Exchange *exchange) { send_task(exchange, 200, exchange->parameters[0]); }

static void retried(Exchange *exchange) {
    TaskRow task;
    if (!find_task(exchange, exchange->parameters[0], &task)) return;
    JsonWriter *json = exchange_begin(exchange, 200);
    json_write_object_begin(json);
    json_put_bool(json, "changed", exchange->request->op.out.retry_task.is_changed);
    render_task_members(json, &task, parts_mask_of(exchange, task.run));
    json_write_object_end(json);
    exchange_send(exchange);
}

static void retry_task(Exchange *exchange) {
    exchange_op(exchange, OP_RETRY_TASK)->in.retry_task.id = exchange->parameters[0];
    exchange_submit(exchange, retried);
}

static const Field list_query[] = {
    {"status", "strings", false, "States; repeat it, or separate them by commas."},
    {"queue", "string", false, "Of this queue."},
    {"name", "string", false, "Of this name."},
    {"run", "string", false, "Of the run with this id; without it, those of all and of none."},
    PAGE_FIELDS,
    {0}};

static void put_task(Exchange *exchange, JsonWriter *json, const void *row) {
    const TaskRow *task = row;
    render_task(json, task, parts_mask_of(exchange, task->run));
}

static void list_tasks(Exchange *exchange) {
    TaskFilter filter = {.run = run_of_id(exchange_query(exchange, "run")),
                         .name = exchange_query(exchange, "name"),
                         .queue = exchange_query(exchange, "queue")};
    TaskPage page;
    Diag diag = {0};
    if (!parts_page(exchange, &filter.page)) return;
    if (!parts_query_states(exchange, task_state_name, TASK_STATE_COUNT, &filter.states)) return;
    Status status =
        store_list_tasks(exchange_store(exchange), &exchange->arena, &filter, &page, &diag);
    if (!exchange_found(exchange, status, &diag)) return;
    parts_send_page(exchange, ROW_LIST(page), page.next, put_task);
}

static const RouteAnswer create_answers[] = {
    {201, "It is queued.", "Task"}, {200, "It existed already.", "Task"}, {0}};
static const RouteAnswer task_answers[] = {{200, "The task.", "Task"}, {0}};
static const RouteAnswer retry_answers[] = {
    {200, "The task, and whether anything changed.", "RetriedTask"}, {0}};
static const RouteAnswer list_answers[] = {{200, "A page, newest first.", "TaskList"}, {0}};
static const char *const create_codes[] = {"BAD_NAME",          "BAD_ID", "BAD_KEY", "BAD_OPTION",
                                           "PAYLOAD_TOO_LARGE", NULL};
static const char *const list_codes[] = {"RUN_NOT_FOUND", NULL};
static const char *const task_codes[] = {"TASK_NOT_FOUND", NULL};
static const char *const retry_codes[] = {"TASK_NOT_FOUND", "TASK_NOT_FAILED", "TASK_HAS_RUN",
                                          NULL};

static const Route routes[] = {
    {"POST", "/v1/tasks", "createTask", "Queue a task that belongs to no run", SCOPE_CLIENT,
     BODY_OBJECT, task_fields, NULL, create_answers, create_codes, create_task},
    {"GET", "/v1/tasks", "listTasks", "List tasks", SCOPE_READ, BODY_NONE, NULL, list_query,
     list_answers, list_codes, list_tasks},
    {"GET", "/v1/tasks/{id}", "getTask", "Show a task", SCOPE_READ, BODY_NONE, NULL, NULL,
     task_answers, task_codes, get_task},
    {"POST", "/v1/tasks/{id}/retry", "retryTask",
     "Make the next attempt of a task due now, or queue a failed one again", SCOPE_CLIENT,
     BODY_NONE, NULL, NULL, retry_answers, retry_codes, retry_task},
};
const RouteTable routes_tasks = {routes, COUNT_OF(routes)};

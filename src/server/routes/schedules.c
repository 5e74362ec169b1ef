// Schedules: cron lines, intervals and single times that start runs.
//
// A long backfill is done in several operations, one after the other; ticks that have a run are
// left alone, so it can be repeated when it was cut short.
//
// Not here: when ticks are (model/schedule.c).
#include "base/array.h"
#include "base/time/duration.h"
#include "engine/spec_json.h"
#include "server/exchange/parts.h"

static const Field set_fields[] = {
    {"workflow", "string", true, "What is started."},
    {"input", "any", false, "Of every run."},
    {"cron", "string", false, "Five fields: minute, hour, day, month, weekday …"},
    {"every", "duration", false, "… or an interval, at least 1 s …"},
    {"at", "instant", false, "… or one time."},
    {"timezone", "string", false, "Of the cron line; UTC unless given."},
    {"jitter", "duration", false, "Start up to this much later."},
    {"overlap", "string", false, "While the run before goes on: skip, queue, allow, cancel-old."},
    {"catch_up", "duration", false, "Missed ticks up to this late still start, each once."},
    {"priority", "integer", false, "Of the runs."},
    {"timeout", "duration", false, "Of the runs."},
    {"ttl", "duration", false, "How long ended runs are kept."},
    {"tags", "strings", false, "Of the runs."},
    {"paused", "boolean", false, "For a new one: begin paused."},
    {0}};

static bool parse_name(Exchange *exchange, Str *ret_name) {
    *ret_name = exchange->parameters[0];
    Diag diag;
    Status status = spec_check_name(SPEC_SCHEDULE_NAME, NULL, *ret_name, &diag);
    if (status == OK) return true;
    exchange_refuse(exchange, status, &diag);
    return false;
}

// ---- one schedule ----

static void send_schedule(Exchange *exchange, int http_status) {
    ScheduleRow row;
    Diag diag = {0};
    Status status = store_find_schedule(exchange_store(exchange), &exchange->arena,
                                        exchange->parameters[0], &row, &diag);
    if (!exchange_found(exchange, status, &diag)) return;
    render_schedule(exchange_begin(exchange, http_status), &row, parts_common_mask(exchange));
    exchange_send(exchange);
}

static void get_schedule(Exchange *exchange) { send_schedule(exchange, 200); }

static Status read_when(const JsonValue *body, ScheduleRow *row, Diag *diag) {
    Str cron = STR_NULL, at = STR_NULL, every = STR_NULL;
    TRY(json_get_string(body, "cron", &cron, diag));
    TRY(json_get_string(body, "every", &every, diag));
    TRY(json_get_string(body, "at", &at, diag));
    TRY(spec_schedule_kind(cron, every, !str_is_null(at), &row->kind, diag));
    row->spec = !str_is_null(cron) ? cron : !str_is_null(every) ? every : at;
    return json_get_string(body, "timezone", &row->zone, diag);
}

static Status read_schedule(Exchange *exchange, const JsonValue *body, ScheduleRow *row,
                            Diag *diag) {
    abide_engine *engine = exchange->server->engine;
    const SpecReader reader = {body, &exchange->arena, SPELLED_SNAKE};
    row->keep_ms = engine_run_retention_ms(engine);
    row->grace_ms = engine_cancel_grace_ms(engine);
    TRY(spec_read_schedule(&reader, row, diag));
    TRY(read_when(body, row, diag));
    row->input = parts_raw(body, "input");
    TRY(spec_check_input(row->input, diag));
    row->run_kind = engine_knows(engine, row->workflow) ? RUN_NATIVE : 0;
    return OK;
}

static void schedule_set(Exchange *exchange) {
    send_schedule(exchange, exchange->request->op.out.set_schedule.is_new ? 201 : 200);
}

static void set_schedule(Exchange *exchange) {
    const JsonValue *body = exchange_object(exchange);
    if (body == NULL) return;
    ScheduleRow *row = &exchange_op(exchange, OP_SET_SCHEDULE)->in.set_schedule.row;
    if (!parse_name(exchange, &row->name)) return;
    Diag diag;
    Status status = read_schedule(exchange, body, row, &diag);
    if (status != OK) exchange_refuse(exchange, status, &diag);
    else exchange_submit(exchange, schedule_set);
}

static void removed(Exchange *exchange) { exchange_send_text(exchange, 204, NULL, STR("")); }

static void changed(Exchange *exchange) {
    parts_send_changed(exchange, exchange->request->op.out.schedule.is_changed);
}

static void change(Exchange *exchange, OpKind kind, ExchangeFunction next) {
    Op *op = exchange_op(exchange, kind);
    if (parse_name(exchange, &op->in.schedule.name)) exchange_submit(exchange, next);
}

static void remove_schedule(Exchange *exchange) { change(exchange, OP_REMOVE_SCHEDULE, removed); }
static void pause_schedule(Exchange *exchange) { change(exchange, OP_PAUSE_SCHEDULE, changed); }
static void resume_schedule(Exchange *exchange) { change(exchange, OP_RESUME_SCHEDULE, changed); }

// ---- trigger and backfill ----

static void triggered(Exchange *exchange) {
    const ScheduleTriggerReply *trigger = &exchange->request->op.out.trigger_schedule;
    parts_send_run(exchange, trigger->is_new ? 201 : 200, trigger->run_id);
}

static void trigger_schedule(Exchange *exchange) {
    ScheduleTrigger *trigger = &exchange_op(exchange, OP_TRIGGER_SCHEDULE)->in.trigger_schedule;
    if (!parse_name(exchange, &trigger->name)) return;
    IdText text;
    trigger->id =
        arena_str(&exchange->arena, engine_new_id(exchange->server->engine, "run_", &text));
    exchange_submit(exchange, triggered);
}

static const Field backfill_fields[] = {
    {"from", "instant", true, "First tick."}, {"to", "instant", true, "Last tick."}, {0}};

typedef struct Backfill {
    int64_t started_count, existing_count;
} Backfill;

static void backfilled(Exchange *exchange);

static void go_on_backfilling(Exchange *exchange, int64_t from_ms, int64_t to_ms) {
    ScheduleBackfill *backfill = &exchange_op(exchange, OP_BACKFILL_SCHEDULE)->in.backfill;
    backfill->name = exchange->parameters[0];
    backfill->from_ms = from_ms;
    backfill->to_ms = to_ms;
    backfill->limit = LIMIT_BACKFILL_TICKS;
    exchange_submit(exchange, backfilled);
}

static void backfilled(Exchange *exchange) {
    const ScheduleBackfillReply *part = &exchange->request->op.out.backfill;
    Backfill *sum = exchange->state;
    sum->started_count += part->started_count;
    sum->existing_count += part->existing_count;
    if (part->next_ms != 0) {
        go_on_backfilling(exchange, part->next_ms, exchange->request->op.in.backfill.to_ms);
        return;
    }
    JsonWriter *json = exchange_begin(exchange, 200);
    json_write_object_begin(json);
    json_put_i64(json, "started", sum->started_count);
    json_put_i64(json, "existing", sum->existing_count);
    json_write_object_end(json);
    exchange_send(exchange);
}

static void backfill_schedule(Exchange *exchange) {
    const JsonValue *body = exchange_object(exchange);
    Str name;
    if (body == NULL || !parse_name(exchange, &name)) return;
    int64_t from_ms = 0, to_ms = 0;
    Diag diag;
    Status status = json_get_instant_ms(body, "from", &from_ms, &diag);
    if (status == OK) status = json_get_instant_ms(body, "to", &to_ms, &diag);
    if (status != OK) {
        exchange_refuse(exchange, status, &diag);
        return;
    }
    exchange->state = ARENA_NEW(&exchange->arena, Backfill);
    go_on_backfilling(exchange, from_ms, to_ms);
}

// ---- lists ----

static const Field page_query[] = {PAGE_FIELDS, {0}};

static void put_schedule(Exchange *exchange, JsonWriter *json, const void *row) {
    render_schedule(json, row, parts_common_mask(exchange));
}

static void list_schedules(Exchange *exchange) {
    PageSpec spec;
    SchedulePage page;
    Diag diag = {0};
    if (!parts_page(exchange, &spec)) return;
    Status status =
        store_list_schedules(exchange_store(exchange), &exchange->arena, &spec, &page, &diag);
    if (!exchange_found(exchange, status, &diag)) return;
    parts_send_page(exchange, ROW_LIST(page), page.next, put_schedule);
}

static const RouteAnswer schedule_answers[] = {{200, "The schedule.", "Schedule"}, {0}};
static const RouteAnswer set_answers[] = {
    {201, "It is new.", "Schedule"}, {200, "It was replaced.", "Schedule"}, {0}};
static const RouteAnswer gone_answers[] = {{204, "It is gone; its runs stay.", NULL}, {0}};
static const RouteAnswer changed_answers[] = {{200, "Whether anything changed.", "Changed"}, {0}};
static const RouteAnswer run_answers[] = {{201, "The run it started.", "Run"}, {0}};
static const RouteAnswer backfill_answers[] = {{200, "How many were started.", "Backfilled"}, {0}};
static const RouteAnswer list_answers[] = {{200, "A page, newest first.", "ScheduleList"}, {0}};
static const char *const schedule_codes[] = {"SCHEDULE_NOT_FOUND", NULL};
static const char *const set_codes[] = {
    "BAD_NAME", "BAD_OPTION",   "BAD_TAG",   "BAD_SCHEDULE",       "PAYLOAD_TOO_LARGE",
    "BAD_CRON", "BAD_TIMEZONE", "BAD_INPUT", "WORKFLOW_NOT_FOUND", NULL};
static const char *const change_codes[] = {"SCHEDULE_NOT_FOUND", "BAD_NAME", NULL};

static const Route routes[] = {
    {"GET", "/v1/schedules", "listSchedules", "List schedules", SCOPE_READ, BODY_NONE, NULL,
     page_query, list_answers, NULL, list_schedules},
    {"GET", "/v1/schedules/{name}", "getSchedule", "Show a schedule", SCOPE_READ, BODY_NONE, NULL,
     NULL, schedule_answers, schedule_codes, get_schedule},
    {"PUT", "/v1/schedules/{name}", "setSchedule", "Make or replace a schedule", SCOPE_CLIENT,
     BODY_OBJECT, set_fields, NULL, set_answers, set_codes, set_schedule},
    {"DELETE", "/v1/schedules/{name}", "removeSchedule", "Remove a schedule", SCOPE_CLIENT,
     BODY_NONE, NULL, NULL, gone_answers, change_codes, remove_schedule},
    {"POST", "/v1/schedules/{name}/pause", "pauseSchedule", "Let ticks pass by", SCOPE_CLIENT,
     BODY_NONE, NULL, NULL, changed_answers, change_codes, pause_schedule},
    {"POST", "/v1/schedules/{name}/resume", "resumeSchedule", "Go on ticking", SCOPE_CLIENT,
     BODY_NONE, NULL, NULL, changed_answers, change_codes, resume_schedule},
    {"POST", "/v1/schedules/{name}/trigger", "triggerSchedule", "Start a run now", SCOPE_CLIENT,
     BODY_NONE, NULL, NULL, run_answers, change_codes, trigger_schedule},
    {"POST", "/v1/schedules/{name}/backfill", "backfillSchedule",
     "Start the runs of past ticks that have none", SCOPE_CLIENT, BODY_OBJECT, backfill_fields,
     NULL, backfill_answers, change_codes, backfill_schedule},
};
const RouteTable routes_schedules = {routes, COUNT_OF(routes)};

// Starting runs and looking at them.
//
// Reads go to the store beside the engine; only a start and the waits for an end go through the
// coordinator.
//
// Not here: changing them (routes/changes.c).
#include "base/array.h"
#include "base/text/number.h"
#include "engine/runners/runner.h"
#include "engine/spec_json.h"
#include "engine/where/where.h"
#include "json/validate.h"
#include "model/trace.h"
#include "server/exchange/parts.h"
#include "server/exchange/stream.h"
#include "server/filter/filter.h"

// ---- POST /v1/runs ----

static const Field start_fields[] = {
    {"workflow", "string", true, "Name of a deployed or registered workflow."},
    {"input", "any", false, "What the run gets as `Inputs`; kept byte for byte."},
    {"id", "string", false, "Your id; one that exists starts nothing and answers that run."},
    {"start_at", "instant", false, "Begin at this time …"},
    {"delay", "duration", false, "… or after this long; not both."},
    {"priority", "integer", false, "-1000 to 1000, higher first."},
    {"queue", "string", false, "Queue of those of its tasks that name none."},
    {"timeout", "duration", false, "Overall time-out of the run, all its attempts together."},
    {"ttl", "duration", false, "How long it is kept once ended."},
    {"tags", "strings", false, "Up to 16."},
    {"leftover_signals", "string", false,
     "What becomes of signals nobody took when it ends: discard, topic or dead_letter."},
    {"leftover_topic", "string", false, "The topic, when that is topic."},
    {0},
};
static const Field wait_query[] = {
    {"wait", "duration", false, "Wait up to this long for the end of the run."}, {0}};

static Status read_start(Exchange *exchange, const JsonValue *body, RunSpec *spec, Diag *diag) {
    abide_engine *engine = exchange->server->engine;
    *spec = spec_run_default(engine_run_retention_ms(engine));
    TRY(json_get_string(body, "workflow", &spec->workflow, diag));
    TRY(spec_check_name(SPEC_WORKFLOW, NULL, spec->workflow, diag));
    const SpecReader reader = {body, &exchange->arena, SPELLED_SNAKE};
    TRY(spec_read_run(&reader, engine_now_ms(engine), spec, diag));
    Str key = exchange_header(exchange, "Idempotency-Key");
    if (!str_is_null(key)) TRY(spec_check_name(SPEC_RUN_KEY, "Idempotency-Key", key, diag));
    spec->dedupe_key = arena_str(&exchange->arena, key);
    spec->input = parts_raw(body, "input");
    TRY(spec_check_input(spec->input, diag));
    spec->kind = engine_knows(engine, spec->workflow) ? RUN_NATIVE : 0;
    return OK;
}

static void send_started(Exchange *exchange) {
    const Op *op = &exchange->request->op;
    parts_send_run(exchange, op->out.create_run.is_new ? 201 : 200, op->out.create_run.id);
}

static void started(Exchange *exchange) {
    const Op *op = &exchange->request->op;
    int64_t wait_ms = 0;
    if (!exchange_query_duration(exchange, "wait", &wait_ms)) return;
    bool is_awaited = wait_ms > 0 && !run_state_is_terminal(op->out.create_run.state);
    if (!is_awaited && op->out.create_run.row != NULL)
        parts_send_new_run(exchange, op->out.create_run.row, op->out.create_run.version);
    else if (!is_awaited) send_started(exchange);
    else exchange_await(exchange, op->out.create_run.id, wait_ms, send_started);
}

// Of several headers one list.
static Str read_trace_state(Exchange *exchange) {
    Str all = STR_NULL, value;
    for (size_t i = 0; exchange_header_at(exchange, "tracestate", i, &value); i++)
        all = str_is_null(all)
                  ? value
                  : arena_printf(&exchange->arena, "%.*s,%.*s", STR_ARG(all), STR_ARG(value));
    return trace_state_read(all);
}

static void start_run(Exchange *exchange) {
    int64_t wait_ms = 0;
    const JsonValue *body = exchange_object(exchange);
    if (body == NULL || !exchange_query_duration(exchange, "wait", &wait_ms)) return;
    Op *op = exchange_op(exchange, OP_CREATE_RUN);
    RunSpec *spec = &op->in.create_run.spec;
    Diag diag;
    Status status = read_start(exchange, body, spec, &diag);
    if (status != OK) {
        exchange_refuse(exchange, status, &diag);
        return;
    }
    TraceParent parent;
    if (exchange_header_count(exchange, "traceparent") == 1 && // of two, neither is to be trusted
        trace_parent_parse(exchange_header(exchange, "traceparent"), &parent))
        spec->tags =
            tags_with_trace(&exchange->arena, spec->tags, &parent, read_trace_state(exchange));
    IdText text;
    if (str_is_null(spec->id))
        spec->id =
            arena_str(&exchange->arena, engine_new_id(exchange->server->engine, "run_", &text));
    exchange_submit(exchange, started);
}

static const RouteAnswer start_answers[] = {
    {201, "The run was started.", "Run"}, {200, "It existed already.", "Run"}, {0}};
static const char *const start_codes[] = {"BAD_NAME",
                                          "BAD_OPTION",
                                          "BAD_ID",
                                          "BAD_KEY",
                                          "BAD_TAG",
                                          "BAD_INPUT",
                                          "WORKFLOW_NOT_FOUND",
                                          "PAYLOAD_TOO_LARGE",
                                          "DUPLICATE_KEY",
                                          "RUN_PURGED",
                                          NULL};

// ---- GET /v1/runs ----

static const Field list_query[] = {
    {"q", "string", false, "A filter: status:failed workflow:order age>2h error~timeout …"},
    {"status", "strings", false, "States; repeat it, or separate them by commas."},
    {"workflow", "strings", false, "Names of workflows; likewise."},
    {"tag", "string", false, "A tag."},
    {"parent", "string", false, "Id of the parent run."},
    {"waiting_on", "string", false, "Topic, signal, task or child id in the wait set."},
    {"state", "string", false,
     "KEY=VALUE: what its script has set; VALUE is JSON, other text stands for a string."},
    {"idle_before", "instant", false, "Idle since before that time."},
    {"created_before", "instant", false, "Made before that time."},
    {"created_after", "instant", false, "Made after that time."},
    {"where", "string", false,
     "An expression of the language that is true where the run waits: `order.total > 100`."},
    PAGE_FIELDS,
    {0},
};

// "KEY=VALUE"; a value that is no JSON is a string.
static bool read_state_filter(Exchange *exchange, RunFilter *filter) {
    Str text = exchange_query(exchange, "state");
    if (str_is_null(text)) return true;
    const char *equals = memchr(text.data, '=', text.len);
    if (equals == NULL || equals == text.data) {
        exchange_refuse_with(exchange, ERR_INVALID, "BAD_QUERY", "state: write KEY=VALUE");
        return false;
    }
    filter->state_key = (Str){text.data, (size_t)(equals - text.data)};
    Str value = {equals + 1, text.len - filter->state_key.len - 1};
    Diag diag;
    bool is_json = json_validate(value, &diag) == OK;
    filter->state_value = is_json ? value : json_quote(&exchange->arena, value);
    if (!filter_hides(exchange->server->engine, &exchange->arena, filter)) return true;
    exchange_refuse_with(exchange, ERR_INVALID, "BAD_QUERY",
                         "state: config.secret of a workflow hides this value: it cannot be "
                         "searched for");
    return false;
}

static void put_run(Exchange *exchange, JsonWriter *json, const void *row) {
    const RunRow *run = row;
    json_write_object_begin(json);
    RunMore more = parts_run_more(exchange, run);
    render_run_members(json, &exchange->arena, run, &more);
    json_write_object_end(json);
}

static void put_where(JsonWriter *json, const WherePage *page) {
    json_write_key(json, STR("where"));
    json_write_object_begin(json);
    json_put_i64(json, "looked_at", page->looked_at);
    json_put_i64(json, "matched", (int64_t)page->runs.count);
    json_put_i64(json, "errors", page->errors);
    json_put_string(json, "first_error",
                    page->errors > 0 ? str_from(page->first_error.message) : STR_NULL);
    json_write_object_end(json);
}

// The same as a list, and how many runs were looked at: a page of few may be followed by more.
static void send_found(Exchange *exchange, const FilterFound *found) {
    JsonWriter *json = exchange_begin(exchange, 200);
    json_write_object_begin(json);
    json_write_key(json, STR("items"));
    json_write_array_begin(json);
    for (size_t i = 0; i < found->count; i++) put_run(exchange, json, &found->rows[i]);
    json_write_array_end(json);
    parts_put_cursor(json, found->next);
    json_put_i64(json, "looked_at", found->looked_at);
    if (found->has_where) put_where(json, &found->where);
    json_write_object_end(json);
    exchange_send(exchange);
}

static void search_runs(Exchange *exchange, const RunFilter *filter) {
    FilterSearch search = {.engine = exchange->server->engine, .runs = *filter};
    FilterFault fault;
    FilterFound found;
    Diag diag = {0};
    Status status = filter_parse(&exchange->arena, exchange_query(exchange, "q"), &search.filter,
                                 &fault, &diag);
    if (status == OK) status = filter_search(&search, &exchange->arena, &found, &diag);
    if (exchange_found(exchange, status, &diag)) send_found(exchange, &found);
}

// The runs among them for which an expression is true.
static void list_where(Exchange *exchange, const RunFilter *filter, Str expression) {
    WhereQuery query = {*filter, expression, exchange_now_ms(exchange), NULL};
    WherePage page;
    Diag diag = {0};
    Status status =
        where_list_runs(exchange_store(exchange), &exchange->arena, &query, &page, &diag);
    if (!exchange_found(exchange, status, &diag)) return;
    JsonWriter *json = exchange_begin(exchange, 200);
    json_write_object_begin(json);
    json_write_key(json, STR("items"));
    json_write_array_begin(json);
    for (size_t i = 0; i < page.runs.count; i++) put_run(exchange, json, &page.runs.rows[i]);
    json_write_array_end(json);
    parts_put_cursor(json, page.runs.next);
    put_where(json, &page);
    json_write_object_end(json);
    exchange_send(exchange);
}

static void list_now(Exchange *exchange) {
    PageSpec spec;
    if (!parts_page(exchange, &spec)) return;
    RunFilter filter = {.cursor = spec.after, .limit = spec.limit, .size_max = spec.size_max};
    if (!parts_query_states(exchange, run_state_name, RUN_STATE_COUNT, &filter.states)) return;
    filter.workflows = parts_query_list(exchange, "workflow", true);
    filter.tag = exchange_query(exchange, "tag");
    filter.parent_id = exchange_query(exchange, "parent");
    filter.waiting_on = exchange_query(exchange, "waiting_on");
    if (!read_state_filter(exchange, &filter)) return;
    if (!exchange_query_instant(exchange, "idle_before", &filter.idle_before_ms)) return;
    if (!exchange_query_instant(exchange, "created_before", &filter.created_before_ms)) return;
    if (!exchange_query_instant(exchange, "created_after", &filter.created_after_ms)) return;
    Str where = exchange_query(exchange, "where");
    bool has_filter = !str_is_null(exchange_query(exchange, "q"));
    if (has_filter && !str_is_null(where)) {
        exchange_refuse_with(exchange, ERR_INVALID, "BAD_QUERY",
                             "where does not go with q; write where(EXPRESSION) in q");
        return;
    }
    if (!str_is_null(where)) {
        list_where(exchange, &filter, where);
        return;
    }
    if (has_filter) {
        search_runs(exchange, &filter);
        return;
    }
    RunPage page;
    Diag diag = {0};
    Status status =
        store_list_runs(exchange_store(exchange), &exchange->arena, &filter, &page, &diag);
    if (!exchange_found(exchange, status, &diag)) return;
    parts_send_page(exchange, ROW_LIST(page), page.next, put_run);
}

static void list_runs(Exchange *exchange) {
    bool is_long = !str_is_null(exchange_query(exchange, "where"));
    if (is_long) exchange_offload(exchange, list_now);
    else list_now(exchange);
}

static const RouteAnswer list_answers[] = {{200, "A page, newest first.", "RunList"}, {0}};
static const char *const list_codes[] = {"BAD_FILTER", "EXPRESSION_INVALID", "EXPRESSION_REFUSED",
                                         NULL};

// ---- GET /v1/runs/{id} and what is below it ----

static void get_run(Exchange *exchange) { parts_send_run(exchange, 200, exchange->parameters[0]); }

static void send_result(Exchange *exchange) {
    RunRow run;
    if (!parts_find_run(exchange, exchange->parameters[0], &run)) return;
    int64_t state = run.state;
    bool has_ended = run_state_is_terminal(state);
    RunResult end = {0};
    Diag diag = {0};
    Status status = OK;
    if (has_ended)
        status = store_find_result(exchange_store(exchange), &exchange->arena, run_of_key(run.key),
                                   &end, &diag);
    if (!exchange_found(exchange, status, &diag)) return;
    JsonWriter *json = exchange_begin(exchange, has_ended ? 200 : 202);
    json_write_object_begin(json);
    json_put_cstr(json, "status", run_state_name(state));
    RenderMask mask = parts_mask(exchange, &run);
    const char *key = state == RUN_COMPLETED ? "result" : "error";
    if (has_ended)
        json_put_raw(json, key, engine_hide(&mask.masks, str_from(key), end.json, mask.arena));
    json_write_object_end(json);
    exchange_send(exchange);
}

static void get_result(Exchange *exchange) {
    int64_t wait_ms = 0;
    if (!exchange_query_duration(exchange, "wait", &wait_ms)) return;
    if (wait_ms == 0) send_result(exchange);
    else exchange_await(exchange, exchange->parameters[0], wait_ms, send_result);
}

static void put_entry(Exchange *exchange, JsonWriter *json, const void *row) {
    const LogRow *entry = row;
    render_log_entry(json, entry, parts_mask_of(exchange, entry->run));
}

static const Field steps_query[] = {
    {"name", "string", false, "Only those of this name: of a step, task, child, signal or topic."},
    {"iteration", "integer", false, "With `name`: which of several, from 0; all unless given."},
    PAGE_FIELDS,
    {0}};

static void list_steps(Exchange *exchange) {
    StepFilter filter = {.run = run_of_id(exchange->parameters[0]),
                         .name = exchange_query(exchange, "name")};
    LogPage page;
    Diag diag = {0};
    if (!exchange_query_count(exchange, "iteration", INT64_MAX, &filter.iteration)) return;
    filter.has_iteration = !str_is_null(exchange_query(exchange, "iteration"));
    if (filter.has_iteration && str_is_null(filter.name)) {
        exchange_refuse_with(exchange, ERR_INVALID, "BAD_QUERY", "iteration goes with a name");
        return;
    }
    if (!parts_page(exchange, &filter.page)) return;
    Status status =
        store_list_steps(exchange_store(exchange), &exchange->arena, &filter, &page, &diag);
    if (!exchange_found(exchange, status, &diag)) return;
    parts_send_page(exchange, ROW_LIST(page), page.next, put_entry);
}

static const Field log_query[] = {
    {"after", "integer", false, "Entries after this sequence number."},
    {"limit", "integer", false, "Most entries to answer, 1 to 1000; 100 unless given."},
    {0},
};

static void list_log(Exchange *exchange) {
    LogFilter filter = {.run = run_of_id(exchange->parameters[0]),
                        .page = {.limit = PAGE_LIMIT, .size_max = PAGE_ROWS_SIZE}};
    LogPage page;
    Diag diag = {0};
    if (!exchange_query_count(exchange, "after", INT64_MAX, &filter.page.after)) return;
    if (!exchange_query_count(exchange, "limit", LIMIT_LIST_PAGE, &filter.page.limit)) return;
    if (filter.page.limit == 0) filter.page.limit = 1;
    Status status =
        store_read_log(exchange_store(exchange), &exchange->arena, &filter, &page, &diag);
    if (!exchange_found(exchange, status, &diag)) return;
    parts_send_page(exchange, ROW_LIST(page), page.next, put_entry);
}

static const Field events_query[] = {
    {"after", "integer", false, "Begin after this sequence number; Last-Event-ID wins."}, {0}};

// The sequence number to go on after; < 0 = malformed and answered.
static int64_t stream_start(Exchange *exchange) {
    int64_t after = 0;
    if (!exchange_query_count(exchange, "after", INT64_MAX, &after)) return -1;
    Str last = exchange_header(exchange, "Last-Event-ID");
    if (str_is_null(last)) return after;
    if (last.len == 0 || number_parse_count(last, INT64_MAX, &after)) return after;
    exchange_refuse_with(exchange, ERR_INVALID, "BAD_HEADER",
                         "Last-Event-ID is not a sequence number");
    return -1;
}

static void begin_stream(Exchange *exchange) {
    const int64_t *after = exchange->state;
    stream_begin(exchange, &stream_log_sse, exchange->parameters[0], *after);
}

static void reloaded(Exchange *exchange) {
    const Op *op = &exchange->request->op;
    bool is_there = !request_is_unanswered(op->out.status) && op->out.status != ERR_CORRUPT &&
                    op->out.status != ERR_NOT_FOUND;
    if (is_there) begin_stream(exchange); // also when something else brought it back first
    else exchange_refuse(exchange, op->out.status, &op->out.diag);
}

static void stream_events(Exchange *exchange) {
    int64_t after = stream_start(exchange);
    if (after < 0) return;
    RunRow run;
    if (!parts_find_run(exchange, exchange->parameters[0], &run)) return;
    const LogFilter rest = {run_of_key(run.key), {.after = after, .limit = 1}};
    LogPage left;
    Diag diag = {0};
    Status status = store_read_log(exchange_store(exchange), &exchange->arena, &rest, &left, &diag);
    if (!exchange_found(exchange, status, &diag)) return;
    if (left.count == 0 && run_state_is_terminal(run.state)) {
        exchange_send_text(exchange, 204, NULL, STR("")); // nothing will ever come
        return;
    }
    int64_t *kept = ARENA_NEW(&exchange->arena, int64_t);
    *kept = after;
    exchange->state = kept;
    if (!engine_has_released(exchange->server->engine, &run)) {
        begin_stream(exchange);
        return;
    }
    exchange_op(exchange, OP_NOTE_RELOADED)->in.memory.run_id = exchange->parameters[0];
    exchange_submit_any(exchange, reloaded);
}

static const RouteAnswer run_answers[] = {{200, "The run.", "Run"}, {0}};
static const RouteAnswer result_answers[] = {
    {200, "It has ended.", "RunResult"}, {202, "Not yet.", "RunResult"}, {0}};
static const RouteAnswer entries_answers[] = {{200, "Entries, oldest first.", "EntryList"}, {0}};
static const RouteAnswer stream_answers[] = {
    {200, "One event per log entry; id: its sequence number, event: its kind.",
     "text/event-stream"},
    {204, "The run has ended and nothing is left to be read.", NULL},
    {0}};
static const char *const run_codes[] = {"RUN_NOT_FOUND", NULL};
static const char *const stream_codes[] = {"RUN_NOT_FOUND", "BAD_HEADER", NULL};

static const Route routes[] = {
    {"POST", "/v1/runs", "startRun", "Start a run", SCOPE_CLIENT, BODY_OBJECT, start_fields,
     wait_query, start_answers, start_codes, start_run},
    {"GET", "/v1/runs", "listRuns", "List runs", SCOPE_READ, BODY_NONE, NULL, list_query,
     list_answers, list_codes, list_runs},
    {"GET", "/v1/runs/{id}", "getRun", "Show a run", SCOPE_READ, BODY_NONE, NULL, NULL, run_answers,
     run_codes, get_run},
    {"GET", "/v1/runs/{id}/result", "getResult", "The result of a run, when it has one", SCOPE_READ,
     BODY_NONE, NULL, wait_query, result_answers, run_codes, get_result},
    {"GET", "/v1/runs/{id}/steps", "listSteps", "Checkpoints of a run in order", SCOPE_READ,
     BODY_NONE, NULL, steps_query, entries_answers, run_codes, list_steps},
    {"GET", "/v1/runs/{id}/log", "listLog", "History of a run", SCOPE_READ, BODY_NONE, NULL,
     log_query, entries_answers, run_codes, list_log},
    {"GET", "/v1/runs/{id}/events", "streamEvents", "Live stream of a run's history", SCOPE_READ,
     BODY_NONE, NULL, events_query, stream_answers, stream_codes, stream_events},
};
const RouteTable routes_runs = {routes, COUNT_OF(routes)};

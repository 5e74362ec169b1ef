// The same change to many runs: by id, or by a filter a page at a time.
//
//   [routes-bulk-1] Each run is changed by an operation of its own, with its own answer: what
//        becomes of one says nothing about the others. Those of one request share commits.
//   [routes-bulk-2] A request changes at most LIMIT_LIST_PAGE runs.
//
// Not here: changing one run (routes/changes.c).
#include "base/array.h"
#include "base/text/number.h"
#include "server/exchange/parts.h"
#include "server/filter/filter.h"
#include "server/http/problem.h"

typedef enum BulkVerb {
    BULK_CANCEL,
    BULK_PAUSE,
    BULK_RESUME,
    BULK_RELEASE,
    BULK_RETRY,
    BULK_REMOVE,
    BULK_VERB_COUNT
} BulkVerb;

static const char *const verb_names[BULK_VERB_COUNT] = {"cancel",  "pause", "resume",
                                                        "release", "retry", "remove"};

typedef struct Bulk {
    BulkVerb verb;
    bool is_dry;
    Str *ids;
    RunRow *rows; // of the ids; a key of 0 = there is no such run. NULL unless it is dry
    size_t count;
    int64_t next, looked_at;
    Request *requests;
    Str reason; // JSON
    int64_t grace_ms;
} Bulk;

static const Field bulk_fields[] = {
    {"verb", "string", true, "cancel, pause, resume, release, retry or remove."},
    {"ids", "strings", false, "The runs, up to 1000 …"},
    {"q", "string", false, "… or a filter; one of the two."},
    {"dry_run", "boolean", false, "Changes nothing; says what would happen."},
    {"limit", "integer", false, "With q: most runs of this request, 1 to 1000; 100 unless given."},
    {"cursor", "string", false, "With q: `next` of the answer before."},
    {"reason", "string", false, "Of cancel; kept in the runs' histories."},
    {"grace", "duration", false, "Of cancel: time for cleanup."},
    {0}};

// ---- reading ----

static Status read_verb(const JsonValue *body, Bulk *bulk, Diag *diag) {
    Str name = STR_NULL;
    TRY(json_get_string(body, "verb", &name, diag));
    for (int verb = 0; verb < BULK_VERB_COUNT; verb++) {
        if (!str_equal(name, str_from(verb_names[verb]))) continue;
        bulk->verb = (BulkVerb)verb;
        return OK;
    }
    return diag_set(diag, ERR_INVALID, "BAD_FIELD",
                    "verb: cancel, pause, resume, release, retry or remove, not \"%.*s\"",
                    STR_ARG(name));
}

static Status read_ids(Arena *arena, const JsonValue *ids, Bulk *bulk, Diag *diag) {
    if (ids->count > LIMIT_LIST_PAGE)
        return diag_set(diag, ERR_INVALID, "BAD_FIELD", "ids: at most %u", LIMIT_LIST_PAGE);
    bulk->ids = ARENA_ARRAY(arena, Str, ids->count);
    JSON_EACH (id, ids) {
        if (id->kind != JSON_KIND_STRING)
            return diag_set(diag, ERR_INVALID, "BAD_FIELD", "ids: a list of texts");
        bulk->ids[bulk->count++] = arena_str(arena, id->string);
    }
    bulk->looked_at = (int64_t)bulk->count;
    return OK;
}

static Status read_page(const JsonValue *body, RunFilter *runs, Diag *diag) {
    int64_t limit = PAGE_LIMIT;
    Str cursor = STR_NULL;
    TRY(json_get_i64(body, "limit", &limit, diag));
    TRY(json_get_string(body, "cursor", &cursor, diag));
    if (limit < 1 || limit > LIMIT_LIST_PAGE)
        return diag_set(diag, ERR_INVALID, "BAD_FIELD", "limit: 1 to %u", LIMIT_LIST_PAGE);
    if (!str_is_null(cursor) && !number_parse_count(cursor, INT64_MAX, &runs->cursor))
        return diag_set(diag, ERR_INVALID, "BAD_FIELD", "cursor: `next` of the answer before");
    runs->limit = limit;
    runs->size_max = PAGE_ROWS_SIZE;
    return OK;
}

static Status search(Exchange *exchange, const JsonValue *body, Str text, Bulk *bulk, Diag *diag) {
    FilterSearch search = {.engine = exchange->server->engine};
    FilterFault fault;
    FilterFound found;
    TRY(read_page(body, &search.runs, diag));
    TRY(filter_parse(&exchange->arena, text, &search.filter, &fault, diag));
    TRY(filter_search(&search, &exchange->arena, &found, diag));
    bulk->rows = found.rows;
    bulk->count = found.count;
    bulk->next = found.next;
    bulk->looked_at = found.looked_at;
    bulk->ids = ARENA_ARRAY(&exchange->arena, Str, found.count);
    for (size_t i = 0; i < found.count; i++) bulk->ids[i] = found.rows[i].id;
    return OK;
}

static Status read_bulk(Exchange *exchange, const JsonValue *body, Bulk *bulk, Diag *diag) {
    const JsonValue *ids = NULL;
    Str text = STR_NULL, reason = STR_NULL;
    bulk->grace_ms = engine_cancel_grace_ms(exchange->server->engine);
    TRY(json_get_array(body, "ids", &ids, diag));
    TRY(json_get_string(body, "q", &text, diag));
    TRY(json_get_bool(body, "dry_run", &bulk->is_dry, diag));
    TRY(json_get_string(body, "reason", &reason, diag));
    TRY(json_get_duration_ms(body, "grace", &bulk->grace_ms, diag));
    TRY(read_verb(body, bulk, diag));
    if (!str_is_null(reason)) bulk->reason = arena_str(&exchange->arena, parts_raw(body, "reason"));
    if ((ids == NULL) == str_is_null(text))
        return diag_set(diag, ERR_INVALID, "BAD_FIELD", "give either ids or q");
    bool has_page = json_has(body, "limit") || json_has(body, "cursor");
    if (ids != NULL && has_page)
        return diag_set(diag, ERR_INVALID, "BAD_FIELD", "limit and cursor go with q");
    bool has_cancel_field = json_has(body, "reason") || json_has(body, "grace");
    if (bulk->verb != BULK_CANCEL && has_cancel_field)
        return diag_set(diag, ERR_INVALID, "BAD_FIELD", "reason and grace go with cancel");
    return ids != NULL ? read_ids(&exchange->arena, ids, bulk, diag)
                       : search(exchange, body, text, bulk, diag);
}

// ---- answering ----

typedef struct Verdict {
    bool is_changed;
    const char *code; // NULL = it was not refused
    const char *detail;
} Verdict;

static void begin_answer(JsonWriter *json, const Bulk *bulk) {
    json_write_object_begin(json);
    json_put_cstr(json, "verb", verb_names[bulk->verb]);
    json_put_bool(json, "dry_run", bulk->is_dry);
    json_write_key(json, STR("results"));
    json_write_array_begin(json);
}

typedef struct Counts {
    int64_t changed, unchanged, refused;
} Counts;

static void put_verdict(JsonWriter *json, Str id, const Verdict *verdict, Counts *counts) {
    bool is_refused = verdict->code != NULL;
    counts->refused += is_refused;
    counts->changed += !is_refused && verdict->is_changed;
    counts->unchanged += !is_refused && !verdict->is_changed;
    json_write_object_begin(json);
    json_put_string(json, "id", id);
    json_put_cstr(json, "status",
                  is_refused            ? "refused"
                  : verdict->is_changed ? "changed"
                                        : "unchanged");
    if (is_refused) {
        json_put_cstr(json, "code", verdict->code);
        json_put_cstr(json, "detail", verdict->detail);
    }
    json_write_object_end(json);
}

static void end_answer(Exchange *exchange, JsonWriter *json, const Bulk *bulk,
                       const Counts *counts) {
    json_write_array_end(json);
    json_put_i64(json, "changed", counts->changed);
    json_put_i64(json, "unchanged", counts->unchanged);
    json_put_i64(json, "refused", counts->refused);
    json_put_i64(json, "looked_at", bulk->looked_at);
    parts_put_cursor(json, bulk->next);
    json_write_object_end(json);
    exchange_send(exchange);
}

// ---- what would happen ----

static Verdict refusal(const char *code, const char *detail) {
    return (Verdict){.code = code, .detail = detail};
}

static Verdict foresee(const Exchange *exchange, BulkVerb verb, const RunRow *run) {
    bool has_ended = run_state_is_terminal(run->state);
    Verdict ended = refusal("RUN_TERMINAL", "the run has ended");
    switch (verb) {
    case BULK_CANCEL: return (Verdict){.is_changed = !has_ended && run->cancel_at_ms == 0};
    case BULK_PAUSE: return has_ended ? ended : (Verdict){.is_changed = run->state != RUN_PAUSED};
    case BULK_RESUME: return (Verdict){.is_changed = run->state == RUN_PAUSED};
    case BULK_RELEASE:
        if (has_ended) return ended;
        if (run->state != RUN_SUSPENDED) return refusal("RUN_NOT_IDLE", "the run does not wait");
        return (Verdict){.is_changed = !engine_has_released(exchange->server->engine, run)};
    case BULK_RETRY:
        if (run->state != RUN_FAILED) return refusal("RUN_NOT_FAILED", "the run has not failed");
        return (Verdict){.is_changed = true};
    case BULK_REMOVE:
    case BULK_VERB_COUNT: break;
    }
    if (!has_ended) return refusal("RUN_NOT_TERMINAL", "the run has not ended");
    return (Verdict){.is_changed = true};
}

static Status read_rows(Exchange *exchange, Bulk *bulk, Diag *diag) {
    if (bulk->rows != NULL) return OK;
    bulk->rows = ARENA_ARRAY(&exchange->arena, RunRow, bulk->count);
    for (size_t i = 0; i < bulk->count; i++) {
        Arena scratch; // rows come with their snapshots
        arena_init(&scratch);
        RunRow run;
        Status status =
            store_run_by_id(exchange_store(exchange), &scratch, bulk->ids[i], &run, diag);
        if (status == OK) {
            run.snapshot = STR_NULL;
            row_copy(&tables[TABLE_RUNS], &exchange->arena, &run, &bulk->rows[i]);
        }
        arena_done(&scratch);
        if (status != OK && status != ERR_NOT_FOUND) return status;
    }
    return OK;
}

static void answer_dry(Exchange *exchange, Bulk *bulk) {
    Diag diag = {0};
    if (!exchange_found(exchange, read_rows(exchange, bulk, &diag), &diag)) return;
    Counts counts = {0};
    JsonWriter *json = exchange_begin(exchange, 200);
    begin_answer(json, bulk);
    for (size_t i = 0; i < bulk->count; i++) {
        Verdict verdict = bulk->rows[i].key == 0 ? refusal("RUN_NOT_FOUND", "there is no such run")
                                                 : foresee(exchange, bulk->verb, &bulk->rows[i]);
        put_verdict(json, bulk->ids[i], &verdict, &counts);
    }
    end_answer(exchange, json, bulk, &counts);
}

// ---- what happens ----

static void fill_op(const Bulk *bulk, Str id, Op *op) {
    switch (bulk->verb) {
    case BULK_CANCEL:
        op->kind = OP_CANCEL;
        op->in.cancel.run_id = id;
        op->in.cancel.grace_ms = bulk->grace_ms;
        op->in.cancel.reason = bulk->reason;
        return;
    case BULK_PAUSE:
    case BULK_RESUME:
        op->kind = bulk->verb == BULK_PAUSE ? OP_PAUSE : OP_RESUME;
        op->in.hold.run_id = id;
        return;
    case BULK_RELEASE:
        op->kind = OP_NOTE_RELEASED;
        op->in.memory.run_id = id;
        op->in.memory.is_asked = true;
        return;
    case BULK_RETRY:
        op->kind = OP_FORK;
        op->in.fork.run_id = id;
        op->in.fork.is_retry = true;
        return;
    case BULK_REMOVE:
    case BULK_VERB_COUNT: break;
    }
    op->kind = OP_PURGE_RUN;
    op->in.purge.run_id = id;
}

static Verdict verdict_of(BulkVerb verb, const Op *op) {
    if (op->out.status != OK)
        return refusal(problem_code(op->out.status, &op->out.diag), op->out.diag.message);
    switch (verb) {
    case BULK_CANCEL: return (Verdict){.is_changed = op->out.cancel.is_changed};
    case BULK_PAUSE:
    case BULK_RESUME: return (Verdict){.is_changed = op->out.hold.is_changed};
    case BULK_RELEASE: return (Verdict){.is_changed = op->in.memory.has_entry};
    case BULK_RETRY: return (Verdict){.is_changed = op->out.fork.is_new};
    case BULK_REMOVE:
    case BULK_VERB_COUNT: break;
    }
    return (Verdict){.is_changed = true};
}

static void answer_done(Exchange *exchange) {
    const Bulk *bulk = exchange->state;
    Counts counts = {0};
    JsonWriter *json = exchange_begin(exchange, 200);
    begin_answer(json, bulk);
    for (size_t i = 0; i < bulk->count; i++) { // [routes-bulk-1]
        Verdict verdict = verdict_of(bulk->verb, &bulk->requests[i].op);
        put_verdict(json, bulk->ids[i], &verdict, &counts);
    }
    end_answer(exchange, json, bulk, &counts);
}

static void change_runs(Exchange *exchange) {
    const JsonValue *body = exchange_object(exchange);
    if (body == NULL) return;
    Bulk *bulk = ARENA_NEW(&exchange->arena, Bulk);
    Diag diag = {0};
    if (!exchange_found(exchange, read_bulk(exchange, body, bulk, &diag), &diag)) return;
    ASSERT(bulk->count <= LIMIT_LIST_PAGE); // [routes-bulk-2]
    exchange->state = bulk;
    if (bulk->is_dry) {
        answer_dry(exchange, bulk);
        return;
    }
    bulk->requests = ARENA_ARRAY(&exchange->arena, Request, bulk->count);
    for (size_t i = 0; i < bulk->count; i++) fill_op(bulk, bulk->ids[i], &bulk->requests[i].op);
    if (bulk->count == 0) answer_done(exchange);
    else exchange_submit_all(exchange, bulk->requests, bulk->count, answer_done);
}

static const RouteAnswer bulk_answers[] = {{200, "What became of each.", "Bulk"}, {0}};
static const char *const bulk_codes[] = {"BAD_FILTER", NULL};

static const Route routes[] = {
    {"POST", "/v1/runs/bulk", "changeRuns", "Change many runs", SCOPE_CLIENT, BODY_OBJECT,
     bulk_fields, NULL, bulk_answers, bulk_codes, change_runs},
};
const RouteTable routes_bulk = {routes, COUNT_OF(routes)};

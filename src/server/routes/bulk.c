// The same change to many runs: by id, or by a filter a page at a time.
//
//   [routes-bulk-1] Each run is changed by an operation of its own, with its own answer: what
//        becomes of one says nothing about the others. Those of one request share commits.
//   [routes-bulk-2] A request changes at most LIMIT_LIST_PAGE runs.
//   [routes-bulk-3] Whether a run can go on in another version is found out before anything is
//        changed, for as many runs as fit into memory; each write checks what it was found out from
//        (engine/definitions/move.h). What of a filter's page does not fit is left to the next one.
//
// Not here: changing one run (routes/changes.c, routes/move.c).
#include "base/array.h"
#include "base/text/name.h"
#include "base/text/number.h"
#include "engine/definitions/move.h"
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
    BULK_MOVE,
    BULK_REWIND,
    BULK_VERB_COUNT
} BulkVerb;

static const char *const verb_names[BULK_VERB_COUNT] = {"cancel", "pause",  "resume", "release",
                                                        "retry",  "remove", "move",   "rewind"};

enum { MOVED_SIZE_MAX = 64 << 20, REASONS_MAX = 100 }; // [routes-bulk-3]

typedef struct Verdict {
    bool is_changed;
    const char *code; // NULL = it was not refused
    const char *detail;
} Verdict;

typedef struct Reason { // why runs were refused
    const char *code;
    Str detail; // without the id of the run
    Str example;
    int64_t count;
} Reason;

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
    Str version;       // of move and retry; null = none was given
    StepChoice step;   // of rewind
    Verdict *verdicts; // of those that no operation is submitted for
    bool *is_decided;  // by place: that is so
} Bulk;

static const Field bulk_fields[] = {
    {"verb", "string", true, "cancel, pause, resume, release, retry, remove, move or rewind."},
    {"ids", "strings", false, "The runs, up to 1000 …"},
    {"q", "string", false, "… or a filter; one of the two."},
    {"dry_run", "boolean", false, "Changes nothing; says what would happen."},
    {"limit", "integer", false, "With q: most runs of this request, 1 to 1000; 100 unless given."},
    {"cursor", "string", false, "With q: `next` of the answer before."},
    {"reason", "string", false, "Of cancel; kept in the runs' histories."},
    {"grace", "duration", false, "Of cancel: time for cleanup."},
    {"version", "string", false,
     "Of move and retry: go on in this version of the workflow, at least the first six characters "
     "of one, or `current`."},
    {"step", "string", false, "Of rewind: name of the step to go back to."},
    {"iteration", "integer", false,
     "Of rewind: which of several of that name; 0 is the first. The last unless given."},
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
                    "verb: cancel, pause, resume, release, retry, remove, move or rewind, not "
                    "\"%.*s\"",
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

// What goes with some verbs only.
static Status check_fields(const JsonValue *body, const Bulk *bulk, Diag *diag) {
    bool has_version_verb = bulk->verb == BULK_MOVE || bulk->verb == BULK_RETRY;
    if (!has_version_verb && !str_is_null(bulk->version))
        return diag_set(diag, ERR_INVALID, "BAD_FIELD", "version goes with move and retry");
    bool has_cancel_field = json_has(body, "reason") || json_has(body, "grace");
    if (bulk->verb != BULK_CANCEL && has_cancel_field)
        return diag_set(diag, ERR_INVALID, "BAD_FIELD", "reason and grace go with cancel");
    bool has_step_field = json_has(body, "step") || json_has(body, "iteration");
    if (bulk->verb != BULK_REWIND && has_step_field)
        return diag_set(diag, ERR_INVALID, "BAD_FIELD", "step and iteration go with rewind");
    if (bulk->verb != BULK_REWIND) return OK;
    return name_check(bulk->step.name, "step", "BAD_FIELD", LIMIT_NAME_SIZE, diag);
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
    TRY(json_get_string(body, "version", &bulk->version, diag));
    TRY(json_get_string(body, "step", &bulk->step.name, diag));
    TRY(parts_iteration(body, &bulk->step, diag));
    TRY(read_verb(body, bulk, diag));
    TRY(check_fields(body, bulk, diag));
    if (!str_is_null(reason)) bulk->reason = arena_str(&exchange->arena, parts_raw(body, "reason"));
    if ((ids == NULL) == str_is_null(text))
        return diag_set(diag, ERR_INVALID, "BAD_FIELD", "give either ids or q");
    bool has_page = json_has(body, "limit") || json_has(body, "cursor");
    if (ids != NULL && has_page)
        return diag_set(diag, ERR_INVALID, "BAD_FIELD", "limit and cursor go with q");
    return ids != NULL ? read_ids(&exchange->arena, ids, bulk, diag)
                       : search(exchange, body, text, bulk, diag);
}

// ---- answering ----

static void begin_answer(JsonWriter *json, const Bulk *bulk) {
    json_write_object_begin(json);
    json_put_cstr(json, "verb", verb_names[bulk->verb]);
    json_put_bool(json, "dry_run", bulk->is_dry);
    json_write_key(json, STR("results"));
    json_write_array_begin(json);
}

typedef struct Counts {
    Arena *arena; // of the reasons
    int64_t changed, unchanged, refused;
    Reason reasons[REASONS_MAX];
    size_t reason_count;
} Counts;

// The same for all runs: `the run "…" is suspended`.
static Str without_id(Arena *arena, const char *detail, Str id) {
    Str quoted = arena_printf(arena, "\"%.*s\"", STR_ARG(id));
    const char *at = strstr(detail, quoted.data);
    if (at == NULL) return str_from(detail);
    return arena_printf(arena, "%.*s\"…\"%s", (int)(at - detail), detail, at + quoted.len);
}

static void count_reason(Counts *counts, Str id, const Verdict *verdict) {
    Str detail = without_id(counts->arena, verdict->detail, id);
    for (size_t i = 0; i < counts->reason_count; i++) {
        if (!str_equal(counts->reasons[i].detail, detail)) continue;
        counts->reasons[i].count++;
        return;
    }
    if (counts->reason_count == REASONS_MAX) return;
    counts->reasons[counts->reason_count++] =
        (Reason){.code = verdict->code, .detail = detail, .example = id, .count = 1};
}

static void put_reasons(JsonWriter *json, const Counts *counts) {
    json_write_key(json, STR("reasons"));
    json_write_array_begin(json);
    for (size_t i = 0; i < counts->reason_count; i++) {
        json_write_object_begin(json);
        json_put_cstr(json, "code", counts->reasons[i].code);
        json_put_string(json, "detail", counts->reasons[i].detail);
        json_put_i64(json, "count", counts->reasons[i].count);
        json_put_string(json, "example", counts->reasons[i].example);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

static void put_verdict(JsonWriter *json, Str id, const Verdict *verdict, Counts *counts) {
    bool is_refused = verdict->code != NULL;
    counts->refused += is_refused;
    if (is_refused) count_reason(counts, id, verdict);
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
    put_reasons(json, counts);
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
    case BULK_MOVE: // is_decided
    case BULK_REWIND:
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
    Counts counts = {.arena = &exchange->arena};
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
    case BULK_REWIND:
        op->kind = OP_REWIND;
        op->in.rewind.run_id = id;
        op->in.rewind.step = bulk->step;
        return;
    case BULK_MOVE: return; // decide_one has
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
    case BULK_MOVE:
    case BULK_REWIND:
    case BULK_REMOVE:
    case BULK_VERB_COUNT: break;
    }
    return (Verdict){.is_changed = true};
}

static void answer_done(Exchange *exchange) {
    const Bulk *bulk = exchange->state;
    Counts counts = {.arena = &exchange->arena};
    size_t next = 0;
    JsonWriter *json = exchange_begin(exchange, 200);
    begin_answer(json, bulk);
    for (size_t i = 0; i < bulk->count; i++) { // [routes-bulk-1]
        Verdict verdict = bulk->is_decided[i] ? bulk->verdicts[i]
                                              : verdict_of(bulk->verb, &bulk->requests[next++].op);
        put_verdict(json, bulk->ids[i], &verdict, &counts);
    }
    end_answer(exchange, json, bulk, &counts);
}

// ---- going on in another version ----

static void keep_text(Arena *arena, Str *text) { *text = arena_str(arena, *text); }

// The operation for one run with its texts in the arena of the exchange, or why there is none.
static Status decide(Exchange *exchange, Str id, Op *op, bool *ret_is_needed, Diag *diag) {
    const Bulk *bulk = exchange->state;
    Arena scratch, *arena = &exchange->arena;
    MoveAnswer answer = {0};
    arena_init(&scratch);
    MoveWish wish = {.store = exchange_store(exchange),
                     .arena = &scratch,
                     .run_id = id,
                     .version = bulk->version};
    bool is_move = bulk->verb == BULK_MOVE;
    fill_op(bulk, id, op);
    Status status =
        is_move ? move_fill(&wish, op, &answer, diag) : move_fill_fork(&wish, op, &answer, diag);
    *ret_is_needed = status == OK && !(is_move && answer.is_there);
    if (*ret_is_needed && !bulk->is_dry) {
        keep_text(arena, is_move ? &op->in.move.snapshot : &op->in.fork.version.snapshot);
        keep_text(arena, is_move ? &op->in.move.note : &op->in.fork.version.note);
    }
    arena_done(&scratch);
    return status;
}

static Verdict verdict_kept(Exchange *exchange, Status status, bool is_needed, const Diag *diag) {
    if (status == OK) return (Verdict){.is_changed = is_needed};
    Str code = arena_printf(&exchange->arena, "%s", problem_code(status, diag));
    Str detail = arena_printf(&exchange->arena, "%s", diag->message);
    return refusal(code.data, detail.data);
}

// What is past the bound waits for the next page; given by id, it is for the caller to ask again.
static Status cut(Bulk *bulk, size_t count, Diag *diag) {
    if (bulk->rows == NULL)
        return diag_set(diag, ERR_LIMIT, "TOO_LARGE",
                        "the states of these runs are too large together; name fewer of them");
    bulk->next = bulk->rows[count - 1].key;
    bulk->count = count;
    return OK;
}

// [routes-bulk-3]
static Status decide_all(Exchange *exchange, Bulk *bulk, size_t *ret_count, Diag *diag) {
    size_t start = exchange->arena.used_size;
    for (size_t i = 0; i < bulk->count; i++) {
        if (exchange->arena.used_size - start > MOVED_SIZE_MAX) return cut(bulk, i, diag);
        Op *op = &bulk->requests[*ret_count].op;
        bool is_needed;
        Diag why = {0};
        *op = (Op){0};
        Status status = decide(exchange, bulk->ids[i], op, &is_needed, &why);
        if (status_is_away(status)) {
            *diag = why;
            return status;
        }
        bulk->is_decided[i] = !is_needed || bulk->is_dry;
        bulk->verdicts[i] = verdict_kept(exchange, status, is_needed, &why);
        *ret_count += !bulk->is_decided[i];
    }
    return OK;
}

static void change_in_version(Exchange *exchange, Bulk *bulk) {
    size_t count = 0;
    Diag diag = {0};
    bulk->verdicts = ARENA_ARRAY(&exchange->arena, Verdict, bulk->count);
    if (!exchange_found(exchange, decide_all(exchange, bulk, &count, &diag), &diag)) return;
    if (count == 0) answer_done(exchange);
    else exchange_submit_all(exchange, bulk->requests, count, answer_done);
}

// ---- going back to a step ----

static Status foresee_rewinds(Exchange *exchange, Bulk *bulk, Diag *diag) {
    for (size_t i = 0; i < bulk->count; i++) {
        Arena scratch;
        arena_init(&scratch);
        const MoveWish wish = {
            .store = exchange_store(exchange), .arena = &scratch, .run_id = bulk->ids[i]};
        Diag why = {0};
        Status status = move_check_rewind(&wish, &bulk->step, &why);
        arena_done(&scratch);
        if (status_is_away(status)) {
            *diag = why;
            return status;
        }
        bulk->is_decided[i] = true;
        bulk->verdicts[i] = verdict_kept(exchange, status, true, &why);
    }
    return OK;
}

static void answer_dry_rewind(Exchange *exchange, Bulk *bulk) {
    Diag diag = {0};
    bulk->verdicts = ARENA_ARRAY(&exchange->arena, Verdict, bulk->count);
    if (exchange_found(exchange, foresee_rewinds(exchange, bulk, &diag), &diag))
        answer_done(exchange);
}

static void change_runs(Exchange *exchange) {
    const JsonValue *body = exchange_object(exchange);
    if (body == NULL) return;
    Bulk *bulk = ARENA_NEW(&exchange->arena, Bulk);
    Diag diag = {0};
    if (!exchange_found(exchange, read_bulk(exchange, body, bulk, &diag), &diag)) return;
    ASSERT(bulk->count <= LIMIT_LIST_PAGE); // [routes-bulk-2]
    exchange->state = bulk;
    bulk->requests = ARENA_ARRAY(&exchange->arena, Request, bulk->count);
    bulk->is_decided = ARENA_ARRAY(&exchange->arena, bool, bulk->count);
    if (bulk->verb == BULK_MOVE || !str_is_null(bulk->version)) {
        change_in_version(exchange, bulk);
        return;
    }
    if (bulk->is_dry) {
        if (bulk->verb == BULK_REWIND) answer_dry_rewind(exchange, bulk);
        else answer_dry(exchange, bulk);
        return;
    }
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

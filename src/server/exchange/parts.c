// What several routes share: pages, names, tags, and how a run is shown.
//
// Functions that check answer the exchange themselves when something is wrong, so that a handler
// only has to return.
//
// Not here: rows as JSON (render.c), fields of one route only (routes_*.c).
#include "server/exchange/parts.h"
#include "base/text/name.h"
#include "base/text/number.h"
#include "engine/runners/runner.h"
#include "model/trace.h"

// ---- pages ----

static bool read_limit(Exchange *exchange, int64_t *ret_limit) {
    *ret_limit = PAGE_LIMIT;
    if (!exchange_query_count(exchange, "limit", LIMIT_LIST_PAGE, ret_limit)) return false;
    if (*ret_limit > 0) return true;
    exchange_refuse_with(exchange, ERR_INVALID, "BAD_QUERY", "limit: at least 1");
    return false;
}

bool parts_page(Exchange *exchange, PageSpec *ret_page) {
    *ret_page = (PageSpec){.size_max = PAGE_ROWS_SIZE};
    return read_limit(exchange, &ret_page->limit) &&
           exchange_query_count(exchange, "cursor", INT64_MAX, &ret_page->after);
}

bool parts_named_page(Exchange *exchange, NamePageSpec *ret_page) {
    ret_page->after = exchange_query(exchange, "cursor");
    return read_limit(exchange, &ret_page->limit);
}

void parts_send_list(Exchange *exchange, RowList list, Str next, RowRenderer render) {
    JsonWriter *json = exchange_begin(exchange, 200);
    json_write_object_begin(json);
    json_write_key(json, STR("items"));
    json_write_array_begin(json);
    const char *rows = list.rows;
    for (size_t i = 0; i < list.count; i++) render(exchange, json, rows + i * list.row_size);
    json_write_array_end(json);
    json_put_string(json, "next", next);
    json_write_object_end(json);
    exchange_send(exchange);
}

void parts_put_cursor(JsonWriter *json, int64_t next) {
    char text[NUMBER_TEXT_MAX];
    size_t len = number_format_i64(next, text);
    json_put_string(json, "next", next != 0 ? (Str){text, len} : STR_NULL);
}

void parts_send_page(Exchange *exchange, RowList list, int64_t next, RowRenderer render) {
    char text[NUMBER_TEXT_MAX];
    size_t len = number_format_i64(next, text);
    parts_send_list(exchange, list, next != 0 ? (Str){text, len} : STR_NULL, render);
}

// ---- fields ----

bool parts_check(Exchange *exchange, Str text, const char *what, const char *code) {
    Diag diag;
    Status status = name_check(text, what, code, LIMIT_NAME_SIZE, &diag);
    if (status == OK) return true;
    exchange_refuse(exchange, status, &diag);
    return false;
}

uint64_t parts_kept(const JsonValue *body, TableNumber table, const FieldColumn *fields) {
    uint64_t kept = 0;
    for (; fields->field != NULL; fields++) {
        if (!json_has(body, fields->field)) kept |= column_bit(table, fields->offset);
    }
    return kept;
}

Str parts_raw(const JsonValue *body, const char *name) {
    Str raw = STR_NULL;
    json_get_raw(body, name, &raw);
    return raw;
}

static void add_item(Buf *list, Str item) {
    item = str_trim(item);
    if (item.len == 0) return;
    if (list->len > 0) buf_append_cstr(list, "\n");
    buf_append_str(list, item);
}

Str parts_query_list(Exchange *exchange, const char *name, bool has_commas) {
    Buf list;
    bool is_given = false;
    buf_init(&list, 2 * exchange->uri.len + 2); // each value at most twice
    for (size_t i = 0; i < exchange->query_count; i++) {
        const QueryParameter *parameter = &exchange->query[i];
        if (!str_equal(parameter->name, str_from(name))) continue;
        is_given = true;
        add_item(&list, parameter->value);
        bool is_list = has_commas && parameter->value.len > 0 &&
                       memchr(parameter->value.data, ',', parameter->value.len) != NULL;
        if (!is_list) continue;
        for (Str left = parameter->value, item; str_split(&left, ',', &item);)
            add_item(&list, item);
    }
    Str answer = is_given ? arena_str(&exchange->arena, buf_str(&list)) : STR_NULL;
    buf_done(&list);
    return answer;
}

typedef struct StateNames {
    const char *(*name_of)(int64_t state);
    int64_t count;
} StateNames;

static void refuse_state(Exchange *exchange, Str name, const StateNames *names) {
    Buf list;
    buf_init(&list, DIAG_MESSAGE_MAX);
    for (int64_t state = 1; state < names->count; state++)
        buf_printf(&list, "%s%s", state > 1 ? ", " : "", names->name_of(state));
    exchange_refuse_with(exchange, ERR_INVALID, "BAD_QUERY",
                         "status: there is no state \"%.*s\"; the states are %.*s", STR_ARG(name),
                         STR_ARG(buf_str(&list)));
    buf_done(&list);
}

static bool add_states(Exchange *exchange, Str text, const StateNames *names, uint32_t *states) {
    for (Str left = text, name; str_split(&left, ',', &name);) {
        int64_t state = 1;
        while (state < names->count && !str_equal(name, str_from(names->name_of(state)))) state++;
        if (state == names->count) {
            refuse_state(exchange, name, names);
            return false;
        }
        *states |= 1u << state;
    }
    return true;
}

bool parts_query_states(Exchange *exchange, const char *(*name_of)(int64_t state),
                        int64_t state_count, uint32_t *ret_states) {
    const StateNames names = {name_of, state_count};
    *ret_states = 0;
    for (size_t i = 0; i < exchange->query_count; i++) {
        const QueryParameter *parameter = &exchange->query[i];
        if (!str_equal(parameter->name, STR("status"))) continue;
        if (!add_states(exchange, parameter->value, &names, ret_states)) return false;
    }
    return true;
}

void parts_send_changed(Exchange *exchange, bool is_changed) {
    JsonWriter *json = exchange_begin(exchange, 200);
    json_write_object_begin(json);
    json_put_bool(json, "changed", is_changed);
    json_write_object_end(json);
    exchange_send(exchange);
}

// ---- what is hidden ----

RenderMask parts_mask_of_definition(Server *server, Arena *arena, int64_t definition) {
    const Mask *mask = engine_mask(server->engine, definition);
    if (mask == NULL) return (RenderMask){.arena = arena};
    const Mask **items = ARENA_ARRAY(arena, const Mask *, 1);
    items[0] = mask;
    return (RenderMask){{items, 1}, arena};
}

RenderMask parts_mask(Exchange *exchange, const RunRow *run) {
    return parts_mask_of_definition(exchange->server, &exchange->arena, run->definition);
}

// Rows of a list mostly belong to the run of the one before.
const RenderMask *parts_mask_of(Exchange *exchange, int64_t run_key) {
    struct ExchangeMasks *masks = &exchange->masks;
    if (masks->of_run != NULL && masks->run_key == run_key) return masks->of_run;
    RenderMask *mask = ARENA_NEW(&exchange->arena, RenderMask);
    RunRow run;
    mask->arena = &exchange->arena;
    if (run_key != 0) {
        Status status =
            store_run_by_key(exchange_store(exchange), &exchange->arena, run_key, &run, NULL);
        if (status == OK) *mask = parts_mask(exchange, &run);
        else mask->masks = engine_common_masks(exchange->server->engine, &exchange->arena);
    }
    masks->of_run = mask;
    masks->run_key = run_key;
    return mask;
}

const RenderMask *parts_common_mask(Exchange *exchange) {
    struct ExchangeMasks *masks = &exchange->masks;
    if (masks->common != NULL) return masks->common;
    RenderMask *mask = ARENA_NEW(&exchange->arena, RenderMask);
    mask->arena = &exchange->arena;
    mask->masks = engine_common_masks(exchange->server->engine, &exchange->arena);
    masks->common = mask;
    return mask;
}

// ---- one run ----

bool parts_is_registered(Exchange *exchange, int64_t kind, Str workflow) {
    return kind == RUN_FLOW || engine_knows(exchange->server->engine, workflow);
}

static bool put_version(Exchange *exchange, JsonWriter *json, const RunRow *run) {
    if (run->definition == 0) {
        json_put_null(json, "version");
        return true;
    }
    DefinitionRow row;
    Diag diag = {0};
    Status status = store_definition_by_key(exchange_store(exchange), &exchange->arena,
                                            run->definition, &row, &diag);
    if (!exchange_found(exchange, status, &diag)) return false;
    json_put_string(json, "version", row.version);
    return true;
}

static void put_parent(Exchange *exchange, JsonWriter *json, const RunRow *run) {
    RunRow parent;
    Diag diag;
    bool has_parent =
        run->parent != 0 && store_run_by_key(exchange_store(exchange), &exchange->arena,
                                             run->parent, &parent, &diag) == OK;
    json_put_string(json, "parent_id", has_parent ? parent.id : STR_NULL);
}

RunMore parts_run_more(Exchange *exchange, const RunRow *run) {
    abide_engine *engine = exchange->server->engine;
    RunMore more = {.is_released = engine_has_released(engine, run)};
    Diag diag;
    diag_clear(&diag);
    if (engine_pause_reason(engine, &exchange->arena, run, &more.pause_reason, &diag) != OK)
        more.pause_reason =
            error_object(&exchange->arena, str_from(diag.code), str_from(diag.message));
    return more;
}

enum { UNSERVED_LOOKED_AT = 20 }; // tasks of one run

// Only of tasks that have been waited for some time: a run that goes on well costs nothing.
static void find_unserved(Exchange *exchange, const RunRow *run, RunMore *more) {
    WaitSet set = {0};
    Server *server = exchange->server;
    int64_t now_ms = engine_now_ms(server->engine);
    bool has_waits = run->state == RUN_SUSPENDED && !str_is_null(run->waits) &&
                     wait_set_decode(&exchange->arena, run->waits, &set) == OK;
    Unserved *found = ARENA_ARRAY(&exchange->arena, Unserved, UNSERVED_LOOKED_AT);
    more->unserved = found;
    size_t looked_at = 0;
    for (size_t i = 0; has_waits && i < set.count && looked_at < UNSERVED_LOOKED_AT; i++) {
        const WaitItem *item = &set.items[i];
        if (item->kind != WAIT_TASK || now_ms - item->since_ms < UNSERVED_MS) continue;
        TaskRow task;
        Diag diag;
        looked_at++;
        if (store_find_task(exchange_store(exchange), &exchange->arena, item->name, &task, &diag) ==
                OK &&
            workers_is_unserved(server, &exchange->arena, &task, &found[more->unserved_count]))
            more->unserved_count++;
    }
}

Str parts_unreadable(Exchange *exchange, const RunRow *run) {
    Diag diag;
    diag_clear(&diag);
    if (engine_check_released(exchange->server->engine, run, &diag) == OK) return STR_NULL;
    return error_object(&exchange->arena, str_from(diag.code), str_from(diag.message));
}

static bool put_end(Exchange *exchange, JsonWriter *json, const RunRow *run) {
    bool has_ended = run_state_is_terminal(run->state);
    RunResult end = {0};
    Diag diag = {0};
    Status status = OK;
    if (has_ended)
        status = store_find_result(exchange_store(exchange), &exchange->arena, run_of_id(run->id),
                                   &end, &diag);
    if (!exchange_found(exchange, status, &diag)) return false;
    bool is_result = run->state == RUN_COMPLETED;
    Str error = has_ended ? end.json : parts_unreadable(exchange, run);
    RenderMask mask = parts_mask(exchange, run);
    Str shown = engine_hide(&mask.masks, is_result ? STR("result") : STR("error"),
                            is_result ? end.json : error, mask.arena);
    json_put_raw(json, "result", is_result ? shown : STR_NULL);
    json_put_raw(json, "error", is_result ? STR_NULL : shown);
    return true;
}

static void put_states(JsonWriter *json, const StateList *states, const RenderMask *mask) {
    json_write_key(json, STR("state"));
    json_write_object_begin(json);
    for (size_t i = 0; i < states->count; i++) {
        const StateRow *state = &states->rows[i];
        json_write_key(json, state->name);
        json_write_raw(json, engine_hide(&mask->masks, state->name, state->value, mask->arena));
    }
    json_write_object_end(json);
}

// What its script has set with State.set.
static bool put_state(Exchange *exchange, JsonWriter *json, const RunRow *run) {
    StateList states = {0};
    Diag diag = {0};
    Status status = OK;
    if (run->kind == RUN_FLOW || run->kind == RUN_CODE)
        status = store_list_states(exchange_store(exchange), &exchange->arena, run_of_id(run->id),
                                   &states, &diag);
    if (!exchange_found(exchange, status, &diag)) return false;
    RenderMask mask = parts_mask(exchange, run);
    put_states(json, &states, &mask);
    return true;
}

bool parts_find_run(Exchange *exchange, Str run_id, RunRow *ret_run) {
    Diag diag = {0};
    Status status =
        store_run_by_id(exchange_store(exchange), &exchange->arena, run_id, ret_run, &diag);
    return exchange_found(exchange, status, &diag);
}

// The members before its version.
static void put_front(Exchange *exchange, JsonWriter *json, const RunRow *run) {
    RunMore more = parts_run_more(exchange, run);
    find_unserved(exchange, run, &more);
    render_run_members(json, &exchange->arena, run, &more);
    put_parent(exchange, json, run);
    json_put_string(json, "traceparent", tags_trace(run->tags));
    json_put_bool(json, "registered", parts_is_registered(exchange, run->kind, run->workflow));
}

void parts_send_run(Exchange *exchange, int http_status, Str run_id) {
    RunRow run;
    if (!parts_find_run(exchange, run_id, &run)) return;
    JsonWriter *json = exchange_begin(exchange, http_status);
    json_write_object_begin(json);
    put_front(exchange, json, &run);
    if (!put_version(exchange, json, &run) || !put_state(exchange, json, &run) ||
        !put_end(exchange, json, &run))
        return;
    json_write_object_end(json);
    exchange_send(exchange);
}

void parts_send_new_run(Exchange *exchange, const RunRow *run, Str version) {
    ASSERT(run->state == RUN_PENDING || run->state == RUN_RUNNING); // so nothing below is read
    ASSERT(run->parent == 0);
    JsonWriter *json = exchange_begin(exchange, 201);
    json_write_object_begin(json);
    put_front(exchange, json, run);
    json_put_string(json, "version", version);
    put_states(json, &(StateList){0}, NULL);
    json_put_null(json, "result");
    json_put_null(json, "error");
    json_write_object_end(json);
    exchange_send(exchange);
}

Status parts_iteration(const JsonValue *body, StepChoice *step, Diag *diag) {
    int64_t iteration = 0;
    step->is_last = json_member(body, STR("iteration")) == NULL;
    if (step->is_last) return OK;
    TRY(json_get_i64(body, "iteration", &iteration, diag));
    if (iteration < 0) return diag_set(diag, ERR_INVALID, "BAD_FIELD", "iteration: not below 0");
    step->iteration = iteration;
    return OK;
}

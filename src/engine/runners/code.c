// Code runs: from what a worker says to the output of a turn, and from checkpoints to a journal.
//
// Which entries there are is one table: a name on the wire, the members it may have, and a function
// that reads it. What may be said in options is what scripts may say (flow/check/api.h).
//
// Invariants [runners-code-1]-[runners-code-3] are in code.h.
//
// Not here: who executes (api/driver/turns.c), the routes (server/routes/turns.c).
#include "engine/runners/code.h"
#include "base/array.h"
#include "base/limits.h"
#include "base/text/name.h"
#include "engine/runners/filter.h"
#include "engine/runners/flow_options.h"
#include "flow/check/api.h"
#include "json/escape.h"

// ---- entries ----

static int64_t next_position(const CodeTurn *turn) { // [runners-code-1]
    for (size_t i = turn->output->log.count; i-- > 0;)
        if (log_has_position(&turn->output->log.data[i]))
            return turn->output->log.data[i].position + 1;
    return (int64_t)turn->view->checkpoint_count;
}

static int64_t next_iteration(const CodeTurn *turn, LogKind kind, Str name) {
    const RunView *view = turn->view;
    return journal_index_count(view->index, view->checkpoints, view->checkpoint_count, kind, name) +
           journal_index_count(turn->fresh, NULL, 0, kind, name);
}

typedef struct Said { // an entry as the worker gives it
    const JsonValue *json;
    int64_t op; // 0 = it belongs to none
    Str name;
} Said;

static LogRow *add(const CodeTurn *turn, const Said *said, LogKind kind, Str data) {
    LogRow row = {
        .kind = kind,
        .position = kind == LOG_LINE ? NO_POSITION : next_position(turn),
        .iteration = next_iteration(turn, kind, said->name),
        .slot = said->op,
        .name = arena_str(turn->arena, said->name),
        .data = arena_str(turn->arena, data),
    };
    journal_index_add(turn->fresh, &row, turn->output->log.count);
    vec_push(&turn->output->log, row);
    return &vec_last(&turn->output->log);
}

static Status get_payload(const Said *said, const char *name, Str *ret_json, Diag *diag) {
    json_get_raw(said->json, name, ret_json);
    if (ret_json->len <= LIMIT_PAYLOAD_SIZE) return OK;
    return diag_set(diag, ERR_LIMIT, "PAYLOAD_TOO_LARGE",
                    "%s of \"%.*s\" has %zu bytes; at most %d are allowed", name,
                    STR_ARG(said->name), ret_json->len, LIMIT_PAYLOAD_SIZE);
}

static Status get_error(const JsonValue *object, Str *ret_error, Diag *diag) {
    const JsonValue *error = NULL;
    TRY(json_get_object(object, "error", &error, diag));
    if (error == NULL) return OK;
    Str type = STR_NULL, message = STR_NULL;
    TRY(json_get_string(error, "type", &type, diag));
    TRY(json_get_string(error, "message", &message, diag));
    if (str_is_null(type) || str_is_null(message))
        return diag_set(diag, ERR_INVALID, "BAD_FIELD", "error: {\"type\", \"message\", …}");
    if (error->raw.len > LIMIT_ERROR_SIZE)
        return diag_set(diag, ERR_LIMIT, "PAYLOAD_TOO_LARGE",
                        "an error has %zu bytes; at most %d are allowed", error->raw.len,
                        LIMIT_ERROR_SIZE);
    *ret_error = error->raw;
    return OK;
}

static Status read_step(const CodeTurn *turn, const Said *said, Diag *diag) {
    Str result = STR_NULL, error = STR_NULL;
    int64_t attempt = 1;
    TRY(get_payload(said, "result", &result, diag));
    TRY(get_error(said->json, &error, diag));
    TRY(json_get_i64(said->json, "attempt", &attempt, diag));
    LogRow *row = add(turn, said, LOG_STEP, str_is_null(error) ? result : error);
    row->outcome = str_is_null(error) ? OUTCOME_OK : OUTCOME_ERROR;
    row->attempt = attempt;
    return OK;
}

static Status read_attempt(const CodeTurn *turn, const Said *said, Diag *diag) {
    Str error = STR_NULL;
    int64_t attempt = 1;
    TRY(get_error(said->json, &error, diag));
    if (str_is_null(error))
        return diag_set(diag, ERR_INVALID, "BAD_FIELD", "an attempt that failed has an error");
    TRY(json_get_i64(said->json, "attempt", &attempt, diag));
    LogRow *row = add(turn, said, LOG_STEP_ATTEMPT, error);
    row->outcome = OUTCOME_ERROR;
    row->attempt = attempt;
    return OK;
}

// The options as JSON text, held to what scripts may say in that call.
static Status get_options(const CodeTurn *turn, const Said *said, const char *call, Str *ret_json,
                          Diag *diag) {
    *ret_json = STR_NULL;
    json_get_raw(said->json, "options", ret_json);
    if (str_is_null(*ret_json)) return OK;
    return flow_api_read_options(call, *ret_json, turn->arena, diag);
}

static Status read_task(const CodeTurn *turn, const Said *said, Diag *diag) {
    TaskSpec spec = {.position = next_position(turn)};
    Str options, input = STR_NULL;
    TRY(get_payload(said, "input", &input, diag));
    TRY(get_options(turn, said, "Task.run", &options, diag));
    TRY(flow_task_options(turn->arena, options, &spec, diag));
    if (str_is_null(spec.id)) // [runners-code-2]
        spec.id = task_id_at(turn->arena, turn->view, spec.position);
    spec.name = arena_str(turn->arena, said->name);
    spec.input = arena_str(turn->arena, input);
    (void)add(turn, said, LOG_TASK, json_quote(turn->arena, spec.id));
    vec_push(&turn->output->tasks, spec);
    return OK;
}

static Str child_id(const CodeTurn *turn) { // [runners-code-2]
    Str what = arena_printf(turn->arena, "%.*s\nrun\n%lld\n%lld", STR_ARG(turn->view->id),
                            (long long)turn->view->incarnation, (long long)next_position(turn));
    return derived_id(turn->arena, "run_", what);
}

static Status read_child(const CodeTurn *turn, const Said *said, Diag *diag) {
    RunSpec spec = {.keep_ms = turn->child_keep_ms};
    Str options, input = STR_NULL;
    bool is_detached = false;
    TRY(get_payload(said, "input", &input, diag));
    TRY(json_get_bool(said->json, "detached", &is_detached, diag));
    TRY(get_options(turn, said, is_detached ? "Workflow.start" : "Workflow.run", &options, diag));
    TRY(flow_run_options(turn->arena, options, turn->now_ms, &spec, diag));
    if (str_is_null(spec.id)) spec.id = child_id(turn);
    spec.workflow = arena_str(turn->arena, said->name);
    spec.input = arena_str(turn->arena, input);
    spec.parent_position = is_detached ? NOT_AWAITED : next_position(turn);
    (void)add(turn, said, LOG_CHILD, json_quote(turn->arena, spec.id));
    vec_push(&turn->output->children, spec);
    return OK;
}

static Status read_emit(const CodeTurn *turn, const Said *said, Diag *diag) {
    Str payload = STR_NULL;
    TRY(get_payload(said, "payload", &payload, diag));
    EventSpec event = {.topic = arena_str(turn->arena, said->name),
                       .payload = arena_str(turn->arena, payload)};
    event.id = arena_printf(turn->arena, "%.*s/%lld/%lld", STR_ARG(turn->view->id),
                            (long long)turn->view->incarnation, (long long)next_position(turn));
    (void)add(turn, said, LOG_EMIT, payload);
    vec_push(&turn->output->events, event);
    return OK;
}

static Status read_value(const CodeTurn *turn, const Said *said, LogKind kind, Diag *diag) {
    Str value = STR_NULL;
    TRY(get_payload(said, "value", &value, diag));
    (void)add(turn, said, kind, value);
    return OK;
}

static Status read_mark(const CodeTurn *turn, const Said *said, Diag *diag) {
    return read_value(turn, said, LOG_MARK, diag);
}

static Status read_stream(const CodeTurn *turn, const Said *said, Diag *diag) {
    return read_value(turn, said, LOG_STREAM, diag);
}

// It was asked to end while it executed, and the function has been told.
static Status read_cancel(const CodeTurn *turn, const Said *said, Diag *diag) {
    (void)diag;
    add(turn, said, LOG_MARK, STR_NULL)->outcome = OUTCOME_CANCELLED;
    return OK;
}

static Status read_line(const CodeTurn *turn, const Said *said, Diag *diag) {
    Str text = STR_NULL;
    TRY(json_get_string(said->json, "text", &text, diag));
    (void)add(turn, said, LOG_LINE, json_quote(turn->arena, str_is_null(text) ? STR("") : text));
    return OK;
}

static Status read_state(const CodeTurn *turn, const Said *said, Diag *diag) {
    StateSpec spec = {.name = arena_str(turn->arena, said->name)};
    TRY(get_payload(said, "value", &spec.value, diag));
    if (spec.value.len > LIMIT_STATE_SIZE)
        return diag_set(diag, ERR_LIMIT, "STATE_TOO_LARGE",
                        "the value of \"%.*s\" has %zu bytes; at most %d are allowed",
                        STR_ARG(said->name), spec.value.len, LIMIT_STATE_SIZE);
    spec.value = arena_str(turn->arena, spec.value);
    for (size_t i = 0; i < turn->output->states.count; i++) {
        if (!str_equal(turn->output->states.data[i].name, spec.name)) continue;
        turn->output->states.data[i] = spec;
        return OK;
    }
    vec_push(&turn->output->states, spec);
    return OK;
}

typedef struct EntryKind {
    const char *kind;
    bool has_op; // it belongs to an operation
    Status (*read)(const CodeTurn *turn, const Said *said, Diag *diag);
    const char *members[7]; // that it may have beside "kind"
} EntryKind;

static const EntryKind entry_kinds[] = {
    {"step", true, read_step, {"op", "name", "result", "error", "attempt"}},
    {"attempt", true, read_attempt, {"op", "name", "error", "attempt"}},
    {"task", true, read_task, {"op", "name", "input", "options"}},
    {"child", true, read_child, {"op", "name", "input", "options", "detached"}},
    {"emit", false, read_emit, {"name", "payload"}},
    {"mark", false, read_mark, {"op", "name", "value"}},
    {"stream", false, read_stream, {"name", "value"}},
    {"cancel", false, read_cancel, {"name"}},
    {"line", false, read_line, {"name", "text"}},
    {"state", false, read_state, {"name", "value"}},
};

static Status check_members(const EntryKind *kind, const JsonValue *entry, Diag *diag) {
    const char *allowed[COUNT_OF(kind->members) + 2] = {"kind"};
    for (size_t i = 0; i < COUNT_OF(kind->members) && kind->members[i] != NULL; i++)
        allowed[i + 1] = kind->members[i];
    return json_allow_only(entry, allowed, diag);
}

static Status read_entry(const CodeTurn *turn, const JsonValue *entry, Diag *diag) {
    Str name = STR_NULL;
    const EntryKind *kind = NULL;
    if (entry->kind != JSON_KIND_OBJECT)
        return diag_set(diag, ERR_INVALID, "BAD_FIELD", "entries: a list of objects");
    TRY(json_get_string(entry, "kind", &name, diag));
    for (size_t i = 0; i < COUNT_OF(entry_kinds) && !str_is_null(name); i++)
        if (str_equal(name, str_from(entry_kinds[i].kind))) kind = &entry_kinds[i];
    if (kind == NULL)
        return diag_set(diag, ERR_INVALID, "BAD_FIELD", "entries: there is no kind \"%.*s\"",
                        STR_ARG(name));
    TRY(check_members(kind, entry, diag));
    Said said = {.json = entry};
    TRY(json_get_i64(entry, "op", &said.op, diag));
    if (kind->has_op && said.op <= 0)
        return diag_set(diag, ERR_INVALID, "BAD_FIELD", "entries: op: a number from 1 on");
    TRY(json_get_string(entry, "name", &said.name, diag));
    TRY(name_check(said.name, "name", "BAD_NAME", LIMIT_NAME_SIZE, diag));
    return kind->read(turn, &said, diag);
}

static Status read_entries(const CodeTurn *turn, const JsonValue *said, Diag *diag) {
    const JsonValue *entries = NULL;
    TRY(json_get_array(said, "entries", &entries, diag));
    if (entries == NULL) return OK;
    if (entries->count > LIMIT_EFFECTS_PER_TURN)
        return diag_set(diag, ERR_LIMIT, "TURN_TOO_LARGE", "a turn may have at most %d entries",
                        LIMIT_EFFECTS_PER_TURN);
    JSON_EACH (entry, entries) TRY(read_entry(turn, entry, diag));
    return OK;
}

// ---- waits ----

// The id of the task or child; null = the operation began none. [runners-code-2]
static Str begun_id(const CodeTurn *turn, LogKind kind, int64_t op) {
    const RunView *view = turn->view;
    const LogRow *row = journal_index_begun(turn->fresh, turn->output->log.data, 0, op);
    if (row == NULL)
        row = journal_index_begun(view->index, view->checkpoints, view->checkpoint_count, op);
    if (row == NULL || row->kind != (int64_t)kind || row->data.len < 2) return STR_NULL;
    char *text = arena_alloc(turn->arena, row->data.len);
    size_t len = json_string_decode((Str){row->data.data + 1, row->data.len - 2}, text);
    text[len] = 0;
    return (Str){text, len};
}

static const struct {
    const char *name;
    WaitKind kind;
    bool needs_until;
} wait_kinds[] = {
    {"timer", WAIT_TIMER, true},  {"retry", WAIT_RETRY, true}, {"signal", WAIT_SIGNAL, false},
    {"event", WAIT_EVENT, false}, {"task", WAIT_TASK, false},  {"child", WAIT_CHILD, false},
};

static Status wait_target(const CodeTurn *turn, const JsonValue *wait, WaitItem *item, Diag *diag) {
    if (item->kind == WAIT_TASK || item->kind == WAIT_CHILD) {
        item->name = begun_id(turn, item->kind == WAIT_TASK ? LOG_TASK : LOG_CHILD, item->slot);
        if (!str_is_null(item->name)) return OK;
        return diag_set(diag, ERR_INVALID, "BAD_FIELD", "waits: operation %lld has begun no %s",
                        (long long)item->slot, wait_kind_name(item->kind));
    }
    if (item->kind == WAIT_TIMER || item->kind == WAIT_RETRY) {
        item->name = STR("timer");
        return OK;
    }
    Str name = STR_NULL;
    TRY(json_get_string(wait, "name", &name, diag));
    TRY(name_check(name, "name", "BAD_NAME", LIMIT_NAME_SIZE, diag));
    item->name = arena_str(turn->arena, name);
    if (item->kind != WAIT_EVENT) return OK;
    Str filter = STR_NULL;
    json_get_raw(wait, "filter", &filter);
    if (str_is_null(filter)) return OK;
    item->filter = arena_str(turn->arena, filter);
    return filter_check(filter, diag);
}

static Status read_wait(const CodeTurn *turn, const JsonValue *wait, WaitItem *item, Diag *diag) {
    static const char *const allowed[] = {"op", "on", "name", "until", "filter", NULL};
    Str on = STR_NULL;
    size_t place = 0;
    if (wait->kind != JSON_KIND_OBJECT)
        return diag_set(diag, ERR_INVALID, "BAD_FIELD", "waits: a list of objects");
    TRY(json_allow_only(wait, allowed, diag));
    TRY(json_get_string(wait, "on", &on, diag));
    while (place < COUNT_OF(wait_kinds) && !str_equal(on, str_from(wait_kinds[place].name)))
        place++;
    if (place == COUNT_OF(wait_kinds))
        return diag_set(diag, ERR_INVALID, "BAD_FIELD",
                        "waits: on: timer, retry, signal, event, task or child");
    *item = (WaitItem){.kind = wait_kinds[place].kind, .position = next_position(turn)};
    TRY(json_get_i64(wait, "op", &item->slot, diag));
    TRY(json_get_instant_ms(wait, "until", &item->deadline_at_ms, diag));
    if (wait_kinds[place].needs_until && item->deadline_at_ms <= 0)
        return diag_set(diag, ERR_INVALID, "BAD_FIELD", "waits: until: when the %s ends",
                        wait_kinds[place].name);
    TRY(wait_target(turn, wait, item, diag));
    item->iteration = next_iteration(turn, LOG_WAIT, item->name);
    return OK;
}

static Status read_mode(const JsonValue *said, WaitMode *ret_mode, Diag *diag) {
    Str deliver = STR_NULL;
    TRY(json_get_string(said, "deliver", &deliver, diag));
    bool is_each = str_equal(deliver, STR("each"));
    *ret_mode = is_each ? WAIT_EACH : WAIT_FIRST;
    if (is_each || str_is_null(deliver) || str_equal(deliver, STR("first"))) return OK;
    return diag_set(diag, ERR_INVALID, "BAD_FIELD", "deliver: first or each");
}

static Status read_waits(const CodeTurn *turn, const JsonValue *said, Diag *diag) {
    const JsonValue *waits = NULL;
    WaitMode mode;
    TRY(read_mode(said, &mode, diag));
    TRY(json_get_array(said, "waits", &waits, diag));
    if (waits == NULL || waits->count == 0) return OK;
    WaitItem *items = ARENA_ARRAY(turn->arena, WaitItem, waits->count);
    size_t count = 0;
    JSON_EACH (wait, waits) TRY(read_wait(turn, wait, &items[count++], diag));
    turn->output->waits = (WaitSet){.mode = mode, .items = items, .count = count};
    return OK;
}

static Status read_suspended(const CodeTurn *turn, const JsonValue *said, Diag *diag) {
    TRY(read_waits(turn, said, diag));
    if (turn->output->waits.count > 0) return OK;
    return diag_set(diag, ERR_INVALID, "BAD_FIELD", "waits: what is it suspended on?");
}

// ---- outcomes ----

static Status read_failed(const CodeTurn *turn, const JsonValue *said, Diag *diag) {
    Str error = STR_NULL;
    TRY(get_error(said, &error, diag));
    if (str_is_null(error))
        return diag_set(diag, ERR_INVALID, "BAD_FIELD", "error: {\"type\", \"message\", …}");
    turn->output->result = arena_str(turn->arena, error);
    return OK;
}

static Status read_payload_as(const CodeTurn *turn, const JsonValue *said, const char *name,
                              Diag *diag) {
    Str json = STR_NULL;
    TRY(get_payload(&(Said){.json = said, .name = turn->view->id}, name, &json, diag));
    turn->output->result = arena_str(turn->arena, json);
    return OK;
}

static Status read_completed(const CodeTurn *turn, const JsonValue *said, Diag *diag) {
    return read_payload_as(turn, said, "result", diag);
}

static Status read_continue_as(const CodeTurn *turn, const JsonValue *said, Diag *diag) {
    return read_payload_as(turn, said, "input", diag);
}

static const struct {
    const char *name;
    TurnNext next;
    const char *members[2]; // that go with it
    Status (*read)(const CodeTurn *turn, const JsonValue *said, Diag *diag);
} outcomes[] = {
    {"running", NEXT_CONTINUE, {"waits", "deliver"}, read_waits},
    {"suspended", NEXT_SUSPEND, {"waits", "deliver"}, read_suspended},
    {"completed", NEXT_COMPLETE, {"result"}, read_completed},
    {"failed", NEXT_FAIL, {"error"}, read_failed},
    {"cancelled", NEXT_CANCELLED, {"error"}, read_failed},
    {"paused", NEXT_PAUSE, {"error"}, read_failed},
    {"continue_as", NEXT_CONTINUE_AS, {"input"}, read_continue_as},
};

static Status read_turn(const CodeTurn *turn, const JsonValue *said, Diag *diag) {
    Str name = STR_NULL;
    TRY(json_get_string(said, "outcome", &name, diag));
    for (size_t i = 0; i < COUNT_OF(outcomes); i++) {
        if (!str_equal(name, str_from(outcomes[i].name))) continue;
        const char *allowed[] = {"turn",
                                 "entries",
                                 "outcome",
                                 "keep",
                                 "number",
                                 outcomes[i].members[0],
                                 outcomes[i].members[1],
                                 NULL};
        TRY(json_allow_only(said, allowed, diag));
        turn->output->next = outcomes[i].next;
        TRY(read_entries(turn, said, diag));
        return outcomes[i].read(turn, said, diag);
    }
    return diag_set(diag, ERR_INVALID, "BAD_FIELD",
                    "outcome: running, suspended, completed, failed, cancelled, paused or "
                    "continue_as");
}

Status code_turn_read(const CodeTurn *turn, const JsonValue *said, Diag *diag) {
    CodeTurn own = *turn;
    JournalIndex fresh;
    journal_index_init(&fresh);
    own.fresh = &fresh;
    Status status = read_turn(&own, said, diag);
    journal_index_done(&fresh);
    return status;
}

// ---- the journal ----

// The first place past the entry: they ascend.
static size_t place_after(const RunView *view, int64_t seq) {
    size_t low = 0, high = seq > 0 ? view->checkpoint_count : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (view->checkpoints[middle].seq <= seq) low = middle + 1;
        else high = middle;
    }
    return low;
}

void code_journal_write(const RunView *view, int64_t after_seq, JsonWriter *json) {
    for (size_t i = place_after(view, after_seq); i < view->checkpoint_count; i++) {
        const LogRow *row = &view->checkpoints[i];
        bool is_silent = row->kind == LOG_STREAM || row->kind == LOG_EMIT; // known by their name
        json_write_object_begin(json);
        json_put_i64(json, "seq", row->seq);
        json_put_cstr(json, "kind", log_kind_name(row->kind));
        json_put_i64(json, "op", row->slot);
        json_put_string(json, "name", log_entry_name(row));
        json_put_cstr(json, "outcome", outcome_name(row->outcome));
        json_put_i64(json, "attempt", row->attempt);
        json_put_raw(json, "data", is_silent ? STR_NULL : row->data);
        json_write_object_end(json);
    }
}

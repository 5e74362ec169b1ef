// Where a run stands: the lines of its script it waits at, what is in its variables, what weighs.
//
// The parked VM is read from the store, as of the last commit, into a VM of its own that is never
// run; the run itself is neither woken nor loaded. A run without a snapshot (a C function, one
// that has not waited yet, one that has ended well) has no frames. Of one that failed they are
// those with which its last turn began; how it looked when it failed is in its log.
//
// Not here: how a VM is looked into (flow/snapshot/inspect.c).
#include "base/array.h"
#include "engine/definitions/definition.h"
#include "engine/runners/flow_machine.h"
#include "server/exchange/parts.h"
#include "server/exchange/view_diff.h"

enum { INSPECT_SIZE_MAX = 16 << 20, INSPECT_DEPTH_MAX = 16, TURNS_MAX = 100 };

typedef struct Wanted { // of what is in the variables
    int64_t depth;      // levels of each value
    Str path;           // one value besides; null = none
    int64_t turn;       // as that kept turn began; 0 = as it is now
    int64_t turn_end;   // the last entry of that turn in the log
    bool is_long;       // with more of each text
} Wanted;

// A version of a script, as it was compiled for its runs. The caller releases it.
static Status load_module(Exchange *exchange, int64_t definition, FlowModule **ret_module,
                          Diag *diag) {
    DefinitionRow row;
    TRY(store_definition_by_key(exchange_store(exchange), &exchange->arena, definition, &row,
                                diag));
    return definition_module(&row, &exchange->arena, ret_module, diag);
}

// The version that executed a turn: the first move after it names the one before (LOG_MOVED).
static Status definition_of_turn(Exchange *exchange, const RunRow *run, int64_t turn_end,
                                 int64_t *ret_definition, Diag *diag) {
    LogFilter filter = {run_of_key(run->key), {.after = turn_end}};
    *ret_definition = run->definition;
    do {
        LogPage page;
        TRY(store_read_log(exchange_store(exchange), &exchange->arena, &filter, &page, diag));
        for (size_t i = 0; i < page.count; i++) {
            if (page.rows[i].kind != LOG_MOVED) continue;
            *ret_definition = page.rows[i].iteration;
            return OK;
        }
        filter.page.after = page.next;
    } while (filter.page.after != 0);
    return OK;
}

// {"found":what flow_vm_inspect says,"value":the one value}
static Status inspect_vm(FlowVm *vm, const Wanted *wanted, Buf *ret_json, Diag *diag) {
    buf_append_cstr(ret_json, "{\"found\":");
    if (wanted->is_long) flow_vm_inspect_long(vm, (uint32_t)wanted->depth, ret_json);
    else flow_vm_inspect(vm, (uint32_t)wanted->depth, ret_json);
    if (!str_is_null(wanted->path)) {
        buf_append_cstr(ret_json, ",\"value\":");
        TRY(flow_vm_inspect_path(vm, wanted->path, (uint32_t)wanted->depth, ret_json, diag));
    }
    buf_append_cstr(ret_json, "}");
    if (!ret_json->is_overflown) return OK;
    return diag_set(diag, ERR_LIMIT, "ANSWER_TOO_LARGE", "the variables are over %d MiB",
                    INSPECT_SIZE_MAX >> 20);
}

static Status inspect_as(Exchange *exchange, const RunRow *run, const Wanted *wanted, Buf *ret_json,
                         Diag *diag) {
    FlowModule *module;
    TRY(load_module(exchange, run->definition, &module, diag));
    FlowVmOptions options = {.module = module, .limits = FLOW_LIMITS_DEFAULT};
    FlowMachine *machine;
    Status status = flow_machine_restore(run->snapshot, &options, &machine, diag);
    if (status == OK) {
        status = inspect_vm(machine->vm, wanted, ret_json, diag);
        flow_machine_free(machine);
    }
    flow_module_release(module);
    return status;
}

// A turn from before the run was moved was executed by another version: that is looked for only
// when the present one turns out not to be it.
static Status inspect(Exchange *exchange, const RunRow *run, const Wanted *wanted, Buf *ret_json,
                      Diag *diag) {
    Status status = inspect_as(exchange, run, wanted, ret_json, diag);
    if (status != ERR_CONFLICT || wanted->turn_end == 0) return status;
    RunRow before = *run;
    TRY(definition_of_turn(exchange, run, wanted->turn_end, &before.definition, diag));
    buf_clear(ret_json);
    return inspect_as(exchange, &before, wanted, ret_json, diag);
}

// ---- kept turns ----

// Puts the snapshot of the wanted turn into the row; 0: it stays as it is.
static Status take_turn(Exchange *exchange, Wanted *wanted, RunRow *run, Diag *diag) {
    int64_t turn = wanted->turn;
    if (turn == 0) return OK;
    SnapshotFilter filter = {run_of_key(run->key), {.after = turn - 1, .limit = 1}};
    SnapshotPage page;
    TRY(store_list_snapshots(exchange_store(exchange), &exchange->arena, &filter, &page, diag));
    bool is_there = page.count == 1 && page.rows[0].number == turn;
    if (is_there) {
        run->snapshot = page.rows[0].snapshot;
        wanted->turn_end = page.rows[0].end_seq;
        return OK;
    }
    return diag_set(diag, ERR_NOT_FOUND, "TURN_NOT_KEPT",
                    "the beginning of turn %lld of run \"%.*s\" is not kept", (long long)turn,
                    STR_ARG(run->id));
}

// What was noted when it failed: one of the last entries of its log.
static Status find_failure(Exchange *exchange, const RunRow *run, Str *ret_json, Diag *diag) {
    enum { LAST_ENTRIES = 4 };
    *ret_json = STR_NULL;
    if (run->state != RUN_FAILED || run->kind != RUN_FLOW) return OK;
    int64_t after = run->result_seq > LAST_ENTRIES ? run->result_seq - LAST_ENTRIES : 0;
    LogFilter filter = {run_of_key(run->key), {.after = after, .limit = LAST_ENTRIES}};
    LogPage page;
    TRY(store_read_log(exchange_store(exchange), &exchange->arena, &filter, &page, diag));
    for (size_t i = 0; i < page.count; i++)
        if (page.rows[i].kind == LOG_FAILURE) *ret_json = page.rows[i].data;
    return OK;
}

static void put_part(JsonWriter *json, const char *key, const JsonValue *found, const char *name) {
    Str raw = STR("[]");
    if (found != NULL) json_get_raw(found, name, &raw);
    json_put_raw(json, key, raw);
}

typedef struct Seen {
    const JsonValue *all; // of inspect_vm; NULL: there are no frames
    Str failure;          // JSON; null = none
} Seen;

static void send_snapshot(Exchange *exchange, const RunRow *run, const Seen *seen) {
    const JsonValue *found = seen->all != NULL ? json_member(seen->all, STR("found")) : NULL;
    Str value = STR("null");
    if (seen->all != NULL) json_get_raw(seen->all, "value", &value);
    bool is_parked = run->snapshot.len > 0 && !run_state_is_terminal(run->state);
    JsonWriter *json = exchange_begin(exchange, 200);
    json_write_object_begin(json);
    json_put_string(json, "run_id", run->id);
    json_put_cstr(json, "kind", run_kind_name(run->kind));
    json_put_cstr(json, "status", run_state_name(run->state));
    json_put_i64(json, "bytes", (int64_t)run->snapshot.len);
    render_instant(json, "taken_at", is_parked ? run->updated_at_ms : 0);
    render_waits(json, &exchange->arena, run, &(RunMore){0});
    put_part(json, "frames", found, "waitingAt");
    put_part(json, "variables", found, "variables");
    json_put_raw(json, "value", value);
    json_put_raw(json, "failure", str_is_null(seen->failure) ? STR("null") : seen->failure);
    json_write_object_end(json);
    exchange_send(exchange);
}

static bool read_wanted(Exchange *exchange, Wanted *ret) {
    *ret = (Wanted){.path = exchange_query(exchange, "path")};
    if (ret->path.len == 0) ret->path = STR_NULL;
    return exchange_query_count(exchange, "depth", INSPECT_DEPTH_MAX, &ret->depth) &&
           exchange_query_count(exchange, "turn", INT64_MAX, &ret->turn);
}

static void get_snapshot(Exchange *exchange) {
    RunRow run;
    Wanted wanted;
    if (!read_wanted(exchange, &wanted)) return;
    if (!parts_find_run(exchange, exchange->parameters[0], &run)) return;
    Buf text;
    buf_init(&text, INSPECT_SIZE_MAX);
    Diag diag;
    diag_clear(&diag);
    Seen seen = {0};
    JsonValue *all = NULL;
    Status status = take_turn(exchange, &wanted, &run, &diag);
    if (status == OK && wanted.turn == 0)
        status = find_failure(exchange, &run, &seen.failure, &diag);
    if (status == OK && run.snapshot.len > 0) {
        status = inspect(exchange, &run, &wanted, &text, &diag);
        if (status == OK) status = json_parse(&exchange->arena, buf_str(&text), &all, &diag);
    } else if (status == OK && !str_is_null(wanted.path)) {
        status = diag_set(&diag, ERR_NOT_FOUND, "VARIABLE_NOT_FOUND",
                          "the run \"%.*s\" has no variables now: it has not waited yet, has "
                          "ended, or is no script",
                          STR_ARG(run.id));
    }
    seen.all = all;
    if (status == OK) send_snapshot(exchange, &run, &seen);
    else exchange_refuse(exchange, status, &diag);
    buf_done(&text);
}

// ---- lists and differences of turns ----

// The frames of a snapshot; NULL when there is none.
static Status read_frames(Exchange *exchange, const RunRow *run, const Wanted *wanted,
                          const JsonValue **ret_frames, Diag *diag) {
    Buf text;
    JsonValue *all = NULL;
    *ret_frames = NULL;
    if (run->snapshot.len == 0) return OK;
    buf_init(&text, INSPECT_SIZE_MAX);
    Status status = inspect(exchange, run, wanted, &text, diag);
    Str json = arena_str(&exchange->arena, buf_str(&text));
    buf_done(&text);
    if (status == OK) status = json_parse(&exchange->arena, json, &all, diag);
    if (status != OK) return status;
    const JsonValue *found = json_member(all, STR("found"));
    *ret_frames = found != NULL ? json_member(found, STR("waitingAt")) : NULL;
    return OK;
}

// Where the innermost frame stands; all null when that is not known.
static void put_position(JsonWriter *json, const JsonValue *frames) {
    static const char *const fields[] = {"file", "line", "column", "function"};
    for (size_t i = 0; i < COUNT_OF(fields); i++) {
        Str raw = STR("null");
        if (frames != NULL && frames->first != NULL) json_get_raw(frames->first, fields[i], &raw);
        json_put_raw(json, fields[i], raw);
    }
}

// One that cannot be opened has no position.
static void put_turn(Exchange *exchange, JsonWriter *json, RunRow *run, const SnapshotRow *row) {
    Diag diag;
    const JsonValue *frames = NULL;
    run->snapshot = row->snapshot;
    const Wanted wanted = {.turn_end = row->end_seq};
    if (read_frames(exchange, run, &wanted, &frames, &diag) != OK) frames = NULL;
    json_write_object_begin(json);
    json_put_i64(json, "turn", row->number);
    json_put_i64(json, "bytes", (int64_t)row->snapshot.len);
    json_put_i64(json, "after", row->start_seq);
    json_put_i64(json, "last", row->end_seq);
    put_position(json, frames);
    json_write_object_end(json);
}

static void list_turns(Exchange *exchange) {
    RunRow run;
    SnapshotFilter filter;
    SnapshotPage page;
    Diag diag;
    if (!parts_page(exchange, &filter.page)) return;
    if (!parts_find_run(exchange, exchange->parameters[0], &run)) return;
    filter.run = run_of_key(run.key);
    if (filter.page.limit > TURNS_MAX) filter.page.limit = TURNS_MAX;
    Status status =
        store_list_snapshots(exchange_store(exchange), &exchange->arena, &filter, &page, &diag);
    if (status != OK) {
        exchange_refuse(exchange, status, &diag);
        return;
    }
    JsonWriter *json = exchange_begin(exchange, 200);
    json_write_object_begin(json);
    json_write_key(json, STR("items"));
    json_write_array_begin(json);
    for (size_t i = 0; i < page.count; i++) put_turn(exchange, json, &run, &page.rows[i]);
    json_write_array_end(json);
    Str next =
        page.next == 0 ? STR_NULL : arena_printf(&exchange->arena, "%lld", (long long)page.next);
    json_put_string(json, "next", next);
    json_write_object_end(json);
    exchange_send(exchange);
}

static void put_side(JsonWriter *json, const char *key, int64_t turn, const JsonValue *frames) {
    json_write_key(json, str_from(key));
    json_write_object_begin(json);
    if (turn == 0) json_put_raw(json, "turn", STR("null"));
    else json_put_i64(json, "turn", turn);
    put_position(json, frames);
    json_write_object_end(json);
}

static void diff_turns(Exchange *exchange) {
    RunRow run;
    int64_t turns[2] = {0};
    const JsonValue *frames[2] = {0};
    Diag diag;
    if (!exchange_query_count(exchange, "from", INT64_MAX, &turns[0])) return;
    if (!exchange_query_count(exchange, "to", INT64_MAX, &turns[1])) return;
    if (!parts_find_run(exchange, exchange->parameters[0], &run)) return;
    Status status = OK;
    const JsonValue nothing = {.kind = JSON_KIND_ARRAY};
    for (size_t i = 0; i < 2 && status == OK; i++) {
        RunRow side = run;
        Wanted wanted = {.depth = INSPECT_DEPTH_MAX, .turn = turns[i], .is_long = true};
        status = take_turn(exchange, &wanted, &side, &diag);
        if (status == OK) status = read_frames(exchange, &side, &wanted, &frames[i], &diag);
    }
    if (status != OK) {
        exchange_refuse(exchange, status, &diag);
        return;
    }
    JsonWriter *json = exchange_begin(exchange, 200);
    json_write_object_begin(json);
    json_put_string(json, "run_id", run.id);
    put_side(json, "from", turns[0], frames[0]);
    put_side(json, "to", turns[1], frames[1]);
    json_write_key(json, STR("changes"));
    json_write_array_begin(json);
    bool has_more = view_diff_write(frames[0] != NULL ? frames[0] : &nothing,
                                    frames[1] != NULL ? frames[1] : &nothing, json);
    json_write_array_end(json);
    json_put_bool(json, "more", has_more);
    json_write_object_end(json);
    exchange_send(exchange);
}

static const Field page_query[] = {PAGE_FIELDS, {0}};
static const Field diff_query[] = {
    {"from", "integer", false, "A kept turn; as it is now unless given."},
    {"to", "integer", false, "Another one; as it is now unless given."},
    {0}};
static const RouteAnswer turns_answers[] = {{200, "Its kept turns.", "TurnList"}, {0}};
static const RouteAnswer diff_answers[] = {{200, "What changed.", "Diff"}, {0}};
static const char *const turns_codes[] = {"RUN_NOT_FOUND", NULL};
static const char *const diff_codes[] = {"RUN_NOT_FOUND", "TURN_NOT_KEPT", "SNAPSHOT_CORRUPT",
                                         "SNAPSHOT_VERSION", NULL};
static const Field snapshot_query[] = {
    {"depth", "integer", false, "Levels of each value that are shown, up to 16; 0 unless given."},
    {"turn", "integer", false, "As that kept turn began; as it is now unless given."},
    {"path", "string", false, "One value besides: `order.items[3].price`, with more of its text."},
    {0}};
static const RouteAnswer snapshot_answers[] = {{200, "Where it stands.", "Snapshot"}, {0}};
static const char *const snapshot_codes[] = {
    "RUN_NOT_FOUND",    "BAD_PATH", "VARIABLE_NOT_FOUND", "TURN_NOT_KEPT", "SNAPSHOT_CORRUPT",
    "SNAPSHOT_VERSION", NULL};

static const Route routes[] = {
    {"GET", "/v1/runs/{id}/snapshot", "getSnapshot", "Where a run stands: lines, variables, bytes",
     SCOPE_READ, BODY_NONE, NULL, snapshot_query, snapshot_answers, snapshot_codes, get_snapshot},
    {"GET", "/v1/runs/{id}/turns", "listTurns", "Turns of a run that can be looked at", SCOPE_READ,
     BODY_NONE, NULL, page_query, turns_answers, turns_codes, list_turns},
    {"GET", "/v1/runs/{id}/diff", "diffTurns", "What changed in the variables between two turns",
     SCOPE_READ, BODY_NONE, NULL, diff_query, diff_answers, diff_codes, diff_turns},
};
const RouteTable routes_inspect = {routes, COUNT_OF(routes)};

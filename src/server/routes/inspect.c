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

enum { INSPECT_SIZE_MAX = 16 << 20, INSPECT_DEPTH_MAX = 16 };

typedef struct Wanted { // of what is in the variables
    int64_t depth;      // levels of each value
    Str path;           // one value besides; null = none
} Wanted;

// The script a run is pinned to, as it was compiled for it. The caller releases it.
static Status load_module(Exchange *exchange, const RunRow *run, FlowModule **ret_module,
                          Diag *diag) {
    DefinitionRow row;
    TRY(store_definition_by_key(exchange_store(exchange), &exchange->arena, run->definition, &row,
                                diag));
    return definition_module(&row, &exchange->arena, ret_module, diag);
}

// {"found":what flow_vm_inspect says,"value":the one value}
static Status inspect_vm(FlowVm *vm, const Wanted *wanted, Buf *ret_json, Diag *diag) {
    buf_append_cstr(ret_json, "{\"found\":");
    flow_vm_inspect(vm, (uint32_t)wanted->depth, ret_json);
    if (!str_is_null(wanted->path)) {
        buf_append_cstr(ret_json, ",\"value\":");
        TRY(flow_vm_inspect_path(vm, wanted->path, (uint32_t)wanted->depth, ret_json, diag));
    }
    buf_append_cstr(ret_json, "}");
    if (!ret_json->is_overflown) return OK;
    return diag_set(diag, ERR_LIMIT, "ANSWER_TOO_LARGE", "the variables are over %d MiB",
                    INSPECT_SIZE_MAX >> 20);
}

static Status inspect(Exchange *exchange, const RunRow *run, const Wanted *wanted, Buf *ret_json,
                      Diag *diag) {
    FlowModule *module;
    TRY(load_module(exchange, run, &module, diag));
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
    json_put_cstr(json, "kind", run->kind == RUN_FLOW ? "flow" : "native");
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
    return exchange_query_count(exchange, "depth", INSPECT_DEPTH_MAX, &ret->depth);
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
    Status status = find_failure(exchange, &run, &seen.failure, &diag);
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

static const Field snapshot_query[] = {
    {"depth", "integer", false, "Levels of each value that are shown, up to 16; 0 unless given."},
    {"path", "string", false, "One value besides: `order.items[3].price`, with more of its text."},
    {0}};
static const RouteAnswer snapshot_answers[] = {{200, "Where it stands.", "Snapshot"}, {0}};
static const char *const snapshot_codes[] = {"RUN_NOT_FOUND", "BAD_PATH", "VARIABLE_NOT_FOUND",
                                             NULL};

static const Route routes[] = {
    {"GET", "/v1/runs/{id}/snapshot", "getSnapshot", "Where a run stands: lines, variables, bytes",
     SCOPE_READ, BODY_NONE, NULL, snapshot_query, snapshot_answers, snapshot_codes, get_snapshot},
};
const RouteTable routes_inspect = {routes, COUNT_OF(routes)};

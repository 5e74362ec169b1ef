// Where a run stands: the lines of its script it waits at, what is in its variables, what weighs.
//
// The parked VM is read from the store, as of the last commit, into a VM of its own that is never
// run; the run itself is neither woken nor loaded. A run without a snapshot (a C function, one
// that has not waited yet, one that has ended) has no frames.
//
// Not here: how a VM is looked into (flow/snapshot/inspect.c).
#include "base/array.h"
#include "engine/definitions/definition.h"
#include "engine/runners/flow_machine.h"
#include "server/exchange/parts.h"

enum { INSPECT_SIZE_MAX = 16 << 20 };

// The script a run is pinned to, as it was compiled for it. The caller releases it.
static Status load_module(Exchange *exchange, const RunRow *run, FlowModule **ret_module,
                          Diag *diag) {
    DefinitionRow row;
    TRY(store_definition_by_key(exchange_store(exchange), &exchange->arena, run->definition, &row,
                                diag));
    return definition_module(&row, &exchange->arena, ret_module, diag);
}

static Status inspect(Exchange *exchange, const RunRow *run, Buf *ret_json, Diag *diag) {
    FlowModule *module;
    TRY(load_module(exchange, run, &module, diag));
    FlowVmOptions options = {.module = module, .limits = FLOW_LIMITS_DEFAULT};
    FlowMachine *machine;
    Status status = flow_machine_restore(run->snapshot, &options, &machine, diag);
    if (status == OK) {
        flow_vm_inspect(machine->vm, ret_json);
        flow_machine_free(machine);
    }
    flow_module_release(module);
    if (status == OK && ret_json->is_overflown)
        status = diag_set(diag, ERR_LIMIT, "ANSWER_TOO_LARGE", "the variables are over %d MiB",
                          INSPECT_SIZE_MAX >> 20);
    return status;
}

static void put_part(JsonWriter *json, const char *key, const JsonValue *found, const char *name) {
    Str raw = STR("[]");
    if (found != NULL) json_get_raw(found, name, &raw);
    json_put_raw(json, key, raw);
}

static void send_snapshot(Exchange *exchange, const RunRow *run, const JsonValue *found) {
    JsonWriter *json = exchange_begin(exchange, 200);
    json_write_object_begin(json);
    json_put_string(json, "run_id", run->id);
    json_put_cstr(json, "kind", run->kind == RUN_FLOW ? "flow" : "native");
    json_put_cstr(json, "status", run_state_name(run->state));
    json_put_i64(json, "bytes", (int64_t)run->snapshot.len);
    render_instant(json, "taken_at", run->snapshot.len > 0 ? run->updated_at_ms : 0);
    render_waits(json, &exchange->arena, run, &(RunMore){0});
    put_part(json, "frames", found, "waitingAt");
    put_part(json, "variables", found, "variables");
    json_write_object_end(json);
    exchange_send(exchange);
}

static void get_snapshot(Exchange *exchange) {
    RunRow run;
    if (!parts_find_run(exchange, exchange->parameters[0], &run)) return;
    if (run.snapshot.len == 0) {
        send_snapshot(exchange, &run, NULL);
        return;
    }
    Buf text;
    buf_init(&text, INSPECT_SIZE_MAX);
    Diag diag;
    diag_clear(&diag);
    JsonValue *found = NULL;
    Status status = inspect(exchange, &run, &text, &diag);
    if (status == OK) status = json_parse(&exchange->arena, buf_str(&text), &found, &diag);
    if (status == OK) send_snapshot(exchange, &run, found);
    else exchange_refuse(exchange, status, &diag);
    buf_done(&text);
}

static const RouteAnswer snapshot_answers[] = {{200, "Where it stands.", "Snapshot"}, {0}};
static const char *const snapshot_codes[] = {"RUN_NOT_FOUND", NULL};

static const Route routes[] = {
    {"GET", "/v1/runs/{id}/snapshot", "getSnapshot", "Where a run stands: lines, variables, bytes",
     SCOPE_READ, BODY_NONE, NULL, NULL, snapshot_answers, snapshot_codes, get_snapshot},
};
const RouteTable routes_inspect = {routes, COUNT_OF(routes)};

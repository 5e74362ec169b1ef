// Attaching: a copy of a run, from a server or a store to a session that stands where the run does.
//
// The copy has the script, the snapshot and what was delivered since. The snapshot is the engine's:
// its table says what each number of the machine stands for, which becomes what the world waits
// for. Kept turns of the same version are fetched, too, and are the places to go back to.
//
//   [attach-1] Only GET requests are made, and the connection is closed before the script goes on:
//        nothing of the run can change.
//   [attach-2] The bytes are not trusted: they are read as any snapshot is, against the script that
//        came with them.
//
// Not here: what answers then (world.c), the session (session.c).
#include "base/text/hex.h"
#include "base/time/duration.h"
#include "cli/client/client.h"
#include "cli/client/local.h"
#include "cli/debug/adapter.h"
#include "engine/runners/flow_machine.h"
#include "flow/lexer/source.h"
#include <stdio.h>
#include <stdlib.h>

typedef struct Attaching {
    Adapter *adapter;
    Client *client;
    LocalServer *local;
    SessionSetting setting;
} Attaching;

// ---- the connection ----

static Str or_environment(Str given, const char *name) {
    const char *text = getenv(name);
    return str_is_null(given) && text != NULL && text[0] != 0 ? str_from(text) : given;
}

static Status connect(Attaching *self, Diag *diag) {
    Launch *launch = &self->adapter->launch;
    if (!str_is_null(launch->server) && !str_is_null(launch->store))
        return diag_set(diag, ERR_INVALID, "BAD_FIELD", "server and store exclude each other");
    if (str_is_null(launch->store)) launch->server = or_environment(launch->server, "ABIDE_SERVER");
    if (str_is_null(launch->server)) launch->store = or_environment(launch->store, "ABIDE_STORE");
    ClientConfig config = {.server = launch->server,
                           .token = or_environment(launch->token, "ABIDE_TOKEN"),
                           .ca_file = or_environment(launch->ca_file, "ABIDE_CA_FILE")};
    if (!str_is_null(launch->store)) {
        const LocalConfig local = {.store = launch->store};
        TRY(local_open(&local, &self->local, diag));
        config = (ClientConfig){.server = STR("http://localhost"),
                                .socket_path = local_socket(self->local)};
    }
    return client_open(&config, &self->client, diag);
}

static void disconnect(Attaching *self) {
    client_close(self->client);
    local_close(self->local);
}

// `rest` is what follows the run in the path.
static Status get(Attaching *self, const char *rest, const JsonValue **ret_json, Diag *diag) {
    Arena *arena = &self->adapter->arena;
    Str run = client_escape(arena, self->adapter->launch.run);
    ClientRequest request = {.method = "GET",
                             .path = arena_printf(arena, "/v1/runs/%.*s%s", STR_ARG(run), rest)};
    ClientAnswer answer;
    TRY(client_call(self->client, arena, &request, &answer, diag));
    *ret_json = answer.json;
    if (answer.json != NULL && answer.json->kind == JSON_KIND_OBJECT) return OK;
    return diag_set(diag, ERR_UNAVAILABLE, "BAD_ANSWER",
                    "the answer is no JSON object; is it an abide server?");
}

static Status get_copy(Attaching *self, uint64_t turn, const JsonValue **ret_copy, Diag *diag) {
    char rest[64];
    const char *secrets = self->adapter->launch.has_secrets ? "true" : "false";
    int len = snprintf(rest, sizeof rest, "/copy?secrets=%s", secrets);
    if (turn != 0)
        snprintf(rest + len, sizeof rest - (size_t)len, "&turn=%llu", (unsigned long long)turn);
    return get(self, rest, ret_copy, diag);
}

// ---- the script ----

static bool is_file_same(Adapter *adapter, Str source) {
    Buf text;
    Diag diag;
    if (str_is_null(adapter->launch.program)) return false;
    buf_init(&text, FLOW_SOURCE_MAX);
    bool is_same = file_read(adapter->launch.program.data, &text, &diag) == OK &&
                   str_equal(buf_str(&text), source);
    buf_done(&text);
    return is_same;
}

// The client's own file where it is the same text; the run's where not.
static void take_path(Adapter *adapter, Str file, Str source) {
    if (is_file_same(adapter, source)) {
        adapter->path = launch_real_path(&adapter->arena, adapter->launch.program);
        return;
    }
    adapter->path = file;
    adapter->source = source;
}

static Status take_script(Attaching *self, const JsonValue *copy, Diag *diag) {
    SessionSetting *setting = &self->setting;
    Str file = STR_NULL, source = STR_NULL, workflow = STR_NULL, at = STR_NULL;
    TRY(json_get_string(copy, "file", &file, diag));
    TRY(json_get_string(copy, "source", &source, diag));
    TRY(json_get_string(copy, "workflow", &workflow, diag));
    TRY(json_get_string(copy, "run_id", &setting->run_id, diag));
    TRY(json_get_string(copy, "at", &at, diag));
    TRY(instant_parse(at, &setting->start_ms, diag));
    json_get_raw(copy, "input", &setting->input_json);
    TRY(flow_compile_stored(file, source, &setting->module, diag));
    take_path(self->adapter, file, source);
    if (flow_module_find_workflow(setting->module, workflow, &setting->workflow_index) == OK)
        return OK;
    return diag_set(diag, ERR_CORRUPT, "BAD_ANSWER", "the script has no workflow %.*s",
                    STR_ARG(workflow));
}

// ---- places ----

static Status read_bytes(Arena *arena, Str hex, Str *ret_bytes, Diag *diag) {
    char *bytes = arena_alloc(arena, hex.len / 2 + 1);
    for (size_t i = 0; i + 1 < hex.len; i += 2) {
        int byte = hex_byte(hex.data + i);
        if (byte < 0 || hex.len % 2 != 0)
            return diag_set(diag, ERR_CORRUPT, "BAD_ANSWER", "the snapshot is not hexadecimal");
        bytes[i / 2] = (char)byte;
    }
    *ret_bytes = (Str){bytes, hex.len / 2};
    return OK;
}

static FlowAwaitKind await_kind(WaitKind kind) {
    switch (kind) {
    case WAIT_TASK: return FLOW_AWAIT_TASK;
    case WAIT_CHILD: return FLOW_AWAIT_WORKFLOW;
    case WAIT_SIGNAL: return FLOW_AWAIT_SIGNAL;
    case WAIT_EVENT: return FLOW_AWAIT_EVENT;
    default: return FLOW_AWAIT_TIMER;
    }
}

static void stand_in_world(World *world, const FlowMachine *machine, int64_t now_ms) {
    world_stand(world, now_ms);
    for (size_t i = 0; i < machine->pending.count; i++) {
        const FlowPending *from = &machine->pending.data[i];
        WorldPending pending = {.id = (uint32_t)from->id, .kind = await_kind(from->kind)};
        int64_t deadline_ms = from->deadline_at_ms != 0 ? from->deadline_at_ms : -1;
        bool is_timer = pending.kind == FLOW_AWAIT_TIMER;
        pending.due_ms = is_timer ? deadline_ms : -1;
        pending.timeout_at_ms = is_timer ? -1 : deadline_ms;
        pending.name = from->name;
        pending.filter = from->filter;
        world_add_pending(world, &pending);
    }
    for (size_t i = 0; i < machine->state.count; i++)
        world_add_entry(world, machine->state.data[i].key, machine->state.data[i].json);
}

// What has come for it comes again, unless a mock answers.
static Status deliver(World *world, const JsonValue *copy, Diag *diag) {
    const JsonValue *list = NULL;
    TRY(json_get_array(copy, "deliveries", &list, diag));
    if (list == NULL) return OK;
    JSON_EACH (item, list) {
        WorldReply reply = {0};
        Str outcome = STR_NULL;
        int64_t slot = 0;
        TRY(json_get_i64(item, "slot", &slot, diag));
        TRY(json_get_string(item, "outcome", &outcome, diag));
        json_get_raw(item, "data", &reply.json);
        reply.is_timeout = str_equal(outcome, STR("timeout"));
        reply.is_failed = str_equal(outcome, STR("error"));
        const JsonValue *error = json_member(item, STR("data"));
        if (reply.is_failed && error != NULL && error->kind == JSON_KIND_OBJECT) {
            TRY(json_get_string(error, "type", &reply.type, diag));
            TRY(json_get_string(error, "message", &reply.message, diag));
        }
        if (str_equal(outcome, STR("cancelled"))) world->state.is_cancel_due = true;
        else world_deliver(world, (uint32_t)slot, &reply);
    }
    return OK;
}

static Status add_place(Attaching *self, const JsonValue *copy, Str hex, Diag *diag) {
    DebugSession *session = &self->adapter->session;
    Str bytes, at = STR_NULL, vm_bytes;
    int64_t now_ms;
    TRY(json_get_string(copy, "at", &at, diag));
    TRY(instant_parse(at, &now_ms, diag));
    TRY(read_bytes(&self->adapter->arena, hex, &bytes, diag));
    FlowVmOptions options = session_vm_options(session);
    FlowMachine *machine;
    TRY(flow_machine_restore(bytes, &options, &machine, diag)); // [attach-2]
    TRY(flow_machine_vm_bytes(bytes, &vm_bytes, diag));
    stand_in_world(&session->world, machine, now_ms);
    flow_machine_free(machine);
    TRY(deliver(&session->world, copy, diag));
    session_add_place(session, vm_bytes);
    return OK;
}

// Kept turns before this place, as far as they are of the same version.
static Status add_turn(Attaching *self, uint64_t turn, Diag *diag) {
    const JsonValue *copy;
    Str version = STR_NULL, hex = STR_NULL;
    Status status = get_copy(self, turn, &copy, diag);
    if (status == ERR_NOT_FOUND) return OK; // it was dropped meanwhile
    TRY(status);
    TRY(json_get_string(copy, "version", &version, diag));
    TRY(json_get_string(copy, "snapshot", &hex, diag));
    bool is_same = str_equal(version, flow_module_hash(self->setting.module));
    return is_same && !str_is_null(hex) ? add_place(self, copy, hex, diag) : OK;
}

static Status add_turns(Attaching *self, Diag *diag) {
    const JsonValue *page, *items = NULL;
    uint64_t wanted = self->adapter->launch.turn;
    TRY(get(self, "/turns?limit=100", &page, diag));
    TRY(json_get_array(page, "items", &items, diag));
    if (items == NULL) return OK;
    JSON_EACH (item, items) {
        int64_t turn = 0;
        TRY(json_get_i64(item, "turn", &turn, diag));
        bool is_before = turn > 0 && (wanted == 0 || (uint64_t)turn < wanted);
        if (is_before) TRY(add_turn(self, (uint64_t)turn, diag));
    }
    return OK;
}

static Status load(Attaching *self, Diag *diag) {
    Adapter *adapter = self->adapter;
    const JsonValue *copy;
    Str hex = STR_NULL;
    TRY(launch_read_files(adapter, diag));
    TRY(connect(self, diag));
    TRY(get_copy(self, adapter->launch.turn, &copy, diag));
    TRY(json_get_string(copy, "snapshot", &hex, diag));
    TRY(take_script(self, copy, diag));
    if (!str_is_null(adapter->launch.now))
        TRY(instant_parse(adapter->launch.now, &self->setting.start_ms, diag));
    TRY(session_open(&adapter->session, &self->setting, &adapter->arena, diag));
    if (str_is_null(hex)) return OK; // it has not begun
    TRY(add_turns(self, diag));
    TRY(add_place(self, copy, hex, diag));
    adapter->is_attached = session_step_back(&adapter->session);
    if (adapter->is_attached) return OK;
    return diag_set(diag, ERR_CORRUPT, "SNAPSHOT_CORRUPT", "the snapshot cannot be gone on with");
}

Status attach_load(Adapter *adapter, Diag *diag) {
    Attaching self = {
        .adapter = adapter,
        .setting = {.mocks = &adapter->files.mocks, .script = &adapter->files.script}};
    Status status = load(&self, diag);
    disconnect(&self); // [attach-1]
    flow_module_release(self.setting.module);
    if (status == OK) return OK;
    session_close(&adapter->session);
    adapter->path = adapter->source = STR_NULL;
    return status;
}

// Launching: from the options and the arguments of `launch` or `attach` to a session that stands at
// its beginning.
//
// The names are those of `abide run`. The input may be any JSON in `launch`; on the command line it
// is a text or the name of a file after an @.
#include "base/env.h"
#include "base/time/duration.h"
#include "cli/debug/adapter.h"
#include "cli/run/files.h"
#include "flow/lexer/report.h"
#include "json/validate.h"
#include <limits.h>
#include <stdlib.h>

enum { INPUT_MAX = 64 << 20 };

Str launch_real_path(Arena *arena, Str path) {
    char real[PATH_MAX];
    const char *text = arena_cstr(arena, path);
    return realpath(text, real) ? arena_str(arena, str_from(real)) : path;
}

// Mocks that are written in the request.
static Status read_answers(Adapter *adapter, const JsonValue *arguments, Diag *diag) {
    Launch *launch = &adapter->launch;
    struct {
        const char *name;
        Str *target;
    } objects[] = {
        {"tasks", &launch->tasks}, {"children", &launch->children}, {"signals", &launch->signals}};
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++) {
        const JsonValue *object = NULL;
        TRY(json_get_object(arguments, objects[i].name, &object, diag));
        if (object) *objects[i].target = arena_str(&adapter->arena, object->raw);
    }
    return OK;
}

static Status read_turn(Launch *launch, const JsonValue *arguments, Diag *diag) {
    int64_t turn = 0;
    TRY(json_get_i64(arguments, "turn", &turn, diag));
    if (turn < 0 || (turn == 0 && json_has(arguments, "turn")))
        return diag_set(diag, ERR_INVALID, "BAD_FIELD", "turn: they count from 1");
    if (turn > 0) launch->turn = (uint64_t)turn;
    return OK;
}

Status launch_read(Adapter *adapter, const JsonValue *arguments, Diag *diag) {
    Launch *launch = &adapter->launch;
    *launch = adapter->given; // nothing of a request that was refused
    if (!arguments) return OK;
    struct {
        const char *name;
        Str *target;
    } texts[] = {{"program", &launch->program},   {"mock", &launch->mock},
                 {"script", &launch->script},     {"now", &launch->now},
                 {"workflow", &launch->workflow}, {"run", &launch->run},
                 {"server", &launch->server},     {"store", &launch->store},
                 {"token", &launch->token},       {"caFile", &launch->ca_file}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        TRY(json_get_string(arguments, texts[i].name, texts[i].target, diag));
        *texts[i].target = arena_str(&adapter->arena, *texts[i].target);
    }
    Str input = STR_NULL;
    json_get_raw(arguments, "input", &input);
    if (!str_is_null(input)) launch->input = arena_str(&adapter->arena, input);
    TRY(read_answers(adapter, arguments, diag));
    TRY(read_turn(launch, arguments, diag));
    TRY(json_get_bool(arguments, "secrets", &launch->has_secrets, diag));
    TRY(json_get_bool(arguments, "noDebug", &launch->is_free, diag));
    return json_get_bool(arguments, "stopOnEntry", &launch->stops_on_entry, diag);
}

static Status compile(Adapter *adapter, FlowModule **ret_module, Diag *diag) {
    FlowSource source;
    Buf text;
    buf_init(&text, FLOW_SOURCE_MAX);
    Status status = file_read(adapter->launch.program.data, &text, diag);
    if (status == OK)
        status = flow_source_init(&source, adapter->launch.program, buf_str(&text), &adapter->arena,
                                  diag);
    buf_done(&text);
    if (status != OK) return status;
    FlowReport *report = ARENA_NEW(&adapter->arena, FlowReport);
    flow_report_init(report, &source, &adapter->arena);
    return flow_compile_checked(report, ret_module, diag);
}

static Status put_answers(JsonWriter *json, const char *prefix, Str text, Arena *arena,
                          Diag *diag) {
    JsonValue *object;
    if (str_is_null(text)) return OK;
    TRY(json_parse(arena, text, &object, diag));
    JSON_EACH (member, object) {
        json_write_key(json, arena_printf(arena, "%s%.*s", prefix, STR_ARG(member->key)));
        json_write_raw(json, member->raw);
    }
    return OK;
}

// Those of the request as a file of mocks would have them.
static Status write_mocks(Adapter *adapter, Diag *diag) {
    const Launch *launch = &adapter->launch;
    JsonWriter json;
    json_writer_init(&json, &adapter->files.mock_text, STR_NULL);
    json_write_object_begin(&json);
    TRY(put_answers(&json, "", launch->tasks, &adapter->arena, diag));
    TRY(put_answers(&json, "workflow:", launch->children, &adapter->arena, diag));
    TRY(put_answers(&json, "signal:", launch->signals, &adapter->arena, diag));
    json_write_object_end(&json);
    return OK;
}

Status launch_read_files(Adapter *adapter, Diag *diag) {
    const Launch *launch = &adapter->launch;
    LaunchFiles *files = &adapter->files;
    bool has_answers = !str_is_null(launch->tasks) || !str_is_null(launch->children) ||
                       !str_is_null(launch->signals);
    if (has_answers && !str_is_null(launch->mock))
        return diag_set(diag, ERR_INVALID, "BAD_FIELD",
                        "tasks, children and signals do not go with mock");
    buf_clear(&files->mock_text); // of a request that was refused
    buf_clear(&files->script_text);
    files->mocks = (Mocks){0};
    files->script = (EventScript){0};
    if (has_answers) {
        TRY(write_mocks(adapter, diag));
        TRY(mocks_parse(&adapter->arena, buf_str(&files->mock_text), &files->mocks, diag));
    } else if (!str_is_null(launch->mock)) {
        TRY(file_read(launch->mock.data, &files->mock_text, diag));
        TRY(mocks_parse(&adapter->arena, buf_str(&files->mock_text), &files->mocks, diag));
    }
    if (str_is_null(launch->script)) return OK;
    TRY(file_read(launch->script.data, &files->script_text, diag));
    return script_parse(&adapter->arena, buf_str(&files->script_text), &files->script, diag);
}

// "@FILE" of the command line becomes what is in the file.
static Status read_input(Adapter *adapter, Diag *diag) {
    Launch *launch = &adapter->launch;
    if (str_is_null(launch->input)) return OK;
    if (launch->input.len > 0 && launch->input.data[0] == '@') {
        Buf text;
        buf_init(&text, INPUT_MAX);
        Status status = file_read(launch->input.data + 1, &text, diag);
        if (status == OK) launch->input = arena_str(&adapter->arena, buf_str(&text));
        buf_done(&text);
        TRY(status);
    }
    Diag cause;
    if (json_validate(launch->input, &cause) == OK) return OK;
    return diag_set(diag, ERR_INVALID, "BAD_INPUT", "the input is no JSON: %s", cause.message);
}

Status launch_load(Adapter *adapter, Diag *diag) {
    Launch *launch = &adapter->launch;
    SessionSetting setting = {.mocks = &adapter->files.mocks, .script = &adapter->files.script};
    if (str_is_null(launch->program))
        return diag_set(diag, ERR_INVALID, "MISSING_FIELD",
                        "launch has no program, and the command line no file");
    setting.start_ms = env_now_ms(env_system());
    if (!str_is_null(launch->now)) TRY(instant_parse(launch->now, &setting.start_ms, diag));
    TRY(read_input(adapter, diag));
    TRY(launch_read_files(adapter, diag));
    setting.input_json = launch->input;
    TRY(compile(adapter, &setting.module, diag));
    Status status = OK;
    if (!str_is_null(launch->workflow) &&
        flow_module_find_workflow(setting.module, launch->workflow, &setting.workflow_index) != OK)
        status = diag_set(diag, ERR_NOT_FOUND, "WORKFLOW_NOT_FOUND", "%.*s has no workflow %.*s",
                          STR_ARG(launch->program), STR_ARG(launch->workflow));
    if (status == OK) status = session_open(&adapter->session, &setting, &adapter->arena, diag);
    flow_module_release(setting.module);
    adapter->path = launch_real_path(&adapter->arena, launch->program);
    return status;
}

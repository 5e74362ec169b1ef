// abide debug: the Debug Adapter Protocol over standard input and output.
//
//   initialize -> launch -> initialized event -> breakpoints -> configurationDone
//     -> running <-> stopped … -> terminated, exited events -> disconnect
//
// One thread: while the script runs, messages are looked for between two slices of instructions, so
// a pause takes effect within milliseconds.
//
//   [adapter-3] Standard output carries messages and nothing else; what the script prints becomes
//        output events.
#include "cli/debug/adapter.h"
#include "base/array.h"
#include "cli/cli.h"
#include "cli/options.h"
#include <stdio.h>
#include <unistd.h>

enum { ANSWER_MAX = 64 << 20, THREAD = 1, SESSION_TEXT_MAX = 256 << 20 };

// ---- sending ----

static void begin(Adapter *adapter, const char *type, Buf *body, JsonWriter *json) {
    buf_init(body, ANSWER_MAX);
    json_writer_init(json, body, STR_NULL);
    json_write_object_begin(json);
    json_put_i64(json, "seq", ++adapter->seq);
    json_put_cstr(json, "type", type);
}

static void end(Buf *body, JsonWriter *json) {
    json_write_object_end(json);
    frame_write(buf_str(body));
    buf_done(body);
}

typedef struct EventMember {
    const char *name;
    Str text;
} EventMember;

static void send_event(Adapter *adapter, const char *name, const EventMember *members,
                       size_t count) {
    Buf body;
    JsonWriter json;
    begin(adapter, "event", &body, &json);
    json_put_cstr(&json, "event", name);
    json_write_key(&json, STR("body"));
    json_write_object_begin(&json);
    for (size_t i = 0; i < count; i++) json_put_string(&json, members[i].name, members[i].text);
    if (str_equal(str_from(name), STR("stopped"))) {
        json_put_i64(&json, "threadId", THREAD);
        json_put_bool(&json, "allThreadsStopped", true);
    }
    json_write_object_end(&json);
    end(&body, &json);
}

static void send_output(void *context, const char *category, Str text) {
    Adapter *adapter = context;
    EventMember members[] = {{"category", str_from(category)},
                             {"output", arena_printf(&adapter->message, "%.*s\n", STR_ARG(text))}};
    send_event(adapter, "output", members, COUNT_OF(members));
}

static void send_stopped(Adapter *adapter, const char *reason, Str text) {
    EventMember members[] = {{"reason", str_from(reason)}, {"text", text}};
    adapter->is_running = false;
    send_event(adapter, "stopped", members, str_is_null(text) ? 1 : 2);
}

static void send_ended(Adapter *adapter, int code) {
    Buf body;
    JsonWriter json;
    adapter->is_running = false;
    adapter->is_ended = true;
    begin(adapter, "event", &body, &json);
    json_put_cstr(&json, "event", "exited");
    json_write_key(&json, STR("body"));
    json_write_object_begin(&json);
    json_put_i64(&json, "exitCode", code);
    json_write_object_end(&json);
    end(&body, &json);
    send_event(adapter, "terminated", NULL, 0);
}

// ---- life ----

static Status do_initialize(const DapRequest *request, JsonWriter *json, Diag *diag) {
    static const char *const can[] = {"supportsConfigurationDoneRequest",
                                      "supportsConditionalBreakpoints",
                                      "supportsHitConditionalBreakpoints",
                                      "supportsLogPoints",
                                      "supportsEvaluateForHovers",
                                      "supportsStepBack",
                                      "supportsSetVariable",
                                      "supportsExceptionInfoRequest",
                                      "supportsTerminateRequest"};
    bool is_line_one = true, is_column_one = true;
    TRY(json_get_bool(request->arguments, "linesStartAt1", &is_line_one, diag));
    TRY(json_get_bool(request->arguments, "columnsStartAt1", &is_column_one, diag));
    request->adapter->counts_from_zero_lines = !is_line_one;
    request->adapter->counts_from_zero_columns = !is_column_one;
    for (size_t i = 0; i < COUNT_OF(can); i++) json_put_bool(json, can[i], true);
    json_put_raw(json, "exceptionBreakpointFilters",
                 STR("[{\"filter\":\"all\",\"label\":\"All exceptions\"},"
                     "{\"filter\":\"uncaught\",\"label\":\"Uncaught exceptions\","
                     "\"default\":true}]"));
    return OK;
}

static Status do_launch(const DapRequest *request, JsonWriter *json, Diag *diag) {
    Adapter *adapter = request->adapter;
    (void)json;
    if (!str_is_null(adapter->path))
        return diag_set(diag, ERR_INVALID, "BAD_REQUEST", "it is launched already");
    TRY(launch_read(adapter, request->arguments, diag));
    bool is_run = !str_is_null(adapter->launch.run);
    TRY(is_run ? attach_load(adapter, diag) : launch_load(adapter, diag));
    if (is_run && !adapter->is_attached) adapter->launch.stops_on_entry = true;
    adapter->session.world.say = send_output;
    adapter->session.world.context = adapter;
    return OK;
}

static Status do_attach(const DapRequest *request, JsonWriter *json, Diag *diag) {
    const Launch *launch = &request->adapter->given;
    bool is_named =
        !str_is_null(launch->run) || (request->arguments && json_has(request->arguments, "run"));
    if (!is_named)
        return diag_set(diag, ERR_INVALID, "MISSING_FIELD",
                        "attach has no run, and the command line none");
    return do_launch(request, json, diag);
}

static Status do_configured(const DapRequest *request, JsonWriter *json, Diag *diag) {
    Adapter *adapter = request->adapter;
    (void)json;
    if (adapter->is_configured)
        return diag_set(diag, ERR_INVALID, "BAD_REQUEST", "it runs already");
    adapter->is_configured = true;
    adapter->is_running = !adapter->is_attached || adapter->launch.is_free;
    flow_debug_mode(adapter->session.debugger,
                    adapter->launch.stops_on_entry ? DEBUG_STEP_IN : DEBUG_CONTINUE);
    return OK;
}

static Status do_threads(const DapRequest *request, JsonWriter *json, Diag *diag) {
    const SessionSetting *setting = &request->adapter->session.setting;
    (void)diag;
    json_write_key(json, STR("threads"));
    json_write_array_begin(json);
    json_write_object_begin(json);
    json_put_i64(json, "id", THREAD);
    json_put_string(json, "name",
                    flow_module_workflow(setting->module, setting->workflow_index).name);
    json_write_object_end(json);
    json_write_array_end(json);
    return OK;
}

static Status do_leave(const DapRequest *request, JsonWriter *json, Diag *diag) {
    (void)json;
    (void)diag;
    request->adapter->is_left = true;
    return OK;
}

static Status do_terminate(const DapRequest *request, JsonWriter *json, Diag *diag) {
    Adapter *adapter = request->adapter;
    (void)json;
    (void)diag;
    if (!adapter->is_ended) adapter->is_running = adapter->is_configured = true;
    adapter->is_ended = true; // the loop tells it
    return OK;
}

// The text of a script that the client has no file of.
static Status do_source(const DapRequest *request, JsonWriter *json, Diag *diag) {
    Str source = request->adapter->source;
    if (str_is_null(source))
        return diag_set(diag, ERR_NOT_FOUND, "BAD_REQUEST", "the source is a file of its own");
    json_put_string(json, "content", source);
    return OK;
}

// ---- going on ----

static Status go(const DapRequest *request, FlowDebugMode mode) {
    Adapter *adapter = request->adapter;
    vec_clear(&adapter->references); // [adapter-2]
    flow_debug_mode(adapter->session.debugger, mode);
    adapter->is_running = true;
    return OK;
}

static Status do_continue(const DapRequest *request, JsonWriter *json, Diag *diag) {
    (void)diag;
    json_put_bool(json, "allThreadsContinued", true);
    return go(request, DEBUG_CONTINUE);
}
static Status do_next(const DapRequest *request, JsonWriter *json, Diag *diag) {
    (void)json;
    (void)diag;
    return go(request, DEBUG_STEP_OVER);
}
static Status do_step_in(const DapRequest *request, JsonWriter *json, Diag *diag) {
    (void)json;
    (void)diag;
    return go(request, DEBUG_STEP_IN);
}
static Status do_step_out(const DapRequest *request, JsonWriter *json, Diag *diag) {
    (void)json;
    (void)diag;
    return go(request, DEBUG_STEP_OUT);
}

static Status do_nothing(const DapRequest *request, JsonWriter *json, Diag *diag) {
    (void)request;
    (void)json;
    (void)diag;
    return OK;
}

// What follows the answer: [adapter-1] a stop is told after the request for it is answered.

static void after_launch(Adapter *adapter) { send_event(adapter, "initialized", NULL, 0); }

// A copy of a run stands where the run does.
static void after_configured(Adapter *adapter) {
    if (!adapter->is_running) send_stopped(adapter, "entry", STR_NULL);
}

static void after_pause(Adapter *adapter) {
    if (adapter->is_running) send_stopped(adapter, "pause", STR_NULL);
}

static void after_terminate(Adapter *adapter) {
    if (!adapter->is_running) return;
    send_ended(adapter, EXIT_CODE_FAILED);
}

static void after_back(Adapter *adapter, bool is_wait) {
    vec_clear(&adapter->references);
    send_stopped(adapter, is_wait ? "step" : "entry", STR_NULL);
}

static void after_step_back(Adapter *adapter) {
    after_back(adapter, session_step_back(&adapter->session));
}

static void after_reverse(Adapter *adapter) {
    after_back(adapter, session_reverse(&adapter->session));
}

// ---- requests ----

typedef enum Needs { NEEDS_NOTHING, NEEDS_LAUNCH, NEEDS_STOP } Needs;

typedef struct Command {
    const char *name;
    Needs needs;
    Status (*run)(const DapRequest *request, JsonWriter *json, Diag *diag);
    void (*after)(Adapter *adapter); // NULL: nothing
} Command;

static const Command commands[] = {
    {"initialize", NEEDS_NOTHING, do_initialize, NULL},
    {"launch", NEEDS_NOTHING, do_launch, after_launch},
    {"attach", NEEDS_NOTHING, do_attach, after_launch},
    {"disconnect", NEEDS_NOTHING, do_leave, NULL},
    {"setBreakpoints", NEEDS_LAUNCH, set_breakpoints, NULL},
    {"setExceptionBreakpoints", NEEDS_LAUNCH, set_exception_breakpoints, NULL},
    {"configurationDone", NEEDS_LAUNCH, do_configured, after_configured},
    {"source", NEEDS_LAUNCH, do_source, NULL},
    {"threads", NEEDS_LAUNCH, do_threads, NULL},
    {"pause", NEEDS_LAUNCH, do_nothing, after_pause},
    {"terminate", NEEDS_LAUNCH, do_terminate, after_terminate},
    {"stackTrace", NEEDS_STOP, view_stack, NULL},
    {"scopes", NEEDS_STOP, view_scopes, NULL},
    {"variables", NEEDS_STOP, view_variables, NULL},
    {"evaluate", NEEDS_STOP, view_evaluate, NULL},
    {"setVariable", NEEDS_STOP, view_set_variable, NULL},
    {"exceptionInfo", NEEDS_STOP, view_exception, NULL},
    {"continue", NEEDS_STOP, do_continue, NULL},
    {"next", NEEDS_STOP, do_next, NULL},
    {"stepIn", NEEDS_STOP, do_step_in, NULL},
    {"stepOut", NEEDS_STOP, do_step_out, NULL},
    {"stepBack", NEEDS_STOP, do_nothing, after_step_back},
    {"reverseContinue", NEEDS_STOP, do_nothing, after_reverse},
};

static Status run_command(const DapRequest *request, const Command *command, JsonWriter *json,
                          Diag *diag) {
    const Adapter *adapter = request->adapter;
    if (!command)
        return diag_set(diag, ERR_INVALID, "BAD_REQUEST", "there is no request %.*s",
                        STR_ARG(request->command));
    if (command->needs != NEEDS_NOTHING && !adapter->session.vm)
        return diag_set(diag, ERR_INVALID, "BAD_REQUEST", "nothing is launched yet");
    bool is_stopped = adapter->is_configured && !adapter->is_running && !adapter->is_ended;
    if (command->needs == NEEDS_STOP && !is_stopped)
        return diag_set(diag, ERR_INVALID, "BAD_REQUEST",
                        adapter->is_ended ? "the script has ended" : "the script is not stopped");
    return command->run(request, json, diag);
}

static void answer(const DapRequest *request) {
    Adapter *adapter = request->adapter;
    const Command *command = NULL;
    Buf members, body;
    JsonWriter inner, json;
    Diag diag;
    for (size_t i = 0; i < COUNT_OF(commands) && !command; i++)
        if (str_equal(request->command, str_from(commands[i].name))) command = &commands[i];
    buf_init(&members, ANSWER_MAX);
    json_writer_init(&inner, &members, STR_NULL);
    json_write_object_begin(&inner);
    Status status = run_command(request, command, &inner, &diag);
    json_write_object_end(&inner);
    begin(adapter, "response", &body, &json);
    json_put_i64(&json, "request_seq", request->seq);
    json_put_bool(&json, "success", status == OK);
    json_put_string(&json, "command", request->command);
    if (status == OK) json_put_raw(&json, "body", buf_str(&members));
    else json_put_cstr(&json, "message", diag.message);
    end(&body, &json);
    buf_done(&members);
    if (status == OK && command->after) command->after(adapter);
}

static void take_message(Adapter *adapter, Str text) {
    JsonValue *value;
    Diag diag;
    DapRequest request = {.adapter = adapter, .command = STR_NULL};
    if (json_parse(&adapter->message, text, &value, &diag) != OK ||
        json_get_i64(value, "seq", &request.seq, &diag) != OK ||
        json_get_string(value, "command", &request.command, &diag) != OK ||
        json_get_object(value, "arguments", &request.arguments, &diag) != OK) {
        fprintf(stderr, "abide: a message that is no request: %s\n", diag.message);
        return;
    }
    if (!str_is_null(request.command)) answer(&request);
}

// ---- the loop ----

static void take_event(Adapter *adapter, SessionEvent event, Str text) {
    switch (event) {
    case SESSION_RUNNING: break;
    case SESSION_STOPPED_STEP: {
        bool is_entry = adapter->launch.stops_on_entry;
        adapter->launch.stops_on_entry = false;
        send_stopped(adapter, is_entry ? "entry" : "step", STR_NULL);
        break;
    }
    case SESSION_STOPPED_BREAKPOINT: send_stopped(adapter, "breakpoint", STR_NULL); break;
    case SESSION_STOPPED_EXCEPTION:
        send_stopped(adapter, "exception",
                     flow_debug_exception(adapter->session.vm, &adapter->message));
        break;
    case SESSION_COMPLETED:
        send_output(adapter, "stdout", text);
        send_ended(adapter, EXIT_CODE_OK);
        break;
    case SESSION_FAILED:
        send_output(adapter, "stderr",
                    arena_printf(&adapter->message, "Uncaught %.*s", STR_ARG(text)));
        send_ended(adapter, EXIT_CODE_FAILED);
        break;
    case SESSION_STUCK:
        send_output(adapter, "stderr",
                    arena_printf(&adapter->message,
                                 "The script waits for %.*s, which nothing here can answer: a mock "
                                 "or a script can",
                                 STR_ARG(text)));
        send_ended(adapter, EXIT_CODE_FAILED);
        break;
    }
}

static int serve(Adapter *adapter) {
    FrameReader reader;
    FrameResult result = FRAME_MESSAGE;
    frame_reader_init(&reader, STDIN_FILENO);
    while (!adapter->is_left) {
        Str text = STR_NULL;
        result = frame_read(&reader, adapter->is_running ? FRAME_LOOK : FRAME_WAIT, &text);
        if (result == FRAME_END || result == FRAME_BROKEN) break;
        if (result == FRAME_MESSAGE) take_message(adapter, text);
        else if (result == FRAME_TOO_LARGE) fprintf(stderr, "abide: a message is too large\n");
        else if (adapter->is_running)
            take_event(adapter, session_go(&adapter->session, &text), text);
        arena_reset(&adapter->message);
        if (adapter->arena.used_size > SESSION_TEXT_MAX) { // payloads of an endless loop
            send_output(adapter, "stderr", STR("the script has asked for too much: it ends here"));
            send_ended(adapter, EXIT_CODE_FAILED);
            break;
        }
    }
    frame_reader_done(&reader);
    if (result != FRAME_BROKEN) return EXIT_CODE_OK;
    fprintf(stderr, "abide: standard input is not the Debug Adapter Protocol: a message begins "
                    "with Content-Length\n");
    return EXIT_CODE_USAGE;
}

int cli_debug(int argument_count, char **arguments) {
    Adapter adapter = {0};
    Launch *launch = &adapter.given;
    const Option options[] = {
        {"input", 'i', OPTION_TEXT, &launch->input, "JSON|@FILE", "the run's input"},
        {"workflow", 'w', OPTION_TEXT, &launch->workflow, "NAME",
         "which workflow of the file; the first one by default"},
        {"mock", 0, OPTION_TEXT, &launch->mock, "FILE",
         "answers of tasks, children and signals, as JSON"},
        {"script", 0, OPTION_TEXT, &launch->script, "FILE",
         "signals, events and cancels, each with its time"},
        {"now", 0, OPTION_TEXT, &launch->now, "TIME",
         "where virtual time begins, e.g. 2026-01-01T00:00:00Z"},
        {"run", 'r', OPTION_TEXT, &launch->run, "RUN", "debug a copy of this run"},
        {"turn", 't', OPTION_COUNT, &launch->turn, "N", "… as this kept turn of it began"},
        {"secrets", 0, OPTION_FLAG, &launch->has_secrets, NULL,
         "… with the data that config.secret hides; for admins, and logged"},
        {"server", 0, OPTION_TEXT, &launch->server, "URL", "where the run is; ABIDE_SERVER"},
        {"token", 0, OPTION_TEXT, &launch->token, "TOKEN", "for the server; ABIDE_TOKEN"},
        {"ca-file", 0, OPTION_TEXT, &launch->ca_file, "FILE",
         "certificates to trust, PEM; ABIDE_CA_FILE"},
        {"store", 0, OPTION_TEXT, &launch->store, "URL",
         "the run is in this store, which no server has; ABIDE_STORE"},
        {"stop-on-entry", 0, OPTION_FLAG, &launch->stops_on_entry, NULL,
         "stop at the first statement"},
    };
    const OptionTable table = {
        .usage = "abide debug [FILE] [--input JSON|@FILE] [--mock FILE] [--script FILE] [options]",
        .about = "A debugger for workflows, for editors: speaks the Debug Adapter Protocol over\n"
                 "standard input and output. The script runs in virtual time, and no task leaves:\n"
                 "mocks answer, as in abide run. With --run, or the request `attach`, a copy of a\n"
                 "run goes on where that stands; the run itself stays as it is. What the requests\n"
                 "say goes before the options.\n"
                 "See docs/debug.md.",
        .example =
            "abide debug order.flow --mock mocks.json\nabide debug --run order-7\nabide debug",
        .options = options,
        .option_count = COUNT_OF(options),
        .operand_max = 1,
    };
    Operands files;
    OptionsResult parsed = options_parse(&table, argument_count, arguments, &files);
    if (parsed != OPTIONS_OK) return parsed == OPTIONS_HELP ? EXIT_CODE_OK : EXIT_CODE_USAGE;
    if (files.count > 0) launch->program = str_from(files.items[0]);
    arena_init(&adapter.arena);
    arena_init(&adapter.message);
    buf_init(&adapter.files.mock_text, FRAME_BODY_MAX);
    buf_init(&adapter.files.script_text, FRAME_BODY_MAX);
    int code = serve(&adapter);
    session_close(&adapter.session);
    vec_free(&adapter.references);
    buf_done(&adapter.files.mock_text);
    buf_done(&adapter.files.script_text);
    arena_done(&adapter.message);
    arena_done(&adapter.arena);
    return code;
}

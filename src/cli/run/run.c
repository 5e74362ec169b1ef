// abide run: a workflow in the foreground, until it ends.
//
// Arguments and output; the run itself is run/program.c and run/session.c.
// The result is JSON on stdout; console lines and findings are on stderr. Exit code 0, 1 for an
// error of the script (message and stack on stderr), 2 when it could not be loaded.

#include "base/array.h"
#include "base/time/duration.h"
#include "cli/cli.h"
#include "cli/options.h"
#include "cli/output/output.h"
#include "cli/run/batch.h"
#include "cli/run/files.h"
#include "cli/run/load.h"
#include "cli/run/program.h"
#include "cli/runs/failure.h"
#include "cli/sim/replay.h"
#include "flow/lexer/source.h"
#include <stdio.h>

enum { INPUT_MAX = 256 << 20 };

typedef struct RunArguments {
    const char *file; // NULL with --batch
    Str input;
    Str workflow;
    uint64_t max_steps;
    uint64_t memory_bytes;
    bool is_batch;
    // of the engine
    OptionTexts plugins, addresses, queues;
    Str mock, script, store, id, now;
    bool is_virtual, is_exec_allowed, is_private_allowed;
} RunArguments;

static OptionsResult parse_arguments(int count, char **arguments, RunArguments *ret) {
    const Option options[] = {
        {"input", 'i', OPTION_TEXT, &ret->input, "JSON|@FILE", "the run's input"},
        {"workflow", 'w', OPTION_TEXT, &ret->workflow, "NAME",
         "which workflow of the file; the first one by default"},
        {"max-steps", 0, OPTION_COUNT, &ret->max_steps, "N", "stop after N instructions"},
        {"memory", 'm', OPTION_SIZE, &ret->memory_bytes, "SIZE",
         "memory the script may use, e.g. 64M (default)"},
        {"mock", 0, OPTION_TEXT, &ret->mock, "FILE",
         "answers of tasks, children and signals, as JSON"},
        {"script", 0, OPTION_TEXT, &ret->script, "FILE",
         "signals, events and cancels, each with its time, or a history of abide sim"},
        {"virtual-time", 0, OPTION_FLAG, &ret->is_virtual, NULL,
         "do not wait for timers; print what happens when"},
        {"now", 0, OPTION_TEXT, &ret->now, "TIME",
         "where virtual time begins, e.g. 2026-01-01T00:00:00Z"},
        {"plugin", 0, OPTION_TEXTS, &ret->plugins, "FILE",
         "shared object with task functions; may be repeated"},
        {"queue", 0, OPTION_TEXTS, &ret->queues, "NAME:LIMITS",
         "limits of a queue, e.g. mail:max=2,per-key=1,rate=3/1m"},
        {"allow-exec", 0, OPTION_FLAG, &ret->is_exec_allowed, NULL,
         "let the task exec run programs"},
        {"allow-address", 0, OPTION_TEXTS, &ret->addresses, "ADDRESS[/BITS]",
         "let the task http reach these, though not public"},
        {"allow-private", 0, OPTION_FLAG, &ret->is_private_allowed, NULL,
         "let the task http reach private addresses"},
        {"store", 0, OPTION_TEXT, &ret->store, "URL",
         "keep the run, e.g. sqlite:runs.db; by default memory:"},
        {"id", 0, OPTION_TEXT, &ret->id, "ID", "of the run; one that exists goes on"},
        {"batch", 0, OPTION_FLAG, &ret->is_batch, NULL,
         "programs from stdin, answers to stdout, as length-prefixed frames"},
    };
    const OptionTable table = {
        .usage = "abide run FILE [--input JSON|@FILE] [--mock FILE] [--script FILE] "
                 "[--virtual-time] [options]",
        .about = "Runs a workflow in the foreground until it ends and prints its result as JSON.\n"
                 "Its tasks are executed here: http, log, fail, with --allow-exec exec, those of\n"
                 "plug-ins, and mocks. Nothing is kept, unless a store is given; then a run that\n"
                 "was broken off goes on when the command is repeated.\n\n"
                 "Console lines and findings are on standard error. Exit code 0; 1 when the\n"
                 "script fails or waits for what cannot come; 2 when it is not loaded.\n"
                 "See docs/run.md.",
        .example = "abide run order.flow --input '{\"orderId\": 7}'\n"
                   "abide run order.flow --input @order.json --max-steps 1000000\n"
                   "abide run order.flow --mock mocks.json --script events.json --virtual-time\n"
                   "abide run order.flow --plugin ./billing.so --store sqlite:orders.db --id o-7",
        .options = options,
        .option_count = COUNT_OF(options),
        .operand_max = 1,
    };
    Operands files;
    OptionsResult result = options_parse(&table, count, arguments, &files);
    if (result != OPTIONS_OK) return result;
    ret->file = files.count ? files.items[0] : NULL;
    if (ret->is_batch != (ret->file == NULL)) {
        fprintf(stderr, "abide: %s\nusage: %s\n",
                ret->is_batch ? "--batch takes no file" : "which file?", table.usage);
        return OPTIONS_BAD;
    }
    return OPTIONS_OK;
}

static Str base_name(Str path) {
    size_t start = path.len;
    while (start > 0 && path.data[start - 1] != '/') start--;
    return (Str){path.data + start, path.len - start};
}

// With its causes, and the line where it happened.
static bool print_error(const RunRequest *request, const RunAnswer *answer, Arena *arena) {
    JsonValue *error;
    FailurePlace place;
    if (str_is_null(answer->error_json)) return false;
    if (json_parse(arena, answer->error_json, &error, NULL) != OK) return false;
    Buf text;
    buf_init(&text, FAILURE_TEXT_MAX);
    buf_append_cstr(&text, "Uncaught ");
    failure_append(&text, error, 0);
    Str file = base_name(flow_module_file_name(request->module));
    if (failure_place(error, &place) && str_equal(base_name(place.file), file))
        failure_append_excerpt(&text, request->source, &place, 0);
    fwrite(text.data, 1, text.len, stderr);
    buf_done(&text);
    return true;
}

static int print_answer(const RunRequest *request, const RunAnswer *answer, Arena *arena) {
    if (answer->is_completed) {
        output_json_line(stdout, answer->result_json);
        return EXIT_CODE_OK;
    }
    if (!print_error(request, answer, arena))
        fprintf(stderr, "Uncaught %.*s: %.*s\n", STR_ARG(answer->error_name),
                STR_ARG(answer->error_message));
    return EXIT_CODE_FAILED;
}

// ---- the engine's options ----

typedef struct RunFiles { // what the options name, read
    Buf mock_text, script_text;
    Mocks mocks;
    EventScript script;
    RunSetting setting;
} RunFiles;

static Status read_mocks(const RunArguments *arguments, Arena *arena, RunFiles *files, Diag *diag) {
    if (!arguments->mock.data) return OK;
    TRY(file_read(arguments->mock.data, &files->mock_text, diag));
    Diag cause;
    Status status = mocks_parse(arena, buf_str(&files->mock_text), &files->mocks, &cause);
    if (status != OK)
        return diag_set(diag, status, "BAD_MOCK", "%s: %s", arguments->mock.data, cause.message);
    files->setting.mocks = &files->mocks;
    return OK;
}

static Status read_script(const RunArguments *arguments, Arena *arena, RunFiles *files,
                          Diag *diag) {
    if (!arguments->script.data) return OK;
    TRY(file_read(arguments->script.data, &files->script_text, diag));
    if (explore_is_script(buf_str(&files->script_text))) return OK;
    Diag cause;
    Status status = script_parse(arena, buf_str(&files->script_text), &files->script, &cause);
    if (status != OK)
        return diag_set(diag, status, "BAD_SCRIPT", "%s: %s", arguments->script.data,
                        cause.message);
    files->setting.script = &files->script;
    return OK;
}

// A history says everything but what the world is like and when it begins.
static Status check_beside_history(const RunArguments *arguments, Diag *diag) {
    bool has_more = arguments->store.data || arguments->id.data || arguments->plugins.count > 0 ||
                    arguments->queues.count > 0 || arguments->addresses.count > 0 ||
                    arguments->is_exec_allowed || arguments->is_private_allowed ||
                    arguments->max_steps > 0 || arguments->memory_bytes > 0;
    if (!has_more) return OK;
    return diag_set(diag, ERR_INVALID, "BAD_OPTION",
                    "a history of abide sim takes --mock, --input, --workflow and --now, and no "
                    "other options");
}

static Status read_setting(const RunArguments *arguments, Arena *arena, RunFiles *files,
                           Diag *diag) {
    files->setting = (RunSetting){.store_url = arguments->store.data,
                                  .run_id = arguments->id.data,
                                  .is_virtual = arguments->is_virtual,
                                  .is_exec_allowed = arguments->is_exec_allowed,
                                  .is_private_allowed = arguments->is_private_allowed,
                                  .plugins = arguments->plugins.items,
                                  .plugin_count = arguments->plugins.count};
    for (size_t i = 0; i < arguments->addresses.count; i++) {
        const char *before = files->setting.allowed_addresses;
        files->setting.allowed_addresses =
            arena_printf(arena, "%s%s%s", before != NULL ? before : "", before != NULL ? "," : "",
                         arguments->addresses.items[i])
                .data;
    }
    QueueLimit *queues = ARENA_ARRAY(arena, QueueLimit, arguments->queues.count + 1);
    for (size_t i = 0; i < arguments->queues.count; i++)
        TRY(queue_limit_parse(arena, arguments->queues.items[i], &queues[i], diag));
    files->setting.queues = queues;
    files->setting.queue_count = arguments->queues.count;
    TRY(read_script(arguments, arena, files, diag));
    bool is_history = explore_is_script(buf_str(&files->script_text));
    if (is_history) TRY(check_beside_history(arguments, diag));
    if (arguments->now.data) {
        if (!arguments->is_virtual && !is_history)
            return diag_set(diag, ERR_INVALID, "BAD_OPTION", "--now needs --virtual-time");
        TRY(instant_parse(arguments->now, &files->setting.start_ms, diag));
    }
    return is_history ? OK : read_mocks(arguments, arena, files, diag);
}

static bool wants_engine(const RunArguments *arguments) {
    return arguments->store.data || arguments->id.data || arguments->is_virtual ||
           arguments->mock.data || arguments->script.data || arguments->plugins.count > 0 ||
           arguments->is_exec_allowed || arguments->is_private_allowed ||
           arguments->addresses.count > 0 || arguments->queues.count > 0 || arguments->now.data;
}

// ---- running ----

// A history of `abide sim` is played as that does it. Answers an ExitCode; < 0: it is none.
static int replay_history(const RunRequest *request, const RunArguments *arguments,
                          const RunFiles *files) {
    if (!explore_is_script(buf_str(&files->script_text))) return -1;
    return sim_replay(&(ReplayRequest){.module = request->module,
                                       .workflow_index = request->workflow_index,
                                       .input_json = request->input_json,
                                       .mock = arguments->mock.data,
                                       .start_ms = files->setting.start_ms,
                                       .script = buf_str(&files->script_text),
                                       .script_path = arguments->script.data});
}

static int run_request(RunRequest *request, const RunArguments *arguments) {
    Arena arena;
    Diag diag;
    RunAnswer answer;
    RunFiles files = {0};
    arena_init(&arena);
    buf_init(&files.mock_text, INPUT_MAX);
    buf_init(&files.script_text, INPUT_MAX);
    int exit_code = EXIT_CODE_USAGE;
    Status status = OK;
    if (wants_engine(arguments)) {
        status = read_setting(arguments, &arena, &files, &diag);
        request->setting = &files.setting;
    }
    int replayed = status == OK ? replay_history(request, arguments, &files) : -1;
    if (status == OK && replayed < 0) status = run_program(request, &arena, &answer, &diag);
    if (replayed >= 0) exit_code = replayed;
    else if (status == OK) exit_code = print_answer(request, &answer, &arena);
    else fprintf(stderr, "abide: %s\n", diag.message);
    buf_done(&files.mock_text);
    buf_done(&files.script_text);
    arena_done(&arena);
    return exit_code;
}

static int run_file(const RunArguments *arguments, Str input) {
    Buf source;
    buf_init(&source, FLOW_SOURCE_MAX);
    int exit_code = EXIT_CODE_USAGE;
    FlowModule *module = load_module(arguments->file, LOAD_CHECKED, &source, NULL);
    RunRequest request = {.module = module,
                          .source = buf_str(&source),
                          .input_json = input,
                          .max_steps = arguments->max_steps,
                          .memory_bytes = arguments->memory_bytes};
    if (module && arguments->workflow.data &&
        flow_module_find_workflow(module, arguments->workflow, &request.workflow_index) != OK)
        fprintf(stderr, "abide: %s has no workflow %.*s\n", arguments->file,
                STR_ARG(arguments->workflow));
    else if (module) exit_code = run_request(&request, arguments);
    flow_module_release(module);
    buf_done(&source);
    return exit_code;
}

int cli_run(int argument_count, char **argument_texts) {
    RunArguments arguments = {.file = NULL};
    Diag diag;
    OptionsResult result = parse_arguments(argument_count, argument_texts, &arguments);
    if (result != OPTIONS_OK) return result == OPTIONS_HELP ? EXIT_CODE_OK : EXIT_CODE_USAGE;
    if (arguments.is_batch) {
        RunRequest limits = {.max_steps = arguments.max_steps,
                             .memory_bytes = arguments.memory_bytes};
        return batch_run(&limits);
    }
    Buf input;
    buf_init(&input, INPUT_MAX);
    int exit_code = EXIT_CODE_USAGE;
    if (arguments.input.data && input_read(arguments.input, &input, &diag) != OK)
        fprintf(stderr, "abide: %s\n", diag.message);
    else exit_code = run_file(&arguments, arguments.input.data ? buf_str(&input) : STR_NULL);
    buf_done(&input);
    return exit_code;
}

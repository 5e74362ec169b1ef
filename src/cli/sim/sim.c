// abide sim: looks for a history in which a workflow goes wrong.
//
// Arguments, progress and output; the search is src/explore. What was found goes to standard error
// as a sentence, and to standard output as a script that `abide run --script` plays again. Exit
// code 0 when nothing was found, 1 when something was, 2 when nothing was tried.
#include "base/array.h"
#include "base/time/duration.h"
#include "cli/cli.h"
#include "cli/options.h"
#include "cli/run/files.h"
#include "cli/run/load.h"
#include "cli/sim/replay.h"
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { INPUT_MAX = 256 << 20, SCRIPT_MAX = 16 << 20, FILES_MAX = 1000 };

typedef struct SimArguments {
    Operands files;
    Str input, workflow, mock, now, time;
    uint64_t limit, seeds, seed, depth, faults;
    int64_t start_ms;
    ExploreOptions options;
} SimArguments;

static OptionsResult parse_arguments(int count, char **arguments, SimArguments *ret) {
    const Option options[] = {
        {"input", 'i', OPTION_TEXT, &ret->input, "JSON|@FILE", "the run's input"},
        {"workflow", 'w', OPTION_TEXT, &ret->workflow, "NAME",
         "which workflow of the file; the first one by default"},
        {"mock", 0, OPTION_TEXT, &ret->mock, "FILE",
         "what the world may answer and send; by default NAME.mock.json beside the file"},
        {"limit", 0, OPTION_COUNT, &ret->limit, "N",
         "histories to go through in order, 20000 by default"},
        {"seeds", 0, OPTION_COUNT, &ret->seeds, "N",
         "random histories, if the limit comes first; 1000 by default"},
        {"seed", 0, OPTION_COUNT, &ret->seed, "N", "where random histories begin; 1 by default"},
        {"depth", 0, OPTION_COUNT, &ret->depth, "N",
         "choices in a history, 60 by default; then it only goes to its end"},
        {"faults", 0, OPTION_COUNT, &ret->faults, "N",
         "crashes, lost answers and the like in one history; 1 by default"},
        {"time", 0, OPTION_TEXT, &ret->time, "DURATION", "stop looking after this long"},
        {"now", 0, OPTION_TEXT, &ret->now, "TIME",
         "where virtual time begins; 2026-01-01T00:00:00Z by default"},
    };
    const OptionTable table = {
        .usage = "abide sim FILE... [--input JSON|@FILE] [--mock FILE] [options]",
        .about = "Tries a workflow before it happens: every order of what its mocks answer and\n"
                 "send, timeouts first, failures, lost, late and repeated answers, crashes and\n"
                 "jumps of the clock. It looks whether the run ends, whether anything is lost,\n"
                 "and at what Invariant, Always, Eventually and the checks of the mocks say.\n\n"
                 "The shortest history that was found is printed as a script for abide run\n"
                 "--script. Exit code 0 when nothing was found, 1 when something was, 2 when\n"
                 "nothing was tried. See docs/sim.md.",
        .example = "abide sim order.flow --mock mocks.json\n"
                   "abide sim flows/*.flow --time 1m > found.txt\n"
                   "abide run order.flow --mock mocks.json --script found.txt",
        .options = options,
        .option_count = COUNT_OF(options),
        .operand_min = 1,
        .operand_max = FILES_MAX,
    };
    return options_parse(&table, count, arguments, &ret->files);
}

static Status read_options(SimArguments *arguments, Diag *diag) {
    arguments->options.history_limit = arguments->limit;
    arguments->options.seed_count = arguments->seeds;
    arguments->options.seed = arguments->seed;
    arguments->options.depth_max = (size_t)arguments->depth;
    arguments->options.fault_max = (size_t)arguments->faults;
    if (arguments->time.data)
        TRY(duration_parse(arguments->time, &arguments->options.time_limit_ms, diag));
    arguments->start_ms = SIM_START_MS;
    return arguments->now.data ? instant_parse(arguments->now, &arguments->start_ms, diag) : OK;
}

// ---- what is tried ----

// "flows/order.flow" has "flows/order.mock.json"; NULL: there is none.
static const char *mocks_beside(Arena *arena, const char *file) {
    Str name = str_from(file);
    static const Str ending = STR(".flow");
    bool has_ending = name.len > ending.len &&
                      memcmp(name.data + name.len - ending.len, ending.data, ending.len) == 0;
    if (has_ending) name.len -= ending.len;
    const char *path = arena_printf(arena, "%.*s.mock.json", STR_ARG(name)).data;
    struct stat info;
    return stat(path, &info) == 0 ? path : NULL;
}

static void show_progress(void *context, uint64_t history_count, uint64_t state_count) {
    fprintf(stderr, "\r%s: %llu histories, %llu states ", (const char *)context,
            (unsigned long long)history_count, (unsigned long long)state_count);
}

// As a shell reads it back.
static void append_option(Buf *command, const char *option, const char *value) {
    if (value == NULL) return;
    buf_printf(command, " --%s '", option);
    for (const char *c = value; *c; c++) {
        if (*c == '\'') buf_append_cstr(command, "'\\''");
        else buf_append_char(command, *c == '\n' ? ' ' : *c);
    }
    buf_append_char(command, '\'');
}

static void print_found(const SimArguments *arguments, const ExploreReport *report,
                        const char *file, const char *mock) {
    Buf command, text;
    buf_init(&command, SCRIPT_MAX);
    buf_init(&text, SCRIPT_MAX);
    buf_printf(&command, "abide run %s", file);
    append_option(&command, "mock", mock);
    append_option(&command, "input", arguments->input.data);
    append_option(&command, "workflow", arguments->workflow.data);
    append_option(&command, "now", arguments->now.data);
    buf_append_cstr(&command, " --script FILE");
    fprintf(stderr, "%s: found in history %llu: %.*s\n", file,
            (unsigned long long)report->history_count, STR_ARG(report->violation.text));
    explore_write_script(report, buf_cstr(&command), &text);
    fwrite(text.data, 1, text.len, stdout);
    buf_done(&text);
    buf_done(&command);
}

static void print_nothing(const ExploreReport *report, const char *file) {
    fprintf(stderr, "%s: nothing found in %llu histories with %llu states: %s\n", file,
            (unsigned long long)report->history_count, (unsigned long long)report->state_count,
            report->is_whole ? "all there are"
                             : "not all there are; --limit and --time go further");
}

static int try_module(const SimArguments *arguments, const char *file, ExploreSubject *subject,
                      Arena *arena) {
    Diag diag;
    Scenario scenario;
    ExploreReport report;
    const char *mock = arguments->mock.data ? arguments->mock.data : mocks_beside(arena, file);
    Status status = sim_read_mocks(arena, mock, &scenario, &diag);
    if (status == OK) {
        ExploreOptions options = arguments->options;
        bool is_terminal = isatty(STDERR_FILENO);
        if (is_terminal) options.progress = show_progress;
        options.context = arena_cstr(arena, str_from(file));
        subject->scenario = &scenario;
        status = explore(subject, &options, arena, &report, &diag);
        if (is_terminal) fprintf(stderr, "\r\033[K");
        scenario_done(&scenario);
    }
    if (status != OK) {
        fprintf(stderr, "abide: %s: %s\n", file, diag.message);
        return EXIT_CODE_USAGE;
    }
    if (report.violation.kind == NULL) print_nothing(&report, file);
    else print_found(arguments, &report, file, mock);
    return report.violation.kind == NULL ? EXIT_CODE_OK : EXIT_CODE_FAILED;
}

static int try_file(const SimArguments *arguments, const char *file, Str input) {
    Arena arena;
    FlowModule *module = load_module(file, LOAD_CHECKED, NULL, NULL);
    if (module == NULL) return EXIT_CODE_USAGE;
    ExploreSubject subject = {.module = module, .input_json = input};
    subject.start_ms = arguments->start_ms;
    int exit_code = EXIT_CODE_USAGE;
    arena_init(&arena);
    if (arguments->workflow.data &&
        flow_module_find_workflow(module, arguments->workflow, &subject.workflow_index) != OK)
        fprintf(stderr, "abide: %s has no workflow %.*s\n", file, STR_ARG(arguments->workflow));
    else exit_code = try_module(arguments, file, &subject, &arena);
    arena_done(&arena);
    flow_module_release(module);
    return exit_code;
}

int cli_sim(int argument_count, char **argument_texts) {
    SimArguments arguments = {.options = EXPLORE_OPTIONS_DEFAULT};
    arguments.limit = arguments.options.history_limit;
    arguments.seeds = arguments.options.seed_count;
    arguments.seed = arguments.options.seed;
    arguments.depth = arguments.options.depth_max;
    arguments.faults = arguments.options.fault_max;
    OptionsResult result = parse_arguments(argument_count, argument_texts, &arguments);
    if (result != OPTIONS_OK) return result == OPTIONS_HELP ? EXIT_CODE_OK : EXIT_CODE_USAGE;
    Buf input;
    Diag diag;
    buf_init(&input, INPUT_MAX);
    int exit_code = EXIT_CODE_OK;
    Status status = read_options(&arguments, &diag);
    if (status == OK && arguments.input.data) status = input_read(arguments.input, &input, &diag);
    if (status != OK) {
        fprintf(stderr, "abide: %s\n", diag.message);
        exit_code = EXIT_CODE_USAGE;
    }
    Str json = arguments.input.data ? buf_str(&input) : STR_NULL;
    for (size_t i = 0; status == OK && i < arguments.files.count; i++) {
        int code = try_file(&arguments, arguments.files.items[i], json);
        if (code > exit_code) exit_code = code;
    }
    buf_done(&input);
    return exit_code;
}

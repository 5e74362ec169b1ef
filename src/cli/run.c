// abide run: a workflow in the foreground, until it ends.
//
// Arguments and output; the run itself is run_program.c, the script's world run_host.c.
// The result is JSON on stdout; console lines and findings are on stderr. Exit code 0, 1 for an
// error of the script (message and stack on stderr), 2 when it could not be loaded.

#include "cli/batch.h"
#include "cli/cli.h"
#include "cli/files.h"
#include "cli/load.h"
#include "cli/options.h"
#include "cli/run_program.h"
#include "json/validate.h"
#include <stdio.h>

enum { INPUT_MAX = 256 << 20 };

typedef struct RunArguments {
    const char *file; // NULL with --batch
    Str input;
    Str workflow;
    uint64_t max_steps;
    uint64_t memory_bytes;
    bool is_batch;
} RunArguments;

static OptionsResult parse_arguments(int count, char **arguments, RunArguments *ret) {
    const Option options[] = {
        {"input", 'i', OPTION_TEXT, &ret->input, "JSON|@FILE", "the run's input"},
        {"workflow", 'w', OPTION_TEXT, &ret->workflow, "NAME",
         "which workflow of the file; the first one by default"},
        {"max-steps", 0, OPTION_COUNT, &ret->max_steps, "N", "stop after N instructions"},
        {"memory", 'm', OPTION_SIZE, &ret->memory_bytes, "SIZE",
         "memory the script may use, e.g. 64M (default)"},
        {"batch", 0, OPTION_FLAG, &ret->is_batch, NULL,
         "programs from stdin, answers to stdout, as length-prefixed frames"},
    };
    const OptionTable table = {
        .usage = "abide run FILE [--input JSON|@FILE] [--workflow NAME] [--max-steps N] "
                 "[--memory SIZE]",
        .about = "Runs a workflow in the foreground until it ends and prints its result as JSON.\n"
                 "Nothing is stored. Exit code 1 when the script fails, 2 when it is not loaded.",
        .example = "abide run order.flow --input '{\"orderId\": 7}'\n"
                   "abide run order.flow --input @order.json --max-steps 1000000",
        .options = options,
        .option_count = sizeof options / sizeof *options,
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

// The input as JSON text: as given, or from a file.
static Status read_input(Str given, Buf *ret_text, Diag *diag) {
    if (given.len > 0 && given.data[0] == '@') TRY(file_read(given.data + 1, ret_text, diag));
    else buf_append_str(ret_text, given);
    Status status = json_validate(buf_str(ret_text), diag);
    if (status == OK) return OK;
    Diag cause = *diag;
    return diag_set(diag, status, "BAD_INPUT", "the input is no JSON: %s", cause.message);
}

static int print_answer(const RunAnswer *answer) {
    if (answer->is_completed) {
        fwrite(answer->result_json.data, 1, answer->result_json.len, stdout);
        putchar('\n');
        return EXIT_CODE_OK;
    }
    if (answer->error_stack.len > 0)
        fprintf(stderr, "Uncaught %.*s\n", STR_ARG(answer->error_stack));
    else
        fprintf(stderr, "Uncaught %.*s: %.*s\n", STR_ARG(answer->error_name),
                STR_ARG(answer->error_message));
    return EXIT_CODE_FAILED;
}

static int run_module(FlowModule *module, const RunArguments *arguments, Str input) {
    Arena arena;
    Diag diag;
    RunAnswer answer;
    RunRequest request = {.module = module,
                          .input_json = input,
                          .max_steps = arguments->max_steps,
                          .memory_bytes = arguments->memory_bytes};
    if (arguments->workflow.data &&
        flow_module_find_workflow(module, arguments->workflow, &request.workflow_index) != OK) {
        fprintf(stderr, "abide: %s has no workflow %.*s\n", arguments->file,
                STR_ARG(arguments->workflow));
        return EXIT_CODE_USAGE;
    }
    arena_init(&arena);
    int exit_code = EXIT_CODE_USAGE;
    if (run_program(&request, &arena, &answer, &diag) == OK) exit_code = print_answer(&answer);
    else fprintf(stderr, "abide: %s\n", diag.message);
    arena_done(&arena);
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
    if (arguments.input.data && read_input(arguments.input, &input, &diag) != OK) {
        fprintf(stderr, "abide: %s\n", diag.message);
    } else {
        FlowModule *module = load_module(arguments.file);
        Str text = arguments.input.data ? buf_str(&input) : STR_NULL;
        if (module) exit_code = run_module(module, &arguments, text);
        flow_module_release(module);
    }
    buf_done(&input);
    return exit_code;
}

// abide check: every finding in the named files, with excerpt and hint.
//
// Findings go to stderr as text, or to stdout as one JSON array over all files.
// Exit code 0 without errors, 1 with errors, 2 when a file cannot be read; warnings count as errors
// when that was asked for. With --watch the files
// are checked again whenever one is saved, until the program is interrupted.

#include "base/array.h"
#include "cli/cli.h"
#include "cli/options.h"
#include "cli/run/files.h"
#include "cli/run/watch.h"
#include "flow/check/api.h"
#include "flow/flow.h"
#include "flow/lexer/report.h"
#include <stdio.h>

typedef struct Check {
    bool is_json;
    bool is_strict; // a warning counts as an error does
    uint32_t error_count;
    uint32_t warning_count;
    size_t unreadable_count;
    Buf json; // findings so far, without the brackets
} Check;

enum { CHECK_OUTPUT_MAX = 64 << 20 };

static void check_report(Check *check, FlowReport *report) {
    check->error_count += report->error_count;
    for (uint32_t i = 0; i < report->count; i++)
        if (report->items[i].severity == FLOW_SEVERITY_WARNING) check->warning_count++;
    if (report->count == 0) return;
    Buf text;
    buf_init(&text, CHECK_OUTPUT_MAX);
    if (check->is_json) {
        flow_report_render_json(report, &text);
        if (check->json.len) buf_append_char(&check->json, ',');
        buf_append(&check->json, text.data + 1, text.len - 2);
    } else {
        flow_report_render_text(report, &text);
        fwrite(text.data, 1, text.len, stderr);
    }
    buf_done(&text);
}

static void check_file(Check *check, const char *path) {
    Arena arena;
    Buf text;
    Diag diag;
    FlowSource source;
    arena_init(&arena);
    buf_init(&text, FLOW_SOURCE_MAX);
    Status status = file_read(path, &text, &diag);
    if (status == OK)
        status = flow_source_init(&source, str_from(path), buf_str(&text), &arena, &diag);
    if (status != OK) {
        fprintf(stderr, "abide: %s\n", diag.message);
        check->unreadable_count++;
    } else {
        FlowReport *report = ARENA_NEW(&arena, FlowReport);
        FlowModule *module = NULL;
        flow_report_init(report, &source, &arena);
        if (flow_compile_checked(report, &module, &diag) == OK) flow_module_release(module);
        check_report(check, report);
    }
    buf_done(&text);
    arena_done(&arena);
}

static void print_count(FILE *stream, const char *before, uint32_t count, const char *what) {
    fprintf(stream, "%s%u %s%s", before, count, what, count == 1 ? "" : "s");
}

static void print_summary(const Check *check, size_t file_count) {
    if (check->error_count > 0) {
        print_count(stderr, "", check->error_count, "error");
        if (check->warning_count > 0) print_count(stderr, ", ", check->warning_count, "warning");
        fputc('\n', stderr);
    } else if (check->unreadable_count == 0) {
        printf("%zu file%s checked, no errors", file_count, file_count == 1 ? "" : "s");
        if (check->warning_count > 0) print_count(stdout, ", ", check->warning_count, "warning");
        putchar('\n');
    }
}

static int check_all(const Operands *files, bool is_json, bool is_strict) {
    Check check = {.is_json = is_json, .is_strict = is_strict};
    buf_init(&check.json, CHECK_OUTPUT_MAX);
    for (size_t i = 0; i < files->count; i++) check_file(&check, files->items[i]);
    if (is_json) printf("[%.*s]\n", STR_ARG(buf_str(&check.json)));
    else print_summary(&check, files->count);
    fflush(stdout);
    buf_done(&check.json);
    if (check.unreadable_count > 0) return EXIT_CODE_USAGE;
    bool is_bad = check.error_count > 0 || (check.is_strict && check.warning_count > 0);
    return is_bad ? EXIT_CODE_FAILED : EXIT_CODE_OK;
}

static int print_api(void) {
    Buf json;
    buf_init(&json, CHECK_OUTPUT_MAX);
    flow_api_print(&json);
    printf("%.*s\n", STR_ARG(buf_str(&json)));
    buf_done(&json);
    return EXIT_CODE_OK;
}

int cli_check(int argument_count, char **arguments) {
    Str output = STR("text");
    bool is_watching = false, is_api = false, is_strict = false;
    const Option options[] = {
        {"output", 'o', OPTION_TEXT, &output, "FORMAT", "text (default) or json"},
        {"watch", 'w', OPTION_FLAG, &is_watching, NULL, "check again whenever a file is saved"},
        {"warnings-as-errors", 0, OPTION_FLAG, &is_strict, NULL,
         "exit code 1 when there are warnings, too"},
        {"api", 0, OPTION_FLAG, &is_api, NULL,
         "print what workflows may call, with arguments and options, as JSON"},
    };
    const OptionTable table = {
        .usage = "abide check FILE... [-o text|json] [--watch] [--warnings-as-errors]",
        .about = "Reports what is wrong with workflow files. Exit code 1 when there are errors.",
        .example = "abide check order.flow\nabide check -o json src/*.flow",
        .options = options,
        .option_count = COUNT_OF(options),
        .operand_min = 0,
        .operand_max = 100000,
    };
    Operands files;
    OptionsResult result = options_parse(&table, argument_count, arguments, &files);
    if (result != OPTIONS_OK) return result == OPTIONS_HELP ? EXIT_CODE_OK : EXIT_CODE_USAGE;
    if (is_api) return print_api();
    if (files.count == 0) {
        fprintf(stderr, "abide: an argument is missing\nusage: %s\n", table.usage);
        return EXIT_CODE_USAGE;
    }
    bool is_json = str_equal(output, STR("json"));
    if (!is_json && !str_equal(output, STR("text"))) {
        fprintf(stderr, "abide: -o takes text or json, not %.*s\n", STR_ARG(output));
        return EXIT_CODE_USAGE;
    }
    if (!is_watching) return check_all(&files, is_json, is_strict);
    Watch watch;
    Diag diag;
    if (watch_open(&watch, files.items, files.count, &diag) != OK) {
        fprintf(stderr, "abide: %s\n", diag.message);
        return EXIT_CODE_USAGE;
    }
    do check_all(&files, is_json, is_strict);
    while (watch_wait(&watch));
    watch_close(&watch);
    return EXIT_CODE_OK;
}

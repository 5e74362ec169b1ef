// Replay: the steps of a history with their times, and what is violated at its end.
//
// The steps are those of the file and what is made up after them; they go to standard error, as the
// timeline of `abide run` does. Exit code 0 when nothing is violated, 1 when something is, 2 when a
// step cannot happen.
//
// Not here: reading and playing the lines (explore/script.c).
#include "cli/sim/replay.h"
#include "base/time/duration.h"
#include "cli/cli.h"
#include "cli/run/files.h"
#include <stdio.h>

enum { MOCKS_MAX = 256 << 20 };

Status sim_read_mocks(Arena *arena, const char *path, Scenario *ret_scenario, Diag *diag) {
    *ret_scenario = (Scenario){0};
    if (path == NULL) return OK;
    Buf text;
    Diag cause;
    buf_init(&text, MOCKS_MAX);
    Status status = file_read(path, &text, diag);
    if (status == OK) {
        status = scenario_read(arena, buf_str(&text), ret_scenario, &cause);
        if (status != OK)
            status = diag_set(diag, status, "BAD_MOCK", "%s: %s", path, cause.message);
    }
    buf_done(&text);
    return status;
}

static int print_replay(const ExploreReport *report) {
    for (size_t i = 0; i < report->step_count; i++) {
        char duration[INSTANT_TEXT_MAX];
        (void)duration_format(report->steps[i].at_ms, duration);
        fprintf(stderr, "[+%s] %.*s\n", duration, STR_ARG(report->steps[i].line));
    }
    if (report->violation.kind == NULL) {
        fprintf(stderr, "nothing is wrong with this history\n");
        return EXIT_CODE_OK;
    }
    fprintf(stderr, "%s: %.*s\n", report->violation.kind, STR_ARG(report->violation.text));
    return EXIT_CODE_FAILED;
}

int sim_replay(const ReplayRequest *request) {
    Arena arena;
    Diag diag;
    Scenario scenario;
    ExploreReport report;
    arena_init(&arena);
    int exit_code = EXIT_CODE_USAGE;
    Status status = sim_read_mocks(&arena, request->mock, &scenario, &diag);
    if (status == OK) {
        ExploreSubject subject = {.module = request->module,
                                  .workflow_index = request->workflow_index,
                                  .input_json = request->input_json,
                                  .scenario = &scenario,
                                  .start_ms =
                                      request->start_ms != 0 ? request->start_ms : SIM_START_MS};
        status = explore_replay(&subject, request->script, &arena, &report, &diag);
        if (status == OK) exit_code = print_replay(&report);
        else fprintf(stderr, "abide: %s: %s\n", request->script_path, diag.message);
        scenario_done(&scenario);
    } else {
        fprintf(stderr, "abide: %s\n", diag.message);
    }
    arena_done(&arena);
    return exit_code;
}

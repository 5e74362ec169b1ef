// Replaying a history that `abide sim` has written, for `abide run --script`.
#pragma once
#include "explore/explore.h"

// "2026-01-01T00:00:00Z": where virtual time begins unless told.
enum { SIM_START_DAY = 20454 };
#define SIM_START_MS (SIM_START_DAY * 86400000LL)

// What a file of mocks says, or an empty world. `path` may be NULL.
MUST_CHECK Status sim_read_mocks(Arena *arena, const char *path, Scenario *ret_scenario,
                                 Diag *diag);

typedef struct ReplayRequest {
    FlowModule *module;
    uint32_t workflow_index;
    Str input_json;   // null: none
    const char *mock; // path; NULL: none
    int64_t start_ms; // 0: SIM_START_MS
    Str script;       // explore_is_script
    const char *script_path;
} ReplayRequest;

// Prints the steps and what is wrong; answers an ExitCode.
int sim_replay(const ReplayRequest *request);

// RunProgram: a module, run in this process until it ends.
#pragma once
#include "cli/run_host.h"

typedef struct RunRequest {
    FlowModule *module;
    uint32_t workflow_index;
    Str input_json;        // null: undefined
    uint64_t max_steps;    // instructions; 0: no limit
    uint64_t memory_bytes; // 0: the default
} RunRequest;

typedef struct RunAnswer { // texts live in the arena
    bool is_completed;
    Str result_json;
    Str error_name;
    Str error_message;
    Str error_stack; // begins with name and message; null when there is none
} RunAnswer;

// ERR_INVALID: the input is no JSON. How the script ended is in the answer.
MUST_CHECK Status run_program(const RunRequest *request, Arena *arena, RunAnswer *ret_answer,
                              Diag *diag);

// RunProgram: a module, run in this process until it ends.
//
//   [run-program-1] A program that names nothing durable (Task, Timer, State …) needs no engine:
//        its VM is run as it is. Thousands of such programs go through one process in the
//        differential tests.
//   [run-program-2] Any other runs on an engine (run/session.c), with the same answer for the same
//        program.
#pragma once
#include "cli/run/mock.h"
#include "cli/run/queue.h"
#include "cli/run/script.h"
#include "flow/flow.h"

typedef struct RunSetting { // of the engine; all zero: nothing but the built-in tasks
    const char *store_url;  // NULL = memory
    const char *run_id;     // NULL = "local", or the workflow's name in a store that stays
    bool is_virtual;        // time
    int64_t start_ms;       // virtual time begins here; 0 = now
    bool is_exec_allowed;
    bool is_private_allowed;
    const char *allowed_addresses; // as in abide_builtin_options; NULL = none
    const char *const *plugins;
    size_t plugin_count;
    const QueueLimit *queues;
    size_t queue_count;
    Mocks *mocks;              // NULL = none
    const EventScript *script; // NULL = none
} RunSetting;

typedef struct RunRequest {
    FlowModule *module;
    uint32_t workflow_index;
    Str source;                // what the module was compiled from
    Str input_json;            // null: undefined
    uint64_t max_steps;        // instructions (on an engine: between two waits); 0: no limit
    uint64_t memory_bytes;     // 0: the default
    const RunSetting *setting; // NULL: an engine only if the program needs one
} RunRequest;

typedef struct RunAnswer { // texts live in the arena
    bool is_completed;
    Str result_json;
    Str error_name;
    Str error_message;
    Str error_stack; // begins with name and message; null when there is none
    Str error_json;  // all that is known of it, as runs keep it; null when there is nothing more
} RunAnswer;

// Not OK: it could not be begun; the Diag says why. How the script ended is in the answer.
MUST_CHECK Status run_program(const RunRequest *request, Arena *arena, RunAnswer *ret_answer,
                              Diag *diag);

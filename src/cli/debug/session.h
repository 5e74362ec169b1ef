// Session: a script under control, in a world of mocks.
//
//   [debug-session-1] A checkpoint is taken wherever the script waits: the machine and the world.
//        Going back restores one, and everything after it is forgotten.
//   [debug-session-2] Breakpoints stand on lines with code. A condition that is not true, or a hit
//        count that is not reached, lets the script go on; so does a log point.
#pragma once
#include "cli/debug/world.h"
#include "flow/debug/debug.h"
#include "flow/evaluate.h"

enum { BREAKPOINTS_MAX = 1000, CHECKPOINTS_MAX = 1000, EVALUATE_BUDGET = 1000000 };

typedef struct Breakpoint { // texts are owned
    uint32_t line;
    FlowExpression *condition; // NULL: always
    uint64_t hits_wanted;      // 0: every time; else from the n-th time on
    uint64_t hits;
    char *log; // "total is {total}"; NULL: stop
} Breakpoint;

typedef struct Checkpoint {
    Buf snapshot;
    WorldState state;
} Checkpoint;

typedef struct SessionSetting {
    FlowModule *module; // retained
    uint32_t workflow_index;
    Str input_json; // null: undefined
    const Mocks *mocks;
    const EventScript *script;
    int64_t start_ms;
    Str run_id; // of the run that it is a copy of; null: none
} SessionSetting;

typedef struct DebugSession {
    Arena *arena; // texts of the world
    SessionSetting setting;
    Str input; // of the present incarnation
    World world;
    FlowVm *vm;
    FlowDebugger *debugger;
    VEC(Checkpoint) history;
    VEC(Breakpoint) breakpoints;
} DebugSession;

typedef enum SessionEvent {
    SESSION_RUNNING,
    SESSION_STOPPED_STEP,
    SESSION_STOPPED_BREAKPOINT,
    SESSION_STOPPED_EXCEPTION,
    SESSION_COMPLETED, // `ret_text` is the result
    SESSION_FAILED,    // `ret_text` is the error
    SESSION_STUCK,     // `ret_text` is what it waits for
} SessionEvent;

MUST_CHECK Status session_open(DebugSession *session, const SessionSetting *setting, Arena *arena,
                               Diag *diag);
void session_close(DebugSession *session);
// For copies of runs: the world's state is that of a wait; the machine of that wait becomes the
// newest place to go back to.
void session_add_place(DebugSession *session, Str vm_snapshot);
FlowVmOptions session_vm_options(DebugSession *session);
// Goes on for a slice of instructions, or until something happens.
SessionEvent session_go(DebugSession *session, Str *ret_text);
// To the last wait before this place. False: there is none, it stands at the beginning now.
bool session_step_back(DebugSession *session);
// To the last wait on a line with a breakpoint, or to the beginning.
bool session_reverse(DebugSession *session);

void session_clear_breakpoints(DebugSession *session);
// Takes the breakpoint over.
void session_add_breakpoint(DebugSession *session, const Breakpoint *breakpoint);
void breakpoint_done(Breakpoint *breakpoint);
// The expression in a frame, as JSON, appended.
MUST_CHECK Status session_evaluate(DebugSession *session, Str text, uint32_t frame, Buf *ret_json,
                                   Diag *diag);

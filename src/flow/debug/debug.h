// Debug: runs a VM under control, and looks into it while it stands.
//
//   [debug-1] A VM is controlled by giving it turns of one instruction with exact counting, and by
//        its throw hook. The interpreter has no code for it on the way of a VM that runs free.
//   [debug-2] Stops are before a statement, at an exception before anything is unwound, or where
//        the VM waits. Code of the prelude is passed over.
//   [debug-3] Frames have the numbers of flow/evaluate.h: 0 is the innermost.
#pragma once
#include "flow/flow.h"

typedef struct FlowDebugger FlowDebugger;

typedef enum FlowDebugMode { // until where it goes on
    DEBUG_CONTINUE,
    DEBUG_STEP_IN,   // the next statement, wherever it is
    DEBUG_STEP_OVER, // the next statement of this function, or its caller
    DEBUG_STEP_OUT,  // the caller
} FlowDebugMode;

typedef enum FlowDebugCatch { // exceptions to stop at
    DEBUG_CATCH_NONE,
    DEBUG_CATCH_UNCAUGHT, // those that no handler is in sight for
    DEBUG_CATCH_ALL
} FlowDebugCatch;

typedef enum FlowDebugStop {
    DEBUG_STOP_NONE,       // the slice is used up: go on
    DEBUG_STOP_STEP,       // where the mode wanted
    DEBUG_STOP_BREAKPOINT, // at a statement of a line with a breakpoint: flow_debug_line
    DEBUG_STOP_EXCEPTION,  // flow_debug_exception
    DEBUG_STOP_TURN_END,   // the VM waits or has ended: see the result
} FlowDebugStop;

// Takes the VM over. It must live as long as the debugger, or be replaced by flow_debug_attach.
FlowDebugger *flow_debug_new(void);
void flow_debug_free(FlowDebugger *debugger); // NULL is fine
void flow_debug_attach(FlowDebugger *debugger, FlowVm *vm);
void flow_debug_catch(FlowDebugger *debugger, FlowDebugCatch what);

// --- lines
// The line itself, or the next one on which a statement begins; 0: there is none.
uint32_t flow_debug_code_line(const FlowModule *module, uint32_t line);
// Whether to stop at statements of that line. Lines without code are never reached.
void flow_debug_set_break(FlowDebugger *debugger, uint32_t line, bool is_set);
void flow_debug_clear_breaks(FlowDebugger *debugger);

// --- going on
void flow_debug_mode(FlowDebugger *debugger, FlowDebugMode mode);
// Executes at most `slice` instructions. `ret_result` is filled for DEBUG_STOP_TURN_END.
FlowDebugStop flow_debug_run(FlowDebugger *debugger, uint32_t slice, FlowRunResult *ret_result);

// Whether the step would have ended here, for a breakpoint at which nobody wants to stop.
bool flow_debug_is_step_done(const FlowDebugger *debugger);

// --- looking
typedef struct FlowDebugFrame {
    Str function;    // in the arena
    uint32_t line;   // from 1; 0: unknown
    uint32_t column; // from 1, in UTF-16 units
} FlowDebugFrame;
// False: there is no such frame.
bool flow_debug_frame(FlowVm *vm, uint32_t number, Arena *arena, FlowDebugFrame *ret_frame);
Str flow_debug_exception(FlowVm *vm, Arena *arena); // as console shows it; null: none is pending

typedef uint64_t FlowDebugRef; // a value with members; valid until the VM goes on

typedef struct FlowDebugValue {
    Str name; // texts are in the arena
    Str text; // as console shows it, shortened
    const char *type;
    FlowDebugRef ref; // 0: it has no members
    uint32_t member_count;
    bool is_indexed; // its members are the items of an array
} FlowDebugValue;

typedef enum FlowDebugScope { DEBUG_SCOPE_LOCAL, DEBUG_SCOPE_CAPTURED } FlowDebugScope;

typedef struct FlowDebugList { // what is listed
    FlowVm *vm;
    Arena *arena;
    uint32_t start; // of the members, those from here
    uint32_t count; // and so many
    void (*visit)(void *context, const FlowDebugValue *value);
    void *context;
} FlowDebugList;

// Variables of a frame: data first, then functions. `start` and `count` are not used.
void flow_debug_variables(const FlowDebugList *list, uint32_t frame, FlowDebugScope scope);
// The input of the run.
void flow_debug_inputs(const FlowDebugList *list);
void flow_debug_members(const FlowDebugList *list, FlowDebugRef ref);
// ERR_NOT_FOUND: there is no such variable, or it has no value yet; ERR_INVALID: not JSON.
MUST_CHECK Status flow_debug_set(FlowVm *vm, uint32_t frame, Str name, Str json, Diag *diag);

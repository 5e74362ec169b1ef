// Stepping: one instruction after the other, with a look at the topmost frame between them.
//
// A function that waits leaves the stack and comes back later as another frame of the same
// coroutine. So a step over an await goes by the identity of the function, not by its depth: the
// coroutine, or, before its first await, the closure.
//
//   [debug-run-1] At least one instruction is executed before a stop, so that going on never stands
//        still.
//   [debug-run-2] An exception is shown once where it is thrown. One that is uncaught is not shown
//        again by the functions that wait for the one that threw.
#include "base/containers/vec.h"
#include "base/memory.h"
#include "flow/code/opcodes.h"
#include "flow/debug/debug.h"
#include "flow/vm/hook.h"

enum { PREDICTION_MAX = 200 }; // promises that are followed to find a handler

typedef struct Origin { // the function that a step began in
    const FlowClosure *closure;
    const FlowCoroutine *coroutine; // NULL: it has not waited yet
    uint32_t depth;                 // frames, while it is on the stack
    bool is_waiting;                // it has left the stack at an await
    bool has_returned;
} Origin;

struct FlowDebugger {
    FlowThrowHook hook; // first: [debug-1]
    FlowVm *vm;
    FlowDebugMode mode;
    FlowDebugCatch catches;
    Origin origin;
    VEC(uint32_t) lines; // with a breakpoint
    bool is_thrown;      // the hook has stopped the turn
    bool is_shown;       // the pending exception was shown [debug-run-2]
    FlowValue uncaught;  // the last one that was shown as such; only compared
};

// ---- exceptions ----

static bool has_handler(const FlowRoutine *routine, uint32_t pc) {
    return flow_routine_handler(routine, pc) != NULL;
}

// Follows who waits for the promise. Whatever is not an await passes a rejection on, unless it has
// a function for it.
static bool is_rejection_caught(const FlowPromise *promise) {
    for (int i = 0; promise && i < PREDICTION_MAX; i++) {
        const FlowReaction *reaction = promise->first;
        if (!reaction) return false;
        if (flow_is_callable(reaction->on_rejected)) return true;
        if (reaction->cell.small == REACTION_COMBINATOR) return true; // decides by itself
        if (reaction->cell.small == REACTION_AWAIT) {
            const FlowCoroutine *coroutine = flow_as_pointer(reaction->target);
            const FlowClosure *closure = flow_as_pointer(coroutine->function);
            if (has_handler(closure->routine, coroutine->pc)) return true;
            promise = coroutine->promise;
        } else {
            bool is_derived = flow_is_kind(reaction->promise, KIND_PROMISE);
            promise = is_derived ? flow_as_pointer(reaction->promise) : NULL;
        }
    }
    return false;
}

static bool is_caught(const FlowVm *vm) {
    for (uint32_t i = vm->frame_count; i-- > 0;) {
        const FlowFrame *frame = &vm->frames[i];
        if (frame->kind != FRAME_SCRIPT) continue;
        if (frame->pc > 0 && has_handler(frame->closure->routine, frame->pc - 1)) return true;
        if (frame->flags & FRAME_ASYNC && frame->coroutine)
            return is_rejection_caught(frame->coroutine->promise);
    }
    return false;
}

static bool hook_stops(FlowThrowHook *hook, FlowVm *vm) {
    FlowDebugger *debugger = (FlowDebugger *)(void *)hook;
    if (debugger->is_shown || debugger->catches == DEBUG_CATCH_NONE) {
        debugger->is_shown = false;
        return false;
    }
    if (debugger->catches == DEBUG_CATCH_UNCAUGHT) {
        bool is_same = debugger->uncaught.bits == vm->exception.bits;
        if (is_same || is_caught(vm)) return false;
        debugger->uncaught = vm->exception;
    }
    debugger->is_shown = debugger->is_thrown = true;
    return true;
}

// ---- life ----

FlowDebugger *flow_debug_new(void) {
    FlowDebugger *debugger = mem_zalloc(sizeof *debugger);
    debugger->hook.stops = hook_stops;
    debugger->uncaught = FLOW_HOLE;
    return debugger;
}

void flow_debug_free(FlowDebugger *debugger) {
    if (!debugger) return;
    vec_free(&debugger->lines);
    mem_free(debugger);
}

void flow_debug_attach(FlowDebugger *debugger, FlowVm *vm) {
    debugger->vm = vm;
    debugger->is_shown = debugger->is_thrown = false;
    vm->limits.is_exact = 1;
    vm->throw_hook = &debugger->hook;
}

void flow_debug_catch(FlowDebugger *debugger, FlowDebugCatch what) { debugger->catches = what; }

void flow_debug_clear_breaks(FlowDebugger *debugger) { vec_clear(&debugger->lines); }

static bool has_break(const FlowDebugger *debugger, uint32_t line) {
    for (size_t i = 0; i < debugger->lines.count; i++)
        if (debugger->lines.data[i] == line) return true;
    return false;
}

void flow_debug_set_break(FlowDebugger *debugger, uint32_t line, bool is_set) {
    for (size_t i = debugger->lines.count; i-- > 0;)
        if (debugger->lines.data[i] == line)
            debugger->lines.data[i] = debugger->lines.data[--debugger->lines.count];
    if (is_set) vec_push(&debugger->lines, line);
}

// ---- stepping ----

// The topmost frame when it is one of the script; NULL otherwise.
static FlowFrame *script_frame(const FlowVm *vm) {
    if (vm->frame_count == 0) return NULL;
    FlowFrame *frame = &vm->frames[vm->frame_count - 1];
    if (frame->kind != FRAME_SCRIPT) return NULL;
    return frame->closure->routine->flags & ROUTINE_PRELUDE ? NULL : frame;
}

// The statement that begins at the frame's next instruction; NULL: none does.
static const FlowLine *statement_at(const FlowFrame *frame) {
    const FlowRoutine *routine = frame->closure->routine;
    uint32_t low = 0, high = routine->statement_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (routine->statements[middle].pc < frame->pc) low = middle + 1;
        else high = middle;
    }
    bool is_it = low < routine->statement_count && routine->statements[low].pc == frame->pc;
    return is_it ? &routine->statements[low] : NULL;
}

void flow_debug_mode(FlowDebugger *debugger, FlowDebugMode mode) {
    FlowVm *vm = debugger->vm;
    const FlowFrame *frame = script_frame(vm);
    debugger->mode = mode;
    debugger->origin = (Origin){0};
    if (frame)
        debugger->origin = (Origin){
            .closure = frame->closure, .coroutine = frame->coroutine, .depth = vm->frame_count};
    else debugger->origin.has_returned = true; // it waits: whatever comes next
}

static bool is_origin(const Origin *origin, const FlowFrame *frame) {
    return frame->closure == origin->closure &&
           (!origin->coroutine || origin->coroutine == frame->coroutine);
}

static bool is_await(const FlowFrame *frame) {
    const FlowInstruction *next = &frame->closure->routine->code[frame->pc];
    FlowOp op = flow_op_base(next->op);
    return op == OP_AWAIT || op == OP_YIELD;
}

// Before an instruction: notes that the function is about to leave the stack.
static void watch_origin(FlowDebugger *debugger) {
    Origin *origin = &debugger->origin;
    const FlowFrame *frame = script_frame(debugger->vm);
    if (!frame || origin->is_waiting || origin->has_returned) return;
    bool is_there = debugger->vm->frame_count == origin->depth && is_origin(origin, frame);
    if (is_there && is_await(frame)) origin->is_waiting = true;
}

// After an instruction: where the function is now.
static void find_origin(FlowDebugger *debugger) {
    Origin *origin = &debugger->origin;
    const FlowVm *vm = debugger->vm;
    const FlowFrame *frame = script_frame(vm);
    if (origin->is_waiting) {
        if (!frame || !is_origin(origin, frame) || !frame->coroutine) return;
        origin->coroutine = frame->coroutine;
        origin->depth = vm->frame_count;
        origin->is_waiting = false;
    } else if (vm->frame_count < origin->depth) {
        origin->has_returned = true;
    }
}

static bool is_step_done(const FlowDebugger *debugger, const FlowFrame *frame) {
    const Origin *origin = &debugger->origin;
    bool is_here = !origin->is_waiting && debugger->vm->frame_count == origin->depth;
    switch (debugger->mode) {
    case DEBUG_CONTINUE: return false;
    case DEBUG_STEP_IN: return statement_at(frame) != NULL;
    case DEBUG_STEP_OVER: return origin->has_returned || (is_here && statement_at(frame));
    case DEBUG_STEP_OUT: return origin->has_returned;
    }
    UNREACHABLE();
}

bool flow_debug_is_step_done(const FlowDebugger *debugger) {
    const FlowFrame *frame = script_frame(debugger->vm);
    return frame && is_step_done(debugger, frame);
}

static FlowDebugStop look(FlowDebugger *debugger) {
    const FlowFrame *frame = script_frame(debugger->vm);
    if (!frame) return DEBUG_STOP_NONE;
    const FlowLine *statement = statement_at(frame);
    if (statement && has_break(debugger, statement->line)) return DEBUG_STOP_BREAKPOINT;
    return is_step_done(debugger, frame) ? DEBUG_STOP_STEP : DEBUG_STOP_NONE;
}

FlowDebugStop flow_debug_run(FlowDebugger *debugger, uint32_t slice, FlowRunResult *ret_result) {
    FlowVm *vm = debugger->vm;
    uint64_t limit = vm->limits.instructions_per_turn;
    FlowDebugStop stop = DEBUG_STOP_NONE;
    vm->limits.instructions_per_turn = 1; // [debug-1]
    for (uint32_t i = 0; i < slice && stop == DEBUG_STOP_NONE; i++) {
        watch_origin(debugger);
        debugger->is_thrown = false;
        flow_vm_run(vm, ret_result); // [debug-run-1]
        find_origin(debugger);
        if (ret_result->outcome != FLOW_PREEMPTED) stop = DEBUG_STOP_TURN_END;
        else if (debugger->is_thrown) stop = DEBUG_STOP_EXCEPTION;
        else stop = look(debugger);
    }
    vm->limits.instructions_per_turn = limit;
    return stop;
}

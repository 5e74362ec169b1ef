// Copies of frames that an exception has left.
//
// Invariants [unwound-1], [unwound-2] are in unwound.h.
//
// Not here: unwinding (call.c), showing them (snapshot/inspect.c).
#include "flow/vm/unwound.h"
#include "base/memory.h"

void flow_unwound_note(FlowVm *vm, const FlowFrame *frame) {
    if (frame->kind != FRAME_SCRIPT || frame->closure->routine->flags & ROUTINE_PRELUDE) return;
    if (!vm->unwound) {
        vm->unwound = mem_alloc(sizeof *vm->unwound);
        vm->unwound->error = FLOW_HOLE;
    }
    FlowUnwound *unwound = vm->unwound;
    if (unwound->error.bits != vm->exception.bits) { // [unwound-1]
        unwound->error = vm->exception;
        unwound->frame_count = unwound->value_count = 0;
    }
    if (unwound->frame_count == UNWOUND_FRAMES) return; // [unwound-2]
    const FlowRoutine *routine = frame->closure->routine;
    uint32_t count = routine->register_count;
    uint32_t room = UNWOUND_VALUES - unwound->value_count;
    if (frame->base + count > vm->stack_top) count = vm->stack_top - frame->base;
    if (count > room) count = room;
    memcpy(unwound->values + unwound->value_count, vm->stack + frame->base,
           count * sizeof(FlowValue));
    bool is_thrown_on = vm->caught_bits == vm->exception.bits && vm->caught_routine == routine &&
                        vm->caught_frame == vm->frame_count;
    unwound->frames[unwound->frame_count++] = (FlowUnwoundFrame){
        .routine = routine,
        .pc = is_thrown_on ? vm->caught_pc
              : frame->pc  ? frame->pc - 1
                           : 0,
        .first = unwound->value_count,
        .count = count,
    };
    unwound->value_count += count;
}

void flow_unwound_mark(FlowVm *vm) {
    if (!vm->unwound) return;
    flow_heap_mark(&vm->heap, vm->unwound->error);
    for (uint32_t i = 0; i < vm->unwound->value_count; i++)
        flow_heap_mark(&vm->heap, vm->unwound->values[i]);
}

void flow_unwound_drop(FlowVm *vm) {
    mem_free(vm->unwound);
    vm->unwound = NULL;
}

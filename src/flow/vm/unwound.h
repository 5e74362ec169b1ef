// Unwound: the frames that an exception has left behind, for people who ask why a run failed.
//
// A frame is gone when an exception leaves it, and only at the end of the turn is it known that
// nobody caught it. So a frame that is taken off by an exception leaves a copy of its registers
// here; one that handles the exception itself costs nothing.
//
//   [unwound-1] What is kept belongs to one thrown value: another one that is thrown replaces it.
//   [unwound-2] It is bounded, belongs to one turn, and is no part of a snapshot.
#pragma once
#include "flow/vm/vm.h"

enum { UNWOUND_FRAMES = 16, UNWOUND_VALUES = 512 };

typedef struct FlowUnwoundFrame {
    const FlowRoutine *routine;
    uint32_t pc;    // of the instruction that threw or called
    uint32_t first; // register in `values`
    uint32_t count;
} FlowUnwoundFrame;

typedef struct FlowUnwound {
    FlowValue error;
    uint32_t frame_count; // the innermost first
    uint32_t value_count;
    FlowUnwoundFrame frames[UNWOUND_FRAMES];
    FlowValue values[UNWOUND_VALUES];
} FlowUnwound;

// The frame is about to be taken off by vm->exception.
void flow_unwound_note(FlowVm *vm, const FlowFrame *frame);
// The frame handles vm->exception. It may throw it on: a loop that closes its iterator does.
static inline void flow_unwound_catch(FlowVm *vm, const FlowFrame *frame) {
    const FlowRoutine *routine = frame->closure->routine;
    bool is_same = vm->caught_bits == vm->exception.bits && vm->caught_routine == routine &&
                   vm->caught_frame == vm->frame_count;
    if (is_same) return;
    vm->caught_bits = vm->exception.bits;
    vm->caught_frame = vm->frame_count;
    vm->caught_routine = routine;
    vm->caught_pc = frame->pc - 1;
}
void flow_unwound_mark(FlowVm *vm); // for the collector
void flow_unwound_drop(FlowVm *vm);

// What the files of this room share: where values are.
#pragma once
#include "flow/code/code.h"
#include "flow/mask/mask.h"
#include "flow/value/table.h"

typedef struct MaskSlots { // values at equal distances
    void *first;
    uint32_t count;
    size_t stride;
} MaskSlots;

static inline FlowValue *mask_slot(const MaskSlots *slots, uint32_t index) {
    return (FlowValue *)(void *)((char *)slots->first + index * slots->stride);
}

typedef struct MaskVariables { // of a function that stands somewhere
    const FlowRoutine *routine;
    FlowValue *registers;
    uint32_t count;
    uint32_t pc;
} MaskVariables;

// The table of a Map or Set; else NULL.
FlowTable *mask_table(const FlowObject *object);
MaskSlots mask_elements(const FlowObject *object);
// False: it is no coroutine that stands somewhere.
bool mask_coroutine(FlowCell *cell, MaskVariables *ret);
// The frames of the stack, then those that an exception has left. False: there are no more. One of
// another kind has no registers.
bool mask_frame(FlowVm *vm, uint32_t index, MaskVariables *ret);

void mask_begin(FlowMasked *masked, FlowVm *vm);
void mask_find(FlowMasked *masked);

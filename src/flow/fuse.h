// Fusing: see fuse.c.
#pragma once
#include "flow/code.h"

// Once, on a sealed and verified module that nobody runs yet.
void flow_fuse(FlowModule *module);
// The opcode of `i`, which is not the last instruction, in view of the ones that follow.
uint16_t flow_fused_op(const FlowInstruction *i);

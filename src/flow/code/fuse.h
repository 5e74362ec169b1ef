// Fusing: see fuse.c.
#pragma once
#include "flow/code/code.h"

// Once, on a sealed and verified module that nobody runs yet.
void flow_fuse(FlowModule *module);
// The opcode of `i` in view of those that follow; `left` instructions from `i` on, at least two.
uint16_t flow_fused_op(const FlowInstruction *i, uint32_t left);

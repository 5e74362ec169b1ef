// Fusing: gives the first instruction of frequent sequences an opcode that does the whole of them.
//
// An interpreter spends much of its time on getting from one instruction to the next; the loops,
// calls and callbacks that scripts are made of begin with the same few sequences everywhere.
//
//   [fuse-1] Only opcodes change, and only to ones of FLOW_FUSED (opcodes.h). The code's checksum
//        was taken before, so snapshots do not depend on what is fused.
//   [fuse-2] Nothing looks at the opcode of a first instruction but the interpreter's dispatch.
//
// Not here: what fused instructions do (interp.c).
#include "flow/code/fuse.h"
#include "flow/code/opcodes.h"

static bool is_callee(const FlowInstruction *i) {
    return i[1].op == OP_LOAD_UNDEFINED && i[1].a == i->a + 1;
}

// MOVEs that fill a call block, and its CALL: how many registers the block has, 0 when it is none.
static uint32_t moved_block(const FlowInstruction *i, uint32_t left) {
    for (uint32_t count = 0; count < left; count++) {
        if (i[count].op == OP_CALL) {
            return i[count].a == i->a && i[count].b + 2u == count ? count : 0;
        }
        if (flow_op_base(i[count].op) != OP_MOVE || i[count].a != i->a + count) return 0;
    }
    return 0;
}

uint16_t flow_fused_op(const FlowInstruction *i, uint32_t left) {
    const FlowInstruction *next = i + 1;
    uint16_t op = flow_op_base(i->op);
    uint16_t then = flow_op_base(next->op);
    switch (op) {
    case OP_MOVE:
        if (then == OP_GET_FIELD) return OP_MOVE_FIELD;
        if (moved_block(i, left) == 5) return OP_MOVE_CALL_5;
        if (moved_block(i, left) == 6) return OP_MOVE_CALL_6;
        return then == OP_MOVE ? OP_MOVES : op;
    case OP_GET_UPVALUE: return is_callee(i) ? OP_UPVALUE_CALLEE : op;
    case OP_LOAD_UPVALUE: return is_callee(i) ? OP_VALUE_CALLEE : op;
    case OP_INCREMENT:
        if (i->a != i->b || next->a != i->a) return op;
        if (then == OP_JUMP_LT) return OP_INCREMENT_LT;
        return then == OP_JUMP_LT_INT ? OP_INCREMENT_LT_INT : op;
    case OP_GET_LENGTH: return then == OP_JUMP_LT && next->b == i->a ? OP_LENGTH_LT : op;
    case OP_GET_ELEMENT:
        return then == OP_JUMP_IF_NOT_UNDEFINED && next->a == i->a ? OP_ELEMENT_DEFINED : op;
    default: return op;
    }
}

void flow_fuse(FlowModule *module) {
    for (uint32_t i = 0; i < module->routine_count; i++) {
        const FlowRoutine *routine = &module->routines[i];
        FlowInstruction *code = (FlowInstruction *)(uintptr_t)routine->code; // nobody runs it yet
        for (uint32_t pc = 0; pc + 1 < routine->code_count; pc++) {
            code[pc].op = flow_fused_op(&code[pc], routine->code_count - pc);
        }
    }
}

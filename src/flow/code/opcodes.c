// Opcodes: the table made from the list in opcodes.h.
//
// The compiler asks it which jumps are near, the verifier which operand must be in which range,
// the disassembler for names. The interpreter has its own table of addresses, made from the same
// list in the same order.

#include "flow/code/opcodes.h"

const FlowOpInfo flow_op_info[OP_COUNT] = {
#define OP(NAME, A, B, C, MEANING) {#NAME, OPERAND_##A, OPERAND_##B, OPERAND_##C, MEANING},
    FLOW_OPCODES(OP)
#undef OP
};

uint16_t flow_op_base(uint16_t op) {
    switch (op) {
#define OP(NAME, BASE, MEANING)                                                                    \
    case OP_##NAME: return OP_##BASE;
        FLOW_FUSED(OP)
#undef OP
    default: return op;
    }
}

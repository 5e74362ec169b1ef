// Opcodes: the table made from the list in opcodes.h, for the verifier and the disassembler.

#include "flow/opcodes.h"

const FlowOpInfo flow_op_info[OP_COUNT] = {
#define OP(NAME, A, B, C, MEANING) {#NAME, OPERAND_##A, OPERAND_##B, OPERAND_##C, MEANING},
    FLOW_OPCODES(OP)
#undef OP
};

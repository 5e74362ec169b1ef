// Emission: instructions, jumps that wait for their target, source positions.
//
//   [emit-1] A jump belongs to exactly one list until the list is patched.
//   [emit-2] In far mode a NEAR jump is only ever used to skip one JUMP: the distance always fits.
//   [emit-3] Positions are noted as byte offsets; they become lines and columns when the routine is
//        finished.

#include "flow/compile/nodes.h"

uint32_t emit_here(const FlowCompiler *c) { return (uint32_t)c->code.count; }

uint32_t emit_abc(FlowCompiler *c, FlowOp op, uint32_t a, uint32_t b, uint32_t cc) {
    FlowInstruction instruction = {.op = (uint16_t)op, .a = (uint16_t)a};
    instruction.b = (uint16_t)b;
    instruction.c = (uint16_t)cc;
    vec_push(&c->code, instruction);
    return (uint32_t)c->code.count - 1;
}

uint32_t emit_wide(FlowCompiler *c, FlowOp op, uint32_t a, int32_t wide) {
    FlowInstruction instruction = {.op = (uint16_t)op, .a = (uint16_t)a};
    instruction.wide = wide;
    vec_push(&c->code, instruction);
    return (uint32_t)c->code.count - 1;
}

void emit_position(FlowCompiler *c, uint32_t offset) {
    if (c->positions.count > 0) {
        PositionNote *last = &vec_last(&c->positions);
        if (last->offset == offset) return;
        if (last->pc == emit_here(c)) {
            last->offset = offset;
            return;
        }
    }
    vec_push(&c->positions, (PositionNote){emit_here(c), offset});
}

// Of several that begin at one instruction the innermost one counts: it is the last.
void emit_statement(FlowCompiler *c, const FlowNode *node) {
    PositionNote note = {emit_here(c), node->start};
    if (c->statements.count > 0 && vec_last(&c->statements).pc == note.pc)
        vec_last(&c->statements) = note;
    else vec_push(&c->statements, note);
}

void emit_description(FlowCompiler *c, const FlowNode *node) {
    if (node) emit_description_text(c, describe_node(c, node));
}

void emit_description_text(FlowCompiler *c, FlowValue text) {
    vec_push(&c->descriptions, (FlowDescription){emit_here(c), text});
}

void emit_move(FlowCompiler *c, Register to, Register from) {
    if (to != from) emit_abc(c, OP_MOVE, to, from, 0);
}

void jump_add(FlowCompiler *c, JumpList *list, uint32_t pc) {
    vec_push(&c->jumps, (PositionNote){pc, list->head});
    list->head = (uint32_t)c->jumps.count;
}

void emit_jump(FlowCompiler *c, JumpList *list) { jump_add(c, list, emit_wide(c, OP_JUMP, 0, 0)); }

void emit_jump_if(FlowCompiler *c, FlowOp op, Register reg, JumpList *list) {
    jump_add(c, list, emit_wide(c, op, reg, 0));
}

static FlowOp compare_inverse(FlowOp op) {
    switch (op) {
    case OP_JUMP_EQ: return OP_JUMP_NE;
    case OP_JUMP_NE: return OP_JUMP_EQ;
    case OP_JUMP_STRICT_EQ: return OP_JUMP_STRICT_NE;
    case OP_JUMP_STRICT_NE: return OP_JUMP_STRICT_EQ;
    case OP_JUMP_STRICT_EQ_INT: return OP_JUMP_STRICT_NE_INT;
    case OP_JUMP_STRICT_NE_INT: return OP_JUMP_STRICT_EQ_INT;
    case OP_JUMP_LT: return OP_JUMP_NOT_LT;
    case OP_JUMP_NOT_LT: return OP_JUMP_LT;
    case OP_JUMP_LE: return OP_JUMP_NOT_LE;
    case OP_JUMP_NOT_LE: return OP_JUMP_LE;
    case OP_JUMP_GT: return OP_JUMP_NOT_GT;
    case OP_JUMP_NOT_GT: return OP_JUMP_GT;
    case OP_JUMP_GE: return OP_JUMP_NOT_GE;
    case OP_JUMP_NOT_GE: return OP_JUMP_GE;
    case OP_JUMP_LT_INT: return OP_JUMP_NOT_LT_INT;
    case OP_JUMP_NOT_LT_INT: return OP_JUMP_LT_INT;
    case OP_JUMP_LE_INT: return OP_JUMP_NOT_LE_INT;
    case OP_JUMP_NOT_LE_INT: return OP_JUMP_LE_INT;
    case OP_JUMP_GT_INT: return OP_JUMP_NOT_GT_INT;
    case OP_JUMP_NOT_GT_INT: return OP_JUMP_GT_INT;
    case OP_JUMP_GE_INT: return OP_JUMP_NOT_GE_INT;
    case OP_JUMP_NOT_GE_INT: return OP_JUMP_GE_INT;
    default: UNREACHABLE();
    }
}

void emit_compare(FlowCompiler *c, FlowOp op, uint32_t a, uint32_t b, JumpList *list) {
    if (!c->is_far) {
        jump_add(c, list, emit_abc(c, op, a, b, 0));
        return;
    }
    emit_abc(c, compare_inverse(op), a, b, 1); // [emit-2]
    emit_jump(c, list);
}

void emit_jump_back(FlowCompiler *c, uint32_t target) {
    emit_wide(c, OP_JUMP, 0, (int32_t)target - (int32_t)emit_here(c) - 1);
}

void jump_patch(FlowCompiler *c, JumpList *list, uint32_t target) {
    while (list->head) {
        PositionNote jump = c->jumps.data[list->head - 1];
        list->head = jump.offset;
        FlowInstruction *instruction = &c->code.data[jump.pc];
        int32_t distance = (int32_t)target - (int32_t)jump.pc - 1;
        if (flow_op_info[instruction->op].c != OPERAND_NEAR) {
            instruction->wide = distance;
        } else if (distance >= -NEAR_MAX && distance <= NEAR_MAX) {
            instruction->c = (uint16_t)(int16_t)distance;
        } else {
            c->needs_far = true;
        }
    }
}

void jump_patch_here(FlowCompiler *c, JumpList *list) {
    if (list->head) jump_patch(c, list, emit_here(c));
}

void compile_limit(FlowCompiler *c, uint32_t offset, const char *what) {
    if (c->has_failed) return;
    c->has_failed = true;
    if (offset == NO_OFFSET) offset = c->function ? c->function->start : 0;
    FlowFinding finding = {.code = FLOW_ERROR_LIMIT,
                           .severity = FLOW_SEVERITY_ERROR,
                           .start = offset,
                           .end = offset,
                           .hint = "split the function into smaller ones"};
    flow_report_add(c->report, &finding, "this function has too many %s", what);
}

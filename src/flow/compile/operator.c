// Operators and conditions.
//
//   [operator-1] Operands are evaluated left to right. A left operand that lives in a variable is
//        read where it is, unless the right operand may assign that variable (node_may_assign).
//   [operator-2] A condition jumps on the comparison itself; no boolean is made.

#include "flow/compile/nodes.h"

enum { ASSIGN_SCAN_MAX = 64 }; // nodes looked at before the answer is "perhaps"

static bool scan_node(const FlowNode *node, const FlowVariable *variable, int *budget);

static bool scan_list(const FlowNodeList *list, const FlowVariable *variable, int *budget) {
    for (uint32_t i = 0; i < list->count; i++)
        if (list->items[i] && scan_node(list->items[i], variable, budget)) return true;
    return false;
}

static bool scan_node(const FlowNode *node, const FlowVariable *variable, int *budget) {
    if (--*budget < 0) return true;
    switch (node->kind) {
    case NODE_NULL:
    case NODE_TRUE:
    case NODE_FALSE:
    case NODE_NUMBER:
    case NODE_BIGINT:
    case NODE_STRING:
    case NODE_REGEXP:
    case NODE_FUNCTION: // a closure reaches captured variables only, and those are in boxes
    case NODE_IDENTIFIER:
    case NODE_THIS:
    case NODE_NEW_TARGET:
    case NODE_PRIVATE_NAME: return false;
    case NODE_TEMPLATE: return scan_list(&node->template.expressions, variable, budget);
    case NODE_ARRAY:
    case NODE_OBJECT:
    case NODE_SEQUENCE: return scan_list(&node->list, variable, budget);
    case NODE_UNARY:
    case NODE_OPTIONAL_CHAIN:
    case NODE_SPREAD:
    case NODE_AWAIT: return scan_node(node->unary.operand, variable, budget);
    case NODE_BINARY:
    case NODE_LOGICAL:
    case NODE_INDEX:
    case NODE_PRIVATE_MEMBER:
        return scan_node(node->binary.left, variable, budget) ||
               scan_node(node->binary.right, variable, budget);
    case NODE_MEMBER: return scan_node(node->member.object, variable, budget);
    case NODE_CONDITIONAL:
        return scan_node(node->conditional.test, variable, budget) ||
               scan_node(node->conditional.consequent, variable, budget) ||
               scan_node(node->conditional.alternate, variable, budget);
    case NODE_CALL:
    case NODE_NEW:
        return scan_node(node->call.callee, variable, budget) ||
               scan_list(&node->call.arguments, variable, budget);
    case NODE_PROPERTY:
        return scan_node(node->property.key, variable, budget) ||
               scan_node(node->property.value, variable, budget);
    case NODE_UPDATE:
        if (node->unary.operand->kind == NODE_IDENTIFIER)
            return node->unary.operand->reference.to.variable == variable;
        return scan_node(node->unary.operand, variable, budget);
    case NODE_ASSIGN:
        if (node->binary.left->kind == NODE_IDENTIFIER &&
            node->binary.left->reference.to.variable != variable)
            return scan_node(node->binary.right, variable, budget);
        return true;
    default: return true;
    }
}

bool node_may_assign(const FlowNode *node, const FlowVariable *variable) {
    int budget = ASSIGN_SCAN_MAX;
    return scan_node(node, variable, &budget);
}

static FlowOp binary_op(FlowOperator op) {
    switch (op) {
    case OPERATOR_ADD: return OP_ADD;
    case OPERATOR_SUBTRACT: return OP_SUB;
    case OPERATOR_MULTIPLY: return OP_MUL;
    case OPERATOR_DIVIDE: return OP_DIV;
    case OPERATOR_REMAINDER: return OP_MOD;
    case OPERATOR_POWER: return OP_EXP;
    case OPERATOR_SHIFT_LEFT: return OP_SHL;
    case OPERATOR_SHIFT_RIGHT: return OP_SHR;
    case OPERATOR_SHIFT_RIGHT_UNSIGNED: return OP_USHR;
    case OPERATOR_BIT_AND: return OP_BIT_AND;
    case OPERATOR_BIT_OR: return OP_BIT_OR;
    case OPERATOR_BIT_XOR: return OP_BIT_XOR;
    case OPERATOR_EQUAL: return OP_EQ;
    case OPERATOR_NOT_EQUAL: return OP_NE;
    case OPERATOR_STRICT_EQUAL: return OP_STRICT_EQ;
    case OPERATOR_STRICT_NOT_EQUAL: return OP_STRICT_NE;
    case OPERATOR_LESS: return OP_LT;
    case OPERATOR_LESS_EQUAL: return OP_LE;
    case OPERATOR_GREATER: return OP_GT;
    case OPERATOR_GREATER_EQUAL: return OP_GE;
    case OPERATOR_INSTANCEOF: return OP_INSTANCEOF;
    case OPERATOR_IN: return OP_IN;
    default: UNREACHABLE();
    }
}

// The form with an immediate on the right; OP_NOP when there is none.
static FlowOp immediate_op(FlowOperator op) {
    switch (op) {
    case OPERATOR_ADD: return OP_ADD_INT;
    case OPERATOR_SUBTRACT: return OP_SUB_INT;
    case OPERATOR_MULTIPLY: return OP_MUL_INT;
    case OPERATOR_REMAINDER: return OP_MOD_INT;
    case OPERATOR_BIT_AND: return OP_BIT_AND_INT;
    case OPERATOR_BIT_OR: return OP_BIT_OR_INT;
    case OPERATOR_SHIFT_LEFT: return OP_SHL_INT;
    case OPERATOR_SHIFT_RIGHT: return OP_SHR_INT;
    case OPERATOR_SHIFT_RIGHT_UNSIGNED: return OP_USHR_INT;
    default: return OP_NOP;
    }
}

void compile_arithmetic(FlowCompiler *c, Arithmetic what, Register dst) {
    int32_t immediate;
    Register mark = c->top;
    FlowOp op = immediate_op(what.op);
    if (op != OP_NOP && node_is_short_int(what.right, &immediate)) {
        emit_position(c, what.at);
        emit_abc(c, op, dst, what.left, (uint16_t)(int16_t)immediate);
        return;
    }
    Register right = compile_any(c, what.right);
    emit_position(c, what.at);
    emit_abc(c, binary_op(what.op), dst, what.left, right);
    c->top = mark;
}

static bool operator_commutes(uint8_t op) { // with a number literal on the left
    return op == OPERATOR_MULTIPLY || op == OPERATOR_BIT_AND || op == OPERATOR_BIT_OR;
}

void compile_binary(FlowCompiler *c, FlowNode *node, Register dst) {
    int32_t immediate;
    FlowNode *left = node->binary.left;
    FlowNode *right = node->binary.right;
    if (operator_commutes(node->op) && node_is_short_int(left, &immediate)) {
        FlowNode *other = left;
        left = right;
        right = other;
    }
    Register first = compile_stable(c, left, right);
    compile_arithmetic(c, (Arithmetic){(FlowOperator)node->op, first, right, node->at}, dst);
}

void compile_binary_chain(FlowCompiler *c, FlowNode *node, Register dst) {
    Register total = register_scratch(c, dst);
    Register left = compile_stable(c, node->chain.first, node->chain.links[0].operand);
    for (uint32_t i = 0; i < node->chain.count; i++) {
        FlowChainLink *link = &node->chain.links[i];
        bool is_last = i + 1 == node->chain.count;
        Arithmetic what = {(FlowOperator)link->op, left, link->operand, link->at};
        compile_arithmetic(c, what, is_last ? dst : total);
        left = total;
    }
}

static void compile_typeof(FlowCompiler *c, FlowNode *node, Register dst) {
    FlowNode *operand = node->unary.operand;
    if (operand->kind == NODE_IDENTIFIER && !operand->reference.to.variable) {
        emit_abc(c, OP_TYPEOF_GLOBAL, dst, 0, site_global(c, operand->reference.name));
        return;
    }
    Register value = compile_any(c, operand);
    emit_abc(c, OP_TYPEOF, dst, value, 0);
}

void compile_unary(FlowCompiler *c, FlowNode *node, Register dst) {
    FlowOp op = OP_NOT;
    switch (node->op) {
    case OPERATOR_TYPEOF: compile_typeof(c, node, dst); return;
    case OPERATOR_DELETE: compile_delete(c, node, dst); return;
    case OPERATOR_VOID:
        compile_discard(c, node->unary.operand);
        emit_abc(c, OP_LOAD_UNDEFINED, dst, 0, 0);
        return;
    case OPERATOR_NEGATE: op = OP_NEGATE; break;
    case OPERATOR_PLUS: op = OP_TO_NUMBER; break;
    case OPERATOR_BIT_NOT: op = OP_BIT_NOT; break;
    default: break;
    }
    Register operand = compile_any(c, node->unary.operand);
    emit_position(c, node->at);
    emit_abc(c, op, dst, operand, 0);
}

static FlowOp logical_jump(uint8_t op) {
    if (op == OPERATOR_LOGICAL_AND) return OP_JUMP_IF_FALSE;
    if (op == OPERATOR_LOGICAL_OR) return OP_JUMP_IF_TRUE;
    return OP_JUMP_IF_NOT_NULLISH;
}

void compile_logical(FlowCompiler *c, FlowNode *node, Register dst) {
    JumpList end = {0};
    Register value = register_scratch(c, dst); // [compile-internal-1]
    if (node->kind == NODE_LOGICAL) {
        compile_expression(c, node->binary.left, value);
        emit_jump_if(c, logical_jump(node->op), value, &end);
        compile_expression(c, node->binary.right, value);
    } else {
        compile_expression(c, node->chain.first, value);
        for (uint32_t i = 0; i < node->chain.count; i++) {
            emit_jump_if(c, logical_jump(node->op), value, &end);
            compile_expression(c, node->chain.links[i].operand, value);
        }
    }
    jump_patch_here(c, &end);
    emit_move(c, dst, value);
}

// --- conditions
typedef struct CompareOps { // the jump when the comparison holds, and when it does not
    FlowOp holds;
    FlowOp fails;
    FlowOp holds_int;
    FlowOp fails_int;
} CompareOps;

static bool compare_ops(uint8_t op, CompareOps *ret) {
    switch (op) {
    case OPERATOR_LESS:
        *ret = (CompareOps){OP_JUMP_LT, OP_JUMP_NOT_LT, OP_JUMP_LT_INT, OP_JUMP_NOT_LT_INT};
        return true;
    case OPERATOR_LESS_EQUAL:
        *ret = (CompareOps){OP_JUMP_LE, OP_JUMP_NOT_LE, OP_JUMP_LE_INT, OP_JUMP_NOT_LE_INT};
        return true;
    case OPERATOR_GREATER:
        *ret = (CompareOps){OP_JUMP_GT, OP_JUMP_NOT_GT, OP_JUMP_GT_INT, OP_JUMP_NOT_GT_INT};
        return true;
    case OPERATOR_GREATER_EQUAL:
        *ret = (CompareOps){OP_JUMP_GE, OP_JUMP_NOT_GE, OP_JUMP_GE_INT, OP_JUMP_NOT_GE_INT};
        return true;
    case OPERATOR_EQUAL: *ret = (CompareOps){OP_JUMP_EQ, OP_JUMP_NE, OP_NOP, OP_NOP}; return true;
    case OPERATOR_NOT_EQUAL:
        *ret = (CompareOps){OP_JUMP_NE, OP_JUMP_EQ, OP_NOP, OP_NOP};
        return true;
    case OPERATOR_STRICT_EQUAL:
        *ret = (CompareOps){OP_JUMP_STRICT_EQ, OP_JUMP_STRICT_NE, OP_JUMP_STRICT_EQ_INT,
                            OP_JUMP_STRICT_NE_INT};
        return true;
    case OPERATOR_STRICT_NOT_EQUAL:
        *ret = (CompareOps){OP_JUMP_STRICT_NE, OP_JUMP_STRICT_EQ, OP_JUMP_STRICT_NE_INT,
                            OP_JUMP_STRICT_EQ_INT};
        return true;
    default: return false;
    }
}

// x == null, x === undefined and their negations test the register itself.
static FlowOp nullish_jump(FlowCompiler *c, const FlowNode *node, bool sense) {
    FlowValue value;
    if (!constant_of(c, node->binary.right, &value)) return OP_NOP;
    if (node->op == OPERATOR_NOT_EQUAL || node->op == OPERATOR_STRICT_NOT_EQUAL) sense = !sense;
    bool is_loose = node->op == OPERATOR_EQUAL || node->op == OPERATOR_NOT_EQUAL;
    bool is_strict = node->op == OPERATOR_STRICT_EQUAL || node->op == OPERATOR_STRICT_NOT_EQUAL;
    if (is_loose && flow_is_nullish(value))
        return sense ? OP_JUMP_IF_NULLISH : OP_JUMP_IF_NOT_NULLISH;
    if (is_strict && flow_is_undefined(value))
        return sense ? OP_JUMP_IF_UNDEFINED : OP_JUMP_IF_NOT_UNDEFINED;
    return OP_NOP;
}

static bool compile_comparison(FlowCompiler *c, FlowNode *node, bool sense, JumpList *list) {
    CompareOps ops;
    int32_t immediate;
    if (!compare_ops(node->op, &ops)) return false;
    FlowOp op = nullish_jump(c, node, sense);
    if (op != OP_NOP) {
        emit_jump_if(c, op, compile_any(c, node->binary.left), list);
        return true;
    }
    Register left = compile_stable(c, node->binary.left, node->binary.right);
    if (ops.holds_int != OP_NOP && node_is_short_int(node->binary.right, &immediate)) {
        emit_position(c, node->at);
        emit_compare(c, sense ? ops.holds_int : ops.fails_int, left, (uint16_t)(int16_t)immediate,
                     list);
        return true;
    }
    Register right = compile_any(c, node->binary.right);
    emit_position(c, node->at);
    emit_compare(c, sense ? ops.holds : ops.fails, left, right, list);
    return true;
}

static FlowNode *logical_operand(FlowNode *node, uint32_t index) {
    if (node->kind == NODE_LOGICAL) return index == 0 ? node->binary.left : node->binary.right;
    return index == 0 ? node->chain.first : node->chain.links[index - 1].operand;
}

static void compile_logical_condition(FlowCompiler *c, FlowNode *node, bool sense, JumpList *list) {
    uint32_t last = node->kind == NODE_LOGICAL ? 1 : node->chain.count;
    bool is_and = node->op == OPERATOR_LOGICAL_AND;
    JumpList skip = {0};
    for (uint32_t i = 0; i < last; i++) {
        // An operand that decides alone jumps out: false for &&, true for ||.
        bool decides = !is_and;
        compile_condition(c, logical_operand(node, i), decides, decides == sense ? list : &skip);
    }
    compile_condition(c, logical_operand(node, last), sense, list);
    jump_patch_here(c, &skip);
}

void compile_condition(FlowCompiler *c, FlowNode *node, bool sense, JumpList *list) {
    FlowValue value;
    while (node->kind == NODE_UNARY && node->op == OPERATOR_NOT) {
        node = node->unary.operand;
        sense = !sense;
    }
    Register mark = c->top;
    if (constant_of(c, node, &value) &&
        (flow_is_boolean(value) || flow_is_nullish(value) || flow_is_int(value))) {
        bool is_true = flow_is_true(value) || (flow_is_int(value) && flow_as_int(value) != 0);
        if (is_true == sense) emit_jump(c, list);
        return;
    }
    bool is_logical = node->kind == NODE_LOGICAL || node->kind == NODE_LOGICAL_CHAIN;
    if (is_logical && node->op != OPERATOR_NULLISH) {
        compile_logical_condition(c, node, sense, list);
    } else if (node->kind != NODE_BINARY || !compile_comparison(c, node, sense, list)) {
        Register reg = compile_any(c, node);
        emit_jump_if(c, sense ? OP_JUMP_IF_TRUE : OP_JUMP_IF_FALSE, reg, list);
    }
    c->top = mark;
}

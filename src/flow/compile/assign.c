// Assignment: to variables, properties, private names and super properties; = op= &&= ||= ??=,
// ++ and --.
//
// A target other than a variable is a Place: its object and key are evaluated before the value,
// the store happens after it.
//
//   [assign-1] A place's registers stay valid while the value is computed: operands that live in
//        variables are copied when the value may assign them.
//   [assign-2] With NO_REGISTER as destination nobody wants the result.
//   [assign-3] op= and ++ on o[k] convert an object key for the read and again for the write, as V8
//        does; the logical assignments convert it once.

#include "flow/compile/nodes.h"

Place place_prepare(FlowCompiler *c, FlowNode *target, const FlowNode *later) {
    Place place = {.node = target, .object = NO_REGISTER, .key = NO_REGISTER};
    FlowValue key;
    switch (target->kind) {
    case NODE_MEMBER: place.object = compile_stable(c, target->member.object, later); break;
    case NODE_INDEX:
        place.object = compile_stable(c, target->binary.left, target->binary.right);
        // The value may change the object's variable too; one copy is enough.
        if (later && target->binary.left->kind == NODE_IDENTIFIER && place.object < c->top &&
            c->is_variable.data[place.object] &&
            node_may_assign(later, target->binary.left->reference.to.variable)) {
            Register copy = register_new(c);
            emit_move(c, copy, place.object);
            place.object = copy;
        }
        if (constant_of(c, target->binary.right, &key)) {
            place.key = register_new(c);
            emit_constant(c, key, place.key);
        } else {
            place.key = compile_stable(c, target->binary.right, later);
        }
        break;
    case NODE_PRIVATE_MEMBER:
        place.object = compile_stable(c, target->binary.left, later);
        place.key = variable_any(c, use_of(target->binary.right));
        break;
    case NODE_SUPER_MEMBER:
    case NODE_SUPER_INDEX:
        place.object = register_block(c, 3);
        compile_super_block(c, target, place.object);
        break;
    default: break;
    }
    return place;
}

void place_store(FlowCompiler *c, const Place *place, Register value) {
    FlowNode *node = place->node;
    emit_position(c, node->at);
    switch (node->kind) {
    case NODE_IDENTIFIER: variable_store(c, use_of(node), value); break;
    case NODE_MEMBER: emit_set_field(c, place->object, value, node->member.name); break;
    case NODE_INDEX: emit_abc(c, OP_SET_ELEMENT, place->object, place->key, value); break;
    case NODE_PRIVATE_MEMBER: emit_abc(c, OP_SET_PRIVATE, place->object, place->key, value); break;
    case NODE_SUPER_MEMBER:
    case NODE_SUPER_INDEX: emit_abc(c, OP_SET_SUPER, value, place->object, 0); break;
    default: UNREACHABLE();
    }
}

static void place_load(FlowCompiler *c, const Place *place, Register dst) {
    FlowNode *node = place->node;
    emit_position(c, node->at);
    switch (node->kind) {
    case NODE_IDENTIFIER: variable_load(c, use_of(node), dst); break;
    case NODE_MEMBER: emit_get_field(c, dst, place->object, node->member.name); break;
    case NODE_INDEX: emit_abc(c, OP_GET_ELEMENT, dst, place->object, place->key); break;
    case NODE_PRIVATE_MEMBER: emit_abc(c, OP_GET_PRIVATE, dst, place->object, place->key); break;
    case NODE_SUPER_MEMBER:
    case NODE_SUPER_INDEX: emit_abc(c, OP_GET_SUPER, dst, place->object, 0); break;
    default: UNREACHABLE();
    }
}

static FlowValue target_name(FlowCompiler *c, const FlowNode *target) {
    if (target->kind != NODE_IDENTIFIER || target->flags & FLAG_PARENTHESIZED)
        return flow_module_string(c->module, STR(""));
    return name_atom(c, target->reference.name);
}

// --- target = value
static void compile_assign_variable(FlowCompiler *c, FlowNode *node, Register dst) {
    FlowNode *left = node->binary.left;
    FlowNode *right = node->binary.right;
    Register target = variable_target(c, use_of(left), false);
    if (target != NO_REGISTER) {
        compile_named(c, right, target_name(c, left), target);
        if (dst != NO_REGISTER) emit_move(c, dst, target);
        return;
    }
    Register value = dst == NO_REGISTER ? register_new(c) : register_scratch(c, dst);
    compile_named(c, right, target_name(c, left), value);
    variable_store(c, use_of(left), value);
    if (dst != NO_REGISTER) emit_move(c, dst, value);
}

static void compile_assign_pattern(FlowCompiler *c, FlowNode *node, Register dst) {
    FlowNode *right = node->binary.right;
    if (node->binary.left->kind == NODE_ARRAY_PATTERN) c->iterated = right;
    // The pattern may assign the very variable the value comes from.
    Register value = compile_next(c, right);
    PatternSource source = {.value = value, .node = right, .text = FLOW_HOLE};
    compile_pattern(c, node->binary.left, source, PATTERN_ASSIGN);
    if (dst != NO_REGISTER) emit_move(c, dst, value);
}

static void compile_assign_plain(FlowCompiler *c, FlowNode *node, Register dst) {
    FlowNode *left = node->binary.left;
    if (left->kind == NODE_IDENTIFIER) {
        compile_assign_variable(c, node, dst);
    } else if (left->kind == NODE_ARRAY_PATTERN || left->kind == NODE_OBJECT_PATTERN) {
        compile_assign_pattern(c, node, dst);
    } else {
        Place place = place_prepare(c, left, node->binary.right);
        Register value = compile_any(c, node->binary.right);
        place_store(c, &place, value);
        if (dst != NO_REGISTER) emit_move(c, dst, value);
    }
}

// --- target &&= value, target ||= value, target ??= value
static FlowOp logical_assign_jump(uint8_t op) {
    if (op == OPERATOR_LOGICAL_AND) return OP_JUMP_IF_FALSE;
    if (op == OPERATOR_LOGICAL_OR) return OP_JUMP_IF_TRUE;
    return OP_JUMP_IF_NOT_NULLISH;
}

static void compile_assign_logical(FlowCompiler *c, FlowNode *node, Register dst) {
    FlowNode *left = node->binary.left;
    FlowNode *right = node->binary.right;
    JumpList end = {0};
    Place place = place_prepare(c, left, right);
    FlowValue key;
    if (left->kind == NODE_INDEX && !constant_of(c, left->binary.right, &key)) { // [assign-3]
        Register converted = register_new(c);
        emit_position(c, left->at);
        emit_abc(c, OP_TO_PROPERTY_KEY, converted, place.key, 0);
        place.key = converted;
    }
    Register value = dst == NO_REGISTER ? register_new(c) : register_scratch(c, dst);
    place_load(c, &place, value);
    emit_jump_if(c, logical_assign_jump(node->op), value, &end);
    compile_named(c, right, target_name(c, left), value);
    place_store(c, &place, value);
    jump_patch_here(c, &end);
    if (dst != NO_REGISTER) emit_move(c, dst, value);
}

// --- target op= value
static void compile_assign_compound(FlowCompiler *c, FlowNode *node, Register dst) {
    FlowNode *left = node->binary.left;
    FlowNode *right = node->binary.right;
    Arithmetic what = {(FlowOperator)node->op, NO_REGISTER, right, node->at};
    if (left->kind == NODE_IDENTIFIER) {
        Register target = variable_target(c, use_of(left), false);
        what.left = compile_stable(c, left, right);
        if (target != NO_REGISTER) {
            compile_arithmetic(c, what, target);
            if (dst != NO_REGISTER) emit_move(c, dst, target);
            return;
        }
        Register value = dst == NO_REGISTER ? register_new(c) : register_scratch(c, dst);
        compile_arithmetic(c, what, value);
        variable_store(c, use_of(left), value);
        if (dst != NO_REGISTER) emit_move(c, dst, value);
        return;
    }
    Place place = place_prepare(c, left, right);
    Register value = dst == NO_REGISTER ? register_new(c) : register_scratch(c, dst);
    place_load(c, &place, value);
    what.left = value;
    compile_arithmetic(c, what, value);
    place_store(c, &place, value);
    if (dst != NO_REGISTER) emit_move(c, dst, value);
}

void compile_assign(FlowCompiler *c, FlowNode *node, Register dst) {
    Register mark = c->top;
    switch (node->op) {
    case OPERATOR_NONE: compile_assign_plain(c, node, dst); break;
    case OPERATOR_LOGICAL_AND:
    case OPERATOR_LOGICAL_OR:
    case OPERATOR_NULLISH: compile_assign_logical(c, node, dst); break;
    default: compile_assign_compound(c, node, dst); break;
    }
    c->top = mark;
}

// --- ++ and --
static void compile_update_variable(FlowCompiler *c, FlowNode *node, Register dst) {
    FlowNode *target = node->unary.operand;
    FlowOp op = node->op == OPERATOR_ADD ? OP_INCREMENT : OP_DECREMENT;
    bool is_prefix = node->flags & FLAG_PREFIX;
    Register reg = variable_target(c, use_of(target), false);
    emit_position(c, node->at);
    if (reg != NO_REGISTER) {
        if (!is_prefix && dst != NO_REGISTER) {
            // x = x++ leaves the old value in x: the result is written after the update.
            Register old = dst == reg ? register_new(c) : register_scratch(c, dst);
            emit_abc(c, OP_TO_NUMERIC, old, reg, 0);
            emit_abc(c, op, reg, old, 0);
            emit_move(c, dst, old);
            return;
        }
        emit_abc(c, op, reg, reg, 0);
        if (dst != NO_REGISTER) emit_move(c, dst, reg);
        return;
    }
    Register old = variable_any(c, use_of(target));
    Register value = register_new(c);
    emit_position(c, node->at);
    if (!is_prefix && dst != NO_REGISTER) {
        Register numeric = register_new(c);
        emit_abc(c, OP_TO_NUMERIC, numeric, old, 0);
        old = numeric;
    }
    emit_abc(c, op, value, old, 0);
    variable_store(c, use_of(target), value);
    if (dst != NO_REGISTER) emit_move(c, dst, is_prefix ? value : old);
}

static void compile_update_place(FlowCompiler *c, FlowNode *node, Register dst) {
    FlowOp op = node->op == OPERATOR_ADD ? OP_INCREMENT : OP_DECREMENT;
    bool is_prefix = node->flags & FLAG_PREFIX;
    Place place = place_prepare(c, node->unary.operand, NULL);
    Register value = register_new(c);
    place_load(c, &place, value);
    emit_position(c, node->at);
    if (is_prefix || dst == NO_REGISTER) {
        emit_abc(c, op, value, value, 0);
        place_store(c, &place, value);
        if (dst != NO_REGISTER) emit_move(c, dst, value);
        return;
    }
    Register updated = register_new(c);
    emit_abc(c, OP_TO_NUMERIC, value, value, 0);
    emit_abc(c, op, updated, value, 0);
    place_store(c, &place, updated);
    emit_move(c, dst, value);
}

void compile_update(FlowCompiler *c, FlowNode *node, Register dst) {
    Register mark = c->top;
    if (node->unary.operand->kind == NODE_IDENTIFIER) compile_update_variable(c, node, dst);
    else compile_update_place(c, node, dst);
    c->top = mark;
}

// --- declarations
void compile_declarator(FlowCompiler *c, FlowNode *node, FlowVariableKind kind) {
    FlowNode *left = node->binary.left;
    FlowNode *right = node->binary.right;
    Register mark = c->top;
    if (left->kind != NODE_IDENTIFIER) {
        if (left->kind == NODE_ARRAY_PATTERN) c->iterated = right;
        Register value = compile_stable(c, right, left);
        PatternSource source = {.value = value, .node = right, .text = FLOW_HOLE};
        compile_pattern(c, left, source, PATTERN_DECLARE);
    } else if (right) {
        Register target = variable_target(c, use_of(left), true);
        FlowValue name = name_atom(c, left->reference.name);
        if (target != NO_REGISTER) {
            // [compile-internal-1] does not bind a fresh let or const: nobody sees it before it is
            //      complete.
            bool is_fresh = kind != VARIABLE_VAR;
            if (is_fresh) c->is_variable.data[target] = 0;
            compile_named(c, right, name, target);
            c->is_variable.data[target] = 1;
        } else {
            Register value = register_new(c);
            compile_named(c, right, name, value);
            variable_initialize(c, use_of(left), value);
        }
    } else if (kind != VARIABLE_VAR) {
        Register target = variable_target(c, use_of(left), true);
        Register value = target != NO_REGISTER ? target : register_new(c);
        emit_abc(c, OP_LOAD_UNDEFINED, value, 0, 0);
        if (target == NO_REGISTER) variable_initialize(c, use_of(left), value);
    }
    c->top = mark;
}

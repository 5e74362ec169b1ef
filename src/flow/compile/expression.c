// Expressions: the dispatcher, and the forms that need no file of their own.
//
// compile_expression evaluates into a wanted register, compile_any wherever the value already is,
// compile_discard for the effects alone. See compile/internal.h
// [compile-internal-1]-[compile-internal-3].
//
// Not here: operators and conditions, assignment, calls, literals of objects, classes.

#include "flow/compile/nodes.h"
#include "flow/regexp/check.h"

bool node_is_anonymous_function(const FlowNode *node) {
    if (node->kind == NODE_FUNCTION) return node->function->name == NULL;
    if (node->kind == NODE_CLASS) return node->class_definition->name == NULL;
    return false;
}

void compile_named(FlowCompiler *c, FlowNode *node, FlowValue name, Register dst) {
    if (!node_is_anonymous_function(node)) compile_expression(c, node, dst);
    else if (node->kind == NODE_FUNCTION) compile_closure(c, node->function, name, dst);
    else compile_class(c, node->class_definition, name, dst);
}

static FlowValue function_name(FlowCompiler *c, const FlowName *name) {
    return name ? name_atom(c, name) : flow_module_string(c->module, STR(""));
}

Register compile_next(FlowCompiler *c, FlowNode *node) {
    Register reg = register_new(c);
    compile_expression(c, node, reg);
    return reg;
}

Register compile_any(FlowCompiler *c, FlowNode *node) {
    FlowValue value;
    if (node->kind == NODE_IDENTIFIER && !constant_of(c, node, &value))
        return variable_any(c, use_of(node));
    if (node->kind == NODE_THIS && node->reference.to.access == ACCESS_LOCAL &&
        !node->reference.to.needs_tdz_check && node->reference.to.variable)
        return node->reference.to.variable->reg;
    return compile_next(c, node);
}

Register compile_stable(FlowCompiler *c, FlowNode *node, const FlowNode *later) {
    Register reg = compile_any(c, node);
    if (node->kind != NODE_IDENTIFIER || !later) return reg;
    const FlowVariable *variable = node->reference.to.variable;
    if (!variable || !variable->is_assigned || variable->reg != reg) return reg;
    if (!node_may_assign(later, variable)) return reg;
    Register copy = register_new(c);
    emit_move(c, copy, reg);
    return copy;
}

static void compile_conditional(FlowCompiler *c, FlowNode *node, Register dst) {
    JumpList otherwise = {0};
    JumpList end = {0};
    compile_condition(c, node->conditional.test, false, &otherwise);
    compile_expression(c, node->conditional.consequent, dst);
    emit_jump(c, &end);
    jump_patch_here(c, &otherwise);
    compile_expression(c, node->conditional.alternate, dst);
    jump_patch_here(c, &end);
}

static void compile_sequence(FlowCompiler *c, FlowNode *node, Register dst) {
    for (uint32_t i = 0; i + 1 < node->list.count; i++) compile_discard(c, node->list.items[i]);
    compile_expression(c, node->list.items[node->list.count - 1], dst);
}

// A pattern that can never work is an early error.
static void check_regexp(FlowCompiler *c, const FlowNode *node) {
    char message[FLOW_REGEXP_MESSAGE_MAX];
    if (flow_regexp_check(node->regexp.pattern, node->regexp.flags, message)) return;
    c->has_failed = true;
    FlowFinding finding = {.code = FLOW_ERROR_LITERAL,
                           .severity = FLOW_SEVERITY_ERROR,
                           .start = node->start,
                           .end = node->end};
    flow_report_add(c->report, &finding, "%s", message);
}

static void compile_regexp(FlowCompiler *c, FlowNode *node, Register dst) {
    check_regexp(c, node);
    uint32_t pattern = constant_short(c, flow_module_string(c->module, node->regexp.pattern));
    uint32_t flags = constant_short(c, flow_module_string(c->module, node->regexp.flags));
    emit_position(c, node->at);
    emit_abc(c, OP_NEW_REGEXP, dst, pattern, flags);
}

static void compile_private_in(FlowCompiler *c, FlowNode *node, Register dst) {
    Register mark = c->top;
    Register key = variable_any(c, use_of(node->binary.left));
    Register object = compile_any(c, node->binary.right);
    emit_position(c, node->at);
    emit_abc(c, OP_HAS_PRIVATE, dst, object, key);
    c->top = mark;
}

static void compile_operators(FlowCompiler *c, FlowNode *node, Register dst) {
    switch (node->kind) {
    case NODE_UNARY: compile_unary(c, node, dst); break;
    case NODE_UPDATE: compile_update(c, node, dst); break;
    case NODE_BINARY: compile_binary(c, node, dst); break;
    case NODE_BINARY_CHAIN: compile_binary_chain(c, node, dst); break;
    case NODE_LOGICAL:
    case NODE_LOGICAL_CHAIN: compile_logical(c, node, dst); break;
    case NODE_PRIVATE_IN: compile_private_in(c, node, dst); break;
    case NODE_ASSIGN: compile_assign(c, node, dst); break;
    case NODE_CONDITIONAL: compile_conditional(c, node, dst); break;
    case NODE_SEQUENCE: compile_sequence(c, node, dst); break;
    case NODE_MEMBER:
    case NODE_INDEX:
    case NODE_PRIVATE_MEMBER:
    case NODE_SUPER_MEMBER:
    case NODE_SUPER_INDEX: compile_member(c, node, dst); break;
    case NODE_OPTIONAL_CHAIN: compile_optional_chain(c, node, dst); break;
    case NODE_CALL: compile_call(c, node, dst); break;
    case NODE_SUPER_CALL: compile_super_call(c, node, dst); break;
    case NODE_NEW: compile_new(c, node, dst); break;
    case NODE_TAGGED: compile_tagged(c, node, dst); break;
    case NODE_AWAIT: compile_await(c, node, dst); break;
    case NODE_YIELD: compile_yield(c, node, dst); break;
    case NODE_INTRINSIC: compile_intrinsic(c, node, dst); break;
    default: UNREACHABLE();
    }
}

void compile_expression(FlowCompiler *c, FlowNode *node, Register dst) {
    FlowValue value;
    if (constant_of(c, node, &value)) {
        emit_constant(c, value, dst);
        return;
    }
    Register mark = c->top;
    switch (node->kind) {
    case NODE_REGEXP: compile_regexp(c, node, dst); break;
    case NODE_TEMPLATE: compile_template(c, node, dst); break;
    case NODE_ARRAY: compile_array(c, node, dst); break;
    case NODE_OBJECT: compile_object(c, node, dst); break;
    case NODE_FUNCTION:
        compile_closure(c, node->function, function_name(c, node->function->name), dst);
        break;
    case NODE_CLASS: {
        FlowClass *definition = node->class_definition;
        compile_class(c, definition, function_name(c, definition->name), dst);
        break;
    }
    case NODE_IDENTIFIER: variable_load(c, use_of(node), dst); break;
    case NODE_THIS: compile_this(c, &node->reference.to, node->at, dst); break;
    case NODE_NEW_TARGET: variable_load(c, use_of(node), dst); break;
    default: compile_operators(c, node, dst); break;
    }
    c->top = mark;
}

static void compile_discard_logical(FlowCompiler *c, FlowNode *node) {
    JumpList end = {0};
    compile_condition(c, node->binary.left, node->op == OPERATOR_LOGICAL_OR, &end);
    compile_discard(c, node->binary.right);
    jump_patch_here(c, &end);
}

static void compile_discard_conditional(FlowCompiler *c, FlowNode *node) {
    JumpList otherwise = {0};
    JumpList end = {0};
    compile_condition(c, node->conditional.test, false, &otherwise);
    compile_discard(c, node->conditional.consequent);
    emit_jump(c, &end);
    jump_patch_here(c, &otherwise);
    compile_discard(c, node->conditional.alternate);
    jump_patch_here(c, &end);
}

void compile_discard(FlowCompiler *c, FlowNode *node) {
    FlowValue value;
    if (constant_of(c, node, &value)) return;
    Register mark = c->top;
    switch (node->kind) {
    case NODE_ASSIGN: compile_assign(c, node, NO_REGISTER); break;
    case NODE_UPDATE: compile_update(c, node, NO_REGISTER); break;
    case NODE_SEQUENCE:
        for (uint32_t i = 0; i < node->list.count; i++) compile_discard(c, node->list.items[i]);
        break;
    case NODE_CONDITIONAL: compile_discard_conditional(c, node); break;
    case NODE_LOGICAL:
        if (node->op == OPERATOR_NULLISH) compile_next(c, node);
        else compile_discard_logical(c, node);
        break;
    default: compile_any(c, node); break;
    }
    c->top = mark;
}

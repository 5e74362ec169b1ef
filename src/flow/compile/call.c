// Calls: f(x), o.m(x), new, super(), tagged templates, template literals, intrinsics.
//
//   [compile-call-1] The block is taken first, so that it lies below everything the arguments need,
//        and above everything else in use (code.h [code-4]).
//   [compile-call-2] With a spread among the arguments they are collected in an array.

#include "flow/compile/nodes.h"
#include "flow/realm/realm.h"

static bool list_has_spread(const FlowNodeList *list) {
    for (uint32_t i = 0; i < list->count; i++)
        if (list->items[i]->kind == NODE_SPREAD) return true;
    return false;
}

// --- callee and this
static void compile_callee(FlowCompiler *c, FlowNode *callee, Register block) {
    switch (callee->kind) {
    case NODE_MEMBER:
        compile_expression(c, callee->member.object, block + 1);
        compile_member_of(c, callee, block + 1, block);
        break;
    case NODE_INDEX:
    case NODE_PRIVATE_MEMBER:
        compile_expression(c, callee->binary.left, block + 1);
        compile_member_of(c, callee, block + 1, block);
        break;
    case NODE_SUPER_MEMBER:
    case NODE_SUPER_INDEX: {
        Register mark = c->top;
        Register super = register_block(c, 3);
        compile_super_block(c, callee, super);
        emit_position(c, callee->at);
        emit_abc(c, OP_GET_SUPER, block, super, 0);
        emit_move(c, block + 1, super + 2);
        c->top = mark;
        break;
    }
    case NODE_OPTIONAL_CHAIN: { // (a?.b)(): the parentheses end the chain, this stays a
        JumpList end = {0};
        OptionalChain chain = {.outer = c->chain};
        c->chain = &chain;
        compile_callee(c, callee->unary.operand, block);
        c->chain = chain.outer;
        emit_jump(c, &end);
        jump_patch_here(c, &chain.exits);
        emit_abc(c, OP_LOAD_UNDEFINED, block, 0, 0);
        emit_abc(c, OP_LOAD_UNDEFINED, block + 1, 0, 0);
        jump_patch_here(c, &end);
        break;
    }
    default:
        compile_expression(c, callee, block);
        emit_abc(c, OP_LOAD_UNDEFINED, block + 1, 0, 0);
        break;
    }
}

// Arguments behind a block of two. Answers false when they are in one array (spread).
static bool compile_arguments(FlowCompiler *c, const FlowNodeList *list) {
    if (!list_has_spread(list)) {
        for (uint32_t i = 0; i < list->count; i++) compile_next(c, list->items[i]);
        return true;
    }
    Register array = register_new(c); // [compile-call-2]
    emit_wide(c, OP_NEW_ARRAY, array, (int32_t)list->count);
    compile_array_items(c, list, array, true);
    return false;
}

void compile_call(FlowCompiler *c, FlowNode *node, Register dst) {
    FlowNode *callee = node->call.callee;
    Register block = register_block(c, 2);
    compile_callee(c, callee, block);
    if (node->flags & FLAG_OPTIONAL) emit_jump_if(c, OP_JUMP_IF_NULLISH, block, &c->chain->exits);
    bool is_plain = compile_arguments(c, &node->call.arguments);
    emit_position(c, node->at);
    emit_description_text(c, describe_callee(c, node));
    if (is_plain) emit_abc(c, OP_CALL, block, node->call.arguments.count, dst);
    else emit_abc(c, OP_CALL_SPREAD, block, 0, dst);
}

void compile_new(FlowCompiler *c, FlowNode *node, Register dst) {
    Register block = register_block(c, 2);
    compile_expression(c, node->call.callee, block);
    emit_move(c, block + 1, block);
    bool is_plain = compile_arguments(c, &node->call.arguments);
    emit_position(c, node->at);
    emit_description(c, node->call.callee);
    if (is_plain) emit_abc(c, OP_NEW, block, node->call.arguments.count, dst);
    else emit_abc(c, OP_NEW_SPREAD, block, 0, dst);
}

// --- super(…)
// Stores the new object as `this`, which may happen only once, and runs the field initialisers.
static void compile_bind_this(FlowCompiler *c, const FlowSuper *super, Register value,
                              uint32_t at) {
    Register mark = c->top;
    FlowReference plain = super->this_value;
    plain.needs_tdz_check = false;
    Use use = {&plain, plain.variable->name, at};
    Register old = register_new(c);
    variable_load(c, use, old);
    emit_position(c, at);
    emit_abc(c, OP_CHECK_THIS_UNSET, old, 0, 0);
    variable_initialize(c, use, value);
    Register block = register_block(c, 2);
    variable_load(c, (Use){&super->callee, NULL, at}, block);
    emit_move(c, block + 1, value);
    emit_abc(c, OP_INIT_FIELDS, block, 0, 0);
    c->top = mark;
}

void compile_super_call(FlowCompiler *c, FlowNode *node, Register dst) {
    const FlowSuper *super = node->super_call.super;
    Register value = register_new(c);
    Register mark = c->top;
    Register block = register_block(c, 2);
    variable_load(c, (Use){&super->callee, NULL, node->at}, block);
    emit_position(c, node->at);
    emit_abc(c, OP_GET_SUPER_CONSTRUCTOR, block, block, 0);
    variable_load(c, (Use){&super->new_target, NULL, node->at}, block + 1);
    bool is_plain = compile_arguments(c, &node->super_call.arguments);
    emit_position(c, node->at);
    if (is_plain) emit_abc(c, OP_NEW, block, node->super_call.arguments.count, value);
    else emit_abc(c, OP_NEW_SPREAD, block, 0, value);
    c->top = mark;
    compile_bind_this(c, super, value, node->at);
    emit_move(c, dst, value);
}

// --- templates
static FlowValue template_text(FlowCompiler *c, Str text) {
    return text.data ? flow_module_string(c->module, text) : FLOW_UNDEFINED;
}

static uint32_t template_new(FlowCompiler *c, const FlowNode *node) {
    uint32_t count = node->template.expressions.count + 1;
    FlowValue *cooked = ARENA_ARRAY(&c->module->arena, FlowValue, count);
    FlowValue *raw = ARENA_ARRAY(&c->module->arena, FlowValue, count);
    for (uint32_t i = 0; i < count; i++) {
        cooked[i] = template_text(c, node->template.parts[i].cooked);
        raw[i] = template_text(c, node->template.parts[i].raw);
    }
    vec_push(&c->templates, (FlowTemplate){cooked, raw, count});
    return (uint32_t)c->templates.count - 1;
}

void compile_tagged(FlowCompiler *c, FlowNode *node, Register dst) {
    FlowNode *template = node->call.arguments.items[0];
    const FlowNodeList *expressions = &template->template.expressions;
    Register block = register_block(c, 2);
    compile_callee(c, node->call.callee, block);
    Register strings = register_new(c);
    emit_wide(c, OP_TEMPLATE_OBJECT, strings, (int32_t)template_new(c, template));
    for (uint32_t i = 0; i < expressions->count; i++) compile_next(c, expressions->items[i]);
    emit_position(c, node->at);
    emit_description_text(c, describe_callee(c, node));
    emit_abc(c, OP_CALL, block, expressions->count + 1, dst);
}

enum { CONCAT_MAX = 250 }; // strings joined by one instruction

// A template of one expression and no text is not joined: that expression must become a string.
static FlowOp part_conversion(const FlowNode *node) {
    if (node->template.expressions.count > 1) return OP_TO_STRING_PART;
    bool has_text = node->template.parts[0].cooked.len || node->template.parts[1].cooked.len;
    return has_text ? OP_TO_STRING_PART : OP_TO_STRING;
}

void compile_template(FlowCompiler *c, FlowNode *node, Register dst) {
    Register first = c->top;
    uint32_t count = 0;
    for (uint32_t i = 0; i <= node->template.expressions.count; i++) {
        Str text = node->template.parts[i].cooked;
        if (text.len > 0) {
            emit_constant(c, flow_module_string(c->module, text), register_new(c));
            count++;
        }
        if (i == node->template.expressions.count) break;
        FlowNode *expression = node->template.expressions.items[i];
        Register part = compile_next(c, expression);
        emit_position(c, expression->at);
        emit_abc(c, part_conversion(node), part, part, 0);
        if (++count < CONCAT_MAX) continue;
        emit_abc(c, OP_CONCAT, first, first, count);
        c->top = first + 1;
        count = 1;
    }
    emit_position(c, node->at);
    if (count == 1) emit_move(c, dst, first);
    else emit_abc(c, OP_CONCAT, dst, first, count);
}

// --- %name(args), in the prelude
static bool intrinsic_is(const FlowNode *node, Str name) {
    return str_equal(node->intrinsic.name->text, name);
}

// %call(f, this, …) and %construct(f, newTarget, …): the arguments are the block.
static void compile_intrinsic_call(FlowCompiler *c, FlowNode *node, FlowOp op, Register dst) {
    const FlowNodeList *list = &node->intrinsic.arguments;
    Register block = c->top;
    for (uint32_t i = 0; i < list->count; i++) compile_next(c, list->items[i]);
    emit_position(c, node->at);
    emit_abc(c, op, block, list->count - 2, dst);
}

void compile_intrinsic(FlowCompiler *c, FlowNode *node, Register dst) {
    const FlowNodeList *list = &node->intrinsic.arguments;
    bool is_call = intrinsic_is(node, STR("call"));
    if (list->count >= 2 && (is_call || intrinsic_is(node, STR("construct")))) {
        compile_intrinsic_call(c, node, is_call ? OP_CALL : OP_NEW, dst);
        return;
    }
    Register block = register_block(c, 2);
    uint32_t id = flow_intrinsic_find(node->intrinsic.name->text);
    if (id == UINT32_MAX) {
        FlowVariable *variable = prelude_function(c, node->intrinsic.name);
        if (!variable) {
            compile_limit(c, node->start, "unknown intrinsics: there is none of this name");
            return;
        }
        emit_wide(c, OP_LOAD_PRELUDE, block, (int32_t)variable->reg);
        emit_abc(c, OP_LOAD_UNDEFINED, block + 1, 0, 0);
    }
    for (uint32_t i = 0; i < list->count; i++) compile_next(c, list->items[i]);
    emit_position(c, node->at);
    if (id == UINT32_MAX) {
        emit_abc(c, OP_CALL, block, list->count, dst);
    } else {
        emit_abc(c, OP_INTRINSIC, block, list->count, id);
        emit_move(c, dst, block);
    }
}

// Loops. The test stands at the end, so an iteration costs one jump.
//
//   [loop-1] `continue` goes to the update (for), the test (while, do) or the next item (for-of).
//   [loop-2] The variables of a for head are fresh in each iteration: boxes are copied before the
//        update, or made anew for each item.

#include "flow/compile/nodes.h"

static void compile_body(FlowCompiler *c, FlowNode *body, Control *control, FlowNode *loop) {
    control_begin(c, control, CONTROL_LOOP, loop);
    compile_statement(c, body);
    control_end(c, control);
}

void compile_while(FlowCompiler *c, FlowNode *node) {
    JumpList test = {0};
    JumpList again = {0};
    Control control;
    emit_jump(c, &test);
    uint32_t body = emit_here(c);
    compile_body(c, node->binary.right, &control, node);
    jump_patch_here(c, &test);
    jump_patch_here(c, &control.continues);
    compile_condition(c, node->binary.left, true, &again);
    jump_patch(c, &again, body);
    jump_patch_here(c, &control.breaks);
}

void compile_do_while(FlowCompiler *c, FlowNode *node) {
    JumpList again = {0};
    Control control;
    uint32_t body = emit_here(c);
    compile_body(c, node->binary.right, &control, node);
    jump_patch_here(c, &control.continues);
    compile_condition(c, node->binary.left, true, &again);
    jump_patch(c, &again, body);
    jump_patch_here(c, &control.breaks);
}

static void scope_copy(FlowCompiler *c, const FlowScope *scope) { // [loop-2]
    if (!scope) return;
    for (FlowVariable *variable = scope->variables; variable; variable = variable->next)
        if (variable_is_boxed(variable)) emit_abc(c, OP_COPY_BOX, variable->reg, 0, 0);
}

void compile_for(FlowCompiler *c, FlowNode *node) {
    FlowLoop *loop = node->loop;
    JumpList test = {0};
    JumpList again = {0};
    Control control;
    Register mark = c->top;
    uint32_t start_pc = emit_here(c);
    scope_enter(c, loop->scope);
    if (loop->initializer) {
        if (loop->initializer->kind == NODE_VARIABLES) compile_statement(c, loop->initializer);
        else compile_discard(c, loop->initializer);
        // Closures made by the initializer keep the bindings they saw.
        if (loop->scope && loop->scope->needs_copy) scope_copy(c, loop->scope);
    }
    if (loop->test) emit_jump(c, &test);
    uint32_t body = emit_here(c);
    compile_body(c, loop->body, &control, node);
    jump_patch_here(c, &control.continues);
    scope_copy(c, loop->scope);
    if (loop->update) compile_discard(c, loop->update);
    jump_patch_here(c, &test);
    if (loop->test) {
        compile_condition(c, loop->test, true, &again);
        jump_patch(c, &again, body);
    } else {
        emit_jump_back(c, body);
    }
    jump_patch_here(c, &control.breaks);
    scope_leave(c, loop->scope, mark, start_pc);
    c->top = mark;
}

// --- for-in, for-of
static FlowNode *iteration_target(const FlowNode *node) {
    FlowNode *left = node->iteration.left;
    return left->kind == NODE_VARIABLES ? left->list.items[0]->binary.left : left;
}

// The register items arrive in: the variable itself when it is a fresh one.
static Register iteration_register(FlowCompiler *c, const FlowNode *node) {
    FlowNode *target = iteration_target(node);
    if (node->iteration.left->kind == NODE_VARIABLES && target->kind == NODE_IDENTIFIER &&
        target->reference.to.variable->kind != VARIABLE_VAR) {
        Register reg = variable_target(c, use_of(target), true);
        if (reg != NO_REGISTER) return reg;
    }
    return register_new(c);
}

static void iteration_assign(FlowCompiler *c, const FlowNode *node, Register item) {
    FlowNode *left = node->iteration.left;
    FlowNode *target = iteration_target(node);
    PatternSource source = {.value = item, .text = FLOW_HOLE};
    if (target->kind == NODE_ARRAY_PATTERN || target->kind == NODE_OBJECT_PATTERN)
        source.text = flow_module_string(c->module, STR(".for")); // what V8 calls it
    if (left->kind != NODE_VARIABLES) {
        compile_pattern(c, target, source, PATTERN_ASSIGN);
    } else if (target->kind != NODE_IDENTIFIER) {
        compile_pattern(c, target, source, PATTERN_DECLARE);
    } else {
        variable_initialize(c, use_of(target), item); // nothing when it arrived in place
    }
}

void compile_for_in(FlowCompiler *c, FlowNode *node) {
    Control control;
    JumpList end = {0};
    Register mark = c->top;
    uint32_t start_pc = emit_here(c);
    scope_enter(c, node->iteration.scope);
    Register record = register_block(c, 3);
    Register object = compile_any(c, node->iteration.right);
    emit_position(c, node->iteration.right->start);
    emit_abc(c, OP_FOR_IN_START, record, object, 0);
    c->top = record + 3;
    Register item = iteration_register(c, node);
    JumpList over = {0};
    JumpList far = {0};
    if (c->is_far) emit_jump(c, &over);
    uint32_t exit = emit_here(c);
    if (c->is_far) emit_jump(c, &far);
    jump_patch_here(c, &over);
    uint32_t next = emit_here(c);
    jump_add(c, &end, emit_abc(c, OP_FOR_IN_NEXT, record, item, 0));
    if (c->is_far) jump_patch(c, &end, exit);
    scope_renew(c, node->iteration.scope);
    control_begin(c, &control, CONTROL_LOOP, node);
    iteration_assign(c, node, item);
    compile_statement(c, node->iteration.body);
    control_end(c, &control);
    jump_patch(c, &control.continues, next);
    emit_jump_back(c, next);
    jump_patch_here(c, &end);
    jump_patch_here(c, &far);
    jump_patch_here(c, &control.breaks);
    scope_leave(c, node->iteration.scope, mark, start_pc);
    c->top = mark;
}

typedef struct ForOf {
    FlowNode *node;
    Register record;
    Register item;
    bool is_async;
    JumpList end;
} ForOf;

// Fetches the next item or leaves. Answers where `continue` goes.
static uint32_t for_of_next(FlowCompiler *c, ForOf *loop) {
    JumpList over = {0};
    JumpList near = {0};
    uint32_t exit = 0;
    if (c->is_far) { // the NEAR jumps reach a jump that reaches the end
        emit_jump(c, &over);
        exit = emit_here(c);
        emit_jump(c, &loop->end);
        jump_patch_here(c, &over);
    }
    JumpList *list = c->is_far ? &near : &loop->end;
    uint32_t next = emit_here(c);
    emit_position(c, loop->node->iteration.right->start);
    if (loop->is_async) {
        emit_abc(c, OP_ITER_CALL_NEXT, loop->record, 0, 0);
        emit_abc(c, OP_AWAIT, loop->record + 2, loop->record + 2, c->top);
    } else {
        jump_add(c, list, emit_abc(c, OP_ITER_NEXT, loop->record, loop->item, 0));
    }
    jump_add(c, list, emit_abc(c, OP_ITER_VALUE, loop->record, loop->item, 0));
    jump_patch(c, &near, exit);
    return next;
}

void compile_for_of(FlowCompiler *c, FlowNode *node) {
    Control control;
    Register mark = c->top;
    uint32_t start_pc = emit_here(c);
    ForOf loop = {.node = node, .is_async = node->flags & FLAG_AWAIT};
    scope_enter(c, node->iteration.scope);
    loop.record = register_block(c, 3);
    FlowNode *right = node->iteration.right;
    c->iterated = loop.is_async ? NULL : right;
    Register iterable = compile_any(c, right);
    emit_position(c, right->start);
    emit_description_text(c, loop.is_async ? describe_node(c, right) : describe_iterated(c, right));
    emit_abc(c, loop.is_async ? OP_GET_ASYNC_ITERATOR : OP_GET_ITERATOR, loop.record, iterable, 0);
    emit_abc(c, OP_ITER_START, loop.record, 0, 0);
    c->top = loop.record + 3;
    loop.item = iteration_register(c, node);
    uint32_t next = for_of_next(c, &loop);
    scope_renew(c, node->iteration.scope);
    control_begin(c, &control, CONTROL_ITERATOR, node);
    control.record = loop.record;
    control.is_async = loop.is_async;
    iteration_assign(c, node, loop.item);
    compile_statement(c, node->iteration.body);
    control_end(c, &control);
    jump_patch(c, &control.continues, next);
    emit_jump_back(c, next);
    Register error = register_new(c);
    control_catch(c, &control, error);
    iterator_rethrow(c, &control, error);
    jump_patch_here(c, &loop.end);
    jump_patch_here(c, &control.breaks);
    scope_leave(c, node->iteration.scope, mark, start_pc);
    c->top = mark;
}

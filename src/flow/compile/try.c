// try, and the ways out of statements: what a break, continue, return or exception passes.
//
// Each statement that has something to do on the way out is a Control on a list that follows the
// nesting. A jump out walks the list from the inside: it closes iterators in place, and at a
// finally block it leaves a number for where to go on and jumps there.
//
//   [try-1] Code that runs on the way out of a control is not protected by that control or any
//        inside it: gaps cut it out of their regions.
//   [try-2] After a finally block the number decides: 0 go on, 1 throw, others one exit each. An
//        exit continues from the control around the finally block.

#include "flow/compile/nodes.h"

void control_begin(FlowCompiler *c, Control *control, ControlKind kind, const FlowNode *target) {
    *control = (Control){.outer = c->control,
                         .target = target,
                         .kind = kind,
                         .record = NO_REGISTER,
                         .region_start = emit_here(c),
                         .gap_base = (uint32_t)c->gaps.count};
    c->control = control;
}

void control_end(FlowCompiler *c, Control *control) {
    ASSERT(c->control == control);
    c->control = control->outer;
    control->gap_start = emit_here(c); // the region ends here, whatever is emitted before _catch
}

static void handler_add(FlowCompiler *c, uint32_t start, uint32_t end, Register reg) {
    if (start >= end) return;
    FlowHandler handler = {.start = start,
                           .end = end,
                           .target = emit_here(c),
                           .reg = (uint16_t)reg,
                           .live = (uint16_t)c->top};
    vec_push(&c->handlers, handler);
}

void control_catch(FlowCompiler *c, Control *control, Register reg) {
    uint32_t start = control->region_start;
    for (size_t i = control->gap_base; i < c->gaps.count; i++) {
        Gap *gap = &c->gaps.data[i];
        if (gap->owner != control) continue;
        handler_add(c, start, gap->start, reg);
        start = gap->end;
    }
    handler_add(c, start, control->gap_start, reg);
}

// --- iterators
// return() of an async iterator: called if there is one, and awaited.
static void iterator_close_async(FlowCompiler *c, Register record, bool is_checked) {
    JumpList missing = {0};
    Register mark = c->top;
    Register block = register_block(c, 2);
    emit_abc(c, OP_ITER_GET_METHOD, block, record, 1);
    emit_jump_if(c, OP_JUMP_IF_UNDEFINED, block, &missing);
    emit_move(c, block + 1, record);
    emit_abc(c, OP_CALL, block, 0, block);
    emit_abc(c, OP_AWAIT, block, block, block);
    if (is_checked) emit_abc(c, OP_CHECK_OBJECT, block, 0, 0);
    jump_patch_here(c, &missing);
    c->top = mark;
}

void iterator_close(FlowCompiler *c, const Control *control) {
    if (control->is_async) iterator_close_async(c, control->record, true);
    else emit_abc(c, OP_ITER_CLOSE, control->record, 0, 0);
}

void iterator_rethrow(FlowCompiler *c, const Control *control, Register error) {
    if (!control->is_async) {
        emit_abc(c, OP_ITER_CLOSE_SILENT, control->record, 0, 0);
        emit_abc(c, OP_THROW, error, 0, 0);
        return;
    }
    Control silent;
    control_begin(c, &silent, CONTROL_CATCH, NULL);
    iterator_close_async(c, control->record, false);
    control_end(c, &silent);
    Register mark = c->top;
    Register ignored = register_new(c);
    control_catch(c, &silent, ignored); // both ways lead to the throw
    c->top = mark;
    emit_abc(c, OP_THROW, error, 0, 0);
}

// --- ways out
static int32_t finally_exit(FlowCompiler *c, Control *control, Exit way) {
    for (Exit *exit = control->exits; exit; exit = exit->next)
        if (exit->kind == way.kind && exit->target == way.target) return exit->number;
    Exit *exit = ARENA_NEW(c->arena, Exit);
    *exit = way;
    exit->number = 2 + control->exit_count++;
    exit->next = control->exits;
    control->exits = exit;
    return exit->number;
}

static bool control_is_target(const Control *control, Exit way) {
    if (way.kind == EXIT_RETURN || control->target != way.target) return false;
    return control->kind == CONTROL_LABEL || control->kind == CONTROL_LOOP ||
           control->kind == CONTROL_ITERATOR;
}

// Where a control sends the exit. Answers true when the exit is complete.
static bool control_pass(FlowCompiler *c, Control *control, Exit way, Register value) {
    control->gap_start = emit_here(c);
    if (control->kind == CONTROL_ITERATOR) iterator_close(c, control);
    if (control_is_target(control, way)) {
        emit_jump(c, &control->breaks);
        return true;
    }
    if (control->kind != CONTROL_FINALLY) return false;
    int32_t number = finally_exit(c, control, way); // [try-2]
    if (way.kind == EXIT_RETURN) emit_move(c, control->record + 1, value);
    emit_wide(c, OP_LOAD_INT, control->record, number);
    emit_jump(c, &control->entries);
    return true;
}

void control_exit(FlowCompiler *c, Exit way, Register value) {
    Control *control = c->control;
    bool is_complete = false;
    while (control && !is_complete) {
        if (way.kind == EXIT_CONTINUE && control_is_target(control, way)) {
            emit_jump(c, &control->continues);
            is_complete = true;
            break; // not passed: the loop goes on
        }
        is_complete = control_pass(c, control, way, value);
        control = control->outer;
    }
    if (!is_complete) emit_return(c, value);
    uint32_t end = emit_here(c);
    for (Control *passed = c->control; passed != control; passed = passed->outer) { // [try-1]
        if (passed->kind == CONTROL_LABEL || passed->kind == CONTROL_LOOP) continue;
        vec_push(&c->gaps, (Gap){passed, passed->gap_start, end});
    }
}

// --- try
// The exception arrives in the parameter itself when that is a plain name in a register.
static void compile_catch(FlowCompiler *c, FlowNode *node, Control *control) {
    FlowNode *parameter = node->catch_clause.parameter;
    bool is_name = parameter && parameter->kind == NODE_IDENTIFIER;
    Register mark = c->top;
    uint32_t start_pc = emit_here(c);
    Register error = NO_REGISTER;
    if (is_name && !variable_is_boxed(parameter->reference.to.variable)) {
        scope_enter(c, node->catch_clause.scope); // emits nothing
        error = parameter->reference.to.variable->reg;
        control_catch(c, control, error);
    } else {
        error = register_new(c);
        control_catch(c, control, error);
        scope_enter(c, node->catch_clause.scope);
    }
    if (is_name) {
        variable_initialize(c, use_of(parameter), error);
    } else if (parameter) {
        PatternSource source = {.value = error, .text = FLOW_HOLE};
        if (parameter->kind == NODE_OBJECT_PATTERN) // what V8 calls it
            source.text = flow_module_string(c->module, STR(".catch"));
        compile_pattern(c, parameter, source, PATTERN_DECLARE);
    }
    compile_statement(c, node->catch_clause.body);
    scope_leave(c, node->catch_clause.scope, mark, start_pc);
    c->top = mark;
}

static void compile_try_catch(FlowCompiler *c, FlowNode *node) {
    JumpList end = {0};
    Control control;
    control_begin(c, &control, CONTROL_CATCH, NULL);
    compile_statement(c, node->try_statement.block);
    control_end(c, &control);
    emit_jump(c, &end);
    compile_catch(c, node->try_statement.handler, &control);
    jump_patch_here(c, &end);
}

static void compile_exits(FlowCompiler *c, Control *control) { // [try-2]
    Register kind = control->record;
    emit_abc(c, OP_JUMP_STRICT_NE_INT, kind, 1, 1);
    emit_abc(c, OP_THROW, kind + 1, 0, 0);
    for (Exit *exit = control->exits; exit; exit = exit->next) {
        JumpList skip = {0};
        emit_compare(c, OP_JUMP_STRICT_NE_INT, kind, (uint32_t)exit->number, &skip);
        control_exit(c, *exit, kind + 1);
        jump_patch_here(c, &skip);
    }
}

void compile_try(FlowCompiler *c, FlowNode *node) {
    if (!node->try_statement.finalizer) {
        compile_try_catch(c, node);
        return;
    }
    Control control;
    Register mark = c->top;
    Register record = register_block(c, 2);
    // The value register holds nothing yet, but it is in use for snapshots and handlers.
    emit_abc(c, OP_LOAD_UNDEFINED, record + 1, 0, 0);
    emit_abc(c, OP_LOAD_UNDEFINED, record, 0, 0);
    control_begin(c, &control, CONTROL_FINALLY, NULL);
    control.record = record;
    if (node->try_statement.handler) compile_try_catch(c, node);
    else compile_statement(c, node->try_statement.block);
    control_end(c, &control);
    emit_wide(c, OP_LOAD_INT, record, 0);
    emit_jump(c, &control.entries);
    control_catch(c, &control, record + 1);
    emit_wide(c, OP_LOAD_INT, record, 1);
    jump_patch_here(c, &control.entries);
    compile_statement(c, node->try_statement.finalizer);
    compile_exits(c, &control);
    c->top = mark;
}

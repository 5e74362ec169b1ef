// await, yield and yield*.
//
//   [yield-1] What is in use at a suspension is exactly the registers below c->top: LIVE.
//   [yield-2] A generator that is told to return at a yield leaves like a return statement: through
//        the finally blocks and open iterators around it.
//   [yield-3] An async generator awaits what it yields, what it returns, and the value it is told
//        to return with.

#include "flow/compile/nodes.h"
#include "flow/value/error.h"

void emit_await(FlowCompiler *c, Register dst, Register src, uint32_t at) {
    Register live = c->top;
    if (dst + 1 == live && !c->is_variable.data[dst]) live--; // holds nothing yet
    emit_position(c, at);
    emit_abc(c, OP_AWAIT, dst, src, live);
}

void compile_await(FlowCompiler *c, FlowNode *node, Register dst) {
    Register mark = c->top;
    Register value = compile_any(c, node->unary.operand);
    c->top = mark; // the operand is dead while it is waited for [yield-1]
    emit_await(c, dst, value, node->at);
}

// Leaves with the value in `reg`, as `return` does.
static void emit_generator_return(FlowCompiler *c, Register reg, uint32_t at) {
    if (c->function->is_async) emit_await(c, reg, reg, at);
    control_exit(c, (Exit){.kind = EXIT_RETURN}, reg);
}

static void emit_resume(FlowCompiler *c, Register sent, uint32_t at) {
    JumpList go_on = {0};
    emit_abc(c, OP_RESUME, sent, 0, 1);
    emit_jump(c, &go_on);
    emit_generator_return(c, sent, at);
    jump_patch_here(c, &go_on);
}

static void compile_yield_value(FlowCompiler *c, FlowNode *node, Register dst) {
    Register sent = register_block(c, 2); // the value sent and how
    if (node->unary.operand) compile_expression(c, node->unary.operand, sent);
    else emit_abc(c, OP_LOAD_UNDEFINED, sent, 0, 0);
    if (c->function->is_async) emit_await(c, sent, sent, node->at);
    emit_position(c, node->at);
    emit_abc(c, OP_YIELD, sent, sent, c->top);
    emit_resume(c, sent, node->at);
    emit_move(c, dst, sent);
}

// --- yield*
typedef struct Delegate {
    Register record;   // 3
    Register received; // value and mode: 0 next, 1 throw, 2 return
    Register result;   // what the inner iterator answered
    uint32_t at;
    bool is_async;
} Delegate;

// result = method(received), with the iterator as this.
static void delegate_call(FlowCompiler *c, const Delegate *d, Register method) {
    Register mark = c->top;
    Register block = register_block(c, 3);
    emit_move(c, block, method);
    emit_move(c, block + 1, d->record);
    emit_move(c, block + 2, d->received);
    emit_position(c, d->at);
    emit_abc(c, OP_CALL, block, 1, d->result);
    c->top = mark;
    if (d->is_async) emit_await(c, d->result, d->result, d->at);
}

static void delegate_get(FlowCompiler *c, const Delegate *d, Str name, Register dst) {
    FlowValue key = flow_module_string(c->module, name);
    uint32_t site = site_new(c, key);
    if (site == NO_REGISTER) compile_limit(c, d->at, "property accesses");
    emit_abc(c, OP_GET_FIELD, dst, d->result, site == NO_REGISTER ? 0 : site);
}

static void delegate_throw(FlowCompiler *c, const Delegate *d, JumpList *answered) {
    JumpList missing = {0};
    Register mark = c->top;
    Register method = register_new(c);
    emit_position(c, d->at);
    emit_abc(c, OP_ITER_GET_METHOD, method, d->record, 2);
    emit_jump_if(c, OP_JUMP_IF_UNDEFINED, method, &missing);
    delegate_call(c, d, method);
    emit_jump(c, answered);
    jump_patch_here(c, &missing);
    Control control = {.kind = CONTROL_ITERATOR, .record = d->record, .is_async = d->is_async};
    iterator_close(c, &control);
    FlowValue text =
        flow_module_string(c->module, STR("The iterator does not provide a 'throw' method."));
    emit_position(c, d->at);
    emit_wide(c, OP_THROW_ERROR, ERROR_KIND_TYPE, (int32_t)constant_index(c, text));
    c->top = mark;
}

static void delegate_return(FlowCompiler *c, const Delegate *d, JumpList *suspend) {
    JumpList missing = {0};
    Register mark = c->top;
    Register method = register_new(c);
    emit_position(c, d->at);
    emit_abc(c, OP_ITER_GET_METHOD, method, d->record, 1);
    emit_jump_if(c, OP_JUMP_IF_UNDEFINED, method, &missing);
    delegate_call(c, d, method);
    emit_position(c, d->at);
    emit_abc(c, OP_CHECK_OBJECT, d->result, 0, 0);
    Register done = method;
    delegate_get(c, d, STR("done"), done);
    emit_jump_if(c, OP_JUMP_IF_FALSE, done, suspend);
    delegate_get(c, d, STR("value"), d->received);
    control_exit(c, (Exit){.kind = EXIT_RETURN}, d->received);
    jump_patch_here(c, &missing);
    if (d->is_async) emit_await(c, d->received, d->received, d->at);
    control_exit(c, (Exit){.kind = EXIT_RETURN}, d->received);
    c->top = mark;
}

// Hands out the inner result and waits for the next order.
static void delegate_suspend(FlowCompiler *c, const Delegate *d) {
    if (!d->is_async) {
        emit_position(c, d->at);
        emit_abc(c, OP_YIELD_RESULT, d->received, d->result, c->top);
        return;
    }
    JumpList plain = {0};
    JumpList end = {0};
    delegate_get(c, d, STR("value"), d->result);
    emit_abc(c, OP_YIELD, d->received, d->result, c->top);
    emit_compare(c, OP_JUMP_STRICT_NE_INT, d->received + 1, 2, &plain);
    // [yield-3]: a value to return with is awaited first; a rejection is thrown into the iterator.
    Control control;
    control_begin(c, &control, CONTROL_CATCH, NULL);
    emit_await(c, d->received, d->received, d->at);
    control_end(c, &control);
    emit_jump(c, &end);
    control_catch(c, &control, d->received);
    emit_wide(c, OP_LOAD_INT, d->received + 1, 1);
    jump_patch_here(c, &plain);
    jump_patch_here(c, &end);
}

// V8 names the operand of yield* only where it has a position of its own, and then oddly.
static void emit_delegate_description(FlowCompiler *c, const FlowNode *operand, bool is_async) {
    switch (operand->kind) {
    case NODE_MEMBER:
    case NODE_INDEX:
    case NODE_PRIVATE_MEMBER:
    case NODE_SUPER_MEMBER:
    case NODE_CALL:
    case NODE_NEW:
    case NODE_TAGGED:
    case NODE_SEQUENCE: break;
    default: return;
    }
    Str text = is_async ? STR("yield* (intermediate value)(intermediate value)(intermediate "
                              "value)(intermediate value)")
                        : STR("yield* (intermediate value)");
    emit_description_text(c, flow_module_string(c->module, text));
}

static void compile_yield_delegate(FlowCompiler *c, FlowNode *node, Register dst) {
    Delegate d = {.at = node->at, .is_async = c->function->is_async};
    d.record = register_block(c, 3);
    d.received = register_block(c, 2);
    d.result = register_new(c);
    JumpList thrown = {0};
    JumpList returned = {0};
    JumpList answered = {0};
    JumpList suspend = {0};
    JumpList finished = {0};
    compile_expression(c, node->unary.operand, d.received);
    emit_position(c, node->unary.operand->start);
    emit_delegate_description(c, node->unary.operand, d.is_async);
    emit_abc(c, d.is_async ? OP_GET_ASYNC_ITERATOR : OP_GET_ITERATOR, d.record, d.received,
             d.is_async ? 0 : 1);
    emit_abc(c, OP_ITER_START, d.record, 0, 0);
    emit_abc(c, OP_LOAD_UNDEFINED, d.received, 0, 0);
    emit_wide(c, OP_LOAD_INT, d.received + 1, 0);
    uint32_t loop = emit_here(c);
    emit_compare(c, OP_JUMP_STRICT_EQ_INT, d.received + 1, 1, &thrown);
    emit_compare(c, OP_JUMP_STRICT_EQ_INT, d.received + 1, 2, &returned);
    delegate_call(c, &d, d.record + 1);
    emit_jump(c, &answered);
    jump_patch_here(c, &thrown);
    delegate_throw(c, &d, &answered);
    jump_patch_here(c, &returned);
    delegate_return(c, &d, &suspend);
    jump_patch_here(c, &answered);
    Register done = register_new(c);
    emit_position(c, d.at);
    emit_abc(c, OP_CHECK_OBJECT, d.result, 0, 0);
    delegate_get(c, &d, STR("done"), done);
    emit_jump_if(c, OP_JUMP_IF_TRUE, done, &finished);
    c->top--;
    jump_patch_here(c, &suspend);
    delegate_suspend(c, &d);
    emit_jump_back(c, loop);
    jump_patch_here(c, &finished);
    delegate_get(c, &d, STR("value"), dst);
}

void compile_yield(FlowCompiler *c, FlowNode *node, Register dst) {
    Register mark = c->top;
    if (node->flags & FLAG_DELEGATE) compile_yield_delegate(c, node, dst);
    else compile_yield_value(c, node, dst);
    c->top = mark;
}

// Calls: entering functions of every kind, returning, unwinding.
//
// A script function gets a frame; a native runs at once and its result is delivered; a bound
// function and NATIVE_CALL rearrange the block and go round again, so there is no recursion.
//
//   [vm-call-1] `stack` may move whenever a frame is pushed: hold indices, not pointers.
//   [vm-call-2] A frame's `top` is at least that of the frame below, so that all of stack[0,
//        stack_top) stays valid for the collector when frames come and go.
//   [vm-call-3] A native that needs script code to run first keeps its block in a FRAME_NATIVE and
//        is called again from the start.
#include "base/assert.h"
#include "base/memory.h"
#include "flow/code/opcodes.h"
#include "flow/value/object_layout.h"
#include "flow/vm/native.h"
#include "flow/vm/unwound.h"

enum { STACK_FIRST = 64, FRAMES_FIRST = 4, STACK_MAX = 1 << 22 };

bool flow_vm_reserve_stack(FlowVm *vm, uint32_t top) {
    if (top <= vm->stack_capacity) return true;
    if (top > STACK_MAX) return flow_throw_range(vm, "Maximum call stack size exceeded");
    uint32_t capacity = vm->stack_capacity ? vm->stack_capacity : STACK_FIRST;
    while (capacity < top) capacity *= 2;
    vm->stack = mem_realloc(vm->stack, capacity * sizeof *vm->stack);
    vm->stack_capacity = capacity;
    return true;
}

FlowFrame *flow_vm_push_frame(FlowVm *vm) {
    if (vm->frame_count >= vm->limits.call_depth) {
        flow_throw_range(vm, "Maximum call stack size exceeded");
        return NULL;
    }
    if (vm->frame_count == vm->frame_capacity) {
        vm->frame_capacity = vm->frame_capacity ? vm->frame_capacity * 2 : FRAMES_FIRST;
        vm->frames = mem_realloc(vm->frames, vm->frame_capacity * sizeof *vm->frames);
    }
    ASSERT(vm->frame_count < vm->frame_capacity);
    FlowFrame *frame = &vm->frames[vm->frame_count++];
    *frame = (FlowFrame){.function = FLOW_UNDEFINED, .new_target = FLOW_UNDEFINED};
    return frame;
}

void flow_vm_pop_frame(FlowVm *vm) {
    ASSERT(vm->frame_count > 0);
    ASSERT(vm->frames[vm->frame_count - 1].top >= vm->frames[vm->frame_count - 1].base);
    vm->frame_count--;
    vm->stack_top = vm->frame_count ? vm->frames[vm->frame_count - 1].top : 0;
}

FlowObject *flow_new_target_proto(FlowVm *vm, FlowValue new_target, FlowProtoId fallback) {
    if (flow_is_object(new_target)) {
        FlowValue proto =
            flow_object_get_data(vm, flow_as_object(new_target), FLOW_KEY(vm, prototype));
        if (flow_is_object(proto)) return flow_as_object(proto);
    }
    return vm->realm->protos[fallback];
}

// --- script functions

static FlowArray *rest_array(FlowVm *vm, uint32_t base, uint32_t skip, uint32_t count) {
    if (count <= skip) return flow_array_new(vm, 0);
    return flow_array_from(vm, vm->stack + base + 1 + skip, count - skip);
}

static FlowObject *arguments_object(FlowVm *vm, uint32_t base, uint32_t count) {
    FlowObject *object =
        flow_object_alloc(vm, KIND_ARGUMENTS, sizeof(FlowObject), vm->realm->protos[PROTO_OBJECT]);
    flow_object_define(vm, object, FLOW_KEY(vm, length), flow_uint(count), PROPERTY_HIDDEN);
    flow_object_define(vm, object, FLOW_SYMBOL(vm, SYMBOL_ITERATOR),
                       flow_from_object(vm->realm->array_values), PROPERTY_HIDDEN);
    FlowValue thrower = flow_from_object(vm->realm->thrower);
    flow_object_define_accessor(vm, object, FLOW_KEY(vm, callee), (FlowGetSet){thrower, thrower},
                                0);
    for (uint32_t i = 0; i < count; i++) {
        flow_elements_put(vm, object, i, vm->stack[base + 1 + i], PROPERTY_DEFAULT);
    }
    return object;
}

static bool check_callable_as(FlowVm *vm, const FlowClosure *closure, bool is_construct) {
    const FlowRoutine *routine = closure->routine;
    if (is_construct || !(routine->flags & ROUTINE_CONSTRUCTOR)) return true;
    char text[FLOW_TEXT_MAX];
    FlowValue name = flow_object_get_data(vm, (FlowObject *)(uintptr_t)closure, FLOW_KEY(vm, name));
    if (!flow_is_string(name)) name = routine->name;
    return flow_throw_type(vm, "Class constructor %s cannot be invoked without 'new'",
                           flow_describe(vm, name, text));
}

// The object `new` makes for a base constructor; HOLE for a derived one, whose super() makes it.
static FlowValue construct_this(FlowVm *vm, const FlowClosure *closure, FlowValue new_target) {
    if (closure->routine->flags & ROUTINE_DERIVED) return FLOW_HOLE;
    FlowObject *proto = flow_new_target_proto(vm, new_target, PROTO_OBJECT);
    return flow_from_object(flow_object_new(vm, proto));
}

static bool enter_closure(FlowVm *vm, FlowClosure *closure, const FlowInvocation *in) {
    const FlowRoutine *routine = closure->routine;
    bool is_construct = !flow_is_undefined(in->new_target);
    if (!check_callable_as(vm, closure, is_construct)) return false;
    uint32_t window = in->base + routine->register_count;
    if (!flow_vm_reserve_stack(vm, window)) return false;
    FlowFrame *frame = flow_vm_push_frame(vm);
    if (!frame) return false;
    frame->closure = closure;
    frame->function = in->function;
    frame->new_target = in->new_target;
    frame->base = in->base;
    frame->top = window > vm->stack_top ? window : vm->stack_top; // [vm-call-2]
    ASSERT(frame->top <= vm->stack_capacity);
    frame->return_to = in->return_to;
    frame->return_kind = (uint8_t)in->return_kind;
    frame->flags = is_construct ? FRAME_CONSTRUCT : 0;
    if (routine->flags & ROUTINE_GENERATOR) frame->flags |= FRAME_GENERATOR;
    else if (routine->flags & ROUTINE_ASYNC) frame->flags |= FRAME_ASYNC;
    // Objects for surplus arguments come first: the registers of locals lie over them.
    FlowValue rest = FLOW_HOLE;
    FlowValue arguments = FLOW_HOLE;
    uint32_t parameters = routine->parameter_count;
    if (routine->flags & ROUTINE_HAS_REST) {
        rest = flow_from_object(rest_array(vm, in->base, parameters, in->count));
    }
    if (routine->flags & ROUTINE_HAS_ARGUMENTS) {
        arguments = flow_from_object(arguments_object(vm, in->base, in->count));
    }
    FlowValue *registers = vm->stack + in->base;
    uint32_t i = in->count < parameters ? in->count : parameters;
    for (; i < parameters; i++) registers[1 + i] = FLOW_UNDEFINED;
    uint32_t next = 1 + parameters;
    if (routine->flags & ROUTINE_HAS_REST) registers[next++] = rest;
    if (routine->flags & ROUTINE_HAS_ARGUMENTS) registers[next++] = arguments;
    for (; next < routine->register_count; next++) registers[next] = FLOW_HOLE;
    // A window below the old top may leave surplus arguments above itself: they stay valid.
    if (is_construct) registers[0] = construct_this(vm, closure, in->new_target);
    vm->stack_top = frame->top;
    return true;
}

// --- natives

static bool push_native_frame(FlowVm *vm, const FlowInvocation *in, bool has_collected) {
    FlowFrame *frame = flow_vm_push_frame(vm);
    if (!frame) return false;
    frame->kind = FRAME_NATIVE;
    frame->function = in->function;
    frame->new_target = in->new_target;
    frame->base = in->base;
    frame->argument_count = in->count;
    frame->return_to = in->return_to;
    frame->return_kind = (uint8_t)in->return_kind;
    frame->has_collected = has_collected;
    uint32_t top = in->base + 1 + in->count;
    frame->top = top > vm->stack_top ? top : vm->stack_top;
    vm->stack_top = frame->top;
    return true;
}

static FlowFrame frame_of_invocation(const FlowInvocation *in) {
    return (FlowFrame){.return_to = in->return_to, .return_kind = (uint8_t)in->return_kind};
}

// Lays the block out anew for NATIVE_CALL.
static bool replace_block(FlowVm *vm, const FlowNativeCall *call, FlowInvocation *in) {
    if (call->call_skips > 0) {
        uint32_t skipped = call->call_skips < in->count ? call->call_skips : in->count;
        FlowValue *arguments = vm->stack + in->base + 1;
        in->count -= skipped;
        memmove(arguments, arguments + skipped, in->count * sizeof *arguments);
        vm->stack[in->base] = call->call_this;
        in->function = call->call_function;
        in->new_target = call->call_new_target;
        return true;
    }
    uint32_t count = call->call_arguments ? call->call_arguments->length : 0;
    if (count > CALL_ARGUMENTS_MAX) return flow_throw_range(vm, "Maximum call stack size exceeded");
    if (!flow_vm_reserve_stack(vm, in->base + 1 + count)) return false;
    vm->stack[in->base] = call->call_this;
    for (uint32_t i = 0; i < count; i++) {
        FlowValue value = flow_object_element(vm, &call->call_arguments->object, i);
        vm->stack[in->base + 1 + i] = flow_is_hole(value) ? FLOW_UNDEFINED : value;
    }
    in->function = call->call_function;
    in->count = count;
    in->new_target = call->call_new_target;
    return true;
}

typedef enum EnterResult { ENTER_DONE, ENTER_THROWN, ENTER_AGAIN } EnterResult;

static EnterResult native_needs_primitive(FlowVm *vm, const FlowNativeCall *call,
                                          const FlowInvocation *in) {
    if (!push_native_frame(vm, in, false)) return ENTER_THROWN;
    uint32_t place = in->base + 1 + (uint32_t)call->needs_index; // -1 is this
    FlowHelperCall helper = {
        .helper = HELPER_toPrimitive,
        .count = 2,
        .arguments = {vm->stack[place], flow_int((int32_t)call->needs_hint)},
        .return_kind = RETURN_STORE,
        .return_to = place,
    };
    return flow_vm_push_helper(vm, &helper) ? ENTER_DONE : ENTER_THROWN;
}

// What the answer of a native asks for.
static EnterResult finish_native(FlowVm *vm, FlowInvocation *in, FlowNativeCall *call,
                                 FlowNativeResult result);

static EnterResult enter_native(FlowVm *vm, FlowInvocation *in, bool has_collected) {
    FlowNativeFunction *function = flow_as_pointer(in->function);
    bool is_construct = !flow_is_undefined(in->new_target);
    if (is_construct && !(function->entry->flags & NATIVE_CONSTRUCTOR)) {
        flow_throw_type(vm, "%s is not a constructor", function->entry->name);
        return ENTER_THROWN;
    }
    FlowNativeCall call;
    flow_native_call_init(&call, &vm->stack[in->base], in->count, in->function);
    call.new_target = in->new_target;
    call.has_collected = has_collected;
    vm->fuel -= 4 + (int64_t)in->count;
    if (vm->checks_intrinsics && !flow_intrinsic_accepts(function->entry, &call)) {
        flow_throw_error(vm, ERROR_KIND_ERROR, "internal error: damaged execution state");
        return ENTER_THROWN;
    }
    return finish_native(vm, in, &call, function->entry->function(vm, &call));
}

static EnterResult finish_native(FlowVm *vm, FlowInvocation *in, FlowNativeCall *call,
                                 FlowNativeResult result) {
    switch (result) {
    case NATIVE_OK: {
        FlowFrame frame = frame_of_invocation(in);
        flow_vm_deliver(vm, &frame, call->result);
        return ENTER_DONE;
    }
    case NATIVE_THROW: return ENTER_THROWN;
    case NATIVE_NEEDS_PRIMITIVE: return native_needs_primitive(vm, call, in);
    case NATIVE_NEEDS_ROOM: {
        uint32_t top = vm->stack_top;
        if (in->base + 1 + in->count > top) vm->stack_top = in->base + 1 + in->count;
        flow_vm_collect(vm);
        vm->stack_top = top;
        return enter_native(vm, in, true); // once: the second time the native throws
    }
    case NATIVE_CALL: return replace_block(vm, call, in) ? ENTER_AGAIN : ENTER_THROWN;
    case NATIVE_RESUME: {
        FlowFrame caller = frame_of_invocation(in);
        FlowCoroutine *coroutine = flow_as_pointer(call->resume_target);
        FlowClosure *body = flow_as_pointer(coroutine->function);
        if (body->routine->flags & ROUTINE_ASYNC) { // the caller has its promise at once
            flow_vm_deliver(vm, &caller, call->result);
            flow_async_generator_drain(vm, coroutine);
            return ENTER_DONE;
        }
        bool is_done = flow_generator_resume(vm, coroutine, (FlowResumeMode)call->resume_mode,
                                             call->resume_value, &caller);
        return is_done ? ENTER_DONE : ENTER_THROWN;
    }
    }
    UNREACHABLE();
}

static bool unpack_bound(FlowVm *vm, FlowInvocation *in) {
    FlowBoundFunction *bound = flow_as_pointer(in->function);
    uint32_t extra = bound->count;
    vm->fuel -= 4 + (int64_t)extra;
    if (!flow_vm_reserve_stack(vm, in->base + 1 + in->count + extra)) return false;
    FlowValue *arguments = vm->stack + in->base + 1;
    memmove(arguments + extra, arguments, in->count * sizeof *arguments);
    memcpy(arguments, bound->arguments, extra * sizeof *arguments);
    vm->stack[in->base] = bound->this_value;
    if (flow_same_bits(in->new_target, in->function)) in->new_target = bound->target;
    in->function = bound->target;
    in->count += extra;
    return true;
}

bool flow_vm_enter(FlowVm *vm, const FlowInvocation *invocation) {
    FlowInvocation in = *invocation;
    for (;;) {
        ASSERT(flow_is_callable(in.function));
        FlowObject *function = flow_as_object(in.function);
        if (function->cell.kind == KIND_CLOSURE) {
            return enter_closure(vm, (FlowClosure *)function, &in);
        }
        if (function->cell.kind == KIND_BOUND_FUNCTION) {
            if (!unpack_bound(vm, &in)) return false;
            continue;
        }
        EnterResult result = enter_native(vm, &in, false);
        if (result != ENTER_AGAIN) return result == ENTER_DONE;
        if (!flow_is_callable(in.function)) {
            char text[FLOW_TEXT_MAX];
            return flow_throw_type(vm, "%s is not a function",
                                   flow_describe(vm, in.function, text));
        }
    }
}

bool flow_vm_finish_native(FlowVm *vm, const FlowInvocation *invocation, FlowNativeCall *call,
                           FlowNativeResult result) {
    FlowInvocation in = *invocation;
    EnterResult entered = finish_native(vm, &in, call, result);
    if (entered != ENTER_AGAIN) return entered == ENTER_DONE;
    if (flow_is_callable(in.function)) return flow_vm_enter(vm, &in);
    char text[FLOW_TEXT_MAX];
    return flow_throw_type(vm, "%s is not a function", flow_describe(vm, in.function, text));
}

bool flow_vm_push_call(FlowVm *vm, const FlowCall *call) {
    uint32_t base = vm->stack_top;
    if (!flow_vm_reserve_stack(vm, base + 1 + call->count)) return false;
    vm->stack[base] = call->this_value;
    for (uint32_t i = 0; i < call->count; i++) vm->stack[base + 1 + i] = call->arguments[i];
    FlowInvocation in = {
        .function = call->function,
        .new_target = call->new_target,
        .base = base,
        .count = call->count,
        .return_to = call->return_to,
        .return_kind = call->return_kind,
    };
    return flow_vm_enter(vm, &in);
}

bool flow_vm_push_helper(FlowVm *vm, const FlowHelperCall *call) {
    return flow_vm_push_call(vm, &(FlowCall){
                                     .function = flow_from_object(vm->realm->helpers[call->helper]),
                                     .this_value = FLOW_UNDEFINED,
                                     .arguments = call->arguments,
                                     .count = call->count,
                                     .new_target = FLOW_UNDEFINED,
                                     .return_kind = call->return_kind,
                                     .return_to = call->return_to,
                                 });
}

bool flow_vm_resume_native(FlowVm *vm) {
    FlowFrame frame = vm->frames[vm->frame_count - 1];
    ASSERT(frame.kind == FRAME_NATIVE);
    flow_vm_pop_frame(vm);
    FlowInvocation in = {
        .function = frame.function,
        .new_target = frame.new_target,
        .base = frame.base,
        .count = frame.argument_count,
        .return_to = frame.return_to,
        .return_kind = (FlowReturnKind)frame.return_kind,
    };
    return flow_vm_enter(vm, &in);
}

// --- returning

static bool branch_is_taken(uint16_t op, bool value) {
    switch (op) {
    case OP_JUMP_LT:
    case OP_JUMP_LE:
    case OP_JUMP_GT:
    case OP_JUMP_GE:
    case OP_JUMP_LT_INT:
    case OP_JUMP_LE_INT:
    case OP_JUMP_GT_INT:
    case OP_JUMP_GE_INT:
    case OP_JUMP_EQ: return value;
    default: return !value;
    }
}

void flow_vm_deliver(FlowVm *vm, const FlowFrame *frame, FlowValue value) {
    switch ((FlowReturnKind)frame->return_kind) {
    case RETURN_STORE: vm->stack[frame->return_to] = value; return;
    case RETURN_NOT: vm->stack[frame->return_to] = flow_bool(!flow_to_boolean(value)); return;
    case RETURN_DISCARD: return;
    case RETURN_BRANCH: {
        FlowFrame *caller = &vm->frames[vm->frame_count - 1];
        FlowInstruction at = caller->closure->routine->code[caller->pc - 1];
        if (branch_is_taken(at.op, flow_to_boolean(value))) {
            caller->pc = (uint32_t)((int32_t)caller->pc + (int16_t)at.c);
        }
        return;
    }
    case RETURN_DRIVER: flow_driver_finish(vm, value, false); return;
    }
    UNREACHABLE();
}

bool flow_vm_return(FlowVm *vm, FlowValue value) {
    FlowFrame frame = vm->frames[vm->frame_count - 1];
    if (frame.flags & FRAME_CONSTRUCT && !flow_is_object(value)) {
        value = vm->stack[frame.base]; // derived constructors: RETURN_DERIVED saw to it
    }
    flow_vm_pop_frame(vm);
    if (frame.flags & FRAME_GENERATOR && frame.coroutine) {
        if (frame.closure->routine->flags & ROUTINE_ASYNC) {
            flow_generator_complete(vm, frame.coroutine, value, false);
            return true;
        }
        frame.coroutine->state = COROUTINE_DONE;
        frame.coroutine->registers = NULL;
        value = flow_from_object(flow_iterator_result(vm, value, true));
    } else if (frame.flags & FRAME_ASYNC) {
        FlowCoroutine *coroutine = frame.coroutine;
        FlowPromise *promise = coroutine ? coroutine->promise : flow_promise_new(vm);
        flow_promise_resolve(vm, promise, value);
        if (coroutine) {
            coroutine->state = COROUTINE_DONE;
            coroutine->registers = NULL;
            return true; // the caller has had the promise since the first await
        }
        value = flow_from_object(promise);
    }
    flow_vm_deliver(vm, &frame, value);
    return true;
}

// --- unwinding

// The topmost script frame has no handler: takes it off. True: the exception ended there.
static bool abandon_frame(FlowVm *vm) {
    FlowFrame frame = vm->frames[vm->frame_count - 1];
    flow_unwound_note(vm, &frame);
    flow_vm_pop_frame(vm);
    if (frame.flags & FRAME_ASYNC) {
        FlowCoroutine *coroutine = frame.coroutine;
        FlowPromise *promise = coroutine ? coroutine->promise : flow_promise_new(vm);
        FlowValue reason = vm->exception;
        vm->exception = FLOW_HOLE;
        flow_promise_reject(vm, promise, reason);
        if (coroutine) {
            coroutine->state = COROUTINE_DONE;
            coroutine->registers = NULL;
        } else {
            flow_vm_deliver(vm, &frame, flow_from_object(promise));
        }
        return true;
    }
    if (frame.flags & FRAME_GENERATOR && frame.coroutine) {
        if (frame.closure->routine->flags & ROUTINE_ASYNC) {
            FlowValue reason = vm->exception;
            vm->exception = FLOW_HOLE;
            flow_generator_complete(vm, frame.coroutine, reason, true);
            return true;
        }
        frame.coroutine->state = COROUTINE_DONE;
        frame.coroutine->registers = NULL;
    }
    if (frame.return_kind == RETURN_DRIVER) {
        FlowValue reason = vm->exception;
        vm->exception = FLOW_HOLE;
        flow_driver_finish(vm, reason, true);
        return true;
    }
    return false;
}

bool flow_vm_unwind(FlowVm *vm) {
    ASSERT(!flow_is_hole(vm->exception));
    while (vm->frame_count > 0) {
        FlowFrame *frame = &vm->frames[vm->frame_count - 1];
        if (frame->kind == FRAME_SCRIPT && frame->pc > 0) {
            const FlowRoutine *routine = frame->closure->routine;
            const FlowHandler *handler = flow_routine_handler(routine, frame->pc - 1);
            if (handler) {
                flow_unwound_catch(vm, frame);
                vm->stack[frame->base + handler->reg] = vm->exception;
                vm->exception = FLOW_HOLE;
                frame->pc = handler->target;
                return true;
            }
        }
        if (abandon_frame(vm)) return true;
    }
    return false;
}

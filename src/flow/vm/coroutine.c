// Coroutines: async functions, generators and async generators leaving and re-entering the stack.
//
//   [coroutine-1] While a coroutine is suspended, `registers` holds R0 .. R[live-1] and `pc` is the
//        index of the instruction that suspended it; resuming writes that instruction's result.
//   [coroutine-2] An async function gets its coroutine at its first await: one that never waits
//        costs only its promise.
//   [coroutine-3] An async generator serves its requests one by one; a request that finds it busy
//        waits in the queue.
#include "base/assert.h"
#include "flow/code/opcodes.h"
#include "flow/value/object_layout.h"
#include "flow/vm/vm.h"

FlowObject *flow_iterator_result(FlowVm *vm, FlowValue value, bool is_done) {
    FlowObject *result = flow_object_new_sized(vm, vm->realm->protos[PROTO_OBJECT], 2);
    flow_object_add(vm, result, FLOW_KEY(vm, value), value, PROPERTY_DEFAULT);
    flow_object_add(vm, result, FLOW_KEY(vm, done), flow_bool(is_done), PROPERTY_DEFAULT);
    return result;
}

static FlowCoroutine *coroutine_new(FlowVm *vm, const FlowFrame *frame, FlowObject *proto) {
    FlowCoroutine *coroutine =
        (FlowCoroutine *)flow_object_alloc(vm, KIND_COROUTINE, sizeof *coroutine, proto);
    coroutine->function = frame->function;
    coroutine->new_target = FLOW_UNDEFINED;
    return coroutine;
}

// Moves the topmost frame into the coroutine and off the stack [coroutine-1].
static void coroutine_save(FlowVm *vm, FlowCoroutine *coroutine, uint32_t live) {
    FlowFrame *frame = &vm->frames[vm->frame_count - 1];
    FlowStorage *storage = coroutine->registers;
    if (!storage || storage->cell.aux < live) {
        if (storage) flow_heap_free(&vm->heap, storage);
        storage =
            flow_heap_alloc(&vm->heap, KIND_ELEMENTS, sizeof *storage + live * sizeof(FlowValue));
        storage->cell.aux = live;
        coroutine->registers = storage;
    }
    memcpy(storage->values, vm->stack + frame->base, live * sizeof(FlowValue));
    storage->count = live;
    coroutine->pc = frame->pc - 1;
    coroutine->state = COROUTINE_SUSPENDED;
    flow_vm_pop_frame(vm);
}

void flow_coroutine_await(FlowVm *vm, FlowValue value, uint32_t live) {
    FlowFrame frame = vm->frames[vm->frame_count - 1];
    FlowCoroutine *coroutine = frame.coroutine;
    bool is_first = !coroutine; // [coroutine-2]
    if (is_first) {
        coroutine = coroutine_new(vm, &frame, NULL);
        coroutine->promise = flow_promise_new(vm);
    }
    coroutine_save(vm, coroutine, live);
    coroutine->is_awaiting = 1;
    FlowReaction *reaction = flow_reaction_new(vm, REACTION_AWAIT, flow_from_object(coroutine));
    flow_promise_react(vm, flow_promise_of(vm, value), reaction);
    if (is_first) {
        coroutine->has_returned_promise = 1;
        flow_vm_deliver(vm, &frame, flow_from_object(coroutine->promise));
    }
}

bool flow_coroutine_start_generator(FlowVm *vm, uint32_t live) {
    ASSERT(vm->frame_count > 0);
    FlowFrame frame = vm->frames[vm->frame_count - 1];
    bool is_async = frame.closure->routine->flags & ROUTINE_ASYNC;
    FlowProtoId fallback = is_async ? PROTO_ASYNC_GENERATOR : PROTO_GENERATOR;
    FlowObject *proto = flow_new_target_proto(vm, frame.function, fallback);
    FlowCoroutine *generator = coroutine_new(vm, &frame, proto);
    coroutine_save(vm, generator, live);
    generator->state = COROUTINE_START;
    flow_vm_deliver(vm, &frame, flow_from_object(generator));
    return true;
}

// Puts the frame on the stack, at the instruction after the one that suspended it.
static FlowFrame *coroutine_restore(FlowVm *vm, FlowCoroutine *coroutine) {
    FlowClosure *closure = flow_as_pointer(coroutine->function);
    const FlowRoutine *routine = closure->routine;
    ASSERT(coroutine->state != COROUTINE_RUNNING && coroutine->state != COROUTINE_DONE);
    uint32_t base = vm->stack_top;
    uint32_t top = base + routine->register_count;
    if (!flow_vm_reserve_stack(vm, top)) return NULL;
    FlowFrame *frame = flow_vm_push_frame(vm);
    if (!frame) return NULL;
    const FlowStorage *storage = coroutine->registers;
    ASSERT(storage->count <= routine->register_count); // [coroutine-1]
    memcpy(vm->stack + base, storage->values, storage->count * sizeof(FlowValue));
    for (uint32_t i = storage->count; i < routine->register_count; i++) {
        vm->stack[base + i] = FLOW_HOLE;
    }
    frame->closure = closure;
    frame->function = coroutine->function;
    frame->coroutine = coroutine;
    frame->base = base;
    frame->top = top;
    frame->pc = coroutine->pc + 1;
    frame->return_kind = RETURN_DISCARD;
    frame->flags = routine->flags & ROUTINE_GENERATOR ? FRAME_GENERATOR : FRAME_ASYNC;
    vm->stack_top = top;
    coroutine->state = COROUTINE_RUNNING;
    return frame;
}

bool flow_coroutine_resume(FlowVm *vm, FlowCoroutine *coroutine, FlowResumeMode mode,
                           FlowValue value) {
    bool was_awaiting = coroutine->is_awaiting;
    bool was_start = coroutine->state == COROUTINE_START;
    FlowFrame *frame = coroutine_restore(vm, coroutine);
    if (!frame) return false;
    coroutine->is_awaiting = 0;
    FlowInstruction at = frame->closure->routine->code[coroutine->pc];
    if (was_awaiting) {
        ASSERT(at.op == OP_AWAIT);
        if (mode == RESUME_THROW) return flow_throw(vm, value);
        vm->stack[frame->base + at.a] = value;
    } else if (!was_start) {
        ASSERT(at.op == OP_YIELD || at.op == OP_YIELD_RESULT);
        vm->stack[frame->base + at.a] = value;
        vm->stack[frame->base + at.a + 1] = flow_int((int32_t)mode);
    }
    return true;
}

// --- sync generators

bool flow_generator_resume(FlowVm *vm, FlowCoroutine *coroutine, FlowResumeMode mode,
                           FlowValue value, const FlowFrame *caller) {
    if (coroutine->state == COROUTINE_RUNNING) {
        return flow_throw_type(vm, "Generator is already running");
    }
    if (coroutine->state == COROUTINE_START && mode != RESUME_NEXT) {
        coroutine->state = COROUTINE_DONE;
        coroutine->registers = NULL;
    }
    if (coroutine->state == COROUTINE_DONE) {
        if (mode == RESUME_THROW) return flow_throw(vm, value);
        FlowValue last = mode == RESUME_RETURN ? value : FLOW_UNDEFINED;
        flow_vm_deliver(vm, caller, flow_from_object(flow_iterator_result(vm, last, true)));
        return true;
    }
    if (!flow_coroutine_resume(vm, coroutine, mode, value)) return false;
    FlowFrame *frame = &vm->frames[vm->frame_count - 1];
    frame->return_kind = caller->return_kind;
    frame->return_to = caller->return_to;
    return true;
}

void flow_coroutine_yield(FlowVm *vm, FlowValue value, uint32_t live) {
    FlowFrame frame = vm->frames[vm->frame_count - 1];
    FlowCoroutine *generator = frame.coroutine;
    ASSERT(generator != NULL && generator->state == COROUTINE_RUNNING); // [vm-promise-2]
    bool is_wrapped = frame.closure->routine->code[frame.pc - 1].op == OP_YIELD_RESULT;
    coroutine_save(vm, generator, live);
    generator->is_awaiting = 0;
    FlowValue result =
        is_wrapped ? value : flow_from_object(flow_iterator_result(vm, value, false));
    if (!(frame.closure->routine->flags & ROUTINE_ASYNC)) {
        flow_vm_deliver(vm, &frame, result);
        return;
    }
    FlowRequest *request = generator->first_request;
    ASSERT(request);
    generator->first_request = request->next;
    if (!request->next) generator->last_request = NULL;
    flow_promise_resolve(vm, request->promise, result);
    flow_async_generator_drain(vm, generator);
}

// --- async generators

static FlowRequest *take_request(FlowCoroutine *generator) {
    FlowRequest *request = generator->first_request;
    ASSERT(request != NULL); // [coroutine-3]
    generator->first_request = request->next;
    if (!request->next) generator->last_request = NULL;
    return request;
}

static void finish_request(FlowVm *vm, FlowCoroutine *generator, FlowValue value, bool is_thrown) {
    FlowRequest *request = take_request(generator);
    if (is_thrown) {
        flow_promise_reject(vm, request->promise, value);
    } else {
        flow_promise_resolve(vm, request->promise,
                             flow_from_object(flow_iterator_result(vm, value, true)));
    }
}

void flow_async_generator_drain(FlowVm *vm, FlowCoroutine *generator) {
    while (generator->first_request) {
        FlowRequest *request = generator->first_request;
        FlowResumeMode mode = (FlowResumeMode)request->cell.small;
        if (generator->state == COROUTINE_RUNNING || generator->is_awaiting ||
            generator->state == COROUTINE_AWAITING_RETURN) {
            return; // [coroutine-3]
        }
        if (generator->state == COROUTINE_START && mode != RESUME_NEXT) {
            generator->state = COROUTINE_DONE;
            generator->registers = NULL;
        }
        if (generator->state != COROUTINE_DONE) {
            if (!flow_coroutine_resume(vm, generator, mode, request->value)) {
                FlowValue reason = vm->exception;
                vm->exception = FLOW_HOLE;
                generator->state = COROUTINE_DONE;
                finish_request(vm, generator, reason, true);
                continue;
            }
            return;
        }
        if (mode == RESUME_RETURN) {
            generator->state = COROUTINE_AWAITING_RETURN;
            FlowReaction *reaction =
                flow_reaction_new(vm, REACTION_GENERATOR_RETURN, flow_from_object(generator));
            flow_promise_react(vm, flow_promise_of(vm, request->value), reaction);
            return;
        }
        finish_request(vm, generator, mode == RESUME_THROW ? request->value : FLOW_UNDEFINED,
                       mode == RESUME_THROW);
    }
}

FlowPromise *flow_async_generator_enqueue(FlowVm *vm, FlowValue generator, FlowResumeMode mode,
                                          FlowValue value) {
    FlowPromise *promise = flow_promise_new(vm);
    FlowCoroutine *coroutine = flow_as_pointer(generator);
    FlowRequest *request = flow_heap_alloc(&vm->heap, KIND_REQUEST, sizeof *request);
    request->cell.small = (uint8_t)mode;
    request->value = value;
    request->promise = promise;
    if (coroutine->last_request) coroutine->last_request->next = request;
    else coroutine->first_request = request;
    coroutine->last_request = request;
    return promise;
}

void flow_generator_complete(FlowVm *vm, FlowCoroutine *generator, FlowValue value,
                             bool is_thrown) {
    generator->state = COROUTINE_DONE;
    generator->registers = NULL;
    finish_request(vm, generator, value, is_thrown);
    flow_async_generator_drain(vm, generator);
}

void flow_async_generator_returned(FlowVm *vm, FlowCoroutine *generator, FlowValue value,
                                   bool is_rejected) {
    generator->state = COROUTINE_DONE;
    finish_request(vm, generator, value, is_rejected);
    flow_async_generator_drain(vm, generator);
}

// Jobs: what happens when one is taken from the queue, and what its result is for.
//
// A job that calls script code pushes a bottom frame with RETURN_DRIVER; vm->driver remembers
// what the result is for. Jobs run only when the frame stack is empty, so one memory suffices.
//
//   [microtask-1] A job either completes here or leaves frames for the interpreter; never both.
//   [microtask-2] An exception that leaves a job is taken by the driver, except from JOB_CALL,
//        whose functions are resolving functions and do not throw.
#include "flow/vm/vm.h"

static void driver_set(FlowVm *vm, FlowDriverKind kind, FlowReaction *reaction) {
    vm->driver = (uint8_t)kind;
    vm->driver_reaction = reaction;
}

static void driver_call(FlowVm *vm, FlowValue function, FlowValue this_value,
                        const FlowValue *arguments, uint32_t count) {
    FlowCall call = {
        .function = function,
        .this_value = this_value,
        .arguments = arguments,
        .count = count,
        .new_target = FLOW_UNDEFINED,
        .return_kind = RETURN_DRIVER,
    };
    if (flow_vm_push_call(vm, &call)) return;
    FlowValue reason = vm->exception;
    vm->exception = FLOW_HOLE;
    flow_driver_finish(vm, reason, true);
}

// Settles the promise (or calls the functions) a reaction was made for.
static void reaction_deliver(FlowVm *vm, FlowReaction *reaction, FlowValue value,
                             bool is_rejected) {
    FlowValue function = is_rejected ? reaction->reject : reaction->resolve;
    if (!flow_is_undefined(function)) {
        driver_set(vm, DRIVER_NONE, NULL);
        driver_call(vm, function, FLOW_UNDEFINED, &value, 1);
    } else if (flow_is_object(reaction->promise)) {
        FlowPromise *promise = flow_as_pointer(reaction->promise);
        if (is_rejected) flow_promise_reject(vm, promise, value);
        else flow_promise_resolve(vm, promise, value);
    }
}

static void run_then(FlowVm *vm, FlowReaction *reaction, FlowValue argument, bool is_rejected) {
    FlowValue handler = is_rejected ? reaction->on_rejected : reaction->on_fulfilled;
    if (!flow_is_callable(handler)) {
        reaction_deliver(vm, reaction, argument, is_rejected);
        return;
    }
    driver_set(vm, DRIVER_REACTION, reaction);
    driver_call(vm, handler, FLOW_UNDEFINED, &argument, 1);
}

// onFinally takes no argument; the outcome waits in a second reaction.
static void run_finally(FlowVm *vm, FlowReaction *reaction, FlowValue argument, bool is_rejected) {
    FlowReaction *after = flow_reaction_new(vm, REACTION_FINALLY_VALUE, argument);
    after->cell.aux = is_rejected;
    after->promise = reaction->promise;
    driver_set(vm, DRIVER_FINALLY, after);
    driver_call(vm, reaction->on_fulfilled, FLOW_UNDEFINED, NULL, 0);
}

// What onFinally returned is awaited, then the outcome goes on: p2.then(() => outcome).
static void finish_finally(FlowVm *vm, FlowReaction *after, FlowValue result) {
    FlowPromise *derived = flow_as_pointer(after->promise);
    FlowPromise *waited = flow_promise_of(vm, result);
    FlowPromise *outcome = flow_promise_new(vm);
    after->promise = flow_from_object(outcome);
    flow_promise_react(vm, waited, after);
    flow_promise_resolve(vm, derived, flow_from_object(outcome));
}

static void run_finally_value(FlowVm *vm, FlowReaction *reaction, FlowValue argument,
                              bool is_rejected) {
    FlowPromise *promise = flow_as_pointer(reaction->promise);
    if (is_rejected) flow_promise_reject(vm, promise, argument);
    else if (reaction->cell.aux) flow_promise_reject(vm, promise, reaction->target);
    else flow_promise_resolve(vm, promise, reaction->target);
}

static void run_await(FlowVm *vm, FlowReaction *reaction, FlowValue argument, bool is_rejected) {
    FlowCoroutine *coroutine = flow_as_pointer(reaction->target);
    FlowResumeMode mode = is_rejected ? RESUME_THROW : RESUME_NEXT;
    if (flow_coroutine_resume(vm, coroutine, mode, argument)) return;
    // A debugger wants to see the frame: the interpreter unwinds, which asks the hook.
    if (!vm->throw_hook || vm->frame_count == 0) flow_vm_unwind(vm);
}

static void run_sync_iterator(FlowVm *vm, FlowReaction *reaction, FlowValue argument,
                              bool is_rejected) {
    FlowPromise *promise = flow_as_pointer(reaction->promise);
    if (is_rejected) {
        flow_promise_reject(vm, promise, argument);
        return;
    }
    FlowObject *result = flow_iterator_result(vm, argument, flow_is_true(reaction->target));
    flow_promise_resolve(vm, promise, flow_from_object(result));
}

static void run_reaction(FlowVm *vm, const FlowJob *job) {
    FlowReaction *reaction = flow_as_pointer(job->a);
    bool is_rejected = job->is_rejected;
    if (is_rejected) flow_error_place(vm, job->b, reaction);
    switch ((FlowReactionKind)reaction->cell.small) {
    case REACTION_THEN: run_then(vm, reaction, job->b, is_rejected); return;
    case REACTION_AWAIT: run_await(vm, reaction, job->b, is_rejected); return;
    case REACTION_COMBINATOR:
        flow_combinator_settle(vm, flow_as_pointer(reaction->target), reaction->cell.aux, job->b,
                               is_rejected);
        return;
    case REACTION_FINALLY: run_finally(vm, reaction, job->b, is_rejected); return;
    case REACTION_FINALLY_VALUE: run_finally_value(vm, reaction, job->b, is_rejected); return;
    case REACTION_RESOLVE: reaction_deliver(vm, reaction, job->b, is_rejected); return;
    case REACTION_GENERATOR_RETURN:
        flow_async_generator_returned(vm, flow_as_pointer(reaction->target), job->b, is_rejected);
        return;
    case REACTION_SYNC_ITERATOR: run_sync_iterator(vm, reaction, job->b, is_rejected); return;
    }
    UNREACHABLE();
}

static void run_thenable(FlowVm *vm, const FlowJob *job) {
    FlowPromise *promise = flow_as_pointer(job->a);
    bool is_native = flow_is_kind(job->b, KIND_PROMISE) && flow_is_object(job->c) &&
                     flow_as_object(job->c) == vm->realm->promise_then;
    if (is_native) { // the same as calling then with a fresh pair, without making the pair
        FlowReaction *reaction = flow_reaction_new(vm, REACTION_RESOLVE, FLOW_UNDEFINED);
        reaction->promise = job->a;
        flow_promise_react(vm, flow_as_pointer(job->b), reaction);
        return;
    }
    FlowBox *already = flow_box_new(vm, FLOW_FALSE);
    FlowValue pair[2] = {flow_promise_function(vm, promise, already, false),
                         flow_promise_function(vm, promise, already, true)};
    FlowReaction *memory = flow_reaction_new(vm, REACTION_RESOLVE, flow_from_cell(already));
    memory->promise = job->a;
    driver_set(vm, DRIVER_THENABLE, memory);
    driver_call(vm, job->c, job->b, pair, 2);
}

// `then` is an accessor: reads it, then goes on as with a plain one.
static void run_then_getter(FlowVm *vm, const FlowJob *job) {
    FlowReaction *memory = flow_reaction_new(vm, REACTION_RESOLVE, job->b);
    memory->promise = job->a;
    driver_set(vm, DRIVER_THEN_VALUE, memory);
    if (!flow_is_callable(job->c)) flow_driver_finish(vm, FLOW_UNDEFINED, false);
    else driver_call(vm, job->c, job->b, NULL, 0);
}

void flow_job_run(FlowVm *vm, const FlowJob *job) {
    ASSERT(vm->frame_count == 0);
    driver_set(vm, DRIVER_NONE, NULL);
    switch ((FlowJobKind)job->kind) {
    case JOB_REACTION: run_reaction(vm, job); return;
    case JOB_THENABLE: run_thenable(vm, job); return;
    case JOB_THEN_GETTER: run_then_getter(vm, job); return;
    case JOB_CALL: driver_call(vm, job->a, FLOW_UNDEFINED, &job->b, 1); return; // [microtask-2]
    }
    UNREACHABLE();
}

static void finish_then_value(FlowVm *vm, const FlowReaction *memory, FlowValue then,
                              bool is_thrown) {
    FlowPromise *promise = flow_as_pointer(memory->promise);
    if (is_thrown) {
        flow_promise_reject(vm, promise, then);
    } else if (flow_is_callable(then)) {
        flow_queue_push(
            &vm->queue,
            (FlowJob){.a = memory->promise, .b = memory->target, .c = then, .kind = JOB_THENABLE});
    } else {
        flow_promise_fulfill(vm, promise, memory->target);
    }
}

void flow_driver_finish(FlowVm *vm, FlowValue value, bool is_thrown) {
    FlowDriverKind kind = (FlowDriverKind)vm->driver;
    FlowReaction *reaction = vm->driver_reaction;
    driver_set(vm, DRIVER_NONE, NULL);
    switch (kind) {
    case DRIVER_NONE: return;
    case DRIVER_START:
        if (is_thrown) flow_vm_finish(vm, value, true);
        else vm->main_promise = flow_as_pointer(value);
        return;
    case DRIVER_REACTION: reaction_deliver(vm, reaction, value, is_thrown); return;
    case DRIVER_FINALLY:
        if (is_thrown) reaction_deliver(vm, reaction, value, true);
        else finish_finally(vm, reaction, value);
        return;
    case DRIVER_THENABLE: {
        FlowBox *already = flow_as_pointer(reaction->target);
        if (!is_thrown || flow_is_true(already->value)) return;
        already->value = FLOW_TRUE;
        flow_promise_reject(vm, flow_as_pointer(reaction->promise), value);
        return;
    }
    case DRIVER_THEN_VALUE: finish_then_value(vm, reaction, value, is_thrown); return;
    case DRIVER_FINISH: flow_vm_finish(vm, value, is_thrown); return;
    }
    UNREACHABLE();
}

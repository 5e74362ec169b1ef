// Promise: the constructor, its methods, and the intrinsics behind prelude/promise.js.
//
// Methods work natively on promises whose constructor is %Promise% itself (the usual case); the
// prelude follows the specification step by step for subclasses and other thenables.
//
//   [builtin-promise-1] Nothing that outlives a call is a prelude closure: combinators, finally and
//        adapters of sync iterators are records of promise.h, so that a parked run holds no prelude
//        code.
#include "flow/builtin/core.h"
#include "flow/vm/vm.h"

static FlowNativeResult call_helper(FlowVm *vm, FlowNativeCall *call, FlowHelperId helper,
                                    const FlowValue *arguments, uint32_t count) {
    call->call_function = flow_from_object(vm->realm->helpers[helper]);
    call->call_this = FLOW_UNDEFINED;
    call->call_arguments = flow_array_from(vm, arguments, count);
    call->call_new_target = FLOW_UNDEFINED;
    return NATIVE_CALL;
}

static FlowNativeResult promise_construct(FlowVm *vm, FlowNativeCall *call) {
    if (flow_is_undefined(call->new_target)) {
        return flow_native_throw(vm, ERROR_KIND_TYPE,
                                 "Promise constructor cannot be invoked without 'new'");
    }
    FlowValue executor = flow_argument(call, 0);
    char text[FLOW_TEXT_MAX];
    if (!flow_is_callable(executor)) {
        return flow_native_throw(vm, ERROR_KIND_TYPE, "Promise resolver %s is not a function",
                                 flow_describe(vm, executor, text));
    }
    FlowObject *proto = flow_new_target_proto(vm, call->new_target, PROTO_PROMISE);
    FlowPromise *promise = flow_promise_new_with(vm, proto);
    FlowBox *already = flow_box_new(vm, FLOW_FALSE);
    FlowValue arguments[4] = {
        flow_from_object(promise),
        executor,
        flow_promise_function(vm, promise, already, false),
        flow_promise_function(vm, promise, already, true),
    };
    return call_helper(vm, call, HELPER_promiseExecute, arguments, 4);
}

static bool is_callable_or_undefined(FlowValue value, FlowValue *ret) {
    *ret = flow_is_callable(value) ? value : FLOW_UNDEFINED;
    return true;
}

static FlowNativeResult promise_then(FlowVm *vm, FlowNativeCall *call) {
    FlowValue self = *call->this_value;
    char text[FLOW_TEXT_MAX];
    if (!flow_is_kind(self, KIND_PROMISE)) {
        return flow_native_throw(vm, ERROR_KIND_TYPE,
                                 "Method Promise.prototype.then called on incompatible receiver %s",
                                 flow_describe(vm, self, text));
    }
    FlowValue arguments[3] = {self, flow_argument(call, 0), flow_argument(call, 1)};
    if (!flow_promise_is_pristine(vm, self)) {
        return call_helper(vm, call, HELPER_promiseThen, arguments, 3);
    }
    FlowPromise *derived = flow_promise_new(vm);
    FlowReaction *reaction = flow_reaction_new(vm, REACTION_THEN, FLOW_UNDEFINED);
    is_callable_or_undefined(arguments[1], &reaction->on_fulfilled);
    is_callable_or_undefined(arguments[2], &reaction->on_rejected);
    reaction->promise = flow_from_object(derived);
    flow_promise_react(vm, flow_as_pointer(self), reaction);
    return flow_native_return(call, flow_from_object(derived));
}

static bool has_plain_then(FlowVm *vm, FlowValue value) {
    if (!flow_is_kind(value, KIND_PROMISE)) return false;
    FlowValue then = flow_object_get_data(vm, flow_as_object(value), FLOW_KEY(vm, then));
    return flow_is_object(then) && flow_as_object(then) == vm->realm->promise_then;
}

static FlowNativeResult promise_finally(FlowVm *vm, FlowNativeCall *call) {
    FlowValue self = *call->this_value;
    FlowValue handler = flow_argument(call, 0);
    bool is_plain =
        has_plain_then(vm, self) && flow_promise_is_pristine(vm, self) && flow_is_callable(handler);
    if (!is_plain) {
        FlowValue arguments[2] = {self, handler};
        return call_helper(vm, call, HELPER_promiseFinally, arguments, 2);
    }
    FlowPromise *derived = flow_promise_new(vm);
    FlowReaction *reaction = flow_reaction_new(vm, REACTION_FINALLY, FLOW_UNDEFINED);
    reaction->on_fulfilled = handler;
    reaction->promise = flow_from_object(derived);
    flow_promise_react(vm, flow_as_pointer(self), reaction);
    return flow_native_return(call, flow_from_object(derived));
}

static bool is_promise_constructor(FlowVm *vm, FlowValue value) {
    return flow_is_object(value) && flow_as_object(value) == vm->realm->promise_constructor;
}

// Promise.resolve and Promise.reject; magic 1: reject.
static FlowNativeResult promise_settled(FlowVm *vm, FlowNativeCall *call) {
    FlowValue self = *call->this_value;
    FlowValue value = flow_argument(call, 0);
    bool is_reject = flow_native_magic(call);
    if (!flow_is_object(self)) {
        return flow_native_throw(vm, ERROR_KIND_TYPE, "PromiseResolve called on non-object");
    }
    if (!is_promise_constructor(vm, self)) {
        FlowValue arguments[3] = {self, value, flow_bool(is_reject)};
        return call_helper(vm, call, HELPER_promiseSettled, arguments, 3);
    }
    if (is_reject) {
        FlowPromise *promise = flow_promise_new(vm);
        flow_promise_reject(vm, promise, value);
        return flow_native_return(call, flow_from_object(promise));
    }
    return flow_native_return(call, flow_from_object(flow_promise_of(vm, value)));
}

static FlowNativeResult promise_species(FlowVm *vm, FlowNativeCall *call) {
    (void)vm;
    return flow_native_return(call, *call->this_value);
}

static const FlowNativeEntry promise_statics[] = {
    PRELUDE("all", "Promise_all", 1),
    PRELUDE("allSettled", "Promise_allSettled", 1),
    PRELUDE("any", "Promise_any", 1),
    PRELUDE("race", "Promise_race", 1),
    NATIVE_MAGIC("resolve", promise_settled, 1, 0),
    NATIVE_MAGIC("reject", promise_settled, 1, 1),
    PRELUDE("withResolvers", "Promise_withResolvers", 0),
    GETTER("@@species", promise_species),
    NATIVE_END,
};

static const FlowNativeEntry promise_members[] = {
    NATIVE("then", promise_then, 2),
    PRELUDE("catch", "Promise_prototype_catch", 1),
    NATIVE("finally", promise_finally, 1),
    NATIVE_END,
};

const FlowClassEntry flow_class_promise = {
    .name = "Promise",
    .constructor = {"Promise", promise_construct, NULL, 1, NATIVE_CONSTRUCTOR, 0},
    .statics = promise_statics,
    .members = promise_members,
    .tag = "Promise",
    .kind = KIND_PROMISE,
    .proto_id = 1 + PROTO_PROMISE,
};

// --- intrinsics

static FlowNativeResult intrinsic_promise_new(FlowVm *vm, FlowNativeCall *call) {
    return flow_native_return(call, flow_from_object(flow_promise_new(vm)));
}

static FlowNativeResult intrinsic_promise_reject(FlowVm *vm, FlowNativeCall *call) {
    flow_promise_reject(vm, flow_as_pointer(flow_argument(call, 0)), flow_argument(call, 1));
    return NATIVE_OK;
}

static FlowNativeResult intrinsic_promise_of(FlowVm *vm, FlowNativeCall *call) {
    return flow_native_return(call, flow_from_object(flow_promise_of(vm, flow_argument(call, 0))));
}

static FlowNativeResult intrinsic_promise_constructor(FlowVm *vm, FlowNativeCall *call) {
    return flow_native_return(call, flow_from_object(vm->realm->promise_constructor));
}

static FlowNativeResult intrinsic_is_promise(FlowVm *vm, FlowNativeCall *call) {
    (void)vm;
    return flow_native_return(call, flow_bool(flow_is_kind(flow_argument(call, 0), KIND_PROMISE)));
}

static FlowNativeResult intrinsic_has_plain_then(FlowVm *vm, FlowNativeCall *call) {
    return flow_native_return(call, flow_bool(has_plain_then(vm, flow_argument(call, 0))));
}

// %performThen(promise, onFulfilled, onRejected, derived, resolve, reject)
static FlowNativeResult intrinsic_perform_then(FlowVm *vm, FlowNativeCall *call) {
    FlowReaction *reaction = flow_reaction_new(vm, REACTION_THEN, FLOW_UNDEFINED);
    is_callable_or_undefined(flow_argument(call, 1), &reaction->on_fulfilled);
    is_callable_or_undefined(flow_argument(call, 2), &reaction->on_rejected);
    reaction->promise = flow_argument(call, 3);
    reaction->resolve = flow_argument(call, 4);
    reaction->reject = flow_argument(call, 5);
    flow_promise_react(vm, flow_as_pointer(flow_argument(call, 0)), reaction);
    return NATIVE_OK;
}

// %combinator(kind, promise, resolve, reject)
static FlowNativeResult intrinsic_combinator(FlowVm *vm, FlowNativeCall *call) {
    FlowCombinatorKind kind = (FlowCombinatorKind)flow_as_int(flow_argument(call, 0));
    FlowCombinator *combinator = flow_combinator_new(vm, kind, flow_argument(call, 1));
    combinator->resolve = flow_argument(call, 2);
    combinator->reject = flow_argument(call, 3);
    // The record itself must not be seen by a script: the prelude keeps it in a wrapper.
    FlowSlotObject *holder = flow_slot_object_new(vm, KIND_HOST_OBJECT, NULL);
    holder->internal[0] = flow_from_cell(combinator);
    return flow_native_return(call, flow_from_object(holder));
}

static FlowCombinator *combinator_argument(const FlowNativeCall *call) {
    FlowSlotObject *holder = flow_as_pointer(flow_argument(call, 0));
    return flow_as_pointer(holder->internal[0]);
}

static void combinator_reserve(FlowVm *vm, FlowCombinator *combinator, FlowValue id) {
    combinator->cell.aux++;
    flow_array_push(vm, combinator->values, FLOW_UNDEFINED);
    flow_array_push(vm, combinator->ids, id);
}

// %combinatorReact(combinator, promise, index, id)
static FlowNativeResult intrinsic_combinator_react(FlowVm *vm, FlowNativeCall *call) {
    FlowCombinator *combinator = combinator_argument(call);
    combinator_reserve(vm, combinator, flow_argument(call, 3));
    FlowReaction *reaction = flow_reaction_new(vm, REACTION_COMBINATOR, flow_from_cell(combinator));
    reaction->cell.aux = (uint32_t)flow_as_int(flow_argument(call, 2));
    flow_promise_react(vm, flow_as_pointer(flow_argument(call, 1)), reaction);
    return NATIVE_OK;
}

static FlowNativeResult combinator_element(FlowVm *vm, FlowNativeCall *call) {
    FlowNativeFunction *function = flow_as_pointer(call->function);
    FlowBox *already = flow_as_pointer(function->data[2]);
    if (flow_is_true(already->value)) return NATIVE_OK;
    already->value = FLOW_TRUE;
    flow_combinator_settle(vm, flow_as_pointer(function->data[0]),
                           (uint32_t)flow_as_int(function->data[1]), flow_argument(call, 0),
                           flow_native_magic(call));
    return NATIVE_OK;
}

const FlowNativeEntry flow_combinator_entries[2] = {
    NATIVE_MAGIC("%element", combinator_element, 1, 0),
    NATIVE_MAGIC("%elementRejected", combinator_element, 1, 1),
};

// %combinatorFunctions(combinator, index, id): [resolve, reject] for a thenable that is not ours
static FlowNativeResult intrinsic_combinator_functions(FlowVm *vm, FlowNativeCall *call) {
    FlowCombinator *combinator = combinator_argument(call);
    combinator_reserve(vm, combinator, flow_argument(call, 2));
    FlowBox *already = flow_box_new(vm, FLOW_FALSE);
    FlowValue pair[2];
    for (int i = 0; i < 2; i++) {
        FlowNativeFunction *function = flow_native_function_new(vm, &flow_combinator_entries[i]);
        function->data[0] = flow_from_cell(combinator);
        function->data[1] = flow_argument(call, 1);
        function->data[2] = flow_from_cell(already);
        pair[i] = flow_from_object(function);
    }
    return flow_native_return(call, flow_from_object(flow_array_from(vm, pair, 2)));
}

static FlowNativeResult intrinsic_combinator_close(FlowVm *vm, FlowNativeCall *call) {
    flow_combinator_release(vm, combinator_argument(call));
    return NATIVE_OK;
}

// --- async iteration of sync iterators: internal[0] the iterator, internal[1] its next method

static FlowNativeResult intrinsic_from_sync(FlowVm *vm, FlowNativeCall *call) {
    FlowSlotObject *object = flow_slot_object_new(
        vm, KIND_HOST_OBJECT, vm->realm->protos[PROTO_ASYNC_FROM_SYNC_ITERATOR]);
    object->internal[0] = flow_argument(call, 0);
    object->internal[1] = flow_argument(call, 1);
    return flow_native_return(call, flow_from_object(object));
}

static FlowNativeResult intrinsic_from_sync_part(FlowVm *vm, FlowNativeCall *call) {
    FlowValue iterator = flow_argument(call, 0);
    FlowSlotObject *object = flow_as_pointer(iterator);
    bool is_ours = flow_is_kind(iterator, KIND_HOST_OBJECT) && flow_is_object(object->internal[0]);
    if (!is_ours) return flow_native_throw(vm, ERROR_KIND_TYPE, "this is no async iterator");
    return flow_native_return(call, object->internal[flow_native_magic(call)]);
}

// %fromSyncReact(valuePromise, promise, done)
static FlowNativeResult intrinsic_from_sync_react(FlowVm *vm, FlowNativeCall *call) {
    FlowReaction *reaction = flow_reaction_new(vm, REACTION_SYNC_ITERATOR, flow_argument(call, 2));
    reaction->promise = flow_argument(call, 1);
    flow_promise_react(vm, flow_as_pointer(flow_argument(call, 0)), reaction);
    return NATIVE_OK;
}

static FlowNativeResult intrinsic_promise_fulfill(FlowVm *vm, FlowNativeCall *call) {
    flow_promise_resolve(vm, flow_as_pointer(flow_argument(call, 0)), flow_argument(call, 1));
    return NATIVE_OK;
}

static const FlowNativeEntry from_sync_members[] = {
    PRELUDE("next", "fromSyncNext", 1),
    PRELUDE("return", "fromSyncReturn", 1),
    PRELUDE("throw", "fromSyncThrow", 1),
    NATIVE_END,
};

const FlowClassEntry flow_class_async_from_sync_iterator = {
    .name = "%AsyncFromSyncIterator",
    .members = from_sync_members,
    .parent = "%AsyncIterator",
    .kind = KIND_HOST_OBJECT,
    .proto_id = 1 + PROTO_ASYNC_FROM_SYNC_ITERATOR,
};

const FlowNativeEntry flow_intrinsics_promise[] = {
    NATIVE("promiseNew", intrinsic_promise_new, 0),
    NATIVE("promiseReject", intrinsic_promise_reject, 2),
    NATIVE("promiseResolve", intrinsic_promise_fulfill, 2),
    NATIVE("promiseOf", intrinsic_promise_of, 1),
    NATIVE("promiseConstructor", intrinsic_promise_constructor, 0),
    NATIVE("isPromise", intrinsic_is_promise, 1),
    NATIVE("hasPlainThen", intrinsic_has_plain_then, 1),
    NATIVE("performThen", intrinsic_perform_then, 6),
    NATIVE("combinator", intrinsic_combinator, 4),
    NATIVE("combinatorReact", intrinsic_combinator_react, 4),
    NATIVE("combinatorFunctions", intrinsic_combinator_functions, 3),
    NATIVE("combinatorClose", intrinsic_combinator_close, 1),
    NATIVE("fromSync", intrinsic_from_sync, 2),
    NATIVE_MAGIC("fromSyncIterator", intrinsic_from_sync_part, 1, 0),
    NATIVE_MAGIC("fromSyncMethod", intrinsic_from_sync_part, 1, 1),
    NATIVE("fromSyncReact", intrinsic_from_sync_react, 3),
    NATIVE_END,
};

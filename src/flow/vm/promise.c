// Promises: settling, reactions, combinators. Running the jobs that this queues is microtask.c.
//
//   [vm-promise-4] Settling a promise moves its reactions into the queue in order of registration
//        and forgets them.
//   [vm-promise-5] A pair of resolving functions shares a box that says whether one of them was
//        used, so that a promise waiting for a thenable ignores its first pair but hears the
//        second.
#include "flow/vm/promise.h"
#include "base/array.h"
#include "base/assert.h"
#include "base/memory.h"
#include "flow/vm/native.h"
#include "flow/vm/vm.h"

// --- queue

void flow_queue_push(FlowJobQueue *queue, FlowJob job) {
    if (queue->count == queue->capacity) {
        uint32_t capacity = queue->capacity ? queue->capacity * 2 : 4;
        FlowJob *jobs = mem_alloc(capacity * sizeof *jobs);
        for (uint32_t i = 0; i < queue->count; i++) {
            jobs[i] = queue->jobs[(queue->first + i) & (queue->capacity - 1)];
        }
        mem_free(queue->jobs);
        *queue = (FlowJobQueue){jobs, 0, queue->count, capacity};
    }
    ASSERT(queue->count < queue->capacity);
    queue->jobs[(queue->first + queue->count) & (queue->capacity - 1)] = job;
    queue->count++;
}

FlowJob flow_queue_pop(FlowJobQueue *queue) {
    ASSERT(queue->count > 0);
    FlowJob job = queue->jobs[queue->first];
    queue->first = (queue->first + 1) & (queue->capacity - 1);
    queue->count--;
    return job;
}

void flow_queue_done(FlowJobQueue *queue) {
    mem_free(queue->jobs);
    *queue = (FlowJobQueue){0};
}

// --- promises

FlowPromise *flow_promise_new_with(FlowVm *vm, FlowObject *proto) {
    FlowPromise *promise =
        (FlowPromise *)flow_object_alloc(vm, KIND_PROMISE, sizeof *promise, proto);
    promise->result = FLOW_UNDEFINED;
    return promise;
}

FlowPromise *flow_promise_new(FlowVm *vm) {
    return flow_promise_new_with(vm, vm->realm->protos[PROTO_PROMISE]);
}

FlowReaction *flow_reaction_new(FlowVm *vm, FlowReactionKind kind, FlowValue target) {
    FlowReaction *reaction = flow_heap_alloc(&vm->heap, KIND_REACTION, sizeof *reaction);
    reaction->cell.small = (uint8_t)kind;
    reaction->target = target;
    reaction->on_fulfilled = FLOW_UNDEFINED;
    reaction->on_rejected = FLOW_UNDEFINED;
    reaction->promise = FLOW_UNDEFINED;
    reaction->resolve = FLOW_UNDEFINED;
    reaction->reject = FLOW_UNDEFINED;
    return reaction;
}

static void queue_reaction(FlowVm *vm, FlowReaction *reaction, const FlowPromise *promise) {
    ASSERT(promise->state != PROMISE_PENDING && reaction->next == NULL);
    flow_queue_push(&vm->queue, (FlowJob){.a = flow_from_cell(reaction),
                                          .b = promise->result,
                                          .c = FLOW_UNDEFINED,
                                          .kind = JOB_REACTION,
                                          .is_rejected = promise->state == PROMISE_REJECTED});
}

static void promise_settle(FlowVm *vm, FlowPromise *promise, FlowPromiseState state,
                           FlowValue result) {
    if (promise->state != PROMISE_PENDING) return;
    ASSERT(state == PROMISE_FULFILLED || state == PROMISE_REJECTED);
    promise->state = (uint8_t)state;
    promise->result = result;
    FlowReaction *reaction = promise->first;
    promise->first = promise->last = NULL; // [vm-promise-4]
    while (reaction) {
        FlowReaction *next = reaction->next;
        reaction->next = NULL;
        queue_reaction(vm, reaction, promise);
        reaction = next;
    }
}

void flow_promise_fulfill(FlowVm *vm, FlowPromise *promise, FlowValue value) {
    promise_settle(vm, promise, PROMISE_FULFILLED, value);
}

void flow_promise_reject(FlowVm *vm, FlowPromise *promise, FlowValue reason) {
    uint32_t room = COUNT_OF(vm->rejected);
    bool is_news = promise->state == PROMISE_PENDING && !promise->is_handled &&
                   !(promise->object.cell.aux & OBJECT_IS_HANDLE); // those are fire and forget
    if (is_news && vm->rejected_count < room) vm->rejected[vm->rejected_count++] = promise;
    promise_settle(vm, promise, PROMISE_REJECTED, reason);
}

void flow_promise_resolve(FlowVm *vm, FlowPromise *promise, FlowValue resolution) {
    if (promise->state != PROMISE_PENDING) return;
    if (!flow_is_object(resolution)) {
        flow_promise_fulfill(vm, promise, resolution);
        return;
    }
    if (flow_as_object(resolution) == &promise->object) {
        flow_throw_type(vm, "Chaining cycle detected for promise #<Promise>");
        FlowValue reason = vm->exception;
        vm->exception = FLOW_HOLE;
        flow_promise_reject(vm, promise, reason);
        return;
    }
    FlowProperty then;
    bool has_then = flow_object_lookup(vm, flow_as_object(resolution), FLOW_KEY(vm, then), &then);
    if (has_then && then.attributes & PROPERTY_ACCESSOR) {
        flow_queue_push(&vm->queue, (FlowJob){.a = flow_from_object(promise),
                                              .b = resolution,
                                              .c = then.getter,
                                              .kind = JOB_THEN_GETTER});
    } else if (has_then && flow_is_callable(then.value)) {
        flow_queue_push(&vm->queue, (FlowJob){.a = flow_from_object(promise),
                                              .b = resolution,
                                              .c = then.value,
                                              .kind = JOB_THENABLE});
    } else {
        flow_promise_fulfill(vm, promise, resolution);
    }
}

bool flow_promise_is_pristine(FlowVm *vm, FlowValue value) {
    if (!flow_is_kind(value, KIND_PROMISE)) return false;
    FlowValue constructor =
        flow_object_get_data(vm, flow_as_object(value), FLOW_KEY(vm, constructor));
    return flow_is_object(constructor) &&
           flow_as_object(constructor) == vm->realm->promise_constructor;
}

FlowPromise *flow_promise_of(FlowVm *vm, FlowValue value) {
    if (flow_promise_is_pristine(vm, value)) return flow_as_pointer(value);
    FlowPromise *promise = flow_promise_new(vm);
    flow_promise_resolve(vm, promise, value);
    return promise;
}

void flow_promise_react(FlowVm *vm, FlowPromise *promise, FlowReaction *reaction) {
    promise->is_handled = 1;
    if (promise->state != PROMISE_PENDING) {
        queue_reaction(vm, reaction, promise);
        return;
    }
    ASSERT(reaction->next == NULL && (promise->first == NULL) == (promise->last == NULL));
    if (promise->last) promise->last->next = reaction;
    else promise->first = reaction;
    promise->last = reaction;
}

// --- resolving functions

static FlowNativeResult resolving_function(FlowVm *vm, FlowNativeCall *call) {
    FlowNativeFunction *function = flow_as_pointer(call->function);
    FlowBox *already = flow_as_pointer(function->data[1]);
    if (flow_is_true(already->value)) return NATIVE_OK; // [vm-promise-5]
    already->value = FLOW_TRUE;
    FlowPromise *promise = flow_as_pointer(function->data[0]);
    if (flow_native_magic(call)) flow_promise_reject(vm, promise, flow_argument(call, 0));
    else flow_promise_resolve(vm, promise, flow_argument(call, 0));
    return NATIVE_OK;
}

const FlowNativeEntry flow_resolving_entries[2] = {
    NATIVE_MAGIC("%resolve", resolving_function, 1, 0),
    NATIVE_MAGIC("%reject", resolving_function, 1, 1),
};

FlowValue flow_promise_function(FlowVm *vm, FlowPromise *promise, FlowBox *already,
                                bool is_reject) {
    FlowNativeFunction *function = flow_native_function_new(vm, &flow_resolving_entries[is_reject]);
    function->data[0] = flow_from_object(promise);
    function->data[1] = flow_from_cell(already);
    return flow_from_object(function);
}

// --- combinators

FlowCombinator *flow_combinator_new(FlowVm *vm, FlowCombinatorKind kind, FlowValue promise) {
    FlowCombinator *combinator = flow_heap_alloc(&vm->heap, KIND_COMBINATOR, sizeof *combinator);
    combinator->cell.small = (uint8_t)kind;
    combinator->cell.aux = 1; // the reader of the iterable
    combinator->values = flow_array_new(vm, 0);
    combinator->ids = flow_array_new(vm, 0);
    combinator->promise = promise;
    combinator->resolve = FLOW_UNDEFINED;
    combinator->reject = FLOW_UNDEFINED;
    return combinator;
}

static void combinator_deliver(FlowVm *vm, FlowCombinator *combinator, FlowValue value,
                               bool is_rejected) {
    FlowValue function = is_rejected ? combinator->reject : combinator->resolve;
    if (flow_is_undefined(function)) {
        FlowPromise *promise = flow_as_pointer(combinator->promise);
        if (is_rejected) flow_promise_reject(vm, promise, value);
        else flow_promise_resolve(vm, promise, value);
    } else {
        flow_queue_push(
            &vm->queue,
            (FlowJob){.a = function, .b = value, .kind = JOB_CALL, .c = FLOW_UNDEFINED});
    }
}

static void combinator_store(FlowVm *vm, FlowCombinator *combinator, uint32_t index,
                             FlowValue value) {
    flow_object_put(vm, &combinator->values->object, flow_key_index(index), value);
}

static FlowValue settled_record(FlowVm *vm, FlowValue value, bool is_rejected) {
    FlowObject *record = flow_object_plain(vm);
    FlowValue status = is_rejected ? FLOW_NAME(vm, rejected) : FLOW_NAME(vm, fulfilled);
    flow_object_put(vm, record, FLOW_KEY(vm, status), status);
    flow_object_put(vm, record, is_rejected ? FLOW_KEY(vm, reason) : FLOW_KEY(vm, value), value);
    return flow_from_object(record);
}

static FlowValue task_record(FlowVm *vm, const FlowCombinator *combinator, uint32_t index,
                             FlowValue value, bool is_rejected) {
    FlowObject *record = flow_object_plain(vm);
    FlowValue id = flow_object_element(vm, &combinator->ids->object, index);
    flow_object_put(vm, record, FLOW_KEY(vm, item_id), flow_is_hole(id) ? FLOW_UNDEFINED : id);
    if (combinator->cell.small == COMBINATOR_TASK_RACE) {
        FlowValue status = is_rejected ? FLOW_NAME(vm, failed) : FLOW_NAME(vm, completed);
        flow_object_put(vm, record, FLOW_KEY(vm, status), status);
    }
    flow_object_put(vm, record, is_rejected ? FLOW_KEY(vm, error) : FLOW_KEY(vm, result), value);
    return flow_from_object(record);
}

// All items have an outcome.
static void combinator_complete(FlowVm *vm, FlowCombinator *combinator) {
    bool is_any =
        combinator->cell.small == COMBINATOR_ANY || combinator->cell.small == COMBINATOR_TASK_ANY;
    FlowValue values = flow_from_object(combinator->values);
    if (!is_any) {
        combinator_deliver(vm, combinator, values, false);
        return;
    }
    FlowObject *error = flow_error_new(vm, ERROR_KIND_AGGREGATE,
                                       flow_string_cstr(vm, "All promises were rejected"));
    flow_object_define(vm, error, FLOW_KEY(vm, errors), values, PROPERTY_HIDDEN);
    combinator_deliver(vm, combinator, flow_from_object(error), true);
}

void flow_combinator_release(FlowVm *vm, FlowCombinator *combinator) {
    if (combinator->cell.aux == 0) return; // more items than it ever had: a damaged snapshot
    combinator->cell.aux--;
    FlowCombinatorKind kind = (FlowCombinatorKind)combinator->cell.small;
    bool is_race = kind == COMBINATOR_RACE || kind == COMBINATOR_TASK_RACE;
    if (combinator->cell.aux == 0 && !is_race) combinator_complete(vm, combinator);
}

void flow_combinator_settle(FlowVm *vm, FlowCombinator *combinator, uint32_t index, FlowValue value,
                            bool is_rejected) {
    switch ((FlowCombinatorKind)combinator->cell.small) {
    case COMBINATOR_ALL:
        if (is_rejected) {
            combinator_deliver(vm, combinator, value, true);
            return;
        }
        combinator_store(vm, combinator, index, value);
        break;
    case COMBINATOR_ALL_SETTLED:
        combinator_store(vm, combinator, index, settled_record(vm, value, is_rejected));
        break;
    case COMBINATOR_ANY:
    case COMBINATOR_TASK_ANY:
        if (!is_rejected) {
            bool is_task = combinator->cell.small == COMBINATOR_TASK_ANY;
            FlowValue result = is_task ? task_record(vm, combinator, index, value, false) : value;
            combinator_deliver(vm, combinator, result, false);
            return;
        }
        combinator_store(vm, combinator, index, value);
        break;
    case COMBINATOR_RACE: combinator_deliver(vm, combinator, value, is_rejected); return;
    case COMBINATOR_TASK_RACE:
        combinator_deliver(vm, combinator, task_record(vm, combinator, index, value, is_rejected),
                           false);
        return;
    }
    flow_combinator_release(vm, combinator);
}

static bool reaction_is_live(const FlowReaction *reaction) {
    if (reaction->cell.small != REACTION_COMBINATOR) return true;
    const FlowCombinator *combinator = flow_as_pointer(reaction->target);
    if (!flow_is_kind(combinator->promise, KIND_PROMISE)) return true;
    const FlowPromise *promise = flow_as_pointer(combinator->promise);
    return promise->state == PROMISE_PENDING && !promise->is_resolved;
}

bool flow_promise_is_awaited(const FlowPromise *promise) {
    for (const FlowReaction *reaction = promise->first; reaction; reaction = reaction->next) {
        if (reaction_is_live(reaction)) return true;
    }
    return false;
}

const FlowCombinator *flow_promise_feeds(const FlowPromise *promise) {
    const FlowReaction *reaction = promise->first;
    if (!reaction || reaction->next || reaction->cell.small != REACTION_COMBINATOR) return NULL;
    return reaction_is_live(reaction) ? flow_as_pointer(reaction->target) : NULL;
}

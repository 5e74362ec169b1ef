// Iteration instructions: the iterator protocol, spread, for-in.
//
// A record is three registers. Over a plain array whose iteration nobody has changed the record
// holds the array, the next index (an int32, where else the next method is) and undefined: no
// iterator object, no result objects. Otherwise: iterator, next method, state. The state is true
// when the iterator is done or its next() is under way (so that an error from next() itself does
// not close it), a result object between the two halves of a step, else undefined.
#include "flow/builtin/objects.h"
#include "flow/code/opcodes.h"
#include "flow/value/object_layout.h"
#include "flow/vm/interp_internal.h"

static bool is_array_mode(const FlowValue *record) { return flow_is_int(record[1]); }

// Whether iterating `array` runs only our own code.
static bool is_plain_array(FlowVm *vm, FlowValue value) {
    if (!flow_is_array(value)) return false;
    FlowObject *object = flow_as_object(value);
    if (vm->override_count == 0 && object->shape == vm->array_shape) return true;
    FlowProperty property;
    if (!flow_object_lookup(vm, object, FLOW_SYMBOL(vm, SYMBOL_ITERATOR), &property)) return false;
    if (property.value.bits != flow_from_object(vm->realm->array_values).bits) return false;
    FlowObject *proto = vm->realm->protos[PROTO_ARRAY_ITERATOR];
    FlowValue next = flow_object_get_data(vm, proto, FLOW_KEY(vm, next));
    return next.bits == flow_from_object(vm->realm->array_iterator_next).bits;
}

bool interp_get_iterator(FlowVm *vm, FlowInstruction in) {
    uint32_t base = interp_base(vm);
    FlowValue iterable = vm->stack[base + in.b];
    FlowValue *record = vm->stack + base + in.a;
    bool is_async = in.op == OP_GET_ASYNC_ITERATOR;
    if (!is_async && in.c == 0 && is_plain_array(vm, iterable)) {
        record[0] = iterable;
        record[1] = flow_int(0);
        record[2] = FLOW_UNDEFINED;
        return true;
    }
    record[1] = record[2] = FLOW_UNDEFINED;
    FlowObject *start = flow_is_object(iterable) ? flow_as_object(iterable)
                                                 : flow_object_of_primitive(vm, iterable);
    FlowProperty method;
    bool has_method = false;
    if (start && is_async) {
        has_method = flow_object_has(vm, start, FLOW_SYMBOL(vm, SYMBOL_ASYNC_ITERATOR));
    }
    if (start && !has_method) {
        has_method = flow_object_lookup(vm, start, FLOW_SYMBOL(vm, SYMBOL_ITERATOR), &method) &&
                     (method.attributes & PROPERTY_ACCESSOR || flow_is_callable(method.value));
        if (has_method && !is_async && !(method.attributes & PROPERTY_ACCESSOR)) {
            return flow_vm_push_call(vm, &(FlowCall){.function = method.value,
                                                     .this_value = iterable,
                                                     .new_target = FLOW_UNDEFINED,
                                                     .return_kind = RETURN_STORE,
                                                     .return_to = base + in.a});
        }
    }
    if (!has_method && is_async && flow_is_nullish(iterable)) {
        return flow_throw_read(vm, iterable, FLOW_SYMBOL(vm, SYMBOL_ASYNC_ITERATOR));
    }
    if (!has_method) {
        return interp_throw_described(vm, iterable, is_async ? "async iterable" : "iterable");
    }
    return flow_vm_push_helper(
        vm, &(FlowHelperCall){.helper = is_async ? HELPER_getAsyncIterator : HELPER_getIterator,
                              .count = 1,
                              .arguments = {iterable},
                              .return_kind = RETURN_STORE,
                              .return_to = base + in.a});
}

bool interp_iter_start(FlowVm *vm, FlowInstruction in) {
    uint32_t base = interp_base(vm);
    FlowValue *record = vm->stack + base + in.a;
    if (is_array_mode(record)) return true;
    if (!flow_is_object(record[0])) {
        return flow_throw_type(vm, "Result of the Symbol.iterator method is not an object");
    }
    return interp_get_value(vm, record[0], FLOW_KEY(vm, next), base + in.a + 1);
}

static bool call_next(FlowVm *vm, uint32_t record_at) {
    FlowValue *record = vm->stack + record_at;
    FlowValue next = record[1];
    if (!flow_is_callable(next)) {
        char text[FLOW_TEXT_MAX];
        return flow_throw_type(vm, "%s is not a function", flow_describe(vm, next, text));
    }
    record[2] = FLOW_TRUE; // done, should next() throw
    return flow_vm_push_call(vm, &(FlowCall){.function = next,
                                             .this_value = record[0],
                                             .new_target = FLOW_UNDEFINED,
                                             .return_kind = RETURN_STORE,
                                             .return_to = record_at + 2});
}

// One step over a built-in iterator that nobody has changed, without a result object.
static FlowIteratorStep builtin_step(FlowVm *vm, uint32_t record_at, uint32_t return_to) {
    FlowValue *record = vm->stack + record_at;
    FlowValue item;
    FlowIteratorStep step = flow_iterator_step(vm, record[0], record[1], &item);
    if (step == ITERATOR_ITEM) vm->stack[return_to] = item;
    if (step == ITERATOR_END) record[2] = FLOW_TRUE;
    return step;
}

// One step over a plain array. True: an item was (or is being) stored; false: at the end.
static bool array_step(FlowVm *vm, uint32_t record_at, uint32_t return_to, bool *ret_ok) {
    FlowValue *record = vm->stack + record_at;
    uint32_t index = (uint32_t)flow_as_int(record[1]);
    FlowArray *array = flow_as_array(record[0]);
    *ret_ok = true;
    if (index >= array->length) {
        record[2] = FLOW_TRUE;
        return false;
    }
    record[1] = flow_int((int32_t)(index + 1));
    FlowStorage *dense = flow_dense(&array->object);
    if (dense && index < dense->count && !flow_is_hole(dense->values[index])) {
        vm->stack[return_to] = dense->values[index];
    } else {
        *ret_ok = interp_get_value(vm, record[0], flow_key_index(index), return_to);
    }
    return true;
}

bool interp_iter_next(FlowVm *vm, FlowInstruction in) {
    FlowFrame *frame = interp_frame(vm);
    uint32_t at = frame->base + in.a;
    if (in.op == OP_ITER_CALL_NEXT) return call_next(vm, at);
    bool is_ok;
    uint32_t pc = frame->pc;
    if (!is_array_mode(vm->stack + at)) {
        FlowIteratorStep step = builtin_step(vm, at, frame->base + in.b);
        if (step == ITERATOR_UNSURE) return call_next(vm, at);
        frame->pc = step == ITERATOR_ITEM ? pc + 1 : (uint32_t)((int32_t)pc + (int16_t)in.c);
        return true;
    }
    frame->pc = pc + 1; // over ITER_VALUE, before a getter's frame may come on top
    if (!array_step(vm, at, frame->base + in.b, &is_ok)) {
        frame->pc = (uint32_t)((int32_t)pc + (int16_t)in.c);
    }
    return is_ok;
}

bool interp_iter_step(FlowVm *vm, FlowInstruction in) {
    FlowFrame *frame = interp_frame(vm);
    uint32_t at = frame->base + in.a;
    FlowValue *record = vm->stack + at;
    bool is_done = flow_is_true(record[2]);
    if (!is_done && !is_array_mode(record)) {
        FlowIteratorStep step = builtin_step(vm, at, frame->base + in.b);
        if (step == ITERATOR_UNSURE) return call_next(vm, at);
        if (step == ITERATOR_END) vm->stack[frame->base + in.b] = FLOW_UNDEFINED;
        frame->pc++; // over ITER_STEP_VALUE
        return true;
    }
    frame->pc++; // over ITER_STEP_VALUE
    bool is_ok = true;
    if (is_done || !array_step(vm, at, frame->base + in.b, &is_ok)) {
        vm->stack[frame->base + in.b] = FLOW_UNDEFINED;
    }
    return is_ok;
}

// done or value is behind an accessor: the helper makes a plain result, and we come again.
static bool normalize_result(FlowVm *vm, FlowValue result, uint32_t record_at) {
    interp_frame(vm)->pc--;
    vm->stack[record_at + 2] = FLOW_TRUE;
    return flow_vm_push_helper(vm, &(FlowHelperCall){.helper = HELPER_iteratorResult,
                                                     .count = 1,
                                                     .arguments = {result},
                                                     .return_kind = RETURN_STORE,
                                                     .return_to = record_at + 2});
}

// done or value of a result object; false when it is behind an accessor.
static bool result_part(FlowVm *vm, FlowObject *result, FlowKey key, FlowValue *ret_value) {
    const FlowLookup *known = interp_lookup(vm, result, key);
    if (known) {
        *ret_value = (known->holder ? known->holder : result)->slots[known->slot];
        return !(known->attributes & PROPERTY_ACCESSOR);
    }
    FlowProperty property;
    bool is_found = flow_object_lookup(vm, result, key, &property);
    *ret_value = is_found ? property.value : FLOW_UNDEFINED;
    return !is_found || !(property.attributes & PROPERTY_ACCESSOR);
}

bool interp_iter_value(FlowVm *vm, FlowInstruction in) {
    FlowFrame *frame = interp_frame(vm);
    uint32_t at = frame->base + in.a;
    FlowValue result = vm->stack[at + 2];
    vm->stack[at + 2] = FLOW_TRUE;
    if (!flow_is_object(result)) {
        char text[FLOW_TEXT_MAX];
        return flow_throw_type(vm, "Iterator result %s is not an object",
                               flow_describe(vm, result, text));
    }
    FlowValue done;
    FlowValue value;
    if (!result_part(vm, flow_as_object(result), FLOW_KEY(vm, done), &done)) {
        return normalize_result(vm, result, at);
    }
    bool is_done = flow_to_boolean(done);
    if (is_done) {
        if (in.op == OP_ITER_VALUE) frame->pc = (uint32_t)((int32_t)frame->pc + (int16_t)in.c);
        else vm->stack[frame->base + in.b] = FLOW_UNDEFINED;
        return true;
    }
    if (in.op == OP_ITER_STEP_VALUE && in.c == 1) {
        vm->stack[at + 2] = FLOW_UNDEFINED;
        return true;
    }
    if (!result_part(vm, flow_as_object(result), FLOW_KEY(vm, value), &value)) {
        return normalize_result(vm, result, at);
    }
    vm->stack[frame->base + in.b] = value;
    vm->stack[at + 2] = FLOW_UNDEFINED;
    return true;
}

// Room for an array of `count` elements. False: exception pending.
static bool array_room(FlowVm *vm, uint64_t count) {
    if (count > vm->limits.array_length) return flow_throw_range(vm, "Invalid array length");
    size_t bytes = (size_t)count * sizeof(FlowValue);
    if (bytes < 4096 || flow_heap_has_room(&vm->heap, bytes)) return true;
    flow_vm_collect(vm); // what is in use is in registers
    return flow_heap_has_room(&vm->heap, bytes) || flow_throw_memory(vm);
}

bool interp_iter_rest(FlowVm *vm, FlowInstruction in) {
    uint32_t base = interp_base(vm);
    FlowValue *record = vm->stack + base + in.a;
    bool is_done = flow_is_true(record[2]);
    record[2] = FLOW_TRUE;
    if (is_done) {
        vm->stack[base + in.b] = flow_from_object(flow_array_new(vm, 0));
        return true;
    }
    if (!is_array_mode(record)) {
        return flow_vm_push_helper(vm, &(FlowHelperCall){.helper = HELPER_iteratorRest,
                                                         .count = 2,
                                                         .arguments = {record[0], record[1]},
                                                         .return_kind = RETURN_STORE,
                                                         .return_to = base + in.b});
    }
    FlowArray *array = flow_as_array(record[0]);
    uint32_t index = (uint32_t)flow_as_int(record[1]);
    uint32_t count = index < array->length ? array->length - index : 0;
    if (!array_room(vm, count)) return false;
    FlowArray *rest = flow_array_new(vm, count);
    const FlowValue *values = flow_array_dense(array);
    if (values && count > 0) {
        flow_array_append(vm, rest, values + index, count);
        index = array->length;
    }
    for (; index < array->length; index++) {
        FlowValue value = flow_object_element(vm, &array->object, index);
        flow_array_push(vm, rest, flow_is_hole(value) ? FLOW_UNDEFINED : value);
    }
    vm->stack[base + in.b] = flow_from_object(rest);
    return true;
}

bool interp_iter_close(FlowVm *vm, FlowInstruction in) {
    FlowValue *record = vm->stack + interp_base(vm) + in.a;
    if (is_array_mode(record) || flow_is_true(record[2])) return true;
    record[2] = FLOW_TRUE;
    FlowHelperId helper =
        in.op == OP_ITER_CLOSE ? HELPER_iteratorClose : HELPER_iteratorCloseSilent;
    return flow_vm_push_helper(vm, &(FlowHelperCall){.helper = helper,
                                                     .count = 1,
                                                     .arguments = {record[0]},
                                                     .return_kind = RETURN_DISCARD});
}

bool interp_iter_get_method(FlowVm *vm, FlowInstruction in) {
    uint32_t base = interp_base(vm);
    FlowValue iterator = vm->stack[base + in.b];
    FlowValue name = in.c == 0   ? FLOW_NAME(vm, next)
                     : in.c == 1 ? FLOW_NAME(vm, return )
                                 : FLOW_NAME(vm, throw);
    return flow_vm_push_helper(vm, &(FlowHelperCall){.helper = HELPER_getMethod,
                                                     .count = 2,
                                                     .arguments = {iterator, name},
                                                     .return_kind = RETURN_STORE,
                                                     .return_to = base + in.a});
}

// ...iterable of strings, maps, sets and built-in iterators: all of it here, when every function
// on the way is the original. False: nothing was done.
static bool spread_builtin(FlowVm *vm, FlowArray *target, FlowValue iterable, FlowValue method) {
    if (!flow_is_kind(method, KIND_NATIVE_FUNCTION)) return false;
    const FlowNativeEntry *entry = ((FlowNativeFunction *)flow_as_pointer(method))->entry;
    if (!(entry->flags & NATIVE_ITERATES)) return false;
    FlowNativeCall call;
    flow_native_call_init(&call, &iterable, 0, method);
    if (entry->function(vm, &call) != NATIVE_OK || !flow_is_kind(call.result, KIND_ITERATOR)) {
        vm->exception = FLOW_HOLE; // the slow way will say it again
        return false;
    }
    FlowValue iterator = call.result;
    FlowProperty next;
    if (!flow_object_lookup(vm, flow_as_object(iterator), FLOW_KEY(vm, next), &next) ||
        next.attributes & PROPERTY_ACCESSOR) {
        return false;
    }
    uint32_t count = flow_iterator_remaining(vm, flow_as_pointer(iterator));
    // A collection here would not see the iterator: there is room now, or the slow way finds it.
    if (!flow_heap_has_room(&vm->heap, (size_t)count * 128)) return false;
    if ((uint64_t)target->length + count > vm->limits.array_length) return false;
    FlowValue item;
    FlowIteratorStep step = flow_iterator_step(vm, iterator, next.value, &item);
    if (step == ITERATOR_UNSURE) return false;
    for (; step == ITERATOR_ITEM; step = flow_iterator_step(vm, iterator, next.value, &item)) {
        flow_array_push(vm, target, item);
        vm->fuel -= 2;
    }
    return true;
}

bool interp_array_spread(FlowVm *vm, FlowInstruction in) {
    uint32_t base = interp_base(vm);
    FlowValue iterable = vm->stack[base + in.b];
    FlowArray *target = flow_as_array(vm->stack[base + in.a]);
    if (is_plain_array(vm, iterable)) {
        FlowArray *source = flow_as_array(iterable);
        FlowValue *values = flow_array_dense(source);
        if (values || flow_array_is_plain(vm, iterable)) {
            if (!array_room(vm, (uint64_t)target->length + source->length)) return false;
            if (values && source != target) {
                flow_array_append(vm, target, values, source->length);
                return true;
            }
            flow_array_reserve(vm, target, target->length + source->length);
            for (uint32_t i = 0; i < source->length; i++) {
                FlowValue value = flow_object_element(vm, &source->object, i);
                flow_array_push(vm, target, flow_is_hole(value) ? FLOW_UNDEFINED : value);
            }
            return true;
        }
    }
    FlowObject *start = flow_is_object(iterable) ? flow_as_object(iterable)
                                                 : flow_object_of_primitive(vm, iterable);
    FlowProperty method;
    bool has_method =
        start && flow_object_lookup(vm, start, FLOW_SYMBOL(vm, SYMBOL_ITERATOR), &method);
    if (has_method && !(method.attributes & PROPERTY_ACCESSOR) &&
        spread_builtin(vm, target, iterable, method.value)) {
        return true;
    }
    if (!has_method) {
        if (in.c == 1 && !flow_is_nullish(iterable)) {
            return flow_throw_type(
                vm, "Spread syntax requires ...iterable[Symbol.iterator] to be a function");
        }
        return interp_throw_described(vm, iterable, "iterable");
    }
    return flow_vm_push_helper(vm,
                               &(FlowHelperCall){.helper = HELPER_arraySpread,
                                                 .count = 2,
                                                 .arguments = {flow_from_object(target), iterable},
                                                 .return_kind = RETURN_DISCARD});
}

// --- for-in

static bool is_shadowed(FlowVm *vm, FlowObject *start, const FlowObject *until, FlowKey key) {
    for (FlowObject *at = start; at && at != until; at = flow_object_proto(vm, at)) {
        if (flow_object_has_own(vm, at, key)) return true;
    }
    return false;
}

// The prototypes most objects have: nothing in them is enumerable while nobody has changed them.
static bool has_nothing_to_list(const FlowVm *vm, const FlowObject *proto) {
    return vm->override_count == 0 &&
           (proto == vm->realm->protos[PROTO_OBJECT] || proto == vm->realm->protos[PROTO_ARRAY] ||
            proto == vm->realm->protos[PROTO_FUNCTION]);
}

bool interp_for_in_start(FlowVm *vm, FlowInstruction in) {
    uint32_t base = interp_base(vm);
    FlowValue value = vm->stack[base + in.b];
    FlowArray *all = flow_array_new(vm, 0);
    FlowObject *start = NULL;
    if (flow_is_object(value)) start = flow_as_object(value);
    if (flow_is_string(value)) {
        for (uint32_t i = 0; i < flow_string_length(flow_as_string(value)); i++) {
            flow_array_push(vm, all, flow_key_to_value(vm, flow_key_index(i)));
        }
    }
    for (FlowObject *at = start; at; at = flow_object_proto(vm, at)) {
        if (at != start && has_nothing_to_list(vm, at)) continue;
        FlowArray *keys = flow_object_keys(vm, at, KEYS_STRINGS | KEYS_ENUMERABLE_ONLY);
        if (at == start && all->length == 0) {
            all = keys;
            continue;
        }
        for (uint32_t i = 0; i < keys->length; i++) {
            FlowValue name = flow_object_element(vm, &keys->object, i);
            FlowKey key = flow_key_string(vm, flow_as_string(name));
            if (at == start || !is_shadowed(vm, start, at, key)) flow_array_push(vm, all, name);
        }
    }
    vm->stack[base + in.a] = flow_from_object(all);
    vm->stack[base + in.a + 1] = flow_int(0);
    vm->stack[base + in.a + 2] = value;
    return true;
}

bool interp_for_in_next(FlowVm *vm, FlowInstruction in) {
    FlowFrame *frame = interp_frame(vm);
    FlowValue *record = vm->stack + frame->base + in.a;
    FlowArray *keys = flow_as_array(record[0]);
    for (uint32_t i = (uint32_t)flow_as_int(record[1]); i < keys->length; i++) {
        FlowValue name = flow_object_element(vm, &keys->object, i);
        if (!flow_is_string(name)) continue; // a damaged snapshot
        bool is_there = !flow_is_object(record[2]);
        if (!is_there) {
            FlowObject *object = flow_as_object(record[2]);
            FlowKey key = flow_key_string(vm, flow_as_string(name));
            is_there = interp_lookup(vm, object, key) || flow_object_has(vm, object, key);
        }
        if (!is_there) continue;
        record[1] = flow_int((int32_t)(i + 1));
        vm->stack[frame->base + in.b] = name;
        return true;
    }
    frame->pc = (uint32_t)((int32_t)frame->pc + (int16_t)in.c);
    return true;
}

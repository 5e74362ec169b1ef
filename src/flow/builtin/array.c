// Array: the constructor, its statics, and the methods that look at an array or change its end.
//
// Every method here is a fast path over dense elements (NATIVE_SLOW, builtin/objects.h): it takes
// an array of this VM whose holes read as undefined, with arguments that are already numbers, and
// leaves everything else to the prelude routine of the same name.
//
//   [array-1] Dense elements never end in a hole, and `length` counts the holes behind them.
//   [array-2] Whoever makes an array by a size that the script chose asks flow_array_room first.
#include "flow/builtin/array_internal.h"
#include "flow/value/object_layout.h"
#include "flow/vm/vm.h"

enum { RESERVED_MAX = 1024 }; // room that is made ahead of need
enum {
    ARRAY_CLOSED = OBJECT_NOT_EXTENSIBLE | OBJECT_ELEMENTS_SEALED | OBJECT_ELEMENTS_FROZEN |
                   OBJECT_LENGTH_READONLY
};

// --- what kind of array

// No element can be inherited from `proto` or what is behind it.
static bool protos_are_bare(FlowVm *vm, FlowObject *proto) {
    while (proto) {
        const FlowObject *body = flow_object_body(vm, proto);
        if (body->elements || proto->cell.kind == KIND_STRING_OBJECT) return false;
        proto = body->shape->proto;
        vm->fuel--;
    }
    return true;
}

bool flow_array_is_plain(FlowVm *vm, FlowValue value) {
    if (!flow_is_array(value)) return false;
    const FlowObject *object = flow_as_object(value);
    if (object->cell.flags & CELL_SHARED || flow_sparse(object)) return false;
    if (object->shape == vm->array_shape && vm->override_count == 0) return true;
    return protos_are_bare(vm, object->shape->proto);
}

bool flow_array_is_open(FlowVm *vm, FlowValue value) {
    return flow_array_is_plain(vm, value) && !(flow_as_object(value)->cell.aux & ARRAY_CLOSED);
}

bool flow_array_has_plain_species(FlowVm *vm, FlowValue value) {
    if (!flow_is_array(value)) return true;
    const FlowObject *object = flow_as_object(value);
    FlowObject *proto = vm->realm->protos[PROTO_ARRAY];
    if (object->shape->proto != proto) return false;
    uint32_t slot;
    uint32_t attributes;
    bool has_own = object->shape != vm->array_shape &&
                   flow_shape_find(object->shape, FLOW_KEY(vm, constructor), &slot, &attributes);
    if (has_own) return false;
    if (vm->override_count == 0) return true;
    FlowObject *constructor =
        flow_as_object(flow_object_get_data(vm, proto, FLOW_KEY(vm, constructor)));
    return flow_object_override(vm, proto) == proto &&
           flow_object_override(vm, constructor) == constructor;
}

// --- making

FlowNativeResult flow_array_room(FlowVm *vm, FlowNativeCall *call, double count) {
    if (count > vm->limits.array_length) {
        return flow_native_throw(vm, ERROR_KIND_RANGE, "Invalid array length");
    }
    size_t bytes = (size_t)count * sizeof(FlowValue);
    bool has_room = bytes < 4096 || flow_heap_has_room(&vm->heap, bytes);
    return has_room ? NATIVE_OK : flow_native_room(vm, call, bytes);
}

FlowArray *flow_array_make(FlowVm *vm, uint32_t length) {
    FlowArray *array = flow_array_new(vm, length);
    array->length = length;
    if (length == 0) return array;
    FlowStorage *storage = (FlowStorage *)array->object.elements;
    storage->count = length;
    for (uint32_t i = 0; i < length; i++) storage->values[i] = FLOW_HOLE;
    return array;
}

void flow_array_trim(FlowArray *array) {
    FlowStorage *storage = flow_dense(&array->object);
    if (!storage) return;
    while (storage->count && flow_is_hole(storage->values[storage->count - 1])) storage->count--;
}

bool flow_fast_integer(const FlowNativeCall *call, uint32_t index, double missing, double *ret) {
    FlowValue value = flow_argument(call, index);
    if (flow_is_undefined(value)) *ret = missing;
    else if (flow_is_int(value)) *ret = flow_as_int(value);
    else if (flow_is_double(value)) *ret = flow_to_integer(flow_as_double(value));
    else return false;
    return true;
}

static FlowValue with_proto(FlowVm *vm, const FlowNativeCall *call, FlowArray *array) {
    FlowObject *proto = flow_new_target_proto(vm, call->new_target, PROTO_ARRAY);
    if (proto != vm->realm->protos[PROTO_ARRAY]) flow_object_set_proto(vm, &array->object, proto);
    return flow_from_object(array);
}

static FlowNativeResult array_construct(FlowVm *vm, FlowNativeCall *call) {
    FlowValue first = flow_argument(call, 0);
    if (call->count == 1 && flow_is_number(first)) {
        double length = flow_as_number(first);
        if (!(length >= 0 && length <= 4294967295.0 && length == (double)(uint32_t)length)) {
            return flow_native_throw(vm, ERROR_KIND_RANGE, "Invalid array length");
        }
        FlowArray *array = flow_array_new(vm, 0);
        array->length = (uint32_t)length;
        return flow_native_return(call, with_proto(vm, call, array));
    }
    FlowArray *array = flow_array_from(vm, call->arguments, call->count);
    return flow_native_return(call, with_proto(vm, call, array));
}

static bool is_array_constructor(FlowVm *vm, FlowValue value) {
    if (!flow_is_kind(value, KIND_NATIVE_FUNCTION)) return false;
    (void)vm;
    return ((FlowNativeFunction *)flow_as_pointer(value))->entry->function == array_construct;
}

static FlowNativeResult array_of(FlowVm *vm, FlowNativeCall *call) {
    FlowValue self = *call->this_value;
    if (flow_is_constructor(self) && !is_array_constructor(vm, self)) {
        return flow_native_slow(vm, call);
    }
    FlowArray *array = flow_array_from(vm, call->arguments, call->count);
    return flow_native_return(call, flow_from_object(array));
}

static FlowNativeResult array_is_array(FlowVm *vm, FlowNativeCall *call) {
    (void)vm;
    return flow_native_return(call, flow_bool(flow_is_array(flow_argument(call, 0))));
}

static FlowNativeResult get_species(FlowVm *vm, FlowNativeCall *call) {
    (void)vm;
    return flow_native_return(call, *call->this_value);
}

// --- looking

static FlowNativeResult array_at(FlowVm *vm, FlowNativeCall *call) {
    double index;
    if (!flow_array_is_plain(vm, *call->this_value) || !flow_fast_integer(call, 0, 0, &index)) {
        return flow_native_slow(vm, call);
    }
    const FlowArray *array = flow_as_array(*call->this_value);
    if (index < 0) index += array->length;
    if (!(index >= 0 && index < array->length)) return NATIVE_OK;
    FlowValue value = flow_array_at(array, (uint32_t)index);
    return flow_native_return(call, flow_is_hole(value) ? FLOW_UNDEFINED : value);
}

// Values that are equal to no other bits than their own: not strings, BigInts, 0 (-0), NaN, and
// not undefined, which holes read as. Other numbers are ([value-2] of value.h).
static bool is_by_bits(FlowValue value) {
    if (flow_is_int(value)) return flow_as_int(value) != 0;
    return flow_is_object(value) || flow_is_boolean(value) || flow_is_null(value);
}

static FlowNativeResult array_index_of(FlowVm *vm, FlowNativeCall *call) {
    double from;
    if (!flow_array_is_plain(vm, *call->this_value) || !flow_fast_integer(call, 1, 0, &from)) {
        return flow_native_slow(vm, call);
    }
    const FlowArray *array = flow_as_array(*call->this_value);
    FlowValue wanted = flow_argument(call, 0);
    uint32_t count = flow_array_count(array);
    uint32_t start = (uint32_t)flow_relative_index(from, array->length);
    bool is_exact = is_by_bits(wanted);
    for (uint32_t i = start; i < count; i++) {
        FlowValue value = flow_array_at(array, i);
        if (!is_exact && flow_native_is_overdrawn(vm)) return flow_native_slow(vm, call);
        if (is_exact ? value.bits == wanted.bits
                     : !flow_is_hole(value) && flow_strict_equal(vm, value, wanted)) {
            flow_native_charge(vm, (uint64_t)(i - start) * (is_exact ? 1 : 4));
            return flow_native_return(call, flow_uint(i));
        }
    }
    if (count > start) flow_native_charge(vm, (uint64_t)(count - start) * (is_exact ? 1 : 4));
    return flow_native_return(call, flow_int(-1));
}

static FlowNativeResult array_includes(FlowVm *vm, FlowNativeCall *call) {
    double from;
    if (!flow_array_is_plain(vm, *call->this_value) || !flow_fast_integer(call, 1, 0, &from)) {
        return flow_native_slow(vm, call);
    }
    const FlowArray *array = flow_as_array(*call->this_value);
    FlowValue wanted = flow_argument(call, 0);
    uint32_t count = flow_array_count(array);
    uint32_t start = (uint32_t)flow_relative_index(from, array->length);
    bool is_found = flow_is_undefined(wanted) && count < array->length && start < array->length;
    bool is_exact = is_by_bits(wanted);
    if (count > start) flow_native_charge(vm, (uint64_t)(count - start) * (is_exact ? 1 : 4));
    for (uint32_t i = start; i < count && !is_found; i++) {
        FlowValue value = flow_array_at(array, i);
        if (is_exact) {
            is_found = value.bits == wanted.bits;
            continue;
        }
        if (flow_native_is_overdrawn(vm)) return flow_native_slow(vm, call);
        if (flow_is_hole(value)) value = FLOW_UNDEFINED;
        is_found = flow_same_value_zero(vm, value, wanted);
    }
    return flow_native_return(call, flow_bool(is_found));
}

static FlowNativeResult array_last_index_of(FlowVm *vm, FlowNativeCall *call) {
    double from = INFINITY; // a missing argument differs from undefined here
    if (!flow_array_is_plain(vm, *call->this_value) ||
        (call->count > 1 && !flow_fast_integer(call, 1, 0, &from))) {
        return flow_native_slow(vm, call);
    }
    const FlowArray *array = flow_as_array(*call->this_value);
    FlowValue wanted = flow_argument(call, 0);
    uint32_t count = flow_array_count(array);
    if (from < 0) from += array->length;
    if (from < 0 || count == 0) return flow_native_return(call, flow_int(-1));
    uint32_t end = from >= count ? count : (uint32_t)from + 1;
    flow_native_charge(vm, (uint64_t)end * 4);
    for (uint32_t i = end; i-- > 0;) {
        FlowValue value = flow_array_at(array, i);
        if (flow_native_is_overdrawn(vm)) return flow_native_slow(vm, call);
        if (!flow_is_hole(value) && flow_strict_equal(vm, value, wanted)) {
            return flow_native_return(call, flow_uint(i));
        }
    }
    return flow_native_return(call, flow_int(-1));
}

// --- join

// Whether all elements have a text that needs no script code.
static bool joins_plainly(const FlowArray *array) {
    uint32_t count = flow_array_count(array);
    for (uint32_t i = 0; i < count; i++) {
        FlowValue value = flow_array_at(array, i);
        if (flow_is_object(value) || flow_is_symbol(value)) return false;
    }
    return true;
}

static FlowNativeResult join_plain(FlowVm *vm, FlowNativeCall *call, const FlowArray *array,
                                   FlowString *separator) {
    // The separators alone may be too long: known before anything is written.
    double least = (double)flow_string_length(separator) * ((double)array->length - 1);
    if (least > vm->limits.string_length) {
        return flow_native_throw(vm, ERROR_KIND_RANGE, "Invalid string length");
    }
    if (least > 0 && !flow_heap_has_room(&vm->heap, (size_t)least)) {
        return flow_native_room(vm, call, (size_t)least);
    }
    FlowStringBuilder out;
    flow_builder_init(&out, vm);
    bool has_separator = flow_string_length(separator) > 0;
    uint32_t count = flow_array_count(array);
    flow_native_charge(vm, (uint64_t)array->length * 16);
    for (uint32_t i = 0; i < array->length && !out.is_too_long; i++) {
        if (i > 0 && has_separator) flow_builder_string(&out, separator);
        if (i >= count && !has_separator) break; // only holes are left, and nothing between them
        FlowValue value = flow_array_at(array, i);
        if (flow_is_nullish(value) || flow_is_hole(value)) continue;
        if (!flow_is_number(value) && flow_native_is_overdrawn(vm)) {
            flow_builder_done(&out);
            return flow_native_slow(vm, call);
        }
        flow_builder_string(&out, flow_is_string(value) ? flow_as_string(value)
                                                        : flow_to_string(vm, value));
    }
    FlowString *text = flow_builder_finish(&out);
    if (!text) return NATIVE_THROW;
    flow_native_charge(vm, flow_string_length(text) / 4);
    return flow_native_return(call, flow_from_string(text));
}

static FlowNativeResult array_join(FlowVm *vm, FlowNativeCall *call) {
    FlowValue separator = flow_argument(call, 0);
    if (flow_is_undefined(separator)) separator = flow_from_string(flow_string_unit(vm, ','));
    bool is_fast = flow_is_string(separator) && flow_array_is_plain(vm, *call->this_value) &&
                   joins_plainly(flow_as_array(*call->this_value));
    if (!is_fast) return flow_native_slow(vm, call);
    FlowString *flat = flow_string_flat(vm, flow_as_string(separator));
    return join_plain(vm, call, flow_as_array(*call->this_value), flat);
}

static FlowNativeResult array_to_string(FlowVm *vm, FlowNativeCall *call) {
    FlowValue self = *call->this_value;
    if (!flow_array_is_plain(vm, self) || !joins_plainly(flow_as_array(self))) {
        return flow_native_slow(vm, call);
    }
    FlowProperty join;
    bool is_original =
        flow_object_lookup(vm, flow_as_object(self), FLOW_KEY(vm, join), &join) &&
        flow_is_kind(join.value, KIND_NATIVE_FUNCTION) &&
        ((FlowNativeFunction *)flow_as_pointer(join.value))->entry->function == array_join;
    if (!is_original) return flow_native_slow(vm, call);
    return join_plain(vm, call, flow_as_array(self), flow_string_unit(vm, ','));
}

// --- the end of an array

static FlowNativeResult array_push(FlowVm *vm, FlowNativeCall *call) {
    FlowValue self = *call->this_value;
    if (!flow_array_is_open(vm, self)) return flow_native_slow(vm, call);
    FlowArray *array = flow_as_array(self);
    uint32_t count = flow_array_count(array);
    if (count != array->length) return flow_native_slow(vm, call);
    uint64_t needed = (uint64_t)count + call->count;
    FlowStorage *storage = flow_dense(&array->object);
    if (!storage || needed > storage->cell.aux) {
        TRY_NATIVE(flow_array_room(vm, call, (double)needed + (double)needed / 2));
    }
    for (uint32_t i = 0; i < call->count; i++) flow_array_push(vm, array, call->arguments[i]);
    return flow_native_return(call, flow_uint(array->length));
}

static FlowNativeResult array_pop(FlowVm *vm, FlowNativeCall *call) {
    FlowValue self = *call->this_value;
    if (!flow_array_is_open(vm, self)) return flow_native_slow(vm, call);
    FlowArray *array = flow_as_array(self);
    if (array->length == 0) return NATIVE_OK;
    FlowValue last = flow_array_at(array, array->length - 1);
    flow_array_set_length(vm, array, array->length - 1);
    return flow_native_return(call, flow_is_hole(last) ? FLOW_UNDEFINED : last);
}

// --- iterators

static FlowNativeResult array_iterate(FlowVm *vm, FlowNativeCall *call, FlowIteratorKind kind) {
    FlowObject *object = flow_to_object(vm, *call->this_value);
    if (!object) return NATIVE_THROW;
    return flow_native_return(
        call, flow_iterator_new(vm, PROTO_ARRAY_ITERATOR, kind, flow_from_object(object)));
}

static FlowNativeResult array_keys(FlowVm *vm, FlowNativeCall *call) {
    return array_iterate(vm, call, ITERATOR_ARRAY_KEYS);
}

static FlowNativeResult array_values(FlowVm *vm, FlowNativeCall *call) {
    return array_iterate(vm, call, ITERATOR_ARRAY_VALUES);
}

static FlowNativeResult array_entries(FlowVm *vm, FlowNativeCall *call) {
    return array_iterate(vm, call, ITERATOR_ARRAY_ENTRIES);
}

// --- intrinsics

// %newArray(length): ArrayCreate.
static FlowNativeResult new_array(FlowVm *vm, FlowNativeCall *call) {
    double length = flow_as_number(flow_argument(call, 0));
    if (length > 4294967295.0) {
        return flow_native_throw(vm, ERROR_KIND_RANGE, "Invalid array length");
    }
    FlowArray *array = flow_array_new(vm, 0);
    array->length = (uint32_t)length;
    return flow_native_return(call, flow_from_object(array));
}

// %iteratesPlainly(constructor, items): whether Array.from makes an array and takes the items from
// a built-in iterator.
static FlowNativeResult iterates_plainly(FlowVm *vm, FlowNativeCall *call) {
    FlowValue items = flow_argument(call, 1);
    FlowObject *start =
        flow_is_object(items) ? flow_as_object(items) : flow_object_of_primitive(vm, items);
    FlowProperty method;
    bool is_plain =
        is_array_constructor(vm, flow_argument(call, 0)) && start &&
        flow_object_lookup(vm, start, FLOW_SYMBOL(vm, SYMBOL_ITERATOR), &method) &&
        !(method.attributes & PROPERTY_ACCESSOR) &&
        flow_is_kind(method.value, KIND_NATIVE_FUNCTION) &&
        ((FlowNativeFunction *)flow_as_pointer(method.value))->entry->flags & NATIVE_ITERATES;
    return flow_native_return(call, flow_bool(is_plain));
}

// %newPlainArray(original, length): an empty array with room, when ArraySpeciesCreate would make an
// ordinary array and elements may simply be assigned to it; undefined when it is not so easy.
static FlowNativeResult new_plain_array(FlowVm *vm, FlowNativeCall *call) {
    double length = flow_as_number(flow_argument(call, 1));
    bool is_plain =
        length <= 4294967295.0 && flow_array_has_plain_species(vm, flow_argument(call, 0)) &&
        (vm->override_count == 0 || protos_are_bare(vm, vm->realm->protos[PROTO_ARRAY]));
    if (!is_plain) return NATIVE_OK;
    uint32_t reserved = length <= RESERVED_MAX ? (uint32_t)length : RESERVED_MAX;
    FlowArray *array = flow_array_new(vm, reserved);
    return flow_native_return(call, flow_from_object(array));
}

// %hasPlainSpecies(original): ArraySpeciesCreate makes an ordinary array.
static FlowNativeResult has_plain_species(FlowVm *vm, FlowNativeCall *call) {
    bool is_plain = flow_array_has_plain_species(vm, flow_argument(call, 0));
    return flow_native_return(call, flow_bool(is_plain));
}

// %put(object, key, value): CreateDataPropertyOrThrow.
static FlowNativeResult put(FlowVm *vm, FlowNativeCall *call) {
    FlowObject *object = flow_as_object(flow_argument(call, 0));
    FlowValue key_value = flow_argument(call, 1);
    FlowValue value = flow_argument(call, 2);
    FlowStorage *storage = flow_dense(object);
    bool is_append = object->cell.kind == KIND_ARRAY && flow_is_int(key_value) && storage &&
                     !(object->cell.flags & CELL_SHARED) && !(object->cell.aux & ARRAY_CLOSED) &&
                     (uint32_t)flow_as_int(key_value) == storage->count &&
                     storage->count < storage->cell.aux;
    if (is_append) {
        FlowArray *array = (FlowArray *)object;
        storage->values[storage->count++] = value;
        if (array->length < storage->count) array->length = storage->count;
        return NATIVE_OK;
    }
    FlowKey key;
    if (!flow_key_from_value(vm, key_value, &key)) UNREACHABLE();
    if (flow_object_put(vm, object, key, value)) return NATIVE_OK;
    char text[FLOW_TEXT_MAX];
    flow_describe_key(vm, key, text);
    if (flow_object_has_own(vm, object, key)) {
        return flow_native_throw(vm, ERROR_KIND_TYPE, "Cannot redefine property: %s", text);
    }
    bool is_full = flow_key_is_index(key) && flow_object_is_extensible(vm, object);
    if (is_full) return flow_native_throw(vm, ERROR_KIND_RANGE, "Invalid array length");
    return flow_native_throw(vm, ERROR_KIND_TYPE,
                             "Cannot define property %s, object is not extensible", text);
}

// %lastHole(object, index, length): `index` is known to be absent; the last index of the gap it
// is in, so that a loop over a sparse array does not count through it.
static FlowNativeResult last_hole(FlowVm *vm, FlowNativeCall *call) {
    FlowValue at = flow_argument(call, 1);
    FlowObject *object = flow_as_object(flow_argument(call, 0));
    double length = flow_as_number(flow_argument(call, 2));
    bool can_skip = object->cell.kind == KIND_ARRAY && flow_is_number(at);
    if (can_skip) can_skip = protos_are_bare(vm, flow_object_proto(vm, object));
    double index = flow_as_number(at);
    if (!can_skip || index >= 4294967294.0) return flow_native_return(call, at);
    uint32_t next = flow_elements_next(flow_object_body(vm, object), (uint32_t)index + 1);
    double end = next == UINT32_MAX || next > length ? length : next;
    return flow_native_return(call, flow_number(end - 1));
}

// %isJoining(): the running join is already at work on the same object further down the stack.
static FlowNativeResult is_joining(FlowVm *vm, FlowNativeCall *call) {
    const FlowFrame *top = &vm->frames[vm->frame_count - 1];
    FlowValue self = vm->stack[top->base];
    vm->fuel -= vm->frame_count / 2;
    for (uint32_t i = vm->frame_count - 1; i-- > 0;) {
        const FlowFrame *frame = &vm->frames[i];
        bool is_same = frame->kind == FRAME_SCRIPT && frame->closure == top->closure &&
                       flow_same_bits(vm->stack[frame->base], self);
        if (is_same) return flow_native_return(call, FLOW_TRUE);
    }
    return flow_native_return(call, FLOW_FALSE);
}

const FlowNativeEntry flow_intrinsics_array[] = {
    NATIVE("newArray", new_array, 1),
    NATIVE("newPlainArray", new_plain_array, 2),
    NATIVE("iteratesPlainly", iterates_plainly, 2),
    NATIVE("hasPlainSpecies", has_plain_species, 1),
    NATIVE("put", put, 3),
    NATIVE("lastHole", last_hole, 3),
    NATIVE("isJoining", is_joining, 0),
    NATIVE("sortByKeys", flow_array_sort_by_keys, 2),
    NATIVE("iteratorTarget", flow_iterator_target, 1),
    NATIVE("iteratorPosition", flow_iterator_position, 1),
    NATIVE("iteratorKind", flow_iterator_kind, 1),
    NATIVE("iteratorMove", flow_iterator_move, 2),
    NATIVE_END,
};

// --- tables

static const FlowNativeEntry array_statics[] = {
    NATIVE("isArray", array_is_array, 1),
    PRELUDE("from", "Array_from", 1),
    NATIVE_SLOW("of", array_of, "Array_of", 0),
    GETTER("@@species", get_species),
    NATIVE_END,
};

static const FlowNativeEntry array_members[] = {
    NATIVE_SLOW("at", array_at, "Array_prototype_at", 1),
    NATIVE_SLOW("concat", flow_array_concat, "Array_prototype_concat", 1),
    PRELUDE("copyWithin", "Array_prototype_copyWithin", 2),
    NATIVE_SLOW("fill", flow_array_fill, "Array_prototype_fill", 1),
    PRELUDE("find", "Array_prototype_find", 1),
    PRELUDE("findIndex", "Array_prototype_findIndex", 1),
    PRELUDE("findLast", "Array_prototype_findLast", 1),
    PRELUDE("findLastIndex", "Array_prototype_findLastIndex", 1),
    NATIVE_SLOW("lastIndexOf", array_last_index_of, "Array_prototype_lastIndexOf", 1),
    NATIVE_SLOW("pop", array_pop, "Array_prototype_pop", 0),
    NATIVE_SLOW("push", array_push, "Array_prototype_push", 1),
    NATIVE_SLOW("reverse", flow_array_reverse, "Array_prototype_reverse", 0),
    NATIVE_SLOW("shift", flow_array_shift, "Array_prototype_shift", 0),
    NATIVE_SLOW("unshift", flow_array_unshift, "Array_prototype_unshift", 1),
    NATIVE_SLOW("slice", flow_array_slice, "Array_prototype_slice", 2),
    NATIVE_SLOW("sort", flow_array_sort, "Array_prototype_sort", 1),
    NATIVE_SLOW("splice", flow_array_splice, "Array_prototype_splice", 2),
    NATIVE_SLOW("includes", array_includes, "Array_prototype_includes", 1),
    NATIVE_SLOW("indexOf", array_index_of, "Array_prototype_indexOf", 1),
    NATIVE_SLOW("join", array_join, "Array_prototype_join", 1),
    NATIVE("keys", array_keys, 0),
    NATIVE("entries", array_entries, 0),
    NATIVE("values", array_values, 0),
    PRELUDE("forEach", "Array_prototype_forEach", 1),
    PRELUDE("filter", "Array_prototype_filter", 1),
    NATIVE_SLOW("flat", flow_array_flat, "Array_prototype_flat", 0),
    PRELUDE("flatMap", "Array_prototype_flatMap", 1),
    PRELUDE("map", "Array_prototype_map", 1),
    PRELUDE("every", "Array_prototype_every", 1),
    PRELUDE("some", "Array_prototype_some", 1),
    PRELUDE("reduce", "Array_prototype_reduce", 1),
    PRELUDE("reduceRight", "Array_prototype_reduceRight", 1),
    PRELUDE("toLocaleString", "Array_prototype_toLocaleString", 0),
    NATIVE_SLOW("toString", array_to_string, "Array_prototype_toString", 0),
    NATIVE_SLOW("toReversed", flow_array_to_reversed, "Array_prototype_toReversed", 0),
    NATIVE_SLOW("toSorted", flow_array_to_sorted, "Array_prototype_toSorted", 1),
    NATIVE_SLOW("toSpliced", flow_array_to_spliced, "Array_prototype_toSpliced", 2),
    NATIVE_SLOW("with", flow_array_with, "Array_prototype_with", 2),
    ALIAS("@@iterator", "values"),
    NATIVE_END,
};

const FlowClassEntry flow_class_array = {
    .name = "Array",
    .constructor = {"Array", array_construct, NULL, 1, NATIVE_CONSTRUCTOR, 0},
    .statics = array_statics,
    .members = array_members,
    .kind = KIND_ARRAY,
    .proto_id = 1 + PROTO_ARRAY,
};

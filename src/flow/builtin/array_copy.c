// Array methods that make a new array or move many elements: fast paths over dense elements. The
// rules are those of builtin/array.c; what is not plain goes to the prelude.
//
//   [array-copy-1] A method that both reads and changes an array has made room for the result
//        before it changes anything, so that asking for room can begin again from the start.
#include "base/memory.h"
#include "flow/builtin/array_internal.h"
#include "flow/value/object_layout.h"
#include "flow/vm/vm.h"

enum { FLAT_DEPTH_MAX = 10000, FLAT_STEPS = 4096 };

// [start, end) of `from` behind `at` in `to`; holes stay holes.
static void copy_range(FlowArray *to, uint32_t at, const FlowArray *from, uint32_t start,
                       uint32_t end) {
    uint32_t count = flow_array_count(from);
    if (end > count) end = count;
    if (start >= end) return;
    memcpy(flow_array_values(to) + at, flow_array_values(from) + start,
           (end - start) * sizeof(FlowValue));
}

static FlowNativeResult give_array(FlowNativeCall *call, FlowArray *array) {
    flow_array_trim(array);
    return flow_native_return(call, flow_from_object(array));
}

static bool is_plain_source(FlowVm *vm, FlowValue value) {
    return flow_array_is_plain(vm, value) && flow_array_has_plain_species(vm, value);
}

// Open, and without a gap between its elements and its length.
static bool is_open_and_full(FlowVm *vm, FlowValue value) {
    return flow_array_is_open(vm, value) &&
           flow_array_count(flow_as_array(value)) == flow_as_array(value)->length;
}

// --- slice, splice and their kin

FlowNativeResult flow_array_slice(FlowVm *vm, FlowNativeCall *call) {
    double first;
    double last;
    bool is_fast = is_plain_source(vm, *call->this_value) &&
                   flow_fast_integer(call, 0, 0, &first) &&
                   flow_fast_integer(call, 1, INFINITY, &last);
    if (!is_fast) return flow_native_slow(vm, call);
    const FlowArray *array = flow_as_array(*call->this_value);
    uint32_t start = (uint32_t)flow_relative_index(first, array->length);
    uint32_t end = (uint32_t)flow_relative_index(last, array->length);
    uint32_t length = end > start ? end - start : 0;
    uint32_t count = flow_array_count(array) > start ? flow_array_count(array) - start : 0;
    if (count > length) count = length;
    TRY_NATIVE(flow_array_room(vm, call, count));
    flow_native_charge(vm, count / 4);
    FlowArray *result = flow_array_make(vm, count);
    copy_range(result, 0, array, start, end);
    result->length = length;
    return give_array(call, result);
}

// start, deleteCount of splice and toSpliced.
static bool splice_range(const FlowNativeCall *call, const FlowArray *array, uint32_t *ret_start,
                         uint32_t *ret_removed) {
    double start;
    double removed;
    if (!flow_fast_integer(call, 0, 0, &start) || !flow_fast_integer(call, 1, 0, &removed)) {
        return false;
    }
    *ret_start = (uint32_t)flow_relative_index(start, array->length);
    double rest = array->length - *ret_start;
    if (call->count == 0) removed = 0;
    else if (call->count == 1) removed = rest;
    *ret_removed = (uint32_t)(removed < 0 ? 0 : removed > rest ? rest : removed);
    return true;
}

// Replaces [start, start + removed) by `count` values; the array is open, without a gap behind its
// elements, and has room.
typedef struct Replacement {
    uint32_t start;
    uint32_t removed;
    const FlowValue *values;
    uint32_t count;
} Replacement;

static void array_replace(FlowVm *vm, FlowArray *array, const Replacement *by) {
    uint32_t tail = array->length - by->start - by->removed;
    uint32_t length = by->start + by->count + tail;
    if (length == 0) {
        flow_array_set_length(vm, array, 0);
        return;
    }
    flow_array_reserve(vm, array, length);
    FlowStorage *storage = flow_dense(&array->object);
    FlowValue *at = storage->values + by->start;
    memmove(at + by->count, at + by->removed, tail * sizeof(FlowValue));
    if (by->count) memcpy(at, by->values, by->count * sizeof(FlowValue));
    storage->count = length;
    array->length = length;
    flow_array_trim(array);
}

static const FlowValue *splice_items(const FlowNativeCall *call, uint32_t *ret_count) {
    *ret_count = call->count > 2 ? call->count - 2 : 0;
    return call->arguments + 2;
}

FlowNativeResult flow_array_splice(FlowVm *vm, FlowNativeCall *call) {
    FlowValue self = *call->this_value;
    uint32_t start;
    uint32_t removed;
    bool is_fast = is_open_and_full(vm, self) && flow_array_has_plain_species(vm, self) &&
                   splice_range(call, flow_as_array(self), &start, &removed);
    if (!is_fast) return flow_native_slow(vm, call);
    FlowArray *array = flow_as_array(self);
    uint32_t count;
    const FlowValue *items = splice_items(call, &count);
    // Room for the removed elements and for the storage that may have to grow [array-copy-1].
    double grown = count > removed ? (double)array->length + count : 0;
    TRY_NATIVE(flow_array_room(vm, call, removed + grown));
    flow_native_charge(vm, (array->length - start) / 4);
    FlowArray *result = flow_array_make(vm, removed);
    copy_range(result, 0, array, start, start + removed);
    array_replace(vm, array, &(Replacement){start, removed, items, count});
    return give_array(call, result);
}

static void holes_to_undefined(FlowArray *array) {
    for (uint32_t i = 0; i < array->length; i++) {
        FlowValue *value = &flow_array_values(array)[i];
        if (flow_is_hole(*value)) *value = FLOW_UNDEFINED;
    }
}

FlowNativeResult flow_array_to_spliced(FlowVm *vm, FlowNativeCall *call) {
    FlowValue self = *call->this_value;
    uint32_t start;
    uint32_t removed;
    bool is_fast =
        flow_array_is_plain(vm, self) && splice_range(call, flow_as_array(self), &start, &removed);
    if (!is_fast) return flow_native_slow(vm, call);
    const FlowArray *array = flow_as_array(self);
    uint32_t count;
    const FlowValue *items = splice_items(call, &count);
    TRY_NATIVE(flow_array_room(vm, call, (double)array->length - removed + count));
    FlowArray *result = flow_array_make(vm, array->length - removed + count);
    flow_native_charge(vm, result->length / 4);
    copy_range(result, 0, array, 0, start);
    if (count) memcpy(flow_array_values(result) + start, items, count * sizeof *items);
    copy_range(result, start + count, array, start + removed, array->length);
    holes_to_undefined(result);
    return flow_native_return(call, flow_from_object(result));
}

FlowNativeResult flow_array_with(FlowVm *vm, FlowNativeCall *call) {
    FlowValue self = *call->this_value;
    double index;
    if (!flow_array_is_plain(vm, self) || !flow_fast_integer(call, 0, 0, &index)) {
        return flow_native_slow(vm, call);
    }
    const FlowArray *array = flow_as_array(self);
    double at = index < 0 ? index + array->length : index;
    if (!(at >= 0 && at < array->length)) return flow_native_slow(vm, call); // throws there
    TRY_NATIVE(flow_array_room(vm, call, array->length));
    flow_native_charge(vm, array->length / 4);
    FlowArray *result = flow_array_make(vm, array->length);
    copy_range(result, 0, array, 0, array->length);
    flow_array_values(result)[(uint32_t)at] = flow_argument(call, 1);
    holes_to_undefined(result);
    return flow_native_return(call, flow_from_object(result));
}

// --- reverse

static void reverse_values(FlowValue *values, uint32_t count) {
    for (uint32_t i = 0; i < count / 2; i++) {
        FlowValue kept = values[i];
        values[i] = values[count - 1 - i];
        values[count - 1 - i] = kept;
    }
}

FlowNativeResult flow_array_reverse(FlowVm *vm, FlowNativeCall *call) {
    FlowValue self = *call->this_value;
    if (!is_open_and_full(vm, self)) return flow_native_slow(vm, call);
    FlowArray *array = flow_as_array(self);
    if (array->length) reverse_values(flow_array_values(array), array->length);
    flow_native_charge(vm, array->length / 4);
    flow_array_trim(array);
    return flow_native_return(call, self);
}

FlowNativeResult flow_array_to_reversed(FlowVm *vm, FlowNativeCall *call) {
    FlowValue self = *call->this_value;
    if (!flow_array_is_plain(vm, self)) return flow_native_slow(vm, call);
    const FlowArray *array = flow_as_array(self);
    TRY_NATIVE(flow_array_room(vm, call, array->length));
    flow_native_charge(vm, array->length / 4);
    FlowArray *result = flow_array_make(vm, array->length);
    copy_range(result, 0, array, 0, array->length);
    holes_to_undefined(result);
    if (result->length) reverse_values(flow_array_values(result), result->length);
    return flow_native_return(call, flow_from_object(result));
}

// --- the front of an array

FlowNativeResult flow_array_shift(FlowVm *vm, FlowNativeCall *call) {
    FlowValue self = *call->this_value;
    if (!is_open_and_full(vm, self)) return flow_native_slow(vm, call);
    FlowArray *array = flow_as_array(self);
    if (array->length == 0) return NATIVE_OK;
    FlowValue first = flow_array_at(array, 0);
    flow_native_charge(vm, array->length / 8);
    array_replace(vm, array, &(Replacement){.removed = 1});
    return flow_native_return(call, flow_is_hole(first) ? FLOW_UNDEFINED : first);
}

FlowNativeResult flow_array_unshift(FlowVm *vm, FlowNativeCall *call) {
    FlowValue self = *call->this_value;
    if (!is_open_and_full(vm, self)) return flow_native_slow(vm, call);
    FlowArray *array = flow_as_array(self);
    TRY_NATIVE(flow_array_room(vm, call, (double)array->length + call->count));
    flow_native_charge(vm, array->length / 8);
    if (call->count) {
        array_replace(vm, array, &(Replacement){.values = call->arguments, .count = call->count});
    }
    return flow_native_return(call, flow_uint(array->length));
}

// --- fill

FlowNativeResult flow_array_fill(FlowVm *vm, FlowNativeCall *call) {
    FlowValue self = *call->this_value;
    double first;
    double last;
    bool is_fast = flow_array_is_open(vm, self) && flow_fast_integer(call, 1, 0, &first) &&
                   flow_fast_integer(call, 2, INFINITY, &last);
    if (!is_fast) return flow_native_slow(vm, call);
    FlowArray *array = flow_as_array(self);
    uint32_t start = (uint32_t)flow_relative_index(first, array->length);
    uint32_t end = (uint32_t)flow_relative_index(last, array->length);
    if (start >= end) return flow_native_return(call, self);
    TRY_NATIVE(flow_array_room(vm, call, end));
    flow_native_charge(vm, (end - start) / 4);
    flow_array_reserve(vm, array, end);
    FlowStorage *storage = flow_dense(&array->object);
    for (uint32_t i = storage->count; i < start; i++) storage->values[i] = FLOW_HOLE;
    for (uint32_t i = start; i < end; i++) storage->values[i] = flow_argument(call, 0);
    if (storage->count < end) storage->count = end;
    return flow_native_return(call, self);
}

// --- concat

typedef enum ConcatPart { CONCAT_ITEM, CONCAT_ARRAY, CONCAT_UNSURE } ConcatPart;

static ConcatPart concat_part(FlowVm *vm, FlowValue value) {
    if (!flow_is_object(value)) return CONCAT_ITEM;
    FlowKey spreadable = FLOW_SYMBOL(vm, SYMBOL_IS_CONCAT_SPREADABLE);
    if (flow_object_has(vm, flow_as_object(value), spreadable)) return CONCAT_UNSURE;
    if (!flow_is_array(value)) return CONCAT_ITEM;
    return flow_array_is_plain(vm, value) ? CONCAT_ARRAY : CONCAT_UNSURE;
}

// -1: this; else an argument.
static FlowValue concat_value(const FlowNativeCall *call, uint32_t index) {
    return index == 0 ? *call->this_value : call->arguments[index - 1];
}

FlowNativeResult flow_array_concat(FlowVm *vm, FlowNativeCall *call) {
    if (!is_plain_source(vm, *call->this_value)) return flow_native_slow(vm, call);
    double length = 0;
    for (uint32_t i = 0; i <= call->count; i++) {
        FlowValue value = concat_value(call, i);
        ConcatPart part = concat_part(vm, value);
        if (part == CONCAT_UNSURE) return flow_native_slow(vm, call);
        length += part == CONCAT_ARRAY ? flow_as_array(value)->length : 1;
    }
    TRY_NATIVE(flow_array_room(vm, call, length));
    flow_native_charge(vm, (uint64_t)length / 4);
    FlowArray *result = flow_array_make(vm, (uint32_t)length);
    uint32_t at = 0;
    for (uint32_t i = 0; i <= call->count; i++) {
        FlowValue value = concat_value(call, i);
        if (concat_part(vm, value) == CONCAT_ARRAY) {
            const FlowArray *part = flow_as_array(value);
            copy_range(result, at, part, 0, part->length);
            at += part->length;
        } else {
            flow_array_values(result)[at++] = value;
        }
    }
    return give_array(call, result);
}

// --- flat

typedef struct FlatLevel {
    const FlowArray *array;
    uint32_t next;
} FlatLevel;

typedef enum FlatOutcome { FLAT_DONE, FLAT_UNSURE, FLAT_TOO_DEEP, FLAT_TOO_LONG } FlatOutcome;

// Walks the arrays with a stack of its own; `levels` has room for as many as there may be.
static FlatOutcome flatten(FlowVm *vm, FlowArray *result, FlatLevel **levels, double depth) {
    uint32_t capacity = 8;
    uint32_t used = 1;
    for (uint64_t steps = 1; used; steps++) {
        if (steps % FLAT_STEPS == 0) { // holes and empty arrays take no room in the result
            flow_native_charge(vm, 8 * FLAT_STEPS);
            if (flow_native_is_overdrawn(vm)) return FLAT_UNSURE;
        }
        FlatLevel *level = &(*levels)[used - 1];
        if (level->next >= flow_array_count(level->array)) {
            used--;
            continue;
        }
        FlowValue value = flow_array_at(level->array, level->next++);
        if (flow_is_hole(value)) continue;
        if (!flow_is_array(value) || used > depth) {
            if (result->length >= vm->limits.array_length) return FLAT_TOO_LONG;
            if (!flow_heap_has_room(&vm->heap, result->length * sizeof(FlowValue))) {
                return FLAT_TOO_LONG;
            }
            flow_array_push(vm, result, value);
            continue;
        }
        if (!flow_array_is_plain(vm, value)) return FLAT_UNSURE;
        if (used == FLAT_DEPTH_MAX) return FLAT_TOO_DEEP;
        if (used == capacity) {
            capacity *= 2;
            *levels = mem_realloc(*levels, capacity * sizeof **levels);
        }
        (*levels)[used++] = (FlatLevel){flow_as_array(value), 0};
    }
    return FLAT_DONE;
}

FlowNativeResult flow_array_flat(FlowVm *vm, FlowNativeCall *call) {
    double depth;
    bool is_fast = is_plain_source(vm, *call->this_value) && flow_fast_integer(call, 0, 1, &depth);
    if (!is_fast) return flow_native_slow(vm, call);
    FlowArray *result = flow_array_new(vm, 0);
    FlatLevel *levels = mem_alloc(8 * sizeof *levels);
    levels[0] = (FlatLevel){flow_as_array(*call->this_value), 0};
    FlatOutcome outcome = flatten(vm, result, &levels, depth < 0 ? 0 : depth);
    mem_free(levels);
    flow_native_charge(vm, result->length);
    switch (outcome) {
    case FLAT_DONE: return flow_native_return(call, flow_from_object(result));
    case FLAT_UNSURE: return flow_native_slow(vm, call);
    case FLAT_TOO_DEEP:
        return flow_native_throw(vm, ERROR_KIND_RANGE, "Maximum call stack size exceeded");
    case FLAT_TOO_LONG: return flow_native_throw(vm, ERROR_KIND_RANGE, "Invalid array length");
    }
    UNREACHABLE();
}

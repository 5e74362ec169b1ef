// What the files of Array share.
#pragma once
#include "flow/builtin/objects.h"
#include "flow/builtin/primitives.h"

// Room for an array of `count` elements: OK, or what the native must answer at once.
FlowNativeResult flow_array_room(FlowVm *vm, FlowNativeCall *call, double count);
// A new array with `length` elements for the caller to fill (they are HOLE at first); then
// flow_array_trim, because dense elements must not end in holes.
FlowArray *flow_array_make(FlowVm *vm, uint32_t length);
void flow_array_trim(FlowArray *array);
static inline FlowValue *flow_array_values(const FlowArray *array) {
    return ((FlowStorage *)(void *)array->object.elements)->values;
}
static inline uint32_t flow_array_count(const FlowArray *array) { // of dense elements
    return array->object.elements ? ((FlowStorage *)(void *)array->object.elements)->count : 0;
}
// Argument `index` as an integer when that needs no script code and cannot fail.
bool flow_fast_integer(const FlowNativeCall *call, uint32_t index, double missing, double *ret);

// --- methods that make a new array or move elements (builtin/array_copy.c)
FlowNativeResult flow_array_concat(FlowVm *vm, FlowNativeCall *call);
FlowNativeResult flow_array_slice(FlowVm *vm, FlowNativeCall *call);
FlowNativeResult flow_array_splice(FlowVm *vm, FlowNativeCall *call);
FlowNativeResult flow_array_reverse(FlowVm *vm, FlowNativeCall *call);
FlowNativeResult flow_array_to_reversed(FlowVm *vm, FlowNativeCall *call);
FlowNativeResult flow_array_to_spliced(FlowVm *vm, FlowNativeCall *call);
FlowNativeResult flow_array_with(FlowVm *vm, FlowNativeCall *call);
FlowNativeResult flow_array_fill(FlowVm *vm, FlowNativeCall *call);
FlowNativeResult flow_array_flat(FlowVm *vm, FlowNativeCall *call);
FlowNativeResult flow_array_shift(FlowVm *vm, FlowNativeCall *call);
FlowNativeResult flow_array_unshift(FlowVm *vm, FlowNativeCall *call);

// --- sorting (builtin/array_sort.c)
FlowNativeResult flow_array_sort(FlowVm *vm, FlowNativeCall *call);
FlowNativeResult flow_array_to_sorted(FlowVm *vm, FlowNativeCall *call);
// %sortByKeys(list, keys): sorts `list` by the strings in `keys`, which stand at the same places.
FlowNativeResult flow_array_sort_by_keys(FlowVm *vm, FlowNativeCall *call);

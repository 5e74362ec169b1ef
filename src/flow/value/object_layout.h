// What the files behind object.h share.
#pragma once
#include "flow/value/object.h"
#include "flow/value/shape.h"

// --- object.c
// Appends the value of a property that the new `shape` has in its last slot.
void flow_object_append_slot(FlowVm *vm, FlowObject *body, FlowShape *shape, FlowValue value);
void flow_object_to_dictionary(FlowVm *vm, FlowObject *body);
// A property that is certainly not there yet; added by name, or by computed key (objects used as
// maps become dictionaries sooner).
void flow_object_add(FlowVm *vm, FlowObject *body, FlowKey key, FlowValue value,
                     uint32_t attributes);
void flow_object_add_computed(FlowVm *vm, FlowObject *body, FlowKey key, FlowValue value,
                              uint32_t attributes);
// After many deletions: moves the slots of a dictionary together.
void flow_object_compact(FlowVm *vm, FlowObject *body);
// Some shape may rely on this object as a prototype: caches must be checked again.
void flow_object_touch_proto(FlowVm *vm, const FlowObject *body);
FlowAccessor *flow_accessor_new(FlowVm *vm, FlowValue getter, FlowValue setter);

// --- elements.c
static inline FlowStorage *flow_dense(const FlowObject *body) {
    bool is_dense = body->elements && body->elements->kind == KIND_ELEMENTS;
    return is_dense ? (FlowStorage *)body->elements : NULL;
}
// By index; of entries for one index the last one stays.
void flow_sparse_sort(FlowSparse *sparse);
static inline FlowSparse *flow_sparse(const FlowObject *body) {
    bool is_sparse = body->elements && body->elements->kind == KIND_SPARSE;
    FlowSparse *sparse = is_sparse ? (FlowSparse *)body->elements : NULL;
    if (sparse && !sparse->is_sorted) flow_sparse_sort(sparse);
    return sparse;
}
// Own element; false when absent. Attributes include the object's frozen/sealed flags.
bool flow_elements_get(const FlowObject *body, uint32_t index, FlowProperty *ret);
// Adds or replaces. False: too large.
bool flow_elements_put(FlowVm *vm, FlowObject *body, uint32_t index, FlowValue value,
                       uint32_t attributes);
// The same of a plain value, for many in any order: nothing is sorted before somebody looks.
void flow_elements_append(FlowVm *vm, FlowObject *body, uint32_t index, FlowValue value);
void flow_elements_remove(FlowVm *vm, FlowObject *body, uint32_t index);
// Index after the last element; 0 without any.
uint32_t flow_elements_end(const FlowObject *body);
// Calls with each index that has an element, ascending, below `end`.
uint32_t flow_elements_next(const FlowObject *body, uint32_t from); // UINT32_MAX: none

// --- function.c
// Gives a lazy function its own properties (length, name, prototype).
void flow_function_materialize(FlowVm *vm, FlowObject *function);
FlowValue flow_function_lazy_name(FlowVm *vm, FlowObject *function);
uint32_t flow_function_lazy_length(FlowObject *function);

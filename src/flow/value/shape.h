// Shapes from the inside: for object.c, property.c and the inline caches.
#pragma once
#include "flow/value/object.h"

enum {
    SHAPE_LINEAR_MAX = 8,       // keys are searched one by one up to here
    SHAPE_PROPERTIES_MAX = 128, // beyond, an object gets a dictionary
    SHAPE_COMPUTED_MAX = 24,    // the same for properties added by computed key
};

static inline bool flow_shape_is_dictionary(const FlowShape *shape) {
    return shape->cell.aux & SHAPE_DICTIONARY;
}
static inline uint32_t flow_key_hash(FlowKey key) {
    void *cell = (void *)(uintptr_t)(key.bits & VALUE_PAYLOAD_MASK);
    return flow_key_is_symbol(key) ? ((FlowSymbol *)cell)->hash : ((FlowString *)cell)->hash;
}
// The shape after adding `key` with these attributes; the new property is in slot shape->count.
// For dictionaries the shape itself, changed.
FlowShape *flow_shape_add(FlowVm *vm, FlowShape *shape, FlowKey key, uint32_t attributes);
// A dictionary with the same properties in the same slots.
FlowShape *flow_shape_to_dictionary(FlowVm *vm, const FlowShape *shape);
FlowShape *flow_shape_empty_dictionary(FlowVm *vm, FlowObject *proto);
// Dictionaries: changes in place.
void flow_shape_remove(FlowShape *shape, uint32_t slot);
void flow_shape_set_attributes(FlowShape *shape, uint32_t slot, uint32_t attributes);
// Keeps only roots whose shape was marked (between drain and sweep).
void flow_shape_sweep_roots(FlowVm *vm);

// Built-in iterators of Array, Map and Set, and the prototypes every iterator inherits from.
//
// An iterator is a KIND_ITERATOR with internal[0] what it goes over (undefined once it is done,
// for good), internal[1] the position it comes to next, internal[2] its FlowIteratorKind. For Map
// and Set the position is a sequence number (table.h), so that mutation does not disturb it.
#include "flow/builtin/objects.h"
#include "flow/builtin/primitives.h"
#include "flow/value/object_layout.h"
#include "flow/vm/vm.h"

FlowValue flow_iterator_new(FlowVm *vm, FlowProtoId proto, FlowIteratorKind kind, FlowValue over) {
    FlowSlotObject *iterator = flow_slot_object_new(vm, KIND_ITERATOR, vm->realm->protos[proto]);
    iterator->internal[0] = over;
    iterator->internal[1] = flow_int(0);
    iterator->internal[2] = flow_int((int32_t)kind);
    return flow_from_object(iterator);
}

bool flow_array_iterates_plainly(FlowVm *vm, FlowValue value) {
    if (!flow_array_is_plain(vm, value)) return false;
    const FlowRealm *realm = vm->realm;
    FlowProperty property;
    FlowKey symbol = FLOW_SYMBOL(vm, SYMBOL_ITERATOR);
    if (!flow_object_lookup(vm, flow_as_object(value), symbol, &property)) return false;
    if (!flow_same_bits(property.value, flow_from_object(realm->array_values))) return false;
    FlowObject *proto = realm->protos[PROTO_ARRAY_ITERATOR];
    if (flow_object_override(vm, proto) == proto) return true;
    FlowValue next = flow_object_get_data(vm, proto, FLOW_KEY(vm, next));
    return flow_same_bits(next, flow_from_object(realm->array_iterator_next));
}

// The iterator in `value` when its kind is in [first, last]; NULL: TypeError pending.
static FlowSlotObject *this_iterator(FlowVm *vm, FlowValue value, FlowIteratorKind first,
                                     FlowIteratorKind last) {
    if (flow_is_kind(value, KIND_ITERATOR)) {
        FlowSlotObject *iterator = flow_as_pointer(value);
        FlowValue kind = iterator->internal[2];
        bool fits = flow_is_int(kind) && flow_as_int(kind) >= (int32_t)first &&
                    flow_as_int(kind) <= (int32_t)last;
        if (fits) return iterator;
    }
    char text[FLOW_TEXT_MAX];
    const char *name = first == ITERATOR_ARRAY_KEYS ? "Array"
                       : first == ITERATOR_MAP_KEYS ? "Map"
                                                    : "Set";
    flow_throw_type(vm, "Method %s Iterator.prototype.next called on incompatible receiver %s",
                    name, flow_describe(vm, value, text));
    return NULL;
}

static FlowValue pair(FlowVm *vm, FlowValue first, FlowValue second) {
    FlowValue items[2] = {first, second};
    return flow_from_object(flow_array_from(vm, items, 2));
}

// --- one step, as an item

static FlowIteratorStep array_advance(FlowVm *vm, FlowSlotObject *iterator, FlowValue *ret_item) {
    FlowValue over = iterator->internal[0];
    if (flow_is_undefined(over)) return ITERATOR_END;
    if (!flow_array_is_plain(vm, over)) return ITERATOR_UNSURE;
    const FlowArray *array = flow_as_array(over);
    double position = flow_as_number(iterator->internal[1]);
    if (position >= array->length) {
        iterator->internal[0] = FLOW_UNDEFINED;
        return ITERATOR_END;
    }
    uint32_t index = (uint32_t)position;
    iterator->internal[1] = flow_number(position + 1);
    FlowValue value = flow_array_at(array, index);
    if (flow_is_hole(value)) value = FLOW_UNDEFINED;
    switch (flow_as_int(iterator->internal[2])) {
    case ITERATOR_ARRAY_KEYS: *ret_item = flow_uint(index); break;
    case ITERATOR_ARRAY_VALUES: *ret_item = value; break;
    default: *ret_item = pair(vm, flow_uint(index), value); break;
    }
    return ITERATOR_ITEM;
}

static FlowIteratorStep collection_advance(FlowVm *vm, FlowSlotObject *iterator,
                                           FlowValue *ret_item) {
    if (flow_is_undefined(iterator->internal[0])) return ITERATOR_END;
    const FlowSlotObject *collection = flow_as_pointer(iterator->internal[0]);
    FlowTable *table = flow_as_pointer(collection->internal[0]);
    uint32_t from = (uint32_t)flow_as_number(iterator->internal[1]);
    uint32_t holes;
    const FlowTableEntry *entry = flow_table_next(table, from, &holes);
    vm->fuel -= holes / 8;
    if (!entry) {
        iterator->internal[0] = FLOW_UNDEFINED;
        return ITERATOR_END;
    }
    iterator->internal[1] = flow_number((double)entry->sequence + 1);
    switch (flow_as_int(iterator->internal[2])) {
    case ITERATOR_MAP_VALUES: *ret_item = entry->value; break;
    case ITERATOR_MAP_ENTRIES: *ret_item = pair(vm, entry->key, entry->value); break;
    case ITERATOR_SET_ENTRIES: *ret_item = pair(vm, entry->key, entry->key); break;
    default: *ret_item = entry->key; break;
    }
    return ITERATOR_ITEM;
}

// --- next()

static FlowNativeResult give_step(FlowVm *vm, FlowNativeCall *call, FlowIteratorStep step,
                                  FlowValue item) {
    FlowValue value = step == ITERATOR_ITEM ? item : FLOW_UNDEFINED;
    FlowObject *result = flow_iterator_result(vm, value, step == ITERATOR_END);
    return flow_native_return(call, flow_from_object(result));
}

static FlowNativeResult array_iterator_next(FlowVm *vm, FlowNativeCall *call) {
    FlowSlotObject *iterator =
        this_iterator(vm, *call->this_value, ITERATOR_ARRAY_KEYS, ITERATOR_ARRAY_ENTRIES);
    if (!iterator) return NATIVE_THROW;
    FlowValue item;
    FlowIteratorStep step = array_advance(vm, iterator, &item);
    if (step == ITERATOR_UNSURE) return flow_native_slow(vm, call);
    return give_step(vm, call, step, item);
}

static FlowNativeResult map_iterator_next(FlowVm *vm, FlowNativeCall *call) {
    FlowSlotObject *iterator =
        this_iterator(vm, *call->this_value, ITERATOR_MAP_KEYS, ITERATOR_MAP_ENTRIES);
    if (!iterator) return NATIVE_THROW;
    FlowValue item;
    FlowIteratorStep step = collection_advance(vm, iterator, &item);
    return give_step(vm, call, step, item);
}

static FlowNativeResult set_iterator_next(FlowVm *vm, FlowNativeCall *call) {
    FlowSlotObject *iterator =
        this_iterator(vm, *call->this_value, ITERATOR_SET_VALUES, ITERATOR_SET_ENTRIES);
    if (!iterator) return NATIVE_THROW;
    FlowValue item;
    FlowIteratorStep step = collection_advance(vm, iterator, &item);
    return give_step(vm, call, step, item);
}

// --- without next()

FlowIteratorStep flow_iterator_step(FlowVm *vm, FlowValue iterator, FlowValue next,
                                    FlowValue *ret_item) {
    if (!flow_is_kind(iterator, KIND_ITERATOR) || !flow_is_kind(next, KIND_NATIVE_FUNCTION)) {
        return ITERATOR_UNSURE;
    }
    FlowSlotObject *self = flow_as_pointer(iterator);
    if (!flow_is_int(self->internal[2])) return ITERATOR_UNSURE;
    FlowNative function = ((FlowNativeFunction *)flow_as_pointer(next))->entry->function;
    switch (flow_as_int(self->internal[2])) {
    case ITERATOR_ARRAY_KEYS:
    case ITERATOR_ARRAY_VALUES:
    case ITERATOR_ARRAY_ENTRIES:
        if (function == array_iterator_next) return array_advance(vm, self, ret_item);
        break;
    case ITERATOR_MAP_KEYS:
    case ITERATOR_MAP_VALUES:
    case ITERATOR_MAP_ENTRIES:
        if (function == map_iterator_next) return collection_advance(vm, self, ret_item);
        break;
    case ITERATOR_SET_VALUES:
    case ITERATOR_SET_ENTRIES:
        if (function == set_iterator_next) return collection_advance(vm, self, ret_item);
        break;
    case ITERATOR_STRING:
        if (function != flow_string_iterator_next) break;
        return flow_string_iterator_advance(vm, self, ret_item) ? ITERATOR_ITEM : ITERATOR_END;
    default: break;
    }
    return ITERATOR_UNSURE;
}

uint32_t flow_iterator_remaining(FlowVm *vm, const FlowSlotObject *iterator) {
    FlowValue over = iterator->internal[0];
    if (flow_is_string(over)) return flow_string_length(flow_as_string(over));
    if (flow_is_kind(over, KIND_MAP) || flow_is_kind(over, KIND_SET)) {
        const FlowSlotObject *collection = flow_as_pointer(over);
        return ((FlowTable *)flow_as_pointer(collection->internal[0]))->live_count;
    }
    return flow_array_is_plain(vm, over) ? flow_as_array(over)->length : 0;
}

static FlowNativeResult return_this(FlowVm *vm, FlowNativeCall *call) {
    (void)vm;
    return flow_native_return(call, *call->this_value);
}

// --- what the prelude's slow path of array iterators sees

FlowNativeResult flow_iterator_target(FlowVm *vm, FlowNativeCall *call) {
    (void)vm;
    FlowSlotObject *iterator = flow_as_pointer(flow_argument(call, 0));
    return flow_native_return(call, iterator->internal[0]);
}

FlowNativeResult flow_iterator_position(FlowVm *vm, FlowNativeCall *call) {
    (void)vm;
    FlowSlotObject *iterator = flow_as_pointer(flow_argument(call, 0));
    return flow_native_return(call, iterator->internal[1]);
}

FlowNativeResult flow_iterator_kind(FlowVm *vm, FlowNativeCall *call) {
    (void)vm;
    FlowSlotObject *iterator = flow_as_pointer(flow_argument(call, 0));
    return flow_native_return(call, iterator->internal[2]);
}

// %iteratorMove(iterator, position): undefined ends it.
FlowNativeResult flow_iterator_move(FlowVm *vm, FlowNativeCall *call) {
    (void)vm;
    FlowSlotObject *iterator = flow_as_pointer(flow_argument(call, 0));
    FlowValue position = flow_argument(call, 1);
    if (flow_is_undefined(position)) iterator->internal[0] = FLOW_UNDEFINED;
    else iterator->internal[1] = position;
    return NATIVE_OK;
}

// --- tables

static const FlowNativeEntry iterator_members[] = {
    NATIVE_ITERATOR("@@iterator", return_this),
    NATIVE_END,
};

static const FlowNativeEntry async_iterator_members[] = {
    NATIVE("@@asyncIterator", return_this, 0),
    NATIVE_END,
};

static const FlowNativeEntry array_iterator_members[] = {
    NATIVE_SLOW("next", array_iterator_next, "ArrayIterator_prototype_next", 0),
    NATIVE_END,
};

static const FlowNativeEntry map_iterator_members[] = {
    NATIVE("next", map_iterator_next, 0),
    NATIVE_END,
};

static const FlowNativeEntry set_iterator_members[] = {
    NATIVE("next", set_iterator_next, 0),
    NATIVE_END,
};

const FlowClassEntry flow_class_iterator = {
    .name = "%Iterator",
    .members = iterator_members,
    .kind = KIND_OBJECT,
    .proto_id = 1 + PROTO_ITERATOR,
};

const FlowClassEntry flow_class_async_iterator = {
    .name = "%AsyncIterator",
    .members = async_iterator_members,
    .kind = KIND_OBJECT,
    .proto_id = 1 + PROTO_ASYNC_ITERATOR,
};

const FlowClassEntry flow_class_array_iterator = {
    .name = "%ArrayIterator",
    .members = array_iterator_members,
    .parent = "%Iterator",
    .tag = "Array Iterator",
    .kind = KIND_ITERATOR,
    .proto_id = 1 + PROTO_ARRAY_ITERATOR,
};

const FlowClassEntry flow_class_map_iterator = {
    .name = "%MapIterator",
    .members = map_iterator_members,
    .parent = "%Iterator",
    .tag = "Map Iterator",
    .kind = KIND_ITERATOR,
    .proto_id = 1 + PROTO_MAP_ITERATOR,
};

const FlowClassEntry flow_class_set_iterator = {
    .name = "%SetIterator",
    .members = set_iterator_members,
    .parent = "%Iterator",
    .tag = "Set Iterator",
    .kind = KIND_ITERATOR,
    .proto_id = 1 + PROTO_SET_ITERATOR,
};

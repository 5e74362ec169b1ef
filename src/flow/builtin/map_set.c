// Map and Set: natives over the ordered table (table.h), and constructors from iterables.
//
// Constructing from an array of pairs (or values) is done here when nothing a script could have
// replaced would be called: the array iterates plainly and the adder (`set`, `add`) is the
// original. Everything else is left to the prelude (mapFill, setFill).
//
//   [map-set-1] internal[0] of a collection is always a FlowTable; it is written back after every
//        put.
//   [map-set-2] forEach and iterators hold sequence numbers, never indices or pointers.
#include "flow/builtin/objects.h"
#include "flow/builtin/primitives.h"
#include "flow/vm/vm.h"

FlowSlotObject *flow_this_collection(FlowVm *vm, FlowNativeCall *call, FlowKind kind,
                                     const char *method) {
    FlowValue value = *call->this_value;
    if (flow_is_kind(value, kind)) return flow_as_pointer(value);
    char text[FLOW_TEXT_MAX];
    flow_throw_type(vm, "Method %s called on incompatible receiver %s", method,
                    flow_describe(vm, value, text));
    return NULL;
}

static FlowTable *table_of(const FlowSlotObject *collection) {
    return flow_as_pointer(collection->internal[0]);
}

static bool collection_put(FlowVm *vm, FlowSlotObject *collection, FlowValue key, FlowValue value) {
    FlowTable *table = flow_table_put(vm, table_of(collection), key, value);
    if (!table) return false;
    collection->internal[0] = flow_from_cell(table); // [map-set-1]
    return true;
}

static bool collection_has(FlowVm *vm, FlowSlotObject *collection, FlowValue key) {
    return flow_table_find(vm, table_of(collection), key) != NULL;
}

// --- shared by Map and Set

static FlowNativeResult collection_clear(FlowVm *vm, FlowNativeCall *call, FlowSlotObject *self) {
    (void)call;
    self->internal[0] = flow_from_cell(flow_table_clear(vm, table_of(self)));
    return NATIVE_OK;
}

static FlowNativeResult collection_size(FlowNativeCall *call, FlowSlotObject *self) {
    return flow_native_return(call, flow_uint(table_of(self)->live_count));
}

static bool adder_is(FlowVm *vm, FlowObject *collection, FlowKey name, FlowNative original) {
    FlowProperty property;
    if (!flow_object_lookup(vm, collection, name, &property)) return false;
    if (!flow_is_kind(property.value, KIND_NATIVE_FUNCTION)) return false;
    return ((FlowNativeFunction *)flow_as_pointer(property.value))->entry->function == original;
}

static FlowSlotObject *collection_new(FlowVm *vm, const FlowNativeCall *call, FlowKind kind,
                                      FlowProtoId proto) {
    FlowSlotObject *object =
        flow_slot_object_new(vm, kind, flow_new_target_proto(vm, call->new_target, proto));
    object->internal[0] = flow_from_cell(flow_table_new(vm, 0));
    return object;
}

static FlowNativeResult fill_slowly(FlowVm *vm, FlowNativeCall *call, const char *routine,
                                    FlowSlotObject *collection) {
    FlowValue arguments[2] = {flow_from_object(collection), call->arguments[0]};
    return flow_native_prelude(vm, call, routine, arguments, 2);
}

// --- Map

static FlowNativeResult map_set(FlowVm *vm, FlowNativeCall *call) {
    FlowSlotObject *self = flow_this_collection(vm, call, KIND_MAP, "Map.prototype.set");
    if (!self || !collection_put(vm, self, flow_argument(call, 0), flow_argument(call, 1))) {
        return NATIVE_THROW;
    }
    return flow_native_return(call, *call->this_value);
}

static FlowNativeResult map_get(FlowVm *vm, FlowNativeCall *call) {
    FlowSlotObject *self = flow_this_collection(vm, call, KIND_MAP, "Map.prototype.get");
    if (!self) return NATIVE_THROW;
    FlowTableEntry *entry = flow_table_find(vm, table_of(self), flow_argument(call, 0));
    return flow_native_return(call, entry ? entry->value : FLOW_UNDEFINED);
}

static FlowNativeResult map_has(FlowVm *vm, FlowNativeCall *call) {
    FlowSlotObject *self = flow_this_collection(vm, call, KIND_MAP, "Map.prototype.has");
    if (!self) return NATIVE_THROW;
    return flow_native_return(call, flow_bool(collection_has(vm, self, flow_argument(call, 0))));
}

static FlowNativeResult map_delete(FlowVm *vm, FlowNativeCall *call) {
    FlowSlotObject *self = flow_this_collection(vm, call, KIND_MAP, "Map.prototype.delete");
    if (!self) return NATIVE_THROW;
    bool is_removed = flow_table_remove(vm, table_of(self), flow_argument(call, 0));
    return flow_native_return(call, flow_bool(is_removed));
}

static FlowNativeResult map_clear(FlowVm *vm, FlowNativeCall *call) {
    FlowSlotObject *self = flow_this_collection(vm, call, KIND_MAP, "Map.prototype.clear");
    return self ? collection_clear(vm, call, self) : NATIVE_THROW;
}

static FlowNativeResult map_size(FlowVm *vm, FlowNativeCall *call) {
    FlowSlotObject *self = flow_this_collection(vm, call, KIND_MAP, "get Map.prototype.size");
    return self ? collection_size(call, self) : NATIVE_THROW;
}

static FlowNativeResult map_iterate(FlowVm *vm, FlowNativeCall *call, const char *method,
                                    FlowIteratorKind kind) {
    if (!flow_this_collection(vm, call, KIND_MAP, method)) return NATIVE_THROW;
    return flow_native_return(call,
                              flow_iterator_new(vm, PROTO_MAP_ITERATOR, kind, *call->this_value));
}

static FlowNativeResult map_keys(FlowVm *vm, FlowNativeCall *call) {
    return map_iterate(vm, call, "Map.prototype.keys", ITERATOR_MAP_KEYS);
}

static FlowNativeResult map_values(FlowVm *vm, FlowNativeCall *call) {
    return map_iterate(vm, call, "Map.prototype.values", ITERATOR_MAP_VALUES);
}

static FlowNativeResult map_entries(FlowVm *vm, FlowNativeCall *call) {
    return map_iterate(vm, call, "Map.prototype.entries", ITERATOR_MAP_ENTRIES);
}

static FlowValue item_of(const FlowArray *array, uint32_t index) {
    FlowValue value = flow_array_at(array, index);
    return flow_is_hole(value) ? FLOW_UNDEFINED : value;
}

// An array of plain arrays: the pairs can be read without running anything.
static bool is_array_of_pairs(FlowVm *vm, FlowValue iterable) {
    if (!flow_array_iterates_plainly(vm, iterable)) return false;
    const FlowArray *array = flow_as_array(iterable);
    for (uint32_t i = 0; i < array->length; i++) {
        if (!flow_array_is_plain(vm, item_of(array, i))) return false;
    }
    return true;
}

static FlowNativeResult map_construct(FlowVm *vm, FlowNativeCall *call) {
    if (flow_is_undefined(call->new_target)) {
        return flow_native_throw(vm, ERROR_KIND_TYPE, "Constructor Map requires 'new'");
    }
    FlowSlotObject *map = collection_new(vm, call, KIND_MAP, PROTO_MAP);
    FlowValue iterable = flow_argument(call, 0);
    if (flow_is_nullish(iterable)) return flow_native_return(call, flow_from_object(map));
    bool is_fast =
        adder_is(vm, &map->object, FLOW_KEY(vm, set), map_set) && is_array_of_pairs(vm, iterable);
    if (!is_fast) return fill_slowly(vm, call, "mapFill", map);
    const FlowArray *array = flow_as_array(iterable);
    flow_native_charge(vm, (uint64_t)array->length * 16);
    for (uint32_t i = 0; i < array->length; i++) {
        const FlowArray *pair = flow_as_array(flow_array_at(array, i));
        if (!collection_put(vm, map, item_of(pair, 0), item_of(pair, 1))) return NATIVE_THROW;
        if (flow_native_is_overdrawn(vm)) return fill_slowly(vm, call, "mapFill", map);
    }
    return flow_native_return(call, flow_from_object(map));
}

// --- Set

static FlowNativeResult set_add(FlowVm *vm, FlowNativeCall *call) {
    FlowSlotObject *self = flow_this_collection(vm, call, KIND_SET, "Set.prototype.add");
    FlowValue value = flow_argument(call, 0);
    if (!self || !collection_put(vm, self, value, FLOW_UNDEFINED)) return NATIVE_THROW;
    return flow_native_return(call, *call->this_value);
}

static FlowNativeResult set_has(FlowVm *vm, FlowNativeCall *call) {
    FlowSlotObject *self = flow_this_collection(vm, call, KIND_SET, "Set.prototype.has");
    if (!self) return NATIVE_THROW;
    return flow_native_return(call, flow_bool(collection_has(vm, self, flow_argument(call, 0))));
}

static FlowNativeResult set_delete(FlowVm *vm, FlowNativeCall *call) {
    FlowSlotObject *self = flow_this_collection(vm, call, KIND_SET, "Set.prototype.delete");
    if (!self) return NATIVE_THROW;
    bool is_removed = flow_table_remove(vm, table_of(self), flow_argument(call, 0));
    return flow_native_return(call, flow_bool(is_removed));
}

static FlowNativeResult set_clear(FlowVm *vm, FlowNativeCall *call) {
    FlowSlotObject *self = flow_this_collection(vm, call, KIND_SET, "Set.prototype.clear");
    return self ? collection_clear(vm, call, self) : NATIVE_THROW;
}

static FlowNativeResult set_size(FlowVm *vm, FlowNativeCall *call) {
    FlowSlotObject *self = flow_this_collection(vm, call, KIND_SET, "get Set.prototype.size");
    return self ? collection_size(call, self) : NATIVE_THROW;
}

static FlowNativeResult set_iterate(FlowVm *vm, FlowNativeCall *call, const char *method,
                                    FlowIteratorKind kind) {
    if (!flow_this_collection(vm, call, KIND_SET, method)) return NATIVE_THROW;
    return flow_native_return(call,
                              flow_iterator_new(vm, PROTO_SET_ITERATOR, kind, *call->this_value));
}

static FlowNativeResult set_values(FlowVm *vm, FlowNativeCall *call) {
    return set_iterate(vm, call, "Set.prototype.values", ITERATOR_SET_VALUES);
}

static FlowNativeResult set_entries(FlowVm *vm, FlowNativeCall *call) {
    return set_iterate(vm, call, "Set.prototype.entries", ITERATOR_SET_ENTRIES);
}

static FlowNativeResult set_construct(FlowVm *vm, FlowNativeCall *call) {
    if (flow_is_undefined(call->new_target)) {
        return flow_native_throw(vm, ERROR_KIND_TYPE, "Constructor Set requires 'new'");
    }
    FlowSlotObject *set = collection_new(vm, call, KIND_SET, PROTO_SET);
    FlowValue iterable = flow_argument(call, 0);
    if (flow_is_nullish(iterable)) return flow_native_return(call, flow_from_object(set));
    bool is_fast = adder_is(vm, &set->object, FLOW_KEY(vm, add), set_add) &&
                   flow_array_iterates_plainly(vm, iterable);
    if (!is_fast) return fill_slowly(vm, call, "setFill", set);
    const FlowArray *array = flow_as_array(iterable);
    flow_native_charge(vm, (uint64_t)array->length * 16);
    for (uint32_t i = 0; i < array->length; i++) {
        if (!collection_put(vm, set, item_of(array, i), FLOW_UNDEFINED)) return NATIVE_THROW;
        if (flow_native_is_overdrawn(vm)) return fill_slowly(vm, call, "setFill", set);
    }
    return flow_native_return(call, flow_from_object(set));
}

static FlowNativeResult get_species(FlowVm *vm, FlowNativeCall *call) {
    (void)vm;
    return flow_native_return(call, *call->this_value);
}

// --- intrinsics of forEach [map-set-2]

// %collectionCheck(value, isSet, method)
static FlowNativeResult collection_check(FlowVm *vm, FlowNativeCall *call) {
    FlowKind kind = flow_is_true(flow_argument(call, 1)) ? KIND_SET : KIND_MAP;
    if (flow_is_kind(flow_argument(call, 0), kind)) return NATIVE_OK;
    char text[FLOW_TEXT_MAX];
    char method[FLOW_TEXT_MAX];
    return flow_native_throw(vm, ERROR_KIND_TYPE, "Method %s called on incompatible receiver %s",
                             flow_describe(vm, flow_argument(call, 2), method),
                             flow_describe(vm, flow_argument(call, 0), text));
}

static FlowTableEntry *entry_at(FlowVm *vm, const FlowNativeCall *call) {
    FlowTable *table = table_of(flow_as_pointer(flow_argument(call, 0)));
    uint32_t from = (uint32_t)flow_as_number(flow_argument(call, 1));
    uint32_t holes;
    FlowTableEntry *entry = flow_table_next(table, from, &holes);
    vm->fuel -= holes / 8;
    return entry;
}

// %collectionNext(collection, from): sequence number of the next entry, or -1.
static FlowNativeResult collection_next(FlowVm *vm, FlowNativeCall *call) {
    FlowTableEntry *entry = entry_at(vm, call);
    return flow_native_return(call, entry ? flow_uint(entry->sequence) : flow_int(-1));
}

static FlowNativeResult collection_key(FlowVm *vm, FlowNativeCall *call) {
    return flow_native_return(call, entry_at(vm, call)->key);
}

static FlowNativeResult collection_value(FlowVm *vm, FlowNativeCall *call) {
    return flow_native_return(call, entry_at(vm, call)->value);
}

// %collectionPut(collection, key, value): for structuredClone.
static FlowNativeResult collection_put_native(FlowVm *vm, FlowNativeCall *call) {
    FlowSlotObject *collection = flow_as_pointer(flow_argument(call, 0));
    bool is_done = collection_put(vm, collection, flow_argument(call, 1), flow_argument(call, 2));
    return is_done ? NATIVE_OK : NATIVE_THROW;
}

const FlowNativeEntry flow_intrinsics_collection[] = {
    NATIVE("collectionCheck", collection_check, 3),
    NATIVE("collectionNext", collection_next, 2),
    NATIVE("collectionKey", collection_key, 2),
    NATIVE("collectionValue", collection_value, 2),
    NATIVE("collectionPut", collection_put_native, 3),
    NATIVE_END,
};

// --- tables

static const FlowNativeEntry collection_statics[] = {
    GETTER("@@species", get_species),
    NATIVE_END,
};

static const FlowNativeEntry map_members[] = {
    NATIVE("get", map_get, 1),
    NATIVE("set", map_set, 2),
    NATIVE("has", map_has, 1),
    NATIVE("delete", map_delete, 1),
    NATIVE("clear", map_clear, 0),
    NATIVE_ITERATOR("entries", map_entries),
    PRELUDE("forEach", "Map_prototype_forEach", 1),
    NATIVE("keys", map_keys, 0),
    GETTER("size", map_size),
    NATIVE("values", map_values, 0),
    ALIAS("@@iterator", "entries"),
    NATIVE_END,
};

static const FlowNativeEntry set_members[] = {
    NATIVE("has", set_has, 1),
    NATIVE("add", set_add, 1),
    NATIVE("delete", set_delete, 1),
    NATIVE("clear", set_clear, 0),
    NATIVE("entries", set_entries, 0),
    PRELUDE("forEach", "Set_prototype_forEach", 1),
    GETTER("size", set_size),
    NATIVE_ITERATOR("values", set_values),
    ALIAS("keys", "values"),
    ALIAS("@@iterator", "values"),
    NATIVE_END,
};

const FlowClassEntry flow_class_map = {
    .name = "Map",
    .constructor = {"Map", map_construct, NULL, 0, NATIVE_CONSTRUCTOR, 0},
    .statics = collection_statics,
    .members = map_members,
    .tag = "Map",
    .kind = KIND_MAP,
    .proto_id = 1 + PROTO_MAP,
};

const FlowClassEntry flow_class_set = {
    .name = "Set",
    .constructor = {"Set", set_construct, NULL, 0, NATIVE_CONSTRUCTOR, 0},
    .statics = collection_statics,
    .members = set_members,
    .tag = "Set",
    .kind = KIND_SET,
    .proto_id = 1 + PROTO_SET,
};

// WeakMap and WeakSet. Their keys are held strongly (table.h [table-3]): a run lives for a few
// turns and its snapshot has to keep what a script can still reach through such a map anyway.
//
// Only objects and symbols that are not in the registry may be keys. Constructing from an iterable
// is the prelude's (mapFill, setFill), as for Map and Set.
#include "flow/builtin/objects.h"
#include "flow/builtin/primitives.h"
#include "flow/vm/vm.h"

static bool can_be_held_weakly(FlowValue value) {
    if (flow_is_object(value)) return true;
    return flow_is_symbol(value) && !(flow_as_symbol(value)->cell.aux & SYMBOL_REGISTERED);
}

static FlowTable *table_of(const FlowSlotObject *collection) {
    return flow_as_pointer(collection->internal[0]);
}

static FlowNativeResult weak_put(FlowVm *vm, FlowNativeCall *call, FlowSlotObject *self,
                                 FlowValue value) {
    FlowTable *table = flow_table_put(vm, table_of(self), flow_argument(call, 0), value);
    if (!table) return NATIVE_THROW;
    self->internal[0] = flow_from_cell(table);
    return flow_native_return(call, *call->this_value);
}

static FlowNativeResult weak_map_set(FlowVm *vm, FlowNativeCall *call) {
    FlowSlotObject *self = flow_this_collection(vm, call, KIND_WEAK_MAP, "WeakMap.prototype.set");
    if (!self) return NATIVE_THROW;
    if (!can_be_held_weakly(flow_argument(call, 0))) {
        return flow_native_throw(vm, ERROR_KIND_TYPE, "Invalid value used as weak map key");
    }
    return weak_put(vm, call, self, flow_argument(call, 1));
}

static FlowNativeResult weak_set_add(FlowVm *vm, FlowNativeCall *call) {
    FlowSlotObject *self = flow_this_collection(vm, call, KIND_WEAK_SET, "WeakSet.prototype.add");
    if (!self) return NATIVE_THROW;
    if (!can_be_held_weakly(flow_argument(call, 0))) {
        return flow_native_throw(vm, ERROR_KIND_TYPE, "Invalid value used in weak set");
    }
    return weak_put(vm, call, self, FLOW_UNDEFINED);
}

static FlowNativeResult weak_map_get(FlowVm *vm, FlowNativeCall *call) {
    FlowSlotObject *self = flow_this_collection(vm, call, KIND_WEAK_MAP, "WeakMap.prototype.get");
    if (!self) return NATIVE_THROW;
    FlowTableEntry *entry = flow_table_find(vm, table_of(self), flow_argument(call, 0));
    return flow_native_return(call, entry ? entry->value : FLOW_UNDEFINED);
}

static FlowNativeResult weak_has(FlowVm *vm, FlowNativeCall *call, FlowSlotObject *self) {
    FlowTableEntry *entry = flow_table_find(vm, table_of(self), flow_argument(call, 0));
    return flow_native_return(call, flow_bool(entry != NULL));
}

static FlowNativeResult weak_delete(FlowVm *vm, FlowNativeCall *call, FlowSlotObject *self) {
    bool is_removed = flow_table_remove(vm, table_of(self), flow_argument(call, 0));
    return flow_native_return(call, flow_bool(is_removed));
}

static FlowNativeResult weak_map_has(FlowVm *vm, FlowNativeCall *call) {
    FlowSlotObject *self = flow_this_collection(vm, call, KIND_WEAK_MAP, "WeakMap.prototype.has");
    return self ? weak_has(vm, call, self) : NATIVE_THROW;
}

static FlowNativeResult weak_map_delete(FlowVm *vm, FlowNativeCall *call) {
    FlowSlotObject *self =
        flow_this_collection(vm, call, KIND_WEAK_MAP, "WeakMap.prototype.delete");
    return self ? weak_delete(vm, call, self) : NATIVE_THROW;
}

static FlowNativeResult weak_set_has(FlowVm *vm, FlowNativeCall *call) {
    FlowSlotObject *self = flow_this_collection(vm, call, KIND_WEAK_SET, "WeakSet.prototype.has");
    return self ? weak_has(vm, call, self) : NATIVE_THROW;
}

static FlowNativeResult weak_set_delete(FlowVm *vm, FlowNativeCall *call) {
    FlowSlotObject *self =
        flow_this_collection(vm, call, KIND_WEAK_SET, "WeakSet.prototype.delete");
    return self ? weak_delete(vm, call, self) : NATIVE_THROW;
}

static FlowNativeResult weak_construct(FlowVm *vm, FlowNativeCall *call, FlowKind kind) {
    bool is_map = kind == KIND_WEAK_MAP;
    if (flow_is_undefined(call->new_target)) {
        return flow_native_throw(vm, ERROR_KIND_TYPE, "Constructor %s requires 'new'",
                                 is_map ? "WeakMap" : "WeakSet");
    }
    FlowProtoId id = is_map ? PROTO_WEAK_MAP : PROTO_WEAK_SET;
    FlowSlotObject *object =
        flow_slot_object_new(vm, kind, flow_new_target_proto(vm, call->new_target, id));
    object->internal[0] = flow_from_cell(flow_table_new(vm, 0));
    FlowValue iterable = flow_argument(call, 0);
    if (flow_is_nullish(iterable)) return flow_native_return(call, flow_from_object(object));
    FlowValue arguments[2] = {flow_from_object(object), iterable};
    return flow_native_prelude(vm, call, is_map ? "mapFill" : "setFill", arguments, 2);
}

static FlowNativeResult weak_map_construct(FlowVm *vm, FlowNativeCall *call) {
    return weak_construct(vm, call, KIND_WEAK_MAP);
}

static FlowNativeResult weak_set_construct(FlowVm *vm, FlowNativeCall *call) {
    return weak_construct(vm, call, KIND_WEAK_SET);
}

static const FlowNativeEntry weak_map_members[] = {
    NATIVE("delete", weak_map_delete, 1),
    NATIVE("get", weak_map_get, 1),
    NATIVE("set", weak_map_set, 2),
    NATIVE("has", weak_map_has, 1),
    NATIVE_END,
};

static const FlowNativeEntry weak_set_members[] = {
    NATIVE("delete", weak_set_delete, 1),
    NATIVE("has", weak_set_has, 1),
    NATIVE("add", weak_set_add, 1),
    NATIVE_END,
};

const FlowClassEntry flow_class_weak_map = {
    .name = "WeakMap",
    .constructor = {"WeakMap", weak_map_construct, NULL, 0, NATIVE_CONSTRUCTOR, 0},
    .members = weak_map_members,
    .tag = "WeakMap",
    .kind = KIND_WEAK_MAP,
    .proto_id = 1 + PROTO_WEAK_MAP,
};

const FlowClassEntry flow_class_weak_set = {
    .name = "WeakSet",
    .constructor = {"WeakSet", weak_set_construct, NULL, 0, NATIVE_CONSTRUCTOR, 0},
    .members = weak_set_members,
    .tag = "WeakSet",
    .kind = KIND_WEAK_SET,
    .proto_id = 1 + PROTO_WEAK_SET,
};

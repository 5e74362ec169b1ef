// Property instructions off the fast path, and the filling of inline caches.
//
// A cache entry is valid for a receiver of its shape; when the property was found on a prototype
// (or its absence there matters, for adds) also only while vm->proto_epoch has not moved.
//
//   [interp-property-1] Never cached: dictionaries as receivers, computed properties, accessors,
//        stack of errors.
//   [interp-property-2] For primitives `shape` holds the prototype object itself, which no shape
//        can equal.
#include "flow/value/object_layout.h"
#include "flow/vm/interp_internal.h"

// --- reading

bool interp_get_value(FlowVm *vm, FlowValue object, FlowKey key, uint32_t return_to) {
    FlowObject *start;
    if (flow_is_object(object)) {
        start = flow_as_object(object);
    } else {
        if (flow_is_string(object)) {
            FlowString *s = flow_as_string(object);
            if (key.bits == FLOW_NAME(vm, length).bits) {
                vm->stack[return_to] = flow_uint(flow_string_length(s));
                return true;
            }
            if (flow_key_is_index(key) && flow_key_as_index(key) < flow_string_length(s)) {
                FlowString *flat = flow_string_flat(vm, s);
                uint16_t unit = flow_string_at(flat, flow_key_as_index(key));
                vm->stack[return_to] = flow_from_string(flow_string_unit(vm, unit));
                return true;
            }
        }
        start = flow_object_of_primitive(vm, object);
        if (!start) return flow_throw_read(vm, object, key);
    }
    FlowValue getter;
    const FlowLookup *known = interp_lookup(vm, start, key);
    if (known) {
        FlowValue value = (known->holder ? known->holder : start)->slots[known->slot];
        if (!(known->attributes & PROPERTY_ACCESSOR)) {
            vm->stack[return_to] = value;
            return true;
        }
        getter = ((FlowAccessor *)flow_as_pointer(value))->getter;
    } else {
        FlowProperty property;
        bool is_found = flow_object_lookup(vm, start, key, &property);
        if (!is_found || !(property.attributes & PROPERTY_ACCESSOR)) {
            vm->stack[return_to] = is_found ? property.value : FLOW_UNDEFINED;
            return true;
        }
        getter = property.getter;
    }
    if (flow_is_undefined(getter)) {
        vm->stack[return_to] = FLOW_UNDEFINED;
        return true;
    }
    return flow_vm_push_call(vm, &(FlowCall){.function = getter,
                                             .this_value = object,
                                             .new_target = FLOW_UNDEFINED,
                                             .return_kind = RETURN_STORE,
                                             .return_to = return_to});
}

const FlowLookup *interp_lookup(FlowVm *vm, FlowObject *object, FlowKey key) {
    if (flow_key_is_index(key)) return NULL;
    const FlowLookup *known = interp_lookup_probe(vm, object->shape, key.bits);
    if (known) return known;
    if (flow_shape_is_dictionary(object->shape) || flow_object_body(vm, object) != object) {
        return NULL; // [interp-property-1]
    }
    FlowProperty property;
    if (!flow_object_lookup(vm, object, key, &property)) return NULL;
    bool is_accessor = property.attributes & PROPERTY_ACCESSOR;
    if (property.slot == UINT32_MAX || (!is_accessor && !property.place)) return NULL;
    if (object->cell.kind == KIND_ERROR && key.bits == FLOW_NAME(vm, stack).bits) return NULL;
    bool is_own = property.holder == object;
    // A dictionary as holder may move its slots when it is compacted; epochs cover that only for
    // objects marked as prototypes.
    if (!is_own && !(property.holder->cell.flags & CELL_SHARED) &&
        !(property.holder->cell.aux & OBJECT_IS_PROTOTYPE)) {
        return NULL;
    }
    FlowLookup *entry = interp_lookup_entry(vm, object->shape, key.bits);
    *entry = (FlowLookup){
        .shape = object->shape,
        .key = key.bits,
        .holder = is_own ? NULL : property.holder,
        .slot = property.slot,
        .epoch = vm->proto_epoch,
        .attributes = property.attributes,
    };
    return entry;
}

// A site that sees several shapes keeps its entry for a while: the lookup table serves the rest.
static bool cache_is_worth_filling(const FlowVm *vm, FlowInlineCache *cache) {
    bool is_stale = !cache->shape || (cache->holder && cache->epoch != vm->proto_epoch);
    return is_stale || ++cache->misses % 16 == 0;
}

static void cache_get(FlowVm *vm, FlowValue receiver, FlowKey key, FlowInlineCache *cache) {
    bool is_object = flow_is_object(receiver);
    FlowObject *start =
        is_object ? flow_as_object(receiver) : flow_object_of_primitive(vm, receiver);
    if (!start) return;
    const FlowLookup *found = interp_lookup(vm, start, key);
    if (!found || found->attributes & PROPERTY_ACCESSOR) return;
    if (found->slot > UINT16_MAX || !cache_is_worth_filling(vm, cache)) return;
    cache->shape = start->shape;
    cache->holder = found->holder;
    if (!is_object) {
        cache->shape = (FlowShape *)(void *)start; // [interp-property-2]
        if (!cache->holder) cache->holder = start;
    }
    cache->slot = (uint16_t)found->slot;
    cache->epoch = vm->proto_epoch;
    cache->next = NULL;
}

static FlowKey site_key(FlowVm *vm, FlowInstruction in) {
    return flow_key_atom(interp_frame(vm)->closure->routine->sites[in.c].key);
}

bool interp_get_field(FlowVm *vm, FlowInstruction in, FlowInlineCache *cache) {
    uint32_t base = interp_base(vm);
    FlowValue receiver = vm->stack[base + in.b];
    FlowKey key = site_key(vm, in);
    cache_get(vm, receiver, key, cache);
    return interp_get_value(vm, receiver, key, base + in.a);
}

bool interp_get_element(FlowVm *vm, FlowInstruction in) {
    uint32_t base = interp_base(vm);
    FlowValue object = vm->stack[base + in.b];
    FlowValue key_value = vm->stack[base + in.c];
    FlowKey key;
    if (flow_key_from_value(vm, key_value, &key)) {
        return interp_get_value(vm, object, key, base + in.a);
    }
    if (flow_is_nullish(object)) {
        char text[FLOW_TEXT_MAX];
        return flow_throw_type(vm, "Cannot read properties of %s (reading '%s')",
                               flow_is_null(object) ? "null" : "undefined",
                               flow_describe(vm, key_value, text));
    }
    return flow_vm_push_helper(vm, &(FlowHelperCall){.helper = HELPER_getElement,
                                                     .count = 2,
                                                     .arguments = {object, key_value},
                                                     .return_kind = RETURN_STORE,
                                                     .return_to = base + in.a});
}

// --- writing

static bool throw_set(FlowVm *vm, FlowValue object, FlowKey key, FlowSetResult result) {
    char name[FLOW_TEXT_MAX];
    char text[FLOW_TEXT_MAX];
    flow_describe_key(vm, key, name);
    bool is_length = flow_is_array(object) && key.bits == FLOW_NAME(vm, length).bits;
    switch (result) {
    case SET_READONLY:
        if (is_length && !(flow_as_object(object)->cell.aux & OBJECT_LENGTH_READONLY)) {
            // Shrinking stopped at an element that cannot be deleted.
            return flow_throw_type(vm, "Cannot delete property '%u' of [object Array]",
                                   flow_as_array(object)->length - 1);
        }
        return flow_throw_type(vm, "Cannot assign to read only property '%s' of %s '%s'", name,
                               flow_is_callable(object) ? "function" : "object",
                               flow_describe(vm, object, text));
    case SET_NO_SETTER: {
        FlowProperty property; // V8 names the object that has the accessor
        if (flow_is_object(object) &&
            flow_object_lookup(vm, flow_as_object(object), key, &property))
            object = flow_from_object(property.holder);
        return flow_throw_type(vm, "Cannot set property %s of %s which has only a getter", name,
                               flow_describe(vm, object, text));
    }
    case SET_NOT_EXTENSIBLE:
        return flow_throw_type(vm, "Cannot add property %s, object is not extensible", name);
    case SET_TOO_LONG:
        if (!is_length && vm->heap.bytes > vm->heap.limit / 2) return flow_throw_memory(vm);
        return flow_throw_range(vm, "Invalid array length");
    default: UNREACHABLE();
    }
}

static bool call_setter(FlowVm *vm, FlowValue setter, FlowValue this_value, FlowValue value) {
    return flow_vm_push_call(vm, &(FlowCall){.function = setter,
                                             .this_value = this_value,
                                             .arguments = &value,
                                             .count = 1,
                                             .new_target = FLOW_UNDEFINED,
                                             .return_kind = RETURN_DISCARD});
}

// length, or the index of one of its units.
static bool is_own_of_string(FlowVm *vm, FlowValue string, FlowKey key) {
    if (key.bits == FLOW_NAME(vm, length).bits) return true;
    return flow_key_is_index(key) &&
           flow_key_as_index(key) < flow_string_length(flow_as_string(string));
}

static bool set_on_primitive(FlowVm *vm, FlowValue object, FlowKey key, FlowValue value) {
    FlowObject *proto = flow_object_of_primitive(vm, object);
    if (!proto) return flow_throw_write(vm, object, key);
    FlowProperty property;
    if (flow_object_lookup(vm, proto, key, &property) && property.attributes & PROPERTY_ACCESSOR &&
        !flow_is_undefined(property.setter)) {
        return call_setter(vm, property.setter, object, value);
    }
    char name[FLOW_TEXT_MAX];
    char text[FLOW_TEXT_MAX];
    bool is_own = flow_is_string(object) && is_own_of_string(vm, object, key);
    flow_describe_key(vm, key, name);
    if (is_own) {
        return flow_throw_type(vm, "Cannot assign to read only property '%s' of string '%s'", name,
                               flow_describe(vm, object, text));
    }
    return flow_throw_type(vm, "Cannot create property '%s' on %s '%s'", name, flow_typeof(object),
                           flow_describe(vm, object, text));
}

static bool interp_set_value(FlowVm *vm, FlowValue object, FlowKey key, FlowValue value) {
    if (!flow_is_object(object)) return set_on_primitive(vm, object, key, value);
    if (flow_is_array(object) && key.bits == FLOW_NAME(vm, length).bits && !flow_is_number(value)) {
        // ArraySetLength converts; objects go through a helper that assigns the number.
        if (flow_is_object(value)) {
            FlowHelperCall helper = {
                .helper = HELPER_setElement,
                .count = 3,
                .arguments = {object, FLOW_NAME(vm, length), value},
                .return_kind = RETURN_DISCARD,
            };
            return flow_vm_push_helper(vm, &helper);
        }
        double number;
        if (!flow_to_number(vm, value, &number)) return false;
        value = flow_number(number);
    }
    FlowValue setter;
    FlowSetResult result = flow_object_set(vm, flow_as_object(object), key, value, &setter);
    if (result == SET_DONE) return true;
    if (result == SET_SETTER) {
        (void)interp_lookup(vm, flow_as_object(object), key); // SET_FIELD finds it there
        return call_setter(vm, setter, object, value);
    }
    return throw_set(vm, object, key, result);
}

// After a plain write: remembers where it went.
static void cache_set(FlowVm *vm, FlowObject *object, FlowShape *before, FlowKey key,
                      FlowInlineCache *cache) {
    if (object->cell.flags & CELL_SHARED || flow_shape_is_dictionary(object->shape)) return;
    uint32_t slot;
    uint32_t attributes;
    if (!flow_shape_find(object->shape, key, &slot, &attributes)) return;
    if (attributes & PROPERTY_ACCESSOR || !(attributes & PROPERTY_WRITABLE)) return;
    bool is_add = before != object->shape;
    if (is_add && (object->shape->parent != before || flow_shape_is_dictionary(before))) return;
    // Writing to a prototype must bump the epoch, which the fast path does not do.
    if (is_add && object->cell.aux & OBJECT_IS_PROTOTYPE) return;
    if (slot > UINT16_MAX || !cache_is_worth_filling(vm, cache)) return;
    cache->shape = before;
    cache->holder = NULL;
    cache->slot = (uint16_t)slot;
    cache->epoch = vm->proto_epoch;
    cache->next = is_add ? object->shape : NULL;
}

bool interp_set_field(FlowVm *vm, FlowInstruction in, FlowInlineCache *cache) {
    uint32_t base = interp_base(vm);
    FlowValue object = vm->stack[base + in.a];
    FlowKey key = site_key(vm, in);
    if (flow_is_object(object)) {
        FlowObject *target = flow_as_object(object);
        FlowShape *before = target->shape;
        uint32_t frames = vm->frame_count;
        bool is_lazy = target->cell.aux & OBJECT_LAZY_FUNCTION;
        if (!interp_set_value(vm, object, key, vm->stack[base + in.b])) return false;
        if (frames == vm->frame_count && !is_lazy) cache_set(vm, target, before, key, cache);
        return true;
    }
    return interp_set_value(vm, object, key, vm->stack[base + in.b]);
}

bool interp_init_field(FlowVm *vm, FlowInstruction in, FlowInlineCache *cache) {
    uint32_t base = interp_base(vm);
    FlowObject *object = flow_as_object(vm->stack[base + in.a]);
    FlowKey key = site_key(vm, in);
    FlowShape *before = object->shape;
    flow_object_define(vm, object, key, vm->stack[base + in.b], PROPERTY_DEFAULT);
    if (object->cell.kind == KIND_OBJECT) cache_set(vm, object, before, key, cache);
    return true;
}

bool interp_set_element(FlowVm *vm, FlowInstruction in) {
    uint32_t base = interp_base(vm);
    FlowValue object = vm->stack[base + in.a];
    FlowValue key_value = vm->stack[base + in.b];
    FlowValue value = vm->stack[base + in.c];
    FlowKey key;
    if (flow_key_from_value(vm, key_value, &key)) return interp_set_value(vm, object, key, value);
    if (flow_is_nullish(object)) {
        char text[FLOW_TEXT_MAX];
        return flow_throw_type(vm, "Cannot set properties of %s (setting '%s')",
                               flow_is_null(object) ? "null" : "undefined",
                               flow_describe(vm, key_value, text));
    }
    return flow_vm_push_helper(vm, &(FlowHelperCall){.helper = HELPER_setElement,
                                                     .count = 3,
                                                     .arguments = {object, key_value, value},
                                                     .return_kind = RETURN_DISCARD});
}

// CreateDataPropertyOrThrow.
static bool define_or_throw(FlowVm *vm, FlowObject *object, FlowKey key, FlowValue value) {
    if (flow_object_put(vm, object, key, value)) return true;
    char text[FLOW_TEXT_MAX];
    flow_describe_key(vm, key, text);
    if (flow_object_is_extensible(vm, object)) {
        return flow_throw_type(vm, "Cannot redefine property: %s", text);
    }
    return flow_throw_type(vm, "Cannot define property %s, object is not extensible", text);
}

bool interp_init_element(FlowVm *vm, FlowInstruction in) {
    uint32_t base = interp_base(vm);
    FlowKey key;
    if (!flow_key_from_value(vm, vm->stack[base + in.b], &key)) UNREACHABLE();
    return define_or_throw(vm, flow_as_object(vm->stack[base + in.a]), key, vm->stack[base + in.c]);
}

bool interp_define_field(FlowVm *vm, FlowInstruction in, FlowInlineCache *cache) {
    uint32_t base = interp_base(vm);
    FlowObject *object = flow_as_object(vm->stack[base + in.a]);
    FlowShape *before = object->shape;
    FlowKey key = site_key(vm, in);
    if (!define_or_throw(vm, object, key, vm->stack[base + in.b])) return false;
    bool is_added = object->shape != before; // a property that was there is not worth a cache
    if (is_added && object->cell.kind == KIND_OBJECT) cache_set(vm, object, before, key, cache);
    return true;
}

bool interp_delete_element(FlowVm *vm, FlowInstruction in) {
    uint32_t base = interp_base(vm);
    FlowValue object = vm->stack[base + in.b];
    FlowKey key;
    if (flow_is_nullish(object)) {
        return flow_throw_type(vm, "Cannot convert undefined or null to object");
    }
    if (!flow_key_from_value(vm, vm->stack[base + in.c], &key)) {
        FlowHelperCall helper = {
            .helper = HELPER_deleteElement,
            .count = 2,
            .arguments = {object, vm->stack[base + in.c]},
            .return_kind = RETURN_STORE,
            .return_to = base + in.a,
        };
        return flow_vm_push_helper(vm, &helper);
    }
    bool is_string_part = flow_is_string(object) && is_own_of_string(vm, object, key);
    if (is_string_part ||
        (flow_is_object(object) && !flow_object_delete(vm, flow_as_object(object), key))) {
        if (is_string_part) {
            FlowSlotObject *wrapper =
                flow_slot_object_new(vm, KIND_STRING_OBJECT, vm->realm->protos[PROTO_STRING]);
            wrapper->internal[0] = object;
            object = flow_from_object(wrapper);
        }
        char name[FLOW_TEXT_MAX];
        char text[FLOW_TEXT_MAX];
        return flow_throw_type(vm, "Cannot delete property '%s' of %s",
                               flow_describe_key(vm, key, name), flow_describe(vm, object, text));
    }
    vm->stack[base + in.a] = FLOW_TRUE;
    return true;
}

bool interp_in(FlowVm *vm, FlowInstruction in) {
    uint32_t base = interp_base(vm);
    FlowValue key_value = vm->stack[base + in.b];
    FlowValue object = vm->stack[base + in.c];
    if (!flow_is_object(object)) {
        char name[FLOW_TEXT_MAX];
        char text[FLOW_TEXT_MAX];
        return flow_throw_type(vm, "Cannot use 'in' operator to search for '%s' in %s",
                               flow_describe(vm, key_value, name), flow_describe(vm, object, text));
    }
    FlowKey key;
    if (!flow_key_from_value(vm, key_value, &key)) {
        return flow_vm_push_helper(vm, &(FlowHelperCall){.helper = HELPER_hasElement,
                                                         .count = 2,
                                                         .arguments = {key_value, object},
                                                         .return_kind = RETURN_STORE,
                                                         .return_to = base + in.a});
    }
    bool is_there = interp_lookup(vm, flow_as_object(object), key) ||
                    flow_object_has(vm, flow_as_object(object), key);
    vm->stack[base + in.a] = flow_bool(is_there);
    return true;
}

// --- globals: properties of globalThis

bool interp_get_global(FlowVm *vm, FlowInstruction in, FlowInlineCache *cache) {
    FlowKey key = site_key(vm, in);
    FlowValue global = flow_from_object(vm->realm->global);
    if (!flow_object_has(vm, vm->realm->global, key)) {
        char text[FLOW_TEXT_MAX];
        return flow_throw_reference(vm, "%s is not defined", flow_describe_key(vm, key, text));
    }
    cache_get(vm, global, key, cache);
    return interp_get_value(vm, global, key, interp_base(vm) + in.a);
}

bool interp_typeof_global(FlowVm *vm, FlowInstruction in) {
    FlowKey key = site_key(vm, in);
    FlowProperty property;
    FlowValue value = FLOW_UNDEFINED;
    if (flow_object_lookup(vm, vm->realm->global, key, &property)) {
        // The only accessors are Inputs and Context, which are objects or undefined at worst.
        value = property.attributes & PROPERTY_ACCESSOR ? vm->inputs : property.value;
    }
    vm->stack[interp_base(vm) + in.a] = interp_typeof(vm, value);
    return true;
}

bool interp_set_global(FlowVm *vm, FlowInstruction in) {
    FlowKey key = site_key(vm, in);
    if (!flow_object_has(vm, vm->realm->global, key)) {
        char text[FLOW_TEXT_MAX];
        return flow_throw_reference(vm, "%s is not defined", flow_describe_key(vm, key, text));
    }
    return interp_set_value(vm, flow_from_object(vm->realm->global), key,
                            vm->stack[interp_base(vm) + in.a]);
}

// --- super

bool interp_get_super(FlowVm *vm, FlowInstruction in) {
    uint32_t base = interp_base(vm);
    const FlowValue *block = vm->stack + base + in.b;
    FlowObject *home = flow_as_object(block[0]);
    FlowKey key;
    if (!flow_key_from_value(vm, block[1], &key)) return interp_throw_damaged(vm);
    FlowObject *proto = flow_object_proto(vm, home);
    FlowProperty property;
    vm->stack[base + in.a] = FLOW_UNDEFINED;
    if (!proto) return flow_throw_read(vm, FLOW_NULL, key);
    FlowValue this_value = block[2];
    if (!flow_object_lookup(vm, proto, key, &property)) return true;
    if (!(property.attributes & PROPERTY_ACCESSOR)) {
        vm->stack[base + in.a] = property.value;
        return true;
    }
    if (flow_is_undefined(property.getter)) return true;
    return flow_vm_push_call(vm, &(FlowCall){.function = property.getter,
                                             .this_value = this_value,
                                             .new_target = FLOW_UNDEFINED,
                                             .return_kind = RETURN_STORE,
                                             .return_to = base + in.a});
}

bool interp_set_super(FlowVm *vm, FlowInstruction in) {
    uint32_t base = interp_base(vm);
    const FlowValue *block = vm->stack + base + in.b;
    FlowValue value = vm->stack[base + in.a];
    FlowValue this_value = block[2];
    FlowObject *proto = flow_object_proto(vm, flow_as_object(block[0]));
    FlowKey key;
    if (!flow_key_from_value(vm, block[1], &key)) return interp_throw_damaged(vm);
    FlowProperty property;
    if (proto && flow_object_lookup(vm, proto, key, &property)) {
        if (property.attributes & PROPERTY_ACCESSOR) {
            if (flow_is_undefined(property.setter)) {
                return throw_set(vm, this_value, key, SET_NO_SETTER);
            }
            return call_setter(vm, property.setter, this_value, value);
        }
        if (!(property.attributes & PROPERTY_WRITABLE)) {
            return throw_set(vm, this_value, key, SET_READONLY);
        }
    }
    if (!flow_is_object(this_value)) return throw_set(vm, this_value, key, SET_READONLY);
    // The receiver gets an own property, whatever its other prototypes say.
    FlowObject *target = flow_as_object(this_value);
    if (flow_object_get_own(vm, target, key, &property)) {
        if (property.attributes & PROPERTY_ACCESSOR || !(property.attributes & PROPERTY_WRITABLE)) {
            return throw_set(vm, this_value, key, SET_READONLY);
        }
        return interp_set_value(vm, this_value, key, value);
    }
    if (flow_object_put(vm, target, key, value)) return true;
    return throw_set(vm, this_value, key, SET_NOT_EXTENSIBLE);
}

// Object: the constructor, its statics, Object.prototype, and intrinsics about properties.
//
// What reads or writes other people's properties is a fast path over data properties; as soon as
// an accessor turns up the prelude routine does the whole of it again (builtin/objects.h). Copying
// data twice cannot be told from copying it once.
#include "flow/builtin/objects.h"
#include "flow/builtin/primitives.h"
#include "flow/value/object_layout.h"
#include "flow/vm/vm.h"

FlowObject *flow_to_object(FlowVm *vm, FlowValue value) {
    if (flow_is_object(value)) return flow_as_object(value);
    FlowKind kind;
    if (flow_is_string(value)) kind = KIND_STRING_OBJECT;
    else if (flow_is_number(value)) kind = KIND_NUMBER_OBJECT;
    else if (flow_is_boolean(value)) kind = KIND_BOOLEAN_OBJECT;
    else if (flow_is_symbol(value)) kind = KIND_SYMBOL_OBJECT;
    else if (flow_is_bigint(value)) kind = KIND_BIGINT_OBJECT;
    else {
        flow_throw_type(vm, "Cannot convert undefined or null to object");
        return NULL;
    }
    FlowSlotObject *object = flow_slot_object_new(vm, kind, flow_object_of_primitive(vm, value));
    object->internal[0] = value;
    return &object->object;
}

// --- own enumerable properties in order

FlowOwnCursor flow_own_cursor(FlowVm *vm, FlowObject *object) {
    return (FlowOwnCursor){.vm = vm, .object = object, .body = flow_object_body(vm, object)};
}

static bool next_element(FlowOwnCursor *cursor, FlowKey *ret_key, FlowProperty *ret) {
    if (cursor->object->cell.kind == KIND_STRING_OBJECT) {
        FlowString *text = flow_as_string(((FlowSlotObject *)cursor->object)->internal[0]);
        if (cursor->element < flow_string_length(text)) {
            *ret_key = flow_key_index(cursor->element++);
            return flow_object_get_own(cursor->vm, cursor->object, *ret_key, ret);
        }
    }
    for (;;) {
        uint32_t index = flow_elements_next(cursor->body, cursor->element);
        if (index == UINT32_MAX) return false;
        cursor->element = index + 1;
        *ret_key = flow_key_index(index);
        if (flow_elements_get(cursor->body, index, ret) && ret->attributes & PROPERTY_ENUMERABLE) {
            return true;
        }
    }
}

bool flow_own_next(FlowOwnCursor *cursor, FlowKey *ret_key, FlowProperty *ret) {
    if (cursor->element != UINT32_MAX && !cursor->has_symbols) {
        if (next_element(cursor, ret_key, ret)) return true;
        cursor->element = UINT32_MAX;
    }
    const FlowShape *shape = cursor->body->shape;
    while (cursor->slot < shape->count) {
        const struct FlowKeyEntry *entry = &shape->keys->entries[cursor->slot++];
        bool is_wanted = entry->key.bits && entry->attributes & PROPERTY_ENUMERABLE &&
                         flow_key_is_symbol(entry->key) == cursor->has_symbols &&
                         !flow_key_is_private(entry->key);
        if (!is_wanted) continue;
        *ret_key = entry->key;
        return flow_object_get_own(cursor->vm, cursor->object, entry->key, ret);
    }
    return false;
}

// --- constructor

static FlowNativeResult object_construct(FlowVm *vm, FlowNativeCall *call) {
    bool is_subclass =
        !flow_is_undefined(call->new_target) && !flow_same_bits(call->new_target, call->function);
    if (is_subclass) {
        FlowObject *proto = flow_new_target_proto(vm, call->new_target, PROTO_OBJECT);
        return flow_native_return(call, flow_from_object(flow_object_new(vm, proto)));
    }
    FlowValue value = flow_argument(call, 0);
    FlowObject *object = flow_is_nullish(value) ? flow_object_plain(vm) : flow_to_object(vm, value);
    return flow_native_return(call, flow_from_object(object));
}

// --- keys, values, entries

static FlowNativeResult own_keys(FlowVm *vm, FlowNativeCall *call, uint32_t which) {
    FlowObject *object = flow_to_object(vm, flow_argument(call, 0));
    if (!object) return NATIVE_THROW;
    FlowArray *keys = flow_object_keys(vm, object, which);
    flow_native_charge(vm, (uint64_t)keys->length * 16);
    return flow_native_return(call, flow_from_object(keys));
}

static FlowNativeResult object_keys(FlowVm *vm, FlowNativeCall *call) {
    return own_keys(vm, call, KEYS_STRINGS | KEYS_ENUMERABLE_ONLY);
}

static FlowNativeResult object_names(FlowVm *vm, FlowNativeCall *call) {
    return own_keys(vm, call, KEYS_STRINGS);
}

static FlowNativeResult object_symbols(FlowVm *vm, FlowNativeCall *call) {
    return own_keys(vm, call, KEYS_SYMBOLS);
}

static FlowNativeResult values_or_entries(FlowVm *vm, FlowNativeCall *call, bool is_entries) {
    FlowObject *object = flow_to_object(vm, flow_argument(call, 0));
    if (!object) return NATIVE_THROW;
    FlowArray *result = flow_array_new(vm, object->shape->count);
    FlowOwnCursor cursor = flow_own_cursor(vm, object);
    FlowKey key;
    FlowProperty property;
    while (flow_own_next(&cursor, &key, &property)) {
        if (property.attributes & PROPERTY_ACCESSOR) return flow_native_slow(vm, call);
        FlowValue pair[2] = {FLOW_UNDEFINED, property.value};
        if (is_entries) pair[0] = flow_key_to_value(vm, key);
        flow_array_push(vm, result,
                        is_entries ? flow_from_object(flow_array_from(vm, pair, 2))
                                   : property.value);
    }
    flow_native_charge(vm, (uint64_t)result->length * (is_entries ? 128 : 16));
    return flow_native_return(call, flow_from_object(result));
}

static FlowNativeResult object_values(FlowVm *vm, FlowNativeCall *call) {
    return values_or_entries(vm, call, false);
}

static FlowNativeResult object_entries(FlowVm *vm, FlowNativeCall *call) {
    return values_or_entries(vm, call, true);
}

// An array of pairs [key, value] whose keys are primitives.
static bool is_entry_list(FlowVm *vm, FlowValue iterable) {
    if (!flow_array_iterates_plainly(vm, iterable)) return false;
    const FlowArray *array = flow_as_array(iterable);
    for (uint32_t i = 0; i < array->length; i++) {
        FlowValue pair = flow_array_at(array, i);
        bool is_plain = flow_is_array(pair) && flow_array_is_plain(vm, pair) &&
                        !flow_is_object(flow_array_at(flow_as_array(pair), 0));
        if (!is_plain) return false;
    }
    return true;
}

static FlowValue item_of(const FlowArray *array, uint32_t index) {
    FlowValue value = flow_array_at(array, index);
    return flow_is_hole(value) ? FLOW_UNDEFINED : value;
}

static FlowNativeResult object_from_entries(FlowVm *vm, FlowNativeCall *call) {
    FlowValue iterable = flow_argument(call, 0);
    if (!is_entry_list(vm, iterable)) return flow_native_slow(vm, call);
    const FlowArray *array = flow_as_array(iterable);
    FlowObject *result = flow_object_plain(vm);
    flow_native_charge(vm, (uint64_t)array->length * 16);
    for (uint32_t i = 0; i < array->length; i++) {
        const FlowArray *pair = flow_as_array(flow_array_at(array, i));
        FlowKey key;
        if (!flow_key_from_value(vm, item_of(pair, 0), &key)) UNREACHABLE();
        flow_object_put(vm, result, key, item_of(pair, 1));
        if (flow_native_is_overdrawn(vm)) return flow_native_slow(vm, call);
    }
    return flow_native_return(call, flow_from_object(result));
}

// --- assign

// False: an accessor or a refusal came up, the prelude has to do it.
static bool assign_from(FlowVm *vm, FlowObject *target, FlowValue source) {
    if (flow_is_nullish(source)) return true;
    FlowObject *from = flow_to_object(vm, source);
    for (int pass = 0; pass < 2; pass++) {
        FlowOwnCursor cursor = flow_own_cursor(vm, from);
        cursor.has_symbols = pass == 1;
        FlowKey key;
        FlowProperty property;
        while (flow_own_next(&cursor, &key, &property)) {
            FlowValue setter;
            if (property.attributes & PROPERTY_ACCESSOR) return false;
            flow_native_charge(vm, 64);
            FlowSetResult set = flow_object_set(vm, target, key, property.value, &setter);
            if (set != SET_DONE) return false;
        }
    }
    return true;
}

static FlowNativeResult object_assign(FlowVm *vm, FlowNativeCall *call) {
    FlowObject *target = flow_to_object(vm, flow_argument(call, 0));
    if (!target) return NATIVE_THROW;
    if (!flow_is_object(flow_argument(call, 0))) return flow_native_slow(vm, call);
    for (uint32_t i = 1; i < call->count; i++) {
        bool is_done = assign_from(vm, target, call->arguments[i]);
        if (!is_done || flow_native_is_overdrawn(vm)) return flow_native_slow(vm, call);
    }
    return flow_native_return(call, flow_from_object(target));
}

// --- prototypes

static FlowNativeResult proto_refused(FlowVm *vm, FlowValue proto) {
    char text[FLOW_TEXT_MAX];
    return flow_native_throw(vm, ERROR_KIND_TYPE,
                             "Object prototype may only be an Object or null: %s",
                             flow_describe(vm, proto, text));
}

static FlowObject *proto_or_null(FlowValue value) {
    return flow_is_null(value) ? NULL : flow_as_object(value);
}

static FlowNativeResult object_create(FlowVm *vm, FlowNativeCall *call) {
    FlowValue proto = flow_argument(call, 0);
    if (!flow_is_object(proto) && !flow_is_null(proto)) return proto_refused(vm, proto);
    FlowValue object = flow_from_object(flow_object_new(vm, proto_or_null(proto)));
    FlowValue properties = flow_argument(call, 1);
    if (flow_is_undefined(properties)) return flow_native_return(call, object);
    FlowValue arguments[2] = {object, properties};
    return flow_native_prelude(vm, call, "Object_defineProperties", arguments, 2);
}

static FlowNativeResult object_get_proto(FlowVm *vm, FlowNativeCall *call) {
    FlowValue value = flow_argument(call, 0);
    FlowObject *proto = flow_is_object(value) ? flow_object_proto(vm, flow_as_object(value))
                                              : flow_object_of_primitive(vm, value);
    if (!proto && flow_is_nullish(value)) {
        return flow_native_throw(vm, ERROR_KIND_TYPE, "Cannot convert undefined or null to object");
    }
    return flow_native_return(call, proto ? flow_from_object(proto) : FLOW_NULL);
}

static FlowNativeResult set_proto(FlowVm *vm, FlowObject *object, FlowObject *proto) {
    if (flow_object_set_proto(vm, object, proto)) return NATIVE_OK;
    char text[FLOW_TEXT_MAX];
    if (object == vm->realm->protos[PROTO_OBJECT]) {
        return flow_native_throw(vm, ERROR_KIND_TYPE,
                                 "Immutable prototype object 'Object.prototype' cannot have "
                                 "their prototype set");
    }
    if (!flow_object_is_extensible(vm, object)) {
        return flow_native_throw(vm, ERROR_KIND_TYPE, "%s is not extensible",
                                 flow_describe(vm, flow_from_object(object), text));
    }
    return flow_native_throw(vm, ERROR_KIND_TYPE, "Cyclic __proto__ value");
}

static FlowNativeResult object_set_proto(FlowVm *vm, FlowNativeCall *call) {
    FlowValue value = flow_argument(call, 0);
    FlowValue proto = flow_argument(call, 1);
    if (flow_is_nullish(value)) {
        return flow_native_throw(vm, ERROR_KIND_TYPE,
                                 "Object.setPrototypeOf called on null or undefined");
    }
    if (!flow_is_object(proto) && !flow_is_null(proto)) return proto_refused(vm, proto);
    call->result = value;
    if (!flow_is_object(value)) return NATIVE_OK;
    return set_proto(vm, flow_as_object(value), proto_or_null(proto));
}

static FlowNativeResult proto_getter(FlowVm *vm, FlowNativeCall *call) {
    FlowValue value = *call->this_value;
    FlowObject *object = flow_is_object(value) ? flow_object_proto(vm, flow_as_object(value))
                                               : flow_object_of_primitive(vm, value);
    if (!object && flow_is_nullish(value)) {
        return flow_native_throw(vm, ERROR_KIND_TYPE, "Cannot convert undefined or null to object");
    }
    return flow_native_return(call, object ? flow_from_object(object) : FLOW_NULL);
}

static FlowNativeResult proto_setter(FlowVm *vm, FlowNativeCall *call) {
    FlowValue value = *call->this_value;
    FlowValue proto = flow_argument(call, 0);
    if (flow_is_nullish(value)) {
        return flow_native_throw(vm, ERROR_KIND_TYPE,
                                 "set Object.prototype.__proto__ called on null or undefined");
    }
    bool is_useful = flow_is_object(value) && (flow_is_object(proto) || flow_is_null(proto));
    return is_useful ? set_proto(vm, flow_as_object(value), proto_or_null(proto)) : NATIVE_OK;
}

// --- integrity

static FlowNativeResult object_freeze(FlowVm *vm, FlowNativeCall *call) {
    FlowValue value = flow_argument(call, 0);
    if (flow_is_object(value)) flow_object_freeze(vm, flow_as_object(value), false);
    return flow_native_return(call, value);
}

static FlowNativeResult object_seal(FlowVm *vm, FlowNativeCall *call) {
    FlowValue value = flow_argument(call, 0);
    if (flow_is_object(value)) flow_object_freeze(vm, flow_as_object(value), true);
    return flow_native_return(call, value);
}

static FlowNativeResult object_prevent_extensions(FlowVm *vm, FlowNativeCall *call) {
    FlowValue value = flow_argument(call, 0);
    if (flow_is_object(value)) flow_object_prevent_extensions(vm, flow_as_object(value));
    return flow_native_return(call, value);
}

static FlowNativeResult object_is_frozen(FlowVm *vm, FlowNativeCall *call) {
    FlowValue value = flow_argument(call, 0);
    bool is_frozen =
        !flow_is_object(value) || flow_object_test_integrity(vm, flow_as_object(value), false);
    return flow_native_return(call, flow_bool(is_frozen));
}

static FlowNativeResult object_is_sealed(FlowVm *vm, FlowNativeCall *call) {
    FlowValue value = flow_argument(call, 0);
    bool is_sealed =
        !flow_is_object(value) || flow_object_test_integrity(vm, flow_as_object(value), true);
    return flow_native_return(call, flow_bool(is_sealed));
}

static FlowNativeResult object_is_extensible(FlowVm *vm, FlowNativeCall *call) {
    FlowValue value = flow_argument(call, 0);
    bool is_extensible =
        flow_is_object(value) && flow_object_is_extensible(vm, flow_as_object(value));
    return flow_native_return(call, flow_bool(is_extensible));
}

// --- small questions

static FlowNativeResult object_is(FlowVm *vm, FlowNativeCall *call) {
    bool is_same = flow_same_value(vm, flow_argument(call, 0), flow_argument(call, 1));
    return flow_native_return(call, flow_bool(is_same));
}

static FlowNativeResult object_has_own(FlowVm *vm, FlowNativeCall *call) {
    FlowObject *object = flow_to_object(vm, flow_argument(call, 0));
    if (!object) return NATIVE_THROW;
    FlowKey key;
    TRY_NATIVE(flow_argument_key(vm, call, 1, &key));
    return flow_native_return(call, flow_bool(flow_object_has_own(vm, object, key)));
}

static FlowNativeResult has_own_property(FlowVm *vm, FlowNativeCall *call) {
    FlowKey key;
    TRY_NATIVE(flow_argument_key(vm, call, 0, &key));
    FlowObject *object = flow_to_object(vm, *call->this_value);
    if (!object) return NATIVE_THROW;
    return flow_native_return(call, flow_bool(flow_object_has_own(vm, object, key)));
}

static FlowNativeResult property_is_enumerable(FlowVm *vm, FlowNativeCall *call) {
    FlowKey key;
    TRY_NATIVE(flow_argument_key(vm, call, 0, &key));
    FlowObject *object = flow_to_object(vm, *call->this_value);
    if (!object) return NATIVE_THROW;
    FlowProperty property;
    bool is_enumerable = flow_object_get_own(vm, object, key, &property) &&
                         property.attributes & PROPERTY_ENUMERABLE;
    return flow_native_return(call, flow_bool(is_enumerable));
}

static FlowNativeResult is_prototype_of(FlowVm *vm, FlowNativeCall *call) {
    FlowValue value = flow_argument(call, 0);
    if (!flow_is_object(value)) return flow_native_return(call, FLOW_FALSE);
    FlowObject *self = flow_to_object(vm, *call->this_value);
    if (!self) return NATIVE_THROW;
    FlowObject *at = flow_object_proto(vm, flow_as_object(value));
    while (at && at != self) at = flow_object_proto(vm, at);
    return flow_native_return(call, flow_bool(at != NULL));
}

static FlowNativeResult object_value_of(FlowVm *vm, FlowNativeCall *call) {
    FlowObject *object = flow_to_object(vm, *call->this_value);
    if (!object) return NATIVE_THROW;
    return flow_native_return(call, flow_from_object(object));
}

// --- toString

const char *flow_builtin_tag(FlowValue value) {
    if (flow_is_undefined(value)) return "Undefined";
    if (flow_is_null(value)) return "Null";
    if (flow_is_string(value)) return "String";
    if (flow_is_number(value)) return "Number";
    if (flow_is_boolean(value)) return "Boolean";
    if (!flow_is_object(value)) return "Object";
    switch (flow_kind_of(value)) {
    case KIND_ARRAY: return "Array";
    case KIND_ARGUMENTS: return "Arguments";
    case KIND_ERROR: return "Error";
    case KIND_CLOSURE:
    case KIND_NATIVE_FUNCTION:
    case KIND_BOUND_FUNCTION: return "Function";
    case KIND_BOOLEAN_OBJECT: return "Boolean";
    case KIND_NUMBER_OBJECT: return "Number";
    case KIND_STRING_OBJECT: return "String";
    case KIND_DATE: return "Date";
    case KIND_REGEXP: return "RegExp";
    default: return "Object";
    }
}

static FlowNativeResult object_to_string(FlowVm *vm, FlowNativeCall *call) {
    FlowValue value = *call->this_value;
    FlowObject *start =
        flow_is_object(value) ? flow_as_object(value) : flow_object_of_primitive(vm, value);
    FlowString *tag = NULL;
    FlowProperty property;
    FlowKey key = FLOW_SYMBOL(vm, SYMBOL_TO_STRING_TAG);
    if (start && flow_object_lookup(vm, start, key, &property)) {
        if (property.attributes & PROPERTY_ACCESSOR) return flow_native_slow(vm, call);
        if (flow_is_string(property.value)) tag = flow_as_string(property.value);
    }
    FlowStringBuilder out;
    flow_builder_init(&out, vm);
    flow_builder_ascii(&out, "[object ");
    if (tag) flow_builder_string(&out, tag);
    else flow_builder_ascii(&out, flow_builtin_tag(value));
    flow_builder_unit(&out, ']');
    FlowString *text = flow_builder_finish(&out);
    return text ? flow_native_return(call, flow_from_string(text)) : NATIVE_THROW;
}

// --- intrinsics

static FlowNativeResult builtin_tag(FlowVm *vm, FlowNativeCall *call) {
    const char *tag = flow_builtin_tag(flow_argument(call, 0));
    return flow_native_return(call, flow_from_string(flow_string_cstr(vm, tag)));
}

// %ownKeys(object): all of them, strings and symbols.
static FlowNativeResult own_all_keys(FlowVm *vm, FlowNativeCall *call) {
    return own_keys(vm, call, KEYS_STRINGS | KEYS_SYMBOLS);
}

// %enumerableKeys(object): own enumerable string keys.
static FlowNativeResult own_enumerable_keys(FlowVm *vm, FlowNativeCall *call) {
    return own_keys(vm, call, KEYS_STRINGS | KEYS_ENUMERABLE_ONLY);
}

// %isEnumerable(object, key): it has that own property, and it is enumerable.
static FlowNativeResult is_enumerable(FlowVm *vm, FlowNativeCall *call) {
    FlowKey key;
    if (!flow_key_from_value(vm, flow_argument(call, 1), &key)) UNREACHABLE();
    FlowProperty property;
    bool is_found = flow_object_get_own(vm, flow_as_object(call->arguments[0]), key, &property);
    return flow_native_return(call,
                              flow_bool(is_found && property.attributes & PROPERTY_ENUMERABLE));
}

// %hide(object, key, value): defines it writable and configurable, not enumerable.
static FlowNativeResult hide(FlowVm *vm, FlowNativeCall *call) {
    FlowKey key;
    if (!flow_key_from_value(vm, flow_argument(call, 1), &key)) UNREACHABLE();
    flow_object_define(vm, flow_as_object(call->arguments[0]), key, flow_argument(call, 2),
                       PROPERTY_HIDDEN);
    return NATIVE_OK;
}

// %bareObject(): an object without prototype.
static FlowNativeResult bare_object(FlowVm *vm, FlowNativeCall *call) {
    return flow_native_return(call, flow_from_object(flow_object_new(vm, NULL)));
}

// %tryPut(object, key, value): CreateDataProperty, a refusal is passed over.
static FlowNativeResult try_put(FlowVm *vm, FlowNativeCall *call) {
    FlowKey key;
    if (!flow_key_from_value(vm, flow_argument(call, 1), &key)) UNREACHABLE();
    flow_object_put(vm, flow_as_object(call->arguments[0]), key, flow_argument(call, 2));
    return NATIVE_OK;
}

// %tryDelete(object, key)
static FlowNativeResult try_delete(FlowVm *vm, FlowNativeCall *call) {
    FlowKey key;
    if (!flow_key_from_value(vm, flow_argument(call, 1), &key)) UNREACHABLE();
    flow_object_delete(vm, flow_as_object(call->arguments[0]), key);
    return NATIVE_OK;
}

const FlowNativeEntry flow_intrinsics_property[] = {
    NATIVE("builtinTag", builtin_tag, 1),
    NATIVE("ownKeys", own_all_keys, 1),
    NATIVE("enumerableKeys", own_enumerable_keys, 1),
    NATIVE("isEnumerable", is_enumerable, 2),
    NATIVE("hide", hide, 3),
    NATIVE("bareObject", bare_object, 0),
    NATIVE("tryPut", try_put, 3),
    NATIVE("tryDelete", try_delete, 2),
    NATIVE("hasOwn", object_has_own, 2),
    NATIVE("defineProperty", flow_object_define_property, 3),
    NATIVE_END,
};

// --- tables

static const FlowNativeEntry object_statics[] = {
    NATIVE_SLOW("assign", object_assign, "Object_assign", 2),
    NATIVE("getOwnPropertyDescriptor", flow_object_own_descriptor, 2),
    NATIVE("getOwnPropertyDescriptors", flow_object_own_descriptors, 1),
    NATIVE("getOwnPropertyNames", object_names, 1),
    NATIVE("getOwnPropertySymbols", object_symbols, 1),
    NATIVE("hasOwn", object_has_own, 2),
    NATIVE("is", object_is, 2),
    NATIVE("preventExtensions", object_prevent_extensions, 1),
    NATIVE("seal", object_seal, 1),
    NATIVE("create", object_create, 2),
    PRELUDE("defineProperties", "Object_defineProperties", 2),
    NATIVE("defineProperty", flow_object_define_property, 3),
    NATIVE("freeze", object_freeze, 1),
    NATIVE("getPrototypeOf", object_get_proto, 1),
    NATIVE("setPrototypeOf", object_set_proto, 2),
    NATIVE("isExtensible", object_is_extensible, 1),
    NATIVE("isFrozen", object_is_frozen, 1),
    NATIVE("isSealed", object_is_sealed, 1),
    NATIVE("keys", object_keys, 1),
    NATIVE_SLOW("entries", object_entries, "Object_entries", 1),
    NATIVE_SLOW("fromEntries", object_from_entries, "Object_fromEntries", 1),
    NATIVE_SLOW("values", object_values, "Object_values", 1),
    NATIVE_END,
};

static const FlowNativeEntry object_members[] = {
    NATIVE("hasOwnProperty", has_own_property, 1),
    NATIVE("isPrototypeOf", is_prototype_of, 1),
    NATIVE("propertyIsEnumerable", property_is_enumerable, 1),
    NATIVE_SLOW("toString", object_to_string, "Object_prototype_toString", 0),
    NATIVE("valueOf", object_value_of, 0),
    {"__proto__", proto_getter, NULL, 0, NATIVE_GETTER, 0},
    {"__proto__", proto_setter, NULL, 1, NATIVE_SETTER, 0},
    PRELUDE("toLocaleString", "Object_prototype_toLocaleString", 0),
    NATIVE_END,
};

const FlowClassEntry flow_class_object = {
    .name = "Object",
    .constructor = {"Object", object_construct, NULL, 1, NATIVE_CONSTRUCTOR, 0},
    .statics = object_statics,
    .members = object_members,
    .kind = KIND_OBJECT,
    .proto_id = 1 + PROTO_OBJECT,
};

// Property descriptors: Object.defineProperty, getOwnPropertyDescriptor and what they share.
//
// A descriptor whose fields are data is read here. When one of them is an accessor the prelude
// reads them all first and comes back with a plain copy.
//
// Whether a change is allowed is decided in property.c; here are the words when it is not.
#include "base/array.h"
#include "flow/builtin/objects.h"
#include "flow/builtin/primitives.h"
#include "flow/vm/vm.h"

typedef enum DescriptorOutcome {
    DESCRIPTOR_READ,
    DESCRIPTOR_REFUSED, // exception pending
    DESCRIPTOR_UNSURE,  // a field is an accessor
} DescriptorOutcome;

static bool check_accessor(FlowVm *vm, FlowValue value, const char *which) {
    if (flow_is_undefined(value) || flow_is_callable(value)) return true;
    char text[FLOW_TEXT_MAX];
    return flow_throw_type(vm, "%s must be a function: %s", which, flow_describe(vm, value, text));
}

// ToPropertyDescriptor, as far as it is data.
static DescriptorOutcome read_descriptor(FlowVm *vm, FlowObject *source, FlowDescriptor *ret) {
    const struct {
        FlowKey key;
        uint32_t present;
        uint32_t attribute;
    } fields[] = {
        {FLOW_KEY(vm, enumerable), DESCRIPTOR_ENUMERABLE, PROPERTY_ENUMERABLE},
        {FLOW_KEY(vm, configurable), DESCRIPTOR_CONFIGURABLE, PROPERTY_CONFIGURABLE},
        {FLOW_KEY(vm, value), DESCRIPTOR_VALUE, 0},
        {FLOW_KEY(vm, writable), DESCRIPTOR_WRITABLE, PROPERTY_WRITABLE},
        {FLOW_KEY(vm, get), DESCRIPTOR_GET, 0},
        {FLOW_KEY(vm, set), DESCRIPTOR_SET, 0},
    };
    *ret = (FlowDescriptor){FLOW_UNDEFINED, FLOW_UNDEFINED, FLOW_UNDEFINED, 0, 0};
    for (size_t i = 0; i < COUNT_OF(fields); i++) {
        FlowProperty field;
        if (!flow_object_lookup(vm, source, fields[i].key, &field)) continue;
        if (field.attributes & PROPERTY_ACCESSOR) return DESCRIPTOR_UNSURE;
        ret->present |= fields[i].present;
        if (fields[i].attribute && flow_to_boolean(field.value)) {
            ret->attributes |= fields[i].attribute;
        }
        if (fields[i].present == DESCRIPTOR_VALUE) ret->value = field.value;
        if (fields[i].present == DESCRIPTOR_GET) ret->getter = field.value;
        if (fields[i].present == DESCRIPTOR_SET) ret->setter = field.value;
    }
    if (!check_accessor(vm, ret->getter, "Getter")) return DESCRIPTOR_REFUSED;
    if (!check_accessor(vm, ret->setter, "Setter")) return DESCRIPTOR_REFUSED;
    bool is_accessor = ret->present & (DESCRIPTOR_GET | DESCRIPTOR_SET);
    if (is_accessor && ret->present & (DESCRIPTOR_VALUE | DESCRIPTOR_WRITABLE)) {
        char text[FLOW_TEXT_MAX];
        flow_throw_type(vm,
                        "Invalid property descriptor. Cannot both specify accessors and a value "
                        "or writable attribute, %s",
                        flow_describe(vm, flow_from_object(source), text));
        return DESCRIPTOR_REFUSED;
    }
    return DESCRIPTOR_READ;
}

// The value of an array's length has to be a number that is one.
static FlowNativeResult check_length(FlowVm *vm, FlowDescriptor *descriptor) {
    double length;
    if (!flow_to_number(vm, descriptor->value, &length)) return NATIVE_THROW;
    if (!(length >= 0 && length <= 4294967295.0 && length == (double)(uint32_t)length)) {
        return flow_native_throw(vm, ERROR_KIND_RANGE, "Invalid array length");
    }
    descriptor->value = flow_number(length);
    return NATIVE_OK;
}

static FlowNativeResult apply_descriptor(FlowVm *vm, FlowObject *object, FlowKey key,
                                         const FlowDescriptor *descriptor) {
    if (flow_object_define_own(vm, object, key, descriptor)) return NATIVE_OK;
    char text[FLOW_TEXT_MAX];
    flow_describe_key(vm, key, text);
    if (flow_object_has_own(vm, object, key)) {
        return flow_native_throw(vm, ERROR_KIND_TYPE, "Cannot redefine property: %s", text);
    }
    return flow_native_throw(vm, ERROR_KIND_TYPE,
                             "Cannot define property %s, object is not extensible", text);
}

FlowNativeResult flow_object_define_property(FlowVm *vm, FlowNativeCall *call) {
    FlowValue target = flow_argument(call, 0);
    if (!flow_is_object(target)) {
        return flow_native_throw(vm, ERROR_KIND_TYPE, "Object.defineProperty called on non-object");
    }
    FlowKey key;
    FlowNativeResult result = flow_argument_key(vm, call, 1, &key);
    if (result != NATIVE_OK) return result;
    FlowValue source = flow_argument(call, 2);
    if (!flow_is_object(source)) {
        char text[FLOW_TEXT_MAX];
        return flow_native_throw(vm, ERROR_KIND_TYPE, "Property description must be an object: %s",
                                 flow_describe(vm, source, text));
    }
    FlowDescriptor descriptor;
    DescriptorOutcome outcome = read_descriptor(vm, flow_as_object(source), &descriptor);
    if (outcome == DESCRIPTOR_REFUSED) return NATIVE_THROW;
    bool is_length = flow_is_array(target) && key.bits == FLOW_KEY(vm, length).bits &&
                     descriptor.present & DESCRIPTOR_VALUE;
    if (outcome == DESCRIPTOR_UNSURE || (is_length && flow_is_object(descriptor.value))) {
        FlowValue arguments[3] = {target, flow_argument(call, 1), source};
        return flow_native_prelude(vm, call, "Object_defineProperty", arguments, 3);
    }
    if (is_length) {
        result = check_length(vm, &descriptor);
        if (result != NATIVE_OK) return result;
    }
    result = apply_descriptor(vm, flow_as_object(target), key, &descriptor);
    if (result != NATIVE_OK) return result;
    return flow_native_return(call, target);
}

// FromPropertyDescriptor.
static FlowObject *descriptor_object(FlowVm *vm, const FlowProperty *property) {
    FlowObject *result = flow_object_plain(vm);
    if (property->attributes & PROPERTY_ACCESSOR) {
        flow_object_put(vm, result, FLOW_KEY(vm, get), property->getter);
        flow_object_put(vm, result, FLOW_KEY(vm, set), property->setter);
    } else {
        flow_object_put(vm, result, FLOW_KEY(vm, value), property->value);
        bool is_writable = property->attributes & PROPERTY_WRITABLE;
        flow_object_put(vm, result, FLOW_KEY(vm, writable), flow_bool(is_writable));
    }
    bool is_enumerable = property->attributes & PROPERTY_ENUMERABLE;
    bool is_configurable = property->attributes & PROPERTY_CONFIGURABLE;
    flow_object_put(vm, result, FLOW_KEY(vm, enumerable), flow_bool(is_enumerable));
    flow_object_put(vm, result, FLOW_KEY(vm, configurable), flow_bool(is_configurable));
    return result;
}

FlowNativeResult flow_object_own_descriptor(FlowVm *vm, FlowNativeCall *call) {
    FlowObject *object = flow_to_object(vm, flow_argument(call, 0));
    if (!object) return NATIVE_THROW;
    FlowKey key;
    TRY_NATIVE(flow_argument_key(vm, call, 1, &key));
    FlowProperty property;
    if (!flow_object_get_own(vm, object, key, &property)) return NATIVE_OK;
    return flow_native_return(call, flow_from_object(descriptor_object(vm, &property)));
}

FlowNativeResult flow_object_own_descriptors(FlowVm *vm, FlowNativeCall *call) {
    FlowObject *object = flow_to_object(vm, flow_argument(call, 0));
    if (!object) return NATIVE_THROW;
    FlowObject *result = flow_object_plain(vm);
    FlowArray *keys = flow_object_keys(vm, object, KEYS_STRINGS | KEYS_SYMBOLS);
    flow_native_charge(vm, (uint64_t)keys->length * 256);
    for (uint32_t i = 0; i < keys->length; i++) {
        FlowKey key;
        FlowProperty property;
        bool is_found = flow_key_from_value(vm, flow_array_at(keys, i), &key) &&
                        flow_object_get_own(vm, object, key, &property);
        if (!is_found) continue;
        FlowObject *descriptor = descriptor_object(vm, &property);
        flow_object_put(vm, result, key, flow_from_object(descriptor));
    }
    return flow_native_return(call, flow_from_object(result));
}

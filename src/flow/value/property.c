// Properties by key: reading, writing, defining, deleting, as ECMAScript has them, up to the point
// where a getter or setter would run (that is the interpreter's business).
//
// Some own properties are computed: length of arrays, characters of String objects, name, length
// and prototype of functions nobody asked yet, stack of errors.
//
//   [property-1] Every reader goes through flow_object_body, every writer through
//        flow_object_writable_body, so that realm objects never change.
#include "base/array.h"
#include "flow/value/error.h"
#include "flow/value/object_layout.h"
#include "flow/vm/vm.h"

// --- keys

FlowKey flow_key_string(FlowVm *vm, FlowString *s) {
    if (!flow_string_is_atom(s)) {
        uint32_t index;
        FlowString *flat = flow_string_flat(vm, s);
        if (flow_string_to_index(flat, &index)) return flow_key_index(index);
        s = flow_atom(vm, flat);
    } else if (s->cell.flags & STRING_IS_INDEX) {
        uint32_t index = 0;
        flow_string_to_index(s, &index);
        return flow_key_index(index);
    }
    return (FlowKey){flow_from_string(s).bits};
}

FlowKey flow_key_cstr(FlowVm *vm, const char *ascii) {
    return flow_key_string(vm, flow_string_cstr(vm, ascii));
}

bool flow_key_from_value(FlowVm *vm, FlowValue value, FlowKey *ret_key) {
    if (flow_is_int(value) && flow_as_int(value) >= 0) {
        *ret_key = (FlowKey){value.bits};
        return true;
    }
    if (flow_is_symbol(value)) {
        *ret_key = (FlowKey){value.bits};
        return true;
    }
    if (flow_is_object(value)) return false;
    if (flow_is_double(value)) {
        double number = flow_as_double(value);
        if (number >= 0 && number < 4294967295.0 && number == (double)(uint32_t)number) {
            *ret_key = flow_key_index((uint32_t)number);
            return true;
        }
    }
    *ret_key = flow_key_string(vm, flow_to_string(vm, value));
    return true;
}

FlowValue flow_key_to_value(FlowVm *vm, FlowKey key) {
    if (!flow_key_is_index(key)) return (FlowValue){key.bits};
    return flow_from_string(flow_string_number(vm, (double)flow_key_as_index(key)));
}

bool flow_key_is_private(FlowKey key) {
    if (!flow_key_is_symbol(key)) return false;
    return flow_as_symbol((FlowValue){key.bits})->cell.aux & SYMBOL_PRIVATE;
}

// --- computed own properties

static bool is_key(FlowKey key, FlowValue name) { return key.bits == name.bits; }

static void property_set_data(FlowProperty *ret, FlowObject *holder, FlowValue value,
                              uint32_t attributes) {
    *ret = (FlowProperty){.value = value,
                          .getter = FLOW_UNDEFINED,
                          .setter = FLOW_UNDEFINED,
                          .holder = holder,
                          .slot = UINT32_MAX,
                          .attributes = attributes};
}

// A function that has no properties of its own yet: answers name and length without making them.
static bool lazy_get_own(FlowVm *vm, FlowObject *body, FlowKey key, FlowProperty *ret) {
    if (is_key(key, FLOW_NAME(vm, length))) {
        property_set_data(ret, body, flow_int((int32_t)flow_function_lazy_length(body)),
                          PROPERTY_CONFIGURABLE);
        return true;
    }
    if (is_key(key, FLOW_NAME(vm, name))) {
        property_set_data(ret, body, flow_function_lazy_name(vm, body), PROPERTY_CONFIGURABLE);
        return true;
    }
    if (is_key(key, FLOW_NAME(vm, prototype))) flow_function_materialize(vm, body);
    return false;
}

static bool string_get_own(FlowVm *vm, FlowObject *body, FlowString *s, FlowKey key,
                           FlowProperty *ret) {
    if (flow_key_is_index(key)) {
        uint32_t index = flow_key_as_index(key);
        if (index >= flow_string_length(s)) return false;
        FlowString *unit = flow_string_unit(vm, flow_string_at(flow_string_flat(vm, s), index));
        property_set_data(ret, body, flow_from_string(unit), PROPERTY_ENUMERABLE);
        return true;
    }
    if (!is_key(key, FLOW_NAME(vm, length))) return false;
    property_set_data(ret, body, flow_uint(flow_string_length(s)), 0);
    return true;
}

static bool computed_get_own(FlowVm *vm, FlowObject *object, FlowObject *body, FlowKey key,
                             FlowProperty *ret) {
    if (body->cell.kind == KIND_ARRAY) {
        if (!is_key(key, FLOW_NAME(vm, length))) return false;
        bool is_readonly = body->cell.aux & OBJECT_LENGTH_READONLY;
        property_set_data(ret, body, flow_uint(((FlowArray *)body)->length),
                          is_readonly ? 0 : PROPERTY_WRITABLE);
        return true;
    }
    if (object->cell.kind == KIND_STRING_OBJECT) {
        FlowValue text = ((FlowSlotObject *)object)->internal[0];
        return string_get_own(vm, body, flow_as_string(text), key, ret);
    }
    if (body->cell.aux & OBJECT_LAZY_FUNCTION) return lazy_get_own(vm, body, key, ret);
    return false;
}

// --- reading

static void property_from_slot(FlowObject *body, uint32_t slot, uint32_t attributes,
                               FlowProperty *ret) {
    FlowValue value = body->slots[slot];
    *ret = (FlowProperty){.value = value,
                          .getter = FLOW_UNDEFINED,
                          .setter = FLOW_UNDEFINED,
                          .holder = body,
                          .place = &body->slots[slot],
                          .slot = slot,
                          .attributes = attributes};
    if (attributes & PROPERTY_ACCESSOR) {
        FlowAccessor *accessor = flow_as_pointer(value);
        ret->value = FLOW_HOLE;
        ret->getter = accessor->getter;
        ret->setter = accessor->setter;
        ret->place = NULL;
    }
}

bool flow_object_get_own(FlowVm *vm, FlowObject *object, FlowKey key, FlowProperty *ret) {
    FlowObject *body = flow_object_body(vm, object);
    if (computed_get_own(vm, object, body, key, ret)) return true;
    if (flow_key_is_index(key)) {
        if (!flow_elements_get(body, flow_key_as_index(key), ret)) return false;
        ret->holder = body;
        return true;
    }
    uint32_t slot;
    uint32_t attributes;
    if (!flow_shape_find(body->shape, key, &slot, &attributes)) return false;
    property_from_slot(body, slot, attributes, ret);
    if (flow_is_hole(ret->value) && body->cell.kind == KIND_ERROR && ret->place) {
        FlowString *stack = flow_error_stack(vm, (FlowErrorObject *)body); // rendered on demand
        *ret->place = ret->value = flow_from_string(stack);
    }
    return true;
}

bool flow_object_lookup(FlowVm *vm, FlowObject *object, FlowKey key, FlowProperty *ret) {
    for (FlowObject *at = object; at; at = flow_object_proto(vm, at)) {
        if (flow_object_get_own(vm, at, key, ret)) return true;
    }
    return false;
}

FlowValue flow_object_get_data(FlowVm *vm, FlowObject *object, FlowKey key) {
    FlowProperty property;
    bool is_data = flow_object_lookup(vm, object, key, &property) &&
                   !(property.attributes & PROPERTY_ACCESSOR);
    return is_data ? property.value : FLOW_UNDEFINED;
}

bool flow_object_has_own(FlowVm *vm, FlowObject *object, FlowKey key) {
    FlowProperty property;
    return flow_object_get_own(vm, object, key, &property);
}

bool flow_object_has(FlowVm *vm, FlowObject *object, FlowKey key) {
    FlowProperty property;
    return flow_object_lookup(vm, object, key, &property);
}

// --- defining

static void object_replace(FlowVm *vm, FlowObject *body, uint32_t slot, FlowValue value,
                           uint32_t attributes) {
    uint32_t old = body->shape->keys->entries[slot].attributes;
    if (old != attributes) {
        flow_object_to_dictionary(vm, body);
        flow_shape_set_attributes(body->shape, slot, attributes);
    }
    flow_object_touch_proto(vm, body);
    body->slots[slot] = value;
}

void flow_object_define(FlowVm *vm, FlowObject *object, FlowKey key, FlowValue value,
                        uint32_t attributes) {
    FlowObject *body = flow_object_writable_body(vm, object);
    if (body->cell.aux & OBJECT_LAZY_FUNCTION) flow_function_materialize(vm, body);
    if (flow_key_is_index(key)) {
        flow_elements_put(vm, body, flow_key_as_index(key), value, attributes);
        return;
    }
    uint32_t slot;
    uint32_t old;
    if (flow_shape_find(body->shape, key, &slot, &old)) {
        object_replace(vm, body, slot, value, attributes);
    } else {
        flow_object_add(vm, body, key, value, attributes);
    }
}

void flow_object_define_accessor(FlowVm *vm, FlowObject *object, FlowKey key, FlowGetSet pair,
                                 uint32_t attributes) {
    FlowValue getter = pair.getter;
    FlowValue setter = pair.setter;
    FlowProperty old;
    if (flow_object_get_own(vm, object, key, &old) && old.attributes & PROPERTY_ACCESSOR) {
        if (flow_is_hole(getter)) getter = old.getter;
        if (flow_is_hole(setter)) setter = old.setter;
    }
    if (flow_is_hole(getter)) getter = FLOW_UNDEFINED;
    if (flow_is_hole(setter)) setter = FLOW_UNDEFINED;
    FlowAccessor *accessor = flow_accessor_new(vm, getter, setter);
    flow_object_define(vm, object, key, flow_from_cell(accessor),
                       (attributes & ~(uint32_t)PROPERTY_WRITABLE) | PROPERTY_ACCESSOR);
}

bool flow_object_put(FlowVm *vm, FlowObject *object, FlowKey key, FlowValue value) {
    FlowDescriptor descriptor = {
        .value = value,
        .getter = FLOW_UNDEFINED,
        .setter = FLOW_UNDEFINED,
        .attributes = PROPERTY_DEFAULT,
        .present = DESCRIPTOR_VALUE | DESCRIPTOR_WRITABLE | DESCRIPTOR_ENUMERABLE |
                   DESCRIPTOR_CONFIGURABLE,
    };
    return flow_object_define_own(vm, object, key, &descriptor);
}

void flow_object_put_cstr(FlowVm *vm, FlowObject *object, const char *name, FlowValue value) {
    flow_object_put(vm, object, flow_key_cstr(vm, name), value);
}

// Which attributes result when `d` is applied to a property with `old` attributes.
static uint32_t merged_attributes(uint32_t old, const FlowDescriptor *d) {
    uint32_t result = old;
    static const struct {
        uint32_t present;
        uint32_t attribute;
    } fields[] = {
        {DESCRIPTOR_WRITABLE, PROPERTY_WRITABLE},
        {DESCRIPTOR_ENUMERABLE, PROPERTY_ENUMERABLE},
        {DESCRIPTOR_CONFIGURABLE, PROPERTY_CONFIGURABLE},
    };
    for (size_t i = 0; i < COUNT_OF(fields); i++) {
        if (!(d->present & fields[i].present)) continue;
        result = (result & ~fields[i].attribute) | (d->attributes & fields[i].attribute);
    }
    return result;
}

// ValidateAndApplyPropertyDescriptor for a property that is not configurable.
static bool is_change_allowed(FlowVm *vm, const FlowProperty *old, const FlowDescriptor *d) {
    bool is_accessor = old->attributes & PROPERTY_ACCESSOR;
    if (d->present & DESCRIPTOR_CONFIGURABLE && d->attributes & PROPERTY_CONFIGURABLE) return false;
    if (d->present & DESCRIPTOR_ENUMERABLE &&
        (d->attributes ^ old->attributes) & PROPERTY_ENUMERABLE) {
        return false;
    }
    if (d->present & (DESCRIPTOR_GET | DESCRIPTOR_SET)) {
        if (!is_accessor) return false;
        if (d->present & DESCRIPTOR_GET && !flow_same_bits(d->getter, old->getter)) return false;
        return !(d->present & DESCRIPTOR_SET) || flow_same_bits(d->setter, old->setter);
    }
    if (d->present & (DESCRIPTOR_VALUE | DESCRIPTOR_WRITABLE)) {
        if (is_accessor) return false;
        if (old->attributes & PROPERTY_WRITABLE) return true;
        if (d->present & DESCRIPTOR_WRITABLE && d->attributes & PROPERTY_WRITABLE) return false;
        return !(d->present & DESCRIPTOR_VALUE) || flow_same_value(vm, d->value, old->value);
    }
    return true;
}

static bool array_define_length(FlowVm *vm, FlowArray *array, const FlowDescriptor *d) {
    FlowProperty old;
    flow_object_get_own(vm, &array->object, FLOW_KEY(vm, length), &old);
    if (!is_change_allowed(vm, &old, d)) return false;
    if (d->present & DESCRIPTOR_VALUE) {
        // The caller checked that it is a valid length (RangeError otherwise).
        double length = flow_is_number(d->value) ? flow_as_number(d->value) : -1;
        if (!(length >= 0 && length <= 4294967295.0)) return false;
        bool is_done = flow_array_set_length(vm, array, (uint32_t)length);
        if (!is_done) return false;
    }
    if (d->present & DESCRIPTOR_WRITABLE && !(d->attributes & PROPERTY_WRITABLE)) {
        flow_object_writable_body(vm, &array->object)->cell.aux |= OBJECT_LENGTH_READONLY;
    }
    return true;
}

static bool define_new(FlowVm *vm, FlowObject *object, FlowKey key, const FlowDescriptor *d) {
    FlowObject *body = flow_object_body(vm, object);
    if (body->cell.aux & OBJECT_NOT_EXTENSIBLE) return false;
    if (body->cell.kind == KIND_ARRAY && flow_key_is_index(key) &&
        flow_key_as_index(key) >= ((FlowArray *)body)->length &&
        body->cell.aux & OBJECT_LENGTH_READONLY) {
        return false;
    }
    uint32_t attributes = merged_attributes(0, d);
    FlowValue value = d->present & DESCRIPTOR_VALUE ? d->value : FLOW_UNDEFINED;
    if (d->present & (DESCRIPTOR_GET | DESCRIPTOR_SET)) {
        FlowValue getter = d->present & DESCRIPTOR_GET ? d->getter : FLOW_UNDEFINED;
        FlowValue setter = d->present & DESCRIPTOR_SET ? d->setter : FLOW_UNDEFINED;
        flow_object_define_accessor(vm, object, key, (FlowGetSet){getter, setter}, attributes);
        return true;
    }
    body = flow_object_writable_body(vm, object);
    if (flow_key_is_index(key)) {
        return flow_elements_put(vm, body, flow_key_as_index(key), value, attributes);
    }
    if (body->cell.aux & OBJECT_LAZY_FUNCTION) flow_function_materialize(vm, body);
    flow_object_add_computed(vm, body, key, value, attributes);
    return true;
}

bool flow_object_define_own(FlowVm *vm, FlowObject *object, FlowKey key, const FlowDescriptor *d) {
    if (object->cell.aux & OBJECT_LAZY_FUNCTION) flow_function_materialize(vm, object);
    if (object->cell.kind == KIND_ARRAY && is_key(key, FLOW_NAME(vm, length))) {
        return array_define_length(vm, (FlowArray *)object, d);
    }
    FlowProperty old;
    if (!flow_object_get_own(vm, object, key, &old)) return define_new(vm, object, key, d);
    if (!(old.attributes & PROPERTY_CONFIGURABLE) && !is_change_allowed(vm, &old, d)) return false;
    if (old.slot == UINT32_MAX && !flow_key_is_index(key)) return true; // computed, nothing changes
    if (flow_key_is_index(key) && !old.place && !(old.attributes & PROPERTY_ACCESSOR)) return true;
    uint32_t attributes = old.attributes & ~(uint32_t)PROPERTY_ACCESSOR;
    bool is_accessor = old.attributes & PROPERTY_ACCESSOR;
    if (d->present & (DESCRIPTOR_GET | DESCRIPTOR_SET)) {
        FlowValue getter = d->present & DESCRIPTOR_GET ? d->getter : FLOW_HOLE;
        FlowValue setter = d->present & DESCRIPTOR_SET ? d->setter : FLOW_HOLE;
        flow_object_define_accessor(vm, object, key, (FlowGetSet){getter, setter},
                                    merged_attributes(attributes, d));
        return true;
    }
    if (is_accessor && !(d->present & (DESCRIPTOR_VALUE | DESCRIPTOR_WRITABLE))) {
        flow_object_define_accessor(vm, object, key, (FlowGetSet){FLOW_HOLE, FLOW_HOLE},
                                    merged_attributes(attributes, d));
        return true;
    }
    FlowValue value = d->present & DESCRIPTOR_VALUE ? d->value
                      : is_accessor                 ? FLOW_UNDEFINED
                                                    : old.value;
    flow_object_define(vm, object, key, value, merged_attributes(attributes, d));
    return true;
}

// --- writing

static FlowSetResult set_found(FlowVm *vm, FlowObject *object, const FlowProperty *property,
                               FlowValue value, FlowValue *ret_setter) {
    if (property->attributes & PROPERTY_ACCESSOR) {
        *ret_setter = property->setter;
        return flow_is_undefined(property->setter) ? SET_NO_SETTER : SET_SETTER;
    }
    if (!(property->attributes & PROPERTY_WRITABLE)) return SET_READONLY;
    FlowObject *body = flow_object_writable_body(vm, object);
    if (property->holder == body && property->place) *property->place = value;
    return SET_DONE;
}

static FlowSetResult set_array_length(FlowVm *vm, FlowArray *array, FlowValue value) {
    double length = flow_is_number(value) ? flow_as_number(value) : -1;
    if (!(length >= 0 && length <= 4294967295.0 && length == floor(length))) return SET_TOO_LONG;
    return flow_array_set_length(vm, array, (uint32_t)length) ? SET_DONE : SET_READONLY;
}

static FlowSetResult set_new(FlowVm *vm, FlowObject *object, FlowKey key, FlowValue value) {
    FlowObject *body = flow_object_writable_body(vm, object);
    if (body->cell.aux & OBJECT_NOT_EXTENSIBLE) return SET_NOT_EXTENSIBLE;
    if (!flow_key_is_index(key)) {
        flow_object_add_computed(vm, body, key, value, PROPERTY_DEFAULT);
        return SET_DONE;
    }
    uint32_t index = flow_key_as_index(key);
    if (body->cell.kind == KIND_ARRAY && index >= ((FlowArray *)body)->length &&
        body->cell.aux & OBJECT_LENGTH_READONLY) {
        return SET_NOT_EXTENSIBLE;
    }
    return flow_elements_put(vm, body, index, value, PROPERTY_DEFAULT) ? SET_DONE : SET_TOO_LONG;
}

FlowSetResult flow_object_set(FlowVm *vm, FlowObject *object, FlowKey key, FlowValue value,
                              FlowValue *ret_setter) {
    FlowProperty property;
    if (object->cell.aux & OBJECT_LAZY_FUNCTION) flow_function_materialize(vm, object);
    if (flow_object_get_own(vm, object, key, &property)) {
        bool is_length = object->cell.kind == KIND_ARRAY && is_key(key, FLOW_NAME(vm, length));
        if (is_length && property.attributes & PROPERTY_WRITABLE) {
            return set_array_length(vm, (FlowArray *)object, value);
        }
        bool needs_copy = object->cell.flags & CELL_SHARED && property.holder == object &&
                          !vm->building && property.attributes & PROPERTY_WRITABLE;
        if (needs_copy) {
            flow_object_writable_body(vm, object);
            flow_object_get_own(vm, object, key, &property);
        }
        return set_found(vm, object, &property, value, ret_setter);
    }
    FlowObject *proto = flow_object_proto(vm, object);
    if (proto && flow_object_lookup(vm, proto, key, &property)) {
        bool blocks =
            property.attributes & PROPERTY_ACCESSOR || !(property.attributes & PROPERTY_WRITABLE);
        if (blocks) return set_found(vm, object, &property, value, ret_setter);
    }
    return set_new(vm, object, key, value);
}

bool flow_object_delete(FlowVm *vm, FlowObject *object, FlowKey key) {
    if (object->cell.aux & OBJECT_LAZY_FUNCTION) flow_function_materialize(vm, object);
    FlowProperty property;
    if (!flow_object_get_own(vm, object, key, &property)) return true;
    if (!(property.attributes & PROPERTY_CONFIGURABLE)) return false;
    FlowObject *body = flow_object_writable_body(vm, object);
    if (flow_key_is_index(key)) {
        flow_elements_remove(vm, body, flow_key_as_index(key));
        return true;
    }
    flow_object_touch_proto(vm, body);
    flow_object_to_dictionary(vm, body);
    uint32_t slot;
    uint32_t attributes;
    bool is_found = flow_shape_find(body->shape, key, &slot, &attributes);
    ASSERT(is_found);
    flow_shape_remove(body->shape, slot);
    body->slots[slot] = FLOW_UNDEFINED;
    flow_object_compact(vm, body);
    return true;
}

// --- own keys

static void keys_add_elements(FlowVm *vm, FlowObject *object, FlowObject *body, uint32_t which,
                              FlowArray *keys) {
    if (object->cell.kind == KIND_STRING_OBJECT) {
        FlowValue text = ((FlowSlotObject *)object)->internal[0];
        for (uint32_t i = 0; i < flow_string_length(flow_as_string(text)); i++) {
            flow_array_push(vm, keys, flow_key_to_value(vm, flow_key_index(i)));
        }
    }
    for (uint32_t i = flow_elements_next(body, 0); i != UINT32_MAX;
         i = flow_elements_next(body, i + 1)) {
        FlowProperty element;
        flow_elements_get(body, i, &element);
        bool is_wanted =
            !(which & KEYS_ENUMERABLE_ONLY) || element.attributes & PROPERTY_ENUMERABLE;
        if (is_wanted) flow_array_push(vm, keys, flow_key_to_value(vm, flow_key_index(i)));
    }
}

static void keys_add_named(FlowVm *vm, FlowObject *body, uint32_t which, bool symbols,
                           FlowArray *keys) {
    const FlowShape *shape = body->shape;
    for (uint32_t i = 0; i < shape->count; i++) {
        const struct FlowKeyEntry *entry = &shape->keys->entries[i];
        if (!entry->key.bits || flow_key_is_symbol(entry->key) != symbols) continue;
        if (flow_key_is_private(entry->key)) continue;
        if (which & KEYS_ENUMERABLE_ONLY && !(entry->attributes & PROPERTY_ENUMERABLE)) continue;
        flow_array_push(vm, keys, (FlowValue){entry->key.bits});
    }
}

FlowArray *flow_object_keys(FlowVm *vm, FlowObject *object, uint32_t which) {
    FlowObject *body = flow_object_body(vm, object);
    if (body->cell.aux & OBJECT_LAZY_FUNCTION && !(which & KEYS_ENUMERABLE_ONLY)) {
        flow_function_materialize(vm, body);
    }
    FlowArray *keys = flow_array_new(vm, body->shape->count);
    if (which & KEYS_STRINGS) {
        keys_add_elements(vm, object, body, which, keys);
        bool has_length = body->cell.kind == KIND_ARRAY || object->cell.kind == KIND_STRING_OBJECT;
        if (has_length && !(which & KEYS_ENUMERABLE_ONLY)) {
            flow_array_push(vm, keys, FLOW_NAME(vm, length));
        }
        keys_add_named(vm, body, which, false, keys);
    }
    if (which & KEYS_SYMBOLS) keys_add_named(vm, body, which, true, keys);
    return keys;
}

// Classes, private names, closures, object spread: instructions that build things.
//
//   [interp-class-1] A class is two objects, constructor and prototype; the block of NEW_CLASS
//        holds both while its elements are defined.
//   [interp-class-2] Private members are own properties under a private symbol: never listed, never
//        found on a prototype, not touched by freezing.
#include "base/memory.h"
#include "flow/code/opcodes.h"
#include "flow/value/object_layout.h"
#include "flow/vm/interp_internal.h"
#include <stdio.h>

bool interp_closure(FlowVm *vm, FlowInstruction in) {
    FlowFrame *frame = interp_frame(vm);
    const FlowRoutine *maker = frame->closure->routine;
    const FlowRoutine *routine = &maker->module->routines[in.wide];
    FlowClosure *closure = flow_closure_new(vm, routine);
    for (uint32_t i = 0; i < routine->upvalue_count; i++) {
        const FlowUpvalue *upvalue = &routine->upvalues[i];
        closure->upvalues[i] = upvalue->is_local ? vm->stack[frame->base + upvalue->index]
                                                 : frame->closure->upvalues[upvalue->index];
    }
    vm->stack[frame->base + in.a] = flow_from_object(closure);
    return true;
}

static FlowObject *template_array(FlowVm *vm, const FlowValue *values, uint32_t count) {
    return &flow_array_from(vm, values, count)->object;
}

bool interp_template_object(FlowVm *vm, FlowInstruction in) {
    FlowFrame *frame = interp_frame(vm);
    const FlowRoutine *routine = frame->closure->routine;
    uint32_t index = (uint32_t)in.wide;
    FlowObject *object = NULL;
    for (uint32_t i = 0; i < vm->template_count && !object; i++) {
        const FlowTemplateObject *cached = &vm->templates[i];
        if (cached->routine == routine && cached->index == index) object = cached->object;
    }
    if (!object) {
        const FlowTemplate *site = &routine->templates[index];
        object = template_array(vm, site->cooked, site->count);
        FlowObject *raw = template_array(vm, site->raw, site->count);
        flow_object_freeze(vm, raw, false);
        flow_object_define(vm, object, FLOW_KEY(vm, raw), flow_from_object(raw), 0);
        flow_object_freeze(vm, object, false);
        if (vm->template_count == vm->template_capacity) {
            vm->template_capacity = vm->template_capacity ? vm->template_capacity * 2 : 4;
            vm->templates =
                mem_realloc(vm->templates, vm->template_capacity * sizeof *vm->templates);
        }
        vm->templates[vm->template_count++] = (FlowTemplateObject){routine, index, object};
    }
    vm->stack[frame->base + in.a] = flow_from_object(object);
    return true;
}

// --- classes

static bool class_parents(FlowVm *vm, FlowValue super, FlowObject **ret_proto,
                          FlowObject **ret_constructor) {
    *ret_constructor = vm->realm->protos[PROTO_FUNCTION];
    *ret_proto = vm->realm->protos[PROTO_OBJECT];
    if (flow_is_hole(super)) return true;
    if (flow_is_null(super)) {
        *ret_proto = NULL;
        return true;
    }
    char text[FLOW_TEXT_MAX];
    if (!flow_is_constructor(super)) {
        return flow_throw_type(vm, "Class extends value %s is not a constructor or null",
                               flow_describe(vm, super, text));
    }
    *ret_constructor = flow_as_object(super);
    FlowValue proto = flow_object_get_data(vm, *ret_constructor, FLOW_KEY(vm, prototype));
    if (!flow_is_object(proto) && !flow_is_null(proto)) {
        return flow_throw_type(vm, "Class extends value does not have valid prototype property %s",
                               flow_describe(vm, proto, text));
    }
    *ret_proto = flow_is_null(proto) ? NULL : flow_as_object(proto);
    return true;
}

bool interp_new_class(FlowVm *vm, FlowInstruction in) {
    FlowValue *block = vm->stack + interp_base(vm) + in.a;
    FlowClosure *constructor = flow_as_pointer(block[1]);
    FlowObject *parent_proto;
    FlowObject *parent;
    if (!class_parents(vm, block[0], &parent_proto, &parent)) return false;
    FlowObject *proto = flow_object_new(vm, parent_proto);
    FlowObject *object = &constructor->object;
    FlowValue name = flow_function_lazy_name(vm, object);
    object->cell.aux &= ~(uint32_t)OBJECT_LAZY_FUNCTION;
    flow_object_set_proto(vm, object, parent);
    flow_object_define(vm, object, FLOW_KEY(vm, length), flow_int(constructor->routine->length),
                       PROPERTY_CONFIGURABLE);
    flow_object_define(vm, object, FLOW_KEY(vm, name), name, PROPERTY_CONFIGURABLE);
    flow_object_define(vm, object, FLOW_KEY(vm, prototype), flow_from_object(proto), 0);
    flow_object_define(vm, proto, FLOW_KEY(vm, constructor), block[1], PROPERTY_HIDDEN);
    constructor->home = proto;
    block[0] = block[1];
    block[1] = flow_from_object(proto);
    return true;
}

static FlowKey key_register(FlowVm *vm, uint32_t index) {
    FlowKey key = FLOW_KEY(vm, undefined); // of a damaged snapshot: an object is no key
    flow_key_from_value(vm, vm->stack[index], &key);
    return key;
}

static void set_home(FlowValue function, FlowObject *home) {
    if (flow_is_kind(function, KIND_CLOSURE)) {
        ((FlowClosure *)flow_as_pointer(function))->home = home;
    }
}

bool interp_define_method(FlowVm *vm, FlowInstruction in) {
    uint32_t base = interp_base(vm);
    FlowObject *object = flow_as_object(vm->stack[base + in.a]);
    FlowValue function = vm->stack[base + in.c];
    FlowKey key = key_register(vm, base + in.b);
    FlowProperty old;
    if (flow_object_get_own(vm, object, key, &old) && !(old.attributes & PROPERTY_CONFIGURABLE)) {
        char text[FLOW_TEXT_MAX]; // static prototype() {}
        return flow_throw_type(vm, "Cannot redefine property: %s",
                               flow_describe_key(vm, key, text));
    }
    set_home(function, object);
    flow_object_define(vm, object, key, function, PROPERTY_HIDDEN);
    return true;
}

bool interp_define_accessor(FlowVm *vm, FlowInstruction in) {
    uint32_t base = interp_base(vm);
    FlowObject *object = flow_as_object(vm->stack[base + in.a]);
    FlowValue function = vm->stack[base + in.c];
    bool is_getter = in.op == OP_DEFINE_GETTER || in.op == OP_DEFINE_CLASS_GETTER;
    bool is_class = in.op == OP_DEFINE_CLASS_GETTER || in.op == OP_DEFINE_CLASS_SETTER;
    set_home(function, object);
    uint32_t attributes = PROPERTY_CONFIGURABLE | (is_class ? 0 : (uint32_t)PROPERTY_ENUMERABLE);
    FlowGetSet pair = {FLOW_HOLE, FLOW_HOLE};
    if (is_getter) pair.getter = function;
    else pair.setter = function;
    flow_object_define_accessor(vm, object, key_register(vm, base + in.b), pair, attributes);
    return true;
}

bool interp_set_function_name(FlowVm *vm, FlowInstruction in) {
    static const char *const prefixes[] = {"", "get ", "set "};
    uint32_t base = interp_base(vm);
    FlowValue function = vm->stack[base + in.a];
    if (!flow_is_kind(function, KIND_CLOSURE)) return true;
    FlowValue name =
        flow_function_name_of_key(vm, vm->stack[base + in.b], prefixes[in.c < 3 ? in.c : 0]);
    FlowClosure *closure = flow_as_pointer(function);
    if (closure->object.cell.aux & OBJECT_LAZY_FUNCTION) {
        closure->name = name;
    } else {
        flow_object_define(vm, &closure->object, FLOW_KEY(vm, name), name, PROPERTY_CONFIGURABLE);
    }
    return true;
}

bool interp_init_fields(FlowVm *vm, FlowInstruction in) {
    const FlowValue *block = vm->stack + interp_base(vm) + in.a;
    if (!flow_is_kind(block[0], KIND_CLOSURE)) return true;
    FlowValue fields = ((FlowClosure *)flow_as_pointer(block[0]))->fields;
    if (!flow_is_callable(fields)) return true;
    return flow_vm_push_call(vm, &(FlowCall){.function = fields,
                                             .this_value = block[1],
                                             .new_target = FLOW_UNDEFINED,
                                             .return_kind = RETURN_DISCARD});
}

static FlowValue function_name(FlowVm *vm, FlowValue function) {
    if (!flow_is_callable(function)) return FLOW_UNDEFINED;
    FlowValue name = flow_object_get_data(vm, flow_as_object(function), FLOW_KEY(vm, name));
    bool has_name = flow_is_string(name) && flow_string_length(flow_as_string(name));
    return has_name ? name : FLOW_UNDEFINED;
}

static bool throw_super(FlowVm *vm, FlowValue constructor, FlowValue parent) {
    char parent_text[FLOW_TEXT_MAX];
    char text[FLOW_TEXT_MAX];
    FlowValue parent_name = flow_is_callable(parent) ? function_name(vm, parent) : parent;
    if (flow_is_undefined(parent_name)) parent_name = FLOW_NULL; // as V8 shows it
    flow_describe(vm, parent_name, parent_text);
    FlowValue name = function_name(vm, constructor);
    if (flow_is_undefined(name)) {
        return flow_throw_type(vm, "Super constructor %s of anonymous class is not a constructor",
                               parent_text);
    }
    return flow_throw_type(vm, "Super constructor %s of class '%s' is not a constructor",
                           parent_text, flow_describe(vm, name, text));
}

bool interp_get_super_constructor(FlowVm *vm, FlowInstruction in) {
    uint32_t base = interp_base(vm);
    FlowObject *parent = flow_object_proto(vm, flow_as_object(vm->stack[base + in.b]));
    FlowValue value = parent ? flow_from_object(parent) : FLOW_NULL;
    if (!flow_is_constructor(value)) return throw_super(vm, vm->stack[base + in.b], value);
    vm->stack[base + in.a] = value;
    return true;
}

// --- private names

static bool throw_private(FlowVm *vm, const char *format_start, FlowKey key, const char *middle) {
    char text[FLOW_TEXT_MAX];
    return flow_throw_type(vm, "%s %s %s", format_start, flow_describe_key(vm, key, text), middle);
}

static bool is_method_name(FlowKey key) {
    return flow_as_symbol((FlowValue){key.bits})->cell.aux & SYMBOL_METHOD;
}

static bool throw_brand(FlowVm *vm) {
    FlowObject *home = interp_frame(vm)->closure->home;
    FlowValue constructor = FLOW_UNDEFINED;
    if (home && flow_is_callable(flow_from_object(home))) constructor = flow_from_object(home);
    else if (home) constructor = flow_object_get_data(vm, home, FLOW_KEY(vm, constructor));
    FlowValue name = function_name(vm, constructor);
    char text[FLOW_TEXT_MAX];
    return flow_throw_type(vm, "Receiver must be %s%s",
                           flow_is_undefined(name) ? "an instance of class anonymous"
                                                   : "an instance of class ",
                           flow_is_undefined(name) ? "" : flow_describe(vm, name, text));
}

static bool private_get(FlowVm *vm, FlowInstruction in) {
    uint32_t base = interp_base(vm);
    FlowValue object = vm->stack[base + in.b];
    FlowKey key = key_register(vm, base + in.c);
    FlowProperty property;
    if (flow_is_nullish(object)) return flow_throw_read(vm, object, key);
    if (flow_is_object(object)) interp_lookup(vm, flow_as_object(object), key); // for next time
    if (!flow_is_object(object) ||
        !flow_object_get_own(vm, flow_as_object(object), key, &property)) {
        if (is_method_name(key)) return throw_brand(vm);
        return throw_private(vm, "Cannot read private member", key,
                             "from an object whose class did not declare it");
    }
    if (!(property.attributes & PROPERTY_ACCESSOR)) {
        vm->stack[base + in.a] = property.value;
        return true;
    }
    if (flow_is_undefined(property.getter)) {
        char text[FLOW_TEXT_MAX];
        return flow_throw_type(vm, "'%s' was defined without a getter",
                               flow_describe_key(vm, key, text));
    }
    return flow_vm_push_call(vm, &(FlowCall){.function = property.getter,
                                             .this_value = object,
                                             .new_target = FLOW_UNDEFINED,
                                             .return_kind = RETURN_STORE,
                                             .return_to = base + in.a});
}

static bool private_set(FlowVm *vm, FlowInstruction in) {
    uint32_t base = interp_base(vm);
    FlowValue object = vm->stack[base + in.a];
    FlowKey key = key_register(vm, base + in.b);
    FlowValue value = vm->stack[base + in.c];
    FlowProperty property;
    if (flow_is_nullish(object)) return flow_throw_write(vm, object, key);
    if (flow_is_object(object)) interp_lookup(vm, flow_as_object(object), key);
    if (!flow_is_object(object) ||
        !flow_object_get_own(vm, flow_as_object(object), key, &property)) {
        if (is_method_name(key)) return throw_brand(vm);
        return throw_private(vm, "Cannot write private member", key,
                             "to an object whose class did not declare it");
    }
    char text[FLOW_TEXT_MAX];
    if (property.attributes & PROPERTY_ACCESSOR) {
        if (flow_is_undefined(property.setter)) {
            return flow_throw_type(vm, "'%s' was defined without a setter",
                                   flow_describe_key(vm, key, text));
        }
        return flow_vm_push_call(vm, &(FlowCall){.function = property.setter,
                                                 .this_value = object,
                                                 .arguments = &value,
                                                 .count = 1,
                                                 .new_target = FLOW_UNDEFINED,
                                                 .return_kind = RETURN_DISCARD});
    }
    if (!(property.attributes & PROPERTY_WRITABLE)) {
        return flow_throw_type(vm, "Private method '%s' is not writable",
                               flow_describe_key(vm, key, text));
    }
    *property.place = value;
    return true;
}

static bool private_define(FlowVm *vm, FlowInstruction in) {
    uint32_t base = interp_base(vm);
    FlowObject *object = flow_as_object(vm->stack[base + in.a]);
    FlowKey key = key_register(vm, base + in.b);
    FlowValue value = vm->stack[base + in.c];
    bool is_accessor = in.op == OP_DEFINE_PRIVATE_GETTER || in.op == OP_DEFINE_PRIVATE_SETTER;
    FlowProperty old;
    bool is_there = flow_object_get_own(vm, object, key, &old);
    bool is_pair = is_accessor && is_there && old.attributes & PROPERTY_ACCESSOR;
    bool is_getter = in.op == OP_DEFINE_PRIVATE_GETTER;
    if (is_pair) is_pair = flow_is_undefined(is_getter ? old.getter : old.setter);
    if (is_there && !is_pair) {
        return flow_throw_type(vm, "Cannot initialize %s twice on the same object",
                               flow_describe_key(vm, key, (char[FLOW_TEXT_MAX]){0}));
    }
    if (is_accessor) {
        FlowGetSet pair = {FLOW_HOLE, FLOW_HOLE};
        if (is_getter) pair.getter = value;
        else pair.setter = value;
        flow_object_define_accessor(vm, object, key, pair, 0);
    } else {
        flow_object_define(vm, object, key, value,
                           in.op == OP_DEFINE_PRIVATE ? PROPERTY_WRITABLE : 0);
    }
    return true;
}

bool interp_private(FlowVm *vm, FlowInstruction in) {
    uint32_t base = interp_base(vm);
    switch (in.op) {
    case OP_GET_PRIVATE: return private_get(vm, in);
    case OP_SET_PRIVATE: return private_set(vm, in);
    case OP_HAS_PRIVATE: {
        FlowValue object = vm->stack[base + in.b];
        FlowKey key = key_register(vm, base + in.c);
        if (!flow_is_object(object)) {
            return flow_throw_type(vm, "Cannot use 'in' operator to search for '%s' in %s",
                                   flow_describe_key(vm, key, (char[FLOW_TEXT_MAX]){0}),
                                   flow_describe(vm, object, (char[FLOW_TEXT_MAX]){0}));
        }
        vm->stack[base + in.a] = flow_bool(flow_object_has_own(vm, flow_as_object(object), key));
        return true;
    }
    default: return private_define(vm, in);
    }
}

// --- object spread and rest

// Copies own enumerable data properties; false when one is an accessor (nothing was copied then
// that the helper would not copy again).
static bool copy_plain(FlowVm *vm, FlowObject *target, FlowObject *source) {
    FlowObject *body = flow_object_body(vm, source);
    const FlowShape *shape = body->shape;
    for (uint32_t i = 0; i < shape->count; i++) {
        const struct FlowKeyEntry *entry = &shape->keys->entries[i];
        if (entry->attributes & PROPERTY_ACCESSOR && entry->key.bits) return false;
    }
    if (flow_sparse(body) || source->cell.kind == KIND_STRING_OBJECT) return false;
    FlowStorage *dense = flow_dense(body);
    for (uint32_t i = 0; dense && i < dense->count; i++) {
        if (flow_is_hole(dense->values[i])) continue;
        flow_object_define(vm, target, flow_key_index(i), dense->values[i], PROPERTY_DEFAULT);
    }
    for (int symbols = 0; symbols < 2; symbols++) {
        for (uint32_t i = 0; i < shape->count; i++) {
            const struct FlowKeyEntry *entry = &shape->keys->entries[i];
            if (!entry->key.bits || !(entry->attributes & PROPERTY_ENUMERABLE)) continue;
            if (flow_key_is_symbol(entry->key) != (symbols == 1)) continue;
            if (flow_key_is_private(entry->key)) continue;
            flow_object_define(vm, target, entry->key, body->slots[i], PROPERTY_DEFAULT);
        }
    }
    return true;
}

bool interp_copy_properties(FlowVm *vm, FlowInstruction in) {
    uint32_t base = interp_base(vm);
    FlowValue source = vm->stack[base + in.b];
    if (!flow_is_object(source) && !flow_is_string(source)) return true;
    FlowObject *target = flow_as_object(vm->stack[base + in.a]);
    if (flow_is_object(source) && copy_plain(vm, target, flow_as_object(source))) return true;
    return flow_vm_push_helper(vm, &(FlowHelperCall){.helper = HELPER_copyProperties,
                                                     .count = 2,
                                                     .arguments = {vm->stack[base + in.a], source},
                                                     .return_kind = RETURN_DISCARD});
}

bool interp_object_rest(FlowVm *vm, FlowInstruction in) {
    uint32_t base = interp_base(vm);
    return flow_vm_push_helper(
        vm, &(FlowHelperCall){.helper = HELPER_objectRest,
                              .count = 2,
                              .arguments = {vm->stack[base + in.b], vm->stack[base + in.c]},
                              .return_kind = RETURN_STORE,
                              .return_to = base + in.a});
}

bool interp_require_object(FlowVm *vm, FlowInstruction in) {
    FlowFrame *frame = interp_frame(vm);
    FlowValue value = vm->stack[frame->base + in.a];
    if (!flow_is_nullish(value)) return true;
    const FlowRoutine *routine = frame->closure->routine;
    FlowValue key = routine->constants[in.wide];
    FlowValue source = flow_routine_description(routine, frame->pc - 1);
    const char *what = flow_is_null(value) ? "null" : "undefined";
    char name[FLOW_TEXT_MAX];
    char text[FLOW_TEXT_MAX];
    if (flow_is_hole(source) && flow_is_null(value)) snprintf(text, sizeof text, "object null");
    else flow_describe(vm, flow_is_hole(source) ? value : source, text);
    if (!flow_is_string(key)) {
        return flow_throw_type(vm, "Cannot destructure '%s' as it is %s.", text, what);
    }
    return flow_throw_type(vm, "Cannot destructure property '%s' of '%s' as it is %s.",
                           flow_describe(vm, key, name), text, what);
}

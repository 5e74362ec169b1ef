// Function objects: closures, natives and what is lazy about them.
//
// Most functions are never looked at as objects, so length, name and prototype are made when
// somebody asks. Until then OBJECT_LAZY_FUNCTION is set and the shape is the empty one.
//
//   [value-function-1] The order of the lazy properties is length, name, prototype, as V8 has it.
//   [value-function-2] A `prototype` is made for functions that may be called with new, and for
//        generators.
#include "flow/value/object_layout.h"
#include "flow/vm/native.h"
#include "flow/vm/vm.h"

static FlowProtoId closure_proto_id(const FlowRoutine *routine) {
    bool is_async = routine->flags & ROUTINE_ASYNC;
    if (routine->flags & ROUTINE_GENERATOR) {
        return is_async ? PROTO_ASYNC_GENERATOR_FUNCTION : PROTO_GENERATOR_FUNCTION;
    }
    return is_async ? PROTO_ASYNC_FUNCTION : PROTO_FUNCTION;
}

FlowClosure *flow_closure_new(FlowVm *vm, const FlowRoutine *routine) {
    FlowObject *proto = vm->realm->protos[closure_proto_id(routine)];
    size_t size = sizeof(FlowClosure) + routine->upvalue_count * sizeof(FlowValue);
    FlowClosure *closure = (FlowClosure *)flow_object_alloc(vm, KIND_CLOSURE, size, proto);
    closure->object.slots = NULL;
    closure->object.cell.aux |= OBJECT_LAZY_FUNCTION;
    if (routine->flags & ROUTINE_CONSTRUCTOR) {
        closure->object.cell.aux |= OBJECT_CLASS_CONSTRUCTOR;
    }
    closure->routine = routine;
    closure->fields = FLOW_UNDEFINED;
    closure->name = FLOW_HOLE;
    return closure;
}

FlowNativeFunction *flow_native_function_new(FlowVm *vm, const FlowNativeEntry *entry) {
    FlowNativeFunction *function = (FlowNativeFunction *)flow_object_alloc(
        vm, KIND_NATIVE_FUNCTION, sizeof *function, vm->realm->protos[PROTO_FUNCTION]);
    function->object.slots = NULL;
    function->object.cell.aux |= OBJECT_LAZY_FUNCTION;
    function->entry = entry;
    for (int i = 0; i < 4; i++) function->data[i] = FLOW_UNDEFINED;
    return function;
}

FlowValue flow_function_lazy_name(FlowVm *vm, FlowObject *function) {
    if (function->cell.kind == KIND_CLOSURE) {
        FlowClosure *closure = (FlowClosure *)function;
        return flow_is_hole(closure->name) ? closure->routine->name : closure->name;
    }
    if (function->cell.kind == KIND_NATIVE_FUNCTION) {
        // A table name that is no identifier ("@@iterator", "%resolve") is given by the realm.
        const char *name = ((FlowNativeFunction *)function)->entry->name;
        if (name[0] == '%') return FLOW_NAME(vm, empty);
        return flow_from_string(flow_string_cstr(vm, name));
    }
    return FLOW_NAME(vm, empty);
}

uint32_t flow_function_lazy_length(FlowObject *function) {
    if (function->cell.kind == KIND_CLOSURE) return ((FlowClosure *)function)->routine->length;
    return ((FlowNativeFunction *)function)->entry->length;
}

bool flow_is_constructor(FlowValue value) {
    if (!flow_is_callable(value)) return false;
    FlowObject *object = flow_as_object(value);
    while (object->cell.kind == KIND_BOUND_FUNCTION) {
        object = flow_as_object(((FlowBoundFunction *)object)->target);
    }
    if (object->cell.kind == KIND_CLOSURE) {
        return !(((FlowClosure *)object)->routine->flags &
                 (ROUTINE_ARROW | ROUTINE_METHOD | ROUTINE_ASYNC | ROUTINE_GENERATOR));
    }
    return ((FlowNativeFunction *)object)->entry->flags & NATIVE_CONSTRUCTOR;
}

static void materialize_prototype(FlowVm *vm, FlowObject *function) {
    FlowValue value = flow_from_object(function);
    if (function->cell.kind != KIND_CLOSURE) return;
    uint32_t flags = ((FlowClosure *)function)->routine->flags;
    FlowKey key = FLOW_KEY(vm, prototype);
    if (flags & ROUTINE_GENERATOR) { // [value-function-2]
        FlowProtoId id = flags & ROUTINE_ASYNC ? PROTO_ASYNC_GENERATOR : PROTO_GENERATOR;
        FlowObject *proto = flow_object_new_sized(vm, vm->realm->protos[id], 0);
        flow_object_define(vm, function, key, flow_from_object(proto), PROPERTY_WRITABLE);
    } else if (flow_is_constructor(value)) {
        FlowObject *proto = flow_object_new_sized(vm, vm->realm->protos[PROTO_OBJECT], 4);
        flow_object_define(vm, proto, FLOW_KEY(vm, constructor), value, PROPERTY_HIDDEN);
        bool is_class = flags & ROUTINE_CONSTRUCTOR;
        flow_object_define(vm, function, key, flow_from_object(proto),
                           is_class ? 0 : PROPERTY_WRITABLE);
    }
}

void flow_function_materialize(FlowVm *vm, FlowObject *function) {
    if (!(function->cell.aux & OBJECT_LAZY_FUNCTION)) return;
    FlowValue name = flow_function_lazy_name(vm, function);
    uint32_t length = flow_function_lazy_length(function);
    function->cell.aux &= ~(uint32_t)OBJECT_LAZY_FUNCTION;
    flow_object_define(vm, function, FLOW_KEY(vm, length), flow_int((int32_t)length),
                       PROPERTY_CONFIGURABLE);
    flow_object_define(vm, function, FLOW_KEY(vm, name), name, PROPERTY_CONFIGURABLE);
    materialize_prototype(vm, function);
}

// "get x", "[Symbol.iterator]", "#x": what SetFunctionName makes of a key.
FlowValue flow_function_name_of_key(FlowVm *vm, FlowValue key, const char *prefix) {
    FlowString *text;
    if (flow_is_symbol(key)) {
        FlowSymbol *symbol = flow_as_symbol(key);
        if (flow_is_undefined(symbol->description)) {
            text = flow_string_empty(vm);
        } else if (symbol->cell.aux & SYMBOL_PRIVATE) {
            text = flow_as_string(symbol->description);
        } else {
            text = flow_string_concat(vm, flow_string_cstr(vm, "["),
                                      flow_as_string(symbol->description));
            if (text) text = flow_string_concat(vm, text, flow_string_cstr(vm, "]"));
        }
    } else {
        text = flow_to_string(vm, key);
    }
    if (text && *prefix) text = flow_string_concat(vm, flow_string_cstr(vm, prefix), text);
    return text ? flow_from_string(text) : FLOW_NAME(vm, empty);
}

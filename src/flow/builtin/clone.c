// structuredClone: the intrinsics. The walk itself is in prelude/clone.js, because it reads
// properties, which may run getters; here is what needs to look inside objects.
//
// Copies have the prototypes of the realm, whatever the originals had. What cannot be copied is
// refused with the name DataCloneError, as the web has it.
#include "base/array.h"
#include "flow/builtin/objects.h"
#include "flow/builtin/primitives.h"
#include "flow/vm/vm.h"

// What %cloneKind answers; prelude/clone.js switches on the numbers.
enum {
    CLONE_SAME = 0,    // primitives
    CLONE_REFUSED = 1, // functions, symbols, promises, weak collections, generators …
    CLONE_ARRAY = 2,
    CLONE_OBJECT = 3,
    CLONE_SLOTS = 4, // boxed primitives, Date, RegExp: a new object with the same inner state
    CLONE_MAP = 5,
    CLONE_SET = 6,
    CLONE_ERROR = 7,
};

static FlowNativeResult clone_kind(FlowVm *vm, FlowNativeCall *call) {
    (void)vm;
    FlowValue value = flow_argument(call, 0);
    int32_t kind = CLONE_REFUSED;
    if (!flow_is_object(value)) {
        kind = flow_is_symbol(value) ? CLONE_REFUSED : CLONE_SAME;
    } else {
        switch (flow_kind_of(value)) {
        case KIND_ARRAY: kind = CLONE_ARRAY; break;
        case KIND_OBJECT:
        case KIND_ARGUMENTS: kind = CLONE_OBJECT; break;
        case KIND_BOOLEAN_OBJECT:
        case KIND_NUMBER_OBJECT:
        case KIND_STRING_OBJECT:
        case KIND_BIGINT_OBJECT:
        case KIND_DATE:
        case KIND_REGEXP: kind = CLONE_SLOTS; break;
        case KIND_MAP: kind = CLONE_MAP; break;
        case KIND_SET: kind = CLONE_SET; break;
        case KIND_ERROR: kind = CLONE_ERROR; break;
        default: break;
        }
    }
    return flow_native_return(call, flow_int(kind));
}

static FlowProtoId slots_proto(FlowKind kind) {
    switch (kind) {
    case KIND_BOOLEAN_OBJECT: return PROTO_BOOLEAN;
    case KIND_NUMBER_OBJECT: return PROTO_NUMBER;
    case KIND_STRING_OBJECT: return PROTO_STRING;
    case KIND_BIGINT_OBJECT: return PROTO_BIGINT;
    case KIND_DATE: return PROTO_DATE;
    case KIND_REGEXP: return PROTO_REGEXP;
    default: UNREACHABLE();
    }
}

// %cloneSlots(object)
static FlowNativeResult clone_slots(FlowVm *vm, FlowNativeCall *call) {
    const FlowSlotObject *source = flow_as_pointer(flow_argument(call, 0));
    FlowKind kind = (FlowKind)source->object.cell.kind;
    FlowSlotObject *copy = flow_slot_object_new(vm, kind, vm->realm->protos[slots_proto(kind)]);
    copy->internal[0] = source->internal[0];
    if (kind == KIND_REGEXP) { // the compiled form is made again when it is first used
        copy->internal[1] = source->internal[1];
        flow_object_define(vm, &copy->object, FLOW_KEY(vm, lastIndex), flow_int(0),
                           PROPERTY_WRITABLE);
    }
    return flow_native_return(call, flow_from_object(copy));
}

// %cloneCollection(object): an empty Map or Set of the same kind.
static FlowNativeResult clone_collection(FlowVm *vm, FlowNativeCall *call) {
    bool is_map = flow_is_kind(flow_argument(call, 0), KIND_MAP);
    FlowSlotObject *copy = flow_slot_object_new(vm, is_map ? KIND_MAP : KIND_SET,
                                                vm->realm->protos[is_map ? PROTO_MAP : PROTO_SET]);
    copy->internal[0] = flow_from_cell(flow_table_new(vm, 0));
    return flow_native_return(call, flow_from_object(copy));
}

// %cloneMemory(): the map from originals to copies, out of reach of scripts.
static FlowNativeResult clone_memory(FlowVm *vm, FlowNativeCall *call) {
    FlowSlotObject *map = flow_slot_object_new(vm, KIND_MAP, NULL);
    map->internal[0] = flow_from_cell(flow_table_new(vm, 0));
    return flow_native_return(call, flow_from_object(map));
}

// %cloneFind(memory, object): the copy, or undefined.
static FlowNativeResult clone_find(FlowVm *vm, FlowNativeCall *call) {
    const FlowSlotObject *memory = flow_as_pointer(flow_argument(call, 0));
    FlowTableEntry *entry =
        flow_table_find(vm, flow_as_pointer(memory->internal[0]), flow_argument(call, 1));
    return flow_native_return(call, entry ? entry->value : FLOW_UNDEFINED);
}

static FlowProtoId error_proto(FlowVm *vm, FlowValue name) {
    static const struct {
        const char *name;
        FlowProtoId id;
    } names[] = {
        {"EvalError", PROTO_EVAL_ERROR},     {"RangeError", PROTO_RANGE_ERROR},
        {"TypeError", PROTO_TYPE_ERROR},     {"ReferenceError", PROTO_REFERENCE_ERROR},
        {"SyntaxError", PROTO_SYNTAX_ERROR}, {"URIError", PROTO_URI_ERROR},
    };
    for (size_t i = 0; flow_is_string(name) && i < COUNT_OF(names); i++) {
        if (flow_string_equals_ascii(vm, flow_as_string(name), names[i].name)) return names[i].id;
    }
    return PROTO_ERROR;
}

// %cloneError(source, name): message and stack are copied when they are own data properties.
static FlowNativeResult clone_error(FlowVm *vm, FlowNativeCall *call) {
    FlowObject *source = flow_as_object(flow_argument(call, 0));
    FlowProperty field;
    FlowValue message = FLOW_UNDEFINED;
    if (flow_object_get_own(vm, source, FLOW_KEY(vm, message), &field) &&
        flow_is_string(field.value)) {
        message = field.value;
    }
    FlowObject *proto = vm->realm->protos[error_proto(vm, flow_argument(call, 1))];
    FlowErrorObject *copy = flow_error_alloc(vm, proto, message);
    if (flow_object_get_own(vm, source, FLOW_KEY(vm, stack), &field) &&
        flow_is_string(field.value)) {
        flow_object_define(vm, &copy->object, FLOW_KEY(vm, stack), field.value, PROPERTY_HIDDEN);
    }
    return flow_native_return(call, flow_from_object(copy));
}

// %cloneRefuse(value)
static FlowNativeResult clone_refuse(FlowVm *vm, FlowNativeCall *call) {
    char text[FLOW_TEXT_MAX];
    FlowValue value = flow_argument(call, 0);
    flow_throw_error(vm, ERROR_KIND_ERROR, "%s could not be cloned.",
                     flow_describe(vm, value, text));
    FlowObject *error = flow_as_object(vm->exception);
    flow_object_define(vm, error, FLOW_KEY(vm, name),
                       flow_from_string(flow_string_cstr(vm, "DataCloneError")), PROPERTY_HIDDEN);
    flow_object_define(vm, error, FLOW_KEY(vm, code), flow_int(25), PROPERTY_HIDDEN);
    return NATIVE_THROW;
}

const FlowNativeEntry flow_intrinsics_clone[] = {
    NATIVE("cloneKind", clone_kind, 1),
    NATIVE("cloneSlots", clone_slots, 1),
    NATIVE("cloneCollection", clone_collection, 1),
    NATIVE("cloneMemory", clone_memory, 0),
    NATIVE("cloneFind", clone_find, 2),
    NATIVE("cloneError", clone_error, 2),
    NATIVE("cloneRefuse", clone_refuse, 1),
    NATIVE_END,
};

const FlowNativeEntry flow_globals_clone[] = {
    PRELUDE("structuredClone", "Global_structuredClone", 1),
    NATIVE_END,
};

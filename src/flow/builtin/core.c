// Core built-ins: the intrinsics behind prelude/operators.js, the globals that are values, and the
// prototypes of generators.
//
//   [core-1] Intrinsics trust their arguments: only the prelude can call them. What a script
//        controls has been checked or converted there.
#include "flow/builtin/core.h"
#include "flow/code/opcodes.h"
#include "flow/value/object_layout.h"
#include "flow/vm/vm.h"

// --- operators on primitives

static uint16_t op_argument(const FlowNativeCall *call) {
    return (uint16_t)flow_as_int(flow_argument(call, 0));
}

static FlowNativeResult core_arithmetic(FlowVm *vm, FlowNativeCall *call) {
    bool is_done = flow_arithmetic(vm, op_argument(call), flow_argument(call, 1),
                                   flow_argument(call, 2), &call->result);
    return is_done ? NATIVE_OK : NATIVE_THROW;
}

static FlowNativeResult core_unary(FlowVm *vm, FlowNativeCall *call) {
    bool is_done = flow_unary(vm, op_argument(call), flow_argument(call, 1), &call->result);
    return is_done ? NATIVE_OK : NATIVE_THROW;
}

static FlowNativeResult core_compare(FlowVm *vm, FlowNativeCall *call) {
    bool result;
    if (!flow_compare(vm, op_argument(call), flow_argument(call, 1), flow_argument(call, 2),
                      &result)) {
        return NATIVE_THROW;
    }
    return flow_native_return(call, flow_bool(result));
}

static FlowNativeResult core_is_addition(FlowVm *vm, FlowNativeCall *call) {
    (void)vm;
    return flow_native_return(call, flow_bool(op_argument(call) == OP_ADD));
}

static FlowNativeResult core_to_numeric(FlowVm *vm, FlowNativeCall *call) {
    bool is_done = flow_unary(vm, OP_TO_NUMERIC, flow_argument(call, 0), &call->result);
    return is_done ? NATIVE_OK : NATIVE_THROW;
}

static FlowNativeResult core_to_string(FlowVm *vm, FlowNativeCall *call) {
    FlowString *text = flow_to_string(vm, flow_argument(call, 0));
    return text ? flow_native_return(call, flow_from_string(text)) : NATIVE_THROW;
}

// --- objects

static FlowNativeResult core_symbol(FlowVm *vm, FlowNativeCall *call) {
    uint16_t id = flow_native_magic(call);
    return flow_native_return(call, flow_from_symbol(vm->realm->symbols[id]));
}

static FlowNativeResult core_get_proto(FlowVm *vm, FlowNativeCall *call) {
    FlowObject *proto = flow_object_proto(vm, flow_as_object(flow_argument(call, 0)));
    return flow_native_return(call, proto ? flow_from_object(proto) : FLOW_NULL);
}

static FlowNativeResult core_bound_target(FlowVm *vm, FlowNativeCall *call) {
    (void)vm;
    FlowValue function = flow_argument(call, 0);
    if (!flow_is_kind(function, KIND_BOUND_FUNCTION)) return NATIVE_OK;
    return flow_native_return(call, ((FlowBoundFunction *)flow_as_pointer(function))->target);
}

static FlowNativeResult core_own_keys(FlowVm *vm, FlowNativeCall *call) {
    FlowArray *keys =
        flow_object_keys(vm, flow_as_object(flow_argument(call, 0)), KEYS_STRINGS | KEYS_SYMBOLS);
    return flow_native_return(call, flow_from_object(keys));
}

static FlowNativeResult core_is_enumerable(FlowVm *vm, FlowNativeCall *call) {
    FlowKey key;
    FlowProperty property;
    bool is_found = flow_key_from_value(vm, flow_argument(call, 1), &key) &&
                    flow_object_get_own(vm, flow_as_object(flow_argument(call, 0)), key, &property);
    bool is_enumerable = is_found && property.attributes & PROPERTY_ENUMERABLE;
    return flow_native_return(call, flow_bool(is_enumerable));
}

static FlowNativeResult core_define(FlowVm *vm, FlowNativeCall *call) {
    FlowKey key;
    if (flow_key_from_value(vm, flow_argument(call, 1), &key)) {
        flow_object_put(vm, flow_as_object(flow_argument(call, 0)), key, flow_argument(call, 2));
    }
    return NATIVE_OK;
}

static FlowNativeResult core_array_push(FlowVm *vm, FlowNativeCall *call) {
    FlowArray *array = flow_as_array(flow_argument(call, 0));
    if (array->length >= vm->limits.array_length) {
        return flow_native_throw(vm, ERROR_KIND_RANGE, "Invalid array length");
    }
    flow_array_push(vm, array, flow_argument(call, 1));
    return NATIVE_OK;
}

// --- globals

static FlowNativeResult global_this(FlowVm *vm, FlowNativeCall *call) {
    return flow_native_return(call, flow_from_object(vm->realm->global));
}

static FlowNativeResult global_undefined(FlowVm *vm, FlowNativeCall *call) {
    (void)vm;
    return flow_native_return(call, FLOW_UNDEFINED);
}

static FlowNativeResult global_nan(FlowVm *vm, FlowNativeCall *call) {
    (void)vm;
    return flow_native_return(call, FLOW_NAN);
}

static FlowNativeResult global_infinity(FlowVm *vm, FlowNativeCall *call) {
    (void)vm;
    return flow_native_return(call, flow_double(INFINITY));
}

static FlowNativeResult global_inputs(FlowVm *vm, FlowNativeCall *call) {
    return flow_native_return(call, vm->inputs);
}

const FlowNativeEntry flow_globals_core[] = {
    {"globalThis", global_this, NULL, 0, NATIVE_VALUE, 0},
    CONSTANT("undefined", global_undefined),
    CONSTANT("NaN", global_nan),
    CONSTANT("Infinity", global_infinity),
    GETTER("Inputs", global_inputs),
    GETTER("Context", flow_global_context),
    NATIVE_END,
};

// --- generators

static bool is_generator(FlowValue value, bool is_async) {
    if (!flow_is_kind(value, KIND_COROUTINE)) return false;
    FlowCoroutine *coroutine = flow_as_pointer(value);
    if (!flow_is_object(coroutine->function)) return false;
    uint32_t flags = ((FlowClosure *)flow_as_pointer(coroutine->function))->routine->flags;
    return flags & ROUTINE_GENERATOR && !(flags & ROUTINE_ASYNC) == !is_async;
}

static FlowNativeResult throw_receiver(FlowVm *vm, FlowNativeCall *call, const char *class_name) {
    static const char *const methods[] = {"next", "throw", "return"};
    char text[FLOW_TEXT_MAX];
    return flow_native_throw(vm, ERROR_KIND_TYPE, "%s method called on incompatible receiver %s%s",
                             methods[flow_native_magic(call)], class_name,
                             flow_describe(vm, *call->this_value, text));
}

static FlowNativeResult generator_resume(FlowVm *vm, FlowNativeCall *call) {
    if (!is_generator(*call->this_value, false)) return throw_receiver(vm, call, "");
    call->resume_target = *call->this_value;
    call->resume_mode = (uint8_t)flow_native_magic(call);
    call->resume_value = flow_argument(call, 0);
    return NATIVE_RESUME;
}

static FlowNativeResult async_generator_resume(FlowVm *vm, FlowNativeCall *call) {
    if (!is_generator(*call->this_value, true)) {
        throw_receiver(vm, call, "");
        FlowPromise *promise = flow_promise_new(vm);
        FlowValue reason = vm->exception;
        vm->exception = FLOW_HOLE;
        flow_promise_reject(vm, promise, reason);
        return flow_native_return(call, flow_from_object(promise));
    }
    FlowPromise *promise = flow_async_generator_enqueue(
        vm, *call->this_value, (FlowResumeMode)flow_native_magic(call), flow_argument(call, 0));
    call->result = flow_from_object(promise);
    call->resume_target = *call->this_value;
    return NATIVE_RESUME;
}

static const FlowNativeEntry generator_members[] = {
    NATIVE_MAGIC("next", generator_resume, 1, RESUME_NEXT),
    NATIVE_MAGIC("return", generator_resume, 1, RESUME_RETURN),
    NATIVE_MAGIC("throw", generator_resume, 1, RESUME_THROW),
    NATIVE_END,
};

static const FlowNativeEntry async_generator_members[] = {
    NATIVE_MAGIC("next", async_generator_resume, 1, RESUME_NEXT),
    NATIVE_MAGIC("return", async_generator_resume, 1, RESUME_RETURN),
    NATIVE_MAGIC("throw", async_generator_resume, 1, RESUME_THROW),
    NATIVE_END,
};

const FlowClassEntry flow_class_generator = {
    .name = "%Generator",
    .members = generator_members,
    .parent = "%Iterator",
    .tag = "Generator",
    .kind = KIND_COROUTINE,
    .proto_id = 1 + PROTO_GENERATOR,
};

const FlowClassEntry flow_class_async_generator = {
    .name = "%AsyncGenerator",
    .members = async_generator_members,
    .parent = "%AsyncIterator",
    .tag = "AsyncGenerator",
    .kind = KIND_COROUTINE,
    .proto_id = 1 + PROTO_ASYNC_GENERATOR,
};

const FlowClassEntry flow_class_generator_function = {
    .name = "%GeneratorFunction",
    .parent = "Function",
    .tag = "GeneratorFunction",
    .kind = KIND_CLOSURE,
    .proto_id = 1 + PROTO_GENERATOR_FUNCTION,
};

const FlowClassEntry flow_class_async_function = {
    .name = "%AsyncFunction",
    .parent = "Function",
    .tag = "AsyncFunction",
    .kind = KIND_CLOSURE,
    .proto_id = 1 + PROTO_ASYNC_FUNCTION,
};

const FlowClassEntry flow_class_async_generator_function = {
    .name = "%AsyncGeneratorFunction",
    .parent = "Function",
    .tag = "AsyncGeneratorFunction",
    .kind = KIND_CLOSURE,
    .proto_id = 1 + PROTO_ASYNC_GENERATOR_FUNCTION,
};

const FlowNativeEntry flow_intrinsics_core[] = {
    NATIVE("arithmetic", core_arithmetic, 3),
    NATIVE("unaryOperation", core_unary, 2),
    NATIVE("comparison", core_compare, 3),
    NATIVE("isAddition", core_is_addition, 1),
    NATIVE("toNumeric", core_to_numeric, 1),
    NATIVE("primitiveToString", core_to_string, 1),
    NATIVE_MAGIC("symbolToPrimitive", core_symbol, 0, SYMBOL_TO_PRIMITIVE),
    NATIVE_MAGIC("symbolIterator", core_symbol, 0, SYMBOL_ITERATOR),
    NATIVE_MAGIC("symbolAsyncIterator", core_symbol, 0, SYMBOL_ASYNC_ITERATOR),
    NATIVE_MAGIC("symbolHasInstance", core_symbol, 0, SYMBOL_HAS_INSTANCE),
    NATIVE_MAGIC("symbolSpecies", core_symbol, 0, SYMBOL_SPECIES),
    NATIVE("protoOf", core_get_proto, 1),
    NATIVE("boundTarget", core_bound_target, 1),
    NATIVE("allKeys", core_own_keys, 1),
    NATIVE("isOwnEnumerable", core_is_enumerable, 2),
    NATIVE("defineData", core_define, 3),
    NATIVE("arrayAppend", core_array_push, 2),
    NATIVE_END,
};

// Function.prototype: call, apply, bind, toString, Symbol.hasInstance. `Function(...)` itself is
// refused: a workflow's code is what was loaded, nothing is compiled at run time.
//
// call and apply end in NATIVE_CALL, so that the called function takes the place of the native
// and no C frame waits for it.
#include "flow/builtin/objects.h"
#include "flow/builtin/primitives.h"
#include "flow/vm/vm.h"

static FlowNativeResult function_construct(FlowVm *vm, FlowNativeCall *call) {
    (void)call;
    return flow_native_throw(vm, ERROR_KIND_EVAL,
                             "Code generation from strings disallowed for this context");
}

// --- calling

static FlowNativeResult not_a_function(FlowVm *vm, const char *method) {
    return flow_native_throw(vm, ERROR_KIND_TYPE,
                             "Function.prototype.%s was called on a value "
                             "that is not a function",
                             method);
}

static FlowNativeResult function_call(FlowVm *vm, FlowNativeCall *call) {
    if (!flow_is_callable(*call->this_value)) return not_a_function(vm, "call");
    call->call_function = *call->this_value;
    call->call_this = flow_argument(call, 0);
    call->call_skips = 1;
    return NATIVE_CALL;
}

static FlowNativeResult function_apply(FlowVm *vm, FlowNativeCall *call) {
    if (!flow_is_callable(*call->this_value)) return not_a_function(vm, "apply");
    FlowValue list = flow_argument(call, 1);
    if (!flow_is_nullish(list) && !flow_is_object(list)) {
        return flow_native_throw(vm, ERROR_KIND_TYPE,
                                 "CreateListFromArrayLike called on non-object");
    }
    bool is_fast = flow_is_nullish(list) || flow_array_is_plain(vm, list);
    if (!is_fast) return flow_native_slow(vm, call);
    call->call_function = *call->this_value;
    call->call_this = flow_argument(call, 0);
    if (!flow_is_nullish(list)) call->call_arguments = flow_as_array(list);
    return NATIVE_CALL;
}

// --- bind

static FlowValue bound_length(FlowVm *vm, FlowObject *target, uint32_t bound_count) {
    FlowProperty property;
    bool has_length = flow_object_get_own(vm, target, FLOW_KEY(vm, length), &property) &&
                      flow_is_number(property.value);
    if (!has_length) return flow_int(0);
    double length = flow_to_integer(flow_as_number(property.value)) - bound_count;
    return flow_number(length > 0 ? length : 0);
}

static FlowValue bound_name(FlowVm *vm, FlowObject *target) {
    FlowValue name = flow_object_get_data(vm, target, FLOW_KEY(vm, name));
    FlowString *text = flow_is_string(name) ? flow_as_string(name) : flow_string_empty(vm);
    FlowString *bound = flow_string_concat(vm, flow_string_cstr(vm, "bound "), text);
    return flow_from_string(bound ? bound : text);
}

static FlowValue bind(FlowVm *vm, FlowValue target, FlowValue this_value,
                      const FlowValue *arguments, uint32_t count) {
    FlowObject *function = flow_as_object(target);
    FlowBoundFunction *bound = (FlowBoundFunction *)flow_object_alloc(
        vm, KIND_BOUND_FUNCTION, sizeof *bound + count * sizeof(FlowValue),
        flow_object_proto(vm, function));
    bound->target = target;
    bound->this_value = this_value;
    bound->count = count;
    if (count) memcpy(bound->arguments, arguments, count * sizeof *arguments);
    flow_object_define(vm, &bound->object, FLOW_KEY(vm, length), bound_length(vm, function, count),
                       PROPERTY_CONFIGURABLE);
    flow_object_define(vm, &bound->object, FLOW_KEY(vm, name), bound_name(vm, function),
                       PROPERTY_CONFIGURABLE);
    return flow_from_object(bound);
}

static FlowNativeResult function_bind(FlowVm *vm, FlowNativeCall *call) {
    if (!flow_is_callable(*call->this_value)) {
        return flow_native_throw(vm, ERROR_KIND_TYPE, "Bind must be called on a function");
    }
    uint32_t count = call->count > 1 ? call->count - 1 : 0;
    FlowValue bound =
        bind(vm, *call->this_value, flow_argument(call, 0), call->arguments + 1, count);
    return flow_native_return(call, bound);
}

// %bind(function, thisValue): so that the prelude can spread arguments into a call with this.
static FlowNativeResult bind_intrinsic(FlowVm *vm, FlowNativeCall *call) {
    return flow_native_return(call,
                              bind(vm, flow_argument(call, 0), flow_argument(call, 1), NULL, 0));
}

// --- toString

static FlowNativeResult function_to_string(FlowVm *vm, FlowNativeCall *call) {
    FlowValue value = *call->this_value;
    if (!flow_is_callable(value)) {
        return flow_native_throw(vm, ERROR_KIND_TYPE,
                                 "Function.prototype.toString requires that 'this' be a Function");
    }
    if (flow_kind_of(value) == KIND_CLOSURE) {
        const FlowRoutine *routine = ((FlowClosure *)flow_as_pointer(value))->routine;
        if (!(routine->flags & ROUTINE_PRELUDE)) {
            Str source = {routine->module->source.data + routine->source_start,
                          routine->source_end - routine->source_start};
            return flow_native_return(call, flow_from_string(flow_string_utf8(vm, source)));
        }
    }
    FlowStringBuilder out;
    flow_builder_init(&out, vm);
    flow_builder_ascii(&out, "function ");
    FlowValue name = flow_object_get_data(vm, flow_as_object(value), FLOW_KEY(vm, name));
    bool has_name = flow_kind_of(value) != KIND_BOUND_FUNCTION && flow_is_string(name);
    if (has_name) flow_builder_string(&out, flow_as_string(name));
    flow_builder_ascii(&out, "() { [native code] }");
    FlowString *text = flow_builder_finish(&out);
    return text ? flow_native_return(call, flow_from_string(text)) : NATIVE_THROW;
}

// --- instanceof

static FlowNativeResult function_has_instance(FlowVm *vm, FlowNativeCall *call) {
    FlowValue function = *call->this_value;
    FlowValue value = flow_argument(call, 0);
    if (!flow_is_callable(function)) return flow_native_return(call, FLOW_FALSE);
    if (flow_kind_of(function) == KIND_BOUND_FUNCTION) { // the target may have its own test
        FlowValue arguments[2] = {value, ((FlowBoundFunction *)flow_as_pointer(function))->target};
        call->call_function = flow_from_object(vm->realm->helpers[HELPER_instanceOf]);
        call->call_this = FLOW_UNDEFINED;
        call->call_arguments = flow_array_from(vm, arguments, 2);
        return NATIVE_CALL;
    }
    if (!flow_is_object(value)) return flow_native_return(call, FLOW_FALSE);
    FlowProperty property = {.value = FLOW_UNDEFINED};
    bool is_found =
        flow_object_lookup(vm, flow_as_object(function), FLOW_KEY(vm, prototype), &property);
    if (is_found && property.attributes & PROPERTY_ACCESSOR) return flow_native_slow(vm, call);
    if (!is_found || !flow_is_object(property.value)) {
        char text[FLOW_TEXT_MAX];
        FlowValue shown = is_found ? property.value : FLOW_UNDEFINED;
        return flow_native_throw(vm, ERROR_KIND_TYPE,
                                 "Function has non-object prototype '%s' in instanceof check",
                                 flow_describe(vm, shown, text));
    }
    FlowObject *proto = flow_as_object(property.value);
    FlowObject *at = flow_object_proto(vm, flow_as_object(value));
    while (at && at != proto) at = flow_object_proto(vm, at);
    return flow_native_return(call, flow_bool(at != NULL));
}

// --- caller and arguments, which strict code must not ask for

static FlowNativeResult refuse_access(FlowVm *vm, FlowNativeCall *call) {
    (void)call;
    return flow_native_throw(vm, ERROR_KIND_TYPE,
                             "'caller', 'callee', and 'arguments' properties may not be accessed "
                             "on strict mode functions or the arguments objects for calls to them");
}

// --- tables

const FlowNativeEntry flow_intrinsics_function[] = {
    NATIVE("bind", bind_intrinsic, 2),
    NATIVE_END,
};

static const FlowNativeEntry function_members[] = {
    {"arguments", refuse_access, NULL, 0, NATIVE_GETTER, 0},
    {"arguments", refuse_access, NULL, 1, NATIVE_SETTER, 0},
    {"caller", refuse_access, NULL, 0, NATIVE_GETTER, 0},
    {"caller", refuse_access, NULL, 1, NATIVE_SETTER, 0},
    NATIVE_SLOW("apply", function_apply, "Function_prototype_apply", 2),
    NATIVE("bind", function_bind, 1),
    NATIVE("call", function_call, 1),
    NATIVE("toString", function_to_string, 0),
    NATIVE_SLOW("@@hasInstance", function_has_instance, "Function_prototype_hasInstance", 1),
    NATIVE_END,
};

const FlowClassEntry flow_class_function = {
    .name = "Function",
    .constructor = {"Function", function_construct, NULL, 1, NATIVE_CONSTRUCTOR, 0},
    .members = function_members,
    .kind = KIND_CLOSURE,
    .proto_id = 1 + PROTO_FUNCTION,
};

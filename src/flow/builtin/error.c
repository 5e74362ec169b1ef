// Error and its kin: constructors, names, Error.prototype.toString. Making and throwing errors
// from C is in error.c.
//
// All constructors are one native; magic says which prototype it makes. The classes of the
// workflow API (TaskError and so on) are ordinary subclasses of Error.
#include "flow/builtin/objects.h"
#include "flow/builtin/primitives.h"
#include "flow/vm/vm.h"

// The constructed error with its message and cause; `index` is where the message argument is.
static FlowNativeResult construct(FlowVm *vm, FlowNativeCall *call, int index,
                                  FlowErrorObject **ret) {
    FlowValue message = flow_argument(call, (uint32_t)index);
    if (!flow_is_undefined(message)) {
        FlowString *text;
        TRY_NATIVE(flow_argument_string(vm, call, index, &text));
        message = flow_from_string(text);
    }
    FlowProtoId id = (FlowProtoId)flow_native_magic(call);
    FlowObject *proto = flow_new_target_proto(vm, call->new_target, id);
    FlowErrorObject *error = flow_error_alloc(vm, proto, message);
    FlowValue options = flow_argument(call, (uint32_t)index + 1);
    FlowProperty cause;
    bool has_cause = flow_is_object(options) &&
                     flow_object_lookup(vm, flow_as_object(options), FLOW_KEY(vm, cause), &cause);
    if (has_cause) {
        ASSERT(!(cause.attributes & PROPERTY_ACCESSOR));
        flow_object_define(vm, &error->object, FLOW_KEY(vm, cause), cause.value, PROPERTY_HIDDEN);
    }
    *ret = error;
    return NATIVE_OK;
}

// When the cause is behind a getter: the prelude reads it and constructs again.
static bool has_accessor_cause(FlowVm *vm, FlowValue options) {
    FlowProperty cause;
    return flow_is_object(options) &&
           flow_object_lookup(vm, flow_as_object(options), FLOW_KEY(vm, cause), &cause) &&
           cause.attributes & PROPERTY_ACCESSOR;
}

static FlowNativeResult construct_with_plain_cause(FlowVm *vm, FlowNativeCall *call) {
    FlowValue target = flow_is_undefined(call->new_target) ? call->function : call->new_target;
    FlowValue arguments[5] = {call->function, target, flow_argument(call, 0),
                              flow_argument(call, 1), flow_argument(call, 2)};
    bool is_aggregate = flow_native_magic(call) == PROTO_AGGREGATE_ERROR;
    const char *routine = is_aggregate ? "aggregateErrorWithCause" : "errorWithCause";
    return flow_native_prelude(vm, call, routine, arguments, 5);
}

static FlowNativeResult error_construct(FlowVm *vm, FlowNativeCall *call) {
    if (has_accessor_cause(vm, flow_argument(call, 1))) {
        return construct_with_plain_cause(vm, call);
    }
    FlowErrorObject *error;
    TRY_NATIVE(construct(vm, call, 0, &error));
    return flow_native_return(call, flow_from_object(error));
}

static FlowNativeResult aggregate_construct(FlowVm *vm, FlowNativeCall *call) {
    if (has_accessor_cause(vm, flow_argument(call, 2))) {
        return construct_with_plain_cause(vm, call);
    }
    FlowErrorObject *error;
    TRY_NATIVE(construct(vm, call, 1, &error));
    FlowValue arguments[2] = {flow_from_object(error), flow_argument(call, 0)};
    return flow_native_prelude(vm, call, "aggregateErrorFill", arguments, 2);
}

// --- Error.prototype

static const char *class_name(uint16_t proto_id) {
    switch ((FlowProtoId)proto_id) {
    case PROTO_TYPE_ERROR: return "TypeError";
    case PROTO_RANGE_ERROR: return "RangeError";
    case PROTO_REFERENCE_ERROR: return "ReferenceError";
    case PROTO_SYNTAX_ERROR: return "SyntaxError";
    case PROTO_URI_ERROR: return "URIError";
    case PROTO_EVAL_ERROR: return "EvalError";
    case PROTO_AGGREGATE_ERROR: return "AggregateError";
    case PROTO_TASK_ERROR: return "TaskError";
    case PROTO_TIMEOUT_ERROR: return "TimeoutError";
    case PROTO_CANCELLED_ERROR: return "CancelledError";
    case PROTO_CHILD_ERROR: return "ChildWorkflowError";
    default: return "Error";
    }
}

static FlowNativeResult name_value(FlowVm *vm, FlowNativeCall *call) {
    const char *name = class_name(flow_native_magic(call));
    return flow_native_return(call, flow_from_string(flow_atom_cstr(vm, name)));
}

static FlowNativeResult message_value(FlowVm *vm, FlowNativeCall *call) {
    return flow_native_return(call, FLOW_NAME(vm, empty));
}

// name or message as text; false when the prelude has to ask for it.
static bool text_field(FlowVm *vm, FlowObject *error, FlowKey key, const char *missing,
                       FlowString **ret) {
    FlowProperty property;
    *ret = flow_string_cstr(vm, missing);
    if (!flow_object_lookup(vm, error, key, &property)) return true;
    if (property.attributes & PROPERTY_ACCESSOR) return false;
    if (flow_is_undefined(property.value)) return true;
    if (!flow_is_string(property.value)) return false;
    *ret = flow_as_string(property.value);
    return true;
}

static FlowNativeResult error_to_string(FlowVm *vm, FlowNativeCall *call) {
    FlowValue self = *call->this_value;
    char text[FLOW_TEXT_MAX];
    if (!flow_is_object(self)) {
        return flow_native_throw(vm, ERROR_KIND_TYPE,
                                 "Method Error.prototype.toString called on incompatible "
                                 "receiver %s",
                                 flow_describe(vm, self, text));
    }
    FlowString *name;
    FlowString *message;
    bool is_fast = text_field(vm, flow_as_object(self), FLOW_KEY(vm, name), "Error", &name) &&
                   text_field(vm, flow_as_object(self), FLOW_KEY(vm, message), "", &message);
    if (!is_fast) return flow_native_slow(vm, call);
    FlowString *result = name;
    if (flow_string_length(name) == 0) {
        result = message;
    } else if (flow_string_length(message)) {
        result = flow_string_concat(vm, name, flow_string_cstr(vm, ": "));
        if (result) result = flow_string_concat(vm, result, message);
    }
    if (!result) return flow_native_throw(vm, ERROR_KIND_RANGE, "Invalid string length");
    return flow_native_return(call, flow_from_string(result));
}

// --- tables

#define ERROR_FIELDS(id)                                                                           \
    {"name", name_value, NULL, 0, NATIVE_VALUE, id}, {                                             \
        "message", message_value, NULL, 0, NATIVE_VALUE, id                                        \
    }

static const FlowNativeEntry error_members[] = {
    ERROR_FIELDS(PROTO_ERROR),
    NATIVE_SLOW("toString", error_to_string, "Error_prototype_toString", 0),
    NATIVE_END,
};

const FlowClassEntry flow_class_error = {
    .name = "Error",
    .constructor = {"Error", error_construct, NULL, 1, NATIVE_CONSTRUCTOR, PROTO_ERROR},
    .members = error_members,
    .kind = KIND_ERROR,
    .proto_id = 1 + PROTO_ERROR,
};

#define ERROR_CLASS(variable, text, native, arity, id)                                             \
    static const FlowNativeEntry variable##_members[] = {ERROR_FIELDS(id), NATIVE_END};            \
    const FlowClassEntry variable = {                                                              \
        .name = text,                                                                              \
        .constructor = {text, native, NULL, arity, NATIVE_CONSTRUCTOR, id},                        \
        .members = variable##_members,                                                             \
        .parent = "Error",                                                                         \
        .kind = KIND_ERROR,                                                                        \
        .proto_id = 1 + id,                                                                        \
    }

ERROR_CLASS(flow_class_type_error, "TypeError", error_construct, 1, PROTO_TYPE_ERROR);
ERROR_CLASS(flow_class_range_error, "RangeError", error_construct, 1, PROTO_RANGE_ERROR);
ERROR_CLASS(flow_class_reference_error, "ReferenceError", error_construct, 1,
            PROTO_REFERENCE_ERROR);
ERROR_CLASS(flow_class_syntax_error, "SyntaxError", error_construct, 1, PROTO_SYNTAX_ERROR);
ERROR_CLASS(flow_class_uri_error, "URIError", error_construct, 1, PROTO_URI_ERROR);
ERROR_CLASS(flow_class_eval_error, "EvalError", error_construct, 1, PROTO_EVAL_ERROR);
ERROR_CLASS(flow_class_aggregate_error, "AggregateError", aggregate_construct, 2,
            PROTO_AGGREGATE_ERROR);
ERROR_CLASS(flow_class_task_error, "TaskError", error_construct, 1, PROTO_TASK_ERROR);
ERROR_CLASS(flow_class_timeout_error, "TimeoutError", error_construct, 1, PROTO_TIMEOUT_ERROR);
ERROR_CLASS(flow_class_cancelled_error, "CancelledError", error_construct, 1,
            PROTO_CANCELLED_ERROR);
ERROR_CLASS(flow_class_child_error, "ChildWorkflowError", error_construct, 1, PROTO_CHILD_ERROR);

// Boolean: the constructor and its two methods.
//
// Nothing is ever converted by script code: ToBoolean looks at the value alone.
//   [boolean-1] `this` of the methods is a boolean or a wrapper object (KIND_BOOLEAN_OBJECT), else
//        a TypeError in the words of V8.
#include "flow/builtin/primitives.h"
#include "flow/vm/vm.h"

static FlowNativeResult boolean_constructor(FlowVm *vm, FlowNativeCall *call) {
    FlowValue value = flow_bool(flow_to_boolean(flow_argument(call, 0)));
    if (flow_is_undefined(call->new_target)) return flow_native_return(call, value);
    return flow_native_wrap(vm, call, KIND_BOOLEAN_OBJECT, PROTO_BOOLEAN, value);
}

// magic: 1 for toString, 0 for valueOf.
static FlowNativeResult boolean_method(FlowVm *vm, FlowNativeCall *call) {
    bool is_text = flow_native_magic(call) == 1;
    FlowValue value = flow_this_primitive(call, flow_is_boolean, KIND_BOOLEAN_OBJECT);
    if (flow_is_hole(value)) {
        return flow_native_throw(vm, ERROR_KIND_TYPE,
                                 "Boolean.prototype.%s requires that 'this' be a Boolean",
                                 is_text ? "toString" : "valueOf");
    }
    if (!is_text) return flow_native_return(call, value);
    return flow_native_return(call,
                              flow_is_true(value) ? FLOW_NAME(vm, true) : FLOW_NAME(vm, false));
}

static const FlowNativeEntry boolean_members[] = {
    NATIVE_MAGIC("toString", boolean_method, 0, 1),
    NATIVE_MAGIC("valueOf", boolean_method, 0, 0),
    NATIVE_END,
};

const FlowClassEntry flow_class_boolean = {
    .name = "Boolean",
    .constructor = {"Boolean", boolean_constructor, NULL, 1, NATIVE_CONSTRUCTOR, 0},
    .members = boolean_members,
    .kind = KIND_BOOLEAN_OBJECT,
    .proto_id = 1 + PROTO_BOOLEAN,
};

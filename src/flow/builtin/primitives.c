// What the built-ins around primitives share.
//
// Wrapper objects, the prototype that `new` asks for, calls that go on in the prelude, and paying
// for long work: a native that does more than a few steps per unit of input takes them out of the
// turn's fuel, so that a script cannot make the machine busy for free.
#include "flow/builtin/primitives.h"
#include "flow/vm/vm.h"

enum { NATIVE_OVERDRAFT = 5000000 }; // instructions beyond a turn, half of one by default

FlowObject *flow_constructor_prototype(FlowVm *vm, const FlowNativeCall *call, FlowProtoId id) {
    if (flow_is_object(call->new_target) && !flow_same_bits(call->new_target, call->function)) {
        FlowValue own =
            flow_object_get_data(vm, flow_as_object(call->new_target), FLOW_KEY(vm, prototype));
        if (flow_is_object(own)) return flow_as_object(own);
    }
    return vm->realm->protos[id];
}

FlowValue flow_this_primitive(const FlowNativeCall *call, bool (*is_type)(FlowValue),
                              FlowKind kind) {
    FlowValue value = *call->this_value;
    if (is_type(value)) return value;
    if (!flow_is_kind(value, kind)) return FLOW_HOLE;
    return ((FlowSlotObject *)flow_as_pointer(value))->internal[0];
}

FlowNativeResult flow_native_wrap(FlowVm *vm, FlowNativeCall *call, FlowKind kind, FlowProtoId id,
                                  FlowValue primitive) {
    FlowObject *proto = flow_constructor_prototype(vm, call, id);
    FlowSlotObject *object = flow_slot_object_new(vm, kind, proto);
    object->internal[0] = primitive;
    return flow_native_return(call, flow_from_object(object));
}

void flow_native_charge(FlowVm *vm, uint64_t work) { vm->fuel -= (int64_t)(work / 16); }

bool flow_native_is_overdrawn(const FlowVm *vm) {
    return vm->fuel < -NATIVE_OVERDRAFT || vm->heap.bytes > vm->heap.limit;
}

FlowValue flow_prelude_function(FlowVm *vm, const char *name) {
    uint32_t index = flow_module_find_routine(vm->realm->prelude, str_from(name));
    ASSERT(index != UINT32_MAX);
    return flow_from_object(vm->realm->prelude_closures[index]);
}

FlowNativeResult flow_native_prelude(FlowVm *vm, FlowNativeCall *call, const char *name,
                                     const FlowValue *arguments, uint32_t count) {
    call->call_function = flow_prelude_function(vm, name);
    call->call_this = FLOW_UNDEFINED;
    call->call_arguments = flow_array_from(vm, arguments, count);
    call->call_new_target = FLOW_UNDEFINED;
    return NATIVE_CALL;
}

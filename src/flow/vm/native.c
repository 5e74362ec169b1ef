// Natives: the conversions of arguments that every built-in begins with. See native.h.
//
//   [vm-native-4] A conversion that meets an object asks for its primitive and changes nothing: the
//        native is called again from its start, with the primitive in the object's place.
//   [vm-native-5] A conversion that fails leaves the exception pending and answers NATIVE_THROW.
#include "flow/vm/native.h"
#include "flow/vm/vm.h"

FlowNativeResult flow_native_room(FlowVm *vm, FlowNativeCall *call, size_t bytes) {
    if (flow_heap_has_room(&vm->heap, bytes)) return NATIVE_OK;
    if (!call->has_collected) return NATIVE_NEEDS_ROOM;
    flow_throw_memory(vm);
    return NATIVE_THROW;
}

static FlowValue argument_at(const FlowNativeCall *call, int index) {
    return index < 0 ? *call->this_value : flow_argument(call, (uint32_t)index);
}

FlowNativeResult flow_argument_number(FlowVm *vm, FlowNativeCall *call, int index, double *ret) {
    FlowValue value = argument_at(call, index);
    if (flow_is_object(value)) return flow_native_primitive(call, index, HINT_NUMBER);
    return flow_to_number(vm, value, ret) ? NATIVE_OK : NATIVE_THROW;
}

FlowNativeResult flow_argument_integer(FlowVm *vm, FlowNativeCall *call, int index, double *ret) {
    FlowNativeResult result = flow_argument_number(vm, call, index, ret);
    if (result == NATIVE_OK) *ret = flow_to_integer(*ret);
    return result;
}

FlowNativeResult flow_argument_string(FlowVm *vm, FlowNativeCall *call, int index,
                                      FlowString **ret) {
    FlowValue value = argument_at(call, index);
    if (flow_is_object(value)) return flow_native_primitive(call, index, HINT_STRING);
    FlowString *text = flow_to_string(vm, value);
    if (!text) return NATIVE_THROW;
    *ret = flow_string_flat(vm, text);
    return NATIVE_OK;
}

FlowNativeResult flow_argument_key(FlowVm *vm, FlowNativeCall *call, int index, FlowKey *ret) {
    FlowValue value = argument_at(call, index);
    if (flow_key_from_value(vm, value, ret)) return NATIVE_OK;
    return flow_native_primitive(call, index, HINT_STRING);
}

FlowNativeResult flow_this_string(FlowVm *vm, FlowNativeCall *call, const char *method,
                                  FlowString **ret) {
    if (flow_is_nullish(*call->this_value)) {
        return flow_native_throw(vm, ERROR_KIND_TYPE, "%s called on null or undefined", method);
    }
    return flow_argument_string(vm, call, -1, ret);
}

// Operator instructions off the fast path: mixed types, strings, and objects by way of the
// prelude's helpers.
//
//   [interp-operator-1] With an object operand the helper's frame delivers the result: into the
//        destination, or into the jump of a fused comparison (RETURN_BRANCH).
//   [interp-operator-2] With primitives the result is there when the function returns.
#include "flow/code/opcodes.h"
#include "flow/value/object_layout.h"
#include "flow/vm/interp_internal.h"

bool interp_binary(FlowVm *vm, uint16_t op, FlowValue a, FlowValue b, uint32_t return_to) {
    if (flow_is_object(a) || flow_is_object(b)) {
        return flow_vm_push_helper(vm, &(FlowHelperCall){.helper = HELPER_binary,
                                                         .count = 3,
                                                         .arguments = {flow_int(op), a, b},
                                                         .return_kind = RETURN_STORE,
                                                         .return_to = return_to});
    }
    FlowValue result;
    if (!flow_arithmetic(vm, op, a, b, &result)) return false;
    vm->stack[return_to] = result;
    return true;
}

bool interp_unary(FlowVm *vm, FlowInstruction in) {
    uint32_t base = interp_base(vm);
    FlowValue value = vm->stack[base + in.b];
    uint16_t op = flow_op_base(in.op); // INCREMENT may be the first of a fused pair
    if (flow_is_object(value)) {
        return flow_vm_push_helper(vm, &(FlowHelperCall){.helper = HELPER_unary,
                                                         .count = 2,
                                                         .arguments = {flow_int(op), value},
                                                         .return_kind = RETURN_STORE,
                                                         .return_to = base + in.a});
    }
    FlowValue result;
    if (!flow_unary(vm, op, value, &result)) return false;
    vm->stack[base + in.a] = result;
    return true;
}

static FlowHelperCall compare_call(uint16_t op, FlowValue a, FlowValue b) {
    return (FlowHelperCall){
        .helper = HELPER_compare, .count = 3, .arguments = {flow_int(op), a, b}};
}

bool interp_compare(FlowVm *vm, FlowInstruction in) {
    uint32_t base = interp_base(vm);
    FlowValue a = vm->stack[base + in.b];
    FlowValue b = vm->stack[base + in.c];
    if (flow_is_object(a) || flow_is_object(b)) {
        FlowHelperCall call = compare_call(in.op, a, b);
        call.return_kind = RETURN_STORE;
        call.return_to = base + in.a;
        return flow_vm_push_helper(vm, &call);
    }
    bool result;
    if (!flow_compare(vm, in.op, a, b, &result)) return false;
    vm->stack[base + in.a] = flow_bool(result);
    return true;
}

bool interp_jump_compare(FlowVm *vm, FlowInstruction in, uint16_t op, FlowValue b) {
    FlowValue a = vm->stack[interp_base(vm) + in.a];
    if (flow_is_object(a) || flow_is_object(b)) {
        FlowHelperCall call = compare_call(op, a, b);
        call.return_kind = RETURN_BRANCH;
        return flow_vm_push_helper(vm, &call);
    }
    bool result;
    if (!flow_compare(vm, op, a, b, &result)) return false;
    FlowFrame self = {.return_kind = RETURN_BRANCH};
    flow_vm_deliver(vm, &self, flow_bool(result));
    return true;
}

// An object against a primitive that is neither undefined nor null needs ToPrimitive.
static bool equality_needs_helper(FlowValue a, FlowValue b) {
    if (flow_is_object(a) == flow_is_object(b)) return false;
    return !flow_is_nullish(a) && !flow_is_nullish(b);
}

bool interp_equal(FlowVm *vm, FlowInstruction in) {
    uint32_t base = interp_base(vm);
    FlowValue a = vm->stack[base + in.b];
    FlowValue b = vm->stack[base + in.c];
    bool is_negated = in.op == OP_NE;
    if (equality_needs_helper(a, b)) {
        FlowHelperCall helper = {
            .helper = HELPER_looseEqual,
            .count = 2,
            .arguments = {a, b},
            .return_kind = is_negated ? RETURN_NOT : RETURN_STORE,
            .return_to = base + in.a,
        };
        return flow_vm_push_helper(vm, &helper);
    }
    vm->stack[base + in.a] = flow_bool(flow_loose_equal(vm, a, b) != is_negated);
    return true;
}

bool interp_jump_equal(FlowVm *vm, FlowInstruction in) {
    uint32_t base = interp_base(vm);
    FlowValue a = vm->stack[base + in.a];
    FlowValue b = vm->stack[base + in.b];
    if (equality_needs_helper(a, b)) {
        return flow_vm_push_helper(vm, &(FlowHelperCall){.helper = HELPER_looseEqual,
                                                         .count = 2,
                                                         .arguments = {a, b},
                                                         .return_kind = RETURN_BRANCH});
    }
    FlowFrame self = {.return_kind = RETURN_BRANCH};
    flow_vm_deliver(vm, &self, flow_bool(flow_loose_equal(vm, a, b)));
    return true;
}

// OrdinaryHasInstance without script code; false when `prototype` is no plain data object.
static bool ordinary_instance(FlowVm *vm, FlowValue value, FlowObject *constructor, bool *ret) {
    FlowProperty property;
    bool is_found = flow_object_lookup(vm, constructor, FLOW_KEY(vm, prototype), &property);
    if (!is_found || property.attributes & PROPERTY_ACCESSOR || !flow_is_object(property.value)) {
        return false;
    }
    FlowObject *proto = flow_as_object(property.value);
    *ret = false;
    for (FlowObject *at = flow_object_proto(vm, flow_as_object(value)); at;
         at = flow_object_proto(vm, at)) {
        if (at == proto) {
            *ret = true;
            break;
        }
    }
    return true;
}

bool interp_instanceof(FlowVm *vm, FlowInstruction in) {
    uint32_t base = interp_base(vm);
    FlowValue value = vm->stack[base + in.b];
    FlowValue constructor = vm->stack[base + in.c];
    if (!flow_is_object(constructor)) {
        return flow_throw_type(vm, "Right-hand side of 'instanceof' is not an object");
    }
    FlowObject *object = flow_as_object(constructor);
    bool is_simple = object->cell.kind == KIND_CLOSURE || object->cell.kind == KIND_NATIVE_FUNCTION;
    FlowProperty has_instance;
    if (is_simple &&
        flow_object_lookup(vm, object, FLOW_SYMBOL(vm, SYMBOL_HAS_INSTANCE), &has_instance)) {
        is_simple = has_instance.holder == vm->realm->protos[PROTO_FUNCTION];
    }
    bool result = false;
    if (is_simple && (!flow_is_object(value) || ordinary_instance(vm, value, object, &result))) {
        vm->stack[base + in.a] = flow_bool(result);
        return true;
    }
    return flow_vm_push_helper(vm, &(FlowHelperCall){.helper = HELPER_instanceOf,
                                                     .count = 2,
                                                     .arguments = {value, constructor},
                                                     .return_kind = RETURN_STORE,
                                                     .return_to = base + in.a});
}

bool interp_to_string(FlowVm *vm, FlowInstruction in) {
    uint32_t base = interp_base(vm);
    FlowValue value = vm->stack[base + in.b];
    if (flow_is_object(value)) {
        return flow_vm_push_helper(vm, &(FlowHelperCall){.helper = HELPER_toStringValue,
                                                         .count = 1,
                                                         .arguments = {value},
                                                         .return_kind = RETURN_STORE,
                                                         .return_to = base + in.a});
    }
    FlowString *text = flow_to_string(vm, value);
    if (!text) return false;
    vm->stack[base + in.a] = flow_from_string(text);
    return true;
}

bool interp_to_property_key(FlowVm *vm, FlowInstruction in) {
    uint32_t base = interp_base(vm);
    FlowValue value = vm->stack[base + in.b];
    if (flow_is_object(value)) {
        return flow_vm_push_helper(vm, &(FlowHelperCall){.helper = HELPER_toKey,
                                                         .count = 1,
                                                         .arguments = {value},
                                                         .return_kind = RETURN_STORE,
                                                         .return_to = base + in.a});
    }
    FlowKey key;
    if (!flow_key_from_value(vm, value, &key)) UNREACHABLE();
    FlowValue result = (FlowValue){key.bits};
    if (flow_key_is_index(key)) result = flow_uint(flow_key_as_index(key));
    vm->stack[base + in.a] = result;
    return true;
}

enum { CONCAT_SHORT_MAX = 256 };

// The parts one after the other when all are short and narrow; 0 units: they are not.
static size_t concat_short(const FlowValue *parts, uint32_t count,
                           uint8_t ret_units[CONCAT_SHORT_MAX]) {
    size_t length = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (flow_is_number(parts[i])) {
            if (length + FLOW_NUMBER_TEXT_MAX > CONCAT_SHORT_MAX) return 0;
            length += flow_number_text(parts[i], (char *)ret_units + length);
            continue;
        }
        if (!flow_is_string(parts[i])) return 0;
        const FlowString *text = flow_as_string(parts[i]);
        size_t part = flow_string_length(text);
        bool is_plain = !(text->cell.flags & (STRING_ROPE | STRING_WIDE));
        if (!is_plain || length + part > CONCAT_SHORT_MAX) return 0;
        memcpy(ret_units + length, text->latin1, part);
        length += part;
    }
    return length;
}

bool interp_concat(FlowVm *vm, FlowInstruction in) {
    uint32_t base = interp_base(vm);
    uint8_t units[CONCAT_SHORT_MAX];
    size_t length = concat_short(&vm->stack[base + in.b], in.c, units);
    FlowString *joined = flow_string_empty(vm);
    if (length) { // one copy is cheaper than a chain of ropes
        joined = flow_string_latin1(vm, units, length);
    } else {
        for (uint32_t i = 0; i < in.c; i++) {
            FlowValue part = vm->stack[base + in.b + i];
            if (flow_is_object(part)) return interp_throw_damaged(vm);
            FlowString *text = flow_to_string(vm, part);
            if (!text) return false;
            joined = flow_string_concat(vm, joined, text);
            if (!joined) return flow_throw_range(vm, "Invalid string length");
        }
    }
    vm->stack[base + in.a] = flow_from_string(joined);
    return true;
}

FlowValue interp_typeof(FlowVm *vm, FlowValue value) {
    if (flow_is_number(value)) return FLOW_NAME(vm, number);
    if (flow_is_string(value)) return FLOW_NAME(vm, string);
    if (flow_is_undefined(value)) return FLOW_NAME(vm, undefined);
    if (flow_is_boolean(value)) return FLOW_NAME(vm, boolean);
    if (flow_is_symbol(value)) return FLOW_NAME(vm, symbol);
    if (flow_is_bigint(value)) return FLOW_NAME(vm, bigint);
    return flow_is_callable(value) ? FLOW_NAME(vm, function) : FLOW_NAME(vm, object);
}

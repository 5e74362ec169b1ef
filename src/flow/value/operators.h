// Operators on primitives. Objects need ToPrimitive first, which runs script code: functions here
// are only called with primitives (the interpreter and natives see to it).
#pragma once
#include "flow/value/object.h"

bool flow_to_boolean(FlowValue value); // any value
// ToNumber of a primitive. False: Symbol or BigInt, exception pending.
bool flow_to_number(FlowVm *vm, FlowValue primitive, double *ret_number);
int32_t flow_double_to_int32(double number);
double flow_to_integer(double number); // truncates; NaN becomes 0
// ToString of a primitive. NULL: Symbol, exception pending.
FlowString *flow_to_string(FlowVm *vm, FlowValue primitive);
bool flow_strict_equal_slowly(FlowVm *vm, FlowValue a, FlowValue b); // any two values
static inline bool flow_strict_equal(FlowVm *vm, FlowValue a, FlowValue b) {
    if (a.bits == b.bits) return a.bits != VALUE_NAN_BITS;
    // Different bits of one type are different values, but for doubles, strings and BigInts.
    uint64_t tag = a.bits & VALUE_TAG_MASK;
    bool is_simple = tag == VALUE_TAG_INT || tag == VALUE_TAG_SPECIAL || tag == VALUE_TAG_OBJECT;
    if (is_simple && (b.bits & VALUE_TAG_MASK) == tag) return false;
    return flow_strict_equal_slowly(vm, a, b);
}
bool flow_same_value(FlowVm *vm, FlowValue a, FlowValue b);
bool flow_same_value_zero(FlowVm *vm, FlowValue a, FlowValue b);
const char *flow_typeof(FlowValue value);

// Binary operators by opcode (OP_ADD … OP_USHR). False: exception pending.
bool flow_arithmetic(FlowVm *vm, uint16_t op, FlowValue a, FlowValue b, FlowValue *ret);
// OP_NEGATE, OP_BIT_NOT, OP_INCREMENT, OP_DECREMENT, OP_TO_NUMBER, OP_TO_NUMERIC.
bool flow_unary(FlowVm *vm, uint16_t op, FlowValue a, FlowValue *ret);
// OP_LT, OP_LE, OP_GT, OP_GE.
bool flow_compare(FlowVm *vm, uint16_t op, FlowValue a, FlowValue b, bool *ret);
bool flow_loose_equal(FlowVm *vm, FlowValue a, FlowValue b); // primitives, or two objects

// BigInt (number/bigint.c). NULL: exception pending (too large, division by zero).
FlowBigInt *flow_bigint_arithmetic(FlowVm *vm, uint16_t op, const FlowBigInt *a,
                                   const FlowBigInt *b);
FlowBigInt *flow_bigint_unary(FlowVm *vm, uint16_t op, const FlowBigInt *a);
int flow_bigint_compare(const FlowBigInt *a, const FlowBigInt *b);
// -1, 0, 1; 2 when the number is NaN.
int flow_bigint_compare_number(const FlowBigInt *a, double number);
FlowBigInt *flow_bigint_parse(FlowVm *vm, FlowString *text); // NULL, no exception: not a BigInt
FlowString *flow_bigint_to_string(FlowVm *vm, const FlowBigInt *value, uint32_t radix);
uint32_t flow_bigint_hash(const FlowBigInt *value);

// Regular expressions (regexp/regexp.c). NULL: exception pending (SyntaxError).
FlowObject *flow_regexp_new(FlowVm *vm, FlowString *pattern, FlowString *flags);

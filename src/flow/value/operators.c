// Operators on primitives: conversions, arithmetic, comparison, equality.
//
//   [operators-1] Nothing here sees an object except the equality tests, which compare identity.
//   [operators-2] Results keep value.h [value-2]: numbers that are int32 are stored as such.
//
// Not here: ToPrimitive (prelude/operators.js), BigInt arithmetic (number/bigint.c).
#include "flow/value/operators.h"
#include "flow/builtin/number/math_functions.h"
#include "flow/code/opcodes.h"
#include "flow/value/error.h"
#include "flow/vm/vm.h"

bool flow_to_boolean(FlowValue value) {
    if (flow_is_boolean(value)) return flow_is_true(value);
    if (flow_is_int(value)) return flow_as_int(value) != 0;
    if (flow_is_double(value)) return flow_as_double(value) != 0 && value.bits != VALUE_NAN_BITS;
    if (flow_is_string(value)) return flow_string_length(flow_as_string(value)) != 0;
    if (flow_is_bigint(value)) return flow_as_bigint(value)->cell.aux != 0;
    return flow_is_object(value) || flow_is_symbol(value);
}

bool flow_to_number(FlowVm *vm, FlowValue primitive, double *ret_number) {
    if (flow_is_number(primitive)) {
        *ret_number = flow_as_number(primitive);
    } else if (flow_is_string(primitive)) {
        *ret_number = flow_string_to_number(vm, flow_as_string(primitive));
    } else if (flow_is_symbol(primitive)) {
        return flow_throw_type(vm, "Cannot convert a Symbol value to a number");
    } else if (flow_is_bigint(primitive)) {
        return flow_throw_type(vm, "Cannot convert a BigInt value to a number");
    } else {
        *ret_number = flow_is_undefined(primitive) ? NAN : flow_is_true(primitive) ? 1 : 0;
    }
    return true;
}

int32_t flow_double_to_int32(double number) {
    if (number >= -2147483648.0 && number <= 2147483647.0) return (int32_t)number;
    // Whole numbers of 64 bits wrap by themselves; hash functions live on products like these.
    if (number > -0x1p63 && number < 0x1p63) return (int32_t)(uint32_t)(uint64_t)(int64_t)number;
    if (!isfinite(number)) return 0;
    double wrapped = fmod(trunc(number), 4294967296.0);
    if (wrapped < 0) wrapped += 4294967296.0;
    return (int32_t)(uint32_t)wrapped;
}

double flow_to_integer(double number) {
    if (number != number) return 0;
    double whole = trunc(number);
    return whole == 0 ? 0 : whole; // no -0
}

FlowString *flow_to_string(FlowVm *vm, FlowValue primitive) {
    if (flow_is_string(primitive)) return flow_as_string(primitive);
    if (flow_is_number(primitive)) {
        char text[FLOW_NUMBER_TEXT_MAX];
        return flow_string_latin1(vm, (const uint8_t *)text, flow_number_text(primitive, text));
    }
    if (flow_is_undefined(primitive)) return flow_as_string(FLOW_NAME(vm, undefined));
    if (flow_is_null(primitive)) return flow_as_string(FLOW_NAME(vm, null));
    if (flow_is_boolean(primitive)) {
        return flow_as_string(flow_is_true(primitive) ? FLOW_NAME(vm, true) : FLOW_NAME(vm, false));
    }
    if (flow_is_bigint(primitive)) return flow_bigint_to_string(vm, flow_as_bigint(primitive), 10);
    // What no script can hold comes only from a damaged snapshot: nothing may depend on it.
    if (flow_is_hole(primitive) || flow_is_cell(primitive)) {
        return flow_as_string(FLOW_NAME(vm, undefined));
    }
    flow_throw_type(vm, "Cannot convert a Symbol value to a string");
    return NULL;
}

const char *flow_typeof(FlowValue value) {
    if (flow_is_number(value)) return "number";
    if (flow_is_string(value)) return "string";
    if (flow_is_undefined(value)) return "undefined";
    if (flow_is_boolean(value)) return "boolean";
    if (flow_is_symbol(value)) return "symbol";
    if (flow_is_bigint(value)) return "bigint";
    return flow_is_callable(value) ? "function" : "object";
}

// --- equality

bool flow_strict_equal_slowly(FlowVm *vm, FlowValue a, FlowValue b) {
    if (flow_is_number(a) && flow_is_number(b)) return flow_as_number(a) == flow_as_number(b);
    if (a.bits == b.bits) return true;
    if (flow_is_string(a) && flow_is_string(b)) {
        return flow_string_equal(vm, flow_as_string(a), flow_as_string(b));
    }
    if (flow_is_bigint(a) && flow_is_bigint(b)) {
        vm->fuel -= flow_as_bigint(a)->cell.aux / 4;
        return flow_bigint_compare(flow_as_bigint(a), flow_as_bigint(b)) == 0;
    }
    return false;
}

bool flow_same_value_zero(FlowVm *vm, FlowValue a, FlowValue b) {
    if (a.bits == b.bits) return true; // NaN is canonical
    return flow_strict_equal(vm, a, b);
}

bool flow_same_value(FlowVm *vm, FlowValue a, FlowValue b) {
    if (flow_is_number(a) && flow_is_number(b)) return a.bits == b.bits; // [operators-2]
    return flow_same_value_zero(vm, a, b);
}

static bool bigint_equals_string(FlowVm *vm, const FlowBigInt *a, FlowString *s) {
    FlowBigInt *b = flow_bigint_parse(vm, s);
    return b && flow_bigint_compare(a, b) == 0;
}

bool flow_loose_equal(FlowVm *vm, FlowValue a, FlowValue b) {
    if (flow_is_nullish(a) || flow_is_nullish(b)) return flow_is_nullish(a) && flow_is_nullish(b);
    if (flow_is_boolean(a)) a = flow_int(flow_is_true(a));
    if (flow_is_boolean(b)) b = flow_int(flow_is_true(b));
    if (flow_is_number(a) && flow_is_string(b)) {
        return flow_as_number(a) == flow_string_to_number(vm, flow_as_string(b));
    }
    if (flow_is_string(a) && flow_is_number(b)) return flow_loose_equal(vm, b, a);
    if (flow_is_bigint(a) && flow_is_number(b)) {
        return flow_bigint_compare_number(flow_as_bigint(a), flow_as_number(b)) == 0;
    }
    if (flow_is_bigint(a) && flow_is_string(b)) {
        return bigint_equals_string(vm, flow_as_bigint(a), flow_as_string(b));
    }
    if (flow_is_bigint(b) && !flow_is_bigint(a) && !flow_is_object(a) && !flow_is_symbol(a)) {
        return flow_loose_equal(vm, b, a);
    }
    return flow_strict_equal(vm, a, b);
}

// --- arithmetic

// fmod, but whole numbers are divided as such, which is much faster and as exact.
static double number_remainder(double a, double b) {
    if (fabs(a) < 0x1p53 && fabs(b) < 0x1p53) {
        int64_t x = (int64_t)a;
        int64_t y = (int64_t)b;
        if ((double)x == a && (double)y == b && y != 0) {
            int64_t remainder = x % y;
            return remainder == 0 && signbit(a) ? -0.0 : (double)remainder;
        }
    }
    return fmod(a, b);
}

static FlowValue number_arithmetic(uint16_t op, double a, double b) {
    switch (op) {
    case OP_ADD: return flow_number(a + b);
    case OP_SUB: return flow_number(a - b);
    case OP_MUL: return flow_number(a * b);
    case OP_DIV: return flow_number(a / b);
    case OP_MOD: return flow_number(number_remainder(a, b));
    case OP_EXP: return flow_number(flow_math_pow(a, b));
    default: break;
    }
    int32_t x = flow_double_to_int32(a);
    int32_t y = flow_double_to_int32(b);
    switch (op) {
    case OP_BIT_AND: return flow_int(x & y);
    case OP_BIT_OR: return flow_int(x | y);
    case OP_BIT_XOR: return flow_int(x ^ y);
    case OP_SHL: return flow_int((int32_t)((uint32_t)x << ((uint32_t)y & 31)));
    case OP_SHR: return flow_int(x >> ((uint32_t)y & 31));
    case OP_USHR: return flow_uint((uint32_t)x >> ((uint32_t)y & 31));
    default: UNREACHABLE();
    }
}

static bool concat_values(FlowVm *vm, FlowValue a, FlowValue b, FlowValue *ret) {
    FlowString *joined;
    if (flow_is_number(a) || flow_is_number(b)) {
        bool is_number_first = flow_is_number(a);
        FlowString *text = flow_as_string(is_number_first ? b : a);
        joined = flow_string_concat_number(vm, text, is_number_first ? a : b, is_number_first);
    } else {
        FlowString *left = flow_to_string(vm, a);
        FlowString *right = left ? flow_to_string(vm, b) : NULL;
        if (!right) return false;
        joined = flow_string_concat(vm, left, right);
    }
    if (!joined) return flow_throw_range(vm, "Invalid string length");
    *ret = flow_from_string(joined);
    return true;
}

bool flow_arithmetic(FlowVm *vm, uint16_t op, FlowValue a, FlowValue b, FlowValue *ret) {
    if (op == OP_ADD && (flow_is_string(a) || flow_is_string(b))) {
        return concat_values(vm, a, b, ret);
    }
    if (flow_is_bigint(a) || flow_is_bigint(b)) {
        if (!flow_is_bigint(a) || !flow_is_bigint(b)) {
            FlowValue other = flow_is_bigint(a) ? b : a;
            if (flow_is_symbol(other)) {
                return flow_throw_type(vm, "Cannot convert a Symbol value to a number");
            }
            return flow_throw_type(vm,
                                   "Cannot mix BigInt and other types, use explicit conversions");
        }
        FlowBigInt *result = flow_bigint_arithmetic(vm, op, flow_as_bigint(a), flow_as_bigint(b));
        if (!result) return false;
        *ret = flow_from_bigint(result);
        return true;
    }
    double x;
    double y;
    if (!flow_to_number(vm, a, &x) || !flow_to_number(vm, b, &y)) return false;
    *ret = number_arithmetic(op, x, y);
    return true;
}

bool flow_unary(FlowVm *vm, uint16_t op, FlowValue a, FlowValue *ret) {
    if (flow_is_bigint(a) && op != OP_TO_NUMBER) {
        if (op == OP_TO_NUMERIC) {
            *ret = a;
            return true;
        }
        FlowBigInt *result = flow_bigint_unary(vm, op, flow_as_bigint(a));
        if (!result) return false;
        *ret = flow_from_bigint(result);
        return true;
    }
    double number;
    if (!flow_to_number(vm, a, &number)) return false;
    switch (op) {
    case OP_NEGATE: *ret = flow_number(-number); break;
    case OP_BIT_NOT: *ret = flow_int(~flow_double_to_int32(number)); break;
    case OP_INCREMENT: *ret = flow_number(number + 1); break;
    case OP_DECREMENT: *ret = flow_number(number - 1); break;
    case OP_TO_NUMBER:
    case OP_TO_NUMERIC: *ret = flow_number(number); break;
    default: UNREACHABLE();
    }
    return true;
}

// --- comparison

// -1, 0, 1, or 2 for "not comparable" (NaN).
static int compare_numbers(double a, double b) { return a < b ? -1 : a > b ? 1 : a == b ? 0 : 2; }

static int compare_bigint_with(FlowVm *vm, const FlowBigInt *a, FlowValue b) {
    if (flow_is_string(b)) {
        FlowBigInt *parsed = flow_bigint_parse(vm, flow_as_string(b));
        return parsed ? flow_bigint_compare(a, parsed) : 2;
    }
    double number = 0;
    flow_to_number(vm, b, &number); // symbols were refused before
    return flow_bigint_compare_number(a, number);
}

bool flow_compare(FlowVm *vm, uint16_t op, FlowValue a, FlowValue b, bool *ret) {
    int order;
    if (flow_is_string(a) && flow_is_string(b)) {
        order = flow_string_compare(vm, flow_as_string(a), flow_as_string(b));
    } else if (flow_is_symbol(a) || flow_is_symbol(b)) {
        return flow_throw_type(vm, "Cannot convert a Symbol value to a number");
    } else if (flow_is_bigint(a) && flow_is_bigint(b)) {
        order = flow_bigint_compare(flow_as_bigint(a), flow_as_bigint(b));
    } else if (flow_is_bigint(a)) {
        order = compare_bigint_with(vm, flow_as_bigint(a), b);
    } else if (flow_is_bigint(b)) {
        order = compare_bigint_with(vm, flow_as_bigint(b), a);
        if (order != 2) order = -order;
    } else {
        double x;
        double y;
        if (!flow_to_number(vm, a, &x) || !flow_to_number(vm, b, &y)) return false;
        order = compare_numbers(x, y);
    }
    switch (op) {
    case OP_LT: *ret = order == -1; break;
    case OP_LE: *ret = order == -1 || order == 0; break;
    case OP_GT: *ret = order == 1; break;
    case OP_GE: *ret = order == 1 || order == 0; break;
    default: UNREACHABLE();
    }
    return true;
}

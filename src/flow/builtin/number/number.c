// Number, and the global functions that read numbers: parseInt, parseFloat, isNaN, isFinite.
//
// Decimal text is read by base/text/number.h, correctly rounded; radices that are powers of two
// are too. Other radices add up chunks of digits as doubles, as the language allows.
//   [number-1] Nothing here depends on the locale of the process.
// Not here: numbers as text (number/number_format.c), locale options (prelude/date.js).
#include "base/text/number.h"
#include "base/memory.h"
#include "flow/builtin/primitives.h"
#include "flow/vm/vm.h"
#include <stdlib.h>

static FlowNativeResult number_constructor(FlowVm *vm, FlowNativeCall *call) {
    FlowValue result = flow_int(0);
    if (call->count > 0) {
        FlowValue value = call->arguments[0];
        if (flow_is_object(value)) return flow_native_primitive(call, 0, HINT_NUMBER);
        double number;
        if (flow_is_bigint(value)) number = flow_bigint_to_number(flow_as_bigint(value));
        else if (!flow_to_number(vm, value, &number)) return NATIVE_THROW;
        result = flow_number(number);
    }
    if (flow_is_undefined(call->new_target)) return flow_native_return(call, result);
    return flow_native_wrap(vm, call, KIND_NUMBER_OBJECT, PROTO_NUMBER, result);
}

// --- statics

static FlowNativeResult number_is_finite(FlowVm *vm, FlowNativeCall *call) {
    (void)vm;
    FlowValue value = flow_argument(call, 0);
    return flow_native_return(call,
                              flow_bool(flow_is_number(value) && isfinite(flow_as_number(value))));
}

static bool is_whole(FlowValue value) {
    if (flow_is_int(value)) return true;
    if (!flow_is_number(value)) return false;
    double number = flow_as_number(value);
    return isfinite(number) && trunc(number) == number;
}

static FlowNativeResult number_is_integer(FlowVm *vm, FlowNativeCall *call) {
    (void)vm;
    return flow_native_return(call, flow_bool(is_whole(flow_argument(call, 0))));
}

static FlowNativeResult number_is_nan(FlowVm *vm, FlowNativeCall *call) {
    (void)vm;
    FlowValue value = flow_argument(call, 0);
    return flow_native_return(call,
                              flow_bool(flow_is_number(value) && isnan(flow_as_number(value))));
}

static FlowNativeResult number_is_safe_integer(FlowVm *vm, FlowNativeCall *call) {
    (void)vm;
    FlowValue value = flow_argument(call, 0);
    bool is_safe = is_whole(value) && fabs(flow_as_number(value)) <= 9007199254740991.0;
    return flow_native_return(call, flow_bool(is_safe));
}

// --- prototype

static bool this_number(FlowVm *vm, FlowNativeCall *call, const char *method, double *ret) {
    FlowValue value = flow_this_primitive(call, flow_is_number, KIND_NUMBER_OBJECT);
    if (flow_is_hole(value)) {
        return flow_throw_type(vm, "Number.prototype.%s requires that 'this' be a Number", method);
    }
    *ret = flow_as_number(value);
    return true;
}

static FlowNativeResult return_text(FlowNativeCall *call, const FlowString *text) {
    return text ? flow_native_return(call, flow_from_string(text)) : NATIVE_THROW;
}

// Digits of numbers that are very large or very small are computed one by one.
static void charge_digits(FlowVm *vm, double value) {
    int exponent = 0;
    frexp(value, &exponent);
    flow_native_charge(vm, 16 * (64 + 4 * (uint64_t)abs(exponent)));
}

static FlowNativeResult number_to_string(FlowVm *vm, FlowNativeCall *call) {
    double value = 0;
    if (!this_number(vm, call, "toString", &value)) return NATIVE_THROW;
    double radix = 10;
    if (!flow_is_undefined(flow_argument(call, 0))) {
        TRY_NATIVE(flow_argument_integer(vm, call, 0, &radix));
    }
    if (radix < 2 || radix > 36) {
        return flow_native_throw(vm, ERROR_KIND_RANGE,
                                 "toString() radix argument must be between 2 and 36");
    }
    if (radix != 10) charge_digits(vm, value);
    return return_text(call, flow_number_to_radix(vm, value, (uint32_t)radix));
}

static FlowNativeResult number_value_of(FlowVm *vm, FlowNativeCall *call) {
    double value = 0;
    if (!this_number(vm, call, "valueOf", &value)) return NATIVE_THROW;
    return flow_native_return(call, flow_number(value));
}

static FlowNativeResult number_to_fixed(FlowVm *vm, FlowNativeCall *call) {
    double value = 0;
    double digits = 0;
    if (!this_number(vm, call, "toFixed", &value)) return NATIVE_THROW;
    TRY_NATIVE(flow_argument_integer(vm, call, 0, &digits));
    if (digits < 0 || digits > 100) {
        return flow_native_throw(vm, ERROR_KIND_RANGE,
                                 "toFixed() digits argument must be between 0 and 100");
    }
    charge_digits(vm, value);
    return return_text(call, flow_number_to_fixed(vm, value, (uint32_t)digits));
}

static FlowNativeResult number_to_exponential(FlowVm *vm, FlowNativeCall *call) {
    double value = 0;
    double digits = 0;
    if (!this_number(vm, call, "toExponential", &value)) return NATIVE_THROW;
    TRY_NATIVE(flow_argument_integer(vm, call, 0, &digits));
    if (!isfinite(value)) return return_text(call, flow_string_number(vm, value));
    if (digits < 0 || digits > 100) {
        return flow_native_throw(vm, ERROR_KIND_RANGE,
                                 "toExponential() argument must be between 0 and 100");
    }
    int count = flow_is_undefined(flow_argument(call, 0)) ? -1 : (int)digits;
    charge_digits(vm, value);
    return return_text(call, flow_number_to_exponential(vm, value, count));
}

static FlowNativeResult number_to_precision(FlowVm *vm, FlowNativeCall *call) {
    double value = 0;
    double precision = 0;
    if (!this_number(vm, call, "toPrecision", &value)) return NATIVE_THROW;
    if (flow_is_undefined(flow_argument(call, 0))) {
        return return_text(call, flow_string_number(vm, value));
    }
    TRY_NATIVE(flow_argument_integer(vm, call, 0, &precision));
    if (!isfinite(value)) return return_text(call, flow_string_number(vm, value));
    if (precision < 1 || precision > 100) {
        return flow_native_throw(vm, ERROR_KIND_RANGE,
                                 "toPrecision() argument must be between 1 and 100");
    }
    charge_digits(vm, value);
    return return_text(call, flow_number_to_precision(vm, value, (uint32_t)precision));
}

// %numberLocale(value, minimumFraction, maximumFraction, grouping): undefined takes the default.
static FlowNativeResult intrinsic_number_locale(FlowVm *vm, FlowNativeCall *call) {
    FlowNumberLocale locale = {0, 3, true};
    FlowValue minimum = flow_argument(call, 1);
    FlowValue maximum = flow_argument(call, 2);
    if (flow_is_number(minimum)) locale.minimum_fraction = (uint32_t)flow_as_number(minimum);
    if (locale.minimum_fraction > 3) locale.maximum_fraction = locale.minimum_fraction;
    if (flow_is_number(maximum)) {
        locale.maximum_fraction = (uint32_t)flow_as_number(maximum);
        if (locale.minimum_fraction > locale.maximum_fraction) {
            locale.minimum_fraction = locale.maximum_fraction;
        }
    }
    FlowValue grouping = flow_argument(call, 3);
    if (!flow_is_undefined(grouping)) locale.has_grouping = flow_to_boolean(grouping);
    double value = flow_as_number(flow_argument(call, 0));
    charge_digits(vm, value);
    return return_text(call, flow_number_to_locale(vm, value, &locale));
}

// %thisNumber(this, method): the number in a value or wrapper.
static FlowNativeResult intrinsic_this_number(FlowVm *vm, FlowNativeCall *call) {
    double value = 0;
    FlowNativeCall inner = *call;
    FlowValue receiver = flow_argument(call, 0);
    inner.this_value = &receiver;
    if (!this_number(vm, &inner, "toLocaleString", &value)) return NATIVE_THROW;
    return flow_native_return(call, flow_number(value));
}

// --- parsing

static uint32_t digit_value(uint16_t unit) {
    if (unit >= '0' && unit <= '9') return unit - '0';
    uint16_t lower = unit | 0x20;
    return unit < 128 && lower >= 'a' && lower <= 'z' ? lower - 'a' + 10u : 99;
}

// Radix 2^step: the first 53 significant bits, then rounding to nearest, ties to even.
static double parse_power_of_two(const FlowString *s, uint32_t at, uint32_t end, uint32_t step) {
    uint64_t value = 0;
    int32_t exponent = 0;
    bool is_sticky = false;
    for (; at < end; at++) {
        uint32_t digit = digit_value(flow_string_at(s, at));
        for (uint32_t i = step; i-- > 0;) {
            uint32_t bit = digit >> i & 1;
            if (value >> 62) {
                exponent++;
                if (bit) is_sticky = true;
            } else {
                value = value << 1 | bit;
            }
        }
        if (exponent > 2000) return INFINITY;
    }
    return ldexp((double)(value << 1 | is_sticky), exponent - 1);
}

static double parse_decimal(const FlowString *s, uint32_t at, uint32_t end) {
    char *text = mem_alloc((size_t)(end - at) + 1);
    for (uint32_t i = at; i < end; i++) text[i - at] = (char)flow_string_at(s, i);
    double value = 0;
    number_parse(text, end - at, &value);
    mem_free(text);
    return value;
}

// Other radices: the language leaves the digits after the twentieth to us. Chunks of digits that
// fit in 32 bits are added up as doubles.
static double parse_other_radix(const FlowString *s, uint32_t at, uint32_t end, uint32_t radix) {
    double value = 0;
    while (at < end) {
        uint32_t part = 0;
        uint32_t scale = 1;
        while (at < end && scale <= UINT32_MAX / 36 / radix) {
            part = part * radix + digit_value(flow_string_at(s, at++));
            scale *= radix;
        }
        if (scale == 1) break;
        value = value * scale + part;
    }
    return value;
}

static FlowNativeResult global_parse_int(FlowVm *vm, FlowNativeCall *call) {
    FlowValue first = flow_argument(call, 0);
    if (flow_is_int(first) && call->count == 1) return flow_native_return(call, first);
    FlowString *s;
    double radix_number;
    TRY_NATIVE(flow_argument_string(vm, call, 0, &s));
    TRY_NATIVE(flow_argument_number(vm, call, 1, &radix_number));
    int32_t radix = flow_double_to_int32(radix_number);
    uint32_t at = 0;
    uint32_t length = flow_string_length(s);
    while (at < length && flow_is_space(flow_string_at(s, at))) at++;
    bool is_negative = at < length && flow_string_at(s, at) == '-';
    if (at < length && (is_negative || flow_string_at(s, at) == '+')) at++;
    if (radix != 0 && (radix < 2 || radix > 36)) return flow_native_return(call, FLOW_NAN);
    if ((radix == 0 || radix == 16) && at + 1 < length && flow_string_at(s, at) == '0' &&
        (flow_string_at(s, at + 1) | 0x20) == 'x') {
        at += 2;
        radix = 16;
    }
    if (radix == 0) radix = 10;
    uint32_t end = at;
    while (end < length && digit_value(flow_string_at(s, end)) < (uint32_t)radix) end++;
    flow_native_charge(vm, (uint64_t)end * 4);
    if (end == at) return flow_native_return(call, FLOW_NAN);
    double value = 0;
    if (radix == 10) value = parse_decimal(s, at, end);
    else if ((radix & (radix - 1)) == 0) {
        value = parse_power_of_two(s, at, end, (uint32_t)__builtin_ctz((uint32_t)radix));
    } else {
        value = parse_other_radix(s, at, end, (uint32_t)radix);
    }
    return flow_native_return(call, flow_number(is_negative ? -value : value));
}

static bool starts_with_ascii(const FlowString *s, uint32_t at, const char *text) {
    for (; *text; text++, at++) {
        if (at >= flow_string_length(s) || flow_string_at(s, at) != (uint8_t)*text) return false;
    }
    return true;
}

static FlowNativeResult global_parse_float(FlowVm *vm, FlowNativeCall *call) {
    FlowValue first = flow_argument(call, 0);
    if (flow_is_int(first)) return flow_native_return(call, first);
    FlowString *s;
    TRY_NATIVE(flow_argument_string(vm, call, 0, &s));
    uint32_t at = 0;
    uint32_t length = flow_string_length(s);
    while (at < length && flow_is_space(flow_string_at(s, at))) at++;
    bool is_negative = at < length && flow_string_at(s, at) == '-';
    if (at < length && (is_negative || flow_string_at(s, at) == '+')) at++;
    double value = 0;
    if (starts_with_ascii(s, at, "Infinity")) {
        value = INFINITY;
    } else {
        uint32_t end = at; // only these can be part of a decimal literal
        while (end < length && flow_string_at(s, end) < 128 &&
               strchr("0123456789.eE+-", flow_string_at(s, end)) && flow_string_at(s, end)) {
            end++;
        }
        flow_native_charge(vm, (uint64_t)end * 8);
        if (end == at || strchr("+-", flow_string_at(s, at))) {
            return flow_native_return(call, FLOW_NAN);
        }
        char *text = mem_alloc((size_t)(end - at) + 1);
        for (uint32_t i = at; i < end; i++) text[i - at] = (char)flow_string_at(s, i);
        size_t used = number_parse(text, end - at, &value);
        mem_free(text);
        if (used == 0) return flow_native_return(call, FLOW_NAN);
    }
    return flow_native_return(call, flow_number(is_negative ? -value : value));
}

// magic: 1 for isNaN, 0 for isFinite.
static FlowNativeResult global_is_number(FlowVm *vm, FlowNativeCall *call) {
    double value = 0;
    TRY_NATIVE(flow_argument_number(vm, call, 0, &value));
    bool is_nan = flow_native_magic(call) == 1;
    return flow_native_return(call, flow_bool(is_nan ? isnan(value) : isfinite(value)));
}

#define NUMBER_CONSTANT(function, number)                                                          \
    static FlowNativeResult function(FlowVm *vm, FlowNativeCall *call) {                           \
        (void)vm;                                                                                  \
        return flow_native_return(call, flow_number(number));                                      \
    }
NUMBER_CONSTANT(number_epsilon, 0x1p-52)
NUMBER_CONSTANT(number_max_safe, 9007199254740991.0)
NUMBER_CONSTANT(number_max, 1.7976931348623157e308)
NUMBER_CONSTANT(number_min_safe, -9007199254740991.0)
NUMBER_CONSTANT(number_min, 5e-324)
NUMBER_CONSTANT(number_nan, NAN)
NUMBER_CONSTANT(number_negative_infinity, -INFINITY)
NUMBER_CONSTANT(number_infinity, INFINITY)

static const FlowNativeEntry number_statics[] = {
    NATIVE("isFinite", number_is_finite, 1),
    NATIVE("isInteger", number_is_integer, 1),
    NATIVE("isNaN", number_is_nan, 1),
    NATIVE("isSafeInteger", number_is_safe_integer, 1),
    ALIAS("parseFloat", "parseFloat"), // the global functions
    ALIAS("parseInt", "parseInt"),
    CONSTANT("MAX_VALUE", number_max),
    CONSTANT("MIN_VALUE", number_min),
    CONSTANT("NaN", number_nan),
    CONSTANT("NEGATIVE_INFINITY", number_negative_infinity),
    CONSTANT("POSITIVE_INFINITY", number_infinity),
    CONSTANT("MAX_SAFE_INTEGER", number_max_safe),
    CONSTANT("MIN_SAFE_INTEGER", number_min_safe),
    CONSTANT("EPSILON", number_epsilon),
    NATIVE_END,
};

static const FlowNativeEntry number_members[] = {
    NATIVE("toExponential", number_to_exponential, 1),
    NATIVE("toFixed", number_to_fixed, 1),
    NATIVE("toPrecision", number_to_precision, 1),
    NATIVE("toString", number_to_string, 1),
    NATIVE("valueOf", number_value_of, 0),
    PRELUDE("toLocaleString", "Number_prototype_toLocaleString", 0),
    NATIVE_END,
};

const FlowNativeEntry flow_globals_number[] = {
    NATIVE("parseFloat", global_parse_float, 1),
    NATIVE("parseInt", global_parse_int, 2),
    NATIVE_MAGIC("isFinite", global_is_number, 1, 0),
    NATIVE_MAGIC("isNaN", global_is_number, 1, 1),
    CONSTANT("NaN", number_nan),
    CONSTANT("Infinity", number_infinity),
    NATIVE_END,
};

const FlowNativeEntry flow_intrinsics_number[] = {
    NATIVE("numberLocale", intrinsic_number_locale, 4),
    NATIVE("thisNumber", intrinsic_this_number, 1),
    NATIVE_END,
};

const FlowClassEntry flow_class_number = {
    .name = "Number",
    .constructor = {"Number", number_constructor, NULL, 1, NATIVE_CONSTRUCTOR, 0},
    .statics = number_statics,
    .members = number_members,
    .kind = KIND_NUMBER_OBJECT,
    .proto_id = 1 + PROTO_NUMBER,
};

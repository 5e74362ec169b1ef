// BigInt: signs and script errors around the magnitudes of number/bigint_math.c, the operators of
// operators.h, and the BigInt constructor with its methods.
//
//   [bigint-1] Every result has at most BIGINT_BITS_MAX bits; more is a RangeError before the work
//        is done. V8 allows more; a workflow that computes with numbers of 80,000 digits is lost.
//   [bigint-2] Bitwise operators see negative numbers as infinite two's complement, as the language
//        says.
#include "base/containers/hash.h"
#include "flow/builtin/number/bigint_math.h"
#include "flow/builtin/primitives.h"
#include "flow/code/opcodes.h"
#include "flow/vm/vm.h"

static Magnitude magnitude_of(const FlowBigInt *a) { return (Magnitude){a->digits, a->cell.aux}; }

static FlowBigInt *bigint_alloc(FlowVm *vm, uint32_t count) {
    return flow_heap_alloc(&vm->heap, KIND_BIGINT, sizeof(FlowBigInt) + sizeof(uint32_t) * count);
}

// Sets sign and length of a number whose digits are in place; the cell may stay larger.
static FlowBigInt *bigint_finish(FlowVm *vm, FlowBigInt *value, uint32_t count, bool is_negative) {
    count = magnitude_trim(value->digits, count);
    if (magnitude_bits((Magnitude){value->digits, count}) > BIGINT_BITS_MAX) {
        flow_throw_range(vm, "Maximum BigInt size exceeded");
        return NULL;
    }
    value->cell.aux = count;
    value->is_negative = count > 0 && is_negative;
    return value;
}

static FlowBigInt *bigint_from_int(FlowVm *vm, int32_t number) {
    FlowBigInt *value = bigint_alloc(vm, 1);
    value->digits[0] = number < 0 ? 0u - (uint32_t)number : (uint32_t)number;
    return bigint_finish(vm, value, 1, number < 0);
}

static FlowBigInt *too_big(FlowVm *vm) {
    flow_throw_range(vm, "Maximum BigInt size exceeded");
    return NULL;
}

// a + b, or a - b with the sign of b turned round.
static FlowBigInt *add_signed(FlowVm *vm, const FlowBigInt *a, const FlowBigInt *b,
                              bool is_b_negative) {
    Magnitude x = magnitude_of(a);
    Magnitude y = magnitude_of(b);
    uint32_t room = (x.count > y.count ? x.count : y.count) + 1;
    FlowBigInt *sum = bigint_alloc(vm, room);
    if ((bool)a->is_negative == is_b_negative) {
        uint32_t count = magnitude_add(x, y, sum->digits);
        return bigint_finish(vm, sum, count, a->is_negative);
    }
    if (magnitude_compare(x, y) >= 0) {
        return bigint_finish(vm, sum, magnitude_sub(x, y, sum->digits), a->is_negative);
    }
    return bigint_finish(vm, sum, magnitude_sub(y, x, sum->digits), is_b_negative);
}

static FlowBigInt *multiply(FlowVm *vm, const FlowBigInt *a, const FlowBigInt *b) {
    Magnitude x = magnitude_of(a);
    Magnitude y = magnitude_of(b);
    if (magnitude_bits(x) + magnitude_bits(y) > BIGINT_BITS_MAX + 1) return too_big(vm);
    FlowBigInt *product = bigint_alloc(vm, x.count + y.count);
    flow_native_charge(vm, (uint64_t)x.count * y.count);
    uint32_t count = magnitude_mul(x, y, product->digits);
    return bigint_finish(vm, product, count, a->is_negative != b->is_negative);
}

static FlowBigInt *divide(FlowVm *vm, const FlowBigInt *a, const FlowBigInt *b,
                          bool wants_remainder) {
    if (b->cell.aux == 0) {
        flow_throw_range(vm, "Division by zero");
        return NULL;
    }
    uint32_t room = a->cell.aux + 1;
    FlowBigInt *quotient = bigint_alloc(vm, room);
    FlowBigInt *remainder = bigint_alloc(vm, room);
    flow_native_charge(vm, (uint64_t)a->cell.aux * b->cell.aux);
    magnitude_divide(magnitude_of(a), magnitude_of(b), quotient->digits, remainder->digits);
    if (wants_remainder) return bigint_finish(vm, remainder, room, a->is_negative);
    return bigint_finish(vm, quotient, room, a->is_negative != b->is_negative);
}

static FlowBigInt *copy_signed(FlowVm *vm, const FlowBigInt *a, bool is_negative) {
    FlowBigInt *copy = bigint_alloc(vm, a->cell.aux);
    memcpy(copy->digits, a->digits, sizeof(uint32_t) * a->cell.aux);
    return bigint_finish(vm, copy, a->cell.aux, is_negative);
}

static FlowBigInt *power(FlowVm *vm, const FlowBigInt *base, const FlowBigInt *exponent) {
    if (exponent->is_negative) {
        flow_throw_range(vm, "Exponent must be non-negative");
        return NULL;
    }
    Magnitude x = magnitude_of(base);
    bool is_odd = exponent->cell.aux > 0 && exponent->digits[0] & 1;
    if (exponent->cell.aux == 0) return bigint_from_int(vm, 1);
    if (x.count == 0) return bigint_from_int(vm, 0);
    if (x.count == 1 && x.digits[0] == 1) {
        return bigint_from_int(vm, base->is_negative && is_odd ? -1 : 1);
    }
    if (exponent->cell.aux > 1) return too_big(vm);
    uint32_t left = exponent->digits[0];
    if ((uint64_t)(magnitude_bits(x) - 1) * left > BIGINT_BITS_MAX) return too_big(vm);
    FlowBigInt *result = NULL;
    const FlowBigInt *square = base;
    for (;;) {
        if (left & 1) {
            result = result ? multiply(vm, result, square)
                            : copy_signed(vm, square, square->is_negative);
            if (!result) return NULL;
        }
        left >>= 1;
        if (!left) return result;
        square = multiply(vm, square, square);
        if (!square) return NULL;
    }
}

// --- shifts and bits

static FlowBigInt *shift_left(FlowVm *vm, const FlowBigInt *a, uint32_t bits) {
    Magnitude x = magnitude_of(a);
    if (x.count == 0) return bigint_from_int(vm, 0);
    if (bits > BIGINT_BITS_MAX || magnitude_bits(x) + bits > BIGINT_BITS_MAX) return too_big(vm);
    FlowBigInt *result = bigint_alloc(vm, x.count + bits / 32 + 1);
    uint32_t count = magnitude_shift_left(x, bits, result->digits);
    return bigint_finish(vm, result, count, a->is_negative);
}

// Rounds towards minus infinity: a negative number that loses a 1 bit moves one further down.
static FlowBigInt *shift_right(FlowVm *vm, const FlowBigInt *a, uint32_t bits) {
    Magnitude x = magnitude_of(a);
    if (bits >= magnitude_bits(x)) return bigint_from_int(vm, a->is_negative ? -1 : 0);
    FlowBigInt *result = bigint_alloc(vm, x.count + 1);
    uint32_t count = magnitude_shift_right(x, bits, result->digits);
    if (a->is_negative && magnitude_has_bit_below(x, bits)) {
        count = magnitude_scale(result->digits, count, 1, 1);
    }
    return bigint_finish(vm, result, count, a->is_negative);
}

static FlowBigInt *shift(FlowVm *vm, const FlowBigInt *a, const FlowBigInt *by, bool is_left) {
    if (by->is_negative) is_left = !is_left;
    // A distance beyond 32 bits is beyond every number.
    uint32_t bits = by->cell.aux == 0 ? 0 : by->cell.aux > 1 ? UINT32_MAX : by->digits[0];
    return is_left ? shift_left(vm, a, bits) : shift_right(vm, a, bits);
}

// The two's complement of a in `count` digits.
static void to_complement(const FlowBigInt *a, uint32_t *ret_digits, uint32_t count) {
    uint64_t carry = 1;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t digit = i < a->cell.aux ? a->digits[i] : 0;
        if (a->is_negative) {
            carry += (uint32_t)~digit;
            digit = (uint32_t)carry;
            carry >>= 32;
        }
        ret_digits[i] = digit;
    }
}

// Digits in two's complement become a number, in place.
static FlowBigInt *from_complement(FlowVm *vm, FlowBigInt *value, uint32_t count) {
    bool is_negative = count > 0 && value->digits[count - 1] >> 31;
    if (is_negative) {
        uint64_t carry = 1;
        for (uint32_t i = 0; i < count; i++) {
            carry += (uint32_t)~value->digits[i];
            value->digits[i] = (uint32_t)carry;
            carry >>= 32;
        }
    }
    return bigint_finish(vm, value, count, is_negative);
}

static FlowBigInt *bitwise(FlowVm *vm, uint16_t op, const FlowBigInt *a, const FlowBigInt *b) {
    uint32_t count = (a->cell.aux > b->cell.aux ? a->cell.aux : b->cell.aux) + 1;
    FlowBigInt *x = bigint_alloc(vm, count);
    FlowBigInt *y = bigint_alloc(vm, count);
    to_complement(a, x->digits, count);
    to_complement(b, y->digits, count);
    for (uint32_t i = 0; i < count; i++) {
        if (op == OP_BIT_AND) x->digits[i] &= y->digits[i];
        else if (op == OP_BIT_OR) x->digits[i] |= y->digits[i];
        else x->digits[i] ^= y->digits[i];
    }
    return from_complement(vm, x, count);
}

// --- operators.h

FlowBigInt *flow_bigint_arithmetic(FlowVm *vm, uint16_t op, const FlowBigInt *a,
                                   const FlowBigInt *b) {
    switch (op) {
    case OP_ADD: return add_signed(vm, a, b, b->is_negative);
    case OP_SUB: return add_signed(vm, a, b, !b->is_negative);
    case OP_MUL: return multiply(vm, a, b);
    case OP_DIV: return divide(vm, a, b, false);
    case OP_MOD: return divide(vm, a, b, true);
    case OP_EXP: return power(vm, a, b);
    case OP_BIT_AND:
    case OP_BIT_OR:
    case OP_BIT_XOR: return bitwise(vm, op, a, b);
    case OP_SHL: return shift(vm, a, b, true);
    case OP_SHR: return shift(vm, a, b, false);
    default:
        ASSERT(op == OP_USHR);
        flow_throw_type(vm, "BigInts have no unsigned right shift, use >> instead");
        return NULL;
    }
}

FlowBigInt *flow_bigint_unary(FlowVm *vm, uint16_t op, const FlowBigInt *a) {
    if (op == OP_NEGATE) return copy_signed(vm, a, !a->is_negative);
    FlowBigInt *one = bigint_from_int(vm, 1);
    if (op == OP_INCREMENT) return add_signed(vm, a, one, false);
    FlowBigInt *less = add_signed(vm, a, one, op == OP_DECREMENT);
    if (op == OP_DECREMENT || !less) return less;
    ASSERT(op == OP_BIT_NOT); // ~a is -(a + 1)
    less->is_negative = less->cell.aux > 0 && !less->is_negative;
    return less;
}

int flow_bigint_compare(const FlowBigInt *a, const FlowBigInt *b) {
    if (a->is_negative != b->is_negative) return a->is_negative ? -1 : 1;
    int order = magnitude_compare(magnitude_of(a), magnitude_of(b));
    return a->is_negative ? -order : order;
}

int flow_bigint_compare_number(const FlowBigInt *a, double number) {
    if (isnan(number)) return 2;
    if (isinf(number)) return number > 0 ? -1 : 1;
    bool is_negative = number < 0;
    if ((bool)a->is_negative != is_negative) {
        if (a->cell.aux == 0 && number == 0) return 0;
        return a->is_negative ? -1 : is_negative ? 1 : a->cell.aux == 0 && number > 0 ? -1 : 1;
    }
    double whole = trunc(fabs(number));
    uint32_t digits[33];
    Magnitude other = {digits, magnitude_from_double(whole, digits)};
    int order = magnitude_compare(magnitude_of(a), other);
    if (order == 0 && whole < fabs(number)) order = -1;
    return is_negative ? -order : order;
}

double flow_bigint_to_number(const FlowBigInt *value) {
    double number = magnitude_to_double(magnitude_of(value));
    return value->is_negative ? -number : number;
}

static FlowBigInt *flow_bigint_from_double(FlowVm *vm, double whole) {
    FlowBigInt *value = bigint_alloc(vm, 33);
    uint32_t count = magnitude_from_double(fabs(whole), value->digits);
    return bigint_finish(vm, value, count, whole < 0);
}

uint32_t flow_bigint_hash(const FlowBigInt *value) {
    uint64_t hash = hash_bytes(value->digits, sizeof(uint32_t) * value->cell.aux);
    return (uint32_t)(hash ^ hash >> 32) ^ value->is_negative;
}

// --- text

static uint32_t digit_value(uint16_t unit) {
    if (unit >= '0' && unit <= '9') return unit - '0';
    uint16_t lower = unit | 0x20;
    return lower >= 'a' && lower <= 'z' ? lower - 'a' + 10u : 99;
}

// Digits of `text` from `at` to `end`. NULL with or without exception, as flow_bigint_parse.
static FlowBigInt *parse_digits(FlowVm *vm, const FlowString *text, uint32_t at, uint32_t end,
                                uint32_t radix) {
    if (at == end) return NULL;
    while (at + 1 < end && flow_string_at(text, at) == '0') at++;
    for (uint32_t i = at; i < end; i++) {
        if (digit_value(flow_string_at(text, i)) >= radix) return NULL;
    }
    // Every digit has at least log2(radix) bits, rounded down.
    if ((uint64_t)(end - at - 1) * (31 - (uint32_t)__builtin_clz(radix)) > BIGINT_BITS_MAX) {
        return too_big(vm);
    }
    FlowBigInt *value = bigint_alloc(vm, (end - at) / 6 + 2); // 36^6 < 2^32
    uint32_t count = 0;
    while (at < end) {
        uint32_t chunk = 0;
        uint32_t scale = 1;
        for (uint32_t i = 0; i < 6 && at < end; i++, at++) {
            chunk = chunk * radix + digit_value(flow_string_at(text, at));
            scale *= radix;
        }
        count = magnitude_scale(value->digits, count, scale, chunk);
    }
    flow_native_charge(vm, (uint64_t)count * count);
    return bigint_finish(vm, value, count, false);
}

FlowBigInt *flow_bigint_parse(FlowVm *vm, FlowString *text) {
    FlowString *flat = flow_string_flat(vm, text);
    uint32_t at = 0;
    uint32_t end = flow_string_length(flat);
    flow_native_charge(vm, (uint64_t)end * 8);
    while (at < end && flow_is_space(flow_string_at(flat, at))) at++;
    while (end > at && flow_is_space(flow_string_at(flat, end - 1))) end--;
    if (at == end) return bigint_from_int(vm, 0);
    uint16_t first = flow_string_at(flat, at);
    if (first == '0' && end - at > 2) {
        uint16_t letter = flow_string_at(flat, at + 1) | 0x20;
        uint32_t radix = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 0;
        if (radix) return parse_digits(vm, flat, at + 2, end, radix);
    }
    bool has_sign = first == '-' || first == '+';
    FlowBigInt *value = parse_digits(vm, flat, at + has_sign, end, 10);
    if (value && first == '-' && value->cell.aux) value->is_negative = true;
    return value;
}

FlowString *flow_bigint_to_string(FlowVm *vm, const FlowBigInt *value, uint32_t radix) {
    Magnitude a = magnitude_of(value);
    FlowBigInt *scratch = bigint_alloc(vm, a.count);
    FlowString *text = flow_string_alloc(vm, magnitude_text_max(a, radix) + 1, false);
    flow_native_charge(vm, (uint64_t)a.count * a.count);
    char *out = (char *)text->latin1;
    if (value->is_negative) *out++ = '-';
    out += magnitude_to_text(a, radix, scratch->digits, out);
    FlowString *result = flow_string_latin1(vm, text->latin1, (size_t)(out - (char *)text->latin1));
    flow_heap_free(&vm->heap, text);
    flow_heap_free(&vm->heap, scratch);
    return result;
}

static FlowString *flow_bigint_group(FlowVm *vm, const FlowBigInt *value) {
    FlowString *plain = flow_bigint_to_string(vm, value, 10);
    uint32_t length = flow_string_length(plain);
    uint32_t sign = value->is_negative ? 1 : 0;
    FlowStringBuilder builder;
    flow_builder_init(&builder, vm);
    for (uint32_t i = 0; i < length; i++) {
        if (i > sign && (length - i) % 3 == 0) flow_builder_unit(&builder, ',');
        flow_builder_unit(&builder, flow_string_at(plain, i));
    }
    return flow_builder_finish(&builder);
}

// ToBigInt of a primitive. NULL: exception pending.
static FlowBigInt *flow_to_bigint(FlowVm *vm, FlowValue primitive) {
    char text[FLOW_TEXT_MAX];
    if (flow_is_bigint(primitive)) return flow_as_bigint(primitive);
    if (flow_is_boolean(primitive)) return bigint_from_int(vm, flow_is_true(primitive));
    if (!flow_is_string(primitive)) {
        flow_throw_type(vm, "Cannot convert %s to a BigInt", flow_describe(vm, primitive, text));
        return NULL;
    }
    FlowValue before = vm->exception;
    FlowBigInt *value = flow_bigint_parse(vm, flow_as_string(primitive));
    if (value || !flow_same_bits(before, vm->exception)) return value;
    Buf plain;
    buf_init(&plain, 1 << 12);
    flow_string_to_utf8(vm, flow_as_string(primitive), &plain);
    flow_throw_error(vm, ERROR_KIND_SYNTAX, "Cannot convert %s to a BigInt", buf_cstr(&plain));
    buf_done(&plain);
    return NULL;
}

// --- constructor and methods

static FlowNativeResult return_bigint(FlowNativeCall *call, const FlowBigInt *value) {
    return value ? flow_native_return(call, flow_from_bigint(value)) : NATIVE_THROW;
}

static FlowNativeResult bigint_constructor(FlowVm *vm, FlowNativeCall *call) {
    if (!flow_is_undefined(call->new_target)) {
        return flow_native_throw(vm, ERROR_KIND_TYPE, "BigInt is not a constructor");
    }
    FlowValue value = flow_argument(call, 0);
    if (flow_is_object(value)) return flow_native_primitive(call, 0, HINT_NUMBER);
    if (!flow_is_number(value)) return return_bigint(call, flow_to_bigint(vm, value));
    double number = flow_as_number(value);
    if (isnan(number) || isinf(number) || trunc(number) != number) {
        FlowString *text = flow_string_number(vm, number);
        return flow_native_throw(vm, ERROR_KIND_RANGE,
                                 "The number %.*s cannot be converted to a BigInt because it is "
                                 "not an integer",
                                 (int)flow_string_length(text), (const char *)text->latin1);
    }
    return return_bigint(call, flow_bigint_from_double(vm, number));
}

static FlowBigInt *this_bigint(FlowVm *vm, FlowNativeCall *call, const char *method) {
    FlowValue value = flow_this_primitive(call, flow_is_bigint, KIND_BIGINT_OBJECT);
    if (!flow_is_hole(value)) return flow_as_bigint(value);
    flow_throw_type(vm, "BigInt.prototype.%s requires that 'this' be a BigInt", method);
    return NULL;
}

static FlowNativeResult bigint_to_string(FlowVm *vm, FlowNativeCall *call) {
    FlowBigInt *value = this_bigint(vm, call, "toString");
    if (!value) return NATIVE_THROW;
    double radix = 10;
    if (!flow_is_undefined(flow_argument(call, 0))) {
        TRY_NATIVE(flow_argument_integer(vm, call, 0, &radix));
    }
    if (radix < 2 || radix > 36) {
        return flow_native_throw(vm, ERROR_KIND_RANGE,
                                 "toString() radix argument must be between 2 and 36");
    }
    FlowString *text = flow_bigint_to_string(vm, value, (uint32_t)radix);
    return flow_native_return(call, flow_from_string(text));
}

static FlowNativeResult bigint_to_locale_string(FlowVm *vm, FlowNativeCall *call) {
    FlowBigInt *value = this_bigint(vm, call, "toLocaleString");
    if (!value) return NATIVE_THROW;
    return flow_native_return(call, flow_from_string(flow_bigint_group(vm, value)));
}

static FlowNativeResult bigint_value_of(FlowVm *vm, FlowNativeCall *call) {
    return return_bigint(call, this_bigint(vm, call, "valueOf"));
}

// value modulo 2^bits, in 0 .. 2^bits - 1. `bits` is within the size limit.
static FlowBigInt *wrap_unsigned(FlowVm *vm, const FlowBigInt *value, uint32_t bits) {
    uint32_t count = (bits + 31) / 32;
    FlowBigInt *result = bigint_alloc(vm, count + 1);
    to_complement(value, result->digits, count);
    if (bits % 32) result->digits[count - 1] &= (1u << bits % 32) - 1;
    return bigint_finish(vm, result, count, false);
}

static FlowBigInt *wrap_signed(FlowVm *vm, const FlowBigInt *value, uint32_t bits) {
    FlowBigInt *result = wrap_unsigned(vm, value, bits);
    if (!result || bits == 0 || magnitude_bits(magnitude_of(result)) < bits) return result;
    FlowBigInt *modulus = shift_left(vm, bigint_from_int(vm, 1), bits);
    return modulus ? add_signed(vm, result, modulus, true) : NULL;
}

// magic: 1 for asIntN, 0 for asUintN.
static FlowNativeResult bigint_as_n(FlowVm *vm, FlowNativeCall *call) {
    double bits;
    TRY_NATIVE(flow_argument_integer(vm, call, 0, &bits));
    if (bits < 0 || bits > 9007199254740991.0) {
        return flow_native_throw(vm, ERROR_KIND_RANGE,
                                 "Invalid value: not (convertible to) a safe integer");
    }
    FlowValue argument = flow_argument(call, 1);
    if (flow_is_object(argument)) return flow_native_primitive(call, 1, HINT_NUMBER);
    FlowBigInt *value = flow_to_bigint(vm, argument);
    if (!value) return NATIVE_THROW;
    bool is_signed = flow_native_magic(call) == 1;
    uint32_t used = magnitude_bits(magnitude_of(value));
    if (bits > used && (is_signed || !value->is_negative)) return return_bigint(call, value);
    if (bits > BIGINT_BITS_MAX) return return_bigint(call, too_big(vm));
    return return_bigint(call, is_signed ? wrap_signed(vm, value, (uint32_t)bits)
                                         : wrap_unsigned(vm, value, (uint32_t)bits));
}

static const FlowNativeEntry bigint_statics[] = {
    NATIVE_MAGIC("asUintN", bigint_as_n, 2, 0),
    NATIVE_MAGIC("asIntN", bigint_as_n, 2, 1),
    NATIVE_END,
};

static const FlowNativeEntry bigint_members[] = {
    NATIVE("toLocaleString", bigint_to_locale_string, 0),
    NATIVE("toString", bigint_to_string, 0),
    NATIVE("valueOf", bigint_value_of, 0),
    NATIVE_END,
};

const FlowClassEntry flow_class_bigint = {
    .name = "BigInt",
    // new BigInt() is refused by the native itself, so that the message is right.
    .constructor = {"BigInt", bigint_constructor, NULL, 1, NATIVE_CONSTRUCTOR, 0},
    .statics = bigint_statics,
    .members = bigint_members,
    .tag = "BigInt",
    .kind = KIND_OBJECT,
    .proto_id = 1 + PROTO_BIGINT,
};

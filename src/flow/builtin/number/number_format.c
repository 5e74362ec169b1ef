// Numbers as text where the language asks for a given number of digits or another radix.
//
// toFixed and its kin round the exact value of the double: it is written out in full as decimal
// digits first (a double has at most 767), so a tie is a tie only when it truly is one.
//   [number-number-format-1] A tie goes away from zero, as the language says ("let n be the
//        larger").
//   [number-number-format-2] Nothing here depends on the locale of the process.
#include "base/text/number.h"
#include "flow/builtin/number/bigint_math.h"
#include "flow/builtin/primitives.h"
#include "flow/vm/vm.h"

enum { DECIMAL_MAX = 1100, RADIX_TEXT_MAX = 2300 };

typedef struct Decimal { // 0.d1d2d3… × 10^point; no digits: zero
    char digits[DECIMAL_MAX];
    int count;
    int point;
} Decimal;

// The exact value. m × 2^-k is m × 5^k × 10^-k.
static void decimal_exact(double value, Decimal *ret) {
    ret->count = 0;
    ret->point = 0;
    if (value == 0) return;
    int exponent;
    double fraction = frexp(value, &exponent);
    uint64_t mantissa = (uint64_t)ldexp(fraction, 53);
    exponent -= 53;
    while ((mantissa & 1) == 0) {
        mantissa >>= 1;
        exponent++;
    }
    uint32_t digits[96] = {(uint32_t)mantissa, (uint32_t)(mantissa >> 32)};
    uint32_t scratch[96];
    uint32_t count = magnitude_trim(digits, 2);
    int left = exponent < 0 ? -exponent : 0;
    for (; left >= 13; left -= 13) count = magnitude_scale(digits, count, 1220703125, 0); // 5^13
    for (; left > 0; left--) count = magnitude_scale(digits, count, 5, 0);
    if (exponent > 0) {
        Magnitude small = {digits, count};
        count = magnitude_shift_left(small, (uint32_t)exponent, scratch);
        memcpy(digits, scratch, sizeof(uint32_t) * count);
    }
    ret->count = (int)magnitude_to_text((Magnitude){digits, count}, 10, scratch, ret->digits);
    ret->point = ret->count + (exponent < 0 ? exponent : 0);
}

static void decimal_shortest(double value, Decimal *ret) {
    ret->count = 0;
    ret->point = 0;
    if (value == 0) return;
    char digits[18];
    ret->count = number_shortest_digits(value, digits, &ret->point);
    memcpy(ret->digits, digits, (size_t)ret->count);
}

// Keeps the first `keep` digits, which may be none or fewer than none. [number-number-format-1]
static void decimal_round(Decimal *decimal, int keep) {
    if (keep >= decimal->count) return;
    bool is_up = keep >= 0 && decimal->digits[keep] >= '5';
    decimal->count = keep < 0 ? 0 : keep;
    if (!is_up) return;
    int at = decimal->count;
    while (at > 0 && decimal->digits[at - 1] == '9') at--;
    if (at == 0) {
        decimal->digits[0] = '1';
        decimal->count = 1;
        decimal->point++;
        return;
    }
    decimal->digits[at - 1]++;
    decimal->count = at; // the nines behind it have become zeros, which need not be kept
}

static char digit_at(const Decimal *decimal, int i) {
    return i >= 0 && i < decimal->count ? decimal->digits[i] : '0';
}

static FlowString *finish_text(FlowVm *vm, const char *text, size_t length) {
    return flow_string_latin1(vm, (const uint8_t *)text, length);
}

// The everyday case in 128 bits: m × 10^f is below 2^80 and is shifted right, rounding half up.
// Answers the length; 0: not such a case.
static size_t fixed_small(double value, uint32_t fraction_digits, char *text) {
    static const uint32_t powers[] = {1,      10,      100,      1000,     10000,
                                      100000, 1000000, 10000000, 100000000};
    int exponent;
    double fraction = frexp(fabs(value), &exponent);
    int shift = 53 - exponent;
    if (fraction_digits > 8 || value == 0 || fabs(value) >= 1e10 || shift > 110) return 0;
    unsigned __int128 scaled =
        (unsigned __int128)(uint64_t)ldexp(fraction, 53) * powers[fraction_digits];
    uint64_t number = (uint64_t)((scaled + ((unsigned __int128)1 << (shift - 1))) >> shift);
    char digits[NUMBER_TEXT_MAX];
    size_t count = number_format_i64((int64_t)number, digits);
    size_t length = 0;
    if (value < 0) text[length++] = '-';
    for (size_t i = count; i <= fraction_digits; i++) {
        text[length++] = '0';
        if (i == count && fraction_digits) text[length++] = '.';
    }
    for (size_t i = 0; i < count; i++) {
        if (count > fraction_digits && i == count - fraction_digits) text[length++] = '.';
        text[length++] = digits[i];
    }
    return length;
}

FlowString *flow_number_to_fixed(FlowVm *vm, double value, uint32_t fraction_digits) {
    if (!isfinite(value) || fabs(value) >= 1e21) return flow_string_number(vm, value);
    char small[64];
    size_t small_length = fixed_small(value, fraction_digits, small);
    if (small_length) return finish_text(vm, small, small_length);
    Decimal decimal;
    decimal_exact(fabs(value), &decimal);
    decimal_round(&decimal, decimal.point + (int)fraction_digits);
    char text[160];
    size_t length = 0;
    if (value < 0) text[length++] = '-';
    int whole = decimal.count > 0 && decimal.point > 0 ? decimal.point : 0;
    if (whole == 0) text[length++] = '0';
    for (int i = 0; i < whole; i++) text[length++] = digit_at(&decimal, i);
    if (fraction_digits) text[length++] = '.';
    for (int i = 0; i < (int)fraction_digits; i++) {
        text[length++] = decimal.count ? digit_at(&decimal, decimal.point + i) : '0';
    }
    return finish_text(vm, text, length);
}

static size_t put_exponential(const Decimal *decimal, int digit_count, char *text) {
    size_t length = 0;
    text[length++] = digit_at(decimal, 0);
    if (digit_count > 1) text[length++] = '.';
    for (int i = 1; i < digit_count; i++) text[length++] = digit_at(decimal, i);
    int exponent = decimal->count ? decimal->point - 1 : 0;
    text[length++] = 'e';
    text[length++] = exponent < 0 ? '-' : '+';
    char number[NUMBER_TEXT_MAX];
    size_t size = number_format_i64(exponent < 0 ? -exponent : exponent, number);
    memcpy(text + length, number, size);
    return length + size;
}

FlowString *flow_number_to_exponential(FlowVm *vm, double value, int fraction_digits) {
    if (!isfinite(value)) return flow_string_number(vm, value);
    Decimal decimal;
    if (fraction_digits < 0) {
        decimal_shortest(fabs(value), &decimal);
        fraction_digits = decimal.count ? decimal.count - 1 : 0;
    } else {
        decimal_exact(fabs(value), &decimal);
        decimal_round(&decimal, fraction_digits + 1);
    }
    char text[160];
    size_t length = 0;
    if (value < 0) text[length++] = '-';
    length += put_exponential(&decimal, fraction_digits + 1, text + length);
    return finish_text(vm, text, length);
}

FlowString *flow_number_to_precision(FlowVm *vm, double value, uint32_t precision) {
    if (!isfinite(value)) return flow_string_number(vm, value);
    Decimal decimal;
    decimal_exact(fabs(value), &decimal);
    decimal_round(&decimal, (int)precision);
    int exponent = decimal.count ? decimal.point - 1 : 0;
    char text[160];
    size_t length = 0;
    if (value < 0) text[length++] = '-';
    if (exponent < -6 || exponent >= (int)precision) {
        length += put_exponential(&decimal, (int)precision, text + length);
        return finish_text(vm, text, length);
    }
    if (exponent < 0) {
        text[length++] = '0';
        text[length++] = '.';
        for (int i = -1; i > exponent; i--) text[length++] = '0';
        for (int i = 0; i < (int)precision; i++) text[length++] = digit_at(&decimal, i);
        return finish_text(vm, text, length);
    }
    for (int i = 0; i < (int)precision; i++) {
        if (i == exponent + 1) text[length++] = '.';
        text[length++] = digit_at(&decimal, i);
    }
    return finish_text(vm, text, length);
}

FlowString *flow_number_to_locale(FlowVm *vm, double value, const FlowNumberLocale *locale) {
    FlowStringBuilder builder;
    flow_builder_init(&builder, vm);
    if (isnan(value)) {
        flow_builder_ascii(&builder, "NaN");
        return flow_builder_finish(&builder);
    }
    if (signbit(value)) flow_builder_unit(&builder, '-');
    if (isinf(value)) {
        flow_builder_unit(&builder, 0x221E);
        return flow_builder_finish(&builder);
    }
    Decimal decimal;
    decimal_shortest(fabs(value), &decimal); // rounds what people see, not the exact value
    decimal_round(&decimal, decimal.point + (int)locale->maximum_fraction);
    int whole = decimal.count > 0 && decimal.point > 0 ? decimal.point : 0;
    if (whole == 0) flow_builder_unit(&builder, '0');
    for (int i = 0; i < whole; i++) {
        if (locale->has_grouping && i > 0 && (whole - i) % 3 == 0) flow_builder_unit(&builder, ',');
        flow_builder_unit(&builder, (uint16_t)digit_at(&decimal, i));
    }
    int point = decimal.count ? decimal.point : 0;
    int fraction = (int)locale->maximum_fraction;
    while (fraction > (int)locale->minimum_fraction &&
           (!decimal.count || digit_at(&decimal, point + fraction - 1) == '0')) {
        fraction--;
    }
    if (fraction > 0) flow_builder_unit(&builder, '.');
    for (int i = 0; i < fraction; i++) {
        char digit = decimal.count ? digit_at(&decimal, point + i) : '0';
        flow_builder_unit(&builder, (uint16_t)digit);
    }
    return flow_builder_finish(&builder);
}

// --- other radices

static char radix_digit(int digit) { return "0123456789abcdefghijklmnopqrstuvwxyz"[digit]; }

// Adds one to the last digit of a fraction; true when the carry leaves it.
static bool carry_fraction(char *text, size_t *length, uint32_t radix) {
    while (*length > 0) {
        char c = text[*length - 1];
        uint32_t digit = (uint32_t)(c > '9' ? c - 'a' + 10 : c - '0');
        if (digit + 1 < radix) {
            text[*length - 1] = radix_digit((int)digit + 1);
            return false;
        }
        (*length)--;
    }
    return true;
}

// As many digits as tell the number from its neighbours: `delta` is half the distance to the next
// double, in units of the last digit written.
static size_t put_fraction(double value, double *whole, uint32_t radix, char *text) {
    double fraction = value - *whole;
    double delta = 0.5 * (nextafter(value, INFINITY) - value);
    if (delta < 5e-324) delta = 5e-324;
    size_t length = 0;
    if (fraction < delta) return 0;
    do {
        fraction *= radix;
        delta *= radix;
        int digit = (int)fraction;
        text[length++] = radix_digit(digit);
        fraction -= digit;
        bool is_up = fraction > 0.5 || (fraction == 0.5 && (digit & 1));
        if (is_up && fraction + delta > 1) {
            if (carry_fraction(text, &length, radix)) *whole += 1;
            break;
        }
    } while (fraction >= delta);
    return length;
}

FlowString *flow_number_to_radix(FlowVm *vm, double value, uint32_t radix) {
    if (!isfinite(value) || radix == 10) return flow_string_number(vm, value);
    double magnitude = fabs(value);
    double whole = floor(magnitude);
    char fraction[RADIX_TEXT_MAX];
    size_t fraction_length = put_fraction(magnitude, &whole, radix, fraction);
    char text[RADIX_TEXT_MAX]; // whole part from the end backwards
    size_t start = sizeof text;
    while (whole / radix >= 9007199254740992.0) { // digits beyond the precision are zeros
        whole /= radix;
        text[--start] = '0';
    }
    do {
        double digit = fmod(whole, radix);
        text[--start] = radix_digit((int)digit);
        whole = (whole - digit) / radix;
    } while (whole > 0);
    FlowStringBuilder builder;
    flow_builder_init(&builder, vm);
    if (value < 0) flow_builder_unit(&builder, '-');
    for (; start < sizeof text; start++) flow_builder_unit(&builder, (uint8_t)text[start]);
    if (fraction_length) flow_builder_unit(&builder, '.');
    for (size_t i = 0; i < fraction_length; i++) flow_builder_unit(&builder, (uint8_t)fraction[i]);
    return flow_builder_finish(&builder);
}

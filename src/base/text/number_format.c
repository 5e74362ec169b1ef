// Numbers to text: the shortest decimal that reads back as the same double.
//
// The method is Schubfach (R. Giulietti, "The Schubfach way to render doubles"): the interval of
// decimals that round to the double is scaled by a power of ten so that it holds at most a few
// integers, and the right one is picked with three multiplications of 64 by 128 bits. The
// multiplications round to odd, which keeps every comparison with the interval's ends exact.
//   [text-number-format-1] The digits are the shortest that read back, and of those the closest to
//        the value.
//   [text-number-format-2] Text has ECMAScript's layout: plain up to 21 integer digits and down to
//        1e-6.
#include "base/assert.h"
#include "base/text/number.h"
#include "base/text/number_powers.h"
#include <math.h>

enum {
    FRACTION_BITS = 52,
    EXPONENT_BIAS = 1075, // of the significand taken as an integer
    DIGITS_MAX = 17,
};

#define HIDDEN_BIT         (1ull << FRACTION_BITS)
#define SAFE_INTEGER_LIMIT 9007199254740992.0 // 2^53

static const char digit_pairs[] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445"
    "46474849505152535455565758596061626364656667686970717273747576777879808182838485868788899091"
    "9293949596979899";

// Writes `value` so that it ends before `end`; answers where it starts.
static char *write_digits_before(char *end, uint64_t value) {
    while (value >= 100) {
        end -= 2;
        memcpy(end, digit_pairs + 2 * (value % 100), 2);
        value /= 100;
    }
    if (value >= 10) {
        end -= 2;
        memcpy(end, digit_pairs + 2 * value, 2);
    } else {
        *--end = (char)('0' + value);
    }
    return end;
}

size_t number_format_i64(int64_t value, char ret_text[NUMBER_TEXT_MAX]) {
    char reversed[24];
    char *end = reversed + sizeof(reversed);
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    char *start = write_digits_before(end, magnitude);
    if (value < 0) *--start = '-';
    size_t len = (size_t)(end - start);
    memcpy(ret_text, start, len);
    ret_text[len] = '\0';
    return len;
}

// floor(power x scaled / 2^128), with the lowest bit set when something was cut off: "to odd".
static uint64_t multiply_to_odd(PowerOfTen power, uint64_t scaled) {
    Wide low = (Wide)power.low * scaled;
    Wide sum = (Wide)power.high * scaled + (uint64_t)(low >> 64);
    return (uint64_t)(sum >> 64) | ((uint64_t)sum > 1);
}

typedef struct Decimal { // digits x 10^exponent
    uint64_t digits;
    int exponent;
} Decimal;

static Decimal shortest_decimal(uint64_t significand, int exponent, bool is_power_of_two) {
    // The interval in quarter units: its lower half is narrower just above a power of two.
    bool is_odd = significand & 1; // then the ends themselves round elsewhere
    uint64_t middle = 4 * significand;
    uint64_t low = middle - 2 + is_power_of_two;
    uint64_t high = middle + 2;

    // k = floor(log10(width of the interval)), so that 10^k fits at least once.
    int k = (exponent * 1262611 - (is_power_of_two ? 524031 : 0)) >> 22;
    int shift = exponent + power_log2(-k) + 1;
    PowerOfTen power = power_of_ten(-k);
    if (!power_is_exact(-k)) power.high += ++power.low == 0; // the method wants it rounded up

    uint64_t scaled_low = multiply_to_odd(power, low << shift) + is_odd;
    uint64_t scaled = multiply_to_odd(power, middle << shift);
    uint64_t scaled_high = multiply_to_odd(power, high << shift) - is_odd;

    uint64_t whole = scaled / 4;
    if (whole >= 10) { // one digit less, if exactly one neighbour is inside
        uint64_t tenth = whole / 10;
        bool is_under_inside = scaled_low <= 40 * tenth;
        bool is_over_inside = 40 * tenth + 40 <= scaled_high;
        if (is_under_inside != is_over_inside) return (Decimal){tenth + is_over_inside, k + 1};
    }
    bool is_under_inside = scaled_low <= 4 * whole;
    bool is_over_inside = 4 * whole + 4 <= scaled_high;
    if (is_under_inside != is_over_inside) return (Decimal){whole + is_over_inside, k};
    uint64_t half = 4 * whole + 2;
    bool is_up = scaled > half || (scaled == half && (whole & 1));
    return (Decimal){whole + is_up, k};
}

int number_shortest_digits(double value, char ret_digits[18], int *ret_exponent) {
    ASSERT(isfinite(value) && value > 0);
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    uint64_t fraction = bits & (HIDDEN_BIT - 1);
    int biased = (int)(bits >> FRACTION_BITS);
    Decimal decimal;
    if (biased == 0) {
        decimal = shortest_decimal(fraction, 1 - EXPONENT_BIAS, false);
    } else {
        bool is_power_of_two = fraction == 0 && biased > 1;
        decimal = shortest_decimal(fraction | HIDDEN_BIT, biased - EXPONENT_BIAS, is_power_of_two);
    }

    char reversed[24];
    char *end = reversed + sizeof(reversed);
    char *start = write_digits_before(end, decimal.digits);
    *ret_exponent = (int)(end - start) + decimal.exponent;
    while (end[-1] == '0') end--;
    int count = (int)(end - start);
    ASSERT(count >= 1 && count <= DIGITS_MAX);
    memcpy(ret_digits, start, (size_t)count);
    ret_digits[count] = '\0';
    return count;
}

// 1.25e+21, 5e-324. `point` is the exponent of 0.d1d2d3...
static char *write_scientific(char *out, const char *digits, int count, int point) {
    *out++ = digits[0];
    if (count > 1) {
        *out++ = '.';
        memcpy(out, digits + 1, (size_t)count - 1);
        out += count - 1;
    }
    int exponent = point - 1;
    *out++ = 'e';
    *out++ = exponent < 0 ? '-' : '+';
    char reversed[8];
    char *end = reversed + sizeof(reversed);
    char *start = write_digits_before(end, (uint64_t)(exponent < 0 ? -exponent : exponent));
    memcpy(out, start, (size_t)(end - start));
    return out + (end - start);
}

static char *write_plain(char *out, const char *digits, int count, int point) {
    if (point <= 0) { // 0.00123
        memcpy(out, "0.", 2);
        memset(out + 2, '0', (size_t)-point);
        memcpy(out + 2 - point, digits, (size_t)count);
        return out + 2 - point + count;
    }
    if (point >= count) { // 12300
        memcpy(out, digits, (size_t)count);
        memset(out + count, '0', (size_t)(point - count));
        return out + point;
    }
    memcpy(out, digits, (size_t)point); // 12.3
    out[point] = '.';
    memcpy(out + point + 1, digits + point, (size_t)(count - point));
    return out + count + 1;
}

static size_t write_word(char *out, const char *word) {
    size_t len = strlen(word);
    memcpy(out, word, len + 1);
    return len;
}

size_t number_format(double value, char ret_text[NUMBER_TEXT_MAX]) {
    if (value > -SAFE_INTEGER_LIMIT && value < SAFE_INTEGER_LIMIT) {
        int64_t integer = (int64_t)value;
        if ((double)integer == value) return number_format_i64(integer, ret_text);
    }
    if (isnan(value)) return write_word(ret_text, "NaN");
    if (isinf(value)) return write_word(ret_text, value < 0 ? "-Infinity" : "Infinity");

    char digits[18];
    int point;
    int count = number_shortest_digits(fabs(value), digits, &point);
    char *out = ret_text;
    if (value < 0) *out++ = '-';
    bool is_plain = point > -6 && point <= 21; // [text-number-format-2]
    out = is_plain ? write_plain(out, digits, count, point)
                   : write_scientific(out, digits, count, point);
    *out = '\0';
    return (size_t)(out - ret_text);
}

// Arithmetic on magnitudes.
//
// Schoolbook algorithms: the size limit keeps each below some tens of milliseconds, and what a
// script can make them cost is charged by the callers. Invariants [bigint-math-1] to
// [bigint-math-3] are in the header. Not here: signs, two's complement and script errors
// (number/bigint.c).
#include "flow/builtin/number/bigint_math.h"
#include "base/assert.h"
#include <math.h>
#include <string.h>

uint32_t magnitude_trim(const uint32_t *digits, uint32_t count) {
    while (count > 0 && digits[count - 1] == 0) count--;
    return count;
}

uint32_t magnitude_bits(Magnitude a) {
    if (a.count == 0) return 0;
    return a.count * 32 - (uint32_t)__builtin_clz(a.digits[a.count - 1]);
}

int magnitude_compare(Magnitude a, Magnitude b) {
    if (a.count != b.count) return a.count < b.count ? -1 : 1;
    for (uint32_t i = a.count; i-- > 0;) {
        if (a.digits[i] != b.digits[i]) return a.digits[i] < b.digits[i] ? -1 : 1;
    }
    return 0;
}

bool magnitude_has_bit_below(Magnitude a, uint32_t bit) {
    uint32_t whole = bit / 32;
    for (uint32_t i = 0; i < whole && i < a.count; i++) {
        if (a.digits[i]) return true;
    }
    if (whole >= a.count || bit % 32 == 0) return false;
    return a.digits[whole] & ((1u << bit % 32) - 1);
}

uint32_t magnitude_add(Magnitude a, Magnitude b, uint32_t *ret_sum) {
    if (a.count < b.count) {
        Magnitude swap = a;
        a = b;
        b = swap;
    }
    uint64_t carry = 0;
    for (uint32_t i = 0; i < a.count; i++) {
        carry += (uint64_t)a.digits[i] + (i < b.count ? b.digits[i] : 0);
        ret_sum[i] = (uint32_t)carry;
        carry >>= 32;
    }
    ret_sum[a.count] = (uint32_t)carry;
    return a.count + (carry ? 1 : 0);
}

uint32_t magnitude_sub(Magnitude a, Magnitude b, uint32_t *ret_difference) {
    uint64_t borrow = 0;
    for (uint32_t i = 0; i < a.count; i++) {
        uint64_t take = (uint64_t)(i < b.count ? b.digits[i] : 0) + borrow;
        borrow = a.digits[i] < take;
        ret_difference[i] = (uint32_t)(a.digits[i] - take);
    }
    ASSERT(borrow == 0);
    return magnitude_trim(ret_difference, a.count);
}

uint32_t magnitude_mul(Magnitude a, Magnitude b, uint32_t *ret_product) {
    memset(ret_product, 0, sizeof(uint32_t) * ((size_t)a.count + b.count));
    for (uint32_t i = 0; i < a.count; i++) {
        uint64_t carry = 0;
        uint64_t factor = a.digits[i];
        uint32_t *out = ret_product + i;
        for (uint32_t j = 0; j < b.count; j++) {
            carry += factor * b.digits[j] + out[j];
            out[j] = (uint32_t)carry;
            carry >>= 32;
        }
        out[b.count] = (uint32_t)carry;
    }
    return magnitude_trim(ret_product, a.count + b.count);
}

static void divide_by_digit(Magnitude a, uint32_t divisor, uint32_t *quotient,
                            uint32_t *remainder) {
    uint64_t rest = 0;
    for (uint32_t i = a.count; i-- > 0;) {
        rest = rest << 32 | a.digits[i];
        quotient[i] = (uint32_t)(rest / divisor);
        rest %= divisor;
    }
    remainder[0] = (uint32_t)rest;
}

// Subtracts factor * divisor from the `count` + 1 digits at `at`; true when it went below zero.
static bool subtract_multiple(uint32_t *at, const uint32_t *divisor, uint32_t count,
                              uint64_t factor) {
    uint64_t carry = 0;
    uint64_t borrow = 0;
    for (uint32_t i = 0; i < count; i++) {
        carry += factor * divisor[i];
        uint64_t take = (uint32_t)carry + borrow;
        borrow = at[i] < take;
        at[i] = (uint32_t)(at[i] - take);
        carry >>= 32;
    }
    uint64_t take = carry + borrow;
    bool is_negative = at[count] < take;
    at[count] = (uint32_t)(at[count] - take);
    return is_negative;
}

static void add_back(uint32_t *at, const uint32_t *divisor, uint32_t count) {
    uint64_t carry = 0;
    for (uint32_t i = 0; i < count; i++) {
        carry += (uint64_t)at[i] + divisor[i];
        at[i] = (uint32_t)carry;
        carry >>= 32;
    }
    at[count] += (uint32_t)carry;
}

// Long division, two digits of the divisor deciding each digit of the quotient: both numbers are
// shifted so that the divisor's top bit is set, which makes the guess at most two too large.
void magnitude_divide(Magnitude a, Magnitude b, uint32_t *ret_quotient, uint32_t *ret_remainder) {
    ASSERT(b.count > 0);
    memset(ret_quotient, 0, sizeof(uint32_t) * ((size_t)a.count + 1));
    memset(ret_remainder, 0, sizeof(uint32_t) * ((size_t)a.count + 1));
    if (magnitude_compare(a, b) < 0) {
        if (a.count) memcpy(ret_remainder, a.digits, sizeof(uint32_t) * a.count);
        return;
    }
    if (b.count == 1) {
        divide_by_digit(a, b.digits[0], ret_quotient, ret_remainder);
        return;
    }
    uint32_t shift = (uint32_t)__builtin_clz(b.digits[b.count - 1]);
    uint32_t divisor[BIGINT_DIGITS_MAX + 2];
    ASSERT(b.count <= BIGINT_DIGITS_MAX + 1);
    magnitude_shift_left(b, shift, divisor);
    uint32_t *rest = ret_remainder;
    magnitude_shift_left(a, shift, rest);
    uint32_t n = b.count;
    for (uint32_t j = a.count - n + 1; j-- > 0;) {
        uint64_t top = (uint64_t)rest[j + n] << 32 | rest[j + n - 1];
        uint64_t guess = top / divisor[n - 1];
        uint64_t left = top % divisor[n - 1];
        while (guess > UINT32_MAX || guess * divisor[n - 2] > (left << 32 | rest[j + n - 2])) {
            guess--;
            left += divisor[n - 1];
            if (left > UINT32_MAX) break;
        }
        if (subtract_multiple(rest + j, divisor, n, guess)) {
            guess--;
            add_back(rest + j, divisor, n);
        }
        ret_quotient[j] = (uint32_t)guess;
    }
    magnitude_shift_right((Magnitude){rest, a.count + 1}, shift, rest);
}

uint32_t magnitude_shift_left(Magnitude a, uint32_t bits, uint32_t *ret) {
    uint32_t whole = bits / 32;
    uint32_t part = bits % 32;
    uint32_t carry = 0;
    for (uint32_t i = 0; i < whole; i++) ret[i] = 0;
    for (uint32_t i = 0; i < a.count; i++) {
        uint32_t digit = a.digits[i];
        ret[whole + i] = part ? digit << part | carry : digit;
        carry = part ? digit >> (32 - part) : 0;
    }
    ret[whole + a.count] = carry;
    return magnitude_trim(ret, whole + a.count + 1);
}

uint32_t magnitude_shift_right(Magnitude a, uint32_t bits, uint32_t *ret) {
    uint32_t whole = bits / 32;
    uint32_t part = bits % 32;
    if (whole >= a.count) return 0;
    uint32_t count = a.count - whole;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t low = a.digits[whole + i];
        uint32_t high = i + 1 < count ? a.digits[whole + i + 1] : 0;
        ret[i] = part ? low >> part | high << (32 - part) : low;
    }
    return magnitude_trim(ret, count);
}

uint32_t magnitude_scale(uint32_t *digits, uint32_t count, uint32_t factor, uint32_t addend) {
    uint64_t carry = addend;
    for (uint32_t i = 0; i < count; i++) {
        carry += (uint64_t)digits[i] * factor;
        digits[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry) digits[count++] = (uint32_t)carry;
    return count;
}

double magnitude_to_double(Magnitude a) {
    uint32_t bits = magnitude_bits(a);
    if (bits > 1024) return INFINITY;
    if (bits <= 64) {
        uint64_t value = 0;
        for (uint32_t i = a.count; i-- > 0;) value = value << 32 | a.digits[i];
        return (double)value; // the conversion rounds to nearest, ties to even
    }
    // The top 64 bits, the lowest of them "sticky": then the conversion rounds correctly too.
    uint32_t window[33] = {0};
    uint32_t shift = bits - 64;
    uint32_t count = magnitude_shift_right(a, shift, window);
    ASSERT(count == 2);
    uint64_t top = (uint64_t)window[1] << 32 | window[0];
    if (magnitude_has_bit_below(a, shift)) top |= 1;
    return ldexp((double)top, (int)shift);
}

uint32_t magnitude_from_double(double value, uint32_t ret_digits[33]) {
    int exponent;
    double fraction = frexp(value, &exponent);
    if (value == 0) return 0;
    uint64_t mantissa = (uint64_t)ldexp(fraction, 53);
    uint32_t parts[2] = {(uint32_t)mantissa, (uint32_t)(mantissa >> 32)};
    Magnitude whole = {parts, magnitude_trim(parts, 2)};
    if (exponent >= 53) return magnitude_shift_left(whole, (uint32_t)(exponent - 53), ret_digits);
    return magnitude_shift_right(whole, (uint32_t)(53 - exponent), ret_digits);
}

size_t magnitude_text_max(Magnitude a, uint32_t radix) {
    uint32_t bits_per_digit = 31 - (uint32_t)__builtin_clz(radix); // rounded down
    return magnitude_bits(a) / bits_per_digit + 2;
}

static const char digit_chars[] = "0123456789abcdefghijklmnopqrstuvwxyz";

static size_t power_of_two_text(Magnitude a, uint32_t radix, char *ret_text) {
    uint32_t step = (uint32_t)__builtin_ctz(radix);
    uint32_t bits = magnitude_bits(a);
    size_t length = (bits + step - 1) / step;
    for (size_t i = 0; i < length; i++) {
        uint32_t at = (uint32_t)i * step;
        uint64_t window = a.digits[at / 32];
        if (at / 32 + 1 < a.count) window |= (uint64_t)a.digits[at / 32 + 1] << 32;
        ret_text[length - 1 - i] = digit_chars[window >> at % 32 & (radix - 1)];
    }
    return length;
}

enum { CHUNKS = 4 };

// One step of a long division: the quotient of one digit, with what is left of those above it.
static inline uint32_t divide_digit(uint64_t *rest, uint32_t digit, uint32_t divisor) {
    uint64_t value = *rest << 32 | digit;
    *rest = value % divisor;
    return (uint32_t)(value / divisor);
}

// Divides in place, CHUNKS times one after the other, and answers the remainders. All go through
// the digits together, each taking what the one before it leaves: a step waits for the step before
// it in its own division only, so the processor works at all of them at once.
static inline void divide_chunks(uint32_t *digits, uint32_t count, uint32_t divisor,
                                 uint64_t ret_rests[CHUNKS]) {
    uint64_t first = 0, second = 0, third = 0, fourth = 0;
    for (uint32_t i = count; i-- > 0;) {
        uint32_t digit = divide_digit(&first, digits[i], divisor);
        digit = divide_digit(&second, digit, divisor);
        digit = divide_digit(&third, digit, divisor);
        digits[i] = divide_digit(&fourth, digit, divisor);
    }
    ret_rests[0] = first;
    ret_rests[1] = second;
    ret_rests[2] = third;
    ret_rests[3] = fourth;
}

// Ten is apart because the compiler turns a division by a constant into a multiplication.
static void take_chunks(uint32_t *digits, uint32_t count, uint32_t divisor,
                        uint64_t ret_rests[CHUNKS]) {
    if (divisor == 1000000000) divide_chunks(digits, count, 1000000000, ret_rests);
    else divide_chunks(digits, count, divisor, ret_rests);
}

size_t magnitude_to_text(Magnitude a, uint32_t radix, uint32_t *scratch, char *ret_text) {
    if (a.count == 0) {
        ret_text[0] = '0';
        return 1;
    }
    if ((radix & (radix - 1)) == 0) return power_of_two_text(a, radix, ret_text);
    uint32_t chunk = radix;
    uint32_t chunk_digits = 1;
    while ((uint64_t)chunk * radix <= UINT32_MAX) {
        chunk *= radix;
        chunk_digits++;
    }
    memcpy(scratch, a.digits, sizeof(uint32_t) * a.count);
    uint32_t count = a.count;
    size_t length = 0; // written backwards, turned round below
    while (count > 0) {
        uint64_t rests[CHUNKS];
        take_chunks(scratch, count, chunk, rests);
        count = magnitude_trim(scratch, count);
        uint32_t chunk_count = CHUNKS;
        while (count == 0 && rests[chunk_count - 1] == 0) chunk_count--;
        for (uint32_t i = 0; i < chunk_count; i++) {
            bool is_topmost = count == 0 && i + 1 == chunk_count; // it has no zeros in front
            uint64_t rest = rests[i];
            for (uint32_t j = 0; j < chunk_digits && (!is_topmost || rest > 0); j++) {
                ret_text[length++] = digit_chars[rest % radix];
                rest /= radix;
            }
        }
    }
    for (size_t i = 0; i < length / 2; i++) {
        char swap = ret_text[i];
        ret_text[i] = ret_text[length - 1 - i];
        ret_text[length - 1 - i] = swap;
    }
    return length;
}

// Magnitudes: non-negative whole numbers of any size, as little-endian 32-bit digits.
//
//   [bigint-math-1] A Magnitude has no leading zero digit; zero has no digits at all.
//   [bigint-math-2] Results go to memory of the caller, whose size each function states; answers
//        are digit counts after trimming.
//   [bigint-math-3] No result is larger than BIGINT_DIGITS_MAX digits: the callers check before
//        they compute, which also bounds the quadratic algorithms here.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    BIGINT_BITS_MAX = 1 << 18, // "Maximum BigInt size exceeded" beyond
    BIGINT_DIGITS_MAX = BIGINT_BITS_MAX / 32,
};

typedef struct Magnitude {
    const uint32_t *digits;
    uint32_t count;
} Magnitude;

uint32_t magnitude_trim(const uint32_t *digits, uint32_t count);
uint32_t magnitude_bits(Magnitude a); // position of the highest 1 bit, plus one; 0 for zero
int magnitude_compare(Magnitude a, Magnitude b);         // -1, 0, 1
bool magnitude_has_bit_below(Magnitude a, uint32_t bit); // some 1 at a position < bit

uint32_t magnitude_add(Magnitude a, Magnitude b, uint32_t *ret_sum); // max(counts) + 1 digits
uint32_t magnitude_sub(Magnitude a, Magnitude b, uint32_t *ret_difference); // a >= b; a.count
uint32_t magnitude_mul(Magnitude a, Magnitude b, uint32_t *ret_product);    // sum of counts
// a = quotient * b + remainder, b not zero. Room: a.count + 1 digits for the quotient and
// a.count + 1 for the remainder; either may not overlap the inputs.
void magnitude_divide(Magnitude a, Magnitude b, uint32_t *ret_quotient, uint32_t *ret_remainder);
uint32_t magnitude_shift_left(Magnitude a, uint32_t bits, uint32_t *ret);  // count + bits/32 + 1
uint32_t magnitude_shift_right(Magnitude a, uint32_t bits, uint32_t *ret); // a.count digits

// In place: digits * factor + addend; `digits` has room for one more. Answers the new count.
uint32_t magnitude_scale(uint32_t *digits, uint32_t count, uint32_t factor, uint32_t addend);

// The nearest double, ties to even; Infinity when too large.
double magnitude_to_double(Magnitude a);
// A finite double >= 0 without fraction; room for 33 digits.
uint32_t magnitude_from_double(double value, uint32_t ret_digits[33]);

// Text in radix 2 .. 36, lower case. `scratch`: a.count digits; room for
// magnitude_text_max() characters. Answers the length; not terminated.
size_t magnitude_text_max(Magnitude a, uint32_t radix);
size_t magnitude_to_text(Magnitude a, uint32_t radix, uint32_t *scratch, char *ret_text);

// Elementary functions that give the same bits everywhere.
//
// The C library's sin, exp or pow differ between versions and platforms in the last digit; a
// script's result must not, and should be what other engines print. These follow the published
// algorithms of fdlibm (K. C. Ng, Sun Microsystems), which V8 and SpiderMonkey use too: reduction
// to a small interval, then a polynomial with fixed coefficients. Errors are below one unit in the
// last place.
#pragma once
#include <stdint.h>
#include <string.h>

double flow_math_sin(double x);
double flow_math_cos(double x);
double flow_math_tan(double x);
double flow_math_asin(double x);
double flow_math_acos(double x);
double flow_math_atan(double x);
double flow_math_atan2(double y, double x);
double flow_math_sinh(double x);
double flow_math_cosh(double x);
double flow_math_tanh(double x);
double flow_math_asinh(double x);
double flow_math_acosh(double x);
double flow_math_atanh(double x);
double flow_math_exp(double x);
double flow_math_expm1(double x);
double flow_math_log(double x);
double flow_math_log1p(double x);
double flow_math_log2(double x);
double flow_math_log10(double x);
double flow_math_cbrt(double x);
double flow_math_pow(double x, double y); // as the operator ** has it: 1 ** NaN is NaN

// --- doubles as two words, for those who implement the above
static inline uint64_t math_bits(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static inline double math_from_bits(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
static inline int32_t math_high(double x) { return (int32_t)(math_bits(x) >> 32); }
static inline uint32_t math_low(double x) { return (uint32_t)math_bits(x); }
static inline double math_words(int32_t high, uint32_t low) {
    return math_from_bits((uint64_t)(uint32_t)high << 32 | low);
}
static inline double math_with_high(double x, int32_t high) {
    return math_words(high, math_low(x));
}
static inline double math_clear_low(double x) { return math_words(math_high(x), 0); }

// x to the power y: log2(x) in two doubles, times y in two doubles, then 2 to that.
//
// The two doubles together have about 70 bits, which keeps the result within one unit in the last
// place for every x and y. See number/math_functions.h.
//   [math-pow-1] As in number/math_trig.c, the order of operations is part of the result.
//   [math-pow-2] The language differs from C in one point: 1 ** ±Infinity and 1 ** NaN are NaN.
#include "flow/builtin/number/math_functions.h"
#include <math.h>
#include <stdbool.h>

typedef struct Pair { // a number as the sum of two doubles, `high` with 32 bits cleared
    double high;
    double low;
} Pair;

typedef enum Parity { NOT_WHOLE, ODD, EVEN } Parity;

static Parity parity_of(double y) {
    if (fabs(y) >= 9007199254740992.0) return EVEN;
    if (trunc(y) != y) return NOT_WHOLE;
    return fmod(y, 2) == 0 ? EVEN : ODD;
}

// log2 of |x| near one: x - 1 is at most 2^-20.
static Pair log2_near_one(double magnitude) {
    static const double inverse_high = 1.44269502162933349609e+00;
    static const double inverse_low = 1.92596299112661746887e-08;
    static const double inverse = 1.44269504088896338700e+00;
    double t = magnitude - 1;
    double w = (t * t) * (0.5 - t * (0.3333333333333333333333 - t * 0.25));
    double u = inverse_high * t;
    double v = t * inverse_low - w * inverse;
    Pair result;
    result.high = math_clear_low(u + v);
    result.low = v - (result.high - u);
    return result;
}

static Pair log2_of(double x) {
    static const double bp[] = {1.0, 1.5};
    static const double dp_high[] = {0.0, 5.84962487220764160156e-01};
    static const double dp_low[] = {0.0, 1.35003920212974897128e-08};
    static const double L1 = 5.99999999999994648725e-01, L2 = 4.28571428578550184252e-01,
                        L3 = 3.33333329818377432918e-01, L4 = 2.72728123808534006489e-01,
                        L5 = 2.30660745775561754067e-01, L6 = 2.06975017800338417784e-01;
    static const double cp = 9.61796693925975554329e-01, cp_high = 9.61796700954437255859e-01,
                        cp_low = -7.02846165095275826516e-09; // 2 / (3 ln 2)
    int32_t n = 0;
    if (math_high(x) < 0x00100000) { // subnormal
        x *= 9007199254740992.0;
        n -= 53;
    }
    int32_t high = math_high(x);
    n += (high >> 20) - 0x3FF;
    int32_t j = high & 0x000FFFFF;
    high = j | 0x3FF00000;
    int k = 0;
    if (j > 0x3988E) { // above sqrt(3/2)
        if (j < 0xBB67A) {
            k = 1; // below sqrt(3)
        } else {
            n += 1;
            high -= 0x00100000;
        }
    }
    x = math_with_high(x, high);
    // s = (x - bp) / (x + bp), and its cube series.
    double u = x - bp[k];
    double v = 1 / (x + bp[k]);
    double s = u * v;
    double s_high = math_clear_low(s);
    double t_high = math_words(((high >> 1) | 0x20000000) + 0x00080000 + (k << 18), 0);
    double t_low = x - (t_high - bp[k]);
    double s_low = v * ((u - s_high * t_high) - s_high * t_low);
    double s2 = s * s;
    double r = s2 * s2 * (L1 + s2 * (L2 + s2 * (L3 + s2 * (L4 + s2 * (L5 + s2 * L6)))));
    r += s_low * (s_high + s);
    s2 = s_high * s_high;
    t_high = math_clear_low(3.0 + s2 + r);
    t_low = r - ((t_high - 3.0) - s2);
    u = s_high * t_high;
    v = s_low * t_high + t_low * s;
    double p_high = math_clear_low(u + v);
    double p_low = v - (p_high - u);
    double z_high = cp_high * p_high;
    double z_low = cp_low * p_high + p_low * cp + dp_low[k];
    double t = n;
    Pair result;
    result.high = math_clear_low(((z_high + z_low) + dp_high[k]) + t);
    result.low = z_low - (((result.high - t) - dp_high[k]) - z_high);
    return result;
}

// sign * 2^(p.high + p.low).
static double exp2_of(double p_high, double p_low, double sign) {
    static const double overflow_slack = 8.0085662595372944372e-17;
    static const double ln2 = 6.93147180559945286227e-01, ln2_high = 6.93147182464599609375e-01,
                        ln2_low = -1.90465429995776804525e-09;
    static const double P1 = 1.66666666666666019037e-01, P2 = -2.77777777770155933842e-03,
                        P3 = 6.61375632143793436117e-05, P4 = -1.65339022054652515390e-06,
                        P5 = 4.13813679705723846039e-08;
    double z = p_low + p_high;
    if (z >= 1024) {
        if (z > 1024 || p_low + overflow_slack > z - p_high) return sign * INFINITY;
    } else if (z <= -1075) {
        if (z < -1075 || p_low <= z - p_high) return sign * 0.0;
    }
    int32_t high = math_high(z);
    int32_t i = high & 0x7FFFFFFF;
    int32_t k = (i >> 20) - 0x3FF;
    int32_t n = 0;
    if (i > 0x3FE00000) { // |z| > 0.5: n = [z + 0.5]
        n = high + (0x00100000 >> (k + 1));
        k = ((n & 0x7FFFFFFF) >> 20) - 0x3FF;
        double t = math_words((int32_t)((uint32_t)n & ~(0x000FFFFFu >> k)), 0);
        n = ((n & 0x000FFFFF) | 0x00100000) >> (20 - k);
        if (high < 0) n = -n;
        p_high -= t;
    }
    double t = math_clear_low(p_low + p_high);
    double u = t * ln2_high;
    double v = (p_low - (t - p_high)) * ln2 + t * ln2_low;
    z = u + v;
    double w = v - (z - u);
    t = z * z;
    double t1 = z - t * (P1 + t * (P2 + t * (P3 + t * (P4 + t * P5))));
    // The published algorithm subtracts (w + z * w) from the quotient; V8 subtracts it from the
    // divisor, which differs in the last bit now and then, and is what scripts expect.
    double r = (z * t1) / ((t1 - 2.0) - (w + z * w));
    z = 1 - (r - z);
    int32_t z_high = math_high(z) + (int32_t)((uint32_t)n << 20);
    z = (z_high >> 20) <= 0 ? scalbn(z, n) : math_with_high(z, z_high);
    return sign * z;
}

// Infinite or zero x, and infinite y.
static double power_of_extreme(double x, double y, Parity parity) {
    double magnitude = fabs(x);
    if (isinf(y)) {
        if (magnitude == 1) return NAN; // [math-pow-2]
        return (magnitude > 1) == (y > 0) ? INFINITY : 0;
    }
    double result = (magnitude == 0) == (y < 0) ? INFINITY : 0;
    return signbit(x) && parity == ODD ? -result : result;
}

double flow_math_pow(double x, double y) {
    if (y == 0) return 1;
    if (isnan(x) || isnan(y)) return NAN;
    Parity parity = parity_of(y);
    if (isinf(y) || isinf(x) || x == 0) return power_of_extreme(x, y, parity);
    if (x == 1) return 1;
    if (y == 1) return x;
    if (y == -1) return 1 / x;
    if (y == 2) return x * x;
    if (y == 0.5 && x >= 0) return sqrt(x);
    if (x < 0 && parity == NOT_WHOLE) return NAN;
    double magnitude = fabs(x);
    double sign = x < 0 && parity == ODD ? -1 : 1;
    if (magnitude == 1) return sign;
    int32_t x_high = math_high(magnitude);
    int32_t y_high = math_high(y) & 0x7FFFFFFF;
    Pair log;
    if (y_high > 0x41E00000) { // |y| > 2^31: x must be near one, or the result is extreme
        bool grows = (magnitude > 1) == (y > 0);
        if (y_high > 0x43F00000 || x_high < 0x3FEFFFFF || x_high > 0x3FF00000) {
            return sign * (grows ? INFINITY : 0.0);
        }
        log = log2_near_one(magnitude);
    } else {
        log = log2_of(magnitude);
    }
    double y1 = math_clear_low(y);
    double p_low = (y - y1) * log.high + y * log.low;
    double p_high = y1 * log.high;
    return exp2_of(p_high, p_low, sign);
}

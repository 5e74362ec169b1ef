// Exponentials, logarithms, roots and hyperbolic functions; see number/math_functions.h.
//
// Each reduces its argument to a small interval, evaluates a polynomial there and scales back. The
// constants are those of the published algorithm, given with more digits than a double holds.
//   [math-exp-1] As in number/math_trig.c, the order of operations is part of the result.
#include "flow/builtin/number/math_functions.h"
#include <math.h>
#include <stdbool.h>

static const double ln2_high = 6.93147180369123816490e-01;
static const double ln2_low = 1.90821492927058770002e-10;
static const double inverse_ln2 = 1.44269504088896338700e+00;
static const double two54 = 1.80143985094819840000e+16;

// Coefficients of the logarithm on [sqrt(2)/2, sqrt(2)].
static const double L1 = 6.666666666666735130e-01, L2 = 3.999999999940941908e-01,
                    L3 = 2.857142874366239149e-01, L4 = 2.222219843214978396e-01,
                    L5 = 1.818357216161805012e-01, L6 = 1.531383769920937332e-01,
                    L7 = 1.479819860511658591e-01;

// Coefficients of the exponential on [-ln2/2, ln2/2].
static const double P1 = 1.66666666666666019037e-01, P2 = -2.77777777770155933842e-03,
                    P3 = 6.61375632143793436117e-05, P4 = -1.65339022054652515390e-06,
                    P5 = 4.13813679705723846039e-08;

static double power_of_two(int32_t k) { return math_words((int32_t)(0x3FF + k) << 20, 0); }

double flow_math_exp(double x) {
    if (isnan(x)) return x;
    if (x > 7.09782712893383973096e+02) return INFINITY;
    if (x < -7.45133219101941108420e+02) return 0;
    bool is_negative = math_high(x) < 0;
    int32_t high_word = math_high(x) & 0x7FFFFFFF;
    double high = 0;
    double low = 0;
    int32_t k = 0;
    if (high_word > 0x3FD62E42) {     // above ln2 / 2
        if (high_word < 0x3FF0A2B2) { // below 3 ln2 / 2
            if (x == 1) return 2.718281828459045;
            high = is_negative ? x + ln2_high : x - ln2_high;
            low = is_negative ? -ln2_low : ln2_low;
            k = is_negative ? -1 : 1;
        } else {
            k = (int32_t)(inverse_ln2 * x + (is_negative ? -0.5 : 0.5));
            high = x - k * ln2_high;
            low = k * ln2_low;
        }
        x = high - low;
    } else if (high_word < 0x3E300000) {
        return 1 + x;
    }
    double t = x * x;
    double c = x - t * (P1 + t * (P2 + t * (P3 + t * (P4 + t * P5))));
    if (k == 0) return 1 - ((x * c) / (c - 2.0) - x);
    double y = 1 - ((low - (x * c) / (2.0 - c)) - high);
    if (k < -1021) return y * power_of_two(k + 1000) * 9.33263618503218878990e-302;
    if (k == 1024) return y * 2.0 * power_of_two(1023);
    return y * power_of_two(k);
}

// exp(x) - 1 from the pieces of the reduction: x after it, c its error, k the power of two.
static double finish_expm1(double x, double c, int32_t k) {
    static const double Q1 = -3.33333333333331316428e-02, Q2 = 1.58730158725481460165e-03,
                        Q3 = -7.93650757867487942473e-05, Q4 = 4.00821782732936239552e-06,
                        Q5 = -2.01099218183624371326e-07;
    double half = 0.5 * x;
    double square = x * half;
    double r1 = 1 + square * (Q1 + square * (Q2 + square * (Q3 + square * (Q4 + square * Q5))));
    double t = 3.0 - r1 * half;
    double e = square * ((r1 - t) / (6.0 - x * t));
    if (k == 0) return x - (x * e - square);
    double scale = power_of_two(k);
    e = x * (e - c) - c;
    e -= square;
    if (k == -1) return 0.5 * (x - e) - 0.5;
    if (k == 1) return x < -0.25 ? -2.0 * (e - (x + 0.5)) : 1 + 2.0 * (x - e);
    if (k <= -2 || k > 56) {
        double y = 1 - (e - x);
        y = k == 1024 ? y * 2.0 * power_of_two(1023) : y * scale;
        return y - 1;
    }
    if (k < 20) {
        double y = math_words(0x3FF00000 - (0x200000 >> k), 0) - (e - x); // 1 - 2^-k
        return y * scale;
    }
    double y = x - (e + power_of_two(-k));
    y += 1;
    return y * scale;
}

double flow_math_expm1(double x) {
    if (isnan(x)) return x;
    bool is_negative = math_high(x) < 0;
    int32_t high_word = math_high(x) & 0x7FFFFFFF;
    if (high_word >= 0x4043687A) { // 56 ln2
        if (isinf(x)) return is_negative ? -1 : x;
        if (x > 7.09782712893383973096e+02) return INFINITY;
        if (is_negative) return -1;
    }
    int32_t k = 0;
    double c = 0;
    if (high_word > 0x3FD62E42) {
        double high;
        double low;
        if (high_word < 0x3FF0A2B2) {
            high = is_negative ? x + ln2_high : x - ln2_high;
            low = is_negative ? -ln2_low : ln2_low;
            k = is_negative ? -1 : 1;
        } else {
            k = (int32_t)(inverse_ln2 * x + (is_negative ? -0.5 : 0.5));
            high = x - k * ln2_high;
            low = k * ln2_low;
        }
        x = high - low;
        c = (high - x) - low;
    } else if (high_word < 0x3C900000) {
        return x;
    }
    return finish_expm1(x, c, k);
}

// x = 2^k * (1 + f) with 1 + f in [sqrt(2)/2, sqrt(2)]; x is positive and finite.
static double split_power(double x, int32_t *ret_k) {
    int32_t k = 0;
    if (math_high(x) < 0x00100000) { // subnormal
        k -= 54;
        x *= two54;
    }
    int32_t high = math_high(x);
    k += (high >> 20) - 1023;
    high &= 0x000FFFFF;
    int32_t bump = (high + 0x95F64) & 0x100000;
    *ret_k = k + (bump >> 20);
    return math_with_high(x, high | (bump ^ 0x3FF00000)) - 1.0;
}

double flow_math_log(double x) {
    if (x == 0) return -INFINITY;
    if (isnan(x) || x < 0) return NAN;
    if (isinf(x)) return x;
    int32_t k;
    double f = split_power(x, &k);
    int32_t high = math_high(f + 1.0) & 0x000FFFFF;
    double dk = k;
    if ((0x000FFFFF & (2 + high)) < 3) { // |f| < 2^-20
        if (f == 0) return k == 0 ? 0 : dk * ln2_high + dk * ln2_low;
        double r = f * f * (0.5 - 0.33333333333333333 * f);
        return k == 0 ? f - r : dk * ln2_high - ((r - dk * ln2_low) - f);
    }
    double s = f / (2.0 + f);
    double z = s * s;
    double w = z * z;
    double t1 = w * (L2 + w * (L4 + w * L6));
    double t2 = z * (L1 + w * (L3 + w * (L5 + w * L7)));
    double r = t2 + t1;
    if (((high - 0x6147A) | (0x6B851 - high)) > 0) {
        double half = 0.5 * f * f;
        if (k == 0) return f - (half - s * (half + r));
        return dk * ln2_high - ((half - (s * (half + r) + dk * ln2_low)) - f);
    }
    if (k == 0) return f - s * (f - r);
    return dk * ln2_high - ((s * (f - r) - dk * ln2_low) - f);
}

double flow_math_log1p(double x) {
    if (isnan(x) || x < -1) return NAN;
    if (x == -1) return -INFINITY;
    if (isinf(x)) return x;
    int32_t high = math_high(x);
    int32_t magnitude = high & 0x7FFFFFFF;
    int32_t k = 1;
    double f = 0;
    double c = 0;
    int32_t u_high = 1;
    if (high < 0x3FDA827A) { // below 0.41422
        if (magnitude < 0x3E200000) {
            if (magnitude < 0x3C900000) return x;
            return x - x * x * 0.5;
        }
        if (high > 0 || high <= (int32_t)0xBFD2BEC4) { // above -0.2929
            k = 0;
            f = x;
        }
    }
    if (k != 0) {
        double u = high < 0x43400000 ? 1.0 + x : x;
        u_high = math_high(u);
        k = (u_high >> 20) - 1023;
        if (high < 0x43400000) c = (k > 0 ? 1.0 - (u - x) : x - (u - 1.0)) / u;
        u_high &= 0x000FFFFF;
        if (u_high < 0x6A09E) {
            u = math_with_high(u, u_high | 0x3FF00000);
        } else {
            k += 1;
            u = math_with_high(u, u_high | 0x3FE00000);
            u_high = (0x00100000 - u_high) >> 2;
        }
        f = u - 1.0;
    }
    double half = 0.5 * f * f;
    if (u_high == 0) { // |f| < 2^-20
        if (f == 0) return k == 0 ? 0 : k * ln2_high + (c + k * ln2_low);
        double r = half * (1.0 - 0.66666666666666666 * f);
        return k == 0 ? f - r : k * ln2_high - ((r - (k * ln2_low + c)) - f);
    }
    double s = f / (2.0 + f);
    double z = s * s;
    double r = z * (L1 + z * (L2 + z * (L3 + z * (L4 + z * (L5 + z * (L6 + z * L7))))));
    if (k == 0) return f - (half - s * (half + r));
    return k * ln2_high - ((half - (s * (half + r) + (k * ln2_low + c))) - f);
}

double flow_math_log2(double x) {
    static const double inverse_high = 1.44269504072144627571e+00;
    static const double inverse_low = 1.67517131648865118353e-10;
    if (x == 0) return -INFINITY;
    if (isnan(x) || x < 0) return NAN;
    if (isinf(x)) return x;
    if (x == 1) return 0;
    int32_t k;
    double f = split_power(x, &k);
    double half = 0.5 * f * f;
    double s = f / (2.0 + f);
    double z = s * s;
    double w = z * z;
    double t1 = w * (L2 + w * (L4 + w * L6));
    double t2 = z * (L1 + w * (L3 + w * (L5 + w * L7)));
    double r = s * (half + (t2 + t1));
    double high = math_clear_low(f - half);
    double low = (f - high) - half + r;
    double value_high = high * inverse_high;
    double value_low = (low + high) * inverse_low + low * inverse_high;
    double y = k;
    double sum = y + value_high;
    value_low += (y - sum) + value_high;
    return value_low + sum;
}

double flow_math_log10(double x) {
    static const double inverse_ln10 = 4.34294481903251816668e-01;
    static const double log10_2_high = 3.01029995663611771306e-01;
    static const double log10_2_low = 3.69423907715893078616e-13;
    if (x == 0) return -INFINITY;
    if (isnan(x) || x < 0) return NAN;
    if (isinf(x)) return x;
    if (x == 1) return 0;
    int32_t k = 0;
    if (math_high(x) < 0x00100000) {
        k -= 54;
        x *= two54;
    }
    int32_t high = math_high(x);
    k += (high >> 20) - 1023;
    int32_t carry = k < 0;
    x = math_with_high(x, (high & 0x000FFFFF) | (0x3FF - carry) << 20);
    double y = k + carry;
    double z = y * log10_2_low + inverse_ln10 * flow_math_log(x);
    return z + y * log10_2_high;
}

double flow_math_cbrt(double x) {
    static const double A0 = 1.87595182427177009643, A1 = -1.88497979543377169875,
                        A2 = 1.621429720105354466140, A3 = -0.758397934778766047437,
                        A4 = 0.145996192886612446982;
    if (!isfinite(x) || x == 0) return x;
    uint32_t sign = (uint32_t)math_high(x) & 0x80000000u;
    uint32_t high = (uint32_t)math_high(x) & 0x7FFFFFFF;
    double t;
    if (high < 0x00100000) { // subnormal
        double scaled = x * two54;
        high = (uint32_t)math_high(scaled) & 0x7FFFFFFF;
        t = math_words((int32_t)(sign | (high / 3 + 696219795)), 0);
    } else {
        t = math_words((int32_t)(sign | (high / 3 + 715094163)), 0);
    }
    double r = (t * t) * (t / x); // a guess of 5 bits becomes one of 23
    t = t * ((A0 + r * (A1 + r * A2)) + ((r * r) * r) * (A3 + r * A4));
    t = math_from_bits((math_bits(t) + 0x80000000u) & 0xFFFFFFFFC0000000ull);
    double s = t * t; // one step of Newton's
    r = x / s;
    double w = t + t;
    r = (r - t) / (w + r);
    return t + t * r;
}

// --- hyperbolic functions

double flow_math_sinh(double x) {
    if (!isfinite(x)) return x;
    double half = x < 0 ? -0.5 : 0.5;
    double a = fabs(x);
    if (a < 22) {
        if (a < 3.725290298461914e-9) return x; // 2^-28
        double t = flow_math_expm1(a);
        if (a < 1) return half * (2 * t - t * t / (t + 1));
        return half * (t + t / (t + 1));
    }
    if (a < 709.7822265625) return half * flow_math_exp(a);
    if (a <= 710.4758600739439) {
        double w = flow_math_exp(0.5 * a);
        return (half * w) * w;
    }
    return x * INFINITY;
}

double flow_math_cosh(double x) {
    if (isnan(x)) return x;
    double a = fabs(x);
    int32_t high = math_high(x) & 0x7FFFFFFF;
    if (high < 0x3FD62E43) { // ln2 / 2
        double t = flow_math_expm1(a);
        double w = 1 + t;
        if (high < 0x3C800000) return w;
        return 1 + (t * t) / (w + w);
    }
    if (high < 0x40360000) { // 22
        double t = flow_math_exp(a);
        return 0.5 * t + 0.5 / t;
    }
    if (high < 0x40862E42) return 0.5 * flow_math_exp(a);
    if (a <= 710.4758600739439) {
        double w = flow_math_exp(0.5 * a);
        return (0.5 * w) * w;
    }
    return INFINITY;
}

double flow_math_tanh(double x) {
    if (isnan(x)) return x;
    if (isinf(x)) return x > 0 ? 1 : -1;
    double z = 1;
    int32_t high = math_high(x) & 0x7FFFFFFF;
    if (high < 0x40360000) {
        if (high < 0x3E300000) return x;
        if (high >= 0x3FF00000) {
            double t = flow_math_expm1(2 * fabs(x));
            z = 1 - 2 / (t + 2);
        } else {
            double t = flow_math_expm1(-2 * fabs(x));
            z = -t / (t + 2);
        }
    }
    return x < 0 ? -z : z;
}

double flow_math_asinh(double x) {
    static const double ln2 = 6.93147180559945286227e-01;
    if (!isfinite(x)) return x;
    int32_t high = math_high(x) & 0x7FFFFFFF;
    if (high < 0x3E300000) return x;
    double w;
    if (high > 0x41B00000) { // 2^28
        w = flow_math_log(fabs(x)) + ln2;
    } else if (high > 0x40000000) {
        double t = fabs(x);
        w = flow_math_log(2.0 * t + 1 / (sqrt(x * x + 1) + t));
    } else {
        double t = x * x;
        w = flow_math_log1p(fabs(x) + t / (1 + sqrt(1 + t)));
    }
    return x > 0 ? w : -w;
}

double flow_math_acosh(double x) {
    static const double ln2 = 6.93147180559945286227e-01;
    if (isnan(x) || x < 1) return NAN;
    if (math_high(x) >= 0x41B00000) return isinf(x) ? x : flow_math_log(x) + ln2;
    if (x == 1) return 0;
    if (math_high(x) > 0x40000000) {
        double t = x * x;
        return flow_math_log(2.0 * x - 1 / (x + sqrt(t - 1)));
    }
    double t = x - 1;
    return flow_math_log1p(t + sqrt(2.0 * t + t * t));
}

double flow_math_atanh(double x) {
    if (isnan(x) || fabs(x) > 1) return NAN;
    if (fabs(x) == 1) return x / 0.0;
    double a = fabs(x);
    if ((math_high(x) & 0x7FFFFFFF) < 0x3E300000) return x;
    double t = a + a;
    if (a < 0.5) t = 0.5 * flow_math_log1p(t + t * a / (1 - a));
    else t = 0.5 * flow_math_log1p(t / (1 - a));
    return x >= 0 ? t : -t;
}

// Sine, cosine, tangent and their inverses; see number/math_functions.h.
//
// Reduction: x = n * pi/2 + y with |y| <= pi/4, y in two doubles. Small x subtract pi/2 in three
// pieces; large x are multiplied, as integers, with enough bits of 2/pi.
//   [math-trig-1] The polynomials are evaluated in exactly the order written: another order gives
//        other last bits. The build must not contract floating point operations
//        (-ffp-contract=off).
#include "base/array.h"
#include "flow/builtin/number/math_functions.h"
#include <math.h>
#include <stdbool.h>

typedef struct Reduced {
    int32_t quadrant; // n, of which only the last two bits matter
    double high;      // y = high + low
    double low;
} Reduced;

// 2/pi, the first 1280 bits after the point.
static const uint32_t two_over_pi[] = {
    0xA2F9836E, 0x4E441529, 0xFC2757D1, 0xF534DDC0, 0xDB629599, 0x3C439041, 0xFE5163AB, 0xDEBBC561,
    0xB7246E3A, 0x424DD2E0, 0x06492EEA, 0x09D1921C, 0xFE1DEB1C, 0xB129A73E, 0xE88235F5, 0x2EBB4484,
    0xE99C7026, 0xB45F7E41, 0x3991D639, 0x835339F4, 0x9C845F8B, 0xBDF9283B, 0x1FF897FF, 0xDE05980F,
    0xEF2F118B, 0x5A0A6D1F, 0x6D367ECF, 0x27CB09B7, 0x4F463F66, 0x9E5FEA2D, 0x7527BAC7, 0xEBE5F17B,
    0x3D0739F7, 0x8A5292EA, 0x6BFB5FB1, 0x1F8D5D08, 0x56033046, 0xFC7B6BAB, 0xF0CFBC20, 0x9AF4361D,
};
enum { TWO_OVER_PI_COUNT = COUNT_OF(two_over_pi) };

// 256 bits of 2/pi from bit `start` (from 0) on, little-endian.
static void take_window(uint32_t start, uint64_t ret_window[4]) {
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t at = start + 64 * (3 - i);
        uint32_t words[3] = {0};
        for (uint32_t j = 0; j < 3; j++) {
            if (at / 32 + j < TWO_OVER_PI_COUNT) words[j] = two_over_pi[at / 32 + j];
        }
        uint64_t value = (uint64_t)words[0] << 32 | words[1];
        if (at % 32) value = value << at % 32 | words[2] >> (32 - at % 32);
        ret_window[i] = value;
    }
}

// 64 bits of a little-endian number of six words, from bit `position` up.
static uint64_t take_bits(const uint64_t *number, uint32_t position) {
    uint32_t word = position / 64;
    uint64_t low = word < 6 ? number[word] : 0;
    uint64_t high = word < 5 ? number[word + 1] : 0;
    return position % 64 ? low >> position % 64 | high << (64 - position % 64) : low;
}

// The fraction (three words, highest first, of a number in [0, 1)) times pi/2, in two doubles.
static void scale_fraction(const uint64_t fraction[3], double *ret_high, double *ret_low) {
    double a = ldexp((double)(fraction[0] >> 11), -53);
    uint64_t middle = fraction[0] << 53 | fraction[1] >> 11;
    double b = ldexp((double)(middle >> 11), -106);
    uint64_t last = middle << 53 | (fraction[1] << 53 | fraction[2] >> 11) >> 11;
    double c = ldexp((double)(last >> 11), -159);
    double sum = a + b;
    double rest = (b - (sum - a)) + c;
    static const double half_pi = 1.5707963267948966;
    static const double half_pi_rest = 6.123233995736766e-17;
    double high = sum * half_pi;
    double low = fma(sum, half_pi, -high) + (sum * half_pi_rest + rest * half_pi);
    *ret_high = high + low;
    *ret_low = low - (*ret_high - high);
}

// |x| = mantissa * 2^exponent. Bits of 2/pi whose product with 2^exponent is a multiple of 4 turn
// by whole circles and are left out.
static Reduced reduce_large(double x) {
    uint64_t bits = math_bits(x);
    int32_t exponent = (int32_t)(bits >> 52 & 0x7FF) - 1075;
    uint64_t mantissa = (bits & 0xFFFFFFFFFFFFFull) | 1ull << 52;
    int32_t start = exponent > 2 ? exponent - 2 : 0;
    uint64_t window[4];
    take_window((uint32_t)start, window);
    uint64_t product[6] = {0};
    unsigned __int128 carry = 0;
    for (int i = 0; i < 4; i++) {
        carry += (unsigned __int128)mantissa * window[i];
        product[i] = (uint64_t)carry;
        carry >>= 64;
    }
    product[4] = (uint64_t)carry;
    uint32_t point = (uint32_t)(start + 256 - exponent); // bits behind the point
    uint32_t quadrant = (uint32_t)take_bits(product, point) & 3;
    uint64_t fraction[3];
    for (uint32_t i = 0; i < 3; i++) fraction[i] = take_bits(product, point - 64 * (i + 1));
    bool is_above_half = fraction[0] >> 63; // then y counts back from the next quadrant
    for (int i = 0; i < 3 && is_above_half; i++) fraction[i] = ~fraction[i];
    Reduced result;
    scale_fraction(fraction, &result.high, &result.low);
    result.quadrant = (int32_t)quadrant + is_above_half;
    if (is_above_half != (x < 0)) {
        result.high = -result.high;
        result.low = -result.low;
    }
    if (x < 0) result.quadrant = -result.quadrant;
    return result;
}

static Reduced reduce(double x) {
    static const double inverse = 6.36619772367581382433e-01;
    static const double part_1 = 1.57079632673412561417e+00; // first 33 bits of pi/2
    static const double rest_1 = 6.07710050650619224932e-11;
    static const double part_2 = 6.07710050630396597660e-11; // the next 33
    static const double rest_2 = 2.02226624879595063154e-21;
    static const double part_3 = 2.02226624871116645580e-21;
    static const double rest_3 = 8.47842766036889956997e-32;
    int32_t high = math_high(x) & 0x7FFFFFFF;
    if (high <= 0x3FE921FB) return (Reduced){0, x, 0};
    if (high > 0x413921FB) return reduce_large(x); // 2^19 * pi/2
    double t = fabs(x);
    int32_t n = high < 0x4002D97C ? 1 : (int32_t)(t * inverse + 0.5); // 3 pi/4
    double factor = n;
    double r = t - factor * part_1;
    double w = factor * rest_1;
    double y = r - w;
    int32_t before = high >> 20;
    // Too many bits cancelled: take more of pi/2. Near a multiple of pi/2 even more.
    if (before - (math_high(y) >> 20 & 0x7FF) > 16) {
        double old = r;
        w = factor * part_2;
        r = old - w;
        w = factor * rest_2 - ((old - r) - w);
        y = r - w;
        if (before - (math_high(y) >> 20 & 0x7FF) > 49) {
            old = r;
            w = factor * part_3;
            r = old - w;
            w = factor * rest_3 - ((old - r) - w);
            y = r - w;
        }
    }
    double low = (r - y) - w;
    return x < 0 ? (Reduced){-n, -y, -low} : (Reduced){n, y, low};
}

static double kernel_sin(double x, double tail, bool has_tail) {
    static const double S1 = -1.66666666666666324348e-01, S2 = 8.33333333332248946124e-03,
                        S3 = -1.98412698298579493134e-04, S4 = 2.75573137070700676789e-06,
                        S5 = -2.50507602534068634195e-08, S6 = 1.58969099521155010221e-10;
    if ((math_high(x) & 0x7FFFFFFF) < 0x3E400000) return x; // below 2^-27
    double z = x * x;
    double v = z * x;
    double r = S2 + z * (S3 + z * (S4 + z * (S5 + z * S6)));
    if (!has_tail) return x + v * (S1 + z * r);
    return x - ((z * (0.5 * tail - v * r) - tail) - v * S1);
}

static double kernel_cos(double x, double tail) {
    static const double C1 = 4.16666666666666019037e-02, C2 = -1.38888888888741095749e-03,
                        C3 = 2.48015872894767294178e-05, C4 = -2.75573143513906633035e-07,
                        C5 = 2.08757232129817482790e-09, C6 = -1.13596475577881948265e-11;
    int32_t high = math_high(x) & 0x7FFFFFFF;
    if (high < 0x3E400000) return 1;
    double z = x * x;
    double r = z * (C1 + z * (C2 + z * (C3 + z * (C4 + z * (C5 + z * C6)))));
    if (high < 0x3FD33333) return 1 - (0.5 * z - (z * r - x * tail)); // below 0.3
    double quarter = high > 0x3FE90000 ? 0.28125 : math_words(high - 0x00200000, 0);
    double half = 0.5 * z - quarter;
    return (1 - quarter) - (half - (z * r - x * tail));
}

// tan for an even quadrant, -1/tan for an odd one.
static double kernel_tan(double x, double tail, bool is_odd) {
    static const double T[] = {
        3.33333333333334091986e-01, 1.33333333333201242699e-01, 5.39682539762260521377e-02,
        2.18694882948595424599e-02, 8.86323982359930005737e-03, 3.59207910759131235356e-03,
        1.45620945432529025516e-03, 5.88041240820264096874e-04, 2.46463134818469906812e-04,
        7.81794442939557092300e-05, 7.14072491382608190305e-05, -1.85586374855275456654e-05,
        2.59073051863633712884e-05,
    };
    static const double quarter_pi = 7.85398163397448278999e-01;
    static const double quarter_pi_rest = 3.06161699786838301793e-17;
    bool is_negative = math_high(x) < 0;
    int32_t high = math_high(x) & 0x7FFFFFFF;
    if (high < 0x3E300000 && (int32_t)x == 0) { // below 2^-28
        if (!is_odd) return x;
        if (x == 0) return 1 / fabs(x);
        double w = x + tail;
        double z = math_clear_low(w);
        double v = tail - (z - x);
        double a = -1 / w;
        double t = math_clear_low(a);
        return t + a * ((1 + t * z) + t * v);
    }
    bool is_large = high >= 0x3FE59428; // 0.6744
    if (is_large) {
        if (is_negative) {
            x = -x;
            tail = -tail;
        }
        x = (quarter_pi - x) + (quarter_pi_rest - tail);
        tail = 0;
    }
    double z = x * x;
    double w = z * z;
    double r = T[1] + w * (T[3] + w * (T[5] + w * (T[7] + w * (T[9] + w * T[11]))));
    double v = z * (T[2] + w * (T[4] + w * (T[6] + w * (T[8] + w * (T[10] + w * T[12])))));
    double s = z * x;
    r = tail + z * (s * (r + v) + tail);
    r += T[0] * s;
    w = x + r;
    if (is_large) {
        v = is_odd ? -1 : 1;
        return (is_negative ? -1.0 : 1.0) * (v - 2 * (x - (w * w / (w + v) - r)));
    }
    if (!is_odd) return w;
    z = math_clear_low(w); // -1 / (x + r), computed with more care than one division has
    v = r - (z - x);
    double a = -1 / w;
    double t = math_clear_low(a);
    return t + a * ((1 + t * z) + t * v);
}

double flow_math_sin(double x) {
    if (!isfinite(x)) return NAN;
    if ((math_high(x) & 0x7FFFFFFF) <= 0x3FE921FB) return kernel_sin(x, 0, false);
    Reduced y = reduce(x);
    switch (y.quadrant & 3) {
    case 0: return kernel_sin(y.high, y.low, true);
    case 1: return kernel_cos(y.high, y.low);
    case 2: return -kernel_sin(y.high, y.low, true);
    default: return -kernel_cos(y.high, y.low);
    }
}

double flow_math_cos(double x) {
    if (!isfinite(x)) return NAN;
    Reduced y = reduce(x);
    switch (y.quadrant & 3) {
    case 0: return kernel_cos(y.high, y.low);
    case 1: return -kernel_sin(y.high, y.low, true);
    case 2: return -kernel_cos(y.high, y.low);
    default: return kernel_sin(y.high, y.low, true);
    }
}

double flow_math_tan(double x) {
    if (!isfinite(x)) return NAN;
    Reduced y = reduce(x);
    return kernel_tan(y.high, y.low, y.quadrant & 1);
}

// --- inverses

static double arc_ratio(double t) { // the rational part that asin and acos share
    static const double P0 = 1.66666666666666657415e-01, P1 = -3.25565818622400915405e-01,
                        P2 = 2.01212532134862925881e-01, P3 = -4.00555345006794114027e-02,
                        P4 = 7.91534994289814532176e-04, P5 = 3.47933107596021167570e-05,
                        Q1 = -2.40339491173441421878e+00, Q2 = 2.02094576023350569471e+00,
                        Q3 = -6.88283971605453293030e-01, Q4 = 7.70381505559019352791e-02;
    double p = t * (P0 + t * (P1 + t * (P2 + t * (P3 + t * (P4 + t * P5)))));
    double q = 1 + t * (Q1 + t * (Q2 + t * (Q3 + t * Q4)));
    return p / q;
}

static const double half_pi_high = 1.57079632679489655800e+00;
static const double half_pi_low = 6.12323399573676603587e-17;

double flow_math_asin(double x) {
    static const double quarter_pi_high = 7.85398163397448278999e-01;
    int32_t high = math_high(x) & 0x7FFFFFFF;
    if (fabs(x) == 1) return x * half_pi_high + x * half_pi_low;
    if (!(fabs(x) < 1)) return NAN;
    if (high < 0x3E400000) return x;
    if (high < 0x3FE00000) return x + x * arc_ratio(x * x); // below one half
    double w = 1 - fabs(x);
    double t = w * 0.5;
    double r = arc_ratio(t);
    double s = sqrt(t);
    double result;
    if (high >= 0x3FEF3333) { // above 0.975
        result = half_pi_high - (2.0 * (s + s * r) - half_pi_low);
    } else {
        w = math_clear_low(s);
        double c = (t - w * w) / (s + w);
        double p = 2.0 * s * r - (half_pi_low - 2.0 * c);
        double q = quarter_pi_high - 2.0 * w;
        result = quarter_pi_high - (p - q);
    }
    return x > 0 ? result : -result;
}

double flow_math_acos(double x) {
    static const double pi = 3.14159265358979311600e+00;
    if (fabs(x) == 1) return x > 0 ? 0.0 : pi + 2.0 * half_pi_low;
    if (!(fabs(x) < 1)) return NAN;
    int32_t high = math_high(x) & 0x7FFFFFFF;
    if (high < 0x3FE00000) {
        if (high <= 0x3C600000) return half_pi_high + half_pi_low;
        return half_pi_high - (x - (half_pi_low - x * arc_ratio(x * x)));
    }
    if (x < 0) {
        double z = (1 + x) * 0.5;
        double s = sqrt(z);
        double w = arc_ratio(z) * s - half_pi_low;
        return pi - 2.0 * (s + w);
    }
    double z = (1 - x) * 0.5;
    double s = sqrt(z);
    double df = math_clear_low(s);
    double c = (z - df * df) / (s + df);
    double w = arc_ratio(z) * s + c;
    return 2.0 * (df + w);
}

double flow_math_atan(double x) {
    static const double at_high[] = {4.63647609000806093515e-01, 7.85398163397448278999e-01,
                                     9.82793723247329054082e-01, 1.57079632679489655800e+00};
    static const double at_low[] = {2.26987774529616870924e-17, 3.06161699786838301793e-17,
                                    1.39033110312309984516e-17, 6.12323399573676603587e-17};
    static const double A[] = {
        3.33333333333329318027e-01,  -1.99999999998764832476e-01, 1.42857142725034663711e-01,
        -1.11111104054623557880e-01, 9.09088713343650656196e-02,  -7.69187620504482999495e-02,
        6.66107313738753120669e-02,  -5.83357013379057348645e-02, 4.97687799461593236017e-02,
        -3.65315727442169155270e-02, 1.62858201153657823623e-02,
    };
    if (isnan(x)) return x;
    bool is_negative = math_high(x) < 0;
    int32_t high = math_high(x) & 0x7FFFFFFF;
    if (high >= 0x44100000) { // 2^66
        return is_negative ? -at_high[3] - at_low[3] : at_high[3] + at_low[3];
    }
    int step = -1;
    if (high < 0x3FDC0000) { // 7/16
        if (high < 0x3E400000) return x;
    } else {
        x = fabs(x);
        if (high < 0x3FE60000) { // 11/16
            step = 0;
            x = (2.0 * x - 1) / (2.0 + x);
        } else if (high < 0x3FF30000) { // 19/16
            step = 1;
            x = (x - 1) / (x + 1);
        } else if (high < 0x40038000) { // 2.4375
            step = 2;
            x = (x - 1.5) / (1 + 1.5 * x);
        } else {
            step = 3;
            x = -1.0 / x;
        }
    }
    double z = x * x;
    double w = z * z;
    double s1 = z * (A[0] + w * (A[2] + w * (A[4] + w * (A[6] + w * (A[8] + w * A[10])))));
    double s2 = w * (A[1] + w * (A[3] + w * (A[5] + w * (A[7] + w * A[9]))));
    if (step < 0) return x - x * (s1 + s2);
    z = at_high[step] - ((x * (s1 + s2) - at_low[step]) - x);
    return is_negative ? -z : z;
}

double flow_math_atan2(double y, double x) {
    static const double pi = 3.1415926535897931160e+00;
    static const double pi_low = 1.2246467991473531772e-16;
    if (isnan(x) || isnan(y)) return NAN;
    if (x == 1) return flow_math_atan(y);
    bool is_x_negative = signbit(x);
    bool is_y_negative = signbit(y);
    double sign = is_y_negative ? -1 : 1;
    if (y == 0) return is_x_negative ? sign * pi : y;
    if (x == 0) return sign * (pi / 2);
    if (isinf(x)) {
        if (isinf(y)) return sign * (is_x_negative ? 3.0 * (pi / 4) : pi / 4);
        return is_x_negative ? sign * pi : sign * 0.0;
    }
    if (isinf(y)) return sign * (pi / 2);
    int32_t k = ((math_high(y) & 0x7FFFFFFF) - (math_high(x) & 0x7FFFFFFF)) >> 20;
    double z;
    if (k > 60) { // |y/x| above 2^60
        z = pi / 2 + 0.5 * pi_low;
        is_x_negative = false;
    } else if (is_x_negative && k < -60) {
        z = 0;
    } else {
        z = flow_math_atan(fabs(y / x));
    }
    if (!is_x_negative) return is_y_negative ? -z : z;
    return is_y_negative ? (z - pi_low) - pi : pi - (z - pi_low);
}

// Text to numbers, correctly rounded (to nearest, ties to even).
//
// Three ways, each tried when the one before cannot decide:
//   1. At most 2^53 and a small power of ten: both are exact doubles, one operation rounds once.
//   2. The first 19 digits times a power of ten known to 128 bits: a lower and an upper bound of
//      the true value; when both round to the same double, that is the answer.
//   3. The C library's exact conversion, in the "C" locale, of at most DIGITS_KEPT digits. A
//      double's halfway point has at most 767 digits, so what is cut off can only say "a little
//      more", and one final digit says just that.
//   [P1] The result depends on the text alone: not on the locale, not on the rounding mode's
//        default being changed (nobody changes it here), not on what follows the literal.
//   [P2] Nothing at or after text + len is read.
#include "base/assert.h"
#include "base/number.h"
#include "base/number_powers.h"
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    WORD_DIGITS_MAX = 19,      // always fit in 64 bits
    DIGITS_KEPT = 800,
    EXPONENT_CLAMP = 100000000, // larger exponents in the text are as good as this one
    EXACT_POWER_MAX = 22,      // 10^22 is the last power of ten that is a double
};

typedef struct Literal {
    uint64_t word;     // the first 19 significant digits
    int word_count;    // how many of them are in `word`
    int64_t exponent;  // value = word x 10^exponent, plus what was cut off
    bool is_negative;
    bool is_cut;       // some digit after the first 19 was not zero
    const char *start; // first digit or point
    const char *stop;  // after the last digit or point, before the exponent
    size_t len;        // bytes taken in all; 0 when there is no number
} Literal;

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// Reads digits from `at`; answers where they end. `point_step` is -1 after the point.
static const char *scan_digits(Literal *literal, const char *at, const char *end, int point_step) {
    for (; at < end && is_digit(*at); at++) {
        unsigned digit = (unsigned)(*at - '0');
        if (literal->word_count < WORD_DIGITS_MAX) {
            literal->word = literal->word * 10 + digit;
            if (literal->word != 0) literal->word_count++; // leading zeros are free
            literal->exponent += point_step;
        } else {
            literal->is_cut |= digit != 0;
            literal->exponent += point_step + 1;
        }
    }
    return at;
}

static const char *scan_exponent(Literal *literal, const char *at, const char *end) {
    const char *digits = at + 1; // after the 'e'
    bool is_negative = digits < end && *digits == '-';
    if (digits < end && (*digits == '-' || *digits == '+')) digits++;
    if (digits >= end || !is_digit(*digits)) return at; // "1e" is "1" and a letter
    int64_t exponent = 0;
    for (; digits < end && is_digit(*digits); digits++) {
        if (exponent < EXPONENT_CLAMP) exponent = exponent * 10 + (*digits - '0');
    }
    literal->exponent += is_negative ? -exponent : exponent;
    return digits;
}

static Literal scan_literal(const char *text, size_t len) {
    Literal literal = {0};
    const char *at = text, *end = text + len;
    if (at < end && (*at == '-' || *at == '+')) literal.is_negative = *at++ == '-';
    literal.start = at;
    at = scan_digits(&literal, at, end, 0);
    bool has_digits = at > literal.start;
    if (at < end && *at == '.') {
        const char *fraction = at + 1;
        const char *fraction_end = scan_digits(&literal, fraction, end, -1);
        if (has_digits || fraction_end > fraction) at = fraction_end;
        has_digits = has_digits || fraction_end > fraction;
    }
    if (!has_digits) return literal;
    literal.stop = at;
    if (at < end && (*at == 'e' || *at == 'E')) at = scan_exponent(&literal, at, end);
    literal.len = (size_t)(at - text);
    return literal;
}

// ---- way 1

static const double exact_powers[EXACT_POWER_MAX + 1] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static bool convert_exact(const Literal *literal, double *ret_value) {
    if (literal->is_cut || literal->word > 1ull << 53) return false;
    if (literal->exponent < -EXACT_POWER_MAX || literal->exponent > EXACT_POWER_MAX) return false;
    double word = (double)literal->word;
    if (literal->exponent < 0) *ret_value = word / exact_powers[-literal->exponent];
    else *ret_value = word * exact_powers[literal->exponent];
    return true;
}

// ---- way 2

// The double nearest to (significand + a bit, if is_sticky) x 2^exponent; significand > 0.
static uint64_t round_to_double(Wide significand, bool is_sticky, int exponent) {
    uint64_t top = (uint64_t)(significand >> 64);
    int leading = top ? __builtin_clzll(top) : 64 + __builtin_clzll((uint64_t)significand);
    significand <<= leading;
    exponent -= leading;
    int biased = exponent + 127 + 1023; // of a significand of 1.xxx
    if (biased >= 2047) return 2047ull << 52;
    int cut = 75; // 128 - 53
    if (biased < 1) {
        cut += 1 - biased;
        biased = 0;
    }
    if (cut > 128) return 0; // less than half of the smallest
    Wide kept = cut == 128 ? 0 : significand >> cut;
    Wide half = (Wide)1 << (cut - 1);
    Wide rest = cut == 128 ? significand : significand & (((Wide)1 << cut) - 1);
    uint64_t bits = (uint64_t)kept;
    if (rest > half || (rest == half && (is_sticky || (bits & 1)))) bits++;
    // A carry out of the fraction walks into the exponent field, which is what it should do.
    return biased == 0 ? bits : bits + ((uint64_t)(biased - 1) << 52);
}

// True when word x 10^exponent is known well enough to be rounded.
static bool convert_word(uint64_t word, int exponent, uint64_t *ret_bits) {
    int leading = __builtin_clzll(word);
    word <<= leading;
    PowerOfTen power = power_of_ten(exponent);
    Wide low = (Wide)power.low * word;
    Wide product = (Wide)power.high * word + (uint64_t)(low >> 64); // / 2^64, rounded down
    int binary = power_log2(exponent) - 127 + 64 - leading;
    if (power_is_exact(exponent)) {
        *ret_bits = round_to_double(product, (uint64_t)low != 0, binary);
        return true;
    }
    // The power is too small by less than 1, so the product is by less than `word` / 2^64 < 1,
    // and rounding it down cost less than 1: the truth lies strictly between product and + 2.
    *ret_bits = round_to_double(product, true, binary);
    return *ret_bits == round_to_double(product + 1, true, binary);
}

static bool convert_bounded(const Literal *literal, double *ret_value) {
    uint64_t bits;
    if (literal->exponent < POWER_MIN) {
        bits = 0;
    } else if (literal->exponent > POWER_MAX) {
        bits = 2047ull << 52;
    } else {
        uint64_t upper;
        int exponent = (int)literal->exponent;
        if (!convert_word(literal->word, exponent, &bits)) return false;
        if (literal->is_cut) {
            if (!convert_word(literal->word + 1, exponent, &upper) || upper != bits) return false;
        }
    }
    memcpy(ret_value, &bits, sizeof(bits));
    return true;
}

// ---- way 3

static locale_t c_locale;
static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;

static void make_c_locale(void) {
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    ASSERT(c_locale != (locale_t)0);
}

static double convert_slowly(const Literal *literal) {
    char text[DIGITS_KEPT + 32];
    size_t count = 0;
    bool is_cut = false;
    for (const char *at = literal->start; at < literal->stop; at++) {
        if (*at == '.' || (count == 0 && *at == '0')) continue;
        if (count < DIGITS_KEPT) text[count++] = *at;
        else is_cut |= *at != '0';
    }
    // The point stands after the digits that `word` holds; the text has more of them.
    int64_t exponent = literal->exponent + literal->word_count - (int64_t)count;
    if (is_cut) {
        text[count++] = '1';
        exponent--;
    }
    snprintf(text + count, sizeof(text) - count, "e%lld", (long long)exponent);
    pthread_once(&c_locale_once, make_c_locale);
    return strtod_l(text, NULL, c_locale);
}

size_t number_parse(const char *text, size_t len, double *ret_value) {
    Literal literal = scan_literal(text, len);
    if (literal.len == 0) return 0;
    double value = 0;
    if (literal.word != 0 && !convert_exact(&literal, &value)) {
        if (!convert_bounded(&literal, &value)) value = convert_slowly(&literal);
    }
    *ret_value = literal.is_negative ? -value : value;
    return literal.len;
}

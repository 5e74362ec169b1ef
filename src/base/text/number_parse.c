// Text to numbers, correctly rounded (to nearest, ties to even).
//
// Three ways, each tried when the one before cannot decide:
//   1. At most 2^53 and a small power of ten: both are exact doubles, one operation rounds once.
//   2. The first 19 digits times a power of ten known to 128 bits: a lower and an upper bound of
//      the true value; when both round to the same double, that is the answer.
//   3. The bounds round to neighbours: the digits are compared, as exact integers, with the
//      number halfway between the two. Such a number has at most 767 digits, so digits after the
//      first DIGITS_KEPT can only say "a little more", and one final digit says just that.
//   [number-parse-1] The result depends on the literal alone: not on the locale, not on what
//        follows it.
//   [number-parse-2] Nothing at or after text + len is read.
//   [number-parse-3] The two bounds of way 2 are never further apart than one unit in the last
//        place.
#include "base/assert.h"
#include "base/text/number.h"
#include "base/text/number_powers.h"

enum {
    WORD_DIGITS_MAX = 19, // always fit in 64 bits
    DIGITS_KEPT = 780,
    EXPONENT_CLAMP = 100000000, // larger exponents in the text are as good as this one
    EXACT_POWER_MAX = 22,       // 10^22 is the last power of ten that is a double
    BIG_LIMB_MAX = 256,         // 8192 bits; the longest comparison needs about 6000
};

#define HIDDEN_BIT    (1ull << 52)
#define INFINITY_BITS (2047ull << 52)

typedef struct Literal {
    uint64_t word;    // the first 19 significant digits
    int64_t exponent; // value = word x 10^exponent, plus what was cut off
    bool is_negative;
    bool is_cut;       // some digit after the first 19 was not zero
    const char *start; // first digit or point
    const char *stop;  // after the last digit or point, before the exponent
    size_t len;        // bytes taken in all; 0 when there is no number
} Literal;

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Reads digits into *word, which is of use as long as there are not more than WORD_DIGITS_MAX.
static const char *scan_digits(const char *at, const char *end, uint64_t *word) {
    uint64_t value = *word;
    for (; at < end && is_digit(*at); at++) value = value * 10 + (uint64_t)(*at - '0');
    *word = value;
    return at;
}

// Reads the digits from start to stop again, when there are more than fit in the word.
static void scan_many_digits(Literal *literal) {
    int count = 0; // significant digits in the word
    bool is_fraction = false;
    literal->word = 0;
    literal->exponent = 0;
    for (const char *at = literal->start; at < literal->stop; at++) {
        if (*at == '.') {
            is_fraction = true;
        } else if (count < WORD_DIGITS_MAX) {
            literal->word = literal->word * 10 + (uint64_t)(*at - '0');
            if (literal->word != 0) count++; // leading zeros are free
            literal->exponent -= is_fraction;
        } else {
            literal->is_cut |= *at != '0';
            literal->exponent += !is_fraction;
        }
    }
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
    at = scan_digits(at, end, &literal.word);
    int64_t digit_count = at - literal.start;
    if (at < end && *at == '.') {
        const char *fraction = at + 1;
        const char *fraction_end = scan_digits(fraction, end, &literal.word);
        literal.exponent = fraction - fraction_end;
        digit_count -= literal.exponent;
        if (digit_count > 0) at = fraction_end;
    }
    if (digit_count == 0) return literal;
    literal.stop = at;
    if (digit_count > WORD_DIGITS_MAX) scan_many_digits(&literal);
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
    if (biased >= 2047) return INFINITY_BITS;
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

typedef struct Bounds { // bits of doubles; the answer is one of the two
    uint64_t lower;
    uint64_t upper;
} Bounds;

// What word x 10^exponent may round to.
static Bounds bound_word(uint64_t word, int exponent) {
    int leading = __builtin_clzll(word);
    word <<= leading;
    PowerOfTen power = power_of_ten(exponent);
    Wide low = (Wide)power.low * word;
    Wide product = (Wide)power.high * word + (uint64_t)(low >> 64); // / 2^64, rounded down
    int binary = power_log2(exponent) - 127 + 64 - leading;
    if (power_is_exact(exponent)) {
        uint64_t bits = round_to_double(product, (uint64_t)low != 0, binary);
        return (Bounds){bits, bits};
    }
    // The power is too small by less than 1, so the product is by less than `word` / 2^64 < 1,
    // and rounding it down cost less than 1: the truth lies strictly between product and + 2.
    return (Bounds){round_to_double(product, true, binary),
                    round_to_double(product + 1, true, binary)};
}

static Bounds bound_literal(const Literal *literal) {
    if (literal->exponent < POWER_MIN) return (Bounds){0, 0};
    if (literal->exponent > POWER_MAX) return (Bounds){INFINITY_BITS, INFINITY_BITS};
    Bounds bounds = bound_word(literal->word, (int)literal->exponent);
    if (literal->is_cut) bounds.upper = bound_word(literal->word + 1, (int)literal->exponent).upper;
    return bounds;
}

// ---- way 3

typedef struct Big { // a natural number, lowest limb first
    size_t count;
    uint32_t limbs[BIG_LIMB_MAX];
} Big;

static void big_push(Big *big, uint32_t limb) {
    ASSERT(big->count < BIG_LIMB_MAX);
    big->limbs[big->count++] = limb;
}

static void big_multiply_add(Big *big, uint32_t factor, uint32_t addend) {
    uint64_t carry = addend;
    for (size_t i = 0; i < big->count; i++) {
        carry += (uint64_t)big->limbs[i] * factor;
        big->limbs[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry) big_push(big, (uint32_t)carry);
}

static void big_multiply_power_of_five(Big *big, int64_t power) {
    for (; power >= 13; power -= 13) big_multiply_add(big, 1220703125, 0); // 5^13
    for (; power > 0; power--) big_multiply_add(big, 5, 0);
}

static void big_shift_left(Big *big, int64_t bits) {
    big_multiply_add(big, 1u << (bits % 32), 0);
    size_t limbs = (size_t)(bits / 32);
    ASSERT(big->count + limbs <= BIG_LIMB_MAX);
    memmove(big->limbs + limbs, big->limbs, big->count * sizeof(big->limbs[0]));
    memset(big->limbs, 0, limbs * sizeof(big->limbs[0]));
    big->count += limbs;
}

static int big_compare(const Big *a, const Big *b) {
    if (a->count != b->count) return a->count > b->count ? 1 : -1;
    for (size_t i = a->count; i-- > 0;) {
        if (a->limbs[i] != b->limbs[i]) return a->limbs[i] > b->limbs[i] ? 1 : -1;
    }
    return 0;
}

// The digits of the literal as one number; answers the power of ten that goes with it.
static int64_t big_from_literal(Big *big, const Literal *literal) {
    big->count = 0;
    int64_t count = 0;
    bool is_cut = false;
    for (const char *at = literal->start; at < literal->stop; at++) {
        if (*at == '.' || (count == 0 && *at == '0')) continue;
        if (count < DIGITS_KEPT) {
            big_multiply_add(big, 10, (uint32_t)(*at - '0'));
            count++;
        } else {
            is_cut |= *at != '0';
        }
    }
    if (is_cut) {
        big_multiply_add(big, 10, 1);
        count++;
    }
    // The literal's exponent belongs to the digits in `word`; here are more of them.
    int64_t count_in_word = count < WORD_DIGITS_MAX ? count : WORD_DIGITS_MAX;
    return literal->exponent + count_in_word - count;
}

// Whether the literal is above (1), at (0) or below (-1) the middle of `lower` and the next double.
static int compare_with_middle(const Literal *literal, uint64_t lower) {
    Big digits, middle = {0};
    int64_t ten = big_from_literal(&digits, literal);
    uint64_t significand = lower & (HIDDEN_BIT - 1);
    int64_t two = -1075; // of the middle's last bit, half a unit of the double's
    uint64_t biased = lower >> 52;
    if (biased > 0) {
        significand |= HIDDEN_BIT;
        two += (int64_t)biased - 1;
    }
    significand = 2 * significand + 1;
    big_push(&middle, (uint32_t)significand);
    if (significand >> 32) big_push(&middle, (uint32_t)(significand >> 32));

    // digits x 10^ten against middle x 2^two: move every negative power to the other side.
    if (ten >= 0) big_multiply_power_of_five(&digits, ten);
    else big_multiply_power_of_five(&middle, -ten);
    int64_t shift = ten - two;
    if (shift >= 0) big_shift_left(&digits, shift);
    else big_shift_left(&middle, -shift);
    return big_compare(&digits, &middle);
}

static double convert_carefully(const Literal *literal) {
    Bounds bounds = bound_literal(literal);
    uint64_t bits = bounds.lower;
    if (bounds.lower != bounds.upper) {
        ASSERT(bounds.upper == bounds.lower + 1); // [number-parse-3]
        int order = compare_with_middle(literal, bounds.lower);
        if (order > 0 || (order == 0 && (bits & 1))) bits = bounds.upper;
    }
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

size_t number_parse(const char *text, size_t len, double *ret_value) {
    Literal literal = scan_literal(text, len);
    if (literal.len == 0) return 0;
    double value = 0;
    if (literal.word != 0 && !convert_exact(&literal, &value)) {
        value = convert_carefully(&literal);
    }
    *ret_value = literal.is_negative ? -value : value;
    return literal.len;
}

bool number_parse_count(Str text, int64_t max, int64_t *ret_value) {
    int64_t value = 0;
    if (text.len == 0) return false;
    for (size_t i = 0; i < text.len; i++) {
        int digit = text.data[i] - '0';
        if (digit < 0 || digit > 9 || value > max / 10 || value * 10 > max - digit) return false;
        value = value * 10 + digit;
    }
    *ret_value = value;
    return true;
}

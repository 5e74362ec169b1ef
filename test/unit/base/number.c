// Numbers: ECMAScript's text for doubles, and correctly rounded reading.
#include "base/text/number.h"
#include "base/array.h"
#include "base/env.h"
#include "base/text/number_powers.h"
#include "unit/unit.h"
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>

static double from_bits(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static uint64_t to_bits(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static double parsed(const char *text) {
    double value = -1;
    assert_int_equal(number_parse(text, strlen(text), &value), strlen(text));
    return value;
}

static void doubles_print_as_ecmascript_prints_them(void **state) {
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0.0, "0"},
        {-0.0, "0"},
        {1, "1"},
        {-1, "-1"},
        {0.1, "0.1"},
        {0.5, "0.5"},
        {1.5, "1.5"},
        {0.1 + 0.2, "0.30000000000000004"},
        {1.0 / 3, "0.3333333333333333"},
        {100, "100"},
        {123456789, "123456789"},
        {9007199254740991, "9007199254740991"},
        {9007199254740992, "9007199254740992"},
        {9007199254740994, "9007199254740994"},
        {1e20, "100000000000000000000"},
        {123456789012345680000.0, "123456789012345680000"},
        {1e21, "1e+21"},
        {1.25e21, "1.25e+21"},
        {1e22, "1e+22"},
        {1e23, "1e+23"},
        {1e100, "1e+100"},
        {1e-6, "0.000001"},
        {1.5e-6, "0.0000015"},
        {1e-7, "1e-7"},
        {1.5e-7, "1.5e-7"},
        {DBL_MAX, "1.7976931348623157e+308"},
        {DBL_MIN, "2.2250738585072014e-308"},
        {DBL_EPSILON, "2.220446049250313e-16"},
        {4294967296.5, "4294967296.5"},
        {-1.1e-10, "-1.1e-10"},
        {5e-324, "5e-324"},
        {1e-323, "1e-323"},
        {2.2250738585072011e-308, "2.225073858507201e-308"},
        {9.5367431640625e-7, "9.5367431640625e-7"},
        {5.684341886080801e-14, "5.684341886080801e-14"},
        {4.35, "4.35"},
        {1e15, "1000000000000000"},
        {0.000001234, "0.000001234"},
        {1.7976931348623155e308, "1.7976931348623155e+308"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[NUMBER_TEXT_MAX];
        assert_int_equal(number_format(cases[i].value, text), strlen(cases[i].text));
        assert_string_equal(text, cases[i].text);
    }
}

static void not_finite_numbers_print_their_names(void **state) {
    (void)state;
    char text[NUMBER_TEXT_MAX];
    number_format(NAN, text);
    assert_string_equal(text, "NaN");
    number_format(INFINITY, text);
    assert_string_equal(text, "Infinity");
    number_format(-INFINITY, text);
    assert_string_equal(text, "-Infinity");
}

static void integers_print_to_both_ends(void **state) {
    (void)state;
    char text[NUMBER_TEXT_MAX];
    number_format_i64(INT64_MIN, text);
    assert_string_equal(text, "-9223372036854775808");
    number_format_i64(INT64_MAX, text);
    assert_string_equal(text, "9223372036854775807");
    for (int64_t i = -1100; i < 1100; i++) {
        char expected[32];
        snprintf(expected, sizeof(expected), "%lld", (long long)i);
        number_format_i64(i, text);
        assert_string_equal(text, expected);
    }
}

// The digits read back, fewer do not, and of as many digits none is closer.
static void check_shortest(double value) {
    char digits[18], text[64];
    int exponent;
    int count = number_shortest_digits(value, digits, &exponent);
    snprintf(text, sizeof(text), "0.%se%d", digits, exponent);
    if (strtod(text, NULL) != value) fail_msg("%a printed as %s", value, text);
    if (parsed(text) != value) fail_msg("%s read as %a, not %a", text, parsed(text), value);
    if (digits[count - 1] == '0' || digits[0] == '0') fail_msg("%a has zeros: %s", value, text);
    if (count > 1) {
        snprintf(text, sizeof(text), "%.*e", count - 2, value);
        if (strtod(text, NULL) == value) fail_msg("%a is shorter as %s", value, text);
    }
    snprintf(text, sizeof(text), "%.*e", count - 1, value);
    if (strtod(text, NULL) != value) return; // just above a power of two: nothing to compare
    bool is_same = text[0] == digits[0] &&
                   (count == 1 || memcmp(text + 2, digits + 1, (size_t)count - 1) == 0);
    if (!is_same) fail_msg("%a is closer as %s than as %s", value, text, digits);
}

static void random_doubles_print_shortest(void **state) {
    (void)state;
    uint64_t seed = 2024;
    for (size_t i = 0; i < scaled(200000); i++) {
        double value = from_bits(random_next(&seed) >> 1);
        if (isfinite(value) && value > 0) check_shortest(value);
    }
}

static void powers_of_two_and_their_neighbours_print_shortest(void **state) {
    (void)state;
    for (int exponent = -1074; exponent <= 1023; exponent++) {
        uint64_t bits = to_bits(ldexp(1, exponent));
        for (uint64_t near = bits - 2; near <= bits + 2; near++) {
            double value = from_bits(near);
            if (near < 1ull << 63 && isfinite(value) && value > 0) check_shortest(value);
        }
    }
}

static void subnormal_and_decimal_looking_doubles_print_shortest(void **state) {
    (void)state;
    uint64_t seed = 77;
    for (size_t i = 0; i < scaled(50000); i++) {
        check_shortest(from_bits((random_next(&seed) & 0xFFFFFFFFFFFFF) >> (i % 52) | 1));
        check_shortest((double)(random_next(&seed) % 100000000 + 1) / 1000);
        check_shortest((double)(random_next(&seed) % 1000 + 1) * pow(10, (double)(i % 600) - 300));
    }
}

static void literals_are_read_as_long_as_they_last(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t used;
        double value;
    } cases[] = {
        {"12", 2, 12},     {"-1.5e3", 6, -1500}, {".5", 2, 0.5},     {"5.", 2, 5},
        {"+7", 2, 7},      {"1e", 1, 1},         {"1e+", 1, 1},      {"1e-x", 1, 1},
        {"1.5.5", 3, 1.5}, {"12abc", 2, 12},     {"0x10", 1, 0},     {"1_000", 1, 1},
        {"5.e1", 4, 50},   {"00012", 5, 12},     {"1E2", 3, 100},    {".", 0, 0},
        {"", 0, 0},        {"-", 0, 0},          {"e5", 0, 0},       {"abc", 0, 0},
        {"-.e1", 0, 0},    {" 1", 0, 0},         {"Infinity", 0, 0}, {"nan", 0, 0},
        {"1,5", 1, 1},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        double value = 0;
        assert_int_equal(number_parse(cases[i].text, strlen(cases[i].text), &value), cases[i].used);
        assert_true(value == cases[i].value);
    }
}

static void nothing_after_the_length_is_read(void **state) {
    (void)state;
    double value;
    assert_int_equal(number_parse("12345", 3, &value), 3);
    assert_true(value == 123);
    assert_int_equal(number_parse("1e5", 2, &value), 1);
    assert_true(value == 1);
    assert_int_equal(number_parse("1", 0, &value), 0);
}

static void minus_zero_keeps_its_sign(void **state) {
    (void)state;
    assert_true(signbit(parsed("-0")));
    assert_true(signbit(parsed("-0.000e5")));
    assert_true(signbit(parsed("-1e-999")));
    assert_false(signbit(parsed("0")));
}

static void numbers_out_of_range_become_zero_or_infinity(void **state) {
    (void)state;
    assert_true(parsed("1e309") == INFINITY);
    assert_true(parsed("-1e999999999999999999999") == -INFINITY);
    assert_true(parsed("1e-400") == 0);
    assert_true(parsed("0e999999999999999999999") == 0);
    assert_true(parsed("2.4703282292062327208e-324") == 0);
    assert_true(parsed("2.4703282292062328e-324") == 5e-324);
    assert_true(parsed("1.7976931348623157e308") == DBL_MAX);
    assert_true(parsed("1.7976931348623158e308") == DBL_MAX);
    assert_true(parsed("1.797693134862315808e308") == INFINITY);
    assert_true(parsed("123456789012345678901234567890e-340") == 1.2345678901234568e-311);
}

static void long_digit_strings_with_far_exponents_cancel_out(void **state) {
    (void)state;
    enum { ZEROS = 5000 };
    static char text[ZEROS + 64];
    memcpy(text, "1", 1);
    memset(text + 1, '0', ZEROS);
    memcpy(text + 1 + ZEROS, "e-5000", 7);
    assert_true(parsed(text) == 1);
    memcpy(text, "0.", 2);
    memset(text + 2, '0', ZEROS);
    memcpy(text + 2 + ZEROS, "15e5001", 8);
    assert_true(parsed(text) == 1.5);
}

// Reads `text` both ways.
static void check_same_as_strtod(const char *text) {
    double expected = strtod(text, NULL);
    if (to_bits(parsed(text)) != to_bits(expected)) {
        fail_msg("%s read as %a, not %a", text, parsed(text), expected);
    }
}

static void texts_of_any_precision_are_rounded_as_the_c_library_does(void **state) {
    (void)state;
    uint64_t seed = 31;
    for (size_t i = 0; i < scaled(100000); i++) {
        double value = from_bits(random_next(&seed));
        if (!isfinite(value)) continue;
        char text[64];
        snprintf(text, sizeof(text), "%.*e", (int)(i % 25), value);
        check_same_as_strtod(text);
    }
}

static void ties_go_to_even_and_the_last_digit_decides(void **state) {
    (void)state;
    uint64_t seed = 32;
    for (size_t i = 0; i < scaled(20000); i++) {
        uint64_t bits = random_next(&seed) >> 1;
        if (i % 3 == 0) bits &= 0xFFFFFFFFFFFFF;
        double value = from_bits(bits), next = from_bits(bits + 1);
        if (!isfinite(next)) continue;
        long double middle = ((long double)value + (long double)next) / 2; // exact on x86
        char text[1024];
        int len = snprintf(text, 900, "%.790Le", middle);
        check_same_as_strtod(text);
        char *exponent = memchr(text, 'e', (size_t)len);
        char kept[16];
        snprintf(kept, sizeof(kept), "%s", exponent);
        snprintf(exponent, 64, "0000000000000000000001%s", kept);
        check_same_as_strtod(text);
        exponent[-1] = exponent[-1] == '0' ? '0' : (char)(exponent[-1] - 1);
        check_same_as_strtod(text);
    }
}

static void the_locale_does_not_matter(void **state) {
    (void)state;
    if (!setlocale(LC_ALL, "de_DE.UTF-8")) setlocale(LC_ALL, "");
    char text[NUMBER_TEXT_MAX];
    number_format(1.5, text);
    assert_string_equal(text, "1.5");
    assert_true(parsed("1.5") == 1.5);
    assert_true(parsed("9007199254740993.00000000000000000001") == 9007199254740994.0);
    setlocale(LC_ALL, "C");
}

// The table is right if each entry times ten is the next one, to the last bit it has.
static void powers_of_ten_follow_from_each_other(void **state) {
    (void)state;
    assert_int_equal(power_of_ten(0).high, 1ull << 63);
    assert_int_equal(power_of_ten(0).low, 0);
    for (int k = POWER_MIN; k < POWER_MAX; k++) {
        PowerOfTen power = power_of_ten(k), next = power_of_ten(k + 1);
        assert_true(power.high >> 63);
        int shift = power_log2(k + 1) - power_log2(k); // 3 or 4
        Wide low = (Wide)power.low * 10;
        Wide high = (Wide)power.high * 10 + (uint64_t)(low >> 64);
        // (high, low) >> shift, in 128 bits; at most 10 / 8 units below the truth.
        Wide product = high << (64 - shift) | (uint64_t)low >> shift;
        Wide truth = (Wide)next.high << 64 | next.low;
        assert_true(truth - product <= 2);
    }
}

static void a_count_is_all_digits_and_within_its_limit(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t max;
        int64_t expected; // < 0 = refused
    } cases[] = {
        {"0", 0, 0},
        {"7", 7, 7},
        {"8", 7, -1},
        {"70", 70, 70},
        {"71", 70, -1},
        {"007", 10, 7},
        {"", 10, -1},
        {"-1", 10, -1},
        {"+1", 10, -1},
        {"1 ", 10, -1},
        {"1.0", 10, -1},
        {"x", 10, -1},
        {"9", 5, -1},
        {"100", 99, -1},
        {"9223372036854775807", INT64_MAX, INT64_MAX},
        {"9223372036854775808", INT64_MAX, -1},
        {"99999999999999999999999", INT64_MAX, -1},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        int64_t value = -7;
        bool is_good = number_parse_count(str_from(cases[i].text), cases[i].max, &value);
        assert_int_equal(is_good, cases[i].expected >= 0);
        assert_int_equal(value, is_good ? cases[i].expected : -7);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doubles_print_as_ecmascript_prints_them),
        cmocka_unit_test(not_finite_numbers_print_their_names),
        cmocka_unit_test(integers_print_to_both_ends),
        cmocka_unit_test(random_doubles_print_shortest),
        cmocka_unit_test(powers_of_two_and_their_neighbours_print_shortest),
        cmocka_unit_test(subnormal_and_decimal_looking_doubles_print_shortest),
        cmocka_unit_test(literals_are_read_as_long_as_they_last),
        cmocka_unit_test(nothing_after_the_length_is_read),
        cmocka_unit_test(minus_zero_keeps_its_sign),
        cmocka_unit_test(numbers_out_of_range_become_zero_or_infinity),
        cmocka_unit_test(long_digit_strings_with_far_exponents_cancel_out),
        cmocka_unit_test(texts_of_any_precision_are_rounded_as_the_c_library_does),
        cmocka_unit_test(ties_go_to_even_and_the_last_digit_decides),
        cmocka_unit_test(the_locale_does_not_matter),
        cmocka_unit_test(powers_of_ten_follow_from_each_other),
        cmocka_unit_test(a_count_is_all_digits_and_within_its_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

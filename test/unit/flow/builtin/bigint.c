// BigInt: arithmetic on magnitudes by its own laws and by known values, and limits in scripts.
#include "base/array.h"
#include "base/env.h"
#include "flow/builtin/number/bigint_math.h"
#include "unit/flow/vm.h"
#include <math.h>

enum { DIGITS = 80 };

// Digits that are all zeros or all ones now and then: carries and guesses go wrong there.
static uint32_t random_magnitude(uint64_t *seed, uint32_t *ret_digits) {
    uint32_t count = (uint32_t)(random_next(seed) % DIGITS);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t r = random_next(seed);
        ret_digits[i] = r % 5 == 0 ? 0 : r % 5 == 1 ? UINT32_MAX : (uint32_t)(r >> 32);
    }
    return magnitude_trim(ret_digits, count);
}

static void division_undoes_multiplication(void **state) {
    (void)state;
    uint64_t seed = 11;
    for (size_t round = 0; round < scaled(20000); round++) {
        uint32_t a[DIGITS], b[DIGITS], q[DIGITS + 1], r[DIGITS + 1];
        uint32_t product[2 * DIGITS + 2], sum[2 * DIGITS + 3];
        Magnitude x = {a, random_magnitude(&seed, a)};
        Magnitude y = {b, random_magnitude(&seed, b)};
        if (y.count == 0) continue;
        magnitude_divide(x, y, q, r);
        Magnitude quotient = {q, magnitude_trim(q, x.count + 1)};
        Magnitude rest = {r, magnitude_trim(r, x.count + 1)};
        assert_int_equal(magnitude_compare(rest, y), -1);
        Magnitude back = {product, magnitude_mul(quotient, y, product)};
        back = (Magnitude){sum, magnitude_add(back, rest, sum)};
        assert_int_equal(magnitude_compare(back, x), 0);
    }
}

static void subtraction_undoes_addition(void **state) {
    (void)state;
    uint64_t seed = 12;
    for (size_t round = 0; round < scaled(20000); round++) {
        uint32_t a[DIGITS], b[DIGITS], sum[DIGITS + 1], difference[DIGITS + 1];
        Magnitude x = {a, random_magnitude(&seed, a)};
        Magnitude y = {b, random_magnitude(&seed, b)};
        Magnitude total = {sum, magnitude_add(x, y, sum)};
        Magnitude back = {difference, magnitude_sub(total, y, difference)};
        assert_int_equal(magnitude_compare(back, x), 0);
    }
}

static void text_reads_back_in_every_radix(void **state) {
    (void)state;
    uint64_t seed = 13;
    for (uint32_t radix = 2; radix <= 36; radix++) {
        uint32_t a[DIGITS], scratch[DIGITS], back[DIGITS + 2] = {0};
        Magnitude x = {a, random_magnitude(&seed, a)};
        static char text[DIGITS * 32 + 8];
        assert_true(magnitude_text_max(x, radix) <= sizeof text);
        size_t length = magnitude_to_text(x, radix, scratch, text);
        uint32_t count = 0;
        for (size_t i = 0; i < length; i++) {
            uint32_t digit = (uint32_t)(text[i] <= '9' ? text[i] - '0' : text[i] - 'a' + 10);
            count = magnitude_scale(back, count, radix, digit);
        }
        assert_int_equal(magnitude_compare((Magnitude){back, count}, x), 0);
    }
}

// A text is made chunk by chunk: each begins with such a power, and none writes beyond its room.
static void powers_of_the_radix_have_their_text(void **state) {
    (void)state;
    enum { POWER_MAX = 120 };
    for (uint32_t radix = 2; radix <= 36; radix++) {
        uint32_t digits[DIGITS] = {1}, scratch[DIGITS];
        Magnitude value = {digits, 1};
        for (size_t power = 0; power < POWER_MAX; power++) {
            char text[8 * POWER_MAX];
            memset(text, '?', sizeof(text));
            size_t length = magnitude_to_text(value, radix, scratch, text);
            assert_int_equal(length, power + 1);
            assert_true(length <= magnitude_text_max(value, radix));
            for (size_t i = 0; i < sizeof(text); i++) {
                assert_int_equal(text[i], i == 0 ? '1' : i < length ? '0' : '?');
            }
            value.count = magnitude_scale(digits, value.count, radix, 0);
        }
    }
}

static void doubles_round_to_nearest_even(void **state) {
    (void)state;
    static const struct {
        uint32_t digits[4];
        double value;
    } samples[] = {
        {{1, 0x200000, 0, 0}, 9007199254740992.0}, // 2^53 + 1: a tie, down to even
        {{3, 0x200000, 0, 0}, 9007199254740996.0}, // 2^53 + 3: a tie, up to even
        {{0, 0, 0, 1}, 79228162514264337593543950336.0},
        {{UINT32_MAX, UINT32_MAX, UINT32_MAX, 0}, 79228162514264337593543950336.0},
    };
    for (size_t i = 0; i < COUNT_OF(samples); i++) {
        Magnitude x = {samples[i].digits, magnitude_trim(samples[i].digits, 4)};
        double value = magnitude_to_double(x);
        assert_true(value == samples[i].value);
        uint32_t back[33];
        Magnitude y = {back, magnitude_from_double(value, back)};
        assert_true(magnitude_to_double(y) == value);
    }
    static const uint32_t zero[1] = {0};
    assert_true(magnitude_to_double((Magnitude){zero, 0}) == 0);
    static uint32_t huge[40];
    for (int i = 0; i < 40; i++) huge[i] = 1;
    assert_true(isinf(magnitude_to_double((Magnitude){huge, 40})));
}

static void known_values_come_out(void **state) {
    (void)state;
    assert_flow("let f = 1n; for (let i = 1n; i <= 30n; i++) f *= i; return String(f)",
                "\"265252859812191058636308480000000\"");
    assert_flow("return String(3n ** 100n)",
                "\"515377520732011331036461129765621272702107522001\"");
    assert_flow("return [-7n / 2n, -7n % 2n, -7n >> 1n, ~5n, -1n & 255n, 5n ^ -3n].map(String)",
                "[\"-3\",\"-1\",\"-4\",\"-6\",\"255\",\"-8\"]");
    assert_flow("return [BigInt.asIntN(8, 255n), BigInt.asUintN(8, -1n), BigInt('0xff')]"
                ".map(String)",
                "[\"-1\",\"255\",\"255\"]");
    assert_flow("return [2n ** 64n > 1e19, 1n == 1, 2n > 1.5, 10n < NaN]",
                "[true,true,true,false]");
}

static void size_is_limited_before_the_work_is_done(void **state) {
    (void)state;
    static const char *const programs[] = {
        "return 2n ** 300000n",
        "return 1n << 300000n",
        "return 7n ** (10n ** 30n)",
        "let x = 3n; for (;;) x *= x",
        "return BigInt('9'.repeat(200000))",
        "return BigInt.asUintN(2 ** 40, -1n)",
    };
    for (size_t i = 0; i < COUNT_OF(programs); i++) {
        assert_flow_fails(programs[i], "RangeError", "Maximum BigInt size exceeded");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(division_undoes_multiplication),
        cmocka_unit_test(subtraction_undoes_addition),
        cmocka_unit_test(text_reads_back_in_every_radix),
        cmocka_unit_test(powers_of_the_radix_have_their_text),
        cmocka_unit_test(doubles_round_to_nearest_even),
        cmocka_unit_test(known_values_come_out),
        cmocka_unit_test(size_is_limited_before_the_work_is_done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// Hexadecimal digits.
#include "base/text/hex.h"
#include "unit/unit.h"

static void bytes_are_written_with_two_digits_each(void **state) {
    (void)state;
    const uint8_t bytes[] = {0x00, 0x7f, 0xa0, 0xff};
    char text[2 * sizeof bytes];
    hex_write(text, bytes, sizeof bytes);
    assert_memory_equal(text, "007fa0ff", sizeof text);
}

static void digits_of_either_case_are_read(void **state) {
    (void)state;
    assert_int_equal(hex_byte("7f"), 0x7f);
    assert_int_equal(hex_byte("Ab"), 0xab);
    assert_int_equal(hex_byte("00"), 0);
}

static void what_is_no_digit_is_refused(void **state) {
    (void)state;
    assert_int_equal(hex_byte("0g"), -1);
    assert_int_equal(hex_byte("/0"), -1);
    assert_int_equal(hex_byte(":0"), -1);
    assert_int_equal(hex_byte("@0"), -1);
    assert_int_equal(hex_byte("`0"), -1);
    assert_int_equal(hex_byte("\xff"
                              "0"),
                     -1);
    assert_int_equal(hex_value(0x130), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_written_with_two_digits_each),
        cmocka_unit_test(digits_of_either_case_are_read),
        cmocka_unit_test(what_is_no_digit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

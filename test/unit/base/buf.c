// Buf: growth, the ceiling, what is kept when it is hit.
#include "base/containers/buf.h"
#include "unit/unit.h"

static void bytes_appended_come_out_in_order(void **state) {
    (void)state;
    Buf buf;
    buf_init(&buf, 1 << 20);
    for (int i = 0; i < 10000; i++) buf_append_char(&buf, (char)('a' + i % 26));
    assert_int_equal(buf.len, 10000);
    for (int i = 0; i < 10000; i++) assert_int_equal(buf.data[i], 'a' + i % 26);
    buf_done(&buf);
}

static void a_write_past_the_ceiling_is_dropped_whole(void **state) {
    (void)state;
    Buf buf;
    buf_init(&buf, 10);
    buf_append_cstr(&buf, "12345678");
    buf_append_cstr(&buf, "abc");
    assert_true(buf.is_overflown);
    assert_string_equal(buf_cstr(&buf), "12345678");
    buf_done(&buf);
}

static void after_an_overflow_smaller_writes_are_dropped_too(void **state) {
    (void)state;
    Buf buf;
    buf_init(&buf, 10);
    buf_append_cstr(&buf, "12345678abc");
    buf_append_char(&buf, 'x');
    buf_printf(&buf, "%d", 1);
    assert_int_equal(buf.len, 0);
    buf_clear(&buf);
    buf_append_char(&buf, 'x');
    assert_false(buf.is_overflown);
    assert_string_equal(buf_cstr(&buf), "x");
    buf_done(&buf);
}

static void exactly_the_ceiling_fits(void **state) {
    (void)state;
    for (size_t max = 0; max < 300; max++) {
        Buf buf;
        buf_init(&buf, max);
        for (size_t i = 0; i < max; i++) buf_append_char(&buf, 'x');
        assert_false(buf.is_overflown);
        assert_int_equal(strlen(buf_cstr(&buf)), max);
        buf_append_char(&buf, 'x');
        assert_true(buf.is_overflown);
        buf_done(&buf);
    }
}

static void an_empty_buffer_is_an_empty_text(void **state) {
    (void)state;
    Buf buf;
    buf_init(&buf, 10);
    assert_string_equal(buf_cstr(&buf), "");
    assert_false(str_is_null(buf_str(&buf)));
    buf_append_str(&buf, STR_NULL);
    assert_int_equal(buf.len, 0);
    buf_done(&buf);
}

static void formatted_text_grows_the_buffer(void **state) {
    (void)state;
    Buf buf;
    buf_init(&buf, 100000);
    buf_printf(&buf, "<%s>", "a");
    buf_printf(&buf, "%50000d", 7);
    assert_int_equal(buf.len, 50003);
    assert_int_equal(buf.data[50002], '7');
    buf_done(&buf);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_appended_come_out_in_order),
        cmocka_unit_test(a_write_past_the_ceiling_is_dropped_whole),
        cmocka_unit_test(after_an_overflow_smaller_writes_are_dropped_too),
        cmocka_unit_test(exactly_the_ceiling_fits),
        cmocka_unit_test(an_empty_buffer_is_an_empty_text),
        cmocka_unit_test(formatted_text_grows_the_buffer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

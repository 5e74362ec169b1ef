// Bytes: round trips, and readers that never run past their end.
#include "base/containers/bytes.h"
#include "base/array.h"
#include "base/env.h"
#include "unit/unit.h"

static const uint64_t samples[] = {
    0, 1, 127, 128, 16383, 16384, UINT32_MAX, 1ull << 32, (1ull << 63) - 1, 1ull << 63, UINT64_MAX};
enum { SAMPLE_COUNT = COUNT_OF(samples) };

static void numbers_come_back_as_they_went_in(void **state) {
    (void)state;
    Buf buf;
    buf_init(&buf, 10000);
    for (size_t i = 0; i < SAMPLE_COUNT; i++) {
        bytes_put_u8(&buf, (uint8_t)samples[i]);
        bytes_put_u32(&buf, (uint32_t)samples[i]);
        bytes_put_u64(&buf, samples[i]);
        bytes_put_varint(&buf, samples[i]);
        bytes_put_zigzag(&buf, (int64_t)samples[i]);
        bytes_put_f64(&buf, (double)samples[i] / 3);
    }
    ByteReader reader = bytes_reader(buf_str(&buf));
    for (size_t i = 0; i < SAMPLE_COUNT; i++) {
        assert_int_equal(bytes_get_u8(&reader), (uint8_t)samples[i]);
        assert_int_equal(bytes_get_u32(&reader), (uint32_t)samples[i]);
        assert_int_equal(bytes_get_u64(&reader), samples[i]);
        assert_int_equal(bytes_get_varint(&reader), samples[i]);
        assert_int_equal(bytes_get_zigzag(&reader), (int64_t)samples[i]);
        assert_true(bytes_get_f64(&reader) == (double)samples[i] / 3);
    }
    assert_false(reader.is_bad);
    assert_int_equal(bytes_left(&reader), 0);
    buf_done(&buf);
}

static void fixed_numbers_are_little_endian(void **state) {
    (void)state;
    Buf buf;
    buf_init(&buf, 100);
    bytes_put_u32(&buf, 0x01020304);
    assert_memory_equal(buf.data, "\x04\x03\x02\x01", 4);
    buf_done(&buf);
}

static void small_numbers_of_either_sign_take_one_byte(void **state) {
    (void)state;
    Buf buf;
    buf_init(&buf, 100);
    bytes_put_zigzag(&buf, -64);
    bytes_put_zigzag(&buf, 63);
    bytes_put_varint(&buf, 127);
    assert_int_equal(buf.len, 3);
    buf_done(&buf);
}

static void null_and_empty_strings_stay_apart(void **state) {
    (void)state;
    Buf buf;
    buf_init(&buf, 100);
    bytes_put_str(&buf, STR_NULL);
    bytes_put_str(&buf, STR(""));
    bytes_put_str(&buf, STR("a\0b"));
    ByteReader reader = bytes_reader(buf_str(&buf));
    assert_true(str_is_null(bytes_get_str(&reader)));
    assert_true(str_same(bytes_get_str(&reader), STR("")));
    assert_true(str_same(bytes_get_str(&reader), STR("a\0b")));
    assert_false(reader.is_bad);
    buf_done(&buf);
}

static void a_short_read_is_bad_and_stays_bad(void **state) {
    (void)state;
    ByteReader reader = bytes_reader(STR("abc"));
    assert_int_equal(bytes_get_u32(&reader), 0);
    assert_true(reader.is_bad);
    assert_int_equal(bytes_get_u8(&reader), 0); // although a byte is there
    assert_int_equal(bytes_get_varint(&reader), 0);
    assert_true(str_is_null(bytes_get_str(&reader)));
}

static void a_string_longer_than_the_rest_is_bad(void **state) {
    (void)state;
    ByteReader reader = bytes_reader(STR("\x05"
                                         "abc"));
    assert_true(str_is_null(bytes_get_str(&reader)));
    assert_true(reader.is_bad);
    reader = bytes_reader(STR("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
                              "abc"));
    bytes_get_str(&reader);
    assert_true(reader.is_bad);
}

static void varints_that_are_overlong_or_too_large_are_bad(void **state) {
    (void)state;
    static const Str bad[] = {
        {"\x80\x00", 2},
        {"\xff\x80\x00", 3},
        {"\x80", 1},
        {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10},
        {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11},
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        ByteReader reader = bytes_reader(bad[i]);
        bytes_get_varint(&reader);
        assert_true(reader.is_bad);
    }
}

static void random_bytes_never_lead_past_the_end(void **state) {
    (void)state;
    uint64_t seed = 3;
    for (size_t round = 0; round < scaled(20000); round++) {
        size_t len = random_next(&seed) % 24;
        char *bytes = malloc(len ? len : 1); // exact, so that a sanitizer sees one byte too many
        for (size_t i = 0; i < len; i++) bytes[i] = (char)random_next(&seed);
        ByteReader reader = bytes_reader((Str){bytes, len});
        while (!reader.is_bad) {
            switch (random_next(&seed) % 4) {
            case 0: bytes_get_varint(&reader); break;
            case 1: bytes_get_u32(&reader); break;
            case 2: bytes_get_zigzag(&reader); break;
            default: bytes_get_str(&reader); break;
            }
            assert_true(reader.at <= reader.end);
        }
        free(bytes);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_come_back_as_they_went_in),
        cmocka_unit_test(fixed_numbers_are_little_endian),
        cmocka_unit_test(small_numbers_of_either_sign_take_one_byte),
        cmocka_unit_test(null_and_empty_strings_stay_apart),
        cmocka_unit_test(a_short_read_is_bad_and_stays_bad),
        cmocka_unit_test(a_string_longer_than_the_rest_is_bad),
        cmocka_unit_test(varints_that_are_overlong_or_too_large_are_bad),
        cmocka_unit_test(random_bytes_never_lead_past_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

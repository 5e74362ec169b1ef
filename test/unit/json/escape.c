// JSON strings in both directions.
#include "json/escape.h"
#include "base/array.h"
#include "base/env.h"
#include "base/text/utf.h"
#include "json/validate.h"
#include "unit/unit.h"
#include <math.h>

static Str decoded(const char *raw, char bytes[256]) {
    Str text = str_from(raw);
    return (Str){bytes, json_string_decode(text, bytes)};
}

static void escapes_become_bytes(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"", ""},
        {"abc", "abc"},
        {"\\b\\f\\n\\r\\t\\\"\\\\\\/", "\b\f\n\r\t\"\\/"},
        {"\\u0041", "A"},
        {"\\u00e9", "\xc3\xa9"},
        {"\\u00E9", "\xc3\xa9"},
        {"\\u20ac", "\xe2\x82\xac"},
        {"\\ud83d\\ude00", "\xf0\x9f\x98\x80"},
        {"x\\ud83d\\ude00y", "x\xf0\x9f\x98\x80y"},
        {"\\ud800", "\xed\xa0\x80"},
        {"\\udfff", "\xed\xbf\xbf"},
        {"\\ud800x", "\xed\xa0\x80x"},
        {"\\ude00\\ud83d", "\xed\xb8\x80\xed\xa0\xbd"},
        {"\\ud83d\\u0041", "\xed\xa0\xbd"
                           "A"},
        {"\\ud83d\\ud83d\\ude00", "\xed\xa0\xbd\xf0\x9f\x98\x80"},
        {"\\ud83d\\n", "\xed\xa0\xbd\n"},
        {"\xc3\xa9\\u00e9", "\xc3\xa9\xc3\xa9"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char bytes[256];
        assert_str_equal(decoded(cases[i][0], bytes), cases[i][1]);
    }
    char bytes[256];
    Str nul = decoded("a\\u0000b", bytes);
    assert_true(str_same(nul, STR("a\0b")));
}

static void escapes_become_utf16_units(void **state) {
    (void)state;
    uint16_t units[32];
    Str raw = STR("a\\u00e9\xe2\x82\xac\\ud83d\\ude00\xf0\x9f\x98\x80\\ud800");
    static const uint16_t expected[] = {'a', 0xe9, 0x20ac, 0xd83d, 0xde00, 0xd83d, 0xde00, 0xd800};
    assert_int_equal(json_string_decode_utf16(raw, units), 8);
    assert_memory_equal(units, expected, sizeof(expected));
}

static void strings_without_escapes_are_not_copied(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena);
    JsonEvent plain = {.kind = JSON_STRING, .raw = STR("plain")};
    assert_ptr_equal(json_string_arena(&arena, &plain).data, plain.raw.data);
    JsonEvent escaped = {.kind = JSON_STRING, .raw = STR("a\\tb"), .has_escapes = true};
    assert_str_equal(json_string_arena(&arena, &escaped), "a\tb");
    arena_done(&arena);
}

static void check_written(Str text, const char *expected) {
    Buf buf;
    buf_init(&buf, 10000);
    json_append_string(&buf, text);
    assert_string_equal(buf_cstr(&buf), expected);
    assert_ok(json_validate(buf_str(&buf), NULL));
    buf_done(&buf);
}

static void strings_are_escaped_as_json_stringify_does(void **state) {
    (void)state;
    check_written(STR(""), "\"\"");
    check_written(STR_NULL, "\"\"");
    check_written(STR("plain text of some length, no escapes"),
                  "\"plain text of some length, no escapes\"");
    check_written(STR("\"\\/"), "\"\\\"\\\\/\"");
    check_written(STR("\b\f\n\r\t"), "\"\\b\\f\\n\\r\\t\"");
    check_written(STR("\0\x01\x0b\x1f"), "\"\\u0000\\u0001\\u000b\\u001f\"");
    check_written(STR("\x7f"), "\"\x7f\"");
    check_written(STR("gr\xc3\xbc\xc3\x9f \xe2\x80\xa8 \xf0\x9f\x98\x80"),
                  "\"gr\xc3\xbc\xc3\x9f \xe2\x80\xa8 \xf0\x9f\x98\x80\"");
    check_written(STR("\xed\x9f\xbf\xee\x80\x80"), "\"\xed\x9f\xbf\xee\x80\x80\"");
}

static void lone_surrogates_are_escaped_and_pairs_are_joined(void **state) {
    (void)state;
    check_written(STR("\xed\xa0\x80"), "\"\\ud800\"");
    check_written(STR("a\xed\xbf\xbf"
                      "b"),
                  "\"a\\udfffb\"");
    check_written(STR("\xed\xa0\xbd\xed\xb8\x80"), "\"\xf0\x9f\x98\x80\"");
    check_written(STR("\xed\xb8\x80\xed\xa0\xbd"), "\"\\ude00\\ud83d\"");
    check_written(STR("\xed\xa0\xbd\xed\xa0\xbd\xed\xb8\x80"), "\"\\ud83d\xf0\x9f\x98\x80\"");
}

static void bytes_that_are_no_text_become_replacement_characters(void **state) {
    (void)state;
    check_written(STR("\xff"), "\"\\ufffd\"");
    check_written(STR("a\xc3"), "\"a\\ufffd\"");
    check_written(STR("\xed\xa0"), "\"\\ufffd\\ufffd\"");
    check_written(STR("\xc0\x80z"), "\"\\ufffd\\ufffdz\"");
}

static void utf16_is_written_like_utf8(void **state) {
    (void)state;
    static const uint16_t units[] = {'a',    '"',    '\n',   1,   0xe9,   0x20ac,
                                     0xd83d, 0xde00, 0xd800, 'b', 0xde00, 0xd83d};
    Buf buf;
    buf_init(&buf, 1000);
    json_append_string_utf16(&buf, units, COUNT_OF(units));
    assert_string_equal(buf_cstr(&buf), "\"a\\\"\\n\\u0001\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"
                                        "\\ud800b\\ude00\\ud83d\"");
    buf_done(&buf);
}

static void latin1_is_written_like_utf8(void **state) {
    (void)state;
    static const uint8_t units[] = {'a', '"', '\n', 1, 0xe9, 0x80, 0xff, 0x7f, 0};
    Buf buf;
    buf_init(&buf, 1000);
    json_append_string_latin1(&buf, units, sizeof(units));
    assert_string_equal(buf_cstr(&buf), "\"a\\\"\\n\\u0001\xc3\xa9\xc2\x80\xc3\xbf\x7f\\u0000\"");
    buf_done(&buf);
}

static void long_utf16_is_written_in_runs_without_loss(void **state) {
    (void)state;
    enum { COUNT = 3000 };
    static uint16_t units[COUNT], again[COUNT * 6];
    uint64_t seed = 4;
    for (size_t i = 0; i < COUNT; i++) units[i] = (uint16_t)(random_next(&seed) >> (i % 60));
    Buf buf;
    buf_init(&buf, 100000);
    json_append_string_utf16(&buf, units, COUNT);
    assert_ok(json_validate(buf_str(&buf), NULL));
    assert_int_equal(json_string_decode_utf16((Str){buf.data + 1, buf.len - 2}, again), COUNT);
    assert_memory_equal(again, units, sizeof(units));
    buf_done(&buf);
}

static void every_string_survives_writing_and_reading(void **state) {
    (void)state;
    uint64_t seed = 8;
    Buf buf;
    buf_init(&buf, 100000);
    for (size_t round = 0; round < scaled(20000); round++) {
        char text[256], again[2048];
        size_t len = 0;
        while (len < 60 && random_next(&seed) % 40 != 0) {
            uint32_t code_point;
            do {
                code_point = (uint32_t)(random_next(&seed) & 0x1FFFFF) >> random_next(&seed) % 21;
            } while (code_point > 0x10FFFF || (code_point >= 0xDC00 && code_point <= 0xDFFF));
            len += utf8_encode(code_point, text + len);
        }
        buf_clear(&buf);
        json_append_string(&buf, (Str){text, len});
        assert_ok(json_validate(buf_str(&buf), NULL));
        size_t again_len = json_string_decode((Str){buf.data + 1, buf.len - 2}, again);
        assert_int_equal(again_len, len);
        assert_memory_equal(again, text, len);
    }
    buf_done(&buf);
}

static void the_first_special_byte_is_found_at_every_distance(void **state) {
    (void)state;
    static const char specials[] = {'"', '\\', 0, 0x1f, (char)0x80, (char)0xff};
    for (size_t len = 0; len < 70; len++) {
        char *text = malloc(len + 1); // exact, for the sanitizer
        for (size_t i = 0; i < len; i++) text[i] = (char)(0x20 + (i * 7) % 2);
        assert_int_equal(json_plain_len(text, text + len), len);
        text[len] = '\x7f';
        assert_int_equal(json_plain_len(text, text + len + 1), len + 1);
        for (size_t i = 0; i < sizeof(specials); i++) {
            text[len] = specials[i];
            assert_int_equal(json_plain_len(text, text + len + 1), len);
        }
        free(text);
    }
}

static void numbers_that_json_lacks_become_null(void **state) {
    (void)state;
    Buf buf;
    buf_init(&buf, 1000);
    json_append_number(&buf, NAN);
    json_append_number(&buf, -INFINITY);
    json_append_number(&buf, 1.5);
    json_append_number(&buf, -0.0);
    json_append_number(&buf, 1e21);
    assert_string_equal(buf_cstr(&buf), "nullnull1.501e+21");
    buf_done(&buf);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(escapes_become_bytes),
        cmocka_unit_test(escapes_become_utf16_units),
        cmocka_unit_test(strings_without_escapes_are_not_copied),
        cmocka_unit_test(strings_are_escaped_as_json_stringify_does),
        cmocka_unit_test(lone_surrogates_are_escaped_and_pairs_are_joined),
        cmocka_unit_test(bytes_that_are_no_text_become_replacement_characters),
        cmocka_unit_test(utf16_is_written_like_utf8),
        cmocka_unit_test(latin1_is_written_like_utf8),
        cmocka_unit_test(long_utf16_is_written_in_runs_without_loss),
        cmocka_unit_test(every_string_survives_writing_and_reading),
        cmocka_unit_test(the_first_special_byte_is_found_at_every_distance),
        cmocka_unit_test(numbers_that_json_lacks_become_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

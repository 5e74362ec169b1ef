// JsonReader and json_validate: what is accepted, what is refused, and where.
#include "json/read.h"
#include "base/array.h"
#include "base/containers/buf.h"
#include "json/validate.h"
#include "unit/unit.h"
#include <math.h>
#include <stdio.h>

// The events of a text in letters: { } [ ] k(ey) s(tring) n(umber) t f 0(null) .(end) !(fault).
static const char *trace(const char *text, char letters[128]) {
    static const char names[] = ".0ftnsk[]{}";
    JsonReader reader;
    JsonEvent event;
    json_reader_init(&reader, str_from(text));
    size_t count = 0;
    do {
        if (json_next(&reader, &event, NULL) != OK) {
            letters[count++] = '!';
            break;
        }
        letters[count++] = names[event.kind];
    } while (event.kind != JSON_END && count < 120);
    letters[count] = '\0';
    return letters;
}

static void texts_become_events(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"null", "0."},
        {"true", "t."},
        {"false", "f."},
        {"1", "n."},
        {"\"a\"", "s."},
        {"[]", "[]."},
        {"{}", "{}."},
        {" [ ] ", "[]."},
        {"[1,2,3]", "[nnn]."},
        {"{\"a\":1}", "{kn}."},
        {"{\"a\":1,\"b\":[{}],\"a\":null}", "{knk[{}]k0}."},
        {"\t\r\n {\"a\" : [ true , false ] }\n", "{k[tf]}."},
        {"[[[[]]]]", "[[[[]]]]."},
    };
    char letters[128];
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_string_equal(trace(cases[i][0], letters), cases[i][1]);
        assert_ok(json_validate(str_from(cases[i][0]), NULL));
    }
}

static void the_end_is_answered_again(void **state) {
    (void)state;
    JsonReader reader;
    JsonEvent event;
    json_reader_init(&reader, STR("1 "));
    assert_ok(json_next(&reader, &event, NULL));
    for (int i = 0; i < 3; i++) {
        assert_ok(json_next(&reader, &event, NULL));
        assert_int_equal(event.kind, JSON_END);
        assert_int_equal(event.at, 2);
    }
}

static void events_carry_their_text_and_position(void **state) {
    (void)state;
    JsonReader reader;
    JsonEvent event;
    json_reader_init(&reader, STR("{ \"a\\n\": [ -1.5e3, \"\xc3\xbc\" ] }"));
    assert_ok(json_next(&reader, &event, NULL));
    assert_int_equal(event.at, 0);
    assert_ok(json_next(&reader, &event, NULL));
    assert_int_equal(event.kind, JSON_KEY);
    assert_int_equal(event.at, 2);
    assert_str_equal(event.raw, "a\\n");
    assert_true(event.has_escapes);
    assert_true(event.is_ascii);
    assert_ok(json_next(&reader, &event, NULL));
    assert_ok(json_next(&reader, &event, NULL));
    assert_int_equal(event.kind, JSON_NUMBER);
    assert_str_equal(event.raw, "-1.5e3");
    assert_int_equal(event.at, 11);
    assert_ok(json_next(&reader, &event, NULL));
    assert_str_equal(event.raw, "\xc3\xbc");
    assert_false(event.has_escapes);
    assert_false(event.is_ascii);
}

static void texts_that_are_not_json_are_refused(void **state) {
    (void)state;
    // clang-format off
    static const char *const bad[] = {
        "", " ", "[", "]", "{", "}", "[1,]", "[,1]", "[1 2]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}",
        "{,}", "{a:1}", "{'a':1}", "{1:2}", "{\"a\" 1}", "{\"a\":1 \"b\":2}", "[1}", "{\"a\":1]",
        "nul", "nulL", "True", "TRUE", "NaN", "Infinity", "-Infinity", "undefined", "01", "-01",
        "00", "1.", ".5", "+1", "-", "1e", "1e+", "1.e1", "0x10", "1_000", "1a", "--1", "- 1",
        "1 2", "null null", "[] []", "\"", "\"a", "\"\\\"", "\"\\x41\"", "\"\\u12\"", "\"\\u12g4\"",
        "\"\\", "\"\\u\"", "\"\n\"", "\"\t\"", "\"\x01\"", "'a'", "// c\n1", "/* c */ 1",
        "1 // c", "\xef\xbb\xbf" "1", "\"\x80\"", "\"\xc0\x80\"", "\"\xed\xa0\x80\"",
        "\"\xf5\x80\x80\x80\"", "\"\xc3\"", "\"0123456789abcdef\x1f\"", "\xc3\xbc", "\x0b" "1",
        "\x0c" "1", "\xa0" "1", "[1,\xe2\x80\xa8" "2]", "{\"a\":1,,\"b\":2}", "[1,,2]",
        "{\"a\"::1}", "{{}}", "[}", "tru", "t", "fals", "\"\\ud8\"",
    };
    // clang-format on
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        Diag diag;
        if (json_validate(str_from(bad[i]), &diag) != ERR_INVALID) fail_msg("accepted: %s", bad[i]);
        assert_string_equal(diag.code, "BAD_JSON");
        assert_memory_equal(diag.message, "line ", 5);
    }
    assert_status(json_validate(STR("1\0"), NULL), ERR_INVALID);
    assert_status(json_validate(STR("\"\0\""), NULL), ERR_INVALID);
    assert_status(json_validate(STR_NULL, NULL), ERR_INVALID);
}

static void faults_say_where_and_what(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"[1,\n  2,\n  x]", "line 3, column 3: expected a value, but found 'x'"},
        {"{\"a\" 1}", "line 1, column 6: expected ':' after a key, but found '1'"},
        {"{\"\xc3\xbc\xc3\xbc\": ?}", "line 1, column 8: expected a value, but found '?'"},
        {"[1", "line 1, column 3: expected ',' or ']', but the text ends"},
        {"{\"a\":1;", "line 1, column 7: expected ',' or '}', but found ';'"},
        {"{1", "line 1, column 2: expected a key in double quotes or '}', but found '1'"},
        {"{\"a\":1,}", "line 1, column 8: expected a key in double quotes, but found '}'"},
        {"[", "line 1, column 2: expected a value or ']', but the text ends"},
        {"[1,]", "line 1, column 4: expected a value, but found ']'"},
        {"1 2", "line 1, column 3: expected the end of the text, but found '2'"},
        {"", "line 1, column 1: expected a value, but the text ends"},
        {"\"ab", "line 1, column 4: the text ends inside a string"},
        {"\"a\\q\"", "line 1, column 3: a bad escape in a string"},
        {"\"a\nb\"", "line 1, column 3: a control character in a string must be escaped"},
        {"\"a\xff\"", "line 1, column 3: invalid UTF-8 in a string"},
        {"\xff", "line 1, column 1: expected a value, but found invalid UTF-8"},
        {"\x01", "line 1, column 1: expected a value, but found byte 0x01"},
        {"012", "line 1, column 2: a number must not begin with 0"},
        {"1.x", "line 1, column 3: expected a digit after the point, but found 'x'"},
        {"1e", "line 1, column 3: expected a digit of the exponent, but the text ends"},
        {"-a", "line 1, column 2: expected a digit, but found 'a'"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        Diag diag;
        assert_status(json_validate(str_from(cases[i][0]), &diag), ERR_INVALID);
        assert_string_equal(diag.message, cases[i][1]);
    }
}

static void a_reader_keeps_the_byte_position_of_the_fault(void **state) {
    (void)state;
    JsonReader reader;
    JsonEvent event;
    json_reader_init(&reader, STR("[\"\xc3\xbc\", x"));
    assert_ok(json_next(&reader, &event, NULL));
    assert_ok(json_next(&reader, &event, NULL));
    assert_status(json_next(&reader, &event, NULL), ERR_INVALID);
    assert_int_equal(reader.error_at, 7);
}

static void nesting_is_accepted_up_to_the_limit(void **state) {
    (void)state;
    static const char *const pairs[][2] = {{"[", "]"}, {"{\"a\":", "}"}};
    for (int kind = 0; kind < 2; kind++) {
        for (int depth = (int)LIMIT_JSON_DEPTH; depth <= (int)LIMIT_JSON_DEPTH + 1; depth++) {
            Buf buf;
            buf_init(&buf, 1 << 20);
            for (int i = 0; i < depth; i++) buf_append_cstr(&buf, pairs[kind][0]);
            buf_append_char(&buf, '1');
            for (int i = 0; i < depth; i++) buf_append_cstr(&buf, pairs[kind][1]);
            Diag diag;
            Status status = json_validate(buf_str(&buf), &diag);
            assert_int_equal(status, depth > (int)LIMIT_JSON_DEPTH ? ERR_LIMIT : OK);
            if (status != OK) assert_string_equal(diag.code, "JSON_TOO_DEEP");
            buf_done(&buf);
        }
    }
}

static void mixed_nesting_closes_in_order(void **state) {
    (void)state;
    Buf buf;
    buf_init(&buf, 1 << 20);
    for (int i = 0; i < 200; i++) buf_append_cstr(&buf, i % 3 == 0 ? "[" : "{\"k\":");
    buf_append_cstr(&buf, "null");
    for (int i = 199; i >= 0; i--) buf_append_cstr(&buf, i % 3 == 0 ? "]" : "}");
    assert_ok(json_validate(buf_str(&buf), NULL));
    buf.data[buf.len - 1] = '}';
    assert_status(json_validate(buf_str(&buf), NULL), ERR_INVALID);
    buf_done(&buf);
}

static void every_prefix_of_a_text_is_refused_without_reading_past_it(void **state) {
    (void)state;
    static const char text[] =
        "{\"k\\u00fc\":[1.5e-3,true,false,null,\"\xf0\x9f\x98\x80 plain text "
        "long enough for blocks\"],\"z\":{}}";
    for (size_t len = 0; len < sizeof(text) - 1; len++) {
        char *copy = malloc(len ? len : 1); // exact, for the sanitizer
        memcpy(copy, text, len);
        assert_status(json_validate((Str){copy, len}, NULL), ERR_INVALID);
        free(copy);
    }
    assert_ok(json_validate(STR(text), NULL));
}

static void number_literals_become_doubles(void **state) {
    (void)state;
    assert_true(json_number(STR("0")) == 0);
    assert_true(signbit(json_number(STR("-0"))));
    assert_true(json_number(STR("-12")) == -12);
    assert_true(json_number(STR("999999999999999")) == 999999999999999);
    assert_true(json_number(STR("12345678901234567")) == 12345678901234568.0);
    assert_true(json_number(STR("1.5e3")) == 1500);
    assert_true(json_number(STR("1e999")) == INFINITY);
    assert_true(json_number(STR("123456789012.25")) == 123456789012.25);
}

static void integer_literals_become_integers_only_when_exact(void **state) {
    (void)state;
    int64_t value = 7;
    assert_true(json_number_to_i64(STR("9223372036854775807"), &value));
    assert_int_equal(value, INT64_MAX);
    assert_true(json_number_to_i64(STR("-9223372036854775808"), &value));
    assert_int_equal(value, INT64_MIN);
    assert_true(json_number_to_i64(STR("1e3"), &value));
    assert_int_equal(value, 1000);
    assert_true(json_number_to_i64(STR("-5.0"), &value));
    assert_int_equal(value, -5);
    assert_false(json_number_to_i64(STR("9223372036854775808"), &value));
    assert_false(json_number_to_i64(STR("-9223372036854775809"), &value));
    assert_false(json_number_to_i64(STR("99999999999999999999999"), &value));
    assert_false(json_number_to_i64(STR("1.5"), &value));
    assert_false(json_number_to_i64(STR("1e400"), &value));
    assert_int_equal(value, -5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_become_events),
        cmocka_unit_test(the_end_is_answered_again),
        cmocka_unit_test(events_carry_their_text_and_position),
        cmocka_unit_test(texts_that_are_not_json_are_refused),
        cmocka_unit_test(faults_say_where_and_what),
        cmocka_unit_test(a_reader_keeps_the_byte_position_of_the_fault),
        cmocka_unit_test(nesting_is_accepted_up_to_the_limit),
        cmocka_unit_test(mixed_nesting_closes_in_order),
        cmocka_unit_test(every_prefix_of_a_text_is_refused_without_reading_past_it),
        cmocka_unit_test(number_literals_become_doubles),
        cmocka_unit_test(integer_literals_become_integers_only_when_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// JsonWriter: commas, indentation, values.
#include "json/write.h"
#include "base/array.h"
#include "base/limits.h"
#include "json/validate.h"
#include "unit/unit.h"
#include <math.h>

static Buf buf;
static JsonWriter writer;

static int set_up(void **state) {
    (void)state;
    buf_init(&buf, 1 << 20);
    json_writer_init(&writer, &buf, STR_NULL);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    buf_done(&buf);
    return 0;
}

static void scalars_stand_alone(void **state) {
    (void)state;
    json_write_i64(&writer, -5);
    assert_string_equal(buf_cstr(&buf), "-5");
}

static void members_and_items_are_separated_by_commas(void **state) {
    (void)state;
    json_write_object_begin(&writer);
    json_put_string(&writer, "s", STR("a\"b"));
    json_put_i64(&writer, "i", INT64_MIN);
    json_put_number(&writer, "n", 0.1);
    json_put_number(&writer, "nan", NAN);
    json_put_bool(&writer, "t", true);
    json_put_null(&writer, "z");
    json_put_cstr(&writer, "c", NULL);
    json_put_string(&writer, "absent", STR_NULL);
    json_put_raw(&writer, "raw", STR("{\"x\": [1]}"));
    json_put_raw(&writer, "none", STR_NULL);
    json_put_instant(&writer, "at", 0);
    json_write_key(&writer, STR("list"));
    json_write_array_begin(&writer);
    json_write_array_begin(&writer);
    json_write_array_end(&writer);
    json_write_object_begin(&writer);
    json_write_object_end(&writer);
    json_write_bool(&writer, false);
    json_write_cstr(&writer, "x");
    json_write_array_end(&writer);
    json_put_i64(&writer, "last", 1);
    json_write_object_end(&writer);
    assert_string_equal(
        buf_cstr(&buf),
        "{\"s\":\"a\\\"b\",\"i\":-9223372036854775808,\"n\":0.1,\"nan\":null,\"t\":true,\"z\":null,"
        "\"c\":null,\"absent\":null,\"raw\":{\"x\": [1]},\"none\":null,"
        "\"at\":\"1970-01-01T00:00:00.000Z\",\"list\":[[],{},false,\"x\"],\"last\":1}");
    assert_ok(json_validate(buf_str(&buf), NULL));
}

static void a_gap_indents_as_json_stringify_does(void **state) {
    (void)state;
    json_writer_init(&writer, &buf, STR("  "));
    json_write_object_begin(&writer);
    json_put_i64(&writer, "a", 1);
    json_write_key(&writer, STR("b"));
    json_write_array_begin(&writer);
    json_write_i64(&writer, 1);
    json_write_object_begin(&writer);
    json_write_object_end(&writer);
    json_write_array_end(&writer);
    json_write_key(&writer, STR("c"));
    json_write_array_begin(&writer);
    json_write_array_end(&writer);
    json_write_object_end(&writer);
    assert_string_equal(buf_cstr(&buf),
                        "{\n  \"a\": 1,\n  \"b\": [\n    1,\n    {}\n  ],\n  \"c\": []\n}");
}

static void a_tree_is_written_as_it_was_read(void **state) {
    (void)state;
    static const char *const texts[] = {
        "null",
        "[]",
        "{}",
        "1",
        "\"\"",
        "[1]",
        "[[]]",
        "[[],[]]",
        "[[[]],{}]",
        "{\"a\":{}}",
        "{\"b\":1,\"a\":[1,{\"x\":null},2],\"b\":12345678901234567}",
        "[{\"a\":[]},{\"\":[[1],[2]]}]",
        "[1,[2,[3,[4]]],5]",
        "{\"a\":{\"b\":{\"c\":{}}},\"d\":0}",
        "[1.50,1e2,-0]",
    };
    Arena arena;
    arena_init(&arena);
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        JsonValue *value;
        assert_ok(json_parse(&arena, str_from(texts[i]), &value, NULL));
        buf_clear(&buf);
        json_writer_init(&writer, &buf, STR_NULL);
        json_write_value(&writer, value);
        assert_string_equal(buf_cstr(&buf), texts[i]);
    }
    arena_done(&arena);
}

static void part_of_a_tree_is_written_without_its_key_and_neighbours(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena);
    JsonValue *root;
    assert_ok(json_parse(&arena, STR("{\"a\":[1,{\"k\":[]}],\"b\":2}"), &root, NULL));
    json_write_array_begin(&writer);
    json_write_value(&writer, json_member(root, STR("a")));
    json_write_value(&writer, json_member(root, STR("b")));
    json_write_value(&writer, json_item(json_member(root, STR("a")), 0));
    json_write_array_end(&writer);
    assert_string_equal(buf_cstr(&buf), "[[1,{\"k\":[]}],2,1]");
    arena_done(&arena);
}

static void nesting_deeper_than_readers_accept_is_written(void **state) {
    (void)state;
    for (int i = 0; i < 5000; i++) json_write_array_begin(&writer);
    for (int i = 0; i < 5000; i++) json_write_array_end(&writer);
    assert_int_equal(buf.len, 10000);
}

static void the_ceiling_of_the_buffer_holds(void **state) {
    (void)state;
    Buf small;
    buf_init(&small, 10);
    json_writer_init(&writer, &small, STR("    "));
    json_write_array_begin(&writer);
    for (int i = 0; i < 100; i++) json_write_string(&writer, STR("some text"));
    json_write_array_end(&writer);
    assert_true(small.is_overflown);
    assert_true(small.len <= 10);
    buf_done(&small);
}

static void error_objects_hold_any_text(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena);
    Str error = json_error(&arena, STR("DamagedError"), STR("STORE_CORRUPT"), STR("a \"b\"\\\n"));
    assert_string_equal(error.data, "{\"type\":\"DamagedError\",\"code\":\"STORE_CORRUPT\","
                                    "\"message\":\"a \\\"b\\\"\\\\\\n\"}");
    error = json_error(&arena, STR("E"), STR_NULL, STR(""));
    assert_string_equal(error.data, "{\"type\":\"E\",\"message\":\"\"}");
    Str long_text = {arena_zalloc(&arena, (size_t)LIMIT_ERROR_SIZE), (size_t)LIMIT_ERROR_SIZE};
    memset((char *)(uintptr_t)long_text.data, 'x', long_text.len);
    assert_ok(json_validate(json_error(&arena, STR("E"), STR_NULL, long_text), NULL));
    assert_string_equal(json_wrap(&arena, "result", STR("[1, 2]")).data, "{\"result\":[1, 2]}");
    arena_done(&arena);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(scalars_stand_alone),
        TEST(members_and_items_are_separated_by_commas),
        TEST(a_gap_indents_as_json_stringify_does),
        TEST(a_tree_is_written_as_it_was_read),
        TEST(part_of_a_tree_is_written_without_its_key_and_neighbours),
        TEST(nesting_deeper_than_readers_accept_is_written),
        TEST(error_objects_hold_any_text),
        TEST(the_ceiling_of_the_buffer_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// JsonValue: the tree, its lookups, and the fields of requests.
#include "base/array.h"
#include "unit/json/json.h"

static void a_tree_has_the_values_of_the_text(void **state) {
    (void)state;
    JsonValue *root = parse(" {\"a\": [1, true, null, \"x\\n\"], \"b\": {}, \"c\": -2.5} ");
    assert_int_equal(root->kind, JSON_KIND_OBJECT);
    assert_int_equal(root->count, 3);
    const JsonValue *a = json_member(root, STR("a"));
    assert_int_equal(a->kind, JSON_KIND_ARRAY);
    assert_int_equal(a->count, 4);
    assert_true(json_item(a, 0)->number == 1);
    assert_true(json_item(a, 1)->boolean);
    assert_int_equal(json_item(a, 2)->kind, JSON_KIND_NULL);
    assert_str_equal(json_item(a, 3)->string, "x\n");
    assert_null(json_item(a, 4));
    assert_int_equal(json_member(root, STR("b"))->count, 0);
    assert_null(json_member(root, STR("b"))->first);
    assert_true(json_member(root, STR("c"))->number == -2.5);
    assert_null(json_member(root, STR("d")));
    assert_null(json_member(a, STR("a")));
    assert_null(json_item(root, 0));
    assert_null(json_member(NULL, STR("a")));
}

static void every_value_keeps_its_source_byte_for_byte(void **state) {
    (void)state;
    JsonValue *root =
        parse(" {\"a\" : [ 1 , 12345678901234567 ] , \"b\":\"\\u0041\",\"c\": [ ] }\n");
    assert_str_equal(root->raw,
                     "{\"a\" : [ 1 , 12345678901234567 ] , \"b\":\"\\u0041\",\"c\": [ ] }");
    assert_str_equal(json_member(root, STR("a"))->raw, "[ 1 , 12345678901234567 ]");
    assert_str_equal(json_item(json_member(root, STR("a")), 1)->raw, "12345678901234567");
    assert_str_equal(json_member(root, STR("b"))->raw, "\"\\u0041\"");
    assert_str_equal(json_member(root, STR("c"))->raw, "[ ]");
}

static void members_keep_their_order_and_the_last_of_a_name_counts(void **state) {
    (void)state;
    JsonValue *root = parse("{\"b\":1,\"a\":2,\"\\u0062\":3}");
    assert_int_equal(root->count, 3);
    assert_str_equal(root->first->key, "b");
    assert_str_equal(root->first->next->key, "a");
    assert_true(json_member(root, STR("b"))->number == 3);
}

static void faults_are_those_of_the_reader(void **state) {
    (void)state;
    JsonValue *value = NULL;
    Diag diag;
    assert_status(json_parse(&arena, STR("[1,"), &value, &diag), ERR_INVALID);
    assert_string_equal(diag.code, "BAD_JSON");
    assert_null(value);
}

static void equality_ignores_order_spelling_and_earlier_duplicates(void **state) {
    (void)state;
    static const char *const equal[][2] = {
        {"{\"a\":1,\"b\":[true,null]}", "{ \"b\" : [true, null], \"a\": 1.0 }"},
        {"\"\\u0041\"", "\"A\""},
        {"{\"a\":1,\"a\":2}", "{\"a\":2}"},
        {"1e3", "1000"},
        {"[]", "[ ]"},
    };
    for (size_t i = 0; i < COUNT_OF(equal); i++) {
        assert_true(json_equal(parse(equal[i][0]), parse(equal[i][1])));
        assert_true(json_equal(parse(equal[i][1]), parse(equal[i][0])));
    }
    static const char *const different[][2] = {
        {"1", "2"},
        {"1", "\"1\""},
        {"[1]", "[1,2]"},
        {"[1,2]", "[2,1]"},
        {"{\"a\":1}", "{\"b\":1}"},
        {"{\"a\":1}", "{\"a\":1,\"b\":2}"},
        {"null", "false"},
        {"{\"a\":1,\"a\":2}", "{\"a\":1}"},
        {"{}", "[]"},
        {"[[1]]", "[[2]]"},
        {"\"a\"", "\"b\""},
        {"true", "false"},
    };
    for (size_t i = 0; i < COUNT_OF(different); i++) {
        assert_false(json_equal(parse(different[i][0]), parse(different[i][1])));
        assert_false(json_equal(parse(different[i][1]), parse(different[i][0])));
    }
}

static void fields_are_read_by_type(void **state) {
    (void)state;
    JsonValue *body = parse("{\"s\":\"x\",\"b\":true,\"i\":42,\"n\":1.5,\"d\":\"15m\",\"e\":0.25,"
                            "\"t\":\"1970-01-01T00:00:01Z\",\"a\":[1],\"o\":{\"k\":1}}");
    Str text = STR_NULL;
    bool boolean = false;
    int64_t integer = 0, duration_ms = 0, seconds_ms = 0, at_ms = 0;
    double number = 0;
    const JsonValue *array = NULL, *object = NULL;
    assert_ok(json_get_string(body, "s", &text, NULL));
    assert_ok(json_get_bool(body, "b", &boolean, NULL));
    assert_ok(json_get_i64(body, "i", &integer, NULL));
    assert_ok(json_get_number(body, "n", &number, NULL));
    assert_ok(json_get_duration_ms(body, "d", &duration_ms, NULL));
    assert_ok(json_get_duration_ms(body, "e", &seconds_ms, NULL));
    assert_ok(json_get_instant_ms(body, "t", &at_ms, NULL));
    assert_ok(json_get_array(body, "a", &array, NULL));
    assert_ok(json_get_object(body, "o", &object, NULL));
    assert_str_equal(text, "x");
    assert_true(boolean);
    assert_int_equal(integer, 42);
    assert_true(number == 1.5);
    assert_int_equal(duration_ms, 900000);
    assert_int_equal(seconds_ms, 250);
    assert_int_equal(at_ms, 1000);
    assert_int_equal(array->count, 1);
    assert_int_equal(object->count, 1);
}

static void absent_and_null_fields_leave_the_default(void **state) {
    (void)state;
    JsonValue *body = parse("{\"s\":null}");
    Str text = STR("default");
    int64_t integer = 7;
    assert_ok(json_get_string(body, "s", &text, NULL));
    assert_ok(json_get_string(body, "x", &text, NULL));
    assert_ok(json_get_i64(body, "s", &integer, NULL));
    assert_ok(json_get_duration_ms(body, "x", &integer, NULL));
    assert_str_equal(text, "default");
    assert_int_equal(integer, 7);
}

static void fields_of_the_wrong_type_are_named(void **state) {
    (void)state;
    JsonValue *body =
        parse("{\"s\":1,\"b\":\"true\",\"i\":1.5,\"n\":[],\"d\":{},\"a\":{},\"o\":[]}");
    Str text;
    bool boolean;
    int64_t integer;
    double number;
    const JsonValue *value;
    Diag diag;
    assert_status(json_get_string(body, "s", &text, &diag), ERR_INVALID);
    assert_string_equal(diag.code, "BAD_FIELD");
    assert_string_equal(diag.message, "field \"s\" must be a string, not a value of type number");
    assert_status(json_get_bool(body, "b", &boolean, NULL), ERR_INVALID);
    assert_status(json_get_i64(body, "i", &integer, &diag), ERR_INVALID);
    assert_string_equal(diag.message, "field \"i\" must be an integer of 64 bits, not 1.5");
    assert_status(json_get_number(body, "n", &number, NULL), ERR_INVALID);
    assert_status(json_get_duration_ms(body, "d", &integer, NULL), ERR_INVALID);
    assert_status(json_get_instant_ms(body, "s", &integer, NULL), ERR_INVALID);
    assert_status(json_get_array(body, "a", &value, NULL), ERR_INVALID);
    assert_status(json_get_object(body, "o", &value, NULL), ERR_INVALID);
}

static void bad_durations_and_times_name_field_and_text(void **state) {
    (void)state;
    JsonValue *body = parse("{\"d\":\"soon\",\"t\":\"later\",\"m\":-1,\"h\":1e300,\"x\":1e-9}");
    int64_t ms = 5;
    Diag diag;
    assert_status(json_get_duration_ms(body, "d", &ms, &diag), ERR_INVALID);
    assert_string_equal(diag.code, "BAD_DURATION");
    assert_memory_equal(diag.message, "field \"d\": \"soon\"", 17);
    assert_status(json_get_instant_ms(body, "t", &ms, &diag), ERR_INVALID);
    assert_string_equal(diag.code, "BAD_TIME");
    assert_status(json_get_duration_ms(body, "m", &ms, &diag), ERR_INVALID);
    assert_status(json_get_duration_ms(body, "h", &ms, &diag), ERR_INVALID);
    assert_int_equal(ms, 5);
    assert_ok(json_get_duration_ms(body, "x", &ms, &diag));
    assert_int_equal(ms, 1); // a part of a millisecond rounds up
}

static void raw_fields_tell_null_from_absent(void **state) {
    (void)state;
    JsonValue *body = parse("{\"input\": null, \"other\": { \"a\":  1 }}");
    Str raw = STR_NULL;
    json_get_raw(body, "missing", &raw);
    assert_true(str_is_null(raw));
    json_get_raw(body, "input", &raw);
    assert_str_equal(raw, "null");
    json_get_raw(body, "other", &raw);
    assert_str_equal(raw, "{ \"a\":  1 }");
}

static void missing_and_unknown_fields_are_named(void **state) {
    (void)state;
    static const char *const names[] = {"a", "b", NULL};
    Diag diag;
    assert_ok(json_require(parse("{\"a\":1,\"b\":0}"), names, NULL));
    assert_status(json_require(parse("{\"a\":1,\"b\":null}"), names, &diag), ERR_INVALID);
    assert_string_equal(diag.code, "MISSING_FIELD");
    assert_string_equal(diag.message, "field \"b\" is required");
    assert_ok(json_allow_only(parse("{\"b\":1}"), names, NULL));
    assert_ok(json_allow_only(parse("{}"), names, NULL));
    assert_status(json_allow_only(parse("{\"a\":1,\"c\":2}"), names, &diag), ERR_INVALID);
    assert_string_equal(diag.code, "UNKNOWN_FIELD");
    assert_string_equal(diag.message, "field \"c\" is not known here");
    assert_status(json_allow_only(parse("[]"), names, &diag), ERR_INVALID);
    assert_string_equal(diag.code, "BAD_REQUEST");
}

static void the_size_of_a_tree_is_known_before_it_is_made(void **state) {
    (void)state;
    static const char *const texts[] = {"1",
                                        "[]",
                                        "{}",
                                        "[1,2,[3,{\"a\":[]}]]",
                                        "[[[[1]]]]",
                                        "\"[,{\\\",[\"",
                                        "{\"a,b\":\"\\\\\",\"c\":[\"x\",2]}"};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        Arena tree;
        JsonValue *value;
        arena_init(&tree);
        assert_ok(json_parse_apart(&tree, &arena, str_from(texts[i]), &value, NULL));
        assert_in_range(tree.used_size, 1, json_tree_size(str_from(texts[i])));
        arena_done(&tree);
    }
    assert_true(json_tree_size(STR("\"[[[[,,,,{{{{\"")) == json_tree_size(STR("1")));
}

static void texts_outlive_the_tree_they_were_in(void **state) {
    (void)state;
    Arena tree;
    JsonValue *value;
    arena_init(&tree);
    assert_ok(json_parse_apart(&tree, &arena, STR("[\"a\\nb\",\"c\"]"), &value, NULL));
    Str decoded = value->first->string, plain = value->first->next->string;
    arena_done(&tree);
    assert_str_equal(decoded, "a\nb");
    assert_str_equal(plain, "c");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_tree_has_the_values_of_the_text),
        TEST(every_value_keeps_its_source_byte_for_byte),
        TEST(members_keep_their_order_and_the_last_of_a_name_counts),
        TEST(faults_are_those_of_the_reader),
        TEST(equality_ignores_order_spelling_and_earlier_duplicates),
        TEST(fields_are_read_by_type),
        TEST(absent_and_null_fields_leave_the_default),
        TEST(fields_of_the_wrong_type_are_named),
        TEST(bad_durations_and_times_name_field_and_text),
        TEST(raw_fields_tell_null_from_absent),
        TEST(missing_and_unknown_fields_are_named),
        TEST(the_size_of_a_tree_is_known_before_it_is_made),
        TEST(texts_outlive_the_tree_they_were_in),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

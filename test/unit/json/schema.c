// JSON Schema: each rule at its edge, what is not supported, and where a fault is.
#include "json/schema.h"
#include "base/array.h"
#include "base/containers/buf.h"
#include "base/limits.h"
#include "unit/json/json.h"

typedef struct RuleCase {
    const char *schema;
    const char *fits; // values, separated by blanks
    const char * not ;
} RuleCase;

static int count_wrong(const RuleCase *rule, const char *values, Status wanted) {
    const JsonValue *schema = parse(rule->schema);
    JsonFault fault;
    if (!schema_check(schema, &arena, &fault)) fail_msg("%s: %s", rule->schema, fault.message.data);
    Str rest = str_from(values), value;
    int wrong = 0;
    while (str_split(&rest, ' ', &value)) {
        Diag diag = {0};
        if (value.len == 0) continue;
        Status status = schema_validate(schema, parse(arena_str(&arena, value).data), "BAD", &diag);
        if (status == wanted) continue;
        print_error("%s: %.*s: %s\n", rule->schema, STR_ARG(value), diag.message);
        wrong++;
    }
    return wrong;
}

static void each_rule_holds_at_its_edge(void **state) {
    (void)state;
    static const RuleCase rules[] = {
        {"true", "1 null {}", ""},
        {"false", "", "1 null {}"},
        {"{}", "1 null {}", ""},
        {"{\"type\":\"null\"}", "null", "0 false \"\" [] {}"},
        {"{\"type\":\"boolean\"}", "true false", "0 null \"true\""},
        {"{\"type\":\"number\"}", "0 -1.5 1e300", "\"1\" null true"},
        {"{\"type\":\"integer\"}", "0 -7 1.0 1e3 12345678901234567890", "1.5 \"1\" null 1e-1"},
        {"{\"type\":\"string\"}", "\"\" \"a\"", "1 null [\"a\"]"},
        {"{\"type\":\"array\"}", "[] [1]", "{} \"[]\""},
        {"{\"type\":\"object\"}", "{} {\"a\":1}", "[] null"},
        {"{\"type\":[\"string\",\"null\"]}", "\"a\" null", "1 [] {}"},
        {"{\"enum\":[1,\"a\",null,{\"b\":[2]}]}", "1 1.0 \"a\" null {\"b\":[2]}",
         "2 \"b\" {} false"},
        {"{\"const\":{\"a\":1,\"b\":2}}", "{\"b\":2,\"a\":1}", "{\"a\":1} 1"},
        {"{\"properties\":{\"a\":{\"type\":\"number\"}}}", "{} {\"a\":1} {\"b\":\"x\"} [1] 7",
         "{\"a\":\"1\"} {\"a\":null}"},
        {"{\"required\":[\"a\",\"b\"]}", "{\"a\":null,\"b\":1} [] 1", "{} {\"a\":1}"},
        {"{\"properties\":{\"a\":true},\"additionalProperties\":false}", "{} {\"a\":1} []",
         "{\"b\":1} {\"a\":1,\"b\":1}"},
        {"{\"properties\":{\"a\":true},\"additionalProperties\":{\"type\":\"string\"}}",
         "{\"a\":1} {\"b\":\"x\"}", "{\"b\":1}"},
        {"{\"additionalProperties\":false}", "{} []", "{\"a\":1}"},
        {"{\"minProperties\":1,\"maxProperties\":2}", "{\"a\":1} {\"a\":1,\"b\":2} []",
         "{} {\"a\":1,\"b\":2,\"c\":3}"},
        {"{\"items\":{\"type\":\"number\"}}", "[] [1,2] {}", "[\"1\"] [1,null]"},
        {"{\"minItems\":1,\"maxItems\":2}", "[1] [1,2] {}", "[] [1,2,3]"},
        {"{\"minLength\":2,\"maxLength\":3}", "\"ab\" \"abc\" \"\xc3\xa4\xf0\x9f\x98\x80\" 1",
         "\"a\" \"abcd\" \"\xf0\x9f\x98\x80\""},
        {"{\"minimum\":1,\"maximum\":3}", "1 3 1.5 \"9\"", "0 0.999 3.001 -5"},
        {"{\"exclusiveMinimum\":1,\"exclusiveMaximum\":3}", "1.001 2 2.999", "1 3 0"},
        {"{\"multipleOf\":3}", "0 3 -6 9.0 \"1\"", "1 3.5 4"},
        {"{\"allOf\":[{\"minimum\":1},{\"maximum\":3}]}", "1 3", "0 4"},
        {"{\"anyOf\":[{\"type\":\"string\"},{\"minimum\":3}]}", "\"a\" 3", "2"},
        {"{\"oneOf\":[{\"minimum\":1},{\"minimum\":3}]}", "1 2", "0 3 4"},
        {"{\"not\":{\"type\":\"string\"}}", "1 null", "\"a\""},
        {"{\"title\":\"t\",\"description\":\"d\",\"default\":7,\"examples\":[1],\"$comment\":\"c\","
         "\"$schema\":\"s\",\"deprecated\":true,\"readOnly\":false,\"writeOnly\":true}",
         "1 null", ""},
    };
    int wrong = 0;
    for (size_t i = 0; i < COUNT_OF(rules); i++) {
        wrong += count_wrong(&rules[i], rules[i].fits, OK);
        wrong += count_wrong(&rules[i], rules[i].not, ERR_INVALID);
    }
    assert_int_equal(wrong, 0);
}

static void message_has_path_rule_and_code(void **state) {
    (void)state;
    const JsonValue *schema =
        parse("{\"properties\":{\"items\":{\"items\":{\"properties\":{\"price\":{\"type\":"
              "\"number\"}}}}}}");
    Diag diag = {0};
    JsonFault fault;
    assert_true(schema_check(schema, &arena, &fault));
    assert_status(
        schema_validate(schema, parse("{\"items\":[{},{\"price\":\"7\"}]}"), "BAD_INPUT", &diag),
        ERR_INVALID);
    assert_string_equal(diag.code, "BAD_INPUT");
    assert_string_equal(diag.message,
                        "$.items[1].price is string; wanted is number (rule \"type\")");
}

typedef struct FaultCase {
    const char *schema;
    const char *at; // the source of what is wrong, or its key
    const char *message;
} FaultCase;

static void what_is_not_supported_is_refused_at_its_place(void **state) {
    (void)state;
    static const FaultCase cases[] = {
        {"7", "7", "a schema is an object, true or false"},
        {"{\"pattern\":\"x\"}", "pattern", "the schema keyword \"pattern\" is not supported"},
        {"{\"format\":\"email\"}", "format", "the schema keyword \"format\" is not supported"},
        {"{\"$ref\":\"#\"}", "$ref", "the schema keyword \"$ref\" is not supported"},
        {"{\"uniqueItems\":true}", "uniqueItems",
         "the schema keyword \"uniqueItems\" is not supported"},
        {"{\"properties\":{\"a\":{\"typ\":\"string\"}}}", "typ",
         "the schema keyword \"typ\" is not supported"},
        {"{\"type\":\"objekt\"}", "\"objekt\"", "the schema keyword \"type\" takes one of"},
        {"{\"type\":[]}", "[]", "the schema keyword \"type\" takes one of"},
        {"{\"enum\":[]}", "[]", "the schema keyword \"enum\" takes an array with at least one"},
        {"{\"required\":\"a\"}", "\"a\"", "the schema keyword \"required\" takes an array of"},
        {"{\"required\":[1]}", "[1]", "the schema keyword \"required\" takes an array of strings"},
        {"{\"properties\":[]}", "[]", "the schema keyword \"properties\" takes an object of"},
        {"{\"properties\":{\"a\":1}}", "1", "a schema is an object, true or false"},
        {"{\"items\":[{}]}", "[{}]", "the schema keyword \"items\" takes a schema"},
        {"{\"anyOf\":[{},{\"minimum\":\"1\"}]}", "\"1\"", "the schema keyword \"minimum\" takes a"},
        {"{\"minLength\":-1}", "-1", "the schema keyword \"minLength\" takes a whole number"},
        {"{\"maxItems\":1.5}", "1.5", "the schema keyword \"maxItems\" takes a whole number"},
        {"{\"multipleOf\":0.1}", "0.1", "the schema keyword \"multipleOf\" takes a whole number"},
        {"{\"multipleOf\":0}", "0", "the schema keyword \"multipleOf\" takes a whole number"},
        {"{\"not\":null}", "null", "the schema keyword \"not\" takes a schema"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        JsonFault fault = {0};
        assert_false(schema_check(parse(cases[i].schema), &arena, &fault));
        assert_str_equal(fault.is_key ? fault.at->key : fault.at->raw, cases[i].at);
        if (!str_starts_with(fault.message, str_from(cases[i].message)))
            fail_msg("%s: %s", cases[i].schema, fault.message.data);
    }
}

static void misspelt_keyword_is_guessed(void **state) {
    (void)state;
    JsonFault fault = {0};
    assert_false(schema_check(parse("{\"propertys\":{}}"), &arena, &fault));
    assert_str_equal(fault.hint, "Did you mean \"properties\"?");
}

static Str nested(const char *open, const char *close, uint32_t depth) {
    Buf text;
    buf_init(&text, 1 << 20);
    for (uint32_t i = 0; i < depth; i++) buf_append_cstr(&text, open);
    buf_append_cstr(&text, "true");
    for (uint32_t i = 0; i < depth; i++) buf_append_cstr(&text, close);
    Str answer = arena_str(&arena, buf_str(&text));
    buf_done(&text);
    return answer;
}

static void schemas_nest_only_so_deep(void **state) {
    (void)state;
    JsonFault fault = {0};
    Str deepest = nested("{\"not\":", "}", LIMIT_SCHEMA_DEPTH);
    assert_true(schema_check(parse(deepest.data), &arena, &fault));
    Str deeper = nested("{\"not\":", "}", LIMIT_SCHEMA_DEPTH + 1);
    assert_false(schema_check(parse(deeper.data), &arena, &fault));
    assert_str_equal(fault.message, "schemas may be nested 32 deep, not deeper");
    // However deep the value is, only the schema counts.
    Str value = nested("[", "]", LIMIT_JSON_DEPTH);
    assert_ok(schema_validate(parse("{\"type\":\"array\"}"), parse(value.data), "BAD", NULL));
}

#define SCHEMA_TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        SCHEMA_TEST(each_rule_holds_at_its_edge),
        SCHEMA_TEST(message_has_path_rule_and_code),
        SCHEMA_TEST(what_is_not_supported_is_refused_at_its_place),
        SCHEMA_TEST(misspelt_keyword_is_guessed),
        SCHEMA_TEST(schemas_nest_only_so_deep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// The table of the workflow API: it and what the realm has are the same, and it prints as JSON.
#include "flow/check/api.h"
#include "flow/realm/tables.h"
#include "flow/vm/native.h"
#include "unit/unit.h"

static const FlowClassEntry *realm_class(const char *name) {
    for (size_t i = 0; flow_realm_classes[i]; i++)
        if (strcmp(flow_realm_classes[i]->name, name) == 0) return flow_realm_classes[i];
    return NULL;
}

static const FlowNativeEntry *realm_member(const FlowClassEntry *entry, const char *name) {
    for (const FlowNativeEntry *member = entry->statics; member->name; member++)
        if (strcmp(member->name, name) == 0) return member;
    return NULL;
}

static void the_table_and_the_realm_have_the_same_calls(void **state) {
    (void)state;
    for (const FlowApiObject *object = flow_api_objects; object->name; object++) {
        if (strcmp(object->name, "Context") == 0) continue; // plain data, made by the engine
        const FlowClassEntry *entry = realm_class(object->name);
        assert_non_null(entry);
        for (const FlowApiMember *member = object->members; member->name; member++) {
            const FlowNativeEntry *native = realm_member(entry, member->name);
            if (!native) print_error("%s.%s is not in the realm\n", object->name, member->name);
            assert_non_null(native);
        }
        for (const FlowNativeEntry *native = entry->statics; native->name; native++) {
            const FlowApiMember *member = flow_api_member(object, str_from(native->name));
            if (!member) print_error("%s.%s is not in the table\n", object->name, native->name);
            assert_non_null(member);
            if (flow_api_field_count(member->parameters) != native->length)
                print_error("%s.%s: parameters\n", object->name, native->name);
            assert_int_equal(flow_api_field_count(member->parameters), native->length);
        }
    }
}

static const FlowNativeEntry *realm_global(const char *name) {
    for (size_t i = 0; flow_realm_globals[i]; i++)
        for (const FlowNativeEntry *entry = flow_realm_globals[i]; entry->name; entry++)
            if (strcmp(entry->name, name) == 0) return entry;
    return NULL;
}

static void the_table_and_the_realm_have_the_same_functions(void **state) {
    (void)state;
    for (const FlowApiMember *function = flow_api_functions; function->name; function++) {
        const FlowNativeEntry *native = realm_global(function->name);
        assert_non_null(native);
        assert_int_equal(flow_api_field_count(function->parameters), native->length);
        assert_non_null(flow_api_about_member(function->name));
    }
    assert_non_null(flow_api_function(STR("Always")));
    assert_null(flow_api_function(STR("atob")));
}

static void check_read(const char *json, const char *expected) {
    Arena arena;
    arena_init(&arena);
    Diag diag = {0};
    Status status = flow_api_read_options("Task.run", str_from(json), &arena, &diag);
    if (expected == NULL) {
        if (status != OK) print_error("%s: %s\n", json, diag.message);
        assert_int_equal(status, OK);
    } else {
        assert_int_equal(status, ERR_INVALID);
        assert_string_equal(diag.code, "BAD_OPTION");
        if (strncmp(diag.message, expected, strlen(expected)) != 0)
            print_error("%s: %s\nexpected: %s\n", json, diag.message, expected);
        assert_int_equal(strncmp(diag.message, expected, strlen(expected)), 0);
    }
    arena_done(&arena);
}

static void known_options_with_possible_values_are_taken(void **state) {
    (void)state;
    check_read("null", NULL);
    check_read("{}", NULL);
    check_read("{\"timeout\":null}", NULL);
    check_read("{\"timeout\":\"PT15M\",\"delay\":0.5,\"priority\":-1000,\"key\":\"k\"}", NULL);
    check_read("{\"retry\":{\"attempts\":1,\"factor\":1.5,\"jitter\":0.1,\"delay\":\"1s\","
               "\"maxDelay\":60,\"nonRetryable\":[\"E1\",\"E2\"]}}",
               NULL);
}

static void what_is_wrong_with_an_option_is_said(void **state) {
    (void)state;
    check_read("{\"timout\":1}", "`Task.run` has no option `timout`. Did you mean `timeout`? The "
                                 "options are queue, priority, retry, timeout, scheduleTimeout, "
                                 "heartbeatTimeout, key, concurrencyKey, delay");
    check_read("{\"zzzzzzzzz\":1}", "`Task.run` has no option `zzzzzzzzz`. The options are queue");
    check_read("{\"retry\":{\"attempt\":1}}", "`Task.run` has no option `retry.attempt`. Did you "
                                              "mean `attempts`?");
    check_read("{\"retry\":{\"attempts\":-1}}",
               "`retry.attempts` of `Task.run` takes a whole number from 1 … 1000000, not -1");
    check_read("{\"retry\":{\"jitter\":true}}",
               "`retry.jitter` of `Task.run` takes a number, not boolean");
    check_read("{\"retry\":3}", "`retry` of `Task.run` takes an object, not number");
    check_read("{\"priority\":1001}",
               "`priority` of `Task.run` takes a whole number from -1000 … 1000, not 1001");
    check_read("{\"priority\":0.5}", "`priority` of `Task.run` takes a whole number");
    check_read("{\"timeout\":\"1 hour please\"}", "`timeout` of `Task.run`: ");
    check_read("{\"timeout\":-1}", "`timeout` of `Task.run`: a duration lies");
    check_read("{\"timeout\":true}", "`timeout` of `Task.run` takes a duration");
    check_read("{\"key\":\"\"}", "`key` of `Task.run` is missing or empty");
    check_read("{\"queue\":5}", "`queue` of `Task.run` takes a string, not number");
    check_read("[]", "the options of Task.run must be an object");
}

static void the_table_prints_as_json(void **state) {
    (void)state;
    Arena arena;
    Buf text;
    JsonValue *value;
    Diag diag;
    arena_init(&arena);
    buf_init(&text, 1 << 20);
    flow_api_print(&text);
    assert_ok(json_parse(&arena, buf_str(&text), &value, &diag));
    const JsonValue *task = json_item(json_member(value, STR("objects")), 0);
    assert_str_equal(json_member(task, STR("name"))->string, "Task");
    const JsonValue *run = json_item(json_member(task, STR("members")), 0);
    assert_str_equal(json_member(run, STR("returns"))->string, "handle");
    assert_int_equal(json_member(run, STR("parameters"))->count, 3);
    assert_int_equal(json_member(value, STR("config"))->count, 12);
    assert_true(json_member(value, STR("builtins"))->count > 20);
    assert_true(json_member(value, STR("globals"))->count > 10);
    buf_done(&text);
    arena_done(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_and_the_realm_have_the_same_calls),
        cmocka_unit_test(the_table_and_the_realm_have_the_same_functions),
        cmocka_unit_test(known_options_with_possible_values_are_taken),
        cmocka_unit_test(what_is_wrong_with_an_option_is_said),
        cmocka_unit_test(the_table_prints_as_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

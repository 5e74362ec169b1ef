// Scenarios: what a file of mocks says about the world.
#include "explore/scenario.h"
#include "unit/unit.h"

static void read_good(Arena *arena, const char *text, Scenario *ret) {
    Diag diag;
    arena_init(arena);
    Status status = scenario_read(arena, str_from(text), ret, &diag);
    if (status != OK) fail_msg("%s: %s", text, diag.message);
}

static void end(Arena *arena, Scenario *scenario) {
    scenario_done(scenario);
    arena_done(arena);
}

static void values_lose_the_space_between_their_parts(void **state) {
    (void)state;
    Arena arena;
    Scenario scenario;
    read_good(&arena, "{\"a\": { \"b\" : [ 1 ,\n \"two  \\\" \\\\\" ] }}", &scenario);
    assert_str_equal(scenario.parts[0].calls[0].replies[0].json, "{\"b\":[1,\"two  \\\" \\\\\"]}");
    end(&arena, &scenario);
}

static void keys_say_what_a_part_is(void **state) {
    (void)state;
    Arena arena;
    Scenario scenario;
    read_good(&arena,
              "{\"a\": 1, \"workflow:a\": 2, \"signal:a\": {\"maybe\": [3, 4]}, \"event:a\": "
              "{\"never\": true}, \"check:a\": \"true\"}",
              &scenario);
    assert_int_equal(scenario.part_count, 4);
    assert_int_equal(scenario.condition_count, 1);
    assert_str_equal(scenario.conditions[0].name, "a");
    for (int kind = PART_TASK; kind <= PART_EVENT; kind++)
        assert_int_equal(scenario_part(&scenario, (PartKind)kind, STR("a"))->kind, kind);
    const Part *signal = scenario_part(&scenario, PART_SIGNAL, STR("a"));
    assert_true(signal->is_optional && signal->is_list && signal->call_count == 2);
    assert_true(scenario_part(&scenario, PART_EVENT, STR("a"))->is_never);
    assert_null(scenario_part(&scenario, PART_TASK, STR("b")));
    end(&arena, &scenario);
}

static void alternatives_stand_for_one_call(void **state) {
    (void)state;
    Arena arena;
    Scenario scenario;
    read_good(&arena,
              "{\"a\": [{\"any\": [1, {\"error\": {\"type\": \"T\", \"final\": true}}, {\"never\": "
              "true}]}, {\"result\": {\"any\": [1]}}], \"b\": 2}",
              &scenario);
    const Part *part = &scenario.parts[0];
    const Call *call = part_call(part, 0);
    assert_int_equal(call->count, 3);
    assert_true(call->replies[1].is_error && call->replies[1].is_final);
    assert_str_equal(call->replies[1].type, "T");
    assert_true(call->replies[2].is_never);
    assert_str_equal(part_call(part, 1)->replies[0].json, "{\"any\":[1]}");
    assert_null(part_call(part, 2));
    assert_non_null(part_call(&scenario.parts[1], 100)); // answers every call
    end(&arena, &scenario);
}

static void only_some_checks_look_at_the_order(void **state) {
    (void)state;
    Arena arena;
    Scenario scenario;
    read_good(&arena, "{\"check:a\": \"done.x\", \"check:b\": \"order[0]\"}", &scenario);
    assert_false(scenario.conditions[0].looks_at_order);
    assert_true(scenario.conditions[1].looks_at_order);
    end(&arena, &scenario);
}

static void what_is_no_scenario_is_refused(void **state) {
    (void)state;
    static const char *const texts[] = {
        "[]",
        "{\"a\": {\"any\": 1}}",
        "{\"a\": {\"maybe\": 1}}",
        "{\"a\": {\"error\": 1}}",
        "{\"a\": {\"error\": {\"message\": 1}}}",
        "{\"signal:a\": {\"error\": {}}}",
        "{\"signal:a\": {\"maybe\": {\"maybe\": 1}}}",
        "{\"signal:a\": {\"any\": [1, {\"never\": true}]}}",
        "{\"event:a\": [{\"never\": true}]}",
        "{\"check:b\": \"true\", \"check:a\": \"}\"}",
        "{\"check:a\": true}",
        "{\"workflow:a\": 1, \"b\": 2, \"workflow:a\": 3}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        Arena arena;
        Scenario scenario = {0};
        Diag diag;
        arena_init(&arena);
        if (scenario_read(&arena, str_from(texts[i]), &scenario, &diag) != ERR_INVALID)
            fail_msg("%s is taken", texts[i]);
        arena_done(&arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_lose_the_space_between_their_parts),
        cmocka_unit_test(keys_say_what_a_part_is),
        cmocka_unit_test(alternatives_stand_for_one_call),
        cmocka_unit_test(only_some_checks_look_at_the_order),
        cmocka_unit_test(what_is_no_scenario_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

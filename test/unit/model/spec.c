// Rules of what describes runs, tasks and schedules.
#include "model/spec.h"
#include "base/array.h"
#include "base/limits.h"
#include "model/rows.h"
#include "unit/unit.h"

static void every_field_has_a_rule(void **state) {
    (void)state;
    for (int field = SPEC_NONE + 1; field < SPEC_FIELD_COUNT; field++) {
        const SpecRule *rule = &spec_rules[field];
        assert_non_null(rule->name);
        assert_non_null(rule->code);
        if (rule->kind != SPEC_NAME) assert_true(rule->min < rule->max);
    }
}

static void numbers_are_held_to_their_range(void **state) {
    (void)state;
    Diag diag;
    assert_ok(spec_check_number(SPEC_PRIORITY, NULL, PRIORITY_MIN, &diag));
    assert_ok(spec_check_number(SPEC_PRIORITY, NULL, PRIORITY_MAX, &diag));
    const double bad[] = {PRIORITY_MIN - 1, PRIORITY_MAX + 1, 0.5, 1e300};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_int_equal(spec_check_number(SPEC_PRIORITY, NULL, bad[i], &diag), ERR_INVALID);
        assert_string_equal(diag.code, "BAD_OPTION");
    }
    assert_int_equal(spec_check_number(SPEC_PRIORITY, "`priority` of `f`", 5000, &diag),
                     ERR_INVALID);
    assert_string_equal(diag.message,
                        "`priority` of `f` takes a whole number from -1000 … 1000, not 5000");
    assert_ok(spec_check_number(SPEC_RETRY_FACTOR, NULL, 1.5, &diag));
    assert_int_equal(spec_check_number(SPEC_RETRY_JITTER, NULL, 1.5, &diag), ERR_INVALID);
}

static void choices_are_read_by_their_words(void **state) {
    (void)state;
    Diag diag;
    int64_t value = -1;
    for (int policy = OVERLAP_SKIP; policy < OVERLAP_COUNT; policy++) {
        assert_ok(
            spec_read_choice(SPEC_OVERLAP, NULL, str_from(overlap_name(policy)), &value, &diag));
        assert_int_equal(value, policy);
    }
    assert_int_equal(spec_read_choice(SPEC_OVERLAP, NULL, STR("x"), &value, &diag), ERR_INVALID);
    assert_string_equal(diag.message, "overlap takes one of skip, queue, allow, cancel-old, not x");
    assert_int_equal(spec_check_choice(SPEC_OVERLAP, NULL, OVERLAP_COUNT, &diag), ERR_INVALID);
    assert_int_equal(spec_check_choice(SPEC_OVERLAP, NULL, -1, &diag), ERR_INVALID);
}

static void a_run_has_so_many_tags_and_no_more(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena);
    Diag diag;
    Str tags = STR_NULL;
    for (uint32_t i = 0; i < LIMIT_TAG_COUNT; i++)
        assert_ok(spec_add_name(SPEC_TAG, &arena, STR("t"), &tags, &diag));
    assert_int_equal(spec_add_name(SPEC_TAG, &arena, STR("t"), &tags, &diag), ERR_INVALID);
    assert_string_equal(diag.code, "BAD_TAG");
    assert_int_equal(tags.len, 2 * LIMIT_TAG_COUNT - 1);
    arena_done(&arena);
}

static void a_start_has_one_time(void **state) {
    (void)state;
    Diag diag;
    int64_t at_ms = -1;
    assert_ok(spec_start_time(100, 0, 0, &at_ms, &diag));
    assert_int_equal(at_ms, 0);
    assert_ok(spec_start_time(100, 5, 0, &at_ms, &diag));
    assert_int_equal(at_ms, 105);
    assert_ok(spec_start_time(100, 0, 7, &at_ms, &diag));
    assert_int_equal(at_ms, 7);
    assert_int_equal(spec_start_time(100, 5, 7, &at_ms, &diag), ERR_INVALID);
    assert_int_equal(spec_start_time(100, 0, -7, &at_ms, &diag), ERR_INVALID);
    assert_string_equal(diag.code, "BAD_TIME");
}

static void leftovers_go_to_a_topic_that_is_named(void **state) {
    (void)state;
    Diag diag;
    assert_ok(spec_check_leftovers(LEFTOVER_DISCARD, STR_NULL, &diag));
    assert_ok(spec_check_leftovers(LEFTOVER_TO_TOPIC, STR("t"), &diag));
    assert_int_equal(spec_check_leftovers(LEFTOVER_TO_TOPIC, STR_NULL, &diag), ERR_INVALID);
    assert_int_equal(spec_check_leftovers(LEFTOVER_DISCARD, STR("t"), &diag), ERR_INVALID);
    assert_string_equal(diag.code, "BAD_OPTION");
    assert_int_equal(spec_check_leftovers(LEFTOVER_TO_TOPIC, STR(""), &diag), ERR_INVALID);
    assert_string_equal(diag.code, "BAD_NAME");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_has_a_rule),
        cmocka_unit_test(numbers_are_held_to_their_range),
        cmocka_unit_test(choices_are_read_by_their_words),
        cmocka_unit_test(a_run_has_so_many_tags_and_no_more),
        cmocka_unit_test(a_start_has_one_time),
        cmocka_unit_test(leftovers_go_to_a_topic_that_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

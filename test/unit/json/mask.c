// Masks of JSON: what is hidden, what stays byte for byte, and what is no path.
#include "json/mask.h"
#include "unit/unit.h"

static Mask mask_of(const char *const *paths) {
    Mask mask = {0};
    for (; *paths != NULL; paths++) assert_int_equal(mask_add(&mask, str_from(*paths), NULL), OK);
    return mask;
}

typedef struct Case {
    const char *name, *json, *wanted;
} Case;

static void check_cases(const Mask *mask, const Case *cases, size_t count) {
    Arena arena;
    arena_init(&arena);
    for (size_t i = 0; i < count; i++) {
        Str name = cases[i].name != NULL ? str_from(cases[i].name) : STR_NULL;
        Str found = mask_json(mask, name, str_from(cases[i].json), &arena);
        assert_string_equal(arena_printf(&arena, "%.*s", STR_ARG(found)).data, cases[i].wanted);
    }
    arena_done(&arena);
}

static void values_are_hidden_wherever_their_path_leads(void **state) {
    (void)state;
    const char *const paths[] = {"card.number", "password", "a.b.c", "b.d", NULL};
    const Mask mask = mask_of(paths);
    const Case cases[] = {
        {NULL, "{\"card\":{\"number\":\"4\"}}", "{\"card\":{\"number\":\"[secret card.number]\"}}"},
        {"card", "{ \"number\" : [1, {\"x\":2}] , \"n\":1}",
         "{ \"number\" : \"[secret card.number]\" , \"n\":1}"},
        {NULL, "[{\"card\":[{\"number\":1},[{\"number\":2}]]}]",
         "[{\"card\":[{\"number\":\"[secret card.number]\"},"
         "[{\"number\":\"[secret card.number]\"}]]}]"},
        {NULL, "{\"card\":{\"x\":{\"number\":1}}}", "{\"card\":{\"x\":{\"number\":1}}}"},
        {"password", "{\"deep\":[1,2]}", "\"[secret password]\""},
        {"x", "{\"pass\\u0077ord\":1e3,\"y\":\"\\n\"}",
         "{\"pass\\u0077ord\":\"[secret password]\",\"y\":\"\\n\"}"},
        {NULL, "{\"a\":{\"b\":{\"c\":1,\"d\":2},\"c\":3},\"c\":4}",
         "{\"a\":{\"b\":{\"c\":\"[secret a.b.c]\",\"d\":\"[secret b.d]\"},\"c\":3},\"c\":4}"},
        {NULL, "{\"a\":{\"a\":{\"b\":{\"c\":1}}}}",
         "{\"a\":{\"a\":{\"b\":{\"c\":\"[secret a.b.c]\"}}}}"},
        {NULL, "{\"password\":null}", "{\"password\":null}"},
        {NULL, "\"password\"", "\"password\""},
        {NULL, "{\"password\":", "\"[secret]\""}, // [json-mask-2]
    };
    check_cases(&mask, cases, sizeof cases / sizeof *cases);
}

static void what_hides_nothing_changes_nothing(void **state) {
    (void)state;
    const Mask nothing = {0}, all = {.hides_all = true};
    const Case same = {"password", "{\"password\":1}", "{\"password\":1}"};
    const Case whole = {NULL, "1", "\"[secret]\""};
    check_cases(NULL, &same, 1);
    check_cases(&nothing, &same, 1);
    check_cases(&all, &whole, 1);
}

static void paths_that_mean_nothing_are_refused(void **state) {
    (void)state;
    const char *const bad[] = {"",  ".", "a.",  ".a",   "a..b", "a[0]", "a.0",
                               "7", "*", "a.*", "a\nb", "a\"b", NULL};
    for (const char *const *path = bad; *path != NULL; path++) {
        Mask mask = {0};
        Diag diag;
        assert_int_equal(mask_add(&mask, str_from(*path), &diag), ERR_INVALID);
        assert_string_equal(diag.code, "BAD_PATH");
        assert_int_equal(mask.count, 0);
    }
}

static void there_is_room_for_64_names(void **state) {
    (void)state;
    Mask mask = {0};
    Arena arena;
    arena_init(&arena);
    for (int i = 0; i < MASK_NAMES_MAX / 2; i++)
        assert_int_equal(mask_add(&mask, arena_printf(&arena, "a%d.b", i), NULL), OK);
    assert_int_equal(mask_add(&mask, STR("c"), NULL), ERR_LIMIT);
    Str hidden = mask_json(&mask, STR("a31"), STR("{\"b\":1}"), &arena);
    assert_true(str_equal(hidden, STR("{\"b\":\"[secret a31.b]\"}")));
    arena_done(&arena);
}

static void the_path_that_another_mask_does_not_name_is_found(void **state) {
    (void)state;
    const char *const one[] = {"a", "b.c", NULL}, *const two[] = {"b.c", NULL};
    const Mask more = mask_of(one), less = mask_of(two);
    assert_true(str_is_null(mask_missing(&more, &less)));
    assert_true(str_equal(mask_missing(&less, &more), STR("a")));
    assert_true(str_equal(mask_missing(NULL, &less), STR("b.c")));
    assert_true(str_is_null(mask_missing(&less, NULL)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_hidden_wherever_their_path_leads),
        cmocka_unit_test(what_hides_nothing_changes_nothing),
        cmocka_unit_test(paths_that_mean_nothing_are_refused),
        cmocka_unit_test(there_is_room_for_64_names),
        cmocka_unit_test(the_path_that_another_mask_does_not_name_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// The filter language: how texts are read, what is wrong with them, and what may follow.
#include "server/filter/filter.h"
#include "base/array.h"
#include "unit/unit.h"

static Arena arena;
static Filter filter;
static FilterFault fault;
static Diag diag;

static int set_up(void **state) {
    (void)state;
    arena_init(&arena);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    arena_done(&arena);
    return 0;
}

static void parse(const char *text) {
    diag_clear(&diag);
    Status status = filter_parse(&arena, str_from(text), &filter, &fault, &diag);
    if (status != OK) fail_msg("%s: %s", text, diag.message);
}

static void refuse(const char *text, size_t at, const char *meant) {
    diag_clear(&diag);
    assert_int_equal(filter_parse(&arena, str_from(text), &filter, &fault, &diag), ERR_INVALID);
    assert_string_equal(diag.code, "BAD_FILTER");
    if (fault.at != at) fail_msg("%s: at %zu: %s", text, fault.at, diag.message);
    if (meant == NULL) assert_null(fault.did_you_mean);
    else assert_string_equal(fault.did_you_mean, meant);
}

static void assert_text(Str text, const char *expected) {
    if (!str_equal(text, str_from(expected))) fail_msg("%.*s is not %s", STR_ARG(text), expected);
}

static void terms_have_a_field_an_operator_and_values(void **state) {
    (void)state;
    parse("  status:failed,paused -workflow~ord age>=2h "
          "state.a.b=\"4 2\",x,7 error~\"a \\\"b\\\"\" ");
    assert_int_equal(filter.count, 5);
    assert_int_equal(filter.terms[0].from, 2);
    assert_int_equal(filter.terms[0].to, 22);
    assert_int_equal(filter.terms[0].states, 1u << RUN_FAILED | 1u << RUN_PAUSED);
    assert_true(filter.terms[1].is_negated);
    assert_int_equal(filter.terms[1].comparison, FILTER_HAS);
    assert_int_equal(filter.terms[2].comparison, FILTER_AT_LEAST);
    assert_int_equal(filter.terms[2].number, 7200000);
    assert_text(filter.terms[3].key, "a.b");
    assert_text(filter.terms[3].values[0], "\"4 2\"");
    assert_text(filter.terms[3].values[1], "\"x\"");
    assert_text(filter.terms[3].values[2], "7");
    assert_text(filter.terms[4].values[0], "a \"b\"");
}

static void where_takes_an_expression_up_to_its_parenthesis(void **state) {
    (void)state;
    parse("status:suspended -where(f(a, \")\") > '(' + `)`.length) tag:eu");
    assert_int_equal(filter.count, 3);
    assert_int_equal(filter.terms[1].field, FILTER_WHERE);
    assert_true(filter.terms[1].is_negated);
    assert_text(filter.terms[1].values[0], "f(a, \")\") > '(' + `)`.length");
    assert_text(filter.terms[2].values[0], "eu");
    parse("where");
    assert_int_equal(filter.terms[0].field, FILTER_TEXT);
}

static void words_without_a_field_are_texts(void **state) {
    (void)state;
    parse("order-17 \"two words\" -no");
    assert_int_equal(filter.count, 3);
    assert_int_equal(filter.terms[0].field, FILTER_TEXT);
    assert_text(filter.terms[0].values[0], "order-17");
    assert_text(filter.terms[1].values[0], "two words");
    assert_true(filter.terms[2].is_negated);
    parse("");
    assert_int_equal(filter.count, 0);
}

static void mistakes_say_where_they_are_and_what_was_meant(void **state) {
    (void)state;
    refuse("statis:failed", 0, "status");
    refuse("tag:eu status:faild", 14, "failed");
    refuse("urn:x:1", 0, NULL);
    refuse("age:2h", 3, "age>2h");
    refuse("age>soon", 4, NULL);
    refuse("status:", 7, "status:failed,paused");
    refuse("tag:a,", 6, "tag:eu");
    refuse("tag:\"a", 4, NULL);
    refuse("tag:\"a\"b", 7, NULL);
    refuse("state.=1", 6, "state.KEY=VALUE");
    refuse("state.x", 7, "state.customer=42");
    refuse("created>today", 8, NULL);
    refuse("priority>much", 9, NULL);
    refuse("priority:1,2", 9, NULL);
    refuse("line:order.flow", 5, NULL);
    refuse("line:1,2", 5, NULL);
    refuse("version>1", 7, "version:898154");
    refuse("where(x > 1", 0, NULL);
    refuse("where(x >)", 6, NULL);
    refuse("where(x)y", 8, NULL);
    refuse("-", 0, NULL);
    refuse("status:failed x:y", 14, NULL);
    assert_int_equal(filter.count, 1); // what came before is there
}

static void what_is_too_much_is_refused(void **state) {
    (void)state;
    char text[FILTER_SIZE_MAX + 2];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = 0;
    refuse(text, FILTER_SIZE_MAX, NULL);
    text[FILTER_SIZE_MAX] = 0;
    for (size_t i = 1; i < FILTER_SIZE_MAX; i += 2) text[i] = ' ';
    refuse(text, (size_t)FILTER_TERMS_MAX * 2, NULL);
    memcpy(text, "tag:", 4);
    for (size_t i = 5; i < FILTER_SIZE_MAX; i += 2) text[i - 1] = 'a', text[i] = ',';
    refuse(text, 4, NULL);
}

static void check_push(const char *text, size_t left) {
    RunFilter runs = {0};
    parse(text);
    filter_push(&filter, &arena, 1000000000, &runs);
    size_t rest = 0;
    for (size_t i = 0; i < filter.count; i++) rest += !filter.terms[i].is_pushed;
    if (rest != left) fail_msg("%s leaves %zu", text, rest);
}

static void the_store_gets_what_it_can_answer(void **state) {
    (void)state;
    check_push("status:failed workflow:a,b tag:eu parent:p waiting:x age>2h state.k=1 idle>1h", 0);
    check_push("-status:failed id:a,b created<2026-01-01", 0);
    check_push("tag:eu tag:us", 1);
    check_push("tag:eu,us workflow~o -tag:x error~y waiting:timer age>=1h word", 7);
    RunFilter runs = {.states = 1u << RUN_FAILED};
    parse("status:paused");
    filter_push(&filter, &arena, 1, &runs);
    assert_int_equal(runs.states, 1); // no state is both: nothing is found
    runs = (RunFilter){0};
    parse("error~x");
    filter_push(&filter, &arena, 1, &runs);
    assert_int_equal(runs.states, 1u << RUN_FAILED | 1u << RUN_CANCELLED | 1u << RUN_PAUSED);
}

static const FilterCompletions *complete(const char *text, size_t at) {
    static const Str names[] = {{"order", 5}, {"or, der", 7}, {"invoice", 7}};
    static FilterCompletions found;
    const FilterCursor cursor = {str_from(text), at, names, COUNT_OF(names)};
    filter_complete(&arena, &cursor, &found);
    return &found;
}

static void completions_fit_what_stands_before_the_cursor(void **state) {
    (void)state;
    const FilterCompletions *found = complete("sta", 3);
    assert_int_equal(found->count, 2);
    assert_text(found->items[0].text, "status:");
    assert_text(found->items[1].text, "state.");
    assert_int_equal(complete("", 0)->count, FILTER_TEXT);
    found = complete("tag:eu -status:failed,pa", 24);
    assert_int_equal(found->count, 1);
    assert_text(found->items[0].text, "paused");
    assert_int_equal(found->items[0].from, 22);
    found = complete("workflow:or tag:eu", 11);
    assert_int_equal(found->count, 2);
    assert_text(found->items[0].text, "order");
    assert_text(found->items[1].text, "\"or, der\"");
    assert_int_equal(complete("\"sta", 4)->count, 0);
    found = complete("tag:eu whe", 10);
    assert_text(found->items[0].text, "where(");
    assert_int_equal(complete("where(order. sta", 16)->count, 0); // nothing is known of its names
    found = complete("-where(a b) sta", 15);
    assert_text(found->items[0].text, "status:");
    assert_int_equal(found->items[0].from, 12);
    assert_true(filter_wants_workflows(STR("workflow:"), 9));
    assert_false(filter_wants_workflows(STR("workflow: "), 10));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(terms_have_a_field_an_operator_and_values, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(where_takes_an_expression_up_to_its_parenthesis, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(words_without_a_field_are_texts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(mistakes_say_where_they_are_and_what_was_meant, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_is_too_much_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_store_gets_what_it_can_answer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(completions_fit_what_stands_before_the_cursor, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// Suggestions: which name is near, and which is not.
#include "base/text/suggest.h"
#include "base/array.h"
#include "unit/unit.h"

static const char *const names[] = {"charge", "refund", "sendMail", "pay"};

static const char *nearest(const char *word) {
    return suggest_nearest(str_from(word), names, COUNT_OF(names));
}

static void letters_put_in_left_out_or_replaced_are_near(void **state) {
    (void)state;
    assert_string_equal(nearest("chargee"), "charge");
    assert_string_equal(nearest("charg"), "charge");
    assert_string_equal(nearest("refind"), "refund");
}

static void case_makes_no_difference(void **state) {
    (void)state;
    assert_string_equal(nearest("sendmail"), "sendMail");
    assert_string_equal(nearest("CHARGE"), "charge");
}

static void what_is_far_is_not_suggested(void **state) {
    (void)state;
    assert_null(nearest("ship"));
    assert_null(nearest("x"));
    assert_null(nearest(""));
    assert_null(nearest("pink"));
    assert_null(suggest_nearest(STR("charge"), names, 0));
}

static void the_word_itself_is_no_suggestion(void **state) {
    (void)state;
    assert_null(nearest("charge"));
}

static void the_nearest_of_several_wins(void **state) {
    (void)state;
    static const char *const many[] = {"status-x", "statuses", "status"};
    assert_string_equal(suggest_nearest(STR("statu"), many, 3), "status");
}

static void long_words_are_not_compared(void **state) {
    (void)state;
    char word[100];
    for (size_t i = 0; i < sizeof word; i++) word[i] = i + 1 < sizeof word ? 'a' : 0;
    const char *const same[] = {word + 1};
    assert_null(suggest_nearest(str_from(word), same, 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(letters_put_in_left_out_or_replaced_are_near),
        cmocka_unit_test(case_makes_no_difference),
        cmocka_unit_test(what_is_far_is_not_suggested),
        cmocka_unit_test(the_word_itself_is_no_suggestion),
        cmocka_unit_test(the_nearest_of_several_wins),
        cmocka_unit_test(long_words_are_not_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

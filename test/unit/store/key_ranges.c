// KeyRanges against a plain picture of the same knowledge: one mark per key.
#include "store/remote/key_ranges.h"
#include "base/env.h"
#include "unit/unit.h"
#include <stdio.h>

enum { KEYS = 60 };

typedef struct Key {
    char text[4];
} Key;

static Key key_of(int number) {
    Key key;
    snprintf(key.text, sizeof(key.text), "%02d", number);
    return key;
}
static Str str_of(const Key *key) { return str_from(key->text); }

static void assert_same(KeyRanges *ranges, const bool *known) {
    for (int i = 0; i < KEYS; i++) {
        Key key = key_of(i);
        if (key_ranges_has(ranges, str_of(&key)) == known[i]) continue;
        fail_msg("key %d is %sknown", i, known[i] ? "not " : "");
    }
}

// How far the knowledge goes from `from` on; KEYS when there is no end.
static int end_from(const bool *known, int from) {
    while (from < KEYS && known[from]) from++;
    return from;
}

static void random_ranges_are_what_a_list_of_marks_says(void **state) {
    (void)state;
    uint64_t seed = 7;
    for (size_t round = 0; round < scaled(300); round++) {
        KeyRanges ranges;
        key_ranges_init(&ranges);
        bool known[KEYS] = {false};
        for (int change = 0; change < 40; change++) {
            int low = (int)(random_next(&seed) % KEYS), high = (int)(random_next(&seed) % KEYS);
            bool is_cut = random_next(&seed) % 3 == 0;
            bool is_open = !is_cut && random_next(&seed) % 8 == 0;
            Key from = key_of(low), to = key_of(high);
            if (is_cut && low < high) key_ranges_cut(&ranges, str_of(&from), str_of(&to));
            if (!is_cut) key_ranges_add(&ranges, str_of(&from), is_open ? STR("") : str_of(&to));
            for (int i = low; i < (is_open ? KEYS : high); i++) known[i] = !is_cut;
            assert_same(&ranges, known);
            Str end;
            if (key_ranges_end_of(&ranges, str_of(&from), &end)) {
                int expected = end_from(known, low);
                Key last = key_of(expected);
                if (end.len > 0) assert_str_equal(end, last.text);
                else assert_int_equal(expected, KEYS);
            }
        }
        key_ranges_done(&ranges);
    }
}

static void touching_ranges_become_one(void **state) {
    (void)state;
    KeyRanges ranges;
    key_ranges_init(&ranges);
    key_ranges_add(&ranges, STR("a"), STR("c"));
    key_ranges_add(&ranges, STR("e"), STR(""));
    assert_int_equal(ranges.by_low.count, 2);
    key_ranges_add(&ranges, STR("c"), STR("e"));
    assert_int_equal(ranges.by_low.count, 1);
    Str low;
    assert_true(key_ranges_start_of(&ranges, STR(""), &low));
    assert_str_equal(low, "a");
    key_ranges_add(&ranges, STR(""), STR("b"));
    assert_int_equal(ranges.by_low.count, 1);
    assert_true(key_ranges_has(&ranges, STR("")));
    key_ranges_done(&ranges);
}

static void what_is_just_below_a_key_is_found_from_above(void **state) {
    (void)state;
    KeyRanges ranges;
    key_ranges_init(&ranges);
    key_ranges_add(&ranges, STR("d"), STR("g"));
    Str low;
    assert_true(key_ranges_start_of(&ranges, STR("g"), &low));
    assert_str_equal(low, "d");
    assert_true(key_ranges_start_of(&ranges, STR("e"), &low));
    assert_false(key_ranges_start_of(&ranges, STR("h"), &low));
    assert_false(key_ranges_start_of(&ranges, STR("d"), &low));
    assert_false(key_ranges_start_of(&ranges, STR(""), &low));
    key_ranges_done(&ranges);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_ranges_are_what_a_list_of_marks_says),
        cmocka_unit_test(touching_ranges_become_one),
        cmocka_unit_test(what_is_just_below_a_key_is_found_from_above),
    };
    return cmocka_run_group_tests_name("key ranges", tests, NULL, NULL);
}

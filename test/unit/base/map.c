// Map and StrMap against a plain array, with many removals.
#include "base/containers/map.h"
#include "base/env.h"
#include "unit/unit.h"
#include <stdio.h>

enum { KEY_COUNT = 300 };

static void an_empty_map_answers_nothing(void **state) {
    (void)state;
    Map map;
    map_init(&map);
    assert_null(map_get(&map, 1));
    assert_null(map_remove(&map, 1));
    size_t at = 0;
    uint64_t key;
    void *value;
    assert_false(map_next(&map, &at, &key, &value));
    map_done(&map);
}

static void put_answers_what_it_replaced(void **state) {
    (void)state;
    int a, b;
    Map map;
    map_init(&map);
    assert_null(map_put(&map, 0, &a));
    assert_ptr_equal(map_put(&map, 0, &b), &a);
    assert_int_equal(map.count, 1);
    assert_ptr_equal(map_get(&map, 0), &b);
    assert_ptr_equal(map_remove(&map, 0), &b);
    assert_int_equal(map.count, 0);
    map_done(&map);
}

static void a_map_agrees_with_an_array_after_any_changes(void **state) {
    (void)state;
    char values[KEY_COUNT];
    void *model[KEY_COUNT] = {0};
    Map map;
    map_init(&map);
    uint64_t seed = 5;
    for (size_t round = 0; round < scaled(200000); round++) {
        size_t key = random_next(&seed) % KEY_COUNT;
        uint64_t map_key = key * 0x1000; // keys that differ only in high bits
        switch (random_next(&seed) % 3) {
        case 0: {
            void *value = &values[random_next(&seed) % KEY_COUNT];
            assert_ptr_equal(map_put(&map, map_key, value), model[key]);
            model[key] = value;
            break;
        }
        case 1:
            assert_ptr_equal(map_remove(&map, map_key), model[key]);
            model[key] = NULL;
            break;
        default: assert_ptr_equal(map_get(&map, map_key), model[key]);
        }
    }
    size_t expected = 0, seen = 0;
    for (size_t i = 0; i < KEY_COUNT; i++) expected += model[i] != NULL;
    uint64_t key;
    void *value;
    for (size_t at = 0; map_next(&map, &at, &key, &value);) {
        assert_ptr_equal(model[key / 0x1000], value);
        seen++;
    }
    assert_int_equal(seen, expected);
    assert_int_equal(map.count, expected);
    map_done(&map);
}

static void a_string_map_agrees_with_an_array_after_any_changes(void **state) {
    (void)state;
    static char names[KEY_COUNT][16];
    char values[KEY_COUNT];
    void *model[KEY_COUNT] = {0};
    for (size_t i = 0; i < KEY_COUNT; i++) snprintf(names[i], sizeof(names[i]), "key-%zu", i);
    StrMap map;
    strmap_init(&map);
    uint64_t seed = 6;
    for (size_t round = 0; round < scaled(200000); round++) {
        size_t i = random_next(&seed) % KEY_COUNT;
        Str key = str_from(names[i]);
        switch (random_next(&seed) % 3) {
        case 0: {
            void *value = &values[random_next(&seed) % KEY_COUNT];
            assert_ptr_equal(strmap_put(&map, key, value), model[i]);
            model[i] = value;
            break;
        }
        case 1:
            assert_ptr_equal(strmap_remove(&map, key), model[i]);
            model[i] = NULL;
            break;
        default: assert_ptr_equal(strmap_get(&map, key), model[i]);
        }
    }
    size_t expected = 0, seen = 0;
    for (size_t i = 0; i < KEY_COUNT; i++) expected += model[i] != NULL;
    Str key;
    void *value;
    for (size_t at = 0; strmap_next(&map, &at, &key, &value);) seen++;
    assert_int_equal(seen, expected);
    strmap_done(&map);
}

static void empty_and_null_keys_are_the_same_key(void **state) {
    (void)state;
    int a;
    StrMap map;
    strmap_init(&map);
    strmap_put(&map, STR(""), &a);
    assert_ptr_equal(strmap_get(&map, STR_NULL), &a);
    strmap_done(&map);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_map_answers_nothing),
        cmocka_unit_test(put_answers_what_it_replaced),
        cmocka_unit_test(a_map_agrees_with_an_array_after_any_changes),
        cmocka_unit_test(a_string_map_agrees_with_an_array_after_any_changes),
        cmocka_unit_test(empty_and_null_keys_are_the_same_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// Wait sets: their bytes, and what they say about deadlines and idleness.
#include "model/waits.h"
#include "base/array.h"
#include "base/env.h"
#include "unit/unit.h"

static int set_up(void **state) {
    Arena *arena = malloc(sizeof(Arena));
    arena_init(arena);
    *state = arena;
    return 0;
}

static int tear_down(void **state) {
    arena_done(*state);
    free(*state);
    return 0;
}

static void assert_same_item(const WaitItem *a, const WaitItem *b) {
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->slot, b->slot);
    assert_int_equal(a->position, b->position);
    assert_int_equal(a->iteration, b->iteration);
    assert_int_equal(a->deadline_at_ms, b->deadline_at_ms);
    assert_int_equal(a->target, b->target);
    assert_int_equal(a->since_ms, b->since_ms);
    assert_int_equal(a->waiter, b->waiter);
    assert_int_equal(a->group, b->group);
    assert_int_equal(a->quiet, b->quiet);
    assert_true(str_same(a->name, b->name));
    assert_true(str_same(a->filter, b->filter));
    assert_true(str_same(a->label, b->label));
}

static WaitSet mixed_set(Arena *arena) {
    static const WaitItem items[] = {
        {.kind = WAIT_EVENT,
         .slot = 0,
         .position = 3,
         .name = STR("orders"),
         .waiter = 77,
         .filter = STR("payload.total > 5"),
         .since_ms = 1700000000000},
        {.kind = WAIT_SIGNAL,
         .slot = 1,
         .position = 4,
         .iteration = 200,
         .name = STR(""),
         .deadline_at_ms = 1700000086400},
        {.kind = WAIT_TIMER, .slot = 2, .position = 5, .deadline_at_ms = INT64_MAX},
        {.kind = WAIT_RETRY, .slot = 1000, .position = -1, .deadline_at_ms = 1},
        {.kind = WAIT_CHILD, .slot = -4, .position = INT64_MAX, .target = INT64_MAX},
        {.kind = WAIT_TASK, .slot = 5, .position = 8, .target = 1},
        {.kind = WAIT_TASK, .slot = 8, .position = 10, .target = 2, .label = STR("charge")},
        {.kind = WAIT_TASK, .slot = 6, .position = 9, .group = 1, .quiet = WAIT_QUIET_OK},
        {.kind = WAIT_CHILD,
         .slot = 7,
         .position = 9,
         .name = STR("c"),
         .group = WAIT_GROUP_MAX,
         .quiet = WAIT_QUIET_OK | WAIT_QUIET_ERROR},
    };
    WaitSet set = {.mode = WAIT_EACH, .count = COUNT_OF(items)};
    set.items = ARENA_ARRAY(arena, WaitItem, set.count);
    memcpy(set.items, items, sizeof(items));
    return set;
}

static void tasks_and_children_are_called_by_id_and_by_name(void **state) {
    (void)state;
    WaitItem task = {.kind = WAIT_TASK, .name = STR("t-1"), .label = STR("charge")};
    assert_true(wait_item_is_called(&task, STR("t-1")));
    assert_true(wait_item_is_called(&task, STR("charge")));
    assert_false(wait_item_is_called(&task, STR("charges")));
    WaitItem timer = {.kind = WAIT_TIMER};
    assert_false(wait_item_is_called(&timer, STR("")));
}

static void every_field_comes_back(void **state) {
    Arena *arena = *state;
    WaitSet set = mixed_set(arena), back;
    assert_ok(wait_set_decode(arena, wait_set_encode(arena, &set), &back));
    assert_int_equal(back.mode, set.mode);
    assert_int_equal(back.count, set.count);
    for (size_t i = 0; i < set.count; i++) assert_same_item(&back.items[i], &set.items[i]);
}

static void decoded_text_does_not_point_into_the_bytes(void **state) {
    Arena *arena = *state;
    WaitSet set = mixed_set(arena), back;
    Str bytes = wait_set_encode(arena, &set);
    char *copy = malloc(bytes.len);
    memcpy(copy, bytes.data, bytes.len);
    assert_ok(wait_set_decode(arena, (Str){copy, bytes.len}, &back));
    free(copy);
    assert_str_equal(back.items[0].name, "orders");
}

static void an_empty_set_is_a_set(void **state) {
    Arena *arena = *state;
    WaitSet set = {.mode = WAIT_FIRST}, back = {.count = 7};
    assert_ok(wait_set_decode(arena, wait_set_encode(arena, &set), &back));
    assert_int_equal(back.count, 0);
}

static void a_wait_for_one_signal_is_about_twenty_bytes(void **state) {
    Arena *arena = *state;
    WaitItem item = {.kind = WAIT_SIGNAL,
                     .slot = 0,
                     .position = 12,
                     .name = STR("approved"),
                     .since_ms = 1700000000000};
    WaitSet set = {.mode = WAIT_FIRST, .items = &item, .count = 1};
    assert_in_range(wait_set_encode(arena, &set).len, 1, 24);
}

static void cut_bytes_are_corrupt(void **state) {
    Arena *arena = *state;
    WaitSet set = mixed_set(arena), back;
    Str bytes = wait_set_encode(arena, &set);
    for (size_t len = 0; len < bytes.len; len++) {
        char *exact = malloc(len > 0 ? len : 1); // so that a sanitizer sees a read past the end
        memcpy(exact, bytes.data, len);
        assert_status(wait_set_decode(arena, (Str){exact, len}, &back), ERR_CORRUPT);
        free(exact);
    }
    assert_status(wait_set_decode(arena, STR_NULL, &back), ERR_CORRUPT);
}

static void bytes_after_the_end_are_corrupt(void **state) {
    Arena *arena = *state;
    WaitSet set = mixed_set(arena), back;
    Str bytes = wait_set_encode(arena, &set);
    char *all = arena_alloc(arena, bytes.len + 1);
    memcpy(all, bytes.data, bytes.len);
    all[bytes.len] = '\0';
    assert_status(wait_set_decode(arena, (Str){all, bytes.len + 1}, &back), ERR_CORRUPT);
}

static void other_versions_modes_and_kinds_are_corrupt(void **state) {
    Arena *arena = *state;
    WaitSet back;
    assert_ok(wait_set_decode(arena, STR("\x01\x01\x00"), &back));
    assert_status(wait_set_decode(arena, STR("\x02\x01\x00"), &back), ERR_CORRUPT);
    assert_status(wait_set_decode(arena, STR("\x01\x00\x00"), &back), ERR_CORRUPT);
    assert_status(wait_set_decode(arena, STR("\x01\x03\x00"), &back), ERR_CORRUPT);
    assert_ok(wait_set_decode(arena, STR("\x01\x01\x01\x03\x00\x00\x00"), &back));
    assert_status(wait_set_decode(arena, STR("\x01\x01\x01\x00\x00\x00\x00"), &back), ERR_CORRUPT);
    assert_status(wait_set_decode(arena, STR("\x01\x01\x01\x07\x00\x00\x00"), &back), ERR_CORRUPT);
    assert_status(wait_set_decode(arena, STR("\x01\x01\x01\x03\x80\x00\x00"), &back), ERR_CORRUPT);
}

static void a_count_beyond_the_bytes_allocates_nothing(void **state) {
    Arena *arena = *state;
    WaitSet back;
    size_t used = arena->used_size;
    Str bytes = STR("\x01\x01\xFF\xFF\xFF\xFF\x0F\x01\x00\x00\x00");
    assert_status(wait_set_decode(arena, bytes, &back), ERR_CORRUPT);
    assert_int_equal(arena->used_size, used);
}

static void damaged_bytes_never_do_more_than_fail(void **state) {
    Arena *arena = *state;
    WaitSet set = mixed_set(arena);
    Str bytes = wait_set_encode(arena, &set);
    uint64_t random = 7;
    for (size_t i = 0; i < scaled(20000); i++) {
        Arena scratch;
        arena_init(&scratch);
        char *damaged = malloc(bytes.len);
        memcpy(damaged, bytes.data, bytes.len);
        for (uint64_t n = random_next(&random) % 4 + 1; n > 0; n--) {
            damaged[random_next(&random) % bytes.len] = (char)random_next(&random);
        }
        WaitSet back;
        Status status = wait_set_decode(&scratch, (Str){damaged, bytes.len}, &back);
        assert_true(status == OK || status == ERR_CORRUPT);
        if (status == OK) {
            Str again = wait_set_encode(&scratch, &back);
            WaitSet once_more;
            assert_ok(wait_set_decode(&scratch, again, &once_more));
            assert_int_equal(once_more.count, back.count);
        }
        free(damaged);
        arena_done(&scratch);
    }
}

static void the_deadline_is_the_earliest_that_is_set(void **state) {
    (void)state;
    WaitItem items[] = {{.kind = WAIT_SIGNAL},
                        {.kind = WAIT_TIMER, .deadline_at_ms = 50},
                        {.kind = WAIT_EVENT, .deadline_at_ms = 20}};
    assert_int_equal(wait_set_deadline(&(WaitSet){.mode = WAIT_FIRST, .items = items, .count = 3}),
                     20);
    assert_int_equal(wait_set_deadline(&(WaitSet){.mode = WAIT_FIRST, .items = items, .count = 2}),
                     50);
    assert_int_equal(wait_set_deadline(&(WaitSet){.mode = WAIT_FIRST, .items = items, .count = 1}),
                     0);
    assert_int_equal(wait_set_deadline(&(WaitSet){.mode = WAIT_FIRST, .items = NULL, .count = 0}),
                     0);
}

static bool is_idle(WaitKind first, WaitKind second) {
    WaitItem items[] = {{.kind = first}, {.kind = second}};
    return wait_set_is_idle(&(WaitSet){.mode = WAIT_FIRST, .items = items, .count = 2});
}

static void idle_needs_an_outside_wait_and_nothing_under_way(void **state) {
    (void)state;
    assert_true(is_idle(WAIT_SIGNAL, WAIT_TIMER));
    assert_true(is_idle(WAIT_TIMER, WAIT_EVENT));
    assert_true(is_idle(WAIT_EVENT, WAIT_CHILD));
    assert_false(is_idle(WAIT_TIMER, WAIT_TIMER));
    assert_false(is_idle(WAIT_SIGNAL, WAIT_RETRY));
    assert_false(is_idle(WAIT_TASK, WAIT_EVENT));
    assert_false(is_idle(WAIT_CHILD, WAIT_TIMER));
    assert_false(wait_set_is_idle(&(WaitSet){.mode = WAIT_FIRST, .items = NULL, .count = 0}));
}

// A set of waits for tasks of these targets, as it comes back from the store.
static WaitSet stored_set(Arena *arena, const int64_t *targets, size_t count) {
    WaitSet set = {.mode = WAIT_EACH, .items = ARENA_ARRAY(arena, WaitItem, count), .count = count};
    for (size_t i = 0; i < count; i++)
        set.items[i] = (WaitItem){.kind = WAIT_TASK, .slot = (int64_t)i, .target = targets[i]};
    WaitSet stored;
    assert_int_equal(wait_set_decode(arena, wait_set_encode(arena, &set), &stored), OK);
    return stored;
}

static void a_target_is_found_in_any_order_of_the_set(void **state) {
    static const int64_t orders[][5] = {{2, 4, 6, 8, 10}, {10, 8, 6, 4, 2}, {6, 10, 2, 8, 4}};
    for (size_t i = 0; i < COUNT_OF(orders); i++) {
        WaitSet set = stored_set(*state, orders[i], 5);
        assert_int_equal(set.is_ascending, i == 0);
        for (int64_t place = 0; place < 5; place++) {
            const WaitItem *found = wait_set_find(&set, WAIT_TASK, orders[i][place]);
            assert_non_null(found);
            assert_int_equal(found->slot, place);
            assert_null(wait_set_find(&set, WAIT_CHILD, orders[i][place]));
            assert_null(wait_set_find(&set, WAIT_TASK, orders[i][place] + 1));
        }
        assert_null(wait_set_find(&set, WAIT_TASK, 0));
    }
}

static void of_two_waits_for_one_task_the_first_is_found(void **state) {
    WaitSet set = stored_set(*state, (int64_t[]){1, 5, 5, 5, 9}, 5);
    assert_false(set.is_ascending);
    assert_int_equal(wait_set_find(&set, WAIT_TASK, 5)->slot, 1);
}

static void wait_kinds_have_names(void **state) {
    (void)state;
    assert_string_equal(wait_kind_name(WAIT_SIGNAL), "signal");
    assert_string_equal(wait_kind_name(0), "unknown");
    assert_string_equal(wait_kind_name(WAIT_KIND_COUNT), "unknown");
}

#define WAITS_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        WAITS_TEST(every_field_comes_back),
        WAITS_TEST(tasks_and_children_are_called_by_id_and_by_name),
        WAITS_TEST(decoded_text_does_not_point_into_the_bytes),
        WAITS_TEST(an_empty_set_is_a_set),
        WAITS_TEST(a_wait_for_one_signal_is_about_twenty_bytes),
        WAITS_TEST(cut_bytes_are_corrupt),
        WAITS_TEST(bytes_after_the_end_are_corrupt),
        WAITS_TEST(other_versions_modes_and_kinds_are_corrupt),
        WAITS_TEST(a_count_beyond_the_bytes_allocates_nothing),
        WAITS_TEST(damaged_bytes_never_do_more_than_fail),
        WAITS_TEST(the_deadline_is_the_earliest_that_is_set),
        WAITS_TEST(idle_needs_an_outside_wait_and_nothing_under_way),
        WAITS_TEST(a_target_is_found_in_any_order_of_the_set),
        WAITS_TEST(of_two_waits_for_one_task_the_first_is_found),
        WAITS_TEST(wait_kinds_have_names),
    };
    return cmocka_run_group_tests_name("model waits", tests, NULL, NULL);
}

// Pending events and signals through the C library: looked into, and removed. Compiled once per
// store.
#include "unit/api/api.h"

typedef struct Seen {
    char text[256]; // "name=payload;" of each
    int64_t last_id;
    int taken_count;
} Seen;

static int see(void *user, const abide_pending *pending) {
    Seen *seen = user;
    size_t len = strlen(seen->text);
    snprintf(seen->text + len, sizeof seen->text - len, "%s=%s;",
             pending->name ? pending->name : "-", pending->payload);
    seen->last_id = pending->id;
    seen->taken_count += pending->is_taken;
    return 0;
}

static Seen list_events(Fixture *fixture, int limit, int64_t after) {
    Seen seen = {0};
    assert_int_equal(abide_list_events(fixture->engine, "topic", after, limit, see, &seen, NULL),
                     ABIDE_OK);
    return seen;
}

static void emit(Fixture *fixture, const char *payload, int expected) {
    assert_int_equal(abide_emit(fixture->engine, "topic", payload, NULL, NULL, NULL), expected);
}

static void a_full_topic_is_looked_into_and_emptied(void **state) {
    Fixture *fixture = *state;
    put_to_work(fixture);
    abide_topic_policy policy = {.cap = 3};
    assert_int_equal(abide_set_topic(fixture->engine, "topic", &policy, NULL), ABIDE_OK);
    emit(fixture, "1", ABIDE_OK);
    emit(fixture, "2", ABIDE_OK);
    emit(fixture, "3", ABIDE_OK);
    emit(fixture, "4", ABIDE_LIMIT);
    int64_t removed;
    Seen first = list_events(fixture, 1, 0);
    assert_string_equal(first.text, "-=1;");
    assert_string_equal(list_events(fixture, 0, first.last_id).text, "-=2;-=3;");
    abide_error error;
    abide_engine *engine = fixture->engine;
    assert_int_equal(abide_remove_events(engine, "topic", first.last_id, &removed, &error),
                     ABIDE_OK);
    assert_int_equal(removed, 1);
    assert_int_equal(abide_remove_events(engine, "topic", first.last_id, NULL, &error),
                     ABIDE_NOT_FOUND);
    assert_string_equal(error.name, "EVENT_NOT_FOUND");
    emit(fixture, "4", ABIDE_OK);
    assert_int_equal(abide_remove_events(engine, "topic", 0, &removed, &error), ABIDE_OK);
    assert_int_equal(removed, 3);
    assert_string_equal(list_events(fixture, 0, 0).text, "");
}

static void more_events_than_one_operation_removes_are_all_removed(void **state) {
    Fixture *fixture = *state;
    put_to_work(fixture);
    for (int i = 0; i < 600; i++) emit(fixture, "1", ABIDE_OK);
    int64_t removed;
    assert_int_equal(abide_remove_events(fixture->engine, "topic", 0, &removed, NULL), ABIDE_OK);
    assert_int_equal(removed, 600);
}

static int wait_for_two(abide_ctx *ctx, const char *input) {
    (void)input;
    const char *payload;
    ABIDE_TRY(abide_await_event(ctx, "topic", NULL, &payload));
    ABIDE_TRY(abide_await_event(ctx, "topic", NULL, &payload));
    return abide_complete(ctx, payload);
}

static void a_broadcast_that_was_taken_is_shown_as_such(void **state) {
    Fixture *fixture = *state;
    add_workflow(fixture, "waiter", wait_for_two, NULL);
    put_to_work(fixture);
    abide_topic_policy policy = {.consume = ABIDE_CONSUME_ALL, .cap = 1};
    assert_int_equal(abide_set_topic(fixture->engine, "topic", &policy, NULL), ABIDE_OK);
    start(fixture, "waiter", "r", NULL);
    wait_parked(fixture, "r", "event:topic");
    emit(fixture, "1", ABIDE_OK);
    wait_parked(fixture, "r", "event:topic");
    assert_int_equal(list_events(fixture, 0, 0).taken_count, 1);
    emit(fixture, "2", ABIDE_OK); // although one is kept, and one is all that is
    expect_result(fixture, "r", ABIDE_OK, "2");
    assert_string_equal(list_events(fixture, 0, 0).text, "-=2;");
}

static void signals_that_were_not_taken_are_listed_and_removed(void **state) {
    Fixture *fixture = *state;
    abide_engine *engine = fixture->engine;
    add_workflow(fixture, "waiter", wait_for_two, NULL);
    put_to_work(fixture);
    start(fixture, "waiter", "r", NULL);
    static const char *const names[] = {"a", "b", "a", "b"};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(abide_signal(engine, "r", names[i], "1", NULL, NULL), ABIDE_OK);
    }
    Seen seen = {0};
    abide_error error;
    assert_int_equal(abide_list_signals(engine, "r", 0, 0, see, &seen, &error), ABIDE_OK);
    assert_string_equal(seen.text, "a=1;b=1;a=1;b=1;");
    int64_t removed;
    assert_int_equal(abide_remove_signals(engine, "r", NULL, seen.last_id, &removed, &error),
                     ABIDE_OK);
    assert_int_equal(abide_remove_signals(engine, "r", "a", 0, &removed, &error), ABIDE_OK);
    assert_int_equal(removed, 2);
    assert_int_equal(abide_remove_signals(engine, "r", NULL, 0, &removed, &error), ABIDE_OK);
    assert_int_equal(removed, 1);
    assert_int_equal(abide_remove_signals(engine, "nobody", NULL, 0, NULL, &error),
                     ABIDE_NOT_FOUND);
    assert_int_equal(abide_list_signals(engine, "nobody", 0, 0, see, &seen, &error),
                     ABIDE_NOT_FOUND);
}

static void bad_arguments_are_refused(void **state) {
    Fixture *fixture = *state;
    abide_engine *engine = fixture->engine;
    abide_error error;
    Seen seen = {0};
    assert_int_equal(abide_list_events(engine, NULL, 0, 0, see, &seen, &error), ABIDE_INVALID);
    assert_int_equal(abide_list_events(engine, "t", 0, 1001, see, &seen, &error), ABIDE_INVALID);
    assert_int_equal(abide_list_signals(engine, "r", 0, 0, NULL, NULL, &error), ABIDE_INVALID);
    assert_int_equal(abide_remove_events(engine, "t", -1, NULL, &error), ABIDE_INVALID);
    assert_int_equal(abide_remove_events(NULL, "t", 0, NULL, &error), ABIDE_INVALID);
    assert_int_equal(abide_remove_signals(engine, "r", "\x01", 0, NULL, &error), ABIDE_INVALID);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_full_topic_is_looked_into_and_emptied),
        TEST(more_events_than_one_operation_removes_are_all_removed),
        TEST(a_broadcast_that_was_taken_is_shown_as_such),
        TEST(signals_that_were_not_taken_are_listed_and_removed),
        TEST(bad_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

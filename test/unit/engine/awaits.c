// Awaits: each is answered exactly once, by the end of its run or by its deadline.
#include "engine/world/awaits.h"
#include "unit/unit.h"

enum { WAITERS = 3 };

typedef struct Waiter {
    Await await;
    int answer_count;
} Waiter;

typedef struct Fixture {
    Store *store;
    Awaits awaits;
    Waiter waiters[WAITERS];
} Fixture;

static void done(Await *await) { container_of(await, Waiter, await)->answer_count++; }

static int awaits_new(void **state) {
    static Fixture fixture;
    fixture = (Fixture){0};
    Diag diag;
    assert_ok(store_open(STR("memory:"), NULL, &fixture.store, &diag));
    Arena arena;
    arena_init(&arena);
    Batch batch;
    batch_init(&batch, &arena, 1000);
    for (int i = 0; i < 2; i++)
        batch_add(&batch, OP_CREATE_RUN)->in.create_run.spec =
            (RunSpec){.id = i == 0 ? STR("a") : STR("b"),
                      .workflow = STR("w"),
                      .kind = RUN_NATIVE,
                      .keep_ms = -1};
    assert_ok(store_commit(fixture.store, &batch, &diag));
    arena_done(&arena);
    awaits_init(&fixture.awaits, fixture.store);
    static const char *const ids[WAITERS] = {"a", "a", "b"};
    for (int i = 0; i < WAITERS; i++) {
        Await *await = &fixture.waiters[i].await;
        *await = (Await){.run_id = str_from(ids[i]), .done = done, .deadline.at = 2000 + i};
        list_init(&await->link);
        awaits_add(&fixture.awaits, await);
    }
    *state = &fixture;
    return 0;
}

static int awaits_free(void **state) {
    Fixture *fixture = *state;
    awaits_close(&fixture->awaits);
    awaits_done(&fixture->awaits);
    store_close(fixture->store);
    return 0;
}

static void assert_answers(const Fixture *fixture, int first, int second, int third) {
    assert_int_equal(fixture->waiters[0].answer_count, first);
    assert_int_equal(fixture->waiters[1].answer_count, second);
    assert_int_equal(fixture->waiters[2].answer_count, third);
}

static void all_who_wait_for_a_run_learn_of_its_end(void **state) {
    Fixture *fixture = *state;
    awaits_ended(&fixture->awaits, STR("a"), RUN_COMPLETED);
    assert_answers(fixture, 1, 1, 0);
    assert_ok(fixture->waiters[1].await.status);
    assert_int_equal(fixture->waiters[1].await.state, RUN_COMPLETED);
    awaits_ended(&fixture->awaits, STR("a"), RUN_COMPLETED);
    assert_answers(fixture, 1, 1, 0);
    assert_int_equal(awaits_next_ms(&fixture->awaits), 2002);
}

static void deadlines_come_one_by_one(void **state) {
    Fixture *fixture = *state;
    awaits_expire(&fixture->awaits, 1999);
    assert_answers(fixture, 0, 0, 0);
    awaits_expire(&fixture->awaits, 2000);
    assert_answers(fixture, 1, 0, 0);
    assert_int_equal(fixture->waiters[0].await.status, ERR_LIMIT);
    awaits_expire(&fixture->awaits, 3000);
    assert_answers(fixture, 1, 1, 1);
    assert_int_equal(awaits_next_ms(&fixture->awaits), INT64_MAX);
}

static void one_that_is_forgotten_is_not_answered(void **state) {
    Fixture *fixture = *state;
    awaits_forget(&fixture->awaits, &fixture->waiters[0].await);
    awaits_call_off(&fixture->awaits, &fixture->waiters[2].await);
    assert_answers(fixture, 0, 0, 1);
    awaits_ended(&fixture->awaits, STR("a"), RUN_FAILED);
    assert_answers(fixture, 0, 1, 1);
}

static void run_that_nobody_has_is_answered_at_once(void **state) {
    Fixture *fixture = *state;
    Waiter late = {.await = {.run_id = STR("none"), .done = done, .deadline.at = 5000}};
    list_init(&late.await.link);
    awaits_add(&fixture->awaits, &late.await);
    assert_int_equal(late.answer_count, 1);
    assert_int_equal(late.await.status, ERR_NOT_FOUND);
}

static void closing_refuses_those_who_wait_and_those_who_come(void **state) {
    Fixture *fixture = *state;
    awaits_close(&fixture->awaits);
    assert_answers(fixture, 1, 1, 1);
    assert_int_equal(fixture->waiters[0].await.status, ERR_CLOSED);
    awaits_add(&fixture->awaits, &fixture->waiters[0].await);
    assert_answers(fixture, 2, 1, 1);
}

static void end_that_was_missed_is_found_by_looking(void **state) {
    Fixture *fixture = *state;
    awaits_recheck(&fixture->awaits);
    assert_answers(fixture, 0, 0, 0);
    Arena arena;
    arena_init(&arena);
    Batch batch;
    Diag diag;
    batch_init(&batch, &arena, 1500);
    batch_add(&batch, OP_CANCEL)->in.cancel.run_id = STR("b");
    assert_ok(store_commit(fixture->store, &batch, &diag));
    arena_done(&arena);
    awaits_recheck(&fixture->awaits);
    assert_answers(fixture, 0, 0, 1);
    assert_int_equal(fixture->waiters[2].await.state, RUN_CANCELLED);
}

#define AWAITS_TEST(name) cmocka_unit_test_setup_teardown(name, awaits_new, awaits_free)

int main(void) {
    const struct CMUnitTest tests[] = {
        AWAITS_TEST(all_who_wait_for_a_run_learn_of_its_end),
        AWAITS_TEST(deadlines_come_one_by_one),
        AWAITS_TEST(one_that_is_forgotten_is_not_answered),
        AWAITS_TEST(run_that_nobody_has_is_answered_at_once),
        AWAITS_TEST(closing_refuses_those_who_wait_and_those_who_come),
        AWAITS_TEST(end_that_was_missed_is_found_by_looking),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

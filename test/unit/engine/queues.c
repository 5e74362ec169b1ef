// Intake and Pace: the order of what waits for a batch, and how large a batch may be.
#include "base/limits.h"
#include "engine/commits/intake.h"
#include "engine/commits/pace.h"
#include "unit/unit.h"

// ---- intake ----

static void what_is_given_back_goes_first_in_its_order(void **state) {
    (void)state;
    Intake intake;
    Request requests[4] = {0};
    intake_init(&intake);
    for (int i = 0; i < 4; i++) {
        list_init(&requests[i].link);
        intake_add_request(&intake, &requests[i], INTAKE_BACK);
    }
    Request *first = intake_take_request(&intake), *second = intake_take_request(&intake);
    assert_ptr_equal(first, &requests[0]);
    intake_add_request(&intake, second, INTAKE_FRONT); // the last of them first
    intake_add_request(&intake, first, INTAKE_FRONT);
    assert_int_equal(intake.request_count, 4);
    for (int i = 0; i < 4; i++) assert_ptr_equal(intake_take_request(&intake), &requests[i]);
    assert_null(intake_take_request(&intake));
    assert_true(intake_is_empty(&intake));
    intake_done(&intake);
}

static void reports_of_workers_are_a_queue_of_their_own(void **state) {
    (void)state;
    Intake intake;
    Request requests[4] = {0};
    static const OpKind kinds[] = {OP_COMPLETE_TASK, OP_FAIL_TASK, OP_HEARTBEAT_TASK,
                                   OP_CREATE_RUN};
    intake_init(&intake);
    for (int i = 0; i < 4; i++) {
        list_init(&requests[i].link);
        requests[i].op.kind = kinds[i];
        intake_add_request(&intake, &requests[i], INTAKE_BACK);
    }
    assert_int_equal(intake.report_count, 3);
    assert_ptr_equal(intake_take_request(&intake), &requests[3]); // it waits for none of them
    assert_ptr_equal(intake_take_report(&intake), &requests[0]);
    assert_true(intake_is_waited_for(&intake));
    for (int i = 1; i < 3; i++) assert_ptr_equal(intake_take_either(&intake), &requests[i]);
    assert_true(intake_is_empty(&intake));
    intake_done(&intake);
}

// ---- pace ----

enum { MS = 1000000 };

// One that was gathered when the store was free.
static void commit_took(Pace *pace, size_t count, uint64_t took_ns) {
    pace_good(pace, count, pace->free_ns, pace->free_ns + took_ns);
}

static void slow_commit_makes_the_next_one_smaller(void **state) {
    (void)state;
    Pace pace;
    pace_init(&pace);
    pace.most = 400;
    commit_took(&pace, 400, 2 * PACE_COMMIT_MS * MS);
    assert_int_equal(pace_most(&pace), 200);
    commit_took(&pace, 200, 2000 * MS); // it may have been the machine
    assert_int_equal(pace_most(&pace), 50);
    commit_took(&pace, 50, 60000ull * MS);
    assert_int_equal(pace_most(&pace), 32);
    commit_took(&pace, 32, PACE_COMMIT_MS * MS); // about right
    assert_int_equal(pace_most(&pace), 32);
}

static void quick_commit_doubles_the_next_one_up_to_the_limit(void **state) {
    (void)state;
    Pace pace;
    pace_init(&pace);
    for (int i = 0; i < 20; i++) commit_took(&pace, pace_most(&pace), 1 * MS);
    assert_int_equal(pace_most(&pace), LIMIT_BATCH_OPS);
}

static void small_commits_do_not_make_room_for_a_burst(void **state) {
    (void)state;
    Pace pace;
    pace_init(&pace);
    size_t most = pace_most(&pace);
    for (int i = 0; i < 100; i++) commit_took(&pace, 8, 1 * MS);
    assert_int_equal(pace_most(&pace), most);
    commit_took(&pace, 60, 590 * MS); // what it took counts for what was in it
    assert_int_equal(pace_most(&pace), most / 4);
}

static void slow_flushes_are_shared_by_large_batches(void **state) {
    (void)state;
    Pace pace;
    pace_init(&pace);
    for (int i = 0; i < 20; i++) commit_took(&pace, 1, 400 * MS);
    for (int i = 0; i < 20; i++) commit_took(&pace, pace_most(&pace), 390 * MS);
    assert_int_equal(pace_most(&pace), LIMIT_BATCH_OPS);
}

static void what_is_spent_behind_another_commit_does_not_count(void **state) {
    (void)state;
    Pace pace;
    pace_init(&pace);
    size_t most = pace_most(&pace);
    for (int i = 0; i < 20; i++) { // two out at a time: a large one, and a small one behind it
        uint64_t began_ns = pace.free_ns;
        pace_good(&pace, most, began_ns, began_ns + (PACE_COMMIT_MS - 1ull) * MS);
        pace_good(&pace, 1, began_ns, began_ns + PACE_COMMIT_MS * (uint64_t)MS);
    }
    assert_int_equal(pace_most(&pace), most);
    commit_took(&pace, most, 400 * MS);
    assert_int_equal(pace_most(&pace), most / 4);
}

static void failed_commit_is_not_held_against_the_next_one(void **state) {
    (void)state;
    Pace pace;
    pace_init(&pace);
    size_t most = pace_most(&pace);
    pace_failed(&pace, 60000ull * MS);
    pace_good(&pace, most, 0, 60001ull * MS);
    assert_int_equal(pace_most(&pace), 2 * most);
}

static void one_stall_of_the_machine_is_no_slow_store(void **state) {
    (void)state;
    Pace pace;
    pace_init(&pace);
    commit_took(&pace, 1, 8000ull * MS);
    commit_took(&pace, pace_most(&pace), 400 * MS);
    assert_int_equal(pace_most(&pace), 64);
}

static void refused_batch_comes_in_halves_down_to_one(void **state) {
    (void)state;
    Pace pace;
    pace_init(&pace);
    assert_false(pace_is_cut(&pace));
    pace_refused(&pace, 9);
    assert_true(pace_is_cut(&pace));
    assert_int_equal(pace_most(&pace), 4);
    pace_refused(&pace, 1);
    assert_int_equal(pace_most(&pace), 1);
    for (int i = 0; i < 20; i++) commit_took(&pace, 1, 1 * MS);
    assert_false(pace_is_cut(&pace));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_given_back_goes_first_in_its_order),
        cmocka_unit_test(reports_of_workers_are_a_queue_of_their_own),
        cmocka_unit_test(slow_commit_makes_the_next_one_smaller),
        cmocka_unit_test(quick_commit_doubles_the_next_one_up_to_the_limit),
        cmocka_unit_test(small_commits_do_not_make_room_for_a_burst),
        cmocka_unit_test(slow_flushes_are_shared_by_large_batches),
        cmocka_unit_test(what_is_spent_behind_another_commit_does_not_count),
        cmocka_unit_test(failed_commit_is_not_held_against_the_next_one),
        cmocka_unit_test(one_stall_of_the_machine_is_no_slow_store),
        cmocka_unit_test(refused_batch_comes_in_halves_down_to_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// What rows say with the sign of a number is asked and set in one place.
#include "model/marks.h"
#include "unit/unit.h"

static void a_run_is_reserved_owned_or_nobodys(void **state) {
    (void)state;
    RunRow run = {.state = RUN_RUNNING, .owner = -5};
    assert_true(run_is_reserved(&run));
    assert_false(run_has_owner(&run));
    assert_true(run_is_ready(&run));
    run.owner = 5;
    assert_false(run_is_reserved(&run));
    assert_true(run_has_owner(&run));
    assert_false(run_is_ready(&run));
    run.owner = 0;
    assert_false(run_is_reserved(&run));
    assert_false(run_has_owner(&run));
    assert_true(run_is_ready(&run));
}

static void a_cancellation_is_told_once(void **state) {
    (void)state;
    RunRow run = {0};
    run_mark_cancel_told(&run);
    assert_false(run_is_cancel_wanted(&run));
    run.cancel_at_ms = 1000;
    assert_true(run_is_cancel_untold(&run));
    for (int i = 0; i < 2; i++) {
        run_mark_cancel_told(&run);
        assert_true(run_is_cancel_wanted(&run));
        assert_false(run_is_cancel_untold(&run));
    }
}

static void lost_executions_are_counted_once(void **state) {
    (void)state;
    RunRow run = {0};
    assert_true(run_is_loss_uncounted(&run));
    run_count_loss(&run);
    assert_int_equal(run_lost(&run), 1);
    assert_false(run_is_loss_uncounted(&run));
    run_note_attempt(&run);
    assert_true(run_is_attempt_noted(&run));
    assert_true(run_is_loss_uncounted(&run));
    assert_int_equal(run_lost(&run), 1);
    run_count_loss(&run);
    assert_int_equal(run_lost(&run), 2);
    assert_false(run_is_attempt_noted(&run));
    run_note_attempt(&run);
    run_end_attempt(&run);
    assert_int_equal(run_lost(&run), 2);
    assert_false(run_is_attempt_noted(&run));
}

static void what_is_kept_for_ever_is_never_purged(void **state) {
    (void)state;
    RunRow run = {.keep_ms = KEEP_FOR_EVER};
    assert_int_equal(run_purge_at_ms(&run, 1000), 0);
    run.keep_ms = 0;
    assert_int_equal(run_purge_at_ms(&run, 1000), 1000);
    run.keep_ms = 50;
    assert_int_equal(run_purge_at_ms(&run, 1000), 1050);
}

static void a_fenced_node_remembers_when(void **state) {
    (void)state;
    NodeRow node = {.lease_until_ms = 2000};
    assert_false(node_is_fenced(&node));
    assert_int_equal(node_end_ms(&node), 2000);
    node_mark_fenced(&node, 1500);
    assert_true(node_is_fenced(&node));
    assert_int_equal(node_end_ms(&node), 1500);
}

static void the_first_position_is_one(void **state) {
    (void)state;
    assert_true(log_has_position(&(LogRow){.position = 0}));
    assert_false(log_has_position(&(LogRow){.position = NO_POSITION}));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_is_reserved_owned_or_nobodys),
        cmocka_unit_test(a_cancellation_is_told_once),
        cmocka_unit_test(lost_executions_are_counted_once),
        cmocka_unit_test(what_is_kept_for_ever_is_never_purged),
        cmocka_unit_test(a_fenced_node_remembers_when),
        cmocka_unit_test(the_first_position_is_one),
    };
    return cmocka_run_group_tests_name("marks", tests, NULL, NULL);
}

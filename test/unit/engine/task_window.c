// TaskWindow: how many tasks are asked for, by how fast they went.
#include "engine/work/task_window.h"
#include "engine/work/tasks.h"
#include "unit/unit.h"

static TaskWindow window_of(int64_t first, int64_t max) {
    TaskWindow window;
    task_window_init(&window, first, max);
    return window;
}

static void answer(TaskWindow *window, int64_t asked, int64_t count) {
    task_window_answered(window, &(TaskClaimAnswer){.asked = asked, .count = count});
    for (int64_t i = 0; i < count; i++) task_window_began(window);
}

static void batch_asks_for_what_it_makes_and_half_of_the_rest(void **state) {
    (void)state;
    TaskWindow window = window_of(16, 64);
    task_window_note_tasks(&window);
    assert_int_equal(task_window_ask(&window, 4, 1000), 10);
    assert_int_equal(task_window_room(&window), 6);
    assert_int_equal(task_window_ask(&window, 0, 1000), 3);
    assert_int_equal(task_window_ask(&window, 10, 1000), 3); // all the room there is
    assert_int_equal(task_window_room(&window), 0);
}

static void without_waiting_tasks_only_made_ones_are_asked_for(void **state) {
    (void)state;
    TaskWindow window = window_of(16, 64);
    assert_int_equal(task_window_ask(&window, 4, 1000), 4);
    task_window_answered(&window, &(TaskClaimAnswer){.asked = 4, .made = 4, .count = 4});
    assert_false(window.has_tasks); // it says nothing of others
}

static void claim_of_others_that_got_all_wants_another(void **state) {
    (void)state;
    TaskWindow window = window_of(16, 64);
    task_window_note_tasks(&window);
    int64_t asked = task_window_ask(&window, 4, 1000);
    assert_int_equal(asked, 10);
    answer(&window, asked, asked);
    assert_true(window.has_tasks); // it got all it asked for: there may be more
}

static void tasks_that_wait_are_not_forgotten_for_lack_of_room(void **state) {
    (void)state;
    TaskWindow window = window_of(4, 16);
    task_window_note_tasks(&window);
    assert_int_equal(task_window_ask(&window, 4, 1000), 4);
    task_window_answered(&window, &(TaskClaimAnswer){.asked = 4, .made = 4, .count = 4});
    assert_true(window.has_tasks);
}

static void window_doubles_when_half_was_done_and_more_is_there(void **state) {
    (void)state;
    TaskWindow window = window_of(4, 16);
    task_window_note_tasks(&window);
    for (int i = 0; i < 10; i++) {
        int64_t asked = task_window_ask(&window, window.size, 1000);
        answer(&window, asked, asked);
        for (int64_t j = 0; j < asked; j++) task_window_ended(&window);
    }
    assert_int_equal(window.size, 16); // and never beyond its maximum
    task_window_slow(&window);
    task_window_slow(&window);
    task_window_slow(&window);
    assert_int_equal(window.size, 4); // nor below its first size
}

static void window_that_shrinks_has_no_room_rather_than_less(void **state) {
    (void)state;
    TaskWindow window = window_of(4, 16);
    window.size = 16;
    for (int i = 0; i < 16; i++) task_window_began(&window);
    task_window_slow(&window);
    assert_int_equal(task_window_room(&window), 0);
}

static void word_that_comes_during_a_claim_wants_another(void **state) {
    (void)state;
    TaskWindow window = window_of(16, 16);
    task_window_note_tasks(&window);
    int64_t asked = task_window_ask(&window, 0, 1000);
    task_window_hear(&window);
    answer(&window, asked, 0);
    assert_true(window.has_tasks);
    asked = task_window_ask(&window, 0, 1000);
    answer(&window, asked, 0);
    assert_false(window.has_tasks);
}

static void claim_that_was_undone_is_made_again(void **state) {
    (void)state;
    TaskWindow window = window_of(16, 16);
    task_window_note_tasks(&window);
    task_window_undo(&window, task_window_ask(&window, 0, 1000));
    assert_int_equal(window.asked, 0);
    assert_true(window.has_tasks);
    task_window_forget(&window, task_window_ask(&window, 0, 1000));
    assert_int_equal(window.asked, 0);
}

// A commit that is lost may carry claims of workers outside, which the window knows nothing of.
static void only_our_own_claims_of_a_lost_commit_are_forgotten(void **state) {
    (void)state;
    Tasks tasks = {.window = window_of(16, 16)};
    Request request = {0};
    Op theirs = {.kind = OP_CLAIM_TASKS}, ours = {.kind = OP_CLAIM_TASKS};
    theirs.in.claim_tasks.max = 500;
    ours.in.claim_tasks.max = task_window_ask(&tasks.window, 4, 1000);
    CommitItem items[] = {{.op = &theirs, .request = &request}, {.op = &ours}};
    Commit commit = {.items = {.data = items, .count = 2}};
    tasks_forget_claims(&tasks, &commit);
    assert_int_equal(tasks.window.asked, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batch_asks_for_what_it_makes_and_half_of_the_rest),
        cmocka_unit_test(without_waiting_tasks_only_made_ones_are_asked_for),
        cmocka_unit_test(claim_of_others_that_got_all_wants_another),
        cmocka_unit_test(tasks_that_wait_are_not_forgotten_for_lack_of_room),
        cmocka_unit_test(window_doubles_when_half_was_done_and_more_is_there),
        cmocka_unit_test(window_that_shrinks_has_no_room_rather_than_less),
        cmocka_unit_test(word_that_comes_during_a_claim_wants_another),
        cmocka_unit_test(claim_that_was_undone_is_made_again),
        cmocka_unit_test(only_our_own_claims_of_a_lost_commit_are_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

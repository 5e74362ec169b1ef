// Ids of tasks that a turn starts: derived from the run, the incarnation and the place in it.
#include "base/array.h"
#include "engine/runners/runner.h"
#include "model/tasks/id.h"
#include "unit/unit.h"

#define MADE           "run_01jczk7v9m4q8r2t6w0x5y3z1a"
#define ORDER_1_DIGEST "0bafe22156d2698c143b86040446d366"

static Arena arena;

static int arena_begin(void **state) {
    (void)state;
    arena_init(&arena);
    return 0;
}

static int arena_end(void **state) {
    (void)state;
    arena_done(&arena);
    return 0;
}

static Str id_of(const char *run, int64_t incarnation, int64_t position) {
    RunView view = {.key = 42, .id = str_from(run), .incarnation = incarnation};
    return task_id_at(&arena, &view, position);
}

static void a_made_run_id_stands_in_the_ids_of_its_tasks(void **state) {
    (void)state;
    assert_str_equal(id_of(MADE, 0, 7), "task_01jczk7v9m4q8r2t6w0x5y3z1an7");
    assert_str_equal(id_of(MADE, 2, 7), "task_01jczk7v9m4q8r2t6w0x5y3z1ax2n7");
}

static void another_run_id_stands_there_as_a_digest_with_the_key(void **state) {
    (void)state;
    assert_str_equal(id_of("order-1", 0, 1), "task_" ORDER_1_DIGEST "k42n1");
    assert_str_equal(id_of("order-1", 1, 12), "task_" ORDER_1_DIGEST "k42x1n12");
}

static void an_id_leads_back_to_its_place(void **state) {
    (void)state;
    static const char *const runs[] = {MADE, "order-1"};
    for (size_t i = 0; i < COUNT_OF(runs); i++)
        for (int64_t incarnation = 0; incarnation < 2; incarnation++) {
            TaskPlace place;
            assert_true(task_id_read(&arena, id_of(runs[i], incarnation, 31), &place));
            if (i == 0) assert_str_equal(place.run_id, MADE);
            else assert_int_equal(place.run_key, 42);
            assert_int_equal(str_is_null(place.run_id), i == 1);
            assert_int_equal(place.incarnation, incarnation);
            assert_int_equal(place.position, 31);
            Str id = id_of(runs[i], incarnation, 31);
            assert_true(task_id_leads_to(id, str_from(runs[i]), 42));
            assert_int_equal(task_id_leads_to(id, STR("order-2"), 42), i == 1);
            assert_int_equal(task_id_leads_to(id, str_from(runs[i]), 43), i == 0);
        }
}

static void what_is_no_id_of_a_run_leads_nowhere(void **state) {
    (void)state;
    static const char *const others[] = {"",
                                         "task_",
                                         "task:key",
                                         "task_01jczk7v9m4q8r2t6w0x5y3z1a",
                                         "task_01jczk7v9m4q8r2t6w0x5y3z1an",
                                         "task_01jczk7v9m4q8r2t6w0x5y3z1an7 ",
                                         "task_01JCZK7V9M4Q8R2T6W0X5Y3Z1An7",
                                         "task_" ORDER_1_DIGEST,
                                         "task_" ORDER_1_DIGEST "n1",
                                         "task_" ORDER_1_DIGEST "kn1",
                                         "task_" ORDER_1_DIGEST "k99999999999999999999n1"};
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        TaskPlace place;
        assert_false(task_id_read(&arena, str_from(others[i]), &place));
    }
}

// What looks like an id of ours, but is none in every character, does not get into a task's id.
static void a_run_id_that_is_almost_made_is_a_digest(void **state) {
    (void)state;
    static const char *const almost[] = {"run_01jczk7v9m4q8r2t6w0x5y3z1", MADE "a",
                                         "run_01JCZK7V9M4Q8R2T6W0X5Y3Z1A",
                                         "run_01jczk7v9m4q8r2t6w0x5y3z-a"};
    for (size_t i = 0; i < COUNT_OF(almost); i++)
        assert_int_equal(id_of(almost[i], 0, 1).len, strlen("task_") + 32 + strlen("k42n1"));
}

static void a_log_entry_knows_them_as_ids(void **state) {
    (void)state;
    static const char *const runs[] = {MADE, "order-1"};
    for (size_t i = 0; i < COUNT_OF(runs); i++)
        for (int64_t incarnation = 0; incarnation < 2; incarnation++) {
            LogRow entry = {.kind = LOG_WAIT, .name = id_of(runs[i], incarnation, 3)};
            assert_true(str_equal(log_entry_target(&entry), entry.name));
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_made_run_id_stands_in_the_ids_of_its_tasks),
        cmocka_unit_test(another_run_id_stands_there_as_a_digest_with_the_key),
        cmocka_unit_test(an_id_leads_back_to_its_place),
        cmocka_unit_test(what_is_no_id_of_a_run_leads_nowhere),
        cmocka_unit_test(a_run_id_that_is_almost_made_is_a_digest),
        cmocka_unit_test(a_log_entry_knows_them_as_ids),
    };
    return cmocka_run_group_tests(tests, arena_begin, arena_end);
}

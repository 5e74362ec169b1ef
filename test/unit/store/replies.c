// Replies are read after their batch is gone: under a sanitizer anything left behind shows.
#include "model/tables.h"
#include "store/batch.h"
#include "unit/unit.h"

typedef struct Fixture {
    Arena batch, kept;
    Op op;
} Fixture;

static int setup(void **state) {
    Fixture *f = calloc(1, sizeof(Fixture));
    arena_init(&f->batch);
    arena_init(&f->kept);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    Fixture *f = *state;
    arena_done(&f->kept);
    arena_done(&f->batch);
    free(f);
    return 0;
}

static Str text(Fixture *f, const char *words) { return arena_str(&f->batch, str_from(words)); }

// A row whose every text is "<column>".
static void *rows_full(Fixture *f, TableNumber number, size_t count) {
    const Table *table = &tables[number];
    char *rows = arena_zalloc(&f->batch, count * table->row_size);
    for (size_t i = 0; i < count; i++)
        for (uint8_t column = 0; column < table->column_count; column++) {
            const Column *it = &table->columns[column];
            if (it->type == COLUMN_I64) row_set_i64(rows + i * table->row_size, it, (int64_t)i + 7);
            else row_set_str(rows + i * table->row_size, it, text(f, it->name));
        }
    return rows;
}

static void assert_rows_full(TableNumber number, const void *rows, size_t count) {
    const Table *table = &tables[number];
    for (size_t i = 0; i < count; i++)
        for (uint8_t column = 0; column < table->column_count; column++) {
            const Column *it = &table->columns[column];
            const char *row = (const char *)rows + i * table->row_size;
            if (it->type == COLUMN_I64) assert_int_equal(row_i64(row, it), i + 7);
            else assert_true(str_equal(row_str(row, it), str_from(it->name)));
        }
}

// The batch ends; its arena goes back to the system.
static void keep(Fixture *f, Arena *arena) {
    op_keep_reply(&f->op, arena);
    arena_done(&f->batch);
    arena_init(&f->batch);
}

static void fill_turn(Fixture *f) {
    f->op = (Op){.kind = OP_COMMIT_TURN,
                 .in.turn = {.log_count = 2, .child_count = 3, .task_count = 1}};
    f->op.out.turn = (TurnReply){
        .last_seq = 9,
        .log = rows_full(f, TABLE_LOG, 2),
        .resolved = rows_full(f, TABLE_LOG, 1),
        .resolved_count = 1,
        .step_error = text(f, "no"),
        .child_keys = ARENA_ARRAY(&f->batch, int64_t, 3),
        .task_keys = ARENA_ARRAY(&f->batch, int64_t, 1),
    };
    f->op.out.turn.child_keys[2] = 33;
    f->op.out.turn.task_keys[0] = 44;
}

static void a_new_run_is_kept(void **state) {
    Fixture *f = *state;
    f->op = (Op){.kind = OP_CREATE_RUN};
    f->op.out.create_run.key = 5;
    f->op.out.create_run.id = text(f, "order-1");
    f->op.out.create_run.version = text(f, "abc");
    f->op.out.create_run.row = rows_full(f, TABLE_RUNS, 1);
    keep(f, &f->kept);
    assert_int_equal(f->op.out.create_run.key, 5);
    assert_true(str_equal(f->op.out.create_run.id, STR("order-1")));
    assert_true(str_equal(f->op.out.create_run.version, STR("abc")));
    assert_rows_full(TABLE_RUNS, f->op.out.create_run.row, 1);
}

static void a_run_that_was_there_has_no_row(void **state) {
    Fixture *f = *state;
    f->op = (Op){.kind = OP_CREATE_RUN};
    f->op.out.create_run.id = text(f, "order-1");
    keep(f, &f->kept);
    assert_null(f->op.out.create_run.row);
    assert_true(str_is_null(f->op.out.create_run.version));
}

static void deployed_workflows_are_kept(void **state) {
    Fixture *f = *state;
    f->op = (Op){.kind = OP_DEFINE, .in.define.other_count = 2};
    f->op.out.define.others = ARENA_ARRAY(&f->batch, DefinedReply, 2);
    f->op.out.define.others[1] = (DefinedReply){.key = 8, .is_new = true};
    keep(f, &f->kept);
    assert_int_equal(f->op.out.define.others[1].key, 8);
    assert_true(f->op.out.define.others[1].is_new);
}

static void a_turn_is_kept(void **state) {
    Fixture *f = *state;
    fill_turn(f);
    keep(f, &f->kept);
    const TurnReply *reply = &f->op.out.turn;
    assert_rows_full(TABLE_LOG, reply->log, 2);
    assert_rows_full(TABLE_LOG, reply->resolved, 1);
    assert_true(str_equal(reply->step_error, STR("no")));
    assert_int_equal(reply->child_keys[2], 33);
    assert_int_equal(reply->task_keys[0], 44);
}

static void claimed_tasks_are_kept(void **state) {
    Fixture *f = *state;
    f->op = (Op){.kind = OP_CLAIM_TASKS};
    f->op.out.claim_tasks.tasks = rows_full(f, TABLE_TASKS, 3);
    f->op.out.claim_tasks.runs = ARENA_ARRAY(&f->batch, TaskRun, 3);
    f->op.out.claim_tasks.runs[2] = (TaskRun){text(f, "order-1"), text(f, "a")};
    f->op.out.claim_tasks.task_count = 3;
    f->op.out.claim_tasks.task_capacity = 16;
    keep(f, &f->kept);
    assert_int_equal(f->op.out.claim_tasks.task_count, 3);
    assert_rows_full(TABLE_TASKS, f->op.out.claim_tasks.tasks, 3);
    assert_true(str_equal(f->op.out.claim_tasks.runs[2].id, STR("order-1")));
    assert_true(str_equal(f->op.out.claim_tasks.runs[2].tags, STR("a")));
}

static void attempts_and_triggered_runs_are_kept(void **state) {
    Fixture *f = *state;
    f->op = (Op){.kind = OP_COMPLETE_TASK};
    f->op.out.complete_task.attempt = (TaskAttempt){.name = text(f, "n"), .worker = text(f, "w")};
    keep(f, &f->kept);
    assert_true(str_equal(f->op.out.complete_task.attempt.name, STR("n")));
    assert_true(str_equal(f->op.out.complete_task.attempt.worker, STR("w")));
    f->op = (Op){.kind = OP_FAIL_TASK};
    f->op.out.fail_task.attempt = (TaskAttempt){.name = text(f, "n"), .worker = text(f, "w")};
    keep(f, &f->kept);
    assert_true(str_equal(f->op.out.fail_task.attempt.name, STR("n")));
    assert_true(str_equal(f->op.out.fail_task.attempt.worker, STR("w")));
    f->op = (Op){.kind = OP_TRIGGER_SCHEDULE};
    f->op.out.trigger_schedule.run_id = text(f, "r");
    keep(f, &f->kept);
    assert_true(str_equal(f->op.out.trigger_schedule.run_id, STR("r")));
}

static void what_nobody_keeps_is_cleared(void **state) {
    Fixture *f = *state;
    fill_turn(f);
    keep(f, NULL);
    const TurnReply *reply = &f->op.out.turn;
    assert_int_equal(reply->last_seq, 9);
    assert_null(reply->log);
    assert_null(reply->resolved);
    assert_int_equal(reply->resolved_count, 0);
    assert_null(reply->child_keys);
    assert_null(reply->task_keys);
    assert_true(str_is_null(reply->step_error));
}

static void a_refusal_points_to_nothing(void **state) {
    Fixture *f = *state;
    f->op = (Op){.kind = OP_CLAIM_TASKS};
    f->op.out.claim_tasks.tasks = rows_full(f, TABLE_TASKS, 1);
    f->op.out.claim_tasks.task_count = 1;
    f->op.out.status = ERR_CONFLICT;
    keep(f, &f->kept);
    assert_null(f->op.out.claim_tasks.tasks);
    assert_int_equal(f->op.out.claim_tasks.task_count, 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(a_new_run_is_kept),
        CASE(a_run_that_was_there_has_no_row),
        CASE(deployed_workflows_are_kept),
        CASE(a_turn_is_kept),
        CASE(claimed_tasks_are_kept),
        CASE(attempts_and_triggered_runs_are_kept),
        CASE(what_nobody_keeps_is_cleared),
        CASE(a_refusal_points_to_nothing),
    };
    return cmocka_run_group_tests_name("replies", tests, NULL, NULL);
}

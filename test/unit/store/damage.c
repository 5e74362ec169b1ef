// Rows that contradict themselves: nobody else is to suffer for them ([quarantine-1]-[quarantine-5]
// of kernel/quarantine.c).
//
// One behaviour per test, on the store that test_backend() names; see unit/store/world.h. Rows are
// damaged, and mended, past the kernel, so this file knows its inside.
#include "store/kernel/internal.h"
#include "unit/store/world.h"

static RowStore *rows_begin(World *world) {
    RowStore *rows = ((Kernel *)world->store)->writer;
    assert_int_equal(rows->ops->begin(rows, &world->diag), OK);
    rows->diag = &world->diag;
    return rows;
}

static void rows_commit(World *world, RowStore *rows) {
    Status status = rows->ops->commit(rows, &world->diag);
    if (status != OK) print_error("%s: %s\n", world->diag.code, world->diag.message);
    assert_int_equal(status, OK);
    ((Kernel *)world->store)->is_stale = true; // nothing is remembered
}

static void write_column(World *world, TableNumber table, const void *row, size_t offset) {
    RowStore *rows = rows_begin(world);
    assert_int_equal(rows_update(rows, table, row, column_bit(table, offset)), OK);
    rows_commit(world, rows);
}

static void write_waits(World *world, const char *id, Str waits) {
    RunRow row = get_run(world, id);
    row.waits = waits;
    write_column(world, TABLE_RUNS, &row, offsetof(RunRow, waits));
}

// Answers what stood there.
static Str damage_waits(World *world, const char *id) {
    Str waits = get_run(world, id).waits;
    write_waits(world, id, STR("\xff\xff nothing that was ever a wait set"));
    return waits;
}

static void assert_verify_finds(World *world, const char *text) {
    int64_t row_count = 0;
    assert_int_equal(store_verify(world->store, &row_count, &world->diag), ERR_CORRUPT);
    if (strstr(world->diag.message, text) == NULL) fail_msg("%s", world->diag.message);
}

static void assert_told(World *world, const char *text) { // [quarantine-5]
    Str damage = world->batch.out.damage;
    assert_false(str_is_null(damage));
    if (memmem(damage.data, damage.len, text, strlen(text)) == NULL) {
        fail_msg("%.*s", STR_ARG(damage));
    }
}

static void assert_state(World *world, const char *id, RunState state) {
    assert_string_equal(run_state_name(get_run(world, id).state), run_state_name(state));
}

static int64_t sleeper(World *world, const char *id, int64_t delay_ms) { // answers its key
    Claimed claim = create(world, id);
    park(world, claim, on_timer(START_MS + delay_ms));
    return claim.run;
}

static void damaged_run_is_paused_and_the_timers_of_others_fire(void **state) {
    World *world = *state;
    sleeper(world, "before", 10);
    sleeper(world, "damaged", 20);
    sleeper(world, "after", 30);
    Str waits = damage_waits(world, "damaged");
    world->now_ms = START_MS + 1000;
    Op *op = fire(world);
    assert_int_equal(op->out.fire_due.woken_count, 2);
    assert_int_equal(world->batch.out.ready_count, 2);
    assert_told(world, "the run \"damaged\" is damaged and was paused: the wait set");
    assert_state(world, "before", RUN_RUNNING);
    assert_state(world, "after", RUN_RUNNING);
    assert_state(world, "damaged", RUN_PAUSED);
    LogPage log = get_log(world, "damaged");
    assert_int_equal(log.rows[log.count - 1].kind, LOG_PAUSED);
    assert_str(log.rows[log.count - 1].data,
               "{\"type\":\"DamagedError\",\"code\":\"STORE_CORRUPT\",\"message\":"
               "\"the wait set of a run cannot be read\"}");
    assert_verify_finds(world, "a wait set cannot be read: \"damaged\"");
    assert_int_equal(fire(world)->out.fire_due.fired_count, 0);
    assert_true(str_is_null(world->batch.out.damage));
    // Mended, it goes on: what came due meanwhile is delivered.
    write_waits(world, "damaged", waits);
    hold(world, OP_RESUME, "damaged");
    assert_int_equal(world->batch.out.ready_count, 1);
    assert_state(world, "damaged", RUN_RUNNING);
}

static void any_number_of_damaged_runs_is_quarantined(void **state) {
    World *world = *state;
    enum { DAMAGED = 20 };
    Str waits[DAMAGED];
    char id[16];
    for (int i = 0; i < DAMAGED; i++) {
        snprintf(id, sizeof(id), "d%d", i);
        sleeper(world, id, i + 1);
        waits[i] = damage_waits(world, id);
    }
    sleeper(world, "sound", 500);
    world->now_ms = START_MS + 1000;
    assert_int_equal(fire(world)->out.fire_due.woken_count, 1);
    assert_told(world, "\"d0\"");
    assert_told(world, "\"d19\"");
    assert_int_equal(get_counter(world, COUNTER_RUNS_FIRST + RUN_PAUSED), DAMAGED);
    for (int i = 0; i < DAMAGED; i++) {
        snprintf(id, sizeof(id), "d%d", i);
        write_waits(world, id, waits[i]);
    }
}

static void who_asks_for_the_damaged_run_is_refused_and_the_run_is_left_alone(void **state) {
    World *world = *state;
    park(world, create(world, "damaged"), on_signal("go"));
    Str waits = damage_waits(world, "damaged");
    static const OpKind kinds[] = {OP_SIGNAL, OP_CANCEL, OP_PAUSE};
    for (size_t i = 0; i < 3; i++) { // [quarantine-3]
        Op *op = start(world, kinds[i]);
        if (kinds[i] == OP_SIGNAL) op->in.signal.name = STR("go"), op->in.signal.payload = STR("1");
        if (kinds[i] == OP_CANCEL) op->in.cancel.grace_ms = MINUTE_MS;
        *(kinds[i] == OP_SIGNAL   ? &op->in.signal.run_id
          : kinds[i] == OP_CANCEL ? &op->in.cancel.run_id
                                  : &op->in.hold.run_id) = STR("damaged");
        assert_int_equal(store_commit(world->store, &world->batch, &world->diag), ERR_CORRUPT);
        assert_true(str_is_null(world->batch.out.damage));
        assert_state(world, "damaged", RUN_SUSPENDED);
    }
    write_waits(world, "damaged", waits);
    assert_true(signal_run(world, "damaged", "go", "1", OK)->out.signal.is_delivered);
}

static void event_passes_over_a_damaged_waiter(void **state) {
    World *world = *state;
    park(world, create(world, "damaged"), on_event("news"));
    park(world, create(world, "sound"), on_event("news"));
    Str waits = damage_waits(world, "damaged");
    assert_int_equal(publish(world, "news", "1")->out.publish.resumed_count, 1);
    assert_state(world, "sound", RUN_RUNNING);
    assert_state(world, "damaged", RUN_PAUSED);
    assert_true(publish(world, "news", "2")->out.publish.is_kept);
    write_waits(world, "damaged", waits);
    hold(world, OP_RESUME, "damaged");
    assert_str(world->batch.out.ready[0].resolved[0].data, "2");
}

static void lost_waiter_is_mended_by_resuming(void **state) {
    World *world = *state;
    WaitItem item = on_event("news");
    item.deadline_at_ms = START_MS + 100;
    park(world, create(world, "damaged"), item);
    RowStore *rows = rows_begin(world);
    WaiterRow *waiters = NULL;
    size_t count = 0;
    Scan scan = {.table = TABLE_WAITERS, .index = SCAN_PRIMARY, .limit = 10};
    assert_int_equal(rows_scan(rows, &scan, &world->arena, &waiters, &count), OK);
    assert_int_equal(count, 1);
    assert_int_equal(rows_remove(rows, TABLE_WAITERS, &waiters[0]), OK);
    rows_commit(world, rows);
    world->now_ms = START_MS + 1000;
    assert_int_equal(fire(world)->out.fire_due.woken_count, 0);
    assert_state(world, "damaged", RUN_PAUSED);
    hold(world, OP_RESUME, "damaged"); // its deadline is over
    assert_state(world, "damaged", RUN_RUNNING);
}

static void child_of_a_damaged_parent_ends(void **state) {
    World *world = *state;
    Claimed parent = create(world, "parent");
    Op *op = turn(world, parent, NEXT_SUSPEND);
    op->in.turn.children = ARENA_NEW(&world->arena, RunSpec);
    *op->in.turn.children =
        (RunSpec){.id = STR("child"), .workflow = STR("w"), .kind = RUN_NATIVE, .keep_ms = -1};
    op->in.turn.child_count = 1;
    WaitItem item = {.kind = WAIT_CHILD, .position = 7, .name = STR("child")};
    set_waits(world, op, WAIT_FIRST, &item, 1);
    finish(world, op, OK);
    Claimed child = ready_at(world, 0);
    Str waits = damage_waits(world, "parent");
    end(world, child, NEXT_COMPLETE, "42");
    assert_told(world, "\"parent\"");
    assert_state(world, "child", RUN_COMPLETED);
    assert_state(world, "parent", RUN_PAUSED);
    write_waits(world, "parent", waits);
    hold(world, OP_RESUME, "parent");
    assert_str(world->batch.out.ready[0].resolved[0].data, "42");
}

static void damaged_run_that_was_asked_to_end_ends_with_its_grace(void **state) {
    World *world = *state;
    park(world, create(world, "damaged"), on_signal("go"));
    cancel(world, "damaged", MINUTE_MS);
    Claimed cleanup = ready_at(world, 0);
    park(world, cleanup, on_timer(START_MS + 100));
    damage_waits(world, "damaged");
    world->now_ms = START_MS + 1000;
    fire(world);
    assert_state(world, "damaged", RUN_PAUSED);
    world->now_ms = START_MS + MINUTE_MS;
    assert_int_equal(fire(world)->out.fire_due.ended_count, 1);
    assert_int_equal(world->batch.out.ended_count, 1);
    assert_state(world, "damaged", RUN_CANCELLED);
}

static void damaged_run_can_be_ended_by_hand_once_it_is_quarantined(void **state) {
    World *world = *state;
    sleeper(world, "damaged", 10);
    damage_waits(world, "damaged");
    world->now_ms = START_MS + 1000;
    fire(world);
    assert_true(cancel(world, "damaged", 0)->out.cancel.is_changed);
    assert_state(world, "damaged", RUN_CANCELLED);
}

static void run_without_a_log_stops_nobody(void **state) {
    World *world = *state;
    int64_t key = sleeper(world, "damaged", 10);
    sleeper(world, "sound", 20);
    LogPage log = get_log(world, "damaged");
    RowStore *rows = rows_begin(world);
    for (size_t i = 0; i < log.count; i++) {
        LogRow entry = {.run = key, .seq = log.rows[i].seq};
        assert_int_equal(rows_remove(rows, TABLE_LOG, &entry), OK);
    }
    rows_commit(world, rows);
    world->now_ms = START_MS + 1000;
    assert_int_equal(fire(world)->out.fire_due.woken_count, 1);
    assert_state(world, "damaged", RUN_PAUSED);
    assert_verify_finds(world, "a run has no input in its log: \"damaged\"");
    rows = rows_begin(world);
    for (size_t i = 0; i < log.count; i++) {
        log.rows[i].run = key;
        assert_int_equal(rows_insert(rows, TABLE_LOG, &log.rows[i]), OK);
    }
    rows_commit(world, rows);
}

static void task_in_no_known_state_stops_nobody(void **state) {
    World *world = *state;
    Op *op = start(world, OP_CREATE_TASK);
    op->in.create_task.spec =
        (TaskSpec){.id = STR("t"), .name = STR("work"), .delay_ms = 10, .max_attempts = 1};
    finish(world, op, OK);
    sleeper(world, "sound", 20);
    TaskRow task = {.key = op->out.create_task.key, .state = 77};
    write_column(world, TABLE_TASKS, &task, offsetof(TaskRow, state));
    world->now_ms = START_MS + 1000;
    assert_int_equal(fire(world)->out.fire_due.woken_count, 1);
    assert_told(world,
                "is damaged and is passed over: a task is in no known state"); // [quarantine-2]
    assert_int_equal(fire(world)->out.fire_due.fired_count, 0);
    task.state = TASK_QUEUED;
    task.due_at_ms = world->now_ms;
    write_column(world, TABLE_TASKS, &task, offsetof(TaskRow, state));
    write_column(world, TABLE_TASKS, &task, offsetof(TaskRow, due_at_ms));
}

static void run_in_no_known_state_stops_nobody(void **state) {
    World *world = *state;
    sleeper(world, "damaged", 10);
    sleeper(world, "sound", 20);
    RunRow row = get_run(world, "damaged");
    row.state = 77;
    write_column(world, TABLE_RUNS, &row, offsetof(RunRow, state));
    world->now_ms = START_MS + 1000;
    assert_int_equal(fire(world)->out.fire_due.woken_count, 1);
    assert_told(world, "\"damaged\"");
    assert_verify_finds(world, "a run is in no known state: \"damaged\"");
    row.state = RUN_SUSPENDED;
    write_column(world, TABLE_RUNS, &row, offsetof(RunRow, state));
    write_column(world, TABLE_RUNS, &row, offsetof(RunRow, due_at_ms));
}

static void write_state(World *world, const char *id, int64_t state) {
    RunRow row = get_run(world, id);
    row.state = state;
    write_column(world, TABLE_RUNS, &row, offsetof(RunRow, state));
}

static void who_asks_for_a_run_in_no_known_state_is_refused(void **state) {
    World *world = *state;
    park(world, create(world, "damaged"), on_signal("go"));
    write_state(world, "damaged", 77);
    Op *op = start(world, OP_CANCEL);
    op->in.cancel.run_id = STR("damaged");
    assert_int_equal(store_commit(world->store, &world->batch, &world->diag), ERR_CORRUPT);
    assert_string_equal(world->diag.message, "a run is in no known state");
    write_state(world, "damaged", RUN_SUSPENDED);
    assert_true(signal_run(world, "damaged", "go", "1", OK)->out.signal.is_delivered);
}

static void claims_pass_over_a_run_in_no_known_state(void **state) {
    World *world = *state;
    world->claim_max = 0; // what is created waits for a claim
    begin(world);
    create_op(world, "damaged");
    create_op(world, "sound");
    commit(world);
    write_state(world, "damaged", 77);
    Op *op = start(world, OP_CLAIM);
    op->in.claim.max = 10;
    finish(world, op, OK);
    assert_int_equal(op->out.claim.count, 1);
    assert_told(world, "\"damaged\"");
    assert_state(world, "sound", RUN_RUNNING);
    RunRow row = get_run(world, "damaged");
    row.state = RUN_RUNNING;
    row.claim_rank = claim_rank(row.priority);
    write_column(world, TABLE_RUNS, &row, offsetof(RunRow, state));
    write_column(world, TABLE_RUNS, &row, offsetof(RunRow, claim_rank));
}

static void run_with_a_priority_out_of_range_is_paused_when_it_wakes(void **state) {
    World *world = *state;
    sleeper(world, "damaged", 10);
    sleeper(world, "sound", 20);
    RunRow row = get_run(world, "damaged");
    row.priority = 5000;
    write_column(world, TABLE_RUNS, &row, offsetof(RunRow, priority));
    world->now_ms = START_MS + 1000;
    assert_int_equal(fire(world)->out.fire_due.woken_count, 1);
    assert_told(world, "the priority of a run is out of range");
    assert_state(world, "damaged", RUN_PAUSED);
    assert_true(cancel(world, "damaged", 0)->out.cancel.is_changed);
}

static void empty_wait_set_is_damage(void **state) {
    World *world = *state;
    sleeper(world, "damaged", 10);
    hold(world, OP_PAUSE, "damaged");
    Str waits = get_run(world, "damaged").waits;
    WaitSet none = {.mode = WAIT_FIRST};
    write_waits(world, "damaged", wait_set_encode(&world->arena, &none));
    Op *op = start(world, OP_RESUME);
    op->in.hold.run_id = STR("damaged");
    assert_int_equal(store_commit(world->store, &world->batch, &world->diag), ERR_CORRUPT);
    write_waits(world, "damaged", waits);
    hold(world, OP_RESUME, "damaged");
    assert_state(world, "damaged", RUN_SUSPENDED);
}

static void task_in_no_known_state_goes_with_its_run(void **state) {
    World *world = *state;
    Claimed run = create(world, "r");
    Op *op = turn(world, run, NEXT_CONTINUE);
    op->in.turn.tasks = ARENA_NEW(&world->arena, TaskSpec);
    *op->in.turn.tasks = (TaskSpec){.id = STR("t"), .name = STR("work")};
    op->in.turn.task_count = 1;
    finish(world, op, OK);
    end(world, run, NEXT_CANCELLED, "{}"); // and its task
    TaskRow task = {.key = run.run + 1};
    RowStore *rows = ((Kernel *)world->store)->writer;
    assert_int_equal(rows_get(rows, TABLE_TASKS, &task, &world->arena, &task), OK);
    assert_int_equal(task.state, TASK_CANCELLED);
    task.state = 77;
    write_column(world, TABLE_TASKS, &task, offsetof(TaskRow, state));
    op = start(world, OP_PURGE_RUN);
    op->in.purge.run_id = STR("r");
    finish(world, op, OK);
    assert_int_equal(rows_get(rows, TABLE_TASKS, &task, &world->arena, &task), ERR_NOT_FOUND);
    // What was counted when it ended counts nothing now.
    CounterRow counter = {.number = COUNTER_TASKS_FIRST + TASK_CANCELLED, .value = 0};
    write_column(world, TABLE_COUNTERS, &counter, offsetof(CounterRow, value));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        KERNEL_TEST(damaged_run_is_paused_and_the_timers_of_others_fire),
        KERNEL_TEST(any_number_of_damaged_runs_is_quarantined),
        KERNEL_TEST(who_asks_for_the_damaged_run_is_refused_and_the_run_is_left_alone),
        KERNEL_TEST(event_passes_over_a_damaged_waiter),
        KERNEL_TEST(lost_waiter_is_mended_by_resuming),
        KERNEL_TEST(child_of_a_damaged_parent_ends),
        KERNEL_TEST(damaged_run_that_was_asked_to_end_ends_with_its_grace),
        KERNEL_TEST(damaged_run_can_be_ended_by_hand_once_it_is_quarantined),
        KERNEL_TEST(run_without_a_log_stops_nobody),
        KERNEL_TEST(task_in_no_known_state_stops_nobody),
        KERNEL_TEST(run_in_no_known_state_stops_nobody),
        KERNEL_TEST(who_asks_for_a_run_in_no_known_state_is_refused),
        KERNEL_TEST(claims_pass_over_a_run_in_no_known_state),
        KERNEL_TEST(run_with_a_priority_out_of_range_is_paused_when_it_wakes),
        KERNEL_TEST(empty_wait_set_is_damage),
        KERNEL_TEST(task_in_no_known_state_goes_with_its_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

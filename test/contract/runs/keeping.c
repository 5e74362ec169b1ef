// Keeping: how long things stay, purging without orphans, and counters that equal a recount.
#include "contract/contract.h"

static Op *purge(World *world, const char *id, Status expected) {
    Op *op = op_new(world, OP_PURGE_RUN);
    op->in.purge.run_id = str_from(id);
    op_run(world, op, expected);
    return op;
}

// A run with something in every table; ended.
static Claimed run_with_everything(World *world, const char *id, int64_t keep_ms) {
    RunSpec spec = spec_of(id);
    spec.kind = RUN_FLOW;
    spec.tags = STR("red\nblue");
    spec.keep_ms = keep_ms;
    set_topic(world, "news", CONSUME_ALL, VISIBLE_ALL);
    publish(world, "news", "1");
    Claimed claimed = create_from(world, &spec);
    park(world, claimed, on_event("news")); // leaves a cursor
    TaskSpec *task = ARENA_NEW(&world->arena, TaskSpec);
    *task = task_of(arena_printf(&world->arena, "%s/task", id).data);
    Op *op = turn(world, claimed, NEXT_CONTINUE);
    set_task(world, op, task);
    set_log(world, op, log_step("a", 0, 0, "1"));
    op->in.turn.snapshot = STR("snapshot");
    op_run(world, op, OK);
    op = lease_tasks(world, "default", 1);
    complete_task(world, arena_cstr(&world->arena, task->id), op->out.claim_tasks.tasks[0].token,
                  "1");
    op = op_new(world, OP_SIGNAL); // unread, and its id remembered
    op->in.signal.run_id = str_from(id);
    op->in.signal.name = STR("go");
    op->in.signal.id = STR("s1");
    op->in.signal.is_deduplicated = true;
    op_run(world, op, OK);
    finish(world, claimed, NEXT_COMPLETE, "1");
    return claimed;
}

static void check_gone(World *world, const char *id, int64_t key) {
    assert_false(has_run(world, id));
    RunRef run = run_of_id(str_from(id));
    LogPage log;
    RunResult result;
    RunLoad load;
    EventPage signals;
    Store *store = world->store;
    Arena *arena = &world->arena;
    assert_status(store_read_log(store, arena, &(LogFilter){.run = run}, &log, &world->diag),
                  ERR_NOT_FOUND);
    assert_status(store_find_result(store, arena, run, &result, &world->diag), ERR_NOT_FOUND);
    assert_status(store_load_run(store, arena, key, &load, &world->diag), ERR_NOT_FOUND);
    assert_status(store_list_steps(store, arena, &(StepFilter){.run = run}, &log, &world->diag),
                  ERR_NOT_FOUND);
    assert_status(
        store_list_signals(store, arena, &(SignalFilter){.run = run}, &signals, &world->diag),
        ERR_NOT_FOUND);
    TaskRow task;
    assert_status(store_find_task(world->store, &world->arena,
                                  arena_printf(&world->arena, "%s/task", id), &task, &world->diag),
                  ERR_NOT_FOUND);
    RunPage page;
    assert_ok(store_list_runs(world->store, &world->arena,
                              &(RunFilter){.tag = STR("red"), .limit = 10}, &page, &world->diag));
    for (size_t i = 0; i < page.count; i++) assert_true(page.rows[i].key != key);
    int64_t row_count;
    assert_ok(store_verify(world->store, &row_count, &world->diag)); // no orphan anywhere
}

static void purge_removes_everything_of_a_run(void **state) {
    World *world = *state;
    Claimed claimed = run_with_everything(world, "r1", -1);
    purge(world, "r1", OK);
    check_gone(world, "r1", claimed.run);
    for (int i = TASK_QUEUED; i < TASK_STATE_COUNT; i++) {
        assert_int_equal(get_counter(world, COUNTER_TASKS_FIRST + i), 0);
    }
    assert_int_equal(get_counter(world, COUNTER_RUNS_FIRST + RUN_COMPLETED), 0);
    assert_int_equal(get_counter(world, COUNTER_COMPLETED_TOTAL), 1); // it did happen
}

static void purge_after_a_crash_removes_everything_of_a_run(void **state) {
    World *world = *state;
    Claimed claimed = run_with_everything(world, "r1", -1);
    world_crash(world);
    purge(world, "r1", OK);
    check_gone(world, "r1", claimed.run);
}

static void purge_of_a_live_run_is_refused(void **state) {
    World *world = *state;
    create(world, "running");
    park(world, create(world, "parked"), on_signal("go"));
    Str before = world_dump(world);
    assert_refused(purge(world, "running", ERR_CONFLICT), ERR_CONFLICT, "RUN_NOT_TERMINAL");
    assert_refused(purge(world, "parked", ERR_CONFLICT), ERR_CONFLICT, "RUN_NOT_TERMINAL");
    assert_unchanged(world, before);
}

static void purged_id_can_be_used_again(void **state) {
    World *world = *state;
    Claimed first = run_with_everything(world, "r1", -1);
    purge(world, "r1", OK);
    Claimed second = create(world, "r1");
    assert_true(second.run > first.run);
    assert_int_equal(get_log(world, "r1").count, 1);
    assert_int_equal(get_load(world, "r1").log_count, 0);
    assert_int_equal(get_signals(world, "r1").count, 0);
    Op *op = op_new(world, OP_SIGNAL); // the old run's signal ids are not the new one's
    op->in.signal.run_id = STR("r1");
    op->in.signal.name = STR("go");
    op->in.signal.id = STR("s1");
    op->in.signal.is_deduplicated = true;
    op_run(world, op, OK);
    assert_false(op->out.signal.is_duplicate);
}

static Op *replace(World *world, const char *id) {
    Op *op = op_new(world, OP_CREATE_RUN);
    op->in.create_run.spec = spec_of(id);
    op->in.create_run.is_replacing = true;
    return op;
}

static void new_run_takes_the_place_of_one_that_ended(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    Op *op = replace(world, "r1"); // one that goes on stays
    op_run(world, op, OK);
    assert_false(op->out.create_run.is_new);
    assert_int_equal(op->out.create_run.key, claimed.run);
    cancel_run(world, "r1", 0);
    Str before = world_dump(world);
    op = replace(world, "r1"); // what cannot be started leaves the old one where it is
    op->in.create_run.spec.kind = 0;
    op->in.create_run.spec.workflow = STR("nobody defined this");
    op_run(world, op, ERR_NOT_FOUND);
    assert_refused(op, ERR_NOT_FOUND, "WORKFLOW_NOT_FOUND");
    assert_unchanged(world, before);
    op = replace(world, "r1");
    op_run(world, op, OK);
    assert_true(op->out.create_run.is_new);
    assert_true(op->out.create_run.key != claimed.run);
    assert_int_equal(get_run(world, "r1").state, RUN_RUNNING);
    assert_int_equal(entry_count(world, "r1", LOG_CANCEL_REQUESTED), 0);
    RunRow old;
    assert_status(store_run_by_key(world->store, &world->arena, claimed.run, &old, &world->diag),
                  ERR_NOT_FOUND);
    op = replace(world, "new"); // nobody has to make room
    op_run(world, op, OK);
    assert_true(op->out.create_run.is_new);
}

static void purged_parent_leaves_its_children_alone(void **state) {
    World *world = *state;
    Claimed parent = create(world, "parent");
    RunSpec child = spec_of("child");
    Op *op = turn(world, parent, NEXT_COMPLETE);
    op->in.turn.children = &child;
    op->in.turn.child_count = 1;
    op_run(world, op, OK);
    Claimed claimed = ready_at(world, 0);
    purge(world, "parent", OK);
    assert_int_equal(get_run(world, "child").parent, 0);
    finish(world, claimed, NEXT_COMPLETE, "1"); // and has nobody to wake
    assert_state(world, "child", RUN_COMPLETED);
}

static void kept_time_over_removes_the_run(void **state) {
    World *world = *state;
    Claimed claimed = run_with_everything(world, "r1", 1000);
    assert_int_equal(get_run(world, "r1").due_at_ms, START_MS + 1000);
    world->now_ms = START_MS + 999;
    assert_int_equal(sweep(world)->out.sweep.purged_runs, 0);
    world->now_ms = START_MS + 1000;
    assert_int_equal(sweep(world)->out.sweep.purged_runs, 1);
    check_gone(world, "r1", claimed.run);
}

static void kept_time_over_is_noticed_by_fire_due_as_well(void **state) {
    World *world = *state;
    Claimed claimed = run_with_everything(world, "r1", 1000);
    fire_at(world, START_MS + 1000);
    check_gone(world, "r1", claimed.run);
}

static void kept_for_ever_is_never_removed(void **state) {
    World *world = *state;
    finish(world, create(world, "r1"), NEXT_COMPLETE, "1");
    world->now_ms = START_MS + 1000 * DAY_MS;
    sweep(world);
    fire(world);
    assert_true(has_run(world, "r1"));
}

static void kept_for_no_time_is_removed_by_the_next_sweep(void **state) {
    World *world = *state;
    RunSpec spec = spec_of("r1");
    spec.keep_ms = 0;
    finish(world, create_from(world, &spec), NEXT_COMPLETE, "1");
    assert_true(has_run(world, "r1")); // whoever waits for the result still reads it
    sweep(world);
    assert_false(has_run(world, "r1"));
}

static void live_runs_are_never_swept(void **state) {
    World *world = *state;
    RunSpec spec = spec_of("parked");
    spec.keep_ms = 0;
    park(world, create_from(world, &spec), on_timer(START_MS + 100));
    world->now_ms = START_MS + DAY_MS;
    Op *op = sweep(world);
    assert_int_equal(op->out.sweep.purged_runs, 0);
    assert_state(world, "parked", RUN_SUSPENDED); // its timer is for FIRE_DUE
    assert_int_equal(fire(world)->out.fire_due.woken_count, 1);
}

static void sweep_is_bounded_and_says_that_there_is_more(void **state) {
    World *world = *state;
    for (int i = 0; i < 12; i++) {
        RunSpec spec = spec_of(arena_printf(&world->arena, "r%d", i).data);
        spec.keep_ms = 100;
        finish(world, create_from(world, &spec), NEXT_COMPLETE, "1");
    }
    world->now_ms = START_MS + 100;
    int64_t purged = 0;
    bool has_more = true;
    int rounds = 0;
    for (; has_more && rounds < 10; rounds++) {
        Op *op = op_new(world, OP_SWEEP);
        op->in.sweep.max = 5;
        op_run(world, op, OK);
        assert_true(op->out.sweep.purged_runs <= 5);
        purged += op->out.sweep.purged_runs;
        has_more = op->out.sweep.has_more;
    }
    assert_int_equal(purged, 12);
    assert_int_equal(rounds, 3);
}

static void sweep_does_not_count_live_runs_that_are_due_as_more(void **state) {
    World *world = *state;
    for (int i = 0; i < 3; i++)
        park(world, create(world, arena_printf(&world->arena, "r%d", i).data),
             on_timer(START_MS + 50));
    world->now_ms = START_MS + 100;
    Op *op = op_new(world, OP_SWEEP);
    op->in.sweep.max = 1; // all of it is spent on looking at a live run
    op_run(world, op, OK);
    assert_false(op->out.sweep.has_more);
    assert_int_equal(fire(world)->out.fire_due.woken_count, 3);
}

static void long_history_is_purged_in_several_goes(void **state) {
    World *world = *state;
    RunSpec spec = spec_of("long");
    spec.keep_ms = 100;
    Claimed claimed = create_from(world, &spec);
    for (int i = 0; i < 2; i++) { // together more than one go removes
        Op *op = turn(world, claimed, i ? NEXT_COMPLETE : NEXT_CONTINUE);
        op->in.turn.log_count = 12000;
        op->in.turn.log = ARENA_ARRAY(&world->arena, LogRow, op->in.turn.log_count);
        for (size_t j = 0; j < op->in.turn.log_count; j++) {
            op->in.turn.log[j] = (LogRow){.kind = LOG_LINE, .position = -1};
        }
        op_run(world, op, OK);
    }
    world->now_ms = START_MS + 100;
    Op *op = sweep(world);
    assert_int_equal(op->out.sweep.purged_runs, 0);
    assert_true(op->out.sweep.has_more);
    assert_true(has_run(world, "long"));
    op = sweep(world);
    assert_int_equal(op->out.sweep.purged_runs, 1);
    assert_false(op->out.sweep.has_more);
}

static void purge_that_uses_up_its_budget_says_that_there_is_more(void **state) {
    World *world = *state;
    for (int i = 0; i < 2; i++) {
        RunSpec spec = spec_of(i ? "second" : "first");
        spec.keep_ms = 100;
        Op *op = turn(world, create_from(world, &spec), NEXT_COMPLETE);
        op->in.turn.log_count = i ? 1 : 20000 - 3; // with start, end and row: all one go removes
        op->in.turn.log = ARENA_ARRAY(&world->arena, LogRow, op->in.turn.log_count);
        for (size_t j = 0; j < op->in.turn.log_count; j++) {
            op->in.turn.log[j] = (LogRow){.kind = LOG_LINE, .position = -1};
        }
        op_run(world, op, OK);
    }
    world->now_ms = START_MS + 100;
    Op *op = sweep(world);
    assert_int_equal(op->out.sweep.purged_runs, 1);
    assert_true(op->out.sweep.has_more);
    assert_int_equal(sweep(world)->out.sweep.purged_runs, 1);
}

static void expiry_of_one_kind_does_not_starve_another(void **state) {
    World *world = *state;
    for (int i = 0; i < 30; i++) {
        publish_once(world, "t", arena_printf(&world->arena, "e%d", i).data, "1");
    }
    park(world, create(world, "timer"), on_timer(START_MS + WEEK_MS + 10));
    TaskSpec task = task_of("task");
    task.delay_ms = WEEK_MS + 20;
    create_task(world, &task);
    world->now_ms = START_MS + 2 * WEEK_MS;
    Op *op = op_new(world, OP_FIRE_DUE);
    op->in.fire_due.max = 12;
    op_run(world, op, OK);
    assert_int_equal(op->out.fire_due.woken_count, 1);
    assert_int_equal(op->out.fire_due.task_count, 1);
    assert_true(op->out.fire_due.has_more);
}

// ---- counters ----

static void counters_equal_a_recount(void **state) {
    World *world = *state;
    for (int i = 0; i < 5; i++) {
        run_with_everything(world, arena_printf(&world->arena, "e%d", i).data, -1);
        park(world, create(world, arena_printf(&world->arena, "s%d", i).data), on_signal("go"));
        create(world, arena_printf(&world->arena, "r%d", i).data);
        signal_run(world, arena_printf(&world->arena, "r%d", i).data, "go", "1");
    }
    pause_run(world, "s0");
    cancel_run(world, "s1", 0);
    cancel_run(world, "r1", 5000);
    purge(world, "e0", OK);
    for (int i = RUN_PENDING; i < RUN_STATE_COUNT; i++) {
        RunPage page;
        assert_ok(store_list_runs(world->store, &world->arena,
                                  &(RunFilter){.states = 1u << i, .limit = 100}, &page,
                                  &world->diag));
        assert_int_equal(page.count, get_counter(world, COUNTER_RUNS_FIRST + i));
    }
    for (int i = TASK_QUEUED; i < TASK_STATE_COUNT; i++) {
        TaskPage tasks;
        assert_ok(store_list_tasks(world->store, &world->arena,
                                   &(TaskFilter){.states = 1u << i, .page.limit = 100}, &tasks,
                                   &world->diag));
        assert_int_equal(tasks.count, get_counter(world, COUNTER_TASKS_FIRST + i));
    }
    assert_int_equal(get_counter(world, COUNTER_EVENTS), get_events(world, "news").count);
    assert_int_equal(get_counter(world, COUNTER_SIGNALS), 5);
    assert_int_equal(get_counter(world, COUNTER_STARTED_TOTAL), 15);
    assert_int_equal(get_counter(world, COUNTER_COMPLETED_TOTAL), 5);
    assert_int_equal(get_counter(world, COUNTER_CANCELLED_TOTAL), 1);
    int64_t row_count;
    assert_ok(store_verify(world->store, &row_count, &world->diag));
}

static void counters_survive_a_crash(void **state) {
    World *world = *state;
    run_with_everything(world, "r1", -1);
    create(world, "r2");
    int64_t started = get_counter(world, COUNTER_STARTED_TOTAL);
    world_reopen(world);
    assert_int_equal(get_counter(world, COUNTER_STARTED_TOTAL), started);
    create(world, "r3"); // and keys go on where they were
    assert_true(get_run(world, "r3").key > get_run(world, "r2").key);
    assert_int_equal(get_counter(world, COUNTER_STARTED_TOTAL), started + 1);
}

int contract_keeping(void) {
    const struct CMUnitTest tests[] = {
        CASE(purge_removes_everything_of_a_run),
        CASE(purge_after_a_crash_removes_everything_of_a_run),
        CASE(purge_of_a_live_run_is_refused),
        CASE(purged_id_can_be_used_again),
        CASE(new_run_takes_the_place_of_one_that_ended),
        CASE(purged_parent_leaves_its_children_alone),
        CASE(kept_time_over_removes_the_run),
        CASE(kept_time_over_is_noticed_by_fire_due_as_well),
        CASE(kept_for_ever_is_never_removed),
        CASE(kept_for_no_time_is_removed_by_the_next_sweep),
        CASE(live_runs_are_never_swept),
        CASE(sweep_is_bounded_and_says_that_there_is_more),
        CASE(sweep_does_not_count_live_runs_that_are_due_as_more),
        CASE(long_history_is_purged_in_several_goes),
        CASE(purge_that_uses_up_its_budget_says_that_there_is_more),
        CASE(expiry_of_one_kind_does_not_starve_another),
        CASE(counters_equal_a_recount),
        CASE(counters_survive_a_crash),
    };
    return run_group("keeping", tests);
}

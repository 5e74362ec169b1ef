// Resume tasks: what wakes a run, how often, and how that is shown.
#include "contract/contract.h"

enum { TASKS = 100 };

static Str task_id(World *world, int number) { return arena_printf(&world->arena, "t%d", number); }

// A run that has queued a hundred tasks and waits for each of them (or for a signal only).
static void park_on_tasks(World *world, bool is_awaited) {
    Claimed claimed = create(world, "r");
    Op *op = turn(world, claimed, NEXT_SUSPEND);
    op->in.turn.tasks = ARENA_ARRAY(&world->arena, TaskSpec, TASKS);
    op->in.turn.task_count = TASKS;
    WaitItem *waits = ARENA_ARRAY(&world->arena, WaitItem, TASKS);
    for (int i = 0; i < TASKS; i++) {
        op->in.turn.tasks[i] = task_of(arena_cstr(&world->arena, task_id(world, i)));
        waits[i] = on_task(arena_cstr(&world->arena, task_id(world, i)));
    }
    if (!is_awaited) waits[0] = on_signal("go");
    set_waits(world, op, WAIT_EACH, waits, is_awaited ? TASKS : 1);
    op_run(world, op, OK);
}

static void add_completion(World *world, const TaskRow *task) {
    Op *op = op_add(world, OP_COMPLETE_TASK);
    op->in.complete_task.id = task->id;
    op->in.complete_task.token = task->token;
    op->in.complete_task.result = STR("1");
}

static void complete_in_one_batch(World *world) {
    Op *claimed = lease_tasks(world, "default", TASKS);
    assert_int_equal(claimed->out.claim_tasks.task_count, TASKS);
    TaskRow *tasks = claimed->out.claim_tasks.tasks;
    batch_new(world);
    for (int i = 0; i < TASKS; i++) add_completion(world, &tasks[i]);
    batch_run(world);
}

static TaskPage list_tasks(World *world, const char *queue, int64_t after, int64_t limit) {
    const TaskFilter filter = {.queue = str_from(queue), .page = {.after = after, .limit = limit}};
    TaskPage page = {0};
    assert_ok(store_list_tasks(world->store, &world->arena, &filter, &page, &world->diag));
    return page;
}

static QueueStat system_queue(World *world) {
    QueueStat queue;
    assert_int_equal(
        store_find_queue(world->store, &world->arena, STR("system"), &queue, &world->diag), OK);
    return queue;
}

static void hundred_completions_cause_two_turns(void **state) {
    World *world = *state;
    park_on_tasks(world, true);
    complete_in_one_batch(world);
    assert_int_equal(world->batch.out.ready_count, 1); // turn 1, with the first result
    assert_int_equal(world->batch.out.ready[0].resolved_count, 1);
    WaitItem *waits = ARENA_ARRAY(&world->arena, WaitItem, TASKS);
    for (int i = 1; i < TASKS; i++) {
        waits[i - 1] = on_task(arena_cstr(&world->arena, task_id(world, i)));
    }
    Op *op = park_on(world, ready_at(world, 0), WAIT_EACH, waits, TASKS - 1);
    assert_int_equal(op->out.turn.resolved_count, TASKS - 1); // turn 2, with all others
    assert_state(world, "r", RUN_RUNNING);
}

static void completions_one_by_one_leave_one_resume_task(void **state) {
    World *world = *state;
    park_on_tasks(world, true);
    assert_int_equal(list_tasks(world, "system", 0, 10).count, 0);
    Op *claimed = lease_tasks(world, "default", TASKS);
    TaskRow *tasks = claimed->out.claim_tasks.tasks;
    world->claim_max = 0; // nobody has room to execute it
    for (int i = 0; i < TASKS; i++) {
        batch_new(world);
        add_completion(world, &tasks[i]);
        batch_run(world);
    }
    TaskPage found = list_tasks(world, "system", 0, 10);
    assert_int_equal(found.count, 1);
    assert_text(found.rows[0].id, "resume-r");
    assert_text(found.rows[0].name, "builtin.resume_workflow");
    assert_int_equal(found.rows[0].state, TASK_QUEUED);
    assert_int_equal(found.rows[0].priority, PRIORITY_MAX);
    assert_int_equal(found.rows[0].run, get_run(world, "r").key);
    assert_text(get_task(world, "resume-r").queue, "system");
    assert_int_equal(system_queue(world).row.queued_count, 1);
    assert_int_equal(system_queue(world).oldest_at_ms, world->now_ms);
    QueuePage queues;
    assert_int_equal(
        store_list_queues(world->store, &world->arena, &(NamePageSpec){0}, &queues, &world->diag),
        OK);
    assert_text(queues.rows[queues.count - 1].row.name, "system");
    world->claim_max = 100;
    claim(world, 10);
    assert_int_equal(list_tasks(world, "system", 0, 10).count, 0);
    assert_int_equal(system_queue(world).row.queued_count, 0);
    assert_int_equal(system_queue(world).row.running_count, 1);
    TaskRow gone;
    assert_int_equal(
        store_find_task(world->store, &world->arena, STR("resume-r"), &gone, &world->diag),
        ERR_NOT_FOUND);
}

static void tasks_nobody_waits_for_wake_nobody(void **state) {
    World *world = *state;
    park_on_tasks(world, false);
    complete_in_one_batch(world);
    assert_int_equal(world->batch.out.ready_count, 0);
    assert_int_equal(world->batch.out.unclaimed_count, 0);
    assert_state(world, "r", RUN_SUSPENDED);
    assert_int_equal(list_tasks(world, "system", 0, 10).count, 0);
}

// ---- groups: what is waited for together ----

// A script that has queued tasks t0 … and waits for all of them together; and for `also`, if given.
static void park_on_group(World *world, int count, int64_t quiet, const WaitItem *also) {
    RunSpec spec = spec_of("r");
    spec.kind = RUN_FLOW;
    Op *op = turn(world, create_from(world, &spec), NEXT_SUSPEND);
    op->in.turn.snapshot = STR("parked");
    op->in.turn.tasks = ARENA_ARRAY(&world->arena, TaskSpec, (size_t)count);
    op->in.turn.task_count = (size_t)count;
    WaitItem *waits = ARENA_ARRAY(&world->arena, WaitItem, (size_t)count + 1);
    for (int i = 0; i < count; i++) {
        op->in.turn.tasks[i] = task_of(arena_cstr(&world->arena, task_id(world, i)));
        waits[i] = on_task(arena_cstr(&world->arena, task_id(world, i)));
        waits[i].group = 1;
        waits[i].quiet = quiet;
    }
    if (also) waits[count] = *also;
    set_waits(world, op, WAIT_EACH, waits, (size_t)count + (also ? 1 : 0));
    op_run(world, op, OK);
}

static const TaskRow *lease_group(World *world, int count) {
    Op *op = lease_tasks(world, "default", count);
    assert_int_equal(op->out.claim_tasks.task_count, count);
    return op->out.claim_tasks.tasks;
}

static void complete_one(World *world, const TaskRow *task) {
    batch_new(world);
    add_completion(world, task);
    batch_run(world);
}

static void fail_for_good(World *world, const TaskRow *task) {
    fail_task(world, arena_cstr(&world->arena, task->id), task->token, "{\"message\":\"no\"}");
}

static void assert_slots(const ReadyRun *ready, const int64_t *slots, size_t count) {
    assert_int_equal(ready->resolved_count, count);
    for (size_t i = 0; i < count; i++) assert_int_equal(ready->resolved[i].slot, slots[i]);
}

static void a_group_wakes_its_run_once(void **state) {
    World *world = *state;
    park_on_group(world, TASKS, WAIT_QUIET_OK, NULL);
    const TaskRow *tasks = lease_group(world, TASKS);
    for (int i = TASKS - 1; i > 0; i--) {
        complete_one(world, &tasks[i]);
        assert_int_equal(world->batch.out.ready_count, 0);
        assert_int_equal(world->batch.out.grown_count, 1); // who reads the log is told
        assert_state(world, "r", RUN_SUSPENDED);
    }
    complete_one(world, &tasks[0]);
    assert_int_equal(world->batch.out.ready_count, 1);
    const ReadyRun *ready = &world->batch.out.ready[0];
    assert_int_equal(ready->resolved_count, TASKS);
    for (int i = 0; i < TASKS; i++) { // in the order in which they settled
        assert_int_equal(ready->resolved[i].slot, TASKS - 1 - i);
        assert_int_equal(ready->resolved[i].outcome, OUTCOME_OK);
        assert_text(ready->resolved[i].data, "1");
    }
    RunLoad load = get_load(world, "r"); // another node would see the same
    assert_int_equal(load.log_count, TASKS);
    assert_int_equal(load.log[0].slot, TASKS - 1);
}

static void a_group_may_settle_in_any_order(void **state) {
    enum { STRIDE = 37 }; // has no factor in common with TASKS: it comes by each of them once
    World *world = *state;
    park_on_group(world, TASKS, WAIT_QUIET_OK, NULL);
    const TaskRow *tasks = lease_group(world, TASKS);
    for (int i = 0; i < TASKS; i++) {
        assert_state(world, "r", RUN_SUSPENDED);
        complete_one(world, &tasks[i * STRIDE % TASKS]);
        assert_int_equal(world->batch.out.ready_count, i == TASKS - 1);
    }
    const ReadyRun *ready = &world->batch.out.ready[0];
    assert_int_equal(ready->resolved_count, TASKS);
    for (int i = 0; i < TASKS; i++) assert_int_equal(ready->resolved[i].slot, i * STRIDE % TASKS);
}

static void what_is_not_quiet_wakes_at_once(void **state) {
    World *world = *state;
    park_on_group(world, 4, WAIT_QUIET_OK, NULL);
    const TaskRow *tasks = lease_group(world, 4);
    complete_one(world, &tasks[2]);
    fail_for_good(world, &tasks[1]);
    assert_int_equal(world->batch.out.ready_count, 1);
    assert_slots(&world->batch.out.ready[0], (int64_t[]){2, 1}, 2);
    assert_int_equal(world->batch.out.ready[0].resolved[1].outcome, OUTCOME_ERROR);
    complete_one(world, &tasks[0]); // it executes: what came meanwhile is found when it parks
    assert_int_equal(world->batch.out.grown_count, 0);
}

static void failures_may_be_the_quiet_ones(void **state) {
    World *world = *state;
    park_on_group(world, 3, WAIT_QUIET_ERROR, NULL);
    const TaskRow *tasks = lease_group(world, 3);
    fail_for_good(world, &tasks[0]);
    fail_for_good(world, &tasks[1]);
    assert_state(world, "r", RUN_SUSPENDED);
    complete_one(world, &tasks[2]);
    assert_slots(&world->batch.out.ready[0], (int64_t[]){0, 1, 2}, 3);
}

static void another_wake_brings_what_was_quiet(void **state) {
    World *world = *state;
    WaitItem signal = on_signal("go");
    park_on_group(world, 3, WAIT_QUIET_OK, &signal);
    const TaskRow *tasks = lease_group(world, 3);
    complete_one(world, &tasks[1]);
    signal_run(world, "r", "go", "7");
    assert_slots(&world->batch.out.ready[0], (int64_t[]){1, 3}, 2);
    // Parking again with one that settled meanwhile: still quiet, and logged once.
    Claimed claimed = ready_at(world, 0);
    complete_one(world, &tasks[0]);
    Op *op = turn(world, claimed, NEXT_SUSPEND);
    op->in.turn.snapshot = STR("parked again");
    WaitItem waits[] = {on_task("t0"), on_task("t2")};
    for (int i = 0; i < 2; i++) {
        waits[i].group = 1;
        waits[i].quiet = WAIT_QUIET_OK;
    }
    set_waits(world, op, WAIT_EACH, waits, 2);
    op_run(world, op, OK);
    assert_int_equal(op->out.turn.state, RUN_SUSPENDED);
    assert_int_equal(op->out.turn.resolved_count, 1);
    complete_one(world, &tasks[2]);
    assert_slots(&world->batch.out.ready[0], (int64_t[]){0, 1}, 2);
    assert_int_equal(entry_count(world, "r", LOG_WAIT), 4);
}

static void a_pause_does_not_repeat_what_was_quiet(void **state) {
    World *world = *state;
    park_on_group(world, 3, WAIT_QUIET_OK, NULL);
    const TaskRow *tasks = lease_group(world, 3);
    complete_one(world, &tasks[0]);
    pause_run(world, "r");
    complete_one(world, &tasks[1]); // nothing is delivered to a paused run
    resume_run(world, "r");
    assert_state(world, "r", RUN_SUSPENDED);
    assert_int_equal(entry_count(world, "r", LOG_WAIT), 2);
    complete_one(world, &tasks[2]);
    assert_slots(&world->batch.out.ready[0], (int64_t[]){0, 1, 2}, 3);
    assert_int_equal(entry_count(world, "r", LOG_WAIT), 3);
}

static void groups_are_for_scripts_and_what_ends(void **state) {
    World *world = *state;
    WaitItem item = on_signal("go");
    item.group = 1;
    item.quiet = WAIT_QUIET_OK;
    Claimed native = create(world, "n");
    Op *op = turn(world, native, NEXT_SUSPEND);
    set_waits(world, op, WAIT_EACH, &item, 1);
    op_run(world, op, ERR_INVALID);
    assert_string_equal(op->out.diag.code, "BAD_WAIT");
    RunSpec spec = spec_of("f");
    spec.kind = RUN_FLOW;
    op = turn(world, create_from(world, &spec), NEXT_SUSPEND);
    set_waits(world, op, WAIT_EACH, &item, 1);
    op_run(world, op, ERR_INVALID);
}

// Runs and tasks in turn; each page goes on where the one before ended.
static void resume_tasks_take_their_place_among_the_others(void **state) {
    World *world = *state;
    enum { PAIRS = 9 };
    world->claim_max = 0;
    for (int i = 0; i < PAIRS; i++) {
        RunSpec spec = spec_of(arena_cstr(&world->arena, arena_printf(&world->arena, "r%d", i)));
        create_op(world, &spec);
        TaskSpec task = task_of(arena_cstr(&world->arena, task_id(world, i)));
        create_task(world, &task);
    }
    int64_t after = 0, last = INT64_MAX;
    int resume_count = 0, task_count = 0;
    do {
        TaskPage found = list_tasks(world, NULL, after, 4);
        assert_in_range(found.count, 1, 4);
        for (size_t i = 0; i < found.count; i++) {
            assert_true(found.rows[i].key < last);
            last = found.rows[i].key;
            if (str_equal(found.rows[i].queue, STR("system"))) resume_count++;
            else task_count++;
        }
        after = found.next;
    } while (after != 0);
    assert_int_equal(resume_count, PAIRS);
    assert_int_equal(task_count, PAIRS);
    TaskPage of_run;
    assert_int_equal(store_list_tasks(world->store, &world->arena,
                                      &(TaskFilter){.run = run_of_id(STR("r3"))}, &of_run,
                                      &world->diag),
                     OK);
    assert_int_equal(of_run.count, 1);
    assert_text(of_run.rows[0].id, "resume-r3");
    TaskPage leased;
    assert_int_equal(store_list_tasks(world->store, &world->arena,
                                      &(TaskFilter){.states = 1u << TASK_LEASED}, &leased,
                                      &world->diag),
                     OK);
    assert_int_equal(leased.count, 0);
    assert_int_equal(lease_tasks(world, "system", 10)->out.claim_tasks.task_count, 0); // shown only
}

int contract_resume(void) {
    const struct CMUnitTest tests[] = {
        CASE(hundred_completions_cause_two_turns),
        CASE(completions_one_by_one_leave_one_resume_task),
        CASE(tasks_nobody_waits_for_wake_nobody),
        CASE(a_group_wakes_its_run_once),
        CASE(a_group_may_settle_in_any_order),
        CASE(what_is_not_quiet_wakes_at_once),
        CASE(failures_may_be_the_quiet_ones),
        CASE(another_wake_brings_what_was_quiet),
        CASE(a_pause_does_not_repeat_what_was_quiet),
        CASE(groups_are_for_scripts_and_what_ends),
        CASE(resume_tasks_take_their_place_among_the_others),
    };
    return run_group("resume", tests);
}

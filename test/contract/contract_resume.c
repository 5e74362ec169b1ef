// Resume tasks: what wakes a run, how often, and how that is shown.
#include "contract/contract.h"

enum { TASKS = 100 };

static Str task_id(World *world, int number) {
    return arena_printf(&world->arena, "t%d", number);
}

// A run that has queued a hundred tasks and waits for each of them (or for a signal only).
static void park_on_tasks(World *world, bool is_awaited) {
    Claimed claimed = create(world, "r");
    Op *op = turn(world, claimed, NEXT_SUSPEND);
    op->turn.tasks = ARENA_ARRAY(&world->arena, TaskSpec, TASKS);
    op->turn.task_count = TASKS;
    WaitItem *waits = ARENA_ARRAY(&world->arena, WaitItem, TASKS);
    for (int i = 0; i < TASKS; i++) {
        op->turn.tasks[i] = task_of(arena_cstr(&world->arena, task_id(world, i)));
        waits[i] = on_task(arena_cstr(&world->arena, task_id(world, i)));
    }
    if (!is_awaited) waits[0] = on_signal("go");
    set_waits(world, op, WAIT_EACH, waits, is_awaited ? TASKS : 1);
    op_run(world, op, OK);
}

static void add_completion(World *world, const TaskRow *task) {
    Op *op = op_add(world, OP_COMPLETE_TASK);
    op->complete_task.id = task->id;
    op->complete_task.token = task->token;
    op->complete_task.result = STR("1");
}

static void complete_in_one_batch(World *world) {
    Op *claimed = lease_tasks(world, "default", TASKS);
    assert_int_equal(claimed->claim_tasks.task_count, TASKS);
    TaskRow *tasks = claimed->claim_tasks.tasks;
    batch_new(world);
    for (int i = 0; i < TASKS; i++) add_completion(world, &tasks[i]);
    batch_run(world);
}

static Query list_tasks(World *world, const char *queue, int64_t after, int64_t limit) {
    Query query = {.queue = str_from(queue), .after = after, .limit = limit};
    assert_int_equal(read_query(world, &query, QUERY_LIST_TASKS), OK);
    return query;
}

static QueueStat system_queue(World *world) {
    Query query = {.name = STR("system")};
    assert_int_equal(read_query(world, &query, QUERY_QUEUE), OK);
    return query.queues[0];
}

static void hundred_completions_cause_two_turns(void **state) {
    World *world = *state;
    park_on_tasks(world, true);
    complete_in_one_batch(world);
    assert_int_equal(world->batch.ready_count, 1); // turn 1, with the first result
    assert_int_equal(world->batch.ready[0].resolved_count, 1);
    WaitItem *waits = ARENA_ARRAY(&world->arena, WaitItem, TASKS);
    for (int i = 1; i < TASKS; i++) {
        waits[i - 1] = on_task(arena_cstr(&world->arena, task_id(world, i)));
    }
    Op *op = park_on(world, ready_at(world, 0), WAIT_EACH, waits, TASKS - 1);
    assert_int_equal(op->turn.resolved_count, TASKS - 1); // turn 2, with all others
    assert_state(world, "r", RUN_RUNNING);
}

static void completions_one_by_one_leave_one_resume_task(void **state) {
    World *world = *state;
    park_on_tasks(world, true);
    assert_int_equal(list_tasks(world, "system", 0, 10).count, 0);
    Op *claimed = lease_tasks(world, "default", TASKS);
    TaskRow *tasks = claimed->claim_tasks.tasks;
    world->claim_max = 0; // nobody has room to execute it
    for (int i = 0; i < TASKS; i++) {
        batch_new(world);
        add_completion(world, &tasks[i]);
        batch_run(world);
    }
    Query query = list_tasks(world, "system", 0, 10);
    assert_int_equal(query.count, 1);
    assert_text(query.tasks[0].id, "resume-r");
    assert_text(query.tasks[0].name, "builtin.resume_workflow");
    assert_int_equal(query.tasks[0].state, TASK_QUEUED);
    assert_int_equal(query.tasks[0].priority, PRIORITY_MAX);
    assert_int_equal(query.tasks[0].run, get_run(world, "r").key);
    assert_text(get_task(world, "resume-r").queue, "system");
    assert_int_equal(system_queue(world).row.queued_count, 1);
    assert_int_equal(system_queue(world).oldest_at_ms, world->now_ms);
    Query queues = {0};
    assert_int_equal(read_query(world, &queues, QUERY_LIST_QUEUES), OK);
    assert_text(queues.queues[queues.count - 1].row.name, "system");
    world->claim_max = 100;
    claim(world, 10);
    assert_int_equal(list_tasks(world, "system", 0, 10).count, 0);
    assert_int_equal(system_queue(world).row.queued_count, 0);
    assert_int_equal(system_queue(world).row.running_count, 1);
    Query gone = {.name = STR("resume-r")};
    assert_int_equal(read_query(world, &gone, QUERY_TASK), ERR_NOT_FOUND);
}

static void tasks_nobody_waits_for_wake_nobody(void **state) {
    World *world = *state;
    park_on_tasks(world, false);
    complete_in_one_batch(world);
    assert_int_equal(world->batch.ready_count, 0);
    assert_int_equal(world->batch.unclaimed_count, 0);
    assert_state(world, "r", RUN_SUSPENDED);
    assert_int_equal(list_tasks(world, "system", 0, 10).count, 0);
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
        Query query = list_tasks(world, NULL, after, 4);
        assert_in_range(query.count, 1, 4);
        for (size_t i = 0; i < query.count; i++) {
            assert_true(query.tasks[i].key < last);
            last = query.tasks[i].key;
            if (str_equal(query.tasks[i].queue, STR("system"))) resume_count++;
            else task_count++;
        }
        after = query.next;
    } while (after != 0);
    assert_int_equal(resume_count, PAIRS);
    assert_int_equal(task_count, PAIRS);
    Query of_run = {.run_id = STR("r3")};
    assert_int_equal(read_query(world, &of_run, QUERY_LIST_TASKS), OK);
    assert_int_equal(of_run.count, 1);
    assert_text(of_run.tasks[0].id, "resume-r3");
    Query leased = {.states = 1u << TASK_LEASED};
    assert_int_equal(read_query(world, &leased, QUERY_LIST_TASKS), OK);
    assert_int_equal(leased.count, 0);
    assert_int_equal(lease_tasks(world, "system", 10)->claim_tasks.task_count, 0); // shown only
}

int contract_resume(void) {
    const struct CMUnitTest tests[] = {
        CASE(hundred_completions_cause_two_turns),
        CASE(completions_one_by_one_leave_one_resume_task),
        CASE(tasks_nobody_waits_for_wake_nobody),
        CASE(resume_tasks_take_their_place_among_the_others),
    };
    return cmocka_run_group_tests_name("resume", tests, NULL, NULL);
}

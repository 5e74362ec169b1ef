// Tasks: queues, priorities, leases with fencing tokens, retries with backoff, time-outs, and the
// run that waits for one.
#include "base/array.h"
#include "contract/contract.h"

static Op *heartbeat(World *world, const TaskRow *task, int64_t lease_ms, Status expected) {
    Op *op = op_new(world, OP_HEARTBEAT_TASK);
    op->in.heartbeat.id = task->id;
    op->in.heartbeat.token = task->token;
    op->in.heartbeat.lease_ms = lease_ms;
    op_run(world, op, expected);
    return op;
}

// ---- queueing and claiming ----

static void task_is_queued_leased_and_completed(void **state) {
    World *world = *state;
    TaskSpec spec = task_of("t1");
    Op *op = create_task(world, &spec);
    assert_true(op->out.create_task.is_new);
    assert_true(world->batch.out.has_tasks);
    assert_int_equal(get_task(world, "t1").state, TASK_QUEUED);
    TaskRow task = lease_one(world, "default");
    assert_text(task.id, "t1");
    assert_text(task.worker, "worker-1");
    assert_int_equal(task.attempt, 1);
    assert_int_equal(task.state, TASK_LEASED);
    complete_task(world, "t1", task.token, "{\"n\":2}");
    task = get_task(world, "t1");
    assert_int_equal(task.state, TASK_COMPLETED);
    assert_text(task.result, "{\"n\":2}");
    assert_int_equal(lease_tasks(world, "default", 10)->out.claim_tasks.task_count, 0);
}

static void places_of_secrets_come_with_every_lease(void **state) {
    World *world = *state;
    TaskSpec spec = task_of("t1");
    spec.input = STR("[\"[secret A]\"]");
    spec.secrets = STR("[[\"A\",\"\",0]]");
    spec.max_attempts = 2;
    create_task(world, &spec);
    TaskRow task = lease_one(world, "default");
    assert_text(task.secrets, "[[\"A\",\"\",0]]");
    fail_task(world, "t1", task.token, "{\"type\":\"Error\"}");
    world_reopen(world);
    task = lease_one(world, "default");
    assert_text(task.input, "[\"[secret A]\"]");
    assert_text(task.secrets, "[[\"A\",\"\",0]]");
    TaskSpec plain = task_of("t2");
    create_task(world, &plain);
    assert_true(str_is_null(lease_one(world, "default").secrets));
}

// What is kept of a leased task in memory is what the store has, whatever its size.
static void leased_tasks_of_all_sizes_are_known_as_they_are_stored(void **state) {
    World *world = *state;
    static const size_t sizes[] = {0, 1, 4000, 4096, 9000};
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        TaskSpec spec = task_of(arena_printf(&world->arena, "t%zu", i).data);
        char *input = arena_alloc(&world->arena, sizes[i] + 1);
        memset(input, 'x', sizes[i]);
        spec.input = (Str){input, sizes[i]};
        spec.max_attempts = 2;
        create_task(world, &spec);
        TaskRow task = lease_one(world, "default");
        Op *op = op_new(world, OP_HEARTBEAT_TASK);
        op->in.heartbeat.id = task.id;
        op->in.heartbeat.token = task.token;
        op->in.heartbeat.progress = STR("\"half\"");
        op_run(world, op, OK);
        fail_task(world, spec.id.data, task.token, "{\"type\":\"Error\"}");
        TaskRow again = lease_one(world, "default");
        assert_int_equal(again.attempt, 2);
        assert_text(again.progress, "\"half\"");
        if (i % 2 == 0) world_reopen(world);
        complete_task(world, spec.id.data, again.token, "{\"n\":2}");
        TaskRow done = get_task(world, spec.id.data);
        assert_int_equal(done.state, TASK_COMPLETED);
        assert_int_equal(done.input.len, sizes[i]);
        assert_text(done.progress, "\"half\"");
        assert_text(done.error, "{\"type\":\"Error\"}");
        assert_text(done.worker, "worker-1");
    }
}

static void task_id_queued_twice_answers_the_first(void **state) {
    World *world = *state;
    TaskSpec spec = task_of("t1");
    int64_t key = create_task(world, &spec)->out.create_task.key;
    spec.input = STR("\"other\"");
    Op *op = create_task(world, &spec);
    assert_false(op->out.create_task.is_new);
    assert_int_equal(op->out.create_task.key, key);
    assert_false(world->batch.out.has_tasks);
    assert_text(get_task(world, "t1").input, "{\"n\":1}");
    assert_int_equal(get_counter(world, COUNTER_TASKS_FIRST + TASK_QUEUED), 1);
}

static void task_leased_once_is_leased_to_nobody_else(void **state) {
    World *world = *state;
    TaskSpec spec = task_of("t1");
    create_task(world, &spec);
    lease_one(world, "default");
    assert_int_equal(lease_tasks(world, "default", 10)->out.claim_tasks.task_count, 0);
}

static void queues_are_separate_and_served_in_the_order_asked_for(void **state) {
    World *world = *state;
    const char *const queues[] = {"a", "b", "c"};
    for (int i = 0; i < 6; i++) {
        TaskSpec spec = task_of(arena_printf(&world->arena, "t%d", i).data);
        spec.queue = str_from(queues[i % 3]);
        create_task(world, &spec);
    }
    assert_int_equal(lease_tasks(world, "default", 10)->out.claim_tasks.task_count, 0);
    Op *op = op_new(world, OP_CLAIM_TASKS);
    op->in.claim_tasks.queues = (Str[]){STR("c"), STR("a")};
    op->in.claim_tasks.queue_count = 2;
    op->in.claim_tasks.max = 3;
    op_run(world, op, OK);
    assert_int_equal(op->out.claim_tasks.task_count, 3);
    assert_text(op->out.claim_tasks.tasks[0].id, "t2");
    assert_text(op->out.claim_tasks.tasks[1].id, "t5");
    assert_text(op->out.claim_tasks.tasks[2].id, "t0");
}

static void higher_priority_first_then_first_in_first_out(void **state) {
    World *world = *state;
    const int64_t priorities[] = {0, 10, -5, 10, 0};
    for (int i = 0; i < 5; i++) {
        TaskSpec spec = task_of(arena_printf(&world->arena, "t%d", i).data);
        spec.priority = priorities[i];
        create_task(world, &spec);
    }
    const char *const expected[] = {"t1", "t3", "t0", "t4", "t2"};
    for (int i = 0; i < 5; i++) assert_text(lease_one(world, "default").id, expected[i]);
}

static Op *add_named(World *world, const char *id, const char *name, int64_t priority) {
    TaskSpec task = task_of(id);
    task.name = str_from(name);
    task.priority = priority;
    return add_task(world, &task);
}

// However many tasks of other names wait in front of them.
static void other_names_hold_nobody_up(void **state) {
    World *world = *state;
    for (int i = 0; i < 3; i++) {
        batch_new(world);
        for (int j = 0; j < 1000; j++) {
            add_named(world, arena_printf(&world->arena, "m%d", i * 1000 + j).data, "mail", 0);
        }
        batch_run(world);
    }
    batch_new(world);
    add_named(world, "s1", "ship", 0);
    add_named(world, "p1", "pack", 0);
    add_named(world, "s2", "ship", 5);
    add_named(world, "p2", "pack", 0);
    batch_run(world);
    Op *op = op_new(world, OP_CLAIM_TASKS);
    op->in.claim_tasks.worker = STR("worker");
    op->in.claim_tasks.queues = (Str[]){STR("default")};
    op->in.claim_tasks.queue_count = 1;
    op->in.claim_tasks.names = (Str[]){STR("pack"), STR("ship"), STR("pack"), STR("none")};
    op->in.claim_tasks.name_count = 4;
    op->in.claim_tasks.max = 3;
    op->in.claim_tasks.lease_ms = MINUTE_MS;
    op_run(world, op, OK);
    static const char *const expected[] = {"s2", "s1", "p1"}; // by priority, then by age
    assert_int_equal(op->out.claim_tasks.task_count, 3);
    for (size_t i = 0; i < 3; i++) assert_text(op->out.claim_tasks.tasks[i].id, expected[i]);
    assert_int_equal(lease_tasks(world, "default", 1)->out.claim_tasks.task_count, 1);
    assert_int_equal(get_task(world, "m0").state, TASK_LEASED);
}

static void claim_can_ask_for_names(void **state) {
    World *world = *state;
    for (int i = 0; i < 6; i++) {
        TaskSpec spec = task_of(arena_printf(&world->arena, "t%d", i).data);
        spec.name = i == 4 ? STR("ship") : STR("charge");
        create_task(world, &spec);
    }
    Op *op = op_new(world, OP_CLAIM_TASKS);
    op->in.claim_tasks.queues = (Str[]){STR("default")};
    op->in.claim_tasks.queue_count = 1;
    op->in.claim_tasks.names = (Str[]){STR("ship"), STR("pack")};
    op->in.claim_tasks.name_count = 2;
    op->in.claim_tasks.max = 10;
    op_run(world, op, OK);
    assert_int_equal(op->out.claim_tasks.task_count, 1);
    assert_text(op->out.claim_tasks.tasks[0].id, "t4");
}

static void claim_without_a_queue_or_for_nothing_is_refused(void **state) {
    World *world = *state;
    Op *op = op_new(world, OP_CLAIM_TASKS);
    op->in.claim_tasks.max = 1;
    op_run(world, op, ERR_INVALID);
    op = op_new(world, OP_CLAIM_TASKS);
    op->in.claim_tasks.queues = (Str[]){STR("default")};
    op->in.claim_tasks.queue_count = 1;
    op_run(world, op, ERR_INVALID);
    assert_refused(op, ERR_INVALID, "BAD_CLAIM");
}

static void claim_says_whose_the_tasks_are(void **state) {
    World *world = *state;
    RunSpec owner = spec_of("owner");
    owner.tags = STR("eu\nred");
    Op *op = turn(world, create_from(world, &owner), NEXT_CONTINUE);
    TaskSpec spec = task_of("of_run");
    set_task(world, op, &spec);
    op_run(world, op, OK);
    spec = task_of("alone");
    create_task(world, &spec);
    world_reopen(world); // nothing is cached
    op = lease_tasks(world, "default", 2);
    assert_int_equal(op->out.claim_tasks.task_count, 2);
    assert_text(op->out.claim_tasks.runs[0].id, "owner");
    assert_text(op->out.claim_tasks.runs[0].tags, "eu\nred");
    assert_true(str_is_null(op->out.claim_tasks.runs[1].id));
    assert_true(str_is_null(op->out.claim_tasks.runs[1].tags));
}

static void delayed_task_is_claimable_when_due(void **state) {
    World *world = *state;
    TaskSpec spec = task_of("t1");
    spec.delay_ms = 1000;
    create_task(world, &spec);
    assert_false(world->batch.out.has_tasks);
    assert_int_equal(world->batch.out.earliest_due_ms, START_MS + 1000);
    assert_int_equal(lease_tasks(world, "default", 1)->out.claim_tasks.task_count, 0);
    assert_int_equal(fire_at(world, START_MS + 999)->out.fire_due.task_count, 0);
    assert_int_equal(fire_at(world, START_MS + 1000)->out.fire_due.task_count, 1);
    assert_true(world->batch.out.has_tasks);
    lease_one(world, "default");
}

// ---- fencing ----

static Op *lease_with_secret(World *world, uint64_t secret, int64_t max) {
    static const Str queues[] = {STR("default")};
    batch_new(world);
    world->batch.secret = (LeaseSecret){{secret, secret, secret, secret}};
    Op *op = op_add(world, OP_CLAIM_TASKS);
    op->in.claim_tasks.worker = STR("worker-1");
    op->in.claim_tasks.queues = (Str *)(uintptr_t)queues;
    op->in.claim_tasks.queue_count = 1;
    op->in.claim_tasks.max = max;
    op->in.claim_tasks.lease_ms = MINUTE_MS;
    batch_run(world);
    return op;
}

static void token_of_a_lease_cannot_be_told_from_others(void **state) {
    World *world = *state;
    enum { COUNT = 24 };
    int64_t tokens[COUNT];
    for (int i = 0; i < COUNT; i++) {
        TaskSpec spec = task_of(arena_printf(&world->arena, "t%d", i).data);
        create_task(world, &spec);
    }
    for (int i = 0; i < COUNT; i += 8) { // the first of each eight alone
        Op *op = lease_with_secret(world, (uint64_t)i, 1);
        tokens[i] = op->out.claim_tasks.tasks[0].token;
        op = lease_with_secret(world, (uint64_t)i, 7);
        for (int k = 0; k < 7; k++) tokens[i + 1 + k] = op->out.claim_tasks.tasks[k].token;
    }
    for (int i = 0; i < COUNT; i++) {
        assert_in_range(tokens[i], 1, (INT64_C(1) << 53) - 1);
        for (int k = 0; k < i; k++) {
            int64_t distance = tokens[i] - tokens[k];
            assert_true(llabs(distance) > INT64_C(1) << 30); // no way to guess
        }
    }
    complete_task(world, "t0", tokens[0], "1");
}

static void stale_token_changes_nothing(void **state) {
    World *world = *state;
    TaskSpec spec = task_of("t1");
    spec.max_attempts = 5;
    create_task(world, &spec);
    TaskRow old = lease_one(world, "default");
    fire_at(world, START_MS + MINUTE_MS); // the lease runs out
    TaskRow task = lease_one(world, "default");
    assert_true(task.token != old.token);
    assert_int_equal(task.attempt, 2);
    Str before = world_dump(world);
    batch_new(world);
    Op *completed = op_add(world, OP_COMPLETE_TASK);
    completed->in.complete_task.id = STR("t1");
    completed->in.complete_task.token = old.token;
    Op *failed = op_add(world, OP_FAIL_TASK);
    failed->in.fail_task.id = STR("t1");
    failed->in.fail_task.token = old.token;
    Op *alive = op_add(world, OP_HEARTBEAT_TASK);
    alive->in.heartbeat.id = STR("t1");
    alive->in.heartbeat.token = old.token;
    batch_run(world);
    assert_refused(completed, ERR_FENCED, "TASK_FENCED");
    assert_refused(failed, ERR_FENCED, "TASK_FENCED");
    assert_refused(alive, ERR_FENCED, "TASK_FENCED");
    assert_unchanged(world, before);
    complete_task(world, "t1", task.token, "1");
}

static void completion_repeated_with_its_token_is_answered_ok(void **state) {
    World *world = *state;
    TaskSpec spec = task_of("t1");
    create_task(world, &spec);
    TaskRow task = lease_one(world, "default");
    complete_task(world, "t1", task.token, "1");
    Str before = world_dump(world);
    complete_task(world, "t1", task.token, "1");
    assert_unchanged(world, before);
}

static void another_result_under_the_same_token_is_refused(void **state) {
    World *world = *state;
    TaskSpec spec = task_of("t1");
    create_task(world, &spec);
    TaskRow task = lease_one(world, "default");
    complete_task(world, "t1", task.token, "1");
    Str before = world_dump(world);
    Op *other = op_new(world, OP_COMPLETE_TASK);
    other->in.complete_task.id = STR("t1");
    other->in.complete_task.token = task.token;
    other->in.complete_task.result = STR("2");
    op_run(world, other, ERR_FENCED);
    assert_unchanged(world, before);
    Op *op = op_new(world, OP_FAIL_TASK);
    op->in.fail_task.id = STR("t1");
    op->in.fail_task.token = task.token;
    op_run(world, op, ERR_FENCED);
    assert_text(get_task(world, "t1").result, "1");
}

static void task_that_is_not_leased_cannot_be_completed(void **state) {
    World *world = *state;
    TaskSpec spec = task_of("t1");
    create_task(world, &spec);
    Op *op = op_new(world, OP_COMPLETE_TASK);
    op->in.complete_task.id = STR("t1");
    op_run(world, op, ERR_FENCED);
}

// ---- retries ----

static void failed_attempts_back_off_by_policy_and_survive_a_crash(void **state) {
    World *world = *state;
    TaskSpec spec = task_of("t1");
    spec.max_attempts = 4;
    spec.backoff_ms = 1000;
    spec.backoff_factor_pct = 200;
    spec.backoff_max_ms = 3000;
    create_task(world, &spec);
    const int64_t delays[] = {1000, 2000, 3000};
    for (int i = 0; i < 3; i++) {
        TaskRow task = lease_one(world, "default");
        assert_int_equal(task.attempt, i + 1);
        Op *op = fail_task(world, "t1", task.token, "{\"type\":\"Busy\"}");
        assert_true(op->out.fail_task.is_retried);
        assert_int_equal(op->out.fail_task.retry_at_ms, world->now_ms + delays[i]);
        world_crash(world);
        assert_int_equal(lease_tasks(world, "default", 1)->out.claim_tasks.task_count, 0);
        fire_at(world, world->now_ms + delays[i] - 1);
        assert_int_equal(lease_tasks(world, "default", 1)->out.claim_tasks.task_count, 0);
        fire_at(world, world->now_ms + 1);
    }
    Op *op = fail_task(world, "t1", lease_one(world, "default").token, "{\"type\":\"Busy\"}");
    assert_false(op->out.fail_task.is_retried);
    TaskRow task = get_task(world, "t1");
    assert_int_equal(task.state, TASK_FAILED);
    assert_int_equal(task.attempt, 4);
    assert_text(task.error, "{\"type\":\"Busy\"}");
}

static void retry_without_backoff_is_claimable_at_once(void **state) {
    World *world = *state;
    TaskSpec spec = task_of("t1");
    spec.max_attempts = 2;
    create_task(world, &spec);
    Op *op = fail_task(world, "t1", lease_one(world, "default").token, "{}");
    assert_true(op->out.fail_task.is_retried);
    assert_true(world->batch.out.has_tasks);
    assert_int_equal(lease_one(world, "default").attempt, 2);
}

static void jitter_stays_within_its_bounds_and_is_the_same_everywhere(void **state) {
    World *world = *state;
    bool is_spread = false;
    for (int i = 0; i < 20; i++) {
        TaskSpec spec = task_of(arena_printf(&world->arena, "t%d", i).data);
        spec.max_attempts = 2;
        spec.backoff_ms = 10000;
        spec.jitter_pct = 20;
        create_task(world, &spec);
        Op *op = fail_task(world, spec.id.data, lease_one(world, "default").token, "{}");
        int64_t delay = op->out.fail_task.retry_at_ms - world->now_ms;
        assert_in_range(delay, 8000, 12000);
        is_spread |= delay != 10000;
    }
    assert_true(is_spread);
}

static void final_and_non_retryable_errors_are_not_retried(void **state) {
    World *world = *state;
    for (int i = 0; i < 2; i++) {
        TaskSpec spec = task_of(arena_printf(&world->arena, "t%d", i).data);
        spec.max_attempts = 5;
        spec.non_retryable = STR("CardError\nFraudError");
        create_task(world, &spec);
        TaskRow task = lease_one(world, "default");
        Op *op = op_new(world, OP_FAIL_TASK);
        op->in.fail_task.id = spec.id;
        op->in.fail_task.token = task.token;
        op->in.fail_task.type = i == 0 ? STR("FraudError") : STR("Busy");
        op->in.fail_task.is_final = i == 1;
        op_run(world, op, OK);
        assert_false(op->out.fail_task.is_retried);
        assert_int_equal(get_task(world, spec.id.data).state, TASK_FAILED);
    }
    TaskSpec spec = task_of("prefix"); // whole words only
    spec.max_attempts = 5;
    spec.non_retryable = STR("CardErrors");
    create_task(world, &spec);
    TaskRow task = lease_one(world, "default");
    Op *op = op_new(world, OP_FAIL_TASK);
    op->in.fail_task.id = STR("prefix");
    op->in.fail_task.token = task.token;
    op->in.fail_task.type = STR("CardError");
    op_run(world, op, OK);
    assert_true(op->out.fail_task.is_retried);
}

static void retry_task_queues_a_failed_one_again(void **state) {
    World *world = *state;
    TaskSpec spec = task_of("t1");
    create_task(world, &spec);
    fail_task(world, "t1", lease_one(world, "default").token, "{}");
    assert_int_equal(get_task(world, "t1").state, TASK_FAILED);
    Op *op = op_new(world, OP_RETRY_TASK);
    op->in.retry_task.id = STR("t1");
    op_run(world, op, OK);
    assert_true(world->batch.out.has_tasks);
    TaskRow task = lease_one(world, "default");
    assert_int_equal(task.attempt, 2); // attempts go on counting
    op = op_new(world, OP_RETRY_TASK);
    op->in.retry_task.id = STR("t1");
    op_run(world, op, ERR_CONFLICT);
    assert_refused(op, ERR_CONFLICT, "TASK_NOT_FAILED");
    complete_task(world, "t1", task.token, "1");
}

static Op *retry_task(World *world, const char *id, Status expected) {
    Op *op = op_new(world, OP_RETRY_TASK);
    op->in.retry_task.id = str_from(id);
    op_run(world, op, expected);
    return op;
}

static void retry_task_makes_one_in_backoff_claimable_at_once(void **state) {
    World *world = *state;
    TaskSpec spec = task_of("t1");
    spec.max_attempts = 3;
    spec.backoff_ms = 3600 * 1000;
    Op *op = turn(world, create(world, "r1"), NEXT_CONTINUE); // also one that belongs to a run
    set_task(world, op, &spec);
    op_run(world, op, OK);
    TaskRow task = lease_one(world, "default");
    fail_task(world, "t1", task.token, "{}");
    assert_int_equal(get_task(world, "t1").claim_rank, 0);
    assert_int_equal(get_task(world, "t1").due_at_ms, world->now_ms + 3600 * 1000);
    assert_true(retry_task(world, "t1", OK)->out.retry_task.is_changed);
    assert_true(world->batch.out.has_tasks);
    assert_int_equal(get_task(world, "t1").due_at_ms, 0);
    assert_int_equal(get_task(world, "t1").max_attempts, 3); // no attempt is given on top
    assert_false(retry_task(world, "t1", OK)->out.retry_task.is_changed); // it is due already
    task = lease_one(world, "default");
    assert_int_equal(task.attempt, 2);
    assert_refused(retry_task(world, "t1", ERR_CONFLICT), ERR_CONFLICT, "TASK_HAS_RUN");
    complete_task(world, "t1", task.token, "1");
}

static void retry_task_of_a_key_waits_for_the_others_of_the_key(void **state) {
    World *world = *state;
    for (int i = 0; i < 2; i++) {
        TaskSpec spec = task_of(i == 0 ? "t1" : "t2");
        spec.concurrency_key = STR("k");
        spec.max_attempts = 2;
        spec.backoff_ms = 3600 * 1000;
        create_task(world, &spec);
    }
    fail_task(world, "t1", lease_one(world, "default").token, "{}");
    TaskRow second = lease_one(world, "default");
    assert_true(str_equal(second.id, STR("t2")));
    assert_true(retry_task(world, "t1", OK)->out.retry_task.is_changed);
    assert_false(retry_task(world, "t1", OK)->out.retry_task.is_changed); // blocked by t2 now
    assert_int_equal(get_task(world, "t1").claim_rank, 0);
    complete_task(world, "t2", second.token, "1");
    assert_true(str_equal(lease_one(world, "default").id, STR("t1")));
}

static void retry_task_of_a_run_is_refused(void **state) {
    World *world = *state;
    TaskSpec spec = task_of("t1");
    Op *op = turn(world, create(world, "r1"), NEXT_CONTINUE);
    set_task(world, op, &spec);
    op_run(world, op, OK);
    fail_task(world, "t1", lease_one(world, "default").token, "{}");
    op = op_new(world, OP_RETRY_TASK);
    op->in.retry_task.id = STR("t1");
    op_run(world, op, ERR_CONFLICT);
    assert_refused(op, ERR_CONFLICT, "TASK_HAS_RUN");
}

static void release_task(World *world, const TaskRow *task, Status expected) {
    Op *op = op_new(world, OP_RELEASE_TASK);
    op->in.release_task.id = STR("t1");
    op->in.release_task.token = task->token;
    op_run(world, op, expected);
}

static void released_task_is_claimed_again_as_if_it_had_never_been(void **state) {
    World *world = *state;
    TaskSpec spec = task_of("t1");
    create_task(world, &spec);
    TaskRow task = lease_one(world, "default");
    release_task(world, &task, OK);
    assert_true(world->batch.out.has_tasks);
    TaskRow again = lease_one(world, "default");
    assert_int_equal(again.attempt, 1);
    Str before = world_dump(world);
    release_task(world, &task, ERR_FENCED); // that lease is over
    assert_unchanged(world, before);
    complete_task(world, "t1", again.token, "1");
}

static void released_task_of_a_cancelled_run_ends(void **state) {
    World *world = *state;
    TaskSpec spec = task_of("t1");
    Op *op = turn(world, create(world, "r1"), NEXT_SUSPEND);
    set_task(world, op, &spec);
    set_waits(world, op, WAIT_FIRST, (WaitItem[]){on_signal("go")}, 1);
    op_run(world, op, OK);
    TaskRow task = lease_one(world, "default");
    op = op_new(world, OP_CANCEL);
    op->in.cancel.run_id = STR("r1");
    op_run(world, op, OK);
    release_task(world, &task, OK);
    assert_int_equal(get_task(world, "t1").state, TASK_CANCELLED);
}

// ---- leases and time-outs ----

static void lost_lease_counts_as_an_attempt_and_queues_it_again(void **state) {
    World *world = *state;
    TaskSpec spec = task_of("t1");
    spec.max_attempts = 2;
    create_task(world, &spec);
    lease_one(world, "default");
    assert_int_equal(fire_at(world, START_MS + MINUTE_MS - 1)->out.fire_due.task_count, 0);
    assert_int_equal(fire_at(world, START_MS + MINUTE_MS)->out.fire_due.task_count, 1);
    assert_int_equal(lease_one(world, "default").attempt, 2);
    fire_at(world, START_MS + 3 * MINUTE_MS); // retry exhaustion reaches failed
    TaskRow task = get_task(world, "t1");
    assert_int_equal(task.state, TASK_FAILED);
    assert_non_null(memmem(task.error.data, task.error.len, "TaskTimeoutError", 16));
}

static void heartbeats_keep_the_lease(void **state) {
    World *world = *state;
    TaskSpec spec = task_of("t1");
    create_task(world, &spec);
    TaskRow task = lease_one(world, "default");
    for (int i = 1; i <= 5; i++) {
        world->now_ms = START_MS + i * (MINUTE_MS - 1);
        assert_int_equal(fire(world)->out.fire_due.task_count, 0);
        assert_false(heartbeat(world, &task, MINUTE_MS, OK)->out.heartbeat.is_cancel_wanted);
    }
    complete_task(world, "t1", task.token, "1");
}

static void heartbeat_time_out_is_shorter_than_the_lease(void **state) {
    World *world = *state;
    TaskSpec spec = task_of("t1");
    spec.heartbeat_ms = 1000;
    spec.max_attempts = 2;
    create_task(world, &spec);
    TaskRow task = lease_one(world, "default");
    assert_int_equal(task.due_at_ms, START_MS + 1000);
    world->now_ms = START_MS + 900;
    heartbeat(world, &task, MINUTE_MS, OK);
    assert_int_equal(get_task(world, "t1").due_at_ms, START_MS + 1900);
    assert_int_equal(fire_at(world, START_MS + 1900)->out.fire_due.task_count, 1);
    heartbeat(world, &task, MINUTE_MS, ERR_FENCED);
}

static void start_to_close_time_out_bounds_heartbeats(void **state) {
    World *world = *state;
    TaskSpec spec = task_of("t1");
    spec.run_timeout_ms = 90 * 1000;
    create_task(world, &spec);
    TaskRow task = lease_one(world, "default");
    world->now_ms = START_MS + 50 * 1000;
    heartbeat(world, &task, MINUTE_MS, OK);
    assert_int_equal(get_task(world, "t1").due_at_ms, START_MS + 90 * 1000);
    fire_at(world, START_MS + 90 * 1000);
    assert_int_equal(get_task(world, "t1").state, TASK_FAILED);
}

static void schedule_to_start_time_out_fails_the_task_for_good(void **state) {
    World *world = *state;
    TaskSpec spec = task_of("t1");
    spec.start_timeout_ms = 1000;
    spec.max_attempts = 5;
    create_task(world, &spec);
    world->now_ms = START_MS + 1000; // not fired yet, and yet too late to be started
    assert_int_equal(lease_tasks(world, "default", 1)->out.claim_tasks.task_count, 0);
    assert_int_equal(fire(world)->out.fire_due.task_count, 1);
    assert_int_equal(get_task(world, "t1").state, TASK_FAILED);
    spec.id = STR("t2");
    create_task(world, &spec);
    lease_one(world, "default"); // in time
    fire_at(world, world->now_ms + 1000);
    assert_int_equal(get_task(world, "t2").state, TASK_LEASED);
}

static void non_retryable_time_out_is_not_retried(void **state) {
    World *world = *state;
    TaskSpec spec = task_of("t1");
    spec.max_attempts = 5;
    spec.non_retryable = STR("TaskTimeoutError");
    create_task(world, &spec);
    lease_one(world, "default");
    fire_at(world, START_MS + MINUTE_MS);
    assert_int_equal(get_task(world, "t1").state, TASK_FAILED);
}

// ---- tasks of runs ----

static Claimed await_task(World *world, Claimed claimed, const TaskSpec *spec) {
    Op *op = turn(world, claimed, NEXT_SUSPEND);
    set_task(world, op, spec);
    set_waits(world, op, WAIT_FIRST, (WaitItem[]){on_task(spec->id.data)}, 1);
    op_run(world, op, OK);
    assert_int_equal(op->out.turn.state, RUN_SUSPENDED);
    return claimed;
}

static void completion_wakes_the_run_in_the_same_operation(void **state) {
    World *world = *state;
    TaskSpec spec = task_of("t1");
    Claimed claimed = await_task(world, create(world, "r1"), &spec);
    assert_int_equal(get_run(world, "r1").idle_since_ms, 0); // work is under way
    TaskRow task = lease_one(world, "default");
    assert_int_equal(task.run, claimed.run);
    complete_task(world, "t1", task.token, "7");
    assert_int_equal(world->batch.out.ready[0].run, claimed.run);
    assert_resolved(world->batch.out.ready[0].resolved, world->batch.out.ready[0].resolved_count, 0,
                    OUTCOME_OK, "7");
}

static void failure_for_good_wakes_the_run_with_the_error(void **state) {
    World *world = *state;
    TaskSpec spec = task_of("t1");
    spec.max_attempts = 2;
    await_task(world, create(world, "r1"), &spec);
    fail_task(world, "t1", lease_one(world, "default").token, "{\"n\":1}");
    assert_int_equal(world->batch.out.ready_count, 0); // it will be tried again
    assert_state(world, "r1", RUN_SUSPENDED);
    fail_task(world, "t1", lease_one(world, "default").token, "{\"n\":2}");
    assert_resolved(world->batch.out.ready[0].resolved, world->batch.out.ready[0].resolved_count, 0,
                    OUTCOME_ERROR, "{\"n\":2}");
}

static void time_out_for_good_wakes_the_run(void **state) {
    World *world = *state;
    TaskSpec spec = task_of("t1");
    spec.start_timeout_ms = 500;
    await_task(world, create(world, "r1"), &spec);
    fire_at(world, START_MS + 500);
    assert_int_equal(world->batch.out.ready_count, 1);
    assert_int_equal(world->batch.out.ready[0].resolved[0].outcome, OUTCOME_ERROR);
}

static void task_that_ended_before_the_wait_resolves_it_at_once(void **state) {
    World *world = *state;
    TaskSpec spec = task_of("t1");
    Claimed claimed = create(world, "r1");
    Op *op = turn(world, claimed, NEXT_CONTINUE);
    set_task(world, op, &spec);
    op_run(world, op, OK);
    complete_task(world, "t1", lease_one(world, "default").token, "7");
    assert_int_equal(world->batch.out.ready_count, 0);
    op = park(world, claimed, on_task("t1"));
    assert_resolved(op->out.turn.resolved, op->out.turn.resolved_count, 0, OUTCOME_OK, "7");
}

static void fire_and_forget_task_wakes_nobody(void **state) {
    World *world = *state;
    TaskSpec spec = task_of("t1");
    Op *op = turn(world, create(world, "r1"), NEXT_SUSPEND);
    set_task(world, op, &spec);
    set_waits(world, op, WAIT_FIRST, (WaitItem[]){on_signal("go")}, 1);
    op_run(world, op, OK);
    complete_task(world, "t1", lease_one(world, "default").token, "7");
    assert_int_equal(world->batch.out.ready_count, 0);
    assert_state(world, "r1", RUN_SUSPENDED);
    assert_int_equal(entry_count(world, "r1", LOG_WAIT), 0);
}

static void repeated_turn_queues_no_second_task(void **state) {
    World *world = *state;
    TaskSpec spec = task_of("t1");
    Claimed claimed = create(world, "r1");
    int64_t keys[2];
    for (int i = 0; i < 2; i++) {
        Op *op = turn(world, claimed, NEXT_CONTINUE);
        set_task(world, op, &spec);
        op_run(world, op, OK);
        keys[i] = op->out.turn.task_keys[0];
    }
    assert_int_equal(keys[0], keys[1]);
    assert_int_equal(get_counter(world, COUNTER_TASKS_FIRST + TASK_QUEUED), 1);
}

// A run with a task that waits, one that is being done, and one that is done.
static Claimed run_with_tasks(World *world, TaskRow *ret_leased) {
    TaskSpec specs[] = {task_of("queued"), task_of("leased"), task_of("done")};
    specs[1].queue = STR("q");
    specs[2].queue = STR("d");
    Claimed claimed = create(world, "r1");
    Op *op = turn(world, claimed, NEXT_CONTINUE);
    op->in.turn.tasks = specs;
    op->in.turn.task_count = 3;
    op_run(world, op, OK);
    *ret_leased = lease_one(world, "q");
    complete_task(world, "done", lease_one(world, "d").token, "1");
    return claimed;
}

static void run_that_ends_by_itself_lets_its_tasks_go_on(void **state) {
    World *world = *state;
    TaskRow leased;
    Claimed claimed = run_with_tasks(world, &leased);
    finish(world, claimed, NEXT_FAIL, "{}");
    assert_false(heartbeat(world, &leased, 1000, OK)->out.heartbeat.is_cancel_wanted);
    complete_task(world, "leased", leased.token, "2");
    complete_task(world, "queued", lease_one(world, "default").token, "3");
    assert_text(get_task(world, "leased").result, "2");
    assert_text(get_task(world, "queued").result, "3");
}

static void purged_run_lets_its_tasks_go_on(void **state) {
    World *world = *state;
    TaskRow leased;
    Claimed claimed = run_with_tasks(world, &leased);
    finish(world, claimed, NEXT_COMPLETE, "1");
    Op *op = op_new(world, OP_PURGE_RUN);
    op->in.purge.run_id = STR("r1");
    op_run(world, op, OK);
    TaskRow task;
    assert_status(store_find_task(world->store, &world->arena, STR("done"), &task, &world->diag),
                  ERR_NOT_FOUND);
    world_reopen(world);
    complete_task(world, "leased", leased.token, "2");
    complete_task(world, "queued", lease_one(world, "default").token, "3");
    assert_int_equal(get_task(world, "queued").run, 0);
    assert_int_equal(get_task(world, "queued").state, TASK_COMPLETED);
    assert_int_equal(get_task(world, "leased").state, TASK_COMPLETED);
}

static void run_that_is_cut_off_cancels_its_tasks(void **state) {
    World *world = *state;
    TaskRow leased;
    run_with_tasks(world, &leased);
    Op *op = op_new(world, OP_CANCEL);
    op->in.cancel.run_id = STR("r1");
    op_run(world, op, OK);
    assert_int_equal(get_task(world, "queued").state, TASK_CANCELLED);
    assert_int_equal(get_task(world, "done").state, TASK_COMPLETED);
    assert_int_equal(lease_tasks(world, "default", 1)->out.claim_tasks.task_count, 0);
    assert_true(heartbeat(world, &leased, 1000, OK)->out.heartbeat.is_cancel_wanted);
    op = fail_task(world, "leased", leased.token, "{}"); // it stopped, as told
    assert_false(op->out.fail_task.is_retried);
    assert_int_equal(get_task(world, "leased").state, TASK_CANCELLED);
}

static void cancelled_task_whose_worker_is_gone_is_not_tried_again(void **state) {
    World *world = *state;
    TaskSpec spec = task_of("t1");
    spec.max_attempts = 5;
    Claimed claimed = create(world, "r1");
    Op *op = turn(world, claimed, NEXT_CONTINUE);
    set_task(world, op, &spec);
    op_run(world, op, OK);
    lease_one(world, "default");
    finish(world, claimed, NEXT_CANCELLED, "{}");
    fire_at(world, START_MS + MINUTE_MS);
    assert_int_equal(get_task(world, "t1").state, TASK_CANCELLED);
}

static void stand_alone_task_is_kept_a_while_and_then_removed(void **state) {
    World *world = *state;
    TaskSpec spec = task_of("t1");
    create_task(world, &spec);
    complete_task(world, "t1", lease_one(world, "default").token, "1");
    fire_at(world, START_MS + WEEK_MS - 1);
    assert_int_equal(get_task(world, "t1").state, TASK_COMPLETED);
    fire_at(world, START_MS + WEEK_MS);
    TaskRow task;
    assert_status(store_find_task(world->store, &world->arena, STR("t1"), &task, &world->diag),
                  ERR_NOT_FOUND);
    assert_string_equal(world->diag.code, "TASK_NOT_FOUND");
    assert_int_equal(get_counter(world, COUNTER_TASKS_FIRST + TASK_COMPLETED), 0);
}

// ---- idempotency keys, losers ----

static Claimed park_on_shared(World *world, const char *run_id) {
    Claimed claimed = create(world, run_id);
    TaskSpec spec = task_of("task:charge-7");
    Op *op = turn(world, claimed, NEXT_SUSPEND);
    set_task(world, op, &spec);
    set_waits(world, op, WAIT_EACH, (WaitItem[]){on_task("task:charge-7")}, 1);
    op_run(world, op, OK);
    return claimed;
}

static void task_with_an_idempotency_key_runs_once_and_wakes_every_run(void **state) {
    World *world = *state;
    park_on_shared(world, "a");
    park_on_shared(world, "b");
    park_on_shared(world, "c");
    TaskRow leased = lease_one(world, "default");
    assert_int_equal(lease_tasks(world, "default", 5)->out.claim_tasks.task_count, 0);
    complete_task(world, "task:charge-7", leased.token, "7");
    assert_int_equal(world->batch.out.ready_count, 3);
    for (size_t i = 0; i < 3; i++) {
        const ReadyRun *ready = &world->batch.out.ready[i];
        assert_resolved(ready->resolved, ready->resolved_count, 0, OUTCOME_OK, "7");
    }
    park_on_shared(world, "late"); // has ended already
    assert_state(world, "late", RUN_RUNNING);
}

static void end_of_the_run_that_queued_it_strands_nobody(void **state) {
    World *world = *state;
    park_on_shared(world, "a");
    park_on_shared(world, "b");
    cancel_run(world, "a", 0);
    assert_state(world, "b", RUN_RUNNING);
    const ReadyRun *ready = &world->batch.out.ready[0];
    assert_int_equal(ready->resolved_count, 1);
    assert_int_equal(ready->resolved[0].outcome, OUTCOME_ERROR);
}

static void loser_of_a_race_is_recorded_and_not_delivered(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r");
    TaskSpec specs[] = {task_of("fast"), task_of("slow")};
    Op *op = turn(world, claimed, NEXT_SUSPEND);
    op->in.turn.tasks = specs;
    op->in.turn.task_count = 2;
    set_waits(world, op, WAIT_FIRST, (WaitItem[]){on_task("fast"), on_task("slow")}, 2);
    op_run(world, op, OK);
    TaskRow fast = lease_one(world, "default"), slow = lease_one(world, "default");
    complete_task(world, "fast", fast.token, "1");
    park(world, ready_at(world, 0), on_signal("next"));
    complete_task(world, "slow", slow.token, "2");
    assert_int_equal(world->batch.out.ready_count, 0);
    assert_state(world, "r", RUN_SUSPENDED);
    assert_int_equal(get_task(world, "slow").state, TASK_COMPLETED);
    assert_text(get_task(world, "slow").result, "2");
    assert_int_equal(entry_count(world, "r", LOG_WAIT), 1);
}

static void nonsense_task_specs_are_refused(void **state) {
    World *world = *state;
    Str before = world_dump(world);
    TaskSpec bad[] = {task_of(""), task_of("t"), task_of("t"), task_of("t"), task_of("t")};
    bad[1].name = STR("");
    bad[2].delay_ms = -1;
    bad[3].priority = PRIORITY_MAX + 1;
    bad[4].max_attempts = -1;
    for (int i = 0; i < 5; i++) {
        batch_new(world);
        Op *op = add_task(world, &bad[i]);
        op_run(world, op, ERR_INVALID);
    }
    assert_unchanged(world, before);
}

int contract_tasks(void) {
    const struct CMUnitTest tests[] = {
        CASE(task_is_queued_leased_and_completed),
        CASE(places_of_secrets_come_with_every_lease),
        CASE(leased_tasks_of_all_sizes_are_known_as_they_are_stored),
        CASE(task_id_queued_twice_answers_the_first),
        CASE(claim_says_whose_the_tasks_are),
        CASE(task_leased_once_is_leased_to_nobody_else),
        CASE(queues_are_separate_and_served_in_the_order_asked_for),
        CASE(higher_priority_first_then_first_in_first_out),
        CASE(claim_can_ask_for_names),
        CASE(other_names_hold_nobody_up),
        CASE(claim_without_a_queue_or_for_nothing_is_refused),
        CASE(delayed_task_is_claimable_when_due),
        CASE(token_of_a_lease_cannot_be_told_from_others),
        CASE(stale_token_changes_nothing),
        CASE(completion_repeated_with_its_token_is_answered_ok),
        CASE(another_result_under_the_same_token_is_refused),
        CASE(task_that_is_not_leased_cannot_be_completed),
        CASE(failed_attempts_back_off_by_policy_and_survive_a_crash),
        CASE(retry_without_backoff_is_claimable_at_once),
        CASE(jitter_stays_within_its_bounds_and_is_the_same_everywhere),
        CASE(final_and_non_retryable_errors_are_not_retried),
        CASE(retry_task_queues_a_failed_one_again),
        CASE(retry_task_makes_one_in_backoff_claimable_at_once),
        CASE(retry_task_of_a_key_waits_for_the_others_of_the_key),
        CASE(retry_task_of_a_run_is_refused),
        CASE(released_task_is_claimed_again_as_if_it_had_never_been),
        CASE(released_task_of_a_cancelled_run_ends),
        CASE(lost_lease_counts_as_an_attempt_and_queues_it_again),
        CASE(heartbeats_keep_the_lease),
        CASE(heartbeat_time_out_is_shorter_than_the_lease),
        CASE(start_to_close_time_out_bounds_heartbeats),
        CASE(schedule_to_start_time_out_fails_the_task_for_good),
        CASE(non_retryable_time_out_is_not_retried),
        CASE(completion_wakes_the_run_in_the_same_operation),
        CASE(failure_for_good_wakes_the_run_with_the_error),
        CASE(time_out_for_good_wakes_the_run),
        CASE(task_that_ended_before_the_wait_resolves_it_at_once),
        CASE(fire_and_forget_task_wakes_nobody),
        CASE(repeated_turn_queues_no_second_task),
        CASE(run_that_ends_by_itself_lets_its_tasks_go_on),
        CASE(purged_run_lets_its_tasks_go_on),
        CASE(run_that_is_cut_off_cancels_its_tasks),
        CASE(cancelled_task_whose_worker_is_gone_is_not_tried_again),
        CASE(stand_alone_task_is_kept_a_while_and_then_removed),
        CASE(task_with_an_idempotency_key_runs_once_and_wakes_every_run),
        CASE(end_of_the_run_that_queued_it_strands_nobody),
        CASE(loser_of_a_race_is_recorded_and_not_delivered),
        CASE(nonsense_task_specs_are_refused),
    };
    return run_group("tasks", tests);
}

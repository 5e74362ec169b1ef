// Tasks that are leased as they are made: a batch that ends with an eager claim hands its new
// tasks to it at once, and where that is not allowed all is as with any other claim.
//
// A task that was leased as it was made shows by its token: it is made of the number that follows
// the task's own key in the key sequence, and of the secret of the batch, which is 0 here.
#include "base/containers/hash.h"
#include "contract/contract.h"

static Op *add_claim(World *world, int64_t max) {
    Op *op = op_add(world, OP_CLAIM_TASKS);
    op->in.claim_tasks.worker = STR("worker-1");
    op->in.claim_tasks.is_any_queue = true;
    op->in.claim_tasks.is_eager = true;
    op->in.claim_tasks.names = ARENA_ARRAY(&world->arena, Str, 1);
    op->in.claim_tasks.names[0] = STR("charge");
    op->in.claim_tasks.name_count = 1;
    op->in.claim_tasks.max = max;
    op->in.claim_tasks.lease_ms = MINUTE_MS;
    return op;
}

static int64_t token_made_of(int64_t key) {
    uint64_t input[5] = {[4] = (uint64_t)key / 4 + 1}, words[4];
    uint8_t digest[SHA256_SIZE];
    Sha256 sha;
    sha256_init(&sha);
    sha256_update(&sha, input, sizeof(input));
    sha256_final(&sha, digest);
    memcpy(words, digest, sizeof(words));
    return (int64_t)(words[key % 4] >> 11);
}

static bool is_leased_at_once(const TaskRow *task) {
    return task->state == TASK_LEASED && task->token == token_made_of(task->key + 1);
}

// A batch that makes the task and claims what there is; an event between them uses up a number.
static Op *make_and_claim(World *world, const TaskSpec *spec) {
    batch_new(world);
    add_task(world, spec);
    op_add(world, OP_PUBLISH)->in.publish.event =
        (EventSpec){.topic = STR("between"), .id = STR("e"), .payload = STR("1")};
    Op *op = add_claim(world, 10);
    op_run(world, op, OK);
    return op;
}

// Begins a batch with a turn that queues the task "t1" and waits for it.
static Op *begin_with_turn(World *world, Claimed run) {
    TaskSpec spec = task_of("t1");
    batch_new(world);
    Op *op = add_turn(world, run, NEXT_SUSPEND);
    set_task(world, op, &spec);
    set_waits(world, op, WAIT_FIRST, (WaitItem[]){on_task("t1")}, 1);
    return op;
}

static QueueStat queue_named(World *world, const char *name) {
    QueueStat queue;
    assert_int_equal(
        store_find_queue(world->store, &world->arena, str_from(name), &queue, &world->diag), OK);
    return queue;
}

static void set_queue(World *world, QueueRow limits) {
    Op *op = op_new(world, OP_SET_QUEUE);
    op->in.set_queue.row = limits;
    op->in.set_queue.row.name = STR("default");
    op_run(world, op, OK);
}

// ---- what it does ----

static void task_of_a_batch_that_ends_with_a_claim_is_leased_at_once(void **state) {
    World *world = *state;
    TaskSpec spec = task_of("t1");
    const Op *op = make_and_claim(world, &spec);
    assert_int_equal(op->out.claim_tasks.task_count, 1);
    assert_false(world->batch.out.has_tasks);
    assert_int_equal(world->batch.out.earliest_due_ms,
                     world->now_ms + MINUTE_MS); // not the event's
    TaskRow task = get_task(world, "t1");
    assert_true(is_leased_at_once(&task));
    assert_int_equal(op->out.claim_tasks.tasks[0].token, task.token);
    assert_int_equal(get_counter(world, COUNTER_TASKS_FIRST + TASK_QUEUED), 0);
    assert_int_equal(get_counter(world, COUNTER_TASKS_FIRST + TASK_LEASED), 1);
    assert_int_equal(queue_named(world, "default").row.running_count, 1);
    complete_task(world, "t1", task.token, "1");
    assert_int_equal(get_task(world, "t1").state, TASK_COMPLETED);
}

// Whatever can be seen of it but the numbers is as if it had been queued and claimed.
static void task_leased_at_once_equals_one_that_was_claimed(void **state) {
    World *world = *state;
    TaskSpec spec = task_of("now");
    spec.priority = 3;
    spec.max_attempts = 4;
    spec.run_timeout_ms = 5 * SECOND_MS;
    spec.start_timeout_ms = 7 * SECOND_MS;
    spec.heartbeat_ms = 9 * SECOND_MS;
    TaskRow at_once = make_and_claim(world, &spec)->out.claim_tasks.tasks[0];
    assert_true(is_leased_at_once(&at_once));
    spec.id = STR("then");
    batch_new(world);
    add_task(world, &spec);
    Op *op = add_claim(world, 10);
    op->in.claim_tasks.is_eager = false;
    op_run(world, op, OK);
    TaskRow claimed = op->out.claim_tasks.tasks[0];
    assert_int_equal(claimed.due_at_ms, world->now_ms + 5 * SECOND_MS);
    TaskRow stored = get_task(world, "now");
    assert_int_equal(row_changes(&tables[TABLE_TASKS], &stored, &at_once), 0);
    at_once.key = claimed.key;
    at_once.id = claimed.id;
    at_once.token = claimed.token;
    assert_int_equal(row_changes(&tables[TABLE_TASKS], &claimed, &at_once), 0);
}

static void task_of_a_turn_is_leased_at_once_and_wakes_its_run(void **state) {
    World *world = *state;
    Claimed run = create(world, "r1");
    Op *op = begin_with_turn(world, run);
    Op *claimed = add_claim(world, 10);
    batch_run(world);
    assert_ok(op->out.status);
    assert_int_equal(op->out.turn.state, RUN_SUSPENDED);
    assert_int_equal(claimed->out.claim_tasks.task_count, 1);
    assert_true(is_leased_at_once(&claimed->out.claim_tasks.tasks[0]));
    assert_int_equal(claimed->out.claim_tasks.tasks[0].key, op->out.turn.task_keys[0]);
    complete_task(world, "t1", claimed->out.claim_tasks.tasks[0].token, "7");
    assert_resolved(world->batch.out.ready[0].resolved, world->batch.out.ready[0].resolved_count, 0,
                    OUTCOME_OK, "7");
    assert_state(world, "r1", RUN_RUNNING);
}

static void tasks_leased_at_once_are_answered_in_the_order_they_were_made(void **state) {
    World *world = *state;
    enum { COUNT = 40 };
    batch_new(world);
    for (int i = 0; i < COUNT; i++) {
        TaskSpec spec = task_of("");
        spec.id = arena_printf(&world->arena, "t%d", i);
        spec.priority = i % 3;
        add_task(world, &spec);
    }
    Op *op = add_claim(world, COUNT);
    op_run(world, op, OK);
    assert_int_equal(op->out.claim_tasks.task_count, COUNT);
    for (int i = 0; i < COUNT; i++) {
        assert_true(is_leased_at_once(&op->out.claim_tasks.tasks[i]));
        assert_text(op->out.claim_tasks.tasks[i].id, arena_printf(&world->arena, "t%d", i).data);
    }
}

static void lease_given_at_once_runs_out_as_any_other(void **state) {
    World *world = *state;
    TaskSpec spec = task_of("t1");
    spec.max_attempts = 2;
    TaskRow task = make_and_claim(world, &spec)->out.claim_tasks.tasks[0];
    fire_at(world, world->now_ms + MINUTE_MS);
    assert_int_equal(get_task(world, "t1").state, TASK_QUEUED);
    assert_true(world->batch.out.has_tasks);
    Op *op = op_new(world, OP_COMPLETE_TASK);
    op->in.complete_task.id = STR("t1");
    op->in.complete_task.token = task.token;
    op_run(world, op, ERR_FENCED);
    assert_int_equal(lease_one(world, "default").attempt, 2);
}

static void run_that_is_cancelled_in_the_same_batch_reaches_its_leased_task(void **state) {
    World *world = *state;
    Claimed run = create(world, "r1");
    Op *op = begin_with_turn(world, run);
    op_add(world, OP_CANCEL)->in.cancel.run_id = STR("r1");
    Op *claimed = add_claim(world, 10);
    batch_run(world);
    assert_state(world, "r1", RUN_CANCELLED);
    assert_int_equal(claimed->out.claim_tasks.task_count, 1);
    op = op_new(world, OP_HEARTBEAT_TASK);
    op->in.heartbeat.id = STR("t1");
    op->in.heartbeat.token = claimed->out.claim_tasks.tasks[0].token;
    op_run(world, op, OK);
    assert_true(op->out.heartbeat.is_cancel_wanted);
}

// ---- what forbids it ----

// The task is made, and it is found by the claim as any other would be, or not at all.
static void check_not_at_once(World *world, const TaskSpec *spec, size_t expected) {
    const Op *op = make_and_claim(world, spec);
    TaskRow task = get_task(world, arena_cstr(&world->arena, spec->id));
    assert_false(is_leased_at_once(&task));
    assert_int_equal(op->out.claim_tasks.task_count, expected);
    if (expected == 0) assert_int_equal(task.state, TASK_QUEUED);
}

static void delayed_task_is_not_leased_at_once(void **state) {
    World *world = *state;
    TaskSpec spec = task_of("t1");
    spec.delay_ms = SECOND_MS;
    check_not_at_once(world, &spec, 0);
    assert_false(world->batch.out.has_tasks);
}

static void task_with_a_concurrency_key_is_not_leased_at_once(void **state) {
    World *world = *state;
    TaskSpec spec = task_of("t1");
    spec.concurrency_key = STR("k");
    check_not_at_once(world, &spec, 1);
    spec.id = STR("t2");
    check_not_at_once(world, &spec, 0); // the key is taken
}

static void task_nobody_asked_for_is_not_leased_at_once(void **state) {
    World *world = *state;
    TaskSpec spec = task_of("t1");
    spec.name = STR("ship");
    check_not_at_once(world, &spec, 0);
    assert_true(world->batch.out.has_tasks);
}

static void task_of_another_queue_is_not_leased_at_once(void **state) {
    World *world = *state;
    TaskSpec spec = task_of("t1");
    batch_new(world);
    add_task(world, &spec);
    spec.id = STR("t2");
    spec.queue = STR("other");
    add_task(world, &spec);
    Op *op = add_claim(world, 10);
    op->in.claim_tasks.is_any_queue = false;
    op->in.claim_tasks.queues = (Str[]){STR("other")};
    op->in.claim_tasks.queue_count = 1;
    op_run(world, op, OK);
    assert_int_equal(op->out.claim_tasks.task_count, 1);
    assert_text(op->out.claim_tasks.tasks[0].id, "t2");
    assert_true(is_leased_at_once(&op->out.claim_tasks.tasks[0]));
    assert_int_equal(get_task(world, "t1").state, TASK_QUEUED);
}

static void paused_queue_gives_nothing_at_once(void **state) {
    World *world = *state;
    set_queue(world, (QueueRow){.is_paused = 1});
    TaskSpec spec = task_of("t1");
    check_not_at_once(world, &spec, 0);
}

static void queue_that_limits_what_runs_gives_no_more_at_once(void **state) {
    World *world = *state;
    set_queue(world, (QueueRow){.max_running = 1});
    TaskSpec spec = task_of("t1");
    check_not_at_once(world, &spec, 1);
    spec.id = STR("t2");
    check_not_at_once(world, &spec, 0);
}

static void queue_with_a_rate_counts_what_it_gives(void **state) {
    World *world = *state;
    set_queue(world, (QueueRow){.rate_count = 1, .rate_period_ms = MINUTE_MS});
    TaskSpec spec = task_of("t1");
    check_not_at_once(world, &spec, 1);
    spec.id = STR("t2");
    check_not_at_once(world, &spec, 0);
    assert_int_equal(queue_named(world, "default").row.rate_used, 1);
}

static void task_does_not_overtake_those_that_wait(void **state) {
    World *world = *state;
    TaskSpec spec = task_of("first");
    create_task(world, &spec);
    batch_new(world);
    spec.id = STR("second");
    add_task(world, &spec);
    Op *op = add_claim(world, 1);
    op_run(world, op, OK);
    assert_int_equal(op->out.claim_tasks.task_count, 1);
    assert_text(op->out.claim_tasks.tasks[0].id, "first");
    assert_int_equal(get_task(world, "second").state, TASK_QUEUED);
}

static void task_is_leased_at_once_behind_those_that_wait_if_there_is_room(void **state) {
    World *world = *state;
    TaskSpec spec = task_of("first");
    create_task(world, &spec);
    batch_new(world);
    spec.id = STR("second");
    add_task(world, &spec);
    spec.id = STR("third");
    add_task(world, &spec);
    Op *op = add_claim(world, 2);
    op_run(world, op, OK);
    const TaskRow *claimed = op->out.claim_tasks.tasks;
    assert_int_equal(op->out.claim_tasks.task_count, 2);
    assert_text(claimed[0].id, "first");
    assert_text(claimed[1].id, "second");
    assert_false(is_leased_at_once(&claimed[0]));
    assert_true(is_leased_at_once(&claimed[1]));
    assert_int_equal(get_task(world, "third").state, TASK_QUEUED);
}

static void claim_takes_no_more_at_once_than_it_asked_for(void **state) {
    World *world = *state;
    batch_new(world);
    for (int i = 0; i < 5; i++) {
        TaskSpec spec = task_of("");
        spec.id = arena_printf(&world->arena, "t%d", i);
        add_task(world, &spec);
    }
    Op *op = add_claim(world, 2);
    op_run(world, op, OK);
    assert_int_equal(op->out.claim_tasks.task_count, 2);
    assert_true(world->batch.out.has_tasks);
    assert_int_equal(get_counter(world, COUNTER_TASKS_FIRST + TASK_QUEUED), 3);
    assert_text(lease_one(world, "default").id, "t2");
}

static void claim_in_the_middle_of_a_batch_takes_nothing_beforehand(void **state) {
    World *world = *state;
    TaskSpec spec = task_of("t1");
    batch_new(world);
    Op *op = add_claim(world, 10);
    add_task(world, &spec);
    batch_run(world);
    assert_int_equal(op->out.claim_tasks.task_count, 0);
    assert_int_equal(get_task(world, "t1").state, TASK_QUEUED);
}

static void refused_claim_leaves_the_task_queued(void **state) {
    World *world = *state;
    TaskSpec spec = task_of("t1");
    batch_new(world);
    Op *made = add_task(world, &spec);
    Op *op = add_claim(world, 10);
    char *name = arena_alloc(&world->arena, LIMIT_NAME_SIZE + 1);
    memset(name, 'w', LIMIT_NAME_SIZE + 1);
    op->in.claim_tasks.worker = (Str){name, LIMIT_NAME_SIZE + 1};
    op_run(world, op, ERR_LIMIT);
    assert_ok(made->out.status);
    assert_int_equal(get_task(world, "t1").state, TASK_QUEUED);
    batch_new(world);
    spec.id = STR("t2");
    add_task(world, &spec);
    op_run(world, add_claim(world, 0), ERR_INVALID);
    assert_int_equal(get_task(world, "t2").state, TASK_QUEUED);
}

// ---- refusals and repetition ----

static void refused_turn_hands_out_nothing(void **state) {
    World *world = *state;
    Claimed run = create(world, "r1");
    run.epoch--;
    Op *op = begin_with_turn(world, run);
    Op *claimed = add_claim(world, 10);
    batch_run(world);
    assert_refused(op, ERR_FENCED, "RUN_FENCED");
    assert_ok(claimed->out.status);
    assert_int_equal(claimed->out.claim_tasks.task_count, 0);
    assert_int_equal(get_counter(world, COUNTER_TASKS_FIRST + TASK_LEASED), 0);
}

static void task_that_exists_is_not_leased_again(void **state) {
    World *world = *state;
    TaskSpec spec = task_of("t1");
    TaskRow task = make_and_claim(world, &spec)->out.claim_tasks.tasks[0];
    batch_new(world);
    Op *again = add_task(world, &spec);
    Op *op = add_claim(world, 10);
    op_run(world, op, OK);
    assert_false(again->out.create_task.is_new);
    assert_int_equal(again->out.create_task.key, task.key);
    assert_int_equal(op->out.claim_tasks.task_count, 0);
    spec.id = STR("t2");
    const Op *next = make_and_claim(world, &spec);
    // That of the event, and none was used up by the repetition.
    assert_int_equal(next->out.claim_tasks.tasks[0].key, task.key + 3);
}

static void batch_that_failed_hands_out_when_it_is_submitted_again(void **state) {
    World *world = *state;
    TaskSpec spec = task_of("t1");
    batch_new(world);
    add_task(world, &spec);
    Op *op = add_claim(world, 10);
    world->batch.node = 999; // there is none
    assert_int_equal(batch_try(world), ERR_FENCED);
    assert_int_equal(op->out.claim_tasks.task_count, 0);
    world->batch.node = world->node;
    batch_run(world);
    assert_int_equal(op->out.claim_tasks.task_count, 1);
    assert_true(is_leased_at_once(&op->out.claim_tasks.tasks[0]));
    batch_run(world); // it is there already
    assert_int_equal(op->out.claim_tasks.task_count, 0);
}

int contract_eager(void) {
    const struct CMUnitTest tests[] = {
        CASE(task_of_a_batch_that_ends_with_a_claim_is_leased_at_once),
        CASE(task_leased_at_once_equals_one_that_was_claimed),
        CASE(task_of_a_turn_is_leased_at_once_and_wakes_its_run),
        CASE(tasks_leased_at_once_are_answered_in_the_order_they_were_made),
        CASE(lease_given_at_once_runs_out_as_any_other),
        CASE(run_that_is_cancelled_in_the_same_batch_reaches_its_leased_task),
        CASE(delayed_task_is_not_leased_at_once),
        CASE(task_with_a_concurrency_key_is_not_leased_at_once),
        CASE(task_nobody_asked_for_is_not_leased_at_once),
        CASE(task_of_another_queue_is_not_leased_at_once),
        CASE(paused_queue_gives_nothing_at_once),
        CASE(queue_that_limits_what_runs_gives_no_more_at_once),
        CASE(queue_with_a_rate_counts_what_it_gives),
        CASE(task_does_not_overtake_those_that_wait),
        CASE(task_is_leased_at_once_behind_those_that_wait_if_there_is_room),
        CASE(claim_takes_no_more_at_once_than_it_asked_for),
        CASE(claim_in_the_middle_of_a_batch_takes_nothing_beforehand),
        CASE(refused_claim_leaves_the_task_queued),
        CASE(refused_turn_hands_out_nothing),
        CASE(task_that_exists_is_not_leased_again),
        CASE(batch_that_failed_hands_out_when_it_is_submitted_again),
    };
    return run_group("eager", tests);
}

// Queues: limits on what runs at a time, per queue and per concurrency key, rates, pauses; and that
// what is held back comes forth, in order, in the operation that makes room for it.
#include "base/array.h"
#include "contract/contract.h"

// ---- words ----

static void set_queue(World *world, QueueRow limits) {
    Op *op = op_new(world, OP_SET_QUEUE);
    op->in.set_queue.row = limits;
    if (str_is_null(limits.name)) op->in.set_queue.row.name = STR("q");
    op_run(world, op, OK);
}

static bool change_queue(World *world, OpKind kind) {
    Op *op = op_new(world, kind);
    op->in.queue.name = STR("q");
    op_run(world, op, OK);
    return op->out.queue.is_changed;
}

static TaskSpec keyed(const char *id, const char *key) {
    TaskSpec spec = task_of(id);
    spec.queue = STR("q");
    if (key) spec.concurrency_key = str_from(key);
    return spec;
}

static void add_keyed(World *world, const char *id, const char *key) {
    TaskSpec spec = keyed(id, key);
    create_task(world, &spec);
}

static void add_many(World *world, int count) { // "t0", "t1", …
    for (int i = 0; i < count; i++) {
        TaskSpec spec = keyed("", NULL);
        spec.id = arena_printf(&world->arena, "t%d", i);
        create_task(world, &spec);
    }
}

static QueueStat queue_of(World *world) {
    QueueStat queue;
    assert_int_equal(store_find_queue(world->store, &world->arena, STR("q"), &queue, &world->diag),
                     OK);
    return queue;
}

// Claims all there is and compares the ids, joined by blanks.
#define assert_claims(world, expected) check_claims((world), (expected), __FILE__, __LINE__)
static void check_claims(World *world, const char *expected, const char *file, int line) {
    const Op *op = lease_tasks(world, "q", 100);
    Str ids = STR("");
    for (size_t i = 0; i < op->out.claim_tasks.task_count; i++) {
        ids = arena_printf(&world->arena, "%.*s%s%.*s", STR_ARG(ids), i > 0 ? " " : "",
                           STR_ARG(op->out.claim_tasks.tasks[i].id));
    }
    check_text(ids, expected, file, line);
}

static void complete(World *world, const char *id) {
    complete_task(world, id, get_task(world, id).token, "1");
}

// ---- how many at a time ----

static void queue_hands_out_no_more_than_may_run(void **state) {
    World *world = *state;
    set_queue(world, (QueueRow){.max_running = 2});
    add_many(world, 4);
    assert_claims(world, "t0 t1");
    assert_claims(world, "");
    complete(world, "t1");
    assert_true(world->batch.out.has_tasks);
    assert_claims(world, "t2");
    QueueRow row = queue_of(world).row;
    assert_int_equal(row.running_count, 2);
    assert_int_equal(row.queued_count, 1);
}

static void every_end_of_a_lease_makes_room(void **state) {
    World *world = *state;
    set_queue(world, (QueueRow){.max_running = 1});
    add_many(world, 3);
    assert_claims(world, "t0");
    fail_task(world, "t0", get_task(world, "t0").token, "{}"); // its only attempt
    assert_claims(world, "t1");
    fire_at(world, world->now_ms + MINUTE_MS); // the lease runs out
    assert_true(world->batch.out.has_tasks);
    assert_int_equal(get_task(world, "t1").state, TASK_FAILED);
    assert_claims(world, "t2");
}

static void limit_below_what_runs_stops_nothing_and_hands_out_nothing(void **state) {
    World *world = *state;
    add_many(world, 4);
    assert_claims(world, "t0 t1 t2 t3");
    add_keyed(world, "late", NULL);
    set_queue(world, (QueueRow){.max_running = 2});
    assert_claims(world, "");
    complete(world, "t0");
    complete(world, "t1");
    assert_claims(world, "");
    complete(world, "t2");
    assert_claims(world, "late");
}

static void raised_limit_lets_more_run_at_once(void **state) {
    World *world = *state;
    set_queue(world, (QueueRow){.max_running = 1});
    add_many(world, 3);
    assert_claims(world, "t0");
    set_queue(world, (QueueRow){.max_running = 2});
    assert_true(world->batch.out.has_tasks);
    assert_claims(world, "t1");
    assert_true(change_queue(world, OP_REMOVE_QUEUE));
    assert_false(change_queue(world, OP_REMOVE_QUEUE));
    assert_claims(world, "t2");
}

static void limit_of_one_queue_is_none_of_another(void **state) {
    World *world = *state;
    set_queue(world, (QueueRow){.max_running = 1});
    add_many(world, 2);
    TaskSpec other = task_of("other");
    create_task(world, &other);
    assert_claims(world, "t0");
    assert_text(lease_one(world, "default").id, "other");
}

static void claim_on_any_queue_keeps_the_limits_of_each(void **state) {
    World *world = *state;
    set_queue(world, (QueueRow){.max_running = 1});
    add_many(world, 2);
    TaskSpec spec = task_of("plain");
    batch_new(world);
    add_task(world, &spec); // its queue is made by this very batch
    Op *op = op_add(world, OP_CLAIM_TASKS);
    op->in.claim_tasks.worker = STR("w");
    op->in.claim_tasks.is_any_queue = true;
    op->in.claim_tasks.first_queue = 1; // "default", "q": begins with the second
    op->in.claim_tasks.max = 10;
    batch_run(world);
    assert_int_equal(op->out.status, OK);
    assert_int_equal(op->out.claim_tasks.task_count, 2);
    assert_text(op->out.claim_tasks.tasks[0].id, "t0");
    assert_text(op->out.claim_tasks.tasks[1].id, "plain");
}

// ---- keys ----

static void tasks_of_a_key_run_one_at_a_time_where_nobody_said_otherwise(void **state) {
    World *world = *state;
    add_keyed(world, "a1", "a");
    add_keyed(world, "a2", "a");
    add_keyed(world, "b1", "b");
    add_keyed(world, "free", NULL);
    assert_int_equal(queue_of(world).row.blocked_count, 1);
    assert_claims(world, "a1 b1 free");
    add_keyed(world, "a3", "a");
    assert_claims(world, "");
    complete(world, "a1");
    assert_true(world->batch.out.has_tasks);
    assert_claims(world, "a2");
    complete(world, "a2");
    assert_claims(world, "a3");
}

static void the_same_key_in_another_queue_is_another_key(void **state) {
    World *world = *state;
    add_keyed(world, "a1", "a");
    TaskSpec other = keyed("other", "a");
    other.queue = STR("elsewhere");
    create_task(world, &other);
    assert_claims(world, "a1");
    assert_text(lease_one(world, "elsewhere").id, "other");
}

static void limit_per_key_is_the_queues(void **state) {
    World *world = *state;
    set_queue(world, (QueueRow){.max_per_key = 2});
    for (int i = 0; i < 4; i++) {
        TaskSpec spec = keyed("", "a");
        spec.id = arena_printf(&world->arena, "a%d", i);
        create_task(world, &spec);
    }
    assert_claims(world, "a0 a1");
    complete(world, "a0");
    assert_claims(world, "a2");
    set_queue(world, (QueueRow){.max_per_key = 0}); // said explicitly: no limit
    assert_true(world->batch.out.has_tasks);
    assert_claims(world, "a3");
}

static void lowered_limit_per_key_holds_back_what_was_ready(void **state) {
    World *world = *state;
    set_queue(world, (QueueRow){.max_per_key = 3});
    add_keyed(world, "a1", "a");
    add_keyed(world, "a2", "a");
    add_keyed(world, "a3", "a");
    assert_text(lease_one(world, "q").id, "a1");
    set_queue(world, (QueueRow){.max_per_key = 1});
    assert_int_equal(queue_of(world).row.blocked_count, 2);
    assert_claims(world, "");
    complete(world, "a1");
    assert_claims(world, "a2");
}

static void priorities_hold_among_the_tasks_of_a_key(void **state) {
    World *world = *state;
    TaskSpec low = keyed("low", "a"), middle = keyed("middle", "a"), high = keyed("high", "a");
    low.priority = -5;
    high.priority = 5;
    create_task(world, &low);
    create_task(world, &middle);
    create_task(world, &high);
    assert_int_equal(get_task(world, "low").claim_rank, 0);
    assert_claims(world, "high");
    complete(world, "high");
    assert_claims(world, "middle");
    complete(world, "middle");
    assert_claims(world, "low");
}

static void blocked_task_keeps_its_place_in_the_queue(void **state) {
    World *world = *state;
    add_keyed(world, "a1", "a");
    add_keyed(world, "a2", "a");
    add_keyed(world, "late", NULL);
    assert_text(lease_one(world, "q").id, "a1");
    complete(world, "a1");
    assert_claims(world, "a2 late");
}

static void key_is_released_when_the_lease_runs_out(void **state) {
    World *world = *state;
    TaskSpec spec = keyed("a1", "a");
    spec.max_attempts = 2;
    spec.backoff_ms = HOUR_MS;
    create_task(world, &spec);
    add_keyed(world, "a2", "a");
    assert_claims(world, "a1");
    fire_at(world, world->now_ms + MINUTE_MS);
    assert_int_equal(get_task(world, "a1").state, TASK_QUEUED);
    assert_claims(world, "a2"); // a task that waits for its next attempt holds no place
    fire_at(world, world->now_ms + 2 * HOUR_MS);
    assert_claims(world, "a1");
}

static void failed_attempt_goes_before_younger_tasks_of_its_key(void **state) {
    World *world = *state;
    TaskSpec spec = keyed("a1", "a");
    spec.max_attempts = 2;
    create_task(world, &spec);
    add_keyed(world, "a2", "a");
    assert_claims(world, "a1");
    Op *op = fail_task(world, "a1", get_task(world, "a1").token, "{}");
    assert_true(op->out.fail_task.is_retried);
    assert_int_equal(op->out.fail_task.retry_at_ms, world->now_ms);
    assert_claims(world, "a1");
}

static void delayed_task_takes_its_place_when_its_time_has_come(void **state) {
    World *world = *state;
    TaskSpec delayed = keyed("delayed", "a");
    delayed.delay_ms = SECOND_MS;
    create_task(world, &delayed);
    add_keyed(world, "a1", "a");
    assert_claims(world, "a1");
    fire_at(world, world->now_ms + SECOND_MS);
    assert_claims(world, ""); // blocked now
    complete(world, "a1");
    assert_claims(world, "delayed");
}

static void blocked_task_that_no_worker_starts_in_time_fails(void **state) {
    World *world = *state;
    TaskSpec spec = keyed("a2", "a");
    spec.start_timeout_ms = SECOND_MS;
    add_keyed(world, "a1", "a");
    assert_claims(world, "a1");
    create_task(world, &spec);
    fire_at(world, world->now_ms + SECOND_MS - 1);
    assert_int_equal(get_task(world, "a2").state, TASK_QUEUED);
    fire_at(world, world->now_ms + 1);
    assert_int_equal(get_task(world, "a2").state, TASK_FAILED);
    assert_int_equal(queue_of(world).row.blocked_count, 0);
}

static void ready_task_that_no_worker_starts_in_time_lets_the_next_pass(void **state) {
    World *world = *state;
    TaskSpec spec = keyed("a1", "a");
    spec.start_timeout_ms = SECOND_MS;
    create_task(world, &spec);
    spec.id = STR("a2");
    create_task(world, &spec); // both come due in the same instant
    add_keyed(world, "a3", "a");
    fire_at(world, world->now_ms + SECOND_MS);
    assert_int_equal(get_task(world, "a1").state, TASK_FAILED);
    assert_int_equal(get_task(world, "a2").state, TASK_FAILED);
    assert_claims(world, "a3");
}

static void cancelled_run_takes_its_blocked_tasks_along(void **state) {
    World *world = *state;
    Claimed run = create(world, "r");
    Op *op = turn(world, run, NEXT_SUSPEND);
    TaskSpec specs[] = {keyed("r1", "a"), keyed("r2", "a"), keyed("r3", "a")};
    op->in.turn.tasks = specs;
    op->in.turn.task_count = 3;
    set_waits(world, op, WAIT_FIRST, (WaitItem[]){on_signal("go")}, 1);
    op_run(world, op, OK);
    add_keyed(world, "other", "a");
    cancel_run(world, "r", 0);
    for (int i = 0; i < 3; i++) {
        const char *id = arena_cstr(&world->arena, specs[i].id);
        assert_int_equal(get_task(world, id).state, TASK_CANCELLED);
    }
    assert_claims(world, "other");
}

static void task_of_a_purged_run_keeps_its_place_until_it_ends(void **state) {
    World *world = *state;
    Claimed run = create(world, "r");
    Op *op = turn(world, run, NEXT_CONTINUE);
    TaskSpec spec = keyed("r1", "a");
    set_task(world, op, &spec);
    op_run(world, op, OK);
    assert_claims(world, "r1");
    finish(world, run, NEXT_COMPLETE, "1"); // the lease goes on
    add_keyed(world, "next", "a");
    assert_claims(world, "");
    op = op_new(world, OP_PURGE_RUN);
    op->in.purge.run_id = STR("r");
    op_run(world, op, OK);
    assert_claims(world, "");
    complete_task(world, "r1", get_task(world, "r1").token, "1");
    assert_claims(world, "next");
    assert_int_equal(queue_of(world).row.running_count, 1);
}

static void many_keys_follow_a_new_limit_page_by_page(void **state) {
    World *world = *state;
    enum { KEYS = 600 };
    for (int i = 0; i < KEYS; i++) {
        batch_new(world);
        for (int j = 0; j < 2; j++) {
            TaskSpec spec = keyed("", NULL);
            spec.id = arena_printf(&world->arena, "k%d-%d", i, j);
            spec.concurrency_key = arena_printf(&world->arena, "k%d", i);
            add_task(world, &spec);
        }
        batch_run(world);
    }
    assert_int_equal(queue_of(world).row.blocked_count, KEYS);
    set_queue(world, (QueueRow){.max_per_key = 2});
    assert_true(queue_of(world).row.blocked_count > 0);
    assert_int_equal(world->batch.out.earliest_due_ms, world->now_ms);
    for (int i = 0; i < KEYS && queue_of(world).row.due_at_ms != 0; i++) fire(world);
    assert_int_equal(queue_of(world).row.blocked_count, 0);
    assert_int_equal(queue_of(world).row.adjust_from, 0);
    set_queue(world, (QueueRow){.max_per_key = 1}); // a claim keeps to it before they follow
    size_t claimed = 0;
    for (size_t count = 1; count > 0; claimed += count) {
        count = lease_tasks(world, "q", 1000)->out.claim_tasks.task_count;
        fire(world);
    }
    assert_int_equal(claimed, KEYS);
}

// ---- rates ----

static void rate_hands_out_so_many_per_window(void **state) {
    World *world = *state;
    set_queue(world, (QueueRow){.rate_count = 2, .rate_period_ms = SECOND_MS});
    add_many(world, 5);
    int64_t begun_at = world->now_ms;
    assert_text(lease_one(world, "q").id, "t0");
    world->now_ms += 400;
    Op *op = lease_tasks(world, "q", 10);
    assert_int_equal(op->out.claim_tasks.task_count, 1);
    op = lease_tasks(world, "q", 10);
    assert_int_equal(op->out.claim_tasks.task_count, 0);
    assert_int_equal(op->out.claim_tasks.open_at_ms, begun_at + SECOND_MS);
    int64_t due_at_ms;
    assert_int_equal(store_next_due(world->store, &world->arena, &due_at_ms, &world->diag), OK);
    assert_int_equal(due_at_ms, begun_at + SECOND_MS);
    fire_at(world, begun_at + SECOND_MS - 1);
    assert_claims(world, "");
    fire_at(world, begun_at + SECOND_MS);
    assert_true(world->batch.out.has_tasks); // claimers are told
    assert_claims(world, "t2 t3");
    assert_claims(world, "");
}

static void rate_counts_leases_and_not_what_becomes_of_them(void **state) {
    World *world = *state;
    set_queue(world, (QueueRow){.rate_count = 1, .rate_period_ms = SECOND_MS});
    add_many(world, 2);
    assert_claims(world, "t0");
    complete(world, "t0");
    assert_claims(world, "");
    world_crash(world); // nor is it forgotten
    if (world_is_kept()) assert_claims(world, "");
}

static void clock_set_back_does_not_make_a_window_longer(void **state) {
    World *world = *state;
    set_queue(world, (QueueRow){.rate_count = 1, .rate_period_ms = SECOND_MS});
    add_many(world, 2);
    assert_claims(world, "t0");
    world->now_ms -= MINUTE_MS;
    assert_claims(world, "t1");
}

static void rate_that_is_taken_away_lets_all_pass(void **state) {
    World *world = *state;
    set_queue(world, (QueueRow){.rate_count = 1, .rate_period_ms = HOUR_MS});
    add_many(world, 3);
    assert_claims(world, "t0");
    set_queue(world, (QueueRow){.rate_count = 2, .rate_period_ms = HOUR_MS});
    assert_claims(world, "t1");
    set_queue(world, (QueueRow){0});
    assert_claims(world, "t2");
    assert_int_equal(queue_of(world).row.due_at_ms, 0);
}

// ---- pauses, and what is read ----

static void paused_queue_hands_out_nothing_and_what_runs_goes_on(void **state) {
    World *world = *state;
    add_many(world, 2);
    assert_text(lease_one(world, "q").id, "t0");
    assert_true(change_queue(world, OP_PAUSE_QUEUE));
    assert_false(change_queue(world, OP_PAUSE_QUEUE));
    assert_claims(world, "");
    complete(world, "t0");
    assert_claims(world, "");
    assert_true(change_queue(world, OP_RESUME_QUEUE));
    assert_true(world->batch.out.has_tasks);
    assert_false(change_queue(world, OP_RESUME_QUEUE));
    assert_claims(world, "t1");
}

static void limits_out_of_range_are_refused(void **state) {
    World *world = *state;
    static const QueueRow bad[] = {
        {.max_running = -1},
        {.max_per_key = QUEUE_LIMIT_MAX + 1},
        {.rate_count = 1},
        {.rate_period_ms = 1},
        {.rate_count = 1, .rate_period_ms = LIMIT_DURATION_MS + 1},
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        Str before = world_dump(world);
        Op *op = op_new(world, OP_SET_QUEUE);
        op->in.set_queue.row = bad[i];
        op->in.set_queue.row.name = STR("q");
        op_run(world, op, ERR_INVALID);
        assert_refused(op, ERR_INVALID, "BAD_QUEUE_LIMIT");
        assert_unchanged(world, before);
    }
    Op *op = op_new(world, OP_SET_QUEUE);
    op_run(world, op, ERR_INVALID);
    assert_refused(op, ERR_INVALID, "NAME_EMPTY");
}

static uint64_t queue_bit(size_t offset) { return column_bit(TABLE_QUEUES, offset); }

// Sets what `limits` says of one column; the other limits stay.
static Op *change_limit(World *world, size_t offset, QueueRow limits) {
    Op *op = op_add(world, OP_SET_QUEUE);
    limits.name = STR("q");
    op->in.set_queue.row = limits;
    op->in.set_queue.kept =
        (queue_bit(offsetof(QueueRow, max_running)) | queue_bit(offsetof(QueueRow, max_per_key)) |
         queue_bit(offsetof(QueueRow, rate_count)) | queue_bit(offsetof(QueueRow, rate_period_ms)) |
         queue_bit(offsetof(QueueRow, is_paused))) &
        ~queue_bit(offset);
    return op;
}

static void limits_that_are_kept_stay_whoever_sets_the_others(void **state) {
    World *world = *state;
    set_queue(world, (QueueRow){.rate_count = 9, .rate_period_ms = MINUTE_MS, .max_per_key = 4});
    for (int64_t i = 1; i <= 5; i++) { // of one batch: each sees what the one before has set
        batch_new(world);
        change_limit(world, offsetof(QueueRow, max_running), (QueueRow){.max_running = i});
        change_limit(world, offsetof(QueueRow, max_per_key), (QueueRow){.max_per_key = 10 + i});
        change_limit(world, offsetof(QueueRow, rate_count), (QueueRow){.rate_count = 20 + i});
        change_limit(world, offsetof(QueueRow, rate_period_ms), (QueueRow){.rate_period_ms = i});
        change_limit(world, offsetof(QueueRow, is_paused), (QueueRow){.is_paused = i % 2});
        batch_run(world);
    }
    world_reopen(world);
    QueueRow row = queue_of(world).row;
    assert_int_equal(row.max_running, 5);
    assert_int_equal(row.max_per_key, 15);
    assert_int_equal(row.rate_count, 25);
    assert_int_equal(row.rate_period_ms, 5);
    assert_true(row.is_paused);
    assert_true(row.is_explicit);
}

static void limits_are_checked_as_they_would_be_together(void **state) {
    World *world = *state;
    batch_new(world);
    Op *op = change_limit(world, offsetof(QueueRow, rate_count), (QueueRow){.rate_count = 5});
    op_run(world, op, ERR_INVALID); // there is no period
    assert_refused(op, ERR_INVALID, "BAD_QUEUE_LIMIT");
    set_queue(world, (QueueRow){.rate_count = 9, .rate_period_ms = MINUTE_MS});
    batch_new(world);
    op = change_limit(world, offsetof(QueueRow, rate_count), (QueueRow){0});
    op_run(world, op, OK); // who takes the rate away need not name the period
    assert_int_equal(queue_of(world).row.rate_count, 0);
    assert_int_equal(queue_of(world).row.rate_period_ms, 0);
}

static void queues_are_listed_by_name_with_depth_and_age(void **state) {
    World *world = *state;
    TaskSpec old = task_of("old"), urgent = task_of("urgent");
    int64_t begun_at = world->now_ms;
    old.queue = urgent.queue = STR("b");
    urgent.priority = 9;
    create_task(world, &old);
    world->now_ms += SECOND_MS;
    create_task(world, &urgent);
    set_queue(world, (QueueRow){.name = STR("a"), .max_running = 3});
    QueuePage found;
    assert_int_equal(store_list_queues(world->store, &world->arena, &(NamePageSpec){.limit = 1},
                                       &found, &world->diag),
                     OK);
    assert_int_equal(found.count, 1);
    assert_text(found.rows[0].row.name, "a");
    assert_int_equal(found.rows[0].row.max_running, 3);
    assert_true(found.has_more);
    assert_int_equal(store_list_queues(world->store, &world->arena,
                                       &(NamePageSpec){.after = STR("a"), .limit = 1}, &found,
                                       &world->diag),
                     OK);
    assert_int_equal(found.count, 1);
    assert_false(found.has_more);
    assert_text(found.rows[0].row.name, "b");
    assert_int_equal(found.rows[0].row.queued_count, 2);
    assert_int_equal(found.rows[0].oldest_at_ms, begun_at);
}

static void claimable_tasks_are_listed_in_the_order_of_claims(void **state) {
    World *world = *state;
    add_keyed(world, "t1", NULL);
    add_keyed(world, "t2", "k");
    add_keyed(world, "t3", "k"); // waits for its key
    TaskSpec urgent = keyed("t4", NULL), delayed = keyed("t5", NULL), other = task_of("t6");
    urgent.priority = 5;
    delayed.delay_ms = HOUR_MS;
    create_task(world, &urgent);
    create_task(world, &delayed);
    create_task(world, &other); // in another queue
    TaskPage found;
    assert_ok(store_list_claimable(world->store, &world->arena,
                                   &(ClaimableFilter){.queue = STR("q"), .limit = 10}, &found,
                                   &world->diag));
    assert_int_equal(found.count, 3);
    assert_text(found.rows[0].id, "t4");
    assert_text(found.rows[1].id, "t1");
    assert_text(found.rows[2].id, "t2");
    assert_ok(store_list_claimable(world->store, &world->arena,
                                   &(ClaimableFilter){.queue = STR("q"), .limit = 1}, &found,
                                   &world->diag));
    assert_int_equal(found.count, 1);
}

static void queue_that_nobody_set_goes_with_its_last_task(void **state) {
    World *world = *state;
    add_many(world, 1);
    QueuePage queues;
    assert_int_equal(
        store_list_queues(world->store, &world->arena, &(NamePageSpec){0}, &queues, &world->diag),
        OK);
    assert_int_equal(queues.count, 1);
    assert_claims(world, "t0");
    complete(world, "t0");
    assert_int_equal(
        store_list_queues(world->store, &world->arena, &(NamePageSpec){0}, &queues, &world->diag),
        OK);
    assert_int_equal(queues.count, 0);
    assert_int_equal(queue_of(world).row.max_per_key, 1); // what it would have
}

int contract_queues(void) {
    const struct CMUnitTest tests[] = {
        CASE(queue_hands_out_no_more_than_may_run),
        CASE(every_end_of_a_lease_makes_room),
        CASE(limit_below_what_runs_stops_nothing_and_hands_out_nothing),
        CASE(raised_limit_lets_more_run_at_once),
        CASE(limit_of_one_queue_is_none_of_another),
        CASE(claim_on_any_queue_keeps_the_limits_of_each),
        CASE(tasks_of_a_key_run_one_at_a_time_where_nobody_said_otherwise),
        CASE(the_same_key_in_another_queue_is_another_key),
        CASE(limit_per_key_is_the_queues),
        CASE(lowered_limit_per_key_holds_back_what_was_ready),
        CASE(priorities_hold_among_the_tasks_of_a_key),
        CASE(blocked_task_keeps_its_place_in_the_queue),
        CASE(key_is_released_when_the_lease_runs_out),
        CASE(failed_attempt_goes_before_younger_tasks_of_its_key),
        CASE(delayed_task_takes_its_place_when_its_time_has_come),
        CASE(blocked_task_that_no_worker_starts_in_time_fails),
        CASE(ready_task_that_no_worker_starts_in_time_lets_the_next_pass),
        CASE(cancelled_run_takes_its_blocked_tasks_along),
        CASE(task_of_a_purged_run_keeps_its_place_until_it_ends),
        CASE(many_keys_follow_a_new_limit_page_by_page),
        CASE(rate_hands_out_so_many_per_window),
        CASE(rate_counts_leases_and_not_what_becomes_of_them),
        CASE(clock_set_back_does_not_make_a_window_longer),
        CASE(rate_that_is_taken_away_lets_all_pass),
        CASE(paused_queue_hands_out_nothing_and_what_runs_goes_on),
        CASE(limits_out_of_range_are_refused),
        CASE(limits_that_are_kept_stay_whoever_sets_the_others),
        CASE(limits_are_checked_as_they_would_be_together),
        CASE(queues_are_listed_by_name_with_depth_and_age),
        CASE(claimable_tasks_are_listed_in_the_order_of_claims),
        CASE(queue_that_nobody_set_goes_with_its_last_task),
    };
    return run_group("queues", tests);
}

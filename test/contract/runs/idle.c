// Idle runs: [waits-idle-1]-[waits-idle-4] of src/store/kernel/waits/idle.c, per store.
#include "contract/contract.h"
#include <stdio.h>

static size_t idle_count(World *world, const char *id) { return entry_count(world, id, LOG_IDLE); }

static void every_transition_to_idle_is_logged_once(void **state) {
    World *world = *state;
    Op *op = park(world, create(world, "r1"), on_signal("go"));
    assert_true(op->out.turn.is_idle);
    assert_int_equal(op->out.turn.last_seq, last_entry(world, "r1", LOG_IDLE).seq);
    assert_int_equal(idle_count(world, "r1"), 1);
    signal_run(world, "r1", "go", "1");
    assert_int_equal(idle_count(world, "r1"), 1);
    world->now_ms += 5;
    park(world, ready_at(world, 0), on_signal("go"));
    assert_int_equal(idle_count(world, "r1"), 2);
    assert_int_equal(get_run(world, "r1").idle_since_ms, START_MS + 5);
    // Read back, nothing is written again.
    world_crash(world);
    assert_int_equal(idle_count(world, "r1"), 2);
    assert_int_equal(get_run(world, "r1").idle_since_ms, START_MS + 5);
}

static void a_wait_that_is_satisfied_at_once_is_no_transition(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    signal_run(world, "r1", "go", "1");
    Op *op = park(world, claimed, on_signal("go"));
    assert_int_equal(op->out.turn.state, RUN_RUNNING);
    assert_false(op->out.turn.is_idle);
    assert_int_equal(idle_count(world, "r1"), 0);
}

static void several_waiters_make_one_idle_run_and_a_backoff_makes_none(void **state) {
    World *world = *state;
    park(world, create(world, "several"), on_signal("a"), on_event("t"), on_timer(START_MS + 9));
    park(world, create(world, "backoff"), on_signal("a"), on_retry(START_MS + 9));
    park(world, create(world, "sleeping"), on_timer(START_MS + 9));
    assert_int_equal(idle_count(world, "several"), 1);
    assert_int_equal(idle_count(world, "backoff"), 0);
    assert_int_equal(idle_count(world, "sleeping"), 0);
}

// Parks on a signal with a task of the run that it does not wait for.
static void park_beside_task(World *world, Claimed claimed, const char *task) {
    TaskSpec spec = task_of(task);
    Op *op = turn(world, claimed, NEXT_SUSPEND);
    set_task(world, op, &spec);
    set_waits(world, op, WAIT_FIRST, (WaitItem[]){on_signal("go")}, 1);
    op_run(world, op, OK);
    assert_false(op->out.turn.is_idle);
}

static void queued_work_keeps_a_run_from_being_idle_until_it_ends(void **state) {
    World *world = *state;
    park_beside_task(world, create(world, "r1"), "t1");
    assert_int_equal(get_run(world, "r1").idle_since_ms, 0);
    TaskRow task = lease_one(world, "default");
    world->now_ms += 10;
    complete_task(world, "t1", task.token, "1");
    assert_int_equal(world->batch.out.ready_count, 0); // nobody waits for it
    assert_int_equal(get_run(world, "r1").idle_since_ms, START_MS + 10);
    assert_int_equal(idle_count(world, "r1"), 1);
    assert_int_equal(world->batch.out.grown_count, 1); // readers of the log are told
}

static void a_task_in_backoff_keeps_its_run_from_being_idle(void **state) {
    World *world = *state;
    TaskSpec spec = task_of("t1");
    spec.max_attempts = 2;
    spec.backoff_ms = 1000;
    Op *op = turn(world, create(world, "r1"), NEXT_SUSPEND);
    set_task(world, op, &spec);
    set_waits(world, op, WAIT_FIRST, (WaitItem[]){on_signal("go")}, 1);
    op_run(world, op, OK);
    fail_task(world, "t1", lease_one(world, "default").token, "{}");
    assert_int_equal(idle_count(world, "r1"), 0);
    fire_at(world, START_MS + 1000);
    fail_task(world, "t1", lease_one(world, "default").token, "{}"); // the last attempt
    assert_int_equal(idle_count(world, "r1"), 1);
}

// Parks on a signal beside that many tasks, and leases them all; answers them in order.
static TaskRow *park_beside_many(World *world, const char *id, int64_t count) {
    TaskSpec *specs = ARENA_ARRAY(&world->arena, TaskSpec, (size_t)count);
    for (int64_t i = 0; i < count; i++) {
        specs[i] = task_of(arena_printf(&world->arena, "%s-%lld", id, (long long)i).data);
        specs[i].queue = str_from(id);
    }
    Op *op = turn(world, create(world, id), NEXT_SUSPEND);
    op->in.turn.tasks = specs;
    op->in.turn.task_count = (size_t)count;
    set_waits(world, op, WAIT_FIRST, (WaitItem[]){on_signal("go")}, 1);
    op_run(world, op, OK);
    op = lease_tasks(world, id, count);
    assert_int_equal(op->out.claim_tasks.task_count, count);
    TaskRow *tasks = op->out.claim_tasks.tasks;
    for (int64_t i = 0; i < count; i++) assert_true(str_equal(tasks[i].id, specs[i].id));
    for (int64_t i = 0; i < count; i++) tasks[i].id = specs[i].id; // which ends with a NUL
    return tasks;
}

// All tasks of a run but one are completed: it must not be idle before that one ends, whichever it
// is, however many there are, and whatever was forgotten meanwhile.
static void check_one_open(World *world, const char *id, int64_t open) {
    enum { MANY = 100 };
    TaskRow *tasks = park_beside_many(world, id, MANY);
    for (int64_t i = 0; i < MANY; i++) {
        if (i != open) complete_task(world, tasks[i].id.data, tasks[i].token, "1");
        if (i == MANY / 2) world_reopen(world);
    }
    assert_int_equal(get_run(world, id).idle_since_ms, 0);
    Op *op = op_new(world, OP_NOTE_RELEASED);
    op->in.memory = (MemoryNote){.run_id = str_from(id), .is_any_epoch = true, .has_entry = true};
    op_run(world, op, ERR_CONFLICT);
    complete_task(world, tasks[open].id.data, tasks[open].token, "1");
    assert_int_equal(idle_count(world, id), 1);
    assert_int_equal(get_run(world, id).tasks_ended_key, tasks[MANY - 1].key);
    signal_run(world, id, "go", "1"); // the next wait begins to look behind them
    char more[16];
    snprintf(more, sizeof more, "%s-more", id);
    park_beside_task(world, ready_at(world, 0), more);
    assert_int_equal(get_run(world, id).idle_since_ms, 0);
    complete_task(world, more, lease_one(world, "default").token, "1");
    assert_int_equal(idle_count(world, id), 2);
}

static void one_open_task_counts_among_very_many(void **state) {
    check_one_open(*state, "oldest", 0);
    check_one_open(*state, "middle", 37);
    check_one_open(*state, "newest", 99);
}

static void a_signal_that_no_wait_wants_is_noted_and_kept(void **state) {
    World *world = *state;
    park(world, create(world, "idle"), on_signal("go"));
    park(world, create(world, "asleep"), on_timer(START_MS + 1000));
    signal_run(world, "idle", "other", "1");
    assert_int_equal(world->batch.out.ready_count, 0);
    assert_int_equal(world->batch.out.grown_count, 1); // readers of the log are told
    assert_text(last_entry(world, "idle", LOG_UNHANDLED).name, "other");
    assert_text(last_entry(world, "idle", LOG_UNHANDLED).data, "true");
    assert_int_equal(get_run(world, "idle").idle_since_ms, START_MS); // it still is
    assert_int_equal(idle_count(world, "idle"), 1);
    signal_run(world, "asleep", "other", "1");
    assert_text(last_entry(world, "asleep", LOG_UNHANDLED).data, "false");
    signal_run(world, "idle", "go", "2"); // what it waits for wakes it as ever
    assert_resolved(world->batch.out.ready[0].resolved, world->batch.out.ready[0].resolved_count, 0,
                    OUTCOME_OK, "2");
    Claimed claimed = ready_at(world, 0);
    signal_run(world, "idle", "third", "3"); // it executes: perhaps it is about to wait for it
    assert_int_equal(entry_count(world, "idle", LOG_UNHANDLED), 1);
    Op *op = park(world, claimed, on_signal("other"));
    assert_int_equal(op->out.turn.state, RUN_RUNNING); // what was kept is there
}

static void what_was_delivered_before_is_not_lost_behind_the_entry(void **state) {
    World *world = *state;
    RunSpec spec = spec_of("r1");
    spec.kind = RUN_FLOW;
    Op *op = turn(world, create_from(world, &spec), NEXT_SUSPEND);
    op->in.turn.snapshot = STR("snapshot");
    set_waits(world, op, WAIT_EACH, (WaitItem[]){on_signal("a"), on_signal("b")}, 2);
    op_run(world, op, OK);
    assert_int_equal(get_load(world, "r1").log_count, 0);
    signal_run(world, "r1", "b", "2");
    RunLoad load = get_load(world, "r1");
    assert_int_equal(load.log_count, 1);
    assert_text(load.log[0].data, "2");
    assert_int_equal(ready_at(world, 0).run, load.run.key);
}

static void a_run_that_is_paused_and_resumed_becomes_idle_again(void **state) {
    World *world = *state;
    park(world, create(world, "r1"), on_signal("go"));
    pause_run(world, "r1");
    assert_int_equal(get_run(world, "r1").idle_since_ms, 0);
    world->now_ms += 7;
    resume_run(world, "r1");
    assert_int_equal(get_run(world, "r1").idle_since_ms, START_MS + 7);
    assert_int_equal(idle_count(world, "r1"), 2);
}

// ---- released and reloaded ----

static Op *note(World *world, OpKind kind, const char *id, int64_t epoch) {
    Op *op = op_new(world, kind);
    op->in.memory.run_id = str_from(id);
    op->in.memory.epoch = epoch;
    op->in.memory.is_any_epoch = epoch < 0;
    op->in.memory.has_entry = true;
    return op;
}

static void a_parked_run_is_noted_as_released_and_reloaded(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    park(world, claimed, on_signal("go"));
    RunRow before = get_run(world, "r1");
    Op *op = note(world, OP_NOTE_RELEASED, "r1", claimed.epoch);
    op_run(world, op, OK);
    assert_int_equal(op->out.memory.run, claimed.run);
    assert_int_equal(op->out.memory.last_seq, last_entry(world, "r1", LOG_RELEASED).seq);
    op_run(world, note(world, OP_NOTE_RELOADED, "r1", -1), OK);
    assert_int_equal(entry_count(world, "r1", LOG_RELOADED), 1);
    RunRow after = get_run(world, "r1"); // nothing else changed
    assert_int_equal(after.idle_since_ms, before.idle_since_ms);
    assert_int_equal(after.updated_at_ms, before.updated_at_ms);
    assert_int_equal(after.epoch, before.epoch);
    signal_run(world, "r1", "go", "1");
    assert_int_equal(world->batch.out.ready_count, 1);
    assert_resolved(world->batch.out.ready[0].resolved, world->batch.out.ready[0].resolved_count, 0,
                    OUTCOME_OK, "1");
}

static void a_run_that_has_not_been_idle_for_long_enough_is_not_released(
    void **state) { // [waits-idle-4]
    World *world = *state;
    park_beside_task(world, create(world, "r1"), "t1");
    TaskRow task = lease_one(world, "default");
    world->now_ms += 1000; // parked for that long, and idle from now on
    complete_task(world, "t1", task.token, "1");
    world->now_ms += 999;
    Op *op = note(world, OP_NOTE_RELEASED, "r1", -1);
    op->in.memory.idle_ms = 1000;
    op_run(world, op, ERR_CONFLICT);
    assert_refused(op, ERR_CONFLICT, "RUN_NOT_IDLE");
    assert_int_equal(op->out.memory.idle_since_ms, START_MS + 1000);
    world->now_ms += 1;
    op = note(world, OP_NOTE_RELEASED, "r1", -1);
    op->in.memory.idle_ms = 1000;
    op_run(world, op, OK);
    // One that only sleeps is never idle: its time counts from when it parked.
    park(world, create(world, "asleep"), on_timer(world->now_ms + 9));
    op = note(world, OP_NOTE_RELEASED, "asleep", -1);
    op->in.memory.idle_ms = 1000;
    op_run(world, op, OK);
}

static void what_is_not_parked_or_not_ours_is_not_released(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    Str before = world_dump(world);
    Op *op = note(world, OP_NOTE_RELEASED, "r1", -1);
    op_run(world, op, ERR_CONFLICT);
    assert_refused(op, ERR_CONFLICT, "RUN_NOT_IDLE");
    op = note(world, OP_NOTE_RELEASED, "nobody", -1);
    op_run(world, op, ERR_NOT_FOUND);
    assert_refused(op, ERR_NOT_FOUND, "RUN_NOT_FOUND");
    op_run(world, note(world, OP_NOTE_RELOADED, "r1", -1), ERR_CONFLICT);
    assert_unchanged(world, before);
    park(world, claimed, on_signal("go"));
    before = world_dump(world);
    op_run(world, note(world, OP_NOTE_RELEASED, "r1", claimed.epoch + 1), ERR_FENCED);
    assert_unchanged(world, before);
    cancel_run(world, "r1", 0);
    before = world_dump(world);
    op_run(world, note(world, OP_NOTE_RELEASED, "r1", -1), ERR_TERMINAL);
    assert_unchanged(world, before);
}

static void work_under_way_is_released_by_force_only(void **state) {
    World *world = *state;
    park_beside_task(world, create(world, "task"), "t1");
    park(world, create(world, "retry"), on_retry(START_MS + 100));
    park(world, create(world, "timer"), on_timer(START_MS + 100));
    op_run(world, note(world, OP_NOTE_RELEASED, "task", -1), ERR_CONFLICT);
    op_run(world, note(world, OP_NOTE_RELEASED, "retry", -1), ERR_CONFLICT);
    op_run(world, note(world, OP_NOTE_RELEASED, "timer", -1), OK);
    Op *op = note(world, OP_NOTE_RELEASED, "retry", -1);
    op->in.memory.is_forced = true;
    op_run(world, op, OK);
}

static void asking_whether_it_could_be_released_writes_nothing(void **state) {
    World *world = *state;
    park(world, create(world, "r1"), on_signal("go"));
    Str before = world_dump(world);
    Op *op = note(world, OP_NOTE_RELEASED, "r1", -1);
    op->in.memory.has_entry = false;
    op_run(world, op, OK);
    assert_unchanged(world, before);
}

int contract_idle(void) {
    const struct CMUnitTest tests[] = {
        CASE(every_transition_to_idle_is_logged_once),
        CASE(a_wait_that_is_satisfied_at_once_is_no_transition),
        CASE(several_waiters_make_one_idle_run_and_a_backoff_makes_none),
        CASE(queued_work_keeps_a_run_from_being_idle_until_it_ends),
        CASE(a_task_in_backoff_keeps_its_run_from_being_idle),
        CASE(one_open_task_counts_among_very_many),
        CASE(a_signal_that_no_wait_wants_is_noted_and_kept),
        CASE(what_was_delivered_before_is_not_lost_behind_the_entry),
        CASE(a_run_that_is_paused_and_resumed_becomes_idle_again),
        CASE(a_parked_run_is_noted_as_released_and_reloaded),
        CASE(a_run_that_has_not_been_idle_for_long_enough_is_not_released),
        CASE(what_is_not_parked_or_not_ours_is_not_released),
        CASE(work_under_way_is_released_by_force_only),
        CASE(asking_whether_it_could_be_released_writes_nothing),
    };
    return run_group("idle", tests);
}

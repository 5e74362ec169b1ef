// [store-batch-6] Terminal runs never change, except by being purged: every operation against every
//      terminal
// state. And starting: what an id or a key that exists already does.
#include "base/array.h"
#include "contract/contract.h"

static void end_in(World *world, const char *id, RunState wanted) {
    Claimed claimed = create(world, id);
    save_step(world, claimed, "a", 0);
    switch (wanted) {
    case RUN_COMPLETED: finish(world, claimed, NEXT_COMPLETE, "\"result\""); break;
    case RUN_FAILED: finish(world, claimed, NEXT_FAIL, "{\"type\":\"Error\"}"); break;
    default: cancel_run(world, id, 0); break;
    }
    assert_state(world, id, wanted);
}

static void add_turns(World *world, Claimed claimed) {
    const TurnNext all[] = {NEXT_CONTINUE,  NEXT_SUSPEND, NEXT_COMPLETE,    NEXT_FAIL,
                            NEXT_CANCELLED, NEXT_PAUSE,   NEXT_CONTINUE_AS, NEXT_RETRY};
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        Op *op = add_turn(world, claimed, all[i]);
        set_log(world, op, log_step("late", 9, 0, "1"));
        op->in.turn.result = STR("\"late\"");
        set_waits(world, op, WAIT_FIRST, (WaitItem[]){on_signal("go")}, 1);
    }
}

static void add_refused(World *world, const char *id, Claimed claimed) {
    Str run_id = str_from(id);
    add_turns(world, claimed);
    Op *op = op_add(world, OP_RELEASE);
    op->in.release.run = claimed.run;
    op->in.release.epoch = claimed.epoch;
    op = op_add(world, OP_SIGNAL);
    op->in.signal.run_id = run_id;
    op->in.signal.name = STR("go");
    op_add(world, OP_PAUSE)->in.hold.run_id = run_id;
    op = op_add(world, OP_REWIND);
    op->in.rewind.run_id = run_id;
    op->in.rewind.step.name = STR("a");
    op = op_add(world, OP_APPEND_LOG);
    op->in.append_log.run = claimed.run;
    op->in.append_log.is_any_epoch = true;
    op->in.append_log.entry.kind = LOG_LINE;
    op->in.append_log.has_idle_since = true;
    op->in.append_log.idle_since_ms = 5;
}

static void add_harmless(World *world, const char *id) {
    Str run_id = str_from(id);
    for (int grace_ms = 0; grace_ms <= 1000; grace_ms += 1000) {
        Op *op = op_add(world, OP_CANCEL);
        op->in.cancel.run_id = run_id;
        op->in.cancel.grace_ms = grace_ms;
    }
    op_add(world, OP_RESUME)->in.hold.run_id = run_id;
    RunSpec spec = spec_of(id);
    spec.input = STR("\"other\"");
    add_create(world, &spec);
    op_add(world, OP_CLAIM)->in.claim.max = 100;
    op_add(world, OP_FIRE_DUE)->in.fire_due.max = 100;
    op_add(world, OP_SWEEP)->in.sweep.max = 100;
}

static void check_sticky(World *world, RunState terminal) {
    end_in(world, "r1", terminal);
    RunRow run = get_run(world, "r1");
    Claimed claimed = {run.key, run.epoch};
    Str before = world_dump(world);
    batch_new(world);
    add_refused(world, "r1", claimed);
    batch_run(world);
    for (size_t i = 0; i < world->batch.count; i++) {
        assert_refused(world->batch.ops[i], ERR_TERMINAL, "RUN_TERMINAL");
    }
    world->now_ms += DAY_MS;
    batch_new(world);
    add_harmless(world, "r1");
    batch_run(world);
    for (size_t i = 0; i < world->batch.count; i++) {
        const Op *op = world->batch.ops[i];
        assert_status(op->out.status, OK);
        if (op->kind == OP_CANCEL) assert_false(op->out.cancel.is_changed);
        if (op->kind == OP_RESUME) assert_false(op->out.hold.is_changed);
        if (op->kind == OP_CREATE_RUN) assert_false(op->out.create_run.is_new);
        if (op->kind == OP_CREATE_RUN) assert_int_equal(op->out.create_run.state, terminal);
    }
    assert_int_equal(world->batch.out.ready_count, 0);
    assert_int_equal(world->batch.out.ended_count, 0);
    world->now_ms -= DAY_MS; // for the same dump
    assert_unchanged(world, before);
}

static void completed_survives_every_operation(void **state) {
    check_sticky(*state, RUN_COMPLETED);
}
static void failed_survives_every_operation(void **state) { check_sticky(*state, RUN_FAILED); }
static void cancelled_survives_every_operation(void **state) {
    check_sticky(*state, RUN_CANCELLED);
}

static void running_body_cannot_write_over_cancelled(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    cancel_run(world, "r1", 0); // while the body runs
    Op *op = turn(world, claimed, NEXT_COMPLETE);
    op->in.turn.result = STR("\"done\"");
    op_run(world, op, ERR_TERMINAL);
    assert_state(world, "r1", RUN_CANCELLED);
    assert_int_equal(get_counter(world, COUNTER_COMPLETED_TOTAL), 0);
    assert_int_equal(get_counter(world, COUNTER_CANCELLED_TOTAL), 1);
}

static void two_endings_in_one_batch_keep_the_first(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    batch_new(world);
    Op *first = add_turn(world, claimed, NEXT_COMPLETE);
    first->in.turn.result = STR("1");
    Op *second = add_turn(world, claimed, NEXT_FAIL);
    second->in.turn.result = STR("2");
    batch_run(world);
    assert_status(first->out.status, OK);
    assert_status(second->out.status, ERR_TERMINAL);
    assert_text(get_result(world, "r1"), "1");
    assert_int_equal(world->batch.out.ended_count, 1);
}

static void resumed_or_claimed_terminal_runs_do_not_exist(void **state) {
    World *world = *state;
    world->claim_max = 0;
    RunSpec spec = spec_of("r1");
    create_op(world, &spec); // ready, unowned
    cancel_run(world, "r1", 0);
    world->claim_max = 100;
    assert_int_equal(claim(world, 10)->out.claim.count, 0);
}

// ---- starting ----

static void second_start_with_the_same_id_answers_the_first(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    save_step(world, claimed, "a", 0);
    RunSpec spec = spec_of("r1");
    spec.workflow = STR("another");
    spec.input = STR("\"other\"");
    Str before = world_dump(world);
    Op *op = create_op(world, &spec);
    assert_false(op->out.create_run.is_new);
    assert_int_equal(op->out.create_run.key, claimed.run);
    assert_text(op->out.create_run.id, "r1");
    assert_int_equal(op->out.create_run.state, RUN_RUNNING);
    assert_int_equal(world->batch.out.ready_count, 0);
    assert_unchanged(world, before);
}

static Op *start_with_key(World *world, const char *id, const char *key, const char *input,
                          Status expected) {
    RunSpec spec = spec_of(id);
    spec.dedupe_key = str_from(key);
    spec.input = str_from(input);
    batch_new(world);
    Op *op = add_create(world, &spec);
    op_run(world, op, expected);
    return op;
}

static void same_key_and_content_answers_the_first_run(void **state) {
    World *world = *state;
    assert_true(start_with_key(world, "a", "key", "1", OK)->out.create_run.is_new);
    Op *op = start_with_key(world, "b", "key", "1", OK);
    assert_false(op->out.create_run.is_new);
    assert_text(op->out.create_run.id, "a");
    assert_false(has_run(world, "b"));
    world_crash(world);
    assert_text(start_with_key(world, "c", "key", "1", OK)->out.create_run.id, "a");
}

static void same_key_with_other_content_is_a_conflict(void **state) {
    World *world = *state;
    start_with_key(world, "a", "key", "1", OK);
    assert_refused(start_with_key(world, "b", "key", "2", ERR_CONFLICT), ERR_CONFLICT,
                   "DUPLICATE_KEY");
    // No input and the text null are not the same request.
    assert_true(start_with_key(world, "c", "key2", NULL, OK)->out.create_run.is_new);
    start_with_key(world, "d", "key2", "null", ERR_CONFLICT);
    assert_false(has_run(world, "b"));
}

static void key_of_a_purged_run_starts_no_second_one(void **state) {
    World *world = *state;
    start_with_key(world, "a", "key", "1", OK);
    finish(world, ready_at(world, 0), NEXT_COMPLETE, "1");
    Op *op = op_new(world, OP_PURGE_RUN);
    op->in.purge.run_id = STR("a");
    op_run(world, op, OK);
    assert_refused(start_with_key(world, "b", "key", "1", ERR_CONFLICT), ERR_CONFLICT,
                   "RUN_PURGED");
    assert_false(has_run(world, "b"));
}

static void key_is_forgotten_after_the_retention(void **state) {
    World *world = *state;
    start_with_key(world, "a", "key", "1", OK);
    world->now_ms = START_MS + WEEK_MS;
    assert_true(start_with_key(world, "b", "key", "2", OK)->out.create_run.is_new);
    assert_text(start_with_key(world, "c", "key", "2", OK)->out.create_run.id, "b");
}

static void delayed_start_begins_when_due(void **state) {
    World *world = *state;
    RunSpec spec = spec_of("r1");
    spec.start_at_ms = START_MS + 5000;
    Op *op = create_op(world, &spec);
    assert_int_equal(op->out.create_run.state, RUN_PENDING);
    assert_int_equal(world->batch.out.ready_count, 0);
    assert_int_equal(world->batch.out.earliest_due_ms, START_MS + 5000);
    assert_int_equal(claim(world, 10)->out.claim.count, 0);
    assert_int_equal(fire_at(world, START_MS + 4999)->out.fire_due.started_count, 0);
    assert_int_equal(fire_at(world, START_MS + 5000)->out.fire_due.started_count, 1);
    assert_int_equal(world->batch.out.ready_count, 1);
    assert_int_equal(get_run(world, "r1").started_at_ms, START_MS + 5000);
    assert_int_equal(get_run(world, "r1").created_at_ms, START_MS);
}

static void start_time_in_the_past_is_now(void **state) {
    World *world = *state;
    RunSpec spec = spec_of("r1");
    spec.start_at_ms = START_MS - 1;
    assert_int_equal(create_op(world, &spec)->out.create_run.state, RUN_RUNNING);
}

static void child_start_is_deduplicated_when_the_turn_is_repeated(void **state) {
    World *world = *state;
    Claimed parent = create(world, "parent");
    RunSpec child = spec_of("parent/child");
    Op *op = turn(world, parent, NEXT_CONTINUE);
    op->in.turn.children = &child;
    op->in.turn.child_count = 1;
    op_run(world, op, OK);
    int64_t key = op->out.turn.child_keys[0];
    world_crash(world); // before the parent knew: its turn is executed again
    claim(world, 10);
    op = turn(world, ready_of(world, parent.run), NEXT_CONTINUE);
    op->in.turn.children = &child;
    op->in.turn.child_count = 1;
    op_run(world, op, OK);
    assert_int_equal(op->out.turn.child_keys[0], key);
    assert_int_equal(get_counter(world, COUNTER_STARTED_TOTAL), 2);
}

static void ending_parent_cancels_children_that_ask_for_it(void **state) {
    World *world = *state;
    Claimed parent = create(world, "parent");
    RunSpec children[] = {spec_of("kept"), spec_of("closed"), spec_of("unstarted")};
    children[1].close_policy = children[2].close_policy = CLOSE_CANCEL;
    children[2].start_at_ms = START_MS + DAY_MS;
    Op *op = turn(world, parent, NEXT_COMPLETE);
    op->in.turn.children = children;
    op->in.turn.child_count = 3;
    op_run(world, op, OK);
    assert_int_equal(get_run(world, "kept").cancel_at_ms, 0);
    assert_int_equal(get_run(world, "closed").cancel_at_ms, START_MS);
    assert_state(world, "closed", RUN_RUNNING); // it may clean up
    assert_state(world, "unstarted", RUN_CANCELLED);
    assert_int_equal(fire_at(world, START_MS + 10 * SECOND_MS)->out.fire_due.ended_count, 1);
    assert_state(world, "closed", RUN_CANCELLED);
    assert_state(world, "kept", RUN_RUNNING);
}

static void children_are_listed_newest_first(void **state) {
    World *world = *state;
    Claimed parent = create(world, "parent");
    RunSpec children[] = {spec_of("c1"), spec_of("c2"), spec_of("c3")};
    Op *op = turn(world, parent, NEXT_CONTINUE);
    op->in.turn.children = children;
    op->in.turn.child_count = 3;
    op_run(world, op, OK);
    create(world, "stranger");
    RunPage page;
    assert_ok(store_list_runs(world->store, &world->arena,
                              &(RunFilter){.parent_id = STR("parent"), .limit = 2}, &page,
                              &world->diag));
    assert_int_equal(page.count, 2);
    assert_text(page.rows[0].id, "c3");
    assert_ok(
        store_list_runs(world->store, &world->arena,
                        &(RunFilter){.parent_id = STR("parent"), .cursor = page.next, .limit = 2},
                        &page, &world->diag));
    assert_int_equal(page.count, 1);
    assert_text(page.rows[0].id, "c1");
}

int contract_terminal(void) {
    const struct CMUnitTest tests[] = {
        CASE(completed_survives_every_operation),
        CASE(failed_survives_every_operation),
        CASE(cancelled_survives_every_operation),
        CASE(running_body_cannot_write_over_cancelled),
        CASE(two_endings_in_one_batch_keep_the_first),
        CASE(resumed_or_claimed_terminal_runs_do_not_exist),
        CASE(second_start_with_the_same_id_answers_the_first),
        CASE(same_key_and_content_answers_the_first_run),
        CASE(same_key_with_other_content_is_a_conflict),
        CASE(key_of_a_purged_run_starts_no_second_one),
        CASE(key_is_forgotten_after_the_retention),
        CASE(delayed_start_begins_when_due),
        CASE(start_time_in_the_past_is_now),
        CASE(child_start_is_deduplicated_when_the_turn_is_repeated),
        CASE(ending_parent_cancels_children_that_ask_for_it),
        CASE(children_are_listed_newest_first),
    };
    return run_group("terminal", tests);
}

// Waits of workflows whose code is in another process: their journal is a line, and they take what
// comes while they execute.
#include "contract/contract.h"

static Claimed create_code(World *world, const char *id) {
    Op *op = op_new(world, OP_DEFINE);
    op->in.define.name = STR("code");
    op->in.define.version = STR("1");
    op->in.define.kind = RUN_CODE;
    op_run(world, op, OK);
    RunSpec spec = spec_of(id);
    spec.workflow = STR("code");
    spec.kind = 0; // that of the definition
    return create_from(world, &spec);
}

static Op *look(World *world, Claimed claimed, const WaitItem *items, size_t count) {
    Op *op = turn(world, claimed, NEXT_CONTINUE);
    set_waits(world, op, WAIT_EACH, items, count);
    op_run(world, op, OK);
    assert_int_equal(op->out.turn.state, RUN_RUNNING);
    return op;
}

static void assert_place(const LogRow *row, int64_t position, int64_t iteration, int64_t slot) {
    assert_int_equal(row->kind, LOG_WAIT);
    assert_int_equal(row->position, position);
    assert_int_equal(row->iteration, iteration);
    assert_int_equal(row->slot, slot);
}

static WaitItem at(WaitItem item, int64_t position) {
    item.position = position;
    return item;
}

static void timers_that_end_together_stand_in_a_row(void **state) {
    World *world = *state;
    Claimed claimed = create_code(world, "r1");
    save_step(world, claimed, "a", 0);
    park_each(world, claimed, at(on_timer(START_MS + 20), 1), at(on_timer(START_MS + 10), 1),
              at(on_timer(START_MS + 90), 1));
    fire_at(world, START_MS + 30);
    const ReadyRun *ready = &world->batch.out.ready[0];
    assert_int_equal(ready->resolved_count, 2);
    assert_place(&ready->resolved[0], 1, 0, 1); // what ended first stands first
    assert_place(&ready->resolved[1], 2, 1, 0);
}

static void what_is_there_already_is_taken_together(void **state) {
    World *world = *state;
    Claimed claimed = create_code(world, "r1");
    signal_run(world, "r1", "go", "1");
    signal_run(world, "r1", "go", "2");
    Op *op = park_each(world, claimed, at(on_timer(START_MS - 20), 0), at(on_signal("go"), 0),
                       at(on_timer(START_MS - 10), 0));
    assert_int_equal(op->out.turn.state, RUN_RUNNING);
    assert_int_equal(op->out.turn.resolved_count, 2); // a signal only when it is the first
    assert_place(&op->out.turn.resolved[0], 0, 0, 0);
    assert_place(&op->out.turn.resolved[1], 1, 1, 2);
    assert_int_equal(get_signals(world, "r1").count, 2);
}

static void a_run_that_executes_takes_what_came(void **state) {
    World *world = *state;
    Claimed claimed = create_code(world, "r1");
    const WaitItem items[] = {at(on_signal("go"), 0), at(on_timer(START_MS + 50), 0)};
    assert_int_equal(look(world, claimed, items, 2)->out.turn.resolved_count, 0);
    assert_int_equal(get_log(world, "r1").count, 1); // its input
    signal_run(world, "r1", "go", "1");
    assert_int_equal(world->batch.out.grown_count, 1); // who executes it hears of that
    Op *op = look(world, claimed, items, 2);
    assert_resolved(op->out.turn.resolved, op->out.turn.resolved_count, 0, OUTCOME_OK, "1");
    assert_int_equal(get_signals(world, "r1").count, 0);
    world->now_ms = START_MS + 60;
    const WaitItem rest[] = {at(on_timer(START_MS + 50), 1)};
    op = look(world, claimed, rest, 1);
    assert_place(&op->out.turn.resolved[0], 1, 0, 0);
    finish(world, claimed, NEXT_COMPLETE, "1");
}

static void a_task_that_ended_while_its_run_executes_is_taken(void **state) {
    World *world = *state;
    Claimed claimed = create_code(world, "r1");
    Op *op = turn(world, claimed, NEXT_CONTINUE);
    TaskSpec spec = task_of("t1");
    set_task(world, op, &spec);
    set_waits(world, op, WAIT_EACH, (WaitItem[]){at(on_task("t1"), 0)}, 1);
    op_run(world, op, OK);
    TaskRow task = lease_one(world, "default");
    complete_task(world, "t1", task.token, "7");
    assert_int_equal(world->batch.out.grown_count, 1);
    const WaitItem items[] = {at(on_task("t1"), 0)};
    op = look(world, claimed, items, 1);
    assert_resolved(op->out.turn.resolved, op->out.turn.resolved_count, 0, OUTCOME_OK, "7");
}

static void a_request_to_end_is_told_to_one_that_executes(void **state) {
    World *world = *state;
    Claimed claimed = create_code(world, "r1");
    cancel_run(world, "r1", 1000);
    const WaitItem items[] = {at(on_signal("go"), 0)};
    Op *op = look(world, claimed, items, 1);
    assert_resolved(op->out.turn.resolved, op->out.turn.resolved_count, 0, OUTCOME_CANCELLED, NULL);
    assert_int_equal(look(world, claimed, items, 1)->out.turn.resolved_count, 0); // once
}

static void a_target_that_does_not_exist_is_refused(void **state) {
    World *world = *state;
    Claimed claimed = create_code(world, "r1");
    Op *op = turn(world, claimed, NEXT_CONTINUE);
    set_waits(world, op, WAIT_EACH, (WaitItem[]){on_task("nobody")}, 1);
    op_run(world, op, ERR_INVALID);
    assert_refused(op, ERR_INVALID, "WAIT_TARGET");
}

int contract_code(void) {
    const struct CMUnitTest cases[] = {
        CASE(timers_that_end_together_stand_in_a_row),
        CASE(what_is_there_already_is_taken_together),
        CASE(a_run_that_executes_takes_what_came),
        CASE(a_task_that_ended_while_its_run_executes_is_taken),
        CASE(a_request_to_end_is_told_to_one_that_executes),
        CASE(a_target_that_does_not_exist_is_refused),
    };
    return run_group("code", cases);
}

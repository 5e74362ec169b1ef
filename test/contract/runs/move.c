// Moving a parked script to another version: one write, checked by epoch, logged, undone by rewind.
#include "base/array.h"
#include "contract/contract.h"

enum { OLD = 7, NEW = 9 }; // definitions

static Claimed start_flow(World *world, const char *id) {
    RunSpec spec = spec_of(id);
    spec.kind = RUN_FLOW;
    spec.definition = OLD;
    spec.input = STR("{}");
    return create_from(world, &spec);
}

static void flow_park(World *world, Claimed claimed, const char *snapshot, const char *signal,
                      int64_t position) {
    Op *op = turn(world, claimed, NEXT_SUSPEND);
    WaitItem wait = on_signal(signal);
    op->in.turn.snapshot = str_from(snapshot);
    op->in.turn.keep_snapshots = 5;
    set_log(world, op,
            (LogRow){.kind = LOG_WAITING, .name = str_from(signal), .position = position});
    set_waits(world, op, WAIT_EACH, &wait, 1);
    op->in.turn.waits.items[0].position = position;
    op->in.turn.waits.items[0].slot = position;
    op_run(world, op, OK);
}

static Op *move(World *world, const char *id, int64_t epoch, Status expected) {
    Op *op = op_new(world, OP_MOVE);
    op->in.move.run_id = str_from(id);
    op->in.move.epoch = epoch;
    op->in.move.definition = NEW;
    op->in.move.snapshot = STR("moved");
    op->in.move.note = STR("{\"from\":\"a\",\"to\":\"b\"}");
    op_run(world, op, expected);
    return op;
}

static void parked_script_wakes_in_the_other_version(void **state) {
    World *world = *state;
    flow_park(world, start_flow(world, "r"), "p0", "go", 0);
    move(world, "r", get_run(world, "r").epoch, OK);
    Claimed woken = ready_at(world, 0);
    RunRow row = get_run(world, "r");
    assert_int_equal(row.definition, NEW);
    assert_text(row.snapshot, "moved");
    assert_int_equal(row.state, RUN_RUNNING);
    assert_text(last_entry(world, "r", LOG_MOVED).data, "{\"from\":\"a\",\"to\":\"b\"}");
    flow_park(world, woken, "p1", "go", 0);
    signal_run(world, "r", "go", "5");
    assert_int_equal(get_run(world, "r").state, RUN_RUNNING);
    world_reopen(world);
    assert_int_equal(get_run(world, "r").definition, NEW);
}

static void stale_epoch_changes_nothing(void **state) {
    World *world = *state;
    flow_park(world, start_flow(world, "r"), "p0", "go", 0);
    int64_t epoch = get_run(world, "r").epoch;
    assert_refused(move(world, "r", epoch - 1, ERR_CONFLICT), ERR_CONFLICT, "RUN_CHANGED");
    RunRow row = get_run(world, "r");
    assert_int_equal(row.definition, OLD);
    assert_text(row.snapshot, "p0");
    assert_int_equal(row.state, RUN_SUSPENDED);
}

static void only_waiting_scripts_are_moved(void **state) {
    World *world = *state;
    start_flow(world, "r");
    RunRow row = get_run(world, "r");
    assert_refused(move(world, "r", row.epoch, ERR_CONFLICT), ERR_CONFLICT, "RUN_NOT_PARKED");
    assert_refused(move(world, "none", 1, ERR_NOT_FOUND), ERR_NOT_FOUND, "RUN_NOT_FOUND");
}

static void paused_script_stays_paused_and_is_taken_up_from_the_new_snapshot(void **state) {
    World *world = *state;
    flow_park(world, start_flow(world, "r"), "p0", "go", 0);
    pause_run(world, "r");
    move(world, "r", get_run(world, "r").epoch, OK);
    RunRow row = get_run(world, "r");
    assert_int_equal(row.state, RUN_PAUSED);
    assert_int_equal(row.definition, NEW);
    resume_run(world, "r");
    row = get_run(world, "r");
    assert_int_equal(row.state, RUN_RUNNING);
    assert_text(row.snapshot, "moved");
}

static void rewinding_past_the_move_brings_the_old_version_back(void **state) {
    World *world = *state;
    flow_park(world, start_flow(world, "r"), "p0", "go", 0);
    signal_run(world, "r", "go", "5");
    flow_park(world, ready_at(world, 0), "p1", "next", 1);
    move(world, "r", get_run(world, "r").epoch, OK);
    Op *op = turn(world, ready_at(world, 0), NEXT_SUSPEND); // parks again, having begun nothing
    WaitItem wait = on_signal("next");
    op->in.turn.snapshot = STR("m1");
    op->in.turn.keep_snapshots = 5;
    set_waits(world, op, WAIT_EACH, &wait, 1);
    op->in.turn.waits.items[0].position = op->in.turn.waits.items[0].slot = 1;
    op_run(world, op, OK);
    rewind_run(world, "r", "next", -1);
    RunRow row = get_run(world, "r");
    assert_int_equal(row.definition, OLD);
    assert_text(row.snapshot, "p0");
}

static Op *set(World *world, const char *id, int64_t epoch, Status expected) {
    Op *op = op_new(world, OP_MOVE);
    op->in.move.run_id = str_from(id);
    op->in.move.epoch = epoch;
    op->in.move.definition = OLD;
    op->in.move.snapshot = STR("set");
    op->in.move.note = STR("{\"by\":null,\"values\":[]}");
    op->in.move.is_set = true;
    op_run(world, op, expected);
    return op;
}

static void variables_that_were_set_stay_on_the_version_and_are_logged(void **state) {
    World *world = *state;
    flow_park(world, start_flow(world, "r"), "p0", "go", 0);
    int64_t epoch = get_run(world, "r").epoch;
    set(world, "r", epoch, OK);
    Claimed woken = ready_at(world, 0);
    RunRow row = get_run(world, "r");
    assert_int_equal(row.definition, OLD);
    assert_text(row.snapshot, "set");
    assert_int_equal(row.state, RUN_RUNNING);
    assert_text(last_entry(world, "r", LOG_SET).data, "{\"by\":null,\"values\":[]}");
    assert_refused(set(world, "r", epoch, ERR_CONFLICT), ERR_CONFLICT, "RUN_NOT_PARKED");
    flow_park(world, woken, "p1", "go", 0);
    assert_refused(set(world, "r", epoch, ERR_CONFLICT), ERR_CONFLICT, "RUN_CHANGED");
    world_reopen(world);
    assert_text(get_run(world, "r").snapshot, "p1");
}

static void rewinding_past_a_setting_keeps_the_version(void **state) {
    World *world = *state;
    flow_park(world, start_flow(world, "r"), "p0", "go", 0);
    signal_run(world, "r", "go", "5");
    flow_park(world, ready_at(world, 0), "p1", "next", 1);
    set(world, "r", get_run(world, "r").epoch, OK);
    rewind_run(world, "r", "next", -1);
    RunRow row = get_run(world, "r");
    assert_int_equal(row.definition, OLD);
    assert_text(row.snapshot, "p0");
}

int contract_move(void) {
    const struct CMUnitTest tests[] = {
        CASE(parked_script_wakes_in_the_other_version),
        CASE(stale_epoch_changes_nothing),
        CASE(only_waiting_scripts_are_moved),
        CASE(paused_script_stays_paused_and_is_taken_up_from_the_new_snapshot),
        CASE(rewinding_past_the_move_brings_the_old_version_back),
        CASE(variables_that_were_set_stay_on_the_version_and_are_logged),
        CASE(rewinding_past_a_setting_keeps_the_version),
    };
    return run_group("move", tests);
}

// Places: the store counts the runs of a version that are parked or failed at each of them.
#include "contract/contract.h"

enum { VERSION = 7, OTHER = 9, HERE = 100, THERE = 200 };

static Claimed start_flow(World *world, const char *id) {
    RunSpec spec = spec_of(id);
    spec.kind = RUN_FLOW;
    spec.definition = VERSION;
    spec.input = STR("{}");
    return create_from(world, &spec);
}

static void park_at(World *world, Claimed claimed, int64_t place) {
    Op *op = turn(world, claimed, NEXT_SUSPEND);
    WaitItem wait = on_signal("go");
    op->in.turn.snapshot = STR("parked");
    op->in.turn.place = place;
    op->in.turn.keep_snapshots = 5;
    set_log(world, op, (LogRow){.kind = LOG_WAITING, .name = STR("go")});
    set_waits(world, op, WAIT_EACH, &wait, 1);
    op_run(world, op, OK);
}

static PlaceRow place_of(World *world, int64_t definition, int64_t place) {
    PlaceList list;
    int64_t row_count;
    assert_ok(store_verify(world->store, &row_count, &world->diag));
    assert_ok(store_list_places(world->store, &world->arena, definition, &list, &world->diag));
    for (size_t i = 0; i < list.count; i++)
        if (list.rows[i].place == place) return list.rows[i];
    return (PlaceRow){0};
}

static void assert_counts(World *world, int64_t place, int64_t waiting, int64_t failed) {
    PlaceRow row = place_of(world, VERSION, place);
    assert_int_equal(row.waiting_count, waiting);
    assert_int_equal(row.failed_count, failed);
}

static Claimed wake(World *world, const char *id) {
    signal_run(world, id, "go", "1");
    return ready_at(world, 0);
}

static void parked_runs_are_counted_where_they_stand(void **state) {
    World *world = *state;
    park_at(world, start_flow(world, "a"), HERE);
    park_at(world, start_flow(world, "b"), HERE);
    assert_counts(world, HERE, 2, 0);
    assert_int_equal(place_of(world, VERSION, HERE).example, get_run(world, "a").key);
    park_at(world, wake(world, "a"), THERE);
    assert_counts(world, HERE, 1, 0);
    assert_counts(world, THERE, 1, 0);
    world_reopen(world);
    finish(world, wake(world, "b"), NEXT_COMPLETE, "1");
    assert_counts(world, HERE, 0, 0);
    assert_int_equal(get_run(world, "a").place, THERE);
}

static void failed_runs_are_counted_where_their_last_turn_began(void **state) {
    World *world = *state;
    park_at(world, start_flow(world, "a"), HERE);
    finish(world, wake(world, "a"), NEXT_FAIL, "{}");
    finish(world, start_flow(world, "b"), NEXT_FAIL, "{}");
    assert_counts(world, HERE, 0, 1);
    assert_counts(world, PLACE_START, 0, 1);
    Op *op = op_new(world, OP_PURGE_RUN);
    op->in.purge.run_id = STR("a");
    op_run(world, op, OK);
    assert_counts(world, HERE, 0, 0);
}

static void paused_runs_stay_counted(void **state) {
    World *world = *state;
    park_at(world, start_flow(world, "a"), HERE);
    pause_run(world, "a");
    assert_counts(world, HERE, 1, 0);
    resume_run(world, "a");
    assert_counts(world, HERE, 1, 0);
}

static void another_run_becomes_the_example_when_it_comes(void **state) {
    World *world = *state;
    park_at(world, start_flow(world, "a"), HERE);
    park_at(world, start_flow(world, "b"), HERE);
    finish(world, wake(world, "a"), NEXT_COMPLETE, "1");
    assert_int_equal(place_of(world, VERSION, HERE).example, 0);
    park_at(world, start_flow(world, "c"), HERE);
    assert_int_equal(place_of(world, VERSION, HERE).example, get_run(world, "c").key);
}

static void moved_runs_are_counted_in_their_new_version(void **state) {
    World *world = *state;
    park_at(world, start_flow(world, "a"), HERE);
    pause_run(world, "a");
    Op *op = op_new(world, OP_MOVE);
    op->in.move.run_id = STR("a");
    op->in.move.epoch = get_run(world, "a").epoch;
    op->in.move.definition = OTHER;
    op->in.move.snapshot = STR("moved");
    op->in.move.place = THERE;
    op_run(world, op, OK);
    assert_counts(world, HERE, 0, 0);
    resume_run(world, "a");
    park_at(world, ready_at(world, 0), THERE);
    assert_int_equal(place_of(world, OTHER, THERE).waiting_count, 1);
}

static void going_back_brings_back_the_place(void **state) {
    World *world = *state;
    park_at(world, start_flow(world, "a"), HERE);
    park_at(world, wake(world, "a"), THERE);
    rewind_run(world, "a", "go", -1);
    assert_int_equal(get_run(world, "a").place, HERE);
    assert_counts(world, THERE, 0, 0);
}

int contract_places(void) {
    const struct CMUnitTest tests[] = {
        CASE(parked_runs_are_counted_where_they_stand),
        CASE(failed_runs_are_counted_where_their_last_turn_began),
        CASE(paused_runs_stay_counted),
        CASE(another_run_becomes_the_example_when_it_comes),
        CASE(moved_runs_are_counted_in_their_new_version),
        CASE(going_back_brings_back_the_place),
    };
    return run_group("places", tests);
}

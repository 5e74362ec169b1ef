// Loading many runs in one read: each is answered as if it had been asked for alone.
#include "contract/contract.h"
#include "store/reads.h"

enum { RUNS_MAX = 40 };

static RunLoads load_runs(World *world, const int64_t *keys, size_t count) {
    RunLoads loads;
    Status status =
        store_load_runs(world->store, &world->arena, (RunKeys){keys, count}, &loads, &world->diag);
    assert_ok(status);
    assert_int_equal(loads.count, count);
    return loads;
}

static void assert_same_entries(const RunLoad *actual, const RunLoad *expected) {
    assert_int_equal(actual->log_count, expected->log_count);
    for (size_t i = 0; i < actual->log_count; i++) {
        assert_int_equal(actual->log[i].seq, expected->log[i].seq);
        assert_int_equal(actual->log[i].position, expected->log[i].position);
        assert_int_equal(actual->log[i].kind, expected->log[i].kind);
        assert_true(str_equal(actual->log[i].name, expected->log[i].name));
        assert_true(str_equal(actual->log[i].data, expected->log[i].data));
    }
}

static void each_run_is_answered_as_if_it_were_alone(void **state) {
    World *world = *state;
    int64_t keys[RUNS_MAX];
    for (int i = 0; i < RUNS_MAX; i++) {
        const char *id = arena_printf(&world->arena, "r%d", i).data;
        RunSpec spec = spec_of(id);
        spec.input = arena_printf(&world->arena, "{\"number\":%d}", i);
        Claimed claimed = create_from(world, &spec);
        keys[i] = claimed.run;
        for (int step = 0; step < i; step++) // more than one chunk of them, too
            (void)save_step(world, claimed, "step", step);
        if (i % 2 == 1) park(world, claimed, on_signal("go"));
    }
    RunLoads loads = load_runs(world, keys, RUNS_MAX);
    for (int i = 0; i < RUNS_MAX; i++) {
        const RunLoadReply *reply = &loads.replies[i];
        assert_int_equal(reply->key, keys[i]);
        assert_ok(reply->status);
        RunLoad alone;
        assert_ok(store_load_run(world->store, &world->arena, keys[i], &alone, &world->diag));
        assert_int_equal(reply->load.run.key, keys[i]);
        assert_int_equal(reply->load.run.epoch, alone.run.epoch);
        assert_int_equal(reply->load.run.state, i % 2 == 1 ? RUN_SUSPENDED : RUN_RUNNING);
        assert_true(str_equal(reply->load.run.id, alone.run.id));
        assert_true(str_equal(reply->load.input, alone.input));
        assert_true(str_is_null(reply->load.parent_id));
        assert_same_entries(&reply->load, &alone);
        assert_int_equal(reply->load.log_count, i);
    }
}

static void script_is_loaded_with_its_snapshot_and_what_that_has_not_seen(void **state) {
    World *world = *state;
    int64_t keys[2];
    for (int i = 0; i < 2; i++) {
        RunSpec spec = spec_of(i == 0 ? "a" : "b");
        spec.kind = RUN_FLOW;
        Claimed claimed = create_from(world, &spec);
        keys[i] = claimed.run;
        Op *op = turn(world, claimed, NEXT_SUSPEND);
        op->in.turn.snapshot = i == 0 ? STR("snapshot a") : STR("snapshot b");
        WaitItem item = on_signal("go");
        set_waits(world, op, WAIT_FIRST, &item, 1);
        op_run(world, op, OK);
    }
    (void)signal_run(world, "b", "go", "7");
    RunLoads loads = load_runs(world, keys, 2);
    assert_text(loads.replies[0].load.run.snapshot, "snapshot a");
    assert_int_equal(loads.replies[0].load.log_count, 0);
    assert_text(loads.replies[1].load.run.snapshot, "snapshot b");
    assert_int_equal(loads.replies[1].load.log_count, 1);
    assert_text(loads.replies[1].load.log[0].data, "7");
}

static int64_t start_child(World *world, Claimed parent, const char *id) {
    Op *op = turn(world, parent, NEXT_CONTINUE);
    op->in.turn.children = ARENA_NEW(&world->arena, RunSpec);
    op->in.turn.children[0] = spec_of(id);
    op->in.turn.child_count = 1;
    op_run(world, op, OK);
    return op->out.turn.child_keys[0];
}

static void child_comes_with_the_id_of_its_parent(void **state) {
    World *world = *state;
    Claimed parent = create(world, "parent");
    int64_t keys[] = {start_child(world, parent, "child"), parent.run};
    RunLoads loads = load_runs(world, keys, 2);
    assert_text(loads.replies[0].load.run.id, "child");
    assert_text(loads.replies[0].load.parent_id, "parent");
    assert_text(loads.replies[1].load.run.id, "parent");
    assert_text(loads.replies[1].load.parent_id, NULL);
}

static void children_side_by_side_come_with_the_id_of_their_own_parent(void **state) {
    World *world = *state;
    Claimed one = create(world, "one"), two = create(world, "two");
    int64_t keys[] = {
        start_child(world, one, "a"), start_child(world, one, "b"), one.run,
        start_child(world, one, "c"), start_child(world, two, "d"), start_child(world, two, "e")};
    static const char *const parents[] = {"one", "one", NULL, "one", "two", "two"};
    RunLoads loads = load_runs(world, keys, 6);
    for (int i = 0; i < 6; i++) assert_text(loads.replies[i].load.parent_id, parents[i]);
}

static void run_that_is_not_there_answers_for_itself(void **state) {
    World *world = *state;
    Claimed first = create(world, "first"), second = create(world, "second");
    int64_t keys[] = {first.run, second.run + 1000000, second.run};
    RunLoads loads = load_runs(world, keys, 3);
    assert_ok(loads.replies[0].status);
    assert_int_equal(loads.replies[1].status, ERR_NOT_FOUND);
    assert_string_equal(loads.replies[1].diag.code, "RUN_NOT_FOUND");
    assert_ok(loads.replies[2].status);
    assert_text(loads.replies[2].load.run.id, "second");
}

int contract_loading(void) {
    const struct CMUnitTest tests[] = {
        CASE(each_run_is_answered_as_if_it_were_alone),
        CASE(script_is_loaded_with_its_snapshot_and_what_that_has_not_seen),
        CASE(child_comes_with_the_id_of_its_parent),
        CASE(children_side_by_side_come_with_the_id_of_their_own_parent),
        CASE(run_that_is_not_there_answers_for_itself),
    };
    return run_group("loading", tests);
}

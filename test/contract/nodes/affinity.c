// Affinity: what wakes a parked run is left to the node that has it in memory, for a while.
#include "contract/contract.h"

enum { PATIENCE_MS = 1000 };

typedef struct Pair {
    int64_t first, other;
} Pair;

static Pair two_nodes(World *world) { return (Pair){world->node, join(world, "node-2", HOUR_MS)}; }

static void park_kept(World *world, Claimed claimed, WaitItem item) {
    Op *op = turn(world, claimed, NEXT_SUSPEND);
    set_waits(world, op, WAIT_FIRST, &item, 1);
    op->in.turn.is_kept = true;
    op_run(world, op, OK);
}

// A run that waits for the signal "go" in the memory of the world's node.
static Claimed parked(World *world, const char *id) {
    Claimed claimed = create(world, id);
    park_kept(world, claimed, on_signal("go"));
    assert_int_equal(get_run(world, id).affinity, world->node);
    return claimed;
}

static void assert_left(World *world, const char *id, int64_t node) {
    RunRow row = get_run(world, id);
    assert_int_equal(world->batch.out.ready_count, 0);
    assert_int_equal(world->batch.out.unclaimed_count, 0);
    assert_int_equal(world->batch.out.left_until_ms, world->now_ms + PATIENCE_MS);
    assert_int_equal(row.state, RUN_RUNNING);
    assert_int_equal(row.owner, 0);
    assert_int_equal(row.affinity, node);
}

static void assert_claimed(World *world, const char *id) {
    RunRow row = get_run(world, id);
    assert_int_equal(world->batch.out.left_until_ms, 0);
    assert_int_equal(row.owner, world->node);
    assert_int_equal(row.affinity, 0);
    assert_int_equal(ready_of(world, row.key).epoch, row.epoch);
}

static void event_taken_in_elsewhere_is_left_to_the_node_that_keeps_the_run(void **state) {
    World *world = *state;
    Pair nodes = two_nodes(world);
    Claimed before = parked(world, "r1");
    world->node = nodes.other;
    signal_run(world, "r1", "go", "7");
    assert_left(world, "r1", nodes.first);
    assert_int_equal(claim(world, 10)->out.claim.count, 0);
    world->node = nodes.first;
    Op *op = claim(world, 10);
    assert_int_equal(op->out.claim.count, 1);
    assert_int_equal(op->out.claim.affinity_count, 1);
    assert_claimed(world, "r1");
    const ReadyRun *ready = &world->batch.out.ready[0];
    assert_true(ready->claim.epoch > before.epoch);
    assert_resolved(ready->resolved, ready->resolved_count, 0, OUTCOME_OK, "7");
    finish(world, ready_at(world, 0), NEXT_COMPLETE, "1");
}

static void node_is_handed_what_was_delivered_quietly_too(void **state) {
    World *world = *state;
    Pair nodes = two_nodes(world);
    RunSpec spec = spec_of("r1");
    spec.kind = RUN_FLOW; // only scripts wait for groups
    TaskSpec tasks[] = {task_of("t1"), task_of("t2")};
    Op *op = turn(world, create_from(world, &spec), NEXT_SUSPEND);
    op->in.turn.snapshot = STR("parked");
    op->in.turn.tasks = tasks;
    op->in.turn.task_count = 2;
    op->in.turn.is_kept = true;
    WaitItem items[] = {on_task("t1"), on_task("t2")};
    items[0].quiet = items[1].quiet = WAIT_QUIET_OK;
    items[0].group = items[1].group = 1;
    set_waits(world, op, WAIT_EACH, items, 2);
    op_run(world, op, OK);
    world->node = nodes.other;
    const TaskRow *leased = lease_tasks(world, "default", 2)->out.claim_tasks.tasks;
    complete_task(world, "t1", leased[0].token, "1");
    assert_int_equal(world->batch.out.left_until_ms, 0);
    complete_task(world, "t2", leased[1].token, "2");
    assert_left(world, "r1", nodes.first);
    world->node = nodes.first;
    claim(world, 10);
    assert_int_equal(world->batch.out.ready[0].resolved_count, 2);
    assert_text(world->batch.out.ready[0].resolved[0].data, "1");
    assert_text(world->batch.out.ready[0].resolved[1].data, "2");
}

static void run_is_left_for_a_while_only(void **state) {
    World *world = *state;
    Pair nodes = two_nodes(world);
    parked(world, "r1");
    world->node = nodes.other;
    signal_run(world, "r1", "go", "7");
    world->now_ms += PATIENCE_MS - 1;
    assert_int_equal(claim(world, 10)->out.claim.count, 0);
    world->now_ms++;
    Op *op = claim(world, 10);
    assert_int_equal(op->out.claim.count, 1);
    assert_int_equal(op->out.claim.taken_over, 0);
    assert_int_equal(op->out.claim.affinity_count, 0);
    assert_claimed(world, "r1");
    world->node = nodes.first;
    assert_int_equal(claim(world, 10)->out.claim.count, 0);
}

static void clock_that_is_far_off_does_not_hold_a_run(void **state) {
    World *world = *state;
    Pair nodes = two_nodes(world);
    parked(world, "r1");
    world->node = nodes.other;
    signal_run(world, "r1", "go", "7");
    world->now_ms -= PATIENCE_MS;
    assert_int_equal(claim(world, 10)->out.claim.count, 0);
    world->now_ms--;
    assert_int_equal(claim(world, 10)->out.claim.count, 1);
}

static void own_events_are_claimed_at_once(void **state) {
    World *world = *state;
    two_nodes(world);
    parked(world, "r1");
    signal_run(world, "r1", "go", "7");
    assert_claimed(world, "r1");
}

static void dead_node_is_not_waited_for(void **state) {
    World *world = *state;
    world->node = join(world, "short", MINUTE_MS);
    Pair nodes = two_nodes(world);
    parked(world, "r1");
    parked(world, "r2");
    world->node = nodes.other;
    signal_run(world, "r2", "go", "7");
    world->now_ms += MINUTE_MS;
    signal_run(world, "r1", "go", "7");
    assert_claimed(world, "r1");
    assert_int_equal(claim(world, 10)->out.claim.count, 1);
    assert_claimed(world, "r2");
}

static void node_that_left_is_not_waited_for(void **state) {
    World *world = *state;
    Pair nodes = two_nodes(world);
    parked(world, "r1");
    op_run(world, op_new(world, OP_LEAVE), OK);
    world->node = nodes.other;
    signal_run(world, "r1", "go", "7");
    assert_claimed(world, "r1");
}

static void released_run_has_no_affinity(void **state) {
    World *world = *state;
    Pair nodes = two_nodes(world);
    Claimed claimed = parked(world, "r1");
    Op *op = op_new(world, OP_NOTE_RELEASED);
    op->in.memory = (MemoryNote){.run = claimed.run, .epoch = claimed.epoch, .has_entry = true};
    op_run(world, op, OK);
    assert_int_equal(get_run(world, "r1").affinity, 0);
    world->node = nodes.other;
    signal_run(world, "r1", "go", "7");
    assert_claimed(world, "r1");
}

static void node_without_room_lets_others_have_it(void **state) {
    World *world = *state;
    Pair nodes = two_nodes(world);
    parked(world, "r1");
    world->claim_max = 0;
    signal_run(world, "r1", "go", "7");
    assert_int_equal(world->batch.out.unclaimed_count, 1);
    assert_int_equal(get_run(world, "r1").affinity, 0);
    world->claim_max = 10;
    world->node = nodes.other;
    assert_int_equal(claim(world, 10)->out.claim.count, 1);
}

static void timers_and_cancellations_are_left_too(void **state) {
    World *world = *state;
    Pair nodes = two_nodes(world);
    Claimed claimed = create(world, "r1");
    park_kept(world, claimed, on_timer(world->now_ms + SECOND_MS));
    parked(world, "r2");
    world->node = nodes.other;
    cancel_run(world, "r2", MINUTE_MS);
    assert_left(world, "r2", nodes.first);
    fire_at(world, world->now_ms + SECOND_MS);
    assert_left(world, "r1", nodes.first);
    world->node = nodes.first;
    assert_int_equal(claim(world, 10)->out.claim.affinity_count, 2);
}

static void left_run_can_be_paused_rewound_and_cancelled(void **state) {
    World *world = *state;
    Pair nodes = two_nodes(world);
    static const char *const ids[] = {"r1", "r2", "r3"};
    for (int i = 0; i < 3; i++) {
        Claimed claimed = create(world, ids[i]);
        save_step(world, claimed, "a", 0);
        park_kept(world, claimed, on_signal("go"));
    }
    world->node = nodes.other;
    for (int i = 0; i < 3; i++) signal_run(world, ids[i], "go", "7");
    pause_run(world, "r1");
    assert_state(world, "r1", RUN_PAUSED);
    assert_int_equal(get_run(world, "r1").affinity, 0);
    cancel_run(world, "r2", 0);
    assert_state(world, "r2", RUN_CANCELLED);
    assert_int_equal(get_run(world, "r2").affinity, 0);
    rewind_run(world, "r3", "a", 0);
    world->node = nodes.first;
    claim(world, 10);
    assert_claimed(world, "r3");
    resume_run(world, "r1");
    assert_claimed(world, "r1");
}

// Those that are left do not hide what stands behind them.
static void claims_look_past_runs_that_are_left(void **state) {
    World *world = *state;
    enum { COUNT = 300 };
    Pair nodes = two_nodes(world);
    world->claim_max = COUNT;
    for (int i = 0; i < COUNT; i++) {
        const char *id = arena_printf(&world->arena, "r%03d", i).data;
        park_kept(world, create(world, id), on_event("all"));
    }
    set_topic(world, "all", CONSUME_ALL, VISIBLE_ALL);
    world->node = nodes.other;
    publish(world, "all", "1");
    assert_int_equal(world->batch.out.ready_count, 0);
    world->claim_max = 0;
    RunSpec spec = spec_of("new");
    create_op(world, &spec);
    world->claim_max = COUNT;
    assert_int_equal(claim(world, 5)->out.claim.count, 1);
    assert_int_equal(ready_at(world, 0).run, get_run(world, "new").key);
    world->node = nodes.first;
    assert_int_equal(claim(world, COUNT)->out.claim.affinity_count, COUNT);
}

int contract_affinity(void) {
    const struct CMUnitTest tests[] = {
        CASE(event_taken_in_elsewhere_is_left_to_the_node_that_keeps_the_run),
        CASE(node_is_handed_what_was_delivered_quietly_too),
        CASE(run_is_left_for_a_while_only),
        CASE(clock_that_is_far_off_does_not_hold_a_run),
        CASE(own_events_are_claimed_at_once),
        CASE(dead_node_is_not_waited_for),
        CASE(node_that_left_is_not_waited_for),
        CASE(released_run_has_no_affinity),
        CASE(node_without_room_lets_others_have_it),
        CASE(timers_and_cancellations_are_left_too),
        CASE(left_run_can_be_paused_rewound_and_cancelled),
        CASE(claims_look_past_runs_that_are_left),
    };
    return cmocka_run_group_tests_name("affinity", tests, NULL, NULL);
}

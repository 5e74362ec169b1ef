// Workflows in C that some nodes lack: their runs are reserved for nodes that have them.
#include "contract/contract.h"
#include <stdio.h>

// Two nodes: the world's own has every workflow but "order", the other one has "order" and "pack".
typedef struct Nodes {
    int64_t without, with;
    WorkflowSet *none, *both;
} Nodes;

static void act_as(World *world, int64_t node, const WorkflowSet *executes) {
    world->node = node;
    world->executes = executes;
}

static Nodes two_nodes(World *world) {
    WorkflowSet *none = workflow_set_new(), *order = workflow_set_with(none, STR("order"));
    Nodes nodes = {.without = world->node,
                   .with = join(world, "node-2", HOUR_MS),
                   .none = none,
                   .both = workflow_set_with(order, STR("pack"))};
    workflow_set_release(order);
    act_as(world, nodes.without, nodes.none);
    return nodes;
}

static void nodes_free(World *world, Nodes *nodes) {
    world->executes = NULL;
    workflow_set_release(nodes->none);
    workflow_set_release(nodes->both);
}

static void assert_reserved(World *world, const char *id) {
    RunRow row = get_run(world, id);
    assert_int_equal(world->batch.out.ready_count, 0);
    assert_int_equal(world->batch.out.unclaimed_count, 0);
    assert_int_equal(world->batch.out.reserved_count, 1);
    assert_text(world->batch.out.reserved[0].id, id);
    assert_true(str_equal(world->batch.out.reserved[0].workflow, row.workflow));
    assert_int_equal(row.state, RUN_RUNNING);
    assert_true(row.owner < 0);
    assert_true(run_is_ready(&row));
}

static void start_order(World *world, const char *id) {
    RunSpec spec = spec_of(id);
    create_op(world, &spec);
}

// As many claims as it takes: under small limits one of them looks at few runs.
static int64_t claim_all(World *world, int64_t max) {
    int64_t count = 0;
    for (;;) {
        Op *op = claim(world, max - count);
        count += op->out.claim.count;
        if (count == max || !op->out.claim.is_cut) return count;
    }
}

static void new_run_goes_to_the_node_that_has_its_workflow(void **state) {
    World *world = *state;
    Nodes nodes = two_nodes(world);
    start_order(world, "r1");
    assert_reserved(world, "r1");
    Op *op = claim(world, 10);
    assert_int_equal(op->out.claim.count, 0);
    assert_int_equal(world->batch.out.reserved_count, 0); // it does not meet it again
    act_as(world, nodes.with, nodes.both);
    assert_int_equal(claim(world, 10)->out.claim.count, 1);
    finish(world, ready_at(world, 0), NEXT_COMPLETE, "1");
    nodes_free(world, &nodes);
}

static void what_wakes_a_run_may_come_in_anywhere(void **state) {
    World *world = *state;
    Nodes nodes = two_nodes(world);
    act_as(world, nodes.with, nodes.both);
    park(world, create(world, "r1"), on_signal("go"));
    act_as(world, nodes.without, nodes.none);
    signal_run(world, "r1", "go", "7");
    assert_reserved(world, "r1");
    act_as(world, nodes.with, nodes.both);
    assert_int_equal(claim(world, 10)->out.claim.count, 1);
    finish(world, ready_at(world, 0), NEXT_COMPLETE, "1");
    nodes_free(world, &nodes);
}

static void scripts_are_everybodys(void **state) {
    World *world = *state;
    Nodes nodes = two_nodes(world);
    RunSpec spec = spec_of("r1");
    spec.kind = RUN_FLOW;
    finish(world, create_from(world, &spec), NEXT_COMPLETE, "1");
    nodes_free(world, &nodes);
}

static void runs_of_a_dead_node_are_reserved_too(void **state) {
    World *world = *state;
    Nodes nodes = two_nodes(world);
    act_as(world, nodes.with, nodes.both);
    start_order(world, "r1");
    act_as(world, nodes.without, nodes.none);
    world->now_ms += 2 * HOUR_MS;
    Op *op = claim(world, 10);
    assert_int_equal(op->out.claim.count, 0);
    assert_int_equal(op->out.claim.taken_over, 0);
    assert_int_equal(op->out.claim.reserved_count, 1);
    assert_reserved(world, "r1");
    assert_int_equal(get_run(world, "r1").attempts, 1); // its execution was lost all the same
    act_as(world, join(world, "node-3", HOUR_MS), nodes.both);
    assert_int_equal(claim(world, 10)->out.claim.count, 1);
    finish(world, ready_at(world, 0), NEXT_COMPLETE, "1");
    nodes_free(world, &nodes);
}

static void other_runs_are_not_held_up(void **state) {
    World *world = *state;
    enum { COUNT = 40 };
    Nodes nodes = two_nodes(world);
    world->claim_max = 0;
    world->node = 0; // nobody meets them yet
    for (int i = 0; i < COUNT; i++) {
        char id[8];
        snprintf(id, sizeof id, "r%d", i);
        start_order(world, id);
    }
    RunSpec spec = spec_of("script");
    spec.kind = RUN_FLOW;
    create_op(world, &spec);
    world->claim_max = 100;
    act_as(world, nodes.without, nodes.none);
    assert_int_equal(claim_all(world, 1), 1);
    assert_int_equal(ready_at(world, 0).run, get_run(world, "script").key);
    act_as(world, nodes.with, nodes.both);
    assert_int_equal(claim_all(world, COUNT + 1), COUNT);
    nodes_free(world, &nodes);
}

static void each_node_claims_its_own_workflows_only(void **state) {
    World *world = *state;
    Nodes nodes = two_nodes(world);
    static const char *const names[] = {"order", "pack", "send", "bill", "order", "pack"};
    char id[8];
    for (int i = 0; i < 6; i++) {
        snprintf(id, sizeof id, "r%d", i);
        RunSpec spec = spec_of(id);
        spec.workflow = str_from(names[i]);
        create_op(world, &spec);
        assert_reserved(world, id);
    }
    act_as(world, nodes.with, nodes.both);
    assert_int_equal(claim(world, 1)->out.claim.count, 1);
    assert_int_equal(claim(world, 10)->out.claim.count, 3);
    act_as(world, nodes.without, NULL); // somebody who has all there are
    assert_int_equal(claim(world, 10)->out.claim.count, 2);
    nodes_free(world, &nodes);
}

static void run_that_was_left_to_another_node_is_reserved_in_the_end(void **state) {
    World *world = *state;
    Nodes nodes = two_nodes(world);
    act_as(world, nodes.with, nodes.both);
    WaitItem item = on_signal("go");
    Op *op = turn(world, create(world, "r1"), NEXT_SUSPEND);
    set_waits(world, op, WAIT_FIRST, &item, 1);
    op->in.turn.is_kept = true;
    op_run(world, op, OK);
    act_as(world, nodes.without, nodes.none);
    signal_run(world, "r1", "go", "7");
    assert_int_equal(get_run(world, "r1").affinity, nodes.with);
    assert_int_equal(world->batch.out.reserved_count, 0);
    world->now_ms += 2 * SECOND_MS;
    claim(world, 10);
    assert_reserved(world, "r1");
    assert_int_equal(get_run(world, "r1").affinity, 0);
    act_as(world, nodes.with, nodes.both);
    assert_int_equal(claim(world, 10)->out.claim.count, 1);
    nodes_free(world, &nodes);
}

static void reserved_run_can_be_paused_rewound_and_cancelled(void **state) {
    World *world = *state;
    Nodes nodes = two_nodes(world);
    act_as(world, nodes.with, nodes.both);
    Claimed claimed = create(world, "r1");
    save_step(world, claimed, "one", 0);
    park(world, claimed, on_signal("go"));
    act_as(world, nodes.without, nodes.none);
    signal_run(world, "r1", "go", "7");
    assert_reserved(world, "r1");
    pause_run(world, "r1");
    assert_int_equal(get_run(world, "r1").state, RUN_PAUSED); // at once: nobody executes it
    resume_run(world, "r1");
    assert_reserved(world, "r1");
    rewind_run(world, "r1", "one", -1);
    assert_reserved(world, "r1");
    cancel_run(world, "r1", 0);
    assert_int_equal(get_run(world, "r1").state, RUN_CANCELLED);
    nodes_free(world, &nodes);
}

static void reserved_runs_are_shown_as_resume_tasks(void **state) {
    World *world = *state;
    Nodes nodes = two_nodes(world);
    start_order(world, "r1");
    world->now_ms += SECOND_MS;
    RunSpec spec = spec_of("r2");
    spec.workflow = STR("pack");
    create_op(world, &spec);
    world->claim_max = 0;
    spec = spec_of("r3");
    spec.kind = RUN_FLOW;
    create_op(world, &spec);
    TaskPage found;
    assert_ok(store_list_tasks(world->store, &world->arena,
                               &(TaskFilter){.queue = STR("system"), .page.limit = 10}, &found,
                               &world->diag));
    if (LIMIT_LIST_PAGE >= 3) assert_int_equal(found.count, 3);
    assert_text(found.rows[0].id, "resume-r3"); // newest first
    QueueStat queue;
    assert_ok(store_find_queue(world->store, &world->arena, STR("system"), &queue, &world->diag));
    assert_int_equal(queue.row.queued_count, 3);
    assert_int_equal(queue.row.running_count, 0);
    assert_int_equal(queue.oldest_at_ms, world->now_ms - SECOND_MS);
    nodes_free(world, &nodes);
}

int contract_reserved(void) {
    const struct CMUnitTest tests[] = {
        CASE(new_run_goes_to_the_node_that_has_its_workflow),
        CASE(what_wakes_a_run_may_come_in_anywhere),
        CASE(scripts_are_everybodys),
        CASE(runs_of_a_dead_node_are_reserved_too),
        CASE(other_runs_are_not_held_up),
        CASE(each_node_claims_its_own_workflows_only),
        CASE(run_that_was_left_to_another_node_is_reserved_in_the_end),
        CASE(reserved_run_can_be_paused_rewound_and_cancelled),
        CASE(reserved_runs_are_shown_as_resume_tasks),
    };
    return cmocka_run_group_tests_name("reserved", tests, NULL, NULL);
}

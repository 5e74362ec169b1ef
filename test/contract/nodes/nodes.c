// Nodes: leases, claims, taking over, fencing. And definitions: versions and which one is current.
#include "contract/contract.h"

static Op *renew(World *world, int64_t lease_ms, Status expected) {
    Op *op = op_new(world, OP_RENEW);
    op->in.renew.lease_ms = lease_ms;
    op_run(world, op, expected);
    return op;
}

static NodeRow get_node(World *world, int64_t node) {
    NodeRow row;
    assert_ok(store_node_by_key(world->store, &world->arena, node, &row, &world->diag));
    return row;
}

static void node_joins_with_a_lease_and_is_listed(void **state) {
    World *world = *state;
    world->now_ms = START_MS + 5;
    int64_t node = join(world, "node-2", 1000);
    assert_true(node != world->node);
    NodeRow row = get_node(world, node);
    assert_text(row.name, "node-2");
    assert_int_equal(row.lease_until_ms, START_MS + 1005);
    assert_int_equal(row.started_at_ms, START_MS + 5);
    NodePage found;
    assert_ok(store_list_nodes(world->store, &world->arena, &(PageSpec){0}, &found, &world->diag));
    assert_int_equal(found.count, 2);
    assert_int_equal(found.rows[0].row.key, node);
    assert_status(store_node_by_key(world->store, &world->arena, 999999, &row, &world->diag),
                  ERR_NOT_FOUND);
}

static void node_says_who_asks_it_for_tasks(void **state) {
    World *world = *state;
    assert_null(get_node(world, world->node).workers.data);
    Op *op = op_new(world, OP_DESCRIBE_NODE);
    op->in.describe_node.workers = STR("{\"workers\":[]}");
    op_run(world, op, OK);
    assert_text(get_node(world, world->node).workers, "{\"workers\":[]}");
    op = op_new(world, OP_RENEW);
    op->in.renew.lease_ms = HOUR_MS;
    op_run(world, op, OK);
    assert_text(get_node(world, world->node).workers, "{\"workers\":[]}");
    op_run(world, op_new(world, OP_DESCRIBE_NODE), OK);
    assert_null(get_node(world, world->node).workers.data);
}

static void node_says_what_it_is_and_what_it_has(void **state) {
    World *world = *state;
    batch_new(world);
    Op *op = op_add(world, OP_JOIN);
    op->in.join.name = STR("node-2");
    op->in.join.version = STR("1.2.3-beta");
    op->in.join.lease_ms = HOUR_MS;
    batch_run(world);
    int64_t node = op->out.join.node;
    assert_text(get_node(world, node).version, "1.2.3-beta");
    assert_null(get_node(world, world->node).version.data);
    create(world, "r1");
    create(world, "r2");
    op = op_new(world, OP_RENEW);
    op->in.renew.lease_ms = HOUR_MS;
    op->in.renew.resident_count = 17;
    op_run(world, op, OK);
    NodePage found;
    assert_ok(store_list_nodes(world->store, &world->arena, &(PageSpec){0}, &found, &world->diag));
    assert_int_equal(found.rows[1].row.key, world->node);
    assert_int_equal(found.rows[1].row.resident_count, 17);
    assert_int_equal(found.rows[1].run_count, 2);
    assert_int_equal(found.rows[0].row.resident_count, 0);
    assert_int_equal(found.rows[0].run_count, 0);
}

static void node_of_the_same_name_joins_as_another(void **state) {
    World *world = *state;
    int64_t node = join(world, "node-1", 1000);
    assert_true(node != world->node);
}

static void renewing_extends_the_lease(void **state) {
    World *world = *state;
    world->now_ms = START_MS + 1000;
    renew(world, 5 * HOUR_MS, OK);
    assert_int_equal(get_node(world, world->node).lease_until_ms, START_MS + 1000 + 5 * HOUR_MS);
    Op *op = renew(world, 0, ERR_INVALID);
    assert_refused(op, ERR_INVALID, "BAD_DURATION");
}

// Alone in its batch and beside something else.
static void renewing_tells_when_the_next_lease_ends(void **state) {
    World *world = *state;
    int64_t first = world->node;
    assert_int_equal(renew(world, HOUR_MS, OK)->out.renew.next_end_ms, 0);
    join(world, "node-2", 9000);
    int64_t third = join(world, "node-3", 5000);
    assert_int_equal(renew(world, HOUR_MS, OK)->out.renew.next_end_ms, START_MS + 5000);
    batch_new(world);
    Op *op = op_add(world, OP_RENEW);
    op->in.renew.lease_ms = HOUR_MS;
    op_add(world, OP_SET_TOPIC)->in.set_topic.row.name = STR("t");
    batch_run(world);
    assert_int_equal(op->out.renew.next_end_ms, START_MS + 5000);
    world->now_ms = START_MS + 1000;
    world->node = third;
    assert_int_equal(renew(world, 20000, OK)->out.renew.next_end_ms, START_MS + 9000);
    world->node = first;
    assert_int_equal(renew(world, HOUR_MS, OK)->out.renew.next_end_ms, START_MS + 9000);
    world->now_ms = START_MS + 9000; // the second is dead now
    assert_int_equal(renew(world, HOUR_MS, OK)->out.renew.next_end_ms, START_MS + 21000);
    world->now_ms = START_MS + 21000;
    assert_int_equal(renew(world, HOUR_MS, OK)->out.renew.next_end_ms, 0);
}

static void late_node_that_lost_nothing_may_renew(void **state) {
    World *world = *state;
    create(world, "r1");
    world->now_ms = START_MS + 2 * HOUR_MS; // its lease is over, nobody took anything
    renew(world, HOUR_MS, OK);
    int64_t first = world->node;
    world->node = join(world, "node-2", HOUR_MS);
    assert_int_equal(claim(world, 10)->out.claim.count, 0);
    world->node = first;
    save_step(world, (Claimed){get_run(world, "r1").key, get_run(world, "r1").epoch}, "a", 0);
}

static void dead_nodes_runs_are_taken_over_and_it_is_fenced(void **state) {
    World *world = *state;
    Claimed a = create(world, "a");
    create(world, "b");
    int64_t dead = world->node;
    world->now_ms = START_MS + HOUR_MS;
    world->node = join(world, "node-2", HOUR_MS);
    Op *op = claim(world, 10);
    assert_int_equal(op->out.claim.count, 2);
    assert_int_equal(op->out.claim.taken_over, 2);
    assert_int_equal(get_run(world, "a").owner, world->node);
    assert_int_equal(get_run(world, "a").attempts, 1);
    assert_true(get_run(world, "a").epoch > a.epoch);
    Str before = world_dump(world);
    world->node = dead;
    batch_new(world);
    add_turn(world, a, NEXT_COMPLETE);
    assert_status(batch_try(world), ERR_FENCED);
    assert_string_equal(world->diag.code, "NODE_FENCED");
    batch_new(world);
    op_add(world, OP_RENEW)->in.renew.lease_ms = HOUR_MS;
    assert_status(batch_try(world), ERR_FENCED);
    assert_unchanged(world, before);
    assert_true(get_node(world, dead).lease_until_ms < 0); // it can still look itself up
}

static void next_process(World *world, const char *name) {
    world->now_ms += HOUR_MS;
    world->node = join(world, name, HOUR_MS);
    assert_int_equal(claim(world, 10)->out.claim.taken_over, 1);
}

static void begin_again(World *world) {
    RunRow run = get_run(world, "a");
    Op *op = turn(world, (Claimed){run.key, run.epoch}, NEXT_CONTINUE);
    op->in.turn.is_attempt = true;
    op_run(world, op, OK);
}

static void lost_executions_are_counted_in_a_row(void **state) {
    World *world = *state;
    create(world, "a");
    next_process(world, "two");
    assert_int_equal(get_run(world, "a").attempts, 1);
    next_process(world, "three"); // "two" never came to it
    assert_int_equal(get_run(world, "a").attempts, 1);
    begin_again(world);
    assert_int_equal(run_lost(&(RunRow){.attempts = get_run(world, "a").attempts}), 1);
    next_process(world, "four");
    assert_int_equal(get_run(world, "a").attempts, 2);
    begin_again(world);
    op_run(world, op_new(world, OP_LEAVE), OK); // an orderly end loses nothing
    assert_int_equal(get_run(world, "a").attempts, 2);
    world->node = join(world, "five", HOUR_MS);
    assert_int_equal(claim(world, 10)->out.claim.count, 1);
    Claimed claimed = ready_at(world, 0);
    begin_again(world);
    save_step(world, claimed, "a", 0); // it got on
    assert_int_equal(get_run(world, "a").attempts, 0);
}

static void a_resumed_run_counts_lost_executions_anew(void **state) {
    World *world = *state;
    create(world, "a");
    next_process(world, "two");
    pause_run(world, "a");
    Claimed claimed = {get_run(world, "a").key, get_run(world, "a").epoch};
    finish(world, claimed, NEXT_PAUSE, "{}");
    assert_state(world, "a", RUN_PAUSED);
    assert_int_equal(get_run(world, "a").attempts, 1); // for people to see
    Op *op = op_new(world, OP_RESUME);
    op->in.hold.run_id = STR("a");
    op_run(world, op, OK);
    assert_int_equal(get_run(world, "a").attempts, 0);
}

static void runs_are_taken_over_a_page_at_a_time(void **state) {
    World *world = *state;
    for (int i = 0; i < 5; i++) create(world, arena_printf(&world->arena, "r%d", i).data);
    world->now_ms = START_MS + HOUR_MS;
    world->node = join(world, "node-2", HOUR_MS);
    assert_int_equal(claim(world, 2)->out.claim.taken_over, 2);
    assert_int_equal(claim(world, 2)->out.claim.taken_over, 2);
    assert_int_equal(claim(world, 2)->out.claim.taken_over, 1);
    assert_int_equal(claim(world, 2)->out.claim.count, 0);
}

static void living_nodes_runs_are_not_taken(void **state) {
    World *world = *state;
    create(world, "r1");
    world->now_ms = START_MS + HOUR_MS - 1;
    world->node = join(world, "node-2", HOUR_MS);
    assert_int_equal(claim(world, 10)->out.claim.count, 0);
}

static void own_runs_are_not_claimed_twice(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    assert_int_equal(claim(world, 10)->out.claim.count, 0);
    save_step(world, claimed, "a", 0);
}

static void leaving_node_hands_back_its_claims(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    create(world, "r2");
    pause_run(world, "r2"); // wanted: held instead of handed back
    Op *op = op_new(world, OP_LEAVE);
    op_run(world, op, OK);
    assert_int_equal(op->out.leave.released_count, 2);
    assert_int_equal(get_run(world, "r1").owner, 0);
    assert_state(world, "r1", RUN_RUNNING);
    assert_state(world, "r2", RUN_PAUSED);
    world->node = join(world, "node-2", HOUR_MS);
    op = claim(world, 10);
    assert_int_equal(op->out.claim.count, 1);
    assert_int_equal(op->out.claim.taken_over, 0);
    assert_int_equal(get_run(world, "r1").attempts, 0); // an orderly end is not a crash
    assert_true(ready_at(world, 0).epoch > claimed.epoch);
}

static void leaving_node_hands_back_more_than_a_page(void **state) {
    World *world = *state;
    world->claim_max = 1000;
    batch_new(world);
    for (int i = 0; i < 600; i++) {
        RunSpec spec = spec_of(arena_printf(&world->arena, "r%d", i).data);
        add_create(world, &spec);
    }
    batch_run(world);
    Op *op = op_new(world, OP_LEAVE);
    op_run(world, op, OK);
    assert_int_equal(op->out.leave.released_count, 600);
    world->node = join(world, "node-2", HOUR_MS);
    assert_int_equal(claim(world, 1000)->out.claim.count, 600);
}

static void exclusive_join_ends_the_leases_of_all_others(void **state) {
    World *world = *state;
    create(world, "r1");
    int64_t first = world->node, second = join(world, "node-2", HOUR_MS);
    world->node = 0;
    Op *op = op_new(world, OP_JOIN);
    op->in.join.name = STR("only");
    op->in.join.lease_ms = HOUR_MS;
    op->in.join.is_exclusive = true;
    op_run(world, op, OK);
    const int64_t others[] = {first, second};
    for (int i = 0; i < 2; i++) {
        world->node = others[i];
        batch_new(world);
        op_add(world, OP_FIRE_DUE);
        assert_status(batch_try(world), ERR_FENCED);
    }
    world->node = op->out.join.node;
    assert_int_equal(claim(world, 10)->out.claim.taken_over, 1);
}

static void exclusive_join_ends_the_leases_of_tasks_the_others_did(void **state) {
    World *world = *state;
    TaskSpec specs[] = {task_of("t1"), task_of("t2")};
    specs[0].max_attempts = specs[1].max_attempts = 2;
    create_task(world, &specs[0]);
    TaskRow own = lease_one(world, "default"); // by "worker-1", which is no node
    create_task(world, &specs[1]);
    join(world, "node-2", HOUR_MS);
    Op *op = op_new(world, OP_CLAIM_TASKS);
    Str queue = STR("default");
    op->in.claim_tasks.worker = STR("node-2");
    op->in.claim_tasks.queues = &queue;
    op->in.claim_tasks.queue_count = 1;
    op->in.claim_tasks.max = 1;
    op->in.claim_tasks.lease_ms = HOUR_MS;
    op_run(world, op, OK);
    int64_t stale = op->out.claim_tasks.tasks[0].token;
    world_crash(world);
    assert_int_equal(get_task(world, "t1").state, TASK_LEASED);
    assert_int_equal(get_task(world, "t2").state, TASK_QUEUED);
    complete_task(world, "t1", own.token, "1");
    op = op_new(world, OP_COMPLETE_TASK);
    op->in.complete_task.id = STR("t2");
    op->in.complete_task.token = stale;
    op_run(world, op, ERR_FENCED);
    fire_at(world, START_MS + MINUTE_MS); // its backoff is over
    assert_int_equal(lease_one(world, "default").attempt, 2);
}

static void released_claim_can_be_taken_by_another(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    Op *op = op_new(world, OP_RELEASE);
    op->in.release.run = claimed.run;
    op->in.release.epoch = claimed.epoch;
    op_run(world, op, OK);
    assert_state(world, "r1", RUN_RUNNING);
    int64_t first = world->node;
    world->node = join(world, "node-2", HOUR_MS);
    assert_int_equal(claim(world, 10)->out.claim.count, 1);
    world->node = first;
    op = turn(world, claimed, NEXT_COMPLETE);
    op_run(world, op, ERR_FENCED);
}

static void claims_go_by_priority_then_age(void **state) {
    World *world = *state;
    world->claim_max = 0;
    const int64_t priorities[] = {0, 100, -100, 100, 0};
    for (int i = 0; i < 5; i++) {
        RunSpec spec = spec_of(arena_printf(&world->arena, "r%d", i).data);
        spec.priority = priorities[i];
        create_op(world, &spec);
    }
    const char *const expected[] = {"r1", "r3", "r0", "r4", "r2"};
    for (int i = 0; i < 5; i++) {
        claim(world, 1);
        assert_text(world->batch.out.ready[0].id, expected[i]);
    }
}

static void two_nodes_racing_for_a_claim_get_one_each(void **state) {
    World *world = *state;
    world->claim_max = 0;
    RunSpec specs[] = {spec_of("a"), spec_of("b"), spec_of("c")};
    for (int i = 0; i < 3; i++) create_op(world, &specs[i]);
    int64_t nodes[] = {world->node, join(world, "node-2", HOUR_MS)};
    int64_t owners[3] = {0};
    for (int i = 0; i < 4; i++) {
        world->node = nodes[i % 2];
        Op *op = claim(world, 1);
        assert_int_equal(op->out.claim.count, i < 3);
        if (i < 3) owners[i] = ready_at(world, 0).run;
    }
    assert_true(owners[0] != owners[1] && owners[1] != owners[2] && owners[0] != owners[2]);
}

static void two_nodes_racing_for_a_dead_ones_runs_share_them(void **state) {
    World *world = *state;
    for (int i = 0; i < 4; i++) create(world, arena_printf(&world->arena, "r%d", i).data);
    world->now_ms = START_MS + HOUR_MS;
    int64_t a = join(world, "a", HOUR_MS), b = join(world, "b", HOUR_MS);
    int64_t count = 0;
    for (int i = 0; i < 4; i++) {
        world->node = i % 2 ? a : b;
        count += claim(world, 1)->out.claim.taken_over;
    }
    assert_int_equal(count, 4);
    world->node = a;
    assert_int_equal(claim(world, 10)->out.claim.count, 0);
}

static void two_nodes_firing_the_same_timer_wake_once(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    park(world, claimed, on_timer(START_MS + 100));
    int64_t first = world->node, second = join(world, "node-2", HOUR_MS);
    world->node = second;
    assert_int_equal(fire_at(world, START_MS + 100)->out.fire_due.woken_count, 1);
    assert_int_equal(get_run(world, "r1").owner, second);
    world->node = first;
    assert_int_equal(fire(world)->out.fire_due.woken_count, 0);
}

static void sweep_hands_back_claims_of_nodes_without_a_row(void **state) {
    World *world = *state;
    create(world, "r1");
    world->now_ms = START_MS + 100 * DAY_MS; // long dead, never taken over
    world->node = join(world, "node-2", HOUR_MS);
    Op *op = sweep(world);
    assert_int_equal(op->out.sweep.reclaimed_runs, 0); // its row stays while it owns something
    assert_int_equal(claim(world, 10)->out.claim.count, 1);
    sweep(world);
    NodePage nodes;
    assert_ok(store_list_nodes(world->store, &world->arena, &(PageSpec){0}, &nodes, &world->diag));
    assert_int_equal(nodes.count, 1 + 1); // fenced just now, remembered for a while
    world->now_ms += 2 * HOUR_MS;
    renew(world, HOUR_MS, OK);
    sweep(world);
    assert_ok(store_list_nodes(world->store, &world->arena, &(PageSpec){0}, &nodes, &world->diag));
    assert_int_equal(nodes.count, 1);
}

static void dead_node_without_runs_is_forgotten_by_the_sweep(void **state) {
    World *world = *state;
    int64_t dead = join(world, "dead", 1000);
    world->now_ms = START_MS + 2 * HOUR_MS;
    sweep(world);
    NodeRow row;
    assert_status(store_node_by_key(world->store, &world->arena, dead, &row, &world->diag),
                  ERR_NOT_FOUND);
    assert_true(get_node(world, world->node).key == world->node); // never oneself
}

// ---- definitions ----

static Op *define(World *world, const char *name, const char *version, const char *source) {
    Op *op = op_new(world, OP_DEFINE);
    op->in.define.name = str_from(name);
    op->in.define.version = str_from(version);
    op->in.define.kind = RUN_FLOW;
    op->in.define.config = STR("{}");
    op->in.define.source = str_from(source);
    op_run(world, op, OK);
    return op;
}

static DefinitionRow current(World *world, const char *name) {
    DefinitionRow definition;
    assert_ok(store_find_definition(world->store, &world->arena,
                                    &(DefinitionRef){.name = str_from(name)}, &definition,
                                    &world->diag));
    return definition;
}

static void defined_version_becomes_current(void **state) {
    World *world = *state;
    assert_true(define(world, "w", "v1", "one")->out.define.is_new);
    assert_text(current(world, "w").source, "one");
    define(world, "other", "v1", "elsewhere");
    define(world, "w", "v2", "two");
    assert_text(current(world, "w").version, "v2");
    assert_text(current(world, "other").version, "v1");
    DefinitionRow definition;
    assert_ok(store_find_definition(world->store, &world->arena,
                                    &(DefinitionRef){.name = STR("w"), .version = STR("v1")},
                                    &definition, &world->diag));
    assert_text(definition.source, "one");
    assert_int_equal(definition.is_current, 0);
}

static void defining_an_old_version_again_rolls_back(void **state) {
    World *world = *state;
    int64_t key = define(world, "w", "v1", "one")->out.define.key;
    define(world, "w", "v2", "two");
    Op *op = define(world, "w", "v1", "changed behind our back");
    assert_false(op->out.define.is_new);
    assert_int_equal(op->out.define.key, key);
    assert_text(current(world, "w").version, "v1");
    assert_text(current(world, "w").source, "one"); // a version never changes
    DefinitionPage found;
    assert_ok(store_list_definitions(world->store, &world->arena,
                                     &(DefinitionFilter){.name = STR("w")}, &found, &world->diag));
    assert_int_equal(found.count, 2);
    assert_int_equal(found.rows[0].is_current + found.rows[1].is_current, 1);
}

static Op *define_file(World *world, const char *version, int64_t kind, Status expected) {
    static const char *const names[] = {"b", "c"};
    Op *op = op_new(world, OP_DEFINE);
    op->in.define.name = STR("a");
    op->in.define.version = str_from(version);
    op->in.define.kind = kind;
    op->in.define.source = STR("three of them");
    op->in.define.other_count = 2;
    op->in.define.others = ARENA_ARRAY(&world->arena, DefinedWorkflow, 2);
    for (int i = 0; i < 2; i++) op->in.define.others[i].name = str_from(names[i]);
    op_run(world, op, expected);
    return op;
}

static void workflows_of_a_file_become_current_together(void **state) {
    World *world = *state;
    define(world, "b", "v1", "one");
    Op *op = define_file(world, "v2", RUN_FLOW, OK);
    assert_true(op->out.define.is_new && op->out.define.others[0].is_new &&
                op->out.define.others[1].is_new);
    assert_true(op->out.define.key < op->out.define.others[0].key);
    assert_text(current(world, "a").version, "v2");
    assert_text(current(world, "b").version, "v2");
    assert_text(current(world, "c").version, "v2");
    op = define_file(world, "v2", RUN_FLOW, OK);
    assert_false(op->out.define.is_new || op->out.define.others[0].is_new ||
                 op->out.define.others[1].is_new);
}

static void file_with_one_workflow_that_is_refused_changes_nothing(void **state) {
    World *world = *state;
    define(world, "a", "v1", "one");
    Op *op = op_new(world, OP_DEFINE);
    op->in.define.name = STR("c");
    op->in.define.version = VERSION_NATIVE;
    op->in.define.kind = RUN_NATIVE;
    op_run(world, op, OK);
    Str before = world_dump(world);
    assert_refused(define_file(world, "v2", RUN_FLOW, ERR_CONFLICT), ERR_CONFLICT, "WORKFLOW_KIND");
    assert_unchanged(world, before);
    op = op_new(world, OP_DEFINE);
    op->in.define.name = STR("a");
    op->in.define.version = STR("v2");
    op->in.define.kind = RUN_FLOW;
    op->in.define.other_count = 1;
    op->in.define.others = ARENA_ARRAY(&world->arena, DefinedWorkflow, 1);
    op->in.define.others[0].name = arena_printf(&world->arena, "%0*d", (int)LIMIT_NAME_SIZE + 1, 7);
    op_run(world, op, ERR_LIMIT);
    assert_unchanged(world, before);
}

static void the_name_of_the_file_is_the_one_said_last(void **state) {
    World *world = *state;
    define(world, "w", "v1", "one");
    assert_null(current(world, "w").file.data);
    Op *op = op_new(world, OP_DEFINE);
    op->in.define.name = STR("w");
    op->in.define.version = STR("v1");
    op->in.define.kind = RUN_FLOW;
    op->in.define.source = STR("one");
    op->in.define.file = STR("saga.flow");
    op_run(world, op, OK);
    assert_false(op->out.define.is_new);
    assert_text(current(world, "w").file, "saga.flow");
    define(world, "w", "v1", "one"); // whoever does not say it changes nothing
    assert_text(current(world, "w").file, "saga.flow");
}

static void run_stays_with_the_version_it_started_with(void **state) {
    World *world = *state;
    int64_t first = define(world, "w", "v1", "one")->out.define.key;
    RunSpec spec = spec_of("r1");
    spec.kind = RUN_FLOW;
    spec.definition = first;
    create_from(world, &spec);
    define(world, "w", "v2", "two");
    assert_int_equal(get_run(world, "r1").definition, first);
    DefinitionRow found;
    assert_ok(store_definition_by_key(world->store, &world->arena, first, &found, &world->diag));
    assert_text(found.source, "one");
}

static void start_by_name_alone_takes_the_current_definition(void **state) {
    World *world = *state;
    int64_t first = define(world, "w", "v1", "one")->out.define.key;
    int64_t second = define(world, "w", "v2", "two")->out.define.key;
    RunSpec spec = spec_of("r1");
    spec.workflow = STR("w");
    spec.kind = 0;
    create_from(world, &spec);
    assert_int_equal(get_run(world, "r1").definition, second);
    assert_int_equal(get_run(world, "r1").kind, RUN_FLOW);
    define(world, "w", "v1", "one"); // rolled back: new runs take the old one again
    spec.id = STR("r2");
    create_from(world, &spec);
    assert_int_equal(get_run(world, "r2").definition, first);
    assert_int_equal(get_run(world, "r1").definition, second);
}

static void start_by_a_name_nobody_defined_is_refused(void **state) {
    World *world = *state;
    create(world, "taken");
    world_reopen(world);
    Str before = world_dump(world);
    RunSpec spec = spec_of("r1");
    spec.workflow = STR("nobody defined it");
    spec.kind = 0;
    batch_new(world);
    Op *op = add_create(world, &spec);
    op_run(world, op, ERR_NOT_FOUND);
    assert_refused(op, ERR_NOT_FOUND, "WORKFLOW_NOT_FOUND");
    spec.id = STR("taken"); // a taken id answers its run, in memory or not
    op = create_op(world, &spec);
    assert_false(op->out.create_run.is_new);
    assert_unchanged(world, before);
}

static void child_of_a_workflow_nobody_defined_is_born_failed(void **state) {
    World *world = *state;
    Claimed parent = create(world, "parent");
    RunSpec child = spec_of("child");
    child.workflow = STR("nobody defined it");
    child.kind = 0;
    Op *op = turn(world, parent, NEXT_SUSPEND);
    op->in.turn.children = &child;
    op->in.turn.child_count = 1;
    set_waits(world, op, WAIT_FIRST, (WaitItem[]){on_child("child")}, 1);
    op_run(world, op, OK);
    assert_state(world, "child", RUN_FAILED);
    assert_int_equal(op->out.turn.state, RUN_RUNNING);
    assert_int_equal(op->out.turn.resolved_count, 1);
    assert_int_equal(op->out.turn.resolved[0].outcome, OUTCOME_ERROR);
    assert_int_equal(world->batch.out.ready_count, 0);
}

static void unknown_definitions_are_not_found(void **state) {
    World *world = *state;
    define(world, "w", "v1", "one");
    DefinitionRow definition;
    assert_status(store_find_definition(world->store, &world->arena,
                                        &(DefinitionRef){.name = STR("x")}, &definition,
                                        &world->diag),
                  ERR_NOT_FOUND);
    assert_string_equal(world->diag.code, "WORKFLOW_NOT_FOUND");
    assert_status(store_find_definition(world->store, &world->arena,
                                        &(DefinitionRef){.name = STR("w"), .version = STR("v9")},
                                        &definition, &world->diag),
                  ERR_NOT_FOUND);
    assert_status(
        store_definition_by_key(world->store, &world->arena, 999999, &definition, &world->diag),
        ERR_NOT_FOUND);
}

int contract_nodes(void) {
    const struct CMUnitTest tests[] = {
        CASE(node_joins_with_a_lease_and_is_listed),
        CASE(node_says_what_it_is_and_what_it_has),
        CASE(node_says_who_asks_it_for_tasks),
        CASE(node_of_the_same_name_joins_as_another),
        CASE(renewing_extends_the_lease),
        CASE(renewing_tells_when_the_next_lease_ends),
        CASE(late_node_that_lost_nothing_may_renew),
        CASE(dead_nodes_runs_are_taken_over_and_it_is_fenced),
        CASE(lost_executions_are_counted_in_a_row),
        CASE(a_resumed_run_counts_lost_executions_anew),
        CASE(runs_are_taken_over_a_page_at_a_time),
        CASE(living_nodes_runs_are_not_taken),
        CASE(own_runs_are_not_claimed_twice),
        CASE(leaving_node_hands_back_its_claims),
        CASE(leaving_node_hands_back_more_than_a_page),
        CASE(exclusive_join_ends_the_leases_of_all_others),
        CASE(exclusive_join_ends_the_leases_of_tasks_the_others_did),
        CASE(released_claim_can_be_taken_by_another),
        CASE(claims_go_by_priority_then_age),
        CASE(two_nodes_racing_for_a_claim_get_one_each),
        CASE(two_nodes_racing_for_a_dead_ones_runs_share_them),
        CASE(two_nodes_firing_the_same_timer_wake_once),
        CASE(sweep_hands_back_claims_of_nodes_without_a_row),
        CASE(dead_node_without_runs_is_forgotten_by_the_sweep),
        CASE(defined_version_becomes_current),
        CASE(defining_an_old_version_again_rolls_back),
        CASE(workflows_of_a_file_become_current_together),
        CASE(file_with_one_workflow_that_is_refused_changes_nothing),
        CASE(the_name_of_the_file_is_the_one_said_last),
        CASE(run_stays_with_the_version_it_started_with),
        CASE(start_by_name_alone_takes_the_current_definition),
        CASE(start_by_a_name_nobody_defined_is_refused),
        CASE(child_of_a_workflow_nobody_defined_is_born_failed),
        CASE(unknown_definitions_are_not_found),
    };
    return run_group("nodes", tests);
}

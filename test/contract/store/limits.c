// Limits: what is too large, too long, too deep or too many answers ERR_LIMIT, and changes nothing.
#include "contract/contract.h"

static Str text_of(World *world, size_t size) {
    char *text = arena_alloc(&world->arena, size + 1);
    memset(text, 'x', size);
    text[size] = '\0';
    return (Str){text, size};
}

#define assert_too_large(world, op) check_too_large((world), (op), __FILE__, __LINE__)
static void check_too_large(World *world, Op *op, const char *file, int line) {
    check_op(world, op, ERR_LIMIT, file, line);
    check_refused(op, ERR_LIMIT, "TOO_LARGE", file, line);
}

static void oversized_starts_are_refused(void **state) {
    World *world = *state;
    Str before = world_dump(world);
    RunSpec bad[8];
    for (int i = 0; i < 8; i++) bad[i] = spec_of("r1");
    bad[0].id = text_of(world, LIMIT_RUN_ID_SIZE + 1);
    bad[1].workflow = text_of(world, LIMIT_NAME_SIZE + 1);
    bad[2].input = text_of(world, LIMIT_PAYLOAD_SIZE + 1);
    bad[3].dedupe_key = text_of(world, LIMIT_KEY_SIZE + 1);
    bad[4].queue = text_of(world, LIMIT_NAME_SIZE + 1);
    bad[5].leftover_topic = text_of(world, LIMIT_TOPIC_SIZE + 1);
    bad[6].tags = text_of(world, LIMIT_TAG_SIZE + 1);
    for (int i = 0; i < 7; i++) {
        batch_new(world);
        assert_too_large(world, add_create(world, &bad[i]));
    }
    bad[7].tags = STR("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17");
    batch_new(world);
    Op *op = add_create(world, &bad[7]);
    op_run(world, op, ERR_LIMIT);
    assert_refused(op, ERR_LIMIT, "TOO_MANY_TAGS");
    assert_unchanged(world, before);
}

static void largest_start_is_accepted(void **state) {
    World *world = *state;
    RunSpec spec = spec_of("r1");
    spec.input = text_of(world, LIMIT_PAYLOAD_SIZE);
    spec.workflow = text_of(world, LIMIT_NAME_SIZE);
    spec.tags = STR("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16");
    create_from(world, &spec);
    assert_int_equal(get_input(world, "r1").len, LIMIT_PAYLOAD_SIZE);
}

static void nonsense_starts_are_refused(void **state) {
    World *world = *state;
    Str before = world_dump(world);
    RunSpec bad[6];
    for (int i = 0; i < 6; i++) bad[i] = spec_of("r1");
    bad[0].kind = -1;
    bad[1].kind = RUN_CODE + 1;
    bad[2].priority = PRIORITY_MIN - 1;
    bad[3].timeout_ms = -1;
    bad[4].timeout_ms = LIMIT_DURATION_MS + 1;
    bad[5].workflow = STR_NULL;
    for (int i = 0; i < 6; i++) {
        batch_new(world);
        Op *op = add_create(world, &bad[i]);
        op_run(world, op, ERR_INVALID);
    }
    assert_unchanged(world, before);
}

static void oversized_turns_are_refused(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    Str before = world_dump(world);
    Op *op = turn(world, claimed, NEXT_COMPLETE);
    op->in.turn.result = text_of(world, LIMIT_PAYLOAD_SIZE + 1);
    assert_too_large(world, op);
    op = turn(world, claimed, NEXT_CONTINUE);
    op->in.turn.snapshot = text_of(world, LIMIT_SNAPSHOT_SIZE + 1);
    assert_too_large(world, op);
    op = turn(world, claimed, NEXT_CONTINUE);
    set_log(world, op, log_step("a", 0, 0, text_of(world, LIMIT_PAYLOAD_SIZE + 1).data));
    assert_too_large(world, op);
    op = turn(world, claimed, NEXT_CONTINUE);
    set_log(world, op, log_step(text_of(world, LIMIT_NAME_SIZE + 1).data, 0, 0, "1"));
    assert_too_large(world, op);
    TaskSpec task = task_of("t1");
    task.input = text_of(world, LIMIT_PAYLOAD_SIZE + 1);
    op = turn(world, claimed, NEXT_CONTINUE);
    set_task(world, op, &task);
    assert_too_large(world, op);
    EventSpec event = {.topic = text_of(world, LIMIT_TOPIC_SIZE + 1), .id = STR("e")};
    op = turn(world, claimed, NEXT_CONTINUE);
    op->in.turn.events = &event;
    op->in.turn.event_count = 1;
    assert_too_large(world, op);
    RunSpec child = spec_of("child");
    child.input = text_of(world, LIMIT_PAYLOAD_SIZE + 1);
    op = turn(world, claimed, NEXT_CONTINUE);
    op->in.turn.children = &child;
    op->in.turn.child_count = 1;
    assert_too_large(world, op);
    assert_unchanged(world, before);
    save_step(world, claimed, "a", 0); // the claim is as good as before
}

static void nonsense_turns_are_refused(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    Str before = world_dump(world);
    Op *op = turn(world, claimed, (TurnNext)0);
    op_run(world, op, ERR_INVALID);
    op = turn(world, claimed, NEXT_CONTINUE);
    set_log(world, op, (LogRow){.kind = LOG_KIND_COUNT});
    op_run(world, op, ERR_INVALID);
    op = turn(world, claimed, NEXT_CONTINUE);
    set_log(world, op, (LogRow){.kind = LOG_STEP, .outcome = OUTCOME_COUNT});
    op_run(world, op, ERR_INVALID);
    assert_unchanged(world, before);
}

static void too_many_effects_of_one_turn_are_refused(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    Str before = world_dump(world);
    Op *op = turn(world, claimed, NEXT_CONTINUE);
    op->in.turn.log_count = LIMIT_EFFECTS_PER_TURN + 1;
    op->in.turn.log = ARENA_ARRAY(&world->arena, LogRow, op->in.turn.log_count);
    for (size_t i = 0; i < op->in.turn.log_count; i++) op->in.turn.log[i].kind = LOG_LINE;
    op_run(world, op, ERR_LIMIT);
    assert_refused(op, ERR_LIMIT, "TOO_MANY_EFFECTS");
    assert_unchanged(world, before);
}

static void too_many_waits_are_refused_and_the_most_allowed_work(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    WaitItem *items = ARENA_ARRAY(&world->arena, WaitItem, LIMIT_WAITS_PER_RUN + 1);
    for (int i = 0; i <= (int)LIMIT_WAITS_PER_RUN; i++) items[i] = on_timer(START_MS + 1000 + i);
    Op *op = turn(world, claimed, NEXT_SUSPEND);
    set_waits(world, op, WAIT_EACH, items, LIMIT_WAITS_PER_RUN + 1);
    op_run(world, op, ERR_LIMIT);
    assert_refused(op, ERR_LIMIT, "TOO_MANY_WAITS");
    assert_state(world, "r1", RUN_RUNNING);
    items[5] = on_event("t");
    items[LIMIT_WAITS_PER_RUN - 1] = on_signal("last");
    park_on(world, claimed, WAIT_EACH, items, LIMIT_WAITS_PER_RUN);
    assert_true(signal_run(world, "r1", "last", "1")->out.signal.is_delivered);
    assert_int_equal(world->batch.out.ready[0].resolved[0].slot, LIMIT_WAITS_PER_RUN - 1);
}

static void wait_names_and_filters_have_limits(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    WaitItem item = on_signal(text_of(world, LIMIT_NAME_SIZE + 1).data);
    Op *op = turn(world, claimed, NEXT_SUSPEND);
    set_waits(world, op, WAIT_FIRST, &item, 1);
    assert_too_large(world, op);
    item = with_filter(on_event("t"), text_of(world, LIMIT_ERROR_SIZE + 1).data);
    op = turn(world, claimed, NEXT_SUSPEND);
    set_waits(world, op, WAIT_FIRST, &item, 1);
    assert_too_large(world, op);
    assert_state(world, "r1", RUN_RUNNING);
}

static void children_nest_only_so_deep(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "d0");
    for (int i = 1; i <= (int)LIMIT_CHILD_DEPTH + 1; i++) {
        RunSpec spec = spec_of(arena_printf(&world->arena, "d%d", i).data);
        Op *op = turn(world, claimed, NEXT_CONTINUE);
        op->in.turn.children = &spec;
        op->in.turn.child_count = 1;
        op_run(world, op, i <= (int)LIMIT_CHILD_DEPTH ? OK : ERR_LIMIT);
        if (op->out.status != OK) {
            assert_refused(op, ERR_LIMIT, "CHILD_DEPTH");
            break;
        }
        claimed = ready_at(world, 0);
        assert_int_equal(get_run(world, spec.id.data).depth, i);
    }
    assert_false(has_run(world, "d65"));
}

static void oversized_events_and_signals_are_refused(void **state) {
    World *world = *state;
    create(world, "r1");
    Str before = world_dump(world);
    const EventSpec bad[] = {
        {.topic = text_of(world, LIMIT_TOPIC_SIZE + 1), .id = STR("e")},
        {.topic = STR("t"), .id = text_of(world, LIMIT_KEY_SIZE + 1)},
        {.topic = STR("t"), .id = STR("e"), .payload = text_of(world, LIMIT_PAYLOAD_SIZE + 1)}};
    for (int i = 0; i < 3; i++) {
        Op *op = op_new(world, OP_PUBLISH);
        op->in.publish.event = bad[i];
        assert_too_large(world, op);
        op = op_new(world, OP_SIGNAL);
        op->in.signal.run_id = STR("r1");
        op->in.signal.name = bad[i].topic;
        op->in.signal.id = bad[i].id;
        op->in.signal.payload = bad[i].payload;
        assert_too_large(world, op);
    }
    assert_unchanged(world, before);
}

static void too_many_unread_signals_are_refused(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    for (int i = 0; i < (int)LIMIT_SIGNALS_PER_RUN; i += 1000) {
        batch_new(world);
        for (int j = 0; j < 1000; j++) {
            Op *op = op_add(world, OP_SIGNAL);
            op->in.signal.run_id = STR("r1");
            op->in.signal.name = STR("go");
        }
        batch_run(world);
    }
    world_reopen(world); // the count is not only in memory
    Op *op = op_new(world, OP_SIGNAL);
    op->in.signal.run_id = STR("r1");
    op->in.signal.name = STR("go");
    op_run(world, op, ERR_LIMIT);
    assert_refused(op, ERR_LIMIT, "TOO_MANY_SIGNALS");
    assert_int_equal(get_counter(world, COUNTER_SIGNALS), LIMIT_SIGNALS_PER_RUN);
    park(world, claimed, on_signal("go")); // one is read: there is room for one
    signal_run(world, "r1", "go", "1");
    op = op_new(world, OP_SIGNAL);
    op->in.signal.run_id = STR("r1");
    op->in.signal.name = STR("go");
    op_run(world, op, ERR_LIMIT);
}

static void oversized_task_answers_are_refused(void **state) {
    World *world = *state;
    TaskSpec spec = task_of("t1");
    create_task(world, &spec);
    TaskRow task = lease_one(world, "default");
    Str before = world_dump(world);
    Op *op = op_new(world, OP_COMPLETE_TASK);
    op->in.complete_task.id = STR("t1");
    op->in.complete_task.token = task.token;
    op->in.complete_task.result = text_of(world, LIMIT_PAYLOAD_SIZE + 1);
    assert_too_large(world, op);
    op = op_new(world, OP_FAIL_TASK);
    op->in.fail_task.id = STR("t1");
    op->in.fail_task.token = task.token;
    op->in.fail_task.error = text_of(world, LIMIT_ERROR_SIZE + 1);
    assert_too_large(world, op);
    op = op_new(world, OP_HEARTBEAT_TASK);
    op->in.heartbeat.id = STR("t1");
    op->in.heartbeat.token = task.token;
    op->in.heartbeat.progress = text_of(world, LIMIT_ERROR_SIZE + 1);
    assert_too_large(world, op);
    assert_unchanged(world, before);
}

static void oversized_definitions_topics_and_nodes_are_refused(void **state) {
    World *world = *state;
    Str before = world_dump(world);
    Op *op = op_new(world, OP_DEFINE);
    op->in.define.name = text_of(world, LIMIT_NAME_SIZE + 1);
    op->in.define.version = STR("v1");
    assert_too_large(world, op);
    op = op_new(world, OP_DEFINE);
    op->in.define.name = STR("w");
    op->in.define.version = STR("v1");
    op->in.define.source = text_of(world, LIMIT_PAYLOAD_SIZE + 1);
    assert_too_large(world, op);
    op = op_new(world, OP_SET_TOPIC);
    op->in.set_topic.row.name = text_of(world, LIMIT_TOPIC_SIZE + 1);
    assert_too_large(world, op);
    op = op_new(world, OP_JOIN);
    op->in.join.name = text_of(world, LIMIT_NAME_SIZE + 1);
    op->in.join.lease_ms = 1000;
    assert_too_large(world, op);
    op = op_new(world, OP_JOIN);
    op->in.join.name = STR("node-2");
    op->in.join.version = text_of(world, LIMIT_NAME_SIZE + 1);
    op->in.join.lease_ms = 1000;
    assert_too_large(world, op);
    op = op_new(world, OP_CANCEL);
    op->in.cancel.run_id = STR("r1");
    op->in.cancel.reason = text_of(world, LIMIT_ERROR_SIZE + 1);
    assert_too_large(world, op);
    assert_unchanged(world, before);
}

int contract_limits(void) {
    const struct CMUnitTest tests[] = {
        CASE(oversized_starts_are_refused),
        CASE(largest_start_is_accepted),
        CASE(nonsense_starts_are_refused),
        CASE(oversized_turns_are_refused),
        CASE(nonsense_turns_are_refused),
        CASE(too_many_effects_of_one_turn_are_refused),
        CASE(too_many_waits_are_refused_and_the_most_allowed_work),
        CASE(wait_names_and_filters_have_limits),
        CASE(children_nest_only_so_deep),
        CASE(oversized_events_and_signals_are_refused),
        CASE(too_many_unread_signals_are_refused),
        CASE(oversized_task_answers_are_refused),
        CASE(oversized_definitions_topics_and_nodes_are_refused),
    };
    return run_group("limits", tests);
}

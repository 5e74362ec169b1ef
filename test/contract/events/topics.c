// Topics: the policies by which events are consumed and seen, their caps and expiry, and ids that
// are taken once.
#include "base/array.h"
#include "contract/contract.h"

// ---- the matrix: consume one or all, visible to all, after create, after wait ----

typedef struct Matrix { // what a topic does with events of three ages
    TopicConsume consume;
    TopicVisible visible;
    bool old_run_sees;    // published before the wait, after the run was made
    bool new_run_sees;    // published before the run was made
    bool is_kept;         // stays pending when nobody waits
    int64_t woken_of_two; // by one event while two runs wait
    bool third_sees;      // a run that waits after those two took it
} Matrix;

static void check_matrix(World *world, const Matrix *expected) {
    set_topic(world, "t", expected->consume, expected->visible);
    // Two runs parked when the event comes, one that parks afterwards, one made afterwards.
    Claimed a = create(world, "a"), b = create(world, "b"), old = create(world, "old");
    park(world, a, on_event("t"));
    park(world, b, on_event("t"));
    Op *op = publish(world, "t", "1");
    assert_int_equal(op->out.publish.resumed_count, expected->woken_of_two);
    assert_int_equal(world->batch.out.ready[0].run, a.run);
    op = park(world, old, on_event("t"));
    assert_int_equal(op->out.turn.state == RUN_RUNNING, expected->third_sees);
    if (op->out.turn.state == RUN_RUNNING) park(world, old, on_event("t"));
    cancel_run(world, "old", 0);
    cancel_run(world, "b", 0);

    // Nobody waits when the event comes.
    Claimed before = create(world, "before");
    op = publish(world, "t", "2");
    assert_int_equal(op->out.publish.resumed_count, 0);
    assert_int_equal(op->out.publish.is_kept, expected->is_kept);
    Claimed after = create(world, "after");
    op = park(world, after, with_filter(on_event("t"), "2"));
    assert_int_equal(op->out.turn.state == RUN_RUNNING, expected->new_run_sees);
    bool is_taken = expected->new_run_sees && expected->consume == CONSUME_ONE;
    op = park(world, before, with_filter(on_event("t"), "2"));
    assert_int_equal(op->out.turn.state == RUN_RUNNING, expected->old_run_sees && !is_taken);
}

static void consume_one_visible_to_all(void **state) {
    check_matrix(*state, &(Matrix){CONSUME_ONE, VISIBLE_ALL, true, true, true, 1, false});
}
static void consume_one_visible_after_create(void **state) {
    check_matrix(*state, &(Matrix){CONSUME_ONE, VISIBLE_AFTER_CREATE, true, false, true, 1, false});
}
static void consume_one_visible_after_wait(void **state) {
    check_matrix(*state, &(Matrix){CONSUME_ONE, VISIBLE_AFTER_WAIT, false, false, false, 1, false});
}
static void consume_all_visible_to_all(void **state) {
    check_matrix(*state, &(Matrix){CONSUME_ALL, VISIBLE_ALL, true, true, true, 2, true});
}
static void consume_all_visible_after_create(void **state) {
    check_matrix(*state, &(Matrix){CONSUME_ALL, VISIBLE_AFTER_CREATE, true, false, true, 2, true});
}
static void consume_all_visible_after_wait(void **state) {
    check_matrix(*state, &(Matrix){CONSUME_ALL, VISIBLE_AFTER_WAIT, false, false, false, 2, false});
}

static void each_run_sees_a_shared_event_once(void **state) {
    World *world = *state;
    set_topic(world, "t", CONSUME_ALL, VISIBLE_ALL);
    publish(world, "t", "1");
    publish(world, "t", "2");
    Claimed claimed = create(world, "r1");
    assert_text(park(world, claimed, on_event("t"))->out.turn.resolved[0].data, "1");
    assert_text(park(world, claimed, on_event("t"))->out.turn.resolved[0].data, "2");
    assert_int_equal(park(world, claimed, on_event("t"))->out.turn.state, RUN_SUSPENDED);
    publish(world, "t", "3"); // delivered to the parked run and kept for others
    world_crash(world);
    claim(world, 1);
    claimed = ready_at(world, 0);
    assert_int_equal(park(world, claimed, on_event("t"))->out.turn.state, RUN_SUSPENDED);
    assert_int_equal(get_events(world, "t").count, 3);
    Claimed other = create(world, "r2");
    assert_text(park(world, other, on_event("t"))->out.turn.resolved[0].data, "1");
}

static void unset_topic_has_the_default_policy(void **state) {
    World *world = *state;
    TopicStat topic;
    assert_ok(
        store_find_topic(world->store, &world->arena, STR("nobody set it"), &topic, &world->diag));
    assert_int_equal(topic.row.consume, CONSUME_ONE);
    assert_int_equal(topic.row.visible, VISIBLE_ALL);
    assert_int_equal(topic.row.is_explicit, 0);
}

static void topic_policy_is_kept_and_replaced(void **state) {
    World *world = *state;
    publish(world, "t", "1");
    Op *op = op_new(world, OP_SET_TOPIC);
    op->in.set_topic.row = (TopicRow){.name = STR("t"),
                                      .consume = CONSUME_ALL,
                                      .visible = VISIBLE_AFTER_CREATE,
                                      .expire_ms = 5000,
                                      .cap = 7,
                                      .pending_count = 99};
    op_run(world, op, OK);
    world_reopen(world);
    TopicStat topic;
    assert_ok(store_find_topic(world->store, &world->arena, STR("t"), &topic, &world->diag));
    assert_int_equal(topic.row.consume, CONSUME_ALL);
    assert_int_equal(topic.row.visible, VISIBLE_AFTER_CREATE);
    assert_int_equal(topic.row.expire_ms, 5000);
    assert_int_equal(topic.row.cap, 7);
    assert_int_equal(topic.row.is_explicit, 1);
    assert_int_equal(topic.row.pending_count, 1); // counted, not taken from the caller
    set_topic(world, "t", CONSUME_ONE, VISIBLE_ALL);
    assert_ok(store_find_topic(world->store, &world->arena, STR("t"), &topic, &world->diag));
    assert_int_equal(topic.row.cap, 0);
}

// Sets what `policy` says of one column; the rest of the policy stays.
static void change_topic(World *world, size_t offset, TopicRow policy) {
    Op *op = op_add(world, OP_SET_TOPIC);
    policy.name = STR("t");
    op->in.set_topic.row = policy;
    op->in.set_topic.kept = (column_bit(TABLE_TOPICS, offsetof(TopicRow, consume)) |
                             column_bit(TABLE_TOPICS, offsetof(TopicRow, visible)) |
                             column_bit(TABLE_TOPICS, offsetof(TopicRow, expire_ms)) |
                             column_bit(TABLE_TOPICS, offsetof(TopicRow, cap))) &
                            ~column_bit(TABLE_TOPICS, offset);
}

static void policy_that_is_kept_stays_whoever_sets_the_rest(void **state) {
    World *world = *state;
    publish(world, "t", "1");
    for (int64_t i = 1; i <= 5; i++) { // of one batch: each sees what the one before has set
        batch_new(world);
        change_topic(world, offsetof(TopicRow, consume), (TopicRow){.consume = i % 2});
        change_topic(world, offsetof(TopicRow, visible), (TopicRow){.visible = i % 3});
        change_topic(world, offsetof(TopicRow, expire_ms), (TopicRow){.expire_ms = 100 * i});
        change_topic(world, offsetof(TopicRow, cap), (TopicRow){.cap = 10 * i});
        batch_run(world);
    }
    world_reopen(world);
    TopicStat topic;
    assert_ok(store_find_topic(world->store, &world->arena, STR("t"), &topic, &world->diag));
    assert_int_equal(topic.row.consume, CONSUME_ALL);
    assert_int_equal(topic.row.visible, VISIBLE_AFTER_WAIT);
    assert_int_equal(topic.row.expire_ms, 500);
    assert_int_equal(topic.row.cap, 50);
    assert_int_equal(topic.row.is_explicit, 1);
    assert_int_equal(topic.row.pending_count, 1);
}

static void nonsense_policies_are_refused(void **state) {
    World *world = *state;
    Str before = world_dump(world);
    const TopicRow bad[] = {{.name = STR("t"), .consume = 2},
                            {.name = STR("t"), .visible = 3},
                            {.name = STR("t"), .consume = -1},
                            {.name = STR("t"), .cap = -1},
                            {.name = STR("t"), .expire_ms = -1}};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        Op *op = op_new(world, OP_SET_TOPIC);
        op->in.set_topic.row = bad[i];
        op_run(world, op, ERR_INVALID);
        assert_refused(op, ERR_INVALID, "BAD_TOPIC_POLICY");
    }
    assert_unchanged(world, before);
}

static void topics_are_listed_by_name(void **state) {
    World *world = *state;
    set_topic(world, "b", CONSUME_ONE, VISIBLE_ALL);
    publish(world, "c", "1");
    set_topic(world, "a", CONSUME_ONE, VISIBLE_ALL);
    TopicPage found;
    assert_ok(store_list_topics(world->store, &world->arena, &(NamePageSpec){.limit = 2}, &found,
                                &world->diag));
    assert_int_equal(found.count, 2);
    assert_text(found.rows[0].row.name, "a");
    assert_text(found.rows[1].row.name, "b");
    assert_true(found.has_more);
    assert_ok(store_list_topics(world->store, &world->arena,
                                &(NamePageSpec){.after = STR("b"), .limit = 2}, &found,
                                &world->diag));
    assert_int_equal(found.count, 1);
    assert_text(found.rows[0].row.name, "c");
    assert_false(found.has_more);
    Op *op = park(world, create(world, "r1"), on_event("c"));
    assert_int_equal(op->out.turn.resolved_count, 1);
    // emptied and never set: forgotten
    assert_ok(store_list_topics(world->store, &world->arena,
                                &(NamePageSpec){.after = STR("b"), .limit = 2}, &found,
                                &world->diag));
    assert_int_equal(found.count, 0);
}

// ---- caps and expiry ----

static void full_topic_refuses_with_topic_full(void **state) {
    World *world = *state;
    Op *op = op_new(world, OP_SET_TOPIC);
    op->in.set_topic.row = (TopicRow){.name = STR("t"), .cap = 2};
    op_run(world, op, OK);
    publish(world, "t", "1");
    publish(world, "t", "2");
    Str before = world_dump(world);
    op = op_new(world, OP_PUBLISH);
    op->in.publish.event = (EventSpec){
        .topic = STR("t"), .id = STR("e"), .is_deduplicated = true, .payload = STR("3")};
    op_run(world, op, ERR_LIMIT);
    assert_refused(op, ERR_LIMIT, "TOPIC_FULL");
    assert_unchanged(world, before);
    park(world, create(world, "r1"), on_event("t")); // takes one: there is room again
    op = publish_once(world, "t", "e", "3");         // and the refused id was not used up
    assert_true(op->out.publish.is_kept);
    assert_false(op->out.publish.is_duplicate);
}

static void full_topic_still_serves_who_waits(void **state) {
    World *world = *state;
    Op *op = op_new(world, OP_SET_TOPIC);
    op->in.set_topic.row = (TopicRow){.name = STR("t"), .cap = 1};
    op_run(world, op, OK);
    publish(world, "t", "for nobody");
    park(world, create(world, "r1"), with_filter(on_event("t"), "me"));
    assert_int_equal(publish(world, "t", "for me")->out.publish.resumed_count, 1);
}

static void store_default_caps_topics_without_one(void **state) {
    World *world = *state;
    if (!world_is_kept()) { // a memory store is made anew with other settings
        store_close(world->store);
        world->config.events_per_topic = 3;
        assert_ok(store_open(str_from(world->url), &world->config, &world->store, &world->diag));
        world->node = join(world, "node-1", HOUR_MS);
    } else {
        world->config.events_per_topic = 3;
        world_reopen(world);
    }
    for (int i = 0; i < 3; i++) publish(world, "t", "1");
    Op *op = op_new(world, OP_PUBLISH);
    op->in.publish.event = (EventSpec){.topic = STR("t"), .id = STR("e"), .payload = STR("4")};
    op_run(world, op, ERR_LIMIT);
    assert_refused(op, ERR_LIMIT, "TOPIC_FULL");
}

static void emit_by_a_turn_into_a_full_topic_becomes_a_dead_letter(void **state) {
    World *world = *state;
    Op *op = op_new(world, OP_SET_TOPIC);
    op->in.set_topic.row = (TopicRow){.name = STR("t"), .cap = 1};
    op_run(world, op, OK);
    EventSpec events[] = {{.topic = STR("t"), .id = STR("e1"), .payload = STR("1")},
                          {.topic = STR("t"), .id = STR("e2"), .payload = STR("2")}};
    op = turn(world, create(world, "r1"), NEXT_CONTINUE);
    op->in.turn.events = events;
    op->in.turn.event_count = 2;
    op_run(world, op, OK);
    assert_int_equal(get_events(world, "t").count, 1);
    DeadLetterPage letters = get_dead_letters(world);
    assert_int_equal(letters.count, 1);
    assert_text(letters.rows[0].payload, "2");
    assert_text(letters.rows[0].reason, "topic full");
    assert_text(letters.rows[0].run_id, NULL);
}

static void emit_by_a_turn_wakes_a_waiter_in_the_same_operation(void **state) {
    World *world = *state;
    Claimed waiter = create(world, "waiter"), sender = create(world, "sender");
    park(world, waiter, on_event("t"));
    EventSpec event = {.topic = STR("t"), .id = STR("e"), .payload = STR("1")};
    Op *op = turn(world, sender, NEXT_COMPLETE);
    op->in.turn.events = &event;
    op->in.turn.event_count = 1;
    op_run(world, op, OK);
    assert_int_equal(ready_of(world, waiter.run).run, waiter.run);
}

static void expired_events_are_neither_delivered_nor_kept(void **state) {
    World *world = *state;
    Op *op = op_new(world, OP_SET_TOPIC);
    op->in.set_topic.row = (TopicRow){.name = STR("t"), .expire_ms = 1000};
    op_run(world, op, OK);
    publish(world, "t", "1");
    world->now_ms = START_MS + 1000; // not swept yet, and yet not seen any more
    op = park(world, create(world, "r1"), on_event("t"));
    assert_int_equal(op->out.turn.state, RUN_SUSPENDED);
    assert_int_equal(get_counter(world, COUNTER_EVENTS), 1);
    assert_int_equal(fire(world)->out.fire_due.fired_count, 1);
    assert_int_equal(get_counter(world, COUNTER_EVENTS), 0);
    assert_int_equal(get_events(world, "t").count, 0);
}

static void event_just_before_its_expiry_is_delivered(void **state) {
    World *world = *state;
    Op *op = op_new(world, OP_SET_TOPIC);
    op->in.set_topic.row = (TopicRow){.name = STR("t"), .expire_ms = 1000};
    op_run(world, op, OK);
    publish(world, "t", "1");
    world->now_ms = START_MS + 999;
    assert_int_equal(park(world, create(world, "r1"), on_event("t"))->out.turn.resolved_count, 1);
}

static void retention_of_the_store_expires_events_without_a_policy(void **state) {
    World *world = *state;
    publish(world, "t", "1");
    world->now_ms = START_MS + WEEK_MS - 1;
    assert_int_equal(sweep(world)->out.sweep.expired_events, 0);
    world->now_ms = START_MS + WEEK_MS;
    assert_int_equal(sweep(world)->out.sweep.expired_events, 1);
    int64_t due_at_ms;
    assert_ok(store_next_due(world->store, &world->arena, &due_at_ms, &world->diag));
    assert_int_equal(due_at_ms, 0);
}

// ---- ids that are taken once ----

static void event_with_a_known_id_is_a_duplicate(void **state) {
    World *world = *state;
    assert_false(publish_once(world, "t", "e1", "1")->out.publish.is_duplicate);
    Op *op = publish_once(world, "t", "e1", "other");
    assert_true(op->out.publish.is_duplicate);
    assert_false(op->out.publish.is_kept);
    assert_int_equal(get_events(world, "t").count, 1);
    assert_false(publish_once(world, "u", "e1", "1")->out.publish.is_duplicate); // per topic
    assert_false(publish_once(world, "t", "e2", "1")->out.publish.is_duplicate);
}

static void event_id_is_known_after_it_was_consumed_and_after_a_crash(void **state) {
    World *world = *state;
    publish_once(world, "t", "e1", "1");
    park(world, create(world, "r1"), on_event("t"));
    world_crash(world);
    assert_true(publish_once(world, "t", "e1", "1")->out.publish.is_duplicate);
}

static void signal_with_a_known_id_is_taken_once(void **state) {
    World *world = *state;
    park(world, create(world, "r1"), on_signal("go"));
    create(world, "r2");
    for (int i = 0; i < 3; i++) {
        Op *op = op_new(world, OP_SIGNAL);
        op->in.signal.run_id = STR("r1");
        op->in.signal.name = STR("go");
        op->in.signal.id = STR("s1");
        op->in.signal.is_deduplicated = true;
        op->in.signal.payload = STR("1");
        op_run(world, op, OK);
        assert_int_equal(op->out.signal.is_duplicate, i > 0);
        assert_int_equal(op->out.signal.is_delivered, i == 0);
    }
    Op *op = op_new(world, OP_SIGNAL); // another run has its own ids
    op->in.signal.run_id = STR("r2");
    op->in.signal.name = STR("go");
    op->in.signal.id = STR("s1");
    op->in.signal.is_deduplicated = true;
    op_run(world, op, OK);
    assert_false(op->out.signal.is_duplicate);
    assert_int_equal(entry_count(world, "r1", LOG_WAIT), 1);
}

static void signal_that_ended_its_run_is_a_duplicate_when_said_again(void **state) {
    World *world = *state;
    park(world, create(world, "r1"), on_signal("go"));
    for (int i = 0; i < 2; i++) {
        Op *op = op_new(world, OP_SIGNAL);
        op->in.signal.run_id = STR("r1");
        op->in.signal.name = STR("go");
        op->in.signal.id = STR("s1");
        op->in.signal.is_deduplicated = true;
        op_run(world, op, OK);
        assert_int_equal(op->out.signal.is_duplicate, i > 0);
        if (i == 0) finish(world, ready_at(world, 0), NEXT_COMPLETE, "1");
    }
    Op *other = op_new(world, OP_SIGNAL);
    other->in.signal.run_id = STR("r1");
    other->in.signal.name = STR("go");
    other->in.signal.id = STR("s2");
    other->in.signal.is_deduplicated = true;
    op_run(world, other, ERR_TERMINAL);
}

static void ids_that_were_not_the_callers_are_not_remembered(void **state) {
    World *world = *state;
    publish(world, "t", "1");
    assert_false(publish(world, "t", "2")->out.publish.is_duplicate);
    assert_int_equal(get_events(world, "t").count, 2);
}

static void known_ids_are_forgotten_after_the_retention(void **state) {
    World *world = *state;
    publish_once(world, "t", "e1", "1");
    world->now_ms = START_MS + WEEK_MS - 1;
    assert_true(publish_once(world, "t", "e1", "1")->out.publish.is_duplicate);
    world->now_ms = START_MS + WEEK_MS; // not swept, and yet forgotten
    assert_false(publish_once(world, "t", "e1", "2")->out.publish.is_duplicate);
    assert_true(publish_once(world, "t", "e1", "3")->out.publish.is_duplicate);
    world->now_ms = START_MS + 3 * WEEK_MS;
    assert_int_equal(sweep(world)->out.sweep.expired_keys, 1);
}

int contract_topics(void) {
    const struct CMUnitTest tests[] = {
        CASE(consume_one_visible_to_all),
        CASE(consume_one_visible_after_create),
        CASE(consume_one_visible_after_wait),
        CASE(consume_all_visible_to_all),
        CASE(consume_all_visible_after_create),
        CASE(consume_all_visible_after_wait),
        CASE(each_run_sees_a_shared_event_once),
        CASE(unset_topic_has_the_default_policy),
        CASE(policy_that_is_kept_stays_whoever_sets_the_rest),
        CASE(topic_policy_is_kept_and_replaced),
        CASE(nonsense_policies_are_refused),
        CASE(topics_are_listed_by_name),
        CASE(full_topic_refuses_with_topic_full),
        CASE(full_topic_still_serves_who_waits),
        CASE(store_default_caps_topics_without_one),
        CASE(emit_by_a_turn_into_a_full_topic_becomes_a_dead_letter),
        CASE(emit_by_a_turn_wakes_a_waiter_in_the_same_operation),
        CASE(expired_events_are_neither_delivered_nor_kept),
        CASE(event_just_before_its_expiry_is_delivered),
        CASE(retention_of_the_store_expires_events_without_a_policy),
        CASE(event_with_a_known_id_is_a_duplicate),
        CASE(event_id_is_known_after_it_was_consumed_and_after_a_crash),
        CASE(signal_with_a_known_id_is_taken_once),
        CASE(signal_that_ended_its_run_is_a_duplicate_when_said_again),
        CASE(ids_that_were_not_the_callers_are_not_remembered),
        CASE(known_ids_are_forgotten_after_the_retention),
    };
    return run_group("topics", tests);
}

// What is pending: how a full topic goes on serving those who wait, what a broadcast leaves behind,
// and how pending events and signals are removed.
#include "contract/contract.h"

static void set_cap(World *world, TopicConsume consume, int64_t cap) {
    Op *op = op_new(world, OP_SET_TOPIC);
    op->in.set_topic.row = (TopicRow){.name = STR("t"), .consume = consume, .cap = cap};
    op_run(world, op, OK);
}

static Op *publish_in_vain(World *world, const char *payload) {
    Op *op = op_new(world, OP_PUBLISH);
    op->in.publish.event =
        (EventSpec){.topic = STR("t"), .id = STR("e"), .payload = str_from(payload)};
    op_run(world, op, ERR_LIMIT);
    assert_refused(op, ERR_LIMIT, "TOPIC_FULL");
    return op;
}

// What is kept for later waiters, oldest first: "1 2 3".
static void assert_pending(World *world, const char *expected) {
    EventPage found = get_events(world, "t");
    Str text = STR("");
    for (size_t i = 0; i < found.count; i++) {
        text = arena_printf(&world->arena, "%.*s%s%.*s", STR_ARG(text), i > 0 ? " " : "",
                            STR_ARG(found.rows[i].payload));
    }
    assert_text(text, expected);
}

// ---- broadcasts and the cap ----

static void broadcast_reaches_who_waits_however_many_came_before(void **state) {
    World *world = *state;
    set_cap(world, CONSUME_ALL, 3);
    Claimed claimed = create(world, "r1");
    for (int i = 1; i <= 8; i++) {
        const char *payload = arena_printf(&world->arena, "%d", i).data;
        park(world, claimed, on_event("t"));
        Op *op = publish(world, "t", payload);
        assert_int_equal(op->out.publish.resumed_count, 1);
        assert_true(op->out.publish.is_kept);
        claimed = ready_at(world, 0);
        assert_resolved(world->batch.out.ready[0].resolved, 1, 0, OUTCOME_OK, payload);
    }
    assert_pending(world, "6 7 8"); // for those who come later: what is past the cap made room
    assert_int_equal(get_counter(world, COUNTER_EVENTS), 3);
}

static void broadcast_that_somebody_took_makes_room_for_one_that_nobody_waits_for(void **state) {
    World *world = *state;
    set_cap(world, CONSUME_ALL, 2);
    publish(world, "t", "1");
    publish(world, "t", "2");
    publish_in_vain(world, "3");                              // nobody has taken any
    Op *op = park(world, create(world, "r1"), on_event("t")); // takes 1, later
    assert_text(op->out.turn.resolved[0].data, "1");
    op = publish(world, "t", "3");
    assert_true(op->out.publish.is_kept);
    assert_pending(world, "2 3");
    publish_in_vain(world, "4");
}

static void broadcast_that_nobody_took_is_never_dropped_for_room(void **state) {
    World *world = *state;
    set_cap(world, CONSUME_ALL, 3);
    Claimed claimed = create(world, "r1");
    publish(world, "t", "first");
    for (int i = 1; i <= 6; i++) { // in between the run waits for others than the first
        park(world, claimed, with_filter(on_event("t"), "me"));
        publish(world, "t", arena_printf(&world->arena, "me%d", i).data);
        claimed = ready_at(world, 0);
    }
    assert_pending(world, "first me5 me6");
}

static void broadcast_into_a_topic_full_of_unread_events_is_delivered_and_not_kept(void **state) {
    World *world = *state;
    set_cap(world, CONSUME_ALL, 2);
    publish(world, "t", "a");
    publish(world, "t", "b");
    Claimed one = create(world, "r1"), two = create(world, "r2");
    park(world, one, with_filter(on_event("t"), "me"));
    park(world, two, with_filter(on_event("t"), "me"));
    Op *op = publish(world, "t", "me");
    assert_int_equal(op->out.publish.resumed_count, 2);
    assert_false(op->out.publish.is_kept);
    assert_pending(world, "a b");
    op = park(world, ready_at(world, 0), on_event("t")); // it sees what was kept all the same
    assert_text(op->out.turn.resolved[0].data, "a");
}

static void broadcast_of_a_turn_or_a_dead_letter_reaches_who_waits_on_a_full_topic(void **state) {
    World *world = *state;
    set_cap(world, CONSUME_ALL, 1);
    publish(world, "t", "a");
    Claimed sender = create(world, "sender");
    EventSpec event = {.topic = STR("t"), .id = STR("e"), .payload = STR("me")};
    for (int i = 0; i < 2; i++) {
        Claimed waiter = create(world, i == 0 ? "r1" : "r2");
        park(world, waiter, with_filter(on_event("t"), "me"));
        Op *op = turn(world, sender, NEXT_CONTINUE);
        op->in.turn.events = &event;
        op->in.turn.event_count = 1;
        op_run(world, op, OK);
        assert_int_equal(ready_of(world, waiter.run).run, waiter.run);
        assert_int_equal(get_dead_letters(world).count, 0);
    }
    Op *op = turn(world, sender, NEXT_CONTINUE); // nobody waits: it is not lost either
    op->in.turn.events = &event;
    op->in.turn.event_count = 1;
    op_run(world, op, OK);
    DeadLetterPage letters = get_dead_letters(world);
    assert_int_equal(letters.count, 1);
    Claimed waiter = create(world, "r3");
    park(world, waiter, with_filter(on_event("t"), "me"));
    op = op_new(world, OP_REPLAY_DEAD_LETTER);
    op->in.dead_letter.key = letters.rows[0].key;
    op_run(world, op, OK);
    assert_int_equal(op->out.dead_letter.resumed_count, 1);
    assert_int_equal(get_dead_letters(world).count, 0);
    assert_pending(world, "a");
}

static void leftover_signal_reaches_who_waits_on_a_full_broadcast_topic(void **state) {
    World *world = *state;
    set_cap(world, CONSUME_ALL, 1);
    publish(world, "t", "a");
    Claimed waiter = create(world, "waiter");
    park(world, waiter, with_filter(on_event("t"), "left"));
    RunSpec spec = spec_of("r1");
    spec.leftover_policy = LEFTOVER_TO_TOPIC;
    spec.leftover_topic = STR("t");
    Claimed claimed = create_from(world, &spec);
    signal_run(world, "r1", "go", "left");
    finish(world, claimed, NEXT_COMPLETE, "1");
    assert_int_equal(ready_of(world, waiter.run).run, waiter.run);
    assert_int_equal(get_dead_letters(world).count, 0);
}

static void lowered_cap_drops_taken_events_a_few_at_a_time(void **state) {
    World *world = *state;
    set_cap(world, CONSUME_ALL, 200);
    Claimed claimed = create(world, "r1");
    for (int i = 0; i < 105; i++) {
        if (i == 100) set_cap(world, CONSUME_ALL, 1);
        park(world, claimed, on_event("t"));
        assert_true(publish(world, "t", "1")->out.publish.is_kept);
        claimed = ready_at(world, 0);
        if (i == 100) assert_in_range(get_events(world, "t").count, 2, 99);
    }
    assert_int_equal(get_events(world, "t").count, 1);
}

static void taken_events_outlast_a_crash_and_expire_as_others_do(void **state) {
    World *world = *state;
    set_cap(world, CONSUME_ALL, 2);
    park(world, create(world, "r1"), on_event("t"));
    publish(world, "t", "1");
    world_crash(world);
    publish(world, "t", "2");
    assert_true(publish(world, "t", "3")->out.publish.is_kept);
    assert_pending(world, "2 3");
    world->now_ms = START_MS + WEEK_MS;
    assert_int_equal(sweep(world)->out.sweep.expired_events, 2);
    assert_pending(world, "");
}

// ---- removing ----

static Op *remove_event(World *world, const char *topic, int64_t key, Status expected) {
    Op *op = op_new(world, OP_REMOVE_EVENTS);
    op->in.remove_events = (EventRemoval){.topic = str_from(topic), .key = key};
    op_run(world, op, expected);
    return op;
}

static Op *remove_signals(World *world, const char *run_id, const char *name, int64_t key,
                          Status expected) {
    Op *op = op_new(world, OP_REMOVE_SIGNALS);
    op->in.remove_events =
        (EventRemoval){.run_id = str_from(run_id), .name = str_from(name), .key = key};
    op_run(world, op, expected);
    return op;
}

static void pending_event_is_removed_and_there_is_room_again(void **state) {
    World *world = *state;
    set_cap(world, CONSUME_ONE, 2);
    publish(world, "t", "1");
    publish(world, "t", "2");
    publish_in_vain(world, "3");
    int64_t key = get_events(world, "t").rows[0].key;
    Str before = world_dump(world);
    assert_refused(remove_event(world, "other", key, ERR_NOT_FOUND), ERR_NOT_FOUND,
                   "EVENT_NOT_FOUND");
    assert_unchanged(world, before);
    assert_int_equal(remove_event(world, "t", key, OK)->out.remove_events.removed_count, 1);
    assert_pending(world, "2");
    assert_int_equal(get_counter(world, COUNTER_EVENTS), 1);
    remove_event(world, "t", key, ERR_NOT_FOUND);
    assert_true(publish(world, "t", "3")->out.publish.is_kept);
}

static void topic_is_emptied_in_parts_without_what_comes_meanwhile(void **state) {
    World *world = *state;
    enum { COUNT = LIMIT_REMOVED_EVENTS_MAX + 40 };
    batch_new(world);
    for (int i = 0; i < COUNT; i++) {
        op_add(world, OP_PUBLISH)->in.publish.event =
            (EventSpec){.topic = STR("t"), .id = STR("e"), .payload = STR("1")};
    }
    batch_run(world);
    publish(world, "other", "1");
    EventRemovalReply removal = remove_event(world, "t", 0, OK)->out.remove_events;
    assert_int_equal(removal.removed_count, LIMIT_REMOVED_EVENTS);
    assert_true(removal.next_key != 0);
    publish(world, "t", "new");
    Op *op = op_new(world, OP_REMOVE_EVENTS);
    op->in.remove_events = (EventRemoval){
        .topic = STR("t"), .after_key = removal.next_key, .up_to_key = removal.newest_key};
    op_run(world, op, OK);
    assert_int_equal(op->out.remove_events.removed_count, COUNT - LIMIT_REMOVED_EVENTS);
    assert_int_equal(op->out.remove_events.next_key, 0);
    assert_pending(world, "new");
    assert_int_equal(get_events(world, "other").count, 1);
    assert_int_equal(remove_event(world, "nothing there", 0, OK)->out.remove_events.removed_count,
                     0);
}

static void taken_broadcasts_are_removed_with_the_rest(void **state) {
    World *world = *state;
    set_cap(world, CONSUME_ALL, 5);
    park(world, create(world, "r1"), on_event("t"));
    publish(world, "t", "1");
    publish(world, "t", "2");
    assert_int_equal(remove_event(world, "t", get_events(world, "t").rows[0].key, OK)
                         ->out.remove_events.removed_count,
                     1);
    assert_int_equal(remove_event(world, "t", 0, OK)->out.remove_events.removed_count, 1);
    assert_pending(world, "");
}

static void pending_signals_are_removed_one_by_name_or_all(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    create(world, "r2");
    static const char *const names[] = {"go", "stop", "go", "go", "stop"};
    for (int i = 0; i < 5; i++) signal_run(world, "r1", names[i], "1");
    signal_run(world, "r2", "go", "1");
    int64_t key = get_signals(world, "r1").rows[0].key;
    Str before = world_dump(world);
    assert_refused(remove_signals(world, "r2", NULL, key, ERR_NOT_FOUND), ERR_NOT_FOUND,
                   "SIGNAL_NOT_FOUND");
    remove_signals(world, "r1", "stop", key, ERR_NOT_FOUND);
    assert_refused(remove_signals(world, "r9", NULL, 0, ERR_NOT_FOUND), ERR_NOT_FOUND,
                   "RUN_NOT_FOUND");
    assert_unchanged(world, before);
    assert_int_equal(remove_signals(world, "r1", "go", key, OK)->out.remove_events.removed_count,
                     1);
    assert_int_equal(remove_signals(world, "r1", "stop", 0, OK)->out.remove_events.removed_count,
                     2);
    assert_int_equal(get_signals(world, "r1").count, 2);
    assert_int_equal(remove_signals(world, "r1", NULL, 0, OK)->out.remove_events.removed_count, 2);
    assert_int_equal(get_counter(world, COUNTER_SIGNALS), 1);
    assert_int_equal(park(world, claimed, on_signal("go"))->out.turn.state, RUN_SUSPENDED);
    assert_true(signal_run(world, "r1", "go", "2")->out.signal.is_delivered);
}

static void signal_that_was_removed_makes_room_for_another(void **state) {
    World *world = *state;
    create(world, "r1");
    for (int part = 0; part < (int)LIMIT_SIGNALS_PER_RUN / 2000; part++) {
        batch_new(world);
        for (int i = 0; i < 2000; i++) {
            Op *op = op_add(world, OP_SIGNAL);
            op->in.signal.run_id = STR("r1");
            op->in.signal.name = STR("go");
        }
        batch_run(world);
    }
    Op *op = op_new(world, OP_SIGNAL);
    op->in.signal.run_id = STR("r1");
    op->in.signal.name = STR("go");
    op_run(world, op, ERR_LIMIT);
    assert_refused(op, ERR_LIMIT, "TOO_MANY_SIGNALS");
    EventPage found;
    assert_ok(store_list_signals(world->store, &world->arena,
                                 &(SignalFilter){.run = run_of_id(STR("r1")), .page.limit = 1},
                                 &found, &world->diag));
    remove_signals(world, "r1", NULL, found.rows[0].key, OK);
    signal_run(world, "r1", "go", "1");
}

int contract_pending(void) {
    const struct CMUnitTest tests[] = {
        CASE(broadcast_reaches_who_waits_however_many_came_before),
        CASE(broadcast_that_somebody_took_makes_room_for_one_that_nobody_waits_for),
        CASE(broadcast_that_nobody_took_is_never_dropped_for_room),
        CASE(broadcast_into_a_topic_full_of_unread_events_is_delivered_and_not_kept),
        CASE(broadcast_of_a_turn_or_a_dead_letter_reaches_who_waits_on_a_full_topic),
        CASE(leftover_signal_reaches_who_waits_on_a_full_broadcast_topic),
        CASE(lowered_cap_drops_taken_events_a_few_at_a_time),
        CASE(taken_events_outlast_a_crash_and_expire_as_others_do),
        CASE(pending_event_is_removed_and_there_is_room_again),
        CASE(topic_is_emptied_in_parts_without_what_comes_meanwhile),
        CASE(taken_broadcasts_are_removed_with_the_rest),
        CASE(pending_signals_are_removed_one_by_name_or_all),
        CASE(signal_that_was_removed_makes_room_for_another),
    };
    return run_group("pending", tests);
}

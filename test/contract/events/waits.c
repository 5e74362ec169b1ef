// Waits: what wakes a parked run, and with what. Each way in which engines of this kind have lost,
// doubled or misplaced an event has its test.
#include "base/array.h"
#include "contract/contract.h"

static const ReadyRun *only_ready(const World *world) {
    assert_int_equal(world->batch.out.ready_count, 1);
    return &world->batch.out.ready[0];
}

static Resolution resolution_of(const Op *op) {
    return (Resolution){op->out.turn.resolved, op->out.turn.resolved_count};
}

#define assert_woken(world, slot, outcome, data)                                                   \
    assert_resolved(only_ready(world)->resolved, only_ready(world)->resolved_count, slot, outcome, \
                    data)
#define assert_at_once(op, slot, outcome, data)                                                    \
    check_resolved(resolution_of(op), slot, outcome, data, __FILE__, __LINE__)

// ---- sent before the wait ----

static void event_sent_before_the_wait_is_taken_when_the_run_parks(void **state) {
    World *world = *state;
    publish(world, "t", "1");
    publish(world, "t", "2");
    Claimed claimed = create(world, "r1");
    Op *op = park(world, claimed, on_event("t"));
    assert_int_equal(op->out.turn.state, RUN_RUNNING);
    assert_at_once(op, 0, OUTCOME_OK, "1");
    assert_int_equal(get_events(world, "t").count, 1);
    op = park(world, claimed, on_event("t")); // the claim was kept
    assert_at_once(op, 0, OUTCOME_OK, "2");
    assert_int_equal(park(world, claimed, on_event("t"))->out.turn.state, RUN_SUSPENDED);
}

static void signal_sent_before_the_wait_is_taken_in_order(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    signal_run(world, "r1", "go", "1");
    signal_run(world, "r1", "other", "x");
    signal_run(world, "r1", "go", "2");
    assert_int_equal(get_signals(world, "r1").count, 3);
    assert_at_once(park(world, claimed, on_signal("go")), 0, OUTCOME_OK, "1");
    assert_at_once(park(world, claimed, on_signal("go")), 0, OUTCOME_OK, "2");
    assert_int_equal(park(world, claimed, on_signal("go"))->out.turn.state, RUN_SUSPENDED);
    assert_int_equal(get_counter(world, COUNTER_SIGNALS), 1);
}

static void signal_before_the_start_is_kept_for_the_run(void **state) {
    World *world = *state;
    RunSpec spec = spec_of("later");
    spec.start_at_ms = START_MS + 1000;
    create_op(world, &spec);
    assert_false(signal_run(world, "later", "go", "1")->out.signal.is_delivered);
    fire_at(world, START_MS + 1000);
    assert_at_once(park(world, ready_at(world, 0), on_signal("go")), 0, OUTCOME_OK, "1");
}

static void accepted_event_is_durable(void **state) {
    World *world = *state;
    publish(world, "t", "1");
    create(world, "r1");
    signal_run(world, "r1", "go", "2");
    world_crash(world);
    assert_int_equal(get_events(world, "t").count, 1);
    assert_int_equal(get_signals(world, "r1").count, 1);
    assert_int_equal(claim(world, 10)->out.claim.taken_over, 1);
    Claimed claimed = ready_at(world, 0);
    assert_at_once(park(world, claimed, on_event("t")), 0, OUTCOME_OK, "1");
    assert_at_once(park(world, claimed, on_signal("go")), 0, OUTCOME_OK, "2");
}

// ---- crashes ----

static void event_after_a_crash_resolves_the_wait_that_was_open(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    save_step(world, claimed, "a", 0);
    WaitItem item = on_event("t");
    item.position = 1;
    park(world, claimed, item);
    world_crash(world);
    assert_int_equal(publish(world, "t", "1")->out.publish.resumed_count, 1);
    assert_int_equal(only_ready(world)->resolved[0].position, 1);
    RunLoad load = get_load(world, "r1");
    assert_int_equal(load.log_count, 2);
    assert_int_equal(load.log[1].kind, LOG_WAIT);
    assert_int_equal(load.log[1].position, 1);
    assert_text(load.log[1].data, "1");
}

static void event_taken_just_before_a_crash_is_not_taken_again(void **state) {
    World *world = *state;
    publish(world, "t", "1");
    Claimed claimed = create(world, "r1");
    assert_int_equal(park(world, claimed, on_event("t"))->out.turn.resolved_count, 1);
    publish(world, "t", "2"); // for the next wait, not for this one
    world_crash(world);
    claim(world, 1);
    RunLoad load = get_load(world, "r1"); // the replay finds what was taken
    assert_int_equal(load.log_count, 1);
    assert_text(load.log[0].data, "1");
    WaitItem next = on_event("t");
    next.position = 8;
    assert_at_once(park(world, ready_at(world, 0), next), 0, OUTCOME_OK, "2");
}

static void event_while_the_node_is_down_waits_for_the_same_wait(void **state) {
    World *world = *state;
    create(world, "r1"); // on its way to the wait when its node dies
    publish(world, "t", "1");
    world_crash(world);
    claim(world, 1);
    Claimed claimed = ready_at(world, 0);
    assert_at_once(park(world, claimed, on_event("t")), 0, OUTCOME_OK, "1");
    assert_int_equal(park(world, claimed, on_event("t"))->out.turn.state, RUN_SUSPENDED);
}

// ---- who gets it ----

static void broadcast_reaches_every_waiter_with_the_same_payload(void **state) {
    World *world = *state;
    set_topic(world, "t", CONSUME_ALL, VISIBLE_AFTER_WAIT);
    for (int i = 0; i < 300; i++) { // more than one page of waiters
        Str id = arena_printf(&world->arena, "r%d", i);
        park(world, create(world, id.data), on_event("t"));
    }
    world->claim_max = 1000;
    assert_int_equal(publish(world, "t", "9")->out.publish.resumed_count, 300);
    assert_int_equal(world->batch.out.ready_count, 300);
    for (size_t i = 0; i < 300; i++) {
        assert_resolved(world->batch.out.ready[i].resolved,
                        world->batch.out.ready[i].resolved_count, 0, OUTCOME_OK, "9");
    }
}

static void single_delivery_goes_to_the_longest_waiting(void **state) {
    World *world = *state;
    Claimed a = create(world, "a"), b = create(world, "b");
    park(world, b, on_event("t"));
    park(world, a, on_event("t"));
    publish(world, "t", "1");
    assert_int_equal(only_ready(world)->run, b.run);
    publish(world, "t", "2");
    assert_int_equal(only_ready(world)->run, a.run);
    assert_true(publish(world, "t", "3")->out.publish.is_kept);
}

static void filter_passes_over_waiters_that_want_something_else(void **state) {
    World *world = *state;
    Claimed picky = create(world, "picky"), open = create(world, "open");
    park(world, picky, with_filter(on_event("t"), "\"vip\""));
    park(world, open, on_event("t"));
    publish(world, "t", "{\"kind\":\"plain\"}");
    assert_int_equal(only_ready(world)->run, open.run);
    assert_true(publish(world, "t", "{\"kind\":\"plain\"}")->out.publish.is_kept);
    publish(world, "t", "{\"kind\":\"vip\"}");
    assert_int_equal(only_ready(world)->run, picky.run);
}

static void filter_is_applied_to_pending_events_when_parking(void **state) {
    World *world = *state;
    publish(world, "t", "plain");
    publish(world, "t", "vip 1");
    Op *op = park(world, create(world, "r1"), with_filter(on_event("t"), "vip"));
    assert_at_once(op, 0, OUTCOME_OK, "vip 1");
    EventPage events = get_events(world, "t");
    assert_int_equal(events.count, 1);
    assert_text(events.rows[0].payload, "plain");
}

static void signal_of_another_name_does_not_wake(void **state) {
    World *world = *state;
    park(world, create(world, "r1"), on_signal("go"));
    assert_false(signal_run(world, "r1", "stop", "1")->out.signal.is_delivered);
    assert_state(world, "r1", RUN_SUSPENDED);
    assert_int_equal(get_signals(world, "r1").count, 1);
}

static void signal_for_another_run_does_not_wake(void **state) {
    World *world = *state;
    park(world, create(world, "r1"), on_signal("go"));
    park(world, create(world, "r2"), on_signal("go"));
    signal_run(world, "r2", "go", "1");
    assert_state(world, "r1", RUN_SUSPENDED);
    assert_state(world, "r2", RUN_RUNNING);
}

// ---- races ----

static void race_by_time_not_by_index(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    signal_run(world, "r1", "b", "early");
    world->now_ms += 10;
    signal_run(world, "r1", "a", "late");
    Op *op = park(world, claimed, on_signal("a"), on_signal("b"));
    assert_at_once(op, 1, OUTCOME_OK, "early");
}

static void race_of_the_same_millisecond_goes_by_arrival(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    signal_run(world, "r1", "b", "first");
    signal_run(world, "r1", "a", "second");
    publish(world, "t", "third");
    Op *op = park(world, claimed, on_event("t"), on_signal("a"), on_signal("b"));
    assert_at_once(op, 2, OUTCOME_OK, "first");
}

static void race_between_a_past_timer_and_an_event_goes_by_time(void **state) {
    World *world = *state;
    Claimed early = create(world, "early"), late = create(world, "late");
    world->now_ms = START_MS + 100;
    publish(world, "t", "1");
    world->now_ms = START_MS + 200;
    Op *op = park(world, early, on_event("t"), on_timer(START_MS + 50));
    assert_at_once(op, 1, OUTCOME_OK, NULL);
    op = park(world, late, on_timer(START_MS + 150), on_event("t"));
    assert_at_once(op, 1, OUTCOME_OK, "1");
}

static void race_of_due_timers_is_won_by_the_earliest(void **state) {
    World *world = *state;
    park(world, create(world, "r1"), on_timer(START_MS + 300), on_timer(START_MS + 100),
         on_timer(START_MS + 200));
    fire_at(world, START_MS + 1000);
    assert_woken(world, 1, OUTCOME_OK, NULL);
}

static void race_of_ended_children_goes_by_the_time_they_ended(void **state) {
    World *world = *state;
    Claimed parent = create(world, "parent");
    RunSpec children[] = {spec_of("slow"), spec_of("quick")};
    Op *op = turn(world, parent, NEXT_CONTINUE);
    op->in.turn.children = children;
    op->in.turn.child_count = 2;
    op_run(world, op, OK);
    Claimed slow = ready_at(world, 0), quick = ready_at(world, 1);
    finish(world, quick, NEXT_COMPLETE, "\"quick\"");
    world->now_ms += 5;
    finish(world, slow, NEXT_COMPLETE, "\"slow\"");
    op = park(world, parent, on_child("slow"), on_child("quick"));
    assert_at_once(op, 1, OUTCOME_OK, "\"quick\"");
}

static void lost_race_swallows_nothing(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    park(world, claimed, on_signal("go"), on_event("t"), on_timer(START_MS + 100));
    fire_at(world, START_MS + 100); // the timer wins
    assert_woken(world, 2, OUTCOME_OK, NULL);
    claimed = ready_at(world, 0);
    assert_false(signal_run(world, "r1", "go", "1")->out.signal.is_delivered);
    assert_int_equal(publish(world, "t", "2")->out.publish.resumed_count, 0);
    assert_at_once(park(world, claimed, on_signal("go")), 0, OUTCOME_OK, "1");
    assert_at_once(park(world, claimed, on_event("t")), 0, OUTCOME_OK, "2");
}

static void loser_of_a_race_among_pending_signals_stays_pending(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    signal_run(world, "r1", "a", "1");
    signal_run(world, "r1", "b", "2");
    assert_at_once(park(world, claimed, on_signal("a"), on_signal("b")), 0, OUTCOME_OK, "1");
    assert_int_equal(get_signals(world, "r1").count, 1);
    assert_at_once(park(world, claimed, on_signal("b")), 0, OUTCOME_OK, "2");
}

static void waking_gives_up_the_place_in_every_other_line(void **state) {
    World *world = *state;
    park(world, create(world, "r1"), on_event("t"), on_event("u"));
    publish(world, "t", "1");
    assert_woken(world, 0, OUTCOME_OK, "1");
    RunPage waiters;
    assert_ok(store_list_waiters(world->store, &world->arena, &(WaiterFilter){.topic = STR("u")},
                                 &waiters, &world->diag));
    assert_int_equal(waiters.count, 0);
    assert_true(publish(world, "u", "2")->out.publish.is_kept);
}

static void run_waiting_twice_for_a_topic_takes_one_event_once(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    park(world, claimed, on_event("t"), on_event("t"));
    assert_int_equal(publish(world, "t", "1")->out.publish.resumed_count, 1);
    assert_woken(world, 0, OUTCOME_OK, "1");
    claimed = ready_at(world, 0);
    set_topic(world, "u", CONSUME_ALL, VISIBLE_ALL);
    park(world, claimed, on_event("u"), on_event("u"));
    assert_int_equal(publish(world, "u", "2")->out.publish.resumed_count, 1);
    assert_woken(world, 0, OUTCOME_OK, "2");
}

// ---- waiting for each ----

// What a script does with the first may end its wait for the others: a timer that comes second is
// told of, but a signal is left for whoever waits for it then.
static void waiting_for_each_takes_a_signal_only_when_it_came_first(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    signal_run(world, "r1", "b", "1");
    world->now_ms += 10;
    signal_run(world, "r1", "a", "2");
    Op *op = park_each(world, claimed, on_signal("a"), on_signal("b"), on_signal("c"),
                       on_timer(START_MS + 5));
    assert_int_equal(op->out.turn.state, RUN_RUNNING);
    assert_int_equal(op->out.turn.resolved_count, 2);
    assert_int_equal(op->out.turn.resolved[0].slot, 1);
    assert_int_equal(op->out.turn.resolved[1].slot, 3);
    assert_int_equal(get_signals(world, "r1").count, 1);
    op = park_each(world, claimed, on_signal("a"), on_timer(START_MS + 6));
    assert_int_equal(op->out.turn.resolved_count, 1);
    assert_int_equal(op->out.turn.resolved[0].slot, 1);
    assert_int_equal(get_signals(world, "r1").count, 1);
    assert_at_once(park_each(world, claimed, on_signal("a"), on_signal("c")), 0, OUTCOME_OK, "2");
}

static void waiting_for_each_takes_an_event_only_when_it_came_first(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    world->now_ms += 10;
    publish(world, "t", "1");
    Op *op = park_each(world, claimed, on_event("t"), on_timer(START_MS + 5));
    assert_int_equal(op->out.turn.resolved_count, 1);
    assert_int_equal(op->out.turn.resolved[0].slot, 1);
    assert_int_equal(get_events(world, "t").count, 1);
}

static void two_waits_for_one_name_take_two_signals_in_two_turns(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    signal_run(world, "r1", "go", "1");
    signal_run(world, "r1", "go", "2");
    signal_run(world, "r1", "go", "3");
    Op *op = park_each(world, claimed, on_signal("go"), on_signal("go"));
    assert_int_equal(op->out.turn.resolved_count, 1);
    assert_text(op->out.turn.resolved[0].data, "1");
    assert_int_equal(op->out.turn.resolved[0].slot, 0);
    assert_int_equal(get_signals(world, "r1").count, 2);
    assert_at_once(park_each(world, claimed, on_signal("go")), 0, OUTCOME_OK, "2");
    assert_int_equal(get_signals(world, "r1").count, 1);
}

static void waiting_for_each_wakes_with_every_timer_that_is_due(void **state) {
    World *world = *state;
    park_each(world, create(world, "r1"), on_timer(START_MS + 200), on_timer(START_MS + 100),
              on_timer(START_MS + 900), with_deadline(on_signal("go"), START_MS + 150));
    fire_at(world, START_MS + 500);
    const ReadyRun *ready = only_ready(world);
    assert_int_equal(ready->resolved_count, 3);
    assert_int_equal(ready->resolved[0].slot, 1);
    assert_int_equal(ready->resolved[1].slot, 3);
    assert_int_equal(ready->resolved[1].outcome, OUTCOME_TIMEOUT);
    assert_int_equal(ready->resolved[2].slot, 0);
}

// ---- deadlines ----

static void deadline_carries_its_outcome_and_does_not_spin(void **state) {
    World *world = *state;
    WaitItem item = with_deadline(on_signal("go"), START_MS + 100);
    park(world, create(world, "r1"), item);
    assert_int_equal(fire_at(world, START_MS + 200)->out.fire_due.fired_count, 1);
    assert_woken(world, 0, OUTCOME_TIMEOUT, NULL);
    Claimed claimed = ready_at(world, 0);
    assert_int_equal(get_run(world, "r1").due_at_ms, 0);
    assert_int_equal(fire(world)->out.fire_due.fired_count, 0);
    // Parking on the past deadline again is answered, not slept through.
    Op *op = park(world, claimed, item);
    assert_int_equal(op->out.turn.state, RUN_RUNNING);
    assert_at_once(op, 0, OUTCOME_TIMEOUT, NULL);
    assert_int_equal(fire(world)->out.fire_due.fired_count, 0);
}

static void something_there_wins_over_a_deadline_that_passed(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    signal_run(world, "r1", "go", "1");
    world->now_ms = START_MS + 500;
    Op *op = park(world, claimed, with_deadline(on_signal("go"), START_MS + 100));
    assert_at_once(op, 0, OUTCOME_OK, "1");
}

static void late_timer_of_an_old_generation_is_ignored(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    park(world, claimed, on_timer(START_MS + 100), on_signal("go"));
    int64_t generation = get_run(world, "r1").generation;
    signal_run(world, "r1", "go", "1");
    park(world, ready_at(world, 0), on_signal("other"), on_timer(START_MS + 900));
    assert_true(get_run(world, "r1").generation > generation + 1);
    assert_int_equal(fire_at(world, START_MS + 100)->out.fire_due.fired_count, 0);
    assert_state(world, "r1", RUN_SUSPENDED);
    assert_int_equal(fire_at(world, START_MS + 900)->out.fire_due.woken_count, 1);
    assert_woken(world, 1, OUTCOME_OK, NULL);
}

static void timers_fire_once_each_however_often_asked(void **state) {
    World *world = *state;
    park(world, create(world, "r1"), on_timer(START_MS + 100));
    batch_new(world);
    world->batch.now_ms = START_MS + 100;
    Op *first = op_add(world, OP_FIRE_DUE), *second = op_add(world, OP_FIRE_DUE);
    batch_run(world);
    assert_int_equal(first->out.fire_due.woken_count, 1);
    assert_int_equal(second->out.fire_due.woken_count, 0);
    assert_int_equal(world->batch.out.ready_count, 1);
    assert_int_equal(entry_count(world, "r1", LOG_WAIT), 1);
}

static void due_work_is_cut_at_the_limit_and_says_so(void **state) {
    World *world = *state;
    for (int i = 0; i < 10; i++) {
        Str id = arena_printf(&world->arena, "r%d", i);
        park(world, create(world, id.data), on_timer(START_MS + 100 + i));
    }
    world->now_ms = START_MS + 1000;
    int64_t woken = 0;
    for (int round = 0; round < 4; round++) {
        Op *op = op_new(world, OP_FIRE_DUE);
        op->in.fire_due.max = 3;
        op_run(world, op, OK);
        woken += op->out.fire_due.woken_count;
        assert_int_equal(op->out.fire_due.has_more, round < 3);
        assert_true(op->out.fire_due.woken_count <= 3);
    }
    assert_int_equal(woken, 10);
}

// ---- children ----

static Claimed start_child(World *world, Claimed parent, const char *id) {
    RunSpec *spec = ARENA_NEW(&world->arena, RunSpec);
    *spec = spec_of(id);
    Op *op = turn(world, parent, NEXT_SUSPEND);
    op->in.turn.children = spec;
    op->in.turn.child_count = 1;
    set_waits(world, op, WAIT_FIRST, (WaitItem[]){on_child(id)}, 1);
    op_run(world, op, OK);
    return ready_of(world, op->out.turn.child_keys[0]);
}

static void child_that_completes_wakes_its_parent_with_the_result(void **state) {
    World *world = *state;
    Claimed parent = create(world, "parent");
    Claimed child = start_child(world, parent, "child");
    assert_state(world, "parent", RUN_SUSPENDED);
    finish(world, child, NEXT_COMPLETE, "{\"n\":1}");
    assert_int_equal(only_ready(world)->run, parent.run);
    assert_woken(world, 0, OUTCOME_OK, "{\"n\":1}");
}

static void child_that_fails_is_an_error_for_its_parent(void **state) {
    World *world = *state;
    Claimed child = start_child(world, create(world, "parent"), "child");
    finish(world, child, NEXT_FAIL, "{\"type\":\"CardError\"}");
    assert_woken(world, 0, OUTCOME_ERROR, "{\"type\":\"CardError\"}");
}

static void child_that_is_cancelled_is_an_error_for_its_parent(void **state) {
    World *world = *state;
    start_child(world, create(world, "parent"), "child");
    cancel_run(world, "child", 0);
    const ReadyRun *ready = only_ready(world);
    assert_int_equal(ready->resolved[0].outcome, OUTCOME_ERROR);
    assert_non_null(
        memmem(ready->resolved[0].data.data, ready->resolved[0].data.len, "CancelledError", 14));
}

static void child_that_ended_before_the_wait_resolves_it_at_once(void **state) {
    World *world = *state;
    Claimed parent = create(world, "parent");
    RunSpec spec = spec_of("child");
    Op *op = turn(world, parent, NEXT_CONTINUE);
    op->in.turn.children = &spec;
    op->in.turn.child_count = 1;
    op_run(world, op, OK);
    finish(world, ready_at(world, 0), NEXT_COMPLETE, "1");
    assert_state(world, "parent", RUN_RUNNING);
    assert_at_once(park(world, parent, on_child("child")), 0, OUTCOME_OK, "1");
}

static void child_that_was_purged_does_not_hang_its_parent(void **state) {
    World *world = *state;
    Claimed parent = create(world, "parent");
    RunSpec spec = spec_of("child");
    Op *op = turn(world, parent, NEXT_CONTINUE);
    op->in.turn.children = &spec;
    op->in.turn.child_count = 1;
    op_run(world, op, OK);
    int64_t key = op->out.turn.child_keys[0];
    finish(world, ready_at(world, 0), NEXT_COMPLETE, "1");
    op = op_new(world, OP_PURGE_RUN);
    op->in.purge.run_id = STR("child");
    op_run(world, op, OK);
    WaitItem item = on_child("child");
    item.target = key;
    op = park(world, parent, item);
    assert_int_equal(op->out.turn.resolved_count, 1);
    assert_int_equal(op->out.turn.resolved[0].outcome, OUTCOME_ERROR);
}

static void child_nobody_waits_for_wakes_nobody(void **state) {
    World *world = *state;
    Claimed parent = create(world, "parent");
    RunSpec spec = spec_of("child");
    spec.parent_position = -1;
    Op *op = turn(world, parent, NEXT_SUSPEND);
    op->in.turn.children = &spec;
    op->in.turn.child_count = 1;
    set_waits(world, op, WAIT_FIRST, (WaitItem[]){on_signal("go")}, 1);
    op_run(world, op, OK);
    finish(world, ready_at(world, 0), NEXT_COMPLETE, "1");
    assert_int_equal(world->batch.out.ready_count, 0);
    assert_state(world, "parent", RUN_SUSPENDED);
}

// ---- the rest of parking ----

static void waiting_for_the_outside_world_is_idle_and_backing_off_is_not(void **state) {
    World *world = *state;
    park(world, create(world, "signal"), on_signal("go"));
    park(world, create(world, "event"), on_event("t"));
    park(world, create(world, "retry"), on_signal("go"), on_retry(START_MS + 100));
    park(world, create(world, "timer"), on_timer(START_MS + 100));
    assert_int_equal(get_run(world, "signal").idle_since_ms, START_MS);
    assert_int_equal(get_run(world, "event").idle_since_ms, START_MS);
    assert_int_equal(get_run(world, "retry").idle_since_ms, 0);
    assert_int_equal(get_run(world, "timer").idle_since_ms, 0);
    signal_run(world, "signal", "go", "1");
    assert_int_equal(get_run(world, "signal").idle_since_ms, 0);
}

static void snapshot_is_kept_with_the_wait_and_news_come_with_the_load(void **state) {
    World *world = *state;
    RunSpec spec = spec_of("r1");
    spec.kind = RUN_FLOW;
    Op *op = turn(world, create_from(world, &spec), NEXT_SUSPEND);
    op->in.turn.snapshot = STR("snap\0shot\xff");
    set_waits(world, op, WAIT_FIRST, (WaitItem[]){on_signal("go")}, 1);
    op_run(world, op, OK);
    signal_run(world, "r1", "go", "1");
    RunLoad load = get_load(world, "r1");
    assert_int_equal(load.run.snapshot.len, 10);
    assert_memory_equal(load.run.snapshot.data, "snap\0shot\xff", 10);
    assert_int_equal(load.log_count, 1);
    assert_text(load.log[0].data, "1");
    // Once a later snapshot has seen it, it is no news any more.
    op = turn(world, ready_at(world, 0), NEXT_SUSPEND);
    op->in.turn.snapshot = STR("later");
    set_waits(world, op, WAIT_FIRST, (WaitItem[]){on_signal("go")}, 1);
    op_run(world, op, OK);
    assert_int_equal(get_load(world, "r1").log_count, 0);
}

static void wait_remembers_since_when(void **state) {
    World *world = *state;
    WaitItem item = on_signal("go");
    item.since_ms = START_MS - 777;
    park(world, create(world, "r1"), item, on_signal("new"));
    WaitSet set;
    assert_ok(wait_set_decode(&world->arena, get_run(world, "r1").waits, &set));
    assert_int_equal(set.count, 2);
    assert_int_equal(set.items[0].since_ms, START_MS - 777);
    assert_int_equal(set.items[1].since_ms, START_MS);
}

static void wait_for_nothing_or_for_nonsense_is_refused(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    Str before = world_dump(world);
    Op *op = turn(world, claimed, NEXT_SUSPEND);
    op_run(world, op, ERR_INVALID);
    const WaitItem bad[] = {{.kind = 0},
                            {.kind = WAIT_KIND_COUNT},
                            {.kind = WAIT_TIMER},
                            {.kind = WAIT_SIGNAL},
                            {.kind = WAIT_EVENT},
                            {.kind = WAIT_TASK, .name = STR("no task")},
                            {.kind = WAIT_SIGNAL, .name = STR("x"), .deadline_at_ms = -1}};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        op = turn(world, claimed, NEXT_SUSPEND);
        set_waits(world, op, WAIT_FIRST, &bad[i], 1);
        op_run(world, op, ERR_INVALID);
    }
    op = turn(world, claimed, NEXT_SUSPEND);
    set_waits(world, op, (WaitMode)3, (WaitItem[]){on_signal("go")}, 1);
    op_run(world, op, ERR_INVALID);
    assert_unchanged(world, before);
}

int contract_waits(void) {
    const struct CMUnitTest tests[] = {
        CASE(event_sent_before_the_wait_is_taken_when_the_run_parks),
        CASE(signal_sent_before_the_wait_is_taken_in_order),
        CASE(signal_before_the_start_is_kept_for_the_run),
        CASE(accepted_event_is_durable),
        CASE(event_after_a_crash_resolves_the_wait_that_was_open),
        CASE(event_taken_just_before_a_crash_is_not_taken_again),
        CASE(event_while_the_node_is_down_waits_for_the_same_wait),
        CASE(broadcast_reaches_every_waiter_with_the_same_payload),
        CASE(single_delivery_goes_to_the_longest_waiting),
        CASE(filter_passes_over_waiters_that_want_something_else),
        CASE(filter_is_applied_to_pending_events_when_parking),
        CASE(signal_of_another_name_does_not_wake),
        CASE(signal_for_another_run_does_not_wake),
        CASE(race_by_time_not_by_index),
        CASE(race_of_the_same_millisecond_goes_by_arrival),
        CASE(race_between_a_past_timer_and_an_event_goes_by_time),
        CASE(race_of_due_timers_is_won_by_the_earliest),
        CASE(race_of_ended_children_goes_by_the_time_they_ended),
        CASE(lost_race_swallows_nothing),
        CASE(loser_of_a_race_among_pending_signals_stays_pending),
        CASE(waking_gives_up_the_place_in_every_other_line),
        CASE(run_waiting_twice_for_a_topic_takes_one_event_once),
        CASE(waiting_for_each_takes_a_signal_only_when_it_came_first),
        CASE(waiting_for_each_takes_an_event_only_when_it_came_first),
        CASE(two_waits_for_one_name_take_two_signals_in_two_turns),
        CASE(waiting_for_each_wakes_with_every_timer_that_is_due),
        CASE(deadline_carries_its_outcome_and_does_not_spin),
        CASE(something_there_wins_over_a_deadline_that_passed),
        CASE(late_timer_of_an_old_generation_is_ignored),
        CASE(timers_fire_once_each_however_often_asked),
        CASE(due_work_is_cut_at_the_limit_and_says_so),
        CASE(child_that_completes_wakes_its_parent_with_the_result),
        CASE(child_that_fails_is_an_error_for_its_parent),
        CASE(child_that_is_cancelled_is_an_error_for_its_parent),
        CASE(child_that_ended_before_the_wait_resolves_it_at_once),
        CASE(child_that_was_purged_does_not_hang_its_parent),
        CASE(child_nobody_waits_for_wakes_nobody),
        CASE(waiting_for_the_outside_world_is_idle_and_backing_off_is_not),
        CASE(snapshot_is_kept_with_the_wait_and_news_come_with_the_load),
        CASE(wait_remembers_since_when),
        CASE(wait_for_nothing_or_for_nonsense_is_refused),
    };
    return run_group("waits", tests);
}

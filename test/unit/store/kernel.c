// The store kernel through store_open: one behaviour per test, on the store that the test was
// started for. After each test the whole store is verified against its invariants (world.h).
//
// Not here: limits, participants and long histories (unit/store/edges.c), random traces
// (unit/store/random.c).
#include "unit/store/world.h"

// ---- starting ----

static void new_run_is_claimed_by_the_node_that_started_it(void **state) {
    World *world = *state;
    Claimed claim = create(world, "r1");
    RunRow run = get_run(world, "r1");
    assert_int_equal(run.key, claim.run);
    assert_int_equal(run.state, RUN_RUNNING);
    assert_int_equal(run.owner, world->node);
    assert_int_equal(run.epoch, claim.epoch);
    assert_int_equal(get_counter(world, COUNTER_RUNS_FIRST + RUN_RUNNING), 1);
    RunLoad load;
    assert_int_equal(
        store_load_run(world->store, &world->arena, get_run(world, "r1").key, &load, &world->diag),
        OK);
    assert_str(load.input, "{\"a\":1}");
}

static void runs_past_the_claim_limit_stay_ready_and_unowned(void **state) {
    World *world = *state;
    world->claim_max = 1;
    begin(world);
    create_op(world, "a");
    create_op(world, "b");
    commit(world);
    assert_int_equal(world->batch.out.ready_count, 1);
    assert_int_equal(world->batch.out.unclaimed_count, 1);
    Op *op = start(world, OP_CLAIM);
    op->in.claim.max = 10;
    finish(world, op, OK);
    assert_int_equal(op->out.claim.count, 1);
    assert_int_equal(get_run(world, "b").owner, world->node);
}

static void second_start_with_the_same_id_answers_the_first(void **state) {
    World *world = *state;
    Claimed claim = create(world, "r1");
    begin(world);
    Op *op = create_op(world, "r1");
    op->in.create_run.spec.input = STR("other");
    finish(world, op, OK);
    assert_false(op->out.create_run.is_new);
    assert_int_equal(op->out.create_run.key, claim.run);
    assert_int_equal(op->out.create_run.state, RUN_RUNNING);
    assert_int_equal(world->batch.out.ready_count, 0);
    assert_int_equal(get_counter(world, COUNTER_STARTED_TOTAL), 1);
}

static void idempotency_key_answers_same_content_and_refuses_other(void **state) {
    World *world = *state;
    begin(world);
    Op *first = create_op(world, "a");
    first->in.create_run.spec.dedupe_key = STR("key");
    Op *same = create_op(world, "b");
    same->in.create_run.spec.dedupe_key = STR("key");
    Op *other = create_op(world, "c");
    other->in.create_run.spec.dedupe_key = STR("key");
    other->in.create_run.spec.input = STR("2");
    commit(world);
    assert_true(first->out.create_run.is_new);
    assert_int_equal(same->out.status, OK);
    assert_false(same->out.create_run.is_new);
    assert_str(same->out.create_run.id, "a");
    assert_int_equal(other->out.status, ERR_CONFLICT);
    assert_string_equal(other->out.diag.code, "DUPLICATE_KEY");
}

static void delayed_run_starts_when_due_and_not_before(void **state) {
    World *world = *state;
    begin(world);
    Op *op = create_op(world, "r1");
    op->in.create_run.spec.start_at_ms = START_MS + 5000;
    finish(world, op, OK);
    assert_int_equal(op->out.create_run.state, RUN_PENDING);
    assert_int_equal(world->batch.out.earliest_due_ms, START_MS + 5000);
    world->now_ms = START_MS + 4999;
    assert_int_equal(fire(world)->out.fire_due.started_count, 0);
    world->now_ms = START_MS + 5000;
    assert_int_equal(fire(world)->out.fire_due.started_count, 1);
    assert_int_equal(world->batch.out.ready_count, 1);
    assert_int_equal(get_run(world, "r1").state, RUN_RUNNING);
}

static void bad_specs_change_nothing(void **state) {
    World *world = *state;
    begin(world);
    Op *empty = create_op(world, "");
    Op *large = create_op(world, "r2");
    large->in.create_run.spec.input =
        (Str){arena_zalloc(&world->arena, LIMIT_PAYLOAD_SIZE + 1), LIMIT_PAYLOAD_SIZE + 1};
    Op *priority = create_op(world, "r3");
    priority->in.create_run.spec.priority = PRIORITY_MAX + 1;
    commit(world);
    assert_int_equal(empty->out.status, ERR_INVALID);
    assert_int_equal(large->out.status, ERR_LIMIT);
    assert_int_equal(priority->out.status, ERR_INVALID);
    assert_int_equal(get_counter(world, COUNTER_STARTED_TOTAL), 0);
}

// ---- turns ----

static void checkpoint_is_logged_and_the_run_stays_claimed(void **state) {
    World *world = *state;
    Claimed claim = create(world, "r1");
    Op *op = step(world, claim, "charge", 0);
    assert_int_equal(op->out.turn.state, RUN_RUNNING);
    assert_int_equal(op->out.turn.last_seq, 2);
    op = step(world, claim, "ship", 1);
    assert_int_equal(op->out.turn.last_seq, 3);
    RunLoad load;
    assert_int_equal(
        store_load_run(world->store, &world->arena, get_run(world, "r1").key, &load, &world->diag),
        OK);
    assert_int_equal(load.log_count, 2);
    assert_str(load.log[0].name, "charge");
    assert_str(load.log[1].name, "ship");
}

static void stale_epoch_changes_nothing(void **state) {
    World *world = *state;
    Claimed claim = create(world, "r1");
    claim.epoch--;
    Op *op = turn(world, claim, NEXT_COMPLETE);
    finish(world, op, ERR_FENCED);
    assert_int_equal(get_run(world, "r1").state, RUN_RUNNING);
    assert_int_equal(get_log(world, "r1").count, 1);
}

static void other_node_cannot_commit_a_turn(void **state) {
    World *world = *state;
    Claimed claim = create(world, "r1");
    world->node = join(world, "node-2", MINUTE_MS);
    Op *op = turn(world, claim, NEXT_COMPLETE);
    finish(world, op, ERR_FENCED);
}

static void completed_run_keeps_its_result_and_is_final(void **state) {
    World *world = *state;
    Claimed claim = create(world, "r1");
    end(world, claim, NEXT_COMPLETE, "null");
    assert_int_equal(world->batch.out.ended_count, 1);
    assert_int_equal(world->batch.out.ended[0].state, RUN_COMPLETED);
    RunResult result;
    assert_int_equal(
        store_find_result(world->store, &world->arena, run_of_id(STR("r1")), &result, &world->diag),
        OK);
    assert_str(result.json, "null");
    Op *op = turn(world, claim, NEXT_FAIL);
    finish(world, op, ERR_TERMINAL);
    assert_false(cancel(world, "r1", 0)->out.cancel.is_changed);
    assert_int_equal(get_run(world, "r1").state, RUN_COMPLETED);
    assert_int_equal(get_counter(world, COUNTER_COMPLETED_TOTAL), 1);
}

static void absent_result_differs_from_null(void **state) {
    World *world = *state;
    Claimed claim = create(world, "r1");
    Op *op = turn(world, claim, NEXT_COMPLETE);
    finish(world, op, OK);
    RunResult result;
    assert_int_equal(
        store_find_result(world->store, &world->arena, run_of_id(STR("r1")), &result, &world->diag),
        OK);
    assert_true(str_is_null(result.json));
}

static void continue_as_drops_checkpoints_and_keeps_signals(void **state) {
    World *world = *state;
    Claimed claim = create(world, "r1");
    step(world, claim, "a", 0);
    signal_run(world, "r1", "go", "1", OK);
    Op *op = turn(world, claim, NEXT_CONTINUE_AS);
    op->in.turn.result = STR("{\"n\":2}");
    finish(world, op, OK);
    assert_int_equal(op->out.turn.state, RUN_RUNNING);
    RunLoad load;
    assert_int_equal(
        store_load_run(world->store, &world->arena, get_run(world, "r1").key, &load, &world->diag),
        OK);
    assert_int_equal(load.log_count, 0);
    assert_int_equal(load.run.incarnation, 1);
    assert_int_equal(
        store_load_run(world->store, &world->arena, get_run(world, "r1").key, &load, &world->diag),
        OK);
    assert_str(load.input, "{\"n\":2}");
    op = park(world, claim, on_signal("go"));
    assert_int_equal(op->out.turn.resolved_count, 1);
}

static void refused_operation_leaves_others_of_its_batch_alone(void **state) {
    World *world = *state;
    Claimed claim = create(world, "r1");
    begin(world);
    Op *good = create_op(world, "r2");
    Claimed stale = {claim.run, claim.epoch + 5};
    Op *bad = turn_op(world, stale, NEXT_COMPLETE);
    Op *also_good = create_op(world, "r3");
    commit(world);
    assert_int_equal(good->out.status, OK);
    assert_int_equal(bad->out.status, ERR_FENCED);
    assert_int_equal(also_good->out.status, OK);
}

// ---- signals ----

static void signal_wakes_a_parked_run_with_its_payload(void **state) {
    World *world = *state;
    Claimed claim = create(world, "r1");
    Op *op = park(world, claim, on_signal("go"));
    assert_int_equal(op->out.turn.state, RUN_SUSPENDED);
    op = signal_run(world, "r1", "go", "{\"ok\":true}", OK);
    assert_true(op->out.signal.is_delivered);
    assert_int_equal(world->batch.out.ready_count, 1);
    ReadyRun *ready = &world->batch.out.ready[0];
    assert_int_equal(ready->resolved_count, 1);
    assert_int_equal(ready->resolved[0].outcome, OUTCOME_OK);
    assert_int_equal(ready->resolved[0].position, 7);
    assert_str(ready->resolved[0].data, "{\"ok\":true}");
    assert_true(ready->claim.epoch > claim.epoch);
}

static void signal_before_the_wait_is_kept_and_taken_in_order(void **state) {
    World *world = *state;
    Claimed claim = create(world, "r1");
    signal_run(world, "r1", "other", "0", OK);
    signal_run(world, "r1", "go", "1", OK);
    signal_run(world, "r1", "go", "2", OK);
    assert_int_equal(get_counter(world, COUNTER_SIGNALS), 3);
    Op *op = park(world, claim, on_signal("go"));
    assert_int_equal(op->out.turn.state, RUN_RUNNING);
    assert_str(op->out.turn.resolved[0].data, "1");
    op = park(world, claim, on_signal("go"));
    assert_str(op->out.turn.resolved[0].data, "2");
    op = park(world, claim, on_signal("go"));
    assert_int_equal(op->out.turn.state, RUN_SUSPENDED);
    assert_int_equal(get_counter(world, COUNTER_SIGNALS), 1);
}

static void signal_of_another_name_does_not_wake(void **state) {
    World *world = *state;
    Claimed claim = create(world, "r1");
    park(world, claim, on_signal("go"));
    Op *op = signal_run(world, "r1", "stop", "1", OK);
    assert_false(op->out.signal.is_delivered);
    assert_int_equal(get_run(world, "r1").state, RUN_SUSPENDED);
}

static void signals_to_missing_and_ended_runs_are_refused(void **state) {
    World *world = *state;
    Op *op = signal_run(world, "nobody", "go", "1", ERR_NOT_FOUND);
    assert_string_equal(op->out.diag.code, "RUN_NOT_FOUND");
    Claimed claim = create(world, "r1");
    end(world, claim, NEXT_COMPLETE, "1");
    op = signal_run(world, "r1", "go", "1", ERR_TERMINAL);
    assert_string_equal(op->out.diag.code, "RUN_TERMINAL");
}

static void repeated_signal_id_is_taken_once(void **state) {
    World *world = *state;
    create(world, "r1");
    for (int i = 0; i < 2; i++) {
        Op *op = start(world, OP_SIGNAL);
        op->in.signal.run_id = STR("r1");
        op->in.signal.name = STR("go");
        op->in.signal.id = STR("s-1");
        op->in.signal.is_deduplicated = true;
        op->in.signal.payload = STR("1");
        finish(world, op, OK);
        assert_int_equal(op->out.signal.is_duplicate, i == 1);
    }
    assert_int_equal(get_counter(world, COUNTER_SIGNALS), 1);
}

static void unread_signals_become_dead_letters_and_can_be_replayed(void **state) {
    World *world = *state;
    begin(world);
    Op *op = create_op(world, "r1");
    op->in.create_run.spec.leftover_policy = LEFTOVER_TO_TOPIC;
    op->in.create_run.spec.leftover_topic = STR("lost");
    Op *other = create_op(world, "r2");
    other->in.create_run.spec.leftover_policy = LEFTOVER_DEAD_LETTER;
    commit(world);
    Claimed first = ready_at(world, 0), second = ready_at(world, 1);
    signal_run(world, "r1", "go", "1", OK);
    signal_run(world, "r2", "go", "2", OK);
    end(world, first, NEXT_COMPLETE, "1");
    end(world, second, NEXT_COMPLETE, "1");
    assert_int_equal(get_counter(world, COUNTER_SIGNALS), 0);
    assert_int_equal(get_counter(world, COUNTER_EVENTS), 1);
    DeadLetterPage letters;
    assert_int_equal(store_list_dead_letters(world->store, &world->arena, &(PageSpec){0}, &letters,
                                             &world->diag),
                     OK);
    assert_int_equal(letters.count, 1);
    assert_str(letters.rows[0].run_id, "r2");
    assert_str(letters.rows[0].reason, "run ended");
    op = start(world, OP_REPLAY_DEAD_LETTER);
    op->in.dead_letter.key = letters.rows[0].key;
    finish(world, op, ERR_TERMINAL);
    assert_int_equal(get_counter(world, COUNTER_DEAD_LETTERS), 1);
    op = start(world, OP_REMOVE_DEAD_LETTER);
    op->in.dead_letter.key = letters.rows[0].key;
    finish(world, op, OK);
    assert_int_equal(get_counter(world, COUNTER_DEAD_LETTERS), 0);
}

// ---- events ----

static void event_goes_to_the_oldest_waiter_only(void **state) {
    World *world = *state;
    Claimed a = create(world, "a"), b = create(world, "b");
    park(world, a, on_event("paid"));
    park(world, b, on_event("paid"));
    Op *op = publish(world, "paid", "1");
    assert_int_equal(op->out.publish.resumed_count, 1);
    assert_false(op->out.publish.is_kept);
    assert_int_equal(get_run(world, "a").state, RUN_RUNNING);
    assert_int_equal(get_run(world, "b").state, RUN_SUSPENDED);
    op = publish(world, "paid", "2");
    assert_int_equal(op->out.publish.resumed_count, 1);
    assert_int_equal(get_run(world, "b").state, RUN_RUNNING);
}

static void event_before_the_wait_is_kept_and_taken_once(void **state) {
    World *world = *state;
    Claimed a = create(world, "a"), b = create(world, "b");
    assert_true(publish(world, "paid", "1")->out.publish.is_kept);
    Op *op = park(world, a, on_event("paid"));
    assert_int_equal(op->out.turn.resolved_count, 1);
    assert_str(op->out.turn.resolved[0].data, "1");
    op = park(world, b, on_event("paid"));
    assert_int_equal(op->out.turn.state, RUN_SUSPENDED);
    assert_int_equal(get_counter(world, COUNTER_EVENTS), 0);
}

static void fan_out_reaches_every_waiter_and_later_ones_once(void **state) {
    World *world = *state;
    set_topic(world, "news", CONSUME_ALL, VISIBLE_ALL);
    Claimed a = create(world, "a"), b = create(world, "b"), c = create(world, "c");
    park(world, a, on_event("news"));
    park(world, b, on_event("news"));
    Op *op = publish(world, "news", "1");
    assert_int_equal(op->out.publish.resumed_count, 2);
    assert_true(op->out.publish.is_kept);
    assert_int_equal(park(world, c, on_event("news"))->out.turn.resolved_count, 1);
    a = (Claimed){a.run, get_run(world, "a").epoch};
    assert_int_equal(park(world, a, on_event("news"))->out.turn.resolved_count, 0);
}

static void filter_that_does_not_match_passes_the_waiter_over(void **state) {
    World *world = *state;
    Claimed a = create(world, "a"), b = create(world, "b");
    WaitItem picky = on_event("paid");
    picky.filter = STR("eur");
    park(world, a, picky);
    park(world, b, on_event("paid"));
    publish(world, "paid", "{\"c\":\"usd\"}");
    assert_int_equal(get_run(world, "a").state, RUN_SUSPENDED);
    assert_int_equal(get_run(world, "b").state, RUN_RUNNING);
    publish(world, "paid", "{\"c\":\"usd\"}");
    assert_int_equal(get_counter(world, COUNTER_EVENTS), 1);
    publish(world, "paid", "{\"c\":\"eur\"}");
    assert_int_equal(get_run(world, "a").state, RUN_RUNNING);
}

static void visibility_after_create_hides_older_events(void **state) {
    World *world = *state;
    set_topic(world, "t", CONSUME_ONE, VISIBLE_AFTER_CREATE);
    publish(world, "t", "old");
    Claimed a = create(world, "a");
    assert_int_equal(park(world, a, on_event("t"))->out.turn.state, RUN_SUSPENDED);
    Op *op = publish(world, "t", "new");
    assert_int_equal(op->out.publish.resumed_count, 1);
    assert_str(world->batch.out.ready[0].resolved[0].data, "new");
}

static void visibility_after_wait_keeps_nothing(void **state) {
    World *world = *state;
    set_topic(world, "t", CONSUME_ONE, VISIBLE_AFTER_WAIT);
    Op *op = publish(world, "t", "1");
    assert_false(op->out.publish.is_kept);
    assert_int_equal(get_counter(world, COUNTER_EVENTS), 0);
}

static void full_topic_refuses_and_repeated_ids_are_recognised(void **state) {
    World *world = *state;
    Op *op = start(world, OP_SET_TOPIC);
    op->in.set_topic.row = (TopicRow){.name = STR("t"), .cap = 1};
    finish(world, op, OK);
    for (int i = 0; i < 2; i++) {
        op = start(world, OP_PUBLISH);
        op->in.publish.event = (EventSpec){
            .topic = STR("t"), .id = STR("e-1"), .is_deduplicated = true, .payload = STR("1")};
        finish(world, op, OK);
        assert_int_equal(op->out.publish.is_duplicate, i == 1);
    }
    op = start(world, OP_PUBLISH);
    op->in.publish.event = (EventSpec){.topic = STR("t"), .id = STR("e-2"), .payload = STR("1")};
    finish(world, op, ERR_LIMIT);
    assert_string_equal(op->out.diag.code, "TOPIC_FULL");
}

static void expired_events_are_not_delivered_and_are_removed(void **state) {
    World *world = *state;
    Op *op = start(world, OP_SET_TOPIC);
    op->in.set_topic.row = (TopicRow){.name = STR("t"), .expire_ms = 1000};
    finish(world, op, OK);
    publish(world, "t", "1");
    world->now_ms += 1000;
    Claimed a = create(world, "a");
    assert_int_equal(park(world, a, on_event("t"))->out.turn.state, RUN_SUSPENDED);
    assert_int_equal(get_counter(world, COUNTER_EVENTS), 1);
    fire(world);
    assert_int_equal(get_counter(world, COUNTER_EVENTS), 0);
}

// ---- timers and races ----

static void timer_fires_at_its_time_once(void **state) {
    World *world = *state;
    Claimed claim = create(world, "r1");
    park(world, claim, on_timer(START_MS + 100));
    assert_int_equal(world->batch.out.earliest_due_ms, START_MS + 100);
    world->now_ms += 99;
    assert_int_equal(fire(world)->out.fire_due.woken_count, 0);
    world->now_ms++;
    Op *op = fire(world);
    assert_int_equal(op->out.fire_due.woken_count, 1);
    assert_false(op->out.fire_due.has_more);
    assert_int_equal(world->batch.out.ready[0].resolved[0].outcome, OUTCOME_OK);
    assert_int_equal(fire(world)->out.fire_due.fired_count, 0);
}

static void wait_past_its_deadline_times_out(void **state) {
    World *world = *state;
    Claimed claim = create(world, "r1");
    WaitItem item = on_event("paid");
    item.deadline_at_ms = START_MS + 100;
    park(world, claim, item);
    world->now_ms += 100;
    fire(world);
    assert_int_equal(world->batch.out.ready[0].resolved[0].outcome, OUTCOME_TIMEOUT);
    assert_true(publish(world, "paid", "1")->out.publish.is_kept);
}

static void race_is_won_by_what_settled_first_in_time(void **state) {
    World *world = *state;
    Claimed claim = create(world, "r1");
    publish(world, "late", "2");
    world->now_ms += 10;
    signal_run(world, "r1", "later", "3", OK);
    Op *op = turn(world, claim, NEXT_SUSPEND);
    WaitItem items[] = {on_signal("later"), on_event("late"), on_timer(START_MS - 5)};
    set_waits(world, op, WAIT_FIRST, items, 3);
    finish(world, op, OK);
    assert_int_equal(op->out.turn.resolved_count, 1);
    assert_int_equal(op->out.turn.resolved[0].slot, 2);
    op = turn(world, claim, NEXT_SUSPEND);
    set_waits(world, op, WAIT_FIRST, items, 2);
    finish(world, op, OK);
    assert_int_equal(op->out.turn.resolved[0].slot, 1);
    assert_int_equal(get_counter(world, COUNTER_SIGNALS), 1); // the loser was not consumed
}

static void waiting_for_each_delivers_in_order_of_time_and_one_signal_at_most(void **state) {
    World *world = *state;
    Claimed claim = create(world, "r1");
    signal_run(world, "r1", "s", "1", OK);
    world->now_ms += 10;
    signal_run(world, "r1", "s", "2", OK);
    Op *op = turn(world, claim, NEXT_SUSPEND);
    WaitItem items[] = {on_timer(START_MS + 5), on_signal("s"), on_signal("s"), on_event("x")};
    set_waits(world, op, WAIT_EACH, items, 4);
    finish(world, op, OK);
    assert_int_equal(op->out.turn.resolved_count, 2);
    assert_int_equal(op->out.turn.resolved[0].slot, 1);
    assert_str(op->out.turn.resolved[0].data, "1");
    assert_int_equal(op->out.turn.resolved[1].slot, 0);
    assert_int_equal(op->out.turn.state, RUN_RUNNING);
    assert_int_equal(get_counter(world, COUNTER_SIGNALS), 1); // the second is left
}

static void overall_deadline_fails_running_and_parked_runs(void **state) {
    World *world = *state;
    begin(world);
    create_op(world, "a")->in.create_run.spec.timeout_ms = 1000;
    create_op(world, "b")->in.create_run.spec.timeout_ms = 1000;
    commit(world);
    Claimed a = ready_at(world, 0), b = ready_at(world, 1);
    park(world, b, on_signal("go"));
    world->now_ms += 1000;
    assert_int_equal(fire(world)->out.fire_due.ended_count, 2);
    assert_int_equal(get_run(world, "a").state, RUN_FAILED);
    assert_int_equal(get_run(world, "b").state, RUN_FAILED);
    Op *op = turn(world, a, NEXT_COMPLETE);
    finish(world, op, ERR_TERMINAL);
}

// ---- children ----

static RunSpec *child_spec(World *world, const char *id, ClosePolicy policy) {
    RunSpec *spec = ARENA_NEW(&world->arena, RunSpec);
    *spec = (RunSpec){.id = str_from(id),
                      .workflow = STR("child"),
                      .kind = RUN_NATIVE,
                      .keep_ms = -1,
                      .close_policy = policy};
    return spec;
}

// Starts a child and parks on it; answers the child's claim.
static Claimed park_on_child(World *world, Claimed parent, const char *id, ClosePolicy policy) {
    Op *op = turn(world, parent, NEXT_SUSPEND);
    op->in.turn.children = child_spec(world, id, policy);
    op->in.turn.child_count = 1;
    WaitItem item = {.kind = WAIT_CHILD, .position = 3, .name = str_from(id)};
    set_waits(world, op, WAIT_FIRST, &item, 1);
    finish(world, op, OK);
    assert_int_equal(op->out.turn.state, RUN_SUSPENDED);
    return ready_at(world, 0);
}

static void parent_is_woken_with_the_childs_result(void **state) {
    World *world = *state;
    Claimed parent = create(world, "p");
    Claimed child = park_on_child(world, parent, "c", CLOSE_ABANDON);
    end(world, child, NEXT_COMPLETE, "42");
    assert_int_equal(world->batch.out.ready_count, 1);
    assert_int_equal(world->batch.out.ready[0].run, parent.run);
    assert_int_equal(world->batch.out.ready[0].resolved[0].outcome, OUTCOME_OK);
    assert_str(world->batch.out.ready[0].resolved[0].data, "42");
}

static void failed_and_cancelled_children_are_errors(void **state) {
    World *world = *state;
    Claimed parent = create(world, "p");
    Claimed child = park_on_child(world, parent, "c", CLOSE_ABANDON);
    end(world, child, NEXT_FAIL, "{\"type\":\"E\"}");
    assert_int_equal(world->batch.out.ready[0].resolved[0].outcome, OUTCOME_ERROR);
    assert_str(world->batch.out.ready[0].resolved[0].data, "{\"type\":\"E\"}");
    parent = ready_at(world, 0);
    park_on_child(world, parent, "c2", CLOSE_ABANDON);
    cancel(world, "c2", 0);
    assert_int_equal(world->batch.out.ready[0].resolved[0].outcome, OUTCOME_ERROR);
}

static void repeated_turn_starts_no_second_child(void **state) {
    World *world = *state;
    Claimed parent = create(world, "p");
    int64_t keys[2];
    for (int i = 0; i < 2; i++) {
        Op *op = turn(world, parent, NEXT_CONTINUE);
        op->in.turn.children = child_spec(world, "c", CLOSE_ABANDON);
        op->in.turn.child_count = 1;
        finish(world, op, OK);
        keys[i] = op->out.turn.child_keys[0];
    }
    assert_int_equal(keys[0], keys[1]);
    RunPage page;
    assert_int_equal(store_list_runs(world->store, &world->arena,
                                     &(RunFilter){.parent_id = STR("p")}, &page, &world->diag),
                     OK);
    assert_int_equal(page.count, 1);
}

static void ending_parent_cancels_children_that_ask_for_it(void **state) {
    World *world = *state;
    Claimed parent = create(world, "p");
    Op *op = turn(world, parent, NEXT_CONTINUE);
    RunSpec *specs = ARENA_ARRAY(&world->arena, RunSpec, 3);
    specs[0] = *child_spec(world, "stays", CLOSE_ABANDON);
    specs[1] = *child_spec(world, "goes", CLOSE_CANCEL);
    specs[2] = *child_spec(world, "pending", CLOSE_CANCEL);
    specs[2].start_at_ms = START_MS + 10;
    op->in.turn.children = specs;
    op->in.turn.child_count = 3;
    finish(world, op, OK);
    end(world, parent, NEXT_COMPLETE, "1");
    assert_int_equal(get_run(world, "stays").cancel_at_ms, 0);
    assert_int_equal(get_run(world, "goes").state, RUN_RUNNING);
    assert_true(get_run(world, "goes").cancel_at_ms != 0);
    assert_int_equal(get_run(world, "pending").state, RUN_CANCELLED);
    world->now_ms += 10000;
    fire(world);
    assert_int_equal(get_run(world, "goes").state, RUN_CANCELLED);
}

// ---- cancel, pause, resume ----

static void cancel_reaches_a_parked_run_at_its_wait(void **state) {
    World *world = *state;
    Claimed claim = create(world, "r1");
    park(world, claim, on_event("paid"));
    assert_true(cancel(world, "r1", 1000)->out.cancel.is_changed);
    assert_int_equal(world->batch.out.ready[0].resolved[0].outcome, OUTCOME_CANCELLED);
    assert_true(world->batch.out.ready[0].claim.is_cancel_wanted);
    claim = ready_at(world, 0);
    assert_int_equal(park(world, claim, on_timer(START_MS + 500))->out.turn.state, RUN_SUSPENDED);
    world->now_ms += 500;
    fire(world);
    claim = ready_at(world, 0);
    end(world, claim, NEXT_COMPLETE, "1");
    assert_int_equal(get_run(world, "r1").state, RUN_CANCELLED);
    assert_int_equal(get_counter(world, COUNTER_CANCELLED_TOTAL), 1);
}

static void cancel_of_a_running_run_is_told_at_its_next_wait(void **state) {
    World *world = *state;
    Claimed claim = create(world, "r1");
    cancel(world, "r1", 1000);
    Op *op = step(world, claim, "a", 0);
    assert_true(op->out.turn.is_cancel_wanted);
    op = park(world, claim, on_signal("go"));
    assert_int_equal(op->out.turn.state, RUN_RUNNING);
    assert_int_equal(op->out.turn.resolved[0].outcome, OUTCOME_CANCELLED);
    op = park(world, claim, on_signal("go"));
    assert_int_equal(op->out.turn.state, RUN_SUSPENDED); // told once only
    assert_int_equal(get_run(world, "r1").due_at_ms, START_MS + 1000);
}

static void cancel_without_grace_fences_the_executor(void **state) {
    World *world = *state;
    Claimed claim = create(world, "r1");
    cancel(world, "r1", 0);
    Op *op = turn(world, claim, NEXT_COMPLETE);
    finish(world, op, ERR_TERMINAL);
    assert_int_equal(get_run(world, "r1").state, RUN_CANCELLED);
}

static void cancelled_in_the_batch_that_started_it_is_not_announced(void **state) {
    World *world = *state;
    begin(world);
    create_op(world, "r1");
    Op *op = batch_add(&world->batch, OP_CANCEL);
    op->in.cancel.run_id = STR("r1");
    commit(world);
    assert_true(op->out.cancel.is_changed);
    assert_int_equal(world->batch.out.ready_count, 0);
    assert_int_equal(world->batch.out.ended_count, 1);
}

static void paused_run_takes_events_only_after_it_is_resumed(void **state) {
    World *world = *state;
    Claimed claim = create(world, "r1");
    park(world, claim, on_event("paid"));
    assert_true(hold(world, OP_PAUSE, "r1")->out.hold.is_changed);
    assert_false(hold(world, OP_PAUSE, "r1")->out.hold.is_changed);
    assert_true(publish(world, "paid", "1")->out.publish.is_kept);
    assert_true(hold(world, OP_RESUME, "r1")->out.hold.is_changed);
    assert_int_equal(world->batch.out.ready_count, 1);
    assert_str(world->batch.out.ready[0].resolved[0].data, "1");
}

static void running_run_pauses_at_its_next_commit(void **state) {
    World *world = *state;
    Claimed claim = create(world, "r1");
    hold(world, OP_PAUSE, "r1");
    assert_int_equal(get_run(world, "r1").state, RUN_RUNNING);
    Op *op = step(world, claim, "a", 0);
    assert_int_equal(op->out.turn.state, RUN_PAUSED);
    op = turn(world, claim, NEXT_COMPLETE);
    finish(world, op, ERR_FENCED);
    hold(world, OP_RESUME, "r1");
    assert_int_equal(world->batch.out.ready_count, 1);
}

static void overall_deadline_stands_still_while_paused(void **state) {
    World *world = *state;
    begin(world);
    create_op(world, "r1")->in.create_run.spec.timeout_ms = 1000;
    commit(world);
    Claimed claim = ready_at(world, 0);
    park(world, claim, on_signal("go"));
    world->now_ms += 400;
    hold(world, OP_PAUSE, "r1");
    world->now_ms += 5000;
    assert_int_equal(fire(world)->out.fire_due.fired_count, 0);
    hold(world, OP_RESUME, "r1");
    assert_int_equal(get_run(world, "r1").due_at_ms, START_MS + 6000);
}

static void run_paused_before_its_start_keeps_its_start_time(void **state) {
    World *world = *state;
    begin(world);
    create_op(world, "a")->in.create_run.spec.start_at_ms = START_MS + 1000;
    create_op(world, "b")->in.create_run.spec.start_at_ms = START_MS + 1000;
    commit(world);
    hold(world, OP_PAUSE, "a");
    hold(world, OP_PAUSE, "b");
    hold(world, OP_RESUME, "a");
    assert_int_equal(get_run(world, "a").state, RUN_PENDING);
    world->now_ms += 1000;
    assert_int_equal(fire(world)->out.fire_due.started_count, 1);
    assert_int_equal(get_run(world, "b").state, RUN_PAUSED);
    hold(world, OP_RESUME, "b");
    assert_int_equal(get_run(world, "b").state, RUN_RUNNING);
}

// ---- rewind and fork ----

static void rewind_drops_checkpoints_by_position(void **state) {
    World *world = *state;
    Claimed claim = create(world, "r1");
    for (int i = 0; i < 12; i++) {
        char name[16];
        snprintf(name, sizeof(name), "step%d", i);
        step(world, claim, name, i);
    }
    Op *op = start(world, OP_REWIND);
    op->in.rewind.run_id = STR("r1");
    op->in.rewind.step.name = STR("step2");
    op->in.rewind.step.is_last = true;
    finish(world, op, OK);
    assert_int_equal(op->out.rewind.position, 2);
    assert_int_equal(op->out.rewind.dropped_count, 10);
    assert_int_equal(world->batch.out.ready_count, 1);
    LogPage steps;
    assert_int_equal(store_list_steps(world->store, &world->arena,
                                      &(StepFilter){.run = run_of_id(STR("r1"))}, &steps,
                                      &world->diag),
                     OK);
    assert_int_equal(steps.count, 2);
    Op *stale = turn(world, claim, NEXT_COMPLETE);
    finish(world, stale, ERR_FENCED);
}

static void rewind_to_an_unknown_step_changes_nothing(void **state) {
    World *world = *state;
    Claimed claim = create(world, "r1");
    step(world, claim, "a", 0);
    Op *op = start(world, OP_REWIND);
    op->in.rewind.run_id = STR("r1");
    op->in.rewind.step.name = STR("b");
    finish(world, op, ERR_NOT_FOUND);
    assert_string_equal(op->out.diag.code, "STEP_NOT_FOUND");
    step(world, claim, "c", 1);
}

static void fork_copies_checkpoints_before_the_step(void **state) {
    World *world = *state;
    Claimed claim = create(world, "r1");
    step(world, claim, "a", 0);
    step(world, claim, "b", 1);
    end(world, claim, NEXT_FAIL, "{}");
    Op *op = start(world, OP_FORK);
    op->in.fork.run_id = STR("r1");
    op->in.fork.step.name = STR("b");
    op->in.fork.step.is_last = true;
    op->in.fork.new_id = STR("r2");
    finish(world, op, OK);
    assert_int_equal(world->batch.out.ready_count, 1);
    RunLoad load;
    assert_int_equal(
        store_load_run(world->store, &world->arena, get_run(world, "r2").key, &load, &world->diag),
        OK);
    assert_int_equal(load.log_count, 1);
    assert_str(load.log[0].name, "a");
    assert_int_equal(
        store_load_run(world->store, &world->arena, get_run(world, "r2").key, &load, &world->diag),
        OK);
    assert_str(load.input, "{\"a\":1}");
    op = start(world, OP_FORK);
    op->in.fork.run_id = STR("r1");
    op->in.fork.new_id = STR("r2");
    finish(world, op, ERR_CONFLICT);
}

// ---- tasks ----

static Op *create_task(World *world, const char *id, int64_t max_attempts) {
    Op *op = start(world, OP_CREATE_TASK);
    op->in.create_task.spec = (TaskSpec){.id = str_from(id),
                                         .name = STR("mail"),
                                         .input = STR("{}"),
                                         .max_attempts = max_attempts,
                                         .backoff_ms = 1000,
                                         .backoff_factor_pct = 200};
    finish(world, op, OK);
    return op;
}

static Op *claim_tasks(World *world, int64_t max) {
    static Str queue = STR("default");
    Op *op = start(world, OP_CLAIM_TASKS);
    op->in.claim_tasks.worker = STR("w");
    op->in.claim_tasks.queues = &queue;
    op->in.claim_tasks.queue_count = 1;
    op->in.claim_tasks.max = max;
    op->in.claim_tasks.lease_ms = 5000;
    finish(world, op, OK);
    return op;
}

static Op *complete_task(World *world, const char *id, int64_t token, Status expected) {
    Op *op = start(world, OP_COMPLETE_TASK);
    op->in.complete_task.id = str_from(id);
    op->in.complete_task.token = token;
    op->in.complete_task.result = STR("\"done\"");
    finish(world, op, expected);
    return op;
}

static Op *fail_task(World *world, const char *id, int64_t token) {
    Op *op = start(world, OP_FAIL_TASK);
    op->in.fail_task.id = str_from(id);
    op->in.fail_task.token = token;
    op->in.fail_task.type = STR("Boom");
    op->in.fail_task.error = STR("{\"type\":\"Boom\"}");
    finish(world, op, OK);
    return op;
}

static void task_is_claimed_completed_and_fenced(void **state) {
    World *world = *state;
    create_task(world, "t1", 1);
    assert_true(world->batch.out.has_tasks);
    Op *claim = claim_tasks(world, 5);
    assert_int_equal(claim->out.claim_tasks.task_count, 1);
    int64_t token = claim->out.claim_tasks.tasks[0].token;
    assert_int_equal(claim_tasks(world, 5)->out.claim_tasks.task_count, 0);
    Op *op = complete_task(world, "t1", token + 1, ERR_FENCED);
    assert_string_equal(op->out.diag.code, "TASK_FENCED");
    complete_task(world, "t1", token, OK);
    complete_task(world, "t1", token, OK); // repeated by a worker that got no answer
    complete_task(world, "t1", token + 1, ERR_FENCED);
    complete_task(world, "nothing", 1, ERR_NOT_FOUND);
    assert_int_equal(get_counter(world, COUNTER_TASKS_FIRST + TASK_COMPLETED), 1);
}

static void failing_task_backs_off_then_fails_for_good(void **state) {
    World *world = *state;
    create_task(world, "t1", 3);
    int64_t delay_ms = 1000;
    for (int attempt = 1; attempt <= 3; attempt++) {
        Op *claim = claim_tasks(world, 1);
        assert_int_equal(claim->out.claim_tasks.task_count, 1);
        assert_int_equal(claim->out.claim_tasks.tasks[0].attempt, attempt);
        Op *op = fail_task(world, "t1", claim->out.claim_tasks.tasks[0].token);
        assert_int_equal(op->out.fail_task.is_retried, attempt < 3);
        if (attempt == 3) break;
        assert_int_equal(op->out.fail_task.retry_at_ms, world->now_ms + delay_ms);
        assert_int_equal(claim_tasks(world, 1)->out.claim_tasks.task_count, 0);
        world->now_ms += delay_ms;
        delay_ms *= 2;
        assert_int_equal(fire(world)->out.fire_due.task_count, 1);
        assert_true(world->batch.out.has_tasks);
    }
    TaskRow task;
    assert_int_equal(store_find_task(world->store, &world->arena, STR("t1"), &task, &world->diag),
                     OK);
    assert_int_equal(task.state, TASK_FAILED);
    Op *op = start(world, OP_RETRY_TASK);
    op->in.retry_task.id = STR("t1");
    finish(world, op, OK);
    assert_int_equal(claim_tasks(world, 1)->out.claim_tasks.tasks[0].attempt, 4);
}

static void lost_lease_queues_the_task_again_unless_heartbeats_come(void **state) {
    World *world = *state;
    create_task(world, "t1", 2);
    int64_t token = claim_tasks(world, 1)->out.claim_tasks.tasks[0].token;
    world->now_ms += 4000;
    Op *op = start(world, OP_HEARTBEAT_TASK);
    op->in.heartbeat.id = STR("t1");
    op->in.heartbeat.token = token;
    op->in.heartbeat.lease_ms = 5000;
    finish(world, op, OK);
    world->now_ms += 4999;
    assert_int_equal(fire(world)->out.fire_due.task_count, 0);
    world->now_ms += 1;
    assert_int_equal(fire(world)->out.fire_due.task_count, 1);
    complete_task(world, "t1", token, ERR_FENCED);
}

static void run_is_woken_by_the_task_it_waits_for(void **state) {
    World *world = *state;
    Claimed claim = create(world, "r1");
    Op *op = turn(world, claim, NEXT_SUSPEND);
    op->in.turn.tasks = ARENA_NEW(&world->arena, TaskSpec);
    *op->in.turn.tasks = (TaskSpec){.id = STR("t1"), .name = STR("mail")};
    op->in.turn.task_count = 1;
    WaitItem item = {.kind = WAIT_TASK, .position = 2, .name = STR("t1")};
    set_waits(world, op, WAIT_FIRST, &item, 1);
    finish(world, op, OK);
    int64_t token = claim_tasks(world, 1)->out.claim_tasks.tasks[0].token;
    complete_task(world, "t1", token, OK);
    assert_int_equal(world->batch.out.ready_count, 1);
    assert_str(world->batch.out.ready[0].resolved[0].data, "\"done\"");
}

static void cancelled_run_cancels_its_tasks(void **state) {
    World *world = *state;
    Claimed claim = create(world, "r1");
    Op *op = turn(world, claim, NEXT_CONTINUE);
    op->in.turn.tasks = ARENA_ARRAY(&world->arena, TaskSpec, 2);
    op->in.turn.tasks[0] = (TaskSpec){.id = STR("t1"), .name = STR("mail"), .priority = 5};
    op->in.turn.tasks[1] = (TaskSpec){.id = STR("t2"), .name = STR("mail")};
    op->in.turn.task_count = 2;
    finish(world, op, OK);
    Op *claimed = claim_tasks(world, 1);
    assert_str(claimed->out.claim_tasks.tasks[0].id, "t1"); // the higher priority
    end(world, claim, NEXT_CANCELLED, "{}");
    assert_int_equal(get_counter(world, COUNTER_TASKS_FIRST + TASK_CANCELLED), 1);
    op = start(world, OP_HEARTBEAT_TASK);
    op->in.heartbeat.id = STR("t1");
    op->in.heartbeat.token = claimed->out.claim_tasks.tasks[0].token;
    finish(world, op, OK);
    assert_true(op->out.heartbeat.is_cancel_wanted);
}

// ---- nodes ----

static void dead_nodes_runs_are_taken_over_and_it_is_fenced(void **state) {
    World *world = *state;
    Claimed claim = create(world, "r1");
    int64_t dead = world->node;
    world->node = join(world, "node-2", 10 * MINUTE_MS);
    Op *op = start(world, OP_CLAIM);
    op->in.claim.max = 10;
    finish(world, op, OK);
    assert_int_equal(op->out.claim.count, 0);
    world->now_ms += MINUTE_MS;
    op = start(world, OP_CLAIM);
    op->in.claim.max = 10;
    finish(world, op, OK);
    assert_int_equal(op->out.claim.taken_over, 1);
    assert_int_equal(get_run(world, "r1").attempts, 1);
    world->node = dead;
    turn(world, claim, NEXT_COMPLETE);
    assert_int_equal(store_commit(world->store, &world->batch, &world->diag), ERR_FENCED);
    assert_string_equal(world->diag.code, "NODE_FENCED");
    assert_int_equal(get_run(world, "r1").state, RUN_RUNNING);
}

static void late_node_that_lost_nothing_may_renew(void **state) {
    World *world = *state;
    world->now_ms += 2 * MINUTE_MS;
    Op *op = start(world, OP_RENEW);
    op->in.renew.lease_ms = MINUTE_MS;
    finish(world, op, OK);
}

static void leaving_node_hands_back_its_runs(void **state) {
    World *world = *state;
    create(world, "r1");
    Op *op = start(world, OP_LEAVE);
    finish(world, op, OK);
    assert_int_equal(op->out.leave.released_count, 1);
    assert_int_equal(get_run(world, "r1").owner, 0);
    world->node = 0;
    world->node = join(world, "node-2", MINUTE_MS);
    op = start(world, OP_CLAIM);
    op->in.claim.max = 10;
    finish(world, op, OK);
    assert_int_equal(op->out.claim.count, 1);
    assert_int_equal(op->out.claim.taken_over, 0);
}

static void node_that_knows_itself_alone_takes_over_at_once(void **state) {
    World *world = *state;
    create(world, "r1");
    world->node = 0;
    Op *op = start(world, OP_JOIN);
    op->in.join.name = STR("node-1");
    op->in.join.lease_ms = MINUTE_MS;
    op->in.join.is_exclusive = true;
    finish(world, op, OK);
    world->node = op->out.join.node;
    op = start(world, OP_CLAIM);
    op->in.claim.max = 10;
    finish(world, op, OK);
    assert_int_equal(op->out.claim.taken_over, 1);
}

static void batch_number_is_kept_in_the_nodes_row(void **state) {
    World *world = *state;
    create(world, "r1");
    NodeRow row;
    assert_int_equal(
        store_node_by_key(world->store, &world->arena, world->node, &row, &world->diag), OK);
    assert_int_equal(row.last_batch, world->batch_number);
}

// ---- keeping and purging ----

static void ended_run_is_purged_after_its_time_without_orphans(void **state) {
    World *world = *state;
    begin(world);
    Op *op = create_op(world, "r1");
    op->in.create_run.spec.keep_ms = 1000;
    op->in.create_run.spec.tags = STR("a\nb");
    commit(world);
    Claimed claim = ready_at(world, 0);
    step(world, claim, "x", 0);
    end(world, claim, NEXT_COMPLETE, "1");
    world->now_ms += 999;
    assert_int_equal(fire(world)->out.fire_due.fired_count, 0);
    world->now_ms += 1;
    op = start(world, OP_SWEEP);
    op->in.sweep.max = 100;
    finish(world, op, OK);
    assert_int_equal(op->out.sweep.purged_runs, 1);
    RunRow run;
    assert_int_equal(store_run_by_id(world->store, &world->arena, STR("r1"), &run, &world->diag),
                     ERR_NOT_FOUND);
    assert_int_equal(get_counter(world, COUNTER_RUNS_FIRST + RUN_COMPLETED), 0);
    create(world, "r1"); // the id is free again
}

static void only_ended_runs_can_be_purged(void **state) {
    World *world = *state;
    Claimed claim = create(world, "r1");
    Op *op = start(world, OP_PURGE_RUN);
    op->in.purge.run_id = STR("r1");
    finish(world, op, ERR_CONFLICT);
    assert_string_equal(op->out.diag.code, "RUN_NOT_TERMINAL");
    end(world, claim, NEXT_COMPLETE, "1");
    op = start(world, OP_PURGE_RUN);
    op->in.purge.run_id = STR("r1");
    finish(world, op, OK);
}

// ---- definitions ----

static void defining_an_old_version_again_makes_it_current(void **state) {
    World *world = *state;
    const char *versions[] = {"v1", "v2", "v1"};
    for (int i = 0; i < 3; i++) {
        Op *op = start(world, OP_DEFINE);
        op->in.define.name = STR("order");
        op->in.define.version = str_from(versions[i]);
        op->in.define.source = STR("source");
        op->in.define.kind = RUN_FLOW;
        finish(world, op, OK);
        assert_int_equal(op->out.define.is_new, i < 2);
        DefinitionRow definition;
        assert_int_equal(store_find_definition(world->store, &world->arena,
                                               &(DefinitionRef){.name = STR("order")}, &definition,
                                               &world->diag),
                         OK);
        assert_str(definition.version, versions[i]);
    }
    DefinitionPage found;
    assert_int_equal(store_list_definitions(world->store, &world->arena,
                                            &(DefinitionFilter){.name = STR("order")}, &found,
                                            &world->diag),
                     OK);
    assert_int_equal(found.count, 2);
}

// ---- listings ----

static void listing_pages_newest_first_without_gaps(void **state) {
    World *world = *state;
    begin(world);
    for (int i = 0; i < 25; i++) create_op(world, arena_printf(&world->arena, "r%d", i).data);
    commit(world);
    RunFilter filter = {.limit = 10};
    int64_t last_key = INT64_MAX;
    size_t total = 0;
    do {
        RunPage page;
        assert_ok(store_list_runs(world->store, &world->arena, &filter, &page, &world->diag));
        for (size_t i = 0; i < page.count; i++) {
            assert_true(page.rows[i].key < last_key);
            last_key = page.rows[i].key;
        }
        total += page.count;
        filter.cursor = page.next;
    } while (filter.cursor != 0);
    assert_int_equal(total, 25);
}

static size_t list_count(World *world, RunFilter filter) {
    RunPage page;
    assert_int_equal(store_list_runs(world->store, &world->arena, &filter, &page, &world->diag),
                     OK);
    return page.count;
}

static void listing_filters_by_state_tag_parent_wait_and_idleness(void **state) {
    World *world = *state;
    begin(world);
    create_op(world, "a")->in.create_run.spec.tags = STR("red\nblue");
    create_op(world, "b")->in.create_run.spec.tags = STR("blue");
    create_op(world, "c");
    commit(world);
    Claimed a = ready_at(world, 0), b = ready_at(world, 1), c = ready_at(world, 2);
    park(world, a, on_signal("go"));
    end(world, b, NEXT_COMPLETE, "1");
    Op *op = turn(world, c, NEXT_CONTINUE);
    op->in.turn.children = child_spec(world, "child", CLOSE_ABANDON);
    op->in.turn.child_count = 1;
    finish(world, op, OK);
    uint32_t mixed = 1u << RUN_SUSPENDED | 1u << RUN_COMPLETED;
    assert_int_equal(list_count(world, (RunFilter){.states = mixed}), 2);
    assert_int_equal(list_count(world, (RunFilter){.tag = STR("blue")}), 2);
    assert_int_equal(list_count(world, (RunFilter){.tag = STR("blue"), .states = mixed}), 2);
    assert_int_equal(list_count(world, (RunFilter){.tag = STR("red"), .limit = 1}), 1);
    assert_int_equal(list_count(world, (RunFilter){.parent_id = STR("c")}), 1);
    assert_int_equal(list_count(world, (RunFilter){.parent_id = STR("nobody")}), 0);
    assert_int_equal(list_count(world, (RunFilter){.waiting_on = STR("go")}), 1);
    assert_int_equal(list_count(world, (RunFilter){.idle_before_ms = START_MS + 1}), 1);
    assert_int_equal(list_count(world, (RunFilter){.idle_before_ms = START_MS}), 0);
    assert_int_equal(list_count(world, (RunFilter){.workflows = STR("child")}), 1);
}

static void log_pages_oldest_first(void **state) {
    World *world = *state;
    Claimed claim = create(world, "r1");
    for (int i = 0; i < 5; i++) step(world, claim, "s", i);
    LogPage log;
    assert_int_equal(store_read_log(world->store, &world->arena,
                                    &(LogFilter){.run = run_of_id(STR("r1")), .page.limit = 4},
                                    &log, &world->diag),
                     OK);
    assert_int_equal(log.count, 4);
    assert_int_equal(log.next, 4);
    assert_int_equal(store_read_log(world->store, &world->arena,
                                    &(LogFilter){.run = run_of_id(STR("r1")),
                                                 .page = {.after = log.next, .limit = 4}},
                                    &log, &world->diag),
                     OK);
    assert_int_equal(log.count, 2);
    assert_int_equal(log.next, 0);
}

static void flow_run_loads_what_its_snapshot_has_not_seen(void **state) {
    World *world = *state;
    begin(world);
    create_op(world, "r1")->in.create_run.spec.kind = RUN_FLOW;
    commit(world);
    Claimed claim = ready_at(world, 0);
    Op *op = turn(world, claim, NEXT_SUSPEND);
    op->in.turn.snapshot = STR("\0snap");
    WaitItem item = on_signal("go");
    set_waits(world, op, WAIT_FIRST, &item, 1);
    finish(world, op, OK);
    signal_run(world, "r1", "go", "1", OK);
    RunLoad load;
    assert_int_equal(
        store_load_run(world->store, &world->arena, get_run(world, "r1").key, &load, &world->diag),
        OK);
    assert_int_equal(load.run.snapshot.len, 5);
    assert_int_equal(load.log_count, 1);
    assert_int_equal(load.log[0].kind, LOG_WAIT);
}

static void waiters_are_listed_and_what_is_due_next(void **state) {
    World *world = *state;
    Claimed a = create(world, "a"), b = create(world, "b");
    park(world, a, on_event("t"));
    WaitItem item = on_event("t");
    item.deadline_at_ms = START_MS + 10;
    park(world, b, item);
    RunPage waiters;
    assert_int_equal(store_list_waiters(world->store, &world->arena,
                                        &(WaiterFilter){.topic = STR("t")}, &waiters, &world->diag),
                     OK);
    assert_int_equal(waiters.count, 2);
    assert_str(waiters.rows[0].id, "a");
    int64_t due_at_ms;
    assert_int_equal(store_next_due(world->store, &world->arena, &due_at_ms, &world->diag), OK);
    assert_int_equal(due_at_ms, START_MS + 10);
    assert_int_equal(store_list_owned(world->store, &world->arena,
                                      &(OwnedFilter){.node = world->node}, &waiters, &world->diag),
                     OK);
    assert_int_equal(waiters.count, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        KERNEL_TEST(new_run_is_claimed_by_the_node_that_started_it),
        KERNEL_TEST(runs_past_the_claim_limit_stay_ready_and_unowned),
        KERNEL_TEST(second_start_with_the_same_id_answers_the_first),
        KERNEL_TEST(idempotency_key_answers_same_content_and_refuses_other),
        KERNEL_TEST(delayed_run_starts_when_due_and_not_before),
        KERNEL_TEST(bad_specs_change_nothing),
        KERNEL_TEST(checkpoint_is_logged_and_the_run_stays_claimed),
        KERNEL_TEST(stale_epoch_changes_nothing),
        KERNEL_TEST(other_node_cannot_commit_a_turn),
        KERNEL_TEST(completed_run_keeps_its_result_and_is_final),
        KERNEL_TEST(absent_result_differs_from_null),
        KERNEL_TEST(continue_as_drops_checkpoints_and_keeps_signals),
        KERNEL_TEST(refused_operation_leaves_others_of_its_batch_alone),
        KERNEL_TEST(signal_wakes_a_parked_run_with_its_payload),
        KERNEL_TEST(signal_before_the_wait_is_kept_and_taken_in_order),
        KERNEL_TEST(signal_of_another_name_does_not_wake),
        KERNEL_TEST(signals_to_missing_and_ended_runs_are_refused),
        KERNEL_TEST(repeated_signal_id_is_taken_once),
        KERNEL_TEST(unread_signals_become_dead_letters_and_can_be_replayed),
        KERNEL_TEST(event_goes_to_the_oldest_waiter_only),
        KERNEL_TEST(event_before_the_wait_is_kept_and_taken_once),
        KERNEL_TEST(fan_out_reaches_every_waiter_and_later_ones_once),
        KERNEL_TEST(filter_that_does_not_match_passes_the_waiter_over),
        KERNEL_TEST(visibility_after_create_hides_older_events),
        KERNEL_TEST(visibility_after_wait_keeps_nothing),
        KERNEL_TEST(full_topic_refuses_and_repeated_ids_are_recognised),
        KERNEL_TEST(expired_events_are_not_delivered_and_are_removed),
        KERNEL_TEST(timer_fires_at_its_time_once),
        KERNEL_TEST(wait_past_its_deadline_times_out),
        KERNEL_TEST(race_is_won_by_what_settled_first_in_time),
        KERNEL_TEST(waiting_for_each_delivers_in_order_of_time_and_one_signal_at_most),
        KERNEL_TEST(overall_deadline_fails_running_and_parked_runs),
        KERNEL_TEST(parent_is_woken_with_the_childs_result),
        KERNEL_TEST(failed_and_cancelled_children_are_errors),
        KERNEL_TEST(repeated_turn_starts_no_second_child),
        KERNEL_TEST(ending_parent_cancels_children_that_ask_for_it),
        KERNEL_TEST(cancel_reaches_a_parked_run_at_its_wait),
        KERNEL_TEST(cancel_of_a_running_run_is_told_at_its_next_wait),
        KERNEL_TEST(cancel_without_grace_fences_the_executor),
        KERNEL_TEST(cancelled_in_the_batch_that_started_it_is_not_announced),
        KERNEL_TEST(paused_run_takes_events_only_after_it_is_resumed),
        KERNEL_TEST(running_run_pauses_at_its_next_commit),
        KERNEL_TEST(overall_deadline_stands_still_while_paused),
        KERNEL_TEST(run_paused_before_its_start_keeps_its_start_time),
        KERNEL_TEST(rewind_drops_checkpoints_by_position),
        KERNEL_TEST(rewind_to_an_unknown_step_changes_nothing),
        KERNEL_TEST(fork_copies_checkpoints_before_the_step),
        KERNEL_TEST(task_is_claimed_completed_and_fenced),
        KERNEL_TEST(failing_task_backs_off_then_fails_for_good),
        KERNEL_TEST(lost_lease_queues_the_task_again_unless_heartbeats_come),
        KERNEL_TEST(run_is_woken_by_the_task_it_waits_for),
        KERNEL_TEST(cancelled_run_cancels_its_tasks),
        KERNEL_TEST(dead_nodes_runs_are_taken_over_and_it_is_fenced),
        KERNEL_TEST(late_node_that_lost_nothing_may_renew),
        KERNEL_TEST(leaving_node_hands_back_its_runs),
        KERNEL_TEST(node_that_knows_itself_alone_takes_over_at_once),
        KERNEL_TEST(batch_number_is_kept_in_the_nodes_row),
        KERNEL_TEST(ended_run_is_purged_after_its_time_without_orphans),
        KERNEL_TEST(only_ended_runs_can_be_purged),
        KERNEL_TEST(defining_an_old_version_again_makes_it_current),
        KERNEL_TEST(listing_pages_newest_first_without_gaps),
        KERNEL_TEST(listing_filters_by_state_tag_parent_wait_and_idleness),
        KERNEL_TEST(log_pages_oldest_first),
        KERNEL_TEST(flow_run_loads_what_its_snapshot_has_not_seen),
        KERNEL_TEST(waiters_are_listed_and_what_is_due_next),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

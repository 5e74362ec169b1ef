// Signals nobody read, and the dead letters they become.
#include "contract/contract.h"

static void end_with_two_signals(World *world, const char *id, int64_t policy, const char *topic) {
    RunSpec spec = spec_of(id);
    spec.leftover_policy = policy;
    spec.leftover_topic = str_from(topic);
    Claimed claimed = create_from(world, &spec);
    signal_run(world, id, "go", "\"first\"");
    signal_run(world, id, "stop", "\"second\"");
    finish(world, claimed, NEXT_COMPLETE, "1");
    assert_int_equal(get_counter(world, COUNTER_SIGNALS), 0);
}

static void leftover_signals_are_discarded_by_default(void **state) {
    World *world = *state;
    end_with_two_signals(world, "r1", LEFTOVER_DISCARD, NULL);
    assert_int_equal(get_dead_letters(world).count, 0);
    assert_int_equal(get_counter(world, COUNTER_EVENTS), 0);
}

static void leftover_signals_go_to_a_topic_in_order(void **state) {
    World *world = *state;
    end_with_two_signals(world, "r1", LEFTOVER_TO_TOPIC, "t");
    EventPage events = get_events(world, "t");
    assert_int_equal(events.count, 2);
    assert_text(events.rows[0].payload, "\"first\"");
    assert_text(events.rows[1].payload, "\"second\"");
    assert_text(events.rows[0].id, "signal");
}

static void leftover_signal_wakes_who_waits_for_the_topic(void **state) {
    World *world = *state;
    Claimed waiter = create(world, "waiter");
    park(world, waiter, on_event("t"));
    end_with_two_signals(world, "r1", LEFTOVER_TO_TOPIC, "t");
    assert_int_equal(ready_of(world, waiter.run).run, waiter.run);
    assert_int_equal(get_events(world, "t").count, 1);
}

static void leftover_signals_become_dead_letters(void **state) {
    World *world = *state;
    end_with_two_signals(world, "r1", LEFTOVER_DEAD_LETTER, NULL);
    DeadLetterPage letters = get_dead_letters(world);
    assert_int_equal(letters.count, 2);
    const DeadLetterRow *letter = &letters.rows[0]; // newest first
    assert_text(letter->payload, "\"second\"");
    assert_text(letter->run_id, "r1");
    assert_text(letter->name, "stop");
    assert_text(letter->reason, "run ended");
    assert_int_equal(letter->created_at_ms, START_MS);
    assert_int_equal(get_counter(world, COUNTER_DEAD_LETTERS), 2);
}

static void leftovers_are_settled_however_the_run_ends(void **state) {
    World *world = *state;
    RunSpec spec = spec_of("cancelled");
    spec.leftover_policy = LEFTOVER_DEAD_LETTER;
    create_from(world, &spec);
    signal_run(world, "cancelled", "go", "1");
    cancel_run(world, "cancelled", 0);
    assert_int_equal(get_dead_letters(world).count, 1);
    spec = spec_of("late");
    spec.leftover_policy = LEFTOVER_DEAD_LETTER;
    spec.timeout_ms = 100;
    create_from(world, &spec);
    signal_run(world, "late", "go", "1");
    fire_at(world, START_MS + 100);
    assert_state(world, "late", RUN_FAILED);
    assert_int_equal(get_dead_letters(world).count, 2);
}

// A letter of a run that is made again under the same id.
static int64_t letter_for(World *world, const char *id) {
    RunSpec spec = spec_of(id);
    spec.leftover_policy = LEFTOVER_DEAD_LETTER;
    Claimed claimed = create_from(world, &spec);
    signal_run(world, id, "go", "\"again\"");
    finish(world, claimed, NEXT_COMPLETE, "1");
    return get_dead_letters(world).rows[0].key;
}

static void purge_run(World *world, const char *id) {
    Op *op = op_new(world, OP_PURGE_RUN);
    op->in.purge.run_id = str_from(id);
    op_run(world, op, OK);
}

static Op *replay(World *world, int64_t key, Status expected) {
    Op *op = op_new(world, OP_REPLAY_DEAD_LETTER);
    op->in.dead_letter.key = key;
    op_run(world, op, expected);
    return op;
}

static void replayed_dead_letter_wakes_a_present_waiter(void **state) {
    World *world = *state;
    int64_t letter = letter_for(world, "r1");
    purge_run(world, "r1");
    Claimed claimed = create(world, "r1");
    park(world, claimed, on_signal("go"));
    Op *op = replay(world, letter, OK);
    assert_int_equal(op->out.dead_letter.resumed_count, 1);
    assert_resolved(world->batch.out.ready[0].resolved, world->batch.out.ready[0].resolved_count, 0,
                    OUTCOME_OK, "\"again\"");
    assert_int_equal(get_dead_letters(world).count, 0);
    assert_int_equal(get_counter(world, COUNTER_DEAD_LETTERS), 0);
}

static void replayed_dead_letter_waits_for_a_later_wait(void **state) {
    World *world = *state;
    int64_t letter = letter_for(world, "r1");
    purge_run(world, "r1");
    Claimed claimed = create(world, "r1");
    assert_int_equal(replay(world, letter, OK)->out.dead_letter.resumed_count, 0);
    Op *op = park(world, claimed, on_signal("go"));
    assert_resolved(op->out.turn.resolved, op->out.turn.resolved_count, 0, OUTCOME_OK, "\"again\"");
}

static void dead_letter_for_an_ended_or_missing_run_is_kept(void **state) {
    World *world = *state;
    int64_t letter = letter_for(world, "r1");
    Str before = world_dump(world);
    replay(world, letter, ERR_TERMINAL);
    assert_unchanged(world, before);
    purge_run(world, "r1");
    replay(world, letter, ERR_NOT_FOUND);
    assert_int_equal(get_dead_letters(world).count, 1);
}

static void replayed_dead_letter_of_a_topic_is_published(void **state) {
    World *world = *state;
    Op *op = op_new(world, OP_SET_TOPIC);
    op->in.set_topic.row = (TopicRow){.name = STR("t"), .cap = 1};
    op_run(world, op, OK);
    Claimed sender = create(world, "sender");
    EventSpec events[] = {{.topic = STR("t"), .id = STR("a"), .payload = STR("1")},
                          {.topic = STR("t"), .id = STR("b"), .payload = STR("2")}};
    op = turn(world, sender, NEXT_CONTINUE);
    op->in.turn.events = events;
    op->in.turn.event_count = 2;
    op_run(world, op, OK);
    int64_t letter = get_dead_letters(world).rows[0].key;
    replay(world, letter, ERR_LIMIT); // still full: kept
    assert_int_equal(get_dead_letters(world).count, 1);
    park(world, create(world, "r1"), on_event("t")); // takes the pending one
    Claimed waiter = create(world, "r2");
    park(world, waiter, on_event("t"));
    op = replay(world, letter, OK);
    assert_int_equal(op->out.dead_letter.resumed_count, 1);
    assert_int_equal(world->batch.out.ready[0].run, waiter.run);
    assert_int_equal(get_dead_letters(world).count, 0);
}

static void dead_letter_is_replayed_once(void **state) {
    World *world = *state;
    int64_t letter = letter_for(world, "r1");
    purge_run(world, "r1");
    create(world, "r1");
    replay(world, letter, OK);
    Op *op = replay(world, letter, ERR_NOT_FOUND);
    assert_refused(op, ERR_NOT_FOUND, "DEAD_LETTER_NOT_FOUND");
    assert_int_equal(get_signals(world, "r1").count, 1);
}

static void dead_letter_can_be_removed(void **state) {
    World *world = *state;
    int64_t letter = letter_for(world, "r1");
    Op *op = op_new(world, OP_REMOVE_DEAD_LETTER);
    op->in.dead_letter.key = letter;
    op_run(world, op, OK);
    assert_int_equal(get_dead_letters(world).count, 0);
    op = op_new(world, OP_REMOVE_DEAD_LETTER);
    op->in.dead_letter.key = letter;
    op_run(world, op, ERR_NOT_FOUND);
}

static void dead_letters_expire(void **state) {
    World *world = *state;
    letter_for(world, "r1");
    world->now_ms = START_MS + WEEK_MS - 1;
    sweep(world);
    assert_int_equal(get_dead_letters(world).count, 1);
    world->now_ms = START_MS + WEEK_MS;
    assert_int_equal(sweep(world)->out.sweep.expired_events, 1);
    assert_int_equal(get_dead_letters(world).count, 0);
    assert_int_equal(get_counter(world, COUNTER_DEAD_LETTERS), 0);
}

static void dead_letters_are_listed_newest_first_in_pages(void **state) {
    World *world = *state;
    RunSpec spec = spec_of("r1");
    spec.leftover_policy = LEFTOVER_DEAD_LETTER;
    Claimed claimed = create_from(world, &spec);
    for (int i = 0; i < 5; i++) {
        signal_run(world, "r1", "go", arena_printf(&world->arena, "%d", i).data);
    }
    finish(world, claimed, NEXT_COMPLETE, "1");
    PageSpec next = {.limit = 2};
    DeadLetterPage letters = {0};
    char seen[6] = {0};
    for (int i = 0; i < 5; i++) {
        if (i % 2 == 0) {
            assert_ok(store_list_dead_letters(world->store, &world->arena, &next, &letters,
                                              &world->diag));
            next.after = letters.next;
        }
        seen[i] = letters.rows[i % 2].payload.data[0];
    }
    assert_string_equal(seen, "43210");
    assert_int_equal(letters.next, 0);
}

static void signals_to_ended_and_missing_runs_are_refused(void **state) {
    World *world = *state;
    finish(world, create(world, "r1"), NEXT_COMPLETE, "1");
    Op *op = op_new(world, OP_SIGNAL);
    op->in.signal.run_id = STR("r1");
    op->in.signal.name = STR("go");
    op_run(world, op, ERR_TERMINAL);
    assert_refused(op, ERR_TERMINAL, "RUN_TERMINAL");
    op = op_new(world, OP_SIGNAL);
    op->in.signal.run_id = STR("r2");
    op->in.signal.name = STR("go");
    op_run(world, op, ERR_NOT_FOUND);
    assert_refused(op, ERR_NOT_FOUND, "RUN_NOT_FOUND");
}

int contract_letters(void) {
    const struct CMUnitTest tests[] = {
        CASE(leftover_signals_are_discarded_by_default),
        CASE(leftover_signals_go_to_a_topic_in_order),
        CASE(leftover_signal_wakes_who_waits_for_the_topic),
        CASE(leftover_signals_become_dead_letters),
        CASE(leftovers_are_settled_however_the_run_ends),
        CASE(replayed_dead_letter_wakes_a_present_waiter),
        CASE(replayed_dead_letter_waits_for_a_later_wait),
        CASE(dead_letter_for_an_ended_or_missing_run_is_kept),
        CASE(replayed_dead_letter_of_a_topic_is_published),
        CASE(dead_letter_is_replayed_once),
        CASE(dead_letter_can_be_removed),
        CASE(dead_letters_expire),
        CASE(dead_letters_are_listed_newest_first_in_pages),
        CASE(signals_to_ended_and_missing_runs_are_refused),
    };
    return run_group("letters", tests);
}

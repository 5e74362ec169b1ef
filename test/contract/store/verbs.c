// The verbs a durable workflow store is commonly asked for, one test each by their usual names, so
// that whoever knows them finds how they are said here.
#include "contract/contract.h"

static void create_run_keeps_workflow_params_and_ttl(void **state) {
    World *world = *state;
    RunSpec spec = spec_of("r1");
    spec.workflow = STR("invoice");
    spec.input = STR("{\"amount\":12}");
    spec.keep_ms = MINUTE_MS;
    create_from(world, &spec);
    RunRow run = get_run(world, "r1");
    assert_text(run.workflow, "invoice");
    assert_int_equal(run.keep_ms, MINUTE_MS);
    assert_int_equal(run.state, RUN_RUNNING);
    assert_int_equal(run.created_at_ms, START_MS);
    assert_int_equal(run.parent, 0);
    assert_text(get_input(world, "r1"), "{\"amount\":12}");
}

static void create_run_by_a_parent_names_it(void **state) {
    World *world = *state;
    Claimed parent = create(world, "parent");
    RunSpec child = spec_of("child");
    child.parent_position = 3;
    Op *op = turn(world, parent, NEXT_CONTINUE);
    op->in.turn.children = &child;
    op->in.turn.child_count = 1;
    op_run(world, op, OK);
    RunRow run = get_run(world, "child");
    assert_int_equal(run.key, op->out.turn.child_keys[0]);
    assert_int_equal(run.parent, parent.run);
    assert_int_equal(run.parent_position, 3);
    assert_int_equal(run.depth, 1);
}

static void get_answers_the_run_by_id_and_by_key(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    assert_int_equal(get_run(world, "r1").key, claimed.run);
    RunRow found;
    assert_ok(store_run_by_key(world->store, &world->arena, claimed.run, &found, &world->diag));
    assert_text(found.id, "r1");
}

static void get_of_an_unknown_run_is_not_found(void **state) {
    World *world = *state;
    RunRow found;
    assert_status(store_run_by_id(world->store, &world->arena, STR("nobody"), &found, &world->diag),
                  ERR_NOT_FOUND);
    assert_string_equal(world->diag.code, "RUN_NOT_FOUND");
    assert_status(store_run_by_key(world->store, &world->arena, 123456, &found, &world->diag),
                  ERR_NOT_FOUND);
}

static void save_step_then_read_step_gives_the_value(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    save_entry(world, claimed, log_step("charge", 0, 0, "{\"receipt\":7}"));
    LogRow entry;
    assert_ok(store_find_step(
        world->store, &world->arena,
        &(StepRef){.run = run_of_id(STR("r1")), .name = STR("charge"), .iteration = 0}, &entry,
        &world->diag));
    assert_text(entry.data, "{\"receipt\":7}");
    assert_int_equal(entry.outcome, OUTCOME_OK);
}

static void read_step_that_was_never_saved_is_not_found(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    save_step(world, claimed, "charge", 0);
    LogRow entry;
    assert_status(store_find_step(
                      world->store, &world->arena,
                      &(StepRef){.run = run_of_id(STR("r1")), .name = STR("ship"), .iteration = 0},
                      &entry, &world->diag),
                  ERR_NOT_FOUND);
    assert_string_equal(world->diag.code, "STEP_NOT_FOUND");
    assert_status(
        store_find_step(
            world->store, &world->arena,
            &(StepRef){.run = run_of_id(STR("r1")), .name = STR("charge"), .iteration = 1}, &entry,
            &world->diag),
        ERR_NOT_FOUND);
}

static void save_step_of_null_counts_as_saved(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    save_entry(world, claimed, log_step("nothing", 0, 0, "null"));
    save_entry(world, claimed, log_step("absent", 1, 0, NULL));
    LogRow entry;
    assert_ok(store_find_step(
        world->store, &world->arena,
        &(StepRef){.run = run_of_id(STR("r1")), .name = STR("nothing"), .iteration = 0}, &entry,
        &world->diag));
    assert_text(entry.data, "null");
    assert_ok(store_find_step(
        world->store, &world->arena,
        &(StepRef){.run = run_of_id(STR("r1")), .name = STR("absent"), .iteration = 0}, &entry,
        &world->diag));
    assert_text(entry.data, NULL);
    assert_int_equal(get_load(world, "r1").log_count, 2);
}

static void suspend_until_wakes_at_that_time_and_not_before(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    Op *op = park(world, claimed, on_timer(START_MS + 5000));
    assert_int_equal(op->out.turn.state, RUN_SUSPENDED);
    assert_int_equal(world->batch.out.earliest_due_ms, START_MS + 5000);
    assert_int_equal(fire_at(world, START_MS + 4999)->out.fire_due.woken_count, 0);
    assert_state(world, "r1", RUN_SUSPENDED);
    assert_int_equal(fire_at(world, START_MS + 5000)->out.fire_due.woken_count, 1);
    assert_resolved(world->batch.out.ready[0].resolved, world->batch.out.ready[0].resolved_count, 0,
                    OUTCOME_OK, NULL);
    assert_state(world, "r1", RUN_RUNNING);
}

static void suspend_on_topic_wakes_with_the_payload(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    park(world, claimed, on_event("t"));
    assert_state(world, "r1", RUN_SUSPENDED);
    assert_int_equal(publish(world, "t", "{\"ok\":true}")->out.publish.resumed_count, 1);
    assert_resolved(world->batch.out.ready[0].resolved, world->batch.out.ready[0].resolved_count, 0,
                    OUTCOME_OK, "{\"ok\":true}");
}

static void suspend_on_topic_with_deadline_ends_in_a_time_out(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    park(world, claimed, with_deadline(on_event("t"), START_MS + 100));
    fire_at(world, START_MS + 100);
    assert_resolved(world->batch.out.ready[0].resolved, world->batch.out.ready[0].resolved_count, 0,
                    OUTCOME_TIMEOUT, NULL);
    assert_int_equal(publish(world, "t", "1")->out.publish.resumed_count, 0);
}

static void suspend_on_topic_with_deadline_takes_an_event_in_time(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    park(world, claimed, with_deadline(on_event("t"), START_MS + 100));
    world->now_ms = START_MS + 99;
    assert_int_equal(publish(world, "t", "1")->out.publish.resumed_count, 1);
    assert_int_equal(fire_at(world, START_MS + 100)->out.fire_due.woken_count, 0);
    assert_int_equal(entry_count(world, "r1", LOG_WAIT), 1);
}

static void mark_running_is_the_claim_of_a_ready_run(void **state) {
    World *world = *state;
    world->claim_max = 0;
    RunSpec spec = spec_of("r1");
    create_op(world, &spec);
    assert_int_equal(get_run(world, "r1").owner, 0);
    assert_int_equal(get_run(world, "r1").state, RUN_RUNNING);
    assert_int_equal(claim(world, 5)->out.claim.count, 1);
    assert_int_equal(get_run(world, "r1").owner, world->node);
    assert_int_equal(get_run(world, "r1").epoch, ready_at(world, 0).epoch);
}

static void mark_completed_keeps_the_result(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    world->now_ms += 50;
    Op *op = finish(world, claimed, NEXT_COMPLETE, "{\"total\":3}");
    assert_int_equal(op->out.turn.state, RUN_COMPLETED);
    assert_state(world, "r1", RUN_COMPLETED);
    assert_text(get_result(world, "r1"), "{\"total\":3}");
    RunRow run = get_run(world, "r1");
    assert_int_equal(run.finished_at_ms, START_MS + 50);
    assert_int_equal(run.owner, 0);
    assert_int_equal(world->batch.out.ended_count, 1);
    assert_text(world->batch.out.ended[0].id, "r1");
}

static void mark_failed_terminal_keeps_the_error(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    finish(world, claimed, NEXT_FAIL, "{\"type\":\"CardError\"}");
    assert_state(world, "r1", RUN_FAILED);
    assert_text(get_result(world, "r1"), "{\"type\":\"CardError\"}");
    assert_int_equal(last_entry(world, "r1", LOG_FINISHED).outcome, OUTCOME_ERROR);
}

static void mark_failed_retryable_keeps_the_attempt_and_backs_off(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    Op *op = turn(world, claimed, NEXT_SUSPEND);
    set_log(world, op,
            (LogRow){.kind = LOG_STEP_ATTEMPT,
                     .position = 0,
                     .attempt = 1,
                     .outcome = OUTCOME_ERROR,
                     .name = STR("charge"),
                     .data = STR("{\"type\":\"Busy\"}")});
    set_waits(world, op, WAIT_FIRST, (WaitItem[]){on_retry(START_MS + 2000)}, 1);
    op_run(world, op, OK);
    assert_state(world, "r1", RUN_SUSPENDED);
    assert_int_equal(get_run(world, "r1").idle_since_ms, 0); // a backoff is not idleness
    assert_int_equal(fire_at(world, START_MS + 2000)->out.fire_due.woken_count, 1);
    RunLoad load = get_load(world, "r1");
    assert_int_equal(load.log[0].kind, LOG_STEP_ATTEMPT);
    assert_int_equal(load.log[0].attempt, 1);
}

static void mark_resumed_hands_the_run_to_the_node_that_woke_it(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    park(world, claimed, on_signal("go"));
    assert_true(signal_run(world, "r1", "go", "1")->out.signal.is_delivered);
    Claimed again = ready_of(world, claimed.run);
    assert_true(again.epoch > claimed.epoch);
    assert_int_equal(get_run(world, "r1").owner, world->node);
    assert_text(get_run(world, "r1").waits, NULL);
    save_step(world, again, "next", 8);
}

static void the_earliest_deadline_is_what_is_due_next(void **state) {
    World *world = *state;
    const int64_t at_ms[] = {300, 100, 200, 400};
    const char *const ids[] = {"c", "a", "b", "d"};
    for (int i = 0; i < 4; i++) park(world, create(world, ids[i]), on_timer(START_MS + at_ms[i]));
    int64_t due;
    assert_ok(store_next_due(world->store, &world->arena, &due, &world->diag));
    assert_int_equal(due, START_MS + 100);
}

static void runs_waiting_on_a_topic_are_listed_oldest_first(void **state) {
    World *world = *state;
    park(world, create(world, "second"), on_event("u"));
    Claimed late = create(world, "made-first"), early = create(world, "parked-first");
    park(world, early, on_event("t"));
    park(world, late, on_event("t"));
    RunPage waiters;
    assert_ok(store_list_waiters(world->store, &world->arena,
                                 &(WaiterFilter){.topic = STR("t"), .page.limit = 256}, &waiters,
                                 &world->diag));
    assert_int_equal(waiters.count, 2);
    assert_text(waiters.rows[0].id, "parked-first");
    assert_text(waiters.rows[1].id, "made-first");
    assert_ok(store_list_waiters(world->store, &world->arena,
                                 &(WaiterFilter){.topic = STR("t"), .page.limit = 1}, &waiters,
                                 &world->diag));
    assert_int_equal(waiters.count, 1);
    assert_true(waiters.next != 0);
}

static void cancel_ends_running_and_suspended_runs(void **state) {
    World *world = *state;
    create(world, "running");
    park(world, create(world, "parked"), on_signal("go"));
    assert_true(cancel_run(world, "running", 0)->out.cancel.is_changed);
    assert_true(cancel_run(world, "parked", 0)->out.cancel.is_changed);
    assert_state(world, "running", RUN_CANCELLED);
    assert_state(world, "parked", RUN_CANCELLED);
}

static void cancel_of_a_terminal_run_answers_false(void **state) {
    World *world = *state;
    finish(world, create(world, "r1"), NEXT_COMPLETE, "1");
    assert_false(cancel_run(world, "r1", 0)->out.cancel.is_changed);
    assert_false(cancel_run(world, "r1", 1000)->out.cancel.is_changed);
    assert_state(world, "r1", RUN_COMPLETED);
}

static void rewind_to_step_drops_it_and_what_follows(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    save_step(world, claimed, "a", 0);
    save_step(world, claimed, "b", 1);
    save_step(world, claimed, "c", 2);
    Op *op = rewind_run(world, "r1", "b", -1);
    assert_int_equal(op->out.rewind.position, 1);
    assert_int_equal(op->out.rewind.dropped_count, 2);
    RunLoad load = get_load(world, "r1");
    assert_int_equal(load.log_count, 1);
    assert_text(load.log[0].name, "a");
    assert_text(load.input, "{\"a\":1}"); // its input comes with it
    assert_state(world, "r1", RUN_RUNNING);
}

static void emit_without_a_waiter_is_kept(void **state) {
    World *world = *state;
    Op *op = publish(world, "t", "{\"n\":1}");
    assert_true(op->out.publish.is_kept);
    assert_int_equal(op->out.publish.resumed_count, 0);
    EventPage events = get_events(world, "t");
    assert_int_equal(events.count, 1);
    assert_text(events.rows[0].payload, "{\"n\":1}");
    assert_int_equal(get_counter(world, COUNTER_EVENTS), 1);
}

static void fanout_answers_the_number_of_resumes(void **state) {
    World *world = *state;
    set_topic(world, "t", CONSUME_ALL, VISIBLE_ALL);
    for (int i = 0; i < 7; i++) {
        Str id = arena_printf(&world->arena, "r%d", i);
        park(world, create(world, id.data), on_event("t"));
    }
    assert_int_equal(publish(world, "t", "1")->out.publish.resumed_count, 7);
    assert_int_equal(world->batch.out.ready_count, 7);
    assert_int_equal(publish(world, "t", "2")->out.publish.resumed_count, 0);
}

static void query_status_and_result_follow_the_life_of_a_run(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    RunResult result;
    assert_status(
        store_find_result(world->store, &world->arena, run_of_id(STR("r1")), &result, &world->diag),
        ERR_NOT_FOUND);
    assert_string_equal(world->diag.code, "RESULT_NOT_FOUND");
    finish(world, claimed, NEXT_COMPLETE, "42");
    assert_ok(store_find_result(world->store, &world->arena, run_of_id(STR("r1")), &result,
                                &world->diag));
    assert_text(result.json, "42");
    assert_int_equal(result.state, RUN_COMPLETED);
}

static void active_runs_are_one_query(void **state) {
    World *world = *state;
    create(world, "running");
    park(world, create(world, "parked"), on_signal("go"));
    finish(world, create(world, "done"), NEXT_COMPLETE, "1");
    RunPage page;
    assert_ok(store_list_runs(
        world->store, &world->arena,
        &(RunFilter){.states = 1u << RUN_RUNNING | 1u << RUN_SUSPENDED, .limit = 10}, &page,
        &world->diag));
    assert_int_equal(page.count, 2);
    assert_text(page.rows[0].id, "parked");
    assert_text(page.rows[1].id, "running");
}

static void update_for_continue_as_is_one_operation(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    save_step(world, claimed, "a", 0);
    Op *op = finish(world, claimed, NEXT_CONTINUE_AS, "{\"page\":2}");
    assert_int_equal(op->out.turn.state, RUN_RUNNING);
    assert_text(get_input(world, "r1"), "{\"page\":2}");
    RunRow run = get_run(world, "r1");
    assert_int_equal(run.incarnation, 1);
    assert_int_equal(run.owner, world->node);
    assert_int_equal(get_load(world, "r1").log_count, 0);
    save_step(world, claimed, "a", 0); // the claim goes on
}

int contract_verbs(void) {
    const struct CMUnitTest tests[] = {
        CASE(create_run_keeps_workflow_params_and_ttl),
        CASE(create_run_by_a_parent_names_it),
        CASE(get_answers_the_run_by_id_and_by_key),
        CASE(get_of_an_unknown_run_is_not_found),
        CASE(save_step_then_read_step_gives_the_value),
        CASE(read_step_that_was_never_saved_is_not_found),
        CASE(save_step_of_null_counts_as_saved),
        CASE(suspend_until_wakes_at_that_time_and_not_before),
        CASE(suspend_on_topic_wakes_with_the_payload),
        CASE(suspend_on_topic_with_deadline_ends_in_a_time_out),
        CASE(suspend_on_topic_with_deadline_takes_an_event_in_time),
        CASE(mark_running_is_the_claim_of_a_ready_run),
        CASE(mark_completed_keeps_the_result),
        CASE(mark_failed_terminal_keeps_the_error),
        CASE(mark_failed_retryable_keeps_the_attempt_and_backs_off),
        CASE(mark_resumed_hands_the_run_to_the_node_that_woke_it),
        CASE(the_earliest_deadline_is_what_is_due_next),
        CASE(runs_waiting_on_a_topic_are_listed_oldest_first),
        CASE(cancel_ends_running_and_suspended_runs),
        CASE(cancel_of_a_terminal_run_answers_false),
        CASE(rewind_to_step_drops_it_and_what_follows),
        CASE(emit_without_a_waiter_is_kept),
        CASE(fanout_answers_the_number_of_resumes),
        CASE(query_status_and_result_follow_the_life_of_a_run),
        CASE(active_runs_are_one_query),
        CASE(update_for_continue_as_is_one_operation),
    };
    return run_group("verbs", tests);
}

// Steering from outside: cancel with and without grace, pause and resume in every state, and the
// overall deadline of a run.
#include "contract/contract.h"

// ---- cancel ----

static void cancel_of_a_run_nobody_has_in_memory_ends_it(void **state) {
    World *world = *state;
    park(world, create(world, "r1"), on_signal("go"), on_event("t"));
    world_crash(world);
    assert_true(cancel_run(world, "r1", 0)->out.cancel.is_changed);
    assert_state(world, "r1", RUN_CANCELLED);
    assert_int_equal(world->batch.out.ended_count, 1);
    assert_true(publish(world, "t", "1")->out.publish.is_kept); // nobody is left in that line
    assert_text(last_entry(world, "r1", LOG_CANCEL_REQUESTED).data, "\"asked\"");
    assert_int_equal(last_entry(world, "r1", LOG_FINISHED).outcome, OUTCOME_CANCELLED);
}

static void cancel_with_grace_reaches_a_parked_run_at_its_wait(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    park(world, claimed, on_signal("go"), on_event("t"));
    assert_true(cancel_run(world, "r1", 5000)->out.cancel.is_changed);
    const ReadyRun *ready = &world->batch.out.ready[0];
    assert_resolved(ready->resolved, ready->resolved_count, 0, OUTCOME_CANCELLED, NULL);
    assert_true(ready->claim.is_cancel_wanted);
    claimed = ready_at(world, 0);
    // Its cleanup may wait: the request is delivered once only.
    Op *op = park(world, claimed, on_signal("cleaned"));
    assert_int_equal(op->out.turn.state, RUN_SUSPENDED);
    assert_true(op->out.turn.is_cancel_wanted);
    signal_run(world, "r1", "cleaned", "1");
    op = finish(world, ready_at(world, 0), NEXT_CANCELLED, "{\"type\":\"CancelledError\"}");
    assert_int_equal(op->out.turn.state, RUN_CANCELLED);
}

static void cancel_with_grace_reaches_a_running_run_at_its_next_wait(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    signal_run(world, "r1", "go", "1");
    assert_true(cancel_run(world, "r1", 5000)->out.cancel.is_changed);
    assert_true(save_step(world, claimed, "a", 0)->out.turn.is_cancel_wanted);
    Op *op = park(world, claimed, on_signal("go"));
    assert_resolved(op->out.turn.resolved, op->out.turn.resolved_count, 0, OUTCOME_CANCELLED, NULL);
    assert_int_equal(get_signals(world, "r1").count, 1); // nothing was consumed for it
}

// What a runner does: the task, and the entry of the log that has its place.
static void queue_at(World *world, Op *op, const char *id, int64_t position) {
    TaskSpec spec = task_of(id);
    spec.position = position;
    set_task(world, op, &spec);
    op->in.turn.log = ARENA_NEW(&world->arena, LogRow);
    *op->in.turn.log = (LogRow){.kind = LOG_TASK, .position = position, .name = spec.name};
    op->in.turn.log_count = 1;
}

static void tasks_of_the_cleanup_outlive_a_cancelled_run(void **state) {
    World *world = *state;
    Op *op = turn(world, create(world, "r1"), NEXT_SUSPEND);
    queue_at(world, op, "before", 1);
    // The wait that hears of it may be older than what was queued last.
    WaitItem item = on_signal("go");
    item.position = 0;
    set_waits(world, op, WAIT_FIRST, &item, 1);
    op_run(world, op, OK);
    cancel_run(world, "r1", HOUR_MS);
    Claimed cleanup = ready_at(world, 0);
    op = turn(world, cleanup, NEXT_CONTINUE);
    queue_at(world, op, "cleanup", 2);
    op_run(world, op, OK);
    op = turn(world, cleanup, NEXT_CANCELLED);
    queue_at(world, op, "last", 3);
    op_run(world, op, OK);
    assert_int_equal(get_task(world, "before").state, TASK_CANCELLED);
    assert_int_equal(get_task(world, "cleanup").state, TASK_QUEUED);
    assert_int_equal(get_task(world, "last").state, TASK_QUEUED);
}

static void tasks_of_a_cleanup_that_is_cut_off_go_on(void **state) {
    World *world = *state;
    Op *op = turn(world, create(world, "r1"), NEXT_SUSPEND);
    queue_at(world, op, "before", 1);
    set_waits(world, op, WAIT_FIRST, (WaitItem[]){on_signal("go")}, 1);
    op_run(world, op, OK);
    cancel_run(world, "r1", MINUTE_MS);
    op = turn(world, ready_at(world, 0), NEXT_SUSPEND);
    queue_at(world, op, "cleanup", 2);
    set_waits(world, op, WAIT_FIRST, (WaitItem[]){on_signal("go")}, 1);
    op_run(world, op, OK);
    assert_int_equal(fire_at(world, START_MS + HOUR_MS)->out.fire_due.ended_count, 1);
    assert_int_equal(get_task(world, "before").state, TASK_CANCELLED);
    assert_int_equal(get_task(world, "cleanup").state, TASK_QUEUED);
}

static void task_queued_between_the_request_and_hearing_of_it_is_cancelled(void **state) {
    World *world = *state;
    Claimed claim = create(world, "r1");
    cancel_run(world, "r1", HOUR_MS);
    Op *op = turn(world, claim, NEXT_CONTINUE);
    queue_at(world, op, "before", 1);
    op_run(world, op, OK);
    op = turn(world, claim, NEXT_SUSPEND);
    set_waits(world, op, WAIT_FIRST, (WaitItem[]){on_signal("go")}, 1);
    op_run(world, op, OK);
    op = turn(world, claim, NEXT_CANCELLED);
    queue_at(world, op, "cleanup", 5);
    op_run(world, op, OK);
    assert_int_equal(get_task(world, "before").state, TASK_CANCELLED);
    assert_int_equal(get_task(world, "cleanup").state, TASK_QUEUED);
}

static void cancel_acknowledged_ends_cancelled_whatever_the_last_turn_says(void **state) {
    World *world = *state;
    Claimed a = create(world, "a"), b = create(world, "b"), c = create(world, "c");
    cancel_run(world, "a", 5000);
    cancel_run(world, "b", 5000);
    cancel_run(world, "c", 5000);
    finish(world, a, NEXT_COMPLETE, "\"done\"");
    finish(world, b, NEXT_FAIL, "{\"type\":\"Error\"}");
    finish(world, c, NEXT_PAUSE, "{\"type\":\"Error\"}");
    assert_state(world, "a", RUN_CANCELLED);
    assert_state(world, "b", RUN_CANCELLED);
    assert_state(world, "c", RUN_CANCELLED);
    assert_text(get_result(world, "b"), "{\"type\":\"Error\"}");
}

static void cancel_grace_over_ends_the_run_and_fences_its_executor(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    cancel_run(world, "r1", 5000);
    assert_int_equal(fire_at(world, START_MS + 4999)->out.fire_due.ended_count, 0);
    assert_int_equal(fire_at(world, START_MS + 5000)->out.fire_due.ended_count, 1);
    assert_state(world, "r1", RUN_CANCELLED);
    assert_true(get_run(world, "r1").epoch > claimed.epoch);
    Op *op = turn(world, claimed, NEXT_COMPLETE);
    op_run(world, op, ERR_TERMINAL);
}

static void cancel_grace_over_ends_a_run_that_parked_again(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    cancel_run(world, "r1", 5000);
    park(world, claimed, on_signal("go"));
    park(world, claimed, on_signal("never"));
    assert_state(world, "r1", RUN_SUSPENDED);
    assert_int_equal(get_run(world, "r1").due_at_ms, START_MS + 5000);
    fire_at(world, START_MS + 5000);
    assert_state(world, "r1", RUN_CANCELLED);
}

static void cancel_twice_changes_only_to_a_shorter_grace(void **state) {
    World *world = *state;
    create(world, "r1");
    assert_true(cancel_run(world, "r1", 5000)->out.cancel.is_changed);
    assert_false(cancel_run(world, "r1", 9000)->out.cancel.is_changed);
    assert_true(cancel_run(world, "r1", 1000)->out.cancel.is_changed);
    assert_int_equal(get_run(world, "r1").due_at_ms, START_MS + 1000);
    assert_int_equal(entry_count(world, "r1", LOG_CANCEL_REQUESTED), 1);
    assert_true(cancel_run(world, "r1", 0)->out.cancel.is_changed);
    assert_state(world, "r1", RUN_CANCELLED);
}

static void cancel_of_a_pending_run_is_immediate_even_with_grace(void **state) {
    World *world = *state;
    RunSpec spec = spec_of("r1");
    spec.start_at_ms = START_MS + 5000;
    create_op(world, &spec);
    assert_true(cancel_run(world, "r1", 60000)->out.cancel.is_changed);
    assert_state(world, "r1", RUN_CANCELLED);
    assert_int_equal(fire_at(world, START_MS + 5000)->out.fire_due.started_count, 0);
}

static void cancel_of_a_paused_run_lets_it_clean_up(void **state) {
    World *world = *state;
    park(world, create(world, "parked"), on_signal("go"));
    pause_run(world, "parked");
    assert_true(cancel_run(world, "parked", 5000)->out.cancel.is_changed);
    assert_state(world, "parked", RUN_RUNNING);
    assert_true(world->batch.out.ready[0].claim.is_cancel_wanted);
    Op *op = park(world, ready_at(world, 0), on_signal("go"));
    assert_resolved(op->out.turn.resolved, op->out.turn.resolved_count, 0, OUTCOME_CANCELLED, NULL);
}

static void cancel_of_a_paused_run_without_grace_ends_it(void **state) {
    World *world = *state;
    park(world, create(world, "r1"), on_event("t"));
    pause_run(world, "r1");
    assert_true(cancel_run(world, "r1", 0)->out.cancel.is_changed);
    assert_state(world, "r1", RUN_CANCELLED);
}

static void cancel_with_a_nonsense_grace_is_refused(void **state) {
    World *world = *state;
    create(world, "r1");
    Str before = world_dump(world);
    Op *op = op_new(world, OP_CANCEL);
    op->in.cancel.run_id = STR("r1");
    op->in.cancel.grace_ms = -1;
    op_run(world, op, ERR_INVALID);
    assert_refused(op, ERR_INVALID, "BAD_DURATION");
    assert_unchanged(world, before);
}

static void what_a_cancelled_run_returns_is_not_its_error(void **state) {
    World *world = *state;
    const TurnNext ends[] = {NEXT_COMPLETE, NEXT_FAIL, NEXT_CANCELLED, NEXT_CANCELLED};
    const char *const given[] = {"{\"refunded\":true}", "{\"type\":\"Mine\"}",
                                 "{\"type\":\"Mine\"}", NULL};
    const char *const ours = "{\"type\":\"CancelledError\",\"message\":\"the run was cancelled\"}";
    for (size_t i = 0; i < 4; i++) {
        const char *id = arena_printf(&world->arena, "r%zu", i).data;
        park(world, create(world, id), on_signal("go"));
        cancel_run(world, id, 1000);
        finish(world, ready_at(world, 0), ends[i], given[i]);
        assert_state(world, id, RUN_CANCELLED);
        assert_int_equal(world->batch.out.ended_count, 1); // who follows along is told the same
        const char *error = i == 1 || i == 2 ? given[i] : ours;
        assert_text(world->batch.out.ended[0].error, error);
        assert_text(get_result(world, id), error);
    }
}

// ---- pause and resume ----

static const char *pause_reason(World *world, const char *id) {
    Str reason;
    assert_ok(store_find_pause_reason(world->store, &world->arena, run_of_id(str_from(id)), &reason,
                                      &world->diag));
    return str_is_null(reason) ? "" : arena_cstr(&world->arena, reason);
}

static void a_paused_run_says_why(void **state) {
    World *world = *state;
    const char *const asked = "{\"type\":\"PauseRequested\",\"message\":\"somebody asked for it\"}";
    Claimed executing = create(world, "executing"), own = create(world, "own");
    park(world, create(world, "parked"), on_signal("go"));
    assert_string_equal(pause_reason(world, "parked"), "");
    pause_run(world, "parked");
    assert_string_equal(pause_reason(world, "parked"), asked);
    pause_run(world, "executing");
    assert_string_equal(pause_reason(world, "executing"), ""); // not yet
    park(world, executing, on_signal("go"));
    assert_string_equal(pause_reason(world, "executing"), asked);
    finish(world, own, NEXT_PAUSE, "{\"type\":\"WorkflowChanged\"}");
    assert_string_equal(pause_reason(world, "own"), "{\"type\":\"WorkflowChanged\"}");
    for (int i = 0; i < 200; i++) { // whatever is noted meanwhile
        Op *op = op_new(world, OP_APPEND_LOG);
        op->in.append_log.run = own.run;
        op->in.append_log.is_any_epoch = true;
        op->in.append_log.entry = (LogRow){.kind = LOG_LINE, .position = -1, .data = STR("1")};
        op_run(world, op, OK);
    }
    assert_string_equal(pause_reason(world, "own"), "{\"type\":\"WorkflowChanged\"}");
    resume_run(world, "own");
    own = ready_of(world, own.run);
    assert_string_equal(pause_reason(world, "own"), "");
    pause_run(world, "own");
    finish(world, own, NEXT_CONTINUE_AS, "1");
    assert_string_equal(pause_reason(world, "own"), asked); // the last one counts
    Str reason;
    assert_int_equal(store_find_pause_reason(world->store, &world->arena, run_of_id(STR("nobody")),
                                             &reason, &world->diag),
                     ERR_NOT_FOUND);
}

static void pause_of_a_parked_run_holds_it_and_its_events_wait(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    park(world, claimed, on_event("t"), on_signal("go"));
    assert_true(pause_run(world, "r1")->out.hold.is_changed);
    assert_state(world, "r1", RUN_PAUSED);
    assert_int_equal(publish(world, "t", "1")->out.publish.resumed_count, 0);
    assert_false(signal_run(world, "r1", "go", "2")->out.signal.is_delivered);
    assert_int_equal(fire_at(world, START_MS + DAY_MS)->out.fire_due.woken_count, 0);
    assert_true(resume_run(world, "r1")->out.hold.is_changed);
    const ReadyRun *ready = &world->batch.out.ready[0];
    assert_resolved(ready->resolved, ready->resolved_count, 0, OUTCOME_OK, "1");
    assert_int_equal(get_signals(world, "r1").count, 1);
}

static void resume_of_a_parked_run_parks_it_again_when_nothing_came(void **state) {
    World *world = *state;
    park(world, create(world, "r1"), on_event("t"));
    pause_run(world, "r1");
    resume_run(world, "r1");
    assert_state(world, "r1", RUN_SUSPENDED);
    assert_int_equal(world->batch.out.ready_count, 0);
    assert_int_equal(publish(world, "t", "1")->out.publish.resumed_count, 1);
}

static void wait_that_came_due_while_paused_is_delivered_on_resume(void **state) {
    World *world = *state;
    park(world, create(world, "timer"), on_timer(START_MS + 100));
    park(world, create(world, "wait"), with_deadline(on_signal("go"), START_MS + 100));
    pause_run(world, "timer");
    pause_run(world, "wait");
    assert_int_equal(fire_at(world, START_MS + 500)->out.fire_due.fired_count, 0);
    resume_run(world, "timer");
    assert_int_equal(world->batch.out.ready[0].resolved[0].outcome, OUTCOME_OK);
    resume_run(world, "wait");
    assert_int_equal(world->batch.out.ready[0].resolved[0].outcome, OUTCOME_TIMEOUT);
}

static void pause_of_a_running_run_takes_effect_at_its_next_commit(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    assert_true(pause_run(world, "r1")->out.hold.is_changed);
    assert_state(world, "r1", RUN_RUNNING);
    Op *op = save_step(world, claimed, "a", 0);
    assert_int_equal(op->out.turn.state, RUN_PAUSED);
    assert_int_equal(get_load(world, "r1").log_count, 1); // the checkpoint was kept
    op = turn(world, claimed, NEXT_COMPLETE);
    op_run(world, op, ERR_FENCED);
    resume_run(world, "r1");
    assert_int_equal(world->batch.out.ready_count, 1);
    finish(world, ready_at(world, 0), NEXT_COMPLETE, "1");
}

static void pause_wanted_while_parking_holds_it_there(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    pause_run(world, "r1");
    Op *op = park(world, claimed, on_event("t"));
    assert_int_equal(op->out.turn.state, RUN_PAUSED);
    assert_int_equal(publish(world, "t", "1")->out.publish.resumed_count, 0);
    resume_run(world, "r1");
    assert_int_equal(world->batch.out.ready[0].resolved_count, 1);
}

static void pause_wanted_while_a_wait_resolves_at_once_keeps_what_it_took(void **state) {
    World *world = *state;
    publish(world, "t", "1");
    Claimed claimed = create(world, "r1");
    pause_run(world, "r1");
    Op *op = park(world, claimed, on_event("t"));
    assert_int_equal(op->out.turn.state, RUN_PAUSED);
    assert_int_equal(op->out.turn.resolved_count, 1);
    resume_run(world, "r1");
    assert_int_equal(world->batch.out.ready_count, 1);
    assert_text(get_load(world, "r1").log[0].data, "1");
    assert_int_equal(get_events(world, "t").count, 0);
}

static void pause_wanted_does_not_keep_a_run_from_ending(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    pause_run(world, "r1");
    assert_int_equal(finish(world, claimed, NEXT_COMPLETE, "1")->out.turn.state, RUN_COMPLETED);
}

static void resume_before_the_pause_took_effect_takes_it_back(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    pause_run(world, "r1");
    assert_true(resume_run(world, "r1")->out.hold.is_changed);
    assert_int_equal(save_step(world, claimed, "a", 0)->out.turn.state, RUN_RUNNING);
}

static void pause_of_a_ready_run_nobody_claimed_holds_it_at_once(void **state) {
    World *world = *state;
    world->claim_max = 0;
    RunSpec spec = spec_of("r1");
    create_op(world, &spec);
    pause_run(world, "r1");
    assert_state(world, "r1", RUN_PAUSED);
    world->claim_max = 100;
    assert_int_equal(claim(world, 10)->out.claim.count, 0);
    resume_run(world, "r1");
    assert_int_equal(world->batch.out.ready_count, 1);
}

static void pause_of_a_pending_run_keeps_its_start_time(void **state) {
    World *world = *state;
    RunSpec spec = spec_of("early");
    spec.start_at_ms = START_MS + 5000;
    create_op(world, &spec);
    spec.id = STR("late");
    create_op(world, &spec);
    pause_run(world, "early");
    pause_run(world, "late");
    world->now_ms = START_MS + 1000;
    resume_run(world, "early"); // before the time: it starts when it comes
    assert_state(world, "early", RUN_PENDING);
    assert_int_equal(fire_at(world, START_MS + 5000)->out.fire_due.started_count, 1);
    assert_state(world, "late", RUN_PAUSED); // past the time: it starts when resumed
    resume_run(world, "late");
    if (get_run(world, "late").state == RUN_PENDING) fire(world);
    assert_state(world, "late", RUN_RUNNING);
    assert_int_equal(world->batch.out.ready_count, 1);
}

static void pause_and_resume_repeated_change_nothing(void **state) {
    World *world = *state;
    park(world, create(world, "r1"), on_signal("go"));
    assert_false(resume_run(world, "r1")->out.hold.is_changed);
    pause_run(world, "r1");
    Str before = world_dump(world);
    assert_false(pause_run(world, "r1")->out.hold.is_changed);
    assert_unchanged(world, before);
    create(world, "r2");
    pause_run(world, "r2");
    assert_false(pause_run(world, "r2")->out.hold.is_changed);
}

static void pause_by_the_run_itself_keeps_the_reason(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    Op *op = finish(world, claimed, NEXT_PAUSE, "{\"type\":\"NeedsHelp\"}");
    assert_int_equal(op->out.turn.state, RUN_PAUSED);
    assert_text(last_entry(world, "r1", LOG_PAUSED).data, "{\"type\":\"NeedsHelp\"}");
    resume_run(world, "r1");
    assert_int_equal(world->batch.out.ready_count, 1);
    assert_int_equal(entry_count(world, "r1", LOG_RESUMED), 1);
}

static void pause_after_a_cancel_request_does_nothing(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    cancel_run(world, "r1", 5000);
    assert_false(pause_run(world, "r1")->out.hold.is_changed);
    assert_int_equal(save_step(world, claimed, "a", 0)->out.turn.state, RUN_RUNNING);
}

static void paused_node_death_keeps_the_pause(void **state) {
    World *world = *state;
    create(world, "r1");
    pause_run(world, "r1"); // wanted, then its executor dies
    world_crash(world);
    assert_int_equal(claim(world, 10)->out.claim.count, 0);
    assert_state(world, "r1", RUN_PAUSED);
    resume_run(world, "r1");
    assert_state(world, "r1", RUN_RUNNING);
}

// ---- the overall deadline ----

static RunSpec with_timeout(const char *id, int64_t timeout_ms) {
    RunSpec spec = spec_of(id);
    spec.timeout_ms = timeout_ms;
    return spec;
}

static void overall_deadline_fails_a_running_run_and_fences_it(void **state) {
    World *world = *state;
    RunSpec spec = with_timeout("r1", 1000);
    Claimed claimed = create_from(world, &spec);
    assert_int_equal(fire_at(world, START_MS + 999)->out.fire_due.ended_count, 0);
    assert_int_equal(fire_at(world, START_MS + 1000)->out.fire_due.ended_count, 1);
    assert_state(world, "r1", RUN_FAILED);
    assert_int_equal(last_entry(world, "r1", LOG_FINISHED).outcome, OUTCOME_TIMEOUT);
    Op *op = turn(world, claimed, NEXT_COMPLETE);
    op_run(world, op, ERR_TERMINAL);
}

static void overall_deadline_fails_a_suspended_run_nobody_holds(void **state) {
    World *world = *state;
    RunSpec spec = with_timeout("r1", 1000);
    park(world, create_from(world, &spec), on_event("t"));
    world_crash(world);
    assert_int_equal(get_run(world, "r1").due_at_ms, START_MS + 1000);
    assert_int_equal(fire_at(world, START_MS + 1000)->out.fire_due.ended_count, 1);
    assert_state(world, "r1", RUN_FAILED);
    assert_true(publish(world, "t", "1")->out.publish.is_kept);
}

static void overall_deadline_comes_before_a_later_wait(void **state) {
    World *world = *state;
    RunSpec spec = with_timeout("r1", 1000);
    park(world, create_from(world, &spec), on_timer(START_MS + 500), on_signal("go"));
    fire_at(world, START_MS + 500);
    assert_state(world, "r1", RUN_RUNNING);
    park(world, ready_at(world, 0), on_timer(START_MS + 5000));
    fire_at(world, START_MS + 1000);
    assert_state(world, "r1", RUN_FAILED);
}

static void overall_deadline_stands_still_while_paused(void **state) {
    World *world = *state;
    RunSpec spec = with_timeout("r1", 1000);
    park(world, create_from(world, &spec), on_signal("go"));
    world->now_ms = START_MS + 400;
    pause_run(world, "r1");
    assert_int_equal(fire_at(world, START_MS + DAY_MS)->out.fire_due.fired_count, 0);
    assert_state(world, "r1", RUN_PAUSED);
    resume_run(world, "r1");
    assert_int_equal(get_run(world, "r1").deadline_at_ms, START_MS + DAY_MS + 600);
    assert_int_equal(fire_at(world, START_MS + DAY_MS + 599)->out.fire_due.ended_count, 0);
    assert_int_equal(fire_at(world, START_MS + DAY_MS + 600)->out.fire_due.ended_count, 1);
}

static void overall_deadline_of_a_delayed_run_counts_from_its_start(void **state) {
    World *world = *state;
    RunSpec spec = with_timeout("r1", 1000);
    spec.start_at_ms = START_MS + 5000;
    create_op(world, &spec);
    fire_at(world, START_MS + 5000);
    assert_state(world, "r1", RUN_RUNNING);
    fire_at(world, START_MS + 5999);
    assert_state(world, "r1", RUN_RUNNING);
    fire_at(world, START_MS + 6000);
    assert_state(world, "r1", RUN_FAILED);
}

static void overall_deadline_wakes_the_parent_with_an_error(void **state) {
    World *world = *state;
    Claimed parent = create(world, "parent");
    RunSpec spec = with_timeout("child", 1000);
    Op *op = turn(world, parent, NEXT_SUSPEND);
    op->in.turn.children = &spec;
    op->in.turn.child_count = 1;
    set_waits(world, op, WAIT_FIRST, (WaitItem[]){on_child("child")}, 1);
    op_run(world, op, OK);
    fire_at(world, START_MS + 1000);
    assert_int_equal(world->batch.out.ready_count, 1);
    assert_int_equal(world->batch.out.ready[0].run, parent.run);
    assert_int_equal(world->batch.out.ready[0].resolved[0].outcome, OUTCOME_ERROR);
}

int contract_steering(void) {
    const struct CMUnitTest tests[] = {
        CASE(cancel_of_a_run_nobody_has_in_memory_ends_it),
        CASE(cancel_with_grace_reaches_a_parked_run_at_its_wait),
        CASE(cancel_with_grace_reaches_a_running_run_at_its_next_wait),
        CASE(tasks_of_the_cleanup_outlive_a_cancelled_run),
        CASE(tasks_of_a_cleanup_that_is_cut_off_go_on),
        CASE(task_queued_between_the_request_and_hearing_of_it_is_cancelled),
        CASE(cancel_acknowledged_ends_cancelled_whatever_the_last_turn_says),
        CASE(cancel_grace_over_ends_the_run_and_fences_its_executor),
        CASE(cancel_grace_over_ends_a_run_that_parked_again),
        CASE(cancel_twice_changes_only_to_a_shorter_grace),
        CASE(cancel_of_a_pending_run_is_immediate_even_with_grace),
        CASE(cancel_of_a_paused_run_lets_it_clean_up),
        CASE(cancel_of_a_paused_run_without_grace_ends_it),
        CASE(cancel_with_a_nonsense_grace_is_refused),
        CASE(what_a_cancelled_run_returns_is_not_its_error),
        CASE(a_paused_run_says_why),
        CASE(pause_of_a_parked_run_holds_it_and_its_events_wait),
        CASE(resume_of_a_parked_run_parks_it_again_when_nothing_came),
        CASE(wait_that_came_due_while_paused_is_delivered_on_resume),
        CASE(pause_of_a_running_run_takes_effect_at_its_next_commit),
        CASE(pause_wanted_while_parking_holds_it_there),
        CASE(pause_wanted_while_a_wait_resolves_at_once_keeps_what_it_took),
        CASE(pause_wanted_does_not_keep_a_run_from_ending),
        CASE(resume_before_the_pause_took_effect_takes_it_back),
        CASE(pause_of_a_ready_run_nobody_claimed_holds_it_at_once),
        CASE(pause_of_a_pending_run_keeps_its_start_time),
        CASE(pause_and_resume_repeated_change_nothing),
        CASE(pause_by_the_run_itself_keeps_the_reason),
        CASE(pause_after_a_cancel_request_does_nothing),
        CASE(paused_node_death_keeps_the_pause),
        CASE(overall_deadline_fails_a_running_run_and_fences_it),
        CASE(overall_deadline_fails_a_suspended_run_nobody_holds),
        CASE(overall_deadline_comes_before_a_later_wait),
        CASE(overall_deadline_stands_still_while_paused),
        CASE(overall_deadline_of_a_delayed_run_counts_from_its_start),
        CASE(overall_deadline_wakes_the_parent_with_an_error),
    };
    return run_group("steering", tests);
}

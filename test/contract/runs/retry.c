// Further attempts of a run that failed, and what a definition says about the runs made of it.
#include "contract/contract.h"

static const char boom[] = "{\"type\":\"Boom\"}";

// The turn fails, and the run begins again at that time.
static Op *retry_at(World *world, Claimed claimed, int64_t at_ms) {
    Op *op = turn(world, claimed, NEXT_RETRY);
    op->in.turn.result = str_from(boom);
    op->in.turn.retry_at_ms = at_ms;
    op_run(world, op, OK);
    return op;
}

static void a_failed_run_begins_again_from_its_input(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    save_step(world, claimed, "a", 0);
    Op *op = retry_at(world, claimed, START_MS + 5000);
    assert_int_equal(op->out.turn.state, RUN_PENDING);
    assert_int_equal(world->batch.out.earliest_due_ms, START_MS + 5000);
    assert_int_equal(world->batch.out.ended_count, 0);
    RunRow run = get_run(world, "r1");
    assert_int_equal(run.retries, 1);
    assert_int_equal(run.owner, 0);
    assert_int_equal(fire_at(world, START_MS + 4999)->out.fire_due.started_count, 0);
    assert_int_equal(fire_at(world, START_MS + 5000)->out.fire_due.started_count, 1);
    assert_text(get_input(world, "r1"), "{\"a\":1}");
    assert_int_equal(get_load(world, "r1").log_count, 0);
    LogRow entry;
    assert_status(store_find_step(world->store, &world->arena,
                                  &(StepRef){.run = run_of_id(STR("r1")), .name = STR("a")}, &entry,
                                  &world->diag),
                  ERR_NOT_FOUND);
    Claimed again = ready_at(world, 0);
    save_step(world, again, "a", 0);
    finish(world, again, NEXT_COMPLETE, "1");
    assert_state(world, "r1", RUN_COMPLETED);
    assert_int_equal(entry_count(world, "r1", LOG_FINISHED), 1);
}

static void history_says_which_attempt_failed_why_and_when_the_next_begins(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    save_step(world, claimed, "a", 0);
    retry_at(world, claimed, START_MS + 5000);
    fire_at(world, START_MS + 5000);
    retry_at(world, ready_at(world, 0), START_MS + 6000);
    LogRow entry = last_entry(world, "r1", LOG_RETRY);
    assert_int_equal(entry.attempt, 2);
    assert_int_equal(entry.outcome, OUTCOME_ERROR);
    assert_text(entry.data, "{\"error\":{\"type\":\"Boom\"},"
                            "\"next_at\":\"1970-01-01T00:16:46.000Z\"}");
    assert_int_equal(last_entry(world, "r1", LOG_STARTED).attempt, 3);
    assert_text(last_entry(world, "r1", LOG_STARTED).data, "{\"a\":1}");
    assert_int_equal(entry_count(world, "r1", LOG_RETRY), 2);
    assert_int_equal(entry_count(world, "r1", LOG_STEP), 1); // its history stays
    assert_int_equal(get_run(world, "r1").retries, 2);
}

static void attempts_have_incarnations_of_their_own(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    int64_t before = get_run(world, "r1").incarnation;
    retry_at(world, claimed, START_MS);
    assert_int_equal(get_run(world, "r1").incarnation, before + 1);
    fire_at(world, START_MS); // a pause that is over already
    assert_state(world, "r1", RUN_RUNNING);
}

static void tasks_of_the_failed_attempt_are_cancelled(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    TaskSpec waiting = task_of("waiting"), leased = task_of("leased");
    leased.queue = STR("other");
    TaskSpec both[] = {waiting, leased};
    Op *op = turn(world, claimed, NEXT_CONTINUE);
    op->in.turn.tasks = both;
    op->in.turn.task_count = 2;
    op_run(world, op, OK);
    TaskRow lease = lease_one(world, "other");
    retry_at(world, claimed, START_MS + 1000);
    assert_int_equal(get_task(world, "waiting").state, TASK_CANCELLED);
    assert_int_equal(get_task(world, "leased").is_cancel_wanted, 1);
    fire_at(world, START_MS + 1000);
    Claimed again = ready_at(world, 0);
    park(world, again, on_signal("go"));
    complete_task(world, "leased", lease.token, "1"); // whoever still does it disturbs nobody
    assert_state(world, "r1", RUN_SUSPENDED);
}

static void children_follow_their_close_policy(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    RunSpec children[] = {spec_of("kept"), spec_of("closed"), spec_of("unstarted")};
    children[1].close_policy = children[2].close_policy = CLOSE_CANCEL;
    children[2].start_at_ms = START_MS + DAY_MS;
    Op *op = turn(world, claimed, NEXT_CONTINUE);
    op->in.turn.children = children;
    op->in.turn.child_count = 3;
    op_run(world, op, OK);
    retry_at(world, claimed, START_MS + 1000);
    assert_int_equal(get_run(world, "kept").cancel_at_ms, 0);
    assert_int_not_equal(get_run(world, "closed").cancel_at_ms, 0);
    assert_state(world, "unstarted", RUN_CANCELLED);
    assert_state(world, "r1", RUN_PENDING);
    cancel_run(world, "r1", 1000); // nothing of it executes: it ends at once
    assert_state(world, "r1", RUN_CANCELLED);
}

static void parent_sees_only_how_the_last_attempt_ends(void **state) {
    World *world = *state;
    Claimed parent = create(world, "parent");
    RunSpec child = spec_of("child");
    Op *op = turn(world, parent, NEXT_SUSPEND);
    op->in.turn.children = &child;
    op->in.turn.child_count = 1;
    set_waits(world, op, WAIT_FIRST, (WaitItem[]){on_child("child")}, 1);
    op_run(world, op, OK);
    retry_at(world, ready_at(world, 0), START_MS + 1000);
    assert_state(world, "parent", RUN_SUSPENDED);
    fire_at(world, START_MS + 1000);
    finish(world, ready_at(world, 0), NEXT_COMPLETE, "7");
    assert_resolved(world->batch.out.ready[0].resolved, world->batch.out.ready[0].resolved_count, 0,
                    OUTCOME_OK, "7");
}

static void pending_signals_stay_and_consumed_ones_are_gone(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    signal_run(world, "r1", "go", "1");
    park(world, claimed, on_signal("go"));
    signal_run(world, "r1", "go", "2");
    retry_at(world, claimed, START_MS + 1000);
    assert_int_equal(get_signals(world, "r1").count, 1);
    fire_at(world, START_MS + 1000);
    Op *op = park(world, ready_at(world, 0), on_signal("go"));
    assert_resolved(op->out.turn.resolved, op->out.turn.resolved_count, 0, OUTCOME_OK, "2");
}

static void values_and_snapshots_of_the_failed_attempt_are_gone(void **state) {
    World *world = *state;
    RunSpec spec = spec_of("r1");
    spec.kind = RUN_FLOW;
    Claimed claimed = create_from(world, &spec);
    StateSpec value = {STR("phase"), STR("1")};
    Op *op = turn(world, claimed, NEXT_SUSPEND);
    op->in.turn.states = &value;
    op->in.turn.state_count = 1;
    op->in.turn.snapshot = STR("p0");
    op->in.turn.keep_snapshots = 5;
    set_log(world, op, (LogRow){.kind = LOG_WAITING, .position = 0, .name = STR("go")});
    set_waits(world, op, WAIT_EACH, (WaitItem[]){on_signal("go")}, 1);
    op_run(world, op, OK);
    signal_run(world, "r1", "go", "1");
    op = turn(world, ready_at(world, 0), NEXT_RETRY);
    op->in.turn.retry_at_ms = START_MS;
    op->in.turn.keep_snapshots = 5;
    set_log(world, op, (LogRow){.kind = LOG_WAITING, .position = 1, .name = STR("more")});
    op_run(world, op, OK);
    StateList found;
    assert_ok(
        store_list_states(world->store, &world->arena, run_of_id(STR("r1")), &found, &world->diag));
    assert_int_equal(found.count, 0);
    fire_at(world, START_MS);
    RunLoad load = get_load(world, "r1");
    assert_true(str_is_null(load.run.snapshot));
    assert_int_equal(load.log_count, 0);
}

static void run_that_was_asked_to_end_is_not_tried_again(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    cancel_run(world, "r1", MINUTE_MS);
    Op *op = retry_at(world, claimed, START_MS + 1000);
    assert_int_equal(op->out.turn.state, RUN_CANCELLED);
    assert_int_equal(entry_count(world, "r1", LOG_RETRY), 0);
}

static void deadline_covers_all_attempts(void **state) {
    World *world = *state;
    RunSpec spec = spec_of("r1");
    spec.timeout_ms = 10 * SECOND_MS;
    Claimed claimed = create_from(world, &spec);
    retry_at(world, claimed, START_MS + 4000);
    assert_int_equal(get_run(world, "r1").deadline_at_ms, START_MS + 10 * SECOND_MS);
    fire_at(world, START_MS + 4000);
    Op *op = retry_at(world, ready_at(world, 0), START_MS + 10 * SECOND_MS);
    assert_int_equal(op->out.turn.state, RUN_FAILED); // the next one could not begin in time
    assert_text(get_result(world, "r1"), boom);
    spec.id = STR("r2");
    world->now_ms = START_MS;
    claimed = create_from(world, &spec);
    retry_at(world, claimed, START_MS + 4000);
    fire_at(world, START_MS + 4000);
    fire_at(world, START_MS + 10 * SECOND_MS);
    assert_state(world, "r2", RUN_FAILED);
    assert_int_equal(last_entry(world, "r2", LOG_FINISHED).outcome, OUTCOME_TIMEOUT);
}

static void run_that_is_to_be_paused_is_held_between_attempts(void **state) {
    World *world = *state;
    RunSpec spec = spec_of("r1");
    spec.timeout_ms = 10 * SECOND_MS;
    Claimed claimed = create_from(world, &spec);
    pause_run(world, "r1");
    Op *op = retry_at(world, claimed, START_MS + 1000);
    assert_int_equal(op->out.turn.state, RUN_PAUSED);
    fire_at(world, START_MS + 2000);
    assert_state(world, "r1", RUN_PAUSED);
    world->now_ms = START_MS + HOUR_MS;
    resume_run(world, "r1");
    assert_state(world, "r1", RUN_RUNNING);
    // While it was paused its time stood still.
    assert_int_equal(get_run(world, "r1").deadline_at_ms, START_MS + HOUR_MS + 10 * SECOND_MS);
}

static void run_paused_between_attempts_goes_back_to_waiting_for_its_start(void **state) {
    World *world = *state;
    RunSpec spec = spec_of("r1");
    spec.timeout_ms = HOUR_MS;
    retry_at(world, create_from(world, &spec), START_MS + 5000);
    pause_run(world, "r1");
    world->now_ms = START_MS + 1000;
    resume_run(world, "r1");
    assert_state(world, "r1", RUN_PENDING);
    assert_int_equal(get_run(world, "r1").deadline_at_ms, START_MS + HOUR_MS + 1000);
    fire_at(world, START_MS + 5000);
    assert_state(world, "r1", RUN_RUNNING);
}

static void continue_as_has_all_its_attempts_before_it(void **state) {
    World *world = *state;
    retry_at(world, create(world, "r1"), START_MS);
    fire_at(world, START_MS);
    Claimed claimed = ready_at(world, 0);
    finish(world, claimed, NEXT_CONTINUE_AS, "{\"page\":2}");
    assert_int_equal(get_run(world, "r1").retries, 0);
    retry_at(world, claimed, START_MS);
    assert_text(get_input(world, "r1"), "{\"page\":2}");
    assert_int_equal(get_run(world, "r1").retries, 1);
}

static void many_attempts_keep_a_bounded_history(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    enum { ATTEMPTS = 12, STEPS = 150 };
    for (int i = 0; i < ATTEMPTS; i++) {
        Op *op = turn(world, claimed, NEXT_RETRY);
        op->in.turn.retry_at_ms = START_MS;
        op->in.turn.log = ARENA_ARRAY(&world->arena, LogRow, STEPS);
        op->in.turn.log_count = STEPS;
        for (int j = 0; j < STEPS; j++) op->in.turn.log[j] = log_step("s", j, j, "1");
        op_run(world, op, OK);
        fire_at(world, START_MS);
        claimed = ready_at(world, 0);
    }
    assert_text(get_input(world, "r1"), "{\"a\":1}");
    assert_int_equal(get_run(world, "r1").retries, ATTEMPTS);
    assert_true(entry_count(world, "r1", LOG_STEP) <= LIMIT_EARLIER_LOG + STEPS);
    assert_int_equal(get_load(world, "r1").log_count, 0);
}

static void waiting_for_the_next_attempt_survives_a_crash(void **state) {
    World *world = *state;
    retry_at(world, create(world, "r1"), START_MS + 5000);
    world_crash(world);
    fire_at(world, START_MS + 5000);
    assert_int_equal(world->batch.out.ready_count, 1);
    finish(world, ready_at(world, 0), NEXT_COMPLETE, "1");
    assert_state(world, "r1", RUN_COMPLETED);
}

// ---- what a definition says: contract.c prepares runs by the words in `config` ----

static void define(World *world, const char *config) {
    Op *op = op_new(world, OP_DEFINE);
    op->in.define.name = STR("script");
    op->in.define.version = str_from(config);
    op->in.define.config = str_from(config);
    op->in.define.kind = RUN_FLOW;
    op_run(world, op, OK);
}

static RunSpec script_of(const char *id, const char *input) {
    RunSpec spec = spec_of(id);
    spec.workflow = STR("script");
    spec.kind = 0;
    spec.input = str_from(input);
    return spec;
}

static void definition_fills_in_what_a_start_leaves_open(void **state) {
    World *world = *state;
    define(world, "defaults");
    RunSpec spec = script_of("r1", "1");
    create_op(world, &spec);
    RunRow run = get_run(world, "r1");
    assert_int_equal(run.deadline_at_ms, START_MS + 5000);
    assert_text(run.queue, "slow");
    assert_text(run.tags, "of-workflow");
    RunPage page;
    assert_ok(store_list_runs(world->store, &world->arena,
                              &(RunFilter){.tag = STR("of-workflow"), .limit = 10}, &page,
                              &world->diag));
    assert_int_equal(page.count, 1);
}

static void assert_same_row(const RunRow *answer, const RunRow *stored) {
    const Table *table = &tables[TABLE_RUNS];
    for (uint8_t i = 0; i < table->column_count; i++) {
        const Column *column = &table->columns[i];
        if (column->type == COLUMN_I64)
            assert_int_equal(row_i64(answer, column), row_i64(stored, column));
        else assert_true(str_equal(row_str(answer, column), row_str(stored, column)));
    }
}

static void new_run_is_answered_as_it_was_written(void **state) {
    World *world = *state;
    define(world, "defaults");
    RunSpec spec = script_of("r1", "1");
    Op *op = create_op(world, &spec);
    RunRow stored = get_run(world, "r1");
    assert_same_row(op->out.create_run.row, &stored);
    assert_text(op->out.create_run.version, "defaults");
    spec = spec_of("r2");
    spec.start_at_ms = START_MS + 1000;
    op = create_op(world, &spec);
    stored = get_run(world, "r2");
    assert_same_row(op->out.create_run.row, &stored);
    assert_true(str_is_null(op->out.create_run.version));
    assert_null(create_op(world, &spec)->out.create_run.row); // it is not new any more
}

static void key_stands_for_the_request_and_not_for_what_the_definition_adds(void **state) {
    World *world = *state;
    define(world, "plain");
    RunSpec spec = script_of("r1", "1");
    spec.dedupe_key = STR("k");
    create_op(world, &spec);
    define(world, "defaults");
    spec.id = STR("r2");
    Op *op = create_op(world, &spec);
    assert_false(op->out.create_run.is_new);
    assert_text(op->out.create_run.id, "r1");
}

static void input_the_workflow_does_not_take_starts_nothing(void **state) {
    World *world = *state;
    define(world, "picky");
    Str before = world_dump(world);
    Op *op = op_new(world, OP_CREATE_RUN);
    op->in.create_run.spec = script_of("r1", "\"bad\"");
    op_run(world, op, ERR_INVALID);
    assert_refused(op, ERR_INVALID, "BAD_INPUT");
    assert_unchanged(world, before);
    RunSpec good = script_of("r1", "1");
    create_op(world, &good);
    good.input = STR("\"bad\""); // a taken id answers its run, whatever else is said
    assert_false(create_op(world, &good)->out.create_run.is_new);
}

static void refused_successor_leaves_the_ended_run(void **state) {
    World *world = *state;
    define(world, "picky");
    RunSpec spec = script_of("r1", "1");
    finish(world, create_from(world, &spec), NEXT_COMPLETE, "1");
    Op *op = op_new(world, OP_CREATE_RUN);
    op->in.create_run.spec = script_of("r1", "\"bad\"");
    op->in.create_run.is_replacing = true;
    op_run(world, op, ERR_INVALID);
    assert_text(get_result(world, "r1"), "1");
}

static void child_with_bad_input_is_born_failed(void **state) {
    World *world = *state;
    define(world, "picky");
    RunSpec child = script_of("child", "\"bad\"");
    Op *op = turn(world, create(world, "parent"), NEXT_SUSPEND);
    op->in.turn.children = &child;
    op->in.turn.child_count = 1;
    set_waits(world, op, WAIT_FIRST, (WaitItem[]){on_child("child")}, 1);
    op_run(world, op, OK);
    assert_resolved(op->out.turn.resolved, op->out.turn.resolved_count, 0, OUTCOME_ERROR,
                    "{\"type\":\"InputError\"}");
    assert_state(world, "child", RUN_FAILED);
}

static Op *schedule_op(World *world) {
    Op *op = op_new(world, OP_SET_SCHEDULE);
    op->in.set_schedule.row = (ScheduleRow){.name = STR("s"),
                                            .workflow = STR("script"),
                                            .input = STR("\"bad\""),
                                            .kind = SCHEDULE_INTERVAL,
                                            .spec = STR("1m"),
                                            .keep_ms = -1};
    return op;
}

static void schedule_of_a_bad_input_is_refused(void **state) {
    World *world = *state;
    define(world, "picky");
    Op *op = schedule_op(world);
    op_run(world, op, ERR_INVALID);
    assert_refused(op, ERR_INVALID, "BAD_INPUT");
}

static void tick_with_bad_input_is_counted_and_says_why(void **state) {
    World *world = *state;
    define(world, "plain");
    op_run(world, schedule_op(world), OK);
    define(world, "picky"); // what it was set for is no longer what it starts
    fire_at(world, START_MS + 2 * MINUTE_MS);
    ScheduleRow schedule;
    assert_ok(store_find_schedule(world->store, &world->arena, STR("s"), &schedule, &world->diag));
    assert_int_equal(schedule.failed_count, 1);
    assert_text(schedule.last_error, "the input is bad");
}

static void tasks_that_name_no_queue_go_to_that_of_the_run(void **state) {
    World *world = *state;
    RunSpec spec = spec_of("r1");
    spec.queue = STR("slow");
    Claimed claimed = create_from(world, &spec);
    TaskSpec tasks[] = {task_of("plain"), task_of("other")};
    tasks[0].queue = STR_NULL;
    tasks[1].queue = STR("fast");
    Op *op = turn(world, claimed, NEXT_CONTINUE);
    op->in.turn.tasks = tasks;
    op->in.turn.task_count = 2;
    op_run(world, op, OK);
    assert_text(get_task(world, "plain").queue, "slow");
    assert_text(get_task(world, "other").queue, "fast");
}

int contract_retry(void) {
    const struct CMUnitTest tests[] = {
        CASE(a_failed_run_begins_again_from_its_input),
        CASE(history_says_which_attempt_failed_why_and_when_the_next_begins),
        CASE(attempts_have_incarnations_of_their_own),
        CASE(tasks_of_the_failed_attempt_are_cancelled),
        CASE(children_follow_their_close_policy),
        CASE(parent_sees_only_how_the_last_attempt_ends),
        CASE(pending_signals_stay_and_consumed_ones_are_gone),
        CASE(values_and_snapshots_of_the_failed_attempt_are_gone),
        CASE(run_that_was_asked_to_end_is_not_tried_again),
        CASE(deadline_covers_all_attempts),
        CASE(run_that_is_to_be_paused_is_held_between_attempts),
        CASE(run_paused_between_attempts_goes_back_to_waiting_for_its_start),
        CASE(continue_as_has_all_its_attempts_before_it),
        CASE(many_attempts_keep_a_bounded_history),
        CASE(waiting_for_the_next_attempt_survives_a_crash),
        CASE(definition_fills_in_what_a_start_leaves_open),
        CASE(new_run_is_answered_as_it_was_written),
        CASE(key_stands_for_the_request_and_not_for_what_the_definition_adds),
        CASE(input_the_workflow_does_not_take_starts_nothing),
        CASE(refused_successor_leaves_the_ended_run),
        CASE(child_with_bad_input_is_born_failed),
        CASE(schedule_of_a_bad_input_is_refused),
        CASE(tick_with_bad_input_is_counted_and_says_why),
        CASE(tasks_that_name_no_queue_go_to_that_of_the_run),
    };
    return run_group("retry", tests);
}

// History: checkpoints in their order, attempts that survive, rewind, fork, continue-as.
#include "contract/contract.h"

static void steps_are_ordered_by_position_not_by_name(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    const char *const names[] = {"step2", "step10", "step1", "zebra", "apple", "Step3"};
    for (int i = 0; i < 6; i++) save_step(world, claimed, names[i], i);
    LogPage steps;
    assert_ok(store_list_steps(world->store, &world->arena,
                               &(StepFilter){.run = run_of_id(STR("r1"))}, &steps, &world->diag));
    assert_int_equal(steps.count, 6);
    for (size_t i = 0; i < 6; i++) assert_text(steps.rows[i].name, names[i]);
    RunLoad load = get_load(world, "r1");
    for (size_t i = 0; i < 6; i++) assert_text(load.log[i].name, names[i]);
    assert_int_equal(rewind_run(world, "r1", "step10", -1)->out.rewind.dropped_count, 5);
    assert_int_equal(get_load(world, "r1").log_count, 1);
}

static void steps_written_out_of_order_are_read_in_order(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    const int64_t positions[] = {2, 0, 3, 1};
    for (int i = 0; i < 4; i++) save_step(world, claimed, "s", positions[i]);
    RunLoad load = get_load(world, "r1");
    for (int i = 0; i < 4; i++) assert_int_equal(load.log[i].position, i);
}

static void steps_are_listed_in_pages(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    for (int i = 0; i < 7; i++) save_step(world, claimed, "s", i);
    int64_t after = 0, seen = 0;
    for (int page = 0; page < 3; page++) {
        LogPage steps;
        assert_ok(store_list_steps(
            world->store, &world->arena,
            &(StepFilter){.run = run_of_id(STR("r1")), .page = {.after = after, .limit = 3}},
            &steps, &world->diag));
        for (size_t i = 0; i < steps.count; i++) assert_int_equal(steps.rows[i].position, seen++);
        after = steps.next;
        assert_int_equal(after == 0, page == 2);
    }
    assert_int_equal(seen, 7);
}

static void more_than_ten_iterations_of_one_name_are_told_apart(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    for (int i = 0; i < 25; i++) {
        Str data = arena_printf(&world->arena, "%d", i * i);
        save_entry(world, claimed, log_step("loop", i, i, data.data));
    }
    for (int i = 0; i < 25; i++) {
        LogRow entry;
        assert_ok(store_find_step(
            world->store, &world->arena,
            &(StepRef){.run = run_of_id(STR("r1")), .name = STR("loop"), .iteration = i}, &entry,
            &world->diag));
        assert_text(entry.data, arena_printf(&world->arena, "%d", i * i).data);
    }
    assert_int_equal(rewind_run(world, "r1", "loop", 11)->out.rewind.dropped_count, 14);
    RunLoad load = get_load(world, "r1");
    assert_int_equal(load.log_count, 11);
    assert_int_equal(load.log[10].iteration, 10);
}

static void attempts_are_persisted(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    for (int i = 1; i <= 3; i++) {
        save_entry(world, claimed,
                   (LogRow){.kind = LOG_STEP_ATTEMPT,
                            .position = 0,
                            .attempt = i,
                            .outcome = OUTCOME_ERROR,
                            .name = STR("charge"),
                            .data = STR("{\"type\":\"Busy\"}")});
    }
    world_crash(world);
    claim(world, 1);
    RunLoad load = get_load(world, "r1");
    assert_int_equal(load.log_count, 3);
    assert_int_equal(load.log[2].attempt, 3);
    assert_int_equal(load.log[2].outcome, OUTCOME_ERROR);
    LogRow final = log_step("charge", 0, 0, "{\"type\":\"Busy\"}");
    final.attempt = 4;
    final.outcome = OUTCOME_ERROR;
    save_entry(world, ready_at(world, 0), final);
    LogRow entry;
    assert_ok(store_find_step(world->store, &world->arena,
                              &(StepRef){.run = run_of_id(STR("r1")), .name = STR("charge")},
                              &entry, &world->diag));
    assert_int_equal(entry.kind, LOG_STEP);
    assert_int_equal(entry.attempt, 4);
}

static void log_is_numbered_without_gaps_and_read_in_pages(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    for (int i = 0; i < 9; i++) save_step(world, claimed, "s", i);
    int64_t after = 0, seen = 0;
    do {
        LogPage found;
        assert_ok(store_read_log(
            world->store, &world->arena,
            &(LogFilter){.run = run_of_id(STR("r1")), .page = {.after = after, .limit = 4}}, &found,
            &world->diag));
        for (size_t i = 0; i < found.count; i++) assert_int_equal(found.rows[i].seq, ++seen);
        after = found.next;
    } while (after != 0);
    assert_int_equal(seen, 10);
}

static void log_goes_on_where_it_was_after_a_crash(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    save_step(world, claimed, "a", 0);
    int64_t last_seq = save_step(world, claimed, "b", 1)->out.turn.last_seq;
    world_crash(world);
    claim(world, 1);
    assert_int_equal(world->batch.out.ready[0].last_seq, last_seq);
    Op *op = save_step(world, ready_at(world, 0), "c", 2);
    assert_int_equal(op->out.turn.last_seq, last_seq + 1);
}

static void entry_without_a_turn_can_be_appended(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    Op *op = op_new(world, OP_APPEND_LOG);
    op->in.append_log.run = claimed.run;
    op->in.append_log.is_any_epoch = true;
    op->in.append_log.entry =
        (LogRow){.kind = LOG_LINE, .position = -1, .name = STR("info"), .data = STR("\"hello\"")};
    op_run(world, op, OK);
    assert_text(last_entry(world, "r1", LOG_LINE).data, "\"hello\"");
    assert_int_equal(get_load(world, "r1").log_count, 0);
    op = op_new(world, OP_APPEND_LOG);
    op->in.append_log.run = claimed.run;
    op->in.append_log.epoch = claimed.epoch;
    op->in.append_log.has_idle_since = true;
    op->in.append_log.idle_since_ms = START_MS;
    op->in.append_log.entry = (LogRow){.kind = LOG_IDLE, .position = -1};
    op_run(world, op, OK);
    assert_int_equal(get_run(world, "r1").idle_since_ms, START_MS);
}

// ---- rewind ----

static void rewind_fences_the_executor(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    save_step(world, claimed, "a", 0);
    rewind_run(world, "r1", "a", -1);
    Claimed again = ready_of(world, claimed.run);
    Op *op = turn(world, claimed, NEXT_COMPLETE);
    op_run(world, op, ERR_FENCED);
    save_step(world, again, "a", 0);
    LogRow entry;
    assert_ok(store_find_step(world->store, &world->arena,
                              &(StepRef){.run = run_of_id(STR("r1")), .name = STR("a")}, &entry,
                              &world->diag));
    assert_true(entry.seq > 3); // the new one, not the one that was dropped
}

static void rewind_of_a_parked_run_wakes_it_and_leaves_its_lines(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    save_step(world, claimed, "a", 0);
    park(world, claimed, on_event("t"), on_timer(START_MS + 100));
    rewind_run(world, "r1", "a", -1);
    assert_state(world, "r1", RUN_RUNNING);
    assert_int_equal(get_run(world, "r1").due_at_ms, 0);
    assert_true(publish(world, "t", "1")->out.publish.is_kept);
}

static void rewind_of_a_paused_run_sets_it_going(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    save_step(world, claimed, "a", 0);
    finish(world, claimed, NEXT_PAUSE, "{}");
    rewind_run(world, "r1", "a", -1);
    assert_state(world, "r1", RUN_RUNNING);
    assert_int_equal(world->batch.out.ready_count, 1);
}

static void rewind_drops_attempts_waits_children_and_tasks_too(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    save_step(world, claimed, "a", 0);
    signal_run(world, "r1", "go", "1");
    WaitItem item = on_signal("go");
    item.position = 1;
    park(world, claimed, item);
    save_entry(
        world, claimed,
        (LogRow){.kind = LOG_CHILD, .position = 2, .name = STR("kid"), .data = STR("\"kid\"")});
    save_entry(world, claimed,
               (LogRow){.kind = LOG_MARK, .position = 3, .name = STR("now"), .data = STR("1")});
    save_entry(world, claimed,
               (LogRow){.kind = LOG_STEP_ATTEMPT, .position = 4, .name = STR("b"), .attempt = 1});
    Op *op = rewind_run(world, "r1", "go", -1); // a wait is named by its signal
    assert_int_equal(op->out.rewind.position, 1);
    assert_int_equal(op->out.rewind.dropped_count, 3); // attempts are dropped, not counted
    assert_int_equal(get_load(world, "r1").log_count, 1);
    assert_int_equal(entry_count(world, "r1", LOG_STEP_ATTEMPT), 1); // history stays readable
    assert_int_equal(last_entry(world, "r1", LOG_REWOUND).position, 1);
}

static void rewind_cancels_tasks_past_the_step(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    TaskSpec tasks[] = {task_of("early"), task_of("queued"), task_of("leased")};
    for (int i = 0; i < 3; i++) {
        tasks[i].position = i;
        tasks[i].queue = i == 2 ? STR("q") : STR("default");
    }
    Op *op = turn(world, claimed, NEXT_CONTINUE);
    op->in.turn.tasks = tasks;
    op->in.turn.task_count = 3;
    set_log(world, op, (LogRow){.kind = LOG_TASK, .position = 1, .name = STR("queued")});
    op_run(world, op, OK);
    TaskRow leased = lease_one(world, "q");
    rewind_run(world, "r1", "queued", -1);
    assert_int_equal(get_task(world, "early").state, TASK_QUEUED);
    assert_int_equal(get_task(world, "queued").state, TASK_CANCELLED);
    assert_int_equal(get_task(world, "leased").state, TASK_LEASED);
    op = op_new(world, OP_HEARTBEAT_TASK);
    op->in.heartbeat.id = STR("leased");
    op->in.heartbeat.token = leased.token;
    op_run(world, op, OK);
    assert_true(op->out.heartbeat.is_cancel_wanted);
}

static void rewind_to_an_unknown_step_changes_nothing(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    save_step(world, claimed, "a", 0);
    Str before = world_dump(world);
    Op *op = op_new(world, OP_REWIND);
    op->in.rewind.run_id = STR("r1");
    op->in.rewind.step.name = STR("b");
    op_run(world, op, ERR_NOT_FOUND);
    assert_refused(op, ERR_NOT_FOUND, "STEP_NOT_FOUND");
    op = op_new(world, OP_REWIND);
    op->in.rewind.run_id = STR("r1");
    op->in.rewind.step.name = STR("a");
    op->in.rewind.step.iteration = 1;
    op_run(world, op, ERR_NOT_FOUND);
    assert_unchanged(world, before);
}

// ---- fork ----

static Op *fork_run(World *world, const char *step, int64_t iteration, Status expected) {
    Op *op = op_new(world, OP_FORK);
    op->in.fork.run_id = STR("r1");
    op->in.fork.new_id = STR("copy");
    op->in.fork.step.name = str_from(step);
    op->in.fork.step.iteration = iteration;
    op->in.fork.step.is_last = iteration < 0;
    op_run(world, op, expected);
    return op;
}

static void step_without_an_iteration_is_the_last_of_its_name(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    for (int i = 0; i < 6; i++) {
        const char *name = i % 2 == 0 ? "loop" : "other";
        save_entry(world, claimed, log_step(name, i, i / 2, "1"));
    }
    fork_run(world, "loop", -1, OK);
    assert_int_equal(get_load(world, "copy").log_count, 4);
    assert_int_equal(rewind_run(world, "r1", "loop", -1)->out.rewind.position, 4);
    assert_int_equal(last_entry(world, "r1", LOG_REWOUND).iteration, 2);
    assert_int_equal(rewind_run(world, "r1", "loop", -1)->out.rewind.position, 2);
    assert_int_equal(rewind_run(world, "r1", "loop", 0)->out.rewind.position, 0);
}

static void fork_copies_what_came_before_the_step_and_leaves_the_old_run(void **state) {
    World *world = *state;
    RunSpec spec = spec_of("r1");
    spec.tags = STR("red\nblue");
    spec.priority = 5;
    spec.input = STR("{\"in\":1}");
    Claimed claimed = create_from(world, &spec);
    save_step(world, claimed, "a", 0);
    save_step(world, claimed, "b", 1);
    save_step(world, claimed, "c", 2);
    finish(world, claimed, NEXT_FAIL, "{}");
    RunRow old = get_run(world, "r1");
    Op *op = fork_run(world, "b", -1, OK);
    assert_int_equal(world->batch.out.ready[0].run, op->out.fork.key);
    RunLoad load = get_load(world, "copy");
    assert_int_equal(load.log_count, 1);
    assert_text(load.log[0].name, "a");
    RunRow copy = get_run(world, "copy");
    assert_int_equal(copy.state, RUN_RUNNING);
    assert_int_equal(copy.priority, 5);
    assert_text(copy.tags, "red\nblue");
    assert_text(copy.workflow, "order");
    assert_text(get_input(world, "copy"), "{\"in\":1}");
    assert_int_equal(copy.parent, 0);
    RunRow same = get_run(world, "r1");
    assert_int_equal(row_changes(&tables[TABLE_RUNS], &old, &same), 0);
}

static void fork_from_the_start_copies_no_checkpoint(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    save_step(world, claimed, "a", 0);
    fork_run(world, NULL, -1, OK);
    assert_int_equal(get_load(world, "copy").log_count, 0);
    assert_state(world, "r1", RUN_RUNNING);
}

static void fork_of_a_run_that_continued_has_its_latest_input(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    save_step(world, claimed, "a", 0);
    finish(world, claimed, NEXT_CONTINUE_AS, "{\"page\":2}");
    save_step(world, claimed, "b", 0);
    save_step(world, claimed, "c", 1);
    fork_run(world, "c", -1, OK);
    assert_text(get_input(world, "copy"), "{\"page\":2}");
    RunLoad load = get_load(world, "copy");
    assert_int_equal(load.log_count, 1);
    assert_text(load.log[0].name, "b");
}

static void fork_onto_a_taken_id_or_from_an_unknown_step_changes_nothing(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    save_step(world, claimed, "a", 0);
    create(world, "copy");
    Str before = world_dump(world);
    assert_refused(fork_run(world, "a", -1, ERR_CONFLICT), ERR_CONFLICT, "RUN_EXISTS");
    assert_refused(fork_run(world, "zzz", -1, ERR_NOT_FOUND), ERR_NOT_FOUND, "STEP_NOT_FOUND");
    assert_unchanged(world, before);
}

// ---- continue-as ----

static void continue_as_drops_checkpoints_and_keeps_signals_and_tasks(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    TaskSpec task = task_of("task");
    Op *op = turn(world, claimed, NEXT_CONTINUE);
    set_log(world, op, log_step("a", 0, 0, "1"));
    set_task(world, op, &task);
    op_run(world, op, OK);
    signal_run(world, "r1", "go", "1");
    finish(world, claimed, NEXT_CONTINUE_AS, "2");
    assert_int_equal(get_task(world, "task").state, TASK_QUEUED);
    assert_int_equal(get_task(world, "task").position, -1);
    assert_int_equal(get_load(world, "r1").log_count, 0);
    LogRow entry;
    assert_status(store_find_step(world->store, &world->arena,
                                  &(StepRef){.run = run_of_id(STR("r1")), .name = STR("a")}, &entry,
                                  &world->diag),
                  ERR_NOT_FOUND);
    op = park(world, claimed, on_signal("go"));
    assert_resolved(op->out.turn.resolved, op->out.turn.resolved_count, 0, OUTCOME_OK, "1");
}

static void continue_as_many_times_counts_incarnations(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    for (int i = 1; i <= 12; i++) {
        save_step(world, claimed, "a", 0);
        finish(world, claimed, NEXT_CONTINUE_AS, arena_printf(&world->arena, "%d", i).data);
    }
    assert_int_equal(get_run(world, "r1").incarnation, 12);
    assert_text(get_input(world, "r1"), "12");
    world_crash(world);
    claim(world, 1);
    assert_text(get_input(world, "r1"), "12");
    assert_int_equal(get_load(world, "r1").log_count, 0);
}

static void continue_as_for_ever_keeps_the_newest_of_its_log(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    int64_t last = 0;
    for (int i = 0; i < 20; i++) {
        Op *op = turn(world, claimed, NEXT_CONTINUE_AS);
        LogRow entry = log_step("a", 0, 0, "1");
        op->in.turn.log_count = 70;
        op->in.turn.log = ARENA_ARRAY(&world->arena, LogRow, op->in.turn.log_count);
        for (int position = 0; position < 70; position++) {
            entry.position = entry.iteration = position;
            op->in.turn.log[position] = entry;
        }
        op->in.turn.result = STR("2");
        op_run(world, op, OK);
        last = op->out.turn.last_seq;
    }
    assert_int_equal(last, 1 + 20 * 71);
    // The last removal was before the note of the last continue-as.
    LogPage found;
    assert_status(store_read_log(world->store, &world->arena,
                                 &(LogFilter){.run = run_of_id(STR("r1")), .page.limit = 1}, &found,
                                 &world->diag),
                  OK);
    assert_int_equal(found.count, 1);
    assert_int_equal(found.rows[0].seq, last - LIMIT_EARLIER_LOG);
    assert_text(get_input(world, "r1"), "2");
    save_step(world, claimed, "b", 0);
    world_crash(world);
    claim(world, 1);
    assert_int_equal(get_load(world, "r1").log_count, 1);
}

static void steps_of_an_earlier_incarnation_cannot_be_rewound_to(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    save_step(world, claimed, "old", 0);
    finish(world, claimed, NEXT_CONTINUE_AS, "2");
    Op *op = op_new(world, OP_REWIND);
    op->in.rewind.run_id = STR("r1");
    op->in.rewind.step.name = STR("old");
    op->in.rewind.step.is_last = true;
    op_run(world, op, ERR_NOT_FOUND);
}

int contract_history(void) {
    const struct CMUnitTest tests[] = {
        CASE(steps_are_ordered_by_position_not_by_name),
        CASE(steps_written_out_of_order_are_read_in_order),
        CASE(steps_are_listed_in_pages),
        CASE(more_than_ten_iterations_of_one_name_are_told_apart),
        CASE(step_without_an_iteration_is_the_last_of_its_name),
        CASE(attempts_are_persisted),
        CASE(log_is_numbered_without_gaps_and_read_in_pages),
        CASE(log_goes_on_where_it_was_after_a_crash),
        CASE(entry_without_a_turn_can_be_appended),
        CASE(rewind_fences_the_executor),
        CASE(rewind_of_a_parked_run_wakes_it_and_leaves_its_lines),
        CASE(rewind_of_a_paused_run_sets_it_going),
        CASE(rewind_drops_attempts_waits_children_and_tasks_too),
        CASE(rewind_cancels_tasks_past_the_step),
        CASE(rewind_to_an_unknown_step_changes_nothing),
        CASE(fork_copies_what_came_before_the_step_and_leaves_the_old_run),
        CASE(fork_from_the_start_copies_no_checkpoint),
        CASE(fork_of_a_run_that_continued_has_its_latest_input),
        CASE(fork_onto_a_taken_id_or_from_an_unknown_step_changes_nothing),
        CASE(continue_as_drops_checkpoints_and_keeps_signals_and_tasks),
        CASE(continue_as_many_times_counts_incarnations),
        CASE(continue_as_for_ever_keeps_the_newest_of_its_log),
        CASE(steps_of_an_earlier_incarnation_cannot_be_rewound_to),
    };
    return run_group("history", tests);
}

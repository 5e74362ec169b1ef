// Batches: the numbered promises [store-batch-1]-[store-batch-6], [store-8], [store-11] of batch.h
// and store.h. Beside this file: [store-batch-7] in payloads.c, [store-9] in threads.c, [store-10]
// in lists.c, [store-12] in files.c.
#include "base/array.h"
#include "contract/contract.h"
#include "store/decorators/fault.h"

// ---- [store-batch-1] an operation that does not answer OK has changed nothing ----

static void add_refused_for_missing_things(World *world) {
    Claimed nobody = {999999, 1};
    Op *op = add_turn(world, nobody, NEXT_COMPLETE);
    op->in.turn.result = STR("1");
    op_add(world, OP_RELEASE)->in.release.run = 999999;
    op_add(world, OP_HEARTBEAT_TASK)->in.heartbeat.id = STR("no task");
    op_add(world, OP_COMPLETE_TASK)->in.complete_task.id = STR("no task");
    op_add(world, OP_FAIL_TASK)->in.fail_task.id = STR("no task");
    op_add(world, OP_RETRY_TASK)->in.retry_task.id = STR("no task");
    op_add(world, OP_RELEASE_TASK)->in.release_task.id = STR("no task");
    op = op_add(world, OP_SIGNAL);
    op->in.signal.run_id = STR("no run");
    op->in.signal.name = STR("go");
    op_add(world, OP_CANCEL)->in.cancel.run_id = STR("no run");
    op_add(world, OP_PAUSE)->in.hold.run_id = STR("no run");
    op_add(world, OP_RESUME)->in.hold.run_id = STR("no run");
    op = op_add(world, OP_REWIND);
    op->in.rewind.run_id = STR("no run");
    op->in.rewind.step.name = STR("a");
    op = op_add(world, OP_FORK);
    op->in.fork.run_id = STR("no run");
    op->in.fork.new_id = STR("copy");
    op_add(world, OP_REPLAY_DEAD_LETTER)->in.dead_letter.key = 999999;
    op_add(world, OP_REMOVE_DEAD_LETTER)->in.dead_letter.key = 999999;
    op = op_add(world, OP_REMOVE_EVENTS);
    op->in.remove_events = (EventRemoval){.topic = STR("no topic"), .key = 999999};
    op_add(world, OP_REMOVE_SIGNALS)->in.remove_events.run_id = STR("no run");
    op_add(world, OP_PURGE_RUN)->in.purge.run_id = STR("no run");
    op = op_add(world, OP_APPEND_LOG);
    op->in.append_log.run = 999999;
    op->in.append_log.entry.kind = LOG_LINE;
}

static void operations_on_missing_things_change_nothing(void **state) {
    World *world = *state;
    create(world, "r1");
    Str before = world_dump(world);
    batch_new(world);
    add_refused_for_missing_things(world);
    batch_run(world);
    for (size_t i = 0; i < world->batch.count; i++) {
        assert_status(world->batch.ops[i]->out.status, ERR_NOT_FOUND);
        assert_true(world->batch.ops[i]->out.diag.code[0] != '\0');
    }
    assert_int_equal(world->batch.out.ready_count, 0);
    assert_int_equal(world->batch.out.started_count, 0);
    assert_int_equal(world->batch.out.ended_count, 0);
    assert_unchanged(world, before);
}

static void operations_without_names_are_invalid_and_change_nothing(void **state) {
    World *world = *state;
    Str before = world_dump(world);
    world->node = 0;
    batch_new(world);
    const OpKind kinds[] = {OP_JOIN,          OP_RENEW,      OP_LEAVE,       OP_CLAIM,
                            OP_DEFINE,        OP_CREATE_RUN, OP_CREATE_TASK, OP_CLAIM_TASKS,
                            OP_PUBLISH,       OP_SIGNAL,     OP_SET_TOPIC,   OP_FORK,
                            OP_DESCRIBE_NODE, OP_NOTE_RATES};
    for (size_t i = 0; i < COUNT_OF(kinds); i++) op_add(world, kinds[i]);
    batch_run(world);
    for (size_t i = 0; i < world->batch.count; i++) {
        assert_status(world->batch.ops[i]->out.status, ERR_INVALID);
    }
    assert_unchanged(world, before);
}

static void failing_operation_in_the_middle_leaves_the_others(void **state) {
    World *world = *state;
    batch_new(world);
    RunSpec good = spec_of("a"), bad = spec_of(""), last = spec_of("b");
    Op *first = add_create(world, &good);
    Op *middle = add_create(world, &bad);
    Op *third = add_create(world, &last);
    batch_run(world);
    assert_status(first->out.status, OK);
    assert_refused(middle, ERR_INVALID, "NAME_EMPTY");
    assert_status(third->out.status, OK);
    assert_true(has_run(world, "a"));
    assert_true(has_run(world, "b"));
    assert_int_equal(get_counter(world, COUNTER_STARTED_TOTAL), 2);
}

static void turn_that_is_refused_keeps_none_of_its_effects(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    Str before = world_dump(world);
    RunSpec child = spec_of("child");
    TaskSpec task = task_of("task");
    EventSpec event = {.topic = STR("t"), .id = STR("e"), .payload = STR("1")};
    Op *op = turn(world, claimed, NEXT_SUSPEND);
    set_log(world, op, log_step("a", 0, 0, "1"));
    set_task(world, op, &task);
    op->in.turn.children = &child;
    op->in.turn.child_count = 1;
    op->in.turn.events = &event;
    op->in.turn.event_count = 1;
    set_waits(world, op, WAIT_FIRST, (WaitItem[]){on_child("a child nobody starts")}, 1);
    op_run(world, op, ERR_INVALID);
    assert_refused(op, ERR_INVALID, "WAIT_TARGET");
    assert_unchanged(world, before);
}

// ---- [store-batch-2] each sees what those before it did ----

static void operations_see_those_before_them(void **state) {
    World *world = *state;
    batch_new(world);
    RunSpec spec = spec_of("r1");
    Op *created = add_create(world, &spec);
    Op *again = add_create(world, &spec);
    Op *sent = op_add(world, OP_SIGNAL);
    sent->in.signal.run_id = STR("r1");
    sent->in.signal.name = STR("go");
    Op *ended = op_add(world, OP_CANCEL);
    ended->in.cancel.run_id = STR("r1");
    Op *late = op_add(world, OP_SIGNAL);
    late->in.signal.run_id = STR("r1");
    late->in.signal.name = STR("go");
    Op *gone = op_add(world, OP_PURGE_RUN);
    gone->in.purge.run_id = STR("r1");
    Op *anew = add_create(world, &spec);
    batch_run(world);
    assert_true(created->out.create_run.is_new);
    assert_false(again->out.create_run.is_new);
    assert_int_equal(again->out.create_run.key, created->out.create_run.key);
    assert_status(sent->out.status, OK);
    assert_true(ended->out.cancel.is_changed);
    assert_status(late->out.status, ERR_TERMINAL);
    assert_status(gone->out.status, OK);
    assert_true(anew->out.create_run.is_new);
    assert_true(anew->out.create_run.key > created->out.create_run.key);
    assert_int_equal(world->batch.out.ready_count, 1); // only what is still true at the end
    assert_int_equal(world->batch.out.ready[0].run, anew->out.create_run.key);
}

static void event_published_and_awaited_in_one_batch_meet(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    batch_new(world);
    Op *parked = add_turn(world, claimed, NEXT_SUSPEND);
    set_waits(world, parked, WAIT_FIRST, (WaitItem[]){on_event("t")}, 1);
    Op *sent = op_add(world, OP_PUBLISH);
    sent->in.publish.event = (EventSpec){.topic = STR("t"), .id = STR("e"), .payload = STR("5")};
    batch_run(world);
    assert_int_equal(parked->out.turn.state, RUN_SUSPENDED);
    assert_int_equal(sent->out.publish.resumed_count, 1);
    assert_resolved(world->batch.out.ready[0].resolved, world->batch.out.ready[0].resolved_count, 0,
                    OUTCOME_OK, "5");
}

static void same_batch_can_be_submitted_again_after_its_answers_are_cleared(void **state) {
    World *world = *state;
    batch_new(world);
    RunSpec spec = spec_of("r1");
    Op *op = add_create(world, &spec);
    batch_run(world);
    assert_true(op->out.create_run.is_new);
    batch_clear_answers(&world->batch);
    world->batch.number = ++world->batch_number;
    batch_run(world);
    assert_status(op->out.status, OK);
    assert_false(op->out.create_run.is_new);
    assert_int_equal(world->batch.out.ready_count, 0);
}

// ---- [store-batch-3] the number of the last batch tells whether one happened ----

static FaultChoice choose_fault(void *context, const FaultCall *call) {
    FaultChoice *choice = context;
    return call->batch ? *choice : FAULT_NONE;
}

static int64_t last_batch_of(World *world, int64_t node) {
    NodeRow row;
    assert_ok(store_node_by_key(world->store, &world->arena, node, &row, &world->diag));
    return row.last_batch;
}

static void lost_answer_is_cleared_up_by_the_batch_number(void **state) {
    World *world = *state;
    Store *inner = world->store;
    FaultChoice choice = FAULT_NONE;
    FaultConfig config = {.decide = choose_fault, .context = &choice, .is_inner_kept = true};
    world->store = fault_store_new(inner, &config);
    RunSpec before = spec_of("before"), after = spec_of("after");

    choice = FAULT_BEFORE;
    batch_new(world);
    add_create(world, &before);
    assert_status(batch_try(world), ERR_UNAVAILABLE);
    assert_false(world->batch.out.has_answers);
    assert_true(last_batch_of(world, world->node) < world->batch.number);
    assert_false(has_run(world, "before"));

    choice = FAULT_AFTER;
    batch_new(world);
    Op *op = add_create(world, &after);
    Op *refused = op_add(world, OP_PAUSE);
    refused->in.hold.run_id = STR("nobody");
    assert_status(batch_try(world), ERR_UNAVAILABLE);
    assert_true(world->batch.out.has_answers); // what was found before the commit holds
    assert_true(op->out.create_run.is_new);
    assert_refused(refused, ERR_NOT_FOUND, "RUN_NOT_FOUND");
    assert_int_equal(last_batch_of(world, world->node), world->batch.number);
    assert_true(has_run(world, "after"));
    store_close(world->store);
    world->store = inner;
}

static void every_batch_that_changes_something_leaves_its_number(void **state) {
    World *world = *state;
    static const char *const ids[] = {"one", "two", "three"};
    for (int i = 0; i < 3; i++) {
        RunSpec spec = spec_of(ids[i]);
        batch_new(world);
        add_create(world, &spec);
        batch_run(world);
        assert_int_equal(last_batch_of(world, world->node), world->batch.number);
    }
    int64_t last = world->batch.number;
    fire(world); // nothing is due
    batch_new(world);
    batch_run(world);
    assert_in_range(last_batch_of(world, world->node), last, world->batch.number);
    world_reopen(world);
    assert_in_range(last_batch_of(world, world->node), last, world->batch_number);
}

static void batch_larger_than_allowed_is_refused_as_a_whole(void **state) {
    World *world = *state;
    Str before = world_dump(world);
    batch_new(world);
    for (int i = 0; i <= (int)LIMIT_BATCH_OPS; i++) op_add(world, OP_FIRE_DUE);
    assert_status(batch_try(world), ERR_LIMIT);
    assert_string_equal(world->diag.code, "BATCH_TOO_LARGE");
    assert_unchanged(world, before);
}

// ---- [store-batch-4] what becomes ready is claimed in the same batch ----

static void ready_runs_are_claimed_up_to_the_limit(void **state) {
    World *world = *state;
    world->claim_max = 2;
    batch_new(world);
    RunSpec specs[] = {spec_of("a"), spec_of("b"), spec_of("c"), spec_of("d")};
    for (int i = 0; i < 4; i++) add_create(world, &specs[i]);
    batch_run(world);
    assert_int_equal(world->batch.out.ready_count, 2);
    assert_int_equal(world->batch.out.unclaimed_count, 2);
    assert_text(world->batch.out.ready[0].id, "a");
    assert_text(world->batch.out.ready[1].id, "b");
    assert_int_equal(get_run(world, "c").owner, 0);
    assert_int_equal(get_run(world, "c").state, RUN_RUNNING);
    assert_int_equal(claim(world, 1)->out.claim.count, 1);
    assert_text(world->batch.out.ready[0].id, "c");
}

static void batch_of_no_node_claims_nothing(void **state) {
    World *world = *state;
    park(world, create(world, "parked"), on_event("t"));
    int64_t node = world->node;
    world->node = 0;
    RunSpec spec = spec_of("new");
    create_op(world, &spec);
    assert_int_equal(world->batch.out.ready_count, 0);
    assert_int_equal(world->batch.out.unclaimed_count, 1);
    assert_int_equal(publish(world, "t", "1")->out.publish.resumed_count, 1);
    assert_int_equal(world->batch.out.ready_count, 0);
    world->node = node;
    assert_int_equal(claim(world, 10)->out.claim.count, 2);
}

static void ready_run_says_what_its_executor_needs(void **state) {
    World *world = *state;
    RunSpec spec = spec_of("r1");
    spec.kind = RUN_FLOW;
    Claimed claimed = create_from(world, &spec);
    park(world, claimed, on_signal("go"));
    signal_run(world, "r1", "go", "1");
    const ReadyRun *ready = &world->batch.out.ready[0];
    assert_int_equal(ready->run, claimed.run);
    assert_text(ready->id, "r1");
    assert_text(ready->workflow, "order");
    assert_int_equal(ready->kind, RUN_FLOW);
    assert_int_equal(ready->resolved_count, 1);
    assert_int_equal(ready->last_seq, ready->resolved[0].seq);
    assert_false(ready->claim.is_cancel_wanted);
    LogPage log = get_log(world, "r1");
    assert_int_equal(log.rows[log.count - 1].seq, ready->last_seq);
}

// ---- [store-batch-5] stale claims ----

static void stale_epoch_changes_nothing(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    park(world, claimed, on_signal("go"));
    signal_run(world, "r1", "go", "1");
    assert_true(ready_at(world, 0).epoch > claimed.epoch);
    Str before = world_dump(world);
    const TurnNext all[] = {NEXT_CONTINUE,  NEXT_SUSPEND, NEXT_COMPLETE,    NEXT_FAIL,
                            NEXT_CANCELLED, NEXT_PAUSE,   NEXT_CONTINUE_AS, NEXT_RETRY};
    batch_new(world);
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        Op *op = add_turn(world, claimed, all[i]);
        set_log(world, op, log_step("late", 9, 0, "1"));
        set_waits(world, op, WAIT_FIRST, (WaitItem[]){on_signal("go")}, 1);
    }
    Op *released = op_add(world, OP_RELEASE);
    released->in.release.run = claimed.run;
    released->in.release.epoch = claimed.epoch;
    Op *appended = op_add(world, OP_APPEND_LOG);
    appended->in.append_log.run = claimed.run;
    appended->in.append_log.epoch = claimed.epoch;
    appended->in.append_log.entry.kind = LOG_LINE;
    batch_run(world);
    for (size_t i = 0; i < world->batch.count; i++) {
        assert_refused(world->batch.ops[i], ERR_FENCED, "RUN_FENCED");
    }
    assert_unchanged(world, before);
}

static void epoch_from_the_future_is_refused_too(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    claimed.epoch++;
    Op *op = turn(world, claimed, NEXT_COMPLETE);
    op_run(world, op, ERR_FENCED);
    assert_state(world, "r1", RUN_RUNNING);
}

static void right_epoch_of_another_node_is_refused(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    world->node = join(world, "node-2", HOUR_MS);
    Op *op = turn(world, claimed, NEXT_COMPLETE);
    op_run(world, op, ERR_FENCED);
    assert_state(world, "r1", RUN_RUNNING);
}

static void suspended_run_takes_no_turn(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    park(world, claimed, on_signal("go"));
    claimed.epoch = get_run(world, "r1").epoch;
    Op *op = turn(world, claimed, NEXT_COMPLETE);
    op_run(world, op, ERR_FENCED);
    assert_state(world, "r1", RUN_SUSPENDED);
}

static void batch_of_a_node_that_never_joined_is_fenced_as_a_whole(void **state) {
    World *world = *state;
    Str before = world_dump(world);
    world->node = 987654;
    batch_new(world);
    RunSpec spec = spec_of("r1");
    Op *op = add_create(world, &spec);
    assert_status(batch_try(world), ERR_FENCED);
    assert_string_equal(world->diag.code, "NODE_FENCED");
    assert_int_equal(op->out.create_run.key, 0);
    assert_unchanged(world, before);
}

static void batch_of_a_node_that_left_is_fenced_as_a_whole(void **state) {
    World *world = *state;
    Op *op = op_new(world, OP_LEAVE);
    op_run(world, op, OK);
    Str before = world_dump(world);
    batch_new(world);
    RunSpec spec = spec_of("r1");
    add_create(world, &spec);
    assert_status(batch_try(world), ERR_FENCED);
    assert_unchanged(world, before);
}

// ---- [store-8] reads see what was acknowledged; [store-11] nothing reads a clock ----

static void read_after_commit_sees_it(void **state) {
    World *world = *state;
    for (int i = 0; i < 20; i++) {
        Str id = arena_printf(&world->arena, "r%d", i);
        Claimed claimed = create(world, id.data);
        assert_int_equal(get_run(world, id.data).epoch, claimed.epoch);
        save_step(world, claimed, "a", 0);
        assert_int_equal(get_load(world, id.data).log_count, 1);
        finish(world, claimed, NEXT_COMPLETE, "1");
        assert_state(world, id.data, RUN_COMPLETED);
        assert_int_equal(get_counter(world, COUNTER_COMPLETED_TOTAL), i + 1);
    }
}

static void acknowledged_batches_survive_a_crash(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r1");
    save_step(world, claimed, "a", 0);
    park(world, create(world, "r2"), on_event("t"));
    publish(world, "u", "1");
    Str before = world_dump(world);
    world_reopen(world);
    assert_unchanged(world, before);
}

static void times_come_from_the_caller_only(void **state) {
    World *world = *state;
    world->now_ms = 5; // long past
    Claimed claimed = create(world, "old");
    park(world, claimed, on_timer(10));
    assert_int_equal(get_run(world, "old").created_at_ms, 5);
    assert_int_equal(fire_at(world, 9)->out.fire_due.fired_count, 0);
    assert_int_equal(fire_at(world, 10)->out.fire_due.woken_count, 1);
    world->now_ms = 32503680000000; // the year 3000
    create(world, "future");
    assert_int_equal(get_run(world, "future").created_at_ms, world->now_ms);
    world->now_ms = START_MS; // and back: a clock may jump
    create(world, "present");
    assert_int_equal(get_run(world, "present").created_at_ms, START_MS);
}

static void earliest_due_time_of_a_batch_is_answered(void **state) {
    World *world = *state;
    Claimed a = create(world, "a"), b = create(world, "b");
    assert_int_equal(world->batch.out.earliest_due_ms, 0);
    batch_new(world);
    set_waits(world, add_turn(world, a, NEXT_SUSPEND), WAIT_FIRST,
              (WaitItem[]){on_timer(START_MS + 900)}, 1);
    set_waits(world, add_turn(world, b, NEXT_SUSPEND), WAIT_FIRST,
              (WaitItem[]){with_deadline(on_event("t"), START_MS + 700)}, 1);
    batch_run(world);
    assert_int_equal(world->batch.out.earliest_due_ms, START_MS + 700);
}

int contract_batches(void) {
    const struct CMUnitTest tests[] = {
        CASE(operations_on_missing_things_change_nothing),
        CASE(operations_without_names_are_invalid_and_change_nothing),
        CASE(failing_operation_in_the_middle_leaves_the_others),
        CASE(turn_that_is_refused_keeps_none_of_its_effects),
        CASE(operations_see_those_before_them),
        CASE(event_published_and_awaited_in_one_batch_meet),
        CASE(same_batch_can_be_submitted_again_after_its_answers_are_cleared),
        CASE(lost_answer_is_cleared_up_by_the_batch_number),
        CASE(every_batch_that_changes_something_leaves_its_number),
        CASE(batch_larger_than_allowed_is_refused_as_a_whole),
        CASE(ready_runs_are_claimed_up_to_the_limit),
        CASE(batch_of_no_node_claims_nothing),
        CASE(ready_run_says_what_its_executor_needs),
        CASE(stale_epoch_changes_nothing),
        CASE(epoch_from_the_future_is_refused_too),
        CASE(right_epoch_of_another_node_is_refused),
        CASE(suspended_run_takes_no_turn),
        CASE(batch_of_a_node_that_never_joined_is_fenced_as_a_whole),
        CASE(batch_of_a_node_that_left_is_fenced_as_a_whole),
        CASE(read_after_commit_sees_it),
        CASE(acknowledged_batches_survive_a_crash),
        CASE(times_come_from_the_caller_only),
        CASE(earliest_due_time_of_a_batch_is_answered),
    };
    return run_group("batches", tests);
}

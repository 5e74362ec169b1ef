// Taking up a run that failed: what it keeps, and the new run that begins at its last good place.
#include "base/array.h"
#include "contract/contract.h"

typedef struct Park { // a turn of a script that parks
    const char *snapshot;
    LogRow log;
    const TaskSpec *task;
    WaitItem wait;
    int64_t position;
} Park;

static Claimed start_flow(World *world, const char *id) {
    RunSpec spec = spec_of(id);
    spec.kind = RUN_FLOW;
    spec.input = STR("{\"in\":1}");
    return create_from(world, &spec);
}

static Op *flow_park(World *world, Claimed claimed, Park park) {
    Op *op = turn(world, claimed, NEXT_SUSPEND);
    op->in.turn.snapshot = str_from(park.snapshot);
    if (park.log.kind) set_log(world, op, park.log);
    if (park.task) set_task(world, op, park.task);
    set_waits(world, op, WAIT_EACH, &park.wait, 1);
    op->in.turn.waits.items[0].position = park.position;
    op->in.turn.waits.items[0].slot = park.position;
    op_run(world, op, OK);
    return op;
}

static Op *retry(World *world, const char *id, const char *new_id, Status expected) {
    Op *op = op_new(world, OP_FORK);
    op->in.fork.run_id = str_from(id);
    op->in.fork.is_retry = true;
    if (new_id) op->in.fork.new_id = str_from(new_id);
    op_run(world, op, expected);
    return op;
}

static Claimed park_on_signal(World *world, const char *id) {
    Park park = {
        .snapshot = "p0", .log = {.kind = LOG_WAITING, .name = STR("go")}, .wait = on_signal("go")};
    flow_park(world, start_flow(world, id), park);
    signal_run(world, id, "go", "5");
    return ready_at(world, 0);
}

// Parks on task "t" at position 0, which then fails for good.
static Claimed park_on_failed_task(World *world) {
    TaskSpec task = task_of("t");
    Park park = {.snapshot = "p0",
                 .log = {.kind = LOG_TASK, .name = STR("charge"), .data = STR("\"t\"")},
                 .task = &task,
                 .wait = on_task("t")};
    flow_park(world, start_flow(world, "r"), park);
    fail_task(world, "t", lease_one(world, "default").token, "{\"message\":\"no money\"}");
    return ready_at(world, 0);
}

static Op *retry_in_version(World *world, const char *id, const char *looked_at, Status expected) {
    Op *op = op_new(world, OP_FORK);
    op->in.fork.run_id = str_from(id);
    op->in.fork.is_retry = true;
    op->in.fork.version = (ForkVersion){.definition = 9,
                                        .from = get_run(world, id).definition,
                                        .digest = snapshot_digest(str_from(looked_at)),
                                        .snapshot = STR("moved"),
                                        .note = STR("{\"from\":\"a\",\"to\":\"b\"}")};
    op_run(world, op, expected);
    return op;
}

static void failed_script_keeps_what_its_last_turn_began_with(void **state) {
    World *world = *state;
    finish(world, park_on_signal(world, "r"), NEXT_FAIL, "{\"type\":\"Error\"}");
    assert_text(get_run(world, "r").snapshot, "p0");
    world_reopen(world);
    RunRow row = get_run(world, "r");
    assert_text(row.snapshot, "p0");
    assert_int_equal(row.state, RUN_FAILED);
    assert_true(row.log_seq < row.result_seq);
}

static void other_endings_keep_no_snapshot(void **state) {
    World *world = *state;
    finish(world, park_on_signal(world, "done"), NEXT_COMPLETE, "1");
    finish(world, park_on_signal(world, "gone"), NEXT_CANCELLED, "{}");
    assert_text(get_run(world, "done").snapshot, NULL);
    assert_text(get_run(world, "gone").snapshot, NULL);
}

static void retry_in_another_version_has_its_snapshot_and_the_delivery(void **state) {
    World *world = *state;
    finish(world, park_on_signal(world, "r"), NEXT_FAIL, "{\"type\":\"Error\"}");
    assert_true(retry_in_version(world, "r", "p0", OK)->out.fork.is_new);
    RunRow row = get_run(world, "r~2");
    assert_int_equal(row.definition, 9);
    assert_text(row.snapshot, "moved");
    assert_text(last_entry(world, "r~2", LOG_WAIT).data, "5");
    assert_text(last_entry(world, "r~2", LOG_MOVED).data, "{\"from\":\"a\",\"to\":\"b\"}");
    assert_text(get_run(world, "r").snapshot, "p0");
    world_reopen(world);
    assert_int_equal(get_run(world, "r~2").definition, 9);
    assert_false(retry_in_version(world, "r", "other", OK)->out.fork.is_new); // found, not decided
}

static void retry_from_what_is_not_there_changes_nothing(void **state) {
    World *world = *state;
    finish(world, park_on_signal(world, "r"), NEXT_FAIL, "{\"type\":\"Error\"}");
    assert_refused(retry_in_version(world, "r", "other", ERR_CONFLICT), ERR_CONFLICT,
                   "RUN_CHANGED");
    assert_true(retry(world, "r", NULL, OK)->out.fork.is_new);
}

static void retried_script_has_the_snapshot_and_the_delivery(void **state) {
    World *world = *state;
    finish(world, park_on_signal(world, "r"), NEXT_FAIL, "{}");
    Op *op = retry(world, "r", NULL, OK);
    assert_text(op->out.fork.id, "r~2");
    assert_true(op->out.fork.is_new);
    RunLoad load = get_load(world, "r~2");
    assert_text(load.run.snapshot, "p0");
    assert_int_equal(load.log_count, 1);
    assert_text(load.log[0].data, "5");
    assert_text(last_entry(world, "r~2", LOG_RETRIED).data, "{\"run\":\"r\"}");
    assert_state(world, "r", RUN_FAILED);
    assert_int_equal(finish(world, ready_at(world, 0), NEXT_COMPLETE, "1")->out.status, OK);
}

static void repeated_retry_answers_the_same_run(void **state) {
    World *world = *state;
    finish(world, park_on_signal(world, "r"), NEXT_FAIL, "{}");
    Claimed second = (retry(world, "r", NULL, OK), ready_at(world, 0));
    Op *op = retry(world, "r", NULL, OK);
    assert_false(op->out.fork.is_new);
    assert_text(op->out.fork.id, "r~2");
    finish(world, second, NEXT_FAIL, "{}");
    assert_text(retry(world, "r~2", NULL, OK)->out.fork.id, "r~3");
    assert_text(retry(world, "r", "other", OK)->out.fork.id, "other");
    assert_refused(retry(world, "r", "other", ERR_CONFLICT), ERR_CONFLICT, "RUN_EXISTS");
}

static void failed_task_is_queued_again(void **state) {
    World *world = *state;
    finish(world, park_on_failed_task(world), NEXT_FAIL, "{}");
    retry(world, "r", NULL, OK);
    Claimed claimed = ready_at(world, 0);
    assert_int_equal(get_load(world, "r~2").log_count, 0); // the failure is not delivered again
    flow_park(world, claimed, (Park){.snapshot = "p0", .wait = on_task("t")});
    assert_state(world, "r~2", RUN_SUSPENDED);
    TaskRow task = lease_one(world, "default");
    assert_string_not_equal(task.id.data, "t");
    complete_task(world, arena_cstr(&world->arena, task.id), task.token, "7");
    assert_resolved(world->batch.out.ready[0].resolved, world->batch.out.ready[0].resolved_count, 0,
                    OUTCOME_OK, "7");
    assert_int_equal(get_task(world, "t").state, TASK_FAILED);
}

static void failure_in_the_first_turn_starts_over(void **state) {
    World *world = *state;
    finish(world, start_flow(world, "r"), NEXT_FAIL, "{}");
    retry(world, "r", NULL, OK);
    assert_text(get_run(world, "r~2").snapshot, NULL);
    assert_text(get_input(world, "r~2"), "{\"in\":1}");
}

static void only_failed_runs_are_retried(void **state) {
    World *world = *state;
    Claimed claimed = park_on_signal(world, "r");
    Str before = world_dump(world);
    assert_refused(retry(world, "r", NULL, ERR_CONFLICT), ERR_CONFLICT, "RUN_NOT_FAILED");
    assert_refused(retry(world, "x", NULL, ERR_NOT_FOUND), ERR_NOT_FOUND, "RUN_NOT_FOUND");
    assert_unchanged(world, before);
    finish(world, claimed, NEXT_COMPLETE, "1");
    assert_refused(retry(world, "r", NULL, ERR_CONFLICT), ERR_CONFLICT, "RUN_NOT_FAILED");
}

static void c_workflow_does_the_failed_step_again(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r");
    save_step(world, claimed, "a", 0);
    LogRow failed = log_step("b", 1, 0, "{}");
    failed.outcome = OUTCOME_ERROR;
    save_entry(world, claimed, failed);
    finish(world, claimed, NEXT_FAIL, "{}");
    retry(world, "r", NULL, OK);
    RunLoad load = get_load(world, "r~2");
    assert_int_equal(load.log_count, 1);
    assert_text(load.log[0].name, "a");
}

static void c_workflow_begins_the_failed_task_again(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r");
    save_step(world, claimed, "a", 0);
    TaskSpec task = task_of("task_00000000000000000000000t");
    task.position = 1;
    Op *op = turn(world, claimed, NEXT_SUSPEND);
    set_log(world, op,
            (LogRow){.kind = LOG_TASK,
                     .name = STR("charge"),
                     .position = 1,
                     .data = STR("\"task_00000000000000000000000t\"")});
    set_task(world, op, &task);
    WaitItem wait = on_task("task_00000000000000000000000t");
    set_waits(world, op, WAIT_FIRST, &wait, 1);
    op->in.turn.waits.items[0].position = 2;
    op_run(world, op, OK);
    fail_task(world, "task_00000000000000000000000t", lease_one(world, "default").token, "{}");
    finish(world, ready_at(world, 0), NEXT_FAIL, "{}");
    retry(world, "r", NULL, OK);
    RunLoad load = get_load(world, "r~2");
    assert_int_equal(load.log_count, 1);
    assert_text(load.log[0].name, "a");
}

static void purge_takes_the_failed_run_and_leaves_the_new_one(void **state) {
    World *world = *state;
    finish(world, park_on_signal(world, "r"), NEXT_FAIL, "{}");
    retry(world, "r", NULL, OK);
    Op *op = op_new(world, OP_PURGE_RUN);
    op->in.purge.run_id = STR("r");
    op_run(world, op, OK);
    assert_false(has_run(world, "r"));
    assert_text(get_run(world, "r~2").snapshot, "p0");
}

int contract_repair(void) {
    const struct CMUnitTest tests[] = {
        CASE(failed_script_keeps_what_its_last_turn_began_with),
        CASE(other_endings_keep_no_snapshot),
        CASE(retry_in_another_version_has_its_snapshot_and_the_delivery),
        CASE(retry_from_what_is_not_there_changes_nothing),
        CASE(retried_script_has_the_snapshot_and_the_delivery),
        CASE(repeated_retry_answers_the_same_run),
        CASE(failed_task_is_queued_again),
        CASE(failure_in_the_first_turn_starts_over),
        CASE(only_failed_runs_are_retried),
        CASE(c_workflow_does_the_failed_step_again),
        CASE(c_workflow_begins_the_failed_task_again),
        CASE(purge_takes_the_failed_run_and_leaves_the_new_one),
    };
    return run_group("repair", tests);
}

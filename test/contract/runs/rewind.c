// Setting scripts back to a step, and forking them: the snapshot and the deliveries of the turn
// that began the step come back, what was begun since goes, and what had been begun before is not
// lost.
#include "base/array.h"
#include "contract/contract.h"

enum { KEEP = 3 };

// ---- a script, as the store sees it ----

static Claimed start_flow(World *world, const char *id) {
    RunSpec spec = spec_of(id);
    spec.kind = RUN_FLOW;
    spec.input = STR("{\"in\":1}");
    return create_from(world, &spec);
}

static LogRow begins(LogKind kind, const char *name, int64_t position) {
    return (LogRow){.kind = kind, .name = str_from(name), .position = position};
}

typedef struct Park { // a turn that begins steps and parks
    const char *snapshot;
    const LogRow *log; // what it begins
    size_t log_count;
    const TaskSpec *task;
    const WaitItem *waits;
    size_t wait_count;
    int64_t keep; // 0 = KEEP
} Park;

static Op *flow_turn(World *world, Claimed claimed, Park park) {
    Op *op = turn(world, claimed, NEXT_SUSPEND);
    op->in.turn.snapshot = str_from(park.snapshot);
    op->in.turn.keep_snapshots = park.keep ? park.keep : KEEP;
    op->in.turn.log = ARENA_ARRAY(&world->arena, LogRow, park.log_count + 1);
    for (size_t i = 0; i < park.log_count; i++) op->in.turn.log[i] = park.log[i];
    op->in.turn.log_count = park.log_count;
    if (park.task) set_task(world, op, park.task);
    set_waits(world, op, WAIT_EACH, park.waits, park.wait_count);
    for (size_t i = 0; i < park.wait_count; i++) {
        op->in.turn.waits.items[i].position = park.waits[i].position;
        op->in.turn.waits.items[i].slot = park.waits[i].position;
    }
    op_run(world, op, OK);
    return op;
}

static WaitItem at(WaitItem item, int64_t position) {
    item.position = position;
    return item;
}

// A turn that waits for the signal `name`, which is step `position`, and parks as `snapshot`.
static void await_signal(World *world, Claimed claimed, const char *name, int64_t position,
                         const char *snapshot) {
    LogRow begun = begins(LOG_WAITING, name, position);
    WaitItem wait = at(on_signal(name), position);
    flow_turn(
        world, claimed,
        (Park){
            .snapshot = snapshot, .log = &begun, .log_count = 1, .waits = &wait, .wait_count = 1});
}

static Claimed send(World *world, const char *name) {
    signal_run(world, "r", name, "1");
    return ready_at(world, 0);
}

// "s0" waits for signal s0, "s1" for s1 …; the run is parked in the last of them.
static void park_through(World *world, int count) {
    Claimed claimed = start_flow(world, "r");
    for (int i = 0; i < count; i++) {
        const char *name = arena_cstr(&world->arena, arena_printf(&world->arena, "s%d", i));
        if (i > 0) {
            claimed =
                send(world, arena_cstr(&world->arena, arena_printf(&world->arena, "s%d", i - 1)));
        }
        await_signal(world, claimed, name, i, name);
    }
}

static Op *rewind_to(World *world, const char *step, int64_t iteration, Status expected) {
    Op *op = op_new(world, OP_REWIND);
    op->in.rewind.run_id = STR("r");
    op->in.rewind.step.name = str_from(step);
    op->in.rewind.step.iteration = iteration;
    op->in.rewind.step.is_last = iteration < 0;
    op_run(world, op, expected);
    return op;
}

static Op *fork_to(World *world, const char *step, Status expected) {
    Op *op = op_new(world, OP_FORK);
    op->in.fork.run_id = STR("r");
    op->in.fork.new_id = STR("copy");
    op->in.fork.step.name = str_from(step);
    op->in.fork.step.is_last = true;
    op_run(world, op, expected);
    return op;
}

// ---- rewind ----

// Small ones are taken from memory, large ones from the store.
static void snapshots_of_all_sizes_come_back(void **state) {
    World *world = *state;
    static const size_t sizes[] = {1, 700, 2048, 2049, 9000};
    enum { SIZES = COUNT_OF(sizes) };
    char *snapshots[SIZES];
    Claimed claimed = start_flow(world, "r");
    for (int i = 0; i < SIZES; i++) {
        snapshots[i] = arena_alloc(&world->arena, sizes[i] + 1);
        memset(snapshots[i], 'a' + i, sizes[i]);
        snapshots[i][sizes[i]] = '\0';
        const char *name = arena_printf(&world->arena, "s%d", i).data;
        LogRow begun = begins(LOG_WAITING, name, i);
        WaitItem wait = at(on_signal(name), i);
        flow_turn(world, claimed,
                  (Park){.snapshot = snapshots[i],
                         .log = &begun,
                         .log_count = 1,
                         .waits = &wait,
                         .wait_count = 1,
                         .keep = SIZES});
        if (i == 2) world_reopen(world);
        claimed = send(world, name);
    }
    for (int i = SIZES - 1; i > 0; i--) {
        rewind_to(world, arena_printf(&world->arena, "s%d", i).data, -1, OK);
        assert_text(get_run(world, "r").snapshot, snapshots[i - 1]);
    }
}

static void step_without_an_iteration_is_the_last_that_was_begun(void **state) {
    World *world = *state;
    static const char *const snapshots[] = {"p0", "p1", "p2", "p3"};
    Claimed claimed = start_flow(world, "r");
    for (int i = 0; i < 4; i++) {
        if (i > 0) claimed = send(world, "go");
        await_signal(world, claimed, "go", i, snapshots[i]);
    }
    fork_to(world, "go", OK);
    assert_text(get_run(world, "copy").snapshot, "p2"); // from before the last
    assert_int_equal(rewind_to(world, "go", -1, OK)->out.rewind.position, 3);
    assert_int_equal(last_entry(world, "r", LOG_REWOUND).iteration, 3);
    assert_int_equal(rewind_to(world, "go", -1, OK)->out.rewind.position, 2);
    assert_text(get_run(world, "r").snapshot, "p1");
    assert_int_equal(rewind_to(world, "go", 1, OK)->out.rewind.position, 1);
    assert_refused(rewind_to(world, "go", 1, ERR_NOT_FOUND), ERR_NOT_FOUND, "STEP_NOT_FOUND");
}

static void rewind_restores_the_turn_that_began_the_step(void **state) {
    World *world = *state;
    park_through(world, 3);
    RunRow before = get_run(world, "r");
    Op *op = rewind_to(world, "s2", -1, OK);
    assert_int_equal(op->out.rewind.position, 2);
    assert_int_equal(op->out.rewind.dropped_count, 1);
    RunRow run = get_run(world, "r");
    assert_int_equal(run.state, RUN_RUNNING);
    assert_text(run.snapshot, "s1");
    assert_true(run.epoch > before.epoch);
    assert_int_equal(run.incarnation, before.incarnation + 1);
    RunLoad load = get_load(world, "r");
    assert_int_equal(load.log_count, 1); // what that turn had been given
    assert_text(load.log[0].name, "s1");
    assert_text(load.log[0].data, "1");
    await_signal(world, ready_at(world, 0), "s2", 2, "again");
    assert_state(world, "r", RUN_SUSPENDED);
}

static void rewind_past_several_turns_forgets_what_was_delivered_since(void **state) {
    World *world = *state;
    park_through(world, 4);
    rewind_to(world, "s1", -1, OK);
    assert_text(get_run(world, "r").snapshot, "s0");
    RunLoad load = get_load(world, "r");
    assert_int_equal(load.log_count, 1);
    assert_text(load.log[0].name, "s0");
    await_signal(world, ready_at(world, 0), "s1", 1, "b1");
    await_signal(world, send(world, "s1"), "s2", 2, "b2");
    rewind_to(world, "s2", -1, OK); // of the second time
    assert_text(get_run(world, "r").snapshot, "b1");
}

static void rewind_to_the_first_turn_needs_no_snapshot(void **state) {
    World *world = *state;
    park_through(world, KEEP + 3);
    rewind_to(world, "s0", -1, OK);
    assert_text(get_run(world, "r").snapshot, NULL);
    assert_int_equal(get_load(world, "r").log_count, 0);
    assert_text(get_input(world, "r"), "{\"in\":1}");
}

static void step_whose_snapshot_is_not_kept_changes_nothing(void **state) {
    World *world = *state;
    park_through(world, KEEP + 3); // s0 began with nothing; s3, s4, s5 are kept
    Str before = world_dump(world);
    Op *op = rewind_to(world, "s2", -1, ERR_CONFLICT);
    assert_refused(op, ERR_CONFLICT, "SNAPSHOT_NOT_KEPT");
    op = rewind_to(world, "nothing", -1, ERR_NOT_FOUND);
    assert_refused(op, ERR_NOT_FOUND, "STEP_NOT_FOUND");
    op = rewind_to(world, "s3", 1, ERR_NOT_FOUND);
    assert_refused(op, ERR_NOT_FOUND, "STEP_NOT_FOUND");
    op = fork_to(world, "s2", ERR_CONFLICT);
    assert_refused(op, ERR_CONFLICT, "SNAPSHOT_NOT_KEPT");
    assert_unchanged(world, before);
    rewind_to(world, "s3", -1, OK);
    assert_text(get_run(world, "r").snapshot, "s2");
}

static void no_snapshot_is_kept_unless_asked_for(void **state) {
    World *world = *state;
    Claimed claimed = start_flow(world, "r");
    await_signal(world, claimed, "s0", 0, "s0");
    LogRow begun = begins(LOG_WAITING, "s1", 1);
    WaitItem wait = at(on_signal("s1"), 1);
    Op *op = turn(world, send(world, "s0"), NEXT_SUSPEND);
    op->in.turn.snapshot = STR("s1");
    set_log(world, op, begun);
    set_waits(world, op, WAIT_EACH, &wait, 1);
    op_run(world, op, OK);
    assert_refused(rewind_to(world, "s1", -1, ERR_CONFLICT), ERR_CONFLICT, "SNAPSHOT_NOT_KEPT");
}

static void iterations_of_a_step_are_counted_from_zero(void **state) {
    World *world = *state;
    await_signal(world, start_flow(world, "r"), "go", 0, "p0");
    await_signal(world, send(world, "go"), "go", 1, "p1");
    await_signal(world, send(world, "go"), "go", 2, "p2");
    rewind_to(world, "go", 2, OK);
    assert_text(get_run(world, "r").snapshot, "p1");
    await_signal(world, ready_at(world, 0), "go", 2, "p2");
    rewind_to(world, "go", 1, OK);
    assert_text(get_run(world, "r").snapshot, "p0");
}

static void rewind_cancels_tasks_and_children_begun_since(void **state) {
    World *world = *state;
    await_signal(world, start_flow(world, "r"), "s0", 0, "p0");
    TaskSpec task = task_of("t");
    task.position = 1;
    RunSpec child = spec_of("child"), alone = spec_of("alone");
    child.parent_position = 2;
    alone.parent_position = -1;
    RunSpec children[] = {child, alone};
    LogRow log[] = {begins(LOG_TASK, "charge", 1), begins(LOG_CHILD, "order", 2)};
    WaitItem waits[] = {on_task("t"), on_child("child")};
    Op *op = turn(world, send(world, "s0"), NEXT_SUSPEND);
    op->in.turn.snapshot = STR("p1");
    op->in.turn.keep_snapshots = KEEP;
    op->in.turn.log = log;
    op->in.turn.log_count = 2;
    op->in.turn.children = children;
    op->in.turn.child_count = 2;
    set_task(world, op, &task);
    set_waits(world, op, WAIT_EACH, waits, 2);
    op_run(world, op, OK);
    rewind_to(world, "charge", -1, OK);
    assert_int_equal(get_task(world, "t").state, TASK_CANCELLED);
    assert_true(get_run(world, "child").cancel_at_ms != 0);
    assert_int_equal(get_run(world, "alone").cancel_at_ms, 0);
    assert_state(world, "r", RUN_RUNNING);
}

static void task_begun_again_under_its_key_is_queued_again(void **state) {
    World *world = *state;
    await_signal(world, start_flow(world, "r"), "s0", 0, "p0");
    TaskSpec task = task_of("task:key");
    task.position = 1;
    LogRow begun = begins(LOG_TASK, "charge", 1);
    WaitItem wait = at(on_task("task:key"), 1);
    Park park = {.snapshot = "p1",
                 .log = &begun,
                 .log_count = 1,
                 .task = &task,
                 .waits = &wait,
                 .wait_count = 1};
    flow_turn(world, send(world, "s0"), park);
    rewind_to(world, "charge", -1, OK);
    flow_turn(world, ready_at(world, 0), park);
    TaskRow leased = lease_one(world, "default");
    complete_task(world, "task:key", leased.token, "7");
    assert_resolved(world->batch.out.ready[0].resolved, world->batch.out.ready[0].resolved_count, 1,
                    OUTCOME_OK, "7");
}

// A task that was begun before the point and ended after it.
static void what_ended_since_is_delivered_again(void **state) {
    World *world = *state;
    TaskSpec task = task_of("t");
    task.position = 0;
    LogRow first[] = {begins(LOG_TASK, "charge", 0), begins(LOG_WAITING, "s", 1)};
    WaitItem waits[] = {at(on_task("t"), 0), at(on_signal("s"), 1)};
    flow_turn(world, start_flow(world, "r"),
              (Park){.snapshot = "p0",
                     .log = first,
                     .log_count = 2,
                     .task = &task,
                     .waits = waits,
                     .wait_count = 2});
    LogRow second = begins(LOG_WAITING, "u", 2);
    WaitItem left[] = {at(on_task("t"), 0), at(on_signal("u"), 2)};
    Park park = {.snapshot = "p1", .log = &second, .log_count = 1, .waits = left, .wait_count = 2};
    flow_turn(world, send(world, "s"), park);
    complete_task(world, "t", lease_one(world, "default").token, "5");
    WaitItem last = at(on_signal("u"), 2);
    flow_turn(world, ready_at(world, 0), (Park){.snapshot = "p2", .waits = &last, .wait_count = 1});
    rewind_to(world, "u", -1, OK);
    assert_text(get_run(world, "r").snapshot, "p0");
    assert_int_equal(get_task(world, "t").state, TASK_COMPLETED);
    Op *op = flow_turn(world, ready_at(world, 0), park);
    assert_resolved(op->out.turn.resolved, op->out.turn.resolved_count, 0, OUTCOME_OK, "5");
}

static void rewind_fences_the_executor(void **state) {
    World *world = *state;
    park_through(world, 2);
    Claimed old = send(world, "s1");
    rewind_to(world, "s1", -1, OK);
    Op *op = turn(world, old, NEXT_COMPLETE);
    op_run(world, op, ERR_FENCED);
}

static void ended_script_is_not_rewound(void **state) {
    World *world = *state;
    park_through(world, 2);
    finish(world, send(world, "s1"), NEXT_COMPLETE, "1");
    assert_refused(rewind_to(world, "s1", -1, ERR_TERMINAL), ERR_TERMINAL, "RUN_TERMINAL");
}

static void kept_snapshots_go_with_continue_as_and_with_the_run(void **state) {
    World *world = *state;
    park_through(world, 3);
    finish(world, send(world, "s2"), NEXT_CONTINUE_AS, "{\"in\":2}");
    RunRow run = get_run(world, "r");
    Claimed claimed = {run.key, run.epoch};
    await_signal(world, claimed, "other", 0, "q0");
    rewind_to(world, "s2", -1, ERR_NOT_FOUND);
    await_signal(world, send(world, "other"), "more", 1, "q1");
    rewind_to(world, "more", -1, OK);
    assert_text(get_run(world, "r").snapshot, "q0");
    finish(world, ready_at(world, 0), NEXT_COMPLETE, "1");
    Op *op = op_new(world, OP_PURGE_RUN);
    op->in.purge.run_id = STR("r");
    op_run(world, op, OK); // the verification after each test would find what was left
}

// ---- fork ----

static void fork_of_an_ended_script_begins_at_the_step(void **state) {
    World *world = *state;
    park_through(world, 3);
    finish(world, send(world, "s2"), NEXT_FAIL, "{}");
    Str result = get_result(world, "r");
    fork_to(world, "s2", OK);
    RunRow copy = get_run(world, "copy");
    assert_int_equal(copy.state, RUN_RUNNING);
    assert_text(copy.snapshot, "s1");
    assert_text(get_input(world, "copy"), "{\"in\":1}");
    RunLoad load = get_load(world, "copy");
    assert_int_equal(load.log_count, 1);
    assert_text(load.log[0].name, "s1");
    assert_state(world, "r", RUN_FAILED);
    assert_text(result, "{}");
    await_signal(world, ready_at(world, 0), "s2", 2, "c2");
    assert_state(world, "copy", RUN_SUSPENDED);
    signal_run(world, "copy", "s2", "9");
    assert_int_equal(world->batch.out.ready_count, 1);
    await_signal(world, ready_at(world, 0), "s3", 3, "c3");
    Op *op = op_new(world, OP_REWIND); // and can be set back itself
    op->in.rewind.run_id = STR("copy");
    op->in.rewind.step.name = STR("s2");
    op_run(world, op, OK);
    assert_text(get_run(world, "copy").snapshot, "s1");
}

static void park_with_open_ends(World *world) {
    TaskSpec task = task_of("t");
    task.position = 0;
    RunSpec child = spec_of("child");
    child.parent_position = 1;
    child.input = STR("{\"c\":1}");
    child.close_policy = CLOSE_CANCEL;
    LogRow log[] = {begins(LOG_TASK, "charge", 0), begins(LOG_CHILD, "order", 1),
                    begins(LOG_WAITING, "s", 2)};
    WaitItem waits[] = {at(on_task("t"), 0), at(on_child("child"), 1), at(on_signal("s"), 2)};
    Op *op = turn(world, start_flow(world, "r"), NEXT_SUSPEND);
    op->in.turn.snapshot = STR("p0");
    op->in.turn.keep_snapshots = KEEP;
    op->in.turn.log = log;
    op->in.turn.log_count = 3;
    op->in.turn.children = &child;
    op->in.turn.child_count = 1;
    set_task(world, op, &task);
    set_waits(world, op, WAIT_EACH, waits, 3);
    for (int i = 0; i < 3; i++) op->in.turn.waits.items[i].position = i;
    op_run(world, op, OK);
    LogRow second = begins(LOG_WAITING, "u", 3);
    WaitItem left[] = {waits[0], waits[1], at(on_signal("u"), 3)};
    flow_turn(
        world, send(world, "s"),
        (Park){.snapshot = "p1", .log = &second, .log_count = 1, .waits = left, .wait_count = 3});
}

static void fork_begins_anew_what_was_cancelled_with_the_old_run(void **state) {
    World *world = *state;
    park_with_open_ends(world);
    cancel_run(world, "r", 0);
    assert_int_equal(get_task(world, "t").state, TASK_CANCELLED);
    fork_to(world, "u", OK);
    TaskPage tasks;
    assert_int_equal(store_list_tasks(world->store, &world->arena,
                                      &(TaskFilter){.run = run_of_id(STR("copy"))}, &tasks,
                                      &world->diag),
                     OK);
    assert_int_equal(tasks.count, 1);
    assert_int_equal(tasks.rows[0].state, TASK_QUEUED);
    assert_text(tasks.rows[0].input, "{\"n\":1}");
    RunPage children;
    assert_int_equal(store_list_runs(world->store, &world->arena,
                                     &(RunFilter){.parent_id = STR("copy")}, &children,
                                     &world->diag),
                     OK);
    assert_int_equal(children.count, 1);
    Claimed copy = ready_of(world, get_run(world, "copy").key);
    Claimed child = ready_of(world, children.rows[0].key);
    // Its script still says "t" and "child".
    WaitItem left[] = {at(on_task("t"), 0), at(on_child("child"), 1)};
    flow_turn(world, copy, (Park){.snapshot = "c1", .waits = left, .wait_count = 2});
    assert_state(world, "copy", RUN_SUSPENDED);
    TaskRow leased = lease_one(world, "default");
    complete_task(world, arena_cstr(&world->arena, leased.id), leased.token, "4");
    assert_resolved(world->batch.out.ready[0].resolved, world->batch.out.ready[0].resolved_count, 0,
                    OUTCOME_OK, "4");
    flow_turn(world, ready_at(world, 0),
              (Park){.snapshot = "c2", .waits = &left[1], .wait_count = 1});
    finish(world, child, NEXT_COMPLETE, "8");
    assert_resolved(world->batch.out.ready[0].resolved, world->batch.out.ready[0].resolved_count, 1,
                    OUTCOME_OK, "8");
}

static void fork_of_a_live_script_leaves_its_tasks_and_has_what_ended(void **state) {
    World *world = *state;
    park_with_open_ends(world);
    complete_task(world, "t", lease_one(world, "default").token, "4");
    fork_to(world, "u", OK);
    Claimed copy = ready_of(world, get_run(world, "copy").key);
    WaitItem left[] = {at(on_task("t"), 0), at(on_child("child"), 1)};
    Op *op = flow_turn(world, copy, (Park){.snapshot = "c1", .waits = left, .wait_count = 2});
    assert_resolved(op->out.turn.resolved, op->out.turn.resolved_count, 0, OUTCOME_OK, "4");
    assert_int_equal(get_run(world, "child").cancel_at_ms, 0);
    assert_int_equal(get_counter(world, COUNTER_TASKS_FIRST + TASK_COMPLETED), 2);
}

static void fork_from_the_first_turn_is_a_fresh_start(void **state) {
    World *world = *state;
    park_with_open_ends(world);
    fork_to(world, "charge", OK);
    assert_text(get_run(world, "copy").snapshot, NULL);
    assert_int_equal(get_load(world, "copy").log_count, 0);
    TaskPage tasks;
    assert_int_equal(store_list_tasks(world->store, &world->arena,
                                      &(TaskFilter){.run = run_of_id(STR("copy"))}, &tasks,
                                      &world->diag),
                     OK);
    assert_int_equal(tasks.count, 0);
}

// ---- names ----

// Does the task `id`, called "charge", at a position, and waits for it.
static Claimed charge(World *world, Claimed claimed, const char *id, int64_t position) {
    TaskSpec task = task_of(id);
    task.name = STR("charge");
    task.position = position;
    LogRow begun = begins(LOG_TASK, "charge", position);
    WaitItem wait = at(on_task(id), position);
    flow_turn(world, claimed,
              (Park){.snapshot = "p",
                     .log = &begun,
                     .log_count = 1,
                     .task = &task,
                     .waits = &wait,
                     .wait_count = 1});
    complete_task(world, id, lease_one(world, "default").token,
                  arena_printf(&world->arena, "%lld", (long long)position * 10).data);
    return ready_at(world, 0);
}

static LogRow step_called(World *world, const char *name, int64_t iteration, Status expected) {
    const StepRef step = {.run = run_of_id(STR("r")),
                          .name = str_from(name),
                          .iteration = iteration,
                          .is_last = iteration < 0};
    LogRow entry = {0};
    assert_status(store_find_step(world->store, &world->arena, &step, &entry, &world->diag),
                  expected);
    return entry;
}

static void task_results_of_a_script_stand_under_the_name_and_iteration(void **state) {
    World *world = *state;
    Claimed claimed = charge(world, start_flow(world, "r"), "task_a", 0);
    claimed = charge(world, claimed, "task_b", 1);
    LogRow entry = last_entry(world, "r", LOG_WAIT);
    assert_text(log_entry_name(&entry), "charge");
    assert_text(log_entry_target(&entry), "task_b");
    assert_text(step_called(world, "charge", 0, OK).data, "0");
    assert_text(step_called(world, "charge", 1, OK).data, "10");
    LogRow last = step_called(world, "charge", -1, OK);
    assert_text(last.data, "10");
    assert_int_equal(last.iteration, 1);
    step_called(world, "charge", 2, ERR_NOT_FOUND);
    await_signal(world, claimed, "go", 2, "p");
    StepFilter filter = {.run = run_of_id(STR("r")), .page.limit = 1};
    LogPage all;
    for (int64_t position = 0; position < 2; position++) { // both entries of one position together
        assert_ok(store_list_steps(world->store, &world->arena, &filter, &all, &world->diag));
        filter.page.after = all.next;
        assert_int_equal(all.count, 2);
        for (int i = 0; i < 2; i++) {
            assert_text(log_entry_name(&all.rows[i]), "charge");
            assert_int_equal(all.rows[i].iteration, position);
        }
    }
    assert_int_equal(all.next, 0);
    LogPage named;
    assert_ok(store_list_steps(world->store, &world->arena,
                               &(StepFilter){.run = run_of_id(STR("r")),
                                             .name = STR("charge"),
                                             .has_iteration = true,
                                             .iteration = 1},
                               &named, &world->diag));
    assert_int_equal(named.count, 2);
    assert_int_equal(named.rows[1].kind, LOG_WAIT);
    rewind_to(world, "charge", -1, OK); // goes where the name stands last
    step_called(world, "charge", 1, ERR_NOT_FOUND);
}

static void step_that_was_begun_is_found_before_it_ends(void **state) {
    World *world = *state;
    TaskSpec task = task_of("task_a");
    LogRow begun = begins(LOG_TASK, "charge", 0);
    WaitItem wait = at(on_task("task_a"), 0);
    flow_turn(world, start_flow(world, "r"),
              (Park){.snapshot = "p",
                     .log = &begun,
                     .log_count = 1,
                     .task = &task,
                     .waits = &wait,
                     .wait_count = 1});
    assert_int_equal(step_called(world, "charge", -1, OK).kind, LOG_TASK);
}

// As versions before this one wrote it.
static void entries_that_have_the_id_alone_are_named_by_their_beginning(void **state) {
    World *world = *state;
    static const char id[] = "task_00112233445566778899aabbccddeeff";
    Claimed claimed = start_flow(world, "r");
    LogRow log[] = {begins(LOG_TASK, "charge", 0), begins(LOG_WAIT, id, 0)};
    log[1].data = STR("7");
    WaitItem wait = at(on_signal("go"), 1);
    flow_turn(world, claimed,
              (Park){.snapshot = "p", .log = log, .log_count = 2, .waits = &wait, .wait_count = 1});
    LogRow entry = step_called(world, "charge", -1, OK);
    assert_text(entry.data, "7");
    assert_text(log_entry_name(&entry), "charge");
    assert_text(log_entry_target(&entry), id);
}

static void task_results_of_a_c_workflow_stand_under_the_name_too(void **state) {
    World *world = *state;
    Claimed claimed = create(world, "r");
    TaskSpec task = task_of("t1");
    LogRow begun = {.kind = LOG_TASK, .name = STR("charge"), .iteration = 4, .data = STR("\"t1\"")};
    Op *op = turn(world, claimed, NEXT_SUSPEND);
    set_log(world, op, begun);
    set_task(world, op, &task);
    WaitItem wait = on_task("t1");
    set_waits(world, op, WAIT_FIRST, &wait, 1);
    op->in.turn.waits.items[0].position = 1;
    op_run(world, op, OK);
    complete_task(world, "t1", lease_one(world, "default").token, "7");
    assert_text(last_entry(world, "r", LOG_WAIT).name, "t1"); // what it is replayed by
    assert_text(step_called(world, "charge", 4, OK).data, "7");
    assert_text(step_called(world, "charge", -1, OK).data, "7");
}

static void kept_snapshots_are_listed_by_number(void **state) {
    World *world = *state;
    park_through(world, 5);
    SnapshotFilter filter = {{.id = STR("r")}, {.limit = 2}};
    SnapshotPage page;
    assert_int_equal(
        store_list_snapshots(world->store, &world->arena, &filter, &page, &world->diag), OK);
    assert_int_equal(page.count, 2);
    assert_int_equal(page.rows[0].number, 2); // of four the last three are kept
    assert_text(page.rows[0].snapshot, "s1");
    assert_int_equal(page.next, 3);
    filter.page.after = page.next;
    assert_int_equal(
        store_list_snapshots(world->store, &world->arena, &filter, &page, &world->diag), OK);
    assert_int_equal(page.count, 1);
    assert_text(page.rows[0].snapshot, "s3");
    assert_int_equal(page.next, 0);
    filter.run.id = STR("nobody");
    assert_int_equal(
        store_list_snapshots(world->store, &world->arena, &filter, &page, &world->diag),
        ERR_NOT_FOUND);
}

int contract_rewind(void) {
    const struct CMUnitTest tests[] = {
        CASE(task_results_of_a_script_stand_under_the_name_and_iteration),
        CASE(step_that_was_begun_is_found_before_it_ends),
        CASE(entries_that_have_the_id_alone_are_named_by_their_beginning),
        CASE(task_results_of_a_c_workflow_stand_under_the_name_too),
        CASE(step_without_an_iteration_is_the_last_that_was_begun),
        CASE(rewind_restores_the_turn_that_began_the_step),
        CASE(snapshots_of_all_sizes_come_back),
        CASE(rewind_past_several_turns_forgets_what_was_delivered_since),
        CASE(rewind_to_the_first_turn_needs_no_snapshot),
        CASE(step_whose_snapshot_is_not_kept_changes_nothing),
        CASE(no_snapshot_is_kept_unless_asked_for),
        CASE(iterations_of_a_step_are_counted_from_zero),
        CASE(rewind_cancels_tasks_and_children_begun_since),
        CASE(task_begun_again_under_its_key_is_queued_again),
        CASE(what_ended_since_is_delivered_again),
        CASE(kept_snapshots_are_listed_by_number),
        CASE(rewind_fences_the_executor),
        CASE(ended_script_is_not_rewound),
        CASE(kept_snapshots_go_with_continue_as_and_with_the_run),
        CASE(fork_of_an_ended_script_begins_at_the_step),
        CASE(fork_begins_anew_what_was_cancelled_with_the_old_run),
        CASE(fork_of_a_live_script_leaves_its_tasks_and_has_what_ended),
        CASE(fork_from_the_first_turn_is_a_fresh_start),
    };
    return run_group("rewind", tests);
}

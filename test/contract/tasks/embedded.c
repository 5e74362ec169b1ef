// Embedded tasks: a task that stands in the row of its run can be seen, and goes on, as any other;
// whatever happens to it but being completed happens to a row of its own.
#include "contract/contract.h"
#include "model/tasks/id.h"

typedef struct Chain { // the run "r1", which waits for a task that its turn has queued
    Claimed run;
    const char *id; // of the task
    int64_t token;
    int64_t seq; // of the entry that its end will write
    Op *claim;
} Chain;

static const char *task_at(World *world, int64_t run, int64_t position) {
    TaskPlace place = {.run_id = STR("r1"), .run_key = run, .position = position};
    return task_id_make(&world->arena, &place).data;
}

static Op *add_claim(World *world) {
    Op *op = op_add(world, OP_CLAIM_TASKS);
    op->in.claim_tasks.worker = STR("node-1");
    op->in.claim_tasks.is_any_queue = op->in.claim_tasks.is_eager = true;
    op->in.claim_tasks.max = 10;
    op->in.claim_tasks.lease_ms = MINUTE_MS;
    return op;
}

static void add_task_turn(World *world, Claimed run, const TaskSpec *spec, int64_t foreseen_seq) {
    Op *op = add_turn(world, run, NEXT_SUSPEND);
    WaitItem item = on_task(spec->id.data);
    LogRow entry = {.kind = LOG_TASK,
                    .position = spec->position,
                    .name = spec->name,
                    .data = arena_printf(&world->arena, "\"%.*s\"", STR_ARG(spec->id))};
    op->in.turn.foreseen_seq = foreseen_seq;
    op->in.turn.snapshot = STR("snapshot");
    op->in.turn.keep_snapshots = 10;
    set_log(world, op, entry);
    set_task(world, op, spec);
    item.position = spec->position;
    set_waits(world, op, WAIT_EACH, &item, 1);
}

static Claimed create_script(World *world) {
    RunSpec spec = spec_of("r1");
    spec.kind = RUN_FLOW;
    return create_from(world, &spec);
}

static TaskSpec spec_at(World *world, Claimed run, int64_t position) {
    TaskSpec spec = task_of(task_at(world, run.run, position));
    spec.position = position;
    spec.max_attempts = 3;
    return spec;
}

static Chain begin_with(World *world, Claimed run, const TaskSpec *spec) {
    Chain chain = {.run = run, .id = spec->id.data};
    batch_new(world);
    add_task_turn(world, run, spec, 0);
    chain.claim = add_claim(world);
    batch_run(world);
    assert_ok(chain.claim->out.status);
    if (chain.claim->out.claim_tasks.task_count == 1)
        chain.token = chain.claim->out.claim_tasks.tasks[0].token;
    chain.seq = last_entry(world, "r1", LOG_TASK).seq + 1;
    return chain;
}

static Chain begin(World *world) {
    Claimed run = create_script(world);
    TaskSpec spec = spec_at(world, run, 0);
    Chain chain = begin_with(world, run, &spec);
    assert_false(str_is_null(get_run(world, "r1").task));
    return chain;
}

static TaskPage list_tasks(World *world, TaskFilter filter) {
    TaskPage page;
    assert_ok(store_list_tasks(world->store, &world->arena, &filter, &page, &world->diag));
    return page;
}

static void check_verifies(World *world) {
    int64_t row_count;
    assert_ok(store_verify(world->store, &row_count, &world->diag));
}

// ---- what can be seen of it ----

static void task_in_the_row_of_its_run_is_found_and_counted(void **state) {
    World *world = *state;
    Chain chain = begin(world);
    for (int i = 0; i < 2; i++) {
        TaskRow task = get_task(world, chain.id);
        assert_int_equal(task.state, TASK_LEASED);
        assert_int_equal(task.run, chain.run.run);
        assert_int_equal(task.token, chain.token);
        assert_int_equal(task.attempt, 1);
        assert_text(task.worker, "node-1");
        assert_int_equal(task.due_at_ms, START_MS + MINUTE_MS);
        assert_int_equal(get_counter(world, COUNTER_TASKS_FIRST + TASK_LEASED), 1);
        QueueStat queue;
        assert_ok(
            store_find_queue(world->store, &world->arena, STR("default"), &queue, &world->diag));
        assert_int_equal(queue.row.running_count, 1);
        check_verifies(world);
        world_reopen(world);
    }
    assert_int_equal(get_run(world, "r1").due_at_ms, START_MS + MINUTE_MS);
}

static void lists_have_it_in_its_place(void **state) {
    World *world = *state;
    TaskSpec older = task_of("older"), newer = task_of("newer");
    create_task(world, &older);
    (void)lease_one(world, "default");
    Chain chain = begin(world);
    create_task(world, &newer);
    (void)lease_one(world, "default");
    TaskPage all = list_tasks(world, (TaskFilter){0});
    assert_int_equal(all.count, 3);
    assert_text(all.rows[0].id, "newer");
    assert_text(all.rows[1].id, chain.id);
    assert_text(all.rows[2].id, "older");
    const TaskFilter filters[] = {
        {.states = 1u << TASK_LEASED}, {.run = {.key = chain.run.run}}, {.run = {.id = STR("r1")}}};
    for (size_t i = 0; i < COUNT_OF(filters); i++)
        assert_int_equal(list_tasks(world, filters[i]).count, i == 0 ? 3 : 1);
    assert_int_equal(list_tasks(world, (TaskFilter){.states = 1u << TASK_QUEUED}).count, 0);
    assert_int_equal(list_tasks(world, (TaskFilter){.name = STR("other")}).count, 0);
    TaskFilter paged = {.page = {.limit = 1}};
    for (size_t i = 0; i < 3; i++) {
        TaskPage page = list_tasks(world, paged);
        assert_int_equal(page.count, 1);
        assert_text(page.rows[0].id, all.rows[i].id.data);
        paged.page.after = page.next;
    }
}

// ---- completing it ----

static void completing_it_wakes_its_run(void **state) {
    World *world = *state;
    Chain chain = begin(world);
    Op *op = complete_task(world, chain.id, chain.token, "7");
    assert_int_equal(op->out.complete_task.woken_run, chain.run.run);
    assert_state(world, "r1", RUN_RUNNING);
    assert_true(str_is_null(get_run(world, "r1").task));
    TaskRow task = get_task(world, chain.id);
    assert_int_equal(task.state, TASK_COMPLETED);
    assert_text(task.result, "7");
    assert_text(last_entry(world, "r1", LOG_WAIT).data, "7");
    assert_int_equal(get_counter(world, COUNTER_TASKS_FIRST + TASK_LEASED), 0);
    complete_task(world, chain.id, chain.token, "7"); // said again
    check_verifies(world);
}

static void it_is_completed_also_by_who_has_nothing_in_memory(void **state) {
    World *world = *state;
    Chain chain = begin(world);
    world_reopen(world);
    complete_task(world, chain.id, chain.token, "7");
    assert_state(world, "r1", RUN_RUNNING);
    assert_int_equal(get_task(world, chain.id).state, TASK_COMPLETED);
}

static void foreign_token_changes_nothing(void **state) {
    World *world = *state;
    Chain chain = begin(world);
    Str before = world_dump(world);
    Op *op = op_new(world, OP_COMPLETE_TASK);
    op->in.complete_task.id = str_from(chain.id);
    op->in.complete_task.token = chain.token + 1;
    op_run(world, op, ERR_FENCED);
    assert_unchanged(world, before);
}

// The next one takes its place, in one write of the row.
static void chain_goes_on_in_the_row(void **state) {
    World *world = *state;
    Chain chain = begin(world);
    int64_t due_at_ms = get_run(world, "r1").due_at_ms;
    for (int64_t position = 1; position < 4; position++) {
        world->now_ms += SECOND_MS;
        batch_new(world);
        Op *completion = op_add(world, OP_COMPLETE_TASK);
        completion->in.complete_task.id = str_from(chain.id);
        completion->in.complete_task.token = chain.token;
        completion->in.complete_task.result = STR("7");
        chain.run.epoch++;
        TaskSpec spec = spec_at(world, chain.run, position);
        add_task_turn(world, chain.run, &spec, chain.seq);
        Op *claim = add_claim(world);
        batch_run(world);
        assert_int_equal(claim->out.claim_tasks.task_count, 1);
        chain.id = spec.id.data;
        chain.token = claim->out.claim_tasks.tasks[0].token;
        chain.seq = last_entry(world, "r1", LOG_TASK).seq + 1;
        assert_int_equal(get_task(world, chain.id).state, TASK_LEASED);
        assert_false(str_is_null(get_run(world, "r1").task));
        // An earlier look costs less than another entry of the index.
        assert_int_equal(get_run(world, "r1").due_at_ms, due_at_ms);
        check_verifies(world);
    }
    fire_at(world, due_at_ms); // too early for the lease: it is only looked at
    assert_state(world, "r1", RUN_SUSPENDED);
    assert_int_equal(get_run(world, "r1").due_at_ms, START_MS + 3 * SECOND_MS + MINUTE_MS);
    assert_false(str_is_null(get_run(world, "r1").task));
    complete_task(world, chain.id, chain.token, "8");
    assert_state(world, "r1", RUN_RUNNING);
}

// ---- whatever else happens to it ----

static void when_its_lease_ends_the_attempt_has_failed(void **state) {
    World *world = *state;
    Chain chain = begin(world);
    assert_int_equal(fire_at(world, START_MS + MINUTE_MS - 1)->out.fire_due.fired_count, 0);
    fire_at(world, START_MS + MINUTE_MS);
    TaskRow task = get_task(world, chain.id);
    assert_int_equal(task.state, TASK_QUEUED);
    assert_true(str_is_null(get_run(world, "r1").task));
    assert_int_equal(get_run(world, "r1").due_at_ms, 0);
    assert_state(world, "r1", RUN_SUSPENDED);
    complete_task(world, chain.id, lease_one(world, "default").token, "9");
    assert_state(world, "r1", RUN_RUNNING);
}

static void node_that_knows_itself_alone_ends_its_lease_at_once(void **state) {
    World *world = *state;
    world->node = join(world, "node-1", MINUTE_MS);
    Claimed run = create_script(world);
    TaskSpec spec = spec_at(world, run, 0);
    Chain chain = begin_with(world, run, &spec);
    Op *op = op_new(world, OP_JOIN);
    world->batch.node = world->node = 0;
    op->in.join.name = STR("node-2");
    op->in.join.lease_ms = MINUTE_MS;
    op->in.join.is_exclusive = true;
    op_run(world, op, OK);
    assert_int_equal(get_task(world, chain.id).state, TASK_QUEUED);
}

static void failing_it_tries_it_again(void **state) {
    World *world = *state;
    Chain chain = begin(world);
    fail_task(world, chain.id, chain.token, "{\"type\":\"Busy\"}");
    TaskRow task = get_task(world, chain.id);
    assert_int_equal(task.state, TASK_QUEUED);
    assert_text(task.error, "{\"type\":\"Busy\"}");
    task = lease_one(world, "default");
    assert_int_equal(task.attempt, 2);
    complete_task(world, chain.id, task.token, "9");
    assert_state(world, "r1", RUN_RUNNING);
}

static void heartbeat_makes_its_lease_longer(void **state) {
    World *world = *state;
    Chain chain = begin(world);
    world->now_ms += 50 * SECOND_MS;
    Op *op = op_new(world, OP_HEARTBEAT_TASK);
    op->in.heartbeat.id = str_from(chain.id);
    op->in.heartbeat.token = chain.token;
    op->in.heartbeat.lease_ms = MINUTE_MS;
    op_run(world, op, OK);
    fire_at(world, START_MS + MINUTE_MS);
    assert_int_equal(get_task(world, chain.id).state, TASK_LEASED);
    complete_task(world, chain.id, chain.token, "9");
    assert_state(world, "r1", RUN_RUNNING);
}

static void handing_it_back_queues_it(void **state) {
    World *world = *state;
    Chain chain = begin(world);
    Op *op = op_new(world, OP_RELEASE_TASK);
    op->in.release_task.id = str_from(chain.id);
    op->in.release_task.token = chain.token;
    op_run(world, op, OK);
    assert_int_equal(lease_one(world, "default").attempt, 1);
}

// What becomes of the run gives the task a row first.
static void end_of_the_run_tells_its_worker_to_stop(void **state) {
    World *world = *state;
    Chain chain = begin(world);
    cancel_run(world, "r1", 0);
    assert_state(world, "r1", RUN_CANCELLED);
    assert_int_equal(get_task(world, chain.id).is_cancel_wanted, 1);
    check_verifies(world);
}

static void run_that_is_told_to_end_leaves_it_under_way(void **state) {
    World *world = *state;
    Chain chain = begin(world);
    cancel_run(world, "r1", MINUTE_MS);
    assert_state(world, "r1", RUN_RUNNING);
    assert_int_equal(get_task(world, chain.id).state, TASK_LEASED);
    complete_task(world, chain.id, chain.token, "9");
    check_verifies(world);
}

static void paused_run_finds_its_end_when_it_goes_on(void **state) {
    World *world = *state;
    Chain chain = begin(world);
    pause_run(world, "r1");
    assert_int_equal(get_task(world, chain.id).state, TASK_LEASED);
    complete_task(world, chain.id, chain.token, "9");
    assert_state(world, "r1", RUN_PAUSED);
    resume_run(world, "r1");
    assert_state(world, "r1", RUN_RUNNING);
    assert_text(last_entry(world, "r1", LOG_WAIT).data, "9");
}

static void run_that_is_set_back_cancels_it(void **state) {
    World *world = *state;
    Chain chain = begin(world);
    rewind_run(world, "r1", "charge", 0);
    assert_int_equal(get_task(world, chain.id).is_cancel_wanted, 1);
    check_verifies(world);
}

// ---- which ones are not ----

static void set_nothing(TaskSpec *spec, RunSpec *run) { (void)spec, (void)run; }
static void set_native(TaskSpec *spec, RunSpec *run) { (void)spec, run->kind = RUN_NATIVE; }
static void set_other_id(TaskSpec *spec, RunSpec *run) { (void)run, spec->id = STR("t1"); }
static void set_key(TaskSpec *spec, RunSpec *run) { (void)run, spec->concurrency_key = STR("k"); }
static void set_secrets(TaskSpec *spec, RunSpec *run) { (void)run, spec->secrets = STR("[]"); }
static void set_delay(TaskSpec *spec, RunSpec *run) { (void)run, spec->delay_ms = 1; }
static void set_long_lease(TaskSpec *spec, RunSpec *run) {
    (void)run;
    spec->heartbeat_ms = LIMIT_EMBEDDED_LEASE_MS + 1;
}
static void set_large_input(TaskSpec *spec, RunSpec *run) {
    static char input[5000];
    (void)run;
    memset(input, '1', sizeof input);
    spec->input = (Str){input, sizeof input};
}

static void other_tasks_have_rows_from_the_beginning(void **state) {
    World *world = *state;
    void (*const changes[])(TaskSpec *, RunSpec *) = {set_nothing,    set_native,     set_other_id,
                                                      set_key,        set_secrets,    set_delay,
                                                      set_long_lease, set_large_input};
    for (size_t i = 0; i < COUNT_OF(changes); i++) {
        RunSpec run_spec = spec_of(arena_printf(&world->arena, "r%zu", i).data);
        TaskSpec nothing = {0};
        run_spec.kind = RUN_FLOW;
        changes[i](&nothing, &run_spec);
        Claimed run = create_from(world, &run_spec);
        TaskSpec spec = spec_at(world, run, 0);
        changes[i](&spec, &run_spec);
        batch_new(world);
        add_task_turn(world, run, &spec, 0);
        (void)add_claim(world);
        batch_run(world);
        assert_int_equal(str_is_null(get_run(world, run_spec.id.data).task), i > 0);
        assert_true(get_task(world, spec.id.data).run == run.run);
    }
}

static void task_beside_others_has_a_row(void **state) {
    World *world = *state;
    Claimed run = create_script(world);
    TaskSpec spec = spec_at(world, run, 0);
    batch_new(world);
    Op *op = add_turn(world, run, NEXT_SUSPEND);
    set_task(world, op, &spec);
    set_waits(world, op, WAIT_EACH, (WaitItem[]){on_task(spec.id.data), on_signal("go")}, 2);
    (void)add_claim(world);
    batch_run(world);
    assert_true(str_is_null(get_run(world, "r1").task));
    assert_int_equal(get_task(world, spec.id.data).state, TASK_LEASED);
}

// What cannot be read stops nobody else; the run is put aside for people to see.
static void damaged_task_pauses_its_run(void **state) {
    World *world = *state;
    if (!world_has_file()) return;
    (void)begin(world);
    int64_t row_count;
    app_sql(world, "UPDATE abide_runs SET task = x'0102'");
    world_reopen(world);
    assert_status(store_verify(world->store, &row_count, &world->diag), ERR_CORRUPT);
    assert_non_null(strstr(world->diag.message, "the task in the row of a run"));
    fire_at(world, START_MS + MINUTE_MS);
    assert_state(world, "r1", RUN_PAUSED);
    app_sql(world, "UPDATE abide_counters SET value = value - 1 WHERE number = 19; "
                   "DELETE FROM abide_queues");
}

static void task_that_its_run_does_not_wait_for_is_found_out(void **state) {
    World *world = *state;
    if (!world_has_file()) return;
    (void)begin(world);
    int64_t row_count;
    app_sql(world, "UPDATE abide_runs SET tasks_ended_key = 1000");
    assert_status(store_verify(world->store, &row_count, &world->diag), ERR_CORRUPT);
    assert_non_null(strstr(world->diag.message, "contradict each other"));
    app_sql(world, "UPDATE abide_runs SET tasks_ended_key = 0");
}

int contract_embedded(void) {
    const struct CMUnitTest tests[] = {
        CASE(task_in_the_row_of_its_run_is_found_and_counted),
        CASE(lists_have_it_in_its_place),
        CASE(completing_it_wakes_its_run),
        CASE(it_is_completed_also_by_who_has_nothing_in_memory),
        CASE(foreign_token_changes_nothing),
        CASE(chain_goes_on_in_the_row),
        CASE(when_its_lease_ends_the_attempt_has_failed),
        CASE(node_that_knows_itself_alone_ends_its_lease_at_once),
        CASE(failing_it_tries_it_again),
        CASE(heartbeat_makes_its_lease_longer),
        CASE(handing_it_back_queues_it),
        CASE(end_of_the_run_tells_its_worker_to_stop),
        CASE(run_that_is_told_to_end_leaves_it_under_way),
        CASE(paused_run_finds_its_end_when_it_goes_on),
        CASE(run_that_is_set_back_cancels_it),
        CASE(other_tasks_have_rows_from_the_beginning),
        CASE(task_beside_others_has_a_row),
        CASE(damaged_task_pauses_its_run),
        CASE(task_that_its_run_does_not_wait_for_is_found_out),
    };
    return run_group("embedded", tests);
}

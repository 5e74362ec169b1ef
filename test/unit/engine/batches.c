// Batches: how the coordinator shares their room, and what it does when a store refuses one.
//
// A coordinator on the memory store behind one that fails on demand; the test is its driver and its
// world, so that batches are as large as the test wants them.
#include "unit/unit.h"

#include "base/limits.h"
#include "base/memory.h"
#include "engine/coordinator/coordinator.h"
#include "store/decorators/fault.h"
#include "store/reads.h"
#include <stdio.h>

enum { CALLS_MAX = 3 * LIMIT_BATCH_OPS_MAX };

typedef struct Call {
    Request request;
    char id[24];
    int answer_count;
} Call;

typedef struct TestEngine {
    World world;
    Env env;
    int64_t now_ms;
    Runner runner;
    Store *inner, *store;
    Coordinator *coordinator;
    List executing;
    Call *calls;
    int call_count;
    size_t largest_batch;
    // what the store refuses
    const char *guilty_id;  // create_run of that id, complete_task of that id
    OpKind guilty_kind;     // any of that kind; commit_turn only if it does not fail the run …
    bool is_failing_guilty; // … or also then
    size_t count_max;       // more than so many are "unavailable"; 0 = any number
    int refusal_count;
    bool is_held;        // executions are not handed back
    int64_t set_back_ms; // by how much the clock was set back
} TestEngine;

// ---- the world ----

static int64_t test_now(Env *env) { return container_of(env, TestEngine, env)->now_ms; }
static uint64_t test_monotonic(Env *env) { // which nobody sets back
    const TestEngine *engine = container_of(env, TestEngine, env);
    return (uint64_t)(engine->now_ms + engine->set_back_ms) * 1000000u;
}
static uint64_t test_random(Env *env) { return (uint64_t)test_now(env) * 2654435761u; }
static const EnvOps env_ops = {
    .now_ms = test_now, .monotonic_ns = test_monotonic, .random_u64 = test_random};

static void world_execute(World *world, Execution *execution) {
    list_append(&((TestEngine *)world)->executing, &execution->link);
}
static void world_notify(World *world, const EngineEvent *event) {
    (void)world;
    (void)event;
}
static const WorldOps world_ops = {.execute = world_execute, .notify = world_notify};

static void complete_at_once(Runner *runner, const RunView *view, Env *env, Arena *arena,
                             TurnOutput *output) {
    (void)runner, (void)view, (void)env, (void)arena;
    output->next = NEXT_COMPLETE;
    output->result = STR("1");
}
static const RunnerOps runner_ops = {.turn = complete_at_once};

static int quick(NativeCall *call, const char *input) {
    (void)input;
    call->result = STR("2");
    return NATIVE_OK;
}

static bool is_guilty(const TestEngine *engine, const Op *op) {
    const char *id = engine->guilty_id;
    if (op->kind == OP_CREATE_RUN && id != NULL)
        return str_equal(op->in.create_run.spec.id, str_from(id));
    if (op->kind == OP_COMPLETE_TASK && id != NULL)
        return str_equal(op->in.complete_task.id, str_from(id));
    if (op->kind != engine->guilty_kind) return false;
    return op->kind != OP_COMMIT_TURN || op->in.turn.next != NEXT_FAIL || engine->is_failing_guilty;
}

static FaultChoice decide(void *context, const FaultCall *call) {
    TestEngine *engine = context;
    if (call->batch == NULL) return FAULT_NONE;
    size_t count = call->batch->count;
    if (count > engine->largest_batch) engine->largest_batch = count;
    if (engine->count_max > 0 && count > engine->count_max) return FAULT_BEFORE;
    for (size_t i = 0; i < count; i++) {
        if (!is_guilty(engine, call->batch->ops[i])) continue;
        engine->refusal_count++;
        return FAULT_REFUSE;
    }
    return FAULT_NONE;
}

static int engine_new(void **state) {
    TestEngine *engine = mem_zalloc(sizeof(TestEngine));
    engine->world.ops = &world_ops;
    engine->env.ops = &env_ops;
    engine->runner.ops = &runner_ops;
    engine->now_ms = 1800000000000;
    engine->calls = mem_zalloc(CALLS_MAX * sizeof(Call));
    list_init(&engine->executing);
    Diag diag;
    assert_ok(store_open(STR("memory:"), NULL, &engine->inner, &diag));
    engine->store = fault_store_new(engine->inner, &(FaultConfig){decide, engine, false});
    CoordinatorSetup setup = {.env = &engine->env, .store = engine->store, .world = &engine->world};
    setup.config = (CoordinatorConfig){
        .node_name = STR("test"),
        .lease_ms = 10000,
        .max_active_runs = 100000,
        .max_parked_runs = 100000,
        .first_tasks = 100000,
        .max_tasks = 100000,
        .store_retry_attempts = 10,
        .store_retry_ms = 50,
        .store_retry_max_ms = 1000,
        .sweep_ms = 60000,
        .task_lease_ms = 30000,
        .run_retention_ms = -1,
    };
    assert_ok(coordinator_new(&setup, &engine->coordinator, &diag));
    assert_ok(coordinator_add_runner(engine->coordinator, STR("w"), &engine->runner));
    assert_ok(coordinator_add_task(engine->coordinator, STR("t"), quick, NULL));
    RecoveryReport report;
    assert_ok(coordinator_recover(engine->coordinator, &report, &diag));
    *state = engine;
    return 0;
}

static void hand_back(TestEngine *engine) {
    LIST_EACH_SAFE (link, after, &engine->executing) {
        list_remove(link);
        Execution *execution = container_of(link, Execution, link);
        execution_perform(execution, &engine->env);
        coordinator_executed(engine->coordinator, execution);
    }
}

static int engine_free(void **state) {
    TestEngine *engine = *state;
    engine->guilty_id = NULL;
    engine->guilty_kind = 0;
    hand_back(engine);
    coordinator_free(engine->coordinator);
    store_close(engine->store);
    mem_free(engine->calls);
    mem_free(engine);
    return 0;
}

static void commit_batch(TestEngine *engine, Commit *commit) {
    Diag diag;
    diag_clear(&diag);
    Status status = store_commit(engine->store, &commit->batch, &diag);
    coordinator_finish(engine->coordinator, commit, status, &diag);
}

// Moves until there is nothing to do before `until_ms`.
static void run_until(TestEngine *engine, int64_t until_ms) {
    int batch_count = 0;
    for (;;) {
        assert_in_range(++batch_count, 1, 100000);
        if (!engine->is_held) hand_back(engine);
        Commit *commit = coordinator_prepare(engine->coordinator);
        if (commit != NULL) {
            commit_batch(engine, commit);
            continue;
        }
        int64_t next_ms = coordinator_next_wake_ms(engine->coordinator);
        if (next_ms > until_ms) break;
        engine->now_ms = next_ms > engine->now_ms ? next_ms : engine->now_ms + 1;
    }
    engine->now_ms = until_ms;
}

static void run_for(TestEngine *engine, int64_t ms) { run_until(engine, engine->now_ms + ms); }

// ---- callers ----

static void call_done(Request *request) { container_of(request, Call, request)->answer_count++; }

static Call *call_new(TestEngine *engine, OpKind kind) {
    assert_in_range(engine->call_count, 0, CALLS_MAX - 1);
    Call *call = &engine->calls[engine->call_count];
    snprintf(call->id, sizeof call->id, "c%d", engine->call_count++);
    call->request.op.kind = kind;
    call->request.done = call_done;
    list_init(&call->request.link);
    return call;
}

static Call *start_run(TestEngine *engine, int64_t start_at_ms) {
    Call *call = call_new(engine, OP_CREATE_RUN);
    call->request.op.in.create_run.spec = (RunSpec){.id = str_from(call->id),
                                                    .workflow = STR("w"),
                                                    .kind = RUN_NATIVE,
                                                    .keep_ms = -1,
                                                    .parent_position = -1,
                                                    .start_at_ms = start_at_ms};
    coordinator_submit(engine->coordinator, &call->request);
    return call;
}

static Call *start_task(TestEngine *engine) {
    Call *call = call_new(engine, OP_CREATE_TASK);
    call->request.op.in.create_task.spec =
        (TaskSpec){.id = str_from(call->id), .name = STR("t"), .max_attempts = 3};
    coordinator_submit(engine->coordinator, &call->request);
    return call;
}

static int64_t counter(TestEngine *engine, int64_t number) {
    StoreStats found;
    Arena arena;
    Diag diag;
    arena_init(&arena);
    assert_ok(store_stats(engine->inner, &arena, &found, &diag));
    arena_done(&arena);
    return found.counters[number];
}

static int64_t runs_in(TestEngine *engine, RunState state) {
    return counter(engine, COUNTER_RUNS_FIRST + (int64_t)state);
}

// All were answered once, and all but `refused` with OK.
static void assert_answers(const TestEngine *engine, const Call *refused) {
    for (int i = 0; i < engine->call_count; i++) {
        const Call *call = &engine->calls[i];
        assert_int_equal(call->answer_count, 1);
        if (call == refused) assert_status(call->request.op.out.status, ERR_LIMIT);
        else assert_status(call->request.op.out.status, OK);
    }
}

// ---- room ----

static void herd_of_due_runs_with_results_fits_into_batches(void **state) {
    TestEngine *engine = *state;
    int64_t due_ms = engine->now_ms + 1000;
    for (int i = 0; i < (int)LIMIT_BATCH_OPS + 100; i++) start_run(engine, due_ms);
    run_for(engine, 10);
    assert_answers(engine, NULL);
    for (int i = 0; i < (int)LIMIT_BATCH_OPS + 100; i++) start_task(engine);
    engine->is_held = true; // then all results come at once, beside requests and what is due
    run_until(engine, due_ms - 1);
    engine->is_held = false;
    engine->now_ms = due_ms;
    for (int i = 0; i < 100; i++) start_run(engine, 0);
    run_for(engine, 1000);
    assert_answers(engine, NULL);
    assert_in_range(engine->largest_batch, LIMIT_BATCH_OPS / 2, LIMIT_BATCH_OPS);
    assert_int_equal(runs_in(engine, RUN_COMPLETED), LIMIT_BATCH_OPS + 200);
    assert_int_equal(counter(engine, COUNTER_TASKS_FIRST + TASK_COMPLETED), LIMIT_BATCH_OPS + 100);
}

static void caller_beside_a_herd_of_results_is_in_the_next_batch(void **state) {
    TestEngine *engine = *state;
    for (int i = 0; i < (int)LIMIT_BATCH_OPS + 100; i++) start_run(engine, 0);
    engine->is_held = true;
    run_for(engine, 1);
    hand_back(engine);
    Call *call = start_run(engine, 0);
    Commit *commit = coordinator_prepare(engine->coordinator);
    // A place may be kept for a claim of what the others queue.
    assert_in_range(commit->batch.count, LIMIT_BATCH_OPS - 1, LIMIT_BATCH_OPS);
    commit_batch(engine, commit);
    assert_int_equal(call->answer_count, 1);
    engine->is_held = false;
    run_for(engine, 1000);
}

// ---- what others do meanwhile ----

// Another process makes a run and a task; told is this one while its claims are on their way.
static void what_is_heard_of_during_a_claim_is_looked_for(void **state) {
    TestEngine *engine = *state;
    coordinator_hear(engine->coordinator);
    Commit *commit = coordinator_prepare(engine->coordinator);
    Diag diag;
    diag_clear(&diag);
    Status status = store_commit(engine->store, &commit->batch, &diag);
    Arena arena;
    arena_init(&arena);
    Batch batch;
    batch_init(&batch, &arena, engine->now_ms);
    batch_add(&batch, OP_CREATE_RUN)->in.create_run.spec =
        (RunSpec){.id = STR("theirs"), .workflow = STR("w"), .kind = RUN_NATIVE, .keep_ms = -1};
    batch_add(&batch, OP_CREATE_TASK)->in.create_task.spec =
        (TaskSpec){.id = STR("theirs"), .name = STR("t"), .max_attempts = 1};
    assert_ok(store_commit(engine->inner, &batch, &diag));
    arena_done(&arena);
    coordinator_hear(engine->coordinator);
    coordinator_finish(engine->coordinator, commit, status, &diag);
    run_for(engine, 1000); // less than a renewal takes, which would find them too
    assert_int_equal(runs_in(engine, RUN_COMPLETED), 1);
    assert_int_equal(counter(engine, COUNTER_TASKS_FIRST + TASK_COMPLETED), 1);
}

// ---- workflows that are registered later ----

static void workflow_registered_while_a_claim_is_under_way_gets_its_runs(void **state) {
    TestEngine *engine = *state;
    Call *call = start_run(engine, 0);
    call->request.op.in.create_run.spec.workflow = STR("late");
    coordinator_hear(engine->coordinator);
    Commit *commit = coordinator_prepare(engine->coordinator);
    bool has_claim = false;
    for (size_t i = 0; i < commit->batch.count; i++)
        has_claim = has_claim || commit->batch.ops[i]->kind == OP_CLAIM;
    assert_true(has_claim);
    assert_ok(coordinator_add_runner(engine->coordinator, STR("late"), &engine->runner));
    commit_batch(engine, commit); // on its way before: it knows nothing of that
    run_for(engine, 1000);
    assert_int_equal(runs_in(engine, RUN_COMPLETED), 1);
}

static void run_without_its_workflow_takes_no_room(void **state) {
    TestEngine *engine = *state;
    for (int i = 0; i < 50; i++)
        start_run(engine, 0)->request.op.in.create_run.spec.workflow = STR("late");
    start_run(engine, 0);
    run_for(engine, 1000);
    assert_answers(engine, NULL);
    assert_int_equal(runs_in(engine, RUN_COMPLETED), 1);
    assert_int_equal(coordinator_resident_count(engine->coordinator), 0);
    int64_t commits = coordinator_stats(engine->coordinator).commits;
    engine->now_ms += 1; // and nobody looks for it again and again
    run_for(engine, 1000);
    assert_in_range(coordinator_stats(engine->coordinator).commits, commits, commits + 1);
    assert_ok(coordinator_add_runner(engine->coordinator, STR("late"), &engine->runner));
    run_for(engine, 1000);
    assert_int_equal(runs_in(engine, RUN_COMPLETED), 51);
}

// ---- refusals that will not go away ----

static void refused_request_fails_alone(void **state) {
    TestEngine *engine = *state;
    engine->guilty_id = "c77";
    for (int i = 0; i < 200; i++) start_run(engine, 0);
    run_for(engine, 1000);
    assert_answers(engine, &engine->calls[77]);
    assert_string_equal(engine->calls[77].request.op.out.diag.code, "STORE_TOO_BIG");
    assert_int_equal(runs_in(engine, RUN_COMPLETED), 199);
    assert_in_range(engine->refusal_count, 2, 20);
}

static void run_whose_turn_is_refused_fails_with_the_reason(void **state) {
    TestEngine *engine = *state;
    engine->guilty_kind = OP_COMMIT_TURN;
    for (int i = 0; i < 20; i++) start_run(engine, 0);
    run_for(engine, 1000);
    assert_answers(engine, NULL);
    assert_int_equal(runs_in(engine, RUN_FAILED), 20);
}

static void run_whose_failure_is_refused_too_is_tried_again_after_a_rest(void **state) {
    TestEngine *engine = *state;
    engine->guilty_kind = OP_COMMIT_TURN;
    engine->is_failing_guilty = true;
    start_run(engine, 0);
    run_for(engine, 1000);
    assert_int_equal(runs_in(engine, RUN_RUNNING), 1);
    assert_in_range(engine->refusal_count, 2, 10); // it is not tried without a pause
    engine->guilty_kind = 0;
    run_for(engine, 20000);
    assert_int_equal(runs_in(engine, RUN_COMPLETED), 1);
}

static void task_whose_result_is_refused_fails_alone(void **state) {
    TestEngine *engine = *state;
    engine->guilty_id = "c7";
    for (int i = 0; i < 20; i++) start_task(engine);
    run_for(engine, 1000);
    assert_answers(engine, NULL);
    assert_int_equal(counter(engine, COUNTER_TASKS_FIRST + TASK_COMPLETED), 19);
    assert_int_equal(counter(engine, COUNTER_TASKS_FIRST + TASK_FAILED), 1);
}

static void own_work_that_is_refused_rests_and_comes_again(void **state) {
    TestEngine *engine = *state;
    engine->guilty_kind = OP_FIRE_DUE;
    start_run(engine, engine->now_ms + 1000);
    run_for(engine, 2000);
    for (int i = 0; i < 50; i++) start_run(engine, 0);
    run_for(engine, 1000);
    assert_answers(engine, NULL);
    assert_int_equal(runs_in(engine, RUN_COMPLETED), 50);
    assert_in_range(engine->refusal_count, 1, 20); // it is not tried without a pause
    engine->guilty_kind = 0;
    run_for(engine, 20000);
    assert_int_equal(runs_in(engine, RUN_COMPLETED), 51);
}

static void batches_grow_again_after_a_refusal(void **state) {
    TestEngine *engine = *state;
    engine->guilty_id = "c0";
    for (int i = 0; i < 200; i++) start_run(engine, 0);
    run_for(engine, 1000);
    engine->largest_batch = 0;
    for (int i = 0; i < 200; i++) start_run(engine, 0);
    run_for(engine, 1000);
    assert_in_range(engine->largest_batch, 200, 210);
}

static void batch_that_never_gets_through_is_tried_in_parts(void **state) {
    TestEngine *engine = *state;
    engine->count_max = 8;
    for (int i = 0; i < 100; i++) start_run(engine, 0);
    for (int i = 0; i < 60 && runs_in(engine, RUN_COMPLETED) < 100; i++) run_for(engine, 1000);
    assert_int_equal(runs_in(engine, RUN_COMPLETED), 100);
}

// ---- the clock ----

static void clock_set_back_makes_timers_late_and_loses_none(void **state) {
    TestEngine *engine = *state;
    enum { HOUR_MS = 3600000 };
    start_run(engine, engine->now_ms + 2000);
    run_for(engine, 1000);
    engine->now_ms -= HOUR_MS;
    engine->set_back_ms += HOUR_MS;
    start_run(engine, engine->now_ms + 2000);
    run_for(engine, 5000);
    assert_int_equal(runs_in(engine, RUN_COMPLETED), 1); // what was set since then is right
    run_for(engine, HOUR_MS - 10000);
    assert_int_equal(runs_in(engine, RUN_COMPLETED), 1);
    run_for(engine, 10000);
    assert_int_equal(runs_in(engine, RUN_COMPLETED), 2);
    assert_answers(engine, NULL);
}

static void clock_set_forward_fires_what_is_due_at_once(void **state) {
    TestEngine *engine = *state;
    start_run(engine, engine->now_ms + 3600000);
    run_for(engine, 1000);
    engine->now_ms += 3600000;
    run_for(engine, 100);
    assert_int_equal(runs_in(engine, RUN_COMPLETED), 1);
}

// ---- limits inside an operation ----

static void tasks_beyond_what_one_claim_looks_at_are_claimed_next(void **state) {
    TestEngine *engine = *state;
    limits_read(STR("claim_looks=1,page_rows=1"));
    for (int i = 0; i < 50; i++) start_task(engine);
    run_for(engine, 100); // no renewal makes it look again
    limits_reset();
    assert_int_equal(counter(engine, COUNTER_TASKS_FIRST + TASK_COMPLETED), 50);
}

static void every_size_of_batch_comes_to_the_end(void **state) {
    TestEngine *engine = *state;
    static const char *const sizes[] = {"batch_ops=1", "batch_ops=2", "batch_ops=3", "batch_ops=8"};
    for (int i = 0; i < 4; i++) {
        limits_read(str_from(sizes[i]));
        for (int j = 0; j < 40; j++) start_run(engine, j % 2 == 0 ? 0 : engine->now_ms + 50);
        for (int j = 0; j < 40; j++) start_task(engine);
        engine->largest_batch = 0;
        run_for(engine, 20000);
        assert_int_equal(engine->largest_batch, LIMIT_BATCH_OPS);
        assert_int_equal(runs_in(engine, RUN_COMPLETED), 40 * (i + 1));
        assert_int_equal(counter(engine, COUNTER_TASKS_FIRST + TASK_COMPLETED), 40 * (i + 1));
    }
    limits_reset();
    assert_answers(engine, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(herd_of_due_runs_with_results_fits_into_batches, engine_new,
                                        engine_free),
        cmocka_unit_test_setup_teardown(caller_beside_a_herd_of_results_is_in_the_next_batch,
                                        engine_new, engine_free),
        cmocka_unit_test_setup_teardown(
            workflow_registered_while_a_claim_is_under_way_gets_its_runs, engine_new, engine_free),
        cmocka_unit_test_setup_teardown(run_without_its_workflow_takes_no_room, engine_new,
                                        engine_free),
        cmocka_unit_test_setup_teardown(what_is_heard_of_during_a_claim_is_looked_for, engine_new,
                                        engine_free),
        cmocka_unit_test_setup_teardown(refused_request_fails_alone, engine_new, engine_free),
        cmocka_unit_test_setup_teardown(run_whose_turn_is_refused_fails_with_the_reason, engine_new,
                                        engine_free),
        cmocka_unit_test_setup_teardown(
            run_whose_failure_is_refused_too_is_tried_again_after_a_rest, engine_new, engine_free),
        cmocka_unit_test_setup_teardown(task_whose_result_is_refused_fails_alone, engine_new,
                                        engine_free),
        cmocka_unit_test_setup_teardown(own_work_that_is_refused_rests_and_comes_again, engine_new,
                                        engine_free),
        cmocka_unit_test_setup_teardown(batches_grow_again_after_a_refusal, engine_new,
                                        engine_free),
        cmocka_unit_test_setup_teardown(batch_that_never_gets_through_is_tried_in_parts, engine_new,
                                        engine_free),
        cmocka_unit_test_setup_teardown(clock_set_back_makes_timers_late_and_loses_none, engine_new,
                                        engine_free),
        cmocka_unit_test_setup_teardown(clock_set_forward_fires_what_is_due_at_once, engine_new,
                                        engine_free),
        cmocka_unit_test_setup_teardown(tasks_beyond_what_one_claim_looks_at_are_claimed_next,
                                        engine_new, engine_free),
        cmocka_unit_test_setup_teardown(every_size_of_batch_comes_to_the_end, engine_new,
                                        engine_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

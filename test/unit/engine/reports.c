// Reports of workers about tasks of scripts in memory: the turn that a result enables is executed
// before the result is committed, and both are committed together.
//
// A coordinator on the memory store behind one that fails on demand; the test is its driver, its
// world, and the worker.
#include "unit/unit.h"

#include "base/memory.h"
#include "engine/coordinator/coordinator.h"
#include "engine/definitions/definition.h"
#include "engine/definitions/start.h"
#include "store/decorators/fault.h"
#include "store/reads.h"

#define SCRIPT                                                                                     \
    "return (await Task.run('a', 1)) + (await Task.run('a', 2, {retry: {attempts: 3}}))\n"

typedef struct Call {
    Request request;
    Arena arena;
    int answer_count;
} Call;

typedef struct TestEngine {
    World world;
    Env env;
    int64_t now_ms;
    Store *inner, *store;
    Coordinator *coordinator;
    List executing;
    size_t turn_ops, report_ops; // of the last batch that had either
    int failures_left;           // batches with a report that the store is away from
} TestEngine;

static int64_t test_now(Env *env) { return container_of(env, TestEngine, env)->now_ms; }
static uint64_t test_monotonic(Env *env) { return (uint64_t)test_now(env) * 1000000u; }
static uint64_t test_random(Env *env) { return (uint64_t)test_now(env) * 2654435761u; }
static const EnvOps env_ops = {
    .now_ms = test_now, .monotonic_ns = test_monotonic, .random_u64 = test_random};

static void world_execute(World *world, Execution *execution) {
    list_append(&((TestEngine *)world)->executing, &execution->link);
}
static void world_notify(World *world, const EngineEvent *event) { (void)world, (void)event; }
static const WorldOps world_ops = {.execute = world_execute, .notify = world_notify};

static FaultChoice decide(void *context, const FaultCall *call) {
    TestEngine *engine = context;
    if (call->batch == NULL) return FAULT_NONE;
    size_t turns = 0, reports = 0;
    for (size_t i = 0; i < call->batch->count; i++) {
        turns += call->batch->ops[i]->kind == OP_COMMIT_TURN;
        reports += call->batch->ops[i]->kind == OP_COMPLETE_TASK;
    }
    if (turns + reports > 0) {
        engine->turn_ops = turns;
        engine->report_ops = reports;
    }
    return reports > 0 && engine->failures_left > 0 && engine->failures_left-- > 0 ? FAULT_BEFORE
                                                                                   : FAULT_NONE;
}

static void deploy(TestEngine *engine) {
    Arena arena;
    Batch batch;
    Diag diag;
    FlowModule *module;
    arena_init(&arena);
    batch_init(&batch, &arena, engine->now_ms);
    assert_ok(flow_compile(STR("w.flow"), STR(SCRIPT), &module, NULL, &diag));
    Op *op = batch_add(&batch, OP_DEFINE);
    assert_ok(definition_fill(module, &arena, op, &diag));
    op->in.define.name = STR("w");
    op->in.define.source = STR(SCRIPT);
    assert_ok(store_commit(engine->inner, &batch, &diag));
    assert_ok(op->out.status);
    flow_module_release(module);
    arena_done(&arena);
}

static int engine_new(void **state) {
    TestEngine *engine = mem_zalloc(sizeof(TestEngine));
    engine->world.ops = &world_ops;
    engine->env.ops = &env_ops;
    engine->now_ms = 1800000000000;
    list_init(&engine->executing);
    Diag diag;
    StoreConfig config = {.run_prepare = start_prepare};
    assert_ok(store_open(STR("memory:"), &config, &engine->inner, &diag));
    engine->store = fault_store_new(engine->inner, &(FaultConfig){decide, engine, false});
    deploy(engine);
    CoordinatorSetup setup = {.env = &engine->env, .store = engine->store, .world = &engine->world};
    setup.config = (CoordinatorConfig){
        .node_name = STR("test"),
        .lease_ms = 10000,
        .max_active_runs = 100,
        .max_parked_runs = 100,
        .store_retry_attempts = 2,
        .store_retry_ms = 50,
        .store_retry_max_ms = 100,
        .sweep_ms = 60000,
        .task_lease_ms = 30000,
        .run_retention_ms = -1,
        .max_turn_slices = 10,
    };
    assert_ok(coordinator_new(&setup, &engine->coordinator, &diag));
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
    hand_back(engine);
    coordinator_free(engine->coordinator);
    store_close(engine->store);
    mem_free(engine);
    return 0;
}

static void run_for(TestEngine *engine, int64_t ms) {
    int64_t until_ms = engine->now_ms + ms;
    for (;;) {
        hand_back(engine);
        Commit *commit = coordinator_prepare(engine->coordinator);
        if (commit != NULL) {
            Diag diag;
            diag_clear(&diag);
            Status status = store_commit(engine->store, &commit->batch, &diag);
            coordinator_finish(engine->coordinator, commit, status, &diag);
            continue;
        }
        int64_t next_ms = coordinator_next_wake_ms(engine->coordinator);
        if (next_ms > until_ms) break;
        engine->now_ms = next_ms > engine->now_ms ? next_ms : engine->now_ms + 1;
    }
    engine->now_ms = until_ms;
}

// ---- callers ----

static void call_done(Request *request) { container_of(request, Call, request)->answer_count++; }

static void call_begin(Call *call, OpKind kind) {
    *call = (Call){.request = {.op.kind = kind, .done = call_done, .arena = &call->arena}};
    arena_init(&call->arena);
    list_init(&call->request.link);
}

static void start_run(TestEngine *engine) {
    Call call;
    call_begin(&call, OP_CREATE_RUN);
    call.request.op.in.create_run.spec =
        (RunSpec){.id = STR("r"), .workflow = STR("w"), .keep_ms = -1, .parent_position = -1};
    coordinator_submit(engine->coordinator, &call.request);
    run_for(engine, 10);
    assert_ok(call.request.op.out.status);
    arena_done(&call.arena);
}

typedef struct Task {
    char id[80];
    int64_t token;
} Task;

static Task claim(TestEngine *engine) {
    Call call;
    Task task = {0};
    call_begin(&call, OP_CLAIM_TASKS);
    Op *op = &call.request.op;
    op->in.claim_tasks.worker = STR("worker");
    op->in.claim_tasks.is_any_queue = true;
    op->in.claim_tasks.max = 1;
    op->in.claim_tasks.lease_ms = 5000;
    coordinator_submit(engine->coordinator, &call.request);
    run_for(engine, 10);
    assert_ok(op->out.status);
    assert_int_equal(op->out.claim_tasks.task_count, 1);
    const TaskRow *row = &op->out.claim_tasks.tasks[0];
    assert_true(row->id.len < sizeof task.id);
    memcpy(task.id, row->id.data, row->id.len);
    task.token = row->token;
    arena_done(&call.arena);
    return task;
}

static Status report(TestEngine *engine, const Task *task, const char *result) {
    Call call;
    call_begin(&call, OP_COMPLETE_TASK);
    call.request.op.in.complete_task.id = str_from(task->id);
    call.request.op.in.complete_task.token = task->token;
    call.request.op.in.complete_task.result = str_from(result);
    coordinator_submit(engine->coordinator, &call.request);
    run_for(engine, 3000);
    assert_int_equal(call.answer_count, 1);
    Status status = call.request.op.out.status;
    arena_done(&call.arena);
    return status;
}

static void expect_result(TestEngine *engine, const char *expected) {
    Arena arena;
    Diag diag;
    RunResult result;
    arena_init(&arena);
    assert_ok(store_find_result(engine->inner, &arena, run_of_id(STR("r")), &result, &diag));
    assert_str_equal(result.json, expected);
    arena_done(&arena);
}

// ---- tests ----

static void report_and_the_turn_it_enables_share_a_batch(void **state) {
    TestEngine *engine = *state;
    start_run(engine);
    for (int i = 0; i < 2; i++) {
        Task task = claim(engine);
        assert_ok(report(engine, &task, "20"));
        assert_int_equal(engine->report_ops, 1);
        assert_int_equal(engine->turn_ops, 1);
    }
    expect_result(engine, "40");
}

static void report_of_a_lost_lease_is_refused_and_its_turn_dropped(void **state) {
    TestEngine *engine = *state;
    start_run(engine);
    Task task = claim(engine);
    assert_ok(report(engine, &task, "1"));
    Task lost = claim(engine);
    run_for(engine, 20000); // another attempt is due
    Task again = claim(engine);
    assert_int_not_equal(lost.token, again.token);
    assert_int_equal(report(engine, &lost, "100"), ERR_FENCED);
    assert_ok(report(engine, &again, "2"));
    expect_result(engine, "3");
}

static void report_that_is_not_stored_is_refused_and_counts_when_it_is_repeated(void **state) {
    TestEngine *engine = *state;
    start_run(engine);
    Task task = claim(engine);
    engine->failures_left = 100;
    Call call;
    call_begin(&call, OP_COMPLETE_TASK);
    call.request.op.in.complete_task.id = str_from(task.id);
    call.request.op.in.complete_task.token = task.token;
    call.request.op.in.complete_task.result = STR("5");
    coordinator_submit(engine->coordinator, &call.request);
    run_for(engine, 4500);
    assert_int_equal(call.answer_count, 1); // it does not wait for the store for ever
    assert_int_equal(call.request.op.out.status, ERR_UNAVAILABLE);
    arena_done(&call.arena);
    engine->failures_left = 0;
    assert_ok(report(engine, &task, "5"));
    task = claim(engine);
    assert_ok(report(engine, &task, "6"));
    expect_result(engine, "11");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(report_and_the_turn_it_enables_share_a_batch, engine_new,
                                        engine_free),
        cmocka_unit_test_setup_teardown(report_of_a_lost_lease_is_refused_and_its_turn_dropped,
                                        engine_new, engine_free),
        cmocka_unit_test_setup_teardown(
            report_that_is_not_stored_is_refused_and_counts_when_it_is_repeated, engine_new,
            engine_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

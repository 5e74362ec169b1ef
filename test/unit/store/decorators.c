// Batches, and the stores that wrap another one: trace, fault, metrics. The inner one is a fake
// that counts its calls and answers what the test wants.
#include "store/decorators/fault.h"
#include "store/decorators/metrics.h"
#include "store/decorators/trace.h"
#include "store/read_request.h"
#include "store/reads.h"
#include "unit/unit.h"
#include <stdio.h>

typedef struct FakeStore {
    Store base;
    int commit_count, read_count, verify_count, close_count;
    Status answer;
    FixedEnv *env; // moved by one millisecond per call
} FakeStore;

static void pass_time(FakeStore *fake) {
    if (fake->env != NULL) fake->env->monotonic_ns += 1000000;
}

static Status fake_commit(Store *store, Batch *batch, Diag *diag) {
    FakeStore *fake = (FakeStore *)store;
    fake->commit_count++;
    pass_time(fake);
    if (fake->answer != OK) return diag_set(diag, fake->answer, "FAKE", "asked to fail");
    for (size_t i = 0; i < batch->count; i++) {
        Op *op = batch->ops[i];
        if (op->kind == OP_CREATE_RUN) {
            op->out.create_run.key = 42;
            op->out.create_run.is_new = true;
        } else {
            op->out.status = diag_set(&op->out.diag, ERR_NOT_FOUND, "RUN_NOT_FOUND", "no such run");
        }
    }
    batch->out.ready = ARENA_ARRAY(batch->arena, ReadyRun, 1);
    batch->out.ready_count = 1;
    return OK;
}

static Status fake_read(Store *store, Arena *arena, ReadRequest *request, Diag *diag) {
    (void)diag;
    FakeStore *fake = (FakeStore *)store;
    fake->read_count++;
    pass_time(fake);
    request->out.run.id = arena_str(arena, request->in.run.id);
    return fake->answer;
}

static Status fake_verify(Store *store, int64_t *ret_row_count, Diag *diag) {
    (void)diag;
    ((FakeStore *)store)->verify_count++;
    *ret_row_count = 9;
    return OK;
}

static void fake_close(Store *store) { ((FakeStore *)store)->close_count++; }

static const StoreOps fake_ops = {"fake", fake_commit, fake_read, fake_verify, fake_close, NULL};

typedef struct Fixture {
    FakeStore fake;
    FixedEnv env;
    Arena arena;
    Batch batch;
    RunRow run;
    Diag diag;
} Fixture;

static int set_up(void **state) {
    Fixture *f = calloc(1, sizeof(Fixture));
    f->fake.base.ops = &fake_ops;
    fixed_env_init(&f->env, 1000, 1);
    f->fake.env = &f->env;
    arena_init(&f->arena);
    batch_init(&f->batch, &f->arena, 1000);
    batch_add(&f->batch, OP_CREATE_RUN)->in.create_run.spec.id = STR("order-1");
    batch_add(&f->batch, OP_CANCEL)->in.cancel.run_id = STR("missing");
    *state = f;
    return 0;
}

static Status find_order(Fixture *f, Store *store) {
    return store_run_by_id(store, &f->arena, STR("order-1"), &f->run, &f->diag);
}

static int tear_down(void **state) {
    Fixture *f = *state;
    arena_done(&f->arena);
    free(f);
    return 0;
}

// ---- batches ----

static void operations_of_a_batch_do_not_move(void **state) {
    Fixture *f = *state;
    Op *ops[100];
    for (int i = 0; i < 100; i++) {
        ops[i] = batch_add(&f->batch, OP_CLAIM);
        ops[i]->in.claim.max = i;
    }
    assert_int_equal(f->batch.count, 102);
    for (int i = 0; i < 100; i++) {
        assert_ptr_equal(f->batch.ops[i + 2], ops[i]);
        assert_int_equal(ops[i]->in.claim.max, i);
    }
}

static void every_operation_has_a_name_of_its_own(void **state) {
    (void)state;
    for (int kind = 1; kind < OP_KIND_COUNT; kind++) {
        assert_string_not_equal(op_kind_name((OpKind)kind), "unknown");
        for (int other = 1; other < kind; other++) {
            assert_string_not_equal(op_kind_name((OpKind)kind), op_kind_name((OpKind)other));
        }
    }
    assert_string_equal(op_kind_name((OpKind)0), "unknown");
    for (int kind = 1; kind < READ_KIND_COUNT; kind++) {
        assert_string_not_equal(read_kind_name((ReadKind)kind), "unknown");
    }
}

static void clearing_answers_keeps_the_questions(void **state) {
    Fixture *f = *state;
    assert_ok(store_commit(&f->fake.base, &f->batch, &f->diag));
    f->batch.node = 5;
    f->batch.out.has_tasks = true;
    batch_clear_answers(&f->batch);
    assert_int_equal(f->batch.count, 2);
    assert_int_equal(f->batch.node, 5);
    assert_int_equal(f->batch.out.ready_count, 0);
    assert_false(f->batch.out.has_tasks);
    assert_int_equal(f->batch.ops[0]->out.create_run.key, 0);
    assert_false(f->batch.ops[0]->out.create_run.is_new);
    assert_str_equal(f->batch.ops[0]->in.create_run.spec.id, "order-1");
    assert_int_equal(f->batch.ops[1]->out.status, OK);
    assert_string_equal(f->batch.ops[1]->out.diag.code, "");
    assert_str_equal(f->batch.ops[1]->in.cancel.run_id, "missing");
}

static void answers_of_every_kind_can_be_cleared(void **state) {
    Fixture *f = *state;
    for (int kind = 1; kind < OP_KIND_COUNT; kind++) {
        batch_add(&f->batch, (OpKind)kind)->out.status = ERR_LIMIT;
    }
    Op *turn = batch_add(&f->batch, OP_COMMIT_TURN);
    turn->in.turn.epoch = 3;
    turn->out.turn.last_seq = 9;
    batch_clear_answers(&f->batch);
    for (size_t i = 0; i < f->batch.count; i++) assert_int_equal(f->batch.ops[i]->out.status, OK);
    assert_int_equal(turn->in.turn.epoch, 3);
    assert_int_equal(turn->out.turn.last_seq, 0);
}

// ---- fault ----

typedef struct Plan { // fail call number `at`
    int64_t at;
    FaultChoice choice;
} Plan;

static FaultChoice follow_plan(void *context, const FaultCall *call) {
    const Plan *plan = context;
    return call->number == plan->at ? plan->choice : FAULT_NONE;
}

static Store *faulty(Fixture *f, Plan *plan) {
    return fault_store_new(&f->fake.base, &(FaultConfig){follow_plan, plan, false});
}

static void a_fault_before_does_nothing(void **state) {
    Fixture *f = *state;
    Plan plan = {1, FAULT_BEFORE};
    Store *store = faulty(f, &plan);
    assert_status(store_commit(store, &f->batch, &f->diag), ERR_UNAVAILABLE);
    assert_string_equal(f->diag.code, "STORE_IO");
    assert_int_equal(f->fake.commit_count, 0);
    assert_ok(store_commit(store, &f->batch, &f->diag));
    assert_int_equal(f->fake.commit_count, 1);
    assert_int_equal(f->batch.ops[0]->out.create_run.key, 42);
    store_close(store);
    assert_int_equal(f->fake.close_count, 1);
}

static void a_fault_after_does_it_and_keeps_the_answers(void **state) {
    Fixture *f = *state;
    Plan plan = {1, FAULT_AFTER};
    Store *store = faulty(f, &plan);
    assert_status(store_commit(store, &f->batch, &f->diag), ERR_UNAVAILABLE);
    assert_int_equal(f->fake.commit_count, 1);
    assert_int_not_equal(f->batch.ops[0]->out.create_run.key, 0);
    assert_false(fault_store_is_crashed(store));
    store_close(store);
}

static void a_read_can_fail_too(void **state) {
    Fixture *f = *state;
    Plan plan = {2, FAULT_AFTER};
    Store *store = faulty(f, &plan);
    assert_ok(find_order(f, store));
    assert_str_equal(f->run.id, "order-1");
    ReadRequest request = {.kind = READ_RUN, .in.run.id = STR("order-1")};
    assert_status(store->ops->read(store, &f->arena, &request, &f->diag), ERR_UNAVAILABLE);
    assert_null(request.out.run.id.data); // what it answered is thrown away
    assert_str_equal(request.in.run.id, "order-1");
    plan = (Plan){3, FAULT_BEFORE};
    assert_status(find_order(f, store), ERR_UNAVAILABLE);
    assert_int_equal(f->fake.read_count, 2);
    assert_int_equal(fault_store_call_count(store), 3);
    store_close(store);
}

static void after_a_crash_nothing_gets_through(void **state) {
    Fixture *f = *state;
    FaultChoice choices[] = {FAULT_CRASH_BEFORE, FAULT_CRASH_AFTER};
    for (int i = 0; i < 2; i++) {
        Plan plan = {2, choices[i]};
        Store *store = fault_store_new(&f->fake.base, &(FaultConfig){follow_plan, &plan, true});
        f->fake.commit_count = f->fake.read_count = 0;
        assert_ok(store_commit(store, &f->batch, &f->diag));
        assert_status(store_commit(store, &f->batch, &f->diag), ERR_UNAVAILABLE);
        assert_true(fault_store_is_crashed(store));
        assert_int_equal(f->fake.commit_count, 1 + i);
        int64_t row_count;
        assert_status(store_commit(store, &f->batch, &f->diag), ERR_UNAVAILABLE);
        assert_status(find_order(f, store), ERR_UNAVAILABLE);
        assert_status(store_verify(store, &row_count, &f->diag), ERR_UNAVAILABLE);
        assert_int_equal(f->fake.commit_count, 1 + i);
        assert_int_equal(f->fake.read_count, 0);
        store_close(store);
        assert_int_equal(f->fake.close_count, 0); // is_inner_kept
    }
}

// ---- trace ----

typedef struct Lines {
    char text[4096];
    int count;
} Lines;

static void keep_line(void *context, LogLevel level, const char *line) {
    Lines *lines = context;
    assert_int_equal(level, LOG_DEBUG);
    size_t len = strlen(lines->text);
    snprintf(lines->text + len, sizeof(lines->text) - len, "%s\n", line);
    lines->count++;
}

static void a_trace_tells_each_operation_and_its_answer(void **state) {
    Fixture *f = *state;
    Lines lines = {0};
    Logger logger = {LOG_DEBUG, keep_line, &lines};
    Store *store = trace_store_new(&f->fake.base, &logger);
    assert_string_equal(store->ops->name, "fake");
    batch_add(&f->batch, OP_COMMIT_TURN)->in.turn.run = 7;
    assert_ok(store_commit(store, &f->batch, NULL));
    assert_int_equal(f->batch.ops[0]->out.create_run.key, 42);
    assert_non_null(strstr(lines.text, "3 operations -> OK"));
    assert_non_null(strstr(lines.text, "create_run order-1 -> OK"));
    assert_non_null(strstr(lines.text, "cancel missing -> NOT_FOUND RUN_NOT_FOUND"));
    assert_non_null(strstr(lines.text, "commit_turn 7 "));
    assert_ok(find_order(f, store));
    assert_non_null(strstr(lines.text, "read run \"order-1\" 0 -> OK, 1 rows"));
    int64_t row_count = 0;
    assert_ok(store_verify(store, &row_count, NULL));
    assert_int_equal(row_count, 9);
    f->fake.answer = ERR_UNAVAILABLE;
    assert_status(store_commit(store, &f->batch, &f->diag), ERR_UNAVAILABLE);
    assert_string_equal(f->diag.code, "FAKE");
    assert_non_null(strstr(lines.text, "UNAVAILABLE asked to fail"));
    store_close(store);
    assert_int_equal(f->fake.close_count, 1);
}

static void a_trace_below_its_level_says_nothing(void **state) {
    Fixture *f = *state;
    Lines lines = {0};
    Logger logger = {LOG_INFO, keep_line, &lines};
    Store *store = trace_store_new(&f->fake.base, &logger);
    assert_ok(store_commit(store, &f->batch, &f->diag));
    store_close(store);
    assert_int_equal(lines.count, 0);
    store = trace_store_new(&f->fake.base, NULL);
    assert_ok(store_commit(store, &f->batch, &f->diag));
    store_close(store);
}

// ---- metrics ----

static void metrics_count_calls_operations_and_time(void **state) {
    Fixture *f = *state;
    Store *store = metrics_store_new(&f->fake.base, &f->env.base);
    assert_ok(store_commit(store, &f->batch, &f->diag));
    assert_ok(store_commit(store, &f->batch, &f->diag));
    for (int i = 0; i < 3; i++) assert_ok(find_order(f, store));
    f->fake.answer = ERR_NOT_FOUND;
    assert_status(find_order(f, store), ERR_NOT_FOUND);
    f->fake.answer = ERR_UNAVAILABLE;
    assert_status(find_order(f, store), ERR_UNAVAILABLE);
    assert_status(store_commit(store, &f->batch, &f->diag), ERR_UNAVAILABLE);
    StoreMetrics metrics;
    metrics_store_get(store, &metrics);
    assert_int_equal(metrics.commit_count, 3);
    assert_int_equal(metrics.commit_failed_count, 1);
    assert_int_equal(metrics.commit_op_count, 6);
    assert_int_equal(metrics.commit_ns, 3000000);
    assert_int_equal(metrics.commit_max_ns, 1000000);
    HistogramReading reading;
    histogram_read(&metrics_store_histograms(store)->batch_sizes, &histogram_sizes, &reading);
    assert_int_equal(reading.up_to[0], 0);
    assert_int_equal(reading.up_to[1], 3); // two operations each
    histogram_read(&metrics_store_histograms(store)->commit_ns, &histogram_seconds, &reading);
    assert_int_equal(reading.count, 3);
    assert_true(reading.sum > 0.0029 && reading.sum < 0.0031);
    assert_int_equal(metrics.op_counts[OP_CREATE_RUN], 2);
    assert_int_equal(metrics.op_counts[OP_CANCEL], 2);
    assert_int_equal(metrics.op_refused_counts[OP_CANCEL], 2);
    assert_int_equal(metrics.op_refused_counts[OP_CREATE_RUN], 0);
    assert_int_equal(metrics.read_count, 5);
    assert_int_equal(metrics.read_failed_count, 1);
    assert_int_equal(metrics.read_ns, 5000000);
    store_close(store);
    assert_int_equal(f->fake.close_count, 1);
}

static void decorators_can_be_stacked(void **state) {
    Fixture *f = *state;
    Plan plan = {1, FAULT_BEFORE};
    Store *store = trace_store_new(metrics_store_new(faulty(f, &plan), &f->env.base), NULL);
    assert_status(store_commit(store, &f->batch, NULL), ERR_UNAVAILABLE);
    assert_ok(store_commit(store, &f->batch, NULL));
    store_close(store);
    assert_int_equal(f->fake.commit_count, 1);
    assert_int_equal(f->fake.close_count, 1);
}

#define STORE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        STORE_TEST(operations_of_a_batch_do_not_move),
        STORE_TEST(every_operation_has_a_name_of_its_own),
        STORE_TEST(clearing_answers_keeps_the_questions),
        STORE_TEST(answers_of_every_kind_can_be_cleared),
        STORE_TEST(a_fault_before_does_nothing),
        STORE_TEST(a_fault_after_does_it_and_keeps_the_answers),
        STORE_TEST(a_read_can_fail_too),
        STORE_TEST(after_a_crash_nothing_gets_through),
        STORE_TEST(a_trace_tells_each_operation_and_its_answer),
        STORE_TEST(a_trace_below_its_level_says_nothing),
        STORE_TEST(metrics_count_calls_operations_and_time),
        STORE_TEST(decorators_can_be_stacked),
    };
    return cmocka_run_group_tests_name("store decorators", tests, NULL, NULL);
}

// The workload: workflows that between them use everything, written as a user would write them.
//
// Each tells the ledger what it was answered. Step bodies draw a fresh number each time they run,
// so an answer that is not the recorded one shows.
//
// Not here: which of them are started, and what clients do to them (run.c).
#include "sim/sim.h"
#include <stdio.h>
#include <stdlib.h>

static Sim *sim_of(abide_ctx *ctx) { return abide_user_data(ctx); }

static void observe(abide_ctx *ctx, const char *what, int place, int code, const char *value) {
    char key[64], answer[256];
    snprintf(key, sizeof key, "%s/%d", what, place);
    int len = snprintf(answer, sizeof answer, "%d:%s", code, value != NULL ? value : "-");
    ledger_observe(sim_of(ctx), str_from(abide_run_id(ctx)), abide_incarnation(ctx), key,
                   (Str){answer, (size_t)len < sizeof answer ? (size_t)len : sizeof answer - 1});
}

// ---- step bodies ----

static int work(abide_call *call, const char *input) {
    (void)input;
    Sim *sim = abide_call_user_data(call);
    if (sim->has_faults && sim_chance(sim, 15)) return abide_throw(call, "Flaky", "not this time");
    if (sim->has_faults && sim_chance(sim, 1))
        return abide_throw_final(call, "Broken", "never again");
    return abide_return(
        call, abide_call_printf(call, "%llu", (unsigned long long)sim_random(sim, 1u << 30)));
}

static int double_it(abide_call *call, const char *input) {
    Sim *sim = abide_call_user_data(call);
    if (sim->has_faults && sim_chance(sim, 20)) return abide_throw(call, "Flaky", "not this time");
    return abide_return(call, abide_call_printf(call, "%ld", 2 * strtol(input, NULL, 10)));
}

static int refuse(abide_call *call, const char *input) {
    (void)input;
    return abide_throw_final(call, "Refused", "as always");
}

static int step(abide_ctx *ctx, const char *name, int place) {
    abide_step_options options = {.retry = {.attempts = 6, .delay = "1s", .jitter = 0.5}};
    const char *result = NULL;
    int code = abide_step_with(ctx, name, work, NULL, &options, &result);
    if (code != ABIDE_SUSPENDED) observe(ctx, name, place, code, result);
    return code;
}

// ---- workflows ----

static int chain(abide_ctx *ctx, const char *input) {
    int count = input != NULL ? (int)strtol(input, NULL, 10) : 3;
    for (int i = 0; i < count; i++) ABIDE_TRY(step(ctx, "work", i));
    return abide_complete(ctx, "\"chained\"");
}

static int sleeper(abide_ctx *ctx, const char *input) {
    (void)input;
    int64_t before, after;
    ABIDE_TRY(abide_now(ctx, &before));
    ABIDE_TRY(abide_sleep(ctx, "60s"));
    ABIDE_TRY(abide_now(ctx, &after));
    if (after - before < 60000 - 2000) // clocks of nodes differ by at most a second
        sim_fail(sim_of(ctx), "[X4] %s slept %lld ms instead of 60000", abide_run_id(ctx),
                 (long long)(after - before));
    return step(ctx, "after", 0);
}

static int consumer(abide_ctx *ctx, const char *input) {
    (void)input;
    for (int i = 0; i < 2; i++) {
        const char *payload = NULL;
        int code = abide_await_event(ctx, "jobs", &(abide_wait){.timeout = "10m"}, &payload);
        if (code == ABIDE_SUSPENDED) return code;
        observe(ctx, "event", i, code, payload);
        if (code == ABIDE_TIMEOUT) return abide_complete(ctx, "\"nothing came\"");
        if (code != ABIDE_OK) return code;
        ledger_consume(sim_of(ctx), str_from(payload), str_from(abide_run_id(ctx)), i);
        ABIDE_TRY(step(ctx, "handle", i));
    }
    return abide_complete(ctx, NULL);
}

static int listener(abide_ctx *ctx, const char *input) {
    (void)input;
    for (int i = 0; i < 2; i++) {
        const char *payload = NULL;
        int code = abide_await_signal(ctx, "go", &(abide_wait){.timeout = "5m"}, &payload);
        if (code == ABIDE_SUSPENDED) return code;
        observe(ctx, "signal", i, code, payload);
        if (code == ABIDE_TIMEOUT) return abide_complete(ctx, "\"no signal\"");
        if (code != ABIDE_OK) return code;
        ledger_consume(sim_of(ctx), str_from(payload), str_from(abide_run_id(ctx)), i);
    }
    return abide_complete(ctx, "\"two signals\"");
}

static int parent(abide_ctx *ctx, const char *input) {
    (void)input;
    abide_handle first, second, third;
    const char *result = NULL;
    ABIDE_TRY(abide_child_start(ctx, "chain", "2", NULL, &first));
    ABIDE_TRY(abide_child_start(ctx, "chain", "1", NULL, &second));
    abide_start_options independent = {.close_policy = ABIDE_CLOSE_CANCEL};
    ABIDE_TRY(abide_child_start(ctx, "sleeper", NULL, &independent, &third));
    int code = abide_child_await(ctx, first, NULL, &result);
    if (code == ABIDE_SUSPENDED) return code;
    observe(ctx, "child", 0, code, result);
    if (code != ABIDE_OK && code != ABIDE_FAILED) return code;
    code = abide_child_await(ctx, second, NULL, &result);
    if (code == ABIDE_SUSPENDED) return code;
    observe(ctx, "child", 1, code, result);
    return code == ABIDE_OK ? abide_complete(ctx, result) : code;
}

static int racer(abide_ctx *ctx, const char *input) {
    (void)input;
    abide_any items[] = {
        {.kind = ABIDE_ANY_SIGNAL, .name = "go"},
        {.kind = ABIDE_ANY_EVENT, .name = "jobs"},
        {.kind = ABIDE_ANY_TIMER, .delay = "90s"},
    };
    for (int i = 0; i < 2; i++) {
        int index = -1;
        const char *payload = NULL;
        int code = abide_await_any(ctx, items, 3, &index, &payload);
        if (code == ABIDE_SUSPENDED) return code;
        observe(ctx, "race", i, code * 10 + index, payload);
        if (code != ABIDE_OK) return code;
        if (index < 2)
            ledger_consume(sim_of(ctx), str_from(payload), str_from(abide_run_id(ctx)), i);
    }
    return abide_complete(ctx, NULL);
}

static int looper(abide_ctx *ctx, const char *input) {
    long left = input != NULL ? strtol(input, NULL, 10) : 3;
    ABIDE_TRY(step(ctx, "round", 0));
    if (left > 0) return abide_continue_as(ctx, abide_printf(ctx, "%ld", left - 1));
    return abide_complete(ctx, "\"looped\"");
}

static int tasker(abide_ctx *ctx, const char *input) {
    (void)input;
    abide_task_options options = {.retry = {.attempts = 8, .delay = "1s"}};
    abide_handle task, forgotten;
    ABIDE_TRY(abide_task_start(ctx, "double", "21", &options, &task));
    ABIDE_TRY(abide_task_start(ctx, "double", "1", &options, &forgotten));
    const char *result = NULL;
    int code = abide_task_await(ctx, task, &(abide_wait){.timeout = "20m"}, &result);
    if (code == ABIDE_SUSPENDED) return code;
    observe(ctx, "task", 0, code, result);
    if (code == ABIDE_OK && strcmp(result, "42") != 0)
        sim_fail(sim_of(ctx), "task answered %s instead of 42", result);
    return code == ABIDE_OK ? abide_complete(ctx, result) : code;
}

static int publisher(abide_ctx *ctx, const char *input) {
    (void)input;
    for (int i = 0; i < 3; i++) {
        const char *payload =
            abide_printf(ctx, "\"%s/%d/%d\"", abide_run_id(ctx), abide_incarnation(ctx), i);
        ABIDE_TRY(abide_publish(ctx, "jobs", payload));
        ABIDE_TRY(step(ctx, "published", i));
        ledger_acknowledge(sim_of(ctx), str_from(payload)); // it left with that step's commit
    }
    return abide_complete(ctx, NULL);
}

// Ends well only if its cleanup ran, when it was cancelled.
static int careful(abide_ctx *ctx, const char *input) {
    (void)input;
    int code = abide_sleep(ctx, "3m");
    if (code == ABIDE_SUSPENDED) return code;
    if (code == ABIDE_CANCELLED) {
        abide_task_options options = {.retry = {.attempts = 40, .delay = "1s"}};
        abide_handle forgotten;
        ABIDE_TRY(step(ctx, "cleanup", 0));
        ABIDE_TRY(abide_task_start(ctx, "tidy", "1", &options, &forgotten));
        return ABIDE_CANCELLED;
    }
    return code == ABIDE_OK ? abide_complete(ctx, "\"rested\"") : code;
}

const char *const sim_workflow_names[] = {"chain",     "sleeper", "consumer", "listener",
                                          "parent",    "racer",   "looper",   "tasker",
                                          "publisher", "careful", NULL};
static const abide_workflow_fn functions[] = {chain, sleeper, consumer, listener,  parent,
                                              racer, looper,  tasker,   publisher, careful};

void sim_workflows_define(Sim *sim) {
    Arena arena;
    arena_init(&arena);
    Batch batch;
    for (int i = 0; sim_workflow_names[i] != NULL; i++) {
        batch_init(&batch, &arena, sim->now_ms);
        Op *op = batch_add(&batch, OP_DEFINE);
        op->in.define.name = str_from(sim_workflow_names[i]);
        op->in.define.version = VERSION_NATIVE;
        op->in.define.kind = RUN_NATIVE;
        Diag diag;
        Status status = store_commit(sim->store, &batch, &diag);
        ASSERT(status == OK && op->out.status == OK);
        arena_reset(&arena);
    }
    arena_done(&arena);
}

// The first node has every workflow; in every third history the others lack some, and others of
// them after a crash.
static uint64_t lacking(const SimNode *node) {
    const Sim *sim = node->sim;
    if (node->number == 0 || sim->options.seed % 3 != 0) return 0;
    return hash_fixed_u64(sim->options.seed * 1000 + (uint64_t)sim->crash_count * 10 +
                          (uint64_t)node->number);
}

void sim_register(SimNode *node) {
    Sim *sim = node->sim;
    Coordinator *coordinator = node->coordinator;
    uint64_t lacks = lacking(node);
    for (int count = 0; sim_workflow_names[count] != NULL; count++) {
        native_runner_init(&sim->runners[count], functions[count], sim);
        sim->runners[count].child_keep_ms = KEEP_FOR_EVER;
        if (lacks >> count & 1) continue;
        Status status = coordinator_add_runner(coordinator, str_from(sim_workflow_names[count]),
                                               &sim->runners[count].base);
        ASSERT(status == OK);
    }
    Status status = coordinator_add_task(coordinator, STR("double"), double_it, sim);
    ASSERT(status == OK);
    status = coordinator_add_task(coordinator, STR("tidy"), double_it, sim);
    ASSERT(status == OK);
    status = coordinator_add_task(coordinator, STR("refuse"), refuse, sim);
    ASSERT(status == OK);
}

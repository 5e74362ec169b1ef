// The waiting runs of bench-idle.
//
// Runs are known by their numbers, so nothing about them is kept here: what memory is measured is
// the engine's.
//
// Not here: what is measured (idle.c).
#include "idle_runs.h"
#include "bench.h"
#include "load.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 64, SHARE = 16 };

static int prepare(abide_call *call, const char *input) { return abide_return(call, input); }

static int ask_native(abide_ctx *ctx, const char *input) {
    const char *number, *answer;
    ABIDE_TRY(abide_step(ctx, "prepare", prepare, input, &number));
    ABIDE_TRY(abide_await_signal(ctx, "go", NULL, &answer));
    return abide_complete(ctx, abide_printf(ctx, "[%s,%s]", number, answer));
}

static const char ask_source[] = "const number = Inputs\n"
                                 "const answer = await Signal.next('go')\n"
                                 "return [number, answer]\n";

// One run that goes round for ever; its history is cut now and then, as that of such a run should.
static int loop_native(abide_ctx *ctx, const char *input) {
    const char *answer;
    for (int i = 0; i < 100; i++) ABIDE_TRY(abide_await_signal(ctx, "go", NULL, &answer));
    return abide_continue_as(ctx, input);
}

static const char loop_source[] = "let n = 0\nfor (;;) { await Signal.next('go'); n++ }\n";

abide_engine *idle_open(const char *directory, const abide_options *options) {
    char url[4300];
    snprintf(url, sizeof url, "sqlite:%s/idle.db", directory);
    abide_engine *engine;
    abide_error error;
    if (abide_open(url, options, &engine, &error) != ABIDE_OK) die("open", &error);
    if (abide_register_workflow(engine, "ask_native", ask_native, NULL, &error) != ABIDE_OK ||
        abide_register_workflow(engine, "loop_native", loop_native, NULL, &error) != ABIDE_OK)
        die("register", &error);
    if (abide_deploy(engine, "ask.flow", ask_source, NULL, NULL, &error) != ABIDE_OK ||
        abide_deploy(engine, "loop.flow", loop_source, NULL, NULL, &error) != ABIDE_OK)
        die("deploy", &error);
    recover(engine);
    return engine;
}

// ---- many threads that take shares of the numbers ----

typedef struct Shared {
    IdleWakes wakes;
    atomic_llong next; // number that nobody has taken yet
    atomic_llong done; // threads
} Shared;

static void begin_one(Shared *shared, int64_t number) {
    char id[32], input[32];
    abide_error error;
    snprintf(id, sizeof id, "r%07lld", (long long)number);
    snprintf(input, sizeof input, "%lld", (long long)number);
    const char *workflow = number % NATIVE_EVERY == 0 ? "ask_native" : "ask";
    abide_start_options options = {.id = id};
    if (abide_start(shared->wakes.engine, workflow, input, &options, NULL, &error) != ABIDE_OK)
        die("start", &error);
}

static void wake_one(Shared *shared, int64_t number) {
    IdleWakes *wakes = &shared->wakes;
    if (wakes->skipped_every > 0 && number % wakes->skipped_every == 0) return;
    wakes->seconds[number - wakes->from] = idle_wake(wakes->engine, number);
}

static void take_shares(Shared *shared, void (*each)(Shared *shared, int64_t number)) {
    int64_t to = shared->wakes.to, from;
    while ((from = atomic_fetch_add(&shared->next, SHARE)) < to)
        for (int64_t i = from; i < from + SHARE && i < to; i++) each(shared, i);
    atomic_fetch_add(&shared->done, 1);
}

static void *begin_some(void *context) {
    take_shares(context, begin_one);
    return NULL;
}

static void *wake_some(void *context) {
    take_shares(context, wake_one);
    return NULL;
}

static void run_threads(Shared *shared, void *(*body)(void *context)) {
    pthread_t threads[THREADS];
    shared->next = shared->wakes.from;
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, body, shared);
    while (shared->wakes.look != NULL && atomic_load(&shared->done) < THREADS) {
        shared->wakes.look(shared->wakes.context);
        usleep(50000);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
}

void idle_start(abide_engine *engine, int64_t from, int64_t to) {
    int64_t before = stats_of(engine).runs[ABIDE_RUN_SUSPENDED];
    Shared shared = {.wakes = {.engine = engine, .from = from, .to = to}};
    run_threads(&shared, begin_some);
    while (stats_of(engine).runs[ABIDE_RUN_SUSPENDED] < before + to - from) usleep(20000);
}

void idle_wait_released(abide_engine *engine) {
    while (stats_of(engine).resident_runs > 0) usleep(20000);
}

double idle_wake(abide_engine *engine, int64_t number) {
    char id[32], payload[32], expected[80], *result;
    abide_error error;
    snprintf(id, sizeof id, "r%07lld", (long long)number);
    snprintf(payload, sizeof payload, "\"s%lld\"", (long long)number);
    snprintf(expected, sizeof expected, "[%lld,%s]", (long long)number, payload);
    double start = bench_now();
    if (abide_signal(engine, id, "go", payload, NULL, &error) != ABIDE_OK) die("signal", &error);
    if (abide_result(engine, id, "300s", &result, &error) != ABIDE_OK) die("result", &error);
    double seconds = bench_now() - start;
    if (result == NULL || strcmp(result, expected) != 0) {
        fprintf(stderr, "%s answered %s, not %s\n", id, result ? result : "nothing", expected);
        exit(1);
    }
    abide_free(result);
    return seconds;
}

void idle_wake_all(IdleWakes *wakes) {
    int64_t room = wakes->to - wakes->from;
    for (int64_t i = 0; i < room; i++) wakes->seconds[i] = -1;
    Shared shared = {.wakes = *wakes};
    run_threads(&shared, wake_some);
    wakes->count = 0;
    for (int64_t i = 0; i < room; i++)
        if (wakes->seconds[i] >= 0) wakes->seconds[wakes->count++] = wakes->seconds[i];
}

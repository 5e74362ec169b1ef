// What the benchmarks of the engine share: starting runs from many threads, and waiting.
//
// Not here: what is measured (core.c, flows.c).
#include "load.h"
#include "bench.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

_Noreturn void die(const char *what, const abide_error *error) {
    fprintf(stderr, "%s: %s: %s\n", what, error->name, error->message);
    exit(1);
}

void recover(abide_engine *engine) {
    abide_error error;
    if (abide_recover(engine, NULL, &error) != ABIDE_OK) die("recover", &error);
}

typedef struct Starter {
    pthread_t thread;
    abide_engine *engine;
    const Load *load;
    int64_t count;
} Starter;

static void *start_some(void *context) {
    Starter *self = context;
    abide_error error;
    for (int64_t i = 0; i < self->count; i++)
        if (abide_start(self->engine, self->load->workflow, self->load->input, &self->load->options,
                        NULL, &error) != ABIDE_OK)
            die("start", &error);
    return NULL;
}

void start_many(abide_engine *engine, const Load *load, int64_t count) {
    enum { THREADS = 64 };
    static Starter starters[THREADS];
    for (int i = 0; i < THREADS; i++) {
        starters[i] = (Starter){.engine = engine, .load = load};
        starters[i].count = count / THREADS + (i < count % THREADS);
        pthread_create(&starters[i].thread, NULL, start_some, &starters[i]);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(starters[i].thread, NULL);
}

abide_stats stats_of(abide_engine *engine) {
    abide_stats stats;
    abide_error error;
    if (abide_get_stats(engine, &stats, &error) != ABIDE_OK) die("stats", &error);
    return stats;
}

void wait_for_completed(abide_engine *engine, int64_t total) {
    for (;;) {
        abide_stats stats = stats_of(engine);
        if (stats.failed_total > 0) {
            fprintf(stderr, "%lld runs failed\n", (long long)stats.failed_total);
            exit(1);
        }
        if (stats.completed_total >= total) return;
        usleep(2000);
    }
}

double run_one(abide_engine *engine, const char *workflow, const char *input) {
    char id[ABIDE_RUN_ID_SIZE], *result;
    abide_error error;
    double start = bench_now();
    if (abide_start(engine, workflow, input, NULL, id, &error) != ABIDE_OK) die("start", &error);
    if (abide_result(engine, id, "60s", &result, &error) != ABIDE_OK) die("result", &error);
    double seconds = bench_now() - start;
    abide_free(result);
    return seconds;
}

double timers_late(abide_engine *engine, const char *workflow, int64_t count) {
    char input[32];
    int64_t at = (int64_t)(time(NULL) + 8) * 1000;
    snprintf(input, sizeof input, "%lld", (long long)at);
    start_many(engine, &(Load){.workflow = workflow, .input = input}, count);
    if (stats_of(engine).completed_total > 0) fprintf(stderr, "  (too slow to start them all)\n");
    wait_for_completed(engine, count);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9 - (double)at / 1000;
}

int load_quick(abide_call *call, const char *input) {
    (void)input;
    return abide_return(call, "{\"ok\":true}");
}

int load_chain(abide_ctx *ctx, const char *input) {
    long count = strtol(input, NULL, 10);
    for (long i = 0; i < count; i++) ABIDE_TRY(abide_step(ctx, "step", load_quick, NULL, NULL));
    return abide_complete(ctx, "true");
}

int load_until(abide_ctx *ctx, const char *input) {
    ABIDE_TRY(abide_sleep_until(ctx, strtoll(input, NULL, 10)));
    return abide_complete(ctx, "true");
}

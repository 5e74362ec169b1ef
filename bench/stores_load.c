// stores-load URL NAME RUNS: the 10-step workload and a lone run on the store of that URL. Run by
// bench/stores.py, which starts the servers and measures their own limits beside it.
//
// stores-load URL make RUNS, and then at once any number of stores-load URL work RUNS: the same
// workload done by several nodes. A node at work ends when all runs have; it says how long it took.
//
// Starts are measured apart from steps: the runs exist before the clock of the steps starts, and
// are loaded from the store; then both together, on an engine at work. Every step is durable before
// its run goes on; what shares a commit is different runs.
//
// Not here: pass or fail.
#include "abide.h"
#include "bench.h"
#include "load.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int quick(abide_call *call, const char *input) {
    (void)input;
    return abide_return(call, "{\"ok\":true}");
}

static int chain(abide_ctx *ctx, const char *input) {
    (void)input;
    for (int i = 0; i < 10; i++) ABIDE_TRY(abide_step(ctx, "step", quick, NULL, NULL));
    return abide_complete(ctx, "true");
}

static void report(const char *store, const char *what, double value, const char *unit) {
    char name[100];
    snprintf(name, sizeof name, "stores.%s.%s", store, what);
    bench_report(name, value, unit, 0);
}

static abide_engine *open_engine(const char *url) {
    abide_options options = {.discard_step_events = 1};
    abide_engine *engine;
    abide_error error;
    if (abide_open(url, &options, &engine, &error) != ABIDE_OK) die("open", &error);
    if (abide_register_workflow(engine, "chain", chain, NULL, &error) != ABIDE_OK)
        die("register", &error);
    return engine;
}

static void measure_alone(abide_engine *engine, const char *store, int64_t runs) {
    double begun = bench_now();
    start_many(engine, &(Load){.workflow = "chain"}, runs);
    report(store, "starts", (double)runs / (bench_now() - begun), "runs/s");
    begun = bench_now();
    recover(engine);
    wait_for_completed(engine, runs);
    double seconds = bench_now() - begun;
    report(store, "chain10", (double)runs * 10 / seconds, "steps/s");
    report(store, "chain10.steps_per_commit", (double)runs * 10 / (double)stats_of(engine).commits,
           "steps");
    begun = bench_now();
    start_many(engine, &(Load){.workflow = "chain"}, runs);
    wait_for_completed(engine, 2 * runs);
    report(store, "chain10.with_starts", (double)runs * 10 / (bench_now() - begun), "steps/s");
    enum { ROUNDS = 200 };
    double ten[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) ten[i] = run_one(engine, "chain", NULL);
    report(store, "run10.p50", bench_quantile(ten, ROUNDS, 0.5) * 1e3, "ms");
}

// Asks seldom how far all are: each node asks the same server.
static void work_with_others(abide_engine *engine, int64_t runs) {
    enum { ASK_US = 20000 };
    double begun = bench_now();
    recover(engine);
    while (stats_of(engine).completed_total < runs) usleep(ASK_US);
    report("node", "seconds", bench_now() - begun, "s");
    report("node", "steps", (double)stats_of(engine).steps, "steps");
}

int main(int count, char **arguments) {
    if (count != 4) {
        fprintf(stderr, "usage: stores-load URL NAME|make|work RUNS\n");
        return 2;
    }
    const char *what = arguments[2];
    int64_t runs = strtoll(arguments[3], NULL, 10);
    abide_engine *engine = open_engine(arguments[1]);
    if (strcmp(what, "make") == 0) start_many(engine, &(Load){.workflow = "chain"}, runs);
    else if (strcmp(what, "work") == 0) work_with_others(engine, runs);
    else measure_alone(engine, what, runs);
    abide_close(engine);
    return 0;
}

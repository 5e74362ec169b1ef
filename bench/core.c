// bench-core: the durable core beside the machine's own limits, in one run.
//
// Limits first: fdatasync of a small append, and a bare SQLite loop (WAL, synchronous=FULL) that
// inserts rows of a checkpoint's size at 1, 10, 100 and 1000 rows per transaction. Then the
// engine: a 10-step workflow with many runs in flight, one run alone, an event to a waiting run,
// 10,000 timers due at once, and a million suspended runs.
//
// Not here: pass or fail. BENCH_SUSPENDED=N changes the number of suspended runs.
#include "abide.h"
#include "bench.h"
#include "limits.h"
#include "load.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- workflows ----

static int quick(abide_call *call, const char *input) {
    (void)input;
    return abide_return(call, "{\"ok\":true}");
}

static int chain(abide_ctx *ctx, const char *input) {
    int count = input != NULL ? (int)strtol(input, NULL, 10) : 10;
    for (int i = 0; i < count; i++) ABIDE_TRY(abide_step(ctx, "step", quick, NULL, NULL));
    return abide_complete(ctx, "true");
}

static int waiter(abide_ctx *ctx, const char *input) {
    (void)input;
    const char *payload;
    ABIDE_TRY(abide_await_signal(ctx, "go", NULL, &payload));
    return abide_complete(ctx, payload);
}

static int until(abide_ctx *ctx, const char *input) {
    int64_t at = strtoll(input, NULL, 10), now;
    ABIDE_TRY(abide_sleep_until(ctx, at));
    ABIDE_TRY(abide_now(ctx, &now));
    return abide_complete(ctx, abide_printf(ctx, "%lld", (long long)(now - at)));
}

static abide_engine *open_engine(const char *directory, const char *name) {
    char url[4300];
    snprintf(url, sizeof url, "sqlite:%s/%s", directory, name);
    abide_options options = {.discard_step_events = 1};
    abide_engine *engine;
    abide_error error;
    if (abide_open(url, &options, &engine, &error) != ABIDE_OK) die("open", &error);
    if (abide_register_workflow(engine, "chain", chain, NULL, &error) != ABIDE_OK ||
        abide_register_workflow(engine, "waiter", waiter, NULL, &error) != ABIDE_OK ||
        abide_register_workflow(engine, "until", until, NULL, &error) != ABIDE_OK)
        die("register", &error);
    return engine;
}

// ---- measurements ----

// Runs are created before the clock starts, so that only steps are measured.
static void bench_chain(const char *directory, double limit) {
    enum { RUNS = 20000 };
    abide_engine *engine = open_engine(directory, "chain.db");
    start_many(engine, &(Load){.workflow = "chain", .input = "10"}, RUNS);
    double start = bench_now();
    recover(engine);
    wait_for_completed(engine, RUNS);
    double seconds = bench_now() - start;
    abide_stats stats = stats_of(engine);
    bench_report("core.chain10", RUNS * 10 / seconds, "steps/s", limit);
    bench_report("core.chain10.flushes_per_step", (double)stats.commits / (RUNS * 10.0), "commits",
                 0);
    abide_close(engine);
}

static void bench_latency(const char *directory, double fsync_seconds) {
    enum { ROUNDS = 300 };
    abide_engine *engine = open_engine(directory, "latency.db");
    abide_error error;
    recover(engine);
    double one[ROUNDS], ten[ROUNDS], event[ROUNDS];
    char id[ABIDE_RUN_ID_SIZE], *result;
    for (int i = 0; i < ROUNDS; i++) {
        one[i] = run_one(engine, "chain", "1");
        ten[i] = run_one(engine, "chain", "10");
        if (abide_start(engine, "waiter", NULL, NULL, id, &error) != ABIDE_OK) die("start", &error);
        usleep(3000);
        double start = bench_now();
        if (abide_signal(engine, id, "go", "1", NULL, &error) != ABIDE_OK) die("signal", &error);
        if (abide_result(engine, id, "10s", &result, &error) != ABIDE_OK) die("result", &error);
        event[i] = bench_now() - start;
        abide_free(result);
    }
    bench_report("core.run1.p50", bench_quantile(one, ROUNDS, 0.5) * 1e3, "ms",
                 3 * fsync_seconds * 1e3);
    bench_report("core.run1.p99", bench_quantile(one, ROUNDS, 0.99) * 1e3, "ms", 0);
    bench_report("core.run10.p50", bench_quantile(ten, ROUNDS, 0.5) * 1e3, "ms",
                 12 * fsync_seconds * 1e3);
    bench_report("core.signal_to_completed.p50", bench_quantile(event, ROUNDS, 0.5) * 1e3, "ms",
                 2 * fsync_seconds * 1e3);
    abide_close(engine);
}

static void bench_timers(const char *directory) {
    abide_engine *engine = open_engine(directory, "timers.db");
    recover(engine);
    double late = timers_late(engine, "until", 10000);
    bench_report("core.timers10000.last_late", late * 1e3, "ms", 500);
    abide_close(engine);
}

enum { WAKES = 21 };

// Runs to be woken, far apart from each other in the file.
typedef struct Sample {
    char ids[WAKES][ABIDE_RUN_ID_SIZE];
    int count, seen;
} Sample;

static int keep_id(void *user, const abide_run_info *run) {
    Sample *sample = user;
    if (sample->seen++ % 47 == 0 && sample->count < WAKES)
        memcpy(sample->ids[sample->count++], run->id, ABIDE_RUN_ID_SIZE);
    return 0;
}

static void bench_suspended(const char *directory) {
    const char *given = getenv("BENCH_SUSPENDED");
    int64_t count = given != NULL ? strtoll(given, NULL, 10) : 1000000;
    abide_engine *engine = open_engine(directory, "many.db");
    abide_error error;
    recover(engine);
    double start = bench_now();
    start_many(engine, &(Load){.workflow = "waiter"}, count);
    while (stats_of(engine).runs[ABIDE_RUN_SUSPENDED] < count) usleep(20000);
    bench_report("core.suspend_rate", (double)count / (bench_now() - start), "runs/s", 0);
    bench_report("core.suspended.rss", (double)bench_rss() / 1e6, "MB", 200);
    abide_close(engine);
    bench_report("core.suspended.disk_per_run", (double)bench_file_size(directory) / (double)count,
                 "bytes", 1024);
    start = bench_now();
    engine = open_engine(directory, "many.db");
    recover(engine);
    bench_report("core.suspended.open_and_recover", (bench_now() - start) * 1e3, "ms", 1000);
    double wakes[WAKES];
    Sample sample = {0};
    if (abide_list(engine, &(abide_list_options){.limit = 1000}, keep_id, &sample, NULL, &error) !=
        ABIDE_OK)
        die("list", &error);
    for (int i = 0; i < WAKES && i < sample.count; i++) {
        char *result;
        start = bench_now();
        if (abide_signal(engine, sample.ids[i], "go", "1", NULL, &error) != ABIDE_OK)
            die("signal", &error);
        if (abide_result(engine, sample.ids[i], "10s", &result, &error) != ABIDE_OK)
            die("result", &error);
        wakes[i] = bench_now() - start;
        abide_free(result);
    }
    bench_report("core.suspended.wake_one.p50", bench_quantile(wakes, WAKES, 0.5) * 1e3, "ms", 5);
    bench_report("core.suspended.wake_one.worst", bench_quantile(wakes, WAKES, 1) * 1e3, "ms", 5);
    abide_close(engine);
}

int main(void) {
    char *directory = bench_directory();
    double fsync_seconds;
    double limit100 = limit_report(directory, &fsync_seconds);
    bench_chain(directory, limit100);
    bench_latency(directory, fsync_seconds);
    bench_timers(directory);
    bench_remove(directory);
    directory = bench_directory();
    bench_suspended(directory);
    bench_remove(directory);
    return 0;
}

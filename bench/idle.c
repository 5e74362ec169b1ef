// bench-idle: what runs cost that wait, and how they wake. Durable (SQLite, synchronous=FULL).
//
//   idle.soak      200,000 runs wait for a signal with room for 1,000 in memory: memory while they
//                  come, while they wait and while they go; each is woken by its signal and must
//                  answer rightly; latency one at a time, then under load; disk per run
//   idle.many      1,000,000 runs, all released: the heap at each tenth of them, so that what a
//                  released run costs beyond the bounded caches can be read off; then the time
//                  from opening the file to the first run that went on, in this process and by the
//                  real server killed and started again; that server's memory
//   idle.restart10000  the same time with 10,000 runs
//   idle.one       one run released and reloaded 10,000 times, a script and a C function
//
// The heap is what the allocator has handed out (mallinfo2). In it are caches whose size does not
// depend on how many runs there are: SQLite's pages (shown apart: .sqlite), rows of runs used
// lately (kernel/cache.h), resident runs (max_resident_runs).
//
// Not here: pass or fail, but for wrong answers, which end it (test/unit/api/soak.c has the
// bars). BENCH_SOAK=N, BENCH_MANY=N and BENCH_ROUNDS=N change the numbers; BENCH_ONLY=soak picks.
#include "bench.h"
#include "idle_runs.h"
#include "idle_server.h"
#include "load.h"
#include <malloc.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROOM = 1000, TENTHS = 10, FULL = 3 };

static int64_t number_from(const char *variable, int64_t otherwise) {
    const char *given = getenv(variable);
    return given != NULL ? strtoll(given, NULL, 10) : otherwise;
}

static bool is_wanted(const char *name) {
    const char *only = getenv("BENCH_ONLY");
    return only == NULL || strcmp(only, name) == 0;
}

static double heap_bytes(void) {
    struct mallinfo2 info = mallinfo2();
    return (double)(info.uordblks + info.hblkhd);
}

static double sqlite_bytes(void) { return (double)sqlite3_memory_used(); }

static void report(const char *group, const char *name, double value, const char *unit) {
    char full[100];
    snprintf(full, sizeof full, "idle.%s.%s", group, name);
    bench_report(full, value, unit, 0);
}

static void report_latency(const char *group, const char *name, double *seconds, int64_t count) {
    char full[100];
    snprintf(full, sizeof full, "%s.p50", name);
    report(group, full, bench_quantile(seconds, (int)count, 0.5) * 1e3, "ms");
    snprintf(full, sizeof full, "%s.p99", name);
    report(group, full, bench_quantile(seconds, (int)count, 0.99) * 1e3, "ms");
    snprintf(full, sizeof full, "%s.worst", name);
    report(group, full, bench_quantile(seconds, (int)count, 1) * 1e3, "ms");
}

// ---- resident memory over time ----

typedef struct Samples {
    int64_t lowest, highest, count;
} Samples;

static void sample(void *context) {
    Samples *samples = context;
    int64_t rss = bench_rss();
    if (samples->count++ == 0) samples->lowest = samples->highest = rss;
    if (rss < samples->lowest) samples->lowest = rss;
    if (rss > samples->highest) samples->highest = rss;
}

static void report_samples(const char *group, const char *name, const Samples *samples) {
    char full[100];
    snprintf(full, sizeof full, "%s.rss_lowest", name);
    report(group, full, (double)samples->lowest / 1e6, "MB");
    snprintf(full, sizeof full, "%s.rss_highest", name);
    report(group, full, (double)samples->highest / 1e6, "MB");
}

// ---- 200,000 with room for 1,000 ----

// In tenths, so that growth shows: a cost per run would make the last tenth the largest.
static void soak_fill(abide_engine *engine, int64_t count) {
    char name[40];
    double start = bench_now();
    for (int tenth = 1; tenth <= TENTHS; tenth++) {
        idle_start(engine, count * (tenth - 1) / TENTHS, count * tenth / TENTHS);
        snprintf(name, sizeof name, "fill%d.rss", tenth * 10);
        report("soak", name, (double)bench_rss() / 1e6, "MB");
    }
    report("soak", "fill.rate", (double)count / (bench_now() - start), "runs/s");
}

static void soak_wake(abide_engine *engine, int64_t count) {
    enum { ALONE_EVERY = 100 };
    double *seconds = malloc((size_t)count * sizeof(double));
    int64_t alone = 0;
    for (int64_t i = 0; i < count; i += ALONE_EVERY) seconds[alone++] = idle_wake(engine, i);
    report_latency("soak", "wake_alone", seconds, alone);
    Samples samples = {0};
    IdleWakes wakes = {.engine = engine,
                       .to = count,
                       .skipped_every = ALONE_EVERY,
                       .seconds = seconds,
                       .look = sample,
                       .context = &samples};
    double start = bench_now();
    idle_wake_all(&wakes);
    report("soak", "wake_load.rate", (double)wakes.count / (bench_now() - start), "runs/s");
    report_latency("soak", "wake_load", seconds, wakes.count);
    report_samples("soak", "wake_load", &samples);
    free(seconds);
}

static void bench_soak(const char *directory) {
    int64_t count = number_from("BENCH_SOAK", 200000);
    abide_options options = {.discard_step_events = 1, .max_resident_runs = ROOM};
    abide_engine *engine = idle_open(directory, &options);
    report("soak", "runs", (double)count, "runs");
    report("soak", "empty.rss", (double)bench_rss() / 1e6, "MB");
    soak_fill(engine, count);
    while (stats_of(engine).resident_runs > ROOM) usleep(20000);
    report("soak", "resident_runs", (double)stats_of(engine).resident_runs, "runs");
    Samples samples = {0};
    for (int i = 0; i < 100; i++) {
        sample(&samples);
        usleep(50000);
    }
    report_samples("soak", "waiting", &samples);
    report("soak", "disk_per_run", (double)bench_file_size(directory) / (double)count, "bytes");
    soak_wake(engine, count);
    abide_stats stats = stats_of(engine);
    report("soak", "completed", (double)stats.completed_total, "runs");
    report("soak", "failed", (double)stats.failed_total, "runs");
    report("soak", "reloads", (double)stats.reloads, "runs");
    report("soak", "end.rss", (double)bench_rss() / 1e6, "MB");
    abide_close(engine);
}

// ---- 1,000,000, all released ----

// What one more released run costs: by the heap from the third tenth on, when the caches are full.
static void many_fill(abide_engine *engine, int64_t count) {
    char name[40];
    double heap[TENTHS + 1], sqlite[TENTHS + 1];
    for (int tenth = 1; tenth <= TENTHS; tenth++) {
        idle_start(engine, count * (tenth - 1) / TENTHS, count * tenth / TENTHS);
        idle_wait_released(engine);
        heap[tenth] = heap_bytes();
        sqlite[tenth] = sqlite_bytes();
        snprintf(name, sizeof name, "fill%d.heap", tenth * 10);
        report("many", name, heap[tenth] / 1e6, "MB");
        snprintf(name, sizeof name, "fill%d.sqlite", tenth * 10);
        report("many", name, sqlite[tenth] / 1e6, "MB");
        snprintf(name, sizeof name, "fill%d.rss", tenth * 10);
        report("many", name, (double)bench_rss() / 1e6, "MB");
    }
    double more = (double)count * (TENTHS - FULL) / TENTHS;
    report("many", "heap_per_run", (heap[TENTHS] - heap[FULL]) / more, "bytes");
    report("many", "heap_per_run_beside_sqlite",
           (heap[TENTHS] - sqlite[TENTHS] - heap[FULL] + sqlite[FULL]) / more, "bytes");
}

static void restart(const char *directory, const char *group, int64_t count, double limit) {
    char name[100];
    abide_options options = {.discard_step_events = 1, .max_resident_runs = ROOM};
    double start = bench_now();
    abide_engine *engine = idle_open(directory, &options);
    double opened = bench_now() - start;
    idle_wake(engine, count / 2);
    double resumed = bench_now() - start;
    snprintf(name, sizeof name, "idle.%s.open_and_recover", group);
    bench_report(name, opened * 1e3, "ms", limit);
    snprintf(name, sizeof name, "idle.%s.first_resume", group);
    bench_report(name, resumed * 1e3, "ms", limit);
    abide_close(engine);
}

static void bench_many(const char *directory, const char *group, int64_t count, double limit) {
    abide_options options = {
        .discard_step_events = 1, .max_resident_runs = ROOM, .idle_release_timeout = "500ms"};
    abide_engine *engine = idle_open(directory, &options);
    report(group, "runs", (double)count, "runs");
    if (strcmp(group, "many") == 0) many_fill(engine, count);
    else idle_start(engine, 0, count);
    abide_close(engine);
    report(group, "disk_per_run", (double)bench_file_size(directory) / (double)count, "bytes");
    restart(directory, group, count, limit);
    bench_idle_server(directory, group, count, limit);
}

// ---- one, ten thousand times ----

static void go_round(abide_engine *engine, const char *id) {
    abide_error error;
    int changed = 0;
    if (abide_signal(engine, id, "go", "1", NULL, &error) != ABIDE_OK) die("signal", &error);
    if (abide_settle(engine, NULL, &error) != ABIDE_OK) die("settle", &error);
    if (abide_release(engine, id, &changed, &error) != ABIDE_OK) die("release", &error);
    if (!changed) fprintf(stderr, "%s was not in memory\n", id);
}

static void bench_one(const char *directory, const char *workflow) {
    int64_t rounds = number_from("BENCH_ROUNDS", 10000), warm = rounds / 10;
    char group[40];
    abide_error error;
    abide_engine *engine = idle_open(directory, NULL);
    abide_start_options options = {.id = "one"};
    snprintf(group, sizeof group, "one.%s", workflow);
    if (abide_start(engine, workflow, "1", &options, NULL, &error) != ABIDE_OK)
        die("start", &error);
    for (int64_t i = 0; i < warm; i++) go_round(engine, "one");
    double heap = heap_bytes(), sqlite = sqlite_bytes();
    int64_t rss = bench_rss();
    double start = bench_now();
    for (int64_t i = 0; i < rounds; i++) go_round(engine, "one");
    report(group, "rounds", (double)stats_of(engine).reloads, "reloads");
    report(group, "rate", (double)rounds / (bench_now() - start), "rounds/s");
    double grown = heap_bytes() - heap, pages = sqlite_bytes() - sqlite;
    report(group, "heap_growth", grown, "bytes");
    report(group, "heap_growth_beside_sqlite", grown - pages, "bytes");
    report(group, "rss_growth", (double)(bench_rss() - rss), "bytes");
    abide_close(engine);
}

int main(void) {
    char *directory = bench_directory();
    if (is_wanted("one")) bench_one(directory, "loop");
    bench_remove(directory);
    directory = bench_directory();
    if (is_wanted("one")) bench_one(directory, "loop_native");
    bench_remove(directory);
    directory = bench_directory();
    if (is_wanted("soak")) bench_soak(directory);
    bench_remove(directory);
    directory = bench_directory();
    if (is_wanted("many")) bench_many(directory, "restart10000", 10000, 100);
    bench_remove(directory);
    directory = bench_directory();
    if (is_wanted("many")) bench_many(directory, "many", number_from("BENCH_MANY", 1000000), 1000);
    bench_remove(directory);
    return 0;
}

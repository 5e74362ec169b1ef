// bench-flows: scripts on the engine beside the machine's own limits, in one run.
//
// Tasks are C functions in this process that answer at once, so what is measured is the engine:
// queueing, leasing, completing and resuming, each durable (SQLite, synchronous=FULL). Figures: a
// script of ten tasks in a row with many runs in flight, fan-outs joined by Task.all, one run
// alone, 10,000 timers due in one instant, and what a parked script costs.
//
// Not here: pass or fail; the language itself (flow.py). BENCH_PARKED=N and BENCH_CHAIN=N change
// the number of runs; BENCH_ONLY=chain picks one measurement.
#include "abide.h"
#include "bench.h"
#include "limits.h"
#include "load.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int quick(abide_call *call, const char *input) {
    (void)input;
    return abide_return(call, "{\"ok\":true}");
}

static const char *const sources[][2] = {
    {"chain.flow", "for (let i = 0; i < Inputs; i++) await Task.run('quick', i)\n"
                   "return true\n"},
    {"fan.flow", "const all = await Task.all(Array.from({length: Inputs}, (_, i) =>\n"
                 "  Task.run('quick', i)))\n"
                 "if (all.length !== Inputs) throw new Error('results are missing')\n"
                 "return true\n"},
    {"until.flow", "await Timer.until(new Date(Inputs))\n"
                   "return Date.now() - Inputs\n"},
    {"order.flow", // a typical script that waits for a person
     "const { id, items } = Inputs\n"
     "const total = items.reduce((sum, item) => sum + item.price * item.count, 0)\n"
     "const approval = await Signal.when('approval', { timeout: '30d' }).catch(() => null)\n"
     "return { id, total, approved: approval?.ok === true }\n"},
};

static abide_engine *open_engine(const char *directory, const char *name) {
    char url[4300];
    snprintf(url, sizeof url, "sqlite:%s/%s", directory, name);
    abide_options options = {.discard_step_events = 1};
    abide_engine *engine;
    abide_error error;
    if (abide_open(url, &options, &engine, &error) != ABIDE_OK) die("open", &error);
    if (abide_register_task(engine, "quick", quick, NULL, &error) != ABIDE_OK)
        die("register", &error);
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++)
        if (abide_deploy(engine, sources[i][0], sources[i][1], NULL, NULL, &error) != ABIDE_OK)
            die(sources[i][0], &error);
    return engine;
}

static int64_t number_from(const char *variable, int64_t otherwise) {
    const char *given = getenv(variable);
    return given != NULL ? strtoll(given, NULL, 10) : otherwise;
}

// Runs are created before the clock starts, so that only tasks are measured.
static void bench_chain(const char *directory, double limit) {
    int64_t runs = number_from("BENCH_CHAIN", 5000);
    double tasks = (double)runs * 10;
    abide_engine *engine = open_engine(directory, "chain.db");
    start_many(engine, &(Load){.workflow = "chain", .input = "10"}, runs);
    abide_stats before = stats_of(engine);
    double start = bench_now();
    recover(engine);
    wait_for_completed(engine, runs);
    double seconds = bench_now() - start;
    abide_stats stats = stats_of(engine);
    bench_report("flows.chain10", tasks / seconds, "tasks/s", limit);
    bench_report("flows.chain10.commits_per_task", (double)(stats.commits - before.commits) / tasks,
                 "commits", 0);
    bench_report("flows.chain10.turns_per_run", (double)stats.turns / (double)runs, "turns", 11);
    abide_close(engine);
    bench_report("flows.chain10.disk_per_task", (double)bench_file_size(directory) / tasks, "bytes",
                 0);
}

static void bench_fan(const char *directory, const char *width, int rounds) {
    abide_engine *engine = open_engine(directory, "fan.db");
    recover(engine);
    double times[100];
    char name[64];
    run_one(engine, "fan", width); // compiles, and warms the file
    int64_t turns = stats_of(engine).turns, commits = stats_of(engine).commits;
    for (int i = 0; i < rounds; i++) times[i] = run_one(engine, "fan", width);
    abide_stats stats = stats_of(engine);
    snprintf(name, sizeof name, "flows.fan%s.p50", width);
    double aim = strcmp(width, "100") == 0 ? 5 : 100;
    bench_report(name, bench_quantile(times, rounds, 0.5) * 1e3, "ms", aim);
    snprintf(name, sizeof name, "flows.fan%s.turns", width);
    bench_report(name, (double)(stats.turns - turns) / rounds, "turns/run", 20);
    snprintf(name, sizeof name, "flows.fan%s.commits", width);
    bench_report(name, (double)(stats.commits - commits) / rounds, "commits/run", 0);
    abide_close(engine);
}

static void bench_latency(const char *directory, double fsync_seconds) {
    enum { ROUNDS = 300 };
    abide_engine *engine = open_engine(directory, "latency.db");
    recover(engine);
    double one[ROUNDS], ten[ROUNDS];
    run_one(engine, "chain", "1");
    for (int i = 0; i < ROUNDS; i++) {
        one[i] = run_one(engine, "chain", "1");
        ten[i] = run_one(engine, "chain", "10");
    }
    // Bare: one flush to start, two per task (queued; completed with what follows), one to end.
    bench_report("flows.run1.p50", bench_quantile(one, ROUNDS, 0.5) * 1e3, "ms",
                 3 * fsync_seconds * 1e3);
    bench_report("flows.run1.p99", bench_quantile(one, ROUNDS, 0.99) * 1e3, "ms", 0);
    bench_report("flows.run10.p50", bench_quantile(ten, ROUNDS, 0.5) * 1e3, "ms",
                 12 * fsync_seconds * 1e3);
    bench_report("flows.run10.p99", bench_quantile(ten, ROUNDS, 0.99) * 1e3, "ms", 0);
    abide_close(engine);
}

static void bench_timers(const char *directory) {
    abide_engine *engine = open_engine(directory, "timers.db");
    recover(engine);
    double late = timers_late(engine, "until", 10000);
    bench_report("flows.timers10000.last_late", late * 1e3, "ms", 500);
    abide_close(engine);
}

static void bench_parked(const char *directory) {
    int64_t count = number_from("BENCH_PARKED", 100000);
    abide_engine *engine = open_engine(directory, "parked.db");
    recover(engine);
    int64_t rss_before = bench_rss();
    Load load = {.workflow = "order",
                 .input = "{\"id\":17,\"items\":[{\"sku\":\"tea\",\"price\":4,\"count\":2},"
                          "{\"sku\":\"cup\",\"price\":9,\"count\":1}]}"};
    double start = bench_now();
    start_many(engine, &load, count);
    while (stats_of(engine).runs[ABIDE_RUN_SUSPENDED] < count) usleep(20000);
    bench_report("flows.parked.rate", (double)count / (bench_now() - start), "runs/s", 0);
    bench_report("flows.parked.memory_per_run", (double)(bench_rss() - rss_before) / (double)count,
                 "bytes", 0);
    bench_report("flows.parked.resident_runs", (double)stats_of(engine).resident_runs, "runs", 0);
    abide_close(engine);
    bench_report("flows.parked.disk_per_run", (double)bench_file_size(directory) / (double)count,
                 "bytes", 1024);
}

static int is_wanted(const char *name) {
    const char *only = getenv("BENCH_ONLY");
    return only == NULL || strcmp(only, name) == 0;
}

int main(void) {
    char *directory = bench_directory();
    double fsync_seconds;
    double limit100 = limit_report(directory, &fsync_seconds);
    bench_remove(directory);
    directory = bench_directory();
    if (is_wanted("chain")) bench_chain(directory, limit100);
    if (is_wanted("fan")) {
        bench_fan(directory, "1000", 20);
        bench_fan(directory, "100", 100);
    }
    if (is_wanted("latency")) bench_latency(directory, fsync_seconds);
    if (is_wanted("timers")) bench_timers(directory);
    bench_remove(directory);
    directory = bench_directory();
    if (is_wanted("parked")) bench_parked(directory);
    bench_remove(directory);
    return 0;
}

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
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void die(const char *what, const abide_error *error) {
    fprintf(stderr, "%s: %s: %s\n", what, error->name, error->message);
    exit(1);
}

// ---- the machine's limits ----

static double limit_fdatasync(const char *directory) {
    char path[4200];
    snprintf(path, sizeof path, "%s/sync", directory);
    int file = open(path, O_CREAT | O_WRONLY | O_APPEND, 0600);
    char block[4096] = {0};
    double times[300];
    for (int i = 0; i < 300; i++) {
        double start = bench_now();
        if (write(file, block, sizeof block) != sizeof block || fdatasync(file) != 0) exit(1);
        times[i] = bench_now() - start;
    }
    close(file);
    unlink(path);
    return bench_quantile(times, 300, 0.5);
}

static void run_sql(sqlite3 *db, const char *sql) {
    char *message = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK) {
        fprintf(stderr, "%s: %s\n", sql, message);
        exit(1);
    }
}

// The bytes of a checkpoint, as cheaply as SQLite takes them.
static double limit_rows(const char *directory, int rows_per_commit, double seconds) {
    char path[4200];
    snprintf(path, sizeof path, "%s/raw%d.db", directory, rows_per_commit);
    sqlite3 *db;
    if (sqlite3_open(path, &db) != SQLITE_OK) exit(1);
    run_sql(db, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
                "CREATE TABLE log(run INTEGER, seq INTEGER, at INTEGER, kind INTEGER,"
                " position INTEGER, iteration INTEGER, attempt INTEGER, outcome INTEGER,"
                " slot INTEGER, name TEXT, data TEXT, PRIMARY KEY(run, seq)) WITHOUT ROWID");
    sqlite3_stmt *insert;
    sqlite3_prepare_v2(db, "INSERT INTO log VALUES(?,?,?,2,?,0,1,0,0,?,?)", -1, &insert, NULL);
    double start = bench_now();
    int64_t rows = 0;
    while (bench_now() - start < seconds) {
        run_sql(db, "BEGIN IMMEDIATE");
        for (int i = 0; i < rows_per_commit; i++, rows++) {
            sqlite3_bind_int64(insert, 1, rows / 10);
            sqlite3_bind_int64(insert, 2, rows % 10);
            sqlite3_bind_int64(insert, 3, 1800000000000 + rows);
            sqlite3_bind_int64(insert, 4, rows % 10);
            sqlite3_bind_text(insert, 5, "step", 4, SQLITE_STATIC);
            sqlite3_bind_text(insert, 6, "{\"ok\":true}", 11, SQLITE_STATIC);
            sqlite3_step(insert);
            sqlite3_reset(insert);
        }
        run_sql(db, "COMMIT");
    }
    double rate = (double)rows / (bench_now() - start);
    sqlite3_finalize(insert);
    sqlite3_close(db);
    return rate;
}

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

static void recover(abide_engine *engine) {
    abide_error error;
    if (abide_recover(engine, NULL, &error) != ABIDE_OK) die("recover", &error);
}

// Many callers at once, as in a server: their starts share commits.
typedef struct Starter {
    pthread_t thread;
    abide_engine *engine;
    const char *workflow, *input;
    abide_start_options options;
    int64_t count;
    char last[ABIDE_RUN_ID_SIZE];
} Starter;

static void *start_some(void *context) {
    Starter *self = context;
    abide_error error;
    for (int64_t i = 0; i < self->count; i++)
        if (abide_start(self->engine, self->workflow, self->input, &self->options, self->last,
                        &error) != ABIDE_OK)
            die("start", &error);
    return NULL;
}

static void start_many(abide_engine *engine, const Starter *model, int64_t count,
                       char ret_last[ABIDE_RUN_ID_SIZE]) {
    enum { THREADS = 64 };
    static Starter starters[THREADS];
    for (int i = 0; i < THREADS; i++) {
        starters[i] = *model;
        starters[i].engine = engine;
        starters[i].count = count / THREADS + (i < count % THREADS);
        pthread_create(&starters[i].thread, NULL, start_some, &starters[i]);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(starters[i].thread, NULL);
    memcpy(ret_last, starters[0].last, ABIDE_RUN_ID_SIZE);
}

static void wait_for_completed(abide_engine *engine, int64_t total) {
    abide_stats stats;
    abide_error error;
    do {
        usleep(2000);
        if (abide_get_stats(engine, &stats, &error) != ABIDE_OK) die("stats", &error);
    } while (stats.completed_total < total);
}

// ---- measurements ----

// Runs are created before the clock starts, so that only steps are measured.
static void bench_chain(const char *directory, double limit) {
    enum { RUNS = 20000 };
    abide_engine *engine = open_engine(directory, "chain.db");
    abide_error error;
    char last[ABIDE_RUN_ID_SIZE];
    start_many(engine, &(Starter){.workflow = "chain", .input = "10"}, RUNS, last);
    double start = bench_now();
    recover(engine);
    wait_for_completed(engine, RUNS);
    double seconds = bench_now() - start;
    abide_stats stats;
    if (abide_get_stats(engine, &stats, &error) != ABIDE_OK) die("stats", &error);
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
        double start = bench_now();
        if (abide_start(engine, "chain", "1", NULL, id, &error) != ABIDE_OK) die("start", &error);
        if (abide_result(engine, id, "10s", &result, &error) != ABIDE_OK) die("result", &error);
        one[i] = bench_now() - start;
        abide_free(result);
        start = bench_now();
        if (abide_start(engine, "chain", "10", NULL, id, &error) != ABIDE_OK) die("start", &error);
        if (abide_result(engine, id, "10s", &result, &error) != ABIDE_OK) die("result", &error);
        ten[i] = bench_now() - start;
        abide_free(result);
        if (abide_start(engine, "waiter", NULL, NULL, id, &error) != ABIDE_OK) die("start", &error);
        usleep(3000);
        start = bench_now();
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
    enum { TIMERS = 10000 };
    abide_engine *engine = open_engine(directory, "timers.db");
    recover(engine);
    char input[32];
    int64_t at = (int64_t)(time(NULL) + 8) * 1000;
    snprintf(input, sizeof input, "%lld", (long long)at);
    char last[ABIDE_RUN_ID_SIZE];
    start_many(engine, &(Starter){.workflow = "until", .input = input}, TIMERS, last);
    wait_for_completed(engine, TIMERS);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    double late = (double)now.tv_sec + (double)now.tv_nsec * 1e-9 - (double)at / 1000;
    bench_report("core.timers10000.last_late", late * 1e3, "ms", 0);
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
    char first[ABIDE_RUN_ID_SIZE];
    double start = bench_now();
    start_many(engine, &(Starter){.workflow = "waiter"}, count, first);
    abide_stats stats;
    do {
        usleep(20000);
        if (abide_get_stats(engine, &stats, &error) != ABIDE_OK) die("stats", &error);
    } while (stats.runs[ABIDE_RUN_SUSPENDED] < count);
    bench_report("core.suspend_rate", (double)count / (bench_now() - start), "runs/s", 0);
    bench_report("core.suspended.rss", (double)bench_rss() / 1e6, "MB", 200);
    abide_close(engine);
    bench_report("core.suspended.disk_per_run", (double)bench_file_size(directory) / (double)count,
                 "bytes", 1024);
    start = bench_now();
    engine = open_engine(directory, "many.db");
    recover(engine);
    bench_report("core.suspended.open_and_recover", (bench_now() - start) * 1e3, "ms", 1000);
    (void)first;
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
    double fsync_seconds = limit_fdatasync(directory);
    bench_report("limit.fdatasync.p50", fsync_seconds * 1e3, "ms", 0);
    double limit100 = 0;
    int sizes[] = {1, 10, 100, 1000};
    for (int i = 0; i < 4; i++) {
        char name[64];
        double rate = limit_rows(directory, sizes[i], 1.5);
        snprintf(name, sizeof name, "limit.sqlite.rows_per_commit_%d", sizes[i]);
        bench_report(name, rate, "rows/s", 0);
        if (sizes[i] == 100) limit100 = rate;
    }
    bench_chain(directory, limit100);
    bench_latency(directory, fsync_seconds);
    bench_timers(directory);
    bench_remove(directory);
    directory = bench_directory();
    bench_suspended(directory);
    bench_remove(directory);
    return 0;
}

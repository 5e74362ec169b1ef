// growth-load rows STORE SIZE...: what a step, an event, a timer and a purge cost in a file that
// holds SIZE runs, half of them ended and half waiting (for a signal, each with a time-out).
// growth-load width STORE: what a task, a child and a timer cost when a script waits for 10 … 9,900
// of them together, and how long somebody else waits meanwhile.
//
// The file grows from one size to the next. A figure's limit is the same figure at the first size
// or width, so that its ratio says how it grew. Run by bench/growth.py. BENCH_GROWTH_LOAD=N changes
// how many runs a measurement is made of.
//
// Not here: pass or fail; widths through a worker (growth.py).
#include "abide.h"
#include "bench.h"
#include "load.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 64, PROBES_MAX = 200000 };

// ---- workflows ----

static int gate(abide_ctx *ctx, const char *input) {
    (void)input;
    const char *payload;
    ABIDE_TRY(abide_await_signal(ctx, "go", &(abide_wait){.timeout = "30d"}, &payload));
    return abide_complete(ctx, payload);
}

static const char *const scripts[][2] = {
    {"tasks.flow", "return (await Task.all(Array.from({length: Inputs}, (_, i) =>\n"
                   "  Task.run('quick', i)))).length\n"},
    {"child.flow", "return Inputs\n"},
    {"children.flow", "return (await Promise.all(Array.from({length: Inputs}, (_, i) =>\n"
                      "  Workflow.run('child', i)))).length\n"},
    {"timers.flow", "const at = new Date(Date.now() + 1)\n"
                    "return (await Promise.all(Array.from({length: Inputs}, () =>\n"
                    "  Timer.until(at)))).length\n"},
};

static abide_engine *open_engine(const char *url) {
    abide_options options = {.discard_step_events = 1, .run_retention = "forever"};
    abide_engine *engine;
    abide_error error;
    if (abide_open(url, &options, &engine, &error) != ABIDE_OK) die("open", &error);
    if (abide_register_task(engine, "quick", load_quick, NULL, &error) != ABIDE_OK ||
        abide_register_workflow(engine, "chain", load_chain, NULL, &error) != ABIDE_OK ||
        abide_register_workflow(engine, "gate", gate, NULL, &error) != ABIDE_OK ||
        abide_register_workflow(engine, "until", load_until, NULL, &error) != ABIDE_OK)
        die("register", &error);
    for (size_t i = 0; i < sizeof scripts / sizeof scripts[0]; i++)
        if (abide_deploy(engine, scripts[i][0], scripts[i][1], NULL, NULL, &error) != ABIDE_OK)
            die(scripts[i][0], &error);
    recover(engine);
    return engine;
}

// ---- many callers, each with runs of its own ----

typedef struct Callers {
    abide_engine *engine;
    void (*call)(const struct Callers *callers, int64_t number);
    const char *group, *workflow, *input; // ids are GROUP-NUMBER
    int64_t count;
    atomic_llong next;
} Callers;

static void *call_some(void *context) {
    Callers *callers = context;
    int64_t number;
    while ((number = atomic_fetch_add(&callers->next, 1)) < callers->count)
        callers->call(callers, number);
    return NULL;
}

static double call_all(Callers *callers) {
    pthread_t threads[THREADS];
    double start = bench_now();
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, call_some, callers);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    return bench_now() - start;
}

static void start_one(const Callers *callers, int64_t number) {
    char id[64];
    abide_error error;
    snprintf(id, sizeof id, "%s-%lld", callers->group, (long long)number);
    if (abide_start(callers->engine, callers->workflow, callers->input,
                    &(abide_start_options){.id = id}, NULL, &error) != ABIDE_OK)
        die("start", &error);
}

static void signal_one(const Callers *callers, int64_t number) {
    char id[64];
    abide_error error;
    snprintf(id, sizeof id, "%s-%lld", callers->group, (long long)number);
    if (abide_signal(callers->engine, id, "go", "1", NULL, &error) != ABIDE_OK)
        die("signal", &error);
}

static void purge_one(const Callers *callers, int64_t number) {
    char id[64];
    abide_error error;
    snprintf(id, sizeof id, "%s-%lld", callers->group, (long long)number);
    if (abide_purge(callers->engine, id, &error) != ABIDE_OK) die("purge", &error);
}

// ---- somebody else, who starts a run every now and then ----

typedef struct Probe {
    pthread_t thread;
    abide_engine *engine;
    atomic_int is_over;
    double *seconds; // that each start took
    atomic_int count;
} Probe;

static void *probe_main(void *context) {
    Probe *probe = context;
    abide_error error;
    while (!atomic_load(&probe->is_over) && probe->count < PROBES_MAX) {
        double start = bench_now();
        if (abide_start(probe->engine, "chain", "0", NULL, NULL, &error) != ABIDE_OK)
            die("probe", &error);
        probe->seconds[probe->count++] = bench_now() - start;
        usleep(500);
    }
    return NULL;
}

static void probe_begin(Probe *probe, abide_engine *engine) {
    *probe = (Probe){.engine = engine, .seconds = calloc(PROBES_MAX, sizeof(double))};
    pthread_create(&probe->thread, NULL, probe_main, probe);
    while (atomic_load(&probe->count) == 0) usleep(100);
}

static void probe_end(Probe *probe) {
    atomic_store(&probe->is_over, 1);
    pthread_join(probe->thread, NULL);
}

// ---- figures ----

// Wall clock and processor time: the second hardly depends on what else the machine does.
typedef struct Span {
    double wall, cpu;
} Span;

static double cpu_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static Span span_begin(void) { return (Span){bench_now(), cpu_now()}; }

enum { FIRSTS_MAX = 32 };

// The value of each figure at the first size, which later ones are held against.
static struct {
    char name[40];
    double value;
} firsts[FIRSTS_MAX];

static void report(const char *group, int64_t size, const char *name, double value,
                   const char *unit) {
    char key[40], whole[100];
    int at = 0;
    snprintf(key, sizeof key, "%s.%s", group, name);
    snprintf(whole, sizeof whole, "growth.%s%lld.%s", group, (long long)size, name);
    while (at < FIRSTS_MAX && firsts[at].name[0] != 0 && strcmp(firsts[at].name, key) != 0) at++;
    if (at < FIRSTS_MAX && firsts[at].name[0] == 0) {
        memcpy(firsts[at].name, key, sizeof key);
        firsts[at].value = value;
    }
    bench_report(whole, value, unit, at < FIRSTS_MAX ? firsts[at].value : 0);
}

static void report_each(const char *group, int64_t size, const char *name, Span each) {
    char cpu_name[40];
    report(group, size, name, each.wall * 1e6, "us");
    snprintf(cpu_name, sizeof cpu_name, "%s.cpu", name);
    report(group, size, cpu_name, each.cpu * 1e6, "us");
}

static Span span_each(Span begun, int64_t count) {
    return (Span){(bench_now() - begun.wall) / (double)count,
                  (cpu_now() - begun.cpu) / (double)count};
}

static int64_t load_size(void) {
    const char *given = getenv("BENCH_GROWTH_LOAD");
    int64_t size = given != NULL ? strtoll(given, NULL, 10) : 5000;
    return size > 0 ? size : 1;
}

static int64_t ended(abide_engine *engine) { return stats_of(engine).completed_total; }

static void wait_for_waiting(abide_engine *engine, int64_t count) {
    while (stats_of(engine).runs[ABIDE_RUN_SUSPENDED] < count) usleep(2000);
}

// ---- rows ----

typedef struct Rows {
    abide_engine *engine;
    const char *path;
    int64_t size;  // runs in the file
    int64_t load;  // runs of a measurement
    int64_t parts; // how often it was filled up, which makes ids unique
} Rows;

static void fill(Rows *rows, int64_t size) {
    char group[40];
    int64_t half = (size - rows->size) / 2, before = ended(rows->engine);
    Callers callers = {.engine = rows->engine, .call = start_one, .group = group, .count = half};
    snprintf(group, sizeof group, "done%lld", (long long)rows->parts);
    callers.workflow = "chain", callers.input = "1";
    call_all(&callers);
    wait_for_completed(rows->engine, before + half);
    snprintf(group, sizeof group, "wait%lld", (long long)rows->parts);
    callers.workflow = "gate", callers.next = 0;
    call_all(&callers);
    wait_for_waiting(rows->engine, size / 2);
    rows->size = size;
    rows->parts++;
}

static void measure_steps(Rows *rows) {
    int64_t before = ended(rows->engine);
    Probe probe;
    Span begun = span_begin();
    start_many(rows->engine, &(Load){.workflow = "chain", .input = "10"}, rows->load);
    wait_for_completed(rows->engine, before + rows->load);
    report_each("rows", rows->size, "step", span_each(begun, rows->load * 10));
    probe_begin(&probe, rows->engine); // what commits take, beside the same load once more
    start_many(rows->engine, &(Load){.workflow = "chain", .input = "10"}, rows->load);
    wait_for_completed(rows->engine, before + 2 * rows->load);
    probe_end(&probe);
    report("rows", rows->size, "commit.p50", bench_quantile(probe.seconds, probe.count, 0.5) * 1e3,
           "ms");
    report("rows", rows->size, "commit.p999",
           bench_quantile(probe.seconds, probe.count, 0.999) * 1e3, "ms");
    free(probe.seconds);
}

static void measure_events(Rows *rows) {
    char group[40];
    int64_t before = ended(rows->engine);
    int64_t waiting = stats_of(rows->engine).runs[ABIDE_RUN_SUSPENDED];
    snprintf(group, sizeof group, "event%lld", (long long)rows->parts);
    Callers callers = {.engine = rows->engine,
                       .call = start_one,
                       .group = group,
                       .workflow = "gate",
                       .count = rows->load};
    call_all(&callers);
    wait_for_waiting(rows->engine, waiting + rows->load);
    callers.call = signal_one, callers.next = 0;
    Span begun = span_begin();
    call_all(&callers);
    wait_for_completed(rows->engine, before + rows->load);
    report_each("rows", rows->size, "event", span_each(begun, rows->load));
}

static void measure_timers(Rows *rows) {
    enum { LEAD_S = 2 };
    char input[32];
    struct timespec now;
    int64_t before = ended(rows->engine), waiting = rows->size / 2 + rows->load;
    time_t at = time(NULL) + LEAD_S + rows->load / 5000;
    snprintf(input, sizeof input, "%lld", (long long)at * 1000);
    Span begun = span_begin(); // parking counts as well; the wall clock counts from the moment on
    start_many(rows->engine, &(Load){.workflow = "until", .input = input}, rows->load);
    while (time(NULL) < at && stats_of(rows->engine).runs[ABIDE_RUN_SUSPENDED] < waiting)
        usleep(2000);
    wait_for_completed(rows->engine, before + rows->load);
    clock_gettime(CLOCK_REALTIME, &now);
    double late = (double)(now.tv_sec - at) + (double)now.tv_nsec * 1e-9;
    Span each = span_each(begun, rows->load);
    each.wall = late / (double)rows->load;
    report_each("rows", rows->size, "timer", each);
}

static void *purge_all(void *context) {
    call_all(context);
    return NULL;
}

// Runs that have ended are removed one by one by many callers, while others do steps.
static void measure_purge(Rows *rows) {
    char group[40];
    pthread_t thread;
    Probe probe;
    snprintf(group, sizeof group, "event%lld", (long long)rows->parts); // those have ended by now
    Callers callers = {
        .engine = rows->engine, .call = purge_one, .group = group, .count = rows->load};
    int64_t before = ended(rows->engine);
    probe_begin(&probe, rows->engine);
    Span begun = span_begin();
    pthread_create(&thread, NULL, purge_all, &callers);
    start_many(rows->engine, &(Load){.workflow = "chain", .input = "10"}, rows->load);
    wait_for_completed(rows->engine, before + rows->load);
    pthread_join(thread, NULL);
    report_each("rows", rows->size, "purge_and_10_steps", span_each(begun, rows->load));
    probe_end(&probe);
    report("rows", rows->size, "purge.commit.p999",
           bench_quantile(probe.seconds, probe.count, 0.999) * 1e3, "ms");
    free(probe.seconds);
}

static void measure_rows(Rows *rows) {
    char *folder = strdup(rows->path);
    *strrchr(folder, '/') = 0;
    measure_steps(rows);
    measure_events(rows);
    measure_timers(rows);
    measure_purge(rows);
    report("rows", rows->size, "disk_per_run", (double)bench_file_size(folder) / (double)rows->size,
           "bytes");
    report("rows", rows->size, "memory", (double)bench_rss() / 1e6, "MB");
    free(folder);
}

static int main_rows(const char *path, int count, char **sizes) {
    char url[4300];
    snprintf(url, sizeof url, "sqlite:%s", path);
    Rows rows = {.engine = open_engine(url), .path = path, .load = load_size()};
    for (int i = 0; i < count; i++) {
        int64_t size = strtoll(sizes[i], NULL, 10);
        if (size <= rows.size) {
            fprintf(stderr, "growth-load: the sizes must ascend\n");
            return 2;
        }
        fill(&rows, size);
        measure_rows(&rows);
    }
    abide_close(rows.engine);
    return 0;
}

// ---- width ----

// The best of a few: what else the machine does only adds to it.
static void measure_width(abide_engine *engine, const char *workflow, int64_t width) {
    enum { ROUNDS = 5 };
    char input[32];
    Span best = {1e9, 1e9};
    Probe probe;
    snprintf(input, sizeof input, "%lld", (long long)width);
    for (int i = 0; i < ROUNDS; i++) {
        Span begun = span_begin();
        run_one(engine, workflow, input);
        Span each = span_each(begun, width);
        if (each.wall < best.wall) best.wall = each.wall;
        if (each.cpu < best.cpu) best.cpu = each.cpu;
    }
    report_each(workflow, width, "each", best);
    probe_begin(&probe, engine);
    run_one(engine, workflow, input);
    probe_end(&probe);
    report(workflow, width, "longest_wait", bench_quantile(probe.seconds, probe.count, 1) * 1e3,
           "ms");
    free(probe.seconds);
}

static int main_width(const char *path) {
    static const int64_t widths[] = {100, 10, 1000, 9900}; // the first is what others are held to
    static const char *const workflows[] = {"tasks", "children", "timers"};
    char url[4300];
    snprintf(url, sizeof url, "sqlite:%s", path);
    abide_engine *engine = open_engine(url);
    for (size_t i = 0; i < sizeof workflows / sizeof workflows[0]; i++)
        for (size_t k = 0; k < sizeof widths / sizeof widths[0]; k++)
            measure_width(engine, workflows[i], widths[k]);
    abide_close(engine);
    return 0;
}

int main(int count, char **arguments) {
    if (count > 3 && strcmp(arguments[1], "rows") == 0 && strchr(arguments[2], '/') != NULL)
        return main_rows(arguments[2], count - 3, arguments + 3);
    if (count == 3 && strcmp(arguments[1], "width") == 0) return main_width(arguments[2]);
    fprintf(stderr, "usage: growth-load rows FOLDER/FILE SIZE... | width FOLDER/FILE\n");
    return 2;
}

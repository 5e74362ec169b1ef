// peers-abide native|flow STORE: abide inside this process for bench/peers.py, with workflows that
// are C functions or scripts. Commands on standard input, one answer per line on standard output:
// the same as bench/peers/driver.mjs answers for systems that are used from Node.
//
//   chain RUNS AT_ONCE · one STEPS ROUNDS · event ROUNDS · park TOTAL SECONDS · timers RUNS LEAD_MS
//   fan WIDTH ROUNDS · loop RUNS · resumed RUNS SECONDS
//
// All runs of a chain are in flight at once here, whatever AT_ONCE is: it bounds callers, and an
// engine in the process needs no caller that waits.
//
// Not here: what the figures mean (docs/benchmarks.md).
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

enum { LOOPS_MAX = 1000, ROUNDS_MAX = 10000, STEPS_SEEN = 5 };

// ---- looping runs, as their steps see them ----

static _Atomic int64_t first_ms[LOOPS_MAX]; // when the first step of a run was done here; 0: none
static _Atomic int touches[LOOPS_MAX];

static int64_t wall_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int touch(abide_call *call, const char *input) {
    long index = strtol(input, NULL, 10);
    if (index < 0 || index >= LOOPS_MAX) return abide_throw_final(call, "Range", "no such loop");
    int64_t none = 0;
    atomic_compare_exchange_strong(&first_ms[index], &none, wall_ms());
    atomic_fetch_add(&touches[index], 1);
    return abide_return(call, "1");
}

// ---- workflows in C ----

static int gate(abide_ctx *ctx, const char *input) {
    (void)input;
    const char *payload;
    ABIDE_TRY(abide_await_signal(ctx, "go", NULL, &payload));
    return abide_complete(ctx, payload);
}

static int fan(abide_ctx *ctx, const char *input) {
    enum { WIDTH_MAX = 1000 };
    abide_handle handles[WIDTH_MAX];
    long width = strtol(input, NULL, 10);
    if (width > WIDTH_MAX) return abide_fail(ctx, "too wide");
    for (long i = 0; i < width; i++)
        ABIDE_TRY(abide_task_start(ctx, "quick", NULL, NULL, &handles[i]));
    for (long i = 0; i < width; i++) ABIDE_TRY(abide_task_await(ctx, handles[i], NULL, NULL));
    return abide_complete(ctx, "true");
}

static int loop(abide_ctx *ctx, const char *input) {
    for (;;) ABIDE_TRY(abide_step(ctx, "touch", touch, input, NULL));
}

static const struct {
    const char *name;
    abide_workflow_fn function;
    const char *source;
} workflows[] = {
    {"chain", load_chain,
     "for (let i = 0; i < Inputs; i++) await Task.run('quick', i)\nreturn true\n"},
    {"gate", gate, "return await Signal.next('go')\n"},
    {"until", load_until, "await Timer.until(new Date(Inputs))\nreturn true\n"},
    {"fan", fan,
     "return (await Task.all(Array.from({length: Inputs}, (_, i) => Task.run('quick', i)))).length"
     "\n"},
    {"loop", loop, "for (;;) await Task.run('touch', Inputs)\n"},
};

static abide_engine *open_engine(const char *url, int is_flow) {
    abide_options options = {.discard_step_events = 1};
    abide_engine *engine;
    abide_error error;
    char file[64];
    if (abide_open(url, &options, &engine, &error) != ABIDE_OK) die("open", &error);
    if (abide_register_task(engine, "quick", load_quick, NULL, &error) != ABIDE_OK ||
        abide_register_task(engine, "touch", touch, NULL, &error) != ABIDE_OK)
        die("register", &error);
    for (size_t i = 0; i < sizeof workflows / sizeof workflows[0]; i++) {
        const char *name = workflows[i].name;
        snprintf(file, sizeof file, "%s.flow", name);
        int status =
            is_flow ? abide_deploy(engine, file, workflows[i].source, NULL, NULL, &error)
                    : abide_register_workflow(engine, name, workflows[i].function, NULL, &error);
        if (status != ABIDE_OK) die(name, &error);
    }
    recover(engine);
    return engine;
}

// ---- commands ----

typedef struct Command {
    abide_engine *engine;
    long first, second; // its numbers
    int64_t ended;      // runs that had ended before it
} Command;

static void do_chain(const Command *command) {
    double start = bench_now();
    start_many(command->engine, &(Load){.workflow = "chain", .input = "10"}, command->first);
    wait_for_completed(command->engine, command->ended + command->first);
    printf("@{\"seconds\":%.6f}\n", bench_now() - start);
}

static void say_median(double *seconds, long count) {
    printf("@{\"p50\":%.4f}\n", bench_quantile(seconds, (int)count, 0.5) * 1e3);
}

static void do_alone(const Command *command, const char *workflow) {
    static double seconds[ROUNDS_MAX];
    char input[32];
    snprintf(input, sizeof input, "%ld", command->first);
    for (long i = 0; i < command->second; i++)
        seconds[i] = run_one(command->engine, workflow, input);
    say_median(seconds, command->second);
}

static void do_one(const Command *command) { do_alone(command, "chain"); }
static void do_fan(const Command *command) { do_alone(command, "fan"); }

static int64_t waiting(abide_engine *engine) { return stats_of(engine).runs[ABIDE_RUN_SUSPENDED]; }

static double wake_one(abide_engine *engine) {
    char id[ABIDE_RUN_ID_SIZE], *result;
    abide_error error;
    int64_t before = waiting(engine);
    if (abide_start(engine, "gate", "1", NULL, id, &error) != ABIDE_OK) die("start", &error);
    while (waiting(engine) == before) usleep(1000);
    usleep(3000);
    double start = bench_now();
    if (abide_signal(engine, id, "go", "1", NULL, &error) != ABIDE_OK) die("signal", &error);
    if (abide_result(engine, id, "60s", &result, &error) != ABIDE_OK) die("result", &error);
    abide_free(result);
    return bench_now() - start;
}

static void do_event(const Command *command) {
    static double seconds[ROUNDS_MAX];
    for (long i = 0; i < command->first; i++) seconds[i] = wake_one(command->engine);
    say_median(seconds, command->first);
}

static void do_park(const Command *command) {
    double start = bench_now();
    start_many(command->engine, &(Load){.workflow = "gate", .input = "1"},
               command->first - waiting(command->engine));
    while (waiting(command->engine) < command->first &&
           bench_now() - start < (double)command->second)
        usleep(2000);
    printf("@{\"seconds\":%.6f,\"waiting\":%lld}\n", bench_now() - start,
           (long long)waiting(command->engine));
}

// The last one is late by when all have ended; it cannot be seen sooner than they have.
static void do_timers(const Command *command) {
    char input[32];
    int64_t at = wall_ms() + command->second;
    snprintf(input, sizeof input, "%lld", (long long)at);
    start_many(command->engine, &(Load){.workflow = "until", .input = input}, command->first);
    int is_late = wall_ms() > at;
    wait_for_completed(command->engine, command->ended + command->first);
    printf("@{\"last_late\":%lld,\"started_late\":%d}\n", (long long)(wall_ms() - at), is_late);
}

static int are_all_touched(long runs, int times) {
    for (long i = 0; i < runs; i++)
        if (atomic_load(&touches[i]) < times) return 0;
    return 1;
}

static void do_loop(const Command *command) {
    abide_error error;
    char input[32];
    for (long i = 0; i < command->first; i++) {
        snprintf(input, sizeof input, "%ld", i);
        if (abide_start(command->engine, "loop", input, NULL, NULL, &error) != ABIDE_OK)
            die("start", &error);
    }
    while (!are_all_touched(command->first, STEPS_SEEN)) usleep(1000);
    printf("@{\"runs\":%ld}\n", command->first);
}

static void do_resumed(const Command *command) {
    double start = bench_now();
    int64_t first = 0, last = 0;
    while (!are_all_touched(command->first, 1) && bench_now() - start < (double)command->second)
        usleep(500);
    for (long i = 0; i < command->first; i++) {
        int64_t at = atomic_load(&first_ms[i]);
        if (at != 0 && (first == 0 || at < first)) first = at;
        if (at > last) last = at;
    }
    if (are_all_touched(command->first, 1))
        printf("@{\"first\":%lld,\"all\":%lld}\n", (long long)first, (long long)last);
    else printf("@{\"first\":%lld,\"all\":null}\n", (long long)first);
}

static const struct {
    const char *name;
    void (*run)(const Command *command);
    long first_max, second_max;
} commands[] = {
    {"chain", do_chain, 10000000, 10000000}, {"one", do_one, 1000, ROUNDS_MAX},
    {"event", do_event, ROUNDS_MAX, 0},      {"park", do_park, 10000000, 100000},
    {"timers", do_timers, 10000000, 600000}, {"fan", do_fan, 1000, ROUNDS_MAX},
    {"loop", do_loop, LOOPS_MAX, 0},         {"resumed", do_resumed, LOOPS_MAX, 100000},
};

static void obey(abide_engine *engine, const char *line) {
    char name[16];
    long first = 0, second = 0;
    sscanf(line, "%15s %ld %ld", name, &first, &second);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(commands[i].name, name) != 0) continue;
        if (first < 0 || first > commands[i].first_max || second < 0 ||
            second > commands[i].second_max) {
            printf("@{\"error\":\"%s: out of range\"}\n", name);
            return;
        }
        commands[i].run(&(Command){.engine = engine,
                                   .first = first,
                                   .second = second,
                                   .ended = stats_of(engine).completed_total});
        return;
    }
    printf("@{\"error\":\"there is no such command\"}\n");
}

int main(int count, char **arguments) {
    char line[128];
    if (count != 3 || (strcmp(arguments[1], "native") != 0 && strcmp(arguments[1], "flow") != 0)) {
        fprintf(stderr, "usage: peers-abide native|flow STORE\n");
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    abide_engine *engine = open_engine(arguments[2], strcmp(arguments[1], "flow") == 0);
    printf("@{\"ready\":true}\n");
    while (fgets(line, sizeof line, stdin) != NULL) obey(engine, line);
    abide_close(engine);
    return 0;
}

// abide-sim: the deterministic simulator's command line.
//
//     abide-sim --seed N [--count N] [--seconds S] [--nodes N] [--runs K] [--schedules S]
//               [--flows F] [--limits LIMITS] [--trace] [--exhaustive] [--idle LENGTH]
//
// LIMITS is "smallest", "documented", or "batch_ops=2,list_page=3" (base/limits.h); without it each
// seed draws its own.
//
// Runs histories from the seed on and stops at the first that breaks a promise, printing what is
// needed to repeat it. Without --seed it begins at a seed of its own and says which.
//
// Not here: the model of the world and the checkers, which are the other files of this folder.
#include "base/containers/hash.h"
#include "base/limits.h"
#include "sim/sim.h"
#include <stdio.h>
#include <stdlib.h>

typedef struct Arguments {
    uint64_t seed;
    int64_t count;
    int64_t seconds; // 0 = no limit
    int nodes;       // 0 = drawn from the seed
    int runs;
    int schedules;
    int flows;
    const char *limits; // NULL = drawn from the seed
    int idle;           // longest history of idle.c; 0 = none is asked for
    bool is_traced;
    bool is_exhaustive;
    bool has_seed;
} Arguments;

static bool read_number(int argc, char **argv, int *at, int64_t *ret_value) {
    if (*at + 1 >= argc) return false;
    char *end;
    *ret_value = strtoll(argv[++*at], &end, 10);
    return *end == 0 && *ret_value >= 0;
}

static bool read_limits(int argc, char **argv, int *at, const char **ret_limits) {
    if (*at + 1 >= argc) return false;
    *ret_limits = argv[++*at];
    if (strcmp(*ret_limits, "documented") == 0) *ret_limits = "";
    bool is_understood = limits_read(str_from(*ret_limits));
    limits_reset();
    return is_understood;
}

static bool read_arguments(int argc, char **argv, Arguments *arguments) {
    *arguments = (Arguments){.count = 1, .runs = 20};
    for (int i = 1; i < argc; i++) {
        Str word = str_from(argv[i]);
        int64_t number = 0;
        if (str_equal(word, STR("--trace"))) arguments->is_traced = true;
        else if (str_equal(word, STR("--exhaustive"))) arguments->is_exhaustive = true;
        else if (str_equal(word, STR("--limits"))) {
            if (!read_limits(argc, argv, &i, &arguments->limits)) return false;
        } else if (!read_number(argc, argv, &i, &number)) return false;
        else if (str_equal(word, STR("--seed"))) {
            arguments->seed = (uint64_t)number;
            arguments->has_seed = true;
        } else if (str_equal(word, STR("--count"))) arguments->count = number;
        else if (str_equal(word, STR("--seconds"))) arguments->seconds = number;
        else if (str_equal(word, STR("--nodes"))) arguments->nodes = (int)number;
        else if (str_equal(word, STR("--runs"))) arguments->runs = (int)number;
        else if (str_equal(word, STR("--schedules"))) arguments->schedules = (int)number;
        else if (str_equal(word, STR("--flows"))) arguments->flows = (int)number;
        else if (str_equal(word, STR("--idle"))) arguments->idle = (int)number;
        else return false;
    }
    return arguments->nodes <= SIM_NODES_MAX && arguments->runs > 0 &&
           arguments->flows <= SIM_FLOWS_MAX && arguments->idle <= 4;
}

static int run_exhaustive(const Arguments *arguments) {
    char failure[512];
    int64_t points = sim_exhaustive(arguments->is_traced, failure);
    if (points < 0) {
        printf("exhaustive: %s\n", failure);
        return 1;
    }
    printf("exhaustive: %lld crash points clean\n", (long long)points);
    return 0;
}

static int run_idle(const Arguments *arguments) {
    char failure[512];
    int64_t count = sim_idle_exhaustive(arguments->idle, arguments->is_traced, failure);
    if (count < 0) {
        printf("idle: %s\n", failure);
        return 1;
    }
    printf("idle: %lld histories clean\n", (long long)count);
    return 0;
}

static int run_seeds(const Arguments *arguments) {
    uint64_t started = env_monotonic_ns(env_system());
    int64_t done = 0;
    SimCounts counts = {0};
    for (; done < arguments->count; done++) {
        uint64_t elapsed = env_monotonic_ns(env_system()) - started;
        if (arguments->seconds > 0 && elapsed > (uint64_t)arguments->seconds * 1000000000u) break;
        uint64_t seed = arguments->seed + (uint64_t)done;
        SimOptions options = {
            .seed = seed,
            .node_count = arguments->nodes > 0 ? arguments->nodes : 1 + (int)(seed % 4),
            .run_count = arguments->runs,
            .schedule_count = arguments->schedules,
            .flow_count = arguments->flows,
            .fault_pct = (int64_t)(seed % 5) * 2,
            .has_crashes = seed % 3 != 0,
            .limits = arguments->limits,
            .is_traced = arguments->is_traced,
        };
        char failure[512];
        if (!sim_run(&options, failure, &counts)) {
            printf("seed %llu: %s\nrepeat with: abide-sim --seed %llu --nodes %d --runs %d "
                   "--schedules %d --flows %d%s%s --trace\n",
                   (unsigned long long)seed, failure, (unsigned long long)seed, options.node_count,
                   options.run_count, options.schedule_count, options.flow_count,
                   options.limits != NULL ? " --limits " : "",
                   options.limits == NULL ? ""
                   : options.limits[0]    ? options.limits
                                          : "documented");
            return 1;
        }
    }
    printf("seeds %llu..%llu clean: %lld store calls, %lld faults, %lld crashes, "
           "%lld refusals, %lld batches left runs to other nodes, %lld were taken there, "
           "%lld runs met a node without their workflow\n",
           (unsigned long long)arguments->seed,
           (unsigned long long)(arguments->seed + (uint64_t)(done > 0 ? done - 1 : 0)),
           (long long)counts.store_calls, (long long)counts.faults, (long long)counts.crashes,
           (long long)counts.refusals, (long long)counts.left, (long long)counts.affinity,
           (long long)counts.reserved);
    return 0;
}

int main(int argc, char **argv) {
    hash_fix_key(); // a seed is a history, whatever the process
    Arguments arguments;
    if (!read_arguments(argc, argv, &arguments)) {
        fprintf(stderr, "usage: abide-sim [--seed N] [--count N] [--seconds S] [--nodes 1-8] "
                        "[--runs K] [--schedules S] [--flows 0-32] [--limits LIMITS] [--trace] "
                        "[--exhaustive] [--idle 1-4]\n");
        return 2;
    }
    if (arguments.limits != NULL) (void)limits_read(str_from(arguments.limits));
    if (arguments.is_exhaustive) return run_exhaustive(&arguments);
    if (arguments.idle > 0) return run_idle(&arguments);
    if (!arguments.has_seed) arguments.seed = env_random_u64(env_system()) >> 32;
    return run_seeds(&arguments);
}

// Env: the clock and the source of randomness. Nothing else in the code base may ask the system
// for either, so that the same code runs in production and in the simulator.
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef struct Env Env;

typedef struct EnvOps {
    int64_t (*now_ms)(Env *env);        // wall clock, milliseconds since 1970; may jump
    uint64_t (*monotonic_ns)(Env *env); // never goes back; for measuring only
    uint64_t (*random_u64)(Env *env);
} EnvOps;

struct Env { // first member of every implementation
    const EnvOps *ops;
};

static inline int64_t env_now_ms(Env *env) { return env->ops->now_ms(env); }
static inline uint64_t env_monotonic_ns(Env *env) { return env->ops->monotonic_ns(env); }
static inline uint64_t env_random_u64(Env *env) { return env->ops->random_u64(env); }

// The real thing; thread-safe, one for the process (it has no state of its own).
Env *env_system(void);

// Deterministic: a clock that stands still until moved, and a seeded generator.
typedef struct FixedEnv {
    Env base;
    int64_t now_ms;
    uint64_t monotonic_ns;
    uint64_t random_state;
} FixedEnv;
void fixed_env_init(FixedEnv *env, int64_t now_ms, uint64_t seed);

// A small seeded generator for tests, jitter and the simulator.
uint64_t random_next(uint64_t *state);

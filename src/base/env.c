// FixedEnv and the seeded generator: the deterministic half of env.h.
//
// The generator is splitmix64 (a Weyl sequence through a mixer of two multiplications): one word
// of state, every seed good, period 2^64; plenty for tests, jitter and the simulator, not for keys.
//   [env-1] The clocks change only when the owner writes the fields.
//   [env-2] The same seed gives the same numbers on every machine.
#include "base/env.h"

uint64_t random_next(uint64_t *state) {
    *state += 0x9E3779B97F4A7C15u;
    uint64_t mixed = *state;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
    return mixed ^ (mixed >> 31);
}

static int64_t fixed_now_ms(Env *env) { return ((FixedEnv *)env)->now_ms; }

static uint64_t fixed_monotonic_ns(Env *env) { return ((FixedEnv *)env)->monotonic_ns; }

static uint64_t fixed_random_u64(Env *env) { return random_next(&((FixedEnv *)env)->random_state); }

static const EnvOps fixed_ops = {
    .now_ms = fixed_now_ms,
    .monotonic_ns = fixed_monotonic_ns,
    .random_u64 = fixed_random_u64,
};

void fixed_env_init(FixedEnv *env, int64_t now_ms, uint64_t seed) {
    *env = (FixedEnv){
        .base = {.ops = &fixed_ops},
        .now_ms = now_ms,
        .monotonic_ns = 0,
        .random_state = seed,
    };
}

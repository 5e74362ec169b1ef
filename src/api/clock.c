// Virtual time and standing still: for tests of workflows, and for `abide run --virtual-time`.
//
// abide_settle waits until the engine has nothing left to do at the present moment and says when
// it will; abide_clock_set goes there. Together they run a month of timers in a millisecond, with
// the same coordinator and the same store as ever. Settling works with the real clock as well.
//
// Not here: when a coordinator has nothing to do (engine/coordinator/coordinator.c).
#include "api/clock.h"
#include "api/api.h"

static int64_t virtual_now(Env *env) { return atomic_load(&((VirtualEnv *)env)->now_ms); }

// Real: it measures how long something takes.
static uint64_t virtual_monotonic(Env *env) {
    (void)env;
    return env_monotonic_ns(env_system());
}

static uint64_t virtual_random(Env *env) {
    (void)env;
    return env_random_u64(env_system());
}

static const EnvOps virtual_ops = {
    .now_ms = virtual_now, .monotonic_ns = virtual_monotonic, .random_u64 = virtual_random};

void virtual_env_init(VirtualEnv *env, int64_t now_ms) {
    env->base.ops = &virtual_ops;
    atomic_init(&env->now_ms, now_ms);
}

int abide_settle(abide_engine *engine, int64_t *ret_next_ms, abide_error *error) {
    if (engine == NULL) return api_refuse(error, ABIDE_INVALID, "BAD_ARGUMENT", "engine is NULL");
    int64_t next_ms = driver_settle(&engine->driver);
    if (ret_next_ms != NULL) *ret_next_ms = next_ms;
    return api_answer(error, OK, NULL);
}

typedef struct ClockMove {
    VirtualEnv *env;
    int64_t to_ms;
    bool is_back;
} ClockMove;

static void move_clock(Coordinator *coordinator, void *context) { // [clock-1]
    (void)coordinator;
    ClockMove *move = context;
    move->is_back = move->to_ms < atomic_load(&move->env->now_ms);
    if (!move->is_back) atomic_store(&move->env->now_ms, move->to_ms);
}

int abide_clock_set(abide_engine *engine, int64_t now_ms, abide_error *error) {
    if (engine == NULL) return api_refuse(error, ABIDE_INVALID, "BAD_ARGUMENT", "engine is NULL");
    if (engine->options.virtual_time_ms == 0)
        return api_refuse(error, ABIDE_CONFLICT, "CLOCK_REAL",
                          "this engine runs by the real clock; set virtual_time_ms to move it");
    ClockMove move = {.env = &engine->virtual_env, .to_ms = now_ms};
    driver_control(&engine->driver, move_clock, &move);
    if (move.is_back) // [clock-2]
        return api_refuse(error, ABIDE_INVALID, "BAD_TIME", "the clock does not go back");
    return api_answer(error, OK, NULL);
}

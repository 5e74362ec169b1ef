// The system Env: the only file that asks the kernel for time or randomness.
//
// Random numbers come from getrandom(2), a page of them at a time per thread, because a system
// call per id would show in the profile.
//   [env-system-1] No number is handed out twice, also not to the two sides of a fork: the child's
//        first call sees another fork generation and throws its copy of the buffer away.
//   [env-system-2] A number is wiped from the buffer as it leaves, so memory does not keep old ids.
//   [env-system-3] Tables are keyed when the process starts (hash.h).
#include "base/assert.h"
#include "base/containers/hash.h"
#include "base/env.h"
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/random.h>
#include <time.h>

enum { RANDOM_BUFFER_COUNT = 64 };

typedef struct RandomBuffer {
    uint64_t numbers[RANDOM_BUFFER_COUNT];
    size_t left;
    unsigned fork_generation;
} RandomBuffer;

static _Thread_local RandomBuffer random_buffer;
static atomic_uint fork_generation;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

static void after_fork_in_child(void) {
    atomic_fetch_add_explicit(&fork_generation, 1, memory_order_relaxed);
}

static void watch_forks(void) { ASSERT(pthread_atfork(NULL, NULL, after_fork_in_child) == 0); }

static void fill_random(void *bytes, size_t size) {
    char *at = bytes;
    while (size > 0) {
        ssize_t got = getrandom(at, size, 0);
        if (got < 0) {
            ASSERT(errno == EINTR); // it cannot fail otherwise once the kernel is up
            continue;
        }
        at += got;
        size -= (size_t)got;
    }
}

static void random_refill(RandomBuffer *buffer, unsigned generation) {
    pthread_once(&fork_once, watch_forks);
    fill_random(buffer->numbers, sizeof(buffer->numbers));
    buffer->left = RANDOM_BUFFER_COUNT;
    buffer->fork_generation = generation;
}

// [env-system-3] Before main, because a table that was made under another key could not be read any
//      more.
__attribute__((constructor)) static void seed_hashes(void) {
    uint64_t key[HASH_KEY_WORDS];
    fill_random(key, sizeof key);
    hash_set_key(key);
}

static uint64_t system_random_u64(Env *env) {
    (void)env;
    RandomBuffer *buffer = &random_buffer;
    unsigned generation = atomic_load_explicit(&fork_generation, memory_order_relaxed);
    if (buffer->left == 0 || buffer->fork_generation != generation) {
        random_refill(buffer, generation); // [env-system-1]
    }
    uint64_t *number = &buffer->numbers[--buffer->left];
    uint64_t answer = *number;
    *number = 0; // [env-system-2]
    return answer;
}

static int64_t system_now_ms(Env *env) {
    (void)env;
    struct timespec now;
    ASSERT(clock_gettime(CLOCK_REALTIME, &now) == 0);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static uint64_t system_monotonic_ns(Env *env) {
    (void)env;
    struct timespec now;
    ASSERT(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static const EnvOps system_ops = {
    .now_ms = system_now_ms,
    .monotonic_ns = system_monotonic_ns,
    .random_u64 = system_random_u64,
};

Env *env_system(void) {
    static Env system_env = {.ops = &system_ops};
    return &system_env;
}

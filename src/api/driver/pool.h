// Pool: threads that perform executions and hand them back.
#pragma once
#include "api/driver/driver.h"

typedef struct PoolPlan {
    int thread_count;
    void *(*thread_main)(void *);
    void *context; // of thread_main
} PoolPlan;

// When not all of them can be started the others are to be closed and joined.
MUST_CHECK Status pool_start(Pool *pool, const PoolPlan *plan, Diag *diag);
// Moves all of them into the queue; wakes as many threads as there is work for.
void pool_add_all(Pool *pool, List *executions);
// The next execution, or NULL when the pool is closed. Blocks. `is_back`: the thread has performed
// the one before.
Execution *pool_take(Pool *pool, bool is_back);
// No further work is handed out; what is queued is returned through `ret_left`.
void pool_close(Pool *pool, List *ret_left);
// By each thread, last of all: true when it is the last of a pool that was left to itself, and then
// it is the one to free what they shared.
MUST_CHECK bool pool_leave(Pool *pool);
// After pool_close: true when all threads are on their way out, and then pool_join waits for them.
// Otherwise the pool is left to its threads, which may never end.
MUST_CHECK bool pool_is_ending(Pool *pool);
void pool_join(Pool *pool);
void pool_done(Pool *pool); // after pool_join, or by the last thread

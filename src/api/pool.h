// Pool: threads that perform executions and hand them back.
#pragma once
#include "api/driver.h"

void pool_start(Pool *pool, int thread_count, void *(*thread_main)(void *), void *context);
// Moves all of them into the queue; wakes as many threads as there is work for.
void pool_add_all(Pool *pool, List *executions);
// The next execution, or NULL when the pool is closed. Blocks.
Execution *pool_take(Pool *pool);
// No further work is handed out; what is queued is returned through `ret_left`.
void pool_close(Pool *pool, List *ret_left);
void pool_join(Pool *pool);

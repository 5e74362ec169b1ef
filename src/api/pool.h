// Pool: threads that perform executions and hand them back.
#pragma once
#include "api/driver.h"

// `give_back` is called on a pool thread.
void pool_start(Pool *pool, int thread_count, void *(*thread_main)(void *), void *context);
void pool_add(Pool *pool, Execution *execution);
// The next execution, or NULL when the pool is closed. Blocks.
Execution *pool_take(Pool *pool);
// No further work is handed out; what is queued is returned through `ret_left`.
void pool_close(Pool *pool, List *ret_left);
void pool_join(Pool *pool);

// Pool: a queue of executions and the threads that serve it.
//
// One lock, one condition; a thread is woken only when one is idle, so a busy pool costs a lock
// and no system call per execution.
//
// Not here: what an execution does (engine/), where it goes afterwards (driver.c).
#include "api/driver/pool.h"
#include "base/assert.h"
#include "base/memory.h"
#include "base/thread.h"

Status pool_start(Pool *pool, const PoolPlan *plan, Diag *diag) {
    ASSERT(plan->thread_count > 0);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wake, NULL);
    list_init(&pool->queue);
    pool->is_closed = pool->is_left = false;
    pool->idle_count = pool->busy_count = pool->thread_count = 0;
    pool->threads = mem_zalloc(sizeof(pthread_t) * (size_t)plan->thread_count);
    for (int i = 0; i < plan->thread_count; i++) {
        TRY(thread_start(&pool->threads[i], plan->thread_main, plan->context, diag));
        pool->thread_count++;
    }
    return OK;
}

void pool_add_all(Pool *pool, List *executions) {
    if (list_is_empty(executions)) return;
    pthread_mutex_lock(&pool->lock);
    int added = 0;
    LIST_EACH_SAFE (node, after, executions) {
        list_remove(node);
        list_append(&pool->queue, node);
        added++;
    }
    int idle_count = pool->idle_count;
    pthread_mutex_unlock(&pool->lock);
    if (idle_count > 1 && added >= idle_count) pthread_cond_broadcast(&pool->wake);
    else
        for (int i = 0; i < added && i < idle_count; i++) pthread_cond_signal(&pool->wake);
}

Execution *pool_take(Pool *pool, bool is_back) {
    pthread_mutex_lock(&pool->lock);
    ASSERT(!is_back || pool->busy_count > 0);
    if (is_back) pool->busy_count--;
    while (list_is_empty(&pool->queue) && !pool->is_closed) {
        pool->idle_count++;
        pthread_cond_wait(&pool->wake, &pool->lock);
        pool->idle_count--;
    }
    List *node = pool->is_closed ? NULL : list_first(&pool->queue);
    if (node != NULL) list_remove(node);
    pool->busy_count += node != NULL;
    pthread_mutex_unlock(&pool->lock);
    return node != NULL ? container_of(node, Execution, link) : NULL;
}

void pool_close(Pool *pool, List *ret_left) {
    pthread_mutex_lock(&pool->lock);
    pool->is_closed = true;
    LIST_EACH_SAFE (node, after, &pool->queue) {
        list_remove(node);
        list_append(ret_left, node);
    }
    pthread_mutex_unlock(&pool->lock);
    pthread_cond_broadcast(&pool->wake);
}

bool pool_leave(Pool *pool) {
    pthread_mutex_lock(&pool->lock);
    pool->left_count++;
    ASSERT(pool->left_count <= pool->thread_count);
    bool is_last = pool->is_left && pool->left_count == pool->thread_count;
    pthread_mutex_unlock(&pool->lock);
    return is_last;
}

bool pool_is_ending(Pool *pool) {
    pthread_mutex_lock(&pool->lock);
    ASSERT(pool->is_closed);
    pool->is_left = pool->busy_count > 0;
    for (int i = 0; i < pool->thread_count && pool->is_left; i++) pthread_detach(pool->threads[i]);
    bool answer = !pool->is_left;
    pthread_mutex_unlock(&pool->lock);
    return answer;
}

void pool_join(Pool *pool) {
    for (int i = 0; i < pool->thread_count; i++) pthread_join(pool->threads[i], NULL);
}

void pool_done(Pool *pool) {
    mem_free(pool->threads);
    pthread_mutex_destroy(&pool->lock);
    pthread_cond_destroy(&pool->wake);
}

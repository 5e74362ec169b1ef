// Semaphore: one thread waits for one event of another; lives on the waiter's stack.
#pragma once
#include <pthread.h>
#include <stdbool.h>

typedef struct Semaphore {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool is_posted;
} Semaphore;

static inline void semaphore_init(Semaphore *semaphore) {
    pthread_mutex_init(&semaphore->lock, NULL);
    pthread_cond_init(&semaphore->wake, NULL);
    semaphore->is_posted = false;
}

// Signals while it holds the lock: the waiter may destroy the semaphore the moment it is free.
static inline void semaphore_post(Semaphore *semaphore) {
    pthread_mutex_lock(&semaphore->lock);
    semaphore->is_posted = true;
    pthread_cond_signal(&semaphore->wake);
    pthread_mutex_unlock(&semaphore->lock);
}

// Waits for the post and ends the semaphore's life.
static inline void semaphore_wait(Semaphore *semaphore) {
    pthread_mutex_lock(&semaphore->lock);
    while (!semaphore->is_posted) pthread_cond_wait(&semaphore->wake, &semaphore->lock);
    pthread_mutex_unlock(&semaphore->lock);
    pthread_mutex_destroy(&semaphore->lock);
    pthread_cond_destroy(&semaphore->wake);
}

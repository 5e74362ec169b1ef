// Offload: requests that compute for long, on threads of their own.
//
// A server thread has many connections; what takes a tenth of a second there keeps all of them
// waiting. So the connection is suspended, and one of a few threads here makes the answer.
//
//   [offload-1] An exchange that was handed over belongs to the thread that works on it, until its
//        connection is resumed.
//   [offload-2] When the server stops, what has begun is finished and the rest refused, before the
//        HTTP library ends.
#pragma once
#include "base/containers/list.h"
#include "base/diag.h"
#include <pthread.h>
#include <stdbool.h>

enum { OFFLOAD_THREADS = 2 };

struct Exchange;

typedef struct Offload {
    pthread_mutex_t lock; // guards what follows
    pthread_cond_t changed;
    List waiting; // exchanges, the oldest first
    bool is_stopping;
    pthread_t threads[OFFLOAD_THREADS];
    int thread_count;
} Offload;

void offload_init(Offload *offload);
// Codes: NO_THREADS.
MUST_CHECK Status offload_start(Offload *offload, Diag *diag);
void offload_stop(Offload *offload); // [offload-2]; also when it was not started
void offload_done(Offload *offload);
// Hands an exchange over that has asked for it (exchange_offload). On the connection's own thread,
// as the last thing that is done with it there.
void offload_submit(Offload *offload, struct Exchange *exchange);

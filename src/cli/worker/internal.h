// What the threads of a worker share. Invariants [worker-1]-[worker-5] are in worker.h.
#pragma once
#include "base/containers/buf.h"
#include "cli/worker/worker.h"
#include <pthread.h>

enum {
    WORKER_PAUSE_MS = 50,       // when the server is away …
    WORKER_PAUSE_MAX_MS = 5000, // … growing to this
    WORKER_BATCH_MAX = 1000,    // items of one request
    WORKER_BODY_MAX = 64 << 20  // bytes of one request
};

typedef struct Worker {
    const WorkerConfig *config;
    pthread_t main_thread;
    pthread_mutex_t lock; // guards what follows
    pthread_cond_t changed;
    List todo, running, outbox;
    int64_t job_count;  // in todo and running
    int64_t item_count; // in outbox, and being sent
    bool is_stopping, has_ended;
    bool is_claiming;
    Status failure; // [worker-5]
    int failure_http_status;
    Diag failure_diag;
} Worker;

int64_t worker_monotonic_ms(void);
// With the lock held; returns when something changed or at `until_ms`.
void worker_wait_until(Worker *worker, int64_t until_ms);
void worker_note_change(Worker *worker); // with the lock held
// Longer each time, and somewhat random, so that many workers do not come back at once. Ends early
// when the worker stops, unless it has to be sat out.
void worker_pause(Worker *worker, int64_t *pause_ms, bool is_stoppable);
bool worker_is_permanent(int http_status); // trying again cannot help
Client *worker_open_client(Worker *worker);
ClientRequest worker_post(const char *path, const Buf *body, int64_t wait_ms);
void worker_give_up(Job *job, JobReason reason); // asks it to end; with the lock held

// What is to be told (outbox.c): with the lock held; copies what it needs.
void outbox_add(Worker *worker, const Job *job, JobOutcome outcome);
void outbox_free(Worker *worker, List *items);
void *outbox_send_forever(void *worker);

void *heartbeats_send_forever(void *worker); // (heartbeats.c)

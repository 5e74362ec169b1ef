// Driver: the threads around a coordinator.
//
// One thread owns the coordinator; a second one commits the larger batches, so that the next is
// gathered meanwhile; a pool runs workflow, step and task functions. Everybody else only puts
// messages into the driver's mailbox.
//
//   [driver-1] Only the coordinator's thread touches the coordinator.
//   [driver-2] Nothing sleeps on a fixed tick: the thread waits for a message or for the next
//        deadline.
//   [driver-3] A function that blocks holds up its pool thread and nothing else.
//       In virtual time deadlines come when the clock is moved, which is a message.
//   [driver-4] One commit is under way at a time, and the next begins only when it answered OK.
//   [driver-5] While the store is away, requests are refused on the spot, whatever the
//        coordinator's thread is waiting for.
//   [driver-6] Of an await that was called off the coordinator's thread looks at nothing before it
//        knows, with the mailbox locked, that it is not answered: its owner may free it from then
//        on.
#pragma once
#include "api/driver/mailbox.h"
#include "api/driver/turns.h"
#include <pthread.h>
#include <stdatomic.h>

typedef struct Pool {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t *threads;
    int thread_count;
    int idle_count;
    int busy_count; // threads that perform an execution
    int left_count; // threads at their end
    List queue;     // Executions to be performed
    bool is_closed;
    bool is_left; // to its threads: the last one frees it
} Pool;

typedef struct Driver {
    World world; // what the coordinator sees of us
    Env *env;
    bool is_virtual; // `env` moves by messages, not by itself
    Store *store;
    Coordinator *coordinator;
    Pool pool;
    TurnBoard turns; // executions that other processes perform
    List outgoing;   // Executions on their way to the pool; the coordinator's thread only
    pthread_t thread;
    bool has_thread;

    Mailbox mailbox;   // its lock also guards what follows, up to the callbacks
    Commit *to_commit; // for the committer; NULL = nothing
    pthread_cond_t commit_wake;
    pthread_t committer;
    bool is_committer_closed;
    bool is_stop_late;            // functions were still running at the deadline
    void (*ended)(void *context); // see driver_end
    void *ended_context;

    void (*on_event)(void *context, const EngineEvent *event);
    void *on_event_context;
    bool (*has_reader)(void *context, Str run_id); // on the coordinator's thread
    // As of the beginning of the coordinator's last round, for any thread.
    _Atomic size_t resident_count, active_count, resident_size;
    _Atomic bool is_store_away; // [driver-5]
    _Atomic bool is_store_full;
    pthread_mutex_t parked_lock; // guards what follows
    Map parked;                  // keys of the runs that wait and are in memory
} Driver;

typedef struct DriverConfig {
    Env *env;
    bool is_virtual;
    Store *store;
    Logger *logger;
    int thread_count;
    CoordinatorConfig coordinator;
    void (*on_event)(void *context, const EngineEvent *event);
    bool (*has_reader)(void *context, Str run_id); // with the same context
    void *on_event_context;
} DriverConfig;

MUST_CHECK Status driver_start(Driver *driver, const DriverConfig *config, Diag *diag);
// Orderly stop; ERR_LIMIT when functions were still running after `timeout_ms`.
MUST_CHECK Status driver_stop(Driver *driver, int64_t timeout_ms);
// After driver_stop. False when functions still run that did not end in time: then nobody waits for
// them, and `ended` is called by the last of their threads, if it ever comes back.
MUST_CHECK bool driver_end(Driver *driver, void (*ended)(void *context), void *context);
// After driver_end, or by `ended`.
void driver_free(Driver *driver);

// Submits the operation and waits for its answer.
Status driver_request(Driver *driver, Request *request);
// The same without waiting: `done` and `context` are the caller's; `done` is called once, on the
// coordinator's thread, or on this one when the engine has been shut down or the store is away.
void driver_submit(Driver *driver, Request *request);
// Many that come together: they are taken together, so they share a commit as far as one reaches.
void driver_submit_all(Driver *driver, Request *requests, size_t count);
void driver_submit_await(Driver *driver, Await *await);
// Nobody waits any more: `done` is called soon. From any thread, while the owner keeps the await.
void driver_call_off(Driver *driver, Await *await);
// Takes it back; to be called before an await that was called off is freed. Harmless otherwise.
void driver_forget_call_off(Driver *driver, Await *await);
// Waits for a run to end, at most until the await's deadline.
void driver_await(Driver *driver, Await *await);
// Waits until nothing executes and nothing is due; answers when something will be, 0 = never.
int64_t driver_settle(Driver *driver);
// Another node has written to the store. From any thread.
void driver_store_changed(Driver *driver);
// Whether the store takes what is written: ERR_UNAVAILABLE while it is away, ERR_FULL while it is
// full. To be asked by somebody whom it has just answered: then the coordinator does not wait any
// longer before it tries again. From any thread.
MUST_CHECK Status driver_store_status(Driver *driver);
// Whether a run that waits is in memory; any thread.
bool driver_is_parked(Driver *driver, int64_t run);
// Something to be done on the coordinator's thread: now, or without waiting for it.
void driver_control_later(Driver *driver, void (*function)(Coordinator *, void *), void *context);
void driver_control(Driver *driver, void (*function)(Coordinator *, void *), void *context);

// Worker: takes tasks from a server and has them done by a function of this process.
//
//   claimer ──▶ todo ──▶ performers (one thread per task at a time) ──▶ outbox ──▶ sender
//                          ▲ heartbeats for all that run, from one thread
//
//   [worker-1] At most `concurrency` tasks are claimed and not yet performed: nothing waits here
//        that another worker could begin.
//   [worker-2] What became of a task is told until the server has accepted or refused it. Telling
//        it twice is harmless: the token decides. What is ready together travels together.
//   [worker-3] While a task is performed its lease is renewed, each time well before it ends.
//   [worker-4] Stopping claims nothing any more, waits for what runs, and hands back what does not
//        finish in time, so that no attempt is lost.
//   [worker-5] A server that goes away is waited for, with growing pauses; one that refuses us for
//        good (a bad token, a bad request) ends the worker.
#pragma once
#include "base/containers/list.h"
#include "base/log.h"
#include "cli/client/client.h"
#include <stdatomic.h>

typedef enum JobReason { // why the result is not wanted any more
    JOB_WANTED = 0,
    JOB_CANCELLED,  // its run was cancelled
    JOB_LEASE_LOST, // somebody else has the task
    JOB_STOPPING    // this worker must stop
} JobReason;

typedef struct Job { // one task, from being claimed to being performed
    List link;       // in todo, then in running
    Arena arena;     // holds what belongs to it
    Str id, name, queue, input;
    Str run_id, traceparent, tracestate; // null: none
    int64_t attempt, token;
    int64_t step;              // < 0: none
    int64_t interval_ms;       // between heartbeats
    int64_t next_heartbeat_ms; // monotonic; guarded by the worker's lock
    int stop;                  // eventfd, readable when `reason` is set
    _Atomic int reason;        // a JobReason
} Job;

typedef enum JobOutcomeKind {
    JOB_NOTHING, // nothing is to be told
    JOB_RESULT,  // JSON: any value
    JOB_ERROR,   // JSON: an error object
    JOB_RELEASED // handed back: the attempt does not count
} JobOutcomeKind;

typedef struct JobOutcome {
    JobOutcomeKind kind;
    Str json;
} JobOutcome;

typedef struct WorkerConfig {
    ClientConfig connection;
    Str name; // shown to operators
    const Str *names, *queues;
    size_t name_count, queue_count;
    int64_t concurrency;
    int64_t lease_ms, heartbeat_ms;
    int64_t grace_ms; // for what runs when the worker is stopped
    // Does a job; called on its own thread. JSON of the answer lives in the job's arena.
    JobOutcome (*perform)(void *context, Job *job);
    void *context;
    Logger *logger;
} WorkerConfig;

// Works until SIGTERM or SIGINT, which the caller has blocked in this thread; a second one kills.
// Not OK: the server refused us [worker-5]; *ret_http_status says how (0: it did not).
MUST_CHECK Status worker_run(const WorkerConfig *config, int *ret_http_status, Diag *diag);

// A program per task: the `perform` of `abide worker`.
typedef struct ProgramConfig {
    char **argv;           // ended by NULL
    int64_t timeout_ms;    // 0 = none
    int64_t kill_after_ms; // between SIGTERM and SIGKILL
    bool is_text;          // stdout is a text, not JSON
    Str worker;            // its name
    Logger *logger;
} ProgramConfig;

JobOutcome worker_perform_program(void *context, Job *job); // context: a ProgramConfig

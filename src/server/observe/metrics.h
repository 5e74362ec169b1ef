// Metrics: what the server counts, for /metrics.
//
// What the engine does is counted on the coordinator's thread as it tells (EngineEvent); requests
// on the server's threads. How many rows there are of each kind is asked of the store when somebody
// looks.
//
//   [observe-metrics-1] Counting takes no lock and, once a name is known, no memory.
//   [observe-metrics-2] Labels are bounded: the first METRICS_NAMES_MAX workflows, tasks and queues
//        have figures of their own, all others together are `other`.
//   [observe-metrics-3] Reading never waits for the engine: /metrics answers also when the store
//        hangs.
#pragma once
#include "base/containers/buf.h"
#include "base/containers/histogram.h"
#include "base/containers/map.h"
#include "engine/coordinator/coordinator.h"
#include "server/exchange/route.h"
#include <pthread.h>

enum {
    METRICS_NAMES_MAX = 100,
    METRICS_ROUTES_MAX = 128,
    METRICS_STATUSES_MAX = 24,
    METRICS_WORKERS_MAX = 10000,     // beyond them new workers are not counted
    METRICS_WORKER_SEEN_MS = 120000, // twice the longest claim
};

// Names in the order in which they came; number 0 is `other`. One thread adds, any reads.
typedef struct MetricNames {
    StrMap numbers;                   // name -> its number; the adding thread's
    Str names[METRICS_NAMES_MAX + 1]; // owned
    _Atomic size_t count;
} MetricNames;

typedef enum AttemptOutcome { // of an attempt of a task
    ATTEMPT_COMPLETED,
    ATTEMPT_RETRIED, // it failed and will be tried again
    ATTEMPT_FAILED,  // it failed for good
    ATTEMPT_OUTCOME_COUNT
} AttemptOutcome;

typedef struct WorkflowMetrics {
    _Atomic int64_t started;
    _Atomic int64_t finished[RUN_STATE_COUNT]; // by the terminal state
} WorkflowMetrics;

typedef struct TaskMetrics {
    _Atomic int64_t attempts[ATTEMPT_OUTCOME_COUNT];
    Histogram waited; // of histogram_seconds
    Histogram took;
} TaskMetrics;

typedef struct RouteMetrics {
    _Atomic int64_t answers[METRICS_STATUSES_MAX]; // by number of the status (metrics_status)
    Histogram took;
} RouteMetrics;

typedef struct Metrics {
    MetricNames workflows, tasks;
    WorkflowMetrics of_workflow[METRICS_NAMES_MAX + 1];
    TaskMetrics of_task[METRICS_NAMES_MAX + 1];
    RouteMetrics of_route[METRICS_ROUTES_MAX + 1]; // by route_number(); the last: no route
    _Atomic int64_t steps, releases, reloads, timers;
    _Atomic bool is_store_down;
    Histogram resume, turn, timer_lag, snapshot;
    pthread_mutex_t lock; // guards what follows
    StrMap workers;       // name -> SeenWorker
} Metrics;

void metrics_init(Metrics *metrics);
void metrics_done(Metrics *metrics);
// On the coordinator's thread.
void metrics_notice(Metrics *metrics, const EngineEvent *event);
// On any.
void metrics_answered(Metrics *metrics, const Route *route, int status, int64_t took_ns);
void metrics_saw_worker(Metrics *metrics, Str name, int64_t now_ms);
// How many were seen lately; forgets the others.
int64_t metrics_worker_count(Metrics *metrics, int64_t now_ms);
// False for names that only count among `other`: that one, and those that are no text (a script may
// name a task by half a surrogate).
bool metrics_is_label(Str name);
// The HTTP statuses that are told apart, by number; 0 = all others.
int metrics_status(size_t number);

// ---- metrics_text.c ----
struct Server;
enum { METRICS_TEXT_MAX = 16 << 20 };
// All of it in Prometheus' text format 0.0.4.
void metrics_write(struct Server *server, Arena *arena, Buf *ret_text);

// ---- metrics_process.c ----
typedef struct ProcessFigures { // < 0 = unknown
    double cpu_seconds;
    double start_time_seconds; // since 1970
    int64_t resident_bytes, virtual_bytes;
    int64_t open_fds, max_fds;
    int64_t threads;
} ProcessFigures;
void process_figures(ProcessFigures *ret_figures);

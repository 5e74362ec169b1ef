// Counting what happens.
//
// Invariants [observe-metrics-1]-[observe-metrics-3] are in metrics.h.
//
// Not here: how it is written (metrics_text.c), what a commit took (store/decorators/metrics.c).
#include "server/observe/metrics.h"
#include "base/assert.h"
#include "base/memory.h"
#include "base/text/utf.h"

static const int statuses[METRICS_STATUSES_MAX] = {0,   200, 201, 202, 204, 304, 400,
                                                   401, 403, 404, 405, 409, 411, 413,
                                                   415, 422, 429, 431, 500, 501, 503};

typedef struct SeenWorker {
    Str name; // owned
    int64_t at_ms;
} SeenWorker;

static void count_one(_Atomic int64_t *counter) {
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

// ---- names ----

static void names_init(MetricNames *names) {
    strmap_init(&names->numbers);
    names->names[0] = STR("other");
    atomic_init(&names->count, 1);
}

static void names_done(MetricNames *names) {
    size_t count = atomic_load(&names->count);
    for (size_t i = 1; i < count; i++) mem_free((void *)(uintptr_t)names->names[i].data);
    strmap_done(&names->numbers);
}

bool metrics_is_label(Str name) { return utf8_is_valid(name) && !str_equal(name, STR("other")); }

static size_t name_number(MetricNames *names, Str name) {
    uintptr_t known = (uintptr_t)strmap_get(&names->numbers, name);
    if (known != 0) return known;
    size_t number = atomic_load_explicit(&names->count, memory_order_relaxed);
    if (number > METRICS_NAMES_MAX || !metrics_is_label(name)) return 0; // [observe-metrics-2]
    names->names[number] = (Str){mem_copy(name.data, name.len), name.len};
    strmap_put(&names->numbers, names->names[number], (void *)(uintptr_t)number);
    atomic_store_explicit(&names->count, number + 1, memory_order_release);
    return number;
}

// ---- life ----

void metrics_init(Metrics *metrics) {
    ASSERT(route_count() <= METRICS_ROUTES_MAX);
    names_init(&metrics->workflows);
    names_init(&metrics->tasks);
    pthread_mutex_init(&metrics->lock, NULL);
    strmap_init(&metrics->workers);
}

static void free_worker(SeenWorker *worker) {
    mem_free((void *)(uintptr_t)worker->name.data);
    mem_free(worker);
}

void metrics_done(Metrics *metrics) {
    names_done(&metrics->workflows);
    names_done(&metrics->tasks);
    Str name;
    void *worker;
    for (size_t at = 0; strmap_next(&metrics->workers, &at, &name, &worker);) free_worker(worker);
    strmap_done(&metrics->workers);
    pthread_mutex_destroy(&metrics->lock);
}

// ---- what the engine tells ----

static void notice_turn(Metrics *metrics, const EngineMeasure *measure) {
    histogram_add(&metrics->turn, &histogram_seconds, measure->took_ns);
    if (measure->has_waited)
        histogram_add(&metrics->resume, &histogram_seconds, measure->waited_ns);
    if (measure->snapshot_size > 0)
        histogram_add(&metrics->snapshot, &histogram_bytes, measure->snapshot_size);
}

static void notice_attempt(Metrics *metrics, const EngineEvent *event) {
    TaskMetrics *task = &metrics->of_task[name_number(&metrics->tasks, event->name)];
    AttemptOutcome outcome = event->measure->state == TASK_COMPLETED ? ATTEMPT_COMPLETED
                             : event->measure->state == TASK_QUEUED  ? ATTEMPT_RETRIED
                                                                     : ATTEMPT_FAILED;
    count_one(&task->attempts[outcome]);
    histogram_add(&task->took, &histogram_seconds, event->measure->took_ns);
}

static void notice_claimed(Metrics *metrics, const EngineEvent *event) {
    if (!event->measure->has_waited) return;
    TaskMetrics *task = &metrics->of_task[name_number(&metrics->tasks, event->name)];
    histogram_add(&task->waited, &histogram_seconds, event->measure->waited_ns);
}

static void notice_fired(Metrics *metrics, const EngineMeasure *measure) {
    histogram_add(&metrics->timer_lag, &histogram_seconds, measure->took_ns);
    atomic_fetch_add_explicit(&metrics->timers, measure->number, memory_order_relaxed);
}

static WorkflowMetrics *workflow_of(Metrics *metrics, const EngineEvent *event) {
    return &metrics->of_workflow[name_number(&metrics->workflows, event->workflow)];
}

void metrics_notice(Metrics *metrics, const EngineEvent *event) {
    switch (event->kind) {
    case ENGINE_STEP: count_one(&metrics->steps); break;
    case ENGINE_RUN_RELEASED: count_one(&metrics->releases); break;
    case ENGINE_RUN_RELOADED: count_one(&metrics->reloads); break;
    case ENGINE_STORE_DOWN: atomic_store(&metrics->is_store_down, true); break;
    case ENGINE_STORE_UP: atomic_store(&metrics->is_store_down, false); break;
    case ENGINE_RUN_STARTED: count_one(&workflow_of(metrics, event)->started); break;
    case ENGINE_RUN_ENDED:
        count_one(&workflow_of(metrics, event)->finished[event->measure->state]);
        break;
    case ENGINE_TURN: notice_turn(metrics, event->measure); break;
    case ENGINE_TASK_CLAIMED: notice_claimed(metrics, event); break;
    case ENGINE_TASK_ENDED: notice_attempt(metrics, event); break;
    case ENGINE_TIMERS_FIRED: notice_fired(metrics, event->measure); break;
    default: break;
    }
}

// ---- what the server does ----

int metrics_status(size_t number) { return statuses[number]; }

void metrics_answered(Metrics *metrics, const Route *route, int status, int64_t took_ns) {
    size_t place = route != NULL ? route_number(route) : METRICS_ROUTES_MAX;
    size_t number = METRICS_STATUSES_MAX - 1;
    while (number > 0 && statuses[number] != status) number--;
    count_one(&metrics->of_route[place].answers[number]);
    histogram_add(&metrics->of_route[place].took, &histogram_seconds, took_ns);
}

void metrics_saw_worker(Metrics *metrics, Str name, int64_t now_ms) {
    pthread_mutex_lock(&metrics->lock);
    SeenWorker *worker = strmap_get(&metrics->workers, name);
    if (worker == NULL && metrics->workers.count < METRICS_WORKERS_MAX) {
        worker = mem_zalloc(sizeof(SeenWorker));
        worker->name = (Str){mem_copy(name.data, name.len), name.len};
        strmap_put(&metrics->workers, worker->name, worker);
    }
    if (worker != NULL) worker->at_ms = now_ms;
    pthread_mutex_unlock(&metrics->lock);
}

static SeenWorker *find_old(const Metrics *metrics, int64_t before_ms) {
    Str name;
    void *worker;
    for (size_t at = 0; strmap_next(&metrics->workers, &at, &name, &worker);)
        if (((SeenWorker *)worker)->at_ms < before_ms) return worker;
    return NULL;
}

int64_t metrics_worker_count(Metrics *metrics, int64_t now_ms) {
    pthread_mutex_lock(&metrics->lock);
    for (SeenWorker *old; (old = find_old(metrics, now_ms - METRICS_WORKER_SEEN_MS)) != NULL;) {
        strmap_remove(&metrics->workers, old->name);
        free_worker(old);
    }
    int64_t count = (int64_t)metrics->workers.count;
    pthread_mutex_unlock(&metrics->lock);
    return count;
}

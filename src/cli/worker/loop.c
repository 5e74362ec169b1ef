// The threads of a worker and what they hand each other.
//
// One lock and one condition guard everything; each thread talks to the server over a connection of
// its own. Invariants [worker-1]-[worker-5] are in worker.h.
//
// Not here: telling what became of tasks (worker/outbox.c), heartbeats (worker/heartbeats.c), what
// is done with a task (worker/program.c), arguments (worker.c).
#include "base/array.h"
#include "base/assert.h"
#include "base/env.h"
#include "base/memory.h"
#include "base/thread.h"
#include "cli/worker/internal.h"
#include "json/write.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
    POLL_MS = 25000,       // of one claim
    LAST_MOMENT_MS = 2000, // to tell what is left when the grace is over
    CALL_OFF_EVERY_MS = 100,
    INTERVAL_MIN_MS = 20
};

// ---- time ----

int64_t worker_monotonic_ms(void) { return (int64_t)(env_monotonic_ns(env_system()) / 1000000); }

void worker_wait_until(Worker *worker, int64_t until_ms) {
    if (until_ms == INT64_MAX) {
        pthread_cond_wait(&worker->changed, &worker->lock);
        return;
    }
    struct timespec at = {.tv_sec = until_ms / 1000, .tv_nsec = until_ms % 1000 * 1000000};
    pthread_cond_timedwait(&worker->changed, &worker->lock, &at);
}

void worker_note_change(Worker *worker) { pthread_cond_broadcast(&worker->changed); }

void worker_pause(Worker *worker, int64_t *pause_ms, bool is_stoppable) {
    uint64_t random = env_random_u64(env_system());
    int64_t until_ms =
        worker_monotonic_ms() + *pause_ms / 2 + (int64_t)(random % (uint64_t)*pause_ms) / 2;
    *pause_ms = *pause_ms * 2 < WORKER_PAUSE_MAX_MS ? *pause_ms * 2 : WORKER_PAUSE_MAX_MS;
    pthread_mutex_lock(&worker->lock);
    while (worker_monotonic_ms() < until_ms && !worker->has_ended &&
           !(is_stoppable && worker->is_stopping))
        worker_wait_until(worker, until_ms);
    pthread_mutex_unlock(&worker->lock);
}

bool worker_is_permanent(int http_status) {
    return http_status >= 400 && http_status < 500 && http_status != 408 && http_status != 429;
}

Client *worker_open_client(Worker *worker) {
    ClientConfig config = worker->config->connection;
    config.stop = NULL; // a call that is cut off may have been heard
    Client *client;
    Diag diag;
    Status status = client_open(&config, &client, &diag);
    ASSERT(status == OK); // the command has opened one like it
    return client;
}

ClientRequest worker_post(const char *path, const Buf *body, int64_t wait_ms) {
    return (ClientRequest){
        .method = "POST", .path = str_from(path), .body = buf_str(body), .wait_ms = wait_ms};
}

// ---- performing ----

static void free_job(Job *job) {
    close(job->stop);
    arena_done(&job->arena);
    mem_free(job);
}

static void *perform_forever(void *context) {
    Worker *worker = context;
    pthread_mutex_lock(&worker->lock);
    for (;;) {
        List *node = list_first(&worker->todo);
        if (node == NULL && worker->is_stopping) break;
        if (node == NULL) {
            worker_wait_until(worker, INT64_MAX);
            continue;
        }
        Job *job = container_of(node, Job, link);
        list_remove(node);
        list_append(&worker->running, node);
        pthread_mutex_unlock(&worker->lock);
        JobOutcome outcome = worker->config->perform(worker->config->context, job);
        pthread_mutex_lock(&worker->lock);
        list_remove(&job->link);
        worker->job_count--;
        if (outcome.kind != JOB_NOTHING) outbox_add(worker, job, outcome);
        free_job(job);
        worker_note_change(worker);
    }
    pthread_mutex_unlock(&worker->lock);
    return NULL;
}

void worker_give_up(Job *job, JobReason reason) {
    int wanted = JOB_WANTED;
    if (!atomic_compare_exchange_strong(&job->reason, &wanted, (int)reason)) return;
    uint64_t one = 1;
    ssize_t written = write(job->stop, &one, sizeof one);
    ASSERT(written == sizeof one);
}

// ---- claiming ----

static void put_texts(JsonWriter *json, const char *key, const Str *texts, size_t count) {
    json_write_key(json, str_from(key));
    json_write_array_begin(json);
    for (size_t i = 0; i < count; i++) json_write_string(json, texts[i]);
    json_write_array_end(json);
}

static Status claim(Worker *worker, Client *client, Arena *arena, int64_t max,
                    ClientAnswer *ret_answer) {
    const WorkerConfig *config = worker->config;
    Buf body;
    JsonWriter json;
    buf_init(&body, WORKER_BODY_MAX);
    json_writer_init(&json, &body, STR_NULL);
    json_write_object_begin(&json);
    json_put_string(&json, "worker", config->name);
    put_texts(&json, "queues", config->queues, config->queue_count);
    put_texts(&json, "names", config->names, config->name_count);
    json_put_i64(&json, "max", max);
    json_put_number(&json, "lease", (double)config->lease_ms / 1000);
    json_put_number(&json, "wait", max > 0 ? (double)POLL_MS / 1000 : 0);
    json_write_object_end(&json);
    Diag diag;
    const ClientRequest request = worker_post("/v1/tasks/claim", &body, POLL_MS);
    Status status = client_call(client, arena, &request, ret_answer, &diag);
    buf_done(&body);
    if (status == OK || max == 0) return status;
    pthread_mutex_lock(&worker->lock);
    worker->failure_diag = diag;
    worker->failure_http_status = ret_answer->http_status;
    pthread_mutex_unlock(&worker->lock);
    return status;
}

static bool read_job(const WorkerConfig *config, const JsonValue *task, Job *job) {
    int64_t lease_ms = config->lease_ms;
    job->step = -1;
    job->id = job->name = job->queue = job->run_id = STR_NULL;
    job->traceparent = job->tracestate = STR_NULL;
    job->input = STR("null");
    json_get_raw(task, "input", &job->input);
    if (json_get_string(task, "id", &job->id, NULL) != OK ||
        json_get_string(task, "name", &job->name, NULL) != OK ||
        json_get_string(task, "queue", &job->queue, NULL) != OK ||
        json_get_string(task, "run_id", &job->run_id, NULL) != OK ||
        json_get_string(task, "traceparent", &job->traceparent, NULL) != OK ||
        json_get_string(task, "tracestate", &job->tracestate, NULL) != OK ||
        json_get_i64(task, "attempt", &job->attempt, NULL) != OK ||
        json_get_i64(task, "token", &job->token, NULL) != OK ||
        json_get_i64(task, "step", &job->step, NULL) != OK ||
        json_get_i64(task, "lease_ms", &lease_ms, NULL) != OK || str_is_null(job->id))
        return false;
    Str *const texts[] = {&job->id,     &job->name,        &job->queue,     &job->input,
                          &job->run_id, &job->traceparent, &job->tracestate};
    for (size_t i = 0; i < COUNT_OF(texts); i++) *texts[i] = arena_str(&job->arena, *texts[i]);
    // The server may give less than was asked for: the task's own heartbeat time-out.
    job->interval_ms = lease_ms / 3 < config->heartbeat_ms ? lease_ms / 3 : config->heartbeat_ms;
    if (job->interval_ms < INTERVAL_MIN_MS) job->interval_ms = INTERVAL_MIN_MS;
    job->next_heartbeat_ms = worker_monotonic_ms() + job->interval_ms;
    return true;
}

static void begin_job(Worker *worker, const JsonValue *task) {
    Job *job = mem_zalloc(sizeof *job);
    arena_init(&job->arena);
    list_init(&job->link);
    job->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    bool is_good = read_job(worker->config, task, job) && job->stop >= 0;
    pthread_mutex_lock(&worker->lock);
    if (is_good && !worker->is_stopping) {
        list_append(&worker->todo, &job->link);
        worker->job_count++;
        job = NULL;
    } else if (!str_is_null(job->id)) { // [worker-4], or no descriptor is left
        outbox_add(worker, job, (JobOutcome){JOB_RELEASED, STR_NULL});
    }
    worker_note_change(worker);
    pthread_mutex_unlock(&worker->lock);
    if (job != NULL) free_job(job);
}

static int64_t wait_for_room(Worker *worker) { // [worker-1]; 0 = stopping
    pthread_mutex_lock(&worker->lock);
    int64_t room = 0;
    for (; !worker->is_stopping; worker_wait_until(worker, INT64_MAX)) {
        room = worker->config->concurrency - worker->job_count;
        if (room > 0 && worker->item_count < WORKER_BATCH_MAX) break;
    }
    if (worker->is_stopping) room = 0;
    pthread_mutex_unlock(&worker->lock);
    return room < WORKER_BATCH_MAX ? room : WORKER_BATCH_MAX;
}

// False: the server does not want us.
static bool claim_once(Worker *worker, Client *client, int64_t room, int64_t *pause_ms) {
    Arena arena;
    ClientAnswer answer;
    arena_init(&arena);
    Status status = claim(worker, client, &arena, room, &answer);
    const JsonValue *tasks = NULL;
    bool is_refused = status != OK && worker_is_permanent(answer.http_status);
    if (status == OK) {
        *pause_ms = WORKER_PAUSE_MS;
        if (json_get_array(answer.json, "tasks", &tasks, NULL) == OK && tasks != NULL)
            JSON_EACH (task, tasks) begin_job(worker, task);
    } else if (!is_refused) {
        LOG(worker->config->logger, LOG_WARN, "claiming tasks: %s (%s)",
            worker->failure_diag.message, worker->failure_diag.code);
    }
    arena_done(&arena);
    if (status != OK && !is_refused) worker_pause(worker, pause_ms, true);
    if (is_refused) worker->failure = status; // [worker-5]
    return !is_refused;
}

static void *claim_forever(void *context) {
    Worker *worker = context;
    Client *client = worker_open_client(worker);
    int64_t pause_ms = WORKER_PAUSE_MS;
    for (int64_t room; (room = wait_for_room(worker)) > 0;) {
        if (claim_once(worker, client, room, &pause_ms)) continue;
        pthread_kill(worker->main_thread, SIGTERM);
        break;
    }
    client_close(client);
    pthread_mutex_lock(&worker->lock);
    worker->is_claiming = false;
    worker_note_change(worker);
    pthread_mutex_unlock(&worker->lock);
    return NULL;
}

// ---- life ----

// Ends the long poll; repeated, since it may overtake the claim.
static void call_off(Worker *worker, int64_t until_ms) {
    Client *client = worker_open_client(worker);
    pthread_mutex_lock(&worker->lock);
    while (worker->is_claiming && worker_monotonic_ms() < until_ms) {
        pthread_mutex_unlock(&worker->lock);
        Arena arena;
        ClientAnswer answer;
        arena_init(&arena);
        (void)claim(worker, client, &arena, 0, &answer);
        arena_done(&arena);
        pthread_mutex_lock(&worker->lock);
        if (worker->is_claiming)
            worker_wait_until(worker, worker_monotonic_ms() + CALL_OFF_EVERY_MS);
    }
    pthread_mutex_unlock(&worker->lock);
    client_close(client);
}

static void wind_up(Worker *worker) { // [worker-4]
    int64_t until_ms = worker_monotonic_ms() + worker->config->grace_ms;
    pthread_mutex_lock(&worker->lock);
    worker->is_stopping = true;
    worker_note_change(worker);
    pthread_mutex_unlock(&worker->lock);
    call_off(worker, until_ms);
    pthread_mutex_lock(&worker->lock);
    while (worker->job_count > 0 && worker_monotonic_ms() < until_ms)
        worker_wait_until(worker, until_ms);
    LIST_EACH (node, &worker->running) worker_give_up(container_of(node, Job, link), JOB_STOPPING);
    while (worker->job_count > 0) worker_wait_until(worker, INT64_MAX); // SIGKILL ends them all
    until_ms = worker_monotonic_ms() + LAST_MOMENT_MS;
    while (worker->item_count > 0 && worker_monotonic_ms() < until_ms)
        worker_wait_until(worker, until_ms);
    worker->has_ended = true;
    worker_note_change(worker);
    pthread_mutex_unlock(&worker->lock);
}

static void wait_for_signal(void) {
    sigset_t ends;
    int number;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    while (sigwait(&ends, &number) != 0) continue;
    signal(SIGTERM, SIG_DFL); // the next one kills
    signal(SIGINT, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &ends, NULL);
}

static void init(Worker *worker, const WorkerConfig *config) {
    pthread_condattr_t attributes;
    *worker = (Worker){.config = config, .main_thread = pthread_self(), .is_claiming = true};
    pthread_mutex_init(&worker->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&worker->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    list_init(&worker->todo);
    list_init(&worker->running);
    list_init(&worker->outbox);
}

Status worker_run(const WorkerConfig *config, int *ret_http_status, Diag *diag) {
    Worker worker;
    init(&worker, config);
    size_t count = (size_t)config->concurrency + 3;
    pthread_t *threads = mem_alloc(count * sizeof *threads);
    size_t started = 0;
    Status status = OK;
    for (; status == OK && started < count; started += status == OK) {
        void *(*const first[])(void *) = {perform_forever, outbox_send_forever,
                                          heartbeats_send_forever};
        bool is_last = started == count - 1; // claims begin when everybody is there
        void *(*const body)(void *) = is_last ? claim_forever : first[started < 3 ? started : 0];
        status = thread_start(&threads[started], body, &worker, diag);
    }
    if (status == OK) wait_for_signal();
    LOG(config->logger, LOG_INFO, "stopping");
    wind_up(&worker);
    for (size_t i = 0; i < started; i++) pthread_join(threads[i], NULL);
    outbox_free(&worker, &worker.outbox);
    mem_free(threads);
    pthread_cond_destroy(&worker.changed);
    pthread_mutex_destroy(&worker.lock);
    *ret_http_status = worker.failure != OK ? worker.failure_http_status : 0;
    if (status != OK) return status;
    if (worker.failure != OK) *diag = worker.failure_diag;
    return worker.failure;
}

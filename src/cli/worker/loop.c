// The threads of a worker and what they hand each other.
//
// One lock and one condition guard everything; each thread talks to the server over a connection of
// its own. Invariants [W1]-[W5] are in worker.h.
//
// Not here: what is done with a task (worker/program.c), arguments (worker.c).
#include "base/assert.h"
#include "base/env.h"
#include "base/memory.h"
#include "base/thread.h"
#include "cli/worker/worker.h"
#include "json/write.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
    POLL_MS = 25000,         // of one claim
    FIRST_PAUSE_MS = 50,     // when the server is away …
    LONGEST_PAUSE_MS = 5000, // … growing to this
    BATCH_MAX = 1000,        // items of one request
    BATCH_SIZE = 1 << 20,    // bytes, unless one item alone has more
    BODY_MAX = 64 << 20,
    LAST_MOMENT_MS = 2000, // to tell what is left when the grace is over
    CALL_OFF_EVERY_MS = 100,
    INTERVAL_MIN_MS = 20
};

typedef struct Item { // something to be told about a task
    List link;
    Str id, member; // one block behind this struct
    int64_t token;
} Item;

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
    Status failure; // [W5]
    int failure_http_status;
    Diag failure_diag;
} Worker;

// ---- time ----

static int64_t monotonic_ms(void) { return (int64_t)(env_monotonic_ns(env_system()) / 1000000); }

// With the lock held; returns when something changed or at `until_ms`.
static void wait_until(Worker *worker, int64_t until_ms) {
    if (until_ms == INT64_MAX) {
        pthread_cond_wait(&worker->changed, &worker->lock);
        return;
    }
    struct timespec at = {.tv_sec = until_ms / 1000, .tv_nsec = until_ms % 1000 * 1000000};
    pthread_cond_timedwait(&worker->changed, &worker->lock, &at);
}

static void note_change(Worker *worker) { pthread_cond_broadcast(&worker->changed); }

// Longer each time, and somewhat random, so that many workers do not come back at once. Ends early
// when the worker stops, unless it has to be sat out.
static void pause_before_retry(Worker *worker, int64_t *pause_ms, bool is_stoppable) {
    uint64_t random = env_random_u64(env_system());
    int64_t until_ms = monotonic_ms() + *pause_ms / 2 + (int64_t)(random % (uint64_t)*pause_ms) / 2;
    *pause_ms = *pause_ms * 2 < LONGEST_PAUSE_MS ? *pause_ms * 2 : LONGEST_PAUSE_MS;
    pthread_mutex_lock(&worker->lock);
    while (monotonic_ms() < until_ms && !worker->has_ended &&
           !(is_stoppable && worker->is_stopping))
        wait_until(worker, until_ms);
    pthread_mutex_unlock(&worker->lock);
}

static bool is_permanent(int http_status) {
    return http_status >= 400 && http_status < 500 && http_status != 408 && http_status != 429;
}

static Client *open_client(Worker *worker) {
    ClientConfig config = worker->config->connection;
    config.stop = NULL; // a call that is cut off may have been heard
    Client *client;
    Diag diag;
    Status status = client_open(&config, &client, &diag);
    ASSERT(status == OK); // the command has opened one like it
    return client;
}

static ClientRequest post(const char *path, const Buf *body, int64_t wait_ms) {
    return (ClientRequest){
        .method = "POST", .path = str_from(path), .body = buf_str(body), .wait_ms = wait_ms};
}

// ---- what is to be told ----

static void add_item(Worker *worker, Str id, int64_t token, Str member) { // with the lock held
    char *block = mem_alloc(sizeof(Item) + id.len + member.len);
    Item *item = (Item *)(void *)block;
    char *texts = block + sizeof(Item);
    memcpy(texts, id.data, id.len);
    memcpy(texts + id.len, member.data, member.len);
    *item = (Item){.id = {texts, id.len}, .member = {texts + id.len, member.len}, .token = token};
    list_append(&worker->outbox, &item->link);
    worker->item_count++;
    note_change(worker);
}

static void free_items(Worker *worker, List *items) {
    pthread_mutex_lock(&worker->lock);
    LIST_EACH_SAFE (node, after, items) {
        list_remove(node);
        mem_free(container_of(node, Item, link));
        worker->item_count--;
    }
    note_change(worker);
    pthread_mutex_unlock(&worker->lock);
}

// Waits for items and moves up to a batch of them; false: the worker has ended.
static bool take_items(Worker *worker, List *ret_items) {
    list_init(ret_items);
    pthread_mutex_lock(&worker->lock);
    while (list_is_empty(&worker->outbox) && !worker->has_ended) wait_until(worker, INT64_MAX);
    size_t size = 0;
    for (int count = 0; count < BATCH_MAX && (count == 0 || size < BATCH_SIZE); count++) {
        List *node = list_first(&worker->outbox);
        if (node == NULL) break;
        size += container_of(node, Item, link)->member.len;
        list_remove(node);
        list_append(ret_items, node);
    }
    pthread_mutex_unlock(&worker->lock);
    return !list_is_empty(ret_items);
}

static void write_items(Buf *body, const List *items) {
    JsonWriter id;
    buf_append_cstr(body, "{\"results\":[");
    LIST_EACH (node, items) {
        const Item *item = container_of(node, Item, link);
        if (node != items->next) buf_append_char(body, ',');
        buf_append_cstr(body, "{\"id\":");
        json_writer_init(&id, body, STR_NULL);
        json_write_string(&id, item->id);
        buf_printf(body, ",\"token\":%lld,", (long long)item->token);
        buf_append_str(body, item->member);
        buf_append_char(body, '}');
    }
    buf_append_cstr(body, "]}");
}

static void note_verdicts(Worker *worker, const JsonValue *answer) {
    const JsonValue *results = NULL;
    if (json_get_array(answer, "results", &results, NULL) != OK || results == NULL) return;
    JSON_EACH (result, results) {
        Str id = STR_NULL, status = STR_NULL, detail = STR_NULL;
        if (json_get_string(result, "id", &id, NULL) != OK ||
            json_get_string(result, "status", &status, NULL) != OK ||
            json_get_string(result, "detail", &detail, NULL) != OK)
            continue;
        if (!str_equal(status, STR("accepted")))
            LOG(worker->config->logger, LOG_WARN, "%.*s: its outcome was refused: %.*s (%.*s)",
                STR_ARG(id), STR_ARG(str_is_null(detail) ? STR("") : detail), STR_ARG(status));
    }
}

// [W2] Answers the HTTP status: 2xx, or a refusal for good. 0: the worker has ended before.
static int tell(Worker *worker, Client *client, const List *items, Diag *diag) {
    Buf body;
    buf_init(&body, BODY_MAX);
    write_items(&body, items);
    const ClientRequest request = post("/v1/tasks/complete", &body, 0);
    int64_t pause_ms = FIRST_PAUSE_MS;
    int http_status = 0;
    for (bool is_told = false; !is_told;) {
        Arena arena;
        ClientAnswer answer;
        arena_init(&arena);
        Status status = client_call(client, &arena, &request, &answer, diag);
        is_told = status == OK || is_permanent(answer.http_status);
        if (status == OK) note_verdicts(worker, answer.json);
        http_status = is_told ? answer.http_status : 0;
        arena_done(&arena);
        if (is_told) break;
        LOG(worker->config->logger, LOG_WARN, "telling outcomes: %s (%s)", diag->message,
            diag->code);
        pause_before_retry(worker, &pause_ms, false);
        pthread_mutex_lock(&worker->lock);
        is_told = worker->has_ended;
        pthread_mutex_unlock(&worker->lock);
    }
    buf_done(&body);
    return http_status;
}

// One that the server does not take must not hold up the others; alone, it fails its task.
static void tell_one_by_one(Worker *worker, Client *client, List *items) {
    LIST_EACH_SAFE (node, after, items) {
        Item *item = container_of(node, Item, link);
        List one;
        Diag diag;
        list_init(&one);
        list_remove(node);
        list_append(&one, node);
        int http_status = tell(worker, client, &one, &diag);
        if (is_permanent(http_status)) {
            LOG(worker->config->logger, LOG_ERROR, "%.*s: its outcome was refused: %s (%s)",
                STR_ARG(item->id), diag.message, diag.code);
            if (str_starts_with(item->member, STR("\"result\""))) {
                item->member = STR("\"error\":{\"type\":\"ResultError\",\"retryable\":false,"
                                   "\"message\":\"the server refused the result\"}");
                (void)tell(worker, client, &one, &diag);
            }
        }
        free_items(worker, &one);
    }
}

static void *send_forever(void *context) {
    Worker *worker = context;
    Client *client = open_client(worker);
    List items;
    while (take_items(worker, &items)) {
        Diag diag;
        if (is_permanent(tell(worker, client, &items, &diag)))
            tell_one_by_one(worker, client, &items);
        free_items(worker, &items);
    }
    client_close(client);
    return NULL;
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
            wait_until(worker, INT64_MAX);
            continue;
        }
        Job *job = container_of(node, Job, link);
        list_remove(node);
        list_append(&worker->running, node);
        pthread_mutex_unlock(&worker->lock);
        Str member = worker->config->perform(worker->config->context, job);
        pthread_mutex_lock(&worker->lock);
        list_remove(&job->link);
        worker->job_count--;
        if (!str_is_null(member)) add_item(worker, job->id, job->token, member);
        free_job(job);
        note_change(worker);
    }
    pthread_mutex_unlock(&worker->lock);
    return NULL;
}

static void give_up(Job *job, JobReason reason) {
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
    buf_init(&body, BODY_MAX);
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
    const ClientRequest request = post("/v1/tasks/claim", &body, POLL_MS);
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
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *texts[i] = arena_str(&job->arena, *texts[i]);
    // The server may give less than was asked for: the task's own heartbeat time-out.
    job->interval_ms = lease_ms / 3 < config->heartbeat_ms ? lease_ms / 3 : config->heartbeat_ms;
    if (job->interval_ms < INTERVAL_MIN_MS) job->interval_ms = INTERVAL_MIN_MS;
    job->next_beat_ms = monotonic_ms() + job->interval_ms;
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
    } else if (!str_is_null(job->id)) { // [W4], or no descriptor is left
        add_item(worker, job->id, job->token, STR("\"release\":true"));
    }
    note_change(worker);
    pthread_mutex_unlock(&worker->lock);
    if (job != NULL) free_job(job);
}

static int64_t wait_for_room(Worker *worker) { // [W1]; 0 = stopping
    pthread_mutex_lock(&worker->lock);
    int64_t room = 0;
    for (; !worker->is_stopping; wait_until(worker, INT64_MAX)) {
        room = worker->config->concurrency - worker->job_count;
        if (room > 0 && worker->item_count < BATCH_MAX) break;
    }
    if (worker->is_stopping) room = 0;
    pthread_mutex_unlock(&worker->lock);
    return room < BATCH_MAX ? room : BATCH_MAX;
}

// False: the server does not want us.
static bool claim_once(Worker *worker, Client *client, int64_t room, int64_t *pause_ms) {
    Arena arena;
    ClientAnswer answer;
    arena_init(&arena);
    Status status = claim(worker, client, &arena, room, &answer);
    const JsonValue *tasks = NULL;
    bool is_refused = status != OK && is_permanent(answer.http_status);
    if (status == OK) {
        *pause_ms = FIRST_PAUSE_MS;
        if (json_get_array(answer.json, "tasks", &tasks, NULL) == OK && tasks != NULL)
            JSON_EACH (task, tasks) begin_job(worker, task);
    } else if (!is_refused) {
        LOG(worker->config->logger, LOG_WARN, "claiming tasks: %s (%s)",
            worker->failure_diag.message, worker->failure_diag.code);
    }
    arena_done(&arena);
    if (status != OK && !is_refused) pause_before_retry(worker, pause_ms, true);
    if (is_refused) worker->failure = status; // [W5]
    return !is_refused;
}

static void *claim_forever(void *context) {
    Worker *worker = context;
    Client *client = open_client(worker);
    int64_t pause_ms = FIRST_PAUSE_MS;
    for (int64_t room; (room = wait_for_room(worker)) > 0;) {
        if (claim_once(worker, client, room, &pause_ms)) continue;
        pthread_kill(worker->main_thread, SIGTERM);
        break;
    }
    client_close(client);
    pthread_mutex_lock(&worker->lock);
    worker->is_claiming = false;
    note_change(worker);
    pthread_mutex_unlock(&worker->lock);
    return NULL;
}

// ---- heartbeats ----

// Writes a request for those that are due, or will be soon; with the lock held. False: none is, and
// *ret_next_ms says when one will be.
static bool write_beats(Worker *worker, Buf *body, int64_t *ret_next_ms) {
    int64_t now_ms = monotonic_ms();
    *ret_next_ms = INT64_MAX;
    List *const lists[] = {&worker->todo, &worker->running};
    for (size_t i = 0; i < 2; i++)
        LIST_EACH (node, lists[i]) {
            int64_t at_ms = container_of(node, Job, link)->next_beat_ms;
            if (at_ms < *ret_next_ms) *ret_next_ms = at_ms;
        }
    if (*ret_next_ms > now_ms) return false;
    JsonWriter json;
    json_writer_init(&json, body, STR_NULL);
    json_write_object_begin(&json);
    json_put_number(&json, "lease", (double)worker->config->lease_ms / 1000);
    json_write_key(&json, STR("tasks"));
    json_write_array_begin(&json);
    int count = 0;
    for (size_t i = 0; i < 2; i++)
        LIST_EACH (node, lists[i]) {
            Job *job = container_of(node, Job, link);
            if (job->next_beat_ms > now_ms + job->interval_ms / 2 || count == BATCH_MAX) continue;
            count++;
            job->next_beat_ms = now_ms + job->interval_ms;
            json_write_object_begin(&json);
            json_put_string(&json, "id", job->id);
            json_put_i64(&json, "token", job->token);
            json_write_object_end(&json);
        }
    json_write_array_end(&json);
    json_write_object_end(&json);
    return true;
}

static Job *find_running(Worker *worker, Str id) {
    LIST_EACH (node, &worker->running) {
        Job *job = container_of(node, Job, link);
        // A task that was lost may be here twice: the one that was lost does not count.
        if (str_equal(job->id, id) && atomic_load(&job->reason) == JOB_WANTED) return job;
    }
    return NULL;
}

static void read_beats(Worker *worker, const JsonValue *answer) {
    const JsonValue *tasks = NULL;
    if (json_get_array(answer, "tasks", &tasks, NULL) != OK || tasks == NULL) return;
    pthread_mutex_lock(&worker->lock);
    JSON_EACH (task, tasks) {
        Str id = STR_NULL, status = STR_NULL;
        if (json_get_string(task, "id", &id, NULL) != OK ||
            json_get_string(task, "status", &status, NULL) != OK)
            continue;
        Job *job = str_equal(status, STR("accepted")) ? NULL : find_running(worker, id);
        if (job != NULL && str_equal(status, STR("cancelled"))) give_up(job, JOB_CANCELLED);
        else if (job != NULL) give_up(job, JOB_LEASE_LOST);
    }
    pthread_mutex_unlock(&worker->lock);
}

static void beat_once(Worker *worker, Client *client, const Buf *body) { // [W3]
    Arena arena;
    ClientAnswer answer;
    Diag diag;
    arena_init(&arena);
    const ClientRequest request = post("/v1/tasks/heartbeat", body, 0);
    if (client_call(client, &arena, &request, &answer, &diag) == OK)
        read_beats(worker, answer.json);
    else LOG(worker->config->logger, LOG_WARN, "heartbeat: %s (%s)", diag.message, diag.code);
    arena_done(&arena);
}

static void *beat_forever(void *context) {
    Worker *worker = context;
    Client *client = open_client(worker);
    Buf body;
    buf_init(&body, BODY_MAX);
    pthread_mutex_lock(&worker->lock);
    while (!worker->has_ended) {
        int64_t next_ms;
        buf_clear(&body);
        if (!write_beats(worker, &body, &next_ms)) {
            wait_until(worker, next_ms);
            continue;
        }
        pthread_mutex_unlock(&worker->lock);
        beat_once(worker, client, &body);
        pthread_mutex_lock(&worker->lock);
    }
    pthread_mutex_unlock(&worker->lock);
    buf_done(&body);
    client_close(client);
    return NULL;
}

// ---- life ----

// Ends the long poll; repeated, since it may overtake the claim.
static void call_off(Worker *worker, int64_t until_ms) {
    Client *client = open_client(worker);
    pthread_mutex_lock(&worker->lock);
    while (worker->is_claiming && monotonic_ms() < until_ms) {
        pthread_mutex_unlock(&worker->lock);
        Arena arena;
        ClientAnswer answer;
        arena_init(&arena);
        (void)claim(worker, client, &arena, 0, &answer);
        arena_done(&arena);
        pthread_mutex_lock(&worker->lock);
        if (worker->is_claiming) wait_until(worker, monotonic_ms() + CALL_OFF_EVERY_MS);
    }
    pthread_mutex_unlock(&worker->lock);
    client_close(client);
}

static void wind_up(Worker *worker) { // [W4]
    int64_t until_ms = monotonic_ms() + worker->config->grace_ms;
    pthread_mutex_lock(&worker->lock);
    worker->is_stopping = true;
    note_change(worker);
    pthread_mutex_unlock(&worker->lock);
    call_off(worker, until_ms);
    pthread_mutex_lock(&worker->lock);
    while (worker->job_count > 0 && monotonic_ms() < until_ms) wait_until(worker, until_ms);
    LIST_EACH (node, &worker->running) give_up(container_of(node, Job, link), JOB_STOPPING);
    while (worker->job_count > 0) wait_until(worker, INT64_MAX); // SIGKILL ends them all
    until_ms = monotonic_ms() + LAST_MOMENT_MS;
    while (worker->item_count > 0 && monotonic_ms() < until_ms) wait_until(worker, until_ms);
    worker->has_ended = true;
    note_change(worker);
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
        void *(*const first[])(void *) = {perform_forever, send_forever, beat_forever};
        bool is_last = started == count - 1; // claims begin when everybody is there
        void *(*const body)(void *) = is_last ? claim_forever : first[started < 3 ? started : 0];
        status = thread_start(&threads[started], body, &worker, diag);
    }
    if (status == OK) wait_for_signal();
    LOG(config->logger, LOG_INFO, "stopping");
    wind_up(&worker);
    for (size_t i = 0; i < started; i++) pthread_join(threads[i], NULL);
    free_items(&worker, &worker.outbox);
    mem_free(threads);
    pthread_cond_destroy(&worker.changed);
    pthread_mutex_destroy(&worker.lock);
    *ret_http_status = worker.failure != OK ? worker.failure_http_status : 0;
    if (status != OK) return status;
    if (worker.failure != OK) *diag = worker.failure_diag;
    return worker.failure;
}

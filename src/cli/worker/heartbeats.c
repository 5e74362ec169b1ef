// Heartbeats of a worker: one thread renews the leases of all tasks that it has [worker-3].
//
// The answers say which tasks are not wanted any more; those are asked to end.
//
// Not here: how a task ends (worker/program.c).
#include "cli/worker/internal.h"
#include "json/write.h"

// Writes a request for those that are due, or will be soon; with the lock held. False: none is, and
// *ret_next_ms says when one will be.
static bool write_heartbeats(Worker *worker, Buf *body, int64_t *ret_next_ms) {
    int64_t now_ms = worker_monotonic_ms();
    *ret_next_ms = INT64_MAX;
    List *const lists[] = {&worker->todo, &worker->running};
    for (size_t i = 0; i < 2; i++)
        LIST_EACH (node, lists[i]) {
            int64_t at_ms = container_of(node, Job, link)->next_heartbeat_ms;
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
            if (job->next_heartbeat_ms > now_ms + job->interval_ms / 2 || count == WORKER_BATCH_MAX)
                continue;
            count++;
            job->next_heartbeat_ms = now_ms + job->interval_ms;
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

static void read_heartbeats(Worker *worker, const JsonValue *answer) {
    const JsonValue *tasks = NULL;
    if (json_get_array(answer, "tasks", &tasks, NULL) != OK || tasks == NULL) return;
    pthread_mutex_lock(&worker->lock);
    JSON_EACH (task, tasks) {
        Str id = STR_NULL, status = STR_NULL;
        if (json_get_string(task, "id", &id, NULL) != OK ||
            json_get_string(task, "status", &status, NULL) != OK)
            continue;
        Job *job = str_equal(status, STR("accepted")) ? NULL : find_running(worker, id);
        if (job != NULL && str_equal(status, STR("cancelled"))) worker_give_up(job, JOB_CANCELLED);
        else if (job != NULL) worker_give_up(job, JOB_LEASE_LOST);
    }
    pthread_mutex_unlock(&worker->lock);
}

static void send_once(Worker *worker, Client *client, const Buf *body) { // [worker-3]
    Arena arena;
    ClientAnswer answer;
    Diag diag;
    arena_init(&arena);
    const ClientRequest request = worker_post("/v1/tasks/heartbeat", body, 0);
    if (client_call(client, &arena, &request, &answer, &diag) == OK)
        read_heartbeats(worker, answer.json);
    else LOG(worker->config->logger, LOG_WARN, "heartbeat: %s (%s)", diag.message, diag.code);
    arena_done(&arena);
}

void *heartbeats_send_forever(void *context) {
    Worker *worker = context;
    Client *client = worker_open_client(worker);
    Buf body;
    buf_init(&body, WORKER_BODY_MAX);
    pthread_mutex_lock(&worker->lock);
    while (!worker->has_ended) {
        int64_t next_ms;
        buf_clear(&body);
        if (!write_heartbeats(worker, &body, &next_ms)) {
            worker_wait_until(worker, next_ms);
            continue;
        }
        pthread_mutex_unlock(&worker->lock);
        send_once(worker, client, &body);
        pthread_mutex_lock(&worker->lock);
    }
    pthread_mutex_unlock(&worker->lock);
    buf_done(&body);
    client_close(client);
    return NULL;
}

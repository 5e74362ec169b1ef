// What a worker tells the server: results, errors, tasks that are handed back.
//
// One thread sends. What is ready together travels together [worker-2]; when the server refuses a
// batch for good, each item is sent alone, so that one does not hold up the others.
//
// Not here: where outcomes come from (worker/loop.c, worker/program.c).
#include "base/memory.h"
#include "cli/worker/internal.h"
#include "json/write.h"

enum { BATCH_SIZE = 1 << 20 }; // bytes, unless one item alone has more

typedef struct Item { // something to be told about a task
    List link;
    Str id;             // in one block behind this struct, …
    JobOutcome outcome; // … and its JSON
    int64_t token;
} Item;

void outbox_add(Worker *worker, const Job *job, JobOutcome outcome) {
    Str id = job->id, json = outcome.json;
    char *block = mem_alloc(sizeof(Item) + id.len + json.len);
    Item *item = (Item *)(void *)block;
    char *texts = block + sizeof(Item);
    memcpy(texts, id.data, id.len);
    if (json.len > 0) memcpy(texts + id.len, json.data, json.len);
    *item = (Item){.id = {texts, id.len},
                   .outcome = {outcome.kind, {texts + id.len, json.len}},
                   .token = job->token};
    list_append(&worker->outbox, &item->link);
    worker->item_count++;
    worker_note_change(worker);
}

void outbox_free(Worker *worker, List *items) {
    pthread_mutex_lock(&worker->lock);
    LIST_EACH_SAFE (node, after, items) {
        list_remove(node);
        mem_free(container_of(node, Item, link));
        worker->item_count--;
    }
    worker_note_change(worker);
    pthread_mutex_unlock(&worker->lock);
}

// Waits for items and moves up to a batch of them; false: the worker has ended.
static bool take_items(Worker *worker, List *ret_items) {
    list_init(ret_items);
    pthread_mutex_lock(&worker->lock);
    while (list_is_empty(&worker->outbox) && !worker->has_ended)
        worker_wait_until(worker, INT64_MAX);
    size_t size = 0;
    for (int count = 0; count < WORKER_BATCH_MAX && (count == 0 || size < BATCH_SIZE); count++) {
        List *node = list_first(&worker->outbox);
        if (node == NULL) break;
        size += container_of(node, Item, link)->outcome.json.len;
        list_remove(node);
        list_append(ret_items, node);
    }
    pthread_mutex_unlock(&worker->lock);
    return !list_is_empty(ret_items);
}

static void write_items(Buf *body, const List *items) {
    static const char *const members[] = {[JOB_RESULT] = "result", [JOB_ERROR] = "error"};
    JsonWriter json;
    json_writer_init(&json, body, STR_NULL);
    json_write_object_begin(&json);
    json_write_key(&json, STR("results"));
    json_write_array_begin(&json);
    LIST_EACH (node, items) {
        const Item *item = container_of(node, Item, link);
        json_write_object_begin(&json);
        json_put_string(&json, "id", item->id);
        json_put_i64(&json, "token", item->token);
        if (item->outcome.kind == JOB_RELEASED) json_put_bool(&json, "release", true);
        else json_put_raw(&json, members[item->outcome.kind], item->outcome.json);
        json_write_object_end(&json);
    }
    json_write_array_end(&json);
    json_write_object_end(&json);
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

// [worker-2] Answers the HTTP status: 2xx, or a refusal for good. 0: the worker has ended before.
static int tell(Worker *worker, Client *client, const List *items, Diag *diag) {
    Buf body;
    buf_init(&body, WORKER_BODY_MAX);
    write_items(&body, items);
    const ClientRequest request = worker_post("/v1/tasks/complete", &body, 0);
    int64_t pause_ms = WORKER_PAUSE_MS;
    int http_status = 0;
    for (bool is_told = false; !is_told;) {
        Arena arena;
        ClientAnswer answer;
        arena_init(&arena);
        Status status = client_call(client, &arena, &request, &answer, diag);
        is_told = status == OK || worker_is_permanent(answer.http_status);
        if (status == OK) note_verdicts(worker, answer.json);
        http_status = is_told ? answer.http_status : 0;
        arena_done(&arena);
        if (is_told) break;
        LOG(worker->config->logger, LOG_WARN, "telling outcomes: %s (%s)", diag->message,
            diag->code);
        worker_pause(worker, &pause_ms, false);
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
        if (worker_is_permanent(http_status)) {
            LOG(worker->config->logger, LOG_ERROR, "%.*s: its outcome was refused: %s (%s)",
                STR_ARG(item->id), diag.message, diag.code);
            if (item->outcome.kind == JOB_RESULT) {
                item->outcome =
                    (JobOutcome){JOB_ERROR, STR("{\"type\":\"ResultError\",\"retryable\":false,"
                                                "\"message\":\"the server refused the result\"}")};
                (void)tell(worker, client, &one, &diag);
            }
        }
        outbox_free(worker, &one);
    }
}

void *outbox_send_forever(void *context) {
    Worker *worker = context;
    Client *client = worker_open_client(worker);
    List items;
    while (take_items(worker, &items)) {
        Diag diag;
        if (worker_is_permanent(tell(worker, client, &items, &diag)))
            tell_one_by_one(worker, client, &items);
        outbox_free(worker, &items);
    }
    client_close(client);
    return NULL;
}

// What is known of workers, of all nodes alike: each node's part is the JSON it tells the others.
//
// It is made and read again for this node too. That costs something, but is done only when somebody
// looks, or when a task has been waiting for seconds; and so there is one form to be read.
//
// Invariants [workers-1]-[workers-3] are in workers.h.
#include "base/limits.h"
#include "base/text/suggest.h"
#include "server/exchange/render.h"
#include "server/server.h"
#include <stdlib.h>

enum { NAMES_MAX = 1000, DESCRIPTION_MAX = 4 << 20 };

// ---- writing ----

static void put_list(JsonWriter *json, const char *key, Str joined) {
    Str left = joined, piece;
    json_write_key(json, str_from(key));
    if (joined.len == 0) {
        json_write_null(json); // any
        return;
    }
    json_write_array_begin(json);
    while (str_split(&left, '\n', &piece)) json_write_string(json, piece);
    json_write_array_end(json);
}

static void put_ask(JsonWriter *json, const WorkerAsk *ask) {
    put_list(json, "queues", ask->queues);
    put_list(json, "names", ask->names);
}

typedef struct Describing {
    JsonWriter json;
    Str node;
    int64_t now_ms;
    bool is_brief;
} Describing;

// The minute that goes on and those before it, WORKER_RECENT_MINUTES in all.
static void put_recent(const Describing *describing, JsonWriter *json, const Worker *worker) {
    WorkerMinute sum = {.minute = describing->now_ms / 60000};
    for (int i = 0; i < WORKER_RECENT_MINUTES; i++) {
        const WorkerMinute *one = &worker->recent[i];
        if (one->minute <= sum.minute - WORKER_RECENT_MINUTES) continue;
        sum.claimed += one->claimed;
        sum.completed += one->completed;
        sum.failed += one->failed;
    }
    double minutes = (double)(describing->now_ms - worker->first_claim_ms) / 60000;
    if (minutes > WORKER_RECENT_MINUTES) minutes = WORKER_RECENT_MINUTES;
    if (minutes < 1) minutes = 1;
    json_write_key(json, STR("recent"));
    json_write_object_begin(json);
    json_put_i64(json, "claimed", sum.claimed);
    json_put_i64(json, "completed", sum.completed);
    json_put_i64(json, "failed", sum.failed);
    json_put_number(json, "per_minute", (double)(sum.completed + sum.failed) / minutes);
    json_write_object_end(json);
}

// A claim that waits is a sign of life all the time.
static int64_t last_seen_ms(const Describing *describing, const Worker *worker) {
    if (worker->waiting > 0) return describing->now_ms;
    return worker->last_report_ms > worker->last_claim_ms ? worker->last_report_ms
                                                          : worker->last_claim_ms;
}

static void put_worker(Describing *describing, const Worker *worker) {
    JsonWriter *json = &describing->json;
    bool is_present =
        !worker->has_left && // [workers-2]
        (worker->waiting > 0 || describing->now_ms - worker->last_claim_ms < WORKER_PRESENT_MS);
    json_write_object_begin(json);
    json_put_string(json, "id", worker->id);
    json_put_string(json, "node", describing->node);
    put_ask(json, &worker->asks[0]);
    json_write_key(json, STR("asks"));
    json_write_array_begin(json);
    for (size_t i = 0; i < worker->ask_count; i++) {
        json_write_object_begin(json);
        put_ask(json, &worker->asks[i]);
        json_write_object_end(json);
    }
    json_write_array_end(json);
    json_put_bool(json, "present", is_present);
    if (!describing->is_brief) {
        json_put_i64(json, "waiting", worker->waiting);
        render_instant(json, "first_claim_at", worker->first_claim_ms);
        render_instant(json, "last_claim_at", worker->last_claim_ms);
        json_put_i64(json, "handed_out", worker->handed_out);
        json_put_i64(json, "completed", worker->completed);
        json_put_i64(json, "failed", worker->failed);
        render_instant(json, "last_seen_at", last_seen_ms(describing, worker));
        put_recent(describing, json, worker);
        json_put_string(json, "library", worker->library);
    }
    json_write_object_end(json);
}

static int compare_age(const void *a, const void *b) { // most recently seen first
    const Worker *first = *(const Worker *const *)a, *second = *(const Worker *const *)b;
    if (first->last_claim_ms != second->last_claim_ms)
        return first->last_claim_ms > second->last_claim_ms ? -1 : 1;
    return str_compare(first->id, second->id);
}

static int compare_id(const void *a, const void *b) {
    return str_compare((*(const Worker *const *)a)->id, (*(const Worker *const *)b)->id);
}

static void put_workers(Describing *describing, Workers *workers, Arena *arena) {
    Str id;
    void *worker;
    size_t count = 0;
    pthread_mutex_lock(&workers->lock);
    const Worker **sorted = ARENA_ARRAY(arena, const Worker *, workers->by_id.count + 1);
    for (size_t at = 0; strmap_next(&workers->by_id, &at, &id, &worker);) sorted[count++] = worker;
    qsort(sorted, count, sizeof *sorted, describing->is_brief ? compare_id : compare_age);
    for (size_t i = 0; i < count; i++) put_worker(describing, sorted[i]);
    pthread_mutex_unlock(&workers->lock);
}

Str workers_describe(Server *server, Arena *arena, bool is_brief) {
    Buf text;
    buf_init(&text, DESCRIPTION_MAX);
    Describing describing = {.node = engine_node_name(server->engine),
                             .now_ms = engine_now_ms(server->engine),
                             .is_brief = is_brief};
    JsonWriter *json = &describing.json;
    json_writer_init(json, &text, STR_NULL);
    json_write_object_begin(json);
    json_put_string(json, "node", describing.node);
    json_write_key(json, STR("tasks"));
    json_write_array_begin(json);
    Str *names;
    size_t count = engine_task_names(server->engine, arena, &names);
    for (size_t i = 0; i < count; i++) json_write_string(json, names[i]);
    json_write_array_end(json);
    json_write_key(json, STR("workers"));
    json_write_array_begin(json);
    put_workers(&describing, &server->workers, arena);
    json_write_array_end(json);
    json_write_object_end(json);
    Str answer = arena_str(arena, buf_str(&text));
    buf_done(&text);
    return answer;
}

// ---- reading ----

WorkersView workers_view(Server *server, Arena *arena) {
    Workers *workers = &server->workers;
    WorkersView view = {0};
    JsonValue *node;
    Str own = workers_describe(server, arena, false);
    pthread_mutex_lock(&workers->lock);
    view.nodes = ARENA_ARRAY(arena, const JsonValue *, workers->others.count + 1);
    if (json_parse(arena, own, &node, NULL) == OK) view.nodes[view.count++] = node;
    for (size_t i = 0; i < workers->others.count; i++) {
        Str text = arena_str(arena, workers->others.data[i].json);
        if (json_parse(arena, text, &node, NULL) == OK) view.nodes[view.count++] = node;
    }
    pthread_mutex_unlock(&workers->lock);
    return view;
}

static bool list_has(const JsonValue *list, Str text) {
    if (list == NULL || list->kind != JSON_KIND_ARRAY) return false;
    JSON_EACH (item, list)
        if (str_equal(item->string, text)) return true;
    return false;
}

static bool ask_takes(const JsonValue *ask, Str queue, Str name) {
    const JsonValue *names = json_member(ask, STR("names"));
    bool is_any = names == NULL || names->kind == JSON_KIND_NULL;
    return list_has(json_member(ask, STR("queues")), queue) && (is_any || list_has(names, name));
}

static bool worker_takes(const JsonValue *worker, Str queue, Str name) {
    const JsonValue *asks = json_member(worker, STR("asks"));
    if (asks != NULL)
        JSON_EACH (ask, asks)
            if (ask_takes(ask, queue, name)) return true;
    return false;
}

static bool is_present(const JsonValue *worker) {
    bool answer = false;
    return json_get_bool(worker, "present", &answer, NULL) == OK && answer;
}

// Each worker of each node: WORKERS_EACH(worker, view) { … }
static const JsonValue *first_worker(const JsonValue *node) {
    const JsonValue *workers = json_member(node, STR("workers"));
    return workers != NULL ? workers->first : NULL;
}
#define WORKERS_EACH(worker, view)                                                                 \
    for (size_t node_ = 0; node_ < (view)->count; node_++)                                         \
        for (const JsonValue *worker = first_worker((view)->nodes[node_]); worker;                 \
             worker = worker->next)

bool workers_serve(const WorkersView *view, Str queue, Str name) {
    for (size_t i = 0; i < view->count; i++)
        if (list_has(json_member(view->nodes[i], STR("tasks")), name)) return true;
    WORKERS_EACH (worker, view)
        if (is_present(worker) && worker_takes(worker, queue, name)) return true;
    return false;
}

bool workers_does(const WorkersView *view, Str id, Str queue, Str name) {
    WORKERS_EACH (worker, view) {
        const JsonValue *own = json_member(worker, STR("id"));
        bool is_it = own != NULL && str_equal(own->string, id);
        if (is_it && worker_takes(worker, queue, name)) return true;
    }
    return false;
}

// ---- explaining ----

typedef struct Gathered { // a set of names
    Arena *arena;
    const char *names[NAMES_MAX];
    size_t count;
} Gathered;

// With `initial` only names that begin with it; 0: all.
static void gather(Gathered *gathered, const JsonValue *list, char initial) {
    if (list == NULL || list->kind != JSON_KIND_ARRAY) return;
    JSON_EACH (item, list) {
        size_t place = 0;
        if (initial != 0 && (item->string.len == 0 || item->string.data[0] != initial)) continue;
        while (place < gathered->count &&
               !str_equal(str_from(gathered->names[place]), item->string))
            place++;
        if (place < gathered->count || place == NAMES_MAX) continue;
        gathered->names[gathered->count++] = arena_cstr(gathered->arena, item->string);
    }
}

static Str gathered_join(const Gathered *gathered) {
    Buf text;
    buf_init(&text, NAMES_MAX * (LIMIT_NAME_SIZE + 1));
    for (size_t i = 0; i < gathered->count; i++)
        buf_printf(&text, "%s%s", i > 0 ? "\n" : "", gathered->names[i]);
    Str joined = arena_str(gathered->arena, buf_str(&text));
    buf_done(&text);
    return joined;
}

void workers_explain(const WorkersView *view, Arena *arena, Unserved *unserved) {
    Gathered *asked = ARENA_NEW(arena, Gathered), *queues = ARENA_NEW(arena, Gathered);
    asked->arena = queues->arena = arena;
    WORKERS_EACH (worker, view) {
        const JsonValue *asks = json_member(worker, STR("asks"));
        if (!is_present(worker) || asks == NULL) continue;
        JSON_EACH (ask, asks) {
            const JsonValue *own = json_member(ask, STR("queues"));
            const JsonValue *names = json_member(ask, STR("names"));
            if (list_has(own, unserved->queue)) gather(asked, names, 0);
            else if (names == NULL || list_has(names, unserved->name)) gather(queues, own, 0);
        }
    }
    unserved->asked = gathered_join(asked);
    unserved->other_queues = gathered_join(queues);
    // A built-in may be meant; but "mail" is not "fail".
    char initial = unserved->name.len > 0 ? unserved->name.data[0] : '?';
    for (size_t i = 0; i < view->count; i++)
        gather(asked, json_member(view->nodes[i], STR("tasks")), initial);
    unserved->did_you_mean = suggest_nearest(unserved->name, asked->names, asked->count);
}

static void put_names(JsonWriter *json, const char *key, Str joined) {
    Str left = joined, piece;
    json_write_key(json, str_from(key));
    json_write_array_begin(json);
    while (joined.len > 0 && str_split(&left, '\n', &piece)) json_write_string(json, piece);
    json_write_array_end(json);
}

void render_unserved(JsonWriter *json, const Unserved *unserved) {
    json_write_object_begin(json);
    json_put_string(json, "queue", unserved->queue);
    json_put_string(json, "name", unserved->name);
    json_put_string(json, "task_id", unserved->task_id);
    render_instant(json, "since", unserved->since_ms);
    put_names(json, "asked", unserved->asked);
    put_names(json, "other_queues", unserved->other_queues);
    json_put_cstr(json, "did_you_mean", unserved->did_you_mean);
    json_write_object_end(json);
}

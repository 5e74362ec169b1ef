// Workers: who asks for tasks, what can be done without them, and what nobody asks for.
//
// Each node knows who asked it, and tells the others in its row when that changes; so the answer is
// the same whichever node is asked, but for a second.
//
// Not here: how it is found out (workers.h).
#include "server/observe/workers.h"
#include "base/array.h"
#include "server/exchange/parts.h"

static void put_nodes(JsonWriter *json, const WorkersView *view) {
    json_write_key(json, STR("functions"));
    json_write_array_begin(json);
    for (size_t i = 0; i < view->count; i++) {
        json_write_object_begin(json);
        json_write_key(json, STR("node"));
        json_write_value(json, json_member(view->nodes[i], STR("node")));
        json_write_key(json, STR("names"));
        json_write_value(json, json_member(view->nodes[i], STR("tasks")));
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

// The worker as its node describes it, and how many tasks it has now.
static void put_worker(JsonWriter *json, const JsonValue *worker, const TaskPage *leased) {
    const JsonValue *id = json_member(worker, STR("id"));
    int64_t held = 0;
    for (size_t i = 0; i < leased->count && id != NULL; i++)
        held += str_equal(leased->rows[i].worker, id->string);
    json_write_object_begin(json);
    JSON_EACH (member, worker) {
        json_write_key(json, member->key);
        json_write_value(json, member);
    }
    json_put_i64(json, "held", held);
    json_write_object_end(json);
}

static void put_workers(JsonWriter *json, const WorkersView *view, const TaskPage *leased) {
    json_write_key(json, STR("items"));
    json_write_array_begin(json);
    for (size_t i = 0; i < view->count; i++) {
        const JsonValue *workers = json_member(view->nodes[i], STR("workers"));
        if (workers != NULL)
            JSON_EACH (worker, workers) put_worker(json, worker, leased);
    }
    json_write_array_end(json);
}

static void put_unserved(Exchange *exchange, JsonWriter *json, const WorkersView *view) {
    Unserved *found;
    Arena *arena = &exchange->arena;
    size_t count = workers_get_unserved(&exchange->server->workers, arena, &found);
    json_write_key(json, STR("unserved"));
    json_write_array_begin(json);
    for (size_t i = 0; i < count; i++) {
        workers_explain(view, arena, &found[i]);
        render_unserved(json, &found[i]);
    }
    json_write_array_end(json);
}

static void list_workers(Exchange *exchange) {
    workers_read_others(exchange->server, &exchange->arena);
    WorkersView view = workers_view(exchange->server, &exchange->arena);
    TaskPage leased;
    Diag diag = {0};
    Status status = workers_read_leased(exchange->server, &exchange->arena, &leased, &diag);
    if (!exchange_found(exchange, status, &diag)) return;
    JsonWriter *json = exchange_begin(exchange, 200);
    json_write_object_begin(json);
    put_workers(json, &view, &leased);
    json_put_null(json, "next");
    put_nodes(json, &view);
    put_unserved(exchange, json, &view);
    json_write_object_end(json);
    exchange_send(exchange);
}

static const RouteAnswer list_answers[] = {
    {200, "Workers seen lately, the functions of each node, and what nobody asks for.",
     "WorkerList"},
    {0}};

static const Route routes[] = {
    {"GET", "/v1/workers", "listWorkers", "Who asks for tasks, and what nobody asks for",
     SCOPE_READ, BODY_NONE, NULL, NULL, list_answers, NULL, list_workers},
};
const RouteTable routes_workers = {routes, COUNT_OF(routes)};

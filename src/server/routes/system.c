// Health, version, statistics.
//
// livez says that the process answers; readyz that it can do its work, so it goes red when the
// store is away or full or the server is stopping, and green again by itself.
//
// Not here: what the counters count (store/, engine/).
#include "base/array.h"
#include "server/exchange/parts.h"
#include "server/openapi/openapi.h"
#include <sys/statvfs.h>

static void send_word(Exchange *exchange, int http_status, const char *word) {
    JsonWriter *json = exchange_begin(exchange, http_status);
    json_write_object_begin(json);
    json_put_cstr(json, "status", word);
    json_write_object_end(json);
    exchange_send(exchange);
}

static void livez(Exchange *exchange) { send_word(exchange, 200, "alive"); }

static bool read_stats(Exchange *exchange, StoreStats *ret_stats) {
    Diag diag = {0};
    Status status = store_stats(exchange_store(exchange), &exchange->arena, ret_stats, &diag);
    return exchange_found(exchange, status, &diag);
}

// Ready when the store answers and the server is not going away.
static void readyz(Exchange *exchange) {
    if (server_is_stopping(exchange->server)) {
        send_word(exchange, 503, "stopping");
        return;
    }
    StoreStats figures;
    if (!read_stats(exchange, &figures)) return;
    Status status = engine_store_status(exchange->server->engine);
    if (status == OK) {
        send_word(exchange, 200, "ready");
    } else if (status == ERR_FULL) {
        exchange_refuse_with(exchange, status, "STORE_FULL",
                             "the store has no room for what this node writes; it can be read; "
                             "make room, it is tried again");
    } else {
        exchange_refuse_with(exchange, ERR_UNAVAILABLE, "STORE_UNAVAILABLE",
                             "the store answers, but does not take what this node writes; it is "
                             "asked again");
    }
}

static void send_metrics(Exchange *exchange) {
    Buf text;
    buf_init(&text, METRICS_TEXT_MAX);
    metrics_write(exchange->server, &exchange->arena, &text);
    exchange_send_text(exchange, 200, "text/plain; version=0.0.4; charset=utf-8", buf_str(&text));
    buf_done(&text);
}

static void send_openapi(Exchange *exchange) {
    openapi_write(exchange_begin(exchange, 200));
    exchange_send(exchange);
}

static void version(Exchange *exchange) {
    JsonWriter *json = exchange_begin(exchange, 200);
    json_write_object_begin(json);
    json_put_cstr(json, "version", abide_version());
    json_write_object_end(json);
    exchange_send(exchange);
}

static void put_runs(JsonWriter *json, const StoreStats *stats) {
    json_write_key(json, STR("runs"));
    json_write_object_begin(json);
    for (int64_t state = RUN_PENDING; state < RUN_STATE_COUNT; state++)
        json_put_i64(json, run_state_name(state), stats->counters[COUNTER_RUNS_FIRST + state]);
    json_write_object_end(json);
    json_write_key(json, STR("tasks"));
    json_write_object_begin(json);
    for (int64_t state = TASK_QUEUED; state < TASK_STATE_COUNT; state++)
        json_put_i64(json, task_state_name(state), stats->counters[COUNTER_TASKS_FIRST + state]);
    json_write_object_end(json);
}

// Bytes left on the disk of a store that is a file; -1 for any other.
static int64_t disk_free(Exchange *exchange) {
    Str url = exchange->server->config.store;
    if (str_starts_with(url, STR("sqlite:"))) url = (Str){url.data + 7, url.len - 7};
    else if (str_is_null(url) || memchr(url.data, ':', url.len) != NULL) return -1;
    struct statvfs disk;
    if (statvfs(arena_cstr(&exchange->arena, url), &disk) != 0) return -1;
    return (int64_t)(disk.f_bavail * disk.f_frsize);
}

static void stats(Exchange *exchange) {
    StoreStats figures;
    if (!read_stats(exchange, &figures)) return;
    const int64_t *counters = figures.counters;
    abide_stats own;
    abide_error error;
    if (abide_get_stats(exchange->server->engine, &own, &error) != ABIDE_OK) {
        exchange_refuse_with(exchange, ERR_UNAVAILABLE, error.name, "%s", error.message);
        return;
    }
    JsonWriter *json = exchange_begin(exchange, 200);
    json_write_object_begin(json);
    put_runs(json, &figures);
    json_put_i64(json, "pending_events", counters[COUNTER_EVENTS]);
    json_put_i64(json, "pending_signals", counters[COUNTER_SIGNALS]);
    json_put_i64(json, "dead_letters", counters[COUNTER_DEAD_LETTERS]);
    json_put_i64(json, "schedules", counters[COUNTER_SCHEDULES]);
    json_put_i64(json, "started_total", counters[COUNTER_STARTED_TOTAL]);
    json_put_i64(json, "completed_total", counters[COUNTER_COMPLETED_TOTAL]);
    json_put_i64(json, "failed_total", counters[COUNTER_FAILED_TOTAL]);
    json_put_i64(json, "cancelled_total", counters[COUNTER_CANCELLED_TOTAL]);
    json_put_i64(json, "resident_runs", own.resident_runs);
    json_put_i64(json, "active_runs", own.active_runs);
    json_put_i64(json, "commits", own.commits);
    json_put_i64(json, "committed_operations", own.committed_operations);
    json_put_i64(json, "turns", own.turns);
    int64_t free_size = disk_free(exchange);
    if (free_size >= 0) json_put_i64(json, "disk_free_bytes", free_size);
    else json_put_null(json, "disk_free_bytes");
    render_instant(json, "server_started_at", exchange->server->started_at_ms);
    json_write_object_end(json);
    exchange_send(exchange);
}

static void put_node(Exchange *exchange, JsonWriter *json, const void *row) {
    const NodeStat *stat = row;
    const NodeRow *node = &stat->row;
    json_write_object_begin(json);
    json_put_i64(json, "id", node->key);
    json_put_string(json, "name", node->name);
    if (str_is_null(node->version)) json_put_null(json, "version");
    else json_put_string(json, "version", node->version);
    json_put_bool(json, "alive", node->lease_until_ms > exchange_now_ms(exchange));
    render_instant(json, "started_at", node->started_at_ms);
    render_instant(json, "lease_until", node_end_ms(node));
    json_put_i64(json, "executing", stat->run_count);
    json_put_i64(json, "resident", node->resident_count);
    json_write_object_end(json);
}

// Of ourselves we know it without asking.
static void own_figures_fill(Exchange *exchange, NodePage *page) {
    EngineNode own = engine_node(exchange->server->engine);
    for (size_t i = 0; i < page->count; i++) {
        if (page->rows[i].row.key != own.key) continue;
        page->rows[i].row.resident_count = own.resident_count;
        page->rows[i].run_count = own.active_count;
    }
}

static void list_nodes(Exchange *exchange) {
    const PageSpec all = {.limit = LIMIT_LIST_PAGE}; // there are never more
    NodePage page;
    Diag diag = {0};
    Status status =
        store_list_nodes(exchange_store(exchange), &exchange->arena, &all, &page, &diag);
    if (!exchange_found(exchange, status, &diag)) return;
    own_figures_fill(exchange, &page);
    parts_send_page(exchange, ROW_LIST(page), 0, put_node);
}

static void list_settings(Exchange *exchange) {
    JsonWriter *json = exchange_begin(exchange, 200);
    json_write_object_begin(json);
    json_put_raw(json, "items", server_settings(exchange->server, &exchange->arena));
    json_put_null(json, "next");
    json_write_object_end(json);
    exchange_send(exchange);
}

static const RouteAnswer word_answers[] = {{200, "It is.", "Health"}, {0}};
static const RouteAnswer ready_answers[] = {
    {200, "It is.", "Health"}, {503, "It is going away.", "Health"}, {0}};
static const RouteAnswer version_answers[] = {{200, "The version.", "Version"}, {0}};
static const RouteAnswer metrics_answers[] = {
    {200, "The families of docs/metrics.md.", "text/plain"}, {0}};
static const RouteAnswer openapi_answers[] = {{200, "An OpenAPI 3.1 document.", "application/json"},
                                              {0}};
static const RouteAnswer stats_answers[] = {{200, "Counters.", "Stats"}, {0}};
static const RouteAnswer nodes_answers[] = {{200, "The nodes.", "NodeList"}, {0}};

static const RouteAnswer settings_answers[] = {{200, "The settings.", "SettingList"}, {0}};

static const Route routes[] = {
    {"GET", "/livez", "livez", "Is the process alive?", SCOPE_NONE, BODY_NONE, NULL, NULL,
     word_answers, NULL, livez},
    {"GET", "/readyz", "readyz", "Can it serve?", SCOPE_NONE, BODY_NONE, NULL, NULL, ready_answers,
     NULL, readyz},
    {"GET", "/healthz", "healthz", "Can it serve?", SCOPE_NONE, BODY_NONE, NULL, NULL,
     ready_answers, NULL, readyz},
    {"GET", "/metrics", "metrics", "Figures in Prometheus' text format", SCOPE_READ, BODY_NONE,
     NULL, NULL, metrics_answers, NULL, send_metrics},
    {"GET", "/openapi.json", "openapi", "This document", SCOPE_NONE, BODY_NONE, NULL, NULL,
     openapi_answers, NULL, send_openapi},
    {"GET", "/version", "version", "Version of the server", SCOPE_NONE, BODY_NONE, NULL, NULL,
     version_answers, NULL, version},
    {"GET", "/v1/stats", "stats", "Counters", SCOPE_READ, BODY_NONE, NULL, NULL, stats_answers,
     NULL, stats},
    {"GET", "/v1/nodes", "listNodes", "Members of the cluster", SCOPE_READ, BODY_NONE, NULL, NULL,
     nodes_answers, NULL, list_nodes},
    {"GET", "/v1/settings", "listSettings", "What this node was told", SCOPE_ADMIN, BODY_NONE, NULL,
     NULL, settings_answers, NULL, list_settings},
};
const RouteTable routes_system = {routes, COUNT_OF(routes)};

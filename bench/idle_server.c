// bench-idle: the real server, killed and started again on the file of many waiting runs.
//
// Only scripts are woken: their C functions are not in that server.
//
// Not here: the engine in process (idle.c).
#include "idle_server.h"
#include "bench.h"
#include "http.h"
#include "idle_runs.h"
#include "served.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Reply {
    int status;
    char body[4096];
} Reply;

static void keep(HttpConnection *connection, int status, char *body, size_t len) {
    Reply *reply = connection->context;
    if (len >= sizeof reply->body) len = sizeof reply->body - 1;
    memcpy(reply->body, body, len);
    reply->body[len] = 0;
    reply->status = status;
}

static void ask(HttpConnection *connection, const char *method, const char *target,
                const char *body) {
    Reply *reply = connection->context;
    reply->status = 0;
    http_send(connection, method, target, body, body != NULL ? strlen(body) : 0);
    while (reply->status == 0) http_turn(connection->http, -1);
    if (reply->status < 400) return;
    fprintf(stderr, "bench-idle: %s %s: %s\n", method, target, reply->body);
    exit(1);
}

static void wake(HttpConnection *connection, int64_t number) {
    char target[100], expected[100];
    const Reply *reply = connection->context;
    snprintf(target, sizeof target, "/v1/runs/r%07lld/signals/go", (long long)number);
    ask(connection, "POST", target, "\"x\"");
    snprintf(target, sizeof target, "/v1/runs/r%07lld/result?wait=60s", (long long)number);
    ask(connection, "GET", target, NULL);
    snprintf(expected, sizeof expected, "[%lld,\"x\"]", (long long)number);
    if (strstr(reply->body, expected) != NULL) return;
    fprintf(stderr, "bench-idle: run %lld answered %s\n", (long long)number, reply->body);
    exit(1);
}

static void report(const char *group, const char *name, double value, const char *unit,
                   double limit) {
    char full[100];
    snprintf(full, sizeof full, "idle.%s.server.%s", group, name);
    bench_report(full, value, unit, limit);
}

// A script, about in the middle; `place` tells those of one server from each other.
static int64_t script_at(int64_t count, int64_t place) {
    int64_t number = count / 3 + place;
    return number % NATIVE_EVERY == 0 ? number + 1 : number;
}

void bench_idle_server(const char *directory, const char *group, int64_t count, double limit_ms) {
    enum { WAKES = 200 };
    char url[4300];
    snprintf(url, sizeof url, "sqlite:%s/idle.db", directory);
    Served served = served_start(url);
    served_end(&served, SIGKILL);
    Http http;
    Reply reply = {0};
    double start = bench_now();
    served = served_start(url);
    report(group, "listens", (bench_now() - start) * 1e3, "ms", 0);
    http_init(&http, served.port);
    HttpConnection *connection = http_open(&http, keep, &reply);
    wake(connection, script_at(count, 0));
    report(group, "first_resume", (bench_now() - start) * 1e3, "ms", limit_ms);
    report(group, "rss_at_start", (double)served_rss(&served) / 1e6, "MB", 200);
    double seconds[WAKES];
    for (int i = 0; i < WAKES; i++) {
        start = bench_now();
        wake(connection, script_at(count, 2 + (i + 1) * (count / 3 / WAKES)));
        seconds[i] = bench_now() - start;
    }
    report(group, "wake.p50", bench_quantile(seconds, WAKES, 0.5) * 1e3, "ms", 0);
    report(group, "wake.p99", bench_quantile(seconds, WAKES, 0.99) * 1e3, "ms", 0);
    ask(connection, "GET", "/v1/runs?limit=1000", NULL);
    report(group, "rss", (double)served_rss(&served) / 1e6, "MB", 200);
    http_close(connection);
    http_done(&http);
    served_end(&served, SIGTERM);
}

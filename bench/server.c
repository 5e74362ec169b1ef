// bench-server: the engine through HTTP, beside what the same server does with an empty request.
//
// The server is the real binary on SQLite (synchronous=FULL); the load comes from this process, on
// the same two processors: many connections on one thread (http.c). Figures:
//   server.livez      empty requests per second: the limit of the HTTP side
//   server.run1       start → complete of a flow with one task: starts in a closed loop that wait
//                     for the end of their runs, and a worker that claims and completes in batches
//   server.chain10    flows of ten tasks in a row, started before; a batch worker
//   server.drain      tasks without a run, queued before; a batch worker
//   server.node.*     the same with the worker library for Node
//   server.signal     one signal at a time, until a waiting reader has the run's result
//   server.stream     memory of the server per open event stream, with 10,000 of them
// Rates are by the wall clock; beside them stands the processor time the server took per task,
// which other load on the machine does not change much, and that of the worker in Node.
//
// Not here: pass or fail; the engine without HTTP (flows.c). BENCH_ONLY=chain10 picks one.
#include "bench.h"
#include "http.h"
#include "served.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CLAIM_MAX = 1000, SAMPLES_MAX = 100000 };

_Noreturn static void fail(const char *what) {
    fprintf(stderr, "bench-server: %s\n", what);
    exit(1);
}

// ---- the server ----

// Processor seconds a process has used so far.
static double process_cpu(pid_t process) {
    char path[64], text[1024];
    unsigned long user = 0, system = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
    FILE *file = fopen(path, "r");
    if (file == NULL || fgets(text, sizeof text, file) == NULL) fail("no stat");
    fclose(file);
    const char *at = strrchr(text, ')');
    if (at == NULL ||
        sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system) != 2)
        fail("no times");
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

// A rate, and the processor time behind it.
typedef struct Span {
    double start, cpu;
} Span;

static Span span_begin(const Served *served) {
    return (Span){bench_now(), process_cpu(served->process)};
}

static void span_report(const Served *served, const Span *span, const char *name, int64_t count,
                        double limit) {
    char cpu_name[100];
    double cpu = process_cpu(served->process) - span->cpu;
    bench_report(name, (double)count / (bench_now() - span->start), "tasks/s", limit);
    snprintf(cpu_name, sizeof cpu_name, "%s.cpu", name);
    bench_report(cpu_name, cpu / (double)count * 1e6, "us/task", 0);
}

// ---- one request at a time ----

typedef struct Reply {
    int status;
    char *body; // ended by NUL; replaced by the next one
} Reply;

static void keep_reply(HttpConnection *connection, int status, char *body, size_t len) {
    Reply *reply = connection->context;
    free(reply->body);
    reply->body = malloc(len + 1);
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
    if (reply->status >= 400) {
        fprintf(stderr, "bench-server: %s %s: %s\n", method, target, reply->body);
        exit(1);
    }
}

static void deploy(HttpConnection *connection) {
    ask(connection, "PUT", "/v1/workflows/chain",
        "for (let i = 0; i < Inputs; i++) await Task.run('quick', i)\nreturn true");
    ask(connection, "PUT", "/v1/workflows/gate", "return await Signal.next('go')");
}

static long counted(HttpConnection *connection, const char *group, const char *name) {
    char key[64];
    ask(connection, "GET", "/v1/stats", NULL);
    const Reply *reply = connection->context;
    snprintf(key, sizeof key, "\"%s\":{", group);
    const char *at = strstr(reply->body, key);
    if (at == NULL) fail("stats have changed");
    snprintf(key, sizeof key, "\"%s\":", name);
    at = strstr(at, key);
    return at == NULL ? 0 : strtol(at + strlen(key), NULL, 10);
}

// ---- a worker that takes and tells many at a time ----

typedef struct Crew {
    bool is_stopping;
    int64_t done;
    char *body; // of the completions being written
} Crew;

static void claim(HttpConnection *connection) {
    static const char body[] =
        "{\"worker\":\"bench\",\"names\":[\"quick\"],\"max\":1000,\"wait\":\"1s\"}";
    http_send(connection, "POST", "/v1/tasks/claim", body, sizeof body - 1);
}

// Finds each task's id and token in the answer and completes them all in one request.
static size_t write_results(char *out, char *body, size_t len) {
    size_t used = (size_t)snprintf(out, 32, "{\"results\":[");
    size_t count = 0;
    char *end = body + len;
    for (char *at = body; (at = memmem(at, (size_t)(end - at), "{\"id\":\"", 7)) != NULL;) {
        char *id = at + 7;
        char *quote = memchr(id, '"', (size_t)(end - id));
        char *token = memmem(quote, (size_t)(end - quote), "\"token\":", 8);
        if (token == NULL) break;
        used += (size_t)snprintf(out + used, 400, "%s{\"id\":\"%.*s\",\"token\":%ld,\"result\":1}",
                                 count > 0 ? "," : "", (int)(quote - id), id,
                                 strtol(token + 8, NULL, 10));
        count++;
        at = token;
    }
    used += (size_t)snprintf(out + used, 8, "]}");
    return count > 0 ? used : 0;
}

static void crew_answered(HttpConnection *connection, int status, char *body, size_t len) {
    Crew *crew = connection->context;
    if (status != 200) fail("a worker's request was refused");
    if (len > 11 && memcmp(body, "{\"results\":", 11) == 0) {
        for (char *at = body; (at = memmem(at, (size_t)(body + len - at), "accepted", 8)); at += 8)
            crew->done++;
        return;
    }
    size_t used = write_results(crew->body, body, len);
    if (used > 0) http_send(connection, "POST", "/v1/tasks/complete", crew->body, used);
    if (!crew->is_stopping) claim(connection); // behind it, on the same connection
}

enum { CREW_SIZE = 4 };

static void crew_begin(Http *http, Crew *crew, HttpConnection **connections) {
    *crew = (Crew){.body = malloc((size_t)CLAIM_MAX * 400)};
    for (int i = 0; i < CREW_SIZE; i++) {
        connections[i] = http_open(http, crew_answered, crew);
        claim(connections[i]);
    }
}

static void crew_end(Crew *crew, HttpConnection **connections) {
    for (int i = 0; i < CREW_SIZE; i++) http_close(connections[i]);
    free(crew->body);
}

// ---- empty requests ----

typedef struct Flood {
    int64_t done;
    bool is_stopping;
} Flood;

static void flood_answered(HttpConnection *connection, int status, char *body, size_t len) {
    (void)body, (void)len;
    Flood *flood = connection->context;
    if (status != 200) fail("livez");
    flood->done++;
    if (!flood->is_stopping) http_send(connection, "GET", "/livez", NULL, 0);
}

static double bench_livez(const Served *served) {
    enum { CONNECTIONS = 64, IN_FLIGHT = 4 };
    Http http;
    Flood flood = {0};
    HttpConnection *connections[CONNECTIONS];
    http_init(&http, served->port);
    for (int i = 0; i < CONNECTIONS; i++) {
        connections[i] = http_open(&http, flood_answered, &flood);
        for (int j = 0; j < IN_FLIGHT; j++) http_send(connections[i], "GET", "/livez", NULL, 0);
    }
    double start = bench_now();
    while (bench_now() - start < 2) http_turn(&http, 100);
    double rate = (double)flood.done / (bench_now() - start);
    for (int i = 0; i < CONNECTIONS; i++) http_close(connections[i]);
    http_done(&http);
    bench_report("server.livez", rate, "requests/s", 0);
    return rate;
}

// ---- start → complete ----

typedef struct Starter {
    int64_t left, open, count;
    double *times;
} Starter;

static void start_one(HttpConnection *connection) {
    Starter *starter = connection->context;
    static const char body[] = "{\"workflow\":\"chain\",\"input\":1}";
    if (starter->left == 0) return;
    starter->left--;
    starter->open++;
    connection->sent_at = bench_now();
    http_send(connection, "POST", "/v1/runs?wait=60s", body, sizeof body - 1);
}

static void start_answered(HttpConnection *connection, int status, char *body, size_t len) {
    Starter *starter = connection->context;
    if (status >= 300 || memmem(body, len, "\"completed\"", 11) == NULL) fail("a run did not end");
    starter->times[starter->count++] = bench_now() - connection->sent_at;
    starter->open--;
    start_one(connection);
}

// Closed loop: so many callers, each of which starts a run and waits for its end.
static void bench_run1(const Served *served, const char *worker, int callers, double limit) {
    int64_t total = callers == 1 ? 500 : 20000;
    Http http;
    Crew crew;
    HttpConnection *workers[CREW_SIZE];
    HttpConnection **connections = calloc((size_t)callers, sizeof *connections);
    Starter starter = {.left = total, .times = calloc((size_t)total, sizeof(double))};
    char name[64];
    http_init(&http, served->port);
    if (strcmp(worker, "batch") == 0) crew_begin(&http, &crew, workers);
    Span span = span_begin(served);
    for (int i = 0; i < callers; i++) {
        connections[i] = http_open(&http, start_answered, &starter);
        start_one(connections[i]);
    }
    while (starter.open > 0) http_turn(&http, 1000);
    snprintf(name, sizeof name, "server.%s.run1.callers%d", worker, callers);
    span_report(served, &span, name, total, limit);
    snprintf(name, sizeof name, "server.%s.run1.callers%d.p50", worker, callers);
    bench_report(name, bench_quantile(starter.times, (int)total, 0.5) * 1e3, "ms", 0);
    snprintf(name, sizeof name, "server.%s.run1.callers%d.p99", worker, callers);
    bench_report(name, bench_quantile(starter.times, (int)total, 0.99) * 1e3, "ms", 0);
    for (int i = 0; i < callers; i++) http_close(connections[i]);
    if (strcmp(worker, "batch") == 0) crew_end(&crew, workers);
    http_done(&http);
    free(connections);
    free(starter.times);
}

// ---- many tasks that are there already ----

static void send_many(const Served *served, const char *target, const char *body, int64_t count) {
    enum { CONNECTIONS = 256 };
    Http http;
    Reply replies[CONNECTIONS] = {0};
    HttpConnection *connections[CONNECTIONS];
    http_init(&http, served->port);
    for (int i = 0; i < CONNECTIONS; i++) {
        connections[i] = http_open(&http, keep_reply, &replies[i]);
        replies[i].status = 1;
    }
    for (int64_t sent = 0, is_open = 1; is_open;) {
        is_open = sent < count;
        for (int i = 0; i < CONNECTIONS; i++) {
            if (replies[i].status >= 300) fail(replies[i].body);
            if (replies[i].status != 0 && sent < count) {
                replies[i].status = 0;
                sent++;
                http_send(connections[i], "POST", target, body, strlen(body));
            }
            is_open |= replies[i].status == 0;
        }
        if (is_open) http_turn(&http, 100);
    }
    for (int i = 0; i < CONNECTIONS; i++) {
        http_close(connections[i]);
        free(replies[i].body);
    }
    http_done(&http);
}

// The batch worker of this process until `total` tasks are done.
static void drain(const Served *served, const char *name, int64_t total) {
    Http http;
    Crew crew;
    HttpConnection *workers[CREW_SIZE];
    http_init(&http, served->port);
    Span span = span_begin(served);
    crew_begin(&http, &crew, workers);
    while (crew.done < total) http_turn(&http, 1000);
    span_report(served, &span, name, total, 20000);
    crew_end(&crew, workers);
    http_done(&http);
}

static void bench_drain(const Served *served, double limit) {
    enum { TOTAL = 50000 };
    Span span = span_begin(served);
    send_many(served, "/v1/tasks", "{\"name\":\"quick\",\"input\":1}", TOTAL);
    span_report(served, &span, "server.queue", TOTAL, limit);
    drain(served, "server.batch.drain", TOTAL);
}

static void bench_chain(const Served *served) {
    enum { RUNS = 3000 };
    send_many(served, "/v1/runs", "{\"workflow\":\"chain\",\"input\":10}", RUNS);
    drain(served, "server.batch.chain10", RUNS * 10);
}

// ---- the library for Node ----

static pid_t start_node(const Served *served) {
    char url[64], script[4200];
    const char *source = getenv("ABIDE_SOURCE_DIR");
    snprintf(url, sizeof url, "http://127.0.0.1:%u", served->port);
    snprintf(script, sizeof script, "%s/bench/server_worker.mjs", source != NULL ? source : ".");
    pid_t process = fork();
    if (process != 0) return process;
    setenv("ABIDE_SERVER", url, 1);
    execlp("node", "node", script, (char *)NULL);
    _exit(127);
}

static void bench_node(const Served *served, HttpConnection *connection) {
    enum { RUNS = 2000 };
    long before = counted(connection, "tasks", "completed");
    send_many(served, "/v1/runs", "{\"workflow\":\"chain\",\"input\":10}", RUNS);
    pid_t node = start_node(served);
    long first = before;
    while (first == before) first = counted(connection, "tasks", "completed"); // it is there
    Span span = span_begin(served);
    double worker_cpu = process_cpu(node);
    while (counted(connection, "tasks", "completed") < before + RUNS * 10) usleep(5000);
    double tasks = (double)(before + RUNS * 10 - first);
    span_report(served, &span, "server.node.chain10", (int64_t)tasks, 0);
    bench_report("server.node.chain10.worker_cpu", (process_cpu(node) - worker_cpu) / tasks * 1e6,
                 "us/task", 0);
    bench_run1(served, "node", 1, 0);
    bench_run1(served, "node", 200, 0);
    kill(node, SIGTERM);
    waitpid(node, NULL, 0);
}

// ---- signals ----

static void bench_signal(HttpConnection *connection) {
    enum { ROUNDS = 500 };
    double times[ROUNDS];
    char target[128], result[128];
    Reply reply = {0};
    HttpConnection *reader = http_open(connection->http, keep_reply, &reply);
    for (int i = 0; i < ROUNDS; i++) {
        snprintf(target, sizeof target, "{\"workflow\":\"gate\",\"id\":\"signal-%d\"}", i);
        ask(connection, "POST", "/v1/runs", target);
        snprintf(target, sizeof target, "/v1/runs/signal-%d", i);
        do ask(connection, "GET", target, NULL);
        while (strstr(((const Reply *)connection->context)->body, "\"suspended\"") == NULL);
        snprintf(result, sizeof result, "/v1/runs/signal-%d/result?wait=30s", i);
        reply.status = 0;
        http_send(reader, "GET", result, NULL, 0);
        http_turn(connection->http, 0);
        usleep(2000); // the reader waits at the server by now
        snprintf(target, sizeof target, "/v1/runs/signal-%d/signals/go", i);
        double start = bench_now();
        http_send(connection, "POST", target, "1", 1);
        while (reply.status == 0) http_turn(connection->http, -1);
        times[i] = bench_now() - start;
        if (reply.status != 200) fail("a signalled run did not end");
        Reply *own = connection->context;
        for (own->status = 0; own->status == 0;) { // its answer may have come already
            ask(connection, "GET", "/livez", NULL);
        }
    }
    bench_report("server.signal.p50", bench_quantile(times, ROUNDS, 0.5) * 1e3, "ms", 2);
    bench_report("server.signal.p99", bench_quantile(times, ROUNDS, 0.99) * 1e3, "ms", 0);
    http_close(reader);
    free(reply.body);
}

// ---- streams ----

static void stream_answered(HttpConnection *connection, int status, char *body, size_t len) {
    (void)body, (void)len;
    int64_t *open = connection->context;
    if (status != 200) fail("a stream was refused");
    ++*open;
}

static void bench_streams(const Served *served, HttpConnection *connection) {
    int64_t wanted = 10000;
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0) fail("no limit");
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    if ((int64_t)files.rlim_cur < wanted + 100) wanted = (int64_t)files.rlim_cur - 100;
    Http http;
    int64_t open = 0;
    HttpConnection **streams = calloc((size_t)wanted, sizeof(HttpConnection *));
    ask(connection, "POST", "/v1/runs", "{\"workflow\":\"gate\",\"id\":\"streamed\"}");
    http_init(&http, served->port);
    int64_t before = served_rss(served);
    for (int64_t i = 0; i < wanted; i++) {
        streams[i] = http_open(&http, stream_answered, &open);
        http_send(streams[i], "GET", "/v1/runs/streamed/events", NULL, 0);
        while (open < i - 100) http_turn(&http, 1000);
    }
    while (open < wanted) http_turn(&http, 1000);
    ask(connection, "GET", "/livez", NULL);
    bench_report("server.stream.open", (double)open, "streams", 10000);
    bench_report("server.stream.memory", (double)(served_rss(served) - before) / (double)wanted,
                 "bytes", 10 << 10);
    for (int64_t i = 0; i < wanted; i++) http_close(streams[i]);
    http_done(&http);
    free(streams);
}

static bool is_wanted(const char *name) {
    const char *only = getenv("BENCH_ONLY");
    return only == NULL || strcmp(only, name) == 0;
}

int main(void) {
    char *directory = bench_directory(), store[4300];
    snprintf(store, sizeof store, "sqlite:%s/bench.db", directory);
    Served served = served_start(store);
    Http http;
    Reply reply = {0};
    http_init(&http, served.port);
    HttpConnection *connection = http_open(&http, keep_reply, &reply);
    deploy(connection);
    double limit = is_wanted("livez") ? bench_livez(&served) : 0;
    if (is_wanted("signal")) bench_signal(connection);
    if (is_wanted("alone")) bench_run1(&served, "batch", 1, 0);
    if (is_wanted("run1")) bench_run1(&served, "batch", 500, limit);
    if (is_wanted("chain10")) bench_chain(&served);
    if (is_wanted("drain")) bench_drain(&served, limit);
    if (is_wanted("node")) bench_node(&served, connection);
    if (is_wanted("stream")) bench_streams(&served, connection); // leaves much to clean up
    http_close(connection);
    http_done(&http);
    free(reply.body);
    served_end(&served, SIGTERM);
    bench_remove(directory);
    return 0;
}

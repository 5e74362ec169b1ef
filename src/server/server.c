// The server's life: listening and draining.
//
// Invariants [server-1]-[server-4] are in server.h.
//
// Not here: requests (http.c), deadlines (ticker.c), configuration files and flags (cli/).
#include "server/server.h"
#include "base/memory.h"
#include "server/exchange/change_stream.h"
#include "server/http/connection.h"
#include "server/http/http.h"
#include "server/http/listen.h"
#include "server/http/tls.h"
#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    DRAIN_MS = 5000,
    SPARE_FILES = 256,     // descriptors that are not connections
    FEW_CONNECTIONS = 5000 // worth a warning
};

ServerLimits server_default_limits(void) {
    return (ServerLimits){
        .body_size = LIMIT_PAYLOAD_SIZE + (64 << 10), // a payload and what is around it
        .uri_size = 4096,
        .header_size = 7 << 10, // an open stream holds it all the time
        .request_ms = 60000,
        .connections = 20000,
        .connections_per_address = 10000,
        .idle_seconds = 60,
        .wait_ms = 60000,
        .spill_size = 1 << 30,
    };
}

// ---- what the engine says ----

bool server_is_stopping(Server *server) {
    pthread_mutex_lock(&server->lock);
    bool answer = server->is_stopping;
    pthread_mutex_unlock(&server->lock);
    return answer;
}

int64_t server_clock_ms(void) { return env_now_ms(env_system()); }

static bool has_reader(void *context, Str run_id) { // on the coordinator's thread
    return hub_has_reader(&((Server *)context)->hub, run_id);
}

static void notice(void *context, const EngineEvent *event) { // on the coordinator's thread
    Server *server = context;
    metrics_notice(&server->metrics, event);
    rates_notice(&server->rates, event);
    workers_notice(&server->workers, event);
    if (change_ring_notice(&server->changes, event)) change_streams_wake(server);
    if (server->tracer != NULL) tracer_notice(server->tracer, event);
    if (event->kind == ENGINE_LOG_GREW && str_is_null(event->run_id)) hub_wake_all(&server->hub);
    else if (event->kind == ENGINE_LOG_GREW) {
        hub_log_grew(&server->hub, event->run_id);
        turns_hear(engine_turns(server->engine), event->run_id);
    } else if (event->kind == ENGINE_TASKS_READY) hub_tasks_ready(&server->hub);
}

// ---- listening ----

__attribute__((format(printf, 2, 0))) static void write_library_log(void *context,
                                                                    const char *format,
                                                                    va_list arguments) {
    const Server *server = context;
    char line[512];
    vsnprintf(line, sizeof line, format, arguments);
    size_t len = strlen(line);
    if (len > 0 && line[len - 1] == '\n') line[len - 1] = 0;
    LOG(server->config.logger, LOG_DEBUG, "http: %s", line);
}

// As many connections as the process may have descriptors for, a few left for the store and tasks.
// The soft limit is raised first: nothing here uses select(2).
static int64_t connection_limit(const ServerConfig *config) {
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0) return config->limits.connections;
    rlim_t wanted = (rlim_t)config->limits.connections + SPARE_FILES;
    if (files.rlim_cur < wanted) {
        files.rlim_cur = files.rlim_max < wanted ? files.rlim_max : wanted;
        (void)setrlimit(RLIMIT_NOFILE, &files);
        (void)getrlimit(RLIMIT_NOFILE, &files);
    }
    if (files.rlim_cur >= wanted) return config->limits.connections;
    // Of a small limit half: accepting, the store, tasks and files of answers need some, always.
    int64_t room = files.rlim_cur > 2 * SPARE_FILES ? (int64_t)files.rlim_cur - SPARE_FILES
                                                    : (int64_t)files.rlim_cur / 2;
    if (room >= FEW_CONNECTIONS) return room;
    LOG(config->logger, LOG_WARN,
        "at most %lld connections instead of %lld: the limit on open "
        "files is %lld (ulimit -n)",
        (long long)room, (long long)config->limits.connections, (long long)files.rlim_cur);
    return room;
}

// One client cannot take every connection, at most half: that is enough for a proxy, which is one
// address to us.
static int64_t address_limit(const ServerConfig *config, int64_t connections) {
    int64_t wanted = config->limits.connections_per_address;
    int64_t half = connections > 1 ? connections / 2 : 1;
    return wanted < half ? wanted : half; // 0 = any number
}

static struct MHD_Daemon *start_daemon(Server *server, int fd) {
    const ServerConfig *config = &server->config;
    int64_t connections = connection_limit(config);
    unsigned flags =
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC | MHD_USE_ERROR_LOG;
    struct MHD_OptionItem options[16];
    size_t count = 0;
    options[count++] = (struct MHD_OptionItem){MHD_OPTION_LISTEN_SOCKET, fd, NULL};
    options[count++] =
        (struct MHD_OptionItem){MHD_OPTION_THREAD_POOL_SIZE, config->thread_count, NULL};
    options[count++] =
        (struct MHD_OptionItem){MHD_OPTION_CONNECTION_LIMIT, (intptr_t)connections, NULL};
    options[count++] = (struct MHD_OptionItem){MHD_OPTION_CONNECTION_TIMEOUT,
                                               (intptr_t)config->limits.idle_seconds, NULL};
    options[count++] = (struct MHD_OptionItem){MHD_OPTION_PER_IP_CONNECTION_LIMIT,
                                               (intptr_t)address_limit(config, connections), NULL};
    options[count++] = (struct MHD_OptionItem){MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                                               (intptr_t)config->limits.header_size, NULL};
    options[count++] =
        (struct MHD_OptionItem){MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)connection_notify, server};
    options[count++] =
        (struct MHD_OptionItem){MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)http_end_request, server};
    options[count++] =
        (struct MHD_OptionItem){MHD_OPTION_URI_LOG_CALLBACK, (intptr_t)http_begin_request, server};
    options[count++] =
        (struct MHD_OptionItem){MHD_OPTION_EXTERNAL_LOGGER, (intptr_t)write_library_log, server};
    if (!str_is_null(config->certificate)) {
        flags |= MHD_USE_TLS;
        options[count++] =
            (struct MHD_OptionItem){MHD_OPTION_HTTPS_CERT_CALLBACK, 0, tls_callback()};
        options[count++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_PRIORITIES, 0, tls_versions()};
    }
    options[count] = (struct MHD_OptionItem){MHD_OPTION_END, 0, NULL};
    return MHD_start_daemon(flags, 0, NULL, NULL, http_serve, server, MHD_OPTION_ARRAY, options,
                            MHD_OPTION_END);
}

static void turns_are_ready(void *context) { hub_turns_ready(&((Server *)context)->hub); }

// ---- life ----

static ServerPolicy policy_of(const ServerConfig *config) {
    return (ServerPolicy){
        .is_open = config->is_open,
        .is_host_checked = config->is_host_checked,
        .origins = config->origins,
        .origin_count = config->origin_count,
        .slow_ms = config->slow_ms,
        .limits = config->limits,
    };
}

static void settings_replace(Server *server, Str settings) {
    pthread_mutex_lock(&server->lock);
    mem_free((void *)(uintptr_t)server->settings.data);
    server->settings = str_is_null(settings)
                           ? STR_NULL
                           : (Str){mem_copy(settings.data, settings.len), settings.len};
    pthread_mutex_unlock(&server->lock);
}

Str server_settings(Server *server, Arena *arena) {
    pthread_mutex_lock(&server->lock);
    Str settings = str_is_null(server->settings) ? STR("[]") : arena_str(arena, server->settings);
    pthread_mutex_unlock(&server->lock);
    return settings;
}

Status server_reload(Server *server, const ServerConfig *config, Diag *diag) {
    ServerPolicy policy = policy_of(config);
    policy_publish(&server->policy, &policy);
    settings_replace(server, config->settings);
    return tokens_read(&server->tokens, engine_now_ms(server->engine), NULL, diag);
}

Status server_start(abide_engine *engine, const ServerConfig *config, Server **ret_server,
                    Diag *diag) {
    int fd = config->listen_fd;
    if (!str_is_null(config->certificate)) TRY(tls_publish(config->certificate, config->key, diag));
    if (fd < 0) TRY(listen_open(config->host, config->port, &fd, diag));
    Server *server = mem_zalloc(sizeof *server);
    server->engine = engine;
    server->config = *config;
    server->port = listen_port(fd);
    server->started_at_ms = engine_now_ms(engine);
    hub_init(&server->hub);
    turn_codes_init(&server->codes, server);
    offload_init(&server->offload);
    metrics_init(&server->metrics);
    workers_init(&server->workers);
    rates_init(&server->rates, server_clock_ms());
    attention_init(&server->attention);
    change_ring_init(&server->changes, engine_now_ms(engine));
    ServerPolicy policy = policy_of(config);
    policy_init(&server->policy, &policy);
    tokens_init(&server->tokens, engine_store(engine));
    pthread_mutex_init(&server->lock, NULL);
    pthread_cond_init(&server->idle, NULL);
    list_init(&server->exchanges);
    settings_replace(server, config->settings);
    Status status = ticker_start(server, diag);
    if (status == OK) status = offload_start(&server->offload, diag);
    if (status == OK) status = tracer_start(engine, config->logger, &server->tracer, diag);
    server->watcher = (EngineWatcher){notice, server, has_reader};
    engine_watch(engine, &server->watcher);
    turns_listen(engine_turns(engine), turns_are_ready, server);
    if (status == OK) server->daemon = start_daemon(server, fd);
    if (server->daemon != NULL) {
        workers_watch_start(server);
        rates_start(server);
        *ret_server = server;
        return OK;
    }
    if (config->listen_fd < 0) close(fd);
    server_free(server);
    if (status != OK) return status;
    return diag_set(diag, ERR_UNAVAILABLE, "LISTEN_FAILED",
                    "the HTTP library did not start; if memory or threads are limited (ulimit -v, "
                    "ulimit -u), allow more, or set fewer threads and max-connections");
}

void server_drain(Server *server) {
    pthread_mutex_lock(&server->lock);
    server->is_stopping = true;
    ticker_stir(server);
    pthread_mutex_unlock(&server->lock);
    ticker_join(server);
    workers_watch_stop(server);
    rates_stop(server);
    int fd = server->daemon != NULL ? MHD_quiesce_daemon(server->daemon) : -1;
    if (fd >= 0) close(fd);
    hub_wake_all(&server->hub);
}

// Answers that are on their way get a little time.
static void wait_for_exchanges(Server *server) {
    int64_t until_ms = env_now_ms(env_system()) + DRAIN_MS;
    struct timespec at = {.tv_sec = until_ms / 1000, .tv_nsec = until_ms % 1000 * 1000000};
    pthread_mutex_lock(&server->lock);
    int code = 0;
    while (!list_is_empty(&server->exchanges) && code != ETIMEDOUT)
        code = pthread_cond_timedwait(&server->idle, &server->lock, &at);
    pthread_mutex_unlock(&server->lock);
}

void server_free(Server *server) {
    if (server == NULL) return;
    if (!server_is_stopping(server)) server_drain(server);
    wait_for_exchanges(server);
    offload_stop(&server->offload);
    if (server->daemon != NULL) MHD_stop_daemon(server->daemon);
    engine_watch(server->engine, NULL);
    ASSERT(list_is_empty(&server->exchanges));
    tracer_stop(server->tracer);
    turns_listen(engine_turns(server->engine), NULL, NULL);
    turn_codes_done(&server->codes);
    hub_done(&server->hub);
    offload_done(&server->offload);
    metrics_done(&server->metrics);
    workers_done(&server->workers);
    rates_done(&server->rates);
    attention_done(&server->attention);
    change_ring_done(&server->changes);
    tokens_done(&server->tokens);
    policy_done(&server->policy);
    if (!str_is_null(server->config.certificate)) tls_forget();
    ticker_done(server);
    pthread_cond_destroy(&server->idle);
    pthread_mutex_destroy(&server->lock);
    mem_free((void *)(uintptr_t)server->settings.data);
    mem_free(server);
}

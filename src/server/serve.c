// An engine and its server, from start to orderly end.
//
// The order of things on the way down [server-2]: stop listening and let waiting requests go, stop
// the engine (running functions are awaited, claims handed back), end the HTTP threads, close the
// store.
//
//   [serve-1] Settings that were read again count as a whole or not at all; a certificate that
//        cannot be used leaves the old one in force.
//   [serve-2] Where anybody can reach it, a server asks for tokens, unless it was told not to; and
//        it does not start when there is no token to ask for.
//   [serve-3] Who starts waits a minute for a store that another node holds: one that stands still
//        with it is cut off by then. The same for a server that is still reading its data.
//
// Not here: flags and files (cli/), sockets (listen.c), the manager's protocol (service.c).
#include "server/serve.h"
#include "server/flows/folder.h"
#include "server/http/listen.h"
#include "server/http/tls.h"
#include "server/service.h"
#include "store/reads.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum { PEM_SIZE_MAX = 1 << 20, DRAIN_DEFAULT_MS = 30000, BUSY_SECONDS_MAX = 60 };

typedef struct Serving {
    const ServeConfig *config;
    Service service;
    sigset_t signals;
    int fd; // it listens on
    bool is_loopback;
    char host[LISTEN_TEXT_MAX];
    Arena arena; // of the texts of the server's configuration
    abide_engine *engine;
    Server *server;
    int64_t drain_ms;
    int64_t waits_until_ns; // for a store that is busy [serve-3]
} Serving;

// ---- configuration ----

static Status read_file(Arena *arena, Str path, Str *ret_text, Diag *diag) {
    FILE *file = fopen(arena_cstr(arena, path), "rb");
    if (file == NULL)
        return diag_set(diag, ERR_NOT_FOUND, "FILE_NOT_READ", "cannot read %.*s: %s", STR_ARG(path),
                        strerror(errno));
    char *text = arena_alloc(arena, PEM_SIZE_MAX + 1);
    size_t len = fread(text, 1, PEM_SIZE_MAX, file);
    text[len] = 0;
    fclose(file);
    *ret_text = (Str){text, len};
    return OK;
}

static Status read_identity(const ServeConfig *given, Arena *arena, ServerConfig *config,
                            Diag *diag) {
    bool has_certificate = !str_is_null(given->tls_certificate_file);
    if (has_certificate != !str_is_null(given->tls_key_file))
        return diag_set(diag, ERR_INVALID, "BAD_CERTIFICATE",
                        "tls-cert and tls-key go together: one of them is missing");
    if (!has_certificate) return OK;
    TRY(read_file(arena, given->tls_certificate_file, &config->certificate, diag));
    return read_file(arena, given->tls_key_file, &config->key, diag);
}

static ServerLimits limits_of(const ServeConfig *given) {
    ServerLimits limits = server_default_limits();
    const ServerLimits *wanted = &given->limits;
    if (wanted->body_size > 0) limits.body_size = wanted->body_size;
    if (wanted->header_size > 0) limits.header_size = wanted->header_size;
    if (wanted->connections > 0) limits.connections = wanted->connections;
    if (wanted->idle_seconds > 0) limits.idle_seconds = wanted->idle_seconds;
    if (wanted->request_ms > 0) limits.request_ms = wanted->request_ms;
    if (wanted->wait_ms > 0) limits.wait_ms = wanted->wait_ms;
    if (wanted->spill_size > 0) limits.spill_size = wanted->spill_size;
    limits.connections_per_address = wanted->connections_per_address;
    return limits;
}

static Status make_config(const Serving *serving, const ServeConfig *given, Arena *arena,
                          ServerConfig *ret_config, Diag *diag) {
    bool is_open = given->is_insecure || (serving->is_loopback && !given->is_token_required);
    *ret_config = (ServerConfig){
        .host = str_from(serving->host),
        .listen_fd = serving->fd,
        .thread_count = given->threads > 0 ? given->threads : 2,
        .is_open = is_open,
        .is_host_checked = is_open && !given->is_insecure,
        .origins = given->origins,
        .origin_count = given->origin_count,
        .slow_ms = given->slow_ms,
        .limits = limits_of(given),
        .store = given->store,
        .settings = given->settings,
        .logger = given->logger,
    };
    return read_identity(given, arena, ret_config, diag);
}

static Status open_socket(Serving *serving, Diag *diag) {
    serving->fd = serving->service.listen_fd;
    if (serving->fd >= 0) {
        TRY(listen_adopt(serving->fd, diag));
    } else {
        Str host;
        uint16_t port;
        TRY(listen_parse(serving->config->listen, &host, &port, diag));
        TRY(listen_open(host, port, &serving->fd, diag));
    }
    serving->is_loopback = listen_is_loopback(serving->fd);
    listen_host(serving->fd, serving->host);
    return OK;
}

// [serve-2]
static Status check_tokens(Serving *serving, const ServerConfig *config, Diag *diag) {
    if (config->is_open) return OK;
    const PageSpec first = {.limit = 1};
    TokenPage page;
    TRY(store_list_tokens(engine_store(serving->engine), &serving->arena, &first, &page, diag));
    if (page.count > 0) return OK;
    const char *how = "make one: abide token create --name NAME --scope admin --store";
    Str store = store_url_shown(serving->config->store, &serving->arena);
    if (serving->is_loopback)
        return diag_set(diag, ERR_INVALID, "NO_TOKENS",
                        "tokens are required and the store has none; %s %.*s", how, STR_ARG(store));
    return diag_set(diag, ERR_INVALID, "NOT_LOOPBACK",
                    "%s is reachable from outside and the store has no tokens to ask for; %s %.*s "
                    "(or listen on 127.0.0.1, or say --insecure)",
                    serving->host, how, STR_ARG(store));
}

// ---- the engine ----

static void write_line(void *user, int level, const char *line) {
    const Logger *logger = ((const ServeConfig *)user)->logger;
    if (log_takes(logger, (LogLevel)level)) logger->write(logger->context, (LogLevel)level, line);
}

static void pass_event(void *user, const abide_event *event) {
    const ServeConfig *config = user;
    config->on_event(config->context, event);
}

static Status from_error(const abide_error *error, Diag *diag) {
    return diag_set(diag, ERR_UNAVAILABLE, error->name, "%s", error->message);
}

// [serve-3] True: try again. A signal to end ends the waiting.
static bool is_worth_waiting(const Serving *serving, Status status, Diag *diag) {
    if (status != ERR_BUSY) return false;
    Diag reason = *diag;
    int64_t left_ns = serving->waits_until_ns - (int64_t)env_monotonic_ns(env_system());
    if (left_ns <= 0) {
        (void)diag_set(diag, status, reason.code,
                       "%s; gave up after %d seconds. Look for who holds it (in pg_stat_activity, "
                       "or a node that was stopped), end that and start again",
                       reason.message, BUSY_SECONDS_MAX);
        return false;
    }
    LOG(serving->config->logger, LOG_WARN, "%s; trying again, for %lld more seconds at most",
        reason.message, (long long)(left_ns / 1000000000 + 1));
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    struct timespec pause = {.tv_nsec = 300000000};
    return sigtimedwait(&ends, NULL, &pause) < 0;
}

static const char *text_or_null(Arena *arena, Str text) {
    return str_is_null(text) ? NULL : arena_cstr(arena, text);
}

static Status load_plugins(Serving *serving, Diag *diag) {
    const ServeConfig *config = serving->config;
    for (size_t i = 0; i < config->plugin_count; i++) {
        abide_error error;
        const char *path = arena_cstr(&serving->arena, config->plugins[i]);
        if (abide_load_plugin(serving->engine, path, &error) != ABIDE_OK)
            return from_error(&error, diag);
        LOG(config->logger, LOG_INFO, "plug-in %s", path);
    }
    return OK;
}

// Times that never were must not stay in a store.
static Status check_clock(const ServeConfig *config, Diag *diag) {
    if (!config->is_time_virtual || str_equal(config->store, STR("memory:"))) return OK;
    return diag_set(diag, ERR_INVALID, "VIRTUAL_TIME_STORE",
                    "virtual-time is for tests and needs the store memory:, which is gone with the "
                    "process");
}

static Status open_engine(Serving *serving, Diag *diag) {
    const ServeConfig *config = serving->config;
    Arena *arena = &serving->arena;
    TRY(check_clock(config, diag));
    abide_options options = {
        .threads = config->task_threads,
        .max_resident_runs = config->max_resident_runs,
        .max_active_runs = config->max_active_runs,
        .keep_snapshots = config->keep_snapshots,
        .max_crashes = config->max_crashes > 0 ? config->max_crashes : ABIDE_UNLIMITED,
        .run_retention = text_or_null(arena, config->run_retention),
        .event_retention = text_or_null(arena, config->event_retention),
        .cancel_grace = text_or_null(arena, config->cancel_grace),
        .idle_release_timeout = text_or_null(arena, config->idle_release_timeout),
        .idle_timeouts = text_or_null(arena, config->idle_timeouts),
        .lease = text_or_null(arena, config->node_lease),
        .max_resident_memory = config->max_resident_memory,
        .default_consume = config->event_consume,
        .max_pending_events_per_topic = config->max_pending_events_per_topic,
        .timer_resolution = text_or_null(arena, config->timer_resolution),
        .isolate_child_failures = config->is_child_failure_isolated,
        .store_retry_attempts = config->store_retry_attempts,
        .store_retry_delay = text_or_null(arena, config->store_retry_delay),
        .store_retry_max_delay = text_or_null(arena, config->store_retry_max_delay),
        .discard_step_events = 1,
        .on_event = config->on_event != NULL ? pass_event : NULL,
        .on_log = write_line,
        .virtual_time_ms = config->is_time_virtual ? server_clock_ms() : 0,
        .user = (void *)(uintptr_t)config,
    };
    abide_builtin_options tasks = {
        .allow_exec = config->is_exec_allowed,
        .allow_private = config->is_private_allowed,
        .on_log = write_line,
        .user = (void *)(uintptr_t)config,
    };
    const char *url = arena_cstr(arena, config->store);
    Status status;
    do {
        status = engine_open(url, &options, &serving->engine, diag);
    } while (is_worth_waiting(serving, status, diag));
    if (status != OK) return ERR_UNAVAILABLE; // whatever it was: it cannot be served
    abide_engine *engine = serving->engine;
    abide_error error;
    if (abide_register_builtin_tasks(engine, &tasks, &error) != ABIDE_OK)
        return from_error(&error, diag);
    return load_plugins(serving, diag);
}

static Status put_to_work(Serving *serving, Diag *diag) {
    const ServeConfig *config = serving->config;
    abide_recovery report;
    Status status;
    do {
        status = engine_recover(serving->engine, &report, diag);
    } while (is_worth_waiting(serving, status, diag));
    if (status != OK) return ERR_UNAVAILABLE;
    Str store = store_url_shown(config->store, &serving->arena);
    LOG(config->logger, LOG_INFO, "store %.*s: %lld running and %lld suspended runs taken up",
        STR_ARG(store), (long long)report.resumed_running, (long long)report.suspended);
    return OK;
}

// ---- reload ----

static Status apply_reload(Serving *serving, const ServeConfig *fresh, Arena *arena, Diag *diag) {
    ServerConfig config;
    TRY(make_config(serving, fresh, arena, &config, diag));
    bool has_tls = !str_is_null(serving->server->config.certificate);
    if (has_tls && !str_is_null(config.certificate))
        TRY(tls_publish(config.certificate, config.key, diag)); // [serve-1]
    serving->drain_ms = fresh->drain_ms;
    return server_reload(serving->server, &config, diag);
}

static void reload(Serving *serving) {
    const ServeConfig *config = serving->config;
    service_notify(&serving->service, "RELOADING=1\nMONOTONIC_USEC=%llu",
                   (unsigned long long)(env_monotonic_ns(env_system()) / 1000));
    Arena arena;
    arena_init(&arena);
    ServeConfig fresh = *config;
    Diag diag;
    Status status = config->reload(config->context, &arena, &fresh, &diag);
    if (status == OK) status = apply_reload(serving, &fresh, &arena, &diag);
    if (status == OK) LOG(config->logger, LOG_INFO, "settings, tokens and certificates read again");
    else
        LOG(config->logger, LOG_ERROR, "not reloaded, everything stays as it was: %s (%s)",
            diag.message, diag.code);
    arena_done(&arena);
    service_notify(&serving->service, "READY=1");
}

// ---- signals ----

static void block_signals(sigset_t *ret_set) {
    sigemptyset(ret_set);
    sigaddset(ret_set, SIGTERM);
    sigaddset(ret_set, SIGINT);
    sigaddset(ret_set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, ret_set, NULL); // threads made later inherit it
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); // a limit on the size of files is a store that is full
}

static void unblock_signals(const sigset_t *set) {
    signal(SIGTERM, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    signal(SIGHUP, SIG_IGN); // too late to reload
    pthread_sigmask(SIG_UNBLOCK, set, NULL);
}

// A signal, or 0 when it is time to say that we are alive.
static int next_signal(const Serving *serving) {
    int64_t pause_ms = serving->service.watchdog_ms / 2;
    struct timespec pause = {.tv_sec = pause_ms / 1000, .tv_nsec = pause_ms % 1000 * 1000000};
    for (;;) {
        int number = pause_ms > 0 ? sigtimedwait(&serving->signals, NULL, &pause)
                                  : sigwaitinfo(&serving->signals, NULL);
        if (number > 0) return number;
        if (errno == EAGAIN) return 0;
    }
}

static void wait_for_end(Serving *serving) {
    const Logger *logger = serving->config->logger;
    for (;;) {
        int number = next_signal(serving);
        if (number == 0) { // it is the coordinator's life that counts, not this thread's
            engine_wait_for_round(serving->engine);
            service_notify(&serving->service, "WATCHDOG=1");
        } else if (number == SIGHUP && serving->config->reload != NULL) {
            reload(serving);
        } else {
            LOG(logger, LOG_INFO, "stopping (%s); once more ends it at once", strsignal(number));
            break;
        }
    }
    service_notify(&serving->service, "STOPPING=1");
    unblock_signals(&serving->signals);
}

// ---- life ----

static Status wind_down(Serving *serving, Diag *diag) {
    char timeout[32];
    int64_t drain_ms = serving->drain_ms > 0 ? serving->drain_ms : DRAIN_DEFAULT_MS;
    snprintf(timeout, sizeof timeout, "%lldms", (long long)drain_ms);
    server_drain(serving->server);
    abide_error error;
    Status status = OK;
    if (abide_shutdown(serving->engine, timeout, &error) != ABIDE_OK)
        status = diag_set(diag, ERR_LIMIT, error.name, "%s", error.message);
    server_free(serving->server);
    return status;
}

static Status serve_engine(Serving *serving, const ServerConfig *server_config, Diag *diag) {
    const ServeConfig *config = serving->config;
    FlowFolder *folder = NULL;
    if (!str_is_null(config->directory))
        TRY(flow_folder_open(serving->engine, config->directory, config->logger, &folder, diag));
    Status status = server_start(serving->engine, server_config, &serving->server, diag);
    if (status != OK) {
        flow_folder_close(folder);
        return status;
    }
    serving->fd = -1; // the server's now
    bool is_v6 = strchr(serving->host, ':') != NULL && strncmp(serving->host, "unix:", 5) != 0;
    LOG(config->logger, LOG_INFO, "listening on %s://%s%s%s:%u",
        str_is_null(server_config->certificate) ? "http" : "https", is_v6 ? "[" : "", serving->host,
        is_v6 ? "]" : "", serving->server->port);
    if (config->on_ready != NULL) config->on_ready(config->context, serving->server);
    service_notify(&serving->service, "READY=1\nSTATUS=listening on %s port %u", serving->host,
                   serving->server->port);
    wait_for_end(serving);
    flow_folder_close(folder);
    if (config->on_ending != NULL) config->on_ending(config->context);
    return wind_down(serving, diag);
}

static Status start(Serving *serving, Diag *diag) {
    ServerConfig server_config;
    TRY(service_init(&serving->service, diag));
    TRY(open_socket(serving, diag));
    TRY(make_config(serving, serving->config, &serving->arena, &server_config, diag));
    TRY(open_engine(serving, diag));
    TRY(check_tokens(serving, &server_config, diag));
    TRY(put_to_work(serving, diag));
    return serve_engine(serving, &server_config, diag);
}

Status serve(const ServeConfig *config, Diag *diag) {
    Serving serving = {.config = config, .fd = -1, .drain_ms = config->drain_ms};
    arena_init(&serving.arena);
    block_signals(&serving.signals);
    serving.waits_until_ns =
        (int64_t)env_monotonic_ns(env_system()) + (int64_t)BUSY_SECONDS_MAX * 1000000000;
    Status status = start(&serving, diag);
    if (serving.fd >= 0) close(serving.fd);
    if (status == ERR_LIMIT) return status; // functions still use the engine
    abide_close(serving.engine);
    arena_done(&serving.arena);
    return status;
}

// An engine and its server, from start to orderly end.
//
// The order of things on the way down [V2]: stop listening and let waiting requests go, stop the
// engine (running functions are awaited, claims handed back), end the HTTP threads, close the
// store.
//
// Not here: flags and files (cli/serve.c).
#include "server/serve.h"
#include "base/memory.h"
#include "server/flow_folder.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

enum { PEM_SIZE_MAX = 1 << 20, DEFAULT_PORT = 7433 };

// ---- where to listen ----

static Status bad_listen(Str text, Diag *diag) {
    return diag_set(diag, ERR_INVALID, "BAD_LISTEN",
                    "cannot listen on \"%.*s\": write HOST:PORT, as in 127.0.0.1:7433",
                    STR_ARG(text));
}

// "host:port", "[address]:port", ":port" (every address), "port".
static Status parse_listen(Str text, Str *ret_host, uint16_t *ret_port, Diag *diag) {
    size_t at = text.len;
    while (at > 0 && text.data[at - 1] >= '0' && text.data[at - 1] <= '9') at--;
    int64_t port = 0;
    for (size_t i = at; i < text.len && port <= UINT16_MAX; i++)
        port = port * 10 + (text.data[i] - '0');
    bool has_colon = at > 0 && text.data[at - 1] == ':';
    if (at == text.len || port > UINT16_MAX || (at > 0 && !has_colon))
        return bad_listen(text, diag);
    Str host = {text.data, at > 0 ? at - 1 : 0};
    if (host.len >= 2 && host.data[0] == '[' && host.data[host.len - 1] == ']')
        host = (Str){host.data + 1, host.len - 2};
    if (at == 0) host = STR("127.0.0.1");
    else if (host.len == 0) host = STR("::");
    *ret_host = host;
    *ret_port = (uint16_t)port;
    return OK;
}

static bool is_loopback(Str host) {
    char name[256];
    snprintf(name, sizeof name, "%.*s", STR_ARG(host));
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    if (getaddrinfo(name, NULL, &hints, &found) != 0) return false;
    bool answer = true;
    for (const struct addrinfo *each = found; each != NULL; each = each->ai_next) {
        if (each->ai_family == AF_INET) {
            const struct sockaddr_in *v4 = (const void *)each->ai_addr;
            answer = answer && ntohl(v4->sin_addr.s_addr) >> 24 == 127;
        } else if (each->ai_family == AF_INET6) {
            const struct sockaddr_in6 *v6 = (const void *)each->ai_addr;
            answer = answer && IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
        }
    }
    freeaddrinfo(found);
    return answer;
}

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

static Status make_config(const ServeConfig *given, Arena *arena, ServerConfig *ret_config,
                          Diag *diag) {
    *ret_config = (ServerConfig){
        .listen_fd = -1,
        .thread_count = given->threads > 0 ? given->threads : 2,
        .is_open = true,
        .limits = server_default_limits(),
        .logger = given->logger,
    };
    TRY(parse_listen(given->listen, &ret_config->host, &ret_config->port, diag));
    if (!given->is_insecure && !is_loopback(ret_config->host))
        return diag_set(diag, ERR_INVALID, "NOT_LOOPBACK",
                        "%.*s is reachable from outside and this server asks for no tokens; listen "
                        "on 127.0.0.1, or say --insecure",
                        STR_ARG(ret_config->host));
    if (str_is_null(given->tls_certificate_file)) return OK;
    TRY(read_file(arena, given->tls_certificate_file, &ret_config->certificate, diag));
    return read_file(arena, given->tls_key_file, &ret_config->key, diag);
}

// ---- signals ----

static void block_signals(sigset_t *ret_set) {
    sigemptyset(ret_set);
    sigaddset(ret_set, SIGTERM);
    sigaddset(ret_set, SIGINT);
    pthread_sigmask(SIG_BLOCK, ret_set, NULL); // threads made later inherit it
    signal(SIGPIPE, SIG_IGN);
}

static void wait_for_end(const sigset_t *set, const Logger *logger) {
    int number = 0;
    while (sigwait(set, &number) != 0) {}
    LOG(logger, LOG_INFO, "stopping (%s); once more ends it at once", strsignal(number));
    signal(SIGTERM, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, set, NULL);
}

// ---- the engine ----

static void write_line(void *user, int level, const char *line) {
    const Logger *logger = user;
    if (log_takes(logger, (LogLevel)level)) logger->write(logger->context, (LogLevel)level, line);
}

static Status from_error(const abide_error *error, Diag *diag) {
    return diag_set(diag, ERR_UNAVAILABLE, error->name, "%s", error->message);
}

static Status open_engine(const ServeConfig *config, Arena *arena, abide_engine **ret_engine,
                          Diag *diag) {
    abide_options options = {
        .discard_step_events = 1, .on_log = write_line, .user = config->logger};
    abide_builtin_options tasks = {
        .allow_exec = config->is_exec_allowed,
        .allow_private = config->is_private_allowed,
        .on_log = write_line,
        .user = config->logger,
    };
    abide_error error;
    abide_recovery report;
    abide_engine *engine;
    if (abide_open(arena_cstr(arena, config->store), &options, &engine, &error) != ABIDE_OK)
        return from_error(&error, diag);
    if (abide_register_builtin_tasks(engine, &tasks, &error) != ABIDE_OK ||
        abide_recover(engine, &report, &error) != ABIDE_OK) {
        abide_close(engine);
        return from_error(&error, diag);
    }
    LOG(config->logger, LOG_INFO, "store %.*s: %lld running and %lld suspended runs taken up",
        STR_ARG(config->store), (long long)report.resumed_running, (long long)report.suspended);
    *ret_engine = engine;
    return OK;
}

static Status serve_engine(const ServeConfig *config, const ServerConfig *server_config,
                           abide_engine *engine, const sigset_t *signals, Diag *diag) {
    Server *server;
    FlowFolder *folder = NULL;
    if (!str_is_null(config->directory))
        TRY(flow_folder_open(engine, config->directory, config->logger, &folder, diag));
    Status status = server_start(engine, server_config, &server, diag);
    if (status != OK) {
        flow_folder_close(folder);
        return status;
    }
    LOG(config->logger, LOG_INFO, "listening on %s://%.*s:%u",
        str_is_null(server_config->certificate) ? "http" : "https", STR_ARG(server_config->host),
        server->port);
    if (config->on_ready != NULL) config->on_ready(config->context, server);
    wait_for_end(signals, config->logger);
    flow_folder_close(folder);
    server_drain(server);
    abide_error error;
    if (abide_shutdown(engine, NULL, &error) != ABIDE_OK)
        LOG(config->logger, LOG_WARN, "%s", error.message);
    server_free(server);
    return OK;
}

Status serve(const ServeConfig *config, Diag *diag) {
    Arena arena;
    arena_init(&arena);
    ServerConfig server_config;
    abide_engine *engine = NULL;
    sigset_t set;
    block_signals(&set);
    Status status = make_config(config, &arena, &server_config, diag);
    if (status == OK) status = open_engine(config, &arena, &engine, diag);
    if (status == OK) {
        status = serve_engine(config, &server_config, engine, &set, diag);
        abide_close(engine);
    }
    arena_done(&arena);
    return status;
}

// A store, opened by a command.
//
// The order on the way down is that of `abide serve`: no new connections, the engine, the threads,
// the file's lock; last the socket and its folder.
//
// Invariants [local-1]-[local-3] are in local.h.
//
// Not here: HTTP (client.c), choosing between --server and --store (session.c).
#include "cli/client/local.h"
#include "api/engine.h"
#include "base/memory.h"
#include "cli/output/advice.h"
#include "server/server.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    LOCAL_PATH_MAX = sizeof((struct sockaddr_un *)0)->sun_path,
    SETTLE_MS = 2000,
    SETTLE_STEP_MS = 2,
};

struct LocalServer {
    abide_engine *engine;
    Server *server;
    bool is_working; // [local-2]
    char folder[LOCAL_PATH_MAX];
    char socket_path[LOCAL_PATH_MAX];
};

// ---- the store ----

static Status explain_open(Status status, Str store, Diag *diag) {
    if (status != ERR_LOCKED) {
        advice_add(diag);
        return ERR_UNAVAILABLE;
    }
    Diag found = *diag;
    int len = (int)strcspn(found.message, ";"); // its own advice is for servers
    return diag_set(diag, ERR_UNAVAILABLE, found.code,
                    "a server owns %.*s (%.*s); talk to it with --server URL in place of --store",
                    STR_ARG(store), len, found.message);
}

Str local_file(Str store) {
    if (str_starts_with(store, STR("sqlite:"))) return (Str){store.data + 7, store.len - 7};
    return memchr(store.data, ':', store.len) != NULL ? STR("") : store;
}

// Looking at a store must not make one; a mistyped path should say so.
Status local_check_exists(Str store, Diag *diag) {
    Str path = local_file(store);
    char name[4096];
    snprintf(name, sizeof name, "%.*s", STR_ARG(path));
    if (path.len == 0 || access(name, F_OK) == 0) return OK;
    return diag_set(diag, ERR_NOT_FOUND, "STORE_NOT_FOUND", "there is no store %s", name);
}

static Status open_engine(LocalServer *local, const LocalConfig *config, Diag *diag) {
    abide_options options = {.discard_step_events = 1, .node_name = "command"};
    abide_builtin_options tasks = {0};
    abide_error error;
    char *url = mem_copy(config->store.data, config->store.len);
    Status status = engine_open(url, &options, &local->engine, diag);
    mem_free(url);
    if (status != OK) return explain_open(status, config->store, diag);
    int code = abide_register_builtin_tasks(local->engine, &tasks, &error);
    if (code == ABIDE_OK && config->is_working) code = abide_recover(local->engine, NULL, &error);
    if (code == ABIDE_OK) return OK;
    status = diag_set(diag, ERR_UNAVAILABLE, error.name, "%s", error.message);
    advice_add(diag);
    return status;
}

// ---- the socket ----

static Status socket_trouble(const LocalServer *local, Diag *diag) {
    return diag_set(diag, ERR_UNAVAILABLE, "LOCAL_SERVER", "cannot listen on %s: %s",
                    local->socket_path[0] ? local->socket_path : "a socket of its own",
                    strerror(errno));
}

static Status open_socket(LocalServer *local, int *ret_fd, Diag *diag) {
    const char *base = getenv("TMPDIR");
    if (base == NULL || strlen(base) > LOCAL_PATH_MAX - 32) base = "/tmp";
    char folder[LOCAL_PATH_MAX];
    snprintf(folder, sizeof folder, "%s/abide-XXXXXX", base);
    if (mkdtemp(folder) == NULL) return socket_trouble(local, diag); // mode 0700 [local-3]
    memcpy(local->folder, folder, sizeof local->folder);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t len = strlen(folder);
    memcpy(local->socket_path, folder, len);
    memcpy(local->socket_path + len, "/s", sizeof "/s");
    memcpy(address.sun_path, local->socket_path, sizeof address.sun_path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && bind(fd, (const struct sockaddr *)&address, sizeof address) == 0 &&
        listen(fd, 64) == 0) {
        *ret_fd = fd;
        return OK;
    }
    Status status = socket_trouble(local, diag);
    if (fd >= 0) close(fd);
    return status;
}

static Status start_server(LocalServer *local, Str store, Diag *diag) {
    ServerConfig config = {
        .host = STR("127.0.0.1"),
        .thread_count = 2,
        .is_open = true, // [local-3]
        .limits = server_default_limits(),
        .store = store,
    };
    TRY(open_socket(local, &config.listen_fd, diag));
    Status status = server_start(local->engine, &config, &local->server, diag);
    if (status != OK) close(config.listen_fd);
    return status;
}

// ---- life ----

Status local_open(const LocalConfig *config, LocalServer **ret_server, Diag *diag) {
    if (!config->is_create_allowed) TRY(local_check_exists(config->store, diag));
    LocalServer *local = mem_zalloc(sizeof *local);
    local->is_working = config->is_working;
    Status status = open_engine(local, config, diag);
    if (status == OK) status = start_server(local, config->store, diag);
    if (status != OK) {
        local_close(local);
        return status;
    }
    *ret_server = local;
    return OK;
}

Str local_socket(const LocalServer *server) { return str_from(server->socket_path); }

// A run that was started or woken gets to its next wait, unless that takes long.
static void settle_briefly(const LocalServer *local) {
    abide_stats stats;
    int quiet_count = 0;
    for (int gone_ms = 0; gone_ms < SETTLE_MS && quiet_count < 2; gone_ms += SETTLE_STEP_MS) {
        if (abide_get_stats(local->engine, &stats, NULL) != ABIDE_OK) return;
        quiet_count = stats.active_runs == 0 ? quiet_count + 1 : 0;
        usleep(SETTLE_STEP_MS * 1000);
    }
}

void local_close(LocalServer *local) {
    if (local == NULL) return;
    if (local->is_working && local->server != NULL) settle_briefly(local);
    if (local->server != NULL) server_drain(local->server);
    if (local->engine != NULL) (void)abide_shutdown(local->engine, NULL, NULL);
    server_free(local->server);
    abide_close(local->engine);
    if (local->socket_path[0]) unlink(local->socket_path);
    if (local->folder[0]) rmdir(local->folder);
    mem_free(local);
}

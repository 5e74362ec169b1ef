// Connections to PostgreSQL that outlive the store which opened them.
//
// Each case of a suite opens a store of its own, with two or three connections. A new one costs the
// server a process, and that process learns the whole catalogue again: that was most of what the
// suites took. The linker leads PQconnectdbParams and PQfinish here (-Wl,--wrap, see meson.build);
// a store gets what it could have got from a pooler in front of the server.
//
//   [postgres_pool-1] What is handed out is as good as new: the session was reset by the server
//        (DISCARD ALL), no transaction is open, and nothing is unread.
//   [postgres_pool-2] Whatever is not plainly well is finished and not kept.
//   [postgres_pool-3] A process uses only what it has opened itself, not what it got by a fork.
//
// Not here: what lost connections and new ones mean to a store. test/unit/store/postgres.c is about
// that, and is linked without this file.
#include <libpq-fe.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEPT_MAX = 32, ADDRESS_SIZE = 1024, ANSWER_MS = 2000 };

typedef struct Kept {
    PGconn *connection; // NULL: the place is free
    pid_t process;      // that has opened it
    bool is_idle;       // nobody has it
    PQnoticeReceiver receiver;
    char address[ADDRESS_SIZE]; // what it was opened with
} Kept;

static Kept all_kept[KEPT_MAX];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

PGconn *__real_PQconnectdbParams(const char *const *keys, const char *const *values, int expand);
PGconn *__wrap_PQconnectdbParams(const char *const *keys, const char *const *values, int expand);
void __real_PQfinish(PGconn *connection);
void __wrap_PQfinish(PGconn *connection);

// Another one's with the same text would do as well; one that does not fit matches none.
static bool write_address(const char *const *keys, const char *const *values,
                          char ret_address[ADDRESS_SIZE]) {
    size_t len = 0;
    for (size_t i = 0; keys[i] != NULL && len < ADDRESS_SIZE; i++) {
        const char *value = values[i] != NULL ? values[i] : "";
        len += (size_t)snprintf(ret_address + len, ADDRESS_SIZE - len, "%s=%s\n", keys[i], value);
    }
    return len < ADDRESS_SIZE;
}

// The server says nothing to a session that asks nothing, except that it ends it.
static bool is_quiet(const PGconn *connection) {
    struct pollfd poll_for = {.fd = PQsocket(connection), .events = POLLIN};
    return PQstatus(connection) == CONNECTION_OK && poll(&poll_for, 1, 0) == 0;
}

// Which of our idle ones was opened with that address, or NULL. The caller has the mutex.
static Kept *find_idle(const char *address) {
    for (size_t i = 0; i < KEPT_MAX; i++) {
        Kept *kept = &all_kept[i];
        bool is_ours = kept->connection != NULL && kept->process == getpid(); // [postgres_pool-3]
        if (is_ours && kept->is_idle && strcmp(kept->address, address) == 0) return kept;
    }
    return NULL;
}

static PGconn *take_idle(const char *address) {
    PGconn *connection = NULL;
    pthread_mutex_lock(&mutex);
    for (Kept *kept; connection == NULL && (kept = find_idle(address)) != NULL;) {
        kept->is_idle = false;
        connection = kept->connection;
        if (is_quiet(connection)) break;
        __real_PQfinish(connection); // [postgres_pool-2]
        kept->connection = connection = NULL;
    }
    pthread_mutex_unlock(&mutex);
    return connection;
}

static void note_new(PGconn *connection, const char *address) {
    pthread_mutex_lock(&mutex);
    for (size_t i = 0; i < KEPT_MAX; i++) {
        Kept *kept = &all_kept[i];
        if (kept->connection != NULL && kept->process == getpid()) continue;
        *kept = (Kept){.connection = connection, .process = getpid()};
        kept->receiver = PQsetNoticeReceiver(connection, NULL, NULL); // asks, and changes nothing
        snprintf(kept->address, sizeof(kept->address), "%s", address);
        break;
    }
    pthread_mutex_unlock(&mutex);
}

PGconn *__wrap_PQconnectdbParams(const char *const *keys, const char *const *values, int expand) {
    char address[ADDRESS_SIZE];
    if (!write_address(keys, values, address)) {
        return __real_PQconnectdbParams(keys, values, expand);
    }
    PGconn *connection = take_idle(address);
    if (connection != NULL) return connection;
    connection = __real_PQconnectdbParams(keys, values, expand);
    if (PQstatus(connection) == CONNECTION_OK) note_new(connection, address);
    return connection;
}

// ---- giving back ----

static bool wait_for_answer(PGconn *connection) {
    while (PQisBusy(connection)) {
        struct pollfd poll_for = {.fd = PQsocket(connection), .events = POLLIN};
        if (poll(&poll_for, 1, ANSWER_MS) != 1 || !PQconsumeInput(connection)) return false;
    }
    return PQstatus(connection) == CONNECTION_OK;
}

// Reads what is left of a pipeline; a read ends with one whose answer nobody waits for.
static bool leave_pipeline(PGconn *connection) {
    while (PQpipelineStatus(connection) != PQ_PIPELINE_OFF) {
        if (PQexitPipelineMode(connection)) return true;
        if (!wait_for_answer(connection)) return false;
        PQclear(PQgetResult(connection));
    }
    return true;
}

// [postgres_pool-1]
static bool reset(PGconn *connection) {
    if (PQstatus(connection) != CONNECTION_OK || PQisnonblocking(connection)) return false;
    if (!leave_pipeline(connection)) return false;
    if (PQtransactionStatus(connection) != PQTRANS_IDLE) return false;
    if (!PQsendQuery(connection, "DISCARD ALL") || !wait_for_answer(connection)) return false;
    bool is_done = false;
    for (PGresult *result; (result = PQgetResult(connection)) != NULL; PQclear(result)) {
        is_done = PQresultStatus(result) == PGRES_COMMAND_OK;
    }
    for (PGnotify *notice; (notice = PQnotifies(connection)) != NULL;) PQfreemem(notice);
    return is_done && PQtransactionStatus(connection) == PQTRANS_IDLE;
}

static Kept *find_lent(const PGconn *connection) {
    for (size_t i = 0; i < KEPT_MAX; i++) {
        Kept *kept = &all_kept[i];
        bool is_ours = kept->process == getpid() && !kept->is_idle; // [postgres_pool-3]
        if (is_ours && kept->connection == connection) return kept;
    }
    return NULL;
}

void __wrap_PQfinish(PGconn *connection) {
    if (connection == NULL) return;
    pthread_mutex_lock(&mutex);
    Kept *kept = find_lent(connection);
    pthread_mutex_unlock(&mutex);
    bool is_well = kept != NULL && reset(connection);
    if (is_well) (void)PQsetNoticeReceiver(connection, kept->receiver, NULL);
    pthread_mutex_lock(&mutex);
    if (is_well) kept->is_idle = true;
    else if (kept != NULL) kept->connection = NULL; // [postgres_pool-2]
    pthread_mutex_unlock(&mutex);
    if (!is_well) __real_PQfinish(connection);
}

// Deadlines of connections. Phases and invariant [I1] are in connection.h.
//
// Cutting is shutdown(2): the library notices at once and cleans up as if the client had gone.
//
// Not here: silent connections (the library's own time-out), waiting requests (exchange.c).
#include "base/memory.h"
#include "server/connection.h"
#include <sys/socket.h>

enum { SEND_RATE_MIN = 64 }; // bytes per millisecond that a reader must take of an answer

struct Connection {
    Deadline deadline;
    Server *server;
    int fd;
};

static void cut(Deadline *deadline) { // [I1]
    Connection *connection = container_of(deadline, Connection, deadline);
    atomic_fetch_add(&connection->server->counters.cut_connections, 1);
    shutdown(connection->fd, SHUT_RDWR);
}

static void allow(Connection *connection, int64_t ms) {
    Server *server = connection->server;
    server_set_deadline(server, &connection->deadline,
                        env_now_ms(server->engine->driver.env) + ms);
}

static int64_t request_ms(Server *server) {
    return policy_get(&server->policy)->limits.request_ms;
}

void connection_notify(void *context, struct MHD_Connection *library, void **socket_context,
                       enum MHD_ConnectionNotificationCode code) {
    Server *server = context;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        Connection *connection = *socket_context;
        if (connection == NULL) return;
        server_clear_deadline(server, &connection->deadline); // [I1]
        atomic_fetch_sub(&server->counters.connections, 1);
        mem_free(connection);
        return;
    }
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(library, MHD_CONNECTION_INFO_CONNECTION_FD);
    Connection *connection = mem_zalloc(sizeof *connection);
    connection->server = server;
    connection->fd = info->connect_fd;
    connection->deadline.due = cut;
    *socket_context = connection;
    atomic_fetch_add(&server->counters.connections, 1);
    allow(connection, request_ms(server));
}

static Connection *connection_of(const Exchange *exchange) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(exchange->connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info == NULL ? NULL : info->socket_context;
}

void connection_received(Exchange *exchange) {
    Connection *connection = connection_of(exchange);
    if (connection != NULL) server_clear_deadline(exchange->server, &connection->deadline);
}

void connection_sends(Exchange *exchange, size_t answer_size) {
    Connection *connection = connection_of(exchange);
    if (connection == NULL) return;
    allow(connection, exchange->policy->limits.request_ms + (int64_t)answer_size / SEND_RATE_MIN);
}

void connection_ended(Exchange *exchange) {
    Connection *connection = connection_of(exchange);
    if (connection == NULL) return;
    const ServerLimits *limits = &exchange->policy->limits;
    allow(connection, limits->request_ms + limits->idle_seconds * 1000);
}

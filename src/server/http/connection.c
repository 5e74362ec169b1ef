// Deadlines of connections. Phases and invariants [connection-1] and [connection-2] are in
// connection.h.
//
// Cutting is shutdown(2): the library notices at once and cleans up as if the client had gone.
//
// Not here: silent connections (the library's own time-out), waiting requests (exchange/wait.c).
#include "server/http/connection.h"
#include "base/memory.h"
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

enum {
    SEND_RATE_MIN = 64, // bytes per millisecond that a reader must take of an answer
    LOOK_MS = 500       // until the first look for an end
};

struct Connection {
    Deadline deadline; // the next look for an end, or the end of the phase
    Server *server;
    int fd;
    int64_t look_ms;      // from now to the next look, doubled each time; 0 = no looks
    int64_t phase_end_ms; // then it is cut
};

// Nothing more comes, and all that came has been read.
static bool is_hung_up(int fd) {
    char byte;
    ssize_t len = recv(fd, &byte, sizeof byte, MSG_PEEK | MSG_DONTWAIT);
    return len == 0 || (len < 0 && errno == ECONNRESET);
}

// Makes the library notice an end. Shutting the side that has ended changes nothing but wakes
// whoever polls the socket; requests that the library has read already are still answered.
static void show_end(int fd) {
    if (is_hung_up(fd)) (void)shutdown(fd, SHUT_RD);
}

static int64_t next_ms(const Connection *connection, int64_t now_ms) {
    int64_t look_at_ms = now_ms + connection->look_ms;
    bool is_look_next = connection->look_ms > 0 && look_at_ms < connection->phase_end_ms;
    return is_look_next ? look_at_ms : connection->phase_end_ms;
}

static void look_or_cut(Deadline *deadline) { // [connection-1]
    Connection *connection = container_of(deadline, Connection, deadline);
    Server *server = connection->server;
    int64_t now_ms = server_clock_ms();
    if (now_ms >= connection->phase_end_ms) {
        atomic_fetch_add(&server->counters.cut_connections, 1);
        shutdown(connection->fd, SHUT_RDWR);
        return;
    }
    show_end(connection->fd); // [connection-2]
    connection->look_ms *= 2;
    server_repeat_deadline(server, deadline, next_ms(connection, now_ms));
}

static void allow(Connection *connection, int64_t look_ms, int64_t ms) {
    Server *server = connection->server;
    int64_t now_ms = server_clock_ms();
    server_clear_deadline(server, &connection->deadline); // the ticker reads what follows
    connection->look_ms = look_ms;
    connection->phase_end_ms = now_ms + ms;
    server_set_deadline(server, &connection->deadline, next_ms(connection, now_ms));
}

static int64_t request_ms(Server *server) { return policy_get(&server->policy)->limits.request_ms; }

void connection_notify(void *context, struct MHD_Connection *library, void **socket_context,
                       enum MHD_ConnectionNotificationCode code) {
    Server *server = context;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        Connection *connection = *socket_context;
        if (connection == NULL) return;
        server_clear_deadline(server, &connection->deadline); // [connection-1]
        atomic_fetch_sub(&server->counters.connections, 1);
        mem_free(connection);
        return;
    }
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(library, MHD_CONNECTION_INFO_CONNECTION_FD);
    Connection *connection = mem_zalloc(sizeof *connection);
    connection->server = server;
    connection->fd = info->connect_fd;
    connection->deadline.due = look_or_cut;
    *socket_context = connection;
    atomic_fetch_add(&server->counters.connections, 1);
    allow(connection, LOOK_MS, request_ms(server));
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
    allow(connection, 0,
          exchange->policy->limits.request_ms + (int64_t)answer_size / SEND_RATE_MIN);
}

void connection_ended(Exchange *exchange, bool is_whole) {
    Connection *connection = connection_of(exchange);
    if (connection == NULL) return;
    const ServerLimits *limits = &exchange->policy->limits;
    allow(connection, LOOK_MS, limits->request_ms + limits->idle_seconds * 1000);
    if (is_whole) show_end(connection->fd); // no reason to wait for the first look
}

void connection_watch(const Exchange *exchange, Watch *watch) {
    const Connection *connection = connection_of(exchange);
    if (connection != NULL) server_watch(exchange->server, watch, connection->fd);
}

bool connection_has_left(const Exchange *exchange) {
    const Connection *connection = connection_of(exchange);
    if (connection == NULL) return true;
    struct pollfd end = {.fd = connection->fd, .events = POLLRDHUP};
    return poll(&end, 1, 0) > 0;
}

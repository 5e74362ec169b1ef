// The load generator's connections: epoll, one growing buffer each way.
//
// It shares two processors with the server it measures, so it does little: answers are found by
// their Content-Length, requests that wait are written together.
//
// Not here: what is asked (server.c).
#include "http.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { EVENTS_MAX = 512, READ_SIZE = 64 << 10, HEAD_MAX = 512 };

_Noreturn static void give_up(const char *what) {
    perror(what);
    exit(1);
}

void http_init(Http *http, uint16_t port) {
    *http = (Http){.epoll = epoll_create1(EPOLL_CLOEXEC), .port = port};
    if (http->epoll < 0) give_up("epoll");
}

void http_done(Http *http) { close(http->epoll); }

static void watch(HttpConnection *connection, int operation, uint32_t events) {
    struct epoll_event event = {.events = events, .data.ptr = connection};
    if (epoll_ctl(connection->http->epoll, operation, connection->fd, &event) != 0)
        give_up("epoll_ctl");
}

HttpConnection *http_open(Http *http, HttpAnswer answer, void *context) {
    HttpConnection *connection = calloc(1, sizeof *connection);
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons(http->port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int yes = 1;
    connection->http = http;
    connection->answer = answer;
    connection->context = context;
    connection->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection->fd < 0 ||
        connect(connection->fd, (const struct sockaddr *)&address, sizeof address) != 0)
        give_up("connect");
    setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    watch(connection, EPOLL_CTL_ADD, EPOLLIN);
    return connection;
}

void http_close(HttpConnection *connection) {
    close(connection->fd);
    free(connection->out);
    free(connection->in);
    free(connection);
}

static char *room(char **buffer, size_t *size, size_t len, size_t extra) {
    if (len + extra > *size) {
        *size = (len + extra) * 2;
        *buffer = realloc(*buffer, *size);
        if (*buffer == NULL) give_up("memory");
    }
    return *buffer + len;
}

static void make_dirty(HttpConnection *connection) {
    if (connection->is_dirty) return;
    connection->is_dirty = true;
    connection->next_dirty = connection->http->dirty;
    connection->http->dirty = connection;
}

void http_send(HttpConnection *connection, const char *method, const char *target, const char *body,
               size_t len) {
    char *at = room(&connection->out, &connection->out_size, connection->out_len, HEAD_MAX + len);
    int head;
    if (body == NULL) {
        head = snprintf(at, HEAD_MAX, "%s %s HTTP/1.1\r\nHost: localhost\r\n\r\n", method, target);
    } else {
        head = snprintf(at, HEAD_MAX,
                        "%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %zu\r\n\r\n", method,
                        target, len);
    }
    if (head < 0 || head >= HEAD_MAX) give_up("a target is too long");
    if (len > 0) memcpy(at + head, body, len);
    connection->out_len += (size_t)head + len;
    connection->http->request_count++;
    make_dirty(connection);
}

static void flush_one(HttpConnection *connection) {
    connection->is_dirty = false;
    while (connection->out_sent < connection->out_len) {
        ssize_t sent =
            send(connection->fd, connection->out + connection->out_sent,
                 connection->out_len - connection->out_sent, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0 && errno == EAGAIN) {
            if (!connection->is_watching_out) watch(connection, EPOLL_CTL_MOD, EPOLLIN | EPOLLOUT);
            connection->is_watching_out = true;
            return;
        }
        if (sent < 0) give_up("send");
        connection->out_sent += (size_t)sent;
    }
    connection->out_len = connection->out_sent = 0;
    if (connection->is_watching_out) watch(connection, EPOLL_CTL_MOD, EPOLLIN);
    connection->is_watching_out = false;
}

static void flush_all(Http *http) {
    while (http->dirty != NULL) {
        HttpConnection *connection = http->dirty;
        http->dirty = connection->next_dirty;
        flush_one(connection);
    }
}

// The value of Content-Length in a head that ends at `end`; -1 = there is none.
static long content_length(const char *head, const char *end) {
    static const char name[] = "\r\nContent-Length: ";
    const char *at = memmem(head, (size_t)(end - head), name, sizeof name - 1);
    return at == NULL ? -1 : strtol(at + sizeof name - 1, NULL, 10);
}

// Deals out the answers that are complete. A chunked one is a stream: its head counts as the
// answer, and what follows is dropped.
static void deal(HttpConnection *connection) {
    size_t at = 0;
    while (at < connection->in_len) {
        char *head = connection->in + at;
        size_t left = connection->in_len - at;
        char *end = memmem(head, left, "\r\n\r\n", 4);
        if (end == NULL || left < 12) break;
        int status = (int)strtol(head + 9, NULL, 10);
        long len = content_length(head, end);
        char *body = end + 4;
        if (len < 0) {
            connection->in_len = at = 0;
            connection->answer(connection, status, body, 0);
            return;
        }
        if ((size_t)(body - head) + (size_t)len > left) break;
        at += (size_t)(body - head) + (size_t)len;
        connection->answer(connection, status, body, (size_t)len);
    }
    memmove(connection->in, connection->in + at, connection->in_len - at);
    connection->in_len -= at;
}

static void take(HttpConnection *connection) {
    for (;;) {
        char *at = room(&connection->in, &connection->in_size, connection->in_len, READ_SIZE);
        ssize_t len = recv(connection->fd, at, READ_SIZE, MSG_DONTWAIT);
        if (len < 0 && errno == EINTR) continue;
        if (len < 0 && errno == EAGAIN) break;
        if (len <= 0) give_up("the server closed a connection");
        connection->in_len += (size_t)len;
        if (len < READ_SIZE) break;
    }
    deal(connection);
}

void http_turn(Http *http, int timeout_ms) {
    struct epoll_event events[EVENTS_MAX];
    flush_all(http);
    int count = epoll_wait(http->epoll, events, EVENTS_MAX, timeout_ms);
    if (count < 0 && errno != EINTR) give_up("epoll_wait");
    for (int i = 0; i < count; i++) {
        HttpConnection *connection = events[i].data.ptr;
        if (events[i].events & EPOLLOUT) make_dirty(connection);
        if (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) take(connection);
    }
}

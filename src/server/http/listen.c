// Opening the socket a server listens on, and asking it where it is.
//
// Whether a server is reachable from outside is decided by the address its socket is bound to, not
// by the text somebody wrote: names may resolve to anything.
//
// Not here: accepting connections (the HTTP library), settings (cli/settings/settings.c).
#include "server/http/listen.h"
#include "server/http/listen_holder.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { LISTEN_BACKLOG = 1024 };

static Status bad_listen(Str text, Diag *diag) {
    return diag_set(diag, ERR_INVALID, "BAD_LISTEN",
                    "cannot listen on \"%.*s\": write HOST:PORT, as in 127.0.0.1:7433",
                    STR_ARG(text));
}

Status listen_parse(Str text, Str *ret_host, uint16_t *ret_port, Diag *diag) {
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

static Status listen_error(Str host, uint16_t port, const char *why, Diag *diag) {
    return diag_set(diag, ERR_UNAVAILABLE, "LISTEN_FAILED", "cannot listen on %.*s port %u: %s",
                    STR_ARG(host), port, why);
}

static Status in_use(Str host, uint16_t port, Diag *diag) {
    char holder[LISTEN_HOLDER_MAX], why[LISTEN_HOLDER_MAX + 32];
    listen_holder(port, holder);
    snprintf(why, sizeof why, "%s has it already", holder[0] ? holder : "another program");
    return listen_error(host, port, why, diag);
}

Status listen_open(Str host, uint16_t port, int *ret_fd, Diag *diag) {
    char name[256], service[8];
    snprintf(name, sizeof name, "%.*s", STR_ARG(host));
    snprintf(service, sizeof service, "%u", port);
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    int code = getaddrinfo(name, service, &hints, &found);
    if (code != 0) return listen_error(host, port, gai_strerror(code), diag);
    int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int yes = 1;
    bool is_bound = fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
                    bind(fd, found->ai_addr, found->ai_addrlen) == 0 &&
                    listen(fd, LISTEN_BACKLOG) == 0;
    int failure = errno;
    freeaddrinfo(found);
    if (!is_bound) {
        if (fd >= 0) close(fd);
        if (failure == EADDRINUSE) return in_use(host, port, diag);
        if (failure == EACCES)
            return listen_error(host, port, "ports below 1024 are for privileged programs", diag);
        return listen_error(host, port, strerror(failure), diag);
    }
    *ret_fd = fd;
    return OK;
}

Status listen_adopt(int fd, Diag *diag) {
    int is_listening = 0;
    socklen_t size = sizeof is_listening;
    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &is_listening, &size) != 0 || !is_listening)
        return diag_set(diag, ERR_INVALID, "LISTEN_FAILED",
                        "the descriptor %d that was handed over does not listen; the socket unit "
                        "needs ListenStream=, and Accept=no",
                        fd);
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0 ||
        fcntl(fd, F_SETFD, FD_CLOEXEC) != 0)
        return diag_set(diag, ERR_UNAVAILABLE, "LISTEN_FAILED",
                        "the descriptor %d that was handed over cannot be used: %s", fd,
                        strerror(errno));
    return OK;
}

// ---- where it is ----

typedef union AnyAddress {
    struct sockaddr base;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct sockaddr_un file;
    struct sockaddr_storage storage;
} AnyAddress;

static AnyAddress address_of(int fd) {
    AnyAddress address = {.storage = {0}};
    socklen_t size = sizeof address;
    if (getsockname(fd, &address.base, &size) != 0) address.base.sa_family = AF_UNSPEC;
    return address;
}

uint16_t listen_port(int fd) {
    AnyAddress address = address_of(fd);
    if (address.base.sa_family == AF_INET6) return ntohs(address.v6.sin6_port);
    return address.base.sa_family == AF_INET ? ntohs(address.v4.sin_port) : 0;
}

bool listen_is_loopback(int fd) {
    AnyAddress address = address_of(fd);
    switch (address.base.sa_family) {
    case AF_INET: return ntohl(address.v4.sin_addr.s_addr) >> 24 == 127;
    case AF_INET6: return IN6_IS_ADDR_LOOPBACK(&address.v6.sin6_addr);
    case AF_UNIX: return true;
    default: return false;
    }
}

Str listen_host(int fd, char ret_text[LISTEN_TEXT_MAX]) {
    AnyAddress address = address_of(fd);
    ret_text[0] = 0;
    if (address.base.sa_family == AF_INET)
        inet_ntop(AF_INET, &address.v4.sin_addr, ret_text, LISTEN_TEXT_MAX);
    else if (address.base.sa_family == AF_INET6)
        inet_ntop(AF_INET6, &address.v6.sin6_addr, ret_text, LISTEN_TEXT_MAX);
    else if (address.base.sa_family == AF_UNIX)
        snprintf(ret_text, LISTEN_TEXT_MAX, "unix:%.108s", address.file.sun_path);
    return str_from(ret_text);
}

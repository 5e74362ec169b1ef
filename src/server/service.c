// Talking to a service manager. Invariant [service-1] is in service.h.
//
// Variables that belong to another process (their _PID is not ours) are ignored, as the protocol
// wants it. A manager that does not listen is no reason to fail: nobody would be helped.
//
// Not here: when which of these is said (serve.c).
#include "server/service.h"
#include "base/array.h"
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { FIRST_FD = 3 };

// The number in a variable; 0 when there is none.
static int64_t number_of(const char *name) {
    const char *text = getenv(name);
    int64_t value = 0;
    for (; text != NULL && *text >= '0' && *text <= '9' && value < INT64_MAX / 100; text++)
        value = value * 10 + (*text - '0');
    return text != NULL && *text == 0 ? value : 0;
}

static bool is_ours(const char *pid_name) {
    int64_t pid = number_of(pid_name);
    return pid == 0 || pid == getpid();
}

Status service_init(Service *service, Diag *diag) {
    *service = (Service){.listen_fd = -1};
    const char *path = getenv("NOTIFY_SOCKET");
    if (path != NULL && (path[0] == '/' || path[0] == '@') &&
        strlen(path) < sizeof service->socket_path)
        memcpy(service->socket_path, path, strlen(path) + 1);
    if (is_ours("WATCHDOG_PID")) service->watchdog_ms = number_of("WATCHDOG_USEC") / 1000;
    int64_t count =
        getenv("LISTEN_PID") != NULL && is_ours("LISTEN_PID") ? number_of("LISTEN_FDS") : 0;
    const char *const names[] = {"NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC",
                                 "LISTEN_PID",    "LISTEN_FDS",   "LISTEN_FDNAMES"};
    for (size_t i = 0; i < COUNT_OF(names); i++) unsetenv(names[i]); // [service-1]
    if (count > 1)
        return diag_set(diag, ERR_INVALID, "LISTEN_FAILED",
                        "%lld sockets were handed over; one is what abide serves on",
                        (long long)count);
    if (count == 1) service->listen_fd = FIRST_FD;
    return OK;
}

void service_notify(const Service *service, const char *format, ...) {
    if (service->socket_path[0] == 0) return;
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    int len = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (len < 0 || (size_t)len >= sizeof text) return;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t path_len = strlen(service->socket_path);
    memcpy(address.sun_path, service->socket_path, path_len);
    if (address.sun_path[0] == '@') address.sun_path[0] = 0;
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return;
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + path_len);
    ssize_t sent =
        sendto(fd, text, (size_t)len, MSG_NOSIGNAL, (const struct sockaddr *)&address, size);
    (void)sent; // nobody listens: nothing can be done about it
    close(fd);
}

// The thread of a RemoteListener: connect, wait, take, tell; and again.
//
// Invariants [listen-1]-[listen-5] are in remote/listen.h.
//
// Not here: what is said to the server and what it says (postgres/listen.c, redis/listen.c).
#include "store/remote/listen.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

enum { PAUSE_FIRST_MS = 100, PAUSE_MAX_MS = 5000, FOR_EVER = -1 };

// Waits for `file` (-1 = for nothing); true when the thread is to end.
static bool wait_for(const RemoteListener *self, int file, int timeout_ms) {
    struct pollfd files[2] = {{.fd = self->stop_pipe[0], .events = POLLIN},
                              {.fd = file, .events = POLLIN}};
    while (poll(files, 2, timeout_ms) < 0 && errno == EINTR) {}
    return files[0].revents != 0;
}

static void *listener_main(void *context) {
    RemoteListener *self = context;
    for (int pause_ms = PAUSE_FIRST_MS;;) {
        if (self->ops->connect(self) != OK) { // [listen-4]
            if (wait_for(self, -1, pause_ms)) return NULL;
            pause_ms = 2 * pause_ms < PAUSE_MAX_MS ? 2 * pause_ms : PAUSE_MAX_MS;
            continue;
        }
        pause_ms = PAUSE_FIRST_MS;
        bool is_news = true; // [listen-2]
        for (int file; (file = self->ops->file(self)) >= 0; is_news = self->ops->take(self)) {
            if (is_news) self->listener.changed(self->listener.context);
            if (wait_for(self, file, FOR_EVER)) return NULL;
        }
    }
}

RemoteListener *remote_listener_start(RemoteListener *self, const StoreListener *owner) {
    self->listener = *owner;
    bool has_pipe = pipe2(self->stop_pipe, O_CLOEXEC) == 0;
    if (has_pipe && pthread_create(&self->thread, NULL, listener_main, self) == 0) return self;
    if (has_pipe) {
        close(self->stop_pipe[0]);
        close(self->stop_pipe[1]);
    }
    self->ops->close(self);
    return NULL;
}

void remote_listener_stop(RemoteListener *self) {
    if (self == NULL) return;
    close(self->stop_pipe[1]);
    pthread_join(self->thread, NULL);
    close(self->stop_pipe[0]);
    self->ops->close(self);
}

// Hearing of what other nodes write: LISTEN on a connection of its own, waited for by a thread.
//
// A batch that concerns others (work to be claimed, runs that ended) ends with NOTIFY when there
// are other nodes. PostgreSQL delivers that after the commit, and once for several.
//
//   [N1] Nothing depends on it: a node that heard nothing looks around when it renews its lease.
//   [N2] After each connection the listener is called once, because something may have been missed.
//   [N3] What our own writer sent is no news.
//   [N4] A lost connection is made again, with pauses that grow.
#include "base/memory.h"
#include "store/postgres_internal.h"
#include "store/store.h"
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

enum { PAUSE_FIRST_MS = 100, PAUSE_MAX_MS = 5000 };

struct PgListener {
    PgLink link;
    StoreListener listener;
    pthread_t thread;
    int stop_pipe[2]; // closing the writing end ends the thread
};

// True when the thread is to end. -1 waits without end, and for the server too.
static bool wait_for(const PgListener *self, int timeout_ms) {
    int count = timeout_ms < 0 ? 2 : 1;
    struct pollfd files[2] = {{.fd = self->stop_pipe[0], .events = POLLIN}};
    if (count == 2) files[1] = (struct pollfd){.fd = PQsocket(self->link.connection),
                                               .events = POLLIN};
    (void)poll(files, (nfds_t)count, timeout_ms);
    return files[0].revents != 0;
}

static Status begin_listening(PgListener *self) {
    char sql[16 + PG_SCHEMA_NAME_MAX];
    snprintf(sql, sizeof(sql), "LISTEN abide_%s", self->link.address->schema);
    TRY(pg_link_connect(&self->link, NULL));
    return pg_link_query(&self->link, sql, NULL, NULL);
}

// Takes what has arrived; true when some of it is news. [N3]
static bool notices_take(PgListener *self) {
    bool is_news = false;
    for (;;) {
        PGnotify *notice = PQnotifies(self->link.connection);
        if (notice == NULL) return is_news;
        is_news |= notice->be_pid != atomic_load(&self->link.address->writer_pid);
        PQfreemem(notice);
    }
}

static void *listener_main(void *context) {
    PgListener *self = context;
    for (int pause_ms = PAUSE_FIRST_MS;;) {
        if (begin_listening(self) != OK) { // [N4]
            if (wait_for(self, pause_ms)) return NULL;
            pause_ms = 2 * pause_ms < PAUSE_MAX_MS ? 2 * pause_ms : PAUSE_MAX_MS;
            continue;
        }
        pause_ms = PAUSE_FIRST_MS;
        bool is_news = true; // [N2]
        while (pg_link_is_alive(&self->link)) {
            is_news |= notices_take(self);
            if (is_news) self->listener.changed(self->listener.context);
            is_news = false;
            if (wait_for(self, -1)) return NULL;
            if (!PQconsumeInput(self->link.connection)) pg_link_drop(&self->link);
        }
    }
}

PgListener *pg_listener_start(PgAddress *address, const StoreListener *listener) {
    PgListener *self = mem_zalloc(sizeof(PgListener));
    pthread_mutex_lock(&address->mutex);
    address->user_count++;
    pthread_mutex_unlock(&address->mutex);
    pg_link_init(&self->link, address);
    self->listener = *listener;
    bool is_made = pipe2(self->stop_pipe, O_CLOEXEC) == 0;
    if (is_made && pthread_create(&self->thread, NULL, listener_main, self) == 0) return self;
    if (is_made) {
        close(self->stop_pipe[0]);
        close(self->stop_pipe[1]);
    }
    pg_link_done(&self->link);
    pg_address_leave(address);
    mem_free(self);
    return NULL; // [N1]
}

void pg_listener_stop(PgListener *self) {
    if (self == NULL) return;
    close(self->stop_pipe[1]);
    pthread_join(self->thread, NULL);
    close(self->stop_pipe[0]);
    PgAddress *address = self->link.address;
    pg_link_done(&self->link);
    pg_address_leave(address);
    mem_free(self);
}

// What PostgreSQL has to do for remote/listen.h: LISTEN.
//
// A batch ends with NOTIFY when there are other nodes. PostgreSQL delivers that after the commit,
// and once for several.
//
// Not here: the thread, and what a lost connection means (remote/listen.c); who sends
// (postgres/remote.c).
#include "store/remote/listen.h"
#include "base/memory.h"
#include "store/postgres/internal.h"
#include <stdatomic.h>
#include <stdio.h>

typedef struct PgListener {
    RemoteListener base;
    PgLink link;
} PgListener;

static Status listener_connect(RemoteListener *listener) {
    PgLink *link = &((PgListener *)listener)->link;
    char sql[16 + PG_SCHEMA_NAME_MAX];
    snprintf(sql, sizeof(sql), "LISTEN abide_%s", link->address->schema);
    TRY(pg_link_connect(link, NULL));
    return pg_link_query(link, sql, NULL, NULL);
}

static int listener_file(const RemoteListener *listener) {
    const PgLink *link = &((const PgListener *)listener)->link;
    return pg_link_is_alive(link) ? PQsocket(link->connection) : -1;
}

static bool listener_take(RemoteListener *listener) {
    PgLink *link = &((PgListener *)listener)->link;
    bool is_news = false;
    if (!PQconsumeInput(link->connection)) {
        pg_link_drop(link);
        return false;
    }
    for (PGnotify *notice; (notice = PQnotifies(link->connection)) != NULL;) {
        is_news |= notice->be_pid != atomic_load(&link->address->writer_pid); // [listen-3]
        PQfreemem(notice);
    }
    return is_news;
}

static void listener_close(RemoteListener *listener) {
    PgListener *self = (PgListener *)listener;
    PgAddress *address = self->link.address;
    pg_link_done(&self->link);
    pg_address_leave(address);
    mem_free(self);
}

static const RemoteListenerOps pg_listener_ops = {
    .connect = listener_connect,
    .file = listener_file,
    .take = listener_take,
    .close = listener_close,
};

RemoteListener *pg_listener_new(PgAddress *address) {
    PgListener *self = mem_zalloc(sizeof(PgListener));
    self->base.ops = &pg_listener_ops;
    pg_address_join(address);
    pg_link_init(&self->link, address);
    return &self->base;
}

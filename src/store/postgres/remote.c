// The writer's side of PostgreSQL: what remote.h asks for, in pipelines.
//
//   a batch that read nothing:  BEGIN, take_version, writes, COMMIT               one round trip
//   one that had to read:       BEGIN, check or lock, reads | … | raise, writes, COMMIT
//
// Batches of one store are serialised by the row of the table `store`: taking the version locks
// it until the end of the transaction. That sounds slow and is not: a batch is hundreds of
// operations, its transaction lasts as long as one flush of the log, and rows that are never
// contended need no locks, no retries and no order of locking (docs/decisions/0010).
//
//   [postgres-remote-1] Every transaction takes the row of `store` before it reads or writes
//        anything else.
//   [postgres-remote-2] A connection lost while a commit was under way is noted in the address: it
//        is settled (pg_link_settle) before anything is read or written on another one. [remote-4]
//   [postgres-remote-3] A node that stands still in the middle of a transaction is cut off by the
//        server, or by whoever waited for it in vain.
#include "base/assert.h"
#include "base/memory.h"
#include "store/postgres/internal.h"
#include "store/remote/listen.h"
#include <stdio.h>

enum { CHUNK_SIZE_MAX = 64 << 20 }; // bytes of one statement's rows

typedef struct PgRemote {
    Remote base;
    PgLink link;
    bool is_open;  // a transaction is
    bool is_first; // nothing has been known yet
    int step_pid;  // the backend of the step that takes part
} PgRemote;

static const RemoteOps pg_remote_ops;

static PgRemote *pg_remote(Remote *remote) {
    ASSERT(remote->ops == &pg_remote_ops);
    return (PgRemote *)remote;
}

static void send_plain(PgRemote *self, uint64_t shape) {
    if (pg_link_is_unprepared(&self->link, shape)) {
        pg_sql_plain(&self->link.sql, self->link.address->schema, shape);
    }
    pg_link_execute(&self->link, shape);
}

// ---- connecting ----

static Status remote_connect(Remote *remote, bool *ret_is_new, Diag *diag) {
    PgRemote *self = pg_remote(remote);
    ASSERT(!self->is_open);
    const PGconn *before = self->link.connection;
    int pid_before = before != NULL ? PQbackendPID(before) : 0;
    TRY(pg_link_connect(&self->link, diag));
    self->link.address->writer_pid = PQbackendPID(self->link.connection);
    *ret_is_new = self->is_first || PQbackendPID(self->link.connection) != pid_before;
    self->is_first = false;
    return OK;
}

// [postgres-remote-2]
static void note_lost(PgRemote *self, int pid) {
    PgAddress *address = self->link.address;
    pthread_mutex_lock(&address->mutex);
    address->is_unsettled = true;
    address->lost_pid = pid;
    pthread_mutex_unlock(&address->mutex);
}

static Status failed(PgRemote *self, int pid, Status status) {
    PgTrouble trouble = self->link.trouble;
    self->is_open = false;
    if (!pg_link_is_alive(&self->link)) {
        note_lost(self, pid);
        return status;
    }
    // The transaction is in an error, or not even begun; either way this ends it.
    Diag ignored;
    if (pg_link_query(&self->link, "ROLLBACK", NULL, &ignored) != OK) {
        pg_link_drop(&self->link);
        note_lost(self, pid);
    }
    switch (trouble) {
    case PG_TROUBLE_OTHER: break;
    case PG_TROUBLE_HELD: pg_link_end_idle_holders(&self->link); break;
    case PG_TROUBLE_NEWER: self->link.address->is_newer = true; break;
    // A server that became a standby does not come back as a primary: look for another host.
    case PG_TROUBLE_STANDBY: pg_link_drop(&self->link); break;
    }
    return status;
}

// ---- reading ----

static Status remote_fetch(Remote *remote, int64_t *version, const FetchList *list, Diag *diag) {
    PgRemote *self = pg_remote(remote);
    PgLink *link = &self->link;
    Fetch *fetches = list->fetches;
    if (!pg_link_is_alive(link)) return pg_lost(link->connection, diag);
    int pid = PQbackendPID(link->connection);
    bool is_begin = !self->is_open;
    bool has_changes = is_begin && list->changes != NULL && *version != VERSION_ANY;
    if (is_begin) { // [postgres-remote-1]
        pg_link_send(link, PG_BEGIN);
        send_plain(self, PG_SHAPE_LOCK);
    }
    if (has_changes) {
        pg_param_i64(link, *version);
        send_plain(self, PG_SHAPE_CHANGES);
    }
    for (size_t i = 0; i < list->count; i++) pg_send_scan(link, &fetches[i].scan);
    Diag detail;
    diag_clear(&detail);
    Status status = pg_link_run(link, &detail);
    if (status != OK) {
        if (diag != NULL) *diag = detail;
        return failed(self, pid, status);
    }
    self->is_open = true;
    size_t at = 0;
    if (is_begin) {
        int64_t present = pg_take_i64(link->results.data[at++]);
        if (has_changes) {
            pg_take_changes(link->results.data[at++], *version + 1, present, list->arena,
                            list->changes);
        } else if (*version != VERSION_ANY && present != *version) {
            return failed(self, pid, ERR_CONFLICT);
        }
        *version = present;
    }
    ASSERT(link->results.count == at + list->count);
    for (size_t i = 0; i < list->count; i++) {
        pg_take_rows(link->results.data[at + i], &tables[fetches[i].scan.table], list->arena,
                     &fetches[i].rows, &fetches[i].count);
    }
    return OK;
}

// ---- writing ----

static size_t write_size(const RowWrite *write) {
    const Table *table = &tables[write->table];
    size_t size = table->row_size;
    for (uint8_t i = 0; i < table->column_count; i++) {
        const Column *column = &table->columns[i];
        if (column->type != COLUMN_I64) size += row_str(write->row, column).len;
    }
    return size;
}

static void send_all(PgRemote *self, const RowWrite *writes, size_t count) {
    for (size_t first = 0; first < count;) {
        size_t end = first, size = 0;
        uint64_t shape = pg_shape_write(&writes[first]);
        while (end < count && size < CHUNK_SIZE_MAX && pg_shape_write(&writes[end]) == shape) {
            size += write_size(&writes[end++]);
        }
        pg_send_writes(&self->link, writes + first, end - first);
        first = end;
    }
}

// [remote-6] What is past its time goes with every few bodies, so that each costs little.
static void send_body(PgRemote *self, int64_t version, Str body) {
    enum { TRIM_EVERY = 32 };
    pg_param_i64(&self->link, version);
    pg_param_bytes(&self->link, body);
    send_plain(self, PG_SHAPE_KEEP);
    if (version % TRIM_EVERY != 0) return;
    pg_param_i64(&self->link, version - CHANGES_KEPT);
    send_plain(self, PG_SHAPE_TRIM);
}

static Status remote_commit(Remote *remote, int64_t version, const WriteList *list, Diag *diag) {
    PgRemote *self = pg_remote(remote);
    PgLink *link = &self->link;
    size_t count = list->count;
    if (!pg_link_is_alive(link)) return pg_lost(link->connection, diag);
    int pid = PQbackendPID(link->connection);
    if (!self->is_open && count == 0) { // nobody has to wait for that
        pg_param_i64(link, version);
        send_plain(self, PG_SHAPE_CHECK);
    } else {
        if (!self->is_open) {
            pg_link_send(link, PG_BEGIN);
            pg_param_i64(link, version);
            send_plain(self, PG_SHAPE_TAKE); // [postgres-remote-1]
        } else if (count > 0) {
            send_plain(self, PG_SHAPE_RAISE);
        }
        send_all(self, list->writes, count);
        if (count > 0 && !str_is_null(list->body)) send_body(self, version + 1, list->body);
        if (list->has_news) {
            char sql[16 + PG_SCHEMA_NAME_MAX];
            snprintf(sql, sizeof(sql), "NOTIFY abide_%s", link->address->schema);
            pg_link_send(link, sql);
        }
        pg_link_send(link, "COMMIT");
    }
    Diag detail;
    diag_clear(&detail);
    Status status = pg_link_run(link, &detail);
    self->is_open = false;
    if (status == OK) return OK;
    if (diag != NULL) *diag = detail;
    return failed(self, pid, status);
}

static Status remote_heartbeat(Remote *remote, Heartbeat *heartbeat, Arena *arena,
                               int64_t *ret_version, Diag *diag) {
    PgRemote *self = pg_remote(remote);
    PgLink *link = &self->link;
    if (!pg_link_is_alive(link)) return pg_lost(link->connection, diag);
    int pid = PQbackendPID(link->connection);
    // [postgres-link-5] of postgres/link.c; a transaction of its own ends with the pipeline.
    if (!self->is_open && heartbeat->node != 0) pg_link_send(link, "SET TRANSACTION READ WRITE");
    pg_send_heartbeat(link, heartbeat);
    Diag detail;
    diag_clear(&detail);
    Status status = pg_link_run(link, &detail);
    if (status != OK) {
        if (diag != NULL) *diag = detail;
        return failed(self, pid, status);
    }
    pg_take_heartbeat(link->results.data[0], heartbeat, arena, ret_version);
    return OK;
}

static void remote_rollback(Remote *remote) {
    PgRemote *self = pg_remote(remote);
    if (!self->is_open) return;
    self->is_open = false;
    // Nothing was written: whether this arrives does not matter.
    if (pg_link_query(&self->link, "ROLLBACK", NULL, NULL) != OK) pg_link_drop(&self->link);
}

// ---- steps that take part ----

static Status remote_savepoint(Remote *remote, void **ret_database, Diag *diag) {
    PgRemote *self = pg_remote(remote);
    ASSERT(self->is_open);
    self->step_pid = PQbackendPID(self->link.connection);
    Diag detail;
    diag_clear(&detail);
    Status status = pg_step_begin(&self->link, &detail);
    if (status != OK) {
        if (diag != NULL) *diag = detail;
        return failed(self, self->step_pid, status);
    }
    *ret_database = self->link.connection;
    return OK;
}

static Status remote_savepoint_end(Remote *remote, bool is_kept, Diag *diag) {
    PgRemote *self = pg_remote(remote);
    Diag detail;
    diag_clear(&detail);
    Status status = pg_step_end(&self->link, is_kept, &detail);
    if (status == OK) return OK;
    if (diag != NULL) *diag = detail;
    return status == ERR_CONFLICT ? status : failed(self, self->step_pid, status);
}

static RemoteListener *remote_listener_new(Remote *remote) {
    return pg_listener_new(pg_remote(remote)->link.address);
}

static void remote_close(Remote *remote) {
    PgRemote *self = pg_remote(remote);
    PgAddress *address = self->link.address;
    pg_link_done(&self->link);
    pg_address_leave(address);
    mem_free(self);
}

static const RemoteOps pg_remote_ops = {
    .name = "postgres",
    .connect = remote_connect,
    .fetch = remote_fetch,
    .commit = remote_commit,
    .heartbeat = remote_heartbeat,
    .rollback = remote_rollback,
    .database_kind = DATABASE_POSTGRES,
    .savepoint = remote_savepoint,
    .savepoint_end = remote_savepoint_end,
    .listener_new = remote_listener_new,
    .close = remote_close,
};

Status pg_remote_open(PgAddress *address, Remote **ret_remote, Diag *diag) {
    PgRemote *self = mem_zalloc(sizeof(PgRemote));
    self->base.ops = &pg_remote_ops;
    self->is_first = true;
    pg_address_join(address);
    pg_link_init(&self->link, address);
    Status status = pg_link_connect(&self->link, diag);
    if (status == OK) status = pg_schema_open(&self->link, false, diag);
    if (status != OK) {
        remote_close(&self->base);
        return status;
    }
    *ret_remote = &self->base;
    return OK;
}

// The reader's side of PostgreSQL, and opening a store there.
//
// A read is a transaction of its own with one view of everything (REPEATABLE READ, READ ONLY). Its
// BEGIN travels with its first question and its end with nobody waiting for it, so a read that
// asks once costs one round trip.
//
//   [postgres-reader-1] Once the writer has met a schema that it does not know, nothing is read
//        from it either.
//
// Nothing is checked here: PostgreSQL looks after its own pages (checksums, amcheck), and whether
// every index delivers the rows it should is shown by the walk over all tables.
#include "base/assert.h"
#include "base/memory.h"
#include "base/version.h"
#include "store/module.h"
#include "store/postgres/internal.h"
#include "store/reads/read_turn.h"

typedef struct PgReader {
    RemoteReader base;
    PgLink link;
    bool is_open; // the transaction is
} PgReader;

static const RemoteReaderOps pg_reader_ops;

static PgReader *pg_reader(RemoteReader *reader) {
    ASSERT(reader->ops == &pg_reader_ops);
    return (PgReader *)reader;
}

static Status reader_begin(RemoteReader *reader, Diag *diag) {
    PgReader *self = pg_reader(reader);
    PgAddress *address = self->link.address;
    self->is_open = false;
    TRY(pg_link_connect(&self->link, diag));
    if (!address->is_newer) return OK;
    TRY(pg_schema_check(&self->link, diag)); // [postgres-reader-1]
    address->is_newer = false;
    return OK;
}

static Status reader_ask(RemoteReader *reader, const FetchList *list, bool is_retry, Diag *diag) {
    (void)is_retry; // a view lasts as long as its transaction
    PgReader *self = pg_reader(reader);
    PgLink *link = &self->link;
    if (!pg_link_is_alive(link)) return pg_lost(link->connection, diag);
    if (!self->is_open) pg_link_send(link, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    for (size_t i = 0; i < list->count; i++) pg_send_scan(link, &list->fetches[i].scan);
    Status status = pg_link_run(link, diag);
    self->is_open = status == OK;
    if (status != OK) {
        pg_link_drop(link);
        return status;
    }
    for (size_t i = 0; i < list->count; i++) {
        Fetch *fetch = &list->fetches[i];
        pg_take_rows(link->results.data[i], &tables[fetch->scan.table], list->arena, &fetch->rows,
                     &fetch->count);
    }
    return OK;
}

static bool reader_is_lost(const RemoteReader *reader) {
    return !pg_link_is_alive(&((const PgReader *)reader)->link);
}

static Status reader_heartbeat(RemoteReader *reader, Heartbeat *heartbeat, Arena *arena,
                               Diag *diag) {
    PgReader *self = pg_reader(reader);
    int64_t version;
    if (!pg_link_is_alive(&self->link)) return pg_lost(self->link.connection, diag);
    pg_send_heartbeat(&self->link, heartbeat);
    TRY(pg_link_run(&self->link, diag));
    pg_take_heartbeat(self->link.results.data[0], heartbeat, arena, &version);
    return OK;
}

static void reader_end(RemoteReader *reader) {
    PgReader *self = pg_reader(reader);
    if (self->is_open) {
        pg_link_send(&self->link, "ROLLBACK");
        pg_link_run_later(&self->link);
    }
    self->is_open = false;
}

static void reader_close(RemoteReader *reader) {
    PgReader *self = pg_reader(reader);
    PgAddress *address = self->link.address;
    pg_link_done(&self->link);
    pg_address_leave(address);
    mem_free(self);
}

static const RemoteReaderOps pg_reader_ops = {
    .name = "postgres",
    .begin = reader_begin,
    .ask = reader_ask,
    .is_lost = reader_is_lost,
    .heartbeat = reader_heartbeat,
    .end = reader_end,
    .close = reader_close,
};

static Status reader_open(PgAddress *address, bool is_read_only, RemoteReader **ret_reader,
                          Diag *diag) {
    PgReader *self = mem_zalloc(sizeof(PgReader));
    self->base.ops = &pg_reader_ops;
    pg_address_join(address);
    pg_link_init(&self->link, address);
    self->link.answer_ms = READ_ANSWER_MS;
    Status status = pg_link_connect(&self->link, diag);
    if (status == OK && is_read_only) status = pg_schema_open(&self->link, true, diag);
    if (status != OK) {
        reader_close(&self->base);
        return status;
    }
    *ret_reader = &self->base;
    return OK;
}

static Status open_both(Str url, const StoreConfig *config, RemotePair *ret_pair, Diag *diag) {
    PgAddress *address = NULL;
    TRY(pg_address_new(url, &address, diag)); // ours, until both have theirs
    Remote *remote = NULL;
    RemoteReader *reader = NULL;
    Status status = OK;
    if (!config->is_read_only) status = pg_remote_open(address, &remote, diag);
    if (status == OK) status = reader_open(address, config->is_read_only, &reader, diag);
    if (status != OK && remote != NULL) remote->ops->close(remote);
    if (status == OK) *ret_pair = (RemotePair){remote, reader};
    pg_address_leave(address);
    return status;
}

STORE_MODULE(postgres) = {program_version, store_interface, open_both};

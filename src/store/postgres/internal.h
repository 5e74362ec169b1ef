// What the files of the PostgreSQL backend share.
//
// postgres/url.c     what of the URL is ours, what is libpq's
// postgres/link.c    one connection: settings, pipelines, prepared statements
// postgres/error.c   PostgreSQL's answers in our words
// postgres/sql.c     SQL text from the tables
// postgres/rows.c    rows to parameters and back
// postgres/schema.c  making the schema, bringing it up
// postgres/remote.c  the writer: what RemoteRows asks of a server
// postgres/steps.c   steps that take part in the writer's transaction
// postgres/listen.c  hearing of what other nodes write
// postgres/reader.c  the reader, and opening both
#pragma once
#include "base/containers/buf.h"
#include "base/containers/map.h"
#include "base/containers/vec.h"
#include "store/remote/remote.h"
#include "store/row_key.h"
#include <libpq-fe.h>
#include <pthread.h>

// A test builds a program as a later abide would be: one step ahead of this one.
#ifndef ABIDE_SCHEMA_STEP
#define ABIDE_SCHEMA_STEP 0
#endif

enum {
    PG_SERVER_VERSION_MIN = 120000, // as PQserverVersion: plan_cache_mode
    // Raised when an older abide cannot work with it any more. [postgres-schema-2] of
    // postgres/schema.c
    PG_SCHEMA_VERSION = 4 + ABIDE_SCHEMA_STEP,
    PG_SCHEMA_NAME_MAX = 40,
    PG_SQL_SIZE_MAX = 64 << 10,
    PG_STATEMENT_NAME_SIZE = 32,
    PG_WIRE_SIZE_MAX = 1 << 30, // PostgreSQL takes no larger message
    PG_STATEMENTS_MAX = 512,    // prepared per connection; past it they are prepared anew
    PG_LOCK_TIMEOUT_MS = 10 * 1000,
    PG_SCHEMA_LOCK_TIMEOUT_MS = 300, // well below the server's deadlock_timeout, a second
    PG_SCHEMA_ATTEMPTS_MAX = 100,
    PG_STATEMENT_TIMEOUT_MS = 60 * 1000,
    PG_ANSWER_TIMEOUT_MS = 75 * 1000, // past it the connection counts as lost
    PG_SILENCE_MS = 3 * 1000,         // past it the server is asked whether it answers anybody
    PG_SILENCE_KEPT_MS = 1000,        // after it did not
    PG_IDLE_TIMEOUT_MS = 10 * 1000,   // of an open transaction; the server ends it then
};
#define PG_CHANGED          "AB001" // SQLSTATE: the version is not the expected one
#define PG_MISSING          "AB002" // a row that must be there is not
#define PG_NEWER            "AB003" // the schema has become one that this program does not know
#define PG_GUARDED          "AB004" // a step tried to end the transaction it takes part in
#define PG_BEGIN            "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
#define PG_STATEMENT_PREFIX "abide_" // of the names of our prepared statements

typedef struct PgAddress { // shared by writer and reader; the last one frees it
    char *url;             // for libpq
    char schema[PG_SCHEMA_NAME_MAX + 1];
    pthread_mutex_t mutex;
    int user_count;
    // [remote-4] The outcome of a commit on the backend `lost_pid` is not known. Whoever speaks to
    //      the
    // server next ends that backend and raises the version, so that nothing of it comes later.
    bool is_unsettled;
    int lost_pid;
    _Atomic int writer_pid;          // what comes from there is no news to us
    _Atomic bool is_newer;           // the writer was refused with PG_NEWER: the reader looks first
    _Atomic int64_t silent_until_ns; // the server answered nobody: nobody asks it again until then
} PgAddress;

typedef struct PgParam {
    size_t offset; // in `wire`
    int len;       // -1 = null
} PgParam;

// What the server's last error asks for, besides what its Status does.
typedef enum PgTrouble {
    PG_TROUBLE_OTHER,
    PG_TROUBLE_HELD,    // somebody holds the store
    PG_TROUBLE_NEWER,   // a newer abide has brought the schema up
    PG_TROUBLE_STANDBY, // the server cannot be written
} PgTrouble;

typedef struct PgLink {
    PgAddress *address;
    PgTrouble trouble;  // of the last query or pipeline, if the server answered with an error
    int answer_ms;      // how long an answer may take; past it the connection counts as lost
    PGconn *connection; // NULL = none
    Map statements;     // shape -> its number
    uintptr_t statement_count;
    VEC(uint64_t) fresh;     // shapes prepared in the present pipeline
    VEC(bool) is_answer;     // per command of the pipeline: somebody wants its result
    VEC(PGresult *) results; // of those, once the pipeline has run
    VEC(PgParam) params;
    Buf wire, sql;
    bool is_lazy; // a pipeline was sent whose results nobody has read yet
} PgLink;

// ---- postgres/url.c ----
MUST_CHECK Status pg_address_new(Str url, PgAddress **ret_address, Diag *diag);
void pg_address_join(PgAddress *address);
void pg_address_leave(PgAddress *address); // frees it with its last user

// ---- postgres/link.c ----
void pg_link_init(PgLink *link, PgAddress *address);
void pg_link_done(PgLink *link);
void pg_link_drop(PgLink *link);              // the connection
void pg_link_silence(PgLink *link);           // notices are not for stderr
void pg_link_forget_statements(PgLink *link); // they are prepared anew
void pg_append_settings(Buf *sql);            // those of every session
MUST_CHECK Status pg_link_connect(PgLink *link, Diag *diag);
bool pg_link_is_alive(const PgLink *link);
// Runs SQL without parameters outside of a pipeline; the last result, or NULL.
MUST_CHECK Status pg_link_query(PgLink *link, const char *sql, PGresult **ret_result, Diag *diag);
// A pipeline: statements, then pg_link_run. Parameters belong to the next execute.
void pg_param_i64(PgLink *link, int64_t value);
void pg_param_bytes(PgLink *link, Str value);
// Zero or more statements that need no parameters and whose result nobody wants.
void pg_link_send(PgLink *link, const char *sql);
// True when the statement of that shape has to be prepared: its text goes into link->sql first.
bool pg_link_is_unprepared(const PgLink *link, uint64_t shape);
void pg_link_execute(PgLink *link, uint64_t shape);
// Sends what was collected and waits for all results. Anything but OK: the first error.
MUST_CHECK Status pg_link_run(PgLink *link, Diag *diag);
void pg_link_run_later(PgLink *link); // sends; the results are read, and dropped, by the next run
// Ends the transactions of others that hold the store and whose client says nothing, outside of a
// transaction. For those who have waited for it in vain.
void pg_link_end_idle_holders(PgLink *link);

// ---- postgres/error.c ----
Status pg_error(const PGresult *result, PgTrouble *ret_trouble, Diag *diag);
Status pg_lost(const PGconn *connection, Diag *diag);
Status pg_refused(const PGconn *connection, Diag *diag); // of one that was not made

// ---- postgres/sql.c: each replaces the content of `sql` ----
void pg_sql_create_table(Buf *sql, const char *schema, const Table *table);
void pg_sql_add_column(Buf *sql, const char *schema, const Table *table, uint8_t column);
void pg_sql_create_index(Buf *sql, const char *schema, const Table *table, uint8_t index);
// Parameters: matched columns that are not null, row to start after, min, max, key to start
// after, limit.
void pg_sql_scan(Buf *sql, const char *schema, const Scan *scan);
uint64_t pg_shape_scan(const Scan *scan);
// Parameters: one array per column (insert), key and changed column (update), key (remove); then,
// except for inserts, how many rows there are.
void pg_sql_write(Buf *sql, const char *schema, const RowWrite *write);
uint64_t pg_shape_write(const RowWrite *write);
// Statements that do not depend on tables have these shapes: multiples of eight, the others are
// none.
enum {
    // All but the last raise PG_NEWER when the schema is beyond PG_SCHEMA_VERSION.
    PG_SHAPE_CHECK = 8,      // the version is as expected; raises PG_CHANGED
    PG_SHAPE_TAKE = 16,      // as that, and raises it: nobody else writes until the end
    PG_SHAPE_LOCK = 24,      // answers the version; nobody else writes until the end
    PG_SHAPE_RAISE = 32,     // the version goes up by one
    PG_SHAPE_KEEP = 40,      // the body of a version [remote-6]
    PG_SHAPE_TRIM = 48,      // those up to a version go
    PG_SHAPE_HEARTBEAT = 64, // a node's; answers as the next
    PG_SHAPE_LOOK = 72,      // all heartbeats, the version, and the lease in the node's own row
    PG_SHAPE_CHANGES = 56,   // versions and bodies past a version, if the first one is there
};
void pg_sql_plain(Buf *sql, const char *schema, uint64_t shape);

// ---- postgres/rows.c ----
void pg_send_scan(PgLink *link, const Scan *scan);
void pg_send_writes(PgLink *link, const RowWrite *writes, size_t count); // of one shape
void pg_take_rows(const PGresult *result, const Table *table, Arena *arena, char **ret_rows,
                  size_t *ret_count);
int64_t pg_take_i64(const PGresult *result);
// Of PG_SHAPE_CHANGES: those from `first` to `last`, if all of them are there.
void pg_take_changes(const PGresult *result, int64_t first, int64_t last, Arena *arena,
                     Changes *ret_changes);
int64_t pg_text_i64(const PGresult *result, int column); // of one that came as text

void pg_send_heartbeat(PgLink *link, const Heartbeat *heartbeat);
void pg_take_heartbeat(const PGresult *result, Heartbeat *heartbeat, Arena *arena,
                       int64_t *ret_version);

// ---- postgres/schema.c ----
// Makes the schema or brings it up; refuses one that is not ours or newer.
MUST_CHECK Status pg_schema_open(PgLink *link, bool is_read_only, Diag *diag);
// Whether a schema that was ours still is one that this program knows.
MUST_CHECK Status pg_schema_check(PgLink *link, Diag *diag);

// ---- postgres/listen.c ----
struct RemoteListener *pg_listener_new(PgAddress *address); // of remote/listen.h

// ---- postgres/steps.c: savepoint and savepoint_end of remote.h ----
MUST_CHECK Status pg_step_begin(PgLink *link, Diag *diag);
// ERR_INVALID: the connection is dropped.
MUST_CHECK Status pg_step_end(PgLink *link, bool is_kept, Diag *diag);

// ---- postgres/remote.c ----
MUST_CHECK Status pg_remote_open(PgAddress *address, Remote **ret_remote, Diag *diag);

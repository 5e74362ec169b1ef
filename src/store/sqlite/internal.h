// What the files of the SQLite backend share.
//
// sqlite/sql.c    writes SQL text from the tables
// sqlite/rows.c   the RowStore verbs over prepared statements
// run_cache.c     the rows of runs in memory
// sqlite/error.c  SQLite's answers in our words
// sqlite/backup.c copies of a store that goes on (backup.h)
// sqlite/lock.c   one owner per file
// sqlite/log.c    what a process did not write itself is made durable first
// sqlite/open.c   opening, refusing, settings
// migrations.c    the schema, version by version
#pragma once
#include "base/containers/buf.h"
#include "base/containers/map.h"
#include "base/log.h"
#include "store/row_key.h"
#include "store/sqlite/run_cache.h"
#include <pthread.h>
#include <sqlite3.h>

enum {
    SQLITE_APPLICATION_ID = 0x61626964, // "abid": stands in the file's header
    SQLITE_SQL_SIZE_MAX = 64 << 10,
    SQLITE_UPDATE_STATEMENTS_MAX = 256, // per connection; past it they are prepared anew
};
#define SQLITE_PREFIX "abide_" // of our tables; an application may have its own beside them

typedef struct SqliteLock {
    int fd; // -1 = not held
    char *path;
} SqliteLock;

typedef struct SqliteRows {
    RowStore base;
    sqlite3 *database;
    char *path;
    bool is_writer;
    bool is_read_only;
    bool is_participating; // between savepoint and its end: a stranger's SQL may run
    bool has_mutex;        // readers only
    pthread_mutex_t mutex; // held from read_begin to read_end
    SqliteLock lock;       // the writer's
    Buf sql;               // scratch
    sqlite3_stmt *begin, *commit, *rollback, *read_begin;
    sqlite3_stmt *savepoint, *rollback_to, *release;
    sqlite3_stmt *get[TABLE_COUNT];
    sqlite3_stmt *insert[TABLE_COUNT];
    sqlite3_stmt *remove[TABLE_COUNT];
    Map updates;   // by table and change mask
    Map scans;     // by table and shape
    RunCache runs; // the writer's
} SqliteRows;

// ---- sqlite/sql.c: each replaces the content of `sql` ----
void sqlite_sql_create_table(Buf *sql, const Table *table);
void sqlite_sql_create_index(Buf *sql, const Table *table, uint8_t index);
void sqlite_sql_get(Buf *sql, const Table *table);
void sqlite_sql_insert(Buf *sql, const Table *table);
// Parameters: the changed columns in order, then the key columns.
void sqlite_sql_update(Buf *sql, const Table *table, uint64_t changes);
void sqlite_sql_remove(Buf *sql, const Table *table);
// Parameters: matched columns, row to start after, min, max, key to start after, limit: those
// that the scan has.
void sqlite_sql_scan(Buf *sql, const Scan *scan);

// ---- sqlite/error.c ----
// What a result code means; SQLITE_CONSTRAINT on a key is ERR_CONFLICT. Sets `diag`.
Status sqlite_error(sqlite3 *database, int code, const char *path, Diag *diag);

// Whether a result code, or the reason the system gave, says that there is no room.
bool sqlite_is_full(int code, int reason);

// ---- sqlite/log.c: before anything is acknowledged, with the lock held ----
enum { SQLITE_NO_LOG = -1 };
// Writes the log anew that a process before us left, and flushes it; before SQLite reads it.
MUST_CHECK Status sqlite_log_renew(const char *path, int64_t *ret_frame_count, Diag *diag);
// Refuses an index of the log that claims more frames than sqlite_log_renew has found.
MUST_CHECK Status sqlite_index_check(SqliteRows *self, int64_t frame_count, Diag *diag);
MUST_CHECK Status sqlite_file_flush(SqliteRows *self, Diag *diag); // and its directory

// ---- sqlite/lock.c ----
// ERR_CONFLICT/STORE_LOCKED when somebody has it, in this process or another.
MUST_CHECK Status sqlite_lock_take(const char *path, SqliteLock *ret_lock, Diag *diag);
void sqlite_lock_release(SqliteLock *lock);

// ---- sqlite/rows.c ----
SqliteRows *sqlite_rows_new(const char *path);
SqliteRows *sqlite_rows(RowStore *rows);    // checked downcast
void sqlite_rows_protect(SqliteRows *self); // [sqlite-rows-4], once the database is open
// Prepares the reading of every table: a schema that is not ours answers an error.
MUST_CHECK Status sqlite_rows_check_schema(SqliteRows *self, Diag *diag);

// ---- migrations.c ----
enum { SCHEMA_VERSION = 18 };
typedef struct Migration {
    int version; // what the file has afterwards
    Status (*apply)(sqlite3 *database, Buf *sql, Diag *diag);
} Migration;
extern const Migration migrations[];
extern const size_t migration_count;

// Brings an open database to the newest of `steps`, each in a transaction of its own.
MUST_CHECK Status migrations_run(sqlite3 *database, const Migration *steps, size_t count,
                                 Diag *diag);
// Runs SQL that answers nothing.
MUST_CHECK Status sqlite_execute(sqlite3 *database, const char *sql, Diag *diag);
// The first column of the first row of a query.
MUST_CHECK Status sqlite_query_i64(sqlite3 *database, const char *sql, int64_t *ret_value,
                                   Diag *diag);

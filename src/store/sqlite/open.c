// Opening an SQLite file, or saying clearly why not.
//
// Order: look at the path -> take the lock -> look into the file without touching it -> write its
// log anew -> open it -> bring its schema up -> settings -> flush -> a second connection for reads.
//   [open-1] A file that is not ours, or newer than this program, is left byte for byte as it was.
//   [open-2] The path is made absolute first: a later change of directory changes nothing, and
//        symbolic links to one file share its lock.
//   [open-3] A new file gets its whole schema in one transaction with a rollback journal, and
//        becomes a WAL file after that. So the header of any of our files names us, whatever
//        crashed.
//   [open-5] Our files are their owner's alone (0600): they hold what workflows were given. SQLite
//        gives the files beside a database its mode. What exists keeps the mode it has.
//   [open-4] Read-only opening takes no lock and may stand beside the owner.
#include "base/assert.h"
#include "store/sqlite/internal.h"
#include "store/store.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    BUSY_TIMEOUT_DEFAULT_MS = 5000,
    // A checkpoint costs two flushes whatever its size, and pages that are written again and again
    // (indexes, counters) go to the file once per checkpoint: rather few, of 16 MiB each. It also
    // bounds what is read again after a crash.
    CHECKPOINT_PAGES = 4000,
    JOURNAL_SIZE_LIMIT = 64 << 20, // a log that grew beyond it is cut back
    WRITER_CACHE_KIB = 64 << 10,
    READER_CACHE_KIB = 16 << 10,
};

typedef struct FileIdentity {
    int64_t application_id;
    int64_t version;
    int64_t object_count; // tables, indexes …
} FileIdentity;

// SQLite counts the bytes it uses, under a lock that each allocation takes: a twentieth of what a
// commit costs, and nobody here asks. It answers an error, which changes nothing, when SQLite is
// in use already.
void store_own_process(void) { (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

// ---- the path ----

static Status parent_check(const char *path, const char *parent, Diag *diag) {
    struct stat info;
    if (stat(parent, &info) == 0) {
        if (S_ISDIR(info.st_mode)) return OK;
        return diag_set(diag, ERR_INVALID, "STORE_PATH", "%s: %s is not a directory", path, parent);
    }
    if (errno == EACCES) {
        return diag_set(diag, ERR_UNAVAILABLE, "STORE_READ_ONLY", "%s: no access to %s", path,
                        parent);
    }
    return diag_set(diag, ERR_INVALID, "STORE_PATH", "%s: the directory %s does not exist (%s)",
                    path, parent, strerror(errno));
}

// A path of a file that does not exist yet: its directory resolved, then its name.
static Status resolve_new(const char *path, char ret_path[PATH_MAX], Diag *diag) {
    char parent[PATH_MAX], resolved[PATH_MAX];
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    if (slash == NULL) snprintf(parent, sizeof(parent), ".");
    else snprintf(parent, sizeof(parent), "%.*s", (int)(slash == path ? 1 : slash - path), path);
    if (name[0] == '\0') {
        return diag_set(diag, ERR_INVALID, "STORE_PATH", "%s: names a directory, not a file", path);
    }
    TRY(parent_check(path, parent, diag));
    if (realpath(parent, resolved) == NULL) {
        return diag_set(diag, ERR_UNAVAILABLE, "STORE_IO", "%s: %s", path, strerror(errno));
    }
    int len =
        snprintf(ret_path, PATH_MAX, "%s/%s", strcmp(resolved, "/") == 0 ? "" : resolved, name);
    if (len < PATH_MAX) return OK;
    return diag_set(diag, ERR_INVALID, "STORE_PATH", "%s: the path is too long", path);
}

static Status path_resolve(Str given, char ret_path[PATH_MAX], bool *ret_exists, Diag *diag) {
    char path[PATH_MAX];
    if (given.len == 0 || given.len >= PATH_MAX - sizeof("-journal")) {
        return diag_set(diag, ERR_INVALID, "STORE_PATH", "the path of the store is %s",
                        given.len == 0 ? "empty" : "too long");
    }
    if (memchr(given.data, '\0', given.len) != NULL) {
        return diag_set(diag, ERR_INVALID, "STORE_PATH", "the path of the store has a NUL in it");
    }
    memcpy(path, given.data, given.len);
    path[given.len] = '\0';
    struct stat info;
    if (stat(path, &info) != 0) {
        *ret_exists = false;
        return resolve_new(path, ret_path, diag);
    }
    if (!S_ISREG(info.st_mode)) {
        return diag_set(diag, ERR_INVALID, "STORE_PATH", "%s is %s; name a file", path,
                        S_ISDIR(info.st_mode) ? "a directory" : "not a regular file");
    }
    *ret_exists = true;
    if (realpath(path, ret_path) != NULL) return OK;
    return diag_set(diag, ERR_UNAVAILABLE, "STORE_IO", "%s: %s", path, strerror(errno));
}

// ---- what the file is ----

static Status identity_read(sqlite3 *database, FileIdentity *ret_identity, Diag *diag) {
    FileIdentity identity = {0};
    TRY(sqlite_query_i64(database, "PRAGMA application_id", &identity.application_id, diag));
    TRY(sqlite_query_i64(database, "PRAGMA user_version", &identity.version, diag));
    TRY(sqlite_query_i64(database, "SELECT count(*) FROM sqlite_schema", &identity.object_count,
                         diag));
    *ret_identity = identity;
    return OK;
}

static Status not_ours(const char *path, Diag *diag) {
    return diag_set(diag, ERR_INVALID, "STORE_NOT_OURS",
                    "%s is not an abide store; it was left untouched", path);
}

static bool identity_is_blank(const FileIdentity *identity) {
    return identity->application_id == 0 && identity->version == 0 && identity->object_count == 0;
}

static Status identity_check(const char *path, const FileIdentity *identity, Diag *diag) {
    if (identity->application_id != SQLITE_APPLICATION_ID) return not_ours(path, diag);
    if (identity->version > SCHEMA_VERSION) {
        return diag_set(diag, ERR_UNSUPPORTED, "STORE_NEWER",
                        "%s has schema version %lld, this abide knows versions up to %d; upgrade "
                        "abide to open it",
                        path, (long long)identity->version, SCHEMA_VERSION);
    }
    if (identity->version < 1) {
        return diag_set(diag, ERR_CORRUPT, "STORE_CORRUPT", "%s has no valid schema version", path);
    }
    return OK;
}

// A reader cannot bring the schema up; the writer does, when the file has one.
static Status version_check(const char *path, const FileIdentity *identity, Diag *diag) {
    if (identity->version == SCHEMA_VERSION) return OK;
    return diag_set(diag, ERR_OLDER, "STORE_OLDER",
                    "%s has schema version %lld, this abide reads version %d; open it for writing "
                    "once, which brings it up",
                    path, (long long)identity->version, SCHEMA_VERSION);
}

// A name for SQLite that makes it read the file alone: no locks, no journal, no files beside it.
static void immutable_uri(Buf *uri, const char *path) {
    buf_append_cstr(uri, "file:");
    for (const char *at = path; *at != '\0'; at++) {
        bool is_special = *at == '%' || *at == '?' || *at == '#';
        if (is_special) buf_printf(uri, "%%%02X", (unsigned)(unsigned char)*at);
        else buf_append_char(uri, *at);
    }
    buf_append_cstr(uri, "?mode=ro&immutable=1");
}

// True when the file is one whose making was interrupted ([open-3]): the rollback journal beside it
// says that it had no pages before. Whatever its pages say now, opening it makes it empty again.
static bool file_is_unborn(const char *path) {
    static const unsigned char magic[] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
    enum { PAGE_COUNT_AT = 16, HEADER_SIZE = 20 };
    unsigned char header[HEADER_SIZE] = {0};
    char journal[PATH_MAX + sizeof("-journal")];
    snprintf(journal, sizeof(journal), "%s-journal", path);
    int file = open(journal, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    ssize_t size = pread(file, header, HEADER_SIZE, 0);
    close(file);
    if (size != HEADER_SIZE || memcmp(header, magic, sizeof(magic)) != 0) return false;
    return memcmp(header + PAGE_COUNT_AT, "\0\0\0\0", 4) == 0;
}

static int64_t header_number(const unsigned char *at) { // big-endian
    return (int64_t)at[0] << 24 | at[1] << 16 | at[2] << 8 | at[3];
}

// True when the header names us ([open-3]). Nothing else of the file is looked at: what a crash in
// the middle of a checkpoint left in its pages makes sense only together with the log. Read through
// SQLite, because closing a descriptor of our own would drop locks that this process holds.
static bool header_is_ours(sqlite3 *database, FileIdentity *ret_identity) {
    enum { VERSION_AT = 60, APPLICATION_ID_AT = 68, HEADER_SIZE = 100 };
    unsigned char header[HEADER_SIZE] = {0};
    sqlite3_file *file = NULL;
    sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (file == NULL || file->pMethods == NULL) return false;
    if (file->pMethods->xRead(file, header, HEADER_SIZE, 0) != SQLITE_OK) return false;
    if (memcmp(header, "SQLite format 3", sizeof("SQLite format 3")) != 0) return false;
    *ret_identity = (FileIdentity){.application_id = header_number(header + APPLICATION_ID_AT),
                                   .version = header_number(header + VERSION_AT)};
    return ret_identity->application_id == SQLITE_APPLICATION_ID;
}

// [open-1] Looks at an existing file. The lock is held, so nobody of ours writes it meanwhile.
static Status file_probe(const char *path, Diag *diag) {
    if (file_is_unborn(path)) return OK;
    Buf uri;
    buf_init(&uri, 4 * PATH_MAX);
    immutable_uri(&uri, path);
    sqlite3 *database = NULL;
    FileIdentity identity = {0};
    int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX;
    int code = sqlite3_open_v2(buf_cstr(&uri), &database, flags, NULL);
    Status status = code == SQLITE_OK ? OK : sqlite_error(database, code, path, diag);
    if (status == OK && !header_is_ours(database, &identity)) {
        status = identity_read(database, &identity, diag);
    }
    if (status == ERR_CORRUPT && (sqlite3_errcode(database) & 0xFF) == SQLITE_NOTADB) {
        status = not_ours(path, diag);
    } else if (status == OK && !identity_is_blank(&identity)) {
        status = identity_check(path, &identity, diag);
    }
    sqlite3_close(database);
    buf_done(&uri);
    return status;
}

// ---- connections ----

static Status connection_open(SqliteRows *self, const StoreConfig *config, int flags, Diag *diag) {
    int code = sqlite3_open_v2(self->path, &self->database, flags | SQLITE_OPEN_NOMUTEX, NULL);
    if (code != SQLITE_OK) return sqlite_error(self->database, code, self->path, diag);
    int64_t busy_ms =
        config->busy_timeout_ms > 0 ? config->busy_timeout_ms : BUSY_TIMEOUT_DEFAULT_MS;
    sqlite3_busy_timeout(self->database, busy_ms < INT_MAX ? (int)busy_ms : INT_MAX);
    sqlite3_extended_result_codes(self->database, 1);
    return OK;
}

static Status settings_apply(SqliteRows *self, int cache_kib, Diag *diag) {
    char sql[512];
    snprintf(sql, sizeof(sql),
             "PRAGMA cache_size = -%d; PRAGMA temp_store = MEMORY; PRAGMA foreign_keys = OFF; "
             "PRAGMA trusted_schema = OFF;",
             cache_kib);
    TRY(sqlite_execute(self->database, sql, diag));
    if (!self->is_writer) return OK;
    snprintf(sql, sizeof(sql),
             "PRAGMA synchronous = FULL; PRAGMA secure_delete = OFF; "
             "PRAGMA wal_autocheckpoint = %d; PRAGMA journal_size_limit = %d;",
             CHECKPOINT_PAGES, JOURNAL_SIZE_LIMIT);
    return sqlite_execute(self->database, sql, diag);
}

static Status wal_enable(SqliteRows *self, Diag *diag) {
    sqlite3_stmt *statement = NULL;
    int code =
        sqlite3_prepare_v2(self->database, "PRAGMA journal_mode = WAL", -1, &statement, NULL);
    if (code == SQLITE_OK) code = sqlite3_step(statement);
    Status status = OK;
    if (code != SQLITE_ROW) {
        status = sqlite_error(self->database, code, self->path, diag);
    } else if (strcmp((const char *)sqlite3_column_text(statement, 0), "wal") != 0) {
        status = diag_set(diag, ERR_UNAVAILABLE, "STORE_IO",
                          "%s: its file system does not allow write-ahead logging; use a local "
                          "disk",
                          self->path);
    }
    sqlite3_finalize(statement);
    return status;
}

static Status schema_check(SqliteRows *self, Diag *diag) {
    Diag detail;
    diag_clear(&detail);
    Status status = sqlite_rows_check_schema(self, &detail);
    if (status == OK) return OK;
    if ((sqlite3_errcode(self->database) & 0xFF) != SQLITE_ERROR) {
        if (diag != NULL) *diag = detail;
        return status;
    }
    return diag_set(diag, ERR_CORRUPT, "STORE_CORRUPT", "its schema is damaged: %.300s",
                    detail.message);
}

static Status writer_prepare(SqliteRows *self, int64_t frame_count, Diag *diag) {
    FileIdentity identity = {0};
    TRY(sqlite_execute(self->database, "PRAGMA page_size = 4096", diag));
    // Until the file is known to be ours, closing it must not move anything into it.
    sqlite3_db_config(self->database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    TRY(identity_read(self->database, &identity, diag));
    if (!identity_is_blank(&identity)) TRY(identity_check(self->path, &identity, diag));
    TRY(sqlite_index_check(self, frame_count, diag));
    sqlite3_db_config(self->database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
    TRY(settings_apply(self, WRITER_CACHE_KIB, diag));
    TRY(migrations_run(self->database, migrations, migration_count, diag)); // [open-3]
    TRY(wal_enable(self, diag));
    // A first look through the log: the writer takes part in it from now on, so that closing the
    // writer last removes the files beside the database even if it never wrote.
    TRY(identity_read(self->database, &identity, diag));
    TRY(schema_check(self, diag));
    TRY(sqlite_file_flush(self, diag));
    sqlite_rows_protect(self);
    return OK;
}

static Status reader_open(const char *path, const StoreConfig *config, SqliteRows **ret_reader,
                          Diag *diag) {
    SqliteRows *reader = sqlite_rows_new(path);
    pthread_mutex_init(&reader->mutex, NULL);
    reader->has_mutex = true;
    Status status = connection_open(reader, config, SQLITE_OPEN_READONLY, diag);
    if (status == OK) status = settings_apply(reader, READER_CACHE_KIB, diag);
    FileIdentity identity = {0};
    if (status == OK) status = identity_read(reader->database, &identity, diag);
    if (status == OK) {
        status = identity_check(path, &identity, diag);
    } else if (status == ERR_CORRUPT &&
               (sqlite3_errcode(reader->database) & 0xFF) == SQLITE_NOTADB) {
        status = not_ours(path, diag);
    }
    if (status == OK) status = version_check(path, &identity, diag);
    if (status == OK) status = schema_check(reader, diag);
    if (status != OK) {
        reader->base.ops->close(&reader->base);
        return status;
    }
    *ret_reader = reader;
    return OK;
}

// An empty log holds nothing that closing could move: then SQLite may clear it away.
static void leave_no_log(SqliteRows *self) {
    char wal[PATH_MAX + sizeof("-wal")];
    struct stat info;
    snprintf(wal, sizeof(wal), "%s-wal", self->path);
    if (self->database == NULL || stat(wal, &info) != 0 || info.st_size > 0) return;
    sqlite3_db_config(self->database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
}

// [open-5] An empty file is a database without pages to SQLite. If it cannot be made SQLite says
//      why.
static void file_make(const char *path) {
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file >= 0) close(file);
}

static Status writer_open(const char *path, bool exists, const StoreConfig *config,
                          SqliteRows **ret_writer, Diag *diag) {
    if (exists && eaccess(path, R_OK | W_OK) != 0) {
        return diag_set(diag, ERR_UNAVAILABLE, "STORE_READ_ONLY", "%s cannot be written (%s)", path,
                        strerror(errno));
    }
    SqliteRows *writer = sqlite_rows_new(path);
    writer->is_writer = true;
    Status status = sqlite_lock_take(path, &writer->lock, diag);
    if (status == OK && exists) status = file_probe(path, diag);
    int64_t frame_count = SQLITE_NO_LOG;
    if (status == OK && exists) status = sqlite_log_renew(path, &frame_count, diag);
    if (status == OK && !exists) file_make(path);
    if (status == OK) {
        int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
        status = connection_open(writer, config, flags, diag);
    }
    if (status == OK) status = writer_prepare(writer, frame_count, diag);
    if (status != OK) {
        leave_no_log(writer);
        writer->base.ops->close(&writer->base);
        return status;
    }
    *ret_writer = writer;
    return OK;
}

Status sqlite_rows_open(Str path, const StoreConfig *config, RowStorePair *ret_pair, Diag *diag) {
    char resolved[PATH_MAX];
    bool exists = false;
    TRY(path_resolve(path, resolved, &exists, diag)); // [open-2]
    SqliteRows *writer = NULL, *reader = NULL;
    if (config->is_read_only) { // [open-4]
        if (!exists) {
            return diag_set(diag, ERR_NOT_FOUND, "STORE_NOT_FOUND", "there is no store %s",
                            resolved);
        }
        if (eaccess(resolved, R_OK) != 0) {
            return diag_set(diag, ERR_UNAVAILABLE, "STORE_IO", "%s cannot be read (%s)", resolved,
                            strerror(errno));
        }
        TRY(reader_open(resolved, config, &reader, diag));
        reader->is_read_only = true;
        *ret_pair = (RowStorePair){&reader->base, &reader->base};
        return OK;
    }
    TRY(writer_open(resolved, exists, config, &writer, diag));
    Status status = reader_open(resolved, config, &reader, diag);
    if (status != OK) {
        writer->base.ops->close(&writer->base);
        return status;
    }
    *ret_pair = (RowStorePair){&writer->base, &reader->base};
    return OK;
}

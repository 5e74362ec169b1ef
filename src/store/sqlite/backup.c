// Copying an SQLite store: SQLite's own backup, into a file that gets its name at the end.
//
// All pages are copied in one step, under one read transaction: beside a busy writer, several steps
// would begin anew again and again. In a WAL file readers hold nobody up; its log grows until the
// copy is done.
//
// Invariants [backup-1] and [backup-2] are in backup.h.
//
// Not here: moving a store (transfer.c), looking whether a copy is in order (verify/verify.c).
#include "store/backup.h"
#include "store/sqlite/internal.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUSY_MS = 5000 };

typedef struct Backup {
    const BackupConfig *config;
    char source[PATH_MAX];
    char partial[PATH_MAX]; // the name while it is written
    int64_t size;
    Diag *diag;
} Backup;

static Status failed(const Backup *backup, const char *what, const char *path) {
    return diag_set(backup->diag, ERR_UNAVAILABLE, "BACKUP_FAILED", "cannot %s %s: %s", what, path,
                    strerror(errno));
}

// ---- before anything is written ----

static Status source_find(Backup *backup) {
    Str url = backup->config->store, path = url;
    if (str_starts_with(url, STR("sqlite:"))) path = (Str){url.data + 7, url.len - 7};
    else if (url.len == 0 || memchr(url.data, ':', url.len) != NULL)
        return diag_set(backup->diag, ERR_UNSUPPORTED, "BACKUP_UNSUPPORTED",
                        "this copies SQLite stores; a store on a server is backed up with the "
                        "server's own tools (pg_dump, the append-only files of Redis)");
    if (path.len >= sizeof backup->source)
        return diag_set(backup->diag, ERR_INVALID, "STORE_PATH",
                        "the path of the store is too long");
    memcpy(backup->source, path.data, path.len);
    backup->source[path.len] = 0;
    if (access(backup->source, F_OK) == 0) return OK;
    return diag_set(backup->diag, ERR_NOT_FOUND, "STORE_NOT_FOUND", "there is no store %s",
                    backup->source);
}

static Status target_check(Backup *backup) {
    const char *file = backup->config->file;
    struct stat source, target;
    int len =
        snprintf(backup->partial, sizeof backup->partial, "%s.partial-%ld", file, (long)getpid());
    if (len < 0 || (size_t)len >= sizeof backup->partial)
        return diag_set(backup->diag, ERR_INVALID, "BACKUP_TARGET", "the path %s is too long",
                        file);
    if (stat(file, &target) != 0) return OK;
    bool is_same = stat(backup->source, &source) == 0 && source.st_dev == target.st_dev &&
                   source.st_ino == target.st_ino;
    if (is_same || !S_ISREG(target.st_mode))
        return diag_set(backup->diag, ERR_INVALID, "BACKUP_TARGET", "%s is %s; name another file",
                        file, is_same ? "the store itself" : "no plain file");
    if (backup->config->is_replacing) return OK;
    return diag_set(backup->diag, ERR_CONFLICT, "BACKUP_EXISTS", "%s is there already", file);
}

// ---- the copy ----

static Status source_open(const Backup *backup, sqlite3 **ret_database) {
    int64_t application_id = 0;
    int code = sqlite3_open_v2(backup->source, ret_database,
                               SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);
    if (code != SQLITE_OK) return sqlite_error(*ret_database, code, backup->source, backup->diag);
    sqlite3_busy_timeout(*ret_database, BUSY_MS);
    Status status =
        sqlite_query_i64(*ret_database, "PRAGMA application_id", &application_id, backup->diag);
    bool is_other = sqlite3_errcode(*ret_database) == SQLITE_NOTADB ||
                    (status == OK && application_id != SQLITE_APPLICATION_ID);
    if (!is_other) return status;
    return diag_set(backup->diag, ERR_INVALID, "STORE_NOT_OURS", "%s is no store of abide",
                    backup->source);
}

static Status pages_copy(const Backup *backup, sqlite3 *source, sqlite3 *target) {
    sqlite3_backup *copy = sqlite3_backup_init(target, "main", source, "main");
    int code = SQLITE_OK;
    for (int64_t waited_ms = 0; copy != NULL; waited_ms += 50) {
        code = sqlite3_backup_step(copy, -1); // [backup-1]
        bool is_busy = code == SQLITE_BUSY || code == SQLITE_LOCKED;
        if (!is_busy || waited_ms >= BUSY_MS) break;
        sqlite3_sleep(50);
    }
    int end = sqlite3_backup_finish(copy); // also tells what went wrong in the step
    if (copy != NULL && code == SQLITE_DONE && end == SQLITE_OK) return OK;
    return sqlite_error(target, end != SQLITE_OK ? end : code, backup->partial, backup->diag);
}

static Status copy_into(const Backup *backup, sqlite3 *source) {
    sqlite3 *target = NULL;
    int code = sqlite3_open_v2(backup->partial, &target,
                               SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    Status status = code == SQLITE_OK ? pages_copy(backup, source, target)
                                      : sqlite_error(target, code, backup->partial, backup->diag);
    sqlite3_close(target);
    return status;
}

// ---- its name ----

static Status flush(Backup *backup, const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool is_flushed = fd >= 0 && fsync(fd) == 0;
    struct stat info;
    if (is_flushed && fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) backup->size = info.st_size;
    Status status = is_flushed ? OK : failed(backup, "flush", path);
    if (fd >= 0) close(fd);
    return status;
}

static Status folder_flush(Backup *backup) {
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", backup->config->file);
    char *slash = strrchr(folder, '/');
    if (slash == NULL) memcpy(folder, ".", 2);
    else slash[slash == folder] = 0; // "/" itself stays
    return flush(backup, folder);
}

static Status name_give(Backup *backup) { // [backup-2]
    TRY(flush(backup, backup->partial));
    if (rename(backup->partial, backup->config->file) != 0)
        return failed(backup, "write", backup->config->file);
    return folder_flush(backup);
}

Status backup_run(const BackupConfig *config, int64_t *ret_size, Diag *diag) {
    Backup backup = {.config = config, .diag = diag};
    TRY(source_find(&backup));
    TRY(target_check(&backup));
    sqlite3 *source = NULL;
    Status status = source_open(&backup, &source);
    int fd = -1;
    if (status == OK) {
        fd = open(backup.partial, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd < 0) status = failed(&backup, "write", backup.partial);
    }
    if (fd >= 0) {
        close(fd);
        status = copy_into(&backup, source);
        if (status == OK) status = name_give(&backup);
        if (status != OK) unlink(backup.partial);
    }
    sqlite3_close(source);
    if (status == OK) *ret_size = backup.size;
    return status;
}

// What a process finds in an SQLite file and did not write itself is made durable before anything
// is acknowledged on top of it.
//
// Why: when a flush fails, the kernel marks the pages it could not write as clean. They can be read
// by anybody until they are evicted or the power is lost, but they are not on the disk, and no
// later flush brings them there. A process that fails to flush its log and ends leaves such pages
// behind. The next one would recover them as committed, append its own and flush that without an
// error; after a power failure recovery stops where the first are missing, and what was
// acknowledged since is gone. Writing a page again makes it dirty again, and then a flush means
// what it says.
//
//   [sqlite-log-1] Before SQLite looks at the log each frame of it that is whole is written again,
//        with the same bytes, and flushed. So what recovery reads is what the disk holds. A crash
//        on the way leaves a mixture of sectors of the old and the same: what was acknowledged was
//        on the disk before, and stays.
//   [sqlite-log-2] Frames are verified by their checksums on the way. An index of the log that
//        others keep in memory, from before, must not claim more than was verified: SQLite would
//        not look again.
//   [sqlite-log-3] The database file is only flushed. Its pages that a failed checkpoint lost are
//        in the log until a later checkpoint has written and flushed all of them again.
//   [sqlite-log-4] The directory is flushed, because SQLite does not look whether its own flush of
//        it failed: the names of the file and of its log are there, that of the rollback journal is
//        not.
//   [sqlite-log-5] If any of it fails the file is not opened. Nothing in it was changed.
//
// docs/decisions/0026 argues every moment at which the power can fail. What is written goes through
// SQLite's file layer, so the tests see it (test/fault).
#include "base/assert.h"
#include "base/memory.h"
#include "store/sqlite/internal.h"
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

enum {
    LOG_HEADER_SIZE = 32,
    FRAME_HEADER_SIZE = 24,
    PAGE_SIZE_MAX = 65536,
    // An error from before that nobody has seen is told to the first who flushes, though what he
    // wrote is on the disk.
    FLUSH_TRIES = 3,
    INDEX_REGION_SIZE = 32768,
    INDEX_FRAME_COUNT_AT = 16,
};

typedef struct Checksum {
    uint32_t first, second;
    bool is_big_endian; // as the log's creator counted
} Checksum;

typedef struct Log {
    sqlite3_file *file;
    int64_t frame_count; // whole ones
    int64_t page_size;
    Checksum checksum; // up to here
    unsigned char salt[8];
    unsigned char *frame; // room for one
} Log;

static uint32_t number_big(const unsigned char *at) {
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static uint32_t number_little(const unsigned char *at) {
    return (uint32_t)at[3] << 24 | (uint32_t)at[2] << 16 | (uint32_t)at[1] << 8 | at[0];
}

static void checksum_add(Checksum *sum, const unsigned char *data, int64_t size) {
    for (int64_t at = 0; at < size; at += 8) {
        const unsigned char *one = data + at, *other = one + 4;
        sum->first += (sum->is_big_endian ? number_big(one) : number_little(one)) + sum->second;
        sum->second += (sum->is_big_endian ? number_big(other) : number_little(other)) + sum->first;
    }
}

static bool checksum_is(const Checksum *sum, const unsigned char *stored) {
    return sum->first == number_big(stored) && sum->second == number_big(stored + 4);
}

// False when there is no whole header: then SQLite finds no frame either, and begins the log anew.
static int header_read(Log *log, unsigned char header[LOG_HEADER_SIZE], bool *ret_is_whole) {
    enum { MAGIC = 0x377f0682, PAGE_SIZE_AT = 8, SALT_AT = 16, CHECKSUM_AT = 24 };
    *ret_is_whole = false;
    int code = log->file->pMethods->xRead(log->file, header, LOG_HEADER_SIZE, 0);
    if (code == SQLITE_IOERR_SHORT_READ) return SQLITE_OK;
    if (code != SQLITE_OK) return code;
    uint32_t magic = number_big(header);
    if ((magic & ~1u) != MAGIC) return SQLITE_OK;
    log->page_size = number_big(header + PAGE_SIZE_AT);
    bool is_power_of_two = (log->page_size & (log->page_size - 1)) == 0;
    if (log->page_size < 512 || log->page_size > PAGE_SIZE_MAX || !is_power_of_two) {
        return SQLITE_OK;
    }
    log->checksum = (Checksum){.is_big_endian = (magic & 1) != 0};
    checksum_add(&log->checksum, header, CHECKSUM_AT);
    memcpy(log->salt, header + SALT_AT, sizeof(log->salt));
    *ret_is_whole = checksum_is(&log->checksum, header + CHECKSUM_AT);
    return SQLITE_OK;
}

// The next frame into log->frame. Not whole: the end of what SQLite would recover.
static int frame_read(Log *log, int64_t offset, bool *ret_is_whole) {
    enum { COUNTED_SIZE = 8, SALT_AT = 8, CHECKSUM_AT = 16 };
    int64_t size = FRAME_HEADER_SIZE + log->page_size;
    *ret_is_whole = false;
    int code = log->file->pMethods->xRead(log->file, log->frame, (int)size, offset);
    if (code == SQLITE_IOERR_SHORT_READ) return SQLITE_OK;
    if (code != SQLITE_OK) return code;
    if (memcmp(log->frame + SALT_AT, log->salt, sizeof(log->salt)) != 0) return SQLITE_OK;
    if (number_big(log->frame) == 0) return SQLITE_OK;
    checksum_add(&log->checksum, log->frame, COUNTED_SIZE);
    checksum_add(&log->checksum, log->frame + FRAME_HEADER_SIZE, log->page_size);
    *ret_is_whole = checksum_is(&log->checksum, log->frame + CHECKSUM_AT);
    return SQLITE_OK;
}

// [sqlite-log-1] Reads and writes the log from its beginning to the end of its last whole frame.
static int log_rewrite(Log *log) {
    unsigned char header[LOG_HEADER_SIZE];
    bool is_whole = false;
    log->frame_count = 0;
    int code = header_read(log, header, &is_whole);
    if (code != SQLITE_OK || !is_whole) return code;
    code = log->file->pMethods->xWrite(log->file, header, LOG_HEADER_SIZE, 0);
    int64_t size = FRAME_HEADER_SIZE + log->page_size;
    while (code == SQLITE_OK) {
        int64_t offset = LOG_HEADER_SIZE + log->frame_count * size;
        code = frame_read(log, offset, &is_whole);
        if (code != SQLITE_OK || !is_whole) return code;
        code = log->file->pMethods->xWrite(log->file, log->frame, (int)size, offset);
        log->frame_count++;
    }
    return code;
}

// After a failed flush everything is written once more: what was dirty then is clean now, whether
// the disk has it or not.
static int log_renew(Log *log) {
    int code = SQLITE_OK;
    for (int i = 0; i < FLUSH_TRIES; i++) {
        code = log_rewrite(log);
        if (code != SQLITE_OK || log->frame_count == 0) return code;
        code = log->file->pMethods->xSync(log->file, SQLITE_SYNC_NORMAL);
        if (code == SQLITE_OK) return SQLITE_OK;
    }
    return code;
}

static Status renew_error(const char *path, int code, sqlite3_file *file, Diag *diag) {
    if (code == SQLITE_READONLY) return sqlite_error(NULL, code, path, diag);
    int reason = 0;
    if (file->pMethods != NULL) {
        file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &reason);
    }
    const char *text = reason != 0 ? strerror(reason) : sqlite3_errstr(code);
    if (sqlite_is_full(code, reason)) {
        return diag_set(diag, ERR_FULL, "STORE_FULL",
                        "%s: no space left to make what its log holds durable (%s); free some "
                        "space and try again",
                        path, text);
    }
    return diag_set(diag, ERR_UNAVAILABLE, "STORE_IO",
                    "%s: what its log holds cannot be made durable (%s, SQLite code %d), so "
                    "nothing could be acknowledged on it; look at the disk, then open it again",
                    path, text, code);
}

Status sqlite_log_renew(const char *path, int64_t *ret_frame_count, Diag *diag) {
    char log_path[PATH_MAX + sizeof("-wal")];
    snprintf(log_path, sizeof(log_path), "%s-wal", path);
    *ret_frame_count = SQLITE_NO_LOG;
    if (access(log_path, F_OK) != 0) return OK;
    sqlite3_vfs *files = sqlite3_vfs_find(NULL);
    sqlite3_filename names = sqlite3_create_filename(path, "", log_path, 0, NULL);
    if (names == NULL) out_of_memory();
    Log log = {.file = mem_zalloc((size_t)files->szOsFile),
               .frame = mem_alloc(FRAME_HEADER_SIZE + PAGE_SIZE_MAX)};
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_WAL;
    int code = files->xOpen(files, sqlite3_filename_wal(names), log.file, flags, &flags);
    if (code == SQLITE_OK && (flags & SQLITE_OPEN_READONLY)) code = SQLITE_READONLY;
    if (code == SQLITE_OK) code = log_renew(&log);
    Status status = code == SQLITE_OK ? OK : renew_error(path, code, log.file, diag);
    if (log.file->pMethods != NULL) log.file->pMethods->xClose(log.file);
    sqlite3_free_filename(names);
    mem_free(log.file);
    mem_free(log.frame);
    if (status == OK) *ret_frame_count = log.frame_count;
    return status;
}

static sqlite3_file *database_file(sqlite3 *database) {
    sqlite3_file *file = NULL;
    sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    return file;
}

Status sqlite_index_check(SqliteRows *self, int64_t frame_count, Diag *diag) {
    if (frame_count == SQLITE_NO_LOG) return OK; // asking would make an index
    sqlite3_file *file = database_file(self->database);
    void volatile *index = NULL;
    int code = file->pMethods->xShmMap(file, 0, INDEX_REGION_SIZE, 0, &index);
    if (code != SQLITE_OK) return sqlite_error(self->database, code, self->path, diag);
    if (index == NULL) return OK;
    uint32_t claimed = *(uint32_t volatile *)((char volatile *)index + INDEX_FRAME_COUNT_AT);
    if (claimed <= frame_count) return OK; // [sqlite-log-2]
    return diag_set(diag, ERR_UNAVAILABLE, "STORE_IO",
                    "%s: another process that reads it has seen %lu pages in its log, of which "
                    "the disk lost all but %lld; end that process, then open it again",
                    self->path, (unsigned long)claimed, (long long)frame_count);
}

static Status directory_flush(const char *path, Diag *diag) { // [sqlite-log-4]
    char copy[PATH_MAX];
    snprintf(copy, sizeof(copy), "%s", path);
    const char *directory = dirname(copy);
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    // One that may be entered and not listed cannot be opened; then SQLite's own flush has to do.
    if (fd < 0 && errno == EACCES) return OK;
    int reason = fd < 0 || fsync(fd) != 0 ? errno : 0;
    if (fd >= 0) close(fd);
    // Some file systems do not flush directories, because they need it not.
    if (reason == 0 || reason == EINVAL || reason == ENOTSUP) return OK;
    return diag_set(diag, ERR_UNAVAILABLE, "STORE_IO",
                    "%s: its directory cannot be flushed (%s); look at the disk, then open it "
                    "again",
                    path, strerror(reason));
}

Status sqlite_file_flush(SqliteRows *self, Diag *diag) {
    sqlite3_file *file = database_file(self->database);
    int code = file->pMethods->xSync(file, SQLITE_SYNC_NORMAL); // [sqlite-log-3]
    if (code != SQLITE_OK) {
        return diag_set(diag, ERR_UNAVAILABLE, "STORE_IO",
                        "%s: the disk has lost something that was written to it before it was "
                        "opened (SQLite code %d); if it is a copy, copy it again; if not, open it "
                        "again: its log has what it needs",
                        self->path, code);
    }
    return directory_flush(self->path, diag);
}

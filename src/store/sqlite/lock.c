// One owner per file: an exclusive lock on PATH-lock for as long as the file is open for writing.
//
// Why a file beside the database: closing any descriptor of the database itself would drop the
// locks SQLite holds on it in this process.
//   [lock-1] The lock belongs to the open file description (OFD), so a second open in the same
//        process is refused as one in another process is, and a crash frees it.
//   [lock-2] The file holds the owner's process id, for the message only: one that has ended is not
//        named.
//   [lock-3] The file is removed by its owner while the lock is held; who took the lock on a file
//        that is no longer at its path tries again.
#include "base/memory.h"
#include "store/sqlite/internal.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOCK_TRIES = 100 };

static Status locked_error(const char *path, int fd, Diag *diag) {
    char text[32] = {0};
    ssize_t len = pread(fd, text, sizeof(text) - 1, 0);
    long owner = len > 0 ? strtol(text, NULL, 10) : 0;
    const char *advice = "let that one do the work, or use another file";
    if (owner == (long)getpid()) {
        return diag_set(diag, ERR_LOCKED, "STORE_LOCKED",
                        "%s is already open in this process; close it first", path);
    }
    // Who it names may be the one before, if the owner could not write itself down; or have left
    // the lock to a child.
    bool is_alive = owner > 0 && (kill((pid_t)owner, 0) == 0 || errno == EPERM);
    if (is_alive) {
        return diag_set(diag, ERR_LOCKED, "STORE_LOCKED", "%s is in use by process %ld; %s", path,
                        owner, advice);
    }
    return diag_set(diag, ERR_LOCKED, "STORE_LOCKED", "%s is in use by another process; %s", path,
                    advice);
}

static Status open_error(const char *lock_path, int reason, Diag *diag) {
    switch (reason) {
    case EACCES:
    case EPERM:
    case EROFS:
        return diag_set(diag, ERR_UNAVAILABLE, "STORE_READ_ONLY",
                        "%s cannot be written (%s); the store needs write access to its directory",
                        lock_path, strerror(reason));
    case ENOSPC:
    case EDQUOT:
        return diag_set(diag, ERR_FULL, "STORE_FULL",
                        "%s: no space left to write (%s); free some space and try again", lock_path,
                        strerror(reason));
    case ENAMETOOLONG:
        return diag_set(diag, ERR_INVALID, "STORE_PATH", "%s: the name is too long", lock_path);
    default:
        return diag_set(diag, ERR_UNAVAILABLE, "STORE_IO", "%s cannot be opened (%s)", lock_path,
                        strerror(reason));
    }
}

static bool is_at_path(int fd, const char *lock_path) { // [lock-3]
    struct stat held, present;
    if (fstat(fd, &held) != 0 || stat(lock_path, &present) != 0) return false;
    return held.st_dev == present.st_dev && held.st_ino == present.st_ino;
}

static void write_owner(int fd) {
    char text[32];
    int len = snprintf(text, sizeof(text), "%ld\n", (long)getpid());
    // [lock-2] Without it the message of a second process is less helpful; that is all.
    if (ftruncate(fd, 0) != 0 || pwrite(fd, text, (size_t)len, 0) != len) return;
}

Status sqlite_lock_take(const char *path, SqliteLock *ret_lock, Diag *diag) {
    size_t len = strlen(path);
    char *lock_path = mem_alloc(len + sizeof("-lock"));
    memcpy(lock_path, path, len);
    memcpy(lock_path + len, "-lock", sizeof("-lock"));
    Status status = OK;
    for (int i = 0; i < LOCK_TRIES; i++) {
        int fd = open(lock_path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0) {
            status = open_error(lock_path, errno, diag);
            break;
        }
        struct flock request = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        if (fcntl(fd, F_OFD_SETLK, &request) != 0) { // [lock-1]
            int reason = errno;
            status = reason == EAGAIN || reason == EACCES ? locked_error(path, fd, diag)
                                                          : open_error(lock_path, reason, diag);
            close(fd);
            break;
        }
        if (is_at_path(fd, lock_path)) {
            write_owner(fd);
            *ret_lock = (SqliteLock){fd, lock_path};
            return OK;
        }
        close(fd);
        status = diag_set(diag, ERR_LOCKED, "STORE_LOCKED",
                          "%s is being opened and closed by "
                          "other processes; try again",
                          path);
    }
    mem_free(lock_path);
    return status;
}

void sqlite_lock_release(SqliteLock *lock) {
    if (lock->fd < 0) return;
    unlink(lock->path); // [lock-3]
    close(lock->fd);
    mem_free(lock->path);
    *lock = (SqliteLock){.fd = -1};
}

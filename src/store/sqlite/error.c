// SQLite's result codes in the words of this code base.
//
//   full disk, quota, file size limit  ERR_LIMIT        STORE_FULL
//   damaged file, not a database       ERR_CORRUPT      STORE_CORRUPT
//   not writable                       ERR_UNAVAILABLE  STORE_READ_ONLY
//   key exists                         ERR_CONFLICT     STORE_CONFLICT
//   value larger than SQLite takes     ERR_LIMIT        STORE_TOO_BIG
//   everything else                    ERR_UNAVAILABLE  STORE_IO, with SQLite's own text
//
// Misuse of SQLite is our own bug and stops the process.
#include "base/assert.h"
#include "store/sqlite/internal.h"
#include <errno.h>

bool sqlite_is_full(int code, int reason) {
    if ((code & 0xFF) == SQLITE_FULL) return true;
    return reason == ENOSPC || reason == EDQUOT || reason == EFBIG;
}

// SQLite knows a full disk by itself, but takes a quota or a limit on file sizes for an I/O error.
// Which of its two files failed is not told, so both are asked for the last error they saw.
static bool is_out_of_space(sqlite3 *database, int code) {
    if (sqlite_is_full(code, 0)) return true;
    if ((code & 0xFF) != SQLITE_IOERR || database == NULL) return false;
    if (sqlite_is_full(code, sqlite3_system_errno(database))) return true;
    int reason = 0;
    sqlite3_file_control(database, "main", SQLITE_FCNTL_LAST_ERRNO, &reason);
    if (sqlite_is_full(code, reason)) return true;
    sqlite3_file *log = NULL;
    sqlite3_file_control(database, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
    if (log == NULL || log->pMethods == NULL) return false;
    reason = 0;
    log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &reason);
    return sqlite_is_full(code, reason);
}

static bool is_key_conflict(int code) {
    return code == SQLITE_CONSTRAINT_PRIMARYKEY || code == SQLITE_CONSTRAINT_UNIQUE ||
           code == SQLITE_CONSTRAINT_ROWID;
}

Status sqlite_error(sqlite3 *database, int code, const char *path, Diag *diag) {
    const char *text = database != NULL ? sqlite3_errmsg(database) : sqlite3_errstr(code);
    if (database != NULL && (code & ~0xFF) == 0 && sqlite3_errcode(database) == code) {
        code = sqlite3_extended_errcode(database);
    }
    if (is_out_of_space(database, code)) {
        return diag_set(diag, ERR_FULL, "STORE_FULL",
                        "%s: no space left to write (%s); free some space and try again", path,
                        text);
    }
    switch (code & 0xFF) {
    case SQLITE_NOMEM: out_of_memory();
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return diag_set(diag, ERR_CORRUPT, "STORE_CORRUPT",
                        "%s: the file is damaged (%s); restore it from a backup", path, text);
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return diag_set(diag, ERR_UNAVAILABLE, "STORE_READ_ONLY", "%s: cannot be written (%s)",
                        path, text);
    case SQLITE_CONSTRAINT:
        if (is_key_conflict(code)) {
            return diag_set(diag, ERR_CONFLICT, "STORE_CONFLICT", "the key exists (%s)", text);
        }
        break;
    case SQLITE_TOOBIG:
        return diag_set(diag, ERR_LIMIT, "STORE_TOO_BIG", "the value is too big (%s)", text);
    case SQLITE_MISUSE:
    case SQLITE_RANGE: UNREACHABLE();
    default: break;
    }
    return diag_set(diag, ERR_UNAVAILABLE, "STORE_IO", "%s: %s (SQLite code %d)", path, text, code);
}

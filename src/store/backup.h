// Backup: a copy of an SQLite store as it is at one moment, also beside the engine that has it.
//
//   [backup-1] The copy is one transaction's view: whatever is committed meanwhile is in it as a
//        whole or not at all. Nothing of the store changes, and its engine is not held up.
//   [backup-2] The file appears under its name when it is complete and flushed, and with mode 0600;
//        a copy that fails or is cut off leaves what was there before.
#pragma once
#include "base/diag.h"
#include "base/text/str.h"
#include <stdint.h>

typedef struct BackupConfig {
    Str store;         // URL
    const char *file;  // where the copy goes
    bool is_replacing; // a file that is there is replaced; otherwise refused
} BackupConfig;

// Codes: BACKUP_UNSUPPORTED (the store is no SQLite file), BACKUP_EXISTS, BACKUP_TARGET,
// BACKUP_FAILED, STORE_NOT_FOUND, STORE_NOT_OURS; those of an SQLite store that cannot be read.
MUST_CHECK Status backup_run(const BackupConfig *config, int64_t *ret_size, Diag *diag);

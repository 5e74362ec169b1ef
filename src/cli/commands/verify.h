// Checking a store, for `abide verify` and `abide doctor`.
#pragma once
#include "base/diag.h"
#include "base/log.h"
#include <stdint.h>

// Reads everything there is; not OK says what is wrong. Codes: STORE_NOT_FOUND, STORE_CORRUPT,
// those of store_open. What the store has to say of itself goes to the logger, which may be NULL.
MUST_CHECK Status verify_store(Str url, Logger *logger, int64_t *ret_row_count, Diag *diag);

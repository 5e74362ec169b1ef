// Status names: the stable words that logs, problem documents and tests use.
//
// Why a table and not a switch: a status added without a name is a compile-time size mismatch.
// Not here: what a status means over HTTP or as an exit code; server/ and cli/ have those tables.
//   [status-1] Every status has a name, and the names never change once published.
#include "base/status.h"
#include "base/array.h"
#include "base/assert.h"

static const char *const status_names[] = {
    [OK] = "OK",
    [ERR_NOT_FOUND] = "NOT_FOUND",
    [ERR_FENCED] = "FENCED",
    [ERR_TERMINAL] = "TERMINAL",
    [ERR_CONFLICT] = "CONFLICT",
    [ERR_INVALID] = "INVALID",
    [ERR_LIMIT] = "LIMIT",
    [ERR_FULL] = "FULL",
    [ERR_UNSUPPORTED] = "UNSUPPORTED",
    [ERR_OLDER] = "OLDER",
    [ERR_LOCKED] = "LOCKED",
    [ERR_UNAVAILABLE] = "UNAVAILABLE",
    [ERR_BUSY] = "BUSY",
    [ERR_CLOSED] = "CLOSED",
    [ERR_INTERRUPTED] = "INTERRUPTED",
    [ERR_CORRUPT] = "CORRUPT",
};
_Static_assert(COUNT_OF(status_names) == STATUS_COUNT, "[S1]");

const char *status_name(Status status) {
    ASSERT((unsigned)status < STATUS_COUNT);
    return status_names[status];
}

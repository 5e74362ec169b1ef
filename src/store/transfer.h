// Transfer: all rows of one store into another, empty one, of any kind.
//
//   source: mark MOVED -> target: mark FILLING -> copy -> compare, verify -> target: no mark
//
//   [transfer-1] At no moment can an engine work on both: the source is marked before the first row
//        is copied and stays so, and the target is marked until everything in it has been compared
//        with the source. A mark refuses every batch, also of engines that had it open before.
//   [transfer-2] Besides that mark nothing of the source changes (an older schema is brought up
//        first, as any engine does). transfer_reopen takes the mark away again.
//   [transfer-3] A transfer that ends early, however, leaves the source whole and the target
//        marked; it can be resumed. Rows go over in the order of their keys, so the target itself
//        says how far it got. Nothing is kept in memory but one batch.
//   [transfer-4] What arrives is what left, column for column: both ends are read through once more
//        and their digests compared, and both fulfil the invariants of verify/internal.h.
//   [transfer-5] Engines that died on a source that nobody else could have open hold leases of a
//        century there; in the target these are over, so that any node may take over what they had.
//
// Not here: copies of a store that goes on (backup.h), words for people (cli/commands/migrate.c).
#pragma once
#include "base/containers/hash.h"
#include "base/diag.h"
#include "model/marks.h"
#include <stdatomic.h>

typedef enum TransferPhase {
    TRANSFER_CHECKING, // the source against the invariants
    TRANSFER_COUNTING, // reading the source through
    TRANSFER_COPYING,
    TRANSFER_COMPARING, // reading the target through
    TRANSFER_VERIFYING, // the target against the invariants
} TransferPhase;

typedef struct TransferProgress {
    TransferPhase phase;
    const char *table; // NULL while verifying
    int64_t row_count; // so far, in this phase
    int64_t row_total; // 0 = not known yet
} TransferProgress;

typedef struct TransferConfig {
    Str from, to; // URLs
    int64_t now_ms;
    int64_t batch_rows; // per commit; 0 = TRANSFER_BATCH_ROWS
    bool is_resume;     // the target may be one that an earlier transfer has begun
    bool is_dry_run;    // looks whether it could be done; marks, makes and copies nothing
    void (*progress)(void *context, const TransferProgress *progress); // NULL = nobody looks
    void *context;
    const atomic_bool *stop; // set: end early ([transfer-3]); NULL = never
} TransferConfig;

enum { TRANSFER_BATCH_ROWS = 2000 };

typedef struct TransferReport {
    int64_t row_counts[TABLE_COUNT]; // in the source
    int64_t row_total;
    int64_t copied_count;             // by this call; the others were there already
    char digest[SHA256_HEX_SIZE + 1]; // of everything
} TransferReport;

// Codes: TRANSFER_SAME, STORE_IN_USE, STORE_NOT_EMPTY, STORE_MOVED, STORE_FILLING,
// TRANSFER_DIFFERS, TRANSFER_STOPPED; those of store_open and store_verify.
MUST_CHECK Status transfer_run(const TransferConfig *config, TransferReport *ret_report,
                               Diag *diag);

// Lets engines open a store again that was moved away; STORE_NOT_MOVED when it was not.
MUST_CHECK Status transfer_reopen(Str url, Diag *diag);

const char *transfer_table_name(int table); // "runs"

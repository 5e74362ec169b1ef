// Kernel internals: the state of a kernel and the row verbs, which every room needs.
//
// A room's own header (runs/runs.h, waits/waits.h …) includes this file, never the other way; each
// source includes the headers of the rooms it calls.
//
//   [kernel-1]-[kernel-3] of kernel.h.
//   [kernel-internal-4] What a row verb answers that is not an answer (NOT_FOUND of a get, CONFLICT
//        of an insert_new) is noted in `failure`; the batch is then rolled back whatever the
//        operation does with the status.
//   [kernel-internal-5] Rows that are read live in `scratch`, which is reset with each operation;
//        what leaves in the batch is copied into the batch's arena.
//   [kernel-internal-6] A Run is the only handle on a run row within an operation: nothing changes
//        a run of which a handle is open further up, except through that handle.
#pragma once
#include "base/containers/vec.h"
#include "base/limits.h"
#include "store/kernel/cache.h"
#include "store/kernel/kernel.h"
#include "store/kernel/runs/places.h"

#define PAGE_ROWS LIMIT_PAGE_ROWS // rows read at a time by loops without a limit
enum { READ_ATTEMPTS_MAX = 8 };   // of one read, when others write in between; the second is safe

enum {
    SETTLE_GRACE_MS = 10 * 1000,           // time for children that are cancelled with a parent
    NODE_FORGET_MS = 3600 * 1000,          // a dead node without runs is forgotten after this
    DEDUPE_KEEP_MIN_MS = 24 * 3600 * 1000, // how long used keys are remembered at least
    TASK_LEASE_DEFAULT_MS = 60 * 1000,
    ROOM_ROWS_MAX = 32,   // events dropped from a full topic for a new one, whatever their size
    REMOVE_PAGE_ROWS = 32 // events read at a time to be removed, whatever their size
};

// What a failed batch came upon, and can be applied without (kernel/quarantine.c).
typedef struct Damage {
    TableNumber table;
    void *row;   // its key, and the id of a run; NULL = nothing
    Str message; // both live in the batch's arena
} Damage;

// A run whose row is not written yet (kernel/held.h).
typedef struct HeldRow {
    int64_t run;      // key; 0 = none
    uint64_t changes; // columns that are yet to be written; 0 = none
    RunRow row;       // their values; its texts are null
    RunRow stored;    // as it is stored: its numbers
} HeldRow;

// An embedded task that the present operation completes (tasks/embedded.h).
typedef struct EndedTask {
    int64_t run; // 0 = none
    int64_t key;
} EndedTask;

typedef struct Kernel {
    Store base;
    StoreOps ops;
    RowStore *writer;
    RowStore *reader;
    StoreConfig config; // defaults filled in
    Batch *batch;       // the one being applied
    Op *op;             // the operation being applied
    const Op *last_op;  // the one before it in the batch, or NULL
    const Op *next_op;  // the one behind it, or NULL
    Op *eager;          // a claim of this batch that takes tasks as they are made, or NULL
    Arena scratch;      // [kernel-internal-5]
    Diag rows_diag;     // text of the last failed row verb
    Status failure;     // [kernel-internal-4]
    Damage damage;
    bool is_repetition_wanted; // the batch failed because of a participant that is out now
    int64_t write_count;
    int64_t fresh_after; // rows with higher keys were made by the present operation
    bool is_stale;       // a commit failed: memory is loaded again before the next batch
    int64_t counters[COUNTER_COUNT];
    int64_t saved_counters[COUNTER_COUNT]; // as before the batch
    uint64_t stored_counters;              // bit per counter that has a row
    FactCache facts;
    HeldRow held;
    EndedTask ended_task;
    TaskCache tasks;
    TopicCache topics;
    QueueCache queues;
    PlaceCache places;
    ZoneCache zones;
    WaitCache waits;
    VEC(NodeHeartbeat) heartbeats; // what nodes have said when we last asked (nodes/heartbeats.c)
    int64_t heartbeats_at_ms;      // when that was
    bool has_looked;               // at the heartbeats, in the present batch
    LeaseDigest lease_digest;
    uint64_t run_snapshot_bit;
    uint64_t run_text_bits; // of the texts that are neither that nor the wait set
    uint64_t log_position_bit;
    uint64_t node_batch_bit;
} Kernel;

static inline int64_t kernel_now(const Kernel *kernel) { return kernel->batch->now_ms; }
static inline int64_t earliest_of(int64_t a, int64_t b) { // 0 = never
    if (a == 0 || b == 0) return a == 0 ? b : a;
    return a < b ? a : b;
}

// ---- kernel/rows.c: the row verbs ----
MUST_CHECK Status kernel_get(Kernel *kernel, TableNumber table, const void *key_row, void *ret_row);
// [rowstore-11] of rowstore.h; what is held of a run is not in it (kernel/held.h).
MUST_CHECK Status kernel_find(Kernel *kernel, const RowKey *key, const void **ret_row);
MUST_CHECK Status kernel_insert(Kernel *kernel, TableNumber table, const void *row);
MUST_CHECK Status kernel_insert_new(Kernel *kernel, TableNumber table, const void *row);
MUST_CHECK Status kernel_update(Kernel *kernel, TableNumber table, const void *before,
                                const void *after);
MUST_CHECK Status kernel_update_columns(Kernel *kernel, TableNumber table, const void *row,
                                        uint64_t changes);
MUST_CHECK Status kernel_remove(Kernel *kernel, TableNumber table, const void *key_row);
MUST_CHECK Status kernel_write_held(Kernel *kernel); // [held-2] of kernel/held.h
MUST_CHECK Status kernel_scan(Kernel *kernel, const Scan *scan, void *ret_rows, size_t *ret_count);
// The same for rows whose key is one number, a page at a time: the scan goes on behind what was
// found, and its limit is 0 once there is no more.
//   while (scan.limit > 0) { TRY(kernel_scan_on(kernel, &scan, &rows, &count)); … }
MUST_CHECK Status kernel_scan_on(Kernel *kernel, Scan *scan, void *ret_rows, size_t *ret_count);
// Notes damage that the rows themselves show (a wait set that cannot be read …): ERR_CORRUPT.
Status kernel_corrupt(Kernel *kernel, const char *message);
// Refuses the present operation.
Status kernel_refuse(Kernel *kernel, Status status, const char *code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
int64_t kernel_next_key(Kernel *kernel);
void kernel_count(Kernel *kernel, int64_t counter, int64_t delta);
void kernel_note_due(Kernel *kernel, int64_t due_at_ms);
Str kernel_answer(Kernel *kernel, Str s); // [kernel-internal-5]

MUST_CHECK Status kernel_check_size(Kernel *kernel, const char *what, Str text, size_t max);
MUST_CHECK Status kernel_check_name(Kernel *kernel, const char *what, Str text, size_t max);

// ---- store/reads: what a kernel answers without changing anything ----
MUST_CHECK Status kernel_read(Store *store, Arena *arena, ReadRequest *request, Diag *diag);
MUST_CHECK Status kernel_verify(Store *store, int64_t *ret_row_count, Diag *diag);

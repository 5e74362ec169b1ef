// A run in an operation: loading, storing, logging.
//
// A run that is loaded is a copy of its row in the scratch memory of the operation, because the row
// store's own stands until its next verb only. What is written is the difference.
//
// Invariants [run-1], [run-2] are in run.h.
//
// Not here: what the states mean (runs/runs.c), who remembers rows (rowstore.h, [rowstore-11]).
#include "store/kernel/run.h"
#include "base/assert.h"
#include "model/phase.h"
#include "store/kernel/held.h"
#include "store/kernel/quarantine.h"
#include "store/kernel/tasks/embedded.h"

// The row that was found stands until the next verb: what is small is copied. A large wait set is
// copied unless it is decoded already.
static void run_take(Kernel *kernel, const RunRow *found, Run *ret_run) {
    const RunFacts *facts = fact_cache_find(&kernel->facts, found->key);
    RunRow row = *found;
    held_complete(kernel, &row);
    if (!str_is_null(row.snapshot)) row.snapshot = TEXT_KEPT; // [run-1]
    row.waits = wait_cache_bytes(&kernel->waits, &row, &kernel->scratch);
    for (uint64_t bits = kernel->run_text_bits; bits != 0; bits &= bits - 1) {
        const Column *column = &tables[TABLE_RUNS].columns[__builtin_ctzll(bits)];
        row_set_str(&row, column, arena_str(&kernel->scratch, row_str(&row, column)));
    }
    *ret_run = (Run){.before = row,
                     .row = row,
                     .facts = facts != NULL ? *facts : (RunFacts){.may_have = MAY_HAVE_ALL}};
}

Status run_damaged(Kernel *kernel, const Run *run, const char *message) {
    run_blame(kernel, run);
    return kernel_corrupt(kernel, message);
}

// What is stored may be damaged, and states are counted.
static Status run_check(Kernel *kernel, const Run *run) {
    bool is_known = run->row.state >= RUN_PENDING && run->row.state < RUN_STATE_COUNT;
    return is_known ? OK : run_damaged(kernel, run, "a run is in no known state");
}

static Status run_find(Kernel *kernel, int index, const RunRow *wanted, Run *ret_run) {
    const void *found = NULL;
    RowKey key = {TABLE_RUNS, index, wanted};
    TRY(kernel_find(kernel, &key, &found));
    run_take(kernel, found, ret_run);
    return OK;
}

Status run_load_damaged(Kernel *kernel, int64_t key, Run *ret_run) {
    return run_find(kernel, SCAN_PRIMARY, &(RunRow){.key = key}, ret_run);
}

Status run_load(Kernel *kernel, int64_t key, Run *ret_run) {
    TRY(run_load_damaged(kernel, key, ret_run));
    return run_check(kernel, ret_run);
}

Status run_load_id(Kernel *kernel, Str id, Run *ret_run) {
    if (str_is_null(id)) return ERR_NOT_FOUND;
    TRY(run_find(kernel, RUNS_BY_ID, &(RunRow){.id = id}, ret_run));
    return run_check(kernel, ret_run);
}

Status run_require(Kernel *kernel, Str id, Run *ret_run) {
    Status status = run_load_id(kernel, id, ret_run);
    if (status != ERR_NOT_FOUND) return status;
    return kernel_refuse(kernel, ERR_NOT_FOUND, "RUN_NOT_FOUND", "there is no run \"%.*s\"",
                         STR_ARG(id));
}

void run_keep_facts(Kernel *kernel, const Run *run) {
    fact_cache_write(&kernel->facts, run->row.key, &run->facts);
}

Status run_store(Kernel *kernel, Run *run) {
    ASSERT(run->row.key == run->before.key && run->row.id.data == run->before.id.data);
    TRY(embedded_settle(kernel, run)); // [embedded-2]
    uint64_t changes = row_changes(&tables[TABLE_RUNS], &run->before, &run->row);
    if (run->row.snapshot.data == run->before.snapshot.data) { // [run-1]
        changes &= ~kernel->run_snapshot_bit;
    } else {
        changes |= kernel->run_snapshot_bit;
    }
    if (changes != 0) {
        kernel_count(kernel, COUNTER_RUNS_READY,
                     run_is_ready(&run->row) - run_is_ready(&run->before)); // [runs-1]
        TRY(places_note(kernel, &run->before, &run->row));                  // [runs-1]
        if (run->row.due_at_ms != run->before.due_at_ms) {
            kernel_note_due(kernel, run->row.due_at_ms);
        }
    }
    changes = held_take(kernel, &run->row, changes);
    run_keep_facts(kernel, run);
    if (!held_put(kernel, &run->before, &run->row, changes))
        TRY(kernel_update_columns(kernel, TABLE_RUNS, &run->row, changes));
    if (!str_is_null(run->row.snapshot)) run->row.snapshot = TEXT_KEPT; // [run-1]
    run->before = run->row;
    return OK;
}

Status run_last_seq(Kernel *kernel, Run *run) {
    if (run->facts.last_seq > 0) return OK;
    LogRow wanted = {.run = run->row.key}, *rows = NULL;
    size_t count = 0;
    Scan scan = scan_of(TABLE_LOG, SCAN_PRIMARY, &wanted, 1);
    scan.is_descending = true;
    TRY(kernel_scan(kernel, &scan, &rows, &count));
    if (count == 0) return run_damaged(kernel, run, "a run has no log");
    run->facts.last_seq = rows[0].seq;
    return OK;
}

Status run_log(Kernel *kernel, Run *run, LogRow *entry) {
    ASSERT(entry->kind > 0 && entry->kind < LOG_KIND_COUNT);
    TRY(run_last_seq(kernel, run));
    entry->run = run->row.key;
    entry->seq = run->facts.last_seq + 1;
    entry->at_ms = kernel_now(kernel);
    TRY(kernel_insert(kernel, TABLE_LOG, entry));
    run->facts.last_seq = entry->seq;
    run_keep_facts(kernel, run);
    return OK;
}

Status run_note(Kernel *kernel, Run *run, LogKind kind, Str data) {
    LogRow entry = {.kind = kind, .position = NO_POSITION, .data = data};
    return run_log(kernel, run, &entry);
}

Status log_page(Kernel *kernel, int64_t run, int64_t *after, LogRow **ret_rows, size_t *ret_count) {
    LogRow wanted = {.run = run};
    Scan scan = scan_of(TABLE_LOG, SCAN_PRIMARY, &wanted, PAGE_ROWS);
    scan.has_min = true;
    scan.min = *after + 1;
    TRY(kernel_scan(kernel, &scan, ret_rows, ret_count));
    if (*ret_count > 0) *after = (*ret_rows)[*ret_count - 1].seq;
    return OK;
}

void run_set_state(Kernel *kernel, Run *run, RunState state) {
    if (run->row.state == (int64_t)state) return;
    ASSERT(!run_state_is_terminal(run->row.state)); // [store-batch-6]
    kernel_count(kernel, COUNTER_RUNS_FIRST + run->row.state, -1);
    kernel_count(kernel, COUNTER_RUNS_FIRST + (int64_t)state, 1);
    run->row.state = state;
    run->row.phase = run_phase(state);
    run->row.updated_at_ms = kernel_now(kernel);
}

Status run_waits(Kernel *kernel, Run *run, WaitSet *ret_set) {
    if (!run->has_waits) {
        Status status = wait_cache_get(&kernel->waits, &run->before, &kernel->scratch, &run->waits);
        if (status != OK || run->waits.count == 0) {
            return run_damaged(kernel, run, "the wait set of a run cannot be read");
        }
        run->has_waits = true;
    }
    *ret_set = run->waits;
    return OK;
}

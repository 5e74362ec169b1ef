// Runs: loading, storing, logging, and the helpers every change of state goes through.
//
//   PENDING -> RUNNING <-> SUSPENDED          any of them <-> PAUSED
//              RUNNING, SUSPENDED, … -> COMPLETED | FAILED | CANCELLED (runs/end.c)
//
//   [runs-1] Counters by state follow run_set_state and run_create, nothing else; the counter of
//        runs that are ready and unowned, and those of places (runs/places.c), follow the row
//        itself.
//   [runs-2] claim_rank > 0 exactly while RUNNING; owner != 0 only then. A run that is reserved
//        (marks.h) has the number of its workflow there: a node without the function has met it.
//   [runs-3] WaiterRows exist exactly while SUSPENDED, one per EVENT item of the wait set and one
//        per task with an idempotency key ([waits-wait-6] of waits/wait.c).
//   [runs-4] due_at_ms: PENDING the start; SUSPENDED the earliest of wait deadline and overall
//        deadline; RUNNING the overall deadline; terminal the end of keeping; PAUSED none, except
//        that a run paused before its start keeps the start time, and one that was quarantined
//        while it was asked to end ([quarantine-1] of kernel/quarantine.c) the end of its grace.
//   [runs-5] A cancellation's grace is kept as an overall deadline: past it a run that was asked to
//        end is CANCELLED, any other FAILED. A mark says that the request was delivered to
//        the workflow.
//   [runs-6] log_seq is the last entry the workflow itself knew of when its snapshot was written,
//        so LOG_WAIT entries past it are what a restored snapshot has not seen.
//   [runs-7] A Run has TEXT_KEPT in the place of a snapshot that is stored: it changed exactly when
//        something else stands there.
//
// Not here: creation (runs/create.c), endings (runs/end.c), wait sets (waits/wait.c).
#include "store/kernel/runs/runs.h"
#include "base/assert.h"
#include "model/phase.h"
#include "store/kernel/events/events.h"
#include "store/kernel/nodes/nodes.h"
#include "store/kernel/quarantine.h"
#include "store/kernel/runs/held.h"

// The row that was found stands until the next verb: what is small is copied. A large wait set is
// copied unless it is decoded already.
static void run_take(Kernel *kernel, const RunRow *found, Run *ret_run) {
    const RunFacts *facts = fact_cache_find(&kernel->facts, found->key);
    RunRow row = *found;
    held_complete(kernel, &row);
    if (!str_is_null(row.snapshot)) row.snapshot = TEXT_KEPT; // [runs-7]
    row.waits = wait_cache_bytes(&kernel->waits, &row, &kernel->scratch);
    for (uint64_t bits = kernel->run_text_bits; bits != 0; bits &= bits - 1) {
        const Column *column = &tables[TABLE_RUNS].columns[__builtin_ctzll(bits)];
        row_set_str(&row, column, arena_str(&kernel->scratch, row_str(&row, column)));
    }
    *ret_run = (Run){.before = row,
                     .row = row,
                     .facts = facts != NULL ? *facts : (RunFacts){.may_have = MAY_HAVE_ALL}};
}

static Status run_damaged(Kernel *kernel, const Run *run, const char *message) {
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
    uint64_t changes = row_changes(&tables[TABLE_RUNS], &run->before, &run->row);
    if (run->row.snapshot.data == run->before.snapshot.data) { // [runs-7]
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
    changes |= held_take(kernel, run->row.key);
    run_keep_facts(kernel, run);
    if (!held_put(kernel, &run->row, changes))
        TRY(kernel_update_columns(kernel, TABLE_RUNS, &run->row, changes));
    if (!str_is_null(run->row.snapshot)) run->row.snapshot = TEXT_KEPT; // [runs-7]
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

// [runs-3]
Status run_drop_waiters(Kernel *kernel, Run *run) {
    if (run->row.state != RUN_SUSPENDED || str_is_null(run->row.waits)) return OK;
    WaitSet set = {0};
    TRY(run_waits(kernel, run, &set));
    for (size_t i = 0; i < set.count; i++) {
        if (set.items[i].waiter == 0) continue;
        WaiterRow waiter = {.key = set.items[i].waiter};
        Status status = kernel_remove(kernel, TABLE_WAITERS, &waiter);
        if (status == ERR_CORRUPT) run_blame(kernel, run);
        TRY(status);
    }
    return OK;
}

// The row of a run that can be executed now, claimed for the batch's node if that may have it.
Status run_set_ready(Kernel *kernel, Run *run) {
    RunRow *row = &run->row;
    row->claim_rank = claim_rank(row->priority); // [runs-2]
    if (row->claim_rank <= 0) {
        return run_damaged(kernel, run, "the priority of a run is out of range");
    }
    row->generation++;
    row->waits = STR_NULL;
    row->idle_since_ms = 0;
    row->paused_state = 0;
    row->due_at_ms = row->deadline_at_ms; // [runs-4]
    if (row->started_at_ms == 0) row->started_at_ms = kernel_now(kernel);
    return node_assign(kernel, row);
}

static void ready_push(Batch *batch, const ReadyRun *ready) {
    batch->out.ready = batch_reserve(batch, batch->out.ready, batch->out.ready_count,
                                     &batch->out.ready_capacity, sizeof(ReadyRun));
    batch->out.ready[batch->out.ready_count++] = *ready;
}

static void reserved_push(Kernel *kernel, const RunRow *row) {
    Batch *batch = kernel->batch;
    batch->out.reserved = batch_reserve(batch, batch->out.reserved, batch->out.reserved_count,
                                        &batch->out.reserved_capacity, sizeof(ReservedRun));
    batch->out.reserved[batch->out.reserved_count++] = (ReservedRun){
        .id = kernel_answer(kernel, row->id), .workflow = kernel_answer(kernel, row->workflow)};
}

// Tells the batch about a run that was made ready and stored.
Status run_announce(Kernel *kernel, Run *run, Resolved resolved) {
    if (!run_has_owner(&run->row)) {
        if (run->row.affinity != 0) return OK; // node_assign said so
        if (run_is_reserved(&run->row)) reserved_push(kernel, &run->row);
        else kernel->batch->out.unclaimed_count++;
        return OK;
    }
    TRY(run_last_seq(kernel, run));
    run_keep_facts(kernel, run);
    ReadyRun ready = {.run = run->row.key,
                      .claim = run_claim_of(&run->row),
                      .id = kernel_answer(kernel, run->row.id),
                      .workflow = kernel_answer(kernel, run->row.workflow),
                      .kind = run->row.kind,
                      .resolved = resolved.rows,
                      .resolved_count = resolved.count,
                      .last_seq = run->facts.last_seq};
    ready_push(kernel->batch, &ready);
    return OK;
}

Status run_make_ready(Kernel *kernel, Run *run, Resolved resolved) {
    TRY(run_drop_waiters(kernel, run));
    run_set_state(kernel, run, RUN_RUNNING);
    TRY(run_set_ready(kernel, run));
    TRY(run_store(kernel, run));
    return run_announce(kernel, run, resolved);
}

Status run_hold(Kernel *kernel, Run *run, RunState paused_state, Str reason) {
    TRY(run_drop_waiters(kernel, run));
    TRY(run_note(kernel, run, LOG_PAUSED, reason));
    run_set_state(kernel, run, RUN_PAUSED);
    RunRow *row = &run->row;
    row->paused_state = paused_state;
    row->is_pause_wanted = 0;
    row->owner = 0;
    run_end_attempt(row);
    row->claim_rank = 0;
    row->affinity = 0; // [affinity-2]
    row->idle_since_ms = 0;
    if (paused_state != RUN_PENDING) row->due_at_ms = 0; // [runs-4]
    return run_store(kernel, run);
}

Status run_unclaim(Kernel *kernel, Run *run) {
    ASSERT(run->row.state == RUN_RUNNING);
    if (run->row.is_pause_wanted) return run_hold(kernel, run, RUN_RUNNING, STR_NULL);
    run->row.owner = 0;
    run_end_attempt(&run->row); // what was under way was not lost, [nodes-6]
    return run_store(kernel, run);
}

// Runs: their states, and the helpers every change of state goes through.
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
//
// Not here: the row and the log (kernel/run.c), creation (runs/create.c), endings (runs/end.c),
// wait sets (waits/wait.c).
#include "store/kernel/runs/runs.h"
#include "base/assert.h"
#include "store/kernel/nodes/nodes.h"
#include "store/kernel/quarantine.h"

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
    ASSERT(row->state == RUN_RUNNING);           // [runs-2]
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

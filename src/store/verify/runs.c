// Verify: runs and waiters.
//
// A run's row is held against its state ([verify-internal-4]), its log must have its input and,
// once it has ended, its result, and a parked run and the waiters of its wait set must name each
// other ([verify-internal-2]).
#include "store/kernel/runs/runs.h"
#include "model/phase.h"
#include "store/verify/internal.h"

static Status waiter_check(Verify *verify, const RunRow *run,
                           const WaitItem *item) { // [verify-internal-2]
    WaiterRow wanted = {.key = item->waiter}, waiter;
    Status status = rows_get(verify->rows, TABLE_WAITERS, &wanted, &verify->scratch, &waiter);
    if (status == ERR_NOT_FOUND)
        return verify_bad(verify, "a parked run has lost a waiter", run->id);
    TRY(status);
    bool is_same = waiter.run == run->key && waiter.generation == run->generation &&
                   waiter.slot == item->slot && str_equal(waiter.topic, item->name);
    return is_same ? OK
                   : verify_bad(verify, "a waiter disagrees with the wait set of its run", run->id);
}

static Status waits_verify(Verify *verify, const RunRow *run) {
    bool is_parked = run->state == RUN_SUSPENDED ||
                     (run->state == RUN_PAUSED && run->paused_state == RUN_SUSPENDED);
    if (is_parked == str_is_null(run->waits)) {
        return verify_bad(verify, "a run's state and its wait set disagree", run->id);
    }
    if (!str_is_null(run->task) && run->state != RUN_SUSPENDED) {
        return verify_bad(verify, "a run that is not parked has a task in its row", run->id);
    }
    if (!is_parked) return OK;
    WaitSet set;
    if (wait_set_decode(&verify->scratch, run->waits, &set) != OK || set.count == 0) {
        return verify_bad(verify, "a wait set cannot be read", run->id);
    }
    if (run->state != RUN_SUSPENDED) return OK;
    int64_t due_at_ms = earliest_of(wait_set_deadline(&set), run->deadline_at_ms);
    bool has_task = !str_is_null(run->task);
    if (has_task) TRY(verify_embedded(verify, run, &set));
    bool is_good = has_task ? run->due_at_ms == earliest_of(run->due_at_ms, due_at_ms)
                            : run->due_at_ms == due_at_ms;
    if (!is_good) { // [verify-internal-4]
        return verify_bad(verify, "a parked run is due at another time than its waits", run->id);
    }
    for (size_t i = 0; i < set.count; i++) {
        if (set.items[i].kind == WAIT_EVENT) TRY(waiter_check(verify, run, &set.items[i]));
    }
    return OK;
}

static bool claim_is_sane(const RunRow *run) {               // [verify-internal-4]
    if (run->affinity != 0 && run->owner != 0) return false; // [affinity-2] of nodes/affinity.c
    bool is_reserved = run_is_reserved(run);
    if (is_reserved && run->owner != run_reservation(run)) return false; // [runs-2] of runs/runs.c
    if (run->state == RUN_RUNNING) return run->claim_rank == claim_rank(run->priority);
    return run->claim_rank == 0 && run->owner == 0 &&
           (run->affinity == 0 || run->state == RUN_SUSPENDED);
}

static bool due_is_sane(const RunRow *run) { // [verify-internal-4]; parked runs: waits_verify
    switch ((RunState)run->state) {
    case RUN_PENDING: return run->due_at_ms > 0;
    case RUN_RUNNING: return run->due_at_ms == run->deadline_at_ms;
    case RUN_PAUSED:
        if (run_is_cancel_wanted(run) && run->due_at_ms == run->deadline_at_ms) return true;
        return run->due_at_ms == 0 || run->paused_state == RUN_PENDING;
    case RUN_SUSPENDED: return true;
    default: return run->due_at_ms == run_purge_at_ms(run, run->finished_at_ms);
    }
}

static Status run_log_check(Verify *verify, const RunRow *run) {
    // The log of an expired run may be half removed already.
    if (run_state_is_terminal(run->state) && run->due_at_ms != 0) return OK;
    LogRow wanted = {.run = run->key, .seq = run->input_seq}, entry;
    Status status = rows_get(verify->rows, TABLE_LOG, &wanted, &verify->scratch, &entry);
    if (status == ERR_NOT_FOUND)
        return verify_bad(verify, "a run has no input in its log", run->id);
    TRY(status);
    if (!run_state_is_terminal(run->state)) return OK;
    wanted.seq = run->result_seq;
    status = rows_get(verify->rows, TABLE_LOG, &wanted, &verify->scratch, &entry);
    return status == ERR_NOT_FOUND ? verify_bad(verify, "an ended run has no result", run->id)
                                   : status;
}

Status verify_run(Verify *verify, const void *row) {
    const RunRow *run = row;
    if (run->state < RUN_PENDING || run->state >= RUN_STATE_COUNT) {
        return verify_bad(verify, "a run is in no known state", run->id);
    }
    if (run->phase != run_phase(run->state)) {
        return verify_bad(verify, "a run is listed under another state than it has", run->id);
    }
    verify->counts[COUNTER_RUNS_FIRST + run->state]++;
    verify->counts[COUNTER_RUNS_READY] += run_is_ready(run);
    verify_run_place(verify, run);
    if (!claim_is_sane(run))
        return verify_bad(verify, "a run's claim disagrees with its state", run->id);
    if (!due_is_sane(run))
        return verify_bad(verify, "a run's due time disagrees with its state", run->id);
    if (run->parent != 0) { // [verify-internal-3]
        RunRow parent;
        Status status = verify_find_run(verify, run->parent, &parent);
        if (status == ERR_NOT_FOUND)
            return verify_bad(verify, "a run's parent is missing", run->id);
        TRY(status);
    }
    TRY(run_log_check(verify, run));
    return waits_verify(verify, run);
}

Status verify_waiter(Verify *verify, const void *row) { // [verify-internal-2]
    const WaiterRow *waiter = row;
    RunRow run;
    Status status = verify_find_run(verify, waiter->run, &run);
    if (status == ERR_NOT_FOUND) return verify_bad_key(verify, "a waiter has no run", waiter->key);
    TRY(status);
    bool is_parked = run.state == RUN_SUSPENDED && run.generation == waiter->generation;
    if (!is_parked) return verify_bad(verify, "a waiter's run is not parked there", run.id);
    WaitSet set;
    if (wait_set_decode(&verify->scratch, run.waits, &set) != OK) {
        return verify_bad(verify, "a wait set cannot be read", run.id);
    }
    for (size_t i = 0; i < set.count; i++) {
        if (set.items[i].waiter == waiter->key) return OK;
    }
    return verify_bad(verify, "a waiter is in no wait set", run.id);
}

// Failed commits: who is told, what is tried again, and how an unknown outcome becomes known.
//
// A commit that the store was away from may have happened. Every batch of a node carries a number,
// and the store keeps the number of the last one it applied: so the question "did it happen?" has
// an answer. If it did not, the very same operations are submitted again; if it did, callers get
// their answers, and runs are read back.
//
//   [failed-1] While a failed commit is unsettled nothing else is prepared, so order is kept.
//   [failed-2] Callers wait while the engine retries. Those of whom nothing can have happened (they
//        wait for a place, or their batch was never sent) are told ERR_UNAVAILABLE once the store
//        has been away for AWAY_MS; those who come later at once. The others, whose outcome is
//        unknown, wait for at most `store_retry_attempts`, or UNKNOWN_MS if the store cannot even
//        be asked. Nothing of anybody who was told so is submitted again.
//   [failed-3] A node that was fenced off forgets its runs, joins anew, and submits what callers
//        asked for once more: nothing of a fenced batch happened.
//   [failed-4] A batch that is refused for a reason that will not go away (a limit, bad or damaged
//        data) is never submitted again as it is. Nothing of it happened; so it is taken apart,
//        each part goes back to where it came from, and the next batches are half as large, down to
//        one operation. What is refused alone fails alone: its caller is told, its run or task
//        fails with the reason, the engine's own work rests. Each good commit doubles the size
//        again ([pace-2] of commits/pace.h).
//   [failed-5] So is a batch that fails for the third time although the store can be asked, and
//        says that it was not applied: it may be more than the store can do in its time. What is
//        alone makes way for the others and comes again after them.
//   [failed-6] A store that is full is read and not written. Callers are told STORE_FULL as soon as
//        one try has failed, and each that comes makes the next try. So that it is known when there
//        is room again, something of our own is tried until it holds: a renewal of the lease if
//        nothing else of ours has failed.
//
// Not here: the normal course (coordinator.c).
#include "base/assert.h"
#include "engine/coordinator/internal.h"
#include "store/reads.h"

enum { UNKNOWN_MS = 20000, APART_ATTEMPTS = 3 };

bool failed_is_pending(const Coordinator *c) {
    return c->outcomes.failed_count > 0 || c->commits.node == 0;
}

// The store is away, and something waits for it.
static bool is_waiting(const Coordinator *c) { return c->outcomes.is_away && failed_is_pending(c); }

static bool is_long_away(const Coordinator *c) {
    return is_waiting(c) && outcomes_is_long_away(&c->outcomes);
}

bool coordinator_is_store_full(const Coordinator *c) { return outcomes_is_full(&c->outcomes); }

bool coordinator_is_store_away(const Coordinator *c) {
    return is_long_away(c) && !coordinator_is_store_full(c);
}

void coordinator_store_heard(Coordinator *c) {
    if (is_waiting(c)) outcomes_retry_now(&c->outcomes);
}

bool coordinator_is_stranded(const Coordinator *c) {
    return c->is_stopping && is_long_away(c) && c->executions.out_count == 0 &&
           c->commits.out_count == 0;
}

int64_t failed_next_ms(const Coordinator *c) {
    bool is_waited_for = intake_is_waited_for(&c->intake);
    if (coordinator_is_store_full(c) && is_waited_for) return 0; // [failed-6]
    return outcomes_next_ms(&c->outcomes, is_waited_for || c->is_stopping);
}

static bool is_patience_over(const Coordinator *c) {
    return c->is_stopping || outcomes_is_patience_over(&c->outcomes);
}

// A full store is a limit that passes: somebody makes room.
static bool status_is_lasting(Status status) {
    return !status_is_away(status) && status != ERR_FENCED && status != ERR_FULL;
}

// Takes the requests out of a failed commit and tells their owners.
static void refuse_requests(Coordinator *c, Commit *commit, Status status, const Diag *diag) {
    size_t kept = 0;
    bool is_cause_gone = false;
    for (size_t i = 0; i < commit->items.count; i++) {
        CommitItem item = commit->items.data[i];
        bool is_foreseen = item.execution != NULL && item.execution->foreseen_seq != 0;
        if (is_foreseen && is_cause_gone) { // [foresee-2] of foresee.c
            foresee_drop(c, item.execution, INTAKE_BACK);
            continue;
        }
        is_cause_gone = item.request != NULL;
        if (item.request != NULL) {
            idle_forget_request(&c->idle, item.op);
            request_answer(item.request, status, diag);
            continue;
        }
        commit->batch.ops[kept] = item.op;
        commit->items.data[kept++] = item;
    }
    commit->items.count = kept;
    commit->batch.count = kept;
}

// [failed-2] Of those that wait for a place.
static void refuse_queue(Coordinator *c, Status status, const Diag *diag) {
    foresee_refuse_reports(c, status, diag);
    for (Request *request; (request = intake_take_either(&c->intake)) != NULL;)
        request_answer(request, status, diag);
}

// [failed-2] `is_over`: also those whose outcome is unknown.
static void refuse_waiting(Coordinator *c, bool is_over) {
    if (coordinator_is_store_full(c)) { // [failed-6]
        refuse_queue(c, ERR_FULL, &c->outcomes.reason);
        return;
    }
    if (!is_over && !is_long_away(c)) return;
    Diag unknown;
    (void)diag_set(&unknown, ERR_UNAVAILABLE, c->outcomes.reason.code, "the outcome is unknown; %s",
                   c->outcomes.reason.message);
    for (size_t i = 0; i < c->outcomes.failed_count; i++) {
        bool is_known =
            !c->outcomes.failed[i]->batch.out.has_answers; // [store-batch-3] of store/batch.h
        if (is_over || is_known)
            refuse_requests(c, c->outcomes.failed[i], ERR_UNAVAILABLE,
                            is_known ? &c->outcomes.reason : &unknown);
    }
    refuse_queue(c, ERR_UNAVAILABLE, &c->outcomes.reason);
}

// What was under way will not answer.
static void look_at_everything(Coordinator *c) {
    due_clock_restart(&c->due);
    task_window_note_tasks(&c->tasks.window);
}

void failed_fenced_off(Coordinator *c) {
    LOG(c->setup.logger, LOG_WARN, "node %lld lost its lease; joining anew",
        (long long)c->commits.node);
    static const Phase idle_phases[] = {PHASE_READY, PHASE_PARKED, PHASE_WATCHED, PHASE_RELEASING,
                                        PHASE_SUSPECT};
    for (size_t i = 0; i < 5; i++)
        LIST_EACH_SAFE (node, after, &c->residents.phases[idle_phases[i]])
            residents_remove(&c->residents, container_of(node, ResidentRun, link));
    static const Phase busy_phases[] = {PHASE_EXECUTING, PHASE_COMMITTING};
    for (size_t i = 0; i < 2; i++)
        LIST_EACH (node, &c->residents.phases[busy_phases[i]])
            container_of(node, ResidentRun, link)->is_fenced = true;
    c->commits.node = 0;
    outcomes_retry_now(&c->outcomes);
    look_at_everything(c);
}

static void drop_run(Coordinator *c, Execution *execution) {
    ResidentRun *run = residents_get(&c->residents, execution->run);
    if (run != NULL) residents_remove(&c->residents, run);
    executions_put(&c->executions, execution);
}

// [failed-3] Requests go back to the head of the queue, in order.
static void take_apart_fenced(Coordinator *c, Commit *commit) {
    if (commit->batch.node == c->commits.node) failed_fenced_off(c);
    tasks_forget_claims(&c->tasks, commit);
    for (size_t i = commit->items.count; i-- > 0;) {
        CommitItem *item = &commit->items.data[i];
        if (item->request != NULL) {
            intake_add_request(&c->intake, item->request, INTAKE_FRONT);
        } else if (item->execution != NULL && item->execution->kind == EXECUTE_RUN) {
            drop_run(c, item->execution);
        } else if (item->execution != NULL) {
            intake_add_result(&c->intake, item->execution,
                              INTAKE_BACK); // a task's token is still good
        }
    }
    commits_put(&c->commits, commit);
}

// ---- refused for good ----

// [failed-4] Everything goes back to the head of its queue, in order; [failed-5] what is alone to
//      the end.
static void take_apart(Coordinator *c, Commit *commit) {
    bool is_alone = commit->batch.count == 1;
    IntakeEnd end = is_alone ? INTAKE_BACK : INTAKE_FRONT;
    batch_clear_answers(&commit->batch);
    for (size_t i = commit->items.count; i-- > 0;) {
        CommitItem *item = &commit->items.data[i];
        if (item->request != NULL) {
            idle_undo(&c->idle, item->op);
            intake_add_request(&c->intake, item->request, end);
        } else if (item->execution != NULL && item->execution->foreseen_seq != 0) {
            foresee_drop(c, item->execution, end); // its cause has a place of its own
        } else if (item->execution != NULL) {
            intake_add_result(&c->intake, item->execution, end);
        } else {
            own_work_undo(&c->own, item->op, commit->batch.now_ms);
            if (is_alone) own_work_rest(&c->own, item->op->kind);
        }
    }
    pace_refused(&c->pace, commit->batch.count);
    commits_put(&c->commits, commit);
}

static void refuse_alone(Coordinator *c, Commit *commit, Status status, const Diag *diag) {
    CommitItem item = commit->items.data[0];
    batch_clear_answers(&commit->batch);
    item.op->out.status = status;
    item.op->out.diag = *diag;
    if (item.request != NULL) {
        LOG(c->setup.logger, LOG_ERROR, "the store refuses %s: %s", op_kind_name(item.op->kind),
            diag->message);
        idle_undo(&c->idle, item.op);
        request_answer(item.request, status, diag);
    } else if (item.execution == NULL) {
        own_work_undo(&c->own, item.op, commit->batch.now_ms);
        own_work_refused(&c->own, item.op);
        if (item.op->kind == OP_RENEW) due_clock_renewed(&c->due, commit->batch.now_ms);
    } else if (item.execution->kind == EXECUTE_RUN) {
        turns_refused(c, item.execution, status, diag);
    } else {
        tasks_refused(&c->tasks, item.execution, status, diag);
    }
    commits_put(&c->commits, commit);
}

static void refused(Coordinator *c, Commit *commit, Status status, const Diag *diag) {
    c->outcomes.error_count++;
    if (status == ERR_CORRUPT) outcomes_note_damage(&c->outcomes, diag);
    if (commit->batch.count == 1) {
        pace_refused(&c->pace, 1); // the next one may be refused as well
        refuse_alone(c, commit, status, diag);
        return;
    }
    if (!pace_is_cut(&c->pace))
        LOG(c->setup.logger, LOG_WARN,
            "the store refuses a batch of %zu operations, so it is tried in "
            "parts: %s",
            commit->batch.count, diag->message);
    take_apart(c, commit);
}

static void add_probe(const Coordinator *c, Commit *commit) { // [failed-6]
    Op *op = commit_add_own(commit, OP_RENEW);
    op->in.renew.lease_ms = c->setup.config.lease_ms;
    op->in.renew.resident_count = (int64_t)coordinator_resident_count(c);
    commit->batch.is_probe = true;
}

void failed_commit(Coordinator *c, Commit *commit, Status status, const Diag *diag) {
    if (status == ERR_FENCED) {
        take_apart_fenced(c, commit);
        return;
    }
    if (status_is_lasting(status)) {
        refused(c, commit, status, diag);
        return;
    }
    outcomes_note_failure(&c->outcomes, commit->batch.now_ms, status, diag);
    if (!status_is_away(status)) refuse_requests(c, commit, status, diag);
    outcomes_add(&c->outcomes, commit, status_is_away(status));
    bool is_full = coordinator_is_store_full(c);
    if (is_full && commit->batch.count == 0) add_probe(c, commit);
    bool is_over = is_patience_over(c);
    outcomes_schedule_retry(&c->outcomes);
    if (status_is_away(status) || is_full) refuse_waiting(c, is_over);
}

// ---- applied after all ----

// Callers get the answers that were found before the commit was tried ([store-batch-3] of
// store/batch.h). Time has passed since, though: each run of the commit is read back.
static void apply_late(Coordinator *c, Commit *commit) {
    ASSERT(commit->batch.out.has_answers);
    tasks_forget_claims(&c->tasks, commit);
    for (size_t i = 0; i < commit->items.count; i++) {
        CommitItem *item = &commit->items.data[i];
        if (item->request != NULL) {
            request_finish(item->request);
        } else if (item->execution == NULL) {
            continue;
        } else if (item->execution->kind == EXECUTE_TASK) {
            tasks_apply_result(&c->tasks, item->execution, item->op);
        } else {
            ResidentRun *run = residents_get(&c->residents, item->execution->run);
            ASSERT(run != NULL);
            run->is_stale = true;
            residents_move(&c->residents, run, PHASE_READY); // loading finds out what it is
            executions_put(&c->executions, item->execution);
        }
    }
    // Runs parked in memory may have been woken by it.
    static const Phase parked_phases[] = {PHASE_PARKED, PHASE_WATCHED, PHASE_RELEASING};
    for (size_t i = 0; i < 3; i++)
        LIST_EACH_SAFE (node, after, &c->residents.phases[parked_phases[i]])
            residents_remove(&c->residents, container_of(node, ResidentRun, link));
    look_at_everything(c);
    loading_adopt(&c->loading);
    awaits_recheck(&c->awaits);
    world_tell(c->setup.world, ENGINE_LOG_GREW, STR_NULL, STR_NULL, STR_NULL);
    world_tell(c->setup.world, ENGINE_TASKS_READY, STR_NULL, STR_NULL, STR_NULL);
}

// Asks the store for the number of the last batch it applied for us.
static Status last_applied(Coordinator *c, int64_t node, int64_t *ret_number) {
    Arena arena;
    arena_init(&arena);
    NodeRow row;
    Diag diag;
    Status status = store_node_by_key(c->setup.store, &arena, node, &row, &diag);
    if (status == OK) *ret_number = row.last_batch;
    arena_done(&arena);
    return status;
}

// Our row is gone, and with it the knowledge of what was applied.
static void drop_uncertain(Coordinator *c) {
    Diag diag;
    (void)diag_set(&diag, ERR_UNAVAILABLE, "OUTCOME_UNKNOWN",
                   "this node was away too long to know whether it happened");
    while (c->outcomes.failed_count > 0) {
        Commit *commit = outcomes_take_first(&c->outcomes);
        refuse_requests(c, commit, ERR_UNAVAILABLE, &diag);
        take_apart_fenced(c, commit);
    }
}

static Commit *submit_again(Coordinator *c, Commit *commit) {
    batch_clear_answers(&commit->batch);
    commit->batch.now_ms = env_now_ms(c->setup.env);
    return commits_hand_out(&c->commits, commit);
}

// [failed-5] Of two the later one first, so that the earlier one's stand before its own.
static void take_all_apart(Coordinator *c, Commit *first) {
    if (c->outcomes.failed_count > 0) take_apart(c, outcomes_take_first(&c->outcomes));
    take_apart(c, first);
    c->outcomes.is_unknown = false;
}

static Commit *rejoin(Coordinator *c) {
    Diag diag;
    int64_t began_ms = env_now_ms(c->setup.env);
    diag_clear(&diag);
    Status status = coordinator_join(c, &diag);
    if (status == OK) {
        outcomes_settled(&c->outcomes);
        return NULL;
    }
    outcomes_note_failure(&c->outcomes, began_ms, status, &diag);
    bool is_over = is_patience_over(c);
    outcomes_schedule_retry(&c->outcomes);
    refuse_waiting(c, is_over);
    return NULL;
}

Commit *failed_retry(Coordinator *c) {
    if (c->commits.out_count > 0) return NULL;
    bool is_wanted = coordinator_is_store_full(c) && intake_is_waited_for(&c->intake); // [failed-6]
    if (env_now_ms(c->setup.env) < c->outcomes.retry_at_ms && !is_wanted) {
        refuse_waiting(c, false);
        return NULL;
    }
    if (c->outcomes.failed_count == 0) return rejoin(c);
    int64_t applied = -1;
    if (c->outcomes.is_unknown) {
        Status status = last_applied(c, c->outcomes.failed[0]->batch.node, &applied);
        if (status == ERR_NOT_FOUND) {
            drop_uncertain(c);
            return NULL;
        }
        if (status != OK) {
            bool is_over = is_patience_over(c) || outcomes_away_ms(&c->outcomes) >= UNKNOWN_MS;
            outcomes_schedule_retry(&c->outcomes);
            refuse_waiting(c, is_over);
            return NULL;
        }
    }
    while (c->outcomes.failed_count > 0) {
        Commit *commit = outcomes_take_first(&c->outcomes);
        bool is_applied = commit->batch.number <= applied; // [coordinator-2]
        bool is_too_much =
            c->outcomes.retry_count >= APART_ATTEMPTS && !coordinator_is_store_full(c);
        if (!is_applied && is_too_much) {
            take_all_apart(c, commit);
            return gather(c);
        }
        if (is_applied) apply_late(c, commit);
        else if (commit->batch.count > 0) return submit_again(c, commit);
        commits_put(&c->commits, commit);
    }
    outcomes_settled(&c->outcomes);
    return NULL;
}

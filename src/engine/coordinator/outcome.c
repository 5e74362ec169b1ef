// Failed commits: who is told, what is tried again, and how an unknown outcome becomes known.
//
// A commit that answers ERR_UNAVAILABLE may have happened. Every batch of a node carries a number,
// and the store keeps the number of the last one it applied: so the question "did it happen?" has
// an answer. If it did not, the very same operations are submitted again; if it did, callers get
// their answers, and runs are read back.
//
//   [O1] While a failed turn is unsettled nothing else is prepared, so order is kept.
//   [O2] Callers wait while the engine retries. Those of whom nothing can have happened (they wait
//        for their turn, or their batch was never sent) are told ERR_UNAVAILABLE once the store has
//        been away for AWAY_MS; those who come later at once. The others, whose outcome is unknown,
//        wait for at most `store_retry_attempts`, or UNKNOWN_MS if the store cannot even be asked.
//        Nothing of anybody who was told so is submitted again.
//   [O3] A node that was fenced off forgets its runs, joins anew, and submits what callers asked
//        for once more: nothing of a fenced batch happened.
//   [O4] A batch that is refused for a reason that will not go away (a limit, bad or damaged data)
//        is never submitted again as it is. Nothing of it happened; so it is taken apart, each part
//        goes back to where it came from, and the next batches are half as large, down to one
//        operation. What is refused alone fails alone: its caller is told, its run or task fails
//        with the reason, the engine's own work rests. Each good commit doubles the size again
//        ([G5] of coordinator/gather.c).
//   [O5] So is a batch that fails for the third time although the store can be asked, and says that
//        it was not applied: it may be more than the store can do in its time. What is alone makes
//        way for the others and comes again after them.
//   [O6] A store that is full is read and not written. Callers are told STORE_FULL as soon as one
//        try has failed, and each that comes makes the next try. So that it is known when there is
//        room again, something of our own is tried until it holds: a renewal of the lease if
//        nothing else of ours has failed.
//
// Not here: the normal course (coordinator.c).
#include "base/limits.h"
#include "engine/coordinator/internal.h"
#include "store/reads.h"

enum { AWAY_MS = 3000, UNKNOWN_MS = 20000, APART_ATTEMPTS = 3 };

static int64_t down_ms(const Coordinator *c) { return env_now_ms(c->env) - c->down_since_ms; }

static bool is_waiting(const Coordinator *c) { // for the store
    return c->down_since_ms != 0 && (c->uncertain_count > 0 || c->node == 0);
}

static bool is_long_down(const Coordinator *c) {
    return is_waiting(c) && c->retry_count > 1 && down_ms(c) >= AWAY_MS; // it was asked again
}

bool coordinator_is_store_full(const Coordinator *c) {
    return c->health == STORE_IS_DOWN && strcmp(c->down_reason.code, "STORE_FULL") == 0;
}

bool coordinator_is_store_away(const Coordinator *c) {
    return is_long_down(c) && !coordinator_is_store_full(c);
}

void coordinator_store_heard(Coordinator *c) {
    if (is_waiting(c)) c->retry_at_ms = 0;
}

bool coordinator_is_stranded(const Coordinator *c) {
    return c->is_stopping && is_long_down(c) && c->executing_count == 0 && c->turns_out == 0;
}

int64_t outcome_next_ms(const Coordinator *c) {
    if (coordinator_is_store_full(c) && c->request_count > 0) return 0; // [O6]
    bool is_urgent =
        is_waiting(c) && (c->request_count > 0 || c->is_stopping) && down_ms(c) < AWAY_MS;
    int64_t away_at_ms = c->down_since_ms + AWAY_MS;
    return is_urgent && away_at_ms < c->retry_at_ms ? away_at_ms : c->retry_at_ms;
}

static void note_health(Coordinator *c, const Diag *diag) {
    if (c->health == STORE_IS_DOWN) return;
    c->health = STORE_IS_DOWN;
    LOG(c->logger, LOG_ERROR, "the store does not answer: %s", diag->message);
    notify(c, ENGINE_STORE_DOWN, STR_NULL, STR_NULL, str_from(diag->message));
}

static void note_down(Coordinator *c, int64_t since_ms, const Diag *diag) {
    c->stats.store_errors++;
    c->down_reason = *diag;
    if (c->down_since_ms == 0) c->down_since_ms = since_ms;
    note_health(c, diag);
}

// A full store is a limit that passes: somebody makes room.
static bool status_is_lasting(Status status, const Diag *diag) {
    if (status == ERR_UNAVAILABLE || status == ERR_FENCED) return false;
    return status != ERR_LIMIT || strcmp(diag->code, "STORE_FULL") != 0;
}

static void schedule_retry(Coordinator *c) {
    RetryPolicy policy = {
        .delay_ms = c->config.store_retry_ms,
        .max_delay_ms = c->config.store_retry_max_ms,
        .factor_pct = 200,
        .jitter_pct = 20,
    };
    c->retry_count++;
    c->retry_at_ms =
        env_now_ms(c->env) + retry_delay_ms(&policy, c->retry_count, env_random_u64(c->env));
}

// Takes the requests out of a failed turn and tells their owners.
static void refuse_requests(Coordinator *c, Turn *turn, Status status, const Diag *diag) {
    size_t kept = 0;
    for (size_t i = 0; i < turn->items.count; i++) {
        TurnItem item = turn->items.data[i];
        if (item.request != NULL) {
            idle_forget_request(c, item.op);
            request_answer(c, item.request, status, diag);
            continue;
        }
        turn->batch.ops[kept] = item.op;
        turn->items.data[kept++] = item;
    }
    turn->items.count = kept;
    turn->batch.count = kept;
}

// [O2] Of those that wait for their turn.
static void refuse_queue(Coordinator *c, Status status, const Diag *diag) {
    while (c->request_count > 0) {
        Request *request = container_of(list_first(&c->requests), Request, link);
        list_remove(&request->link);
        c->request_count--;
        request_answer(c, request, status, diag);
    }
}

static bool is_patience_over(const Coordinator *c) {
    return c->is_stopping || c->retry_count >= c->config.store_retry_attempts;
}

// [O2] `is_over`: also those whose outcome is unknown.
static void refuse_waiting(Coordinator *c, bool is_over) {
    if (coordinator_is_store_full(c)) { // [O6]
        refuse_queue(c, ERR_LIMIT, &c->down_reason);
        return;
    }
    if (!is_over && !is_long_down(c)) return;
    Diag unknown;
    (void)diag_set(&unknown, ERR_UNAVAILABLE, c->down_reason.code, "the outcome is unknown; %s",
                   c->down_reason.message);
    for (size_t i = 0; i < c->uncertain_count; i++) {
        bool is_known = !c->uncertain[i]->batch.out.has_answers; // [S3] of store/batch.h
        if (is_over || is_known)
            refuse_requests(c, c->uncertain[i], ERR_UNAVAILABLE,
                            is_known ? &c->down_reason : &unknown);
    }
    refuse_queue(c, ERR_UNAVAILABLE, &c->down_reason);
}

void outcome_fenced_off(Coordinator *c) {
    LOG(c->logger, LOG_WARN, "node %lld lost its lease; joining anew", (long long)c->node);
    static const Phase idle_phases[] = {PHASE_READY, PHASE_PARKED, PHASE_WATCHED, PHASE_RELEASING,
                                        PHASE_SUSPECT};
    for (size_t i = 0; i < 5; i++)
        LIST_EACH_SAFE (node, after, &c->residents.phases[idle_phases[i]])
            residents_remove(&c->residents, container_of(node, ResidentRun, link));
    static const Phase busy_phases[] = {PHASE_EXECUTING, PHASE_COMMITTING};
    for (size_t i = 0; i < 2; i++)
        LIST_EACH (node, &c->residents.phases[busy_phases[i]])
            container_of(node, ResidentRun, link)->epoch = -1; // what comes of it is dropped
    c->node = 0;
    c->retry_at_ms = 0;
    c->is_firing = c->is_claiming = false;
    c->is_due_unknown = c->has_unclaimed = c->has_tasks = true;
}

static void put_back(Coordinator *c, Request *request) {
    list_append(c->requests.next, &request->link); // before the first
    c->request_count++;
}

static void drop_run(Coordinator *c, Execution *execution) {
    ResidentRun *run = residents_get(&c->residents, execution->run);
    if (run != NULL) residents_remove(&c->residents, run);
    execution_put(c, execution);
}

// [O3] Requests go back to the head of the queue, in order.
static void take_apart_fenced(Coordinator *c, Turn *turn) {
    if (turn->batch.node == c->node) outcome_fenced_off(c);
    tasks_forget_claims(c, turn);
    for (size_t i = turn->items.count; i-- > 0;) {
        TurnItem *item = &turn->items.data[i];
        if (item->request != NULL) {
            put_back(c, item->request);
        } else if (item->execution != NULL && item->execution->kind == EXECUTE_RUN) {
            drop_run(c, item->execution);
        } else if (item->execution != NULL) {
            executed_add(c, item->execution); // a task's token is still good
        }
    }
    turn_put(c, turn);
}

// ---- refused for good ----

// [O4] Everything goes back to the head of its queue, in order; [O5] what is alone to the end.
static void take_apart(Coordinator *c, Turn *turn) {
    bool is_alone = turn->batch.count == 1;
    List *results = is_alone ? &c->executed : c->executed.next;
    List *requests = is_alone ? &c->requests : c->requests.next;
    batch_clear_answers(&turn->batch);
    for (size_t i = 0; i < turn->items.count; i++) {
        TurnItem *item = &turn->items.data[i];
        if (item->request != NULL) {
            idle_undo(c, item->op);
            list_append(requests, &item->request->link);
            c->request_count++;
        } else if (item->execution != NULL) {
            list_append(results, &item->execution->link);
            c->executed_count++;
        } else {
            own_undo(c, item->op, turn->batch.now_ms);
            if (is_alone) own_rest(c, item->op->kind);
        }
    }
    c->batch_most = turn->batch.count > 1 ? turn->batch.count / 2 : 1;
    turn_put(c, turn);
}

static void refuse_alone(Coordinator *c, Turn *turn, Status status, const Diag *diag) {
    TurnItem item = turn->items.data[0];
    batch_clear_answers(&turn->batch);
    item.op->out.status = status;
    item.op->out.diag = *diag;
    if (item.request != NULL) {
        LOG(c->logger, LOG_ERROR, "the store refuses %s: %s", op_kind_name(item.op->kind),
            diag->message);
        idle_undo(c, item.op);
        request_answer(c, item.request, status, diag);
    } else if (item.execution == NULL) {
        own_undo(c, item.op, turn->batch.now_ms);
        own_refused(c, item.op);
        if (item.op->kind == OP_RENEW) c->renew_at_ms = turn->batch.now_ms + c->config.lease_ms / 3;
    } else if (item.execution->kind == EXECUTE_RUN) {
        runs_refused(c, item.execution, status, diag);
    } else {
        tasks_refused(c, item.execution, status, diag);
    }
    turn_put(c, turn);
}

static void refused(Coordinator *c, Turn *turn, Status status, const Diag *diag) {
    c->stats.store_errors++;
    if (status == ERR_CORRUPT) note_health(c, diag);
    if (turn->batch.count == 1) {
        c->batch_most = 1; // the next one may be refused as well
        refuse_alone(c, turn, status, diag);
        return;
    }
    if (c->batch_most == LIMIT_BATCH_OPS)
        LOG(c->logger, LOG_WARN,
            "the store refuses a batch of %zu operations, so it is tried in "
            "parts: %s",
            turn->batch.count, diag->message);
    take_apart(c, turn);
}

static void add_probe(const Coordinator *c, Turn *turn) { // [O6]
    Op *op = turn_add(turn, OP_RENEW, NULL, NULL);
    op->in.renew.lease_ms = c->config.lease_ms;
    op->in.renew.resident_count = (int64_t)coordinator_resident_count(c);
    turn->batch.is_probe = true;
}

void outcome_failed(Coordinator *c, Turn *turn, Status status, const Diag *diag) {
    if (status == ERR_FENCED) {
        take_apart_fenced(c, turn);
        return;
    }
    if (status_is_lasting(status, diag)) {
        refused(c, turn, status, diag);
        return;
    }
    note_down(c, turn->batch.now_ms, diag);
    c->is_outcome_unknown = c->is_outcome_unknown || status == ERR_UNAVAILABLE;
    if (status != ERR_UNAVAILABLE) refuse_requests(c, turn, status, diag);
    ASSERT(c->uncertain_count < 2);
    c->uncertain[c->uncertain_count++] = turn;
    bool is_full = coordinator_is_store_full(c);
    if (is_full && turn->batch.count == 0) add_probe(c, turn);
    bool is_over = is_patience_over(c);
    schedule_retry(c);
    if (status == ERR_UNAVAILABLE || is_full) refuse_waiting(c, is_over);
}

// ---- applied after all ----

// Callers get the answers that were found before the commit was tried ([S3] of store/batch.h). Time
// has passed since, though: each run of the turn is read back.
static void apply_late(Coordinator *c, Turn *turn) {
    ASSERT(turn->batch.out.has_answers);
    tasks_forget_claims(c, turn);
    for (size_t i = 0; i < turn->items.count; i++) {
        TurnItem *item = &turn->items.data[i];
        if (item->request != NULL) {
            item->request->done(item->request);
        } else if (item->execution == NULL) {
            continue;
        } else if (item->execution->kind == EXECUTE_TASK) {
            tasks_apply_result(c, item->execution, item->op);
        } else {
            ResidentRun *run = residents_get(&c->residents, item->execution->run);
            ASSERT(run != NULL);
            run->is_stale = true;
            residents_move(&c->residents, run, PHASE_READY); // loading finds out what it is
            execution_put(c, item->execution);
        }
    }
    arena_reset(&c->scratch);
    // Runs parked in memory may have been woken by it.
    static const Phase parked_phases[] = {PHASE_PARKED, PHASE_WATCHED, PHASE_RELEASING};
    for (size_t i = 0; i < 3; i++)
        LIST_EACH_SAFE (node, after, &c->residents.phases[parked_phases[i]])
            residents_remove(&c->residents, container_of(node, ResidentRun, link));
    c->is_firing = c->is_claiming = false;
    c->is_due_unknown = c->has_unclaimed = c->has_tasks = true;
    runs_adopt(c);
    awaits_recheck(c);
    notify(c, ENGINE_LOG_GREW, STR_NULL, STR_NULL, STR_NULL);
    notify(c, ENGINE_TASKS_READY, STR_NULL, STR_NULL, STR_NULL);
}

// Asks the store for the number of the last batch it applied for us.
static Status last_applied(Coordinator *c, int64_t node, int64_t *ret_number) {
    NodeRow row;
    Diag diag;
    Status status = store_node_by_key(c->store, &c->scratch, node, &row, &diag);
    if (status == OK) *ret_number = row.last_batch;
    arena_reset(&c->scratch);
    return status;
}

static Turn *take_first(Coordinator *c) {
    Turn *turn = c->uncertain[0];
    c->uncertain[0] = c->uncertain[1];
    c->uncertain_count--;
    return turn;
}

// Our row is gone, and with it the knowledge of what was applied.
static void drop_uncertain(Coordinator *c) {
    Diag diag;
    (void)diag_set(&diag, ERR_UNAVAILABLE, "OUTCOME_UNKNOWN",
                   "this node was away too long to know whether it happened");
    while (c->uncertain_count > 0) {
        Turn *turn = take_first(c);
        refuse_requests(c, turn, ERR_UNAVAILABLE, &diag);
        take_apart_fenced(c, turn);
    }
}

static Turn *submit_again(Coordinator *c, Turn *turn) {
    batch_clear_answers(&turn->batch);
    turn->batch.now_ms = env_now_ms(c->env);
    c->turns_out++;
    return turn;
}

// [O5] Of two the later one first, so that the earlier one's stand before its own.
static void take_all_apart(Coordinator *c, Turn *first) {
    if (c->uncertain_count > 0) take_apart(c, take_first(c));
    take_apart(c, first);
    c->is_outcome_unknown = false;
}

static Turn *rejoin(Coordinator *c) {
    Diag diag;
    int64_t began_ms = env_now_ms(c->env);
    diag_clear(&diag);
    if (coordinator_join(c, &diag) == OK) {
        c->retry_count = 0;
        c->down_since_ms = 0;
        return NULL;
    }
    note_down(c, began_ms, &diag);
    bool is_over = is_patience_over(c);
    schedule_retry(c);
    refuse_waiting(c, is_over);
    return NULL;
}

Turn *outcome_retry(Coordinator *c) {
    if (c->turns_out > 0) return NULL;
    bool is_wanted = coordinator_is_store_full(c) && c->request_count > 0; // [O6]
    if (env_now_ms(c->env) < c->retry_at_ms && !is_wanted) {
        refuse_waiting(c, false);
        return NULL;
    }
    if (c->uncertain_count == 0) return rejoin(c);
    int64_t applied = -1;
    if (c->is_outcome_unknown) {
        Status status = last_applied(c, c->uncertain[0]->batch.node, &applied);
        if (status == ERR_NOT_FOUND) {
            drop_uncertain(c);
            return NULL;
        }
        if (status != OK) {
            bool is_over = is_patience_over(c) || down_ms(c) >= UNKNOWN_MS;
            schedule_retry(c);
            refuse_waiting(c, is_over);
            return NULL;
        }
    }
    while (c->uncertain_count > 0) {
        Turn *turn = take_first(c);
        bool is_applied = turn->batch.number <= applied; // [C2]
        bool is_too_much = c->retry_count >= APART_ATTEMPTS && !coordinator_is_store_full(c);
        if (!is_applied && is_too_much) {
            take_all_apart(c, turn);
            return turn_gather(c);
        }
        if (is_applied) apply_late(c, turn);
        else if (turn->batch.count > 0) return submit_again(c, turn);
        turn_put(c, turn);
    }
    c->is_outcome_unknown = false;
    c->retry_count = 0;
    c->down_since_ms = 0;
    return NULL;
}

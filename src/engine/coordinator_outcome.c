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
//   [O4] Damage to what one caller asks about is not the others' trouble: a batch that fails for it
//        is not applied at all, and its requests are submitted again one by one.
//
// Not here: the normal course (coordinator.c).
#include "base/limits.h"
#include "engine/coordinator_internal.h"

enum { AWAY_MS = 3000, UNKNOWN_MS = 20000 };

static int64_t down_ms(const Coordinator *c) { return env_now_ms(c->env) - c->down_since_ms; }

static bool is_waiting(const Coordinator *c) { // for the store
    return c->down_since_ms != 0 && (c->uncertain_count > 0 || c->node == 0);
}

bool coordinator_is_store_away(const Coordinator *c) {
    return is_waiting(c) && c->retry_count > 1 && down_ms(c) >= AWAY_MS; // it was asked again
}

void coordinator_store_heard(Coordinator *c) {
    if (is_waiting(c)) c->retry_at_ms = 0;
}

bool coordinator_is_stranded(const Coordinator *c) {
    return c->is_stopping && coordinator_is_store_away(c) && c->executing_count == 0 &&
           c->turns_out == 0;
}

int64_t outcome_next_ms(const Coordinator *c) {
    bool is_urgent = is_waiting(c) && (c->request_count > 0 || c->is_stopping) &&
                     down_ms(c) < AWAY_MS;
    int64_t away_at_ms = c->down_since_ms + AWAY_MS;
    return is_urgent && away_at_ms < c->retry_at_ms ? away_at_ms : c->retry_at_ms;
}

static void note_down(Coordinator *c, int64_t since_ms, const Diag *diag) {
    c->stats.store_errors++;
    c->down_reason = *diag;
    if (c->down_since_ms == 0) c->down_since_ms = since_ms;
    if (c->health == STORE_IS_DOWN) return;
    c->health = STORE_IS_DOWN;
    LOG(c->logger, LOG_ERROR, "the store does not answer: %s", diag->message);
    notify(c, ENGINE_STORE_DOWN, STR_NULL, STR_NULL, str_from(diag->message));
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
    c->alone_count = 0;
}

static bool is_patience_over(const Coordinator *c) {
    return c->is_stopping || c->retry_count >= c->config.store_retry_attempts;
}

// [O2] `is_over`: also those whose outcome is unknown.
static void refuse_waiting(Coordinator *c, bool is_over) {
    if (!is_over && !coordinator_is_store_away(c)) return;
    Diag unknown;
    (void)diag_set(&unknown, ERR_UNAVAILABLE, c->down_reason.code, "the outcome is unknown; %s",
                   c->down_reason.message);
    for (size_t i = 0; i < c->uncertain_count; i++) {
        bool is_known = !c->uncertain[i]->batch.has_answers; // [S3] of store/batch.h
        if (is_over || is_known)
            refuse_requests(c, c->uncertain[i], ERR_UNAVAILABLE,
                            is_known ? &c->down_reason : &unknown);
    }
    refuse_queue(c, ERR_UNAVAILABLE, &c->down_reason);
}

static size_t count_requests(const Turn *turn) {
    size_t count = 0;
    for (size_t i = 0; i < turn->items.count; i++) count += turn->items.data[i].request != NULL;
    return count;
}

// [O4] Requests go back to the head of the queue, in order; the rest stays in the turn.
static void take_out_requests(Coordinator *c, Turn *turn) {
    size_t kept = turn->items.count;
    batch_clear_answers(&turn->batch);
    for (size_t i = turn->items.count; i-- > 0;) {
        TurnItem item = turn->items.data[i];
        if (item.request != NULL) {
            idle_forget_request(c, item.op);
            list_append(c->requests.next, &item.request->link); // before the first
            c->request_count++;
            c->alone_count++;
            continue;
        }
        turn->items.data[--kept] = item;
    }
    turn->items.count -= kept;
    memmove(turn->items.data, turn->items.data + kept, turn->items.count * sizeof(TurnItem));
    turn->batch.count = turn->items.count;
    for (size_t i = 0; i < turn->items.count; i++) turn->batch.ops[i] = turn->items.data[i].op;
}

void outcome_fenced_off(Coordinator *c) {
    LOG(c->logger, LOG_WARN, "node %lld lost its lease; joining anew", (long long)c->node);
    static const Phase idle_phases[] = {PHASE_READY, PHASE_PARKED, PHASE_WATCHED, PHASE_RELEASING,
                                        PHASE_ORPHAN};
    for (size_t i = 0; i < 5; i++) LIST_EACH_SAFE(node, after, &c->residents.phases[idle_phases[i]])
    residents_remove(&c->residents, container_of(node, ResidentRun, link));
    static const Phase busy_phases[] = {PHASE_EXECUTING, PHASE_COMMITTING};
    for (size_t i = 0; i < 2; i++) LIST_EACH(node, &c->residents.phases[busy_phases[i]])
    container_of(node, ResidentRun, link)->epoch = -1; // what comes of it is dropped
    c->node = 0;
    c->retry_at_ms = 0;
    c->is_firing = c->is_claiming = false;
    c->is_due_unknown = c->has_unclaimed = c->has_tasks = true;
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
            list_append(c->requests.next, &item->request->link); // before the first
            c->request_count++;
        } else if (item->execution != NULL && item->execution->kind == EXECUTE_RUN) {
            drop_run(c, item->execution);
        } else if (item->execution != NULL) {
            list_append(&c->executed, &item->execution->link); // a task's token is still good
        }
    }
    turn_put(c, turn);
}

void outcome_failed(Coordinator *c, Turn *turn, Status status, const Diag *diag) {
    if (status == ERR_FENCED) {
        take_apart_fenced(c, turn);
        return;
    }
    note_down(c, turn->batch.now_ms, diag);
    c->is_outcome_unknown = c->is_outcome_unknown || status == ERR_UNAVAILABLE;
    bool is_divisible = status == ERR_CORRUPT && count_requests(turn) > 1 && !c->is_stopping;
    if (is_divisible) take_out_requests(c, turn);
    else if (status != ERR_UNAVAILABLE) refuse_requests(c, turn, status, diag);
    ASSERT(c->uncertain_count < 2);
    c->uncertain[c->uncertain_count++] = turn;
    bool is_over = is_patience_over(c);
    schedule_retry(c);
    if (status == ERR_UNAVAILABLE) refuse_waiting(c, is_over);
}

// ---- applied after all ----

// Callers get the answers that were found before the commit was tried ([S3] of store/batch.h). Time
// has passed since, though: each run of the turn is read back.
static void apply_late(Coordinator *c, Turn *turn) {
    ASSERT(turn->batch.has_answers);
    tasks_forget_claims(c, turn);
    for (size_t i = 0; i < turn->items.count; i++) {
        TurnItem *item = &turn->items.data[i];
        if (item->request != NULL) {
            item->request->done(item->request);
        } else if (item->execution == NULL) {
            continue;
        } else if (item->execution->kind == EXECUTE_TASK) {
            tasks_apply_result(c, item->execution);
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
        LIST_EACH_SAFE(node, after, &c->residents.phases[parked_phases[i]])
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
    Query query = {.kind = QUERY_NODE, .run = node};
    Diag diag;
    Status status = store_read(c->store, &c->scratch, &query, &diag);
    if (status == OK) *ret_number = query.nodes[0].last_batch;
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
    if (env_now_ms(c->env) < c->retry_at_ms) {
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
        if (is_applied) apply_late(c, turn);
        else if (turn->batch.count > 0) return submit_again(c, turn);
        turn_put(c, turn);
    }
    c->is_outcome_unknown = false;
    c->retry_count = 0;
    c->down_since_ms = 0;
    return NULL;
}

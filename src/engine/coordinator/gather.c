// Gather: what goes into the next batch, and how the room in it is shared.
//
// Four parties want room: results of what was executed, requests of callers, reports of workers,
// and the engine itself (what is due, runs and tasks to claim, runs that leave memory). Each is
// given as much as it wants as long as there is room, and an equal share when there is not; what
// does not fit comes with the next batch. The lease of the node and those of its tasks come before
// all of them: each wants room once in a third of a lease, so they cannot fill batch after batch.
//
//   [gather-1] Nobody is left out for ever, however small a batch is: the odd place goes to another
//        party each time.
//
// Not here: how large a batch may be (commits/pace.c), the engine's own operations
// (work/own_work.c), what becomes of them (apply.c), batches that were refused (failed.c).
#include "engine/coordinator/internal.h"

typedef enum Party { PARTY_RESULTS, PARTY_REQUESTS, PARTY_REPORTS, PARTY_OWN, PARTY_COUNT } Party;

// As much as each wants, or an equal share of the room; what is left of it goes round. [gather-1]
static void share_room(size_t room, const size_t wanted[PARTY_COUNT], size_t first,
                       size_t given[PARTY_COUNT]) {
    for (;;) {
        size_t hungry_count = 0;
        for (int i = 0; i < PARTY_COUNT; i++) hungry_count += given[i] < wanted[i];
        if (hungry_count == 0 || room == 0) return;
        size_t each = room / hungry_count;
        for (size_t i = 0; i < PARTY_COUNT; i++) {
            size_t at = (first + i) % PARTY_COUNT, missing = wanted[at] - given[at];
            size_t more = each == 0 && missing > 0 ? 1 : each;
            if (more > missing) more = missing;
            if (more > room) more = room;
            given[at] += more;
            room -= more;
        }
    }
}

static void add_leases(Coordinator *c, Commit *commit) {
    int64_t now_ms = commit->batch.now_ms;
    if (now_ms >= c->due.renew_at_ms) {
        Op *op = commit_add_own(commit, OP_RENEW);
        op->in.renew.lease_ms = c->setup.config.lease_ms;
        op->in.renew.resident_count = (int64_t)coordinator_resident_count(c);
        due_clock_renewed(&c->due, now_ms);
    }
    if (coordinator_is_executing(c)) tasks_add_heartbeats(&c->tasks, commit);
}

static void add_result(Coordinator *c, Commit *commit, Execution *execution) {
    if (execution->kind == EXECUTE_TASK) {
        tasks_fill_result(execution, commit);
    } else if (execution->foreseen_seq != 0) {
        foresee_fill(c, execution, commit);
    } else {
        Op *op = commit_add_result(commit, OP_COMMIT_TURN, execution);
        turns_fill(c, execution, &op->in.turn);
        commit->made_tasks += op->in.turn.task_count;
    }
}

static void add_results(Coordinator *c, Commit *commit, size_t count) {
    size_t left = count;
    while (left > 0 && c->intake.result_count > 0) {
        Execution *execution = intake_take_result(&c->intake);
        bool is_too_large = intake_places(execution) > left;
        if (is_too_large && left < count) { // it gets a place in the next one
            intake_add_result(&c->intake, execution, INTAKE_FRONT);
            return;
        }
        if (is_too_large) { // it might never fit: what caused it goes alone
            foresee_drop(c, execution, INTAKE_FRONT);
            continue;
        }
        left -= intake_places(execution);
        add_result(c, commit, execution);
    }
}

static void add_requests(Coordinator *c, Commit *commit, size_t count) {
    while (c->intake.request_count > 0 && count > 0) {
        Request *request = intake_take_request(&c->intake);
        OpKind kind = request->op.kind;
        if (idle_is_note(kind) && !idle_take_request(&c->idle, request)) continue;
        commit_add_request(commit, request);
        commit->made_tasks += kind == OP_CREATE_TASK;
        count--;
    }
}

Commit *gather(Coordinator *c) {
    bool is_executing = coordinator_is_executing(c); // otherwise only leases are kept
    Commit *commit = commit_new(c);
    commit->began_ns = env_monotonic_ns(c->setup.env);
    commit->most = pace_most(&c->pace);
    add_leases(c, commit);
    if (is_executing) due_clock_look_at_left(&c->due, commit->batch.now_ms);
    size_t wanted[PARTY_COUNT] = {
        [PARTY_RESULTS] = c->intake.result_count,
        [PARTY_REQUESTS] = c->intake.request_count,
        [PARTY_REPORTS] = c->intake.report_count,
        [PARTY_OWN] = is_executing ? own_work_wanted(&c->own, commit) : 0,
    };
    size_t given[PARTY_COUNT] = {0}, room = commit_room(commit);
    if (room > PARTY_COUNT && is_executing && own_work_may_claim_made(&c->own, commit)) room--;
    share_room(room, wanted, c->party_first++ % PARTY_COUNT, given);
    add_results(c, commit, given[PARTY_RESULTS]);
    add_requests(c, commit, given[PARTY_REQUESTS]);
    for (size_t i = 0; i < given[PARTY_REPORTS]; i++)
        commit_add_request(commit, intake_take_report(&c->intake));
    if (is_executing) own_work_add(&c->own, commit, given[PARTY_OWN]);
    if (commit->batch.count == 0) {
        commits_put(&c->commits, commit);
        return NULL;
    }
    commits_sign(&c->commits, commit);
    // Runs that are woken and parked again count as under way already.
    commit->batch.claim_max = (int64_t)commit->foreseen_count;
    if (is_executing) commit->batch.claim_max += own_work_runs_room(&c->own);
    return commits_hand_out(&c->commits, commit);
}

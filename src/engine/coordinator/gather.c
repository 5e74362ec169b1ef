// Gather: what goes into the next batch, and how the room in it is shared.
//
// Three parties want room: results of what was executed, requests from outside, and the engine
// itself (what is due, runs and tasks to claim, runs that leave memory). Each is given as much as
// it wants as long as there is room, and an equal share when there is not; what does not fit comes
// with the next batch. The lease of the node and those of its tasks come before all of them: each
// wants room once in a third of a lease, so they cannot fill batch after batch.
//
//   [G1] A batch holds at most `batch_most` operations, which is never more than LIMIT_BATCH_OPS:
//        every operation enters through turn_add, which asserts it.
//   [G2] Nobody is left out for ever, however small a batch is: the odd place goes to another party
//        each time, and so does the first place among the engine's own operations.
//   [G3] What claims tasks stands last, so that it sees what the others queued.
//   [G5] A batch is as large as the store commits in about COMMIT_MS, going by those before it: a
//        caller waits for the commit that is under way and for its own. What one operation does to
//        many rows (firing, claiming) is bounded by the same number.
//   [G4] One of the engine's own operations that the store refused for good rests for a while.
//
// Not here: what the operations mean (coordinator/runs.c, _tasks.c, _idle.c), what becomes of them
// (coordinator.c), batches that were refused (coordinator/outcome.c).
#include "base/limits.h"
#include "engine/coordinator/internal.h"

typedef enum Party { PARTY_RESULTS, PARTY_REQUESTS, PARTY_OWN, PARTY_COUNT } Party;

// ---- room ----

size_t turn_room(const Turn *turn) { return turn->most - turn->batch.count; }

Op *turn_add(Turn *turn, OpKind kind, Request *request, Execution *execution) {
    ASSERT(turn_room(turn) > 0); // [G1]
    Op *op;
    if (request != NULL) {
        op = &request->op;
        batch_add_op(&turn->batch, op);
    } else {
        op = batch_add(&turn->batch, kind);
    }
    TurnItem item = {.op = op, .request = request, .execution = execution};
    vec_push(&turn->items, item);
    return op;
}

// As much as each wants, or an equal share of the room; what is left of it goes round. [G2]
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

// ---- leases ----

static void add_leases(Coordinator *c, Turn *turn) {
    int64_t now_ms = turn->batch.now_ms;
    if (now_ms >= c->renew_at_ms) {
        Op *op = turn_add(turn, OP_RENEW, NULL, NULL);
        op->in.renew.lease_ms = c->config.lease_ms;
        op->in.renew.resident_count = (int64_t)coordinator_resident_count(c);
        c->renew_at_ms = now_ms + c->config.lease_ms / 3;
    }
    if (c->is_working && !c->is_stopping) tasks_add_heartbeats(c, turn);
}

// ---- results and requests ----

void executed_add(Coordinator *c, Execution *execution) {
    list_append(&c->executed, &execution->link);
    c->executed_count++;
}

static void add_executed(Coordinator *c, Turn *turn, size_t count) {
    for (; count > 0; count--) {
        Execution *execution = container_of(list_first(&c->executed), Execution, link);
        list_remove(&execution->link);
        c->executed_count--;
        if (execution->kind == EXECUTE_TASK) {
            tasks_fill_result(c, execution, turn);
        } else {
            Op *op = turn_add(turn, OP_COMMIT_TURN, NULL, execution);
            runs_fill_children(c, execution);
            runs_fill_commit(c, execution, &op->in.turn);
            turn->made_tasks += op->in.turn.task_count;
        }
    }
}

static void add_requests(Coordinator *c, Turn *turn, size_t count) {
    while (c->request_count > 0 && count > 0) {
        Request *request = container_of(list_first(&c->requests), Request, link);
        list_remove(&request->link);
        c->request_count--;
        OpKind kind = request->op.kind;
        bool is_memory = kind == OP_NOTE_RELEASED || kind == OP_NOTE_RELOADED;
        if (is_memory && !idle_take_request(c, request)) continue;
        (void)turn_add(turn, kind, request, NULL);
        turn->made_tasks += kind == OP_CREATE_TASK;
        count--;
    }
}

// ---- the engine's own ----

static int64_t own_rest_until(const Coordinator *c, OwnKind kind) {
    return c->own[kind].rest_until_ms;
}

// When it has something to do by itself; INT64_MAX = not before something else happens.
static int64_t own_wanted_at(const Coordinator *c, OwnKind kind) {
    switch (kind) {
    case OWN_FIRE: return !c->is_firing && c->next_due_ms > 0 ? fires_at_ms(c) : INT64_MAX;
    case OWN_CLAIM: return !c->is_claiming && c->has_unclaimed && runs_room(c) > 0 ? 0 : INT64_MAX;
    case OWN_SWEEP: return c->sweep_at_ms;
    case OWN_RELEASE: return idle_next_ms(c);
    case OWN_TASKS: return c->has_tasks && tasks_can_claim(c) ? 0 : INT64_MAX;
    case OWN_COUNT: break;
    }
    UNREACHABLE();
}

int64_t own_next_ms(const Coordinator *c) {
    int64_t next_ms = INT64_MAX;
    for (int kind = 0; kind < OWN_COUNT; kind++) {
        int64_t at_ms = own_wanted_at(c, (OwnKind)kind);
        int64_t rest_until_ms = own_rest_until(c, (OwnKind)kind); // [G4]
        if (at_ms < rest_until_ms) at_ms = rest_until_ms;
        if (at_ms < next_ms) next_ms = at_ms;
    }
    return next_ms;
}

static bool own_is_wanted(const Coordinator *c, const Turn *turn, OwnKind kind) {
    int64_t now_ms = turn->batch.now_ms;
    if (now_ms < own_rest_until(c, kind)) return false;
    if (kind == OWN_TASKS && c->executed_count > turn->most) return false; // [T2]
    return own_wanted_at(c, kind) <= now_ms;
}

static size_t own_wanted_count(Coordinator *c, const Turn *turn) {
    if (!c->is_working || c->is_stopping) return 0; // then only leases are kept
    size_t count = 0;
    for (int kind = 0; kind < OWN_COUNT; kind++)
        if (own_is_wanted(c, turn, (OwnKind)kind))
            count += kind == OWN_RELEASE ? LIMIT_RELEASES_PER_BATCH : 1;
    return count;
}

static int64_t at_most(const Turn *turn, int64_t count) { // [G5]
    return count < (int64_t)turn->most ? count : (int64_t)turn->most;
}

static void add_own_of(Coordinator *c, Turn *turn, OwnKind kind, size_t most) {
    int64_t now_ms = turn->batch.now_ms;
    switch (kind) {
    case OWN_FIRE:
        turn_add(turn, OP_FIRE_DUE, NULL, NULL)->in.fire_due.max = at_most(turn, LIMIT_FIRE_ROWS);
        c->is_firing = true;
        if (c->next_due_ms > DUE_AT_ONCE) c->firing_due_ms = c->next_due_ms;
        break;
    case OWN_CLAIM:
        turn_add(turn, OP_CLAIM, NULL, NULL)->in.claim.max = at_most(turn, runs_room(c));
        c->is_claiming = true;
        c->has_unclaimed = false; // what is heard of from now on wants another look
        break;
    case OWN_SWEEP:
        turn_add(turn, OP_SWEEP, NULL, NULL)->in.sweep.max = at_most(turn, LIMIT_FIRE_ROWS);
        c->sweep_at_ms = now_ms + c->config.sweep_ms;
        c->has_unclaimed = true; // also look for runs of nodes that died
        break;
    case OWN_RELEASE: idle_add_ops(c, turn, most); break;
    case OWN_TASKS: tasks_add_claim(c, turn); break;
    case OWN_COUNT: UNREACHABLE();
    }
}

// Tasks that this very batch makes are claimed with it.
static bool may_claim_made(const Coordinator *c, const Turn *turn) {
    bool is_resting = turn->batch.now_ms < own_rest_until(c, OWN_TASKS);
    return c->is_working && !c->is_stopping && !is_resting && tasks_can_claim(c) &&
           c->executed_count <= turn->most;
}

// [G2] Those who found no place come first the next time.
static void add_own(Coordinator *c, Turn *turn, size_t count) {
    int first = c->own_first;
    bool wants_tasks = turn->made_tasks > 0 && may_claim_made(c, turn);
    for (int i = 0; i < OWN_COUNT && count > 0; i++) {
        OwnKind kind = (OwnKind)((first + i) % OWN_COUNT);
        if (!own_is_wanted(c, turn, kind)) continue;
        size_t before = turn->batch.count;
        if (kind == OWN_TASKS) wants_tasks = true; // [G3]
        else add_own_of(c, turn, kind, count);
        count -= kind == OWN_TASKS ? 1 : turn->batch.count - before;
        c->own_first = (first + i + 1) % OWN_COUNT;
    }
    if (wants_tasks && turn_room(turn) > 0) add_own_of(c, turn, OWN_TASKS, 1);
}

// ---- when the store refuses them ----

static bool own_kind_of(OpKind kind, OwnKind *ret_kind) {
    switch (kind) {
    case OP_FIRE_DUE: *ret_kind = OWN_FIRE; return true;
    case OP_CLAIM: *ret_kind = OWN_CLAIM; return true;
    case OP_SWEEP: *ret_kind = OWN_SWEEP; return true;
    case OP_NOTE_RELEASED: *ret_kind = OWN_RELEASE; return true;
    case OP_CLAIM_TASKS: *ret_kind = OWN_TASKS; return true;
    default: return false;
    }
}

void own_rest(Coordinator *c, OpKind op_kind) {
    OwnKind kind;
    if (own_kind_of(op_kind, &kind))
        c->own[kind].rest_until_ms = env_now_ms(c->env) + REFUSED_REST_MS;
}

void own_refused(Coordinator *c, const Op *op) {
    bool is_answer = op->out.status == ERR_CONFLICT || op->out.status == ERR_NOT_FOUND ||
                     op->out.status == ERR_FENCED || op->out.status == ERR_TERMINAL;
    if (is_answer) return; // the run or the task is not what it was
    LOG(c->logger, LOG_ERROR, "the store refuses %s: %s", op_kind_name(op->kind),
        op->out.diag.message);
    own_rest(c, op->kind);
}

void own_undo(Coordinator *c, const Op *op, int64_t now_ms) {
    switch (op->kind) {
    case OP_RENEW: c->renew_at_ms = now_ms; break;
    case OP_FIRE_DUE: c->is_firing = false; break;
    case OP_CLAIM:
        c->is_claiming = false;
        c->has_unclaimed = true;
        break;
    case OP_SWEEP: c->sweep_at_ms = now_ms; break;
    case OP_CLAIM_TASKS:
        c->tasks_asked -= op->in.claim_tasks.max;
        c->has_tasks = true;
        break;
    default: idle_undo(c, op); // heartbeats come again in a third of their lease
    }
}

// ---- how large ----

enum { COMMIT_MS = 100, PACED_MIN = 32 };

void pace_good(Coordinator *c, const Turn *turn) {
    uint64_t took_ms = (env_monotonic_ns(c->env) - turn->began_ns) / 1000000u;
    size_t most = 2 * c->batch_most;
    if (took_ms > COMMIT_MS && turn->most > PACED_MIN) {
        most = turn->most * COMMIT_MS / took_ms;
        if (most < turn->most / 4) most = turn->most / 4; // it may have been the machine
        if (most < PACED_MIN) most = PACED_MIN;
    } else if (2 * took_ms > COMMIT_MS) {
        most = c->batch_most;
    }
    c->batch_most = most < LIMIT_BATCH_OPS ? most : LIMIT_BATCH_OPS;
}

// ---- the whole ----

Turn *turn_gather(Coordinator *c) {
    Turn *turn = turn_get(c);
    turn->batch.node = c->node;
    turn->began_ns = env_monotonic_ns(c->env);
    turn->most = c->batch_most < LIMIT_BATCH_OPS ? c->batch_most : LIMIT_BATCH_OPS;
    add_leases(c, turn);
    if (c->is_working && !c->is_stopping) look_at_left(c, turn->batch.now_ms);
    size_t wanted[PARTY_COUNT] = {
        [PARTY_RESULTS] = c->executed_count,
        [PARTY_REQUESTS] = c->request_count,
        [PARTY_OWN] = own_wanted_count(c, turn),
    };
    size_t given[PARTY_COUNT] = {0}, room = turn_room(turn);
    if (room > PARTY_COUNT && may_claim_made(c, turn)) room--;
    share_room(room, wanted, c->party_first++ % PARTY_COUNT, given);
    add_executed(c, turn, given[PARTY_RESULTS]);
    add_requests(c, turn, given[PARTY_REQUESTS]);
    add_own(c, turn, given[PARTY_OWN]);
    if (turn->batch.count == 0) {
        turn_put(c, turn);
        return NULL;
    }
    turn->batch.number = ++c->batch_number;
    turn->batch.claim_max = c->is_working && !c->is_stopping ? runs_room(c) : 0;
    c->turns_out++;
    return turn;
}

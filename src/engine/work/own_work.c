// OwnWork: what is due, runs and tasks to claim, what is left over, runs that leave memory.
//
// Each kind says when it wants a place; here is who gets one. A claim of tasks rides in the batch
// that makes them if it can.
//
// Invariants [own-work-2]-[own-work-4] are in own_work.h.
//
// Not here: leases, which come before all of this (coordinator/gather.c); what the answers mean
// (coordinator/apply.c).
#include "engine/work/own_work.h"
#include "base/assert.h"
#include "base/limits.h"

void own_work_init(OwnWork *self, const CoordinatorSetup *setup, const OwnWorkParts *parts) {
    *self = (OwnWork){.setup = setup, .parts = *parts};
}

int64_t own_work_runs_room(const OwnWork *self) {
    return residents_room(self->parts.residents, self->setup->config.max_active_runs);
}

// ---- when ----

// NEVER_MS = not before something else happens.
static int64_t wanted_at(const OwnWork *self, OwnKind kind) {
    const DueClock *due = self->parts.due;
    const Tasks *tasks = self->parts.tasks;
    switch (kind) {
    case OWN_FIRE: return due->is_firing ? NEVER_MS : due_clock_fires_at_ms(due);
    case OWN_CLAIM: return own_work_runs_room(self) > 0 ? due_clock_claims_at_ms(due) : NEVER_MS;
    case OWN_SWEEP: return due->sweep_at_ms;
    case OWN_RELEASE: return idle_next_ms(self->parts.idle);
    case OWN_TASKS: return tasks->window.has_tasks && tasks_can_claim(tasks) ? 0 : NEVER_MS;
    case OWN_COUNT: break;
    }
    UNREACHABLE();
}

int64_t own_work_next_ms(const OwnWork *self) {
    int64_t next_ms = NEVER_MS;
    for (int kind = 0; kind < OWN_COUNT; kind++) {
        int64_t at_ms = wanted_at(self, (OwnKind)kind);
        if (at_ms < self->rest_until_ms[kind]) at_ms = self->rest_until_ms[kind]; // [own-work-4]
        next_ms = earlier_ms(next_ms, at_ms);
    }
    return next_ms;
}

static bool is_resting(const OwnWork *self, const Commit *commit, OwnKind kind) { // [own-work-4]
    return commit->batch.now_ms < self->rest_until_ms[kind];
}

static bool is_wanted(const OwnWork *self, const Commit *commit, OwnKind kind) {
    if (is_resting(self, commit, kind)) return false;
    if (kind == OWN_TASKS && !tasks_may_ask(self->parts.tasks, commit)) return false;
    return wanted_at(self, kind) <= commit->batch.now_ms;
}

size_t own_work_wanted(const OwnWork *self, const Commit *commit) {
    size_t count = 0;
    for (int kind = 0; kind < OWN_COUNT; kind++)
        if (is_wanted(self, commit, (OwnKind)kind))
            count += kind == OWN_RELEASE ? LIMIT_RELEASES_PER_BATCH : 1;
    return count;
}

bool own_work_may_claim_made(const OwnWork *self, const Commit *commit) {
    const Tasks *tasks = self->parts.tasks;
    return !is_resting(self, commit, OWN_TASKS) && tasks_can_claim(tasks) &&
           tasks_may_ask(tasks, commit);
}

// ---- adding ----

static int64_t at_most(const Commit *commit, int64_t count) { // [pace-1] of pace.h
    return count < (int64_t)commit->most ? count : (int64_t)commit->most;
}

static void add(const OwnWork *self, Commit *commit, OwnKind kind, size_t most) {
    DueClock *due = self->parts.due;
    switch (kind) {
    case OWN_FIRE:
        commit_add_own(commit, OP_FIRE_DUE)->in.fire_due.max = at_most(commit, LIMIT_FIRE_ROWS);
        due_clock_fire(due);
        break;
    case OWN_CLAIM:
        commit_add_own(commit, OP_CLAIM)->in.claim.max = at_most(commit, own_work_runs_room(self));
        due_clock_claim(due);
        break;
    case OWN_SWEEP:
        commit_add_own(commit, OP_SWEEP)->in.sweep.max = at_most(commit, LIMIT_FIRE_ROWS);
        due_clock_swept(due, commit->batch.now_ms);
        break;
    case OWN_RELEASE: idle_add_ops(self->parts.idle, commit, most); break;
    case OWN_TASKS: tasks_add_claim(self->parts.tasks, commit); break;
    case OWN_COUNT: UNREACHABLE();
    }
}

void own_work_add(OwnWork *self, Commit *commit, size_t count) {
    OwnKind first = self->first;
    bool wants_tasks = commit->made_tasks > 0 && own_work_may_claim_made(self, commit);
    for (int i = 0; i < OWN_COUNT && count > 0; i++) {
        OwnKind kind = (OwnKind)(((int)first + i) % OWN_COUNT);
        if (!is_wanted(self, commit, kind)) continue;
        size_t before = commit->batch.count;
        if (kind == OWN_TASKS) wants_tasks = true; // [own-work-3]
        else add(self, commit, kind, count);
        count -= kind == OWN_TASKS ? 1 : commit->batch.count - before;
        self->first = (OwnKind)(((int)first + i + 1) % OWN_COUNT); // [own-work-2]
    }
    if (wants_tasks && commit_room(commit) > 0) add(self, commit, OWN_TASKS, 1);
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

void own_work_rest(OwnWork *self, OpKind op_kind) {
    OwnKind kind;
    if (own_kind_of(op_kind, &kind))
        self->rest_until_ms[kind] = env_now_ms(self->setup->env) + REFUSED_REST_MS; // [own-work-4]
}

void own_work_refused(OwnWork *self, const Op *op) {
    Status status = op->out.status;
    bool is_answer = status == ERR_CONFLICT || status == ERR_NOT_FOUND || status == ERR_FENCED ||
                     status == ERR_TERMINAL;
    if (is_answer) return; // the run or the task is not what it was
    LOG(self->setup->logger, LOG_ERROR, "the store refuses %s: %s", op_kind_name(op->kind),
        op->out.diag.message);
    own_work_rest(self, op->kind);
}

void own_work_undo(OwnWork *self, const Op *op, int64_t now_ms) {
    DueClock *due = self->parts.due;
    switch (op->kind) {
    case OP_RENEW: due->renew_at_ms = now_ms; break;
    case OP_FIRE_DUE: due_clock_fire_failed(due); break;
    case OP_CLAIM: due_clock_claimed(due, true); break;
    case OP_SWEEP: due->sweep_at_ms = now_ms; break;
    case OP_CLAIM_TASKS:
        task_window_undo(&self->parts.tasks->window, op->in.claim_tasks.max);
        break;
    default: idle_undo(self->parts.idle, op); // heartbeats come again in a third of their lease
    }
}

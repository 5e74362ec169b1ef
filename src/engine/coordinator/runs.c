// Runs that a commit made ready, grew or ended: what is in memory follows.
//
// A run that becomes ready is taken up from memory when it is there, from the operation that
// created it when it is new, and from the store otherwise; that is read just before it executes
// (residents/loading.c).
//
// Not here: the answer to a run's own turn (turns.c), executing (dispatch.c).
#include "base/assert.h"
#include "engine/coordinator/internal.h"

// ---- runs that became ready ----

// The operation of this very batch that created the run, so that it need not be read back; NULL =
// it was made otherwise. Operations answer in their order, so the next one is looked for where the
// last one was found.
static const Op *creation_of(const Commit *commit, int64_t key, size_t *place) {
    for (size_t i = 0; i < commit->items.count; i++) {
        size_t at = (*place + i) % commit->items.count;
        const Op *op = commit->items.data[at].op;
        if (op->kind != OP_CREATE_RUN || op->out.status != OK || !op->out.create_run.is_new ||
            op->out.create_run.key != key || op->out.create_run.row == NULL)
            continue;
        *place = at;
        return op;
    }
    return NULL;
}

static ResidentRun *take_new(Coordinator *c, const Commit *commit, const ReadyRun *ready,
                             size_t *place) {
    const Op *creation =
        ready->claim.epoch == FIRST_EPOCH ? creation_of(commit, ready->run, place) : NULL;
    RunRow row = {
        .key = ready->run, .id = ready->id, .workflow = ready->workflow, .kind = ready->kind};
    Str input = STR_NULL;
    if (creation != NULL) {
        row.tags = creation->out.create_run.row->tags; // the definition may have added some
        input = creation->in.create_run.spec.input;
    }
    ResidentRun *run = residents_add(&c->residents, &row, input, STR_NULL);
    run->claim = ready->claim;
    run->is_stale = creation == NULL;
    if (creation != NULL) run->last_seq = ready->last_seq;
    run->is_absent = true;
    if (ready->claim.epoch > FIRST_EPOCH)
        world_tell(c->setup.world, ENGINE_RUN_RESUMED, run->id, run->workflow, STR_NULL);
    return run;
}

static void take_known(Coordinator *c, ResidentRun *run, const ReadyRun *ready) {
    run->claim = ready->claim;
    run->is_fenced = false;
    if (!phase_is_parked(run->phase)) {
        run->is_stale = true; // a forced change: what is in memory may be wrong
        return;
    }
    // Another node may have executed it since: then the log holds more than we know ([resident-5]).
    // What was delivered quietly when it parked is known already.
    size_t known = 0;
    while (known < ready->resolved_count && ready->resolved[known].seq <= run->last_seq) known++;
    bool is_complete = ready->last_seq - run->last_seq == (int64_t)(ready->resolved_count - known);
    residents_move(&c->residents, run, PHASE_READY);
    for (size_t i = known; i < ready->resolved_count && is_complete; i++)
        resident_add_entry(&c->residents, run, &ready->resolved[i]);
    run->is_stale = run->is_stale || !is_complete;
    world_tell(c->setup.world, ENGINE_RUN_RESUMED, run->id, run->workflow, STR_NULL);
}

void runs_apply_ready(Coordinator *c, const Commit *commit) {
    size_t place = 0;
    uint64_t now_ns = commit->batch.out.ready_count > 0 ? env_monotonic_ns(c->setup.env) : 0;
    for (size_t i = 0; i < commit->batch.out.ready_count; i++) {
        const ReadyRun *ready = &commit->batch.out.ready[i];
        ResidentRun *run = residents_get(&c->residents, ready->run);
        world_tell(c->setup.world, ENGINE_LOG_GREW, ready->id, ready->workflow, STR_NULL);
        if (run != NULL) take_known(c, run, ready);
        else run = take_new(c, commit, ready, &place);
        if (ready->resolved_count > 0) run->woken_ns = now_ns;
    }
}

void runs_apply_grown(Coordinator *c, const Commit *commit) {
    for (size_t i = 0; i < commit->batch.out.grown_count; i++)
        world_tell(c->setup.world, ENGINE_LOG_GREW, commit->batch.out.grown[i].id, STR_NULL,
                   STR_NULL);
}

// Once per run, wherever it was when it ended: executing, in memory or released.
static void notify_end(Coordinator *c, const EndedRun *ended) {
    EngineEventKind kind = 0;
    switch ((RunState)ended->state) {
    case RUN_COMPLETED: kind = ENGINE_RUN_COMPLETED; break;
    case RUN_FAILED: kind = ENGINE_RUN_FAILED; break;
    case RUN_CANCELLED: kind = ENGINE_RUN_CANCELLED; break;
    default: UNREACHABLE();
    }
    world_tell(c->setup.world, kind, ended->id, ended->workflow, ended->error);
}

void runs_apply_ended(Coordinator *c, const Commit *commit) {
    for (size_t i = 0; i < commit->batch.out.ended_count; i++) {
        const EndedRun *ended = &commit->batch.out.ended[i];
        ResidentRun *run = residents_get(&c->residents, ended->run);
        // One that is executing meets its end when it commits.
        if (run != NULL && run->phase != PHASE_EXECUTING && run->phase != PHASE_COMMITTING)
            residents_remove(&c->residents, run);
        notify_end(c, ended);
        world_tell(c->setup.world, ENGINE_LOG_GREW, ended->id, STR_NULL, STR_NULL);
        measure_ended(c->setup.world, ended, commit->batch.now_ms);
        awaits_ended(&c->awaits, ended->id, ended->state);
    }
}

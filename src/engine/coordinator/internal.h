// What the coordinator's own files share: its parts, and the verbs that lead from one to another.
//
// Each part is a struct with its own header in another room of engine/, and knows nothing of the
// coordinator. Whoever needs several of them is here.
#pragma once
#include "engine/commits/commit.h"
#include "engine/commits/intake.h"
#include "engine/commits/outcomes.h"
#include "engine/commits/pace.h"
#include "engine/coordinator/coordinator.h"
#include "engine/definitions/modules.h"
#include "engine/definitions/workflows.h"
#include "engine/residents/idle.h"
#include "engine/residents/loading.h"
#include "engine/residents/notices.h"
#include "engine/residents/resident.h"
#include "engine/runners/flow.h"
#include "engine/work/due_clock.h"
#include "engine/work/handed.h"
#include "engine/work/own_work.h"
#include "engine/work/tasks.h"
#include "engine/world/awaits.h"

struct Coordinator {
    CoordinatorSetup setup;
    bool is_working; // recover was called
    bool is_stopping;
    bool is_traced;     // children are told their trace in any case
    size_t party_first; // who gets the odd place in the next batch (gather.c)
    int64_t suspect;    // key of the run that makes its last tries alone; 0 = none did yet
    int64_t commit_count, operation_count, turn_count, step_count;

    Workflows workflows;
    Modules modules;
    FlowRunner flow_runner;
    Commits commits;
    Executions executions;
    Intake intake;
    Pace pace;
    Residents residents;
    Loading loading;
    Notices notices;
    Idle idle;
    Tasks tasks;
    Handed handed;
    DueClock due;
    OwnWork own;
    Awaits awaits;
    Outcomes outcomes;
};

// It executes: recover was called, and it is not stopping.
static inline bool coordinator_is_executing(const Coordinator *c) {
    return c->is_working && !c->is_stopping;
}

// ---- coordinator.c ----
Commit *commit_new(Coordinator *c);
MUST_CHECK Status coordinator_join(Coordinator *c, Diag *diag);

// ---- gather.c ----
// The next batch, or NULL when there is nothing to commit.
Commit *gather(Coordinator *c);

// ---- apply.c ----
// [coordinator-1] The batch is durable: everybody learns what became of their part of it.
void apply_commit(Coordinator *c, Commit *commit);
void apply_damage(Coordinator *c, const Commit *commit); // what the store found damaged is told

// ---- turns.c ----
// Fills the operation that commits a turn from an execution's output.
void turns_fill(const Coordinator *c, Execution *execution, TurnCommit *turn);
// The answer to it.
void turns_apply(Coordinator *c, Execution *execution, const Op *op);
// The store will not take this output (too large, a bad name …): the run fails with that reason, or
// is paused if what the store has of it is damaged.
void turns_refused(Coordinator *c, Execution *execution, Status status, const Diag *diag);

// ---- runs.c ----
void runs_apply_ready(Coordinator *c, const Commit *commit);
void runs_apply_ended(Coordinator *c, const Commit *commit);
void runs_apply_grown(Coordinator *c, const Commit *commit); // their readers are told

// ---- dispatch.c ----
// Hands READY runs to the world.
void dispatch_runs(Coordinator *c);
// The world is done with a turn.
void dispatch_came_back(Coordinator *c, Execution *execution);

// An execution of the run, which has left its phase or is about to.
Execution *dispatch_begin(Coordinator *c, ResidentRun *run);

// ---- foresee.c ----
// The task came back with a result: if that is all its run waits for, and the run is in memory, the
// run goes on at once and the result is committed with that turn. False = it is to be committed.
bool foresee_turn(Coordinator *c, Execution *task);
// The same for a worker's report of a result.
bool foresee_report(Coordinator *c, Request *report);
// The turn came back. False = it does not count, and was dropped; the result is committed alone.
bool foresee_came_back(Coordinator *c, Execution *turn, const ResidentRun *run);
// Drops a turn. What it was foreseen from, if that has no place in a batch, waits for one.
void foresee_drop(Coordinator *c, Execution *turn, IntakeEnd end);
// Drops the turns that wait for a place together with a report, and answers the workers.
void foresee_refuse_reports(Coordinator *c, Status status, const Diag *diag);
// What was foreseen of the run did not come to pass.
void foresee_forget(Coordinator *c, ResidentRun *run);
// Adds the two operations of such a turn.
void foresee_fill(const Coordinator *c, Execution *turn, Commit *commit);

// ---- failed.c ----
// A commit did not answer OK: sorts out who is told and what is tried again.
void failed_commit(Coordinator *c, Commit *commit, Status status, const Diag *diag);
// Others think this node is dead and have taken its runs: it forgets them, and joins anew.
void failed_fenced_off(Coordinator *c);
// The next failed commit to be submitted again, or NULL (not yet, or they turned out applied).
Commit *failed_retry(Coordinator *c);
int64_t failed_next_ms(const Coordinator *c); // when that, or a refusal, is due
// Nothing else is prepared: failed commits are unsettled, or we are not a node.
bool failed_is_pending(const Coordinator *c);

// Coordinator: turns inputs into store batches and their answers into effects. One owner of all
// engine state, one thread at a time, no clock, socket, file or thread of its own.
//
// The driver (api/driver in production, sim/ in the simulator) feeds it and does the commits:
//
//     coordinator_submit / coordinator_executed / coordinator_await …      inputs
//     while ((commit = coordinator_prepare(c)))                            a batch to commit
//         coordinator_finish(c, commit, store_commit(store, &commit->batch), &diag);
//     sleep until coordinator_next_wake_ms, or the next input
//
// Its parts own their state and do not know it; each is a struct with a header of its own. The
// files of this folder lead from one to the other:
//
//     what comes in            what the engine does by itself          what failed
//     Intake                   OwnWork: DueClock, Tasks, Idle          Outcomes
//        |                        |                                       |      ^
//        +------- gather.c -------+                                   failed.c   |
//                    |   Pace: how large      Commits: in whose name      |      |
//                    v                                                    v      |
//        +----->  the store commits  <------------- again ----------------+      |
//        |           |                                                           |
//        |           +---- did not answer OK ------------------------------------+
//        |           |
//        |           v  answered OK
//        |        apply.c  -----> callers (Request), waiters (Awaits), operators (Notices), World
//        |           |
//        |        turns.c, runs.c -----> Residents: READY, EXECUTING, COMMITTING, PARKED ...
//        |                                  |              (Idle: when the parked ones leave)
//        |        dispatch.c <--------------+
//        |           |   Loading: rows into memory     Workflows, Modules: what is executed
//        |           v
//        +------- Executions: the world performs them, the results are taken in
//
//   [coordinator-1] No reply, wake-up or task leaves before the commit that records it answered OK.
//   [coordinator-2] A batch whose outcome is unknown is looked up by its number and submitted again
//        only when it was not applied; so every operation happens once.
//   [coordinator-3] A run has at most one execution under way, and none while its output is in a
//        batch.
//   [coordinator-4] What is in memory is bounded: active runs, parked runs, operations in a batch.
//   [coordinator-5] Timers fire at multiples of the timer resolution: those due within one span
//        share a commit, none is early, and none is late by a whole span for this reason. What is
//        due already when a run parks, or when the node begins, is not a timer that is waited for.
#pragma once
#include "engine/commits/commit.h"
#include "engine/world/awaits.h"
#include "engine/world/execution.h"
#include "engine/world/request.h"
#include "engine/world/setup.h"

typedef struct Coordinator Coordinator;

// ---- counters and reports ----

typedef struct CoordinatorStats {
    int64_t commits, operations, store_errors;
    int64_t turns, steps, reloads, releases;
} CoordinatorStats;

typedef struct RecoveryReport {
    int64_t resumed_running, timers_due, starts_due, taken_over, suspended;
} RecoveryReport;

// ---- the coordinator ----

MUST_CHECK Status coordinator_new(const CoordinatorSetup *setup, Coordinator **ret_coordinator,
                                  Diag *diag);
void coordinator_free(Coordinator *coordinator);

// From now on runs tell the runs they start which trace they belong to, also when nobody told them.
void coordinator_trace_children(Coordinator *coordinator);

// ERR_CONFLICT when the name is taken. The runner must outlive the coordinator.
MUST_CHECK Status coordinator_add_runner(Coordinator *coordinator, Str workflow, Runner *runner);
// Somebody asks for turns of that version of code, or nobody does any more: then runs of it are
// handed back.
void coordinator_serve(Coordinator *coordinator, int64_t definition, bool is_served);
MUST_CHECK Status coordinator_add_task(Coordinator *coordinator, Str name,
                                       NativeCallFunction function, void *user);
// Also when the name is taken.
void coordinator_replace_task(Coordinator *coordinator, Str name, NativeCallFunction function,
                              void *user);
// How long idle runs of that workflow stay in memory, whatever their script says; <= 0 = until room
// is needed. Counts for runs that park from now on.
void coordinator_set_idle_timeout(Coordinator *coordinator, Str workflow, int64_t timeout_ms);

// Begins to execute: claims what was running, fires what is due.
MUST_CHECK Status coordinator_recover(Coordinator *coordinator, RecoveryReport *ret_report,
                                      Diag *diag);

// Another node says that there is work to claim, or that runs have ended. What is due by itself is
// seen to by those who know of it as long as they live, and need not be asked for.
void coordinator_hear(Coordinator *coordinator);

void coordinator_submit(Coordinator *coordinator, Request *request);
void coordinator_await(Coordinator *coordinator, Await *await);
// The same; it is answered as if its deadline had come. Only one that is not answered yet.
void coordinator_call_off(Coordinator *coordinator, Await *await);
void coordinator_executed(Coordinator *coordinator, Execution *execution);

// The next batch, or NULL when there is nothing to commit now. COMMITS_OUT_MAX are out at a time at
// most; they are finished in the order in which they were prepared.
Commit *coordinator_prepare(Coordinator *coordinator);
void coordinator_finish(Coordinator *coordinator, Commit *commit, Status status, const Diag *diag);
// When prepare will have something to do by itself; INT64_MAX = never.
int64_t coordinator_next_wake_ms(Coordinator *coordinator);

// Nothing executes, and there is nothing to do before a later moment: *ret_next_ms, when a timer
// or the like is due; 0 = never. Leases and sweeps do not count.
bool coordinator_is_idle(Coordinator *coordinator, int64_t *ret_next_ms);
// The same beside so many executions that the world has and does nothing with.
bool coordinator_is_idle_beside(Coordinator *coordinator, size_t out_count, int64_t *ret_next_ms);

// From now on nothing new is executed and requests are refused (ERR_CLOSED).
void coordinator_stop(Coordinator *coordinator);
// After coordinator_stop: true when everything that was executing has been committed.
bool coordinator_is_quiet(Coordinator *coordinator);
// After coordinator_stop: true when nothing executes any more and what is left cannot be committed,
// because the store is away.
bool coordinator_is_stranded(const Coordinator *coordinator);
// The store has not answered for a while: of whatever is asked for now nothing would happen soon.
bool coordinator_is_store_away(const Coordinator *coordinator);
// It has no room for what was written last, and is asked again until it has.
bool coordinator_is_store_full(const Coordinator *coordinator);
// Answers those whose patience is over; also while a batch is being committed.
void coordinator_expire_awaits(Coordinator *coordinator);
int64_t coordinator_next_await_ms(const Coordinator *coordinator); // INT64_MAX = nobody waits
// Somebody else had an answer from it: what failed is tried again at once.
void coordinator_store_heard(Coordinator *coordinator);
// Hands back all claims; the last commit of a node. The coordinator does it itself.
MUST_CHECK Status coordinator_leave(Coordinator *coordinator, Diag *diag);

CoordinatorStats coordinator_stats(const Coordinator *coordinator);
size_t coordinator_resident_count(const Coordinator *coordinator);
size_t coordinator_resident_size(const Coordinator *coordinator); // bytes, about
size_t coordinator_active_count(const Coordinator *coordinator);
int64_t coordinator_node(const Coordinator *coordinator);

// OwnWork: the operations that the engine adds to batches by itself, beside keeping leases.
//
//   [own-work-2] Nobody is left out for ever, however small a batch is: those that found no place
//        come first the next time.
//   [own-work-3] What claims tasks stands last, so that it sees what the others queued.
//   [own-work-4] An operation that the store refused for good rests for a while.
#pragma once
#include "engine/residents/idle.h"
#include "engine/work/due_clock.h"
#include "engine/work/tasks.h"

typedef enum OwnKind { OWN_FIRE, OWN_CLAIM, OWN_SWEEP, OWN_RELEASE, OWN_TASKS, OWN_COUNT } OwnKind;

// What it works with; all of it outlives it.
typedef struct OwnWorkParts {
    DueClock *due;
    Idle *idle;
    Tasks *tasks;
    const Residents *residents;
} OwnWorkParts;

typedef struct OwnWork {
    const CoordinatorSetup *setup;
    OwnWorkParts parts;
    OwnKind first;                    // in the next batch [own-work-2]
    int64_t rest_until_ms[OWN_COUNT]; // [own-work-4]
} OwnWork;

void own_work_init(OwnWork *self, const CoordinatorSetup *setup, const OwnWorkParts *parts);
int64_t own_work_next_ms(const OwnWork *self); // when there is something to do
// How many operations it would add to this commit.
size_t own_work_wanted(const OwnWork *self, const Commit *commit);
// Whether tasks that this very commit makes can be claimed with it: that wants a place too.
bool own_work_may_claim_made(const OwnWork *self, const Commit *commit);
void own_work_add(OwnWork *self, Commit *commit, size_t count);
// For how many more runs there is room among the active ones.
int64_t own_work_runs_room(const OwnWork *self);

// The store refused it, as a part of a batch or alone.
void own_work_refused(OwnWork *self, const Op *op);
void own_work_rest(OwnWork *self, OpKind kind);
// Its commit was refused: nothing of it happened.
void own_work_undo(OwnWork *self, const Op *op, int64_t now_ms);

// Idle: when parked runs leave memory, and how one comes back for a reader.
//
//   [residents-idle-1] A run is dropped only when the batch that notes it has been committed; and
//        the store notes it only for a run that is still parked. So an event during the release
//        finds the run either in memory or in the store, never in between, and is delivered once.
//   [residents-idle-2] Nothing is scanned: deadlines are in a heap, the least recently used run is
//        the first of its list. A run with a reader leaves that list, and is looked at again after
//        a while.
//   [residents-idle-3] Runs with work under way (a task, a backoff) leave only to make room, and
//        without a note: nobody was told that they wait, so nobody is told that they left.
//   [residents-idle-4] A time-out counts from when the run became idle, which may be later than
//        when it parked: a task nobody waits for may still have been under way. The store knows,
//        and says so when it refuses the release; then the run is looked at again when its time has
//        come.
//   [residents-idle-5] Room is made by the run that has been parked longest. If that has work under
//        way, every second time by the one that was parked last: where more runs take turns than
//        there is room for, the oldest is the one that goes on next.
#pragma once
#include "engine/commits/commit.h"
#include "engine/definitions/modules.h"
#include "engine/residents/notices.h"
#include "engine/residents/resident.h"

typedef struct Idle {
    const CoordinatorSetup *setup;
    Residents *residents;
    Modules *modules;
    Notices *notices;
    StrMap timeouts;     // workflow -> IdleTimeout, of those that have one set
    Arena scratch;       // of one request
    bool is_newest_next; // [residents-idle-5]
    int64_t release_count, reload_count;
} Idle;

// What it works with; all of it outlives it.
typedef struct IdleParts {
    Residents *residents;
    Modules *modules;
    Notices *notices;
} IdleParts;

void idle_init(Idle *self, const CoordinatorSetup *setup, const IdleParts *parts);
void idle_done(Idle *self);
// How long idle runs of that workflow stay in memory, whatever their script says; <= 0 = until room
// is needed. Counts for runs that park from now on.
void idle_set_timeout(Idle *self, Str workflow, int64_t timeout_ms);
// The run's turn has parked it: it becomes PARKED, until its time or the room is up.
void idle_parked(Idle *self, ResidentRun *run, const TurnOutput *output);
// The run was brought back from the store, and that is committed: tells and counts it.
void idle_tell_reloaded(Idle *self, const ResidentRun *run);

// Adds notes for the runs that are to leave memory now, at most `count`.
void idle_add_ops(Idle *self, Commit *commit, size_t count);
int64_t idle_next_ms(const Idle *self); // when there will be such

// OP_NOTE_RELEASED or OP_NOTE_RELOADED, from outside or our own.
bool idle_is_note(OpKind kind);
// From outside, before it enters a batch. False: it has been answered.
bool idle_take_request(Idle *self, Request *request);
void idle_apply(Idle *self, const Op *op);
// Its commit failed, and its owner is told so.
void idle_forget_request(Idle *self, const Op *op);
// Its commit was refused: nothing of it happened.
void idle_undo(Idle *self, const Op *op);

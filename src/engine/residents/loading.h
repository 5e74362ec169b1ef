// Loading: what the store has of runs, brought into memory.
//
//   [loading-1] Runs are read together: one read for as many as LOAD_RUNS_MAX of them, so that a
//        wave of runs that wake does not cost a round trip each.
//   [loading-2] A run that is loaded is as the store has it, and ours: RUNNING, owned by this node.
//   [loading-3] How many are read together follows how large they are, so that a wave of large ones
//        does not fill the memory before the first of them executes.
//   [loading-4] What is damaged is not loaded: the run is held for a person, and nobody else is
//        stopped by it.
#pragma once
#include "engine/commits/commit.h"
#include "engine/residents/resident.h"
#include "store/read_types.h"

enum {
    LOAD_RUNS_FIRST = 8,
    LOAD_RUNS_MAX = LOAD_KEYS_MAX,
    LOAD_SIZE = 4 << 20
}; // the last in bytes

typedef enum LoadAnswer {
    LOAD_DONE,   // it is in memory, and up to date
    LOAD_GONE,   // it is not ours any more, and not in memory
    LOAD_LATER,  // it was not read: the store is away, or those before it were large
    LOAD_BROKEN, // what the store has of it is damaged
} LoadAnswer;

typedef struct LoadedRun {
    int64_t key;
    LoadAnswer answer;
    Diag diag; // LOAD_BROKEN
} LoadedRun;

typedef struct Loading {
    const CoordinatorSetup *setup;
    const Commits *commits; // say which node we are
    Residents *residents;
    bool has_unadopted;  // runs may be ours in the store that are not in memory
    int64_t adopt_at_ms; // when to look for one that was dropped; NEVER_MS = none was
    size_t most;         // runs in the next read [loading-3]
    Arena scratch;       // of one read
    LoadedRun runs[LOAD_RUNS_MAX];
} Loading;

void loading_init(Loading *self, const CoordinatorSetup *setup, const Commits *commits,
                  Residents *residents);
void loading_done(Loading *self);
// The first READY runs, at most `max`: those that are behind the store are brought up to it. The
// answers, in their order, hold until the next call.
const LoadedRun *loading_next(Loading *self, size_t max, size_t *ret_count);
// A run that stays ours in the store was dropped from memory: it is looked for again then.
void loading_adopt_later(Loading *self, int64_t at_ms);
int64_t loading_adopts_at_ms(const Loading *self); // when to adopt; 0 = at once
// Takes up runs that the store says are ours but that are not in memory; has_unadopted while it
// cannot be asked.
void loading_adopt(Loading *self);
// Whether the run is still ours under that epoch: it may have ended meanwhile (time-out,
// cancellation), or have been taken over. In doubt it is.
bool loading_is_owned(Loading *self, int64_t run, int64_t epoch);

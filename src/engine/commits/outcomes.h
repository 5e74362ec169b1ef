// Outcomes: commits that failed, when they are tried again, and whether the store is there.
//
// A commit that the store was away from may have happened. Every batch of a node carries a number,
// and the store keeps the number of the last one it applied: so the question "did it happen?" has
// an answer (coordinator/failed.c asks it).
//
//   [outcomes-1] Failed commits are kept oldest first, and no more than are out at a time.
//   [outcomes-2] The store is away from the beginning of the batch that failed first until
//        everything that failed is settled.
#pragma once
#include "engine/commits/commit.h"

typedef enum StoreHealth { STORE_IS_UP, STORE_IS_DOWN } StoreHealth;

typedef struct Outcomes {
    const CoordinatorSetup *setup;
    Commit *failed[COMMITS_OUT_MAX]; // [outcomes-1]
    size_t failed_count;
    bool is_unknown; // of some it is not known whether they happened
    int64_t retry_at_ms;
    int64_t retry_count;
    StoreHealth health; // as the world was told
    bool is_away;       // [outcomes-2]
    int64_t away_since_ms;
    Status status; // what the store said last, and in words
    Diag reason;
    int64_t error_count;
} Outcomes;

void outcomes_init(Outcomes *self, const CoordinatorSetup *setup);
// The store did not do what it was asked for; `since_ms`: when that began.
void outcomes_note_failure(Outcomes *self, int64_t since_ms, Status status, const Diag *diag);
// It answered, and what it has is damaged: the world is told once.
void outcomes_note_damage(Outcomes *self, const Diag *diag);
void outcomes_note_good(Outcomes *self); // a commit answered OK
void outcomes_add(Outcomes *self, Commit *commit, bool is_unknown);
Commit *outcomes_take_first(Outcomes *self); // there is one
void outcomes_schedule_retry(Outcomes *self);
void outcomes_retry_now(Outcomes *self);
void outcomes_settled(Outcomes *self); // everything that had failed is

int64_t outcomes_away_ms(const Outcomes *self);   // for how long it has been away
bool outcomes_is_long_away(const Outcomes *self); // and it was asked again meanwhile
bool outcomes_is_full(const Outcomes *self);      // it has no room for what was written last
// Those whose outcome is unknown have waited long enough.
bool outcomes_is_patience_over(const Outcomes *self);
// When to try again; earlier, at the moment from which callers are refused, if somebody waits.
int64_t outcomes_next_ms(const Outcomes *self, bool is_waited_for);

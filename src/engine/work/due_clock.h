// DueClock: what the engine has to do by itself, and when: firing what is due, renewing its lease,
// sweeping, and looking for runs to claim.
//
//   [due-clock-1] Timers fire at multiples of the timer resolution ([coordinator-5] of
//        coordinator.h): never early.
//   [due-clock-2] One firing and one claim of runs are in a batch at a time.
//   [due-clock-3] What is heard of while a claim is under way wants another look, so it is noted.
#pragma once
#include "engine/world/setup.h"

typedef enum DueState {
    DUE_NEVER,   // nothing is due by itself
    DUE_AT,      // the first of it at `due_at_ms`
    DUE_AT_ONCE, // a firing was cut short: there is more, its moment is past
} DueState;

typedef struct DueClock {
    const CoordinatorSetup *setup;
    DueState due;
    int64_t due_at_ms; // DUE_AT
    bool is_stale;     // what is due may have changed: ask the store again
    bool is_firing;    // [due-clock-2]
    bool has_fired_at; // it is known when the first of what is fired was due:
    int64_t fired_at_ms;
    int64_t renew_at_ms;
    int64_t sweep_at_ms;
    bool has_unclaimed; // there may be ready runs that no claim under way has looked for
    bool is_claiming;   // [due-clock-2]
    // Runs were left to the nodes that have them in memory, some until `left_until_ms`; at
    // `claim_again_ms` it is seen whether those were taken. NEVER_MS: none are left.
    int64_t claim_again_ms, left_until_ms;
    Arena scratch; // of one read
} DueClock;

void due_clock_init(DueClock *self, const CoordinatorSetup *setup);
void due_clock_done(DueClock *self);

// ---- what is due ----

int64_t due_clock_fires_at_ms(
    const DueClock *self); // [due-clock-1]; NEVER_MS = nothing is due by itself
bool due_clock_wants_refresh(const DueClock *self);
// Asks the store for what is due next, if that is not known. False: it could not be asked.
bool due_clock_refresh(DueClock *self);
void due_clock_note(DueClock *self, int64_t due_at_ms); // somebody has written it; 0 = nothing
void due_clock_fire(DueClock *self);                    // a firing is in a batch
void due_clock_fired(DueClock *self, bool has_more);
void due_clock_fire_failed(DueClock *self);
// How late what was fired last is; false: nothing is known, as when the node comes up.
bool due_clock_late_ms(const DueClock *self, int64_t now_ms, int64_t *ret_late_ms);

// ---- the lease of the node, and sweeps ----

void due_clock_renewed(DueClock *self, int64_t now_ms);
// Not later than `at_ms`: then the lease of somebody else would end. 0 = of nobody.
void due_clock_renew_by(DueClock *self, int64_t at_ms);
void due_clock_swept(DueClock *self, int64_t now_ms);

// ---- runs to claim ----

int64_t due_clock_claims_at_ms(const DueClock *self); // 0 = at once
void due_clock_claim(DueClock *self);                 // one is in a batch
void due_clock_claimed(DueClock *self, bool has_more);
void due_clock_left(DueClock *self, int64_t until_ms); // some were left to others; 0 = none
void due_clock_look_at_left(DueClock *self, int64_t now_ms);

// Whatever was under way is forgotten, and everything is looked at again.
void due_clock_restart(DueClock *self);

// DueClock: moments, and what is under way.
//
// What is due is in the store; here is the earliest moment, as far as this node knows. Whoever
// writes something that is due tells it; after a firing the store is asked. So nothing is polled.
//
// Invariants [due-clock-1]-[due-clock-3] are in due_clock.h.
//
// Not here: the operations (own_work.c), heartbeats of tasks (tasks.c), idle runs (idle.c).
#include "engine/work/due_clock.h"
#include "base/assert.h"
#include "store/reads.h"

void due_clock_init(DueClock *self, const CoordinatorSetup *setup) {
    *self = (DueClock){
        .setup = setup,
        .is_stale = true,
        .sweep_at_ms = env_now_ms(setup->env) + setup->config.sweep_ms,
        .claim_again_ms = NEVER_MS,
    };
    arena_init(&self->scratch);
}

void due_clock_done(DueClock *self) { arena_done(&self->scratch); }

// ---- what is due ----

int64_t due_clock_fires_at_ms(const DueClock *self) {
    if (self->due == DUE_NEVER) return NEVER_MS;
    if (self->due == DUE_AT_ONCE) return 0;
    int64_t span_ms = self->setup->config.timer_resolution_ms, due_ms = self->due_at_ms;
    bool is_exact = span_ms <= 1 || due_ms % span_ms == 0;
    int64_t at_ms = is_exact ? due_ms : due_ms - due_ms % span_ms + span_ms;
    ASSERT(at_ms >= due_ms); // [due-clock-1]
    return at_ms;
}

bool due_clock_wants_refresh(const DueClock *self) { return self->is_stale && !self->is_firing; }

bool due_clock_refresh(DueClock *self) {
    if (!due_clock_wants_refresh(self)) return true;
    int64_t due_at_ms;
    Diag diag;
    Status status = store_next_due(self->setup->store, &self->scratch, &due_at_ms, &diag);
    if (status == OK) {
        self->due = due_at_ms > 0 ? DUE_AT : DUE_NEVER;
        self->due_at_ms = due_at_ms;
        self->is_stale = false;
    }
    arena_reset(&self->scratch);
    return status == OK;
}

void due_clock_note(DueClock *self, int64_t due_at_ms) {
    if (due_at_ms <= 0 || self->due == DUE_AT_ONCE) return;
    if (self->due == DUE_AT && self->due_at_ms <= due_at_ms) return;
    self->due = DUE_AT;
    self->due_at_ms = due_at_ms;
}

void due_clock_fire(DueClock *self) {
    ASSERT(!self->is_firing); // [due-clock-2]
    self->is_firing = true;
    if (self->due != DUE_AT) return;
    self->has_fired_at = true;
    self->fired_at_ms = self->due_at_ms;
}

void due_clock_fired(DueClock *self, bool has_more) {
    self->is_firing = false;
    if (has_more) self->due = DUE_AT_ONCE;
    else self->is_stale = true;
}

void due_clock_fire_failed(DueClock *self) { self->is_firing = false; }

bool due_clock_late_ms(const DueClock *self, int64_t now_ms, int64_t *ret_late_ms) {
    if (!self->has_fired_at) return false;
    *ret_late_ms = now_ms > self->fired_at_ms ? now_ms - self->fired_at_ms : 0;
    return true;
}

// ---- the lease of the node, and sweeps ----

void due_clock_renewed(DueClock *self, int64_t now_ms) {
    self->renew_at_ms = now_ms + self->setup->config.lease_ms / 3;
}

void due_clock_renew_by(DueClock *self, int64_t at_ms) {
    if (at_ms > 0) self->renew_at_ms = earlier_ms(self->renew_at_ms, at_ms);
}

void due_clock_swept(DueClock *self, int64_t now_ms) {
    self->sweep_at_ms = now_ms + self->setup->config.sweep_ms;
    self->has_unclaimed = true; // also look for runs of nodes that died
}

// ---- runs to claim ----

int64_t due_clock_claims_at_ms(const DueClock *self) {
    return self->has_unclaimed && !self->is_claiming ? 0 : NEVER_MS;
}

void due_clock_claim(DueClock *self) {
    ASSERT(!self->is_claiming); // [due-clock-2]
    self->is_claiming = true;
    self->has_unclaimed = false; // [due-clock-3]
}

void due_clock_claimed(DueClock *self, bool has_more) {
    self->is_claiming = false;
    if (has_more) self->has_unclaimed = true;
}

void due_clock_left(DueClock *self, int64_t until_ms) {
    if (until_ms <= self->left_until_ms) return;
    self->left_until_ms = until_ms;
    if (self->claim_again_ms == NEVER_MS) self->claim_again_ms = until_ms;
}

void due_clock_look_at_left(DueClock *self, int64_t now_ms) {
    if (now_ms < self->claim_again_ms) return;
    self->has_unclaimed = true;
    bool has_later = self->left_until_ms > now_ms;
    self->claim_again_ms = has_later ? self->left_until_ms : NEVER_MS;
    if (!has_later) self->left_until_ms = 0;
}

void due_clock_restart(DueClock *self) {
    self->is_firing = self->is_claiming = false;
    self->is_stale = self->has_unclaimed = true;
}

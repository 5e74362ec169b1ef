// Outcomes: the state of what failed.
//
// Tries come further and further apart, with a little chance in it so that nodes do not ask in
// step. A store that is full is down as well: it is read and not written.
//
// Invariants [outcomes-1], [outcomes-2] are in outcomes.h.
//
// Not here: who is told, and what becomes of the parts of a failed commit (coordinator/failed.c).
#include "engine/commits/outcomes.h"
#include "base/assert.h"
#include "engine/runners/retry.h"

enum { AWAY_MS = 3000 };

void outcomes_init(Outcomes *self, const CoordinatorSetup *setup) {
    *self = (Outcomes){.setup = setup, .health = STORE_IS_UP};
}

void outcomes_note_damage(Outcomes *self, const Diag *diag) {
    if (self->health == STORE_IS_DOWN) return;
    self->health = STORE_IS_DOWN;
    LOG(self->setup->logger, LOG_ERROR, "the store does not answer: %s", diag->message);
    world_tell(self->setup->world, ENGINE_STORE_DOWN, STR_NULL, STR_NULL, str_from(diag->message));
}

void outcomes_note_failure(Outcomes *self, int64_t since_ms, Status status, const Diag *diag) {
    self->error_count++;
    self->status = status;
    self->reason = *diag;
    if (!self->is_away) self->away_since_ms = since_ms; // [outcomes-2]
    self->is_away = true;
    outcomes_note_damage(self, diag);
}

void outcomes_note_good(Outcomes *self) {
    if (self->health == STORE_IS_DOWN) {
        self->health = STORE_IS_UP;
        world_tell(self->setup->world, ENGINE_STORE_UP, STR_NULL, STR_NULL, STR_NULL);
    }
    self->retry_count = 0;
    if (self->failed_count == 0) self->is_away = false;
}

void outcomes_add(Outcomes *self, Commit *commit, bool is_unknown) {
    ASSERT(self->failed_count < COMMITS_OUT_MAX); // [outcomes-1]
    self->is_unknown = self->is_unknown || is_unknown;
    self->failed[self->failed_count++] = commit;
}

Commit *outcomes_take_first(Outcomes *self) {
    ASSERT(self->failed_count > 0);
    Commit *first = self->failed[0];
    self->failed_count--;
    for (size_t i = 0; i < self->failed_count; i++) self->failed[i] = self->failed[i + 1];
    return first;
}

void outcomes_schedule_retry(Outcomes *self) {
    Env *env = self->setup->env;
    RetryPolicy policy = {
        .delay_ms = self->setup->config.store_retry_ms,
        .max_delay_ms = self->setup->config.store_retry_max_ms,
        .factor_pct = 200,
        .jitter_pct = 20,
    };
    self->retry_count++;
    self->retry_at_ms =
        env_now_ms(env) + retry_delay_ms(&policy, self->retry_count, env_random_u64(env));
}

void outcomes_retry_now(Outcomes *self) { self->retry_at_ms = 0; }

void outcomes_settled(Outcomes *self) {
    ASSERT(self->failed_count == 0);
    self->is_unknown = false;
    self->retry_count = 0;
    self->is_away = false;
}

int64_t outcomes_away_ms(const Outcomes *self) {
    ASSERT(self->is_away);
    return env_now_ms(self->setup->env) - self->away_since_ms;
}

bool outcomes_is_long_away(const Outcomes *self) {
    return self->is_away && self->retry_count > 1 && outcomes_away_ms(self) >= AWAY_MS;
}

bool outcomes_is_full(const Outcomes *self) {
    return self->health == STORE_IS_DOWN && self->status == ERR_FULL;
}

bool outcomes_is_patience_over(const Outcomes *self) {
    return self->retry_count >= self->setup->config.store_retry_attempts;
}

int64_t outcomes_next_ms(const Outcomes *self, bool is_waited_for) {
    bool is_urgent = self->is_away && is_waited_for && outcomes_away_ms(self) < AWAY_MS;
    if (!is_urgent) return self->retry_at_ms;
    return earlier_ms(self->away_since_ms + AWAY_MS, self->retry_at_ms);
}

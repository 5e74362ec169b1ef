// Pace: follows what the store can do.
//
// The size falls with one slow commit and rises with each quick one, so that it finds its level
// from either side within a few batches. A slow commit may have been the machine's fault: so it
// falls to a quarter at most.
//
// Invariants [P1], [P2] are in pace.h.
#include "engine/commits/pace.h"
#include "base/assert.h"
#include "base/limits.h"

enum { COMMIT_MS = 100, PACED_MIN = 32 };

void pace_init(Pace *self) { self->most = LIMIT_BATCH_OPS; }

static size_t at_least(size_t value, size_t least) { return value > least ? value : least; }

void pace_good(Pace *self, size_t most, uint64_t took_ns) {
    uint64_t took_ms = took_ns / 1000000u;
    size_t next = 2 * self->most;
    if (took_ms > COMMIT_MS && most > PACED_MIN)
        next = at_least(at_least(most * COMMIT_MS / took_ms, most / 4), PACED_MIN);
    else if (2 * took_ms > COMMIT_MS) next = self->most;
    self->most = next < LIMIT_BATCH_OPS ? next : LIMIT_BATCH_OPS;
    ASSERT(self->most > 0 && self->most <= LIMIT_BATCH_OPS); // [P2]
}

void pace_refused(Pace *self, size_t count) { self->most = count > 1 ? count / 2 : 1; }

size_t pace_most(const Pace *self) {
    return self->most < LIMIT_BATCH_OPS ? self->most : LIMIT_BATCH_OPS;
}

bool pace_is_full(const Pace *self) { return pace_most(self) == LIMIT_BATCH_OPS; }

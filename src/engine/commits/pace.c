// Pace: follows what the store can do.
//
// The size falls with one slow commit and rises with each quick one that was at least half full, so
// that it finds its level from either side within a few batches. A slow commit may have been the
// machine's fault: so it falls to a quarter at most.
//
// Invariants [pace-1] to [pace-3] are in pace.h.
#include "engine/commits/pace.h"
#include "base/assert.h"
#include "base/limits.h"

enum { FIRST_MOST = 256, PACED_MIN = 32, FLUSH_RISE_MS = 10 };

static size_t at_least(size_t value, size_t least) { return value > least ? value : least; }
static size_t at_most(size_t value, size_t most) { return value < most ? value : most; }

void pace_init(Pace *self) { *self = (Pace){.most = FIRST_MOST, .cut_most = LIMIT_BATCH_OPS}; }

// What a flush takes. A store that is slow is slow again and again: it rises by steps that double,
// so that one stall of the machine does not pass for a slow store. Nor does a flush take longer
// than a commit that contains one.
static uint64_t flush_estimate(uint64_t flush_ms, uint64_t took_ms, bool is_small) {
    if (!is_small) return took_ms < flush_ms ? took_ms : flush_ms;
    uint64_t average = (3 * flush_ms + took_ms) / 4, most = 2 * flush_ms + FLUSH_RISE_MS;
    return average < most ? average : most;
}

void pace_failed(Pace *self, uint64_t ended_ns) { self->free_ns = ended_ns; }

void pace_good(Pace *self, size_t count, uint64_t began_ns, uint64_t ended_ns) {
    ASSERT(began_ns <= ended_ns && self->free_ns <= ended_ns);
    uint64_t taken_up_ns = began_ns > self->free_ns ? began_ns : self->free_ns; // [pace-1]
    uint64_t took_ms = (ended_ns - taken_up_ns) / 1000000u;
    self->free_ns = ended_ns;
    bool is_small = count <= PACED_MIN;
    self->cut_most = at_most(2 * self->cut_most, LIMIT_BATCH_OPS); // [pace-2]
    self->flush_ms = flush_estimate(self->flush_ms, took_ms, is_small);
    uint64_t wanted_ms = at_least(2 * self->flush_ms, PACE_COMMIT_MS);
    bool is_used = 2 * count > self->most; // [pace-3]
    if (took_ms > wanted_ms && !is_small) {
        size_t fitting = at_least(count * wanted_ms / took_ms, self->most / 4);
        self->most = at_least(at_most(fitting, self->most), PACED_MIN);
    } else if (2 * took_ms <= wanted_ms && is_used) {
        self->most = at_most(2 * self->most, LIMIT_BATCH_OPS);
    }
    ASSERT(self->most > 0 && self->cut_most > 0);
}

void pace_refused(Pace *self, size_t count) { self->cut_most = count > 1 ? count / 2 : 1; }

size_t pace_most(const Pace *self) {
    return at_most(at_most(self->most, self->cut_most), LIMIT_BATCH_OPS);
}

bool pace_is_cut(const Pace *self) { return self->cut_most < LIMIT_BATCH_OPS; }

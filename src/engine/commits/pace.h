// Pace: how large the next batch may be.
//
//   [pace-1] A batch is as large as the store commits in about COMMIT_MS, going by those before it:
//        a caller waits for the commit that is under way and for its own. What one operation does
//        to many rows (firing, claiming) is bounded by the same number. Where even a small commit
//        takes long (a slow disk, a far server) a large one may take twice as long as that.
//   [pace-2] After a refusal batches are half as large, down to one operation; each good commit
//        doubles the size again. It is never more than LIMIT_BATCH_OPS.
//   [pace-3] It grows with batches that made use of it, and not while there is little to do: the
//        first batch of a burst must not be larger than anything that was tried.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Pace {
    size_t most;       // [pace-1], before the limit
    size_t cut_most;   // [pace-2], likewise
    uint64_t flush_ms; // what commits of few operations take
} Pace;

void pace_init(Pace *self);
// A commit of `count` operations answered OK, so long after it was gathered.
void pace_good(Pace *self, size_t count, uint64_t took_ns);
// One of `count` operations was refused.
void pace_refused(Pace *self, size_t count);
size_t pace_most(const Pace *self); // operations in the next batch
bool pace_is_cut(const Pace *self); // a refusal has not been made up for

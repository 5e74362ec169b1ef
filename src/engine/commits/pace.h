// Pace: how large the next batch may be.
//
//   [P1] A batch is as large as the store commits in about COMMIT_MS, going by those before it: a
//        caller waits for the commit that is under way and for its own. What one operation does to
//        many rows (firing, claiming) is bounded by the same number.
//   [P2] After a refusal batches are half as large, down to one operation; each good commit doubles
//        the size again. It is never more than LIMIT_BATCH_OPS.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Pace {
    size_t most; // as pace_most, before the limit was changed
} Pace;

void pace_init(Pace *self);
// A commit that was allowed `most` operations answered OK, so long after it was gathered.
void pace_good(Pace *self, size_t most, uint64_t took_ns);
// One of `count` operations was refused.
void pace_refused(Pace *self, size_t count);
size_t pace_most(const Pace *self); // operations in the next batch
bool pace_is_full(const Pace *self);

// Pace: how large the next batch may be.
//
//   [pace-1] A batch is as large as the store commits in about PACE_COMMIT_MS, going by those
//        before it: a caller waits for the commit that is under way and for its own. What one
//        operation does to many rows (firing, claiming) is bounded by the same number. Where even
//        a small commit takes long (a slow disk, a far server) a large one may take twice as long
//        as that. Two commits are out at a time, and the store takes one after the other: the time
//        that a small one spends behind a large one is not its own. If it counted, one slow commit
//        would pass for a slow store, batches would grow, and all further ones would be slow.
//   [pace-2] After a refusal batches are half as large, down to one operation; each good commit
//        doubles the size again. It is never more than LIMIT_BATCH_OPS.
//   [pace-3] It grows with batches that made use of it, and not while there is little to do: the
//        first batch of a burst must not be larger than anything that was tried.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Two commits may be ahead of a caller's own, and at times the same operations cost a database ten
// times as much (PostgreSQL writes whole pages after each of its checkpoints). A caller is to be
// answered within a second even then.
enum { PACE_COMMIT_MS = 40 };

typedef struct Pace {
    size_t most;       // [pace-1], before the limit
    size_t cut_most;   // [pace-2], likewise
    uint64_t flush_ms; // what commits of few operations take
    uint64_t free_ns;  // when the store was done with the last commit (monotonic)
} Pace;

void pace_init(Pace *self);
// A commit of `count` operations, gathered at `began_ns`, answered OK at `ended_ns`.
void pace_good(Pace *self, size_t count, uint64_t began_ns, uint64_t ended_ns);
// One failed: whatever follows did not wait for it any longer than this.
void pace_failed(Pace *self, uint64_t ended_ns);
// One of `count` operations was refused.
void pace_refused(Pace *self, size_t count);
size_t pace_most(const Pace *self); // operations in the next batch
bool pace_is_cut(const Pace *self); // a refusal has not been made up for

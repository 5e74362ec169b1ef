// Places: where runs of scripts stand, and how many stand there.
//
// A place is a number that flow/snapshot/place.h makes of the functions in flight: the same for all
// runs of a version that stand alike. The store only compares and counts.
//   [model-place-1] RunRow.place is that of RunRow.snapshot: where the run is parked, and after a
//        failure where its last turn began. A run without a snapshot is at the start.
//   [model-place-2] A PlaceRow counts the runs of its version that are parked (or were when they
//        were paused) or failed at its place. It is there exactly while it counts something.
#pragma once
#include <stdint.h>

enum {
    PLACE_UNKNOWN = 0, // parked or kept before places were known
    PLACE_START = 1    // it has not come to an await
};

typedef struct PlaceRow {
    int64_t definition; // the version
    int64_t place;
    int64_t waiting_count;
    int64_t failed_count;
    int64_t example; // key of one of these runs; 0 = none is known: the one that was has gone on
} PlaceRow;

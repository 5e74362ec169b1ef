// Snapshots kept of flow runs, so that they can be set back to a step; and what State.set has set,
// for readers outside. rows.h includes this file.
//
// A turn of a script begins with a snapshot (what it parked with) and what was delivered to it;
// from the two it can be executed again. So a row describes the beginning of one turn:
//   [snapshot-1] The turn was given the LOG_WAIT entries with log_seq < seq <= start_seq, and wrote
//        the log entries with start_seq < seq <= end_seq; `position` is the first step it began.
//   [snapshot-2] Rows of a run are numbered without gaps; the newest ones are kept.
//
// A place is a number that flow/snapshot/place.h makes of the functions in flight: the same for all
// runs of a version that stand alike. The store only compares and counts.
//   [snapshot-3] RunRow.place is that of RunRow.snapshot: where the run is parked, and after a
//        failure where its last turn began. A run without a snapshot is at the start.
//   [snapshot-4] A PlaceRow counts the runs of its version that are parked (or were when they
//        were paused) or failed at its place. It is there exactly while it counts something.
#pragma once
#include "base/text/str.h"
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

typedef struct SnapshotRow {
    int64_t run;
    int64_t number; // 1, 2, 3 … within the incarnation
    int64_t log_seq;
    int64_t start_seq;
    int64_t end_seq;
    int64_t position;
    int64_t place; // where the snapshot stands
    Str snapshot;
    Str state; // its StateRows at that moment, encoded (runs/states.c); null = none
} SnapshotRow;

int64_t snapshot_digest(Str snapshot); // tells snapshots apart; 0 = there is none

typedef struct StateRow { // one value of State.set
    int64_t run;
    Str name;
    int64_t digest; // of the value: what an index can hold
    Str value;      // JSON
} StateRow;

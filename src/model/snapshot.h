// Snapshots kept of flow runs, so that they can be set back to a step; and what State.set has set,
// for readers outside. rows.h includes this file.
//
// A turn of a script begins with a snapshot (what it parked with) and what was delivered to it;
// from the two it can be executed again. So a row describes the beginning of one turn:
//   [snapshot-1] The turn was given the LOG_WAIT entries with log_seq < seq <= start_seq, and wrote
//        the log entries with start_seq < seq <= end_seq; `position` is the first step it began.
//   [snapshot-2] Rows of a run are numbered without gaps; the newest ones are kept.
#pragma once
#include "base/text/str.h"
#include "model/place.h"
#include <stdint.h>

typedef struct SnapshotRow {
    int64_t run;
    int64_t number; // 1, 2, 3 … within the incarnation
    int64_t log_seq;
    int64_t start_seq;
    int64_t end_seq;
    int64_t position;
    int64_t place; // where the snapshot stands (place.h)
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

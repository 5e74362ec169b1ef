// Standing: a run as it is, or as one of its kept turns began.
//
//   [standing-1] Only rows of the store are read, as of the last commit; a snapshot goes into a
//        machine of its own. The run itself is neither woken nor loaded.
//   [standing-2] A turn from before a move goes with the version that executed it.
#pragma once
#include "engine/definitions/modules.h"
#include "engine/runners/flow_machine.h"
#include "store/reads.h"

typedef struct StandingWish {
    Store *store;
    Arena *arena; // of the rows
    Str run_id;
    int64_t turn; // a kept one; 0 = as it is now
} StandingWish;

typedef struct Standing {
    RunRow run; // with the snapshot of the turn
    int64_t turn;
    // Of a turn, as in SnapshotRow; 0 for `now`.
    int64_t log_seq, start_seq, end_seq;
} Standing;

// Codes: RUN_NOT_FOUND, TURN_NOT_KEPT.
MUST_CHECK Status standing_read(const StandingWish *wish, Standing *ret_standing, Diag *diag);
// The same for a turn whose row has been read.
Standing standing_of_turn(const RunRow *run, const SnapshotRow *row);

typedef struct StandingMore { // what a row does not tell; texts live in the arena of the wish
    Str input;                // null = none
    Str parent_id;            // null = none
    int64_t at_ms;            // when it came to stand there; 0 for `now`
    const LogRow *deliveries; // what was delivered to the turn, or has come and is not taken yet
    size_t delivery_count;
} StandingMore;
// Reads a run of `now` again, so that it and its deliveries are from one read. Codes:
// SNAPSHOT_CORRUPT.
MUST_CHECK Status standing_more(const StandingWish *wish, Standing *standing,
                                StandingMore *ret_more, Diag *diag);
// The version that goes with it, valid until `modules` is asked again. [standing-2]
MUST_CHECK Status standing_module(const Standing *standing, Modules *modules, Arena *arena,
                                  FlowModule **ret_module, Diag *diag);
// The parked machine; the caller frees it. Codes: SNAPSHOT_CORRUPT, SNAPSHOT_VERSION, and those of
// modules_get.
MUST_CHECK Status standing_open(const Standing *standing, Modules *modules, Arena *arena,
                                FlowMachine **ret_machine, Diag *diag);

// Moving a run to another version of its script: from the store's rows to the operation.
#pragma once
#include "store/batch.h"
#include "store/store.h"

typedef struct MoveWish {
    Store *store;
    Arena *arena; // for the texts of the answer
    Str run_id;
    Str version; // of the run's workflow, or how it begins; null: the current one
} MoveWish;

typedef struct MoveAnswer {
    Str from, to;  // versions
    bool is_there; // it has that version: there is nothing to do
} MoveAnswer;

// Finds out whether a parked run can go on in that version, and fills an OP_MOVE that lets it.
// Codes: RUN_NOT_FOUND, RUN_NOT_PARKED, WORKFLOW_NOT_FOUND, MOVE_REFUSED.
MUST_CHECK Status move_fill(const MoveWish *wish, Op *op, MoveAnswer *ret_answer, Diag *diag);

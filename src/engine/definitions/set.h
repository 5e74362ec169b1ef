// Setting variables of a parked script: from the store's row to the operation.
#pragma once
#include "json/value.h"
#include "store/batch.h"
#include "store/store.h"

typedef struct SetWish {
    Store *store;
    Arena *arena; // for the texts of the answer
    Str run_id;
    const JsonValue *values; // an array of {"path":text,"value":any}
    Str by;                  // who asks, for the log; null: not known
} SetWish;

// Fills an OP_MOVE that replaces the snapshot of the run. *ret_changes is a JSON array: path, old
// and new of each value. Codes: BAD_FIELD, UNKNOWN_FIELD, RUN_NOT_FOUND, RUN_NOT_PARKED, BAD_PATH,
// VARIABLE_NOT_FOUND, SET_REFUSED, SNAPSHOT_CORRUPT, SNAPSHOT_TOO_LARGE.
MUST_CHECK Status set_fill(const SetWish *wish, Op *op, Str *ret_changes, Diag *diag);

// Moving a run to another version of its script: from the store's rows to the operation.
#pragma once
#include "flow/flow.h"
#include "store/batch.h"
#include "store/read_types.h"
#include "store/store.h"

typedef struct MoveWish {
    Store *store;
    Arena *arena; // for the texts of the answer
    Str run_id;
    Str version; // of the run's workflow, as move_find_version takes it
} MoveWish;

typedef struct MoveAnswer {
    Str from, to;  // versions
    bool is_there; // it has that version: there is nothing to do
} MoveAnswer;

// A version of a workflow that is a script: a whole one, at least its first six characters, or the
// current one for "current" and null. Codes: WORKFLOW_NOT_FOUND, BAD_FIELD, RUN_NOT_PARKED.
MUST_CHECK Status move_find_version(Store *store, Arena *arena, DefinitionRef which,
                                    DefinitionRow *ret_row, Diag *diag);
typedef struct Moved {
    Str snapshot; // in the arena
    int64_t place;
} Moved;
// The engine's snapshot `bytes` of the first version as one of the second. Codes: MOVE_REFUSED,
// and those of snapshots.
MUST_CHECK Status move_snapshot(Str bytes, FlowModule *const modules[2], Arena *arena,
                                Moved *ret_moved, Diag *diag);
// Finds out whether a parked run can go on in that version, and fills an OP_MOVE that lets it.
// Codes: RUN_NOT_FOUND, RUN_NOT_PARKED, WORKFLOW_NOT_FOUND, MOVE_REFUSED.
MUST_CHECK Status move_fill(const MoveWish *wish, Op *op, MoveAnswer *ret_answer, Diag *diag);
// The same for an OP_FORK, complete but for its version: the new run is to go on in another one
// than the old run had there. What takes up a failed run already is left to be found. Further
// codes: RUN_NOT_FAILED, STEP_NOT_FOUND, SNAPSHOT_NOT_KEPT.
MUST_CHECK Status move_fill_fork(const MoveWish *wish, Op *op, MoveAnswer *ret_answer, Diag *diag);
// Whether an OP_REWIND of the run to the step would be done, as of now; nothing is filled. The
// version of the wish does not matter. Codes: RUN_NOT_FOUND, RUN_TERMINAL, STEP_NOT_FOUND,
// SNAPSHOT_NOT_KEPT.
MUST_CHECK Status move_check_rewind(const MoveWish *wish, const StepChoice *step, Diag *diag);

// ---- shared by both ----
// The state of a run of the first version as a snapshot of the second.
MUST_CHECK Status move_between(const DefinitionRow rows[2], Str bytes, Arena *arena,
                               Moved *ret_moved, Diag *diag);
Str move_note(Arena *arena, const DefinitionRow rows[2]);

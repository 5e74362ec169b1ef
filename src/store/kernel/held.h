// Held rows: a run's row that the next operation of the batch is going to write as well.
//
// A completion makes a run ready, and a turn that was foreseen (TurnCommit.foreseen_seq) parks it
// again in the next operation: what stands between the two is never seen by anybody, so the row is
// written once, with the changes of both.
//   [held-1] At most one row is held: from a completion to the end of the turn that stands right
//        behind it in the batch.
//   [held-2] Who loads the run is given what is held with its row (held_complete). Who reads rows
//        of runs finds it written: the row verbs see to that.
//   [held-3] Only what waking changes is held: numbers, and the wait set and the embedded task,
//        which are none then. A number that is again as it is stored is not written.
#pragma once
#include "store/kernel/internal.h"

// The present operation completes a task of the run: if its turn stands behind it, what is stored
// of the run is held.
void held_begin(Kernel *kernel, int64_t run);
// Takes what is held of the run: answers the columns that are to be written with those changes.
uint64_t held_take(Kernel *kernel, const RunRow *row, uint64_t changes);
// Puts what is held of the run into its row as it was found.
void held_complete(const Kernel *kernel, RunRow *row);
// Whether those changes of the row are held.
bool held_put(Kernel *kernel, const RunRow *before, const RunRow *row, uint64_t changes);
// When the row that is held is due as it is stored; 0 = never, or it is not this run's.
int64_t held_due_at_ms(const Kernel *kernel, int64_t run);
// An operation is over. Writes what is held, unless the next one is the turn it is held for.
MUST_CHECK Status held_end_op(Kernel *kernel);

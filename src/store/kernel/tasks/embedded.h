// Embedded tasks: a task in the row of its run, in place of a row of its own.
//
// A script that does one task after the other parks with each of them, so its row is written
// anyway. A task that this very node is going to do at once lives and ends in that row: that saves
// two statements and four entries of indexes. Whatever is to happen to it but to be completed
// happens to a row: then the task is given one first.
//   [embedded-1] Embedded is only the one task that a turn of a script queues and waits for, if it
//        is leased as it is made ([claims-5] of tasks/claims.c), small, known by an id that leads
//        to the run (model/tasks/id.h), and has no concurrency key and no secrets.
//   [embedded-2] Its run is SUSPENDED and waits for nothing else. Whatever else becomes of the run
//        gives the task its row: run_store sees to that.
//   [embedded-3] Who loads a task by its id finds it, and gives it a row before anything is changed
//        of it. Only completing it needs none.
//   [embedded-4] The run is due no later than the end of the task's lease; then the task gets its
//        row, whose end of lease fires.
//   [embedded-5] It counts as what it is: leased, and running in its queue.
#pragma once
#include "store/kernel/runs/runs.h"

// Whether the task of the turn may be embedded if it is leased as it is made.
bool embedded_is_fit(Kernel *kernel, const TurnCommit *turn, const Run *run);
void embedded_put(Kernel *kernel, Run *run, const TaskRow *task);
// When a run that parks is due, which is so at `due_at_ms` apart from its task. [embedded-4]
int64_t embedded_due(const Kernel *kernel, const Run *run, int64_t due_at_ms);
// The run is being stored. [embedded-2]
MUST_CHECK Status embedded_settle(Kernel *kernel, Run *run);
// Gives the run's task a row, if it has one; the caller stores the run.
MUST_CHECK Status embedded_give_row(Kernel *kernel, Run *run);
// The run's own time has come, but no wait of it is due: that of its task may have.
MUST_CHECK Status embedded_fire(Kernel *kernel, Run *run);
// The task of that id. ERR_NOT_FOUND: there is none that is embedded.
MUST_CHECK Status embedded_load(Kernel *kernel, Str id, TaskRow *ret_task);
// Gives one that was loaded its row, and stores the run.
MUST_CHECK Status embedded_give_row_to(Kernel *kernel, const TaskRow *task);
// Gives those that the worker has leased their rows.
MUST_CHECK Status embedded_give_rows_of(Kernel *kernel, Str worker);
// The present operation completes that task, which is embedded: what is stored of it is its end.
void embedded_begin_end(Kernel *kernel, const TaskRow *task);
bool embedded_is_ending(const Kernel *kernel, const TaskRow *task);
MUST_CHECK Status embedded_end(Kernel *kernel);
// A run that is put into quarantine: what cannot be read of it is dropped.
void embedded_drop_damaged(Kernel *kernel, Run *run);

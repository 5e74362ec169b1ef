// Ids of tasks: those of a run's own tasks lead back to the run.
//
//   "task_" BODY "n" POSITION            the run's id is "run_" BODY (26 characters)
//   "task_" DIGEST "k" KEY "n" POSITION  any other: of its id (32 hexadecimal digits), and its key
//
// From the second incarnation on, "x" and its number stand before the "n". Both forms are the same
// whenever the turn that makes the task is repeated, and those of one run stand side by side in the
// store's index. The key of the run alone would be unique in one store only, and ids are handed to
// tasks as idempotency keys.
#pragma once
#include "base/arena.h"
#include <stdint.h>

typedef struct TaskPlace { // where a task stands in its run
    Str run_id;
    int64_t run_key;
    int64_t incarnation;
    int64_t position;
} TaskPlace;

Str task_id_make(Arena *arena, const TaskPlace *place);
bool task_id_leads_to(Str id, Str run_id, int64_t run_key);
// Which run an id leads to: its id, or else (run_id is null) its key. False: to none. The id proves
// nothing, whoever follows it compares it with what the run has.
bool task_id_read(Arena *arena, Str id, TaskPlace *ret_place);

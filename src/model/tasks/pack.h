// Packed tasks: a task as bytes, for a run's row that has it in place of a row of its own.
//
// What follows from the run's row is left out: the run and the phase. A column that is 0 or null
// costs nothing; a task of a script with an input of 20 bytes takes about 130.
#pragma once
#include "base/status.h"
#include "model/rows.h"

Str task_pack(Arena *arena, const TaskRow *task);
// `task->run` and `task->phase` are 0. ERR_CORRUPT: the bytes are no task. The texts are in the
// arena.
MUST_CHECK Status task_unpack(Arena *arena, Str bytes, TaskRow *ret_task);

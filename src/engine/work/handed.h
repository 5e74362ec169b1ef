// Handed: tasks that workers outside have, of runs that are in memory: whose they are.
//
// A worker reports a task by its id and its token; which run waits for it only the store knows. For
// runs in memory it is noted when the task is handed out, so that the turn which the result enables
// can be executed before the result is committed (coordinator/foresee.c).
//
//   [handed-1] What is here is a hint: the store decides about the report, and about the turn.
//   [handed-2] At most HANDED_MAX are known. Workers that never report fill it; then all is
//        forgotten, and reports are committed by themselves.
#pragma once
#include "base/containers/map.h"
#include "model/rows.h"

enum { HANDED_MAX = 1 << 16 };

typedef struct HandedTask {
    int64_t run;
    int64_t position;
    int64_t attempt;
} HandedTask;

typedef struct Handed {
    Map by_token;
} Handed;

void handed_init(Handed *self);
void handed_done(Handed *self);
void handed_note(Handed *self, const TaskRow *task);
// Its lease ends with what is reported now. False = it is not known.
bool handed_take(Handed *self, int64_t token, HandedTask *ret_task);

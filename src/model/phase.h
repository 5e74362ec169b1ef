// Phases: what lists by state are found by.
//
// States between which a row goes with every turn are one phase, so that the index over it is
// written when something begins and ends, and not with every turn. Lists of one state leave out
// what is in another state of its phase. A phase has the number of its first state.
#pragma once
#include "model/rows.h"

static inline int64_t run_phase(int64_t state) {
    return state == RUN_SUSPENDED ? RUN_RUNNING : state;
}

// What has completed is in no index over it: that is nearly all there is.
static inline int64_t task_phase(int64_t state) {
    if (state == TASK_LEASED) return TASK_QUEUED;
    return state == TASK_COMPLETED ? 0 : state;
}

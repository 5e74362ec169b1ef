// Checks of what operations are asked with: see check.c.
#pragma once
#include "store/kernel/internal.h"

// The tags of a run, one after the other.
typedef struct TagReader {
    Str rest;
} TagReader;
bool tag_next(TagReader *reader, Str *ret_tag);

MUST_CHECK Status check_run_spec(Kernel *kernel, const RunSpec *spec);
MUST_CHECK Status check_task_spec(Kernel *kernel, const TaskSpec *spec);
MUST_CHECK Status check_log_entry(Kernel *kernel, const LogRow *entry);
// All that a turn of the run brings, apart from what it waits for.
MUST_CHECK Status check_effects(Kernel *kernel, const TurnCommit *turn, const RunRow *run);
MUST_CHECK Status check_waits(Kernel *kernel, const WaitSet *set, const RunRow *run);

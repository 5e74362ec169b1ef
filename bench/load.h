// A load on an engine: many callers at once, and waiting for what they started.
#pragma once
#include "abide.h"

_Noreturn void die(const char *what, const abide_error *error);
void recover(abide_engine *engine);

// Many callers at once, as in a server: their starts share commits.
typedef struct Load {
    const char *workflow, *input;
    abide_start_options options;
} Load;
void start_many(abide_engine *engine, const Load *load, int64_t count);
void wait_for_completed(abide_engine *engine, int64_t total);
abide_stats stats_of(abide_engine *engine);
// Starts one run, waits for its end, and answers the seconds this took.
double run_one(abide_engine *engine, const char *workflow, const char *input);
// Starts that many runs of a workflow that sleeps until the time (in ms) it is given and ends;
// answers by how many seconds the last of them was late.
double timers_late(abide_engine *engine, const char *workflow, int64_t count);

// A task that answers at once, a workflow of so many steps that do, and one that sleeps until the
// time (in ms) it is given.
int load_quick(abide_call *call, const char *input);
int load_chain(abide_ctx *ctx, const char *input);
int load_until(abide_ctx *ctx, const char *input);

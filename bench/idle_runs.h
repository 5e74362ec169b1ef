// Numbered runs that wait for a signal, every fourth of them a C function, the others
// scripts. Each must answer with its own number and what it was sent.
#pragma once
#include "abide.h"
#include <stdbool.h>

enum { NATIVE_EVERY = 4 };

// An engine with their workflows on DIRECTORY/idle.db, at work.
abide_engine *idle_open(const char *directory, const abide_options *options);
// Starts runs `from` … `to` - 1 from many threads and waits until all that there are wait.
void idle_start(abide_engine *engine, int64_t from, int64_t to);
void idle_wait_released(abide_engine *engine); // nothing waits in memory any more
// Signals one, waits for its end, and answers the seconds; a wrong result ends the program.
double idle_wake(abide_engine *engine, int64_t number);

// Wakes runs from many threads: those from `from` on below `to`, all but every `skipped_every`-th.
typedef struct IdleWakes {
    abide_engine *engine;
    int64_t from, to, skipped_every; // 0 = none is skipped
    double *seconds;                 // room for each; answers `count`
    int64_t count;
    void (*look)(void *context); // called now and then while they wake
    void *context;
} IdleWakes;
void idle_wake_all(IdleWakes *wakes);

// Script: a fixed list of batches, what the client knows before each, and what a store holds after
// each; so that after any accident it can be told which of the batches are there, and the rest
// can be submitted as if nothing had happened.
#pragma once
#include "contract/dump.h"
#include "contract/trace.h"

enum { SCRIPT_BATCHES_MAX = 64 };

typedef struct Script {
    Arena arena;
    Trace trace;
    Knowledge before[SCRIPT_BATCHES_MAX + 1]; // [i]: when batch i is submitted
    Str state[SCRIPT_BATCHES_MAX + 1];        // [i]: after the first i batches
} Script;

// Learns states and knowledge from a store in memory.
void script_init(Script *script, uint64_t seed, size_t batch_count);
void script_done(Script *script);
// Submits batch `place`; the answer of the store.
Status script_submit(const Script *script, size_t place, Store *store, Diag *diag);
Str script_state(const Script *script, size_t place, Store *store, Arena *arena);
// How many batches, at least `min` and at most `max`, the store holds; -1 when it holds something
// else, which is printed.
int64_t script_find(const Script *script, Store *store, size_t min, size_t max);
Store *script_open(const char *url, Status *ret_status, Diag *ret_diag); // NULL: see the status

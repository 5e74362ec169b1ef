// Script: a fixed list of batches, what the client knows before each, and what a store holds after
// each; so that after any accident it can be told which of the batches are there, and the rest
// can be submitted as if nothing had happened.
#pragma once
#include "contract/dump.h"
#include "contract/trace.h"

typedef struct Script {
    Arena arena;
    Trace trace;
    Knowledge *before; // [i]: when batch i is submitted
    Str *state;        // [i]: after the first i batches
    Str *answers;      // [i]: of batch i
} Script;

// Learns all that from a store in memory.
void script_init(Script *script, uint64_t seed, size_t batch_count);
void script_done(Script *script);
// Submits batch `place`; the answer of the store. ERR_CONFLICT with code ANSWERS_DIFFER when it did
// the batch but answered otherwise than it should have.
Status script_submit(const Script *script, size_t place, Store *store, Diag *diag);
Str script_state(const Script *script, size_t place, Store *store, Arena *arena);
// How many batches, at least `min` and at most `max`, the store holds; -1 when it holds something
// else, which is printed.
int64_t script_find(const Script *script, Store *store, size_t min, size_t max);
Store *script_open(const char *url, Status *ret_status, Diag *ret_diag); // NULL: see the status

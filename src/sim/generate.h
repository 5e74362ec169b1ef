// Random scripts with a known result.
#pragma once
#include "sim/sim.h"

typedef struct GeneratedFlow {
    Str source;
    Str result;       // JSON, if nobody cancels the run
    int signal_count; // signals "sure" it must be sent, with the payloads 1, 2, 3 …
    int event_count;  // events of topic "mine" likewise: {"run": its id, "n": 1} …
} GeneratedFlow;

// Strings live in the arena.
void generate_flow(Sim *sim, Arena *arena, GeneratedFlow *ret_flow);

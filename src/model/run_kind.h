// Run kinds: who executes the turns of a run.
#pragma once
#include <stdint.h>

typedef enum RunKind {
    RUN_NATIVE = 1, // a C function of the node
    RUN_FLOW,       // a script
    RUN_CODE        // a function of another process, over HTTP
} RunKind;

const char *run_kind_name(int64_t kind); // "flow"

// Load: a workflow file, compiled, or its findings on stderr.
#pragma once
#include "flow/flow.h"

typedef enum LoadMode {
    LOAD_CHECKED, // to be run or deployed: also held to what can work (flow/check/check.h)
    LOAD_ANY      // to be looked at
} LoadMode;

// NULL: it has been said why, and *ret_code (may be NULL) is the code of it. Warnings are printed.
// `ret_source` (may be NULL) receives the text; it has the ceiling FLOW_SOURCE_MAX.
FlowModule *load_module(const char *path, LoadMode mode, Buf *ret_source, const char **ret_code);

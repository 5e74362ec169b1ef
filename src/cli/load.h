// Load: a workflow file, compiled, or its findings on stderr.
#pragma once
#include "flow/flow.h"

// NULL: it has been said why. `ret_source` (may be NULL) receives the text; it has the ceiling
// FLOW_SOURCE_MAX.
FlowModule *load_module(const char *path, Buf *ret_source);

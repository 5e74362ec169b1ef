// Load: a workflow file, compiled, or its findings on stderr.
#pragma once
#include "flow/flow.h"

FlowModule *load_module(const char *path); // NULL: it has been said why

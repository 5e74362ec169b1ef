// Starting runs: what the definition of a workflow says about the runs that are made of it.
#pragma once
#include "json/value.h"
#include "store/store.h"

// StoreConfig.run_prepare. What is said for the run itself counts; where nothing is said the
// workflow's config does. The input is held to config.input: ERR_INVALID, code BAD_INPUT.
Status start_prepare(const DefinitionRow *definition, RunSpec *spec, Arena *arena, Str *ret_error,
                     Diag *diag);

// Modules: the compiled scripts of definitions, once per version.
//
//   [modules-1] A definition never changes, so a compiled one never goes stale. At most
//        LIMIT_CACHED_MODULES are kept; runs that execute one hold their own reference.
#pragma once
#include "base/containers/map.h"
#include "flow/flow.h"
#include "store/store.h"

typedef struct Modules {
    Store *store;
    Map by_definition; // definition key -> FlowModule
    Arena scratch;     // of one read
} Modules;

void modules_init(Modules *self, Store *store);
void modules_done(Modules *self);
// The compiled script of a definition, valid until the next call. Anything but OK and
// ERR_UNAVAILABLE is for good.
MUST_CHECK Status modules_get(Modules *self, int64_t definition, FlowModule **ret_module,
                              Diag *diag);

// What abide_open was given, as numbers: everything below works with these.
#pragma once
#include "abide.h"
#include "engine/coordinator/coordinator.h"

typedef struct EngineSettings {
    CoordinatorConfig coordinator;
    StoreConfig store;
    int thread_count;
    int64_t run_retention_ms;
    int64_t cancel_grace_ms;
} EngineSettings;

// `is_exclusive`: no other process can have the store open. Codes: BAD_OPTION, and those of
// durations.
MUST_CHECK Status options_read(const abide_options *options, bool is_exclusive,
                               EngineSettings *settings, Diag *diag);
// Sets the time-outs of a list such as "chat=10m, order=off"; without a coordinator it only checks
// the list. Code: BAD_OPTION, and those of durations.
MUST_CHECK Status options_set_idle_timeouts(Coordinator *coordinator, Str list, Diag *diag);

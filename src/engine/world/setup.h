// What an engine is made of and how it is set: given once, and the same for all of its parts.
#pragma once
#include "base/env.h"
#include "base/log.h"
#include "engine/world/world.h"
#include "store/store.h"

typedef struct CoordinatorConfig {
    Str node_name;
    int64_t lease_ms;
    bool is_exclusive;         // nobody else can be alive on this store
    int64_t max_active_runs;   // owned at a time
    int64_t max_parked_runs;   // kept in memory although not owned
    int64_t max_resident_size; // bytes of all runs in memory, about; 0 = any number
    int64_t idle_release_ms;   // parked runs leave memory after this; 0 = only to make room
    int64_t first_tasks;       // in-process tasks that may be claimed at a time, to begin with
    int64_t max_tasks;         // and at most
    int64_t store_retry_attempts;
    int64_t store_retry_ms, store_retry_max_ms;
    int64_t timer_resolution_ms; // [coordinator-5] of coordinator.h; 0 = 1
    int64_t sweep_ms;            // how often leftovers are looked for
    int64_t task_lease_ms;
    int64_t run_retention_ms;   // of runs that scripts start; < 0 = for ever
    int64_t keep_snapshots;     // of flow runs, for rewinding; 0 = none
    int64_t slice_instructions; // a script is preempted after so many; 0 = the VM's default
    int64_t max_crashes;     // executions lost in a row after which a run is paused; 0 = no limit
    int64_t max_turn_slices; // preemptions after which a script that does not wait fails
    int64_t script_memory;   // bytes a script may use; 0 = the default
    bool is_child_failure_isolated;  // the failure of a script's child is a value
    const struct FlowLooker *looker; // at conditions of scripts; NULL = nobody
} CoordinatorConfig;

// What a coordinator is made of; all of it outlives it.
typedef struct CoordinatorSetup {
    Env *env;
    Store *store;
    World *world;
    Logger *logger; // may be NULL
    CoordinatorConfig config;
} CoordinatorSetup;

enum { REFUSED_REST_MS = 5000 }; // before something that the store refused for good is tried again

// Said of a moment: it does not come by itself.
#define NEVER_MS INT64_MAX

static inline int64_t earlier_ms(int64_t a, int64_t b) { return a < b ? a : b; }

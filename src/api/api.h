// What the files of the C library share: the engine object, and checks of what callers hand in.
#pragma once
#include "abide.h"
#include "api/clock.h"
#include "api/driver.h"
#include "base/text/name.h"
#include <stdatomic.h>

typedef struct Registered { // a workflow's runner; lives as long as the engine
    Str name;               // owned
    NativeRunner runner;
    Arena arena; // texts of its retry policy
} Registered;

typedef struct Closer { // what abide_on_close was given
    void (*function)(void *user);
    void *user;
} Closer;

// Is told of everything the engine does, after the commit that records it.
typedef struct EngineWatcher {
    void (*notice)(void *context, const EngineEvent *event);
    void *context;
    // Whether somebody follows the run's stream, so that it stays in memory; may be NULL.
    bool (*has_reader)(void *context, Str run_id);
} EngineWatcher;

struct abide_engine {
    Driver driver;
    VirtualEnv virtual_env; // in use when options.virtual_time_ms is not 0
    Store *store;
    Logger logger;
    char node_name[96];    // when the options have none
    bool is_shared;        // other nodes may work on the store
    abide_options options; // callbacks and user pointer
    int64_t run_retention_ms;
    int64_t cancel_grace_ms;
    bool is_child_failure_isolated;
    // Who follows along besides options.on_event; NULL = nobody. On the coordinator's thread.
    _Atomic(EngineWatcher *) watcher;
    pthread_mutex_t lock; // guards what follows
    IdSource ids;
    StrMap registered; // name -> Registered
    VEC(Closer) closers;
    VEC(Str) task_names; // functions that this process has; owned
    bool is_recovered;
    abide_recovery recovery;
};

// Fill `error` (may be NULL) and answer its code.
int api_answer(abide_error *error, Status status, const Diag *diag);
int api_refuse(abide_error *error, int code, const char *name, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

// Checks; a Diag says what is wrong with the argument called `what`.
MUST_CHECK Status api_check_name(const char *text, const char *what, Str *ret_name, Diag *diag);
MUST_CHECK Status api_check_run_id(const char *text, Str *ret_id, Diag *diag);
MUST_CHECK Status api_check_payload(const char *json, const char *what, Str *ret_payload,
                                    Diag *diag);
// NULL gives `fallback_ms`.
MUST_CHECK Status api_check_duration(const char *text, int64_t fallback_ms, int64_t *ret_ms,
                                     Diag *diag);
// Texts live in the arena.
MUST_CHECK Status api_check_retry(const abide_retry *retry, Arena *arena, RetryPolicy *policy,
                                  Diag *diag);
// Start options into a spec; `arena` holds joined tags. `options` may be NULL.
MUST_CHECK Status api_check_start(const abide_start_options *options, int64_t now_ms, Arena *arena,
                                  RunSpec *spec, Diag *diag);

// True when the workflow is registered.
bool engine_knows(abide_engine *engine, Str workflow);
// The workflow that may have been meant by a name that no workflow has, in the arena; NULL = none.
const char *engine_nearest_workflow(abide_engine *engine, Arena *arena, Str name);
// What this process is called among the nodes.
Str engine_node_name(const abide_engine *engine);
// The tasks that this process has functions for, in the order of registration. Lives in the arena.
size_t engine_task_names(abide_engine *engine, Arena *arena, Str **ret_names);
// Nothing of the run is in this process's memory, and it waits.
bool engine_has_released(abide_engine *engine, const RunRow *run);
// Why a run is paused, an error object; null when it is not.
MUST_CHECK Status engine_pause_reason(abide_engine *engine, Arena *arena, const RunRow *run,
                                      Str *ret_reason, Diag *diag);
// Whether what the store has of a released run can be read, as far as that shows without bringing
// it back. The row must have its snapshot: those of lists do not, and are OK.
MUST_CHECK Status engine_check_released(abide_engine *engine, const RunRow *run, Diag *diag);
// This process as one of the nodes of its store, at this moment.
typedef struct EngineNode {
    int64_t key; // 0 = it has not joined, or has lost its lease and is about to join anew
    int64_t resident_count, active_count;
} EngineNode;
EngineNode engine_node(abide_engine *engine);
Str engine_new_id(abide_engine *engine, const char *prefix, IdText *text);

// What the files of the C library share: the engine object, and checks of what callers hand in.
#pragma once
#include "abide.h"
#include "api/clock.h"
#include "api/driver/driver.h"
#include "api/engine.h"
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
    Map masks;         // key of a definition -> Mask, in mask_arena
    Arena mask_arena;
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

// Of register.c: what was registered, with the engine that has it.
void api_registered_init(abide_engine *engine);
void api_registered_done(abide_engine *engine);

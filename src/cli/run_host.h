// RunHost: the world of a script that `abide run` runs in the foreground.
//
// Timers and timeouts wait in real time; console lines, events and stream items go to stderr;
// State lives in memory. Tasks, signals, events and child workflows have nobody who would answer.
#pragma once
#include "base/arena.h"
#include "base/env.h"
#include "base/map.h"
#include "base/vec.h"
#include "flow/flow.h"

typedef struct RunWait { // an awaitable the script has started
    uint32_t id;
    FlowAwaitKind kind;
    Str name;       // of the task, signal, topic or workflow; null for timers
    int64_t due_ms; // when it settles by itself; -1: never
} RunWait;

typedef struct RunHost {
    FlowHost base;
    Env *env;
    Arena *arena; // for names and state; the caller's
    Str workflow_name;
    Str version;
    int64_t started_at_ms;
    VEC(RunWait) waits; // pending, in order of their start
    StrMap state;       // key -> Str * in the arena
} RunHost;

void run_host_init(RunHost *host, Arena *arena, const FlowModule *module, uint32_t workflow_index);
void run_host_done(RunHost *host);
void run_host_forget(RunHost *host); // a new incarnation begins: nothing is pending
RunWait *run_host_find(RunHost *host, uint32_t id);
void run_host_remove(RunHost *host, uint32_t id);
// "task", "signal" …
const char *run_wait_kind_name(FlowAwaitKind kind);

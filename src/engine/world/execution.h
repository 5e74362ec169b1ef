// Executions: one turn of a run, or one attempt of a task, on whatever thread the world chooses.
//
//   [execution-1] An execution is spare, with the world, or with whoever got it here; `out_count`
//        are those with the world.
//   [execution-2] What a turn was given and what came of it lives in the execution's arena until it
//        is put back, which is after the commit.
#pragma once
#include "base/containers/heap.h"
#include "base/containers/list.h"
#include "engine/runners/native.h"
#include "engine/world/request.h"
#include "engine/world/world.h"

typedef enum ExecutionKind { EXECUTE_RUN, EXECUTE_TASK } ExecutionKind;

// What became of the commit of a turn that another process executed.
typedef struct TurnVerdict {
    Status status;
    int64_t state;    // OK: RunState afterwards
    int64_t turn_seq; // OK: of the log, the last entry of the turn itself
    int64_t last_seq; // OK: of the log
    Diag diag;        // otherwise
} TurnVerdict;

typedef struct Execution {
    List link; // the driver's while it has it, then the coordinator's
    ExecutionKind kind;
    Arena arena;
    // runs
    int64_t run;
    int64_t epoch;
    Runner *runner;
    RunView view;
    TurnOutput output;
    bool is_repaired;     // its output was replaced because the store refused the first one
    bool is_reloaded;     // the run had to be brought back for it: its commit says so
    bool is_attempt;      // nothing was executed yet: see TurnCommit
    int64_t foreseen_seq; // see TurnCommit; 0 = the run was woken before (coordinator/foresee.c)
    struct Execution
        *cause;          // of a foreseen turn, until both have a place in a batch: the task that
                         // came back with the result, or
    Request *report;     // what a worker said of it
    int64_t slice_count; // preemptions so far
    bool is_undone;      // set by the world: it was given back without having been performed
    bool is_remote;      // another process executes it (RUN_CODE)
    // Who executed it is told once, on the coordinator's thread; NULL = nobody wants to know.
    void (*tell)(void *context, const TurnVerdict *verdict);
    void *tell_context;
    // What it took, for those who measure.
    uint64_t woken_ns; // when the run was woken; 0 = it was not (monotonic)
    uint64_t began_ns; // when it began to be performed (monotonic)
    uint64_t took_ns;  // all slices together
    int64_t began_at_ms;
    // tasks
    NativeCallFunction function;
    TaskRow task;
    NativeCall call;
    HeapNode heartbeat; // .at: when its lease wants to be renewed
} Execution;

// Does the work; touches nothing but the execution.
void execution_perform(Execution *execution, Env *env);
void execution_free(Execution *execution);
// Calls `tell`, if it was not called yet.
void execution_tell(Execution *execution, const TurnVerdict *verdict);

typedef struct Executions {
    World *world;
    List spare;
    size_t out_count; // [execution-1]
} Executions;

void executions_init(Executions *self, World *world);
void executions_done(Executions *self); // none is with the world
Execution *executions_get(Executions *self, ExecutionKind kind);
void executions_put(Executions *self, Execution *execution);
void executions_hand_out(Executions *self, Execution *execution);
void executions_came_back(Executions *self, const Execution *execution);

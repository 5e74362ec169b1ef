// World: what the engine does outside of itself. It has things executed, and tells what happened.
//
// Production has the driver (api/driver), the simulator its own. Everything here is called on the
// coordinator's thread.
//   [world-1] What is told has been committed ([coordinator-1] of coordinator.h), except what is
//        said of the store.
#pragma once
#include "store/batch.h"

struct Execution;

typedef enum EngineEventKind { // the values of ABIDE_EVENT_… in include/abide.h
    ENGINE_RUN_STARTED = 1,
    ENGINE_RUN_SUSPENDED,
    ENGINE_RUN_RESUMED,
    ENGINE_STEP,
    ENGINE_RUN_COMPLETED,
    ENGINE_RUN_FAILED,
    ENGINE_RUN_CANCELLED,
    ENGINE_RUN_PAUSED,
    ENGINE_RUN_RELEASED,
    ENGINE_RUN_RELOADED,
    ENGINE_STORE_DOWN,
    ENGINE_STORE_UP,
    ENGINE_LINE,
    ENGINE_STREAM,
    ENGINE_PUBLISHED,
    ENGINE_RUN_IDLE,
    ENGINE_RUN_RETRIED, // it failed and begins again later; detail: the error
    // for those who follow along, not for callbacks of include/abide.h
    ENGINE_LOG_GREW,    // of run_id; null = of any, answers were lost
    ENGINE_TASKS_READY, // some task became claimable
    // with `measure`
    ENGINE_RUN_ENDED,    // run_id, workflow; once per run, however it ended
    ENGINE_TURN,         // run_id, workflow
    ENGINE_TASK_CLAIMED, // name: the task's; detail: its id
    ENGINE_TASK_ENDED,   // name: the task's; detail: its id
    ENGINE_TIMERS_FIRED
} EngineEventKind;

// What something took.
typedef struct EngineMeasure {
    int64_t began_at_ms; // runs: created; turns, attempts: began; 0 = unknown
    int64_t ended_at_ms; // attempts claimed: now
    int64_t took_ns;     // turns: executing; timers: how late the first one was
    bool has_waited;     // there was such a wait:
    int64_t waited_ns;   // turns: from being woken to executing; attempts: from being queued
    int64_t state;       // RunState or TaskState afterwards
    int64_t number;      // turns: the epoch; attempts: 1 = the first; timers: how many
    int64_t before_seq, start_seq, turn_seq; // turns: see TurnCommit
    int64_t snapshot_size;                   // turns of scripts; 0 = none
    int64_t run;                             // its key; attempts: of the run; 0 = none
    Str tags;                                // of the run
    Str worker;                              // attempts: who makes it
} EngineMeasure;

typedef struct EngineEvent {
    EngineEventKind kind;
    Str run_id, workflow, name, detail; // may be null
    const EngineMeasure *measure;       // NULL where there is none
} EngineEvent;

typedef struct World World;
typedef struct WorldOps {
    // Takes the execution and gives it back through coordinator_executed, on the coordinator's
    // thread, later.
    void (*execute)(World *world, struct Execution *execution);
    void (*notify)(World *world, const EngineEvent *event);
    // Whether somebody follows the run's stream: then it is not released. NULL = nobody can.
    bool (*has_reader)(World *world, Str run_id);
    // A run that waits is in memory now, or no longer. NULL = nobody wants to know.
    void (*parked)(World *world, int64_t run, bool is_parked);
} WorldOps;
struct World { // first member of every implementation
    const WorldOps *ops;
};

// An event without a measure.
void world_tell(World *world, EngineEventKind kind, Str run_id, Str workflow, Str detail);
bool world_run_has_reader(World *world, Str run_id);

// ---- with a measure: metrics and traces are made from it (measure.c) ----

void measure_ended(World *world, const EndedRun *ended, int64_t now_ms);
// `op`: the commit of the turn.
void measure_turn(World *world, const struct Execution *execution, const Op *op);
// Of operations that claim tasks or end an attempt, others tell nothing. `execution` may be NULL.
void measure_task(World *world, const Op *op, const struct Execution *execution, int64_t now_ms);
// `late_ms`: the first of them was.
void measure_fired(World *world, int64_t fired_count, int64_t late_ms);

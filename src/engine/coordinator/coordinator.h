// Coordinator: turns inputs into store batches and their answers into effects. One owner of all
// engine state, one thread at a time, no clock, socket, file or thread of its own.
//
// The driver (api/driver.c in production, sim/ in the simulator) feeds it and does the commits:
//
//     coordinator_submit / coordinator_executed / coordinator_await …      inputs
//     while ((turn = coordinator_prepare(c)))                              a batch to commit
//         coordinator_finish(c, turn, store_commit(store, turn->batch), &diag);
//     sleep until coordinator_next_wake_ms, or the next input
//
//   [C1] No reply, wake-up or task leaves before the commit that records it answered OK.
//   [C2] A batch whose outcome is unknown is looked up by its number and submitted again only
//        when it was not applied; so every operation happens once.
//   [C3] A run has at most one execution under way, and none while its output is in a batch.
//   [C4] What is in memory is bounded: active runs, parked runs, operations in a batch.
//   [C5] Timers fire at multiples of the timer resolution: those due within one span share a
//        commit, none is early, and none is late by a whole span for this reason. What is due
//        already when a run parks, or when the node begins, is not a timer that is waited for.
#pragma once
#include "base/containers/heap.h"
#include "base/text/id.h"
#include "engine/coordinator/resident.h"
#include "engine/runners/native.h"
#include "store/store.h"

typedef struct Coordinator Coordinator;

// ---- inputs ----

// Somebody outside asks for an operation. The answers are in `op`; Str answers must be copied in
// `done`, they are gone afterwards.
typedef struct Request {
    List link;
    Op op;
    void (*done)(struct Request *request); // on the coordinator's thread, once
    void *context;
} Request;

// Somebody waits for a run to end.
typedef struct Await {
    List link;       // the coordinator's; an empty list before it is there and once it is answered
    List called_off; // the driver's
    HeapNode deadline; // .at in ms
    Str run_id;        // owned by the caller until done
    void (*done)(struct Await *await);
    void *context;
    Status status; // OK: it has ended, `state` says how; ERR_LIMIT: the deadline came first;
                   // or why it cannot be known
    int64_t state;
    Diag diag;
} Await;

// ---- work for the outside ----

typedef enum ExecutionKind { EXECUTE_RUN, EXECUTE_TASK } ExecutionKind;

// One turn of a run, or one attempt of a task, on whatever thread the world chooses.
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
    bool is_repaired;    // its output was replaced because the store refused the first one
    bool is_reloaded;    // the run had to be brought back for it: its commit says so
    bool is_attempt;     // nothing was executed yet: see TurnCommit
    int64_t slice_count; // preemptions so far
    bool is_undone;      // set by the world: it was given back without having been performed
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
    int64_t waited_ns;   // turns: from being woken to executing; attempts: from being queued; < 0 =
                         // there was no such wait
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
    void (*execute)(World *world, Execution *execution);
    void (*notify)(World *world, const EngineEvent *event);
    // Whether somebody follows the run's stream: then it is not released. NULL = nobody can.
    bool (*has_reader)(World *world, Str run_id);
    // A run that waits is in memory now, or no longer. NULL = nobody wants to know.
    void (*parked)(World *world, int64_t run, bool is_parked);
} WorldOps;
struct World { // first member of every implementation
    const WorldOps *ops;
};

// ---- configuration, counters, reports ----

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
    int64_t timer_resolution_ms; // [C5]; 0 = 1
    int64_t sweep_ms;            // how often leftovers are looked for
    int64_t task_lease_ms;
    int64_t run_retention_ms;   // of runs that scripts start; < 0 = for ever
    int64_t keep_snapshots;     // of flow runs, for rewinding; 0 = none
    int64_t slice_instructions; // a script is preempted after so many; 0 = the VM's default
    int64_t max_crashes;     // executions lost in a row after which a run is paused; 0 = no limit
    int64_t max_turn_slices; // preemptions after which a script that does not wait fails
    int64_t script_memory;   // bytes a script may use; 0 = the default
    bool is_child_failure_isolated; // the failure of a script's child is a value
} CoordinatorConfig;

typedef struct CoordinatorStats {
    int64_t commits, operations, store_errors;
    int64_t turns, steps, reloads, releases;
} CoordinatorStats;

typedef struct RecoveryReport {
    int64_t resumed_running, timers_due, starts_due, taken_over, suspended;
} RecoveryReport;

// A batch on its way.
typedef struct Turn {
    Arena arena;
    Batch batch;
    VEC(struct TurnItem) items;
    size_t most;           // operations it may have
    uint64_t began_ns;     // when it was gathered (monotonic)
    size_t made_tasks;     // that its operations queue
    WorkflowSet *executes; // what the batch refers to
} Turn;

typedef struct TurnItem {
    Op *op;
    Request *request;     // or
    Execution *execution; // or neither: one of the engine's own operations
} TurnItem;

// ---- the coordinator ----

// What a coordinator is made of; all of it outlives it.
typedef struct CoordinatorSetup {
    Env *env;
    Store *store;
    World *world;
    Logger *logger; // may be NULL
    CoordinatorConfig config;
} CoordinatorSetup;

MUST_CHECK Status coordinator_new(const CoordinatorSetup *setup, Coordinator **ret_coordinator,
                                  Diag *diag);
void coordinator_free(Coordinator *coordinator);

// From now on runs tell the runs they start which trace they belong to, also when nobody told them.
void coordinator_trace_children(Coordinator *coordinator);

// ERR_CONFLICT when the name is taken. The runner must outlive the coordinator.
MUST_CHECK Status coordinator_add_runner(Coordinator *coordinator, Str workflow, Runner *runner);
MUST_CHECK Status coordinator_add_task(Coordinator *coordinator, Str name,
                                       NativeCallFunction function, void *user);
// Also when the name is taken.
void coordinator_replace_task(Coordinator *coordinator, Str name, NativeCallFunction function,
                              void *user);
bool coordinator_has_runner(Coordinator *coordinator, Str workflow);
// How long idle runs of that workflow stay in memory, whatever their script says; <= 0 = until room
// is needed. Counts for runs that park from now on.
void coordinator_set_idle_timeout(Coordinator *coordinator, Str workflow, int64_t timeout_ms);

// Begins to execute: claims what was running, fires what is due.
MUST_CHECK Status coordinator_recover(Coordinator *coordinator, RecoveryReport *ret_report,
                                      Diag *diag);

// Another node says that there is work to claim, or that runs have ended. What is due by itself is
// seen to by those who know of it as long as they live, and need not be asked for.
void coordinator_hear(Coordinator *coordinator);

void coordinator_submit(Coordinator *coordinator, Request *request);
void coordinator_await(Coordinator *coordinator, Await *await);
// The caller no longer waits; `done` is not called.
void coordinator_forget(Coordinator *coordinator, Await *await);
// The same; it is answered as if its deadline had come. Only one that is not answered yet.
void coordinator_call_off(Coordinator *coordinator, Await *await);
void coordinator_executed(Coordinator *coordinator, Execution *execution);

// The next batch, or NULL when there is nothing to commit now. At most two turns are out at a
// time; they are finished in the order in which they were prepared.
Turn *coordinator_prepare(Coordinator *coordinator);
void coordinator_finish(Coordinator *coordinator, Turn *turn, Status status, const Diag *diag);
// When prepare will have something to do by itself; INT64_MAX = never.
int64_t coordinator_next_wake_ms(Coordinator *coordinator);

// Nothing executes, and there is nothing to do before a later moment: *ret_next_ms, when a timer
// or the like is due; 0 = never. Leases and sweeps do not count.
bool coordinator_is_idle(Coordinator *coordinator, int64_t *ret_next_ms);

// From now on nothing new is executed and requests are refused (ERR_UNAVAILABLE, code CLOSED).
void coordinator_stop(Coordinator *coordinator);
// After coordinator_stop: true when everything that was executing has been committed.
bool coordinator_is_quiet(Coordinator *coordinator);
// After coordinator_stop: true when nothing executes any more and what is left cannot be committed,
// because the store is away.
bool coordinator_is_stranded(const Coordinator *coordinator);
// The store has not answered for a while: of whatever is asked for now nothing would happen soon.
bool coordinator_is_store_away(const Coordinator *coordinator);
// It has no room for what was written last, and is asked again until it has.
bool coordinator_is_store_full(const Coordinator *coordinator);
// Answers those whose patience is over; also while a batch is being committed.
void coordinator_expire_awaits(Coordinator *coordinator);
int64_t coordinator_next_await_ms(const Coordinator *coordinator); // INT64_MAX = nobody waits
// Somebody else had an answer from it: what failed is tried again at once.
void coordinator_store_heard(Coordinator *coordinator);
// Hands back all claims; the last commit of a node. The coordinator does it itself.
MUST_CHECK Status coordinator_leave(Coordinator *coordinator, Diag *diag);

CoordinatorStats coordinator_stats(const Coordinator *coordinator);
size_t coordinator_resident_count(const Coordinator *coordinator);
size_t coordinator_resident_size(const Coordinator *coordinator); // bytes, about
size_t coordinator_active_count(const Coordinator *coordinator);
int64_t coordinator_node(const Coordinator *coordinator);

// What the coordinator's files share.
#pragma once
#include "engine/coordinator.h"
#include "engine/runner_flow.h"

typedef struct TaskEntry {
    Str name; // owned
    NativeCallFunction function;
    void *user;
} TaskEntry;

typedef struct RunnerEntry {
    Str name; // owned
    Runner *runner;
} RunnerEntry;

typedef struct IdleTimeout {
    Str name; // of a workflow; owned
    int64_t timeout_ms; // <= 0: never
} IdleTimeout;

typedef enum StoreHealth { STORE_IS_UP, STORE_IS_DOWN } StoreHealth;

struct Coordinator {
    Env *env;
    Store *store;
    World *world;
    Logger *logger;
    CoordinatorConfig config;
    int64_t node;         // key of our NodeRow; 0 = not joined
    int64_t batch_number; // of the last batch prepared
    bool is_working;      // recover was called
    bool is_stopping;
    bool is_traced; // children are told their trace in any case

    StrMap runners; // name -> RunnerEntry
    StrMap tasks;   // name -> TaskEntry
    VEC(Str) task_names;
    StrMap idle_timeouts; // name -> IdleTimeout

    FlowRunner flow_runner;
    Map modules; // definition key -> FlowModule: compiled once, shared by all its runs

    Residents residents;
    List requests; // not yet in a batch
    size_t request_count;
    size_t alone_count; // the first so many of them get a batch of their own each [O4]
    List executed; // executions whose output is to be committed
    List spare_executions;
    List spare_turns;
    size_t executing_count; // with the world
    size_t task_count;      // tasks among them
    int64_t task_window;    // how many tasks may be claimed at a time now
    int64_t tasks_asked;    // by claims that are in batches

    StrMap awaits;   // run id -> AwaitGroup
    Heap await_heap; // by deadline
    uint64_t await_order;
    Heap heartbeats; // of executing tasks

    // [C2] Turns whose commit failed, oldest first; nothing new is prepared while there are any.
    Turn *uncertain[2];
    size_t uncertain_count;
    bool is_outcome_unknown; // false: the store said that nothing happened
    int64_t retry_at_ms;
    int64_t retry_count;
    size_t turns_out;
    StoreHealth health;
    int64_t down_since_ms; // when the batch was begun that failed first; 0 = all is settled
    Diag down_reason;      // and what the store said last

    int64_t next_due_ms; // 0 = nothing is due by itself
    int64_t renew_at_ms;
    int64_t sweep_at_ms;
    bool is_due_unknown; // ask the store again
    bool has_unadopted;  // runs may be ours in the store that are not in memory
    bool has_unclaimed;  // ready runs wait for room
    int64_t claim_again_ms; // when to look whether the runs that were left to other nodes are
    int64_t left_until_ms;  // taken, and until when some are left; 0 = none
    bool has_tasks;      // tasks may be claimable
    bool was_window_full; // the last claim of tasks left some that it had no room for
    int64_t first_queue; // where the next claim of tasks begins: each queue gets its turn
    bool is_firing;      // a fire_due is in a batch
    int64_t firing_due_ms; // when the first of what it fires was due
    bool is_claiming;

    Arena scratch; // for loads; reset after each
    CoordinatorStats stats;
};

// ---- coordinator_runs.c ----
void runs_apply_commit(Coordinator *c, Execution *execution, Op *op);
void runs_apply_ready(Coordinator *c, const Turn *turn);
void runs_apply_ended(Coordinator *c, const Turn *turn);
void runs_apply_grown(Coordinator *c, const Turn *turn); // their readers are told
// A script used up its slice: it goes to the end of the queue. False when it has had enough; then
// its output says so.
bool runs_continue(Coordinator *c, Execution *execution);
// Hands READY runs to the world.
void runs_dispatch(Coordinator *c);
// Takes up runs that the store says are ours but that are not in memory; has_unadopted while it
// cannot be asked.
void runs_adopt(Coordinator *c);
void runs_fill_children(Coordinator *c, Execution *execution);
// Fills the commit operation from an execution's output.
void runs_fill_commit(const Coordinator *c, Execution *execution, TurnCommit *commit);

// ---- coordinator_idle.c ----
// The run's turn has parked it: it becomes PARKED, until its time or the room is up.
void idle_parked(Coordinator *c, ResidentRun *run, const Execution *execution);
// Notes for the runs that are to leave memory now.
void idle_add_ops(Coordinator *c, Turn *turn);
bool idle_is_crowded(const Coordinator *c);
int64_t idle_next_ms(const Coordinator *c); // when there will be such
// OP_NOTE_RELEASED or OP_NOTE_RELOADED from outside. False: it has been answered.
bool idle_take_request(Coordinator *c, Request *request);
void idle_apply(Coordinator *c, const Op *op);
// Its turn failed, and its owner is told so.
void idle_forget_request(Coordinator *c, const Op *op);

// ---- coordinator_modules.c ----
// The compiled script of a definition. Anything but OK and ERR_UNAVAILABLE is for good.
MUST_CHECK Status modules_get(Coordinator *c, int64_t definition, FlowModule **ret_module,
                              Diag *diag);
void modules_done(Coordinator *c);

// ---- coordinator_tasks.c ----
// Claims what is there; the last operation of a batch, so that it sees what the others queued.
void tasks_add_ops(Coordinator *c, Turn *turn);
bool tasks_can_claim(const Coordinator *c);
// The node leaves while tasks are still executing: whoever comes next may have them at once.
void tasks_release_all(Coordinator *c, Turn *turn);
// A turn whose answers will not come: what it claimed is left to its leases.
void tasks_forget_claims(Coordinator *c, const Turn *turn);
void tasks_apply_claimed(Coordinator *c, const Op *op);
void tasks_fill_result(Coordinator *c, Execution *execution, Turn *turn);
void tasks_apply_result(Coordinator *c, Execution *execution);
void tasks_apply_heartbeat(Coordinator *c, const Op *op);

// ---- coordinator_outcome.c ----
// A commit did not answer OK: sorts out who is told and what is tried again.
void outcome_failed(Coordinator *c, Turn *turn, Status status, const Diag *diag);
// Others think this node is dead and have taken its runs: it forgets them, and joins anew.
void outcome_fenced_off(Coordinator *c);
// The next failed turn to be submitted again, or NULL (not yet, or they turned out applied).
Turn *outcome_retry(Coordinator *c);
int64_t outcome_next_ms(const Coordinator *c); // when that, or a refusal, is due

// ---- coordinator_await.c ----
void awaits_init(Coordinator *c);
void awaits_done(Coordinator *c);
void awaits_ended(Coordinator *c, Str run_id, int64_t state);
void awaits_expire(Coordinator *c, int64_t now_ms);
// Tells all who wait that the engine is closing.
void awaits_refuse(Coordinator *c);
// Answers were lost: look each awaited run up.
void awaits_recheck(Coordinator *c);

// ---- coordinator_measure.c ----
// Tell those who measure.
void measure_ended(Coordinator *c, const EndedRun *ended, int64_t now_ms);
void measure_turn(Coordinator *c, const Execution *execution, const TurnCommit *commit);
void measure_tasks(Coordinator *c, const Turn *turn);
void measure_fired(Coordinator *c, int64_t fired_count);

// ---- coordinator.c ----
MUST_CHECK Status coordinator_join(Coordinator *c, Diag *diag);
Execution *execution_get(Coordinator *c);
void execution_put(Coordinator *c, Execution *execution);
Turn *turn_get(Coordinator *c);
void turn_put(Coordinator *c, Turn *turn);
Op *turn_add(Turn *turn, OpKind kind, Request *request, Execution *execution);
void request_answer(Coordinator *c, Request *request, Status status, const Diag *diag);
void notify(Coordinator *c, EngineEventKind kind, Str run_id, Str workflow, Str detail);
void turn_apply(Coordinator *c, Turn *turn);

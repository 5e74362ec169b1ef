// What the coordinator's files share.
#pragma once
#include "engine/coordinator/coordinator.h"
#include "engine/runners/flow.h"

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
    Str name;           // of a workflow; owned
    int64_t timeout_ms; // <= 0: never
} IdleTimeout;

// What the engine does by itself, beside keeping leases. [G2]
typedef enum OwnKind { OWN_FIRE, OWN_CLAIM, OWN_SWEEP, OWN_RELEASE, OWN_TASKS, OWN_COUNT } OwnKind;

typedef struct OwnWork {
    int64_t rest_until_ms; // [G4]
} OwnWork;

enum { REFUSED_REST_MS = 5000 }; // before something that the store refused for good is tried again
enum { DUE_AT_ONCE = 1 }; // next_due_ms when a firing was cut short: the moment itself is unknown

typedef enum NoticeKind {
    NOTICE_RELEASED,
    NOTICE_RELOADED,
    NOTICE_RESERVED,
    NOTICE_KIND_COUNT
} NoticeKind;

typedef struct NoticeBudget { // of one second
    int64_t began_at_ms;
    int64_t line_count;
    int64_t left_out_count; // runs without a line
} NoticeBudget;

typedef enum StoreHealth { STORE_IS_UP, STORE_IS_DOWN } StoreHealth;

struct Coordinator {
    Env *env;
    LeaseSecret lease_secret; // of this process
    Store *store;
    World *world;
    Logger *logger;
    CoordinatorConfig config;
    int64_t node;         // key of our NodeRow; 0 = not joined
    int64_t batch_number; // of the last batch prepared
    bool is_working;      // recover was called
    bool is_stopping;
    bool is_traced; // children are told their trace in any case

    StrMap runners;        // name -> RunnerEntry
    WorkflowSet *executes; // their names
    StrMap tasks;          // name -> TaskEntry
    VEC(Str) task_names;
    StrMap idle_timeouts; // name -> IdleTimeout

    FlowRunner flow_runner;
    Map modules; // definition key -> FlowModule: compiled once, shared by all its runs

    Residents residents;
    List requests; // not yet in a batch
    size_t request_count;
    List executed; // executions whose output is to be committed
    size_t executed_count;
    size_t batch_most;  // operations in the next batch: fewer after a refusal [O4], and [G5]
    size_t party_first; // who gets the odd place in the next batch [G2]
    int own_first;      // OwnKind that comes first in the next batch
    OwnWork own[OWN_COUNT];
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
    bool is_due_unknown;    // ask the store again
    int64_t suspect;        // key of the run that makes its last tries alone; 0 = none did yet
    bool has_unadopted;     // runs may be ours in the store that are not in memory
    int64_t adopt_at_ms;    // when to look for one that was dropped in vain; 0 = none was
    bool has_unclaimed;     // there may be ready runs that no claim under way has looked for
    int64_t claim_again_ms; // when to look whether the runs that were left to other nodes are
    int64_t left_until_ms;  // taken, and until when some are left; 0 = none
    bool has_tasks;         // tasks may be claimable
    bool has_heard;         // of some since the last claim of tasks was made
    bool was_window_full;   // the last claim of tasks left some that it had no room for
    int64_t first_queue;    // where the next claim of tasks begins: each queue gets its turn
    bool is_firing;         // a fire_due is in a batch
    int64_t firing_due_ms;  // when the first of what it fires was due
    bool is_claiming;

    NoticeBudget notices[NOTICE_KIND_COUNT];
    Arena scratch; // for loads; reset after each
    CoordinatorStats stats;
};

// ---- coordinator/runs.c ----
int64_t runs_room(const Coordinator *c); // for how many more that are active
// The store will not take this output (too large, a bad name …): the run fails with that reason, or
// is paused if what the store has of it is damaged.
void runs_refused(Coordinator *c, Execution *execution, Status status, const Diag *diag);
void runs_apply_commit(Coordinator *c, Execution *execution, Op *op);
void runs_apply_ready(Coordinator *c, const Turn *turn);
void runs_apply_ended(Coordinator *c, const Turn *turn);
void runs_apply_grown(Coordinator *c, const Turn *turn); // their readers are told
// A script used up its slice: it goes to the end of the queue. False when it has had enough; then
// its output says so.
bool runs_continue(Coordinator *c, Execution *execution);
// Whether the run is still that of this execution, as far as the store can tell.
bool runs_is_owned(Coordinator *c, const Execution *execution);
// Hands READY runs to the world.
void runs_dispatch(Coordinator *c);
// Takes up runs that the store says are ours but that are not in memory; has_unadopted while it
// cannot be asked.
void runs_adopt(Coordinator *c);
void runs_fill_children(Coordinator *c, Execution *execution);
// Fills the commit operation from an execution's output.
void runs_fill_commit(const Coordinator *c, Execution *execution, TurnCommit *commit);

// ---- coordinator/idle.c ----
// The run's turn has parked it: it becomes PARKED, until its time or the room is up.
void idle_parked(Coordinator *c, ResidentRun *run, const Execution *execution);
// Notes for the runs that are to leave memory now, at most `count`.
void idle_add_ops(Coordinator *c, Turn *turn, size_t count);
bool idle_is_crowded(const Coordinator *c);
int64_t idle_next_ms(const Coordinator *c); // when there will be such
// OP_NOTE_RELEASED or OP_NOTE_RELOADED from outside. False: it has been answered.
bool idle_take_request(Coordinator *c, Request *request);
void idle_apply(Coordinator *c, const Op *op);
// Its turn failed, and its owner is told so.
void idle_forget_request(Coordinator *c, const Op *op);
// Its turn was refused: nothing of it happened.
void idle_undo(Coordinator *c, const Op *op);

// ---- coordinator/notices.c ----
// Lines for the operator.
void notice_run(Coordinator *c, NoticeKind kind, Str run_id, Str workflow);
void notice_paused(Coordinator *c, const ResidentRun *run, const Execution *execution);
void notice_taken_over(Coordinator *c, int64_t count);
void notices_flush(Coordinator *c, int64_t now_ms);
int64_t notices_next_ms(const Coordinator *c); // when that has something to tell

// ---- coordinator/modules.c ----
// The compiled script of a definition. Anything but OK and ERR_UNAVAILABLE is for good.
MUST_CHECK Status modules_get(Coordinator *c, int64_t definition, FlowModule **ret_module,
                              Diag *diag);
void modules_done(Coordinator *c);

// ---- coordinator/tasks.c ----
// Claims what is there; the last operation of a batch, so that it sees what the others queued.
void tasks_add_claim(Coordinator *c, Turn *turn);
void tasks_add_heartbeats(Coordinator *c, Turn *turn);
bool tasks_can_claim(const Coordinator *c);
// The node leaves while tasks are still executing: whoever comes next may have them at once. False
// while there are more than found room.
bool tasks_release(Coordinator *c, Turn *turn);
// A turn whose answers will not come: what it claimed is left to its leases.
void tasks_forget_claims(Coordinator *c, const Turn *turn);
void tasks_apply_claimed(Coordinator *c, const Op *op);
void tasks_fill_result(Coordinator *c, Execution *execution, Turn *turn);
void tasks_apply_result(Coordinator *c, Execution *execution, const Op *op);
// The store will not take its result: it fails with that reason.
void tasks_refused(Coordinator *c, Execution *execution, Status status, const Diag *diag);
void tasks_apply_heartbeat(Coordinator *c, const Op *op);

// ---- coordinator/gather.c ----
size_t turn_room(const Turn *turn); // how many more operations it takes
Op *turn_add(Turn *turn, OpKind kind, Request *request, Execution *execution);
// The next batch, or NULL when there is nothing to commit.
Turn *turn_gather(Coordinator *c);
void executed_add(Coordinator *c, Execution *execution); // its output waits for a batch
void pace_good(Coordinator *c, const Turn *turn);        // its commit answered OK [G5]
int64_t own_next_ms(const Coordinator *c); // when the engine has something to do by itself
// The store refused it, as a part of a batch or alone. [G4]
void own_refused(Coordinator *c, const Op *op);
void own_rest(Coordinator *c, OpKind kind);
// Its turn was refused: nothing of it happened.
void own_undo(Coordinator *c, const Op *op, int64_t now_ms);

// ---- coordinator/outcome.c ----
// A commit did not answer OK: sorts out who is told and what is tried again.
void outcome_failed(Coordinator *c, Turn *turn, Status status, const Diag *diag);
// Others think this node is dead and have taken its runs: it forgets them, and joins anew.
void outcome_fenced_off(Coordinator *c);
// The next failed turn to be submitted again, or NULL (not yet, or they turned out applied).
Turn *outcome_retry(Coordinator *c);
int64_t outcome_next_ms(const Coordinator *c); // when that, or a refusal, is due

// ---- coordinator/await.c ----
void awaits_init(Coordinator *c);
void awaits_done(Coordinator *c);
void awaits_ended(Coordinator *c, Str run_id, int64_t state);
// Tells all who wait that the engine is closing.
void awaits_refuse(Coordinator *c);
// Answers were lost: look each awaited run up.
void awaits_recheck(Coordinator *c);

// ---- coordinator/measure.c ----
// Tell those who measure.
void measure_ended(Coordinator *c, const EndedRun *ended, int64_t now_ms);
void measure_turn(Coordinator *c, const Execution *execution, const Op *op);
void measure_tasks(Coordinator *c, const Turn *turn);
void measure_fired(Coordinator *c, int64_t fired_count);

// ---- coordinator.c ----
int64_t fires_at_ms(const Coordinator *c); // when the next timer fires [C5]; 0 = there is none
MUST_CHECK Status coordinator_join(Coordinator *c, Diag *diag);
Execution *execution_get(Coordinator *c);
void execution_put(Coordinator *c, Execution *execution);
Turn *turn_get(Coordinator *c);
void turn_put(Coordinator *c, Turn *turn);
void look_at_left(Coordinator *c, int64_t now_ms);
void request_answer(Coordinator *c, Request *request, Status status, const Diag *diag);
void notify(Coordinator *c, EngineEventKind kind, Str run_id, Str workflow, Str detail);
void turn_apply(Coordinator *c, Turn *turn);

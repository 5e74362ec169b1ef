// Sim: many engine nodes on one virtual clock over one store, with faults, from one seed.
//
// A seed decides everything: which node acts next, what the clients ask for, which store call
// fails and how, who crashes, pauses or jumps in time. First a safety phase with faults; then
// faults stop and every run must finish (liveness). What workflows observe is checked as it
// happens; what the store says is checked at the end.
//
//   [sim-1] What a durable call answered once it answers for ever (per run and incarnation).
//   [sim-2] An event or signal is consumed at most once, and an acknowledged one is consumed, still
//        pending, or accounted for by its policy.
//   [sim-3] A terminal state never changes.
//   [sim-4] Timers do not fire early.
//   [sim-5] A child or task is started once.
//   [sim-6] In the end nothing is stuck, and the store's own verification passes.
//   [sim-10] A task that a cancelled run queued for its cleanup is done, unless that was rewound.
//         It is a cleanup if the run had been told that it is cancelled.
//   [sim-schedules-7], [sim-schedules-8] Ticks of schedules: see schedules.c.   [flows-9] Logs of
//   scripts: see flows.c.
#pragma once
#include "abide.h"
#include "engine/coordinator/coordinator.h"

typedef struct Sim Sim;

// ---- the store as one node sees it ----

typedef enum Fault {
    FAULT_NONE,
    FAULT_BEFORE,       // error, nothing happened
    FAULT_AFTER,        // committed, then error: the outcome is unknown to the caller
    FAULT_CRASH_BEFORE, // the node dies at this call
    FAULT_CRASH_AFTER   // the node dies when it was done
} Fault;

// An operation that the store refuses for good, and every batch with it, until it stands alone.
typedef struct Guilty {
    OpKind kind; // 0 = nobody is
    int64_t key; // of a run
    char id[64]; // of a task, or what a client named
} Guilty;

// What a node may have at a time; drawn from the seed with the limits.
typedef struct SimRoom {
    int64_t active_runs, parked_runs, first_tasks, max_tasks;
} SimRoom;

typedef struct SimStore {
    Store base;
    Store *inner;
    struct SimNode *node;
} SimStore;

// ---- nodes ----

typedef struct SimEnv {
    Env base;
    Sim *sim;
    int64_t skew_ms;
    uint64_t random_state;
} SimEnv;

typedef struct SimNode {
    World world;
    Sim *sim;
    int number;
    SimEnv env;
    SimStore store;
    Coordinator *coordinator; // NULL while it is down
    List executing;           // Executions not yet performed
    List performed;           // performed, not yet handed back
    Commit *commit;           // prepared, not yet finished
    bool is_crashed;          // a store call said so; it is torn down at once
    int64_t paused_until_ms;
    bool is_recovered;
    bool has_reader; // somebody follows whatever run it is asked about
} SimNode;

// ---- the whole ----

enum { SIM_NODES_MAX = 8, SIM_WORKFLOWS_MAX = 16, SIM_FLOWS_MAX = 32 };

typedef struct SimOptions {
    uint64_t seed;
    int node_count;
    int run_count;      // runs that clients start
    int schedule_count; // schedules of either sort; see schedules.c
    int flow_count;     // scripts generated from the seed; see generate.c
    int64_t fault_pct;  // share of store calls that fail, in the safety phase
    const char *limits; // as limits_read takes them; NULL = drawn from the seed
    bool has_crashes;
    bool is_traced;
} SimOptions;

struct Sim {
    SimOptions options;
    int64_t now_ms; // virtual
    uint64_t random_state;
    bool has_faults; // the safety phase
    Store *store;    // the one truth
    SimNode nodes[SIM_NODES_MAX];
    NativeRunner runners[SIM_WORKFLOWS_MAX];
    int64_t store_calls;   // commits so far
    int64_t crash_at_call; // exhaustive mode: the commit at which to crash; 0 = never
    Fault crash_kind;
    struct Ledger *ledger;
    struct SimFlows *flows; // the generated ones
    char failure[512];      // empty while all is well
    Guilty guilty;
    SimRoom room; // all 0 = the usual
    int64_t crash_count, fault_count, event_count;
    int64_t refusal_count;  // operations that were refused alone
    int64_t left_count;     // batches that left runs to other nodes
    int64_t affinity_count; // runs that the node of their affinity then claimed
    int64_t reserved_count; // runs met by a node that lacks their workflow
};

typedef struct SimCounts {
    int64_t store_calls, faults, crashes, left, affinity, reserved, refusals; // as in Sim
} SimCounts;

uint64_t sim_random(Sim *sim, uint64_t below); // 0 … below - 1
bool sim_chance(Sim *sim, int64_t percent);
void sim_fail(Sim *sim, const char *format, ...) __attribute__((format(printf, 2, 3)));
static inline bool sim_has_failed(const Sim *sim) { return sim->failure[0] != 0; }

// node.c
void node_init(Sim *sim, SimNode *node, int number);
void node_start(SimNode *node);
void node_crash(SimNode *node);
// Does one small thing; true when there was something to do.
bool node_act(SimNode *node);
int64_t node_next_wake_ms(SimNode *node);

// store.c
void sim_store_init(SimStore *store, SimNode *node, Store *inner);

// ledger.c: what workflows and clients saw, and the checks on it
struct Ledger *ledger_new(Sim *sim);
void ledger_free(struct Ledger *ledger);
void ledger_observe(Sim *sim, Str run_id, int64_t incarnation, const char *what, Str value);
void ledger_consume(Sim *sim, Str event, Str run_id, int64_t place);
void ledger_acknowledge(Sim *sim, Str event);
// A client wants it removed from its topic; then: it was told that it is gone.
void ledger_want_removed(Sim *sim, Str event);
void ledger_note_removed(Sim *sim, Str event);
void ledger_terminal(Sim *sim, Str run_id, int64_t state);
void ledger_check(Sim *sim); // at the end

// workload.c
extern const char *const sim_workflow_names[];
void sim_workflows_define(Sim *sim); // by name, as registering does
void sim_register(SimNode *node);

// schedules.c: the checks at the end
void schedules_check(Sim *sim);

// flows.c: scripts, written by hand and generated
void sim_flows_done(Sim *sim);
int sim_flow_count(void); // of those written by hand
const char *sim_flow_name(int number);
const char *sim_generated_name(const Sim *sim, int number);
// The one generated under that name, or NULL.
const struct GeneratedFlow *sim_flow_generated(const Sim *sim, Str name);
void sim_flows_define(Sim *sim);
void sim_flow_define(Sim *sim, Str name, Str source); // one more
void sim_flows_check(Sim *sim);                       // at the end

// limits.c
extern const SimRoom sim_room_usual;
// Sets limits and room for a history.
void sim_limits_begin(Sim *sim);
void sim_limits_end(void);

// run.c
bool sim_run(const SimOptions *options, char ret_failure[512], SimCounts *counts); // adds to them
// scenario.c: every crash point of every small scenario. Answers how many were tried, or < 0.
int64_t sim_exhaustive(bool is_traced, char ret_failure[512]);
// idle.c: every history of up to `longest` happenings. Answers how many were played, or < 0.
int64_t sim_idle_exhaustive(int longest, bool is_traced, char ret_failure[512]);

// Resident runs: what this node has in memory of the runs it owns or owned a moment ago.
//
//   [resident-1] Nothing here is a copy of the run's row: there is what never changes of a run, the
//        claim as the store last gave it, and what executes. All of it can be dropped: the store
//        knows everything that is here.
//   [resident-2] A run is in exactly one phase; only READY, EXECUTING and COMMITTING ones are
//        owned.
//   [resident-3] Only PARKED runs are dropped to make room.
//   [resident-4] Who asks from other threads whether a parked run is in memory is told of each
//        change (on_parked), so that nobody has to look in here.
//   [resident-5] What executes is what the log says up to last_seq. Every change of a run that
//        matters to its execution is an entry of its log: so a claim with a log that ends where it
//        should finds nothing here out of date, and any other is followed by loading (is_stale).
#pragma once
#include "base/containers/heap.h"
#include "base/containers/list.h"
#include "base/containers/map.h"
#include "base/containers/vec.h"
#include "engine/runners/runner.h"

enum { FIRST_EPOCH = 1 }; // of the claim that begins a run: there was nothing to be brought back

typedef enum Phase {
    PHASE_READY,      // owned, queued to be executed
    PHASE_EXECUTING,  // owned, on an executor's thread
    PHASE_COMMITTING, // owned, its output is in a batch
    PHASE_PARKED,     // not owned: suspended, kept only to be quick when it wakes
    PHASE_WATCHED,    // as PARKED, but somebody reads its stream: it is not released
    PHASE_RELEASING,  // as PARKED; a batch on its way notes that it leaves memory
    PHASE_SUSPECT,    // owned; makes its last tries alone, and waits until another one is through
    PHASE_COUNT
} Phase;

typedef struct ResidentRun {
    List link; // in the list of its phase
    Phase phase;
    int64_t key;
    RunClaim claim; // ours, or the last one we had; a turn of ours that was committed counts in it
    bool is_fenced; // the claim is not ours any more: what comes of the execution is dropped
    int64_t kind;   // RunKind
    Str id;         // strings are owned
    Str workflow;
    Str input;
    Str parent_id;
    Str tags;
    Str snapshot;               // flow runs; not kept while the machine is here
    void *machine;              // flow runs: the VM in memory; NULL while a turn has it
    VEC(LogRow) deliveries;     // flow runs: what the script has not seen yet; data is owned
    bool is_stale;              // memory may be behind the store: load before the next turn
    VEC(LogRow) checkpoints;    // [p] = the one at position p; name and data are owned
    struct JournalIndex *index; // code: of many checkpoints; NULL = there are few
    int64_t last_seq;           // of the log as of the last commit: tells whether this is all
    int64_t awaited_task;       // position of the task that is all a parked script waits for, or
                                // NO_POSITION
    int64_t next_attempts;      // failed attempts of the step at the next position
    size_t size;                // bytes, about
    size_t machine_size;        // of these, the VM's
    HeapNode release;           // .at: when it is released, or looked at again (ms)
    int64_t parked_at_ms;
    int64_t idle_timeout_ms; // how long it may stay parked in memory; 0 = until room is needed
    bool has_work;           // parked with a task or a backoff under way
    bool is_absent;          // nothing of it was in memory when it woke
    bool is_reloaded;        // it was brought back from the store; its next commit says so
    uint64_t woken_ns;       // monotonic; when it was woken; 0 = it is new or goes on by itself
} ResidentRun;

typedef struct Residents {
    Map by_key;
    List phases[PHASE_COUNT]; // oldest first
    size_t counts[PHASE_COUNT];
    size_t total_size;
    size_t releasing_size; // of these, runs in phase RELEASING
    Heap releases;         // parked ones by `release`
    Map evicted;           // keys of runs that were dropped without a note, as far as is known
    // [resident-4] May be NULL.
    void (*on_parked)(void *context, int64_t run, bool is_parked);
    void *on_parked_context;
} Residents;

static inline bool phase_is_parked(Phase phase) {
    return phase == PHASE_PARKED || phase == PHASE_WATCHED || phase == PHASE_RELEASING;
}

// It is ours, under that epoch.
static inline bool resident_has_claim(const ResidentRun *run, int64_t epoch) {
    return !run->is_fenced && run->claim.epoch == epoch;
}

void residents_init(Residents *residents);
void residents_done(Residents *residents);
ResidentRun *residents_get(const Residents *residents, int64_t key); // NULL when absent
// A new one in phase READY. Copies what it is given; of the row what never changes, and the claim.
ResidentRun *residents_add(Residents *residents, const RunRow *row, Str input, Str parent_id);
void residents_remove(Residents *residents, ResidentRun *run);
// Drops a parked run without a note: what the store says about its place is not changed.
void residents_evict(Residents *residents, ResidentRun *run);
// Whether the run of that key left so. It is not known any more afterwards.
bool residents_take_evicted(Residents *residents, int64_t key);
void residents_move(Residents *residents, ResidentRun *run, Phase phase);
// Of a parked run: when it is to be looked at.
void residents_schedule(Residents *residents, ResidentRun *run, int64_t at_ms);
ResidentRun *residents_find_parked(const Residents *residents, Str id); // looks at each
static inline size_t residents_owned(const Residents *residents) {
    return residents->counts[PHASE_READY] + residents->counts[PHASE_EXECUTING] +
           residents->counts[PHASE_COMMITTING] + residents->counts[PHASE_SUSPECT];
}

// For how many more that are owned, of `most`.
static inline int64_t residents_room(const Residents *residents, int64_t most) {
    int64_t owned = (int64_t)residents_owned(residents);
    return owned < most ? most - owned : 0;
}
// The keys of the first runs of a phase, at most `max`, in their order.
size_t residents_first(const Residents *residents, Phase phase, size_t max, int64_t *ret_keys);

// Adds a checkpoint or failed attempt from the log, for flow runs a delivery; other entries are
// ignored.
void resident_add_entry(Residents *residents, ResidentRun *run, const LogRow *entry);
// Flow runs: the VM after its turn; the snapshot it began with is forgotten.
void resident_set_machine(Residents *residents, ResidentRun *run, void *machine);
// Flow runs: the script has seen its deliveries.
void resident_clear_deliveries(Residents *residents, ResidentRun *run);
// Continue-as: fresh state.
void resident_restart(Residents *residents, ResidentRun *run, Str input);
// The view takes the machine over.
void resident_view(ResidentRun *run, RunView *ret_view);

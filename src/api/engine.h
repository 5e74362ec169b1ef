// The engine as the layers above the C library see it: its clock, its ids, the way to the
// coordinator, and what it knows about its runs.
//
// include/abide.h is for programs: text in, text out, one call at a time. The server needs more of
// the same engine (operations that do not block, awaits that can be called off, everything that
// happens as it happens), and finds it here. Nobody outside src/api looks inside an abide_engine.
//
//   [engine-1] From any thread, unless it says otherwise.
//   [engine-2] The store is for reading only: whatever changes it goes to the coordinator as a
//        request.
#pragma once
#include "abide.h"
#include "api/driver/turns.h"
#include "base/text/id.h"
#include "engine/coordinator/coordinator.h"
#include "json/mask.h"

// ---- life ----

// abide_open and abide_recover, for those who act on a Status.
MUST_CHECK Status engine_open(const char *url, const abide_options *options,
                              abide_engine **ret_engine, Diag *diag);
MUST_CHECK Status engine_recover(abide_engine *engine, abide_recovery *ret_report, Diag *diag);

// ---- clock and ids ----

int64_t engine_now_ms(const abide_engine *engine);
bool engine_is_time_virtual(const abide_engine *engine); // see abide_clock_set
uint64_t engine_monotonic_ns(const abide_engine *engine);
Env *engine_env(const abide_engine *engine); // for those who need randomness too
// A new id "prefix_…", in `text`.
Str engine_new_id(abide_engine *engine, const char *prefix, IdText *text);

// ---- reading and changing ----

Store *engine_store(const abide_engine *engine); // [engine-2]
// Whether the store takes what is written: ERR_UNAVAILABLE while it is away, ERR_FULL while it is
// full. To be asked by somebody whom it has just answered.
MUST_CHECK Status engine_store_status(abide_engine *engine);
// Submits the operation and waits for its answer.
MUST_CHECK Status engine_request(abide_engine *engine, Request *request);
// The same without waiting: `done` is called once, on the coordinator's thread, or on this one when
// the engine has been shut down or the store is away.
void engine_submit(abide_engine *engine, Request *request);
// Many that come together share a commit as far as one reaches.
void engine_submit_all(abide_engine *engine, Request *requests, size_t count);
// Calls `done` when the run has ended, or at the await's deadline.
void engine_submit_await(abide_engine *engine, Await *await);
// Nobody waits any more: `done` is called soon. The owner keeps the await until then.
void engine_call_off(abide_engine *engine, Await *await);
// Takes it back; to be called before an await that was called off is freed. Harmless otherwise.
void engine_forget_call_off(abide_engine *engine, Await *await);

// ---- code of other processes ----

// Whether nothing executes here or is about to, turns on the board aside that no process is there
// to take. Then *ret_next_ms is when something is due; 0 = nothing is.
bool engine_is_resting(abide_engine *engine, int64_t *ret_next_ms);

TurnBoard *engine_turns(abide_engine *engine);
// Runs of that version are claimed from now on; or no longer, soon.
void engine_serve_code(abide_engine *engine, int64_t definition);
void engine_unserve_code(abide_engine *engine, int64_t definition);

// ---- following along ----

// Is told of everything the engine does, after the commit that records it.
typedef struct EngineWatcher {
    void (*notice)(void *context, const EngineEvent *event);
    void *context;
    // Whether somebody follows the run's stream, so that it stays in memory; may be NULL.
    bool (*has_reader)(void *context, Str run_id);
} EngineWatcher;
// One watcher at a time; NULL = nobody. Its functions are called on the coordinator's thread.
void engine_watch(abide_engine *engine, EngineWatcher *watcher);
// From now on runs tell the runs they start which trace they belong to.
void engine_trace_children(abide_engine *engine);
// Comes back when the coordinator's thread has come round: it is alive.
void engine_wait_for_round(abide_engine *engine);

// ---- what it knows ----

// This process as one of the nodes of its store, at this moment.
typedef struct EngineNode {
    int64_t key; // 0 = it has not joined, or has lost its lease and is about to join anew
    int64_t resident_count, active_count;
} EngineNode;
EngineNode engine_node(abide_engine *engine);
// The same two counts as of a moment ago, without waiting for the coordinator.
typedef struct EngineCounts {
    size_t resident_count, active_count;
} EngineCounts;
EngineCounts engine_counts(abide_engine *engine);
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
// What `config.secret` of a version hides of its runs' data, for as long as the engine lives;
// NULL = nothing.
const Mask *engine_mask(abide_engine *engine, int64_t definition);
typedef struct EngineMasks {
    const Mask *const *items;
    size_t count;
} EngineMasks;
// Those of all versions, for data that belongs to no run: the arena has the list.
EngineMasks engine_common_masks(abide_engine *engine, Arena *arena);
// The JSON without what they hide. `name`: what the whole is called; null = nothing.
Str engine_hide(const EngineMasks *masks, Str name, Str json, Arena *arena);
bool engine_is_shared(const abide_engine *engine); // other nodes may work on the store
int64_t engine_run_retention_ms(const abide_engine *engine);
bool engine_isolates_children(const abide_engine *engine); // abide_options
int64_t engine_cancel_grace_ms(const abide_engine *engine);
int64_t engine_default_consume(const abide_engine *engine); // TopicConsume

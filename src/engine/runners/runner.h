// Runner: interprets one run for one turn. It knows nothing of other runs, stores or events.
//
//   [runner-1] A runner reads its RunView and writes its TurnOutput; nothing else changes.
//   [runner-2] It may run on any thread, one turn of a run at a time.
//   [runner-3] Everything in the output lives in the arena it was given, until the turn is
//        committed.
#pragma once
#include "base/containers/vec.h"
#include "base/env.h"
#include "engine/runners/retry.h"
#include "store/batch.h"

// What a runner sees of a run; read-only while the turn lasts.
typedef struct RunView {
    int64_t key;
    Str id;
    Str workflow;
    int64_t definition; // 0 for C workflows
    Str input;          // null = none
    Str parent_id;      // null = none
    int64_t incarnation;
    int64_t attempts; // executions in a row that were lost before this one
    int64_t retries;  // attempts of the whole run that failed before this one
    int64_t started_at_ms;
    bool is_cancel_wanted;
    // checkpoints[p] is the one at position p; none is missing.
    const LogRow *checkpoints;
    size_t checkpoint_count;
    const struct JournalIndex *index; // of the checkpoints of code; NULL = there are few
    // Failed attempts of the step that comes next, as far as they are recorded.
    int64_t next_attempts;
    // Flow runs.
    struct FlowModule *module;
    Str snapshot;  // the parked VM; null = not begun
    void *machine; // the same in memory, if it is there; the turn takes it over
    Str tags;      // joined by '\n'
    int64_t last_seq;
    const LogRow *deliveries; // LOG_WAIT entries that the script has not seen
    size_t delivery_count;
} RunView;

typedef struct TurnOutput {
    TurnNext next;
    VEC(LogRow) log;
    VEC(RunSpec) children;
    VEC(TaskSpec) tasks;
    VEC(EventSpec) events;
    VEC(StateSpec) states; // one per key
    WaitSet waits;
    Str snapshot;
    int64_t place; // where that stands (flow/snapshot/place.h)
    int64_t keep_snapshots;
    int64_t idle_timeout_ms; // flow runs: see FlowConfig
    Str result;              // result, error object or next input, depending on `next`
    RetryPolicy retry;       // of the whole run, in case it has failed
    bool is_final;           // NEXT_FAIL: a further attempt would make no sense
    TurnParticipant participant;
    void *participant_context;
    void *machine;      // flow runs: kept in memory for the next turn; NULL = none
    bool is_unreadable; // what was kept of the run cannot be read: `result` says why
    bool is_preempted;  // not at its end: execute it again with this same output
} TurnOutput;

void turn_output_init(TurnOutput *output);
void turn_output_done(TurnOutput *output);
// Empties it and keeps the memory.
void turn_output_clear(TurnOutput *output);

typedef struct Runner Runner;
typedef struct RunnerOps {
    void (*turn)(Runner *runner, const RunView *view, Env *env, Arena *arena, TurnOutput *output);
} RunnerOps;
struct Runner { // first member of every implementation
    const RunnerOps *ops;
};

// An id for something that a turn makes: the same whenever the turn is repeated. `what` tells it
// from everything else.
Str derived_id(Arena *arena, const char *prefix, Str what);
// The same for a task at that position. Tasks of one run, and of runs that were made together, lie
// side by side in the store's index: "task_", the run's id, "n", the position.
Str task_id_at(Arena *arena, const RunView *view, int64_t position);

// `text` as a JSON string with its quotes.
Str json_quote(Arena *arena, Str text);
// Error objects as every layer writes them: {"type":"TimeoutError","message":"…"}.
Str error_object(Arena *arena, Str type, Str message);

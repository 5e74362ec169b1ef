// Flow runs: a turn restores the VM (or goes on with the one in memory), settles what came,
// executes until the script waits, and takes a snapshot. Nothing is replayed.
//
//   [flow-1] All effects of a turn are in its output, and leave with its commit or not at all.
//   [flow-2] A snapshot is written at every wait, so a run may be dropped from memory at any time.
//   [flow-3] Only what the script still waits for is in the wait set: what lost a race is not.
//   [flow-4] A snapshot that cannot be read does not end the run: it is held for a person with the
//        reason, as it is, and goes on from there when it is resumed and can be read.
#pragma once
#include "engine/runners/runner.h"
#include "flow/flow.h"

// Who is told what conditions of scripts (Invariant, Always, Eventually) were found to be.
typedef struct FlowLooker {
    void (*check)(void *context, const RunView *view, const FlowCheck *check);
    void *context;
} FlowLooker;

typedef struct FlowRunner {
    Runner base;
    FlowLimits limits;
    int64_t keep_ms;        // retention of the runs it starts
    int64_t keep_snapshots; // beginnings of turns kept per run, unless its config says otherwise
    bool is_child_failure_isolated; // a child that failed fulfils its promise with {error: …}
    const FlowLooker *looker;       // NULL: nobody looks
} FlowRunner;
void flow_runner_init(FlowRunner *runner, int64_t keep_ms, int64_t keep_snapshots);
// What RunView.machine and TurnOutput.machine point at, when it is no longer needed.
void flow_runner_drop(void *machine);
size_t flow_runner_machine_size(const void *machine); // bytes; NULL is fine

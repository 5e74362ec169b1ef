// What the files of the sandbox share.
#pragma once
#include "base/containers/vec.h"
#include "engine/runners/flow.h"
#include "engine/runners/flow_machine.h"
#include "engine/sandbox/sandbox.h"
#include "json/mask.h"
#include "json/write.h"

typedef struct SandboxEffect { // what a turn did, in order
    int64_t at_ms;
    LogKind kind; // LOG_LINE, LOG_STREAM, LOG_EMIT, LOG_TASK, LOG_CHILD
    Str name;     // level, type, topic, task or workflow
    Str json;     // text, value, payload or input
} SandboxEffect;

typedef enum SandboxEnd {
    SANDBOX_WAITS,
    SANDBOX_COMPLETED,
    SANDBOX_FAILED,
    SANDBOX_CANCELLED,
    SANDBOX_CONTINUED, // as a new incarnation
    SANDBOX_STOPPED,   // [sandbox-2]
} SandboxEnd;

typedef struct Sandbox {
    const SandboxRun *what;
    Arena *arena;
    RunView view;
    FlowModule *module;  // of the view; owned
    const Mask *mask;    // of its workflow; NULL = nothing is hidden
    int64_t began_at_ms; // where its clock begins
    FixedEnv env;
    FlowRunner runner;
    TurnOutput output;
    VEC(SandboxEffect) effects;
    VEC(StateSpec) states;
    LogRow *deliveries; // room for LIMIT_WAITS_PER_RUN
    size_t delivery_count;
    int64_t turns;
    uint64_t instructions; // of the VM, before the first turn
    SandboxEnd end;
    Str result;         // or error, or the next input
    const char *reason; // why it was stopped
    Str before, after;  // flow_vm_inspect; null when it stood nowhere
} Sandbox;

// Fills view, module and began_at_ms. Codes: those of sandbox_try.
MUST_CHECK Status sandbox_copy(Sandbox *self, Diag *diag);
// The name of what a wait is for: of a task or child that, not its id.
Str sandbox_wait_name(const Sandbox *self, const WaitItem *item);
Str sandbox_report(Sandbox *self);

// Host: the one interface by which a VM reaches the world.
//
// The VM calls these functions during flow_vm_run; none may call back into the VM. Payloads are
// JSON text that is valid during the call only. What has an outcome later is an awaitable: the VM
// numbers it (dense from 1 within a run, never reused), keeps its promise, and the embedder
// settles it by flow_vm_settle before a later flow_vm_run.
//
//   [flow-host-1] `start` answering anything but OK makes the script's call throw an Error with the
//        Diag's message; nothing was started then.
//   [flow-host-2] Every function pointer may be NULL: the call then throws "not available here".
//        Those of `check` do nothing instead.
#pragma once
#include "base/diag.h"
#include "base/text/str.h"
#include <stdbool.h>
#include <stdint.h>

typedef enum FlowAwaitKind { // stable: in snapshots
    FLOW_AWAIT_NONE,
    FLOW_AWAIT_TASK,     // Task.run: name, input, options
    FLOW_AWAIT_TIMER,    // Timer.delay / Task.delay / Timer.until: at_ms or delay_ms
    FLOW_AWAIT_SIGNAL,   // Signal.next / Signal.when: name, options {timeout}
    FLOW_AWAIT_EVENT,    // Event.wait: topic, options {timeout, filter}
    FLOW_AWAIT_WORKFLOW, // Workflow.run: name, input, options
    FLOW_AWAIT_LOOK,     // Always, Eventually: the VM's own; no host starts or settles it
    FLOW_AWAIT_COUNT
} FlowAwaitKind;

typedef struct FlowStart {
    FlowAwaitKind kind;
    uint32_t id;      // the awaitable's number
    Str name;         // task, signal, topic, workflow; null for timers
    Str input_json;   // null when the script gave none (undefined)
    Str secrets_json; // tasks: [[name, prefix, member or index…]…], where secrets belong in the
                      // input, which has masks there; null = nowhere
    Str options_json; // null when the script gave none; names and values fit check/api.h
    int64_t delay_ms; // timers with a duration; -1 otherwise
    int64_t at_ms;    // Timer.until; -1 otherwise
    int64_t timeout_ms; // Signal.when, Event.wait with a timeout; -1 otherwise
} FlowStart;

typedef enum FlowEffectKind {
    FLOW_EFFECT_EMIT,   // Event.emit: name = topic, json = payload
    FLOW_EFFECT_STREAM, // Stream.write: name = type (null when none), json = value
    FLOW_EFFECT_STATE,  // State.set: name = key, json = value
    FLOW_EFFECT_LOG,    // console.*: name = "log", "warn", "error", "info", "debug"; json = text
} FlowEffectKind;

typedef struct FlowEffect {
    FlowEffectKind kind;
    Str name;
    Str json; // for FLOW_EFFECT_LOG: the finished line, not JSON
} FlowEffect;

typedef enum FlowCheckKind {
    FLOW_CHECK_INVARIANT,  // true now
    FLOW_CHECK_ALWAYS,     // now and at every later wait, and at the end
    FLOW_CHECK_EVENTUALLY, // at one of them
} FlowCheckKind;

typedef struct FlowCheck { // what a condition of the script was found to be
    FlowCheckKind kind;
    Str name;
    bool is_true;
} FlowCheck;

typedef struct FlowHost FlowHost;
typedef struct FlowHostOps {
    // Begins what the script asked for. `ret_handle_id`: text for the handle's `.id` (a task id
    // that outsiders know); leave it null for the awaitable's number.
    Status (*start)(FlowHost *host, const FlowStart *start, Str *ret_handle_id, Diag *diag);
    Status (*effect)(FlowHost *host, const FlowEffect *effect, Diag *diag);
    // State.get: the JSON last set; null Str when the key is unknown.
    Status (*state_get)(FlowHost *host, Str key, Str *ret_json, Diag *diag);
    // Workflow.start: an independent run; answers its id.
    Status (*start_run)(FlowHost *host, const FlowStart *start, Str *ret_run_id, Diag *diag);
    // Context: a JSON object {runId, workflow, version, attempt, …}.
    Status (*context)(FlowHost *host, Str *ret_json, Diag *diag);
    int64_t (*now_ms)(FlowHost *host);
    uint64_t (*random_u64)(FlowHost *host);
    // Invariant, Always, Eventually. NULL: nobody looks, so the calls do nothing and keep nothing.
    void (*check)(FlowHost *host, const FlowCheck *check);
} FlowHostOps;

struct FlowHost { // first member of every implementation
    const FlowHostOps *ops;
};

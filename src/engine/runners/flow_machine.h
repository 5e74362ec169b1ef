// FlowMachine: a script's VM together with what the engine must know about it between turns.
//
// The VM numbers what it waits for; this keeps what each number means (which signal, until when,
// which task), because that must survive in the snapshot beside the VM's own state.
//
//   [flow-machine-1] A snapshot is self-contained: table and VM in one string, with a version in
//        front.
//   [flow-machine-2] An awaitable stays in the table until it is settled. Places of settled ones
//        are closed when they are half of the table: a thousand results that come together cost a
//        thousand steps, not a thousand times the table.
#pragma once
#include "base/containers/vec.h"
#include "base/env.h"
#include "engine/runners/retry.h"
#include "flow/flow.h"
#include "model/waits.h"

typedef struct FlowPending { // one awaitable; strings are owned by the machine
    bool is_settled;         // an empty place: only `id` counts
    WaitKind kind;
    int64_t id;             // the VM's number for it
    int64_t deadline_at_ms; // timers and time-outs; 0 = none
    int64_t since_ms;       // when the script asked for it
    Str name;               // signal, topic, task or workflow
    Str target_id;          // tasks and children: their id
    Str filter;             // events
} FlowPending;

typedef struct FlowMachine {
    FlowVm *vm;
    VEC(FlowPending) pending;         // ascending by id
    size_t settled_count;             // empty places in it
    VEC(struct FlowStateEntry) state; // State.set: what the script may get back
    int64_t keep_snapshots;           // of its run; not part of the snapshot
    int64_t idle_timeout_ms;          // likewise; see FlowConfig
    RetryPolicy retry;                // likewise
} FlowMachine;

typedef struct FlowStateEntry {
    Str key, json; // owned
} FlowStateEntry;

void flow_machine_free(FlowMachine *machine); // NULL is fine
FlowPending *flow_machine_find(FlowMachine *machine, int64_t id);
// Copies the strings of `pending`.
void flow_machine_add(FlowMachine *machine, const FlowPending *pending);
void flow_machine_remove(FlowMachine *machine, int64_t id);
void flow_machine_set_state(FlowMachine *machine, Str key, Str json);
Str flow_machine_get_state(const FlowMachine *machine, Str key); // null = unknown

MUST_CHECK Status flow_machine_start(const FlowVmOptions *options, FlowMachine **ret_machine,
                                     Diag *diag);
MUST_CHECK Status flow_machine_snapshot(FlowMachine *machine, Buf *ret_bytes, Diag *diag);
// Whether the bytes can be read at all: their form, versions and checksum. That they go with the
// code they are restored to is for flow_machine_restore to find out.
MUST_CHECK Status flow_machine_check(Str bytes, Diag *diag);
// The VM's part of a snapshot, without looking at the rest.
MUST_CHECK Status flow_machine_vm_bytes(Str bytes, Str *ret_bytes, Diag *diag);
MUST_CHECK Status flow_machine_restore(Str bytes, const FlowVmOptions *options,
                                       FlowMachine **ret_machine, Diag *diag);

// Flow: the workflow language, as the rest of the code base sees it.
//
//   source --flow_compile--> FlowModule --flow_vm_new--> FlowVm --flow_vm_run--> outcome
//                                                  parked: flow_snapshot_write / _read
//
// A FlowModule is immutable and may be shared by threads; a FlowVm belongs to one thread at a time.
#pragma once
#include "base/arena.h"
#include "base/containers/buf.h"
#include "base/diag.h"
#include "flow/host.h"
#include "flow/limits.h"
#include <stdbool.h>

typedef struct FlowModule FlowModule;
typedef struct FlowVm FlowVm;
typedef struct FlowReport FlowReport; // report.h: findings with position, excerpt and hint

// --- code
// Compiles one file. OK even with warnings; ERR_INVALID when the report holds errors. `report`
// was initialised by flow_report_init, or is NULL (then only `diag` tells the first error).
MUST_CHECK Status flow_compile(Str file_name, Str source, FlowModule **ret_module,
                               FlowReport *report, Diag *diag);
// The same for what people write now, where it is deployed or tried out: the source of the report
// is also held to what can work (check.h). What is deployed already is not.
MUST_CHECK Status flow_compile_checked(FlowReport *report, FlowModule **ret_module, Diag *diag);
// The same for a source that a build of abide accepted before: what it says in its config is not
// held against today's rules, because runs go on in it.
MUST_CHECK Status flow_compile_stored(Str file_name, Str source, FlowModule **ret_module,
                                      Diag *diag);
FlowModule *flow_module_retain(FlowModule *module);
void flow_module_release(FlowModule *module); // NULL is fine
// The workflows of a file: at least one.
typedef struct FlowWorkflowInfo {
    Str name;                // UTF-8, lives as long as the module
    Str config_json;         // null when the file has no config
    const struct Mask *mask; // what nobody is shown of its data (json/mask.h); NULL = nothing
    uint32_t line;
} FlowWorkflowInfo;
uint32_t flow_module_workflow_count(const FlowModule *module);
FlowWorkflowInfo flow_module_workflow(const FlowModule *module, uint32_t index);
// ERR_NOT_FOUND when there is none of that name.
MUST_CHECK Status flow_module_find_workflow(const FlowModule *module, Str name,
                                            uint32_t *ret_index);
Str flow_module_hash(const FlowModule *module); // SHA-256 of the source, hexadecimal
Str flow_module_file_name(const FlowModule *module);
Str flow_module_source(const FlowModule *module);

// --- execution
typedef enum FlowOutcome {
    FLOW_COMPLETED,   // result_json
    FLOW_FAILED,      // error
    FLOW_PARKED,      // waits: settle some, then run again
    FLOW_PREEMPTED,   // the turn's instructions are used up: run again
    FLOW_CONTINUE_AS, // result_json is the input of the next incarnation
} FlowOutcome;

typedef struct FlowFailure { // texts live in the VM until its next run
    Str name;                // "TypeError"
    Str message;
    Str code; // error.code when it is a string; null otherwise
    Str stack;
    Str json; // the thrown value as JSON where it is plain data, own properties of errors
} FlowFailure;

// An awaitable whose promise only feeds a combinator runs no script code when it settles, unless it
// decides the combinator. Those of one combinator have the same group.
typedef enum FlowQuiet {
    FLOW_QUIET_FULFILLED = 1 << 0, // fulfilling it does nothing while others of the group are open
    FLOW_QUIET_REJECTED = 1 << 1   // likewise
} FlowQuiet;

typedef struct FlowWait {
    uint32_t id;
    FlowAwaitKind kind;
    bool is_awaited; // something waits for its promise; false: fire and forget
    uint8_t group;   // 0 = none
    uint8_t quiet;   // FlowQuiet bits
} FlowWait;

typedef struct FlowRunResult {
    FlowOutcome outcome;
    Str result_json; // COMPLETED (undefined as "null"), CONTINUE_AS
    FlowFailure failure;
    const FlowWait *waits; // PARKED: every pending awaitable, ascending by id
    uint32_t wait_count;
    bool is_stuck; // PARKED with nothing awaited that the host could settle
} FlowRunResult;

typedef struct FlowVmOptions {
    FlowModule *module; // retained by the VM
    uint32_t workflow_index;
    Str input_json; // null: undefined
    FlowHost *host;
    FlowLimits limits;
} FlowVmOptions;

MUST_CHECK Status flow_vm_new(const FlowVmOptions *options, FlowVm **ret_vm, Diag *diag);
void flow_vm_free(FlowVm *vm); // NULL is fine
void flow_vm_set_host(FlowVm *vm, FlowHost *host);
// Runs until the script waits, ends or has used up its turn.
void flow_vm_run(FlowVm *vm, FlowRunResult *ret_result);

typedef struct FlowSettlement {
    uint32_t id;
    bool is_rejected;
    Str json; // fulfilled: the value (null Str: undefined)
    // rejected: what the error becomes
    const char *error_class; // "TaskError", "TimeoutError", "CancelledError", "ChildWorkflowError",
                             // "Error"
    Str message;
    Str code;            // null: none
    Str properties_json; // further own properties of the error, a JSON object; null: none
    Str cause_json;      // null: none; {"name","message",…} becomes an Error
} FlowSettlement;
// ERR_NOT_FOUND: no such awaitable is pending (settled before, or never started).
MUST_CHECK Status flow_vm_settle(FlowVm *vm, const FlowSettlement *settlement, Diag *diag);
// CancelledError at the current await, so that try/finally cleans up; then run again.
void flow_vm_cancel(FlowVm *vm, Str reason);

typedef struct FlowVmStats {
    size_t heap_bytes;     // live and garbage
    size_t total_bytes;    // everything the VM took from the system
    uint64_t instructions; // executed so far
    uint32_t frame_count;
    uint32_t awaitable_count;
} FlowVmStats;
void flow_vm_stats(const FlowVm *vm, FlowVmStats *ret_stats);
// Makes the VM small while it waits: collects, drops caches and spare memory.
void flow_vm_park(FlowVm *vm);

// --- snapshots (snapshot/write.c, snapshot/read.c, inspect.c)
// ERR_LIMIT: larger than limits.snapshot_bytes; the Diag names the largest variables.
MUST_CHECK Status flow_snapshot_write(FlowVm *vm, Buf *ret_bytes, Diag *diag);
// options->module must be the version the snapshot was taken from: ERR_CONFLICT otherwise.
// ERR_CORRUPT for bytes that are no snapshot. input_json and workflow_index are not used.
MUST_CHECK Status flow_snapshot_read(Str bytes, const FlowVmOptions *options, FlowVm **ret_vm,
                                     Diag *diag);
// The code version a snapshot needs: the SHA-256 of the source, hexadecimal, NUL-terminated.
MUST_CHECK Status flow_snapshot_module_hash(Str bytes, char ret_hash[65], Diag *diag);
// JSON: {"waitingAt":[{"file","line","column","function","locals":{…},"variables":[…]}],
// "waits":[…],"bytes":n,"variables":[{"name","function","bytes"}…]}; variables of a frame are
// views (snapshot/view.h), and `depth` says how many levels of them are shown.
void flow_vm_inspect(FlowVm *vm, uint32_t depth, Buf *ret_json);
// The same with more of each text, for those who compare.
void flow_vm_inspect_long(FlowVm *vm, uint32_t depth, Buf *ret_json);
// The view of one value: "order.items[3].price", of the innermost frame that has the variable.
// Codes: BAD_PATH, VARIABLE_NOT_FOUND.
MUST_CHECK Status flow_vm_inspect_path(FlowVm *vm, Str path, uint32_t depth, Buf *ret_json,
                                       Diag *diag);
// After FLOW_FAILED: {"frames":[…],"excerpt":[{"line","text"}…],"causes":[{"type","message"}…]},
// the frames as they were when the exception left them, as deep as the buffer has room for. False:
// nothing is known of them.
bool flow_vm_post_mortem(FlowVm *vm, Buf *ret_json);

// Vm: one run of one module. Internal to src/flow; the rest of the code base uses flow.h.
//
// The state of an execution, which a snapshot writes, is exactly: `stack`, `frames`, `queue`,
// `awaitables`, `overrides`, `templates`, `symbols`, the few values below, and what the heap holds
// behind them. Inline caches, atoms and root shapes are caches.
//
//   [vm-1] Registers of frame i are stack[frames[i].base ..]. Windows overlap at calls (code.h
//        [code-4]).
//   [vm-2] All of stack[0 .. stack_top) holds valid values at every instruction boundary; what is
//        above stack_top is never read before it is written.
//   [vm-3] A frame's pc is the index of the next instruction to run. While a callee runs, it is the
//        instruction after the call.
#pragma once
#include "flow/flow.h"
#include "flow/realm/realm.h"
#include "flow/vm/promise.h"

typedef enum FlowFrameKind {
    FRAME_SCRIPT, // runs routine->code
    FRAME_NATIVE, // a native that waits for a primitive and is then called again
} FlowFrameKind;

typedef enum FlowReturnKind { // what happens to the value a frame returns
    RETURN_STORE,             // stack[return_to] = value
    RETURN_DISCARD,           // setters, INIT_FIELDS
    RETURN_BRANCH, // fused compare-and-jump of the caller: its instruction at pc-1 decides
    RETURN_NOT,    // stack[return_to] = !value (`!=` on objects)
    RETURN_DRIVER, // bottom frame of a job: see job_* fields
} FlowReturnKind;

enum {                   // FlowFrame.flags
    FRAME_CONSTRUCT = 1, // new: a result that is no object becomes this
    FRAME_ASYNC = 2,     // result settles coroutine->promise
    FRAME_GENERATOR = 4, // body of a generator: result completes it
};

typedef struct FlowFrame {
    FlowClosure *closure; // FRAME_SCRIPT
    FlowValue function;   // the callee as a value (natives too)
    FlowValue new_target;
    FlowCoroutine *coroutine; // of async functions and generators; else NULL
    uint32_t pc;
    uint32_t base;           // stack index of R0 (natives: of this)
    uint32_t top;            // stack_top while this frame is the topmost one
    uint32_t return_to;      // stack index
    uint32_t argument_count; // natives
    uint8_t kind;            // FlowFrameKind
    uint8_t return_kind;     // FlowReturnKind
    uint8_t flags;           // FRAME_*
    uint8_t has_collected;   // natives: see NATIVE_NEEDS_ROOM
} FlowFrame;

// What the driver does with the result of a job's bottom frame (RETURN_DRIVER).
typedef enum FlowDriverKind {
    DRIVER_NONE,
    DRIVER_START,      // the promise of the top level
    DRIVER_REACTION,   // settle the derived promise of `driver_reaction`
    DRIVER_FINALLY,    // the same, after onFinally
    DRIVER_THENABLE,   // an exception calls the reject function in `driver_reaction`
    DRIVER_THEN_VALUE, // the getter of a thenable's `then` has answered
    DRIVER_FINISH,     // the JSON of the result: the run is complete
} FlowDriverKind;

typedef enum FlowVmState {
    VM_NEW,       // flow_vm_run has not been called yet
    VM_RUNNING,   // has frames, jobs or awaitables
    VM_FINISHING, // the body is done; its result is being made JSON
    VM_ENDED,     // completed, failed or continued: `outcome`
} FlowVmState;

typedef struct FlowInlineCache {
    FlowShape *shape;   // of the receiver; NULL: empty
    FlowObject *holder; // NULL: the receiver itself
    uint16_t slot;      // shapes that are cached have few properties
    uint16_t misses;    // since it was filled
    uint32_t epoch;     // of vm->proto_epoch, when holder is set or for adds
    FlowShape *next;    // SET_FIELD, INIT_FIELD that add: the shape after
} FlowInlineCache;

// What a lookup of a key in a shape found; one table for all sites that see several shapes, for
// computed keys and for private names.
enum { LOOKUP_COUNT = 256 };
typedef struct FlowLookup {
    FlowShape *shape;   // NULL: empty
    uint64_t key;       // FlowKey
    FlowObject *holder; // NULL: the receiver itself
    uint32_t slot;
    uint32_t epoch; // as in FlowInlineCache
    uint32_t attributes;
    uint32_t unused;
} FlowLookup;

typedef struct FlowAwaitable {
    uint32_t id;
    uint8_t kind;         // FlowAwaitKind
    FlowPromise *promise; // strong while pending
} FlowAwaitable;

typedef struct FlowOverride {
    FlowObject *original; // realm object
    FlowObject *copy;
} FlowOverride;

typedef struct FlowTemplateObject { // cache of TEMPLATE_OBJECT: identity matters to scripts
    const FlowRoutine *routine;
    uint32_t index;
    FlowObject *object;
} FlowTemplateObject;

typedef struct FlowRootShape {
    FlowObject *proto; // NULL allowed
    FlowShape *shape;
} FlowRootShape;

// What an expression that is evaluated in a VM keeps alive beside its own frames (evaluate.h).
typedef struct FlowHeld {
    FlowValue *stack; // those of the run, which stand still meanwhile
    uint32_t stack_top;
    uint32_t stack_capacity;
    FlowFrame *frames;
    uint32_t frame_count;
    uint32_t frame_capacity;
    const FlowValue *values; // further ones
    uint32_t value_count;
} FlowHeld;

struct FlowVm {
    const FlowRealm *realm;
    FlowRealm *building; // the same, while the realm is being built; else NULL
    FlowModule *module;  // retained
    FlowHost *host;
    FlowHeap heap;
    FlowLimits limits;
    // execution
    FlowValue *stack;
    uint32_t stack_top; // end of the topmost frame's window
    uint32_t stack_capacity;
    FlowFrame *frames;
    uint32_t frame_count;
    uint32_t frame_capacity;
    FlowJobQueue queue;
    FlowValue exception;       // HOLE: none
    int64_t fuel;              // instructions left in this turn
    uint64_t executed;         // instructions over all turns
    FlowPromise *main_promise; // of routines[0]
    FlowReaction *driver_reaction;
    uint8_t driver;            // FlowDriverKind
    uint8_t state;             // FlowVmState
    uint8_t outcome;           // FlowOutcome, once ended
    uint8_t is_cancelled;      // a CancelledError was delivered; new awaitables fail at once
    uint8_t is_cancel_pending; // delivered to the next await that would park
    uint8_t has_looked;        // this turn, at what the script wants to be true
    uint8_t is_in_debt;        // the last turn was preempted with less than no fuel left
    uint8_t has_secrets;       // Secret.get was called, or a snapshot had one
    uint8_t checks_intrinsics; // prelude code is at work whose state came from a snapshot
    // tables
    FlowAwaitable *awaitables; // pending ones, ascending by id
    uint32_t awaitable_count;
    uint32_t awaitable_capacity;
    uint32_t next_awaitable_id; // from 1
    uint32_t workflow_index;
    int64_t place; // of the last snapshot that was written (snapshot/place.h)
    FlowOverride *overrides;
    uint32_t override_count;
    uint32_t override_capacity;
    FlowTemplateObject *templates;
    uint32_t template_count;
    uint32_t template_capacity;
    FlowValue symbols;        // FlowArray of symbols made by Symbol.for; undefined until then
    FlowValue inputs;         // the Inputs global
    FlowValue context;        // the Context global; HOLE until first asked for
    FlowValue cancel_reason;  // string or undefined
    FlowValue result;         // value, error or continueAs input, once ended
    uint64_t random_state[2]; // Math.random; seeded by the host on first use
    // caches
    FlowAtoms atoms;
    FlowRootShape *roots;
    uint32_t root_count;
    uint32_t root_capacity;
    FlowShape *plain_shape; // root of Object.prototype
    FlowShape *array_shape;
    uint32_t proto_epoch;
    FlowInlineCache *caches;          // module->site_count; NULL until first needed
    FlowInlineCache *prelude_caches;  // of the prelude's sites
    FlowLookup *lookups;              // LOOKUP_COUNT; made by the interpreter
    struct FlowThrowHook *throw_hook; // of a debugger (hook.h); NULL: none
    FlowPromise *rejected[8];         // rejected in this turn while nobody listened; for a log line
    uint32_t rejected_count;
    uint32_t extra_site_count; // inline caches behind those of the module: of an expression
    const FlowHeld *held;      // while an expression is evaluated; else NULL
    uint64_t caught_bits;  // the value that a frame handled last, the frame's number and routine,
    uint32_t caught_frame; // and where in it: what is thrown on from there began there (unwound.c)
    uint32_t caught_pc;
    const FlowRoutine *caught_routine;
    struct FlowUnwound *unwound;     // frames that the last exception has left (unwound.h); or NULL
    const struct FlowMasked *masked; // while console writes (mask/mask.h); or NULL
    struct FlowVmTexts *texts;       // what the last FlowRunResult points to (vm_result.c)
};

// --- frames and calls (call.c)
enum { CALL_ARGUMENTS_MAX = 1 << 17 }; // of spread calls and apply
// A call whose block is in place: stack[base] is this, the arguments follow. What the call
// returns goes where `return_kind` and `return_to` say. False: exception pending. A native has
// returned when this answers, a script function has a frame.
typedef struct FlowInvocation {
    FlowValue function;
    FlowValue new_target; // undefined: a call
    uint32_t base;
    uint32_t count;     // of arguments
    uint32_t return_to; // stack index
    FlowReturnKind return_kind;
} FlowInvocation;
bool flow_vm_enter(FlowVm *vm, const FlowInvocation *invocation);
// For who has called the native himself: does what its answer asks for (not for NATIVE_OK).
bool flow_vm_finish_native(FlowVm *vm, const FlowInvocation *invocation, FlowNativeCall *call,
                           FlowNativeResult result);

// The same from C: this and arguments are copied above the current frame.
typedef struct FlowCall {
    FlowValue function;
    FlowValue this_value;
    const FlowValue *arguments;
    uint32_t count;
    FlowValue new_target;
    FlowReturnKind return_kind;
    uint32_t return_to;
} FlowCall;
bool flow_vm_push_call(FlowVm *vm, const FlowCall *call);
typedef struct FlowHelperCall {
    FlowHelperId helper;
    uint32_t count;
    FlowValue arguments[3];
    FlowReturnKind return_kind;
    uint32_t return_to;
} FlowHelperCall;
bool flow_vm_push_helper(FlowVm *vm, const FlowHelperCall *call);
bool flow_vm_reserve_stack(FlowVm *vm, uint32_t top); // false: too deep, exception pending
FlowFrame *flow_vm_push_frame(FlowVm *vm); // NULL: call depth exceeded, exception pending
void flow_vm_pop_frame(FlowVm *vm);        // stack_top becomes that of the frame below
// Hands `value` to whoever waits for the popped `frame`.
void flow_vm_deliver(FlowVm *vm, const FlowFrame *frame, FlowValue value);
// The topmost frame returns `value` (settles promises, completes generators, delivers).
bool flow_vm_return(FlowVm *vm, FlowValue value);
// Calls the native of the topmost (native) frame again. False: exception pending.
bool flow_vm_resume_native(FlowVm *vm);
// Finds a handler for vm->exception; false when the frames are gone and it is still pending.
bool flow_vm_unwind(FlowVm *vm);
// Runs until the frames are gone, the fuel is used up or an exception leaves the last frame.
typedef enum FlowInterpResult { INTERP_IDLE, INTERP_PREEMPTED, INTERP_THROWN } FlowInterpResult;
FlowInterpResult flow_interp_run(FlowVm *vm);
// The prototype `new` gives an object: new_target.prototype, or the fallback.
FlowObject *flow_new_target_proto(FlowVm *vm, FlowValue new_target, FlowProtoId fallback);

// --- coroutines (coroutine.c)
// The topmost frame is at AWAIT: saves it, subscribes to `value`, delivers its promise if the
// caller still waits for one.
void flow_coroutine_await(FlowVm *vm, FlowValue value, uint32_t live);
bool flow_coroutine_start_generator(FlowVm *vm, uint32_t live);
void flow_coroutine_yield(FlowVm *vm, FlowValue value, uint32_t live);
// Puts the frame back on the stack. False: exception pending (also for mode THROW: unwind).
bool flow_coroutine_resume(FlowVm *vm, FlowCoroutine *coroutine, FlowResumeMode mode,
                           FlowValue value);
// Sync generators: next, throw, return; delivers or pushes the frame.
bool flow_generator_resume(FlowVm *vm, FlowCoroutine *coroutine, FlowResumeMode mode,
                           FlowValue value, const FlowFrame *caller);
// The frame of `coroutine` has returned or thrown.
void flow_generator_complete(FlowVm *vm, FlowCoroutine *coroutine, FlowValue value, bool is_thrown);
FlowPromise *flow_async_generator_enqueue(FlowVm *vm, FlowValue generator, FlowResumeMode mode,
                                          FlowValue value);
void flow_async_generator_drain(FlowVm *vm, FlowCoroutine *generator);
void flow_async_generator_returned(FlowVm *vm, FlowCoroutine *generator, FlowValue value,
                                   bool is_rejected);
FlowObject *flow_iterator_result(FlowVm *vm, FlowValue value, bool is_done);

// --- jobs (microtask.c)
void flow_job_run(FlowVm *vm, const FlowJob *job);
FlowValue flow_promise_function(FlowVm *vm, FlowPromise *promise, FlowBox *already, bool is_reject);
void flow_driver_finish(FlowVm *vm, FlowValue value, bool is_thrown); // RETURN_DRIVER
void flow_vm_finish(FlowVm *vm, FlowValue json, bool is_thrown);      // DRIVER_FINISH

// --- memory
FlowVm *flow_vm_new_empty(const FlowVmOptions *options); // for the snapshot reader: no state yet
void flow_vm_collect(FlowVm *vm);
// Collects when it is due. False: over the heap budget even so, exception pending.
bool flow_vm_safe_point(FlowVm *vm);
FlowInlineCache *flow_vm_caches_new(size_t count);
FlowLookup *flow_vm_lookups_new(void);
void flow_vm_drop_caches(FlowVm *vm); // inline caches, spare stack: what a parked VM can do without

// --- awaitables
FlowPromise *flow_vm_awaitable_find(FlowVm *vm, uint32_t id);
void flow_vm_awaitable_add(FlowVm *vm, FlowPromise *promise, FlowAwaitKind kind);
void flow_vm_awaitable_remove(FlowVm *vm, uint32_t id);
// --- JSON (json_text.c): plain data without running script code
MUST_CHECK Status flow_json_to_value(FlowVm *vm, Str json, FlowValue *ret, Diag *diag);
// Plain data, depth first; what is not plain (functions, cycles, accessors) becomes null.
void flow_json_from_value(FlowVm *vm, FlowValue value, Buf *out);
// --- results (vm_result.c)
void flow_vm_fill_result(FlowVm *vm, FlowOutcome outcome, FlowRunResult *ret);
void flow_vm_texts_free(FlowVm *vm);

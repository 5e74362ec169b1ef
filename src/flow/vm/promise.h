// Promises, coroutines and the microtask queue.
//
// Everything that waits is data in the heap: a promise holds reactions; a reaction says what to do
// (call a handler, resume a coroutine, feed a combinator); a coroutine holds the registers of its
// frame while it is suspended. So a snapshot at an await is only heap.
//
//   [vm-promise-1] Jobs run in the order ECMAScript prescribes, one per job it prescribes: an await
//        of a native promise takes one job, of a thenable three.
//   [vm-promise-2] A coroutine is on the frame stack (RUNNING) or its registers are in it, never
//        both.
//   [vm-promise-3] Settling never runs script code: it only queues jobs.
#pragma once
#include "flow/value/object.h"

typedef enum FlowPromiseState {
    PROMISE_PENDING,
    PROMISE_FULFILLED,
    PROMISE_REJECTED
} FlowPromiseState;

typedef struct FlowPromise {
    FlowObject object;
    FlowValue result;           // value or reason once settled
    struct FlowReaction *first; // in order of registration
    struct FlowReaction *last;
    uint32_t awaitable_id; // of a host awaitable; 0 = none
    uint8_t state;         // FlowPromiseState
    uint8_t is_handled;    // some reaction was ever attached
    uint8_t is_resolved;   // its resolving functions were used ("already resolved")
    uint8_t await_kind;    // FlowAwaitKind of a host awaitable
} FlowPromise;

typedef enum FlowReactionKind {
    REACTION_THEN,             // handlers[state] or pass through, result into `promise`
    REACTION_AWAIT,            // resume coroutine `target`
    REACTION_COMBINATOR,       // element `index` of combinator `target`
    REACTION_FINALLY,          // Promise.prototype.finally: handler is onFinally
    REACTION_FINALLY_VALUE,    // after onFinally's promise: go on with `target` as value or reason
    REACTION_RESOLVE,          // settle `promise` with the outcome (adopting a native promise)
    REACTION_GENERATOR_RETURN, // async generator `target`: awaited value of return() on completion
    REACTION_SYNC_ITERATOR,    // async-from-sync iterator: wraps the value as {value, done}
} FlowReactionKind;

typedef struct FlowReaction {
    FlowCell cell; // aux = index; small = FlowReactionKind
    struct FlowReaction *next;
    FlowValue on_fulfilled; // function, or undefined
    FlowValue on_rejected;
    FlowValue target;  // coroutine, combinator, kept value
    FlowValue promise; // derived promise or capability object, or undefined
    FlowValue resolve; // of a capability that is not a native promise; else undefined
    FlowValue reject;
} FlowReaction;

typedef enum FlowCombinatorKind {
    COMBINATOR_ALL,
    COMBINATOR_ALL_SETTLED,
    COMBINATOR_ANY,
    COMBINATOR_RACE,
    COMBINATOR_TASK_ANY,  // { item_id, result } of the first success
    COMBINATOR_TASK_RACE, // { item_id, status, result | error } of the first settled
} FlowCombinatorKind;

typedef struct FlowCombinator {
    FlowCell cell;     // small = FlowCombinatorKind; aux = items not yet settled, plus one
                       // while the iterable is still read
    FlowArray *values; // results or errors by index
    FlowArray *ids;    // TASK kinds: ids of the items
    FlowValue promise; // the promise it settles (native), or capability with:
    FlowValue resolve; // undefined for a native promise
    FlowValue reject;
} FlowCombinator;

typedef enum FlowCoroutineState {
    COROUTINE_START,     // generator before its first next()
    COROUTINE_SUSPENDED, // at await or yield
    COROUTINE_RUNNING,
    COROUTINE_DONE,
    COROUTINE_AWAITING_RETURN, // async generator: return() on a finished one waits for its value
} FlowCoroutineState;

// An async function in flight (no object identity for scripts), a generator or async generator.
typedef struct FlowCoroutine {
    FlowObject object;
    FlowValue function;                // FlowClosure
    FlowValue new_target;              // always undefined; kept for frames that save it
    FlowPromise *promise;              // async functions: the result; NULL for generators
    struct FlowRequest *first_request; // async generators
    struct FlowRequest *last_request;
    FlowStorage *registers;       // while suspended: R0 .. R[count-1]
    uint32_t pc;                  // of the AWAIT, YIELD or GENERATOR_START that suspended it
    uint8_t state;                // FlowCoroutineState
    uint8_t is_awaiting;          // suspended at AWAIT rather than YIELD
    uint8_t has_returned_promise; // async function: its caller already has the promise
    uint8_t unused;
} FlowCoroutine;

typedef enum FlowResumeMode { RESUME_NEXT, RESUME_THROW, RESUME_RETURN } FlowResumeMode;

typedef struct FlowRequest { // async generator queue
    FlowCell cell;           // small = FlowResumeMode
    struct FlowRequest *next;
    FlowValue value;
    FlowPromise *promise;
} FlowRequest;

typedef enum FlowJobKind {
    JOB_REACTION,    // a: FlowReaction, b: argument, is_rejected
    JOB_THENABLE,    // a: promise to resolve, b: thenable, c: its then method
    JOB_CALL,        // a: function, b: argument
    JOB_THEN_GETTER, // a: promise to resolve, b: object, c: getter of its `then`
} FlowJobKind;

typedef struct FlowJob {
    FlowValue a;
    FlowValue b;
    FlowValue c;
    uint8_t kind; // FlowJobKind
    uint8_t is_rejected;
} FlowJob;

typedef struct FlowJobQueue { // ring; capacity a power of two or 0
    FlowJob *jobs;
    uint32_t first;
    uint32_t count;
    uint32_t capacity;
} FlowJobQueue;

FlowPromise *flow_promise_new(FlowVm *vm);
FlowPromise *flow_promise_new_with(FlowVm *vm, FlowObject *proto);
// A native promise whose constructor is %Promise%.
bool flow_promise_is_pristine(FlowVm *vm, FlowValue value);
void flow_promise_fulfill(FlowVm *vm, FlowPromise *promise, FlowValue value);
void flow_promise_reject(FlowVm *vm, FlowPromise *promise, FlowValue reason);
// The resolve function: adopts promises and thenables, as the specification says. A `then` that
// is an accessor is read by a job of the prelude.
void flow_promise_resolve(FlowVm *vm, FlowPromise *promise, FlowValue resolution);
// PromiseResolve(%Promise%, value): the value itself when it is a pristine native promise.
FlowPromise *flow_promise_of(FlowVm *vm, FlowValue value);
// Attaches a reaction, or queues its job at once when the promise is settled.
void flow_promise_react(FlowVm *vm, FlowPromise *promise, FlowReaction *reaction);
FlowReaction *flow_reaction_new(FlowVm *vm, FlowReactionKind kind, FlowValue target);
// One element of a combinator has an outcome.
void flow_combinator_settle(FlowVm *vm, FlowCombinator *combinator, uint32_t index, FlowValue value,
                            bool is_rejected);

// Something still depends on this pending promise. What lost a race does not count: nothing that
// happens to it can be noticed any more.
bool flow_promise_is_awaited(const FlowPromise *promise);
// The combinator that is all that waits for it and that need not be decided by it; NULL otherwise.
const FlowCombinator *flow_promise_feeds(const FlowPromise *promise);

// Combinators count their items: aux goes up with each, flow_combinator_release takes one away.
FlowCombinator *flow_combinator_new(FlowVm *vm, FlowCombinatorKind kind, FlowValue promise);
void flow_combinator_release(FlowVm *vm, FlowCombinator *combinator);

void flow_queue_push(FlowJobQueue *queue, FlowJob job);
FlowJob flow_queue_pop(FlowJobQueue *queue);
void flow_queue_done(FlowJobQueue *queue);

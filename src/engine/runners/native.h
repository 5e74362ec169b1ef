// Native runs: a C function is called from the top; durable calls that are recorded answer from
// their checkpoints, the first one that is not recorded does its work.
//
//   [runners-native-1] Every durable call takes the next position; calls are matched by position,
//        and kind and name must agree with what is recorded, else the run is paused
//        (WORKFLOW_CHANGED).
//   [runners-native-2] A step's body runs at most once per turn, and the turn ends with it: its
//        result is committed before the function is called again and goes past it.
//   [runners-native-3] After a call answered NATIVE_SUSPENDED all further calls do, so a function
//        that does not pass the code up can do no harm.
//   [runners-native-4] Emits, children, tasks, stream entries and marks gather in the turn and are
//        committed with it.
#pragma once
#include "engine/runners/runner.h"
#include "store/batch.h"

typedef enum NativeCode { // the values of ABIDE_… in include/abide.h
    NATIVE_OK = 0,
    NATIVE_SUSPENDED = 1,
    NATIVE_TIMEOUT = 2,
    NATIVE_CANCELLED = 3,
    NATIVE_FAILED = 4,
    NATIVE_INVALID = 13,
    NATIVE_LIMIT = 14,
} NativeCode;

// The tags are those of include/abide.h, so that functions written against it are called as they
// are.
typedef struct abide_ctx NativeContext;
typedef struct abide_call NativeCall;
typedef int (*NativeFunction)(NativeContext *context, const char *input);
typedef int (*NativeCallFunction)(NativeCall *call, const char *input);

typedef struct NativeRunner {
    Runner base;
    NativeFunction function;
    void *user;
    int64_t child_keep_ms;          // retention of the children it starts
    bool is_child_failure_isolated; // a failed child is a value, not NATIVE_FAILED
    RetryPolicy retry;              // of whole runs; its texts live as long as the runner
} NativeRunner;
void native_runner_init(NativeRunner *runner, NativeFunction function, void *user);

// One execution of a workflow function.
struct abide_ctx {
    const RunView *view;
    const NativeRunner *runner;
    Env *env;
    Arena *arena;
    TurnOutput *output;
    int64_t position; // of the next durable call
    bool is_parked;   // the turn has its outcome: [runners-native-3]
    bool has_outcome; // the function said how it ends
    Str error;        // of the last call that failed; null = none
};

// One execution of a step or task function.
struct abide_call {
    Arena *arena;
    Str name;
    Str run_id;         // null for stand-alone tasks
    Str traceparent;    // of the attempt; null = it belongs to no trace
    Str tracestate;     // that of its run; null = none
    int64_t lost_count; // attempts beside those that answered: their process ended before they did
    Str key;            // stable over all attempts
    int64_t attempt;
    void *user;
    StepDatabase database; // inside a transaction
    bool has_result;       // abide_return was called
    bool has_error;        // abide_throw was called
    bool is_final;         // no further attempt
    bool is_cancelled;     // the run or task was asked to end
    Str result;
    Str error_type;
    Str error; // error object
};
// Runs the function and sorts out what it said and what it answered.
void native_call_run(NativeCall *call, NativeCallFunction function, Str input);

typedef struct NativeStep {
    Str name;
    NativeCallFunction function;
    Str input;
    RetryPolicy retry;
    bool is_in_transaction;
} NativeStep;

// Strings come NUL-terminated out of the execution's arena. `ret_…` may be NULL.
int native_step(NativeContext *context, const NativeStep *step, Str *ret_result);
// Parks on `items`; their deadlines are moments, computed when the wait is first reached.
int native_wait(NativeContext *context, WaitItem *items, size_t count, int64_t *ret_slot,
                Str *ret_payload);
int native_child_start(NativeContext *context, RunSpec *spec, Str *ret_id);
int native_task_start(NativeContext *context, TaskSpec *spec, Str *ret_id);
int native_emit(NativeContext *context, Str topic, Str payload);
int native_stream_write(NativeContext *context, Str type, Str value);
int native_mark_i64(NativeContext *context, Str name, int64_t value, int64_t *ret_value);
int native_complete(NativeContext *context, Str result);
int native_fail(NativeContext *context, Str type, Str message);
int native_continue_as(NativeContext *context, Str input);
// The participant of a committed turn answered an error: rewrites the turn's output so that it
// records the failed attempt instead. `op` is the commit that the store refused.
void native_participant_failed(void *participant_context, TurnOutput *output, const Op *op);
// A call that cannot be served (bad argument): fails the run with that error when passed up.
int native_refuse(NativeContext *context, int code, Str name, Str message);

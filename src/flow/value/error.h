// Errors: script errors are values; C code makes them here and leaves them in vm->exception.
//
// The stack is captured as compact numbers (routine, pc per frame) and becomes text when a script
// or the host asks for it. Messages follow V8's wording.
#pragma once
#include "flow/value/object.h"

typedef enum FlowErrorKind { // the order is stable: it is in snapshots and in THROW_ERROR
    ERROR_KIND_ERROR,
    ERROR_KIND_TYPE,
    ERROR_KIND_RANGE,
    ERROR_KIND_REFERENCE,
    ERROR_KIND_SYNTAX,
    ERROR_KIND_URI,
    ERROR_KIND_EVAL,
    ERROR_KIND_AGGREGATE,
    ERROR_KIND_TASK,      // TaskError
    ERROR_KIND_TIMEOUT,   // TimeoutError
    ERROR_KIND_CANCELLED, // CancelledError
    ERROR_KIND_CHILD,     // ChildWorkflowError
    ERROR_KIND_COUNT
} FlowErrorKind;

// A new error object with message and captured stack.
FlowObject *flow_error_new(FlowVm *vm, FlowErrorKind kind, FlowString *message);
// For constructors: an error of that prototype; message undefined = no own message.
FlowErrorObject *flow_error_alloc(FlowVm *vm, FlowObject *proto, FlowValue message);
// Captures the current stack into an error made some other way (new Error, subclasses).
struct FlowReaction;
// A rejection has come to a reaction: an error without a stack gets the functions that wait for it.
void flow_error_place(FlowVm *vm, FlowValue value, const struct FlowReaction *reaction);
// The text of `stack`: "TypeError: message\n    at name (file:line:column)\n …".
FlowString *flow_error_stack(FlowVm *vm, FlowErrorObject *error);

// Throwing: each sets vm->exception and answers false, so that `return flow_throw_…` reads well.
bool flow_throw(FlowVm *vm, FlowValue value);
bool flow_throw_error(FlowVm *vm, FlowErrorKind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define flow_throw_type(vm, ...)      flow_throw_error((vm), ERROR_KIND_TYPE, __VA_ARGS__)
#define flow_throw_range(vm, ...)     flow_throw_error((vm), ERROR_KIND_RANGE, __VA_ARGS__)
#define flow_throw_reference(vm, ...) flow_throw_error((vm), ERROR_KIND_REFERENCE, __VA_ARGS__)
bool flow_throw_memory(FlowVm *vm); // heap budget: RangeError "out of memory budget"
// "Cannot read properties of undefined (reading 'x')" and its kin.
bool flow_throw_read(FlowVm *vm, FlowValue object, FlowKey key);
bool flow_throw_write(FlowVm *vm, FlowValue object, FlowKey key);

// Text of a value for messages: strings quoted, objects as "#<Foo>", functions as source. Into
// `ret_text` (NUL-terminated, cut when too long).
enum { FLOW_TEXT_MAX = 160 };
const char *flow_describe(FlowVm *vm, FlowValue value, char ret_text[FLOW_TEXT_MAX]);
const char *flow_describe_key(FlowVm *vm, FlowKey key, char ret_text[FLOW_TEXT_MAX]);

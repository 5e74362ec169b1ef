// The built-ins that belong to the VM itself: promises, generators, the workflow API.
#pragma once
#include "flow/realm/realm.h"
#include "flow/vm/native.h"

extern const FlowClassEntry flow_class_promise;
extern const FlowClassEntry flow_class_generator_function;
extern const FlowClassEntry flow_class_async_function;
extern const FlowClassEntry flow_class_async_generator_function;
extern const FlowClassEntry flow_class_generator;
extern const FlowClassEntry flow_class_async_generator;
extern const FlowClassEntry flow_class_async_from_sync_iterator;
extern const FlowClassEntry flow_class_task;
extern const FlowClassEntry flow_class_timer;
extern const FlowClassEntry flow_class_signal;
extern const FlowClassEntry flow_class_event;
extern const FlowClassEntry flow_class_workflow;
extern const FlowClassEntry flow_class_stream;
extern const FlowClassEntry flow_class_state;
extern const FlowClassEntry flow_class_crypto;
extern const FlowClassEntry flow_class_handle;
extern const FlowClassEntry flow_class_secret;
extern const FlowClassEntry flow_class_secret_value;

extern const FlowNativeEntry flow_globals_core[]; // globalThis, undefined, NaN, Inputs …
extern const FlowNativeEntry flow_intrinsics_core[];
extern const FlowNativeEntry flow_intrinsics_promise[];
extern const FlowNativeEntry flow_intrinsics_host[];
extern const FlowNativeEntry flow_globals_check[]; // Invariant, Always, Eventually
extern const FlowNativeEntry flow_intrinsics_secret[];

FlowNativeResult flow_global_context(FlowVm *vm, FlowNativeCall *call); // getter of Context
// Function objects with data that are not in the realm's tables: snapshots name them by entry.
extern const FlowNativeEntry flow_combinator_entries[2];

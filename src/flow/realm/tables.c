// Realm tables: the list of everything a script finds built in. To add a class, a global or
// intrinsics, write the table in its builtin_*.c and name it here; a parent comes before its
// children.
//
// Snapshots name built-ins by their path, so the order here may change; names may not.
#include "flow/realm/tables.h"
#include "flow/builtin/core.h"
#include "flow/builtin/objects.h"
#include "flow/builtin/primitives.h"

const FlowClassEntry *const flow_realm_classes[] = {
    &flow_class_object,
    &flow_class_function,
    &flow_class_iterator,
    &flow_class_async_iterator,
    &flow_class_generator_function,
    &flow_class_async_function,
    &flow_class_async_generator_function,
    &flow_class_generator,
    &flow_class_async_generator,
    &flow_class_async_from_sync_iterator,
    &flow_class_array,
    &flow_class_array_iterator,
    &flow_class_string,
    &flow_class_string_iterator,
    &flow_class_number,
    &flow_class_boolean,
    &flow_class_symbol,
    &flow_class_bigint,
    &flow_class_error,
    &flow_class_type_error,
    &flow_class_range_error,
    &flow_class_reference_error,
    &flow_class_syntax_error,
    &flow_class_uri_error,
    &flow_class_eval_error,
    &flow_class_aggregate_error,
    &flow_class_task_error,
    &flow_class_timeout_error,
    &flow_class_cancelled_error,
    &flow_class_child_error,
    &flow_class_map,
    &flow_class_map_iterator,
    &flow_class_set,
    &flow_class_set_iterator,
    &flow_class_weak_map,
    &flow_class_weak_set,
    &flow_class_promise,
    &flow_class_date,
    &flow_class_regexp,
    &flow_class_regexp_string_iterator,
    &flow_class_math,
    &flow_class_json,
    &flow_class_console,
    &flow_class_task,
    &flow_class_timer,
    &flow_class_signal,
    &flow_class_event,
    &flow_class_workflow,
    &flow_class_stream,
    &flow_class_state,
    &flow_class_crypto,
    &flow_class_secret,
    &flow_class_secret_value,
    &flow_class_handle,
    NULL,
};

const FlowNativeEntry *const flow_realm_globals[] = {
    flow_globals_core,
    flow_globals_number,
    flow_globals_uri,
    flow_globals_base64,
    flow_globals_clone,
    flow_globals_check,
    NULL,
};

const FlowNativeEntry *const flow_realm_intrinsics[] = {
    flow_intrinsics_core,       flow_intrinsics_promise,
    flow_intrinsics_host,       flow_intrinsics_object,
    flow_intrinsics_property,   flow_intrinsics_array,
    flow_intrinsics_collection, flow_intrinsics_json,
    flow_intrinsics_function,   flow_intrinsics_clone,
    flow_intrinsics_string,     flow_intrinsics_number,
    flow_intrinsics_date,       flow_intrinsics_regexp,
    flow_intrinsics_secret,     NULL,
};

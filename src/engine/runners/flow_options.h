// Options of the workflow API, as scripts write them: JSON objects into specs.
#pragma once
#include "store/batch.h"

// Task.run(name, input, options). The VM has refused unknown members and impossible values.
MUST_CHECK Status flow_task_options(Arena *arena, Str options_json, TaskSpec *spec, Diag *diag);
// Workflow.run / Workflow.start.
MUST_CHECK Status flow_run_options(Arena *arena, Str options_json, int64_t now_ms, RunSpec *spec,
                                   Diag *diag);
// A time that idle runs stay in memory: a duration of at least a millisecond, or "off" (< 0).
MUST_CHECK Status idle_timeout_parse(Str text, int64_t *ret_ms, Diag *diag);
// Event.wait: the filter as JSON text; null when there is none.
MUST_CHECK Status flow_event_options(Arena *arena, Str options_json, Str *ret_filter, Diag *diag);

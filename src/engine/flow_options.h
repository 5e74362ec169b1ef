// Options of the workflow API, as scripts write them: JSON objects into specs.
#pragma once
#include "store/batch.h"

// Task.run(name, input, options). Unknown members, wrong types and bad durations are refused, and
// the message names the member.
MUST_CHECK Status flow_task_options(Arena *arena, Str options_json, TaskSpec *spec, Diag *diag);
// Workflow.run / Workflow.start.
MUST_CHECK Status flow_run_options(Arena *arena, Str options_json, int64_t now_ms, RunSpec *spec,
                                   Diag *diag);
// `export const config`: members that the engine heeds. keepSnapshots goes to *keep_snapshots.
MUST_CHECK Status flow_config_options(Arena *arena, Str config_json, int64_t *keep_snapshots,
                                      Diag *diag);
// Event.wait: the filter as JSON text; null when there is none.
MUST_CHECK Status flow_event_options(Arena *arena, Str options_json, Str *ret_filter, Diag *diag);

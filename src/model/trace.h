// Traces: which spans runs, turns and tasks are, without anything being kept for it.
//
// A span's id is derived from what it is of (a run's id, a turn's place, a task's id and attempt),
// so everybody who knows the run can name its span: a worker is told its parent, and the turns of a
// run belong together however long it slept in between and whichever process executed them.
//
// A run that was started with a W3C `traceparent` belongs to that trace; it is kept as the last of
// the run's tags, which people are not shown, with the `tracestate` that came along behind it. That
// is handed on as it is: what others keep in it is theirs.
//
//   [model-trace-1] The same run, turn or attempt is the same span on every node and after every
//        restart.
//   [model-trace-2] A malformed traceparent is as good as none, and so is a tracestate.
#pragma once
#include "base/arena.h"
#include "base/text/str.h"
#include <stdint.h>

enum { TRACE_ID_SIZE = 16, SPAN_ID_SIZE = 8, TRACEPARENT_SIZE = 55, TRACESTATE_SIZE_MAX = 512 };

typedef struct TraceParent { // a span, as one below it sees it
    uint8_t trace_id[TRACE_ID_SIZE];
    uint8_t span_id[SPAN_ID_SIZE];
    bool is_sampled;
} TraceParent;

typedef struct TraceParentText { // NUL-terminated
    char text[TRACEPARENT_SIZE + 1];
} TraceParentText;

bool trace_parent_parse(Str text, TraceParent *ret_parent); // [model-trace-2]
TraceParentText trace_parent_format(const TraceParent *parent);

// The part of a tracestate that is handed on: its first members, as many as TRACESTATE_SIZE_MAX
// holds; null when it is malformed or has none. [model-trace-2]
Str trace_state_read(Str text);

// The traceparent among tags, and its tracestate, null = none; the tags without both; the tags with
// these (`state` may be null).
Str tags_trace(Str tags);
Str tags_trace_state(Str tags);
Str tags_without_trace(Str tags);
Str tags_with_trace(Arena *arena, Str tags, const TraceParent *parent, Str state);

// The span of a run. *ret_above is what it was started under; false = nothing.
bool trace_of_run(Str run_id, Str tags, TraceParent *ret_run, TraceParent *ret_above);
// The span of one of its turns, by the last entry of the log when it had written its own; and of an
// attempt of a task.
TraceParent trace_of_turn(const TraceParent *run, Str run_id, int64_t turn_seq);
TraceParent trace_of_attempt(const TraceParent *run, Str task_id, int64_t attempt);
// A task that belongs to no run: a trace of its own, above which there is nothing.
TraceParent trace_of_lone_task(Str task_id);

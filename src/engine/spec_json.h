// Specs as JSON: what describes a run or a task, in the body of a request or the options of a
// script, read into the spec that the store takes. The rules are those of model/spec.h.
//
//   [spec-json-1] A member that is absent or null leaves the spec as it is: defaults are there
//        before.
//   [spec-json-2] Members that are none of these are the caller's; it has refused those that nobody
//        knows.
#pragma once
#include "json/value.h"
#include "model/spec.h"
#include "store/batch.h"

typedef enum SpecSpelling {
    SPELLED_SNAKE, // "start_at": HTTP
    SPELLED_CAMEL  // "startAt": scripts
} SpecSpelling;

typedef struct SpecReader {
    const JsonValue *object;
    Arena *arena; // of joined lists
    SpecSpelling spelling;
} SpecReader;

// A spec that nobody has said anything about yet.
RunSpec spec_run_default(int64_t keep_ms);
// id, key, queue, priority, delay, start_at, timeout, ttl, tags, leftover_signals, leftover_topic,
// parent_close.
MUST_CHECK Status spec_read_run(const SpecReader *reader, int64_t now_ms, RunSpec *spec,
                                Diag *diag);
// id, name, queue, concurrency_key, priority, delay, timeout, schedule_timeout, heartbeat_timeout.
MUST_CHECK Status spec_read_task(const SpecReader *reader, TaskSpec *spec, Diag *diag);

// How a task is tried again: the names of the members differ, the rules do not.
typedef struct SpecRetryNames {
    const char *delay, *max_delay, *factor;
} SpecRetryNames;
// attempts, jitter, non_retryable, and those.
MUST_CHECK Status spec_read_retry(const SpecReader *reader, const SpecRetryNames *names,
                                  TaskSpec *spec, Diag *diag);
// A schedule's: workflow, overlap, jitter, catch_up, priority, timeout, ttl, tags, paused.
MUST_CHECK Status spec_read_schedule(const SpecReader *reader, ScheduleRow *row, Diag *diag);

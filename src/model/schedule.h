// Schedules: their rows, and when they tick. rows.h includes this file.
//
// A tick is an instant at which a schedule wants one run. Ticks follow from the row alone (kind,
// spec, zone), so every node computes the same ones; the id of a tick's run follows from name and
// tick, so a tick cannot start two.
//   [model-schedule-1] Cron ticks are those of base/time/cron.h. Intervals tick at multiples of
//        their length since 1970, whenever they were made, so that saving a schedule again does not
//        move them.
//   [model-schedule-2] Jitter delays the start of a run, never the tick, and is the same for the
//        same tick.
#pragma once
#include "base/arena.h"
#include "base/time/cron.h"

typedef enum ScheduleKind { // in the file format: append, never renumber
    SCHEDULE_CRON = 1,      // spec: a cron expression, in `zone`
    SCHEDULE_INTERVAL,      // spec: a duration, at least a second
    SCHEDULE_ONCE,          // spec: an instant in RFC 3339
    SCHEDULE_KIND_COUNT
} ScheduleKind;
const char *schedule_kind_name(int64_t kind); // "cron"

// What happens to a tick while the run before it has not ended.
typedef enum SchedulePolicy {
    OVERLAP_SKIP = 0,   // nothing: the tick is counted as skipped
    OVERLAP_QUEUE,      // it starts when that run has ended; one tick can wait, more are skipped
    OVERLAP_ALLOW,      // it starts all the same
    OVERLAP_CANCEL_OLD, // that run is cancelled, and the tick starts when it has ended
    OVERLAP_COUNT
} SchedulePolicy;
extern const char *const overlap_names[OVERLAP_COUNT];
const char *overlap_name(int64_t policy); // "cancel-old"

// Of what a run is started with: said by somebody, so that the workflow's own word does not count.
// (A time-out of 0, a queue or tags that are null say nothing.)
typedef enum SpecGiven { GIVEN_PRIORITY = 1 << 0, GIVEN_KEEP = 1 << 1 } SpecGiven;

typedef struct ScheduleRow {
    int64_t key;
    Str name; // unique
    // what is started
    Str workflow;
    int64_t run_kind; // RunSpec.kind
    Str input;        // null = none
    Str queue;
    Str tags; // joined by '\n'
    int64_t priority;
    int64_t timeout_ms;
    int64_t keep_ms;
    int64_t given; // SpecGiven bits
    // when
    int64_t kind; // ScheduleKind
    Str spec;
    Str zone;            // name of a time zone; null = UTC
    int64_t jitter_ms;   // at most this much later
    int64_t overlap;     // SchedulePolicy
    int64_t grace_ms;    // OVERLAP_CANCEL_OLD: time for cleanup
    int64_t catch_up_ms; // > 0: missed ticks at most this late still start, each once; 0: of the
                         // missed ticks only the latest starts, however late
    int64_t is_paused;
    // where it stands; written by the store
    int64_t next_at_ms;    // the next tick; 0 = none
    int64_t due_at_ms;     // when to look at it again: next_at_ms, or later when its zone could
                           // not be loaded
    int64_t last_at_ms;    // the last tick that was dealt with, whatever became of it
    int64_t last_run;      // key of the run that the overlap policy looks at
    Str last_run_id;       // its id
    int64_t awaited_run;   // key of the run whose end starts the queued tick; 0 = none is queued
    int64_t queued_at_ms;  // the queued tick
    int64_t tick_count;    // ticks that started their run
    int64_t skipped_count; // by the overlap policy, or queued when it was paused
    int64_t missed_count;  // too late
    int64_t failed_count;  // their run could not be created
    int64_t created_at_ms;
    int64_t updated_at_ms; // last change by a person
    Str last_error;        // of the last tick that failed; null = the last one went well
} ScheduleRow;

enum { SCHEDULE_INTERVAL_MIN_MS = 1000 };

typedef struct Ticker { // a schedule that was read
    int64_t kind;
    Cron cron;
    int64_t every_ms;
    int64_t at_ms;
    const TimeZone *zone; // the caller's; SCHEDULE_CRON
} Ticker;

// Codes BAD_CRON, BAD_DURATION, BAD_TIME, BAD_SCHEDULE. `zone` is only used by cron.
MUST_CHECK Status ticker_init(Ticker *ticker, int64_t kind, Str spec, const TimeZone *zone,
                              Diag *diag);
// The first tick past `after_ms`; 0 = there is none.
int64_t ticker_next(const Ticker *ticker, int64_t after_ms);
// The next ticks, at most `max`; answers how many there are.
size_t ticker_preview(const Ticker *ticker, int64_t after_ms, int64_t *ret_ticks, size_t max);

int64_t schedule_jitter_ms(Str name, int64_t tick_ms, int64_t jitter_ms); // [model-schedule-2]
// "sched:nightly:2026-11-15T00:00:00Z"
Str schedule_run_id(Arena *arena, Str name, int64_t tick_ms);

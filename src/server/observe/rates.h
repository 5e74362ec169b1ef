// Rates: how much happens, step by step, for the last day.
//
// What metrics.h counts is compared at the end of every step with what it was at its beginning. A
// step in which something happened makes a point; points are kept in rows of the store
// (model/rate.h) and added up over all processes when somebody asks. Memory has the present row of
// each resolution only.
//
//   [observe-rates-1] Nothing is looked at and nothing written while nothing happens (P5): the
//        thread sleeps until the engine tells of something, and again after a minute in which
//        nothing did.
//   [observe-rates-2] One small write a minute at most, with the points of that minute; at an
//        orderly end one more. A process that is killed loses the minute that it was in.
//   [observe-rates-3] A step without a point between two moments at which its process was up is
//        known: nothing happened, and gauges stayed as they were. Where no process was up nothing
//        is known.
//
// Not here: what is counted (metrics.h), rows as text (rates_text.c), adding up (rates_view.c).
#pragma once
#include "engine/coordinator/coordinator.h"
#include "json/write.h"
#include "server/observe/metrics.h"
#include <pthread.h>

typedef enum RateSeries {
    // how many, in the step
    RATE_STARTED,
    RATE_COMPLETED,
    RATE_FAILED,
    RATE_CANCELLED,
    RATE_TURNS,
    RATE_TASKS_COMPLETED,
    RATE_TASKS_FAILED,
    RATE_COUNTS, // so many of them are counts
    // gauges of the whole store, at the end of the step
    RATE_QUEUED = RATE_COUNTS,
    RATE_SUSPENDED,
    // of the process
    RATE_RESIDENT,
    RATE_RESUME_P50, // µs; RATE_UNKNOWN when nothing was resumed
    RATE_RESUME_P99,
    RATE_SERIES_COUNT
} RateSeries;
enum { RATE_UNKNOWN = -1 };
const char *rate_series_name(int series); // "started"

typedef struct RatePoint {
    bool is_there; // something happened in its step
    int64_t values[RATE_SERIES_COUNT];
} RatePoint;

// The points of one row.
typedef struct RatePoints {
    int64_t up_ms; // since when the process has been up
    RatePoint steps[RATE_ROW_STEPS];
} RatePoints;

typedef struct RateTotals { // of the process, since it came up
    int64_t counts[RATE_COUNTS];
    int64_t resumes[HISTOGRAM_BOUNDS_MAX + 1]; // buckets of Metrics.resume
} RateTotals;

typedef struct RateTrack { // one resolution
    int64_t step_ms;
    int64_t step;      // the one that goes on: its number since 1970
    RateTotals before; // at its beginning
    int64_t from_ms;   // of the row; 0 = none yet
    RatePoints row;
    int64_t gauges[RATE_SERIES_COUNT]; // of the last step that was ended; only gauges count
    bool is_dirty;                     // the row has points that are not stored
} RateTrack;

typedef struct Rates {
    pthread_mutex_t lock; // guards what follows
    RateTrack tracks[RATE_RESOLUTION_COUNT];
    int64_t source; // key of our first node; 0 = not known yet
    // the thread
    pthread_t thread;
    pthread_cond_t changed;  // is_awake or is_stopping
    _Atomic bool is_awake;   // [observe-rates-1]
    _Atomic int64_t noticed; // events that it is woken by
    int64_t gauged;          // of these, when gauges were read last; the thread's own
    bool is_running, is_stopping;
} Rates;

struct Server;
void rates_init(Rates *rates, int64_t now_ms);
void rates_done(Rates *rates);
// On the coordinator's thread, after metrics_notice.
void rates_notice(Rates *rates, const EngineEvent *event);
void rates_start(struct Server *server);
void rates_stop(struct Server *server); // stores what is left; harmless when it was not started
// The row that is being filled, with the step that goes on as its last point.
void rates_present(struct Server *server, int64_t step_ms, RateRow *ret_row,
                   RatePoints *ret_points);

// ---- rates_text.c ----
Str rates_write_row(Arena *arena, const RatePoints *points);
// False when it is not one: what another version wrote is passed over.
bool rates_read_row(Arena *arena, Str text, RatePoints *ret_points);

// ---- rates_view.c ----
typedef struct RateSpan {
    int64_t step_ms;        // a multiple of RATE_FINE_MS
    int64_t from_ms, to_ms; // multiples of it
} RateSpan;
// The answer of /v1/rates.
MUST_CHECK Status rates_write(struct Server *server, Arena *arena, const RateSpan *span,
                              JsonWriter *json, Diag *diag);

// Tracer: spans of runs, turns and tasks, sent to an OpenTelemetry collector: OTLP/HTTP in JSON.
//
// It exists when OTEL_EXPORTER_OTLP_ENDPOINT is set. The engine's thread leaves finished spans in a
// queue; a thread of the tracer sends them in batches.
//
//   [observe-trace-1] The engine never waits for the tracer: a span that finds no room is dropped
//        and counted.
//   [observe-trace-2] What cannot be sent is tried again a few times, then dropped and counted.
//   [observe-trace-3] A run that was started under a trace that is not sampled has no spans.
#pragma once
#include "api/engine.h"
#include "base/containers/buf.h"
#include "base/containers/vec.h"
#include "model/trace.h"
#include <pthread.h>
#include <stdatomic.h>

enum {
    TRACE_QUEUE_MAX = 8192, // spans
    TRACE_BATCH_MAX = 512,
    TRACE_HEADERS_MAX = 16,
};

typedef struct TraceConfig {
    Str url; // where spans are posted to; null = no tracing
    Str service_name;
    Str headers[TRACE_HEADERS_MAX]; // "name: value"
    size_t header_count;
    int64_t timeout_ms; // of one post
    int64_t delay_ms;   // how long spans are gathered at most
} TraceConfig;

// From OTEL_EXPORTER_OTLP_ENDPOINT (or …_TRACES_ENDPOINT), …_HEADERS, …_TIMEOUT, OTEL_SERVICE_NAME,
// OTEL_BSP_SCHEDULE_DELAY, OTEL_SDK_DISABLED. Texts live in the arena. Codes: BAD_OTEL.
MUST_CHECK Status trace_config_read(Arena *arena, TraceConfig *ret_config, Diag *diag);

typedef enum SpanKind { SPAN_RUN, SPAN_TURN, SPAN_TASK } SpanKind;

enum { SPAN_LINKS_MAX = 8 };

typedef struct SpanLink {
    TraceParent to;
    const char *what; // "turn", "task" or "run"
} SpanLink;

typedef struct Span {
    SpanKind kind;
    TraceParent self;
    uint8_t parent_id[SPAN_ID_SIZE];
    bool has_parent;
    int64_t run; // tasks: key of the run, whose trace is found when it is sent; 0 = none
    // Turns: see TurnCommit; their links are found when they are sent.
    int64_t before_seq, start_seq, turn_seq;
    SpanLink links[SPAN_LINKS_MAX];
    size_t link_count;
    int64_t began_ns, ended_ns; // since 1970
    int64_t state;              // RunState or TaskState
    int64_t number;             // turns: the epoch; tasks: the attempt
    Str name;                   // workflow or task; owned
    Str id;                     // of the run or the task; owned
} Span;

typedef VEC(Span) Spans;

typedef struct Tracer {
    TraceConfig config;
    Arena arena; // of the configuration
    abide_engine *engine;
    Logger *logger;
    _Atomic int64_t exported, dropped;
    pthread_t thread;
    pthread_mutex_t lock; // guards what follows
    pthread_cond_t wake;
    Spans queue;
    bool is_stopping;
} Tracer;

// Begins to take spans. *ret_tracer is NULL when nothing is configured. Codes: BAD_OTEL,
// CURL_MISSING.
MUST_CHECK Status tracer_start(abide_engine *engine, Logger *logger, Tracer **ret_tracer,
                               Diag *diag);
// On the coordinator's thread.
void tracer_notice(Tracer *tracer, const EngineEvent *event);
// Sends what is left, within the time of one post. NULL is fine.
void tracer_stop(Tracer *tracer);

// ---- trace_links.c ----
// On the tracer's thread: reads the log.
void trace_link_turn(Tracer *tracer, Arena *arena, const TraceParent *run, Span *span);

// ---- trace_json.c ----
void span_free(Span *span);
// An ExportTraceServiceRequest as JSON.
void trace_write(Buf *text, const Span *spans, size_t count, Str service_name);

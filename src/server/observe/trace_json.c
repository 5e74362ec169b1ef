// Spans as OTLP's JSON: the ExportTraceServiceRequest of opentelemetry-proto.
//
// Ids are hexadecimal and 64-bit numbers are strings there.
//
// Not here: which spans (trace.c).
#include "base/assert.h"
#include "base/memory.h"
#include "base/text/hex.h"
#include "json/write.h"
#include "server/observe/trace.h"
#include <stdio.h>

enum { KIND_INTERNAL = 1, KIND_CONSUMER = 5, STATUS_OK = 1, STATUS_ERROR = 2 };

void span_free(Span *span) {
    mem_free((void *)(uintptr_t)span->name.data);
    mem_free((void *)(uintptr_t)span->id.data);
}

static void put_hex(JsonWriter *json, const char *key, const uint8_t *bytes, size_t size) {
    char text[2 * TRACE_ID_SIZE];
    ASSERT(size <= TRACE_ID_SIZE);
    hex_write(text, bytes, size);
    json_put_string(json, key, (Str){text, 2 * size});
}

static void put_big(JsonWriter *json, const char *key, int64_t value) {
    char text[24];
    int len = snprintf(text, sizeof text, "%lld", (long long)value);
    json_put_string(json, key, (Str){text, (size_t)len});
}

static void begin_attribute(JsonWriter *json, const char *key) {
    json_write_object_begin(json);
    json_put_cstr(json, "key", key);
    json_write_key(json, STR("value"));
    json_write_object_begin(json);
}

static void end_attribute(JsonWriter *json) {
    json_write_object_end(json);
    json_write_object_end(json);
}

static void put_text(JsonWriter *json, const char *key, Str value) {
    begin_attribute(json, key);
    json_put_string(json, "stringValue", value);
    end_attribute(json);
}

static void put_number(JsonWriter *json, const char *key, int64_t value) {
    begin_attribute(json, key);
    put_big(json, "intValue", value);
    end_attribute(json);
}

static void put_attributes(JsonWriter *json, const Span *span) {
    bool is_task = span->kind == SPAN_TASK;
    const char *state = is_task ? task_state_name(span->state) : run_state_name(span->state);
    json_write_key(json, STR("attributes"));
    json_write_array_begin(json);
    put_text(json, is_task ? "abide.task.id" : "abide.run.id", span->id);
    put_text(json, is_task ? "abide.task.name" : "abide.workflow", span->name);
    put_text(json, is_task ? "abide.task.state" : "abide.run.state", str_from(state));
    if (is_task) put_number(json, "abide.task.attempt", span->number);
    if (span->kind == SPAN_TURN) {
        put_number(json, "abide.turn.epoch", span->number);
        put_number(json, "abide.turn.seq", span->turn_seq);
    }
    json_write_array_end(json);
}

static void put_links(JsonWriter *json, const Span *span) {
    if (span->link_count == 0) return;
    json_write_key(json, STR("links"));
    json_write_array_begin(json);
    for (size_t i = 0; i < span->link_count; i++) {
        const SpanLink *link = &span->links[i];
        json_write_object_begin(json);
        put_hex(json, "traceId", link->to.trace_id, TRACE_ID_SIZE);
        put_hex(json, "spanId", link->to.span_id, SPAN_ID_SIZE);
        json_write_key(json, STR("attributes"));
        json_write_array_begin(json);
        put_text(json, "abide.link", str_from(link->what));
        json_write_array_end(json);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

static bool is_error(const Span *span) {
    if (span->kind == SPAN_TASK) return span->state != TASK_COMPLETED;
    return span->state == RUN_FAILED;
}

static void put_status(JsonWriter *json, const Span *span) {
    bool has_ended = span->kind != SPAN_TURN;
    json_write_key(json, STR("status"));
    json_write_object_begin(json);
    if (is_error(span)) json_put_i64(json, "code", STATUS_ERROR);
    else if (has_ended) json_put_i64(json, "code", STATUS_OK);
    json_write_object_end(json);
}

static void put_span(JsonWriter *json, const Span *span) {
    static const char *const prefixes[] = {"run ", "turn ", "task "};
    char name[300];
    int len = snprintf(name, sizeof name, "%s%.*s", prefixes[span->kind], STR_ARG(span->name));
    json_write_object_begin(json);
    put_hex(json, "traceId", span->self.trace_id, TRACE_ID_SIZE);
    put_hex(json, "spanId", span->self.span_id, SPAN_ID_SIZE);
    if (span->has_parent) put_hex(json, "parentSpanId", span->parent_id, SPAN_ID_SIZE);
    json_put_string(json, "name", (Str){name, (size_t)len});
    json_put_i64(json, "kind", span->kind == SPAN_TASK ? KIND_CONSUMER : KIND_INTERNAL);
    put_big(json, "startTimeUnixNano", span->began_ns);
    put_big(json, "endTimeUnixNano", span->ended_ns);
    put_attributes(json, span);
    put_links(json, span);
    put_status(json, span);
    json_write_object_end(json);
}

void trace_write(Buf *text, const Span *spans, size_t count, Str service_name) {
    JsonWriter json;
    json_writer_init(&json, text, STR_NULL);
    json_write_object_begin(&json);
    json_write_key(&json, STR("resourceSpans"));
    json_write_array_begin(&json);
    json_write_object_begin(&json);
    json_write_key(&json, STR("resource"));
    json_write_object_begin(&json);
    json_write_key(&json, STR("attributes"));
    json_write_array_begin(&json);
    put_text(&json, "service.name", service_name);
    put_text(&json, "service.version", str_from(abide_version()));
    json_write_array_end(&json);
    json_write_object_end(&json);
    json_write_key(&json, STR("scopeSpans"));
    json_write_array_begin(&json);
    json_write_object_begin(&json);
    json_write_key(&json, STR("scope"));
    json_write_object_begin(&json);
    json_put_cstr(&json, "name", "abide");
    json_write_object_end(&json);
    json_write_key(&json, STR("spans"));
    json_write_array_begin(&json);
    for (size_t i = 0; i < count; i++) put_span(&json, &spans[i]);
    json_write_array_end(&json);
    json_write_object_end(&json);
    json_write_array_end(&json);
    json_write_object_end(&json);
    json_write_array_end(&json);
    json_write_object_end(&json);
}

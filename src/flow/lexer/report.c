// Report: collects findings and renders them.
//
// The text form shows the offending line with the span underlined:
//
//   error[FLOW_SYNTAX]: Unexpected token '}'
//     --> order.flow:3:9
//      |
//    3 |   charge(}
//      |          ^
//      = hint: …
//
// Lines longer than the window are cut around the span, tabs become spaces, and bytes that are
// not text become U+FFFD, so that a hostile file cannot play with the reader's terminal.
#include "flow/lexer/report.h"
#include "base/assert.h"
#include "base/text/utf.h"
#include "json/write.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    EXCERPT_WIDTH = 100, // characters of a line that are shown
    MESSAGE_MAX = 400,
};

static const char *const code_names[FLOW_CODE_COUNT] = {
    [FLOW_ERROR_SYNTAX] = "FLOW_SYNTAX",
    [FLOW_ERROR_ENCODING] = "FLOW_ENCODING",
    [FLOW_ERROR_LITERAL] = "FLOW_LITERAL",
    [FLOW_ERROR_TARGET] = "FLOW_TARGET",
    [FLOW_ERROR_REDECLARED] = "FLOW_REDECLARED",
    [FLOW_ERROR_STRICT] = "FLOW_STRICT",
    [FLOW_ERROR_CONTEXT] = "FLOW_CONTEXT",
    [FLOW_ERROR_CLASS] = "FLOW_CLASS",
    [FLOW_ERROR_PRIVATE] = "FLOW_PRIVATE",
    [FLOW_ERROR_REFUSED] = "FLOW_REFUSED",
    [FLOW_ERROR_FORM] = "FLOW_FORM",
    [FLOW_ERROR_CONFIG] = "FLOW_CONFIG",
    [FLOW_ERROR_NESTING] = "FLOW_NESTING",
    [FLOW_ERROR_LIMIT] = "FLOW_LIMIT",
    [FLOW_ERROR_UNDECLARED] = "FLOW_UNDECLARED",
    [FLOW_ERROR_MEMBER] = "FLOW_MEMBER",
    [FLOW_ERROR_ARGUMENT] = "FLOW_ARGUMENT",
    [FLOW_ERROR_OPTION] = "FLOW_OPTION",
    [FLOW_WARNING_UNAWAITED] = "FLOW_UNAWAITED",
};

const char *flow_code_name(FlowCode code) {
    ASSERT(code < FLOW_CODE_COUNT);
    return code_names[code];
}

void flow_report_init(FlowReport *report, const FlowSource *source, Arena *arena) {
    *report = (FlowReport){.source = source, .arena = arena};
}

void flow_report_add(FlowReport *report, const FlowFinding *finding, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    flow_report_add_list(report, finding, format, arguments);
    va_end(arguments);
}

// The place for one more; NULL when it is only counted. [report-2]
static FlowDiagnostic *next_place(FlowReport *report, FlowSeverity severity) {
    if (!flow_report_is_full(report)) return &report->items[report->count++];
    report->dropped_count++;
    for (uint32_t i = report->count; severity == FLOW_SEVERITY_ERROR && i > 0; i--)
        if (report->items[i - 1].severity != FLOW_SEVERITY_ERROR) return &report->items[i - 1];
    return NULL;
}

static Str hint_text(const FlowReport *report, const FlowFinding *finding) {
    if (finding->hint) return arena_str(report->arena, str_from(finding->hint));
    if (!finding->suggestion) return STR_NULL;
    return arena_printf(report->arena, "Did you mean `%s`?", finding->suggestion);
}

void flow_report_add_list(FlowReport *report, const FlowFinding *finding, const char *format,
                          va_list arguments) {
    if (finding->severity == FLOW_SEVERITY_ERROR) {
        for (uint32_t i = 0; i < report->count; i++) // [report-3]
            if (report->items[i].start == finding->start &&
                report->items[i].severity == FLOW_SEVERITY_ERROR)
                return;
        report->error_count++;
    }
    FlowDiagnostic *place = next_place(report, finding->severity);
    if (!place) return;
    char text[MESSAGE_MAX];
    int len = vsnprintf(text, sizeof(text), format, arguments);
    if (len < 0) len = 0;
    if ((size_t)len >= sizeof(text)) len = (int)sizeof(text) - 1;
    Str message = {text, (size_t)len};
    message.len = utf8_valid_prefix(message); // a cut may have split a character
    Str suggestion = str_from(finding->suggestion);
    *place = (FlowDiagnostic){
        .code = finding->code,
        .severity = finding->severity,
        .start = finding->start,
        .end = finding->end > finding->start ? finding->end : finding->start + 1,
        .message = arena_str(report->arena, message),
        .hint = hint_text(report, finding),
        .suggestion = finding->suggestion ? arena_str(report->arena, suggestion) : STR_NULL,
    };
}

static int compare_diagnostics(const void *a, const void *b) {
    const FlowDiagnostic *left = a;
    const FlowDiagnostic *right = b;
    return left->start < right->start ? -1 : left->start > right->start;
}

static void sort_report(FlowReport *report) {
    if (report->count > 1) // [report-4]
        qsort(report->items, report->count, sizeof(report->items[0]), compare_diagnostics);
}

static const char *severity_name(FlowSeverity severity) {
    return severity == FLOW_SEVERITY_ERROR ? "error" : "warning";
}

// One character of the excerpt; control characters and broken bytes must not reach a terminal.
static void append_visible(Buf *text, Str character) {
    unsigned char c = (unsigned char)character.data[0];
    if (c == '\t') buf_append_char(text, ' ');
    else if (c < 0x20 || c == 0x7F || !utf8_is_valid(character) ||
             (c == 0xC2 && (unsigned char)character.data[1] < 0xA0))
        buf_append_cstr(text, "\xEF\xBF\xBD");
    else buf_append_str(text, character);
}

static size_t character_size(Str line, size_t at) {
    size_t size = 1;
    while (at + size < line.len && size < 4 && ((unsigned char)line.data[at + size] & 0xC0) == 0x80)
        size++;
    return size;
}

// The part of `line` around the span, and under it the carets.
static void render_excerpt(Buf *text, Str line, uint32_t line_start, const FlowDiagnostic *item) {
    size_t span_start = item->start - line_start;
    size_t span_end = item->end - line_start;
    if (span_start > line.len) span_start = line.len;
    if (span_end > line.len) span_end = line.len;
    size_t first = 0;
    if (span_start > EXCERPT_WIDTH - 20) {
        first = span_start - (EXCERPT_WIDTH - 20);
        while (first < line.len && ((unsigned char)line.data[first] & 0xC0) == 0x80) first++;
    }
    Buf carets;
    buf_init(&carets, 4 * EXCERPT_WIDTH);
    if (first > 0) {
        buf_append_cstr(text, "…");
        buf_append_char(&carets, ' ');
    }
    size_t at = first;
    for (int shown = 0; at < line.len && shown < EXCERPT_WIDTH; shown++) {
        size_t size = character_size(line, at);
        append_visible(text, (Str){line.data + at, size});
        if (at < span_end || at <= span_start)
            buf_append_char(&carets, at >= span_start ? '^' : ' ');
        at += size;
    }
    if (at < line.len) buf_append_cstr(text, "…");
    if (span_start >= line.len) buf_append_char(&carets, '^');
    buf_append_char(text, '\n');
    buf_printf(text, "     | %s\n", buf_cstr(&carets));
    buf_done(&carets);
}

// The line of a finding, as people are shown it.
static void put_excerpt(JsonWriter *writer, const FlowReport *report, const FlowDiagnostic *item,
                        uint32_t line) {
    Buf text;
    buf_init(&text, 8 * EXCERPT_WIDTH + 64);
    render_excerpt(&text, flow_source_line(report->source, line),
                   report->source->line_starts[line - 1], item);
    const char *end = memchr(text.data, '\n', text.len);
    json_put_string(writer, "excerpt",
                    (Str){text.data, end ? (size_t)(end - text.data) : text.len});
    buf_done(&text);
}

static void render_item(const FlowReport *report, const FlowDiagnostic *item, Buf *text) {
    const FlowSource *source = report->source;
    FlowPosition position = flow_source_position(source, item->start);
    buf_printf(text, "%s[%s]: %.*s\n", severity_name(item->severity), flow_code_name(item->code),
               STR_ARG(item->message));
    buf_printf(text, "   --> %.*s:%u:%u\n     |\n", STR_ARG(source->name), position.line,
               position.column);
    buf_printf(text, "%4u | ", position.line);
    render_excerpt(text, flow_source_line(source, position.line),
                   source->line_starts[position.line - 1], item);
    if (!str_is_null(item->hint)) buf_printf(text, "     = hint: %.*s\n", STR_ARG(item->hint));
    buf_append_char(text, '\n');
}

void flow_report_render_text(FlowReport *report, Buf *ret_text) {
    sort_report(report);
    for (uint32_t i = 0; i < report->count; i++) render_item(report, &report->items[i], ret_text);
    if (report->dropped_count > 0) buf_printf(ret_text, "… and %u more\n", report->dropped_count);
}

void flow_report_render_json(FlowReport *report, Buf *ret_json) {
    sort_report(report);
    JsonWriter writer;
    json_writer_init(&writer, ret_json, STR_NULL);
    json_write_array_begin(&writer);
    for (uint32_t i = 0; i < report->count; i++) {
        const FlowDiagnostic *item = &report->items[i];
        FlowPosition from = flow_source_position(report->source, item->start);
        FlowPosition to = flow_source_position(report->source, item->end);
        json_write_object_begin(&writer);
        json_put_cstr(&writer, "severity", severity_name(item->severity));
        json_put_cstr(&writer, "code", flow_code_name(item->code));
        json_put_string(&writer, "message", item->message);
        json_put_string(&writer, "hint", item->hint);
        json_put_string(&writer, "suggestion", item->suggestion);
        json_put_string(&writer, "file", report->source->name);
        json_put_i64(&writer, "line", from.line);
        json_put_i64(&writer, "column", from.column);
        json_put_i64(&writer, "endLine", to.line);
        json_put_i64(&writer, "endColumn", to.column);
        json_put_i64(&writer, "start", item->start);
        json_put_i64(&writer, "end", item->end);
        put_excerpt(&writer, report, item, from.line);
        json_write_object_end(&writer);
    }
    json_write_array_end(&writer);
}

const char *flow_report_refusal(const FlowReport *report) {
    for (uint32_t i = 0; i < report->count; i++)
        if (report->items[i].code < FLOW_ERROR_UNDECLARED) return "FLOW_SYNTAX";
    return "FLOW_CHECK";
}

void flow_report_first(FlowReport *report, Diag *diag) {
    sort_report(report);
    for (uint32_t i = 0; i < report->count; i++) {
        const FlowDiagnostic *item = &report->items[i];
        if (item->severity != FLOW_SEVERITY_ERROR) continue;
        FlowPosition at = flow_source_position(report->source, item->start);
        bool is_guessed = !str_is_null(item->suggestion);
        (void)diag_set(diag, ERR_INVALID, flow_code_name(item->code), "%.*s:%u:%u: %.*s%s%.*s%s",
                       STR_ARG(report->source->name), at.line, at.column, STR_ARG(item->message),
                       is_guessed ? "; did you mean `" : "", STR_ARG(item->suggestion),
                       is_guessed ? "`?" : "");
        return;
    }
    diag_clear(diag);
}

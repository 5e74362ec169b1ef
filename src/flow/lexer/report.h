// Report: what is wrong with a Flow file, for people and for programs.
//
//   [report-1] Codes are stable words that documentation and tests may name; messages may change.
//   [report-2] At most FLOW_REPORT_MAX findings are kept; what comes later is only counted. An
//        error takes the place of a warning, so that an error is among them whenever there is one.
//   [report-3] Two errors never start at the same offset: the first one said it.
//   [report-4] Rendering sorts by position, so the order of the passes does not show.
#pragma once
#include "base/arena.h"
#include "base/containers/buf.h"
#include "flow/lexer/source.h"

enum { FLOW_REPORT_MAX = 20 };

typedef enum FlowCode {
    FLOW_ERROR_SYNTAX,      // a token stands where none of its kind may stand
    FLOW_ERROR_ENCODING,    // the text is not UTF-8
    FLOW_ERROR_LITERAL,     // number, string, template or regular expression is malformed
    FLOW_ERROR_TARGET,      // what is assigned to cannot be assigned to
    FLOW_ERROR_REDECLARED,  // one name, two declarations
    FLOW_ERROR_STRICT,      // legal only in sloppy mode
    FLOW_ERROR_CONTEXT,     // await, yield, super, return, break … in the wrong place
    FLOW_ERROR_CLASS,       // class body rules
    FLOW_ERROR_PRIVATE,     // private names
    FLOW_ERROR_REFUSED,     // part of JavaScript, not of workflows
    FLOW_ERROR_FORM,        // workflow blocks, exports and bodies that do not go together
    FLOW_ERROR_CONFIG,      // `export const config` is not a literal, or says what it cannot say
    FLOW_ERROR_NESTING,     // too deep
    FLOW_ERROR_LIMIT,       // too many of something
    FLOW_ERROR_UNDECLARED,  // a name that is declared nowhere
    FLOW_ERROR_MEMBER,      // a member that the object lacks
    FLOW_ERROR_ARGUMENT,    // an argument that a workflow call does not take, or lacks
    FLOW_ERROR_OPTION,      // an option that a workflow call does not have, or its value
    FLOW_WARNING_UNAWAITED, // a promise that nothing waits for
    FLOW_CODE_COUNT
} FlowCode;

typedef enum FlowSeverity { FLOW_SEVERITY_ERROR, FLOW_SEVERITY_WARNING } FlowSeverity;

typedef struct FlowFinding { // what flow_report_add is given
    FlowCode code;
    FlowSeverity severity;
    uint32_t start; // byte offsets of what is underlined
    uint32_t end;
    const char *hint;       // copied; NULL without one
    const char *suggestion; // what to write instead of what is underlined; copied; NULL without one
} FlowFinding;

typedef struct FlowDiagnostic {
    FlowCode code;
    FlowSeverity severity;
    uint32_t start;
    uint32_t end;
    Str message;
    Str hint;       // null without one; "Did you mean `…`?" when there is only a suggestion
    Str suggestion; // null without one
} FlowDiagnostic;

struct FlowReport {
    const FlowSource *source;
    Arena *arena;
    FlowDiagnostic items[FLOW_REPORT_MAX];
    uint32_t count;
    uint32_t error_count;   // also of those not kept
    uint32_t dropped_count; // [report-2]
};

void flow_report_init(FlowReport *report, const FlowSource *source, Arena *arena);
void flow_report_add(FlowReport *report, const FlowFinding *finding, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void flow_report_add_list(FlowReport *report, const FlowFinding *finding, const char *format,
                          va_list arguments) __attribute__((format(printf, 3, 0)));
static inline bool flow_report_is_full(const FlowReport *report) {
    return report->count == FLOW_REPORT_MAX;
}
const char *flow_code_name(FlowCode code); // "FLOW_SYNTAX"

// Every finding with file, line, column and the underlined excerpt.
void flow_report_render_text(FlowReport *report, Buf *ret_text);
// An array of {severity, code, message, hint, suggestion, file, line, column, endLine, endColumn,
// start, end, excerpt}.
void flow_report_render_json(FlowReport *report, Buf *ret_json);
// What a refusal for these findings is called: "FLOW_SYNTAX" when the file cannot be loaded,
// "FLOW_CHECK" when it could, and what the check found would not work.
const char *flow_report_refusal(const FlowReport *report);
// The first error as one line "file:line:column: message"; for callers that carry one message.
void flow_report_first(FlowReport *report, Diag *diag);

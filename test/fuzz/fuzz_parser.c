// Fuzz target: the front end of the language.
//
// Properties, for any bytes, as a workflow and as a prelude:
//   [fuzz-parser-1] A program comes back exactly when no error was reported.
//   [fuzz-parser-2] Findings lie inside the text, and render as text and as valid JSON.
//   [fuzz-parser-3] In a program every name is resolved, and the tree can be walked.
//   [fuzz-parser-4] The lexer alone, which the parser may guide differently, ends on any bytes.
//   [fuzz-parser-5] What parses can be checked, and [fuzz-parser-2] holds for what the check finds.
#include "base/assert.h"
#include "base/text/utf.h"
#include "flow/check/check.h"
#include "flow/lexer/lexer.h"
#include "flow/parser/parse.h"
#include "fuzz.h"
#include "json/validate.h"

enum { TEXT_MAX = 64 << 20 };

static void check_report(FlowReport *report, Str text) {
    Buf buf;
    buf_init(&buf, TEXT_MAX);
    flow_report_render_text(report, &buf);
    ASSERT(utf8_is_valid(buf_str(&buf)));
    buf_clear(&buf);
    flow_report_render_json(report, &buf);
    ASSERT(json_validate(buf_str(&buf), NULL) == OK);
    for (uint32_t i = 0; i < report->count; i++) { // [fuzz-parser-2]
        ASSERT(report->items[i].start <= text.len);
        ASSERT(report->items[i].start < report->items[i].end);
    }
    buf_done(&buf);
}

static void check_program(const FlowProgram *program) {
    Buf buf;
    buf_init(&buf, TEXT_MAX);
    flow_ast_print(program, true, &buf);
    ASSERT(!strchr(buf_cstr(&buf),
                   1)); // [fuzz-parser-3]: what the printer puts after unresolved names
    ASSERT(program->main->id == 0);
    ASSERT(program->form == FORM_PRELUDE || program->entry_count > 0);
    buf_done(&buf);
}

static void check_parse(Str text, FlowParseMode mode) {
    Arena arena;
    arena_init(&arena);
    FlowSource source;
    FlowReport report;
    if (flow_source_init(&source, STR("fuzz.flow"), text, &arena, NULL) == OK) {
        flow_report_init(&report, &source, &arena);
        FlowProgram *program = flow_parse(&source, mode, &arena, &report);
        ASSERT((program != NULL) == (report.error_count == 0)); // [fuzz-parser-1]
        check_report(&report, text);
        if (program) check_program(program);
        if (program && mode == FLOW_PARSE_WORKFLOW) { // [fuzz-parser-5]
            flow_check(program, &arena, &report);
            check_report(&report, text);
        }
    }
    arena_done(&arena);
}

static void check_lexer(Str text) {
    if (!utf8_is_valid(text) || memchr(text.data, 0, text.len)) return;
    Arena arena;
    arena_init(&arena);
    FlowSource source;
    FlowReport report;
    FlowNames names;
    FlowLexer lexer;
    FlowToken token = {.kind = TOKEN_ERROR};
    if (flow_source_init(&source, STR("fuzz.flow"), text, &arena, NULL) == OK) {
        flow_report_init(&report, &source, &arena);
        flow_names_init(&names, &arena);
        flow_lexer_init(&lexer, &source, &names, &arena, &report);
        for (size_t steps = 0; token.kind != TOKEN_END; steps++) { // [fuzz-parser-4]
            ASSERT(steps <= text.len + 1);
            flow_lexer_next(&lexer, &token);
            ASSERT(token.start <= token.end && token.end <= text.len);
        }
    }
    arena_done(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Str text = {(const char *)data, size};
    check_parse(text, FLOW_PARSE_WORKFLOW);
    check_parse(text, FLOW_PARSE_PRELUDE);
    if (size > 0) check_lexer(text);
    return 0;
}

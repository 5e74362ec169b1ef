// What the tests of the language's front end share: parse a text, look at the tree or the errors.
#pragma once
#include "base/array.h"
#include "flow/parser/parse.h"
#include "unit/unit.h"

typedef struct Parsed {
    Arena arena;
    FlowSource source;
    FlowReport report;
    FlowProgram *program; // NULL: refused
    Buf text;             // scratch for the printed tree or report
} Parsed;

static inline void parsed_done(Parsed *parsed) {
    buf_done(&parsed->text);
    arena_done(&parsed->arena);
}

static inline void parse_bytes(Parsed *parsed, Str text, FlowParseMode mode) {
    arena_init(&parsed->arena);
    buf_init(&parsed->text, 16 << 20);
    assert_ok(flow_source_init(&parsed->source, STR("test.flow"), text, &parsed->arena, NULL));
    flow_report_init(&parsed->report, &parsed->source, &parsed->arena);
    parsed->program = flow_parse(&parsed->source, mode, &parsed->arena, &parsed->report);
    assert_true((parsed->program != NULL) == (parsed->report.error_count == 0));
}

static inline void parse_text(Parsed *parsed, const char *text) {
    parse_bytes(parsed, str_from(text), FLOW_PARSE_WORKFLOW);
}

// The first error by position; "" when there is none.
static inline const char *parsed_error(Parsed *parsed) {
    if (parsed->report.error_count == 0) return "";
    Diag diag = {0};
    flow_report_first(&parsed->report, &diag);
    const char *message = diag.message;
    for (int colons = 0; colons < 3; message++) colons += *message == ':';
    return arena_str(&parsed->arena, str_from(message + 1)).data;
}

static inline const char *parsed_tree(Parsed *parsed, bool shows_access) {
    buf_clear(&parsed->text);
    if (parsed->program) flow_ast_print(parsed->program, shows_access, &parsed->text);
    return buf_cstr(&parsed->text);
}

typedef struct TextCase {
    const char *source;
    const char *expected;
} TextCase;

#define check_trees(cases)  check_texts((cases), COUNT_OF(cases), 0)
#define check_access(cases) check_texts((cases), COUNT_OF(cases), 1)
#define check_errors(cases) check_texts((cases), COUNT_OF(cases), 2)

static inline void check_texts(const TextCase *cases, size_t count, int what) {
    size_t failed = 0;
    for (size_t i = 0; i < count; i++) {
        Parsed parsed;
        parse_text(&parsed, cases[i].source);
        const char *actual = what == 2 ? parsed_error(&parsed) : parsed_tree(&parsed, what == 1);
        if (strcmp(actual, cases[i].expected) != 0 || (what != 2 && !parsed.program)) {
            failed++;
            print_error("%s\n   actual: %s\n expected: %s\n    error: %s\n", cases[i].source,
                        actual, cases[i].expected, parsed_error(&parsed));
        }
        parsed_done(&parsed);
    }
    assert_int_equal(failed, 0);
}

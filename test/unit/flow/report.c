// Reports: several errors per file, recovery without cascades, rendering, and broken encodings.
#include "unit/flow/text.h"

static void check_report(const char *source, const char *expected) {
    Parsed parsed;
    parse_text(&parsed, source);
    flow_report_render_text(&parsed.report, &parsed.text);
    if (strcmp(buf_cstr(&parsed.text), expected) != 0)
        print_error("actual:\n%s\nexpected:\n%s\n", buf_cstr(&parsed.text), expected);
    assert_string_equal(buf_cstr(&parsed.text), expected);
    parsed_done(&parsed);
}

static void an_error_shows_its_place(void **state) {
    (void)state;
    check_report("const a = 1\nconst b = require('x')\n",
                 "error[FLOW_REFUSED]: `require` is not available in a workflow\n"
                 "   --> test.flow:2:11\n"
                 "     |\n"
                 "   2 | const b = require('x')\n"
                 "     |           ^^^^^^^\n"
                 "     = hint: A workflow file is complete in itself; call a task instead\n"
                 "\n");
    check_report("\tfoo(", "error[FLOW_SYNTAX]: Unexpected end of input\n"
                           "   --> test.flow:1:6\n"
                           "     |\n"
                           "   1 |  foo(\n"
                           "     |      ^\n"
                           "\n");
}

static void columns_count_characters(void **state) {
    (void)state;
    check_report("'\xC3\xA9\xF0\x9F\x98\x80' \xC3\xA9",
                 "error[FLOW_SYNTAX]: Unexpected identifier '\xC3\xA9'\n"
                 "   --> test.flow:1:6\n"
                 "     |\n"
                 "   1 | '\xC3\xA9\xF0\x9F\x98\x80' \xC3\xA9\n"
                 "     |      ^\n"
                 "\n");
}

static void long_lines_are_cut_around_the_error(void **state) {
    (void)state;
    char text[600];
    memset(text, 'a', sizeof(text));
    memcpy(text + 300, " = ) + ", 7);
    text[599] = 0;
    Parsed parsed;
    parse_text(&parsed, text);
    flow_report_render_text(&parsed.report, &parsed.text);
    const char *line = strstr(buf_cstr(&parsed.text), "   1 | ");
    assert_non_null(line);
    assert_true(strncmp(line + 7,
                        "\xE2\x80\xA6"
                        "aaa",
                        6) == 0);
    assert_true(strcspn(line, "\n") < 130);
    const char *carets = strchr(line, '\n') + 1;
    size_t caret = strcspn(carets, "^"); // the ellipsis before it is three bytes, one column
    assert_int_equal(line[caret + 2], ')');
    parsed_done(&parsed);
}

static void control_characters_do_not_reach_the_terminal(void **state) {
    (void)state;
    Parsed parsed;
    parse_text(&parsed, "a = '\x1B[31m\x7F\xC2\x9B' )");
    flow_report_render_text(&parsed.report, &parsed.text);
    assert_null(strchr(buf_cstr(&parsed.text), 0x1B));
    assert_null(strchr(buf_cstr(&parsed.text), 0x7F));
    assert_null(strstr(buf_cstr(&parsed.text), "\xC2\x9B"));
    parsed_done(&parsed);
}

static void json_has_every_field(void **state) {
    (void)state;
    Parsed parsed;
    parse_text(&parsed, "let a;\nlet a; fetch()");
    flow_report_render_json(&parsed.report, &parsed.text);
    assert_string_equal(
        buf_cstr(&parsed.text),
        "[{\"severity\":\"error\",\"code\":\"FLOW_REDECLARED\",\"message\":\"Identifier 'a' has "
        "already been declared\",\"hint\":null,\"suggestion\":null,\"file\":\"test.flow\","
        "\"line\":2,\"column\":5,\"endLine\":2,\"endColumn\":6,\"start\":11,\"end\":12,"
        "\"excerpt\":\"let a; fetch()\"},{\"severity\":\"error\",\"code\":"
        "\"FLOW_REFUSED\",\"message\":\"`fetch` is not available in a workflow\",\"hint\":"
        "\"Effects happen only in tasks: call one with `await Task.run(\\\"name\\\", input)`\","
        "\"suggestion\":null,\"file\":\"test.flow\",\"line\":2,\"column\":8,"
        "\"endLine\":2,\"endColumn\":13,\"start\":14,\"end\":19,\"excerpt\":\"let a; fetch()\"}]");
    parsed_done(&parsed);
}

// ---- several errors

// The lines of all errors, as "1 4 7".
static void check_lines(const char *source, const char *expected) {
    Parsed parsed;
    parse_text(&parsed, source);
    Buf discarded;
    buf_init(&discarded, 1 << 20);
    flow_report_render_text(&parsed.report, &discarded); // sorts
    for (uint32_t i = 0; i < parsed.report.count; i++)
        buf_printf(&parsed.text, "%s%u", i ? " " : "",
                   flow_source_position(&parsed.source, parsed.report.items[i].start).line);
    if (strcmp(buf_cstr(&parsed.text), expected) != 0)
        print_error("%s\n%s", source, buf_cstr(&discarded));
    assert_string_equal(buf_cstr(&parsed.text), expected);
    buf_done(&discarded);
    parsed_done(&parsed);
}

static void independent_errors_are_all_reported(void **state) {
    (void)state;
    check_lines("const a = ;\nlet b = 1\nlet b = 2\nconst c = 'x\nsetTimeout(f)\nbreak",
                "1 3 4 5 6");
    check_lines("function f() {\n  await g()\n  let x = [1, 2\n  return x\n}\nlet y = )\n",
                "2 4 6");
    check_lines("class A {\n  constructor() {}\n  constructor() {}\n  m() { this.#q }\n}", "3 4");
    check_lines("`a ${1 +} b`\nlet a = {b: }\nlet c = [}]\n", "1 2 3");
    check_lines("foo(function () {\n  let 1\n  let 2\n})\nlet 3", "2 3 5");
}

static void one_error_makes_no_others(void **state) {
    (void)state;
    check_lines("if (a {\n  b()\n}\nc()", "1");
    check_lines("for (const x of y { z() }\nw()", "1");
    check_lines("foo(a, b;\nbar()", "1");
    check_lines("let x = {a: 1, b: 2\nfoo()\n", "2");
    check_lines("switch (a) {\n  case 1: let = 2\n  case 2: b()\n}", "2");
    check_lines("const a = /x[/]\nfoo()", "1");
    check_lines("function f( {\n  return 1\n}\ng()", "2");
    check_lines("x = `a ${b c} d`\ny()", "1");
    check_lines("}\nfoo()", "1");
    check_lines("require('a'); require('b'); require('c')", "1");
}

static void at_most_twenty_errors_are_kept(void **state) {
    (void)state;
    Parsed parsed;
    Buf text;
    buf_init(&text, 1 << 20);
    for (int i = 0; i < 1000; i++) buf_append_cstr(&text, "let 1;\n");
    parse_bytes(&parsed, buf_str(&text), FLOW_PARSE_WORKFLOW);
    assert_int_equal(parsed.report.count, FLOW_REPORT_MAX);
    parsed_done(&parsed);
    buf_done(&text);
}

// ---- text that is no text

static void check_encoding(Str text, uint32_t line, uint32_t column, const char *message) {
    Parsed parsed;
    parse_bytes(&parsed, text, FLOW_PARSE_WORKFLOW);
    assert_int_equal(parsed.report.count, 1);
    assert_int_equal(parsed.report.items[0].code, FLOW_ERROR_ENCODING);
    FlowPosition at = flow_source_position(&parsed.source, parsed.report.items[0].start);
    assert_int_equal(at.line, line);
    assert_int_equal(at.column, column);
    assert_string_equal(parsed_error(&parsed), message);
    flow_report_render_text(&parsed.report, &parsed.text);
    assert_true(strstr(buf_cstr(&parsed.text), "\xEF\xBF\xBD") != NULL);
    parsed_done(&parsed);
}

static void broken_encodings_are_refused_with_their_place(void **state) {
    (void)state;
    check_encoding(STR("a\nb\0c"), 2, 2, "NUL byte in the source text");
    check_encoding(STR("a\n'\xFF'"), 2, 2, "The text is not valid UTF-8 (byte 0xFF)");
    check_encoding(STR("// \xC3"), 1, 4, "The text is not valid UTF-8 (byte 0xC3)");
    check_encoding(STR("\xED\xA0\x80"), 1, 1, "The text is not valid UTF-8 (byte 0xED)");
}

static void sources_have_a_largest_size(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena);
    FlowSource source;
    Diag diag = {0};
    Str huge = {"", (size_t)FLOW_SOURCE_MAX + 1};
    assert_status(flow_source_init(&source, STR("x"), huge, &arena, &diag), ERR_LIMIT);
    assert_string_equal(diag.code, "FLOW_TOO_LARGE");
    arena_done(&arena);
}

static void every_kind_of_line_end_counts(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena);
    FlowSource source;
    Str text = STR("a\nb\rc\r\nd\xE2\x80\xA8"
                   "e\xE2\x80\xA9"
                   "f");
    assert_ok(flow_source_init(&source, STR("x"), text, &arena, NULL));
    assert_int_equal(source.line_count, 6);
    for (uint32_t i = 1; i <= 6; i++) {
        char letter[2] = {(char)('a' + i - 1), 0};
        assert_str_equal(flow_source_line(&source, i), letter);
    }
    arena_done(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_error_shows_its_place),
        cmocka_unit_test(columns_count_characters),
        cmocka_unit_test(long_lines_are_cut_around_the_error),
        cmocka_unit_test(control_characters_do_not_reach_the_terminal),
        cmocka_unit_test(json_has_every_field),
        cmocka_unit_test(independent_errors_are_all_reported),
        cmocka_unit_test(one_error_makes_no_others),
        cmocka_unit_test(at_most_twenty_errors_are_kept),
        cmocka_unit_test(broken_encodings_are_refused_with_their_place),
        cmocka_unit_test(sources_have_a_largest_size),
        cmocka_unit_test(every_kind_of_line_end_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

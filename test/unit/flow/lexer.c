// Lexer: tokens, their values and positions; white space, comments, identifiers, numbers,
// strings, templates and regular expressions.
#include "flow/lexer/lexer.h"
#include "base/array.h"
#include "base/text/number.h"
#include "flow/lexer/unicode_id.h"
#include "unit/unit.h"
#include <math.h>
#include <stdio.h>

typedef struct Scan {
    Arena arena;
    FlowSource source;
    FlowReport report;
    FlowNames names;
    FlowLexer lexer;
    FlowToken token;
} Scan;

static void scan_begin(Scan *scan, Str text) {
    arena_init(&scan->arena);
    assert_ok(flow_source_init(&scan->source, STR("test.flow"), text, &scan->arena, NULL));
    flow_report_init(&scan->report, &scan->source, &scan->arena);
    flow_names_init(&scan->names, &scan->arena);
    flow_lexer_init(&scan->lexer, &scan->source, &scan->names, &scan->arena, &scan->report);
    flow_lexer_next(&scan->lexer, &scan->token);
}

static void scan_done(Scan *scan) { arena_done(&scan->arena); }

static void check_kinds(const char *text, const FlowTokenKind *kinds, size_t count) {
    Scan scan;
    scan_begin(&scan, str_from(text));
    for (size_t i = 0; i < count; i++) {
        if (scan.token.kind != kinds[i])
            print_error("token %zu of %s is '%s'\n", i, text,
                        flow_token_info[scan.token.kind].text);
        assert_int_equal(scan.token.kind, kinds[i]);
        flow_lexer_next(&scan.lexer, &scan.token);
    }
    assert_int_equal(scan.token.kind, TOKEN_END);
    scan_done(&scan);
}

#define check_tokens(text, ...)                                                                    \
    check_kinds((text), (const FlowTokenKind[]){__VA_ARGS__},                                      \
                sizeof((const FlowTokenKind[]){__VA_ARGS__}) / sizeof(FlowTokenKind))

static void every_sign_is_one_token(void **state) {
    (void)state;
    for (int kind = TOKEN_BRACE_OPEN; kind <= TOKEN_POWER; kind++) {
        char text[16];
        snprintf(text, sizeof(text), "%s ", flow_token_info[kind].text);
        check_tokens(text, (FlowTokenKind)kind);
    }
}

static void every_reserved_word_is_a_token(void **state) {
    (void)state;
    for (int kind = TOKEN_IDENTIFIER + 1; kind < TOKEN_COUNT; kind++) {
        if (kind == TOKEN_ESCAPED_WORD) continue;
        check_tokens(flow_token_info[kind].text, (FlowTokenKind)kind);
        char longer[32];
        snprintf(longer, sizeof(longer), "%sx", flow_token_info[kind].text);
        check_tokens(longer, TOKEN_IDENTIFIER);
    }
}

static void the_longest_sign_wins(void **state) {
    (void)state;
    check_tokens("a>>>=b", TOKEN_IDENTIFIER, TOKEN_ASSIGN_SHIFT_RIGHT_UNSIGNED, TOKEN_IDENTIFIER);
    check_tokens("a?.b", TOKEN_IDENTIFIER, TOKEN_OPTIONAL, TOKEN_IDENTIFIER);
    check_tokens("a?.5:1", TOKEN_IDENTIFIER, TOKEN_QUESTION, TOKEN_NUMBER, TOKEN_COLON,
                 TOKEN_NUMBER);
    check_tokens("a+++b", TOKEN_IDENTIFIER, TOKEN_INCREMENT, TOKEN_ADD, TOKEN_IDENTIFIER);
    check_tokens("....a", TOKEN_ELLIPSIS, TOKEN_DOT, TOKEN_IDENTIFIER);
    check_tokens("a..b", TOKEN_IDENTIFIER, TOKEN_DOT, TOKEN_DOT, TOKEN_IDENTIFIER);
}

static void comments_and_white_space_separate(void **state) {
    (void)state;
    check_tokens("a/**/b//c\nd/*e\n*/f", TOKEN_IDENTIFIER, TOKEN_IDENTIFIER, TOKEN_IDENTIFIER,
                 TOKEN_IDENTIFIER);
    check_tokens("a\t\v\f \xC2\xA0\xEF\xBB\xBF\xE2\x80\x83\xE3\x80\x80 b", TOKEN_IDENTIFIER,
                 TOKEN_IDENTIFIER);
    check_tokens("", TOKEN_END);
    check_tokens("// only a comment", TOKEN_END);
}

static bool is_second_after_newline(const char *text) {
    Scan scan;
    scan_begin(&scan, str_from(text));
    flow_lexer_next(&scan.lexer, &scan.token);
    bool result = scan.token.is_after_newline;
    scan_done(&scan);
    return result;
}

static void newlines_before_a_token_are_known(void **state) {
    (void)state;
    assert_false(is_second_after_newline("a b"));
    assert_false(is_second_after_newline("a /* */ b"));
    assert_true(is_second_after_newline("a\nb"));
    assert_true(is_second_after_newline("a\rb"));
    assert_true(is_second_after_newline("a\r\nb"));
    assert_true(is_second_after_newline("a\xE2\x80\xA8"
                                        "b"));
    assert_true(is_second_after_newline("a\xE2\x80\xA9"
                                        "b"));
    assert_true(is_second_after_newline("a /* \n */ b"));
    assert_true(is_second_after_newline("a // c\nb"));
}

static void check_name(const char *text, FlowTokenKind kind, const char *name) {
    Scan scan;
    scan_begin(&scan, str_from(text));
    assert_int_equal(scan.token.kind, kind);
    assert_str_equal(scan.token.name->text, name);
    assert_int_equal(scan.token.end, strlen(text));
    scan_done(&scan);
}

static void identifiers_may_be_unicode_and_escaped(void **state) {
    (void)state;
    check_name("$_a9", TOKEN_IDENTIFIER, "$_a9");
    check_name("\xC3\xA9t\xC3\xA9", TOKEN_IDENTIFIER, "\xC3\xA9t\xC3\xA9");
    check_name("\xE5\xA4\x89\xE6\x95\xB0", TOKEN_IDENTIFIER, "\xE5\xA4\x89\xE6\x95\xB0");
    check_name("\xF0\xA0\xAE\xB7", TOKEN_IDENTIFIER, "\xF0\xA0\xAE\xB7");
    check_name("a\xE2\x80\x8D", TOKEN_IDENTIFIER, "a\xE2\x80\x8D"); // ZWJ
    check_name("\\u0061b\\u{63}", TOKEN_IDENTIFIER, "abc");
    check_name("a\\u{1D7D8}", TOKEN_IDENTIFIER, "a\xF0\x9D\x9F\x98");
    check_name("#priv\\u0061te", TOKEN_PRIVATE_NAME, "#private");
    check_name("#\xC3\xA9", TOKEN_PRIVATE_NAME, "#\xC3\xA9");
    check_name("v\\u0061r", TOKEN_ESCAPED_WORD, "var");
    check_name("l\\u0065t", TOKEN_ESCAPED_WORD, "let");
    check_name("\\u0061sync", TOKEN_IDENTIFIER, "async");
}

static void identifier_classes_follow_unicode(void **state) {
    (void)state;
    static const struct {
        uint32_t code;
        bool starts;
        bool continues;
    } cases[] = {
        {0xAA, true, true},     {0xB7, false, true},     {0xD7, false, false},
        {0x300, false, true},   {0x2118, true, true},    {0x2E2F, false, false},
        {0x3007, true, true},   {0x4E00, true, true},    {0x9FFC, true, true},
        {0xD7A3, true, true},   {0xD7A4, false, false},  {0x200C, false, true},
        {0x20000, true, true},  {0x1D7CE, false, true},  {0x10FFFF, false, false},
        {0xE0100, false, true}, {0x1F600, false, false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_int_equal(unicode_is_id_start(cases[i].code), cases[i].starts);
        assert_int_equal(unicode_is_id_continue(cases[i].code), cases[i].continues);
    }
}

static void equal_names_are_one_pointer(void **state) {
    (void)state;
    Scan scan;
    scan_begin(&scan, STR("abc \\u0061bc abd abc 'abc'"));
    FlowName *first = scan.token.name;
    flow_lexer_next(&scan.lexer, &scan.token);
    assert_ptr_equal(scan.token.name, first);
    flow_lexer_next(&scan.lexer, &scan.token);
    assert_ptr_not_equal(scan.token.name, first);
    flow_lexer_next(&scan.lexer, &scan.token);
    assert_ptr_equal(scan.token.name, first);
    flow_lexer_next(&scan.lexer, &scan.token);
    assert_int_equal(scan.token.kind, TOKEN_STRING);
    assert_ptr_equal(scan.token.name, first);
    scan_done(&scan);
}

static void many_names_are_kept_apart(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena);
    FlowNames names;
    flow_names_init(&names, &arena);
    enum { NAME_COUNT = 5000 };
    FlowName **all = ARENA_ARRAY(&arena, FlowName *, NAME_COUNT);
    for (int i = 0; i < NAME_COUNT; i++)
        all[i] = flow_names_add(&names, arena_printf(&arena, "name%d", i));
    for (int i = 0; i < NAME_COUNT; i++)
        assert_ptr_equal(flow_names_add(&names, arena_printf(&arena, "name%d", i)), all[i]);
    arena_done(&arena);
}

// ---- numbers

static double number_of(const char *text) {
    Scan scan;
    scan_begin(&scan, str_from(text));
    assert_int_equal(scan.token.kind, TOKEN_NUMBER);
    assert_int_equal(scan.token.end, strlen(text));
    double value = scan.token.number;
    scan_done(&scan);
    return value;
}

static void numbers_have_their_value(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"0", 0},
        {"7", 7},
        {"123456789012345", 123456789012345.0},
        {"9007199254740993", 9007199254740992.0},
        {"1234567890123456789012", 1234567890123456789012.0},
        {".5", 0.5},
        {"5.", 5},
        {"0.1", 0.1},
        {"1e3", 1000},
        {"1E-3", 0.001},
        {"1.5e+2", 150},
        {"1_000_000", 1000000},
        {"1_0.0_1e1_0", 10.01e10},
        {"0x1F", 31},
        {"0XfF", 255},
        {"0b101", 5},
        {"0o17", 15},
        {"0xFF_FF", 65535},
        {"1e400", INFINITY},
        {"5e-324", 5e-324},
        {"0x20000000000001", 9007199254740992.0}, // a tie goes to even
        {"0x20000000000003", 9007199254740996.0}, // a tie goes to even
        {"0x2000000000000100000000000001", 0x1p109 + 0x1p57},
        {"0x200000000000010000000000000000", 0x1p117},
        {"0x200000000000010000000000000001", 0x1p117 + 0x1p65},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        if (number_of(cases[i].text) != cases[i].value) {
            print_error("%s: %.17g\n", cases[i].text, number_of(cases[i].text));
            fail();
        }
}

static void bigints_keep_their_digits(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"0n", "0"},        {"123n", "123"},
        {"1_000n", "1000"}, {"0xFFn", "0xff"},
        {"0B1_0n", "0b10"}, {"123456789012345678901234567890n", "123456789012345678901234567890"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        Scan scan;
        scan_begin(&scan, str_from(cases[i][0]));
        assert_int_equal(scan.token.kind, TOKEN_BIGINT);
        assert_str_equal(scan.token.text, cases[i][1]);
        scan_done(&scan);
    }
}

// ---- strings

static void strings_have_their_value(void **state) {
    (void)state;
    static const struct {
        const char *text;
        Str value;
    } cases[] = {
        {"''", {"", 0}},
        {"'a\"b'", {"a\"b", 3}},
        {"\"it's\"", {"it's", 4}},
        {"'\\n\\t\\r\\b\\f\\v\\\\\\'\\\"\\q'", {"\n\t\r\b\f\v\\'\"q", 10}},
        {"'\\0'", {"\0", 1}},
        {"'\\x41\\u0042\\u{43}'", {"ABC", 3}},
        {"'a\\\nb\\\r\nc\\\xE2\x80\xA8"
         "d'",
         {"abcd", 4}},
        {"'\\u{1F600}'", {"\xF0\x9F\x98\x80", 4}},
        {"'\\ud83d\\ude00'", {"\xF0\x9F\x98\x80", 4}},
        {"'\\ud83d'", {"\xED\xA0\xBD", 3}},
        {"'\\ude00\\ud83d'", {"\xED\xB8\x80\xED\xA0\xBD", 6}},
        {"'\xC3\xA9\\\xC3\xA9'", {"\xC3\xA9\xC3\xA9", 4}},
        {"'\xE2\x80\xA8'", {"\xE2\x80\xA8", 3}},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        Scan scan;
        scan_begin(&scan, str_from(cases[i].text));
        assert_int_equal(scan.token.kind, TOKEN_STRING);
        assert_int_equal(scan.token.text.len, cases[i].value.len);
        assert_memory_equal(scan.token.text.data, cases[i].value.data, cases[i].value.len);
        scan_done(&scan);
    }
}

static void templates_have_cooked_and_raw_text(void **state) {
    (void)state;
    Scan scan;
    scan_begin(&scan, STR("`a\\n\r\n${b}\\u{zz}`"));
    assert_int_equal(scan.token.kind, TOKEN_TEMPLATE_HEAD);
    assert_str_equal(scan.token.text, "a\n\n");
    assert_str_equal(scan.token.raw, "a\\n\n");
    flow_lexer_next(&scan.lexer, &scan.token);
    flow_lexer_next(&scan.lexer, &scan.token);
    assert_int_equal(scan.token.kind, TOKEN_BRACE_CLOSE);
    flow_lexer_rescan_template(&scan.lexer, &scan.token);
    assert_int_equal(scan.token.kind, TOKEN_TEMPLATE_TAIL);
    assert_true(str_is_null(scan.token.text));
    assert_str_equal(scan.token.raw, "\\u{zz}");
    assert_string_equal(scan.token.problem, "Invalid Unicode escape sequence");
    scan_done(&scan);
}

static void a_slash_may_begin_a_regular_expression(void **state) {
    (void)state;
    Scan scan;
    scan_begin(&scan, STR("/=a[/\\]]\\/b/giu x"));
    assert_int_equal(scan.token.kind, TOKEN_ASSIGN_DIVIDE);
    flow_lexer_rescan_regexp(&scan.lexer, &scan.token);
    assert_int_equal(scan.token.kind, TOKEN_REGEXP);
    assert_str_equal(scan.token.text, "=a[/\\]]\\/b");
    assert_str_equal(scan.token.raw, "giu");
    flow_lexer_next(&scan.lexer, &scan.token);
    assert_int_equal(scan.token.kind, TOKEN_IDENTIFIER);
    scan_done(&scan);
}

static void a_malformed_token_is_reported_once(void **state) {
    (void)state;
    static const char *const cases[] = {
        "'abc", "\"a\nb\"", "`abc", "0x",      "1__0", "3in",           "3\xC3\xA9",
        "@",    "/* abc",   "\\",   "\\ud800", "#",    "'\\u{110000}'", "\xE2\x82\xAC",
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        Scan scan;
        scan_begin(&scan, str_from(cases[i]));
        assert_int_equal(scan.token.kind, TOKEN_ERROR);
        assert_int_equal(scan.report.error_count, 1);
        scan_done(&scan);
    }
}

static void a_quiet_lexer_reports_nothing(void **state) {
    (void)state;
    Scan scan;
    scan_begin(&scan, STR("a @ 'b"));
    scan.lexer.is_quiet = true;
    while (scan.token.kind != TOKEN_END) flow_lexer_next(&scan.lexer, &scan.token);
    assert_int_equal(scan.report.error_count, 0);
    scan_done(&scan);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_sign_is_one_token),
        cmocka_unit_test(every_reserved_word_is_a_token),
        cmocka_unit_test(the_longest_sign_wins),
        cmocka_unit_test(comments_and_white_space_separate),
        cmocka_unit_test(newlines_before_a_token_are_known),
        cmocka_unit_test(identifiers_may_be_unicode_and_escaped),
        cmocka_unit_test(identifier_classes_follow_unicode),
        cmocka_unit_test(equal_names_are_one_pointer),
        cmocka_unit_test(many_names_are_kept_apart),
        cmocka_unit_test(numbers_have_their_value),
        cmocka_unit_test(bigints_keep_their_digits),
        cmocka_unit_test(strings_have_their_value),
        cmocka_unit_test(templates_have_cooked_and_raw_text),
        cmocka_unit_test(a_slash_may_begin_a_regular_expression),
        cmocka_unit_test(a_malformed_token_is_reported_once),
        cmocka_unit_test(a_quiet_lexer_reports_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// Output: columns of text, tables that fit, times as people say them.
#include "cli/output/output.h"
#include "base/array.h"
#include "unit/unit.h"
#include <locale.h>
#include <stdio.h>

static int set_up(void **state) {
    (void)state;
    (void)terminal_look(stdout); // sets the locale, as every command does
    return 0;
}

static const char *clean(Buf *buf, Str text, size_t width) {
    buf_clear(buf);
    output_clean(buf, text, width);
    return buf_cstr(buf);
}

static void widths_count_columns(void **state) {
    (void)state;
    assert_int_equal(text_width(STR("")), 0);
    assert_int_equal(text_width(STR("abc")), 3);
    assert_int_equal(text_width(STR("日本")), 4);
    assert_int_equal(text_width(STR("e\u0301")), 1); // with a combining accent
    assert_int_equal(text_width(STR("\033[1m")), 4); // each shown as a question mark
    assert_int_equal(text_width(STR("\xff\xfe")), 2);
}

static void cutting_leaves_whole_characters(void **state) {
    (void)state;
    Buf buf;
    buf_init(&buf, 1024);
    assert_string_equal(clean(&buf, STR("abcdef"), 0), "abcdef");
    assert_string_equal(clean(&buf, STR("abcdef"), 6), "abcdef");
    assert_string_equal(clean(&buf, STR("abcdef"), 5), "abcd…");
    assert_string_equal(clean(&buf, STR("日本語"), 4), "日…"); // half a character is none
    assert_string_equal(clean(&buf, STR("abc"), 1), "…");
    buf_done(&buf);
}

static void nothing_steers_the_terminal(void **state) {
    (void)state;
    Buf buf;
    buf_init(&buf, 1024);
    assert_string_equal(clean(&buf, STR("a\033[2Jb\r\n\x7f"), 0), "a?[2Jb???");
    assert_string_equal(clean(&buf,
                              STR("\xc2\x9b"
                                  "1m\u202e\u2066"),
                              0),
                        "?1m??");
    assert_string_equal(clean(&buf, STR("\xc3("), 0), "?(");
    buf_done(&buf);
}

static void assert_json_line(Str json, const char *shown) {
    char *text = NULL;
    size_t len = 0;
    FILE *file = open_memstream(&text, &len);
    assert_non_null(file);
    output_json_line(file, json);
    fclose(file);
    assert_string_equal(text, shown);
    free(text);
}

static void json_steers_no_terminal_and_means_the_same(void **state) {
    (void)state;
    assert_json_line(STR("{\"a\":[1,\"b\\u001b\"]}"), "{\"a\":[1,\"b\\u001b\"]}\n");
    assert_json_line(STR("[\"\xc2\x9b"
                         "2J\x7f\u202e日本\U0001F600\"]"),
                     "[\"\\u009b2J\\u007f\\u202e日本\U0001F600\"]\n");
    assert_json_line(STR("\"\x9b\xe2\x80"), "\"???\n"); // from a server that sends no JSON
    assert_json_line(STR("{\n  \"a\": 1\n}"), "{\n  \"a\": 1\n}\n");
    assert_json_line(STR(""), "\n");
}

static void tables_fit_whatever_the_width(void **state) {
    (void)state;
    static const TableColumn columns[] = {
        {"NAME", false, false}, {"NOTE", false, true}, {"COUNT", true, false}};
    TextTable table;
    table_init(&table, columns, 3);
    const Str row[] = {STR("run-日本語-0123456789"), STR("a rather long remark on it"), STR("12")};
    for (size_t i = 0; i < 3; i++) table_add(&table, row[i]);
    for (size_t i = 0; i < 3; i++) table_add(&table, STR_NULL);
    for (size_t width = 1; width < 80; width++) {
        char text[4096] = "";
        FILE *file = fmemopen(text, sizeof text, "w");
        table_print(&table, file, (Terminal){.is_terminal = true, .width = width});
        fclose(file);
        for (const char *line = text; *line;) {
            size_t len = strcspn(line, "\n");
            assert_true(text_width((Str){line, len}) <= width);
            line += len + 1;
        }
    }
    table_done(&table);
}

static void numbers_stand_on_the_right(void **state) {
    (void)state;
    static const TableColumn columns[] = {{"A", false, false}, {"B", true, false}};
    TextTable table;
    table_init(&table, columns, 2);
    const Str cells[] = {STR("x"), STR("1"), STR("yy"), STR("200")};
    for (size_t i = 0; i < 4; i++) table_add(&table, cells[i]);
    char text[256] = "";
    FILE *file = fmemopen(text, sizeof text, "w");
    table_print(&table, file, (Terminal){0});
    fclose(file);
    assert_string_equal(text, "A     B\nx     1\nyy  200\n");
    table_done(&table);
}

static void times_are_told_from_now(void **state) {
    (void)state;
    static const struct {
        int64_t distance_ms;
        const char *text;
    } cases[] = {
        {0, "now"},           {999, "now"},          {-999, "now"},
        {-5000, "5s ago"},    {90 * 1000, "in 90s"}, {-120 * 1000, "2m ago"},
        {86399999, "in 24h"}, {-7200000, "2h ago"},  {3LL * 86400000, "in 3d"},
    };
    Arena arena;
    arena_init(&arena);
    const int64_t now_ms = 1763251200000;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        Str text = output_relative(&arena, now_ms, now_ms + cases[i].distance_ms);
        assert_string_equal(arena_cstr(&arena, text), cases[i].text);
    }
    assert_string_equal(arena_cstr(&arena, output_relative(&arena, now_ms, 0)), "-");
    arena_done(&arena);
}

static void members_that_are_not_there_are_nothing(void **state) {
    (void)state;
    Arena arena;
    JsonValue *object;
    arena_init(&arena);
    Str text = STR("{\"a\":null,\"n\":12,\"s\":\"x\",\"t\":\"2026-11-15T19:33:44Z\",\"f\":true}");
    assert_int_equal(json_parse(&arena, text, &object, NULL), OK);
    assert_true(str_is_null(field_text(object, "a")));
    assert_true(str_is_null(field_text(object, "z")));
    assert_true(str_is_null(field_text(NULL, "a")));
    assert_true(str_equal(field_text(object, "n"), STR("12")));
    assert_int_equal(field_count(object, "n"), 12);
    assert_int_equal(field_count(object, "s"), 0);
    assert_int_equal(field_count(NULL, "n"), 0);
    assert_true(field_flag(object, "f"));
    assert_false(field_flag(object, "n"));
    assert_int_equal(field_ms(object, "t"), 1794771224000);
    assert_int_equal(field_ms(object, "s"), 0);
    arena_done(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(widths_count_columns),
        cmocka_unit_test(cutting_leaves_whole_characters),
        cmocka_unit_test(nothing_steers_the_terminal),
        cmocka_unit_test(json_steers_no_terminal_and_means_the_same),
        cmocka_unit_test(tables_fit_whatever_the_width),
        cmocka_unit_test(numbers_stand_on_the_right),
        cmocka_unit_test(times_are_told_from_now),
        cmocka_unit_test(members_that_are_not_there_are_nothing),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}

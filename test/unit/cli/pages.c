// Pages and the client's small parts: usage lines, choices, escapes, dates of HTTP.
#include "cli/shell/pages.h"
#include "cli/client/client_internal.h"
#include "unit/unit.h"

static void check_operand(const char *path, const char *usage, size_t index, const char *expected) {
    const OptionTable table = {.usage = usage};
    const Page page = {.path = path, .table = &table};
    Str found = pages_operand(&page, index);
    if (expected == NULL) assert_true(str_is_null(found));
    else assert_true(str_equal(found, str_from(expected)));
}

static void operands_are_read_from_usage_lines(void **state) {
    (void)state;
    check_operand("wf show", "abide wf show RUN [--follow] [options]", 0, "RUN");
    check_operand("wf show", "abide wf show RUN [--follow] [options]", 1, NULL);
    check_operand("emit", "abide emit TOPIC [JSON|@FILE|-] [options]", 1, "JSON|@FILE|-");
    check_operand("wf rm", "abide wf rm RUN... [options]", 5, "RUN");
    check_operand("stats", "abide stats [options]", 0, NULL);
    check_operand("x", "abide x --from TIME [--to TIME] NAME [options]", 0, "NAME");
    check_operand("x", "abide x --flag [NAME]", 0, "NAME");
    check_operand("man", "abide man [PAGE] [--dir DIR]", 0, "PAGE");
    check_operand("man", "abide man [PAGE] [--dir DIR]", 1, NULL);
}

static void choices_are_words_in_small_letters(void **state) {
    (void)state;
    assert_true(pages_is_choice("table|json|ids"));
    assert_true(pages_is_choice("all|after-wait"));
    assert_false(pages_is_choice("JSON|@FILE|-"));
    assert_false(pages_is_choice("FILE"));
    assert_false(pages_is_choice("text"));
    assert_false(pages_is_choice(NULL));
}

static void segments_are_escaped(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena);
    assert_string_equal(client_escape(&arena, STR("order-7_a~B.c")).data, "order-7_a~B.c");
    assert_string_equal(client_escape(&arena, STR("a/b?c#d e%")).data, "a%2Fb%3Fc%23d%20e%25");
    assert_string_equal(client_escape(&arena, STR("ü\n")).data, "%C3%BC%0A");
    assert_string_equal(client_escape(&arena, STR("..")).data, "%2E%2E"); // would climb
    assert_string_equal(client_escape(&arena, STR("")).data, "");
    Buf path;
    buf_init(&path, 1024);
    buf_append_cstr(&path, "/v1/runs");
    client_put_query(&path, "tag", STR("a&b"));
    client_put_query(&path, "none", STR_NULL);
    client_put_query(&path, "limit", STR("5"));
    assert_string_equal(buf_cstr(&path), "/v1/runs?tag=a%26b&limit=5");
    buf_done(&path);
    arena_done(&arena);
}

static void dates_of_http_are_read(void **state) {
    (void)state;
    assert_int_equal(http_date_parse(STR("Sun, 06 Nov 1994 08:49:37 GMT")), 784111777000);
    assert_int_equal(http_date_parse(STR("Thu, 01 Jan 1970 00:00:01 GMT")), 1000);
    assert_int_equal(http_date_parse(STR("06 Nov 1994 08:49:37")), 0);
    assert_int_equal(http_date_parse(STR("Sun, 06 Foo 1994 08:49:37 GMT")), 0);
    assert_int_equal(http_date_parse(STR("")), 0);
    assert_int_equal(http_date_parse(STR("Sun, 06 Nov 1994 08:49:37 GMT and then some more")), 0);
}

typedef struct Seen {
    size_t page_count, option_count;
    bool has_start;
} Seen;

static void look(void *context, const Page *page) {
    Seen *seen = context;
    seen->page_count++;
    assert_true((page->group == NULL) != (page->table == NULL));
    if (page->table == NULL) return;
    while (options_at(page->table, seen->option_count) != NULL) seen->option_count++;
    if (strcmp(page->path, "wf start") == 0) seen->has_start = true;
}

static void every_command_is_walked_and_none_is_run(void **state) {
    (void)state;
    Seen seen = {0};
    pages_walk(look, &seen);
    assert_true(seen.has_start);
    assert_true(seen.page_count > 50);
    assert_true(seen.option_count > 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operands_are_read_from_usage_lines),
        cmocka_unit_test(choices_are_words_in_small_letters),
        cmocka_unit_test(segments_are_escaped),
        cmocka_unit_test(dates_of_http_are_read),
        cmocka_unit_test(every_command_is_walked_and_none_is_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

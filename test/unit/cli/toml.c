// The TOML reader: what it accepts, and what it says of everything else.
#include "cli/settings/toml.h"
#include "base/array.h"
#include "base/env.h"
#include "unit/unit.h"
#include <math.h>
#include <stdio.h>

typedef struct Fixture {
    Arena arena;
    Diag diag;
} Fixture;

static int setup(void **state) {
    static Fixture fixture;
    arena_init(&fixture.arena);
    *state = &fixture;
    return 0;
}

static int teardown(void **state) {
    Fixture *f = *state;
    arena_done(&f->arena);
    return 0;
}

static const TomlValue *parse(Fixture *f, Str text) {
    TomlValue *root = NULL;
    Status status = toml_parse(&f->arena, "a.toml", text, &root, &f->diag);
    if (status != OK) print_error("%s\n", f->diag.message);
    assert_ok(status);
    return root;
}

static const TomlValue *get(const TomlValue *table, const char *key) {
    TOML_EACH (item, table)
        if (str_equal(item->key, str_from(key))) return item;
    fail_msg("there is no %s", key);
    return NULL;
}

// "x = VALUE" as the value.
static const TomlValue *value_of(Fixture *f, const char *text) {
    return get(parse(f, arena_printf(&f->arena, "x = %s\n", text)), "x");
}

static void assert_string(Fixture *f, const char *text, Str expected) {
    const TomlValue *value = value_of(f, text);
    assert_int_equal(value->kind, TOML_STRING);
    if (!str_equal(value->string, expected))
        fail_msg("%s is \"%.*s\"", text, STR_ARG(value->string));
}

// The message is "a.toml:LINE:COLUMN: …" with `what` in it.
static void assert_bad(Fixture *f, Str text, const char *place, const char *what) {
    TomlValue *root = NULL;
    Status status = toml_parse(&f->arena, "a.toml", text, &root, &f->diag);
    if (status == OK) fail_msg("\"%.*s\" was accepted", STR_ARG(text));
    assert_status(status, ERR_INVALID);
    assert_string_equal(f->diag.code, "BAD_TOML");
    char start[64];
    snprintf(start, sizeof(start), "a.toml:%s: ", place);
    if (strncmp(f->diag.message, start, strlen(start)) != 0 || !strstr(f->diag.message, what))
        fail_msg("\"%.*s\": %s (expected %s %s)", STR_ARG(text), f->diag.message, start, what);
}
#define BAD(text, place, what) assert_bad(f, STR(text), place, what)

static void strings_of_all_four_kinds(void **state) {
    Fixture *f = *state;
    assert_string(f, "\"plain\"", STR("plain"));
    assert_string(f, "\"\"", STR(""));
    assert_string(f, "\"a\\tb\\n\\\"c\\\\ \\u00e9\\U0001F600\"",
                  STR("a\tb\n\"c\\ \u00e9\U0001F600"));
    assert_string(f, "'C:\\temp\\x'", STR("C:\\temp\\x"));
    assert_string(f, "\"\"\"\nfirst\nsecond\"\"\"", STR("first\nsecond"));
    assert_string(f, "\"\"\"a \\\n    b\"\"\"", STR("a b"));
    assert_string(f, "\"\"\"a \\  \r\n\r\n    b\"\"\"", STR("a b"));
    assert_string(f, "\"\"\"say \"\"hi\"\"\"\"\"", STR("say \"\"hi\"\""));
    assert_string(f, "'''\nraw \\n\nmore'''", STR("raw \\n\nmore"));
    assert_string(f, "''''quoted''''", STR("'quoted'"));
    assert_string(f, "\"\"\"a\r\nb\"\"\"", STR("a\nb"));
    assert_string(f, "'\u00fcml\u00e4ut'", STR("\u00fcml\u00e4ut"));
}

static void numbers_and_booleans(void **state) {
    Fixture *f = *state;
    static const struct {
        const char *text;
        int64_t value;
    } integers[] = {{"0", 0},
                    {"+99", 99},
                    {"-17", -17},
                    {"1_000_000", 1000000},
                    {"0xDEAD_beef", 0xdeadbeef},
                    {"0o755", 0755},
                    {"0b1101", 13},
                    {"9223372036854775807", INT64_MAX},
                    {"-9223372036854775808", INT64_MIN},
                    {"-0", 0},
                    {"+0", 0},
                    {"-9_223_372_036_854_775_808", INT64_MIN},
                    {"0x7fffffffffffffff", INT64_MAX},
                    {"0x00f", 15},
                    {"0b0000_0001", 1}};
    for (size_t i = 0; i < COUNT_OF(integers); i++) {
        assert_int_equal(value_of(f, integers[i].text)->kind, TOML_INTEGER);
        assert_int_equal(value_of(f, integers[i].text)->integer, integers[i].value);
    }
    static const struct {
        const char *text;
        double value;
    } floats[] = {{"1.5", 1.5},
                  {"-0.25", -0.25},
                  {"5e3", 5000},
                  {"1_0.5E-1", 1.05},
                  {"6.0", 6},
                  {"0e0", 0},
                  {"1e06", 1000000},
                  {"+1.0", 1},
                  {"1e1_0", 1e10},
                  {"9_224_617.445_991", 9224617.445991},
                  {"0.0000000000000000000000000000000000000000000000000000000000000000000000"
                   "0000000000000000000000000000000000000000000000000000000000000000000000000000"
                   "00000000000000000000000000000000000000000000000000000000000000000000001e217",
                   1}};
    for (size_t i = 0; i < COUNT_OF(floats); i++) {
        assert_int_equal(value_of(f, floats[i].text)->kind, TOML_FLOAT);
        assert_true(value_of(f, floats[i].text)->number == floats[i].value);
    }
    assert_true(isinf(value_of(f, "-inf")->number) && value_of(f, "-inf")->number < 0);
    assert_true(isnan(value_of(f, "nan")->number));
    assert_int_equal(value_of(f, "true")->integer, 1);
    assert_int_equal(value_of(f, "false")->integer, 0);
    assert_int_equal(value_of(f, "false")->kind, TOML_BOOL);
}

static void tables_dotted_keys_and_places(void **state) {
    Fixture *f = *state;
    const TomlValue *root = parse(f, STR("# a comment\r\n"
                                         "listen = \"x\" # behind\n"
                                         "a.b.c = 1\n"
                                         "a.b.d = 2\n"
                                         "\n"
                                         "[log]\n"
                                         "  level = 'debug'\n"
                                         "[ \"quoted key\" . 'other' ]\n"
                                         "1234 = true\n"));
    assert_int_equal(get(root, "listen")->line, 2);
    assert_int_equal(get(get(get(root, "a"), "b"), "c")->integer, 1);
    const TomlValue *d = get(get(get(root, "a"), "b"), "d");
    assert_int_equal(d->line, 4);
    assert_int_equal(d->column, 5);
    const TomlValue *level = get(get(root, "log"), "level");
    assert_int_equal(level->line, 7);
    assert_int_equal(level->column, 3);
    assert_int_equal(get(get(get(root, "quoted key"), "other"), "1234")->integer, 1);
    assert_null(parse(f, STR(""))->first);
    assert_null(parse(f, STR("\xEF\xBB\xBF# nothing"))->first);
}

static void arrays_and_inline_tables(void **state) {
    Fixture *f = *state;
    const TomlValue *array = value_of(f, "[ 'a', # one\n \"b\",\n\n]");
    assert_int_equal(array->kind, TOML_ARRAY);
    assert_true(str_equal(array->first->string, STR("a")));
    assert_int_equal(array->last->line, 2);
    assert_null(value_of(f, "[]")->first);
    const TomlValue *table = value_of(f, "{ cert = 'c', key.file = 'k', list = [[1], [2, 3]] }");
    assert_int_equal(table->kind, TOML_TABLE);
    assert_true(str_equal(get(get(table, "key"), "file")->string, STR("k")));
    assert_int_equal(get(table, "list")->last->last->integer, 3);
}

static void mistakes_are_shown_with_their_place(void **state) {
    Fixture *f = *state;
    BAD("a = 1\nb = \n", "2:5", "value is missing");
    BAD("a = hello", "1:5", "strings need quotes");
    BAD("a = 1 b = 2", "1:7", "line should end");
    BAD("a 1", "1:3", "=");
    BAD("= 1", "1:1", "key is missing");
    BAD("a = \"x", "1:5", "does not end");
    BAD("a = \"x\ny\"", "1:5", "does not end on its line");
    BAD("a = '''x", "1:5", "does not end");
    BAD("a = \"\\x\"", "1:6", "escape");
    BAD("a = \"\\ud800\"", "1:8", "Unicode");
    BAD("a = \"\\u12\"", "1:8", "4 hexadecimal");
    BAD("a = \"\x01\"", "1:6", "control character");
    BAD("# \x01", "1:3", "control character");
    BAD("a = [1, 2", "1:10", "a comma or ]");
    BAD("a = [1,\n", "1:5", "array does not end");
    BAD("a = [1 2]", "1:8", "comma");
    BAD("a = { b = 1", "1:12", "comma or }");
    BAD("a = { b = 1, }", "1:14", "no comma");
    BAD("a = { b = 1\n}", "1:12", "comma or }");
    BAD("[a", "1:3", "]");
    BAD("[]", "1:2", "key is missing");
    BAD("[a] b = 1", "1:5", "line should end");
    BAD("\"\"\"k\"\"\" = 1", "1:1", "one line");
    BAD("\u00e9 = 1", "1:1", "key is missing");
    BAD("a = '\xff'", "1:6", "UTF-8");
}

static void what_settings_do_not_need_is_refused_by_name(void **state) {
    Fixture *f = *state;
    BAD("a = 1979-05-27T07:32:00Z", "1:5", "dates and times");
    BAD("a = 1979-05-27", "1:5", "dates and times");
    BAD("a = 07:32:00", "1:5", "dates and times");
    BAD("[[a]]", "1:1", "arrays of tables");
}

static void malformed_numbers_are_no_values(void **state) {
    Fixture *f = *state;
    const char *texts[] = {
        "01",
        "00",
        "-01",
        "0_1",
        "03.14",
        "1__0",
        "_1",
        "1_",
        "0x",
        "0x_1",
        "0x1_",
        "0b_1",
        "0b2",
        "0b1__0",
        "0o8",
        "0o_7",
        "0X1",
        "0B1",
        "0O7",
        "+0x1",
        "-0b1",
        "0x1g",
        "1.",
        ".5",
        "1._5",
        "1_.5",
        "1.5_",
        "1e",
        "1_e1",
        "1e_1",
        "1e1_",
        "1.e3",
        "1.5_e1",
        "1e+",
        "1e1.5",
        "--1",
        "+-1",
        "3.14.15",
        "+",
        "-",
        "Inf",
        "NaN",
        "+Inf",
        "infx",
        "in",
        "True",
        "trueX",
        "1a",
        "9223372036854775808",
        "-9223372036854775809",
        "0x8000000000000000",
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        Str text = arena_printf(&f->arena, "a = %s", texts[i]);
        assert_bad(f, text, "1:5", "no value");
    }
}

static void a_key_is_given_once(void **state) {
    Fixture *f = *state;
    BAD("a = 1\na = 2", "2:1", "first on line 1");
    BAD("[t]\na = 1\n[t]\nb = 2", "3:2", "twice");
    BAD("a = 1\n[a]\nb = 2", "2:2", "has a value already");
    BAD("a = 1\na.b = 2", "2:1", "has a value already");
    BAD("a = { b = 1 }\na.c = 2", "2:1", "has a value already");
    BAD("a = { b = 1 }\n[a]\nc = 2", "2:2", "has a value already");
}

// [toml-1] by the examples of the specification and their neighbours.
static void a_table_is_defined_once(void **state) {
    Fixture *f = *state;
    BAD("[a.b.c]\nz = 9\n[a]\nb.c.t = 1", "4:3", "complete");
    BAD("[a.b.c.d]\nz = 9\n[a]\nb.c.d.k.t = 1", "4:5", "complete");
    BAD("[fruit]\napple.color = 1\n[fruit.apple]", "3:8", "dotted keys");
    BAD("[fruit]\napple.taste.sweet = true\n[fruit.apple.taste]", "3:14", "dotted keys");
    BAD("a.b = 1\n[a]", "2:2", "dotted keys");
    BAD("[a.b]\n[a]\nb.c = 1", "3:1", "complete");
    BAD("[a]\nb.c = 1\n[a.b.d]\n[a.b]", "4:4", "dotted keys");
    BAD("[a]\n[a.b]\n[a]", "3:2", "twice");
    BAD("a = [1]\n[a.b]", "2:2", "has a value already");
    BAD("a = [{ b = 1 }]\na.c = 2", "2:1", "has a value already");
    BAD("a = { b = { c = 1 }, b.d = 2 }", "1:22", "has a value already");
    BAD("a = { b.c = 1, b = 2 }", "1:16", "twice");
    BAD("a = { b.c = 1 }\n[a.b]", "2:2", "has a value already");
    BAD("a = { b = 1, b = 2 }", "1:14", "twice");
    BAD("a = { b.c.d = 1, b.c = {} }", "1:20", "twice");
    BAD("a.b = 1\na = 2", "2:1", "twice");
    BAD("\"a\" = 1\n'a' = 2", "2:1", "twice");
    BAD("\"\\u0061\" = 1\na = 2", "2:1", "twice");

    const TomlValue *root = parse(f, STR("[a.b.c]\nz = 1\n[a]\ny = 2\n[a.b]\nx = 3\n"));
    assert_int_equal(get(get(get(root, "a"), "b"), "x")->integer, 3);
    root = parse(f, STR("[fruit]\napple.color = 1\napple.taste.sweet = true\n"
                        "[fruit.apple.texture]\nsmooth = true\n"));
    assert_int_equal(get(get(get(get(root, "fruit"), "apple"), "texture"), "smooth")->integer, 1);
    root = parse(f, STR("[a.b.c]\nz = 1\n[a]\nb.d = 2\n[a.b.e]\n"));
    assert_int_equal(get(get(get(root, "a"), "b"), "d")->integer, 2);
    root = parse(f, STR("a.b = 1\nc = 2\na.d = 3\n"));
    assert_int_equal(get(get(root, "a"), "d")->integer, 3);
    root = parse(f, STR("a = { b.c = 1, b.d = 2 }\n\"\" = 3\n1.2 = 4\n"));
    assert_int_equal(get(get(get(root, "a"), "b"), "d")->integer, 2);
    assert_int_equal(get(root, "")->integer, 3);
    assert_int_equal(get(get(root, "1"), "2")->integer, 4);
}

static void line_ends_and_characters_are_those_of_the_specification(void **state) {
    Fixture *f = *state;
    BAD("a = 1\rb = 2", "1:6", "line should end");
    BAD("# c\rb = 2", "1:4", "control character");
    BAD("a = \"x\ry\"", "1:7", "control character");
    BAD("a = '''x\ry'''", "1:9", "control character");
    BAD("a = \"\"\"x \\\n \r y\"\"\"", "2:2", "control character");
    BAD("a = [1,\r2]", "1:8", "value is missing");
    BAD("a = 'x\x7f'", "1:7", "control character");
    BAD("a = \"\"\"x\"\"\"\"\"\"", "1:14", "line should end");
    BAD("a = \"\\e\"", "1:6", "escape");
    BAD("a = \"\\U00110000\"", "1:8", "Unicode");
    BAD("a = 1\n\xEF\xBB\xBF", "2:1", "key is missing");
    BAD("a = '\xed\xa0\x80'", "1:6", "UTF-8");
    BAD("\xff\xfe"
        "a",
        "1:1", "UTF-8");
    BAD("a = { b = 1, # c\n c = 2 }", "1:14", "key is missing");
    BAD("a = [1,,2]", "1:8", "value is missing");
    BAD("a = {,}", "1:6", "key is missing");
    BAD("a\n= 1", "1:2", "=");
    BAD("[a\n]", "1:3", "]");
    BAD("[a.]", "1:4", "key is missing");
    BAD("a. = 1", "1:4", "key is missing");
    assert_string(f, "\"\"\"x\"\"\"\"\"", STR("x\"\""));
    assert_int_equal(parse(f, STR("a = 1\r\n\r\n[b]\r\n"))->last->kind, TOML_TABLE);
}

static void nesting_and_size_have_ceilings(void **state) {
    Fixture *f = *state;
    char text[64] = "a = ";
    memset(text + 4, '[', 20);
    text[24] = 0;
    assert_bad(f, str_from(text), "1:21", "too deep");
    BAD("a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a = 1", "1:33", "too deep");
    size_t size = TOML_SIZE_MAX + 1;
    char *large = arena_alloc(&f->arena, size);
    memset(large, '#', size);
    assert_bad(f, (Str){large, size}, "1:1", "1 MiB");
}

// Whatever the bytes, the reader ends with an answer and reads nothing beyond the text.
static void damaged_texts_are_survived(void **state) {
    Fixture *f = *state;
    Str good = STR("a = \"x\\u00e9\" # c\n[b.\"c\"]\nd = [1, 2.5, {e = '''f\n'''}]\ng = 0x1f\n");
    static const char marks[] = "\"'[]{}=.,#\\\n\r\t 0x_\xc3";
    uint64_t random = 42;
    for (int round = 0; round < 20000; round++) {
        size_t len = random_next(&random) % (good.len + 1);
        char *text = malloc(len > 0 ? len : 1); // exact, so that a sanitizer sees one step beyond
        memcpy(text, good.data, len);
        for (int i = 0; len > 0 && i < 3; i++)
            text[random_next(&random) % len] = marks[random_next(&random) % (sizeof(marks) - 1)];
        TomlValue *root = NULL;
        Status status = toml_parse(&f->arena, "a.toml", (Str){text, len}, &root, &f->diag);
        assert_true(status == OK || status == ERR_INVALID);
        free(text);
        arena_reset(&f->arena);
    }
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(strings_of_all_four_kinds),
        CASE(numbers_and_booleans),
        CASE(tables_dotted_keys_and_places),
        CASE(arrays_and_inline_tables),
        CASE(mistakes_are_shown_with_their_place),
        CASE(what_settings_do_not_need_is_refused_by_name),
        CASE(malformed_numbers_are_no_values),
        CASE(a_key_is_given_once),
        CASE(a_table_is_defined_once),
        CASE(line_ends_and_characters_are_those_of_the_specification),
        CASE(nesting_and_size_have_ceilings),
        CASE(damaged_texts_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

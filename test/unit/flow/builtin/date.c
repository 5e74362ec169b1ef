// Dates: the calendar, the text forms and what Date.parse accepts.
#include "flow/builtin/text/date.h"
#include "base/array.h"
#include "base/env.h"
#include "unit/unit.h"
#include <math.h>

static double parse(const char *text) {
    uint16_t units[128];
    size_t length = strlen(text);
    assert_true(length <= 128);
    for (size_t i = 0; i < length; i++) units[i] = (unsigned char)text[i];
    return date_parse(units, length);
}

static void assert_parses(const char *text, const char *iso) {
    double time = parse(text);
    if (isnan(time)) fail_msg("\"%s\" was not understood", text);
    char actual[DATE_TEXT_MAX];
    actual[date_format(time, DATE_STYLE_ISO, actual)] = 0;
    if (strcmp(actual, iso) != 0) fail_msg("\"%s\" is %s, not %s", text, actual, iso);
}

static void calendar_goes_forth_and_back(void **state) {
    (void)state;
    uint64_t seed = 5;
    for (size_t i = 0; i < scaled(100000); i++) {
        double time =
            (double)((int64_t)(random_next(&seed) % 17280000000000001ull) - 8640000000000000ll);
        DateFields f;
        date_split(time, &f);
        assert_in_range(f.month, 0, 11);
        assert_in_range(f.day, 1, 31);
        double day = date_make_day(f.year, f.month, f.day);
        assert_true(date_make(day, date_make_time(f.hour, f.minute, f.second, f.ms)) == time);
    }
}

static void every_day_follows_the_one_before(void **state) {
    (void)state;
    DateFields before;
    date_split(-719528 * DATE_MS_PER_DAY, &before); // the first day of the year 0
    assert_int_equal(before.year, 0);
    for (int day = -719527; day < 20000; day++) {
        DateFields f;
        date_split(day * DATE_MS_PER_DAY, &f);
        assert_int_equal(f.weekday, (before.weekday + 1) % 7);
        bool is_next_day = f.day == before.day + 1 && f.month == before.month;
        bool is_next_month = f.day == 1 && f.month == (before.month + 1) % 12;
        assert_true(is_next_day || is_next_month);
        before = f;
    }
    assert_int_equal(before.year, 2024);
}

static void overflowing_parts_carry_over(void **state) {
    (void)state;
    assert_true(date_make_day(2020, 12, 1) == date_make_day(2021, 0, 1));
    assert_true(date_make_day(2020, -1, 1) == date_make_day(2019, 11, 1));
    assert_true(date_make_day(2020, 1, 30) == date_make_day(2020, 2, 1));
    assert_true(isnan(date_make_day(NAN, 0, 1)) && isnan(date_clip(8.64e15 + 1)));
    assert_true(date_full_year(99) == 1999 && date_full_year(100) == 100);
}

static void iso_forms_are_read(void **state) {
    (void)state;
    assert_parses("2020", "2020-01-01T00:00:00.000Z");
    assert_parses("2020-05", "2020-05-01T00:00:00.000Z");
    assert_parses("2020-05-17T10:20:30.5+02:00", "2020-05-17T08:20:30.500Z");
    assert_parses("2020-05-17T24:00:00Z", "2020-05-18T00:00:00.000Z");
    assert_parses("2020-01-01T00:00:00.123456789Z", "2020-01-01T00:00:00.123Z");
    assert_parses("-000001-01-01T00:00:00Z", "-000001-01-01T00:00:00.000Z");
    assert_parses("+275760-09-13T00:00:00.000Z", "+275760-09-13T00:00:00.000Z");
}

static void older_forms_are_read(void **state) {
    (void)state;
    assert_parses("Mon, 25 Dec 1995 13:30:00 GMT", "1995-12-25T13:30:00.000Z");
    assert_parses("25 Dec 1995 13:30:00 +0430", "1995-12-25T09:00:00.000Z");
    assert_parses("Dec 25, 1995", "1995-12-25T00:00:00.000Z");
    assert_parses("12/25/1995 1:30 PM", "1995-12-25T13:30:00.000Z");
    assert_parses("1995/12/25", "1995-12-25T00:00:00.000Z");
    assert_parses("Thu Feb 29 2024 13:05:09 GMT+0000 (Coordinated Universal Time)",
                  "2024-02-29T13:05:09.000Z");
    assert_parses("1 Jan 70 00:00 EST", "1970-01-01T05:00:00.000Z");
    assert_parses("Dec 25", "2001-12-25T00:00:00.000Z");
}

static void nonsense_is_no_date(void **state) {
    (void)state;
    static const char *const texts[] = {
        "",
        "hello",
        "2020-13-01",
        "2020-01-32",
        "2020-01-01T25:00Z",
        "2020-01-01T10:60Z",
        "2020-01-01T24:00:01Z",
        "2020-1-1T",
        "-000000-01-01T00:00:00Z",
        "12 13 14 15",
        "Jan 1 2020 foo",
        "1:2:3:4",
        "99999999999999999999",
        "((((",
        "Jan",
        "2020-01-01T10",
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        if (!isnan(parse(texts[i]))) fail_msg("\"%s\" passed for a date", texts[i]);
    }
}

static void any_text_ends_in_a_time_or_nothing(void **state) {
    (void)state;
    static const char alphabet[] = "0123456789:-+./ ,()TZjanfebpmgmtu";
    uint64_t seed = 7;
    for (size_t round = 0; round < scaled(50000); round++) {
        uint16_t units[24];
        size_t length = random_next(&seed) % 24;
        for (size_t i = 0; i < length; i++) {
            units[i] = (unsigned char)alphabet[random_next(&seed) % (sizeof alphabet - 1)];
        }
        double time = date_parse(units, length);
        assert_true(isnan(time) || fabs(time) <= DATE_TIME_MAX);
    }
}

static void styles_print_as_engines_do(void **state) {
    (void)state;
    static const char *const expected[] = {
        "Fri Feb 09 2024 03:04:05 GMT+0000 (Coordinated Universal Time)",
        "Fri Feb 09 2024",
        "03:04:05 GMT+0000 (Coordinated Universal Time)",
        "Fri, 09 Feb 2024 03:04:05 GMT",
        "2024-02-09T03:04:05.006Z",
        "2/9/2024, 3:04:05 AM",
        "2/9/2024",
        "3:04:05 AM",
    };
    double time = parse("2024-02-09T03:04:05.006Z");
    for (DateStyle style = DATE_STYLE_FULL; style <= DATE_STYLE_LOCALE_TIME; style++) {
        char text[DATE_TEXT_MAX];
        size_t length = date_format(time, style, text);
        assert_str_equal(((Str){text, length}), expected[style]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calendar_goes_forth_and_back),
        cmocka_unit_test(every_day_follows_the_one_before),
        cmocka_unit_test(overflowing_parts_carry_over),
        cmocka_unit_test(iso_forms_are_read),
        cmocka_unit_test(older_forms_are_read),
        cmocka_unit_test(nonsense_is_no_date),
        cmocka_unit_test(any_text_ends_in_a_time_or_nothing),
        cmocka_unit_test(styles_print_as_engines_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

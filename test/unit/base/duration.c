// Durations and instants: accepted forms, refused ones, and the calendar.
#include "base/time/duration.h"
#include "base/array.h"
#include "base/env.h"
#include "base/limits.h"
#include "unit/unit.h"
#include <time.h>

static void durations_are_read_in_every_documented_form(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t ms;
    } cases[] = {
        {"500ms", 500},
        {"2s", 2000},
        {"15m", 900000},
        {"24h", 86400000},
        {"30d", 2592000000},
        {"2w", 1209600000},
        {"1h30m", 5400000},
        {"1d2h3m4s5ms", 93784005},
        {"0", 0},
        {"0s", 0},
        {"5", 5000},
        {"1.5", 1500},
        {"0.001", 1},
        {"0.1s", 100},
        {"2.5s", 2500},
        {"1.5h", 5400000},
        {"PT15M", 900000},
        {"P1DT2H", 93600000},
        {"P1W", 604800000},
        {"PT1.5S", 1500},
        {"PT0S", 0},
        {"P1D", 86400000},
        {"PT36H", 129600000},
        {"0.0001", 1},
        {"1.0005ms", 2},
        {"007s", 7000},
        {"3153600000", LIMIT_DURATION_MS},
        {"0.00000000000000000000000000000001", 1},
        {"1.000000000000000000000000000000", 1000},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        int64_t ms = -1;
        Diag diag;
        assert_ok(duration_parse(str_from(cases[i].text), &ms, &diag));
        assert_int_equal(ms, cases[i].ms);
    }
}

static void anything_else_is_a_bad_duration_that_names_the_text(void **state) {
    (void)state;
    static const char *const bad[] = {
        "",
        " ",
        "s",
        "ms",
        "-1s",
        "-1",
        "+1s",
        "1 s",
        "1s ",
        " 1s",
        "1x",
        "1sx",
        "1h30",
        "30m1h",
        "1s1s",
        "1m1m",
        "NaN",
        "Infinity",
        "1e3",
        "1.",
        ".5",
        "1..5",
        "1,5",
        "P",
        "PT",
        "P1",
        "P1M",
        "P1Y",
        "PT1D",
        "P1H",
        "PT1S1M",
        "P-1D",
        "pt1m",
        "PT1M ",
        "101y",
        "99999999999999999999s",
        "3153600000.001",
        "36501d",
        "1e999",
        "0x10",
        "99999999999999999999999999999999999999",
        "P1DT",
        "1ms1s",
        "5ss",
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        int64_t ms = -1;
        Diag diag;
        assert_status(duration_parse(str_from(bad[i]), &ms, &diag), ERR_INVALID);
        assert_string_equal(diag.code, "BAD_DURATION");
        assert_non_null(strstr(diag.message, bad[i]));
        assert_non_null(strstr(diag.message, "15m"));
        assert_int_equal(ms, -1);
    }
    int64_t ms;
    assert_status(duration_parse(STR_NULL, &ms, NULL), ERR_INVALID);
    assert_status(duration_parse((Str){"1s\0", 3}, &ms, NULL), ERR_INVALID);
}

static void durations_print_in_the_form_that_reads_back(void **state) {
    (void)state;
    static const struct {
        int64_t ms;
        const char *text;
    } cases[] = {
        {0, "0s"},
        {1, "1ms"},
        {500, "500ms"},
        {999, "999ms"},
        {1000, "1s"},
        {2500, "2.5s"},
        {60000, "1m"},
        {5400000, "1h30m"},
        {86400000, "1d"},
        {90061001, "1d1h1m1.001s"},
        {3600500, "1h500ms"},
        {59999, "59.999s"},
        {-1500, "-1.5s"},
        {INT64_MAX, "106751991167d7h12m55.807s"},
        {INT64_MIN, "-106751991167d7h12m55.808s"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[INSTANT_TEXT_MAX];
        assert_int_equal(duration_format(cases[i].ms, text), strlen(cases[i].text));
        assert_string_equal(text, cases[i].text);
    }
    uint64_t seed = 1;
    for (size_t i = 0; i < scaled(100000); i++) {
        int64_t ms = (int64_t)(random_next(&seed) % LIMIT_DURATION_MS) >> (random_next(&seed) % 40);
        char text[INSTANT_TEXT_MAX];
        duration_format(ms, text);
        int64_t again = -1;
        assert_ok(duration_parse(str_from(text), &again, NULL));
        assert_int_equal(again, ms);
    }
}

static void instants_are_read_with_offsets_and_fractions(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t ms;
    } cases[] = {
        {"1970-01-01T00:00:00Z", 0},
        {"2026-11-15T19:33:44.952Z", 1794771224952},
        {"2026-11-15T19:33:44.952442+00:00", 1794771224952},
        {"2026-11-15T20:33:44+01:00", 1794771224000},
        {"2026-11-15T14:03:44-05:30", 1794771224000},
        {"1969-12-31T23:59:59.999Z", -1},
        {"2000-02-29T00:00:00Z", 951782400000},
        {"2026-11-15t19:33:44z", 1794771224000},
        {"2026-11-15 19:33:44Z", 1794771224000},
        {"2016-12-31T23:59:60Z", 1483228800000},
        {"0000-01-01T00:00:00Z", -62167219200000},
        {"9999-12-31T23:59:59.999Z", 253402300799999},
        {"1970-01-01T00:00:00.1Z", 100},
        {"1970-01-01T00:00:00.0009Z", 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        int64_t ms = 12345;
        assert_ok(instant_parse(str_from(cases[i].text), &ms, NULL));
        assert_int_equal(ms, cases[i].ms);
    }
}

static void anything_else_is_a_bad_time_that_names_the_text(void **state) {
    (void)state;
    static const char *const bad[] = {
        "",
        "now",
        "2026-11-15",
        "2026-11-15T19:33:44",
        "2026-11-15T19:33Z",
        "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-02-29T00:00:00Z",
        "1900-02-29T00:00:00Z",
        "2026-04-31T00:00:00Z",
        "2026-01-00T00:00:00Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T00:60:00Z",
        "2026-01-01T00:00:61Z",
        "2026-01-01T00:00:00.Z",
        "2026-01-01T00:00:00Z ",
        "2026-01-01T00:00:00+0100",
        "2026-01-01T00:00:00+24:00",
        "26-01-01T00:00:00Z",
        "2026-1-1T00:00:00Z",
        "2026-01-01T00:00:00ZZ",
        "+2026-01-01T00:00:00Z",
        "1763235224",
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        int64_t ms = -1;
        Diag diag;
        assert_status(instant_parse(str_from(bad[i]), &ms, &diag), ERR_INVALID);
        assert_string_equal(diag.code, "BAD_TIME");
        assert_non_null(strstr(diag.message, bad[i]));
        assert_int_equal(ms, -1);
    }
}

static void instants_print_and_read_back(void **state) {
    (void)state;
    char text[INSTANT_TEXT_MAX];
    assert_int_equal(instant_format(1794771224952, text), 24);
    assert_string_equal(text, "2026-11-15T19:33:44.952Z");
    uint64_t seed = 2;
    for (size_t i = 0; i < scaled(100000); i++) {
        int64_t ms = (int64_t)(random_next(&seed) % 315569520000000) - 62167219200000;
        instant_format(ms, text);
        int64_t again = 0;
        assert_ok(instant_parse(str_from(text), &again, NULL));
        assert_int_equal(again, ms);
    }
}

static void instants_beyond_four_digit_years_still_print(void **state) {
    (void)state;
    char text[INSTANT_TEXT_MAX];
    instant_format(8640000000000000, text);
    assert_string_equal(text, "+275760-09-13T00:00:00.000Z");
    instant_format(-62198755200000, text);
    assert_string_equal(text, "-000001-01-01T00:00:00.000Z");
    assert_true(instant_format(INT64_MIN, text) < INSTANT_TEXT_MAX);
    assert_true(instant_format(INT64_MAX, text) < INSTANT_TEXT_MAX);
}

static void the_calendar_agrees_with_the_c_library(void **state) {
    (void)state;
    for (int64_t days = -800000; days < 3000000; days += 17) {
        time_t seconds = (time_t)days * 86400;
        struct tm parts;
        assert_non_null(gmtime_r(&seconds, &parts));
        CivilDate date = civil_from_days(days);
        assert_int_equal(date.year, parts.tm_year + 1900);
        assert_int_equal(date.month, parts.tm_mon + 1);
        assert_int_equal(date.day, parts.tm_mday);
        assert_int_equal(civil_to_days(date.year, date.month, date.day), days);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durations_are_read_in_every_documented_form),
        cmocka_unit_test(anything_else_is_a_bad_duration_that_names_the_text),
        cmocka_unit_test(durations_print_in_the_form_that_reads_back),
        cmocka_unit_test(instants_are_read_with_offsets_and_fractions),
        cmocka_unit_test(anything_else_is_a_bad_time_that_names_the_text),
        cmocka_unit_test(instants_print_and_read_back),
        cmocka_unit_test(instants_beyond_four_digit_years_still_print),
        cmocka_unit_test(the_calendar_agrees_with_the_c_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// Cron expressions: what they mean, what is refused, and when they fire, clocks put forward and
// back included.
//
// The instants were computed by walking minute by minute through the local times of Python's
// zoneinfo.
#include "base/array.h"
#include "unit/unit.h"

#include "base/env.h"
#include "base/time/cron.h"
#include "base/time/duration.h"

static int64_t instant(const char *text) {
    int64_t at_ms = 0;
    assert_ok(instant_parse(str_from(text), &at_ms, NULL));
    return at_ms;
}

static TimeZone *load(const char *name) {
    TimeZone *zone = NULL;
    assert_ok(timezone_load(str_from(name), &zone, NULL));
    return zone;
}

static Cron parse(const char *text) {
    Cron cron;
    Diag diag;
    Status status = cron_parse(str_from(text), &cron, &diag);
    if (status != OK) print_error("%s\n", diag.message);
    assert_ok(status);
    return cron;
}

enum { TICKS_MAX = 4 };
static const struct {
    const char *text, *zone, *after, *ticks[TICKS_MAX];
} firings[] = {
    {"*/15 * * * *",
     "UTC",
     "2026-11-15T10:07:30Z",
     {"2026-11-15T10:15:00Z", "2026-11-15T10:30:00Z", "2026-11-15T10:45:00Z"}},
    {"0 0 * * *", "UTC", "2026-12-31T12:00:00Z", {"2027-01-01T00:00:00Z", "2027-01-02T00:00:00Z"}},
    {"59 23 31 12 *",
     "UTC",
     "2026-06-01T00:00:00Z",
     {"2026-12-31T23:59:00Z", "2027-12-31T23:59:00Z"}},
    {"0 12 29 2 *",
     "UTC",
     "2026-06-01T00:00:00Z",
     {"2028-02-29T12:00:00Z", "2032-02-29T12:00:00Z"}},
    {"0 0 29 2 *", "Europe/Berlin", "2027-06-01T00:00:00Z", {"2028-02-28T23:00:00Z"}},
    {"0 9 * * 1-5",
     "America/New_York",
     "2026-11-13T15:00:00Z",
     {"2026-11-16T14:00:00Z", "2026-11-17T14:00:00Z", "2026-11-18T14:00:00Z"}},
    {"30 2 * * *",
     "Europe/Berlin",
     "2026-03-28T00:00:00Z",
     {"2026-03-28T01:30:00Z", "2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z",
      "2026-03-31T00:30:00Z"}},
    {"0,30 2,3 * * *",
     "Europe/Berlin",
     "2026-03-28T12:00:00Z",
     {"2026-03-29T01:00:00Z", "2026-03-29T01:30:00Z", "2026-03-30T00:00:00Z",
      "2026-03-30T00:30:00Z"}},
    {"30 2 * * *",
     "Europe/Berlin",
     "2026-10-24T12:00:00Z",
     {"2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z", "2026-10-27T01:30:00Z"}},
    {"30 * * * *",
     "Europe/Berlin",
     "2026-10-24T23:45:00Z",
     {"2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z", "2026-10-25T02:30:00Z",
      "2026-10-25T03:30:00Z"}},
    {"30 * * * *",
     "Europe/Berlin",
     "2026-03-29T00:00:00Z",
     {"2026-03-29T00:30:00Z", "2026-03-29T01:30:00Z", "2026-03-29T02:30:00Z"}},
    {"0 */2 * * *",
     "Europe/Berlin",
     "2026-03-28T22:30:00Z",
     {"2026-03-28T23:00:00Z", "2026-03-29T01:00:00Z", "2026-03-29T02:00:00Z",
      "2026-03-29T04:00:00Z"}},
    {"0 */2 * * *",
     "Europe/Berlin",
     "2026-10-24T21:30:00Z",
     {"2026-10-24T22:00:00Z", "2026-10-25T00:00:00Z", "2026-10-25T03:00:00Z",
      "2026-10-25T05:00:00Z"}},
    {"30 1 * * *",
     "America/New_York",
     "2026-10-31T12:00:00Z",
     {"2026-11-01T05:30:00Z", "2026-11-02T06:30:00Z", "2026-11-03T06:30:00Z"}},
    {"15 2 * * *",
     "America/New_York",
     "2026-03-07T12:00:00Z",
     {"2026-03-08T07:00:00Z", "2026-03-09T06:15:00Z", "2026-03-10T06:15:00Z"}},
    {"30 2 * * *",
     "Australia/Sydney",
     "2026-10-02T20:00:00Z",
     {"2026-10-03T16:00:00Z", "2026-10-04T15:30:00Z", "2026-10-05T15:30:00Z"}},
    {"30 2 * * *",
     "Australia/Sydney",
     "2026-04-03T20:00:00Z",
     {"2026-04-04T15:30:00Z", "2026-04-05T16:30:00Z", "2026-04-06T16:30:00Z"}},
    {"15 2 * * *",
     "Australia/Lord_Howe",
     "2026-10-02T20:00:00Z",
     {"2026-10-03T15:30:00Z", "2026-10-04T15:15:00Z", "2026-10-05T15:15:00Z"}},
    {"45 1 * * *",
     "Australia/Lord_Howe",
     "2026-04-03T20:00:00Z",
     {"2026-04-04T14:45:00Z", "2026-04-05T15:15:00Z", "2026-04-06T15:15:00Z"}},
    {"45 * * * *",
     "Australia/Lord_Howe",
     "2026-04-04T13:00:00Z",
     {"2026-04-04T13:45:00Z", "2026-04-04T14:45:00Z", "2026-04-04T15:15:00Z",
      "2026-04-04T16:15:00Z"}},
    {"0 9 * * *",
     "Asia/Kolkata",
     "2026-06-01T00:00:00Z",
     {"2026-06-01T03:30:00Z", "2026-06-02T03:30:00Z"}},
    {"45 5 1 1 *",
     "Asia/Kathmandu",
     "2026-06-01T00:00:00Z",
     {"2027-01-01T00:00:00Z", "2028-01-01T00:00:00Z"}},
    {"0 12 30 12 *",
     "Pacific/Apia",
     "2011-12-01T00:00:00Z",
     {"2011-12-30T10:00:00Z", "2012-12-29T22:00:00Z"}},
    {"0 0 13 * 5",
     "UTC",
     "2026-02-01T00:00:00Z",
     {"2026-02-06T00:00:00Z", "2026-02-13T00:00:00Z", "2026-02-20T00:00:00Z",
      "2026-02-27T00:00:00Z"}},
    {"0 0 */10 * 1",
     "UTC",
     "2026-02-01T00:00:00Z",
     {"2026-05-11T00:00:00Z", "2026-06-01T00:00:00Z", "2026-08-31T00:00:00Z"}},
    {"0 0 13 * *", "UTC", "2026-02-01T00:00:00Z", {"2026-02-13T00:00:00Z", "2026-03-13T00:00:00Z"}},
    {"0 0 * * 0", "UTC", "2026-02-01T00:00:00Z", {"2026-02-08T00:00:00Z", "2026-02-15T00:00:00Z"}},
    {"0 0 1-7 * *",
     "UTC",
     "2026-02-06T12:00:00Z",
     {"2026-02-07T00:00:00Z", "2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z"}},
    {"0 0 31 * *",
     "UTC",
     "2026-01-31T00:00:00Z",
     {"2026-03-31T00:00:00Z", "2026-05-31T00:00:00Z", "2026-07-31T00:00:00Z"}},
    {"0 22 * * 0",
     "America/Santiago",
     "2040-08-30T00:00:00Z",
     {"2040-09-03T01:00:00Z", "2040-09-10T01:00:00Z", "2040-09-17T01:00:00Z"}},
    {"0 0 * * *",
     "America/Santiago",
     "2026-09-04T00:00:00Z",
     {"2026-09-04T04:00:00Z", "2026-09-05T04:00:00Z", "2026-09-06T04:00:00Z",
      "2026-09-07T03:00:00Z"}},
    {"0 2 * 3 0",
     "Europe/Berlin",
     "2068-03-20T00:00:00Z",
     {"2068-03-25T01:00:00Z", "2069-03-03T01:00:00Z"}},
    {"59 1 * * *",
     "Europe/Dublin",
     "2026-10-24T00:00:00Z",
     {"2026-10-24T00:59:00Z", "2026-10-25T00:59:00Z", "2026-10-26T01:59:00Z"}},
};

static void ticks_are_those_of_the_local_clock(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(firings); i++) {
        TimeZone *zone = load(firings[i].zone);
        Cron cron = parse(firings[i].text);
        int64_t at_ms = instant(firings[i].after);
        for (int tick = 0; tick < TICKS_MAX && firings[i].ticks[tick]; tick++) {
            at_ms = cron_next(&cron, zone, at_ms);
            if (at_ms != instant(firings[i].ticks[tick])) {
                char text[INSTANT_TEXT_MAX];
                instant_format(at_ms, text);
                print_error("%s in %s: %s\n", firings[i].text, firings[i].zone, text);
            }
            assert_int_equal(at_ms, instant(firings[i].ticks[tick]));
        }
        timezone_free(zone);
    }
}

static void lists_ranges_steps_and_names_name_sets(void **state) {
    (void)state;
    Cron cron = parse("0,30 8-10 1-31/10 JAN,mar-May mon-FRI");
    assert_int_equal(cron.minutes, 1ull | 1ull << 30);
    assert_int_equal(cron.hours, 7u << 8);
    assert_int_equal(cron.days, 1u << 1 | 1u << 11 | 1u << 21 | 1u << 31);
    assert_int_equal(cron.months, 1u << 1 | 7u << 3);
    assert_int_equal(cron.weekdays, 0x3E);
    assert_false(cron.is_day_open || cron.is_weekday_open);
    cron = parse("50/4 */7 */2 * *");
    assert_int_equal(cron.minutes, 1ull << 50 | 1ull << 54 | 1ull << 58);
    assert_int_equal(cron.hours, 1u | 1u << 7 | 1u << 14 | 1u << 21);
    assert_true(cron.is_day_open && cron.is_weekday_open);
}

static void sunday_is_both_0_and_7(void **state) {
    (void)state;
    assert_int_equal(parse("0 0 * * 0").weekdays, 1);
    assert_int_equal(parse("0 0 * * 7").weekdays, 1);
    assert_int_equal(parse("0 0 * * SUN").weekdays, 1);
    assert_int_equal(parse("0 0 * * 5-7").weekdays, 1 | 1 << 5 | 1 << 6);
    assert_int_equal(parse("0 0 * * SAT-SUN").weekdays, 1 | 1 << 6);
    assert_int_equal(parse("0 0 * * 0-7").weekdays, 0x7F);
    assert_int_equal(parse("0 0 * * */2").weekdays, 1 | 1 << 2 | 1 << 4 | 1 << 6);
}

// Field by field: the bytes between the fields and behind them are anything.
static void assert_same_cron(const Cron *a, const Cron *b) {
    assert_int_equal(a->minutes, b->minutes);
    assert_int_equal(a->hours, b->hours);
    assert_int_equal(a->days, b->days);
    assert_int_equal(a->months, b->months);
    assert_int_equal(a->weekdays, b->weekdays);
    assert_int_equal(a->is_day_open, b->is_day_open);
    assert_int_equal(a->is_weekday_open, b->is_weekday_open);
}

static void nicknames_stand_for_expressions(void **state) {
    (void)state;
    const struct {
        const char *nickname, *text;
    } pairs[] = {{"@hourly", "0 * * * *"},  {"@daily", "0 0 * * *"},   {"@midnight", "0 0 * * *"},
                 {"@weekly", "0 0 * * 0"},  {"@monthly", "0 0 1 * *"}, {"@yearly", "0 0 1 1 *"},
                 {"@annually", "0 0 1 1 *"}};
    for (size_t i = 0; i < COUNT_OF(pairs); i++) {
        Cron nickname = parse(pairs[i].nickname), cron = parse(pairs[i].text);
        assert_same_cron(&nickname, &cron);
    }
}

static void space_around_fields_does_not_matter(void **state) {
    (void)state;
    Cron plain = parse("0 9 * * 1"), spaced = parse("  0\t9  * *   1 \n");
    assert_same_cron(&plain, &spaced);
}

static void bad_expressions_are_refused_by_field_and_text(void **state) {
    (void)state;
    const struct {
        const char *text, *named, *quoted;
    } cases[] = {
        {"60 * * * *", "minute", "60"},
        {"* 24 * * *", "hour", "24"},
        {"* * 0 * *", "day of month", "0"},
        {"* * 32 * *", "day of month", "32"},
        {"* * * 13 *", "month", "13"},
        {"* * * 0 *", "month", "0"},
        {"* * * * 8", "day of week", "8"},
        {"* * * * MONDAY", "day of week", "MONDAY"},
        {"* * * FOO *", "month", "FOO"},
        {"* MON * * *", "hour", "MON"},
        {"5-1 * * * *", "minute", "5-1"},
        {"*/0 * * * *", "minute", "*/0"},
        {"*/60 * * * *", "minute", "*/60"},
        {"*/ * * * *", "minute", "*/"},
        {"*/x * * * *", "minute", "*/x"},
        {"1, * * * *", "minute", "1,"},
        {",1 * * * *", "minute", ",1"},
        {"1- * * * *", "minute", "1-"},
        {"-1 * * * *", "minute", "-1"},
        {"1-5-9 * * * *", "minute", "1-5-9"},
        {"** * * * *", "minute", "**"},
        {"* * L * *", "day of month", "L"},
        {"* * ? * *", "day of month", "?"},
        {"* * * * 5#2", "day of week", "5#2"},
        {"99999999999999999999 * * * *", "minute", "99999"},
        {"* * * *", "has 4 fields", "* * * *"},
        {"0 * * * * *", "has 6 fields", "0 * * * * *"},
        {"", "has 0 fields", ""},
        {"nonsense", "has 1 field;", "nonsense"},
        {"@reboot", "@daily", "@reboot"},
        {"@", "@daily", "@"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        Cron cron;
        Diag diag = {0};
        Status status = cron_parse(str_from(cases[i].text), &cron, &diag);
        if (status == OK) print_error("case %zu was accepted\n", i);
        assert_status(status, ERR_INVALID);
        assert_string_equal(diag.code, "BAD_CRON");
        if (!strstr(diag.message, cases[i].named)) print_error("%s\n", diag.message);
        assert_non_null(strstr(diag.message, cases[i].named));
        assert_non_null(strstr(diag.message, cases[i].quoted));
    }
    char longest[CRON_TEXT_MAX + 2];
    memset(longest, '1', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = 0;
    Cron cron;
    assert_status(cron_parse(str_from(longest), &cron, NULL), ERR_INVALID);
}

static void days_that_never_come_are_refused(void **state) {
    (void)state;
    const char *texts[] = {"0 0 30 2 *", "0 0 31 2,4,6,9,11 *", "0 0 30-31 FEB *"};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        Cron cron;
        Diag diag = {0};
        assert_status(cron_parse(str_from(texts[i]), &cron, &diag), ERR_INVALID);
        assert_string_equal(diag.code, "BAD_CRON");
        assert_non_null(strstr(diag.message, "never"));
    }
    parse("0 0 30 2 1"); // every Monday of February
}

static void rare_days_are_found(void **state) {
    (void)state;
    TimeZone *zone = load("UTC");
    Cron leap = parse("0 0 29 2 *");
    assert_int_equal(cron_next(&leap, zone, instant("2096-03-01T00:00:00Z")),
                     instant("2104-02-29T00:00:00Z")); // 2100 is none
    Cron sunday = parse("0 0 29 2 */7");               // both must match, because one begins with *
    assert_int_equal(cron_next(&sunday, zone, instant("2032-03-01T00:00:00Z")),
                     instant("2060-02-29T00:00:00Z"));
    assert_int_equal(cron_next(&sunday, zone, instant("9996-03-01T00:00:00Z")), 0);
    timezone_free(zone);
}

// Ticks ascend, each is the first one past the one before, and asking from anywhere between two
// answers the later one.
static void ticks_do_not_depend_on_where_one_asks_from(void **state) {
    (void)state;
    const char *texts[] = {"30 2 * * *", "*/20 * * * *", "0 */3 * * 1-5", "15 1,2 25-31 3,10 *"};
    const char *names[] = {"Europe/Berlin", "Australia/Lord_Howe", "America/New_York"};
    uint64_t seed = 5;
    for (size_t t = 0; t < COUNT_OF(texts); t++) {
        for (size_t n = 0; n < COUNT_OF(names); n++) {
            TimeZone *zone = load(names[n]);
            Cron cron = parse(texts[t]);
            int64_t at_ms = instant("2026-03-20T00:00:00Z");
            for (size_t i = 0; i < scaled(2000); i++) {
                int64_t next_ms = cron_next(&cron, zone, at_ms);
                assert_true(next_ms > at_ms);
                int64_t between =
                    at_ms + (int64_t)(random_next(&seed) % (uint64_t)(next_ms - at_ms));
                assert_int_equal(cron_next(&cron, zone, between), next_ms);
                at_ms = next_ms;
            }
            timezone_free(zone);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ticks_are_those_of_the_local_clock),
        cmocka_unit_test(lists_ranges_steps_and_names_name_sets),
        cmocka_unit_test(sunday_is_both_0_and_7),
        cmocka_unit_test(nicknames_stand_for_expressions),
        cmocka_unit_test(space_around_fields_does_not_matter),
        cmocka_unit_test(bad_expressions_are_refused_by_field_and_text),
        cmocka_unit_test(days_that_never_come_are_refused),
        cmocka_unit_test(rare_days_are_found),
        cmocka_unit_test(ticks_do_not_depend_on_where_one_asks_from),
    };
    return cmocka_run_group_tests_name("base cron", tests, NULL, NULL);
}

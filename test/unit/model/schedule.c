// Schedules as the model knows them: names, ticks, jitter and ids.
#include "base/array.h"
#include "unit/unit.h"

#include "base/time/duration.h"
#include "model/schedule.h"

static void kinds_and_policies_have_names(void **state) {
    (void)state;
    assert_string_equal(schedule_kind_name(SCHEDULE_CRON), "cron");
    assert_string_equal(overlap_name(OVERLAP_CANCEL_OLD), "cancel-old");
    assert_string_equal(schedule_kind_name(99), "unknown");
    assert_string_equal(overlap_name(-1), "unknown");
}

static Ticker ticker(ScheduleKind kind, const char *spec, const TimeZone *zone) {
    Ticker made;
    assert_ok(ticker_init(&made, kind, str_from(spec), zone, NULL));
    return made;
}

static void intervals_tick_at_multiples_whenever_they_were_made(void **state) {
    (void)state;
    Ticker quarter = ticker(SCHEDULE_INTERVAL, "15m", NULL);
    int64_t ticks[3];
    assert_int_equal(ticker_preview(&quarter, 1000000, ticks, 3), 3);
    assert_int_equal(ticks[0], 1800000);
    assert_int_equal(ticks[1], 2700000);
    assert_int_equal(ticks[2], 3600000);
    assert_int_equal(ticker_next(&quarter, 1800000), 2700000); // strictly later
    assert_int_equal(ticker_next(&quarter, 1799999), 1800000);
    assert_int_equal(ticker_next(&quarter, -5), 900000);
    assert_int_equal(ticker_next(&quarter, INT64_MAX), 0);
}

static void a_single_time_has_one_tick(void **state) {
    (void)state;
    Ticker once = ticker(SCHEDULE_ONCE, "2026-11-15T00:00:00+01:00", NULL);
    int64_t ticks[3];
    assert_int_equal(ticker_preview(&once, 0, ticks, 3), 1);
    assert_int_equal(ticker_next(&once, ticks[0]), 0);
    assert_int_equal(ticks[0], 1794697200000);
}

static void cron_ticks_are_previewed_in_their_zone(void **state) {
    (void)state;
    TimeZone *zone = NULL;
    assert_ok(timezone_load(STR("America/New_York"), &zone, NULL));
    Ticker daily = ticker(SCHEDULE_CRON, "@daily", zone);
    int64_t after, ticks[2];
    assert_ok(instant_parse(STR("2026-10-31T12:00:00Z"), &after, NULL));
    assert_int_equal(ticker_preview(&daily, after, ticks, 2), 2);
    char text[INSTANT_TEXT_MAX];
    instant_format(ticks[0], text);
    assert_string_equal(text, "2026-11-01T04:00:00.000Z");
    instant_format(ticks[1], text);
    assert_string_equal(text, "2026-11-02T05:00:00.000Z"); // an hour was given back
    timezone_free(zone);
}

static void unreadable_specs_are_refused(void **state) {
    (void)state;
    TimeZone *zone = NULL;
    assert_ok(timezone_load(STR("UTC"), &zone, NULL));
    const struct {
        int kind;
        const char *spec, *code;
    } cases[] = {
        {SCHEDULE_CRON, "* * * *", "BAD_CRON"},
        {SCHEDULE_INTERVAL, "often", "BAD_DURATION"},
        {SCHEDULE_INTERVAL, "0s", "BAD_SCHEDULE"},
        {SCHEDULE_ONCE, "soon", "BAD_TIME"},
        {SCHEDULE_ONCE, "1969-12-31T23:59:59Z", "BAD_SCHEDULE"},
        {0, "1h", "BAD_SCHEDULE"},
        {SCHEDULE_KIND_COUNT, "1h", "BAD_SCHEDULE"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        Ticker made;
        Diag diag = {0};
        assert_status(ticker_init(&made, cases[i].kind, str_from(cases[i].spec), zone, &diag),
                      ERR_INVALID);
        assert_string_equal(diag.code, cases[i].code);
    }
    timezone_free(zone);
}

static void jitter_is_bounded_spread_and_always_the_same(void **state) {
    (void)state;
    int64_t low = INT64_MAX, high = 0;
    for (int64_t tick = 0; tick < 1000; tick++) {
        int64_t jitter = schedule_jitter_ms(STR("nightly"), tick * 60000, 10000);
        assert_in_range(jitter, 0, 10000);
        assert_int_equal(jitter, schedule_jitter_ms(STR("nightly"), tick * 60000, 10000));
        if (jitter < low) low = jitter;
        if (jitter > high) high = jitter;
    }
    assert_true(low < 500 && high > 9500);
    assert_int_equal(schedule_jitter_ms(STR("nightly"), 5, 0), 0);
    assert_int_not_equal(schedule_jitter_ms(STR("a"), 5, 1000000),
                         schedule_jitter_ms(STR("b"), 5, 1000000));
}

static void ids_name_the_schedule_and_the_tick(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena);
    assert_str_equal(schedule_run_id(&arena, STR("nightly"), 1794700800000),
                     "sched:nightly:2026-11-15T00:00:00Z");
    assert_str_equal(schedule_run_id(&arena, STR("n"), 1794700800250),
                     "sched:n:2026-11-15T00:00:00.250Z");
    arena_done(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_and_policies_have_names),
        cmocka_unit_test(intervals_tick_at_multiples_whenever_they_were_made),
        cmocka_unit_test(a_single_time_has_one_tick),
        cmocka_unit_test(cron_ticks_are_previewed_in_their_zone),
        cmocka_unit_test(unreadable_specs_are_refused),
        cmocka_unit_test(jitter_is_bounded_spread_and_always_the_same),
        cmocka_unit_test(ids_name_the_schedule_and_the_tick),
    };
    return cmocka_run_group_tests_name("model schedule", tests, NULL, NULL);
}

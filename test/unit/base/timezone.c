// Time zones: offsets, gaps and overlaps against what another implementation says of the same
// places, and files that are not to be trusted.
//
// The expectations were computed with Python's zoneinfo; the places and years are ones whose rules
// are settled.
#include "base/array.h"
#include "unit/unit.h"

#include "base/containers/buf.h"
#include "base/env.h"
#include "base/time/duration.h"
#include "base/time/timezone.h"

static int64_t instant(const char *text) {
    int64_t at_ms = 0;
    assert_ok(instant_parse(str_from(text), &at_ms, NULL));
    return at_ms;
}

static TimeZone *load(const char *name) {
    TimeZone *zone = NULL;
    Diag diag;
    Status status = timezone_load(str_from(name), &zone, &diag);
    if (status != OK) print_error("%s\n", diag.message);
    assert_ok(status);
    return zone;
}

static const struct {
    const char *zone, *at;
    int offset_s;
} offsets[] = {
    {"Europe/Berlin", "2026-01-15T12:00:00Z", 3600},
    {"Europe/Berlin", "2026-03-29T00:59:59Z", 3600},
    {"Europe/Berlin", "2026-03-29T01:00:00Z", 7200},
    {"Europe/Berlin", "2026-10-25T00:59:59Z", 7200},
    {"Europe/Berlin", "2026-10-25T01:00:00Z", 3600},
    {"Europe/Berlin", "1945-07-01T00:00:00Z", 10800},
    {"Europe/Berlin", "1893-01-01T00:00:00Z", 3208},
    {"Europe/Berlin", "2060-07-01T00:00:00Z", 7200},
    {"Europe/Berlin", "2099-12-31T23:59:59Z", 3600},
    {"America/New_York", "2026-03-08T06:59:59Z", -18000},
    {"America/New_York", "2026-03-08T07:00:00Z", -14400},
    {"America/New_York", "2026-11-01T05:59:59Z", -14400},
    {"America/New_York", "2026-11-01T06:00:00Z", -18000},
    {"Australia/Sydney", "2026-04-04T15:59:59Z", 39600},
    {"Australia/Sydney", "2026-04-04T16:00:00Z", 36000},
    {"Australia/Sydney", "2026-10-03T15:59:59Z", 36000},
    {"Australia/Sydney", "2026-10-03T16:00:00Z", 39600},
    {"Australia/Sydney", "2051-01-01T00:00:00Z", 39600},
    {"Australia/Lord_Howe", "2026-04-04T14:59:59Z", 39600},
    {"Australia/Lord_Howe", "2026-04-04T15:00:00Z", 37800},
    {"Australia/Lord_Howe", "2026-10-03T15:29:59Z", 37800},
    {"Australia/Lord_Howe", "2026-10-03T15:30:00Z", 39600},
    {"Asia/Kolkata", "2026-07-01T00:00:00Z", 19800},
    {"Asia/Kathmandu", "2026-07-01T00:00:00Z", 20700},
    {"Asia/Kathmandu", "1985-12-31T18:29:59Z", 19800},
    {"Asia/Kathmandu", "1985-12-31T18:30:00Z", 20700},
    {"America/St_Johns", "2026-01-01T00:00:00Z", -12600},
    {"America/St_Johns", "2026-07-01T00:00:00Z", -9000},
    {"Europe/Dublin", "2026-01-01T00:00:00Z", 0},
    {"Europe/Dublin", "2026-07-01T00:00:00Z", 3600},
    {"Europe/Dublin", "2050-01-01T00:00:00Z", 0},
    {"America/Sao_Paulo", "2018-12-01T00:00:00Z", -7200},
    {"America/Sao_Paulo", "2026-12-01T00:00:00Z", -10800},
    {"Pacific/Apia", "2011-12-30T09:59:59Z", -36000},
    {"Pacific/Apia", "2011-12-30T10:00:00Z", 50400},
    {"America/Santiago", "2040-01-01T00:00:00Z", -10800},
    {"America/Santiago", "2040-07-01T00:00:00Z", -14400},
    {"Etc/GMT+5", "2026-01-01T00:00:00Z", -18000},
    {"UTC", "2026-01-01T00:00:00Z", 0},
};

static void offsets_are_those_of_the_place_and_time(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(offsets); i++) {
        TimeZone *zone = load(offsets[i].zone);
        int64_t offset_ms = timezone_offset_ms(zone, instant(offsets[i].at));
        if (offset_ms != offsets[i].offset_s * 1000) {
            print_error("%s at %s\n", offsets[i].zone, offsets[i].at);
        }
        assert_int_equal(offset_ms, offsets[i].offset_s * 1000);
        timezone_free(zone);
    }
}

static const struct {
    const char *zone, *local, *first, *second;
} locals[] = {
    {"Europe/Berlin", "2026-03-29T01:59:00Z", "2026-03-29T00:59:00Z", NULL},
    {"Europe/Berlin", "2026-03-29T02:00:00Z", NULL, NULL},
    {"Europe/Berlin", "2026-03-29T02:59:00Z", NULL, NULL},
    {"Europe/Berlin", "2026-03-29T03:00:00Z", "2026-03-29T01:00:00Z", NULL},
    {"Europe/Berlin", "2026-10-25T01:59:00Z", "2026-10-24T23:59:00Z", NULL},
    {"Europe/Berlin", "2026-10-25T02:00:00Z", "2026-10-25T00:00:00Z", "2026-10-25T01:00:00Z"},
    {"Europe/Berlin", "2026-10-25T02:59:00Z", "2026-10-25T00:59:00Z", "2026-10-25T01:59:00Z"},
    {"Europe/Berlin", "2026-10-25T03:00:00Z", "2026-10-25T02:00:00Z", NULL},
    {"America/New_York", "2026-03-08T02:30:00Z", NULL, NULL},
    {"America/New_York", "2026-11-01T01:30:00Z", "2026-11-01T05:30:00Z", "2026-11-01T06:30:00Z"},
    {"Australia/Sydney", "2026-10-04T02:30:00Z", NULL, NULL},
    {"Australia/Sydney", "2026-04-05T02:30:00Z", "2026-04-04T15:30:00Z", "2026-04-04T16:30:00Z"},
    {"Australia/Lord_Howe", "2026-10-04T02:15:00Z", NULL, NULL},
    {"Australia/Lord_Howe", "2026-10-04T02:30:00Z", "2026-10-03T15:30:00Z", NULL},
    {"Australia/Lord_Howe", "2026-04-05T01:45:00Z", "2026-04-04T14:45:00Z", "2026-04-04T15:15:00Z"},
    {"Australia/Lord_Howe", "2026-04-05T01:15:00Z", "2026-04-04T14:15:00Z", NULL},
    {"Pacific/Apia", "2011-12-30T12:00:00Z", NULL, NULL},
    {"Pacific/Apia", "2011-12-31T00:00:00Z", "2011-12-30T10:00:00Z", NULL},
    {"Asia/Kolkata", "2026-06-01T00:00:00Z", "2026-05-31T18:30:00Z", NULL},
    {"Europe/Berlin", "2070-03-30T02:30:00Z", NULL, NULL},
    {"Europe/Berlin", "2070-10-26T02:30:00Z", "2070-10-26T00:30:00Z", "2070-10-26T01:30:00Z"},
    {"UTC", "2026-03-29T02:30:00Z", "2026-03-29T02:30:00Z", NULL},
};

// The instants at which the clocks show `local_ms`, in order; answers how many there are
// [timezone-2].
static int instants_of(const TimeZone *zone, int64_t local_ms, int64_t ret_instants[2]) {
    int count = 0;
    int64_t last_ms = local_ms + 26 * 3600 * 1000LL;
    ZoneSpan span = timezone_span(zone, local_ms - 26 * 3600 * 1000LL);
    for (;;) {
        int64_t at_ms = local_ms - span.offset_ms;
        if (at_ms >= span.start_ms && at_ms < span.end_ms) ret_instants[count++] = at_ms;
        if (count == 2 || span.end_ms > last_ms) return count;
        span = timezone_span(zone, span.end_ms);
    }
}

static void local_times_exist_never_once_or_twice(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(locals); i++) {
        TimeZone *zone = load(locals[i].zone);
        int64_t found[2] = {0, 0};
        int count = instants_of(zone, instant(locals[i].local), found);
        int expected = (locals[i].first != NULL) + (locals[i].second != NULL);
        if (count != expected) print_error("%s at %s\n", locals[i].zone, locals[i].local);
        assert_int_equal(count, expected);
        if (count > 0) assert_int_equal(found[0], instant(locals[i].first));
        if (count > 1) assert_int_equal(found[1], instant(locals[i].second));
        timezone_free(zone);
    }
}

// Follows a zone from span to span: they meet, they differ, and what is asked in the middle of one
// answers the same as at its ends.
static void spans_follow_one_another(void **state) {
    (void)state;
    const char *names[] = {"Europe/Berlin", "Australia/Sydney", "America/Santiago",
                           "Asia/Kolkata",  "Europe/Dublin",    "UTC",
                           "Asia/Gaza",     "Africa/Casablanca"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        TimeZone *zone = load(names[i]);
        ZoneSpan span = timezone_span(zone, instant("1800-01-01T00:00:00Z"));
        assert_int_equal(span.start_ms, INT64_MIN);
        assert_int_equal(span.before_ms, span.offset_ms);
        while (span.end_ms < instant("2150-01-01T00:00:00Z")) {
            assert_int_not_equal(span.offset_ms, span.after_ms);
            assert_int_equal(timezone_offset_ms(zone, span.end_ms - 1), span.offset_ms);
            ZoneSpan next = timezone_span(zone, span.end_ms);
            assert_int_equal(next.start_ms, span.end_ms);
            assert_int_equal(next.offset_ms, span.after_ms);
            assert_int_equal(next.before_ms, span.offset_ms);
            span = next;
        }
        timezone_free(zone);
    }
}

static void utc_has_one_span_for_ever(void **state) {
    (void)state;
    TimeZone *zone = load("UTC");
    ZoneSpan span = timezone_span(zone, 0);
    assert_int_equal(span.start_ms, INT64_MIN);
    assert_int_equal(span.end_ms, INT64_MAX);
    assert_int_equal(span.offset_ms, 0);
    assert_str_equal(timezone_name(zone), "UTC");
    timezone_free(zone);
}

static void names_with_tricks_are_refused(void **state) {
    (void)state;
    const char *names[] = {"",
                           "/etc/passwd",
                           "../../etc/passwd",
                           "Europe/../Europe/Berlin",
                           "Europe/",
                           "Europe//Berlin",
                           "/Europe/Berlin",
                           "Europe/Ber lin",
                           "Europe/Berlin\n",
                           "zone.tab",
                           "Europe\\Berlin",
                           "\xc3\xa9",
                           "~"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        TimeZone *zone = NULL;
        Diag diag = {0};
        assert_status(timezone_load(str_from(names[i]), &zone, &diag), ERR_INVALID);
        assert_string_equal(diag.code, "BAD_TIMEZONE");
        assert_null(zone);
    }
    char longest[TIMEZONE_NAME_MAX + 2];
    memset(longest, 'a', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = 0;
    TimeZone *zone = NULL;
    assert_status(timezone_load(str_from(longest), &zone, NULL), ERR_INVALID);
    assert_status(timezone_load((Str){"UTC\0x", 5}, &zone, NULL), ERR_INVALID);
}

static void what_is_no_zone_is_refused(void **state) {
    (void)state;
    const char *names[] = {"Europe/Atlantis", "Europe", "leapseconds", "tzdata", "utc/UTC"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        TimeZone *zone = NULL;
        Diag diag = {0};
        assert_status(timezone_load(str_from(names[i]), &zone, &diag), ERR_INVALID);
        assert_string_equal(diag.code, "BAD_TIMEZONE");
        assert_non_null(strstr(diag.message, names[i]));
    }
}

// ---- files made by hand ----

static void put_u32(Buf *file, uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) buf_append_char(file, (char)(value >> shift));
}

static void put_i64(Buf *file, int64_t value) {
    put_u32(file, (uint32_t)((uint64_t)value >> 32));
    put_u32(file, (uint32_t)value);
}

typedef struct Made {
    char version;
    int64_t times[4];
    unsigned char places[4];
    uint32_t change_count;
    int32_t offsets[2];
    uint32_t type_count;
    uint32_t leap_count;
    const char *footer;
} Made;

static void put_header(Buf *file, const Made *made) {
    buf_append(file, "TZif", 4);
    buf_append_char(file, made->version);
    for (int i = 0; i < 15; i++) buf_append_char(file, 0);
    put_u32(file, 0);
    put_u32(file, 0);
    put_u32(file, made->leap_count);
    put_u32(file, made->change_count);
    put_u32(file, made->type_count);
    put_u32(file, 4);
}

static void make(Buf *file, const Made *made) {
    buf_init(file, 1 << 20);
    put_header(file, &(Made){.version = made->version, .type_count = 1});
    for (int i = 0; i < 6 + 4; i++) buf_append_char(file, 0);
    put_header(file, made);
    for (uint32_t i = 0; i < made->change_count; i++) put_i64(file, made->times[i]);
    buf_append(file, made->places, made->change_count);
    for (uint32_t i = 0; i < made->type_count; i++) {
        put_u32(file, (uint32_t)made->offsets[i]);
        buf_append(file, "\0\0", 2);
    }
    buf_append(file, "ABC\0", 4);
    for (uint32_t i = 0; i < made->leap_count; i++) buf_append(file, "0123456789ab", 12);
    buf_append_char(file, '\n');
    buf_append_cstr(file, made->footer);
    buf_append_char(file, '\n');
}

static const Made good = {.version = '2',
                          .times = {1000, 2000},
                          .places = {1, 0},
                          .change_count = 2,
                          .offsets = {0, 3600},
                          .type_count = 2,
                          .footer = "ABC0"};

static Status parse(const Made *made, TimeZone **ret_zone, Diag *diag) {
    Buf file;
    make(&file, made);
    Status status = timezone_parse(STR("Made/Up"), buf_str(&file), ret_zone, diag);
    buf_done(&file);
    return status;
}

static void a_file_made_by_hand_is_read(void **state) {
    (void)state;
    TimeZone *zone = NULL;
    assert_ok(parse(&good, &zone, NULL));
    assert_int_equal(timezone_offset_ms(zone, 999999), 0);
    assert_int_equal(timezone_offset_ms(zone, 1000000), 3600000);
    assert_int_equal(timezone_offset_ms(zone, 2000000), 0);
    timezone_free(zone);
}

static void assert_damaged(const Made *made) {
    TimeZone *zone = NULL;
    Diag diag = {0};
    assert_status(parse(made, &zone, &diag), ERR_INVALID);
    assert_string_equal(diag.code, "BAD_TIMEZONE");
    assert_null(zone);
}

static void contradictory_files_are_refused(void **state) {
    (void)state;
    Made made = good;
    made.version = 0;
    assert_damaged(&made); // only 32 bits
    made = good;
    made.times[1] = 1000;
    assert_damaged(&made); // does not ascend
    made = good;
    made.places[1] = 2;
    assert_damaged(&made); // no such type
    made = good;
    made.offsets[1] = 30 * 3600;
    assert_damaged(&made); // nobody is that far from Greenwich
    made = good;
    made.leap_count = 1;
    assert_damaged(&made);
    made = good;
    made.type_count = made.change_count = 0;
    assert_damaged(&made);
}

static void unreadable_rules_are_refused(void **state) {
    (void)state;
    const char *footers[] = {"A0",
                             "ABC",
                             "ABCx",
                             "ABC25",
                             "ABC0DEF",
                             "ABC0DEF,M3.5.0",
                             "ABC0DEF,M13.1.0,M4.1.0",
                             "ABC0DEF,M3.6.0,M4.1.0",
                             "ABC0DEF,M3.1.7,M4.1.0",
                             "ABC0DEF,J0,J1",
                             "ABC0DEF,J366,J1",
                             "ABC0DEF,366,1",
                             "ABC0DEF,M3.1.0/169,M4.1.0",
                             "ABC0DEF,M3.1.0,M4.1.0x",
                             "<ABC0",
                             "<>0",
                             "ABC0:60",
                             "ABC0DEF,M3.5.0,",
                             "ABC0DEF,99999999999,1"};
    for (size_t i = 0; i < COUNT_OF(footers); i++) {
        Made made = good;
        made.footer = footers[i];
        assert_damaged(&made);
    }
}

static void rules_of_every_form_are_understood(void **state) {
    (void)state;
    const struct {
        const char *footer, *at;
        int offset_s;
    } cases[] = {
        {"ABC0DEF,J60/0,J300/0", "2028-02-29T12:00:00Z", 0}, // J60 is 1 March, leap year or not
        {"ABC0DEF,J60/0,J300/0", "2028-03-01T00:00:00Z", 3600},
        {"ABC0DEF,59/0,J300/0", "2028-02-29T00:00:00Z", 3600}, // day 59 is 29 February then
        {"ABC0DEF,59/0,J300/0", "2027-03-01T00:00:00Z", 3600},
        {"ABC-3:30:15", "2027-03-01T00:00:00Z", 12615},
        {"<-03>3<-02>,M3.5.0/-2,M10.5.0/-1", "2027-03-28T01:00:00Z", -7200},
        {"<-03>3<-02>,M3.5.0/-2,M10.5.0/-1", "2027-03-28T00:59:59Z", -10800},
        {"ABC0DEF,0/0,J365/25", "2027-07-01T00:00:00Z", 3600}, // summer all year
        {"ABC0DEF,0/0,J365/25", "2027-12-31T23:59:59Z", 3600},
        {"ABC0DEF,0/0,J365/25", "2028-01-01T00:00:00Z", 3600},
        {"ABC0DEF0,M3.5.0,M10.5.0", "2027-07-01T00:00:00Z", 0},
        {"", "2027-07-01T00:00:00Z", 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        Made made = {.version = '3', .offsets = {0}, .type_count = 1, .footer = cases[i].footer};
        TimeZone *zone = NULL;
        assert_ok(parse(&made, &zone, NULL));
        if (timezone_offset_ms(zone, instant(cases[i].at)) != cases[i].offset_s * 1000) {
            print_error("%s at %s\n", cases[i].footer, cases[i].at);
        }
        assert_int_equal(timezone_offset_ms(zone, instant(cases[i].at)), cases[i].offset_s * 1000);
        timezone_free(zone);
    }
}

static void files_cut_short_are_refused(void **state) {
    (void)state;
    Buf file;
    make(&file, &good);
    for (size_t len = 0; len < file.len; len++) {
        char *copy = malloc(len ? len : 1); // its own block, so that a read past it is noticed
        memcpy(copy, file.data, len);
        TimeZone *zone = NULL;
        assert_status(timezone_parse(STR("Made/Up"), (Str){copy, len}, &zone, NULL), ERR_INVALID);
        free(copy);
    }
    buf_done(&file);
}

static void damaged_files_never_lead_astray(void **state) {
    (void)state;
    uint64_t seed = 7;
    Buf file;
    make(&file, &good);
    for (size_t i = 0; i < scaled(20000); i++) {
        char *copy = malloc(file.len);
        memcpy(copy, file.data, file.len);
        for (uint64_t hits = 1 + random_next(&seed) % 4; hits > 0; hits--) {
            copy[random_next(&seed) % file.len] = (char)random_next(&seed);
        }
        TimeZone *zone = NULL;
        if (timezone_parse(STR("Made/Up"), (Str){copy, file.len}, &zone, NULL) == OK) {
            int64_t at_ms = (int64_t)(random_next(&seed) % 8000000000000u) - 2000000000000;
            ZoneSpan span = timezone_span(zone, at_ms);
            assert_true(span.start_ms <= at_ms && at_ms < span.end_ms);
            timezone_free(zone);
        }
        free(copy);
    }
    buf_done(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offsets_are_those_of_the_place_and_time),
        cmocka_unit_test(local_times_exist_never_once_or_twice),
        cmocka_unit_test(spans_follow_one_another),
        cmocka_unit_test(utc_has_one_span_for_ever),
        cmocka_unit_test(names_with_tricks_are_refused),
        cmocka_unit_test(what_is_no_zone_is_refused),
        cmocka_unit_test(a_file_made_by_hand_is_read),
        cmocka_unit_test(contradictory_files_are_refused),
        cmocka_unit_test(unreadable_rules_are_refused),
        cmocka_unit_test(rules_of_every_form_are_understood),
        cmocka_unit_test(files_cut_short_are_refused),
        cmocka_unit_test(damaged_files_never_lead_astray),
    };
    return cmocka_run_group_tests_name("base timezone", tests, NULL, NULL);
}

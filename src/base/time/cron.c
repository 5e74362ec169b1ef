// Cron expressions: reading them, and finding when they fire next.
//
// Finding works in two layers. On the calendar alone (no zone) the next match is found field by
// field, skipping months and days that cannot match. A zone is a sequence of spans of constant
// offset, and within one of them local time is just a shifted calendar; so the search goes from
// span to span and looks at what happens where two of them meet ([cron-1], [cron-2] of cron.h).
//
//   [cron-4] The calendar repeats every 400 years, so a search of that length decides: it is
//        bounded, and an expression that was read has a next match.
//
// Not here: zones (timezone.c), what happens at a tick (store/kernel/schedules/schedules.c).
#include "base/time/cron.h"
#include "base/array.h"
#include "base/assert.h"
#include "base/time/duration.h"

enum {
    MINUTE_MS = 60 * 1000,
    DAY_MINUTES = 24 * 60,
    ALL_HOURS = (1 << 24) - 1,
    CYCLE_MONTHS = 400 * 12 // [cron-4]
};
#define LAST_MS  253402300799999LL // 9999-12-31T23:59:59.999Z
#define NO_MATCH INT64_MIN

// ---- reading ----

typedef struct Field {
    const char *name;
    int min, max;
    const char *names; // three letters each, from `min` on
    const char *allowed;
} Field;

enum { FIELD_MINUTE, FIELD_HOUR, FIELD_DAY, FIELD_MONTH, FIELD_WEEKDAY, FIELD_COUNT };
static const Field fields[FIELD_COUNT] = {
    {"minute", 0, 59, "", "0-59"},
    {"hour", 0, 23, "", "0-23"},
    {"day of month", 1, 31, "", "1-31"},
    {"month", 1, 12, "janfebmaraprmayjunjulaugsepoctnovdec", "1-12 or JAN-DEC"},
    {"day of week", 0, 7, "sunmontuewedthufrisat", "0-7 or SUN-SAT (0 and 7 are Sunday)"},
};

static const struct {
    Str name;
    Str meaning;
} nicknames[] = {
    {STR("@hourly"), STR("0 * * * *")},   {STR("@daily"), STR("0 0 * * *")},
    {STR("@midnight"), STR("0 0 * * *")}, {STR("@weekly"), STR("0 0 * * 0")},
    {STR("@monthly"), STR("0 0 1 * *")},  {STR("@yearly"), STR("0 0 1 1 *")},
    {STR("@annually"), STR("0 0 1 1 *")},
};

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

typedef struct FieldReader {
    const Field *field;
    Str text; // the whole field
    const char *at, *end;
    Diag *diag;
} FieldReader;

static Status field_bad(const FieldReader *reader, const char *why) {
    int shown = reader->text.len > 60 ? 60 : (int)reader->text.len;
    return diag_set(reader->diag, ERR_INVALID, "BAD_CRON",
                    "the %s field \"%.*s\" of the cron expression %s; allowed are %s, `*`, lists "
                    "(1,5), ranges (1-5) and steps (*/5)",
                    reader->field->name, shown, reader->text.data, why, reader->field->allowed);
}

static bool field_take(FieldReader *reader, char c) {
    if (reader->at == reader->end || *reader->at != c) return false;
    reader->at++;
    return true;
}

static Status read_number(FieldReader *reader, int *ret_number) {
    int number = 0;
    const char *start = reader->at;
    while (reader->at < reader->end && is_digit(*reader->at)) {
        number = number * 10 + (*reader->at++ - '0');
        if (reader->at - start > 4) return field_bad(reader, "has a number out of range");
    }
    *ret_number = number;
    return OK;
}

// A number of the field's range, or one of its names.
static Status read_value(FieldReader *reader, int *ret_value) {
    const Field *field = reader->field;
    if (reader->at == reader->end) return field_bad(reader, "has a value missing");
    if (is_digit(*reader->at)) {
        TRY(read_number(reader, ret_value));
        bool is_within = *ret_value >= field->min && *ret_value <= field->max;
        return is_within ? OK : field_bad(reader, "has a number out of range");
    }
    if (reader->end - reader->at >= 3) {
        for (int i = 0; field->names[3 * i]; i++) {
            const char *name = field->names + (size_t)(3 * i);
            bool is_same = lower(reader->at[0]) == name[0] && lower(reader->at[1]) == name[1] &&
                           lower(reader->at[2]) == name[2];
            if (!is_same) continue;
            reader->at += 3;
            *ret_value = field->min + i;
            return OK;
        }
    }
    return field_bad(reader, "cannot be read");
}

// "*", "5", "1-5", each with an optional "/step"; a single value with a step goes to the end.
static Status read_item(FieldReader *reader, uint64_t *set) {
    const Field *field = reader->field;
    bool is_weekday = field->max == 7;
    int first = field->min, last = is_weekday ? 6 : field->max, step = 1;
    bool is_range = field_take(reader, '*');
    if (!is_range) {
        TRY(read_value(reader, &first));
        is_range = field_take(reader, '-');
        last = first;
        if (is_range) {
            TRY(read_value(reader, &last));
            if (is_weekday && last == 0 && first > 0) last = 7; // SAT-SUN
            if (last < first) return field_bad(reader, "has a range that ends before it begins");
        }
    }
    if (field_take(reader, '/')) {
        if (reader->at == reader->end || !is_digit(*reader->at)) {
            return field_bad(reader, "has a step without a number");
        }
        TRY(read_number(reader, &step));
        if (step < 1 || step > field->max) return field_bad(reader, "has a step out of range");
        if (!is_range) last = is_weekday ? 6 : field->max;
    }
    for (int value = first; value <= last; value += step) {
        *set |= UINT64_C(1) << (is_weekday ? value % 7 : value);
    }
    return OK;
}

static Status read_field(FieldReader *reader, uint64_t *ret_set) {
    uint64_t set = 0;
    do {
        TRY(read_item(reader, &set));
    } while (field_take(reader, ','));
    if (reader->at != reader->end) return field_bad(reader, "cannot be read");
    *ret_set = set;
    return OK;
}

static bool is_space(char c) { return c == ' ' || c == '\t'; }

static Status split_fields(Str text, Str ret_fields[FIELD_COUNT], Diag *diag) {
    size_t count = 0;
    for (size_t at = 0; at < text.len;) {
        if (is_space(text.data[at])) {
            at++;
            continue;
        }
        size_t start = at;
        while (at < text.len && !is_space(text.data[at])) at++;
        if (count < FIELD_COUNT) ret_fields[count] = (Str){text.data + start, at - start};
        count++;
    }
    if (count == FIELD_COUNT) return OK;
    return diag_set(diag, ERR_INVALID, "BAD_CRON",
                    "the cron expression \"%.*s\" has %zu field%s; it needs 5: minute, hour, day "
                    "of month, month, day of week",
                    STR_ARG(text), count, count == 1 ? "" : "s");
}

static Status expand_nickname(Str *text, Diag *diag) {
    for (size_t i = 0; i < COUNT_OF(nicknames); i++) {
        if (!str_equal(*text, nicknames[i].name)) continue;
        *text = nicknames[i].meaning;
        return OK;
    }
    return diag_set(diag, ERR_INVALID, "BAD_CRON",
                    "\"%.*s\" is not a cron expression; known are @hourly, @daily, @weekly, "
                    "@monthly and @yearly",
                    STR_ARG(*text));
}

static int64_t civil_next(const Cron *cron, int64_t local_ms);

Status cron_parse(Str text, Cron *ret_cron, Diag *diag) {
    text = str_trim(text);
    if (text.len > CRON_TEXT_MAX) {
        return diag_set(diag, ERR_INVALID, "BAD_CRON",
                        "the cron expression has %zu bytes; at most %d are allowed", text.len,
                        CRON_TEXT_MAX);
    }
    if (text.len > 0 && text.data[0] == '@') TRY(expand_nickname(&text, diag));
    Str parts[FIELD_COUNT];
    uint64_t sets[FIELD_COUNT];
    TRY(split_fields(text, parts, diag));
    for (int i = 0; i < FIELD_COUNT; i++) {
        FieldReader reader = {&fields[i], parts[i], parts[i].data, parts[i].data + parts[i].len,
                              diag};
        TRY(read_field(&reader, &sets[i]));
    }
    Cron cron = {.minutes = sets[FIELD_MINUTE],
                 .hours = (uint32_t)sets[FIELD_HOUR],
                 .days = (uint32_t)sets[FIELD_DAY],
                 .months = (uint32_t)sets[FIELD_MONTH],
                 .weekdays = (uint32_t)sets[FIELD_WEEKDAY],
                 .is_day_open = parts[FIELD_DAY].data[0] == '*',
                 .is_weekday_open = parts[FIELD_WEEKDAY].data[0] == '*'};
    if (civil_next(&cron, 0) == NO_MATCH) { // [cron-3]
        return diag_set(diag, ERR_INVALID, "BAD_CRON",
                        "the cron expression \"%.*s\" never fires: no such day comes in any year",
                        STR_ARG(text));
    }
    *ret_cron = cron;
    return OK;
}

// ---- on the calendar ----

static int64_t floor_divide(int64_t value, int64_t by) { return value / by - (value % by < 0); }

static bool day_matches(const Cron *cron, int64_t days, int day) {
    int weekday = (int)(((days + 4) % 7 + 7) % 7); // 1970-01-01 was a Thursday
    bool is_day = cron->days >> day & 1;
    bool is_weekday = cron->weekdays >> weekday & 1;
    if (cron->is_day_open || cron->is_weekday_open) return is_day && is_weekday;
    return is_day || is_weekday;
}

// The first day that matches, from `days` on.
static int64_t next_day(const Cron *cron, int64_t days) {
    CivilDate date = civil_from_days(days);
    for (int i = 0; i <= CYCLE_MONTHS; i++) {
        int64_t first = civil_to_days(date.year, date.month, 1);
        bool is_last = date.month == 12;
        int64_t next_year = is_last ? date.year + 1 : date.year;
        int next_month = is_last ? 1 : date.month + 1;
        int64_t end = civil_to_days(next_year, next_month, 1);
        if (cron->months >> date.month & 1) {
            for (int64_t day = first + date.day - 1; day < end; day++) {
                if (day_matches(cron, day, (int)(day - first) + 1)) return day;
            }
        }
        date = (CivilDate){next_year, next_month, 1};
    }
    return NO_MATCH;
}

// The first minute of a day that matches, from `minute` on; < 0 when none is left.
static int next_minute(const Cron *cron, int minute) {
    int hour = minute / 60;
    uint64_t minutes = cron->minutes >> (minute % 60) << (minute % 60);
    if ((cron->hours >> hour & 1) && minutes != 0) return hour * 60 + __builtin_ctzll(minutes);
    uint32_t hours = hour == 23 ? 0 : cron->hours >> (hour + 1) << (hour + 1);
    if (hours == 0) return -1;
    return __builtin_ctz(hours) * 60 + __builtin_ctzll(cron->minutes);
}

// The first local time that matches, from `local_ms` on.
static int64_t civil_next(const Cron *cron, int64_t local_ms) {
    int64_t minutes = floor_divide(local_ms + MINUTE_MS - 1, MINUTE_MS);
    int64_t days = floor_divide(minutes, DAY_MINUTES);
    int64_t day = next_day(cron, days);
    if (day == NO_MATCH) return NO_MATCH;
    int minute = next_minute(cron, day == days ? (int)(minutes - days * DAY_MINUTES) : 0);
    if (minute < 0) {
        day = next_day(cron, days + 1);
        if (day == NO_MATCH) return NO_MATCH;
        minute = next_minute(cron, 0);
    }
    ASSERT(minute >= 0);
    return (day * DAY_MINUTES + minute) * MINUTE_MS;
}

// ---- in a zone ----

int64_t cron_next(const Cron *cron, const TimeZone *zone, int64_t after_ms) {
    bool has_hours = cron->hours != ALL_HOURS; // [cron-1], otherwise [cron-2]
    int64_t at_ms = after_ms + 1;
    ZoneSpan span = timezone_span(zone, at_ms);
    // Local times before this one were shown already, before the clocks were put back.
    int64_t shown_ms = INT64_MIN;
    if (has_hours && span.before_ms > span.offset_ms) shown_ms = span.start_ms + span.before_ms;
    while (at_ms <= LAST_MS) {
        int64_t from_ms = at_ms + span.offset_ms;
        if (from_ms < shown_ms) from_ms = shown_ms;
        int64_t local_ms = civil_next(cron, from_ms);
        ASSERT(local_ms != NO_MATCH); // [cron-4]
        int64_t found_ms = local_ms - span.offset_ms;
        if (found_ms < span.end_ms) return found_ms <= LAST_MS ? found_ms : 0;
        int64_t end_ms = span.end_ms;
        bool is_jumped_over = local_ms < end_ms + span.after_ms;
        if (has_hours && is_jumped_over) return end_ms <= LAST_MS ? end_ms : 0;
        if (has_hours && span.after_ms < span.offset_ms) shown_ms = end_ms + span.offset_ms;
        at_ms = end_ms;
        span = timezone_span(zone, at_ms);
    }
    return 0;
}

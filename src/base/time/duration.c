// Durations and instants: text to milliseconds and back.
//
// All arithmetic is in integers, 128 bits wide where a product could be large, so "0.1s" is 100 ms
// exactly. Parts of a millisecond in a duration round up: a timer must not fire early.
//   [duration-1] A duration is 0 to LIMIT_DURATION_MS; everything else is BAD_DURATION.
//   [duration-2] Units come from large to small, each at most once, so a text has one meaning.
//        Years and months of ISO 8601 are refused: they have no fixed length.
//   [duration-3] instant_format and instant_parse are inverse for the years 0 to 9999.
#include "base/time/duration.h"
#include "base/array.h"
#include "base/assert.h"
#include "base/limits.h"
#include "base/text/number.h"
#include <stdio.h>

__extension__ typedef unsigned __int128 Wide;

enum {
    SECOND_MS = 1000,
    MINUTE_MS = 60 * SECOND_MS,
    HOUR_MS = 60 * MINUTE_MS,
    DAY_MS = 24 * HOUR_MS,
    WEEK_MS = 7 * DAY_MS,
    AMOUNT_DIGITS_MAX = 18,
    QUOTED_MAX = 60, // bytes of the client's text that a message repeats
};

typedef struct Cursor {
    const char *at;
    const char *end;
} Cursor;

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool cursor_take(Cursor *cursor, char c) {
    if (cursor->at >= cursor->end || *cursor->at != c) return false;
    cursor->at++;
    return true;
}

// ---- durations

typedef struct Amount { // units / 10^decimals
    uint64_t units;
    int decimals;
    bool is_rounded; // digits beyond the precision were cut off, and were not zero
} Amount;

// "15", "1.5", not ".5" and not "5.".
static bool take_amount(Cursor *cursor, Amount *ret_amount) {
    Amount amount = {0};
    int digits = 0;
    const char *start = cursor->at;
    while (cursor->at < cursor->end && is_digit(*cursor->at)) {
        amount.units = amount.units * 10 + (uint64_t)(*cursor->at++ - '0');
        if (amount.units > 0 && ++digits > AMOUNT_DIGITS_MAX) return false;
    }
    if (cursor->at == start) return false;
    if (cursor_take(cursor, '.')) {
        start = cursor->at;
        for (; cursor->at < cursor->end && is_digit(*cursor->at); cursor->at++) {
            if (digits < AMOUNT_DIGITS_MAX) {
                amount.units = amount.units * 10 + (uint64_t)(*cursor->at - '0');
                amount.decimals++;
                digits++;
            } else {
                amount.is_rounded |= *cursor->at != '0';
            }
        }
        if (cursor->at == start) return false;
    }
    *ret_amount = amount;
    return true;
}

// Adds amount x unit_ms to *total_ms; false when the sum passes the limit.
static bool add_amount(int64_t *total_ms, Amount amount, int64_t unit_ms) {
    Wide scale = 1;
    for (int i = 0; i < amount.decimals; i++) scale *= 10;
    Wide scaled = (Wide)amount.units * (Wide)unit_ms;
    Wide ms = scaled / scale;
    if (scaled % scale != 0 || amount.is_rounded) ms++;
    if (ms > (Wide)(LIMIT_DURATION_MS - *total_ms)) return false; // [duration-1]
    *total_ms += (int64_t)ms;
    return true;
}

// "ms", "s", "m", "h", "d", "w"; 0 when there is none.
static int64_t take_unit(Cursor *cursor) {
    if (cursor->end - cursor->at >= 2 && memcmp(cursor->at, "ms", 2) == 0) {
        cursor->at += 2;
        return 1;
    }
    if (cursor_take(cursor, 's')) return SECOND_MS;
    if (cursor_take(cursor, 'm')) return MINUTE_MS;
    if (cursor_take(cursor, 'h')) return HOUR_MS;
    if (cursor_take(cursor, 'd')) return DAY_MS;
    if (cursor_take(cursor, 'w')) return WEEK_MS;
    return 0;
}

static bool parse_units(Cursor *cursor, int64_t *ret_ms) {
    int64_t total_ms = 0, last_unit_ms = INT64_MAX;
    do {
        Amount amount;
        if (!take_amount(cursor, &amount)) return false;
        bool is_bare = cursor->at == cursor->end && last_unit_ms == INT64_MAX;
        int64_t unit_ms = is_bare ? SECOND_MS : take_unit(cursor);
        if (unit_ms == 0 || unit_ms >= last_unit_ms) return false; // [duration-2]
        if (!add_amount(&total_ms, amount, unit_ms)) return false;
        last_unit_ms = unit_ms;
    } while (cursor->at < cursor->end);
    *ret_ms = total_ms;
    return true;
}

// "W" and "D" before the "T", "H", "M", "S" after it; 0 when there is none.
static int64_t take_iso_unit(Cursor *cursor, bool is_time) {
    if (!is_time && cursor_take(cursor, 'W')) return WEEK_MS;
    if (!is_time && cursor_take(cursor, 'D')) return DAY_MS;
    if (is_time && cursor_take(cursor, 'H')) return HOUR_MS;
    if (is_time && cursor_take(cursor, 'M')) return MINUTE_MS;
    if (is_time && cursor_take(cursor, 'S')) return SECOND_MS;
    return 0;
}

// After the "P".
static bool parse_iso(Cursor *cursor, int64_t *ret_ms) {
    int64_t total_ms = 0, last_unit_ms = INT64_MAX;
    bool is_time = false;
    do {
        if (!is_time) is_time = cursor_take(cursor, 'T');
        Amount amount;
        if (!take_amount(cursor, &amount)) return false;
        int64_t unit_ms = take_iso_unit(cursor, is_time);
        if (unit_ms == 0 || unit_ms >= last_unit_ms) return false; // [duration-2]
        if (!add_amount(&total_ms, amount, unit_ms)) return false;
        last_unit_ms = unit_ms;
    } while (cursor->at < cursor->end);
    *ret_ms = total_ms;
    return true;
}

static Str quoted(Str text) {
    if (text.len <= QUOTED_MAX) return text;
    size_t len = QUOTED_MAX;
    while (len > 0 && ((unsigned char)text.data[len] & 0xC0) == 0x80) len--;
    return (Str){text.data, len};
}

Status duration_parse(Str text, int64_t *ret_ms, Diag *diag) {
    Cursor cursor = {text.data, text.data + text.len};
    bool is_good = false;
    if (text.len > 0) {
        is_good =
            cursor_take(&cursor, 'P') ? parse_iso(&cursor, ret_ms) : parse_units(&cursor, ret_ms);
    }
    if (is_good) return OK;
    return diag_set(diag, ERR_INVALID, "BAD_DURATION",
                    "\"%.*s\" is not a duration of at most 100 years; write 500ms, 2s, 15m, 24h, "
                    "30d, 1h30m, ISO 8601 as in PT15M or P1DT2H, or a number of seconds",
                    STR_ARG(quoted(text)));
}

size_t duration_format(int64_t duration_ms, char ret_text[INSTANT_TEXT_MAX]) {
    static const struct {
        uint64_t ms;
        char unit;
    } parts[] = {{DAY_MS, 'd'}, {HOUR_MS, 'h'}, {MINUTE_MS, 'm'}};

    bool is_negative = duration_ms < 0;
    uint64_t left = is_negative ? 0 - (uint64_t)duration_ms : (uint64_t)duration_ms;
    char *out = ret_text;
    if (is_negative) *out++ = '-';
    char *first = out;
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        uint64_t count = left / parts[i].ms;
        if (count == 0) continue;
        out += number_format_i64((int64_t)count, out);
        *out++ = parts[i].unit;
        left %= parts[i].ms;
    }
    if (left > 0 && left < SECOND_MS) {
        out += number_format_i64((int64_t)left, out);
        *out++ = 'm';
        *out++ = 's';
    } else if (left > 0 || out == first) {
        out += number_format((double)left / SECOND_MS, out);
        *out++ = 's';
    }
    *out = '\0';
    return (size_t)(out - ret_text);
}

// ---- instants

// Days are counted in eras of 400 years that begin on March 1st, so that leap days come last.
enum { ERA_DAYS = 146097, EPOCH_SHIFT_DAYS = 719468 };

static int64_t floor_divide(int64_t value, int64_t by) {
    int64_t quotient = value / by;
    return value % by < 0 ? quotient - 1 : quotient;
}

int64_t civil_to_days(int64_t year, int month, int day) {
    if (month <= 2) year--;
    int64_t era = floor_divide(year, 400);
    int64_t year_of_era = year - era * 400;
    int64_t month_from_march = (month + 9) % 12;
    int64_t day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * ERA_DAYS + day_of_era - EPOCH_SHIFT_DAYS;
}

CivilDate civil_from_days(int64_t days) {
    days += EPOCH_SHIFT_DAYS;
    int64_t era = floor_divide(days, ERA_DAYS);
    int64_t day_of_era = days - era * ERA_DAYS;
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month_from_march = (5 * day_of_year + 2) / 153;
    int month = (int)(month_from_march < 10 ? month_from_march + 3 : month_from_march - 9);
    return (CivilDate){
        .year = year_of_era + era * 400 + (month <= 2),
        .month = month,
        .day = (int)(day_of_year - (153 * month_from_march + 2) / 5 + 1),
    };
}

static int month_days(int64_t year, int month) {
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && is_leap);
}

// Exactly `count` digits, between low and high.
static bool take_number(Cursor *cursor, int count, int low, int high, int *ret_value) {
    int value = 0;
    for (int i = 0; i < count; i++) {
        if (cursor->at >= cursor->end || !is_digit(*cursor->at)) return false;
        value = value * 10 + (*cursor->at++ - '0');
    }
    *ret_value = value;
    return value >= low && value <= high;
}

static bool take_date(Cursor *cursor, int64_t *ret_days) {
    int year, month, day;
    if (!take_number(cursor, 4, 0, 9999, &year) || !cursor_take(cursor, '-')) return false;
    if (!take_number(cursor, 2, 1, 12, &month) || !cursor_take(cursor, '-')) return false;
    if (!take_number(cursor, 2, 1, month_days(year, month), &day)) return false;
    *ret_days = civil_to_days(year, month, day);
    return true;
}

// "19:33:44.952"; digits beyond the millisecond are dropped, a leap second is the next second.
static bool take_time(Cursor *cursor, int64_t *ret_ms) {
    int hour, minute, second, fraction_ms = 0;
    if (!take_number(cursor, 2, 0, 23, &hour) || !cursor_take(cursor, ':')) return false;
    if (!take_number(cursor, 2, 0, 59, &minute) || !cursor_take(cursor, ':')) return false;
    if (!take_number(cursor, 2, 0, 60, &second)) return false;
    if (cursor_take(cursor, '.')) {
        const char *start = cursor->at;
        int scale = 100;
        for (; cursor->at < cursor->end && is_digit(*cursor->at); cursor->at++) {
            fraction_ms += (*cursor->at - '0') * scale;
            scale /= 10;
        }
        if (cursor->at == start) return false;
    }
    *ret_ms = (int64_t)hour * HOUR_MS + minute * MINUTE_MS + second * SECOND_MS + fraction_ms;
    return true;
}

static bool take_offset(Cursor *cursor, int64_t *ret_ms) {
    *ret_ms = 0;
    if (cursor_take(cursor, 'Z') || cursor_take(cursor, 'z')) return true;
    bool is_west = cursor_take(cursor, '-');
    if (!is_west && !cursor_take(cursor, '+')) return false;
    int hour, minute;
    if (!take_number(cursor, 2, 0, 23, &hour) || !cursor_take(cursor, ':')) return false;
    if (!take_number(cursor, 2, 0, 59, &minute)) return false;
    int64_t offset_ms = (int64_t)hour * HOUR_MS + minute * MINUTE_MS;
    *ret_ms = is_west ? -offset_ms : offset_ms;
    return true;
}

Status instant_parse(Str text, int64_t *ret_ms, Diag *diag) {
    Cursor cursor = {text.data, text.data + text.len};
    int64_t days, time_ms, offset_ms;
    bool is_good =
        text.len > 0 && take_date(&cursor, &days) &&
        (cursor_take(&cursor, 'T') || cursor_take(&cursor, 't') || cursor_take(&cursor, ' ')) &&
        take_time(&cursor, &time_ms) && take_offset(&cursor, &offset_ms) && cursor.at == cursor.end;
    if (!is_good) {
        return diag_set(diag, ERR_INVALID, "BAD_TIME",
                        "\"%.*s\" is not a time; write RFC 3339 as in 2026-11-15T19:33:44.952Z or "
                        "2026-11-15T20:33:44+01:00",
                        STR_ARG(quoted(text)));
    }
    *ret_ms = days * DAY_MS + time_ms - offset_ms;
    return OK;
}

size_t instant_format(int64_t at_ms, char ret_text[INSTANT_TEXT_MAX]) {
    int64_t days = floor_divide(at_ms, DAY_MS);
    int time_ms = (int)(at_ms % DAY_MS);
    if (time_ms < 0) time_ms += DAY_MS;
    CivilDate date = civil_from_days(days);
    bool is_plain = date.year >= 0 && date.year <= 9999;
    int len = is_plain ? snprintf(ret_text, INSTANT_TEXT_MAX, "%04d", (int)date.year)
                       : snprintf(ret_text, INSTANT_TEXT_MAX, "%+07lld", (long long)date.year);
    ASSERT(len > 0 && len <= 10);
    len += snprintf(ret_text + len, INSTANT_TEXT_MAX - (size_t)len,
                    "-%02d-%02dT%02d:%02d:%02d.%03dZ", date.month, date.day, time_ms / HOUR_MS,
                    time_ms / MINUTE_MS % 60, time_ms / SECOND_MS % 60, time_ms % 1000);
    ASSERT(len < INSTANT_TEXT_MAX);
    return (size_t)len;
}

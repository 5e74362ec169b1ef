// Dates as text.
//
// The styles are those of the language and, for the locale forms, what engines print for en-US in
// UTC. All text is ASCII; years outside 0 .. 9999 follow the rules of each style.
//   [date-text-1] Only valid times come here: "Invalid Date" is said by the caller.
#include "base/assert.h"
#include "flow/builtin/text/date.h"
#include <stdio.h>

static const char weekday_names[] = "SunMonTueWedThuFriSat";
static const char month_names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

// "-0005", "0033", "12345".
static int put_year(char *text, size_t size, int32_t year) {
    return snprintf(text, size, "%s%04d", year < 0 ? "-" : "", year < 0 ? -year : year);
}

static int put_date(char *text, size_t size, const DateFields *f) {
    char year[16];
    put_year(year, sizeof year, f->year);
    return snprintf(text, size, "%.3s %.3s %02d %s", weekday_names + 3 * f->weekday,
                    month_names + 3 * f->month, f->day, year);
}

static int put_time(char *text, size_t size, const DateFields *f) {
    return snprintf(text, size, "%02d:%02d:%02d GMT+0000 (Coordinated Universal Time)", f->hour,
                    f->minute, f->second);
}

static int put_utc(char *text, size_t size, const DateFields *f) {
    char year[16];
    put_year(year, sizeof year, f->year);
    return snprintf(text, size, "%.3s, %02d %.3s %s %02d:%02d:%02d GMT",
                    weekday_names + 3 * f->weekday, f->day, month_names + 3 * f->month, year,
                    f->hour, f->minute, f->second);
}

static int put_iso(char *text, size_t size, const DateFields *f) {
    bool is_expanded = f->year < 0 || f->year > 9999;
    char year[16];
    if (is_expanded) {
        snprintf(year, sizeof year, "%c%06d", f->year < 0 ? '-' : '+',
                 f->year < 0 ? -f->year : f->year);
    } else {
        snprintf(year, sizeof year, "%04d", f->year);
    }
    return snprintf(text, size, "%s-%02d-%02dT%02d:%02d:%02d.%03dZ", year, f->month + 1, f->day,
                    f->hour, f->minute, f->second, f->ms);
}

// Years before 1 count backwards from 1 BC, and the era is not shown.
static int put_locale_date(char *text, size_t size, const DateFields *f) {
    return snprintf(text, size, "%d/%d/%d", f->month + 1, f->day,
                    f->year > 0 ? f->year : 1 - f->year);
}

static int put_locale_time(char *text, size_t size, const DateFields *f) {
    int hour = f->hour % 12 == 0 ? 12 : f->hour % 12;
    return snprintf(text, size, "%d:%02d:%02d %s", hour, f->minute, f->second,
                    f->hour < 12 ? "AM" : "PM");
}

static int put_style(DateStyle style, const DateFields *f, char *text, size_t size) {
    int length;
    switch (style) {
    case DATE_STYLE_FULL:
        length = put_date(text, size, f);
        text[length++] = ' ';
        return length + put_time(text + length, size - (size_t)length, f);
    case DATE_STYLE_DATE: return put_date(text, size, f);
    case DATE_STYLE_TIME: return put_time(text, size, f);
    case DATE_STYLE_UTC: return put_utc(text, size, f);
    case DATE_STYLE_ISO: return put_iso(text, size, f);
    case DATE_STYLE_LOCALE:
        length = put_locale_date(text, size, f);
        text[length++] = ',';
        text[length++] = ' ';
        return length + put_locale_time(text + length, size - (size_t)length, f);
    case DATE_STYLE_LOCALE_DATE: return put_locale_date(text, size, f);
    case DATE_STYLE_LOCALE_TIME: return put_locale_time(text, size, f);
    }
    UNREACHABLE();
}

size_t date_format(double time, DateStyle style, char ret_text[DATE_TEXT_MAX]) {
    DateFields fields;
    date_split(time, &fields);
    int length = put_style(style, &fields, ret_text, DATE_TEXT_MAX);
    ASSERT(length > 0 && length < DATE_TEXT_MAX);
    return (size_t)length;
}

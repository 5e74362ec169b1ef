// Dates: milliseconds since 1970 in UTC, as doubles, and the calendar around them.
//
//   [date-1] A time value is NaN (invalid) or a whole number within ±8.64e15.
//   [date-2] The local time zone of a workflow is UTC: a run means the same wherever it runs.
#pragma once
#include "base/text/str.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DATE_MS_PER_DAY 86400000.0
#define DATE_TIME_MAX   8.64e15

typedef struct DateFields { // of a valid time
    int32_t year;
    int32_t month; // 0 .. 11
    int32_t day;   // 1 .. 31
    int32_t hour;
    int32_t minute;
    int32_t second;
    int32_t ms;
    int32_t weekday; // 0 Sunday
} DateFields;

// Calendar (text/date_parse.c).
void date_split(double time, DateFields *ret_fields);
double date_make_day(double year, double month, double day); // days since 1970, or NaN
double date_make_time(double hour, double minute, double second, double ms);
double date_make(double day, double time);
double date_clip(double time);
// Two digits mean the twentieth century, as the constructor and Date.UTC have it.
double date_full_year(double year);
// What Date.parse answers. ISO forms first, then the older ones that browsers agree on.
double date_parse(const uint16_t *text, size_t length);

// Text (text/date_text.c): answers the length.
enum { DATE_TEXT_MAX = 96 };
typedef enum DateStyle {
    DATE_STYLE_FULL,        // Tue Nov 15 2026 12:00:00 GMT+0000 (Coordinated Universal Time)
    DATE_STYLE_DATE,        // Tue Nov 15 2026
    DATE_STYLE_TIME,        // 12:00:00 GMT+0000 (Coordinated Universal Time)
    DATE_STYLE_UTC,         // Tue, 15 Nov 2026 12:00:00 GMT
    DATE_STYLE_ISO,         // 2026-11-15T12:00:00.000Z
    DATE_STYLE_LOCALE,      // 11/15/2026, 12:00:00 PM
    DATE_STYLE_LOCALE_DATE, // 11/15/2026
    DATE_STYLE_LOCALE_TIME, // 12:00:00 PM
} DateStyle;
size_t date_format(double time, DateStyle style, char ret_text[DATE_TEXT_MAX]);

// Durations and instants as people write them.
//
// Durations: "500ms", "2s", "15m", "24h", "30d", "1h30m", ISO 8601 "PT15M", "P1DT2H"; a bare
// number is seconds and may have a fraction. Never negative. Instants: RFC 3339 in UTC.
#pragma once
#include "base/diag.h"
#include "base/text/str.h"
#include <stdint.h>

enum { INSTANT_TEXT_MAX = 32 };

MUST_CHECK Status duration_parse(Str text, int64_t *ret_ms, Diag *diag);
MUST_CHECK Status instant_parse(Str text, int64_t *ret_ms, Diag *diag);
// "2026-11-15T19:33:44.952Z"; answers the length.
size_t instant_format(int64_t at_ms, char ret_text[INSTANT_TEXT_MAX]);
// "1h30m", "2.5s": the shortest exact form.
size_t duration_format(int64_t duration_ms, char ret_text[INSTANT_TEXT_MAX]);

// The proleptic Gregorian calendar, day 0 = 1970-01-01.
typedef struct CivilDate {
    int64_t year;
    int month; // 1-12
    int day;   // 1-31
} CivilDate;
int64_t civil_to_days(int64_t year, int month, int day);
CivilDate civil_from_days(int64_t days);

// Cron expressions: minute, hour, day of month, month, day of week.
//
//     30 9 * * MON-FRI      0 0 1,15 * *      */10 8-18 * JAN-MAR,12 *      @daily
//
// Fields are lists of numbers, names, ranges and steps; `*` is every value. 0 and 7 are Sunday.
// When both days are restricted (neither begins with `*`) a day matches if either does, as in
// Vixie's cron; otherwise both must.
//
// When the clocks change:
//   [cron-1] An expression that names hours fires once for each local time it names. One that the
//        clocks jump over fires at the end of the jump; one that they show twice fires the first
//        time.
//   [cron-2] An expression that matches all 24 hours follows the clock: what does not exist is left
//        out, and what exists twice fires twice, so it goes on in even steps.
//   [cron-3] An expression that can never fire (30 February) is refused when it is read.
#pragma once
#include "base/time/timezone.h"

enum { CRON_TEXT_MAX = 256 };

typedef struct Cron { // bit i of a set: the value i matches
    uint64_t minutes;
    uint32_t hours;
    uint32_t days;        // 1-31
    uint32_t months;      // 1-12
    uint32_t weekdays;    // 0-6, 0 is Sunday
    bool is_day_open;     // the day of month begins with '*'
    bool is_weekday_open; // the day of week does
} Cron;

// BAD_CRON: the message names the field, its text, and what is allowed there.
MUST_CHECK Status cron_parse(Str text, Cron *ret_cron, Diag *diag);
// The first instant past `after_ms` at which it fires; 0 when that lies beyond the year 9999.
int64_t cron_next(const Cron *cron, const TimeZone *zone, int64_t after_ms);

// Time zones: what the clocks of a place show at an instant, and at which instants they show it.
//
// A zone is read once from the system's zoneinfo files (package tzdata) and then only looked at:
// no process-wide setting, no environment variable, any number of threads. "UTC" and "Etc/UTC"
// need no file.
//
//   [timezone-1] Time is a sequence of spans of constant offset; a span begins at its `start_ms`
//        and ends just before its `end_ms`.
//   [timezone-2] A local time is milliseconds since 1970-01-01T00:00 as the clocks there show it.
//        It exists never (the clocks jumped over it), once, or twice (they were put back).
//   [timezone-3] A file that is damaged, or that is no zone at all, is refused; nothing in it is
//        trusted.
#pragma once
#include "base/diag.h"
#include "base/text/str.h"
#include <stdint.h>

enum { TIMEZONE_NAME_MAX = 64 };

typedef struct TimeZone TimeZone;

// All answer BAD_TIMEZONE. The zone belongs to the caller until timezone_free.
MUST_CHECK Status timezone_load(Str name, TimeZone **ret_zone, Diag *diag);
// From the content of a zoneinfo file (TZif version 2 or later, RFC 8536).
MUST_CHECK Status timezone_parse(Str name, Str content, TimeZone **ret_zone, Diag *diag);
void timezone_free(TimeZone *zone); // NULL is fine
Str timezone_name(const TimeZone *zone);

typedef struct ZoneSpan {
    int64_t start_ms;  // INT64_MIN: since ever
    int64_t end_ms;    // INT64_MAX: for ever
    int64_t offset_ms; // local time = instant + offset
    int64_t before_ms; // the offset of the span before; the same when there is none
    int64_t after_ms;  // the offset of the span after; likewise
} ZoneSpan;

ZoneSpan timezone_span(const TimeZone *zone, int64_t at_ms);
static inline int64_t timezone_offset_ms(const TimeZone *zone, int64_t at_ms) {
    return timezone_span(zone, at_ms).offset_ms;
}

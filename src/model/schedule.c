// Schedules: names of their kinds, and their ticks.
//
//   [model-schedule-1], [model-schedule-2] of schedule.h.
//   [model-schedule-3] Everything here is a function of its arguments: no clock, no store.
//
// Not here: what happens at a tick (store/kernel/schedules), cron itself (base/time/cron.c).
#include "model/schedule.h"
#include "base/assert.h"
#include "base/containers/hash.h"
#include "base/time/duration.h"

static const char *const kind_names[SCHEDULE_KIND_COUNT] = {
    [SCHEDULE_CRON] = "cron",
    [SCHEDULE_INTERVAL] = "interval",
    [SCHEDULE_ONCE] = "once",
};

const char *const overlap_names[OVERLAP_COUNT] = {
    [OVERLAP_SKIP] = "skip",
    [OVERLAP_QUEUE] = "queue",
    [OVERLAP_ALLOW] = "allow",
    [OVERLAP_CANCEL_OLD] = "cancel-old",
};

const char *schedule_kind_name(int64_t kind) {
    if (kind < SCHEDULE_CRON || kind >= SCHEDULE_KIND_COUNT) return "unknown";
    return kind_names[kind];
}

const char *overlap_name(int64_t policy) {
    if (policy < OVERLAP_SKIP || policy >= OVERLAP_COUNT) return "unknown";
    return overlap_names[policy];
}

// ---- ticks ----

Status ticker_init(Ticker *ticker, int64_t kind, Str spec, const TimeZone *zone, Diag *diag) {
    *ticker = (Ticker){.kind = kind, .zone = zone};
    switch (kind) {
    case SCHEDULE_CRON: ASSERT(zone != NULL); return cron_parse(spec, &ticker->cron, diag);
    case SCHEDULE_INTERVAL:
        TRY(duration_parse(spec, &ticker->every_ms, diag));
        if (ticker->every_ms >= SCHEDULE_INTERVAL_MIN_MS) return OK;
        return diag_set(diag, ERR_INVALID, "BAD_SCHEDULE",
                        "an interval of \"%.*s\" is too short; the shortest is one second",
                        STR_ARG(spec));
    case SCHEDULE_ONCE:
        TRY(instant_parse(spec, &ticker->at_ms, diag));
        if (ticker->at_ms > 0) return OK;
        return diag_set(diag, ERR_INVALID, "BAD_SCHEDULE", "\"%.*s\" lies before 1970",
                        STR_ARG(spec));
    default:
        return diag_set(diag, ERR_INVALID, "BAD_SCHEDULE",
                        "a schedule is a cron expression, an interval, or a single time");
    }
}

int64_t ticker_next(const Ticker *ticker, int64_t after_ms) {
    if (after_ms < 0) after_ms = 0;
    switch ((ScheduleKind)ticker->kind) {
    case SCHEDULE_CRON: return cron_next(&ticker->cron, ticker->zone, after_ms);
    case SCHEDULE_INTERVAL: // [model-schedule-1]
        if (after_ms > INT64_MAX - ticker->every_ms) return 0;
        return (after_ms / ticker->every_ms + 1) * ticker->every_ms;
    case SCHEDULE_ONCE: return ticker->at_ms > after_ms ? ticker->at_ms : 0;
    default: UNREACHABLE();
    }
}

size_t ticker_preview(const Ticker *ticker, int64_t after_ms, int64_t *ret_ticks, size_t max) {
    size_t count = 0;
    while (count < max) {
        after_ms = ticker_next(ticker, after_ms);
        if (after_ms == 0) break;
        ret_ticks[count++] = after_ms;
    }
    return count;
}

int64_t schedule_jitter_ms(Str name, int64_t tick_ms, int64_t jitter_ms) {
    if (jitter_ms <= 0) return 0;
    uint64_t hash = hash_fixed_u64(hash_fixed_bytes(name.data, name.len) ^ (uint64_t)tick_ms);
    return (int64_t)(hash % ((uint64_t)jitter_ms + 1));
}

Str schedule_run_id(Arena *arena, Str name, int64_t tick_ms) {
    char text[INSTANT_TEXT_MAX];
    size_t len = instant_format(tick_ms, text);
    ASSERT(len > 5);
    if (tick_ms % 1000 == 0) len -= 5; // ".000Z"
    else len -= 1;
    return arena_printf(arena, "sched:%.*s:%.*sZ", STR_ARG(name), (int)len, text);
}

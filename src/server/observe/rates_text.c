// A row of rates as text: {"up":1763480000000,"points":[[3,1,0,…],…]}, the number of the step
// first, then the values in the order of RateSeries; null = unknown.
//
// Only steps in which something happened are there, so a quiet hour takes a few bytes. A row that
// cannot be read is one of another version; figures are not worth an error.
//
// Not here: when rows are written (rates.c).
#include "json/read.h"
#include "server/observe/rates.h"

static const char *const names[RATE_SERIES_COUNT] = {
    [RATE_STARTED] = "started",
    [RATE_COMPLETED] = "completed",
    [RATE_FAILED] = "failed",
    [RATE_CANCELLED] = "cancelled",
    [RATE_TURNS] = "turns",
    [RATE_TASKS_COMPLETED] = "tasks_completed",
    [RATE_TASKS_FAILED] = "tasks_failed",
    [RATE_QUEUED] = "queued",
    [RATE_SUSPENDED] = "suspended",
    [RATE_RESIDENT] = "resident",
    [RATE_RESUME_P50] = "resume_p50_ms",
    [RATE_RESUME_P99] = "resume_p99_ms",
};

const char *rate_series_name(int series) { return names[series]; }

static void put_point(JsonWriter *json, int64_t step, const RatePoint *point) {
    json_write_array_begin(json);
    json_write_i64(json, step);
    for (int i = 0; i < RATE_SERIES_COUNT; i++) {
        if (point->values[i] == RATE_UNKNOWN) json_write_null(json);
        else json_write_i64(json, point->values[i]);
    }
    json_write_array_end(json);
}

Str rates_write_row(Arena *arena, const RatePoints *points) {
    Buf text;
    JsonWriter json;
    buf_init(&text, 1 << 20);
    json_writer_init(&json, &text, STR_NULL);
    json_write_object_begin(&json);
    json_put_i64(&json, "up", points->up_ms);
    json_write_key(&json, STR("points"));
    json_write_array_begin(&json);
    for (int i = 0; i < RATE_ROW_STEPS; i++)
        if (points->steps[i].is_there) put_point(&json, i, &points->steps[i]);
    json_write_array_end(&json);
    json_write_object_end(&json);
    Str answer = arena_str(arena, buf_str(&text));
    buf_done(&text);
    return answer;
}

// The number of an item; RATE_UNKNOWN when it is null. False when it is neither.
static bool read_item(const JsonValue *item, int64_t *ret_number) {
    *ret_number = RATE_UNKNOWN;
    if (item->kind == JSON_KIND_NULL) return true;
    return item->kind == JSON_KIND_NUMBER && json_number_to_i64(item->raw, ret_number);
}

static bool read_point(const JsonValue *list, RatePoints *points) {
    RatePoint point = {.is_there = true};
    int64_t step;
    if (list->kind != JSON_KIND_ARRAY || list->count != RATE_SERIES_COUNT + 1) return false;
    const JsonValue *item = list->first;
    if (!read_item(item, &step) || step < 0 || step >= RATE_ROW_STEPS) return false;
    for (int i = 0; i < RATE_SERIES_COUNT; i++) {
        item = item->next;
        if (!read_item(item, &point.values[i])) return false;
        if (i < RATE_COUNTS && point.values[i] < 0) return false;
    }
    points->steps[step] = point;
    return true;
}

bool rates_read_row(Arena *arena, Str text, RatePoints *ret_points) {
    JsonValue *row;
    *ret_points = (RatePoints){0};
    if (json_parse(arena, text, &row, NULL) != OK) return false;
    const JsonValue *points = json_member(row, STR("points"));
    if (points == NULL || points->kind != JSON_KIND_ARRAY) return false;
    if (json_get_i64(row, "up", &ret_points->up_ms, NULL) != OK) return false;
    JSON_EACH (point, points)
        if (!read_point(point, ret_points)) return false;
    return true;
}

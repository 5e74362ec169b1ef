// Rows as JSON, the way every route shows them.
#pragma once
#include "api/engine.h"
#include "json/write.h"
#include "store/store.h"

// Times that are 0 are written as null; absent texts likewise.
void render_instant(JsonWriter *json, const char *key, int64_t at_ms);
void render_duration(JsonWriter *json, const char *key, int64_t duration_ms);
// What is hidden of the data that is shown (config.secret), by those who know whose it is.
typedef struct RenderMask {
    EngineMasks masks;
    Arena *arena; // of what is written instead
} RenderMask;

// The members of a run as lists show them, without the braces, for those who add more;
// what is not in its row stands in `more`.
typedef struct RunMore {
    bool is_released;                // it waits and nothing of it is in memory
    Str pause_reason;                // error object; null = it is not paused
    const struct Unserved *unserved; // tasks it waits for that nobody asks for
    size_t unserved_count;
} RunMore;
void render_run_members(JsonWriter *json, Arena *arena, const RunRow *run, const RunMore *more);
void render_log_entry(JsonWriter *json, const LogRow *entry, const RenderMask *mask);
void render_task(JsonWriter *json, const TaskRow *task, const RenderMask *mask);
void render_task_members(JsonWriter *json, const TaskRow *task, const RenderMask *mask);
void render_topic_members(JsonWriter *json, const TopicRow *topic, bool is_full);
// Pending, or a signal.
void render_event(JsonWriter *json, const EventRow *event, const RenderMask *mask);
void render_dead_letter(JsonWriter *json, const DeadLetterRow *letter, const RenderMask *mask);
// The members of a definition.
void render_definition(JsonWriter *json, const DefinitionRow *definition);
void render_schedule(JsonWriter *json, const ScheduleRow *schedule, const RenderMask *mask);
// The data of an entry of a run's log; null = it has none.
Str render_log_data(const LogRow *entry, const RenderMask *mask);

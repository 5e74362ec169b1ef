// Rows as JSON, the way every route shows them.
#pragma once
#include "json/write.h"
#include "store/store.h"

// Times that are 0 are written as null; absent texts likewise.
void render_instant(JsonWriter *json, const char *key, int64_t at_ms);
void render_duration(JsonWriter *json, const char *key, int64_t duration_ms);
void render_tags(JsonWriter *json, Str tags); // joined by '\n'
// "waits": what a parked run waits for.
void render_waits(JsonWriter *json, Arena *arena, const RunRow *run);
// The members of a run as lists show them, without the braces, for those who add more;
// `is_released` says that it waits and nothing of it is in memory.
void render_run_members(JsonWriter *json, Arena *arena, const RunRow *run, bool is_released);
void render_log_entry(JsonWriter *json, const LogRow *entry);
void render_task(JsonWriter *json, const TaskRow *task);
void render_topic_members(JsonWriter *json, const TopicRow *topic);
void render_dead_letter(JsonWriter *json, const DeadLetterRow *letter);
void render_definition(JsonWriter *json, const DefinitionRow *definition, bool has_source);
void render_schedule(JsonWriter *json, const ScheduleRow *schedule);

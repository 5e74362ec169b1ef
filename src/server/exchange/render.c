// What rows look like on the wire.
//
// Payloads are copied byte for byte (P9); times are RFC 3339 in UTC. Members that have no value are
// there all the same and null, so that clients need not ask whether they exist.
//
// Not here: which rows (routes_*.c).
#include "server/exchange/render.h"
#include "base/time/duration.h"
#include "engine/inspect/inspect.h"
#include "model/trace.h"
#include "server/observe/workers.h"
#include <stdio.h>

void render_instant(JsonWriter *json, const char *key, int64_t at_ms) {
    if (at_ms == 0) json_put_null(json, key);
    else json_put_instant(json, key, at_ms);
}

void render_duration(JsonWriter *json, const char *key, int64_t duration_ms) {
    char text[INSTANT_TEXT_MAX];
    size_t len = duration_format(duration_ms, text);
    json_put_string(json, key, (Str){text, len});
}

static void render_tags(JsonWriter *json, Str tags) {
    json_write_key(json, STR("tags"));
    json_write_array_begin(json);
    size_t from = 0;
    tags = tags_without_trace(tags);
    for (size_t i = 0; i <= tags.len && !str_is_null(tags); i++) {
        if (i < tags.len && tags.data[i] != '\n') continue;
        json_write_string(json, (Str){tags.data + from, i - from});
        from = i + 1;
    }
    json_write_array_end(json);
}

static void put_unserved(JsonWriter *json, const RunMore *more, Str task_id) {
    for (size_t i = 0; i < more->unserved_count; i++) {
        if (!str_equal(more->unserved[i].task_id, task_id)) continue;
        json_write_key(json, STR("unserved"));
        render_unserved(json, &more->unserved[i]);
        return;
    }
}

static void render_waits(JsonWriter *json, Arena *arena, const RunRow *run, const RunMore *more) {
    WaitSet set;
    inspect_waits(run, arena, &set);
    json_write_key(json, STR("waits"));
    json_write_array_begin(json);
    for (size_t i = 0; i < set.count; i++) {
        json_write_object_begin(json);
        inspect_put_wait(json, &set.items[i]);
        if (set.items[i].kind == WAIT_TASK) put_unserved(json, more, set.items[i].name);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

void render_run_members(JsonWriter *json, Arena *arena, const RunRow *run, const RunMore *more) {
    json_put_string(json, "id", run->id);
    json_put_string(json, "workflow", run->workflow);
    json_put_cstr(json, "kind", run_kind_name(run->kind));
    json_put_cstr(json, "status", run_state_name(run->state));
    json_put_i64(json, "priority", run->priority);
    render_tags(json, run->tags);
    render_waits(json, arena, run, more);
    json_put_i64(json, "attempt", run->retries + 1);
    json_put_i64(json, "attempts", run_lost(run));
    json_put_i64(json, "incarnation", run->incarnation);
    json_put_bool(json, "cancel_requested", run_is_cancel_wanted(run));
    render_instant(json, "created_at", run->created_at_ms);
    render_instant(json, "started_at", run->started_at_ms);
    render_instant(json, "updated_at", run->updated_at_ms);
    render_instant(json, "finished_at", run->finished_at_ms);
    bool has_ended = run_state_is_terminal(run->state);
    render_instant(json, "next_wake_at", has_ended ? 0 : run->due_at_ms);
    render_instant(json, "deadline_at", run->deadline_at_ms);
    render_instant(json, "idle_since", run->idle_since_ms);
    json_put_bool(json, "released", more->is_released);
    json_put_bool(json, "waits_for_code", run_is_reserved(run));
    json_put_raw(json, "pause_reason", more->pause_reason);
}

// The type of what was written, and its parents, if it has any.
static void put_types(JsonWriter *json, Str types) {
    Str left = types, type = STR_NULL;
    (void)str_split(&left, '\n', &type);
    json_put_string(json, "name", type);
    if (str_is_null(left)) return;
    json_write_key(json, STR("types"));
    json_write_array_begin(json);
    while (str_split(&left, '\n', &type)) json_write_string(json, type);
    json_write_array_end(json);
}

static void put_data(JsonWriter *json, const char *key, Str name, Str data,
                     const RenderMask *mask) {
    json_put_raw(json, key, engine_hide(&mask->masks, name, data, mask->arena));
}

// What the data of an entry is called.
static Str data_name(const LogRow *entry) {
    Str left = log_entry_name(entry), name = STR_NULL;
    switch ((LogKind)entry->kind) {
    case LOG_STARTED:
    case LOG_CONTINUED: return STR("Inputs");
    case LOG_FINISHED: return entry->outcome == OUTCOME_OK ? STR("result") : STR("error");
    case LOG_STREAM: (void)str_split(&left, '\n', &name); return name;
    default: return left;
    }
}

Str render_log_data(const LogRow *entry, const RenderMask *mask) {
    return engine_hide(&mask->masks, data_name(entry), entry->data, mask->arena);
}

void render_log_entry(JsonWriter *json, const LogRow *entry, const RenderMask *mask) {
    json_write_object_begin(json);
    json_put_i64(json, "seq", entry->seq);
    render_instant(json, "at", entry->at_ms);
    json_put_cstr(json, "kind", log_kind_name(entry->kind));
    if (entry->kind == LOG_STREAM) put_types(json, entry->name);
    else json_put_string(json, "name", log_entry_name(entry));
    Str target = log_entry_target(entry);
    if (!str_is_null(target)) json_put_string(json, "target", target);
    json_put_cstr(json, "outcome", outcome_name(entry->outcome));
    const char *step_state = log_step_state(entry);
    if (step_state != NULL) json_put_cstr(json, "step_state", step_state);
    if (log_has_position(entry)) json_put_i64(json, "position", entry->position);
    if (entry->iteration > 0) json_put_i64(json, "iteration", entry->iteration);
    if (entry->attempt > 0) json_put_i64(json, "attempt", entry->attempt);
    if (!str_is_null(entry->data)) json_put_raw(json, "data", render_log_data(entry, mask));
    json_write_object_end(json);
}

void render_task_members(JsonWriter *json, const TaskRow *task, const RenderMask *mask) {
    json_put_string(json, "id", task->id);
    json_put_string(json, "name", task->name);
    json_put_string(json, "queue", task->queue);
    json_put_cstr(json, "status", task_state_name(task->state));
    json_put_i64(json, "priority", task->priority);
    json_put_i64(json, "attempt", task->attempt);
    json_put_i64(json, "max_attempts", task->max_attempts);
    json_put_string(json, "worker", task->worker);
    json_put_string(json, "concurrency_key", task->concurrency_key);
    json_put_bool(json, "cancel_requested", task->is_cancel_wanted != 0);
    render_instant(json, "created_at", task->created_at_ms);
    render_instant(json, "started_at", task->started_at_ms);
    render_instant(json, "finished_at", task->finished_at_ms);
    render_instant(json, "next_at", task->due_at_ms);
    put_data(json, "input", task->name, task->input, mask);
    put_data(json, "result", task->name, task->result, mask);
    put_data(json, "error", STR("error"), task->error, mask);
    put_data(json, "progress", task->name, task->progress, mask);
}

void render_task(JsonWriter *json, const TaskRow *task, const RenderMask *mask) {
    json_write_object_begin(json);
    render_task_members(json, task, mask);
    json_write_object_end(json);
}

void render_topic_members(JsonWriter *json, const TopicRow *topic, bool is_full) {
    static const char *const visible[] = {"all", "after-create", "after-wait"};
    json_put_string(json, "name", topic->name);
    json_put_cstr(json, "consume", topic->consume == CONSUME_ALL ? "all" : "one");
    json_put_cstr(json, "visible", visible[topic->visible]);
    if (topic->expire_ms > 0) render_duration(json, "expire", topic->expire_ms);
    else json_put_null(json, "expire");
    json_put_i64(json, "cap", topic->cap);
    json_put_i64(json, "pending", topic->pending_count);
    json_put_bool(json, "full", is_full);
}

// The number by which one is named on the wire: a text, since JavaScript would round it.
static void put_key(JsonWriter *json, int64_t key) {
    char text[24];
    int len = snprintf(text, sizeof text, "%lld", (long long)key);
    json_put_string(json, "id", (Str){text, (size_t)len});
}

void render_event(JsonWriter *json, const EventRow *event, const RenderMask *mask) {
    json_write_object_begin(json);
    put_key(json, event->key);
    json_put_string(json, "event_id", event->id);
    if (event_is_signal(event)) json_put_string(json, "name", event->name);
    else json_put_bool(json, "taken", event_is_taken(event));
    render_instant(json, "created_at", event->created_at_ms);
    render_instant(json, "expires_at", event->due_at_ms);
    put_data(json, "payload", event_is_signal(event) ? event->name : event->topic, event->payload,
             mask);
    json_write_object_end(json);
}

void render_dead_letter(JsonWriter *json, const DeadLetterRow *letter, const RenderMask *mask) {
    json_write_object_begin(json);
    put_key(json, letter->key);
    json_put_string(json, "event_id", letter->id);
    json_put_string(json, "run_id", letter->run_id);
    json_put_string(json, "topic", letter->topic);
    json_put_string(json, "name", letter->name);
    json_put_string(json, "reason", letter->reason);
    render_instant(json, "created_at", letter->created_at_ms);
    render_instant(json, "expires_at", letter->due_at_ms);
    put_data(json, "payload", str_is_null(letter->topic) ? letter->name : letter->topic,
             letter->payload, mask);
    json_write_object_end(json);
}

void render_definition(JsonWriter *json, const DefinitionRow *definition) {
    json_put_string(json, "name", definition->name);
    json_put_string(json, "version", definition->version);
    json_put_cstr(json, "kind", run_kind_name(definition->kind));
    json_put_bool(json, "current", definition->is_current != 0);
    render_instant(json, "created_at", definition->created_at_ms);
    json_put_string(json, "file", definition->file);
    json_put_raw(json, "config", definition->config);
}

static const char *spec_name(int64_t kind) {
    if (kind == SCHEDULE_CRON) return "cron";
    return kind == SCHEDULE_INTERVAL ? "every" : "at";
}

void render_schedule(JsonWriter *json, const ScheduleRow *schedule, const RenderMask *mask) {
    json_write_object_begin(json);
    json_put_string(json, "name", schedule->name);
    json_put_string(json, "workflow", schedule->workflow);
    put_data(json, "input", STR("Inputs"), schedule->input, mask);
    json_put_string(json, spec_name(schedule->kind), schedule->spec);
    json_put_string(json, "timezone", str_is_null(schedule->zone) ? STR("UTC") : schedule->zone);
    render_duration(json, "jitter", schedule->jitter_ms);
    json_put_cstr(json, "overlap", overlap_name(schedule->overlap));
    render_duration(json, "catch_up", schedule->catch_up_ms);
    render_tags(json, schedule->tags);
    json_put_bool(json, "paused", schedule->is_paused != 0);
    render_instant(json, "next_at", schedule->next_at_ms);
    render_instant(json, "last_at", schedule->last_at_ms);
    json_put_string(json, "last_run_id", schedule->last_run_id);
    json_put_i64(json, "started", schedule->tick_count);
    json_put_i64(json, "skipped", schedule->skipped_count);
    json_put_i64(json, "missed", schedule->missed_count);
    json_put_i64(json, "failed", schedule->failed_count);
    json_put_string(json, "last_error", schedule->last_error);
    json_write_object_end(json);
}

// Groups of what needs a person, as they are put together.
#pragma once
#include "server/observe/attention.h"
#include "server/server.h"

typedef struct AttentionGroup {
    const char *kind; // "failed_runs"
    int64_t count;
    bool is_more; // there may be more than were looked at
    int64_t since_ms, latest_ms;
    Str workflow, error_name, error_message, place, queue, name; // null = does not apply
    Str examples[ATTENTION_EXAMPLES];
    size_t example_count;
} AttentionGroup;

typedef struct AttentionGroups {
    Server *server;
    Arena *arena;
    int64_t now_ms;
    AttentionGroup *groups;
    size_t count;
    int64_t failed_seen, paused_seen, tasks_seen; // how many were looked at
    StoreStats stats;
} AttentionGroups;

// ---- attention_text.c ----
void attention_render(JsonWriter *json, const AttentionGroups *groups);

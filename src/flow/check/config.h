// Config: what `export const config = { … }` may say about a workflow.
//
//   [config-1] One table (config_keys) has every key: its name, type, range, and the member it
//        sets. The check of a file, reading, and the tests of the documentation all go by it.
//   [config-2] A file is held to the table when it is checked or deployed. What is in a store
//        already was accepted by the build of its day: reading takes from it what is right by the
//        table.
#pragma once
#include "json/mask.h"
#include "json/schema.h"
#include "model/spec.h"

typedef struct FlowRetry { // a failed run begins again from its input
    int64_t attempts;      // in all; 0 = not said: one
    int64_t delay_ms;      // before the second
    int64_t factor_pct;    // 200 = each pause is twice the one before
    int64_t max_delay_ms;
} FlowRetry;

typedef struct FlowConfig {
    int64_t timeout_ms; // of the whole run; 0 = none
    FlowRetry retry;
    int64_t idle_timeout_ms; // 0 = not said; < 0 = "off": it is not released for its idleness
    int64_t keep_snapshots;  // beginnings of turns kept for rewinding
    int64_t priority;
    int64_t keep_ms; // how long a run is kept once ended
    Str queue;       // null = not said
    Str tags;        // joined by '\n'; null = not said
    Str events;      // names of the signals that clients may post, joined likewise; null = any
    Str secret;      // paths that nobody is shown (json/mask.h), joined likewise; null = none
    const JsonValue *input, *output; // schemas; NULL = not said
    bool has_priority, has_keep;
} FlowConfig;

typedef enum ConfigType {
    CONFIG_DURATION,     // "2s", "PT15M", or a number of seconds
    CONFIG_DURATION_OFF, // likewise, or "off", which is -1
    CONFIG_INTEGER,
    CONFIG_FACTOR, // a number; kept in hundredths
    CONFIG_NAME,
    CONFIG_NAMES, // at least one
    CONFIG_SCHEMA,
    CONFIG_RETRY, // an object with members of its own
    CONFIG_PATHS  // of json/mask.h; at least one
} ConfigType;

enum { CONFIG_NO_FLAG = UINT16_MAX };

typedef struct ConfigKey {
    const char *name;
    ConfigType type;
    int64_t min, max; // milliseconds, counts, hundredths, bytes of a name
    uint16_t offset;  // in FlowConfig
    uint16_t flag;    // a bool in FlowConfig that says that it was given; or CONFIG_NO_FLAG
    SpecField spec;   // the rule that it goes by instead of min and max; or SPEC_NONE
} ConfigKey;

extern const ConfigKey config_keys[];
extern const size_t config_key_count;
extern const ConfigKey config_retry_keys[];
extern const size_t config_retry_key_count;

// Calls `report` for each fault; its texts live in the arena.
void flow_config_check(const JsonValue *config, Arena *arena,
                       void (*report)(void *context, const JsonFault *fault), void *context);
// What the text says; what it does not say stays as it was. Texts live in the arena. [config-2]
void flow_config_read(Arena *arena, Str config_json, FlowConfig *config);
// What nobody is shown, in the arena; NULL: nothing. [config-2]
const Mask *flow_config_mask(Arena *arena, Str config_json);

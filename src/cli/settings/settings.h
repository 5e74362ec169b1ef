// Settings: everything a server can be told, described once.
//
// A value comes from, in rising order: its default, the settings file, the environment, the flags.
// A setting has one name everywhere: `--log-level`, ABIDE_LOG_LEVEL, and in the file `log-level`; a
// table there is a prefix, so that [log] with `level` below it is the same setting.
//
//   [settings-1] What cannot be read as its kind is refused with where it stands: file, line and
//        column, variable or flag. A key that is no setting is refused with the nearest name.
//   [settings-2] Settings are loaded as a whole or not at all.
//
// The file: --config or ABIDE_CONFIG; otherwise ./abide.toml, then /etc/abide/abide.toml, if there.
#pragma once
#include "base/arena.h"
#include "base/diag.h"
#include "base/log.h"
#include "cli/options.h"
#include "server/serve.h"

typedef enum SettingKind {
    SETTING_TEXT,
    SETTING_FLAG,     // number is 0 or 1
    SETTING_COUNT,    // number, min to max
    SETTING_SIZE,     // number of bytes, min to max
    SETTING_DURATION, // number of milliseconds, min to max
    SETTING_CHOICE,   // number is the place among the words of `value`: "one|all"
    SETTING_LIST      // items
} SettingKind;

typedef enum SettingId {
    SET_STORE,
    SET_LISTEN,
    SET_THREADS,
    SET_TASK_THREADS,
    SET_TLS_CERT,
    SET_TLS_KEY,
    SET_REQUIRE_TOKENS,
    SET_INSECURE,
    SET_CORS_ORIGINS,
    SET_ALLOW_EXEC,
    SET_ALLOW_PRIVATE,
    SET_LOG_LEVEL,
    SET_LOG_FORMAT,
    SET_SLOW_REQUEST,
    SET_DRAIN_TIMEOUT,
    SET_RUN_RETENTION,
    SET_EVENT_RETENTION,
    SET_EVENT_CONSUME,
    SET_MAX_PENDING_EVENTS,
    SET_CANCEL_GRACE,
    SET_KEEP_SNAPSHOTS,
    SET_MAX_CRASHES,
    SET_MAX_RESIDENT_RUNS,
    SET_MAX_RESIDENT_MEMORY,
    SET_IDLE_RELEASE_TIMEOUT,
    SET_IDLE_TIMEOUTS,
    SET_MAX_ACTIVE_RUNS,
    SET_NODE_LEASE,
    SET_TIMER_RESOLUTION,
    SET_ISOLATE_CHILD_FAILURES,
    SET_STORE_RETRY_ATTEMPTS,
    SET_STORE_RETRY_DELAY,
    SET_STORE_RETRY_MAX_DELAY,
    SET_PLUGIN,
    SET_MAX_BODY_SIZE,
    SET_MAX_HEADER_SIZE,
    SET_MAX_CONNECTIONS,
    SET_MAX_CONNECTIONS_PER_ADDRESS,
    SET_IDLE_TIMEOUT,
    SET_REQUEST_TIMEOUT,
    SET_MAX_WAIT,
    SET_MAX_SPILL_SIZE,
    SET_VIRTUAL_TIME,
    SETTINGS_COUNT
} SettingId;

typedef struct SettingInfo {
    const char *name; // "log-level"
    SettingKind kind;
    const char *fallback; // the default as text; "" = none
    const char *value;    // placeholder in the help; NULL for flags
    const char *about;
    bool is_reloadable; // SIGHUP is enough
    int64_t min, max;
    const char *word; // a word that is allowed besides; NULL = none
} SettingInfo;

typedef enum SettingSource {
    SOURCE_DEFAULT,
    SOURCE_FILE,
    SOURCE_ENVIRONMENT,
    SOURCE_FLAG,
    SOURCE_COUNT
} SettingSource;

typedef struct SettingValue {
    Str text; // as it was given; lists joined by ","
    int64_t number;
    const Str *items;
    size_t count;
    SettingSource source;
    size_t line; // SOURCE_FILE
} SettingValue;

enum { SETTINGS_OPTIONS = SETTINGS_COUNT + 1 };

typedef struct SettingFlags { // what the command line said
    Str config;
    Str texts[SETTINGS_COUNT];
    bool flags[SETTINGS_COUNT];
    OptionTexts lists[SETTINGS_COUNT];
} SettingFlags;

typedef struct Settings {
    Arena arena;
    Str file; // that was read; null = none
    SettingValue values[SETTINGS_COUNT];
} Settings;

extern const SettingInfo setting_infos[SETTINGS_COUNT];

// The flags of all settings and --config, with targets in `flags`, for a command's table.
void settings_options(SettingFlags *flags, Option ret_options[SETTINGS_OPTIONS]);
void settings_init(Settings *settings);
void settings_done(Settings *settings);
// Codes: BAD_TOML, FILE_NOT_READ, FILE_TOO_LARGE, UNKNOWN_SETTING, BAD_SETTING.
MUST_CHECK Status settings_load(Settings *settings, const SettingFlags *flags, Diag *diag);
// Into what the server wants. With `is_reload`, only what can change while it runs.
void settings_apply(const Settings *settings, bool is_reload, ServeConfig *config);

const char *setting_variable(SettingId id, char ret_name[64]); // "ABIDE_LOG_LEVEL"
// "default", "abide.toml:3", "ABIDE_LISTEN", "--listen".
Str setting_source_text(const Settings *settings, SettingId id, Arena *arena);
// The value for people: passwords in URLs are left out.
Str setting_shown(const Settings *settings, SettingId id, Arena *arena);
// What GET /v1/settings answers: [{"name", "value", "source", "description"}, …], shown as above.
Str settings_items(const Settings *settings, Arena *arena);
bool setting_is_same(const Settings *a, const Settings *b, SettingId id);

// ---- setting_stray.c ----
typedef void (*SettingStraySaid)(void *context, const char *message);
// Calls `say` for each variable ABIDE_… that is no setting and nothing else of ours; with
// `is_near_only` just for those that a setting is written like.
void settings_tell_stray(bool is_near_only, SettingStraySaid say, void *context);

// ---- setting_values.c ----
// Reads `text` as the setting's kind; the Diag says what is wrong, without saying where.
MUST_CHECK Status setting_read(SettingId id, Str text, Arena *arena, SettingValue *ret_value,
                               Diag *diag);
// The nearest of the settings' names; NULL when none is near.
const char *setting_nearest(Str name);

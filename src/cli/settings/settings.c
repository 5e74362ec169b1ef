// Loading settings: defaults, file, environment, flags.
//
// Each source is read completely before the next, and each value through setting_read, so that a
// mistake is found even where a later source would cover it. Invariants [settings-1] and
// [settings-2] are in settings.h.
//
// Not here: the table and the kinds (setting_values.c), TOML (toml.c).
#include "cli/settings/settings.h"
#include "base/text/number.h"
#include "cli/run/files.h"
#include "cli/settings/toml.h"
#include "store/store.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// ---- flags ----

void settings_options(SettingFlags *flags, Option ret_options[SETTINGS_OPTIONS]) {
    *flags = (SettingFlags){0};
    ret_options[0] = (Option){
        "config",       'c',    OPTION_TEXT,
        &flags->config, "FILE", "settings; ./abide.toml or /etc/abide/abide.toml if there"};
    for (int i = 0; i < SETTINGS_COUNT; i++) {
        const SettingInfo *info = &setting_infos[i];
        Option option = {info->name, 0, OPTION_TEXT, &flags->texts[i], info->value, info->about};
        if (i == SET_STORE) option.letter = 's';
        if (i == SET_LISTEN) option.letter = 'l';
        if (info->kind == SETTING_FLAG) {
            option.kind = OPTION_FLAG;
            option.target = &flags->flags[i];
        } else if (info->kind == SETTING_LIST) {
            option.kind = OPTION_TEXTS;
            option.target = &flags->lists[i];
        }
        ret_options[i + 1] = option;
    }
}

static Str join(Arena *arena, const OptionTexts *texts) {
    Str joined = str_from(texts->items[0]);
    for (size_t i = 1; i < texts->count; i++)
        joined = arena_printf(arena, "%.*s,%s", STR_ARG(joined), texts->items[i]);
    return joined;
}

static Status say_where(Status status, const char *where, Diag *diag) {
    char message[DIAG_MESSAGE_MAX];
    memcpy(message, diag->message, sizeof message);
    return diag_set(diag, status, "BAD_SETTING", "%s: %s", where, message);
}

static Status take(Settings *settings, SettingId id, Str text, SettingSource source, Diag *diag) {
    SettingValue value;
    TRY(setting_read(id, text, &settings->arena, &value, diag));
    value.source = source;
    settings->values[id] = value;
    return OK;
}

static Status take_flags(Settings *settings, const SettingFlags *flags, Diag *diag) {
    for (int i = 0; i < SETTINGS_COUNT; i++) {
        Str text = flags->texts[i];
        if (flags->flags[i]) text = STR("true");
        if (flags->lists[i].count > 0) text = join(&settings->arena, &flags->lists[i]);
        if (str_is_null(text)) continue;
        Status status = take(settings, (SettingId)i, text, SOURCE_FLAG, diag);
        if (status == OK) continue;
        char where[80];
        snprintf(where, sizeof where, "--%s", setting_infos[i].name);
        return say_where(status, where, diag);
    }
    return OK;
}

// ---- the environment ----

const char *setting_variable(SettingId id, char ret_name[64]) {
    size_t len = (size_t)snprintf(ret_name, 64, "ABIDE_%s", setting_infos[id].name);
    for (size_t i = 0; i < len; i++)
        ret_name[i] = ret_name[i] == '-' ? '_' : (char)toupper((unsigned char)ret_name[i]);
    return ret_name;
}

static Status take_environment(Settings *settings, Diag *diag) {
    for (int i = 0; i < SETTINGS_COUNT; i++) {
        char name[64];
        const char *text = getenv(setting_variable((SettingId)i, name));
        if (text == NULL || text[0] == 0) continue;
        Status status = take(settings, (SettingId)i, str_from(text), SOURCE_ENVIRONMENT, diag);
        if (status != OK) return say_where(status, name, diag);
    }
    return OK;
}

// ---- the file ----

static Status bad_place(const Settings *settings, const TomlValue *value, const char *code,
                        const char *message, Diag *diag) {
    return diag_set(diag, ERR_INVALID, code, "%.*s:%zu:%zu: %s", STR_ARG(settings->file),
                    value->line, value->column, message);
}

// A scalar as the text that setting_read reads; null when it cannot be one.
static Str scalar_text(Arena *arena, const SettingInfo *info, const TomlValue *value) {
    bool is_number =
        info->kind == SETTING_COUNT || info->kind == SETTING_SIZE || info->kind == SETTING_DURATION;
    char text[NUMBER_TEXT_MAX];
    switch (value->kind) {
    case TOML_STRING:
        return info->kind == SETTING_FLAG || info->kind == SETTING_COUNT ? STR_NULL : value->string;
    case TOML_INTEGER:
        return is_number ? arena_printf(arena, "%lld", (long long)value->integer) : STR_NULL;
    case TOML_FLOAT:
        number_format(value->number, text);
        return info->kind == SETTING_DURATION ? arena_str(arena, str_from(text)) : STR_NULL;
    case TOML_BOOL:
        if (info->kind != SETTING_FLAG) return STR_NULL;
        return value->integer ? STR("true") : STR("false");
    case TOML_ARRAY:
    case TOML_TABLE:
    case TOML_KIND_COUNT: break;
    }
    return STR_NULL;
}

static Str list_text(Arena *arena, const TomlValue *array) {
    Str joined = STR("");
    TOML_EACH (item, array) {
        if (item->kind != TOML_STRING) return STR_NULL;
        joined = arena_printf(arena, "%.*s%s%.*s", STR_ARG(joined), joined.len > 0 ? "," : "",
                              STR_ARG(item->string));
    }
    return joined;
}

static Status take_toml(Settings *settings, SettingId id, const TomlValue *value, Diag *diag) {
    const SettingInfo *info = &setting_infos[id];
    char message[DIAG_MESSAGE_MAX];
    Str text = info->kind == SETTING_LIST && value->kind == TOML_ARRAY
                   ? list_text(&settings->arena, value)
                   : scalar_text(&settings->arena, info, value);
    if (str_is_null(text)) {
        static const char *const wanted[] = {
            [SETTING_TEXT] = "a string",
            [SETTING_FLAG] = "true or false",
            [SETTING_COUNT] = "an integer",
            [SETTING_SIZE] = "an integer or a string",
            [SETTING_DURATION] = "a string or a number of seconds",
            [SETTING_CHOICE] = "a string",
            [SETTING_LIST] = "an array of strings",
        };
        snprintf(message, sizeof message, "%s takes %s, not this %s", info->name,
                 wanted[info->kind], toml_kind_name(value->kind));
        return bad_place(settings, value, "BAD_SETTING", message, diag);
    }
    Status status = take(settings, id, text, SOURCE_FILE, diag);
    if (status != OK) {
        memcpy(message, diag->message, sizeof message);
        return bad_place(settings, value, "BAD_SETTING", message, diag);
    }
    settings->values[id].line = value->line;
    return OK;
}

static int find_setting(Str name) {
    for (int i = 0; i < SETTINGS_COUNT; i++)
        if (str_equal(str_from(setting_infos[i].name), name)) return i;
    return -1;
}

static Status unknown_key(const Settings *settings, Str name, const TomlValue *value, Diag *diag) {
    char message[256];
    const char *nearest = setting_nearest(name);
    if (nearest != NULL)
        snprintf(message, sizeof message, "there is no setting \"%.*s\"; did you mean \"%s\"?",
                 (int)(name.len < 64 ? name.len : 64), name.data, nearest);
    else
        snprintf(message, sizeof message,
                 "there is no setting \"%.*s\"; abide config print lists all",
                 (int)(name.len < 64 ? name.len : 64), name.data);
    return bad_place(settings, value, "UNKNOWN_SETTING", message, diag);
}

// Members of a table, at most TOML_DEPTH_MAX deep; the path joined by dashes is the name.
static Status take_table(Settings *settings, Str prefix, const TomlValue *table, Diag *diag) {
    TOML_EACH (value, table) {
        Str name = prefix.len == 0 ? value->key
                                   : arena_printf(&settings->arena, "%.*s-%.*s", STR_ARG(prefix),
                                                  STR_ARG(value->key));
        int id = find_setting(name);
        if (id >= 0 && value->kind != TOML_TABLE) {
            if (settings->values[id].source == SOURCE_FILE)
                return bad_place(settings, value, "BAD_SETTING",
                                 "the setting is given twice, once in a table", diag);
            TRY(take_toml(settings, (SettingId)id, value, diag));
        } else if (value->kind == TOML_TABLE) {
            TRY(take_table(settings, name, value, diag));
        } else {
            return unknown_key(settings, name, value, diag);
        }
    }
    return OK;
}

static Str file_of(const SettingFlags *flags) {
    if (!str_is_null(flags->config)) return flags->config;
    const char *variable = getenv("ABIDE_CONFIG");
    if (variable != NULL && variable[0] != 0) return str_from(variable);
    if (access("abide.toml", F_OK) == 0) return STR("abide.toml");
    if (access("/etc/abide/abide.toml", F_OK) == 0) return STR("/etc/abide/abide.toml");
    return STR_NULL;
}

static Status take_file(Settings *settings, const SettingFlags *flags, Diag *diag) {
    Str file = file_of(flags);
    if (str_is_null(file)) return OK;
    settings->file = arena_str(&settings->arena, file);
    Buf text;
    buf_init(&text, TOML_SIZE_MAX);
    Status status = file_read(settings->file.data, &text, diag);
    Str copy = arena_str(&settings->arena, buf_str(&text));
    buf_done(&text);
    TomlValue *root = NULL;
    if (status == OK) status = toml_parse(&settings->arena, settings->file.data, copy, &root, diag);
    return status == OK ? take_table(settings, STR(""), root, diag) : status;
}

// ---- life ----

void settings_init(Settings *settings) {
    *settings = (Settings){0};
    arena_init(&settings->arena);
    for (int i = 0; i < SETTINGS_COUNT; i++) {
        Diag diag;
        Status status = take(settings, (SettingId)i, str_from(setting_infos[i].fallback),
                             SOURCE_DEFAULT, &diag);
        ASSERT(status == OK);
    }
}

void settings_done(Settings *settings) { arena_done(&settings->arena); }

Status settings_load(Settings *settings, const SettingFlags *flags, Diag *diag) {
    TRY(take_file(settings, flags, diag));
    TRY(take_environment(settings, diag));
    return take_flags(settings, flags, diag);
}

// ---- what they become ----

static Str text_or_null(const SettingValue *value) {
    return value->text.len > 0 ? value->text : STR_NULL;
}

static void apply_reloadable(const SettingValue *values, ServeConfig *config) {
    config->tls_certificate_file = text_or_null(&values[SET_TLS_CERT]);
    config->tls_key_file = text_or_null(&values[SET_TLS_KEY]);
    config->is_token_required = values[SET_REQUIRE_TOKENS].number != 0;
    config->origins = values[SET_CORS_ORIGINS].items;
    config->origin_count = values[SET_CORS_ORIGINS].count;
    config->slow_ms = values[SET_SLOW_REQUEST].number;
    config->drain_ms = values[SET_DRAIN_TIMEOUT].number;
    config->limits.body_size = (size_t)values[SET_MAX_BODY_SIZE].number;
    config->limits.spill_size = values[SET_MAX_SPILL_SIZE].number;
    config->limits.request_ms = values[SET_REQUEST_TIMEOUT].number;
    config->limits.wait_ms = values[SET_MAX_WAIT].number;
}

void settings_apply(const Settings *settings, bool is_reload, ServeConfig *config) {
    const SettingValue *values = settings->values;
    apply_reloadable(values, config);
    if (is_reload) return;
    config->store = values[SET_STORE].text;
    config->listen = values[SET_LISTEN].text;
    config->threads = (int)values[SET_THREADS].number;
    config->task_threads = (int)values[SET_TASK_THREADS].number;
    config->is_time_virtual = values[SET_VIRTUAL_TIME].number != 0;
    config->is_insecure = values[SET_INSECURE].number != 0;
    config->is_exec_allowed = values[SET_ALLOW_EXEC].number != 0;
    config->is_private_allowed = values[SET_ALLOW_PRIVATE].number != 0;
    config->run_retention = values[SET_RUN_RETENTION].text;
    config->event_retention = values[SET_EVENT_RETENTION].text;
    config->event_consume = (int)values[SET_EVENT_CONSUME].number;
    config->max_pending_events_per_topic = (int)values[SET_MAX_PENDING_EVENTS].number;
    config->cancel_grace = values[SET_CANCEL_GRACE].text;
    config->keep_snapshots = (int)values[SET_KEEP_SNAPSHOTS].number;
    config->max_crashes = (int)values[SET_MAX_CRASHES].number;
    config->max_resident_runs = (int)values[SET_MAX_RESIDENT_RUNS].number;
    config->max_resident_memory = values[SET_MAX_RESIDENT_MEMORY].number;
    config->idle_release_timeout = values[SET_IDLE_RELEASE_TIMEOUT].text;
    config->idle_timeouts = values[SET_IDLE_TIMEOUTS].text;
    config->node_lease = values[SET_NODE_LEASE].text;
    config->max_active_runs = (int)values[SET_MAX_ACTIVE_RUNS].number;
    config->timer_resolution = values[SET_TIMER_RESOLUTION].text;
    config->is_child_failure_isolated = values[SET_ISOLATE_CHILD_FAILURES].number != 0;
    config->store_retry_attempts = (int)values[SET_STORE_RETRY_ATTEMPTS].number;
    config->store_retry_delay = values[SET_STORE_RETRY_DELAY].text;
    config->store_retry_max_delay = values[SET_STORE_RETRY_MAX_DELAY].text;
    config->plugins = values[SET_PLUGIN].items;
    config->plugin_count = values[SET_PLUGIN].count;
    config->limits.header_size = (size_t)values[SET_MAX_HEADER_SIZE].number;
    config->limits.connections = values[SET_MAX_CONNECTIONS].number;
    config->limits.connections_per_address = values[SET_MAX_CONNECTIONS_PER_ADDRESS].number;
    config->limits.idle_seconds = (values[SET_IDLE_TIMEOUT].number + 999) / 1000;
}

// ---- for people ----

Str setting_source_text(const Settings *settings, SettingId id, Arena *arena) {
    const SettingValue *value = &settings->values[id];
    char name[64];
    switch (value->source) {
    case SOURCE_FILE: return arena_printf(arena, "%.*s:%zu", STR_ARG(settings->file), value->line);
    case SOURCE_ENVIRONMENT: return arena_str(arena, str_from(setting_variable(id, name)));
    case SOURCE_FLAG: return arena_printf(arena, "--%s", setting_infos[id].name);
    case SOURCE_DEFAULT:
    case SOURCE_COUNT: break;
    }
    return STR("default");
}

Str setting_shown(const Settings *settings, SettingId id, Arena *arena) {
    Str text = settings->values[id].text;
    return id == SET_STORE ? store_url_shown(text, arena) : text;
}

bool setting_is_same(const Settings *a, const Settings *b, SettingId id) {
    const SettingValue *one = &a->values[id], *other = &b->values[id];
    SettingKind kind = setting_infos[id].kind;
    if (kind == SETTING_TEXT || kind == SETTING_LIST) return str_equal(one->text, other->text);
    return one->number == other->number;
}

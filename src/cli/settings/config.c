// abide config print, check: what a server would be told, and where each value comes from.
//
// `print` writes a settings file that means the same, with where each value came from as a comment,
// or the same as JSON. `check` reads everything a server would read and says what is wrong.
//
// Not here: the settings themselves (settings.c).
#include "cli/cli.h"
#include "cli/settings/settings.h"
#include "json/write.h"
#include <stdio.h>
#include <unistd.h>

enum { CONFIG_SIZE_MAX = 1 << 20 };

// ---- forms ----

static void put_toml_value(Buf *out, const Settings *settings, SettingId id, Str shown) {
    const SettingValue *value = &settings->values[id];
    switch (setting_infos[id].kind) {
    case SETTING_FLAG: buf_append_cstr(out, value->number ? "true" : "false"); return;
    case SETTING_COUNT: buf_printf(out, "%lld", (long long)value->number); return;
    case SETTING_LIST: {
        JsonWriter json; // strings of JSON are strings of TOML
        json_writer_init(&json, out, STR_NULL);
        json_write_array_begin(&json);
        for (size_t i = 0; i < value->count; i++) json_write_string(&json, value->items[i]);
        json_write_array_end(&json);
        return;
    }
    default: {
        JsonWriter json;
        json_writer_init(&json, out, STR_NULL);
        json_write_string(&json, shown);
    }
    }
}

static void put_toml(Buf *out, const Settings *settings, Arena *arena) {
    for (int i = 0; i < SETTINGS_COUNT; i++) {
        SettingId id = (SettingId)i;
        size_t from = out->len;
        buf_printf(out, "%s = ", setting_infos[i].name);
        put_toml_value(out, settings, id, setting_shown(settings, id, arena));
        while (out->len - from < 44) buf_append_char(out, ' ');
        buf_printf(out, " # %.*s\n", STR_ARG(setting_source_text(settings, id, arena)));
    }
}

static void put_json_value(JsonWriter *json, const Settings *settings, SettingId id, Str shown) {
    const SettingValue *value = &settings->values[id];
    json_write_key(json, STR("value"));
    switch (setting_infos[id].kind) {
    case SETTING_FLAG: json_write_bool(json, value->number != 0); return;
    case SETTING_COUNT: json_write_i64(json, value->number); return;
    case SETTING_LIST:
        json_write_array_begin(json);
        for (size_t i = 0; i < value->count; i++) json_write_string(json, value->items[i]);
        json_write_array_end(json);
        return;
    default: json_write_string(json, shown);
    }
}

static const char *const kind_names[] = {
    [SETTING_TEXT] = "text", [SETTING_FLAG] = "flag",         [SETTING_COUNT] = "count",
    [SETTING_SIZE] = "size", [SETTING_DURATION] = "duration", [SETTING_CHOICE] = "choice",
    [SETTING_LIST] = "list",
};

static void put_json(Buf *out, const Settings *settings, Arena *arena) {
    JsonWriter json;
    json_writer_init(&json, out, STR("  "));
    json_write_object_begin(&json);
    json_put_string(&json, "file", settings->file);
    json_write_key(&json, STR("settings"));
    json_write_object_begin(&json);
    for (int i = 0; i < SETTINGS_COUNT; i++) {
        SettingId id = (SettingId)i;
        char variable[64];
        json_write_key(&json, str_from(setting_infos[i].name));
        json_write_object_begin(&json);
        put_json_value(&json, settings, id, setting_shown(settings, id, arena));
        json_put_string(&json, "source", setting_source_text(settings, id, arena));
        json_put_cstr(&json, "kind", kind_names[setting_infos[i].kind]);
        json_put_cstr(&json, "default", setting_infos[i].fallback);
        json_put_cstr(&json, "variable", setting_variable(id, variable));
        json_put_bool(&json, "reloadable", setting_infos[i].is_reloadable);
        json_put_cstr(&json, "about", setting_infos[i].about);
        json_write_object_end(&json);
    }
    json_write_object_end(&json);
    json_write_object_end(&json);
    buf_append_char(out, '\n');
}

Str settings_items(const Settings *settings, Arena *arena) {
    static const char *const sources[SOURCE_COUNT] = {[SOURCE_DEFAULT] = "default",
                                                      [SOURCE_FILE] = "file",
                                                      [SOURCE_ENVIRONMENT] = "environment",
                                                      [SOURCE_FLAG] = "flag"};
    Buf out;
    JsonWriter json;
    buf_init(&out, CONFIG_SIZE_MAX);
    json_writer_init(&json, &out, STR_NULL);
    json_write_array_begin(&json);
    for (int i = 0; i < SETTINGS_COUNT; i++) {
        SettingId id = (SettingId)i;
        json_write_object_begin(&json);
        json_put_cstr(&json, "name", setting_infos[i].name);
        put_json_value(&json, settings, id, setting_shown(settings, id, arena));
        json_put_cstr(&json, "source", sources[settings->values[i].source]);
        json_put_cstr(&json, "description", setting_infos[i].about);
        json_write_object_end(&json);
    }
    json_write_array_end(&json);
    Str items = arena_str(arena, buf_str(&out));
    buf_done(&out);
    return items;
}

static void print(const Settings *settings, bool is_json) {
    Arena arena;
    arena_init(&arena);
    Buf out;
    buf_init(&out, CONFIG_SIZE_MAX);
    if (is_json) put_json(&out, settings, &arena);
    else put_toml(&out, settings, &arena);
    fwrite(out.data, 1, out.len, stdout);
    buf_done(&out);
    arena_done(&arena);
}

static void note_variable(void *context, const char *message) {
    (void)context;
    fprintf(stderr, "abide: %s\n", message);
}

// ---- commands ----

static int load_and(const OptionTable *table, int argument_count, char **arguments,
                    SettingFlags *flags, Settings *settings) {
    Operands none;
    OptionsResult result = options_parse(table, argument_count, arguments, &none);
    if (result != OPTIONS_OK) return result == OPTIONS_HELP ? EXIT_CODE_OK : EXIT_CODE_USAGE;
    Diag diag;
    settings_init(settings);
    if (settings_load(settings, flags, &diag) == OK) return -1;
    fprintf(stderr, "abide: %s (%s)\n", diag.message, diag.code);
    settings_done(settings);
    return EXIT_CODE_USAGE;
}

int cli_config_print(int argument_count, char **arguments) {
    SettingFlags flags;
    Settings settings;
    Str format = STR("toml");
    Option options[SETTINGS_OPTIONS + 1];
    settings_options(&flags, options);
    options[SETTINGS_OPTIONS] =
        (Option){"output", 'o', OPTION_TEXT, &format, "toml|json", "form of the output"};
    const OptionTable table = {
        .usage = "abide config print [options]",
        .about = "Shows the settings a server would have if it were started here with the same\n"
                 "options, and where each value comes from. The output is a settings file.",
        .example = "abide config print\nabide config print -o json --config test.toml",
        .options = options,
        .option_count = SETTINGS_OPTIONS + 1,
    };
    int code = load_and(&table, argument_count, arguments, &flags, &settings);
    if (code >= 0) return code;
    bool is_json = str_equal(format, STR("json"));
    if (is_json || str_equal(format, STR("toml"))) {
        print(&settings, is_json);
        code = EXIT_CODE_OK;
    } else {
        fprintf(stderr, "abide: -o takes toml or json, not %.*s\n", STR_ARG(format));
        code = EXIT_CODE_USAGE;
    }
    settings_done(&settings);
    return code;
}

int cli_config_check(int argument_count, char **arguments) {
    SettingFlags flags;
    Settings settings;
    Option options[SETTINGS_OPTIONS];
    settings_options(&flags, options);
    const OptionTable table = {
        .usage = "abide config check [options]",
        .about = "Reads the settings a server would read, and says what is wrong with them.",
        .example = "abide config check --config /etc/abide/abide.toml",
        .options = options,
        .option_count = SETTINGS_OPTIONS,
    };
    int code = load_and(&table, argument_count, arguments, &flags, &settings);
    if (code >= 0) return code;
    settings_tell_stray(false, note_variable, NULL);
    if (str_is_null(settings.file)) puts("no settings file; the settings are good");
    else printf("%.*s is good\n", STR_ARG(settings.file));
    settings_done(&settings);
    return EXIT_CODE_OK;
}

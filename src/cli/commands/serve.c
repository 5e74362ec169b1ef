// abide serve: an engine with its HTTP server in the foreground, until it is told to end.
//
// Log lines go to stderr. Exit code 0 after an orderly end, 1 when it could not start or tasks were
// still running at the end of the drain time-out, 2 for bad arguments and settings.
//
// Not here: what serving is (server/serve.c), the settings (settings.c).
#include "cli/cli.h"
#include "cli/output/advice.h"
#include "cli/output/log_writer.h"
#include "cli/settings/settings.h"
#include <stdio.h>
#include <unistd.h>

typedef struct ServeCommand {
    SettingFlags flags;
    Settings settings; // that it was started with: the server holds texts of them
    Settings reloaded; // in force since the last reload
    bool has_reloaded;
    LogWriter log;
} ServeCommand;

// ---- reload ----

static const Settings *in_force(const ServeCommand *command) {
    return command->has_reloaded ? &command->reloaded : &command->settings;
}

static void say_changes(ServeCommand *command, const Settings *fresh) {
    Arena arena;
    arena_init(&arena);
    const Logger *logger = &command->log.logger;
    for (int i = 0; i < SETTINGS_COUNT; i++) {
        SettingId id = (SettingId)i;
        if (setting_is_same(in_force(command), fresh, id)) continue;
        Str before = setting_shown(in_force(command), id, &arena);
        Str after = setting_shown(fresh, id, &arena);
        bool is_reloadable = setting_infos[i].is_reloadable;
        LOG(logger, is_reloadable ? LOG_INFO : LOG_WARN, "%s: %.*s -> %.*s%s",
            setting_infos[i].name, STR_ARG(before), STR_ARG(after),
            is_reloadable ? "" : " needs a restart; the old value stays");
    }
    arena_done(&arena);
}

// What needs a restart is reported each time until there is one; so the settings in force take
// over only what can change.
static void keep(ServeCommand *command, Settings *fresh) {
    for (int i = 0; i < SETTINGS_COUNT; i++) {
        if (setting_infos[i].is_reloadable) continue;
        fresh->values[i] = command->settings.values[i];
    }
    if (command->has_reloaded) settings_done(&command->reloaded);
    command->reloaded = *fresh;
    command->has_reloaded = true;
}

static Status reload(void *context, Arena *arena, ServeConfig *config, Diag *diag) {
    ServeCommand *command = context;
    Settings fresh;
    settings_init(&fresh);
    Status status = settings_load(&fresh, &command->flags, diag);
    if (status != OK) {
        settings_done(&fresh);
        return status;
    }
    say_changes(command, &fresh);
    keep(command, &fresh);
    const SettingValue *values = command->reloaded.values;
    log_set_least(&command->log.logger, (LogLevel)values[SET_LOG_LEVEL].number);
    atomic_store(&command->log.format, (LogFormat)values[SET_LOG_FORMAT].number);
    settings_apply(&command->reloaded, true, config); // texts live in the settings, until the next
    config->settings = settings_items(&command->reloaded, arena);
    return OK;
}

// ---- the command ----

static void warn(void *context, const char *message) {
    LOG((const Logger *)context, LOG_WARN, "%s", message);
}

static int run(ServeCommand *command) {
    const SettingValue *values = command->settings.values;
    log_writer_init(&command->log, STDERR_FILENO, (LogLevel)values[SET_LOG_LEVEL].number,
                    (LogFormat)values[SET_LOG_FORMAT].number);
    ServeConfig config = {.logger = &command->log.logger, .reload = reload, .context = command};
    settings_apply(&command->settings, false, &config);
    config.settings = settings_items(&command->settings, &command->settings.arena);
    if (!str_is_null(command->settings.file))
        LOG(config.logger, LOG_INFO, "settings of %.*s", STR_ARG(command->settings.file));
    settings_tell_stray(true, warn, config.logger);
    Diag diag;
    Status status = serve(&config, &diag);
    if (status == OK) return EXIT_CODE_OK;
    advice_add(&diag);
    fprintf(stderr, "abide: %s (%s)\n", diag.message, diag.code);
    if (status == ERR_LIMIT) _exit(EXIT_CODE_FAILED); // functions still use what exit would free
    return EXIT_CODE_FAILED;
}

int cli_serve(int argument_count, char **arguments) {
    ServeCommand command = {.has_reloaded = false};
    Option options[SETTINGS_OPTIONS];
    settings_options(&command.flags, options);
    const OptionTable table = {
        .usage = "abide serve [options]",
        .about = "Serves workflows over HTTP until it gets SIGTERM or SIGINT; SIGHUP reads the\n"
                 "settings again. Every option is also a key of the settings file and an ABIDE_\n"
                 "variable of the environment; abide config print shows what is in force.",
        .example = "abide serve --store sqlite:orders.db --listen 127.0.0.1:7433\n"
                   "abide serve --config /etc/abide/abide.toml --log-format json",
        .options = options,
        .option_count = SETTINGS_OPTIONS,
    };
    Operands none;
    OptionsResult result = options_parse(&table, argument_count, arguments, &none);
    if (result != OPTIONS_OK) return result == OPTIONS_HELP ? EXIT_CODE_OK : EXIT_CODE_USAGE;
    Diag diag;
    settings_init(&command.settings);
    int code = EXIT_CODE_USAGE;
    if (settings_load(&command.settings, &command.flags, &diag) == OK) code = run(&command);
    else fprintf(stderr, "abide: %s (%s)\n", diag.message, diag.code);
    if (command.has_reloaded) settings_done(&command.reloaded);
    settings_done(&command.settings);
    return code;
}

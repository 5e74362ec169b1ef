// abide dev: the flows of a folder on an engine of their own, with the dashboard.
//
// For one person at one machine: it listens on loopback, keeps everything in .abide/ below the
// folder so that runs survive a restart, and says in plain words what it loaded. The task http may
// reach private addresses, because what is being developed usually lives there; programs are only
// run when that was asked for (docs/dev.md says why).
//
// Not here: what serving is (server/serve.c), deploying on change (server/flows/folder.c), lines
// about runs (dev_log.c).
#include "abide.h"
#include "base/arena.h"
#include "cli/cli.h"
#include "cli/commands/dev_log.h"
#include "cli/output/advice.h"
#include "cli/settings/settings.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEV_OPTIONS = SETTINGS_OPTIONS + 3 };

typedef struct Dev {
    Str folder;
    Str listen;
    Str start, input; // a run to start; null = none
    bool is_terminal;
    bool is_quiet; // says nothing of runs
    DevLog log;
} Dev;

static void write_line(void *context, LogLevel level, const char *line) {
    const Dev *dev = context;
    bool is_trouble = level >= LOG_WARN;
    const char *begin = dev->is_terminal && is_trouble ? "\033[33m" : "";
    const char *end = begin[0] != 0 ? "\033[0m" : "";
    fprintf(stdout, "%s%s%s\n", begin, line, end);
    fflush(stdout);
}

static void warn(void *context, const char *message) {
    LOG((const Logger *)context, LOG_WARN, "%s", message);
}

static void start_run(const Dev *dev, Arena *arena, abide_engine *engine) {
    abide_error error;
    char id[ABIDE_RUN_ID_SIZE];
    const char *input = str_is_null(dev->input) ? NULL : arena_cstr(arena, dev->input);
    if (abide_start(engine, arena_cstr(arena, dev->start), input, NULL, id, &error) == ABIDE_OK)
        printf("started %.*s: run %s\n", STR_ARG(dev->start), id);
    else printf("cannot start %.*s: %s (%s)\n", STR_ARG(dev->start), error.message, error.name);
}

static void take_event(void *context, const abide_event *event) {
    Dev *dev = context;
    dev_log_notice(&dev->log, event);
}

static void stop_log(void *context) {
    Dev *dev = context;
    dev_log_stop(&dev->log);
}

static void say_ready(void *context, const Server *server) {
    Dev *dev = context;
    Arena arena;
    arena_init(&arena);
    if (!str_is_null(dev->start)) start_run(dev, &arena, server->engine);
    Str host = server->config.host;
    bool is_v6 = memchr(host.data, ':', host.len) != NULL;
    printf("\n  http://%s%.*s%s:%u/   dashboard; the API is below /v1\n"
           "  Save a .flow file in %.*s and it is deployed. Ctrl-C ends.\n\n",
           is_v6 ? "[" : "", STR_ARG(host), is_v6 ? "]" : "", server->port, STR_ARG(dev->folder));
    fflush(stdout);
    arena_done(&arena);
    if (!dev->is_quiet) dev_log_start(&dev->log, server->engine);
}

// The store below the folder, kept out of version control. False: it has been said why.
static bool make_store(Arena *arena, Str folder, Str *ret_url) {
    const char *path = arena_printf(arena, "%.*s/.abide", STR_ARG(folder)).data;
    bool is_made = mkdir(path, 0700) == 0;
    if (!is_made && errno != EEXIST) {
        fprintf(stderr, "abide: cannot make the folder %s: %s (FOLDER_NOT_READ)\n", path,
                strerror(errno));
        return false;
    }
    FILE *ignore = is_made ? fopen(arena_printf(arena, "%s/.gitignore", path).data, "w") : NULL;
    if (ignore != NULL) {
        fputs("*\n", ignore);
        fclose(ignore);
    }
    *ret_url = arena_printf(arena, "sqlite:%s/abide.db", path);
    return true;
}

static int run_dev(Dev *dev, Settings *settings) {
    SettingValue *values = settings->values;
    if (values[SET_ALLOW_PRIVATE].source == SOURCE_DEFAULT) values[SET_ALLOW_PRIVATE].number = 1;
    Logger logger = {
        .least = (LogLevel)values[SET_LOG_LEVEL].number, .write = write_line, .context = dev};
    ServeConfig config = {.logger = &logger, .on_ready = say_ready, .context = dev};
    dev_log_init(&dev->log, stdout);
    if (!dev->is_quiet) {
        config.on_event = take_event;
        config.on_ending = stop_log;
    }
    settings_apply(settings, false, &config);
    config.settings = settings_items(settings, &settings->arena);
    settings_tell_stray(true, warn, &logger);
    config.directory = dev->folder;
    Arena arena;
    arena_init(&arena);
    Diag diag;
    int code = EXIT_CODE_FAILED;
    if (values[SET_STORE].source != SOURCE_DEFAULT ||
        make_store(&arena, dev->folder, &config.store)) {
        if (serve(&config, &diag) == OK) {
            code = EXIT_CODE_OK;
        } else {
            advice_add(&diag);
            fprintf(stderr, "abide: %s (%s)\n", diag.message, diag.code);
        }
    }
    dev_log_done(&dev->log);
    arena_done(&arena);
    return code;
}

int cli_dev(int argument_count, char **arguments) {
    Dev dev = {.folder = STR("."), .is_terminal = isatty(STDOUT_FILENO)};
    SettingFlags flags;
    Option options[DEV_OPTIONS];
    settings_options(&flags, options);
    options[SETTINGS_OPTIONS] =
        (Option){"start", 0, OPTION_TEXT, &dev.start, "WORKFLOW", "start a run of it at once"};
    options[SETTINGS_OPTIONS + 1] =
        (Option){"input", 'i', OPTION_TEXT, &dev.input, "JSON", "the input of that run"};
    options[SETTINGS_OPTIONS + 2] =
        (Option){"quiet", 'q', OPTION_FLAG, &dev.is_quiet, NULL, "say nothing of runs"};
    const OptionTable table = {
        .usage = "abide dev [DIR] [options]",
        .about = "Deploys the .flow files below DIR (the current folder unless given), deploys\n"
                 "them again whenever they change, shows their runs on a dashboard and prints\n"
                 "what happens to them: starts, ends, failures, waits, console lines. The\n"
                 "store is DIR/.abide/abide.db, and the task http may reach private addresses,\n"
                 "unless told otherwise; all other settings are those of abide serve.",
        .example = "abide dev\nabide dev flows --start hello --input '{\"name\": \"Ada\"}'",
        .options = options,
        .option_count = DEV_OPTIONS,
        .operand_max = 1,
    };
    Operands folders;
    OptionsResult result = options_parse(&table, argument_count, arguments, &folders);
    if (result != OPTIONS_OK) return result == OPTIONS_HELP ? EXIT_CODE_OK : EXIT_CODE_USAGE;
    if (folders.count > 0) dev.folder = str_from(folders.items[0]);
    Settings settings;
    Diag diag;
    settings_init(&settings);
    int code = EXIT_CODE_USAGE;
    if (settings_load(&settings, &flags, &diag) == OK) code = run_dev(&dev, &settings);
    else fprintf(stderr, "abide: %s (%s)\n", diag.message, diag.code);
    settings_done(&settings);
    return code;
}

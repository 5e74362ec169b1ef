// abide backup: a copy of an SQLite store, also while a server works on it.
//
// Which store is decided as `abide serve` does it: --store, ABIDE_STORE, the settings file,
// sqlite:abide.db in the current folder. The file is read itself; no server is asked.
//
// Not here: the copy (store/sqlite/backup.c).
#include "store/backup.h"
#include "base/array.h"
#include "cli/cli.h"
#include "cli/client/session.h"
#include "cli/output/advice.h"
#include "cli/settings/settings.h"
#include "json/write.h"
#include "store/store.h"

typedef struct BackupCommand {
    Session session;
    SettingFlags flags;
    bool is_replacing;
} BackupCommand;

static void print(Session *session, Str store, const char *file, int64_t size) {
    if (session->format == OUTPUT_TABLE) {
        printf("%s: %lld bytes, a copy of %.*s\n", file, (long long)size, STR_ARG(store));
        return;
    }
    Buf text;
    JsonWriter json;
    buf_init(&text, 1 << 16);
    json_writer_init(&json, &text, STR("  "));
    json_write_object_begin(&json);
    json_put_string(&json, "store", store);
    json_put_cstr(&json, "file", file);
    json_put_i64(&json, "bytes", size);
    json_write_object_end(&json);
    output_json_line(stdout, buf_str(&text));
    buf_done(&text);
}

static bool copy(BackupCommand *command, const Settings *settings, const char *file) {
    Session *session = &command->session;
    const BackupConfig config = {.store = settings->values[SET_STORE].text,
                                 .file = file,
                                 .is_replacing = command->is_replacing};
    Diag diag;
    int64_t size = 0;
    Status status = backup_run(&config, &size, &diag);
    if (status != OK) {
        advice_add(&diag);
        return session_fail(session, status, &diag);
    }
    print(session, store_url_shown(config.store, &session->arena), file, size);
    return true;
}

int cli_backup(int argument_count, char **arguments) {
    BackupCommand command = {.is_replacing = false};
    Session *session = &command.session;
    session_init_bare(session);
    const Option options[] = {
        {"store", 0, OPTION_TEXT, &command.flags.texts[SET_STORE], "STORE",
         "the store; that of abide serve unless given"},
        {"config", 0, OPTION_TEXT, &command.flags.config, "FILE", "the settings file"},
        {"replace", 0, OPTION_FLAG, &command.is_replacing, NULL, "replace a file that is there"},
    };
    OptionTable table = {
        .usage = "abide backup FILE [options]",
        .about = "Copies an SQLite store as it is at this moment into FILE, also while a server "
                 "works on it.\nThe copy is a store itself. Stores on servers are backed up with "
                 "the server's tools.",
        .example = "abide backup /backups/abide.db\n"
                   "abide backup monday.db --store sqlite:orders.db --replace",
        .options = options,
        .option_count = COUNT_OF(options),
        .operand_min = 1,
        .operand_max = 1,
    };
    Operands operands;
    int code = session_parse(session, &table, argument_count, arguments, &operands);
    if (code != SESSION_GO_ON) return code;
    Settings settings;
    Diag diag;
    settings_init(&settings);
    Status status = settings_load(&settings, &command.flags, &diag);
    if (status == OK) (void)copy(&command, &settings, operands.items[0]);
    else (void)session_fail(session, status, &diag);
    if (status != OK) session->exit_code = EXIT_CODE_USAGE; // of wrong settings
    settings_done(&settings);
    return session_end(session);
}

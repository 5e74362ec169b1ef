// abide migrate: moves everything from one store to another, whatever the two are kept in.
//
//   abide migrate --from sqlite:orders.db --to postgres://db/orders
//   abide migrate --from … --to … --resume      goes on where an interrupted one ended
//   abide migrate --reopen sqlite:orders.db     the source is to be worked on after all
//
// Not here: how it is done, and what a crash leaves (store/transfer.h).
#include "base/array.h"
#include "base/env.h"
#include "cli/client/local.h"
#include "cli/client/session.h"
#include "cli/output/advice.h"
#include "json/write.h"
#include "store/store.h"
#include "store/transfer.h"

typedef struct Migrate {
    Session session;
    Str from, to, reopen;
    uint64_t batch_rows;
    bool is_resume, is_dry_run;
} Migrate;

static void show_progress(void *context, const TransferProgress *progress) {
    static const char *const phases[] = {
        [TRANSFER_CHECKING] = "checking the source",
        [TRANSFER_COUNTING] = "reading the source",
        [TRANSFER_COPYING] = "copying",
        [TRANSFER_COMPARING] = "comparing",
        [TRANSFER_VERIFYING] = "verifying the target",
    };
    Session *session = context;
    if (progress->table == NULL) {
        session_progress(session, "%s", phases[progress->phase]);
    } else if (progress->row_total == 0) {
        session_progress(session, "%s: %s, %lld rows", phases[progress->phase], progress->table,
                         (long long)progress->row_count);
    } else {
        session_progress(session, "%s: %s, %lld of %lld rows", phases[progress->phase],
                         progress->table, (long long)progress->row_count,
                         (long long)progress->row_total);
    }
}

static void print_json(Migrate *self, const TransferReport *report) {
    Buf text;
    JsonWriter json;
    buf_init(&text, 1 << 16);
    json_writer_init(&json, &text, STR("  "));
    json_write_object_begin(&json);
    json_put_string(&json, "from", store_url_shown(self->from, &self->session.arena));
    json_put_string(&json, "to", store_url_shown(self->to, &self->session.arena));
    json_put_bool(&json, "dry_run", self->is_dry_run);
    json_put_i64(&json, "rows", report->row_total);
    json_put_i64(&json, "copied", report->copied_count);
    json_put_cstr(&json, "digest", report->digest);
    json_write_key(&json, STR("tables"));
    json_write_object_begin(&json);
    for (int i = 0; i < TABLE_COUNT; i++) {
        json_put_i64(&json, transfer_table_name(i), report->row_counts[i]);
    }
    json_write_object_end(&json);
    json_write_object_end(&json);
    output_json_line(stdout, buf_str(&text));
    buf_done(&text);
}

static void print_text(Migrate *self, const TransferReport *report) {
    static const TableColumn columns[] = {{"TABLE", false, false}, {"ROWS", true, false}};
    Arena *arena = &self->session.arena;
    TextTable table;
    table_init(&table, columns, 2);
    for (int i = 0; i < TABLE_COUNT; i++) {
        if (report->row_counts[i] == 0) continue;
        table_add(&table, str_from(transfer_table_name(i)));
        table_add(&table, arena_printf(arena, "%lld", (long long)report->row_counts[i]));
    }
    table_print(&table, stdout, self->session.terminal);
    table_done(&table);
    Str from = store_url_shown(self->from, arena), to = store_url_shown(self->to, arena);
    if (self->is_dry_run) {
        printf("%lld rows would go from %.*s to %.*s; nothing was changed\n",
               (long long)report->row_total, STR_ARG(from), STR_ARG(to));
        return;
    }
    printf("%lld rows moved from %.*s to %.*s (%lld now), compared and verified\n"
           "digest %s\n"
           "%.*s is kept as it was, and marked: no server works on it any more\n",
           (long long)report->row_total, STR_ARG(from), STR_ARG(to),
           (long long)report->copied_count, report->digest, STR_ARG(from));
}

static bool fail(Session *session, Status status, Diag *diag) {
    if (status != ERR_LOCKED) advice_add(diag); // its advice is for servers
    return session_fail(session, status, diag);
}

static bool move(Migrate *self) {
    Session *session = &self->session;
    const TransferConfig config = {
        .from = self->from,
        .to = self->to,
        .now_ms = env_now_ms(env_system()),
        .batch_rows = (int64_t)self->batch_rows,
        .is_resume = self->is_resume,
        .is_dry_run = self->is_dry_run,
        .progress = show_progress,
        .context = session,
        .stop = session_stop_flag(),
    };
    TransferReport report;
    Diag diag;
    Status status = transfer_run(&config, &report, &diag);
    session_clear_progress(session);
    if (status != OK) {
        (void)fail(session, status, &diag);
        if (session_is_stopped()) session->exit_code = EXIT_CODE_INTERRUPTED;
        return false;
    }
    if (session->format == OUTPUT_JSON) print_json(self, &report);
    else print_text(self, &report);
    return true;
}

static bool reopen(Migrate *self) {
    Session *session = &self->session;
    Diag diag;
    Status status = transfer_reopen(self->reopen, &diag);
    if (status != OK) return fail(session, status, &diag);
    Str shown = store_url_shown(self->reopen, &session->arena);
    if (session->format != OUTPUT_JSON) {
        printf("%.*s: servers can work on it again\n", STR_ARG(shown));
        return true;
    }
    Buf text;
    JsonWriter json;
    buf_init(&text, 1 << 16);
    json_writer_init(&json, &text, STR_NULL);
    json_write_object_begin(&json);
    json_put_string(&json, "reopened", shown);
    json_write_object_end(&json);
    output_json_line(stdout, buf_str(&text));
    buf_done(&text);
    return true;
}

static bool go(Migrate *self) {
    bool has_ends = !str_is_null(self->from) && !str_is_null(self->to);
    bool has_end = !str_is_null(self->from) || !str_is_null(self->to);
    bool has_reopen = !str_is_null(self->reopen);
    if (has_reopen && (has_end || self->is_resume || self->is_dry_run)) {
        return session_misuse(&self->session, "--reopen URL goes without other options");
    }
    if (!has_reopen && !has_ends) {
        return session_misuse(&self->session, "say --from URL and --to URL");
    }
    return has_reopen ? reopen(self) : move(self);
}

int cli_migrate(int argument_count, char **arguments) {
    Migrate self = {0};
    session_init_bare(&self.session);
    const Option options[] = {
        {"from", 0, OPTION_TEXT, &self.from, "URL", "the store to move; no server may have it"},
        {"to", 0, OPTION_TEXT, &self.to, "URL", "where to; made if it is not there, or empty"},
        {"resume", 0, OPTION_FLAG, &self.is_resume, NULL,
         "go on with a target that an interrupted migration has begun"},
        {"dry-run", 0, OPTION_FLAG, &self.is_dry_run, NULL,
         "look whether it could be done, and count; change nothing"},
        {"batch", 0, OPTION_COUNT, &self.batch_rows, "ROWS", "rows per commit; 2000"},
        {"reopen", 0, OPTION_TEXT, &self.reopen, "URL",
         "let servers work again on a store that was moved away"},
    };
    OptionTable table = {
        .usage = "abide migrate --from URL --to URL [--resume] [--dry-run] | --reopen URL",
        .about = "Moves everything from one store to another: workflows, runs with their history\n"
                 "and snapshots, events, tasks, timers, schedules, tokens. Both are verified and\n"
                 "compared. Until it has finished no server can work on the target, and from its\n"
                 "beginning none on the source.",
        .example = "abide migrate --from sqlite:orders.db --to postgres://db.example/orders\n"
                   "abide migrate --from orders.db --to postgres://db.example/orders --resume\n"
                   "abide migrate --reopen sqlite:orders.db",
        .options = options,
        .option_count = COUNT_OF(options),
    };
    Operands operands;
    int code = session_parse(&self.session, &table, argument_count, arguments, &operands);
    if (code != SESSION_GO_ON) return code;
    (void)go(&self);
    return session_end(&self.session);
}

// abide wf ls: runs, newest first, by many kinds of filter.
//
// Times of filters are written as people think of them: a moment, or how long ago.
//
// Not here: pages and forms of output (list.c).
#include "cli/list.h"
#include "cli/wf.h"

static const TableColumn columns[] = {
    {"RUN", false, false},       {"WORKFLOW", false, true}, {"STATUS", false, false},
    {"WAITING ON", false, true}, {"CREATED", false, false}, {"NEXT WAKE", false, false},
};

// "signal approval, timer", as far as there is something to be said.
static Str waits_text(Session *session, const JsonValue *run) {
    const JsonValue *waits = json_member(run, STR("waits"));
    if (waits == NULL || waits->count == 0) return STR_NULL;
    Buf text;
    buf_init(&text, 1 << 16);
    size_t shown = 0;
    JSON_EACH(wait, waits) {
        if (shown++ == 3) {
            buf_printf(&text, " and %u more", waits->count - 3);
            break;
        }
        Str name = field_text(wait, "name");
        buf_printf(&text, "%s%.*s%s%.*s", shown > 1 ? ", " : "", STR_ARG(field_text(wait, "on")),
                   str_is_null(name) ? "" : " ", STR_ARG(name));
    }
    Str answer = arena_str(&session->arena, buf_str(&text));
    buf_done(&text);
    return answer;
}

static void add_row(Session *session, TextTable *table, const JsonValue *run) {
    Str status = field_text(run, "status");
    Arena *arena = &session->arena;
    table_add(table, field_text(run, "id"));
    table_add(table, field_text(run, "workflow"));
    table_add_painted(table, status, output_status_paint(status));
    table_add(table, waits_text(session, run));
    table_add(table, output_relative(arena, session->now_ms, field_ms(run, "created_at")));
    table_add(table, output_relative(arena, session->now_ms, field_ms(run, "next_wake_at")));
}

typedef struct Filters {
    Str status, workflow, tag, parent, waiting_on, state;
    Str idle_before, created_before, created_after;
} Filters;

static bool put_time(Session *session, Buf *path, const char *option, Str text) {
    Str instant;
    if (!session_past(session, option, text, &instant)) return false;
    char name[32];
    snprintf(name, sizeof name, "%s", option);
    for (char *at = name; *at; at++)
        if (*at == '-') *at = '_';
    client_put_query(path, name, instant);
    return true;
}

static bool put_filters(Session *session, const Filters *filters, Buf *path) {
    client_put_query(path, "status", filters->status);
    client_put_query(path, "workflow", filters->workflow);
    client_put_query(path, "tag", filters->tag);
    client_put_query(path, "parent", filters->parent);
    client_put_query(path, "waiting_on", filters->waiting_on);
    client_put_query(path, "state", filters->state);
    return put_time(session, path, "idle-before", filters->idle_before) &&
           put_time(session, path, "created-before", filters->created_before) &&
           put_time(session, path, "created-after", filters->created_after);
}

int wf_ls(int argument_count, char **arguments) {
    Session session;
    session_init(&session, SESSION_READS);
    Filters filters = {0};
    Listing listing = {.limit = LIST_LIMIT,
                       .id_field = "id",
                       .columns = columns,
                       .column_count = sizeof columns / sizeof *columns,
                       .add_row = add_row};
    const Option options[] = {
        {"status", 's', OPTION_TEXT, &filters.status, "STATUS",
         "pending, running, suspended, paused, completed, failed, cancelled; several with commas"},
        {"workflow", 'w', OPTION_TEXT, &filters.workflow, "WORKFLOW", "of this workflow"},
        {"tag", 't', OPTION_TEXT, &filters.tag, "TAG", "with this tag"},
        {"parent", 0, OPTION_TEXT, &filters.parent, "RUN", "children of this run"},
        {"waiting-on", 0, OPTION_TEXT, &filters.waiting_on, "NAME",
         "waiting for this topic, signal, task or child"},
        {"state", 0, OPTION_TEXT, &filters.state, "KEY=VALUE", "whose script has set this State"},
        {"idle-before", 0, OPTION_TEXT, &filters.idle_before, "TIME",
         "idle since before a time, or for longer than a duration such as 1h"},
        {"created-before", 0, OPTION_TEXT, &filters.created_before, "TIME", "older than this"},
        {"created-after", 0, OPTION_TEXT, &filters.created_after, "TIME", "younger than this"},
        {"limit", 'n', OPTION_COUNT, &listing.limit, "N", "how many to show; 100 unless given"},
        {"cursor", 0, OPTION_TEXT, &listing.cursor, "CURSOR", "go on where a list ended"},
    };
    OptionTable table = {
        .usage = "abide wf ls [options]",
        .about = "Lists runs, newest first.",
        .example = "abide wf ls --status suspended --waiting-on approval\n"
                   "abide wf ls --workflow order --idle-before 1h -o ids",
        .options = options,
        .option_count = sizeof options / sizeof *options,
    };
    Operands none;
    int code = session_begin(&session, &table, argument_count, arguments, &none);
    if (code != SESSION_GO_ON) return code;
    Buf path;
    buf_init(&path, 1 << 16);
    buf_append_cstr(&path, "/v1/runs");
    if (listing.limit == 0) (void)session_misuse(&session, "--limit is at least 1");
    else if (put_filters(&session, &filters, &path)) {
        listing.path = arena_str(&session.arena, buf_str(&path));
        (void)list_show(&session, &listing);
    }
    buf_done(&path);
    return session_end(&session);
}

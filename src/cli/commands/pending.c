// What is pending: events that are kept on a topic, signals that a run has not taken.
//
// Removing takes ids from the list, or --all: nothing is emptied because a word was forgotten.
//
// Not here: the groups that these commands belong to (topic.c, wf.c).
#include "cli/commands/pending.h"
#include "base/array.h"
#include "cli/verbs/bulk.h"

enum { OPERANDS_MAX = 100000 };

// ---- lists ----

static Str taken_text(Session *session, const JsonValue *event) {
    (void)session;
    return field_flag(event, "taken") ? STR("yes") : STR("no");
}

static const ListColumn event_columns[] = {
    {{"ID", true, false}, "id", CELL_TEXT, NULL},
    {{"EVENT", false, true}, "event_id", CELL_TEXT, NULL},
    {{"AGE", false, false}, "created_at", CELL_AGE, NULL},
    {{"EXPIRES", false, false}, "expires_at", CELL_AGE, NULL},
    {{"TAKEN", false, false}, NULL, CELL_TEXT, taken_text},
    {{"PAYLOAD", false, true}, "payload", CELL_JSON, NULL},
};

const Verb topic_events_verb = {
    .kind = VERB_LIST,
    .usage = "abide topic events TOPIC [options]",
    .about = "Lists the events that are kept on a topic, oldest first.\nOne that is taken was "
             "given to a run already, and is kept for others.",
    .example = "abide topic events prices\nabide topic events prices -o ids",
    .path = "/v1/topics/%s/events",
    .id_field = "id",
    .columns = event_columns,
    .column_count = COUNT_OF(event_columns),
};

static const ListColumn signal_columns[] = {
    {{"ID", true, false}, "id", CELL_TEXT, NULL},
    {{"SIGNAL", false, true}, "name", CELL_TEXT, NULL},
    {{"AGE", false, false}, "created_at", CELL_AGE, NULL},
    {{"PAYLOAD", false, true}, "payload", CELL_JSON, NULL},
};

const Verb wf_signals_verb = {
    .kind = VERB_LIST,
    .usage = "abide wf signals RUN [options]",
    .about = "Lists the signals that a run has not taken yet, oldest first.",
    .example = "abide wf signals order-7\nabide wf signals order-7 -o json",
    .path = "/v1/runs/%s/signals",
    .id_field = "id",
    .columns = signal_columns,
    .column_count = COUNT_OF(signal_columns),
};

// ---- removing ----

typedef struct Removal {
    const char *all_path; // "/v1/topics/%s/events"
    const char *one_path; // the same for one: what is added, such as "/%s"
    const char *what;     // "events"
    Str name;             // of signals; null: whatever their names
    bool is_all;
} Removal;

static void remove_all(Session *session, const Removal *removal, Str id) {
    Buf path;
    buf_init(&path, 1 << 16);
    buf_append_str(&path, session_path(session, removal->all_path, id, STR_NULL));
    client_put_query(&path, "name", removal->name);
    const ClientRequest request = {.method = "DELETE", .path = buf_str(&path)};
    if (session_call(session, &request)) {
        if (session->format == OUTPUT_JSON) output_json(stdout, session->answer.json);
        else if (session->format == OUTPUT_IDS) output_id(stdout, id);
        else
            printf("%.*s: %lld %s removed\n", STR_ARG(id),
                   (long long)field_count(session->answer.json, "removed"), removal->what);
    }
    buf_done(&path);
}

static void remove_named(Session *session, const Removal *removal, const Operands *operands) {
    Str id = str_from(operands->items[0]);
    Str all = session_path(session, removal->all_path, id, STR_NULL);
    Str one = arena_printf(&session->arena, "%.*s%s", STR_ARG(all), removal->one_path);
    const Operands ids = {operands->items + 1, operands->count - 1};
    const Bulk bulk = {.request = bulk_request,
                       .path = one.data,
                       .method = "DELETE",
                       .id_field = "id",
                       .done = "removed"};
    (void)bulk_run(session, &ids, &bulk);
}

static int remove_pending(Session *session, OptionTable *table, const Removal *removal,
                          int argument_count, char **arguments) {
    table->operand_min = 1;
    table->operand_max = OPERANDS_MAX;
    Operands operands;
    int code = session_begin(session, table, argument_count, arguments, &operands);
    if (code != SESSION_GO_ON) return code;
    bool is_all = removal->is_all || !str_is_null(removal->name);
    if (is_all == (operands.count > 1))
        (void)session_misuse(session, "name %s by their ids, or say --all", removal->what);
    else if (is_all) remove_all(session, removal, str_from(operands.items[0]));
    else remove_named(session, removal, &operands);
    return session_end(session);
}

int topic_rm_events(int argument_count, char **arguments) {
    Session session;
    Removal removal = {.all_path = "/v1/topics/%s/events", .one_path = "/%s", .what = "events"};
    session_init(&session, SESSION_CHANGES);
    const Option options[] = {
        {"all", 0, OPTION_FLAG, &removal.is_all, NULL, "all that are pending now"},
    };
    OptionTable table = {
        .usage = "abide topic rm-events TOPIC [ID...] [options]",
        .about = "Removes pending events of a topic: those named, or --all.\n\"-\" reads ids from "
                 "standard input.",
        .example = "abide topic rm-events prices 12\nabide topic rm-events prices --all",
        .options = options,
        .option_count = COUNT_OF(options),
    };
    return remove_pending(&session, &table, &removal, argument_count, arguments);
}

int wf_rm_signals(int argument_count, char **arguments) {
    Session session;
    Removal removal = {.all_path = "/v1/runs/%s/signals", .one_path = "?id=%s", .what = "signals"};
    session_init(&session, SESSION_CHANGES);
    const Option options[] = {
        {"all", 0, OPTION_FLAG, &removal.is_all, NULL, "all that are pending now"},
        {"name", 0, OPTION_TEXT, &removal.name, "NAME", "all of this name"},
    };
    OptionTable table = {
        .usage = "abide wf rm-signals RUN [ID...] [options]",
        .about = "Removes signals that a run has not taken: those named, all of a name, or --all.\n"
                 "\"-\" reads ids from standard input.",
        .example = "abide wf rm-signals order-7 12\nabide wf rm-signals order-7 --name approve",
        .options = options,
        .option_count = COUNT_OF(options),
    };
    return remove_pending(&session, &table, &removal, argument_count, arguments);
}

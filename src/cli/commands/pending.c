// What is pending: events that are kept on a topic, signals that a run has not taken.
//
// Removing takes ids from the list, or --all: nothing is emptied because a word was forgotten.
//
// Not here: the groups that these commands belong to (topic.c, wf.c).
#include "cli/commands/pending.h"
#include "base/array.h"
#include "cli/verbs/bulk.h"

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

// Verbs that remove have the path of all; what is added for one is "/%s" or "?id=%s".
static void remove_all(VerbCall *call, const char *what, Str name) {
    Session *session = &call->session;
    Str id = verb_operand(call, 0);
    Buf path;
    buf_init(&path, 1 << 16);
    buf_append_str(&path, session_path(session, call->verb->path, id, STR_NULL));
    client_put_query(&path, "name", name);
    const ClientRequest request = {.method = "DELETE", .path = buf_str(&path)};
    if (session_call(session, &request) && session_says_words(session, id))
        printf("%.*s: %lld %s removed\n", STR_ARG(id),
               (long long)field_count(session->answer.json, "removed"), what);
    buf_done(&path);
}

static void remove_named(VerbCall *call, const char *one) {
    Session *session = &call->session;
    Str all = session_path(session, call->verb->path, verb_operand(call, 0), STR_NULL);
    Str path = arena_printf(&session->arena, "%.*s%s", STR_ARG(all), one);
    const Operands ids = {call->operands.items + 1, call->operands.count - 1};
    const Bulk bulk = {.request = bulk_request,
                       .path = path.data,
                       .method = "DELETE",
                       .id_field = "id",
                       .done = "removed"};
    (void)bulk_run(session, &ids, &bulk);
}

static bool check_choice(VerbCall *call, bool is_all, const char *what) {
    if (is_all != (call->operands.count > 1)) return true;
    return session_misuse(&call->session, "name %s by their ids, or say --all", what);
}

static void remove_events(VerbCall *call) {
    bool is_all = verb_flag(call, "all");
    if (!check_choice(call, is_all, "events")) return;
    if (is_all) remove_all(call, "events", STR_NULL);
    else remove_named(call, "/%s");
}

static void remove_signals(VerbCall *call) {
    Str name = verb_text(call, "name");
    bool is_all = verb_flag(call, "all") || !str_is_null(name);
    if (!check_choice(call, is_all, "signals")) return;
    if (is_all) remove_all(call, "signals", name);
    else remove_named(call, "?id=%s");
}

static const VerbOption event_options[] = {
    {"all", 0, NULL, "all that are pending now", VALUE_FLAG, 0},
    {0},
};

const Verb topic_rm_events_verb = {
    .kind = VERB_CALL,
    .usage = "abide topic rm-events TOPIC [ID...] [options]",
    .about = "Removes pending events of a topic: those named, or --all.\n\"-\" reads ids from "
             "standard input.",
    .example = "abide topic rm-events prices 12\nabide topic rm-events prices --all",
    .path = "/v1/topics/%s/events",
    .options = event_options,
    .operand_min = 1,
    .operand_max = VERB_OPERANDS_MAX,
    .use = SESSION_CHANGES,
    .act = remove_events,
};

static const VerbOption signal_options[] = {
    {"all", 0, NULL, "all that are pending now", VALUE_FLAG, 0},
    {"name", 0, "NAME", "all of this name", VALUE_TEXT, 0},
    {0},
};

const Verb wf_rm_signals_verb = {
    .kind = VERB_CALL,
    .usage = "abide wf rm-signals RUN [ID...] [options]",
    .about = "Removes signals that a run has not taken: those named, all of a name, or --all.\n"
             "\"-\" reads ids from standard input.",
    .example = "abide wf rm-signals order-7 12\nabide wf rm-signals order-7 --name approve",
    .path = "/v1/runs/%s/signals",
    .options = signal_options,
    .operand_min = 1,
    .operand_max = VERB_OPERANDS_MAX,
    .use = SESSION_CHANGES,
    .act = remove_signals,
};

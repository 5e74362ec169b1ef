// abide access and abide changes: what this caller may do, and what changes as it happens.
//
// Both are what a page asks of a server first. Changes are printed as JSON, a line per event,
// whatever the form of the output: they are for programs, and a stream is no table.
//
// Not here: who may do what (server/access), what is told (server/observe/change_ring.c).
#include "cli/groups.h"
#include "cli/verbs/verb.h"

static void print_access(VerbCall *call) {
    Session *session = &call->session;
    if (!session_get(session, STR("/v1/access")) || !session_says_words(session, STR_NULL)) return;
    const JsonValue *answer = session->answer.json;
    const JsonValue *scopes = json_member(answer, STR("scopes"));
    const JsonValue *token = json_member(answer, STR("token"));
    printf("tokens: %s (%.*s)\nscopes:", field_flag(answer, "open") ? "not asked for" : "required",
           STR_ARG(field_text(answer, "reason")));
    if (scopes != NULL)
        JSON_EACH (scope, scopes) printf(" %.*s", STR_ARG(scope->string));
    putchar('\n');
    if (token == NULL || token->kind != JSON_KIND_OBJECT) return;
    Buf name;
    buf_init(&name, 1 << 16);
    output_clean(&name, field_text(token, "name"), 0);
    printf("token: %s\n", buf_cstr(&name));
    buf_done(&name);
}

const Verb access_verb = {
    .kind = VERB_CALL,
    .usage = "abide access [options]",
    .about = "Shows whether a server asks for tokens, and what this caller may do.",
    .example = "abide access\nabide access -o json --server https://abide.example",
    .has_no_ids = true,
    .act = print_access,
};

static bool print_change(void *context, const ClientEvent *event) {
    Session *session = context;
    Buf line;
    buf_init(&line, CLIENT_ANSWER_MAX);
    buf_printf(&line, "{\"event\":\"%.*s\",\"data\":%.*s}", STR_ARG(event->kind),
               STR_ARG(event->data));
    output_json_line(stdout, buf_str(&line));
    buf_done(&line);
    return session_flush(session);
}

static void print_changes(VerbCall *call) {
    Session *session = &call->session;
    const OptionTexts *kinds = verb_list(call, "kind");
    Buf path;
    Diag diag;
    buf_init(&path, 1 << 16);
    buf_append_cstr(&path, "/v1/changes");
    for (size_t i = 0; i < kinds->count; i++)
        client_put_query(&path, "kind", str_from(kinds->items[i]));
    client_put_query(&path, "run", verb_text(call, "run"));
    const ClientStream stream = {
        .path = buf_str(&path), .on_event = print_change, .context = session};
    session->answer = (ClientAnswer){0};
    Status status = client_stream(session->client, &stream, &diag);
    buf_done(&path);
    if (status == OK) return;
    session->answer.http_status = client_http_status(session->client);
    (void)session_fail(session, status, &diag);
}

static const VerbOption changes_options[] = {
    {"kind", 'k', "KIND",
     "only runs, tasks, schedules, topics, queues or workflows; may be repeated", VALUE_LIST,
     VERB_OWN},
    {"run", 'r', "RUN", "only this run and its tasks", VALUE_TEXT, VERB_OWN},
    {0}};

const Verb changes_verb = {
    .kind = VERB_CALL,
    .usage = "abide changes [options]",
    .about = "Prints what changes on a server as it happens, a JSON object per line, until Ctrl-C.",
    .example = "abide changes --kind runs,tasks\nabide changes --run order-7",
    .options = changes_options,
    .has_no_ids = true,
    .act = print_changes,
};

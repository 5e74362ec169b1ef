// abide token create, ls, rm: who may talk to a server.
//
// With --server they are calls like any other and need a token with the scope admin. With --store
// they open the store themselves: that is how the first token of a server comes about.
//
//   [commands-token-1] A token's text goes to stdout alone, so that it can be piped into a file;
//        what is said about it goes to stderr.
//
// Not here: what tokens are (model/token.h), who is asked for one (server/access/auth.c).
#include "base/array.h"
#include "cli/groups.h"
#include "cli/verbs/verb.h"

// ---- create ----

// Scopes may be given one by one or joined by commas.
static bool put_scopes(VerbCall *call, Body *body) {
    const OptionTexts *scopes = verb_list(call, "scope");
    if (str_is_null(verb_text(call, "name")) || scopes->count == 0)
        return session_misuse(&call->session, "a token needs --name and --scope");
    json_write_key(&body->json, STR("scopes"));
    json_write_array_begin(&body->json);
    for (size_t i = 0; i < scopes->count; i++) {
        Str left = str_from(scopes->items[i]), scope;
        while (str_split(&left, ',', &scope))
            if (scope.len > 0) json_write_string(&body->json, scope);
    }
    json_write_array_end(&body->json);
    return true;
}

static void create(VerbCall *call) {
    Session *session = &call->session;
    Str body;
    if (!verb_body(call, &body) || !session_post(session, STR("/v1/tokens"), body)) return;
    const JsonValue *token = session->answer.json;
    if (!session_says_words(session, field_text(token, "id"))) return;
    printf("%.*s\n", STR_ARG(field_text(token, "token"))); // [commands-token-1]
    fprintf(stderr, "%.*s: keep it safe, it is shown only this once\n",
            STR_ARG(field_text(token, "id")));
}

static const VerbOption create_options[] = {
    {"name", 'n', "NAME", "for people, to tell tokens apart", VALUE_TEXT, 0},
    {"scope", 0, "SCOPE", "read, client, worker or admin; several times", VALUE_LIST, VERB_OWN},
    {"expires", 0, "DURATION", "how long it is good for; 30d", VALUE_TEXT, 0},
    {0},
};

static const Verb create_verb = {
    .kind = VERB_CALL,
    .usage = "abide token create --name NAME --scope SCOPE [options]",
    .about = "Makes a token and prints it. Only its digest is kept: it cannot be shown again.\n"
             "read looks; client also starts, signals and changes runs; worker claims and\n"
             "completes tasks; admin may do everything, tokens included.",
    .example = "abide token create --name laptop --scope admin --store sqlite:abide.db\n"
               "abide token create --name workers --scope worker --expires 90d",
    .options = create_options,
    .put = put_scopes,
    .use = SESSION_PREPARES,
    .act = create,
};

// ---- list ----

static Str scopes_text(Session *session, const JsonValue *token) {
    const JsonValue *scopes = json_member(token, STR("scopes"));
    Str text = STR("");
    if (scopes != NULL && scopes->kind == JSON_KIND_ARRAY)
        JSON_EACH (scope, scopes) {
            text = arena_printf(&session->arena, "%.*s%s%.*s", STR_ARG(text),
                                text.len > 0 ? "," : "", STR_ARG(scope->string));
        }
    return text;
}

static Str expiry_text(Session *session, const JsonValue *token) {
    int64_t expires_ms = field_ms(token, "expires_at");
    if (expires_ms == 0) return STR("never");
    return output_relative(&session->arena, session->now_ms, expires_ms);
}

static const ListColumn columns[] = {
    {{"ID", false, false}, "id", CELL_TEXT, NULL},
    {{"NAME", false, true}, "name", CELL_TEXT, NULL},
    {{"SCOPES", false, false}, NULL, CELL_TEXT, scopes_text},
    {{"ENDS WITH", false, false}, "hint", CELL_TEXT, NULL},
    {{"CREATED", false, false}, "created_at", CELL_AGE, NULL},
    {{"EXPIRES", false, false}, NULL, CELL_TEXT, expiry_text},
};

static const Verb ls_verb = {
    .kind = VERB_LIST,
    .usage = "abide token ls [options]",
    .about = "Lists the tokens, newest first: all but their texts, which are not kept.",
    .example = "abide token ls\nabide token ls -o json --store sqlite:abide.db",
    .path = "/v1/tokens?limit=1000", // all there can be
    .id_field = "id",
    .columns = columns,
    .column_count = COUNT_OF(columns),
    .is_whole = true,
};

static const Verb rm_verb = {
    .kind = VERB_CHANGE,
    .usage = "abide token rm TOKEN-ID... [options]",
    .about = "Removes tokens; whoever uses one is refused from then on.",
    .example = "abide token rm tok_01jczk7v9m4q8r2t6w0x5y3z1a",
    .path = "/v1/tokens/%s",
    .method = "DELETE",
    .id_field = "id",
    .done = "removed",
    .concerns_no_run = true,
};

static const CliCommand commands[] = {
    {"create", "make a token and print it", NULL, NULL, &create_verb},
    {"ls", "list the tokens", NULL, NULL, &ls_verb},
    {"rm", "remove tokens", NULL, NULL, &rm_verb},
};

const CliGroup token_group = {
    .about = "Makes, lists and removes the tokens that servers ask for.",
    .example = "abide token create --name laptop --scope admin --store sqlite:abide.db\n"
               "abide token ls",
    .commands = commands,
    .count = COUNT_OF(commands),
};

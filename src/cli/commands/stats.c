// abide stats: the counters of a server or a store.
//
// Members of the answer are shown as they come, so that a counter the server learns later is shown
// by an older program too.
//
// Not here: what is counted (server/routes/system.c).
#include "cli/groups.h"
#include "cli/verbs/verb.h"

static const TableColumn columns[] = {{"COUNTER", false, true}, {"VALUE", true, false}};

static void add_members(Session *session, TextTable *table, Str prefix, const JsonValue *object) {
    JSON_EACH (member, object) {
        Str name = prefix.len == 0 ? member->key
                                   : arena_printf(&session->arena, "%.*s.%.*s", STR_ARG(prefix),
                                                  STR_ARG(member->key));
        if (member->kind == JSON_KIND_OBJECT) {
            JSON_EACH (inner, member) {
                Str text = inner->kind == JSON_KIND_STRING ? inner->string : inner->raw;
                table_add(table, arena_printf(&session->arena, "%.*s.%.*s", STR_ARG(name),
                                              STR_ARG(inner->key)));
                table_add(table, text);
            }
            continue;
        }
        table_add(table, name);
        table_add(table, member->kind == JSON_KIND_STRING ? member->string : member->raw);
    }
}

static void print_stats(VerbCall *call) {
    Session *session = &call->session;
    if (!session_get(session, STR("/v1/stats")) || !session_says_words(session, STR_NULL)) return;
    TextTable out;
    table_init(&out, columns, 2);
    add_members(session, &out, STR(""), session->answer.json);
    table_print(&out, stdout, session->terminal);
    table_done(&out);
}

const Verb stats_verb = {
    .kind = VERB_CALL,
    .usage = "abide stats [options]",
    .about = "Shows how many runs and tasks there are in each state, and other counters.",
    .example = "abide stats\nabide stats -o json --store sqlite:orders.db",
    .has_no_ids = true,
    .act = print_stats,
};

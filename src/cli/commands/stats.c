// abide stats: the counters of a server or a store.
//
// Members of the answer are shown as they come, so that a counter the server learns later is shown
// by an older program too.
//
// Not here: what is counted (server/routes/system.c).
#include "cli/client/session.h"

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

int cli_stats(int argument_count, char **arguments) {
    Session session;
    session_init(&session, SESSION_READS);
    session_has_no_ids(&session);
    OptionTable table = {
        .usage = "abide stats [options]",
        .about = "Shows how many runs and tasks there are in each state, and other counters.",
        .example = "abide stats\nabide stats -o json --store sqlite:orders.db",
    };
    Operands none;
    int code = session_begin(&session, &table, argument_count, arguments, &none);
    if (code != SESSION_GO_ON) return code;
    if (session_get(&session, STR("/v1/stats"))) {
        if (session.format == OUTPUT_TABLE) {
            TextTable out;
            table_init(&out, columns, 2);
            add_members(&session, &out, STR(""), session.answer.json);
            table_print(&out, stdout, session.terminal);
            table_done(&out);
        } else if (session.format == OUTPUT_JSON) {
            output_json(stdout, session.answer.json);
        }
    }
    return session_end(&session);
}

// abide attention: what needs a person, and the command that helps.
//
// A table for a glance comes first; below it stand advice and whole commands, which would not fit
// into a table and are meant to be copied.
//
// Not here: how it is found (server/observe/attention.c).
#include "cli/groups.h"
#include "cli/verbs/verb.h"

static const TableColumn columns[] = {{"COUNT", true, false},
                                      {"SINCE", false, false},
                                      {"WHAT", false, true},
                                      {"WHERE", false, false}};

// The commands that help, or what to do by hand.
static void print_help(Session *session, const JsonValue *group) {
    Buf text;
    buf_init(&text, 1 << 16);
    buf_append_cstr(&text, "  ");
    output_clean(&text, field_text(group, "title"), 0);
    buf_append_cstr(&text, ": ");
    output_clean(&text, field_text(group, "advice"), 0);
    buf_append_char(&text, '\n');
    const JsonValue *actions = json_member(group, STR("actions"));
    if (actions != NULL)
        JSON_EACH (action, actions) {
            buf_append_cstr(&text, "    ");
            output_clean(&text, field_text(action, "command"), 0);
            buf_append_char(&text, '\n');
        }
    fputs(buf_cstr(&text), stdout);
    buf_done(&text);
    (void)session;
}

static void print_attention(VerbCall *call) {
    Session *session = &call->session;
    if (!session_get(session, STR("/v1/attention")) || !session_says_words(session, STR_NULL))
        return;
    const JsonValue *groups = json_member(session->answer.json, STR("groups"));
    if (groups == NULL || groups->count == 0) {
        puts("nothing needs a person");
        return;
    }
    TextTable out;
    table_init(&out, columns, 4);
    JSON_EACH (group, groups) {
        const char *more = field_flag(group, "is_exact") ? "" : "+";
        table_add(&out, arena_printf(&session->arena, "%lld%s",
                                     (long long)field_count(group, "count"), more));
        table_add(&out,
                  output_relative(&session->arena, session->now_ms, field_ms(group, "since")));
        table_add(&out, field_text(group, "title"));
        table_add(&out, field_text(group, "place"));
    }
    table_print(&out, stdout, session->terminal);
    table_done(&out);
    puts("\nwhat helps:");
    JSON_EACH (group, groups) print_help(session, group);
}

const Verb attention_verb = {
    .kind = VERB_CALL,
    .usage = "abide attention [options]",
    .about = "Shows what needs a person: runs that failed or are paused, tasks that nobody asks "
             "for or that keep failing,\nfull topics, dead letters, late schedules and dead nodes, "
             "each with what helps.",
    .example = "abide attention\nabide attention -o json",
    .has_no_ids = true,
    .act = print_attention,
};

// abide logs: what the script of a run has written with console, and with --follow what it goes on
// to write until it ends.
//
// Lines are entries of the run's history (kind "line"); the rest of it is for `abide wf watch`.
//
// Not here: the stream (client/stream.c), the whole history (follow.c).
#include "cli/groups.h"
#include "cli/runs/follow.h"
#include "cli/verbs/verb.h"

static void print_line(Session *session, const JsonValue *entry) {
    Str at = field_text(entry, "at"), level = field_text(entry, "name");
    Str clock = at.len >= 23 ? (Str){at.data + 11, 12} : at; // the time of the day
    Str said = field_text(entry, "data"), piece;
    bool is_bad = str_equal(level, STR("error"));
    bool is_odd = is_bad || str_equal(level, STR("warn"));
    if (session->format == OUTPUT_JSON) {
        output_json_line(stdout, entry->raw);
        return;
    }
    while (str_split(&said, '\n', &piece)) { // each line of one that has several
        Buf line;
        buf_init(&line, CLIENT_ANSWER_MAX);
        output_painted(&line, session->terminal, PAINT_DIM, clock);
        buf_append_cstr(&line, "  ");
        Paint paint = is_bad ? PAINT_RED : is_odd ? PAINT_YELLOW : PAINT_NONE;
        output_painted(&line, session->terminal, paint, level);
        for (size_t width = text_width(level); width < 6; width++) buf_append_char(&line, ' ');
        output_clean(&line, piece, 0);
        output_json_line(stdout, buf_str(&line));
        buf_done(&line);
    }
}

static bool is_line(const JsonValue *entry) {
    return str_equal(field_text(entry, "kind"), STR("line"));
}

static bool print_event(void *context, const ClientEvent *event) {
    Session *session = context;
    Arena arena;
    arena_init(&arena);
    JsonValue *entry = NULL;
    if (json_parse(&arena, event->data, &entry, NULL) == OK && is_line(entry))
        print_line(session, entry);
    arena_done(&arena);
    return session_flush(session);
}

enum { CURSOR_MAX = 64 };

// One page from the cursor on, which becomes that of the next, or empty. False: it failed.
static bool print_page(Session *session, Str base, char cursor[CURSOR_MAX]) {
    ArenaMark mark = arena_mark(&session->arena);
    Buf path;
    buf_init(&path, 1 << 16);
    buf_append_str(&path, base);
    client_put_query(&path, "limit", STR("1000"));
    client_put_query(&path, "after", cursor[0] ? str_from(cursor) : STR_NULL);
    bool is_ok = session_get(session, buf_str(&path));
    buf_done(&path);
    if (!is_ok) return false;
    const JsonValue *page = json_member(session->answer.json, STR("items"));
    if (page != NULL)
        JSON_EACH (entry, page)
            if (is_line(entry)) print_line(session, entry);
    Str next = field_text(session->answer.json, "next");
    snprintf(cursor, CURSOR_MAX, "%.*s", STR_ARG(next));
    session->answer.json = NULL;
    arena_rewind(&session->arena, mark);
    return session_flush(session);
}

static void print_so_far(Session *session, Str run_id) {
    char cursor[CURSOR_MAX] = "";
    Str base = session_path(session, "/v1/runs/%s/log", run_id, STR_NULL);
    while (print_page(session, base, cursor) && cursor[0]) {}
}

static void print_logs(VerbCall *call) {
    Session *session = &call->session;
    Str run_id = verb_operand(call, 0);
    if (session->format == OUTPUT_IDS)
        (void)session_misuse(session, "lines have no ids; -o takes table or json here");
    else if (verb_flag(call, "follow")) (void)follow_stream(session, run_id, print_event);
    else print_so_far(session, run_id);
}

static const VerbOption options[] = {
    {"follow", 'f', NULL, "go on until the run ends", VALUE_FLAG, VERB_WORKS},
    {0},
};

const Verb logs_verb = {
    .kind = VERB_CALL,
    .usage = "abide logs RUN [options]",
    .about = "Prints what the script of a run has written with console.log, console.warn and "
             "console.error.\nWith -o json each line is an object. abide wf watch shows all "
             "that happened.",
    .example = "abide logs order-7\nabide logs order-7 -f",
    .options = options,
    .operand_min = 1,
    .operand_max = 1,
    .act = print_logs,
};

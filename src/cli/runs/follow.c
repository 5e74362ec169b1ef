// Waiting for runs and watching them.
//
// The end is waited for by long polls: short ones on a terminal, where a line shows how it stands,
// long ones elsewhere. A server that restarts meanwhile is waited for too.
//
// Not here: starting and showing runs (wf_*.c), reconnecting (client/stream.c).
#include "cli/runs/follow.h"
#include "base/env.h"
#include "base/time/duration.h"
#include "cli/runs/failure.h"
#include "cli/runs/next.h"
#include "json/write.h"
#include <unistd.h>

enum {
    POLL_MS = 20000,
    POLL_TERMINAL_MS = 1000,
    EARLY_MS = 15000, // so long polls are short everywhere: something may be said
    AWAY_MS = 30000,  // how long a server may take to come back
    AWAY_PAUSE_MS = 250,
    SILENT_MS = 2000, // most runs have ended by then
};

bool follow_read_limit(Session *session, const char *option, Str text, int64_t *ret_ms) {
    if (str_is_null(text)) return true;
    if (duration_parse(text, ret_ms, NULL) == OK && *ret_ms > 0) return true;
    return session_misuse(session, "--%s takes a duration such as 30s, not %.*s", option,
                          STR_ARG(text));
}

static bool has_ended(Str status) {
    return str_equal(status, STR("completed")) || str_equal(status, STR("failed")) ||
           str_equal(status, STR("cancelled"));
}

// `waited_ms`: how long it was waited for; 0 = not at all.
static bool not_ended(Session *session, Str run_id, int64_t waited_ms) {
    Diag diag;
    Str status = field_text(session->answer.json, "status");
    if (str_is_null(status)) status = STR("out of reach"); // the server was away at the end
    if (waited_ms > 0)
        (void)diag_set(&diag, ERR_CONFLICT, "RUN_NOT_ENDED",
                       "run %.*s has not ended within %lld ms, it is %.*s; abide wf show %.*s says "
                       "what it waits for",
                       STR_ARG(run_id), (long long)waited_ms, STR_ARG(status), STR_ARG(run_id));
    else
        (void)diag_set(&diag, ERR_CONFLICT, "RUN_NOT_ENDED",
                       "run %.*s has not ended, it is %.*s; --wait waits for its end",
                       STR_ARG(run_id), STR_ARG(status));
    return session_fail(session, ERR_CONFLICT, &diag);
}

// Whether to ask again after a failure: a server that has answered before may be restarting.
static bool is_worth_waiting(Status status, int64_t answered_ms) {
    if (status != ERR_UNAVAILABLE || answered_ms == 0) return false;
    return env_now_ms(env_system()) - answered_ms < AWAY_MS;
}

// How long the next poll may take, when `gone_ms` of `limit_ms` (0: no limit) are over.
static int64_t poll_ms(const Session *session, int64_t gone_ms, int64_t limit_ms) {
    bool is_short = session->progress.is_terminal || gone_ms < EARLY_MS;
    int64_t wait_ms = is_short ? POLL_TERMINAL_MS : POLL_MS;
    if (limit_ms > 0 && wait_ms > limit_ms - gone_ms) wait_ms = limit_ms - gone_ms;
    return wait_ms < 1 ? 1 : wait_ms;
}

// Says that it waits for a task nobody asks for. True: it was said, and that is enough.
static bool say_unserved(Session *session, Str run_id) {
    Diag diag;
    const ClientRequest request = {.method = "GET",
                                   .path = session_path(session, "/v1/runs/%s", run_id, STR_NULL)};
    ClientAnswer kept = session->answer;
    bool is_read = session_try(session, &request, &diag) == OK;
    const JsonValue *waits = is_read ? json_member(session->answer.json, STR("waits")) : NULL;
    const JsonValue *found = NULL;
    if (waits != NULL)
        JSON_EACH (wait, waits)
            if (found == NULL) found = json_member(wait, STR("unserved"));
    session->answer = kept;
    if (found == NULL) return false;
    session_clear_progress(session);
    Buf line;
    buf_init(&line, 1 << 20);
    output_clean(&line, next_unserved_text(&session->arena, found), 0);
    fprintf(stderr, "abide: %.*s waits: %s\n", STR_ARG(run_id), buf_cstr(&line));
    buf_done(&line);
    return true;
}

bool follow_to_end(Session *session, Str run_id, int64_t limit_ms) {
    Str base = session_path(session, "/v1/runs/%s/result", run_id, STR_NULL);
    int64_t began_ms = env_now_ms(env_system()), answered_ms = 0, gone_ms = 0;
    bool is_said = false;
    for (;;) {
        ArenaMark mark = arena_mark(&session->arena);
        int64_t wait_ms = answered_ms == 0 ? 1 : poll_ms(session, gone_ms, limit_ms);
        Str path =
            arena_printf(&session->arena, "%.*s?wait=%lldms", STR_ARG(base), (long long)wait_ms);
        const ClientRequest request = {.method = "GET", .path = path, .wait_ms = wait_ms};
        Diag diag;
        Status status = session_try(session, &request, &diag);
        bool is_away = is_worth_waiting(status, answered_ms);
        if (status != OK && !is_away) return session_fail(session, status, &diag);
        if (status == OK && session->answer.http_status == 200) break;
        gone_ms = env_now_ms(env_system()) - began_ms;
        if (is_away) usleep(AWAY_PAUSE_MS * 1000);
        else answered_ms = began_ms + gone_ms;
        if (limit_ms > 0 && gone_ms >= limit_ms) return not_ended(session, run_id, limit_ms);
        if (!is_said && !is_away && gone_ms >= SILENT_MS) is_said = say_unserved(session, run_id);
        Str word = is_away ? STR("out of reach") : field_text(session->answer.json, "status");
        session_progress(session, "%.*s is %.*s … %llds", STR_ARG(run_id), STR_ARG(word),
                         (long long)(gone_ms / 1000));
        session->answer.json = NULL;
        arena_rewind(&session->arena, mark);
    }
    session_clear_progress(session);
    return true;
}

// What the line of the complaint has no room for: the stack, causes, and all of a long message.
static void print_failure(Session *session, const JsonValue *error) {
    Buf text;
    buf_init(&text, FAILURE_TEXT_MAX);
    failure_append(&text, error, 0);
    Str left = buf_str(&text), first;
    (void)str_split(&left, '\n', &first);
    bool is_whole = first.len < DIAG_MESSAGE_MAX / 2;
    Str shown = is_whole ? left : buf_str(&text);
    if (session->format != OUTPUT_JSON && shown.len > 0) fprintf(stderr, "%.*s", STR_ARG(shown));
    buf_done(&text);
}

static bool did_not_complete(Session *session, Str run_id, Str status, const JsonValue *error) {
    Diag diag;
    bool is_failed = str_equal(status, STR("failed"));
    (void)diag_set(&diag, ERR_CONFLICT, is_failed ? "RUN_FAILED" : "RUN_CANCELLED",
                   "run %.*s %s: %.*s", STR_ARG(run_id), is_failed ? "failed" : "was cancelled",
                   STR_ARG(failure_headline(&session->arena, error)));
    (void)session_complain(session, ERR_CONFLICT, &diag);
    print_failure(session, error);
    if (is_failed && session->format == OUTPUT_TABLE)
        fprintf(stderr, "abide wf show %.*s   # says more, and what to do\n",
                STR_ARG(next_shell_word(&session->arena, run_id)));
    return false;
}

static void print_result_json(Str run_id, const JsonValue *answer) {
    Buf text;
    JsonWriter json;
    buf_init(&text, CLIENT_ANSWER_MAX);
    json_writer_init(&json, &text, STR("  "));
    json_write_object_begin(&json);
    json_put_string(&json, "id", run_id);
    JSON_EACH (member, answer) {
        json_write_key(&json, member->key);
        json_write_value(&json, member);
    }
    json_write_object_end(&json);
    output_json_line(stdout, buf_str(&text));
    buf_done(&text);
}

bool follow_print_result(Session *session, Str run_id) {
    const JsonValue *answer = session->answer.json;
    Str status = field_text(answer, "status");
    if (session->answer.http_status != 200) return not_ended(session, run_id, 0);
    bool is_completed = str_equal(status, STR("completed"));
    Str raw = STR("null"); // a run that answers nothing
    json_get_raw(answer, "result", &raw);
    if (session->format == OUTPUT_JSON) print_result_json(run_id, answer);
    else if (session->format == OUTPUT_IDS) output_id(stdout, run_id);
    else if (is_completed) output_json_line(stdout, raw);
    if (is_completed) return true;
    return did_not_complete(session, run_id, status, json_member(answer, STR("error")));
}

// ---- the history ----

// Of what was noted when a script failed: where. `abide wf show` has the variables.
static void append_place(Buf *line, const JsonValue *failure) {
    const JsonValue *frames = json_member(failure, STR("frames"));
    const JsonValue *frame = frames != NULL ? frames->first : NULL;
    if (frame == NULL) return;
    buf_append_cstr(line, "  at ");
    output_clean(line, field_text(frame, "file"), 0);
    buf_printf(line, ":%lld:%lld", (long long)field_count(frame, "line"),
               (long long)field_count(frame, "column"));
}

static void follow_append_entry(Session *session, Buf *line, const JsonValue *entry) {
    Str at = field_text(entry, "at"), kind = field_text(entry, "kind");
    Str outcome = field_text(entry, "outcome"), name = field_text(entry, "name");
    Str clock = at.len >= 23 ? (Str){at.data + 11, 12} : at; // the time of the day
    output_painted(line, session->terminal, PAINT_DIM, clock);
    buf_append_cstr(line, "  ");
    bool is_ok = str_is_null(outcome) || str_equal(outcome, STR("ok"));
    Paint paint = is_ok ? PAINT_CYAN : PAINT_RED;
    output_painted(line, session->terminal, paint, kind);
    for (size_t width = text_width(kind); width < 9; width++) buf_append_char(line, ' ');
    if (!str_is_null(name)) {
        buf_append_char(line, ' ');
        output_painted(line, session->terminal, PAINT_BOLD, name);
    }
    if (!is_ok) {
        buf_append_char(line, ' ');
        output_painted(line, session->terminal, PAINT_RED, outcome);
    }
    const JsonValue *data = json_member(entry, STR("data"));
    if (str_equal(kind, STR("failure"))) {
        append_place(line, data);
    } else if (data != NULL && data->kind != JSON_KIND_NULL) {
        buf_append_cstr(line, "  ");
        output_clean(line, data->raw, 0);
    }
    while (line->len > 0 && line->data[line->len - 1] == ' ') line->len--;
}

static bool print_event(void *context, const ClientEvent *event) {
    Session *session = context;
    Arena arena;
    arena_init(&arena);
    JsonValue *entry = NULL;
    bool is_entry = json_parse(&arena, event->data, &entry, NULL) == OK;
    if (is_entry && session->format == OUTPUT_TABLE) {
        Buf line;
        buf_init(&line, CLIENT_ANSWER_MAX);
        follow_append_entry(session, &line, entry);
        output_json_line(stdout, buf_str(&line));
        buf_done(&line);
    } else if (is_entry && session->format == OUTPUT_JSON) {
        output_json_line(stdout, event->data);
    }
    arena_done(&arena);
    return session_flush(session);
}

bool follow_stream(Session *session, Str run_id, ClientEventFunction on_event) {
    Diag diag;
    const ClientStream stream = {
        .path = session_path(session, "/v1/runs/%s/events", run_id, STR_NULL),
        .on_event = on_event,
        .context = session,
    };
    session->answer = (ClientAnswer){0};
    Status status = client_stream(session->client, &stream, &diag);
    if (status == OK) return true;
    session->answer.http_status = client_http_status(session->client);
    return session_fail(session, status, &diag);
}

bool follow_print_log(Session *session, Str run_id) {
    if (!follow_stream(session, run_id, print_event)) return false;
    if (!session_flush(session)) return true; // nobody reads any more
    if (!session_get(session, session_path(session, "/v1/runs/%s/result", run_id, STR_NULL)))
        return false;
    const JsonValue *answer = session->answer.json;
    Str word = field_text(answer, "status");
    if (session->format == OUTPUT_IDS) output_id(stdout, run_id);
    if (!has_ended(word) || str_equal(word, STR("completed"))) return true;
    return did_not_complete(session, run_id, word, json_member(answer, STR("error")));
}

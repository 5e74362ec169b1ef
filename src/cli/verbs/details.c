// One thing, member by member, in the order of the API.
//
// Times get their distance from now in front; null and empty members are left out, since what is
// not there is of no interest to a reader. JSON leaves nothing out.
//
// Not here: runs, which are shown with more care (runs/show.c).
#include "cli/verbs/details.h"
#include "base/time/duration.h"

enum { LABEL_MIN = 12, DETAILS_MAX = 256 << 20 };

static bool is_hidden(Str key, const char *const *hidden) {
    for (; hidden != NULL && *hidden != NULL; hidden++)
        if (str_equal(key, str_from(*hidden))) return true;
    return false;
}

static Str value_text(Session *session, const JsonValue *member) {
    bool is_empty =
        member->kind == JSON_KIND_NULL || (member->kind == JSON_KIND_ARRAY && member->count == 0);
    if (is_empty) return STR_NULL;
    if (member->kind != JSON_KIND_STRING) return member->raw;
    int64_t at_ms;
    bool is_time = member->key.len > 3 &&
                   str_equal((Str){member->key.data + member->key.len - 3, 3}, STR("_at")) &&
                   instant_parse(member->string, &at_ms, NULL) == OK;
    if (!is_time) return member->string;
    Str relative = output_relative(&session->arena, session->now_ms, at_ms);
    return arena_printf(&session->arena, "%.*s (%.*s)", STR_ARG(relative), STR_ARG(member->string));
}

static void print_member(Session *session, Str key, Str value, size_t label_width) {
    Buf line;
    buf_init(&line, DETAILS_MAX);
    Str label = arena_str(&session->arena, key);
    char *name = arena_cstr(&session->arena, label);
    for (char *at = name; *at; at++)
        if (*at == '_') *at = ' ';
    output_painted(&line, session->terminal, PAINT_BOLD, str_from(name));
    size_t used = text_width(key);
    do buf_append_char(&line, ' ');
    while (++used < label_width);
    size_t width = session->terminal.width;
    Buf clean;
    buf_init(&clean, DETAILS_MAX);
    output_clean(&clean, value, width > used + 8 ? width - used : 0);
    Paint paint = str_equal(key, STR("status")) ? output_status_paint(value) : PAINT_NONE;
    output_painted(&line, session->terminal, paint, buf_str(&clean));
    output_json_line(stdout, buf_str(&line));
    buf_done(&clean);
    buf_done(&line);
}

void details_print(Session *session, const JsonValue *object, const char *id_field,
                   const char *const *hidden) {
    switch (session->format) {
    case OUTPUT_JSON: output_json(stdout, object); return;
    case OUTPUT_IDS: output_id(stdout, field_text(object, id_field)); return;
    case OUTPUT_TABLE: break;
    }
    size_t label_width = LABEL_MIN;
    JSON_EACH (member, object)
        if (!is_hidden(member->key, hidden) && member->key.len + 2 > label_width)
            label_width = member->key.len + 2;
    JSON_EACH (member, object) {
        Str value = value_text(session, member);
        if (!str_is_null(value) && !is_hidden(member->key, hidden))
            print_member(session, member->key, value, label_width);
    }
}

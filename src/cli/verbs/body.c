// Bodies of requests: members for the options that were given, none for the others, so that what is
// not said stays the server's decision.
//
// Whether a value makes sense is the server's to say too; only numbers are looked at before
// (session_check_number), because they are written without quotes.
//
// Not here: which members (the commands).
#include "cli/verbs/body.h"
#include "base/assert.h"

void body_begin(Body *body, Session *session) {
    body->session = session;
    buf_init(&body->text, CLIENT_ANSWER_MAX);
    json_writer_init(&body->json, &body->text, STR_NULL);
    json_write_object_begin(&body->json);
}

Str body_end(Body *body) {
    json_write_object_end(&body->json);
    Str text = arena_str(&body->session->arena, buf_str(&body->text));
    buf_done(&body->text);
    return text;
}

void body_put_text(Body *body, const char *name, Str text) {
    if (!str_is_null(text)) json_put_string(&body->json, name, text);
}

void body_put_raw(Body *body, const char *name, Str json) {
    if (!str_is_null(json)) json_put_raw(&body->json, name, json);
}

static void body_put_texts(Body *body, const char *name, const OptionTexts *texts) {
    if (texts->count == 0) return;
    json_write_key(&body->json, str_from(name));
    json_write_array_begin(&body->json);
    for (size_t i = 0; i < texts->count; i++) json_write_cstr(&body->json, texts->items[i]);
    json_write_array_end(&body->json);
}

void body_name(const char *option, char ret_name[BODY_NAME_MAX]) {
    snprintf(ret_name, BODY_NAME_MAX, "%s", option);
    for (char *at = ret_name; *at; at++)
        if (*at == '-') *at = '_';
}

bool body_put_option(Body *body, const Option *option) {
    char name[BODY_NAME_MAX], plural[BODY_NAME_MAX + 1];
    body_name(option->name, name);
    snprintf(plural, sizeof plural, "%ss", name);
    const Str *text = option->target;
    switch (option->kind) {
    case OPTION_TEXT: body_put_text(body, name, *text); return true;
    case OPTION_NUMBER:
        if (!session_check_number(body->session, option->name, *text)) return false;
        body_put_raw(body, name, *text);
        return true;
    case OPTION_TEXTS: body_put_texts(body, plural, option->target); return true;
    case OPTION_FLAG:
        if (*(const bool *)option->target) body_put_raw(body, name, STR("true"));
        return true;
    case OPTION_COUNT:
    case OPTION_SIZE: break;
    }
    UNREACHABLE();
}

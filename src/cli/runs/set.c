// abide wf set: other values for variables of a run that waits.
//
// Values are given as PATH=JSON, behind the run. The path may hold quotes and brackets, so it ends
// at the first "=" outside of quotes.
//
// Not here: what can be set (the server says that).
#include "cli/runs/failure.h"
#include "cli/runs/wf.h"
#include "json/validate.h"

static const char *find_equals(const char *text) {
    bool is_quoted = false;
    for (; *text != 0; text++) {
        if (*text == '"') is_quoted = !is_quoted;
        if (*text == '=' && !is_quoted) return text;
    }
    return NULL;
}

static bool put_value(Body *body, Str operand) {
    const char *equals = find_equals(operand.data);
    if (equals == NULL || equals == operand.data)
        return session_misuse(body->session, "write PATH=JSON, not \"%.*s\"", STR_ARG(operand));
    Str path = {operand.data, (size_t)(equals - operand.data)};
    Str value = str_from(equals + 1);
    Diag diag;
    if (json_validate(value, &diag) != OK)
        return session_misuse(body->session, "%.*s: %s; strings have quotes: %.*s='\"text\"'",
                              STR_ARG(path), diag.message, STR_ARG(path));
    json_write_object_begin(&body->json);
    json_put_string(&body->json, "path", path);
    json_put_raw(&body->json, "value", value);
    json_write_object_end(&body->json);
    return true;
}

static bool put_values(VerbCall *call, Body *body) {
    bool is_ok = true;
    json_write_key(&body->json, STR("values"));
    json_write_array_begin(&body->json);
    for (size_t i = 1; is_ok && !str_is_null(verb_operand(call, i)); i++)
        is_ok = put_value(body, verb_operand(call, i));
    json_write_array_end(&body->json);
    if (verb_flag(call, "dry-run")) json_put_bool(&body->json, "dry_run", true);
    return is_ok;
}

static void print_changes(Session *session, const JsonValue *answer) {
    bool is_changed = false;
    Diag diag;
    if (json_get_bool(answer, "changed", &is_changed, &diag) != OK) return;
    JSON_EACH (change, json_member(answer, STR("values"))) {
        Str old = field_text(change, "old");
        Buf clean;
        buf_init(&clean, FAILURE_TEXT_MAX);
        output_clean(&clean,
                     arena_printf(&session->arena, "%.*s: %.*s -> %.*s%s",
                                  STR_ARG(field_text(change, "path")),
                                  STR_ARG(str_is_null(old) ? STR("(nothing)") : old),
                                  STR_ARG(field_text(change, "new")),
                                  is_changed ? "" : " (not done)"),
                     0);
        output_json_line(stdout, buf_str(&clean));
        buf_done(&clean);
    }
}

static void set_variables(VerbCall *call) {
    Session *session = &call->session;
    Str path = session_path(session, "/v1/runs/%s/set", verb_operand(call, 0), STR_NULL);
    Body body;
    body_begin(&body, session);
    bool is_ok = put_values(call, &body);
    Str text = body_end(&body);
    if (!is_ok || !session_post(session, path, text)) return;
    if (session->format == OUTPUT_JSON) output_json(stdout, session->answer.json);
    else print_changes(session, session->answer.json);
}

static const VerbOption options[] = {
    {"dry-run", 0, NULL, "only say what would change", VALUE_FLAG, VERB_OWN},
    {0},
};
const Verb wf_set_verb = {
    .kind = VERB_CALL,
    .usage = "abide wf set RUN PATH=JSON... [options]",
    .about = "Gives variables of a script that waits other values, or what is inside them.\nAll "
             "are set or none. Only plain data can be set; constants, functions and the like are "
             "refused.",
    .example = "abide wf set order-7 order.total=40 'order.items[0].name=\"tea\"'\n"
               "abide wf set order-7 retries=0 --dry-run",
    .options = options,
    .operand_min = 2,
    .operand_max = 101,
    .has_no_ids = true,
    .use = SESSION_CHANGES,
    .act = set_variables,
};

// abide wf try: what a run would do with answers that are made up.
//
// Answers are given as NAME=JSON. What comes back is shown in the order in which it would happen,
// then how it would stand.
//
// Not here: what happens in the sandbox (the server does that), how a run stands now (show.c).
#include "base/array.h"
#include "cli/run/files.h"
#include "cli/runs/failure.h"
#include "cli/runs/next.h"
#include "cli/runs/wf.h"
#include "json/validate.h"

// ---- the request ----

typedef struct AnswerOption { // how an option becomes answers
    const char *option, *list, *name, *value;
} AnswerOption;

enum { SOURCE_SIZE_MAX = 4 << 20 };

static const AnswerOption answer_options[] = {
    {"task", "tasks", "name", "result"},      {"fail", "tasks", "name", "error"},
    {"child", "children", "name", "result"},  {"fail-child", "children", "name", "error"},
    {"signal", "signals", "name", "payload"}, {"event", "events", "topic", "payload"},
};

// One NAME=JSON as a member of a list; NAME alone has no value.
static bool put_answer(Body *body, const AnswerOption *form, const char *text) {
    const char *equals = strchr(text, '=');
    Str name = equals != NULL ? (Str){text, (size_t)(equals - text)} : str_from(text);
    Str value = equals != NULL ? str_from(equals + 1) : STR_NULL;
    Diag diag;
    if (name.len == 0)
        return session_misuse(body->session, "--%s: write NAME=JSON, not \"%s\"", form->option,
                              text);
    if (!str_is_null(value) && json_validate(value, &diag) != OK)
        return session_misuse(body->session, "--%s %.*s: %s; strings have quotes", form->option,
                              STR_ARG(name), diag.message);
    json_write_object_begin(&body->json);
    json_put_string(&body->json, form->name, name);
    if (!str_is_null(value)) json_put_raw(&body->json, form->value, value);
    else if (strcmp(form->value, "error") == 0) json_put_cstr(&body->json, "error", "made up");
    json_write_object_end(&body->json);
    return true;
}

static bool put_each(VerbCall *call, Body *body, const AnswerOption *form) {
    const OptionTexts *texts = verb_list(call, form->option);
    for (size_t i = 0; i < texts->count; i++)
        if (!put_answer(body, form, texts->items[i])) return false;
    return true;
}

// Options of one list stand together.
static bool put_lists(VerbCall *call, Body *body) {
    bool is_ok = true;
    for (size_t i = 0; is_ok && i < COUNT_OF(answer_options); i++) {
        const char *list = answer_options[i].list;
        bool is_first = i == 0 || strcmp(list, answer_options[i - 1].list) != 0;
        bool is_last =
            i + 1 == COUNT_OF(answer_options) || strcmp(list, answer_options[i + 1].list) != 0;
        if (is_first) {
            json_write_key(&body->json, str_from(list));
            json_write_array_begin(&body->json);
        }
        is_ok = put_each(call, body, &answer_options[i]);
        if (is_last) json_write_array_end(&body->json);
    }
    return is_ok;
}

// A script that is not deployed.
static bool put_source(VerbCall *call, Body *body) {
    Str path = verb_text(call, "file");
    if (str_is_null(path)) return true;
    Buf text;
    Diag diag = {0};
    buf_init(&text, SOURCE_SIZE_MAX);
    Status status = file_read(path.data, &text, &diag);
    if (status == OK) json_put_string(&body->json, "source", buf_str(&text));
    buf_done(&text);
    return status == OK || session_fail(body->session, status, &diag);
}

static bool put_request(VerbCall *call, Body *body) {
    if (!put_lists(call, body) || !put_source(call, body)) return false;
    Str time = verb_text(call, "time");
    if (time.len > 0 && time.data[0] == '+') time = (Str){time.data + 1, time.len - 1};
    body_put_text(body, "time", time);
    body_put_text(body, "version", verb_text(call, "version"));
    Str turn = verb_text(call, "turn");
    if (!session_check_number(body->session, "turn", turn)) return false;
    body_put_raw(body, "turn", turn);
    return true;
}

// ---- the answer ----

static void print_text(Session *session, const char *label, Str text) {
    Buf clean;
    buf_init(&clean, FAILURE_TEXT_MAX);
    output_clean(&clean, text, 0);
    output_json_line(stdout, arena_printf(&session->arena, "%-10s %.*s", label, (int)clean.len,
                                          clean.data != NULL ? clean.data : ""));
    buf_done(&clean);
}

static void print_effects(Session *session, const JsonValue *trial) {
    JSON_EACH (effect, json_member(trial, STR("effects"))) {
        Str kind = field_text(effect, "kind"), name = field_text(effect, "name");
        const JsonValue *data = json_member(effect, STR("data"));
        bool is_line = str_equal(kind, STR("log")) && data->kind == JSON_KIND_STRING;
        Str shown = is_line ? data->string : next_short_json(&session->arena, data);
        bool has_name = !is_line && !str_is_null(name);
        Str text =
            arena_printf(&session->arena, "%.*s%s%.*s", has_name ? (int)name.len : 0,
                         name.data != NULL ? name.data : "", has_name ? " " : "", STR_ARG(shown));
        print_text(session, arena_str(&session->arena, kind).data, text);
    }
}

static void print_waits(Session *session, const JsonValue *trial) {
    JSON_EACH (wait, json_member(trial, STR("waits"))) {
        Str name = field_text(wait, "name"), until = field_text(wait, "until");
        print_text(session, "waits for",
                   arena_printf(&session->arena, "%.*s%s%.*s%s%.*s",
                                STR_ARG(field_text(wait, "on")), str_is_null(name) ? "" : " ",
                                STR_ARG(name), str_is_null(until) ? "" : ", until ",
                                STR_ARG(until)));
    }
}

static void print_variables(Session *session, const JsonValue *trial) {
    JSON_EACH (variable, json_member(trial, STR("variables"))) {
        Str before = field_text(variable, "before");
        print_text(session, "variable",
                   arena_printf(&session->arena, "%.*s: %.*s%s%.*s",
                                STR_ARG(field_text(variable, "name")), STR_ARG(before),
                                str_is_null(before) ? "" : " -> ",
                                STR_ARG(field_text(variable, "after"))));
    }
    JSON_EACH (unused, json_member(trial, STR("unused")))
        print_text(session, "unused", unused->string);
}

static void print_end(Session *session, const JsonValue *trial) {
    Str status = field_text(trial, "status"), reason = field_text(trial, "reason");
    const JsonValue *error = json_member(trial, STR("error"));
    Str text = status;
    if (str_equal(status, STR("completed")) || str_equal(status, STR("continued")))
        text = arena_printf(&session->arena, "%.*s: %.*s", STR_ARG(status),
                            STR_ARG(json_member(trial, STR("result"))->raw));
    else if (error->kind == JSON_KIND_OBJECT)
        text =
            arena_printf(&session->arena, "%.*s: %.*s: %.*s", STR_ARG(status),
                         STR_ARG(field_text(error, "type")), STR_ARG(field_text(error, "message")));
    else if (!str_is_null(reason))
        text = arena_printf(&session->arena, "%.*s: %.*s", STR_ARG(status), STR_ARG(reason));
    print_text(session, "would be", text);
}

static void try_run(VerbCall *call) {
    Session *session = &call->session;
    Str path = session_path(session, "/v1/runs/%s/try", verb_operand(call, 0), STR_NULL);
    Body body;
    body_begin(&body, session);
    bool is_ok = put_request(call, &body);
    Str text = body_end(&body);
    if (!is_ok || !session_post(session, path, text)) return;
    const JsonValue *trial = session->answer.json;
    if (session->format == OUTPUT_JSON) {
        output_json(stdout, trial);
        return;
    }
    print_effects(session, trial);
    print_end(session, trial);
    print_waits(session, trial);
    print_variables(session, trial);
}

static const VerbOption options[] = {
    {"task", 't', "NAME=JSON", "the result of a task, whenever the run asks for it", VALUE_LIST,
     VERB_OWN},
    {"fail", 0, "NAME[=JSON]", "a task fails, with this error", VALUE_LIST, VERB_OWN},
    {"child", 0, "NAME=JSON", "the result of a child workflow, likewise", VALUE_LIST, VERB_OWN},
    {"fail-child", 0, "NAME[=JSON]", "a child workflow fails, with this error", VALUE_LIST,
     VERB_OWN},
    {"signal", 's', "NAME[=JSON]", "a signal, once", VALUE_LIST, VERB_OWN},
    {"event", 'e', "TOPIC[=JSON]", "an event, once", VALUE_LIST, VERB_OWN},
    {"time", 0, "DURATION", "let so much time pass, such as +2d", VALUE_TEXT, VERB_OWN},
    {"turn", 0, "N", "begin as this kept turn began (abide wf turns)", VALUE_NUMBER, VERB_OWN},
    {"version", 0, "VERSION", "put the copy on this version first, or on the current one",
     VALUE_TEXT, VERB_OWN},
    {"file", 'f', "FILE", "the same with a script that is not deployed", VALUE_TEXT, VERB_OWN},
    {0},
};
const Verb wf_try_verb = {
    .kind = VERB_CALL,
    .usage = "abide wf try RUN [options]",
    .about =
        "Says what a run would do next with these answers. A copy of it goes on in a sandbox:\n"
        "nothing is written, no task leaves, and the run itself stays as it is.",
    .example = "abide wf try order-7 --signal approved=true --task ship='\"parcel\"'\n"
               "abide wf try order-7 --time +2d\n"
               "abide wf try order-7 --turn 3 --file repaired.flow",
    .options = options,
    .operand_min = 1,
    .operand_max = 1,
    .has_no_ids = true,
    .act = try_run,
};

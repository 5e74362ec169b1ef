// Answers: what somebody says would come, from JSON.
//
// HTTP and C give the same object, so it is read and refused here, in the same words.
//
// Not here: which answer is given when (sandbox.c).
#include "base/array.h"
#include "base/limits.h"
#include "base/text/name.h"
#include "engine/sandbox/internal.h"
#include "json/value.h"

static Status check_members(const JsonValue *object, const char *const *names, Diag *diag) {
    JSON_EACH (member, object) {
        bool is_known = false;
        for (const char *const *name = names; *name && !is_known; name++)
            is_known = str_equal(member->key, str_from(*name));
        if (!is_known)
            return diag_set(diag, ERR_INVALID, "UNKNOWN_FIELD", "there is no field \"%.*s\" here",
                            STR_ARG(member->key));
    }
    return OK;
}

typedef struct AnswerForm { // how one kind of answer is written
    const char *list, *name, *value;
    SandboxAnswerKind kind;
    const char *members[4];
} AnswerForm;

static const AnswerForm forms[] = {
    {"tasks", "name", "result", ANSWER_TASK, {"name", "result", "error", NULL}},
    {"children", "name", "result", ANSWER_CHILD, {"name", "result", "error", NULL}},
    {"signals", "name", "payload", ANSWER_SIGNAL, {"name", "payload", NULL}},
    {"events", "topic", "payload", ANSWER_EVENT, {"topic", "payload", NULL}},
};

static Status read_answer(const AnswerForm *form, const JsonValue *item, SandboxAnswer *ret,
                          Diag *diag) {
    *ret = (SandboxAnswer){.kind = form->kind};
    if (item->kind != JSON_KIND_OBJECT)
        return diag_set(diag, ERR_INVALID, "BAD_FIELD", "%s: each is an object with %s and %s",
                        form->list, form->name, form->value);
    TRY(check_members(item, form->members, diag));
    TRY(json_get_string(item, form->name, &ret->name, diag));
    TRY(name_check(ret->name, form->name, "BAD_NAME", LIMIT_NAME_SIZE, diag));
    json_get_raw(item, form->value, &ret->json);
    if (!json_has(item, "error")) return OK;
    if (!str_is_null(ret->json))
        return diag_set(diag, ERR_INVALID, "BAD_FIELD",
                        "%s: one has a result or an error, not both", form->list);
    json_get_raw(item, "error", &ret->json);
    ret->is_error = true;
    return OK;
}

static Status read_start(const JsonValue *object, SandboxStart *ret_start, Diag *diag) {
    TRY(json_get_i64(object, "turn", &ret_start->turn, diag));
    TRY(json_get_string(object, "version", &ret_start->version, diag));
    TRY(json_get_string(object, "source", &ret_start->source, diag));
    bool has_turn = json_has(object, "turn");
    if (has_turn && ret_start->turn < 1)
        return diag_set(diag, ERR_INVALID, "BAD_FIELD", "turn: they count from 1");
    if (!str_is_null(ret_start->version) && !str_is_null(ret_start->source))
        return diag_set(diag, ERR_INVALID, "BAD_FIELD", "source: it does not go with version");
    return OK;
}

Status sandbox_read_answers(Arena *arena, const JsonValue *object, SandboxAnswers *ret_answers,
                            Diag *diag) {
    static const char *const members[] = {"tasks", "children", "signals", "events", "time",
                                          "turn",  "version",  "source",  NULL};
    *ret_answers =
        (SandboxAnswers){.items = ARENA_ARRAY(arena, SandboxAnswer, SANDBOX_ANSWERS_MAX)};
    TRY(check_members(object, members, diag));
    TRY(read_start(object, &ret_answers->start, diag));
    TRY(json_get_duration_ms(object, "time", &ret_answers->time_ms, diag));
    for (size_t i = 0; i < COUNT_OF(forms); i++) {
        const JsonValue *list = NULL;
        TRY(json_get_array(object, forms[i].list, &list, diag));
        if (list == NULL) continue;
        JSON_EACH (item, list) {
            if (ret_answers->count == SANDBOX_ANSWERS_MAX)
                return diag_set(diag, ERR_INVALID, "BAD_FIELD", "at most %d answers may be given",
                                SANDBOX_ANSWERS_MAX);
            TRY(read_answer(&forms[i], item, &ret_answers->items[ret_answers->count++], diag));
        }
    }
    return OK;
}

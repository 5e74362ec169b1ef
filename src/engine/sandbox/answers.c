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
    if (form->kind != ANSWER_TASK || !json_has(item, "error")) return OK;
    if (!str_is_null(ret->json))
        return diag_set(diag, ERR_INVALID, "BAD_FIELD",
                        "tasks: one has a result or an error, not both");
    json_get_raw(item, "error", &ret->json);
    ret->is_error = true;
    return OK;
}

Status sandbox_read_answers(Arena *arena, const JsonValue *object, SandboxAnswers *ret_answers,
                            Diag *diag) {
    static const char *const members[] = {"tasks", "signals", "events", "time", NULL};
    *ret_answers =
        (SandboxAnswers){.items = ARENA_ARRAY(arena, SandboxAnswer, SANDBOX_ANSWERS_MAX)};
    TRY(check_members(object, members, diag));
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

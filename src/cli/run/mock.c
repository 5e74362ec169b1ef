// Mocks: reading the file, and the functions that answer from it.
//
// Answers are counted per name for the whole process, over all runs: a list reads like a script of
// what the outside world will say, in order. Invariants [mock-1]-[mock-5] are in run/mock.h.
//
// Not here: when a signal is sent (run/session.c).
#include "cli/run/mock.h"

typedef struct MockAnswer { // one entry, taken apart
    bool is_error;
    bool is_exhausted; // the list has no more entries
    Str json;          // the result
    const JsonValue *error;
} MockAnswer;

// ---- reading ----

static const JsonValue *only_member(const JsonValue *value, const char *name) {
    if (value->kind != JSON_KIND_OBJECT || value->count != 1) return NULL;
    return json_member(value, str_from(name));
}

static bool is_never(const JsonValue *answer) {
    const JsonValue *never = only_member(answer, "never");
    return never != NULL && never->kind == JSON_KIND_BOOL && never->boolean;
}

// [mock-4]
static const JsonValue *first_alternative(const JsonValue *answer) {
    const JsonValue *any = only_member(answer, "any");
    if (any == NULL || any->kind != JSON_KIND_ARRAY || any->count == 0) return answer;
    JSON_EACH (alternative, any)
        if (!is_never(alternative)) return alternative;
    return any->first;
}

static Status check_answer(const JsonValue *member, const JsonValue *given, MockKind kind,
                           Diag *diag) {
    const JsonValue *answer = first_alternative(given);
    const JsonValue *error = only_member(answer, "error");
    if (is_never(answer) && kind != MOCK_SIGNAL)
        return diag_set(diag, ERR_INVALID, "BAD_MOCK",
                        "\"%.*s\": what never answers can be tried with abide sim only",
                        STR_ARG(member->key));
    if (error == NULL) return OK;
    if (kind == MOCK_SIGNAL)
        return diag_set(diag, ERR_INVALID, "BAD_MOCK", "\"%.*s\": a signal cannot be an error",
                        STR_ARG(member->key));
    if (error->kind != JSON_KIND_OBJECT)
        return diag_set(diag, ERR_INVALID, "BAD_MOCK",
                        "\"%.*s\": error must be an object like {\"type\": …, \"message\": …}",
                        STR_ARG(member->key));
    Str text = STR_NULL;
    bool is_final = false;
    TRY(json_get_string(error, "type", &text, diag));
    TRY(json_get_string(error, "message", &text, diag));
    return json_get_bool(error, "final", &is_final, diag);
}

static Status read_mock(Arena *arena, const JsonValue *member, Mock *ret_mock, Diag *diag) {
    static const Str workflow_prefix = STR("workflow:"), signal_prefix = STR("signal:");
    Str name = member->key;
    ret_mock->kind = MOCK_TASK;
    size_t skipped = 0;
    if (str_starts_with(name, workflow_prefix)) {
        ret_mock->kind = MOCK_WORKFLOW;
        skipped = workflow_prefix.len;
    } else if (str_starts_with(name, signal_prefix)) {
        ret_mock->kind = MOCK_SIGNAL;
        skipped = signal_prefix.len;
    }
    ret_mock->name = arena_cstr(arena, (Str){name.data + skipped, name.len - skipped});
    ret_mock->answers = member;
    atomic_init(&ret_mock->call_count, 0);
    if (member->kind != JSON_KIND_ARRAY) return check_answer(member, member, ret_mock->kind, diag);
    JSON_EACH (answer, member) TRY(check_answer(member, answer, ret_mock->kind, diag));
    return OK;
}

// [mock-5]
static bool is_for_sim(const JsonValue *member) {
    bool is_signal = str_starts_with(member->key, STR("signal:"));
    return str_starts_with(member->key, STR("check:")) ||
           str_starts_with(member->key, STR("event:")) ||
           (is_signal && (only_member(member, "maybe") != NULL || is_never(member)));
}

Status mocks_parse(Arena *arena, Str text, Mocks *ret_mocks, Diag *diag) {
    JsonValue *object;
    TRY(json_parse(arena, text, &object, diag));
    if (object->kind != JSON_KIND_OBJECT)
        return diag_set(diag, ERR_INVALID, "BAD_MOCK",
                        "mocks are an object: task name, workflow:NAME or signal:NAME to answer");
    *ret_mocks = (Mocks){.items = ARENA_ARRAY(arena, Mock, object->count + 1)};
    JSON_EACH (member, object)
        if (!is_for_sim(member))
            TRY(read_mock(arena, member, &ret_mocks->items[ret_mocks->count++], diag));
    return OK;
}

// ---- answering ----

static MockAnswer answer_at(const Mock *mock, unsigned number) {
    const JsonValue *answer = mock->answers;
    if (answer->kind == JSON_KIND_ARRAY) answer = json_item(answer, number); // [mock-1]
    if (answer == NULL) return (MockAnswer){.is_exhausted = true};
    answer = first_alternative(answer);
    const JsonValue *error = only_member(answer, "error"); // [mock-2]
    const JsonValue *result = only_member(answer, "result");
    if (error != NULL) return (MockAnswer){.is_error = true, .error = error};
    return (MockAnswer){.json = result != NULL ? result->raw : answer->raw};
}

static MockAnswer next_answer(Mock *mock) {
    return answer_at(mock, atomic_fetch_add(&mock->call_count, 1));
}

typedef struct MockError {
    Str type, message;
    bool is_final;
} MockError;

static MockError error_of(const MockAnswer *answer) {
    MockError error = {.type = STR("Error"), .message = STR("a mock failed")};
    Diag diag;
    Status status = json_get_string(answer->error, "type", &error.type, &diag);
    if (status == OK) status = json_get_string(answer->error, "message", &error.message, &diag);
    if (status == OK) status = json_get_bool(answer->error, "final", &error.is_final, &diag);
    ASSERT(status == OK); // the file was checked
    return error;
}

size_t mocks_find(const Mocks *mocks, MockKind kind, Str name) {
    for (size_t i = 0; i < mocks->count; i++)
        if (mocks->items[i].kind == kind && str_equal(name, str_from(mocks->items[i].name)))
            return i;
    return SIZE_MAX;
}

void mocks_reply(const Mocks *mocks, size_t index, unsigned call, MockReply *ret_reply) {
    MockAnswer answer = answer_at(&mocks->items[index], call);
    *ret_reply = (MockReply){.is_exhausted = answer.is_exhausted, .json = answer.json};
    if (!answer.is_error) return;
    MockError error = error_of(&answer);
    *ret_reply = (MockReply){.is_error = true,
                             .is_final = error.is_final,
                             .json = answer.error->raw,
                             .type = error.type,
                             .message = error.message};
}

static int answer_task(abide_call *call, const char *input) {
    (void)input;
    Mock *mock = abide_call_user_data(call);
    MockAnswer answer = next_answer(mock);
    if (answer.is_exhausted)
        return abide_throw_final(call, "MockError",
                                 abide_call_printf(call,
                                                   "the mock of task \"%s\" has %u answers, and "
                                                   "this is one call more",
                                                   mock->name, mock->answers->count));
    if (!answer.is_error)
        return abide_return(call, abide_call_printf(call, "%.*s", STR_ARG(answer.json)));
    MockError error = error_of(&answer);
    const char *type = abide_call_printf(call, "%.*s", STR_ARG(error.type));
    const char *message = abide_call_printf(call, "%.*s", STR_ARG(error.message));
    const char *details = abide_call_printf(call, "%.*s", STR_ARG(answer.error->raw));
    return abide_throw_with(call, type, message, details, error.is_final);
}

static int answer_workflow(abide_ctx *ctx, const char *input) {
    (void)input;
    Mock *mock = abide_user_data(ctx);
    MockAnswer answer = next_answer(mock);
    if (answer.is_exhausted)
        return abide_fail_with(ctx, "MockError",
                               abide_printf(ctx,
                                            "the mock of workflow \"%s\" has %u answers, and this "
                                            "is one run more",
                                            mock->name, mock->answers->count));
    if (!answer.is_error)
        return abide_complete(ctx, abide_printf(ctx, "%.*s", STR_ARG(answer.json)));
    MockError error = error_of(&answer);
    return abide_fail_with(ctx, abide_printf(ctx, "%.*s", STR_ARG(error.type)),
                           abide_printf(ctx, "%.*s", STR_ARG(error.message)));
}

int mocks_register(Mocks *mocks, abide_engine *engine, abide_error *error) {
    for (size_t i = 0; i < mocks->count; i++) {
        Mock *mock = &mocks->items[i];
        int code = ABIDE_OK;
        if (mock->kind == MOCK_TASK)
            code = abide_replace_task(engine, mock->name, answer_task, mock, error);
        else if (mock->kind == MOCK_WORKFLOW)
            code = abide_mock_workflow(engine, mock->name, answer_workflow, mock, error);
        if (code != ABIDE_OK) return code;
    }
    return ABIDE_OK;
}

Str mocks_next_signal(Mocks *mocks, Str name) {
    for (size_t i = 0; i < mocks->count; i++) {
        Mock *mock = &mocks->items[i];
        if (mock->kind != MOCK_SIGNAL || !str_equal(name, str_from(mock->name))) continue;
        return next_answer(mock).json; // null when exhausted
    }
    return STR_NULL;
}

// fail: a task that goes wrong on purpose, to try out what a flow does then.
//
// {message?, type?, times?, retryable?}: fails every attempt, or with `times` the first so many;
// the attempt after those answers its own number. Not retryable: the first failure is final.
// The count of attempts is the engine's, so it survives crashes, and nothing is kept here.
#include "tasks/tasks.h"

typedef struct FailInput {
    Str message, type;
    int64_t times; // INT64_MAX: always
    bool is_retryable;
} FailInput;

static Status read_input(Arena *arena, const char *input, FailInput *ret, Diag *diag) {
    static const char *const names[] = {"message", "type", "times", "retryable", NULL};
    const JsonValue *object;
    *ret =
        (FailInput){.message = STR("failed on purpose"), .type = STR("Error"), .times = INT64_MAX};
    ret->is_retryable = true;
    if (input == NULL || strcmp(input, "null") == 0) return OK;
    TRY(task_input(arena, input, names, &object, diag));
    TRY(json_get_string(object, "message", &ret->message, diag));
    TRY(json_get_string(object, "type", &ret->type, diag));
    TRY(json_get_i64(object, "times", &ret->times, diag));
    TRY(json_get_bool(object, "retryable", &ret->is_retryable, diag));
    if (ret->times < 0) return diag_set(diag, ERR_INVALID, "TASK_INPUT", "times is negative");
    return OK;
}

int task_fail(abide_call *call, const char *input) {
    Arena arena;
    Diag diag;
    FailInput wanted;
    arena_init(&arena);
    int code;
    if (read_input(&arena, input, &wanted, &diag) != OK) {
        code = task_refuse(call, &diag);
    } else if (abide_call_attempt(call) > wanted.times) {
        code = abide_return(call, abide_call_printf(call, "%d", abide_call_attempt(call)));
    } else {
        const char *type = arena_cstr(&arena, wanted.type);
        const char *message = arena_cstr(&arena, wanted.message);
        code = wanted.is_retryable ? abide_throw(call, type, message)
                                   : abide_throw_final(call, type, message);
    }
    arena_done(&arena);
    return code;
}

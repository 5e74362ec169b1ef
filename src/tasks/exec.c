// exec: a command as a task; off unless the embedding program allows it.
//
// {argv: […], input?, cwd?, env?, timeout?, maxBytes?}: `input` goes to the command as JSON; what
// it prints is the result when it is JSON, else {"stdout": text}. An exit status other than 0 is an
// ExecError with the status and the end of the standard error.
//
//   [exec-6] Of our environment the command sees only the names in `passed`; secrets of the server
//        do not leak into it.
//
// Not here: processes (process.c).
#include "tasks/exec.h"
#include "base/array.h"
#include "base/limits.h"
#include "json/validate.h"
#include "json/write.h"
#include "tasks/tasks.h"
#include <stdlib.h>

enum {
    TIMEOUT_DEFAULT_MS = 60000,
    BYTES_DEFAULT = 1 << 20,
    ARGUMENTS_MAX = 1000,
};

typedef struct ExecInput {
    ProcessSpec process;
    int64_t max_bytes;
} ExecInput;

static Status refuse(Diag *diag, const char *message) {
    return diag_set(diag, ERR_INVALID, "TASK_INPUT", "%s", message);
}

// The text of a JSON string as a C string; a NUL inside would cut it short unseen.
static Status to_text(Arena *arena, const JsonValue *value, const char *what, char **ret_text,
                      Diag *diag) {
    if (value->kind != JSON_KIND_STRING)
        return diag_set(diag, ERR_INVALID, "TASK_INPUT", "%s must hold strings", what);
    if (memchr(value->string.data, 0, value->string.len) != NULL)
        return diag_set(diag, ERR_INVALID, "TASK_INPUT", "%s holds a NUL character", what);
    *ret_text = arena_cstr(arena, value->string);
    return OK;
}

static Status read_argv(Arena *arena, const JsonValue *object, char ***ret_argv, Diag *diag) {
    const JsonValue *list = NULL;
    TRY(json_get_array(object, "argv", &list, diag));
    if (list == NULL || list->count == 0)
        return refuse(diag, "argv must be a list: the program, then its arguments");
    if (list->count > ARGUMENTS_MAX) return refuse(diag, "argv has more than 1000 items");
    char **argv = ARENA_ARRAY(arena, char *, list->count + 1);
    size_t count = 0;
    JSON_EACH (item, list) TRY(to_text(arena, item, "argv", &argv[count++], diag));
    if (argv[0][0] == 0) return refuse(diag, "argv names no program");
    *ret_argv = argv;
    return OK;
}

static Status read_environment(Arena *arena, const JsonValue *object, char ***ret_list,
                               Diag *diag) {
    static const char *const passed[] = {"PATH", "HOME", "USER",
                                         "LANG", "TZ",   "TMPDIR"}; // [exec-6]
    enum { PASSED_COUNT = COUNT_OF(passed) };
    const JsonValue *given = NULL;
    TRY(json_get_object(object, "env", &given, diag));
    size_t count = 0, given_count = given != NULL ? given->count : 0;
    char **list = ARENA_ARRAY(arena, char *, PASSED_COUNT + given_count + 1);
    for (size_t i = 0; i < PASSED_COUNT; i++) {
        const char *value = getenv(passed[i]);
        if (value == NULL || json_member(given, str_from(passed[i])) != NULL) continue;
        Str line = arena_printf(arena, "%s=%s", passed[i], value);
        list[count++] = arena_cstr(arena, line);
    }
    *ret_list = list;
    if (given == NULL) return OK;
    JSON_EACH (member, given) {
        char *value;
        TRY(to_text(arena, member, "env", &value, diag));
        bool has_mark = memchr(member->key.data, '=', member->key.len) != NULL ||
                        memchr(member->key.data, 0, member->key.len) != NULL;
        if (member->key.len == 0 || has_mark) return refuse(diag, "env has a name that is none");
        Str line = arena_printf(arena, "%.*s=%s", STR_ARG(member->key), value);
        list[count++] = arena_cstr(arena, line);
    }
    return OK;
}

static Status read_input(Arena *arena, const char *input, ExecInput *ret, Diag *diag) {
    static const char *const names[] = {"argv", "input", "cwd", "env", "timeout", "maxBytes", NULL};
    const JsonValue *object;
    Str input_json = STR_NULL;
    *ret = (ExecInput){.process.timeout_ms = TIMEOUT_DEFAULT_MS, .max_bytes = BYTES_DEFAULT};
    TRY(task_input(arena, input, names, &object, diag));
    TRY(read_argv(arena, object, &ret->process.argv, diag));
    TRY(read_environment(arena, object, &ret->process.environment, diag));
    json_get_raw(object, "input", &input_json);
    ret->process.input = str_is_null(input_json) ? STR("") : input_json;
    const JsonValue *cwd = json_member(object, STR("cwd"));
    char *folder = NULL;
    if (cwd != NULL && cwd->kind != JSON_KIND_NULL) TRY(to_text(arena, cwd, "cwd", &folder, diag));
    ret->process.cwd = folder;
    TRY(json_get_duration_ms(object, "timeout", &ret->process.timeout_ms, diag));
    TRY(json_get_i64(object, "maxBytes", &ret->max_bytes, diag));
    if (ret->process.timeout_ms < 1) return refuse(diag, "timeout must be at least 1ms");
    if (ret->max_bytes < 0 || ret->max_bytes > LIMIT_PAYLOAD_SIZE)
        return refuse(diag, "maxBytes must be between 0 and 4194304");
    return OK;
}

// ---- the answer ----

static int fail(abide_call *call, const ProcessEnd *end, const char *code, const char *message) {
    Buf details;
    JsonWriter writer;
    buf_init(&details, LIMIT_ERROR_SIZE);
    json_writer_init(&writer, &details, STR_NULL);
    json_write_object_begin(&writer);
    if (code != NULL) json_put_cstr(&writer, "code", code);
    if (end->exit_status >= 0) json_put_i64(&writer, "status", end->exit_status);
    if (end->signal != 0) json_put_i64(&writer, "signal", end->signal);
    json_put_string(&writer, "stderr", (Str){end->tail, end->tail_len});
    json_write_object_end(&writer);
    bool is_final = end->is_too_loud; // it would print as much again
    int answered = abide_throw_with(call, "ExecError", message, buf_cstr(&details), is_final);
    buf_done(&details);
    return answered;
}

static int answer(abide_call *call, const Buf *output) {
    Str text = str_trim(buf_str(output));
    Diag diag;
    Buf json;
    buf_init(&json, 2 * (size_t)LIMIT_PAYLOAD_SIZE);
    if (text.len > 0 && json_validate(text, &diag) == OK) {
        buf_append_str(&json, text);
    } else {
        JsonWriter writer;
        json_writer_init(&writer, &json, STR_NULL);
        json_write_object_begin(&writer);
        json_put_string(&writer, "stdout", buf_str(output));
        json_write_object_end(&writer);
    }
    int code = abide_return(call, buf_cstr(&json)); // refuses what is too large for a result
    buf_done(&json);
    return code;
}

static int sort_out(abide_call *call, const ExecInput *wanted, const Buf *output,
                    const ProcessEnd *end) {
    const char *program = wanted->process.argv[0];
    if (end->is_too_loud)
        return fail(call, end, "OUTPUT_TOO_LARGE",
                    abide_call_printf(call, "%s printed more than %lld bytes", program,
                                      (long long)wanted->max_bytes));
    if (end->is_late)
        return fail(call, end, "TIMEOUT",
                    abide_call_printf(call, "%s did not end within %lld ms and was killed", program,
                                      (long long)wanted->process.timeout_ms));
    if (end->signal != 0)
        return fail(call, end, "SIGNAL",
                    abide_call_printf(call, "%s was ended by signal %d", program, end->signal));
    if (end->exit_status != 0)
        return fail(call, end, NULL,
                    abide_call_printf(call, "%s ended with status %d", program, end->exit_status));
    return answer(call, output);
}

int task_exec(abide_call *call, const char *input) {
    const TaskSettings *settings = abide_call_user_data(call);
    if (!settings->is_exec_allowed)
        return abide_throw_final(call, "ExecDisabledError",
                                 "exec is off; the setting allow_exec turns it on");
    Arena arena;
    Diag diag;
    ExecInput wanted;
    ProcessEnd end;
    Buf output;
    arena_init(&arena);
    int code;
    if (read_input(&arena, input, &wanted, &diag) != OK) {
        code = task_refuse(call, &diag);
    } else {
        buf_init(&output, (size_t)wanted.max_bytes);
        Status status = process_run(&wanted.process, &output, &end, &diag);
        if (status == OK) code = sort_out(call, &wanted, &output, &end);
        else if (status == ERR_NOT_FOUND) code = abide_throw_final(call, "ExecError", diag.message);
        else code = abide_throw(call, "ExecError", diag.message);
        buf_done(&output);
    }
    arena_done(&arena);
    return code;
}

// The built-in tasks as a set: registering them, and what their inputs have in common.
//
// Their settings are one block, handed to each as user data and given back when the engine closes,
// so that callers need not keep theirs.
//
// Not here: what each of them does (http.c, exec.c, log.c, fail.c).
#include "base/memory.h"
#include "tasks/tasks.h"
#include <stdio.h>

Status task_input(Arena *arena, const char *input, const char *const *names,
                  const JsonValue **ret_object, Diag *diag) {
    JsonValue *value;
    if (input == NULL)
        return diag_set(diag, ERR_INVALID, "TASK_INPUT", "the task needs an object as its input");
    TRY(json_parse(arena, str_from(input), &value, diag));
    if (value->kind != JSON_KIND_OBJECT)
        return diag_set(diag, ERR_INVALID, "TASK_INPUT",
                        "the task needs an object as its input, not a value of type %s",
                        json_kind_name(value->kind));
    if (names != NULL) TRY(json_allow_only(value, names, diag));
    *ret_object = value;
    return OK;
}

int task_refuse(abide_call *call, const Diag *diag) {
    const char *message = abide_call_printf(call, "%s: %s", abide_call_name(call), diag->message);
    return abide_throw_final(call, "TaskInputError", message);
}

static void log_to_stderr(void *user, int level, const char *line) {
    (void)user;
    (void)level;
    fprintf(stderr, "%s\n", line);
}

int abide_register_builtin_tasks(abide_engine *engine, const abide_builtin_options *options,
                                 abide_error *error) {
    static const struct {
        const char *name;
        abide_call_fn function;
    } tasks[] = {
        {"http", task_http}, {"exec", task_exec}, {"log", task_log}, {"fail", task_fail}};
    TaskSettings *settings = mem_zalloc(sizeof(TaskSettings));
    settings->on_log = log_to_stderr;
    if (options != NULL) {
        settings->is_exec_allowed = options->allow_exec != 0;
        settings->is_private_allowed = options->allow_private != 0;
        if (options->on_log != NULL) settings->on_log = options->on_log;
        settings->user = options->user;
    }
    int code = abide_on_close(engine, mem_free, settings, error);
    if (code != ABIDE_OK) {
        mem_free(settings);
        return code;
    }
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks && code == ABIDE_OK; i++)
        code = abide_register_task(engine, tasks[i].name, tasks[i].function, settings, error);
    return code;
}

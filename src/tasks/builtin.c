// The built-in tasks as a set: registering them, and what their inputs have in common.
//
// Their settings are one block, handed to each as user data and given back when the engine closes,
// so that callers need not keep theirs.
//
// Not here: what each of them does (http.c, exec.c, log.c, fail.c).
#include "base/array.h"
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

// "10.1.0.0/16, 127.0.0.2"
static Status read_addresses(const char *text, TaskSettings *settings, Diag *diag) {
    Str rest = str_from(text);
    while (rest.len > 0) {
        const char *comma = memchr(rest.data, ',', rest.len);
        size_t len = comma != NULL ? (size_t)(comma - rest.data) : rest.len;
        Str item = str_trim((Str){rest.data, len});
        size_t step = comma != NULL ? len + 1 : len;
        rest = (Str){rest.data + step, rest.len - step};
        if (settings->allowed_count == ADDRESS_BLOCKS_MAX)
            return diag_set(diag, ERR_LIMIT, "BAD_ADDRESS", "allow_addresses has more than %d",
                            ADDRESS_BLOCKS_MAX);
        TRY(address_block_parse(item, &settings->allowed[settings->allowed_count++], diag));
    }
    return OK;
}

static int refuse_options(abide_error *error, const Diag *diag) {
    if (error == NULL) return ABIDE_INVALID;
    *error = (abide_error){.code = ABIDE_INVALID};
    snprintf(error->name, sizeof error->name, "%s", diag->code);
    snprintf(error->message, sizeof error->message, "%s", diag->message);
    return ABIDE_INVALID;
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
    } tasks[] = {{"http", task_http}, {"exec", task_exec}, {"log", task_log}, {"fail", task_fail}};
    TaskSettings *settings = mem_zalloc(sizeof(TaskSettings));
    settings->on_log = log_to_stderr;
    if (options != NULL) {
        settings->is_exec_allowed = options->allow_exec != 0;
        settings->is_private_allowed = options->allow_private != 0;
        if (options->on_log != NULL) settings->on_log = options->on_log;
        settings->user = options->user;
    }
    Diag diag;
    const char *allowed = options != NULL ? options->allow_addresses : NULL;
    if (allowed != NULL && read_addresses(allowed, settings, &diag) != OK) {
        mem_free(settings);
        return refuse_options(error, &diag);
    }
    int code = abide_on_close(engine, mem_free, settings, error);
    if (code != ABIDE_OK) {
        mem_free(settings);
        return code;
    }
    for (size_t i = 0; i < COUNT_OF(tasks) && code == ABIDE_OK; i++)
        code = abide_register_task(engine, tasks[i].name, tasks[i].function, settings, error);
    return code;
}

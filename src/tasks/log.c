// log: a line for people, as a task.
//
// {level?, message, …}: further members are appended to the line as JSON. A bare string is a
// message. Unlike console.log, which belongs to the run's own log, the line goes where the
// embedding program sends it (abide_builtin_options.on_log; standard error by default).
#include "base/log.h"
#include "json/write.h"
#include "tasks/tasks.h"

enum { LINE_MAX = 64 << 10 };

static Status level_of(Str name, int *ret_level, Diag *diag) {
    static const char *const names[] = {"debug", "info", "warn", "error"};
    for (int i = 0; i < 4; i++) {
        if (!str_equal(name, str_from(names[i]))) continue;
        *ret_level = i;
        return OK;
    }
    return diag_set(diag, ERR_INVALID, "TASK_INPUT",
                    "level is \"%.*s\"; debug, info, warn and error are known", STR_ARG(name));
}

static void append_rest(Buf *line, const JsonValue *object) {
    JsonWriter writer;
    bool has_rest = false;
    JSON_EACH (member, object) {
        bool is_level = str_equal(member->key, STR("level"));
        if (is_level || str_equal(member->key, STR("message"))) continue;
        if (!has_rest) {
            buf_append_char(line, ' ');
            json_writer_init(&writer, line, STR_NULL);
            json_write_object_begin(&writer);
        }
        has_rest = true;
        json_write_key(&writer, member->key);
        json_write_raw(&writer, member->raw);
    }
    if (has_rest) json_write_object_end(&writer);
}

static Status make_line(Arena *arena, const char *input, Buf *line, int *ret_level, Diag *diag) {
    JsonValue *value;
    TRY(json_parse(arena, input != NULL ? str_from(input) : STR("null"), &value, diag));
    if (value->kind == JSON_KIND_STRING) {
        buf_append_str(line, value->string);
        return OK;
    }
    static const char *const required[] = {"message", NULL};
    Str level = STR("info"), message = STR_NULL;
    const JsonValue *object;
    TRY(task_input(arena, input, NULL, &object, diag));
    TRY(json_require(object, required, diag));
    TRY(json_get_string(object, "level", &level, diag));
    TRY(json_get_string(object, "message", &message, diag));
    TRY(level_of(level, ret_level, diag));
    buf_append_str(line, message);
    append_rest(line, object);
    return OK;
}

int task_log(abide_call *call, const char *input) {
    const TaskSettings *settings = abide_call_user_data(call);
    Arena arena;
    Buf line;
    Diag diag;
    int level = 1;
    arena_init(&arena);
    buf_init(&line, LINE_MAX); // [tasks-tasks-2] a longer line is cut
    int code;
    if (make_line(&arena, input, &line, &level, &diag) != OK) {
        code = task_refuse(call, &diag);
    } else {
        (void)buf_cstr(&line); // ends it
        log_clean(line.data);  // a flow's text must not forge lines
        settings->on_log(settings->user, level, line.data);
        code = abide_return(call, "null");
    }
    buf_done(&line);
    arena_done(&arena);
    return code;
}

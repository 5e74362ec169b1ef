// A program per task: JSON on its standard input and output, lines of its standard error in the
// log. docs/workers.md is what users read about it.
//
//   exit 0     the result is what it wrote; nothing is null
//   exit 100   failed, and trying again cannot help
//   else       failed; an object with a "message" on stdout is the error, otherwise one is made of
//              the exit status and the end of its standard error
//
// Not here: claiming and telling (worker/loop.c), running a process (tasks/process.c).
#include "base/array.h"
#include "base/limits.h"
#include "base/text/utf.h"
#include "cli/worker/worker.h"
#include "json/validate.h"
#include "json/write.h"
#include "tasks/exec.h"

enum {
    EXIT_FINAL = 100,
    LINE_MAX_SIZE = 4096,
    ERROR_TEXT_MAX = 60 << 10,
    MESSAGE_TAIL = 300, // bytes of the standard error that an error's message repeats
    VARIABLES_MAX = 10
};

static const int64_t FOREVER_MS = (int64_t)1 << 50;

extern char **environ;

// ---- what the program is given ----

static char **make_environment(const ProgramConfig *config, Job *job) {
    Arena *arena = &job->arena;
    size_t count = 0, used = 0;
    while (environ[count] != NULL) count++;
    char **variables = ARENA_ARRAY(arena, char *, count + VARIABLES_MAX);
    const struct {
        const char *name;
        Str value;
    } added[] = {
        {"ABIDE_TASK_ID", job->id},
        {"ABIDE_TASK_NAME", job->name},
        {"ABIDE_QUEUE", job->queue},
        {"ABIDE_ATTEMPT", arena_printf(arena, "%lld", (long long)job->attempt)},
        {"ABIDE_RUN_ID", job->run_id},
        {"ABIDE_STEP",
         job->step < 0 ? STR_NULL : arena_printf(arena, "%lld", (long long)job->step)},
        {"ABIDE_WORKER", config->worker},
        {"TRACEPARENT", job->traceparent},
        {"TRACESTATE", job->tracestate},
    };
    const size_t added_count = COUNT_OF(added);
    _Static_assert(COUNT_OF(added) < VARIABLES_MAX, "the list has to end");
    for (size_t i = 0; i < count; i++) {
        bool is_ours = false;
        for (size_t j = 0; j < added_count && !is_ours; j++) {
            size_t len = strlen(added[j].name);
            is_ours = strncmp(environ[i], added[j].name, len) == 0 && environ[i][len] == '=';
        }
        if (!is_ours) variables[used++] = environ[i];
    }
    for (size_t j = 0; j < added_count; j++) {
        if (str_is_null(added[j].value)) continue;
        Str text = arena_printf(arena, "%s=%.*s", added[j].name, STR_ARG(added[j].value));
        variables[used++] = arena_cstr(arena, text);
    }
    return variables;
}

// ---- its standard error ----

typedef struct Lines { // cut into lines for the log
    const ProgramConfig *config;
    const Job *job;
    Buf line;
} Lines;

static void write_line(Lines *lines) {
    if (lines->line.len > 0)
        LOG(lines->config->logger, LOG_INFO, "%.*s: %s", STR_ARG(lines->job->id),
            buf_cstr(&lines->line));
    buf_clear(&lines->line);
}

static void take_error_text(void *context, Str text) {
    Lines *lines = context;
    for (size_t i = 0; i < text.len; i++) {
        bool is_end = text.data[i] == '\n';
        if (!is_end) buf_append_char(&lines->line, text.data[i] == 0 ? '?' : text.data[i]);
        if (is_end || lines->line.len == LINE_MAX_SIZE) write_line(lines);
    }
}

// ---- what became of it ----

static Str tail_of(const ProcessEnd *end) {
    Str tail = str_trim((Str){end->tail, end->tail_len});
    if (tail.len > MESSAGE_TAIL) {
        size_t skipped = tail.len - MESSAGE_TAIL;
        while (skipped < tail.len && ((unsigned char)tail.data[skipped] & 0xC0) == 0x80) skipped++;
        tail = (Str){tail.data + skipped, tail.len - skipped};
    }
    return utf8_is_valid(tail) ? tail : STR("");
}

typedef struct Failure {
    const char *type;
    Str message;
    bool is_final;
    int exit_status; // < 0: none
} Failure;

static JobOutcome make_error(Arena *arena, const Failure *failure) {
    Buf text;
    JsonWriter json;
    buf_init(&text, ERROR_TEXT_MAX);
    json_writer_init(&json, &text, STR_NULL);
    json_write_object_begin(&json);
    json_put_cstr(&json, "type", failure->type);
    json_put_string(&json, "message", failure->message);
    if (failure->is_final) json_put_bool(&json, "retryable", false);
    if (failure->exit_status >= 0) {
        json_write_key(&json, STR("details"));
        json_write_object_begin(&json);
        json_put_i64(&json, "exit_status", failure->exit_status);
        json_write_object_end(&json);
    }
    json_write_object_end(&json);
    Str error = arena_str(arena, buf_str(&text));
    buf_done(&text);
    return (JobOutcome){JOB_ERROR, error};
}

// {"message": …, "type"?, "retryable"?, "details"?} on stdout; null when it is something else.
static Str error_of_program(Arena *arena, Str output, bool is_final) {
    static const char *const allowed[] = {"type", "message", "retryable", "details", NULL};
    JsonValue *value;
    Str message = STR_NULL, type = STR_NULL;
    bool is_retryable = true;
    output = str_trim(output);
    bool is_good = output.len > 0 && output.len < ERROR_TEXT_MAX &&
                   json_parse(arena, output, &value, NULL) == OK &&
                   json_allow_only(value, allowed, NULL) == OK &&
                   json_get_string(value, "message", &message, NULL) == OK &&
                   json_get_string(value, "type", &type, NULL) == OK &&
                   json_get_bool(value, "retryable", &is_retryable, NULL) == OK &&
                   !str_is_null(message);
    if (!is_good) return STR_NULL;
    if (!is_final) return arena_str(arena, output);
    Buf text;
    JsonWriter json;
    buf_init(&text, 2 * ERROR_TEXT_MAX);
    json_writer_init(&json, &text, STR_NULL);
    json_write_object_begin(&json);
    JSON_EACH (member, value) {
        if (str_equal(member->key, STR("retryable"))) continue;
        json_write_key(&json, member->key);
        json_write_value(&json, member);
    }
    json_put_bool(&json, "retryable", false);
    json_write_object_end(&json);
    output = arena_str(arena, buf_str(&text));
    buf_done(&text);
    return output;
}

static JobOutcome failed(const ProgramConfig *config, Job *job, const ProcessEnd *end, Str output) {
    Arena *arena = &job->arena;
    bool is_final = end->exit_status == EXIT_FINAL;
    Str own = end->exit_status > 0 ? error_of_program(arena, output, is_final) : STR_NULL;
    if (!str_is_null(own)) return (JobOutcome){JOB_ERROR, own};
    Str tail = tail_of(end);
    const char *colon = tail.len > 0 ? ": " : "";
    Failure failure = {"ExitError", STR_NULL, is_final, end->exit_status};
    if (end->exit_status >= 0) {
        failure.message = arena_printf(arena, "%s ended with status %d%s%.*s", config->argv[0],
                                       end->exit_status, colon, STR_ARG(tail));
    } else {
        failure.type = "SignalError";
        failure.message = arena_printf(arena, "%s was ended by signal %d%s%.*s", config->argv[0],
                                       end->signal, colon, STR_ARG(tail));
    }
    return make_error(arena, &failure);
}

static JobOutcome bad_result(Arena *arena, Str message) {
    return make_error(arena, &(Failure){"ResultError", message, true, -1});
}

static JobOutcome succeeded(const ProgramConfig *config, Job *job, Str output) {
    Arena *arena = &job->arena;
    if (config->is_text) {
        Buf text;
        JsonWriter json;
        if (!utf8_is_valid(output)) return bad_result(arena, STR("its output is not UTF-8"));
        buf_init(&text, 8 * (size_t)LIMIT_PAYLOAD_SIZE);
        json_writer_init(&json, &text, STR_NULL);
        json_write_string(&json, output);
        Str result = arena_str(arena, buf_str(&text));
        buf_done(&text);
        return (JobOutcome){JOB_RESULT, result};
    }
    output = str_trim(output);
    Diag diag;
    if (output.len == 0) return (JobOutcome){JOB_RESULT, STR("null")};
    if (json_validate(output, &diag) == OK)
        return (JobOutcome){JOB_RESULT, arena_str(arena, output)};
    return bad_result(arena, arena_printf(arena, "its output is not JSON: %s", diag.message));
}

static JobOutcome judge(const ProgramConfig *config, Job *job, const ProcessEnd *end, Str output) {
    Arena *arena = &job->arena;
    int reason = atomic_load(&job->reason);
    if (end->exit_status == 0 && !end->is_late && !end->is_too_loud)
        return succeeded(config, job, output); // even when it was asked to end: it is done
    if (end->is_stopped && reason == JOB_STOPPING) return (JobOutcome){JOB_RELEASED, STR_NULL};
    if (end->is_stopped && reason == JOB_LEASE_LOST) return (JobOutcome){JOB_NOTHING, STR_NULL};
    if (end->is_stopped)
        return make_error(arena, &(Failure){"CancelledError", STR("cancelled"), true, -1});
    if (end->is_too_loud)
        return bad_result(
            arena, arena_printf(arena, "its output has more than %d bytes", LIMIT_PAYLOAD_SIZE));
    if (end->is_late)
        return make_error(arena,
                          &(Failure){"TimeoutError",
                                     arena_printf(arena, "%s ran longer than %lld ms",
                                                  config->argv[0], (long long)config->timeout_ms),
                                     false, -1});
    return failed(config, job, end, output);
}

JobOutcome worker_perform_program(void *context, Job *job) {
    const ProgramConfig *config = context;
    Lines lines = {.config = config, .job = job};
    Buf output;
    buf_init(&lines.line, LINE_MAX_SIZE);
    buf_init(&output, LIMIT_PAYLOAD_SIZE);
    const ProcessSpec spec = {
        .argv = config->argv,
        .environment = make_environment(config, job),
        .input = job->input,
        .timeout_ms = config->timeout_ms > 0 ? config->timeout_ms : FOREVER_MS,
        .grace_ms = config->kill_after_ms,
        .stop = &job->stop,
        .on_error_text = take_error_text,
        .context = &lines,
    };
    ProcessEnd end;
    Diag diag;
    Status status = process_run(&spec, &output, &end, &diag);
    write_line(&lines);
    JobOutcome outcome =
        status == OK
            ? judge(config, job, &end, buf_str(&output))
            : make_error(&job->arena, &(Failure){"ExecError", str_from(diag.message), false, -1});
    buf_done(&lines.line);
    buf_done(&output);
    return outcome;
}

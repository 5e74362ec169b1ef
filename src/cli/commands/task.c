// abide task: tasks that workers do, those of runs and those that stand alone.
//
// `run` queues one and may wait for its end. There is no long poll for tasks, so the wait asks
// again, at first often and then every second.
//
// Not here: doing tasks (worker.c).
#include "base/array.h"
#include "base/env.h"
#include "cli/groups.h"
#include "cli/runs/follow.h"
#include "cli/verbs/verb.h"
#include <unistd.h>

static Str attempts_text(Session *session, const JsonValue *task) {
    return arena_printf(&session->arena, "%lld/%lld", (long long)field_count(task, "attempt"),
                        (long long)field_count(task, "max_attempts"));
}

static const ListColumn columns[] = {
    {{"TASK", false, false}, "id", CELL_TEXT, NULL},
    {{"NAME", false, true}, "name", CELL_TEXT, NULL},
    {{"QUEUE", false, true}, "queue", CELL_TEXT, NULL},
    {{"STATUS", false, false}, "status", CELL_STATUS, NULL},
    {{"ATTEMPT", true, false}, NULL, CELL_TEXT, attempts_text},
    {{"WORKER", false, true}, "worker", CELL_TEXT, NULL},
    {{"CREATED", false, false}, "created_at", CELL_AGE, NULL},
};

static const VerbOption filters[] = {
    {"status", 's', "TASK-STATUS",
     "queued, leased, completed, failed, cancelled; several with commas", VALUE_LIST, 0},
    {"queue", 'q', "QUEUE", "of this queue", VALUE_TEXT, 0},
    {"name", 0, "NAME", "of this name", VALUE_TEXT, 0},
    {"run", 'r', "RUN", "of this run", VALUE_TEXT, 0},
    {0},
};

static const Verb ls_verb = {
    .kind = VERB_LIST,
    .usage = "abide task ls [options]",
    .about = "Lists tasks, newest first.",
    .example = "abide task ls --status queued --queue mail\n"
               "abide task ls --run order-7\nabide task ls --name charge --status failed",
    .path = "/v1/tasks",
    .id_field = "id",
    .options = filters,
    .columns = columns,
    .column_count = COUNT_OF(columns),
};

static const Verb show_verb = {
    .kind = VERB_SHOW,
    .usage = "abide task show TASK [options]",
    .about = "Shows a task: its status, attempts, input, result or error.",
    .example = "abide task show mail-812",
    .path = "/v1/tasks/%s",
    .id_field = "id",
};

static const Verb retry_verb = {
    .kind = VERB_CHANGE,
    .usage = "abide task retry TASK... [options]",
    .about = "Makes the next attempt due now: of tasks that wait for it, also those of runs, and "
             "of failed\nones that belong to no run, which are queued again. \"-\" reads ids from "
             "standard input.",
    .example = "abide task retry mail-812\n"
               "abide task ls --status failed -o ids | abide task retry -",
    .path = "/v1/tasks/%s/retry",
    .id_field = "id",
    .done = "due now",
    .not_done = "unchanged: it is due already",
};

// ---- run ----

static bool put_task(VerbCall *call, Body *body) {
    body_put_text(body, "name", verb_operand(call, 0));
    return verb_put_input(call, body, 1);
}

static bool has_ended(Str status) {
    return !str_equal(status, STR("queued")) && !str_equal(status, STR("leased"));
}

static bool report_failure(Session *session, const char *code, Str id, Str why) {
    Diag diag;
    (void)diag_set(&diag, ERR_CONFLICT, code, "task %.*s %.*s", STR_ARG(id), STR_ARG(why));
    return session_complain(session, ERR_CONFLICT, &diag);
}

// Asks until it has ended; the answer is then the task.
static bool wait_for_task(Session *session, Str id, int64_t limit_ms) {
    Str path = session_path(session, "/v1/tasks/%s", id, STR_NULL);
    int64_t began_ms = env_now_ms(env_system());
    for (int64_t pause_ms = 20;; pause_ms = pause_ms < 500 ? pause_ms * 2 : 1000) {
        ArenaMark mark = arena_mark(&session->arena);
        if (!session_get(session, path)) return false;
        if (has_ended(field_text(session->answer.json, "status"))) return true;
        int64_t gone_ms = env_now_ms(env_system()) - began_ms;
        if (limit_ms > 0 && gone_ms >= limit_ms) return true;
        session_progress(session, "%.*s is %.*s … %llds", STR_ARG(id),
                         STR_ARG(field_text(session->answer.json, "status")),
                         (long long)(gone_ms / 1000));
        session->answer.json = NULL;
        arena_rewind(&session->arena, mark);
        usleep((useconds_t)pause_ms * 1000); // a signal ends it early, and the next call with it
    }
}

static bool print_outcome(Session *session, Str id) {
    const JsonValue *task = session->answer.json;
    Str status = field_text(task, "status"), error = field_text(task, "error");
    const JsonValue *result = json_member(task, STR("result"));
    bool is_completed = str_equal(status, STR("completed"));
    session_clear_progress(session);
    if (session->format == OUTPUT_JSON) output_json(stdout, task);
    else if (session->format == OUTPUT_IDS) output_id(stdout, id);
    else if (is_completed) output_json_line(stdout, result != NULL ? result->raw : STR("null"));
    if (is_completed) return true;
    if (!has_ended(status))
        return report_failure(session, "TASK_NOT_ENDED", id, STR("has not ended yet"));
    Str why = arena_printf(&session->arena, "%.*s: %.*s", STR_ARG(status), STR_ARG(error));
    return report_failure(session, "TASK_FAILED", id, why);
}

static void run_task(VerbCall *call) {
    Session *session = &call->session;
    int64_t limit_ms = 0;
    ClientRequest request = {
        .method = "POST",
        .path = STR("/v1/tasks"),
        .is_repeatable = !str_is_null(verb_text(call, "id")), // one that exists makes nothing
    };
    if (!follow_read_limit(session, "wait-limit", verb_text(call, "wait-limit"), &limit_ms) ||
        !verb_body(call, &request.body) || !session_call(session, &request))
        return;
    Str id = field_text(session->answer.json, "id");
    if (verb_flag(call, "wait") || limit_ms > 0) {
        if (wait_for_task(session, id, limit_ms)) (void)print_outcome(session, id);
    } else if (session_says_words(session, id)) {
        bool is_new = session->answer.http_status == 201;
        printf("%.*s: %s\n", STR_ARG(id), is_new ? "queued" : "exists already");
    }
}

static const VerbOption run_options[] = {
    {"id", 0, "ID", "id of the task; one that exists makes nothing", VALUE_TEXT, 0},
    {"queue", 'q', "QUEUE", "default unless given", VALUE_TEXT, 0},
    {"priority", 'p', "N", "-1000 to 1000, higher first", VALUE_NUMBER, 0},
    {"delay", 'd', "DURATION", "not before this long from now", VALUE_TEXT, 0},
    {"attempts", 'a', "N", "in all; 1 unless given", VALUE_NUMBER, 0},
    {"timeout", 0, "DURATION", "of an attempt", VALUE_TEXT, 0},
    {"concurrency-key", 0, "KEY", "tasks of one key do not run beside each other", VALUE_TEXT, 0},
    {"wait", 'w', NULL, "wait and print the result", VALUE_FLAG, VERB_OWN},
    {"wait-limit", 0, "DURATION", "wait at most this long", VALUE_TEXT, VERB_OWN},
    {0},
};

static const Verb run_verb = {
    .kind = VERB_CALL,
    .usage = "abide task run NAME [JSON|@FILE|-] [options]",
    .about = "Queues a task that belongs to no run, for a worker that knows its name.",
    .example = "abide task run mail '{\"to\": \"a@example.org\"}' --attempts 5\n"
               "abide task run charge @order.json --wait",
    .options = run_options,
    .operand_min = 1,
    .operand_max = 2,
    .put = put_task,
    .use = SESSION_CHANGES,
    .act = run_task,
};

static const CliCommand commands[] = {
    {"ls", "list tasks", NULL, NULL, &ls_verb},
    {"show", "show a task", NULL, NULL, &show_verb},
    {"run", "queue a task that belongs to no run", NULL, NULL, &run_verb},
    {"retry", "make the next attempt due now", NULL, NULL, &retry_verb},
};

const CliGroup task_group = {
    .about = "Tasks: units of work that workers do.",
    .example = "abide task ls --status queued\nabide task run mail '{\"to\": \"a@example.org\"}'",
    .commands = commands,
    .count = COUNT_OF(commands),
};

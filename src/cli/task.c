// abide task: tasks that workers do, those of runs and those that stand alone.
//
// `run` queues one and may wait for its end. There is no long poll for tasks, so the wait asks
// again, at first often and then every second.
//
// Not here: doing tasks (worker.c).
#include "base/env.h"
#include "cli/body.h"
#include "cli/bulk.h"
#include "cli/details.h"
#include "cli/follow.h"
#include "cli/groups.h"
#include "cli/list.h"
#include <unistd.h>

static const TableColumn columns[] = {
    {"TASK", false, false},   {"NAME", false, true},    {"QUEUE", false, true},
    {"STATUS", false, false}, {"ATTEMPT", true, false}, {"WORKER", false, true},
    {"CREATED", false, false},
};

static void add_row(Session *session, TextTable *table, const JsonValue *task) {
    Str status = field_text(task, "status");
    table_add(table, field_text(task, "id"));
    table_add(table, field_text(task, "name"));
    table_add(table, field_text(task, "queue"));
    table_add_painted(table, status, output_status_paint(status));
    table_add(table, arena_printf(&session->arena, "%lld/%lld",
                                  (long long)field_count(task, "attempt"),
                                  (long long)field_count(task, "max_attempts")));
    table_add(table, field_text(task, "worker"));
    table_add(table, output_relative(&session->arena, session->now_ms,
                                     field_ms(task, "created_at")));
}

static int task_ls(int argument_count, char **arguments) {
    Session session;
    Str status = STR_NULL, queue = STR_NULL;
    Listing listing = {.limit = LIST_LIMIT,
                       .id_field = "id",
                       .columns = columns,
                       .column_count = sizeof columns / sizeof *columns,
                       .add_row = add_row};
    session_init(&session, SESSION_READS);
    const Option options[] = {
        {"status", 's', OPTION_TEXT, &status, "STATUS",
         "queued, leased, completed, failed, cancelled; several with commas"},
        {"queue", 'q', OPTION_TEXT, &queue, "QUEUE", "of this queue"},
        {"limit", 'n', OPTION_COUNT, &listing.limit, "N", "how many to show; 100 unless given"},
        {"cursor", 0, OPTION_TEXT, &listing.cursor, "CURSOR", "go on where a list ended"},
    };
    OptionTable table = {
        .usage = "abide task ls [options]",
        .about = "Lists tasks, newest first.",
        .example = "abide task ls --status queued --queue mail",
        .options = options,
        .option_count = sizeof options / sizeof *options,
    };
    Operands none;
    int code = session_begin(&session, &table, argument_count, arguments, &none);
    if (code != SESSION_GO_ON) return code;
    Buf path;
    buf_init(&path, 1 << 16);
    buf_append_cstr(&path, "/v1/tasks");
    client_put_query(&path, "status", status);
    client_put_query(&path, "queue", queue);
    listing.path = buf_str(&path);
    if (listing.limit == 0) (void)session_misuse(&session, "--limit is at least 1");
    else (void)list_show(&session, &listing);
    buf_done(&path);
    return session_end(&session);
}

static int task_show(int argument_count, char **arguments) {
    const OptionTable table = {
        .usage = "abide task show TASK [options]",
        .about = "Shows a task: its status, attempts, input, result or error.",
        .example = "abide task show mail-812",
    };
    return details_command(&table, "/v1/tasks/%s", "id", argument_count, arguments);
}

static int task_retry(int argument_count, char **arguments) {
    const OptionTable table = {
        .usage = "abide task retry TASK... [options]",
        .about = "Queues failed stand-alone tasks again. \"-\" reads ids from standard input.",
        .example = "abide task retry mail-812\n"
                   "abide task ls --status failed -o ids | abide task retry -",
    };
    const Bulk bulk = {.request = bulk_request,
                       .path = "/v1/tasks/%s/retry",
                       .method = "POST",
                       .id_field = "id",
                       .done = "queued again",
                       .not_done = "unchanged"};
    return bulk_command(&table, &bulk, argument_count, arguments);
}

// ---- run ----

typedef struct TaskRun {
    Str id, queue, priority, delay, attempts, timeout, concurrency_key, limit;
    bool is_waiting;
    int64_t limit_ms;
} TaskRun;

static Str make_body(Session *session, const TaskRun *run, Str name, Str input) {
    Body body;
    body_begin(&body, session);
    body_put_text(&body, "name", name);
    body_put_raw(&body, "input", input);
    body_put_text(&body, "id", run->id);
    body_put_text(&body, "queue", run->queue);
    body_put_raw(&body, "priority", run->priority);
    body_put_text(&body, "delay", run->delay);
    body_put_raw(&body, "attempts", run->attempts);
    body_put_text(&body, "timeout", run->timeout);
    body_put_text(&body, "concurrency_key", run->concurrency_key);
    return body_end(&body);
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
    else if (session->format == OUTPUT_IDS) output_json_line(stdout, id);
    else if (is_completed) output_json_line(stdout, result != NULL ? result->raw : STR("null"));
    if (is_completed) return true;
    if (!has_ended(status))
        return report_failure(session, "TASK_NOT_ENDED", id, STR("has not ended yet"));
    Str why = arena_printf(&session->arena, "%.*s: %.*s", STR_ARG(status), STR_ARG(error));
    return report_failure(session, "TASK_FAILED", id, why);
}

static bool run_task(Session *session, const TaskRun *run, const Operands *operands) {
    Str input;
    if (!session_check_number(session, "priority", run->priority) ||
        !session_check_number(session, "attempts", run->attempts) ||
        !session_payload(session, operands->count > 1 ? operands->items[1] : NULL, &input))
        return false;
    const ClientRequest request = {
        .method = "POST",
        .path = STR("/v1/tasks"),
        .body = make_body(session, run, str_from(operands->items[0]), input),
        .is_repeatable = !str_is_null(run->id), // one that exists makes nothing
    };
    if (!session_call(session, &request)) return false;
    Str id = field_text(session->answer.json, "id");
    if (run->is_waiting || run->limit_ms > 0)
        return wait_for_task(session, id, run->limit_ms) && print_outcome(session, id);
    if (session->format == OUTPUT_JSON) output_json(stdout, session->answer.json);
    else if (session->format == OUTPUT_IDS) output_json_line(stdout, id);
    else
        printf("%.*s: %s\n", STR_ARG(id),
               session->answer.http_status == 201 ? "queued" : "exists already");
    return true;
}

static int task_run(int argument_count, char **arguments) {
    Session session;
    TaskRun run = {0};
    session_init(&session, SESSION_CHANGES);
    const Option options[] = {
        {"id", 0, OPTION_TEXT, &run.id, "ID", "id of the task; one that exists makes nothing"},
        {"queue", 'q', OPTION_TEXT, &run.queue, "QUEUE", "default unless given"},
        {"priority", 'p', OPTION_TEXT, &run.priority, "N", "-1000 to 1000, higher first"},
        {"delay", 'd', OPTION_TEXT, &run.delay, "DURATION", "not before this long from now"},
        {"attempts", 'a', OPTION_TEXT, &run.attempts, "N", "in all; 1 unless given"},
        {"timeout", 0, OPTION_TEXT, &run.timeout, "DURATION", "of an attempt"},
        {"concurrency-key", 0, OPTION_TEXT, &run.concurrency_key, "KEY",
         "tasks of one key do not run beside each other"},
        {"wait", 'w', OPTION_FLAG, &run.is_waiting, NULL, "wait and print the result"},
        {"wait-limit", 0, OPTION_TEXT, &run.limit, "DURATION", "wait at most this long"},
    };
    OptionTable table = {
        .usage = "abide task run NAME [JSON|@FILE|-] [options]",
        .about = "Queues a task that belongs to no run, for a worker that knows its name.",
        .example = "abide task run mail '{\"to\": \"a@example.org\"}' --attempts 5\n"
                   "abide task run charge @order.json --wait",
        .options = options,
        .option_count = sizeof options / sizeof *options,
        .operand_min = 1,
        .operand_max = 2,
    };
    Operands operands;
    int code = session_begin(&session, &table, argument_count, arguments, &operands);
    if (code != SESSION_GO_ON) return code;
    if (follow_read_limit(&session, "wait-limit", run.limit, &run.limit_ms))
        (void)run_task(&session, &run, &operands);
    return session_end(&session);
}

static const CliCommand commands[] = {
    {"ls", "list tasks", task_ls, NULL},
    {"show", "show a task", task_show, NULL},
    {"run", "queue a task that belongs to no run", task_run, NULL},
    {"retry", "queue failed tasks again", task_retry, NULL},
};

const CliGroup task_group = {
    .about = "Tasks: units of work that workers do.",
    .example = "abide task ls --status queued\nabide task run mail '{\"to\": \"a@example.org\"}'",
    .commands = commands,
    .count = sizeof commands / sizeof *commands,
};

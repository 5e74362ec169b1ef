// abide queue: how long the queues are, what holds them up.
//
// A queue that nobody has set limits for exists while it has tasks.
//
// Not here: the tasks in them (task.c).
#include "cli/bulk.h"
#include "cli/groups.h"
#include "cli/list.h"

static const TableColumn columns[] = {
    {"QUEUE", false, true},  {"QUEUED", true, false},  {"BLOCKED", true, false},
    {"RUNNING", true, false}, {"OLDEST", false, false}, {"LIMITS", false, true},
};

static Str limits_text(Session *session, const JsonValue *queue) {
    Buf text;
    buf_init(&text, 1024);
    int64_t running = field_count(queue, "max_running"), rate = field_count(queue, "rate_count");
    if (field_flag(queue, "paused")) buf_append_cstr(&text, "paused ");
    if (running > 0) buf_printf(&text, "%lld running ", (long long)running);
    if (rate > 0)
        buf_printf(&text, "%lld per %.*s ", (long long)rate,
                   STR_ARG(field_text(queue, "rate_period")));
    Str answer = text.len == 0 ? STR_NULL
                               : arena_str(&session->arena, str_trim(buf_str(&text)));
    buf_done(&text);
    return answer;
}

static void add_row(Session *session, TextTable *table, const JsonValue *queue) {
    static const char *const fields[] = {"name", "queued", "blocked", "running"};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        table_add(table, field_text(queue, fields[i]));
    table_add(table, output_relative(&session->arena, session->now_ms,
                                     field_ms(queue, "oldest_at")));
    table_add(table, limits_text(session, queue));
}

static int queue_ls(int argument_count, char **arguments) {
    Listing listing = {.path = STR("/v1/queues"),
                       .limit = LIST_LIMIT,
                       .id_field = "name",
                       .columns = columns,
                       .column_count = sizeof columns / sizeof *columns,
                       .add_row = add_row};
    const OptionTable table = {
        .usage = "abide queue ls [options]",
        .about = "Lists queues: how many tasks wait, are blocked by their key, are being done, and "
                 "how old the oldest is.",
        .example = "abide queue ls\nabide queue ls -o json",
    };
    return list_command(&table, &listing, argument_count, arguments);
}

static int queue_pause(int argument_count, char **arguments) {
    const OptionTable table = {
        .usage = "abide queue pause QUEUE... [options]",
        .about = "Hands out nothing more of queues; what is being done goes on.",
        .example = "abide queue pause mail",
    };
    const Bulk bulk = {.request = bulk_request,
                       .path = "/v1/queues/%s/pause",
                       .method = "POST",
                       .id_field = "name",
                       .done = "paused",
                       .not_done = "unchanged"};
    return bulk_command(&table, &bulk, argument_count, arguments);
}

static int queue_resume(int argument_count, char **arguments) {
    const OptionTable table = {
        .usage = "abide queue resume QUEUE... [options]",
        .about = "Hands out tasks of paused queues again.",
        .example = "abide queue resume mail",
    };
    const Bulk bulk = {.request = bulk_request,
                       .path = "/v1/queues/%s/resume",
                       .method = "POST",
                       .id_field = "name",
                       .done = "resumed",
                       .not_done = "unchanged"};
    return bulk_command(&table, &bulk, argument_count, arguments);
}

static const CliCommand commands[] = {
    {"ls", "list queues", queue_ls, NULL},
    {"pause", "hand out nothing more", queue_pause, NULL},
    {"resume", "hand out tasks again", queue_resume, NULL},
};

const CliGroup queue_group = {
    .about = "Queues: where tasks wait for workers.",
    .example = "abide queue ls\nabide queue pause mail",
    .commands = commands,
    .count = sizeof commands / sizeof *commands,
};

// abide queue: how long the queues are, what holds them up.
//
// A queue that nobody has set limits for exists while it has tasks.
//
// Not here: the tasks in them (task.c).
#include "cli/groups.h"
#include "cli/verb.h"

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

static const ListColumn columns[] = {
    {{"QUEUE", false, true}, "name", CELL_TEXT, NULL},
    {{"QUEUED", true, false}, "queued", CELL_TEXT, NULL},
    {{"BLOCKED", true, false}, "blocked", CELL_TEXT, NULL},
    {{"RUNNING", true, false}, "running", CELL_TEXT, NULL},
    {{"OLDEST", false, false}, "oldest_at", CELL_AGE, NULL},
    {{"LIMITS", false, true}, NULL, CELL_TEXT, limits_text},
};

static const Verb ls_verb = {
    .kind = VERB_LIST,
    .usage = "abide queue ls [options]",
    .about = "Lists queues: how many tasks wait, are blocked by their key, are being done, and "
             "how old the oldest is.",
    .example = "abide queue ls\nabide queue ls -o json",
    .path = "/v1/queues",
    .id_field = "name",
    .columns = columns,
    .column_count = sizeof columns / sizeof *columns,
};

static const Verb pause_verb = {
    .kind = VERB_CHANGE,
    .usage = "abide queue pause QUEUE... [options]",
    .about = "Hands out nothing more of queues; what is being done goes on.",
    .example = "abide queue pause mail",
    .path = "/v1/queues/%s/pause",
    .id_field = "name",
    .done = "paused",
};

static const Verb resume_verb = {
    .kind = VERB_CHANGE,
    .usage = "abide queue resume QUEUE... [options]",
    .about = "Hands out tasks of paused queues again.",
    .example = "abide queue resume mail",
    .path = "/v1/queues/%s/resume",
    .id_field = "name",
    .done = "resumed",
};

static const CliCommand commands[] = {
    {"ls", "list queues", NULL, NULL, &ls_verb},
    {"pause", "hand out nothing more", NULL, NULL, &pause_verb},
    {"resume", "hand out tasks again", NULL, NULL, &resume_verb},
};

const CliGroup queue_group = {
    .about = "Queues: where tasks wait for workers.",
    .example = "abide queue ls\nabide queue pause mail",
    .commands = commands,
    .count = sizeof commands / sizeof *commands,
};

// abide queue: how long the queues are, what holds them up.
//
// A queue that nobody has set limits for exists while it has tasks.
//
// Not here: the tasks in them (task.c).
#include "base/array.h"
#include "cli/groups.h"
#include "cli/verbs/verb.h"

static Str limits_text(Session *session, const JsonValue *queue) {
    Buf text;
    buf_init(&text, 1024);
    int64_t running = field_count(queue, "max_running"), rate = field_count(queue, "rate_count");
    if (field_flag(queue, "paused")) buf_append_cstr(&text, "paused ");
    if (running > 0) buf_printf(&text, "%lld running ", (long long)running);
    if (rate > 0)
        buf_printf(&text, "%lld per %.*s ", (long long)rate,
                   STR_ARG(field_text(queue, "rate_period")));
    Str answer = text.len == 0 ? STR_NULL : arena_str(&session->arena, str_trim(buf_str(&text)));
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
    .column_count = COUNT_OF(columns),
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

static const Verb show_verb = {
    .kind = VERB_SHOW,
    .usage = "abide queue show QUEUE [options]",
    .about = "Shows a queue: how many tasks wait and are being done, and its limits.",
    .example = "abide queue show mail",
    .path = "/v1/queues/%s",
    .id_field = "name",
};

static const Verb rm_verb = {
    .kind = VERB_CHANGE,
    .usage = "abide queue rm QUEUE... [options]",
    .about = "Forgets the limits of queues, and that they are paused. Their tasks stay.",
    .example = "abide queue rm mail",
    .path = "/v1/queues/%s",
    .method = "DELETE",
    .id_field = "name",
    .done = "limits removed",
    .not_done = "unchanged: it had none",
};

// ---- set ----

// "100/1m", or "0" for no limit.
static bool put_rate(Body *body, Str rate) {
    Str left = rate, count = STR_NULL, period = STR_NULL;
    if (str_is_null(rate)) return true;
    (void)str_split(&left, '/', &count);
    bool has_period = !str_is_null(left) && left.len > 0;
    if (has_period) period = left;
    if (!has_period && !str_equal(count, STR("0")))
        return session_misuse(body->session,
                              "--rate takes how many per period, such as 100/1m, or 0 for no "
                              "limit; not %.*s",
                              STR_ARG(rate));
    if (!session_check_number(body->session, "rate", count)) return false;
    body_put_raw(body, "rate_count", count);
    body_put_text(body, "rate_period", period);
    return true;
}

static bool put_limits(VerbCall *call, Body *body) {
    bool is_paused = verb_flag(call, "pause"), is_resumed = verb_flag(call, "resume");
    if (is_paused && is_resumed)
        return session_misuse(&call->session, "--pause and --resume exclude each other");
    if (is_paused || is_resumed)
        body_put_raw(body, "paused", is_paused ? STR("true") : STR("false"));
    return put_rate(body, verb_text(call, "rate"));
}

static const VerbOption set_options[] = {
    {"max-running", 'm', "N", "tasks that are done at a time; 0 is any number", VALUE_NUMBER, 0},
    {"max-per-key", 'k', "N", "of these, tasks of one concurrency key; 0 is any number",
     VALUE_NUMBER, 0},
    {"rate", 'r', "N/PERIOD", "tasks handed out per period, such as 100/1m; 0 is any number",
     VALUE_TEXT, VERB_OWN},
    {"pause", 0, NULL, "hand out nothing", VALUE_FLAG, VERB_OWN},
    {"resume", 0, NULL, "hand out tasks again", VALUE_FLAG, VERB_OWN},
    {0},
};

static const Verb set_verb = {
    .kind = VERB_SET,
    .usage = "abide queue set QUEUE [options]",
    .about = "Sets limits of a queue; those that are not given stay as they are. The queue "
             "needs no tasks yet.",
    .example = "abide queue set mail --max-running 10 --rate 100/1m\n"
               "abide queue set mail --rate 0",
    .path = "/v1/queues/%s",
    .method = "PATCH",
    .id_field = "name",
    .options = set_options,
    .operand_min = 1,
    .operand_max = 1,
    .put = put_limits,
};

static const CliCommand commands[] = {
    {"ls", "list queues", NULL, NULL, &ls_verb},
    {"show", "show a queue", NULL, NULL, &show_verb},
    {"set", "set the limits of a queue", NULL, NULL, &set_verb},
    {"pause", "hand out nothing more", NULL, NULL, &pause_verb},
    {"resume", "hand out tasks again", NULL, NULL, &resume_verb},
    {"rm", "forget the limits of queues", NULL, NULL, &rm_verb},
};

const CliGroup queue_group = {
    .about = "Queues: where tasks wait for workers, and their limits.",
    .example = "abide queue ls\nabide queue set mail --max-running 10\nabide queue pause mail",
    .commands = commands,
    .count = COUNT_OF(commands),
};

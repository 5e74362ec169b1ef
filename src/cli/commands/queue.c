// abide queue: how long the queues are, what holds them up.
//
// A queue that nobody has set limits for exists while it has tasks.
//
// Not here: the tasks in them (task.c).
#include "base/array.h"
#include "cli/groups.h"
#include "cli/verbs/body.h"
#include "cli/verbs/details.h"
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

typedef struct QueueSet {
    Str max_running, max_per_key;
    Str rate; // "100/1m"
    bool is_paused, is_resumed;
} QueueSet;

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

static void put_as_it_is(Body *body, const JsonValue *queue, const char *name) {
    Str raw = STR_NULL;
    json_get_raw(queue, name, &raw);
    body_put_raw(body, name, raw);
}

// The server replaces all limits at once; what was not given here stays as it is.
static void put_rest(Session *session, Body *body, const QueueSet *set) {
    const JsonValue *queue = session->answer.json;
    if (str_is_null(set->max_running)) put_as_it_is(body, queue, "max_running");
    if (str_is_null(set->max_per_key)) put_as_it_is(body, queue, "max_per_key");
    if (str_is_null(set->rate)) {
        put_as_it_is(body, queue, "rate_count");
        body_put_text(body, "rate_period", field_text(queue, "rate_period"));
    }
    bool is_paused = set->is_paused || (field_flag(queue, "paused") && !set->is_resumed);
    body_put_raw(body, "paused", is_paused ? STR("true") : STR("false"));
}

static bool set_queue(Session *session, Str name, const QueueSet *set) {
    Str path = session_path(session, "/v1/queues/%s", name, STR_NULL);
    if (!session_check_number(session, "max-running", set->max_running)) return false;
    if (!session_check_number(session, "max-per-key", set->max_per_key)) return false;
    if (!session_get(session, path)) return false;
    Body body;
    body_begin(&body, session);
    body_put_raw(&body, "max_running", set->max_running);
    body_put_raw(&body, "max_per_key", set->max_per_key);
    put_rest(session, &body, set);
    bool is_ok = put_rate(&body, set->rate);
    Str text = body_end(&body);
    if (!is_ok) return false;
    const ClientRequest request = {.method = "PUT", .path = path, .body = text};
    if (!session_call(session, &request)) return false;
    details_print(session, session->answer.json, "name", NULL);
    return true;
}

static int queue_set(int argument_count, char **arguments) {
    Session session;
    QueueSet set = {0};
    session_init(&session, SESSION_CHANGES);
    const Option options[] = {
        {"max-running", 'm', OPTION_NUMBER, &set.max_running, "N",
         "tasks that are done at a time; 0 is any number"},
        {"max-per-key", 'k', OPTION_NUMBER, &set.max_per_key, "N",
         "of these, tasks of one concurrency key; 0 is any number"},
        {"rate", 'r', OPTION_TEXT, &set.rate, "N/PERIOD",
         "tasks handed out per period, such as 100/1m; 0 is any number"},
        {"pause", 0, OPTION_FLAG, &set.is_paused, NULL, "hand out nothing"},
        {"resume", 0, OPTION_FLAG, &set.is_resumed, NULL, "hand out tasks again"},
    };
    OptionTable table = {
        .usage = "abide queue set QUEUE [options]",
        .about = "Sets limits of a queue; those that are not given stay as they are. The queue "
                 "needs no tasks yet.",
        .example = "abide queue set mail --max-running 10 --rate 100/1m\n"
                   "abide queue set mail --rate 0",
        .options = options,
        .option_count = COUNT_OF(options),
        .operand_min = 1,
        .operand_max = 1,
    };
    Operands operands;
    int code = session_begin(&session, &table, argument_count, arguments, &operands);
    if (code != SESSION_GO_ON) return code;
    if (set.is_paused && set.is_resumed)
        (void)session_misuse(&session, "--pause and --resume exclude each other");
    else (void)set_queue(&session, str_from(operands.items[0]), &set);
    return session_end(&session);
}

static const CliCommand commands[] = {
    {"ls", "list queues", NULL, NULL, &ls_verb},
    {"show", "show a queue", NULL, NULL, &show_verb},
    {"set", "set the limits of a queue", queue_set, NULL, NULL},
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

// abide schedule: cron lines, intervals and single times that start runs.
//
// Not here: what ticks are, and what happens to those that were missed (docs/schedules.md).
//
// `set` makes or replaces a schedule as a whole.
#include "base/array.h"
#include "cli/groups.h"
#include "cli/verbs/body.h"
#include "cli/verbs/details.h"
#include "cli/verbs/verb.h"

static Str when_text(Session *session, const JsonValue *schedule) {
    Str cron = field_text(schedule, "cron"), every = field_text(schedule, "every");
    Str zone = field_text(schedule, "timezone");
    if (!str_is_null(every)) return arena_printf(&session->arena, "every %.*s", STR_ARG(every));
    if (str_is_null(cron))
        return arena_printf(&session->arena, "at %.*s", STR_ARG(field_text(schedule, "at")));
    if (str_equal(zone, STR("UTC"))) return cron;
    return arena_printf(&session->arena, "%.*s %.*s", STR_ARG(cron), STR_ARG(zone));
}

static Str next_text(Session *session, const JsonValue *schedule) {
    if (field_flag(schedule, "paused")) return STR("paused");
    return output_relative(&session->arena, session->now_ms, field_ms(schedule, "next_at"));
}

static const ListColumn columns[] = {
    {{"SCHEDULE", false, true}, "name", CELL_TEXT, NULL},
    {{"WORKFLOW", false, true}, "workflow", CELL_TEXT, NULL},
    {{"WHEN", false, true}, NULL, CELL_TEXT, when_text},
    {{"NEXT", false, false}, NULL, CELL_STATUS, next_text},
    {{"LAST", false, false}, "last_at", CELL_AGE, NULL},
    {{"STARTED", true, false}, "started", CELL_TEXT, NULL},
    {{"FAILED", true, false}, "failed", CELL_TEXT, NULL},
};

static const Verb ls_verb = {
    .kind = VERB_LIST,
    .usage = "abide schedule ls [options]",
    .about = "Lists schedules.",
    .example = "abide schedule ls",
    .path = "/v1/schedules",
    .id_field = "name",
    .columns = columns,
    .column_count = COUNT_OF(columns),
};

static const Verb show_verb = {
    .kind = VERB_SHOW,
    .usage = "abide schedule show SCHEDULE [options]",
    .about = "Shows a schedule: when it ticks, what it starts, what came of it.",
    .example = "abide schedule show nightly",
    .path = "/v1/schedules/%s",
    .id_field = "name",
};

// ---- set ----

typedef struct Setting {
    Str cron, every, at, timezone, jitter, overlap, catch_up, priority, timeout, ttl;
    OptionTexts tags;
    bool is_paused;
} Setting;

static bool set_schedule(Session *session, const OptionTable *table, const Operands *operands) {
    static const char *const none[] = {NULL};
    Str input = STR_NULL;
    Body body;
    body_begin(&body, session);
    bool is_ok = body_put_options(&body, table, none) &&
                 session_payload(session, operands->count > 2 ? operands->items[2] : NULL, &input);
    body_put_text(&body, "workflow", str_from(operands->items[1]));
    body_put_raw(&body, "input", input);
    const ClientRequest request = {
        .method = "PUT",
        .path = session_path(session, "/v1/schedules/%s", str_from(operands->items[0]), STR_NULL),
        .body = body_end(&body),
    };
    if (!is_ok || !session_call(session, &request)) return false;
    details_print(session, session->answer.json, "name", NULL);
    return true;
}

static int schedule_set(int argument_count, char **arguments) {
    Session session;
    Setting setting = {0};
    session_init(&session, SESSION_CHANGES);
    const Option options[] = {
        {"cron", 'c', OPTION_TEXT, &setting.cron, "LINE", "minute, hour, day, month, weekday"},
        {"every", 'e', OPTION_TEXT, &setting.every, "DURATION", "an interval, at least 1s"},
        {"at", 0, OPTION_TEXT, &setting.at, "TIME", "one time, RFC 3339"},
        {"timezone", 'z', OPTION_TEXT, &setting.timezone, "ZONE",
         "of the cron line, as in Europe/Berlin; UTC unless given"},
        {"jitter", 0, OPTION_TEXT, &setting.jitter, "DURATION", "start up to this much later"},
        {"overlap", 0, OPTION_TEXT, &setting.overlap, "skip|queue|allow|cancel-old",
         "while the run before goes on"},
        {"catch-up", 0, OPTION_TEXT, &setting.catch_up, "DURATION",
         "ticks missed by less than this still start"},
        {"priority", 'p', OPTION_NUMBER, &setting.priority, "N", "of the runs"},
        {"timeout", 0, OPTION_TEXT, &setting.timeout, "DURATION", "of the runs"},
        {"ttl", 0, OPTION_TEXT, &setting.ttl, "DURATION", "how long ended runs are kept"},
        {"tag", 't', OPTION_TEXTS, &setting.tags, "TAG", "of the runs; may be repeated"},
        {"paused", 0, OPTION_FLAG, &setting.is_paused, NULL, "a new one begins paused"},
    };
    OptionTable table = {
        .usage = "abide schedule set SCHEDULE WORKFLOW [JSON|@FILE|-] --cron LINE [options]",
        .about = "Makes or replaces a schedule. One of --cron, --every and --at is required.",
        .example = "abide schedule set nightly report --cron '0 3 * * *' --timezone Europe/Berlin\n"
                   "abide schedule set poll check '{\"site\": 1}' --every 30s --overlap skip",
        .options = options,
        .option_count = COUNT_OF(options),
        .operand_min = 2,
        .operand_max = 3,
    };
    Operands operands;
    int code = session_begin(&session, &table, argument_count, arguments, &operands);
    if (code != SESSION_GO_ON) return code;
    (void)set_schedule(&session, &table, &operands);
    return session_end(&session);
}

// ---- changes ----

static const Verb rm_verb = {
    .kind = VERB_CHANGE,
    .usage = "abide schedule rm SCHEDULE... [options]",
    .about = "Removes schedules; runs they have started go on.",
    .example = "abide schedule rm nightly",
    .path = "/v1/schedules/%s",
    .method = "DELETE",
    .id_field = "name",
    .done = "removed",
};

static const Verb pause_verb = {
    .kind = VERB_CHANGE,
    .usage = "abide schedule pause SCHEDULE... [options]",
    .about = "Lets the ticks of schedules pass by.",
    .example = "abide schedule pause nightly",
    .path = "/v1/schedules/%s/pause",
    .id_field = "name",
    .done = "paused",
};

static const Verb resume_verb = {
    .kind = VERB_CHANGE,
    .usage = "abide schedule resume SCHEDULE... [options]",
    .about = "Lets paused schedules tick again.",
    .example = "abide schedule resume nightly",
    .path = "/v1/schedules/%s/resume",
    .id_field = "name",
    .done = "resumed",
};

static const Verb trigger_verb = {
    .kind = VERB_CHANGE,
    .usage = "abide schedule trigger SCHEDULE... [options]",
    .about = "Starts a run of each schedule now. -o ids prints the runs.",
    .example = "abide schedule trigger nightly",
    .path = "/v1/schedules/%s/trigger",
    .id_field = "name",
    .done = "started",
    .product = "id",
};

static int schedule_backfill(int argument_count, char **arguments) {
    Session session;
    Str from = STR_NULL, to = STR_NULL, first, last;
    session_init(&session, SESSION_CHANGES);
    const Option options[] = {
        {"from", 0, OPTION_TEXT, &from, "TIME", "first tick: a time, or how long ago"},
        {"to", 0, OPTION_TEXT, &to, "TIME", "last tick; now unless given"},
    };
    OptionTable table = {
        .usage = "abide schedule backfill SCHEDULE --from TIME [--to TIME] [options]",
        .about = "Starts the runs of past ticks that have none. May be repeated.",
        .example = "abide schedule backfill nightly --from 7d\n"
                   "abide schedule backfill nightly --from 2026-11-01T00:00:00Z --to "
                   "2026-11-08T00:00:00Z",
        .options = options,
        .option_count = COUNT_OF(options),
        .operand_min = 1,
        .operand_max = 1,
    };
    Operands operands;
    int code = session_begin(&session, &table, argument_count, arguments, &operands);
    if (code != SESSION_GO_ON) return code;
    if (str_is_null(from)) (void)session_misuse(&session, "--from is required");
    else if (session_past(&session, "from", from, &first) &&
             session_past(&session, "to", str_is_null(to) ? STR("0s") : to, &last)) {
        Str name = str_from(operands.items[0]);
        Body body;
        body_begin(&body, &session);
        body_put_text(&body, "from", first);
        body_put_text(&body, "to", last);
        const ClientRequest request = {
            .method = "POST",
            .path = session_path(&session, "/v1/schedules/%s/backfill", name, STR_NULL),
            .body = body_end(&body),
            .is_repeatable = true, // ticks that have a run are left alone
        };
        if (session_call(&session, &request)) {
            const JsonValue *answer = session.answer.json;
            if (session.format == OUTPUT_JSON) output_json(stdout, answer);
            else if (session.format == OUTPUT_IDS) output_id(stdout, name);
            else
                printf("%.*s: %lld started, %lld existed\n", STR_ARG(name),
                       (long long)field_count(answer, "started"),
                       (long long)field_count(answer, "existing"));
        }
    }
    return session_end(&session);
}

static const CliCommand commands[] = {
    {"ls", "list schedules", NULL, NULL, &ls_verb},
    {"show", "show a schedule", NULL, NULL, &show_verb},
    {"set", "make or replace a schedule", schedule_set, NULL, NULL},
    {"rm", "remove schedules", NULL, NULL, &rm_verb},
    {"trigger", "start a run now", NULL, NULL, &trigger_verb},
    {"pause", "let ticks pass by", NULL, NULL, &pause_verb},
    {"resume", "tick again", NULL, NULL, &resume_verb},
    {"backfill", "start the runs of past ticks", schedule_backfill, NULL, NULL},
};

const CliGroup schedule_group = {
    .about = "Schedules: cron lines, intervals and single times that start runs.",
    .example = "abide schedule set nightly report --cron '0 3 * * *'\nabide schedule ls",
    .commands = commands,
    .count = COUNT_OF(commands),
};

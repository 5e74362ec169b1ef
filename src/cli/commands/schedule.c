// abide schedule: cron lines, intervals and single times that start runs.
//
// Not here: what ticks are, and what happens to those that were missed (docs/schedules.md).
//
// `set` makes or replaces a schedule as a whole.
#include "base/array.h"
#include "cli/groups.h"
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

static bool put_start(VerbCall *call, Body *body) {
    body_put_text(body, "workflow", verb_operand(call, 1));
    return verb_put_input(call, body, 2);
}

static const VerbOption set_options[] = {
    {"cron", 'c', "LINE", "minute, hour, day, month, weekday", VALUE_TEXT, 0},
    {"every", 'e', "DURATION", "an interval, at least 1s", VALUE_TEXT, 0},
    {"at", 0, "TIME", "one time, RFC 3339", VALUE_TEXT, 0},
    {"timezone", 'z', "ZONE", "of the cron line, as in Europe/Berlin; UTC unless given", VALUE_TEXT,
     0},
    {"jitter", 0, "DURATION", "start up to this much later", VALUE_TEXT, 0},
    {"overlap", 0, "skip|queue|allow|cancel-old", "while the run before goes on", VALUE_TEXT, 0},
    {"catch-up", 0, "DURATION", "ticks missed by less than this still start", VALUE_TEXT, 0},
    {"priority", 'p', "N", "of the runs", VALUE_NUMBER, 0},
    {"timeout", 0, "DURATION", "of the runs", VALUE_TEXT, 0},
    {"ttl", 0, "DURATION", "how long ended runs are kept", VALUE_TEXT, 0},
    {"tag", 't', "TAG", "of the runs; may be repeated", VALUE_LIST, 0},
    {"paused", 0, NULL, "a new one begins paused", VALUE_FLAG, 0},
    {0},
};

static const Verb set_verb = {
    .kind = VERB_SET,
    .usage = "abide schedule set SCHEDULE WORKFLOW [JSON|@FILE|-] --cron LINE [options]",
    .about = "Makes or replaces a schedule. One of --cron, --every and --at is required.",
    .example = "abide schedule set nightly report --cron '0 3 * * *' --timezone Europe/Berlin\n"
               "abide schedule set poll check '{\"site\": 1}' --every 30s --overlap skip",
    .path = "/v1/schedules/%s",
    .method = "PUT",
    .id_field = "name",
    .options = set_options,
    .operand_min = 2,
    .operand_max = 3,
    .put = put_start,
};

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

static bool put_range(VerbCall *call, Body *body) {
    Str from = verb_text(call, "from"), to = verb_text(call, "to"), first, last;
    if (str_is_null(from)) return session_misuse(&call->session, "--from is required");
    if (!session_past(&call->session, "from", from, &first)) return false;
    if (!session_past(&call->session, "to", str_is_null(to) ? STR("0s") : to, &last)) return false;
    body_put_text(body, "from", first);
    body_put_text(body, "to", last);
    return true;
}

static void backfill(VerbCall *call) {
    Session *session = &call->session;
    Str name = verb_operand(call, 0);
    ClientRequest request = {
        .method = "POST",
        .path = session_path(session, call->verb->path, name, STR_NULL),
        .is_repeatable = true, // ticks that have a run are left alone
    };
    if (!verb_body(call, &request.body) || !session_call(session, &request)) return;
    if (session_says_words(session, name))
        printf("%.*s: %lld started, %lld existed\n", STR_ARG(name),
               (long long)field_count(session->answer.json, "started"),
               (long long)field_count(session->answer.json, "existing"));
}

static const VerbOption backfill_options[] = {
    {"from", 0, "TIME", "first tick: a time, or how long ago", VALUE_TEXT, VERB_OWN},
    {"to", 0, "TIME", "last tick; now unless given", VALUE_TEXT, VERB_OWN},
    {0},
};

static const Verb backfill_verb = {
    .kind = VERB_CALL,
    .usage = "abide schedule backfill SCHEDULE --from TIME [--to TIME] [options]",
    .about = "Starts the runs of past ticks that have none. May be repeated.",
    .example = "abide schedule backfill nightly --from 7d\n"
               "abide schedule backfill nightly --from 2026-11-01T00:00:00Z --to "
               "2026-11-08T00:00:00Z",
    .path = "/v1/schedules/%s/backfill",
    .options = backfill_options,
    .operand_min = 1,
    .operand_max = 1,
    .put = put_range,
    .use = SESSION_CHANGES,
    .act = backfill,
};

static const CliCommand commands[] = {
    {"ls", "list schedules", NULL, NULL, &ls_verb},
    {"show", "show a schedule", NULL, NULL, &show_verb},
    {"set", "make or replace a schedule", NULL, NULL, &set_verb},
    {"rm", "remove schedules", NULL, NULL, &rm_verb},
    {"trigger", "start a run now", NULL, NULL, &trigger_verb},
    {"pause", "let ticks pass by", NULL, NULL, &pause_verb},
    {"resume", "tick again", NULL, NULL, &resume_verb},
    {"backfill", "start the runs of past ticks", NULL, NULL, &backfill_verb},
};

const CliGroup schedule_group = {
    .about = "Schedules: cron lines, intervals and single times that start runs.",
    .example = "abide schedule set nightly report --cron '0 3 * * *'\nabide schedule ls",
    .commands = commands,
    .count = COUNT_OF(commands),
};

// abide wf: the group of commands about runs.
//
// Changes that take one id each are data (verb.h); what needs more is a function.
//
// Not here: starting (runs/start.c), listing and showing (runs/list.c, runs/show.c).
#include "cli/runs/wf.h"
#include "base/array.h"
#include "cli/commands/pending.h"
#include "cli/runs/follow.h"
#include "cli/verbs/body.h"
#include "cli/verbs/verb.h"

// ---- changes of many runs ----

static const Verb pause_verb = {
    .kind = VERB_CHANGE,
    .usage = "abide wf pause RUN... [options]",
    .about = "Holds runs: nothing of them executes until they are resumed. What arrives for "
             "them is kept.\n\"-\" reads ids from standard input.",
    .example = "abide wf pause order-7\nabide wf ls --tag eu -o ids | abide wf pause -",
    .path = "/v1/runs/%s/pause",
    .id_field = "id",
    .done = "paused",
};

static const Verb release_verb = {
    .kind = VERB_CHANGE,
    .usage = "abide wf release RUN... [options]",
    .about = "Takes waiting runs out of the server's memory. They come back by themselves when "
             "something happens to them.\n\"-\" reads ids from standard input.",
    .example = "abide wf release order-7\n"
               "abide wf ls --idle-before 2027-01-15T00:00:00Z -o ids | abide wf release -",
    .path = "/v1/runs/%s/release",
    .id_field = "id",
    .done = "released",
};

static const Verb load_verb = {
    .kind = VERB_CHANGE,
    .usage = "abide wf load RUN... [options]",
    .about = "Brings released runs back into the server's memory, and says when what is kept of "
             "one cannot be read.\n\"-\" reads ids from standard input.",
    .example = "abide wf load order-7\nabide wf ls --tag eu -o ids | abide wf load -",
    .path = "/v1/runs/%s/load",
    .id_field = "id",
    .done = "in memory",
};

static const Verb resume_verb = {
    .kind = VERB_CHANGE,
    .usage = "abide wf resume RUN... [options]",
    .about = "Lets paused runs go on. \"-\" reads ids from standard input.",
    .example = "abide wf resume order-7\nabide wf ls --status paused -o ids | abide wf resume -",
    .path = "/v1/runs/%s/resume",
    .id_field = "id",
    .done = "resumed",
};

static const Verb rm_verb = {
    .kind = VERB_CHANGE,
    .usage = "abide wf rm RUN... [options]",
    .about = "Removes ended runs and all that belongs to them. \"-\" reads ids from standard "
             "input.",
    .example = "abide wf rm order-7\nabide wf ls --status failed -o ids | abide wf rm -",
    .path = "/v1/runs/%s",
    .method = "DELETE",
    .id_field = "id",
    .done = "removed",
};

static const VerbOption cancel_options[] = {
    {"reason", 'r', "TEXT", "kept in the run's history", VALUE_TEXT},
    {"grace", 0, "DURATION", "time for cleanup, such as 30s", VALUE_TEXT},
    {0},
};
static const Verb cancel_verb = {
    .kind = VERB_CHANGE,
    .usage = "abide wf cancel RUN... [options]",
    .about = "Asks runs to end. They see a CancelledError at their wait and may clean up.\n"
             "\"-\" reads ids from standard input.",
    .example = "abide wf cancel order-7 --reason 'customer called'\n"
               "abide wf ls --workflow order -o ids | abide wf cancel -",
    .path = "/v1/runs/%s/cancel",
    .id_field = "id",
    .options = cancel_options,
    .done = "cancelled",
    .not_done = "unchanged: it has ended, or is being cancelled",
};

// ---- rewind and fork ----

typedef struct StepChoice {
    Str step, id;
    Str iteration; // a whole number; null: the last
} StepChoice;

static Str step_body(Session *session, const StepChoice *choice) {
    Body body;
    body_begin(&body, session);
    body_put_text(&body, "step", choice->step);
    body_put_raw(&body, "iteration", choice->iteration);
    body_put_text(&body, "id", choice->id);
    return body_end(&body);
}

static int wf_rewind(int argument_count, char **arguments) {
    Session session;
    session_init(&session, SESSION_CHANGES);
    StepChoice choice = {0};
    const Option options[] = {
        {"iteration", 'i', OPTION_TEXT, &choice.iteration, "N",
         "which of several of that name, from 0; the last one unless given"},
    };
    OptionTable table = {
        .usage = "abide wf rewind RUN STEP [options]",
        .about = "Sets a run that has not ended back to a step, which is then done again.",
        .example = "abide wf rewind order-7 charge\nabide wf rewind order-7 poll --iteration 0",
        .options = options,
        .option_count = COUNT_OF(options),
        .operand_min = 2,
        .operand_max = 2,
    };
    Operands operands;
    int code = session_begin(&session, &table, argument_count, arguments, &operands);
    if (code != SESSION_GO_ON) return code;
    Str id = str_from(operands.items[0]);
    choice.step = str_from(operands.items[1]);
    if (session_check_number(&session, "iteration", choice.iteration) &&
        session_post(&session, session_path(&session, "/v1/runs/%s/rewind", id, STR_NULL),
                     step_body(&session, &choice))) {
        if (session.format == OUTPUT_JSON) output_json(stdout, session.answer.json);
        else if (session.format == OUTPUT_IDS) output_id(stdout, id);
        else
            printf("%.*s: set back to %.*s, %lld checkpoints dropped\n", STR_ARG(id),
                   STR_ARG(choice.step), (long long)field_count(session.answer.json, "dropped"));
    }
    return session_end(&session);
}

static int wf_fork(int argument_count, char **arguments) {
    Session session;
    session_init(&session, SESSION_CHANGES);
    StepChoice choice = {0};
    const Option options[] = {
        {"iteration", 'i', OPTION_TEXT, &choice.iteration, "N",
         "which of several of that name, from 0; the last one unless given"},
        {"id", 0, OPTION_TEXT, &choice.id, "ID", "id of the new run"},
    };
    OptionTable table = {
        .usage = "abide wf fork RUN [STEP] [options]",
        .about = "Starts a new run from a step of another one, which may have ended and is not "
                 "changed.\nWithout a step it begins at the start.",
        .example = "abide wf fork order-7 charge --id order-7-again\nabide wf fork order-7",
        .options = options,
        .option_count = COUNT_OF(options),
        .operand_min = 1,
        .operand_max = 2,
    };
    Operands operands;
    int code = session_begin(&session, &table, argument_count, arguments, &operands);
    if (code != SESSION_GO_ON) return code;
    Str id = str_from(operands.items[0]);
    if (operands.count > 1) choice.step = str_from(operands.items[1]);
    if (session_check_number(&session, "iteration", choice.iteration) &&
        session_post(&session, session_path(&session, "/v1/runs/%s/fork", id, STR_NULL),
                     step_body(&session, &choice))) {
        if (session.format == OUTPUT_JSON) output_json(stdout, session.answer.json);
        else output_json_line(stdout, field_text(session.answer.json, "id"));
    }
    return session_end(&session);
}

// ---- result and watch ----

static int wf_result(int argument_count, char **arguments) {
    Session session;
    bool is_waiting = false;
    Str limit = STR_NULL;
    int64_t limit_ms = 0;
    session_init(&session, SESSION_READS);
    const Option options[] = {
        {"wait", 'w', OPTION_FLAG, &is_waiting, NULL, "wait for the end of the run"},
        {"wait-limit", 0, OPTION_TEXT, &limit, "DURATION", "wait at most this long"},
    };
    OptionTable table = {
        .usage = "abide wf result RUN [--wait] [options]",
        .about = "Prints the result of a run as JSON. Exit code 1 when it failed, was cancelled, "
                 "or has not ended.",
        .example = "abide wf result order-7\nabide wf result order-7 --wait-limit 30s",
        .options = options,
        .option_count = COUNT_OF(options),
        .operand_min = 1,
        .operand_max = 1,
    };
    Operands operands;
    int code = session_parse(&session, &table, argument_count, arguments, &operands);
    if (code != SESSION_GO_ON) return code;
    if (is_waiting || !str_is_null(limit)) session.use = SESSION_CHANGES; // it must be at work
    code = session_connect(&session);
    if (code != SESSION_GO_ON) return code;
    Str id = str_from(operands.items[0]);
    bool is_ok = follow_read_limit(&session, "wait-limit", limit, &limit_ms);
    if (is_ok && (is_waiting || limit_ms > 0)) is_ok = follow_to_end(&session, id, limit_ms);
    else if (is_ok)
        is_ok = session_get(&session, session_path(&session, "/v1/runs/%s/result", id, STR_NULL));
    if (is_ok) (void)follow_print_result(&session, id);
    return session_end(&session);
}

static int wf_watch(int argument_count, char **arguments) {
    Session session;
    session_init(&session, SESSION_CHANGES);
    OptionTable table = {
        .usage = "abide wf watch RUN [options]",
        .about = "Prints the history of a run, and what happens to it until it ends. With -o json "
                 "each line is an object.\nExit code 1 when the run failed or was cancelled.",
        .example = "abide wf watch order-7\nabide wf watch order-7 -o json",
        .operand_min = 1,
        .operand_max = 1,
    };
    Operands operands;
    int code = session_begin(&session, &table, argument_count, arguments, &operands);
    if (code != SESSION_GO_ON) return code;
    (void)follow_print_log(&session, str_from(operands.items[0]));
    return session_end(&session);
}

static const CliCommand commands[] = {
    {"start", "start a run", wf_start, NULL, NULL},
    {"ls", "list runs", NULL, NULL, &wf_ls_verb},
    {"show", "show a run: where it stands, what it waits for, its steps", wf_show, NULL, NULL},
    {"result", "print the result of a run", wf_result, NULL, NULL},
    {"watch", "follow what happens to a run", wf_watch, NULL, NULL},
    {"cancel", "ask runs to end", NULL, NULL, &cancel_verb},
    {"pause", "hold runs", NULL, NULL, &pause_verb},
    {"resume", "let paused runs go on", NULL, NULL, &resume_verb},
    {"release", "take waiting runs out of memory", NULL, NULL, &release_verb},
    {"load", "bring released runs back into memory", NULL, NULL, &load_verb},
    {"rewind", "set a run back to a step", wf_rewind, NULL, NULL},
    {"fork", "start a new run from a step of another one", wf_fork, NULL, NULL},
    {"rm", "remove ended runs", NULL, NULL, &rm_verb},
    {"signals", "list signals that a run has not taken", NULL, NULL, &wf_signals_verb},
    {"rm-signals", "remove signals that a run has not taken", wf_rm_signals, NULL, NULL},
};

const CliGroup wf_group = {
    .about = "Starts runs of workflows, looks at them and steers them.",
    .example = "abide wf start order '{\"orderId\": 7}' --id order-7\nabide wf ls --status failed\n"
               "abide wf show order-7",
    .commands = commands,
    .count = COUNT_OF(commands),
};

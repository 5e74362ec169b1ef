// abide wf: the group of commands about runs.
//
// Commands are data (verb.h), some with a function for what they do with the answer.
//
// Not here: starting (runs/start.c), listing and showing (runs/list.c, runs/show.c).
#include "cli/runs/wf.h"
#include "base/array.h"
#include "cli/commands/pending.h"
#include "cli/runs/follow.h"
#include "cli/verbs/filtered.h"

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
    {"reason", 'r', "TEXT", "kept in the run's history", VALUE_TEXT, 0},
    {"grace", 0, "DURATION", "time for cleanup, such as 30s", VALUE_TEXT, 0},
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

static bool put_step(VerbCall *call, Body *body) {
    body_put_text(body, "step", verb_operand(call, 1));
    return true;
}

// True: it is done, and the caller says what came of it.
static bool send_step(VerbCall *call) {
    Session *session = &call->session;
    Str body;
    return verb_body(call, &body) &&
           session_post(session,
                        session_path(session, call->verb->path, verb_operand(call, 0), STR_NULL),
                        body);
}

// STEP alone, with the filter that finds the runs.
static void rewind_filtered(VerbCall *call) {
    const Filtered filtered = {.verb = "rewind",
                               .done = "set back",
                               .filter = verb_text(call, "q"),
                               .step = verb_operand(call, 0),
                               .iteration = verb_text(call, "iteration"),
                               .is_dry = verb_flag(call, "dry-run")};
    (void)filtered_run(&call->session, &filtered);
}

static void rewind_run(VerbCall *call) {
    Session *session = &call->session;
    bool has_filter = !str_is_null(verb_text(call, "q"));
    if (has_filter != (call->operands.count == 1) || (!has_filter && verb_flag(call, "dry-run"))) {
        (void)session_misuse(session, "name a run and a step, or a step and a filter (-q), which "
                                      "may have --dry-run");
        return;
    }
    if (has_filter) {
        rewind_filtered(call);
        return;
    }
    Str id = verb_operand(call, 0), step = verb_operand(call, 1);
    if (send_step(call) && session_says_words(session, id))
        printf("%.*s: set back to %.*s, %lld checkpoints dropped\n", STR_ARG(id), STR_ARG(step),
               (long long)field_count(session->answer.json, "dropped"));
}

static void fork_run(VerbCall *call) {
    if (!send_step(call)) return;
    const JsonValue *answer = call->session.answer.json;
    Str id = field_text(answer, "id");
    if (!session_says_words(&call->session, id)) return;
    if (!verb_flag(call, "dry-run")) output_json_line(stdout, id);
    else printf("can go on in version %.*s\n", STR_ARG(field_text(answer, "to")));
}

#define VERSION_OPTIONS                                                                            \
    {"version",  0,                                                                                \
     "VERSION",  "go on in this version of the workflow: one, how it begins, or \"current\"",      \
     VALUE_TEXT, 0},                                                                               \
    {                                                                                              \
        "dry-run", 0, NULL, "with --version: only say whether it can", VALUE_FLAG, 0               \
    }
static const VerbOption fork_options[] = {
    {"iteration", 'i', "N", "which of several of that name, from 0; the last one unless given",
     VALUE_NUMBER, 0},
    {"id", 0, "ID", "id of the new run", VALUE_TEXT, 0},
    VERSION_OPTIONS,
    {0},
};
static const VerbOption rewind_options[] = {
    {"iteration", 'i', "N", "which of several of that name, from 0; the last one unless given",
     VALUE_NUMBER, 0},
    {"q", 'q', "FILTER", "all runs that this filter finds, such as 'workflow:order line:17'",
     VALUE_TEXT, VERB_OWN},
    {"dry-run", 0, NULL, "with -q: only say how many, and why not the others", VALUE_FLAG,
     VERB_OWN},
    {0},
};

static const Verb rewind_verb = {
    .kind = VERB_CALL,
    .usage = "abide wf rewind RUN STEP [options]\n       abide wf rewind -q FILTER STEP [options]",
    .about = "Sets a run that has not ended back to a step, which is then done again; or all runs "
             "that a filter finds.",
    .example = "abide wf rewind order-7 charge\nabide wf rewind order-7 poll --iteration 0\n"
               "abide wf rewind -q 'workflow:order line:17' charge --dry-run",
    .path = "/v1/runs/%s/rewind",
    .options = rewind_options,
    .operand_min = 1,
    .operand_max = 2,
    .put = put_step,
    .use = SESSION_CHANGES,
    .act = rewind_run,
};

static const Verb fork_verb = {
    .kind = VERB_CALL,
    .usage = "abide wf fork RUN [STEP] [options]",
    .about = "Starts a new run from a step of another one, which may have ended and is not "
             "changed.\nWithout a step it begins at the start.",
    .example = "abide wf fork order-7 charge --id order-7-again\nabide wf fork order-7\n"
               "abide wf fork order-7 charge --version current --dry-run",
    .path = "/v1/runs/%s/fork",
    .options = fork_options,
    .operand_min = 1,
    .operand_max = 2,
    .put = put_step,
    .use = SESSION_CHANGES,
    .act = fork_run,
};

static const VerbOption move_options[] = {
    {"to", 0, "VERSION",
     "a version of their workflow, or how it begins; the current one unless given", VALUE_TEXT,
     VERB_OWN},
    {"dry-run", 0, NULL, "only say which can be moved, and why others cannot", VALUE_FLAG, 0},
    {"q", 'q', "FILTER", "all runs that this filter finds, such as 'workflow:order'", VALUE_TEXT,
     VERB_OWN},
    {0},
};
static bool put_version(VerbCall *call, Body *body) {
    Str version = verb_text(call, "to");
    body_put_text(body, "version", version);
    return true;
}
static const Verb move_verb = {
    .kind = VERB_CHANGE,
    .usage = "abide wf move RUN... [options]",
    .about =
        "Puts runs that wait on another version of their script, at the same place and with their "
        "variables.\nWhat cannot be moved is not changed, and said. \"-\" reads ids from standard "
        "input.",
    .example = "abide wf move order-7 --dry-run\n"
               "abide wf ls --workflow order --status suspended -o ids | abide wf move -",
    .path = "/v1/runs/%s/move",
    .id_field = "run_id",
    .options = move_options,
    .put = put_version,
    .done = "moved to version",
    .not_done = "unchanged, can go on in version",
    .product = "to",
    .filtered = "move",
    .filtered_done = "moved",
    .version_option = "to",
};

static const VerbOption retry_options[] = {
    {"id", 0, "ID", "id of the new run; only for one run", VALUE_TEXT, 0},
    VERSION_OPTIONS,
    {"q", 'q', "FILTER", "all runs that this filter finds, such as 'status:failed age<1d'",
     VALUE_TEXT, VERB_OWN},
    {0},
};
static const Verb retry_verb = {
    .kind = VERB_CHANGE,
    .usage = "abide wf retry RUN... [options]",
    .about =
        "Takes up failed runs at their last good place, each by a new run; the failed ones are "
        "not changed.\nA task that failed there is queued again. \"-\" reads ids from "
        "standard input.",
    .example = "abide wf retry order-7\nabide wf retry order-7 --version current\n"
               "abide wf ls --status failed -o ids | abide wf retry -",
    .path = "/v1/runs/%s/retry",
    .id_field = "retry_of",
    .options = retry_options,
    .done = "goes on as",
    .not_done = "unchanged, can go on as",
    .product = "id",
    .filtered = "retry",
    .filtered_done = "retried",
    .version_option = "version",
};

// ---- time travel ----

static Str turn_place(Session *session, const JsonValue *item) {
    Str file = field_text(item, "file");
    if (str_is_null(file)) return STR("unknown");
    return arena_printf(&session->arena, "%.*s:%lld:%lld", STR_ARG(file),
                        (long long)field_count(item, "line"),
                        (long long)field_count(item, "column"));
}

static const ListColumn turn_columns[] = {
    {{"TURN", true, false}, "turn", CELL_TEXT, NULL},
    {{"BEGAN AT", false, true}, "file", CELL_TEXT, turn_place},
    {{"FUNCTION", false, true}, "function", CELL_TEXT, NULL},
    {{"BYTES", true, false}, "bytes", CELL_TEXT, NULL},
};
static const Verb turns_verb = {
    .kind = VERB_LIST,
    .usage = "abide wf turns RUN [options]",
    .about = "Lists the turns of a run whose beginning is kept, oldest first.\nA turn is what a "
             "script does between two waits; keepSnapshots says how many are kept.",
    .example = "abide wf turns order-7\nabide wf show order-7 --turn 2",
    .path = "/v1/runs/%s/turns",
    .id_field = "turn",
    .columns = turn_columns,
    .column_count = COUNT_OF(turn_columns),
};

static void print_side(Session *session, const char *label, const JsonValue *side) {
    Str turn = field_text(side, "turn"), place = turn_place(session, side);
    if (str_is_null(turn)) turn = STR("now");
    printf("%s turn %.*s, %.*s\n", label, STR_ARG(turn), STR_ARG(place));
}

static void print_change(const JsonValue *change) {
    Str kind = field_text(change, "change");
    Buf line;
    buf_init(&line, 1 << 20);
    bool is_added = str_equal(kind, STR("added")), is_removed = str_equal(kind, STR("removed"));
    buf_append_cstr(&line, is_added ? "+ " : is_removed ? "- " : "~ ");
    output_clean(&line, field_text(change, "path"), 0);
    buf_append_cstr(&line, ": ");
    if (!is_added) output_clean(&line, field_text(change, "from"), 0);
    if (!is_added && !is_removed) buf_append_cstr(&line, " -> ");
    if (!is_removed) output_clean(&line, field_text(change, "to"), 0);
    output_json_line(stdout, buf_str(&line));
    buf_done(&line);
}

static void diff_run(VerbCall *call) {
    Session *session = &call->session;
    Str id = verb_operand(call, 0), to = verb_operand(call, 2);
    Buf path;
    buf_init(&path, 1 << 16);
    buf_append_str(&path, session_path(session, call->verb->path, id, STR_NULL));
    client_put_query(&path, "from", verb_operand(call, 1));
    if (!str_is_null(to)) client_put_query(&path, "to", to);
    bool is_ok = session_get(session, arena_str(&session->arena, buf_str(&path)));
    buf_done(&path);
    if (!is_ok || !session_says_words(session, id)) return;
    const JsonValue *answer = session->answer.json;
    print_side(session, "from", json_member(answer, STR("from")));
    print_side(session, "to  ", json_member(answer, STR("to")));
    const JsonValue *changes = json_member(answer, STR("changes"));
    if (changes == NULL) return;
    JSON_EACH (change, changes) {
        print_change(change);
    }
    if (field_flag(answer, "more")) printf("and more\n");
}

static const Verb diff_verb = {
    .kind = VERB_CALL,
    .usage = "abide wf diff RUN TURN [TURN] [options]",
    .about = "Shows what changed in the variables of a script between two kept turns, or since "
             "one.",
    .example = "abide wf diff order-7 2 5\nabide wf diff order-7 2",
    .path = "/v1/runs/%s/diff",
    .operand_min = 2,
    .operand_max = 3,
    .act = diff_run,
};

// ---- result and watch ----

static void print_result(VerbCall *call) {
    Session *session = &call->session;
    Str id = verb_operand(call, 0);
    int64_t limit_ms = 0;
    bool is_ok = follow_read_limit(session, "wait-limit", verb_text(call, "wait-limit"), &limit_ms);
    if (is_ok && (verb_flag(call, "wait") || limit_ms > 0))
        is_ok = follow_to_end(session, id, limit_ms);
    else if (is_ok)
        is_ok = session_get(session, session_path(session, "/v1/runs/%s/result", id, STR_NULL));
    if (is_ok) (void)follow_print_result(session, id);
}

static const VerbOption result_options[] = {
    {"wait", 'w', NULL, "wait for the end of the run", VALUE_FLAG, VERB_WORKS},
    {"wait-limit", 0, "DURATION", "wait at most this long", VALUE_TEXT, VERB_WORKS},
    {0},
};
static const Verb result_verb = {
    .kind = VERB_CALL,
    .usage = "abide wf result RUN [--wait] [options]",
    .about = "Prints the result of a run as JSON. Exit code 1 when it failed, was cancelled, "
             "or has not ended.",
    .example = "abide wf result order-7\nabide wf result order-7 --wait-limit 30s",
    .options = result_options,
    .operand_min = 1,
    .operand_max = 1,
    .act = print_result,
};

static void watch(VerbCall *call) { (void)follow_print_log(&call->session, verb_operand(call, 0)); }
static const Verb watch_verb = {
    .kind = VERB_CALL,
    .usage = "abide wf watch RUN [options]",
    .about = "Prints the history of a run, and what happens to it until it ends. With -o json "
             "each line is an object.\nExit code 1 when the run failed or was cancelled.",
    .example = "abide wf watch order-7\nabide wf watch order-7 -o json",
    .operand_min = 1,
    .operand_max = 1,
    .use = SESSION_CHANGES,
    .act = watch,
};

static const CliCommand commands[] = {
    {"start", "start a run", NULL, NULL, &wf_start_verb},
    {"ls", "list runs", NULL, NULL, &wf_ls_verb},
    {"show", "show a run: where it stands, what it waits for, its steps", NULL, NULL,
     &wf_show_verb},
    {"result", "print the result of a run", NULL, NULL, &result_verb},
    {"watch", "follow what happens to a run", NULL, NULL, &watch_verb},
    {"cancel", "ask runs to end", NULL, NULL, &cancel_verb},
    {"pause", "hold runs", NULL, NULL, &pause_verb},
    {"resume", "let paused runs go on", NULL, NULL, &resume_verb},
    {"release", "take waiting runs out of memory", NULL, NULL, &release_verb},
    {"load", "bring released runs back into memory", NULL, NULL, &load_verb},
    {"rewind", "set a run back to a step", NULL, NULL, &rewind_verb},
    {"fork", "start a new run from a step of another one", NULL, NULL, &fork_verb},
    {"move", "put waiting runs on another version of their script", NULL, NULL, &move_verb},
    {"retry", "take up failed runs where they were last well", NULL, NULL, &retry_verb},
    {"turns", "list turns of a run that can be looked at", NULL, NULL, &turns_verb},
    {"diff", "show what changed in the variables between two turns", NULL, NULL, &diff_verb},
    {"try", "say what a run would do with made-up answers", NULL, NULL, &wf_try_verb},
    {"set", "give variables of a waiting run other values", NULL, NULL, &wf_set_verb},
    {"rm", "remove ended runs", NULL, NULL, &rm_verb},
    {"signals", "list signals that a run has not taken", NULL, NULL, &wf_signals_verb},
    {"rm-signals", "remove signals that a run has not taken", NULL, NULL, &wf_rm_signals_verb},
};

const CliGroup wf_group = {
    .about = "Starts runs of workflows, looks at them and steers them.",
    .example = "abide wf start order '{\"orderId\": 7}' --id order-7\nabide wf ls --status failed\n"
               "abide wf show order-7",
    .commands = commands,
    .count = COUNT_OF(commands),
};

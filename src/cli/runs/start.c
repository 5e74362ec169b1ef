// abide wf start: starts a run, and waits for its result when asked to.
//
// The request is made of the options given; what is not given is left to the server. With --key
// the call is safe to repeat, and the client repeats it when the connection breaks.
//
// Not here: waiting (follow.c), running a file without a server (run.c).
#include "cli/runs/follow.h"
#include "cli/runs/wf.h"

static bool put_start(VerbCall *call, Body *body) {
    body_put_text(body, "workflow", verb_operand(call, 0));
    body_put_text(body, "start_at", verb_text(call, "at"));
    return verb_put_input(call, body, 1);
}

static void start(VerbCall *call) {
    Session *session = &call->session;
    int64_t limit_ms = 0;
    ClientRequest request = {
        .method = "POST",
        .path = STR("/v1/runs"),
        .idempotency_key = verb_text(call, "key"),
    };
    if (!follow_read_limit(session, "wait-limit", verb_text(call, "wait-limit"), &limit_ms) ||
        !verb_body(call, &request.body) || !session_call(session, &request))
        return;
    Str id = field_text(session->answer.json, "id");
    if (verb_flag(call, "wait") || limit_ms > 0) {
        if (follow_to_end(session, id, limit_ms)) (void)follow_print_result(session, id);
    } else if (session_says_words(session, id)) {
        bool is_new = session->answer.http_status == 201;
        printf("%.*s: %s\n", STR_ARG(id), is_new ? "started" : "exists already");
    }
}

static const VerbOption options[] = {
    {"id", 0, "ID", "id of the run; one that exists starts nothing", VALUE_TEXT, 0},
    {"key", 'k', "KEY", "idempotency key: starts once for a key", VALUE_TEXT, VERB_OWN},
    {"tag", 't', "TAG", "a tag; may be repeated", VALUE_LIST, 0},
    {"delay", 'd', "DURATION", "begin after this long, such as 10m", VALUE_TEXT, 0},
    {"at", 0, "TIME", "begin at this time, RFC 3339", VALUE_TEXT, VERB_OWN},
    {"priority", 'p', "N", "-1000 to 1000, higher first", VALUE_NUMBER, 0},
    {"queue", 'q', "QUEUE", "queue of the run", VALUE_TEXT, 0},
    {"timeout", 0, "DURATION", "the run fails after this long", VALUE_TEXT, 0},
    {"leftover-signals", 0, "POLICY",
     "of signals nobody took when it ends: discard, topic or dead_letter", VALUE_TEXT, 0},
    {"leftover-topic", 0, "TOPIC", "where they are published, with --leftover-signals topic",
     VALUE_TEXT, 0},
    {"ttl", 0, "DURATION", "how long it is kept once ended", VALUE_TEXT, 0},
    {"wait", 'w', NULL, "wait and print the result", VALUE_FLAG, VERB_OWN},
    {"wait-limit", 0, "DURATION", "wait at most this long", VALUE_TEXT, VERB_OWN},
    {0},
};

const Verb wf_start_verb = {
    .kind = VERB_CALL,
    .usage = "abide wf start WORKFLOW [JSON|@FILE|-] [options]",
    .about = "Starts a run of a deployed workflow. The input is JSON: given, from a file, or "
             "from standard input.",
    .example = "abide wf start order '{\"orderId\": 7}' --id order-7 --tag eu\n"
               "abide wf start report @input.json --wait\n"
               "echo '{\"n\": 1}' | abide wf start count -",
    .options = options,
    .operand_min = 1,
    .operand_max = 2,
    .put = put_start,
    .use = SESSION_CHANGES,
    .act = start,
};

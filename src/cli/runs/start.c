// abide wf start: starts a run, and waits for its result when asked to.
//
// The request is made of the options given; what is not given is left to the server. With --key
// the call is safe to repeat, and the client repeats it when the connection breaks.
//
// Not here: waiting (follow.c), running a file without a server (run.c).
#include "base/array.h"
#include "cli/runs/follow.h"
#include "cli/runs/wf.h"
#include "cli/verbs/body.h"

typedef struct Start {
    Str id, key, delay, at, queue, timeout, ttl, priority, leftovers, leftover_topic;
    OptionTexts tags;
    bool is_waiting;
    Str limit;
    int64_t limit_ms;
} Start;

// False: an option or the input is wrong, and that has been said.
static bool make_body(Session *session, const OptionTable *table, const Start *start,
                      const Operands *operands, Str *ret_body) {
    static const char *const others[] = {"key", "at", "wait", "wait-limit", NULL};
    Str input = STR_NULL;
    Body body;
    body_begin(&body, session);
    bool is_ok = body_put_options(&body, table, others) &&
                 session_payload(session, operands->count > 1 ? operands->items[1] : NULL, &input);
    body_put_text(&body, "workflow", str_from(operands->items[0]));
    body_put_raw(&body, "input", input);
    body_put_text(&body, "start_at", start->at);
    *ret_body = body_end(&body);
    return is_ok;
}

static void print_started(Session *session, Str id, bool is_new) {
    switch (session->format) {
    case OUTPUT_JSON: output_json(stdout, session->answer.json); break;
    case OUTPUT_IDS: output_id(stdout, id); break;
    case OUTPUT_TABLE:
        printf("%.*s: %s\n", STR_ARG(id), is_new ? "started" : "exists already");
        break;
    }
}

static bool wait_and_print(Session *session, const Start *start, Str id) {
    if (!follow_to_end(session, id, start->limit_ms)) return false;
    return follow_print_result(session, id);
}

static bool start_run(Session *session, const Start *start, Str body) {
    const ClientRequest request = {
        .method = "POST",
        .path = STR("/v1/runs"),
        .body = body,
        .idempotency_key = start->key,
    };
    if (!session_call(session, &request)) return false;
    Str id = field_text(session->answer.json, "id");
    if (start->is_waiting || start->limit_ms > 0) return wait_and_print(session, start, id);
    print_started(session, id, session->answer.http_status == 201);
    return true;
}

int wf_start(int argument_count, char **arguments) {
    Session session;
    Start start = {0};
    session_init(&session, SESSION_CHANGES);
    const Option options[] = {
        {"id", 0, OPTION_TEXT, &start.id, "ID", "id of the run; one that exists starts nothing"},
        {"key", 'k', OPTION_TEXT, &start.key, "KEY", "idempotency key: starts once for a key"},
        {"tag", 't', OPTION_TEXTS, &start.tags, "TAG", "a tag; may be repeated"},
        {"delay", 'd', OPTION_TEXT, &start.delay, "DURATION", "begin after this long, such as 10m"},
        {"at", 0, OPTION_TEXT, &start.at, "TIME", "begin at this time, RFC 3339"},
        {"priority", 'p', OPTION_NUMBER, &start.priority, "N", "-1000 to 1000, higher first"},
        {"queue", 'q', OPTION_TEXT, &start.queue, "QUEUE", "queue of the run"},
        {"timeout", 0, OPTION_TEXT, &start.timeout, "DURATION", "the run fails after this long"},
        {"leftover-signals", 0, OPTION_TEXT, &start.leftovers, "POLICY",
         "of signals nobody took when it ends: discard, topic or dead_letter"},
        {"leftover-topic", 0, OPTION_TEXT, &start.leftover_topic, "TOPIC",
         "where they are published, with --leftover-signals topic"},
        {"ttl", 0, OPTION_TEXT, &start.ttl, "DURATION", "how long it is kept once ended"},
        {"wait", 'w', OPTION_FLAG, &start.is_waiting, NULL, "wait and print the result"},
        {"wait-limit", 0, OPTION_TEXT, &start.limit, "DURATION", "wait at most this long"},
    };
    OptionTable table = {
        .usage = "abide wf start WORKFLOW [JSON|@FILE|-] [options]",
        .about = "Starts a run of a deployed workflow. The input is JSON: given, from a file, or "
                 "from standard input.",
        .example = "abide wf start order '{\"orderId\": 7}' --id order-7 --tag eu\n"
                   "abide wf start report @input.json --wait\n"
                   "echo '{\"n\": 1}' | abide wf start count -",
        .options = options,
        .option_count = COUNT_OF(options),
        .operand_min = 1,
        .operand_max = 2,
    };
    Operands operands;
    int code = session_begin(&session, &table, argument_count, arguments, &operands);
    if (code != SESSION_GO_ON) return code;
    Str body;
    if (follow_read_limit(&session, "wait-limit", start.limit, &start.limit_ms) &&
        make_body(&session, &table, &start, &operands, &body))
        (void)start_run(&session, &start, body);
    return session_end(&session);
}

// abide signal, abide emit: something from outside, for one run or for whoever waits.
//
// Both answer when it is durable. With --id a repetition does nothing, so the client repeats the
// call by itself when the connection breaks.
//
// Not here: topics and what could not be delivered (topic.c, dead.c).
#include "cli/groups.h"
#include "cli/verbs/bulk.h"
#include "cli/verbs/verb.h"

typedef struct SignalBulk {
    Bulk bulk; // first
    Str name, id, payload;
} SignalBulk;

static Str with_id(Session *session, Str path, Str id) {
    Buf text;
    buf_init(&text, 1 << 16);
    buf_append_str(&text, path);
    client_put_query(&text, "id", id);
    Str answer = arena_str(&session->arena, buf_str(&text));
    buf_done(&text);
    return answer;
}

static ClientRequest signal_request(Session *session, const Bulk *bulk, Str run_id) {
    const SignalBulk *signal = (const void *)bulk;
    Str path = session_path(session, "/v1/runs/%s/signals/%s", run_id, signal->name);
    return (ClientRequest){
        .method = "POST",
        .path = with_id(session, path, signal->id),
        .body = signal->payload,
        .is_repeatable = !str_is_null(signal->id),
    };
}

static void send_signal(VerbCall *call) {
    Session *session = &call->session;
    const Operands runs = {call->operands.items, 1};
    const char *payload = call->operands.count > 2 ? call->operands.items[2] : NULL;
    SignalBulk signal = {.bulk = {.request = signal_request,
                                  .id_field = "id",
                                  .done = "signalled",
                                  .not_done = "unchanged"},
                         .name = verb_operand(call, 1),
                         .id = verb_text(call, "id")};
    bool is_twice = payload != NULL && strcmp(payload, "-") == 0 && strcmp(runs.items[0], "-") == 0;
    if (is_twice)
        (void)session_misuse(session, "standard input cannot be both the runs and the payload");
    else if (session_payload(session, payload, &signal.payload))
        (void)bulk_run(session, &runs, &signal.bulk);
}

static const VerbOption signal_options[] = {
    {"id", 0, "ID", "a second signal with this id does nothing", VALUE_TEXT, 0},
    {0},
};

const Verb signal_verb = {
    .kind = VERB_CALL,
    .usage = "abide signal RUN NAME [JSON|@FILE|-] [options]",
    .about = "Sends a signal to a run. It is kept until the run waits for it.\nWith \"-\" in "
             "place of the run, ids are read from standard input.",
    .example = "abide signal order-7 approval '{\"ok\": true}'\n"
               "abide wf ls --waiting-on approval -o ids | abide signal - approval true",
    .options = signal_options,
    .operand_min = 2,
    .operand_max = 3,
    .use = SESSION_CHANGES,
    .act = send_signal,
};

static void print_published(Session *session, Str topic) {
    const JsonValue *answer = session->answer.json;
    if (!session_says_words(session, field_text(answer, "event_id"))) return;
    int64_t resumed = field_count(answer, "resumed");
    if (field_flag(answer, "duplicate")) printf("%.*s: published before\n", STR_ARG(topic));
    else if (resumed > 0)
        printf("%.*s: published, %lld run%s resumed\n", STR_ARG(topic), (long long)resumed,
               resumed == 1 ? "" : "s");
    else printf("%.*s: published, kept until somebody waits\n", STR_ARG(topic));
}

static void emit(VerbCall *call) {
    Session *session = &call->session;
    Str topic = verb_operand(call, 0), id = verb_text(call, "id");
    Str path = session_path(session, "/v1/events/%s", topic, STR_NULL);
    ClientRequest request = {
        .method = "POST",
        .path = with_id(session, path, id),
        .is_repeatable = !str_is_null(id),
    };
    const char *payload = call->operands.count > 1 ? call->operands.items[1] : NULL;
    if (session_payload(session, payload, &request.body) && session_call(session, &request))
        print_published(session, topic);
}

static const VerbOption emit_options[] = {
    {"id", 0, "ID", "a second event with this id does nothing", VALUE_TEXT, 0},
    {0},
};

const Verb emit_verb = {
    .kind = VERB_CALL,
    .usage = "abide emit TOPIC [JSON|@FILE|-] [options]",
    .about = "Publishes an event to a topic: runs that wait for it go on.",
    .example = "abide emit prices '{\"eur\": 7}'\nabide emit deployed --id build-812",
    .options = emit_options,
    .operand_min = 1,
    .operand_max = 2,
    .use = SESSION_CHANGES,
    .act = emit,
};

// abide signal, abide emit: something from outside, for one run or for whoever waits.
//
// Both answer when it is durable. With --id a repetition does nothing, so the client repeats the
// call by itself when the connection breaks.
//
// Not here: topics and what could not be delivered (topic.c, dead.c).
#include "base/array.h"
#include "cli/cli.h"
#include "cli/verbs/bulk.h"

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

int cli_signal(int argument_count, char **arguments) {
    Session session;
    SignalBulk signal = {.bulk = {.request = signal_request,
                                  .id_field = "id",
                                  .done = "signalled",
                                  .not_done = "unchanged"}};
    session_init(&session, SESSION_CHANGES);
    const Option options[] = {
        {"id", 0, OPTION_TEXT, &signal.id, "ID", "a second signal with this id does nothing"},
    };
    OptionTable table = {
        .usage = "abide signal RUN NAME [JSON|@FILE|-] [options]",
        .about = "Sends a signal to a run. It is kept until the run waits for it.\nWith \"-\" in "
                 "place of the run, ids are read from standard input.",
        .example = "abide signal order-7 approval '{\"ok\": true}'\n"
                   "abide wf ls --waiting-on approval -o ids | abide signal - approval true",
        .options = options,
        .option_count = COUNT_OF(options),
        .operand_min = 2,
        .operand_max = 3,
    };
    Operands operands;
    int code = session_begin(&session, &table, argument_count, arguments, &operands);
    if (code != SESSION_GO_ON) return code;
    const char *payload = operands.count > 2 ? operands.items[2] : NULL;
    bool is_twice =
        payload != NULL && strcmp(payload, "-") == 0 && strcmp(operands.items[0], "-") == 0;
    signal.name = str_from(operands.items[1]);
    const Operands runs = {operands.items, 1};
    if (is_twice)
        (void)session_misuse(&session, "standard input cannot be both the runs and the payload");
    else if (session_payload(&session, payload, &signal.payload))
        (void)bulk_run(&session, &runs, &signal.bulk);
    return session_end(&session);
}

static void print_published(Session *session, Str topic) {
    const JsonValue *answer = session->answer.json;
    switch (session->format) {
    case OUTPUT_JSON: output_json(stdout, answer); return;
    case OUTPUT_IDS: output_id(stdout, field_text(answer, "event_id")); return;
    case OUTPUT_TABLE: break;
    }
    int64_t resumed = field_count(answer, "resumed");
    if (field_flag(answer, "duplicate")) printf("%.*s: published before\n", STR_ARG(topic));
    else if (resumed > 0)
        printf("%.*s: published, %lld run%s resumed\n", STR_ARG(topic), (long long)resumed,
               resumed == 1 ? "" : "s");
    else printf("%.*s: published, kept until somebody waits\n", STR_ARG(topic));
}

int cli_emit(int argument_count, char **arguments) {
    Session session;
    Str id = STR_NULL, payload;
    session_init(&session, SESSION_CHANGES);
    const Option options[] = {
        {"id", 0, OPTION_TEXT, &id, "ID", "a second event with this id does nothing"},
    };
    OptionTable table = {
        .usage = "abide emit TOPIC [JSON|@FILE|-] [options]",
        .about = "Publishes an event to a topic: runs that wait for it go on.",
        .example = "abide emit prices '{\"eur\": 7}'\nabide emit deployed --id build-812",
        .options = options,
        .option_count = COUNT_OF(options),
        .operand_min = 1,
        .operand_max = 2,
    };
    Operands operands;
    int code = session_begin(&session, &table, argument_count, arguments, &operands);
    if (code != SESSION_GO_ON) return code;
    Str topic = str_from(operands.items[0]);
    if (session_payload(&session, operands.count > 1 ? operands.items[1] : NULL, &payload)) {
        Str path = session_path(&session, "/v1/events/%s", topic, STR_NULL);
        const ClientRequest request = {
            .method = "POST",
            .path = with_id(&session, path, id),
            .body = payload,
            .is_repeatable = !str_is_null(id),
        };
        if (session_call(&session, &request)) print_published(&session, topic);
    }
    return session_end(&session);
}

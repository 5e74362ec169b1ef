// abide topic: topics, their policies, who waits on them.
//
// The API replaces a policy as a whole; `set` reads it first and changes what was named, so that
// nobody has to repeat the rest.
//
// Not here: publishing (signal.c), pending events (pending.c).
#include "base/array.h"
#include "cli/commands/pending.h"
#include "cli/groups.h"
#include "cli/verbs/body.h"
#include "cli/verbs/details.h"
#include "cli/verbs/verb.h"

static const ListColumn columns[] = {
    {{"TOPIC", false, true}, "name", CELL_TEXT, NULL},
    {{"CONSUME", false, false}, "consume", CELL_TEXT, NULL},
    {{"VISIBLE", false, false}, "visible", CELL_TEXT, NULL},
    {{"EXPIRE", false, false}, "expire", CELL_TEXT, NULL},
    {{"CAP", true, false}, "cap", CELL_TEXT, NULL},
    {{"PENDING", true, false}, "pending", CELL_TEXT, NULL},
};

static const Verb ls_verb = {
    .kind = VERB_LIST,
    .usage = "abide topic ls [options]",
    .about = "Lists topics that have a policy or pending events, by name.",
    .example = "abide topic ls\nabide topic ls -o json",
    .path = "/v1/topics",
    .id_field = "name",
    .columns = columns,
    .column_count = COUNT_OF(columns),
};

static const Verb show_verb = {
    .kind = VERB_SHOW,
    .usage = "abide topic show TOPIC [options]",
    .about = "Shows the policy of a topic, how many events are pending, and who waits.",
    .example = "abide topic show prices",
    .path = "/v1/topics/%s",
    .id_field = "name",
};

typedef struct Policy {
    Str consume, visible, expire, cap;
} Policy;

static Str either(Str given, const JsonValue *present, const char *name) {
    return str_is_null(given) ? field_text(present, name) : given;
}

static Str make_body(Session *session, const Policy *policy, const JsonValue *present) {
    Body body;
    body_begin(&body, session);
    body_put_text(&body, "consume", either(policy->consume, present, "consume"));
    body_put_text(&body, "visible", either(policy->visible, present, "visible"));
    body_put_text(&body, "expire", either(policy->expire, present, "expire"));
    body_put_raw(&body, "cap", either(policy->cap, present, "cap"));
    return body_end(&body);
}

static int topic_set(int argument_count, char **arguments) {
    Session session;
    Policy policy = {0};
    session_init(&session, SESSION_CHANGES);
    const Option options[] = {
        {"consume", 0, OPTION_TEXT, &policy.consume, "one|all",
         "who gets an event: the oldest waiter, or every one"},
        {"visible", 0, OPTION_TEXT, &policy.visible, "all|after-create|after-wait",
         "to whom: also to those who come later or not"},
        {"expire", 0, OPTION_TEXT, &policy.expire, "DURATION", "how long unread events are kept"},
        {"cap", 0, OPTION_TEXT, &policy.cap, "N",
         "most events that are kept; 0: the server's setting"},
    };
    OptionTable table = {
        .usage = "abide topic set TOPIC [options]",
        .about = "Changes the policy of a topic. What is not named stays as it is.",
        .example = "abide topic set prices --consume all --expire 1h",
        .options = options,
        .option_count = COUNT_OF(options),
        .operand_min = 1,
        .operand_max = 1,
    };
    Operands operands;
    int code = session_begin(&session, &table, argument_count, arguments, &operands);
    if (code != SESSION_GO_ON) return code;
    Str path = session_path(&session, "/v1/topics/%s", str_from(operands.items[0]), STR_NULL);
    if (session_check_number(&session, "cap", policy.cap) && session_get(&session, path)) {
        const ClientRequest request = {
            .method = "PUT",
            .path = path,
            .body = make_body(&session, &policy, session.answer.json),
        };
        if (session_call(&session, &request))
            details_print(&session, session.answer.json, "name", NULL);
    }
    return session_end(&session);
}

static const CliCommand commands[] = {
    {"ls", "list topics", NULL, NULL, &ls_verb},
    {"show", "show the policy, pending events and waiters of a topic", NULL, NULL, &show_verb},
    {"set", "change the policy of a topic", topic_set, NULL, NULL},
    {"events", "list the events that are kept on a topic", NULL, NULL, &topic_events_verb},
    {"rm-events", "remove pending events of a topic", topic_rm_events, NULL, NULL},
};

const CliGroup topic_group = {
    .about = "Topics: where events are published and waited for.",
    .example = "abide topic ls\nabide topic set prices --consume all",
    .commands = commands,
    .count = COUNT_OF(commands),
};

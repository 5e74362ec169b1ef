// abide topic: topics, their policies, who waits on them.
//
// A topic that nobody has set a policy for exists while events are pending on it. `set` changes
// what is named of the policy, and the server keeps the rest.
//
// Not here: publishing (signal.c), pending events (pending.c).
#include "base/array.h"
#include "cli/commands/pending.h"
#include "cli/groups.h"

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

static const VerbOption set_options[] = {
    {"consume", 0, "one|all", "who gets an event: the oldest waiter, or every one", VALUE_TEXT, 0},
    {"visible", 0, "all|after-create|after-wait", "to whom: also to those who come later or not",
     VALUE_TEXT, 0},
    {"expire", 0, "DURATION", "how long unread events are kept", VALUE_TEXT, 0},
    {"cap", 0, "N", "most events that are kept; 0: the server's setting", VALUE_NUMBER, 0},
    {0},
};

static const Verb set_verb = {
    .kind = VERB_SET,
    .usage = "abide topic set TOPIC [options]",
    .about = "Changes the policy of a topic. What is not named stays as it is.",
    .example = "abide topic set prices --consume all --expire 1h",
    .path = "/v1/topics/%s",
    .method = "PATCH",
    .id_field = "name",
    .options = set_options,
    .operand_min = 1,
    .operand_max = 1,
};

static const CliCommand commands[] = {
    {"ls", "list topics", NULL, NULL, &ls_verb},
    {"show", "show the policy, pending events and waiters of a topic", NULL, NULL, &show_verb},
    {"set", "change the policy of a topic", NULL, NULL, &set_verb},
    {"events", "list the events that are kept on a topic", NULL, NULL, &topic_events_verb},
    {"rm-events", "remove pending events of a topic", NULL, NULL, &topic_rm_events_verb},
};

const CliGroup topic_group = {
    .about = "Topics: where events are published and waited for.",
    .example = "abide topic ls\nabide topic set prices --consume all",
    .commands = commands,
    .count = COUNT_OF(commands),
};

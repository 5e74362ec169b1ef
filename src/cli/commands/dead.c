// abide dead: events and signals that reached nobody, kept as dead letters.
//
// Not here: why they are kept (docs, and store/kernel/events/topics.c).
//
// A replayed letter wakes a waiter that is there, or waits like a new event; it is no dead letter
// any more either way.
#include "base/array.h"
#include "cli/groups.h"
#include "cli/verbs/verb.h"

static const ListColumn columns[] = {
    {{"ID", true, false}, "id", CELL_TEXT, NULL},
    {{"RUN", false, true}, "run_id", CELL_TEXT, NULL},
    {{"TOPIC", false, true}, "topic", CELL_TEXT, NULL},
    {{"SIGNAL", false, true}, "name", CELL_TEXT, NULL},
    {{"REASON", false, false}, "reason", CELL_TEXT, NULL},
    {{"AGE", false, false}, "created_at", CELL_AGE, NULL},
    {{"PAYLOAD", false, true}, "payload", CELL_JSON, NULL},
};

static const Verb ls_verb = {
    .kind = VERB_LIST,
    .usage = "abide dead ls [options]",
    .about = "Lists dead letters, newest first.",
    .example = "abide dead ls\nabide dead ls -o ids | abide dead replay -",
    .path = "/v1/dead-letters",
    .id_field = "id",
    .columns = columns,
    .column_count = COUNT_OF(columns),
};

static const Verb replay_verb = {
    .kind = VERB_CHANGE,
    .usage = "abide dead replay LETTER... [options]",
    .about = "Delivers dead letters again. \"-\" reads ids from standard input.",
    .example = "abide dead replay 12\nabide dead ls -o ids | abide dead replay -",
    .path = "/v1/dead-letters/%s/replay",
    .id_field = "id",
    .done = "replayed",
};

static const Verb rm_verb = {
    .kind = VERB_CHANGE,
    .usage = "abide dead rm LETTER... [options]",
    .about = "Removes dead letters. \"-\" reads ids from standard input.",
    .example = "abide dead rm 12\nabide dead ls -o ids | abide dead rm -",
    .path = "/v1/dead-letters/%s",
    .method = "DELETE",
    .id_field = "id",
    .done = "removed",
};

static const CliCommand commands[] = {
    {"ls", "list dead letters", NULL, NULL, &ls_verb},
    {"replay", "deliver dead letters again", NULL, NULL, &replay_verb},
    {"rm", "remove dead letters", NULL, NULL, &rm_verb},
};

const CliGroup dead_group = {
    .about = "Dead letters: events and signals that reached nobody.",
    .example = "abide dead ls\nabide dead replay 12",
    .commands = commands,
    .count = COUNT_OF(commands),
};

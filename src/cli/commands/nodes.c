// abide nodes: the processes that work on a store.
//
// For upgrades (who has which version) and for deaths (whose lease has ended, and since when). A
// store that is opened by this command itself has nobody alive but this command.
//
// Not here: whether all of them are well (doctor.c).
#include "base/array.h"
#include "cli/groups.h"
#include "cli/verbs/verb.h"

static Str alive_text(Session *session, const JsonValue *node) {
    (void)session;
    return field_flag(node, "alive") ? STR("yes") : STR("no");
}

static const ListColumn columns[] = {
    {{"ID", true, true}, "id", CELL_TEXT, NULL},
    {{"NAME", false, true}, "name", CELL_TEXT, NULL},
    {{"VERSION", false, false}, "version", CELL_TEXT, NULL},
    {{"ALIVE", false, false}, NULL, CELL_TEXT, alive_text},
    {{"STARTED", false, false}, "started_at", CELL_TEXT, NULL},
    {{"LEASE UNTIL", false, false}, "lease_until", CELL_TEXT, NULL},
    {{"EXECUTING", true, false}, "executing", CELL_TEXT, NULL},
    {{"RESIDENT", true, false}, "resident", CELL_TEXT, NULL},
};

const Verb nodes_verb = {
    .kind = VERB_LIST,
    .usage = "abide nodes [options]",
    .about = "Lists the nodes of a store, newest first: versions, who is alive, runs executing "
             "and in memory.",
    .example = "abide nodes\nabide nodes -o json --server http://10.0.0.7:7433",
    .path = "/v1/nodes",
    .id_field = "id",
    .columns = columns,
    .column_count = COUNT_OF(columns),
    .is_whole = true,
};

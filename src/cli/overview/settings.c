// abide settings: what a running server was told, and where each value comes from.
//
// `abide config print` says what a server would be told if it were started here; this asks one that
// runs, so it shows what is in force there since the last reload. A store that is opened by the
// command itself was told nothing.
//
// Not here: the settings themselves (cli/settings).
#include "base/array.h"
#include "cli/groups.h"
#include "cli/verbs/verb.h"

static const ListColumn columns[] = {
    {{"NAME", false, false}, "name", CELL_TEXT, NULL},
    {{"VALUE", false, true}, "value", CELL_JSON, NULL},
    {{"SOURCE", false, false}, "source", CELL_TEXT, NULL},
    {{"MEANING", false, true}, "description", CELL_TEXT, NULL},
};

const Verb settings_verb = {
    .kind = VERB_LIST,
    .usage = "abide settings [options]",
    .about = "Lists the settings of a running server, and where each comes from: default, file, "
             "environment or flag.",
    .example = "abide settings\nabide settings -o json --server http://10.0.0.7:7433",
    .path = "/v1/settings",
    .id_field = "name",
    .columns = columns,
    .column_count = COUNT_OF(columns),
    .is_whole = true,
};

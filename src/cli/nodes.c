// abide nodes: the processes that work on a store.
//
// For upgrades (who has which version) and for deaths (whose lease has ended, and since when). A
// store that is opened by this command itself has nobody alive but this command.
//
// Not here: whether all of them are well (doctor.c).
#include "cli/list.h"

static const TableColumn columns[] = {
    {"ID", true, true},       {"NAME", false, true},       {"VERSION", false, false},
    {"ALIVE", false, false},  {"STARTED", false, false},   {"LEASE UNTIL", false, false},
    {"EXECUTING", true, false}, {"RESIDENT", true, false},
};

static void add_row(Session *session, TextTable *table, const JsonValue *node) {
    (void)session;
    table_add(table, field_text(node, "id"));
    table_add(table, field_text(node, "name"));
    table_add(table, field_text(node, "version"));
    table_add(table, field_flag(node, "alive") ? STR("yes") : STR("no"));
    table_add(table, field_text(node, "started_at"));
    table_add(table, field_text(node, "lease_until"));
    table_add(table, field_text(node, "executing"));
    table_add(table, field_text(node, "resident"));
}

int cli_nodes(int argument_count, char **arguments) {
    Session session;
    session_init(&session, SESSION_READS);
    OptionTable table = {
        .usage = "abide nodes [options]",
        .about = "Lists the nodes of a store, newest first: versions, who is alive, runs executing "
                 "and in memory.",
        .example = "abide nodes\nabide nodes -o json --server http://10.0.0.7:7433",
    };
    Operands none;
    int code = session_begin(&session, &table, argument_count, arguments, &none);
    if (code != SESSION_GO_ON) return code;
    const Listing listing = {.path = STR("/v1/nodes"),
                             .id_field = "id",
                             .columns = columns,
                             .column_count = sizeof columns / sizeof *columns,
                             .add_row = add_row};
    (void)list_show(&session, &listing);
    return session_end(&session);
}

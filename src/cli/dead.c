// abide dead: events and signals that reached nobody, kept as dead letters.
//
// Not here: why they are kept (docs, and store/kernel_letters.c).
//
// A replayed letter wakes a waiter that is there, or waits like a new event; it is no dead letter
// any more either way.
#include "cli/bulk.h"
#include "cli/groups.h"
#include "cli/list.h"

static const TableColumn columns[] = {
    {"ID", true, false},     {"RUN", false, true},     {"TOPIC", false, true},
    {"SIGNAL", false, true}, {"REASON", false, false}, {"AGE", false, false},
    {"PAYLOAD", false, true},
};

static void add_row(Session *session, TextTable *table, const JsonValue *letter) {
    static const char *const fields[] = {"id", "run_id", "topic", "name", "reason"};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        table_add(table, field_text(letter, fields[i]));
    const JsonValue *payload = json_member(letter, STR("payload"));
    table_add(table, output_relative(&session->arena, session->now_ms,
                                     field_ms(letter, "created_at")));
    table_add(table, payload != NULL ? payload->raw : STR_NULL);
}

static int dead_ls(int argument_count, char **arguments) {
    Listing listing = {.path = STR("/v1/dead-letters"),
                       .limit = LIST_LIMIT,
                       .id_field = "id",
                       .columns = columns,
                       .column_count = sizeof columns / sizeof *columns,
                       .add_row = add_row};
    const OptionTable table = {
        .usage = "abide dead ls [options]",
        .about = "Lists dead letters, newest first.",
        .example = "abide dead ls\nabide dead ls -o ids | abide dead replay -",
    };
    return list_command(&table, &listing, argument_count, arguments);
}

static int dead_replay(int argument_count, char **arguments) {
    const OptionTable table = {
        .usage = "abide dead replay ID... [options]",
        .about = "Delivers dead letters again. \"-\" reads ids from standard input.",
        .example = "abide dead replay 12\nabide dead ls -o ids | abide dead replay -",
    };
    const Bulk bulk = {.request = bulk_request,
                       .path = "/v1/dead-letters/%s/replay",
                       .method = "POST",
                       .body = STR_NULL,
                       .id_field = "id",
                       .done = "replayed",
                       .not_done = "unchanged"};
    return bulk_command(&table, &bulk, argument_count, arguments);
}

static int dead_rm(int argument_count, char **arguments) {
    const OptionTable table = {
        .usage = "abide dead rm ID... [options]",
        .about = "Removes dead letters. \"-\" reads ids from standard input.",
        .example = "abide dead rm 12\nabide dead ls -o ids | abide dead rm -",
    };
    const Bulk bulk = {.request = bulk_request,
                       .path = "/v1/dead-letters/%s",
                       .method = "DELETE",
                       .body = STR_NULL,
                       .id_field = "id",
                       .done = "removed",
                       .not_done = "unchanged"};
    return bulk_command(&table, &bulk, argument_count, arguments);
}

static const CliCommand commands[] = {
    {"ls", "list dead letters", dead_ls, NULL},
    {"replay", "deliver dead letters again", dead_replay, NULL},
    {"rm", "remove dead letters", dead_rm, NULL},
};

const CliGroup dead_group = {
    .about = "Dead letters: events and signals that reached nobody.",
    .example = "abide dead ls\nabide dead replay 12",
    .commands = commands,
    .count = sizeof commands / sizeof *commands,
};

// abide workers: who asks for tasks, what the nodes do themselves, and what nobody asks for.
//
// It is no list of one kind of thing: below the table of workers stand the functions of each node
// and the tasks that wait in vain.
//
// Not here: doing tasks with a program (worker.c).
#include "base/array.h"
#include "cli/groups.h"
#include "cli/runs/next.h"
#include "cli/verbs/verb.h"

static const TableColumn worker_columns[] = {
    {"WORKER", false, true},    {"NODE", false, true},       {"QUEUES", false, true},
    {"TASKS", false, true},     {"STATE", false, false},     {"LAST ASKED", false, false},
    {"HELD", true, false},      {"PER MINUTE", true, false}, {"GIVEN", true, false},
    {"COMPLETED", true, false}, {"FAILED", true, false},     {"LIBRARY", false, true},
};

static Str list_text(Session *session, const JsonValue *worker, const char *field) {
    const JsonValue *list = json_member(worker, str_from(field));
    if (list == NULL || list->kind != JSON_KIND_ARRAY) return STR("any");
    Str text = STR("");
    JSON_EACH (item, list)
        text = arena_printf(&session->arena, "%.*s%s%.*s", STR_ARG(text), text.len > 0 ? ", " : "",
                            STR_ARG(item->string));
    return text;
}

static void add_worker(Session *session, TextTable *table, const JsonValue *worker) {
    bool is_waiting = field_count(worker, "waiting") > 0, is_here = field_flag(worker, "present");
    table_add(table, field_text(worker, "id"));
    table_add(table, field_text(worker, "node"));
    table_add(table, list_text(session, worker, "queues"));
    table_add(table, list_text(session, worker, "names"));
    table_add_painted(table,
                      is_waiting ? STR("waiting")
                      : is_here  ? STR("here")
                                 : STR("silent"),
                      is_here ? PAINT_GREEN : PAINT_DIM);
    table_add(table,
              output_relative(&session->arena, session->now_ms, field_ms(worker, "last_claim_at")));
    table_add(table, field_text(worker, "held"));
    table_add(table, field_text(json_member(worker, STR("recent")), "per_minute"));
    table_add(table, field_text(worker, "handed_out"));
    table_add(table, field_text(worker, "completed"));
    table_add(table, field_text(worker, "failed"));
    table_add(table, field_text(worker, "library"));
}

static void print_line(Session *session, Paint paint, Str text) {
    Buf line, clean;
    buf_init(&line, 1 << 20);
    buf_init(&clean, 1 << 20);
    output_clean(&clean, text, 0);
    output_painted(&line, session->terminal, paint, buf_str(&clean));
    output_json_line(stdout, buf_str(&line));
    buf_done(&line);
    buf_done(&clean);
}

static void print_workers(Session *session, const JsonValue *answer) {
    const JsonValue *workers = json_member(answer, STR("items"));
    const JsonValue *functions = json_member(answer, STR("functions"));
    const JsonValue *unserved = json_member(answer, STR("unserved"));
    TextTable table;
    table_init(&table, worker_columns, COUNT_OF(worker_columns));
    if (workers != NULL)
        JSON_EACH (worker, workers) add_worker(session, &table, worker);
    table_print(&table, stdout, session->terminal);
    table_done(&table);
    if (functions != NULL)
        JSON_EACH (node, functions)
            print_line(session, PAINT_NONE,
                       arena_printf(&session->arena, "%.*s does itself: %.*s",
                                    STR_ARG(field_text(node, "node")),
                                    STR_ARG(list_text(session, node, "names"))));
    if (unserved != NULL)
        JSON_EACH (one, unserved)
            print_line(session, PAINT_YELLOW, next_unserved_text(&session->arena, one));
}

static void show_workers(VerbCall *call) {
    Session *session = &call->session;
    if (!session_get(session, STR("/v1/workers"))) return;
    const JsonValue *answer = session->answer.json;
    const JsonValue *workers = json_member(answer, STR("items"));
    if (session->format == OUTPUT_JSON) output_json(stdout, answer);
    else if (session->format == OUTPUT_TABLE) print_workers(session, answer);
    else if (workers != NULL)
        JSON_EACH (worker, workers) output_id(stdout, field_text(worker, "id"));
}

const Verb workers_verb = {
    .kind = VERB_CALL,
    .usage = "abide workers [options]",
    .about = "Lists the workers that asked for tasks lately, which tasks the nodes do "
             "themselves, and\nthe tasks that nobody asks for.",
    .example = "abide workers\nabide workers -o json",
    .act = show_workers,
};

// Reads of everything else: events and topics, dead letters, tasks, definitions, nodes,
// schedules, values that runs have set, tokens.
//
//   [X1] Pending events are listed oldest first, the order in which they will be taken; the rest
//        newest first.
//   [X2] Topics have no number of their own: they are listed by name, `name` is the last one seen
//        and `next` only says whether there are more.
//
// Not here: runs (reads/runs.c), logs (reads/log.c).
#include "store/reads/internal.h"

enum { TOPICS_MAX = 100000 }; // rows of the topics table that a listing looks at

// ---- events and topics ----

Status read_events(Reads *reads) {
    Query *query = reads->query;
    EventRow match = {.topic = query->name, .run = query->run};
    bool is_run = query->run != 0 || !str_is_null(query->run_id);
    if (is_run) {
        RunRow run;
        TRY(read_find_run(reads, query->run_id, query->run, &run));
        match.run = run.key;
    }
    Walk walk = {.table = TABLE_EVENTS, .after = query->after, .limit = query->limit};
    walk_add(&walk, is_run ? EVENTS_BY_RUN : EVENTS_BY_TOPIC, &match, 1);
    TRY(walk_run(reads, &walk));
    query->events = (EventRow *)(void *)walk.rows;
    query->count = walk.count;
    query->next = walk.next;
    return OK;
}

// [V5] of events/events.c
static Status topic_is_full(Reads *reads, const TopicRow *topic, bool *ret_is_full) {
    int64_t cap = topic->cap > 0 ? topic->cap : reads->kernel->config.events_per_topic;
    *ret_is_full = topic->visible != VISIBLE_AFTER_WAIT && topic->pending_count >= cap;
    if (!*ret_is_full || topic->consume == CONSUME_ONE) return OK;
    EventRow match = {.run = event_taken_mark(topic->name)}, *rows = NULL;
    size_t count = 0;
    Scan scan = {.table = TABLE_EVENTS,
                 .index = EVENTS_BY_RUN,
                 .match = &match,
                 .match_count = 1,
                 .limit = 1};
    TRY(rows_scan(reads->rows, &scan, &reads->scratch, &rows, &count));
    *ret_is_full = count == 0;
    return OK;
}

static Status topics_look(Reads *reads) {
    Query *query = reads->query;
    query->are_full = ARENA_ARRAY(reads->arena, bool, query->count + 1);
    for (size_t i = 0; i < query->count; i++) {
        TRY(topic_is_full(reads, &query->topics[i], &query->are_full[i]));
    }
    return OK;
}

Status read_topic(Reads *reads) {
    Query *query = reads->query;
    TopicRow wanted = {.name = query->name};
    query->topics = ARENA_NEW(reads->arena, TopicRow);
    Status status = rows_get(reads->rows, TABLE_TOPICS, &wanted, reads->arena, query->topics);
    if (status != OK && status != ERR_NOT_FOUND) return status;
    if (status == ERR_NOT_FOUND) {
        *query->topics = (TopicRow){.name = arena_str(reads->arena, query->name),
                                    .consume = reads->kernel->config.default_consume};
    }
    query->count = 1;
    return topics_look(reads);
}

Status read_list_topics(Reads *reads) { // [X2]
    Query *query = reads->query;
    size_t limit = (size_t)read_limit(query->limit);
    TopicRow *rows = NULL;
    size_t count = 0;
    Scan scan = {.table = TABLE_TOPICS, .index = SCAN_PRIMARY, .limit = TOPICS_MAX};
    TRY(rows_scan(reads->rows, &scan, &reads->scratch, &rows, &count));
    size_t first = 0;
    if (!str_is_null(query->name)) {
        while (first < count && str_compare(rows[first].name, query->name) <= 0) first++;
    }
    size_t found = count - first < limit ? count - first : limit;
    query->topics = ARENA_ARRAY(reads->arena, TopicRow, found > 0 ? found : 1);
    for (size_t i = 0; i < found; i++) {
        row_copy(&tables[TABLE_TOPICS], reads->arena, &rows[first + i], &query->topics[i]);
    }
    query->count = found;
    query->next = count - first > limit;
    return topics_look(reads);
}

Status read_dead_letters(Reads *reads) {
    Query *query = reads->query;
    Walk walk = {.table = TABLE_DEAD_LETTERS,
                 .is_descending = true,
                 .after = query->after,
                 .limit = query->limit};
    walk_add(&walk, SCAN_PRIMARY, NULL, 0);
    TRY(walk_run(reads, &walk));
    query->dead_letters = (DeadLetterRow *)(void *)walk.rows;
    query->count = walk.count;
    query->next = walk.next;
    return OK;
}

// ---- tasks ----

Status read_task(Reads *reads) {
    Query *query = reads->query;
    TaskRow wanted = {.id = query->name}, *rows = NULL;
    size_t count = 0;
    Scan scan = {
        .table = TABLE_TASKS, .index = TASKS_BY_ID, .match = &wanted, .match_count = 1, .limit = 1};
    TRY(rows_scan(reads->rows, &scan, reads->arena, &rows, &count));
    if (count == 0) {
        Status status = resume_find(reads);
        if (status != ERR_NOT_FOUND) return status;
        return diag_set(reads->diag, ERR_NOT_FOUND, "TASK_NOT_FOUND", "there is no task \"%.*s\"",
                        STR_ARG(query->name));
    }
    query->tasks = rows;
    query->count = 1;
    return OK;
}

static bool task_is_wanted(const void *row, void *context) {
    const TaskRow *task = row;
    const Query *query = context;
    if (query->states && !(query->states & (1u << task->state))) return false;
    if (!str_is_null(query->name) && !str_equal(task->name, query->name)) return false;
    return str_is_null(query->queue) || str_equal(task->queue, query->queue);
}

Status read_list_tasks(Reads *reads) {
    Query *query = reads->query;
    TaskRow matches[TASK_STATE_COUNT] = {0};
    Walk walk = {.table = TABLE_TASKS,
                 .is_descending = true,
                 .after = query->after,
                 .limit = query->limit,
                 .wanted = task_is_wanted,
                 .context = query};
    if (query->run != 0 || !str_is_null(query->run_id)) {
        RunRow run;
        TRY(read_find_run(reads, query->run_id, query->run, &run));
        matches[0].run = run.key;
        walk_add(&walk, TASKS_BY_RUN, &matches[0], 1);
    } else if (query->states) {
        for (int state = TASK_QUEUED; state < TASK_STATE_COUNT; state++) {
            if (!(query->states & (1u << state))) continue;
            matches[state].state = state;
            walk_add(&walk, TASKS_BY_STATE, &matches[state], 1);
        }
    } else {
        walk_add(&walk, SCAN_PRIMARY, NULL, 0);
    }
    TRY(walk_run(reads, &walk));
    query->tasks = (TaskRow *)(void *)walk.rows;
    query->count = walk.count;
    query->next = walk.next;
    return resume_merge(reads);
}

// ---- definitions ----

static bool definition_is_current(const void *row, void *context) {
    (void)context;
    return ((const DefinitionRow *)row)->is_current != 0;
}

static Status definition_walk(Reads *reads, RowWanted wanted, int64_t limit) {
    Query *query = reads->query;
    DefinitionRow match = {.name = query->name};
    Walk walk = {.table = TABLE_DEFINITIONS,
                 .is_descending = true,
                 .after = query->after,
                 .limit = limit,
                 .wanted = wanted};
    if (str_is_null(query->name)) {
        walk_add(&walk, SCAN_PRIMARY, NULL, 0);
    } else {
        walk_add(&walk, DEFINITIONS_BY_NAME, &match, 1);
    }
    TRY(walk_run(reads, &walk));
    query->definitions = (DefinitionRow *)(void *)walk.rows;
    query->count = walk.count;
    query->next = walk.next;
    return OK;
}

static Status definition_of_version(Reads *reads) {
    Query *query = reads->query;
    DefinitionRow wanted = {.name = query->name, .version = query->version}, *rows = NULL;
    Scan scan = {.table = TABLE_DEFINITIONS,
                 .index = DEFINITIONS_BY_VERSION,
                 .match = &wanted,
                 .match_count = 2,
                 .limit = 1};
    TRY(rows_scan(reads->rows, &scan, reads->arena, &rows, &query->count));
    query->definitions = rows;
    return OK;
}

static Status definition_of_key(Reads *reads) {
    Query *query = reads->query;
    DefinitionRow wanted = {.key = query->run};
    query->definitions = ARENA_NEW(reads->arena, DefinitionRow);
    Status status =
        rows_get(reads->rows, TABLE_DEFINITIONS, &wanted, reads->arena, query->definitions);
    query->count = status == OK;
    return status == ERR_NOT_FOUND ? OK : status;
}

Status read_definition(Reads *reads) {
    Query *query = reads->query;
    if (str_is_null(query->name)) {
        TRY(definition_of_key(reads));
    } else if (!str_is_null(query->version)) {
        TRY(definition_of_version(reads));
    } else {
        query->after = 0;
        TRY(definition_walk(reads, definition_is_current, 1));
        query->next = 0;
    }
    if (query->count > 0) return OK;
    return diag_set(reads->diag, ERR_NOT_FOUND, "WORKFLOW_NOT_FOUND",
                    "there is no workflow \"%.*s\"%s", STR_ARG(query->name),
                    str_is_null(query->version) ? "" : " of that version");
}

Status read_list_definitions(Reads *reads) {
    return definition_walk(reads, NULL, reads->query->limit);
}

// ---- nodes ----

// What nodes say beside their rows counts for more ([B1] of nodes/heartbeats.c).
static Status leases_fill(Reads *reads) {
    RowStore *rows = reads->rows;
    if (rows->ops->beat == NULL) return OK;
    Beat look = {0};
    TRY(rows->ops->beat(rows, &look, reads->arena));
    for (size_t i = 0; i < reads->query->count; i++) {
        NodeRow *node = &reads->query->nodes[i];
        for (size_t k = 0; k < look.count && node->lease_until_ms >= 0; k++) {
            if (look.beats[k].node != node->key) continue;
            node->lease_until_ms = look.beats[k].until_ms;
            node->resident_count = look.beats[k].resident_count;
            break;
        }
    }
    return OK;
}

Status read_node(Reads *reads) {
    Query *query = reads->query;
    NodeRow wanted = {.key = query->run};
    query->nodes = ARENA_NEW(reads->arena, NodeRow);
    Status status = rows_get(reads->rows, TABLE_NODES, &wanted, reads->arena, query->nodes);
    if (status == ERR_NOT_FOUND) {
        return diag_set(reads->diag, status, "NODE_NOT_FOUND", "there is no node with key %lld",
                        (long long)query->run);
    }
    TRY(status);
    query->count = 1;
    return leases_fill(reads);
}

static Status node_runs_count(Reads *reads, int64_t node, int64_t *ret_count) {
    RunRow match = {.owner = node};
    Scan scan = {.table = TABLE_RUNS, .index = RUNS_BY_OWNER, .match = &match, .match_count = 1};
    int64_t *keys;
    size_t count;
    TRY(keys_collect(reads, &scan, NODE_RUNS_COUNTED, &keys, &count));
    *ret_count = (int64_t)count;
    return OK;
}

Status read_list_nodes(Reads *reads) {
    Query *query = reads->query;
    Walk walk = {
        .table = TABLE_NODES, .is_descending = true, .after = query->after, .limit = query->limit};
    walk_add(&walk, SCAN_PRIMARY, NULL, 0);
    TRY(walk_run(reads, &walk));
    query->nodes = (NodeRow *)(void *)walk.rows;
    query->count = walk.count;
    query->next = walk.next;
    query->node_runs = ARENA_ARRAY(reads->arena, int64_t, walk.count + 1);
    for (size_t i = 0; i < walk.count; i++) {
        TRY(node_runs_count(reads, query->nodes[i].key, &query->node_runs[i]));
    }
    return leases_fill(reads);
}

// ---- schedules ----

Status read_schedule(Reads *reads) {
    Query *query = reads->query;
    ScheduleRow wanted = {.name = query->name}, *rows = NULL;
    size_t count = 0;
    Scan scan = {.table = TABLE_SCHEDULES,
                 .index = SCHEDULES_BY_NAME,
                 .match = &wanted,
                 .match_count = 1,
                 .limit = 1};
    TRY(rows_scan(reads->rows, &scan, reads->arena, &rows, &count));
    if (count == 0) {
        return diag_set(reads->diag, ERR_NOT_FOUND, "SCHEDULE_NOT_FOUND",
                        "there is no schedule \"%.*s\"", STR_ARG(query->name));
    }
    query->schedules = rows;
    query->count = 1;
    return OK;
}

Status read_list_schedules(Reads *reads) {
    Query *query = reads->query;
    Walk walk = {.table = TABLE_SCHEDULES,
                 .is_descending = true,
                 .after = query->after,
                 .limit = query->limit};
    walk_add(&walk, SCAN_PRIMARY, NULL, 0);
    TRY(walk_run(reads, &walk));
    query->schedules = (ScheduleRow *)(void *)walk.rows;
    query->count = walk.count;
    query->next = walk.next;
    return OK;
}

// ---- values that runs have set ----

Status read_state(Reads *reads) {
    Query *query = reads->query;
    RunRow run;
    StateRow row;
    TRY(read_find_run(reads, query->run_id, query->run, &run));
    StateRow wanted = {.run = run.key, .name = query->name};
    Status status = rows_get(reads->rows, TABLE_STATES, &wanted, reads->arena, &row);
    if (status == ERR_NOT_FOUND) {
        return diag_set(reads->diag, status, "STATE_NOT_FOUND",
                        "the run \"%.*s\" has not set \"%.*s\"", STR_ARG(run.id),
                        STR_ARG(query->name));
    }
    TRY(status);
    query->text = row.value;
    return OK;
}

Status read_list_states(Reads *reads) {
    Query *query = reads->query;
    RunRow run;
    TRY(read_find_run(reads, query->run_id, query->run, &run));
    StateRow wanted = {.run = run.key};
    Scan scan = {.table = TABLE_STATES,
                 .index = SCAN_PRIMARY,
                 .match = &wanted,
                 .match_count = 1,
                 .limit = LIMIT_LIST_PAGE};
    return rows_scan(reads->rows, &scan, reads->arena, &query->values, &query->count);
}

// ---- tokens ----

Status read_list_tokens(Reads *reads) {
    Query *query = reads->query;
    Walk walk = {
        .table = TABLE_TOKENS, .is_descending = true, .after = query->after, .limit = query->limit};
    walk_add(&walk, SCAN_PRIMARY, NULL, 0);
    TRY(walk_run(reads, &walk));
    query->tokens = (TokenRow *)(void *)walk.rows;
    query->count = walk.count;
    query->next = walk.next;
    return OK;
}

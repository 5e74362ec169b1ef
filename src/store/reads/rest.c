// Reads of everything else: events and topics, dead letters, tasks, definitions, nodes,
// schedules, values that runs have set, tokens.
//
//   [rest-1] Pending events are listed oldest first, the order in which they will be taken; the
//        rest newest first.
//   [rest-2] Topics have no number of their own: they are listed by name.
//
// Not here: runs (reads/runs.c), logs (reads/log.c).
#include "store/reads/internal.h"

enum { TOPICS_MAX = 100000 }; // rows of the topics table that a listing looks at

// ---- events and topics ----

static Status events_walk(Reads *reads, int index, const EventRow *match, const PageSpec *spec,
                          EventPage *ret_page) {
    Walk walk = {.table = TABLE_EVENTS, .page = *spec};
    walk_add(&walk, index, match, 1);
    TRY(walk_run(reads, &walk));
    *ret_page = (EventPage){(EventRow *)(void *)walk.rows, walk.count, walk.next};
    return OK;
}

Status read_events(Reads *reads, const EventFilter *filter, EventPage *ret_page) {
    EventRow match = {.topic = filter->topic};
    return events_walk(reads, EVENTS_BY_TOPIC, &match, &filter->page, ret_page);
}

Status read_signals(Reads *reads, const SignalFilter *filter, EventPage *ret_page) {
    RunRow run;
    TRY(read_run(reads, filter->run, &run));
    EventRow match = {.run = run.key};
    return events_walk(reads, EVENTS_BY_RUN, &match, &filter->page, ret_page);
}

// [events-5] of events/events.c
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

Status read_topic(Reads *reads, Str name, TopicStat *ret_topic) {
    TopicRow wanted = {.name = name};
    Status status = rows_get(reads->rows, TABLE_TOPICS, &wanted, reads->arena, &ret_topic->row);
    if (status != OK && status != ERR_NOT_FOUND) return status;
    if (status == ERR_NOT_FOUND) {
        ret_topic->row = (TopicRow){.name = arena_str(reads->arena, name),
                                    .consume = reads->kernel->config.default_consume};
    }
    return topic_is_full(reads, &ret_topic->row, &ret_topic->is_full);
}

Status read_topics(Reads *reads, const NamePageSpec *spec, TopicPage *ret_page) { // [rest-2]
    size_t limit = (size_t)read_limit(spec->limit);
    TopicRow *rows = NULL;
    size_t count = 0;
    Scan scan = {.table = TABLE_TOPICS, .index = SCAN_PRIMARY, .limit = TOPICS_MAX};
    TRY(rows_scan(reads->rows, &scan, &reads->scratch, &rows, &count));
    size_t first = 0;
    if (!str_is_null(spec->after)) {
        while (first < count && str_compare(rows[first].name, spec->after) <= 0) first++;
    }
    size_t found = count - first < limit ? count - first : limit;
    ret_page->rows = ARENA_ARRAY(reads->arena, TopicStat, found > 0 ? found : 1);
    for (size_t i = 0; i < found; i++) {
        TopicStat *topic = &ret_page->rows[i];
        row_copy(&tables[TABLE_TOPICS], reads->arena, &rows[first + i], &topic->row);
        TRY(topic_is_full(reads, &topic->row, &topic->is_full));
    }
    ret_page->count = found;
    ret_page->has_more = count - first > limit;
    return OK;
}

// All rows of a table whose key is a number, newest first.
static Status walk_newest(Reads *reads, TableNumber table, const PageSpec *spec, Walk *ret_walk) {
    *ret_walk = (Walk){.table = table, .is_descending = true, .page = *spec};
    walk_add(ret_walk, SCAN_PRIMARY, NULL, 0);
    return walk_run(reads, ret_walk);
}

Status read_dead_letters(Reads *reads, const PageSpec *spec, DeadLetterPage *ret_page) {
    Walk walk;
    TRY(walk_newest(reads, TABLE_DEAD_LETTERS, spec, &walk));
    *ret_page = (DeadLetterPage){(DeadLetterRow *)(void *)walk.rows, walk.count, walk.next};
    return OK;
}

// ---- tasks ----

Status read_task(Reads *reads, Str id, TaskRow *ret_task) {
    TaskRow wanted = {.id = id}, *rows = NULL;
    size_t count = 0;
    Scan scan = {
        .table = TABLE_TASKS, .index = TASKS_BY_ID, .match = &wanted, .match_count = 1, .limit = 1};
    TRY(rows_scan(reads->rows, &scan, reads->arena, &rows, &count));
    if (count == 0) {
        Status status = resume_find(reads, id, ret_task);
        if (status != ERR_NOT_FOUND) return status;
        return diag_set(reads->diag, ERR_NOT_FOUND, "TASK_NOT_FOUND", "there is no task \"%.*s\"",
                        STR_ARG(id));
    }
    *ret_task = rows[0];
    return OK;
}

static bool task_is_wanted(const void *row, void *context) {
    const TaskRow *task = row;
    const TaskFilter *filter = context;
    if (filter->states && !(filter->states & (1u << task->state))) return false;
    if (!str_is_null(filter->name) && !str_equal(task->name, filter->name)) return false;
    return str_is_null(filter->queue) || str_equal(task->queue, filter->queue);
}

Status read_tasks(Reads *reads, const TaskFilter *asked, TaskPage *ret_page) {
    TaskFilter filter = *asked;
    TaskRow matches[TASK_STATE_COUNT] = {0};
    Walk walk = {.table = TABLE_TASKS,
                 .is_descending = true,
                 .page = filter.page,
                 .wanted = task_is_wanted,
                 .context = &filter};
    if (filter.run.key != 0 || !str_is_null(filter.run.id)) {
        RunRow run;
        TRY(read_run(reads, filter.run, &run));
        matches[0].run = run.key;
        walk_add(&walk, TASKS_BY_RUN, &matches[0], 1);
    } else if (filter.states) {
        for (int state = TASK_QUEUED; state < TASK_STATE_COUNT; state++) {
            if (!(filter.states & (1u << state))) continue;
            matches[state].state = state;
            walk_add(&walk, TASKS_BY_STATE, &matches[state], 1);
        }
    } else {
        walk_add(&walk, SCAN_PRIMARY, NULL, 0);
    }
    TRY(walk_run(reads, &walk));
    *ret_page = (TaskPage){(TaskRow *)(void *)walk.rows, walk.count, walk.next};
    return resume_merge(reads, &filter, ret_page);
}

// ---- definitions ----

static bool definition_is_current(const void *row, void *context) {
    (void)context;
    return ((const DefinitionRow *)row)->is_current != 0;
}

static Status definition_walk(Reads *reads, const DefinitionFilter *filter, RowWanted wanted,
                              DefinitionPage *ret_page) {
    DefinitionRow match = {.name = filter->name};
    Walk walk = {
        .table = TABLE_DEFINITIONS, .is_descending = true, .page = filter->page, .wanted = wanted};
    if (str_is_null(filter->name)) {
        walk_add(&walk, SCAN_PRIMARY, NULL, 0);
    } else {
        walk_add(&walk, DEFINITIONS_BY_NAME, &match, 1);
    }
    TRY(walk_run(reads, &walk));
    *ret_page = (DefinitionPage){(DefinitionRow *)(void *)walk.rows, walk.count, walk.next};
    return OK;
}

static Status definition_of_version(Reads *reads, const DefinitionRef *which,
                                    DefinitionPage *ret_found) {
    DefinitionRow wanted = {.name = which->name, .version = which->version};
    Scan scan = {.table = TABLE_DEFINITIONS,
                 .index = DEFINITIONS_BY_VERSION,
                 .match = &wanted,
                 .match_count = 2,
                 .limit = 1};
    return rows_scan(reads->rows, &scan, reads->arena, &ret_found->rows, &ret_found->count);
}

static Status definition_missing(Reads *reads, Str name, bool is_version) {
    return diag_set(reads->diag, ERR_NOT_FOUND, "WORKFLOW_NOT_FOUND",
                    "there is no workflow \"%.*s\"%s", STR_ARG(name),
                    is_version ? " of that version" : "");
}

Status read_definition(Reads *reads, const DefinitionRef *which, DefinitionRow *ret_row) {
    const DefinitionFilter filter = {.name = which->name, .page.limit = 1};
    bool is_version = !str_is_null(which->version);
    DefinitionPage found = {0};
    if (is_version) TRY(definition_of_version(reads, which, &found));
    else TRY(definition_walk(reads, &filter, definition_is_current, &found));
    if (found.count == 0) return definition_missing(reads, which->name, is_version);
    *ret_row = found.rows[0];
    return OK;
}

Status read_definition_by_key(Reads *reads, int64_t key, DefinitionRow *ret_row) {
    DefinitionRow wanted = {.key = key};
    Status status = rows_get(reads->rows, TABLE_DEFINITIONS, &wanted, reads->arena, ret_row);
    return status == ERR_NOT_FOUND ? definition_missing(reads, STR_NULL, false) : status;
}

Status read_definitions(Reads *reads, const DefinitionFilter *filter, DefinitionPage *ret_page) {
    return definition_walk(reads, filter, NULL, ret_page);
}

// ---- nodes ----

// What a node says beside its row counts for more ([heartbeats-1] of nodes/heartbeats.c).
static void lease_fill(const Heartbeat *look, NodeRow *node) {
    for (size_t i = 0; i < look->count && node->lease_until_ms >= 0; i++) {
        if (look->heartbeats[i].node != node->key) continue;
        node->lease_until_ms = look->heartbeats[i].until_ms;
        node->resident_count = look->heartbeats[i].resident_count;
        return;
    }
}

static Status leases_look(Reads *reads, Heartbeat *ret_look) {
    RowStore *rows = reads->rows;
    *ret_look = (Heartbeat){0};
    return rows->ops->heartbeat != NULL ? rows->ops->heartbeat(rows, ret_look, reads->arena) : OK;
}

Status read_node(Reads *reads, int64_t key, NodeRow *ret_node) {
    NodeRow wanted = {.key = key};
    Heartbeat look;
    Status status = rows_get(reads->rows, TABLE_NODES, &wanted, reads->arena, ret_node);
    if (status == ERR_NOT_FOUND) {
        return diag_set(reads->diag, status, "NODE_NOT_FOUND", "there is no node with key %lld",
                        (long long)key);
    }
    TRY(status);
    TRY(leases_look(reads, &look));
    lease_fill(&look, ret_node);
    return OK;
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

Status read_nodes(Reads *reads, const PageSpec *spec, NodePage *ret_page) {
    Walk walk;
    Heartbeat look;
    TRY(walk_newest(reads, TABLE_NODES, spec, &walk));
    TRY(leases_look(reads, &look));
    const NodeRow *rows = (const NodeRow *)(void *)walk.rows;
    NodeStat *nodes = ARENA_ARRAY(reads->arena, NodeStat, walk.count + 1);
    for (size_t i = 0; i < walk.count; i++) {
        nodes[i].row = rows[i];
        lease_fill(&look, &nodes[i].row);
        TRY(node_runs_count(reads, rows[i].key, &nodes[i].run_count));
    }
    *ret_page = (NodePage){nodes, walk.count, walk.next};
    return OK;
}

// ---- schedules ----

Status read_schedule(Reads *reads, Str name, ScheduleRow *ret_schedule) {
    ScheduleRow wanted = {.name = name}, *rows = NULL;
    size_t count = 0;
    Scan scan = {.table = TABLE_SCHEDULES,
                 .index = SCHEDULES_BY_NAME,
                 .match = &wanted,
                 .match_count = 1,
                 .limit = 1};
    TRY(rows_scan(reads->rows, &scan, reads->arena, &rows, &count));
    if (count == 0) {
        return diag_set(reads->diag, ERR_NOT_FOUND, "SCHEDULE_NOT_FOUND",
                        "there is no schedule \"%.*s\"", STR_ARG(name));
    }
    *ret_schedule = rows[0];
    return OK;
}

Status read_schedules(Reads *reads, const PageSpec *spec, SchedulePage *ret_page) {
    Walk walk;
    TRY(walk_newest(reads, TABLE_SCHEDULES, spec, &walk));
    *ret_page = (SchedulePage){(ScheduleRow *)(void *)walk.rows, walk.count, walk.next};
    return OK;
}

// ---- values that runs have set ----

Status read_state(Reads *reads, const StateRef *state, Str *ret_value) {
    RunRow run;
    StateRow row;
    TRY(read_run(reads, state->run, &run));
    StateRow wanted = {.run = run.key, .name = state->name};
    Status status = rows_get(reads->rows, TABLE_STATES, &wanted, reads->arena, &row);
    if (status == ERR_NOT_FOUND) {
        return diag_set(reads->diag, status, "STATE_NOT_FOUND",
                        "the run \"%.*s\" has not set \"%.*s\"", STR_ARG(run.id),
                        STR_ARG(state->name));
    }
    TRY(status);
    *ret_value = row.value;
    return OK;
}

Status read_states(Reads *reads, RunRef which, StateList *ret_list) {
    RunRow run;
    TRY(read_run(reads, which, &run));
    StateRow wanted = {.run = run.key};
    Scan scan = {.table = TABLE_STATES,
                 .index = SCAN_PRIMARY,
                 .match = &wanted,
                 .match_count = 1,
                 .limit = LIMIT_LIST_PAGE};
    return rows_scan(reads->rows, &scan, reads->arena, &ret_list->rows, &ret_list->count);
}

// ---- tokens ----

Status read_tokens(Reads *reads, const PageSpec *spec, TokenPage *ret_page) {
    Walk walk;
    TRY(walk_newest(reads, TABLE_TOKENS, spec, &walk));
    *ret_page = (TokenPage){(TokenRow *)(void *)walk.rows, walk.count, walk.next};
    return OK;
}

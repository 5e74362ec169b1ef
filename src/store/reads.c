// Reads: the questions of reads.h, put to the one verb of a store.
//
//   [Q1], [Q2] of reads.h.
//
// Not here: how they are answered (reads/).
#include "store/reads.h"

Status store_run_by_id(Store *store, Arena *arena, Str id, RunRow *ret_run, Diag *diag) {
    Query query = {.kind = QUERY_RUN, .run_id = id};
    TRY(store_read(store, arena, &query, diag));
    *ret_run = query.runs[0];
    return OK;
}

Status store_run_by_key(Store *store, Arena *arena, int64_t key, RunRow *ret_run, Diag *diag) {
    Query query = {.kind = QUERY_RUN, .run = key};
    TRY(store_read(store, arena, &query, diag));
    *ret_run = query.runs[0];
    return OK;
}

Status store_load_run(Store *store, Arena *arena, int64_t key, RunLoad *ret_load, Diag *diag) {
    Query query = {.kind = QUERY_RUN_LOAD, .run = key};
    TRY(store_read(store, arena, &query, diag));
    *ret_load = (RunLoad){
        .run = query.runs[0], .input = query.text, .log = query.log, .log_count = query.log_count};
    return OK;
}

Status store_load_runs(Store *store, Arena *arena, RunKeys keys, RunLoads *ret_loads, Diag *diag) {
    Query query = {.kind = QUERY_LOAD_RUNS, .keys = keys.keys, .key_count = keys.count};
    TRY(store_read(store, arena, &query, diag));
    *ret_loads = (RunLoads){query.loads, query.count};
    return OK;
}

Status store_list_runs(Store *store, Arena *arena, const RunFilter *filter, RunPage *ret_page,
                       Diag *diag) {
    Query query = {.kind = QUERY_LIST_RUNS, .filter = *filter, .size_max = filter->size_max};
    TRY(store_read(store, arena, &query, diag));
    ret_page->rows = query.runs;
    ret_page->count = query.count;
    ret_page->next = query.next;
    return OK;
}

Status store_list_waiters(Store *store, Arena *arena, const WaiterFilter *filter, RunPage *ret_page,
                          Diag *diag) {
    Query query = {.kind = QUERY_WAITERS,
                   .name = filter->topic,
                   .after = filter->page.after,
                   .limit = filter->page.limit,
                   .size_max = filter->page.size_max};
    TRY(store_read(store, arena, &query, diag));
    ret_page->rows = query.runs;
    ret_page->count = query.count;
    ret_page->next = query.next;
    return OK;
}

Status store_list_owned(Store *store, Arena *arena, const OwnedFilter *filter, RunPage *ret_page,
                        Diag *diag) {
    Query query = {.kind = QUERY_OWNED,
                   .run = filter->node,
                   .after = filter->page.after,
                   .limit = filter->page.limit,
                   .size_max = filter->page.size_max};
    TRY(store_read(store, arena, &query, diag));
    ret_page->rows = query.runs;
    ret_page->count = query.count;
    ret_page->next = query.next;
    return OK;
}

Status store_find_result(Store *store, Arena *arena, RunRef run, RunResult *ret_result,
                         Diag *diag) {
    Query query = {.kind = QUERY_RESULT, .run_id = run.id, .run = run.key};
    TRY(store_read(store, arena, &query, diag));
    *ret_result = (RunResult){query.text, query.number};
    return OK;
}

Status store_find_pause_reason(Store *store, Arena *arena, RunRef run, Str *ret_reason,
                               Diag *diag) {
    Query query = {.kind = QUERY_PAUSE_REASON, .run_id = run.id, .run = run.key};
    TRY(store_read(store, arena, &query, diag));
    *ret_reason = query.text;
    return OK;
}

Status store_read_log(Store *store, Arena *arena, const LogFilter *filter, LogPage *ret_page,
                      Diag *diag) {
    Query query = {.kind = QUERY_LOG,
                   .run_id = filter->run.id,
                   .run = filter->run.key,
                   .after = filter->page.after,
                   .limit = filter->page.limit,
                   .size_max = filter->page.size_max};
    TRY(store_read(store, arena, &query, diag));
    ret_page->rows = query.log;
    ret_page->count = query.count;
    ret_page->next = query.next;
    return OK;
}

Status store_find_step(Store *store, Arena *arena, const StepRef *step, LogRow *ret_entry,
                       Diag *diag) {
    Query query = {.kind = QUERY_STEP,
                   .run_id = step->run.id,
                   .run = step->run.key,
                   .name = step->name,
                   .iteration = step->iteration};
    TRY(store_read(store, arena, &query, diag));
    *ret_entry = query.log[0];
    return OK;
}

Status store_list_steps(Store *store, Arena *arena, const StepFilter *filter, LogPage *ret_page,
                        Diag *diag) {
    Query query = {.kind = QUERY_LIST_STEPS,
                   .run_id = filter->run.id,
                   .run = filter->run.key,
                   .name = filter->name,
                   .iteration = filter->iteration,
                   .after = filter->page.after,
                   .limit = filter->page.limit,
                   .size_max = filter->page.size_max};
    TRY(store_read(store, arena, &query, diag));
    ret_page->rows = query.log;
    ret_page->count = query.count;
    ret_page->next = query.next;
    return OK;
}

Status store_find_state(Store *store, Arena *arena, const StateRef *state, Str *ret_value,
                        Diag *diag) {
    Query query = {
        .kind = QUERY_STATE, .run_id = state->run.id, .run = state->run.key, .name = state->name};
    TRY(store_read(store, arena, &query, diag));
    *ret_value = query.text;
    return OK;
}

Status store_list_states(Store *store, Arena *arena, RunRef run, StateList *ret_list, Diag *diag) {
    Query query = {.kind = QUERY_LIST_STATES, .run_id = run.id, .run = run.key};
    TRY(store_read(store, arena, &query, diag));
    *ret_list = (StateList){query.values, query.count};
    return OK;
}

Status store_list_events(Store *store, Arena *arena, const EventFilter *filter, EventPage *ret_page,
                         Diag *diag) {
    Query query = {.kind = QUERY_EVENTS,
                   .name = filter->topic,
                   .after = filter->page.after,
                   .limit = filter->page.limit,
                   .size_max = filter->page.size_max};
    TRY(store_read(store, arena, &query, diag));
    ret_page->rows = query.events;
    ret_page->count = query.count;
    ret_page->next = query.next;
    return OK;
}

Status store_list_signals(Store *store, Arena *arena, const SignalFilter *filter,
                          EventPage *ret_page, Diag *diag) {
    Query query = {.kind = QUERY_EVENTS,
                   .run_id = filter->run.id,
                   .run = filter->run.key,
                   .after = filter->page.after,
                   .limit = filter->page.limit,
                   .size_max = filter->page.size_max};
    TRY(store_read(store, arena, &query, diag));
    ret_page->rows = query.events;
    ret_page->count = query.count;
    ret_page->next = query.next;
    return OK;
}

Status store_find_topic(Store *store, Arena *arena, Str name, TopicStat *ret_topic, Diag *diag) {
    Query query = {.kind = QUERY_TOPIC, .name = name};
    TRY(store_read(store, arena, &query, diag));
    *ret_topic = (TopicStat){query.topics[0], query.are_full[0]};
    return OK;
}

Status store_list_topics(Store *store, Arena *arena, const NamePageSpec *page, TopicPage *ret_page,
                         Diag *diag) {
    Query query = {.kind = QUERY_LIST_TOPICS, .name = page->after, .limit = page->limit};
    TRY(store_read(store, arena, &query, diag));
    TopicStat *rows = ARENA_ARRAY(arena, TopicStat, query.count + 1);
    for (size_t i = 0; i < query.count; i++)
        rows[i] = (TopicStat){query.topics[i], query.are_full[i]};
    *ret_page = (TopicPage){rows, query.count, query.next != 0};
    return OK;
}

Status store_list_dead_letters(Store *store, Arena *arena, const PageSpec *page,
                               DeadLetterPage *ret_page, Diag *diag) {
    Query query = {.kind = QUERY_DEAD_LETTERS,
                   .after = page->after,
                   .limit = page->limit,
                   .size_max = page->size_max};
    TRY(store_read(store, arena, &query, diag));
    ret_page->rows = query.dead_letters;
    ret_page->count = query.count;
    ret_page->next = query.next;
    return OK;
}

Status store_find_task(Store *store, Arena *arena, Str id, TaskRow *ret_task, Diag *diag) {
    Query query = {.kind = QUERY_TASK, .name = id};
    TRY(store_read(store, arena, &query, diag));
    *ret_task = query.tasks[0];
    return OK;
}

Status store_list_tasks(Store *store, Arena *arena, const TaskFilter *filter, TaskPage *ret_page,
                        Diag *diag) {
    Query query = {.kind = QUERY_LIST_TASKS,
                   .run_id = filter->run.id,
                   .run = filter->run.key,
                   .name = filter->name,
                   .queue = filter->queue,
                   .states = filter->states,
                   .after = filter->page.after,
                   .limit = filter->page.limit,
                   .size_max = filter->page.size_max};
    TRY(store_read(store, arena, &query, diag));
    ret_page->rows = query.tasks;
    ret_page->count = query.count;
    ret_page->next = query.next;
    return OK;
}

Status store_list_claimable(Store *store, Arena *arena, const ClaimableFilter *filter,
                            TaskPage *ret_page, Diag *diag) {
    Query query = {.kind = QUERY_CLAIMABLE, .queue = filter->queue, .limit = filter->limit};
    TRY(store_read(store, arena, &query, diag));
    ret_page->rows = query.tasks;
    ret_page->count = query.count;
    ret_page->next = query.next;
    return OK;
}

Status store_find_queue(Store *store, Arena *arena, Str name, QueueStat *ret_queue, Diag *diag) {
    Query query = {.kind = QUERY_QUEUE, .name = name};
    TRY(store_read(store, arena, &query, diag));
    *ret_queue = query.queues[0];
    return OK;
}

Status store_list_queues(Store *store, Arena *arena, const NamePageSpec *page, QueuePage *ret_page,
                         Diag *diag) {
    Query query = {.kind = QUERY_LIST_QUEUES, .name = page->after, .limit = page->limit};
    TRY(store_read(store, arena, &query, diag));
    *ret_page = (QueuePage){query.queues, query.count, query.next != 0};
    return OK;
}

Status store_find_definition(Store *store, Arena *arena, const DefinitionRef *which,
                             DefinitionRow *ret_definition, Diag *diag) {
    Query query = {.kind = QUERY_DEFINITION, .name = which->name, .version = which->version};
    TRY(store_read(store, arena, &query, diag));
    *ret_definition = query.definitions[0];
    return OK;
}

Status store_definition_by_key(Store *store, Arena *arena, int64_t key,
                               DefinitionRow *ret_definition, Diag *diag) {
    Query query = {.kind = QUERY_DEFINITION, .run = key};
    TRY(store_read(store, arena, &query, diag));
    *ret_definition = query.definitions[0];
    return OK;
}

Status store_list_definitions(Store *store, Arena *arena, const DefinitionFilter *filter,
                              DefinitionPage *ret_page, Diag *diag) {
    Query query = {.kind = QUERY_LIST_DEFINITIONS,
                   .name = filter->name,
                   .after = filter->page.after,
                   .limit = filter->page.limit,
                   .size_max = filter->page.size_max};
    TRY(store_read(store, arena, &query, diag));
    ret_page->rows = query.definitions;
    ret_page->count = query.count;
    ret_page->next = query.next;
    return OK;
}

Status store_find_schedule(Store *store, Arena *arena, Str name, ScheduleRow *ret_schedule,
                           Diag *diag) {
    Query query = {.kind = QUERY_SCHEDULE, .name = name};
    TRY(store_read(store, arena, &query, diag));
    *ret_schedule = query.schedules[0];
    return OK;
}

Status store_list_schedules(Store *store, Arena *arena, const PageSpec *page,
                            SchedulePage *ret_page, Diag *diag) {
    Query query = {.kind = QUERY_LIST_SCHEDULES,
                   .after = page->after,
                   .limit = page->limit,
                   .size_max = page->size_max};
    TRY(store_read(store, arena, &query, diag));
    ret_page->rows = query.schedules;
    ret_page->count = query.count;
    ret_page->next = query.next;
    return OK;
}

Status store_node_by_key(Store *store, Arena *arena, int64_t key, NodeRow *ret_node, Diag *diag) {
    Query query = {.kind = QUERY_NODE, .run = key};
    TRY(store_read(store, arena, &query, diag));
    *ret_node = query.nodes[0];
    return OK;
}

Status store_list_nodes(Store *store, Arena *arena, const PageSpec *page, NodePage *ret_page,
                        Diag *diag) {
    Query query = {.kind = QUERY_LIST_NODES,
                   .after = page->after,
                   .limit = page->limit,
                   .size_max = page->size_max};
    TRY(store_read(store, arena, &query, diag));
    NodeStat *rows = ARENA_ARRAY(arena, NodeStat, query.count + 1);
    for (size_t i = 0; i < query.count; i++)
        rows[i] = (NodeStat){query.nodes[i], query.node_runs[i]};
    *ret_page = (NodePage){rows, query.count, query.next};
    return OK;
}

Status store_list_tokens(Store *store, Arena *arena, const PageSpec *page, TokenPage *ret_page,
                         Diag *diag) {
    Query query = {.kind = QUERY_LIST_TOKENS,
                   .after = page->after,
                   .limit = page->limit,
                   .size_max = page->size_max};
    TRY(store_read(store, arena, &query, diag));
    ret_page->rows = query.tokens;
    ret_page->count = query.count;
    ret_page->next = query.next;
    return OK;
}

Status store_next_due(Store *store, Arena *arena, int64_t *ret_due_at_ms, Diag *diag) {
    Query query = {.kind = QUERY_DUE};
    TRY(store_read(store, arena, &query, diag));
    *ret_due_at_ms = query.number;
    return OK;
}

Status store_stats(Store *store, Arena *arena, StoreStats *ret_stats, Diag *diag) {
    Query query = {.kind = QUERY_STATS};
    TRY(store_read(store, arena, &query, diag));
    *ret_stats = query.stats;
    return OK;
}

// Reads: the questions of reads.h, put to the one verb of a store.
//
//   [reads-1] of reads.h: what a request answers is copied out only when the answer
//   is OK.
//
// Not here: how they are answered (reads/).
#include "store/reads.h"
#include "store/read_request.h"

static Status ask(Store *store, Arena *arena, ReadRequest *request, Diag *diag) {
    return store->ops->read(store, arena, request, diag);
}

Status store_run_by_id(Store *store, Arena *arena, Str id, RunRow *ret_run, Diag *diag) {
    ReadRequest request = {.kind = READ_RUN, .in.run.id = id};
    TRY(ask(store, arena, &request, diag));
    *ret_run = request.out.run;
    return OK;
}

Status store_run_by_key(Store *store, Arena *arena, int64_t key, RunRow *ret_run, Diag *diag) {
    ReadRequest request = {.kind = READ_RUN, .in.run.key = key};
    TRY(ask(store, arena, &request, diag));
    *ret_run = request.out.run;
    return OK;
}

Status store_load_run(Store *store, Arena *arena, int64_t key, RunLoad *ret_load, Diag *diag) {
    ReadRequest request = {.kind = READ_RUN_LOAD, .in.key = key};
    TRY(ask(store, arena, &request, diag));
    *ret_load = request.out.load;
    return OK;
}

Status store_load_runs(Store *store, Arena *arena, RunKeys keys, RunLoads *ret_loads, Diag *diag) {
    ReadRequest request = {.kind = READ_RUN_LOADS, .in.keys = keys};
    TRY(ask(store, arena, &request, diag));
    *ret_loads = request.out.loads;
    return OK;
}

Status store_list_runs(Store *store, Arena *arena, const RunFilter *filter, RunPage *ret_page,
                       Diag *diag) {
    ReadRequest request = {.kind = READ_RUNS, .in.runs = *filter};
    TRY(ask(store, arena, &request, diag));
    *ret_page = request.out.runs;
    return OK;
}

Status store_list_waiters(Store *store, Arena *arena, const WaiterFilter *filter, RunPage *ret_page,
                          Diag *diag) {
    ReadRequest request = {.kind = READ_WAITERS, .in.waiters = *filter};
    TRY(ask(store, arena, &request, diag));
    *ret_page = request.out.runs;
    return OK;
}

Status store_list_owned(Store *store, Arena *arena, const OwnedFilter *filter, RunPage *ret_page,
                        Diag *diag) {
    ReadRequest request = {.kind = READ_OWNED, .in.owned = *filter};
    TRY(ask(store, arena, &request, diag));
    *ret_page = request.out.runs;
    return OK;
}

Status store_find_result(Store *store, Arena *arena, RunRef run, RunResult *ret_result,
                         Diag *diag) {
    ReadRequest request = {.kind = READ_RESULT, .in.run = run};
    TRY(ask(store, arena, &request, diag));
    *ret_result = request.out.result;
    return OK;
}

Status store_find_pause_reason(Store *store, Arena *arena, RunRef run, Str *ret_reason,
                               Diag *diag) {
    ReadRequest request = {.kind = READ_PAUSE_REASON, .in.run = run};
    TRY(ask(store, arena, &request, diag));
    *ret_reason = request.out.text;
    return OK;
}

Status store_read_log(Store *store, Arena *arena, const LogFilter *filter, LogPage *ret_page,
                      Diag *diag) {
    ReadRequest request = {.kind = READ_LOG, .in.log = *filter};
    TRY(ask(store, arena, &request, diag));
    *ret_page = request.out.log;
    return OK;
}

Status store_find_step(Store *store, Arena *arena, const StepRef *step, LogRow *ret_entry,
                       Diag *diag) {
    ReadRequest request = {.kind = READ_STEP, .in.step = *step};
    TRY(ask(store, arena, &request, diag));
    *ret_entry = request.out.step;
    return OK;
}

Status store_list_steps(Store *store, Arena *arena, const StepFilter *filter, LogPage *ret_page,
                        Diag *diag) {
    ReadRequest request = {.kind = READ_STEPS, .in.steps = *filter};
    TRY(ask(store, arena, &request, diag));
    *ret_page = request.out.log;
    return OK;
}

Status store_find_state(Store *store, Arena *arena, const StateRef *state, Str *ret_value,
                        Diag *diag) {
    ReadRequest request = {.kind = READ_STATE, .in.state = *state};
    TRY(ask(store, arena, &request, diag));
    *ret_value = request.out.text;
    return OK;
}

Status store_list_states(Store *store, Arena *arena, RunRef run, StateList *ret_list, Diag *diag) {
    ReadRequest request = {.kind = READ_STATES, .in.run = run};
    TRY(ask(store, arena, &request, diag));
    *ret_list = request.out.states;
    return OK;
}

Status store_list_events(Store *store, Arena *arena, const EventFilter *filter, EventPage *ret_page,
                         Diag *diag) {
    ReadRequest request = {.kind = READ_EVENTS, .in.events = *filter};
    TRY(ask(store, arena, &request, diag));
    *ret_page = request.out.events;
    return OK;
}

Status store_list_signals(Store *store, Arena *arena, const SignalFilter *filter,
                          EventPage *ret_page, Diag *diag) {
    ReadRequest request = {.kind = READ_SIGNALS, .in.signals = *filter};
    TRY(ask(store, arena, &request, diag));
    *ret_page = request.out.events;
    return OK;
}

Status store_find_topic(Store *store, Arena *arena, Str name, TopicStat *ret_topic, Diag *diag) {
    ReadRequest request = {.kind = READ_TOPIC, .in.name = name};
    TRY(ask(store, arena, &request, diag));
    *ret_topic = request.out.topic;
    return OK;
}

Status store_list_topics(Store *store, Arena *arena, const NamePageSpec *page, TopicPage *ret_page,
                         Diag *diag) {
    ReadRequest request = {.kind = READ_TOPICS, .in.names = *page};
    TRY(ask(store, arena, &request, diag));
    *ret_page = request.out.topics;
    return OK;
}

Status store_list_dead_letters(Store *store, Arena *arena, const PageSpec *page,
                               DeadLetterPage *ret_page, Diag *diag) {
    ReadRequest request = {.kind = READ_DEAD_LETTERS, .in.page = *page};
    TRY(ask(store, arena, &request, diag));
    *ret_page = request.out.dead_letters;
    return OK;
}

Status store_find_task(Store *store, Arena *arena, Str id, TaskRow *ret_task, Diag *diag) {
    ReadRequest request = {.kind = READ_TASK, .in.name = id};
    TRY(ask(store, arena, &request, diag));
    *ret_task = request.out.task;
    return OK;
}

Status store_list_tasks(Store *store, Arena *arena, const TaskFilter *filter, TaskPage *ret_page,
                        Diag *diag) {
    ReadRequest request = {.kind = READ_TASKS, .in.tasks = *filter};
    TRY(ask(store, arena, &request, diag));
    *ret_page = request.out.tasks;
    return OK;
}

Status store_list_claimable(Store *store, Arena *arena, const ClaimableFilter *filter,
                            TaskPage *ret_page, Diag *diag) {
    ReadRequest request = {.kind = READ_CLAIMABLE, .in.claimable = *filter};
    TRY(ask(store, arena, &request, diag));
    *ret_page = request.out.tasks;
    return OK;
}

Status store_find_queue(Store *store, Arena *arena, Str name, QueueStat *ret_queue, Diag *diag) {
    ReadRequest request = {.kind = READ_QUEUE, .in.name = name};
    TRY(ask(store, arena, &request, diag));
    *ret_queue = request.out.queue;
    return OK;
}

Status store_list_queues(Store *store, Arena *arena, const NamePageSpec *page, QueuePage *ret_page,
                         Diag *diag) {
    ReadRequest request = {.kind = READ_QUEUES, .in.names = *page};
    TRY(ask(store, arena, &request, diag));
    *ret_page = request.out.queues;
    return OK;
}

Status store_find_definition(Store *store, Arena *arena, const DefinitionRef *which,
                             DefinitionRow *ret_definition, Diag *diag) {
    ReadRequest request = {.kind = READ_DEFINITION, .in.definition = *which};
    TRY(ask(store, arena, &request, diag));
    *ret_definition = request.out.definition;
    return OK;
}

Status store_definition_by_key(Store *store, Arena *arena, int64_t key,
                               DefinitionRow *ret_definition, Diag *diag) {
    ReadRequest request = {.kind = READ_DEFINITION_BY_KEY, .in.key = key};
    TRY(ask(store, arena, &request, diag));
    *ret_definition = request.out.definition;
    return OK;
}

Status store_list_definitions(Store *store, Arena *arena, const DefinitionFilter *filter,
                              DefinitionPage *ret_page, Diag *diag) {
    ReadRequest request = {.kind = READ_DEFINITIONS, .in.definitions = *filter};
    TRY(ask(store, arena, &request, diag));
    *ret_page = request.out.definitions;
    return OK;
}

Status store_find_schedule(Store *store, Arena *arena, Str name, ScheduleRow *ret_schedule,
                           Diag *diag) {
    ReadRequest request = {.kind = READ_SCHEDULE, .in.name = name};
    TRY(ask(store, arena, &request, diag));
    *ret_schedule = request.out.schedule;
    return OK;
}

Status store_list_schedules(Store *store, Arena *arena, const PageSpec *page,
                            SchedulePage *ret_page, Diag *diag) {
    ReadRequest request = {.kind = READ_SCHEDULES, .in.page = *page};
    TRY(ask(store, arena, &request, diag));
    *ret_page = request.out.schedules;
    return OK;
}

Status store_node_by_key(Store *store, Arena *arena, int64_t key, NodeRow *ret_node, Diag *diag) {
    ReadRequest request = {.kind = READ_NODE, .in.key = key};
    TRY(ask(store, arena, &request, diag));
    *ret_node = request.out.node;
    return OK;
}

Status store_list_nodes(Store *store, Arena *arena, const PageSpec *page, NodePage *ret_page,
                        Diag *diag) {
    ReadRequest request = {.kind = READ_NODES, .in.page = *page};
    TRY(ask(store, arena, &request, diag));
    *ret_page = request.out.nodes;
    return OK;
}

Status store_list_tokens(Store *store, Arena *arena, const PageSpec *page, TokenPage *ret_page,
                         Diag *diag) {
    ReadRequest request = {.kind = READ_TOKENS, .in.page = *page};
    TRY(ask(store, arena, &request, diag));
    *ret_page = request.out.tokens;
    return OK;
}

Status store_next_due(Store *store, Arena *arena, int64_t *ret_due_at_ms, Diag *diag) {
    ReadRequest request = {.kind = READ_DUE};
    TRY(ask(store, arena, &request, diag));
    *ret_due_at_ms = request.out.due_at_ms;
    return OK;
}

Status store_stats(Store *store, Arena *arena, StoreStats *ret_stats, Diag *diag) {
    ReadRequest request = {.kind = READ_STATS};
    TRY(ask(store, arena, &request, diag));
    *ret_stats = request.out.stats;
    return OK;
}

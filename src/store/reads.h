// Reads: what can be asked of a store, one function per question.
//
//   [store-8]-[store-11] of store.h hold for each of them.
//   [reads-1] What is answered lives in the arena; ret_x is written only when the answer is OK.
//   [reads-2] A question about one thing answers ERR_NOT_FOUND when there is none, with a code of
//        its own (RUN_NOT_FOUND …). A page may be empty.
//   [read-types-3] of read_types.h for pages.
#pragma once
#include "store/read_types.h"

// ---- runs ----

// The run, with its snapshot.
MUST_CHECK Status store_run_by_id(Store *store, Arena *arena, Str id, RunRow *ret_run, Diag *diag);
MUST_CHECK Status store_run_by_key(Store *store, Arena *arena, int64_t key, RunRow *ret_run,
                                   Diag *diag);
// What a runner needs to go on: the run, its input and, for a flow run with a snapshot, the
// LOG_WAIT entries after run.log_seq; otherwise its checkpoints and the LOG_STEP_ATTEMPT entries
// before them, in order of position.
MUST_CHECK Status store_load_run(Store *store, Arena *arena, int64_t key, RunLoad *ret_load,
                                 Diag *diag);
// The same of many runs in one read, and the ids of their parents.
MUST_CHECK Status store_load_runs(Store *store, Arena *arena, RunKeys keys, RunLoads *ret_loads,
                                  Diag *diag);
// Newest first, or oldest first if the filter says so.
MUST_CHECK Status store_list_runs(Store *store, Arena *arena, const RunFilter *filter,
                                  RunPage *ret_page, Diag *diag);
// Runs that are parked on a topic, in the order in which they parked.
MUST_CHECK Status store_list_waiters(Store *store, Arena *arena, const WaiterFilter *filter,
                                     RunPage *ret_page, Diag *diag);
// RUNNING runs whose owner is the node, by key.
MUST_CHECK Status store_list_owned(Store *store, Arena *arena, const OwnedFilter *filter,
                                   RunPage *ret_page, Diag *diag);
// ERR_NOT_FOUND also while it has not ended.
MUST_CHECK Status store_find_result(Store *store, Arena *arena, RunRef run, RunResult *ret_result,
                                    Diag *diag);
// Why a paused run is held, an error object; null = it is not paused.
MUST_CHECK Status store_find_pause_reason(Store *store, Arena *arena, RunRef run, Str *ret_reason,
                                          Diag *diag);

// ---- a run's log ----

// All entries, oldest first.
MUST_CHECK Status store_read_log(Store *store, Arena *arena, const LogFilter *filter,
                                 LogPage *ret_page, Diag *diag);
// One checkpoint; of a task or child that has ended its end.
MUST_CHECK Status store_find_step(Store *store, Arena *arena, const StepRef *step,
                                  LogRow *ret_entry, Diag *diag);
// Checkpoints in order of position. What began and ended at one position is on one page.
MUST_CHECK Status store_list_steps(Store *store, Arena *arena, const StepFilter *filter,
                                   LogPage *ret_page, Diag *diag);

// ---- values that runs have set ----

MUST_CHECK Status store_find_state(Store *store, Arena *arena, const StateRef *state,
                                   Str *ret_value, Diag *diag);
// All that the run has set, by name.
MUST_CHECK Status store_list_states(Store *store, Arena *arena, RunRef run, StateList *ret_list,
                                    Diag *diag);

// ---- places ----

// Where the runs of a version are parked, or failed, and how many.
MUST_CHECK Status store_list_places(Store *store, Arena *arena, int64_t definition,
                                    PlaceList *ret_list, Diag *diag);

// ---- kept snapshots ----

// Beginnings of turns of a script, oldest first.
MUST_CHECK Status store_list_snapshots(Store *store, Arena *arena, const SnapshotFilter *filter,
                                       SnapshotPage *ret_page, Diag *diag);

// ---- events and topics ----

// Pending events of a topic, pending signals of a run: in the order in which they will be taken.
MUST_CHECK Status store_list_events(Store *store, Arena *arena, const EventFilter *filter,
                                    EventPage *ret_page, Diag *diag);
MUST_CHECK Status store_list_signals(Store *store, Arena *arena, const SignalFilter *filter,
                                     EventPage *ret_page, Diag *diag);
// Any name has an answer.
MUST_CHECK Status store_find_topic(Store *store, Arena *arena, Str name, TopicStat *ret_topic,
                                   Diag *diag);
// By name.
MUST_CHECK Status store_list_topics(Store *store, Arena *arena, const NamePageSpec *page,
                                    TopicPage *ret_page, Diag *diag);
// Newest first.
MUST_CHECK Status store_list_dead_letters(Store *store, Arena *arena, const PageSpec *page,
                                          DeadLetterPage *ret_page, Diag *diag);

// ---- tasks and queues ----

MUST_CHECK Status store_find_task(Store *store, Arena *arena, Str id, TaskRow *ret_task,
                                  Diag *diag);
// Newest first.
MUST_CHECK Status store_list_tasks(Store *store, Arena *arena, const TaskFilter *filter,
                                   TaskPage *ret_page, Diag *diag);
// Tasks that could be claimed now, in the order of claims.
MUST_CHECK Status store_list_claimable(Store *store, Arena *arena, const ClaimableFilter *filter,
                                       TaskPage *ret_page, Diag *diag);
// Limits and counts; any name has an answer.
MUST_CHECK Status store_find_queue(Store *store, Arena *arena, Str name, QueueStat *ret_queue,
                                   Diag *diag);
// By name.
MUST_CHECK Status store_list_queues(Store *store, Arena *arena, const NamePageSpec *page,
                                    QueuePage *ret_page, Diag *diag);

// ---- definitions ----

MUST_CHECK Status store_find_definition(Store *store, Arena *arena, const DefinitionRef *which,
                                        DefinitionRow *ret_definition, Diag *diag);
MUST_CHECK Status store_definition_by_key(Store *store, Arena *arena, int64_t key,
                                          DefinitionRow *ret_definition, Diag *diag);
// All versions, newest first.
MUST_CHECK Status store_list_definitions(Store *store, Arena *arena, const DefinitionFilter *filter,
                                         DefinitionPage *ret_page, Diag *diag);

// ---- schedules, nodes, tokens, rates ----

MUST_CHECK Status store_find_schedule(Store *store, Arena *arena, Str name,
                                      ScheduleRow *ret_schedule, Diag *diag);
// Newest first, as those of nodes and tokens.
MUST_CHECK Status store_list_schedules(Store *store, Arena *arena, const PageSpec *page,
                                       SchedulePage *ret_page, Diag *diag);
MUST_CHECK Status store_node_by_key(Store *store, Arena *arena, int64_t key, NodeRow *ret_node,
                                    Diag *diag);
MUST_CHECK Status store_list_nodes(Store *store, Arena *arena, const PageSpec *page,
                                   NodePage *ret_page, Diag *diag);
MUST_CHECK Status store_list_tokens(Store *store, Arena *arena, const PageSpec *page,
                                    TokenPage *ret_page, Diag *diag);
MUST_CHECK Status store_list_rates(Store *store, Arena *arena, const RateFilter *filter,
                                   RateList *ret_rates, Diag *diag);

// ---- the store as a whole ----

// When something happens by itself next; 0 = never.
MUST_CHECK Status store_next_due(Store *store, Arena *arena, int64_t *ret_due_at_ms, Diag *diag);
MUST_CHECK Status store_stats(Store *store, Arena *arena, StoreStats *ret_stats, Diag *diag);

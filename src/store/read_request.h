// ReadRequest: what crosses the one verb that a store has for reading.
//
// Callers use the functions of reads.h, which put one together; a store switches over its kind, and
// decorators pass it on. Nobody else includes this.
//
//   [read-request-1] READ_LIST has every question that is asked with one thing: its kind, its name,
//        the function of reads.h (store_…), what is asked with, and what is answered. The enum,
//        the members of question and answer, the functions of reads.c, the switch of
//        reads/store.c with its prototypes, and the names in traces follow from it.
#pragma once
#include "store/read_types.h"

#define READ_LIST(READ)                                                                            \
    READ(RUN_LOAD, run_load, load_run, int64_t, RunLoad)                                           \
    READ(RUN_LOADS, run_loads, load_runs, RunKeys, RunLoads)                                       \
    READ(RUNS, runs, list_runs, const RunFilter *, RunPage)                                        \
    READ(WAITERS, waiters, list_waiters, const WaiterFilter *, RunPage)                            \
    READ(OWNED, owned, list_owned, const OwnedFilter *, RunPage)                                   \
    READ(RESULT, result, find_result, RunRef, RunResult)                                           \
    READ(PAUSE_REASON, pause_reason, find_pause_reason, RunRef, Str)                               \
    READ(LOG, log, read_log, const LogFilter *, LogPage)                                           \
    READ(STEP, step, find_step, const StepRef *, LogRow)                                           \
    READ(STEPS, steps, list_steps, const StepFilter *, LogPage)                                    \
    READ(STATE, state, find_state, const StateRef *, Str)                                          \
    READ(STATES, states, list_states, RunRef, StateList)                                           \
    READ(SNAPSHOTS, snapshots, list_snapshots, const SnapshotFilter *, SnapshotPage)               \
    READ(PLACES, places, list_places, int64_t, PlaceList)                                          \
    READ(EVENTS, events, list_events, const EventFilter *, EventPage)                              \
    READ(SIGNALS, signals, list_signals, const SignalFilter *, EventPage)                          \
    READ(TOPIC, topic, find_topic, Str, TopicStat)                                                 \
    READ(TOPICS, topics, list_topics, const NamePageSpec *, TopicPage)                             \
    READ(DEAD_LETTERS, dead_letters, list_dead_letters, const PageSpec *, DeadLetterPage)          \
    READ(TASK, task, find_task, Str, TaskRow)                                                      \
    READ(TASKS, tasks, list_tasks, const TaskFilter *, TaskPage)                                   \
    READ(CLAIMABLE, claimable, list_claimable, const ClaimableFilter *, TaskPage)                  \
    READ(QUEUE, queue, find_queue, Str, QueueStat)                                                 \
    READ(QUEUES, queues, list_queues, const NamePageSpec *, QueuePage)                             \
    READ(DEFINITION, definition, find_definition, const DefinitionRef *, DefinitionRow)            \
    READ(DEFINITION_BY_KEY, definition_by_key, definition_by_key, int64_t, DefinitionRow)          \
    READ(DEFINITIONS, definitions, list_definitions, const DefinitionFilter *, DefinitionPage)     \
    READ(SCHEDULE, schedule, find_schedule, Str, ScheduleRow)                                      \
    READ(SCHEDULES, schedules, list_schedules, const PageSpec *, SchedulePage)                     \
    READ(NODE, node, node_by_key, int64_t, NodeRow)                                                \
    READ(NODES, nodes, list_nodes, const PageSpec *, NodePage)                                     \
    READ(TOKENS, tokens, list_tokens, const PageSpec *, TokenPage)                                 \
    READ(RATES, rates, list_rates, const RateFilter *, RateList)

// READ_RUN is asked by id or by key, READ_DUE and READ_STATS with nothing.
#define READ_KIND(KIND, name, verb, Question, Answer) READ_##KIND,
typedef enum ReadKind {
    READ_RUN = 1,
    READ_DUE,
    READ_STATS,
    READ_LIST(READ_KIND) READ_KIND_COUNT
} ReadKind;
#undef READ_KIND

// What a pointer leads to lives as long as the call.
#define READ_QUESTION(KIND, name, verb, Question, Answer) Question name;
typedef union ReadQuestion {
    RunRef run;
    READ_LIST(READ_QUESTION)
} ReadQuestion;
#undef READ_QUESTION

// In the caller's arena; all zero unless the store has answered OK.
#define READ_ANSWER(KIND, name, verb, Question, Answer) Answer name;
typedef union ReadAnswer {
    RunRow run;
    int64_t due_at_ms;
    StoreStats stats;
    READ_LIST(READ_ANSWER)
} ReadAnswer;
#undef READ_ANSWER

struct ReadRequest {
    ReadKind kind;
    ReadQuestion in;
    ReadAnswer out;
};

// "run", "run_load" … For logs and tests.
const char *read_kind_name(ReadKind kind);

// ReadRequest: what crosses the one verb that a store has for reading.
//
// Callers use the functions of reads.h, which put one together; a store
// switches over its kind, and decorators pass it on. Nobody else includes this.
#pragma once
#include "store/read_types.h"

typedef enum ReadKind {
    READ_RUN = 1,
    READ_RUN_LOAD,
    READ_RUN_LOADS,
    READ_RUNS,
    READ_WAITERS,
    READ_OWNED,
    READ_RESULT,
    READ_PAUSE_REASON,
    READ_LOG,
    READ_STEP,
    READ_STEPS,
    READ_STATE,
    READ_STATES,
    READ_EVENTS,
    READ_SIGNALS,
    READ_TOPIC,
    READ_TOPICS,
    READ_DEAD_LETTERS,
    READ_TASK,
    READ_TASKS,
    READ_CLAIMABLE,
    READ_QUEUE,
    READ_QUEUES,
    READ_DEFINITION,
    READ_DEFINITION_BY_KEY,
    READ_DEFINITIONS,
    READ_SCHEDULE,
    READ_SCHEDULES,
    READ_NODE,
    READ_NODES,
    READ_TOKENS,
    READ_DUE,
    READ_STATS,
    READ_KIND_COUNT
} ReadKind;

// The question: the member is the one of its kind, or one that several kinds
// share.
typedef union ReadQuestion {
    RunRef run;         // READ_RUN, READ_RESULT, READ_PAUSE_REASON, READ_STATES
    int64_t key;        // READ_RUN_LOAD, READ_DEFINITION_BY_KEY, READ_NODE
    Str name;           // READ_TOPIC, READ_TASK (its id), READ_QUEUE, READ_SCHEDULE
    PageSpec page;      // READ_DEAD_LETTERS, READ_SCHEDULES, READ_NODES, READ_TOKENS
    NamePageSpec names; // READ_TOPICS, READ_QUEUES
    RunKeys keys;       // READ_RUN_LOADS
    RunFilter runs;
    WaiterFilter waiters;
    OwnedFilter owned;
    LogFilter log;
    StepRef step;
    StepFilter steps;
    StateRef state;
    EventFilter events;
    SignalFilter signals;
    TaskFilter tasks;
    ClaimableFilter claimable;
    DefinitionRef definition;
    DefinitionFilter definitions;
} ReadQuestion;

// The answer, in the caller's arena; all zero unless the store has answered OK.
typedef union ReadAnswer {
    RunRow run;
    RunLoad load;
    RunLoads loads;
    RunPage runs; // READ_RUNS, READ_WAITERS, READ_OWNED
    RunResult result;
    Str text;    // READ_PAUSE_REASON, READ_STATE
    LogPage log; // READ_LOG, READ_STEPS
    LogRow step;
    StateList states;
    EventPage events; // READ_EVENTS, READ_SIGNALS
    TopicStat topic;
    TopicPage topics;
    DeadLetterPage dead_letters;
    TaskRow task;
    TaskPage tasks; // READ_TASKS, READ_CLAIMABLE
    QueueStat queue;
    QueuePage queues;
    DefinitionRow definition; // READ_DEFINITION, READ_DEFINITION_BY_KEY
    DefinitionPage definitions;
    ScheduleRow schedule;
    SchedulePage schedules;
    NodeRow node;
    NodePage nodes;
    TokenPage tokens;
    int64_t due_at_ms;
    StoreStats stats;
} ReadAnswer;

struct ReadRequest {
    ReadKind kind;
    ReadQuestion in;
    ReadAnswer out;
};

// "run", "run_load" … For logs and tests.
const char *read_kind_name(ReadKind kind);

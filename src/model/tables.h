// Tables: which there are, and the places of their indexes.
//
// Numbers and places are for the program only; files name tables and indexes by their names.
// After the columns of an index the primary key decides; "key" stands for it below.
#pragma once
#include "model/column.h"

typedef enum TableNumber {
    TABLE_RUNS,
    TABLE_LOG,
    TABLE_WAITERS,
    TABLE_EVENTS,
    TABLE_TOPICS,
    TABLE_CURSORS,
    TABLE_DEAD_LETTERS,
    TABLE_TASKS,
    TABLE_DEFINITIONS,
    TABLE_NODES,
    TABLE_DEDUPE,
    TABLE_TAGS,
    TABLE_COUNTERS,
    TABLE_SCHEDULES,
    TABLE_QUEUES,
    TABLE_TASK_KEYS,
    TABLE_SNAPSHOTS,
    TABLE_STATES,
    TABLE_TOKENS,
    TABLE_RATES,
    TABLE_PLACES,
    TABLE_COUNT
} TableNumber;

// Positions of the indexes in their tables.
enum {
    RUNS_BY_ID,     // unique: id
    RUNS_BY_PHASE,  // phase, key
    RUNS_BY_OWNER,  // owner, claim_rank, key; sparse on claim_rank
    RUNS_BY_DUE,    // due_at_ms; sparse
    RUNS_BY_PARENT, // parent, key; sparse
    RUNS_BY_IDLE,   // idle_since_ms; sparse
};
enum { WAITERS_BY_TOPIC }; // topic, key
enum {
    EVENTS_BY_TOPIC, // topic, key; sparse
    EVENTS_BY_RUN,   // run, key; sparse
    EVENTS_BY_DUE    // due_at_ms; sparse
};
enum { DEAD_LETTERS_BY_DUE };
enum {
    TASKS_BY_ID,    // unique
    TASKS_BY_QUEUE, // queue, claim_rank, key; sparse on claim_rank
    TASKS_BY_RUN,   // run, key; sparse
    TASKS_BY_DUE,   // due_at_ms; sparse
    TASKS_BY_PHASE, // phase, key; sparse
    TASKS_BY_KEY,   // queue, concurrency_key, key_rank, key; sparse on key_rank
    TASKS_BY_NAME   // queue, name, claim_rank, key; sparse on claim_rank
};
enum {
    DEFINITIONS_BY_NAME,   // name, key
    DEFINITIONS_BY_VERSION // unique: name, version
};
enum { DEDUPE_BY_DUE };
enum { TAGS_BY_RUN };
enum {
    SCHEDULES_BY_NAME,   // unique
    SCHEDULES_BY_DUE,    // due_at_ms; sparse
    SCHEDULES_BY_AWAITED // awaited_run; sparse
};
enum { QUEUES_BY_DUE }; // due_at_ms; sparse
enum {
    TASK_KEYS_BY_NAME, // unique: queue, name
    TASK_KEYS_BY_QUEUE // queue, key
};
enum { STATES_BY_VALUE }; // name, digest, run
enum {
    TOKENS_BY_ID,  // unique
    TOKENS_BY_HASH // unique
};

extern const Table tables[TABLE_COUNT];

// Stands in a row for a text that is stored and was not brought with it; known by its address.
extern const Str TEXT_KEPT;

// The bit, as in row_changes, of the column at this offset of the row struct.
uint64_t column_bit(TableNumber table, size_t offset);
// Those of all columns that are no numbers.
uint64_t table_text_bits(TableNumber table);

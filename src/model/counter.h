// Counters: what is counted once for the whole store, and the mark that stands among it.
//
// Numbers are part of the file format: append, never renumber.
#pragma once
#include <stdint.h>

typedef struct CounterRow {
    int64_t number; // Counter
    int64_t value;
} CounterRow;

// Kept exact with every batch, so that statistics cost nothing.
typedef enum Counter {
    COUNTER_NEXT_KEY = 0,                          // the key sequence
    COUNTER_RUNS_FIRST,                            // + RunState: runs in that state
    COUNTER_TASKS_FIRST = COUNTER_RUNS_FIRST + 16, // + TaskState
    COUNTER_EVENTS = COUNTER_TASKS_FIRST + 16,     // pending topic events
    COUNTER_SIGNALS,                               // pending signals
    COUNTER_DEAD_LETTERS,
    COUNTER_STARTED_TOTAL,
    COUNTER_COMPLETED_TOTAL,
    COUNTER_FAILED_TOTAL,
    COUNTER_CANCELLED_TOTAL,
    COUNTER_SCHEDULES,
    COUNTER_RUNS_READY, // RUNNING and unowned: the resume tasks there are
    COUNTER_MARK = 63,  // StoreMark: counts nothing, but is seen wherever counters are loaded
    COUNTER_COUNT = 64
} Counter;

// Why a store is not to be worked on (store/transfer.h). No row means none.
typedef enum StoreMark {
    MARK_NONE = 0,
    MARK_FILLING, // a copy that is not complete yet
    MARK_MOVED,   // its content was copied elsewhere, or is being copied
    MARK_COUNT
} StoreMark;

// Queues of tasks: their limits, their counts, and who of a concurrency key may run. rows.h
// includes this file.
//
//   [model-queue-1] A QueueRow exists while the queue has tasks that are queued or leased, or while
//        a person has set it; its counts equal those tasks.
//   [model-queue-2] A TaskKeyRow exists while a concurrency key has tasks that are leased or ready;
//        its counts equal them by place.
#pragma once
#include "base/text/str.h"
#include <stdint.h>

enum {
    QUEUE_PER_KEY_DEFAULT = 1, // tasks of one key at a time, where nobody said otherwise
    QUEUE_LIMIT_MAX = 1000000  // of every limit
};

typedef struct QueueRow {
    Str name;
    int64_t is_explicit;    // set by a person, so it is kept although it is empty
    int64_t max_running;    // leases at a time; 0 = no limit
    int64_t max_per_key;    // leases at a time of one concurrency key; 0 = no limit
    int64_t rate_count;     // leases given per window; 0 = no limit
    int64_t rate_period_ms; // length of a window, which begins with the first lease in it
    int64_t is_paused;      // nothing is handed out
    int64_t queued_count;   // QUEUED tasks, also delayed and blocked ones
    int64_t blocked_count;  // those of them that wait for others of their concurrency key
    int64_t running_count;  // LEASED tasks
    int64_t rate_at_ms;     // when the present window began; 0 = there is none
    int64_t rate_used;      // leases given in it
    int64_t adjust_from;    // TaskKeyRows from this key on may still follow older limits; 0 = none
    int64_t due_at_ms;      // the end of a window that is used up, or now while adjust_from > 0
} QueueRow;

typedef struct QueueStat {
    QueueRow row;
    int64_t oldest_at_ms; // creation of the oldest task that a worker might claim; 0 = none
} QueueStat;

typedef struct TaskKeyRow {
    int64_t key;
    Str queue;
    Str name; // the concurrency key
    int64_t running_count;
    int64_t ready_count;
    int64_t blocked_count;
} TaskKeyRow;

// Where a task with a concurrency key stands, as TaskRow.key_rank: leased ones first, then those
// that can be claimed by rank, then the blocked ones by rank. 0 = nowhere (delayed, ended).
enum { KEY_RANK_LEASED = -100000, KEY_RANK_READY = -10000 };
static inline int64_t key_rank_ready(int64_t rank) { return KEY_RANK_READY + rank; }
typedef enum KeyPlace { KEY_NOWHERE, KEY_LEASED, KEY_READY, KEY_BLOCKED } KeyPlace;
static inline KeyPlace key_place(int64_t key_rank) {
    if (key_rank == 0) return KEY_NOWHERE;
    if (key_rank > 0) return KEY_BLOCKED;
    return key_rank == KEY_RANK_LEASED ? KEY_LEASED : KEY_READY;
}

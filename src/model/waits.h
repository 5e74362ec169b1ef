// Waits: what a suspended run is parked on, and the compact form kept in its row.
//
//   [waits-1] A wait is resolved in two places only: when the run parks (the store checks what is
//        already there) and when something arrives for a parked run.
//   [waits-2] Waking clears the whole wait set; parking again declares it anew. So nothing that
//        lost a race keeps a claim on a later event.
//   [waits-3] Each suspension and each wake-up raises the run's generation.
#pragma once
#include "base/status.h"
#include "model/rows.h"

typedef enum WaitKind {
    WAIT_EVENT = 1, // name: topic
    WAIT_SIGNAL,    // name: signal name
    WAIT_TIMER,     // deadline_at_ms: when it fires
    WAIT_RETRY,     // a timer that is a backoff: a run with one is not idle
    WAIT_CHILD,     // target: key of the child run
    WAIT_TASK,      // target: key of the task
    WAIT_KIND_COUNT
} WaitKind;
const char *wait_kind_name(int64_t kind); // "signal"

typedef enum WaitMode {
    WAIT_FIRST = 1, // the first item to settle resolves the set: one checkpoint
    WAIT_EACH       // every settled item is delivered: one checkpoint each
} WaitMode;

// An item of a group whose outcome is quiet is delivered without waking the run while other items
// of the group are open: the workflow could do nothing with it yet.
typedef enum WaitQuiet { WAIT_QUIET_OK = 1 << 0, WAIT_QUIET_ERROR = 1 << 1 } WaitQuiet;
enum { WAIT_GROUP_MAX = 15 };

typedef struct WaitItem {
    int64_t kind; // WaitKind
    int64_t slot; // the workflow's own number for it; unique in the set
    int64_t position;
    int64_t iteration;
    int64_t deadline_at_ms; // 0 = none. Past it a timer is due, anything else times out
    int64_t target;         // WAIT_CHILD, WAIT_TASK
    int64_t since_ms;       // when it was first waited for
    int64_t waiter;         // key of its WaiterRow while parked; written by the store
    int64_t group;          // WAIT_CHILD, WAIT_TASK: 1 … WAIT_GROUP_MAX; 0 = none
    int64_t quiet;          // WaitQuiet bits; 0 exactly when it has no group
    Str name;               // of what it waits for; WAIT_CHILD, WAIT_TASK: its id
    Str filter;             // WAIT_EVENT: condition on the payload, or null
    // WAIT_CHILD: the workflow; WAIT_TASK: the task's name. Written by the store; null in sets that
    // were parked before it was kept.
    Str label;
} WaitItem;

typedef struct WaitSet {
    int64_t mode; // WaitMode
    WaitItem *items;
    size_t count;
    // Each target is above the one before it, as those of tasks that were queued together are.
    // Known of sets that were decoded; false otherwise.
    bool is_ascending;
} WaitSet;

bool wait_item_has_good_group(const WaitItem *item);
bool wait_item_has_target(const WaitItem *item); // WAIT_CHILD, WAIT_TASK
// The first item of that kind and target; NULL = there is none.
const WaitItem *wait_set_find(const WaitSet *set, WaitKind kind, int64_t target);
// Is it a wait for something of that name? Tasks are known by id and by name, children by id and by
// workflow.
bool wait_item_is_called(const WaitItem *item, Str name);
Str wait_set_encode(Arena *arena, const WaitSet *set);
// ERR_CORRUPT when the bytes are not a wait set.
MUST_CHECK Status wait_set_decode(Arena *arena, Str bytes, WaitSet *ret_set);
// The earliest deadline in the set; 0 = none.
int64_t wait_set_deadline(const WaitSet *set);
// Idle: at least one wait on the outside world, no task and no backoff. A child that is waited for
// beside it is a run of its own and may be idle itself.
bool wait_set_is_idle(const WaitSet *set);
// Nothing in the set is work of the run itself: no task, no backoff. Idle sets, and those that
// wait for timers and children only.
bool wait_set_is_quiet(const WaitSet *set);

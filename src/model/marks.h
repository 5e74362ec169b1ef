// Marks: what a row says with the sign of a number, in one place.
//
// A row is whole numbers and texts, and stores that earlier versions have written stay readable: so
// a few facts share a column with a number, as its sign. They are asked and set here; nobody else
// looks at a sign.
//
//   column                    above zero            below zero
//   runs.owner                the node's key        reserved for nodes with its code. An index is
//                                                   searched for it: see workflow_set.h
//   runs.cancel_at_ms         asked for then        … and the run has been told
//   runs.attempts             executions lost       … and one more is under way
//   runs.keep_ms              kept so long          kept for ever
//   runs.parent_position      from 0: awaited there not awaited
//   log.position              from 0: a checkpoint  none, or dropped by a rewind
//   tasks.position            from 0: awaited there not awaited any more
//   nodes.lease_until_ms      the lease ends then   it was fenced off then. PostgreSQL and Redis
//                                                   look at it when a node renews its lease
//   events.run                a signal of the run   taken (event_is_taken)
//
//   [marks-1] Zero is neither: nobody, never, none.
#pragma once
#include "model/rows.h"

// ---- runs ----

// Nobody executes it, and only nodes that have its function may. [marks-1]
static inline bool run_is_reserved(const RunRow *run) { return run->owner < 0; }
static inline bool run_has_owner(const RunRow *run) { return run->owner > 0; }

// Ready to be executed, and nobody does yet.
static inline bool run_is_ready(const RunRow *run) {
    return run->state == RUN_RUNNING && !run_has_owner(run);
}

// Its cancellation was asked for, whether it has been told or not.
static inline bool run_is_cancel_wanted(const RunRow *run) { return run->cancel_at_ms != 0; }
// … and it does not know yet.
static inline bool run_is_cancel_untold(const RunRow *run) { return run->cancel_at_ms > 0; }
static inline void run_mark_cancel_told(RunRow *run) {
    if (run_is_cancel_untold(run)) run->cancel_at_ms = -run->cancel_at_ms;
}

// How many executions in a row were lost, whether one more is under way or not.
static inline int64_t run_lost(const RunRow *run) {
    return run->attempts < 0 ? -run->attempts : run->attempts;
}
// Some were lost, and it is noted that one more is under way.
static inline bool run_is_attempt_noted(const RunRow *run) { return run->attempts < 0; }
// None was lost yet, or the loss of this one is not counted yet.
static inline bool run_is_loss_uncounted(const RunRow *run) { return run->attempts <= 0; }
static inline void run_note_attempt(RunRow *run) { run->attempts = -run_lost(run); }
static inline void run_end_attempt(RunRow *run) { run->attempts = run_lost(run); }
static inline void run_count_loss(RunRow *run) { run->attempts = run_lost(run) + 1; }

enum { KEEP_FOR_EVER = -1, NOT_AWAITED = -1 };
// When a run that ended then is purged; 0 = never.
static inline int64_t run_purge_at_ms(const RunRow *run, int64_t ended_at_ms) {
    return run->keep_ms < 0 ? 0 : ended_at_ms + run->keep_ms;
}

// ---- the log ----

enum { NO_POSITION = -1 };
// A place in a run's sequence of durable calls: of an entry, a task, a child.
static inline bool is_position(int64_t position) { return position >= 0; }
static inline bool log_has_position(const LogRow *entry) { return is_position(entry->position); }

// ---- nodes ----

static inline bool node_is_fenced(const NodeRow *node) { return node->lease_until_ms < 0; }
static inline void node_mark_fenced(NodeRow *node, int64_t at_ms) { node->lease_until_ms = -at_ms; }
// When its lease ends or has ended, or it was fenced off.
static inline int64_t node_end_ms(const NodeRow *node) {
    return node_is_fenced(node) ? -node->lease_until_ms : node->lease_until_ms;
}

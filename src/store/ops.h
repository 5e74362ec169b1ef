// Ops: the operations a store can be asked to do. Each is a request (`in`) and a reply (`out`).
//
//   [ops-1] The caller fills in `in`; no store writes there. The store fills in `out`; forgetting
//        the reply is one assignment. So the same operation can be submitted again as it is.
//   [ops-2] What the store itself remembers of an operation from one submission to the next is in
//        `memo`; the caller clears it when the operation is made and leaves it alone then.
//
// Not here: what each operation is asked with (requests.h) and answers (replies.h), how they are
// submitted together (batch.h).
#pragma once
#include "store/replies.h"
#include "store/requests.h"

typedef enum OpKind {
    OP_JOIN = 1,      // a node comes up
    OP_RENEW,         // its lease
    OP_LEAVE,         // orderly end: hands back all its claims
    OP_DESCRIBE_NODE, // who asks the node for tasks, for the others to see
    OP_DEFINE,        // the workflows of a file become current: all of them, or none
    OP_CREATE_RUN,
    OP_CLAIM, // runs that are ready and unowned, or whose node is dead
    OP_COMMIT_TURN,
    OP_RELEASE,     // hand back one claim without having done anything
    OP_CREATE_TASK, // stand-alone
    OP_CLAIM_TASKS,
    OP_HEARTBEAT_TASK,
    OP_COMPLETE_TASK,
    OP_FAIL_TASK,
    OP_PUBLISH,
    OP_SIGNAL,
    OP_FIRE_DUE,
    OP_CANCEL,
    OP_PAUSE,
    OP_RESUME,
    OP_REWIND,
    OP_FORK,
    OP_SET_TOPIC,
    OP_REPLAY_DEAD_LETTER,
    OP_REMOVE_DEAD_LETTER,
    OP_PURGE_RUN,
    OP_SWEEP,
    OP_APPEND_LOG,      // an entry that changes nothing else (idle, released, reloaded)
    OP_RETRY_TASK,      // a delayed task is due now; a failed stand-alone one is queued again
    OP_RELEASE_TASK,    // a lease is handed back unused: the attempt does not count
    OP_SET_SCHEDULE,    // makes or replaces one
    OP_REMOVE_SCHEDULE, // its runs stay
    OP_PAUSE_SCHEDULE,  // ticks pass by until it is resumed
    OP_RESUME_SCHEDULE,
    OP_TRIGGER_SCHEDULE,
    OP_BACKFILL_SCHEDULE,
    OP_SET_QUEUE,    // its limits; also whether it is paused
    OP_REMOVE_QUEUE, // forgets the limits; its tasks stay
    OP_PAUSE_QUEUE,  // nothing is handed out until it is resumed
    OP_RESUME_QUEUE,
    OP_CREATE_TOKEN,
    OP_REMOVE_TOKEN,
    OP_NOTE_RELEASED,  // nothing of a parked run is in memory any more
    OP_NOTE_RELOADED,  // a parked run is in memory again
    OP_REMOVE_EVENTS,  // pending ones of a topic
    OP_REMOVE_SIGNALS, // pending ones of a run
    OP_MOVE,           // a parked run goes on in another version, or with other variables
    OP_NOTE_RATES,     // what the process has counted lately
    OP_KIND_COUNT
} OpKind;

// What the store keeps about a participant (TurnCommit) that did harm to the transaction.
typedef struct OpMemo {
    Str eviction;       // why the participant is not called any more; null = it is
    int64_t loss_count; // connections that were lost while it was at work
} OpMemo;

typedef struct Op {
    OpKind kind;
    OpIn in;
    OpOut out;
    OpMemo memo; // [ops-2]
} Op;

const char *op_kind_name(OpKind kind);
// The reply will be looked at when its batch is gone: what it points to is copied into the arena.
// NULL, or a status other than OK: it points to nothing afterwards. [replies-2]
void op_keep_reply(Op *op, Arena *arena);
// The run that the caller named; null when it is not about one run.
Str op_run_id(const Op *op);

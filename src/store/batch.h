// Batch: operations (ops.h) submitted together, each one atomic transition with its own reply.
//
// A batch is one transaction: after it answered OK every operation in it has its own `out.status`,
// and all that answered OK are durable together.
//   [store-batch-1] An operation that does not answer OK has changed nothing.
//   [store-batch-2] Operations apply in order; each sees what those before it did.
//   [store-batch-3] If commit answers ERR_UNAVAILABLE the whole batch happened or none of it did;
//        the batch number in the node's row tells which (store_node_by_key). If it did happen,
//        has_answers is set and the answers in it are true: they were found before the commit was
//        tried. A batch that changes nothing need not leave its number.
//   [store-batch-4] Runs made ready by any operation are claimed for `node` in the same
//        transaction, up to `claim_max`, and listed in `ready`; past that they stay ready and
//        unowned. So do those that another node has in memory: they are left to it for a while
//        (left_until_ms). Runs of a workflow in C that is not in `executes` are never claimed for
//        `node`: they are listed in `reserved`, and a node that has the workflow claims them.
//   [store-batch-5] Every write of a turn names the epoch of its claim; a stale epoch answers
//        ERR_FENCED. A batch of a node that was fenced off answers ERR_FENCED as a whole and
//        changes nothing.
//   [store-batch-6] Terminal runs never change, except by being purged.
//   [store-batch-7] Payloads come back byte for byte; null (absent) and "null" differ.
//
// Answers live in the batch's arena.
#pragma once
#include "store/ops.h"

// What a batch answers beside its operations. Lists live in the batch's arena.
typedef struct BatchOut {
    bool has_answers; // after OK; and [store-batch-3]
    ReadyRun *ready;
    size_t ready_count, ready_capacity;
    StartedRun *started;
    size_t started_count, started_capacity;
    EndedRun *ended;
    size_t ended_count, ended_capacity;
    GrownRun *grown;
    size_t grown_count, grown_capacity;
    ReservedRun *reserved; // [store-batch-4]
    size_t reserved_count, reserved_capacity;
    int64_t unclaimed_count; // runs made ready but left unowned because of claim_max
    int64_t left_until_ms;   // runs were left to nodes that have them in memory; when somebody else
                             // may claim them all; 0 = none were
    int64_t earliest_due_ms; // the earliest due_at written by this batch; 0 = none
    bool has_tasks;          // tasks became claimable
    Str damage;              // what was found damaged and quarantined, for people; null = nothing
} BatchOut;

typedef struct Batch {
    Arena *arena;       // the caller's: operations' data and answers live here
    int64_t now_ms;     // the caller's clock: the only one a store knows
    int64_t node;       // 0 = not a node: nothing is claimed
    int64_t number;     // ascending per node
    LeaseSecret secret; // the caller's: the only randomness a store knows
    int64_t claim_max;
    const WorkflowSet *executes; // the workflows in C that `node` has; NULL = all there are
    Op **ops;
    size_t count;
    size_t capacity;
    bool is_probe; // something is to be written in any case: is there room?
    BatchOut out;
} Batch;

void batch_init(Batch *batch, Arena *arena, int64_t now_ms);
// A cleared operation of that kind at the end of the batch; lives in the arena.
Op *batch_add(Batch *batch, OpKind kind);
// An operation that lives elsewhere; it must outlive the batch.
void batch_add_op(Batch *batch, Op *op);
// Room for one more answer of `size` bytes behind `count`: the same array, or a larger copy.
void *batch_reserve(Batch *batch, void *answers, size_t count, size_t *capacity, size_t size);
// Forgets the replies, so that the same operations can be submitted again.
void batch_clear_answers(Batch *batch);

// Commits: batches on their way to the store, each with who is to learn what became of its parts.
//
// A commit is not a turn: a turn is what one run does between two waits, a commit carries the turns
// of many runs, requests from outside and the engine's own operations.
//
//   [commit-1] A commit holds at most `most` operations, never more than LIMIT_BATCH_OPS: each
//        enters through commit_add, which asserts it.
//   [commit-2] items[i] is batch.ops[i], and who it is for.
//   [commit-3] COMMITS_OUT_MAX are out at a time, finished in the order in which they were
//        prepared.
#pragma once
#include "base/containers/vec.h"
#include "engine/world/execution.h"
#include "engine/world/request.h"
#include "engine/world/setup.h"

enum { COMMITS_OUT_MAX = 2 };

typedef struct CommitItem {
    Op *op;
    Request *request;     // or
    Execution *execution; // or neither: one of the engine's own operations
} CommitItem;

typedef struct Commit {
    List link; // among the spare ones
    Arena arena;
    Batch batch;
    VEC(CommitItem) items;
    size_t most;           // operations it may have
    uint64_t began_ns;     // when it was gathered (monotonic)
    size_t made_tasks;     // that its operations queue
    size_t foreseen_count; // runs that it wakes and parks again (coordinator/foresee.c)
    WorkflowSet *executes; // what the batch refers to
} Commit;

size_t commit_room(const Commit *commit); // how many more operations it takes
Op *commit_add_own(Commit *commit, OpKind kind);
Op *commit_add_result(Commit *commit, OpKind kind, Execution *execution);
void commit_add_request(Commit *commit, Request *request);

// In whose name commits are made, and those that are not in use.
typedef struct Commits {
    Env *env;
    LeaseSecret secret;  // of this process
    int64_t node;        // key of our NodeRow; 0 = not joined
    int64_t last_number; // of the last batch prepared
    size_t out_count;    // [commit-3]
    List spare;
} Commits;

void commits_init(Commits *self, Env *env);
void commits_done(Commits *self); // none is out
Commit *commits_get(Commits *self, WorkflowSet *executes);
void commits_put(Commits *self, Commit *commit);
// Puts the name of the node and the next number on it.
void commits_sign(Commits *self, Commit *commit);
// It is handed to the driver, and comes back.
Commit *commits_hand_out(Commits *self, Commit *commit);
void commits_came_back(Commits *self);

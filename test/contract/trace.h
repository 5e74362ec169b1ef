// Traces: random but repeatable lists of batches for every operation there is.
//
//   [contract-trace-1] A trace is a list of batches of symbolic operations: a kind and a number.
//        What exactly an operation says is made from that number and from what the client knows
//        when it is submitted (claims, tokens, letters), so that any part of a trace can be left
//        out and the rest still makes sense.
//   [contract-trace-2] Names come from small pools, so that operations meet each other's runs,
//        topics and tasks.
//   [contract-trace-3] Knowledge comes from the answers of one store; the others must have given
//        the same.
#pragma once
#include "store/reads.h"

enum {
    TRACE_OPS_MAX = 8,
    TRACE_NODES_MAX = 8,
    TRACE_RUNS = 24,  // names
    TRACE_GUESTS = 6, // runs of other names, which schedules start: claims on them are known too
    TRACE_TASKS = 20,
    TRACE_OWN_TASKS = 6, // of runs, under ids that lead to them
    TRACE_LETTERS_MAX = 8
};

typedef struct TraceOp {
    OpKind kind;
    uint64_t seed;
} TraceOp;

typedef struct TraceBatch {
    TraceOp ops[TRACE_OPS_MAX];
    size_t count;
    int64_t advance_ms; // of the clock, before it
    uint32_t node;      // which of the known ones submits it; 0 = none
    int64_t claim_max;
    uint32_t reopens; // a store that is opened again now and then does so when this divides
} TraceBatch;

typedef struct Trace {
    TraceBatch *batches;
    size_t count;
} Trace;

typedef struct KnownRun { // by its place in the pool of ids
    int64_t key;          // 0 = none of that name
    int64_t epoch;        // of the claim that is probably held; 0 = none
    int64_t stale_epoch;  // of some earlier one
    int64_t node;         // whose
    bool is_flow;
    bool is_ended;
} KnownRun;

typedef struct KnownTask {
    char own_id[80]; // of the last ones
    bool exists;
    int64_t token; // of the lease that is probably held; 0 = none
    int64_t stale_token;
} KnownTask;

typedef struct Knowledge {
    int64_t now_ms;
    int64_t nodes[TRACE_NODES_MAX];
    size_t node_count;
    int64_t batch_number;
    KnownRun runs[TRACE_RUNS + TRACE_GUESTS];
    KnownTask tasks[TRACE_TASKS + TRACE_OWN_TASKS];
    int64_t letters[TRACE_LETTERS_MAX];
    size_t letter_count;
} Knowledge;

extern const char *const trace_topics[];
extern const size_t trace_topic_count;
extern const char *const trace_tags[];
extern const size_t trace_tag_count;

Trace trace_generate(Arena *arena, uint64_t seed, size_t batch_count);
void knowledge_init(Knowledge *knowledge);
// Moves the clock; then makes the batch for one store, the same for each.
void trace_advance(Knowledge *knowledge, const TraceBatch *from);
void trace_build(const Knowledge *knowledge, const TraceBatch *from, Arena *arena,
                 Batch *ret_batch);
// Learns from a batch and its answers, and looks up the dead letters there are.
void trace_learn(Knowledge *knowledge, const Batch *batch, Status status, Store *store);
// Everything that was answered, as text.
Str trace_answers(Arena *arena, Status status, const Diag *diag, const Batch *batch);
// What was asked for, as text: a line per operation.
Str trace_describe(Arena *arena, const Batch *batch);

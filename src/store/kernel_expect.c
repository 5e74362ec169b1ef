// What the operations of a batch will ask for first, told to the row store ahead.
//
// On a server a lookup is a round trip. Most operations begin by finding a run or a task by the id
// they carry; all of these together are one round trip.
//
//   [E1] This changes no answer. What is left out here is fetched when it is asked for, and what is
//        named in vain costs a look on the server.
//
// Not here: what the operations do (kernel_*.c), what is known already (remote_rows.c).
#include "store/kernel_internal.h"

enum { EXPECT_MAX = 4096 }; // lookups per batch

typedef struct Expecting {
    Kernel *kernel;
    Scan *scans;
    size_t count;
} Expecting;

static void expect_scan(Expecting *all, const Scan *scan) {
    if (all->count < EXPECT_MAX) all->scans[all->count++] = *scan;
}

static void expect_run_id(Expecting *all, Str id) {
    if (str_is_null(id) || run_cache_find_id(&all->kernel->runs, id) != NULL) return;
    RunRow *wanted = ARENA_NEW(&all->kernel->scratch, RunRow);
    wanted->id = id;
    expect_scan(all, &(Scan){.table = TABLE_RUNS, .index = RUNS_BY_ID, .match = wanted,
                             .match_count = 1, .limit = 1});
}

static void expect_run(Expecting *all, int64_t key) {
    RunRow *wanted = ARENA_NEW(&all->kernel->scratch, RunRow);
    wanted->key = key;
    expect_scan(all, &(Scan){.table = TABLE_RUNS, .index = SCAN_PRIMARY, .match = wanted,
                             .match_count = 1, .limit = 1});
}

static void expect_task_id(Expecting *all, Str id) {
    if (str_is_null(id)) return;
    TaskRow *wanted = ARENA_NEW(&all->kernel->scratch, TaskRow);
    wanted->id = id;
    expect_scan(all, &(Scan){.table = TABLE_TASKS, .index = TASKS_BY_ID, .match = wanted,
                             .match_count = 1, .limit = 1});
}

static void expect_start_key(Expecting *all, Str dedupe_key) {
    if (str_is_null(dedupe_key)) return;
    DedupeRow *wanted = ARENA_NEW(&all->kernel->scratch, DedupeRow);
    *wanted = (DedupeRow){.scope = STR("start"), .id = dedupe_key};
    expect_scan(all, &(Scan){.table = TABLE_DEDUPE, .index = SCAN_PRIMARY, .match = wanted,
                             .match_count = 2, .limit = 1});
}

static void expect_turn(Expecting *all, const TurnCommit *turn) {
    expect_run(all, turn->run);
    for (size_t i = 0; i < turn->child_count; i++) expect_run_id(all, turn->children[i].id);
    for (size_t i = 0; i < turn->task_count; i++) expect_task_id(all, turn->tasks[i].id);
}

static void expect_op(Expecting *all, const Op *op) {
    switch (op->kind) {
    case OP_CREATE_RUN:
        expect_run_id(all, op->create_run.spec.id);
        expect_start_key(all, op->create_run.spec.dedupe_key);
        break;
    case OP_COMMIT_TURN: expect_turn(all, &op->turn); break;
    case OP_SIGNAL: expect_run_id(all, op->signal.run_id); break;
    case OP_CANCEL: expect_run_id(all, op->cancel.run_id); break;
    case OP_CREATE_TASK: expect_task_id(all, op->create_task.spec.id); break;
    case OP_COMPLETE_TASK: expect_task_id(all, op->complete_task.id); break;
    case OP_FAIL_TASK: expect_task_id(all, op->fail_task.id); break;
    case OP_HEARTBEAT_TASK: expect_task_id(all, op->heartbeat.id); break;
    default: break;
    }
}

Status kernel_expect(Kernel *kernel) {
    if (kernel->writer->ops->expect == NULL) return OK;
    Expecting all = {.kernel = kernel};
    arena_reset(&kernel->scratch);
    all.scans = ARENA_ARRAY(&kernel->scratch, Scan, EXPECT_MAX);
    for (size_t i = 0; i < kernel->batch->count; i++) expect_op(&all, kernel->batch->ops[i]);
    return all.count > 0 ? rows_expect(kernel->writer, all.scans, all.count) : OK;
}

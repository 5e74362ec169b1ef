// What the operations of a batch will ask for first, told to the row store ahead.
//
// On a server a lookup is a round trip. Most operations begin by finding a run or a task by the id
// they carry, go on with the end of the run's log, and a run that ends is asked for what it leaves
// behind. All of these together are one round trip, and a second one for the runs whose tasks end:
// which they are is known when the tasks are.
//
//   [expect-1] This changes no answer. What is left out here is fetched when it is asked for, and
//        what is named in vain costs a look on the server.
//
// Not here: what the operations do (kernel_*.c), what is known already (remote/rows.c).
#include "store/kernel/operations.h"

typedef struct Expecting {
    Kernel *kernel;
    VEC(Scan) scans;
} Expecting;

static void expect_scan(Expecting *all, const Scan *scan) {
    if (all->scans.count < LIMIT_EXPECT_LOOKUPS) vec_push(&all->scans, *scan);
}

static Status expect_ask(Expecting *all) {
    Status status = OK;
    if (all->scans.count > 0) {
        status = rows_expect(all->kernel->writer, all->scans.data, all->scans.count);
    }
    vec_free(&all->scans);
    if (status != OK && all->kernel->failure == OK) all->kernel->failure = status; // [kernel-2]
    return status;
}

static void expect_run_id(Expecting *all, Str id) {
    if (str_is_null(id)) return;
    RunRow *wanted = ARENA_NEW(&all->kernel->scratch, RunRow);
    wanted->id = id;
    expect_scan(all, &(Scan){.table = TABLE_RUNS,
                             .index = RUNS_BY_ID,
                             .match = wanted,
                             .match_count = 1,
                             .limit = 1});
}

static void expect_run(Expecting *all, int64_t key) {
    RunRow *wanted = ARENA_NEW(&all->kernel->scratch, RunRow);
    wanted->key = key;
    expect_scan(all, &(Scan){.table = TABLE_RUNS,
                             .index = SCAN_PRIMARY,
                             .match = wanted,
                             .match_count = 1,
                             .limit = 1});
}

static void expect_task_id(Expecting *all, Str id) {
    if (str_is_null(id) || task_cache_find(&all->kernel->tasks, id) != NULL) return;
    TaskRow *wanted = ARENA_NEW(&all->kernel->scratch, TaskRow);
    wanted->id = id;
    expect_scan(all, &(Scan){.table = TABLE_TASKS,
                             .index = TASKS_BY_ID,
                             .match = wanted,
                             .match_count = 1,
                             .limit = 1});
}

static void expect_start_key(Expecting *all, Str dedupe_key) {
    if (str_is_null(dedupe_key)) return;
    DedupeRow *wanted = ARENA_NEW(&all->kernel->scratch, DedupeRow);
    *wanted = (DedupeRow){.scope = STR("start"), .id = dedupe_key};
    expect_scan(all, &(Scan){.table = TABLE_DEDUPE,
                             .index = SCAN_PRIMARY,
                             .match = wanted,
                             .match_count = 2,
                             .limit = 1});
}

// What run_log asks for, unless it is known.
static void expect_log_end(Expecting *all, int64_t run, const RunFacts *facts) {
    if (facts != NULL && facts->last_seq > 0) return;
    LogRow *wanted = ARENA_NEW(&all->kernel->scratch, LogRow);
    wanted->run = run;
    expect_scan(all, &(Scan){.table = TABLE_LOG,
                             .index = SCAN_PRIMARY,
                             .match = wanted,
                             .match_count = 1,
                             .is_descending = true,
                             .limit = 1});
}

// What every change of a run begins with.
static const RunFacts *expect_changed_run(Expecting *all, int64_t run) {
    const RunFacts *facts = fact_cache_find(&all->kernel->facts, run);
    if (facts == NULL) expect_run(all, run);
    expect_log_end(all, run, facts);
    return facts;
}

// What snapshot_keep asks for: the last one that was kept, and the values of the run's states.
static void expect_kept(Expecting *all, int64_t run, const RunFacts *facts) {
    Arena *arena = &all->kernel->scratch;
    uint32_t may_have = facts != NULL ? facts->may_have : MAY_HAVE_ALL;
    bool is_number_known = facts != NULL && facts->next_kept > 0;
    if (!is_number_known && (may_have & MAY_HAVE_SNAPSHOTS)) {
        SnapshotRow *wanted = ARENA_NEW(arena, SnapshotRow);
        wanted->run = run;
        expect_scan(all, &(Scan){.table = TABLE_SNAPSHOTS,
                                 .index = SCAN_PRIMARY,
                                 .match = wanted,
                                 .match_count = 1,
                                 .is_descending = true,
                                 .limit = 1});
    }
    if (may_have & MAY_HAVE_STATES) {
        StateRow *wanted = ARENA_NEW(arena, StateRow);
        wanted->run = run;
        expect_scan(all, &(Scan){.table = TABLE_STATES,
                                 .index = SCAN_PRIMARY,
                                 .match = wanted,
                                 .match_count = 1,
                                 .limit = PAGE_ROWS});
    }
}

// What run_end asks for, in the words of runs/end.c.
static void expect_leftovers(Expecting *all, int64_t run, const RunFacts *facts) {
    Arena *arena = &all->kernel->scratch;
    uint32_t may_have = facts != NULL ? facts->may_have : MAY_HAVE_ALL;
    if (may_have & MAY_HAVE_SIGNALS) {
        EventRow *wanted = ARENA_NEW(arena, EventRow);
        wanted->run = run;
        expect_scan(all, &(Scan){.table = TABLE_EVENTS,
                                 .index = EVENTS_BY_RUN,
                                 .match = wanted,
                                 .match_count = 1,
                                 .limit = PAGE_ROWS});
    }
    if (may_have & MAY_HAVE_CURSORS) {
        CursorRow *wanted = ARENA_NEW(arena, CursorRow);
        wanted->run = run;
        expect_scan(all, &(Scan){.table = TABLE_CURSORS,
                                 .index = SCAN_PRIMARY,
                                 .match = wanted,
                                 .match_count = 1,
                                 .limit = PAGE_ROWS});
    }
    if (may_have & MAY_HAVE_CHILDREN) {
        RunRow *wanted = ARENA_NEW(arena, RunRow);
        wanted->parent = run;
        expect_scan(all, &(Scan){.table = TABLE_RUNS,
                                 .index = RUNS_BY_PARENT,
                                 .match = wanted,
                                 .match_count = 1,
                                 .limit = PAGE_ROWS});
    }
}

static void expect_turn(Expecting *all, const TurnCommit *turn) {
    const RunFacts *facts = expect_changed_run(all, turn->run);
    if (turn->keep_snapshots > 0 && turn->next == NEXT_SUSPEND) expect_kept(all, turn->run, facts);
    bool is_end = turn->next == NEXT_COMPLETE || turn->next == NEXT_FAIL ||
                  turn->next == NEXT_CANCELLED || turn->next == NEXT_RETRY;
    if (is_end) expect_leftovers(all, turn->run, facts);
    for (size_t i = 0; i < turn->child_count; i++) expect_run_id(all, turn->children[i].id);
    for (size_t i = 0; i < turn->task_count; i++) expect_task_id(all, turn->tasks[i].id);
}

static void expect_op(Expecting *all, const Op *op) {
    switch (op->kind) {
    case OP_CREATE_RUN:
        expect_run_id(all, op->in.create_run.spec.id);
        expect_start_key(all, op->in.create_run.spec.dedupe_key);
        break;
    case OP_COMMIT_TURN: expect_turn(all, &op->in.turn); break;
    case OP_SIGNAL: expect_run_id(all, op->in.signal.run_id); break;
    case OP_CANCEL: expect_run_id(all, op->in.cancel.run_id); break;
    case OP_CREATE_TASK: expect_task_id(all, op->in.create_task.spec.id); break;
    case OP_COMPLETE_TASK: expect_task_id(all, op->in.complete_task.id); break;
    case OP_FAIL_TASK: expect_task_id(all, op->in.fail_task.id); break;
    case OP_HEARTBEAT_TASK: expect_task_id(all, op->in.heartbeat.id); break;
    case OP_NOTE_RELEASED:
        if (op->in.memory.has_entry) (void)expect_changed_run(all, op->in.memory.run);
        break;
    default: break;
    }
}

// The run of a task that ends; 0 = of none, or that is for the operation to find out.
static int64_t run_of_task(Expecting *all, Str id) {
    Kernel *kernel = all->kernel;
    const CachedTask *cached = task_cache_find(&kernel->tasks, id);
    if (cached != NULL) return cached->row.run;
    TaskRow wanted = {.id = id}, *rows = NULL;
    size_t count = 0;
    ArenaMark mark = arena_mark(&kernel->scratch);
    Scan scan = {
        .table = TABLE_TASKS, .index = TASKS_BY_ID, .match = &wanted, .match_count = 1, .limit = 1};
    Status status = rows_scan(kernel->writer, &scan, &kernel->scratch, &rows, &count);
    int64_t run = status == OK && count > 0 ? rows[0].run : 0;
    arena_rewind(&kernel->scratch, mark);
    return run;
}

static void expect_run_of_op(Expecting *all, const Op *op) {
    Str id = op->kind == OP_COMPLETE_TASK ? op->in.complete_task.id
             : op->kind == OP_FAIL_TASK   ? op->in.fail_task.id
                                          : STR_NULL;
    int64_t run = str_is_null(id) ? 0 : run_of_task(all, id);
    if (run != 0) (void)expect_changed_run(all, run);
}

Status kernel_expect(Kernel *kernel) {
    if (kernel->writer->ops->expect == NULL) return OK;
    Expecting all = {.kernel = kernel};
    arena_reset(&kernel->scratch);
    for (size_t i = 0; i < kernel->batch->count; i++) expect_op(&all, kernel->batch->ops[i]);
    TRY(expect_ask(&all));
    for (size_t i = 0; i < kernel->batch->count; i++) expect_run_of_op(&all, kernel->batch->ops[i]);
    return expect_ask(&all);
}

Status kernel_expect_runs(Kernel *kernel, const TaskRow *tasks, size_t count) {
    if (kernel->writer->ops->expect == NULL) return OK;
    Expecting all = {.kernel = kernel};
    for (size_t i = 0; i < count; i++) {
        int64_t run = tasks[i].run;
        if (run != 0 && fact_cache_find(&kernel->facts, run) == NULL) expect_run(&all, run);
    }
    return expect_ask(&all);
}

Status kernel_expect_claims(Kernel *kernel, const RunRow *runs, size_t count) {
    if (kernel->writer->ops->expect == NULL) return OK;
    Expecting all = {.kernel = kernel};
    for (size_t i = 0; i < count; i++) {
        expect_log_end(&all, runs[i].key, fact_cache_find(&kernel->facts, runs[i].key));
    }
    return expect_ask(&all);
}

// Handing out tasks: claims by workers, and tasks that are leased as they are made.
//
//   [claims-3] Claiming goes by priority, then first in, first out, queue after queue as asked for,
//        and looks at a bounded number of rows. A claim for some names does not look at other
//        tasks: however many of them there are, they hold nobody up.
//   [claims-4] No more is handed out than the limits of queue and concurrency key allow; what they
//        hold back is not looked at.
//   [claims-5] A batch that ends with an eager claim hands its new tasks to that claim at once,
//        which costs one insert instead of an insert, a look and an update. Only where the claim
//        would have found them all the same: it asks for that name and queue and has room for all
//        that wait besides, the task is not delayed and has no concurrency key, and its queue is
//        not paused and has no limits. Any other task is queued, and the claim looks for it in its
//        turn. Those that waited are answered before those that were leased as they were made.
//
// Not here: what a worker says (tasks/tasks.c).
#include "base/assert.h"
#include "store/kernel/operations.h"
#include "store/kernel/tasks/queues.h"
#include "store/kernel/tasks/tasks.h"
#include <stdlib.h>

enum {
    CLAIM_QUEUES_MAX = 10000 // queues that a claim on any of them looks at
};

typedef struct QueueWalk { // claimable tasks of a queue, in the order they are handed out
    Str queue;
    Str name;     // null = whatever they are called
    int64_t rank; // the last one seen; 0 = none yet
    int64_t key;
} QueueWalk;

typedef struct Walks { // one per name that is asked for, or one over everything
    QueueWalk *items;
    size_t count;
} Walks;

typedef struct Candidate {
    TaskRow *task;
    QueueWalk *walk; // whose next one it is
} Candidate;

static Status walk_page(Kernel *kernel, const QueueWalk *walk, int64_t limit, TaskRow **ret_rows,
                        size_t *ret_count) {
    TaskRow wanted = {.queue = walk->queue, .name = walk->name};
    Scan scan = scan_of(TABLE_TASKS, TASKS_BY_QUEUE, &wanted, limit);
    scan.has_min = true;
    scan.min = walk->rank;
    scan.after_key = walk->key;
    if (!str_is_null(walk->name)) {
        scan.index = TASKS_BY_NAME;
        scan.match_count = 2;
    }
    return kernel_scan(kernel, &scan, ret_rows, ret_count);
}

static int candidate_compare(const void *left, const void *right) {
    const TaskRow *a = ((const Candidate *)left)->task, *b = ((const Candidate *)right)->task;
    if (a->claim_rank != b->claim_rank) return a->claim_rank < b->claim_rank ? -1 : 1;
    return a->key < b->key ? -1 : a->key > b->key;
}

// The next tasks of all walks together. The first `limit` of them are in order; past those one of a
// walk that was cut short may be missing.
static Status walks_page(Kernel *kernel, const Walks *walks, int64_t limit,
                         Candidate **ret_candidates, size_t *ret_count) {
    size_t room = walks->count * (size_t)limit;
    Candidate *candidates = ARENA_ARRAY(&kernel->scratch, Candidate, room);
    size_t total = 0;
    for (size_t i = 0; i < walks->count; i++) {
        QueueWalk *walk = &walks->items[i];
        TaskRow *rows = NULL;
        size_t count = 0;
        TRY(walk_page(kernel, walk, limit, &rows, &count));
        for (size_t j = 0; j < count; j++) candidates[total++] = (Candidate){&rows[j], walk};
    }
    if (walks->count > 1 && total > 1) {
        qsort(candidates, total, sizeof(Candidate), candidate_compare);
    }
    *ret_candidates = candidates;
    *ret_count = total < (size_t)limit ? total : (size_t)limit;
    return OK;
}

static bool task_is_wanted(const Kernel *kernel, const Op *op, const TaskRow *task) {
    if (task->due_at_ms != 0 && task->due_at_ms <= kernel_now(kernel)) return false; // too late
    for (size_t i = 0; i < op->in.claim_tasks.name_count; i++) {
        if (str_equal(op->in.claim_tasks.names[i], task->name)) return true;
    }
    return op->in.claim_tasks.name_count == 0;
}

static void lease_set(Kernel *kernel, const Op *claim, TaskRow *task) {
    task->state = TASK_LEASED;
    task->claim_rank = 0;
    task->attempt++;
    int64_t before = task->token;
    task->token = lease_token(kernel, before); // [kernel-tasks-tasks-2] of tasks/tasks.c
    ASSERT(task->token != 0 && task->token != before);
    task->worker = claim->in.claim_tasks.worker;
    task->started_at_ms = kernel_now(kernel);
    task->close_at_ms = task->run_timeout_ms > 0 ? kernel_now(kernel) + task->run_timeout_ms : 0;
    task_set_lease(kernel, task, claim->in.claim_tasks.lease_ms);
}

void task_hand_out(Kernel *kernel, Op *claim, const TaskRow *task) {
    ASSERT(claim->kind == OP_CLAIM_TASKS && task->state == TASK_LEASED);
    size_t count = claim->out.claim_tasks.task_count++;
    claim->out.claim_tasks.tasks =
        batch_reserve(kernel->batch, claim->out.claim_tasks.tasks, count,
                      &claim->out.claim_tasks.task_capacity, sizeof(TaskRow));
    row_copy(&tables[TABLE_TASKS], kernel->batch->arena, task,
             &claim->out.claim_tasks.tasks[count]);
}

static Status task_lease(Kernel *kernel, Op *op, CachedQueue *queue, TaskRow *task) {
    bool has_room;
    TRY(task_refresh(kernel, task));
    TRY(key_has_room(kernel, task, &has_room));
    if (!has_room || task->claim_rank == 0) return OK;
    TaskRow after = *task;
    lease_set(kernel, op, &after);
    TRY(task_store(kernel, task, &after));
    queue_note_lease(kernel, queue);
    task_hand_out(kernel, op, &after);
    return OK;
}

static Walks walks_begin(Kernel *kernel, const Op *op, Str queue) {
    size_t name_count = op->in.claim_tasks.name_count, count = name_count > 0 ? name_count : 1;
    Walks walks = {ARENA_ARRAY(&kernel->scratch, QueueWalk, count), count};
    for (size_t i = 0; i < count; i++) {
        Str name = name_count > 0 ? op->in.claim_tasks.names[i] : STR_NULL;
        walks.items[i] = (QueueWalk){.queue = queue, .name = name};
    }
    return walks;
}

static Status queue_claim(Kernel *kernel, Op *op, Str name, int64_t max) {
    Walks walks = walks_begin(kernel, op, name);
    CachedQueue *queue;
    int64_t looks = 0, open_at_ms;
    TRY(queue_load(kernel, name, &queue));
    int64_t allowed = queue_room(kernel, &queue->row, &open_at_ms);
    op->out.claim_tasks.open_at_ms = earliest_of(op->out.claim_tasks.open_at_ms, open_at_ms);
    if (allowed < max - (int64_t)op->out.claim_tasks.task_count) {
        max = (int64_t)op->out.claim_tasks.task_count + allowed;
    }
    while ((int64_t)op->out.claim_tasks.task_count < max &&
           looks < LIMIT_CLAIM_LOOKS) { // [claims-3]
        int64_t room = max - (int64_t)op->out.claim_tasks.task_count;
        int64_t limit = 1 + PAGE_ROWS / (int64_t)walks.count;
        Candidate *candidates = NULL;
        size_t count = 0;
        TRY(walks_page(kernel, &walks, room < limit ? room : limit, &candidates, &count));
        if (count == 0) return OK;
        int64_t leased = (int64_t)op->out.claim_tasks.task_count;
        for (size_t i = 0; i < count; i++) {
            TaskRow *task = candidates[i].task;
            candidates[i].walk->rank = task->claim_rank;
            candidates[i].walk->key = task->key;
            if (task_is_wanted(kernel, op, task)) TRY(task_lease(kernel, op, queue, task));
        }
        looks += (int64_t)count - ((int64_t)op->out.claim_tasks.task_count - leased); // in vain
    }
    if (looks >= LIMIT_CLAIM_LOOKS) op->out.claim_tasks.is_cut = true;
    return OK;
}

// Every queue that has tasks, beginning with another one each time.
static Status queues_claim(Kernel *kernel, Op *op, int64_t max) {
    QueueRow *rows = NULL;
    size_t count = 0;
    Scan scan = {.table = TABLE_QUEUES, .index = SCAN_PRIMARY, .limit = CLAIM_QUEUES_MAX};
    if (kernel->counters[COUNTER_TASKS_FIRST + TASK_QUEUED] == 0) return OK;
    TRY(queues_store(kernel)); // those that this batch has made count too
    TRY(kernel_scan(kernel, &scan, &rows, &count));
    for (size_t i = 0; i < count && (int64_t)op->out.claim_tasks.task_count < max; i++) {
        const QueueRow *row = &rows[(i + (size_t)op->in.claim_tasks.first_queue) % count];
        if (row->queued_count > 0) TRY(queue_claim(kernel, op, row->name, max));
    }
    return OK;
}

static bool claim_is_good(const Op *op) {
    return (op->in.claim_tasks.queue_count > 0 || op->in.claim_tasks.is_any_queue) &&
           op->in.claim_tasks.max > 0;
}

static int64_t claim_max(const Op *op) {
    int64_t limit = op->in.claim_tasks.is_eager ? LIMIT_BATCH_OPS : LIMIT_LIST_PAGE;
    return op->in.claim_tasks.max < limit ? op->in.claim_tasks.max : limit;
}

static Status name_run(Kernel *kernel, int64_t key, TaskRun *ret_run) {
    Run run;
    *ret_run = (TaskRun){0};
    if (key == 0) return OK;
    ArenaMark mark = arena_mark(&kernel->scratch);
    Status status = run_load(kernel, key, &run);
    if (status == OK)
        *ret_run =
            (TaskRun){kernel_answer(kernel, run.row.id), kernel_answer(kernel, run.row.tags)};
    arena_rewind(&kernel->scratch, mark);
    return status == ERR_NOT_FOUND ? OK : status;
}

// Who does a task is told whose it is; so nobody has to read its run for that. Tasks of one run are
// claimed side by side: it is looked up for the first of them.
static Status name_runs(Kernel *kernel, Op *op) {
    size_t count = op->out.claim_tasks.task_count;
    const TaskRow *claimed = op->out.claim_tasks.tasks;
    TRY(kernel_expect_runs(kernel, claimed, count));
    TaskRun *runs = op->out.claim_tasks.runs = ARENA_ARRAY(kernel->batch->arena, TaskRun, count);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && claimed[i].run == claimed[i - 1].run) runs[i] = runs[i - 1];
        else TRY(name_run(kernel, claimed[i].run, &runs[i]));
    }
    return OK;
}

static Status claim_from_queues(Kernel *kernel, Op *op) {
    if (op->in.claim_tasks.is_any_queue) return queues_claim(kernel, op, claim_max(op));
    for (size_t i = 0; i < op->in.claim_tasks.queue_count; i++) {
        Str queue = op->in.claim_tasks.queues[i];
        TRY(queue_claim(kernel, op, queue.len > 0 ? queue : QUEUE_DEFAULT, claim_max(op)));
    }
    return OK;
}

static void put_new_last(Kernel *kernel, Op *op, size_t new_count) { // [claims-5]
    TaskRow *tasks = op->out.claim_tasks.tasks;
    size_t waited_count = op->out.claim_tasks.task_count - new_count;
    if (new_count == 0 || waited_count == 0) return;
    TaskRow *newer = ARENA_ARRAY(&kernel->scratch, TaskRow, new_count);
    memcpy(newer, tasks, new_count * sizeof(TaskRow));
    memmove(tasks, tasks + new_count, waited_count * sizeof(TaskRow));
    memcpy(tasks + waited_count, newer, new_count * sizeof(TaskRow));
}

Status apply_claim_tasks(Kernel *kernel, Op *op) {
    if (!claim_is_good(op)) {
        return kernel_refuse(kernel, ERR_INVALID, "BAD_CLAIM",
                             "a claim names at least one queue and asks for at least one task");
    }
    TRY(kernel_check_size(kernel, "the worker name", op->in.claim_tasks.worker, LIMIT_NAME_SIZE));
    size_t new_count = op->out.claim_tasks.task_count; // leased as they were made
    TRY(claim_from_queues(kernel, op));
    put_new_last(kernel, op, new_count);
    return name_runs(kernel, op);
}

// ---- leased as they are made, [claims-5] ----

void tasks_begin_batch(Kernel *kernel) {
    const Batch *batch = kernel->batch;
    Op *last = batch->count > 0 ? batch->ops[batch->count - 1] : NULL;
    kernel->eager = NULL;
    if (!last || last->kind != OP_CLAIM_TASKS || !last->in.claim_tasks.is_eager) return;
    bool is_refused = !claim_is_good(last) || last->in.claim_tasks.worker.len > LIMIT_NAME_SIZE;
    if (!is_refused) kernel->eager = last; // else nothing may have been handed out by then
}

static bool claim_has_queue(const Op *op, Str name) {
    for (size_t i = 0; i < op->in.claim_tasks.queue_count; i++) {
        Str queue = op->in.claim_tasks.queues[i];
        if (str_equal(queue.len > 0 ? queue : QUEUE_DEFAULT, name)) return true;
    }
    return op->in.claim_tasks.is_any_queue;
}

static bool queue_is_open(const QueueRow *queue) {
    return !queue->is_paused && queue->max_running == 0 && queue->rate_count == 0;
}

// For one more, behind all that wait.
static bool claim_has_room(const Kernel *kernel, const Op *op) {
    int64_t waiting_count = kernel->counters[COUNTER_TASKS_FIRST + TASK_QUEUED];
    return (int64_t)op->out.claim_tasks.task_count + waiting_count < claim_max(op);
}

Status task_lease_new(Kernel *kernel, TaskRow *task, bool *ret_is_leased) {
    Op *claim = kernel->eager;
    CachedQueue *queue;
    *ret_is_leased = false;
    bool is_wanted = claim && claim_has_room(kernel, claim) && task->claim_rank > 0 &&
                     str_is_null(task->concurrency_key) && claim_has_queue(claim, task->queue) &&
                     task_is_wanted(kernel, claim, task);
    if (!is_wanted) return OK;
    TRY(queue_load(kernel, task->queue, &queue));
    if (!queue_is_open(&queue->row)) return OK;
    lease_set(kernel, claim, task);
    *ret_is_leased = true;
    return OK;
}

// Concurrency keys: of the tasks of one queue that share a key, only so many run at a time.
//
// Tasks that may not run yet are not in the claim index at all, so a claim never looks at them;
// they stand in an order of their own (TASKS_BY_KEY), from which the best one moves up in the same
// operation in which a place becomes free.
//   [keys-1] Leased and ready tasks of a key are together at most max_per_key, unless more than
//        that were leased when the limit was lowered. Tasks are blocked only while there is no
//        place.
//   [keys-2] Ready ones come before blocked ones by rank, then by age: priorities and first in,
//        first out hold among the tasks of a key as they do in the queue.
//   [keys-3] A delayed task, and one that waits for its next attempt, holds no place.
//   [keys-4] When the limit of a queue changes its keys follow page by page (adjust_from); a key is
//        brought in line by whatever happens to it first. Until then a claim still keeps to the
//        limit (key_has_room).
//
// Not here: limits of the whole queue (tasks/queues.c).
#include "store/kernel/tasks/queues.h"

static Status key_load(Kernel *kernel, const TaskRow *task, KeyChange *change) {
    TaskKeyRow wanted = {.queue = task->queue, .name = task->concurrency_key}, *rows = NULL;
    size_t count = 0;
    Scan scan = scan_of(TABLE_TASK_KEYS, TASK_KEYS_BY_NAME, &wanted, 1);
    scan.match_count = 2;
    TRY(kernel_scan(kernel, &scan, &rows, &count));
    change->is_stored = count > 0;
    change->before = count > 0 ? rows[0] : wanted;
    change->row = change->before;
    return OK;
}

static bool has_place(const QueueRow *queue, const TaskKeyRow *key) {
    return queue->max_per_key == 0 || key->running_count + key->ready_count < queue->max_per_key;
}

static int64_t *count_of(TaskKeyRow *key, int64_t key_rank) {
    switch (key_place(key_rank)) {
    case KEY_LEASED: return &key->running_count;
    case KEY_READY: return &key->ready_count;
    case KEY_BLOCKED: return &key->blocked_count;
    case KEY_NOWHERE: break;
    }
    return NULL;
}

static void count_add(TaskKeyRow *key, int64_t key_rank, int64_t delta) {
    int64_t *count = count_of(key, key_rank);
    if (count) *count += delta;
}

static void set_ready(TaskRow *task) {
    task->claim_rank = claim_rank(task->priority);
    task->key_rank = key_rank_ready(task->claim_rank);
}

static void set_blocked(TaskRow *task) {
    task->claim_rank = 0;
    task->key_rank = claim_rank(task->priority);
}

// The place that follows from the task's state; a task that can be claimed from now on gets one
// without others having to move, or is blocked until key_apply has compared it with them.
static void place_set(const KeyChange *change, int64_t rank_before, TaskRow *after) {
    bool is_claimable = after->state == TASK_QUEUED && after->claim_rank > 0;
    if (after->state == TASK_LEASED) {
        after->key_rank = KEY_RANK_LEASED;
    } else if (is_claimable && key_place(rank_before) == KEY_READY) {
        return;
    } else if (is_claimable) {
        bool is_free = has_place(&change->queue->row, &change->row);
        if (is_free && change->row.blocked_count == 0) set_ready(after);
        else set_blocked(after);
    } else if (after->state != TASK_QUEUED || after->key_rank < 0) { // [keys-3]
        after->key_rank = 0;
    }
}

Status key_decide(Kernel *kernel, const TaskRow *before, TaskRow *after, KeyChange *ret_change) {
    *ret_change = (KeyChange){.is_keyed = !str_is_null(after->concurrency_key)};
    if (!ret_change->is_keyed) return OK;
    int64_t rank_before = before ? before->key_rank : 0;
    TRY(queue_load(kernel, after->queue, &ret_change->queue));
    TRY(key_load(kernel, after, ret_change));
    count_add(&ret_change->row, rank_before, -1);
    place_set(ret_change, rank_before, after);
    count_add(&ret_change->row, after->key_rank, 1);
    return OK;
}

// ---- moving up and down ----

typedef enum KeyEnd { BEST_BLOCKED, WORST_READY } KeyEnd;

static Status task_at(Kernel *kernel, const TaskKeyRow *key, KeyEnd end, TaskRow *ret_task) {
    TaskRow wanted = {.queue = key->queue, .concurrency_key = key->name}, *rows = NULL;
    size_t count = 0;
    bool is_ready = end == WORST_READY;
    Scan scan = scan_of(TABLE_TASKS, TASKS_BY_KEY, &wanted, 1);
    scan.match_count = 2;
    scan.has_min = !is_ready;
    scan.min = 1;
    scan.has_max = is_ready;
    scan.max = -1;
    scan.is_descending = is_ready;
    TRY(kernel_scan(kernel, &scan, &rows, &count));
    if (count == 0 || (is_ready && key_place(rows[0].key_rank) != KEY_READY))
        return kernel_corrupt(kernel, "a concurrency key counts more tasks than it has");
    *ret_task = rows[0];
    return OK;
}

static Status task_move(Kernel *kernel, KeyChange *change, const TaskRow *task) {
    TaskRow after = *task;
    if (key_place(task->key_rank) == KEY_READY) {
        set_blocked(&after);
    } else {
        set_ready(&after);
        kernel->batch->out.has_tasks = true; // [tasks-queues-4]
    }
    count_add(&change->row, task->key_rank, -1);
    count_add(&change->row, after.key_rank, 1);
    TRY(queue_count_task(kernel, task, &after));
    return kernel_update(kernel, TABLE_TASKS, task, &after);
}

static bool comes_before(const TaskRow *a, const TaskRow *b) { // [keys-2]
    if (a->priority != b->priority) return a->priority > b->priority;
    return a->key < b->key;
}

// One move towards [keys-1] and [keys-2]; *ret_is_settled when none is left to do.
static Status settle_step(Kernel *kernel, KeyChange *change, bool *ret_is_settled) {
    const QueueRow *queue = &change->queue->row;
    const TaskKeyRow *key = &change->row;
    TaskRow best, worst;
    *ret_is_settled = false;
    if (has_place(queue, key)) {
        *ret_is_settled = key->blocked_count == 0;
        if (*ret_is_settled) return OK;
        TRY(task_at(kernel, key, BEST_BLOCKED, &best));
        return task_move(kernel, change, &best);
    }
    *ret_is_settled = key->ready_count == 0;
    if (*ret_is_settled) return OK;
    if (key->running_count + key->ready_count > queue->max_per_key) {
        TRY(task_at(kernel, key, WORST_READY, &worst));
        return task_move(kernel, change, &worst);
    }
    *ret_is_settled = key->blocked_count == 0;
    if (*ret_is_settled) return OK;
    TRY(task_at(kernel, key, BEST_BLOCKED, &best));
    TRY(task_at(kernel, key, WORST_READY, &worst));
    *ret_is_settled = !comes_before(&best, &worst);
    if (*ret_is_settled) return OK;
    TRY(task_move(kernel, change, &worst));
    return task_move(kernel, change, &best);
}

static Status key_settle(Kernel *kernel, KeyChange *change, bool *ret_is_settled) {
    *ret_is_settled = false;
    for (uint32_t i = 0; i < LIMIT_SETTLE_STEPS && !*ret_is_settled; i++) {
        ArenaMark mark = arena_mark(&kernel->scratch);
        TRY(settle_step(kernel, change, ret_is_settled));
        arena_rewind(&kernel->scratch, mark);
    }
    return OK;
}

static Status key_store(Kernel *kernel, KeyChange *change) {
    TaskKeyRow *row = &change->row;
    bool is_kept = row->running_count + row->ready_count + row->blocked_count > 0;
    if (is_kept && change->is_stored) {
        return kernel_update(kernel, TABLE_TASK_KEYS, &change->before, row);
    }
    if (is_kept) {
        row->key = kernel_next_key(kernel);
        return kernel_insert(kernel, TABLE_TASK_KEYS, row);
    }
    return change->is_stored ? kernel_remove(kernel, TABLE_TASK_KEYS, row) : OK;
}

Status key_apply(Kernel *kernel, KeyChange *change) {
    if (!change->is_keyed) return OK;
    bool is_settled; // if not, the queue's limit was changed: keys_adjust comes by again
    TRY(key_settle(kernel, change, &is_settled));
    return key_store(kernel, change);
}

Status key_has_room(Kernel *kernel, const TaskRow *task, bool *ret_has_room) {
    KeyChange key = {0};
    *ret_has_room = true;
    if (str_is_null(task->concurrency_key)) return OK;
    TRY(queue_load(kernel, task->queue, &key.queue));
    TRY(key_load(kernel, task, &key));
    int64_t max = key.queue->row.max_per_key;
    *ret_has_room = max == 0 || key.row.running_count < max;
    return OK;
}

// ---- a limit was changed ----

Status keys_adjust(Kernel *kernel, CachedQueue *queue) { // [keys-4]
    TaskKeyRow wanted = {.queue = queue->row.name}, *rows = NULL;
    size_t count = 0;
    Scan scan = scan_of(TABLE_TASK_KEYS, TASK_KEYS_BY_QUEUE, &wanted, PAGE_ROWS);
    scan.has_min = true;
    scan.min = queue->row.adjust_from;
    TRY(kernel_scan(kernel, &scan, &rows, &count));
    for (size_t i = 0; i < count; i++) {
        KeyChange change = {
            .queue = queue, .before = rows[i], .row = rows[i], .is_stored = true, .is_keyed = true};
        bool is_settled;
        TRY(key_settle(kernel, &change, &is_settled));
        TRY(key_store(kernel, &change));
        queue->row.adjust_from = rows[i].key + is_settled;
        if (!is_settled) return OK;
    }
    if (count < PAGE_ROWS) queue->row.adjust_from = 0;
    return OK;
}

// Queues: the row of a queue, what it allows, and how many tasks it has.
//
// The counts of a queue change with every task, so they are kept in memory during a batch and
// written once at its end: a hundred tasks claimed together cost one write.
//   [tasks-queues-1] A row exists while its queue has tasks that are queued or leased, or was set
//        by a person.
//   [tasks-queues-2] Nothing is looked at that may not be handed out: a queue that is paused, full
//        or has used up its window is passed over without a look at its tasks.
//   [tasks-queues-3] A window begins with the first lease given in it and lasts rate_period_ms; in
//        one window at most rate_count leases are given. When it is used up its end is the queue's
//        due_at_ms, so nobody has to ask again and again.
//   [tasks-queues-4] Whatever may let a queue give more (a lease that ends, a window that ends, a
//        limit that is raised, a pause that ends) says so with batch.has_tasks.
//
// Not here: concurrency keys (tasks/keys.c), tasks (tasks/tasks.c).
#include "store/kernel/tasks/queues.h"
#include "base/array.h"
#include "base/assert.h"

static QueueRow queue_default(Str name) {
    return (QueueRow){.name = name, .max_per_key = QUEUE_PER_KEY_DEFAULT};
}

Status queue_load(Kernel *kernel, Str name, CachedQueue **ret_queue) {
    *ret_queue = queue_cache_find(&kernel->queues, name);
    if (*ret_queue) return OK;
    QueueRow wanted = {.name = name}, row;
    Status status = kernel_get(kernel, TABLE_QUEUES, &wanted, &row);
    if (status != OK && status != ERR_NOT_FOUND) return status;
    if (status == ERR_NOT_FOUND) row = queue_default(name);
    *ret_queue = queue_cache_add(&kernel->queues, &row, status == OK);
    return OK;
}

// ---- windows ----

static int64_t window_end(const QueueRow *queue) {
    return queue->rate_at_ms + queue->rate_period_ms;
}

static bool window_is_open(const Kernel *kernel, const QueueRow *queue) { // else a new one begins
    int64_t now = kernel_now(kernel);
    // A clock that was set back does not make a window longer.
    return queue->rate_at_ms != 0 && now >= queue->rate_at_ms && now < window_end(queue);
}

static bool window_is_used_up(const QueueRow *queue) {
    return queue->rate_count > 0 && queue->rate_at_ms != 0 && queue->rate_used >= queue->rate_count;
}

static void queue_set_due(Kernel *kernel, QueueRow *queue) { // [tasks-queues-3]
    queue->due_at_ms = 0;
    if (window_is_used_up(queue)) queue->due_at_ms = window_end(queue);
    if (queue->adjust_from > 0) queue->due_at_ms = kernel_now(kernel);
    kernel_note_due(kernel, queue->due_at_ms);
}

int64_t queue_room(const Kernel *kernel, const QueueRow *queue,
                   int64_t *ret_open_at_ms) { // [tasks-queues-2]
    int64_t room = INT64_MAX;
    *ret_open_at_ms = 0;
    if (queue->is_paused) return 0;
    if (queue->max_running > 0) room = queue->max_running - queue->running_count;
    if (queue->rate_count > 0) {
        int64_t used = window_is_open(kernel, queue) ? queue->rate_used : 0;
        int64_t left = queue->rate_count - used;
        if (left <= 0) *ret_open_at_ms = window_end(queue);
        if (left < room) room = left;
    }
    return room > 0 ? room : 0;
}

void queue_note_lease(Kernel *kernel, CachedQueue *queue) {
    QueueRow *row = &queue->row;
    if (row->rate_count == 0) return;
    if (!window_is_open(kernel, row)) {
        row->rate_at_ms = kernel_now(kernel);
        row->rate_used = 0;
    }
    row->rate_used++;
    queue_set_due(kernel, row);
}

// ---- counts ----

static void count_add(QueueRow *queue, const TaskRow *task, int64_t delta) {
    if (task->state == TASK_QUEUED) queue->queued_count += delta;
    if (task->state == TASK_LEASED) queue->running_count += delta;
    if (task->key_rank > 0) queue->blocked_count += delta;
}

Status queue_count_task(Kernel *kernel, const TaskRow *before, const TaskRow *after) {
    CachedQueue *queue;
    ASSERT(before != NULL || after != NULL);
    bool was_counted = before && before->state <= TASK_LEASED;
    bool is_counted = after && after->state <= TASK_LEASED;
    if (!was_counted && !is_counted) return OK;
    TRY(queue_load(kernel, before ? before->queue : after->queue, &queue));
    int64_t running_count = queue->row.running_count;
    if (before) count_add(&queue->row, before, -1);
    if (after) count_add(&queue->row, after, 1);
    if (queue->row.queued_count < 0 || queue->row.running_count < 0)
        return kernel_corrupt(kernel, "a queue counts fewer tasks than it has");
    bool has_more_room = queue->row.max_running > 0 && queue->row.running_count < running_count;
    if (has_more_room && queue->row.queued_count > 0)
        kernel->batch->out.has_tasks = true; // [tasks-queues-4]
    return OK;
}

static bool queue_is_kept(const QueueRow *row) { // [tasks-queues-1]
    return row->is_explicit || row->queued_count > 0 || row->running_count > 0;
}

static Status queue_store(Kernel *kernel, CachedQueue *queue) {
    bool is_kept = queue_is_kept(&queue->row);
    if (!is_kept && queue->is_stored) {
        TRY(kernel_remove(kernel, TABLE_QUEUES, &queue->row));
    } else if (is_kept && !queue->is_stored) {
        TRY(kernel_insert(kernel, TABLE_QUEUES, &queue->row));
    } else if (is_kept) {
        TRY(kernel_update(kernel, TABLE_QUEUES, &queue->stored, &queue->row));
    }
    if (!is_kept) { // what is left of a queue that is empty is what a new one has
        Str name = queue->row.name;
        queue->row = queue_default(name);
    }
    queue->is_stored = is_kept;
    queue->stored = queue->row;
    return OK;
}

Status queues_store(Kernel *kernel) {
    Str name;
    void *entry;
    for (size_t at = 0; strmap_next(&kernel->queues.by_name, &at, &name, &entry);) {
        TRY(queue_store(kernel, entry));
    }
    return OK;
}

Status queue_fire(Kernel *kernel, const QueueRow *due) {
    CachedQueue *queue;
    TRY(queue_load(kernel, due->name, &queue));
    QueueRow *row = &queue->row;
    if (row->adjust_from > 0) TRY(keys_adjust(kernel, queue));
    if (window_is_used_up(row) && window_end(row) <= kernel_now(kernel)) { // [tasks-queues-3]
        row->rate_at_ms = row->rate_used = 0;
        if (row->queued_count > 0) kernel->batch->out.has_tasks = true; // [tasks-queues-4]
    }
    queue_set_due(kernel, row);
    return queue_store(kernel, queue); // it leaves the index of what is due now
}

// ---- what a person says ----

static Status limits_check(Kernel *kernel, const QueueRow *wanted) {
    const int64_t limits[] = {wanted->max_running, wanted->max_per_key, wanted->rate_count};
    bool is_good = wanted->rate_period_ms >= 0 && wanted->rate_period_ms <= LIMIT_DURATION_MS &&
                   (wanted->rate_count > 0) == (wanted->rate_period_ms > 0);
    for (size_t i = 0; i < COUNT_OF(limits); i++) {
        is_good = is_good && limits[i] >= 0 && limits[i] <= QUEUE_LIMIT_MAX;
    }
    if (is_good) return OK;
    return kernel_refuse(kernel, ERR_INVALID, "BAD_QUEUE_LIMIT",
                         "a limit of the queue \"%.*s\" is out of range: each lies between 0 and "
                         "%d, and a rate has both a count and a period",
                         STR_ARG(wanted->name), QUEUE_LIMIT_MAX);
}

// Takes over the limits and the pause; what runs already goes on.
static Status queue_set(Kernel *kernel, CachedQueue *queue, const QueueRow *wanted) {
    QueueRow *row = &queue->row;
    bool is_new_rate =
        row->rate_count != wanted->rate_count || row->rate_period_ms != wanted->rate_period_ms;
    bool is_new_key_limit = row->max_per_key != wanted->max_per_key;
    row->is_explicit = wanted->is_explicit;
    row->max_running = wanted->max_running;
    row->max_per_key = wanted->max_per_key;
    row->rate_count = wanted->rate_count;
    row->rate_period_ms = wanted->rate_period_ms;
    row->is_paused = wanted->is_paused;
    if (is_new_rate && !window_is_open(kernel, row)) row->rate_at_ms = row->rate_used = 0;
    if (row->rate_count == 0) row->rate_at_ms = row->rate_used = 0;
    if (is_new_key_limit) {
        row->adjust_from = 1;
        TRY(keys_adjust(kernel, queue));
    }
    queue_set_due(kernel, row);
    if (row->queued_count > 0) kernel->batch->out.has_tasks = true; // [tasks-queues-4]
    return queue_store(kernel, queue);
}

Status apply_set_queue(Kernel *kernel, Op *op) {
    CachedQueue *queue;
    QueueRow wanted = op->in.set_queue.row;
    uint64_t kept = op->in.set_queue.kept;
    TRY(kernel_check_name(kernel, "the queue name", wanted.name, LIMIT_NAME_SIZE));
    TRY(queue_load(kernel, wanted.name, &queue));
    row_copy_columns(&tables[TABLE_QUEUES], kept, &queue->row, &wanted);
    // Who takes the rate away need not know its period.
    bool is_period_kept = kept & column_bit(TABLE_QUEUES, offsetof(QueueRow, rate_period_ms));
    if (is_period_kept && wanted.rate_count == 0) wanted.rate_period_ms = 0;
    TRY(limits_check(kernel, &wanted));
    wanted.is_explicit = 1;
    return queue_set(kernel, queue, &wanted);
}

Status apply_remove_queue(Kernel *kernel, Op *op) {
    CachedQueue *queue;
    TRY(kernel_check_name(kernel, "the queue name", op->in.queue.name, LIMIT_NAME_SIZE));
    TRY(queue_load(kernel, op->in.queue.name, &queue));
    op->out.queue.is_changed = queue->row.is_explicit != 0;
    if (!op->out.queue.is_changed) return OK;
    QueueRow wanted = queue_default(op->in.queue.name);
    return queue_set(kernel, queue, &wanted);
}

Status apply_pause_queue(Kernel *kernel, Op *op) {
    CachedQueue *queue;
    int64_t is_paused = op->kind == OP_PAUSE_QUEUE;
    TRY(kernel_check_name(kernel, "the queue name", op->in.queue.name, LIMIT_NAME_SIZE));
    TRY(queue_load(kernel, op->in.queue.name, &queue));
    op->out.queue.is_changed = queue->row.is_paused != is_paused;
    if (!op->out.queue.is_changed) return OK;
    QueueRow wanted = queue->row;
    wanted.is_paused = is_paused;
    wanted.is_explicit = 1;
    return queue_set(kernel, queue, &wanted);
}

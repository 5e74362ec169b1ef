// The life of a task: QUEUED -> LEASED -> COMPLETED | FAILED | CANCELLED, with ways back to QUEUED.
//
//   [life-1] claim_rank > 0 exactly while a worker may claim it: QUEUED, not delayed, and not
//        blocked by others of its concurrency key.
//   [life-2] due_at_ms: QUEUED the end of the delay, or of the time it may wait for a worker;
//        LEASED the end of the lease or of the time it may run; ended and stand-alone the end of
//        keeping.
//   [life-3] A lost lease counts as a failed attempt.
//   [life-4] A task ends together with the wake-up of the run that waits for it.
//   [life-5] Backoff is a pure function of the task and its attempt, so every node computes the
//        same.
//   [life-6] Every change of a task passes task_store, which keeps the counts of its queue and its
//        place among those of its concurrency key; that may move other tasks of the key, so rows
//        of a page that were read before are read again (task_refresh).
//
// Not here: what workers ask for (tasks/tasks.c).
#include "base/assert.h"
#include "base/containers/hash.h"
#include "model/phase.h"
#include "store/kernel/runs/runs.h"
#include "store/kernel/tasks/embedded.h"
#include "store/kernel/tasks/queues.h"
#include "store/kernel/tasks/tasks.h"
#include "store/kernel/waits/waits.h"

static const Str ERROR_NOT_STARTED =
    STR("{\"type\":\"TaskTimeoutError\",\"message\":\"no worker started the task in time\"}");
static const Str ERROR_TOO_LONG =
    STR("{\"type\":\"TaskTimeoutError\",\"message\":\"the task ran longer than it may\"}");
static const Str ERROR_LEASE_LOST =
    STR("{\"type\":\"TaskTimeoutError\",\"message\":\"the worker's lease ran out\"}");

static Status task_unknown(Kernel *kernel) {
    return kernel_corrupt(kernel, "a task is in no known state");
}

static bool state_is_known(int64_t state) { // what is stored may be damaged
    return state >= TASK_QUEUED && state < TASK_STATE_COUNT;
}

Status task_store(Kernel *kernel, const TaskRow *before, TaskRow *after) { // [life-6]
    KeyChange key;
    if (!state_is_known(before->state)) return task_unknown(kernel);
    ASSERT(after->key == before->key && state_is_known(after->state));
    after->phase = task_phase(after->state);
    TRY(key_decide(kernel, before, after, &key));
    if (before->state != after->state) {
        kernel_count(kernel, COUNTER_TASKS_FIRST + before->state, -1);
        kernel_count(kernel, COUNTER_TASKS_FIRST + after->state, 1);
    }
    if (after->due_at_ms != before->due_at_ms) kernel_note_due(kernel, after->due_at_ms);
    if (embedded_is_ending(kernel, after)) TRY(kernel_insert(kernel, TABLE_TASKS, after));
    else TRY(kernel_update(kernel, TABLE_TASKS, before, after));
    task_cache_write(&kernel->tasks, after);
    TRY(queue_count_task(kernel, before, after));
    return key_apply(kernel, &key);
}

Status task_refresh(Kernel *kernel, TaskRow *task) { // [life-6]
    if (str_is_null(task->concurrency_key)) return OK;
    TaskRow wanted = {.key = task->key};
    return kernel_get(kernel, TABLE_TASKS, &wanted, task);
}

void task_set_claimable(Kernel *kernel, TaskRow *task) { // [life-1]
    task->state = TASK_QUEUED;
    task->claim_rank = claim_rank(task->priority);
    task->due_at_ms = 0;
    if (task->start_timeout_ms > 0) {
        task->due_at_ms = kernel_now(kernel) + task->start_timeout_ms;
    }
    task->close_at_ms = 0;
    kernel->batch->out.has_tasks = true;
}

void task_set_lease(Kernel *kernel, TaskRow *task, int64_t lease_ms) { // [life-2]
    int64_t length = task->heartbeat_ms > 0 ? task->heartbeat_ms : lease_ms;
    if (length <= 0) length = TASK_LEASE_DEFAULT_MS;
    task->due_at_ms = earliest_of(kernel_now(kernel) + length, task->close_at_ms);
}

typedef struct TaskEnd {
    TaskState state;
    TaskWaiters waiters; // who hears of it
} TaskEnd;

static Status task_close(Kernel *kernel, const TaskRow *before, TaskRow *after, TaskEnd end) {
    ASSERT(end.state > TASK_LEASED && end.state < TASK_STATE_COUNT);
    ASSERT(before->state <= TASK_LEASED); // what has ended stays so
    int64_t now = kernel_now(kernel);
    after->state = end.state;
    after->claim_rank = 0;
    after->close_at_ms = 0;
    after->finished_at_ms = now;
    after->due_at_ms = after->run == 0 ? now + kernel->config.event_retention_ms : 0;
    TRY(task_store(kernel, before, after));
    return wait_task_ended(kernel, after, end.waiters); // [life-4]
}

Status task_end(Kernel *kernel, const TaskRow *before, TaskRow *after, TaskState state) {
    return task_close(kernel, before, after, (TaskEnd){state, TASK_WAITERS_ALL});
}

// [life-5]
static int64_t backoff_of(const TaskRow *task) {
    double delay = (double)(task->backoff_ms > 0 ? task->backoff_ms : 0);
    double max = (double)(task->backoff_max_ms > 0 ? task->backoff_max_ms : LIMIT_DURATION_MS);
    double factor = task->backoff_factor_pct > 0 ? (double)task->backoff_factor_pct / 100 : 1;
    for (int64_t i = 1; i < task->attempt && delay < max && factor != 1; i++) {
        delay *= factor;
        if (delay < 1) break;
    }
    if (delay > max) delay = max;
    if (task->jitter_pct > 0) {
        uint64_t hash =
            hash_fixed_bytes(task->id.data, task->id.len) ^ hash_fixed_u64((uint64_t)task->attempt);
        double spread = (double)(hash_fixed_u64(hash) % 20001) / 10000 - 1; // -1 … 1
        double jitter = (double)(task->jitter_pct < 100 ? task->jitter_pct : 100) / 100;
        delay += delay * jitter * spread;
    }
    return (int64_t)delay;
}

static bool list_has(Str list, Str word) { // joined by '\n'
    while (list.len > 0) {
        const char *end = memchr(list.data, '\n', list.len);
        size_t len = end ? (size_t)(end - list.data) : list.len;
        if (str_equal((Str){list.data, len}, word)) return true;
        size_t step = end ? len + 1 : len;
        list = (Str){list.data + step, list.len - step};
    }
    return false;
}

Status task_attempt_failed(Kernel *kernel, const TaskRow *before, TaskRow *after, Str type) {
    if (after->is_cancel_wanted) return task_end(kernel, before, after, TASK_CANCELLED);
    bool is_refused = type.len > 0 && list_has(after->non_retryable, type);
    if (is_refused || after->attempt >= after->max_attempts) {
        return task_end(kernel, before, after, TASK_FAILED);
    }
    int64_t delay = backoff_of(after);
    task_set_claimable(kernel, after);
    if (delay > 0) {
        after->claim_rank = 0;
        after->due_at_ms = kernel_now(kernel) + delay;
    }
    return task_store(kernel, before, after);
}

Status task_remove(Kernel *kernel, const TaskRow *task) {
    TaskRow ended = *task;
    KeyChange key;
    ended.state = TASK_CANCELLED;
    ended.claim_rank = 0;
    TRY(key_decide(kernel, task, &ended, &key));
    if (state_is_known(task->state)) {
        kernel_count(kernel, COUNTER_TASKS_FIRST + task->state, -1);
    }
    TRY(kernel_remove(kernel, TABLE_TASKS, task));
    task_cache_remove(&kernel->tasks, task->id);
    TRY(queue_count_task(kernel, task, NULL));
    if (task->state <= TASK_LEASED) TRY(wait_task_ended(kernel, &ended, TASK_WAITERS_GUESTS));
    return key_apply(kernel, &key);
}

Status task_fire(Kernel *kernel, const TaskRow *due) {
    TaskRow refreshed = *due;
    TRY(task_refresh(kernel, &refreshed)); // the firing of others moves it, but removes nothing
    const TaskRow *task = &refreshed;
    TaskRow after = *task;
    switch ((TaskState)task->state) {
    case TASK_QUEUED:
        if (task->claim_rank == 0 && task->key_rank == 0) { // its delay or backoff is over
            task_set_claimable(kernel, &after);
            return task_store(kernel, task, &after);
        }
        after.error = ERROR_NOT_STARTED;
        return task_end(kernel, task, &after, TASK_FAILED);
    case TASK_LEASED: { // [life-3]
        bool is_too_long = task->close_at_ms != 0 && task->close_at_ms <= kernel_now(kernel);
        after.error = is_too_long ? ERROR_TOO_LONG : ERROR_LEASE_LOST;
        return task_attempt_failed(kernel, task, &after, STR("TaskTimeoutError"));
    }
    case TASK_COMPLETED:
    case TASK_FAILED:
    case TASK_CANCELLED: return task_remove(kernel, task);
    case TASK_STATE_COUNT: break;
    }
    return task_unknown(kernel);
}

Status tasks_end_leases(Kernel *kernel, Str worker) {
    // Those that are leased are mostly the oldest that are open: the queued ones behind the last of
    // them are not looked at.
    TRY(embedded_give_rows_of(kernel, worker));
    int64_t leased_count = kernel->counters[COUNTER_TASKS_FIRST + TASK_LEASED];
    TaskRow wanted = {.phase = task_phase(TASK_LEASED)}, *rows = NULL;
    size_t count = 0;
    Scan scan = scan_of(TABLE_TASKS, TASKS_BY_PHASE, &wanted, PAGE_ROWS);
    while (scan.limit > 0 && leased_count > 0) {
        ArenaMark mark = arena_mark(&kernel->scratch);
        TRY(kernel_scan_on(kernel, &scan, &rows, &count));
        for (size_t i = 0; i < count; i++) {
            if (rows[i].state != TASK_LEASED) continue;
            leased_count--;
            if (str_equal(rows[i].worker, worker)) TRY(task_fire(kernel, &rows[i]));
        }
        arena_rewind(&kernel->scratch, mark);
    }
    return OK;
}

// The run itself is being ended, rewound or started afresh, so nobody is woken.
static Status task_cancel(Kernel *kernel, TaskRow *task) {
    TRY(task_refresh(kernel, task));
    TaskRow after = *task;
    if (task->state == TASK_QUEUED) {
        return task_close(kernel, task, &after, (TaskEnd){TASK_CANCELLED, TASK_WAITERS_GUESTS});
    }
    if (task->state != TASK_LEASED || task->is_cancel_wanted) return OK;
    after.is_cancel_wanted = 1;
    return task_store(kernel, task, &after);
}

// Each task of the run, whatever its state; the caller stores the run.
static Status tasks_visit(Kernel *kernel, Run *run,
                          Status (*visit)(Kernel *kernel, TaskRow *task, int64_t position),
                          int64_t position) {
    TRY(embedded_give_row(kernel, run));
    if (!(run->facts.may_have & MAY_HAVE_TASKS)) return OK;
    TaskRow wanted = {.run = run->row.key}, *rows = NULL;
    size_t count = 0;
    Scan scan = scan_of(TABLE_TASKS, TASKS_BY_RUN, &wanted, PAGE_ROWS);
    while (scan.limit > 0) {
        ArenaMark mark = arena_mark(&kernel->scratch);
        TRY(kernel_scan_on(kernel, &scan, &rows, &count));
        for (size_t i = 0; i < count; i++) {
            TRY(visit(kernel, &rows[i], position));
        }
        arena_rewind(&kernel->scratch, mark);
    }
    return OK;
}

static Status cancel_from(Kernel *kernel, TaskRow *task, int64_t position) {
    return task->position >= position ? task_cancel(kernel, task) : OK;
}

Status tasks_cancel(Kernel *kernel, Run *run, int64_t from_position) {
    return tasks_visit(kernel, run, cancel_from, from_position);
}

static Status cancel_before(Kernel *kernel, TaskRow *task, int64_t position) {
    return task->position < position ? task_cancel(kernel, task) : OK;
}

Status tasks_cancel_before(Kernel *kernel, Run *run, int64_t position) {
    return tasks_visit(kernel, run, cancel_before, position);
}

static bool task_has_ended(const TaskRow *task) {
    return task->state != TASK_QUEUED && task->state != TASK_LEASED;
}

static Status let_go(Kernel *kernel, TaskRow *task, int64_t position) {
    TRY(task_refresh(kernel, task));
    if (task_has_ended(task)) return OK;
    TaskRow after = *task;
    after.position = position;
    return task_store(kernel, task, &after);
}

Status tasks_let_go(Kernel *kernel, Run *run) { return tasks_visit(kernel, run, let_go, -1); }

Status task_leave(Kernel *kernel, const TaskRow *task) {
    TaskRow now = *task;
    TRY(task_refresh(kernel, &now));
    if (task_has_ended(&now)) return task_remove(kernel, &now);
    TaskRow after = now;
    after.run = 0;
    after.position = NO_POSITION;
    return task_store(kernel, &now, &after);
}

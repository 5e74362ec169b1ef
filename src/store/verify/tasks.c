// Verify: tasks.
//
// A task can be claimed, comes due, or waits for its key, as its state says ([verify-internal-4]);
// its run exists ([verify-internal-3]) and does not take it for ended ([verify-internal-6]). What
// it adds to its queue is counted for verify/queues.c.
#include "model/phase.h"
#include "model/tasks/pack.h"
#include "store/verify/internal.h"

static void count_task(Verify *verify, const TaskRow *task) {
    if (task->key_rank != 0) verify->keyed_count++;
    if (task->state > TASK_LEASED) return;
    QueueCount *count = strmap_get(&verify->queues, task->queue);
    if (!count) {
        count = ARENA_NEW(&verify->kept, QueueCount);
        strmap_put(&verify->queues, arena_str(&verify->kept, task->queue), count);
    }
    count->queued_count += task->state == TASK_QUEUED;
    count->blocked_count += task->key_rank > 0;
    count->running_count += task->state == TASK_LEASED;
}

static bool place_is_sane(const TaskRow *task) { // [verify-internal-4]
    int64_t rank = claim_rank(task->priority);
    if (str_is_null(task->concurrency_key)) return task->key_rank == 0;
    switch (key_place(task->key_rank)) {
    case KEY_LEASED: return task->state == TASK_LEASED;
    case KEY_READY:
        return task->state == TASK_QUEUED && task->claim_rank == rank &&
               task->key_rank == key_rank_ready(rank);
    case KEY_BLOCKED:
        return task->state == TASK_QUEUED && task->claim_rank == 0 && task->key_rank == rank;
    case KEY_NOWHERE: return task->state != TASK_LEASED && task->claim_rank == 0;
    }
    return false;
}

Status verify_embedded(Verify *verify, const RunRow *run, const WaitSet *set) {
    TaskRow task;
    if (task_unpack(&verify->scratch, run->task, &task) != OK)
        return verify_bad(verify, "the task in the row of a run cannot be read", run->id);
    task.run = run->key;
    const WaitItem *item = &set->items[0];
    bool is_sane = task.state == TASK_LEASED && set->count == 1 && item->kind == WAIT_TASK &&
                   item->target == task.key && str_equal(item->name, task.id) &&
                   str_is_null(task.concurrency_key) && run->due_at_ms > 0 &&
                   run->due_at_ms <= task.due_at_ms && task.key > run->tasks_ended_key;
    if (!is_sane) // [verify-internal-8]
        return verify_bad(verify, "a run and the task in its row contradict each other", run->id);
    verify->counts[COUNTER_TASKS_FIRST + task.state]++;
    if (task.key > verify->max_key) verify->max_key = task.key;
    count_task(verify, &task);
    return OK;
}

Status verify_task(Verify *verify, const void *row) {
    const TaskRow *task = row;
    if (task->state < TASK_QUEUED || task->state >= TASK_STATE_COUNT) {
        return verify_bad(verify, "a task is in no known state", task->id);
    }
    if (task->phase != task_phase(task->state)) {
        return verify_bad(verify, "a task is listed under another state than it has", task->id);
    }
    verify->counts[COUNTER_TASKS_FIRST + task->state]++;
    count_task(verify, task);
    bool can_wait = task->claim_rank > 0 || task->due_at_ms > 0 || task->key_rank > 0;
    bool is_sane = task->state == TASK_QUEUED
                       ? can_wait
                       : task->claim_rank == 0 && (task->state != TASK_LEASED ||
                                                   task->due_at_ms > 0); // [verify-internal-4]
    if (!is_sane) return verify_bad(verify, "a task can neither be claimed nor come due", task->id);
    if (!place_is_sane(task)) {
        return verify_bad(verify, "a task's place among those of its key disagrees with its state",
                          task->id);
    }
    if (task->run == 0) return OK;
    RunRow run;
    Status status = verify_find_run(verify, task->run, &run);
    if (status == ERR_NOT_FOUND) return verify_bad(verify, "a task's run is missing", task->id);
    TRY(status);
    bool is_passed =
        task->state <= TASK_LEASED && task->key <= run.tasks_ended_key; // [verify-internal-6]
    return is_passed ? verify_bad(verify, "a run takes an open task for ended", task->id) : OK;
}

// Tasks as callers and workers see them: queue, heartbeat, complete, fail, retry.
//
//   [kernel-tasks-tasks-1] The id of a task is unique; queueing it again answers the one that is
//        there.
//   [kernel-tasks-tasks-2] Each lease of a task has a token of its own; what comes with another
//        token, or for a task that is not leased, answers ERR_FENCED and changes nothing. A
//        completion that is repeated with the token that completed it answers OK. A token is a
//        digest of the next key and the batch's secret, so it cannot be guessed from others; of 53
//        bits, because workers in JavaScript read it as a number.
//
// Not here: handing them out (tasks/claims.c), what follows from an outcome
// (tasks/life.c).
#include "store/kernel/tasks/tasks.h"
#include "base/containers/hash.h"
#include "model/phase.h"
#include "store/kernel/held.h"
#include "store/kernel/runs/runs.h"
#include "store/kernel/tasks/embedded.h"
#include "store/kernel/tasks/queues.h"

enum { LEASE_TOKEN_BITS = 53 };

const Str QUEUE_DEFAULT = STR("default");

// A digest has the tokens of four keys that follow each other.
static uint64_t lease_digest_word(Kernel *kernel, uint64_t key) {
    LeaseDigest *last = &kernel->lease_digest;
    const LeaseSecret *secret = &kernel->batch->secret;
    uint64_t block = key / 4 + 1;
    if (last->block != block || memcmp(&last->secret, secret, sizeof(*secret)) != 0) {
        uint8_t digest[SHA256_SIZE];
        Sha256 sha;
        sha256_init(&sha);
        sha256_update(&sha, secret->words, sizeof(secret->words));
        sha256_update(&sha, &block, sizeof(block));
        sha256_final(&sha, digest);
        *last = (LeaseDigest){.secret = *secret, .block = block};
        memcpy(last->words, digest, sizeof(last->words));
    }
    return last->words[key % 4];
}

int64_t lease_token(Kernel *kernel, int64_t last_token) {
    uint64_t word = lease_digest_word(kernel, (uint64_t)kernel_next_key(kernel));
    int64_t token = (int64_t)(word >> (64 - LEASE_TOKEN_BITS));
    while (token == 0 || token == last_token) token++;
    return token;
}

static Str task_queue(const TaskSpec *spec, const Run *run) {
    if (spec->queue.len > 0) return spec->queue;
    return run && run->row.queue.len > 0 ? run->row.queue : QUEUE_DEFAULT;
}

static TaskRow task_row_new(Kernel *kernel, const TaskSpec *spec, const Run *run) {
    TaskRow task = {
        .key = kernel_next_key(kernel),
        .id = spec->id,
        .run = run ? run->row.key : 0,
        .position = run ? spec->position : -1,
        .name = spec->name,
        .queue = task_queue(spec, run),
        .state = TASK_QUEUED,
        .phase = task_phase(TASK_QUEUED),
        .priority = spec->priority,
        .max_attempts = spec->max_attempts > 0 ? spec->max_attempts : 1,
        .backoff_ms = spec->backoff_ms,
        .backoff_max_ms = spec->backoff_max_ms,
        .backoff_factor_pct = spec->backoff_factor_pct,
        .jitter_pct = spec->jitter_pct,
        .start_timeout_ms = spec->start_timeout_ms,
        .run_timeout_ms = spec->run_timeout_ms,
        .heartbeat_ms = spec->heartbeat_ms,
        .created_at_ms = kernel_now(kernel),
        .non_retryable = spec->non_retryable,
        .concurrency_key = spec->concurrency_key.len > 0 ? spec->concurrency_key : STR_NULL,
        .input = spec->input,
        .secrets = spec->secrets,
    };
    if (spec->delay_ms > 0) {
        task.due_at_ms = kernel_now(kernel) + spec->delay_ms;
    } else {
        task_set_claimable(kernel, &task);
    }
    return task;
}

static Status task_find(Kernel *kernel, Str id, TaskRow *ret_task, bool *ret_is_embedded) {
    TaskRow wanted = {.id = id}, *rows = NULL;
    size_t count = 0;
    *ret_is_embedded = false;
    if (str_is_null(id)) return ERR_NOT_FOUND;
    const CachedTask *cached = task_cache_find(&kernel->tasks, id);
    if (cached) {
        *ret_is_embedded = cached->is_embedded;
        row_copy(&tables[TABLE_TASKS], &kernel->scratch, &cached->row,
                 ret_task); // [kernel-internal-5]
        return OK;
    }
    Scan scan = scan_of(TABLE_TASKS, TASKS_BY_ID, &wanted, 1);
    TRY(kernel_scan(kernel, &scan, &rows, &count));
    *ret_is_embedded = count == 0;
    if (count == 0) return embedded_load(kernel, id, ret_task);
    *ret_task = rows[0];
    return OK;
}

Status task_load_id(Kernel *kernel, Str id, TaskRow *ret_task) {
    bool is_embedded;
    return task_find(kernel, id, ret_task, &is_embedded);
}

// [kernel-tasks-tasks-1] The id is taken. *ret_is_free when what had it could be cleared away.
static Status task_find_existing(Kernel *kernel, Str id, const Run *run, int64_t *ret_key,
                                 bool *ret_is_free) {
    TaskRow existing;
    Status status = task_load_id(kernel, id, &existing);
    if (status == ERR_NOT_FOUND) return kernel_corrupt(kernel, "the key sequence is behind");
    TRY(status);
    *ret_key = existing.key;
    // Set back, the run begins it again under the same idempotency key.
    *ret_is_free = run && existing.run == run->row.key && existing.state == TASK_CANCELLED;
    return *ret_is_free ? task_remove(kernel, &existing) : OK;
}

// Counts a new task, and gives it to whom it was leased.
static Status task_note_new(Kernel *kernel, const TaskRow *task, KeyChange *key, Run *run) {
    kernel_count(kernel, COUNTER_TASKS_FIRST + task->state, 1);
    kernel_note_due(kernel, task->due_at_ms);
    TRY(queue_count_task(kernel, NULL, task));
    TRY(key_apply(kernel, key));
    if (run && !(run->facts.may_have & MAY_HAVE_TASKS)) {
        run->facts.may_have |= MAY_HAVE_TASKS;
        run_keep_facts(kernel, run);
    }
    if (task->state != TASK_LEASED) return OK;
    if (!run || str_is_null(run->row.task)) task_cache_write(&kernel->tasks, task);
    task_hand_out(kernel, kernel->eager, task);
    return OK;
}

Status task_create(Kernel *kernel, const TaskSpec *spec, Run *run, int64_t *ret_key,
                   bool *ret_is_new) {
    bool had_tasks = kernel->batch->out.has_tasks, is_leased;
    int64_t last_key = kernel->counters[COUNTER_NEXT_KEY];
    TaskRow task = task_row_new(kernel, spec, run);
    KeyChange key;
    TRY(task_lease_new(kernel, &task, &is_leased));
    if (is_leased) kernel->batch->out.has_tasks = had_tasks;
    TRY(key_decide(kernel, NULL, &task, &key));
    *ret_key = task.key;
    *ret_is_new = true;
    bool is_embedded = run && run->may_embed && is_leased &&
                       task.due_at_ms <= kernel_now(kernel) + LIMIT_EMBEDDED_LEASE_MS;
    if (is_embedded) {
        embedded_put(kernel, run, &task);
        return task_note_new(kernel, &task, &key, run);
    }
    Status status = kernel_insert_new(kernel, TABLE_TASKS, &task);
    if (status == ERR_CONFLICT) {
        bool is_free = false;
        kernel->counters[COUNTER_NEXT_KEY] = last_key;
        kernel->batch->out.has_tasks = had_tasks;
        *ret_is_new = false;
        TRY(task_find_existing(kernel, spec->id, run, ret_key, &is_free));
        if (!is_free) return OK;
        task.key = kernel_next_key(kernel);
        if (is_leased) task.token = lease_token(kernel, task.token);
        else kernel->batch->out.has_tasks = true;
        status = kernel_insert(kernel, TABLE_TASKS, &task);
    }
    TRY(status);
    *ret_key = task.key;
    *ret_is_new = true;
    return task_note_new(kernel, &task, &key, run);
}

Status apply_create_task(Kernel *kernel, Op *op) {
    TRY(check_task_spec(kernel, &op->in.create_task.spec));
    return task_create(kernel, &op->in.create_task.spec, NULL, &op->out.create_task.key,
                       &op->out.create_task.is_new);
}

// ---- what a worker says ----

static Status task_require_any(Kernel *kernel, Str id, TaskRow *ret_task, bool *ret_is_embedded) {
    Status status = task_find(kernel, id, ret_task, ret_is_embedded);
    if (status != ERR_NOT_FOUND) return status;
    return kernel_refuse(kernel, ERR_NOT_FOUND, "TASK_NOT_FOUND", "there is no task \"%.*s\"",
                         STR_ARG(id));
}

static Status task_require(Kernel *kernel, Str id, TaskRow *ret_task) {
    bool is_embedded;
    return task_require_any(kernel, id, ret_task, &is_embedded);
}

static Status task_check_lease(Kernel *kernel, const TaskRow *task,
                               int64_t token) { // [kernel-tasks-tasks-2]
    if (task->state == TASK_LEASED && task->token == token) return OK;
    return kernel_refuse(kernel, ERR_FENCED, "TASK_FENCED",
                         "this lease of the task \"%.*s\" is over; the task is %s",
                         STR_ARG(task->id), task_state_name(task->state));
}

// The task of that lease, in a row of its own. [embedded-3]
static Status task_require_lease(Kernel *kernel, Str id, int64_t token, TaskRow *ret_task) {
    bool is_embedded;
    TRY(task_require_any(kernel, id, ret_task, &is_embedded));
    TRY(task_check_lease(kernel, ret_task, token));
    return is_embedded ? embedded_give_row_to(kernel, ret_task) : OK;
}

Status apply_heartbeat_task(Kernel *kernel, Op *op) {
    TaskRow before;
    TRY(kernel_check_size(kernel, "the progress", op->in.heartbeat.progress, LIMIT_ERROR_SIZE));
    TRY(task_require_lease(kernel, op->in.heartbeat.id, op->in.heartbeat.token, &before));
    TaskRow after = before;
    task_set_lease(kernel, &after, op->in.heartbeat.lease_ms);
    if (!str_is_null(op->in.heartbeat.progress)) after.progress = op->in.heartbeat.progress;
    op->out.heartbeat.is_cancel_wanted = before.is_cancel_wanted != 0;
    return task_store(kernel, &before, &after);
}

static TaskAttempt attempt_of(Kernel *kernel, const TaskRow *task) {
    return (TaskAttempt){
        .name = kernel_answer(kernel, task->name),
        .worker = kernel_answer(kernel, task->worker),
        .run = task->run,
        .number = task->attempt,
        .started_at_ms = task->started_at_ms,
    };
}

static void note_woken(Op *op, int64_t run, const ReadyRun *ready) {
    if (ready->run != run || ready->resolved_count != 1) return;
    op->out.complete_task.woken_run = run;
    op->out.complete_task.woken_epoch = ready->claim.epoch;
    op->out.complete_task.woken_seq = ready->last_seq;
}

Status apply_complete_task(Kernel *kernel, Op *op) {
    TaskRow before;
    bool is_embedded;
    TRY(kernel_check_size(kernel, "the result", op->in.complete_task.result, LIMIT_PAYLOAD_SIZE));
    TRY(task_require_any(kernel, op->in.complete_task.id, &before, &is_embedded));
    // Said again because the answer was lost. Another result under the same token is not what
    // counts, and must not hear that it does.
    bool is_repeated = before.state == TASK_COMPLETED &&
                       before.token == op->in.complete_task.token &&
                       str_same(before.result, op->in.complete_task.result);
    if (is_repeated) return OK;
    TRY(task_check_lease(kernel, &before, op->in.complete_task.token));
    TaskRow after = before;
    after.result = op->in.complete_task.result;
    op->out.complete_task.attempt = attempt_of(kernel, &before);
    size_t ready_count = kernel->batch->out.ready_count;
    held_begin(kernel, before.run);
    if (is_embedded) embedded_begin_end(kernel, &before);
    TRY(task_end(kernel, &before, &after, TASK_COMPLETED));
    TRY(embedded_end(kernel));
    for (size_t i = ready_count; i < kernel->batch->out.ready_count; i++)
        note_woken(op, before.run, &kernel->batch->out.ready[i]);
    return OK;
}

Status apply_fail_task(Kernel *kernel, Op *op) {
    TaskRow before;
    TRY(kernel_check_size(kernel, "the error", op->in.fail_task.error, LIMIT_ERROR_SIZE));
    TRY(task_require_lease(kernel, op->in.fail_task.id, op->in.fail_task.token, &before));
    TaskRow after = before;
    after.error = op->in.fail_task.error;
    op->out.fail_task.attempt = attempt_of(kernel, &before);
    if (op->in.fail_task.is_final) after.max_attempts = after.attempt;
    TRY(task_attempt_failed(kernel, &before, &after, op->in.fail_task.type));
    op->out.fail_task.is_retried = after.state == TASK_QUEUED;
    if (op->out.fail_task.is_retried) {
        bool is_ready = after.claim_rank > 0 || after.key_rank > 0; // or waits for its key
        op->out.fail_task.retry_at_ms = is_ready ? kernel_now(kernel) : after.due_at_ms;
    }
    return OK;
}

Status apply_release_task(Kernel *kernel, Op *op) {
    TaskRow before;
    TRY(task_require_lease(kernel, op->in.release_task.id, op->in.release_task.token, &before));
    TaskRow after = before;
    if (before.is_cancel_wanted) return task_end(kernel, &before, &after, TASK_CANCELLED);
    after.attempt--; // it was not made
    after.started_at_ms = 0;
    after.worker = STR_NULL;
    task_set_claimable(kernel, &after);
    return task_store(kernel, &before, &after);
}

// A task that waits for its next attempt, or for the end of a delay, becomes claimable at once,
// whoever it belongs to: its run notices nothing but that the attempt comes earlier.
static Status retry_waiting(Kernel *kernel, const TaskRow *before, Op *op) {
    // [life-1] of tasks/life.c
    bool is_delayed = before->claim_rank == 0 && before->key_rank == 0;
    if (!is_delayed) return OK; // a worker may take it, or others of its key go first
    TaskRow after = *before;
    task_set_claimable(kernel, &after);
    op->out.retry_task.is_changed = true;
    return task_store(kernel, before, &after);
}

Status apply_retry_task(Kernel *kernel, Op *op) {
    TaskRow before;
    TRY(task_require(kernel, op->in.retry_task.id, &before));
    if (before.state == TASK_QUEUED) return retry_waiting(kernel, &before, op);
    if (before.run != 0) {
        return kernel_refuse(kernel, ERR_CONFLICT, "TASK_HAS_RUN",
                             "the task \"%.*s\" is %s and belongs to a run, which decides about "
                             "further attempts; only one that waits for its next attempt can be "
                             "hurried",
                             STR_ARG(before.id), task_state_name(before.state));
    }
    if (before.state != TASK_FAILED && before.state != TASK_CANCELLED) {
        return kernel_refuse(kernel, ERR_CONFLICT, "TASK_NOT_FAILED",
                             "the task \"%.*s\" is %s; only failed and cancelled ones, and those "
                             "that wait for their next attempt, are retried",
                             STR_ARG(before.id), task_state_name(before.state));
    }
    TaskRow after = before;
    after.max_attempts++;
    after.is_cancel_wanted = 0;
    after.finished_at_ms = 0;
    task_set_claimable(kernel, &after);
    op->out.retry_task.is_changed = true;
    return task_store(kernel, &before, &after);
}

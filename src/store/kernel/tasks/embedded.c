// Embedded tasks: putting them into the row of their run, and giving them rows.
//
// Invariants [embedded-1]-[embedded-5] are in embedded.h.
//
// Not here: completing one (tasks/tasks.c), reading one from outside (store/reads/embedded.c).
#include "store/kernel/tasks/embedded.h"
#include "base/assert.h"
#include "model/phase.h"
#include "model/tasks/id.h"
#include "model/tasks/pack.h"
#include "store/kernel/held.h"
#include "store/kernel/quarantine.h"
#include "store/kernel/tasks/tasks.h"

enum { EMBEDDED_INPUT_MAX = 1 << 10 }; // bytes: it is written with the row of the run

bool embedded_is_fit(Kernel *kernel, const TurnCommit *turn, const Run *run) { // [embedded-1]
    bool is_chain = kernel->eager != NULL && turn->next == NEXT_SUSPEND && turn->task_count == 1 &&
                    turn->child_count == 0 && turn->waits.count == 1 && run->row.kind == RUN_FLOW &&
                    !run->row.is_pause_wanted;
    if (!is_chain) return false;
    const TaskSpec *task = &turn->tasks[0];
    const WaitItem *item = &turn->waits.items[0];
    return item->kind == WAIT_TASK && item->target == 0 && item->deadline_at_ms == 0 &&
           str_equal(item->name, task->id) && task->input.len <= EMBEDDED_INPUT_MAX &&
           str_is_null(task->secrets) && task->concurrency_key.len == 0 &&
           task_id_leads_to(task->id, run->row.id, run->row.key);
}

void embedded_put(Kernel *kernel, Run *run, const TaskRow *task) {
    ASSERT(run->may_embed && task->state == TASK_LEASED && task->due_at_ms > 0);
    run->row.task = task_pack(&kernel->scratch, task);
    run->task_due_at_ms = task->due_at_ms;
    task_cache_write_embedded(&kernel->tasks, task);
}

// An earlier look costs less than another entry of the index over due runs: what was stored when
// the run woke stays, as long as it is ahead.
int64_t embedded_due(const Kernel *kernel, const Run *run, int64_t due_at_ms) { // [embedded-4]
    if (str_is_null(run->row.task)) return due_at_ms;
    int64_t stored = held_due_at_ms(kernel, run->row.key), own = run->task_due_at_ms;
    if (stored > kernel_now(kernel) && stored < own) own = stored;
    return earliest_of(due_at_ms, own);
}

// ---- giving it a row ----

static Status embedded_read(Kernel *kernel, const Run *run, TaskRow *ret_task) {
    TRY(task_unpack(&kernel->scratch, run->row.task, ret_task));
    ret_task->run = run->row.key;
    ret_task->phase = task_phase(ret_task->state);
    return ret_task->state == TASK_LEASED && ret_task->due_at_ms > 0 ? OK : ERR_CORRUPT;
}

static Status embedded_require(Kernel *kernel, const Run *run, TaskRow *ret_task) {
    Status status = embedded_read(kernel, run, ret_task);
    if (status != ERR_CORRUPT) return status;
    run_blame(kernel, run);
    return kernel_corrupt(kernel, "the task in the row of a run cannot be read");
}

static Status give_row(Kernel *kernel, Run *run, const TaskRow *task) {
    TRY(kernel_insert(kernel, TABLE_TASKS, task));
    task_cache_write(&kernel->tasks, task);
    kernel_note_due(kernel, task->due_at_ms);
    run->row.task = STR_NULL;
    if (run->row.state != RUN_SUSPENDED) return OK;
    WaitSet set;
    TRY(run_waits(kernel, run, &set));
    run->row.due_at_ms = earliest_of(wait_set_deadline(&set), run->row.deadline_at_ms);
    return OK;
}

Status embedded_give_row(Kernel *kernel, Run *run) {
    TaskRow task;
    if (str_is_null(run->row.task)) return OK;
    TRY(embedded_require(kernel, run, &task));
    return give_row(kernel, run, &task);
}

Status embedded_settle(Kernel *kernel, Run *run) { // [embedded-2]
    if (str_is_null(run->row.task) || run->row.state == RUN_SUSPENDED) return OK;
    if (kernel->ended_task.run != run->row.key) return embedded_give_row(kernel, run);
    run->row.task = STR_NULL;
    kernel->ended_task = (EndedTask){0};
    return OK;
}

Status embedded_fire(Kernel *kernel, Run *run) {
    TaskRow task;
    if (str_is_null(run->row.task)) return OK;
    TRY(embedded_require(kernel, run, &task));
    if (task.due_at_ms <= kernel_now(kernel)) return give_row(kernel, run, &task);
    run->row.due_at_ms = earliest_of(run->row.due_at_ms, task.due_at_ms);
    return OK;
}

// ---- finding it ----

static Status run_of_id(Kernel *kernel, Str id, Run *ret_run) {
    TaskPlace place;
    const CachedTask *cached = task_cache_find(&kernel->tasks, id);
    if (cached) return run_load(kernel, cached->row.run, ret_run);
    if (!task_id_read(&kernel->scratch, id, &place)) return ERR_NOT_FOUND;
    return str_is_null(place.run_id) ? run_load(kernel, place.run_key, ret_run)
                                     : run_load_id(kernel, place.run_id, ret_run);
}

Status embedded_load(Kernel *kernel, Str id, TaskRow *ret_task) { // [embedded-3]
    Run run;
    TRY(run_of_id(kernel, id, &run));
    if (str_is_null(run.row.task)) return ERR_NOT_FOUND;
    TRY(embedded_require(kernel, &run, ret_task));
    return str_equal(ret_task->id, id) ? OK : ERR_NOT_FOUND;
}

Status embedded_give_row_to(Kernel *kernel, const TaskRow *task) {
    Run run;
    TRY(run_load(kernel, task->run, &run));
    TRY(give_row(kernel, &run, task));
    return run_store(kernel, &run);
}

static Status give_row_of(Kernel *kernel, const RunRow *row, Str worker) {
    Run run;
    TaskRow task;
    if (row->state != RUN_SUSPENDED || str_is_null(row->task)) return OK;
    TRY(run_load(kernel, row->key, &run));
    if (str_is_null(run.row.task)) return OK;
    TRY(embedded_require(kernel, &run, &task));
    if (!str_equal(task.worker, worker)) return OK;
    TRY(give_row(kernel, &run, &task));
    return run_store(kernel, &run);
}

// Those that can be embedded are due within the longest lease of an embedded task.
Status embedded_give_rows_of(Kernel *kernel, Str worker) {
    Scan scan = {.table = TABLE_RUNS,
                 .index = RUNS_BY_DUE,
                 .has_min = true,
                 .min = 1,
                 .has_max = true,
                 .max = kernel_now(kernel) + LIMIT_EMBEDDED_LEASE_MS,
                 .limit = PAGE_ROWS};
    for (size_t count = PAGE_ROWS; count == PAGE_ROWS;) {
        ArenaMark mark = arena_mark(&kernel->scratch);
        RunRow *rows = NULL;
        TRY(kernel_scan(kernel, &scan, &rows, &count));
        for (size_t i = 0; i < count; i++) {
            scan.min = rows[i].due_at_ms;
            scan.after_key = rows[i].key;
            TRY(give_row_of(kernel, &rows[i], worker));
        }
        arena_rewind(&kernel->scratch, mark);
    }
    return OK;
}

// ---- ending it ----

void embedded_begin_end(Kernel *kernel, const TaskRow *task) {
    kernel->ended_task = (EndedTask){.run = task->run, .key = task->key};
}

bool embedded_is_ending(const Kernel *kernel, const TaskRow *task) {
    return kernel->ended_task.run != 0 && kernel->ended_task.key == task->key;
}

// The run was not woken by it, which only damage explains: it goes without.
Status embedded_end(Kernel *kernel) {
    Run run;
    int64_t key = kernel->ended_task.run;
    if (key == 0) return OK;
    kernel->ended_task = (EndedTask){0};
    TRY(run_load(kernel, key, &run));
    run.row.task = STR_NULL;
    return run_store(kernel, &run);
}

void embedded_drop_damaged(Kernel *kernel, Run *run) {
    TaskRow task;
    if (str_is_null(run->row.task)) return;
    if (embedded_read(kernel, run, &task) == ERR_CORRUPT) run->row.task = STR_NULL;
}

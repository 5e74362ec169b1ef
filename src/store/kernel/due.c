// What is due: timers, deadlines, leases, expiries. One walk over the due indexes serves both
// FIRE_DUE and SWEEP.
//
//   [due-1] Nothing is fired before its time; what is fired leaves its due index in the same batch.
//   [due-2] Every kind of row gets its share of the limit first, then what the others left over, so
//        no kind can starve another.
//   [due-3] Removing an ended run is bounded too: a long history is removed in several goes.
//   [due-4] SWEEP removes what has expired and leaves live runs, tasks, schedules and queues to
//        FIRE_DUE.
//
// Not here: what a fired task does (tasks/life.c), what a schedule does (schedules/ticks.c),
// what a queue does (tasks/queues.c).
#include "base/array.h"
#include "base/assert.h"
#include "store/kernel/events/events.h"
#include "store/kernel/nodes/nodes.h"
#include "store/kernel/operations.h"
#include "store/kernel/quarantine.h"
#include "store/kernel/runs/runs.h"
#include "store/kernel/schedules/schedules.h"
#include "store/kernel/tasks/embedded.h"
#include "store/kernel/tasks/queues.h"
#include "store/kernel/tasks/tasks.h"
#include "store/kernel/waits/waits.h"
#include <stdlib.h>

enum { FIRE_MAX = 100000 };

typedef struct Firing {
    int64_t limit; // rows this round may still take
    int64_t fired_count, started_count, woken_count, ended_count, task_count;
    int64_t purged_count, event_count, key_count, tick_count;
    int64_t purge_budget;
    bool is_sweep;
    bool has_more;
} Firing;

// ---- runs ----

typedef struct DueItem {
    const WaitItem *item;
    size_t place;
} DueItem;

static int due_item_compare(const void *left, const void *right) {
    const DueItem *a = left, *b = right;
    if (a->item->deadline_at_ms != b->item->deadline_at_ms) {
        return a->item->deadline_at_ms < b->item->deadline_at_ms ? -1 : 1;
    }
    return a->place < b->place ? -1 : a->place > b->place;
}

static Status waits_fire(Kernel *kernel, Run *run, Firing *firing) {
    WaitSet set;
    TRY(run_waits(kernel, run, &set));
    DueItem *due = ARENA_ARRAY(&kernel->scratch, DueItem, set.count);
    size_t count = 0;
    for (size_t i = 0; i < set.count; i++) {
        int64_t deadline = set.items[i].deadline_at_ms;
        if (deadline == 0 || deadline > kernel_now(kernel)) continue; // [due-1]
        due[count++] = (DueItem){&set.items[i], i};
    }
    if (count == 0) { // its task's lease has ended, or is to be looked at later
        run->row.due_at_ms = earliest_of(wait_set_deadline(&set), run->row.deadline_at_ms);
        TRY(embedded_fire(kernel, run));
        return run_store(kernel, run);
    }
    qsort(due, count, sizeof(DueItem), due_item_compare);
    if (set.mode == WAIT_FIRST) count = 1;
    Delivery *deliveries = ARENA_ARRAY(&kernel->scratch, Delivery, count);
    for (size_t i = 0; i < count; i++) {
        int64_t kind = due[i].item->kind;
        bool is_timer = kind == WAIT_TIMER || kind == WAIT_RETRY;
        deliveries[i] =
            (Delivery){.item = due[i].item, .outcome = is_timer ? OUTCOME_OK : OUTCOME_TIMEOUT};
    }
    firing->woken_count++;
    return wait_deliver(kernel, run, deliveries, count);
}

static Status deadline_fire(Kernel *kernel, Run *run, Firing *firing) {
    firing->ended_count++;
    if (run_is_cancel_wanted(&run->row)) return run_cancel_now(kernel, run); // [runs-5]
    run->row.epoch++;
    Ending ending = {RUN_FAILED, OUTCOME_TIMEOUT, ERROR_RUN_TIMEOUT};
    return run_end(kernel, run, &ending);
}

static Status live_run_fire(Kernel *kernel, Run *run, Firing *firing) {
    RunRow *row = &run->row;
    bool is_over = row->deadline_at_ms != 0 && row->deadline_at_ms <= kernel_now(kernel);
    switch ((RunState)row->state) {
    case RUN_PENDING: firing->started_count++; return run_make_ready(kernel, run, (Resolved){0});
    case RUN_SUSPENDED:
        return is_over ? deadline_fire(kernel, run, firing) : waits_fire(kernel, run, firing);
    case RUN_RUNNING:
        if (is_over) return deadline_fire(kernel, run, firing);
        row->due_at_ms = row->deadline_at_ms;
        return run_store(kernel, run);
    case RUN_PAUSED:
        if (is_over && run_is_cancel_wanted(row)) return deadline_fire(kernel, run, firing);
        // Its start time came while it was held: it starts when it is resumed.
        if (row->paused_state == RUN_PENDING) {
            row->paused_state = RUN_RUNNING;
            // The deadline of one that never began counts from here; between two attempts it has
            // been standing still since it was paused.
            if (row->started_at_ms == 0) row->updated_at_ms = row->due_at_ms;
        }
        row->due_at_ms = 0;
        return run_store(kernel, run);
    default: UNREACHABLE();
    }
}

static Status run_fire(Kernel *kernel, const RunRow *due, Firing *firing) {
    Run run;
    Status status = run_load(kernel, due->key, &run);
    if (status == ERR_NOT_FOUND) return OK; // purged by something earlier in this batch
    TRY(status);
    bool is_due = run.row.due_at_ms != 0 && run.row.due_at_ms <= kernel_now(kernel);
    if (!is_due) return OK; // something earlier in this batch changed it
    if (!run_state_is_terminal(run.row.state)) {
        return firing->is_sweep ? OK : live_run_fire(kernel, &run, firing); // [due-4]
    }
    bool is_gone;
    TRY(run_purge(kernel, &run, &firing->purge_budget, &is_gone));
    firing->purged_count += is_gone;
    if (!is_gone) firing->has_more = true; // [due-3]
    return OK;
}

// ---- the walk ----

static Status row_fire(Kernel *kernel, TableNumber table, const void *row, Firing *firing) {
    switch (table) {
    case TABLE_RUNS: return run_fire(kernel, row, firing);
    case TABLE_TASKS: firing->task_count++; return task_fire(kernel, row);
    case TABLE_EVENTS: firing->event_count++; return event_remove(kernel, row);
    case TABLE_DEDUPE: firing->key_count++; return kernel_remove(kernel, TABLE_DEDUPE, row);
    case TABLE_DEAD_LETTERS:
        firing->event_count++;
        kernel_count(kernel, COUNTER_DEAD_LETTERS, -1);
        return kernel_remove(kernel, TABLE_DEAD_LETTERS, row);
    case TABLE_SCHEDULES: {
        int64_t tick_count;
        bool has_more;
        TRY(schedule_fire(kernel, row, &tick_count, &has_more));
        firing->tick_count += tick_count;
        firing->has_more = firing->has_more || has_more;
        return OK;
    }
    case TABLE_QUEUES: return queue_fire(kernel, row);
    default: UNREACHABLE();
    }
}

typedef struct DueIndex {
    TableNumber table;
    int index;
} DueIndex;

static const DueIndex due_indexes[] = {
    {TABLE_RUNS, RUNS_BY_DUE},
    {TABLE_TASKS, TASKS_BY_DUE},
    {TABLE_EVENTS, EVENTS_BY_DUE},
    {TABLE_DEDUPE, DEDUPE_BY_DUE},
    {TABLE_DEAD_LETTERS, DEAD_LETTERS_BY_DUE},
    {TABLE_SCHEDULES, SCHEDULES_BY_DUE},
    {TABLE_QUEUES, QUEUES_BY_DUE},
};
enum { DUE_INDEX_COUNT = COUNT_OF(due_indexes) };

static Status due_page(Kernel *kernel, const DueIndex *index, int64_t limit, char **ret_rows,
                       size_t *ret_count) {
    Scan scan = {.table = index->table,
                 .index = index->index,
                 .has_max = true,
                 .max = kernel_now(kernel),
                 .limit = limit};
    return kernel_scan(kernel, &scan, ret_rows, ret_count);
}

// Fires up to firing->limit rows of one table. A page in which nothing left the index (a purge
// that is not through, live runs seen by a sweep) ends the walk.
static Status table_fire(Kernel *kernel, const DueIndex *index, Firing *firing) {
    size_t row_size = tables[index->table].row_size;
    while (firing->limit > 0) {
        int64_t limit = firing->limit < PAGE_ROWS ? firing->limit : PAGE_ROWS;
        char *rows = NULL;
        size_t count = 0;
        int64_t write_count = kernel->write_count;
        TRY(due_page(kernel, index, limit, &rows, &count));
        for (size_t i = 0; i < count && firing->purge_budget > 0; i++) {
            Status status = row_fire(kernel, index->table, rows + i * row_size, firing);
            if (status == ERR_CORRUPT) row_blame(kernel, index->table, rows + i * row_size);
            TRY(status);
            firing->fired_count++;
            firing->limit--;
        }
        if ((int64_t)count < limit || firing->purge_budget <= 0) return OK;
        if (kernel->write_count == write_count) return OK;
    }
    return OK;
}

static bool is_fired(const Firing *firing, TableNumber table) {
    if (!firing->is_sweep) return true;
    return table != TABLE_TASKS && table != TABLE_SCHEDULES && table != TABLE_QUEUES; // [due-4]
}

// A sweep that has more to do is repeated at once. Live runs are not for it [due-4]: were they
// counted, it would be repeated for as long as FIRE_DUE has not come to them.
static bool is_more(const Firing *firing, const DueIndex *index, const void *first) {
    if (!firing->is_sweep || index->table != TABLE_RUNS) return true;
    return run_state_is_terminal(((const RunRow *)first)->state);
}

static Status due_fire(Kernel *kernel, int64_t max, Firing *firing) {
    int64_t share = max / (DUE_INDEX_COUNT + 1);
    int64_t left = max;
    if (share < 1) share = 1;
    for (int round = 0; round < 2 && left > 0; round++) { // [due-2]
        for (size_t i = 0; i < DUE_INDEX_COUNT && left > 0; i++) {
            if (!is_fired(firing, due_indexes[i].table)) continue;
            bool is_last = round == 1;
            int64_t limit = is_last || share > left ? left : share;
            firing->limit = limit;
            TRY(table_fire(kernel, &due_indexes[i], firing));
            left -= limit - firing->limit;
        }
    }
    if (firing->purge_budget <= 0) firing->has_more = true; // [due-3] it ended the walk early
    if (left > 0) return OK;
    for (size_t i = 0; i < DUE_INDEX_COUNT && !firing->has_more; i++) {
        if (!is_fired(firing, due_indexes[i].table)) continue;
        char *rows = NULL;
        size_t count = 0;
        TRY(due_page(kernel, &due_indexes[i], 1, &rows, &count));
        firing->has_more = count > 0 && is_more(firing, &due_indexes[i], rows);
    }
    return OK;
}

static int64_t clamp_max(int64_t max) { return max <= 0 || max > FIRE_MAX ? FIRE_MAX : max; }

Status apply_fire_due(Kernel *kernel, Op *op) {
    Firing firing = {.purge_budget = LIMIT_PURGE_ROWS};
    TRY(due_fire(kernel, clamp_max(op->in.fire_due.max), &firing));
    op->out.fire_due.fired_count = firing.fired_count;
    op->out.fire_due.started_count = firing.started_count;
    op->out.fire_due.woken_count = firing.woken_count;
    op->out.fire_due.ended_count = firing.ended_count;
    op->out.fire_due.task_count = firing.task_count;
    op->out.fire_due.tick_count = firing.tick_count;
    op->out.fire_due.has_more = firing.has_more;
    return OK;
}

Status apply_sweep(Kernel *kernel, Op *op) {
    int64_t max = clamp_max(op->in.sweep.max);
    Firing firing = {.purge_budget = LIMIT_PURGE_ROWS, .is_sweep = true};
    TRY(due_fire(kernel, max, &firing));
    TRY(nodes_sweep(kernel, max, &op->out.sweep.reclaimed_runs));
    op->out.sweep.purged_runs = firing.purged_count;
    op->out.sweep.expired_events = firing.event_count;
    op->out.sweep.expired_keys = firing.key_count;
    op->out.sweep.has_more = firing.has_more || op->out.sweep.reclaimed_runs >= max;
    return OK;
}

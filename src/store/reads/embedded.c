// Embedded tasks: those that stand in the row of their run are found as all others are.
//
// The run's row is found by the id of the task, or because the run is due no later than the end of
// its task's lease ([embedded-4] of kernel/tasks/embedded.h).
//
// Not here: tasks that have a row (reads/tasks.c).
#include "model/phase.h"
#include "model/tasks/id.h"
#include "model/tasks/pack.h"
#include "store/reads/internal.h"
#include <stdlib.h>

enum { EMBEDDED_LOOKS_MAX = 100000 }; // runs that are due soon, of those a listing looks at

// The task of the run, if it has one that can be read; `verify` names the others.
static bool task_of(const RunRow *run, Arena *arena, TaskRow *ret_task) {
    if (str_is_null(run->task) || task_unpack(arena, run->task, ret_task) != OK) return false;
    ret_task->run = run->key;
    ret_task->phase = task_phase(ret_task->state);
    return true;
}

Status embedded_find(Reads *reads, Str id, TaskRow *ret_task) {
    TaskPlace place;
    RunRow run;
    if (!task_id_read(&reads->scratch, id, &place)) return ERR_NOT_FOUND;
    if (str_is_null(place.run_id)) {
        RunRow wanted = {.key = place.run_key};
        TRY(rows_get(reads->rows, TABLE_RUNS, &wanted, &reads->scratch, &run));
    } else {
        RunRow wanted = {.id = place.run_id}, *rows = NULL;
        size_t count = 0;
        Scan scan = scan_of(TABLE_RUNS, RUNS_BY_ID, &wanted, 1);
        TRY(rows_scan(reads->rows, &scan, &reads->scratch, &rows, &count));
        if (count == 0) return ERR_NOT_FOUND;
        run = rows[0];
    }
    bool is_it = task_of(&run, reads->arena, ret_task) && str_equal(ret_task->id, id);
    return is_it ? OK : ERR_NOT_FOUND;
}

// ---- among others ----

typedef struct Found {
    VEC(TaskRow) tasks; // in the arena of the answers
    const TaskFilter *filter;
    int64_t run; // of that run only; 0 = of all
    int64_t end; // the page ends behind this key
} Found;

static void look_at(Reads *reads, const RunRow *run, Found *found) {
    TaskRow task;
    if (run->state != RUN_SUSPENDED || !task_of(run, reads->arena, &task)) return;
    int64_t after = found->filter->page.after;
    bool is_inside = (after == 0 || task.key < after) && task.key > found->end;
    if (is_inside && task_is_wanted(&task, (void *)(uintptr_t)found->filter))
        vec_push(&found->tasks, task);
}

// Runs are looked at in the order in which they are due, from the first one on: the longest lease
// of an embedded task is not far behind it.
static Status look_at_due(Reads *reads, Found *found, int64_t left_count) {
    Scan scan = {.table = TABLE_RUNS,
                 .index = RUNS_BY_DUE,
                 .has_min = true,
                 .min = 1,
                 .has_max = true,
                 .max = INT64_MAX,
                 .limit = READ_CHUNK_CAREFUL};
    int64_t look_count = 0;
    size_t count = READ_CHUNK_CAREFUL;
    while ((int64_t)count == scan.limit && left_count > 0 && look_count < EMBEDDED_LOOKS_MAX) {
        RunRow *rows = NULL;
        arena_reset(&reads->scratch);
        scan.limit = look_count == 0 ? READ_CHUNK_CAREFUL : PAGE_ROWS;
        TRY(rows_scan(reads->rows, &scan, &reads->scratch, &rows, &count));
        for (size_t i = 0; i < count; i++) {
            if (look_count++ == 0) scan.max = rows[i].due_at_ms + 5 * LIMIT_EMBEDDED_LEASE_MS;
            if (rows[i].due_at_ms > scan.max) return OK;
            left_count -= rows[i].state == RUN_SUSPENDED && !str_is_null(rows[i].task);
            look_at(reads, &rows[i], found);
            scan.min = rows[i].due_at_ms;
            scan.after_key = rows[i].key;
        }
    }
    return OK;
}

static int newest_first(const void *left, const void *right) {
    int64_t a = ((const TaskRow *)left)->key, b = ((const TaskRow *)right)->key;
    return a > b ? -1 : a < b;
}

static void merge(Reads *reads, Found *found, TaskPage *page) {
    size_t limit = (size_t)read_limit(found->filter->page.limit), count = 0, at = 0, next = 0;
    TaskRow *merged = ARENA_ARRAY(reads->arena, TaskRow, limit);
    qsort(found->tasks.data, found->tasks.count, sizeof(TaskRow), newest_first);
    while (count < limit && (at < page->count || next < found->tasks.count)) {
        bool is_stored = next == found->tasks.count ||
                         (at < page->count && page->rows[at].key > found->tasks.data[next].key);
        merged[count++] = is_stored ? page->rows[at++] : found->tasks.data[next++];
    }
    if (at < page->count || next < found->tasks.count) page->next = merged[count - 1].key;
    page->rows = merged;
    page->count = count;
}

Status embedded_merge(Reads *reads, const TaskFilter *filter, const RunRow *run, TaskPage *page) {
    if (filter->states && !(filter->states & (1u << TASK_LEASED))) return OK;
    Found found = {.filter = filter, .end = page->next};
    if (run != NULL) {
        look_at(reads, run, &found);
    } else {
        StoreStats stats;
        TRY(read_stats(reads, &stats));
        Status status =
            look_at_due(reads, &found, stats.counters[COUNTER_TASKS_FIRST + TASK_LEASED]);
        if (status != OK) vec_free(&found.tasks);
        TRY(status);
    }
    if (found.tasks.count > 0) merge(reads, &found, page);
    vec_free(&found.tasks);
    return OK;
}

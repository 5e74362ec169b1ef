// Resume tasks: runs that are ready and that nobody executes yet, shown as tasks.
//
// Waking a run is a transition of its row, not a task that is queued: "look whether this run can
// go on" is the row itself, ready and unowned. So there is never more than one per run, waking
// costs no second write, and none can be lost or left over. For people who look at queues these
// runs are shown as what they are for: tasks builtin.resume_workflow of the queue "system".
//   [resume-1] A resume task has the key of its run, so it takes its place in a listing by key; its
//        id is "resume-" and the id of the run.
//   [resume-2] They are shown only: the node that claims the run does the task.
//
// Not here: claiming runs (nodes/nodes.c), stored tasks (reads/tasks.c).
#include "store/reads/internal.h"
#include <stdlib.h>

const Str RESUME_QUEUE = STR("system");
static const Str RESUME_TASK = STR("builtin.resume_workflow");
static const Str RESUME_PREFIX = STR("resume-");

enum { RESUME_KEYS_MAX = 100000 }; // ready runs that a listing looks at

static void resume_describe(Reads *reads, const RunRow *run, TaskRow *ret_task) { // [resume-1]
    *ret_task = (TaskRow){
        .key = run->key,
        .id = arena_printf(reads->arena, "resume-%.*s", STR_ARG(run->id)),
        .run = run->key,
        .position = NO_POSITION,
        .name = RESUME_TASK,
        .queue = RESUME_QUEUE,
        .state = TASK_QUEUED,
        .priority = PRIORITY_MAX,
        .claim_rank = claim_rank(PRIORITY_MAX),
        .max_attempts = 1,
        .created_at_ms = run->updated_at_ms,
    };
}

Status resume_find(Reads *reads, Str id, TaskRow *ret_task) {
    if (!str_starts_with(id, RESUME_PREFIX)) return ERR_NOT_FOUND;
    Str run_id = {id.data + RESUME_PREFIX.len, id.len - RESUME_PREFIX.len};
    RunRow wanted = {.id = run_id}, *rows = NULL;
    size_t count = 0;
    Scan scan = scan_of(TABLE_RUNS, RUNS_BY_ID, &wanted, 1);
    TRY(rows_scan(reads->rows, &scan, &reads->scratch, &rows, &count));
    if (count == 0 || !run_is_ready(&rows[0])) return ERR_NOT_FOUND;
    resume_describe(reads, &rows[0], ret_task);
    return OK;
}

// ---- among others ----

static bool is_asked_for(const TaskFilter *filter) {
    if (filter->states && !(filter->states & (1u << TASK_QUEUED))) return false;
    if (!str_is_null(filter->name) && !str_equal(filter->name, RESUME_TASK)) return false;
    return str_is_null(filter->queue) || str_equal(filter->queue, RESUME_QUEUE);
}

static int key_compare(const void *left, const void *right) { // newest first
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return a > b ? -1 : a < b;
}

// Ready runs have no owner; those of some workflows in C are reserved under their numbers
// (model/workflow_set.h). The next such number, or 0, that is not below *number; false = none.
static Status ready_next(Reads *reads, int64_t *number, bool *ret_is_there) {
    RunRow *rows = NULL;
    size_t count = 0;
    Scan scan = {.table = TABLE_RUNS,
                 .index = RUNS_BY_OWNER,
                 .has_min = true,
                 .min = *number,
                 .has_max = true,
                 .max = 0,
                 .limit = 1};
    arena_reset(&reads->scratch);
    TRY(rows_scan(reads->rows, &scan, &reads->scratch, &rows, &count));
    *ret_is_there = count > 0;
    if (count > 0) *number = rows[0].owner;
    return OK;
}

static Status ready_collect(Reads *reads, int64_t *keys, size_t *ret_count) {
    *ret_count = 0;
    for (int64_t number = INT64_MIN;; number++) {
        bool is_there;
        TRY(ready_next(reads, &number, &is_there));
        if (!is_there) return OK;
        RunRow match = {.owner = number};
        Scan scan = {
            .table = TABLE_RUNS, .index = RUNS_BY_OWNER, .match = &match, .match_count = 1};
        TRY(keys_append(reads, &scan, RESUME_KEYS_MAX, keys, ret_count));
    }
}

// Keys of ready runs within the page: below its cursor, above `end`, where it ends.
static Status ready_keys(Reads *reads, const TaskFilter *filter, int64_t end, int64_t **ret_keys,
                         size_t *ret_count) {
    int64_t *keys = arena_alloc(reads->arena, RESUME_KEYS_MAX * sizeof(int64_t));
    int64_t run = filter->run.key, after = filter->page.after;
    size_t count, kept = 0;
    if (!str_is_null(filter->run.id)) {
        RunRow row;
        TRY(read_run(reads, filter->run, &row));
        run = row.key;
    }
    TRY(ready_collect(reads, keys, &count));
    for (size_t i = 0; i < count; i++) {
        bool is_inside =
            (after == 0 || keys[i] < after) && keys[i] > end && (run == 0 || keys[i] == run);
        if (is_inside) keys[kept++] = keys[i];
    }
    if (kept > 0) qsort(keys, kept, sizeof(int64_t), key_compare);
    *ret_keys = keys;
    *ret_count = kept;
    return OK;
}

Status resume_merge(Reads *reads, const TaskFilter *filter, TaskPage *page) {
    int64_t *keys;
    size_t key_count, limit = (size_t)read_limit(filter->page.limit), at = 0, count = 0;
    if (!is_asked_for(filter)) return OK;
    TRY(ready_keys(reads, filter, page->next, &keys, &key_count));
    if (key_count == 0) return OK;
    TaskRow *merged = ARENA_ARRAY(reads->arena, TaskRow, limit);
    size_t key_at = 0;
    while (count < limit && (at < page->count || key_at < key_count)) {
        bool is_stored =
            key_at == key_count || (at < page->count && page->rows[at].key > keys[key_at]);
        if (is_stored) {
            merged[count++] = page->rows[at++];
            continue;
        }
        RunRow wanted = {.key = keys[key_at++]}, run;
        arena_reset(&reads->scratch);
        TRY(rows_get(reads->rows, TABLE_RUNS, &wanted, &reads->scratch, &run));
        resume_describe(reads, &run, &merged[count++]);
    }
    if (at < page->count || key_at < key_count) page->next = merged[count - 1].key;
    page->rows = merged;
    page->count = count;
    return OK;
}

static Status ready_oldest(Reads *reads, int64_t number, QueueStat *stat) {
    for (int64_t rank = 1;;) { // the oldest run of each priority
        RunRow wanted = {.owner = number}, *rows = NULL;
        size_t count = 0;
        Scan scan = scan_of(TABLE_RUNS, RUNS_BY_OWNER, &wanted, 1);
        scan.has_min = true;
        scan.min = rank;
        arena_reset(&reads->scratch);
        TRY(rows_scan(reads->rows, &scan, &reads->scratch, &rows, &count));
        if (count == 0) return OK;
        stat->oldest_at_ms = earliest_of(stat->oldest_at_ms, rows[0].updated_at_ms);
        rank = rows[0].claim_rank + 1;
    }
}

Status resume_count(Reads *reads, QueueStat *stat) {
    StoreStats stats;
    TRY(read_stats(reads, &stats));
    int64_t ready = stats.counters[COUNTER_RUNS_READY];
    stat->row.queued_count += ready;
    stat->row.running_count += stats.counters[COUNTER_RUNS_FIRST + RUN_RUNNING] - ready;
    for (int64_t number = INT64_MIN; ready > 0; number++) {
        bool is_there;
        TRY(ready_next(reads, &number, &is_there));
        if (!is_there) return OK;
        TRY(ready_oldest(reads, number, stat));
    }
    return OK;
}

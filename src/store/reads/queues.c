// Reads of queues: limits, counts, and how long their oldest task has been waiting.
//
//   [reads-queues-3] Queues have no number of their own: they are listed by name.
//   [reads-queues-4] The oldest task is found priority by priority, one row each, whatever the
//        queue's depth.
//
// Not here: tasks themselves (reads/tasks.c).
#include "store/reads/internal.h"

enum { QUEUES_MAX = 100000 }; // rows of the table that a listing looks at

// Blocked tasks are older than none of those that can be claimed before them, and delayed ones
// are not waiting yet; so the claim index is enough.
static Status oldest_find(Reads *reads, QueueStat *stat) { // [reads-queues-4]
    for (int64_t rank = 1;;) {
        TaskRow wanted = {.queue = stat->row.name}, *rows = NULL;
        size_t count = 0;
        Scan scan = scan_of(TABLE_TASKS, TASKS_BY_QUEUE, &wanted, 1);
        scan.has_min = true;
        scan.min = rank;
        arena_reset(&reads->scratch);
        TRY(rows_scan(reads->rows, &scan, &reads->scratch, &rows, &count));
        if (count == 0) return OK;
        stat->oldest_at_ms = earliest_of(stat->oldest_at_ms, rows[0].created_at_ms);
        rank = rows[0].claim_rank + 1;
    }
}

// Those of one priority stand in the order in which they came, so what nobody takes comes first.
Status read_claimable(Reads *reads, const ClaimableFilter *filter, TaskPage *ret_page) {
    TaskRow wanted = {.queue = filter->queue};
    Scan scan = scan_of(TABLE_TASKS, TASKS_BY_QUEUE, &wanted, filter->limit);
    scan.has_min = true;
    scan.min = 1;
    return rows_scan(reads->rows, &scan, reads->arena, &ret_page->rows, &ret_page->count);
}

static Status stat_fill(Reads *reads, QueueStat *stat) {
    TRY(oldest_find(reads, stat));
    return str_equal(stat->row.name, RESUME_QUEUE) ? resume_count(reads, stat) : OK;
}

Status read_queue(Reads *reads, Str name, QueueStat *ret_queue) {
    QueueRow wanted = {.name = name};
    Status status = rows_get(reads->rows, TABLE_QUEUES, &wanted, reads->arena, &ret_queue->row);
    if (status != OK && status != ERR_NOT_FOUND) return status;
    if (status == ERR_NOT_FOUND) {
        ret_queue->row =
            (QueueRow){.name = arena_str(reads->arena, name), .max_per_key = QUEUE_PER_KEY_DEFAULT};
    }
    return stat_fill(reads, ret_queue);
}

// The stored queues by name, and the one of resume tasks where it belongs.
static Status queues_scan(Reads *reads, Arena *arena, QueueRow **ret_rows, size_t *ret_count) {
    QueueStat resume = {.row = {.name = RESUME_QUEUE, .max_per_key = QUEUE_PER_KEY_DEFAULT}};
    QueueRow *rows = NULL;
    size_t count = 0, place = 0;
    Scan scan = {.table = TABLE_QUEUES, .index = SCAN_PRIMARY, .limit = QUEUES_MAX};
    TRY(rows_scan(reads->rows, &scan, arena, &rows, &count));
    TRY(resume_count(reads, &resume));
    *ret_rows = rows;
    *ret_count = count;
    while (place < count && str_compare(rows[place].name, RESUME_QUEUE) < 0) place++;
    bool is_stored = place < count && str_equal(rows[place].name, RESUME_QUEUE);
    if (is_stored || resume.row.queued_count == 0) return OK;
    QueueRow *more = ARENA_ARRAY(arena, QueueRow, count + 1);
    if (place > 0) memcpy(more, rows, place * sizeof(QueueRow));
    more[place] = (QueueRow){.name = RESUME_QUEUE, .max_per_key = QUEUE_PER_KEY_DEFAULT};
    if (place < count) memcpy(more + place + 1, rows + place, (count - place) * sizeof(QueueRow));
    *ret_rows = more;
    *ret_count = count + 1;
    return OK;
}

Status read_queues(Reads *reads, const NamePageSpec *spec,
                   QueuePage *ret_page) { // [reads-queues-3]
    size_t limit = (size_t)read_limit(spec->limit), count = 0, first = 0;
    QueueRow *rows = NULL;
    Arena all;
    arena_init(&all);
    Status status = queues_scan(reads, &all, &rows, &count);
    if (!str_is_null(spec->after)) {
        while (first < count && str_compare(rows[first].name, spec->after) <= 0) first++;
    }
    size_t found = count - first < limit ? count - first : limit;
    ret_page->rows = ARENA_ARRAY(reads->arena, QueueStat, found > 0 ? found : 1);
    for (size_t i = 0; i < found && status == OK; i++) {
        QueueStat *stat = &ret_page->rows[i];
        row_copy(&tables[TABLE_QUEUES], reads->arena, &rows[first + i], &stat->row);
        status = stat_fill(reads, stat);
    }
    arena_done(&all);
    ret_page->count = found;
    ret_page->has_more = count - first > limit;
    return status;
}

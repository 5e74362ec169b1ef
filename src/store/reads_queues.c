// Reads of queues: limits, counts, and how long their oldest task has been waiting.
//
//   [X3] Queues are listed by name: `name` is the last one seen and `next` only says whether there
//        are more.
//   [X4] The oldest task is found priority by priority, one row each, whatever the queue's depth.
//
// Not here: tasks themselves (reads_rest.c).
#include "store/reads_internal.h"

enum { QUEUES_MAX = 100000 }; // rows of the table that a listing looks at

// Blocked tasks are older than none of those that can be claimed before them, and delayed ones
// are not waiting yet; so the claim index is enough.
static Status oldest_find(Reads *reads, QueueStat *stat) { // [X4]
    for (int64_t rank = 1;;) {
        TaskRow wanted = {.queue = stat->row.name}, *rows = NULL;
        size_t count = 0;
        Scan scan = {.table = TABLE_TASKS, .index = TASKS_BY_QUEUE, .match = &wanted,
                     .match_count = 1, .has_min = true, .min = rank, .limit = 1};
        arena_reset(&reads->scratch);
        TRY(rows_scan(reads->rows, &scan, &reads->scratch, &rows, &count));
        if (count == 0) return OK;
        stat->oldest_at_ms = earliest_of(stat->oldest_at_ms, rows[0].created_at_ms);
        rank = rows[0].claim_rank + 1;
    }
}

Status read_queue(Reads *reads) {
    Query *query = reads->query;
    QueueRow wanted = {.name = query->name};
    query->queues = ARENA_NEW(reads->arena, QueueStat);
    QueueStat *stat = query->queues;
    Status status = rows_get(reads->rows, TABLE_QUEUES, &wanted, reads->arena, &stat->row);
    if (status != OK && status != ERR_NOT_FOUND) return status;
    query->count = 1;
    if (status == OK) return oldest_find(reads, stat);
    stat->row = (QueueRow){.name = arena_str(reads->arena, query->name),
                           .max_per_key = QUEUE_PER_KEY_DEFAULT};
    return OK;
}

Status read_list_queues(Reads *reads) { // [X3]
    Query *query = reads->query;
    size_t limit = (size_t)read_limit(query->limit);
    QueueRow *rows = NULL;
    size_t count = 0;
    Arena all;
    arena_init(&all);
    Scan scan = {.table = TABLE_QUEUES, .index = SCAN_PRIMARY, .limit = QUEUES_MAX};
    Status status = rows_scan(reads->rows, &scan, &all, &rows, &count);
    size_t first = 0;
    if (!str_is_null(query->name)) {
        while (first < count && str_compare(rows[first].name, query->name) <= 0) first++;
    }
    size_t found = count - first < limit ? count - first : limit;
    query->queues = ARENA_ARRAY(reads->arena, QueueStat, found > 0 ? found : 1);
    for (size_t i = 0; i < found && status == OK; i++) {
        QueueStat *stat = &query->queues[i];
        row_copy(&tables[TABLE_QUEUES], reads->arena, &rows[first + i], &stat->row);
        status = oldest_find(reads, stat);
    }
    arena_done(&all);
    query->count = found;
    query->next = count - first > limit;
    return status;
}

// Verify: queues and concurrency keys ([verify-internal-5]).
//
// A queue is compared with what its tasks have added (verify/tasks.c). The tasks of a key are
// walked from the first place to the last: who is ready must come before who is blocked, and as
// many must be ready or running as the queue's limit allows.
#include "store/verify/internal.h"

Status verify_queues(Verify *verify) { // [verify-internal-5]
    QueueRow *rows = NULL;
    size_t count = 0;
    Scan scan = {.table = TABLE_QUEUES, .index = SCAN_PRIMARY, .limit = VERIFY_NAMES_MAX};
    arena_reset(&verify->page);
    TRY(rows_scan(verify->rows, &scan, &verify->page, &rows, &count));
    for (size_t i = 0; i < count; i++) {
        const QueueRow *row = &rows[i];
        const QueueCount none = {0}, *counted = strmap_get(&verify->queues, row->name);
        if (!counted) counted = &none;
        bool is_same = counted->queued_count == row->queued_count &&
                       counted->blocked_count == row->blocked_count &&
                       counted->running_count == row->running_count;
        if (!is_same) return verify_bad(verify, "a queue counts its tasks wrongly", row->name);
        if (counted == &none && !row->is_explicit) {
            return verify_bad(verify, "a queue that nobody set and that is empty is kept",
                              row->name);
        }
        (void)strmap_remove(&verify->queues, row->name);
    }
    verify->row_count += (int64_t)count;
    Str name;
    void *counted;
    for (size_t at = 0; strmap_next(&verify->queues, &at, &name, &counted);) {
        return verify_bad(verify, "a queue has no row", name);
    }
    return OK;
}

typedef struct KeyWalk { // the tasks of a key, from the first place to the last
    int64_t counts[KEY_BLOCKED + 1];
    int64_t worst_ready; // rank of the last one that is ready
} KeyWalk;

static Status key_walk(Verify *verify, const TaskKeyRow *key, KeyWalk *walk) {
    int64_t rank = INT64_MIN, after = 0;
    for (;;) {
        TaskRow wanted = {.queue = key->queue, .concurrency_key = key->name}, *rows = NULL;
        size_t count = 0;
        Scan scan = scan_of(TABLE_TASKS, TASKS_BY_KEY, &wanted, VERIFY_CHUNK);
        scan.match_count = 2;
        scan.has_min = true;
        scan.min = rank;
        scan.after_key = after;
        arena_reset(&verify->scratch);
        TRY(rows_scan(verify->rows, &scan, &verify->scratch, &rows, &count));
        for (size_t i = 0; i < count; i++) {
            KeyPlace place = key_place(rows[i].key_rank);
            rank = rows[i].key_rank;
            after = rows[i].key;
            walk->counts[place]++;
            if (place == KEY_READY) walk->worst_ready = rows[i].claim_rank;
            bool is_late = place == KEY_BLOCKED && rank < walk->worst_ready;
            if (is_late) return verify_bad(verify, "a task of a key was passed over", rows[i].id);
        }
        if (count < VERIFY_CHUNK) return OK;
    }
}

Status verify_task_key(Verify *verify, const void *row) { // [verify-internal-5]
    const TaskKeyRow *key = row;
    KeyWalk walk = {0};
    QueueRow wanted = {.name = key->queue}, queue;
    Status status = rows_get(verify->rows, TABLE_QUEUES, &wanted, &verify->scratch, &queue);
    if (status == ERR_NOT_FOUND)
        return verify_bad(verify, "a concurrency key has no queue", key->name);
    TRY(status);
    bool is_adjusted = queue.adjust_from == 0 || key->key < queue.adjust_from;
    TRY(key_walk(verify, key, &walk));
    bool is_same = walk.counts[KEY_LEASED] == key->running_count &&
                   walk.counts[KEY_READY] == key->ready_count &&
                   walk.counts[KEY_BLOCKED] == key->blocked_count;
    if (!is_same)
        return verify_bad(verify, "a concurrency key counts its tasks wrongly", key->name);
    int64_t taken = key->running_count + key->ready_count;
    if (taken + key->blocked_count == 0)
        return verify_bad(verify, "an empty key is kept", key->name);
    verify->keyed_count -= taken + key->blocked_count;
    if (!is_adjusted) return OK;
    bool has_place = queue.max_per_key == 0 || taken < queue.max_per_key;
    bool is_over = queue.max_per_key > 0 && taken > queue.max_per_key && key->ready_count > 0;
    if (is_over || (has_place && key->blocked_count > 0)) {
        return verify_bad(verify, "a concurrency key does not follow its queue's limit", key->name);
    }
    return OK;
}

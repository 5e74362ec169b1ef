// Verify: the whole content of a store against the invariants of the kernel.
//
// Each table is walked once, in chunks, so that memory does not depend on the size of the store.
// The first contradiction ends the check: ERR_CORRUPT, with text that names it.
//   [reads-verify-1] Counters equal what they count; the key sequence is past every key.
//   [reads-verify-2] Waiter rows and the EVENT items of suspended runs' wait sets name each other.
//   [reads-verify-3] Everything that belongs to a run, belongs to a run that exists.
//   [reads-verify-4] Columns that drive claims and timers agree with the state ([runs-2], [runs-4]
//        of runs/runs.c).
//   [reads-verify-5] Queues and concurrency keys count the tasks that there are (model/queue.h),
//        and who of a key may be claimed follows from its queue's limit ([keys-1] and [keys-2] of
//        tasks/keys.c).
//   [reads-verify-6] No open task is among those its run takes for ended ([runs-idle-2] of
//        runs/idle.c).
//
// Not here: the backend's own check of its file, which runs first (RowStoreOps.check).
#include "base/assert.h"
#include "base/memory.h"
#include "store/kernel/runs/runs.h"
#include "store/kernel/runs/snapshots.h"

enum { VERIFY_CHUNK = 256, VERIFY_TOPICS_MAX = 1 << 20 };

typedef struct TopicCount {
    int64_t count;
    Str name; // its text follows
} TopicCount;

typedef struct QueueCount {
    int64_t queued_count, blocked_count, running_count;
} QueueCount;

typedef struct Verify {
    RowStore *rows;
    Diag *diag;
    Arena page;          // the rows of the present chunk
    Arena scratch;       // what is read beside one of them
    Arena kept;          // topics and queues
    StrMap topics;       // TopicCount by name
    StrMap queues;       // QueueCount by name
    int64_t keyed_count; // tasks that have a place among those of a key
    int64_t row_count;
    int64_t max_key;
    int64_t counts[COUNTER_COUNT];
} Verify;

typedef Status (*RowCheck)(Verify *verify, const void *row);

static Status bad(Verify *verify, const char *what, Str name) {
    return diag_set(verify->diag, ERR_CORRUPT, "STORE_CORRUPT", "%s: \"%.*s\"", what,
                    STR_ARG(name));
}

static Status bad_key(Verify *verify, const char *what, int64_t key) {
    return diag_set(verify->diag, ERR_CORRUPT, "STORE_CORRUPT", "%s: %lld", what, (long long)key);
}

// Walks a table whose primary key is one number.
static Status table_walk(Verify *verify, TableNumber number, RowCheck check) {
    size_t row_size = tables[number].row_size;
    for (int64_t after = 0;;) {
        char *rows = NULL;
        size_t count = 0;
        Scan scan = {.table = number,
                     .index = SCAN_PRIMARY,
                     .has_min = true,
                     .min = after + 1,
                     .limit = VERIFY_CHUNK};
        arena_reset(&verify->page);
        TRY(rows_scan(verify->rows, &scan, &verify->page, &rows, &count));
        for (size_t i = 0; i < count; i++) {
            const char *row = rows + i * row_size;
            after = *(const int64_t *)(const void *)row;
            arena_reset(&verify->scratch);
            TRY(check(verify, row));
        }
        verify->row_count += (int64_t)count;
        if (after > verify->max_key) verify->max_key = after;
        if (count < VERIFY_CHUNK) return OK;
    }
}

static Status run_find(Verify *verify, int64_t key, RunRow *ret_run) {
    RunRow wanted = {.key = key};
    return rows_get(verify->rows, TABLE_RUNS, &wanted, &verify->scratch, ret_run);
}

// ---- runs ----

static Status waiter_check(Verify *verify, const RunRow *run,
                           const WaitItem *item) { // [reads-verify-2]
    WaiterRow wanted = {.key = item->waiter}, waiter;
    Status status = rows_get(verify->rows, TABLE_WAITERS, &wanted, &verify->scratch, &waiter);
    if (status == ERR_NOT_FOUND) return bad(verify, "a parked run has lost a waiter", run->id);
    TRY(status);
    bool is_same = waiter.run == run->key && waiter.generation == run->generation &&
                   waiter.slot == item->slot && str_equal(waiter.topic, item->name);
    return is_same ? OK : bad(verify, "a waiter disagrees with the wait set of its run", run->id);
}

static Status waits_verify(Verify *verify, const RunRow *run) {
    bool is_parked = run->state == RUN_SUSPENDED ||
                     (run->state == RUN_PAUSED && run->paused_state == RUN_SUSPENDED);
    if (is_parked == str_is_null(run->waits)) {
        return bad(verify, "a run's state and its wait set disagree", run->id);
    }
    if (!is_parked) return OK;
    WaitSet set;
    if (wait_set_decode(&verify->scratch, run->waits, &set) != OK || set.count == 0) {
        return bad(verify, "a wait set cannot be read", run->id);
    }
    if (run->state != RUN_SUSPENDED) return OK;
    if (run->due_at_ms !=
        earliest_of(wait_set_deadline(&set), run->deadline_at_ms)) { // [reads-verify-4]
        return bad(verify, "a parked run is due at another time than its waits", run->id);
    }
    for (size_t i = 0; i < set.count; i++) {
        if (set.items[i].kind == WAIT_EVENT) TRY(waiter_check(verify, run, &set.items[i]));
    }
    return OK;
}

static bool claim_is_sane(const RunRow *run) {               // [reads-verify-4]
    if (run->affinity != 0 && run->owner != 0) return false; // [affinity-2] of nodes/affinity.c
    bool is_reserved = run->owner < 0;
    if (is_reserved && (run->kind != RUN_NATIVE || run->owner != workflow_number(run->workflow)))
        return false; // [runs-2] of runs/runs.c
    if (run->state == RUN_RUNNING) return run->claim_rank == claim_rank(run->priority);
    return run->claim_rank == 0 && run->owner == 0 &&
           (run->affinity == 0 || run->state == RUN_SUSPENDED);
}

static bool due_is_sane(const RunRow *run) { // [reads-verify-4]; parked runs: waits_verify
    switch ((RunState)run->state) {
    case RUN_PENDING: return run->due_at_ms > 0;
    case RUN_RUNNING: return run->due_at_ms == run->deadline_at_ms;
    case RUN_PAUSED:
        if (run_is_cancel_wanted(run) && run->due_at_ms == run->deadline_at_ms) return true;
        return run->due_at_ms == 0 || run->paused_state == RUN_PENDING;
    case RUN_SUSPENDED: return true;
    default: return run->due_at_ms == (run->keep_ms < 0 ? 0 : run->finished_at_ms + run->keep_ms);
    }
}

static Status run_log_check(Verify *verify, const RunRow *run) {
    // The log of an expired run may be half removed already.
    if (run_state_is_terminal(run->state) && run->due_at_ms != 0) return OK;
    LogRow wanted = {.run = run->key, .seq = run->input_seq}, entry;
    Status status = rows_get(verify->rows, TABLE_LOG, &wanted, &verify->scratch, &entry);
    if (status == ERR_NOT_FOUND) return bad(verify, "a run has no input in its log", run->id);
    TRY(status);
    if (!run_state_is_terminal(run->state)) return OK;
    wanted.seq = run->result_seq;
    status = rows_get(verify->rows, TABLE_LOG, &wanted, &verify->scratch, &entry);
    return status == ERR_NOT_FOUND ? bad(verify, "an ended run has no result", run->id) : status;
}

static Status run_check(Verify *verify, const void *row) {
    const RunRow *run = row;
    if (run->state < RUN_PENDING || run->state >= RUN_STATE_COUNT) {
        return bad(verify, "a run is in no known state", run->id);
    }
    verify->counts[COUNTER_RUNS_FIRST + run->state]++;
    verify->counts[COUNTER_RUNS_READY] += run_is_ready(run);
    if (!claim_is_sane(run)) return bad(verify, "a run's claim disagrees with its state", run->id);
    if (!due_is_sane(run)) return bad(verify, "a run's due time disagrees with its state", run->id);
    if (run->parent != 0) { // [reads-verify-3]
        RunRow parent;
        Status status = run_find(verify, run->parent, &parent);
        if (status == ERR_NOT_FOUND) return bad(verify, "a run's parent is missing", run->id);
        TRY(status);
    }
    TRY(run_log_check(verify, run));
    return waits_verify(verify, run);
}

static Status waiter_row_check(Verify *verify, const void *row) { // [reads-verify-2]
    const WaiterRow *waiter = row;
    RunRow run;
    Status status = run_find(verify, waiter->run, &run);
    if (status == ERR_NOT_FOUND) return bad_key(verify, "a waiter has no run", waiter->key);
    TRY(status);
    bool is_parked = run.state == RUN_SUSPENDED && run.generation == waiter->generation;
    if (!is_parked) return bad(verify, "a waiter's run is not parked there", run.id);
    WaitSet set;
    if (wait_set_decode(&verify->scratch, run.waits, &set) != OK) {
        return bad(verify, "a wait set cannot be read", run.id);
    }
    for (size_t i = 0; i < set.count; i++) {
        if (set.items[i].waiter == waiter->key) return OK;
    }
    return bad(verify, "a waiter is in no wait set", run.id);
}

// ---- rows that belong to runs, found by their run ----

// The next run past `after` that has rows in an index whose first column is a run.
static Status next_run(Verify *verify, TableNumber table, int index, size_t offset, int64_t *run) {
    char *rows = NULL;
    size_t count = 0;
    Scan scan = {.table = table, .index = index, .has_min = true, .min = *run + 1, .limit = 1};
    arena_reset(&verify->page);
    TRY(rows_scan(verify->rows, &scan, &verify->page, &rows, &count));
    *run = count == 0 ? 0 : *(const int64_t *)(const void *)(rows + offset);
    return OK;
}

static Status log_check(Verify *verify, const RunRow *run) {
    for (int64_t after = 0;;) {
        LogRow wanted = {.run = run->key}, *rows = NULL;
        size_t count = 0;
        Scan scan = {.table = TABLE_LOG,
                     .index = SCAN_PRIMARY,
                     .match = &wanted,
                     .match_count = 1,
                     .has_min = true,
                     .min = after + 1,
                     .limit = VERIFY_CHUNK};
        arena_reset(&verify->page);
        TRY(rows_scan(verify->rows, &scan, &verify->page, &rows, &count));
        for (size_t i = 0; i < count; i++) {
            bool is_known = rows[i].kind > 0 && rows[i].kind < LOG_KIND_COUNT &&
                            rows[i].outcome >= 0 && rows[i].outcome < OUTCOME_COUNT;
            if (!is_known) return bad(verify, "a log entry is of no known kind", run->id);
            // A long history is removed from its beginning; what is left has no gaps.
            bool is_next = after == 0 || rows[i].seq == after + 1;
            if (!is_next) return bad(verify, "a log has a gap", run->id);
            after = rows[i].seq;
        }
        verify->row_count += (int64_t)count;
        if (count < VERIFY_CHUNK) return OK;
    }
}

// Kept snapshots are numbered without gaps and describe turns one after the other.
static Status snapshots_check(Verify *verify, const RunRow *run) { // [snapshot-1], [snapshot-2]
    // Those of an expired run may be half removed already.
    bool is_going = run_state_is_terminal(run->state) && run->due_at_ms != 0;
    SnapshotRow last = {0};
    for (;;) {
        SnapshotRow wanted = {.run = run->key}, *rows = NULL;
        size_t count = 0;
        Scan scan = {.table = TABLE_SNAPSHOTS,
                     .index = SCAN_PRIMARY,
                     .match = &wanted,
                     .match_count = 1,
                     .has_min = true,
                     .min = last.number + 1,
                     .limit = 1};
        arena_reset(&verify->page);
        TRY(rows_scan(verify->rows, &scan, &verify->page, &rows, &count));
        if (count == 0) return OK;
        bool is_next = last.number == 0 || is_going || rows[0].number == last.number + 1;
        bool is_later = rows[0].start_seq >= last.end_seq && rows[0].end_seq > rows[0].start_seq &&
                        rows[0].log_seq <= rows[0].start_seq;
        bool has_snapshot = !str_is_null(rows[0].snapshot);
        if (!is_next || !is_later || !has_snapshot || run->kind != RUN_FLOW) {
            return bad(verify, "the kept snapshots of a run contradict each other", run->id);
        }
        last = rows[0];
        verify->row_count++;
    }
}

static Status states_check(Verify *verify, const RunRow *run) { // [states-3]
    StateRow wanted = {.run = run->key}, *rows = NULL;
    size_t count = 0;
    Scan scan = {.table = TABLE_STATES,
                 .index = SCAN_PRIMARY,
                 .match = &wanted,
                 .match_count = 1,
                 .limit = VERIFY_TOPICS_MAX};
    arena_reset(&verify->page);
    TRY(rows_scan(verify->rows, &scan, &verify->page, &rows, &count));
    for (size_t i = 0; i < count; i++) {
        bool is_sane = !str_is_null(rows[i].value) && rows[i].digest == state_digest(rows[i].value);
        if (!is_sane) return bad(verify, "a value of a run disagrees with its digest", run->id);
    }
    verify->row_count += (int64_t)count;
    return OK;
}

static Status belongings_check(Verify *verify, TableNumber table, int index, size_t offset) {
    for (int64_t run = 0;;) {
        TRY(next_run(verify, table, index, offset, &run));
        if (run == 0) return OK;
        RunRow owner;
        arena_reset(&verify->scratch);
        Status status = run_find(verify, run, &owner);
        if (status == ERR_NOT_FOUND) { // [reads-verify-3]
            return diag_set(verify->diag, ERR_CORRUPT, "STORE_CORRUPT",
                            "table %s has rows of a run that does not exist: %lld",
                            tables[table].name, (long long)run);
        }
        TRY(status);
        if (table == TABLE_LOG) TRY(log_check(verify, &owner));
        if (table == TABLE_STATES) TRY(states_check(verify, &owner));
        if (table == TABLE_SNAPSHOTS) TRY(snapshots_check(verify, &owner));
        if (table == TABLE_CURSORS && run_state_is_terminal(owner.state)) {
            return bad(verify, "an ended run still has cursors", owner.id);
        }
    }
}

// ---- events, topics, tasks, letters ----

static TopicCount *topic_count(Verify *verify, Str name) {
    TopicCount *count = strmap_get(&verify->topics, name);
    if (count) return count;
    count = ARENA_NEW(&verify->kept, TopicCount);
    count->name = arena_str(&verify->kept, name);
    strmap_put(&verify->topics, count->name, count);
    return count;
}

static Status event_check(Verify *verify, const void *row) {
    const EventRow *event = row;
    if (!event_is_signal(event)) {
        if (str_is_null(event->topic)) {
            return bad_key(verify, "an event is addressed to nobody", event->key);
        }
        if (event_is_taken(event) && event->run != event_taken_mark(event->topic)) {
            return bad_key(verify, "an event is marked as taken on another topic", event->key);
        }
        verify->counts[COUNTER_EVENTS]++;
        topic_count(verify, event->topic)->count++;
        return OK;
    }
    RunRow run;
    verify->counts[COUNTER_SIGNALS]++;
    Status status = run_find(verify, event->run, &run);
    if (status == ERR_NOT_FOUND) return bad_key(verify, "a signal has no run", event->key);
    TRY(status);
    return run_state_is_terminal(run.state) ? bad(verify, "an ended run has a signal", run.id) : OK;
}

static Status topics_check(Verify *verify) {
    TopicRow *rows = NULL;
    size_t count = 0;
    Scan scan = {.table = TABLE_TOPICS, .index = SCAN_PRIMARY, .limit = VERIFY_TOPICS_MAX};
    arena_reset(&verify->page);
    TRY(rows_scan(verify->rows, &scan, &verify->page, &rows, &count));
    for (size_t i = 0; i < count; i++) {
        TopicCount *counted = topic_count(verify, rows[i].name);
        if (counted->count != rows[i].pending_count) { // [reads-verify-1]
            return bad(verify, "a topic counts its events wrongly", rows[i].name);
        }
        counted->count = 0;
    }
    verify->row_count += (int64_t)count;
    Str name;
    void *counted;
    for (size_t at = 0; strmap_next(&verify->topics, &at, &name, &counted);) {
        if (((TopicCount *)counted)->count != 0) return bad(verify, "a topic has no row", name);
    }
    return OK;
}

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

static bool place_is_sane(const TaskRow *task) { // [reads-verify-4]
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

static Status task_check(Verify *verify, const void *row) {
    const TaskRow *task = row;
    if (task->state < TASK_QUEUED || task->state >= TASK_STATE_COUNT) {
        return bad(verify, "a task is in no known state", task->id);
    }
    verify->counts[COUNTER_TASKS_FIRST + task->state]++;
    count_task(verify, task);
    bool can_wait = task->claim_rank > 0 || task->due_at_ms > 0 || task->key_rank > 0;
    bool is_sane = task->state == TASK_QUEUED
                       ? can_wait
                       : task->claim_rank == 0 && (task->state != TASK_LEASED ||
                                                   task->due_at_ms > 0); // [reads-verify-4]
    if (!is_sane) return bad(verify, "a task can neither be claimed nor come due", task->id);
    if (!place_is_sane(task)) {
        return bad(verify, "a task's place among those of its key disagrees with its state",
                   task->id);
    }
    if (task->run == 0) return OK;
    RunRow run;
    Status status = run_find(verify, task->run, &run);
    if (status == ERR_NOT_FOUND) return bad(verify, "a task's run is missing", task->id);
    TRY(status);
    bool is_passed =
        task->state <= TASK_LEASED && task->key <= run.tasks_ended_key; // [reads-verify-6]
    return is_passed ? bad(verify, "a run takes an open task for ended", task->id) : OK;
}

// ---- queues and their keys ----

static Status queues_check(Verify *verify) { // [reads-verify-5]
    QueueRow *rows = NULL;
    size_t count = 0;
    Scan scan = {.table = TABLE_QUEUES, .index = SCAN_PRIMARY, .limit = VERIFY_TOPICS_MAX};
    arena_reset(&verify->page);
    TRY(rows_scan(verify->rows, &scan, &verify->page, &rows, &count));
    for (size_t i = 0; i < count; i++) {
        const QueueRow *row = &rows[i];
        const QueueCount none = {0}, *counted = strmap_get(&verify->queues, row->name);
        if (!counted) counted = &none;
        bool is_same = counted->queued_count == row->queued_count &&
                       counted->blocked_count == row->blocked_count &&
                       counted->running_count == row->running_count;
        if (!is_same) return bad(verify, "a queue counts its tasks wrongly", row->name);
        if (counted == &none && !row->is_explicit) {
            return bad(verify, "a queue that nobody set and that is empty is kept", row->name);
        }
        (void)strmap_remove(&verify->queues, row->name);
    }
    verify->row_count += (int64_t)count;
    Str name;
    void *counted;
    for (size_t at = 0; strmap_next(&verify->queues, &at, &name, &counted);) {
        return bad(verify, "a queue has no row", name);
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
        Scan scan = {.table = TABLE_TASKS,
                     .index = TASKS_BY_KEY,
                     .match = &wanted,
                     .match_count = 2,
                     .has_min = true,
                     .min = rank,
                     .after_key = after,
                     .limit = VERIFY_CHUNK};
        arena_reset(&verify->scratch);
        TRY(rows_scan(verify->rows, &scan, &verify->scratch, &rows, &count));
        for (size_t i = 0; i < count; i++) {
            KeyPlace place = key_place(rows[i].key_rank);
            rank = rows[i].key_rank;
            after = rows[i].key;
            walk->counts[place]++;
            if (place == KEY_READY) walk->worst_ready = rows[i].claim_rank;
            bool is_late = place == KEY_BLOCKED && rank < walk->worst_ready;
            if (is_late) return bad(verify, "a task of a key was passed over", rows[i].id);
        }
        if (count < VERIFY_CHUNK) return OK;
    }
}

static Status task_key_check(Verify *verify, const void *row) { // [reads-verify-5]
    const TaskKeyRow *key = row;
    KeyWalk walk = {0};
    QueueRow wanted = {.name = key->queue}, queue;
    Status status = rows_get(verify->rows, TABLE_QUEUES, &wanted, &verify->scratch, &queue);
    if (status == ERR_NOT_FOUND) return bad(verify, "a concurrency key has no queue", key->name);
    TRY(status);
    bool is_adjusted = queue.adjust_from == 0 || key->key < queue.adjust_from;
    TRY(key_walk(verify, key, &walk));
    bool is_same = walk.counts[KEY_LEASED] == key->running_count &&
                   walk.counts[KEY_READY] == key->ready_count &&
                   walk.counts[KEY_BLOCKED] == key->blocked_count;
    if (!is_same) return bad(verify, "a concurrency key counts its tasks wrongly", key->name);
    int64_t taken = key->running_count + key->ready_count;
    if (taken + key->blocked_count == 0) return bad(verify, "an empty key is kept", key->name);
    verify->keyed_count -= taken + key->blocked_count;
    if (!is_adjusted) return OK;
    bool has_place = queue.max_per_key == 0 || taken < queue.max_per_key;
    bool is_over = queue.max_per_key > 0 && taken > queue.max_per_key && key->ready_count > 0;
    if (is_over || (has_place && key->blocked_count > 0)) {
        return bad(verify, "a concurrency key does not follow its queue's limit", key->name);
    }
    return OK;
}

static Status letter_check(Verify *verify, const void *row) {
    (void)row;
    verify->counts[COUNTER_DEAD_LETTERS]++;
    return OK;
}

static bool schedule_is_sane(const ScheduleRow *row) {
    bool is_known = row->kind >= SCHEDULE_CRON && row->kind < SCHEDULE_KIND_COUNT &&
                    row->overlap >= OVERLAP_SKIP && row->overlap < OVERLAP_COUNT;
    bool has_next = row->next_at_ms != 0;
    if (!is_known || has_next != (row->due_at_ms != 0)) return false;
    if (row->is_paused && (has_next || row->awaited_run != 0)) return false;
    return (row->awaited_run != 0) == (row->queued_at_ms != 0);
}

static Status schedule_check(Verify *verify, const void *row) {
    const ScheduleRow *schedule = row;
    verify->counts[COUNTER_SCHEDULES]++;
    if (!schedule_is_sane(schedule)) {
        return bad(verify, "a schedule contradicts itself", schedule->name);
    }
    if (schedule->awaited_run == 0) return OK;
    RunRow run; // its end starts the queued tick, so it must be able to end
    Status status = run_find(verify, schedule->awaited_run, &run);
    if (status != OK && status != ERR_NOT_FOUND) return status;
    if (status == OK && !run_state_is_terminal(run.state)) return OK;
    return bad(verify, "a schedule waits for a run that has ended", schedule->name);
}

static Status nothing_to_check(Verify *verify, const void *row) {
    (void)verify;
    (void)row;
    return OK;
}

static Status counters_check(Verify *verify) { // [reads-verify-1]
    int64_t stored[COUNTER_COUNT] = {0};
    CounterRow *rows = NULL;
    size_t count = 0;
    Scan scan = {.table = TABLE_COUNTERS, .index = SCAN_PRIMARY, .limit = COUNTER_COUNT};
    arena_reset(&verify->page);
    TRY(rows_scan(verify->rows, &scan, &verify->page, &rows, &count));
    for (size_t i = 0; i < count; i++) {
        if (rows[i].number < 0 || rows[i].number >= COUNTER_COUNT) {
            return bad_key(verify, "a counter is unknown", rows[i].number);
        }
        stored[rows[i].number] = rows[i].value;
    }
    verify->row_count += (int64_t)count;
    for (int i = COUNTER_RUNS_FIRST; i <= COUNTER_RUNS_READY; i++) {
        bool is_total = i >= COUNTER_STARTED_TOTAL && i <= COUNTER_CANCELLED_TOTAL;
        if (is_total || stored[i] == verify->counts[i]) continue;
        return diag_set(verify->diag, ERR_CORRUPT, "STORE_CORRUPT",
                        "counter %d says %lld, but there are %lld", i, (long long)stored[i],
                        (long long)verify->counts[i]);
    }
    if (stored[COUNTER_NEXT_KEY] >= verify->max_key) return OK;
    return bad_key(verify, "the key sequence is behind", stored[COUNTER_NEXT_KEY]);
}

static Status verify_all(Verify *verify) {
    TRY(rows_check(verify->rows, verify->diag));
    TRY(table_walk(verify, TABLE_RUNS, run_check));
    TRY(table_walk(verify, TABLE_WAITERS, waiter_row_check));
    TRY(table_walk(verify, TABLE_EVENTS, event_check));
    TRY(table_walk(verify, TABLE_TASKS, task_check));
    TRY(table_walk(verify, TABLE_DEAD_LETTERS, letter_check));
    TRY(table_walk(verify, TABLE_DEFINITIONS, nothing_to_check));
    TRY(table_walk(verify, TABLE_NODES, nothing_to_check));
    TRY(table_walk(verify, TABLE_SCHEDULES, schedule_check));
    TRY(table_walk(verify, TABLE_TOKENS, nothing_to_check));
    TRY(belongings_check(verify, TABLE_LOG, SCAN_PRIMARY, offsetof(LogRow, run)));
    TRY(belongings_check(verify, TABLE_CURSORS, SCAN_PRIMARY, offsetof(CursorRow, run)));
    TRY(belongings_check(verify, TABLE_TAGS, TAGS_BY_RUN, offsetof(TagRow, run)));
    TRY(belongings_check(verify, TABLE_SNAPSHOTS, SCAN_PRIMARY, offsetof(SnapshotRow, run)));
    TRY(belongings_check(verify, TABLE_STATES, SCAN_PRIMARY, offsetof(StateRow, run)));
    TRY(topics_check(verify));
    TRY(table_walk(verify, TABLE_TASK_KEYS, task_key_check));
    if (verify->keyed_count != 0) {
        return bad_key(verify, "tasks of concurrency keys without a row", verify->keyed_count);
    }
    TRY(queues_check(verify));
    return counters_check(verify);
}

static Status verify_once(RowStore *rows, int64_t *ret_row_count, bool *is_retry, Diag *diag) {
    bool was_retry = *is_retry;
    *is_retry = false;
    TRY(rows->ops->read_begin(rows, diag));
    rows->diag = diag;
    rows->is_retry = was_retry;
    rows->wants_restart = false;
    Verify verify = {.rows = rows, .diag = diag};
    arena_init(&verify.page);
    arena_init(&verify.scratch);
    arena_init(&verify.kept);
    strmap_init(&verify.topics);
    strmap_init(&verify.queues);
    Status status = verify_all(&verify);
    strmap_done(&verify.topics);
    strmap_done(&verify.queues);
    arena_done(&verify.kept);
    arena_done(&verify.scratch);
    arena_done(&verify.page);
    rows->diag = NULL;
    *is_retry = status != OK && rows->wants_restart;
    rows->ops->read_end(rows);
    if (status == OK) *ret_row_count = verify.row_count;
    return status;
}

Status kernel_verify(Store *store, int64_t *ret_row_count, Diag *diag) {
    const Kernel *kernel = (const Kernel *)store;
    bool is_retry = false;
    for (int attempt = 1;; attempt++) { // [rowstore-10] of rowstore.h
        Status status = verify_once(kernel->reader, ret_row_count, &is_retry, diag);
        if (!is_retry || attempt == READ_ATTEMPTS_MAX) return status;
    }
}

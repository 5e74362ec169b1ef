// Verify: walks the tables of a store, in one consistent view, and compares the counters at last.
//
// The invariants and what each file checks are in verify/internal.h. Tables whose rows contradict
// nothing by themselves are walked as well: their keys count ([verify-internal-1]).
//
// Not here: the backend's own check of its file, which runs first (RowStoreOps.check).
#include "store/verify/internal.h"

typedef Status (*RowCheck)(Verify *verify, const void *row);

Status verify_bad(Verify *verify, const char *what, Str name) {
    return diag_set(verify->diag, ERR_CORRUPT, "STORE_CORRUPT", "%s: \"%.*s\"", what,
                    STR_ARG(name));
}

Status verify_bad_key(Verify *verify, const char *what, int64_t key) {
    return diag_set(verify->diag, ERR_CORRUPT, "STORE_CORRUPT", "%s: %lld", what, (long long)key);
}

Status verify_find_run(Verify *verify, int64_t key, RunRow *ret_run) {
    RunRow wanted = {.key = key};
    return rows_get(verify->rows, TABLE_RUNS, &wanted, &verify->scratch, ret_run);
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
        return verify_bad(verify, "a schedule contradicts itself", schedule->name);
    }
    if (schedule->awaited_run == 0) return OK;
    RunRow run; // its end starts the queued tick, so it must be able to end
    Status status = verify_find_run(verify, schedule->awaited_run, &run);
    if (status != OK && status != ERR_NOT_FOUND) return status;
    if (status == OK && !run_state_is_terminal(run.state)) return OK;
    return verify_bad(verify, "a schedule waits for a run that has ended", schedule->name);
}

static Status nothing_to_check(Verify *verify, const void *row) {
    (void)verify;
    (void)row;
    return OK;
}

static Status counters_check(Verify *verify) { // [verify-internal-1]
    int64_t stored[COUNTER_COUNT] = {0};
    CounterRow *rows = NULL;
    size_t count = 0;
    Scan scan = {.table = TABLE_COUNTERS, .index = SCAN_PRIMARY, .limit = COUNTER_COUNT};
    arena_reset(&verify->page);
    TRY(rows_scan(verify->rows, &scan, &verify->page, &rows, &count));
    for (size_t i = 0; i < count; i++) {
        if (rows[i].number < 0 || rows[i].number >= COUNTER_COUNT) {
            return verify_bad_key(verify, "a counter is unknown", rows[i].number);
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
    return verify_bad_key(verify, "the key sequence is behind", stored[COUNTER_NEXT_KEY]);
}

// Their key is not one number, and their steps must be those that anybody reads.
static Status rates_walk(Verify *verify) {
    RateRow last = {0}, *rows = NULL;
    for (size_t count = VERIFY_CHUNK; count == VERIFY_CHUNK;) {
        Scan scan = {
            .table = TABLE_RATES, .index = SCAN_PRIMARY, .after_row = &last, .limit = VERIFY_CHUNK};
        arena_reset(&verify->page);
        TRY(rows_scan(verify->rows, &scan, &verify->page, &rows, &count));
        for (size_t i = 0; i < count; i++) {
            last = (RateRow){rows[i].step_ms, rows[i].from_ms, rows[i].source, STR_NULL};
            if (last.step_ms != RATE_FINE_MS && last.step_ms != RATE_COARSE_MS)
                return verify_bad_key(verify, "rates of a resolution that is unknown",
                                      last.step_ms);
        }
        verify->row_count += (int64_t)count;
    }
    return OK;
}

static Status verify_all(Verify *verify) {
    TRY(rows_check(verify->rows, verify->diag));
    TRY(table_walk(verify, TABLE_RUNS, verify_run));
    TRY(table_walk(verify, TABLE_WAITERS, verify_waiter));
    TRY(table_walk(verify, TABLE_EVENTS, verify_event));
    TRY(table_walk(verify, TABLE_TASKS, verify_task));
    TRY(table_walk(verify, TABLE_DEAD_LETTERS, letter_check));
    TRY(table_walk(verify, TABLE_DEFINITIONS, nothing_to_check));
    TRY(table_walk(verify, TABLE_NODES, nothing_to_check));
    TRY(table_walk(verify, TABLE_SCHEDULES, schedule_check));
    TRY(table_walk(verify, TABLE_TOKENS, nothing_to_check));
    TRY(rates_walk(verify));
    TRY(verify_belongings(verify, TABLE_LOG, SCAN_PRIMARY, offsetof(LogRow, run)));
    TRY(verify_belongings(verify, TABLE_CURSORS, SCAN_PRIMARY, offsetof(CursorRow, run)));
    TRY(verify_belongings(verify, TABLE_TAGS, TAGS_BY_RUN, offsetof(TagRow, run)));
    TRY(verify_belongings(verify, TABLE_SNAPSHOTS, SCAN_PRIMARY, offsetof(SnapshotRow, run)));
    TRY(verify_belongings(verify, TABLE_STATES, SCAN_PRIMARY, offsetof(StateRow, run)));
    TRY(verify_topics(verify));
    TRY(table_walk(verify, TABLE_TASK_KEYS, verify_task_key));
    if (verify->keyed_count != 0) {
        return verify_bad_key(verify, "tasks of concurrency keys without a row",
                              verify->keyed_count);
    }
    TRY(verify_queues(verify));
    TRY(verify_places(verify));
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
    map_init(&verify.places);
    Status status = verify_all(&verify);
    strmap_done(&verify.topics);
    strmap_done(&verify.queues);
    map_done(&verify.places);
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

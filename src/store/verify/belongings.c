// Verify: rows that belong to runs.
//
// They are found by their run, which must exist ([verify-internal-3]). Logs, values and snapshots
// of a run are checked on the way: a log has no gap, a value has its digest, snapshots follow one
// another.
#include "store/kernel/runs/snapshots.h"
#include "store/verify/internal.h"

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
        Scan scan = scan_of(TABLE_LOG, SCAN_PRIMARY, &wanted, VERIFY_CHUNK);
        scan.has_min = true;
        scan.min = after + 1;
        arena_reset(&verify->page);
        TRY(rows_scan(verify->rows, &scan, &verify->page, &rows, &count));
        for (size_t i = 0; i < count; i++) {
            bool is_known = rows[i].kind > 0 && rows[i].kind < LOG_KIND_COUNT &&
                            rows[i].outcome >= 0 && rows[i].outcome < OUTCOME_COUNT;
            if (!is_known) return verify_bad(verify, "a log entry is of no known kind", run->id);
            // A long history is removed from its beginning; what is left has no gaps.
            bool is_next = after == 0 || rows[i].seq == after + 1;
            if (!is_next) return verify_bad(verify, "a log has a gap", run->id);
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
        Scan scan = scan_of(TABLE_SNAPSHOTS, SCAN_PRIMARY, &wanted, 1);
        scan.has_min = true;
        scan.min = last.number + 1;
        arena_reset(&verify->page);
        TRY(rows_scan(verify->rows, &scan, &verify->page, &rows, &count));
        if (count == 0) return OK;
        bool is_next = last.number == 0 || is_going || rows[0].number == last.number + 1;
        bool is_later = rows[0].start_seq >= last.end_seq && rows[0].end_seq > rows[0].start_seq &&
                        rows[0].log_seq <= rows[0].start_seq;
        bool has_snapshot = !str_is_null(rows[0].snapshot);
        if (!is_next || !is_later || !has_snapshot || run->kind != RUN_FLOW) {
            return verify_bad(verify, "the kept snapshots of a run contradict each other", run->id);
        }
        last = rows[0];
        verify->row_count++;
    }
}

static Status states_check(Verify *verify, const RunRow *run) { // [states-3]
    StateRow wanted = {.run = run->key}, *rows = NULL;
    size_t count = 0;
    Scan scan = scan_of(TABLE_STATES, SCAN_PRIMARY, &wanted, VERIFY_NAMES_MAX);
    arena_reset(&verify->page);
    TRY(rows_scan(verify->rows, &scan, &verify->page, &rows, &count));
    for (size_t i = 0; i < count; i++) {
        bool is_sane = !str_is_null(rows[i].value) && rows[i].digest == state_digest(rows[i].value);
        if (!is_sane)
            return verify_bad(verify, "a value of a run disagrees with its digest", run->id);
    }
    verify->row_count += (int64_t)count;
    return OK;
}

Status verify_belongings(Verify *verify, TableNumber table, int index, size_t offset) {
    for (int64_t run = 0;;) {
        TRY(next_run(verify, table, index, offset, &run));
        if (run == 0) return OK;
        RunRow owner;
        arena_reset(&verify->scratch);
        Status status = verify_find_run(verify, run, &owner);
        if (status == ERR_NOT_FOUND) { // [verify-internal-3]
            return diag_set(verify->diag, ERR_CORRUPT, "STORE_CORRUPT",
                            "table %s has rows of a run that does not exist: %lld",
                            tables[table].name, (long long)run);
        }
        TRY(status);
        if (table == TABLE_LOG) TRY(log_check(verify, &owner));
        if (table == TABLE_STATES) TRY(states_check(verify, &owner));
        if (table == TABLE_SNAPSHOTS) TRY(snapshots_check(verify, &owner));
        if (table == TABLE_CURSORS && run_state_is_terminal(owner.state)) {
            return verify_bad(verify, "an ended run still has cursors", owner.id);
        }
    }
}

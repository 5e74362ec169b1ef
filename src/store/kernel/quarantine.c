// Quarantine: a row that contradicts itself is not to stop what others do.
//
// A batch is one transaction, so one damaged row that an operation comes upon fails all of it; and
// what the engine does by itself (timers, turns, the results of tasks) would come upon it again and
// again. So where the damage is known it is put out of the way in a transaction of its own, and the
// batch is applied again without it.
//
//   [quarantine-1] A damaged run becomes PAUSED, for a person to look at: its log says why, and
//        none of its rows is changed but what parks and wakes it. It can be resumed once it is
//        mended, or be cancelled. One that was asked to end still ends when its grace is over.
//   [quarantine-2] Any other row that is due and cannot be fired is never due any more.
//   [quarantine-3] Who asks for something of the damaged run itself is refused, and the run is left
//        alone.
//   [quarantine-4] A quarantine changes something, or it fails: no batch is applied again for ever.
//   [quarantine-5] What was quarantined is told in the batch's answer, so that it can be logged;
//        the damage itself stays, and `verify` names it.
//
// Not here: damage that no row can be blamed for: the batch fails.
#include "store/kernel/quarantine.h"
#include "json/write.h"
#include "store/kernel/runs/runs.h"
#include "store/kernel/tasks/embedded.h"
#include <stdio.h>

void row_blame(Kernel *kernel, TableNumber number, const void *row) {
    if (kernel->damage.row != NULL) return; // the first one knows best
    const Table *table = &tables[number];
    char *copy = arena_zalloc_array(kernel->batch->arena, 1, table->row_size);
    for (uint8_t i = 0; i < table->key_count; i++) {
        const Column *column = &table->columns[i];
        if (column->type == COLUMN_I64) row_set_i64(copy, column, row_i64(row, column));
        else row_set_str(copy, column, kernel_answer(kernel, row_str(row, column)));
    }
    if (number == TABLE_RUNS) {
        ((RunRow *)(void *)copy)->id = kernel_answer(kernel, ((const RunRow *)row)->id);
    }
    kernel->damage = (Damage){.table = number, .row = copy};
}

void run_blame(Kernel *kernel, const Run *run) { row_blame(kernel, TABLE_RUNS, &run->row); }

// ---- whom it concerns ----

// Of a failed batch: what it may be applied without.
void damage_settle(Kernel *kernel, Status status) {
    Damage *damage = &kernel->damage;
    if (damage->row == NULL) return;
    bool is_run = damage->table == TABLE_RUNS;
    RunRow run = {0};
    if (is_run) run = *(const RunRow *)damage->row;
    bool is_own =
        is_run && kernel->op != NULL && str_equal(run.id, op_run_id(kernel->op)); // [quarantine-3]
    if (status != ERR_CORRUPT || is_own) damage->row = NULL;
    damage->message = kernel_answer(kernel, str_from(kernel->rows_diag.message));
}

// ---- quarantine ----

// Its wait set may be what is damaged, so the rows themselves say which are its own.
static Status waiters_drop(Kernel *kernel, const Run *run) {
    size_t count = PAGE_ROWS;
    for (int64_t after = 0; count == PAGE_ROWS;) {
        ArenaMark mark = arena_mark(&kernel->scratch);
        WaiterRow *rows = NULL;
        Scan scan = {.table = TABLE_WAITERS,
                     .index = SCAN_PRIMARY,
                     .has_min = true,
                     .min = after + 1,
                     .limit = PAGE_ROWS};
        TRY(kernel_scan(kernel, &scan, &rows, &count));
        for (size_t i = 0; i < count; i++) {
            after = rows[i].key;
            if (rows[i].run == run->row.key) TRY(kernel_remove(kernel, TABLE_WAITERS, &rows[i]));
        }
        arena_rewind(&kernel->scratch, mark);
    }
    return OK;
}

static Status reason_note(Kernel *kernel, Run *run, Str message) {
    LogRow wanted = {.run = run->row.key}, *rows = NULL;
    size_t count = 0;
    Scan scan = scan_of(TABLE_LOG, SCAN_PRIMARY, &wanted, 1);
    scan.is_descending = true;
    TRY(kernel_scan(kernel, &scan, &rows, &count));
    if (count == 0) return OK; // the log is what is missing
    Str reason = json_error(&kernel->scratch, STR("DamagedError"), STR("STORE_CORRUPT"), message);
    return run_note(kernel, run, LOG_PAUSED, reason);
}

static Status run_quarantine(Kernel *kernel, Run *run, Str message) { // [quarantine-1]
    RunRow *row = &run->row;
    embedded_drop_damaged(kernel, run);
    bool is_known = row->state >= RUN_PENDING && row->state < RUN_STATE_COUNT;
    if (!is_known || run_state_is_terminal(row->state) || row->state == RUN_PAUSED) {
        row->due_at_ms = 0;
        if (!is_known) row->claim_rank = 0; // nobody can claim what is in no state
        return run_store(kernel, run);
    }
    TRY(waiters_drop(kernel, run));
    TRY(reason_note(kernel, run, message));
    // One that has not begun begins when it is resumed.
    row->paused_state = row->state == RUN_SUSPENDED ? RUN_SUSPENDED : RUN_RUNNING;
    if (run_has_owner(row)) row->epoch++;
    row->owner = row->affinity = row->claim_rank = row->idle_since_ms = row->is_pause_wanted = 0;
    row->due_at_ms = run_is_cancel_wanted(row) ? row->deadline_at_ms : 0;
    run_set_state(kernel, run, RUN_PAUSED);
    return run_store(kernel, run);
}

static Status due_remove(Kernel *kernel, const Damage *damage) { // [quarantine-2]
    const Table *table = &tables[damage->table];
    for (uint8_t i = table->key_count; i < table->column_count; i++) {
        if (table->columns[i].meaning != COLUMN_IS_DUE) continue;
        return kernel_update_columns(kernel, damage->table, damage->row, UINT64_C(1) << i);
    }
    return OK; // [quarantine-4] finds it
}

Status damage_quarantine(Kernel *kernel, const Damage *damage) {
    int64_t write_count = kernel->write_count;
    arena_reset(&kernel->scratch);
    if (damage->table == TABLE_RUNS) {
        Run run;
        Status status = run_load_damaged(kernel, ((const RunRow *)damage->row)->key, &run);
        if (status == OK) status = run_quarantine(kernel, &run, damage->message);
        if (status != OK && status != ERR_NOT_FOUND) return status;
    } else {
        TRY(due_remove(kernel, damage));
    }
    if (kernel->write_count > write_count) return OK;
    char message[DIAG_MESSAGE_MAX]; // [quarantine-4]
    snprintf(message, sizeof(message), "%.*s", STR_ARG(damage->message));
    return kernel_corrupt(kernel, message);
}

Str damage_text(Arena *arena, const Damage *damage, Str earlier) { // [quarantine-5]
    const char *separator = str_is_null(earlier) ? "" : "; ";
    if (damage->table != TABLE_RUNS) {
        return arena_printf(arena, "%.*s%sa row of %s is damaged and is passed over: %.*s",
                            STR_ARG(earlier), separator, tables[damage->table].name,
                            STR_ARG(damage->message));
    }
    return arena_printf(arena, "%.*s%sthe run \"%.*s\" is damaged and was paused: %.*s",
                        STR_ARG(earlier), separator, STR_ARG(((const RunRow *)damage->row)->id),
                        STR_ARG(damage->message));
}

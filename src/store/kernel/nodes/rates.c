// What nodes have counted: a row is written again as it fills up, and goes by its age.
//
//   [nodes-rates-1] Whoever notes something removes a few rows that are too old, whoever's they
//        were: nobody has to come round for it, and there are no more than a day of them.
//   [nodes-rates-2] A node that was fenced off notes nothing: its figures may be those of runs
//        that others go on with.
//
// Invariants [model-rate-1] and [model-rate-2] are in model/rate.h.
//
// Not here: what is counted and how it is written (server/observe/rates.c).
#include "store/kernel/nodes/nodes.h"

enum { OLD_ROWS_MAX = 32 }; // removed at a time, per resolution

static Status row_check(Kernel *kernel, const RateRow *row) {
    bool is_resolution = row->step_ms == RATE_FINE_MS || row->step_ms == RATE_COARSE_MS;
    if (!is_resolution || row->from_ms < 0 || row->source <= 0 ||
        row->from_ms % rate_row_ms(row->step_ms) != 0)
        return kernel_refuse(kernel, ERR_INVALID, "BAD_RATES",
                             "rates begin at a multiple of %d steps of %d or %d milliseconds",
                             RATE_ROW_STEPS, RATE_FINE_MS, RATE_COARSE_MS);
    return kernel_check_size(kernel, "the rates of a node", row->points, LIMIT_ERROR_SIZE);
}

static Status row_put(Kernel *kernel, const RateRow *row) {
    RateRow before;
    Status status = kernel_get(kernel, TABLE_RATES, row, &before);
    if (status == ERR_NOT_FOUND) return kernel_insert(kernel, TABLE_RATES, row);
    TRY(status);
    return kernel_update(kernel, TABLE_RATES, &before, row);
}

static Status old_remove(Kernel *kernel, int64_t step_ms) { // [nodes-rates-1]
    RateRow wanted = {.step_ms = step_ms}, *rows = NULL;
    size_t count = 0;
    Scan scan = scan_of(TABLE_RATES, SCAN_PRIMARY, &wanted, OLD_ROWS_MAX);
    scan.has_max = true;
    scan.max = kernel_now(kernel) - rate_keep_ms(step_ms) - rate_row_ms(step_ms);
    TRY(kernel_scan(kernel, &scan, &rows, &count));
    for (size_t i = 0; i < count; i++) TRY(kernel_remove(kernel, TABLE_RATES, &rows[i]));
    return OK;
}

Status apply_note_rates(Kernel *kernel, Op *op) {
    const RateRow *rows = op->in.note_rates.rows;
    NodeRow node;
    TRY(node_get_own(kernel, &node)); // [nodes-rates-2]
    for (int i = 0; i < RATE_RESOLUTION_COUNT; i++)
        if (!str_is_null(rows[i].points)) TRY(row_check(kernel, &rows[i]));
    for (int i = 0; i < RATE_RESOLUTION_COUNT; i++) {
        if (str_is_null(rows[i].points)) continue;
        TRY(row_put(kernel, &rows[i]));
        TRY(old_remove(kernel, rows[i].step_ms));
    }
    return OK;
}

// Reads of what nodes have counted, newest first, of all nodes alike.
//
// There is no cursor: a day of rows of a few nodes is read as a whole, and of thousands of them the
// newest are enough.
//
// Not here: writing it (kernel/nodes/rates.c), adding it up (server/observe/rates_view.c).
#include "store/reads/internal.h"

Status read_rates(Reads *reads, const RateFilter *filter, RateList *ret_rates) {
    RateRow wanted = {.step_ms = filter->step_ms};
    Scan scan = scan_of(TABLE_RATES, SCAN_PRIMARY, &wanted, RATE_ROWS_MAX);
    scan.is_descending = true;
    scan.has_min = true;
    scan.min = filter->from_ms;
    RateList list = {0};
    TRY(rows_scan(reads->rows, &scan, reads->arena, &list.rows, &list.count));
    *ret_rates = list;
    return OK;
}

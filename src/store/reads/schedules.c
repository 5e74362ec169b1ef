// Reads of schedules: one by its name, or all, newest first.
//
// A listing is one walk over the table; when a schedule ticks next is in its row.
//
// Not here: ticks (kernel/schedules/ticks.c), the runs that a schedule has started (reads/runs.c).
#include "store/reads/internal.h"

Status read_schedule(Reads *reads, Str name, ScheduleRow *ret_schedule) {
    ScheduleRow wanted = {.name = name}, *rows = NULL;
    size_t count = 0;
    Scan scan = scan_of(TABLE_SCHEDULES, SCHEDULES_BY_NAME, &wanted, 1);
    TRY(rows_scan(reads->rows, &scan, reads->arena, &rows, &count));
    if (count == 0) {
        return diag_set(reads->diag, ERR_NOT_FOUND, "SCHEDULE_NOT_FOUND",
                        "there is no schedule \"%.*s\"", STR_ARG(name));
    }
    *ret_schedule = rows[0];
    return OK;
}

Status read_schedules(Reads *reads, const PageSpec *spec, SchedulePage *ret_page) {
    Walk walk;
    TRY(walk_newest(reads, TABLE_SCHEDULES, spec, &walk));
    *ret_page = (SchedulePage){(ScheduleRow *)(void *)walk.rows, walk.count, walk.next};
    return OK;
}

// Reads of kept snapshots: the beginnings of turns that a script can be set back to.
//
// They are listed with their bytes, because who asks for them wants to look into them; a page is
// bounded by bytes, too.
//
// Not here: keeping them and going back (kernel/runs/snapshots.c), what is in one (flow/snapshot).
#include "store/reads/internal.h"

Status read_snapshots(Reads *reads, const SnapshotFilter *filter, SnapshotPage *ret_page) {
    RunRow run;
    TRY(read_run(reads, filter->run, &run));
    int64_t limit = read_limit(filter->page.limit), after = filter->page.after;
    size_t size_max = read_size_max(filter->page.size_max), start = reads->arena->used_size;
    SnapshotRow *found = ARENA_ARRAY(reads->arena, SnapshotRow, (size_t)limit);
    SnapshotPage page = {.rows = found};
    while ((int64_t)page.count < limit) {
        SnapshotRow wanted = {.run = run.key}, *rows = NULL;
        size_t count = 0;
        Scan scan = scan_of(TABLE_SNAPSHOTS, SCAN_PRIMARY, &wanted, 1);
        scan.has_min = true;
        scan.min = after + 1;
        TRY(rows_scan(reads->rows, &scan, reads->arena, &rows, &count));
        if (count == 0) {
            *ret_page = page;
            return OK;
        }
        found[page.count++] = rows[0];
        after = rows[0].number;
        if (reads->arena->used_size - start >= size_max) break;
    }
    page.next = after;
    *ret_page = page;
    return OK;
}

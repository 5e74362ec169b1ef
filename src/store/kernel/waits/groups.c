// Groups: deliveries that wake nobody yet.
//
// A script that waits for a hundred tasks together can do nothing with the first ninety-nine
// results. So the items of such a wait are a group: a quiet outcome is logged as any delivery is,
// which keeps the order in which things settled, and the run sleeps on until the last one of the
// group settles or an outcome comes that is not quiet.
//   [groups-1] What was logged quietly stands in the log past the run's log_seq; whatever wakes the
//        run brings it all, in the order of the log. A run that is loaded from the store reads the
//        same entries ([runs-6] of runs/runs.c).
//   [groups-2] Each item is logged once: parking again looks at the log before it looks at the
//        items.
//
// Not here: when a run wakes (waits/wait.c).
#include "store/kernel/runs/runs.h"
#include "store/kernel/waits/waits.h"

bool outcome_is_quiet(const WaitItem *item, Outcome outcome) {
    if (outcome == OUTCOME_OK) return item->quiet & WAIT_QUIET_OK;
    return outcome == OUTCOME_ERROR && (item->quiet & WAIT_QUIET_ERROR);
}

// Looks at the neighbours of the item that settled, those behind and those before it in turn:
// things settle mostly in one direction or the other, so the first or the second look decides.
Status group_has_open(Kernel *kernel, Run *run, const WaitSet *set, size_t place, bool *ret_is_it) {
    *ret_is_it = false;
    for (size_t i = 2; i <= set->count && !*ret_is_it; i++) {
        size_t distance = i / 2, ahead = i % 2 == 0 ? distance : set->count - distance;
        const WaitItem *item = &set->items[(place + ahead) % set->count];
        bool is_settled;
        if (item->group != set->items[place].group) continue;
        ArenaMark mark = arena_mark(&kernel->scratch);
        TRY(wait_is_settled(kernel, run, item, &is_settled));
        arena_rewind(&kernel->scratch, mark);
        *ret_is_it = !is_settled;
    }
    return OK;
}

Status deliveries_read(Kernel *kernel, Run *run, Arena *arena, Resolved *ret_resolved) {
    *ret_resolved = (Resolved){0};
    TRY(run_last_seq(kernel, run));
    int64_t entry_count = run->facts.last_seq - run->row.log_seq;
    if (entry_count <= 0) return OK;
    ret_resolved->rows = ARENA_ARRAY(arena, LogRow, (size_t)entry_count);
    size_t count = PAGE_ROWS;
    for (int64_t after = run->row.log_seq; count == PAGE_ROWS;) {
        ArenaMark mark = arena_mark(&kernel->scratch);
        LogRow *rows = NULL;
        TRY(log_page(kernel, run->row.key, &after, &rows, &count));
        for (size_t i = 0; i < count; i++) {
            if (rows[i].kind != LOG_WAIT) continue;
            row_copy(&tables[TABLE_LOG], arena, &rows[i],
                     &ret_resolved->rows[ret_resolved->count++]);
        }
        if (arena != &kernel->scratch) arena_rewind(&kernel->scratch, mark);
    }
    return OK;
}

Status deliveries_since(Kernel *kernel, Run *run, Arena *arena, Resolved *ret_resolved) {
    *ret_resolved = (Resolved){0};
    if (run->row.kind != RUN_FLOW) return OK;
    return deliveries_read(kernel, run, arena, ret_resolved);
}

Status deliveries_prepend(Kernel *kernel, Run *run, Resolved *resolved) { // [groups-1]
    bool is_all = run->facts.last_seq - run->row.log_seq == (int64_t)resolved->count;
    if (run->row.kind != RUN_FLOW || is_all) return OK;
    return deliveries_since(kernel, run, kernel->batch->arena, resolved);
}

void grown_push(Kernel *kernel, const Run *run) {
    Batch *batch = kernel->batch;
    bool is_known = batch->out.grown_count > 0 &&
                    batch->out.grown[batch->out.grown_count - 1].run == run->row.key;
    if (is_known) return;
    batch->out.grown = batch_reserve(batch, batch->out.grown, batch->out.grown_count,
                                     &batch->out.grown_capacity, sizeof(GrownRun));
    batch->out.grown[batch->out.grown_count++] =
        (GrownRun){run->row.key, kernel_answer(kernel, run->row.id)};
}

// Moves: a parked run goes on in another version of its script, or with other values of variables,
// and comes back to what it was when it is set back to a time before.
//
// Whether it can, and the snapshot with which it does, is found out by who asks
// (engine/definitions/move.c, set.c).
//
//   [runs-move-1] The snapshot was made from the one that the run still has: the epoch says so. A
//        run that went on meanwhile is not changed.
//   [runs-move-2] The run wakes with nothing delivered and parks again at the same place, so its
//        waits are declared by the code that waits. What was delivered to the parked run counts.
//   [runs-move-3] The log says which version it had before. A turn that ended before a move was
//        executed by that version, whatever the run has now.
#include "store/kernel/runs/runs.h"
#include "store/kernel/runs/snapshots.h"

static Status refuse_state(Kernel *kernel, const Run *run) {
    const RunRow *row = &run->row;
    if (row->kind != RUN_FLOW)
        return kernel_refuse(
            kernel, ERR_CONFLICT, "RUN_NOT_PARKED",
            "the run \"%.*s\" is of a C workflow, which has neither versions nor variables",
            STR_ARG(row->id));
    return kernel_refuse(kernel, ERR_CONFLICT, "RUN_NOT_PARKED",
                         "the run \"%.*s\" is %s; only a script that waits can be moved or set",
                         STR_ARG(row->id), run_state_name(row->state));
}

Status apply_move(Kernel *kernel, Op *op) {
    Run run;
    RunRow *row = &run.row;
    TRY(kernel_check_size(kernel, "the snapshot", op->in.move.snapshot, LIMIT_SNAPSHOT_SIZE));
    TRY(run_require(kernel, op->in.move.run_id, &run));
    bool is_held = row->state == RUN_PAUSED && row->paused_state == RUN_SUSPENDED;
    bool is_parked = row->kind == RUN_FLOW && (row->state == RUN_SUSPENDED || is_held);
    if (!is_parked) return refuse_state(kernel, &run);
    if (row->epoch != op->in.move.epoch) { // [runs-move-1]
        return kernel_refuse(kernel, ERR_CONFLICT, "RUN_CHANGED",
                             "the run \"%.*s\" went on while it was looked at; ask again",
                             STR_ARG(row->id));
    }
    LogRow moved = {.kind = op->in.move.is_set ? LOG_SET : LOG_MOVED,
                    .position = NO_POSITION,
                    .iteration = row->definition, // [runs-move-3]
                    .data = op->in.move.note};
    TRY(run_log(kernel, &run, &moved));
    row->definition = op->in.move.definition;
    row->snapshot = op->in.move.snapshot;
    row->place = op->in.move.place;
    row->epoch++;
    if (is_held) { // it is taken up from the snapshot when it is resumed
        row->paused_state = RUN_RUNNING;
        row->waits = STR_NULL; // [runs-move-2]
        return run_store(kernel, &run);
    }
    row->attempts = 0;
    return run_make_ready(kernel, &run, (Resolved){0}); // [runs-move-2]
}

Status definition_at(Kernel *kernel, const RunRow *run, int64_t seq, int64_t *ret_definition) {
    size_t count = PAGE_ROWS;
    *ret_definition = run->definition;
    for (int64_t after = seq; count == PAGE_ROWS;) {
        ArenaMark mark = arena_mark(&kernel->scratch);
        LogRow *rows = NULL;
        TRY(log_page(kernel, run->key, &after, &rows, &count));
        for (size_t i = 0; i < count; i++) {
            if (rows[i].kind != LOG_MOVED) continue;
            *ret_definition = rows[i].iteration;
            arena_rewind(&kernel->scratch, mark);
            return OK;
        }
        arena_rewind(&kernel->scratch, mark);
    }
    return OK;
}

// Held rows: one run, and which of its columns are yet to be written.
//
// A batch has thousands of such runs, one after the other, so there is one place for all of them.
//
// Invariants [held-1]-[held-3] are in held.h.
//
// Not here: when a row is stored (runs/runs.c), reads that want it written (kernel/rows.c).
#include "store/kernel/held.h"
#include "base/assert.h"

static bool turn_follows(const Kernel *kernel, int64_t run) {
    const Op *next = kernel->next_op;
    return next && next->kind == OP_COMMIT_TURN && next->in.turn.foreseen_seq != 0 &&
           next->in.turn.run == run;
}

void held_begin(Kernel *kernel, int64_t run) {
    ASSERT(kernel->held.changes == 0); // [held-1]
    kernel->held = (HeldRow){.run = turn_follows(kernel, run) ? run : 0};
}

// [held-3] Of those columns, the numbers that are the same in both rows.
static uint64_t same_numbers(uint64_t columns, const RunRow *left, const RunRow *right) {
    uint64_t same = 0;
    for (uint64_t bits = columns; bits != 0; bits &= bits - 1) {
        const Column *column = &tables[TABLE_RUNS].columns[__builtin_ctzll(bits)];
        if (column->type == COLUMN_I64 && row_i64(left, column) == row_i64(right, column))
            same |= bits & -bits;
    }
    return same;
}

uint64_t held_take(Kernel *kernel, const RunRow *row, uint64_t changes) {
    HeldRow *held = &kernel->held;
    ASSERT(held->changes == 0 || held->run != 0); // [held-1]
    if (held->run != row->key || held->changes == 0) return changes;
    changes |= held->changes;
    held->changes = 0;
    return changes & ~same_numbers(changes, &held->stored, row);
}

int64_t held_due_at_ms(const Kernel *kernel, int64_t run) {
    return kernel->held.run == run && kernel->held.changes != 0 ? kernel->held.stored.due_at_ms : 0;
}

void held_complete(const Kernel *kernel, RunRow *row) { // [held-2]
    if (kernel->held.run != row->key) return;
    row_copy_columns(&tables[TABLE_RUNS], kernel->held.changes, &kernel->held.row, row);
}

bool held_put(Kernel *kernel, const RunRow *before, const RunRow *row, uint64_t changes) {
    bool is_between = kernel->held.run == row->key && kernel->op->kind == OP_COMPLETE_TASK;
    bool is_plain = str_is_null(row->waits) && str_is_null(row->task) &&
                    !(changes & kernel->run_snapshot_bit); // [held-3]
    if (!is_between || !is_plain) return false;
    kernel->held.changes = changes;
    kernel->held.row = *row; // of its texts none is used, [held-3]
    kernel->held.stored = *before;
    return true;
}

Status held_end_op(Kernel *kernel) {
    bool is_for_next = kernel->held.run != 0 && kernel->op->kind == OP_COMPLETE_TASK;
    if (is_for_next) return OK;
    TRY(kernel_write_held(kernel));
    ASSERT(kernel->held.changes == 0); // [held-1]
    kernel->held.run = 0;
    return OK;
}

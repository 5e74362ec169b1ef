// Affinity: a run that wakes is left to the node that has it in memory.
//
// A parked run belongs to nobody, and any node may be the one that takes in what wakes it. That
// node could claim the run at once and would have to load it; so, for a short while, it leaves it
// to the node that parked it last and has not released it (RunRow.affinity). That one hears of it
// as of every run that nobody owns, and goes on with what it has.
//   [affinity-1] It is a hint: whether that node's memory is up to date is decided by the log
//        (take_known of coordinator/runs.c), and who executes the run by its claim alone.
//   [affinity-2] affinity != 0 only while SUSPENDED, or ready and left. Every claim ends it.
//   [affinity-3] A run is left for AFFINITY_PATIENCE_MS and only to a node that seems alive; after
//        that anybody may claim it. A clock that is too far off to tell ends it as well.
//   [affinity-4] Who leaves a run looks again when that time is over (Batch.left_until_ms).
#include "base/assert.h"
#include "store/kernel/nodes/nodes.h"
#include "store/kernel/runs/runs.h"
#include "store/kernel/waits/waits.h"

enum { AFFINITY_PATIENCE_MS = 1000 };

static Status node_seems_alive(Kernel *kernel, int64_t key, bool *ret_is_it) {
    NodeRow wanted = {.key = key}, node;
    Status status = kernel_get(kernel, TABLE_NODES, &wanted, &node);
    *ret_is_it = status == OK && node_lease_known(kernel, &node) > kernel_now(kernel);
    return status == ERR_NOT_FOUND ? OK : status;
}

Status run_is_left(Kernel *kernel, const RunRow *row, bool *ret_is_it) {
    int64_t waited_ms = kernel_now(kernel) - row->updated_at_ms;
    *ret_is_it = false;
    if (row->affinity == 0 || row->affinity == kernel->batch->node) return OK;
    if (waited_ms >= AFFINITY_PATIENCE_MS || waited_ms < -AFFINITY_PATIENCE_MS)
        return OK; // [affinity-3]
    return node_seems_alive(kernel, row->affinity, ret_is_it);
}

// A run whose turn is in the batch already is under way there, and needs no room.
static bool has_room_for(const Kernel *kernel, const RunRow *row) {
    const Batch *batch = kernel->batch;
    if (batch->node == 0) return false;
    return (int64_t)batch->out.ready_count < batch->claim_max || kernel->held.run == row->key;
}

Status node_assign(Kernel *kernel, RunRow *row) {
    ASSERT(row->claim_rank > 0);
    bool is_left;
    row->owner = 0;
    TRY(run_is_left(kernel, row, &is_left));
    if (is_left) { // [affinity-4]
        kernel->batch->out.left_until_ms = kernel_now(kernel) + AFFINITY_PATIENCE_MS;
        return OK;
    }
    row->affinity = 0; // [affinity-2]
    if (kernel->batch->node != 0 && !run_is_executable(kernel, row)) {
        row->owner = run_reservation(row);
    } else if (has_room_for(kernel, row)) {
        row->owner = kernel->batch->node;
        row->epoch++;
    }
    return OK;
}

// What the node that has it in memory has not seen of it.
Status affinity_deliveries(Kernel *kernel, Run *run, Resolved *ret_resolved) {
    *ret_resolved = (Resolved){0};
    if (run->row.affinity == 0 || run->row.affinity != kernel->batch->node) return OK;
    return deliveries_read(kernel, run, kernel->batch->arena, ret_resolved);
}

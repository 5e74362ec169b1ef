// Heartbeats: leases that are kept beside the rows, where a store can do that
// (RowStoreOps.heartbeat).
//
// A node that has nothing to do still has to say that it is alive, three times per lease. As a
// batch that would be a transaction with a new version of the whole store, which every other node
// has to follow; a heartbeat is one statement and disturbs nobody. What it answers spares the node
// from looking around: nobody has written, nobody has died.
//
//   [heartbeats-1] What is fenced is decided by the rows alone, inside a transaction. A heartbeat
//        only says that it need not be done yet.
//   [heartbeats-2] A node counts as dead only after a look at the heartbeats in the same batch. Who
//        renews is told when the next lease of another one ends ([nodes-5]), so that he can look at
//        that moment and not before: as long as everybody lives nobody asks more often.
//   [heartbeats-3] A batch that joins or renews says so in the node's row, and then as a heartbeat.
//        If that gets lost, the one before it still holds for most of a lease.
#include "store/kernel/nodes/nodes.h"

Status node_refuse_fenced(Diag *diag) {
    return diag_set(diag, ERR_FENCED, "NODE_FENCED",
                    "the lease of this node ran out and its runs were taken over");
}

int64_t node_lease_known(const Kernel *kernel, const NodeRow *node) {
    if (node_is_fenced(node)) return 0; // [heartbeats-1]
    for (size_t i = 0; i < kernel->heartbeats.count; i++) {
        if (kernel->heartbeats.data[i].node == node->key)
            return kernel->heartbeats.data[i].until_ms;
    }
    return node->lease_until_ms;
}

static void heartbeats_note(Kernel *kernel, const Heartbeat *heartbeat, int64_t now_ms) {
    vec_clear(&kernel->heartbeats);
    for (size_t i = 0; i < heartbeat->count; i++) {
        if (heartbeat->heartbeats[i].node != heartbeat->node)
            vec_push(&kernel->heartbeats, heartbeat->heartbeats[i]);
    }
    NodeHeartbeat own = {heartbeat->node, heartbeat->until_ms, heartbeat->resident_count};
    if (heartbeat->node != 0) vec_push(&kernel->heartbeats, own);
    kernel->heartbeats_at_ms = now_ms;
}

Status node_lease(Kernel *kernel, const NodeRow *node, int64_t *ret_until_ms) {
    RowStore *rows = kernel->writer;
    *ret_until_ms = node_lease_known(kernel, node);
    bool is_sure = node_is_fenced(node) || *ret_until_ms > kernel_now(kernel);
    if (is_sure || rows->ops->heartbeat == NULL || kernel->has_looked) return OK;
    Heartbeat look = {0}; // [heartbeats-2]
    ArenaMark mark = arena_mark(&kernel->scratch);
    Status status = rows->ops->heartbeat(rows, &look, &kernel->scratch);
    if (status == OK) heartbeats_note(kernel, &look, kernel_now(kernel));
    kernel->has_looked = true;
    arena_rewind(&kernel->scratch, mark);
    if (status != OK) {
        if (kernel->failure == OK) kernel->failure = status;
        return status;
    }
    *ret_until_ms = node_lease_known(kernel, node);
    return OK;
}

bool batch_is_heartbeat(const Kernel *kernel, const Batch *batch) {
    if (kernel->writer->ops->heartbeat == NULL || batch->count != 1 || batch->node == 0)
        return false;
    if (batch->is_probe) return false; // a heartbeat is taken also where there is no room
    const Op *op = batch->ops[0];
    return op->kind == OP_RENEW && op->in.renew.lease_ms > 0 &&
           op->in.renew.lease_ms <= LIMIT_DURATION_MS;
}

// Somebody who was alive when we looked last is not any more.
static bool has_died(const Kernel *kernel, const Heartbeat *heartbeat, int64_t now_ms) {
    for (size_t i = 0; i < heartbeat->count; i++) {
        int64_t until_ms = heartbeat->heartbeats[i].until_ms;
        bool is_other = heartbeat->heartbeats[i].node != heartbeat->node;
        if (is_other && until_ms <= now_ms && until_ms > kernel->heartbeats_at_ms) return true;
    }
    return false;
}

static int64_t next_end(const Heartbeat *heartbeat, int64_t now_ms) {
    int64_t next_ms = 0;
    for (size_t i = 0; i < heartbeat->count; i++) {
        int64_t until_ms = heartbeat->heartbeats[i].until_ms;
        if (heartbeat->heartbeats[i].node == heartbeat->node || until_ms <= now_ms) continue;
        if (next_ms == 0 || until_ms < next_ms) next_ms = until_ms;
    }
    return next_ms;
}

Status batch_heartbeat(Kernel *kernel, Batch *batch, Diag *diag) {
    RowStore *rows = kernel->writer;
    Op *op = batch->ops[0];
    Heartbeat heartbeat = {.node = batch->node,
                           .until_ms = batch->now_ms + op->in.renew.lease_ms,
                           .resident_count = op->in.renew.resident_count};
    batch_clear_answers(batch);
    arena_reset(&kernel->scratch);
    diag_clear(&op->out.diag);
    rows->diag = diag;
    Status status = rows->ops->heartbeat(rows, &heartbeat, &kernel->scratch);
    if (status != OK) return status;
    if (heartbeat.is_fenced) return node_refuse_fenced(diag);
    op->out.status = OK;
    op->out.renew.is_quiet = !heartbeat.is_changed && !has_died(kernel, &heartbeat, batch->now_ms);
    op->out.renew.next_end_ms = next_end(&heartbeat, batch->now_ms);
    batch->out.has_answers = true;
    heartbeats_note(kernel, &heartbeat, batch->now_ms);
    return OK;
}

static void heartbeat_follow(Kernel *kernel, Heartbeat heartbeat, int64_t now_ms,
                             int64_t *ret_next_end_ms) {
    RowStore *rows = kernel->writer;
    Diag ignored; // [heartbeats-3]
    rows->diag = &ignored;
    arena_reset(&kernel->scratch);
    if (rows->ops->heartbeat(rows, &heartbeat, &kernel->scratch) == OK) {
        *ret_next_end_ms = next_end(&heartbeat, now_ms);
        heartbeats_note(kernel, &heartbeat, now_ms);
    }
    rows->diag = NULL;
}

void heartbeats_follow(Kernel *kernel, const Batch *batch) {
    if (kernel->writer->ops->heartbeat == NULL) return;
    for (size_t i = 0; i < batch->count; i++) {
        Op *op = batch->ops[i];
        int64_t ignored, *next_end_ms = &ignored;
        if (op->out.status != OK) continue;
        Heartbeat heartbeat = {.node = batch->node};
        if (op->kind == OP_JOIN) {
            heartbeat.node = op->out.join.node;
            heartbeat.until_ms = batch->now_ms + op->in.join.lease_ms;
        } else if (op->kind == OP_RENEW) {
            heartbeat.until_ms = batch->now_ms + op->in.renew.lease_ms;
            heartbeat.resident_count = op->in.renew.resident_count;
            next_end_ms = &op->out.renew.next_end_ms;
        } else continue;
        heartbeat_follow(kernel, heartbeat, batch->now_ms, next_end_ms);
    }
}

// Beats: leases that are kept beside the rows, where a store can do that (RowStoreOps.beat).
//
// A node that has nothing to do still has to say that it is alive, three times per lease. As a
// batch that would be a transaction with a new version of the whole store, which every other node
// has to follow; a beat is one statement and disturbs nobody. What it answers spares the node from
// looking around: nobody has written, nobody has died.
//
//   [B1] What is fenced is decided by the rows alone, inside a transaction. A beat only says that
//        it need not be done yet.
//   [B2] A node counts as dead only after a look at the beats in the same batch.
//        Who renews is told when the next lease of another one ends ([O5]), so that he can look
//        at that moment and not before: as long as everybody lives nobody asks more often.
//   [B3] A batch that joins or renews says so in the node's row, and then as a beat. If that gets
//        lost, the beat before it still holds for most of a lease.
#include "base/assert.h"
#include "store/kernel/nodes/nodes.h"

Status node_refuse_fenced(Diag *diag) {
    return diag_set(diag, ERR_FENCED, "NODE_FENCED",
                    "the lease of this node ran out and its runs were taken over");
}

int64_t node_lease_known(const Kernel *kernel, const NodeRow *node) {
    if (node->lease_until_ms < 0) return node->lease_until_ms; // [B1]
    for (size_t i = 0; i < kernel->beats.count; i++) {
        if (kernel->beats.data[i].node == node->key) return kernel->beats.data[i].until_ms;
    }
    return node->lease_until_ms;
}

static void beats_note(Kernel *kernel, const Beat *beat, int64_t now_ms) {
    vec_clear(&kernel->beats);
    for (size_t i = 0; i < beat->count; i++) {
        if (beat->beats[i].node != beat->node) vec_push(&kernel->beats, beat->beats[i]);
    }
    NodeBeat own = {beat->node, beat->until_ms, beat->resident_count};
    if (beat->node != 0) vec_push(&kernel->beats, own);
    kernel->beats_at_ms = now_ms;
}

Status node_lease(Kernel *kernel, const NodeRow *node, int64_t *ret_until_ms) {
    RowStore *rows = kernel->writer;
    *ret_until_ms = node_lease_known(kernel, node);
    bool is_sure = *ret_until_ms < 0 || *ret_until_ms > kernel_now(kernel);
    if (is_sure || rows->ops->beat == NULL || kernel->has_looked) return OK;
    Beat look = {0}; // [B2]
    ArenaMark mark = arena_mark(&kernel->scratch);
    Status status = rows->ops->beat(rows, &look, &kernel->scratch);
    if (status == OK) beats_note(kernel, &look, kernel_now(kernel));
    kernel->has_looked = true;
    arena_rewind(&kernel->scratch, mark);
    if (status != OK) {
        if (kernel->failure == OK) kernel->failure = status;
        return status;
    }
    *ret_until_ms = node_lease_known(kernel, node);
    return OK;
}

bool batch_is_beat(const Kernel *kernel, const Batch *batch) {
    if (kernel->writer->ops->beat == NULL || batch->count != 1 || batch->node == 0) return false;
    if (batch->is_probe) return false; // a beat is taken also where there is no room
    const Op *op = batch->ops[0];
    return op->kind == OP_RENEW && op->in.renew.lease_ms > 0 &&
           op->in.renew.lease_ms <= LIMIT_DURATION_MS;
}

// Somebody who was alive when we looked last is not any more.
static bool has_died(const Kernel *kernel, const Beat *beat, int64_t now_ms) {
    for (size_t i = 0; i < beat->count; i++) {
        int64_t until_ms = beat->beats[i].until_ms;
        bool is_other = beat->beats[i].node != beat->node;
        if (is_other && until_ms <= now_ms && until_ms > kernel->beats_at_ms) return true;
    }
    return false;
}

static int64_t next_end(const Beat *beat, int64_t now_ms) {
    int64_t next_ms = 0;
    for (size_t i = 0; i < beat->count; i++) {
        int64_t until_ms = beat->beats[i].until_ms;
        if (beat->beats[i].node == beat->node || until_ms <= now_ms) continue;
        if (next_ms == 0 || until_ms < next_ms) next_ms = until_ms;
    }
    return next_ms;
}

Status batch_beat(Kernel *kernel, Batch *batch, Diag *diag) {
    RowStore *rows = kernel->writer;
    Op *op = batch->ops[0];
    Beat beat = {.node = batch->node,
                 .until_ms = batch->now_ms + op->in.renew.lease_ms,
                 .resident_count = op->in.renew.resident_count};
    batch_clear_answers(batch);
    arena_reset(&kernel->scratch);
    diag_clear(&op->out.diag);
    rows->diag = diag;
    Status status = rows->ops->beat(rows, &beat, &kernel->scratch);
    if (status != OK) return status;
    if (beat.is_fenced) return node_refuse_fenced(diag);
    op->out.status = OK;
    op->out.renew.is_quiet = !beat.is_changed && !has_died(kernel, &beat, batch->now_ms);
    op->out.renew.next_end_ms = next_end(&beat, batch->now_ms);
    batch->out.has_answers = true;
    beats_note(kernel, &beat, batch->now_ms);
    return OK;
}

static void beat_follow(Kernel *kernel, Beat beat, int64_t now_ms, int64_t *ret_next_end_ms) {
    RowStore *rows = kernel->writer;
    Diag ignored; // [B3]
    rows->diag = &ignored;
    arena_reset(&kernel->scratch);
    if (rows->ops->beat(rows, &beat, &kernel->scratch) == OK) {
        *ret_next_end_ms = next_end(&beat, now_ms);
        beats_note(kernel, &beat, now_ms);
    }
    rows->diag = NULL;
}

void beats_follow(Kernel *kernel, const Batch *batch) {
    if (kernel->writer->ops->beat == NULL) return;
    for (size_t i = 0; i < batch->count; i++) {
        Op *op = batch->ops[i];
        int64_t ignored, *next_end_ms = &ignored;
        if (op->out.status != OK) continue;
        Beat beat = {.node = batch->node};
        if (op->kind == OP_JOIN) {
            beat.node = op->out.join.node;
            beat.until_ms = batch->now_ms + op->in.join.lease_ms;
        } else if (op->kind == OP_RENEW) {
            beat.until_ms = batch->now_ms + op->in.renew.lease_ms;
            beat.resident_count = op->in.renew.resident_count;
            next_end_ms = &op->out.renew.next_end_ms;
        } else continue;
        beat_follow(kernel, beat, batch->now_ms, next_end_ms);
    }
}

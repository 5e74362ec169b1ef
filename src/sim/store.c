// The store as one node sees it: the one truth, behind calls that may fail.
//
// A fault happens before the call (nothing was done) or after it (done, but the caller is not
// told); a crash does the same and takes the node with it. Which call meets which fault is drawn
// from the seed, or set for one call in the exhaustive mode.
//
// Not here: what a node does after a fault (engine/), tearing a crashed node down (node.c).
#include "sim/sim.h"

static Fault draw_fault(Sim *sim) {
    sim->store_calls++;
    if (sim->crash_at_call > 0)
        return sim->store_calls == sim->crash_at_call ? sim->crash_kind : FAULT_NONE;
    if (!sim->has_faults || !sim_chance(sim, sim->options.fault_pct)) return FAULT_NONE;
    sim->fault_count++;
    uint64_t kinds = sim->options.has_crashes ? 4 : 2;
    return (Fault)(FAULT_BEFORE + sim_random(sim, kinds));
}

static Status fail(SimStore *self, Fault fault, Diag *diag) {
    if (fault == FAULT_CRASH_BEFORE || fault == FAULT_CRASH_AFTER) self->node->is_crashed = true;
    return diag_set(diag, ERR_UNAVAILABLE, "STORE_IO", "simulated fault %d", (int)fault);
}

// As a shared store does: the other nodes hear of what concerns them, mostly.
static void spread_word(SimStore *self, const Batch *batch) {
    Sim *sim = self->node->sim;
    bool is_news = batch->unclaimed_count > 0 || batch->left_until_ms > 0 || batch->has_tasks ||
                   batch->ended_count > 0;
    if (batch->left_until_ms > 0) sim->left_count++;
    for (size_t i = 0; i < batch->count; i++)
        if (batch->ops[i]->kind == OP_CLAIM) sim->home_count += batch->ops[i]->claim.home_count;
    for (int i = 0; i < sim->options.node_count && is_news; i++) {
        SimNode *node = &sim->nodes[i];
        bool is_hearing = node != self->node && node->coordinator != NULL && !node->is_crashed;
        if (is_hearing && sim_chance(sim, 80)) coordinator_hear(node->coordinator);
    }
}

static Status sim_store_commit(Store *store, Batch *batch, Diag *diag) {
    SimStore *self = (SimStore *)store;
    if (self->node->is_crashed) return fail(self, FAULT_BEFORE, diag);
    Fault fault = draw_fault(self->node->sim);
    if (fault == FAULT_BEFORE || fault == FAULT_CRASH_BEFORE) return fail(self, fault, diag);
    Status status = store_commit(self->inner, batch, diag);
    if (status == OK) spread_word(self, batch);
    return fault == FAULT_NONE ? status : fail(self, fault, diag);
}

static Status sim_store_read(Store *store, Arena *arena, Query *query, Diag *diag) {
    SimStore *self = (SimStore *)store;
    Sim *sim = self->node->sim;
    if (self->node->is_crashed) return fail(self, FAULT_BEFORE, diag);
    if (sim->has_faults && sim->crash_at_call == 0 && sim_chance(sim, sim->options.fault_pct / 2))
        return fail(self, FAULT_BEFORE, diag);
    return store_read(self->inner, arena, query, diag);
}

static Status sim_store_verify(Store *store, int64_t *ret_row_count, Diag *diag) {
    return store_verify(((SimStore *)store)->inner, ret_row_count, diag);
}

static void sim_store_close(Store *store) { (void)store; }

static const StoreOps sim_store_ops = {
    .name = "sim",
    .commit = sim_store_commit,
    .read = sim_store_read,
    .verify = sim_store_verify,
    .close = sim_store_close,
};

void sim_store_init(SimStore *store, SimNode *node, Store *inner) {
    *store = (SimStore){.base.ops = &sim_store_ops, .inner = inner, .node = node};
}

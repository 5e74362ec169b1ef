// The store as one node sees it: the one truth, behind calls that may fail.
//
// A fault happens before the call (nothing was done) or after it (done, but the caller is not
// told); a crash does the same and takes the node with it. Which call meets which fault is drawn
// from the seed, or set for one call in the exhaustive mode. Now and then an operation is refused
// for good, with every batch that it is a part of, until it stands alone.
//
// Not here: what a node does after a fault (engine/), tearing a crashed node down (node.c).
#include "sim/sim.h"
#include "store/reads.h"

static Fault draw_fault(Sim *sim) {
    sim->store_calls++;
    if (sim->crash_at_call > 0)
        return sim->store_calls == sim->crash_at_call ? sim->crash_kind : FAULT_NONE;
    if (!sim->has_faults || !sim_chance(sim, sim->options.fault_pct)) return FAULT_NONE;
    sim->fault_count++;
    uint64_t kinds = sim->options.has_crashes ? 4 : 2;
    return (Fault)(FAULT_BEFORE + sim_random(sim, kinds));
}

// ---- operations that are refused for good ----

static Str guilty_name(const Op *op) {
    if (op->kind == OP_COMPLETE_TASK) return op->in.complete_task.id;
    if (op->kind == OP_FAIL_TASK) return op->in.fail_task.id;
    if (op->kind == OP_CREATE_RUN) return op->in.create_run.spec.id;
    if (op->kind == OP_PUBLISH) return op->in.publish.event.id;
    if (op->kind == OP_SIGNAL) return op->in.signal.id;
    return STR("");
}

static bool is_guilty(const Guilty *guilty, const Op *op) {
    if (guilty->kind != op->kind) return false;
    if (op->kind == OP_COMMIT_TURN) return op->in.turn.run == guilty->key;
    return str_equal(guilty_name(op), str_from(guilty->id));
}

// Scripts must come to the answer that is known for them; others take a failure as one.
static bool is_of_script(Sim *sim, const Op *op) {
    TaskRow task;
    RunRow run;
    Arena arena;
    Diag diag;
    arena_init(&arena);
    bool is_turn = op->kind == OP_COMMIT_TURN;
    bool is_known =
        is_turn || store_find_task(sim->store, &arena, guilty_name(op), &task, &diag) == OK;
    int64_t key = is_turn ? op->in.turn.run : is_known ? task.run : 0;
    is_known = is_known && store_run_by_key(sim->store, &arena, key, &run, &diag) == OK;
    bool answer = !is_known || run.kind != RUN_NATIVE;
    arena_done(&arena);
    return answer;
}

static bool may_be_guilty(Sim *sim, const Op *op) {
    bool is_work =
        op->kind == OP_COMMIT_TURN || op->kind == OP_COMPLETE_TASK || op->kind == OP_FAIL_TASK;
    if (is_work && is_of_script(sim, op)) return false;
    return op->kind != OP_JOIN && op->kind != OP_LEAVE &&
           guilty_name(op).len < sizeof sim->guilty.id;
}

static void draw_guilty(Sim *sim, const Batch *batch) {
    if (sim->guilty.kind != 0 || sim->crash_at_call > 0 || !sim->has_faults) return;
    if (sim_random(sim, 1000) >= (uint64_t)sim->options.fault_pct) return;
    const Op *op = batch->ops[sim_random(sim, batch->count)];
    if (!may_be_guilty(sim, op)) return;
    Str name = guilty_name(op);
    sim->guilty = (Guilty){.kind = op->kind};
    if (op->kind == OP_COMMIT_TURN) sim->guilty.key = op->in.turn.run;
    memcpy(sim->guilty.id, name.data, name.len);
}

static bool is_refused(Sim *sim, const Batch *batch) {
    if (batch->count == 0) return false;
    draw_guilty(sim, batch);
    bool has_guilty = false;
    for (size_t i = 0; i < batch->count; i++)
        has_guilty = has_guilty || is_guilty(&sim->guilty, batch->ops[i]);
    if (!has_guilty) return false;
    if (batch->count == 1) {
        sim->guilty = (Guilty){0};
        sim->refusal_count++;
    }
    return true;
}

static Status fail(SimStore *self, Fault fault, Diag *diag) {
    if (fault == FAULT_CRASH_BEFORE || fault == FAULT_CRASH_AFTER) self->node->is_crashed = true;
    return diag_set(diag, ERR_UNAVAILABLE, "STORE_IO", "simulated fault %d", (int)fault);
}

// As a shared store does: the other nodes hear of what concerns them, mostly.
static void spread_word(SimStore *self, const Batch *batch) {
    Sim *sim = self->node->sim;
    bool is_news = batch->out.unclaimed_count > 0 || batch->out.reserved_count > 0 ||
                   batch->out.left_until_ms > 0 || batch->out.has_tasks ||
                   batch->out.ended_count > 0;
    sim->reserved_count += (int64_t)batch->out.reserved_count;
    if (batch->out.left_until_ms > 0) sim->left_count++;
    for (size_t i = 0; i < batch->count; i++)
        if (batch->ops[i]->kind == OP_CLAIM)
            sim->affinity_count += batch->ops[i]->out.claim.affinity_count;
    for (int i = 0; i < sim->options.node_count && is_news; i++) {
        SimNode *node = &sim->nodes[i];
        bool is_hearing = node != self->node && node->coordinator != NULL && !node->is_crashed;
        if (is_hearing && sim_chance(sim, 80)) coordinator_hear(node->coordinator);
    }
}

static Status sim_store_commit(Store *store, Batch *batch, Diag *diag) {
    SimStore *self = (SimStore *)store;
    if (self->node->is_crashed) return fail(self, FAULT_BEFORE, diag);
    if (is_refused(self->node->sim, batch))
        return diag_set(diag, ERR_LIMIT, "STORE_TOO_BIG", "simulated refusal");
    Fault fault = draw_fault(self->node->sim);
    if (fault == FAULT_BEFORE || fault == FAULT_CRASH_BEFORE) return fail(self, fault, diag);
    Status status = store_commit(self->inner, batch, diag);
    if (status == OK) spread_word(self, batch);
    return fault == FAULT_NONE ? status : fail(self, fault, diag);
}

static Status sim_store_read(Store *store, Arena *arena, ReadRequest *request, Diag *diag) {
    SimStore *self = (SimStore *)store;
    Sim *sim = self->node->sim;
    if (self->node->is_crashed) return fail(self, FAULT_BEFORE, diag);
    if (sim->has_faults && sim->crash_at_call == 0 && sim_chance(sim, sim->options.fault_pct / 2))
        return fail(self, FAULT_BEFORE, diag);
    return self->inner->ops->read(self->inner, arena, request, diag);
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

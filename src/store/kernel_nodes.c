// Nodes: leases, claims, and taking over what dead nodes leave behind.
//
//   [O1] A node is alive while lease_until_ms lies ahead; it renews one row, not one per run.
//   [O2] lease_until_ms < 0 says that the node was fenced off at that moment (some of its runs
//        were taken over, or a node that knows itself alone has joined): no batch of it is applied
//        any more. Its row stays a while, so that it can still learn which of its batches was the
//        last. A node that was merely late, and lost nothing, may renew.
//   [O3] Every claim raises the run's epoch, so a stale executor is refused run by run as well.
//   [O4] A run that is wanted paused is held instead of being claimed.
//   [O5] A renewal answers when the next lease of another node ends: whoever looks then finds a
//        node that has died at the first moment at which it counts as dead.
//
// Not here: claims made as runs become ready (kernel_runs.c).
#include "base/assert.h"
#include "store/kernel_internal.h"

enum {
    NODES_MAX = 4096,  // rows of the nodes table that are looked at
    PASSED_MAX = 1024, // runs left to other nodes that one claim looks past
};

static Status nodes_all(Kernel *kernel, NodeRow **ret_nodes, size_t *ret_count) {
    Scan scan = {.table = TABLE_NODES, .index = SCAN_PRIMARY, .limit = NODES_MAX};
    return kernel_scan(kernel, &scan, ret_nodes, ret_count);
}

static Status owned_page(Kernel *kernel, int64_t owner, int64_t limit, RunRow **ret_rows,
                         size_t *ret_count) {
    RunRow wanted = {.owner = owner};
    Scan scan = {.table = TABLE_RUNS, .index = RUNS_BY_OWNER, .match = &wanted, .match_count = 1,
                 .limit = limit};
    return kernel_scan(kernel, &scan, ret_rows, ret_count);
}

static Status node_is_dead(Kernel *kernel, const NodeRow *node, bool *ret_is_dead) {
    int64_t until_ms = 0;
    TRY(node_lease(kernel, node, &until_ms));
    *ret_is_dead = until_ms <= kernel_now(kernel);
    return OK;
}

static Status node_fence(Kernel *kernel, const NodeRow *node) { // [O2]
    NodeRow after = *node;
    after.lease_until_ms = -kernel_now(kernel);
    after.resident_count = 0; // what it has in memory is worth nothing any more
    return kernel_update(kernel, TABLE_NODES, node, &after);
}

static Status check_lease(Kernel *kernel, int64_t lease_ms) {
    if (lease_ms > 0 && lease_ms <= LIMIT_DURATION_MS) return OK;
    return kernel_refuse(kernel, ERR_INVALID, "BAD_DURATION", "a lease must be longer than zero");
}

static Status check_node(Kernel *kernel) {
    if (kernel->batch->node != 0) return OK;
    return kernel_refuse(kernel, ERR_INVALID, "NO_NODE", "the batch names no node");
}

// ---- a node's own row ----

// The leases of all others end now, and with them those of the tasks they were doing themselves.
static Status others_fence(Kernel *kernel) {
    NodeRow *nodes = NULL;
    size_t count = 0;
    TRY(nodes_all(kernel, &nodes, &count));
    for (size_t i = 0; i < count; i++) {
        if (nodes[i].lease_until_ms < 0) continue;
        TRY(node_fence(kernel, &nodes[i]));
        TRY(tasks_end_leases(kernel, nodes[i].name));
    }
    return OK;
}

Status apply_join(Kernel *kernel, Op *op) {
    TRY(kernel_check_name(kernel, "the node name", op->join.name, LIMIT_NAME_SIZE));
    TRY(kernel_check_size(kernel, "the version of the node", op->join.version, LIMIT_NAME_SIZE));
    TRY(check_lease(kernel, op->join.lease_ms));
    if (op->join.is_exclusive) TRY(others_fence(kernel));
    NodeRow node = {.key = kernel_next_key(kernel),
                    .name = op->join.name,
                    .version = op->join.version,
                    .lease_until_ms = kernel_now(kernel) + op->join.lease_ms,
                    .started_at_ms = kernel_now(kernel)};
    TRY(kernel_insert(kernel, TABLE_NODES, &node));
    op->join.node = node.key;
    return OK;
}

static Status next_end_find(Kernel *kernel, Op *op) { // [O5]
    NodeRow *nodes = NULL;
    size_t count = 0;
    TRY(nodes_all(kernel, &nodes, &count));
    int64_t *next_ms = &op->renew.next_end_ms;
    *next_ms = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t until_ms = nodes[i].lease_until_ms;
        if (nodes[i].key == kernel->batch->node || until_ms <= kernel_now(kernel)) continue;
        if (*next_ms == 0 || until_ms < *next_ms) *next_ms = until_ms;
    }
    return OK;
}

Status apply_renew(Kernel *kernel, Op *op) {
    TRY(check_node(kernel));
    TRY(check_lease(kernel, op->renew.lease_ms));
    NodeRow wanted = {.key = kernel->batch->node}, node;
    Status status = kernel_get(kernel, TABLE_NODES, &wanted, &node);
    if (status == ERR_NOT_FOUND || (status == OK && node.lease_until_ms < 0)) {
        return kernel_refuse(kernel, ERR_FENCED, "NODE_FENCED",
                             "the lease of this node ran out and its runs were taken over");
    }
    TRY(status);
    NodeRow after = node;
    after.lease_until_ms = kernel_now(kernel) + op->renew.lease_ms;
    after.resident_count = op->renew.resident_count;
    TRY(kernel_update(kernel, TABLE_NODES, &node, &after));
    return kernel->writer->ops->beat == NULL ? next_end_find(kernel, op) : OK;
}

// Hands back up to *budget claims of a node.
static Status claims_return(Kernel *kernel, int64_t node, int64_t *budget, int64_t *ret_count) {
    *ret_count = 0;
    while (*budget > 0) {
        int64_t limit = *budget < PAGE_ROWS ? *budget : PAGE_ROWS;
        RunRow *rows = NULL;
        size_t count = 0;
        TRY(owned_page(kernel, node, limit, &rows, &count));
        for (size_t i = 0; i < count; i++) {
            Run run;
            TRY(run_adopt(kernel, &rows[i], &run));
            TRY(run_unclaim(kernel, &run));
            if (run.row.state == RUN_RUNNING) kernel->batch->unclaimed_count++;
        }
        *ret_count += (int64_t)count;
        *budget -= (int64_t)count;
        if ((int64_t)count < limit) return OK;
    }
    return OK;
}

Status apply_leave(Kernel *kernel, Op *op) {
    TRY(check_node(kernel));
    int64_t budget = INT64_MAX;
    TRY(claims_return(kernel, kernel->batch->node, &budget, &op->leave.released_count));
    NodeRow wanted = {.key = kernel->batch->node}, node;
    Status status = kernel_get(kernel, TABLE_NODES, &wanted, &node);
    if (status == ERR_NOT_FOUND) return OK; // it was fenced off before
    TRY(status);
    return kernel_remove(kernel, TABLE_NODES, &node);
}

// ---- claim ----

static Status run_claim(Kernel *kernel, Op *op, const RunRow *row, bool is_taken_over) {
    Run run;
    TRY(run_adopt(kernel, row, &run));
    if (is_taken_over) run.row.attempts++;
    if (run.row.is_pause_wanted) return run_hold(kernel, &run, RUN_RUNNING, STR_NULL); // [O4]
    Resolved resolved;
    TRY(home_deliveries(kernel, &run, &resolved));
    op->claim.home_count += run.row.home != 0 && run.row.home == kernel->batch->node;
    run.row.owner = kernel->batch->node;
    run.row.home = 0;
    run.row.epoch++; // [O3]
    TRY(run_store(kernel, &run));
    op->claim.count++;
    op->claim.taken_over += is_taken_over;
    return run_announce(kernel, &run, resolved);
}

// Claims what nobody owns, except what is left to others.
static Status claim_ready(Kernel *kernel, Op *op) {
    RunRow nobody = {.owner = 0};
    Scan scan = {.table = TABLE_RUNS, .index = RUNS_BY_OWNER, .match = &nobody, .match_count = 1};
    for (int64_t passed = 0; op->claim.count < op->claim.max && passed < PASSED_MAX;) {
        RunRow *rows = NULL;
        size_t count = 0;
        int64_t room = op->claim.max - op->claim.count;
        scan.limit = room < PAGE_ROWS ? room : PAGE_ROWS;
        TRY(kernel_scan(kernel, &scan, &rows, &count));
        TRY(kernel_expect_claims(kernel, rows, count));
        for (size_t i = 0; i < count; i++) {
            bool is_left;
            TRY(run_is_left(kernel, &rows[i], &is_left));
            if (!is_left) TRY(run_claim(kernel, op, &rows[i], false));
            passed += is_left;
        }
        if ((int64_t)count < scan.limit) return OK;
        scan.has_min = true;
        scan.min = rows[count - 1].claim_rank;
        scan.after_key = rows[count - 1].key;
    }
    return OK;
}

static Status claim_from(Kernel *kernel, Op *op, int64_t owner) {
    while (op->claim.count < op->claim.max) {
        int64_t room = op->claim.max - op->claim.count;
        int64_t limit = room < PAGE_ROWS ? room : PAGE_ROWS;
        RunRow *rows = NULL;
        size_t count = 0;
        TRY(owned_page(kernel, owner, limit, &rows, &count));
        TRY(kernel_expect_claims(kernel, rows, count));
        for (size_t i = 0; i < count; i++) TRY(run_claim(kernel, op, &rows[i], true));
        if ((int64_t)count < limit) return OK;
    }
    return OK;
}

static Status claim_from_dead(Kernel *kernel, Op *op, const NodeRow *node) {
    RunRow *rows = NULL;
    size_t count = 0;
    TRY(owned_page(kernel, node->key, 1, &rows, &count));
    if (count == 0) return OK; // it lost nothing and may come back
    if (node->lease_until_ms >= 0) TRY(node_fence(kernel, node));
    return claim_from(kernel, op, node->key);
}

Status apply_claim(Kernel *kernel, Op *op) {
    TRY(check_node(kernel));
    op->claim.count = 0;
    op->claim.taken_over = 0;
    op->claim.home_count = 0;
    TRY(claim_ready(kernel, op));
    if (op->claim.count >= op->claim.max) return OK;
    NodeRow *nodes = NULL;
    size_t count = 0;
    TRY(nodes_all(kernel, &nodes, &count));
    for (size_t i = 0; i < count && op->claim.count < op->claim.max; i++) {
        if (nodes[i].key == kernel->batch->node) continue;
        bool is_dead;
        TRY(node_is_dead(kernel, &nodes[i], &is_dead));
        if (is_dead) TRY(claim_from_dead(kernel, op, &nodes[i]));
    }
    return OK;
}

// ---- sweep ----

static Status nodes_forget(Kernel *kernel) {
    NodeRow *nodes = NULL;
    size_t count = 0;
    TRY(nodes_all(kernel, &nodes, &count));
    for (size_t i = 0; i < count; i++) {
        int64_t ended_ms = 0;
        TRY(node_lease(kernel, &nodes[i], &ended_ms));
        if (ended_ms < 0) ended_ms = -ended_ms;
        bool is_old = ended_ms + NODE_FORGET_MS <= kernel_now(kernel);
        if (!is_old || nodes[i].key == kernel->batch->node) continue;
        RunRow *runs = NULL;
        size_t run_count = 0;
        TRY(owned_page(kernel, nodes[i].key, 1, &runs, &run_count));
        if (run_count == 0) TRY(kernel_remove(kernel, TABLE_NODES, &nodes[i]));
    }
    return OK;
}

// Claims of nodes that have no row any more are handed back; one look per owner.
Status nodes_sweep(Kernel *kernel, int64_t max, int64_t *ret_reclaimed) {
    *ret_reclaimed = 0;
    TRY(nodes_forget(kernel));
    int64_t budget = max;
    for (int64_t owner = 0; budget > 0;) {
        RunRow *rows = NULL;
        size_t count = 0;
        Scan scan = {.table = TABLE_RUNS, .index = RUNS_BY_OWNER, .has_min = true,
                     .min = owner + 1, .limit = 1};
        TRY(kernel_scan(kernel, &scan, &rows, &count));
        if (count == 0) return OK;
        owner = rows[0].owner;
        NodeRow wanted = {.key = owner}, node;
        Status status = kernel_get(kernel, TABLE_NODES, &wanted, &node);
        if (status == OK) continue;
        if (status != ERR_NOT_FOUND) return status;
        int64_t returned;
        TRY(claims_return(kernel, owner, &budget, &returned));
        *ret_reclaimed += returned;
    }
    return OK;
}

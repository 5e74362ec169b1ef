// Nodes: leases, claims, and taking over what dead nodes leave behind.
//
//   [nodes-1] A node is alive while lease_until_ms lies ahead; it renews one row, not one per run.
//   [nodes-2] A mark says that the node was fenced off, and when (some of its runs
//        were taken over, or a node that knows itself alone has joined): no batch of it is applied
//        any more. Its row stays a while, so that it can still learn which of its batches was the
//        last. A node that was merely late, and lost nothing, may renew.
//   [nodes-3] Every claim raises the run's epoch, so a stale executor is refused run by run as
//        well.
//   [nodes-4] A run that is wanted paused is held instead of being claimed.
//   [nodes-6] A run that is taken over has lost an execution. One that had lost some before has
//        lost another only if it was begun again (TurnCommit.is_attempt): its node may have died of
//        another run before it came to this one. An orderly end loses nothing.
//   [nodes-7] A run that the node cannot execute is reserved instead of being claimed. Nodes that
//        have its workflow hear of it, and claim such runs before any other: they were passed over
//        once.
//   [nodes-5] A renewal answers when the next lease of another node ends: whoever looks then finds
//        a node that has died at the first moment at which it counts as dead.
//
// Not here: claims made as runs become ready (runs/runs.c).
#include "store/kernel/nodes/nodes.h"
#include "store/kernel/operations.h"
#include "store/kernel/runs/runs.h"
#include "store/kernel/tasks/tasks.h"

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
    Scan scan = scan_of(TABLE_RUNS, RUNS_BY_OWNER, &wanted, limit);
    return kernel_scan(kernel, &scan, ret_rows, ret_count);
}

static Status node_is_dead(Kernel *kernel, const NodeRow *node, bool *ret_is_dead) {
    int64_t until_ms = 0;
    TRY(node_lease(kernel, node, &until_ms));
    *ret_is_dead = until_ms <= kernel_now(kernel);
    return OK;
}

static Status node_fence(Kernel *kernel, const NodeRow *node) { // [nodes-2]
    NodeRow after = *node;
    node_mark_fenced(&after, kernel_now(kernel));
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
        if (node_is_fenced(&nodes[i])) continue;
        TRY(node_fence(kernel, &nodes[i]));
        TRY(tasks_end_leases(kernel, nodes[i].name));
    }
    return OK;
}

Status apply_join(Kernel *kernel, Op *op) {
    TRY(kernel_check_name(kernel, "the node name", op->in.join.name, LIMIT_NAME_SIZE));
    TRY(kernel_check_size(kernel, "the version of the node", op->in.join.version, LIMIT_NAME_SIZE));
    TRY(check_lease(kernel, op->in.join.lease_ms));
    if (op->in.join.is_exclusive) TRY(others_fence(kernel));
    NodeRow node = {.key = kernel_next_key(kernel),
                    .name = op->in.join.name,
                    .version = op->in.join.version,
                    .lease_until_ms = kernel_now(kernel) + op->in.join.lease_ms,
                    .started_at_ms = kernel_now(kernel)};
    TRY(kernel_insert(kernel, TABLE_NODES, &node));
    op->out.join.node = node.key;
    return OK;
}

static Status next_end_find(Kernel *kernel, Op *op) { // [nodes-5]
    NodeRow *nodes = NULL;
    size_t count = 0;
    TRY(nodes_all(kernel, &nodes, &count));
    int64_t *next_ms = &op->out.renew.next_end_ms;
    *next_ms = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t until_ms = nodes[i].lease_until_ms;
        if (nodes[i].key == kernel->batch->node || until_ms <= kernel_now(kernel)) continue;
        if (*next_ms == 0 || until_ms < *next_ms) *next_ms = until_ms;
    }
    return OK;
}

// The row of the batch's own node, unless it was fenced off.
Status node_get_own(Kernel *kernel, NodeRow *ret_node) {
    TRY(check_node(kernel));
    NodeRow wanted = {.key = kernel->batch->node};
    Status status = kernel_get(kernel, TABLE_NODES, &wanted, ret_node);
    if (status != ERR_NOT_FOUND && (status != OK || !node_is_fenced(ret_node))) return status;
    return kernel_refuse(kernel, ERR_FENCED, "NODE_FENCED",
                         "the lease of this node ran out and its runs were taken over");
}

Status apply_renew(Kernel *kernel, Op *op) {
    TRY(check_lease(kernel, op->in.renew.lease_ms));
    NodeRow node;
    TRY(node_get_own(kernel, &node));
    NodeRow after = node;
    after.lease_until_ms = kernel_now(kernel) + op->in.renew.lease_ms;
    after.resident_count = op->in.renew.resident_count;
    TRY(kernel_update(kernel, TABLE_NODES, &node, &after));
    return kernel->writer->ops->heartbeat == NULL ? next_end_find(kernel, op) : OK;
}

Status apply_describe_node(Kernel *kernel, Op *op) {
    NodeRow node;
    TRY(kernel_check_size(kernel, "the list of workers", op->in.describe_node.workers,
                          LIMIT_ERROR_SIZE));
    TRY(node_get_own(kernel, &node));
    NodeRow after = node;
    after.workers = op->in.describe_node.workers;
    return kernel_update(kernel, TABLE_NODES, &node, &after);
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
            TRY(run_load(kernel, rows[i].key, &run));
            TRY(run_unclaim(kernel, &run));
            if (run.row.state == RUN_RUNNING) kernel->batch->out.unclaimed_count++;
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
    TRY(claims_return(kernel, kernel->batch->node, &budget, &op->out.leave.released_count));
    NodeRow wanted = {.key = kernel->batch->node}, node;
    Status status = kernel_get(kernel, TABLE_NODES, &wanted, &node);
    if (status == ERR_NOT_FOUND) return OK; // it was fenced off before
    TRY(status);
    return kernel_remove(kernel, TABLE_NODES, &node);
}

// ---- claim ----

bool run_is_executable(const Kernel *kernel, const RunRow *row) {
    CodeName text;
    Str needed = run_executor(row, &text);
    return str_is_null(needed) || workflow_set_has(kernel->batch->executes, needed);
}

static Status run_reserve(Kernel *kernel, Op *op, Run *run) { // [nodes-7]
    int64_t number = run_reservation(&run->row);
    if (run->row.owner == number)
        return OK; // its number is shared, [workflow-set-2] of workflow_set.h
    run->row.owner = number;
    run->row.affinity = 0; // [affinity-2]
    op->out.claim.reserved_count++;
    TRY(run_store(kernel, run));
    return run_announce(kernel, run, (Resolved){0});
}

// Whether the operation may look at more. The runs it reserved are out of the way of the next one.
static bool claim_goes_on(Op *op) {
    op->out.claim.is_cut = op->out.claim.reserved_count >= LIMIT_CLAIM_LOOKS;
    return op->out.claim.count < op->in.claim.max && !op->out.claim.is_cut;
}

static Status run_claim(Kernel *kernel, Op *op, const RunRow *row, bool is_taken_over) {
    Run run;
    TRY(run_load(kernel, row->key, &run));
    if (is_taken_over && run_is_loss_uncounted(&run.row)) run_count_loss(&run.row);    // [nodes-6]
    if (run.row.is_pause_wanted) return run_hold(kernel, &run, RUN_RUNNING, STR_NULL); // [nodes-4]
    if (!run_is_executable(kernel, &run.row)) return run_reserve(kernel, op, &run);
    Resolved resolved;
    TRY(affinity_deliveries(kernel, &run, &resolved));
    op->out.claim.affinity_count +=
        run.row.affinity != 0 && run.row.affinity == kernel->batch->node;
    run.row.owner = kernel->batch->node;
    run.row.affinity = 0;
    run.row.epoch++; // [nodes-3]
    TRY(run_store(kernel, &run));
    op->out.claim.count++;
    op->out.claim.taken_over += is_taken_over;
    return run_announce(kernel, &run, resolved);
}

// Claims what nobody owns, except what is left to others. `owner` is 0, or the number of a workflow
// that the runs are reserved for.
static Status claim_ready(Kernel *kernel, Op *op, int64_t owner) {
    RunRow nobody = {.owner = owner};
    Scan scan = {.table = TABLE_RUNS, .index = RUNS_BY_OWNER, .match = &nobody, .match_count = 1};
    for (int64_t passed = 0; claim_goes_on(op) && passed < PASSED_MAX;) {
        RunRow *rows = NULL;
        size_t count = 0;
        int64_t room = op->in.claim.max - op->out.claim.count;
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

// Claims what is reserved for workflows of this node: the numbers it has and those that stand in
// rows are walked together, so one that is on one side only costs no look. [nodes-7]
static Status claim_reserved(Kernel *kernel, Op *op) {
    const WorkflowSet *executes = kernel->batch->executes;
    int64_t number = workflow_set_next(executes, INT64_MIN);
    while (number < 0 && claim_goes_on(op)) {
        RunRow *rows = NULL;
        size_t count = 0;
        Scan scan = {.table = TABLE_RUNS,
                     .index = RUNS_BY_OWNER,
                     .has_min = true,
                     .min = number,
                     .has_max = true,
                     .max = -1,
                     .limit = 1};
        TRY(kernel_scan(kernel, &scan, &rows, &count));
        if (count == 0) return OK;
        int64_t found = rows[0].owner;
        number = workflow_set_next(executes, found);
        if (number != found) continue;
        TRY(claim_ready(kernel, op, number));
        number = workflow_set_next(executes, number + 1);
    }
    return OK;
}

static Status claim_from(Kernel *kernel, Op *op, int64_t owner) {
    while (claim_goes_on(op)) {
        int64_t room = op->in.claim.max - op->out.claim.count;
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
    if (!node_is_fenced(node)) TRY(node_fence(kernel, node));
    return claim_from(kernel, op, node->key);
}

Status apply_claim(Kernel *kernel, Op *op) {
    TRY(check_node(kernel));
    op->out.claim.count = 0;
    op->out.claim.taken_over = 0;
    op->out.claim.affinity_count = op->out.claim.reserved_count = 0;
    TRY(claim_reserved(kernel, op));
    TRY(claim_ready(kernel, op, 0));
    if (!claim_goes_on(op)) return OK;
    NodeRow *nodes = NULL;
    size_t count = 0;
    TRY(nodes_all(kernel, &nodes, &count));
    for (size_t i = 0; i < count && claim_goes_on(op); i++) {
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
        int64_t ended_ms = node_end_ms(&nodes[i]);
        if (!node_is_fenced(&nodes[i])) TRY(node_lease(kernel, &nodes[i], &ended_ms));
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
        Scan scan = {.table = TABLE_RUNS,
                     .index = RUNS_BY_OWNER,
                     .has_min = true,
                     .min = owner + 1,
                     .limit = 1};
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
